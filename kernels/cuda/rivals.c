// SPDX-License-Identifier: GPL-3.0-or-later
//
// Timing of two ways to do one thing. Runs take turns, so that a clock that falls or a neighbour on
// the card meets both.
#include <stdlib.h>

#include "core/sort.h"
#include "kernels/cuda/cuda.h"

enum { MOST_SIDES = 4 };

static gboolean time_side(LithoCudaContext *context, const LithoCudaSide *side,
                          cudaEvent_t event[2], double *ms, GError **error)
{
    cudaStream_t stream = litho_cuda_stream(context);
    float passed = 0;
    if ((side->prepare && !side->prepare(side->data, error)) ||
        !LITHO_CUDA(cudaStreamSynchronize(stream), error) ||
        !LITHO_CUDA(cudaEventRecord(event[0], stream), error) || !side->work(side->data, error) ||
        !LITHO_CUDA(cudaEventRecord(event[1], stream), error) ||
        !LITHO_CUDA(cudaEventSynchronize(event[1]), error) ||
        !LITHO_CUDA(cudaEventElapsedTime(&passed, event[0], event[1]), error))
        return FALSE;
    *ms = passed;
    return TRUE;
}

static double median_of(double *ms, int n)
{
    qsort(ms, n, sizeof *ms, litho_compare_double);
    return n % 2 ? ms[n / 2] : 0.5 * (ms[n / 2 - 1] + ms[n / 2]);
}

gboolean litho_cuda_in_turn(LithoCudaContext *context, const LithoCudaSide *sides, int n,
                            int repeat, double *ms, GError **error)
{
    g_return_val_if_fail(n <= MOST_SIDES && repeat > 0, FALSE);
    g_autofree double *all = g_new0(double, (gsize)n *repeat);
    cudaEvent_t event[2] = {NULL, NULL};
    gboolean ok = LITHO_CUDA(cudaEventCreate(&event[0]), error) &&
                  LITHO_CUDA(cudaEventCreate(&event[1]), error);
    for (int k = -1; ok && k < repeat; k++)
        for (int s = 0; ok && s < n; s++)
            ok = time_side(context, &sides[s], event, &all[s * repeat + MAX(k, 0)], error);
    for (int s = 0; ok && s < n; s++)
        ms[s] = median_of(all + s * repeat, repeat);
    for (int k = 0; k < 2; k++)
        if (event[k])
            cudaEventDestroy(event[k]);
    return ok;
}

// splitmix64 of the place.
void litho_cuda_noise(float *to, gint64 n, guint64 seed)
{
#pragma omp parallel for schedule(static)
    for (gint64 k = 0; k < n; k++) {
        guint64 z = (guint64)k + seed * 0x9e3779b97f4a7c15u + 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        z ^= z >> 31;
        to[k] = (float)((double)(z >> 11) / 4503599627370496.0 - 1);
    }
}

gboolean litho_cuda_send(LithoCudaContext *context, void *to, const void *from, size_t bytes,
                         GError **error)
{
    cudaStream_t stream = litho_cuda_stream(context);
    return LITHO_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), error) &&
           LITHO_CUDA(cudaStreamSynchronize(stream), error);
}

gboolean litho_cuda_fetch(LithoCudaContext *context, void *to, const void *from, size_t bytes,
                          GError **error)
{
    cudaStream_t stream = litho_cuda_stream(context);
    return LITHO_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream), error) &&
           LITHO_CUDA(cudaStreamSynchronize(stream), error);
}
