// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/stages.h"

#include <math.h>
#include <string.h>

void litho_migrate_jobs_clear(LithoMigrateJobs *jobs)
{
    for (int k = 0; k < LITHO_MIGRATE_MAX_JOBS; k++)
        g_clear_pointer(&jobs->job[k], litho_migrate_job_free);
    g_clear_pointer(&jobs->layer.cube, litho_cube_unref);
    jobs->n = 0;
}

gboolean litho_migrate_jobs_velocity(LithoMigrateJobs *jobs, const LithoGrid *in,
                                     const LithoMigrateParams *params, LithoResolved *known,
                                     LithoRun *run, GError **error)
{
    double start = litho_now_ms();
    LithoMigrateJobs last = *jobs;
    *jobs = (LithoMigrateJobs){
        .job = {litho_migrate_job_new(in, params, known, last.job[0], run, error)},
        .layer = last.layer};
    last.layer.cube = NULL;
    jobs->n = jobs->job[0] != NULL;
    const gboolean ok =
        jobs->n && (!params->coarse || litho_migrate_jobs_split(jobs, &last, run, error));
    litho_migrate_jobs_clear(&last);
    if (!ok) {
        litho_migrate_jobs_clear(jobs);
        return FALSE;
    }
    litho_run_time(run, "velocity", LITHO_STAGE_PLAN, litho_now_ms() - start, 0, 0);
    return TRUE;
}

gboolean litho_migrate_jobs_design(LithoMigrateJobs *jobs, const LithoMigrateParams *params,
                                   const LithoPolyMaker *maker, LithoRun *run, GError **error)
{
    double start = litho_now_ms();
    for (int k = 0; k < jobs->n; k++)
        if (!litho_migrate_job_design(jobs->job[k], params, maker, run, error))
            return FALSE;
    litho_run_time(run, "design", LITHO_STAGE_PLAN, litho_now_ms() - start, 0, 0);
    return TRUE;
}

// Records that a modelling before this step made are no stack; their grid knows the source.
static void note_records(const LithoGrid *in, const LithoMigrateParams *params, LithoCube *out)
{
    const LithoSpread *spread = in->spread;
    if (!spread || params->mode != LITHO_MIGRATE_ZERO_OFFSET)
        return;
    if (spread->n == 1)
        litho_cube_note(out,
                        "the input is the record of one shot, and zero-offset takes it for a "
                        "stack: mode=shot source_x=%g source_y=%g images it",
                        spread->source[0][0] - in->origin[0], spread->source[0][1] - in->origin[1]);
    else
        litho_cube_note(out,
                        "the input holds records of %d shots, and zero-offset takes them for "
                        "a stack: written to a file, mode=shot geometry=headers images them",
                        spread->n);
}

void litho_migrate_jobs_begin(LithoMigrateJobs *jobs, const LithoPass *pass, LithoRun *run)
{
    for (int k = 0; k < jobs->n; k++)
        jobs->job[k]->params = *(const LithoMigrateParams *)pass->params;
    memset(pass->out->live, 1,
           litho_box_size(pass->out->held, 0) * litho_box_size(pass->out->held, 1));
    litho_migrate_jobs_report(jobs->job, jobs->n, &jobs->layer, run, pass->out);
    note_records(&pass->in->grid, pass->params, pass->out);
}

gsize litho_migrate_image_cells(const LithoMigrateJob *job)
{
    return (gsize)job->image.axis[0].n * job->image.axis[1].n;
}

int litho_migrate_image_depths(const LithoMigrateJob *job)
{
    return job->image.axis[2].n;
}

double litho_migrate_sweep_flops(const LithoMigrateJob *job, int waves)
{
    double a_degree = 2 * 2 * (8 + (job->cells.ny > 1 ? 8 : 0) + 2) + 8.0 * job->step;
    double degrees = (double)job->params.degree * job->n_steps;
    for (int s = 0; s < job->n_steps; s++)
        degrees += litho_migrate_job_stops(job, s) ? LITHO_MIGRATE_STOP_DEGREE : 0;
    return a_degree * degrees * job->cells.nx * job->cells.ny * job->nf * waves;
}

void litho_migrate_shots_told(const LithoShots *shots, const LithoCube *out, LithoRun *run)
{
    if (shots->outside > 0)
        litho_cube_note((LithoCube *)out,
                        "traces with their source or receiver off the image were left out: %u",
                        shots->outside);
    litho_report_number(run ? run->report : NULL, "shots", "Shots", "", shots->n);
}

gboolean litho_migrate_jobs_sketch(LithoMigrateJobs *jobs, const LithoGrid *in,
                                   const LithoMigrateParams *params, LithoResolved *known)
{
    *jobs = (LithoMigrateJobs){.job = {litho_migrate_job_sketch(in, params, known, NULL)}};
    jobs->n = jobs->job[0] != NULL;
    if (jobs->n && (!params->coarse || litho_migrate_jobs_split(jobs, NULL, NULL, NULL)))
        return TRUE;
    litho_migrate_jobs_clear(jobs);
    return FALSE;
}

double litho_migrate_jobs_kept(const LithoMigrateJobs *jobs)
{
    double bytes = 0;
    for (int k = 0; k < jobs->n; k++) {
        const LithoMigrateJob *job = jobs->job[k];
        bytes += job->varies ? 4.0 * job->cells.nx * job->cells.ny * job->n_steps : 0;
        // Index of the polynomial and filter of every frequency in every step.
        bytes += job->params.engine == LITHO_MIGRATE_SPLITSTEP
                     ? 0
                     : (sizeof(gint32) + sizeof(gpointer)) * (double)job->nf * job->n_steps;
    }
    return bytes;
}
