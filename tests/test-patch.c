// SPDX-License-Identifier: GPL-3.0-or-later
//
// The local Fourier filter on the CPU: against its rules in double precision, and region by region.
// Known truth and filling are in test-patch-truth.c.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/synth/synth_parts.h"
#include "kernels/common/gaps.h"
#include "kernels/kernels.h"
#include "kernels/patch/cpu/sweep.h"
#include "kernels/patch/levels.h"
#include "kernels/patch/patch.h"
#include "tests/common.h"
#include "tests/patch_common.h"
#include "tests/patch_reference.h"

// Dead traces of `in` as they are.
static void take_dead(LithoCube *out, const LithoCube *in)
{
    const gint64 nt = litho_box_size(in->held, 2);
    const gint64 traces = litho_cube_held_samples(in) / nt;
    for (gint64 k = 0; k < traces; k++)
        if (!in->live[k])
            memcpy(out->samples + k * nt, in->samples + k * nt, nt * sizeof(float));
}

// Property: the samples are those of the rules in double precision, for windows that have code of
// their own and others, both rules, lines, and axes shorter than a window, with dead traces and
// samples that are not finite. 2e-5: single precision, and the few coefficients within its reach of
// the threshold.
static void test_reference(void)
{
    const struct {
        gint64 n[3];
        const char *words;
    } cases[] = {
        {{20, 19, 45}, "sigma=0.5"},
        {{20, 19, 45}, "sigma=0.5 rule=energy"},
        {{20, 19, 45}, "sigma=0.5 faults=off"},
        {{20, 50, 45}, "sigma=0.5 threshold=4.5"},
        {{17, 16, 21}, "sigma=0.5 overlap=2"},
        {{21, 18, 30}, "sigma=0.5 window=8"},
        {{17, 18, 31}, "sigma=0.5 window=12 rule=energy"},
        {{23, 20, 41}, "sigma=0.5 window=20 overlap=2"},
        {{26, 25, 53}, "sigma=0.5 window=24 overlap=3"},
        {{24, 27, 39}, "sigma=0.5 window=24 rule=energy overlap=2"},
        {{30, 28, 50}, "sigma=0.5 window=28 rule=energy overlap=2"},
        {{33, 32, 50}, "sigma=0.5 window=32 overlap=2"},
        {{26, 25, 53}, "sigma=0.5 window=26 window_xl=24 overlap=2"},
        {{18, 17, 70}, "sigma=0.5 window_t=32"},
        {{17, 16, 80}, "sigma=0.5 window_t=64 overlap=3"},
        {{17, 16, 70}, "sigma=0.5 window_t=32 rule=energy overlap=2"},
        {{25, 24, 60}, "sigma=0.5 window=24 window_t=48 overlap=2"},
        {{24, 25, 70}, "sigma=0.5 window=24 window_t=64 overlap=2"},
        {{12, 33, 40}, "sigma=0.5 window_t=20 window_xl=10 rule=energy"},
        {{1, 40, 60}, "sigma=0.5"},
        {{40, 1, 60}, "sigma=0.5 rule=energy"},
        {{3, 5, 9}, "sigma=0.5"},
        {{20, 10, 4}, "sigma=0.5"},
    };
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        const gint64 *n = cases[k].n;
        g_autoptr(LithoCube) in = patch_spoilt(n[0], n[1], n[2]);
        const LithoPatchParams p = patch_settings(cases[k].words);
        g_autoptr(LithoCube) out = patch_run(&litho_patch_cpu, in, &p, NULL, 2);
        // The rules are those of windows; missing traces are guesses in both.
        g_autoptr(LithoCube) guessed = litho_cube_copy_box(in, in->held, NULL);
        g_assert_true(litho_gaps_guess(guessed, NULL, (LithoGapsRule){0}, NULL, NULL));
        g_autoptr(LithoCube) expected = patch_reference(guessed, &p, 0.5, NULL, in->live);
        take_dead(expected, in);
        g_test_message("%s: %.2e", cases[k].words, patch_distance(expected, out));
        g_assert_cmpfloat(patch_distance(expected, out), <, 2e-5);
    }
}

// One level of 0.5 whose shape over the wavenumbers falls by a factor of 30. It has no symmetry but
// that of the spectra of real samples at the first and the last frequency.
static LithoMeasured *shaped_level(const LithoCube *in, const LithoPatchParams *p, float **shape)
{
    const LithoPatchGeometry g = litho_patch_grid_geometry(&in->grid, p);
    const int n0 = g.axis[0].length, n1 = g.axis[1].length;
    PatchLevels l = {.params = *p, .table = {.n = {1, 1, 1}, .bins = g.bins}};
    l.sigma = g_new(float, g.bins);
    l.shape = *shape = g_new(float, patch_levels_powers(&g));
    for (int f = 0; f < g.bins; f++) {
        l.sigma[f] = 0.5f;
        for (int k = 0; k < n0 * n1; k++) {
            const int j = f == 0 || f == g.bins - 1 ? 0 : (k % n1 + f) % 5;
            l.shape[f * n0 * n1 + k] =
                (float)(0.1 + 2.9 * pow(cos(G_PI * (k / n1) / n0), 2) * (1 + j) / 5);
        }
    }
    LithoMeasured *measured =
        patch_levels_to_measured(&l, &g, p, (PatchFound){.rule = LITHO_PATCH_SINGLE});
    g_free(l.sigma);
    return measured;
}

// Property: where the level has a shape over the wavenumbers the samples are those of the rules,
// too.
static void test_shape(void)
{
    const struct {
        gint64 n[3];
        const char *words;
    } cases[] = {
        {{20, 19, 45}, "level=whole erratic=0"},
        {{20, 19, 45}, "level=whole erratic=0 rule=energy"},
        {{21, 18, 30}, "level=whole erratic=0 window=8"},
        {{26, 25, 53}, "level=whole erratic=0 window=24 overlap=2"},
        {{30, 28, 50}, "level=whole erratic=0 window=28 rule=energy overlap=2"},
        {{12, 33, 40}, "level=whole erratic=0 window_t=20 window_xl=10 rule=energy"},
        {{1, 40, 60}, "level=whole erratic=0"},
    };
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        const gint64 *n = cases[k].n;
        g_autoptr(LithoCube) clean = patch_cube(PATCH_PLANES, n[0], n[1], n[2]);
        g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, n[0], n[1], n[2], 0.5, 3);
        g_autoptr(LithoCube) in = patch_sum(clean, noise);
        const LithoPatchParams p = patch_settings(cases[k].words);
        g_autofree float *shape = NULL;
        g_autoptr(LithoMeasured) measured = shaped_level(in, &p, &shape);
        g_autoptr(LithoCube) out = patch_run_by(&litho_patch_cpu, in, &p, measured, NULL, NULL);
        g_autoptr(LithoCube) expected = patch_reference(in, &p, 0.5, shape, NULL);
        LithoPatchParams alone = p;
        alone.faults = FALSE;
        g_autoptr(LithoCube) flat = patch_reference(in, &alone, 0.5, NULL, NULL);
        g_test_message("%s: %.2e, without it %.2e", cases[k].words, patch_distance(expected, out),
                       patch_distance(expected, flat));
        g_assert_cmpfloat(patch_distance(expected, out), <, 2e-5);
        g_assert_cmpfloat(patch_distance(expected, flat), >, 0.05);
    }
}

// One sweep over a whole cube whose noise is 0.5 everywhere, guided by half the frequencies.
static LithoCube *guided_sweep(const LithoCube *in, const LithoPatchParams *p, const guint8 *wanted)
{
    LithoCube *out = litho_cube_new(&in->grid, NULL);
    PatchTransforms transforms;
    PatchRoom room = {0};
    PatchSweep sweep = {.g = litho_patch_grid_geometry(&in->grid, p),
                        .transforms = &transforms,
                        .in = in->samples,
                        .held = in->held,
                        .region = in->held,
                        .out = out->samples,
                        .out_held = in->held,
                        .wanted = wanted,
                        .rule = LITHO_PATCH_SINGLE,
                        .guided = TRUE,
                        .room = &room,
                        .stage = "filling"};
    g_autofree float *sigma = g_new(float, sweep.g.bins);
    for (int f = 0; f < sweep.g.bins; f++)
        sigma[f] = 0.5f;
    const LithoPatchLevels levels = {
        .n = {1, 1, 1}, .step = {1, 1, 1}, .bins = sweep.g.bins, .sigma = sigma};
    sweep.levels = &levels;
    sweep.threshold = (float)litho_patch_threshold(&sweep.g, p);
    g_assert_true(patch_transforms_init(&transforms, &sweep.g, NULL));
    for (int pass = 0; pass < 2; pass++) // the second one in the room of the first
        g_assert_true(patch_sweep(&sweep, NULL, NULL));
    patch_transforms_clear(&transforms);
    patch_room_clear(&room);
    return out;
}

// Property: where half the frequencies guide, the samples are those of the rules, too, in windows
// that have code of their own and in others; 2e-5 as above. Asked for some of the traces
// only, as filling does, a sweep makes these with the same bits and leaves the others.
static void test_guided(void)
{
    const struct {
        gint64 n[3];
        const char *words;
    } cases[] = {
        {{20, 19, 45}, ""},
        {{20, 19, 45}, "threshold=1"},
        {{17, 16, 21}, "overlap=2"},
        {{21, 18, 30}, "window=12"},
        {{20, 21, 26}, "window=20 overlap=2"},
        {{25, 24, 30}, "window=24 overlap=2"},
        {{28, 29, 34}, "window=28 overlap=2"},
        {{32, 33, 37}, "window=32 overlap=2"},
        {{12, 33, 40}, "window_t=20 window_xl=10"},
        {{1, 40, 60}, ""},
    };
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        const gint64 *n = cases[k].n;
        g_autoptr(LithoCube) clean = patch_cube(PATCH_CURVED, n[0], n[1], n[2]);
        g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, n[0], n[1], n[2], 0.5, 3);
        g_autoptr(LithoCube) in = patch_sum(clean, noise);
        const LithoPatchParams p = patch_settings(cases[k].words);
        g_autofree guint8 *wanted = g_malloc(n[0] * n[1]);
        for (gint64 i = 0; i < n[0] * n[1]; i++) {
            wanted[i] = n[0] == 1 ? i % 2 : i / n[1] % 2;
            if (wanted[i]) // missing in what is filled: ghosts
                memset(in->samples + i * n[2], 0, n[2] * sizeof(float));
        }
        g_autoptr(LithoCube) out = guided_sweep(in, &p, NULL);
        g_autoptr(LithoCube) some = guided_sweep(in, &p, wanted);
        g_autoptr(LithoCube) expected = patch_reference_guided(in, &p, 0.5);
        g_autoptr(LithoCube) alone = patch_reference(in, &p, 0.5, NULL, NULL);
        g_test_message("%s: %.2e, without it %.2e", cases[k].words, patch_distance(expected, out),
                       patch_distance(expected, alone));
        g_assert_cmpfloat(patch_distance(expected, out), <, 2e-5);
        g_assert_cmpfloat(patch_distance(expected, alone), >, 0.05);
        for (gint64 i = 0; i < n[0] * n[1]; i++)
            for (gint64 t = i * n[2]; t < (i + 1) * n[2]; t++)
                g_assert_cmpfloat(some->samples[t], ==, wanted[i] ? out->samples[t] : 0);
    }
}

// Property: a threshold of nothing gives the input back, but for samples that are not finite.
static void test_identity(void)
{
    g_autoptr(LithoCube) in = patch_noise(PATCH_WHITE, 30, 25, 70, 1, 5);
    for (int window = 16; window <= 24; window += 8) {
        LithoPatchParams p = patch_settings("sigma=1 threshold=1e-6");
        p.window = window;
        g_autoptr(LithoCube) out = patch_run(&litho_patch_cpu, in, &p, NULL, 0);
        g_assert_cmpfloat(patch_distance(in, out), <, 1e-6);
    }
}

// Property: a region of any shape and number of threads gives the bits of the whole, with the level
// measured or given.
static void test_regions(void)
{
    const LithoBox boxes[] = {
        {{7, 0, 0}, {8, 32, 72}},    {{0, 31, 0}, {40, 32, 72}},   {{0, 0, 33}, {40, 32, 34}},
        {{13, 5, 21}, {31, 22, 58}}, {{39, 31, 71}, {40, 32, 72}},
    };
    const char *const words[] = {"",
                                 "sigma=0.5 rule=energy",
                                 "sigma=0.5 window=12 overlap=3",
                                 "sigma=0.5 window=24 rule=energy overlap=2",
                                 "sigma=0.5 window=28 overlap=2",
                                 "sigma=0.5 window=24",
                                 "sigma=0.5 window=20 overlap=3 faults=off",
                                 "sigma=0.5 window_t=32",
                                 "sigma=0.5 window=24 window_t=48 overlap=2",
                                 "mode=fill iterations=3",
                                 "mode=both iterations=3 sigma=0.4",
                                 "mode=fill iterations=3 sigma=0.4"};
    g_autoptr(LithoCube) in = patch_spoilt(40, 32, 72);
    for (guint w = 0; w < G_N_ELEMENTS(words); w++) {
        const LithoPatchParams p = patch_settings(words[w]);
        g_autoptr(LithoCube) whole = patch_run(&litho_patch_cpu, in, &p, NULL, 2);
        for (guint k = 0; k < G_N_ELEMENTS(boxes); k++) {
            // The part of the input that the operator asks for, and no more.
            const LithoBox need = litho_operator_input_box(&litho_operator_patch, &in->grid,
                                                             &p, FALSE, boxes[k]);
            g_autoptr(LithoCube) held = litho_cube_copy_box(in, need, NULL);
            g_autoptr(LithoCube) part =
                patch_run(&litho_patch_cpu, held, &p, &boxes[k], 1 + (int)k % 3);
            patch_assert_part(whole, part);
        }
    }
}

// Property: what windows read is inside the box that the operator asks for, and no larger than a
// window and a stride, the reach of guesses, where bursts are looked for, and what leaves at faults
// depends on, on either side.
static void test_input_box(void)
{
    const LithoGrid grid = litho_grid_new(100, 90, 300);
    const LithoPatchParams p = patch_settings("sigma=1 erratic=0");
    const LithoBox region = {{40, 30, 100}, {41, 60, 200}};
    const LithoBox box = litho_patch_input_box(&grid, &p, region);
    for (int a = 0; a < 3; a++) {
        const gint64 faults = a == 2 ? 20 : LITHO_PATCH_FAULT_REACH;
        const gint64 most = 20 + faults + (a == 2 ? LITHO_GAPS_SAMPLES : LITHO_GAPS_TRACES);
        g_assert_cmpint(box.lo[a], >=, region.lo[a] - most);
        g_assert_cmpint(box.hi[a], <=, region.hi[a] + most);
        g_assert_cmpint(box.lo[a], <=, region.lo[a] - 8 - LITHO_PATCH_FAULT_REACH);
    }
}

// Property: filling and removing noise at once leaves no hole and less error than was put in.
static void test_both(void)
{
    g_autoptr(LithoCube) clean = patch_cube(PATCH_PLANES, 48, 48, 96);
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, 48, 48, 96, 0.5, 5);
    g_autoptr(LithoCube) in = patch_sum(clean, noise);
    patch_kill(in, 20, 3);
    const LithoPatchParams p = patch_settings("preset=repair");
    g_autoptr(LithoCube) out = patch_run(&litho_patch_cpu, in, &p, NULL, 0);
    g_test_message("all %.2f dB, missing traces %.2f dB", patch_snr(out, clean, NULL),
                   patch_snr(out, clean, in));
    g_assert_cmpfloat(patch_snr(out, clean, NULL), >, 15);
    g_assert_cmpfloat(patch_snr(out, clean, in), >, 12);
    // The noise is measured where three quarters of the traces are missing, too.
    patch_kill(in, 75, 3);
    g_autoptr(LithoCube) few = patch_run(&litho_patch_cpu, in, &p, NULL, 0);
    g_test_message("of a quarter of the traces %.2f dB", patch_snr(few, clean, NULL));
    g_assert_cmpfloat(patch_snr(few, clean, NULL), >, 10);
}

// Bursts of 20 times the amplitude over 60 samples on 2 % of the traces, and single spikes of 30
// times on others.
static void spoil(LithoCube *cube)
{
    const gint64 nt = cube->grid.axis[2].n;
    for (gint64 k = 0; k < litho_grid_traces(&cube->grid); k++) {
        const double u = litho_hash_uniform(9, 1, k);
        const gint64 t0 = (gint64)(litho_hash_uniform(9, 2, k) * (nt - 60));
        for (gint64 t = t0; u < 0.02 && t < t0 + 60; t++)
            cube->samples[k * nt + t] += (float)(28 * litho_hash_normal(9, 3, k * nt + t));
        if (u > 0.98)
            cube->samples[k * nt + t0] = 42;
    }
}

// Property: erratic noise costs less than 1 dB against the cube without it, is gone from the
// output, is told in the report, and a region still has the bits of the whole. With next to no
// threshold the bursts alone are gone: what other operators may start from.
static void test_erratic(void)
{
    g_autoptr(LithoCube) clean = patch_cube(PATCH_CURVED, 48, 48, 256);
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, 48, 48, 256, 1, 6);
    g_autoptr(LithoCube) in = patch_sum(clean, noise);
    g_autoptr(LithoCube) spoilt = litho_cube_copy_box(in, in->held, NULL);
    spoil(spoilt);
    const LithoPatchParams p = patch_settings(""), off = patch_settings("erratic=0");
    const LithoPatchParams repair = patch_settings("threshold=0.01");
    g_autoptr(LithoCube) out = patch_run(&litho_patch_cpu, in, &p, NULL, 0);
    g_autoptr(LithoCube) robust = patch_run(&litho_patch_cpu, spoilt, &p, NULL, 0);
    g_autoptr(LithoCube) plain = patch_run(&litho_patch_cpu, spoilt, &off, NULL, 0);
    const double without = patch_snr(out, clean, NULL), with = patch_snr(robust, clean, NULL);
    g_test_message("without bursts %.2f dB, with %.2f dB, not looked for %.2f dB", without, with,
                   patch_snr(plain, clean, NULL));
    g_assert_cmpfloat(with, >, without - 1);
    g_assert_cmpfloat(patch_snr(plain, clean, NULL), <, without - 3);
    g_autoptr(LithoCube) repaired = patch_run(&litho_patch_cpu, spoilt, &repair, NULL, 0);
    g_test_message("repaired %.2f dB, spoilt %.2f dB", patch_snr(repaired, in, NULL),
                   patch_snr(spoilt, in, NULL));
    g_assert_cmpfloat(patch_snr(repaired, in, NULL), >, 15);
    g_assert_cmpfloat(patch_snr(spoilt, in, NULL), <, 0);
    LithoPatchParams given = p;
    given.sigma = 1;
    const LithoBox box = {{20, 11, 247}, {33, 30, 255}};
    const LithoBox need = litho_patch_input_box(&in->grid, &given, box);
    g_assert_cmpint(need.lo[2], >, 0);
    g_autoptr(LithoCube) held = litho_cube_copy_box(spoilt, need, NULL);
    g_autoptr(LithoCube) whole = patch_run(&litho_patch_cpu, spoilt, &given, NULL, 0);
    g_autoptr(LithoCube) part = patch_run(&litho_patch_cpu, held, &given, &box, 2);
    patch_assert_part(whole, part);
}

// Property: what is told for filling is two cubes for momentum and thresholds and half of a copy
// without bursts more than for removing noise without the pass for faults.
static void test_fill_memory(void)
{
    const LithoGrid grid = litho_grid_new(200, 180, 300);
    const LithoBox all = litho_box_full(&grid);
    const LithoPatchParams fill = patch_settings("mode=fill sigma=1");
    const LithoPatchParams denoise = patch_settings("sigma=1 faults=off");
    const guint64 less = litho_patch_cpu.memory(&grid, &denoise, NULL, all, 2);
    g_assert_cmpuint(litho_patch_cpu.memory(&grid, &fill, NULL, all, 2), >=,
                     less + 10 * litho_box_count(all));
}

// Property: a cancel is a cancel and leaves the plan usable; odd windows and short traces are
// refused with a sentence.
static void test_contract(void)
{
    g_autoptr(LithoCube) in = patch_noise(PATCH_WHITE, 30, 30, 60, 1, 5);
    g_autoptr(LithoCube) out = litho_cube_new(&in->grid, NULL);
    LithoPatchParams p = patch_settings("sigma=1");
    g_autoptr(GCancellable) cancel = g_cancellable_new();
    g_autoptr(GError) stopped = NULL, odd = NULL, brief = NULL;
    LithoRun run = {.cancel = cancel};
    gpointer plan = litho_patch_cpu.plan(&in->grid, &p, NULL, &run, NULL);
    const LithoPass pass = {
        .params = &p, .first_stage = 1, .in = in, .region = in->held, .out = out};
    g_cancellable_cancel(cancel);
    g_assert_false(litho_patch_cpu.exec(plan, &pass, &run, &stopped));
    g_assert_error(stopped, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    g_cancellable_reset(cancel);
    g_assert_true(litho_patch_cpu.exec(plan, &pass, &run, NULL));
    litho_patch_cpu.destroy(plan);
    g_autoptr(LithoCube) fresh = patch_run(&litho_patch_cpu, in, &p, NULL, 0);
    patch_assert_part(fresh, out);
    const LithoGrid small = litho_grid_new(30, 30, 3);
    p.window = 15;
    g_assert_false(litho_operator_check(&litho_operator_patch, &in->grid, &p, NULL, &odd));
    g_assert_error(odd, LITHO_ERROR, LITHO_ERROR_PARAMETER);
    p.window = 16;
    g_assert_false(litho_operator_check(&litho_operator_patch, &small, &p, NULL, &brief));
    g_assert_error(brief, LITHO_ERROR, LITHO_ERROR_GEOMETRY);
}

// Passes in which the level was measured so far.
static guint count_levels(LithoTimings *timings)
{
    LithoStage stages[16];
    const guint n = litho_timings_snapshot(timings, stages, G_N_ELEMENTS(stages));
    for (guint k = 0; k < n; k++)
        if (strcmp(stages[k].name, "noise level") == 0)
            return stages[k].count;
    return 0;
}

// Property: windows that are tried in turn, as Find does, are measured once each, and the results
// are those of a fresh plan.
static void test_turns(void)
{
    static const int windows[] = {16, 12, 8};
    g_autoptr(LithoCube) in = patch_noise(PATCH_WHITE, 30, 30, 60, 1, 5);
    g_autoptr(LithoCube) out = litho_cube_new(&in->grid, NULL);
    LithoTimings *timings = litho_timings_new();
    LithoPatchParams p = patch_settings("");
    LithoRun run = {.timings = timings};
    gpointer plan = litho_patch_cpu.plan(&in->grid, &p, NULL, &run, NULL);
    const LithoPass pass = {
        .params = &p, .first_stage = 1, .in = in, .region = in->held, .out = out};
    guint measured = 0;
    for (guint k = 0; k < 3 * G_N_ELEMENTS(windows); k++) {
        p.window = windows[k % G_N_ELEMENTS(windows)];
        g_assert_true(litho_patch_cpu.exec(plan, &pass, &run, NULL));
        litho_timings_end_pass(timings);
        if (k + 1 == G_N_ELEMENTS(windows))
            measured = count_levels(timings);
        g_autoptr(LithoCube) fresh = patch_run(&litho_patch_cpu, in, &p, NULL, 0);
        patch_assert_part(fresh, out);
    }
    g_assert_cmpuint(measured, ==, G_N_ELEMENTS(windows));
    g_assert_cmpuint(count_levels(timings), ==, measured);
    litho_patch_cpu.destroy(plan);
    litho_timings_unref(timings);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/patch/reference", test_reference);
    g_test_add_func("/patch/shape", test_shape);
    g_test_add_func("/patch/guided", test_guided);
    g_test_add_func("/patch/identity", test_identity);
    g_test_add_func("/patch/regions", test_regions);
    g_test_add_func("/patch/input-box", test_input_box);
    g_test_add_func("/patch/fill-memory", test_fill_memory);
    test_add_answers("/patch/both", test_both);
    g_test_add_func("/patch/erratic", test_erratic);
    g_test_add_func("/patch/contract", test_contract);
    g_test_add_func("/patch/turns", test_turns);
    return g_test_run();
}
