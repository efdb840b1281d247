// SPDX-License-Identifier: GPL-3.0-or-later
//
// Windows on the device: their energies for a geometry, and the weights of an engine's points.
#include "kernels/wavepacket/cuda/windows.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "kernels/wavepacket/cuda/wavepacket.h"

G_STATIC_ASSERT((int)WP_DEV_STEPS == (int)WP_STEP_NODES);
G_STATIC_ASSERT((int)WP_DEV_TERMS == (int)WP_BUMP_TERMS);
G_STATIC_ASSERT((int)WP_DEV_BANDS == (int)WP_PROFILE);
G_STATIC_ASSERT(sizeof(WpDevNeighbour) == sizeof(WpNeighbour));

// --- tables --------------------------------------------------------------------------------------

typedef struct Lists {
    WpNeighbour **of; // per box
    int *count, boxes;
} Lists;

static Lists list_neighbours(const WpGeometry *g, int n, const LithoRun *run)
{
    Lists l = {g_new0(WpNeighbour *, n), g_new0(int, n), n};
#pragma omp parallel for schedule(dynamic, 8) num_threads(litho_run_threads(run))
    for (int b = 0; b < n; b++)
        if (g->boxes[b].kind == WP_DIRECTION)
            l.of[b] = wp_neighbours(g->tiling, g->boxes[b].scale, g->boxes[b].direction,
                                    &l.count[b]);
    return l;
}

static void lists_clear(Lists *l)
{
    for (int b = 0; b < l->boxes; b++)
        g_free(l->of[b]);
    g_free(l->of);
    g_free(l->count);
}

static WpDevWindow describe_window(const WpGeometry *g, const WpBox *box, int first, int count)
{
    const WpTiling *t = g->tiling;
    const int inner = box->kind == WP_COARSE ? 1 : box->scale;
    const double points = (double)box->n[0] * box->n[1] * box->n[2];
    WpDevWindow w = {.coarse = box->kind == WP_COARSE,
                     .corners = t->design.full && box->scale == t->scales,
                     .outer = (float)t->b[inner + 1],
                     .factor = (float)((box->kind == WP_DIRECTION ? G_SQRT2 : 1) /
                                       sqrt(box->M[0] * box->M[1] * box->M[2] * points)),
                     .first = first,
                     .count = count};
    for (int i = 0; i < 2; i++) {
        w.a[i] = (float)t->a[inner + i];
        w.b[i] = (float)t->b[inner + i];
    }
    memcpy(w.R, box->R, sizeof w.R);
    memcpy(w.M, box->M, sizeof w.M);
    memcpy(w.j0, box->j0, sizeof w.j0);
    return w;
}

// Tables of a geometry's windows on a device, in one array.
typedef struct Tables {
    LithoCudaArray data;
    WpDevTiling tiling;
} Tables;

static gsize aligned(gsize bytes)
{
    return (bytes + 255) / 256 * 256;
}

// Without its tables.
static WpDevTiling start_tiling(const WpTiling *t)
{
    WpDevTiling d = {.power = (float)(2 * t->design.gamma),
                     .taper = (float)t->taper,
                     .cut = (float)WP_CUT,
                     .residual = {(float)t->a[t->scales + 1], (float)t->b[t->scales + 1]}};
    memcpy(d.bump, t->bump, sizeof d.bump);
    return d;
}

static gboolean upload_tables(LithoCudaContext *context, const WpGeometry *g, Tables *to,
                              const LithoRun *run, GError **error)
{
    const WpTiling *t = g->tiling;
    const int n = wp_cuda_complex_boxes(g);
    Lists lists = list_neighbours(g, n, run);
    int all = 0;
    for (int b = 0; b < n; b++)
        all += lists.count[b];
    const gsize windows = aligned(sizeof t->step);
    const gsize neighbours = windows + aligned(n * sizeof(WpDevWindow));
    const gsize bytes = neighbours + MAX(all, 1) * sizeof(WpDevNeighbour);
    g_autofree char *host = g_malloc(bytes);
    g_autofree int *first = g_new(int, n + 1);
    first[0] = 0;
    for (int b = 0; b < n; b++)
        first[b + 1] = first[b] + lists.count[b];
    memcpy(host, t->step, sizeof t->step);
#pragma omp parallel for schedule(static) num_threads(litho_run_threads(run))
    for (int b = 0; b < n; b++) {
        ((WpDevWindow *)(host + windows))[b] =
            describe_window(g, &g->boxes[b], first[b], lists.count[b]);
        if (lists.count[b] > 0)
            memcpy((WpDevNeighbour *)(host + neighbours) + first[b], lists.of[b],
                   lists.count[b] * sizeof(WpDevNeighbour));
    }
    lists_clear(&lists);
    // The copy from pageable memory has left it when the call returns.
    if (!litho_cuda_reserve(context, &to->data, bytes, error) ||
        !LITHO_CUDA(cudaMemcpyAsync(to->data.data, host, bytes, cudaMemcpyHostToDevice,
                                    litho_cuda_stream(context)),
                    error))
        return FALSE;
    char *device = to->data.data;
    to->tiling = start_tiling(t);
    to->tiling.step = (const float *)device;
    to->tiling.windows = (const WpDevWindow *)(device + windows);
    to->tiling.neighbours = (const WpDevNeighbour *)(device + neighbours);
    return TRUE;
}

// All that the windows of a geometry depend on, cleared before it was filled.
typedef struct WindowKey {
    gint64 n[3];
    double design[5];
    int full, scales, boxes, edge[WP_MAX_SCALES + 1];
} WindowKey;

static WindowKey window_key(const WpGeometry *g)
{
    const WpDesign *d = &g->tiling->design;
    const double design[5] = {d->alpha, d->gamma, d->beta, d->cm, d->cmt};
    WindowKey key;
    memset(&key, 0, sizeof key); // padding too: keys are compared
    memcpy(key.n, g->n, sizeof key.n);
    memcpy(key.design, design, sizeof key.design);
    key.full = d->full;
    key.scales = g->tiling->scales;
    key.boxes = g->n_boxes;
    for (int k = 1; k <= key.scales; k++)
        key.edge[k] = g->tiling->dir[k].edge;
    return key;
}

// --- weights under way ---------------------------------------------------------------------------

// Weights of the newest geometry whose energies were sampled, until the engine that they were
// sampled with, or somebody who knows that there is none, takes them.
static GMutex weights_lock;
static struct {
    WindowKey key;
    int device;
    void *weights; // of litho_cuda_alloc(); NULL: none
    gsize bytes;
} under_way;

static void put_weights(const WindowKey *key, int device, LithoCudaArray *weights)
{
    g_mutex_lock(&weights_lock);
    litho_cuda_free(under_way.device, under_way.weights);
    under_way.key = *key;
    under_way.device = device;
    under_way.weights = weights->data;
    under_way.bytes = weights->bytes;
    g_mutex_unlock(&weights_lock);
    *weights = (LithoCudaArray){0};
}

static gboolean take_weights(const WindowKey *key, int device, LithoCudaArray *weights)
{
    g_mutex_lock(&weights_lock);
    const gboolean found = under_way.weights && under_way.device == device &&
                           memcmp(&under_way.key, key, sizeof *key) == 0;
    if (found) {
        *weights = (LithoCudaArray){.data = under_way.weights, .bytes = under_way.bytes};
        under_way.weights = NULL;
    }
    g_mutex_unlock(&weights_lock);
    return found;
}

void wp_cuda_drop_weights(void)
{
    g_mutex_lock(&weights_lock);
    litho_cuda_free(under_way.device, under_way.weights);
    under_way.weights = NULL;
    g_mutex_unlock(&weights_lock);
}

static gsize weight_bytes(const WpGeometry *g)
{
    const gint64 floats = wp_residual(g) ? wp_residual(g)->at : g->floats;
    return MAX(floats / 2 * sizeof(float), 16);
}

// --- weights of an engine ------------------------------------------------------------------------

static gboolean sample_weights(WpCuda *cuda, float *weights, const LithoRun *run, GError **error)
{
    const WpGeometry *g = cuda->engine.geometry;
    Tables tables = {0};
    const gboolean ok =
        upload_tables(cuda->context, g, &tables, run, error) &&
        LITHO_CUDA(wp_cuda_sample_windows(&tables.tiling, cuda->boxes.data,
                                          wp_cuda_complex_boxes(g), wp_cuda_rows(g), weights, NULL,
                                          NULL, litho_cuda_stream(cuda->context)),
                   error);
    litho_cuda_release(cuda->context, &tables.data); // waits
    return ok;
}

static gboolean sample_residual(WpCuda *cuda, GError **error)
{
    const WpGeometry *g = cuda->engine.geometry;
    const WpBox *residual = wp_residual(g);
    if (!residual)
        return TRUE;
    const int *n = residual->n;
    const gsize half = (gsize)n[0] * n[1] * (n[2] / 2 + 1);
    LithoCudaArray step = {0};
    WpDevTiling tiling = start_tiling(g->tiling);
    const gboolean ok =
        litho_cuda_reserve(cuda->context, &cuda->residual_weight, half * sizeof(float), error) &&
        litho_cuda_put(cuda->context, &step, g->tiling->step, sizeof g->tiling->step, error) &&
        (tiling.step = step.data) &&
        LITHO_CUDA(wp_cuda_sample_residual(&tiling, n, 1.0 / ((double)n[0] * n[1] * n[2]),
                                           cuda->residual_weight.data, NULL,
                                           litho_cuda_stream(cuda->context)),
                   error);
    litho_cuda_release(cuda->context, &step); // waits
    return ok;
}

gboolean wp_cuda_window_weights(WpCuda *cuda, LithoCudaArray *weights, const LithoRun *run,
                                GError **error)
{
    const WpGeometry *g = cuda->engine.geometry;
    const WindowKey key = window_key(g);
    const gsize bytes = weight_bytes(g);
    return sample_residual(cuda, error) &&
           (take_weights(&key, litho_cuda_device(cuda->context), weights) ||
            (litho_cuda_reserve(cuda->context, weights, bytes, error) &&
             sample_weights(cuda, weights->data, run, error)));
}

// --- energies of a geometry ----------------------------------------------------------------------

static void keep_energy(WpGeometry *g, WpBox *box, const guint64 *energies, guint64 active)
{
    const double s = box->kind == WP_DIRECTION ? G_SQRT2 : 1;
    double sum = 0;
    for (int k = 0; k < WP_PROFILE; k++)
        sum += (double)energies[k];
    box->profile = g_new(float, WP_PROFILE);
    for (int k = 0; k < WP_PROFILE; k++)
        box->profile[k] = (float)(sum > 0 ? (double)energies[k] / sum : 0);
    box->sigma = s * sqrt(sum / (double)WP_DEV_ENERGY /
                          ((double)box->n[0] * box->n[1] * box->n[2]));
    box->n_weights = (gint64)active;
    g->n_active += box->n_weights;
}

// The weights come along where there is memory for them.
static gboolean sample(LithoCudaContext *context, const WpGeometry *g, LithoCudaArray arrays[3],
                       guint64 *energies, const LithoRun *run, GError **error)
{
    const int n = wp_cuda_complex_boxes(g);
    const gsize bytes = (gsize)g->n_boxes * (WP_PROFILE + 1) * sizeof *energies;
    const WpBox *residual = wp_residual(g);
    cudaStream_t stream = litho_cuda_stream(context);
    g_autofree WpDevBox *boxes = wp_cuda_describe_boxes(g);
    Tables tables = {0};
    gboolean ok = litho_cuda_reserve(context, &arrays[0], g->n_boxes * sizeof *boxes, error) &&
                  LITHO_CUDA(cudaMemcpyAsync(arrays[0].data, boxes, g->n_boxes * sizeof *boxes,
                                             cudaMemcpyHostToDevice, stream),
                             error) &&
                  litho_cuda_reserve(context, &arrays[1], bytes, error) &&
                  LITHO_CUDA(cudaMemsetAsync(arrays[1].data, 0, bytes, stream), error) &&
                  upload_tables(context, g, &tables, run, error);
    unsigned long long *to = arrays[1].data;
    if (ok)
        litho_cuda_reserve(context, &arrays[2], weight_bytes(g), NULL);
    ok = ok &&
         LITHO_CUDA(wp_cuda_sample_windows(&tables.tiling, arrays[0].data, n, wp_cuda_rows(g),
                                           arrays[2].data, to, to + (gsize)g->n_boxes * WP_PROFILE,
                                           stream),
                    error) &&
         (!residual || LITHO_CUDA(wp_cuda_sample_residual(&tables.tiling, residual->n, 0, NULL,
                                                          to + (gsize)n * WP_PROFILE, stream),
                                  error)) &&
         LITHO_CUDA(cudaMemcpyAsync(energies, to, bytes, cudaMemcpyDeviceToHost, stream), error) &&
         LITHO_CUDA(cudaStreamSynchronize(stream), error);
    litho_cuda_release(context, &tables.data);
    return ok;
}

// Energies of the last geometries are kept, for a slider that goes back and a second cube of one
// size.
enum { KEPT_ENERGIES = 8 };
static GMutex energies_lock;
static struct {
    WindowKey key;
    guint64 *energies;
} kept_energies[KEPT_ENERGIES];
static int next_energies;

static gboolean recall_energies(const WindowKey *key, guint64 *energies, gsize bytes)
{
    gboolean found = FALSE;
    g_mutex_lock(&energies_lock);
    for (int i = 0; i < KEPT_ENERGIES && !found; i++) {
        found = kept_energies[i].energies && memcmp(&kept_energies[i].key, key, sizeof *key) == 0;
        if (found)
            memcpy(energies, kept_energies[i].energies, bytes);
    }
    g_mutex_unlock(&energies_lock);
    return found;
}

static void keep_energies(const WindowKey *key, const guint64 *energies, gsize bytes)
{
    g_mutex_lock(&energies_lock);
    g_free(kept_energies[next_energies].energies);
    kept_energies[next_energies].key = *key;
    kept_energies[next_energies].energies = g_memdup2(energies, bytes);
    next_energies = (next_energies + 1) % KEPT_ENERGIES;
    g_mutex_unlock(&energies_lock);
}

static gboolean measure_energies(const WpGeometry *g, const WindowKey *key, int device,
                                 guint64 *energies, const LithoRun *run, GError **error)
{
    LithoCudaContext *context = litho_cuda_context_new(device, error);
    LithoCudaArray arrays[3] = {{0}};
    const gboolean ok = context && litho_cuda_enter(context, error) &&
                        sample(context, g, arrays, energies, run, error);
    if (ok && arrays[2].data)
        put_weights(key, device, &arrays[2]);
    for (guint i = 0; context && i < G_N_ELEMENTS(arrays); i++)
        litho_cuda_release(context, &arrays[i]);
    litho_cuda_context_free(context);
    return ok;
}

gboolean wp_cuda_measure_windows(WpGeometry *g, LithoRun *run, GError **error)
{
    const int device = run ? run->device % litho_cuda_backend()->n_devices : 0;
    const gsize bytes = (gsize)g->n_boxes * (WP_PROFILE + 1) * sizeof(guint64);
    g_autofree guint64 *energies = g_malloc0(bytes);
    const WindowKey key = window_key(g);
    if (!recall_energies(&key, energies, bytes)) {
        if (!measure_energies(g, &key, device, energies, run, error))
            return FALSE;
        keep_energies(&key, energies, bytes);
    }
    for (int b = 0; b < g->n_boxes; b++)
        keep_energy(g, &g->boxes[b], energies + (gsize)b * WP_PROFILE,
                    energies[(gsize)g->n_boxes * WP_PROFILE + b]);
    return litho_run_step(run, 1, 1, error);
}
