// SPDX-License-Identifier: GPL-3.0-or-later
//
// Runs of the local Fourier filter on the CPU: what is computed once only, the memory that is told,
// and how often a cancel is looked for.
#include <string.h>

#include "core/engine/engine.h"
#include "core/engine/stream_plan.h"
#include "core/error.h"
#include "core/mute.h"
#include "kernels/common/noise_job.h"
#include "kernels/kernels.h"
#include "kernels/patch/cpu/structure.h"
#include "kernels/patch/levels.h"
#include "tests/patch_common.h"

// --- blocks --------------------------------------------------------------------------------------

// Property: blocks tile the survey, none is empty, and a slab of the height that is asked for holds
// whole blocks, so that a survey in slabs fills each of them once. A stride of the windows as
// height cut one row of blocks into four.
static void test_blocks(void)
{
    static const gint64 lengths[] = {1, 203, 300, 383, 384, 600, 700, 768, 1000, 1100, 102450};
    const LithoPatchParams fill = patch_settings("mode=fill");
    for (guint k = 0; k < G_N_ELEMENTS(lengths); k++) {
        const LithoGrid grid = litho_grid_new(lengths[k], 30, 50);
        const LithoPatchBlocks blocks = litho_patch_blocks(&grid);
        const gint64 slab = litho_operator_patch.slab(&grid, &fill);
        const LithoBox most = litho_patch_largest_frame(&grid);
        gint64 at = 0;
        for (int i = 0; i < blocks.n[0]; i++) {
            const LithoBox block = litho_patch_block(&grid, i, 0);
            const LithoBox frame = litho_patch_block_frame(&grid, i, 0);
            g_assert_cmpint(block.lo[0], ==, at);
            g_assert_cmpint(block.hi[0], >, at);
            g_assert_cmpint(block.lo[0] / slab, ==, (block.hi[0] - 1) / slab);
            g_assert_cmpint(litho_box_size(frame, 0), <=, litho_box_size(most, 0));
            at = block.hi[0];
        }
        g_assert_cmpint(at, ==, lengths[k]);
        g_assert_cmpint(slab, <=, 384);
    }
}

// Property: a survey of one row of blocks runs in one slab however large it is, one of four rows in
// four, and removing noise alone in as many as keep reading and writing beside computing.
static void test_slabs(void)
{
    const struct {
        gint64 inlines;
        const char *words;
        gint64 slabs;
    } cases[] = {{300, "mode=fill", 1},
                 {300, "mode=both", 1},
                 {300, "mode=denoise", 4},
                 {1000, "mode=fill", 4}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        const LithoGrid grid = litho_grid_new(cases[k].inlines, 300, 300);
        const LithoStreamOptions options = {.memory = (guint64)1 << 40, .threads = 2};
        g_autoptr(LithoFlow) flow = litho_flow_new();
        litho_flow_append(flow, &litho_operator_patch);
        *(LithoPatchParams *)litho_flow_step(flow, 0)->params = patch_settings(cases[k].words);
        g_autoptr(LithoWalk) walk = litho_walk_look(flow, &grid, NULL);
        LithoStreamPlan plan;
        g_assert_true(litho_stream_make_plan(flow, walk, &grid, &options, 0, &plan, NULL));
        g_assert_cmpint(plan.n_slabs, ==, cases[k].slabs);
    }
}

// Property: blocks of a row are slabs of their own, the same for any memory and number of
// processes. Dips of the filling need the blocks all around: their slabs are whole inlines, and so is
// all of removing noise and of a block alone. A step behind the filling needs them, too: one process
// has whole inlines, and several fill blocks, which the first one puts together for the step.
static void test_columns(void)
{
    static const struct {
        gint64 inlines, crosslines;
        const char *words, *volume;
        gboolean fx; // behind it
        gint64 slab, across, columns;
    } cases[] = {{64, 1024, "mode=fill", NULL, FALSE, 64, 256, 4},
                 {64, 1000, "mode=both", NULL, FALSE, 64, 250, 4},
                 {900, 520, "mode=fill", NULL, FALSE, 225, 260, 2},
                 {900, 40, "mode=fill", NULL, FALSE, 225, 40, 1},
                 {64, 1024, "mode=fill", LITHO_PATCH_DIP_IL, FALSE, 64, 1024, 1},
                 {64, 1024, "mode=fill", NULL, TRUE, 64, 1024, 1},
                 {64, 300, "mode=fill", NULL, FALSE, 64, 300, 1},
                 {64, 1024, "mode=denoise", NULL, FALSE, 0, 1024, 1}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++)
        for (int processes = 1; processes <= 3; processes += 2) {
            const LithoGrid grid = litho_grid_new(cases[k].inlines, cases[k].crosslines, 100);
            LithoPeers peers = {.n = processes};
            const LithoStreamOptions options = {
                .memory = (guint64)processes << 30, .threads = 2, .peers = &peers};
            g_autoptr(LithoFlow) flow = litho_flow_new();
            litho_flow_append(flow, &litho_operator_patch);
            *(LithoPatchParams *)litho_flow_step(flow, 0)->params = patch_settings(cases[k].words);
            if (cases[k].fx)
                litho_flow_append(flow, litho_operator_find("fx"));
            if (cases[k].volume)
                g_assert_true(litho_flow_set_volume(flow, cases[k].volume, NULL));
            g_autoptr(LithoWalk) walk = litho_walk_look(flow, &grid, NULL);
            LithoStreamPlan plan;
            g_assert_true(litho_stream_make_plan(flow, walk, &grid, &options, 0, &plan, NULL));
            const gboolean apart = cases[k].fx && processes > 1;
            g_assert_cmpint(plan.columns, ==, apart ? cases[0].columns : cases[k].columns);
            g_assert_cmpint(plan.across, ==, apart ? cases[0].across : cases[k].across);
            if (cases[k].slab > 0)
                g_assert_cmpint(plan.slab, ==, cases[k].slab);
            gint64 traces = 0;
            for (gint64 slab = 0; slab < plan.n_slabs; slab++) {
                const LithoBox box = litho_stream_slab_box(&plan, slab);
                traces += litho_box_size(box, 0) * litho_box_size(box, 1);
            }
            g_assert_cmpint(traces, ==, litho_grid_traces(&grid));
        }
}

// --- filling -------------------------------------------------------------------------------------

static LithoCube *with_gaps(gint64 n_il, gint64 n_xl, gint64 n_t)
{
    g_autoptr(LithoCube) clean = patch_cube(PATCH_CURVED, n_il, n_xl, n_t);
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, n_il, n_xl, n_t, 0.5, 7);
    LithoCube *in = patch_sum(clean, noise);
    patch_kill(in, 30, 4);
    return in;
}

// Property: mode=both with the rule of energies fills down to the threshold of single coefficients,
// 3 for 16^3, and judges energies at the end alone: its samples are those of the two steps apart.
static void test_fill_rule(void)
{
    g_autoptr(LithoCube) in = with_gaps(30, 25, 64);
    const LithoPatchParams both = patch_settings("mode=both rule=energy sigma=0.5 erratic=0");
    const LithoPatchParams fill = patch_settings("mode=fill threshold=3 sigma=0.5 erratic=0");
    const LithoPatchParams energy = patch_settings("rule=energy sigma=0.5 erratic=0 faults=off");
    g_autoptr(LithoCube) at_once = patch_run(&litho_patch_cpu, in, &both, NULL, 2);
    g_autoptr(LithoCube) filled = patch_run(&litho_patch_cpu, in, &fill, NULL, 2);
    g_autoptr(LithoCube) apart = patch_run(&litho_patch_cpu, filled, &energy, NULL, 2);
    patch_assert_part(apart, at_once);
}

static LithoCube *read_part(const LithoBox *box, LithoRun *run, gpointer data, GError **error)
{
    (void)run;
    return litho_cube_copy_box(data, *box, error);
}

static LithoMeasured *measure(LithoCube *cube, const LithoPatchParams *p)
{
    const LithoReader reader = {.grid = &cube->grid, .read = read_part, .data = cube};
    return litho_patch_measure(p, &reader, NULL, NULL);
}

static LithoCube *fill_with(gpointer plan, const LithoCube *in, const LithoPatchParams *p,
                            LithoMeasured *measured)
{
    const LithoBox region = {{3, 2, 0}, {11, 20, 64}};
    LithoCube *out = litho_cube_new_box(&in->grid, region, NULL);
    litho_cube_inherit(out, in);
    const LithoPass pass = {.params = p,
                            .measured = measured,
                            .first_stage = 1,
                            .in = in,
                            .region = region,
                            .out = out};
    g_assert_true(litho_patch_cpu.exec(plan, &pass, NULL, NULL));
    return out;
}

// Property: blocks that are kept from a region to the next are of their level: other measured
// numbers for the same cube and parameters give the samples of a fresh plan.
static void test_kept_blocks(void)
{
    g_autoptr(LithoCube) in = with_gaps(30, 25, 64);
    g_autoptr(LithoCube) loud = patch_noise(PATCH_WHITE, 30, 25, 64, 5, 3);
    const LithoPatchParams p = patch_settings("mode=fill iterations=3");
    g_autoptr(LithoMeasured) own = measure(in, &p), other = measure(loud, &p);
    gpointer plan = litho_patch_cpu.plan(&in->grid, &p, NULL, NULL, NULL);
    gpointer fresh = litho_patch_cpu.plan(&in->grid, &p, NULL, NULL, NULL);
    g_autoptr(LithoCube) first = fill_with(plan, in, &p, own);
    g_autoptr(LithoCube) second = fill_with(plan, in, &p, other);
    g_autoptr(LithoCube) expected = fill_with(fresh, in, &p, other);
    patch_assert_part(expected, second);
    g_assert_cmpint(memcmp(first->samples, second->samples, 4 * litho_cube_held_samples(first)), !=,
                    0);
    litho_patch_cpu.destroy(plan);
    litho_patch_cpu.destroy(fresh);
}

// --- volumes -------------------------------------------------------------------------------------

static LithoCube *coherence_of(const LithoCube *in, const LithoPatchParams *p)
{
    LithoCube *out = litho_cube_new(&in->grid, NULL);
    litho_cube_inherit(out, in);
    gpointer plan = litho_patch_cpu.plan(&in->grid, p, NULL, NULL, NULL);
    const LithoPass pass = {.params = p,
                            .volume =
                                litho_operator_volume(&litho_operator_patch, LITHO_PATCH_COHERENT),
                            .first_stage = 1,
                            .in = in,
                            .region = in->held,
                            .out = out};
    g_assert_true(litho_patch_cpu.exec(plan, &pass, NULL, NULL));
    litho_patch_cpu.destroy(plan);
    return out;
}

// Property: coherence is that of the result as it is written, whose mutes are zero: of windows that
// spread into a mute at the top nothing is seen.
static void test_mute(void)
{
    g_autoptr(LithoCube) clean = patch_cube(PATCH_PLANES, 24, 24, 80);
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, 24, 24, 80, 0.3, 3);
    g_autoptr(LithoCube) in = patch_sum(clean, noise);
    const LithoPatchParams p = patch_settings("sigma=0.3 erratic=0");
    for (gint64 k = 0; k < 24 * 24; k++)
        memset(in->samples + k * 80, 0, (20 + k % 24) * sizeof(float));
    g_autoptr(LithoCube) result = patch_run(&litho_patch_cpu, in, &p, NULL, 2);
    g_autoptr(LithoCube) expected = litho_cube_new(&in->grid, NULL);
    litho_cube_inherit(expected, in);
    litho_mute_keep(in, result, result->held, 2);
    g_assert_true(patch_structure(result, result->held, 2, 1, expected, NULL, NULL));
    g_autoptr(LithoCube) coherence = coherence_of(in, &p);
    patch_assert_part(expected, coherence);
}

// Property: the noise level as a volume is the table of cells, interpolated at every sample, for
// any number of threads. 1e-6: sums in single precision.
static void test_level_volume(void)
{
    enum { CELLS = 3 * 2 * 4, BINS = 2 };
    float sigma[CELLS * BINS], own[CELLS];
    const LithoGrid grid = litho_grid_new(40, 30, 70);
    PatchLevels levels = {.sigma = sigma,
                          .table = {.n = {3, 2, 4},
                                    .first = {6, 7, 8},
                                    .step = {13, 15, 17},
                                    .bins = BINS,
                                    .sigma = sigma}};
    LithoPatchLevels one = levels.table;
    for (int k = 0; k < CELLS; k++) {
        sigma[2 * k] = 1 + (float)(k * k % 7);
        sigma[2 * k + 1] = 1 + (float)(k * k % 5);
        own[k] = sqrtf((sigma[2 * k] * sigma[2 * k] + sigma[2 * k + 1] * sigma[2 * k + 1]) / 2);
    }
    one.bins = 1;
    one.sigma = own;
    for (int threads = 1; threads <= 3; threads += 2) {
        LithoRun run = {.threads = threads};
        g_autoptr(LithoCube) out = litho_cube_new(&grid, NULL);
        g_assert_true(patch_levels_volume(&levels, out->held, out, &run, NULL));
        for (gint64 k = 0; k < litho_grid_samples(&grid); k++) {
            const float at[3] = {(float)(k / 2100), (float)(k / 70 % 30), (float)(k % 70)};
            g_assert_cmpfloat_with_epsilon(out->samples[k] / litho_patch_level(&one, at, 0), 1,
                                           1e-6);
        }
    }
}

// --- memory --------------------------------------------------------------------------------------

// Property: what is told holds the frame of a block with neighbours on all sides, three times,
// beside the input, its copy and the result; a part of a block is kept as a whole block. The frame
// at a corner of the survey is a quarter smaller.
static void test_fill_memory(void)
{
    const LithoGrid grid = litho_grid_new(768, 768, 40);
    const LithoBox all = litho_box_full(&grid), part = {{0, 0, 0}, {1, 768, 40}};
    const LithoPatchParams fill = patch_settings("mode=fill sigma=1");
    const guint64 frame = 320 * 320 * 40, block = 256 * 256 * 40;
    const LithoBox need = litho_patch_input_box(&grid, &fill, part);
    g_assert_cmpuint(litho_patch_cpu.memory(&grid, &fill, NULL, all, 2), >=,
                     12 * litho_box_count(all) + 12 * frame);
    g_assert_cmpuint(litho_patch_cpu.memory(&grid, &fill, NULL, part, 2), >=,
                     8 * litho_box_count(need) + 12 * frame + 4 * 3 * block);
}

// Property: what is told of a structure volume holds it, the products of eleven inlines, the result
// around it and the input.
static void test_volume_memory(void)
{
    const LithoGrid grid = litho_grid_new(100, 900, 80);
    const LithoBox region = {{40, 10, 0}, {60, 800, 80}};
    const LithoPatchParams p = patch_settings("sigma=1 erratic=0 overlap=2");
    const LithoVolumeDoc *dip = litho_operator_volume(&litho_operator_patch, LITHO_PATCH_DIP_IL);
    const LithoVolumeDoc *level =
        litho_operator_volume(&litho_operator_patch, LITHO_PATCH_NOISE_LEVEL);
    const LithoBox box = litho_volume_box(dip, &grid, region);
    const LithoBox need = litho_patch_input_box(&grid, &p, box);
    g_assert_cmpuint(
        litho_patch_cpu.memory(&grid, &p, NULL, box, 2) +
            litho_patch_cpu.volume_memory(&grid, &p, dip, region),
        >=, 4 * (litho_box_count(need) + litho_box_count(box)) + 4 * (20 + 11 * 6) * 790 * 80);
    g_assert_cmpuint(litho_patch_cpu.volume_memory(&grid, &p, level, region), ==, 0);
}

// --- looks at a cancel ---------------------------------------------------------------------------

typedef struct Looks {
    const LithoRun *run;
    const char *stage; // NULL = any
    guint n;
} Looks;

static gboolean count_look(gpointer data)
{
    Looks *l = data;
    l->n += !l->stage || (l->run->what && strcmp(l->run->what, l->stage) == 0);
    return FALSE;
}

// Looks in `stage` (NULL: in all) of a pass over `region` (NULL: all) by one thread.
static guint looks_of(const char *words, const char *volume, const char *stage, const LithoCube *in,
                      const LithoBox *region)
{
    const LithoPatchParams p = patch_settings(words);
    Looks looks = {.stage = stage};
    LithoRun run = {.threads = 1, .superseded = count_look, .superseded_data = &looks};
    looks.run = &run;
    g_autoptr(LithoCube) out = litho_cube_new_box(&in->grid, region ? *region : in->held, NULL);
    litho_cube_inherit(out, in);
    gpointer plan = litho_patch_cpu.plan(&in->grid, &p, NULL, &run, NULL);
    const LithoPass pass = {.params = &p,
                            .volume = volume ? litho_operator_volume(&litho_operator_patch, volume)
                                             : NULL,
                            .first_stage = 1,
                            .in = in,
                            .region = out->held,
                            .out = out};
    g_assert_true(litho_patch_cpu.exec(plan, &pass, &run, NULL));
    litho_patch_cpu.destroy(plan);
    g_test_message("%s, %s: %u looks", words, volume ? volume : "result", looks.n);
    return looks.n;
}

// Property: a cancel is looked for every few windows of a column, which is long where traces or
// windows are; at every trace of dips; at every inline that a block reads and writes.
static void test_looks(void)
{
    g_autoptr(LithoCube) deep = patch_noise(PATCH_WHITE, 16, 16, 1600, 1, 5);
    g_autoptr(LithoCube) wide = patch_noise(PATCH_WHITE, 24, 24, 480, 1, 5);
    g_autoptr(LithoCube) flat = patch_noise(PATCH_WHITE, 40, 20, 30, 1, 5);
    g_autoptr(LithoCube) broad = patch_noise(PATCH_WHITE, 64, 64, 16, 1, 5);
    g_autoptr(LithoCube) halved = litho_cube_copy_box(deep, deep->held, NULL);
    patch_decimate(halved, 2, 1);
    const LithoBox part = {{0, 0, 0}, {39, 20, 30}};
    // 5 x 5 columns of 402 windows of 16^3, 3 x 3 of 42 of 24^3.
    g_assert_cmpuint(looks_of("sigma=1 erratic=0", NULL, "windows", deep, NULL), >=, 25 * 12);
    g_assert_cmpuint(looks_of("sigma=1 erratic=0 window=24 overlap=2", NULL, "windows", wide, NULL),
                     >=, 9 * 10);
    // Three sweeps of a filling that half the frequencies guide.
    g_assert_cmpuint(
        looks_of("mode=fill sigma=1 erratic=0 iterations=2", NULL, "filling", halved, NULL), >=,
        3 * 25 * 12);
    // 17 x 17 columns, before each and in it, and 64 x 64 sums, 64 at a time.
    g_assert_cmpuint(looks_of("sigma=1 erratic=0", NULL, "windows", broad, NULL), >=,
                     2 * 17 * 17 + 64);
    g_assert_cmpuint(looks_of("sigma=1 erratic=0", LITHO_PATCH_COHERENT, "dips", flat, NULL), >=,
                     3 * 40 * 20);
    // No trace is missing: the frame is read, and the region's 39 inlines are written and kept.
    g_assert_cmpuint(looks_of("mode=fill sigma=1 erratic=0", NULL, NULL, flat, &part), >=,
                     40 + 39 + 40);
    g_assert_cmpuint(
        looks_of("sigma=1 erratic=0", LITHO_PATCH_NOISE_LEVEL, "noise level", flat, NULL), >=, 40);
}

// Property: the passes of a filling are one stage, of which the time left is told: it begins once,
// goes on without a step back and ends whole. Each pass began at zero.
static void test_fill_progress(void)
{
    static const char *const words[] = {"mode=fill iterations=9", "mode=both iterations=9"};
    for (guint k = 0; k < G_N_ELEMENTS(words); k++)
        for (int regular = 0; regular < 2; regular++) {
            g_autoptr(LithoCube) in = with_gaps(40, 37, 64);
            if (regular)
                patch_decimate(in, 2, 1);
            g_autoptr(LithoCube) out = litho_cube_new(&in->grid, NULL);
            const LithoPatchParams p = patch_settings(words[k]);
            PatchHeard heard = {.stage = "filling"};
            LithoRun run = {.threads = 2, .on_progress = patch_hear, .progress_data = &heard};
            gpointer plan = litho_patch_cpu.plan(&in->grid, &p, NULL, &run, NULL);
            const LithoPass pass = {
                .params = &p, .first_stage = 1, .in = in, .region = in->held, .out = out};
            g_assert_true(litho_patch_cpu.exec(plan, &pass, &run, NULL));
            litho_patch_cpu.destroy(plan);
            g_assert_cmpint(heard.total, ==, 10 * 11 * 11);
            g_assert_cmpint(heard.done, ==, heard.total);
            g_assert_cmpuint(heard.ends, >=, 1);
        }
}

// Property: it is looked for at every window of each frequency where windows of 32 samples and more
// tell the level, and at every window that is transformed.
static void test_level_looks(void)
{
    g_autoptr(LithoCube) in = patch_noise(PATCH_WHITE, 40, 40, 100, 1, 5);
    const int window[3] = {16, 16, 32};
    LithoNoiseWindows *job = litho_noise_windows_new(&in->grid, NULL, window, 256, NULL);
    Looks looks = {0};
    LithoRun run = {.threads = 1, .superseded = count_look, .superseded_data = &looks};
    looks.run = &run;
    g_assert_true(litho_noise_windows_add(job, in, NULL, in->held, &run, NULL));
    g_assert_cmpuint(looks.n, >=, job->windows);
    looks.n = 0;
    LithoNoise noise;
    g_assert_true(litho_noise_windows_finish(job, &run, &noise, NULL));
    g_assert_cmpuint(looks.n, >=, 3 * job->nf * job->windows);
    litho_noise_clear(&noise);
    litho_noise_windows_free(job);
}

// Property: zeros have no noise to measure and pass in every mode.
static void test_zeros(void)
{
    static const char *const words[] = {"", "mode=both iterations=2", "mode=fill iterations=2"};
    g_autoptr(LithoCube) in = patch_noise(PATCH_WHITE, 20, 24, 64, 0, 1);
    for (guint k = 0; k < G_N_ELEMENTS(words); k++) {
        g_autoptr(LithoCube) out = litho_cube_new(&in->grid, NULL);
        const LithoPatchParams p = patch_settings(words[k]);
        gpointer plan = litho_patch_cpu.plan(&in->grid, &p, NULL, NULL, NULL);
        const LithoPass pass = {
            .params = &p, .first_stage = 1, .in = in, .region = in->held, .out = out};
        g_autoptr(GError) error = NULL;
        g_assert_true(litho_patch_cpu.exec(plan, &pass, NULL, &error));
        g_assert_no_error(error);
        litho_patch_cpu.destroy(plan);
        for (gint64 i = 0; i < litho_box_count(out->held); i++)
            g_assert_cmpfloat(out->samples[i], ==, 0);
    }
}

// Property: a filling whose level is known guesses no missing traces, which begin at zero: without
// bursts nothing else asks for guesses. With the level to be measured they are guessed.
static void test_fill_guesses_nothing(void)
{
    g_autoptr(LithoCube) in = with_gaps(30, 25, 64);
    const char *guesses = "missing traces";
    g_assert_cmpuint(looks_of("mode=fill iterations=2", NULL, guesses, in, NULL), >, 0);
    g_assert_cmpuint(looks_of("mode=fill iterations=2 sigma=0.5", NULL, guesses, in, NULL), ==, 0);
}

static LithoCube *run_slab(LithoEngine *engine, const LithoFlow *flow, const LithoCube *whole,
                           LithoBox region, guint64 source, guint *filled)
{
    LithoBox need;
    Looks looks = {.stage = "filling"};
    LithoRun run = {.threads = 1, .superseded = count_look, .superseded_data = &looks};
    looks.run = &run;
    g_assert_true(litho_walk_input_box(flow, &whole->grid, region, NULL, &need, NULL));
    g_autoptr(LithoCube) in = litho_cube_copy_box(whole, need, NULL);
    in->source = source;
    LithoCube *out = litho_engine_run(engine, flow, in, &region, &run, NULL);
    g_assert_nonnull(out);
    *filled = looks.n;
    return out;
}

// Property: a step behind a filling asks for the neighbouring rows of blocks, too. Slabs of one
// input fill each row once: the second of two has both from the first, and its samples are those of
// a fresh engine. Another input's are filled anew.
static void test_slabs_fill_once(void)
{
    g_autoptr(LithoCube) in = with_gaps(520, 6, 24);
    g_autoptr(LithoFlow) flow = litho_flow_new();
    const LithoBox slab[2] = {{{0, 0, 0}, {260, 6, 24}}, {{260, 0, 0}, {520, 6, 24}}};
    guint filled[4];
    litho_flow_append(flow, &litho_operator_patch);
    litho_flow_append(flow, &litho_operator_patch);
    *(LithoPatchParams *)litho_flow_step(flow, 0)->params =
        patch_settings("mode=fill iterations=2 overlap=2 sigma=1 erratic=0");
    *(LithoPatchParams *)litho_flow_step(flow, 1)->params =
        patch_settings("overlap=2 sigma=1 erratic=0");
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    LithoEngine *fresh = litho_engine_new(litho_device_cpu());
    g_autoptr(LithoCube) first = run_slab(engine, flow, in, slab[0], in->serial, &filled[0]);
    g_autoptr(LithoCube) second = run_slab(engine, flow, in, slab[1], in->serial, &filled[1]);
    g_autoptr(LithoCube) expected = run_slab(fresh, flow, in, slab[1], 0, &filled[2]);
    patch_assert_part(expected, second);
    g_assert_cmpuint(filled[0], >, 0);
    g_assert_cmpuint(filled[1], ==, 0);
    g_assert_cmpuint(filled[2], >, 0);
    g_autoptr(LithoCube) other = run_slab(engine, flow, in, slab[0], in->serial + 1, &filled[3]);
    patch_assert_part(first, other);
    g_assert_cmpuint(filled[3], ==, filled[0]);
    litho_engine_free(engine);
    litho_engine_free(fresh);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/patch-runs/blocks", test_blocks);
    g_test_add_func("/patch-runs/slabs", test_slabs);
    g_test_add_func("/patch-runs/columns", test_columns);
    g_test_add_func("/patch-runs/fill-rule", test_fill_rule);
    g_test_add_func("/patch-runs/kept-blocks", test_kept_blocks);
    g_test_add_func("/patch-runs/fill-guesses-nothing", test_fill_guesses_nothing);
    g_test_add_func("/patch-runs/zeros", test_zeros);
    g_test_add_func("/patch-runs/slabs-fill-once", test_slabs_fill_once);
    g_test_add_func("/patch-runs/mute", test_mute);
    g_test_add_func("/patch-runs/level-volume", test_level_volume);
    g_test_add_func("/patch-runs/fill-memory", test_fill_memory);
    g_test_add_func("/patch-runs/volume-memory", test_volume_memory);
    g_test_add_func("/patch-runs/looks", test_looks);
    g_test_add_func("/patch-runs/fill-progress", test_fill_progress);
    g_test_add_func("/patch-runs/level-looks", test_level_looks);
    return g_test_run();
}
