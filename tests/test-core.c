// SPDX-License-Identifier: GPL-3.0-or-later
//
// Values of core/: boxes, recipes, numbers about cubes, timings, generated cubes.
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/control_group.h"
#include "core/error.h"
#include "core/flow.h"
#include "core/memory.h"
#include "core/qc.h"
#include "core/synth/synth_parts.h"
#include "core/text.h"
#include "core/words.h"
#include "kernels/kernels.h"
#include "kernels/template/template.h"
#include "tests/common.h"

// --- boxes ------------------------------------------------------------------------------------

// Property: set algebra of half-open boxes against counting cells one by one.
static void test_boxes(void)
{
    LithoGrid grid = litho_grid_new(7, 6, 5);
    LithoBox a = {{1, 0, 2}, {5, 4, 5}}, b = {{3, 2, 0}, {7, 6, 4}};
    gint64 both = 0;
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 6; j++)
            for (int k = 0; k < 5; k++)
                both += i >= 3 && i < 5 && j >= 2 && j < 4 && k >= 2 && k < 4;
    LithoBox both_box = litho_box_intersect(a, b), either = litho_box_union(a, b);
    g_assert_cmpint(litho_box_count(both_box), ==, both);
    g_assert_true(litho_box_contains(either, a) && litho_box_contains(either, b));
    g_assert_true(litho_box_contains(a, both_box) && !litho_box_contains(both_box, a));
    LithoBox apart = litho_box_intersect(a, (LithoBox){{6, 0, 0}, {7, 6, 5}});
    g_assert_true(litho_box_empty(apart));
    g_assert_cmpint(litho_box_count(apart), ==, 0);
    LithoBox grown = litho_box_grow(&grid, a, (const gint64[3]){2, 1, 9});
    g_assert_true(litho_box_equal(grown, (LithoBox){{0, 0, 0}, {7, 5, 5}}));
    grid.axis[0].n = G_MAXINT64 / 2;
    g_autoptr(GError) error = NULL;
    g_assert_false(litho_grid_check(&grid, &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY);
}

// --- recipes ----------------------------------------------------------------------------------

// Property: print, parse, print gives the same bytes, for every preset of every operator.
static void test_recipe_round_trip(void)
{
    for (const LithoOperator *const *op = litho_operators(); *op; op++)
        for (const LithoPreset *preset = (*op)->presets; preset && preset->name; preset++) {
            g_autoptr(LithoFlow) flow = litho_flow_new();
            LithoStep *step = litho_flow_step(flow, litho_flow_append(flow, *op));
            g_autoptr(GError) error = NULL;
            g_assert_true(litho_operator_preset(*op, preset->name, step->params, &error));
            g_autofree char *once = litho_flow_print(flow);
            g_autoptr(LithoFlow) read = litho_flow_parse(once, &error);
            g_assert_no_error(error);
            g_autofree char *twice = litho_flow_print(read);
            g_assert_cmpstr(once, ==, twice);
            g_assert_true(litho_flow_equal(flow, read));
        }
}

// Property: a recipe of an older version that names the number of GPUs is read, says one sentence,
// and its other values stand; the key is no parameter, and the sentence says where its work is done
// now.
static void test_recipe_retired(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoFlow) flow = litho_flow_parse(
        "{\"lithoscope\":1,\"flow\":[{\"operator\":\"wavepacket\",\"params\":{\"gpus\":2,"
        "\"threshold\":3}},{\"operator\":\"migrate\",\"params\":{\"gpus\":0}}]}",
        &error);
    g_assert_no_error(error);
    g_assert_nonnull(flow->note);
    g_assert_nonnull(strstr(flow->note, "--gpus"));
    const LithoStep *step = litho_flow_step(flow, 0);
    const LithoParam *threshold = litho_param_find(&step->op->params, "threshold");
    g_assert_cmpfloat(litho_param_get(threshold, step->params), ==, 3);
    g_assert_false(litho_operator_set(step->op, step->params, "gpus=2", &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER);
    g_assert_cmpstr(error->message, ==, flow->note);
    g_autofree char *text = litho_flow_print(flow);
    g_assert_null(strstr(text, "gpus"));
    g_autoptr(LithoFlow) again = litho_flow_parse(text, NULL);
    g_assert_null(again->note);
}

// Property: a recipe that holds a choice of an older version is read with the choice that took its
// place and says one sentence; nobody can choose it, the recipe written back does not have it.
static void test_recipe_retired_choice(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoFlow) flow =
        litho_flow_parse("{\"lithoscope\":1,\"flow\":[{\"operator\":\"twsm\",\"params\":{"
                         "\"algorithm\":\"matrix\"}}]}",
                         &error);
    g_assert_no_error(error);
    g_assert_nonnull(flow->note);
    const LithoStep *step = litho_flow_step(flow, 0);
    const LithoParam *algorithm = litho_param_find(&step->op->params, "algorithm");
    g_autofree char *now = litho_param_print(algorithm, step->params);
    g_assert_cmpstr(now, ==, "fused");
    g_assert_false(litho_operator_set(step->op, step->params, "algorithm=matrix", &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER);
    g_assert_cmpstr(error->message, ==, flow->note);
    g_autofree char *text = litho_flow_print(flow);
    g_assert_null(strstr(text, "matrix"));
}

// Property: each kind of wrong recipe is refused with a sentence that names what is wrong.
static void test_recipe_refusals(void)
{
    static const LithoOperator *const only[] = {&litho_operator_template, NULL};
    litho_operators_register(only);
    const struct {
        const char *text, *names;
    } bad[] = {
        {"[]", "a recipe must be"},
        {"{\"lithoscope\":2,\"flow\":[]}", "version 1"},
        {"{\"lithoscope\":1,\"flow\":[],\"x\":1}", "x is not known"},
        {"{\"lithoscope\":1,\"flow\":[{\"operator\":\"magic\"}]}", "'magic'"},
        {"{\"lithoscope\":1,\"flow\":[{\"operator\":\"template\",\"parms\":{}}]}",
         "flow[0].parms is not known"},
        {"{\"lithoscope\":1,\"flow\":[{\"operator\":\"template\",\"params\":{\"gain\":1e9}}]}",
         "0.001 to 1000"},
        {"{\"lithoscope\":1,\"flow\":[{\"operator\":\"template\",\"params\":{\"gain\":[1]}}]}",
         "gain"},
    };
    for (guint k = 0; k < G_N_ELEMENTS(bad); k++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(litho_flow_parse(bad[k].text, &error));
        g_assert_nonnull(error);
        g_assert_nonnull(strstr(error->message, bad[k].names));
    }
    g_autoptr(GError) error = NULL;
    g_assert_null(litho_flow_parse("{ broken", &error));
    g_assert_nonnull(error);
    litho_kernels_init();
}

// Property: "Copy as command" names exactly the parameters that differ, quoted for a shell.
static void test_command(void)
{
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_template);
    ((LithoTemplateParams *)litho_flow_step(flow, 0)->params)->halfwidth = 4;
    g_autofree char *command = litho_flow_command(flow, "my cube.sgy", "out.sgy");
    g_assert_cmpstr(command, ==,
                    "lithoscope-cli run template 'halfwidth=4' -i 'my cube.sgy' -o 'out.sgy'");
    g_autofree char *bare = litho_flow_command(flow, "my cube.sgy", NULL);
    g_assert_cmpstr(bare, ==, "lithoscope-cli run template 'halfwidth=4' -i 'my cube.sgy'");
}

// --- numbers about cubes ----------------------------------------------------------------------

static int compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Property: percentiles are exact: equal to sorting all magnitudes; dead traces do not count.
static void test_percentile(void)
{
    LithoGrid grid = litho_grid_new(5, 7, 31);
    g_autoptr(LithoCube) cube = litho_cube_new(&grid, NULL);
    double sorted[5 * 7 * 31];
    guint n = 0;
    for (gint64 t = 0; t < 35; t++) {
        cube->live[t] = t % 6 != 0;
        for (gint64 k = 0; k < 31; k++) {
            float x = (float)(litho_hash_normal(3, 1, t * 31 + k) * exp(t / 3.0));
            cube->samples[t * 31 + k] = cube->live[t] ? x : 1e30f;
            if (cube->live[t])
                sorted[n++] = fabsf(x);
        }
    }
    qsort(sorted, n, sizeof(double), compare_double);
    const double percents[] = {0.1, 1, 37.5, 50, 90, 99, 99.9, 100};
    for (guint k = 0; k < G_N_ELEMENTS(percents); k++) {
        guint rank = MAX((guint)ceil(percents[k] / 100 * n), 1);
        g_assert_cmpfloat(litho_qc_percentile(cube, percents[k]), ==, sorted[rank - 1]);
    }
    cube->samples[32] = NAN; // trace 1 is live: a NaN must be counted, not believed
    LithoStats stats;
    g_assert_true(litho_qc_stats(cube, NULL, &stats, NULL));
    g_assert_cmpint(stats.bad, ==, 1);
    g_assert_cmpint(stats.count, ==, n - 1);
    g_assert_true(isfinite(stats.rms) && stats.max < 1e29);
}

// Property: the colours of signed data span plus and minus the percentile, those of unsigned data
// the percentile from either end; one negative sample decides, a few zeros do not; a unit is said
// only where name and values agree.
static void test_range(void)
{
    LithoGrid grid = litho_grid_new(10, 10, 10);
    g_autoptr(LithoCube) cube = litho_cube_new(&grid, NULL);
    LithoStats stats;
    for (int k = 0; k < 1000; k++)
        cube->samples[k] = 2000 + k; // of which percentile p is 1999 + 10 p
    g_strlcpy(cube->name, "cmp-stack.sgy", sizeof cube->name);
    g_assert_true(litho_qc_stats(cube, NULL, &stats, NULL));
    LithoRange range = litho_qc_range(cube, &stats, 99);
    g_assert_true(range.is_unsigned);
    g_assert_cmpfloat(range.lo, ==, 2009);
    g_assert_cmpfloat(range.hi, ==, 2989);
    g_assert_null(range.unit);
    range = litho_qc_range(cube, &stats, 100);
    g_assert_cmpfloat(range.lo, ==, 2000);
    g_assert_cmpfloat(range.hi, ==, 2999);
    const struct {
        const char *name, *unit;
    } names[] = {{"Vint_final.segy", "m/s"}, {"migVelocity.sgy", "m/s"}, {"pavp.sgy", NULL}};
    for (guint k = 0; k < G_N_ELEMENTS(names); k++) {
        g_strlcpy(cube->name, names[k].name, sizeof cube->name);
        g_assert_cmpstr(litho_qc_range(cube, &stats, 99).unit, ==, names[k].unit);
    }
    double counts[10], sum = 0;
    litho_qc_histogram(cube, 2000, 3000, 10, counts);
    for (int k = 0; k < 10; k++)
        sum += counts[k];
    g_assert_cmpfloat(counts[3], ==, 100);
    g_assert_cmpfloat(sum, ==, 1000);

    cube->samples[500] = -1;
    g_assert_true(litho_qc_stats(cube, NULL, &stats, NULL));
    range = litho_qc_range(cube, &stats, 99);
    g_assert_false(range.is_unsigned);
    g_assert_cmpfloat(range.lo, ==, -range.hi);
    g_assert_cmpfloat(range.hi, ==, 2989);
    // A wavelet of 20 samples in quiet ones: 99 % of all end half way up, 99 % of the wavelet do
    // not.
    for (int k = 0; k < 1000; k++)
        cube->samples[k] = k < 20 ? (float)(k % 2 ? -k - 1 : k + 1) : 1e-3f;
    g_assert_true(litho_qc_stats(cube, NULL, &stats, NULL));
    g_assert_cmpfloat(litho_qc_range(cube, &stats, 99).hi, ==, 10);
    range = litho_qc_range(cube, &stats, LITHO_CLIP_AUTO);
    g_assert_cmpfloat(range.hi, ==, 20);
    g_assert_cmpfloat_with_epsilon(range.percent, 99.98, 1e-9);
    for (int k = 20; k < 1000; k++) // noise at a tenth of that is no quiet
        cube->samples[k] = 1;
    g_assert_true(litho_qc_stats(cube, NULL, &stats, NULL));
    range = litho_qc_range(cube, &stats, LITHO_CLIP_AUTO);
    g_assert_cmpfloat(range.hi, ==, 10);
    g_assert_cmpfloat(range.percent, ==, 99);
    memset(cube->samples, 0, 1000 * sizeof(float));
    cube->samples[7] = -3; // 99 % are zero
    g_assert_true(litho_qc_stats(cube, NULL, &stats, NULL));
    g_assert_cmpfloat(litho_qc_range(cube, &stats, 99).hi, ==, 3);
    cube->samples[7] = 3;
    g_assert_true(litho_qc_stats(cube, NULL, &stats, NULL));
    range = litho_qc_range(cube, &stats, 99);
    g_assert_true(range.is_unsigned);
    g_assert_cmpfloat(range.lo, ==, 0);
    g_assert_cmpfloat(range.hi, ==, 3);
}

// Property: SNR of a cube with known error is the analytic figure (1e-6 dB: double sums), masked
// traces do not count, other shapes are refused.
static void test_compare(void)
{
    LithoGrid grid = litho_grid_new(4, 4, 10), other = litho_grid_new(4, 4, 11);
    g_autoptr(LithoCube) a = litho_cube_new(&grid, NULL);
    g_autoptr(LithoCube) b = litho_cube_new(&grid, NULL);
    g_autoptr(LithoCube) c = litho_cube_new(&other, NULL);
    for (int k = 0; k < 160; k++) {
        a->samples[k] = 2;
        b->samples[k] = k % 2 ? 2.25f : 1.75f;
    }
    b->live[3] = 0;
    b->samples[30] = 1e6f;
    LithoDifference d;
    g_assert_true(litho_qc_compare(b, a, NULL, &d, NULL));
    g_assert_cmpfloat_with_epsilon(d.snr_db, 10 * log10(4 / 0.0625), 1e-6);
    g_assert_cmpint(d.count, ==, 150);
    g_assert_cmpfloat_with_epsilon(d.scale, 1, 1e-9);
    g_autoptr(GError) error = NULL;
    g_assert_false(litho_qc_compare(c, a, NULL, &d, &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY);
}

// --- timings ----------------------------------------------------------------------------------

// Property: median, minimum and spread over the ring, sums inside a pass, dropped passes forgotten.
static void test_timings(void)
{
    LithoTimings *timings = litho_timings_new();
    for (int k = 1; k <= LITHO_TIMINGS_RING + 9; k++) {
        litho_timings_add(timings, "solve", LITHO_STAGE_COMPUTE, k - 0.5, 10, 20);
        litho_timings_add(timings, "solve", LITHO_STAGE_COMPUTE, 0.5, 1, 2);
        litho_timings_end_pass(timings);
        litho_timings_add(timings, "solve", LITHO_STAGE_COMPUTE, 1e6, 0, 0);
        litho_timings_drop_pass(timings);
    }
    LithoStage s;
    g_assert_cmpuint(litho_timings_snapshot(timings, &s, 1), ==, 1);
    g_assert_cmpuint(s.count, ==, LITHO_TIMINGS_RING + 9);
    g_assert_cmpfloat(s.last_ms, ==, LITHO_TIMINGS_RING + 9);
    g_assert_cmpfloat(s.min_ms, ==, 10);
    g_assert_cmpfloat(s.median_ms, ==, 10 + (LITHO_TIMINGS_RING - 1) / 2.0);
    g_assert_cmpfloat(s.flops, ==, 22);
    // A part computed first counts where the whole finds its stage done, and only there.
    LithoStage two[2];
    litho_timings_add(timings, "fft", LITHO_STAGE_COMPUTE, 7, 0, 0);
    litho_timings_add(timings, "solve", LITHO_STAGE_COMPUTE, 3, 0, 0);
    litho_timings_hold_pass(timings);
    litho_timings_add(timings, "solve", LITHO_STAGE_COMPUTE, 30, 0, 0);
    litho_timings_end_pass(timings);
    g_assert_cmpuint(litho_timings_snapshot(timings, two, 2), ==, 2);
    g_assert_cmpfloat(two[0].last_ms, ==, 30);
    g_assert_cmpfloat(two[1].last_ms, ==, 7);
    litho_timings_end_pass(timings);
    litho_timings_snapshot(timings, two, 2);
    g_assert_cmpuint(two[1].count, ==, 1); // once
    litho_timings_unref(timings);
}

// --- generated cubes --------------------------------------------------------------------------

// Property: same parameters, same samples, whatever the number of threads; another seed, others.
static void test_synth_repeats(void)
{
    const LithoSynth *synth = litho_synth_find("survey");
    g_autofree void *params = g_malloc0(synth->params.size);
    litho_param_defaults(&synth->params, params);
    litho_param_parse(&synth->params, params, "inlines", "17", NULL);
    litho_param_parse(&synth->params, params, "xlines", "13", NULL);
    LithoCube *cubes[3];
    int threads = omp_get_max_threads();
    for (int k = 0; k < 3; k++) {
        omp_set_num_threads(k == 1 ? 3 : 1);
        litho_param_parse(&synth->params, params, "seed", k == 2 ? "5" : "4", NULL);
        g_assert_true(synth->make(params, NULL, &cubes[k], NULL, NULL, NULL));
    }
    omp_set_num_threads(threads);
    gsize bytes = 17 * 13 * 300 * 4;
    g_assert_cmpmem(cubes[0]->samples, bytes, cubes[1]->samples, bytes);
    g_assert_cmpint(memcmp(cubes[0]->samples, cubes[2]->samples, bytes), !=, 0);
    for (int k = 0; k < 3; k++)
        litho_cube_unref(cubes[k]);
}

// Property: the noise has the SNR asked for (0.1 dB: 1e6 samples), the truth is free of it, and the
// share of missing traces is as asked (1.5 %: 4000 traces).
static void test_synth_truth(void)
{
    const LithoSynth *synth = litho_synth_find("planes");
    g_autofree void *params = g_malloc0(synth->params.size);
    litho_param_defaults(&synth->params, params);
    litho_param_parse(&synth->params, params, "snr", "-3", NULL);
    litho_param_parse(&synth->params, params, "missing", "10", NULL);
    g_autoptr(LithoCube) noisy = NULL;
    g_autoptr(LithoCube) truth = NULL;
    g_assert_true(synth->make(params, NULL, &noisy, &truth, NULL, NULL));
    LithoDifference d;
    g_assert_true(litho_qc_compare(noisy, truth, NULL, &d, NULL));
    g_assert_cmpfloat_with_epsilon(d.snr_db, -3, 0.1);
    double missing = 100.0 * (1 - litho_cube_count_live(noisy) / 4096.0);
    g_assert_cmpfloat_with_epsilon(missing, 10, 1.5);
    g_assert_cmpint(litho_cube_count_live(truth), ==, 4096);
}

// Property: the velocities of the survey fit its reflections: at a velocity step the clean trace is
// larger than between steps.
static void test_synth_velocity(void)
{
    const LithoSynth *synth = litho_synth_find("survey");
    g_autofree void *params = g_malloc0(synth->params.size);
    litho_param_defaults(&synth->params, params);
    litho_param_parse(&synth->params, params, "inlines", "3", NULL);
    litho_param_parse(&synth->params, params, "diffractors", "0", NULL);
    litho_param_parse(&synth->params, params, "layers", "12", NULL);
    g_autoptr(LithoCube) truth = NULL;
    g_autoptr(LithoCube) velocity = NULL;
    g_assert_true(synth->make(params, NULL, NULL, &truth, &velocity, NULL));
    double at = 0, away = 0;
    int n_at = 0, n_away = 0;
    for (gint64 j = 0; j < truth->grid.axis[1].n; j++)
        for (gint64 k = 1; k < 300; k++) {
            const float *v = litho_cube_trace(velocity, 1, j);
            g_assert_true(v[k] >= 1500 && v[k] < 6000);
            double a = fabs(litho_cube_trace(truth, 1, j)[k]);
            if (v[k] != v[k - 1]) {
                at += a;
                n_at++;
            } else {
                away += a;
                n_away++;
            }
        }
    g_assert_cmpint(n_at, >, 100);
    g_assert_cmpfloat(at / n_at, >, 2 * away / n_away);
}

// Property: threads that see a cancel set one error; an error that came before it stays.
static void test_stopped(void)
{
    g_autoptr(GError) error = NULL;
    g_assert_false(litho_run_stopped(&error));
    g_assert_true(litho_error_is_cancelled(error));
    g_assert_false(litho_run_stopped(&error));
    g_clear_error(&error);
    litho_refuse(&error, LITHO_ERROR_MEMORY, "no memory");
    g_assert_false(litho_run_stopped(&error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY);
    g_assert_false(litho_run_stopped(NULL));
}

// Property: a limit on the address space is seen.
static void test_memory(void)
{
    guint64 bytes = litho_memory_available();
    g_assert_cmpuint(bytes, >, 1 << 20);
    g_assert_cmpuint(bytes, <, G_GUINT64_CONSTANT(1) << 50);
}

static void put(const char *root, const char *folder, const char *name, const char *text)
{
    g_autofree char *at = g_build_filename(root, folder, NULL);
    g_autofree char *path = g_build_filename(at, name, NULL);
    g_assert_cmpint(g_mkdir_with_parents(at, 0700), ==, 0);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

// Property: the groups that a process is in are asked up to the root, and the least that one of
// them leaves counts; pages of files are no use of memory. Both versions of the interface are read,
// and a group that a container cannot see is passed over.
static void test_control_groups(void)
{
    char *root = g_dir_make_tmp("litho-groups-XXXXXX", NULL);
    g_autofree char *of = g_build_filename(root, "cgroup", NULL);
    g_assert_cmpuint(litho_control_group_memory(of, root), ==, G_MAXUINT64);
    put(root, ".", "cgroup", "0::/slurm/job_7/step\n");
    put(root, "slurm", "memory.max", "max\n");
    put(root, "slurm", "memory.current", "900\n");
    put(root, "slurm/job_7", "memory.max", "8000\n");
    put(root, "slurm/job_7", "memory.current", "3000\n");
    put(root, "slurm/job_7", "memory.stat", "anon 1\nactive_file 700\ninactive_file 300\n");
    put(root, "slurm/job_7/step", "memory.max", "9000\n");
    put(root, "slurm/job_7/step", "memory.current", "1000\n");
    g_assert_cmpuint(litho_control_group_memory(of, root), ==, 6000);
    g_assert_cmpint(litho_control_group_processors(of, root), ==, 0);
    put(root, "slurm", "cpu.max", "max 100000\n");
    put(root, "slurm/job_7", "cpu.max", "150000 100000\n");
    g_assert_cmpint(litho_control_group_processors(of, root), ==, 2);
    put(root, ".", "cgroup", "4:memory:/outside/us\n2:cpu,cpuacct:/a\n1:cpuset:/\n");
    put(root, "memory", "memory.limit_in_bytes", "5000\n");
    put(root, "memory", "memory.usage_in_bytes", "4000\n");
    put(root, "memory", "memory.stat", "cache 9\ntotal_active_file 0\ntotal_inactive_file 1000\n");
    put(root, "cpu/a", "cpu.cfs_quota_us", "-1\n");
    put(root, "cpu", "cpu.cfs_quota_us", "50000\n");
    put(root, "cpu", "cpu.cfs_period_us", "100000\n");
    g_assert_cmpuint(litho_control_group_memory(of, root), ==, 2000);
    g_assert_cmpint(litho_control_group_processors(of, root), ==, 1);
    test_remove_folder(root);
}

// Property: what plans keep is a quarter of what the user allows, 2 GiB at most.
static void test_memory_to_keep(void)
{
    g_setenv("LITHO_MEMORY", "0.004", TRUE);
    g_assert_cmpuint(litho_memory_to_keep(), <=, (guint64)(0.001 * 1073741824));
    g_unsetenv("LITHO_MEMORY");
    g_assert_cmpuint(litho_memory_to_keep(), <=, (guint64)2 << 30);
}

// Property: what an operator tells comes back as it was told: a replaced curve keeps how it is
// drawn, a shape replaces its namesake with all its points, and every change moves the serial that
// tells a view to look again.
static void test_report(void)
{
    LithoReport *report = litho_report_new();
    double x[3] = {1, 2, 3}, y[3] = {4, 5, 6};
    litho_report_curve(report, "k", "Label", "x", "y", 3, x, y);
    litho_report_curve_style(report, "k", "group", "name", TRUE, FALSE, TRUE);
    litho_report_curve_marks(report, "k", 1, &x[1]);
    litho_report_curve_style(report, "nobody", "group", NULL, TRUE, TRUE, TRUE);
    litho_report_curve(report, "k", "Label", "x", "y", 2, x, y);
    g_autoptr(GArray) curves = litho_report_curves(report);
    g_assert_cmpuint(curves->len, ==, 1);
    const LithoCurve *curve = &g_array_index(curves, LithoCurve, 0);
    g_assert_cmpuint(curve->n, ==, 2);
    g_assert_cmpfloat(curve->y[1], ==, 5);
    g_assert_true(curve->log_x && !curve->log_y && curve->bars);
    g_assert_cmpuint(curve->n_marks, ==, 1);
    g_assert_cmpfloat(curve->mark[0], ==, 2);
    g_assert_cmpstr(curve->group, ==, "group");

    guint before = litho_report_serial(report);
    float xyz[48] = {0}, value[2] = {0.25f, 0.5f};
    xyz[47] = 7;
    LithoShape shape = {.key = "boxes",
                        .space = LITHO_SPACE_FREQUENCY,
                        .kind = LITHO_SHAPE_BOXES,
                        .n = 8,
                        .xyz = xyz};
    litho_report_shape(report, &shape);
    shape.n = 16;
    shape.value = value;
    litho_report_shape(report, &shape);
    g_assert_cmpuint(litho_report_serial(report), ==, before + 2);
    xyz[47] = 0; // the report keeps its own
    g_autoptr(GArray) shapes = litho_report_shapes(report);
    g_assert_cmpuint(shapes->len, ==, 1);
    const LithoShape *copy = &g_array_index(shapes, LithoShape, 0);
    g_assert_cmpuint(copy->n, ==, 16);
    g_assert_cmpfloat(copy->xyz[47], ==, 7);
    g_assert_cmpfloat(copy->value[1], ==, 0.5);
    litho_report_unref(report);
}

static void assert_begins(const char *text, const char *begun)
{
    g_autofree char *got = litho_text_begin(text);
    g_assert_cmpstr(got, ==, begun);
}

// Letters of any alphabet become large, and a file's name of other bytes stays as it is, up to its
// last one. Without a catalogue sentences are the English ones, whose second form is that of 0,
// too.
static void test_texts(void)
{
    assert_begins("the data look clean", "The data look clean");
    assert_begins("über 3 Hz", "Über 3 Hz");
    assert_begins("", "");
    assert_begins("\xe4", "\xe4");
    g_assert_cmpstr(litho_text_plural("%d trace", "%d traces", 1), ==, "%d trace");
    g_assert_cmpstr(litho_text_plural("%d trace", "%d traces", 0), ==, "%d traces");
    g_autofree char *near = litho_word_choices("widnow", (const char *[]){"window", "rule", NULL});
    g_autofree char *far = litho_word_choices("velocity", (const char *[]){"window", "rule", NULL});
    g_assert_cmpstr(near, ==, "did you mean 'window'? there are: window, rule");
    g_assert_cmpstr(far, ==, "there are: window, rule");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/grid/boxes", test_boxes);
    g_test_add_func("/recipe/round-trip", test_recipe_round_trip);
    g_test_add_func("/recipe/refusals", test_recipe_refusals);
    g_test_add_func("/recipe/recipe-retired", test_recipe_retired);
    g_test_add_func("/recipe/recipe-retired-choice", test_recipe_retired_choice);
    g_test_add_func("/recipe/command", test_command);
    g_test_add_func("/qc/percentile", test_percentile);
    g_test_add_func("/qc/range", test_range);
    g_test_add_func("/qc/compare", test_compare);
    g_test_add_func("/timings", test_timings);
    g_test_add_func("/synth/repeats", test_synth_repeats);
    g_test_add_func("/synth/truth", test_synth_truth);
    g_test_add_func("/synth/velocity", test_synth_velocity);
    g_test_add_func("/stopped", test_stopped);
    g_test_add_func("/memory", test_memory);
    g_test_add_func("/control-groups", test_control_groups);
    g_test_add_func("/memory-to-keep", test_memory_to_keep);
    g_test_add_func("/core/report", test_report);
    g_test_add_func("/core/texts", test_texts);
    return g_test_run();
}
