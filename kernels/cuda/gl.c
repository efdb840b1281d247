// SPDX-License-Identifier: GPL-3.0-or-later
//
// A result on the device becomes a texture without a copy through the host. With several GPUs,
// OpenGL may draw on another one than computes: the samples go over the link between the two.
// cuda_gl_interop.h wants OpenGL's headers for two typedefs; the functions we need are declared
// here instead.
#include "core/error.h"
#include "kernels/cuda/cuda.h"

extern cudaError_t cudaGraphicsGLRegisterImage(struct cudaGraphicsResource **resource,
                                               unsigned int image, unsigned int target,
                                               unsigned int flags);
extern cudaError_t cudaGLGetDevices(unsigned int *count, int *devices, unsigned int room, int list);

enum { GL_TEXTURE_3D = 0x806F, ALL_DEVICES = 1 };

typedef struct Share {
    int device;  // of the buffers, our number
    int ordinal; // of OpenGL's GPU, CUDA's number
    cudaStream_t stream;
    cudaGraphicsResource_t resource;
} Share;

static void release(gpointer handle)
{
    Share *share = handle;
    if (!share)
        return;
    if (cudaSetDevice(share->ordinal) == cudaSuccess) {
        if (share->resource)
            cudaGraphicsUnregisterResource(share->resource);
        if (share->stream)
            cudaStreamDestroy(share->stream);
    }
    cudaGetLastError();
    litho_cuda_use(share->device, NULL);
    g_free(share);
}

// CUDA's number of the GPU that this thread's OpenGL draws on: the device's own where it is one of
// them, and where OpenGL does not say.
static int drawing_ordinal(int device)
{
    enum { ROOM = 16 };
    int ordinals[ROOM];
    unsigned count = 0;
    const int own = litho_cuda_ordinal(device);
    const gboolean known =
        cudaGLGetDevices(&count, ordinals, ROOM, ALL_DEVICES) == cudaSuccess && count > 0;
    cudaGetLastError();
    for (unsigned k = 0; known && k < count; k++)
        if (ordinals[k] == own)
            return own;
    return known ? ordinals[0] : own;
}

// Lets the drawing GPU read what the computing one holds.
static void link_devices(const Share *share)
{
    for (int k = 0; k < litho_cuda_backend()->n_devices; k++)
        if (k != share->device && litho_cuda_ordinal(k) == share->ordinal)
            litho_cuda_link(k, share->device);
}

static gpointer acquire(int device, guint texture, GError **error)
{
    if (!litho_cuda_use(device, error))
        return NULL;
    Share *share = g_new0(Share, 1);
    share->device = device;
    share->ordinal = drawing_ordinal(device);
    link_devices(share);
    // Not WriteDiscard: fill() may bring a part of the cube and must leave the rest.
    if (LITHO_CUDA(cudaSetDevice(share->ordinal), error) &&
        LITHO_CUDA(cudaStreamCreateWithFlags(&share->stream, cudaStreamNonBlocking), error) &&
        LITHO_CUDA_SAYING(cudaGraphicsGLRegisterImage(&share->resource, texture, GL_TEXTURE_3D,
                                                      cudaGraphicsRegisterFlagsNone),
                          error, "texture %u, device %d", texture, share->ordinal) &&
        litho_cuda_use(device, error))
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
    const struct cudaPitchedPtr from = {.ptr = buffer->data,
                                        .pitch = count[0] * sizeof(float),
                                        .xsize = count[0],
                                        .ysize = count[1]};
    const struct cudaMemcpy3DPeerParms between = {
        .srcPtr = from,
        .srcDevice = litho_cuda_ordinal(buffer->device),
        .dstArray = array,
        .dstDevice = share->ordinal,
        .dstPos = {at[0], at[1], at[2]},
        .extent = {count[0], count[1], count[2]},
    };
    const struct cudaMemcpy3DParms copy = {
        .srcPtr = from,
        .dstArray = array,
        .dstPos = {at[0], at[1], at[2]},
        .extent = {count[0], count[1], count[2]},
        .kind = cudaMemcpyDeviceToDevice,
    };
    const gboolean here = share->ordinal == between.srcDevice;
    return LITHO_CUDA_SAYING(
        here ? cudaMemcpy3DAsync(&copy, share->stream)
             : cudaMemcpy3DPeerAsync(&between, share->stream),
        error, "%" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " samples",
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
    if (!LITHO_CUDA(cudaSetDevice(share->ordinal), error) ||
        !LITHO_CUDA(cudaGraphicsMapResources(1, &share->resource, share->stream), error))
        return FALSE;
    gboolean ok = copy_into(share, buffer, at, count, error);
    // Unmapping orders GL's later use behind the stream; the wait is for the caller, who may drop
    // the buffer as soon as we return.
    cudaError_t unmapped = cudaGraphicsUnmapResources(1, &share->resource, share->stream);
    cudaError_t waited = cudaStreamSynchronize(share->stream);
    litho_cuda_use(share->device, NULL);
    return ok && LITHO_CUDA(unmapped, error) && LITHO_CUDA(waited, error);
}

const LithoGlShare litho_cuda_gl = {.acquire = acquire, .fill = fill, .release = release};
