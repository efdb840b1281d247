// SPDX-License-Identifier: GPL-3.0-or-later
//
// Single slices of a denoised volume, which a window shows before the whole: they are the whole's
// but for rounding, whatever the settings and the data, and the whole goes on from them.
#include <math.h>
#include <string.h>

#include "tests/wavepacket-planes.h"

static void test_settings(void)
{
    check_settings(litho_device_cpu());
}

static void test_data(void)
{
    check_data(litho_device_cpu());
}

// Property: a trace that stands alone stays as it was recorded in slices, too: there they are the
// whole's, to the byte. So are they with corrections, of which a slice knows nothing.
static void test_as_a_whole(void)
{
    for (int kind = 0; kind < 2; kind++) {
        Bench b = bench();
        g_autoptr(LithoCube) in = events_cube(40, 36, 48);
        LithoBox views[3];
        add_noise(in, 70);
        for (gint64 t = 0; kind == 0 && t < litho_grid_traces(&in->grid); t++)
            if (t / 36 < 26 && (t / 36 != 10 || t % 36 != 14))
                in->live[t] = 0;
        make_views(&in->grid, 0.5, views);
        b.p->corrections = kind;
        g_assert_true(litho_engine_shows_slices(litho_device_cpu(), b.flow, &in->grid) == !kind);
        if (kind == 0)
            g_assert_cmpfloat(worst_slice(in, "threshold=2.75", 10.0 / 39, &b), ==, 0);
        else
            litho_cube_unref(apply(&b, in));
        clear(&b);
    }
}

// Property: three slices and the whole take one forward transform, one threshold and one pass over
// the points for the slices; a new threshold repeats the latter two. Another slice and the old
// threshold again are right, too, and so is what follows a cancel.
static void test_moves(void)
{
    Bench b = bench();
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) in = events_cube(40, 36, 48);
    LithoBox views[3];
    add_noise(in, 71);
    worst_slice(in, "threshold=2.75", 0.5, &b);
    g_assert_cmpfloat(count(&b, "gather"), ==, 1);
    g_assert_cmpfloat(count(&b, "slices"), ==, 1);
    g_assert_cmpfloat(count(&b, "box ffts"), ==, 1);
    g_assert_cmpfloat(count(&b, "spread"), ==, 1);
    g_assert_cmpfloat(worst_slice(in, "threshold=3.5", 0.5, &b), <, 1e-6);
    g_assert_cmpfloat(count(&b, "gather"), ==, 1);
    g_assert_cmpfloat(count(&b, "slices"), ==, 2);
    b.p->threshold = 2.5;
    make_views(&in->grid, 0.3, views);
    g_autoptr(LithoCube) first = apply_to(&b, in, views, 1);
    make_views(&in->grid, 0.6, views);
    GCancellable *cancel = g_cancellable_new();
    g_cancellable_cancel(cancel);
    b.p->threshold = 3;
    b.run.cancel = cancel;
    g_assert_null(litho_engine_run(b.engine, b.flow, in, &views[2], &b.run, &error));
    b.run.cancel = NULL;
    g_object_unref(cancel);
    b.p->threshold = 2.5;
    g_assert_cmpfloat(worst_slice(in, "threshold=2.5", 0.6, &b), <, 1e-6);
    g_assert_cmpfloat(worst_slice(in, "threshold=2.75", 0.1, &b), <, 1e-6);
    clear(&b);
}

// Property: a slice has the same bytes on any number of threads.
static void test_threads(void)
{
    g_autoptr(LithoCube) in = events_cube(40, 36, 48);
    g_autoptr(LithoCube) expected = NULL;
    LithoBox views[3];
    add_noise(in, 72);
    make_views(&in->grid, 0.4, views);
    for (int threads = 1; threads <= 5; threads += 2) {
        Bench b = bench();
        b.run.threads = threads;
        g_autoptr(LithoCube) view = apply_to(&b, in, views, 1);
        if (!expected)
            expected = litho_cube_ref(view);
        g_assert_cmpmem(view->samples, sizeof(float) * litho_box_count(view->held),
                        expected->samples, sizeof(float) * litho_box_count(view->held));
        clear(&b);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/wavepacket-planes/settings", test_settings);
    g_test_add_func("/wavepacket-planes/data", test_data);
    g_test_add_func("/wavepacket-planes/as-a-whole", test_as_a_whole);
    g_test_add_func("/wavepacket-planes/moves", test_moves);
    g_test_add_func("/wavepacket-planes/threads", test_threads);
    return g_test_run();
}
