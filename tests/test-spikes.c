// SPDX-License-Identifier: GPL-3.0-or-later
//
// Spikes: which samples are found and which are spared, their values afterwards, and the result of
// every operator that looks for them.
#include <math.h>
#include <string.h>

#include "core/engine/engine.h"
#include "core/synth/synth_parts.h"
#include "kernels/common/erratic.h"
#include "kernels/common/spikes.h"
#include "kernels/kernels.h"
#include "tests/patch_common.h"

enum { N0 = 24, N1 = 27, NT = 200 };

static const PatchKind kinds[] = {PATCH_PLANES, PATCH_CURVED, PATCH_CONFLICT, PATCH_FAULT};

static LithoCube *noisy(PatchKind kind, double sigma, guint32 seed, LithoCube **truth)
{
    *truth = patch_cube(kind, N0, N1, NT);
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, N0, N1, NT, sigma, seed);
    return patch_sum(*truth, noise);
}

// `share` of the samples, which a hash picks, are off by `amplitude` times the cube's RMS.
static gint64 add_spikes(LithoCube *cube, double share, double amplitude)
{
    double sum = 0;
    gint64 n = 0;
    for (gint64 k = 0; k < litho_grid_samples(&cube->grid); k++)
        sum += (double)cube->samples[k] * cube->samples[k];
    const double by = amplitude * sqrt(sum / (double)litho_grid_samples(&cube->grid));
    for (gint64 k = 0; k < litho_grid_samples(&cube->grid); k++)
        if (litho_hash_uniform(11, 1, k) < share) {
            cube->samples[k] += (float)(litho_hash_uniform(11, 2, k) < 0.5 ? by : -by);
            n++;
        }
    return n;
}

static LithoCleanRule rule_of(double above)
{
    return (LithoCleanRule){.above = above, .missing = LITHO_CLEAN_ABSENT, .spare_events = TRUE};
}

// Marks of a cube's spikes, [trace][piece]. g_free().
static guint16 *find_in(const LithoCube *in)
{
    const gint64 traces = litho_grid_traces(&in->grid), nt = in->grid.axis[2].n;
    const gint64 pieces = (nt - 1) / LITHO_SPIKE_PIECE + 1;
    guint16 *at = g_new0(guint16, (gsize)(traces * pieces));
    const LithoSpikes s = {in, 0, pieces, 4, at};
    for (gint64 k = 0; k < traces; k++)
        litho_spikes_find(&s, k);
    return at;
}

static gboolean has_mark(const guint16 *at, gint64 k)
{
    enum { PIECES = (NT - 1) / LITHO_SPIKE_PIECE + 1 };
    return at[k / NT * PIECES + k % NT / LITHO_SPIKE_PIECE] >> k % NT % LITHO_SPIKE_PIECE & 1;
}

// Property: of spikes on every two hundredth sample, 20 times the amplitude of cubes of four kinds
// in noise of 0, 10 and 20 dB, 97 % are found (those at the ends of traces and in crowds are left
// to the search by pieces, which finds them), no sample without one is marked, and the values put
// in their place are off by no more than 1.5 times the noise and a tenth of the events (rms).
static void test_found(void)
{
    for (guint c = 0; c < 3 * G_N_ELEMENTS(kinds); c++) {
        const double sigma = pow(10, -0.5 * (c % 3));
        g_autoptr(LithoCube) truth = NULL;
        g_autoptr(LithoCube) clean = noisy(kinds[c / 3], sigma, 5, &truth);
        g_autoptr(LithoCube) in = litho_cube_copy_box(clean, clean->held, NULL);
        const gint64 spikes = add_spikes(in, 0.005, 20);
        g_autofree guint16 *at = find_in(in);
        LithoClean found = {0};
        const LithoCube *out = litho_clean(&found, rule_of(4), in, NULL, NULL);
        gint64 marked = 0, wrong = 0, left = 0;
        double off = 0;
        for (gint64 k = 0; k < litho_grid_samples(&in->grid); k++) {
            const gboolean spike = in->samples[k] != clean->samples[k];
            const double d = (double)out->samples[k] - truth->samples[k];
            marked += has_mark(at, k);
            wrong += !spike && has_mark(at, k);
            left += spike && out->samples[k] == in->samples[k];
            off += spike ? d * d / (double)spikes : 0;
        }
        g_test_message("kind %u, noise %.2f: %d spikes, %d found, %d others, %d left, off by %.3f",
                       kinds[c / 3], sigma, (int)spikes, (int)marked, (int)wrong, (int)left,
                       sqrt(off));
        g_assert_cmpint(100 * marked, >, 95 * spikes);
        g_assert_cmpint(200 * wrong, <=, spikes);
        g_assert_cmpint(left, ==, 0);
        g_assert_cmpfloat(sqrt(off), <, 1.5 * sigma + 0.1);
        g_assert_cmpint(found.spikes, ==, marked);
        litho_clean_clear(&found);
    }
}

// Property: nothing is found in cubes without spikes: four kinds in noise of 0 to 60 dB, traces of
// uneven amplitudes, a mute along every trace, a wavelet of ten samples on a single trace.
static void test_none(void)
{
    for (guint c = 0; c < 4 * G_N_ELEMENTS(kinds); c++) {
        g_autoptr(LithoCube) truth = NULL;
        g_autoptr(LithoCube) in = noisy(kinds[c / 4], pow(10, -1.0 * (c % 4)), 6, &truth);
        for (gint64 k = 0; k < N0 * N1; k++) {
            const double gain = 1 + 0.3 * litho_hash_normal(11, 3, k);
            for (gint64 t = 0; t < NT; t++)
                in->samples[k * NT + t] *= (float)(t < 10 + k % 13 ? 0 : gain);
        }
        for (gint64 t = 100; c % 2 && t < 140; t++) {
            const double u = (double)(t - 120) / 4;
            in->samples[(7 * N1 + 9) * NT + t] += (float)(20 * (1 - u * u) * exp(-u * u / 2));
        }
        g_autofree guint16 *at = find_in(in);
        gint64 found = 0;
        for (gint64 k = 0; k < litho_grid_samples(&in->grid); k++)
            found += has_mark(at, k);
        g_test_message("kind %u, noise %d dB below: %d", kinds[c / 4], 20 * (int)(c % 4),
                       (int)found);
        g_assert_cmpint(found, ==, 0);
    }
}

// Property: a burst of ten samples and more is no row of spikes: it stays whole for the search by
// pieces, which replaces all of it.
static void test_bursts_stay(void)
{
    g_autoptr(LithoCube) truth = NULL;
    g_autoptr(LithoCube) in = noisy(PATCH_CURVED, 0.3, 7, &truth);
    for (gint64 k = 11; k < N0 * N1; k += 53)
        for (gint64 t = 60 + k % 40; t < 60 + k % 40 + 10 + k % 20; t++)
            in->samples[k * NT + t] += (float)(20 * litho_hash_normal(11, 4, k * NT + t));
    LithoClean found = {0};
    const LithoCube *out = litho_clean(&found, rule_of(4), in, NULL, NULL);
    double most = 0;
    for (gint64 k = 11; k < N0 * N1; k += 53)
        for (gint64 t = 60 + k % 40; t < 60 + k % 40 + 10 + k % 20; t++)
            most = MAX(most, fabs((double)out->samples[k * NT + t] - truth->samples[k * NT + t]));
    g_test_message("%d spikes, %d pieces, most %.2f", (int)found.spikes, (int)found.pieces, most);
    g_assert_cmpint(found.spikes, ==, 0);
    g_assert_cmpfloat(most, <, 3);
    litho_clean_clear(&found);
}

// Property: two spikes one beside the other and two with a sample between them are found, and the
// cubic takes the samples around both: on a parabola, on which it is exact, nothing is left of
// them.
static void test_pairs(void)
{
    g_autoptr(LithoCube) in = patch_cube(PATCH_PLANES, 5, 5, 64);
    for (gint64 k = 0; k < 25 * 64; k++) {
        const double u = (double)(k % 64) - 30.5;
        in->samples[k] = (float)(1 + 0.01 * u * u + 1e-3 * litho_hash_normal(11, 5, k));
    }
    g_autoptr(LithoCube) spoilt = litho_cube_copy_box(in, in->held, NULL);
    const gint64 at[] = {12 * 64 + 20, 12 * 64 + 21, 21 * 64 + 40, 21 * 64 + 42, 3 * 64 + 2};
    for (guint k = 0; k < G_N_ELEMENTS(at); k++)
        spoilt->samples[at[k]] += k == 1 ? -50 : 60;
    LithoClean found = {0};
    const LithoCube *out = litho_clean(&found, rule_of(4), spoilt, NULL, NULL);
    g_assert_cmpint(found.spikes, ==, G_N_ELEMENTS(at));
    g_assert_cmpint(found.traces, ==, 3);
    for (gint64 k = 0; k < 25 * 64; k++)
        g_assert_cmpfloat_with_epsilon(out->samples[k], in->samples[k], 1e-2);
    litho_clean_clear(&found);
}

// Property: a region, from an input that holds no more than it needs, gets the bits of the whole.
static void test_regions(void)
{
    const LithoBox regions[] = {
        {{0, 0, 0}, {3, N1, 20}}, {{9, 8, 90}, {12, 14, 100}}, {{20, 25, 150}, {N0, N1, NT}}};
    g_autoptr(LithoCube) truth = patch_cube(PATCH_CURVED, 64, 60, NT);
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, 64, 60, NT, 0.3, 8);
    g_autoptr(LithoCube) in = patch_sum(truth, noise);
    add_spikes(in, 0.01, 20);
    LithoClean whole = {0};
    const LithoCube *all = litho_clean(&whole, rule_of(4), in, NULL, NULL);
    for (guint r = 0; r < G_N_ELEMENTS(regions); r++) {
        const LithoBox need = litho_clean_box(&in->grid, rule_of(4), regions[r]);
        g_autoptr(LithoCube) held = litho_cube_copy_box(in, need, NULL);
        LithoClean part = {0};
        const LithoCube *got = litho_clean(&part, rule_of(4), held, NULL, NULL);
        g_autoptr(LithoCube) expected = litho_cube_copy_box(all, regions[r], NULL);
        g_autoptr(LithoCube) cut = litho_cube_copy_box(got, regions[r], NULL);
        g_assert_cmpmem(expected->samples, sizeof(float) * litho_box_count(regions[r]),
                        cut->samples, sizeof(float) * litho_box_count(regions[r]));
        litho_clean_clear(&part);
    }
    g_assert_cmpint(whole.spikes, >, 0);
    litho_clean_clear(&whole);
}

static LithoCube *run_flow(const char *text, const LithoCube *in)
{
    LithoDevice cpu;
    g_assert_true(litho_device_parse("cpu", &cpu, NULL));
    LithoEngine *engine = litho_engine_new(cpu);
    g_autoptr(LithoFlow) flow = litho_flow_new();
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    const LithoOperator *op = litho_operator_find(words[0]);
    LithoStep *step = litho_flow_step(flow, litho_flow_append(flow, op));
    for (char **word = words + 1; *word; word++)
        g_assert_true(litho_operator_set(op, step->params, *word, NULL));
    g_autoptr(GError) error = NULL;
    LithoCube *out = litho_engine_run(engine, flow, in, NULL, &(LithoRun){0}, &error);
    g_assert_no_error(error);
    litho_engine_free(engine);
    return out;
}

// Property: spikes on every two hundredth sample cost each operator less than 0.3 dB at 10 dB; by
// pieces alone they cost 7 to 13.
static void test_operators(void)
{
    const char *const flows[] = {"patch faults=off", "fx", "wavepacket scales=2"};
    g_autoptr(LithoCube) truth = patch_cube(PATCH_CURVED, 40, 40, 160);
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, 40, 40, 160, 0.316, 9);
    g_autoptr(LithoCube) in = patch_sum(truth, noise);
    g_autoptr(LithoCube) spoilt = litho_cube_copy_box(in, in->held, NULL);
    add_spikes(spoilt, 0.005, 20);
    for (guint f = 0; f < G_N_ELEMENTS(flows); f++) {
        g_autoptr(LithoCube) without = run_flow(flows[f], in);
        g_autoptr(LithoCube) with = run_flow(flows[f], spoilt);
        const double best = patch_snr(without, truth, NULL), got = patch_snr(with, truth, NULL);
        g_test_message("%s: %.2f dB, with spikes %.2f", flows[f], best, got);
        g_assert_cmpfloat(got, >, best - 0.3);
    }
}

// Samples that trace k of a mute has: each its own number of them, or lines of traces one.
static gint64 live_samples(gint64 k, gboolean lines)
{
    return NT - (gint64)(0.6 * NT * litho_hash_uniform(11, 7, lines ? k / N1 : k));
}

// Property: traces that end where others go on have no bursts by that, and those that they have are
// found: the step at its end stood out of a trace as a burst does, its last piece of a few samples
// passed for a weak neighbour, and folded layers of 20 dB lost 3 to 8 dB by guesses.
static void test_ends(void)
{
    for (guint c = 0; c < 4 * G_N_ELEMENTS(kinds); c++) {
        g_autoptr(LithoCube) truth = NULL;
        g_autoptr(LithoCube) in = noisy(kinds[c / 4], c % 2 ? 0.1 : 0.01, 6, &truth);
        LithoClean found = {0};
        for (gint64 k = 0; k < N0 * N1; k++) {
            const gint64 n = live_samples(k, c % 4 < 2);
            memset(in->samples + k * NT + n, 0, (gsize)(NT - n) * sizeof *in->samples);
        }
        litho_clean(&found, rule_of(4), in, NULL, NULL);
        g_test_message("kind %u, %u: %d pieces, %d spikes", kinds[c / 4], c % 4, (int)found.pieces,
                       (int)found.spikes);
        g_assert_cmpint(found.pieces + found.spikes, ==, 0);
        litho_clean_clear(&found);
        for (gint64 k = 40; k < N0 * N1; k += 91)
            for (gint64 t = 20; t < 60; t++)
                in->samples[k * NT + t] += (float)(20 * litho_hash_normal(11, 8, k * NT + t));
        g_autoptr(LithoCube) spoilt = litho_cube_copy_box(in, in->held, NULL);
        litho_clean(&found, rule_of(4), spoilt, NULL, NULL);
        g_assert_cmpint(found.traces, ==, 7);
        litho_clean_clear(&found);
    }
}

// Property: bursts at a mute that dips are found, and nothing else.
static void test_mute(void)
{
    for (guint c = 0; c < G_N_ELEMENTS(kinds); c++) {
        g_autoptr(LithoCube) truth = NULL;
        g_autoptr(LithoCube) in = noisy(kinds[c], 0.1, 6, &truth);
        LithoClean found = {0};
        int spoilt = 0;
        for (gint64 k = 0; k < N0 * N1; k++) {
            const gint64 mute = 20 + 3 * (k % N1);
            if (k % 91 == 40) {
                for (gint64 t = mute; t < mute + 10; t++)
                    in->samples[k * NT + t] += (float)(20 * litho_hash_normal(11, 8, k * NT + t));
                spoilt++;
            }
            memset(in->samples + k * NT, 0, (gsize)mute * sizeof *in->samples);
        }
        litho_clean(&found, rule_of(4), in, NULL, NULL);
        g_test_message("kind %u: %d of %d traces, %d pieces", kinds[c], (int)found.traces, spoilt,
                       (int)found.pieces);
        g_assert_cmpint(found.traces, ==, spoilt);
        litho_clean_clear(&found);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/spikes/found", test_found);
    g_test_add_func("/spikes/none", test_none);
    g_test_add_func("/spikes/ends", test_ends);
    g_test_add_func("/spikes/mute", test_mute);
    g_test_add_func("/spikes/bursts", test_bursts_stay);
    g_test_add_func("/spikes/pairs", test_pairs);
    g_test_add_func("/spikes/regions", test_regions);
    g_test_add_func("/spikes/operators", test_operators);
    return g_test_run();
}
