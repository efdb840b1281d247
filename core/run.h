// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gio/gio.h>
#include "core/cube.h"
#include "core/timings.h"

// Services that a long job gets from its caller: cancel, progress, timings, threads, a place for
// partial results and numbers. Lives on the caller's stack for one job; every field may be 0/NULL.
// One job, one thread: the functions below are called from the thread that runs the job only
// (inside an OpenMP region: from the master thread), except litho_run_checkpoint(), which is safe
// anywhere.

typedef struct LithoReport LithoReport;
typedef struct LithoPeers LithoPeers;

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
    LithoPeers *peers;     // borrowed; processes that compute this pass together (core/peers.h),
                           // NULL = alone
    int ranks_used;        // out: the most that took part; litho_run_used_ranks()
    gboolean writes;       // operators write the files that their parameters name beside their
                           // samples; FALSE: the result is looked at, judged or compared only
    gboolean force;        // such files replace existing ones

    LithoProgressFunc on_progress; // at most about 20 a second, in the job's thread
    gpointer progress_data;
    // A part of the result that is whole already (a depth, an iteration); the callee keeps its own
    // reference. In the job's thread.
    void (*on_partial)(LithoCube *part, gpointer data);
    gpointer partial_data;
    // Takes note that the partial result just handed over is a first look at all of the result.
    // NULL: nobody wants one; it costs time that the result does not need.
    void (*on_first_look)(gpointer partial_data);
    // Boxes of the result that are asked for one after the other, then all of it: what they have in
    // common may be computed with the first. Borrowed; none: NULL and 0.
    const LithoBox *views;
    guint n_views;
    // Asked at every step beside `cancel`: TRUE = give up, newer parameters wait.
    gboolean (*superseded)(gpointer data);
    gpointer superseded_data;
    // Told before and after work of a library that cannot be cancelled, such as loading an OpenGL
    // driver. Nothing is lost when the process ends in it. NULL: a cancel waits for its end.
    void (*on_library)(gboolean inside, gpointer data);
    gpointer library_data;

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
// The test of litho_run_step() alone, without progress: TRUE = go on, FALSE = stop now. Does not
// return while the run is paused. Safe from any thread.
gboolean litho_run_checkpoint(const LithoRun *run);
// The error of litho_run_step(), for loops that threads leave by litho_run_checkpoint(); an error
// that is there stays: one of the threads saw the cancel first. FALSE.
gboolean litho_run_stopped(GError **error);
// Between litho_run_library_begin() and _end() a library works that cannot be cancelled, and the
// process may end there: no other thread of the job works. FALSE = stop now, without _end().
gboolean litho_run_library_begin(const LithoRun *run, GError **error);
void litho_run_library_end(const LithoRun *run);
// Hands a finished part to whoever watches. Borrows `part`.
void litho_run_partial(LithoRun *run, LithoCube *part);
// The part that was handed over last is a first look at all of the result.
void litho_run_first_look(LithoRun *run);
// Threads to use: run->threads, or as many as the process may have processors: by its affinity and
// by the quota of its control groups when it was first asked.
int litho_run_threads(const LithoRun *run);

// Devices that may share the work, run->device first; at least 1.
int litho_run_devices(const LithoRun *run);
// For operators that share their work out themselves: how many devices took part.
void litho_run_used_devices(LithoRun *run, int n);

// A copy for work inside other work, which tells neither progress nor figures. `run` may be NULL.
LithoRun litho_run_quiet(const LithoRun *run);

// Stage stopwatch: double t = litho_now_ms(); ...; litho_run_time(run, "solve", KIND, now - t, ..).
double litho_now_ms(void);
// The calling thread, and those it starts from now on, take processors after the threads that have
// not called this: for what computes beside a window. Costs nothing while a processor is free.
void litho_thread_step_back(void);
void litho_run_time(LithoRun *run, const char *stage, LithoStageKind kind, double ms, double bytes,
                    double flops);
