// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <string.h>

#include "tests/wavepacket-bench.h"

// Slices of a denoised volume against the whole, on any device.

// The middle slice across each axis, or others.
static inline void make_views(const LithoGrid *grid, double part, LithoBox views[3])
{
    for (int a = 0; a < 3; a++)
        views[a] = litho_box_slice(grid, a, (gint64)(part * (double)(grid->axis[a].n - 1)));
}

static inline LithoCube *apply_to(Bench *b, const LithoCube *in, const LithoBox *views, guint which)
{
    g_autoptr(GError) error = NULL;
    b->run.views = views;
    b->run.n_views = 3;
    LithoCube *out = litho_engine_run(b->engine, b->flow, in, &views[which], &b->run, &error);
    g_assert_no_error(error);
    g_assert_true(litho_box_equal(out->held, views[which]));
    g_assert_nonnull(litho_cube_host(out, &error));
    litho_timings_end_pass(b->timings);
    return out;
}

// Relative to the slice of the whole.
static inline double error_of(const LithoCube *view, const LithoCube *whole)
{
    g_autoptr(LithoCube) same = litho_cube_copy_box(whole, view->held, NULL);
    const gint64 traces = litho_box_size(view->held, 0) * litho_box_size(view->held, 1);
    g_assert_cmpmem(view->live, traces, same->live, traces);
    return wp_test_error(view->samples, same->samples, litho_box_count(view->held));
}

// Three slices, then the whole, against the whole of an engine of its own.
static inline double worst_slice(const LithoCube *in, const char *settings, double part, Bench *b)
{
    g_autoptr(GError) error = NULL;
    Bench alone = bench_on(litho_engine_device(b->engine));
    double worst = 0;
    LithoBox views[3];
    if (!litho_operator_settings(&litho_operator_wavepacket, b->p, settings, &error))
        g_error("%s", error->message);
    memcpy(alone.p, b->p, sizeof *b->p);
    g_autoptr(LithoCube) whole = apply(&alone, in);
    make_views(&in->grid, part, views);
    for (guint k = 0; k < 3; k++) {
        g_autoptr(LithoCube) view = apply_to(b, in, views, k);
        const double apart = error_of(view, whole);
        g_test_message("%s, axis %u: %.1e", settings, k, apart);
        worst = fmax(worst, apart);
        g_assert_cmpfloat(number(b, "sigma"), ==, number(&alone, "sigma"));
        g_assert_cmpfloat(number(b, "kept"), ==, number(&alone, "kept"));
    }
    g_autoptr(LithoCube) behind = apply(b, in);
    g_assert_cmpmem(behind->samples, sizeof(float) * litho_grid_samples(&in->grid), whole->samples,
                    sizeof(float) * litho_grid_samples(&in->grid));
    clear(&alone);
    return worst;
}

// Property: slices differ from the whole by rounding, for both rules, every design and kernel, even
// and odd sizes, at faces and in the middle. What is behind them has the bytes of a whole by
// itself. A slice beside the right one, a missing half, mirrored point or roll-off errs by 1e-2 and
// more. Where little of a slice is left, roundings of what was taken off weigh more.
static inline void check_settings(LithoDevice device)
{
    const struct {
        gint64 n[3];
        const char *settings;
        double part, most;
    } cases[] = {{{40, 36, 48}, "threshold=2.75", 0.5, 1e-6},
                 {{40, 36, 48}, "threshold=1.5 rule=soft", 0, 2e-6},
                 {{33, 27, 41}, "threshold=3", 1, 1e-6},
                 {{24, 40, 31}, "kernel=gaussian kernel_width=11 oversampling=2", 0.3, 1e-6},
                 {{20, 24, 20}, "design=full kernel_width=7", 0.7, 1e-6},
                 {{16, 17, 18}, "design=compact kernel_width=4 oversampling=2", 0.5, 1e-6},
                 {{18, 30, 22}, "kernel_width=12 oversampling=2", 0.9, 1e-6},
                 {{12, 30, 40}, "kernel_width=8 sigma=0.5", 0.2, 1e-6},
                 {{96, 80, 72}, "directions=5", 0.6, 1e-6},
                 {{40, 36, 48}, "threshold=0", 0.4, 1e-6}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        Bench b = bench_on(device);
        g_autoptr(LithoCube) in = events_cube(cases[k].n[0], cases[k].n[1], cases[k].n[2]);
        add_noise(in, 5 + k);
        g_assert_cmpfloat(worst_slice(in, cases[k].settings, cases[k].part, &b), <, cases[k].most);
        clear(&b);
    }
}

// Property: likewise in data with missing and muted traces, bursts, and noise that varies from
// place to place or keeps to some frequencies. Without its map a slice errs by 1e-1, with guesses
// left in dead traces by more.
static inline void check_data(LithoDevice device)
{
    for (int kind = 0; kind < 4; kind++) {
        Bench b = bench_on(device);
        g_autoptr(LithoCube) in = events_cube(48, 40, 96);
        const gint64 n3 = in->grid.axis[2].n;
        add_noise(in, 60 + kind);
        for (gint64 t = 0; kind < 2 && t < litho_grid_traces(&in->grid); t++)
            memset(in->samples + t * n3, 0, (10 + t % 20) * sizeof(float));
        for (gint64 t = 0; kind == 1 && t < 10; t++)
            for (int k = 30; k < 38; k++)
                in->samples[(t * 163 + 7) * n3 + k] += 40;
        for (gint64 i = 0; kind == 2 && i < litho_grid_samples(&in->grid); i++)
            in->samples[i] *= (float)exp(2.5 * (double)(i / n3 % 40) / 40);
        if (kind < 3)
            kill_traces(in, kind == 1 ? 20 : 5, 9);
        g_assert_cmpfloat(worst_slice(in, "threshold=2.75", 0.4, &b), <, 1e-6);
        clear(&b);
    }
}
