// SPDX-License-Identifier: GPL-3.0-or-later
//
// Depth migration: the GPU against the CPU, all modes, forms, kernels and engines. Skips without a
// GPU.
#include "tests/migrate_helpers.h"
#include "tests/common.h"

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

// Independent numbers; one trace in twenty is not live.
static LithoCube *holed_cube(const LithoGrid *grid, guint32 seed)
{
    LithoCube *cube = random_cube(grid, seed);
    GRand *rand = g_rand_new_with_seed(seed + 1);
    for (gint64 k = 0; k < litho_grid_traces(grid); k++)
        cube->live[k] = g_rand_double(rand) > 0.05;
    g_rand_free(rand);
    return cube;
}

static LithoCube *migrate_on(LithoDevice device, const LithoCube *in, LithoRun *run,
                             const char *settings)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoFlow) flow = flow_of(settings);
    LithoEngine *engine = litho_engine_new(device);
    LithoCube *out = litho_engine_run(engine, flow, in, NULL, run, &error);
    g_assert_no_error(error);
    litho_cube_host(out, &error);
    g_assert_no_error(error);
    litho_engine_free(engine);
    return out;
}

// A model that varies in all directions, written for both devices to read.
static char *velocity_file(void)
{
    LithoGrid g = grid_of(20, 30, 60, 20, 10, TRUE);
    g_autoptr(LithoCube) v = litho_cube_new(&g, NULL);
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 30; j++)
            for (int k = 0; k < 60; k++)
                litho_cube_trace(v, i, j)[k] =
                    (float)(1800 + 8 * k + 200 * sin(0.4 * i) * cos(0.3 * j) +
                            (j > 15 && k > 20 ? 900 : 0));
    char *path = g_build_filename(g_get_tmp_dir(), "litho-test-gpu-velocity.npy", NULL);
    LithoSaveOptions save = {.force = TRUE};
    g_assert_true(litho_cube_save(v, path, &save, NULL, NULL));
    return path;
}

// Share of the image's norm (4e-6 measured): sums over frequencies and the 23 degrees of 40 steps
// in another order (2e-6 on the CPU against double), sine and cosine of the split-step engine to
// 1e-6 a step.
#define TOLERANCE 2e-5

// Property: a shot's waves multiplied on the finer grid give the CPU's image, along one axis, the
// other and both, under padding, sponge and tiles cut by the edge, with every kernel; and it is not
// the plain one.
static void test_protected(void)
{
    static const int shapes[][2] = {{1, 130}, {50, 1}, {40, 61}, {17, 90}};
    static const char *const cases[] = {"step=1 sponge=0",
                                        "step=2 pad=7 sponge=6 imaging=normalised",
                                        "step=1 pad=5 sponge=8 gpu_kernel=per-degree", "coarse=on"};
    LithoDevice gpu;
    if (!gpu_or_skip(&gpu))
        return;
    for (guint k = 0; k < G_N_ELEMENTS(shapes) * G_N_ELEMENTS(cases); k++) {
        const int *n = shapes[k / G_N_ELEMENTS(cases)];
        const char *which = cases[k % G_N_ELEMENTS(cases)];
        LithoGrid grid = grid_of(n[0], n[1], 100, 12, 0.004, FALSE);
        g_autoptr(LithoCube) in = holed_cube(&grid, 11 + k);
        g_autofree char *settings = g_strdup_printf(
            "mode=shot velocity=1600 dz=12 nz=21 fmax=60 source_x=%d source_y=%d antialias=true %s",
            12 * (n[1] / 2), 12 * (n[0] / 2), which);
        g_autofree char *plain = g_strdup_printf("%s antialias=false", settings);
        g_autoptr(LithoCube) a = migrate_on(litho_device_cpu(), in, NULL, settings);
        g_autoptr(LithoCube) b = migrate_on(gpu, in, NULL, settings);
        g_autoptr(LithoCube) c = migrate_on(gpu, in, NULL, plain);
        const double d = relative_difference(b, a), change = relative_difference(c, a);
        g_test_message("%d x %d, %s: %.2e, plain %.2e", n[0], n[1], which, d, change);
        g_assert_cmpfloat(d, <, TOLERANCE);
        g_assert_cmpfloat(change, >, 0.01);
    }
}

// Property: both devices give the same image; a wrong halo, tile edge or coefficient is off by
// 1e-2.
static void test_against_cpu(void)
{
    LithoDevice gpu;
    if (!gpu_or_skip(&gpu))
        return;
    static const char *const cases[] = {
        "degree=23 step=1",
        "degree=15 step=1",
        "degree=5 step=1",
        "degree=6 step=1",
        "degree=63 step=1",
        "degree=31 step=3",
        "degree=23 gpu_kernel=per-degree step=1",
        "degree=24 gpu_kernel=per-degree step=2",
        "form=pointwise degree=15 step=1 growth=0",
        "form=pointwise degree=16 step=2 growth=0",
        "engine=splitstep",
        "coarse=on",
        "pad=9 sponge=8",
        "velocity=2100",
        "velocity=2100 gpu_kernel=per-degree",
        "velocity=2100 engine=splitstep",
        "nz=1",
        "mode=shot source_x=210 source_y=95",
        "mode=shot imaging=normalised source_x=300",
        "mode=shot imaging=normalised coarse=on source_x=300 step=2",
        "mode=shot geometry=line source_x=100 dy=10",
    };
    // Widths around multiples of 4 and 8, one axis alone, and wide enough for several tiles.
    static const int shapes[][2] = {{40, 61},  {37, 64},  {1, 130}, {50, 1},
                                    {11, 303}, {70, 250}, {5, 700}};
    g_autofree char *velocity = velocity_file();
    for (guint s = 0; s < G_N_ELEMENTS(shapes); s++)
        for (guint k = 0; k < (s > 0 ? 13 : G_N_ELEMENTS(cases)); k++) {
            LithoGrid grid = grid_of(shapes[s][0], shapes[s][1], 100, 12, 0.004, FALSE);
            g_autoptr(LithoCube) in = holed_cube(&grid, 3 + s);
            g_autofree char *settings =
                g_strdup_printf("velocity=%s dz=12 nz=41 fmax=45 %s", velocity, cases[k]);
            g_autoptr(LithoCube) a = migrate_on(litho_device_cpu(), in, NULL, settings);
            g_autoptr(LithoCube) b = migrate_on(gpu, in, NULL, settings);
            g_autoptr(LithoCube) c = migrate_on(gpu, in, NULL, settings);
            double d = relative_difference(b, a);
            g_test_message("%d x %d, %s: %.2e", shapes[s][0], shapes[s][1], settings + 9, d);
            g_assert_cmpfloat(d, <, TOLERANCE);
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
    static const char *const cases[] = {"step=1",
                                        "step=3 degree=31",
                                        "gpu_kernel=per-degree step=2",
                                        "form=pointwise step=2 growth=0",
                                        "engine=splitstep",
                                        "coarse=on step=2",
                                        "pad=7 sponge=6 step=1"};
    g_autofree char *velocity = velocity_file();
    LithoGrid data = grid_of(33, 45, 90, 12, 0.004, FALSE),
              image = grid_of(33, 45, 40, 12, 10, TRUE);
    g_autoptr(LithoCube) d = holed_cube(&data, 1);
    g_autoptr(LithoCube) m = holed_cube(&image, 2);
    memset(d->live, 1, 33 * 45);
    memset(m->live, 1, 33 * 45);
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autofree char *down =
            g_strdup_printf("velocity=%s dz=10 nz=40 fmax=60 %s", velocity, cases[k]);
        g_autofree char *up = g_strdup_printf(
            "mode=demigrate nt=90 dt=0.004 velocity=%s fmax=60 %s", velocity, cases[k]);
        g_autoptr(LithoCube) ad = migrate_on(gpu, d, NULL, down);
        g_autoptr(LithoCube) am = migrate_on(gpu, m, NULL, up);
        g_autoptr(LithoCube) reference = migrate_on(litho_device_cpu(), m, NULL, up);
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
        g_assert_cmpfloat(apart, <, TOLERANCE);
    }
    g_unlink(velocity);
}

// Property: after 1000 steps, all dips and evanescent waves included, each kernel is as near to the
// CPU as both are to double precision (2.3e-6 on the CPU, see test-migrate-design.c; the fused
// kernel is 4e-6 from the CPU): rounding of a step must not be carried on and grow. No energy comes
// from nowhere either.
static void test_deep(void)
{
    LithoDevice gpu;
    if (!gpu_or_skip(&gpu))
        return;
    static const char *const cases[] = {"degree=15", "degree=23",
                                        "degree=15 gpu_kernel=per-degree"};
    LithoGrid grid = grid_of(24, 40, 2000, 10, 0.004, FALSE); // reaches all depths
    g_autoptr(LithoCube) in = holed_cube(&grid, 5);
    g_autofree char *velocity = velocity_file();
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autofree char *settings = g_strdup_printf(
            "velocity=%s dz=10 nz=1001 step=1 fmin=20 fmax=24 sponge=0 %s", velocity, cases[k]);
        g_autoptr(LithoCube) a = migrate_on(litho_device_cpu(), in, NULL, settings);
        g_autoptr(LithoCube) b = migrate_on(gpu, in, NULL, settings);
        double d = 0, size = 0, found = 0;
        for (gint64 t = 0; t < 24 * 40; t++)
            for (int z = 951; z < 1001; z++) {
                double p = a->samples[1001 * t + z], q = b->samples[1001 * t + z];
                d += (p - q) * (p - q);
                size += p * p;
                found += q * q;
            }
        g_test_message("1000 steps, %s: %.2e, energy %.6f", cases[k], sqrt(d / size), found / size);
        g_assert_cmpfloat(sqrt(d / size), <, TOLERANCE);
        g_assert_cmpfloat(found / size, <, 1 + TOLERANCE);
    }
    g_unlink(velocity);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/migrate-cuda/against-cpu", test_against_cpu);
    g_test_add_func("/migrate-cuda/protected", test_protected);
    g_test_add_func("/migrate-cuda/adjoint", test_adjoint);
    g_test_add_func("/migrate-cuda/deep", test_deep);
    return test_run();
}
