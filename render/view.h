// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/grid.h"
#include "core/qc.h"
#include "render/colormap.h"

// State of a view: its contents and their look. Plain values, copied by assignment, no ownership,
// no GL. The same values feed the GL renderer, the CPU rasteriser, the axes and the mouse.
//
// Pixels are logical (multiply by `scale` for device pixels), origin at the top left, y down.
// Positions in the cube are fractional indices: sample k covers [k - 0.5, k + 0.5].

typedef struct LithoRect {
    double x, y, w, h;
} LithoRect;

gboolean litho_rect_contains(LithoRect rect, double x, double y);

// --- which slice, which part of it ------------------------------------------------------------

// Inline and crossline sections: traces from left to right by index (first inline left), time
// downwards. Time slice: crosslines to the right, inlines upwards, like a map.
typedef struct LithoSliceView {
    int axis;             // the axis that is fixed: LITHO_INLINE, LITHO_XLINE or LITHO_SAMPLE
    gint64 index;         // where
    double lo[3], hi[3];  // visible window of all three axes in indices, lo < hi. Linked views hold
                          // the same six numbers; `axis`'s own pair is not used
    gboolean keep_aspect; // widen the window so that metres are equal in both directions (maps);
                          // the short side of a thin survey is drawn longer
} LithoSliceView;

// The whole slice, keep_aspect for time slices.
LithoSliceView litho_slice_view(const LithoGrid *grid, int axis, gint64 index);
// Window of all three axes back to the whole cube.
void litho_slice_view_fit(LithoSliceView *view, const LithoGrid *grid);

// A view laid into a rectangle: the one mapping between pixels and indices.
typedef struct LithoSliceMap {
    int axis, h_axis, v_axis; // fixed, to the right, downwards or upwards
    gint64 index;
    LithoRect rect;
    double left, right, top, bottom; // indices at the rectangle's edges; top > bottom on maps
} LithoSliceMap;

LithoSliceMap litho_slice_map(const LithoGrid *grid, const LithoSliceView *view, LithoRect rect);
// Pixel -> indices of all three axes (fractional, not clipped).
void litho_slice_map_to_index(const LithoSliceMap *map, double x, double y, double index[3]);
void litho_slice_map_to_pixel(const LithoSliceMap *map, const double index[3], double *x,
                              double *y);
// Trace (i, j) and sample under the pixel. FALSE when it lies outside the rectangle or the survey.
gboolean litho_slice_map_pick(const LithoSliceMap *map, const LithoGrid *grid, double x, double y,
                              gint64 ijk[3]);
// Zooms by `factor` (> 1 closer) keeping what is under pixel (x, y) in place; horizontal and
// vertical may be switched off by fx or fy = FALSE. Stops at 4 cells and at 4 times the survey.
void litho_slice_zoom(LithoSliceView *view, const LithoGrid *grid, LithoRect rect, double x,
                      double y, double factor, gboolean fx, gboolean fy);
// Moves the picture by pixels; the window's centre stays inside the survey.
void litho_slice_pan(LithoSliceView *view, const LithoGrid *grid, LithoRect rect, double dx,
                     double dy);
// Sets the window to the pixel rectangle `box` (rubber band); ignored when below 4 pixels.
void litho_slice_zoom_to(LithoSliceView *view, const LithoGrid *grid, LithoRect rect,
                         LithoRect box);

// --- which data ---------------------------------------------------------------------------------

typedef enum {
    LITHO_SHOW_INPUT = 0,
    LITHO_SHOW_OUTPUT,
    LITHO_SHOW_REMOVED, // input - output, computed while drawing
    LITHO_SHOW_SPLIT,   // input left of the divider, output right of it
    LITHO_SHOW_SIDE,    // input | output, each in half of the rectangle, same window
} LithoShow;

// Colour of the divider of LITHO_SHOW_SPLIT on the screen and on paper: an accent of its own,
// neither the cross-hair's grey nor the white dashes of an area. RGBA.
extern const double litho_divider_ink[4];

const char *litho_show_name(LithoShow show); // "Input", ...; static

// The panels a rectangle is divided into: 1, or 2 for SIDE (6 px apart). `shows` gets INPUT,
// OUTPUT, REMOVED or SPLIT. Axes are drawn once per panel.
guint litho_show_panels(LithoShow show, LithoRect rect, LithoRect panels[2], LithoShow shows[2]);

// --- how -----------------------------------------------------------------------------------------

typedef enum {
    LITHO_WIGGLE_OFF = 0,
    LITHO_WIGGLE_LINE, // curves only
    LITHO_WIGGLE_FILL, // curves with the positive side filled (variable area)
} LithoWiggle;

// Changing any of it costs uniforms only, never a texture.
typedef struct LithoLook {
    const LithoColormap *map; // NULL = default
    double lo, hi;            // amplitudes at the ends of the map; lo = -hi for signed data
    double gain;              // amplitudes are multiplied by this first; 0 = 1
    double removed_gain;      // further factor for REMOVED; 0 = 1. Say it on the panel: "x4"
    gboolean reversed;        // REMOVED is output - input: the error against a reference
    double time_power;        // amplitudes times (t / t of the middle)^n; 0 = as they are
    int agc;                  // samples of the window of an automatic gain; 0 = none
    gboolean nearest;         // cells instead of linear interpolation
    gboolean no_density;      // wiggles on paper colour instead of on the section
    LithoWiggle wiggle;
    double wiggle_gain;   // deflection at `hi` in units of the drawn trace distance; 0 = 1
    double split;         // divider in 0..1 of the panel's width
    gboolean grid_lines;  // at the axes' ticks, 12 % contrast
    double background[3]; // beyond the survey; litho_look_default() sets a neutral dark grey
} LithoLook;

// Default map, lo/hi = -1/1, split in the middle, background grey.
LithoLook litho_look_default(void);
// lo = -clip, hi = clip; clip <= 0 or not finite is taken as 1.
void litho_look_set_clip(LithoLook *look, double clip);
// The ends of the colours and a map for such data: the default one, or that of unsigned data.
void litho_look_set_range(LithoLook *look, const LithoRange *range);
gboolean litho_look_is_signed(const LithoLook *look); // lo = -hi
// Amplitudes at the ends of the colour bar for one kind of data, gains included: what REMOVED shows
// is +-(hi - lo) / 2 / (gain * removed_gain).
void litho_look_range(const LithoLook *look, LithoShow show, double *lo, double *hi);
// Gain that changes along a trace, for the eye only: `power` and `agc` of the look, made for a
// grid. Automatic gain brings the RMS of the window around a sample to `level`, on sections alone:
// a time slice has no window. At most one of the two is on; neither for unsigned data.
typedef struct LithoTraceGain {
    gboolean on;
    double power, first, middle; // ((sample + first) / middle)^power; 0 = none
    int half;                    // of the window, samples; 0 = no automatic gain
    double level;
} LithoTraceGain;

// Part of the colours that the RMS of a window reaches under automatic gain.
#define LITHO_GAIN_LEVEL 0.35
enum { LITHO_GAIN_TAPS = 33 }; // evenly spread over the window

LithoTraceGain litho_look_trace_gain(const LithoLook *look, const LithoGrid *grid, int axis,
                                     LithoShow show);
// TRUE when the samples of a slice of `axis` are colours: always where no wiggles can be drawn.
gboolean litho_look_has_density(const LithoLook *look, int axis);
// "AGC 400 ms" or "t^2"; NULL = no such gain on slices of `axis` (3 = the scene); g_free().
char *litho_look_gain_name(const LithoLook *look, const LithoGrid *grid, int axis);
// -1 where what is drawn is minus what the shader subtracts (REMOVED while `reversed`), else 1.
int litho_look_sign(const LithoLook *look, LithoShow show);
// Map used for one kind of data: REMOVED of unsigned data (velocities) takes the default map.
const LithoColormap *litho_look_map(const LithoLook *look, LithoShow show);
// Traces between two drawn wiggles when traces are `px_per_trace` logical pixels apart: 1, 2, 5,
// 10, ... so that wiggles stay 6 px apart or more.
int litho_wiggle_step(double px_per_trace);
