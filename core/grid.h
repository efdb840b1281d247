// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Geometry of a cube: three regularly sampled axes in the order inline, crossline, time or depth.
// Everything here is a plain value: copy by assignment, no ownership. Thread-safety: pure
// functions.

enum { LITHO_INLINE = 0, LITHO_XLINE = 1, LITHO_SAMPLE = 2 };

// Source of a number; shown wherever the number is shown.
typedef enum {
    LITHO_FROM_ASSUMED = 0, // nothing said so: a stated assumption
    LITHO_FROM_FILE,        // read from a header
    LITHO_FROM_USER,        // given by the user, overrules the file
    LITHO_FROM_COMPUTED,    // derived by an operator or from other numbers
} LithoSource;

// Meaning of the numbers along an axis of traces; core/axis_names.h says how it is called.
typedef enum {
    LITHO_COUNTS_LINES = 0, // inlines or crosslines, as the place of the axis says
    LITHO_COUNTS_CDPS,
    LITHO_COUNTS_SHOTS,
    LITHO_COUNTS_CHANNELS,
    LITHO_COUNTS_OFFSETS, // the distance itself, in `unit`
    LITHO_COUNTS_TRACES,  // nothing but the order in the file
} LithoAxisCounts;

typedef struct LithoAxis {
    gint64 n;           // number of samples, >= 1
    double first, step; // value of sample 0 and increment (may be negative, never 0), in `unit`
    char unit[8];       // "" for line numbers, "s" for time, "m" for depth, "m" or "ft" for offsets
    LithoSource source; // of first and step
    char evidence[80];  // short, e.g. "binary header byte 3217"; "" when there is nothing to say
    LithoAxisCounts counts;
} LithoAxis;

// Places of the sources of a modelled cube: source s made inlines s * lines .. (s + 1) * lines - 1,
// and its receivers stand at the places that inlines 0 .. lines - 1 have by the grid. Made once for
// each set of values and never freed, so that grids stay plain values.
typedef struct LithoSpread {
    int n;              // sources
    gint64 lines;       // inlines of one source
    double receiver_z;  // m, down
    double source[][3]; // x, y, z (down), m
} LithoSpread;

typedef struct LithoGrid {
    LithoAxis axis[3]; // inline, crossline, sample; sample varies fastest in memory
    gboolean is_depth; // sample axis is depth (m) rather than two-way time (s)

    // Survey coordinates of trace (i, j): origin + i * inline_step + j * xline_step, metres.
    gboolean has_xy;
    gboolean has_no_place; // only the spacings are known: origin and directions are made up
    double origin[2];      // x, y of trace (0, 0)
    double inline_step[2]; // x, y moved by one inline index
    double xline_step[2];  // x, y moved by one crossline index
    LithoSource xy_source;
    char xy_evidence[80];

    const LithoSpread *spread; // sources and receivers of the traces, or NULL: not known here
} LithoGrid;

// Half-open index ranges, lo <= i < hi, per axis.
typedef struct LithoBox {
    gint64 lo[3], hi[3];
} LithoBox;

// A grid of n1 x n2 x n3 with line numbers from 1, 25 m bins and 0.004 s, all marked as assumed.
LithoGrid litho_grid_new(gint64 n_inline, gint64 n_xline, gint64 n_sample);

// The spread of these values. Thread-safe.
const LithoSpread *litho_spread_get(int n, gint64 lines, double receiver_z,
                                    const double (*source)[3]);
// Survey coordinates of the receiver of trace (i, j).
void litho_grid_receiver(const LithoGrid *grid, gint64 i, gint64 j, double xy[2]);

gint64 litho_grid_traces(const LithoGrid *grid);
gint64 litho_grid_samples(const LithoGrid *grid);
double litho_axis_value(const LithoAxis *axis, double index);
double litho_axis_index(const LithoAxis *axis, double value); // not rounded, not clipped
// Distance between neighbouring traces along LITHO_INLINE (i -> i+1) or LITHO_XLINE (j -> j+1), in
// metres; 25 when the grid has no coordinates.
double litho_grid_spacing(const LithoGrid *grid, int axis);
// TRUE when its traces have places that somebody stated: assumed distances are none, and records of
// several sources over the same receivers have distances alone.
gboolean litho_grid_is_placed(const LithoGrid *grid);
// The highest frequency that the samples hold: Hz, or cycles per km along depths.
double litho_grid_nyquist(const LithoGrid *grid);
// TRUE when sizes are equal; the second also wants equal firsts and steps (1e-6 of a step).
gboolean litho_grid_same_shape(const LithoGrid *a, const LithoGrid *b);
// TRUE when sizes are equal and both hold times or both depths: what lies at one place in both may
// be compared. An image may have as many depths as its record has times.
gboolean litho_grid_matches(const LithoGrid *a, const LithoGrid *b);
// "23 x 18 x 75", for sentences about shapes; g_free().
char *litho_grid_size_text(const LithoGrid *grid);
gboolean litho_grid_equal(const LithoGrid *a, const LithoGrid *b);
// Sizes checked for sign and for overflow of n1*n2*n3*4 bytes. FALSE sets LITHO_ERROR_GEOMETRY.
gboolean litho_grid_check(const LithoGrid *grid, GError **error);

LithoBox litho_box_full(const LithoGrid *grid);
LithoBox litho_box_slice(const LithoGrid *grid, int axis, gint64 index);
LithoBox litho_box_intersect(LithoBox a, LithoBox b);
LithoBox litho_box_union(LithoBox a,
                         LithoBox b); // smallest box that holds both; empty ones ignored
// `box` widened by halo[axis] on both sides, clipped to the grid.
LithoBox litho_box_grow(const LithoGrid *grid, LithoBox box, const gint64 halo[3]);
gboolean litho_box_empty(LithoBox box);
gboolean litho_box_equal(LithoBox a, LithoBox b);
gboolean litho_box_contains(LithoBox outer, LithoBox inner);
gint64 litho_box_size(LithoBox box, int axis);
gint64 litho_box_count(LithoBox box);
