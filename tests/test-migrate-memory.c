// SPDX-License-Identifier: GPL-3.0-or-later
//
// The memory that a migration announces beforehand, against the memory it takes; images far deeper
// than their records.
#include "tests/migrate_helpers.h"
#include "tests/peak_memory.h"

// Bytes that a run takes at most, the input and the result included.
static double measured(const LithoCube *in, const char *settings)
{
    const double before = peak_begin();
    g_autoptr(LithoCube) out = migrate(in, "%s", settings);
    return peak_bytes(before) + sizeof(float) * litho_grid_samples(&in->grid);
}

static double expected(const LithoCube *in, const char *settings)
{
    g_autoptr(LithoFlow) flow = flow_of(settings);
    const void *params = litho_flow_step(flow, 0)->params;
    g_autoptr(LithoResolved) known = NULL;
    g_assert_true(litho_resolve(&litho_operator_migrate, params, NULL, &known, NULL));
    return litho_operator_migrate.cpu->memory(&in->grid, params, known, litho_box_full(&in->grid),
                                              litho_run_threads(NULL));
}

// Property: the memory said is within 20 % of the memory taken, at the ends of what parameters
// allow; 6 MB are libraries, stacks and small arrays.
static void test_memory(void)
{
    static const struct {
        int ni, nj, nt;
        const char *settings;
    } cases[] = {
        {100, 100, 200, "nz=40 fmax=30"},
        {100, 100, 200, "nz=40 fmax=30 degree=9 coarse=on"},
        {60, 60, 200, "nz=40 fmax=30 pad=200 degree=5"},
        {100, 100, 100, "nz=20 degree=63 step=4 dz=5 fmax=20"},
        {100, 100, 200, "nz=40 fmax=30 engine=splitstep"},
        {7, 6, 40, "nz=100000"},
        {20, 20, 40, "nz=20000 coarse=on"},
        {1, 60, 4000, "nz=100 fmax=20 degree=5 pad=0"},
        {60, 60, 200, "mode=shot nz=30 fmax=40 degree=9 source_x=300 source_y=300 pad=10"},
        {60, 60, 200,
         "mode=shot nz=300 dz=2 step=4 fmax=40 degree=9 source_x=300 source_y=300 pad=0 "
         "imaging=normalised antialias=on"},
        {80, 80, 60, "mode=demigrate nt=400 fmax=20"},
    };
    if (!peak_is_told()) {
        g_test_skip("this system does not reset the largest resident size");
        return;
    }
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        LithoGrid grid = time_grid(cases[k].ni, cases[k].nj, cases[k].nt, 12.5, 0.004);
        if (strstr(cases[k].settings, "demigrate")) {
            grid.axis[2].step = 10;
            grid.is_depth = TRUE;
        }
        g_autoptr(LithoCube) in = random_cube(&grid, 5);
        const double said = expected(in, cases[k].settings);
        const double taken = measured(in, cases[k].settings);
        g_test_message("%d x %d x %d %s: %.1f MB said, %.1f taken", cases[k].ni, cases[k].nj,
                       cases[k].nt, cases[k].settings, said / 1e6, taken / 1e6);
        g_assert_cmpfloat(said, <=, 1.2 * taken + 6e6);
        g_assert_cmpfloat(said, >=, 0.8 * taken - 6e6);
    }
}

// A velocity cube is read once, and its slowness kept once.
static void test_memory_of_velocity(void)
{
    LithoGrid grid = time_grid(80, 80, 100, 12.5, 0.004), depth = time_grid(80, 80, 400, 12.5, 5);
    depth.is_depth = TRUE;
    g_autoptr(LithoCube) in = random_cube(&grid, 5), velocity = litho_cube_new(&depth, NULL);
    for (gint64 k = 0; k < litho_grid_samples(&depth); k++)
        velocity->samples[k] = 2000 + k % 7;
    g_autofree char *path = scratch_path("litho-test-memory.npy");
    LithoSaveOptions save = {.force = TRUE};
    g_assert_true(litho_cube_save(velocity, path, &save, NULL, NULL));
    g_clear_pointer(&velocity, litho_cube_unref);
    g_autofree char *settings =
        g_strdup_printf("velocity=%s dz=5 nz=400 fmax=9 degree=5 step=1 pad=20", path);
    if (!peak_is_told()) {
        g_test_skip("this system does not reset the largest resident size");
        return;
    }
    const double said = expected(in, settings); // has read the model, which all plans share
    const double taken = measured(in, settings);
    g_test_message("%.1f MB said, %.1f taken", said / 1e6, taken / 1e6);
    g_assert_cmpfloat(said, <=, 1.2 * taken + 6e6);
    g_assert_cmpfloat(said, >=, 0.8 * taken - 6e6);
    g_unlink(path);
}

// Property: depths that no echo of the record can come from are zero and cost nothing: an image of
// 100,000 depths from a record of 0.24 s is the image of 2000 followed by zeros, and extreme
// velocities come to an end.
static void test_deep(void)
{
    enum { NZ = 100000, FEW = 2000 };
    LithoGrid grid = time_grid(6, 7, 60, 12.5, 0.004);
    g_autoptr(LithoCube) in = random_cube(&grid, 4);
    static const char *const kinds[] = {"velocity=2000", "velocity=2000 coarse=on",
                                        "velocity=2000 engine=splitstep",
                                        "mode=shot velocity=2000 imaging=normalised"};
    for (guint k = 0; k < G_N_ELEMENTS(kinds); k++) {
        g_autoptr(LithoCube) deep = migrate(in, "%s nz=%d", kinds[k], NZ);
        g_autoptr(LithoCube) few = migrate(in, "%s nz=%d", kinds[k], FEW);
        double most = 0, size = 0;
        for (int j = 0; j < 42; j++) {
            const float *a = litho_cube_trace(deep, j / 7, j % 7);
            const float *b = litho_cube_trace(few, j / 7, j % 7);
            for (int z = 0; z < FEW; z++) {
                most = fmax(most, fabs(a[z] - b[z]));
                size = fmax(size, fabs(b[z]));
            }
            for (int z = FEW; z < NZ; z++)
                g_assert_cmpfloat(a[z], ==, 0);
        }
        g_assert_cmpfloat(size, >, 0);
        g_assert_cmpfloat(most, <=, 1e-6 * size);
    }
    static const char *const extremes[] = {"velocity=10 nz=50", "velocity=100000 nz=50",
                                           "velocity=10", "velocity=100000 dz=1000"};
    for (guint k = 0; k < G_N_ELEMENTS(extremes); k++) {
        g_autoptr(LithoCube) image = migrate(in, "%s", extremes[k]);
        for (gint64 n = 0; n < litho_grid_samples(&image->grid); n++)
            g_assert_true(isfinite(image->samples[n]));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    peak_prepare();
    LithoGrid grid = time_grid(5, 5, 50, 12.5, 0.004);
    g_autoptr(LithoCube) in = random_cube(&grid, 5);
    g_autoptr(LithoCube) warm = migrate(in, "nz=9");
    g_test_add_func("/migrate-memory/parameters", test_memory);
    g_test_add_func("/migrate-memory/velocity", test_memory_of_velocity);
    g_test_add_func("/migrate-memory/deep", test_deep);
    return g_test_run();
}
