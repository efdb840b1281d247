// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/stages.h"

#include <math.h>
#include <string.h>

void litho_migrate_jobs_clear(LithoMigrateJobs *jobs)
{
    for (int k = 0; k < LITHO_MIGRATE_MAX_JOBS; k++)
        g_clear_pointer(&jobs->job[k], litho_migrate_job_free);
    jobs->n = 0;
}

gboolean litho_migrate_jobs_velocity(LithoMigrateJobs *jobs, const LithoGrid *in,
                                     const LithoMigrateParams *params, LithoResolved *known,
                                     LithoRun *run, GError **error)
{
    double start = litho_now_ms();
    litho_migrate_jobs_clear(jobs);
    jobs->job[0] = litho_migrate_job_new(in, params, known, run, error);
    jobs->n = jobs->job[0] != NULL;
    if (!jobs->n || (params->coarse && !litho_migrate_jobs_split(jobs, run, error))) {
        litho_migrate_jobs_clear(jobs);
        return FALSE;
    }
    litho_run_time(run, "velocity", LITHO_STAGE_PLAN, litho_now_ms() - start, 0, 0);
    return TRUE;
}

gboolean litho_migrate_jobs_design(LithoMigrateJobs *jobs, const LithoMigrateParams *params,
                                   LithoRun *run, GError **error)
{
    double start = litho_now_ms();
    for (int k = 0; k < jobs->n; k++)
        if (!litho_migrate_job_design(jobs->job[k], params, run, error))
            return FALSE;
    litho_run_time(run, "design", LITHO_STAGE_PLAN, litho_now_ms() - start, 0, 0);
    return TRUE;
}

void litho_migrate_jobs_begin(LithoMigrateJobs *jobs, const LithoPass *pass, LithoRun *run)
{
    for (int k = 0; k < jobs->n; k++)
        jobs->job[k]->params = *(const LithoMigrateParams *)pass->params;
    memset(pass->out->live, 1,
           litho_box_size(pass->out->held, 0) * litho_box_size(pass->out->held, 1));
    litho_migrate_jobs_report(jobs->job, jobs->n, run, pass->out);
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
                        "%u traces have their source or receiver off the image and were left out",
                        shots->outside);
    litho_report_number(run ? run->report : NULL, "shots", "Shots", "", shots->n);
}

gboolean litho_migrate_sizes(const LithoGrid *in, const void *params, LithoResolved *known,
                             LithoMigrateSizes *sizes)
{
    const LithoMigrateParams *p = params;
    LithoGrid out;
    g_autoptr(LithoMigrateModel) model = litho_migrate_model_of(p->velocity.text, known, NULL);
    if (!model || !litho_migrate_output_grid(in, p, known, &out, NULL))
        return FALSE;
    const gboolean demigrate = p->mode == LITHO_MIGRATE_DEMIGRATE;
    const LithoGrid *image = demigrate ? in : &out, *time = demigrate ? &out : in;
    const LithoAxis *t = &time->axis[LITHO_SAMPLE], *z = &image->axis[LITHO_SAMPLE];
    double bottom = z->step * (z->n - 1);
    double record = fmax(t->n * t->step, 1.3 * 2 * bottom / litho_migrate_model_range(model).mean);
    double nx = image->axis[1].n, ny = image->axis[0].n;
    nx += nx > 1 ? 2 * litho_migrate_padding(p) : 0;
    ny += ny > 1 ? 2 * litho_migrate_padding(p) : 0;
    sizes->shot = p->mode == LITHO_MIGRATE_SHOT;
    sizes->in = litho_grid_samples(in);
    sizes->out = litho_grid_samples(&out);
    sizes->cells = (nx + 8) * ny;
    sizes->frequencies = ((p->fmax > 0 ? p->fmax : fmin(60, 0.4 / t->step)) - p->fmin) * record + 2;
    sizes->planes = (p->step > 0 ? p->step : LITHO_MIGRATE_MAX_STEP) + 1;
    if (p->engine == LITHO_MIGRATE_SPLITSTEP)
        sizes->planes = 1;
    sizes->slowness = litho_migrate_model_is_layered(model) ? 0 : sizes->cells * z->n;
    if (p->step > 1)
        sizes->slowness /= p->step;
    if (p->coarse)
        sizes->slowness *= 2; // 1 + 1.25^-3 + 1.5^-3 + ... of all grids
    return TRUE;
}
