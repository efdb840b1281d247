// SPDX-License-Identifier: GPL-3.0-or-later
//
// Jobs beside the main thread: where their ends are told, and the program's end.
#include "core/error.h"
#include "ui/session/job.h"

static gpointer do_nothing(LithoRun *run, gpointer data, GError **error)
{
    (void)run, (void)error;
    return data;
}

static void nothing_done(gpointer result, const GError *error, gpointer data)
{
    (void)result, (void)error, (void)data;
}

static guint freed, freed_elsewhere;

static void note_thread(gpointer main_thread)
{
    freed_elsewhere += g_thread_self() != main_thread;
    freed++;
}

// Property: what a job holds is freed in the main thread, where its widgets belong, also when the
// end is told before the thread has finished.
static void test_job(void)
{
    static const LithoJobFuncs quick = {do_nothing, NULL, nothing_done, note_thread};
    enum { JOBS = 2000 };
    for (guint k = 0; k < JOBS; k++) {
        litho_job_start(&quick, g_thread_self());
        while (freed <= k)
            g_main_context_iteration(NULL, FALSE);
    }
    g_assert_cmpuint(freed_elsewhere, ==, 0);
}

static gpointer stop_slowly(LithoRun *run, gpointer data, GError **error)
{
    while (litho_run_checkpoint(run))
        g_usleep(1000);
    g_usleep(200000);
    litho_run_stopped(error);
    (void)data;
    return NULL;
}

static void note_end(gpointer result, const GError *error, gpointer ended)
{
    (void)result, (void)error;
    ++*(guint *)ended;
}

// Property: the end of the program waits for the jobs that it cancels, and not for one that does
// not obey.
static void test_jobs_end(void)
{
    static const LithoJobFuncs slow = {stop_slowly, NULL, note_end, NULL};
    guint ended = 0;
    litho_jobs_end(10); // there are none
    for (int k = 0; k < 3; k++)
        litho_job_start(&slow, &ended);
    litho_jobs_end(20);
    g_assert_cmpuint(ended, ==, 3);
    litho_job_start(&slow, &ended);
    litho_jobs_end(0.02);
    g_assert_cmpuint(ended, ==, 3);
    litho_jobs_end(20);
    g_assert_cmpuint(ended, ==, 4);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/jobs/job", test_job);
    g_test_add_func("/jobs/end", test_jobs_end);
    return g_test_run();
}
