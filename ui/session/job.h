// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/run.h"

// Work that must not run in the main thread: opening, saving, percentiles, spectra. One function in
// a thread of its own, progress and end reported in the main thread.
//
// Ownership: the job frees itself after `done` was called; the pointer is valid until then.
typedef struct LithoJob LithoJob;

typedef struct LithoJobFuncs {
    // In the thread. Returns the result or NULL with `error`. `run` has cancel and progress wired.
    gpointer (*work)(LithoRun *run, gpointer data, GError **error);
    // Main thread, merged to the newest; may be NULL.
    void (*progress)(const LithoProgress *progress, gpointer data);
    // Main thread, exactly once, also after a cancel. Takes over `result`; `error` is borrowed.
    void (*done)(gpointer result, const GError *error, gpointer data);
    GDestroyNotify free_data; // after done; may be NULL
} LithoJobFuncs;

// `funcs` is copied. Main thread.
LithoJob *litho_job_start(const LithoJobFuncs *funcs, gpointer data);
// Asks it to stop; done() follows with G_IO_ERROR_CANCELLED (or its result, if it was quicker).
void litho_job_cancel(LithoJob *job); // NULL is fine
// Cancels all jobs and runs the main loop until they have ended, `seconds` at most: the program
// ends. A thread that goes on into exit() would leave its half of a file behind. Main thread.
void litho_jobs_end(double seconds);
