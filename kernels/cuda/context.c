// SPDX-License-Identifier: GPL-3.0-or-later
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "kernels/cuda/cuda.h"

enum { MAX_MARKS = 256, MAX_SUMS = 32 };

// One stretch of the stream. The event of mark k + 1 is its end.
typedef struct Mark {
    const char *name; // NULL = between stages
    LithoStageKind kind;
    double bytes, flops;
} Mark;

struct LithoCudaContext {
    int device;
    cudaStream_t stream;
    Mark marks[MAX_MARKS];
    cudaEvent_t times[MAX_MARKS + 1]; // made when first needed
    int n_marks;
    struct {
        Mark mark;
        double ms;
    } sums[MAX_SUMS]; // of the marks that made room for others
    int n_sums;
    cudaEvent_t chunks[2]; // end of the last two chunks, in turn
    guint64 n_chunks;
    // Samples of a cube that lives on another device.
    LithoCudaArray foreign;
    guint64 foreign_serial;
};

// `urgent`: the blocks of its kernels go before those of others that have not begun.
static LithoCudaContext *context_new(int device, gboolean urgent, GError **error)
{
    int least = 0, greatest = 0;
    if (!litho_cuda_use(device, error) ||
        (urgent && !LITHO_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest), error)))
        return NULL;
    LithoCudaContext *c = g_new0(LithoCudaContext, 1);
    c->device = device;
    // A blocking-sync event lets the thread sleep while a chunk of milliseconds runs.
    const unsigned quiet = cudaEventDisableTiming | cudaEventBlockingSync;
    if (LITHO_CUDA(cudaStreamCreateWithPriority(&c->stream, cudaStreamNonBlocking, greatest),
                   error) &&
        LITHO_CUDA(cudaEventCreateWithFlags(&c->chunks[0], quiet), error) &&
        LITHO_CUDA(cudaEventCreateWithFlags(&c->chunks[1], quiet), error))
        return c;
    litho_cuda_context_free(c);
    return NULL;
}

LithoCudaContext *litho_cuda_context_new(int device, GError **error)
{
    return context_new(device, FALSE, error);
}

LithoCudaContext *litho_cuda_context_new_urgent(int device, GError **error)
{
    return context_new(device, TRUE, error);
}

void litho_cuda_context_free(LithoCudaContext *c)
{
    if (!c)
        return;
    if (litho_cuda_use(c->device, NULL)) {
        litho_cuda_release(c, &c->foreign);
        if (c->stream) {
            cudaStreamSynchronize(c->stream);
            cudaStreamDestroy(c->stream);
        }
        for (int k = 0; k <= MAX_MARKS; k++)
            if (c->times[k])
                cudaEventDestroy(c->times[k]);
        for (int k = 0; k < 2; k++)
            if (c->chunks[k])
                cudaEventDestroy(c->chunks[k]);
        cudaGetLastError();
    }
    g_free(c);
}

gboolean litho_cuda_enter(LithoCudaContext *c, GError **error)
{
    c->n_marks = c->n_sums = 0;
    c->n_chunks = 0;
    return litho_cuda_use(c->device, error);
}

int litho_cuda_device(const LithoCudaContext *c)
{
    return c->device;
}

cudaStream_t litho_cuda_stream(const LithoCudaContext *c)
{
    return c->stream;
}

gboolean litho_cuda_reserve(LithoCudaContext *c, LithoCudaArray *array, size_t bytes,
                            GError **error)
{
    if (array->data && array->bytes >= bytes)
        return TRUE;
    litho_cuda_release(c, array);
    if (!litho_cuda_alloc(c->device, &array->data, bytes, error))
        return FALSE;
    array->bytes = bytes;
    return TRUE;
}

void litho_cuda_release(LithoCudaContext *c, LithoCudaArray *array)
{
    if (array->data) {
        cudaStreamSynchronize(c->stream);
        litho_cuda_free(c->device, array->data);
    }
    *array = (LithoCudaArray){0};
}

gboolean litho_cuda_put(LithoCudaContext *c, LithoCudaArray *array, const void *from, size_t bytes,
                        GError **error)
{
    // The driver has copied pageable memory elsewhere when the call returns.
    return litho_cuda_reserve(c, array, MAX(bytes, 1), error) &&
           (bytes == 0 ||
            LITHO_CUDA(cudaMemcpyAsync(array->data, from, bytes, cudaMemcpyHostToDevice, c->stream),
                       error));
}

// --- input and output -------------------------------------------------------------------------

typedef struct Arriving {
    LithoCudaContext *context;
    const float *samples;
    LithoCudaArrived arrived;
    gpointer data;
} Arriving;

static gboolean piece_sent(gint64 ready, cudaEvent_t event, gpointer data, GError **error)
{
    Arriving *a = data;
    return LITHO_CUDA(cudaStreamWaitEvent(a->context->stream, event, 0), error) &&
           (!a->arrived || a->arrived(a->samples, ready, a->data, error));
}

static gboolean upload_cube(LithoCudaContext *c, LithoCube *cube, LithoCudaArrived arrived,
                            gpointer data, LithoRun *run, GError **error)
{
    const gint64 count = litho_box_count(cube->held);
    const double start = litho_now_ms();
    LithoBuffer *buffer = litho_cuda_buffer_alloc(c->device, count, error);
    if (!buffer)
        return FALSE;
    Arriving a = {c, buffer->data, arrived, data};
    if (!litho_cuda_upload_pieces(c->device, buffer->data, cube->samples, count, piece_sent, &a,
                                  error)) {
        cudaStreamSynchronize(c->stream);
        litho_cuda_buffer_free(buffer);
        return FALSE;
    }
    cube->device = buffer;
    litho_run_time(run, "upload", LITHO_STAGE_TRANSFER, litho_now_ms() - start, 4.0 * count, 0);
    return TRUE;
}

gboolean litho_cuda_is_here(LithoCudaContext *c, const LithoCube *cube)
{
    GMutex *lock = (GMutex *)&cube->device_lock;
    g_mutex_lock(lock);
    const LithoBuffer *buffer = cube->device;
    const gboolean here =
        buffer && ((buffer->backend == litho_cuda_backend() && buffer->device == c->device) ||
                   (c->foreign.data && c->foreign_serial == cube->serial));
    g_mutex_unlock(lock);
    return here;
}

// A cube on another device: copied over, past the host.
static const float *from_elsewhere(LithoCudaContext *c, const LithoCube *cube, LithoRun *run,
                                   GError **error)
{
    const gint64 count = litho_box_count(cube->held);
    if (c->foreign_serial == cube->serial && c->foreign.data)
        return c->foreign.data;
    c->foreign_serial = 0;
    if (!litho_cuda_reserve(c, &c->foreign, count * sizeof(float), error))
        return NULL;
    const double start = litho_now_ms();
    if (cube->device->backend == litho_cuda_backend()) {
        if (!litho_cuda_copy_between(c->device, c->foreign.data, cube->device->device,
                                     cube->device->data, count, error))
            return NULL;
    } else {
        const float *host = litho_cube_host(cube, error);
        if (!host || !litho_cuda_upload(c->device, c->foreign.data, host, count, error))
            return NULL;
    }
    litho_run_time(run, "from another GPU", LITHO_STAGE_TRANSFER, litho_now_ms() - start,
                   4.0 * count, 0);
    c->foreign_serial = cube->serial;
    return c->foreign.data;
}

const float *litho_cuda_input_pieces(LithoCudaContext *c, const LithoCube *cube,
                                     LithoCudaArrived arrived, gpointer data, LithoRun *run,
                                     GError **error)
{
    LithoCube *mutable = (LithoCube *)cube; // the device copy is a cache, guarded by its lock
    gboolean told = FALSE, here = TRUE, ok = TRUE;
    const float *samples = NULL;
    g_mutex_lock(&mutable->device_lock);
    if (!cube->device) {
        ok = upload_cube(c, mutable, arrived, data, run, error);
        told = TRUE;
    }
    if (ok) {
        here = cube->device->backend == litho_cuda_backend() && cube->device->device == c->device;
        samples = here ? cube->device->data : NULL;
    }
    g_mutex_unlock(&mutable->device_lock);
    if (ok && !here)
        samples = from_elsewhere(c, cube, run, error);
    if (samples && arrived && !told && !arrived(samples, litho_box_count(cube->held), data, error))
        return NULL;
    return samples;
}

const float *litho_cuda_input(LithoCudaContext *c, const LithoCube *cube, LithoRun *run,
                              GError **error)
{
    return litho_cuda_input_pieces(c, cube, NULL, NULL, run, error);
}

LithoCube *litho_cuda_fetch_box(LithoCudaContext *c, const LithoCube *cube, LithoBox box,
                                LithoRun *run, GError **error)
{
    const LithoBox held = cube->held;
    const gsize line = litho_box_size(held, 1) * litho_box_size(held, 2) * sizeof(float);
    const gsize wanted = litho_box_size(box, 1) * litho_box_size(box, 2) * sizeof(float);
    const float *from = litho_cuda_input(c, cube, run, error);
    g_autoptr(LithoCube) part = litho_cube_new_box(&cube->grid, box, error);
    if (!from || !part)
        return NULL;
    from += litho_cube_trace_index(cube, box.lo[0], box.lo[1]) * litho_box_size(held, 2);
    for (gint64 il = box.lo[0]; il < box.hi[0]; il++)
        memcpy(part->live + litho_cube_trace_index(part, il, box.lo[1]),
               cube->live + litho_cube_trace_index(cube, il, box.lo[1]), litho_box_size(box, 1));
    if (!LITHO_CUDA(cudaMemcpy2DAsync(part->samples, wanted, from, line, wanted,
                                      litho_box_size(box, 0), cudaMemcpyDeviceToHost,
                                      litho_cuda_stream(c)),
                    error) ||
        !LITHO_CUDA(cudaStreamSynchronize(litho_cuda_stream(c)), error))
        return NULL;
    return g_steal_pointer(&part);
}

float *litho_cuda_output(LithoCudaContext *c, const LithoCube *out, GError **error)
{
    const LithoBuffer *buffer = out->device;
    if (buffer && buffer->backend == litho_cuda_backend() && buffer->device == c->device &&
        buffer->count >= litho_box_count(out->held))
        return buffer->data;
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_DEVICE,
                _("the result has no place on GPU %d, where it is to be computed"), c->device);
    return NULL;
}

LithoCube *litho_cuda_cube_like(LithoCudaContext *context, const LithoCube *in, GError **error)
{
    LithoBuffer *buffer =
        litho_cuda_buffer_alloc(litho_cuda_device(context), litho_box_count(in->held), error);
    LithoCube *cube = buffer ? litho_cube_new_device(&in->grid, in->held, buffer, error) : NULL;
    if (!cube && buffer)
        litho_cuda_buffer_free(buffer);
    if (cube)
        litho_cube_inherit(cube, in);
    return cube;
}

// --- stages -----------------------------------------------------------------------------------

// Records the boundary before mark `n_marks`. A failure to time must not cost a result.
static gboolean record(LithoCudaContext *c)
{
    cudaEvent_t *event = &c->times[c->n_marks];
    if (!*event && cudaEventCreate(event) != cudaSuccess)
        *event = NULL;
    return *event && cudaEventRecord(*event, c->stream) == cudaSuccess;
}

static void add_sum(LithoCudaContext *c, const Mark *mark, double ms)
{
    int k = 0;
    while (k < c->n_sums && strcmp(c->sums[k].mark.name, mark->name) != 0)
        k++;
    if (k == MAX_SUMS)
        return;
    if (k == c->n_sums) {
        c->sums[c->n_sums].mark = (Mark){.name = mark->name, .kind = mark->kind};
        c->sums[c->n_sums++].ms = 0;
    }
    c->sums[k].ms += ms;
    c->sums[k].mark.bytes += mark->bytes;
    c->sums[k].mark.flops += mark->flops;
}

// Turns all marks into sums; their last event must have been recorded. Waits for it.
static void collect(LithoCudaContext *c)
{
    gboolean timed = cudaEventSynchronize(c->times[c->n_marks]) == cudaSuccess;
    for (int k = 0; timed && k < c->n_marks; k++) {
        float ms = 0;
        if (c->marks[k].name &&
            cudaEventElapsedTime(&ms, c->times[k], c->times[k + 1]) == cudaSuccess)
            add_sum(c, &c->marks[k], ms);
    }
    c->n_marks = 0;
}

void litho_cuda_mark(LithoCudaContext *c, const char *name, LithoStageKind kind, double bytes,
                     double flops)
{
    Mark *last = c->n_marks > 0 ? &c->marks[c->n_marks - 1] : NULL;
    if (last && last->name && name && strcmp(last->name, name) == 0) {
        last->bytes += bytes;
        last->flops += flops;
        return;
    }
    if (c->n_marks == MAX_MARKS && record(c)) // one wait in a long pass
        collect(c);
    if (c->n_marks < MAX_MARKS && record(c))
        c->marks[c->n_marks++] = (Mark){name, kind, bytes, flops};
}

void litho_cuda_mark_end(LithoCudaContext *c)
{
    litho_cuda_mark(c, NULL, LITHO_STAGE_COMPUTE, 0, 0);
}

static void drain(LithoCudaContext *c)
{
    cudaStreamSynchronize(c->stream);
    cudaGetLastError();
    c->n_marks = c->n_sums = 0;
    c->n_chunks = 0;
}

// Until the chunk before the one launched last has finished.
static gboolean wait_for_chunk(LithoCudaContext *c, GError **error)
{
    cudaEvent_t this = c->chunks[c->n_chunks % 2], before = c->chunks[(c->n_chunks + 1) % 2];
    return LITHO_CUDA(cudaEventRecord(this, c->stream), error) &&
           (c->n_chunks++ == 0 || LITHO_CUDA(cudaEventSynchronize(before), error));
}

static gboolean drained_unless(LithoCudaContext *c, gboolean ok)
{
    if (!ok)
        drain(c);
    return ok;
}

gboolean litho_cuda_step(LithoCudaContext *c, LithoRun *run, gint64 done, gint64 total,
                         GError **error)
{
    return drained_unless(c, wait_for_chunk(c, error) && litho_run_step(run, done, total, error));
}

gboolean litho_cuda_look(LithoCudaContext *c, LithoRun *run, GError **error)
{
    return drained_unless(c, wait_for_chunk(c, error) &&
                                 (litho_run_checkpoint(run) || litho_run_stopped(error)));
}

gboolean litho_cuda_finish(LithoCudaContext *c, LithoRun *run, GError **error)
{
    gboolean timed = record(c);
    if (!LITHO_CUDA(cudaStreamSynchronize(c->stream), error)) {
        drain(c);
        return FALSE;
    }
    if (timed)
        collect(c);
    for (int k = 0; k < c->n_sums; k++) {
        const Mark *m = &c->sums[k].mark;
        litho_run_time(run, m->name, m->kind, c->sums[k].ms, m->bytes, m->flops);
    }
    c->n_marks = c->n_sums = 0;
    c->n_chunks = 0;
    return TRUE;
}
