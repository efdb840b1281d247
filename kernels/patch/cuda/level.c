// SPDX-License-Identifier: GPL-3.0-or-later
//
// Bursts and the level of the noise on a device: what a plan lends to levels.c as its PatchMeter.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "kernels/common/noise_job.h"
#include "kernels/patch/cuda/level.h"
#include "kernels/patch/cuda/plan.h"

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

// Windows that are taken now.
static GArray *list_places(NoiseJob *const *jobs, int n, const LithoCube *part, LithoBox within)
{
    GArray *places = g_array_new(FALSE, FALSE, sizeof(LithoLevelPlace));
    for (int k = 0; k < n; k++) {
        NoiseJob *job = jobs[k];
        job->within = litho_box_intersect(within, part->held);
        for (gint64 w = 0; w < job->windows; w++) {
            LithoLevelPlace place = {.job = k, .window = (int)w};
            if (job->taken[w] || !noise_holds(job, w))
                continue;
            for (int a = 0; a < 3; a++)
                place.at[a] = noise_start_of(job, a, noise_place_of(job, w, a));
            g_array_append_val(places, place);
            job->taken[w] = 1;
        }
    }
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
            !litho_cuda_step(p->context, run, at + count, places->len, error))
            return FALSE;
    }
    // The part may go before the levels are asked for.
    return LITHO_CUDA(cudaStreamSynchronize(litho_cuda_stream(p->context)), error);
}

// --- levels --------------------------------------------------------------------------------------

static gboolean upload_flags(PatchPlan *p, NoiseJob *const *jobs, int n, GError **error)
{
    g_autofree guint8 *flags = g_malloc(windows_of(jobs, n));
    gsize at = 0;
    for (int k = 0; k < n; k++)
        for (gint64 w = 0; w < jobs[k]->windows; w++)
            flags[at++] = (guint8)((noise_half_of(jobs[k], w) ? LITHO_LEVEL_HALF : 0) |
                                   (noise_may_choose(jobs[k], w, 0) ? LITHO_LEVEL_CHOOSES_0 : 0) |
                                   (noise_may_choose(jobs[k], w, 1) ? LITHO_LEVEL_CHOOSES_1 : 0));
    return litho_cuda_put(p->context, &p->level_flags, flags, at, error);
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

static gboolean levels(gpointer data, gboolean whole, LithoNoiseWindows *const *jobs, int n,
                       LithoNoise *noise, float *floor, LithoRun *run, GError **error)
{
    PatchPlan *p = data;
    const int nf = jobs[0]->nf, sets = LITHO_LEVEL_SETS(whole);
    const gsize nk = noise_wavenumbers(jobs[0]), windows = windows_of(jobs, n);
    const gsize n_means = (gsize)n * nf * sets, n_floor = floor ? (gsize)n * nf * nk : 0;
    cudaStream_t stream = litho_cuda_stream(p->context);
    g_autofree LithoLevelMean *means = g_new(LithoLevelMean, n_means);
    g_autofree float *share = g_new(float, windows);
    LithoLevelTask t;
    if (!make_task(p, whole, jobs, n, &t, error) || !upload_flags(p, jobs, n, error) ||
        !litho_cuda_reserve(p->context, &p->level_quiet, 2 * n * nf * nk, error) ||
        !litho_cuda_reserve(p->context, &p->level_means, n_means * sizeof *means, error) ||
        (floor && !litho_cuda_reserve(p->context, &p->level_floor, n_floor * sizeof *floor, error)))
        return FALSE;
    t.flags = p->level_flags.data;
    t.quiet = p->level_quiet.data;
    litho_cuda_mark(p->context, "noise level", LITHO_STAGE_COMPUTE,
                    4.0 * windows * nf * nk * (whole ? 20 : 12), 0);
    if (!LITHO_CUDA(litho_level_quiet(&t, stream), error) ||
        !LITHO_CUDA(litho_level_means(&t, whole, p->level_means.data, stream), error) ||
        !LITHO_CUDA(cudaMemcpyAsync(means, p->level_means.data, n_means * sizeof *means,
                                    cudaMemcpyDeviceToHost, stream),
                    error) ||
        !LITHO_CUDA(cudaMemcpyAsync(share, t.share, windows * sizeof *share, cudaMemcpyDeviceToHost,
                                    stream),
                    error) ||
        (floor && (!LITHO_CUDA(litho_noise_floor_launch(t.power, t.share, t.jobs, n, nf, (int)nk,
                                                        NOISE_FLOOR_PART, NOISE_FLOOR_WINDOWS,
                                                        p->level_floor.data, stream),
                               error) ||
                   !LITHO_CUDA(cudaMemcpyAsync(floor, p->level_floor.data, n_floor * sizeof *floor,
                                               cudaMemcpyDeviceToHost, stream),
                               error))) ||
        !litho_cuda_step(p->context, run, 1, 1, error) ||
        !LITHO_CUDA(cudaStreamSynchronize(stream), error))
        return FALSE;
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

PatchMeter patch_meter(PatchPlan *p)
{
    return (PatchMeter){.data = p, .clean = clean, .spectra = spectra, .levels = levels};
}
