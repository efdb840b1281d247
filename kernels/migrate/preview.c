// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/preview.h"

#include <string.h>

#include "kernels/common/smooth.h"

enum { MARGIN = 30 }; // cells between the data and the data again

gboolean litho_preview_suits(const LithoMigrateJob *job)
{
    const LithoMigrateParams *p = &job->params;
    return p->mode == LITHO_MIGRATE_ZERO_OFFSET && p->engine == LITHO_MIGRATE_CHEBYSHEV &&
           p->form == LITHO_MIGRATE_OPERATOR && job->ratio == 1 && job->nf > 0 &&
           job->n_steps > 0 && (!job->slowness || job->slow_mean);
}

static gboolean has_new_operators(const LithoMigrateJob *job, int s)
{
    if (s == 0 || litho_migrate_job_mean(job, s) != litho_migrate_job_mean(job, s - 1))
        return TRUE;
    const gsize n = job->nf, at = n * s;
    return memcmp(job->entry + at, job->entry + at - n, n * sizeof *job->entry) != 0 ||
           memcmp(job->filter + at, job->filter + at - n, n * sizeof *job->filter) != 0;
}

// Vertical time, in steps times slowness.
static float *vertical_time(const LithoMigrateJob *job)
{
    float *time = g_new(float, job->nz);
    double t = 0;
    for (int z = 0; z < job->nz; z++) {
        time[z] = (float)t;
        t += litho_migrate_job_mean(job, MIN(z / job->step, job->n_steps - 1)) / job->step;
    }
    return time;
}

LithoPreview *litho_preview_new(const LithoMigrateJob *job)
{
    LithoPreview *p = g_new0(LithoPreview, 1);
    p->nx = job->data_nx > 1 ? litho_smooth_length(job->data_nx + MARGIN, 1, 5) : 1;
    p->ny = job->data_ny > 1 ? litho_smooth_length(job->data_ny + MARGIN, 1, 5) : 1;
    p->flags = g_new0(guint8, job->n_steps);
    p->slow2 = g_new(float, job->n_steps);
    for (int s = 0; s < job->n_steps; s++) {
        const double slow = litho_migrate_job_mean(job, s);
        p->slow2[s] = (float)(slow * slow);
        p->flags[s] = (has_new_operators(job, s) ? LITHO_PREVIEW_NEW : 0) |
                      (litho_migrate_job_stops(job, s) ? LITHO_PREVIEW_STOP : 0);
    }
    p->time = job->slowness ? vertical_time(job) : NULL;
    p->scale = (float)(2.0 / job->nfft / ((double)p->nx * p->ny));
    return p;
}

void litho_preview_free(LithoPreview *preview)
{
    if (!preview)
        return;
    g_free(preview->flags);
    g_free(preview->slow2);
    g_free(preview->time);
    g_free(preview);
}
