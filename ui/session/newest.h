// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/session/job.h"

// Questions beside the worker of which the newest wins: one is answered at a time, in a thread of
// its own; one asked meanwhile waits, in the place of the one that waited before. The one under way
// is finished, so that somebody who asks faster than answers come still gets answers; forget()
// cancels it. Main thread only.
typedef struct LithoNewest LithoNewest;

typedef struct LithoNewestFuncs {
    // In the thread. Returns the answer or NULL with `error`.
    gpointer (*work)(LithoRun *run, gpointer question, GError **error);
    // Main thread, unless forgotten or freed meanwhile. Takes over `answer`; `error` is borrowed.
    void (*done)(gpointer answer, const GError *error, gpointer question, gpointer owner);
    GDestroyNotify free_question, free_answer; // of those nobody takes
} LithoNewestFuncs;

// `funcs` must outlive it; `owner` is handed to done().
LithoNewest *litho_newest_new(const LithoNewestFuncs *funcs, gpointer owner);
// No done() follows; the thread is cancelled and not waited for. NULL is fine.
void litho_newest_free(LithoNewest *newest);
void litho_newest_ask(LithoNewest *newest, gpointer question); // takes it over
// The question that waits is dropped; the one under way is cancelled, its answer thrown away.
void litho_newest_forget(LithoNewest *newest);
