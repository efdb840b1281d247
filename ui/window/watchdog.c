// SPDX-License-Identifier: GPL-3.0-or-later
//
// A source that is never ready. GLib calls check() of the source with the highest priority first
// when it returns from poll(), and prepare() first when all that was ready has been dispatched: the
// time between the two is the time the loop was away.
#include "ui/window/watchdog.h"

#include <string.h>
#include <time.h>

#define FRAME_US (1000000 / 60)

struct LithoWatchdog {
    GSource *source;
    gint64 left_us;     // when the loop left poll(), 0 = not yet
    gint64 left_cpu_us; // of this thread's own time
    gint64 longest_us, longest_cpu_us, cpu_us;
    guint late;
    LithoPhase phase[LITHO_PHASES_MAX]; // of the longest iteration
    guint n_phases;
    LithoPhase all[LITHO_PHASES_MAX]; // of all iterations
    guint n_all;
};

typedef struct Source {
    GSource base;
    LithoWatchdog *watchdog;
} Source;

static gint64 own_time_us(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * G_GINT64_CONSTANT(1000000) + t.tv_nsec / 1000;
}

static void add_phases(LithoWatchdog *w, const LithoPhase *phase, guint n)
{
    for (guint k = 0; k < n; k++) {
        guint at = 0;
        while (at < w->n_all && strcmp(w->all[at].name, phase[k].name) != 0)
            at++;
        if (at == LITHO_PHASES_MAX)
            continue;
        if (at == w->n_all)
            w->all[w->n_all++] = (LithoPhase){.name = phase[k].name};
        w->all[at].ms += phase[k].ms;
        w->all[at].times += phase[k].times;
    }
}

static gboolean prepare(GSource *source, int *timeout)
{
    LithoWatchdog *w = ((Source *)source)->watchdog;
    *timeout = -1;
    if (w->left_us == 0)
        return FALSE;
    gint64 away = g_get_monotonic_time() - w->left_us;
    gint64 computed = own_time_us() - w->left_cpu_us;
    LithoPhase phase[LITHO_PHASES_MAX];
    const guint n = litho_phases_take(phase);
    w->left_us = 0;
    add_phases(w, phase, n);
    if (away > w->longest_us) {
        w->longest_us = away;
        w->n_phases = n;
        memcpy(w->phase, phase, n * sizeof *phase);
    }
    w->longest_cpu_us = MAX(w->longest_cpu_us, computed);
    w->cpu_us += computed;
    w->late += away > FRAME_US;
    return FALSE;
}

static gboolean check(GSource *source)
{
    LithoWatchdog *w = ((Source *)source)->watchdog;
    w->left_us = g_get_monotonic_time();
    w->left_cpu_us = own_time_us();
    litho_phases_take(NULL);
    return FALSE;
}

static gboolean dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
    (void)source;
    (void)callback;
    (void)data;
    return G_SOURCE_CONTINUE;
}

static GSourceFuncs functions = {.prepare = prepare, .check = check, .dispatch = dispatch};

LithoWatchdog *litho_watchdog_new(void)
{
    LithoWatchdog *w = g_new0(LithoWatchdog, 1);
    w->source = g_source_new(&functions, sizeof(Source));
    ((Source *)w->source)->watchdog = w;
    g_source_set_priority(w->source, G_MININT); // before everything, or check() may be skipped
    g_source_set_name(w->source, "litho-watchdog");
    g_source_attach(w->source, NULL);
    return w;
}

void litho_watchdog_free(LithoWatchdog *w)
{
    if (!w)
        return;
    g_source_destroy(w->source);
    g_source_unref(w->source);
    g_free(w);
}

void litho_watchdog_reset(LithoWatchdog *w)
{
    w->longest_us = w->longest_cpu_us = w->cpu_us = 0;
    w->late = w->n_phases = w->n_all = 0;
    w->left_us = 0; // the iteration that resets does not count
}

double litho_watchdog_longest_ms(const LithoWatchdog *w)
{
    return w->longest_us * 1e-3;
}

double litho_watchdog_longest_busy_ms(const LithoWatchdog *w)
{
    return w->longest_cpu_us * 1e-3;
}

double litho_watchdog_busy_ms(const LithoWatchdog *w)
{
    return w->cpu_us * 1e-3;
}

guint litho_watchdog_late(const LithoWatchdog *w)
{
    return w->late;
}

guint litho_watchdog_longest_phases(const LithoWatchdog *w, LithoPhase phases[LITHO_PHASES_MAX])
{
    memcpy(phases, w->phase, w->n_phases * sizeof *phases);
    return w->n_phases;
}

guint litho_watchdog_all_phases(const LithoWatchdog *w, LithoPhase phases[LITHO_PHASES_MAX])
{
    memcpy(phases, w->all, w->n_all * sizeof *phases);
    return w->n_all;
}

// --- frames -------------------------------------------------------------------------------------

static void on_before_paint(GdkFrameClock *clock, gpointer data)
{
    (void)clock;
    (void)data;
    litho_phase_begin("frame begins, layout");
}

static void on_layout(GdkFrameClock *clock, gpointer data)
{
    (void)clock;
    (void)data;
    litho_phase_end(NULL);
    litho_phase_begin("GTK draws, screen");
}

static void on_after_paint(GdkFrameClock *clock, gpointer data)
{
    (void)clock;
    (void)data;
    litho_phase_end(NULL);
}

void litho_watchdog_follow(GdkFrameClock *clock)
{
    g_signal_connect(clock, "before-paint", G_CALLBACK(on_before_paint), NULL);
    g_signal_connect(clock, "layout", G_CALLBACK(on_layout), NULL);
    g_signal_connect_after(clock, "after-paint", G_CALLBACK(on_after_paint), NULL);
}
