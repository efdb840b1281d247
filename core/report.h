// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <json-glib/json-glib.h>
#include "core/cube.h"

// Information that an operator tells beside its samples: numbers, curves, and shapes for the 3-D
// scene. Filled by the thread that runs the operator, read by others through copies.
//
// Thread-safety: all functions may be called from any thread.

typedef struct LithoReport LithoReport;

enum { LITHO_CURVE_MARKS = 4 };

// Use of a curve beside being plotted.
typedef enum LithoCurveRole {
    LITHO_CURVE_PLOT,       // for the eye
    LITHO_CURVE_DEPTH_TIME, // x: depth in metres, y: two-way time in seconds under the middle
                            // trace, both ascending. Slices of input and output that lie at one
                            // place follow it where one is in time and the other in depth
} LithoCurveRole;

typedef struct LithoCurve {
    char key[32], label[96], x_label[64], y_label[64];
    // Curves of one group share a plot; "" = a plot of its own. `name` is for the legend.
    char group[32], name[32];
    gboolean log_x, log_y, bars; // how the plot is best drawn
    LithoCurveRole role;
    guint n;
    double *x, *y;
    guint n_marks; // upright lines that mean something, e.g. the threshold
    double mark[LITHO_CURVE_MARKS];
} LithoCurve;

typedef struct LithoNumber {
    char key[32], label[96], unit[16];
    double value;
} LithoNumber;

// A new, empty report (sigma estimated, coefficients kept, windows that fell back, phase error
// against dip). Any thread.
LithoReport *litho_report_new(void);
LithoReport *litho_report_ref(LithoReport *report);
void litho_report_unref(LithoReport *report);
// Set or replace by key. Label and unit are for people; "" allowed. `report` may be NULL.
void litho_report_number(LithoReport *report, const char *key, const char *label, const char *unit,
                         double value);
// The number that an operator uses where its parameter `key` was left to it ("automatic"), in the
// parameter's unit. Panels show it in the parameter's row, not among the numbers.
void litho_report_used(LithoReport *report, const char *operator_key, const char *key,
                       double value);
gboolean litho_number_is_used(const LithoNumber *number, const char *operator_key, const char *key);
gboolean litho_number_is_any_used(const LithoNumber *number); // of whatever operator and parameter
void litho_report_curve(LithoReport *report, const char *key, const char *label,
                        const char *x_label, const char *y_label, guint n, const double *x,
                        const double *y);
// Sets the drawing of a curve that is there already; `group` and `name` may be NULL. The report may
// be NULL, a curve that is not there is passed over.
void litho_report_curve_style(LithoReport *report, const char *key, const char *group,
                              const char *name, gboolean log_x, gboolean log_y, gboolean bars);
// The role of a curve that is there already.
void litho_report_curve_role(LithoReport *report, const char *key, LithoCurveRole role);
// Upright lines at these places of x; at most LITHO_CURVE_MARKS.
void litho_report_curve_marks(LithoReport *report, const char *key, guint n, const double *x);

// Space of the shapes that the 3-D scene can show beside the data: boundaries, rays, boxes.
typedef enum LithoSpace {
    LITHO_SPACE_MODEL,     // x (east), y (north), z (down), all in metres
    LITHO_SPACE_FREQUENCY, // cycles per sample along inline number, crossline number, time:
                           // -0.5..0.5
} LithoSpace;

typedef enum LithoShapeKind {
    LITHO_SHAPE_POINTS, // n marks
    LITHO_SHAPE_LINE,   // one open line through n points
    LITHO_SHAPE_SHEET,  // rows x columns = n points, row by row; a point may be NaN (hole)
    LITHO_SHAPE_BOXES,  // n / 8 boxes of 8 corners; corner k: bit 0 first axis, bit 1 second, bit 2
                        // third
} LithoShapeKind;

// The first point of a shape of POINTS is a grip, to be dragged along the third axis: the place it
// is brought to is a number in a TEXT parameter of the operator. A grip is no mark of its own: it
// is drawn and named where it can be taken.
typedef struct LithoGrip {
    char operator_key[32], param[32]; // "" = the shape is no grip
    char before[320], after[320];     // the parameter's text around the number
    double offset;                    // the number is the grip's place less this
    double lo, hi, step;              // places it may be brought to, and their distance
} LithoGrip;

typedef struct LithoShape {
    char key[32], label[96]; // label for the legend and the screen reader: "Source", "Boundary 2"
    LithoSpace space;
    LithoShapeKind kind;
    guint n, rows, columns;
    float *xyz;   // 3 n
    float *value; // one per point (per box: n / 8) in 0..1 for colour and weight; or NULL
    LithoGrip grip;
} LithoShape;

// Set or replace by key; copies everything. `value` may be NULL. Any thread; `report` may be NULL.
void litho_report_shape(LithoReport *report, const LithoShape *shape);
// The medium (a velocity) that the operator assumes, for the views: samples on a grid of its own
// over the output's, whose axes count the same lines, times or depths, coarser as a rule.
typedef struct LithoLayer {
    char key[32], label[96], unit[16];
    LithoCube *cube;
} LithoLayer;

// Set or replace by key; references `cube`, which nobody writes from now on. Any thread; `report`
// may be NULL.
void litho_report_layer(LithoReport *report, const char *key, const char *label, const char *unit,
                        LithoCube *cube);
// FALSE when there is no such number.
gboolean litho_report_get(LithoReport *report, const char *key, double *value);
// Copies in the order of first appearance; g_array_unref() frees what their elements own.
GArray *litho_report_numbers(LithoReport *report); // of LithoNumber
GArray *litho_report_curves(LithoReport *report);  // of LithoCurve
GArray *litho_report_shapes(LithoReport *report);  // of LithoShape
GArray *litho_report_layers(LithoReport *report);  // of LithoLayer
// Grows with every change: tells a view whether there is something new.
guint litho_report_serial(LithoReport *report);
// From now on what is told to `report` is told to `to` as well; NULL ends it. References `to`.
void litho_report_forward(LithoReport *report, LithoReport *to);
// A sentence about a choice that the operator made and nobody would expect, for the log; each one
// once. `report` may be NULL.
void litho_report_remark(LithoReport *report, const char *format, ...) G_GNUC_PRINTF(2, 3);
GPtrArray *litho_report_remarks(LithoReport *report); // of char *, copies
// Tells `to` (may be NULL) everything that `report` was told.
void litho_report_repeat(LithoReport *report, LithoReport *to);
JsonNode *litho_report_to_json(LithoReport *report);
