// SPDX-License-Identifier: GPL-3.0-or-later
//
// Thresholds on CUDA. A hard one of the complex boxes is left to their FFTs, which read all
// coefficients anyhow: a reading and a writing less. What else asks for the coefficients makes it
// be done before (wp_cuda_settle()).
#include <string.h>

#include "core/error.h"
#include "kernels/wavepacket/cuda/wavepacket.h"
#include "kernels/wavepacket/local.h"

static cudaStream_t stream_of(const WpCuda *cuda)
{
    return litho_cuda_stream(cuda->context);
}

// --- what is due ---------------------------------------------------------------------------------

// The coarse box comes first. The host has its windows, and writes them between threshold and FFTs.
static int first_left(const WpGeometry *g)
{
    return g->n_boxes > 0 && g->boxes[0].kind == WP_COARSE ? 1 : 0;
}

gint64 wp_cuda_first_due(const WpCuda *cuda)
{
    const WpGeometry *g = cuda->engine.geometry;
    return first_left(g) < g->n_boxes ? g->boxes[first_left(g)].at : g->floats;
}

static size_t bytes_of_counts(const WpGeometry *g)
{
    return (g->n_boxes + 1) * sizeof(unsigned long long);
}

static gboolean fetch_counts(WpCuda *cuda, GError **error)
{
    WpDue *due = &cuda->due;
    const unsigned long long *counts = due->counts;
    if (!counts || due->rule.x)
        return TRUE;
    due->counts = NULL;
    return LITHO_CUDA(cudaMemcpyAsync(cuda->counted, counts, bytes_of_counts(cuda->engine.geometry),
                                      cudaMemcpyDeviceToHost, stream_of(cuda)),
                      error);
}

gboolean wp_cuda_ruled(WpCuda *cuda, GError **error)
{
    cuda->due.rule.x = NULL;
    return fetch_counts(cuda, error);
}

// The threshold by itself, of boxes from `first` on.
static gboolean threshold_boxes(WpCuda *cuda, int first, int last, const WpRule *rule,
                                const float *key, const float *x, float *out,
                                unsigned long long *kept, GError **error)
{
    const WpDevBox *boxes = cuda->boxes.data;
    const float *level = cuda->small.data;
    return first >= last ||
           LITHO_CUDA(wp_cuda_shrink(boxes + first, last - first, 0, level + first, rule->soft,
                                     rule->drops, key, x, out, kept + first, stream_of(cuda)),
                      error);
}

gboolean wp_cuda_settle(WpCuda *cuda, GError **error)
{
    const WpDevRule due = cuda->due.rule;
    const WpRule rule = {.drops = due.drops};
    if (!due.x)
        return wp_cuda_join_residual(cuda, error);
    cuda->due.rule.x = NULL;
    litho_cuda_mark(cuda->context, "shrink", LITHO_STAGE_COMPUTE,
                    8.0 * (double)cuda->engine.geometry->floats, 0);
    if (!threshold_boxes(cuda, due.first, wp_cuda_complex_boxes(cuda->engine.geometry), &rule,
                         (const float *)due.x, (const float *)due.x, cuda->due.to, due.kept, error))
        return FALSE;
    litho_cuda_mark_end(cuda->context);
    return fetch_counts(cuda, error) && wp_cuda_join_residual(cuda, error);
}

// --- local windows -------------------------------------------------------------------------------

// The share's rows of the residual box; `limit`, `kept`: room on the device.
static gboolean shrink_local(WpCuda *cuda, const WpLocalShare *share, const WpRule *rule,
                             float *limit, unsigned long long *kept, GError **error)
{
    const int *n = share->box->n;
    const gint64 row = (gint64)n[1] * n[2], rows = share->rows.to - share->rows.from;
    const int count[3] = {wp_local_windows(n[0]), wp_local_windows(n[1]), wp_local_pairs(n[2])};
    const gint64 first = share->rows.from * row;
    const size_t bytes = (size_t)(rows * row) * sizeof *share->out;
    float taper[3 * WP_LOCAL];
    for (int a = 0; a < 3; a++)
        wp_local_taper(n[a], taper + a * WP_LOCAL);
    litho_cuda_mark(cuda->context, "local windows", LITHO_STAGE_COMPUTE,
                    24.0 * (double)(rows * row), 8 * 2 * 3 * 5 * 4.0 * (double)(rows * row));
    return (!share->beside || wp_cuda_join(cuda, 1, cuda->joined[1], error)) &&
           LITHO_CUDA(cudaMemcpyAsync(limit, rule->local, WP_LOCAL_LIMITS * sizeof *limit,
                                      cudaMemcpyHostToDevice, stream_of(cuda)),
                      error) &&
           LITHO_CUDA(rule->drops ? cudaMemcpyAsync(share->out + first, share->x + first, bytes,
                                                    cudaMemcpyDeviceToDevice, stream_of(cuda))
                                  : cudaMemsetAsync(share->out + first, 0, bytes, stream_of(cuda)),
                      error) &&
           LITHO_CUDA(wp_cuda_local(n, count, &share->rows, taper, share->x, share->out, limit,
                                    rule->soft, rule->drops, kept, stream_of(cuda)),
                      error);
}

// --- the rule ------------------------------------------------------------------------------------

// In `small` lie levels, counts, and room for the windows' limits.
static gboolean send_levels(WpCuda *cuda, const float *level, char **counts, char **limit,
                            GError **error)
{
    const WpGeometry *g = cuda->engine.geometry;
    const size_t levels = (g->n_boxes * sizeof *level + 255) / 256 * 256;
    const size_t counted = (bytes_of_counts(g) + 255) / 256 * 256;
    const size_t rest = WP_LOCAL_LIMITS * sizeof(float);
    if (!litho_cuda_reserve(cuda->context, &cuda->small, levels + counted + rest, error))
        return FALSE;
    *counts = (char *)cuda->small.data + levels;
    *limit = *counts + counted;
    return LITHO_CUDA(cudaMemcpyAsync(cuda->small.data, level, g->n_boxes * sizeof *level,
                                      cudaMemcpyHostToDevice, stream_of(cuda)),
                      error) &&
           LITHO_CUDA(cudaMemsetAsync(*counts, 0, counted, stream_of(cuda)), error);
}

// The FFTs apply hard rules, where none of the boxes goes through cuFFT.
static gboolean left_to_ffts(const WpCuda *cuda, const float *key, const float *x, const float *out,
                             const WpRule *rule)
{
    return !rule->soft && key == x && x != out && cuda->n_runs == 0 && cuda->n_launches > 0;
}

gboolean wp_cuda_ask_shrink(WpCuda *cuda, const float *key, const float *x, float *out,
                            const WpRule *rule, const WpLocalShare *share,
                            unsigned long long **counts, GError **error)
{
    const WpGeometry *g = cuda->engine.geometry;
    const WpBox *residual = wp_residual(g);
    const int last = wp_cuda_complex_boxes(g);
    const gboolean left = left_to_ffts(cuda, key, x, out, rule);
    char *kept, *limit;
    if (!wp_cuda_settle(cuda, error) || !send_levels(cuda, rule->level, &kept, &limit, error))
        return FALSE;
    *counts = (unsigned long long *)(void *)kept;
    litho_cuda_mark(cuda->context, "shrink", LITHO_STAGE_COMPUTE,
                    left ? 0 : 8.0 * (double)g->floats, 0);
    if (!threshold_boxes(cuda, 0, left ? first_left(g) : last, rule, key, x, out, *counts, error) ||
        (residual && !rule->local &&
         !LITHO_CUDA(wp_cuda_shrink((WpDevBox *)cuda->boxes.data + last, 0, 1,
                                    (float *)cuda->small.data + last, rule->soft, rule->drops, key,
                                    x, out, *counts + last, stream_of(cuda)),
                     error)) ||
        (share &&
         !shrink_local(cuda, share, rule, (float *)(void *)limit, *counts + g->n_boxes, error)))
        return FALSE;
    litho_cuda_mark_end(cuda->context);
    cuda->due.to = out;
    if (left)
        cuda->due.rule = (WpDevRule){.x = (const float2 *)x,
                                     .level = cuda->small.data,
                                     .kept = *counts,
                                     .first = first_left(g),
                                     .drops = rule->drops};
    return TRUE;
}

gboolean wp_cuda_ask_counts(WpCuda *cuda, const unsigned long long *counts, GError **error)
{
    cuda->due.counts = counts;
    return (cuda->counted || LITHO_CUDA(cudaMallocHost((void **)&cuda->counted,
                                                       bytes_of_counts(cuda->engine.geometry)),
                                        error)) &&
           fetch_counts(cuda, error);
}

gboolean wp_cuda_settle_counts(WpCuda *cuda, GError **error)
{
    const int n = cuda->engine.geometry->n_boxes;
    guint64 *kept = cuda->counts_to;
    cuda->counts_to = NULL;
    if (!kept)
        return TRUE;
    if (!wp_cuda_settle(cuda, error) || !LITHO_CUDA(cudaStreamSynchronize(stream_of(cuda)), error))
        return FALSE;
    for (int b = 0; b < n; b++)
        kept[b] += cuda->counted[b];
    if (cuda->counts_of)
        kept[n - 1] += wp_local_share(cuda->counts_of, cuda->counted[n]);
    return TRUE;
}

gboolean wp_cuda_shrink_boxes(WpEngine *engine, const float *key, const float *x, float *out,
                              const WpRule *rule, guint64 *kept, GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    const WpBox *windows = rule->local ? wp_residual(engine->geometry) : NULL;
    WpLocalShare whole = {.box = windows};
    if (windows)
        whole =
            (WpLocalShare){windows, {0, windows->n[0]}, x + windows->at, out + windows->at, FALSE};
    unsigned long long *counts;
    if (!wp_cuda_settle_counts(cuda, error) ||
        !wp_cuda_ask_shrink(cuda, key, x, out, rule, windows ? &whole : NULL, &counts, error))
        return FALSE;
    if (!kept)
        return TRUE;
    if (!wp_cuda_ask_counts(cuda, counts, error))
        return FALSE;
    cuda->counts_to = kept;
    cuda->counts_of = windows;
    return TRUE;
}
