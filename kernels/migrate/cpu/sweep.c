// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/cpu/sweep.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "core/error.h"
#include "core/text.h"
#include "kernels/migrate/cpu/product.h"

enum {
    GROUPS = 48,            // of frequencies: parallel units with sums of their own
    SLAB_BYTES = 192 << 20, // memory for those sums
    MAX_SLAB = 32,          // image planes between two partial results
};

// --- setting up -------------------------------------------------------------------------------

static gboolean no_memory(GError **error)
{
    return litho_refuse(error, LITHO_ERROR_MEMORY, "there is no memory for the waves");
}

// Coefficients of the pointwise form as the look-up reads them: [n][entry][re, im].
static float *flat_table(const LithoMigrateJob *job, int m)
{
    const int n1 = job->params.degree + 1;
    float *table = g_new(float, 2 * (gsize)n1 * job->n_table);
    for (int n = 0; n < n1; n++)
        for (int k = 0; k < job->n_table; k++) {
            table[2 * ((gsize)n * job->n_table + k)] = job->table[m][k]->re[n];
            table[2 * ((gsize)n * job->n_table + k) + 1] = job->table[m][k]->im[n];
        }
    return table;
}

LithoSweep *litho_sweep_new(LithoMigrateJob *job, GError **error)
{
    LithoSweep *sweep = g_new0(LithoSweep, 1);
    sweep->job = job;
    sweep->waves = litho_waves_layout(job->cells.nx, job->cells.ny);
    sweep->energy_floor = g_new(double, MAX(job->nf, 1));
    sweep->grown_f = -1;
    if (job->params.engine == LITHO_MIGRATE_SPLITSTEP)
        sweep->split = litho_split_step_new(&sweep->waves, &job->cells);
    if (job->params.engine == LITHO_MIGRATE_SPLITSTEP && !sweep->split) {
        no_memory(error);
        litho_sweep_free(sweep);
        return NULL;
    }
    for (int m = 0; m < job->step && job->table[m]; m++)
        sweep->table[m] = flat_table(job, m);
    return sweep;
}

void litho_sweep_free(LithoSweep *sweep)
{
    if (!sweep)
        return;
    litho_split_step_free(sweep->split);
    for (int m = 0; m < LITHO_MIGRATE_MAX_STEP; m++)
        g_free(sweep->table[m]);
    g_free(sweep->energy_floor);
    g_free(sweep);
}

// A shot's wave falls off to nothing around its cone, through numbers below 1e-38 that take a
// processor a hundred times longer: they are taken as 0. Returns what restore_tiny() wants. This
// thread only.
static unsigned drop_tiny(void)
{
#ifdef __SSE__
    enum { FLUSH_RESULTS = 0x8000, ZERO_OPERANDS = 0x0040 };
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | FLUSH_RESULTS | ZERO_OPERANDS);
    return before;
#else
    return 0;
#endif
}

static void restore_tiny(unsigned before)
{
#ifdef __SSE__
    _mm_setcsr(before);
#else
    (void)before;
#endif
}

// Buffers of one thread.
typedef struct Worker {
    unsigned tiny; // see drop_tiny()
    LithoWaveScratch *scratch;
    gpointer fft;
    LithoProduct *product;                     // of two waves
    float *between[2][LITHO_MIGRATE_MAX_STEP]; // waves inside a step: up, down
    float *slowness;                           // a row of a constant step
    const LithoRun *run;
} Worker;

// FALSE: no memory. To be cleared in either case.
static gboolean worker_init(Worker *w, const LithoSweep *sweep, int n_waves, const LithoRun *run)
{
    *w = (Worker){.tiny = drop_tiny(), .slowness = g_try_new(float, sweep->waves.nx), .run = run};
    if (sweep->split)
        w->fft = litho_split_step_scratch(sweep->split);
    else
        w->scratch = litho_wave_scratch_new(&sweep->waves);
    if (n_waves > 1)
        w->product = litho_product_new(&sweep->waves);
    gboolean ok = w->slowness && (w->fft || w->scratch) && (w->product || n_waves == 1);
    for (int k = 0; k < n_waves; k++)
        for (int m = 0; m + 1 < sweep->job->step; m++)
            ok &= (w->between[k][m] = litho_waves_alloc(&sweep->waves, 1)) != NULL;
    return ok;
}

static void worker_clear(const LithoSweep *sweep, Worker *w)
{
    restore_tiny(w->tiny);
    if (w->fft)
        litho_split_step_scratch_free(w->fft);
    litho_wave_scratch_free(w->scratch);
    litho_product_free(w->product);
    for (int k = 0; k < 2; k++)
        for (int m = 0; m + 1 < sweep->job->step; m++)
            free(w->between[k][m]);
    g_free(w->slowness);
}

// --- one step of one wave ---------------------------------------------------------------------

static LithoWaveStep make_step(const LithoSweep *sweep, const Worker *w, int s, int f,
                               const float *slowness)
{
    const LithoMigrateJob *job = sweep->job;
    LithoWaveStep step = {.stencil = litho_migrate_job_stencil(job, s, f),
                          .degree = job->params.degree,
                          .targets = job->step,
                          .slowness = slowness,
                          .one_row = !job->slowness,
                          .run = w->run};
    if (sweep->table[0]) {
        double thick = job->dz * job->step;
        for (int m = 0; m < job->step; m++)
            step.table[m] = sweep->table[m];
        step.n_table = job->n_table;
        step.table_scale = (float)(job->omega[f] * thick / job->table_step);
        step.table_offset = (float)(job->table_first / job->table_step);
        return step;
    }
    const LithoEntry *entry = litho_migrate_job_entry(job, s, f);
    for (int m = 0; m < job->step; m++) {
        step.re[m] = entry->poly[m]->re;
        step.im[m] = entry->poly[m]->im;
    }
    return step;
}

// Takes away what is steeper than the largest dip, if it is time in step s. Its own adjoint. FALSE:
// told to stop, as all of the following.
static gboolean stop_steep(const LithoSweep *sweep, Worker *w, int s, int f, const float *slowness,
                           float *wave)
{
    const LithoMigrateJob *job = sweep->job;
    if (!litho_migrate_job_stops(job, s))
        return TRUE;
    const LithoPoly *poly = litho_migrate_job_entry(job, s, f)->stop;
    const LithoWaveStep step = {.stencil = litho_migrate_job_stencil(job, s, f),
                                .degree = poly->spec.degree,
                                .targets = 1,
                                .slowness = slowness,
                                .one_row = !job->slowness,
                                .run = w->run,
                                .re = {poly->re},
                                .im = {poly->im}};
    return litho_wave_forward(&sweep->waves, w->scratch, &step, wave, NULL);
}

static gboolean split_step(const LithoSweep *sweep, Worker *w, int s, int f, const float *slowness,
                           gboolean adjoint, float *wave)
{
    const LithoMigrateJob *job = sweep->job;
    return litho_split_step_apply(sweep->split, w->fft, job->omega[f], job->dz,
                                  job->slowness ? slowness : NULL, litho_migrate_job_mean(job, s),
                                  adjoint, wave, w->run);
}

static gboolean step_down(const LithoSweep *sweep, Worker *w, int s, int f, const float *slowness,
                          float *wave, float *const *between)
{
    const LithoMigrateJob *job = sweep->job;
    litho_wave_sponge(&sweep->waves, wave, job->sponge_x, job->sponge_y);
    if (sweep->split)
        return split_step(sweep, w, s, f, slowness, FALSE, wave);
    if (!stop_steep(sweep, w, s, f, slowness, wave))
        return FALSE;
    const LithoWaveStep step = make_step(sweep, w, s, f, slowness);
    return litho_wave_forward(&sweep->waves, w->scratch, &step, wave, between);
}

static gboolean step_up(const LithoSweep *sweep, Worker *w, int s, int f, const float *slowness,
                        float *wave, float *const *between)
{
    const LithoMigrateJob *job = sweep->job;
    if (sweep->split) {
        if (!split_step(sweep, w, s, f, slowness, TRUE, wave))
            return FALSE;
    } else {
        const LithoWaveStep step = make_step(sweep, w, s, f, slowness);
        if (!litho_wave_adjoint(&sweep->waves, w->scratch, &step, wave, between) ||
            !stop_steep(sweep, w, s, f, slowness, wave))
            return FALSE;
    }
    litho_wave_sponge(&sweep->waves, wave, job->sponge_x, job->sponge_y);
    return TRUE;
}

// --- imaging ----------------------------------------------------------------------------------

// sum += scale Re up over the cells under the image.
static void add_real(const LithoSweep *sweep, float *up, float scale, float *sum)
{
    const LithoMigrateJob *job = sweep->job;
    for (int y = 0; y < job->data_ny; y++) {
        const float *re = litho_wave_row(&sweep->waves, up, y + job->pad_y) + job->pad_x;
        float *to = sum + (gsize)y * job->data_nx;
        for (int x = 0; x < job->data_nx; x++)
            to[x] += scale * re[x];
    }
}

// --- a slab of depths -------------------------------------------------------------------------

typedef struct Slab {
    LithoSweep *sweep;
    LithoRun *run;
    float *up, *down;
    int s0, s1;   // steps
    int first, n; // image planes
    int n_groups;
    float *image, *light; // [group][plane][data cells]; light NULL without `down`
    gint done, stop;      // frequencies finished; anything wrong or cancelled
    gint poor;            // a thread had no memory to work in
} Slab;

static gsize data_cells(const LithoMigrateJob *job)
{
    return (gsize)job->data_nx * job->data_ny;
}

// Plane z, which step s ends at or crosses, of frequency f.
static void image_plane(Slab *slab, Worker *w, int group, int s, int f, int z, float *up,
                        float *down)
{
    const LithoMigrateJob *job = slab->sweep->job;
    if (z < slab->first || z >= slab->first + slab->n)
        return; // below the image: the last step may reach beyond
    gsize at = ((gsize)group * slab->n + z - slab->first) * data_cells(job);
    if (down)
        litho_product_add(job, &slab->sweep->waves, w->product,
                          litho_migrate_job_protects(job, s, f), up, down, slab->image + at,
                          slab->light + at);
    else
        add_real(slab->sweep, up, 2.0f / job->nfft, slab->image + at);
}

// The pointwise form is not stable in every medium: its energy is watched, never rescaled.
static gboolean watches_growth(const LithoSweep *sweep)
{
    return sweep->table[0] && sweep->job->params.growth > 0;
}

// Energy of every wave before the first step. FALSE: told to stop.
static gboolean begin_growth(LithoSweep *sweep, const float *up, const LithoRun *run)
{
    if (!watches_growth(sweep))
        return TRUE;
#pragma omp parallel for schedule(dynamic, 1) num_threads(litho_run_threads(run))
    for (int f = 0; f < sweep->job->nf; f++)
        if (litho_run_checkpoint(run))
            sweep->energy_floor[f] = litho_wave_energy(&sweep->waves, up + sweep->waves.size * f);
    return litho_run_checkpoint(run);
}

static gboolean has_grown(Slab *slab, int s, int f, const float *wave)
{
    LithoSweep *sweep = slab->sweep;
    double limit = sweep->job->params.growth;
    if (!watches_growth(sweep))
        return FALSE;
    double energy = litho_wave_energy(&sweep->waves, wave), *floor = &sweep->energy_floor[f];
    if (energy <= limit * *floor) {
        *floor = fmin(*floor, energy);
        return FALSE;
    }
#pragma omp critical(migrate_growth)
    if (sweep->grown_f < 0) {
        sweep->grown_f = f;
        sweep->grown_step = s;
        sweep->grown_by = energy / *floor;
    }
    return TRUE;
}

static void frequency_down(Slab *slab, Worker *w, int group, int f)
{
    LithoSweep *sweep = slab->sweep;
    const LithoMigrateJob *job = sweep->job;
    float *up = slab->up + sweep->waves.size * f;
    float *down = slab->down ? slab->down + sweep->waves.size * f : NULL;
    if (slab->first == 0 && slab->n > 0)
        image_plane(slab, w, group, 0, f, 0, up, down);
    for (int s = slab->s0; s < slab->s1; s++) {
        if (!litho_run_checkpoint(slab->run) || g_atomic_int_get(&slab->stop)) {
            g_atomic_int_set(&slab->stop, 1);
            return;
        }
        const float *slowness = litho_migrate_job_slowness(job, s, w->slowness);
        if (!step_down(sweep, w, s, f, slowness, up, w->between[0]) ||
            (down && !step_down(sweep, w, s, f, slowness, down, w->between[1]))) {
            g_atomic_int_set(&slab->stop, 1);
            return;
        }
        for (int m = 0; m < job->step; m++) {
            gboolean last = m == job->step - 1;
            image_plane(slab, w, group, s, f, s * job->step + m + 1, last ? up : w->between[0][m],
                        !down  ? NULL
                        : last ? down
                               : w->between[1][m]);
        }
        if (has_grown(slab, s, f, up))
            g_atomic_int_set(&slab->stop, 1);
    }
}

// Sums of the groups, first to last, onto the image; in pieces that stay in the first-level cache.
static void reduce(const Slab *slab, const float *groups, float *sum)
{
    enum { PIECE = 4096 };
    const gsize n = data_cells(slab->sweep->job) * slab->n;
#pragma omp parallel for schedule(static) num_threads(litho_run_threads(slab->run))
    for (gsize first = 0; first < n; first += PIECE)
        for (int g = 0; g < slab->n_groups; g++) {
            const float *from = groups + g * n;
            for (gsize k = first; k < MIN(first + PIECE, n); k++)
                sum[k] += from[k];
        }
}

static gboolean slab_down(Slab *slab, float *image, float *illumination, LithoRun *run,
                          GError **error)
{
    LithoSweep *sweep = slab->sweep;
    const LithoMigrateJob *job = sweep->job;
    const gsize n = data_cells(job) * slab->n;
#pragma omp parallel num_threads(litho_run_threads(run))
    {
        Worker worker;
        if (!worker_init(&worker, sweep, slab->down ? 2 : 1, run)) {
            g_atomic_int_set(&slab->poor, 1);
            g_atomic_int_set(&slab->stop, 1);
        }
#pragma omp for schedule(dynamic, 1)
        for (int g = 0; g < slab->n_groups; g++) {
            if (g_atomic_int_get(&slab->stop) || !litho_run_checkpoint(run))
                continue;
            memset(slab->image + n * g, 0, sizeof(float) * n);
            if (slab->light)
                memset(slab->light + n * g, 0, sizeof(float) * n);
            for (int f = g; f < job->nf; f += slab->n_groups) {
                frequency_down(slab, &worker, g, f);
                int done = g_atomic_int_add(&slab->done, 1) + 1;
                if (omp_get_thread_num() == 0 &&
                    !litho_run_step(run, (gint64)slab->s0 * job->nf + done * (slab->s1 - slab->s0),
                                    (gint64)job->n_steps * job->nf, NULL))
                    g_atomic_int_set(&slab->stop, 1);
            }
        }
        worker_clear(sweep, &worker);
    }
    if (sweep->grown_f >= 0) {
        litho_migrate_job_grew(job, sweep->grown_f, sweep->grown_step + 1, sweep->grown_by, error);
        return FALSE;
    }
    if (slab->poor)
        return no_memory(error);
    if (!litho_run_step(run, (gint64)slab->s1 * job->nf, (gint64)job->n_steps * job->nf, error))
        return FALSE;
    reduce(slab, slab->image, image + data_cells(job) * slab->first);
    if (slab->light)
        reduce(slab, slab->light, illumination + data_cells(job) * slab->first);
    return TRUE;
}

// Steps of one slab: as many as memory for the groups' sums allows.
static int steps_a_slab(const LithoMigrateJob *job, int n_groups, gboolean two_sums)
{
    double plane = 4.0 * data_cells(job) * n_groups * (two_sums ? 2 : 1);
    int planes = (int)CLAMP(SLAB_BYTES / plane, job->step, MAX_SLAB);
    return MAX(planes / job->step, 1);
}

gsize litho_sweep_bytes(const LithoMigrateJob *job, int n_waves, int threads)
{
    const LithoWaves w = litho_waves_layout(job->cells.nx, job->cells.ny);
    const gsize plane = sizeof(float) * job->cells.nx * job->cells.ny;
    const int groups = MIN(MAX(job->nf, 1), GROUPS);
    const int steps = steps_a_slab(job, groups, n_waves > 1);
    const gsize planes = MIN(steps * job->step + 1, job->nz);
    const gsize sums = job->params.mode == LITHO_MIGRATE_DEMIGRATE
                           ? 0
                           : sizeof(float) * data_cells(job) * planes * groups * n_waves;
    gsize worker =
        (n_waves > 1 ? 2 * plane : 0) + n_waves * (job->step - 1) * sizeof(float) * w.size;
    worker +=
        job->params.engine == LITHO_MIGRATE_SPLITSTEP ? 2 * plane : litho_wave_scratch_bytes(&w);
    return sums + MIN(threads, groups) * worker;
}

gboolean litho_sweep_down(LithoSweep *sweep, float *up, float *down, float *image,
                          float *illumination, MigSlab done, gpointer data, LithoRun *run,
                          GError **error)
{
    const LithoMigrateJob *job = sweep->job;
    Slab slab = {.sweep = sweep,
                 .run = run,
                 .up = up,
                 .down = down,
                 .n_groups = MIN(MAX(job->nf, 1), GROUPS)};
    int steps = steps_a_slab(job, slab.n_groups, down != NULL);
    gsize sums = data_cells(job) * MIN(steps * job->step + 1, job->nz) * slab.n_groups;
    slab.image = g_try_new(float, sums);
    slab.light = down ? g_try_new(float, sums) : NULL;
    gboolean ok = slab.image && (slab.light || !down);
    if (!ok)
        litho_refuse(error, LITHO_ERROR_MEMORY, "no memory for %.2f GiB of image sums",
                     sums * 4.0 / (1 << 30));
    litho_run_begin(run, "extrapolate", "steps");
    ok = ok && (begin_growth(sweep, up, run) || litho_run_step(run, 0, 1, error));
    while (ok && slab.first < job->nz) {
        slab.s1 = MIN(slab.s0 + steps, job->n_steps);
        // The first slab holds the surface too.
        slab.n = MIN(slab.s1 * job->step + 1, job->nz) - slab.first;
        slab.done = 0;
        ok = slab_down(&slab, image, illumination, run, error);
        ok = ok && (!done || done(slab.first, slab.n, data, error));
        slab.first += slab.n;
        slab.s0 = slab.s1;
    }
    g_free(slab.image);
    g_free(slab.light);
    return ok;
}

// --- upward -----------------------------------------------------------------------------------

static void inject(const LithoSweep *sweep, const float *image, int z, float *wave)
{
    const LithoMigrateJob *job = sweep->job;
    if (z >= job->nz)
        return;
    const float scale = 1.0f / job->nfft, *plane = image + data_cells(job) * z;
    for (int y = 0; y < job->data_ny; y++) {
        float *re = litho_wave_row(&sweep->waves, wave, y + job->pad_y) + job->pad_x;
        for (int x = 0; x < job->data_nx; x++)
            re[x] += scale * plane[(gsize)y * job->data_nx + x];
    }
}

// One frequency from the bottom to the surface. FALSE: told to stop.
static gboolean frequency_up(LithoSweep *sweep, Worker *w, const float *image, int f, float *wave,
                             LithoRun *run)
{
    const LithoMigrateJob *job = sweep->job;
    if (!litho_run_checkpoint(run))
        return FALSE;
    memset(wave, 0, sizeof(float) * sweep->waves.size);
    for (int s = job->n_steps - 1; s >= 0; s--) {
        if (!litho_run_checkpoint(run))
            return FALSE;
        const float *slowness = litho_migrate_job_slowness(job, s, w->slowness);
        for (int m = 0; m + 1 < job->step; m++) {
            memset(w->between[0][m], 0, sizeof(float) * sweep->waves.size);
            inject(sweep, image, s * job->step + m + 1, w->between[0][m]);
        }
        inject(sweep, image, (s + 1) * job->step, wave);
        if (!step_up(sweep, w, s, f, slowness, wave, w->between[0]))
            return FALSE;
    }
    inject(sweep, image, 0, wave);
    return TRUE;
}

gboolean litho_sweep_up(LithoSweep *sweep, const float *image, float *up, LithoRun *run,
                        GError **error)
{
    const LithoMigrateJob *job = sweep->job;
    gint done = 0, poor = 0, grown = 0;
    litho_run_begin(run, "extrapolate", "frequencies");
#pragma omp parallel num_threads(litho_run_threads(run))
    {
        Worker worker;
        if (!worker_init(&worker, sweep, 1, run))
            g_atomic_int_set(&poor, 1);
#pragma omp for schedule(dynamic, 1)
        for (int f = 0; f < job->nf; f++) {
            float *wave = up + sweep->waves.size * f;
            if (g_atomic_int_get(&poor) || !frequency_up(sweep, &worker, image, f, wave, run))
                continue;
            if (!isfinite(litho_wave_energy(&sweep->waves, wave)))
                g_atomic_int_set(&grown, 1);
            int n = g_atomic_int_add(&done, 1) + 1;
            if (omp_get_thread_num() == 0)
                litho_run_step(run, n, job->nf, NULL);
        }
        worker_clear(sweep, &worker);
    }
    if (poor)
        return no_memory(error);
    if (!litho_run_step(run, done, job->nf, error))
        return FALSE;
    if (!grown)
        return TRUE;
    g_set_error(
        error, LITHO_ERROR, LITHO_ERROR_NUMERICS,
        _("the waves grew beyond all bounds: the pointwise form is not stable in this model; "
          "use form = operator"));
    return FALSE;
}
