// SPDX-License-Identifier: GPL-3.0-or-later
//
// Depth migration, one step: the design of its polynomials, stability, rounding, adjointness.
#include <complex.h>

#include "kernels/migrate/job.h"
#include "kernels/migrate/cpu/sweep.h"
#include "tests/migrate_helpers.h"

// --- design -----------------------------------------------------------------------------------

// Property: the solver reaches the optimum of the convex problem (values found by an independent
// solver), never lets |G| exceed 1, and keeps |G - t| <= tau w on a grid of its own. Without the
// division by the certified maximum the second part fails by 1e-5 to 1e-4.
static void test_design(void)
{
    const struct {
        LithoPolySpec spec;
        double tau;
    } known[] = {
        {{1.2, 16.887399221198265, 65 * G_PI / 180, 1, 1e-3, 15}, 1.787290e-3},
        {{0.6, 4.221849805299566, 65 * G_PI / 180, 1, 1e-3, 15}, 3.059090e-4},
    };
    double re[64], im[64], g_re, g_im;
    for (guint k = 0; k < G_N_ELEMENTS(known); k++)
        assert_below(fabs(litho_poly_design(&known[k].spec, re, im) / known[k].tau - 1), 0.01);

    const int degrees[] = {5, 7, 15, 23, 31, 47, 63};
    for (guint d = 0; d < G_N_ELEMENTS(degrees); d++)
        for (double kap = 0.15; kap < 7; kap *= 2.1) {
            LithoPolySpec spec = {kap, 16.8874, 65 * G_PI / 180, 0.1, 0.2, degrees[d]};
            double tau = litho_poly_design(&spec, re, im);
            g_assert_cmpfloat(litho_poly_max_modulus(&spec, re, im), <=, 1);
            double s_p = fmin(pow(kap * sin(spec.theta), 2), spec.rho);
            for (int j = 0; j <= 1000; j++) {
                double s = spec.rho * j / 1000.0, x = s / s_p, phase = sqrt(fmax(kap * kap - s, 0));
                litho_poly_value(&spec, re, im, s, &g_re, &g_im);
                g_assert_cmpfloat(hypot(g_re, g_im), <=, 1);
                if (s <= s_p)
                    g_assert_cmpfloat(hypot(g_re - cos(phase), g_im - sin(phase)), <=,
                                      1.02 * tau * (0.1 + 0.9 * x * x) + 2e-4);
            }
        }
}

// Property: each filter's symbol is 0 at q = 0, never positive, inside the common range, and off by
// no more than its design error in phase.
static void test_bank(void)
{
    const double errors[] = {1.2e-5, 1.0e-4, 6.0e-4, 2.9e-3, 1.2e-2, 4.7e-2};
    guint n;
    const LithoSecondDerivative *bank = litho_migrate_bank(&n);
    g_assert_cmpuint(n, ==, G_N_ELEMENTS(errors));
    for (guint k = 0; k < n; k++) {
        g_assert_cmpfloat(litho_migrate_symbol(&bank[k], 0), ==, 0);
        for (int j = 1; j <= 2000; j++) {
            double q = G_PI * j / 2000, d = litho_migrate_symbol(&bank[k], q);
            g_assert_cmpfloat(d, <, 0);
            g_assert_cmpfloat(-d, <, LITHO_MIGRATE_RANGE + 1e-6);
            if (q <= bank[k].band * G_PI)
                g_assert_cmpfloat(fabs(d + q * q) / q, <=, 1.05 * errors[k]);
        }
    }
}

// --- one operator's spectrum ---------------------------------------------------------------------

// Largest phase error (rad) and amplitude loss of 100 cells of depth over dips first..last degrees.
static void spectrum_error(double kdx, double dz, int degree, int first, int last, double *phase,
                           double *loss)
{
    const LithoCells cells = {.nx = 9, .ny = 9, .dx = 1, .dy = 1};
    const LithoPolySpec spec = {.kap = kdx * dz,
                                .rho = litho_migrate_rho(&cells, dz),
                                .theta = 65 * G_PI / 180,
                                .w0 = 1,
                                .tol = 0.1,
                                .degree = degree};
    double re[64], im[64];
    litho_poly_design(&spec, re, im);
    const LithoSecondDerivative *filter = litho_migrate_bank_choose(kdx * sin(spec.theta));
    *phase = *loss = 0;
    for (int dip = first; dip <= last; dip++) {
        double theta = dip * G_PI / 180, g_re, g_im;
        litho_poly_value(&spec, re, im, -litho_migrate_symbol(filter, kdx * sin(theta)) * dz * dz,
                         &g_re, &g_im);
        double off = remainder(atan2(g_im, g_re) - spec.kap * cos(theta), 2 * G_PI);
        *phase = fmax(*phase, fabs(off) * 100 / dz);
        *loss = fmax(*loss, 1 - pow(hypot(g_re, g_im), 100 / dz));
    }
}

// Property: phase and amplitude after 100 cells along an axis, filter and polynomial together, are
// those of the design note's table (found by an independent program), dips 0-30, 30-50, 50-60; 10 %
// and the table's rounding more are allowed. A filter chosen too narrow or too wide is off by
// tenths of a radian. The table is for equal weights (w0 = 1).
static void test_spectrum(void)
{
    static const struct {
        double dz;
        int degree;
        double kdx, phase[3], loss[3];
    } table[] = {
        {0.5, 15, 0.4, {.26, .24, .26}, {.10, .09, .03}},
        {0.5, 15, 0.8, {.13, .11, .14}, {.11, .10, .02}},
        {0.5, 15, 1.6, {.03, .03, .04}, {.01, .01, .01}},
        {0.5, 15, 2.5, {.30, .62, .65}, {.01, .01, .00}},
        {1, 23, 0.4, {.11, .11, .11}, {.05, .05, .02}},
        {1, 23, 0.8, {.06, .06, .07}, {.06, .05, .03}},
        {1, 23, 1.6, {.01, .02, .02}, {.01, .01, .01}},
        {1, 23, 2.5, {.30, .62, .65}, {.00, .00, .00}},
        {1, 31, 0.2, {.12, .11, .12}, {.05, .05, .02}},
        {1, 31, 0.8, {.02, .02, .02}, {.01, .01, .01}},
        {1, 31, 2.0, {.01, .03, .05}, {.00, .00, .00}},
        {2, 31, 0.4, {.13, .13, .13}, {.04, .04, .01}},
        {2, 31, 0.8, {.06, .06, .06}, {.03, .04, .03}},
        {2, 31, 2.0, {.02, .03, .05}, {.00, .00, .00}},
    };
    static const int dips[] = {0, 30, 50, 60};
    for (guint k = 0; k < G_N_ELEMENTS(table); k++)
        for (int b = 0; b < 3; b++) {
            double phase, loss;
            spectrum_error(table[k].kdx, table[k].dz, table[k].degree, dips[b], dips[b + 1], &phase,
                           &loss);
            g_test_message("kdx %.1f, step %g, degree %d, dips %d-%d: %.3f rad, %.3f", table[k].kdx,
                           table[k].dz, table[k].degree, dips[b], dips[b + 1], phase, loss);
            g_assert_cmpfloat(phase, <=, 1.1 * table[k].phase[b] + 0.012);
            g_assert_cmpfloat(loss, <=, 1.1 * table[k].loss[b] + 0.012);
        }
}

// --- stability --------------------------------------------------------------------------------

enum { SIDE = 40, STEPS = 1000 };

// A job whose slowness is filled by the test.
static LithoMigrateJob *made_job(const char *settings, int side, int steps,
                                 void (*fill)(float *, int))
{
    g_autoptr(LithoFlow) flow = flow_of(settings);
    LithoMigrateParams *p = litho_flow_step(flow, 0)->params;
    const int nt = (int)fmax(ceil(2 * p->nz * p->dz / 2000 / 0.004), 100); // reaches all depths
    LithoGrid in = time_grid(side, side, nt, 10, 0.004);
    p->pad = 0; // the slowness has the data's cells
    LithoMigrateJob *job = litho_migrate_job_new(&in, p, NULL, NULL, NULL, NULL);
    g_assert_nonnull(job);
    g_assert_cmpint(job->n_steps, ==, steps);
    job->slowness = g_new(float, (gsize)side *side *steps);
    for (int s = 0; s < steps; s++) {
        float *plane = job->slowness + (gsize)side * side * s;
        fill(plane, s);
        job->slow_min[s] = job->slow_max[s] = plane[0];
        for (int k = 1; k < side * side; k++) {
            job->slow_min[s] = fmin(job->slow_min[s], plane[k]);
            job->slow_max[s] = fmax(job->slow_max[s], plane[k]);
        }
    }
    g_assert_true(litho_migrate_job_design(job, p, NULL, NULL, NULL));
    return job;
}

static void fill_random(float *plane, int step)
{
    GRand *rand = g_rand_new_with_seed(11); // the same at all depths: the hard case
    (void)step;
    for (int k = 0; k < SIDE * SIDE; k++)
        plane[k] = (float)g_rand_double_range(rand, 1 / 3.0, 1) / 1000;
    g_rand_free(rand);
}

static void fill_stairs(float *plane, int step)
{
    (void)step;
    for (int k = 0; k < SIDE * SIDE; k++)
        plane[k] = (k % SIDE / 10) % 2 ? 1 / 3000.0f : 1 / 1000.0f;
}

static void random_wave(const LithoWaves *w, float *wave)
{
    GRand *rand = g_rand_new_with_seed(5);
    for (int y = 0; y < w->ny; y++)
        for (int c = 0; c < 2; c++)
            for (int x = 0; x < w->nx; x++)
                litho_wave_row(w, wave, y)[c * w->stride + x] =
                    (float)g_rand_double_range(rand, -1, 1);
    g_rand_free(rand);
}

static LithoWaveStep operator_step(const LithoMigrateJob *job, int s, int f)
{
    LithoWaveStep step = {.stencil = litho_migrate_job_stencil(job, s, f),
                          .degree = job->params.degree,
                          .targets = job->step,
                          .slowness =
                              job->slowness ? litho_migrate_job_slowness(job, s, NULL) : NULL};
    for (int m = 0; m < job->step; m++) {
        step.re[m] = litho_migrate_job_entry(job, s, f)->poly[m]->re;
        step.im[m] = litho_migrate_job_entry(job, s, f)->poly[m]->im;
    }
    return step;
}

// The step that takes steeper waves away before step s.
static LithoWaveStep stop_step(const LithoMigrateJob *job, int s, int f)
{
    LithoWaveStep step = operator_step(job, s, f);
    const LithoPoly *stop = litho_migrate_job_entry(job, s, f)->stop;
    g_assert_nonnull(stop);
    step.degree = stop->spec.degree;
    step.targets = 1;
    step.re[0] = stop->re;
    step.im[0] = stop->im;
    return step;
}

// Property: the polynomial that takes steeper waves away passes what propagates within the largest
// dip to 1.5 %, near the vertical to 0.2 %, leaves a quarter of what lies beyond its transition, is
// real and nowhere above 1.
static void test_stop(void)
{
    for (double kap = 0.3; kap < 3; kap *= 1.5)
        for (double rho = 8.44; rho < 30; rho *= 2) {
            const LithoPolySpec spec = {.kap = kap,
                                        .rho = rho,
                                        .theta = 66 * G_PI / 180,
                                        .w0 = 0.1,
                                        .tol = 0.2,
                                        .degree = LITHO_MIGRATE_STOP_DEGREE,
                                        .stop = 0.25};
            double re[64], im[64], g_re, g_im, largest = 0;
            litho_poly_design(&spec, re, im);
            g_assert_cmpfloat(litho_poly_max_modulus(&spec, re, im), <=, 1);
            const double pass = kap * kap * pow(sin(spec.theta), 2);
            const double phi_p = 2 * asin(fmin(sqrt(pass / rho), 1));
            for (int k = 0; k <= 400; k++) {
                const double phi = k * G_PI / 400, s = rho * pow(sin(phi / 2), 2);
                litho_poly_value(&spec, re, im, s, &g_re, &g_im);
                g_assert_cmpfloat(fabs(g_im), <, 1e-9);
                if (s <= pass) {
                    g_assert_cmpfloat(g_re, >, 0.985);
                    g_assert_cmpfloat(s > 0.1 * pass ? 1 : g_re, >, 0.998);
                } else if (phi > phi_p + LITHO_POLY_TRANSITION / spec.degree) {
                    largest = fmax(largest, fabs(g_re));
                }
            }
            g_assert_cmpfloat(largest, <=, 0.25);
        }
}

// Property: one row of slowness that serves all gives the bytes of a plane of the same values, down
// and up, and a cancel ends a step on its way.
static void test_one_row(void)
{
    enum { NX = 37, NY = 29 };
    LithoGrid in = time_grid(NY, NX, 100, 10, 0.004);
    g_autoptr(LithoFlow) flow = flow_of("velocity=2000 dz=10 nz=20 step=2 degree=9 pad=0");
    LithoMigrateParams *p = litho_flow_step(flow, 0)->params;
    g_autoptr(LithoMigrateJob) job = litho_migrate_job_new(&in, p, NULL, NULL, NULL, NULL);
    g_assert_true(litho_migrate_job_design(job, p, NULL, NULL, NULL));
    const LithoWaves w = litho_waves_layout(NX, NY);
    LithoWaveScratch *scratch = litho_wave_scratch_new(&w);
    float *wave[2], *between[2], row[NX], plane[NX * NY];
    const float *slowness = litho_migrate_job_slowness(job, 0, row);
    g_autoptr(GCancellable) cancel = g_cancellable_new();
    const LithoRun run = {.cancel = cancel};
    for (int k = 0; k < NX * NY; k++)
        plane[k] = row[0];
    for (int k = 0; k < 2; k++) {
        wave[k] = litho_waves_alloc(&w, 1);
        between[k] = litho_waves_alloc(&w, 1);
        random_wave(&w, wave[k]);
        LithoWaveStep step = operator_step(job, 0, 3);
        step.slowness = k ? plane : slowness;
        step.one_row = k == 0;
        step.run = &run;
        g_assert_true(litho_wave_forward(&w, scratch, &step, wave[k], &between[k]));
        g_assert_true(litho_wave_adjoint(&w, scratch, &step, wave[k], &between[k]));
        if (k == 1) {
            g_assert_cmpmem(wave[0], w.size * sizeof(float), wave[1], w.size * sizeof(float));
            g_assert_cmpmem(between[0], w.size * sizeof(float), between[1], w.size * sizeof(float));
            g_cancellable_cancel(cancel);
            g_assert_false(litho_wave_forward(&w, scratch, &step, wave[k], &between[k]));
            g_assert_false(litho_wave_adjoint(&w, scratch, &step, wave[k], &between[k]));
        }
    }
    for (int k = 0; k < 2; k++) {
        free(wave[k]);
        free(between[k]);
    }
    litho_wave_scratch_free(scratch);
}

// Property: in the operator form no step raises the wave's energy, in any medium; here velocity
// contrasts of 3:1 between neighbouring cells that stay the same over 1000 depths. 1e-5 is
// rounding. A stencil that is not symmetric, or a spectral range chosen too small, fails within
// some steps.
static void check_norm(void (*fill)(float *, int))
{
    g_autoptr(LithoMigrateJob) job = made_job(
        "velocity=2000 dz=10 nz=1001 step=1 fmin=2 fmax=50 mode=shot sponge=0", SIDE, STEPS, fill);
    LithoWaves w = litho_waves_layout(SIDE, SIDE);
    LithoWaveScratch *scratch = litho_wave_scratch_new(&w);
    float *wave = litho_waves_alloc(&w, 1);
    double worst = 0;
    int stops = 0;
    for (int f = 0; f < job->nf; f += MAX(job->nf / 5, 1)) {
        random_wave(&w, wave);
        double before = litho_wave_energy(&w, wave);
        for (int s = 0; s < STEPS; s++) {
            LithoWaveStep step = operator_step(job, s, f);
            if (litho_migrate_job_stops(job, s)) {
                const LithoWaveStep stop = stop_step(job, s, f);
                litho_wave_forward(&w, scratch, &stop, wave, NULL);
                stops++;
            }
            litho_wave_forward(&w, scratch, &step, wave, NULL);
            double after = litho_wave_energy(&w, wave);
            worst = fmax(worst, sqrt(after / before));
            before = after;
        }
        g_assert_cmpfloat(before, >, 0);
    }
    assert_below(worst, 1 + 1e-5);
    g_assert_cmpint(stops, >, 5 * STEPS / 20);
    free(wave);
    litho_wave_scratch_free(scratch);
}

static void test_norm_random(void)
{
    check_norm(fill_random);
}

static void test_norm_stairs(void)
{
    check_norm(fill_stairs);
}

static LithoCube *velocity_stairs(int side, int nz)
{
    LithoGrid g = time_grid(side, side, nz, 10, 10);
    g.is_depth = TRUE;
    LithoCube *cube = litho_cube_new(&g, NULL);
    for (gint64 k = 0; k < litho_grid_samples(&g); k++)
        cube->samples[k] = (k / nz % side / 10) % 2 ? 3000 : 1000;
    return cube;
}

// Property: the pointwise form does grow beside walls that stand vertically, and the run then fails
// with a sentence that names the remedy instead of giving an image.
static void test_growth(void)
{
    g_autoptr(LithoCube) velocity = velocity_stairs(SIDE, 400);
    g_autofree char *path = scratch_path("litho-test-stairs.npy");
    LithoSaveOptions save = {.force = TRUE};
    g_assert_true(litho_cube_save(velocity, path, &save, NULL, NULL));
    LithoGrid grid = time_grid(SIDE, SIDE, 350, 10, 0.004);
    g_autoptr(LithoCube) in = random_cube(&grid, 3);
    g_autofree char *settings = g_strdup_printf(
        "velocity=%s dz=5 nz=400 step=1 degree=15 fmin=10 fmax=40 form=pointwise sponge=0", path);
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) out = try_migrate(in, NULL, &error, settings);
    g_assert_null(out);
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_NUMERICS);
    g_assert_nonnull(strstr(error->message, "form = operator"));
    g_unlink(path);
}

// Property: single precision over 1000 steps stays within 1e-3 of the same recursion in double on a
// medium of +-20 %: no degree amplifies rounding, and the wavefront order is the plain recursion.
static void fill_smooth(float *plane, int step)
{
    for (int y = 0; y < 24; y++)
        for (int x = 0; x < 24; x++)
            plane[y * 24 + x] =
                (float)((1 + 0.2 * sin(x * 0.4 + step * 0.02) * cos(y * 0.3)) / 2000);
}

static void double_step(const LithoMigrateJob *job, int s, int f, double complex *p)
{
    enum { N = 24 };
    static double complex b1[N * N], b2[N * N], next[N * N];
    const LithoStencil st = litho_migrate_job_stencil(job, s, f);
    const LithoPoly *poly = litho_migrate_job_entry(job, s, f)->poly[0];
    const float *slow = litho_migrate_job_slowness(job, s, NULL);
    memset(b1, 0, sizeof b1);
    memset(b2, 0, sizeof b2);
    for (int n = poly->spec.degree; n >= 0; n--) {
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++) {
                double complex v =
                    (st.alpha + st.beta * ((double)slow[y * N + x] * slow[y * N + x])) *
                    b1[y * N + x];
                for (int m = 1; m <= 4; m++) {
                    v += st.hx[m - 1] *
                         ((x >= m ? b1[y * N + x - m] : 0) + (x + m < N ? b1[y * N + x + m] : 0));
                    v += st.hy[m - 1] * ((y >= m ? b1[(y - m) * N + x] : 0) +
                                         (y + m < N ? b1[(y + m) * N + x] : 0));
                }
                next[y * N + x] = (poly->re[n] + I * poly->im[n]) * p[y * N + x] +
                                  (n > 0 ? v : v / 2) - b2[y * N + x];
            }
        memcpy(b2, b1, sizeof b1);
        memcpy(b1, next, sizeof b1);
    }
    memcpy(p, b1, sizeof b1);
}

static void test_precision(void)
{
    enum { N = 24 };
    g_autoptr(LithoMigrateJob) job =
        made_job("velocity=2000 dz=10 nz=1001 step=1 fmin=20 fmax=22 mode=shot sponge=0", N, STEPS,
                 fill_smooth);
    LithoWaves w = litho_waves_layout(N, N);
    LithoWaveScratch *scratch = litho_wave_scratch_new(&w);
    float *wave = litho_waves_alloc(&w, 1);
    double complex p[N * N];
    random_wave(&w, wave);
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++)
            p[y * N + x] =
                litho_wave_row(&w, wave, y)[x] + I * litho_wave_row(&w, wave, y)[w.stride + x];
    for (int s = 0; s < STEPS; s++) {
        LithoWaveStep step = operator_step(job, s, 0);
        litho_wave_forward(&w, scratch, &step, wave, NULL);
        double_step(job, s, 0, p);
    }
    double d = 0, n = 0;
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            const float *row = litho_wave_row(&w, wave, y);
            d += pow(cabs(row[x] + I * row[w.stride + x] - p[y * N + x]), 2);
            n += pow(cabs(p[y * N + x]), 2);
        }
    assert_below(sqrt(d / n), 1e-3);
    free(wave);
    litho_wave_scratch_free(scratch);
}

static void fill_smooth_40(float *plane, int step)
{
    for (int k = 0; k < SIDE * SIDE; k++)
        plane[k] = (float)((1 + 0.1 * sin(k % SIDE * 0.3 + step) * cos(k / SIDE * 0.2)) / 2000);
}

// Property: the depths inside a large step come out of the same recursion as they would out of one
// of their own (1e-5: two orders of summation), and their polynomials are within 1e-3 of the exact
// partial shift for dips up to 45 degrees (design error of a step of 2 cells, degree 47).
static void test_partial_depths(void)
{
    g_autoptr(LithoMigrateJob) job =
        made_job("velocity=2000 dz=10 nz=3 step=2 degree=47 fmin=20 fmax=40 mode=shot sponge=0",
                 SIDE, 1, fill_smooth_40);
    LithoWaves w = litho_waves_layout(SIDE, SIDE);
    LithoWaveScratch *scratch = litho_wave_scratch_new(&w);
    float *waves = litho_waves_alloc(&w, 4);
    for (int f = 0; f < job->nf; f += MAX(job->nf / 3, 1)) {
        LithoWaveStep step = operator_step(job, 0, f);
        float *planes[2];
        for (int m = 0; m < 2; m++) {
            planes[m] = waves + w.size * (2 + m);
            random_wave(&w, waves + w.size * m);
        }
        memcpy(planes[1], waves, w.size * sizeof(float));
        litho_wave_forward(&w, scratch, &step, planes[1], planes);
        for (int m = 0; m < 2; m++) {
            LithoWaveStep own = step;
            own.targets = 1;
            own.re[0] = step.re[m];
            own.im[0] = step.im[m];
            litho_wave_forward(&w, scratch, &own, waves + w.size * m, NULL);
            double d = 0, n = 0;
            for (gsize k = 0; k < w.size; k++) {
                d += pow((double)planes[m][k] - waves[w.size * m + k], 2);
                n += pow(waves[w.size * m + k], 2);
            }
            g_assert_cmpfloat(sqrt(d / n), <=, 1e-5);
            const LithoPoly *poly = litho_migrate_job_entry(job, 0, f)->poly[m];
            double re[64], im[64], worst = 0;
            for (int k = 0; k <= poly->spec.degree; k++) {
                re[k] = poly->re[k];
                im[k] = poly->im[k];
            }
            for (double s = 0; s <= pow(poly->spec.kap, 2) / 2; s += poly->spec.rho * 1e-3) {
                double g_re, g_im, phase = sqrt(pow(poly->spec.kap, 2) - s);
                litho_poly_value(&poly->spec, re, im, s, &g_re, &g_im);
                worst = fmax(worst, hypot(g_re - cos(phase), g_im - sin(phase)));
            }
            assert_below(worst, 1e-3);
        }
    }
    free(waves);
    litho_wave_scratch_free(scratch);
}

// --- adjoint ----------------------------------------------------------------------------------

// Property: <A d, m> = <d, A^H m> for every form, engine and step: demigration is the exact adjoint
// of migration. 1e-5 is what single precision leaves.
static void test_adjoint(void)
{
    static const char *const cases[] = {
        "step=1 degree=23",
        "step=3 degree=31",
        "form=pointwise step=1 degree=15 growth=0",
        "form=pointwise step=2 degree=23 growth=0",
        "engine=splitstep",
        "coarse=on step=2",
        "pad=7 sponge=6 step=1",
        "coarse=on pad=7 sponge=6 step=1",
    };
    LithoGrid velocity_grid = time_grid(19, 23, 40, 10, 10);
    velocity_grid.is_depth = TRUE;
    g_autoptr(LithoCube) velocity = litho_cube_new(&velocity_grid, NULL);
    for (gint64 k = 0; k < litho_grid_samples(&velocity_grid); k++)
        velocity->samples[k] = (float)(2000 + 500 * sin(k * 0.003) + (k / 40 % 23 > 11 ? 400 : 0));
    g_autofree char *path = scratch_path("litho-test-adjoint.npy");
    LithoSaveOptions save = {.force = TRUE};
    g_assert_true(litho_cube_save(velocity, path, &save, NULL, NULL));

    LithoGrid data_grid = time_grid(19, 23, 90, 10, 0.004), image_grid = velocity_grid;
    g_autoptr(LithoCube) d = random_cube(&data_grid, 1);
    g_autoptr(LithoCube) m = random_cube(&image_grid, 2);
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autoptr(LithoCube) image =
            migrate(d, "velocity=%s dz=10 nz=40 fmax=60 %s", path, cases[k]);
        g_autoptr(LithoCube) data = migrate(
            m, "mode=demigrate velocity=%s dz=10 nt=90 dt=0.004 fmax=60 %s", path, cases[k]);
        double left = dot(image, m), right = dot(d, data);
        g_test_message("%s: %.8g %.8g", cases[k], left, right);
        assert_below(fabs(left - right) / sqrt(dot(image, image) * dot(m, m)), 1e-5);
        g_assert_cmpfloat(fabs(left), >, 0);
    }
    g_unlink(path);
}

// --- moving a slider --------------------------------------------------------------------------

// 1800 m/s at the top, 3500 at 2 km, +-12 % to the sides: half the velocity, as for a stack.
static void fill_interactive(float *plane, int step)
{
    for (int k = 0; k < SIDE * SIDE; k++)
        plane[k] = (float)(2 / ((1800 + 6.6 * step) * (1 + 0.12 * sin(k % SIDE * 0.3) *
                                                               cos(k / SIDE * 0.2 + step * 0.01))));
}

// Property: a move of the degree or the largest dip designs what (frequency, depth) classes need
// and not one polynomial for each of 119 x 256; going back designs nothing. With -m perf on the GPU
// host's 16 cores: within 100 ms (a design's time grows with the degree cubed, so up to 31).
static void test_moves(void)
{
    static const struct {
        const char *settings;
        gboolean timed;
    } moves[] = {{"degree=16", TRUE},  {"degree=23", TRUE},  {"max_dip=60", TRUE},
                 {"max_dip=70", TRUE}, {"degree=31", TRUE},  {"max_dip=65", TRUE},
                 {"degree=23", TRUE},  {"degree=47", FALSE}, {"degree=63", FALSE}};
    const int n = g_test_perf() ? G_N_ELEMENTS(moves) : 4;
    litho_poly_cache_clear();
    g_autoptr(LithoMigrateJob) job = made_job(
        "velocity=2000 dz=8 nz=257 step=1 fmin=3 fmax=61.2 degree=15", SIDE, 256, fill_interactive);
    g_autoptr(LithoFlow) flow =
        flow_of("velocity=2000 dz=8 nz=257 step=1 fmin=3 fmax=61.2 degree=15");
    for (int k = 0; k < 2 * n; k++) {
        const char *move = moves[k % n].settings;
        set(flow, move);
        guint64 made = litho_poly_designs_made();
        const double start = litho_now_ms();
        g_assert_true(litho_migrate_job_design(job, litho_flow_step(flow, 0)->params, NULL, NULL, NULL));
        const double ms = litho_now_ms() - start;
        made = litho_poly_designs_made() - made;
        g_test_message("%d x %d: %s: %" G_GUINT64_FORMAT " designs in %.1f ms", job->nf,
                       job->n_steps, move, made, ms);
        g_assert_cmpuint(made, <=, 600);
        if (k == n - 1)
            set(flow, "degree=15 max_dip=65"); // where the first round began
        else if (k >= n)
            g_assert_cmpuint(made, ==, 0);
        if (g_test_perf() && moves[k % n].timed)
            assert_below(ms, 100);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/migrate-design/one-row", test_one_row);
    g_test_add_func("/migrate-design/design", test_design);
    g_test_add_func("/migrate-design/bank", test_bank);
    g_test_add_func("/migrate-design/spectrum", test_spectrum);
    g_test_add_func("/migrate-design/stop", test_stop);
    g_test_add_func("/migrate-design/norm-random", test_norm_random);
    g_test_add_func("/migrate-design/norm-stairs", test_norm_stairs);
    g_test_add_func("/migrate-design/growth", test_growth);
    g_test_add_func("/migrate-design/precision", test_precision);
    g_test_add_func("/migrate-design/partial-depths", test_partial_depths);
    g_test_add_func("/migrate-design/adjoint", test_adjoint);
    g_test_add_func("/migrate-design/moves", test_moves);
    return g_test_run();
}
