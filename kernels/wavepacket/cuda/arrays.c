// SPDX-License-Identifier: GPL-3.0-or-later
//
// The CUDA engine's operations on arrays.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "kernels/wavepacket/cuda/wavepacket.h"
#include "kernels/wavepacket/local.h"

// The context's stream, behind what a threshold has left. A failure is told by the next call.
static cudaStream_t stream_of(WpCuda *cuda)
{
    wp_cuda_settle(cuda, NULL);
    return litho_cuda_stream(cuda->context);
}

static gboolean cuda_begin(WpEngine *engine, LithoRun *run, GError **error)
{
    (void)run;
    WpCuda *cuda = (WpCuda *)engine;
    if (!litho_cuda_enter(cuda->context, error))
        return FALSE;
    cuda->residual_due = FALSE;
    cuda->counts_to = NULL;
    cuda->due = (WpDue){0};
    // A pass that failed half way may have left work beside the context's stream.
    for (int i = 0; i < WP_LANES_BESIDE; i++)
        if (!LITHO_CUDA(cudaStreamSynchronize(cuda->beside[i]), error))
            return FALSE;
    return TRUE;
}

static gboolean cuda_finish(WpEngine *engine, LithoRun *run, GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    return wp_cuda_settle(cuda, error) && litho_cuda_finish(cuda->context, run, error);
}

static guint64 cuda_available(WpEngine *engine)
{
    guint64 available = 0, total;
    litho_cuda_memory(litho_cuda_device(((WpCuda *)engine)->context), &available, &total, NULL);
    return available;
}

// Floats of an array that may be one of coefficients.
static gint64 count_of(const WpEngine *engine, gint64 n)
{
    return n == WP_COEFFICIENTS ? engine->geometry->floats : n;
}

static float *cuda_alloc(WpEngine *engine, gint64 floats, GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    floats = count_of(engine, floats);
    const size_t bytes = MAX(floats, 16) * sizeof(float);
    void *data = NULL;
    if (!litho_cuda_alloc(litho_cuda_device(cuda->context), &data, bytes, error))
        return NULL;
    if (LITHO_CUDA(cudaMemsetAsync(data, 0, bytes, stream_of(cuda)), error))
        return data;
    litho_cuda_free(litho_cuda_device(cuda->context), data);
    return NULL;
}

static void cuda_release(WpEngine *engine, float *array)
{
    WpCuda *cuda = (WpCuda *)engine;
    if (!array || !litho_cuda_use(litho_cuda_device(cuda->context), NULL))
        return;
    cudaStreamSynchronize(stream_of(cuda));
    for (int i = 0; i < WP_LANES_BESIDE;
         i++) // a transform that failed half way may not have joined them
        cudaStreamSynchronize(cuda->beside[i]);
    litho_cuda_free(litho_cuda_device(cuda->context), array);
}

static gboolean wait_for(WpCuda *cuda, GError **error)
{
    return LITHO_CUDA(cudaStreamSynchronize(stream_of(cuda)), error);
}

static gboolean cuda_attach(WpEngine *engine, GError **error)
{
    return litho_cuda_use(litho_cuda_device(((WpCuda *)engine)->context), error);
}

static gboolean cuda_wait(WpEngine *engine, GError **error)
{
    return wait_for((WpCuda *)engine, error) && wp_cuda_settle_counts((WpCuda *)engine, error);
}

static gboolean cuda_download(WpEngine *engine, const float *array, gint64 at, float *to, gint64 n,
                              GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    return LITHO_CUDA(cudaMemcpyAsync(to, array + at, n * sizeof *to, cudaMemcpyDeviceToHost,
                                      stream_of(cuda)),
                      error) &&
           wait_for(cuda, error);
}

// Together on the device first: one copy over the bus instead of many.
static gboolean cuda_fetch(WpEngine *engine, const float *array, const WpPiece *pieces, int n,
                           float *to, GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    gint64 all = 0, at = 0;
    for (int i = 0; i < n; i++)
        all += pieces[i].n;
    if (!litho_cuda_reserve(cuda->context, &cuda->fetched, all * sizeof *to, error))
        return FALSE;
    for (int i = 0; i < n; at += pieces[i++].n)
        if (!LITHO_CUDA(cudaMemcpyAsync((float *)cuda->fetched.data + at, array + pieces[i].at,
                                        pieces[i].n * sizeof *to, cudaMemcpyDeviceToDevice,
                                        cuda->fetching),
                        error))
            return FALSE;
    return LITHO_CUDA(cudaMemcpyAsync(to, cuda->fetched.data, all * sizeof *to,
                                      cudaMemcpyDeviceToHost, cuda->fetching),
                      error) &&
           LITHO_CUDA(cudaStreamSynchronize(cuda->fetching), error);
}

// The boxes that a threshold leaves to the FFTs are not waited for where others are written.
static gboolean cuda_upload(WpEngine *engine, const float *from, float *array, gint64 at, gint64 n,
                            GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    cudaStream_t stream = array == cuda->due.to && at + n <= wp_cuda_first_due(cuda)
                              ? litho_cuda_stream(cuda->context)
                              : stream_of(cuda);
    return LITHO_CUDA(
               cudaMemcpyAsync(array + at, from, n * sizeof *from, cudaMemcpyHostToDevice, stream),
               error) &&
           LITHO_CUDA(cudaStreamSynchronize(stream), error);
}

// Direct between cards that can, through the host between others: CUDA sees to it.
static gboolean cuda_take(WpEngine *engine, float *to, const WpEngine *other, const float *from,
                          gint64 at, gint64 n, gboolean add, GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    const WpCuda *source = (const WpCuda *)other;
    float *target = to + at;
    if (add) {
        if (!litho_cuda_reserve(cuda->context, &cuda->foreign, n * sizeof *to, error))
            return FALSE;
        target = cuda->foreign.data;
    }
    return LITHO_CUDA(cudaMemcpyPeerAsync(target, cuda->ordinal, from + at, source->ordinal,
                                          n * sizeof *to, stream_of(cuda)),
                      error) &&
           (!add || LITHO_CUDA(wp_cuda_blend(1, target, 1, to + at, n, stream_of(cuda)), error));
}

// A threshold that is due has its levels in `small`.
static gboolean reserve_small(WpCuda *cuda, size_t bytes, GError **error)
{
    return wp_cuda_settle(cuda, error) &&
           litho_cuda_reserve(cuda->context, &cuda->small, bytes, error);
}

// `small` = [n_boxes floats][rest], all set by the caller's copies in stream order.
static gboolean send_per_box(WpCuda *cuda, const float *values, size_t rest, void **tail,
                             GError **error)
{
    const size_t bytes = (cuda->engine.geometry->n_boxes * sizeof(float) + 255) / 256 * 256;
    if (!reserve_small(cuda, bytes + rest, error) ||
        !LITHO_CUDA(cudaMemcpyAsync(cuda->small.data, values,
                                    cuda->engine.geometry->n_boxes * sizeof(float),
                                    cudaMemcpyHostToDevice, stream_of(cuda)),
                    error))
        return FALSE;
    *tail = (char *)cuda->small.data + bytes;
    return LITHO_CUDA(cudaMemsetAsync(*tail, 0, rest, stream_of(cuda)), error);
}

// Pieces of all boxes.
static gint64 count_pieces(const WpCuda *cuda)
{
    const int n = cuda->engine.geometry->n_boxes;
    const WpDevBox *last = cuda->host_boxes + n - 1;
    return n > 0 ? last->first_piece + wp_pieces_of(last->floats) : 0;
}

// One reading of the coefficients: `h` NULL = no histogram, `per_box` NULL = no sums. In `small`
// lie the scales, the bins, sums of the boxes, and those of the pieces.
static gboolean look_at(WpCuda *cuda, const float *c, WpBoxStats *per_box, WpHistogram *h,
                        GError **error)
{
    const WpGeometry *g = cuda->engine.geometry;
    const gint64 pieces = count_pieces(cuda);
    const size_t bins = h ? WP_BINS * sizeof(guint32) : 0, sums = 2 * g->n_boxes * sizeof(double);
    const size_t fetched = bins + (per_box ? sums : 0);
    const size_t all = fetched + (per_box ? 2 * (size_t)pieces * sizeof(double) : 0);
    g_autofree char *host = g_malloc(fetched);
    g_autofree float *none = h ? NULL : g_new0(float, g->n_boxes);
    void *tail;
    if (!send_per_box(cuda, h ? h->scale : none, all, &tail, error))
        return FALSE;
    double *of_box = per_box ? (void *)((char *)tail + bins) : NULL;
    litho_cuda_mark(cuda->context, "statistics", LITHO_STAGE_COMPUTE, 4.0 * (double)g->floats, 0);
    if (!LITHO_CUDA(wp_cuda_look(cuda->boxes.data, g->n_boxes, pieces, cuda->small.data,
                                 h ? h->prefix : -1, c, h ? tail : NULL,
                                 per_box ? of_box + 2 * g->n_boxes : NULL, of_box, stream_of(cuda)),
                    error))
        return FALSE;
    litho_cuda_mark_end(cuda->context);
    if (!LITHO_CUDA(cudaMemcpyAsync(host, tail, fetched, cudaMemcpyDeviceToHost, stream_of(cuda)),
                    error) ||
        !wait_for(cuda, error))
        return FALSE;
    for (int i = 0; h && i < WP_BINS; i++)
        h->bins[i] = ((const guint32 *)(void *)host)[i];
    const double *sum = (const void *)(host + bins);
    for (int b = 0; per_box && b < g->n_boxes; b++)
        per_box[b] = (WpBoxStats){.energy = sum[2 * b], .peak = sqrt(sum[2 * b + 1])};
    return TRUE;
}

static gboolean cuda_histogram(WpEngine *engine, const float *c, WpHistogram *h, GError **error)
{
    return look_at((WpCuda *)engine, c, NULL, h, error);
}

static gboolean cuda_stats(WpEngine *engine, const float *c, WpBoxStats *per_box, WpHistogram *h,
                           GError **error)
{
    return look_at((WpCuda *)engine, c, per_box, h, error);
}

static gboolean cuda_blend(WpEngine *engine, double a, const float *x, double b, float *y, gint64 n,
                           GError **error)
{
    cudaStream_t stream = stream_of((WpCuda *)engine);
    n = count_of(engine, n);
    if (a == 0 && b == 0)
        return LITHO_CUDA(cudaMemsetAsync(y, 0, n * sizeof *y, stream), error);
    return LITHO_CUDA(wp_cuda_blend(a, x, b, y, n, stream), error);
}

// The sum of what a kernel left in `small`, block by block.
static gboolean sum_parts(WpCuda *cuda, double *result, GError **error)
{
    double parts[WP_PARTS];
    if (!LITHO_CUDA(cudaMemcpyAsync(parts, cuda->small.data, sizeof parts, cudaMemcpyDeviceToHost,
                                    stream_of(cuda)),
                    error) ||
        !wait_for(cuda, error))
        return FALSE;
    *result = 0;
    for (int i = 0; i < WP_PARTS; i++)
        *result += parts[i];
    return TRUE;
}

static gboolean cuda_dot(WpEngine *engine, const float *x, const float *y, gint64 n, double *result,
                         GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    return reserve_small(cuda, WP_PARTS * sizeof(double), error) &&
           LITHO_CUDA(wp_cuda_dot(x, y, count_of(engine, n), cuda->small.data, stream_of(cuda)),
                      error) &&
           sum_parts(cuda, result, error);
}

static gboolean cuda_distance(WpEngine *engine, const float *x, const float *y, const float *m,
                              gint64 traces, gint64 n3, double *result, GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    return reserve_small(cuda, WP_PARTS * sizeof(double), error) &&
           LITHO_CUDA(wp_cuda_distance(x, y, m, traces, n3, cuda->small.data, stream_of(cuda)),
                      error) &&
           sum_parts(cuda, result, error);
}

static gboolean cuda_insert(WpEngine *engine, const float *x, const float *m, float *y,
                            gint64 traces, gint64 n3, GError **error)
{
    return LITHO_CUDA(wp_cuda_insert(x, m, y, traces, n3, stream_of((WpCuda *)engine)), error);
}

// Knots, `n` levels and `rest` bytes of something else, one behind the other on the device.
static gboolean send_places(WpCuda *cuda, const LithoNoiseMap *map, const float *level, gsize n,
                            gconstpointer more, gsize rest, WpPlaces *places, GError **error)
{
    const gsize knots = (gsize)map->n[0] + map->n[1] + map->n[2];
    g_autofree float *all = g_malloc((knots + n) * sizeof *all + rest);
    memcpy(all, map->at, knots * sizeof *all);
    memcpy(all + knots, level, n * sizeof *all);
    if (rest > 0)
        memcpy(all + knots + n, more, rest);
    if (!wp_cuda_send(cuda, &cuda->places, all, (knots + n) * sizeof *all + rest, error))
        return FALSE;
    const float *sent = cuda->places.data;
    *places = (WpPlaces){.n = {map->n[0], map->n[1], map->n[2]},
                         .at = {sent, sent + map->n[0], sent + map->n[0] + map->n[1]},
                         .level = sent + knots};
    return TRUE;
}

static gboolean cuda_scale(WpEngine *engine, const LithoNoiseMap *map, gboolean over,
                           const gint64 at[3], const gint64 n[3], float *volume, GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    const gsize cells = (gsize)map->n[0] * map->n[1] * map->n[2];
    WpPlaces p;
    return send_places(cuda, map, map->level, cells, NULL, 0, &p, error) &&
           LITHO_CUDA(wp_cuda_scale(&p, over, at, n, volume, stream_of(cuda)), error);
}

static gboolean cuda_weigh(WpEngine *engine, const WpPlacesLevels *levels, gboolean over, float *c,
                           GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    const WpGeometry *g = engine->geometry;
    const LithoNoiseMap *map = levels->map;
    const gsize cells = (gsize)map->n[0] * map->n[1] * map->n[2];
    const int residual = wp_residual(g) != NULL;
    const WpPlacesVolume volume = wp_places_volume(g, levels->at);
    g_autofree WpPlacesBox *lattices = g_new(WpPlacesBox, g->n_boxes);
    WpPlaces p;
    for (int b = 0; b < g->n_boxes; b++)
        lattices[b] = wp_places_box(&g->boxes[b]);
    if (!send_places(cuda, map, levels->level, g->n_boxes * cells, lattices,
                     g->n_boxes * sizeof *lattices, &p, error))
        return FALSE;
    const WpPlacesBox *sent = (const WpPlacesBox *)(p.level + g->n_boxes * cells);
    wp_cuda_mark(cuda, "levels of places", 8.0 * (double)g->floats, 0);
    return LITHO_CUDA(wp_cuda_weigh(cuda->boxes.data, sent, g->n_boxes - residual, residual, &p,
                                    &volume, over, c, stream_of(cuda)),
                      error);
}

static gboolean send_tapers(WpCuda *cuda, const WpBlock *b, const float *taper[3], GError **error)
{
    for (int a = 0; a < 3; a++) {
        taper[a] = NULL;
        if (!b->taper[a])
            continue;
        if (!wp_cuda_send(cuda, &cuda->taper[a], b->taper[a],
                          cuda->engine.geometry->n[a] * sizeof(float), error))
            return FALSE;
        taper[a] = cuda->taper[a].data;
    }
    return TRUE;
}

static gboolean cuda_cut(WpEngine *engine, const float *volume, const gint64 n[3], const WpBlock *b,
                         float *u, GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    const float *taper[3];
    return send_tapers(cuda, b, taper, error) &&
           LITHO_CUDA(wp_cuda_cut(n, b->at, b->mirror, engine->geometry->n, taper, volume, u,
                                  stream_of(cuda)),
                      error);
}

static gboolean cuda_paste(WpEngine *engine, const float *u, const WpBlock *b, float *volume,
                           const gint64 n[3], GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    const float *taper[3];
    return send_tapers(cuda, b, taper, error) &&
           LITHO_CUDA(
               wp_cuda_paste(n, b->at, engine->geometry->n, taper, u, volume, stream_of(cuda)),
               error);
}

static gboolean cuda_load(WpEngine *engine, const LithoCube *cube, float *volume, LithoRun *run,
                          GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    const gint64 traces = litho_grid_traces(&cube->grid);
    const float *in = litho_cuda_input(cuda->context, cube, run, error);
    unsigned bad = 0;
    if (!in || !wp_cuda_send(cuda, &cuda->mask, cube->live, traces, error) ||
        !reserve_small(cuda, 16, error) ||
        !LITHO_CUDA(cudaMemsetAsync(cuda->small.data, 0, 16, stream_of(cuda)), error) ||
        !LITHO_CUDA(wp_cuda_load(in, cuda->mask.data, traces, cube->grid.axis[2].n, volume,
                                 cuda->small.data, stream_of(cuda)),
                    error) ||
        !LITHO_CUDA(cudaMemcpyAsync(&bad, cuda->small.data, sizeof bad, cudaMemcpyDeviceToHost,
                                    stream_of(cuda)),
                    error) ||
        !wait_for(cuda, error))
        return FALSE;
    if (bad)
        g_set_error(
            error, LITHO_ERROR, LITHO_ERROR_NUMERICS,
            _("live traces hold samples that are not finite numbers (%u); mark these traces "
              "as missing first"),
            bad);
    return bad == 0;
}

static gboolean cuda_store(WpEngine *engine, const float *volume, LithoCube *cube, GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    float *out = litho_cuda_output(cuda->context, cube, error);
    return out &&
           LITHO_CUDA(cudaMemcpyAsync(out, volume, litho_box_count(cube->held) * sizeof *out,
                                      cudaMemcpyDeviceToDevice, stream_of(cuda)),
                      error) &&
           wait_for(cuda, error);
}

static LithoCube *cuda_guess(WpEngine *engine, const LithoCube *in, LithoRun *run, GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    LithoCudaGaps gaps = {0};
    LithoCube *guessed =
        litho_cuda_gaps_guess(cuda->context, &gaps, in, NULL, (LithoGapsRule){0}, run, error);
    litho_cuda_gaps_release(cuda->context, &gaps);
    return guessed;
}

static const LithoCube *cuda_clean(WpEngine *engine, LithoClean *clean, LithoCleanRule rule,
                                   const LithoCube *in, LithoRun *run, GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    return litho_cuda_clean(cuda->context, &cuda->erratic, clean, rule, in, run, error);
}

static const LithoCube *cuda_over_gains(WpEngine *engine, LithoGains *gains, const LithoCube *in,
                                        LithoGainsFrom from, LithoRun *run, GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    LithoCudaGains here;
    litho_cuda_gains_set(&here, cuda->context, &cuda->gain, in);
    return litho_gains_divide(gains, in, &here.device, from, run, error);
}

static gboolean cuda_times_gains(WpEngine *engine, const float *by, LithoCube *out, LithoBox box,
                                 GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    float *samples = litho_cuda_output(cuda->context, out, error);
    return samples &&
           litho_cuda_times_gains(cuda->context, &cuda->gain, &out->grid, by, samples, out->held,
                                  box, error) &&
           wait_for(cuda, error);
}

static LithoCube *cuda_new_cube(WpEngine *engine, const LithoGrid *grid, GError **error)
{
    const int device = litho_cuda_device(((WpCuda *)engine)->context);
    LithoBuffer *buffer = litho_cuda_buffer_alloc(device, litho_grid_samples(grid), error);
    if (!buffer)
        return NULL;
    LithoCube *cube = litho_cube_new_device(grid, litho_box_full(grid), buffer, error);
    if (!cube)
        litho_cuda_buffer_free(buffer);
    return cube;
}

// A volume's floats to the host, piece by piece: a cancel need not wait for the end.
static gboolean download_all(WpEngine *engine, const float *from, float *to, gint64 n,
                             const LithoRun *run, GError **error)
{
    enum { PIECE = 1 << 22 };
    for (gint64 at = 0; at < n; at += PIECE) {
        if (!litho_run_checkpoint(run))
            return litho_run_stopped(error);
        if (!cuda_download(engine, from, at, to + at, MIN(PIECE, n - at), error))
            return FALSE;
    }
    return TRUE;
}

static gboolean cuda_fourier(WpEngine *engine, const float *volume, const gint64 n[3], guint64 keep,
                             double *lost, LithoRun *run, GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    const gint64 half = n[2] / 2 + 1, values = n[0] * n[1] * half;
    const float scale = (float)(1 / sqrt((double)n[0] * (double)n[1] * (double)n[2]));
    LithoCudaArray u = {0}, m2 = {0};
    cufftHandle plan = 0;
    g_autofree float *host = g_try_new(float, values);
    if (!host) {
        litho_refuse(error, LITHO_ERROR_MEMORY, "no memory for %.2f GiB of amplitudes",
                     (double)values * 4 / (1 << 30));
        return FALSE;
    }
    gboolean ok =
        litho_cuda_reserve(cuda->context, &u, values * 8, error) &&
        litho_cuda_reserve(cuda->context, &m2, values * 4, error) &&
        LITHO_CUFFT(cufftPlan3d(&plan, (int)n[0], (int)n[1], (int)n[2], CUFFT_R2C), error) &&
        LITHO_CUFFT(cufftSetStream(plan, stream_of(cuda)), error) &&
        LITHO_CUFFT(cufftExecR2C(plan, (float *)volume, u.data), error) &&
        LITHO_CUDA(wp_cuda_magnitudes(u.data, m2.data, values, scale, stream_of(cuda)), error) &&
        download_all(engine, m2.data, host, values, run, error) &&
        wp_fourier_lost(host, half, n, keep, lost, run, error);
    litho_cuda_release(cuda->context, &u);
    litho_cuda_release(cuda->context, &m2);
    if (plan)
        cufftDestroy(plan);
    return ok;
}

const WpEngineClass wp_cuda_arrays = {
    .begin = cuda_begin,
    .finish = cuda_finish,
    .attach = cuda_attach,
    .wait = cuda_wait,
    .take = cuda_take,
    .available = cuda_available,
    .alloc = cuda_alloc,
    .release = cuda_release,
    .download = cuda_download,
    .upload = cuda_upload,
    .fetch = cuda_fetch,
    .shrink = wp_cuda_shrink_boxes,
    .histogram = cuda_histogram,
    .stats = cuda_stats,
    .blend = cuda_blend,
    .dot = cuda_dot,
    .distance = cuda_distance,
    .insert = cuda_insert,
    .scale = cuda_scale,
    .weigh = cuda_weigh,
    .cut = cuda_cut,
    .paste = cuda_paste,
    .load = cuda_load,
    .guess = cuda_guess,
    .clean = cuda_clean,
    .over_gains = cuda_over_gains,
    .times_gains = cuda_times_gains,
    .store = cuda_store,
    .new_cube = cuda_new_cube,
    .fourier = cuda_fourier,
};
