// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/newest.h"

struct LithoNewest {
    const LithoNewestFuncs *funcs;
    gpointer owner;
    gpointer waiting;  // the newest question that is not under way, or NULL
    LithoJob *job;     // under way, or NULL
    gboolean unwanted; // its answer is to be thrown away
    gboolean freed;    // the owner has gone; the job's end frees it
};

// One question of a job.
typedef struct Asked {
    LithoNewest *newest;
    gpointer question;
} Asked;

static void start(LithoNewest *newest);

static gpointer work(LithoRun *run, gpointer data, GError **error)
{
    const Asked *asked = data;
    return asked->newest->funcs->work(run, asked->question, error);
}

static void done(gpointer answer, const GError *error, gpointer data)
{
    const Asked *asked = data;
    LithoNewest *newest = asked->newest;
    if (!newest->unwanted)
        newest->funcs->done(answer, error, asked->question, newest->owner);
    else if (answer)
        newest->funcs->free_answer(answer);
    newest->funcs->free_question(asked->question); // here: the job frees its data in any thread
    newest->job = NULL;
    newest->unwanted = FALSE;
    if (newest->freed)
        g_free(newest);
    else if (newest->waiting)
        start(newest);
}

static void start(LithoNewest *newest)
{
    static const LithoJobFuncs funcs = {work, NULL, done, g_free};
    Asked *asked = g_new(Asked, 1);
    *asked = (Asked){newest, g_steal_pointer(&newest->waiting)};
    newest->job = litho_job_start(&funcs, asked);
}

LithoNewest *litho_newest_new(const LithoNewestFuncs *funcs, gpointer owner)
{
    LithoNewest *newest = g_new0(LithoNewest, 1);
    newest->funcs = funcs;
    newest->owner = owner;
    return newest;
}

static void drop_waiting(LithoNewest *newest)
{
    if (newest->waiting)
        newest->funcs->free_question(g_steal_pointer(&newest->waiting));
}

void litho_newest_forget(LithoNewest *newest)
{
    drop_waiting(newest);
    litho_job_cancel(newest->job);
    newest->unwanted = newest->job != NULL;
}

void litho_newest_ask(LithoNewest *newest, gpointer question)
{
    drop_waiting(newest);
    newest->waiting = question;
    if (!newest->job)
        start(newest);
}

void litho_newest_free(LithoNewest *newest)
{
    if (!newest)
        return;
    litho_newest_forget(newest);
    newest->freed = TRUE;
    if (!newest->job)
        g_free(newest);
}
