// SPDX-License-Identifier: GPL-3.0-or-later
//
// The first look at a stack's image against the migration that replaces it.
#include <fftw3.h>

#include "tests/migrate_helpers.h"
#include "kernels/migrate/cpu/preview.h"
#include "kernels/migrate/cpu/sweep.h"

// Both images of one job, planes [nz][ny][nx].
typedef struct Pair {
    gsize n;
    int nx, ny, nz;
    float *look, *image;
} Pair;

static Pair migrate_both(const LithoCube *in, LithoResolved *known, const char *settings)
{
    g_autoptr(LithoFlow) flow = flow_of(settings);
    const LithoMigrateParams *p = litho_flow_step(flow, 0)->params;
    g_autoptr(GError) error = NULL;
    LithoMigrateJob *job = litho_migrate_job_new(&in->grid, p, known, NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(litho_migrate_job_design(job, p, NULL, NULL, NULL));
    g_assert_true(litho_preview_suits(job));
    LithoSweep *sweep = litho_sweep_new(job, NULL);
    float *record = litho_waves_room(&sweep->waves, job->nf);
    g_assert_true(litho_spectrum_forward(job, &sweep->waves, in, NULL, record, NULL, NULL));
    Pair pair = {(gsize)job->nz * job->data_ny * job->data_nx, job->data_nx, job->data_ny, job->nz};
    pair.look = g_new0(float, pair.n);
    pair.image = g_new0(float, pair.n);
    gboolean made;
    g_assert_true(litho_preview_cpu(job, &sweep->waves, record, pair.look, &made, NULL, NULL) &&
                  made);
    g_assert_true(litho_sweep_down(sweep, record, NULL, pair.image, NULL, NULL, NULL, NULL, NULL));
    free(record);
    litho_sweep_free(sweep);
    litho_migrate_job_free(job);
    return pair;
}

static void pair_clear(Pair *pair)
{
    g_free(pair->look);
    g_free(pair->image);
}

static double apart(const float *a, const float *b, gsize n)
{
    double d = 0, all = 0;
    for (gsize k = 0; k < n; k++) {
        d += pow((double)a[k] - b[k], 2);
        all += pow(b[k], 2);
    }
    return sqrt(d / all);
}

static double correlation(const float *a, const float *b, gsize n)
{
    double ab = 0, aa = 0, bb = 0;
    for (gsize k = 0; k < n; k++) {
        ab += (double)a[k] * b[k];
        aa += (double)a[k] * a[k];
        bb += (double)b[k] * b[k];
    }
    return ab / sqrt(aa * bb);
}

// Waves that have not reached the border.
static LithoCube *spike(int ni, int nj)
{
    LithoGrid grid = time_grid(ni, nj, 150, 12.5, 0.004);
    LithoCube *in = litho_cube_new(&grid, NULL);
    memset(in->samples, 0, litho_grid_samples(&grid) * sizeof(float));
    add_event(in, ni / 2, nj / 2, 0.12, 25, 1);
    return in;
}

// Property: where rock does not vary to the sides, the first look is the migration, on volumes and
// lines, for steps of one and more depths, before waves reach the border. What steeper waves leave
// comes in on the other side there, so that they are taken away.
static void test_layers(void)
{
    static const char *const cases[] = {"degree=23", "degree=9 max_dip=40", "step=3 dz=5",
                                        "step=1 degree=31", "degree=15 fmax=30"};
    g_autofree char *table = scratch_path("litho-test-look.txt");
    g_assert_true(g_file_set_contents(table, "0 1800\n100 1900\n300 2400\n", -1, NULL));
    g_autoptr(LithoResolved) layered = litho_migrate_model_resolve(table, NULL, NULL);
    g_autoptr(LithoCube) volume = spike(60, 56), line = spike(1, 90);
    for (guint k = 0; k < 2 * G_N_ELEMENTS(cases); k++) {
        const char *one = cases[k / 2];
        g_autofree char *settings =
            g_strdup_printf("velocity=%s dz=10 nz=26 fmin=6 %s", k % 2 ? table : "2000", one);
        Pair pair = migrate_both(k % 3 ? volume : line, k % 2 ? layered : NULL, settings);
        g_test_message("%s", settings);
        assert_below(apart(pair.look, pair.image, pair.n), 0.02);
        pair_clear(&pair);
    }
    g_unlink(table);
}

// Property: the first look follows the degree: that of few degrees is the migration's of as few.
static void test_degree(void)
{
    g_autoptr(LithoCube) in = spike(1, 90);
    Pair few = migrate_both(in, NULL, "velocity=2000 dz=10 nz=26 fmin=6 degree=5"),
         many = migrate_both(in, NULL, "velocity=2000 dz=10 nz=26 fmin=6 degree=31");
    const double own = apart(few.look, few.image, few.n);
    assert_below(own, 0.02);
    g_assert_cmpfloat(apart(few.look, many.image, few.n), >, 5 * own);
    pair_clear(&few);
    pair_clear(&many);
}

// Property: flat events over rock that varies by 20 % to the sides lie at their own depths.
static void test_sides(void)
{
    LithoGrid vg = time_grid(1, 40, 40, 25, 10), grid = time_grid(1, 80, 150, 12.5, 0.004);
    vg.is_depth = TRUE;
    vg.axis[2].source = LITHO_FROM_FILE;
    g_autoptr(LithoCube) v = litho_cube_new(&vg, NULL), in = litho_cube_new(&grid, NULL);
    memset(in->samples, 0, litho_grid_samples(&grid) * sizeof(float));
    for (int j = 0; j < 40; j++)
        for (int k = 0; k < 40; k++)
            litho_cube_trace(v, 0, j)[k] = (float)(1800 + 10 * j + k);
    for (int j = 0; j < 80; j++)
        add_event(in, 0, j, 0.25, 25, 1);
    g_autofree char *path = scratch_path("litho-test-look.npy");
    LithoSaveOptions save = {.force = TRUE};
    g_assert_true(litho_cube_save(v, path, &save, NULL, NULL));
    g_autoptr(LithoResolved) known = litho_migrate_model_resolve(path, NULL, NULL);
    g_autofree char *settings =
        g_strdup_printf("velocity=%s velocity_dz=10 dz=5 nz=70 fmin=6", path);
    Pair pair = migrate_both(in, known, settings);
    g_assert_cmpfloat(correlation(pair.look, pair.image, pair.n), >, 0.9);
    for (int x = 10; x < 70; x += 10) {
        int a = 0, b = 0;
        for (int z = 0; z < pair.nz; z++) {
            a = pair.look[pair.nx * z + x] > pair.look[pair.nx * a + x] ? z : a;
            b = pair.image[pair.nx * z + x] > pair.image[pair.nx * b + x] ? z : b;
        }
        g_test_message("trace %d: plane %d, migrated %d", x, a, b);
        g_assert_cmpint(abs(a - b), <=, 1);
    }
    pair_clear(&pair);
    g_unlink(path);
}

// The parts that a watcher saw.
typedef struct Watch {
    LithoCube *first; // part
    guint parts, looks, parts_at_look;
} Watch;

static void take_part(LithoCube *part, gpointer data)
{
    Watch *watch = data;
    if (watch->parts++ == 0)
        watch->first = litho_cube_ref(part);
}

static void take_look(gpointer data)
{
    Watch *watch = data;
    watch->looks++;
    watch->parts_at_look = watch->parts;
}

// Property: who asks for a first look gets it once, before all other parts, over all depths, and
// the samples of the result are those of a run that nobody watches.
static void test_watched(void)
{
    LithoGrid grid = time_grid(30, 34, 200, 12.5, 0.004);
    g_autoptr(LithoCube) in = random_cube(&grid, 6);
    static const char settings[] = "velocity=2000 nz=0 degree=31 sponge=20";
    Watch watch = {.parts = 0};
    LithoRun run = {.on_partial = take_part, .on_first_look = take_look, .partial_data = &watch};
    g_autoptr(LithoCube) out = try_migrate(in, &run, NULL, settings);
    g_autoptr(LithoCube) plain = migrate(in, "%s", settings);
    g_assert_cmpuint(watch.looks, ==, 1);
    g_assert_cmpuint(watch.parts_at_look, ==, 1);
    g_assert_cmpuint(watch.parts, >, 1);
    g_assert_true(litho_box_equal(watch.first->held, litho_box_full(&out->grid)));
    const gsize bytes = litho_grid_samples(&out->grid) * sizeof(float);
    g_assert_cmpmem(out->samples, bytes, plain->samples, bytes);
    litho_cube_unref(watch.first);
}

// Stands before FFTW's own for the whole program.
static int arrays_left = G_MAXINT; // that there is memory for; atomic

float *fftwf_alloc_real(size_t n)
{
    return g_atomic_int_add(&arrays_left, -1) > 0 ? fftwf_malloc(n * sizeof(float)) : NULL;
}

// Property: without memory for any one of its arrays, those of its threads included, there is no
// look, and nothing is written.
static void test_no_memory(void)
{
    LithoGrid grid = time_grid(12, 14, 100, 12.5, 0.004);
    g_autoptr(LithoCube) in = random_cube(&grid, 6);
    g_autoptr(LithoFlow) flow = flow_of("velocity=2000 nz=20 dz=10 degree=15 sponge=4 step=2");
    const LithoMigrateParams *p = litho_flow_step(flow, 0)->params;
    LithoMigrateJob *job = litho_migrate_job_new(&in->grid, p, NULL, NULL, NULL, NULL);
    g_assert_true(litho_migrate_job_design(job, p, NULL, NULL, NULL));
    LithoSweep *sweep = litho_sweep_new(job, NULL);
    float *record = litho_waves_room(&sweep->waves, job->nf);
    g_assert_true(litho_spectrum_forward(job, &sweep->waves, in, NULL, record, NULL, NULL));
    const gsize n = (gsize)job->nz * job->data_ny * job->data_nx;
    g_autofree float *look = g_new0(float, n);
    LithoRun run = {.threads = 2};
    gboolean made = FALSE;
    int arrays = 0;
    for (; !made; arrays++) {
        g_atomic_int_set(&arrays_left, arrays);
        g_assert_true(litho_preview_cpu(job, &sweep->waves, record, look, &made, &run, NULL));
        for (gsize k = 0; !made && k < n; k++)
            g_assert_cmpfloat(look[k], ==, 0);
    }
    g_atomic_int_set(&arrays_left, G_MAXINT);
    g_test_message("%d arrays", arrays - 1);
    g_assert_cmpint(arrays - 1, >=, 2 * (2 + job->step));
    free(record);
    litho_sweep_free(sweep);
    litho_migrate_job_free(job);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/migrate-preview/layers", test_layers);
    g_test_add_func("/migrate-preview/degree", test_degree);
    g_test_add_func("/migrate-preview/sides", test_sides);
    g_test_add_func("/migrate-preview/no-memory", test_no_memory);
    g_test_add_func("/migrate-preview/watched", test_watched);
    return g_test_run();
}
