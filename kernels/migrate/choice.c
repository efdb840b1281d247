// SPDX-License-Identifier: GPL-3.0-or-later
//
// Choice of the polynomial and the filter for every frequency in every step.
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "kernels/migrate/job.h"

void litho_migrate_job_drop_design(LithoMigrateJob *job)
{
    if (!job->share)
        g_array_set_size(job->entries, 0);
    g_clear_pointer(&job->entry, g_free);
    g_clear_pointer(&job->filter, g_free);
    if (!job->share)
        g_clear_pointer(&job->stops, g_free);
    for (int m = 0; m < LITHO_MIGRATE_MAX_STEP; m++)
        if (!job->share)
            g_clear_pointer(&job->table[m], g_free);
}

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

// Entry index of every (step, frequency); the entries' K and rho2. FALSE: cancelled.
static gboolean choose_entries(LithoMigrateJob *job, LithoRun *run, GError **error)
{
    const gboolean exact = use_exact_classes(job);
    const double thick = job->dz * job->step;
    const double rho = litho_migrate_rho(&job->cells, thick);
    g_autoptr(GHashTable) known = g_hash_table_new_full(class_hash, class_equal, g_free, NULL);
    for (int s = 0; s < job->n_steps; s++) {
        if (!litho_run_step(run, s, job->n_steps, error))
            return FALSE;
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
    return TRUE;
}

int litho_migrate_target_degree(const LithoMigrateJob *job, int m)
{
    const int n = job->params.degree;
    const double fraction = (m + 1.0) / job->step;
    return fraction == 1 ? n : (int)CLAMP(ceil(n * (0.3 + 0.6 * fraction)), MIN(9, n), n);
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
        .degree = litho_migrate_target_degree(job, m),
    };
}

// One table, uniform in kap over everything the job meets.
static gboolean design_table(LithoMigrateJob *job, const LithoPolyMaker *maker, LithoRun *run,
                             GError **error)
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
        if (!litho_poly_get(specs, job->n_table, job->table[m], maker, run, error))
            return FALSE;
    }
    return TRUE;
}

// --- what is steeper ----------------------------------------------------------------------------

// At the surface, and soon once more: twice leaves a sixteenth. Below, where rock is faster than
// all above. Where velocity varies to the sides it turns waves all the time: as often as costs a
// tenth.
static void choose_stops(LithoMigrateJob *job)
{
    const int often = MAX(10 * LITHO_MIGRATE_STOP_DEGREE / job->params.degree, 4);
    double fastest = INFINITY; // slowness at which steeper waves were last taken away
    job->stops = g_new0(guint8, job->n_steps);
    for (int s = 0, last = 0, count = 0; s < job->n_steps; s++) {
        const gboolean sides = job->slow_max[s] > 1.001 * job->slow_min[s];
        const gboolean faster = job->slow_min[s] < 0.95 * fastest;
        const gboolean due = s - last >= (count == 1 ? often / 4 : often);
        if (s > 0 && !(due && (sides || count < 2)) && !(faster && !sides))
            continue;
        job->stops[s] = 1;
        fastest = fmin(fastest, job->slow_min[s]);
        last = s;
        count++;
    }
}

// Entries in use where waves are taken away, in `of`; returns how many.
static guint stop_entries(const LithoMigrateJob *job, guint *of)
{
    const guint n = job->entries->len;
    g_autofree gboolean *used = g_new0(gboolean, n);
    guint count = 0;
    for (int s = 0; s < job->n_steps; s++)
        for (int f = 0; f < job->nf && job->stops[s]; f++)
            used[job->entry[(gsize)s * job->nf + f]] = TRUE;
    for (guint k = 0; k < n; k++)
        if (used[k])
            of[count++] = k;
    return count;
}

static LithoPolySpec stop_spec(const LithoMigrateJob *job, const LithoEntry *entry, double rho)
{
    LithoPolySpec spec = entry_spec(job, entry, rho, job->step - 1);
    // The taper begins above the largest dip.
    spec.theta = fmin(spec.theta + G_PI / 180, 89 * G_PI / 180);
    spec.degree = LITHO_MIGRATE_STOP_DEGREE;
    spec.stop = 0.25;
    return spec;
}

// All polynomials of the entries at once: a GPU designs them beside each other.
static gboolean design_entries(LithoMigrateJob *job, const LithoPolyMaker *maker, LithoRun *run,
                               GError **error)
{
    const guint entries = job->entries->len, n = entries * job->step;
    const double rho = litho_migrate_rho(&job->cells, job->dz * job->step);
    g_autofree LithoPolySpec *specs = g_new0(LithoPolySpec, n + entries);
    g_autofree const LithoPoly **polys = g_new0(const LithoPoly *, n + entries);
    g_autofree guint *of = g_new0(guint, entries);
    guint stops = 0;
    for (guint k = 0; k < n; k++)
        specs[k] = entry_spec(job, &g_array_index(job->entries, LithoEntry, k / job->step), rho,
                              k % job->step);
    if (job->params.stop) {
        choose_stops(job);
        stops = stop_entries(job, of);
    }
    for (guint k = 0; k < stops; k++)
        specs[n + k] = stop_spec(job, &g_array_index(job->entries, LithoEntry, of[k]), rho);
    if (!litho_poly_get(specs, n + stops, polys, maker, run, error))
        return FALSE;
    for (guint k = 0; k < n; k++)
        g_array_index(job->entries, LithoEntry, k / job->step).poly[k % job->step] = polys[k];
    for (guint k = 0; k < stops; k++)
        g_array_index(job->entries, LithoEntry, of[k]).stop = polys[n + k];
    return TRUE;
}

gboolean litho_migrate_job_stops(const LithoMigrateJob *job, int s)
{
    return job->stops && job->stops[s];
}

static double widest_cell(const LithoMigrateJob *job)
{
    const double dx = job->cells.nx > 1 ? job->cells.dx : 0;
    return fmax(dx, job->cells.ny > 1 ? job->cells.dy : 0);
}

static gboolean choose_filters(LithoMigrateJob *job, LithoRun *run, GError **error)
{
    double reach = widest_cell(job) * sin(job->params.max_dip * G_PI / 180);
    for (int s = 0; s < job->n_steps; s++) {
        if (!litho_run_step(run, s, job->n_steps, error))
            return FALSE;
        for (int f = 0; f < job->nf; f++)
            job->filter[(gsize)s * job->nf + f] =
                litho_migrate_bank_choose(job->omega[f] * job->slow_max[s] * reach);
    }
    return TRUE;
}

gboolean litho_migrate_job_design(LithoMigrateJob *job, const LithoMigrateParams *params,
                                  const LithoPolyMaker *maker, LithoRun *run, GError **error)
{
    litho_migrate_job_drop_design(job);
    job->params = *params;
    if (job->n_steps == 0 || job->nf == 0 || params->engine == LITHO_MIGRATE_SPLITSTEP)
        return TRUE;
    const gsize n = (gsize)job->n_steps * job->nf;
    job->entry = litho_memory_new(n, sizeof *job->entry, "operators by depth", error);
    job->filter =
        job->entry ? litho_memory_new(n, sizeof *job->filter, "filters by depth", error) : NULL;
    litho_run_begin(run, "designing filters", "depths");
    if (!job->filter || !choose_filters(job, run, error))
        return FALSE;
    if (params->form == LITHO_MIGRATE_POINTWISE)
        return design_table(job, maker, run, error);
    return choose_entries(job, run, error) && design_entries(job, maker, run, error);
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

gboolean litho_migrate_job_protects(const LithoMigrateJob *job, int s, int f)
{
    if (!job->params.antialias || job->n_steps == 0)
        return FALSE;
    const double k = job->omega[f] * job->slow_max[s] * sin(job->params.max_dip * G_PI / 180);
    return 2 * k * widest_cell(job) > G_PI;
}

// --- a share of the frequencies -----------------------------------------------------------------

LithoMigrateJob *litho_migrate_job_share(const LithoMigrateJob *whole, int k, int n)
{
    LithoMigrateJob *job = g_memdup2(whole, sizeof *whole);
    job->share = TRUE;
    job->nf = whole->nf > k ? (whole->nf - k + n - 1) / n : 0;
    job->k_first = whole->k_first + k;
    job->k_stride = n;
    const int room = MAX(job->nf, 1);
    job->omega = g_new(double, room);
    job->weight = g_new(float, room);
    for (int f = 0; f < job->nf; f++) {
        job->omega[f] = whole->omega[k + n * f];
        job->weight[f] = whole->weight[k + n * f];
    }
    job->entry = whole->entry ? g_new0(gint32, (gsize)room * job->n_steps) : NULL;
    job->filter =
        whole->filter ? g_new0(const LithoSecondDerivative *, (gsize)room * job->n_steps) : NULL;
    for (gsize s = 0; s < (gsize)job->n_steps && whole->filter; s++)
        for (int f = 0; f < job->nf; f++) {
            job->entry[s * job->nf + f] = whole->entry[s * whole->nf + k + n * f];
            job->filter[s * job->nf + f] = whole->filter[s * whole->nf + k + n * f];
        }
    return job;
}
