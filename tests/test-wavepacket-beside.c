// SPDX-License-Identifier: GPL-3.0-or-later
//
// The level of the noise that is measured in a thread while a pass transforms the input, as on a
// card: here by the host, which tells early what it knows and takes its time for the rest. Samples
// are those of a pass that measures first, to the bit: nothing may be taken before it is there, and
// where the noise varies the transform must not begin before its map.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "kernels/common/noise.h"
#include "kernels/wavepacket/apply.h"
#include "tests/wavepacket-bench.h"

enum { N1 = 36, N2 = 32, N3 = 160 };

static int waited, even_told; // atomic
static gulong late_us;        // from what is told early to the end

static gboolean level(const LithoCube *cube, const guint8 *recorded, const int window[3], int most,
                      const WpLevelBeside *beside, LithoRun *run, LithoNoise *noise, GError **error)
{
    if (beside) {
        g_atomic_int_inc(&waited);
        if (!beside->wait(beside->data, &cube, &recorded))
            return litho_run_stopped(error);
    }
    if (!(recorded ? litho_noise_measure_level(cube, recorded, NULL, window, most, run, noise, NULL,
                                               error)
                   : litho_noise_measure(cube, NULL, window, most, run, noise, error)))
        return FALSE;
    if (beside && !noise->map.level && !noise->bands.level) {
        g_atomic_int_inc(&even_told);
        beside->even(beside->data);
    }
    if (beside)
        g_usleep(late_us);
    return TRUE;
}

static guint64 plenty(const LithoRun *run)
{
    (void)run;
    return G_GUINT64_CONSTANT(1) << 36;
}

static const WpMachine first = {.engine = wp_engine_cpu, .available = plenty};
static const WpMachine beside = {.engine = wp_engine_cpu, .level = level, .available = plenty};

static LithoCube *noisy_cube(gboolean varies, gboolean bursts, gboolean gaps)
{
    LithoCube *cube = events_cube(N1, N2, N3);
    const gsize n = (gsize)N1 * N2 * N3;
    g_autofree float *noise = g_new(float, n);
    const double sigma = 0.5 * sqrt(wp_test_energy(cube->samples, n) / (double)n);
    wp_test_noise(noise, (gint64)n, 7);
    for (gsize i = 0; i < n; i++) {
        const double by = varies ? exp(3.0 * (double)(i % N3) / N3 - 1.5) : 1;
        cube->samples[i] += (float)(sigma * by) * noise[i];
    }
    for (gsize k = 0; bursts && k < 9; k++)
        for (gsize t = 30; t < 50; t++)
            cube->samples[(100 * k + 11) * N3 + t] *= 40;
    for (gsize k = 0; gaps && k < 40; k++) {
        cube->live[(29 * k) % (N1 * N2)] = 0;
        memset(cube->samples + (29 * k) % (N1 * N2) * N3, 0, N3 * sizeof(float));
    }
    return cube;
}

typedef struct Passing {
    LithoWavepacketParams p;
    LithoRun run;
    WpJob *job;
    LithoCube *out;
} Passing;

static Passing passing(const WpMachine *machine, const LithoGrid *grid)
{
    Passing s = {.run = {.report = litho_report_new()}};
    litho_param_defaults(&litho_operator_wavepacket.params, &s.p);
    s.job = wp_job_new(grid, &s.p, machine, &s.run, NULL);
    g_assert_nonnull(s.job);
    s.out = litho_cube_new(grid, NULL);
    return s;
}

static void passing_clear(Passing *s)
{
    wp_job_free(s->job);
    litho_cube_unref(s->out);
    litho_report_unref(s->run.report);
}

static gboolean pass_of(Passing *s, const LithoCube *in, GError **error)
{
    const LithoPass pass = {.params = &s->p,
                            .first_stage = 1,
                            .in = in,
                            .region = litho_box_full(&in->grid),
                            .out = s->out};
    return wp_job_run(s->job, &pass, &s->run, error);
}

// Property: whatever the noise, and whether the level is there sooner or later than the transform,
// samples and numbers are those of a pass that measures first; another threshold measures nothing.
static void test_same(void)
{
    static const struct {
        gboolean varies, bursts, gaps;
        gulong late_us;
    } cases[] = {{FALSE, FALSE, FALSE, 0},
                 {FALSE, FALSE, FALSE, 400000},
                 {TRUE, FALSE, FALSE, 0},
                 {TRUE, TRUE, FALSE, 20000},
                 {FALSE, TRUE, TRUE, 20000}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autoptr(LithoCube) in = noisy_cube(cases[k].varies, cases[k].bursts, cases[k].gaps);
        const gsize bytes = (gsize)N1 * N2 * N3 * sizeof(float);
        Passing a = passing(&first, &in->grid), b = passing(&beside, &in->grid);
        double sigma[2];
        late_us = cases[k].late_us;
        waited = even_told = 0;
        for (int pass = 0; pass < 2; pass++) {
            a.p.threshold = b.p.threshold = 2.5 + pass;
            g_autoptr(GError) error = NULL;
            g_assert_true(pass_of(&a, in, &error));
            g_assert_true(pass_of(&b, in, &error));
            g_assert_no_error(error);
            g_assert_cmpmem(a.out->samples, bytes, b.out->samples, bytes);
            g_assert_true(litho_report_get(a.run.report, "sigma", &sigma[0]));
            g_assert_true(litho_report_get(b.run.report, "sigma", &sigma[1]));
            g_assert_cmpfloat(sigma[0], ==, sigma[1]);
            g_assert_null(b.job->beside);
        }
        g_test_message("case %u: level %.4g, even %d, map %d", k, sigma[0], even_told,
                       b.job->map.level != NULL);
        g_assert_cmpint(waited, ==, 1);
        g_assert_cmpint(even_told, ==, !cases[k].varies);
        g_assert_true((b.job->map.level != NULL) == cases[k].varies);
        passing_clear(&a);
        passing_clear(&b);
    }
}

// Property: a pass that is stopped, wherever, waits for the thread, takes nothing of it, and leaves
// a plan that the next pass can use.
static void test_stopped(void)
{
    const gsize bytes = (gsize)N1 * N2 * N3 * sizeof(float);
    g_autoptr(LithoCube) in = noisy_cube(FALSE, TRUE, FALSE);
    Passing a = passing(&first, &in->grid), b = passing(&beside, &in->grid);
    Looks looks = {0, G_MAXINT};
    late_us = 1000;
    g_assert_true(pass_of(&a, in, NULL));
    b.run.superseded = look;
    b.run.superseded_data = &looks;
    g_autoptr(LithoCube) counted = noisy_cube(FALSE, TRUE, FALSE);
    g_assert_true(pass_of(&b, counted, NULL));
    const int all = looks.n;
    for (int k = 0; k < 6; k++) {
        g_autoptr(LithoCube) other = noisy_cube(FALSE, TRUE, FALSE); // not measured yet
        g_autoptr(GError) error = NULL;
        looks = (Looks){0, all * k / 7};
        g_assert_false(pass_of(&b, other, &error));
        g_assert_true(litho_error_is_cancelled(error));
        g_assert_null(b.job->beside);
        looks = (Looks){0, G_MAXINT};
        g_assert_true(pass_of(&b, other, NULL));
        g_assert_cmpmem(a.out->samples, bytes, b.out->samples, bytes);
    }
    passing_clear(&a);
    passing_clear(&b);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/wavepacket-beside/same", test_same);
    g_test_add_func("/wavepacket-beside/stopped", test_stopped);
    return g_test_run();
}
