// SPDX-License-Identifier: GPL-3.0-or-later
//
// Bursts and the level of the noise on a device: what a plan lends to levels.c as its PatchMeter.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/mute.h"
#include "kernels/common/noise_job.h"
#include "kernels/patch/cuda/level.h"
#include "kernels/patch/cuda/plan.h"
#include "kernels/patch/floor.h"

G_STATIC_ASSERT((int)LITHO_LEVEL_GROUPS == (int)NOISE_GROUPS);

// Windows between two looks at the cancel flag, and of one batch of spectra: about a millisecond.
enum { BATCH = 2048 };

// --- bursts --------------------------------------------------------------------------------------

static const LithoCube *clean(gpointer data, const LithoPatchParams *params, const LithoCube *in,
                              LithoRun *run, GError **error)
{
    PatchPlan *p = data;
    return litho_cuda_clean(p->context, &p->erratic, &p->clean, litho_patch_clean_rule(params), in,
                            run, error);
}

// --- tables --------------------------------------------------------------------------------------

static gint64 windows_of(NoiseJob *const *jobs, int n)
{
    gint64 windows = 0;
    for (int k = 0; k < n; k++)
        windows += jobs[k]->windows;
    return windows;
}

static gboolean is_fresh(NoiseJob *const *jobs, int n)
{
    for (int k = 0; k < n; k++)
        for (gint64 w = 0; w < jobs[k]->windows; w++)
            if (jobs[k]->taken[w])
                return FALSE;
    return TRUE;
}

// Everything that does not depend on the part under way; jobs of one window.
static gboolean make_task(PatchPlan *p, gboolean whole, NoiseJob *const *jobs, int n,
                          LithoLevelTask *t, GError **error)
{
    const NoiseJob *first = jobs[0];
    const gsize nk = noise_wavenumbers(first), windows = windows_of(jobs, n);
    PatchPowers *held = &p->powers[whole];
    g_autofree LithoLevelJob *table = g_new0(LithoLevelJob, n);
    g_autofree double *tapers = g_new0(double, first->n[0] + first->n[1] + first->n[2]);
    gsize at = 0;
    *t = (LithoLevelTask){.n_jobs = n, .energy = first->energy};
    for (int k = 0, window = 0; k < n; window += (int)jobs[k++]->windows)
        table[k] = (LithoLevelJob){window, (int)jobs[k]->windows};
    for (int a = 0; a < 3; a++) {
        t->n[a] = first->n[a];
        for (int i = 0; i < first->n[a]; i++)
            tapers[at++] = first->taper[a][i];
    }
    for (int i = 0; i < first->n[2]; i++)
        t->time_energy += first->taper[2][i] * first->taper[2][i];
    for (int freedom = 1; freedom <= 2; freedom++) {
        const NoiseConstants c = noise_constants(freedom);
        t->median[freedom - 1] = c.median;
        t->below[freedom - 1] = c.share;
        t->cut = c.cut;
        t->passes = c.passes;
    }
    if (!litho_cuda_put(p->context, &p->level_tapers, tapers, at * sizeof(double), error) ||
        !litho_cuda_put(p->context, &p->level_jobs, table, n * sizeof *table, error) ||
        !litho_cuda_reserve(p->context, &held->share, windows * sizeof(float), error) ||
        !litho_cuda_reserve(p->context, &held->scale, windows * sizeof(float), error) ||
        !litho_cuda_reserve(p->context, &held->power, windows * first->nf * nk * sizeof(float),
                            error))
        return FALSE;
    t->taper[0] = p->level_tapers.data;
    t->taper[1] = t->taper[0] + first->n[0];
    t->taper[2] = t->taper[1] + first->n[1];
    t->jobs = p->level_jobs.data;
    t->share = held->share.data;
    t->scale = held->scale.data;
    t->power = held->power.data;
    return TRUE;
}

// --- spectra -------------------------------------------------------------------------------------

// Windows of a job as seen from its box, or their flags: jobs of boxes of one size have one
// pattern.
typedef struct Pattern {
    gint64 count[3], size[3], windows;
    gint64 (*at)[3]; // each [window]
    guint8 *flags;
} Pattern;

static void pattern_clear(gpointer data)
{
    Pattern *pattern = data;
    g_free(pattern->at);
    g_free(pattern->flags);
}

static GArray *patterns_new(void)
{
    GArray *patterns = g_array_new(FALSE, TRUE, sizeof(Pattern));
    g_array_set_clear_func(patterns, pattern_clear);
    return patterns;
}

static Pattern *pattern_of(GArray *patterns, const NoiseJob *job)
{
    Pattern own = {.windows = job->windows};
    for (int a = 0; a < 3; a++) {
        own.count[a] = job->count[a];
        own.size[a] = litho_box_size(job->box, a);
    }
    for (guint k = 0; k < patterns->len; k++) {
        Pattern *known = &g_array_index(patterns, Pattern, k);
        if (memcmp(known->count, own.count, sizeof own.count) == 0 &&
            memcmp(known->size, own.size, sizeof own.size) == 0 && known->windows == own.windows)
            return known;
    }
    g_array_append_val(patterns, own);
    return &g_array_index(patterns, Pattern, patterns->len - 1);
}

// Starts of a job's windows. Those along an axis are told once: a division each, of which a window
// would need many.
static const gint64 (*starts_of(GArray *patterns, const NoiseJob *job))[3]
{
    Pattern *pattern = pattern_of(patterns, job);
    if (pattern->at)
        return (const gint64(*)[3])pattern->at;
    g_autofree gint64 *starts = g_new(gint64, job->count[0] + job->count[1] + job->count[2]);
    const gint64 *along[3] = {starts, starts + job->count[0],
                              starts + job->count[0] + job->count[1]};
    gint64 *to = starts;
    for (int a = 0; a < 3; a++)
        for (gint64 k = 0; k < job->count[a]; k++)
            *to++ = noise_start_of(job, a, k) - job->box.lo[a];
    pattern->at = g_malloc(job->windows * sizeof *pattern->at);
    for (gint64 w = 0; w < job->windows; w++) {
        noise_places_of(job, w, pattern->at[w]);
        for (int a = 0; a < 3; a++)
            pattern->at[w][a] = along[a][pattern->at[w][a]];
    }
    return (const gint64(*)[3])pattern->at;
}

// Windows that are taken now.
static GArray *list_places(NoiseJob *const *jobs, int n, const LithoCube *part, LithoBox within)
{
    GArray *places = g_array_new(FALSE, FALSE, sizeof(LithoLevelPlace));
    g_autoptr(GArray) patterns = patterns_new();
    g_array_set_size(places, (guint)windows_of(jobs, n));
    guint listed = 0;
    for (int k = 0; k < n; k++) {
        NoiseJob *job = jobs[k];
        const gint64(*starts)[3] = starts_of(patterns, job);
        job->within = litho_box_intersect(within, part->held);
        const gboolean whole = litho_box_contains(job->within, job->box);
        for (gint64 w = 0; w < job->windows; w++) {
            LithoLevelPlace *place = &g_array_index(places, LithoLevelPlace, listed);
            gboolean holds = !job->taken[w];
            for (int a = 0; a < 3; a++) {
                place->at[a] = job->box.lo[a] + starts[w][a];
                holds = holds && (whole || noise_holds_along(job, a, place->at[a]));
            }
            place->job = k;
            place->window = (int)w;
            listed += holds;
            job->taken[w] |= holds;
        }
    }
    g_array_set_size(places, listed);
    return places;
}

static gboolean spectra(gpointer data, gboolean whole, LithoNoiseWindows *const *jobs, int n,
                        const LithoCube *part, const guint8 *recorded, LithoBox within,
                        LithoRun *run, GError **error)
{
    PatchPlan *p = data;
    const gint64 traces = litho_box_size(part->held, 0) * litho_box_size(part->held, 1);
    const gint64 windows = windows_of(jobs, n);
    const gsize coefficients = (gsize)noise_wavenumbers(jobs[0]) * jobs[0]->nf;
    const double samples = (double)noise_wavenumbers(jobs[0]) * jobs[0]->n[2];
    const gboolean fresh = is_fresh(jobs, n);
    LithoLevelTask t;
    const float *in = litho_cuda_input(p->context, part, run, error);
    if (!in || !make_task(p, whole, jobs, n, &t, error) || !patch_upload_live(p, part, error))
        return FALSE;
    g_autoptr(GArray) places = list_places(jobs, n, part, within);
    if (!litho_cuda_put(p->context, &p->level_places, places->data,
                        places->len * sizeof(LithoLevelPlace), error) ||
        !litho_cuda_reserve(p->context, &p->level_spectra,
                            MIN(BATCH, windows) * coefficients * 2 * sizeof(float), error) ||
        (whole &&
         !litho_cuda_reserve(p->context, &p->level_muted, windows * sizeof(float), error)) ||
        (recorded && !litho_cuda_put(p->context, &p->level_recorded, recorded, traces, error)) ||
        (fresh && !LITHO_CUDA(cudaMemsetAsync(t.share, 0, windows * sizeof(float),
                                              litho_cuda_stream(p->context)),
                              error)))
        return FALSE;
    t.in = in;
    t.held = patch_box(part->held);
    t.live = p->live.data;
    t.recorded = recorded ? p->level_recorded.data : t.live;
    t.spectra = p->level_spectra.data;
    const LithoLevelPlace *list = p->level_places.data;
    litho_cuda_mark(p->context, "noise level", LITHO_STAGE_COMPUTE,
                    places->len * (4 * samples + 20.0 * coefficients),
                    places->len * 2.5 * samples * log2(samples));
    for (guint at = 0; at < places->len; at += BATCH) {
        const int count = (int)MIN(BATCH, places->len - at);
        if (!LITHO_CUDA(litho_level_spectra(&t, list + at, count, litho_cuda_stream(p->context)),
                        error) ||
            (whole &&
             !LITHO_CUDA(litho_level_muted(&t, list + at, count, LITHO_MUTE_RUN,
                                           p->level_muted.data, litho_cuda_stream(p->context)),
                         error)) ||
            !litho_cuda_step(p->context, run, at + count, places->len, error))
            return FALSE;
    }
    // The part may go before the levels are asked for.
    return LITHO_CUDA(cudaStreamSynchronize(litho_cuda_stream(p->context)), error);
}

// --- levels --------------------------------------------------------------------------------------

// A window's flags follow from its place along one axis.
static const guint8 *flags_of(GArray *patterns, const NoiseJob *job)
{
    enum { UNKNOWN = 255 };
    Pattern *pattern = pattern_of(patterns, job);
    const int axis = noise_halved_axis(job);
    if (pattern->flags)
        return pattern->flags;
    pattern->flags = g_malloc(job->windows);
    g_autofree guint8 *known = g_malloc(job->count[axis]);
    memset(known, UNKNOWN, job->count[axis]);
    for (gint64 w = 0; w < job->windows; w++) {
        guint8 *own = &known[noise_place_of(job, w, axis)];
        if (*own == UNKNOWN)
            *own = (guint8)((noise_half_of(job, w) ? LITHO_LEVEL_HALF : 0) |
                            (noise_may_choose(job, w, 0) ? LITHO_LEVEL_CHOOSES_0 : 0) |
                            (noise_may_choose(job, w, 1) ? LITHO_LEVEL_CHOOSES_1 : 0));
        pattern->flags[w] = *own;
    }
    return pattern->flags;
}

static gboolean upload_flags(PatchPlan *p, NoiseJob *const *jobs, int n, GError **error)
{
    const gint64 windows = windows_of(jobs, n);
    g_autofree guint8 *flags = g_malloc(windows);
    g_autoptr(GArray) patterns = patterns_new();
    for (int k = 0, at = 0; k < n; at += (int)jobs[k++]->windows)
        memcpy(flags + at, flags_of(patterns, jobs[k]), jobs[k]->windows);
    return litho_cuda_put(p->context, &p->level_flags, flags, windows, error);
}

// Levels of one job from the means of its frequencies.
static void conclude(const NoiseJob *job, gboolean interval, const LithoLevelMean *means,
                     LithoNoise *noise)
{
    const int sets = LITHO_LEVEL_SETS(interval), rows = interval ? NOISE_GROUPS + 1 : 1;
    g_autofree double *sigma = g_new0(double, (gsize)(NOISE_GROUPS + 1) * job->nf);
    g_autofree double *all = g_new0(double, job->nf);
    for (int f = 0; f < job->nf; f++) {
        const LithoLevelMean *m = means + (gsize)f * sets;
        all[f] = m[0].n > 0 ? sqrt(m[0].mean) : 0;
        for (int row = 0; row < rows; row++) {
            const LithoLevelMean *halves = m + 1 + 2 * row;
            const gint64 n = halves[0].n + halves[1].n;
            const double sum = halves[0].n * halves[0].mean + halves[1].n * halves[1].mean;
            sigma[(gsize)row * job->nf + f] = n > 0 ? sqrt(sum / n) : 0;
        }
    }
    noise_conclude(job, interval, all, sigma, sigma, noise);
}

static int most_windows(NoiseJob *const *jobs, int n)
{
    gint64 most = 0;
    for (int k = 0; k < n; k++)
        most = MAX(most, jobs[k]->windows);
    return (int)most;
}

static gboolean fetch(PatchPlan *p, gpointer to, gconstpointer from, gsize bytes, GError **error)
{
    return LITHO_CUDA(
        cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, litho_cuda_stream(p->context)),
        error);
}

// Sums over the cells stand before the cells' own means.
static gboolean reserve_below(PatchPlan *p, int n_jobs, int nf, gsize nk, LithoLevelBelow **below,
                              GError **error)
{
    const gsize sums = nf * nk * sizeof(gint64);
    if (!litho_cuda_reserve(p->context, &p->level_below,
                            sums + (gsize)n_jobs * nf * sizeof(LithoLevelBelow), error))
        return FALSE;
    *below = (gpointer)((char *)p->level_below.data + sums);
    return LITHO_CUDA(cudaMemsetAsync(p->level_below.data, 0, sums, litho_cuda_stream(p->context)),
                      error);
}

static gboolean floors(PatchPlan *p, const LithoLevelTask *t, int nf, gsize nk, GError **error)
{
    cudaStream_t stream = litho_cuda_stream(p->context);
    LithoLevelBelow *below;
    return litho_cuda_reserve(p->context, &p->level_floor, t->n_jobs * nf * nk * sizeof(float),
                              error) &&
           reserve_below(p, t->n_jobs, nf, nk, &below, error) &&
           LITHO_CUDA(litho_noise_floor_launch(t->power, t->share, t->jobs, t->n_jobs, nf, (int)nk,
                                               NOISE_FLOOR_PART, NOISE_FLOOR_WINDOWS,
                                               p->level_floor.data, stream),
                      error) &&
           LITHO_CUDA(litho_level_below(t, p->level_floor.data, PATCH_FLOOR_UNIT, below,
                                        p->level_below.data, stream),
                      error);
}

// Means, and the floors where they are asked for.
static gboolean launch_levels(PatchPlan *p, LithoLevelTask *t, gboolean whole, int most, int nf,
                              gsize nk, gboolean floor, GError **error)
{
    cudaStream_t stream = litho_cuda_stream(p->context);
    const gint64 frequencies = (gint64)t->n_jobs * nf;
    if (!whole && floor && litho_level_takes_cells(t, most)) {
        LithoLevelBelow *below;
        return litho_cuda_reserve(p->context, &p->level_means,
                                  frequencies * LITHO_LEVEL_SETS(FALSE) * sizeof(LithoLevelMean),
                                  error) &&
               reserve_below(p, t->n_jobs, nf, nk, &below, error) &&
               LITHO_CUDA(litho_level_cells(t, most, NOISE_FLOOR_PART, NOISE_FLOOR_WINDOWS,
                                            PATCH_FLOOR_UNIT, p->level_means.data, below,
                                            p->level_below.data, stream),
                          error);
    }
    if (!litho_cuda_reserve(p->context, &p->level_quiet, 2 * frequencies * nk, error) ||
        !litho_cuda_reserve(p->context, &p->level_means,
                            litho_level_means_bytes(whole, frequencies, most), error))
        return FALSE;
    t->quiet = p->level_quiet.data;
    return LITHO_CUDA(litho_level_quiet(t, stream), error) &&
           LITHO_CUDA(litho_level_means(t, whole, most, p->level_means.data, stream), error) &&
           (!floor || floors(p, t, nf, nk, error));
}

static gboolean levels(gpointer data, gboolean whole, LithoNoiseWindows *const *jobs, int n,
                       LithoNoise *noise, PatchFloorSums *floor, LithoRun *run, GError **error)
{
    PatchPlan *p = data;
    const int nf = jobs[0]->nf, sets = LITHO_LEVEL_SETS(whole), most = most_windows(jobs, n);
    const gsize nk = noise_wavenumbers(jobs[0]), windows = windows_of(jobs, n);
    const gsize n_means = (gsize)n * nf * sets, n_below = floor ? (gsize)n * nf : 0;
    const gsize sums = nf * nk * sizeof(gint64);
    cudaStream_t stream = litho_cuda_stream(p->context);
    g_autofree LithoLevelMean *means = g_new(LithoLevelMean, n_means);
    g_autofree LithoLevelBelow *below = g_new(LithoLevelBelow, n_below);
    g_autofree float *share = g_new(float, windows);
    LithoLevelTask t;
    if (!make_task(p, whole, jobs, n, &t, error) || !upload_flags(p, jobs, n, error))
        return FALSE;
    t.flags = p->level_flags.data;
    litho_cuda_mark(p->context, "noise level", LITHO_STAGE_COMPUTE,
                    4.0 * windows * nf * nk * (whole ? 20 : 12), 0);
    if (!launch_levels(p, &t, whole, most, nf, nk, floor != NULL, error) ||
        !fetch(p, means, p->level_means.data, n_means * sizeof *means, error) ||
        !fetch(p, share, t.share, windows * sizeof *share, error) ||
        (floor &&
         (!fetch(p, floor->sum, p->level_below.data, sums, error) ||
          !fetch(p, below, (char *)p->level_below.data + sums, n_below * sizeof *below, error))) ||
        !litho_cuda_step(p->context, run, 1, 1, error) ||
        !LITHO_CUDA(cudaStreamSynchronize(stream), error))
        return FALSE;
    for (gsize k = 0; k < n_below; k++) {
        floor->mean[k] = below[k].mean;
        floor->below[k] = below[k].below;
    }
    gsize at = 0;
    for (int k = 0; k < n; k++) {
        for (gint64 w = 0; w < jobs[k]->windows; w++)
            jobs[k]->share[w] = share[at++];
        noise[k] = (LithoNoise){0};
        if (noise_has_windows(jobs[k]))
            conclude(jobs[k], whole, means + (gsize)k * nf * sets, &noise[k]);
    }
    return TRUE;
}

static float *quiet(gpointer data, LithoNoiseWindows *whole, LithoRun *run, GError **error)
{
    PatchPlan *p = data;
    const gsize windows = whole->windows, values = 2 * windows * whole->nf;
    cudaStream_t stream = litho_cuda_stream(p->context);
    g_autofree float *values_there = g_new(float, values);
    LithoLevelTask t;
    if (!make_task(p, TRUE, &whole, 1, &t, error) ||
        !litho_cuda_reserve(p->context, &p->level_ranks, values * sizeof(float), error) ||
        !LITHO_CUDA(litho_level_ranks(&t, (int)windows, (int)noise_map_rank(whole),
                                      p->level_ranks.data, stream),
                    error) ||
        !fetch(p, values_there, p->level_ranks.data, values * sizeof(float), error) ||
        !fetch(p, whole->muted, p->level_muted.data, windows * sizeof(float), error) ||
        !litho_cuda_step(p->context, run, 1, 1, error) ||
        !LITHO_CUDA(cudaStreamSynchronize(stream), error))
        return NULL;
    return g_steal_pointer(&values_there);
}

static gboolean floors_of_whole(gpointer data, LithoNoiseWindows *whole, float *tenth, float *half,
                                LithoRun *run, GError **error)
{
    PatchPlan *p = data;
    const int nf = whole->nf;
    const gsize nk = noise_wavenumbers(whole), bytes = nf * nk * sizeof(float);
    LithoLevelTask t;
    if (!make_task(p, TRUE, &whole, 1, &t, error) ||
        !litho_cuda_reserve(p->context, &p->level_floor, bytes, error))
        return FALSE;
    for (int k = 0; k < 2; k++)
        if (!LITHO_CUDA(litho_noise_floor_launch(t.power, t.share, t.jobs, 1, nf, (int)nk,
                                                 k ? 0.5 : NOISE_FLOOR_PART, NOISE_FLOOR_WINDOWS,
                                                 p->level_floor.data,
                                                 litho_cuda_stream(p->context)),
                        error) ||
            !fetch(p, k ? half : tenth, p->level_floor.data, bytes, error))
            return FALSE;
    return litho_cuda_step(p->context, run, 1, 1, error) &&
           LITHO_CUDA(cudaStreamSynchronize(litho_cuda_stream(p->context)), error);
}

PatchMeter patch_meter(PatchPlan *p)
{
    return (PatchMeter){.data = p,
                        .clean = clean,
                        .spectra = spectra,
                        .levels = levels,
                        .quiet = quiet,
                        .floors = floors_of_whole};
}
