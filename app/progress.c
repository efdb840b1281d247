// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/progress.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"
#include "core/timings.h"

enum { FORM_NONE, FORM_LINE, FORM_PLAIN, FORM_JSONL };

// --- SIGINT -> cancel -------------------------------------------------------------------------
// g_cancellable_cancel() may not be called from a signal handler: a thread waits for the signal.

static gpointer wait_for_signal(gpointer data)
{
    GCancellable *cancel = data;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    int number = 0;
    sigwait(&set, &number);
    g_cancellable_cancel(cancel);
    // A second one ends the program at once.
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    return NULL;
}

static void catch_signals(GCancellable *cancel)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL); // inherited by every thread made later
    g_thread_unref(g_thread_new("litho-signal", wait_for_signal, g_object_ref(cancel)));
}

// --- showing ----------------------------------------------------------------------------------

static void print_time_left(const LithoProgress *p)
{
    if (p->seconds_left >= 60)
        fprintf(stderr, ", %.0f min %02.0f s left", p->seconds_left / 60,
                (double)((int)p->seconds_left % 60));
    else if (p->seconds_left >= 0)
        fprintf(stderr, ", %.0f s left", p->seconds_left);
}

static void print_line(const LithoProgress *p)
{
    fprintf(stderr, "%s: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT "%s%s", p->what, p->done,
            p->total, p->unit ? " " : "", p->unit ? p->unit : "");
    if (p->per_second > 0)
        fprintf(stderr, ", %.4g/s", p->per_second);
    print_time_left(p);
}

static void print_json(const LithoProgress *p)
{
    fprintf(stderr,
            "{\"stage\":\"%s\",\"done\":%" G_GINT64_FORMAT ",\"total\":%" G_GINT64_FORMAT
            ",\"unit\":\"%s\",\"per_second\":%.6g,\"seconds_left\":%.6g}\n",
            p->what, p->done, p->total, p->unit ? p->unit : "", p->per_second, p->seconds_left);
}

static void on_progress(const LithoProgress *p, gpointer data)
{
    LithoCliProgress *progress = data;
    gint64 now = g_get_monotonic_time();
    gint64 pause = progress->form == FORM_PLAIN ? G_TIME_SPAN_SECOND : G_TIME_SPAN_SECOND / 10;
    if (now - progress->last_us < pause && p->done < p->total)
        return;
    progress->last_us = now;
    switch (progress->form) {
    case FORM_LINE:
        fprintf(stderr, "\r\033[K");
        print_line(p);
        progress->shown = TRUE;
        break;
    case FORM_PLAIN:
        print_line(p);
        fprintf(stderr, "\n");
        break;
    case FORM_JSONL:
        print_json(p);
        break;
    default:
        break;
    }
    fflush(stderr);
}

gboolean litho_cli_progress_init(LithoCliProgress *progress, const char *form, LithoRun *run,
                                 GError **error)
{
    static const char *const names[] = {"none", "auto", "plain", "jsonl"};
    memset(progress, 0, sizeof *progress);
    progress->form = -1;
    for (guint k = 0; k < G_N_ELEMENTS(names); k++)
        if (strcmp(form, names[k]) == 0)
            progress->form = (int)k;
    if (progress->form < 0) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                    "--progress is '%s'; it must be auto, plain, jsonl or none", form);
        return FALSE;
    }
    if (progress->form == FORM_LINE && !isatty(STDERR_FILENO))
        progress->form = FORM_NONE;
    progress->talks = progress->form == FORM_LINE || progress->form == FORM_PLAIN;
    progress->start_ms = litho_now_ms();
    progress->cancel = g_cancellable_new();
    catch_signals(progress->cancel);
    run->cancel = progress->cancel;
    if (progress->form != FORM_NONE) {
        run->on_progress = on_progress;
        run->progress_data = progress;
    }
    return TRUE;
}

void litho_cli_progress_end(LithoCliProgress *progress)
{
    if (progress->shown)
        fprintf(stderr, "\r\033[K");
    progress->shown = FALSE;
    g_clear_object(&progress->cancel);
}

void litho_cli_wrote(const LithoCliProgress *progress, const char *path)
{
    if (progress->talks)
        fprintf(stderr, "wrote %s in %.3g s\n", path, (litho_now_ms() - progress->start_ms) * 1e-3);
}
