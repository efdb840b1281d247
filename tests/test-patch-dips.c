// SPDX-License-Identifier: GPL-3.0-or-later
//
// Dips and coherence of the local Fourier filter against events whose dips are known.
#include <string.h>

#include "core/engine/engine.h"
#include "core/synth/synth_parts.h"
#include "kernels/kernels.h"
#include "kernels/patch/patch.h"
#include "kernels/patch/structure.h"
#include "tests/patch_common.h"

// A threshold that keeps everything: the volumes are of the samples as they are.
static const char *const as_is = "sigma=1e-5 erratic=0";
static const double dt = 0.004;

static LithoCube *run_volume(const char *words, const char *volume, const LithoCube *in,
                             const LithoBox *region)
{
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_patch);
    *(LithoPatchParams *)litho_flow_step(flow, 0)->params = patch_settings(words);
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    g_autoptr(GError) error = NULL;
    g_assert_true(litho_flow_set_volume(flow, volume, &error));
    LithoCube *out = litho_engine_run(engine, flow, in, region, NULL, &error);
    g_assert_no_error(error);
    litho_engine_free(engine);
    return out;
}

// Parallel plane events of dips p and q in s/trace, 17 samples apart.
static LithoCube *plane_cube(const gint64 n[3], double p, double q, double hz)
{
    LithoGrid grid = litho_grid_new(n[0], n[1], n[2]);
    LithoCube *cube = litho_cube_new(&grid, NULL);
    for (gint64 i = 0; i < n[0]; i++)
        for (gint64 j = 0; j < n[1]; j++)
            for (int e = -20; e < n[2] / 17.0 + 20; e++)
                litho_add_ricker(litho_cube_trace(cube, i, j), n[2], dt,
                                 e * 17 * dt + p * i + q * j, hz, e % 3 ? 1 : -0.7);
    return cube;
}

// Largest error of the samples, in the cube's unit.
static double worst(const LithoCube *cube, double truth)
{
    double most = 0;
    for (gint64 k = 0; k < litho_cube_held_samples(cube); k++)
        most = fmax(most, fabs(cube->samples[k] - truth));
    return most;
}

// Likewise, of the samples where the events are strong.
static double worst_where_strong(const LithoCube *cube, const LithoCube *in, double truth)
{
    double most = 0;
    for (gint64 k = 0; k < litho_cube_held_samples(cube); k++)
        if (fabs(in->samples[k]) > 0.3)
            most = fmax(most, fabs(cube->samples[k] - truth));
    return most;
}

// Property: dips of plane events are told within 0.5 % and 0.01 ms/trace at every sample, whatever
// the frequency, at the events' faces and corners too (10 % and a twentieth of a sample a trace:
// planes are fitted to one side there), and their coherence is 1 within 0.05. A line has no dip
// across itself.
static void test_planes(void)
{
    const struct {
        gint64 n[3];
        double p, q, hz; // ms/trace
    } cases[] = {
        {{24, 22, 120}, 0, 0, 25},      {{24, 22, 120}, 1.3, -2.5, 25}, {{24, 22, 120}, 4, 3, 20},
        {{24, 22, 120}, -0.4, 0.1, 50}, {{24, 22, 120}, 2, 0, 12},      {{1, 40, 100}, 0, 2, 25},
        {{40, 1, 100}, -2, 0, 25},
    };
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        const gint64 *n = cases[k].n;
        g_autoptr(LithoCube) in = plane_cube(n, cases[k].p / 1000, cases[k].q / 1000, cases[k].hz);
        g_autoptr(LithoCube) il = run_volume(as_is, LITHO_PATCH_DIP_IL, in, NULL);
        g_autoptr(LithoCube) xl = run_volume(as_is, LITHO_PATCH_DIP_XL, in, NULL);
        g_autoptr(LithoCube) coherence = run_volume(as_is, LITHO_PATCH_COHERENT, in, NULL);
        const gint64 in_by[3] = {n[0] > 16 ? 8 : 0, n[1] > 16 ? 8 : 0, 13};
        LithoBox box = il->held;
        for (int a = 0; a < 3; a++) {
            box.lo[a] += in_by[a];
            box.hi[a] -= in_by[a];
        }
        g_autoptr(LithoCube) middle_il = litho_cube_copy_box(il, box, NULL);
        g_autoptr(LithoCube) middle_xl = litho_cube_copy_box(xl, box, NULL);
        const double steep = fmax(fabs(cases[k].p), fabs(cases[k].q));
        g_test_message("case %u: middle %.4f %.4f, all %.4f %.4f ms/trace, coherence off %.4f", k,
                       worst(middle_il, cases[k].p), worst(middle_xl, cases[k].q),
                       worst_where_strong(il, in, cases[k].p),
                       worst_where_strong(xl, in, cases[k].q), worst(coherence, 1));
        g_assert_cmpfloat(worst(middle_il, cases[k].p), <, 0.005 * steep + 0.01);
        g_assert_cmpfloat(worst(middle_xl, cases[k].q), <, 0.005 * steep + 0.01);
        g_assert_cmpfloat(worst_where_strong(il, in, cases[k].p), <, 0.1 * steep + 0.2);
        g_assert_cmpfloat(worst_where_strong(xl, in, cases[k].q), <, 0.1 * steep + 0.2);
        g_assert_cmpfloat(worst(coherence, 1), <, 0.05);
    }
}

// RMS error of dips at the samples where the clean cube is strong.
static double rms_where_strong(const LithoCube *dip, const LithoCube *clean, double truth)
{
    double sum = 0;
    gint64 n = 0;
    for (gint64 k = 0; k < litho_cube_held_samples(clean); k++)
        if (fabs(clean->samples[k]) > 0.3) {
            sum += (dip->samples[k] - truth) * (dip->samples[k] - truth);
            n++;
        }
    return sqrt(sum / n);
}

// Property: with noise of the events' energy the dips of the result are right within 0.1 ms/trace
// RMS, less than for the noisy samples themselves; a third of the traces missing costs no
// more than 0.05 ms/trace, and filled traces have dips, too.
static void test_noise_and_gaps(void)
{
    const gint64 n[3] = {48, 44, 160};
    g_autoptr(LithoCube) clean = plane_cube(n, 0.0015, -0.001, 25);
    double energy = 0;
    for (gint64 k = 0; k < litho_cube_held_samples(clean); k++)
        energy += clean->samples[k] * clean->samples[k];
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, n[0], n[1], n[2],
                                             sqrt(energy / litho_cube_held_samples(clean)), 5);
    g_autoptr(LithoCube) in = patch_sum(clean, noise);
    g_autoptr(LithoCube) of_result = run_volume("", LITHO_PATCH_DIP_IL, in, NULL);
    g_autoptr(LithoCube) of_input = run_volume(as_is, LITHO_PATCH_DIP_IL, in, NULL);
    const double off = rms_where_strong(of_result, clean, 1.5);
    g_test_message("%.4f ms/trace, of the input %.4f", off, rms_where_strong(of_input, clean, 1.5));
    g_assert_cmpfloat(off, <, 0.1);
    g_assert_cmpfloat(rms_where_strong(of_input, clean, 1.5), >, 1.2 * off);

    patch_kill(in, 33, 4);
    g_autoptr(LithoCube) gaps = run_volume("", LITHO_PATCH_DIP_IL, in, NULL);
    g_autoptr(LithoCube) filled =
        run_volume("mode=both iterations=10", LITHO_PATCH_DIP_IL, in, NULL);
    g_test_message("gaps %.4f, filled %.4f ms/trace", rms_where_strong(gaps, clean, 1.5),
                   rms_where_strong(filled, clean, 1.5));
    g_assert_cmpfloat(rms_where_strong(gaps, clean, 1.5), <, off + 0.05);
    g_assert_cmpfloat(rms_where_strong(filled, clean, 1.5), <, off + 0.1);
    g_assert_cmpmem(gaps->live, n[0] * n[1], in->live, n[0] * n[1]);
    g_assert_cmpint(litho_cube_count_live(filled), ==, n[0] * n[1]);
}

// Property: along a hyperboloid the dip is its derivative, within 5 % of the steepest; where two
// events of opposite dips cross the coherence is below 0.5, as in noise.
static void test_curved(void)
{
    LithoGrid grid = litho_grid_new(60, 50, 160);
    g_autoptr(LithoCube) in = litho_cube_new(&grid, NULL);
    const double t0 = 0.24, r = 0.006, i0 = 28.3, j0 = 22.6; // s, s/trace
    for (gint64 i = 0; i < 60; i++)
        for (gint64 j = 0; j < 50; j++)
            litho_add_ricker(litho_cube_trace(in, i, j), 160, dt,
                             sqrt(t0 * t0 + r * r * ((i - i0) * (i - i0) + (j - j0) * (j - j0))),
                             25, 1);
    g_autoptr(LithoCube) il = run_volume(as_is, LITHO_PATCH_DIP_IL, in, NULL);
    g_autoptr(LithoCube) xl = run_volume(as_is, LITHO_PATCH_DIP_XL, in, NULL);
    double most = 0, steep = 0;
    for (gint64 i = 4; i < 56; i++)
        for (gint64 j = 4; j < 46; j++) {
            const double t = sqrt(t0 * t0 + r * r * ((i - i0) * (i - i0) + (j - j0) * (j - j0)));
            const gint64 at = (i * 50 + j) * 160 + (gint64)(t / dt + 0.5);
            const double p = 1000 * r * r * (i - i0) / t, q = 1000 * r * r * (j - j0) / t;
            most = fmax(most, fmax(fabs(il->samples[at] - p), fabs(xl->samples[at] - q)));
            steep = fmax(steep, fmax(fabs(p), fabs(q)));
        }
    g_test_message("off by %.4f of %.3f ms/trace", most, steep);
    g_assert_cmpfloat(most, <, 0.05 * steep);

    const gint64 n[3] = {40, 40, 120};
    g_autoptr(LithoCube) up = plane_cube(n, 0.003, 0, 25), down = plane_cube(n, -0.003, 0, 25);
    g_autoptr(LithoCube) both = patch_sum(up, down);
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, 40, 40, 120, 1, 6);
    g_autoptr(LithoCube) crossing = run_volume(as_is, LITHO_PATCH_COHERENT, both, NULL);
    g_autoptr(LithoCube) random = run_volume(as_is, LITHO_PATCH_COHERENT, noise, NULL);
    double mean[2] = {0};
    for (gint64 k = 0; k < 40 * 40 * 120; k++) {
        mean[0] += crossing->samples[k] / (40 * 40 * 120);
        mean[1] += random->samples[k] / (40 * 40 * 120);
    }
    g_test_message("coherence of crossing events %.3f, of noise %.3f", mean[0], mean[1]);
    g_assert_cmpfloat(mean[0], <, 0.5);
    g_assert_cmpfloat(mean[1], <, 0.5);
}

// Property: a region has the bits of the whole, from no more input than is asked for, with dead
// traces and samples that are not finite; nothing is not finite, and a cube of zeros has no dips.
static void test_regions(void)
{
    const LithoBox boxes[] = {{{7, 0, 0}, {8, 40, 90}},
                              {{0, 39, 0}, {50, 40, 90}},
                              {{0, 0, 33}, {50, 40, 34}},
                              {{13, 5, 21}, {31, 22, 58}},
                              {{49, 39, 89}, {50, 40, 90}}};
    const char *const words[] = {"sigma=0.5", "mode=both iterations=2 sigma=0.4"};
    const char *const names[] = {LITHO_PATCH_DIP_IL, LITHO_PATCH_DIP_XL, LITHO_PATCH_COHERENT};
    g_autoptr(LithoCube) in = patch_spoilt(50, 40, 90);
    for (guint v = 0; v < G_N_ELEMENTS(names); v++)
        for (guint w = 0; w < G_N_ELEMENTS(words); w++) {
            g_autoptr(LithoCube) whole = run_volume(words[w], names[v], in, NULL);
            for (gint64 k = 0; k < litho_cube_held_samples(whole); k++)
                g_assert_true(isfinite(whole->samples[k]));
            for (guint k = 0; k < G_N_ELEMENTS(boxes); k++) {
                const LithoPatchParams p = patch_settings(words[w]);
                const LithoVolumeDoc *volume =
                    litho_operator_volume(&litho_operator_patch, names[v]);
                const LithoBox need =
                    litho_operator_input_box(&litho_operator_patch, &in->grid, &p, FALSE,
                                             litho_volume_box(volume, &in->grid, boxes[k]));
                g_autoptr(LithoCube) held = litho_cube_copy_box(in, need, NULL);
                g_autoptr(LithoCube) part = run_volume(words[w], names[v], held, &boxes[k]);
                patch_assert_part(whole, part);
            }
        }
    memset(in->samples, 0, 4 * litho_cube_held_samples(in));
    g_autoptr(LithoCube) none = run_volume("sigma=0.5", LITHO_PATCH_DIP_IL, in, NULL);
    g_assert_cmpfloat(worst(none, 0), ==, 0);
    g_autoptr(LithoCube) shortest = patch_noise(PATCH_WHITE, 2, 3, 4, 1, 1);
    g_autoptr(LithoCube) dips = run_volume("sigma=0.5", LITHO_PATCH_DIP_IL, shortest, NULL);
    for (gint64 k = 0; k < 24; k++)
        g_assert_true(isfinite(dips->samples[k]));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/patch-dips/planes", test_planes);
    g_test_add_func("/patch-dips/noise-and-gaps", test_noise_and_gaps);
    g_test_add_func("/patch-dips/curved", test_curved);
    g_test_add_func("/patch-dips/regions", test_regions);
    return g_test_run();
}
