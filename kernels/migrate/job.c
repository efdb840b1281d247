// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/job.h"

#include <math.h>
#include <string.h>

#include "core/error.h"

// --- grids ------------------------------------------------------------------------------------

static double spacing_x(const LithoGrid *grid, const LithoMigrateParams *p)
{
    return p->dx > 0 ? p->dx : litho_grid_spacing(grid, LITHO_XLINE);
}

static double spacing_y(const LithoGrid *grid, const LithoMigrateParams *p)
{
    return p->dy > 0 ? p->dy : litho_grid_spacing(grid, LITHO_INLINE);
}

// Depth reached by a vertical echo that comes back at the record's end.
static int depths_of_record(const LithoGrid *in, double dz, double velocity)
{
    const LithoAxis *t = &in->axis[LITHO_SAMPLE];
    double depth = (t->first + t->n * t->step) * velocity / 2;
    return (int)CLAMP(floor(depth / dz) + 1, 2, 8192);
}

static double depth_step(const LithoGrid *in, const LithoMigrateParams *p)
{
    return p->mode == LITHO_MIGRATE_DEMIGRATE && in->is_depth ? in->axis[LITHO_SAMPLE].step
                                                              : p->dz;
}

// Lateral axes of the image: the input's, or those of the parameters for records with headers.
static void image_axes(const LithoGrid *in, const LithoMigrateParams *p, LithoGrid *image)
{
    *image = *in;
    double dx = spacing_x(in, p), dy = spacing_y(in, p);
    if (p->mode == LITHO_MIGRATE_SHOT && p->geometry == LITHO_MIGRATE_HEADERS) {
        image->axis[0] = (LithoAxis){.n = p->ny, .first = 1, .step = 1, .source = LITHO_FROM_USER};
        image->axis[1] = (LithoAxis){.n = p->nx, .first = 1, .step = 1, .source = LITHO_FROM_USER};
        image->has_xy = TRUE;
        image->xy_source = LITHO_FROM_USER;
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

gboolean litho_migrate_output_grid(const LithoGrid *in, const void *params, LithoGrid *out,
                                   GError **error)
{
    const LithoMigrateParams *p = params;
    g_autoptr(LithoMigrateModel) model = litho_migrate_model_load(p->velocity.text, NULL, error);
    if (!model)
        return FALSE;
    double mean = litho_migrate_model_range(model).mean, dz = depth_step(in, p);
    image_axes(in, p, out);
    if (p->mode != LITHO_MIGRATE_DEMIGRATE) {
        depth_axis(out, dz, p->nz > 0 ? p->nz : depths_of_record(in, dz, mean));
        return litho_grid_check(out, error);
    }
    // A component of 40 degrees comes back from the bottom after 2 z / (v cos 40) = 1.3 * 2 z / v.
    double bottom = dz * (in->axis[LITHO_SAMPLE].n - 1);
    gint64 nt = p->nt > 0 ? p->nt : (gint64)ceil(1.3 * 2 * bottom / mean / p->dt) + 1;
    out->axis[LITHO_SAMPLE] = (LithoAxis){
        .n = nt, .first = 0, .step = p->dt, .unit = "s", .source = LITHO_FROM_COMPUTED};
    out->is_depth = FALSE;
    return litho_grid_check(out, error);
}

// --- what is refused --------------------------------------------------------------------------

static gboolean refuse(GError **error, int code, const char *format, ...) G_GNUC_PRINTF(3, 4);
static gboolean refuse(GError **error, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
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
                          "demigration starts from a depth image; the input is sampled in %s",
                          *axis->unit ? axis->unit : "time");
        if (in->is_depth && fabs(axis->first) > 1e-3 * fabs(axis->step))
            return refuse(error, LITHO_ERROR_GEOMETRY,
                          "the image starts at %g m; it must start at the surface, depth 0",
                          axis->first);
    } else if (in->is_depth) {
        return refuse(error, LITHO_ERROR_GEOMETRY,
                      "the input is sampled in depth (%s); migration starts from time",
                      axis->unit);
    }
    if (!(axis->step > 0))
        return refuse(error, LITHO_ERROR_GEOMETRY,
                      "the sample interval is %g; it must be positive", axis->step);
    if (p->mode == LITHO_MIGRATE_SHOT && p->geometry == LITHO_MIGRATE_HEADERS &&
        (p->nx < 1 || p->ny < 1))
        return refuse(error, LITHO_ERROR_PARAMETER,
                      "geometry = headers needs the image's cells nx and ny (and origin_x, "
                      "origin_y, dx, dy); found %d x %d", p->nx, p->ny);
    return TRUE;
}

gboolean litho_migrate_check(const LithoGrid *in, const void *params, GError **error)
{
    const LithoMigrateParams *p = params;
    if (!check_geometry(in, p, error))
        return FALSE;
    double dt = time_step(in, p), f_high = highest_frequency(p, dt);
    if (f_high > 0.5 / dt)
        return refuse(error, LITHO_ERROR_PARAMETER,
                      "fmax = %g Hz lies above %g Hz, half the sampling rate", f_high, 0.5 / dt);
    if (p->fmin >= f_high)
        return refuse(error, LITHO_ERROR_PARAMETER,
                      "fmin = %g Hz leaves no band below fmax = %g Hz", p->fmin, f_high);
    if (p->form == LITHO_MIGRATE_POINTWISE && p->engine == LITHO_MIGRATE_SPLITSTEP)
        return refuse(error, LITHO_ERROR_PARAMETER,
                      "form = pointwise belongs to engine = chebyshev; splitstep has one form");
    g_autoptr(LithoMigrateModel) model = litho_migrate_model_load(p->velocity.text, NULL, error);
    if (!model)
        return FALSE;
    LithoModelMap map;
    LithoGrid image;
    return litho_migrate_output_grid(in, p, &image, error) &&
           litho_migrate_model_map(model, p->mode == LITHO_MIGRATE_DEMIGRATE ? in : &image, &map,
                                   error);
}

// --- frequencies ------------------------------------------------------------------------------

// Smallest 2^a 3^b 5^c that is even and not below n.
static int good_length(int n)
{
    for (int m = n + (n & 1);; m += 2) {
        int k = m;
        while (k % 2 == 0)
            k /= 2;
        while (k % 3 == 0)
            k /= 3;
        while (k % 5 == 0)
            k /= 5;
        if (k == 1)
            return m;
    }
}

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
    // two-way time to the bottom, with 1.3 for dips up to 40 degrees.
    double bottom = job->dz * (job->nz - 1);
    double needed = 1.3 * 2 * bottom / job->velocity.mean / job->dt;
    job->nfft = good_length((int)fmax(job->nt, ceil(needed)));
    double df = 1 / (job->nfft * job->dt), low = p->fmin, high = highest_frequency(p, job->dt);
    int first = MAX(1, (int)ceil(low / df)), last = MIN((int)floor(high / df), job->nfft / 2 - 1);
    if (last < first)
        return refuse(error, LITHO_ERROR_PARAMETER,
                      "no frequency lies between fmin = %g and fmax = %g Hz; the record gives "
                      "steps of %g Hz", low, high, df);
    // The coarse job takes the frequencies up to half of fmax.
    int split = p->coarse ? CLAMP((int)floor(high / 2 / df), first, last - 1) : first - 1;
    if (job->factor == 2)
        last = split;
    else
        first = split + 1;
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

// --- velocity ---------------------------------------------------------------------------------

const float *litho_migrate_job_slowness(const LithoMigrateJob *job, int s, float *scratch)
{
    const gsize n = (gsize)job->cells.nx * job->cells.ny;
    if (job->slowness)
        return job->slowness + n * s;
    for (gsize k = 0; k < n; k++)
        scratch[k] = (float)job->slow_min[s];
    return scratch;
}

// One step's plane on this job's cells. The coarse job looks at every second cell of the image.
static void step_slowness(const LithoMigrateJob *job, int s, float *plane)
{
    LithoModelMap map = job->map;
    for (int k = 0; k < 2; k++) {
        map.by_inline[k] *= job->factor;
        map.by_xline[k] *= job->factor;
    }
    const gint64 lo[2] = {-job->pad_y, -job->pad_x};
    const gint64 hi[2] = {job->cells.ny - job->pad_y, job->cells.nx - job->pad_x};
    double thick = job->dz * job->step;
    litho_migrate_model_slowness(job->model, &map, lo, hi, s * thick, (s + 1) * thick, plane);
    const gsize n = (gsize)job->cells.nx * job->cells.ny;
    const float factor = job->half ? 2 : 1;
    float low = INFINITY, high = 0;
    for (gsize k = 0; k < n; k++) {
        plane[k] *= factor;
        low = fminf(low, plane[k]);
        high = fmaxf(high, plane[k]);
    }
    job->slow_min[s] = low;
    job->slow_max[s] = high;
}

static gboolean init_velocity(LithoMigrateJob *job, LithoRun *run, GError **error)
{
    const gsize n = (gsize)job->cells.nx * job->cells.ny;
    job->slow_min = g_new(double, job->n_steps);
    job->slow_max = g_new(double, job->n_steps);
    if (litho_migrate_model_is_layered(job->model)) {
        g_autofree float *plane = g_new(float, n);
        for (int s = 0; s < job->n_steps; s++)
            step_slowness(job, s, plane);
        return TRUE;
    }
    job->slowness = g_try_new(float, MAX(n * job->n_steps, 1));
    if (!job->slowness)
        return refuse(error, LITHO_ERROR_MEMORY,
                      "no memory for %.2f GiB of velocity on the migration grid",
                      n * job->n_steps * 4.0 / (1 << 30));
    litho_run_begin(run, "velocity", "depths");
#pragma omp parallel for schedule(dynamic, 1) num_threads(litho_run_threads(run))
    for (int s = 0; s < job->n_steps; s++)
        if (!litho_run_cancelled(run))
            step_slowness(job, s, job->slowness + n * s);
    return litho_run_step(run, job->n_steps, job->n_steps, error);
}

// --- sponge -----------------------------------------------------------------------------------

// Factors of one axis, NULL when it is too short for two borders and a middle. Strength 8 over the
// width, for a step of one cell: what is left of a wave of dip theta is exp(-16 / (3 tan theta)).
static float *sponge_factors(int n, int width, double step_over_cell)
{
    if (width <= 0 || n < 2 * width + 8)
        return NULL;
    float *g = g_new(float, n);
    for (int i = 0; i < n; i++) {
        int edge = MIN(i, n - 1 - i);
        double q = fmax(0, (width - edge) / (double)width);
        g[i] = (float)exp(-8 * step_over_cell / width * q * q);
    }
    return g;
}

// --- the job ----------------------------------------------------------------------------------

static void init_cells(LithoMigrateJob *job, const LithoGrid *image)
{
    const LithoMigrateParams *p = &job->params;
    const int factor = job->factor;
    int nx = image->axis[LITHO_XLINE].n, ny = image->axis[LITHO_INLINE].n;
    job->data_nx = (nx + factor - 1) / factor;
    job->data_ny = (ny + factor - 1) / factor;
    int pad = (p->pad + factor - 1) / factor;
    job->pad_x = job->data_nx > 1 ? pad : 0;
    job->pad_y = job->data_ny > 1 ? pad : 0;
    job->cells = (LithoCells){.nx = job->data_nx + 2 * job->pad_x,
                              .ny = job->data_ny + 2 * job->pad_y,
                              .dx = spacing_x(image, p) * factor,
                              .dy = spacing_y(image, p) * factor};
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

LithoMigrateJob *litho_migrate_job_new(const LithoGrid *in, const LithoMigrateParams *params,
                                       int factor, LithoRun *run, GError **error)
{
    LithoGrid out;
    if (!litho_migrate_output_grid(in, params, &out, error))
        return NULL;
    const gboolean demigrate = params->mode == LITHO_MIGRATE_DEMIGRATE;
    const LithoGrid *time = demigrate ? &out : in;
    g_autoptr(LithoMigrateJob) job = g_new0(LithoMigrateJob, 1);
    job->params = *params;
    job->factor = factor;
    job->half = params->mode != LITHO_MIGRATE_SHOT;
    job->image = demigrate ? *in : out;
    depth_axis(&job->image, depth_step(in, params), job->image.axis[LITHO_SAMPLE].n);
    job->entries = g_array_new(FALSE, FALSE, sizeof(LithoEntry));
    job->model = litho_migrate_model_load(params->velocity.text, run, error);
    if (!job->model || !litho_migrate_model_map(job->model, &job->image, &job->map, error))
        return NULL;
    job->velocity = litho_migrate_model_range(job->model);

    init_cells(job, &job->image);
    const LithoAxis *depth = &job->image.axis[LITHO_SAMPLE];
    job->dz = depth->step * factor;
    // The coarse image must reach below the last fine plane to be interpolated there.
    job->nz = factor == 1 ? depth->n : (depth->n + factor - 1) / factor + 1;
    job->step = planes_a_step(job);
    job->n_steps = MAX((job->nz - 1 + job->step - 1) / job->step, 0);
    if (!init_frequencies(job, time, error) || !init_velocity(job, run, error))
        return NULL;
    const double thick = job->dz * job->step;
    int width = (params->sponge + factor - 1) / factor;
    job->sponge_x = sponge_factors(job->cells.nx, width, thick / job->cells.dx);
    job->sponge_y = sponge_factors(job->cells.ny, width, thick / job->cells.dy);
    return g_steal_pointer(&job);
}

static void drop_design(LithoMigrateJob *job)
{
    g_array_set_size(job->entries, 0);
    g_clear_pointer(&job->entry, g_free);
    g_clear_pointer(&job->filter, g_free);
    for (int m = 0; m < LITHO_MIGRATE_MAX_STEP; m++)
        g_clear_pointer(&job->table[m], g_free);
}

void litho_migrate_job_free(LithoMigrateJob *job)
{
    if (!job)
        return;
    drop_design(job);
    g_array_unref(job->entries);
    litho_migrate_model_unref(job->model);
    g_free(job->omega);
    g_free(job->weight);
    g_free(job->slow_min);
    g_free(job->slow_max);
    g_free(job->slowness);
    g_free(job->sponge_x);
    g_free(job->sponge_y);
    g_free(job);
}

// --- choice of polynomials --------------------------------------------------------------------

// Classes of largest over smallest slowness in a plane.
static const double ratios[] = {1, 1.05, 1.15, 1.3, 1.5, 1.75, 2, 2.5, 3, 4, 6, 10, 20};

static double ratio_class(double ratio)
{
    for (guint k = 0; k < G_N_ELEMENTS(ratios); k++)
        if (ratio <= ratios[k])
            return ratios[k];
    return ratio;
}

// A layered model with few layers gets its exact K per layer; anything else a 2 % grid, anchored at
// K = 1 so that designs are found again whatever the band and the model.
static void plane_class(double kap_max, double kap_min, gboolean exact, double *big_k, double *r)
{
    *big_k = exact ? kap_max : pow(1.02, ceil(log(kap_max) / log(1.02) - 1e-9));
    *r = exact ? kap_max / kap_min : ratio_class(*big_k / kap_min);
}

typedef struct ClassKey {
    double big_k, r;
} ClassKey;

static guint class_hash(gconstpointer key)
{
    const ClassKey *c = key;
    return g_double_hash(&c->big_k) * 31 + g_double_hash(&c->r);
}

static gboolean class_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(ClassKey)) == 0;
}

static gboolean use_exact_classes(const LithoMigrateJob *job)
{
    enum { MOST_DESIGNS = 600 };
    if (job->slowness)
        return FALSE;
    gint64 layers = 1;
    for (int s = 1; s < job->n_steps; s++)
        layers += job->slow_min[s] != job->slow_min[s - 1];
    return layers * job->nf <= MOST_DESIGNS;
}

// Entry index of every (step, frequency); the entries' K and rho2.
static void choose_entries(LithoMigrateJob *job)
{
    const gboolean exact = use_exact_classes(job);
    const double thick = job->dz * job->step;
    const double rho = litho_migrate_rho(&job->cells, thick);
    g_autoptr(GHashTable) known = g_hash_table_new_full(class_hash, class_equal, g_free, NULL);
    for (int s = 0; s < job->n_steps; s++)
        for (int f = 0; f < job->nf; f++) {
            ClassKey key;
            double kap = job->omega[f] * thick;
            plane_class(kap * job->slow_max[s], kap * job->slow_min[s], exact, &key.big_k, &key.r);
            gpointer index;
            if (!g_hash_table_lookup_extended(known, &key, NULL, &index)) {
                double k2 = key.big_k * key.big_k;
                LithoEntry entry = {.big_k = key.big_k,
                                    .rho2 = rho + k2 * (1 - 1 / (key.r * key.r))};
                index = GUINT_TO_POINTER(job->entries->len);
                g_array_append_val(job->entries, entry);
                g_hash_table_insert(known, g_memdup2(&key, sizeof key), index);
            }
            job->entry[(gsize)s * job->nf + f] = GPOINTER_TO_INT(index);
        }
}

static LithoPolySpec entry_spec(const LithoMigrateJob *job, const LithoEntry *entry, double rho,
                                int m)
{
    const LithoMigrateParams *p = &job->params;
    double fraction = (m + 1.0) / job->step;
    double low2 = entry->big_k * entry->big_k - (entry->rho2 - rho); // (K / r)^2
    double r = entry->big_k / sqrt(low2);
    return (LithoPolySpec){
        .kap = fraction * entry->big_k,
        .rho = fraction * fraction * entry->rho2,
        // A slow point's K must also serve the same horizontal wavenumber in the fast rock.
        .theta = acos(cos(p->max_dip * G_PI / 180) / fmin(fmax(r, 1), p->ratio_cap)),
        .w0 = p->edge_weight,
        .tol = 0.2,
        .degree = p->degree,
    };
}

static gboolean design_entries(LithoMigrateJob *job, LithoRun *run, GError **error)
{
    const guint n = job->entries->len * job->step;
    const double rho = litho_migrate_rho(&job->cells, job->dz * job->step);
    g_autofree LithoPolySpec *specs = g_new0(LithoPolySpec, MAX(n, 1));
    g_autofree const LithoPoly **polys = g_new0(const LithoPoly *, MAX(n, 1));
    for (guint k = 0; k < n; k++)
        specs[k] = entry_spec(job, &g_array_index(job->entries, LithoEntry, k / job->step), rho,
                              k % job->step);
    if (!litho_poly_get(specs, n, polys, run, error))
        return FALSE;
    for (guint k = 0; k < n; k++)
        g_array_index(job->entries, LithoEntry, k / job->step).poly[k % job->step] = polys[k];
    return TRUE;
}

// One table, uniform in kap over everything the job meets.
static gboolean design_table(LithoMigrateJob *job, LithoRun *run, GError **error)
{
    const double thick = job->dz * job->step, rho = litho_migrate_rho(&job->cells, thick);
    double low = INFINITY, high = 0;
    for (int s = 0; s < job->n_steps; s++) {
        low = fmin(low, job->slow_min[s]);
        high = fmax(high, job->slow_max[s]);
    }
    low *= job->omega[0] * thick;
    high *= job->omega[job->nf - 1] * thick;
    job->n_table = LITHO_MIGRATE_TABLE;
    job->table_first = low;
    job->table_step = fmax((high - low) / (job->n_table - 1), 1e-9);
    g_autofree LithoPolySpec *specs = g_new0(LithoPolySpec, job->n_table);
    for (int m = 0; m < job->step; m++) {
        LithoEntry entry = {.rho2 = rho};
        for (int k = 0; k < job->n_table; k++) {
            entry.big_k = low + k * job->table_step;
            specs[k] = entry_spec(job, &entry, rho, m);
        }
        job->table[m] = g_new0(const LithoPoly *, job->n_table);
        if (!litho_poly_get(specs, job->n_table, job->table[m], run, error))
            return FALSE;
    }
    return TRUE;
}

static void choose_filters(LithoMigrateJob *job)
{
    double cell = 0;
    if (job->cells.nx > 1)
        cell = job->cells.dx;
    if (job->cells.ny > 1)
        cell = fmax(cell, job->cells.dy);
    double reach = cell * sin(job->params.max_dip * G_PI / 180);
    for (int s = 0; s < job->n_steps; s++)
        for (int f = 0; f < job->nf; f++)
            job->filter[(gsize)s * job->nf + f] =
                litho_migrate_bank_choose(job->omega[f] * job->slow_max[s] * reach);
}

gboolean litho_migrate_job_design(LithoMigrateJob *job, const LithoMigrateParams *params,
                                  LithoRun *run, GError **error)
{
    drop_design(job);
    job->params = *params;
    if (job->n_steps == 0 || job->nf == 0 || params->engine == LITHO_MIGRATE_SPLITSTEP)
        return TRUE;
    const gsize n = (gsize)job->n_steps * job->nf;
    job->entry = g_new0(gint32, n);
    job->filter = g_new0(const LithoSecondDerivative *, n);
    choose_filters(job);
    if (params->form == LITHO_MIGRATE_POINTWISE)
        return design_table(job, run, error);
    choose_entries(job);
    return design_entries(job, run, error);
}

const LithoEntry *litho_migrate_job_entry(const LithoMigrateJob *job, int s, int f)
{
    return &g_array_index(job->entries, LithoEntry, job->entry[(gsize)s * job->nf + f]);
}

LithoStencil litho_migrate_job_stencil(const LithoMigrateJob *job, int s, int f)
{
    const double thick = job->dz * job->step;
    const LithoSecondDerivative *filter = job->filter[(gsize)s * job->nf + f];
    if (job->params.form == LITHO_MIGRATE_POINTWISE)
        return litho_migrate_stencil(filter, &job->cells, thick, 0, 0,
                                     litho_migrate_rho(&job->cells, thick));
    const LithoEntry *entry = litho_migrate_job_entry(job, s, f);
    return litho_migrate_stencil(filter, &job->cells, thick, job->omega[f], entry->big_k,
                                 entry->rho2);
}

void litho_migrate_job_grew(const LithoMigrateJob *job, int f, int s, double by, GError **error)
{
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_NUMERICS,
                "the wave of %.1f Hz grew %.1f times in energy by %.0f m: the pointwise form is not "
                "stable in this model; use form = operator",
                job->omega[f] / (2 * G_PI), by, s * job->dz * job->step);
}
