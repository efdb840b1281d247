// SPDX-License-Identifier: GPL-3.0-or-later
//
// algorithm=fast on one GPU: which clusters meet how, the field in order of clusters, and the sums,
// some rows of target clusters at a time.
#include "core/error.h"
#include "kernels/twsm/clusters.h"
#include "kernels/twsm/cuda/twsm.h"

// Blocks of two clusters times frequencies of a chunk: about 20 ms at four nodes a side, 60 at six.
static const double CHUNK = 3e7;

G_STATIC_ASSERT((int)TWSM_GPU_SIDE == (int)TWSM_CLUSTER);

static gboolean upload_array(TwsmCard *card, LithoCudaArray *array, const void *from, gsize bytes,
                             GError **error)
{
    return litho_cuda_reserve(card->context, array, bytes, error) &&
           litho_cuda_upload(litho_cuda_device(card->context), array->data, from,
                             (gint64)(bytes / sizeof(float)), error);
}

// Nodes as the kernel reads them: place and area 1, normal.
static float *packed_nodes(const TwsmClusters *c)
{
    const gsize n = (gsize)c->n * TWSM_ALL_NODES;
    float *packed = g_new(float, 8 * n);
    for (gsize k = 0; k < n; k++) {
        const TwsmNode *at = &c->node[k];
        const float values[8] = {at->x, at->y, at->z, 1, at->nx, at->ny, at->nz, 0};
        memcpy(packed + 8 * k, values, sizeof values);
    }
    return packed;
}

static gboolean upload_clusters(TwsmCard *card, const TwsmPoints *mesh, int threads,
                                TwsmCardPoints *to, GError **error)
{
    float weights[TWSM_AXIS_WEIGHTS];
    TwsmClusters *c = twsm_clusters_new(mesh, threads);
    g_autofree TwsmSquare *square = g_new(TwsmSquare, c->n);
    g_autofree float *nodes = packed_nodes(c);
    for (int k = 0; k < c->n; k++)
        square[k] = c->cluster[k].square;
    const int n = c->n;
    const gsize node_bytes = sizeof(float) * 8 * TWSM_ALL_NODES * (gsize)c->n;
    twsm_clusters_axis_weights(mesh, weights);
    gboolean ok = upload_array(card, &to->smooth, c->smooth, 4 * sizeof(float) * mesh->n, error);
    twsm_clusters_free(c);
    ok = ok && upload_array(card, &to->square, square, sizeof *square * n, error) &&
         upload_array(card, &to->node, nodes, node_bytes, error) &&
         upload_array(card, &to->weights, weights, sizeof weights, error);
    if (ok)
        to->n_clusters = n; // says that all of it is there
    return ok;
}

static gboolean card_clusters(TwsmCard *card, const TwsmPoints *mesh, int threads,
                              TwsmGpuClusters *out, GError **error)
{
    TwsmCardPoints *p = twsm_card_points(card, mesh, threads, error);
    if (!p || (!p->n_clusters && !upload_clusters(card, mesh, threads, p, error)))
        return FALSE;
    *out = (TwsmGpuClusters){.n = p->n_clusters,
                             .n_x = (mesh->cells[0] + TWSM_CLUSTER - 1) / TWSM_CLUSTER,
                             .cells_x = mesh->cells[0],
                             .cells_y = mesh->cells[1],
                             .square = p->square.data,
                             .node = p->node.data,
                             .weights = p->weights.data,
                             .smooth = p->smooth.data};
    return TRUE;
}

// One leg's fast sum on its way.
typedef struct Fast {
    TwsmCard *card;
    const TwsmTask *task;
    TwsmGpuLeg leg;
    TwsmGpuClusters from, to;
    int first, count, chunk; // target clusters of this card, and of a launch
} Fast;

static gboolean reserve(Fast *f, GError **error)
{
    LithoCudaContext *c = f->card->context;
    gsize bands = f->task->stride / TWSM_GPU_BLOCK;
    double chunk = CHUNK / ((double)f->from.n * f->task->stride);
    f->chunk = (int)CLAMP(chunk, 1, f->count);
    return litho_cuda_reserve(c, &f->card->clustered,
                              8 * (gsize)f->from.n * TWSM_GPU_CLUSTER * f->task->stride, error) &&
           litho_cuda_reserve(c, &f->card->list, 4 * bands * f->chunk * f->from.n, error) &&
           litho_cuda_reserve(c, &f->card->start, 4 * bands * f->chunk * (TWSM_GPU_CLASSES + 1),
                              error) &&
           litho_cuda_reserve(c, &f->card->direct, sizeof(guint64), error);
}

// Right-hand side q: the targets of this card, a chunk at a time.
static gboolean run_source(Fast *f, int q, const float *u, float *y, GError **error)
{
    const TwsmTask *task = f->task;
    TwsmCard *card = f->card;
    cudaStream_t stream = litho_cuda_stream(card->context);
    const TwsmBand band = task->band;
    if (!LITHO_CUDA(
            litho_twsm_cluster_field(&f->leg, &f->from, u, task->stride, card->clustered.data, stream),
            error))
        return FALSE;
    for (int at = 0; at < f->count; at += f->chunk) {
        int n = MIN(f->chunk, f->count - at);
        if (!LITHO_CUDA(litho_twsm_partners(&f->from, &f->to, task->leg->pair.turns,
                                            task->how->rule, band.k0, task->stride,
                                            band.k0 + band.n - 1, f->first + at, n, card->list.data,
                                            card->start.data, card->direct.data, stream),
                        error) ||
            !LITHO_CUDA(litho_twsm_clusters(
                            &f->leg, &f->from, &f->to, card->clustered.data, task->stride, band.k0,
                            task->stride, (float)task->chain->sig, f->first + at, n,
                            task->how->rule.most, card->list.data, card->start.data, y, stream),
                        error) ||
            !twsm_card_step(card, task, (q + (at + n) / (double)f->count) / task->chain->n_rhs,
                            error))
            return FALSE;
    }
    return TRUE;
}

// Share of the pairs that were summed one by one: of all bands and sources.
static gboolean tell_share(const Fast *f, int rows, GError **error)
{
    const TwsmTask *task = f->task;
    guint64 direct = 0;
    if (!litho_cuda_download(litho_cuda_device(f->card->context), (float *)&direct,
                             f->card->direct.data, 2, error))
        return FALSE;
    double bands = task->stride / (double)TWSM_GPU_BLOCK * task->chain->n_rhs;
    task->how->direct_share = direct / (bands * rows * task->leg->from->n);
    return TRUE;
}

gboolean twsm_card_clusters(TwsmCard *card, const TwsmTask *task, int row, int rows, const float *u,
                            float *y, GError **error)
{
    const TwsmPoints *to = task->leg->to;
    const int per_row = 2 * to->cells[0] * TWSM_CLUSTER, threads = litho_run_threads(task->run);
    Fast f = {.card = card, .task = task};
    cudaStream_t stream = litho_cuda_stream(card->context);
    rows = MIN(rows, to->n - row); // padding has no cluster
    if (rows <= 0)
        return TRUE;
    if (!twsm_card_leg(card, task, &f.leg, error) ||
        !card_clusters(card, task->leg->from, threads, &f.from, error) ||
        !card_clusters(card, to, threads, &f.to, error))
        return FALSE;
    f.first = row / per_row * f.to.n_x;
    f.count = (rows + per_row - 1) / per_row * f.to.n_x;
    if (!reserve(&f, error) ||
        !LITHO_CUDA(cudaMemsetAsync(card->direct.data, 0, sizeof(guint64), stream), error))
        return FALSE;
    litho_cuda_mark(card->context, "clusters", LITHO_STAGE_COMPUTE, 0, 0);
    for (int q = 0; q < task->chain->n_rhs; q++) {
        float *sums = y + twsm_field_row(task, to->padded, q);
        gsize padding = 8 * (gsize)(to->padded - to->n) * task->stride;
        if (!LITHO_CUDA(cudaMemsetAsync(sums + 2 * (gsize)to->n * task->stride, 0, padding, stream),
                        error) ||
            !run_source(&f, q, u + twsm_field_row(task, f.leg.n_from, q), sums, error))
            return FALSE;
    }
    litho_cuda_mark_end(card->context);
    return !task->report_share || tell_share(&f, rows, error);
}
