// SPDX-License-Identifier: GPL-3.0-or-later
//
// The search for bursts and spikes on a GPU: the host's pieces and guesses in every operator that
// looks for them, whatever part of the survey is held, and no copy of the input on the host.
// Skipped where there is no GPU.
#include <string.h>

#include "core/engine/engine.h"
#include "core/synth/synth_parts.h"
#include "kernels/common/erratic.h"
#include "kernels/common/mute_at.h"
#include "kernels/kernels.h"
#include "tests/patch_common.h"

// Settings that leave the input as it is but for its bursts.
static const char *const as_is = "patch sigma=1e-6 threshold=0.01";

static gboolean no_gpu(void)
{
    if (litho_backend_cuda()->n_devices > 0)
        return FALSE;
    g_test_skip(litho_backend_cuda()->why_not);
    return TRUE;
}

static LithoEngine *engine_on(const char *where)
{
    LithoDevice device;
    g_assert_true(litho_device_parse(where, &device, NULL));
    return litho_engine_new(device);
}

// `flow` is one step, "fx window=12".
static LithoCube *run_flow(LithoEngine *engine, const char *text, const LithoCube *in,
                           const LithoBox *region, LithoReport *report)
{
    g_autoptr(LithoFlow) flow = litho_flow_new();
    g_autoptr(GError) error = NULL;
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    const LithoOperator *op = litho_operator_find(words[0]);
    LithoStep *step = litho_flow_step(flow, litho_flow_append(flow, op));
    for (char **word = words + 1; *word; word++)
        g_assert_true(litho_operator_set(op, step->params, *word, NULL));
    LithoRun run = {.report = report};
    LithoCube *out = litho_engine_run(engine, flow, in, region, &run, &error);
    g_assert_no_error(error);
    return out;
}

// Bursts of 20 times the amplitude and single spikes, on traces that a hash picks; some samples are
// not finite.
static void spoil(LithoCube *cube, double share)
{
    const gint64 nt = cube->grid.axis[2].n;
    for (gint64 k = 0; k < litho_grid_traces(&cube->grid); k++) {
        const double u = litho_hash_uniform(9, 1, k);
        const gint64 length = MIN(60, nt / 2);
        const gint64 t0 = (gint64)(litho_hash_uniform(9, 2, k) * (double)(nt - length));
        for (gint64 t = t0; u < share && t < t0 + length; t++)
            cube->samples[k * nt + t] += (float)(20 * litho_hash_normal(9, 3, k * nt + t));
        if (u > 1 - share)
            cube->samples[k * nt + t0] = 30;
        if (u > 0.5 && u < 0.5 + share)
            cube->samples[k * nt + t0] = NAN;
    }
}

typedef struct Case {
    const char *name;
    gint64 n[3];
    double noise, bursts;
    int missing; // of 100 traces
    gboolean arrival;
    double spikes;   // share of the samples
    gboolean ragged; // traces begin and end at other times
} Case;

static const Case cases[] = {
    {"bursts", {64, 57, 170}, 0.5, 0.02, 0, FALSE},
    {"many bursts, missing traces", {61, 47, 203}, 0.3, 0.06, 20, FALSE},
    {"none", {40, 40, 120}, 1, 0, 10, FALSE},
    {"a line", {1, 150, 300}, 0.3, 0.03, 5, FALSE},
    {"a line of crosslines", {140, 1, 211}, 0.3, 0.03, 5, FALSE},
    {"few traces", {3, 4, 90}, 0.3, 0.1, 0, FALSE},
    {"a direct arrival", {9, 60, 900}, 1e-4, 0.02, 5, TRUE},
    {"a direct arrival on a line", {1, 60, 900}, 1e-4, 0.02, 0, TRUE},
    {"short traces", {40, 33, 17}, 0.3, 0.02, 3, FALSE},
    {"many spikes", {40, 51, 207}, 0.3, 0, 0, FALSE, 0.005},
    {"spikes, bursts, missing traces", {40, 51, 207}, 0.1, 0.02, 10, FALSE, 0.01},
    {"spikes on a line", {1, 160, 300}, 0.3, 0, 0, FALSE, 0.002},
    {"ragged ends", {48, 51, 207}, 0.1, 0, 0, FALSE, 0, TRUE},
    {"ragged ends, bursts, missing traces", {48, 51, 203}, 0.1, 0.03, 10, FALSE, 0.001, TRUE},
    {"ragged ends of a line", {1, 150, 300}, 0.1, 0.02, 5, FALSE, 0, TRUE},
};

// Zeros before a time that differs by up to 40 samples from trace to trace, likewise at the end,
// and some within.
static void make_ragged(LithoCube *cube)
{
    const gint64 nt = cube->grid.axis[2].n;
    for (gint64 k = 0; k < litho_grid_traces(&cube->grid); k++) {
        const gint64 begin = (gint64)(40 * litho_hash_uniform(9, 6, k));
        const gint64 end = nt - (gint64)(40 * litho_hash_uniform(9, 7, k));
        const gint64 gap = nt / 2 + (gint64)(20 * litho_hash_uniform(9, 8, k));
        for (gint64 t = 0; t < nt; t++)
            if (t < begin || t >= end || (k % 3 == 0 && t >= gap && t < gap + 10 + k % 12))
                cube->samples[k * nt + t] = 0;
    }
}

// A wavelet that moves by 30 samples from crossline to crossline.
static void add_arrival(LithoCube *cube)
{
    const gint64 nt = cube->grid.axis[2].n, nx = cube->grid.axis[1].n;
    for (gint64 k = 0; k < litho_grid_samples(&cube->grid); k++) {
        const double t = (double)(k % nt) - 40 - 30.0 * (double)(k / nt % nx);
        cube->samples[k] = (float)(1e-3 * cube->samples[k] + (1 - t * t / 40) * exp(-t * t / 80));
    }
}

static LithoCube *make_cube(const Case *c)
{
    g_autoptr(LithoCube) truth = patch_cube(PATCH_CURVED, c->n[0], c->n[1], c->n[2]);
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, c->n[0], c->n[1], c->n[2], c->noise, 7);
    LithoCube *cube = patch_sum(truth, noise);
    if (c->arrival)
        add_arrival(cube);
    spoil(cube, c->bursts);
    for (gint64 k = 0; k < litho_grid_samples(&cube->grid); k++)
        if (litho_hash_uniform(9, 4, k) < c->spikes)
            cube->samples[k] += litho_hash_uniform(9, 5, k) < 0.5 ? 25 : -25;
    if (c->missing > 0)
        patch_kill(cube, c->missing, 7);
    if (c->ragged)
        make_ragged(cube);
    return cube;
}

static double number(LithoReport *report, const char *key)
{
    double value = NAN;
    g_assert_true(litho_report_get(report, key, &value));
    return value;
}

static double rms_of(const LithoCube *cube)
{
    double sum = 0;
    const gint64 n = litho_cube_held_samples(cube);
    for (gint64 k = 0; k < n; k++)
        if (isfinite(cube->samples[k]))
            sum += (double)cube->samples[k] * cube->samples[k];
    return sqrt(sum / (double)n);
}

// Samples of live traces that are not muted: replaced by the host (`clean`) and left by the device
// (`got`) or the other way round, and those replaced by both further apart than `within`.
static void compare(const LithoCube *in, const LithoCube *clean, const LithoCube *got,
                    double within, gint64 *other, gint64 *replaced, gint64 *far)
{
    const gint64 nt = litho_box_size(in->held, 2);
    *other = *replaced = *far = 0;
    for (gint64 k = 0; k < litho_cube_held_samples(in); k++) {
        const float *trace = in->samples + k / nt * nt;
        if (!in->live[k / nt] || !isfinite(in->samples[k]) || litho_mute_at(trace, nt, k % nt))
            continue; // the flow leaves mutes zero
        const double change = fabs((double)clean->samples[k] - in->samples[k]);
        const double off = fabs((double)got->samples[k] - clean->samples[k]);
        if (change == 0) {
            *other += !(off < 1e-4);
        } else {
            ++*replaced;
            *far += !(off < within);
        }
    }
}

// Property: with nothing filtered away the output is the host's litho_clean(): the same pieces,
// every other sample as it was, and guesses within 3e-6 of the RMS (the rounding of the guesses'
// and the filter's transforms) but for one of a hundred, which a coefficient at its threshold
// decides.
static void test_pieces(void)
{
    if (no_gpu())
        return;
    LithoEngine *gpu = engine_on("cuda");
    const LithoPatchParams p = patch_settings("");
    for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
        g_autoptr(LithoCube) in = make_cube(&cases[c]);
        LithoClean clean = {0};
        LithoReport *report = litho_report_new();
        const LithoCube *expected = litho_clean(&clean, litho_patch_clean_rule(&p), in, NULL, NULL);
        g_assert_nonnull(expected);
        g_autoptr(LithoCube) got = run_flow(gpu, as_is, in, NULL, report);
        g_assert_nonnull(litho_cube_host(got, NULL));
        const double rms = rms_of(expected);
        gint64 other, replaced, far;
        // Bursts are hundreds of times the rest of an arrival: transforms of windows round there.
        compare(in, expected, got, (cases[c].arrival ? 1e-5 : 3e-6) * rms, &other, &replaced, &far);
        const double told = 100.0 * (double)clean.traces / (double)litho_cube_count_live(in);
        g_test_message("%s: %.2f %% of the traces, %.2f on the GPU; %d samples replaced, %d by one "
                       "only, %d further apart",
                       cases[c].name, told, number(report, "erratic"), (int)replaced, (int)other,
                       (int)far);
        g_assert_cmpfloat_with_epsilon(number(report, "erratic"), told, 1e-9);
        g_assert_cmpint(other, ==, 0);
        g_assert_cmpint(100 * far, <=, replaced);
        g_assert_true((cases[c].bursts == 0 && cases[c].spikes == 0) || replaced > 0);
        litho_clean_clear(&clean);
        litho_report_unref(report);
    }
    litho_engine_free(gpu);
}

// Property: F-X and wave packets find on the GPU what they find on the CPU, and give its samples:
// 99 % within 1e-4 of the RMS (F-X) and all to 3e-3 of the RMS (packets). Missing traces
// stay missing.
static void test_operators(void)
{
    const struct {
        const char *flow;
        guint of;
    } runs[] = {{"fx window=12 half_width=2 time_window=64", 0},
                {"fx window=12 half_width=2 time_window=64", 1},
                {"fx window=12 half_width=2 fill_dead=yes time_window=64", 1},
                {"fx erratic=3 window=12 half_width=1", 3},
                {"wavepacket erratic=3 scales=3", 0},
                {"wavepacket", 2},
                {"fx window=12 half_width=1", 9},
                {"patch erratic=3", 1},
                {"patch", 10}};
    if (no_gpu())
        return;
    LithoEngine *cpu = engine_on("cpu"), *gpu = engine_on("cuda");
    for (guint r = 0; r < G_N_ELEMENTS(runs); r++) {
        g_autoptr(LithoCube) in = make_cube(&cases[runs[r].of]);
        for (gint64 k = 0; k < litho_cube_held_samples(in); k++) // packets refuse others
            in->samples[k] = isfinite(in->samples[k]) ? in->samples[k] : 0;
        LithoReport *host = litho_report_new(), *there = litho_report_new();
        g_autoptr(LithoCube) a = run_flow(cpu, runs[r].flow, in, NULL, host);
        g_autoptr(LithoCube) b = run_flow(gpu, runs[r].flow, in, NULL, there);
        g_assert_nonnull(litho_cube_host(b, NULL));
        const double rms = rms_of(a);
        double off = 0;
        gint64 far = 0;
        for (gint64 k = 0; k < litho_cube_held_samples(a); k++) {
            const double d = ((double)a->samples[k] - b->samples[k]) / rms;
            off += d * d / (double)litho_cube_held_samples(a);
            far += fabs(d) > 1e-4;
        }
        g_test_message("%s on %s: %.2f and %.2f %% of the traces, apart by %.1e, %.2f %% further",
                       runs[r].flow, cases[runs[r].of].name, number(host, "erratic"),
                       number(there, "erratic"), sqrt(off),
                       100.0 * (double)far / (double)litho_cube_held_samples(a));
        g_assert_cmpfloat(number(there, "erratic"), ==, number(host, "erratic"));
        g_assert_cmpfloat(sqrt(off), <, 3e-3);
        if (g_str_has_prefix(runs[r].flow, "fx"))
            g_assert_cmpint(100 * far, <, litho_cube_held_samples(a));
        g_assert_cmpmem(a->live, litho_grid_traces(&in->grid), b->live,
                        litho_grid_traces(&in->grid));
        litho_report_unref(host);
        litho_report_unref(there);
    }
    litho_engine_free(cpu);
    litho_engine_free(gpu);
}

// Property: a region from an input that holds no more than it needs, cut at odd places, has the
// bits of the whole.
static void test_regions(void)
{
    const LithoBox regions[] = {{{0, 0, 0}, {9, 47, 64}},
                                {{43, 20, 30}, {52, 21, 31}},
                                {{20, 11, 101}, {33, 30, 160}},
                                {{59, 40, 190}, {61, 47, 203}}};
    const char *const flows[] = {as_is,
                                 "fx window=12 half_width=2 time_window=64 time_overlap=20 "
                                 "shared=off balance=off",
                                 "patch sigma=0.3"};
    if (no_gpu())
        return;
    g_autoptr(LithoCube) in = make_cube(&cases[1]);
    for (guint f = 0; f < G_N_ELEMENTS(flows); f++) {
        LithoEngine *gpu = engine_on("cuda");
        g_autoptr(LithoCube) whole = run_flow(gpu, flows[f], in, NULL, NULL);
        g_assert_nonnull(litho_cube_host(whole, NULL));
        g_autofree char *key = g_strndup(flows[f], strcspn(flows[f], " "));
        const LithoOperator *op = litho_operator_find(key);
        g_auto(GStrv) words = g_strsplit(flows[f], " ", -1);
        g_autofree void *params = g_malloc0(op->params.size);
        litho_param_defaults(&op->params, params);
        for (char **word = words + 1; *word; word++)
            g_assert_true(litho_operator_set(op, params, *word, NULL));
        for (guint r = 0; r < G_N_ELEMENTS(regions); r++) {
            const LithoBox need = op->input_box(&in->grid, params, regions[r]);
            g_autoptr(LithoCube) held = litho_cube_copy_box(in, need, NULL);
            g_autoptr(LithoCube) part = run_flow(gpu, flows[f], held, &regions[r], NULL);
            g_assert_nonnull(litho_cube_host(part, NULL));
            patch_assert_part(whole, part);
        }
        litho_engine_free(gpu);
    }
}

// Property: an input that is on the device stays there: no host copy is made of it, by any operator
// that looks for bursts, and a second pass finds what the first one found.
static void test_stays(void)
{
    const char *const flows[] = {"fx window=12 half_width=2", "patch", "wavepacket"};
    if (no_gpu())
        return;
    LithoEngine *first = engine_on("cuda");
    g_autoptr(LithoCube) in = make_cube(&cases[1]);
    for (gint64 k = 0; k < litho_cube_held_samples(in); k++)
        in->samples[k] = isfinite(in->samples[k]) ? in->samples[k] : 0;
    g_autoptr(LithoCube) there =
        run_flow(first, "patch sigma=1e-6 threshold=0.01 erratic=0", in, NULL, NULL);
    g_assert_null(there->samples);
    for (guint f = 0; f < G_N_ELEMENTS(flows); f++) {
        LithoEngine *gpu = engine_on("cuda");
        LithoReport *once = litho_report_new(), *twice = litho_report_new();
        g_autofree char *other = g_strconcat(flows[f], " erratic=5", NULL);
        g_autoptr(LithoCube) a = run_flow(gpu, flows[f], there, NULL, once);
        g_autoptr(LithoCube) b = run_flow(gpu, other, there, NULL, NULL);
        g_autoptr(LithoCube) c = run_flow(gpu, flows[f], there, NULL, twice);
        g_assert_null(there->samples);
        g_assert_cmpfloat(number(once, "erratic"), >, 3);
        g_assert_cmpfloat(number(once, "erratic"), ==, number(twice, "erratic"));
        g_assert_nonnull(litho_cube_host(a, NULL));
        g_assert_nonnull(litho_cube_host(c, NULL));
        patch_assert_part(a, c);
        litho_report_unref(once);
        litho_report_unref(twice);
        litho_engine_free(gpu);
    }
    litho_engine_free(first);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/erratic-cuda/pieces", test_pieces);
    g_test_add_func("/erratic-cuda/operators", test_operators);
    g_test_add_func("/erratic-cuda/regions", test_regions);
    g_test_add_func("/erratic-cuda/stays", test_stays);
    return g_test_run();
}
