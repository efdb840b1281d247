// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "kernels/wavepacket/apply.h"

// --- blocks -----------------------------------------------------------------------------------

static int blocks_along(gint64 n, gint64 block, gint64 overlap)
{
    return n <= block ? 1 : (int)((n - overlap + block - overlap - 1) / (block - overlap));
}

// The last block is moved back to end with the volume: it overlaps more.
static gint64 block_start(gint64 n, gint64 block, gint64 overlap, int b)
{
    return MAX(MIN(b * (block - overlap), n - block), 0);
}

// Square roots of weights that sum to one over the blocks along an axis. Inside an overlap of O
// samples the weight rises as S((t + 1/2)/O); ends of the volume are not tapered.
static float *make_tapers(const WpTiling *tiling, gint64 n, gint64 block, gint64 overlap)
{
    const int count = blocks_along(n, block, overlap);
    float *taper = g_new(float, count * block);
    g_autofree double *sum = g_new0(double, n);
    for (int b = 0; b < count; b++) {
        gint64 start = block_start(n, block, overlap, b);
        gint64 before = b > 0 ? block_start(n, block, overlap, b - 1) + block - start : 0;
        gint64 after = b + 1 < count ? start + block - block_start(n, block, overlap, b + 1) : 0;
        for (gint64 i = 0; i < block; i++) {
            double w = 1;
            if (i < before)
                w *= wp_step(tiling, (i + 0.5) / before);
            if (i >= block - after)
                w *= 1 - wp_step(tiling, (i - (block - after) + 0.5) / after);
            taper[b * block + i] = (float)w;
            sum[start + i] += w;
        }
    }
    for (int b = 0; b < count; b++)
        for (gint64 i = 0; i < block; i++) {
            float *t = &taper[b * block + i];
            *t = (float)sqrt(*t / sum[block_start(n, block, overlap, b) + i]);
        }
    return taper;
}

static void make_blocks(WpJob *job, gint64 overlap)
{
    int count[3];
    const gint64 *m = job->spec.n;
    for (int a = 0; a < 3; a++) {
        count[a] = blocks_along(job->n[a], m[a], overlap);
        if (count[a] > 1)
            job->tapers[a] = make_tapers(job->geometry->tiling, job->n[a], m[a], overlap);
    }
    job->n_blocks = count[0] * count[1] * count[2];
    job->blocks = g_new0(WpBlock, job->n_blocks);
    for (int b = 0; b < job->n_blocks; b++) {
        const int at[3] = {b / (count[1] * count[2]), b / count[2] % count[1], b % count[2]};
        for (int a = 0; a < 3; a++) {
            job->blocks[b].at[a] = block_start(job->n[a], m[a], overlap, at[a]);
            job->blocks[b].taper[a] = job->tapers[a] ? job->tapers[a] + at[a] * m[a] : NULL;
        }
    }
}

// --- life -------------------------------------------------------------------------------------

WpJob *wp_job_new(const LithoGrid *in, const LithoWavepacketParams *p, WpEngineNew make,
                  LithoRun *run, GError **error)
{
    WpJob *job = g_new0(WpJob, 1);
    job->grid = *in;
    job->samples = litho_grid_samples(in);
    job->current = -1;
    job->spec = (WpSpec){.design = (WpDesignKind)p->design, .scales = p->scales,
                         .directions = p->directions, .kernel = (WpKernelKind)p->kernel,
                         .width = p->kernel_width, .oversampling = p->oversampling};
    for (int a = 0; a < 3; a++) {
        job->n[a] = in->axis[a].n;
        job->spec.n[a] = p->block > 0 ? MIN(p->block, job->n[a]) : job->n[a];
    }
    job->geometry = wp_geometry_new(&job->spec, run, error);
    job->engine = job->geometry ? make(job->geometry, p->adjoint, run, error) : NULL;
    if (!job->engine) {
        wp_job_free(job);
        return NULL;
    }
    gint64 overlap = MAX(MAX(p->overlap, 16), p->block / 8);
    make_blocks(job, p->block > 0 ? MIN(overlap, p->block / 2) : 0);
    job->c = g_new0(float *, job->n_blocks);
    job->stats = g_new0(WpBoxStats, job->geometry->n_boxes);
    job->counts = g_new0(double, WP_BINS);
    job->kept = g_new0(guint64, job->geometry->n_boxes);
    return job;
}

void wp_job_free(WpJob *job)
{
    if (job->engine) {
        const WpEngineClass *k = job->engine->class;
        float *arrays[] = {job->volume, job->result, job->u, job->v, job->w, job->x,
                           job->d, job->e, job->f, job->shared ? job->c[0] : NULL};
        for (guint i = 0; i < G_N_ELEMENTS(arrays); i++)
            k->release(job->engine, arrays[i]);
        for (int b = 0; !job->shared && b < job->n_blocks; b++)
            k->release(job->engine, job->c[b]);
    }
    wp_probes_free(job);
    wp_engine_free(job->engine);
    wp_geometry_free(job->geometry);
    for (int a = 0; a < 3; a++)
        g_free(job->tapers[a]);
    g_free(job->blocks);
    g_free(job->c);
    g_free(job->stats);
    g_free(job->counts);
    g_free(job->kept);
    g_free(job);
}

gboolean wp_job_reserve(WpJob *job, float **array, gint64 floats, GError **error)
{
    if (!*array)
        *array = job->engine->class->alloc(job->engine, floats, error);
    return *array != NULL;
}

// --- blocks in and out --------------------------------------------------------------------------

static gint64 block_samples(const WpJob *job)
{
    return job->spec.n[0] * job->spec.n[1] * job->spec.n[2];
}

const float *wp_job_cut(WpJob *job, const float *volume, int b, GError **error)
{
    if (job->n_blocks == 1)
        return volume;
    if (!wp_job_reserve(job, &job->u, block_samples(job), error) ||
        !job->engine->class->cut(job->engine, volume, job->n, &job->blocks[b], job->u, error))
        return NULL;
    return job->u;
}

float *wp_job_target(WpJob *job, float *volume)
{
    return job->n_blocks == 1 ? volume : job->u;
}

gboolean wp_job_paste(WpJob *job, const float *u, int b, float *volume, GError **error)
{
    return job->n_blocks == 1 ||
           job->engine->class->paste(job->engine, u, &job->blocks[b], volume, job->n, error);
}

gboolean wp_job_clear(WpJob *job, float *volume, GError **error)
{
    return job->n_blocks == 1 ||
           job->engine->class->blend(job->engine, 0, volume, 0, volume, job->samples, error);
}

void wp_job_forget_kept(WpJob *job)
{
    memset(job->kept, 0, job->geometry->n_boxes * sizeof *job->kept);
}

guint64 wp_job_kept(const WpJob *job)
{
    guint64 sum = 0;
    for (int b = 0; b < job->geometry->n_boxes; b++)
        sum += job->kept[b];
    return sum;
}

// --- forward stage --------------------------------------------------------------------------------

// Every block its own coefficients if they fit into half of what the engine has left.
static gboolean reserve_coefficients(WpJob *job, GError **error)
{
    const gint64 floats = job->geometry->floats;
    if (job->c[0])
        return TRUE;
    const guint64 have = job->engine->class->available(job->engine);
    const guint64 need = sizeof(float) * (guint64)floats * job->n_blocks;
    job->shared = job->n_blocks > 1 && need > have / 2;
    for (int b = 0; b < job->n_blocks; b++)
        if (job->shared && b > 0)
            job->c[b] = job->c[0];
        else if (!wp_job_reserve(job, &job->c[b], floats, error))
            return FALSE;
    return TRUE;
}

float *wp_job_coefficients(WpJob *job, int b, LithoRun *run, GError **error)
{
    if (!job->shared && job->transformed)
        return job->c[b];
    if (job->shared && job->current == b)
        return job->c[b];
    job->current = -1;
    const float *u = wp_job_cut(job, job->volume, b, error);
    if (!u || !job->engine->class->forward(job->engine, u, job->c[b], run, error))
        return NULL;
    job->current = b;
    return job->c[b];
}

static int compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// What the thresholds and the picture need to know of a block's coefficients.
static gboolean look_at_block(WpJob *job, const float *c, double *sigma, GError **error)
{
    const WpGeometry *g = job->geometry;
    const WpEngineClass *k = job->engine->class;
    g_autofree WpBoxStats *stats = g_new0(WpBoxStats, g->n_boxes);
    g_autofree float *scale = g_new(float, g->n_boxes);
    g_autofree WpHistogram *h = g_new0(WpHistogram, 1);
    for (int b = 0; b < g->n_boxes; b++)
        scale[b] = (float)(1 / g->boxes[b].sigma);
    h->scale = scale;
    h->prefix = -1;
    if (!k->stats(job->engine, c, stats, error) || !k->histogram(job->engine, c, h, error))
        return FALSE;
    for (int b = 0; b < g->n_boxes; b++) {
        job->stats[b].energy += stats[b].energy;
        job->stats[b].peak = MAX(job->stats[b].peak, stats[b].peak);
        if (g->boxes[b].kind != WP_COARSE)
            job->peak = MAX(job->peak, stats[b].peak / g->boxes[b].sigma);
    }
    for (int i = 0; i < WP_BINS; i++)
        job->counts[i] += h->bins[i];
    *sigma = wp_estimate_sigma(job, c, error);
    return *sigma >= 0;
}

static gboolean stage_forward(WpJob *job, const LithoCube *in, LithoRun *run, GError **error)
{
    const WpEngineClass *k = job->engine->class;
    job->transformed = FALSE;
    job->current = -1;
    job->peak = 0;
    memset(job->stats, 0, job->geometry->n_boxes * sizeof *job->stats);
    memset(job->counts, 0, WP_BINS * sizeof *job->counts);
    if (!wp_job_reserve(job, &job->volume, job->samples, error) ||
        !wp_job_reserve(job, &job->result, job->samples, error) ||
        !reserve_coefficients(job, error) ||
        !k->load(job->engine, in, job->volume, run, error) ||
        !k->dot(job->engine, job->volume, job->volume, job->samples, &job->input_energy, error))
        return FALSE;
    g_autofree double *sigma = g_new(double, job->n_blocks);
    int used = 0;
    litho_run_begin(run, "forward", "blocks");
    for (int b = 0; b < job->n_blocks; b++) {
        if (!litho_run_step(run, b, job->n_blocks, error))
            return FALSE;
        const float *c = wp_job_coefficients(job, b, run, error);
        if (!c || !look_at_block(job, c, &sigma[used], error))
            return FALSE;
        used += sigma[used] > 0;
    }
    qsort(sigma, used, sizeof *sigma, compare_double);
    job->sigma = used ? sigma[used / 2] : 0;
    job->transformed = TRUE;
    wp_report_spectrum(job, run);
    return litho_run_step(run, job->n_blocks, job->n_blocks, error);
}

// --- a pass -------------------------------------------------------------------------------------

// Dead traces come back as they came, but interpolation, which is there to fill them.
static gboolean restore_dead(WpJob *job, const LithoCube *in, GError **error)
{
    const gint64 traces = litho_grid_traces(&job->grid);
    if (litho_cube_count_live(in) == traces)
        return TRUE;
    g_autofree float *dead = g_new(float, traces);
    for (gint64 t = 0; t < traces; t++)
        dead[t] = in->live[t] ? 0 : 1;
    return job->engine->class->insert(job->engine, job->volume, dead, job->result, traces,
                                      job->n[2], error);
}

static gboolean run_mode(WpJob *job, const LithoWavepacketParams *p, const LithoCube *in,
                         LithoRun *run, GError **error)
{
    switch (p->mode) {
    case WP_COMPRESS:
        return wp_compress(job, p, run, error) && restore_dead(job, in, error);
    case WP_INTERPOLATE:
        return wp_interpolate(job, p, in, run, error);
    case WP_RECONSTRUCT:
        return wp_reconstruct(job, p, run, error) && restore_dead(job, in, error);
    default:
        return wp_denoise(job, p, run, error) && restore_dead(job, in, error);
    }
}

gboolean wp_job_run(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error)
{
    const LithoWavepacketParams *p = pass->params;
    const WpEngineClass *k = job->engine->class;
    if (!k->begin(job->engine, run, error))
        return FALSE;
    if ((pass->first_stage <= WP_STAGE_FORWARD || !job->transformed) &&
        !stage_forward(job, pass->in, run, error))
        return FALSE;
    if (pass->first_stage > WP_STAGE_FORWARD)
        wp_report_spectrum(job, run); // the report is new with each pass
    if (!run_mode(job, p, pass->in, run, error) ||
        !wp_report_error(job, run, "snr", error) ||
        !k->store(job->engine, job->result, pass->out, error))
        return FALSE;
    if (p->mode == WP_INTERPOLATE)
        memset(pass->out->live, 1, litho_grid_traces(&job->grid));
    return k->finish(job->engine, run, error);
}
