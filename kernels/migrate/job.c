// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/job.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "kernels/common/smooth.h"

// --- grids ------------------------------------------------------------------------------------

static double spacing_x(const LithoGrid *grid, const LithoMigrateParams *p)
{
    return p->dx > 0 ? p->dx : litho_grid_spacing(grid, LITHO_XLINE);
}

static double spacing_y(const LithoGrid *grid, const LithoMigrateParams *p)
{
    return p->dy > 0 ? p->dy : litho_grid_spacing(grid, LITHO_INLINE);
}

// Depths reached by a vertical echo that comes back at the record's end through the fastest column.
static int depths_of_record(const LithoGrid *in, const LithoMigrateModel *model, double step,
                            double dz)
{
    const LithoAxis *t = &in->axis[LITHO_SAMPLE];
    const double end = t->first + t->n * t->step;
    const double depth = litho_migrate_model_depth(model, LITHO_COLUMN_FAST, step, end / 2);
    return (int)CLAMP(floor(depth / dz) + 1, 2, LITHO_MIGRATE_MOST_DEPTHS);
}

// A component of 40 degrees comes back from a depth after 2 z / (v cos 40) = 1.3 * 2 z / v.
static double time_of_dips(const LithoMigrateModel *model, double step, double depth)
{
    return 1.3 * 2 * litho_migrate_model_time(model, LITHO_COLUMN_SLOW, step, depth);
}

static double depth_step(const LithoGrid *in, const LithoMigrateParams *p)
{
    return p->mode == LITHO_MIGRATE_DEMIGRATE && in->is_depth ? in->axis[LITHO_SAMPLE].step : p->dz;
}

// Lateral axes of the image: the input's, or those of the parameters for records with headers.
static void image_axes(const LithoGrid *in, const LithoMigrateParams *p, LithoGrid *image)
{
    *image = *in;
    image->spread = NULL; // an image's traces have no source and no receiver
    double dx = spacing_x(in, p), dy = spacing_y(in, p);
    if (p->mode == LITHO_MIGRATE_SHOT && p->geometry == LITHO_MIGRATE_HEADERS) {
        image->axis[0] = (LithoAxis){.n = p->ny, .first = 1, .step = 1, .source = LITHO_FROM_USER};
        image->axis[1] = (LithoAxis){.n = p->nx, .first = 1, .step = 1, .source = LITHO_FROM_USER};
        image->has_xy = TRUE;
        image->has_no_place = FALSE;
        image->xy_source = LITHO_FROM_USER;
        g_strlcpy(image->xy_evidence, "origin_x, origin_y, dx, dy", sizeof image->xy_evidence);
        image->origin[0] = p->origin_x;
        image->origin[1] = p->origin_y;
        image->inline_step[0] = 0;
        image->inline_step[1] = dy;
        image->xline_step[0] = dx;
        image->xline_step[1] = 0;
    } else if (p->mode == LITHO_MIGRATE_SHOT && p->geometry == LITHO_MIGRATE_LINE) {
        image->axis[0] = (LithoAxis){.n = 1, .first = 1, .step = 1};
    }
}

static void depth_axis(LithoGrid *grid, double dz, gint64 nz)
{
    LithoAxis *z = &grid->axis[LITHO_SAMPLE];
    *z = (LithoAxis){.n = nz, .first = 0, .step = dz, .unit = "m", .source = LITHO_FROM_COMPUTED};
    grid->is_depth = TRUE;
}

gboolean litho_migrate_output_grid(const LithoGrid *in, const void *params, LithoResolved *known,
                                   LithoGrid *out, GError **error)
{
    const LithoMigrateParams *p = params;
    g_autoptr(LithoMigrateModel) model = litho_migrate_model_of(p->velocity.text, known, error);
    if (!model)
        return FALSE;
    double dz = depth_step(in, p);
    const double step = litho_migrate_model_depth_step(model, p->velocity_dz, dz);
    image_axes(in, p, out);
    if (p->mode != LITHO_MIGRATE_DEMIGRATE) {
        depth_axis(out, dz, p->nz > 0 ? p->nz : depths_of_record(in, model, step, dz));
        return litho_grid_check(out, error);
    }
    double bottom = dz * (in->axis[LITHO_SAMPLE].n - 1);
    gint64 nt = p->nt > 0 ? p->nt : (gint64)ceil(time_of_dips(model, step, bottom) / p->dt) + 1;
    out->axis[LITHO_SAMPLE] =
        (LithoAxis){.n = nt, .first = 0, .step = p->dt, .unit = "s", .source = LITHO_FROM_COMPUTED};
    out->is_depth = FALSE;
    return litho_grid_check(out, error);
}

// --- what is refused --------------------------------------------------------------------------

static gboolean refuse(GError **error, int code, const char *format, ...) G_GNUC_PRINTF(3, 4);
static gboolean refuse(GError **error, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = litho_text_vprintf(format, args);
    va_end(args);
    g_set_error_literal(error, LITHO_ERROR, code, text);
    return FALSE;
}

static double time_step(const LithoGrid *in, const LithoMigrateParams *p)
{
    return p->mode == LITHO_MIGRATE_DEMIGRATE ? p->dt : in->axis[LITHO_SAMPLE].step;
}

static double highest_frequency(const LithoMigrateParams *p, double dt)
{
    return p->fmax > 0 ? p->fmax : fmin(60, 0.4 / dt);
}

static gboolean check_geometry(const LithoGrid *in, const LithoMigrateParams *p, GError **error)
{
    const LithoAxis *axis = &in->axis[LITHO_SAMPLE];
    gboolean stated = axis->source == LITHO_FROM_FILE || axis->source == LITHO_FROM_USER;
    if (p->mode == LITHO_MIGRATE_DEMIGRATE) {
        if (!in->is_depth && stated)
            return refuse(error, LITHO_ERROR_GEOMETRY,
                          _("demigration starts from a depth image; the input is sampled in %s"),
                          *axis->unit ? axis->unit : "time");
        if (in->is_depth && fabs(axis->first) > 1e-3 * fabs(axis->step))
            return refuse(error, LITHO_ERROR_GEOMETRY,
                          _("the image starts at %g m; it must start at the surface, depth 0"),
                          axis->first);
    } else if (in->is_depth) {
        return refuse(error, LITHO_ERROR_GEOMETRY,
                      _("the input is sampled in depth (%s); migration starts from time"),
                      axis->unit);
    }
    if (!(axis->step > 0))
        return refuse(error, LITHO_ERROR_GEOMETRY,
                      _("the sample interval is %g; it must be positive"), axis->step);
    if (p->mode == LITHO_MIGRATE_SHOT && p->geometry == LITHO_MIGRATE_HEADERS &&
        (p->nx < 1 || p->ny < 1))
        return refuse(error, LITHO_ERROR_PARAMETER,
                      _("geometry = headers needs the image's cells nx and ny (and origin_x, "
                        "origin_y, dx, dy); found %d x %d"),
                      p->nx, p->ny);
    return TRUE;
}

gboolean litho_migrate_check(const LithoGrid *in, const void *params, LithoResolved *known,
                             GError **error)
{
    const LithoMigrateParams *p = params;
    if (!check_geometry(in, p, error))
        return FALSE;
    double dt = time_step(in, p), f_high = highest_frequency(p, dt);
    if (f_high > 0.5 / dt)
        return refuse(error, LITHO_ERROR_PARAMETER,
                      _("fmax = %g Hz lies above %g Hz, half the sampling rate"), f_high, 0.5 / dt);
    if (p->fmin >= f_high)
        return refuse(error, LITHO_ERROR_PARAMETER,
                      _("fmin = %g Hz leaves no band below fmax = %g Hz"), p->fmin, f_high);
    if (p->form == LITHO_MIGRATE_POINTWISE && p->engine == LITHO_MIGRATE_SPLITSTEP)
        return refuse(error, LITHO_ERROR_PARAMETER,
                      _("form = pointwise belongs to engine = chebyshev; splitstep has one form"));
    if (!known && litho_migrate_model_is_file(p->velocity.text))
        return TRUE; // what the velocity says is judged when it has been read
    g_autoptr(LithoMigrateModel) model = litho_migrate_model_of(p->velocity.text, known, error);
    if (!model || !litho_migrate_model_check_depth(model, p->velocity_dz, error))
        return FALSE;
    LithoModelMap map;
    LithoGrid image;
    return litho_migrate_output_grid(in, p, known, &image, error) &&
           litho_migrate_model_map(model, p->mode == LITHO_MIGRATE_DEMIGRATE ? in : &image, &map,
                                   error);
}

// --- frequencies ------------------------------------------------------------------------------

enum { LONGEST_RECORD = 1 << 28 }; // samples of a padded trace

// Cosine ramps over a tenth of the band at either end: no ringing of a boxcar spectrum.
static float band_weight(double f, double low, double high)
{
    double ramp = 0.1 * (high - low);
    double x = fmin(1, fmin(f - low, high - f) / ramp);
    return (float)(0.5 - 0.5 * cos(G_PI * fmax(x, 0)));
}

static gboolean init_frequencies(LithoMigrateJob *job, const LithoGrid *time, GError **error)
{
    const LithoMigrateParams *p = &job->params;
    const LithoAxis *axis = &time->axis[LITHO_SAMPLE];
    job->nt = axis->n;
    job->dt = axis->step;
    job->t0 = axis->first;
    // An extrapolated component leaves through t = 0 and re-enters at T_pad: T_pad must exceed the
    // two-way time to the bottom, with 1.3 for dips up to 40 degrees. Records that begin later than
    // 0 come back once more a period sooner, those that begin sooner a period later.
    const double bottom = job->dz * (job->nz - 1), early = fmax(-job->t0, 0) / job->dt;
    const double late = fmax(job->t0, 0) / job->dt + job->nt;
    const double needed = time_of_dips(job->model, job->map.depth_step, bottom) / job->dt + early;
    if (!(late < LONGEST_RECORD && early < LONGEST_RECORD))
        return refuse(error, LITHO_ERROR_GEOMETRY,
                      _("the record begins at %g s, which is %g samples of %g s from time 0; a "
                        "record of time since the shot is needed"),
                      job->t0, fabs(job->t0) / job->dt, job->dt);
    if (!(needed < LONGEST_RECORD))
        return refuse(error, LITHO_ERROR_PARAMETER,
                      _("the bottom at %g m takes %g s both ways, %g samples of %g s; fewer depths, "
                        "a smaller dz or a faster velocity is needed"),
                      bottom, needed * job->dt, needed, job->dt);
    const int samples = (int)fmax(ceil(late), ceil(needed));
    job->nfft = litho_smooth_length(samples + (samples & 1), 2, 5);
    double df = 1 / (job->nfft * job->dt), low = p->fmin, high = highest_frequency(p, job->dt);
    int first = MAX(1, (int)ceil(low / df)), last = MIN((int)floor(high / df), job->nfft / 2 - 1);
    if (last < first)
        return refuse(error, LITHO_ERROR_PARAMETER,
                      _("no frequency lies between fmin = %g and fmax = %g Hz; the record gives "
                        "steps of %g Hz"),
                      low, high, df);
    job->k_first = first;
    job->nf = last - first + 1;
    job->omega = g_new(double, MAX(job->nf, 1));
    job->weight = g_new(float, MAX(job->nf, 1));
    for (int k = 0; k < job->nf; k++) {
        double f = (first + k) * df;
        job->omega[k] = 2 * G_PI * f;
        job->weight[k] = band_weight(f, low - df, high + df);
    }
    return TRUE;
}

float *litho_migrate_job_taper(const LithoMigrateJob *job)
{
    float *taper = g_new(float, job->nt);
    double ramp = 0.05 * job->nt;
    for (int t = 0; t < job->nt; t++) {
        double x = fmin(1, (job->nt - t) / ramp);
        taper[t] = job->nt > 20 ? (float)(0.5 - 0.5 * cos(G_PI * x)) : 1;
    }
    return taper;
}

// --- sponge -----------------------------------------------------------------------------------

// Factors of an axis of n cells, `ratio` of the image's each, whose first one lies `before` cells
// of the image before the padded edge; `full` cells of the image in all, the border `width` of
// them. NULL when the axis is too short for two borders and a middle. Strength 8 over the width,
// for a step of one cell: what is left of a wave of dip theta is exp(-16 / (3 tan theta)).
static float *sponge_factors(int n, double ratio, double before, int full, int width,
                             double step_over_cell)
{
    if (width <= 0 || full < 2 * width + 8)
        return NULL;
    float *g = g_new(float, n);
    for (int i = 0; i < n; i++) {
        const double at = i * ratio - before, edge = fmax(fmin(at, full - 1 - at), 0);
        const double q = fmax(0, (width - edge) / width);
        g[i] = (float)exp(-8 * step_over_cell * ratio / width * q * q);
    }
    return g;
}

static void init_sponge(LithoMigrateJob *job)
{
    const LithoMigrateParams *p = &job->params;
    const double thick = job->dz * job->step;
    const int nx = job->image.axis[LITHO_XLINE].n, ny = job->image.axis[LITHO_INLINE].n;
    const int around = litho_migrate_padding(p);
    const int fx = nx > 1 ? around : 0, fy = ny > 1 ? around : 0;
    job->sponge_x = sponge_factors(job->cells.nx, job->ratio, job->pad_x * job->ratio - fx,
                                   nx + 2 * fx, p->sponge, thick / job->cells.dx);
    job->sponge_y = sponge_factors(job->cells.ny, job->ratio, job->pad_y * job->ratio - fy,
                                   ny + 2 * fy, p->sponge, thick / job->cells.dy);
}

// --- the job ----------------------------------------------------------------------------------

// Cells and depths at the job's ratio, which hold all of the image's between the first and the
// last.
static void init_cells(LithoMigrateJob *job)
{
    const LithoMigrateParams *p = &job->params;
    const LithoAxis *depth = &job->image.axis[LITHO_SAMPLE];
    const double ratio = job->ratio;
    job->data_nx = litho_taps_wide(job->image.axis[LITHO_XLINE].n, ratio);
    job->data_ny = litho_taps_wide(job->image.axis[LITHO_INLINE].n, ratio);
    const int pad = (int)ceil(litho_migrate_padding(p) / ratio - 1e-9);
    job->pad_x = job->data_nx > 1 ? pad : 0;
    job->pad_y = job->data_ny > 1 ? pad : 0;
    job->cells = (LithoCells){.nx = job->data_nx + 2 * job->pad_x,
                              .ny = job->data_ny + 2 * job->pad_y,
                              .dx = spacing_x(&job->image, p) * ratio,
                              .dy = spacing_y(&job->image, p) * ratio};
    job->dz = depth->step * ratio;
    job->nz = litho_taps_wide(job->depths, ratio);
}

// Planes of the image down to the last place that an echo can have come from by the record's end,
// straight down and up again through the fastest rock of every depth, and a period of the lowest
// frequency later.
static int depths_reached(const LithoMigrateJob *job, const LithoAxis *time)
{
    const LithoMigrateParams *p = &job->params;
    const LithoAxis *depth = &job->image.axis[LITHO_SAMPLE];
    const double end = time->first + time->n * time->step + 1 / p->fmin;
    const double early = p->mode == LITHO_MIGRATE_SHOT ? fmax(-p->delay, 0) : 0;
    const double deepest = ceil(litho_migrate_model_depth(job->model, LITHO_COLUMN_LEAST,
                                                          job->map.depth_step, (end + early) / 2) /
                                depth->step) +
                           2;
    return (int)fmin(fmax(deepest, 2), depth->n);
}

// Image planes crossed by one step: about as many as make the step as deep as a cell is wide.
static int planes_a_step(const LithoMigrateJob *job)
{
    if (job->params.engine == LITHO_MIGRATE_SPLITSTEP)
        return 1;
    if (job->params.step > 0)
        return job->params.step;
    double width = INFINITY;
    if (job->cells.nx > 1)
        width = fmin(width, job->cells.dx);
    if (job->cells.ny > 1)
        width = fmin(width, job->cells.dy);
    return (int)CLAMP(floor(width / job->dz + 0.25), 1, LITHO_MIGRATE_MAX_STEP);
}

// All but the slowness.
static LithoMigrateJob *job_begin(const LithoGrid *in, const LithoMigrateParams *params,
                                  LithoResolved *known, GError **error)
{
    LithoGrid out;
    if (!litho_migrate_output_grid(in, params, known, &out, error))
        return NULL;
    const gboolean demigrate = params->mode == LITHO_MIGRATE_DEMIGRATE;
    const LithoGrid *time = demigrate ? &out : in;
    g_autoptr(LithoMigrateJob) job = g_new0(LithoMigrateJob, 1);
    job->params = *params;
    job->ratio = 1;
    job->half = params->mode != LITHO_MIGRATE_SHOT;
    job->image = demigrate ? *in : out;
    depth_axis(&job->image, depth_step(in, params), job->image.axis[LITHO_SAMPLE].n);
    job->k_stride = 1;
    job->entries = g_array_new(FALSE, FALSE, sizeof(LithoEntry));
    job->model = litho_migrate_model_of(params->velocity.text, known, error);
    if (!job->model || !litho_migrate_model_check_depth(job->model, params->velocity_dz, error) ||
        !litho_migrate_model_map(job->model, &job->image, &job->map, error))
        return NULL;
    if (params->velocity_dz > 0 && job->map.bottom > 0) {
        job->map.bottom *= params->velocity_dz / job->map.depth_step;
        job->map.depth_step = params->velocity_dz;
        job->map.assumed = FALSE;
    }
    job->velocity = litho_migrate_model_range(job->model);
    job->depths = depths_reached(job, &time->axis[LITHO_SAMPLE]);

    init_cells(job);
    job->step = planes_a_step(job);
    job->n_steps = MAX((job->nz - 1 + job->step - 1) / job->step, 0);
    job->varies = !litho_migrate_model_is_layered(job->model);
    job->slow_min = g_new(double, MAX(job->n_steps, 1));
    job->slow_max = g_new(double, MAX(job->n_steps, 1));
    if (!init_frequencies(job, time, error))
        return NULL;
    init_sponge(job);
    return g_steal_pointer(&job);
}

LithoMigrateJob *litho_migrate_job_new(const LithoGrid *in, const LithoMigrateParams *params,
                                       LithoResolved *known, LithoMigrateJob *last, LithoRun *run,
                                       GError **error)
{
    g_autoptr(LithoMigrateJob) job = job_begin(in, params, known, error);
    return job && litho_migrate_job_velocity(job, last, run, error) ? g_steal_pointer(&job) : NULL;
}

LithoMigrateJob *litho_migrate_job_sketch(const LithoGrid *in, const LithoMigrateParams *params,
                                          LithoResolved *known, GError **error)
{
    LithoMigrateJob *job = job_begin(in, params, known, error);
    for (int s = 0; job && s < job->n_steps; s++) {
        job->slow_min[s] = (job->half ? 2 : 1) / job->velocity.max;
        job->slow_max[s] = (job->half ? 2 : 1) / job->velocity.min;
    }
    return job;
}

LithoMigrateJob *litho_migrate_job_coarser(const LithoMigrateJob *fine, double ratio, int first,
                                           int n, LithoMigrateJob *last, LithoRun *run,
                                           GError **error)
{
    g_autoptr(LithoMigrateJob) job = g_memdup2(fine, sizeof *fine);
    job->ratio = ratio;
    job->entries = g_array_new(FALSE, FALSE, sizeof(LithoEntry));
    job->model = litho_migrate_model_ref(fine->model);
    job->slow_min = job->slow_max = job->slow_mean = NULL;
    job->slowness = job->sponge_x = job->sponge_y = NULL;
    job->omega = g_memdup2(fine->omega, sizeof(double) * fine->nf);
    job->weight = g_memdup2(fine->weight, sizeof(float) * fine->nf);
    litho_migrate_job_keep(job, first, n);
    init_cells(job);
    job->n_steps = MAX((job->nz - 1 + job->step - 1) / job->step, 0);
    init_sponge(job);
    return litho_migrate_job_take_slowness(job, last) ||
                   litho_migrate_job_mean_slowness(job, fine, run, error)
               ? g_steal_pointer(&job)
               : NULL;
}

void litho_migrate_job_keep(LithoMigrateJob *job, int first, int n)
{
    memmove(job->omega, job->omega + first, sizeof(double) * n);
    memmove(job->weight, job->weight + first, sizeof(float) * n);
    job->k_first += first;
    job->nf = n;
}

void litho_migrate_job_free(LithoMigrateJob *job)
{
    if (!job)
        return;
    litho_migrate_job_drop_design(job);
    if (job->share) {
        g_free(job->omega);
        g_free(job->weight);
        g_free(job);
        return;
    }
    g_array_unref(job->entries);
    litho_migrate_model_unref(job->model);
    g_free(job->omega);
    g_free(job->weight);
    g_free(job->slow_min);
    g_free(job->slow_max);
    g_free(job->slow_mean);
    g_free(job->slowness);
    g_free(job->sponge_x);
    g_free(job->sponge_y);
    g_free(job);
}

void litho_migrate_job_grew(const LithoMigrateJob *job, int f, int s, double by, GError **error)
{
    litho_refuse(
        error, LITHO_ERROR_NUMERICS,
        "the wave of %.1f Hz grew %.1f times in energy by %.0f m: the pointwise form is not "
        "stable in this model; use form = operator",
        job->omega[f] / (2 * G_PI), by, s * job->dz * job->step);
}
