// SPDX-License-Identifier: GPL-3.0-or-later
//
// Parts that the CUDA engine makes once: FFT plans, and the points of all boxes laid out by tiles.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "kernels/wavepacket/cuda/wavepacket.h"

gboolean wp_cuda_send(WpCuda *cuda, LithoCudaArray *array, const void *from, size_t bytes,
                      GError **error)
{
    cudaStream_t stream = litho_cuda_stream(cuda->context);
    return litho_cuda_reserve(cuda->context, array, MAX(bytes, 16), error) &&
           LITHO_CUDA(cudaMemcpyAsync(array->data, from, bytes, cudaMemcpyHostToDevice, stream),
                      error) &&
           LITHO_CUDA(cudaStreamSynchronize(stream), error);
}

static gboolean reserve_zero(WpCuda *cuda, LithoCudaArray *array, size_t bytes, GError **error)
{
    return litho_cuda_reserve(cuda->context, array, MAX(bytes, 16), error) &&
           LITHO_CUDA(cudaMemsetAsync(array->data, 0, bytes, litho_cuda_stream(cuda->context)),
                      error);
}

// --- FFTs ----------------------------------------------------------------------------------------

static gboolean make_residual_ffts(WpCuda *cuda, const WpBox *box, GError **error)
{
    int n[3] = {box->n[0], box->n[1], box->n[2]}, half[3] = {n[0], n[1], n[2] / 2 + 1};
    const WpFftLayout real = {n, 1, n[0] * n[1] * n[2]};
    const WpFftLayout complex = {half, 1, half[0] * half[1] * half[2]};
    return wp_cuda_make_fft(cuda, &cuda->residual_forward,
                            &(WpFftShape){3, n, real, complex, CUFFT_R2C, 1, 1}, error) &&
           wp_cuda_make_fft(cuda, &cuda->residual_inverse,
                            &(WpFftShape){3, n, complex, real, CUFFT_C2R, 1, 1}, error);
}

static gboolean set_work(WpCuda *cuda, cufftHandle plan, int stream, GError **error)
{
    return plan == 0 || LITHO_CUFFT(cufftSetWorkArea(plan, cuda->work[stream].data), error);
}

// The plans of cuFFT, which are the host's work.
typedef struct FftPlans {
    WpCuda *cuda;
    GError *error;
    double ms;
} FftPlans;

static gpointer plan_ffts(gpointer data)
{
    FftPlans *p = data;
    const double start = litho_now_ms();
    const WpBox *residual = wp_residual(p->cuda->engine.geometry);
    const gboolean ok = litho_cuda_use(litho_cuda_device(p->cuda->context), &p->error) &&
                        wp_cuda_make_fine(p->cuda, &p->error) &&
                        wp_cuda_make_large_box_ffts(p->cuda, &p->error) &&
                        (!residual || make_residual_ffts(p->cuda, residual, &p->error));
    p->ms = litho_now_ms() - start;
    return GINT_TO_POINTER(ok);
}

static gboolean lend_work(WpCuda *cuda, GError **error)
{
    const WpBox *residual = wp_residual(cuda->engine.geometry);
    if (residual) {
        const gsize values = (gsize)residual->n[0] * residual->n[1] * (residual->n[2] / 2 + 1);
        if (!litho_cuda_reserve(cuda->context, &cuda->residual, values * 8, error))
            return FALSE;
    }
    for (int i = 0; i < WP_STREAMS; i++)
        if (!litho_cuda_reserve(cuda->context, &cuda->work[i], MAX(cuda->fft_work[i], 16), error))
            return FALSE;
    const WpPlanes *planes = cuda->planes;
    const cufftHandle fine[] = {planes[0].forward, planes[0].inverse, planes[1].forward,
                                planes[1].inverse, cuda->columns};
    for (guint i = 0; i < G_N_ELEMENTS(fine); i++)
        if (!set_work(cuda, fine[i], 0, error))
            return FALSE;
    for (int i = 0; i < cuda->n_runs; i++)
        if (!set_work(cuda, cuda->runs[i].plan, cuda->runs[i].stream, error))
            return FALSE;
    return set_work(cuda, cuda->residual_forward, 1, error) &&
           set_work(cuda, cuda->residual_inverse, 1, error);
}

static gboolean make_streams(WpCuda *cuda, GError **error)
{
    cudaEvent_t *events[] = {&cuda->forked, &cuda->joined[0], &cuda->joined[1],
                             &cuda->residual_done};
    for (int i = 0; i < WP_LANES_BESIDE; i++)
        if (!LITHO_CUDA(cudaStreamCreateWithFlags(&cuda->beside[i], cudaStreamNonBlocking), error))
            return FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(events); i++)
        if (!LITHO_CUDA(cudaEventCreateWithFlags(events[i], cudaEventDisableTiming), error))
            return FALSE;
    return LITHO_CUDA(cudaStreamCreateWithFlags(&cuda->fetching, cudaStreamNonBlocking), error);
}

// --- descriptors ---------------------------------------------------------------------------------

int wp_cuda_complex_boxes(const WpGeometry *g)
{
    return g->n_boxes - (wp_residual(g) != NULL);
}

gint64 wp_cuda_rows(const WpGeometry *g)
{
    gint64 rows = 0;
    for (int b = 0; b < wp_cuda_complex_boxes(g); b++)
        rows += (gint64)g->boxes[b].n[0] * g->boxes[b].n[1];
    return rows;
}

static void describe_box(const WpGeometry *g, const WpBox *box, WpDevBox *to)
{
    for (int i = 0; i < 3; i++)
        to->n[i] = box->n[i];
    for (int a = 0; a < 3; a++) {
        to->start[a] = 0;
        for (int i = 0; i < 3; i++) {
            to->step[i][a] = g->nf[a] * box->R[i][a] / box->M[i];
            to->start[a] += box->j0[i] * to->step[i][a];
        }
    }
    to->kind = box->kind;
    to->at = (uint32_t)(box->at / 2);
    to->at_float = box->at;
    to->floats = box->floats;
}

WpDevBox *wp_cuda_describe_boxes(const WpGeometry *g)
{
    WpDevBox *boxes = g_new0(WpDevBox, MAX(g->n_boxes, 1));
    gint64 rows = 0, pieces = 0;
    for (int b = 0; b < g->n_boxes; b++) {
        describe_box(g, &g->boxes[b], &boxes[b]);
        boxes[b].first_row = rows;
        boxes[b].first_piece = pieces;
        rows += (gint64)g->boxes[b].n[0] * g->boxes[b].n[1];
        pieces += wp_pieces_of(g->boxes[b].floats);
    }
    return boxes;
}

static void describe_grid(WpCuda *cuda)
{
    const WpGeometry *g = cuda->engine.geometry;
    WpDevGrid *d = &cuda->grid;
    d->w = g->kernel.width;
    d->half = g->nf[2] / 2 + 1;
    d->offset3 = d->w / 2;
    for (int a = 0; a < 2; a++)
        d->tiles[a] = (g->nf[a] + WP_TILE - 1) / WP_TILE;
    // The first tap of the last point along axis 3; boxes of the full design go beyond the cube.
    d->tiles[2] = (int)((0.5 + g->tiling->taper) * g->nf[2] + d->offset3) / WP_TILE + 1;
    for (int a = 0; a < 3; a++)
        d->nf[a] = g->nf[a];
    WpShare *s = &cuda->share;
    s->sample = (int)(g->n[0] * s->k / s->of);
    s->samples = (int)(g->n[0] * (s->k + 1) / s->of) - s->sample;
    s->column = g->nf[1] * s->k / s->of;
    s->columns = g->nf[1] * (s->k + 1) / s->of - s->column;
    for (int k = 0; k <= WP_DEGREE; k++)
        for (int t = 0; t < WP_MAX_WIDTH; t++)
            cuda->kernel.coef[k][t] = g->kernel.coef[k][t];
}

gboolean wp_cuda_make_ffts_ahead(const WpGeometry *geometry, int device, const int *stop)
{
    LithoCudaContext *context = litho_cuda_context_new(device, NULL);
    if (!context)
        return FALSE;
    WpCuda *cuda = g_new0(WpCuda, 1);
    cuda->engine.geometry = geometry;
    cuda->context = context;
    cuda->ordinal = litho_cuda_ordinal(device);
    cuda->share.of = 1;
    cuda->stop = stop;
    const WpBox *residual = wp_residual(geometry);
    const gboolean ok = litho_cuda_use(device, NULL) && wp_cuda_make_large_box_ffts(cuda, NULL) &&
                        (!residual || make_residual_ffts(cuda, residual, NULL));
    wp_cuda_free_plan(cuda);
    litho_cuda_context_free(context);
    g_free(cuda);
    return ok;
}

// --- tiles ---------------------------------------------------------------------------------------

// Active tiles and where their steps begin, from the steps of every tile.
static gboolean number_tiles(WpCuda *cuda, const uint32_t *steps, int n_tiles,
                             LithoCudaArray *first_of_tile, GError **error)
{
    g_autofree uint32_t *first = g_new(uint32_t, n_tiles);
    g_autofree uint32_t *compact = g_new(uint32_t, n_tiles + 1);
    g_autofree uint32_t *active = g_new(uint32_t, n_tiles);
    g_autofree int32_t *slot = g_new(int32_t, n_tiles);
    gint64 at = 0;
    cuda->n_active = 0;
    for (int t = 0; t < n_tiles; t++) {
        first[t] = (uint32_t)at;
        slot[t] = -1;
        if (steps[t] == 0)
            continue;
        slot[t] = cuda->n_active;
        active[cuda->n_active] = (uint32_t)t;
        compact[cuda->n_active++] = (uint32_t)at;
        at += steps[t];
    }
    compact[cuda->n_active] = (uint32_t)at;
    cuda->n_steps = at;
    return wp_cuda_send(cuda, first_of_tile, first, n_tiles * sizeof *first, error) &&
           wp_cuda_send(cuda, &cuda->first_step, compact, (cuda->n_active + 1) * sizeof *compact,
                        error) &&
           wp_cuda_send(cuda, &cuda->active, active, MAX(cuda->n_active, 1) * sizeof *active,
                        error) &&
           wp_cuda_send(cuda, &cuda->slot, slot, n_tiles * sizeof *slot, error);
}

typedef struct TilePlan {
    LithoCudaArray weights, counts, lanes, steps, first; // weights of all lattice points
    gint64 n_rows;
    int n_boxes;
} TilePlan;

static gboolean lay_out_points(WpCuda *cuda, TilePlan *t, GError **error)
{
    const WpDevGrid *g = &cuda->grid;
    const int n_tiles = g->tiles[0] * g->tiles[1] * g->tiles[2];
    cudaStream_t stream = litho_cuda_stream(cuda->context);
    g_autofree uint32_t *steps = g_new(uint32_t, n_tiles);
    if (!reserve_zero(cuda, &t->counts, (size_t)n_tiles * WP_TILE_CELLS * 4, error) ||
        !reserve_zero(cuda, &t->lanes, (size_t)n_tiles * WP_TILE_CELLS, error) ||
        !reserve_zero(cuda, &t->steps, (size_t)n_tiles * 4, error) ||
        !reserve_zero(cuda, &cuda->rounds, (size_t)n_tiles * WP_ROUNDS * 4, error) ||
        !LITHO_CUDA(wp_cuda_count(g, cuda->boxes.data, t->n_boxes, t->n_rows, t->weights.data,
                                  t->counts.data, stream),
                    error) ||
        !LITHO_CUDA(wp_cuda_assign(g, t->counts.data, t->lanes.data, t->steps.data,
                                   cuda->rounds.data, stream),
                    error) ||
        !LITHO_CUDA(cudaMemcpyAsync(steps, t->steps.data, (size_t)n_tiles * 4,
                                    cudaMemcpyDeviceToHost, stream),
                    error) ||
        !LITHO_CUDA(cudaStreamSynchronize(stream), error) ||
        !number_tiles(cuda, steps, n_tiles, &t->first, error) ||
        !reserve_zero(cuda, &cuda->points, (size_t)cuda->n_steps * WP_WARP * sizeof(WpPoint),
                      error))
        return FALSE;
    return LITHO_CUDA(wp_cuda_place(g, cuda->boxes.data, t->n_boxes, t->n_rows, t->weights.data,
                                    t->counts.data, t->lanes.data, t->first.data, cuda->points.data,
                                    stream),
                      error) &&
           LITHO_CUDA(wp_cuda_order(g, t->counts.data, t->lanes.data, t->first.data,
                                    cuda->points.data, stream),
                      error) &&
           LITHO_CUDA(cudaStreamSynchronize(stream), error);
}

// The papers' adjoint reads the window at every lattice point and psi from a table.
static gboolean make_papers_arrays(WpCuda *cuda, TilePlan *t, GError **error)
{
    const WpGeometry *g = cuda->engine.geometry;
    if (cuda->form != WP_GATHER)
        return TRUE;
    g_autofree float *table = g_new(float, WP_TABLE + 1);
    for (int i = 0; i <= WP_TABLE; i++)
        table[i] = (float)wp_kernel_value(&g->kernel, 0.5 * g->kernel.width * i / WP_TABLE);
    cuda->dense = t->weights;
    t->weights = (LithoCudaArray){0};
    return wp_cuda_send(cuda, &cuda->table, table, (WP_TABLE + 1) * sizeof *table, error);
}

static gboolean make_points(WpCuda *cuda, const LithoRun *run, GError **error)
{
    const WpGeometry *g = cuda->engine.geometry;
    TilePlan t = {.n_rows = wp_cuda_rows(g), .n_boxes = wp_cuda_complex_boxes(g)};
    const gboolean ok = wp_cuda_window_weights(cuda, &t.weights, run, error) &&
                        lay_out_points(cuda, &t, error) && make_papers_arrays(cuda, &t, error);
    LithoCudaArray *arrays[] = {&t.weights, &t.counts, &t.lanes, &t.steps, &t.first};
    for (guint i = 0; i < G_N_ELEMENTS(arrays); i++)
        litho_cuda_release(cuda->context, arrays[i]);
    return ok;
}

// The card lays out the points while the host makes cuFFT's plans, in a thread of its own.
static gboolean make_points_and_ffts(WpCuda *cuda, LithoRun *run, GError **error)
{
    const double start = litho_now_ms();
    FftPlans plans = {.cuda = cuda};
    GThread *thread = g_thread_new("fft-plans", plan_ffts, &plans);
    gboolean ok = make_points(cuda, run, error);
    litho_run_time(run, "points", LITHO_STAGE_PLAN, litho_now_ms() - start, 0, 0);
    const gboolean planned = GPOINTER_TO_INT(g_thread_join(thread));
    litho_run_time(run, "FFT plans (beside)", LITHO_STAGE_PLAN, plans.ms, 0, 0);
    if (ok && !planned)
        g_propagate_error(error, g_steal_pointer(&plans.error));
    g_clear_error(&plans.error);
    return ok && planned && litho_run_step(run, 0, 0, error) && lend_work(cuda, error);
}

gboolean wp_cuda_make_plan(WpCuda *cuda, LithoRun *run, GError **error)
{
    const WpGeometry *g = cuda->engine.geometry;
    if (g->floats / 2 > G_MAXUINT32) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED,
                    _("%" PRId64 " coefficients are more than one GPU plan holds; set "
                      "`block` to 512 or less"),
                    g->n_points);
        return FALSE;
    }
    cuda->host_boxes = wp_cuda_describe_boxes(g);
    describe_grid(cuda);
    for (int a = 0; a < 3; a++) {
        g_autofree float *scale = g_new(float, g->n[a]);
        for (gint64 i = 0; i < g->n[a]; i++)
            scale[i] = (float)g->deconvolve[a][i];
        if (!wp_cuda_send(cuda, &cuda->scale[a], scale, g->n[a] * sizeof *scale, error))
            return FALSE;
    }
    const size_t grid_bytes = 8 * (size_t)g->nf[0] * g->nf[1] * cuda->grid.half;
    const int side = WP_TILE + g->kernel.width - 1;
    return make_streams(cuda, error) &&
           wp_cuda_send(cuda, &cuda->boxes, cuda->host_boxes, g->n_boxes * sizeof(WpDevBox),
                        error) &&
           litho_cuda_reserve(cuda->context, &cuda->u, grid_bytes, error) &&
           wp_cuda_list_box_ffts(cuda, error) && make_points_and_ffts(cuda, run, error) &&
           (cuda->form != WP_TILES ||
            litho_cuda_reserve(cuda->context, &cuda->sums,
                               8 * (size_t)MAX(cuda->n_active, 1) * side * side * side, error));
}

void wp_cuda_free_plan(WpCuda *cuda)
{
    cudaEvent_t events[] = {cuda->forked, cuda->joined[0], cuda->joined[1], cuda->residual_done};
    for (int i = 0; i < WP_LANES_BESIDE; i++)
        if (cuda->beside[i])
            cudaStreamSynchronize(cuda->beside[i]);
    cufftHandle single[] = {cuda->residual_forward, cuda->residual_inverse};
    for (guint i = 0; i < G_N_ELEMENTS(single); i++)
        wp_cuda_drop_fft(single[i]);
    wp_cuda_free_fine(cuda);
    wp_cuda_free_planes(cuda);
    for (int i = 0; i < cuda->n_runs; i++)
        wp_cuda_drop_fft(cuda->runs[i].plan);
    LithoCudaArray *arrays[] = {
        &cuda->boxes,           &cuda->u,        &cuda->points,   &cuda->first_step,
        &cuda->rounds,          &cuda->active,   &cuda->slot,     &cuda->sums,
        &cuda->scale[0],        &cuda->scale[1], &cuda->scale[2], &cuda->residual,
        &cuda->residual_weight, &cuda->work[0],  &cuda->work[1],  &cuda->work[2],
        &cuda->small,           &cuda->mask,     &cuda->taper[0], &cuda->taper[1],
        &cuda->taper[2],        &cuda->places,   &cuda->table,    &cuda->dense,
        &cuda->foreign,         &cuda->fetched,  &cuda->fft_list};
    for (guint i = 0; i < G_N_ELEMENTS(arrays); i++)
        litho_cuda_release(cuda->context, arrays[i]);
    litho_cuda_release(cuda->context, &cuda->gain);
    litho_cuda_erratic_release(cuda->context, &cuda->erratic);
    for (guint i = 0; i < G_N_ELEMENTS(events); i++)
        if (events[i])
            cudaEventDestroy(events[i]);
    for (int i = 0; i < WP_LANES_BESIDE; i++)
        if (cuda->beside[i])
            cudaStreamDestroy(cuda->beside[i]);
    if (cuda->fetching)
        cudaStreamDestroy(cuda->fetching);
    if (cuda->counted)
        cudaFreeHost(cuda->counted);
    g_free(cuda->runs);
    g_free(cuda->host_boxes);
}
