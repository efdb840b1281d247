// SPDX-License-Identifier: GPL-3.0-or-later
//
// Wave packets of traces whose gains, polarity or noise differ from trace to trace: they are made
// of traces over their gains. Where nothing differs no bit changes; slices, segments and regions
// have the samples of the whole.
#include "kernels/kernels.h"
#include "kernels/wavepacket/apply.h"
#include "tests/patch_cubes.h"
#include "tests/wavepacket-balance.h"

enum { N = 48, N_T = 96 };

static LithoCube *filtered(const LithoCube *in, const char *settings)
{
    Bench b = bench();
    g_autoptr(GError) error = NULL;
    if (!litho_operator_settings(&litho_operator_wavepacket, b.p, settings, &error))
        g_error("%s", error->message);
    LithoCube *out = apply(&b, in);
    clear(&b);
    return out;
}

static void assert_same(const LithoCube *a, const LithoCube *b)
{
    const gsize bytes = sizeof(float) * litho_box_count(b->held);
    g_assert_cmpmem(a->samples, bytes, b->samples, bytes);
}

// Property: gains, turned and noisy traces cost most of what packets gain without a look at them:
// bounds are 1 dB below what was measured.
static void test_gain(void)
{
    static const struct {
        PatchKind kind;
        Traces traces;
        double level, gained;
    } rows[] = {
        {PATCH_PLANES, SCATTERED, 0.1, 15.6}, {PATCH_PLANES, REVERSED, 0.1, 17},
        {PATCH_PLANES, NOISIER, 0.1, 4.1},    {PATCH_CURVED, SCATTERED, 1, 2.7},
        {PATCH_CURVED, REVERSED, 1, 2},       {PATCH_FAULT, SCATTERED, 0.1, 13.7},
        {PATCH_FAULT, REVERSED, 0.1, 13.4},
    };
    for (guint k = 0; k < G_N_ELEMENTS(rows); k++) {
        g_autoptr(LithoCube) truth = patch_cube(rows[k].kind, N, N, N_T);
        g_autoptr(LithoCube) in = make_uneven(truth, rows[k].traces, rows[k].level);
        g_autoptr(LithoCube) on = filtered(in, ""), off = filtered(in, "balance=off");
        const double with = patch_snr(on, truth, NULL), without = patch_snr(off, truth, NULL);
        g_test_message("row %u: %.2f dB, %.2f as they are", k, with, without);
        g_assert_cmpfloat(with, >, without + rows[k].gained);
    }
}

static LithoMeasured *measured_on(LithoCube *in, const char *settings, guint64 bytes)
{
    Bench b = bench();
    const LithoReader reader = {.grid = &in->grid, .read = read_part, .data = in, .bytes = bytes};
    g_autoptr(GError) error = NULL;
    g_assert_true(litho_operator_settings(&litho_operator_wavepacket, b.p, settings, &error));
    LithoMeasured *measured = wp_measure(b.p, &reader, NULL, &error);
    g_assert_no_error(error);
    clear(&b);
    return measured;
}

// Property: where nothing differs from trace to trace no bit changes, and neither do the numbers of
// the recipe, nor their key of before.
static void test_alike(void)
{
    static const PatchKind kinds[] = {PATCH_PLANES, PATCH_CURVED, PATCH_FAULT};
    for (guint k = 0; k < 2 * G_N_ELEMENTS(kinds); k++) {
        g_autoptr(LithoCube) truth = patch_cube(kinds[k % 3], N, N, N_T);
        g_autoptr(LithoCube) in = make_uneven(truth, ALIKE, k < 3 ? 0.1 : 1);
        g_autoptr(LithoCube) on = filtered(in, ""), off = filtered(in, "balance=off");
        assert_same(on, off);
        g_autoptr(LithoMeasured) measured = measured_on(in, "", 0);
        g_autoptr(LithoMeasured) before = measured_on(in, "balance=off", 0);
        gsize n[2];
        gconstpointer bytes[2] = {litho_measured_bytes(measured, &n[0]),
                                  litho_measured_bytes(before, &n[1])};
        g_assert_cmpmem(bytes[0], n[0], bytes[1], n[1]);
        g_assert_cmpstr(litho_measured_key(measured), ==, "noise level by frequency, bursts 4");
    }
}

// Muted down to a slanted line, with dead traces, and a hole in which one trace stands alone.
static void spoil(LithoCube *cube, gboolean alone)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            memset(litho_cube_trace(cube, i, j), 0, (size_t)(i / 3) * sizeof(float));
            if (abs(i - 24) < 8 && abs(j - 24) < 8 && (!alone || i != 24 || j != 24))
                cube->live[i * N + j] = 0;
            if ((i * N + j) % 61 == 7)
                cube->live[i * N + j] = 0;
        }
    litho_cube_touch(cube);
}

// Property: turned traces are turned for the filter and back again: the samples are those of the
// survey as it was, turned, to the bit; slices that come first, too, and the whole behind them. A
// trace that stands alone stays as it is, as do its bits where gains scatter.
static void test_turned(void)
{
    static const char *const settings[] = {"", "block=32", "rule=soft corrections=1"};
    for (guint k = 0; k < 2 * G_N_ELEMENTS(settings); k++) {
        const char *words = settings[k / 2];
        g_autoptr(LithoCube) truth = patch_cube(PATCH_PLANES, N, N, N_T);
        g_autoptr(LithoCube) in = make_uneven(truth, ALIKE, 0.1);
        spoil(in, k % 2);
        g_autoptr(LithoCube) expected = filtered(in, words);
        g_autoptr(LithoCube) turned = litho_cube_copy_box(in, in->held, NULL);
        for (gint64 s = 0; s < N * N * N_T; s++)
            if (is_turned(s / N_T) && in->live[s / N_T]) {
                turned->samples[s] *= -1;
                expected->samples[s] *= -1;
            }
        g_autoptr(LithoCube) out = filtered(turned, words);
        for (gint64 s = 0; s < N * N * N_T; s++)
            g_assert_cmpfloat(out->samples[s], ==, expected->samples[s]);
    }
    g_autoptr(LithoCube) truth = patch_cube(PATCH_PLANES, N, N, N_T);
    g_autoptr(LithoCube) in = make_uneven(truth, SCATTERED, 0.1);
    spoil(in, TRUE);
    g_autoptr(LithoCube) out = filtered(in, "");
    const gsize bytes = N_T * sizeof(float);
    g_assert_cmpmem(litho_cube_trace(out, 24, 24), bytes, litho_cube_trace(in, 24, 24), bytes);
}

static void test_slices(void)
{
    check_uneven(litho_device_cpu());
}

// Property: by what was measured part by part, and went through the recipe's text, regions of
// segments have the samples of the whole.
static void test_parts(void)
{
    for (Traces traces = SCATTERED; traces <= NOISIER; traces++) {
        static const LithoBox region = {{20, 3, 10}, {33, 40, 50}};
        g_autoptr(GError) error = NULL;
        g_autoptr(LithoCube) truth = patch_cube(PATCH_PLANES, N, N, N_T);
        g_autoptr(LithoCube) in = make_uneven(truth, traces, 0.2);
        g_autoptr(LithoMeasured) found = measured_on(in, "block=32", 1);
        JsonNode *node = litho_measured_to_json(found);
        Bench b = bench();
        LithoStep *step = litho_flow_step(b.flow, 0);
        b.p->block = 32;
        g_autoptr(LithoCube) whole = apply(&b, in);
        step->measured = litho_measured_from_json(node, &error);
        json_node_unref(node);
        g_assert_no_error(error);
        g_assert_nonnull(litho_step_measured(step, NULL));
        g_autoptr(LithoCube) part = litho_engine_run(b.engine, b.flow, in, &region, &b.run, &error);
        g_assert_no_error(error);
        g_autoptr(LithoCube) same = litho_cube_copy_box(whole, region, NULL);
        g_autoptr(LithoCube) cut = litho_cube_copy_box(part, region, NULL);
        assert_same(cut, same);
        clear(&b);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/wavepacket-balance/gain", test_gain);
    g_test_add_func("/wavepacket-balance/alike", test_alike);
    g_test_add_func("/wavepacket-balance/turned", test_turned);
    g_test_add_func("/wavepacket-balance/slices", test_slices);
    g_test_add_func("/wavepacket-balance/parts", test_parts);
    return g_test_run();
}
