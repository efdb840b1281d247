// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/histogram.h"

#include "kernels/cuda/cuda.h"

gboolean litho_cuda_histogram(const LithoCube *cube, double lo, double hi, guint bins,
                              guint64 *counts, GError **error)
{
    const int device = cube->device->device;
    const cudaStream_t stream = cudaStreamPerThread;
    const gint64 traces = litho_box_size(cube->held, 0) * litho_box_size(cube->held, 1);
    const size_t bytes = bins * sizeof *counts;
    void *block = NULL; // the counts and the mask
    if (!litho_cuda_alloc(device, &block, bytes + (size_t)traces, error))
        return FALSE;
    LithoHistogram h = {.samples = cube->device->data,
                        .live = (const unsigned char *)block + bytes,
                        .traces = traces,
                        .length = litho_box_size(cube->held, 2),
                        .lo = lo,
                        .scale = bins / (hi - lo),
                        .bins = bins,
                        .counts = block};
    gboolean ok =
        litho_cuda_use(device, error) &&
        LITHO_CUDA(cudaMemsetAsync(block, 0, bytes, stream), error) &&
        LITHO_CUDA(cudaMemcpyAsync((char *)block + bytes, cube->live, (size_t)traces,
                                   cudaMemcpyHostToDevice, stream),
                   error) &&
        LITHO_CUDA(litho_histogram_launch(&h, stream), error) &&
        LITHO_CUDA(cudaMemcpyAsync(counts, block, bytes, cudaMemcpyDeviceToHost, stream), error);
    // The memory goes back after the last work that uses it.
    const cudaError_t end = cudaStreamSynchronize(stream);
    ok = ok && LITHO_CUDA(end, error);
    litho_cuda_free(device, block);
    return ok;
}
