// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <cuda_runtime_api.h>

#include "core/backend.h"

// Functions and macros that the CUDA side of every operator shares. Host code is C against the
// runtime's C API; a .cu file holds kernels and their launchers behind extern "C" prototypes with
// plain types. Each launcher returns (int)cudaGetLastError(). A .cu file includes neither GLib nor
// this header.
//
// kernels/template/cuda/template.c is the pattern to copy.

// --- errors -----------------------------------------------------------------------------------

// TRUE when `call` (anything that gives a cudaError_t, also as int) succeeded; else fills `error`
// with the call as it is written in the source, the place, and CUDA's reason. The _SAYING form adds
// the values that matter: LITHO_CUDA_SAYING(cudaMalloc(&p, n), error, "n = %zu", n).
#define LITHO_CUDA(call, error)                                                                    \
    litho_cuda_check((int)(call), #call, __FILE__, __LINE__, error, NULL)
#define LITHO_CUDA_SAYING(call, error, ...)                                                        \
    litho_cuda_check((int)(call), #call, __FILE__, __LINE__, error, __VA_ARGS__)
// Checks of the libraries' calls, whose status types have no common reading.
#define LITHO_CUFFT(call, error)                                                                   \
    litho_cuda_check_library((int)(call), "cuFFT", #call, __FILE__, __LINE__, error)
#define LITHO_CUBLAS(call, error)                                                                  \
    litho_cuda_check_library((int)(call), "cuBLAS", #call, __FILE__, __LINE__, error)
#define LITHO_CUSOLVER(call, error)                                                                \
    litho_cuda_check_library((int)(call), "cuSOLVER", #call, __FILE__, __LINE__, error)

gboolean litho_cuda_check(int status, const char *call, const char *file, int line, GError **error,
                          const char *format, ...) G_GNUC_PRINTF(6, 7);
gboolean litho_cuda_check_library(int status, const char *library, const char *call,
                                  const char *file, int line, GError **error);

// --- devices ----------------------------------------------------------------------------------

enum { LITHO_CUDA_DEVICES = 64 }; // the most of one machine that are used

// Makes `device` (our index, 0..n_devices-1) current in the calling thread. Device code compiled
// for other cards is left out of our count, so index and CUDA ordinal may differ.
gboolean litho_cuda_use(int device, GError **error);
// Bytes free on `device`, what its pool holds unused included, and all of its memory; both within
// the cap. litho_cuda_alloc() keeps it too.
gboolean litho_cuda_memory(int device, guint64 *free_bytes, guint64 *total, GError **error);
void litho_cuda_limit_memory(guint64 bytes); // 0 = none
const LithoBackend *litho_cuda_backend(void);

// --- one plan's place on a device ---------------------------------------------------------------

// Streams, stage timing, device arrays. One context belongs to one plan and is used by one thread
// at a time; litho_cuda_enter() says which.
typedef struct LithoCudaContext LithoCudaContext;

// A device array that only grows; {0} = empty. Freed with litho_cuda_release().
typedef struct LithoCudaArray {
    void *data;
    size_t bytes;
} LithoCudaArray;

LithoCudaContext *litho_cuda_context_new(int device, GError **error);
// One whose kernels go before those of others that have not begun.
LithoCudaContext *litho_cuda_context_new_urgent(int device, GError **error);
// Waits for the device. NULL is fine. The arrays made by reserve() must have been released.
void litho_cuda_context_free(LithoCudaContext *context);
// First thing in exec(): makes the device current in this thread and drops marks of a pass that
// failed.
gboolean litho_cuda_enter(LithoCudaContext *context, GError **error);
int litho_cuda_device(const LithoCudaContext *context);
// Everything of a pass is launched here; it does not wait for the legacy default stream.
cudaStream_t litho_cuda_stream(const LithoCudaContext *context);

// At least `bytes` in `array`. Growing loses the contents. LITHO_ERROR_MEMORY with need and free.
// Cheap (microseconds) when the pool has the room; ordered after all work in the context's stream.
gboolean litho_cuda_reserve(LithoCudaContext *context, LithoCudaArray *array, size_t bytes,
                            GError **error);
void litho_cuda_release(LithoCudaContext *context, LithoCudaArray *array);
// reserve(), and `bytes` of pageable host memory into it, in the order of the stream. `from` may go
// or change when the call returns.
gboolean litho_cuda_put(LithoCudaContext *context, LithoCudaArray *array, const void *from,
                        size_t bytes, GError **error);

// --- a pass -------------------------------------------------------------------------------------

// Device samples of `cube->held`, dense. A cube that has host samples only is uploaded once and
// keeps its device copy (stage "upload"); a cube on another device is copied over and kept in the
// context until the next such cube. Any number of threads may ask for the same cube.
const float *litho_cuda_input(LithoCudaContext *context, const LithoCube *cube, LithoRun *run,
                              GError **error);
// A new cube with host samples of `box`, whole traces of the cube's box, from the device: the cube
// itself gets none. NULL: no memory, the device's sentence. Waits for the stream.
LithoCube *litho_cuda_fetch_box(LithoCudaContext *context, const LithoCube *cube, LithoBox box,
                                LithoRun *run, GError **error);
// TRUE when litho_cuda_input() would find the cube on the context's device, without a copy.
gboolean litho_cuda_is_here(LithoCudaContext *context, const LithoCube *cube);
// Called while a cube is on its way: samples [0, ready) of cube->held are valid for whatever is
// launched into the context's stream from now on. FALSE stops.
typedef gboolean (*LithoCudaArrived)(const float *samples, gint64 ready, gpointer data,
                                     GError **error);
// litho_cuda_input() for work that can begin before the last sample has arrived: `arrived` is
// called one or more times with growing `ready`, at last with all of them.
const float *litho_cuda_input_pieces(LithoCudaContext *context, const LithoCube *cube,
                                     LithoCudaArrived arrived, gpointer data, LithoRun *run,
                                     GError **error);
// Memory into which exec() writes pass->out, dense over out->held.
float *litho_cuda_output(LithoCudaContext *context, const LithoCube *out, GError **error);
// A cube on the context's device with the box and the traces of `in`, and no samples yet.
// LITHO_ERROR_MEMORY.
LithoCube *litho_cuda_cube_like(LithoCudaContext *context, const LithoCube *in, GError **error);

// Begins stage `name` (a string literal) in the stream and ends the one before it. Costs one event;
// nothing waits. Several marks of one name add up. `bytes` and `flops` are what the stage must move
// through device memory and compute at least.
void litho_cuda_mark(LithoCudaContext *context, const char *name, LithoStageKind kind, double bytes,
                     double flops);
// Ends the stage under way; what follows belongs to none.
void litho_cuda_mark_end(LithoCudaContext *context);
// Between chunks of at most about 15 ms of device work: cancel and progress. Lets two chunks be in
// flight: returns when the chunk before the last one launched has finished. FALSE (cancelled, or a
// kernel failed): the stream is empty on return.
gboolean litho_cuda_step(LithoCudaContext *context, LithoRun *run, gint64 done, gint64 total,
                         GError **error);
// Likewise, between pieces of a chunk: without progress.
gboolean litho_cuda_look(LithoCudaContext *context, LithoRun *run, GError **error);
// Last thing in exec(): waits for the stream, reports what failed in it, and hands the stages'
// times to `run`.
gboolean litho_cuda_finish(LithoCudaContext *context, LithoRun *run, GError **error);

// --- beside other libraries (LithoImpl.rivals)
// ----------------------------------------------------

// One side of a comparison. `prepare` (NULL: nothing) is not timed; both ask for work in the
// context's stream and do not wait for it.
typedef struct LithoCudaSide {
    gboolean (*prepare)(gpointer data, GError **error);
    gboolean (*work)(gpointer data, GError **error);
    gpointer data;
} LithoCudaSide;

// Medians in ms of `repeat` runs of each of n sides (4 at most), in turn, after one of each that is
// not timed.
gboolean litho_cuda_in_turn(LithoCudaContext *context, const LithoCudaSide *sides, int n,
                            int repeat, double *ms, GError **error);
// `n` numbers from -1 to 1, the same for the same seed.
void litho_cuda_noise(float *to, gint64 n, guint64 seed);
// `bytes` to and from the device, after all work in the stream; waits.
gboolean litho_cuda_send(LithoCudaContext *context, void *to, const void *from, size_t bytes,
                         GError **error);
gboolean litho_cuda_fetch(LithoCudaContext *context, void *to, const void *from, size_t bytes,
                          GError **error);

// --- copies between host and device -------------------------------------------------------------

// Through pinned buffers, several threads copying. Blocking. `to`/`from` are device pointers on
// `device`; any thread.
gboolean litho_cuda_upload(int device, float *to, const float *from, gint64 count, GError **error);
gboolean litho_cuda_download(int device, float *to, const float *from, gint64 count,
                             GError **error);
// LithoBackend.pin and unpin.
gboolean litho_cuda_pin(int device, gpointer memory, gsize bytes);
void litho_cuda_unpin(gpointer memory);
// From one device to another, over their link where they have one. Blocking; the source must be at
// rest.
gboolean litho_cuda_copy_between(int to_device, float *to, int from_device, const float *from,
                                 gint64 count, GError **error);
// upload() whose pieces other streams may build on: after each piece `sent(ready, event, data)` is
// called with an event that stands for samples [0, ready). `sent` may be NULL.
typedef gboolean (*LithoCudaSent)(gint64 ready, cudaEvent_t event, gpointer data, GError **error);
gboolean litho_cuda_upload_pieces(int device, float *to, const float *from, gint64 count,
                                  LithoCudaSent sent, gpointer data, GError **error);

// Memory of a device's pool, and back to it. free() may be called by any thread once the device has
// finished with the memory.
gboolean litho_cuda_alloc(int device, void **data, size_t bytes, GError **error);
void litho_cuda_free(int device, void *data);
// Lets device `reader` read what `owner`'s pool holds, where the two are linked. Without the link
// copies between them go through the driver's own staging.
void litho_cuda_link(int reader, int owner);
// CUDA's number of our device.
int litho_cuda_ordinal(int device);
// Has the system read the files that the first transforms take their code from. Returns at once.
void litho_cuda_read_libraries(void);

// The rest of the module's table.
LithoBuffer *litho_cuda_buffer_alloc(int device, gint64 count, GError **error);
void litho_cuda_buffer_free(LithoBuffer *buffer);
gboolean litho_cuda_buffer_upload(LithoBuffer *buffer, gint64 at, const float *from, gint64 count,
                                  GError **error);
gboolean litho_cuda_buffer_download(const LithoBuffer *buffer, gint64 at, float *to, gint64 count,
                                    GError **error);
// Samples of `cube` on `device`, beside any pass: those that it has there, or has there from now
// on. `copy` receives memory of a copy from another device, for litho_cuda_free(), or NULL. NULL
// with `error`.
const float *litho_cuda_samples_on(int device, const LithoCube *cube, void **copy, GError **error);
gboolean litho_cuda_probe_roof(int device, double *bytes_per_s, double *flops_per_s,
                               GError **error);
gboolean litho_cuda_probe_link(int device, double *up, double *down, GError **error);
gboolean litho_cuda_keep_mute(const LithoCube *in, LithoCube *out, LithoBox region, GError **error);
gboolean litho_cuda_similarity(const LithoSimilarityPlan *plan, const LithoCube *in,
                               const LithoCube *out, float *map, GError **error);
gboolean litho_cuda_histogram(const LithoCube *cube, double lo, double hi, guint bins,
                              guint64 *counts, GError **error);
extern const LithoGlShare litho_cuda_gl;
// Lets `stream` wait for copies into textures that read the memory at `data`, on the device.
void litho_cuda_gl_free_after(const void *data, cudaStream_t stream);
// Implementation of the operator `key`, or NULL; made by the build from the operators' folders.
const LithoImpl *litho_cuda_impl(const char *key);
