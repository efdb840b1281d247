// SPDX-License-Identifier: GPL-3.0-or-later
//
// The F-X filter on a GPU: the CPU's samples for every parameter, and bit for bit the same whatever
// the region, the pass or what is cached. Skipped where there is no GPU.
#include "tests/fx_cuda.h"
#include "tests/common.h"
#include "tests/patch_cubes.h"

// ||a - b|| over ||b|| in blocks of 8 x 8 traces x 32 samples: the largest, where ||b|| is at least
// a hundredth of the mean. Samples that are not finite must be so in both.
static double worst_block(const LithoCube *a, const LithoCube *b, double mean)
{
    const gint64 n1 = litho_box_size(b->held, 0), n2 = litho_box_size(b->held, 1);
    const gint64 nt = litho_box_size(b->held, 2);
    double worst = 0;
    for (gint64 i = 0; i < n1; i += 8)
        for (gint64 j = 0; j < n2; j += 8)
            for (gint64 t = 0; t < nt; t += 32) {
                double difference = 0, norm = 0;
                gint64 count = 0;
                for (gint64 x = i; x < MIN(i + 8, n1); x++)
                    for (gint64 y = j; y < MIN(j + 8, n2); y++)
                        for (gint64 z = t; z < MIN(t + 32, nt); z++) {
                            gint64 k = (x * n2 + y) * nt + z;
                            g_assert_true(isfinite(a->samples[k]) == isfinite(b->samples[k]));
                            if (!isfinite(b->samples[k]))
                                continue;
                            difference += ((double)a->samples[k] - b->samples[k]) *
                                          ((double)a->samples[k] - b->samples[k]);
                            norm += (double)b->samples[k] * b->samples[k];
                            count++;
                        }
                norm = fmax(norm, 1e-4 * mean * mean * count);
                if (norm > 0)
                    worst = fmax(worst, sqrt(difference / norm));
            }
    return worst;
}

static double finite_rms(const LithoCube *c, const LithoCube *minus)
{
    double sum = 0;
    gint64 n = litho_cube_held_samples(c), used = 0;
    for (gint64 k = 0; k < n; k++) {
        double d = (double)c->samples[k] - (minus ? minus->samples[k] : 0);
        if (!isfinite(d))
            continue;
        sum += d * d;
        used++;
    }
    return used > 0 ? sqrt(sum / used) : 0;
}

typedef struct Case {
    int n1, n2, nt;
    double missing;
    const char *settings;
    double tolerance;
} Case;

// Tolerances: both sides compute in single precision. The normal equations lose what their
// condition number says: 1e-6 at 1 % damping and more, 1e-5 at 0.1 %, and the iterations stop at
// 1e-4, a step earlier or later. Rows for every branch: shapes, reduced blocks, forms, edges,
// solvers, holes, bands.
static const Case cases[] = {
    {60, 60, 300, 0, "", 1e-5},
    {60, 60, 300, 0, "prewhitening=automatic", 1e-5},
    {45, 52, 260, 0.05, "prewhitening=automatic half_width=2", 1e-5},
    {40, 40, 200, 0, "prewhitening=automatic post=1 form=acf", 1e-5},
    {45, 52, 260, 0, "prewhitening=1", 1e-5},
    {45, 52, 260, 0, "prewhitening=0.1", 3e-5},
    {40, 40, 200, 0, "prewhitening=100 post=1", 1e-5},
    {37, 41, 200, 0, "half_width=1", 1e-5},
    {37, 41, 200, 0, "half_width=2 window=14", 1e-5},
    {44, 41, 200, 0, "half_width=4", 1e-5},
    {44, 41, 200, 0, "half_width=5", 2e-5},
    {90, 83, 150, 0, "window=40 half_width=3", 1e-5},
    {70, 75, 150, 0, "window_il=70 window_xl=33 stride=30 half_width=5", 1e-5},
    {40, 40, 200, 0, "outband=mute fmin=8 fmax=60", 1e-5},
    {40, 40, 200, 0, "edge=renorm", 1e-5},
    {40, 40, 200, 0, "edge=zero", 1e-5},
    {40, 40, 200, 0, "form=acf", 1e-5},
    {44, 41, 200, 0, "form=acf half_width=5", 3e-5},
    {5, 60, 200, 0, "form=acf half_width=4 window=40", 3e-5}, // blocks of 5 x 7
    {40, 40, 200, 0, "solver=jacobi prewhitening=100", 3e-4},
    {40, 40, 200, 0, "time_window=100 fft_length=135 time_overlap=40", 1e-5},
    {40, 40, 200, 0, "time_window=200", 1e-5},
    {40, 40, 90, 0, "", 1e-5},
    {40, 41, 330, 0, "time_window=40 time_overlap=20", 1e-5},
    {40, 41, 330, 0.05, "time_window=40 time_overlap=20", 1e-5},
    {40, 41, 331, 0.05, "time_window=40 time_overlap=20 fill_passes=0 fmin=9 outband=mute", 1e-5},
    {40, 40, 200, 0, "time_window=40 time_overlap=10 fft_length=40", 1e-5},
    {40, 40, 200, 0, "time_window=40 time_overlap=30 fft_length=48", 1e-5},
    {40, 40, 200, 0, "time_window=40 time_overlap=20 fft_length=54", 1e-5},
    {40, 40, 200, 0, "time_window=41 time_overlap=20 fft_length=60 fmin=8 fmax=60", 1e-5},
    {40, 40, 200, 0, "time_window=80 time_overlap=40 fft_length=80", 1e-5},
    {40, 40, 200, 0, "time_window=80 time_overlap=40 fft_length=96", 1e-5},
    {40, 40, 200, 0, "time_window=80 time_overlap=40 fft_length=120", 1e-5},
    {40, 40, 300, 0, "time_window=160 time_overlap=80 fft_length=160", 1e-5},
    {40, 40, 300, 0, "time_window=160 time_overlap=80 fft_length=192", 1e-5},
    {40, 40, 300, 0, "time_window=160 time_overlap=80 fft_length=240", 1e-5},
    {30, 30, 400, 0, "time_window=200 time_overlap=80 fft_length=320", 1e-5},
    {30, 30, 400, 0, "time_window=200 time_overlap=80 fft_length=384", 1e-5},
    {30, 30, 700, 0, "time_window=600 time_overlap=200", 1e-5},
    {30, 30, 500, 0.05, "time_window=300 fft_length=2048", 1e-5},
    {30, 33, 150, 0, "window=12 stride=1 half_width=2", 1e-5},
    {40, 40, 200, 0.05, "", 1e-5},
    {40, 40, 200, 0.05, "fill_dead=1 outband=mute", 1e-5},
    {40, 40, 200, 0.15, "fill_passes=5 edge=renorm", 1e-5},
    {40, 40, 200, 0.05, "fill_passes=0", 1e-5},
    {40, 40, 200, 0.10, "edge=zero post=1", 1e-5},
    {40, 40, 200, 0.6, "", 3e-5},
    {40, 40, 200, EVERY_SECOND, "", 3e-5},
    {39, 40, 200, EVERY_SECOND, "post=1", 3e-5},
    {40, 40, 200, 0.9, "fill_dead=1", 3e-3}, // 28 thresholds a guess, one coefficient at its own
    // No frequency lies in the band: cuFFT's lengths and one of ours.
    {40, 40, 200, 0, "time_window=16 fmin=17 fmax=30", 1e-5},
    {40, 40, 200, 0, "faults=off time_window=16 fmin=17 fmax=30", 1e-5},
    {40, 40, 200, 0, "fmin=20.5 fmax=22 fft_length=100", 1e-5},
    {40, 40, 200, 0, "fmin=16 fmax=17", 1e-5},
    {40, 1, 200, 0, "", 1e-5},
    {40, 1, 200, 0, "faults=off", 1e-5},
    {5, 40, 200, 0, "", 1e-5},
    {5, 40, 200, 0.1, "faults=off", 1e-5},
    {8, 8, 200, 0.05, "", 1e-5},
    {37, 3, 200, 0, "", 1e-5},
    {2, 2, 100, 0, "", 1e-6},
    {2, 2, 100, 0, "faults=off", 1e-6},
    {1, 1, 100, 0, "outband=mute", 1e-5},
    {40, 40, 1, 0, "erratic=0", 1e-5},
    // More time windows than a card counts in 16 bits.
    {2, 2, 65600, 0, "time_window=40 time_overlap=39 erratic=0", 1e-5},
    {2, 2, 65600, 0, "time_window=10 time_overlap=9 erratic=0", 1e-5},
    {2, 2, 65600, 0, "faults=off time_window=10 time_overlap=9 erratic=0", 1e-5},
};

// Property: the CPU's samples, in the mean and in the worst block. Any wrong index, sign, weight or
// state is orders of magnitude beyond these tolerances.
static void test_agrees(void)
{
    if (no_gpu())
        return;
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        const Case *c = &cases[k];
        g_autoptr(LithoCube) in = noisy_cube(c->n1, c->n2, c->nt, c->missing);
        LithoReport *reports[2] = {litho_report_new(), litho_report_new()};
        LithoRun cpu_run = {.report = reports[0]}, gpu_run = {.report = reports[1]};
        g_autoptr(LithoCube) cpu = run_once("cpu", c->settings, in, NULL, &cpu_run);
        g_autoptr(LithoCube) gpu = run_once("cuda", c->settings, in, NULL, &gpu_run);
        const double rms = finite_rms(cpu, NULL), error = finite_rms(gpu, cpu) / rms;
        const double worst = worst_block(gpu, cpu, rms);
        g_test_message("%3d x %3d x %3d, %2.0f %% missing, %-50s %.2e, worst block %.2e", c->n1,
                       c->n2, c->nt, 100 * c->missing, c->settings, error, worst);
        g_assert_cmpfloat(error, <=, c->tolerance);
        g_assert_cmpfloat(worst, <=, 10 * c->tolerance);
        const char *const keys[] = {"windows", "systems", "empty", "failed"};
        for (guint m = 0; m < G_N_ELEMENTS(keys); m++) {
            double a = -1, b = -2;
            g_assert_true(litho_report_get(reports[0], keys[m], &a));
            g_assert_true(litho_report_get(reports[1], keys[m], &b));
            g_assert_cmpfloat(a, ==, b);
        }
        g_assert_cmpmem(gpu->live, (gsize)c->n1 * c->n2, cpu->live, (gsize)c->n1 * c->n2);
        litho_report_unref(reports[0]);
        litho_report_unref(reports[1]);
    }
}

// Property: the CPU's samples where noise that neighbouring traces share leaves the equations (rule
// 8), with every shape of block, form, edge, damping, holes, and in regions.
static void test_shared(void)
{
    static const Case shared[] = {
        {60, 60, 120, 0, "prewhitening=automatic", 3e-5},
        {60, 60, 120, 0, "prewhitening=automatic post=1", 3e-5},
        {60, 60, 120, 0, "", 3e-5},
        {60, 60, 120, 0, "prewhitening=100 post=1", 3e-5},
        {60, 60, 120, 0, "prewhitening=automatic half_width=1", 3e-5},
        {60, 60, 120, 0, "prewhitening=automatic half_width=2 window=14", 3e-5},
        {60, 60, 120, 0, "prewhitening=automatic half_width=4", 3e-5},
        {60, 60, 120, 0, "prewhitening=automatic half_width=5 window=40", 5e-5},
        {60, 60, 120, 0, "prewhitening=automatic edge=renorm", 3e-5},
        {60, 60, 120, 0, "prewhitening=automatic edge=zero faults=off", 3e-5},
        {60, 60, 120, 0, "prewhitening=automatic form=acf", 3e-5},
        {60, 60, 120, 0, "prewhitening=automatic solver=jacobi outband=mute fmin=8 fmax=60", 3e-5},
        {60, 60, 120, 0.05, "prewhitening=automatic", 5e-5},
        {60, 60, 120, 0.05, "prewhitening=automatic fill_dead=1", 5e-5},
        {60, 60, 120, 0.05, "prewhitening=automatic fill_passes=0 post=1", 5e-5},
        {1, 200, 200, 0, "prewhitening=automatic", 3e-5},
        {12, 60, 200, 0, "prewhitening=automatic", 3e-5},
    };
    if (no_gpu())
        return;
    for (guint k = 0; k < G_N_ELEMENTS(shared); k++) {
        const Case *c = &shared[k];
        g_autoptr(LithoCube) events =
            fx_plane_waves(c->n1, c->n2, (const FxWave[]){{1, 0.3, 0.2}, {0.7, -0.5, 0.1}}, 2);
        g_autoptr(LithoCube) in = patch_noise(PATCH_WHITE, c->n1, c->n2, c->nt, 1, 71 + k);
        patch_mix(in);
        for (gint64 t = 0; t < litho_cube_held_samples(in); t++)
            in->samples[t] += events->samples[t / c->nt * 64 + t % c->nt % 64];
        fx_kill_traces(in, c->missing, 7);
        g_autofree char *off = g_strconcat(c->settings, " shared=off", NULL);
        g_autoptr(LithoCube) cpu = run_once("cpu", c->settings, in, NULL, NULL);
        g_autoptr(LithoCube) gpu = run_once("cuda", c->settings, in, NULL, NULL);
        g_autoptr(LithoCube) plain = run_once("cpu", off, in, NULL, NULL);
        const LithoBox region = {{0, c->n2 / 3, 30}, {c->n1, c->n2 / 3 + 5, 50}};
        g_autoptr(LithoCube) part = run_once("cuda", c->settings, in, &region, NULL);
        const double rms = finite_rms(cpu, NULL), error = finite_rms(gpu, cpu) / rms;
        g_test_message(
            "%3d x %3d x %3d, %2.0f %% missing, %-60s %.2e, worst block %.2e, plain %.2f", c->n1,
            c->n2, c->nt, 100 * c->missing, c->settings, error, worst_block(gpu, cpu, rms),
            finite_rms(plain, cpu) / rms);
        g_assert_cmpfloat(error, <=, c->tolerance);
        g_assert_cmpfloat(worst_block(gpu, cpu, rms), <=, 10 * c->tolerance);
        g_assert_cmpfloat(finite_rms(plain, cpu), >, 0.2 * rms);
        fx_assert_region_equal(part, gpu, region);
    }
}

// Property: the CPU's samples where signal is put back (rule 6 of geometry.h): noise-free flips of
// polarity, in windows of one piece and of several, with holes, muted, long time windows whose bins
// make several groups.
static void test_faults(void)
{
    static const char *const settings[] = {"",          "outband=mute fmin=5 fmax=60",
                                           "window=70", "time_window=150 time_overlap=50",
                                           "window=12", "fill_dead=on"};
    if (no_gpu())
        return;
    for (int holes = 0; holes < 2; holes++) {
        g_autoptr(LithoCube) in = noisy_cube(76, 73, 200, holes ? 0.04 : 0);
        for (gint64 k = 0; k < 76 * 73; k++)
            for (gint64 t = 0; t < 200; t++) {
                const double x = (double)(k / 73), y = (double)(k % 73);
                const double wave = 40 * sin(0.7 * (double)t - 0.3 * x + 0.2 * y);
                float *to = &in->samples[k * 200 + t];
                *to += *to == 0 ? 0 : (float)(2 * x + y > 110 ? -wave : wave);
            }
        for (guint k = 0; k < G_N_ELEMENTS(settings); k++) {
            g_autofree char *off = g_strconcat(settings[k], " faults=off", NULL);
            g_autoptr(LithoCube) cpu = run_once("cpu", settings[k], in, NULL, NULL);
            g_autoptr(LithoCube) plain = run_once("cpu", off, in, NULL, NULL);
            g_autoptr(LithoCube) gpu = run_once("cuda", settings[k], in, NULL, NULL);
            const double rms = finite_rms(cpu, NULL), error = finite_rms(gpu, cpu) / rms;
            g_test_message("%s, holes %d: %.2e, put back %.2e", settings[k], holes, error,
                           finite_rms(plain, cpu) / rms);
            g_assert_cmpfloat(finite_rms(plain, cpu) / rms, >, 1e-3);
            g_assert_cmpfloat(error, <=, 1e-5);
        }
    }
}

// Property: the CPU's samples on traces over their gains, of reversed ones and beside noisy ones,
// with holes, shared noise and filled traces; a region has the bits of the whole, and the numbers
// of the report are those of the CPU. PATCH_RANDOM: amplitudes differ.
static void test_gains(void)
{
    static const char *const settings[] = {"prewhitening=automatic",
                                           "prewhitening=automatic fill_dead=on", "shared=off",
                                           "outband=mute fmin=8 fmax=60 fill_passes=0"};
    enum { N_IL = 64, N_XL = 48, N_T = 128, KINDS = 4 };
    if (no_gpu())
        return;
    for (guint k = 0; k < KINDS * G_N_ELEMENTS(settings); k++) {
        const int kind = (int)(k % KINDS);
        const char *words = settings[k / KINDS];
        g_autoptr(LithoCube) events =
            patch_cube(kind == 0 ? PATCH_RANDOM : PATCH_PLANES, N_IL, N_XL, N_T);
        g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, N_IL, N_XL, N_T, 0.2, 3);
        if (kind == 3)
            patch_mix(noise);
        for (gint64 s = 0; s < litho_cube_held_samples(events); s++) {
            noise->samples[s] *= kind == 1 && s / N_T % 19 == 0 ? 5 : 1;
            events->samples[s] *= kind > 1 && s / N_T % 41 == 0 ? -1 : 1;
        }
        g_autoptr(LithoCube) in = patch_sum(events, noise);
        if (k / KINDS > 0)
            fx_kill_traces(in, 0.03, 7);
        LithoReport *reports[2] = {litho_report_new(), litho_report_new()};
        LithoRun here = {.report = reports[0]}, there = {.report = reports[1]};
        g_autofree char *off = g_strconcat(words, " balance=off", NULL);
        g_autoptr(LithoCube) cpu = run_once("cpu", words, in, NULL, &here);
        g_autoptr(LithoCube) plain = run_once("cpu", off, in, NULL, NULL);
        g_autoptr(LithoCube) gpu = run_once("cuda", words, in, NULL, &there);
        const LithoBox region = {{20, 7, 30}, {41, 8, 90}};
        g_autoptr(LithoCube) part = run_once("cuda", words, in, &region, NULL);
        const double rms = finite_rms(cpu, NULL), error = finite_rms(gpu, cpu) / rms;
        g_test_message("%d, %-45s %.2e, worst block %.2e, by gains %.2e", kind, words, error,
                       worst_block(gpu, cpu, rms), finite_rms(plain, cpu) / rms);
        g_assert_cmpfloat(error, <=, 5e-5);
        g_assert_cmpfloat(worst_block(gpu, cpu, rms), <=, 5e-4);
        if (kind != 1 || !strstr(words, "fill_passes=0"))
            g_assert_cmpfloat(finite_rms(plain, cpu), >, 2e-3 * rms);
        fx_assert_region_equal(part, gpu, region);
        g_assert_cmpmem(gpu->live, N_IL * N_XL, cpu->live, N_IL * N_XL);
        static const char *const keys[] = {"gain_scatter", "reversed_traces", "noisy_traces",
                                           "removed"};
        for (guint m = 0; m < G_N_ELEMENTS(keys); m++) {
            double a = 0, b = 0;
            litho_report_get(reports[0], keys[m], &a);
            litho_report_get(reports[1], keys[m], &b);
            g_assert_cmpfloat(fabs(a - b), <=, 1e-3 * fabs(a));
        }
        for (int r = 0; r < 2; r++)
            litho_report_unref(reports[r]);
    }
}

// Property: a part computed alone is the same part of the whole bit for bit, with holes too; a
// second run gives the same bits (no result depends on the order in which blocks finish).
static void check_regions(const char *settings)
{
    const double missing[] = {0, 0.07};
    const LithoBox parts[] = {{{20, 0, 0}, {21, 55, 260}},
                              {{0, 33, 0}, {60, 34, 260}},
                              {{0, 0, 120}, {60, 55, 121}},
                              {{11, 7, 30}, {40, 50, 222}}};
    for (int m = 0; m < 2; m++) {
        g_autoptr(LithoCube) in = noisy_cube(60, 55, 260, missing[m]);
        g_autoptr(LithoCube) whole = run_once("cuda", settings, in, NULL, NULL);
        g_autoptr(LithoCube) again = run_once("cuda", settings, in, NULL, NULL);
        g_assert_true(fx_same_bits(again, whole));
        for (guint k = 0; k < G_N_ELEMENTS(parts); k++) {
            LithoFxParams params = fx_params(settings);
            LithoBox need = litho_operator_fx.input_box(&in->grid, &params, parts[k]);
            g_autoptr(LithoCube) piece = litho_cube_copy_box(in, need, NULL);
            g_autoptr(LithoCube) part = run_once("cuda", settings, piece, &parts[k], NULL);
            g_autoptr(LithoCube) same = run_once("cuda", settings, in, &parts[k], NULL);
            g_autoptr(LithoCube) expected = litho_cube_copy_box(whole, parts[k], NULL);
            g_assert_true(fx_same_bits(part, expected));
            g_assert_true(fx_same_bits(same, expected));
        }
    }
}

static void test_region(void)
{
    if (no_gpu())
        return;
    check_regions("time_window=150 time_overlap=50");
    check_regions("time_window=40 time_overlap=20 fft_length=54");
}

// Property: a trace without samples for a while has its time windows worked on one by one, the
// windows before and after it several at a time: the CPU's samples, and the bits of a run that sees
// a part of the time. A window that a batch leaves out, or adds to the wrong place, fails.
static void test_batches(void)
{
    if (no_gpu())
        return;
    const char *settings = "time_window=40 time_overlap=20 fill_passes=0 erratic=0";
    const LithoBox part = {{0, 0, 170}, {41, 44, 391}};
    g_autoptr(LithoCube) in = noisy_cube(41, 44, 700, 0);
    memset(in->samples + (20 * 44 + 21) * 700 + 250, 0, 90 * sizeof(float));
    memset(in->samples + (3 * 44 + 2) * 700 + 500, 0, 41 * sizeof(float));
    g_autoptr(LithoCube) cpu = run_once("cpu", settings, in, NULL, NULL);
    g_autoptr(LithoCube) gpu = run_once("cuda", settings, in, NULL, NULL);
    g_autoptr(LithoCube) piece = run_once("cuda", settings, in, &part, NULL);
    g_autoptr(LithoCube) expected = litho_cube_copy_box(gpu, part, NULL);
    g_assert_cmpfloat(finite_rms(gpu, cpu), <=, 1e-5 * finite_rms(cpu, NULL));
    g_assert_cmpfloat(worst_block(gpu, cpu, finite_rms(cpu, NULL)), <=, 1e-4);
    g_assert_true(fx_same_bits(piece, expected));
}

// Property: so many windows that their bins are worked on in chunks give the bits of a slice that
// needs one chunk. Other sums or another transform for the one or the other fail.
static void test_chunks(void)
{
    if (no_gpu())
        return;
    g_autoptr(LithoCube) in = noisy_cube(110, 104, 150, 0.03);
    const char *settings = "window=10 stride=2 half_width=1";
    const LithoBox slice = {{50, 0, 0}, {51, 104, 150}};
    g_autoptr(LithoCube) whole = run_once("cuda", settings, in, NULL, NULL);
    g_autoptr(LithoCube) part = run_once("cuda", settings, in, &slice, NULL);
    g_autoptr(LithoCube) expected = litho_cube_copy_box(whole, slice, NULL);
    g_assert_true(fx_same_bits(part, expected));
}

// Property: what an engine keeps between passes never shows: after each of a chain of changes the
// samples are those of a fresh engine.
static void test_cached(void)
{
    if (no_gpu())
        return;
    g_autoptr(LithoCube) in = noisy_cube(50, 44, 260, 0.04);
    const char *const chain[] = {"",
                                 "prewhitening=50",
                                 "prewhitening=50 half_width=2",
                                 "prewhitening=50 half_width=2 window=25",
                                 "prewhitening=50 fmin=10",
                                 "prewhitening=50 fmin=10 fill_dead=1",
                                 "outband=mute",
                                 "balance=off",
                                 "time_window=128"};
    LithoEngine *engine = engine_on("cuda");
    for (guint k = 0; k < G_N_ELEMENTS(chain); k++) {
        g_autoptr(LithoCube) kept = run_with(engine, chain[k], in, NULL, NULL);
        g_autoptr(LithoCube) fresh = run_once("cuda", chain[k], in, NULL, NULL);
        g_assert_true(fx_same_bits(kept, fresh));
    }
    litho_engine_free(engine);
}

static gboolean give_up(gpointer data)
{
    return ++*(int *)data > 3;
}

// Property: a run cancelled in the middle says so, and the next one is right.
static void test_cancel(void)
{
    if (no_gpu())
        return;
    const char *settings = "window=10 stride=2 half_width=1"; // many chunks of bins
    g_autoptr(LithoCube) in = noisy_cube(110, 104, 300, 0);
    LithoEngine *engine = engine_on("cuda");
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_fx);
    *(LithoFxParams *)litho_flow_step(flow, 0)->params = fx_params(settings);
    int asked = 0;
    LithoRun run = {.superseded = give_up, .superseded_data = &asked};
    g_autoptr(GError) error = NULL;
    g_assert_null(litho_engine_run(engine, flow, in, NULL, &run, &error));
    g_assert_true(litho_error_is_cancelled(error));
    g_autoptr(LithoCube) after = run_with(engine, settings, in, NULL, NULL);
    g_autoptr(LithoCube) fresh = run_once("cuda", settings, in, NULL, NULL);
    g_assert_true(fx_same_bits(after, fresh));
    litho_engine_free(engine);
}

typedef struct Steps {
    double last_ms, longest_ms;
    int n;
} Steps;

static gboolean note_step(gpointer data)
{
    Steps *s = data;
    const double now = litho_now_ms();
    if (s->n++ > 0)
        s->longest_ms = fmax(s->longest_ms, now - s->last_ms);
    s->last_ms = now;
    return FALSE;
}

// Property: the cancel flag is looked at every 15 ms also where a window costs a hundred times the
// usual: 100 x 100 traces, half of them absent. The bound is for slower cards too; chunks counted
// in systems instead of operations take a second here.
static void test_steps(void)
{
    if (no_gpu())
        return;
    const char *const settings[] = {"window=100 half_width=3", "window=100 stride=4 half_width=3",
                                    "window=100 stride=8 half_width=5 solver=jacobi"};
    g_autoptr(LithoCube) in = noisy_cube(150, 140, 300, 0.5);
    for (guint k = 0; k < G_N_ELEMENTS(settings); k++) {
        Steps steps = {0};
        LithoRun run = {.superseded = note_step, .superseded_data = &steps};
        LithoEngine *engine = engine_on("cuda");
        g_autoptr(LithoCube) first = run_with(engine, settings[k], in, NULL, NULL);
        litho_cube_touch(in);
        const double start = litho_now_ms();
        g_autoptr(LithoCube) second = run_with(engine, settings[k], in, NULL, &run);
        g_test_message("%s: %d steps in %.0f ms, longest %.1f ms", settings[k], steps.n,
                       litho_now_ms() - start, steps.longest_ms);
        g_assert_cmpfloat(steps.longest_ms, <=, 40);
        litho_engine_free(engine);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/fx-cuda/agrees", test_agrees);
    g_test_add_func("/fx-cuda/faults", test_faults);
    g_test_add_func("/fx-cuda/shared", test_shared);
    g_test_add_func("/fx-cuda/gains", test_gains);
    g_test_add_func("/fx-cuda/region", test_region);
    g_test_add_func("/fx-cuda/batches", test_batches);
    g_test_add_func("/fx-cuda/chunks", test_chunks);
    g_test_add_func("/fx-cuda/cached", test_cached);
    g_test_add_func("/fx-cuda/cancel", test_cancel);
    g_test_add_func("/fx-cuda/steps", test_steps);
    return test_run();
}
