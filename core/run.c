// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/control_group.h"
#include "core/text.h"

double litho_now_ms(void)
{
    return g_get_monotonic_time() * 1e-3;
}

void litho_thread_step_back(void)
{
    const int niceness = 5; // a third of the weight of a thread that does not step back
    setpriority(PRIO_PROCESS, (id_t)gettid(), niceness); // Linux: of this thread alone
}

void litho_run_begin(LithoRun *run, const char *what, const char *unit)
{
    if (!run)
        return;
    run->what = what;
    run->unit = unit;
    run->started_us = g_get_monotonic_time();
    run->shown_us = 0;
}

gboolean litho_run_checkpoint(const LithoRun *run)
{
    return !run || (!(run->cancel && g_cancellable_is_cancelled(run->cancel)) &&
                    !(run->superseded && run->superseded(run->superseded_data)));
}

// At most 20 reports a second, but always the last one of a stage.
static void show_progress(LithoRun *run, gint64 done, gint64 total)
{
    gint64 now = g_get_monotonic_time();
    if (now - run->shown_us < 50000 && done < total)
        return;
    run->shown_us = now;
    double seconds = (now - run->started_us) * 1e-6;
    LithoProgress progress = {
        .what = run->what ? run->what : "working",
        .done = done,
        .total = total,
        .unit = run->unit,
        .per_second = seconds > 0.05 && done > 0 ? done / seconds : 0,
        .seconds_left = -1,
    };
    if (progress.per_second > 0 && total >= done)
        progress.seconds_left = (total - done) / progress.per_second;
    run->on_progress(&progress, run->progress_data);
}

gboolean litho_run_stopped(GError **error)
{
    if (error && !*error)
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_CANCELLED, _("cancelled"));
    return FALSE;
}

gboolean litho_run_step(LithoRun *run, gint64 done, gint64 total, GError **error)
{
    if (!run)
        return TRUE;
    if (!litho_run_checkpoint(run))
        return litho_run_stopped(error);
    if (run->on_progress)
        show_progress(run, done, total);
    return TRUE;
}

gboolean litho_run_library_begin(const LithoRun *run, GError **error)
{
    if (run && run->on_library)
        run->on_library(TRUE, run->library_data);
    // Asked after the telling: a cancel that comes between them must not wait for the library.
    if (litho_run_checkpoint(run))
        return TRUE;
    litho_run_library_end(run);
    return litho_run_stopped(error);
}

void litho_run_library_end(const LithoRun *run)
{
    if (run && run->on_library)
        run->on_library(FALSE, run->library_data);
}

void litho_run_partial(LithoRun *run, LithoCube *part)
{
    if (run && run->on_partial)
        run->on_partial(part, run->partial_data);
}

void litho_run_first_look(LithoRun *run)
{
    if (run && run->on_first_look)
        run->on_first_look(run->partial_data);
}

// Processors that the groups of this process grant; asked once, for every loop asks.
static int granted(void)
{
    static gsize n; // and 1
    if (g_once_init_enter(&n))
        g_once_init_leave(&n, (gsize)litho_control_group_processors(NULL, NULL) + 1);
    return n > 1 ? (int)n - 1 : G_MAXINT;
}

LithoRun litho_run_quiet(const LithoRun *run)
{
    LithoRun quiet = run ? *run : (LithoRun){0};
    quiet.on_progress = NULL;
    quiet.report = NULL;
    return quiet;
}

int litho_run_threads(const LithoRun *run)
{
    if (run && run->threads > 0)
        return run->threads;
    cpu_set_t set;
    const gboolean known = sched_getaffinity(0, sizeof set, &set) == 0;
    return MIN(known ? MAX(CPU_COUNT(&set), 1) : (int)g_get_num_processors(), granted());
}

int litho_run_devices(const LithoRun *run)
{
    return run ? MAX(run->devices, 1) : 1;
}

void litho_run_used_devices(LithoRun *run, int n)
{
    if (run)
        run->devices_used = MAX(run->devices_used, n);
}

void litho_run_time(LithoRun *run, const char *stage, LithoStageKind kind, double ms, double bytes,
                    double flops)
{
    if (run)
        litho_timings_add(run->timings, stage, kind, ms, bytes, flops);
}
