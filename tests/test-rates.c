// SPDX-License-Identifier: GPL-3.0-or-later
//
// The time of a run told beforehand, against simulated machines whose times are known.
#include <glib/gstdio.h>
#include <math.h>

#include "core/engine/engine.h"
#include "core/engine/pace.h"
#include "core/engine/pieces.h"
#include "core/engine/rates.h"
#include "core/synth/synth_parts.h"
#include "kernels/kernels.h"
#include "kernels/template/template.h"

// A machine: seconds of a slab of so many samples, of a byte read and written.
typedef struct Machine {
    double fixed_s, sample_s, setup_s, read_s, write_s, finish_s;
} Machine;

static const Machine fast = {.fixed_s = 0.05,
                             .sample_s = 2e-8,
                             .setup_s = 0.7,
                             .read_s = 2e-10,
                             .write_s = 4e-10,
                             .finish_s = 2e-10};

static LithoFlow *one_mean(int halfwidth)
{
    LithoFlow *flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_template);
    ((LithoTemplateParams *)litho_flow_step(flow, 0)->params)->halfwidth = halfwidth;
    return flow;
}

// Seconds of slabs with these times that pass a reader, `n` devices and a writer, each at one slab
// at a time and with `ahead` slabs between reader and writer.
static double simulate(gint64 slabs, double read, const double *compute, int n, double write,
                       gint64 ahead)
{
    g_autofree double *written = g_new0(double, (size_t)MAX(slabs, 1));
    double reader = 0, device[8] = {0}, writer = 0;
    for (gint64 k = 0; k < slabs; k++) {
        const double room = k >= ahead ? written[k - ahead] : 0;
        int first = 0;
        for (int d = 1; d < n; d++)
            first = device[d] < device[first] ? d : first;
        reader = MAX(reader, room) + read;
        device[first] = MAX(reader, device[first]) + compute[k];
        writer = MAX(writer, device[first]) + write;
        written[k] = writer;
    }
    return writer;
}

// Property: stages side by side take what a simulated line takes, within 25 %, whatever the slowest
// stage is and although slabs differ by 40 %.
static void test_side_by_side(void)
{
    GRand *random = g_rand_new_with_seed(3);
    for (int trial = 0; trial < 300; trial++) {
        const gint64 slabs = g_rand_int_range(random, 1, 60);
        const double read = g_rand_double_range(random, 0.01, 2);
        const double write = g_rand_double_range(random, 0.01, 2);
        const double mean = g_rand_double_range(random, 0.01, 2);
        g_autofree double *compute = g_new0(double, slabs);
        double sum = 0;
        for (gint64 k = 0; k < slabs; k++)
            sum += compute[k] = mean * g_rand_double_range(random, 0.8, 1.2);
        const double truth = simulate(slabs, read, compute, 1, write, 3);
        const double told = litho_rates_side_by_side(slabs, read * slabs, sum, write * slabs);
        g_assert_cmpfloat(fabs(told - truth), <, 0.25 * truth);
    }
    g_rand_free(random);
}

static LithoStreamTook took_of(const Machine *m, gint64 slabs, gint64 slab)
{
    const double bytes = 4.0 * (double)slabs * (double)slab;
    return (LithoStreamTook){
        .compute_s = m->setup_s + (double)slabs * (m->fixed_s + m->sample_s * (double)slab),
        .setup_s = m->setup_s,
        .read_s = bytes * m->read_s,
        .write_s = bytes * m->write_s,
        .finish_s = bytes * m->finish_s,
        .read_bytes = (gint64)bytes,
        .write_bytes = (gint64)bytes,
        .samples = slabs * slab,
        .inputs = 1,
        .slabs = slabs,
        .devices = 1,
        .sharing = 1};
}

static LithoStreamPlan plan_of(gint64 inlines, gint64 slab, guint engines)
{
    return (LithoStreamPlan){.out = litho_grid_new(inlines, 500, 1000),
                             .slab = slab,
                             .n_slabs = (inlines + slab - 1) / slab,
                             .engines = engines,
                             .sharing = 1};
}

static double truth_of(const Machine *m, const LithoStreamPlan *plan, int n)
{
    const double slab = (double)plan->slab * 500 * 1000;
    g_autofree double *compute = g_new(double, plan->n_slabs);
    for (gint64 k = 0; k < plan->n_slabs; k++)
        compute[k] = m->fixed_s + m->sample_s * slab;
    return m->setup_s + LITHO_STREAM_OPEN_S * (n - 1) + 4 * slab * (double)plan->n_slabs * m->finish_s +
           simulate(plan->n_slabs, 4 * slab * m->read_s, compute, n, 4 * slab * m->write_s, 6);
}

// Property: what was learned while other programs had two thirds of the processor, or none of it,
// is told within 25 % for a machine that is busy, or is not, at whatever pace it learned. Reading
// and writing wait for a disk, and are told as they were. Runs that brought no pace are told as
// before.
static void test_pace(void)
{
    const double paces[] = {1e5, 3e5};
    g_autoptr(LithoFlow) flow = one_mean(2);
    for (int learned = 0; learned < 2; learned++)
        for (int told_at = 0; told_at < 2; told_at++) {
            g_autoptr(LithoRates) rates = litho_rates_new();
            Machine then = fast, now = fast;
            const double slower[] = {3e5 / paces[learned], 3e5 / paces[told_at]};
            Machine *const machine[] = {&then, &now};
            for (int k = 0; k < 2; k++) {
                machine[k]->fixed_s *= slower[k];
                machine[k]->sample_s *= slower[k];
                machine[k]->setup_s *= slower[k];
            }
            LithoRatesOf of = {
                .flow = flow, .device = litho_device_cpu(), .reads = "SEG-Y", .writes = ".sgy"};
            for (int k = 0; k < 2; k++) {
                LithoStreamTook took = took_of(&then, 5 + k, 2000000 + 7000000 * k);
                took.pace = paces[learned];
                g_assert_true(litho_rates_learn(rates, &of, &took));
            }
            of.pace = paces[told_at];
            const LithoStreamPlan plan = plan_of(200, 10, 1);
            const LithoRatesTold told = litho_rates_tell(rates, &of, &plan, &plan.out, 1);
            const double truth = truth_of(&now, &plan, 1);
            g_test_message("%g s, truth %g s", told.seconds, truth);
            g_assert_cmpfloat(fabs(told.seconds - truth), <, 0.25 * truth);
        }
    g_assert_cmpfloat(litho_pace(2), >, 0);
}

// Property: after two runs of other sizes the time of a third is told within 25 %, alone and with
// several devices, of which so many are counted as pay.
static void test_told(void)
{
    g_autoptr(LithoRates) rates = litho_rates_new();
    g_autoptr(LithoFlow) flow = one_mean(2);
    const LithoRatesOf of = {
        .flow = flow, .device = litho_device_cpu(), .reads = "SEG-Y", .writes = ".sgy"};
    const LithoStreamTook small = took_of(&fast, 5, 2000000), large = took_of(&fast, 8, 9000000);
    g_assert_true(litho_rates_learn(rates, &of, &small));
    g_assert_true(litho_rates_learn(rates, &of, &large));
    for (gint64 inlines = 20; inlines <= 2000; inlines *= 10) {
        const LithoStreamPlan plan = plan_of(inlines, MAX(inlines / 20, 5), 1);
        const LithoRatesTold told = litho_rates_tell(rates, &of, &plan, &plan.out, 1);
        const double truth = truth_of(&fast, &plan, 1);
        g_assert_true(told.known && !told.is_alike);
        g_assert_cmpfloat(fabs(told.seconds - truth), <, 0.25 * truth);
        g_test_message("%g s, truth %g s", told.seconds, truth);
    }
    // Two seconds of computing: another device, opened in one, does not pay. Twenty: both do.
    const LithoStreamPlan brief = plan_of(160, 20, 2), longer = plan_of(2000, 100, 2);
    const LithoRatesTold one = litho_rates_tell(rates, &of, &brief, &brief.out, 1);
    const LithoRatesTold two = litho_rates_tell(rates, &of, &longer, &longer.out, 1);
    g_assert_cmpint(one.devices, ==, 1);
    g_assert_cmpint(two.devices, ==, 2);
    const double truth = truth_of(&fast, &longer, 2);
    g_assert_cmpfloat(fabs(two.seconds - truth), <, 0.25 * truth);
}

// Property: a first run that took five times as long, as one does that loads code, spoils nothing
// once a second one of its size has run.
static void test_first_run(void)
{
    g_autoptr(LithoRates) rates = litho_rates_new();
    g_autoptr(LithoFlow) flow = one_mean(2);
    const LithoRatesOf of = {.flow = flow, .device = litho_device_cpu()};
    const gint64 slab[] = {3500000, 3500000, 10500000, 10500000};
    for (int k = 0; k < 4; k++) {
        LithoStreamTook took = took_of(&fast, 1, slab[k]);
        took.compute_s += k == 0 ? 4 * took.compute_s : 0;
        g_assert_true(litho_rates_learn(rates, &of, &took));
    }
    const LithoStreamPlan plan = plan_of(50, 50, 1);
    const LithoRatesTold told = litho_rates_tell(rates, &of, &plan, &plan.out, 1);
    const double truth = fast.fixed_s + fast.sample_s * 25000000;
    g_assert_cmpfloat(fabs(told.compute_s - truth), <, 0.25 * truth);
}

// Work of a flow on a cube of this size, counted by its stages, and the samples of its result.
static double work_of(const LithoFlow *flow, const LithoGrid *grid, LithoGrid *out)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) in = NULL;
    LithoTimings *timings = litho_timings_new();
    LithoRun run = {.timings = timings, .threads = 2};
    LithoStage stages[64];
    double flops = 0;
    if (grid) {
        in = litho_cube_new(grid, NULL);
        for (gint64 k = 0; k < litho_grid_samples(grid); k++)
            in->samples[k] = (float)litho_hash_normal(3, 1, k);
    }
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    g_autoptr(LithoCube) result = litho_engine_run(engine, flow, in, NULL, &run, &error);
    g_assert_no_error(error);
    litho_timings_end_pass(timings);
    const guint n_stages = litho_timings_snapshot(timings, stages, G_N_ELEMENTS(stages));
    for (guint k = 0; k < n_stages; k++)
        flops += stages[k].flops;
    *out = result->grid;
    litho_engine_free(engine);
    litho_timings_unref(timings);
    g_assert_cmpfloat(flops, >, 0);
    return flops;
}

// Property: of every operator two runs tell a third of another size within 25 % of its work, which
// is counted, not timed: work grows with the samples as the rates take for granted.
static void test_operators(void)
{
    // No absorbing border: it is wider than these cubes.
    static const struct {
        const char *step;
        gint64 size[3][3];
    } runs[] = {
        {"\"fx\", \"params\": {\"prewhitening\": 10}",
         {{40, 40, 192}, {60, 56, 192}, {64, 72, 256}}},
        {"\"patch\"", {{40, 40, 64}, {60, 56, 64}, {64, 72, 96}}},
        {"\"wavepacket\"", {{32, 32, 64}, {48, 48, 96}, {40, 48, 64}}},
        {"\"wavepacket\", \"params\": {\"block\": 48}", {{24, 24, 64}, {48, 48, 48}, {24, 32, 40}}},
        {"\"migrate\", \"params\": {\"nz\": 16, \"sponge\": 0, \"dx\": 25, \"dy\": 25}",
         {{24, 24, 64}, {32, 28, 64}, {40, 44, 128}}},
        {"\"twsm\"", {{0}}},
    };
    for (guint f = 0; f < G_N_ELEMENTS(runs); f++) {
        g_autoptr(LithoRates) rates = litho_rates_new();
        g_autoptr(GError) error = NULL;
        g_autofree char *recipe = g_strdup_printf(
            "{\"lithoscope\": 1, \"flow\": [{\"operator\": %s}]}", runs[f].step);
        g_autoptr(LithoFlow) flow = litho_flow_parse(recipe, &error);
        g_assert_no_error(error);
        const gboolean reads = litho_flow_step(flow, 0)->op->needs_input;
        const LithoRatesOf of = {.flow = flow, .device = litho_device_cpu()};
        for (int k = 0; k < 3; k++) {
            const gint64 *n = runs[f].size[k];
            LithoGrid in = litho_grid_new(MAX(n[0], 1), MAX(n[1], 1), MAX(n[2], 1)), out;
            const double work = work_of(flow, reads ? &in : NULL, &out);
            const double samples = (double)litho_grid_samples(&out);
            g_autoptr(LithoWalk) walk = litho_walk_look(flow, reads ? &in : NULL, NULL);
            const LithoStreamTook took = {.compute_s = work,
                                          .samples = (gint64)samples,
                                          .inputs =
                                              reads ? (double)litho_grid_samples(&in) / samples : 0,
                                          .pieces = litho_pieces_work(walk),
                                          .slabs = 1,
                                          .devices = 1,
                                          .sharing = 1};
            const LithoStreamPlan plan = {
                .out = out, .slab = out.axis[0].n, .n_slabs = 1, .engines = 1, .sharing = 1};
            const double told =
                litho_rates_tell(rates, &of, &plan, reads ? &in : NULL, 1).compute_s;
            g_test_message("%s, size %d: told / counted %.3f", runs[f].step, k, told / work);
            if (k == 2)
                g_assert_cmpfloat(fabs(told - work), <, 0.25 * work);
            litho_rates_learn(rates, &of, &took);
        }
    }
}

// Property: what never ran is not known; a run with other parameters gives a rough figure that says
// so; a short run teaches nothing, unless it computes for long.
static void test_unknown(void)
{
    g_autoptr(LithoRates) rates = litho_rates_new();
    g_autoptr(LithoFlow) flow = one_mean(2);
    g_autoptr(LithoFlow) other = one_mean(5);
    LithoRatesOf of = {.flow = flow, .device = litho_device_cpu()};
    const LithoStreamPlan plan = plan_of(100, 25, 1);
    const LithoStreamTook took = took_of(&fast, 5, 2000000);
    LithoStreamTook brief = took_of(&fast, 2, 1000);
    brief.compute_s = 0.1;
    g_assert_false(litho_rates_learn(rates, &of, &brief));
    g_assert_false(litho_rates_tell(rates, &of, &plan, &plan.out, 1).known);
    g_assert_true(litho_rates_learn(rates, &of, &took));
    of.flow = other;
    g_assert_true(litho_rates_tell(rates, &of, &plan, &plan.out, 1).is_alike);
    of.threads = 1021;
    g_assert_false(litho_rates_tell(rates, &of, &plan, &plan.out, 1).known);
    brief.compute_s = 2 * LITHO_RATES_SECONDS;
    g_assert_true(litho_rates_learn(rates, &of, &brief));
    g_assert_true(litho_rates_tell(rates, &of, &plan, &plan.out, 1).known);
}

// Property: a modelling and an image are known by runs with their own parameters alone: their work
// does not go by the samples of the result.
static void test_other_parameters(void)
{
    static const char *const runs[][2] = {
        {"\"twsm\"", "\"twsm\", \"params\": {\"fmax\": 20}"},
        {"\"migrate\", \"params\": {\"nz\": 20}", "\"migrate\", \"params\": {\"nz\": 40}"}};
    for (guint k = 0; k < G_N_ELEMENTS(runs); k++) {
        g_autoptr(LithoRates) rates = litho_rates_new();
        const LithoGrid in = litho_grid_new(8, 9, 50);
        const LithoStreamTook took = took_of(&fast, 1, 20000000);
        for (int i = 0; i < 2; i++) {
            g_autofree char *recipe =
                g_strdup_printf("{\"lithoscope\": 1, \"flow\": [{\"operator\": %s}]}", runs[k][i]);
            g_autoptr(LithoFlow) flow = litho_flow_parse(recipe, NULL);
            const LithoRatesOf of = {.flow = flow, .device = litho_device_cpu()};
            const LithoStreamPlan plan = plan_of(10, 10, 1);
            const LithoGrid *from = k == 1 ? &in : NULL;
            if (i == 0)
                g_assert_true(litho_rates_learn(rates, &of, &took));
            g_assert_true(litho_rates_tell(rates, &of, &plan, from, 1).known == (i == 0));
        }
    }
}

// Property: the time of slabs counts the work on their halo, told from a run in one piece, too.
static void test_halo(void)
{
    g_autoptr(LithoRates) rates = litho_rates_new();
    g_autoptr(LithoFlow) flow = one_mean(2);
    const LithoRatesOf of = {.flow = flow, .device = litho_device_cpu()};
    const LithoStreamTook whole = took_of(&fast, 1, 20000000);
    g_assert_true(litho_rates_learn(rates, &of, &whole));
    LithoStreamPlan plan = plan_of(200, 50, 1);
    const double without = litho_rates_tell(rates, &of, &plan, &plan.out, 1).compute_s;
    plan.halo = 60; // 50, 50, 50 and 50 inlines become 80, 110, 110 and 80
    const double with = litho_rates_tell(rates, &of, &plan, &plan.out, 1).compute_s;
    g_assert_cmpfloat_with_epsilon(with / without, (200 + 380) / 400.0, 1e-6);
}

// Property: rates outlive the process; a damaged file knows nothing and is replaced.
static void test_kept(void)
{
    g_autofree char *folder = g_dir_make_tmp("litho-rates-XXXXXX", NULL);
    g_autofree char *inner = g_build_filename(folder, "inner", NULL);
    g_autofree char *path = g_build_filename(inner, "rates.json", NULL);
    g_autoptr(LithoFlow) flow = one_mean(2);
    const LithoRatesOf of = {.flow = flow, .device = litho_device_cpu()};
    const LithoStreamPlan plan = plan_of(100, 25, 1);
    const LithoStreamTook took = took_of(&fast, 5, 2000000);
    double told = 0;
    for (int trial = 0; trial < 2; trial++) {
        g_autoptr(LithoRates) rates = litho_rates_load(path); // missing, then damaged
        g_assert_false(litho_rates_tell(rates, &of, &plan, &plan.out, 1).known);
        litho_rates_learn(rates, &of, &took);
        g_assert_true(litho_rates_save(rates, path, NULL));
        told = litho_rates_tell(rates, &of, &plan, &plan.out, 1).seconds;
        g_autoptr(LithoRates) again = litho_rates_load(path);
        g_assert_cmpfloat_with_epsilon(litho_rates_tell(again, &of, &plan, &plan.out, 1).seconds,
                                       told, 1e-9);
        g_assert_true(g_file_set_contents(path, "{ \"lithoscope-rates\": 1, \"comp", -1, NULL));
    }
    // Members of another type are passed over.
    g_assert_true(g_file_set_contents(
        path, "{ \"lithoscope-rates\": 1, \"computing\": [3], \"reading\": 5 }", -1, NULL));
    g_autoptr(LithoRates) odd = litho_rates_load(path);
    g_assert_false(litho_rates_tell(odd, &of, &plan, &plan.out, 1).known);
    g_assert_true(litho_rates_learn(odd, &of, &took));
    g_assert_true(litho_rates_tell(odd, &of, &plan, &plan.out, 1).known);
    g_remove(path);
    g_rmdir(inner);
    g_rmdir(folder);
}

// Property: the file does not grow without end. The flows learned last stay, and with them one of
// the first that has run again meanwhile.
static void test_bounded(void)
{
    enum { RUNS = 500, BYTES = 200000 };
    g_autofree char *folder = g_dir_make_tmp("litho-rates-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "rates.json", NULL);
    g_autoptr(LithoFlow) flow = one_mean(2);
    g_autoptr(LithoRates) rates = litho_rates_new();
    const LithoStreamPlan plan = plan_of(100, 25, 1);
    const LithoStreamTook took = took_of(&fast, 5, 2000000);
    LithoRatesOf of = {.flow = flow, .device = litho_device_cpu()};
    for (int k = 1; k <= RUNS; k++) {
        g_autofree char *format = g_strdup_printf("SEG-Y rev %d", k);
        of.threads = k;
        of.reads = of.writes = format;
        g_assert_true(litho_rates_learn(rates, &of, &took));
        of.threads = 2;
        of.reads = of.writes = NULL;
        g_assert_true(litho_rates_learn(rates, &of, &took));
    }
    g_assert_true(litho_rates_save(rates, path, NULL));
    GStatBuf told;
    g_assert_cmpint(g_stat(path, &told), ==, 0);
    g_assert_cmpint(told.st_size, <, BYTES);
    g_autoptr(LithoRates) again = litho_rates_load(path);
    const struct {
        int threads;
        gboolean known;
    } kept[] = {{1, FALSE}, {2, TRUE}, {3, FALSE}, {RUNS - 100, TRUE}, {RUNS, TRUE}};
    for (guint k = 0; k < G_N_ELEMENTS(kept); k++) {
        of.threads = kept[k].threads;
        g_assert_cmpint(litho_rates_tell(again, &of, &plan, &plan.out, 1).known, ==, kept[k].known);
    }
    g_remove(path);
    g_rmdir(folder);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/rates/side-by-side", test_side_by_side);
    g_test_add_func("/rates/told", test_told);
    g_test_add_func("/rates/pace", test_pace);
    g_test_add_func("/rates/first-run", test_first_run);
    g_test_add_func("/rates/operators", test_operators);
    g_test_add_func("/rates/unknown", test_unknown);
    g_test_add_func("/rates/other-parameters", test_other_parameters);
    g_test_add_func("/rates/halo", test_halo);
    g_test_add_func("/rates/kept", test_kept);
    g_test_add_func("/rates/bounded", test_bounded);
    return g_test_run();
}
