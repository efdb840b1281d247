// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/cpu/spectrum.h"

#include <fftw3.h>
#include <math.h>
#include <string.h>

#include "core/error.h"

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

// FALSE: no memory. To be cleared in either case.
static gboolean line_init(Line *line, int nfft)
{
    *line = (Line){fftwf_malloc(sizeof(float) * nfft),
                   fftwf_malloc(sizeof(fftwf_complex) * (nfft / 2 + 1))};
    return line->samples && line->values;
}

static void line_clear(Line *line)
{
    fftwf_free(line->samples);
    fftwf_free(line->values);
}

static gboolean no_memory(GError **error)
{
    return litho_refuse(error, LITHO_ERROR_MEMORY, "there is no memory for the waves");
}

// Transform of a line's samples to its values, or back. NULL: no memory.
static fftwf_plan line_plan(int nfft, gboolean back)
{
    Line line;
    fftwf_plan plan = NULL;
    if (line_init(&line, nfft))
        plan = back ? fftwf_plan_dft_c2r_1d(nfft, line.values, line.samples, FFTW_ESTIMATE)
                    : fftwf_plan_dft_r2c_1d(nfft, line.samples, line.values, FFTW_ESTIMATE);
    line_clear(&line);
    return plan;
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

// State that all traces on their way in share.
typedef struct Way {
    const LithoMigrateJob *job;
    const LithoWaves *waves;
    const LithoCube *in;
    fftwf_plan plan;
    const float *taper, *turn;
    float *planes;
    LithoRun *run;
} Way;

// Trace (i, j) into cell (y, x) of the image.
static void forward_trace(const Way *way, gint64 i, gint64 j, int y, int x, Line *line)
{
    const LithoMigrateJob *job = way->job;
    if (!litho_cube_is_live(way->in, i, j))
        return;
    load_trace(job, way->in, i, j, way->taper, line->samples);
    fftwf_execute_dft_r2c(way->plan, line->samples, line->values);
    scatter(job, way->waves, line, way->turn, y + job->pad_y, x + job->pad_x, way->planes);
}

// All traces at their own cells. FALSE: no memory.
static gboolean forward_all(const Way *way)
{
    const gint64 lines = way->in->grid.axis[0].n, nj = way->in->grid.axis[1].n;
    gint poor = 0;
#pragma omp parallel num_threads(litho_run_threads(way->run))
    {
        Line line;
        if (!line_init(&line, way->job->nfft))
            g_atomic_int_set(&poor, 1);
#pragma omp for schedule(dynamic, 1)
        for (gint64 i = 0; i < lines; i++)
            for (gint64 j = 0; j < nj && litho_run_checkpoint(way->run); j++)
                if (!g_atomic_int_get(&poor))
                    forward_trace(way, i, j, (int)i, (int)j, &line);
        line_clear(&line);
    }
    return !poor;
}

// A shot's traces, which may share a cell: one thread, so that they add up in a fixed order. FALSE:
// no memory.
static gboolean forward_shot(const Way *way, const LithoShotTraces *traces)
{
    const gint64 nj = way->in->grid.axis[1].n;
    Line line;
    const gboolean ok = line_init(&line, way->job->nfft);
    for (gint64 k = 0; ok && k < traces->n && litho_run_checkpoint(way->run); k++)
        forward_trace(way, traces->trace[k] / nj, traces->trace[k] % nj, traces->row[k],
                      traces->column[k], &line);
    line_clear(&line);
    return ok;
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
                                const LithoCube *in, const LithoShotTraces *traces, float *planes,
                                LithoRun *run, GError **error)
{
    g_autofree float *taper = litho_migrate_job_taper(job);
    g_autofree float *turn = g_new(float, 2 * MAX(job->nf, 1));
    phase_of_start(job, turn);
    clear_waves(job, w, planes, run);
    const Way way = {job, w, in, line_plan(job->nfft, FALSE), taper, turn, planes, run};
    if (!way.plan)
        return no_memory(error);
    const gint64 lines = in->grid.axis[0].n;
    litho_run_begin(run, "spectrum", "lines");
    const gboolean ok = traces ? forward_shot(&way, traces) : forward_all(&way);
    fftwf_destroy_plan(way.plan);
    return ok ? litho_run_step(run, lines, lines, error) : no_memory(error);
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
    fftwf_plan plan = line_plan(job->nfft, TRUE);
    gint poor = 0;
    if (!plan)
        return no_memory(error);
    const gint64 lines = out->grid.axis[0].n, traces = out->grid.axis[1].n;
    litho_run_begin(run, "spectrum", "lines");
#pragma omp parallel num_threads(litho_run_threads(run))
    {
        Line line;
        if (!line_init(&line, job->nfft))
            g_atomic_int_set(&poor, 1);
#pragma omp for schedule(dynamic, 1)
        for (gint64 i = 0; i < lines; i++)
            for (gint64 j = 0; j < traces && litho_run_checkpoint(run); j++) {
                if (g_atomic_int_get(&poor))
                    break;
                gather(job, w, turn, (int)i + job->pad_y, (int)j + job->pad_x, planes, &line);
                // c2r sums v and its conjugate: twice the real part, as the adjoint asks.
                fftwf_execute_dft_c2r(plan, line.values, line.samples);
                float *trace = litho_cube_trace(out, i, j);
                for (int t = 0; t < job->nt; t++)
                    trace[t] += line.samples[t] * taper[t];
            }
        line_clear(&line);
    }
    fftwf_destroy_plan(plan);
    return poor ? no_memory(error) : litho_run_step(run, lines, lines, error);
}
