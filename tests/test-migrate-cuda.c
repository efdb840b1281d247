// SPDX-License-Identifier: GPL-3.0-or-later
//
// Depth migration: the GPU against the CPU, all modes, forms, kernels and engines. Skips without a
// GPU.
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "core/engine.h"
#include "core/error.h"
#include "core/survey.h"
#include "kernels/migrate/migrate.h"

static gboolean gpu_or_skip(LithoDevice *device)
{
    g_autoptr(GError) error = NULL;
    if (litho_device_parse("cuda", device, &error))
        return TRUE;
    g_test_skip(error->message);
    return FALSE;
}

static LithoGrid grid_of(int ni, int nj, int n, double cell, double step, gboolean depth)
{
    LithoGrid g = litho_grid_new(ni, nj, n);
    g.inline_step[1] = g.xline_step[0] = cell;
    g.axis[2].step = step;
    g.axis[2].source = LITHO_FROM_USER;
    g.is_depth = depth;
    return g;
}

static LithoCube *random_cube(const LithoGrid *grid, guint32 seed)
{
    LithoCube *cube = litho_cube_new(grid, NULL);
    GRand *rand = g_rand_new_with_seed(seed);
    for (gint64 k = 0; k < litho_grid_samples(grid); k++)
        cube->samples[k] = (float)g_rand_double_range(rand, -1, 1);
    for (gint64 k = 0; k < litho_grid_traces(grid); k++)
        cube->live[k] = g_rand_double(rand) > 0.05;
    g_rand_free(rand);
    return cube;
}

static LithoCube *migrate(LithoDevice device, const LithoCube *in, LithoRun *run,
                          const char *settings)
{
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_migrate);
    g_auto(GStrv) words = g_strsplit(settings, " ", -1);
    g_autoptr(GError) error = NULL;
    for (int k = 0; words[k]; k++) {
        char *eq = strchr(words[k], '=');
        if (!eq)
            continue;
        *eq = 0;
        litho_param_parse(&litho_operator_migrate.params, litho_flow_step(flow, 0)->params,
                          words[k], eq + 1, &error);
        g_assert_no_error(error);
    }
    LithoEngine *engine = litho_engine_new(device);
    LithoCube *out = litho_engine_run(engine, flow, in, NULL, run, &error);
    g_assert_no_error(error);
    litho_cube_host(out, &error);
    g_assert_no_error(error);
    litho_engine_free(engine);
    return out;
}

static double relative_difference(const LithoCube *a, const LithoCube *b)
{
    double d = 0, n = 0;
    for (gint64 k = 0; k < litho_grid_samples(&b->grid); k++) {
        d += pow((double)a->samples[k] - b->samples[k], 2);
        n += pow(b->samples[k], 2);
    }
    return sqrt(d / n);
}

// A model that varies in all directions, written for both devices to read.
static char *velocity_file(void)
{
    LithoGrid g = grid_of(20, 30, 60, 20, 10, TRUE);
    g_autoptr(LithoCube) v = litho_cube_new(&g, NULL);
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 30; j++)
            for (int k = 0; k < 60; k++)
                litho_cube_trace(v, i, j)[k] = (float)(1800 + 8 * k + 200 * sin(0.4 * i) * cos(0.3 * j) +
                                                       (j > 15 && k > 20 ? 900 : 0));
    char *path = g_build_filename(g_get_tmp_dir(), "litho-test-gpu-velocity.npy", NULL);
    LithoSaveOptions save = {.force = TRUE};
    g_assert_true(litho_cube_save(v, path, &save, NULL, NULL));
    return path;
}

// Property: both devices give the same image. 2e-5 of its norm (4e-6 measured): sums over frequencies and the 23
// degrees of 40 steps in another order (2e-6 measured on the CPU against double), sine and cosine of
// the split-step engine to 1e-6 a step; a wrong halo, tile edge or coefficient is off by 1e-2.
static void test_against_cpu(void)
{
    LithoDevice gpu;
    if (!gpu_or_skip(&gpu))
        return;
    static const char *const cases[] = {
        "degree=23 step=1", "degree=15 step=1", "degree=5 step=1", "degree=6 step=1", "degree=63 step=1",
        "degree=31 step=3", "degree=23 gpu_kernel=per-degree step=1",
        "degree=24 gpu_kernel=per-degree step=2", "form=pointwise degree=15 step=1 growth=0",
        "form=pointwise degree=16 step=2 growth=0", "engine=splitstep", "coarse=on", "pad=9 sponge=8",
        "velocity=2100", "velocity=2100 gpu_kernel=per-degree", "velocity=2100 engine=splitstep",
        "nz=1", "mode=shot source_x=210 source_y=95", "mode=shot imaging=normalised source_x=300",
        "mode=shot imaging=normalised coarse=on source_x=300 step=2",
        "mode=shot geometry=line source_x=100 dy=10",
    };
    // Widths around multiples of 4 and 8, one axis alone, and wide enough for several tiles.
    static const int shapes[][2] = {{40, 61}, {37, 64}, {1, 130}, {50, 1}, {11, 303}};
    g_autofree char *velocity = velocity_file();
    for (guint s = 0; s < G_N_ELEMENTS(shapes); s++)
        for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
            if (s > 0 && k > 12)
                continue;
            LithoGrid grid = grid_of(shapes[s][0], shapes[s][1], 100, 12, 0.004, FALSE);
            g_autoptr(LithoCube) in = random_cube(&grid, 3 + s);
            g_autofree char *settings = g_strdup_printf("velocity=%s dz=12 nz=41 fmax=45 %s", velocity,
                                                        cases[k]);
            g_autoptr(LithoCube) a = migrate(litho_device_cpu(), in, NULL, settings);
            g_autoptr(LithoCube) b = migrate(gpu, in, NULL, settings);
            g_autoptr(LithoCube) c = migrate(gpu, in, NULL, settings);
            double d = relative_difference(b, a);
            g_test_message("%d x %d, %s: %.2e", shapes[s][0], shapes[s][1], cases[k], d);
            g_assert_cmpfloat(d, <, 2e-5);
            gsize bytes = litho_grid_samples(&b->grid) * sizeof(float);
            g_assert_cmpmem(b->samples, bytes, c->samples, bytes); // the same every time
        }
    g_unlink(velocity);
}

// Property: demigration too, and on the GPU by itself it is the adjoint: <A d, m> = <d, A^H m>.
static void test_adjoint(void)
{
    LithoDevice gpu;
    if (!gpu_or_skip(&gpu))
        return;
    static const char *const cases[] = {"step=1", "step=3 degree=31", "gpu_kernel=per-degree step=2",
                                        "form=pointwise step=2 growth=0", "engine=splitstep",
                                        "coarse=on step=2", "pad=7 sponge=6 step=1"};
    g_autofree char *velocity = velocity_file();
    LithoGrid data = grid_of(33, 45, 90, 12, 0.004, FALSE), image = grid_of(33, 45, 40, 12, 10, TRUE);
    g_autoptr(LithoCube) d = random_cube(&data, 1);
    g_autoptr(LithoCube) m = random_cube(&image, 2);
    memset(d->live, 1, 33 * 45);
    memset(m->live, 1, 33 * 45);
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autofree char *down = g_strdup_printf("velocity=%s dz=10 nz=40 fmax=60 %s", velocity, cases[k]);
        g_autofree char *up = g_strdup_printf("mode=demigrate nt=90 dt=0.004 velocity=%s fmax=60 %s",
                                              velocity, cases[k]);
        g_autoptr(LithoCube) ad = migrate(gpu, d, NULL, down);
        g_autoptr(LithoCube) am = migrate(gpu, m, NULL, up);
        g_autoptr(LithoCube) reference = migrate(litho_device_cpu(), m, NULL, up);
        double left = 0, right = 0, size = 0, model = 0;
        for (gint64 i = 0; i < litho_grid_samples(&image); i++) {
            left += (double)ad->samples[i] * m->samples[i];
            size += pow(ad->samples[i], 2);
            model += pow(m->samples[i], 2);
        }
        for (gint64 i = 0; i < litho_grid_samples(&data); i++)
            right += (double)d->samples[i] * am->samples[i];
        double apart = relative_difference(am, reference);
        g_test_message("%s: %.7g %.7g, against the CPU %.2e", cases[k], left, right, apart);
        g_assert_cmpfloat(fabs(left - right) / sqrt(size * model), <, 1e-5);
        g_assert_cmpfloat(apart, <, 2e-5);
    }
    g_unlink(velocity);
}

static void take_part(LithoCube *part, gpointer data)
{
    LithoCube **whole = data;
    if (!*whole)
        *whole = litho_cube_new(&part->grid, NULL);
    litho_cube_paste(*whole, part);
}

// Property: the slabs shown on the way are the final samples, and a cancel is obeyed.
static void test_parts_and_cancel(void)
{
    LithoDevice gpu;
    if (!gpu_or_skip(&gpu))
        return;
    LithoGrid grid = grid_of(60, 70, 200, 12, 0.004, FALSE);
    g_autoptr(LithoCube) in = random_cube(&grid, 8);
    g_autoptr(LithoCube) whole = NULL;
    LithoRun run = {.on_partial = take_part, .partial_data = &whole};
    g_autoptr(LithoCube) out = migrate(gpu, in, &run, "velocity=2000 nz=150 coarse=on");
    gsize bytes = litho_grid_samples(&out->grid) * sizeof(float);
    g_assert_cmpmem(whole->samples, bytes, out->samples, bytes);

    g_autoptr(GCancellable) cancel = g_cancellable_new();
    g_cancellable_cancel(cancel);
    LithoRun stopped = {.cancel = cancel};
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_migrate);
    LithoEngine *engine = litho_engine_new(gpu);
    g_autoptr(GError) error = NULL;
    g_assert_null(litho_engine_run(engine, flow, in, NULL, &stopped, &error));
    g_assert_true(litho_error_is_cancelled(error));
    g_autoptr(LithoCube) again = litho_engine_run(engine, flow, in, NULL, NULL, NULL);
    g_assert_nonnull(again);
    litho_engine_free(engine);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/migrate-cuda/against-cpu", test_against_cpu);
    g_test_add_func("/migrate-cuda/adjoint", test_adjoint);
    g_test_add_func("/migrate-cuda/parts-and-cancel", test_parts_and_cancel);
    return g_test_run();
}
