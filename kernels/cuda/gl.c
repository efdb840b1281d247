// SPDX-License-Identifier: GPL-3.0-or-later
//
// A result on the device becomes a texture without a copy through the host. With several GPUs,
// OpenGL may draw on another one than computes: the samples go over the link between the two.
// cuda_gl_interop.h wants OpenGL's headers for two typedefs; the functions we need are declared
// here instead.
#include "core/error.h"
#include "core/phases.h"
#include "core/text.h"
#include "kernels/cuda/cuda.h"

extern cudaError_t cudaGraphicsGLRegisterImage(struct cudaGraphicsResource **resource,
                                               unsigned int image, unsigned int target,
                                               unsigned int flags);
extern cudaError_t cudaGLGetDevices(unsigned int *count, int *devices, unsigned int room, int list);

enum { GL_TEXTURE_3D = 0x806F, ALL_DEVICES = 1, MAX_READS = 256 };

typedef struct Share {
    int device;  // of the buffers, our number
    int ordinal; // of OpenGL's GPU, CUDA's number
    cudaStream_t stream;
    cudaGraphicsResource_t resource;
    gboolean mapped;              // the texture is ours
    cudaEvent_t copied;           // the end of the newest copy
    const void *reads[MAX_READS]; // memory that copies under way may still read
    guint n_reads;
} Share;

// Shares of all textures. The thread of the window does not wait for a copy: behind a kernel of the
// filter that takes tens of milliseconds. The memory is given back by whoever drops the cube, and
// that is put off on the device.
static GMutex lock; // guards the list, and `reads` of all in it
static GSList *shares;

void litho_cuda_gl_free_after(const void *data, cudaStream_t stream)
{
    g_mutex_lock(&lock);
    for (GSList *l = shares; l; l = l->next) {
        const Share *share = l->data;
        guint k = 0;
        while (k < share->n_reads && share->reads[k] != data)
            k++;
        if (k < share->n_reads)
            cudaStreamWaitEvent(stream, share->copied, 0);
    }
    g_mutex_unlock(&lock);
}

static void forget_share(Share *share)
{
    g_mutex_lock(&lock);
    shares = g_slist_remove(shares, share);
    g_mutex_unlock(&lock);
}

static void release(gpointer handle)
{
    Share *share = handle;
    if (!share)
        return;
    const gboolean there = cudaSetDevice(share->ordinal) == cudaSuccess;
    if (there) {
        if (share->mapped)
            cudaGraphicsUnmapResources(1, &share->resource, share->stream);
        if (share->stream)
            cudaStreamSynchronize(share->stream);
    }
    forget_share(share); // between: nobody waits for an event that is gone
    if (there) {
        if (share->resource)
            cudaGraphicsUnregisterResource(share->resource);
        if (share->copied)
            cudaEventDestroy(share->copied);
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

// A copy goes before the blocks of a kernel that have not begun.
static gboolean make_stream(Share *share, GError **error)
{
    int least = 0, greatest = 0;
    return LITHO_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest), error) &&
           LITHO_CUDA(cudaStreamCreateWithPriority(&share->stream, cudaStreamNonBlocking, greatest),
                      error) &&
           LITHO_CUDA(cudaEventCreateWithFlags(&share->copied, cudaEventDisableTiming), error);
}

static gpointer acquire(int device, guint texture, GError **error)
{
    if (!litho_cuda_use(device, error))
        return NULL;
    Share *share = g_new0(Share, 1);
    share->device = device;
    share->ordinal = drawing_ordinal(device);
    link_devices(share);
    g_mutex_lock(&lock);
    shares = g_slist_prepend(shares, share);
    g_mutex_unlock(&lock);
    // Not WriteDiscard: fill() may bring a part of the cube and must leave the rest.
    if (LITHO_CUDA(cudaSetDevice(share->ordinal), error) && make_stream(share, error) &&
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

// Before the copy is launched: nobody can give the memory back in between.
static gboolean note_read(Share *share, const void *data, GError **error)
{
    const gboolean over = share->n_reads == 0 || cudaEventQuery(share->copied) == cudaSuccess;
    cudaGetLastError();
    if (!over && share->n_reads == MAX_READS &&
        !LITHO_CUDA(cudaEventSynchronize(share->copied), error))
        return FALSE;
    g_mutex_lock(&lock);
    if (over || share->n_reads == MAX_READS)
        share->n_reads = 0;
    share->reads[share->n_reads++] = data;
    g_mutex_unlock(&lock);
    return TRUE;
}

static gboolean map(Share *share, GError **error)
{
    share->mapped = share->mapped ||
                    LITHO_CUDA(cudaGraphicsMapResources(1, &share->resource, share->stream), error);
    return share->mapped;
}

static gboolean fill(gpointer handle, const LithoBuffer *buffer, const gint64 at[3],
                     const gint64 count[3], GError **error)
{
    Share *share = handle;
    const char *around;
    if (buffer->device != share->device || count[0] * count[1] * count[2] > buffer->count) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
                    _("the buffer is on another GPU or holds fewer samples than are to be shown"));
        return FALSE;
    }
    around = litho_phase_begin("texture goes to CUDA");
    gboolean ok = LITHO_CUDA(cudaSetDevice(share->ordinal), error) &&
                  note_read(share, buffer->data, error) && map(share, error);
    litho_phase_end(around);
    around = litho_phase_begin("texture copy");
    ok = ok && copy_into(share, buffer, at, count, error) &&
         LITHO_CUDA(cudaEventRecord(share->copied, share->stream), error);
    litho_phase_end(around);
    litho_cuda_use(share->device, NULL);
    return ok;
}

// Unmapping orders GL's later use behind the copies.
static gboolean flush(gpointer handle, GError **error)
{
    Share *share = handle;
    if (!share->mapped)
        return TRUE;
    share->mapped = FALSE;
    const char *around = litho_phase_begin("texture goes to OpenGL");
    const gboolean ok =
        LITHO_CUDA(cudaSetDevice(share->ordinal), error) &&
        LITHO_CUDA(cudaGraphicsUnmapResources(1, &share->resource, share->stream), error);
    litho_cuda_use(share->device, NULL);
    litho_phase_end(around);
    return ok;
}

const LithoGlShare litho_cuda_gl = {
    .acquire = acquire, .fill = fill, .flush = flush, .release = release};
