// SPDX-License-Identifier: GPL-3.0-or-later
//
// The wave-packet operator on a GPU against the CPU. Skips where there is none.
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "core/engine/engine.h"
#include "core/error.h"
#include "kernels/wavepacket/wavepacket.h"
#include "tests/wavepacket-data.h"
#include "tests/common.h"

static LithoDevice gpu;

typedef struct Side {
    LithoFlow *flow;
    LithoEngine *engine;
    LithoWavepacketParams *p;
    LithoRun run;
} Side;

static Side side_on(LithoDevice device)
{
    Side s = {.flow = litho_flow_new(), .engine = litho_engine_new(device)};
    litho_flow_append(s.flow, &litho_operator_wavepacket);
    s.p = litho_flow_step(s.flow, 0)->params;
    s.run.report = litho_report_new();
    s.run.writes = TRUE;
    return s;
}

static void clear(Side *s)
{
    litho_flow_free(s->flow);
    litho_engine_free(s->engine);
    litho_report_unref(s->run.report);
}

static LithoCube *apply(Side *s, const LithoCube *in)
{
    g_autoptr(GError) error = NULL;
    LithoCube *out = litho_engine_run(s->engine, s->flow, in, NULL, &s->run, &error);
    g_assert_no_error(error);
    g_assert_nonnull(litho_cube_host(out, &error));
    g_assert_no_error(error);
    return out;
}

static LithoCube *test_cube(gint64 n1, gint64 n2, gint64 n3, gboolean noise)
{
    LithoGrid grid = litho_grid_new(n1, n2, n3);
    LithoCube *cube = litho_cube_new(&grid, NULL);
    wp_test_events(cube->samples, (const gint64[3]){n1, n2, n3});
    GRand *rand = g_rand_new_with_seed(31);
    for (gint64 i = 0; noise && i < n1 * n2 * n3; i++)
        cube->samples[i] += (float)(0.5 * wp_test_gauss(rand));
    g_rand_free(rand);
    return cube;
}

static double report(const Side *s, const char *key)
{
    double value = NAN;
    g_assert_true(litho_report_get(s->run.report, key, &value));
    return value;
}

// Property: transform and adjoint on the GPU are those of the CPU, to single precision (4e-6 of the
// norm: the places between taps are kept to 4e-6 of a cell), in both forms of the
// adjoint, for odd and rectangular sizes and lines, both kernels, all designs. The tile form twice
// gives the same bits; the papers' gather finds its places anew and reads the kernel from a table,
// so it is held to the 4e-6.
static void test_transform(void)
{
    const struct {
        gint64 n[3];
        int design, kernel, width;
        double oversampling;
    } cases[] = {
        {{64, 64, 64}, 1, 0, 5, 1.5}, {{33, 47, 20}, 1, 0, 5, 1.5}, {{16, 17, 18}, 0, 0, 4, 2},
        {{24, 40, 31}, 1, 1, 11, 2},  {{40, 24, 28}, 1, 0, 8, 2},   {{20, 24, 20}, 2, 0, 7, 1.5},
        {{96, 18, 50}, 1, 0, 12, 2},  {{1, 120, 90}, 1, 0, 5, 1.5}, {{101, 1, 60}, 1, 0, 5, 1.5},
        {{1, 40, 37}, 2, 0, 7, 1.5},  {{3, 50, 40}, 1, 0, 5, 1.5}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autoptr(LithoCube) in = test_cube(cases[k].n[0], cases[k].n[1], cases[k].n[2], TRUE);
        const gint64 n = litho_grid_samples(&in->grid);
        Side cpu = side_on(litho_device_cpu());
        g_autoptr(LithoCube) expected = NULL;
        g_autoptr(LithoCube) tiles = NULL;
        for (int form = -1; form < 2; form++) {
            Side device = side_on(gpu);
            Side *s = form < 0 ? &cpu : &device;
            s->p->mode = WP_RECONSTRUCT;
            s->p->design = cases[k].design;
            s->p->kernel = cases[k].kernel;
            s->p->kernel_width = cases[k].width;
            s->p->oversampling = cases[k].oversampling;
            s->p->adjoint = MAX(form, 0);
            LithoCube *out = apply(s, in);
            if (form < 0) {
                expected = out;
            } else {
                double error = wp_test_error(out->samples, expected->samples, n);
                g_test_message("case %u, form %d: GPU - CPU %.1e, transform error %.1e", k, form,
                               error, report(s, "error"));
                g_assert_cmpfloat(error, <, 4e-6);
                if (form == WP_TILES) {
                    Side again = side_on(gpu);
                    memcpy(again.p, s->p, sizeof *s->p);
                    g_autoptr(LithoCube) same = apply(&again, in);
                    g_assert_cmpmem(same->samples, n * sizeof(float), out->samples,
                                    n * sizeof(float));
                    clear(&again);
                    tiles = out;
                } else {
                    error = wp_test_error(out->samples, tiles->samples, n);
                    g_test_message("case %u, form %d: against tiles %.1e", k, form, error);
                    g_assert_cmpfloat(error, <, 4e-6);
                    litho_cube_unref(out);
                }
            }
            clear(&device);
        }
        clear(&cpu);
    }
}

// Part of the samples that differ by more than 1e-4 of the rms of `b`.
static double share_apart(const float *a, const float *b, gint64 n)
{
    double energy = 0;
    gint64 apart = 0;
    for (gint64 k = 0; k < n; k++)
        energy += (double)b[k] * b[k];
    const double least = 1e-4 * sqrt(energy / (double)n);
    for (gint64 k = 0; k < n; k++)
        apart += fabs((double)a[k] - b[k]) > least;
    return (double)apart / (double)n;
}

// Property: every mode gives the CPU's result; numbers agree. Lines, too. A coefficient at the
// threshold may fall on either side of it, the rest is equal to 1e-6: compressed, the CPU's own
// result moves by up to 9e-3 in 2 to 8 % of the samples when the last bits of its input change.
static void check_modes(gint64 n1, gint64 n2, gint64 n3)
{
    const gboolean is_line = n1 == 1 || n2 == 1;
    const double bound[] = {
        [WP_DENOISE] = 2e-3,
        [WP_COMPRESS] = is_line ? 2e-2 : 2e-3,
        [WP_INTERPOLATE] = 2e-3,
        [WP_RECONSTRUCT] = 5e-6,
    };
    g_autoptr(LithoCube) in = test_cube(n1, n2, n3, TRUE);
    const gint64 n = litho_grid_samples(&in->grid);
    for (gint64 t = 0; t < n1 * n2; t += 3)
        in->live[t] = 0;
    for (int mode = 0; mode < 4; mode++)
        for (int block = 0; block <= 32; block += 32) {
            Side s[2] = {side_on(litho_device_cpu()), side_on(gpu)};
            LithoCube *out[2];
            for (int i = 0; i < 2; i++) {
                s[i].p->mode = mode;
                s[i].p->block = block;
                s[i].p->iterations = 5;
                s[i].p->refit = 3;
                s[i].p->corrections = mode == WP_RECONSTRUCT;
                s[i].p->kernel_width = mode == WP_RECONSTRUCT ? 7 : 5;
                s[i].p->trust = 0.8;
                out[i] = apply(&s[i], in);
            }
            double error = wp_test_error(out[1]->samples, out[0]->samples, n);
            const double apart = share_apart(out[1]->samples, out[0]->samples, n);
            g_test_message("%d x %d, mode %d, block %d: GPU - CPU %.1e, %.4f apart", (int)n1,
                           (int)n2, mode, block, error, apart);
            g_assert_cmpfloat(error, <, bound[mode]);
            g_assert_cmpfloat(apart, <, mode == WP_INTERPOLATE ? 1 : 0.2);
            if (mode == WP_COMPRESS || mode == WP_RECONSTRUCT)
                g_assert_cmpfloat(fabs(report(&s[0], "snr") - report(&s[1], "snr")), <, 0.2);
            if (mode == WP_DENOISE)
                g_assert_cmpfloat(fabs(report(&s[0], "sigma") / report(&s[1], "sigma") - 1), <,
                                  1e-3);
            for (int i = 0; i < 2; i++) {
                litho_cube_unref(out[i]);
                clear(&s[i]);
            }
        }
}

static void test_modes(void)
{
    check_modes(48, 40, 64);
    check_modes(1, 200, 150);
    check_modes(150, 1, 120);
}

// Property: a NaN in a live trace is refused, zeros stay zeros, cancel is no failure and leaves the
// engine fit for the next run.
static void test_edges(void)
{
    Side s = side_on(gpu);
    LithoGrid grid = litho_grid_new(20, 21, 22);
    g_autoptr(LithoCube) zero = litho_cube_new(&grid, NULL);
    g_autoptr(LithoCube) out = apply(&s, zero);
    g_assert_true(wp_test_energy(out->samples, litho_grid_samples(&grid)) == 0);
    g_autoptr(LithoCube) bad = litho_cube_new(&grid, NULL);
    bad->samples[5] = INFINITY;
    g_autoptr(GError) error = NULL;
    g_assert_null(litho_engine_run(s.engine, s.flow, bad, NULL, &s.run, &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_NUMERICS);
    g_clear_error(&error);
    g_autoptr(GCancellable) cancel = g_cancellable_new();
    g_cancellable_cancel(cancel);
    s.run.cancel = cancel;
    g_autoptr(LithoCube) in = test_cube(20, 21, 22, TRUE);
    g_assert_null(litho_engine_run(s.engine, s.flow, in, NULL, &s.run, &error));
    g_assert_true(litho_error_is_cancelled(error));
    s.run.cancel = NULL;
    s.p->mode = WP_RECONSTRUCT;
    g_autoptr(LithoCube) good = apply(&s, in);
    g_assert_cmpfloat(report(&s, "error"), <, 2.5e-3); // so small a volume is mostly edge
    clear(&s);
}

static gboolean curves_are_finite(const Side *s)
{
    gboolean finite = TRUE;
    g_autoptr(GArray) curves = litho_report_curves(s->run.report);
    for (guint c = 0; c < curves->len; c++) {
        const LithoCurve *curve = &g_array_index(curves, LithoCurve, c);
        for (guint k = 0; k < curve->n; k++)
            finite &= isfinite(curve->y[k]);
    }
    return finite;
}

// Property: at the smallest and the largest samples that a reconstruction takes, and in between,
// the GPU reports the CPU's numbers: squares that are no floats count and sum up all the same. At
// the largest that compressing takes the plain Fourier transform's SNR is the CPU's, too.
static void test_amplitudes(void)
{
    const float scale[] = {1, 0x1p-84f, 0x1p75f, 0x1p46f};
    for (guint k = 0; k < G_N_ELEMENTS(scale); k++) {
        g_autoptr(LithoCube) in = test_cube(24, 28, 32, TRUE);
        for (gint64 i = 0; i < litho_grid_samples(&in->grid); i++)
            in->samples[i] *= scale[k];
        Side s[2] = {side_on(litho_device_cpu()), side_on(gpu)};
        for (int i = 0; i < 2; i++) {
            s[i].p->mode = k == 3 ? WP_COMPRESS : WP_RECONSTRUCT;
            litho_cube_unref(apply(&s[i], in));
            g_test_message("amplitude %g, %s: kept %.0f, error %.2e", scale[k], i ? "GPU" : "CPU",
                           report(&s[i], "kept"), report(&s[i], "error"));
            g_assert_true(curves_are_finite(&s[i]));
        }
        g_assert_cmpfloat(fabs(report(&s[1], "kept") / report(&s[0], "kept") - 1), <, 1e-3);
        g_assert_cmpfloat(fabs(report(&s[1], "snr") - report(&s[0], "snr")), <, 0.1);
        if (k == 3)
            g_assert_cmpfloat(fabs(report(&s[1], "snr_fourier") - report(&s[0], "snr_fourier")), <,
                              1e-3);
        else
            g_assert_cmpfloat(report(&s[1], "error"), <, 2e-3);
        clear(&s[0]);
        clear(&s[1]);
    }
}

// Property: shared out to several GPUs, by boxes (one block) or by segments, every mode gives what
// one GPU gives. Sums come in another order: 1e-5 of the norm, and for interpolation and refitting,
// where thresholds are crossed, 2e-3. Where there are fewer GPUs the shares go to those there are,
// which tests all but the links. A share left out, taken twice, or summed before it was ready shows
// at once.
static void test_several(void)
{
    g_autoptr(LithoCube) in = test_cube(48, 40, 64, TRUE);
    const gint64 n = litho_grid_samples(&in->grid);
    for (gint64 t = 0; t < 48 * 40; t += 3)
        in->live[t] = 0;
    g_autofree char *file = NULL;
    const int handle = g_file_open_tmp("lithoscope-XXXXXX", &file, NULL);
    g_assert_cmpint(handle, >=, 0);
    g_close(handle, NULL);
    g_remove(file);                      // an output replaces no file that another one made
    for (int mode = 0; mode < 5; mode++) // the last: compress to a file, and back
        for (int block = 0; block <= 32; block += 32) {
            LithoCube *out[2];
            double kept[2];
            for (int i = 0; i < 2; i++) {
                Side s = side_on(gpu);
                g_setenv("LITHO_WAVEPACKET_DEVICES", i ? "3" : "1", TRUE);
                litho_engine_share(s.engine, 3);
                s.p->mode = mode == 4 ? WP_COMPRESS : mode;
                s.p->block = block;
                s.p->iterations = 4;
                s.p->refit = 2;
                s.p->corrections = mode == WP_RECONSTRUCT;
                if (mode == 4) {
                    g_strlcpy(s.p->coefficients.text, file, sizeof s.p->coefficients.text);
                    litho_cube_unref(apply(&s, in));
                    s.p->mode = WP_RECONSTRUCT;
                }
                out[i] = apply(&s, in);
                kept[i] = report(&s, "kept");
                clear(&s);
            }
            double error = wp_test_error(out[1]->samples, out[0]->samples, n);
            g_test_message("mode %d, block %d: three shares - one %.1e; kept %.0f / %.0f", mode,
                           block, error, kept[1], kept[0]);
            g_assert_cmpfloat(error, <, mode == WP_DENOISE || mode == WP_RECONSTRUCT ? 1e-5 : 2e-3);
            g_assert_cmpfloat(fabs(kept[1] / kept[0] - 1), <, 1e-3);
            litho_cube_unref(out[0]);
            litho_cube_unref(out[1]);
        }
    g_unsetenv("LITHO_WAVEPACKET_DEVICES");
    g_unlink(file);
}

// Property: a volume in one piece that several GPUs share (the FFT of the fine grid with it) comes
// out as from one, for odd and thin sizes, more GPUs than there are, all designs and adjoints. Only
// the order of sums differs: 2e-6, and twice that with 12 taps. A row that nobody sends, or that is
// sent before it is there, shows.
static void test_shares(void)
{
    const struct {
        gint64 n[3];
        int design, width, adjoint, shares;
    } cases[] = {{{64, 64, 64}, 1, 5, 0, 2}, {{33, 47, 20}, 1, 5, 0, 4},
                 {{20, 24, 20}, 2, 7, 0, 5}, {{96, 18, 50}, 1, 12, 0, 16},
                 {{16, 17, 18}, 0, 4, 0, 7}, {{40, 33, 37}, 1, 5, 1, 3}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        const gint64 *size = cases[k].n;
        g_autoptr(LithoCube) in = test_cube(size[0], size[1], size[2], TRUE);
        LithoCube *out[2];
        for (int i = 0; i < 2; i++) {
            Side s = side_on(gpu);
            g_autofree char *shares = g_strdup_printf("%d", i ? cases[k].shares : 1);
            g_setenv("LITHO_WAVEPACKET_DEVICES", shares, TRUE);
            litho_engine_share(s.engine, 16);
            s.p->mode = WP_RECONSTRUCT;
            s.p->corrections = 1; // the transform of what an adjoint gave, and so on
            s.p->design = cases[k].design;
            s.p->kernel_width = cases[k].width;
            s.p->adjoint = cases[k].adjoint;
            out[i] = apply(&s, in);
            clear(&s);
        }
        double error =
            wp_test_error(out[1]->samples, out[0]->samples, litho_grid_samples(&in->grid));
        g_test_message("case %u: %d shares - one %.1e", k, cases[k].shares, error);
        g_assert_cmpfloat(error, <, cases[k].width < 12 ? 2e-6 : 4e-6);
        litho_cube_unref(out[0]);
        litho_cube_unref(out[1]);
    }
    g_unsetenv("LITHO_WAVEPACKET_DEVICES");
}

// Property: GPUs that share the local windows of the residual box keep what one keeps, at sizes
// where shares end within the box, with the last one, or have no row at all; and a second time the
// same bytes: rows that are read before they have come back would show.
static void test_windows(void)
{
    const int sizes[] = {160, 75, 24}, shares[] = {5, 2, 4};
    for (guint k = 0; k < G_N_ELEMENTS(sizes); k++) {
        g_autoptr(LithoCube) in = test_cube(sizes[k], 24, 40, TRUE);
        LithoCube *out[3];
        double kept[3];
        for (int i = 0; i < 3; i++) {
            Side s = side_on(gpu);
            g_autofree char *devices = g_strdup_printf("%d", i ? shares[k] : 1);
            g_setenv("LITHO_WAVEPACKET_DEVICES", devices, TRUE);
            litho_engine_share(s.engine, 16);
            s.p->mode = WP_DENOISE;
            s.p->sigma = 0.2;
            s.p->rule = k % 2;
            out[i] = apply(&s, in);
            kept[i] = report(&s, "kept");
            clear(&s);
        }
        const double error =
            wp_test_error(out[1]->samples, out[0]->samples, litho_grid_samples(&in->grid));
        g_test_message("%d inlines, %d shares - one %.1e; kept %.0f / %.0f", sizes[k], shares[k],
                       error, kept[1], kept[0]);
        g_assert_cmpfloat(error, <, 2e-6);
        g_assert_cmpfloat(fabs(kept[1] / kept[0] - 1), <, 1e-5);
        const gsize bytes = litho_grid_samples(&in->grid) * sizeof *out[1]->samples;
        g_assert_cmpmem(out[2]->samples, bytes, out[1]->samples, bytes);
        g_assert_cmpfloat(kept[2], ==, kept[1]);
        for (int i = 0; i < 3; i++)
            litho_cube_unref(out[i]);
    }
    g_unsetenv("LITHO_WAVEPACKET_DEVICES");
}

// Property: the adjoint is the inverse to 1.2e-3 at the sizes that matter too (the CPU's tests stop
// at 64), and a volume thinner than 16 samples goes through as on the CPU.
static void test_large(void)
{
    const gint64 sizes[][3] = {{128, 128, 128}, {256, 256, 256}, {10, 60, 50}};
    for (guint k = 0; k < G_N_ELEMENTS(sizes); k++) {
        g_autoptr(LithoCube) in = test_cube(sizes[k][0], sizes[k][1], sizes[k][2], TRUE);
        Side s = side_on(gpu);
        s.p->mode = WP_RECONSTRUCT;
        litho_cube_unref(apply(&s, in));
        g_test_message("%d x %d x %d: error %.1e", (int)sizes[k][0], (int)sizes[k][1],
                       (int)sizes[k][2], report(&s, "error"));
        g_assert_cmpfloat(report(&s, "error"), <=, 1.2e-3);
        clear(&s);
    }
}

// Property: memory() tells at least what a run takes and not twice as much; with less than that on
// the card the volume is cut into segments of its own accord and the result stays right; with next
// to nothing the refusal says what is needed and what is there.
static void test_memory(void)
{
    g_autoptr(LithoCube) in = test_cube(160, 128, 128, TRUE);
    g_autoptr(GError) error = NULL;
    const LithoImpl *impl = litho_device_impl(gpu, &litho_operator_wavepacket, &error);
    g_assert_no_error(error);
    guint64 before = 0, after = 0, total = 0;
    Side s = side_on(gpu);
    s.p->mode = WP_RECONSTRUCT;
    const guint64 told = impl->memory(&in->grid, s.p, NULL, litho_box_full(&in->grid), 2);
    g_assert_true(litho_device_memory(gpu, &before, &total, &error));
    litho_cube_unref(apply(&s, in));
    g_assert_true(litho_device_memory(gpu, &after, &total, &error));
    const double taken = (double)before - (double)after;
    g_test_message("told %.2f GiB, held after the run %.2f GiB", told / 0x1p30, taken / 0x1p30);
    g_assert_cmpfloat(taken, <=, (double)told);
    g_assert_cmpfloat(taken, >=, 0.5 * (double)told);
    clear(&s);

    // The cap is read once per process.
    const double shares[] = {0.75, 0.01};
    for (int k = 0; k < 2; k++) {
        g_autofree char *cap = g_strdup_printf("%.0f", shares[k] * (double)told);
        g_setenv("LITHO_CUDA_MEMORY", cap, TRUE);
        g_test_trap_subprocess(k ? "/wavepacket-cuda/refused" : "/wavepacket-cuda/segments", 0,
                               G_TEST_SUBPROCESS_INHERIT_STDOUT | G_TEST_SUBPROCESS_INHERIT_STDERR);
        g_test_trap_assert_passed();
    }
    g_unsetenv("LITHO_CUDA_MEMORY");
}

// In a process of its own, with three quarters of the memory, or a hundredth.
static void with_little(gconstpointer refused)
{
    if (!g_test_subprocess()) {
        g_test_skip("only as a part of /wavepacket-cuda/memory");
        return;
    }
    g_autoptr(LithoCube) in = test_cube(160, 128, 128, TRUE);
    g_autoptr(GError) error = NULL;
    Side s = side_on(gpu);
    s.p->mode = WP_RECONSTRUCT;
    LithoCube *out = litho_engine_run(s.engine, s.flow, in, NULL, &s.run, &error);
    if (refused) {
        g_assert_null(out);
        g_assert_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY);
        g_test_message("%s", error->message);
    } else {
        g_assert_no_error(error);
        g_test_message("%g segments, error %.1e", report(&s, "blocks"), report(&s, "error"));
        g_assert_cmpfloat(report(&s, "blocks"), >, 1);
        g_assert_cmpfloat(report(&s, "error"), <=, 1.5e-3);
        litho_cube_unref(out);
    }
    clear(&s);
}

// Neighbouring traces are averaged: noise keeps to some wavenumbers then.
static void mix_traces(LithoCube *c)
{
    const gint64 n1 = c->grid.axis[1].n, n2 = c->grid.axis[2].n, all = c->grid.axis[0].n * n1 * n2;
    for (int axis = 0; axis < 2; axis++)
        for (gint64 k = 0, step = axis ? n2 : n1 * n2; k + step < all; k++)
            c->samples[k] = 0.5f * (c->samples[k] + c->samples[k + step]);
}

// Property: the level of the noise that the GPU measures is the CPU's to 2e-5, with and without
// missing traces, in noise that is alike everywhere, in noise that is not and in noise that keeps
// to some wavenumbers, and its bits are those of another run. A window, a wavenumber or a class
// that is counted wrongly shows in the third digit.
static void test_level(void)
{
    const gint64 sizes[][3] = {{64, 48, 128}, {37, 90, 150}, {16, 16, 64}, {20, 12, 80}};
    for (guint k = 0; k < 4 * G_N_ELEMENTS(sizes); k++) {
        const gint64 *n = sizes[k / 4];
        g_autoptr(LithoCube) in = test_cube(n[0], n[1], n[2], TRUE);
        if (k % 4 == 3)
            mix_traces(in);
        for (gint64 t = 0; k % 4 == 1 && t < n[0] * n[1]; t += 5)
            in->live[t] = 0;
        for (gint64 i = 0; k % 4 == 2 && i < n[0] * n[1] * n[2] / 2; i++)
            in->samples[i] *= 4;
        double sigma[3];
        for (int i = 0; i < 3; i++) {
            Side s = side_on(i ? gpu : litho_device_cpu());
            litho_cube_unref(apply(&s, in));
            sigma[i] = report(&s, "sigma");
            clear(&s);
        }
        g_test_message("%d x %d x %d, case %u: %.7g, on the GPU %.1e more", (int)n[0], (int)n[1],
                       (int)n[2], k % 4, sigma[0], sigma[1] / sigma[0] - 1);
        g_assert_cmpfloat(fabs(sigma[1] / sigma[0] - 1), <, 2e-5);
        g_assert_true(sigma[1] == sigma[2]);
    }
}

// Property: where the noise varies from place to place, also at low frequencies alone, the GPU
// follows it as the CPU does, in one piece and in segments, and its bits are those of another run.
static void test_varies(void)
{
    const gint64 sizes[][3] = {{64, 48, 192}, {1, 300, 400}, {64, 48, 192}};
    for (guint k = 0; k < 2 * G_N_ELEMENTS(sizes); k++) {
        const gboolean low = k / 2 == 2;
        const gint64 *size = sizes[k / 2], n = size[0] * size[1] * size[2];
        g_autoptr(LithoCube) in = test_cube(size[0], size[1], size[2], TRUE);
        g_autofree float *noise = g_new(float, n);
        wp_test_noise(noise, n, 5);
        for (gint64 i = 0; i < n; i++)
            if (!low)
                in->samples[i] += noise[i] * expf(3 * (float)(i % size[2]) / (float)size[2]);
        float before = 0;
        for (gint64 i = 0; low && i < n; i++) { // falls with frequency, in half of the inlines
            before += 0.2f * (noise[i] - before);
            in->samples[i] += i > n / 2 ? 8 * before : 0;
        }
        LithoCube *out[3];
        double sigma[3];
        for (int i = 0; i < 3; i++) {
            Side s = side_on(i ? gpu : litho_device_cpu());
            s.p->block = k % 2 ? 48 : 0;
            out[i] = apply(&s, in);
            sigma[i] = report(&s, "sigma");
            g_autoptr(GPtrArray) remarks = litho_report_remarks(s.run.report);
            gboolean told = FALSE;
            for (guint r = 0; r < remarks->len; r++)
                told |= strstr(g_ptr_array_index(remarks, r), "varies from place") != NULL;
            g_assert_true(told);
            clear(&s);
        }
        const double error = wp_test_error(out[1]->samples, out[0]->samples, n);
        g_test_message("%d x %d x %d, block %d: GPU - CPU %.1e, level %.1e", (int)size[0],
                       (int)size[1], (int)size[2], k % 2 ? 48 : 0, error, sigma[1] / sigma[0] - 1);
        g_assert_cmpfloat(error, <, 2e-3);
        g_assert_cmpfloat(fabs(sigma[1] / sigma[0] - 1), <, 2e-5);
        g_assert_cmpmem(out[1]->samples, n * sizeof(float), out[2]->samples, n * sizeof(float));
        for (int i = 0; i < 3; i++)
            litho_cube_unref(out[i]);
    }
}

typedef struct Stopper {
    GCancellable *cancel;
    gint64 at_us;
} Stopper;

// Property: a slider that moves the directions, there and back, gives the bits of engines that know
// one setting each. The level that the first plan measured, and plans of cuFFT that a thread makes
// ahead or an earlier plan gave back, must not show; one that is used twice at a time would.
static void test_slider(void)
{
    const int directions[] = {3, 4, 5, 6, 4, 3, 7, 5};
    g_autoptr(LithoCube) in = test_cube(40, 36, 48, TRUE);
    Side slider = side_on(gpu);
    for (guint k = 0; k < G_N_ELEMENTS(directions); k++) {
        Side fresh = side_on(gpu);
        slider.p->directions = fresh.p->directions = directions[k];
        slider.p->erratic = fresh.p->erratic = k % 4 == 3 ? 0 : 4;
        g_autoptr(LithoCube) twin = litho_cube_copy_box(in, in->held, NULL);
        g_autoptr(LithoCube) a = apply(&slider, in);
        g_autoptr(LithoCube) b = apply(&fresh, twin);
        g_assert_cmpmem(a->samples, litho_cube_held_samples(a) * sizeof(float), b->samples,
                        litho_cube_held_samples(b) * sizeof(float));
        clear(&fresh);
    }
    clear(&slider);
}

static gpointer stop_later(gpointer data)
{
    Stopper *s = data;
    g_usleep(150000);
    s->at_us = g_get_monotonic_time();
    g_cancellable_cancel(s->cancel);
    return NULL;
}

// Property: a long job (traces filled over hundreds of iterations, by one GPU or by three shares,
// and the papers' slow adjoint) ends within 100 ms of being cancelled, with an error that says so.
// Work queued without a look at the cancel runs on for seconds.
static void test_cancel(void)
{
    static const char *const names[] = {"1000 iterations", "1000 iterations in shares",
                                        "papers' gather"};
    g_autoptr(LithoCube) in = test_cube(128, 128, 128, TRUE);
    for (int form = 0; form < 3; form++) {
        Side s = side_on(gpu);
        g_setenv("LITHO_WAVEPACKET_DEVICES", form == 1 ? "3" : "1", TRUE);
        litho_engine_share(s.engine, 3);
        s.p->mode = form == 2 ? WP_RECONSTRUCT : WP_INTERPOLATE;
        s.p->iterations = 1000;
        s.p->adjoint = form == 2 ? WP_GATHER : WP_TILES;
        s.p->corrections = form == 2 ? 10 : 0;
        // The plan is made, memory taken and libraries loaded before the clock runs.
        const int iterations = s.p->iterations, corrections = s.p->corrections;
        s.p->iterations = 1;
        s.p->corrections = 0;
        litho_cube_unref(apply(&s, in));
        s.p->iterations = iterations;
        s.p->corrections = corrections;
        g_autoptr(GCancellable) cancel = g_cancellable_new();
        Stopper stopper = {.cancel = cancel};
        s.run.cancel = cancel;
        g_autoptr(GError) error = NULL;
        GThread *thread = g_thread_new("stop", stop_later, &stopper);
        LithoCube *out = litho_engine_run(s.engine, s.flow, in, NULL, &s.run, &error);
        const gint64 ended = g_get_monotonic_time();
        g_thread_join(thread);
        g_test_message("%s: ended %.1f ms after the cancel", names[form],
                       (ended - stopper.at_us) / 1e3);
        g_assert_null(out);
        g_assert_true(litho_error_is_cancelled(error));
        g_assert_cmpint(ended - stopper.at_us, <, 100000);
        clear(&s);
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
    g_test_add_func("/wavepacket-cuda/transform", test_transform);
    g_test_add_func("/wavepacket-cuda/modes", test_modes);
    g_test_add_func("/wavepacket-cuda/level", test_level);
    g_test_add_func("/wavepacket-cuda/varies", test_varies);
    g_test_add_func("/wavepacket-cuda/edges", test_edges);
    g_test_add_func("/wavepacket-cuda/amplitudes", test_amplitudes);
    g_test_add_func("/wavepacket-cuda/several", test_several);
    g_test_add_func("/wavepacket-cuda/shares", test_shares);
    g_test_add_func("/wavepacket-cuda/windows", test_windows);
    g_test_add_func("/wavepacket-cuda/slider", test_slider);
    g_test_add_func("/wavepacket-cuda/cancel", test_cancel);
    g_test_add_func("/wavepacket-cuda/large", test_large);
    g_test_add_func("/wavepacket-cuda/memory", test_memory);
    g_test_add_data_func("/wavepacket-cuda/segments", NULL, with_little);
    g_test_add_data_func("/wavepacket-cuda/refused", "refused", with_little);
    return test_run();
}
