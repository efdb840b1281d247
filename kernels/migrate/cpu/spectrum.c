// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/cpu/spectrum.h"

#include <fftw3.h>
#include <math.h>
#include <string.h>

// A record that does not start at t = 0: its spectrum turns by exp(-i w t0).
static void phase_of_start(const LithoMigrateJob *job, float *turn)
{
    for (int f = 0; f < job->nf; f++) {
        turn[2 * f] = (float)(job->weight[f] * cos(job->omega[f] * job->t0));
        turn[2 * f + 1] = (float)(-job->weight[f] * sin(job->omega[f] * job->t0));
    }
}

typedef struct Line {
    float *samples;        // nfft
    fftwf_complex *values; // nfft / 2 + 1
} Line;

static Line line_new(int nfft)
{
    return (Line){fftwf_malloc(sizeof(float) * nfft),
                  fftwf_malloc(sizeof(fftwf_complex) * (nfft / 2 + 1))};
}

static void line_free(Line *line)
{
    fftwf_free(line->samples);
    fftwf_free(line->values);
}

// One trace's frequencies into its cell of every plane.
static void scatter(const LithoMigrateJob *job, const LithoWaves *w, const Line *line,
                    const float *turn, int y, int x, float *planes)
{
    for (int f = 0; f < job->nf; f++) {
        float *row = litho_wave_row(w, planes + w->size * f, y);
        const float *v = line->values[job->k_first + job->k_stride * f], *t = turn + 2 * f;
        row[x] += t[0] * v[0] - t[1] * v[1];
        row[w->stride + x] += t[0] * v[1] + t[1] * v[0];
    }
}

static void load_trace(const LithoMigrateJob *job, const LithoCube *in, gint64 i, gint64 j,
                       const float *taper, float *samples)
{
    const float *trace = litho_cube_trace(in, i, j);
    for (int t = 0; t < job->nt; t++)
        samples[t] = isfinite(trace[t]) ? trace[t] * taper[t] : 0;
    memset(samples + job->nt, 0, sizeof(float) * (job->nfft - job->nt));
}

// Traces of one input line; serial inside so that cells which meet add up in a fixed order.
static void forward_line(const LithoMigrateJob *job, const LithoWaves *w, const LithoCube *in,
                         gint64 i, const int *row, const int *column, fftwf_plan plan, Line *line,
                         const float *taper, const float *turn, float *planes)
{
    const gint64 nj = in->grid.axis[1].n;
    for (gint64 j = 0; j < nj; j++) {
        int y = row ? row[i * nj + j] : (int)i, x = column ? column[i * nj + j] : (int)j;
        if (!litho_cube_is_live(in, i, j) || y < 0 || x < 0)
            continue;
        load_trace(job, in, i, j, taper, line->samples);
        fftwf_execute_dft_r2c(plan, line->samples, line->values);
        scatter(job, w, line, turn, y + job->pad_y, x + job->pad_x, planes);
    }
}

static void clear_waves(const LithoMigrateJob *job, const LithoWaves *w, float *planes,
                        LithoRun *run)
{
#pragma omp parallel for num_threads(litho_run_threads(run))
    for (int f = 0; f < job->nf; f++)
        if (litho_run_checkpoint(run))
            memset(planes + w->size * f, 0, sizeof(float) * w->size);
}

gboolean litho_spectrum_forward(const LithoMigrateJob *job, const LithoWaves *w,
                                const LithoCube *in, const int *row, const int *column,
                                float *planes, LithoRun *run, GError **error)
{
    g_autofree float *taper = litho_migrate_job_taper(job);
    g_autofree float *turn = g_new(float, 2 * MAX(job->nf, 1));
    phase_of_start(job, turn);
    clear_waves(job, w, planes, run);
    Line first = line_new(job->nfft);
    fftwf_plan plan = fftwf_plan_dft_r2c_1d(job->nfft, first.samples, first.values, FFTW_ESTIMATE);
    line_free(&first);
    const gint64 lines = in->grid.axis[0].n;
    // Traces placed by headers may share a cell across lines: one thread then.
    const int threads = row ? 1 : litho_run_threads(run);
    litho_run_begin(run, "spectrum", "lines");
#pragma omp parallel num_threads(threads)
    {
        Line line = line_new(job->nfft);
#pragma omp for schedule(dynamic, 1)
        for (gint64 i = 0; i < lines; i++)
            if (litho_run_checkpoint(run))
                forward_line(job, w, in, i, row, column, plan, &line, taper, turn, planes);
        line_free(&line);
    }
    fftwf_destroy_plan(plan);
    return litho_run_step(run, lines, lines, error);
}

// The weighted half spectrum of one cell, ready for the inverse FFT.
static void gather(const LithoMigrateJob *job, const LithoWaves *w, const float *turn, int y, int x,
                   float *planes, Line *line)
{
    memset(line->values, 0, sizeof(fftwf_complex) * (job->nfft / 2 + 1));
    for (int f = 0; f < job->nf; f++) {
        const float *row = litho_wave_row(w, planes + w->size * f, y), *t = turn + 2 * f;
        float *v = line->values[job->k_first + job->k_stride * f];
        v[0] = t[0] * row[x] + t[1] * row[w->stride + x];
        v[1] = t[0] * row[w->stride + x] - t[1] * row[x];
    }
}

gboolean litho_spectrum_adjoint(const LithoMigrateJob *job, const LithoWaves *w, float *planes,
                                LithoCube *out, LithoRun *run, GError **error)
{
    g_autofree float *taper = litho_migrate_job_taper(job);
    g_autofree float *turn = g_new(float, 2 * MAX(job->nf, 1));
    phase_of_start(job, turn);
    Line first = line_new(job->nfft);
    fftwf_plan plan = fftwf_plan_dft_c2r_1d(job->nfft, first.values, first.samples, FFTW_ESTIMATE);
    line_free(&first);
    const gint64 lines = out->grid.axis[0].n, traces = out->grid.axis[1].n;
    litho_run_begin(run, "spectrum", "lines");
#pragma omp parallel num_threads(litho_run_threads(run))
    {
        Line line = line_new(job->nfft);
#pragma omp for schedule(dynamic, 1)
        for (gint64 i = 0; i < lines; i++)
            for (gint64 j = 0; j < traces && litho_run_checkpoint(run); j++) {
                gather(job, w, turn, (int)i + job->pad_y, (int)j + job->pad_x, planes, &line);
                // c2r sums v and its conjugate: twice the real part, as the adjoint asks.
                fftwf_execute_dft_c2r(plan, line.values, line.samples);
                float *trace = litho_cube_trace(out, i, j);
                for (int t = 0; t < job->nt; t++)
                    trace[t] += line.samples[t] * taper[t];
            }
        line_free(&line);
    }
    fftwf_destroy_plan(plan);
    return litho_run_step(run, lines, lines, error);
}
