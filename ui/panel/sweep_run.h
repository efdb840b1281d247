// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <cairo.h>
#include "core/engine/quality.h"
#include "render/view.h"

// The work of a sweep, without its window: the flow with other values of one parameter or two, on
// the slice in front, each with what can be told about it.

enum {
    LITHO_SWEEP_SINGLE = 25, // values of one parameter, at most
    LITHO_SWEEP_DOUBLE = 5,  // of each of two
};

typedef enum {
    LITHO_SWEEP_OUTPUT,
    LITHO_SWEEP_REMOVED,
    LITHO_SWEEP_SIMILARITY,
    LITHO_SWEEP_PICTURES
} LithoSweepPicture;

// Values of one parameter, in growing order.
typedef struct LithoSweepAxis {
    const LithoParam *row; // NULL = there is no such axis
    guint n;
    double value[LITHO_SWEEP_SINGLE + 1];
} LithoSweepAxis;

// TRUE when a row has values to be swept now: numbers, choices and switches, and a file's that is
// stated as a number, as a velocity is. Its value, and another one in its place: FALSE with the
// reason when it is refused.
gboolean litho_sweep_takes(const LithoParam *row, const void *params);
double litho_sweep_value(const LithoParam *row, const void *params);
gboolean litho_sweep_put(const LithoParam *row, void *params, double value, GError **error);
// TRUE where these are few that have names, not numbers of a range.
gboolean litho_sweep_is_named(const LithoParam *row);

// `n` values from `from` to `to`, in ratios for log rows, whole for ints (then fewer when the range
// holds fewer), and `now` among them when it lies between or is special. No more than the axis
// holds. Of a choice or a switch all values, as far as `n` goes, and `now` in any case.
void litho_sweep_axis_fill(LithoSweepAxis *axis, const LithoParam *row, double from, double to,
                           guint n, double now);

// Everything a run needs, by value or reference: the window may change meanwhile.
typedef struct LithoSweepTask {
    LithoFlow *flow;
    guint step;
    LithoSweepAxis axis[2];
    LithoCube *in; // or NULL
    LithoDevice device;
    LithoLook look;
    LithoSliceView view;
    LithoGrid grid;       // that the view is of
    double width, height; // of the pictures
    gboolean judged;      // `area` and `noise` count
    LithoBox area;        // that is judged
    LithoNoise noise;     // n = 0: measured first
    guint32 seed;         // of the signs
    LithoSimilarityWidths widths; // of the similarity; all 0 = the default
    double now[2];        // values in the flow
} LithoSweepTask;

void litho_sweep_task_free(LithoSweepTask *task); // NULL is fine
guint litho_sweep_task_length(const LithoSweepTask *task);

// One setting: number `k` of axis 0 runs fastest.
typedef struct LithoSweepShot {
    guint at[2]; // of the values
    gboolean is_now;
    double used[2]; // what the operator took where the value leaves it the choice; NAN = the value
    double ms;      // of the slice
    LithoQuality quality;
    gboolean judged;
    gboolean is_beside; // the similarity is beside the noise, of as much of the slice as was judged
    double removed; // part of the energy: of the area where it is judged, else of the slice; NAN =
                    // cannot be compared
    cairo_surface_t *picture[LITHO_SWEEP_PICTURES]; // NULL = there is none
    char *refused;                                  // instead of all that
} LithoSweepShot;

void litho_sweep_shot_free(LithoSweepShot *shot);

// All settings one after the other; `shot` is called in this thread for each and takes it over.
// FALSE: cancelled. A setting that is refused is a shot with its sentence.
gboolean litho_sweep_run(LithoSweepTask *task, LithoRun *run,
                         void (*shot)(LithoSweepShot *shot, gpointer data), gpointer data,
                         GError **error);
