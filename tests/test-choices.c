// SPDX-License-Identifier: GPL-3.0-or-later
//
// Every operator at the ends of its parameters, on cubes that are too small, have gaps or hold
// a burst. The answers are other tests' matter: this one is run under the sanitizers.
#include <math.h>
#include <string.h>
#include <time.h>

#include "core/engine/engine.h"
#include "core/synth/synth_parts.h"
#include "kernels/kernels.h"
#include "tests/common.h"

enum { CUBES = 3, TRIALS = 30 }; // trials: settings at random, beside one for each end
// Seconds of the processors for one run, which is superseded then. Under the sanitizers packets of few
// scales end within two; of the others' settings what takes longer than one goes on for minutes.
static const double longest_s = TEST_SANITIZED ? 1 : 0.3, longest_packets_s = TEST_SANITIZED ? 2 : 0.3;
static const guint64 largest = 200 << 20; // bytes of one run; what asks for more is not run

typedef struct Count {
    int ran, refused, superseded, large;
} Count;

// Settings that make an operator's work small; others begin with their defaults.
static const struct {
    const char *key, *settings[4][2];
} small[] = {
    {"wavepacket", {{"scales", "2"}}},
    {"migrate", {{"nz", "6"}, {"sponge", "0"}}},
    {"twsm", {{"frequencies", "1"}, {"force", "on"}, {"cells_per_wavelength", "4"}}},
};

static double used_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static gboolean is_late(gpointer end)
{
    return used_s() > *(double *)end;
}

// Noise and a plane event; damaged: every seventh trace absent, one sample a burst.
static LithoCube *make_cube(gint64 n_il, gint64 n_xl, gint64 nt, gboolean damaged)
{
    const LithoGrid grid = litho_grid_new(n_il, n_xl, nt);
    LithoCube *cube = litho_cube_new(&grid, NULL);
    for (gint64 k = 0; k < litho_grid_samples(&grid); k++)
        cube->samples[k] = (float)(litho_hash_normal(5, 1, k) + 4 * (k % nt == (k / nt) % nt));
    if (!damaged)
        return cube;
    for (gint64 trace = 3; trace < n_il * n_xl; trace += 7) {
        memset(cube->samples + trace * nt, 0, (gsize)nt * sizeof *cube->samples);
        cube->live[trace] = 0;
    }
    cube->samples[nt / 2] = 1e9f;
    return cube;
}

// Waiting threads use the processor while other programs hold it, so a run with a limit has one thread.
static void run_one(const LithoFlow *flow, const LithoCube *in, double longest, Count *count)
{
    g_autoptr(GError) error = NULL;
    double end = used_s() + longest;
    LithoRun run = {
        .threads = isfinite(longest) ? 1 : 2, .superseded = is_late, .superseded_data = &end};
    g_autoptr(LithoWalk) walk = litho_walk_resolve(flow, in ? &in->grid : NULL, &run, &error);
    if (!walk) {
        g_assert_cmpuint(strlen(error->message), >, 10);
        count->refused++;
        return;
    }
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    litho_walk_want(walk, NULL);
    if (litho_engine_memory(engine, walk) > largest) {
        count->large++;
        litho_engine_free(engine);
        return;
    }
    g_autoptr(LithoCube) out = litho_engine_run(engine, flow, in, NULL, &run, &error);
    litho_engine_free(engine);
    if (out) {
        for (gint64 k = 0; k < litho_grid_samples(&out->grid); k++)
            g_assert_true(isfinite(out->samples[k]));
        count->ran++;
    } else if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        count->superseded++;
    else {
        g_assert_cmpuint(strlen(error->message), >, 10);
        count->refused++;
    }
}

// Runs take the cubes in turn.
static void run_next(const LithoFlow *flow, LithoCube *const cubes[CUBES], Count *count)
{
    const int k = count->ran + count->refused + count->superseded + count->large;
    const LithoOperator *op = litho_flow_step(flow, 0)->op;
    run_one(flow, op->needs_input ? cubes[k % CUBES] : NULL,
            strcmp(op->key, "wavepacket") == 0 ? longest_packets_s : longest_s, count);
}

static LithoFlow *small_flow(const LithoOperator *op)
{
    LithoFlow *flow = litho_flow_new();
    litho_flow_append(flow, op);
    for (guint k = 0; k < G_N_ELEMENTS(small); k++)
        for (guint s = 0; strcmp(op->key, small[k].key) == 0 && small[k].settings[s][0]; s++)
            g_assert_true(litho_param_parse(&op->params, litho_flow_step(flow, 0)->params,
                                            small[k].settings[s][0], small[k].settings[s][1],
                                            NULL));
    return flow;
}

// Sets a row to one of its ends or choices, or to a value between.
static void set_row(const LithoParam *row, void *params, double where)
{
    const double last = litho_param_n_choices(row) - 1.0;
    const gboolean soft = row->soft_min < row->soft_max;
    const double lo = soft ? row->soft_min : row->min, hi = soft ? row->soft_max : row->max;
    if (row->type == LITHO_PARAM_TEXT || row->type == LITHO_PARAM_FILE)
        return;
    double value = row->type == LITHO_PARAM_CHOICE ? last * where : lo + (hi - lo) * where;
    if (row->type != LITHO_PARAM_FLOAT)
        value = round(value);
    g_assert_true(litho_param_set(row, params, value, NULL));
}

// Property: every value of every row alone, and rows set at random, end in finite samples or in a
// sentence.
static void test_operator(gconstpointer data)
{
    const LithoOperator *op = data;
    g_autoptr(GRand) random = g_rand_new_with_seed(11);
    LithoCube *cubes[CUBES] = {make_cube(9, 7, 40, FALSE), make_cube(12, 13, 33, TRUE),
                               make_cube(1, 2, 3, FALSE)};
    Count count = {0};
    g_autoptr(LithoFlow) defaults = small_flow(op);
    for (int k = 0; k < (op->needs_input ? 2 : 1); k++) {
        run_one(defaults, op->needs_input ? cubes[k] : NULL, INFINITY, &count);
        g_assert_cmpint(count.ran, ==, k + 1);
    }
    for (guint k = 0; k < op->params.n; k++) {
        const LithoParam *row = &op->params.rows[k];
        const guint values = MAX(litho_param_n_choices(row), 2);
        for (guint v = 0; v < values; v++) {
            g_autoptr(LithoFlow) flow = small_flow(op);
            set_row(row, litho_flow_step(flow, 0)->params, v / (values - 1.0));
            run_next(flow, cubes, &count);
        }
    }
    for (int trial = 0; trial < TRIALS; trial++) {
        g_autoptr(LithoFlow) flow = small_flow(op);
        for (guint k = 0; k < op->params.n; k++)
            if (g_rand_boolean(random))
                set_row(&op->params.rows[k], litho_flow_step(flow, 0)->params,
                        g_rand_int_range(random, 0, 5) / 4.0);
        run_next(flow, cubes, &count);
    }
    g_test_message("%s: %d ran, %d refused, %d were superseded, %d too large", op->key, count.ran,
                   count.refused, count.superseded, count.large);
    for (int k = 0; k < CUBES; k++)
        litho_cube_unref(cubes[k]);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    for (const LithoOperator *const *op = litho_operators(); *op; op++) {
        g_autofree char *path = g_strdup_printf("/choices/%s", (*op)->key);
        g_test_add_data_func(path, *op, test_operator);
    }
    return g_test_run();
}
