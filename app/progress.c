// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/cli.h"
#include "app/cli_pipe.h"
#include "core/error.h"
#include "core/io/output.h"
#include "core/text.h"
#include "core/timings.h"

enum { FORM_NONE, FORM_LINE, FORM_PLAIN, FORM_JSONL, FORM_SLOW };

// --- signals -> cancel ------------------------------------------------------------------------
// Libraries make threads before main() (OpenBLAS), and the system may give a signal to any of them:
// blocking signals and waiting for them in one thread would miss it. A handler runs in whichever
// thread takes the signal; it may only write a byte, which wakes the thread that cancels.

static int wake[2] = {-1, -1};
static volatile sig_atomic_t listening; // a command runs that can be cancelled
static volatile sig_atomic_t pipe_closed;
static struct {
    GMutex lock; // held while the process ends: the job does not go on meanwhile
    gboolean inside;
} library;

static void on_signal(int number)
{
    static const char told[] = N_("lithoscope-cli: cancelled\n");
    const int saved = errno;
    if (number == SIGPIPE)
        pipe_closed = 1;
    ssize_t ignored;
    if (listening) {
        ignored = write(wake[1], "", 1);
    } else {
        litho_cli_pipe_abandon();
        ignored = number == SIGPIPE ? 0 : write(STDERR_FILENO, told, sizeof told - 1);
        _exit(LITHO_EXIT_CANCELLED);
    }
    (void)ignored;
    errno = saved;
}

void litho_cli_signals_init(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) != 0)
        return; // the signals end the program as they would anyway
    for (guint k = 0; k < G_N_ELEMENTS(numbers); k++) {
        struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
        // A second Ctrl+C ends the program at once; a pipe stays closed.
        action.sa_flags |= numbers[k] == SIGPIPE ? 0 : (int)SA_RESETHAND;
        // A signal that the caller ignores (nohup, a shell's background job) stays ignored.
        if (sigaction(numbers[k], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(numbers[k], &action, NULL);
    }
}

gboolean litho_cli_pipe_closed(void)
{
    return pipe_closed != 0;
}

// Ends the process as soon as the job is inside a library that cannot be cancelled. Returns when
// the job has ended by itself.
static void end_inside_library(void)
{
    const gulong pause_us = 5000;
    for (;; g_usleep(pause_us)) {
        g_mutex_lock(&library.lock);
        if (library.inside) {
            litho_outputs_abandon();
            litho_cli_pipe_abandon();
            if (!pipe_closed)
                fprintf(stderr, "%slithoscope-cli: cancelled\n",
                        isatty(STDERR_FILENO) ? "\r\033[K" : "");
            _exit(LITHO_EXIT_CANCELLED);
        }
        const gboolean ended = !listening;
        g_mutex_unlock(&library.lock);
        if (ended)
            return;
    }
}

static gpointer wait_for_signal(gpointer data)
{
    g_autoptr(GCancellable) cancel = data;
    char byte;
    struct pollfd poll_fd = {.fd = wake[0], .events = POLLIN};
    while (poll(&poll_fd, 1, -1) < 0 && errno == EINTR)
        ;
    if (read(wake[0], &byte, 1) == 1) {
        g_cancellable_cancel(cancel);
        end_inside_library();
    }
    return NULL;
}

static void on_library(gboolean inside, gpointer unused)
{
    (void)unused;
    g_mutex_lock(&library.lock);
    library.inside = inside;
    g_mutex_unlock(&library.lock);
}

static void listen_to_signals(GCancellable *cancel)
{
    if (wake[0] < 0)
        return;
    g_thread_unref(g_thread_new("litho-signal", wait_for_signal, g_object_ref(cancel)));
    listening = 1;
}

// --- showing ----------------------------------------------------------------------------------

static void print_time_left(const LithoProgress *p)
{
    if (p->seconds_left >= 60)
        fprintf(stderr, _(", %.0f min %02.0f s left"), floor(p->seconds_left / 60),
                floor(fmod(p->seconds_left, 60)));
    else if (p->seconds_left >= 0)
        fprintf(stderr, _(", %.0f s left"), p->seconds_left);
}

static void print_line(const LithoProgress *p)
{
    fprintf(stderr, "%s: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT "%s%s", litho_text(p->what),
            p->done, p->total, p->unit ? " " : "", p->unit ? p->unit : "");
    if (p->per_second > 0)
        fprintf(stderr, ", %.4g/s", p->per_second);
    print_time_left(p);
}

static void print_json(const LithoProgress *p)
{
    fprintf(stderr,
            "{\"stage\":\"%s\",\"done\":%" PRId64 ",\"total\":%" PRId64
            ",\"unit\":\"%s\",\"per_second\":%.6g,\"seconds_left\":%.6g}\n",
            p->what, p->done, p->total, p->unit ? p->unit : "", p->per_second, p->seconds_left);
}

static LithoCliProgress *standing; // its line stands at the terminal without an end; or NULL

void litho_cli_progress_erase(void)
{
    if (standing)
        fprintf(stderr, "\r\033[K");
    standing = NULL;
}

static void on_progress(const LithoProgress *p, gpointer data)
{
    LithoCliProgress *progress = data;
    gint64 now = g_get_monotonic_time();
    // Off a terminal a line every 10 s shows that the command is alive, short ones say nothing.
    gint64 pause = progress->form == FORM_SLOW    ? 10 * G_TIME_SPAN_SECOND
                   : progress->form == FORM_PLAIN ? G_TIME_SPAN_SECOND
                                                  : G_TIME_SPAN_SECOND / 10;
    if (now - progress->last_us < pause && (p->done < p->total || progress->form == FORM_SLOW))
        return;
    progress->last_us = now;
    switch (progress->form) {
    case FORM_LINE:
        fprintf(stderr, "\r\033[K");
        print_line(p);
        standing = progress;
        break;
    case FORM_PLAIN:
    case FORM_SLOW:
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

// -1: there is no such form.
static int form_of(const char *name)
{
    static const char *const names[] = {"none", "auto", "plain", "jsonl"};
    for (guint k = 0; k < G_N_ELEMENTS(names); k++)
        if (strcmp(name, names[k]) == 0)
            return (int)k;
    return -1;
}

gboolean litho_cli_progress_check(const char *form, GError **error)
{
    return !form || form_of(form) >= 0 ||
           litho_refuse(error, LITHO_ERROR_PARAMETER,
                        "--progress is '%s'; it must be auto, plain, jsonl or none", form);
}

gboolean litho_cli_progress_init(LithoCliProgress *progress, const char *form, LithoRun *run,
                                 GError **error)
{
    memset(progress, 0, sizeof *progress);
    if (!litho_cli_progress_check(form, error))
        return FALSE;
    progress->form = form_of(form);
    if (progress->form == FORM_LINE && !isatty(STDERR_FILENO))
        progress->form = FORM_SLOW;
    progress->last_us = progress->form == FORM_SLOW ? g_get_monotonic_time() : 0;
    progress->talks = progress->form == FORM_LINE || progress->form == FORM_PLAIN;
    progress->start_ms = litho_now_ms();
    progress->cancel = g_cancellable_new();
    listen_to_signals(progress->cancel);
    run->cancel = progress->cancel;
    run->on_library = on_library;
    if (progress->form != FORM_NONE) {
        run->on_progress = on_progress;
        run->progress_data = progress;
    }
    return TRUE;
}

void litho_cli_progress_end(LithoCliProgress *progress)
{
    litho_cli_progress_erase();
    listening = 0; // from now on a signal ends the program: nothing is left to clean up
    g_clear_object(&progress->cancel);
}

void litho_cli_wrote(const LithoCliProgress *progress, const char *path)
{
    g_autofree char *name = litho_text_visible(path);
    if (progress->talks)
        fprintf(stderr, _("wrote %s in %.3g s\n"), name,
                (litho_now_ms() - progress->start_ms) * 1e-3);
}
