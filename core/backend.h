// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"
#include "core/similarity.h"

// Backends run operators. The CPU is built in; CUDA is a module, lithoscope-cuda.so, opened at run
// time and never closed. The program sees it through this one table.

#define LITHO_BACKEND_ABI 11

typedef struct LithoBackend LithoBackend;

typedef struct LithoDeviceInfo {
    char name[128];                    // "NVIDIA H200", "AMD EPYC, 16 threads"
    guint64 memory_total, memory_free; // bytes, at the time of asking
    int compute_major, compute_minor;  // 0 on the CPU
    int processors;                    // multiprocessors or hardware threads
    char driver[64];                   // "CUDA 13.0, driver 580.159.04"; "" on the CPU
} LithoDeviceInfo;

// Memory on a device. Made by a backend's alloc; `count` floats.
struct LithoBuffer {
    const LithoBackend *backend;
    int device;
    gint64 count;
    gpointer data; // the device pointer
};

// Sharing a device buffer with an OpenGL 3-D texture without a copy through the host. All calls
// from the thread that owns the GL context. Textures are GL names (GL_TEXTURE_3D, GL_R32F).
typedef struct LithoGlShare {
    // Registers `texture`; the handle lives until release(). NULL with a sentence when this GL
    // context is not on the device: the caller falls back to pixel buffers.
    gpointer (*acquire)(int device, guint texture, GError **error);
    // Copies `count[3]` samples (fastest first: sample, crossline, inline) of the dense `buffer`
    // to texel offset `at[3]`, device to device. The buffer may be freed at once. From the first
    // fill() to flush() the texture is not GL's.
    gboolean (*fill)(gpointer handle, const LithoBuffer *buffer, const gint64 at[3],
                     const gint64 count[3], GError **error);
    // GL may use the texture again; what it draws waits on the device for the copies. Handing a
    // texture over and back takes milliseconds beside a busy filter: once for many copies.
    gboolean (*flush)(gpointer handle, GError **error);
    void (*release)(gpointer handle);
} LithoGlShare;

struct LithoBackend {
    guint32 abi;     // LITHO_BACKEND_ABI; another number is refused when the module is opened
    const char *key; // "cpu", "cuda"
    const char *title;

    int n_devices; // 0 = cannot run here, `why_not` says why in one sentence
    char why_not[256];

    gboolean (*device_info)(int device, LithoDeviceInfo *info, GError **error);
    const LithoImpl *(*impl)(const LithoOperator *op); // NULL = not on this backend

    // `memory` answers litho_device_memory(). `limit_memory` sets the cap behind it: from now on
    // jobs take no more than `bytes` of each device, 0 = all there is; memory that they hold
    // already stays theirs. NULL on the CPU backend.
    gboolean (*memory)(int device, guint64 *free_bytes, guint64 *total, GError **error);
    void (*limit_memory)(guint64 bytes);
    // Buffers; NULL on the CPU backend. alloc fails with LITHO_ERROR_MEMORY, naming need and free.
    LithoBuffer *(*alloc)(int device, gint64 count, GError **error);
    void (*free)(LithoBuffer *buffer);
    gboolean (*upload)(LithoBuffer *buffer, gint64 at, const float *from, gint64 count,
                       GError **error);
    gboolean (*download)(const LithoBuffer *buffer, gint64 at, float *to, gint64 count,
                         GError **error);
    // Host memory that many downloads go to: pinned, they need no processor and have the whole
    // link. pin() takes longer than a download; FALSE = not possible. unpin() before the memory is
    // freed. NULL = not offered. Any thread.
    gboolean (*pin)(int device, gpointer memory, gsize bytes);
    void (*unpin)(gpointer memory);
    // litho_mute_keep() (core/mute.h) for an output on a device; what is on the host only of `in`
    // is uploaded and stays there. NULL on the CPU backend.
    gboolean (*keep_mute)(const LithoCube *in, LithoCube *out, LithoBox region, GError **error);
    // Similarity of litho_similarity() for an output on a device: |c| over plan->box into `map`,
    // host floats. What is on the host only of `in` is uploaded and stays there. NULL = not
    // offered.
    gboolean (*similarity)(const LithoSimilarityPlan *plan, const LithoCube *in,
                           const LithoCube *out, float *map, GError **error);
    // litho_qc_histogram() of a cube on a device. NULL = not offered.
    gboolean (*histogram)(const LithoCube *cube, double lo, double hi, guint bins, guint64 *counts,
                          GError **error);
    const LithoGlShare *gl; // NULL = none
    // Roofs measured now, for benchmarks: bytes/s of a copy (read + write counted) and fp32 FMA
    // flop/s on `device`. NULL = not offered.
    gboolean (*probe_roof)(int device, double *bytes_per_s, double *flops_per_s, GError **error);
    // Roofs of the link between host and device: bytes/s one way at a time, from and to memory
    // that the device reaches by itself. NULL = not offered.
    gboolean (*probe_link)(int device, double *up, double *down, GError **error);
};

// The module's only symbol: `const LithoBackend *litho_backend_entry(void)`.
typedef const LithoBackend *(*LithoBackendEntry)(void);
#define LITHO_BACKEND_ENTRY "litho_backend_entry"

const LithoBackend *litho_backend_cpu(void);
// Folders in which modules may lie, best first: $LITHO_MODULE_DIR, the program's own, the installed
// tree's library folder by its path from the program, the build's kernels/cuda. Of char *;
// g_ptr_array_unref().
GPtrArray *litho_module_folders(void);
// The CUDA module, opened at the first call (thread-safe) from these folders. Never NULL: when it
// cannot be loaded the table has n_devices 0 and says why.
const LithoBackend *litho_backend_cuda(void);

// A backend and one of its devices: where a job runs. Devices index .. index + count - 1 share the
// work of operators that can be shared out (LithoOperator.split); data lie on the first.
typedef struct LithoDevice {
    const LithoBackend *backend;
    int index;
    int count; // 0 = one
} LithoDevice;

LithoDevice litho_device_cpu(void);
// From "auto", "cpu", "cuda", "cuda:1", "cuda:all" or "cuda:0-3". auto = first CUDA device if there
// is one, else the CPU. FALSE: asked for and not there, with the reason.
gboolean litho_device_parse(const char *text, LithoDevice *device, GError **error);
gboolean litho_device_is_same(LithoDevice a, LithoDevice b);
// Number of the device's `count` that share the work of `op` with these parameters, for LithoRun.
int litho_device_sharing(LithoDevice device, const LithoOperator *op, const LithoGrid *in,
                         const void *params);
// "NVIDIA H200", "2 x NVIDIA H200" or "CPU, 2 threads"; g_free().
char *litho_device_label(LithoDevice device, int threads);
// Bytes that jobs on `device` may still take, and all that they may take there (what is free on the
// CPU; a cap on the GPU's memory counts). Against `total` one sets what litho_engine_memory() says
// a pass needs: part of what is not free is held by our own earlier passes. Cheap once the device
// has been used (else its start, a second); any thread.
gboolean litho_device_memory(LithoDevice device, guint64 *free_bytes, guint64 *total,
                             GError **error);
// Copies the host samples of `cube` to `device`, where a pass will find them: so that the copy runs
// beside another pass. Nothing on the CPU, or when they are on some device already. Any thread.
gboolean litho_device_upload(LithoDevice device, LithoCube *cube, GError **error);
// Implementation of `op` there; NULL with a sentence when the operator has none.
const LithoImpl *litho_device_impl(LithoDevice device, const LithoOperator *op, GError **error);
