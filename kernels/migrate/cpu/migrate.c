// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/cpu/migrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "kernels/migrate/planes.h"
#include "kernels/migrate/cpu/resample.h"
#include "kernels/migrate/stages.h"
#include "kernels/migrate/cpu/sweep.h"

// One job's part of the band.
typedef struct Band {
    LithoMigrateJob *job; // of the plan's jobs
    LithoSweep *sweep;
    float *spectrum; // waves at the surface, kept for changes behind the spectrum; zero-offset only
} Band;

typedef struct Plan {
    LithoGrid in;
    LithoMigrateJobs jobs;
    Band band[LITHO_MIGRATE_MAX_JOBS]; // one a job
    float *image, *light;              // sums [nz][ny][nx]; light for shots
} Plan;

static gpointer plan_new(const LithoGrid *in, const void *params, LithoRun *run, GError **error)
{
    (void)params;
    (void)run;
    (void)error;
    Plan *plan = g_new0(Plan, 1);
    plan->in = *in;
    return plan;
}

static void band_clear(Band *band)
{
    g_clear_pointer(&band->sweep, litho_sweep_free);
    band->job = NULL;
    g_clear_pointer(&band->spectrum, free);
}

static void plan_free(gpointer data)
{
    Plan *plan = data;
    for (int k = 0; k < LITHO_MIGRATE_MAX_JOBS; k++)
        band_clear(&plan->band[k]);
    litho_migrate_jobs_clear(&plan->jobs);
    g_free(plan->image);
    g_free(plan->light);
    g_free(plan);
}

static gboolean no_memory(GError **error, const char *what, double bytes)
{
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY, "no memory for %.2f GiB of %s",
                bytes / (1 << 30), what);
    return FALSE;
}

static gsize image_size(const Plan *plan)
{
    const LithoMigrateJob *job = plan->band[0].job;
    return litho_migrate_image_cells(job) * litho_migrate_image_depths(job);
}

static float *alloc_waves(const Band *band, GError **error)
{
    float *waves = litho_waves_alloc(&band->sweep->waves, MAX(band->job->nf, 1));
    if (!waves)
        no_memory(error, "waves", 4.0 * band->sweep->waves.size * band->job->nf);
    return waves;
}

// --- stages -----------------------------------------------------------------------------------

static gboolean stage_velocity(Plan *plan, const LithoMigrateParams *params, LithoRun *run,
                               GError **error)
{
    for (int k = 0; k < LITHO_MIGRATE_MAX_JOBS; k++)
        band_clear(&plan->band[k]);
    if (!litho_migrate_jobs_velocity(&plan->jobs, &plan->in, params, run, error))
        return FALSE;
    for (int k = 0; k < plan->jobs.n; k++)
        plan->band[k].job = plan->jobs.job[k];
    return TRUE;
}

static gboolean stage_design(Plan *plan, const LithoMigrateParams *params, LithoRun *run,
                             GError **error)
{
    for (int k = 0; k < plan->jobs.n; k++)
        g_clear_pointer(&plan->band[k].sweep, litho_sweep_free);
    if (!litho_migrate_jobs_design(&plan->jobs, params, run, error))
        return FALSE;
    for (int k = 0; k < plan->jobs.n; k++)
        plan->band[k].sweep = litho_sweep_new(plan->band[k].job);
    return TRUE;
}

static gboolean load_spectrum(const Band *band, const LithoCube *in, const int *row,
                              const int *column, float *waves, LithoRun *run, GError **error)
{
    if (band->job->ratio > 1)
        return litho_coarse_spectrum_forward(band->job, &band->sweep->waves, in, row, column, waves,
                                             run, error);
    return litho_spectrum_forward(band->job, &band->sweep->waves, in, row, column, waves, run,
                                  error);
}

static gboolean stage_spectrum(Plan *plan, const LithoCube *in, LithoRun *run, GError **error)
{
    double start = litho_now_ms();
    for (int k = 0; k < plan->jobs.n; k++) {
        Band *band = &plan->band[k];
        g_clear_pointer(&band->spectrum, free);
        float *waves = alloc_waves(band, error);
        if (!waves)
            return FALSE;
        if (!load_spectrum(band, in, NULL, NULL, waves, run, error)) {
            free(waves);
            return FALSE;
        }
        band->spectrum = waves;
    }
    litho_run_time(run, "spectrum", LITHO_STAGE_COMPUTE, litho_now_ms() - start,
                   4.0 * litho_box_count(in->held), 0);
    return TRUE;
}

static gboolean clear_sums(Plan *plan, gboolean light, GError **error)
{
    gsize n = image_size(plan);
    g_clear_pointer(&plan->image, g_free);
    g_clear_pointer(&plan->light, g_free);
    plan->image = g_try_new0(float, n);
    if (light)
        plan->light = g_try_new0(float, n);
    if (!plan->image || (light && !plan->light))
        return no_memory(error, "image", 4.0 * n);
    return TRUE;
}

// --- modes ------------------------------------------------------------------------------------

// What a finished slab is shown with.
typedef struct Watch {
    Plan *plan;
    const LithoMigrateParams *params;
    const LithoCube *out;
    LithoRun *run;
} Watch;

static void show_slab(int first, int n, gpointer data)
{
    const Watch *w = data;
    const gsize cells = litho_migrate_image_cells(w->plan->band[0].job);
    if (!w->run || !w->run->on_partial)
        return;
    const float *planes = w->plan->image + cells * first;
    g_autofree float *divided = NULL;
    if (w->plan->light && w->params->imaging == LITHO_MIGRATE_NORMALISED) {
        divided = g_new(float, cells *n);
        litho_migrate_normalise(planes, w->plan->light + cells * first, cells, n,
                                w->params->stabilise, divided);
        planes = divided;
    }
    litho_migrate_show(w->out, planes, first, n, w->run);
}

// One band's waves down, onto the plan's sums. `down` NULL in zero-offset mode. Uses up the waves.
static gboolean sweep_band(Plan *plan, Band *band, float *up, float *down, Watch *watch,
                           LithoRun *run, GError **error)
{
    double start = litho_now_ms();
    const LithoMigrateJob *job = band->job;
    gboolean ok;
    if (job->ratio == 1) {
        ok = litho_sweep_down(band->sweep, up, down, plan->image, plan->light, show_slab, watch,
                              run, error);
    } else {
        gsize n = (gsize)job->data_nx * job->data_ny * job->nz;
        g_autofree float *image = g_try_new0(float, n);
        g_autofree float *light = down ? g_try_new0(float, n) : NULL;
        if (!image || (down && !light))
            return no_memory(error, "image", 4.0 * n);
        ok = litho_sweep_down(band->sweep, up, down, image, light, NULL, NULL, run, error);
        if (ok)
            litho_coarse_image_add(job, image, plan->image, run);
        if (ok && down)
            litho_coarse_image_add(job, light, plan->light, run);
    }
    litho_run_time(run, "extrapolate", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 0,
                   litho_migrate_sweep_flops(job, down ? 2 : 1));
    return ok;
}

static gboolean run_zero_offset(Plan *plan, Watch *watch, LithoRun *run, GError **error)
{
    if (!clear_sums(plan, FALSE, error))
        return FALSE;
    // The coarse bands first: cheap, and the slabs shown afterwards are whole.
    for (int k = plan->jobs.n - 1; k >= 0; k--) {
        Band *band = &plan->band[k];
        float *waves = alloc_waves(band, error);
        if (!waves)
            return FALSE;
        memcpy(waves, band->spectrum, sizeof(float) * band->sweep->waves.size * band->job->nf);
        gboolean ok = sweep_band(plan, band, waves, NULL, watch, run, error);
        free(waves);
        if (!ok)
            return FALSE;
    }
    return TRUE;
}

// Conjugate spectrum of the source on its cells.
static void place_source(const Band *band, const LithoShot *shot, float *down)
{
    const LithoMigrateJob *job = band->job;
    const LithoWaves *w = &band->sweep->waves;
    LithoSourceSpread x, y;
    litho_shot_spread(job, shot, &x, &y);
    g_autofree float *wavelet = g_new(float, 2 * MAX(job->nf, 1));
    litho_shots_wavelet(job, wavelet);
    for (int f = 0; f < job->nf; f++)
        for (int j = 0; j < y.n; j++) {
            float *row = litho_wave_row(w, down + w->size * f, y.first + j + job->pad_y) +
                         job->pad_x + x.first;
            for (int i = 0; i < x.n; i++) {
                row[i] += x.weight[i] * y.weight[j] * wavelet[2 * f];
                row[w->stride + i] -= x.weight[i] * y.weight[j] * wavelet[2 * f + 1];
            }
        }
}

static gboolean run_shot(Plan *plan, Band *band, const LithoShots *shots, guint k,
                         const LithoCube *in, Watch *watch, LithoRun *run, GError **error)
{
    const gint64 traces = litho_grid_traces(&in->grid);
    g_autofree int *row = litho_shots_cells_of(shots, shots->row, k, traces);
    g_autofree int *column = litho_shots_cells_of(shots, shots->column, k, traces);
    float *up = alloc_waves(band, error), *down = up ? alloc_waves(band, error) : NULL;
    gboolean ok = up && down && load_spectrum(band, in, row, column, up, run, error);
    if (ok) {
        place_source(band, &shots->shot[k], down);
        ok = sweep_band(plan, band, up, down, watch, run, error);
    }
    free(up);
    free(down);
    return ok;
}

static gboolean run_shots(Plan *plan, const LithoCube *in, Watch *watch, LithoRun *run,
                          GError **error)
{
    LithoShots *shots = litho_shots_new(plan->band[0].job, in, error);
    gboolean ok = shots && clear_sums(plan, TRUE, error);
    for (guint k = 0; ok && k < shots->n; k++)
        for (int b = plan->jobs.n - 1; ok && b >= 0; b--)
            ok = run_shot(plan, &plan->band[b], shots, k, in, watch, run, error);
    if (ok)
        litho_migrate_shots_told(shots, watch->out, run);
    litho_shots_free(shots);
    return ok;
}

static gboolean demigrate_band(Band *band, const float *image, LithoCube *out, LithoRun *run,
                               GError **error)
{
    double start = litho_now_ms();
    float *waves = alloc_waves(band, error);
    gboolean ok = waves != NULL;
    if (ok && band->job->ratio == 1) {
        ok = litho_sweep_up(band->sweep, image, waves, run, error) &&
             litho_spectrum_adjoint(band->job, &band->sweep->waves, waves, out, run, error);
    } else if (ok) {
        g_autofree float *coarse = litho_coarse_image_adjoint(band->job, image, run);
        ok = litho_sweep_up(band->sweep, coarse, waves, run, error) &&
             litho_coarse_spectrum_adjoint(band->job, &band->sweep->waves, waves, out, run, error);
    }
    free(waves);
    litho_run_time(run, "extrapolate", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 0,
                   litho_migrate_sweep_flops(band->job, 1));
    return ok;
}

static gboolean run_demigrate(Plan *plan, const LithoCube *in, LithoCube *out, LithoRun *run,
                              GError **error)
{
    g_autofree float *image = g_try_new(float, litho_grid_samples(&in->grid));
    if (!image)
        return no_memory(error, "image", 4.0 * litho_grid_samples(&in->grid));
    litho_migrate_cube_to_planes(in, image);
    memset(out->samples, 0, sizeof(float) * litho_box_count(out->held));
    for (int k = 0; k < plan->jobs.n; k++)
        if (!demigrate_band(&plan->band[k], image, out, run, error))
            return FALSE;
    return TRUE;
}

// Sums to samples.
static gboolean stage_image(Plan *plan, const LithoMigrateParams *params, LithoCube *out,
                            LithoRun *run)
{
    double start = litho_now_ms();
    const int nz = plan->band[0].job->image.axis[2].n;
    const gsize cells = litho_migrate_image_cells(plan->band[0].job);
    if (plan->light && params->imaging == LITHO_MIGRATE_NORMALISED) {
        g_autofree float *divided = g_new(float, cells *nz);
        litho_migrate_normalise(plan->image, plan->light, cells, nz, params->stabilise, divided);
        litho_migrate_planes_to_cube(divided, 0, nz, out);
    } else {
        litho_migrate_planes_to_cube(plan->image, 0, nz, out);
    }
    litho_run_time(run, "image", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 8.0 * cells * nz, 0);
    return TRUE;
}

static gboolean exec(gpointer data, const LithoPass *pass, LithoRun *run, GError **error)
{
    Plan *plan = data;
    const LithoMigrateParams *params = pass->params;
    if (!litho_cube_host(pass->in, error))
        return FALSE;
    const int first = pass->first_stage;
    gboolean fresh = first <= LITHO_MIGRATE_STAGE_SPECTRUM || !plan->jobs.n;
    if (fresh && !stage_velocity(plan, params, run, error))
        return FALSE;
    if ((first <= LITHO_MIGRATE_STAGE_DESIGN || !plan->band[0].sweep) &&
        !stage_design(plan, params, run, error))
        return FALSE;
    litho_migrate_jobs_begin(&plan->jobs, pass, run);

    if (params->mode == LITHO_MIGRATE_DEMIGRATE)
        return run_demigrate(plan, pass->in, pass->out, run, error);
    Watch watch = {plan, params, pass->out, run};
    gboolean again = fresh || first <= LITHO_MIGRATE_STAGE_EXTRAPOLATE || !plan->image;
    if (again && params->mode == LITHO_MIGRATE_SHOT) {
        if (!run_shots(plan, pass->in, &watch, run, error))
            return FALSE;
    } else if (again) {
        if ((fresh || !plan->band[plan->jobs.n - 1].spectrum) &&
            !stage_spectrum(plan, pass->in, run, error))
            return FALSE;
        if (!run_zero_offset(plan, &watch, run, error))
            return FALSE;
    }
    return stage_image(plan, params, pass->out, run);
}

// Waves twice (kept and in use; up and down), velocity, sums with those of the groups, cubes.
static guint64 memory(const LithoGrid *in, const void *params, LithoBox region)
{
    (void)region;
    LithoMigrateSizes s;
    if (!litho_migrate_sizes(in, params, &s))
        return 0;
    return (guint64)(16 * s.cells * s.frequencies + 4 * s.slowness + (s.shot ? 12 : 8) * s.out +
                     4 * s.in + ((s.shot ? 448 : 256) << 20));
}

const LithoImpl litho_migrate_cpu = {
    .plan = plan_new, .exec = exec, .destroy = plan_free, .memory = memory};
