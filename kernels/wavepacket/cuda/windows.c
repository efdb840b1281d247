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
    g_autofree char *host = g_malloc0(bytes);
    memcpy(host, t->step, sizeof t->step);
    for (int b = 0, at = 0; b < n; b++) {
        ((WpDevWindow *)(host + windows))[b] =
            describe_window(g, &g->boxes[b], at, lists.count[b]);
        if (lists.count[b] > 0)
            memcpy((WpDevNeighbour *)(host + neighbours) + at, lists.of[b],
                   lists.count[b] * sizeof(WpDevNeighbour));
        at += lists.count[b];
    }
    lists_clear(&lists);
    // The copy from pageable memory has left it when the call returns.
    if (!litho_cuda_reserve(context, &to->data, bytes, error) ||
        !LITHO_CUDA(cudaMemcpyAsync(to->data.data, host, bytes, cudaMemcpyHostToDevice,
                                    litho_cuda_stream(context)),
                    error))
        return FALSE;
    char *device = to->data.data;
    to->tiling = (WpDevTiling){
        .step = (const float *)device,
        .windows = (const WpDevWindow *)(device + windows),
        .neighbours = (const WpDevNeighbour *)(device + neighbours),
        .power = (float)(2 * t->design.gamma),
        .taper = (float)t->taper,
        .cut = (float)WP_CUT,
        .residual = {(float)t->a[t->scales + 1], (float)t->b[t->scales + 1]}};
    memcpy(to->tiling.bump, t->bump, sizeof to->tiling.bump);
    return TRUE;
}

// --- weights of an engine ------------------------------------------------------------------------

gboolean wp_cuda_window_weights(WpCuda *cuda, float *weights, const LithoRun *run, GError **error)
{
    const WpGeometry *g = cuda->engine.geometry;
    const WpBox *residual = wp_residual(g);
    Tables tables = {0};
    cudaStream_t stream = litho_cuda_stream(cuda->context);
    gboolean ok = upload_tables(cuda->context, g, &tables, run, error) &&
                  LITHO_CUDA(wp_cuda_sample_windows(&tables.tiling, cuda->boxes.data,
                                                    wp_cuda_complex_boxes(g), wp_cuda_rows(g),
                                                    weights, NULL, NULL, stream),
                             error);
    if (ok && residual) {
        const int *n = residual->n;
        const gsize points = (gsize)n[0] * n[1] * n[2];
        const gsize half = (gsize)n[0] * n[1] * (n[2] / 2 + 1);
        ok = litho_cuda_reserve(cuda->context, &cuda->residual_weight, half * sizeof(float),
                                error) &&
             LITHO_CUDA(wp_cuda_sample_residual(&tables.tiling, n, 1.0 / (double)points,
                                                cuda->residual_weight.data, NULL, stream),
                        error);
    }
    litho_cuda_release(cuda->context, &tables.data); // waits
    return ok;
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

static gboolean sample(LithoCudaContext *context, const WpGeometry *g, LithoCudaArray arrays[2],
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
    ok = ok &&
         LITHO_CUDA(wp_cuda_sample_windows(&tables.tiling, arrays[0].data, n, wp_cuda_rows(g), NULL,
                                           to, to + (gsize)g->n_boxes * WP_PROFILE, stream),
                    error) &&
         (!residual || LITHO_CUDA(wp_cuda_sample_residual(&tables.tiling, residual->n, 0, NULL,
                                                          to + (gsize)n * WP_PROFILE, stream),
                                  error)) &&
         LITHO_CUDA(cudaMemcpyAsync(energies, to, bytes, cudaMemcpyDeviceToHost, stream), error) &&
         LITHO_CUDA(cudaStreamSynchronize(stream), error);
    litho_cuda_release(context, &tables.data);
    return ok;
}

// Energies do not depend on what is done with the packets: those of the last geometries are kept,
// for a slider that goes back and a second cube of one size.
typedef struct EnergyKey {
    gint64 n[3];
    double design[5];
    int full, scales, boxes, edge[WP_MAX_SCALES + 1];
} EnergyKey;

enum { KEPT_ENERGIES = 8 };
static GMutex energies_lock;
static struct {
    EnergyKey key;
    guint64 *energies;
} kept_energies[KEPT_ENERGIES];
static int next_energies;

static EnergyKey energy_key(const WpGeometry *g)
{
    const WpDesign *d = &g->tiling->design;
    const double design[5] = {d->alpha, d->gamma, d->beta, d->cm, d->cmt};
    EnergyKey key;
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

static gboolean recall_energies(const EnergyKey *key, guint64 *energies, gsize bytes)
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

static void keep_energies(const EnergyKey *key, const guint64 *energies, gsize bytes)
{
    g_mutex_lock(&energies_lock);
    g_free(kept_energies[next_energies].energies);
    kept_energies[next_energies].key = *key;
    kept_energies[next_energies].energies = g_memdup2(energies, bytes);
    next_energies = (next_energies + 1) % KEPT_ENERGIES;
    g_mutex_unlock(&energies_lock);
}

static gboolean measure_energies(const WpGeometry *g, int device, guint64 *energies,
                                 const LithoRun *run, GError **error)
{
    LithoCudaContext *context = litho_cuda_context_new(device, error);
    LithoCudaArray arrays[2] = {{0}};
    const gboolean ok = context && litho_cuda_enter(context, error) &&
                        sample(context, g, arrays, energies, run, error);
    for (int i = 0; context && i < 2; i++)
        litho_cuda_release(context, &arrays[i]);
    litho_cuda_context_free(context);
    return ok;
}

gboolean wp_cuda_measure_windows(WpGeometry *g, LithoRun *run, GError **error)
{
    const int device = run ? run->device % litho_cuda_backend()->n_devices : 0;
    const gsize bytes = (gsize)g->n_boxes * (WP_PROFILE + 1) * sizeof(guint64);
    g_autofree guint64 *energies = g_malloc0(bytes);
    const EnergyKey key = energy_key(g);
    if (!recall_energies(&key, energies, bytes)) {
        if (!measure_energies(g, device, energies, run, error))
            return FALSE;
        keep_energies(&key, energies, bytes);
    }
    for (int b = 0; b < g->n_boxes; b++)
        keep_energy(g, &g->boxes[b], energies + (gsize)b * WP_PROFILE,
                    energies[(gsize)g->n_boxes * WP_PROFILE + b]);
    return litho_run_step(run, 1, 1, error);
}
