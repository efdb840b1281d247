// SPDX-License-Identifier: GPL-3.0-or-later
//
// A result on the device becomes a texture without a copy through the host. cuda_gl_interop.h wants
// OpenGL's headers for two typedefs; the one function we need is declared here instead.
#include "core/error.h"
#include "kernels/cuda/cuda.h"

extern cudaError_t cudaGraphicsGLRegisterImage(struct cudaGraphicsResource **resource,
                                               unsigned int image, unsigned int target,
                                               unsigned int flags);

enum { GL_TEXTURE_3D = 0x806F };

typedef struct Share {
    int device;
    cudaStream_t stream;
    cudaGraphicsResource_t resource;
} Share;

static void release(gpointer handle)
{
    Share *share = handle;
    if (!share)
        return;
    if (litho_cuda_use(share->device, NULL)) {
        if (share->resource)
            cudaGraphicsUnregisterResource(share->resource);
        if (share->stream)
            cudaStreamDestroy(share->stream);
        cudaGetLastError();
    }
    g_free(share);
}

static gpointer acquire(int device, guint texture, GError **error)
{
    if (!litho_cuda_use(device, error))
        return NULL;
    Share *share = g_new0(Share, 1);
    share->device = device;
    // Not WriteDiscard: fill() may bring a part of the cube and must leave the rest.
    if (LITHO_CUDA(cudaStreamCreateWithFlags(&share->stream, cudaStreamNonBlocking), error) &&
        LITHO_CUDA_SAYING(cudaGraphicsGLRegisterImage(&share->resource, texture, GL_TEXTURE_3D,
                                                      cudaGraphicsRegisterFlagsNone),
                          error, "texture %u, device %d", texture, device))
        return share;
    release(share);
    return NULL;
}

static gboolean copy_into(Share *share, const LithoBuffer *buffer, const gint64 at[3],
                          const gint64 count[3], GError **error)
{
    cudaArray_t array = NULL;
    if (!LITHO_CUDA(cudaGraphicsSubResourceGetMappedArray(&array, share->resource, 0, 0), error))
        return FALSE;
    const struct cudaMemcpy3DParms copy = {
        .srcPtr = {.ptr = buffer->data,
                   .pitch = count[0] * sizeof(float),
                   .xsize = count[0],
                   .ysize = count[1]},
        .dstArray = array,
        .dstPos = {at[0], at[1], at[2]},
        .extent = {count[0], count[1], count[2]},
        .kind = cudaMemcpyDeviceToDevice,
    };
    return LITHO_CUDA_SAYING(cudaMemcpy3DAsync(&copy, share->stream), error,
                             "%" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
                             " samples",
                             count[0], count[1], count[2]);
}

static gboolean fill(gpointer handle, const LithoBuffer *buffer, const gint64 at[3],
                     const gint64 count[3], GError **error)
{
    Share *share = handle;
    if (buffer->device != share->device || count[0] * count[1] * count[2] > buffer->count) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
                    "the buffer is on another GPU or holds fewer samples than are to be shown");
        return FALSE;
    }
    if (!litho_cuda_use(share->device, error) ||
        !LITHO_CUDA(cudaGraphicsMapResources(1, &share->resource, share->stream), error))
        return FALSE;
    gboolean ok = copy_into(share, buffer, at, count, error);
    // Unmapping orders GL's later use behind the stream; the wait is for the caller, who may drop
    // the buffer as soon as we return.
    cudaError_t unmapped = cudaGraphicsUnmapResources(1, &share->resource, share->stream);
    cudaError_t waited = cudaStreamSynchronize(share->stream);
    return ok && LITHO_CUDA(unmapped, error) && LITHO_CUDA(waited, error);
}

const LithoGlShare litho_cuda_gl = {.acquire = acquire, .fill = fill, .release = release};
