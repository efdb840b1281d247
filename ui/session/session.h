// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib-object.h>
#include "core/qc.h"
#include "core/engine/worker.h"
#include "ui/session/area.h"
#include "ui/session/display.h"
#include "ui/session/history.h"
#include "ui/session/latency.h"
#include "ui/session/memory_plan.h"
#include "ui/session/numbers.h"

// The window shows and edits it: the input cube, the flow, the newest result, and how they are
// looked at. Widgets read it and call its setters; it tells them by signals what changed. No GTK in
// here. Main thread only; the heavy work happens in the worker and in jobs.
//
// Signals (no arguments unless stated):
//   "cube-changed"     another input cube; everything about it may differ
//   "flow-changed"     steps added, removed, moved, switched, or another one selected
//   "params-changed"   values of the selected step, also by undo and presets
//   "result"           result, partial or whole; or its end with an error (`problem` set)
//   "progress"         busy or idle, newest progress
//   "display-changed"  clip, colours, what is compared
//   "slices-changed"   slices, the visible window or the camera
//   "cursor-changed"
//   "device-changed"
//   "stats-changed"    numbers of the cubes (percentiles, histograms, spectra) arrived
//   "area-changed"     the area tool: its place, or what was found there
//   "memory-changed"   what the whole result needs is known, or not any more
//   "report-changed"   operators told numbers, curves or shapes, also while a pass runs
#define LITHO_TYPE_SESSION (litho_session_get_type())
G_DECLARE_FINAL_TYPE(LithoSession, litho_session, LITHO, SESSION, GObject)

LithoSession *litho_session_new(void);

// --- input --------------------------------------------------------------------------------------

LithoCube *litho_session_input(LithoSession *session);                // borrowed or NULL
void litho_session_set_input(LithoSession *session, LithoCube *cube); // adds a reference
// A cube that does not fit: `middle` (an inline or more of its grid) is shown at once and gives the
// numbers, slices are read from `survey` as they are looked at, and a flow is computed for visible
// sections only; there is never a whole output. No more than `memory` bytes are taken.
void litho_session_set_paged_input(LithoSession *session, LithoSurvey *survey, LithoCube *middle,
                                   guint64 memory);
gboolean litho_session_is_paged(LithoSession *session);
LithoSurvey *litho_session_page_survey(LithoSession *session); // borrowed or NULL
// Slices read so far, of LithoCube, NULL unless paged; borrowed. `stamp` and `dropped`: as in
// ui/session/pager.h.
const GPtrArray *litho_session_pages(LithoSession *session, guint64 *stamp, guint64 *dropped);
gboolean litho_session_pages_wanted(LithoSession *session); // something is being read
// The stand-in for the result of a cube beyond memory on the slice of `axis`, and why, in
// one or two short lines; NULL = the result. Static.
const char *litho_session_not_computed(LithoSession *session, int axis);
// Shows a first part of a cube that is still being read, in colours of that range; nothing is
// computed. NULL, NULL = back to the input.
void litho_session_set_preview(LithoSession *session, LithoCube *cube, const LithoRange *range);
gboolean litho_session_previews(LithoSession *session); // such a part is shown
// A cube in the input's place in every comparison, e.g. a kept result, and its name; NULL =
// the input. References `cube`.
void litho_session_set_reference(LithoSession *session, LithoCube *cube, const char *name);
const char *litho_session_reference_name(LithoSession *session); // NULL = the input; borrowed
// The output is compared with it: the preview of a cube being read, the reference, or the input.
LithoCube *litho_session_against(LithoSession *session); // borrowed or NULL
const char *litho_session_path(LithoSession *session);   // of the input; NULL = none
// Grid that the views show: the result's, or the input's while there is none. NULL = nothing yet.
const LithoGrid *litho_session_grid(LithoSession *session);
// TRUE when input and result can be laid over each other sample by sample.
gboolean litho_session_comparable(LithoSession *session);

// TRUE when input and result have the same traces, whatever their samples: before (time) and after
// (depth) can be shown beside each other.
gboolean litho_session_side_by_side(LithoSession *session);
// Sample index of the grid that is shown -> of the input at the same depth, and back, through the
// operator's curve of that role (core/report.h). The same where both are one.
double litho_session_to_input(LithoSession *session, double sample);
double litho_session_from_input(LithoSession *session, double sample);
// The view of litho_session_slice_view() in indices of the input.
LithoSliceView litho_session_input_view(LithoSession *session, int axis);
// The look of a panel that shows the input or the result.
LithoLook litho_session_look_for(LithoSession *session, LithoShow show);

// --- flow ---------------------------------------------------------------------------------------

const LithoFlow *litho_session_flow(LithoSession *session); // borrowed, until the next change
void litho_session_set_flow(LithoSession *session, const LithoFlow *flow, const char *why);
// A flow saved earlier takes the place of the present one, with its history (taken over).
void litho_session_restore_flow(LithoSession *session, const LithoFlow *flow, int selected,
                                LithoHistory *history);
int litho_session_selected(LithoSession *session); // step whose parameters are shown, -1 = none
void litho_session_select(LithoSession *session, int step);
void litho_session_add_step(LithoSession *session, const LithoOperator *op);
void litho_session_remove_step(LithoSession *session, guint step);
void litho_session_move_step(LithoSession *session, guint from, guint to);
void litho_session_enable_step(LithoSession *session, guint step, gboolean enabled);
// FALSE with the reason when the value is out of range: nothing changes then.
gboolean litho_session_set_param(LithoSession *session, guint step, const LithoParam *row,
                                 double value, const char *text, GError **error);
// All of a step's parameters (the operator's struct, legal values) as one change of that name.
void litho_session_set_params(LithoSession *session, guint step, gconstpointer params,
                              const char *what);
void litho_session_reset_step(LithoSession *session, guint step);
// Why the flow as it stands cannot run on the input; NULL = it can. Borrowed.
const char *litho_session_flow_problem(LithoSession *session);
void litho_session_undo(LithoSession *session);
void litho_session_redo(LithoSession *session);
// Many steps of the history at once: < 0 back, > 0 forward, as far as it goes.
void litho_session_travel(LithoSession *session, int steps);
LithoHistory *litho_session_history(LithoSession *session);

// --- area ---------------------------------------------------------------------------------------

const LithoArea *litho_session_area(LithoSession *session);
void litho_session_set_area(LithoSession *session, const LithoArea *area); // NULL = none
const LithoAreaNumbers *litho_session_area_numbers(LithoSession *session); // NULL = not (yet)

// --- result -------------------------------------------------------------------------------------

// Whole result of the flow as it stands, or NULL while it is being computed. Borrowed.
LithoCube *litho_session_output(LithoSession *session);
// The newest part of a result that holds `box`, of the flow as it stands or as it stood before a
// parameter moved; NULL = none. What the sections show. Borrowed until "result".
LithoCube *litho_session_holding(LithoSession *session, LithoBox box);
// Newest result, partial or whole; NULL before the first. Borrowed until "result".
const LithoResult *litho_session_result(LithoSession *session);
// Figures that the operators have told, in the order of their first telling: of the pass that runs,
// completed by the one before. NULL = nothing; g_array_unref(). Elements: LithoNumber, LithoCurve,
// LithoShape, LithoLayer.
GArray *litho_session_report_numbers(LithoSession *session);
GArray *litho_session_report_curves(LithoSession *session);
GArray *litho_session_report_shapes(LithoSession *session);
GArray *litho_session_report_layers(LithoSession *session);
// FALSE while the number of that key is still the one that the pass before told.
gboolean litho_session_number_is_newest(LithoSession *session, const char *key);
// Why there are no figures of a result (numbers, curves, histogram), one sentence; NULL = there are
// some, or they are on their way within a moment. Static or borrowed until the next signal.
const char *litho_session_figures_missing(LithoSession *session);
// Why the newest wish has no result; NULL = no failure. Borrowed.
const GError *litho_session_problem(LithoSession *session);
// TRUE while the views show the result of an earlier flow because the present one cannot be
// computed or has failed.
gboolean litho_session_shows_earlier(LithoSession *session);
// `known` is the whole result of the flow as it stands, computed earlier: shown at once, and
// nothing is computed. References it.
void litho_session_adopt_result(LithoSession *session, LithoResult *known);
// Sample of input or result at grid indices; FALSE when not known (outside, dead, not computed).
gboolean litho_session_sample(LithoSession *session, gboolean output, const gint64 at[3],
                              float *value);
gboolean litho_session_progress(LithoSession *session, LithoProgress *progress); // FALSE = idle
void litho_session_cancel(LithoSession *session);
// Holds the pass under way where it is; cancel, a change of the flow and its end let go of it.
void litho_session_pause(LithoSession *session, gboolean pause);
gboolean litho_session_is_paused(LithoSession *session);
void litho_session_recompute(LithoSession *session);        // also after a cancel or a failure
LithoTimings *litho_session_timings(LithoSession *session); // borrowed for the session's life
LithoTimings *litho_session_display_timings(LithoSession *session); // upload and drawing
// The views have drawn `result` (NULL = no result was there): keeps the time from slider to pixel.
// `frame`: the one that brought it to the screen.
void litho_session_drawn(LithoSession *session, const LithoResult *result,
                         const LithoFrameTimes *frame);
// How many changes have been on screen in the slice of `axis`.
guint64 litho_session_slices_drawn(LithoSession *session, int axis);
// Last and median time from a change to its first picture, ms; 0 = none yet.
void litho_session_latency(LithoSession *session, double *last, double *median);
guint litho_session_latencies(LithoSession *session, float ms[LITHO_LATENCY_RING]); // newest last
// Parts of the last of these times, ms. Borrowed, of LITHO_N_WAYS.
const float *litho_session_latency_way(LithoSession *session);
const LithoCubeNumbers *litho_session_numbers(LithoSession *session, int which); // NULL = not yet

const LithoMemoryPlan *litho_session_memory(LithoSession *session); // NULL = not known

// --- device -------------------------------------------------------------------------------------

// `wanted`: text for litho_device_parse(), "auto", "cuda:all". Asked in a thread: opening a driver
// takes a while.
void litho_session_set_device(LithoSession *session, const char *wanted);
LithoDevice litho_session_device(LithoSession *session); // that computes the flow as it stands
const char *litho_session_wanted_device(LithoSession *session);
// GPUs of this machine; 0 until a device was asked for that made the program look.
int litho_session_gpus(LithoSession *session);

// --- volumes beside the result ------------------------------------------------------------------

// Shows the volume of that name (litho_flow_volumes() of the flow) in place of the result; NULL =
// the result. No undo entry: it changes what is seen.
void litho_session_set_volume(LithoSession *session, const char *name);
// The volume in place of the result; NULL = the result is shown.
const char *litho_session_volume(LithoSession *session);
// The device that computes, "CPU, 2 threads"; `why` is NULL, or why it is not the one asked for.
const char *litho_session_device_label(LithoSession *session, const char **why);

// --- display ------------------------------------------------------------------------------------

const LithoDisplay *litho_session_display(LithoSession *session);
extern const char *const litho_show_keys[5]; // "input", "output", "removed", "split", "side"
void litho_session_show(LithoSession *session, LithoShow show);
LithoShow litho_session_shown(LithoSession *session); // with hold_input and comparability applied
void litho_session_hold_input(LithoSession *session, gboolean hold);
// Ends of the colours: -clip..clip, or lo..hi. Ignored when they are no range.
void litho_session_set_clip(LithoSession *session, double clip);
void litho_session_set_range(LithoSession *session, double lo, double hi);
// The exact percentile of what is shown, 50 to 100; found in a thread, FALSE while there are no
// numbers.
gboolean litho_session_set_clip_percent(LithoSession *session, double percent);
// Widens (> 1) or narrows the colours about their middle.
void litho_session_scale_clip(LithoSession *session, double factor);
double litho_session_clip(LithoSession *session); // the upper end
// Whether what is shown has one sign (velocities, energies), and the unit of its samples, NULL =
// none. Such data take colours of their own; which, the user chooses for either kind.
gboolean litho_session_is_unsigned(LithoSession *session);
const char *litho_session_unit(LithoSession *session);
const LithoColormap *litho_session_colours(LithoSession *session, gboolean of_unsigned);
void litho_session_set_colours(LithoSession *session, gboolean of_unsigned,
                               const LithoColormap *map);
// "Noise level" of "noise level", in the user's language; g_free().
char *litho_volume_title(const char *name);
// "Input", "Removed", ..., with the reference's name where it takes the input's place, and the
// volume's where it takes the output's; g_free().
char *litho_session_show_label(LithoSession *session, LithoShow show);
gboolean litho_session_clip_is_automatic(LithoSession *session); // nobody has touched it
// Ends of the colours of the input (LITHO_NUMBERS_IN) or of a result of another kind
// (LITHO_NUMBERS_OUT) that somebody has set; FALSE: they are automatic.
gboolean litho_session_range_set(LithoSession *session, int which, double range[2]);
// Whether the ends of the colours on show are those of a result of another kind.
gboolean litho_session_shows_own_range(LithoSession *session);
// Percentage of samples within the colours, of the input, or of a result of another shape; < 0 =
// not known.
double litho_session_clip_percent(LithoSession *session);
void litho_session_set_look(LithoSession *session, const LithoLook *look); // all of it
void litho_session_set_units(LithoSession *session, LithoUnits units);
void litho_session_set_decibels(LithoSession *session, int decibels);
void litho_session_set_slice(LithoSession *session, int axis, gint64 index);
LithoSliceView litho_session_slice_view(LithoSession *session, int axis);
void litho_session_set_window(LithoSession *session, const double lo[3], const double hi[3]);
void litho_session_fit(LithoSession *session);
void litho_session_set_scene(LithoSession *session, const LithoSceneView *scene);
void litho_session_set_cursor(LithoSession *session, const double *at); // NULL = left the views
// Which slices are on screen, most important first; what is computed first follows.
void litho_session_set_visible(LithoSession *session, guint n, const int *axes);
