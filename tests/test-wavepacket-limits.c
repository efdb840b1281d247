// SPDX-License-Identifier: GPL-3.0-or-later
//
// The wave-packet operator at its limits, on the CPU: passes that are stopped or refused memory
// half way, threads it was not given, files of segments that lie elsewhere, very small and very
// large samples.
#include <fftw3.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/sort.h"
#include "kernels/wavepacket/apply.h"
#include "kernels/wavepacket/coefficients.h"
#include "kernels/wavepacket/cpu/wavepacket.h"
#include "tests/wavepacket-bench.h"

// --- a machine that refuses ----------------------------------------------------------------------

static int allowed;          // arrays of coefficients before one is refused; negative = all
static gboolean no_spectrum; // there is no memory for the spectrum of the whole cube

static float *alloc_some(WpEngine *engine, gint64 floats, GError **error)
{
    if (floats == WP_COEFFICIENTS && allowed == 0) {
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "cancelled");
        return NULL;
    }
    allowed -= floats == WP_COEFFICIENTS && allowed > 0;
    return wp_cpu_arrays.alloc(engine, floats, error);
}

static gboolean fourier_or_not(WpEngine *engine, const float *volume, const gint64 n[3],
                               guint64 keep, double *lost, LithoRun *run, GError **error)
{
    if (!no_spectrum)
        return wp_cpu_fourier(engine, volume, n, keep, lost, run, error);
    g_set_error_literal(error, LITHO_ERROR, LITHO_ERROR_MEMORY, "no memory for the spectrum");
    return FALSE;
}

static WpEngine *engine_that_refuses(const WpGeometry *geometry, int form, LithoRun *run,
                                     GError **error)
{
    static WpEngineClass class;
    WpEngine *engine = wp_engine_cpu(geometry, form, run, error);
    class = *engine->class;
    class.alloc = alloc_some;
    class.fourier = fourier_or_not;
    engine->class = &class;
    return engine;
}

static guint64 plenty(const LithoRun *run)
{
    (void)run;
    return G_GUINT64_CONSTANT(1) << 36;
}

static const WpMachine machine = {.engine = engine_that_refuses, .available = plenty};

// The operator's plan for one cube.
typedef struct Plan {
    WpJob *job;
    LithoCube *in, *out;
    LithoWavepacketParams p;
    LithoRun run;
} Plan;

static Plan plan_for(gint64 n1, gint64 n2, gint64 n3, int mode, int block, int threads)
{
    Plan s = {
        .in = events_cube(n1, n2, n3),
        .run = {.threads = threads, .report = litho_report_new(), .writes = TRUE, .force = TRUE}};
    s.out = litho_cube_new(&s.in->grid, NULL);
    litho_param_defaults(&litho_operator_wavepacket.params, &s.p);
    s.p.mode = mode;
    s.p.block = block;
    s.job = wp_job_new(&s.in->grid, &s.p, &machine, &s.run, NULL);
    g_assert_nonnull(s.job);
    allowed = -1;
    no_spectrum = FALSE;
    return s;
}

static gboolean run_plan(Plan *s, GError **error)
{
    const LithoPass pass = {.params = &s->p,
                            .first_stage = 1,
                            .in = s->in,
                            .region = litho_box_full(&s->in->grid),
                            .out = s->out};
    return wp_job_run(s->job, &pass, &s->run, error);
}

static void plan_clear(Plan *s)
{
    wp_job_free(s->job);
    litho_cube_unref(s->in);
    litho_cube_unref(s->out);
    litho_report_unref(s->run.report);
}

// --- threads -------------------------------------------------------------------------------------

static int threads_alive(void)
{
    GDir *dir = g_dir_open("/proc/self/task", 0, NULL);
    int n = 0;
    while (dir && g_dir_read_name(dir))
        n++;
    g_clear_pointer(&dir, g_dir_close);
    return n;
}

// Property: told to use one thread, a plan, a pass and the question for memory start no other. The
// first test here: threads that OpenMP has started stay.
static void test_threads(void)
{
    const int before = threads_alive();
    const LithoGrid grid = litho_grid_new(20, 24, 28);
    LithoWavepacketParams p;
    litho_param_defaults(&litho_operator_wavepacket.params, &p);
    wp_job_memory(&grid, &p, &machine, litho_box_full(&grid), 1);
    for (int mode = WP_COMPRESS; mode <= WP_RECONSTRUCT; mode++) {
        Plan s = plan_for(20, 24, 28, mode, 0, 1);
        g_autoptr(GError) error = NULL;
        g_assert_true(run_plan(&s, &error));
        g_assert_no_error(error);
        plan_clear(&s);
    }
    g_test_message("%d threads before, %d after", before, threads_alive());
    g_assert_cmpint(threads_alive(), ==, before);
}

// --- long thin volumes ---------------------------------------------------------------------------

// Property: a long thin volume is cut into segments of little work and comes back. In one piece its
// boxes hold 2300 coefficients a sample, which took 80 s where 8 x 8 traces of 4000 samples are
// denoised; segments take a quarter of them here, and a fiftieth there.
static void test_long_and_thin(void)
{
    Plan s = plan_for(8, 8, 600, WP_RECONSTRUCT, 0, 0);
    const gsize samples = 8 * 8 * 600;
    const double work = (double)s.job->n_blocks * (double)s.job->geometry->floats;
    g_autoptr(GError) error = NULL;
    g_assert_true(run_plan(&s, &error));
    g_assert_no_error(error);
    double all = 0, lost = 0;
    for (gsize i = 0; i < samples; i++) {
        const double d = s.out->samples[i] - s.in->samples[i];
        lost += d * d;
        all += s.in->samples[i] * s.in->samples[i];
    }
    g_test_message("%d segments, %.0f coefficients a sample, error %.1e", s.job->n_blocks,
                   work / samples, sqrt(lost / all));
    g_assert_cmpfloat(work / samples, <, 1000);
    g_assert_cmpfloat(sqrt(lost / all), <, 3e-3);
    plan_clear(&s);
}

// --- passes that stop ----------------------------------------------------------------------------

// Property: a pass that stops between the allocations of its segments leaves a plan that the next
// one can use: the samples are those of a pass that was left alone. Where the first segment's array
// is taken for all of them, the second one is written through NULL.
static void test_allocations(void)
{
    Plan s = plan_for(40, 16, 40, WP_RECONSTRUCT, 32, 0);
    const gsize bytes = sizeof(float) * 40 * 16 * 40;
    g_assert_true(run_plan(&s, NULL));
    g_autofree float *expected = g_memdup2(s.out->samples, bytes);
    g_assert_cmpint(s.job->n_blocks, ==, 4);
    g_assert_false(s.job->lanes[0].shared);
    for (int k = 1; k < 4; k += 2) {
        g_autoptr(GError) error = NULL;
        wp_lane_drop_coefficients(s.job, &s.job->lanes[0]);
        memset(s.out->samples, 0, bytes);
        allowed = k;
        g_assert_false(run_plan(&s, &error));
        g_assert_true(litho_error_is_cancelled(error));
        g_clear_error(&error);
        allowed = -1;
        g_assert_true(run_plan(&s, &error));
        g_assert_no_error(error);
        g_assert_cmpmem(s.out->samples, bytes, expected, bytes);
    }
    plan_clear(&s);
}

// Property: without memory for the number to compare with, compression succeeds, and its report has
// all other numbers.
static void test_no_spectrum(void)
{
    g_autoptr(GError) error = NULL;
    Plan s = plan_for(24, 24, 24, WP_COMPRESS, 0, 0);
    double value;
    no_spectrum = TRUE;
    g_assert_true(run_plan(&s, &error));
    g_assert_no_error(error);
    g_assert_false(litho_report_get(s.run.report, "snr_fourier", &value));
    g_assert_true(litho_report_get(s.run.report, "snr_plain", &value));
    g_assert_true(litho_report_get(s.run.report, "cr", &value));
    no_spectrum = FALSE;
    g_assert_true(run_plan(&s, &error));
    g_assert_true(litho_report_get(s.run.report, "snr_fourier", &value));
    plan_clear(&s);
}

// Reading as well.
static void check_reading(Plan *s, Looks *looks, const char *path, double bytes)
{
    *looks = (Looks){0, G_MAXINT};
    g_assert_true(wp_lanes_begin(s->job, &s->run, NULL));
    g_assert_true(wp_coefficients_expand(s->job, path, 0, &s->run, NULL));
    const int all = looks->n;
    g_assert_cmpint(all, >, 2 * bytes / 262144); // to sum up, and to unpack
    for (int k = 0; k < all; k += MAX(all / 5, 1)) {
        g_autoptr(GError) error = NULL;
        *looks = (Looks){0, k};
        g_assert_false(wp_coefficients_expand(s->job, path, 0, &s->run, &error));
        g_assert_true(litho_error_is_cancelled(error));
    }
    *looks = (Looks){0, G_MAXINT};
    g_assert_true(wp_coefficients_expand(s->job, path, 0, &s->run, NULL));
    g_assert_true(wp_lanes_finish(s->job, &s->run, NULL));
}

// Property: a large file of coefficients is packed, summed and written with a look at the cancel
// for every 256 KB, and one that is cancelled in it is not there. In one piece it took seconds.
static void test_file_is_cancelled(void)
{
    g_autofree char *folder = g_dir_make_tmp("litho-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "kept.lwp", NULL);
    Plan s = plan_for(48, 48, 48, WP_COMPRESS, 0, 1);
    Looks looks = {0, G_MAXINT};
    s.run.superseded = look;
    s.run.superseded_data = &looks;
    s.p.keep = 2;
    no_spectrum = TRUE;                // the file is the last of a pass
    g_assert_true(run_plan(&s, NULL)); // takes its memory
    looks.n = 0;
    g_assert_true(run_plan(&s, NULL));
    const int without = looks.n;
    looks.n = 0;
    g_strlcpy(s.p.coefficients.text, path, sizeof s.p.coefficients.text);
    g_assert_true(run_plan(&s, NULL));
    const int all = looks.n, more = all - without;
    double kept = 0;
    g_assert_true(litho_report_get(s.run.report, "file_kept", &kept));
    g_test_message("%.0f coefficients: %d looks, %d without a file", kept, all, without);
    g_assert_cmpint(more, >, 2 * 8 * kept / 262144); // to pack, and to write
    g_remove(path);
    for (int k = 1; k < more; k += MAX(more / 5, 1)) {
        g_autoptr(GError) error = NULL;
        looks = (Looks){0, all - k};
        g_assert_false(run_plan(&s, &error));
        g_assert_true(litho_error_is_cancelled(error));
        g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
        g_assert_null(g_dir_read_name(dir)); // nor a temporary name
    }
    looks = (Looks){0, G_MAXINT};
    g_assert_true(run_plan(&s, NULL));
    check_reading(&s, &looks, path, 8 * kept);
    g_remove(path);
    g_rmdir(folder);
    plan_clear(&s);
}

// Property: the large residual box is looked through in pieces: with a look at the cancel for each,
// and with sums that do not depend on the number of threads.
static void test_pieces(void)
{
    const WpSpec spec = {
        .n = {64, 64, 64}, .design = WP_DEFAULT, .directions = 3, .width = 5, .oversampling = 1.5};
    WpGeometry *g = wp_geometry_new(&spec, NULL, NULL);
    WpEngine *engine = wp_engine_cpu(g, 0, NULL, NULL);
    const WpEngineClass *k = engine->class;
    float *c = k->alloc(engine, WP_COEFFICIENTS, NULL);
    g_autofree WpBoxStats *stats = g_new0(WpBoxStats, 2 * g->n_boxes);
    g_autofree float *level = g_new0(float, g->n_boxes);
    g_autofree WpHistogram *h = g_new0(WpHistogram, 1);
    const WpRule rule = {.level = level};
    const int pieces = g->n_boxes - 1 + (int)(wp_residual(g)->floats / 65536);
    for (int b = 0; b < g->n_boxes; b++) {
        wp_test_noise(c + g->boxes[b].at, g->boxes[b].floats, 1000 + b);
        level[b] = 1;
    }
    h->scale = level;
    h->prefix = -1;
    g_assert_cmpint(wp_residual(g)->floats, >, 4 * 65536);
    for (int i = 0; i < 2; i++) {
        Looks looks = {0, G_MAXINT};
        LithoRun run = {.threads = i ? 3 : 1, .superseded = look, .superseded_data = &looks};
        g_assert_true(k->begin(engine, &run, NULL));
        g_assert_true(k->stats(engine, c, stats + i * g->n_boxes, NULL, NULL));
        g_assert_cmpint(looks.n, >=, pieces);
        looks.n = 0;
        g_assert_true(k->histogram(engine, c, h, NULL));
        g_assert_cmpint(looks.n, >=, pieces);
        looks.n = 0;
        g_assert_true(k->shrink(engine, c, c, c, &rule, NULL, NULL));
        g_assert_cmpint(looks.n, >=, pieces);
        looks = (Looks){0, 20};
        g_autoptr(GError) error = NULL;
        g_assert_false(k->blend(engine, 1, c, 0, c, WP_COEFFICIENTS, &error));
        g_assert_true(litho_error_is_cancelled(error));
        for (int b = 0; b < g->n_boxes; b++)
            wp_test_noise(c + g->boxes[b].at, g->boxes[b].floats, 1000 + b);
        g_assert_true(k->finish(engine, NULL, NULL));
    }
    g_assert_cmpmem(stats, g->n_boxes * sizeof *stats, stats + g->n_boxes,
                    g->n_boxes * sizeof *stats);
    const WpBoxStats *last = &stats[g->n_boxes - 1];
    const double energy = wp_test_energy(c + wp_residual(g)->at, wp_residual(g)->floats);
    g_assert_cmpfloat(fabs(last->energy / energy - 1), <, 1e-12);
    k->release(engine, c);
    wp_engine_free(engine);
    wp_geometry_free(g);
}

// --- the plain Fourier transform
// -------------------------------------------------------------------

// Energy lost by keeping the `keep` largest values of a plain FFT, by sorting.
static double lost_by_sorting(const float *u, const gint64 n[3], gint64 keep)
{
    const gint64 samples = n[0] * n[1] * n[2], half = n[2] / 2 + 1, values = n[0] * n[1] * half;
    g_autofree double *power = g_new(double, values);
    double *in = fftw_alloc_real(samples), lost = 0;
    fftw_complex *out = fftw_alloc_complex(values);
    fftw_plan plan = fftw_plan_dft_r2c_3d((int)n[0], (int)n[1], (int)n[2], in, out, FFTW_ESTIMATE);
    for (gint64 i = 0; i < samples; i++)
        in[i] = u[i];
    fftw_execute(plan);
    for (gint64 i = 0; i < values; i++)
        power[i] = out[i][0] * out[i][0] + out[i][1] * out[i][1];
    g_autofree double *sorted = g_memdup2(power, values * sizeof *power);
    qsort(sorted, values, sizeof *sorted, litho_compare_double);
    for (gint64 i = 0; i < values; i++)
        if (keep == 0 || power[i] < sorted[values - keep])
            lost += (i % half == 0 || 2 * (i % half) == n[2] ? 1 : 2) * power[i];
    fftw_destroy_plan(plan);
    fftw_free(in);
    fftw_free(out);
    return lost / (double)samples;
}

// Property: what a plain FFT of the whole cube loses is what double precision and a sort say, to
// single precision; the bits do not depend on the number of threads; a cancel is seen within a
// plane; samples of 1e14, which the operator takes, do not leave the range.
static void test_fourier(void)
{
    const gint64 sizes[][3] = {{12, 17, 18}, {9, 1, 25}, {16, 20, 31}};
    WpCpu engine = {0};
    for (guint k = 0; k < G_N_ELEMENTS(sizes); k++) {
        const gint64 *n = sizes[k], samples = n[0] * n[1] * n[2];
        g_autofree float *u = g_new(float, samples), *loud = g_new(float, samples);
        wp_test_events(u, n);
        for (gint64 i = 0; i < samples; i++)
            loud[i] = 0x1p46f * u[i];
        for (gint64 keep = 0; keep < samples / 4; keep = 3 * keep + 1) {
            double lost[3];
            const double expected = lost_by_sorting(u, n, keep);
            for (int i = 0; i < 3; i++) {
                LithoRun run = {.threads = i == 1 ? 3 : 1};
                g_assert_true(wp_cpu_fourier(&engine.engine, i == 2 ? loud : u, n, (guint64)keep,
                                             &lost[i], &run, NULL));
            }
            g_assert_cmpfloat(fabs(lost[0] - expected), <, 1e-5 * wp_test_energy(u, samples));
            g_assert_true(lost[0] == lost[1]);
            g_assert_cmpfloat(fabs(lost[2] / 0x1p92 - lost[0]), <=, 1e-6 * lost[0]);
        }
        Looks looks = {0, G_MAXINT};
        LithoRun run = {.threads = 1, .superseded = look, .superseded_data = &looks};
        double lost;
        g_assert_true(wp_cpu_fourier(&engine.engine, u, n, 5, &lost, &run, NULL));
        for (int at = 0; at < looks.n; at += 7) {
            g_autoptr(GError) error = NULL;
            Looks few = {0, at};
            run.superseded_data = &few;
            g_assert_false(wp_cpu_fourier(&engine.engine, u, n, 5, &lost, &run, &error));
            g_assert_true(litho_error_is_cancelled(error));
        }
    }
}

// --- files of segments
// -----------------------------------------------------------------------------

// The file as a version before wrote it: without overlaps, and without a checksum.
static void make_old(const char *path, const char *old)
{
    g_autofree char *data = NULL;
    gsize size;
    g_assert_true(g_file_get_contents(path, &data, &size, NULL));
    data[7] = '1';
    for (gsize i = 0; i + 7 < MIN(size, 1000); i++)
        if (memcmp(data + i, "overlap", 7) == 0)
            memcpy(data + i, "unknown", 7);
    g_assert_true(g_file_set_contents(old, data, (gssize)size - 32, NULL));
}

// Opens a file as the samples it was `made` of, or is refused with `why`.
static void open_file(Bench *b, const LithoCube *in, const char *path, const LithoCube *made,
                      const char *why)
{
    const gsize bytes = sizeof(float) * (gsize)litho_grid_samples(&in->grid);
    g_autoptr(GError) error = NULL;
    g_strlcpy(b->p->coefficients.text, path, sizeof b->p->coefficients.text);
    g_autoptr(LithoCube) out = litho_engine_run(b->engine, b->flow, in, NULL, &b->run, &error);
    if (!why) {
        g_assert_no_error(error);
        g_assert_cmpmem(out->samples, bytes, made->samples, bytes);
        return;
    }
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, why));
}

// Property: a file of three segments along an axis opens with the overlap it was made with only,
// also where the last segment begins at the same sample; one of two segments, which lie at the ends
// whatever they overlap, with any. A file that does not tell the overlap is refused in the first
// case and opens in the second.
static void test_overlap(void)
{
    g_autofree char *folder = g_dir_make_tmp("litho-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "kept.lwp", NULL);
    g_autofree char *old = g_build_filename(folder, "old.lwp", NULL);
    const gint64 samples[] = {150, 100};
    for (guint k = 0; k < G_N_ELEMENTS(samples); k++) {
        Bench b = bench();
        g_autoptr(LithoCube) in = events_cube(16, 17, samples[k]);
        const gboolean two = k == 1;
        b.p->mode = WP_COMPRESS;
        b.p->design = WP_COMPACT;
        b.p->block = 64;
        b.p->overlap = 16;
        g_strlcpy(b.p->coefficients.text, path, sizeof b.p->coefficients.text);
        g_autoptr(LithoCube) made = apply(&b, in);
        g_assert_cmpfloat(number(&b, "blocks"), ==, two ? 2 : 3);
        make_old(path, old);
        b.p->mode = WP_RECONSTRUCT;
        for (b.p->overlap = 16; b.p->overlap <= 20; b.p->overlap += 4) {
            open_file(&b, in, path, made,
                      two || b.p->overlap == 16 ? NULL : "overlap3 = 16, here it is 20");
            open_file(&b, in, old, made, two ? NULL : "compress the cube once more");
        }
        g_remove(path);
        g_remove(old);
        clear(&b);
    }
    g_rmdir(folder);
}

// --- amplitudes
// ------------------------------------------------------------------------------------

// Property: a reconstruction's report does not depend on the amplitude, within what the operator
// takes for one: squares that are no floats count all the same.
static void test_amplitudes(void)
{
    double kept[3], bars[3];
    const float scale[] = {1, 0x1p-84f, 0x1p75f}; // 5e-26, 4e22
    for (int i = 0; i < 3; i++) {
        Bench b = bench();
        g_autoptr(LithoCube) in = events_cube(24, 24, 24);
        for (gint64 k = 0; k < litho_grid_samples(&in->grid); k++)
            in->samples[k] *= scale[i];
        b.p->mode = WP_RECONSTRUCT;
        g_autoptr(LithoCube) out = apply(&b, in);
        kept[i] = number(&b, "kept");
        bars[i] = 0;
        g_autoptr(GArray) curves = litho_report_curves(b.run.report);
        for (guint c = 0; c < curves->len; c++) {
            const LithoCurve *curve = &g_array_index(curves, LithoCurve, c);
            for (guint k = 0; k < curve->n; k++) {
                g_assert_true(isfinite(curve->y[k]));
                bars[i] += strcmp(curve->key, "magnitudes") == 0 ? curve->y[k] : 0;
            }
        }
        g_test_message("amplitude %g: kept %.0f, %.0f in the histogram, error %.2e", scale[i],
                       kept[i], bars[i], number(&b, "error"));
        g_assert_cmpfloat(number(&b, "error"), <, 2e-3);
        g_assert_cmpfloat(fabs(kept[i] / kept[0] - 1), <, 1e-3);
        g_assert_cmpfloat(fabs(bars[i] / bars[0] - 1), <, 1e-3);
        clear(&b);
    }
}

// Property: too few traces or samples are refused by what there are too few of; a line of four
// traces is none of these, whichever way it lies.
static void test_too_few(void)
{
    static const struct {
        gint64 n[3];
        const char *says; // NULL = it is computed
    } cases[] = {{{1, 3, 100}, "has 1 x 3 traces"},
                 {{3, 2, 100}, "has 3 x 2 traces"},
                 {{1, 4, 100}, NULL},
                 {{4, 1, 100}, NULL},
                 {{1, 4, 3}, "have 3 samples"},
                 {{8, 8, 3}, "have 3 samples"}};
    const LithoOperator *op = &litho_operator_wavepacket;
    g_autofree void *params = g_malloc0(op->params.size);
    litho_param_defaults(&op->params, params);
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        const LithoGrid grid = litho_grid_new(cases[k].n[0], cases[k].n[1], cases[k].n[2]);
        g_autoptr(GError) error = NULL;
        g_assert_cmpint(op->check(&grid, params, NULL, &error), ==, cases[k].says == NULL);
        g_assert_true(!error || strstr(error->message, cases[k].says));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/wavepacket-limits/threads", test_threads); // first
    g_test_add_func("/wavepacket-limits/long-and-thin", test_long_and_thin);
    g_test_add_func("/wavepacket-limits/allocations", test_allocations);
    g_test_add_func("/wavepacket-limits/no-spectrum", test_no_spectrum);
    g_test_add_func("/wavepacket-limits/file-is-cancelled", test_file_is_cancelled);
    g_test_add_func("/wavepacket-limits/pieces", test_pieces);
    g_test_add_func("/wavepacket-limits/fourier", test_fourier);
    g_test_add_func("/wavepacket-limits/overlap", test_overlap);
    g_test_add_func("/wavepacket-limits/amplitudes", test_amplitudes);
    g_test_add_func("/wavepacket-limits/too-few", test_too_few);
    return g_test_run();
}
