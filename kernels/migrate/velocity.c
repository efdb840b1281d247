// SPDX-License-Identifier: GPL-3.0-or-later
//
// Slowness of the job's steps, from the model or from a job that it replaces.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "kernels/migrate/job.h"

const float *litho_migrate_job_slowness(const LithoMigrateJob *job, int s, float *row)
{
    if (job->slowness)
        return job->slowness + (gsize)job->cells.nx * job->cells.ny * s;
    for (int x = 0; x < job->cells.nx; x++)
        row[x] = (float)job->slow_min[s];
    return row;
}

guint64 litho_migrate_slowness_serial(void)
{
    static guint64 last;
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

// --- from the model -----------------------------------------------------------------------------

// One step's slowness on `ny` x `nx` cells from (lo[0], lo[1]) on, and its range. Of use only where
// the run was not told to stop.
static void step_slowness(const LithoMigrateJob *job, int s, const gint64 lo[2], int ny, int nx,
                          float *plane, const LithoRun *run)
{
    enum { ROWS = 8 }; // between two looks whether to stop: a few milliseconds of long ones
    const double thick = job->dz * job->step;
    for (int y = 0; y < ny; y += ROWS) {
        const gint64 from[2] = {lo[0] + y, lo[1]}, to[2] = {lo[0] + MIN(y + ROWS, ny), lo[1] + nx};
        if (!litho_run_checkpoint(run))
            return;
        litho_migrate_model_slowness(job->model, &job->map, from, to, s * thick, (s + 1) * thick,
                                     plane + (gsize)y * nx);
    }
    const gsize n = (gsize)nx * ny;
    const float factor = job->half ? 2 : 1;
    float low = INFINITY, high = 0;
    double sum = 0;
    for (gsize k = 0; k < n; k++) {
        plane[k] *= factor;
        low = fminf(low, plane[k]);
        high = fmaxf(high, plane[k]);
        sum += plane[k];
    }
    job->slow_min[s] = low;
    job->slow_max[s] = high;
    if (job->slow_mean)
        job->slow_mean[s] = sum / n;
}

// One cell stands for all of a layer.
static void layered_slowness(const LithoMigrateJob *job)
{
    static const gint64 first[2] = {0, 0};
    float one;
    for (int s = 0; s < job->n_steps; s++)
        step_slowness(job, s, first, 1, 1, &one, NULL);
}

gboolean litho_migrate_job_velocity(LithoMigrateJob *job, LithoMigrateJob *last, LithoRun *run,
                                    GError **error)
{
    const gsize n = (gsize)job->cells.nx * job->cells.ny;
    const gint64 lo[2] = {-job->pad_y, -job->pad_x};
    if (!job->varies) {
        layered_slowness(job);
        return TRUE;
    }
    if (litho_migrate_job_take_slowness(job, last))
        return TRUE;
    job->slowness = g_try_new(float, MAX(n * job->n_steps, 1));
    if (!job->slowness) {
        litho_refuse(error, LITHO_ERROR_MEMORY,
                     "no memory for %.2f GiB of velocity on the migration grid",
                     n * job->n_steps * 4.0 / (1 << 30));
        return FALSE;
    }
    job->slowness_serial = litho_migrate_slowness_serial();
    job->slow_mean = g_new0(double, MAX(job->n_steps, 1));
    litho_run_begin(run, "velocity", "depths");
#pragma omp parallel for schedule(dynamic, 1) num_threads(litho_run_threads(run))
    for (int s = 0; s < job->n_steps; s++)
        step_slowness(job, s, lo, job->cells.ny, job->cells.nx, job->slowness + n * s, run);
    return litho_run_step(run, job->n_steps, job->n_steps, error);
}

// --- from another job ---------------------------------------------------------------------------

// TRUE when both jobs' steps run through the same cells of the same model.
static gboolean is_same_rock(const LithoMigrateJob *a, const LithoMigrateJob *b)
{
    return a->model == b->model && memcmp(&a->map, &b->map, sizeof a->map) == 0 &&
           memcmp(&a->cells, &b->cells, sizeof a->cells) == 0 && a->pad_x == b->pad_x &&
           a->pad_y == b->pad_y && a->dz == b->dz && a->step == b->step && a->half == b->half &&
           a->ratio == b->ratio;
}

gboolean litho_migrate_job_take_slowness(LithoMigrateJob *job, LithoMigrateJob *last)
{
    // A wider cell is the mean of steps of the image's grid, of which the last one may hold fewer.
    const gboolean fits =
        last && last->slowness &&
        (job->ratio == 1 ? last->n_steps >= job->n_steps
                         : last->n_steps == job->n_steps && last->depths == job->depths);
    if (!fits || !is_same_rock(job, last))
        return FALSE;
    g_free(job->slow_min);
    g_free(job->slow_max);
    job->slowness = g_steal_pointer(&last->slowness);
    job->slow_min = g_steal_pointer(&last->slow_min);
    job->slow_max = g_steal_pointer(&last->slow_max);
    job->slow_mean = g_steal_pointer(&last->slow_mean);
    job->slowness_serial = last->slowness_serial;
    return TRUE;
}
