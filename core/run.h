// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gio/gio.h>
#include "core/cube.h"
#include "core/timings.h"

// What a long job gets from its caller: cancel, progress, timings, threads, a place for partial
// results and numbers. Lives on the caller's stack for one job; every field may be 0/NULL.
// One job, one thread: the functions below are called from the thread that runs the job only
// (inside an OpenMP region: from the master thread), except litho_run_cancelled(), which is safe
// anywhere.

typedef struct LithoReport LithoReport;

typedef struct LithoProgress {
    const char *what;    // "reading", "solve", ...: the present stage
    gint64 done, total;  // in units of `unit`
    const char *unit;    // "traces", "windows", "depths"; may be NULL
    double per_second;   // units a second, 0 = not known yet
    double seconds_left; // < 0 = not known yet
} LithoProgress;

typedef void (*LithoProgressFunc)(const LithoProgress *progress, gpointer data);

typedef struct LithoRun {
    GCancellable *cancel;  // borrowed; NULL = cannot be cancelled
    LithoTimings *timings; // borrowed; NULL = not timed
    LithoReport *report;   // borrowed; NULL = numbers are dropped
    int threads;           // CPU threads to use; 0 = all
    int device;            // device index of the backend
    int devices;           // device .. device + devices - 1 may share the work; 0 = one
    int devices_used;      // out: the most that computed at once; litho_run_used_devices()
    gboolean force;        // files that an operator writes beside its samples replace existing ones

    LithoProgressFunc on_progress; // at most about 20 a second, in the job's thread
    gpointer progress_data;
    // A part of the result that is whole already (a depth, an iteration); the callee keeps its own
    // reference. In the job's thread.
    void (*on_partial)(LithoCube *part, gpointer data);
    gpointer partial_data;
    // Asked at every step beside `cancel`: TRUE = give up, newer parameters wait.
    gboolean (*superseded)(gpointer data);
    gpointer superseded_data;

    // Private to run.c.
    const char *what, *unit;
    gint64 started_us, shown_us;
} LithoRun;

// Names the stage that steps are about to be counted in; restarts the clock for "time left".
// `what` and `unit` must be string literals.
void litho_run_begin(LithoRun *run, const char *what, const char *unit);
// Progress and cancel test in one; call it every 15 ms or more often. FALSE = stop now, with
// G_IO_ERROR_CANCELLED in `error`. `run` may be NULL (TRUE then).
gboolean litho_run_step(LithoRun *run, gint64 done, gint64 total, GError **error);
// The test alone, without progress; safe from any thread.
gboolean litho_run_cancelled(const LithoRun *run);
// Hands a finished part to whoever watches. Borrows `part`.
void litho_run_partial(LithoRun *run, LithoCube *part);
// Threads to use: run->threads, or all the machine lends this process.
int litho_run_threads(const LithoRun *run);

// Devices that may share the work, run->device first; at least 1.
int litho_run_devices(const LithoRun *run);
// For operators that share their work out themselves: how many devices took part.
void litho_run_used_devices(LithoRun *run, int n);

// Stage stopwatch: double t = litho_now_ms(); ...; litho_run_time(run, "solve", KIND, now - t, ..).
double litho_now_ms(void);
// The calling thread, and those it starts from now on, take processors after the threads that have
// not called this: for what computes beside a window. Costs nothing while a processor is free.
void litho_thread_step_back(void);
void litho_run_time(LithoRun *run, const char *stage, LithoStageKind kind, double ms, double bytes,
                    double flops);

// --- numbers and curves beside a result -------------------------------------------------------

enum { LITHO_CURVE_MARKS = 4 };

typedef struct LithoCurve {
    char key[32], label[64], x_label[32], y_label[32];
    // Curves of one group share a plot; "" = a plot of its own. `name` is for the legend.
    char group[32], name[32];
    gboolean log_x, log_y, bars; // how the plot is best drawn
    guint n;
    double *x, *y;
    guint n_marks; // upright lines that mean something, e.g. the threshold
    double mark[LITHO_CURVE_MARKS];
} LithoCurve;

typedef struct LithoNumber {
    char key[32], label[64], unit[16];
    double value;
} LithoNumber;

// What an operator tells beside its samples (sigma estimated, coefficients kept, windows that fell
// back, phase error against dip). Any thread.
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
// How a curve that is there already is to be drawn; `group` and `name` may be NULL. The report may
// be NULL, a curve that is not there is passed over.
void litho_report_curve_style(LithoReport *report, const char *key, const char *group,
                              const char *name, gboolean log_x, gboolean log_y, gboolean bars);
// Upright lines at these places of x; at most LITHO_CURVE_MARKS.
void litho_report_curve_marks(LithoReport *report, const char *key, guint n, const double *x);

// What the 3-D scene can show of an operator beside the data: boundaries, rays, boxes.
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

typedef struct LithoShape {
    char key[32], label[64]; // label for the legend and the screen reader: "Source", "Boundary 2"
    LithoSpace space;
    LithoShapeKind kind;
    guint n, rows, columns;
    float *xyz;   // 3 n
    float *value; // one per point (per box: n / 8) in 0..1 for colour and weight; or NULL
} LithoShape;

// Set or replace by key; copies everything. `value` may be NULL. Any thread; `report` may be NULL.
void litho_report_shape(LithoReport *report, const LithoShape *shape);
// FALSE when there is no such number.
gboolean litho_report_get(LithoReport *report, const char *key, double *value);
// Copies; free the arrays' elements with litho_curve_clear(). Order of first appearance.
GArray *litho_report_numbers(LithoReport *report); // of LithoNumber
GArray *litho_report_curves(LithoReport *report);  // of LithoCurve, clears its elements itself
GArray *litho_report_shapes(LithoReport *report);  // of LithoShape, likewise
// Grows with every change: tells a view whether there is something new.
guint litho_report_serial(LithoReport *report);
// From now on what is told to `report` is told to `to` as well; NULL ends it. References `to`.
void litho_report_forward(LithoReport *report, LithoReport *to);
// Tells `to` (may be NULL) everything that `report` was told.
void litho_report_repeat(LithoReport *report, LithoReport *to);
JsonNode *litho_report_to_json(LithoReport *report);
