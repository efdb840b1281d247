// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/mute.h"

#include "core/error.h"
#include "core/mute.h"
#include "kernels/cuda/cuda.h"

static LithoMuteBox mute_box(LithoBox box)
{
    return (LithoMuteBox){box.lo[0], box.lo[1], box.lo[2], litho_box_size(box, 1),
                          litho_box_size(box, 2)};
}

gboolean litho_cuda_keep_mute(const LithoCube *in, LithoCube *out, LithoBox region, GError **error)
{
    const int device = out->device->device;
    const size_t traces = (size_t)litho_box_size(in->held, 0) * litho_box_size(in->held, 1);
    const cudaStream_t stream = cudaStreamPerThread;
    void *copy, *live = NULL;
    const float *from = litho_cuda_samples_on(device, in, &copy, error);
    LithoMute mute = {.in = from,
                      .out = out->device->data,
                      .in_box = mute_box(in->held),
                      .out_box = mute_box(out->held),
                      .region = mute_box(region),
                      .traces = litho_box_size(region, 0) * litho_box_size(region, 1),
                      .all = in->grid.axis[2].n,
                      .in_traces = (long long)traces,
                      .run = LITHO_MUTE_RUN};
    gboolean ok =
        from && litho_cuda_use(device, error) && litho_cuda_alloc(device, &live, traces, error) &&
        LITHO_CUDA(cudaMemcpyAsync(live, in->live, traces, cudaMemcpyHostToDevice, stream), error);
    mute.live = live;
    ok = ok && LITHO_CUDA(litho_mute_launch(&mute, stream), error);
    // The memory goes back after the last work that uses it.
    const cudaError_t end = from ? cudaStreamSynchronize(stream) : cudaSuccess;
    ok = ok && LITHO_CUDA(end, error);
    litho_cuda_free(device, live);
    litho_cuda_free(device, copy);
    return ok;
}
