// SPDX-License-Identifier: GPL-3.0-or-later
//
// The local Fourier filter on a GPU: the CPU's samples for every kind of window and task, bit for
// bit the same whatever the region or the pass, and stopped within a chunk. Skipped where there is
// none.
#include <string.h>

#include "core/engine/engine.h"
#include "core/error.h"
#include "kernels/kernels.h"
#include "kernels/patch/patch.h"
#include "tests/patch_common.h"

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

static LithoCube *run_for(LithoEngine *engine, const char *words, const char *volume,
                          const LithoCube *in, const LithoBox *region, LithoRun *run,
                          GError **error)
{
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_patch);
    *(LithoPatchParams *)litho_flow_step(flow, 0)->params = patch_settings(words);
    g_assert_true(litho_flow_set_volume(flow, volume, NULL));
    return litho_engine_run(engine, flow, in, region, run, error);
}

static LithoCube *run_engine(LithoEngine *engine, const char *words, const LithoCube *in,
                             const LithoBox *region, LithoRun *run, GError **error)
{
    return run_for(engine, words, NULL, in, region, run, error);
}

static LithoCube *run_with(LithoEngine *engine, const char *words, const LithoCube *in,
                           const LithoBox *region)
{
    LithoRun run = {0};
    g_autoptr(GError) error = NULL;
    LithoCube *out = run_engine(engine, words, in, region, &run, &error);
    g_assert_no_error(error);
    g_assert_nonnull(litho_cube_host(out, &error));
    g_assert_no_error(error);
    return out;
}

// Dead traces keep their samples, which may be anything: not compared. A coefficient within
// rounding of its threshold may be kept by one backend alone, which shows in a whole window as a
// plane wave: samples that are further off than `within` times four of the RMS are counted in `far`
// and left out of the distance.
static double distance(const LithoCube *a, const LithoCube *b, double within, gint64 *far)
{
    const gint64 n = litho_cube_held_samples(a);
    double off = 0, all = 0;
    for (gint64 k = 0; k < n; k++)
        all += (double)a->samples[k] * a->samples[k];
    const double limit = 4 * within * sqrt(all / n);
    *far = 0;
    for (gint64 k = 0; k < n; k++) {
        const double d = fabs((double)a->samples[k] - b->samples[k]);
        if (d > limit)
            (*far)++;
        else
            off += d * d;
    }
    return sqrt(off / all);
}

static LithoCube *read_part(const LithoBox *box, LithoRun *run, gpointer data, GError **error)
{
    return litho_run_step(run, 0, 1, error) ? litho_cube_copy_box(data, *box, error) : NULL;
}

// The numbers that these settings measure on the host; NULL = none.
static LithoMeasured *measured_of(const char *words, LithoCube *in)
{
    const LithoPatchParams p = patch_settings(words);
    const LithoReader reader = {.grid = &in->grid, .read = read_part, .data = in};
    g_autofree char *key = litho_patch_measure_key(&p);
    return key ? litho_patch_measure(&p, &reader, NULL, NULL) : NULL;
}

static LithoCube *run_measured(LithoEngine *engine, const char *words, const LithoCube *in,
                               LithoMeasured *measured)
{
    g_autoptr(LithoFlow) flow = litho_flow_new();
    g_autoptr(GError) error = NULL;
    LithoRun run = {0};
    litho_flow_append(flow, &litho_operator_patch);
    LithoStep *step = litho_flow_step(flow, 0);
    *(LithoPatchParams *)step->params = patch_settings(words);
    step->measured = measured ? litho_measured_ref(measured) : NULL;
    LithoCube *out = litho_engine_run(engine, flow, in, NULL, &run, &error);
    g_assert_no_error(error);
    g_assert_nonnull(litho_cube_host(out, &error));
    return out;
}

// Property: both backends give the same samples (1e-5: single precision, and a few coefficients
// within its reach of the threshold) and the same live mask, with the same level of the noise: each
// measures its own, which test-patch-level-cuda.c compares. Filling goes further than each
// threshold says: a coefficient that rounding keeps or not changes the windows around it, too. The
// host's own result moves by 1.4e-4 when the last bits of its input change; all samples count here.
#define FILLED 1e-3

static void assert_agree(LithoEngine *cpu, LithoEngine *gpu, const LithoCube *in,
                         LithoMeasured *level, const char *words, double within)
{
    g_autoptr(LithoCube) expected = run_measured(cpu, words, in, level);
    g_autoptr(LithoCube) got = run_measured(gpu, words, in, level);
    gint64 far;
    const gboolean filled = within == FILLED;
    const double d = distance(expected, got, filled ? 1e9 : within, &far);
    const int n[3] = {(int)in->grid.axis[0].n, (int)in->grid.axis[1].n, (int)in->grid.axis[2].n};
    g_test_message("%dx%dx%d %s: %.2e, further off %d samples", n[0], n[1], n[2], words, d,
                   (int)far);
    g_assert_cmpfloat(d, <, within);
    const gboolean wide =
        strstr(words, "window=2") || (strstr(words, "preset=") && !strstr(words, "iter"));
    const gint64 side = wide ? 24 : 16;
    g_assert_cmpint(far, <=, side * side * side); // one coefficient at most
    g_assert_cmpmem(expected->live, n[0] * n[1], got->live, n[0] * n[1]);
}

static void test_agrees(void)
{
    const struct {
        gint64 n[3];
        const char *words;
        double within;
    } cases[] = {
        {{40, 37, 130}, "sigma=0.5", 1e-5},
        {{40, 37, 130}, "sigma=0.5 rule=energy", 1e-5},
        {{40, 37, 131}, "", 1e-5},
        {{33, 20, 61}, "sigma=0.5 overlap=2", 1e-5},
        {{33, 20, 61}, "sigma=0.5 overlap=8 rule=energy", 1e-5},
        {{33, 20, 61}, "sigma=0.5 overlap=3", 1e-5},
        {{50, 41, 100}, "preset=plane", 1e-5},
        {{50, 41, 100}, "preset=strong sigma=0.4", 1e-5},
        {{33, 41, 77}, "window=8 sigma=0.5", 1e-5},
        {{50, 41, 103}, "window=20 sigma=0.4", 1e-5},
        {{50, 41, 103}, "window=20 rule=energy sigma=0.4", 1e-5},
        {{33, 41, 77}, "window=12 sigma=0.5", 1e-5},
        {{33, 41, 77}, "window=12 rule=energy sigma=0.5", 1e-5},
        {{50, 41, 103}, "window=24 window_il=20 sigma=0.4", 1e-5},
        {{33, 41, 77}, "window_il=10 window_t=32 sigma=0.5 rule=energy", 1e-5},
        {{1, 150, 200}, "", 1e-5},
        {{150, 1, 200}, "rule=energy", 1e-5},
        {{60, 10, 100}, "", 1e-5},
        {{20, 20, 5}, "sigma=0.5", 1e-5},
        {{40, 37, 60}, "preset=fill iterations=2", 1e-5},
        {{40, 37, 60}, "preset=fill iterations=10", FILLED},
        {{40, 37, 60}, "preset=repair iterations=10", FILLED},
        {{40, 37, 60}, "preset=repair iterations=10 rule=energy", FILLED},
        {{40, 37, 60}, "mode=fill iterations=5 window=12", FILLED},
    };
    if (no_gpu())
        return;
    LithoEngine *cpu = engine_on("cpu"), *gpu = engine_on("cuda");
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        const gint64 *n = cases[k].n;
        g_autoptr(LithoCube) in = patch_spoilt(n[0], n[1], n[2]);
        g_autoptr(LithoMeasured) level = measured_of(cases[k].words, in);
        assert_agree(cpu, gpu, in, level, cases[k].words, cases[k].within);
    }
    litho_engine_free(cpu);
    litho_engine_free(gpu);
}

// Curved events in noise; of the inlines and crosslines every so-manieth alone is there.
static LithoCube *thinned(const gint64 n[3], int inlines, int xlines)
{
    g_autoptr(LithoCube) clean = patch_cube(PATCH_CURVED, n[0], n[1], n[2]);
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, n[0], n[1], n[2], 0.1, 3);
    LithoCube *in = patch_sum(clean, noise);
    patch_decimate(in, inlines, xlines);
    return in;
}

// Property: both backends agree where gaps are regular, and half the frequencies guide the filling.
static void test_regular(void)
{
    const struct {
        gint64 n[3];
        int inlines, xlines;
        const char *words;
        double within;
    } cases[] = {
        {{40, 37, 60}, 2, 1, "mode=fill iterations=2", 1e-5},
        {{40, 37, 60}, 2, 1, "mode=fill iterations=10", FILLED},
        {{40, 37, 60}, 1, 3, "mode=both iterations=10", FILLED},
        {{40, 37, 60}, 2, 2, "mode=fill iterations=10 window=12 sigma=0.1", FILLED},
        {{40, 37, 61}, 2, 1, "mode=fill iterations=10 overlap=2", FILLED},
        {{33, 30, 61}, 1, 2, "mode=fill iterations=5 overlap=8", FILLED},
        {{50, 41, 61}, 2, 1, "mode=fill iterations=10 window=20", FILLED},
        {{50, 41, 61}, 1, 2, "mode=fill iterations=10 window=24", FILLED},
        {{50, 41, 70}, 2, 2, "mode=fill iterations=5 window=32 sigma=0.1", FILLED},
        {{40, 37, 60}, 2, 1, "mode=fill iterations=10 window=6 window_t=10 sigma=0.1", FILLED},
        {{1, 150, 200}, 1, 2, "mode=fill iterations=10", FILLED},
        {{40, 37, 61}, 2, 1, "mode=fill iterations=10 window_il=10 window_t=32", FILLED},
    };
    if (no_gpu())
        return;
    LithoEngine *cpu = engine_on("cpu"), *gpu = engine_on("cuda");
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        const gint64 *n = cases[k].n;
        g_autoptr(LithoCube) in = thinned(n, cases[k].inlines, cases[k].xlines);
        g_autoptr(LithoMeasured) level = measured_of(cases[k].words, in);
        assert_agree(cpu, gpu, in, level, cases[k].words, cases[k].within);
    }
    litho_engine_free(cpu);
    litho_engine_free(gpu);
}

// Property: both backends agree where the noise keeps to some wavenumbers, and its level has a
// shape, for windows of all kinds that kernels know.
static void test_mixed(void)
{
    const struct {
        gint64 n[3];
        const char *words;
        double within;
    } cases[] = {
        {{40, 37, 130}, "", 1e-5},
        {{40, 37, 130}, "rule=energy", 1e-5},
        {{50, 41, 103}, "window=20", 1e-5},
        {{50, 41, 103}, "window=20 rule=energy", 1e-5},
        {{33, 41, 77}, "window=12", 1e-5},
        {{50, 41, 103}, "window=24 window_il=20", 1e-5},
        {{50, 41, 103}, "window=24 window_il=20 rule=energy", 1e-5},
        {{1, 150, 200}, "", 1e-5},
        {{40, 37, 60}, "preset=repair iterations=5", FILLED},
    };
    if (no_gpu())
        return;
    LithoEngine *cpu = engine_on("cpu"), *gpu = engine_on("cuda");
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        const gint64 *n = cases[k].n;
        g_autoptr(LithoCube) clean = patch_cube(PATCH_PLANES, n[0], n[1], n[2]);
        g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, n[0], n[1], n[2], 0.5, 3);
        patch_mix(noise);
        g_autoptr(LithoCube) in = patch_sum(clean, noise);
        if (cases[k].within == FILLED)
            patch_kill(in, 10, 4);
        g_autoptr(LithoMeasured) level = measured_of(cases[k].words, in);
        gsize bytes;
        litho_measured_bytes(level, &bytes);
        g_assert_cmpuint(bytes, >, n[0] == 1 ? 9 * 16 * 4 : 6 * 12 * 12 * 4); // it has a shape
        assert_agree(cpu, gpu, in, level, cases[k].words, cases[k].within);
    }
    litho_engine_free(cpu);
    litho_engine_free(gpu);
}

// Property: a guided filling has the same bits from any engine at any time, whatever the region,
// for all windows that kernels know and for others.
static void test_regular_regions(void)
{
    const LithoBox boxes[] = {
        {{7, 0, 0}, {8, 60, 190}}, {{13, 5, 21}, {31, 22, 158}}, {{69, 59, 189}, {70, 60, 190}}};
    const char *const words[] = {"mode=fill iterations=6", "mode=both iterations=6",
                                 "mode=fill iterations=3 overlap=8",
                                 "mode=fill iterations=6 overlap=2",
                                 "mode=fill iterations=6 window=12",
                                 "mode=fill iterations=6 window=20",
                                 "mode=fill iterations=6 window=24",
                                 "mode=fill iterations=3 window=32 sigma=0.1"};
    if (no_gpu())
        return;
    g_autoptr(LithoCube) in = thinned((const gint64[3]){70, 60, 190}, 1, 3);
    g_autoptr(LithoCube) twin = litho_cube_copy_box(in, in->held, NULL);
    for (guint w = 0; w < G_N_ELEMENTS(words); w++) {
        LithoEngine *one = engine_on("cuda"), *other = engine_on("cuda");
        g_autoptr(LithoCube) whole = run_with(one, words[w], in, NULL);
        g_autoptr(LithoCube) again = run_with(other, words[w], twin, NULL);
        patch_assert_part(whole, again);
        for (guint k = 0; k < G_N_ELEMENTS(boxes); k++) {
            g_autoptr(LithoCube) part = run_with(k % 2 ? one : other, words[w], in, &boxes[k]);
            g_autoptr(LithoCube) cut = litho_cube_copy_box(part, boxes[k], NULL);
            patch_assert_part(whole, cut);
        }
        litho_engine_free(one);
        litho_engine_free(other);
    }
}

// Property: all passes of a filling are one stage, which goes on without a step back and ends whole,
// for windows that kernels know and for others.
static void test_progress(void)
{
    static const char *const words[] = {"mode=fill iterations=9", "mode=both iterations=9",
                                        "mode=fill iterations=4 window=32 sigma=0.1"};
    const gint64 n[3] = {70, 60, 190};
    if (no_gpu())
        return;
    for (guint k = 0; k < 2 * G_N_ELEMENTS(words); k++) {
        g_autoptr(LithoCube) in = k % 2 ? thinned(n, 2, 1) : patch_spoilt(n[0], n[1], n[2]);
        LithoEngine *engine = engine_on("cuda");
        PatchHeard heard = {.stage = "filling"};
        LithoRun run = {.on_progress = patch_hear, .progress_data = &heard};
        g_autoptr(GError) error = NULL;
        g_autoptr(LithoCube) out = run_engine(engine, words[k / 2], in, NULL, &run, &error);
        g_assert_no_error(error);
        g_assert_cmpint(heard.total, ==, (k / 2 == 2 ? 5 : 10) * litho_cube_held_samples(in));
        g_assert_cmpint(heard.done, ==, heard.total);
        g_assert_cmpuint(heard.ends, >=, 1);
        litho_engine_free(engine);
    }
}

// Curved events in noise, so many of 100 traces missing, and bursts of twenty times the amplitude
// on every fiftieth trace.
static LithoCube *survey_with_holes(int missing, gboolean bursts)
{
    g_autoptr(LithoCube) truth = patch_cube(PATCH_CURVED, 64, 57, 170);
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, 64, 57, 170, 0.3, 7);
    LithoCube *in = patch_sum(truth, noise);
    patch_kill(in, missing, 7);
    for (gint64 k = 20; bursts && k < 64 * 57; k += 50)
        for (gint64 t = k % 130; t < k % 130 + 40; t++)
            in->samples[k * 170 + t] += t % 2 ? 20 : -20;
    return in;
}

// Property: guesses for missing traces and bursts are the host's, as the result around them shows:
// 97 % of the samples within 2e-5 of the RMS, the others' distance as in agrees(). Guesses repeat
// up to 28 thresholds: a coefficient that rounding keeps or not shows in its window.
static void test_holes(void)
{
    const int missing[] = {5, 20, 50};
    if (no_gpu())
        return;
    LithoEngine *cpu = engine_on("cpu"), *gpu = engine_on("cuda");
    for (guint k = 0; k < 2 * G_N_ELEMENTS(missing); k++) {
        g_autoptr(LithoCube) in = survey_with_holes(missing[k / 2], k % 2);
        g_autoptr(LithoCube) expected = run_with(cpu, "sigma=0.3", in, NULL);
        g_autoptr(LithoCube) got = run_with(gpu, "sigma=0.3", in, NULL);
        gint64 far;
        const double d = distance(expected, got, 5e-6, &far);
        const double share = (double)far / litho_cube_held_samples(in);
        g_test_message("%d %% missing%s: %.2e, further off %.3f %%", missing[k / 2],
                       k % 2 ? ", bursts" : "", d, 100 * share);
        g_assert_cmpfloat(d, <, 5e-6);
        g_assert_cmpfloat(share, <, 0.03);
        g_assert_cmpmem(expected->live, 64 * 57, got->live, 64 * 57);
    }
    litho_engine_free(cpu);
    litho_engine_free(gpu);
}

// Property: the device leaves recorded traces that stand alone as the host does.
static void test_alone(void)
{
    if (no_gpu())
        return;
    LithoEngine *gpu = engine_on("cuda");
    const char *const words[] = {"", "mode=both", "window=12"};
    for (guint k = 0; k < G_N_ELEMENTS(words); k++) {
        g_autoptr(LithoCube) in = patch_lone(11);
        g_autoptr(LithoCube) near = patch_lone(4);
        g_autoptr(LithoCube) got = run_with(gpu, words[k], in, NULL);
        g_autoptr(LithoCube) filtered = run_with(gpu, words[k], near, NULL);
        g_assert_cmpint(patch_lone_left(in, got), ==, 8);
        g_assert_cmpint(patch_lone_left(near, filtered), ==, 0);
    }
    litho_engine_free(gpu);
}

// Share of all samples that differ by more than `within`, from sample `from` of the traces on.
static double share_off(const LithoCube *a, const LithoCube *b, double within, gint64 from)
{
    gint64 n = 0;
    for (gint64 k = 0; k < litho_cube_held_samples(a); k++)
        n += k % a->grid.axis[2].n >= from &&
             !(fabs((double)a->samples[k] - b->samples[k]) <= within);
    return (double)n / litho_cube_held_samples(a);
}

// A mute at the top, 40 to 59 samples long; traces without samples stay so.
static void mute_top(LithoCube *cube)
{
    const gint64 nt = cube->grid.axis[2].n;
    for (gint64 k = 0; k < litho_grid_traces(&cube->grid); k++)
        memset(cube->samples + k * nt, 0, (40 + k % 20) * sizeof(float));
}

// Property: dips and coherence are the CPU's within 0.001 ms/trace and 1e-4 at 99.9 % of the
// samples (where no direction leads, rounding decides about it; a coefficient at its threshold
// changes a window), below a mute at the top too, and a region has the bits of the whole on the
// GPU. Traces that are filled beside mutes hold next to nothing there: no direction leads.
static void test_volumes(void)
{
    const char *const names[] = {LITHO_PATCH_DIP_IL, LITHO_PATCH_DIP_XL, LITHO_PATCH_COHERENT};
    const struct {
        const char *words;
        gboolean muted;
        gint64 from;
    } cases[] = {{"sigma=0.3", FALSE, 0},
                 {"sigma=0.3", TRUE, 0},
                 {"mode=both iterations=3 sigma=0.3", FALSE, 0},
                 {"mode=both iterations=3 sigma=0.3", TRUE, 80}};
    const LithoBox box = {{13, 5, 21}, {31, 22, 158}};
    if (no_gpu())
        return;
    LithoEngine *cpu = engine_on("cpu"), *gpu = engine_on("cuda"), *fresh = engine_on("cuda");
    g_autoptr(LithoCube) whole = patch_spoilt(70, 60, 300), muted = patch_spoilt(70, 60, 300);
    mute_top(muted);
    for (guint v = 0; v < G_N_ELEMENTS(names); v++)
        for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
            const char *words = cases[c].words;
            const LithoCube *in = cases[c].muted ? muted : whole;
            LithoRun run = {0};
            g_autoptr(GError) error = NULL;
            g_autoptr(LithoCube) expected = run_for(cpu, words, names[v], in, NULL, &run, &error);
            g_assert_no_error(error);
            g_autoptr(LithoCube) got = run_for(gpu, words, names[v], in, NULL, &run, &error);
            g_assert_no_error(error);
            g_autoptr(LithoCube) part = run_for(fresh, words, names[v], in, &box, &run, &error);
            g_assert_no_error(error);
            g_assert_nonnull(litho_cube_host(got, NULL));
            const double off = share_off(expected, got, v < 2 ? 1e-3 : 1e-4, cases[c].from);
            g_test_message("%s, %s%s: %.2e of the samples differ", names[v], words,
                           cases[c].muted ? ", muted" : "", off);
            g_assert_cmpfloat(off, <, 1e-3);
            g_assert_cmpmem(expected->live, 70 * 60, got->live, 70 * 60);
            g_assert_nonnull(litho_cube_host(part, NULL));
            patch_assert_part(got, part);
        }
    litho_engine_free(cpu);
    litho_engine_free(gpu);
    litho_engine_free(fresh);
}

// Property: any region, from any engine, in any order, has the bits of the whole.
static void test_regions(void)
{
    const LithoBox boxes[] = {
        {{7, 0, 0}, {8, 60, 190}},    {{0, 59, 0}, {70, 60, 190}},    {{0, 0, 33}, {70, 60, 34}},
        {{13, 5, 21}, {31, 22, 158}}, {{69, 59, 189}, {70, 60, 190}},
    };
    const char *const words[] = {"",
                                 "rule=energy",
                                 "sigma=0.5 window=24",
                                 "sigma=0.5 window=20",
                                 "sigma=0.5 window=12 rule=energy",
                                 "sigma=0.5 window=12 overlap=3 rule=energy",
                                 "mode=fill iterations=3",
                                 "mode=both iterations=3"};
    if (no_gpu())
        return;
    g_autoptr(LithoCube) in = patch_spoilt(70, 60, 190);
    for (guint w = 0; w < G_N_ELEMENTS(words); w++) {
        LithoEngine *one = engine_on("cuda");
        g_autoptr(LithoCube) whole = run_with(one, words[w], in, NULL);
        for (guint k = 0; k < G_N_ELEMENTS(boxes); k++) {
            LithoEngine *other = k % 2 ? one : engine_on("cuda");
            g_autoptr(LithoCube) part = run_with(other, words[w], in, &boxes[k]);
            g_autoptr(LithoCube) cut = litho_cube_copy_box(part, boxes[k], NULL);
            patch_assert_part(whole, cut);
            if (other != one)
                litho_engine_free(other);
        }
        litho_engine_free(one);
    }
}

// Property: a card that keeps only a few rows of strips gives the bits of one that keeps all.
static void test_small_memory(void)
{
    if (no_gpu())
        return;
    const LithoBackend *cuda = litho_backend_cuda();
    g_autoptr(LithoCube) in = patch_spoilt(200, 120, 250);
    const char *const words[] = {"sigma=0.5", "sigma=0.5 window=24"};
    for (guint w = 0; w < G_N_ELEMENTS(words); w++) {
        LithoEngine *roomy = engine_on("cuda"), *narrow = engine_on("cuda");
        g_autoptr(LithoCube) expected = run_with(roomy, words[w], in, NULL);
        litho_engine_free(roomy);
        cuda->limit_memory((guint64)900 << 20);
        g_autoptr(LithoCube) got = run_with(narrow, words[w], in, NULL);
        cuda->limit_memory(0);
        litho_engine_free(narrow);
        patch_assert_part(expected, got);
    }
}

// Windows that a run filters; its result.
static double windows_of(const char *words, const LithoCube *in, LithoCube **out)
{
    LithoEngine *engine = engine_on("cuda");
    LithoRun run = {.report = litho_report_new()};
    g_autoptr(GError) error = NULL;
    double windows = 0;
    *out = run_engine(engine, words, in, NULL, &run, &error);
    g_assert_no_error(error);
    g_assert_nonnull(litho_cube_host(*out, &error));
    g_assert_true(litho_report_get(run.report, "windows", &windows));
    litho_report_unref(run.report);
    litho_engine_free(engine);
    return windows;
}

// Property: a region whose five rows of strips do not fit is split across crosslines and along
// time, which shows in the windows beside the cuts that are made twice and in no bit. The least
// rings here take 154 MiB, 277 and, beside 52 for batches of windows, 125.
static void test_split(void)
{
    const struct {
        gint64 n[3];
        const char *words;
        guint64 mib; // beside the cubes
    } cases[] = {{{24, 200, 600}, "sigma=0.5 rule=energy faults=off", 100},
                 {{24, 24, 5000}, "sigma=0.5 window=24 faults=off", 100},
                 {{24, 200, 600}, "sigma=0.5 overlap=3 faults=off", 140}};
    if (no_gpu())
        return;
    const LithoBackend *cuda = litho_backend_cuda();
    for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
        const gint64 *n = cases[c].n;
        g_autoptr(LithoCube) in = patch_spoilt(n[0], n[1], n[2]);
        g_autoptr(LithoCube) twin = litho_cube_copy_box(in, in->held, NULL);
        g_autoptr(LithoCube) whole = NULL, split = NULL;
        const double once = windows_of(cases[c].words, in, &whole);
        litho_cube_leave_device(in); // the twin's copy is to be all there is
        litho_cube_leave_device(whole);
        cuda->limit_memory((cases[c].mib << 20) + 3 * 4 * litho_cube_held_samples(in));
        const double twice = windows_of(cases[c].words, twin, &split);
        cuda->limit_memory(0);
        g_test_message("%s: %.0f windows, split %.0f", cases[c].words, once, twice);
        g_assert_cmpfloat(twice, >, once);
        patch_assert_part(whole, split);
    }
}

// Property: surveys whose five rows of strips would take 44 and 153 GiB are told to need what the
// rest of a run takes and no more than 1 GiB for strips, so that they are cut into slabs at all.
static void test_split_is_told(void)
{
    const gint64 n[][3] = {{64, 1500, 6000}, {64, 300, 100000}};
    LithoDevice device;
    if (no_gpu())
        return;
    g_assert_true(litho_device_parse("cuda", &device, NULL));
    const LithoImpl *impl = litho_device_impl(device, &litho_operator_patch, NULL);
    const LithoPatchParams wide = patch_settings("sigma=1 window=64 erratic=0");
    const LithoPatchParams given = patch_settings("sigma=1 window=16 erratic=0");
    for (guint k = 0; k < G_N_ELEMENTS(n); k++) {
        const LithoGrid grid = litho_grid_new(n[k][0], n[k][1], n[k][2]);
        const LithoBox one = {{32, 0, 0}, {33, n[k][1], n[k][2]}};
        const LithoPatchParams *params[] = {&given, &wide};
        for (int p = 0; p < 2; p++) {
            const LithoBox need = litho_operator_patch.input_box(&grid, params[p], one);
            const guint64 told = impl->memory(&grid, params[p], NULL, one, 2);
            g_test_message("%.1f GiB, of which cubes %.1f", told / 1073741824.0,
                           4.0 * litho_box_count(need) / 1073741824.0);
            g_assert_cmpuint(told, <, 10 * litho_box_count(need) + ((guint64)3 << 29));
        }
    }
}

static void check_balanced(const LithoCube *in, double most)
{
    LithoEngine *cuda = engine_on("cuda"), *cpu = engine_on("cpu");
    g_autoptr(LithoCube) there = run_with(cuda, "", in, NULL);
    g_autoptr(LithoCube) off = run_with(cpu, "balance=off", in, NULL);
    g_autoptr(LithoCube) here = run_with(cpu, "", in, NULL);
    double all = 0, apart = 0, moved = 0;
    for (gint64 k = 0; k < litho_cube_held_samples(in); k++) {
        all += pow(here->samples[k], 2);
        apart += pow((double)here->samples[k] - there->samples[k], 2);
        moved += pow((double)here->samples[k] - off->samples[k], 2);
    }
    g_test_message("apart %.3g, by gains %.3g", sqrt(apart / all), sqrt(moved / all));
    g_assert_cmpfloat(moved, >, 1e-4 * all);
    g_assert_cmpfloat(apart, <, most * moved);
    litho_engine_free(cuda);
    litho_engine_free(cpu);
}

// Property: traces of unequal gain (PATCH_RANDOM) are balanced as on the CPU, noisy ones found, and
// those of reversed polarity turned.
static void test_gains(void)
{
    enum { N_T = 128 };
    if (no_gpu())
        return;
    for (int noisy = 0; noisy < 3; noisy++) {
        g_autoptr(LithoCube) clean = patch_cube(noisy ? PATCH_PLANES : PATCH_RANDOM, 64, 48, N_T);
        g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, 64, 48, N_T, noisy ? 0.2 : 0.1, 3);
        for (gint64 k = 0; noisy == 1 && k < litho_cube_held_samples(noise); k++)
            noise->samples[k] *= k / N_T % 19 == 0 ? 5 : 1;
        for (gint64 k = 0; noisy == 2 && k < litho_cube_held_samples(clean); k++)
            clean->samples[k] *= k / N_T % 41 == 0 ? -1 : 1;
        g_autoptr(LithoCube) in = patch_sum(clean, noise);
        check_balanced(in, noisy ? 1e-2 : 1e-4);
    }
}

static gboolean swells(gint64 il, gint64 xl)
{
    return (il * 3 + xl / 8) % 4 == 0;
}

// Property: swell is found and removed as on the CPU, in a region as in the whole, and behind
// another step, whose result the host has not.
static void test_swell(void)
{
    if (no_gpu())
        return;
    g_autoptr(LithoCube) clean = patch_cube(PATCH_FAULT, 60, 64, 256);
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, 60, 64, 256, 0.3, 3);
    g_autoptr(LithoCube) in = patch_sum(clean, noise);
    patch_add_swell(in, swells, 6, 2);
    LithoEngine *cuda = engine_on("cuda"), *cpu = engine_on("cpu");
    g_autoptr(LithoCube) there = run_with(cuda, "", in, NULL), here = run_with(cpu, "", in, NULL);
    const LithoBox region = {.lo = {3, 5, 20}, .hi = {40, 30, 120}};
    g_autoptr(LithoCube) part = run_with(cuda, "", in, &region);
    gint64 far;
    g_assert_cmpfloat(patch_snr(there, clean, NULL), >, 15);
    g_assert_cmpfloat(distance(here, there, 1e-3, &far), <, 1e-3);
    g_assert_cmpint(far, <, litho_cube_held_samples(in) / 1000);
    patch_assert_part(there, part);
    g_autoptr(LithoFlow) flow = patch_flow("sigma=1e-6 erratic=0 faults=off");
    litho_flow_append(flow, &litho_operator_patch);
    LithoRun run = {0};
    g_autoptr(LithoCube) behind = litho_engine_run(cuda, flow, in, NULL, &run, NULL);
    g_assert_nonnull(litho_cube_host(behind, NULL));
    g_assert_cmpfloat(distance(there, behind, 1e-2, &far), <, 1e-2);
    litho_engine_free(cuda);
    litho_engine_free(cpu);
}

static gboolean second_time(gpointer data)
{
    return ++*(int *)data > 1;
}

// Property: a pass that newer parameters overtake stops as cancelled, and the next one of the same
// engine is whole.
static void test_cancel(void)
{
    if (no_gpu())
        return;
    g_autoptr(LithoCube) in = patch_spoilt(150, 100, 300);
    LithoEngine *engine = engine_on("cuda");
    const char *const words[] = {"sigma=0.5 overlap=8", "mode=fill"};
    for (guint w = 0; w < G_N_ELEMENTS(words); w++) {
        int asked = 0;
        LithoRun run = {.superseded = second_time, .superseded_data = &asked};
        g_autoptr(GError) error = NULL;
        g_autoptr(LithoCube) none = run_engine(engine, words[w], in, NULL, &run, &error);
        g_assert_null(none);
        g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    }
    LithoEngine *fresh = engine_on("cuda");
    g_autoptr(LithoCube) expected = run_with(fresh, "sigma=0.5", in, NULL);
    g_autoptr(LithoCube) got = run_with(engine, "sigma=0.5", in, NULL);
    patch_assert_part(expected, got);
    litho_engine_free(engine);
    litho_engine_free(fresh);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/patch-cuda/mixed", test_mixed);
    g_test_add_func("/patch-cuda/regular", test_regular);
    g_test_add_func("/patch-cuda/regular-regions", test_regular_regions);
    g_test_add_func("/patch-cuda/progress", test_progress);
    g_test_add_func("/patch-cuda/agrees", test_agrees);
    g_test_add_func("/patch-cuda/holes", test_holes);
    g_test_add_func("/patch-cuda/alone", test_alone);
    g_test_add_func("/patch-cuda/volumes", test_volumes);
    g_test_add_func("/patch-cuda/regions", test_regions);
    g_test_add_func("/patch-cuda/small-memory", test_small_memory);
    g_test_add_func("/patch-cuda/gains", test_gains);
    g_test_add_func("/patch-cuda/swell", test_swell);
    g_test_add_func("/patch-cuda/split", test_split);
    g_test_add_func("/patch-cuda/split-is-told", test_split_is_told);
    g_test_add_func("/patch-cuda/cancel", test_cancel);
    return g_test_run();
}
