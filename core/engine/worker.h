// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/engine.h"
#include "core/engine/result.h"
#include "core/engine/schedule.h"
#include "core/io/survey.h"

// The thread behind the window. It is told the newest wish (flow, input, visible slices) and
// answers with the newest result; neither side ever waits for the other.
//
// Order of the parts, and when newer parameters end them: core/engine/schedule.h. All parts have
// identical samples. Files that the flow's steps name are read before all; newer parameters that
// name the same files wait for the reading instead of ending it.

enum { LITHO_WORKER_MAX_VIEWS = LITHO_SCHEDULE_MAX_VIEWS };
// Parts of a survey beyond memory that are kept for the next wish: of the first two views, and the
// last one read.
enum { LITHO_WORKER_KEPT = 3 };

typedef struct LithoWish {
    LithoFlow *flow; // copied
    LithoCube *in;   // referenced; NULL for a source
    LithoSurvey
        *survey; // referenced; the input is too large for memory: what each view needs (its
                 // halo included) is read from here, `in` is not used, `whole` must be FALSE
    LithoBox needs[LITHO_WORKER_MAX_VIEWS]; // with `survey`: input box of each view
    LithoDevice device;
    int threads;   // 0 = all
    guint n_views; // boxes on screen, in output-grid indices, most important first
    LithoBox views[LITHO_WORKER_MAX_VIEWS];
    gboolean whole; // also compute the rest of the cube
    guint64 tag;    // the caller's number, comes back in the result
    guint64 kind;   // the caller's number for what is computed (operators, their modes, the input):
                    // times of another kind say nothing about this wish
} LithoWish;

typedef struct LithoWorker LithoWorker;

// `wake` is called from the worker's thread when there is something new (result, progress, idle);
// it must only post to its own loop, and merge. Result, progress and timings are then fetched.
LithoWorker *litho_worker_new(void (*wake)(gpointer data), gpointer data);
// Cancels, waits for the running step (<= 100 ms) and frees. Main thread.
void litho_worker_free(LithoWorker *worker);

// Newest wins: a wish not yet begun is replaced. Copies what it needs; never blocks. Any thread.
void litho_worker_submit(LithoWorker *worker, const LithoWish *wish);
// Gives up the present pass and forgets a waiting wish; the last result stays.
void litho_worker_cancel(LithoWorker *worker);
// Holds the pass under way at its next step, or lets it go on: parts that are whole stay to be
// looked at. A cancel, a new wish or the end of the pass end a pause. While idle nothing happens.
// Any thread.
void litho_worker_pause(LithoWorker *worker, gboolean pause);
gboolean litho_worker_is_paused(LithoWorker *worker);
// Newest unseen result, or NULL; the caller gives it back with litho_result_unref(). Any thread.
LithoResult *litho_worker_take(LithoWorker *worker);
// The result of that generation is on the screen; a wish for a device that OpenGL draws on waits
// for that (schedule.h). Any thread.
void litho_worker_shown(LithoWorker *worker, guint64 generation);
// Report of the operators of the present pass so far, or of the last pass; NULL before the first.
// It fills while the pass runs: a design's error curve is there long before the image. `tag`: of
// its wish; may be NULL. The caller gives it back with litho_report_unref(). Any thread.
LithoReport *litho_worker_report(LithoWorker *worker, guint64 *tag);
// FALSE when idle. `progress` may be NULL.
gboolean litho_worker_progress(LithoWorker *worker, LithoProgress *progress);
// Borrowed for the worker's life.
LithoTimings *litho_worker_timings(LithoWorker *worker);
