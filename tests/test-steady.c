// SPDX-License-Identifier: GPL-3.0-or-later
//
// Offsets, drifts and hum are taken off traces before the filters: what they cost is gained back,
// where there is none no bit changes, parts have the samples of the whole, and the figures are told
// of what is left.
#include "kernels/common/steady.h"

#include <string.h>

#include "core/engine/quality.h"
#include "core/engine/steadied.h"
#include "kernels/kernels.h"
#include "tests/common.h"
#include "tests/patch_cubes.h"
#include "tests/quality_cubes.h"
#include "tests/steady_noise.h"
#include "tests/uneven_traces.h"

enum { N = 32, N_T = 192 };

static LithoCube *cube_of(PatchKind events, SteadyKind kind, double level, LithoCube **truth)
{
    *truth = patch_cube(events, N, N, N_T);
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, N, N, N_T, level, 7);
    LithoCube *in = patch_sum(*truth, noise);
    steady_add(in, kind, 1);
    return in;
}

static LithoSteady found_in(const LithoCube *cube)
{
    LithoSteady steady;
    g_autoptr(GError) error = NULL;
    g_assert_true(litho_qc_steady_in(cube, NULL, &steady, &error));
    g_assert_no_error(error);
    return steady;
}

static LithoCube *run_part(const char *key, const char *settings, const LithoCube *in,
                           LithoMeasured *measured, const LithoBox *region)
{
    g_autoptr(LithoFlow) flow = quality_flow(litho_operator_find(key), settings);
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    g_autoptr(GError) error = NULL;
    litho_flow_step(flow, 0)->measured = measured ? litho_measured_ref(measured) : NULL;
    LithoCube *out = litho_engine_run(engine, flow, in, region, NULL, &error);
    g_assert_no_error(error);
    litho_engine_free(engine);
    return out;
}

static LithoCube *run(const char *key, const char *settings, const LithoCube *in)
{
    return run_part(key, settings, in, NULL, NULL);
}

static gboolean same_bits(const LithoCube *a, const LithoCube *b)
{
    return memcmp(a->samples, b->samples, (gsize)litho_cube_held_samples(a) * sizeof *a->samples) ==
           0;
}

// --- one trace -----------------------------------------------------------------------------------

// Ricker wavelets at 40, 90 and 150 samples of 200.
static double events_at(gint64 t)
{
    static const double at[] = {40, 90, 150}, amplitude[] = {1, -0.7, 0.5};
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        const double u = pow(G_PI * 0.1 * ((double)t - at[k]), 2);
        sum += amplitude[k] * (1 - 2 * u) * exp(-u);
    }
    return sum;
}

// Property: the numbers of a trace are those that were added, beside events that least squares
// would take in part: 1 % of the line's amplitude, 1e-4 of the offset and the drift. A trace that
// begins with a mute is fitted behind it.
static void test_fit(void)
{
    enum { LENGTH = 200, MUTE = 20 };
    static const double line[] = {0.2, 0.0668};
    LithoSteadyFit *fit = litho_steady_fit_new(LENGTH, line, 2);
    for (int muted = 0; muted < 2; muted++) {
        float x[LENGTH];
        for (int t = 0; t < LENGTH; t++)
            x[t] = muted && t < MUTE ? 0
                                     : (float)(events_at(t) + 3 + 0.01 * (t - 99.5) +
                                               0.8 * cos(2 * G_PI * 0.2 * t + 1) +
                                               0.3 * sin(2 * G_PI * 0.0668 * t));
        LithoSteadyTrace of;
        litho_steady_fit(fit, x, TRUE, TRUE, &of);
        const double middle = 0.5 * (double)(of.lo + of.hi - 1);
        g_test_message("offset %.6f, drift %.7f, lines %.5f and %.5f", of.offset, of.drift,
                       of.amplitude[0], of.amplitude[1]);
        g_assert_cmpint(of.lo, ==, muted ? MUTE : 0);
        g_assert_cmpint(of.hi, ==, LENGTH);
        g_assert_cmpfloat(fabs(of.offset - 3 - 0.01 * (middle - 99.5)), <, 3e-4);
        g_assert_cmpfloat(fabs(of.drift - 0.01), <, 1e-5);
        g_assert_cmpfloat(hypot(of.wave[0] - 0.8 * cos(1), of.wave[1] + 0.8 * sin(1)), <, 0.008);
        g_assert_cmpfloat(hypot(of.wave[2], of.wave[3] - 0.3), <, 0.003);
    }
    litho_steady_fit_free(fit);
}

// Property: mutes, dead traces and traces with samples that are no numbers stay as they are, and so
// does the survey's mean.
static void test_stays(void)
{
    LithoCube *truth;
    g_autoptr(LithoCube) in = cube_of(PATCH_CURVED, STEADY_OFFSETS, 0.1, &truth);
    for (gint64 k = 0; k < N * N * N_T; k++)
        in->samples[k] = k % N_T < k / N_T % N ? 0 : in->samples[k] + 0.5f;
    in->live[5] = 0;
    in->samples[9 * N_T + 70] = NAN;
    litho_cube_touch(in);
    const LithoSteady steady = found_in(in);
    g_assert_true(steady.offset && !steady.drift && steady.n == 0);
    LithoSteadyTaken taken;
    g_autoptr(LithoCube) out = litho_qc_steady_without(in, &steady, NULL, &taken, NULL);
    double mean = 0, n = 0;
    for (gint64 k = 0; k < N * N * N_T; k++) {
        const gint64 trace = k / N_T;
        if (in->samples[k] == 0 || trace == 5)
            g_assert_cmpfloat(out->samples[k], ==, in->samples[k]);
        if (trace != 5 && trace != 9 && in->samples[k] != 0) {
            mean += out->samples[k];
            n++;
        }
    }
    g_assert_cmpmem(out->samples + 9 * N_T, N_T * sizeof(float), in->samples + 9 * N_T,
                    N_T * sizeof(float));
    g_test_message("mean %.4f, told %.4f; rms %.3f taken off", mean / n, steady.mean,
                   litho_steadied_rms(&taken));
    g_assert_cmpfloat(fabs(mean / n - steady.mean), <, 1e-3);
    litho_cube_unref(truth);
}

// --- what is found -------------------------------------------------------------------------------

// Property: each kind is found as what it is, its frequency to 0.02 of a bin.
static void test_found(void)
{
    static const PatchKind events[] = {PATCH_CURVED, PATCH_CONFLICT, PATCH_FAULT};
    for (int kind = STEADY_NONE; kind < 3 * STEADY_KINDS; kind++) {
        const SteadyKind of = kind % STEADY_KINDS;
        LithoCube *truth;
        g_autoptr(LithoCube) in =
            cube_of(events[kind / STEADY_KINDS], of, kind % 2 ? 0.1 : 0.5, &truth);
        const LithoSteady s = found_in(in);
        const gboolean hum = of >= STEADY_HUM && of <= STEADY_TWO;
        g_test_message("kind %d: offset %d, drift %d, %d lines, %.5f", of, s.offset, s.drift, s.n,
                       s.line[0]);
        g_assert_cmpint(s.n, ==, hum ? 1 + (of == STEADY_TWO) : 0);
        g_assert_cmpint(s.offset, ==, of >= STEADY_OFFSETS);
        g_assert_cmpint(s.drift, ==, of == STEADY_DRIFTS);
        for (int k = 0; k < s.n; k++)
            g_assert_cmpfloat(fmin(fabs(s.line[k] - 0.2), fabs(s.line[k] - 0.0668)) * N_T, <, 0.02);
        litho_cube_unref(truth);
    }
}

// Volumes that hold no steady noise although their samples have means, last, or are short.
typedef enum {
    VELOCITY,
    LAYERS,
    ENVELOPE,
    SINE,
    DIPPING,
    SWEEP,
    WALK,
    SLOW,
    SHORT,
    VOLUMES
} Volume;

static LithoCube *volume_of(Volume kind)
{
    LithoCube *cube = patch_cube(PATCH_CURVED, N, N, kind == SHORT ? 32 : N_T);
    const gint64 n = cube->grid.axis[2].n;
    for (gint64 k = 0; k < litho_cube_held_samples(cube); k++) {
        const double i = (double)(k / n / N), j = (double)(k / n % N), t = (double)(k % n);
        float *x = &cube->samples[k];
        const double noise = 0.1 * litho_hash_normal(4, 5, k);
        if (kind == VELOCITY)
            *x = (float)(2000 + 8 * t + 100 * sin(0.2 * i) * cos(0.15 * j) + 20 * *x);
        else if (kind == LAYERS) // impedances less their mean
            *x = (float)(3 * sin(0.2 * i) * cos(0.3 * j) + 0.01 * (t - 96) + *x);
        else if (kind == ENVELOPE)
            *x = fabsf(*x) + 1;
        else if (kind == SINE)
            *x = (float)(sin(0.9 * t) + noise);
        else if (kind == DIPPING)
            *x = (float)(sin(0.9 * t - 0.4 * j + 0.3 * i) + 10 * noise);
        else if (kind == SWEEP)
            *x = (float)(cos(0.1 * t + 0.004 * t * t) + noise);
        else if (kind == WALK)
            *x = (float)((t > 0 ? x[-1] : 0) + noise);
        else if (kind == SLOW) // layers that dip by less than a cycle along a trace
            *x = (float)sin((0.5 + 0.8 * t / N_T) * 12 * sin(0.11 * i + 0.3) * cos(0.17 * j));
    }
    litho_cube_touch(cube);
    return cube;
}

// Property: where there is none nothing is found, in all generated surveys from -5 to 40 dB and in
// volumes that are no records, and the filter's samples are those of steady=off to the bit.
static void test_none(void)
{
    static const char *const kinds[] = {"survey", "mix", "planes", "curved", "conflict", "fault"};
    for (guint k = 0; k < 4 * G_N_ELEMENTS(kinds); k++) {
        g_autofree char *words =
            g_strdup_printf("inlines=24 xlines=24 samples=160 seed=%u snr=%d missing=%d", 5 + k,
                            (int)(k / 6) * 15 - 5, k % 2 ? 20 : 0);
        Cubes c = quality_make(kinds[k % G_N_ELEMENTS(kinds)], words);
        const LithoSteady s[] = {found_in(c.noisy), found_in(c.truth)};
        g_assert_true(litho_steady_is_none(&s[0]) && litho_steady_is_none(&s[1]));
        cubes_clear(&c);
    }
    for (Volume kind = 0; kind < VOLUMES; kind++) {
        g_autoptr(LithoCube) cube = volume_of(kind);
        const LithoSteady s = found_in(cube);
        g_test_message("volume %d: %d %d %d", (int)kind, s.offset, s.drift, s.n);
        g_assert_true(litho_steady_is_none(&s));
    }
    LithoCube *truth;
    g_autoptr(LithoCube) in = cube_of(PATCH_CURVED, STEADY_NONE, 0.3, &truth);
    g_autoptr(LithoCube) on = run("fx", "", in), off = run("fx", "steady=off", in);
    g_assert_true(same_bits(on, off));
    litho_cube_unref(truth);
}

// --- what is gained ------------------------------------------------------------------------------

// Property: the output has the SNR that it has without the noise, to 0.5 dB; as they are, traces
// with it lose 3 dB and more (drifts, which a filter passes in part, 1 dB). A line in the band of
// events that fill all of a trace takes a part of them with it: 16.7 Hz leave six
// tenths of the loss.
static void test_gained(void)
{
    static const struct {
        const char *key;
        PatchKind events;
        SteadyKind kind;
    } rows[] = {
        {"fx", PATCH_CURVED, STEADY_HUM},
        {"fx", PATCH_CONFLICT, STEADY_GROUPS},
        {"fx", PATCH_CURVED, STEADY_FEW},
        {"fx", PATCH_FAULT, STEADY_CROSSTALK},
        {"fx", PATCH_CONFLICT, STEADY_TWO},
        {"fx", PATCH_FAULT, STEADY_OFFSETS},
        {"fx", PATCH_CURVED, STEADY_SOME},
        {"fx", PATCH_CONFLICT, STEADY_DRIFTS},
        {"patch", PATCH_CONFLICT, STEADY_HUM},
        {"patch", PATCH_CURVED, STEADY_OFFSETS},
        {"wavepacket", PATCH_CURVED, STEADY_GROUPS},
        {"wavepacket", PATCH_CONFLICT, STEADY_SOME},
    };
    for (guint k = 0; k < G_N_ELEMENTS(rows); k++) {
        LithoCube *truth, *again;
        g_autoptr(LithoCube) clean = cube_of(rows[k].events, STEADY_NONE, 0.3, &truth);
        g_autoptr(LithoCube) in = cube_of(rows[k].events, rows[k].kind, 0.3, &again);
        // Few loud traces can pass for bursts, which are filtered as gaps.
        const gboolean few = rows[k].kind == STEADY_FEW;
        const char *how = few ? "erratic=0" : "";
        g_autoptr(LithoCube) best = run(rows[k].key, how, clean), on = run(rows[k].key, how, in);
        g_autoptr(LithoCube) off =
            run(rows[k].key, few ? "erratic=0 steady=off" : "steady=off", in);
        const double without = patch_snr(best, truth, NULL), with = patch_snr(on, truth, NULL);
        const double as_is = patch_snr(off, truth, NULL);
        g_test_message("%s %d %d: %.2f dB without, %.2f, %.2f as they are", rows[k].key,
                       rows[k].events, rows[k].kind, without, with, as_is);
        if (rows[k].kind == STEADY_TWO)
            g_assert_cmpfloat(with, >, fmax(as_is + 4.2, without - 6.9));
        else
            g_assert_cmpfloat(with, >, without - 0.5);
        g_assert_cmpfloat(as_is, <, without - (rows[k].kind == STEADY_DRIFTS ? 1 : 3));
        litho_cube_unref(truth);
        litho_cube_unref(again);
    }
}

// --- parts and recipes ---------------------------------------------------------------------------

// A step's numbers as the pass before a run in regions finds them.
static LithoMeasured *measured_on(const char *key, const LithoCube *in)
{
    const LithoSteady steady = found_in(in);
    const LithoOperator *op = litho_operator_find(key);
    g_autoptr(LithoFlow) flow = quality_flow(op, "");
    g_autoptr(LithoCube) less = litho_qc_steady_without(in, &steady, NULL, NULL, NULL);
    const LithoReader reader = {.grid = &in->grid, .read = read_part, .data = less};
    g_autoptr(LithoMeasured) own =
        op->measure(litho_flow_step(flow, 0)->params, &reader, NULL, NULL);
    g_autofree char *text = litho_steady_text(&steady, 0.004);
    return litho_measured_with_steady(own, litho_measured_key(own), text, &steady, sizeof steady);
}

// Property: a region by numbers that were measured before has the bits of the whole, and its input
// is whole traces.
static void test_parts(void)
{
    static const char *const keys[] = {"fx", "patch"};
    static const SteadyKind kinds[] = {STEADY_GROUPS, STEADY_OFFSETS};
    const LithoBox region = {{5, 9, 60}, {9, 20, 110}};
    for (int k = 0; k < 4; k++) {
        const char *key = keys[k % 2];
        LithoCube *truth;
        g_autoptr(LithoCube) in = cube_of(PATCH_CONFLICT, kinds[k / 2], 0.3, &truth);
        g_autoptr(LithoMeasured) measured = measured_on(key, in);
        g_autoptr(LithoFlow) flow = quality_flow(litho_operator_find(key), "");
        litho_flow_step(flow, 0)->measured = litho_measured_ref(measured);
        LithoBox need;
        g_assert_true(litho_walk_input_box(flow, &in->grid, region, NULL, &need, NULL));
        g_assert_cmpint(litho_box_size(need, 2), ==, N_T);
        g_autoptr(LithoCube) part = litho_cube_copy_box(in, need, NULL);
        g_autoptr(LithoCube) of_part = run_part(key, "", part, measured, &region);
        g_autoptr(LithoCube) whole = run_part(key, "", in, measured, NULL);
        g_autoptr(LithoCube) own = run(key, "", in);
        for (gint64 i = region.lo[0]; i < region.hi[0]; i++)
            for (gint64 j = region.lo[1]; j < region.hi[1]; j++)
                for (gint64 t = region.lo[2]; t < region.hi[2]; t++) {
                    const float x = litho_cube_trace(whole, i, j)[t];
                    g_assert_cmpfloat(litho_cube_trace(of_part, i, j)[t - of_part->held.lo[2]], ==,
                                      x);
                    g_assert_cmpfloat(litho_cube_trace(own, i, j)[t], ==, x);
                }
        litho_cube_unref(truth);
    }
}

// Property: a recipe keeps the numbers, and one whose numbers make no sense has none. Where steady
// noise stays the numbers are others; where none is found the key is that of before.
static void test_recipe(void)
{
    LithoCube *truth;
    g_autoptr(LithoCube) in = cube_of(PATCH_CURVED, STEADY_TWO, 0.3, &truth);
    g_autoptr(LithoMeasured) measured = measured_on("fx", in);
    g_autoptr(LithoFlow) flow = quality_flow(litho_operator_find("fx"), "");
    litho_flow_step(flow, 0)->measured = litho_measured_ref(measured);
    g_autofree char *text = litho_flow_print(flow);
    g_autoptr(LithoFlow) read = litho_flow_parse(text, NULL);
    g_autofree char *again = litho_flow_print(read);
    g_assert_cmpstr(text, ==, again);
    LithoSteady s = litho_steady_of(litho_step_measured(litho_flow_step(read, 0), NULL));
    g_assert_cmpint(s.n, ==, 2);
    g_assert_nonnull(strstr(litho_measured_text(measured), "hum of"));
    s.line[1] = NAN;
    g_autoptr(LithoMeasured) broken = litho_measured_with_steady(measured, "a", "b", &s, sizeof s);
    g_assert_false(litho_steady_stands_in(broken));
    g_autoptr(LithoMeasured) cut = litho_measured_with_steady(measured, "a", "b", &s, 20);
    g_assert_false(litho_steady_stands_in(cut));
    const LithoOperator *op = litho_operator_find("fx");
    g_autoptr(LithoFlow) off = quality_flow(op, "steady=off");
    g_autofree char *own = op->measure_key(litho_flow_step(flow, 0)->params);
    g_autofree char *key = litho_operator_measure_key(op, litho_flow_step(flow, 0)->params);
    g_autofree char *other = litho_operator_measure_key(op, litho_flow_step(off, 0)->params);
    g_assert_cmpstr(own, ==, key);
    g_assert_cmpstr(own, !=, other);
    litho_cube_unref(truth);
}

// --- what is told --------------------------------------------------------------------------------

// Property: the SNR that is told is right, what is removed and gained is told against the input as
// it was recorded, and nothing is told of a flow that leaves the noise.
static void test_judged(void)
{
    static const SteadyKind kinds[] = {STEADY_HUM, STEADY_OFFSETS};
    for (int k = 0; k < 2; k++) {
        LithoCube *truth;
        g_autoptr(LithoCube) in = cube_of(PATCH_CONFLICT, kinds[k], 0.5, &truth);
        g_autoptr(LithoFlow) flow = quality_flow(litho_operator_find("fx"), "");
        g_autoptr(LithoFlow) off = quality_flow(litho_operator_find("fx"), "steady=off");
        g_autoptr(LithoCube) out = NULL, plain = run("fx", "", in);
        const LithoQuality q = quality_pass(flow, in, truth, &out);
        double removed = 0, energy = 0, noise = 0;
        for (gint64 s = 0; s < N * N * N_T; s++) {
            removed += pow((double)in->samples[s] - out->samples[s], 2);
            energy += pow(in->samples[s], 2);
            noise += pow((double)in->samples[s] - truth->samples[s], 2);
        }
        const double recorded = -10 * log10(noise / (N * N * N_T)); // events of unit energy
        g_test_message("told %.2f, true %.2f; input %.2f, is %.2f; removed %.4f", q.expected_snr_db,
                       q.snr_db, q.input_snr_db, recorded, q.removed);
        g_assert_cmpfloat(fabs(q.expected_snr_db - q.snr_db), <, 1);
        g_assert_cmpfloat(fabs(q.input_snr_db - recorded), <, 0.5);
        g_assert_cmpfloat(fabs(q.gain_db - (q.snr_db - recorded)), <, 0.1);
        g_assert_cmpfloat(fabs(q.expected_gain_db - (q.expected_snr_db - q.input_snr_db)), <, 1e-6);
        g_assert_cmpfloat(fabs(q.removed - removed / energy), <, 1e-4);
        g_assert_cmpfloat(fabs(patch_snr(plain, truth, NULL) - q.snr_db), <, 0.01);
        const LithoQuality left = quality_pass(off, in, truth, NULL);
        g_assert_true(isnan(left.expected_snr_db) && left.is_unsure);
        g_assert_nonnull(strstr(left.why, "offsets or hum"));
        litho_cube_unref(truth);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/steady/fit", test_fit);
    g_test_add_func("/steady/stays", test_stays);
    g_test_add_func("/steady/found", test_found);
    g_test_add_func("/steady/none", test_none);
    test_add_answers("/steady/gained", test_gained);
    g_test_add_func("/steady/parts", test_parts);
    g_test_add_func("/steady/recipe", test_recipe);
    g_test_add_func("/steady/judged", test_judged);
    return g_test_run();
}
