// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>
#include "core/grid.h"

// Round numbers for axes and colour bars, and how numbers are written. Pure functions.

enum { LITHO_TICKS_MAX = 64 };

typedef struct LithoTicks {
    guint n;
    double value[LITHO_TICKS_MAX]; // multiples of `step`, increasing
    double step;                   // 1, 2 or 5 times a power of ten
    guint minor;                   // intervals between two ticks worth a small mark (5 or 4 or 2)
} LithoTicks;

// Ticks inside [lo, hi] (either order), at most `max_count` (clamped to 2..64). `whole` forbids
// steps below 1: line numbers.
LithoTicks litho_ticks(double lo, double hi, double max_count, gboolean whole);

// Text of an axis: displayed number = axis value * factor + offset.
typedef struct LithoAxisText {
    char label[32]; // litho_axis_name(): "Inline", "Offset", "Time"
    char unit[8];   // "", "ms", "s", "m", "ft"
    double factor;  // 1000 for seconds shown as ms
    gboolean whole; // line numbers
    double offset;
} LithoAxisText;

// Bits. AUTO: ms for time axes shorter than 10 s, line numbers. METRES: distances from the first
// inline or crossline, where the file tells where the lines lie; else their numbers all the same.
typedef enum LithoUnits {
    LITHO_UNITS_AUTO = 0,
    LITHO_UNITS_MS = 1,
    LITHO_UNITS_S = 2,
    LITHO_UNITS_TIME = 3, // mask
    LITHO_UNITS_METRES = 4,
} LithoUnits;
LithoAxisText litho_axis_text(const LithoGrid *grid, int axis, LithoUnits units);
// The number displayed at a (fractional) index, and back.
double litho_axis_shown(const LithoAxisText *text, const LithoAxis *axis, double index);
double litho_axis_shown_at(const LithoAxisText *text, const LithoAxis *axis, double shown);

// The `step` of litho_format_number() that shows every sample of the axis as it is, 1 to 0.0001:
// 0.1 for 12.5 m, 0.01 for 0.25 ms.
double litho_axis_place(const LithoAxisText *text, const LithoAxis *axis);

// "1 240" with thin spaces between thousands, a true minus sign, as many decimals as `step` needs;
// exponent form beyond 1e7 where the step is 1e4 or more, beyond 1e15, and for steps below 1e-4.
// `out` gets at most `size` bytes.
void litho_format_number(char *out, gsize size, double value, double step);
// "0.9000" to "0.9", "1.00" to "1"; in place.
void litho_trim_zeros(char *number);
// Slice `index` of `axis`: "inline 1130", "shot 402", "CDP 7", "offset 350 m", "time 1 240 ms",
// "line" where the survey is one; g_free().
char *litho_slice_label(const LithoGrid *grid, int axis, gint64 index, LithoUnits units);
// An amplitude with up to 4 significant digits: "1.832e-05", "18 320"; g_free().
char *litho_format_amplitude(double value);
