// SPDX-License-Identifier: GPL-3.0-or-later
//
// Choice of the grid for every frequency. A wave of half the frequency is twice as long: on cells
// and depths twice as wide it is sampled as well as before, its polynomials are the higher
// frequency's, and it costs an eighth.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "kernels/migrate/stages.h"

// Spacings in cells of the image. Finer rungs would save little (1.25 on top of these: 7 % of the
// whole), and every one of them is a pass of its own over record and image.
static const double rungs[] = {1, 1.25, 1.5, 2, 3, 4};

enum {
    FEWEST_CELLS = 12,      // of an axis, depths included: what an interpolated sample looks at
    FEWEST_FREQUENCIES = 4, // of a rung; fewer go to the rung below
};

// Part of the wavenumbers which a grid can hold that its waves and images may reach. Interpolation
// keeps 0.8 (taps.h); with that the impulse response's amplitude at 60 degrees is 1.061 of exact,
// with 0.7 it is 1.030.
#define WELL_HELD 0.7

// --- slowness ---------------------------------------------------------------------------------

// Steps of the image's grid that one of this job's spans: their mean at every cell, layer[n].
static void mean_layer(const LithoTaps *along_z, int s, const LithoMigrateJob *fine, float *layer)
{
    const gsize n = (gsize)fine->cells.nx * fine->cells.ny;
    const float *weight = litho_taps_row(along_z, s),
                *planes = fine->slowness + n * along_z->first[s];
    memset(layer, 0, sizeof(float) * n);
    for (int k = 0; k < along_z->count[s]; k++)
        for (gsize c = 0; c < n; c++)
            layer[c] += weight[k] * planes[n * k + c];
}

static void layered_means(LithoMigrateJob *job, const LithoMigrateJob *fine,
                          const LithoTaps *along_z)
{
    for (int s = 0; s < job->n_steps; s++) {
        // From the first one on, so that the mean of equal values is that value.
        const double *values = fine->slow_min + along_z->first[s];
        double mean = values[0];
        for (int k = 1; k < along_z->count[s]; k++)
            mean += litho_taps_row(along_z, s)[k] * (values[k] - values[0]);
        job->slow_min[s] = job->slow_max[s] = mean;
    }
}

static void plane_range(LithoMigrateJob *job, int s, const float *plane)
{
    const gsize n = (gsize)job->cells.nx * job->cells.ny;
    float low = INFINITY, high = 0;
    double sum = 0;
    for (gsize k = 0; k < n; k++) {
        low = fminf(low, plane[k]);
        high = fmaxf(high, plane[k]);
        sum += plane[k];
    }
    job->slow_min[s] = low;
    job->slow_max[s] = high;
    job->slow_mean[s] = sum / n;
}

static void cell_means(LithoMigrateJob *job, const LithoMigrateJob *fine, const LithoTaps *along_z,
                       LithoRun *run)
{
    const int nx = job->cells.nx, ny = job->cells.ny, fx = fine->cells.nx, fy = fine->cells.ny;
    const double r = job->ratio; // a cell reaches half a spacing to either side of its place
    LithoTaps x = litho_taps_mean(fx, nx, fine->pad_x + 0.5 - (job->pad_x + 0.5) * r, r);
    LithoTaps y = litho_taps_mean(fy, ny, fine->pad_y + 0.5 - (job->pad_y + 0.5) * r, r);
#pragma omp parallel num_threads(litho_run_threads(run))
    {
        float *layer = g_new(float, (gsize)fx *fy), *rows = g_new(float, (gsize)fx *ny);
#pragma omp for schedule(dynamic, 1)
        for (int s = 0; s < job->n_steps; s++) {
            float *plane = job->slowness + (gsize)nx * ny * s;
            if (!litho_run_checkpoint(run))
                continue;
            mean_layer(along_z, s, fine, layer);
            litho_taps_apply(&y, 1, fx, layer, rows, 1);
            litho_taps_apply(&x, ny, 1, rows, plane, 1);
            plane_range(job, s, plane);
        }
        g_free(layer);
        g_free(rows);
    }
    litho_taps_clear(&x);
    litho_taps_clear(&y);
}

gboolean litho_migrate_job_mean_slowness(LithoMigrateJob *job, const LithoMigrateJob *fine,
                                         LithoRun *run, GError **error)
{
    const gsize n = (gsize)job->cells.nx * job->cells.ny * job->n_steps;
    job->slow_min = g_new(double, MAX(job->n_steps, 1));
    job->slow_max = g_new(double, MAX(job->n_steps, 1));
    job->slow_mean = fine->slowness ? g_new(double, MAX(job->n_steps, 1)) : NULL;
    if (fine->slowness && !(job->slowness = g_try_new(float, MAX(n, 1)))) {
        litho_refuse(error, LITHO_ERROR_MEMORY,
                     "no memory for %.2f GiB of velocity on the coarse grid", n * 4.0 / (1 << 30));
        return FALSE;
    }
    LithoTaps along_z = litho_taps_mean(fine->n_steps, job->n_steps, 0, job->ratio);
    job->slowness_serial = job->slowness ? litho_migrate_slowness_serial() : 0;
    if (job->slowness)
        cell_means(job, fine, &along_z, run);
    else
        layered_means(job, fine, &along_z);
    litho_taps_clear(&along_z);
    return litho_run_step(run, job->n_steps, job->n_steps, error);
}

// --- rungs ------------------------------------------------------------------------------------

// Frequency (rad/s) above which the image's own grid does not hold the image well, dips to 65
// degrees.
static double held_below(const LithoMigrateJob *job)
{
    const double waves = job->half ? 1 : 2; // a shot's image is the product of two
    double slow = 0, cell = 0;
    for (int s = 0; s < job->n_steps; s++)
        slow = fmax(slow, job->slow_max[s]);
    if (job->cells.nx > 1)
        cell = job->cells.dx;
    if (job->cells.ny > 1)
        cell = fmax(cell, job->cells.dy);
    return WELL_HELD * G_PI / (slow * waves * fmax(job->dz, 0.9 * cell));
}

// Samples of the image that waves pass, along an axis of its planes [z][y][x].
static int axis_length(const LithoMigrateJob *job, int axis)
{
    return axis == 0 ? job->depths : (int)job->image.axis[axis - 1].n;
}

static gboolean is_large_enough(const LithoMigrateJob *fine, double ratio)
{
    for (int axis = 0; axis < 3; axis++)
        if (axis_length(fine, axis) > 1 &&
            litho_taps_wide(axis_length(fine, axis), ratio) < FEWEST_CELLS)
            return FALSE;
    return TRUE;
}

// Frequencies of `fine` up to `omega`.
static int count_up_to(const LithoMigrateJob *fine, double omega)
{
    int n = 0;
    while (n < fine->nf && fine->omega[n] <= omega * (1 + 1e-9))
        n++;
    return n;
}

// The job of `ratio` among those that go, when `fine` has taken its planes from them: wider cells
// are means of these. May be NULL.
static LithoMigrateJob *job_of_ratio(const LithoMigrateJobs *last, const LithoMigrateJob *fine,
                                     double ratio)
{
    const gboolean same = last && last->n > 0 && fine->slowness_serial != 0 &&
                          last->job[0]->slowness_serial == fine->slowness_serial;
    for (int k = 1; same && k < last->n; k++)
        if (last->job[k]->ratio == ratio)
            return last->job[k];
    return NULL;
}

gboolean litho_migrate_jobs_split(LithoMigrateJobs *jobs, const LithoMigrateJobs *last,
                                  LithoRun *run, GError **error)
{
    LithoMigrateJob *fine = jobs->job[0];
    const double top = fmin(fine->omega[fine->nf - 1], held_below(fine));
    // Frequencies below end[k] may have rung k or a wider one.
    int end[G_N_ELEMENTS(rungs) + 1] = {fine->nf};
    int n = 1;
    double ratio[G_N_ELEMENTS(rungs)] = {1};
    for (guint k = 1; k < G_N_ELEMENTS(rungs); k++) {
        const int below = MIN(count_up_to(fine, top / rungs[k]), end[n - 1] - 1);
        if (below < FEWEST_FREQUENCIES || !is_large_enough(fine, rungs[k]))
            break;
        if (n > 1 && end[n - 1] - below < FEWEST_FREQUENCIES)
            continue;
        end[n] = below;
        ratio[n++] = rungs[k];
    }
    end[n] = 0;
    for (int k = 1; k < n; k++) {
        jobs->job[k] = litho_migrate_job_coarser(fine, ratio[k], end[k + 1], end[k] - end[k + 1],
                                                 job_of_ratio(last, fine, ratio[k]), run, error);
        if (!jobs->job[k])
            return FALSE;
        jobs->n = k + 1;
    }
    litho_migrate_job_keep(fine, end[1], end[0] - end[1]);
    return TRUE;
}

// --- between the grids ------------------------------------------------------------------------

LithoTaps litho_migrate_job_decimation(const LithoMigrateJob *job, int axis)
{
    const int n = axis_length(job, axis);
    return litho_taps_decimation(n, litho_taps_wide(n, job->ratio), job->ratio);
}

LithoTaps litho_migrate_job_interpolation(const LithoMigrateJob *job, int axis)
{
    const int n = axis_length(job, axis);
    return litho_taps_interpolation(litho_taps_wide(n, job->ratio), n, job->ratio);
}
