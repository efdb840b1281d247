// SPDX-License-Identifier: GPL-3.0-or-later
//
// Loudness of noise that varies, finer than its windows.
//
// Noise made of windows is smeared by them: beside a corner that is six times as loud, its power
// was ten times too high four traces away. So the quiet wavenumbers of each window go back to its
// samples: their energy in small cells tells where in the window the noise is loud.
#include <math.h>
#include <string.h>

#include "kernels/common/noise_job.h"

static const int CELL[3] = {4, 4, 8}; // traces and samples

// Cells of the job's box: sums of the quiet energy, and of the energy that
// windows of the local level have.
typedef struct Fine {
    const NoiseJob *job;
    const NoiseLocal *local;
    int size[3], n[3];
    gint64 all;
    double *quiet, *held; // [cell]
} Fine;

static int cell_along(const Fine *fine, int axis, gint64 at)
{
    return (int)((at - fine->job->box.lo[axis]) / fine->size[axis]);
}

// The window's samples without the wavenumbers that are not quiet.
static void keep_quiet(const Fine *fine, gint64 w, fftwf_plan back, float *x, fftwf_complex *y)
{
    const NoiseJob *job = fine->job;
    const gint64 nk = noise_wavenumbers(job);
    fftwf_execute_dft_r2c(job->plan, x, y);
    for (gint64 k = 0; k < nk; k++)
        for (int f = 0; f < job->nf; f++)
            if (!fine->local->quiet[(job->windows * f + w) * nk + k])
                y[k * job->nf + f][0] = y[k * job->nf + f][1] = 0;
    fftwf_execute_dft_c2r(back, y, x);
}

// Adds the energies of trace (i, j) of the window at `at` to its cells.
static void add_trace(const Fine *fine, const gint64 at[3], int i, int j, double share,
                      const float *x)
{
    const NoiseJob *job = fine->job;
    const double scale = 1 / pow((double)noise_wavenumbers(job) * job->n[2], 2);
    const gint64 line =
        ((gint64)cell_along(fine, 0, at[0] + i) * fine->n[1] + cell_along(fine, 1, at[1] + j)) *
        fine->n[2];
    for (int t = 0; t < job->n[2]; t++) {
        const gint64 cell = line + cell_along(fine, 2, at[2] + t);
        const double taper = share * job->taper[2][t] * job->taper[2][t];
        fine->quiet[cell] += scale * x[t] * x[t];
        fine->held[cell] += taper;
    }
}

static void add_window(const Fine *fine, gint64 w, fftwf_plan back, float *x, fftwf_complex *y,
                       double *share)
{
    const NoiseJob *job = fine->job;
    gint64 place[3], at[3], muted = 0;
    noise_places_of(job, w, place);
    for (int a = 0; a < 3; a++)
        at[a] = noise_start_of(job, a, place[a]);
    for (gint64 k = 0; k < noise_wavenumbers(job); k++) {
        double known;
        share[k] = noise_put_trace(job, at, (int)(k / job->n[1]), (int)(k % job->n[1]),
                                   x + k * job->n[2], &known, &muted);
    }
    keep_quiet(fine, w, back, x, y);
    for (gint64 k = 0; k < noise_wavenumbers(job); k++)
        if (share[k] > 0)
            add_trace(fine, at, (int)(k / job->n[1]), (int)(k % job->n[1]), share[k],
                      x + k * job->n[2]);
}

// Power of cells as they see each other: `beside` of that on either side along each axis.
static void see(const int n[3], double beside, const double *from, double *to)
{
    const gint64 step[3] = {(gint64)n[1] * n[2], n[2], 1}, all = n[0] * step[0];
    g_autofree double *row = g_memdup2(from, all * sizeof *from);
    for (int a = 0; a < 3; a++) {
        for (gint64 p = 0; p < all; p++) {
            const gint64 at = p / step[a] % n[a];
            to[p] = (1 - 2 * beside) * row[p] +
                    beside * (row[at > 0 ? p - step[a] : p] + row[at + 1 < n[a] ? p + step[a] : p]);
        }
        memcpy(row, to, all * sizeof *to);
    }
}

static void sharpen(const int n[3], double *power)
{
    enum { PASSES = 6 };
    const double beside = 0.2;
    const gint64 all = (gint64)n[0] * n[1] * n[2];
    g_autofree double *want = g_memdup2(power, all * sizeof *power), *seen = g_new(double, all);
    g_autofree double *ratio = g_new(double, all);
    for (int pass = 0; pass < PASSES; pass++) {
        see(n, beside, power, seen);
        for (gint64 p = 0; p < all; p++)
            ratio[p] = seen[p] > 0 ? want[p] / seen[p] : 1;
        see(n, beside, ratio, seen);
        for (gint64 p = 0; p < all; p++)
            power[p] *= seen[p];
    }
}

// Logarithm of the deviation.
static void set_levels(const Fine *fine, float *level)
{
    double quiet = 0, held = 0;
    for (gint64 p = 0; p < fine->all; p++) {
        quiet += fine->quiet[p];
        held += fine->held[p];
    }
    g_autofree double *power = g_new(double, fine->all);
    for (gint64 p = 0; p < fine->all; p++)
        power[p] =
            fine->held[p] > 0 && quiet > 0 ? fine->quiet[p] / fine->held[p] * held / quiet : 1;
    sharpen(fine->n, power);
    for (gint64 p = 0; p < fine->all; p++)
        level[p] = (float)(0.5 * log(CLAMP(power[p], 1e-4, 1e4)));
}

static LithoNoiseMap map_of(const Fine *fine)
{
    LithoNoiseMap map = {.n = {fine->n[0], fine->n[1], fine->n[2]}};
    map.at = g_new(float, fine->n[0] + fine->n[1] + fine->n[2]);
    map.level = g_new(float, fine->all);
    float *at = map.at;
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < fine->n[a]; k++)
            *at++ = (float)((double)fine->job->box.lo[a] + (k + 0.5) * fine->size[a] - 0.5);
    set_levels(fine, map.level);
    return map;
}

// Rows of windows that share no cell, at a time: sums have one order, whatever the number of
// threads. FALSE: there is no memory.
static gboolean add_windows(const Fine *fine, int threads)
{
    enum { APART = 4 };
    const NoiseJob *job = fine->job;
    const gsize samples = (gsize)noise_wavenumbers(job) * job->n[2];
    const gsize spectrum = (gsize)noise_wavenumbers(job) * job->nf;
    float *x = fftwf_alloc_real(samples);
    fftwf_complex *y = fftwf_alloc_complex(spectrum);
    fftwf_plan back =
        x && y ? fftwf_plan_dft_c2r_3d(job->n[0], job->n[1], job->n[2], y, x, FFTW_ESTIMATE) : NULL;
    fftwf_free(x);
    fftwf_free(y);
    gboolean ok = back != NULL;
#pragma omp parallel num_threads(threads)
    {
        float *in = fftwf_alloc_real(samples);
        fftwf_complex *out = fftwf_alloc_complex(spectrum);
        g_autofree double *share = g_new(double, noise_wavenumbers(job));
        for (int first = 0; first < APART; first++) {
#pragma omp for schedule(static)
            for (gint64 row = first; row < job->count[0]; row += APART)
                for (gint64 w = 0; in && out && back && w < job->windows; w++)
                    if (job->share[w] > 0 && noise_place_of(job, w, 0) == row &&
                        litho_run_checkpoint(job->run))
                        add_window(fine, w, back, in, out, share);
        }
        if (!in || !out) {
#pragma omp atomic write
            ok = FALSE;
        }
        fftwf_free(in);
        fftwf_free(out);
    }
    if (back)
        fftwf_destroy_plan(back);
    return ok;
}

void noise_put_fine(const NoiseJob *job, const NoiseLocal *local, int threads, LithoNoise *noise)
{
    Fine fine = {.job = job, .local = local, .all = 1};
    for (int a = 0; a < 3; a++) {
        fine.size[a] = MIN(CELL[a], MAX(job->n[a] / 2, 1));
        fine.n[a] = (int)((litho_box_size(job->box, a) + fine.size[a] - 1) / fine.size[a]);
        fine.all *= fine.n[a];
    }
    fine.quiet = g_new0(double, fine.all);
    fine.held = g_new0(double, fine.all);
    if (add_windows(&fine, threads))
        noise->map = map_of(&fine);
    g_free(fine.quiet);
    g_free(fine.held);
}
