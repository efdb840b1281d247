// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/job.h"

#include <gio/gio.h>

struct LithoJob {
    LithoJobFuncs funcs;
    gpointer data, result;
    GError *error;
    GCancellable *cancel;
    gint refs; // the thread's, and one for every posted idle

    GMutex lock; // guards the two below
    LithoProgress progress;
    gboolean posted;
};

static void job_unref(gpointer data)
{
    LithoJob *job = data;
    if (!g_atomic_int_dec_and_test(&job->refs))
        return;
    if (job->funcs.free_data)
        job->funcs.free_data(job->data);
    g_clear_error(&job->error);
    g_object_unref(job->cancel);
    g_mutex_clear(&job->lock);
    g_free(job);
}

static gboolean show_progress(gpointer data)
{
    LithoJob *job = data;
    g_mutex_lock(&job->lock);
    LithoProgress progress = job->progress;
    job->posted = FALSE;
    g_mutex_unlock(&job->lock);
    if (!g_cancellable_is_cancelled(job->cancel))
        job->funcs.progress(&progress, job->data);
    return G_SOURCE_REMOVE;
}

static GPtrArray *running; // jobs whose done() has not been called; of the main thread

static void post(LithoJob *job, GSourceFunc func)
{
    g_atomic_int_inc(&job->refs);
    g_idle_add_full(G_PRIORITY_DEFAULT, func, job, job_unref);
}

static void on_progress(const LithoProgress *progress, gpointer data)
{
    LithoJob *job = data;
    g_mutex_lock(&job->lock);
    job->progress = *progress;
    gboolean first = !job->posted;
    job->posted = TRUE;
    g_mutex_unlock(&job->lock);
    if (first)
        post(job, show_progress);
}

static gboolean finish(gpointer data)
{
    LithoJob *job = data;
    g_ptr_array_remove_fast(running, job);
    job->funcs.done(g_steal_pointer(&job->result), job->error, job->data);
    return G_SOURCE_REMOVE;
}

static gpointer thread_main(gpointer data)
{
    LithoJob *job = data;
    LithoRun run = {.cancel = job->cancel};
    litho_thread_step_back();
    if (job->funcs.progress) {
        run.on_progress = on_progress;
        run.progress_data = job;
    }
    job->result = job->funcs.work(&run, job->data, &job->error);
    // The thread's reference goes with it: what the job holds is freed in the main thread.
    g_idle_add_full(G_PRIORITY_DEFAULT, finish, job, job_unref);
    return NULL;
}

LithoJob *litho_job_start(const LithoJobFuncs *funcs, gpointer data)
{
    LithoJob *job = g_new0(LithoJob, 1);
    job->funcs = *funcs;
    job->data = data;
    job->cancel = g_cancellable_new();
    job->refs = 1;
    g_mutex_init(&job->lock);
    if (!running)
        running = g_ptr_array_new();
    g_ptr_array_add(running, job);
    g_thread_unref(g_thread_new("litho-job", thread_main, job));
    return job;
}

void litho_job_cancel(LithoJob *job)
{
    if (job)
        g_cancellable_cancel(job->cancel);
}

static gboolean ring(gpointer late)
{
    *(gboolean *)late = TRUE;
    return G_SOURCE_REMOVE;
}

void litho_jobs_end(double seconds)
{
    gboolean late = FALSE;
    guint alarm = g_timeout_add((guint)(1000 * seconds), ring, &late);
    while (running && running->len > 0 && !late) {
        for (guint k = 0; k < running->len; k++) // also those that an end has started
            litho_job_cancel(g_ptr_array_index(running, k));
        g_main_context_iteration(NULL, TRUE);
    }
    if (!late)
        g_source_remove(alarm);
}
