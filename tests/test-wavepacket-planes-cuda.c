// SPDX-License-Identifier: GPL-3.0-or-later
//
// Single slices of a denoised volume on a GPU (test-wavepacket-planes.c). Skips where there is
// none.
#include "tests/wavepacket-balance.h"

static LithoDevice gpu;

static void test_settings(void)
{
    check_settings(gpu);
}

static void test_data(void)
{
    check_data(gpu);
}

// Property: three slices take one threshold and one reading of the tiles, and the whole goes on
// from there. The papers' adjoint has no tiles, and gives all or nothing.
static void test_stages(void)
{
    Bench b = bench_on(gpu);
    g_autoptr(LithoCube) in = events_cube(64, 60, 72);
    add_noise(in, 73);
    worst_slice(in, "threshold=3", 0.5, &b);
    worst_slice(in, "threshold=2.75", 0.4, &b);
    g_assert_cmpfloat(count(&b, "slices"), ==, 2);
    g_assert_cmpfloat(count(&b, "gather"), ==, 1);
    g_assert_cmpfloat(count(&b, "spread"), ==, 2);
    g_assert_cmpfloat(count(&b, "collect"), ==, 2);
    g_assert_true(litho_engine_shows_slices(gpu, b.flow, &in->grid));
    b.p->adjoint = WP_GATHER;
    g_assert_false(litho_engine_shows_slices(gpu, b.flow, &in->grid));
    clear(&b);
}

// Property: the same slice has the same bytes each time, and is the CPU's but for coefficients at
// their threshold.
static void test_same(void)
{
    g_autoptr(LithoCube) in = events_cube(64, 60, 72);
    LithoBox views[3];
    add_noise(in, 74);
    make_views(&in->grid, 0.7, views);
    for (guint k = 0; k < 3; k++) {
        Bench first = bench_on(gpu), second = bench_on(gpu), cpu = bench();
        g_autoptr(LithoCube) view = apply_to(&first, in, views, k);
        g_autoptr(LithoCube) same = apply_to(&second, in, views, k);
        g_autoptr(LithoCube) expected = apply_to(&cpu, in, views, k);
        const gint64 n = litho_box_count(view->held);
        const double apart = wp_test_error(view->samples, expected->samples, n);
        g_test_message("axis %u: GPU - CPU %.1e", k, apart);
        g_assert_cmpmem(view->samples, n * sizeof(float), same->samples, n * sizeof(float));
        g_assert_cmpfloat(apart, <, 2e-3);
        clear(&first);
        clear(&second);
        clear(&cpu);
    }
}

// Property: uneven traces on a GPU: slices and the whole; the whole is the CPU's but for
// coefficients at their threshold, in one piece and in segments; three shares give what one gives,
// but for the order of sums.
static void test_uneven(void)
{
    check_uneven(gpu);
    for (int k = 0; k < 6; k++) {
        g_autoptr(LithoCube) in = uneven_events((Traces)(SCATTERED + k % 3));
        const gint64 n = litho_grid_samples(&in->grid);
        LithoCube *out[3];
        for (int i = 0; i < 3; i++) {
            Bench b = bench_on(i == 0 ? litho_device_cpu() : gpu);
            g_setenv("LITHO_WAVEPACKET_DEVICES", i == 2 ? "3" : "1", TRUE);
            if (i > 0)
                litho_engine_share(b.engine, 3);
            b.p->block = k < 3 ? 0 : 32;
            out[i] = apply(&b, in);
            clear(&b);
        }
        const double apart = wp_test_error(out[1]->samples, out[0]->samples, n);
        const double shares = wp_test_error(out[2]->samples, out[1]->samples, n);
        g_test_message("%d: GPU - CPU %.1e, three shares - one %.1e", k, apart, shares);
        g_assert_cmpfloat(apart, <, 2e-3);
        g_assert_cmpfloat(shares, <, 1e-5);
        for (int i = 0; i < 3; i++)
            litho_cube_unref(out[i]);
    }
    g_unsetenv("LITHO_WAVEPACKET_DEVICES");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    const LithoBackend *cuda = litho_backend_cuda();
    if (cuda->n_devices == 0) {
        g_print("1..0 # SKIP %s\n", cuda->why_not);
        return 0;
    }
    gpu = (LithoDevice){.backend = cuda};
    g_test_add_func("/wavepacket-planes-cuda/settings", test_settings);
    g_test_add_func("/wavepacket-planes-cuda/data", test_data);
    g_test_add_func("/wavepacket-planes-cuda/stages", test_stages);
    g_test_add_func("/wavepacket-planes-cuda/same", test_same);
    g_test_add_func("/wavepacket-planes-cuda/uneven", test_uneven);
    return g_test_run();
}
