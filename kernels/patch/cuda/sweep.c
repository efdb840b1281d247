// SPDX-License-Identifier: GPL-3.0-or-later
//
// One sweep on a device: rows of columns in chunks of a few milliseconds, a ring of strips, and the
// sum for the inlines that are complete.
#include <math.h>

#include "core/error.h"
#include "kernels/patch/cuda/plan.h"

// Samples of a multiprocessor's windows between two looks at the cancel flag: about 8 ms.
enum { CHUNK_SAMPLES = 1 << 24 };
// Samples of a batch of windows for cuFFT: 16 MiB, well inside a second-level cache.
enum { BATCH_SAMPLES = 1 << 22 };
// Batches between two looks at the cancel flag: about 3 ms on a large card.
enum { CHUNK_BATCHES = 16 };
// Shared memory that a block of any card can have: what a card with more saves is not counted.
enum { LEAST_SHARED = 64 << 10 };
// Bytes of the ring, when there is room; strips of all rows of 256^3 are 1.2 GB.
#define RING_BYTES ((guint64)3 << 30)
// Bytes of the ring that any region can do with: it is split until its strips are no larger. A
// single sample takes 0.2 GB with the largest windows.
#define LEAST_RING_BYTES ((guint64)1 << 30)

LithoPatchBox patch_box(LithoBox box)
{
    LithoPatchBox b;
    for (int a = 0; a < 3; a++) {
        b.lo[a] = box.lo[a];
        b.n[a] = litho_box_size(box, a);
    }
    return b;
}

// --- geometry of a sweep -------------------------------------------------------------------------

static void count_windows(LithoPatchTask *t)
{
    const LithoPatchAxis *axis = t->g.axis;
    const LithoPatchBox r = t->region;
    for (int a = 0; a < 2; a++) {
        t->first[a] = litho_patch_first(axis[a], (int)r.lo[a]);
        t->count[a] = litho_patch_last(axis[a], (int)(r.lo[a] + r.n[a]) - 1) - t->first[a] + 1;
    }
    t->pair0 = litho_patch_first(axis[2], (int)r.lo[2]) / 2;
    t->pairs = litho_patch_last(axis[2], (int)(r.lo[2] + r.n[2]) - 1) / 2 + 1 - t->pair0;
    t->length = ((2 * t->pairs - 1) * axis[2].stride + axis[2].length + 3) / 4 * 4;
}

static guint64 row_bytes(const LithoPatchTask *t)
{
    return sizeof(float) * (guint64)t->count[1] * t->g.axis[0].length * t->g.axis[1].length *
           t->length;
}

// Rows of strips an inline needs.
static int rows_needed(const LithoPatchTask *t)
{
    return litho_patch_rows_over(t->g.axis[0], t->count[0]);
}

// Bytes of the rows of strips that a region needs at least.
static guint64 least_bytes(const LithoPatchGeometry *g, LithoPatchBox region)
{
    LithoPatchTask t = {.g = *g, .region = region};
    count_windows(&t);
    return MIN(rows_needed(&t) + 1, t.count[0]) * row_bytes(&t);
}

guint64 patch_sweep_bytes(const LithoPatchGeometry *g, gboolean guided, LithoBox region)
{
    return MIN(least_bytes(g, patch_box(region)), LEAST_RING_BYTES) +
           (litho_patch_knows(g, guided, LEAST_SHARED)
                ? 0
                : (guint64)12 * BATCH_SAMPLES * sizeof(float));
}

// --- tables and arrays ---------------------------------------------------------------------------

// Tapers and norms of the three axes, one behind the other.
static gboolean upload_tables(PatchSweep *s, GError **error)
{
    PatchPlan *p = s->p;
    LithoPatchTask *t = &s->task;
    gsize n = 0, at = 0;
    for (int a = 0; a < 3; a++)
        n += t->g.axis[a].length + t->region.n[a];
    g_autofree float *tables = g_new(float, n);
    cudaStream_t stream = litho_cuda_stream(p->context);
    if (!litho_cuda_reserve(p->context, &p->tables, n * sizeof(float), error))
        return FALSE;
    for (int a = 0; a < 3; a++) {
        t->taper[a] = (const float *)p->tables.data + at;
        for (int i = 0; i < t->g.axis[a].length; i++)
            tables[at++] = (float)litho_patch_taper(t->g.axis[a], i);
        t->norm[a] = (const float *)p->tables.data + at;
        for (gint64 i = 0; i < t->region.n[a]; i++)
            tables[at++] =
                (float)(1 / litho_patch_weight(t->g.axis[a], (int)(t->region.lo[a] + i)));
    }
    // The copy from pageable memory has left it when the call returns.
    return LITHO_CUDA(
        cudaMemcpyAsync(p->tables.data, tables, n * sizeof(float), cudaMemcpyHostToDevice, stream),
        error);
}

static gboolean make_transforms(PatchPlan *p, const LithoPatchGeometry *g, GError **error)
{
    int n[3];
    gboolean same = p->have_inverse;
    for (int a = 0; a < 3; a++) {
        n[a] = g->axis[a].length;
        same &= p->lengths[a] == n[a];
    }
    const gsize size = (gsize)n[0] * n[1] * n[2], coefficients = (gsize)n[0] * n[1] * g->bins;
    if (!same) {
        if (p->have_forward)
            cufftDestroy(p->forward);
        if (p->have_inverse)
            cufftDestroy(p->inverse);
        p->have_inverse = p->have_forward = FALSE;
        p->batch = (int)CLAMP(BATCH_SAMPLES / size, 1, 65535);
        for (int a = 0; a < 3; a++)
            p->lengths[a] = n[a];
        p->have_forward = LITHO_CUFFT(
            cufftPlanMany(&p->forward, 3, n, NULL, 1, 0, NULL, 1, 0, CUFFT_R2C, p->batch), error);
        p->have_inverse =
            p->have_forward && LITHO_CUFFT(cufftPlanMany(&p->inverse, 3, n, NULL, 1, 0, NULL, 1, 0,
                                                         CUFFT_C2R, p->batch),
                                           error);
        cudaStream_t stream = litho_cuda_stream(p->context);
        if (!p->have_inverse || !LITHO_CUFFT(cufftSetStream(p->forward, stream), error) ||
            !LITHO_CUFFT(cufftSetStream(p->inverse, stream), error))
            return FALSE;
    }
    return litho_cuda_reserve(p->context, &p->windows, p->batch * size * sizeof(float), error) &&
           litho_cuda_reserve(p->context, &p->spectra, 8 * p->batch * coefficients, error) &&
           litho_cuda_reserve(p->context, &p->kept, 8 * p->batch * coefficients, error);
}

// Bytes of the device that are free but for the ring.
static gboolean measure_room(const PatchPlan *p, guint64 *room, GError **error)
{
    guint64 unused = 0, total = 0;
    if (!litho_cuda_memory(litho_cuda_device(p->context), &unused, &total, error))
        return FALSE;
    *room = unused + p->ring.bytes;
    return TRUE;
}

// Rows beyond the least leave a quarter of the room to others.
static gboolean make_ring(PatchSweep *s, guint64 room, GError **error)
{
    PatchPlan *p = s->p;
    LithoPatchTask *t = &s->task;
    const guint64 bytes = row_bytes(t), least = MIN(rows_needed(t) + 1, t->count[0]);
    if (t->largest)
        return TRUE;
    t->slots = (int)CLAMP(MIN(room / 4 * 3, RING_BYTES) / bytes, least, (guint64)t->count[0]);
    if (!litho_cuda_reserve(p->context, &p->ring, t->slots * bytes, error))
        return FALSE;
    t->ring = p->ring.data;
    return TRUE;
}

// --- rows ----------------------------------------------------------------------------------------

// `windows` of the present region, all rows together, are done beside `s->done`.
static gboolean go_on(PatchSweep *s, gint64 windows, GError **error)
{
    const LithoPatchTask *t = &s->task;
    const gint64 samples = t->region.n[0] * t->region.n[1] * t->region.n[2];
    const double all = (double)t->count[0] * t->count[1] * 2 * t->pairs;
    return litho_cuda_step(s->p->context, s->run, s->done + (gint64)(samples * (windows / all)),
                           s->total, error);
}

// Windows of a batch to their strips.
static gboolean run_batch(PatchSweep *s, int row, int rows, gint64 first, GError **error)
{
    PatchPlan *p = s->p;
    const LithoPatchTask *t = &s->task;
    cudaStream_t stream = litho_cuda_stream(p->context);
    float *kept = t->rule == LITHO_PATCH_ENERGY || t->guided ? p->kept.data : p->spectra.data;
    if (!LITHO_CUDA(litho_patch_load(t, row, rows, first, p->batch, p->windows.data, stream),
                    error) ||
        !LITHO_CUFFT(cufftExecR2C(p->forward, p->windows.data, p->spectra.data), error) ||
        !LITHO_CUDA(litho_patch_threshold_windows(t, row, rows, first, p->batch, p->spectra.data,
                                                  p->windows.data, kept, stream),
                    error))
        return FALSE;
    return t->largest ||
           (LITHO_CUFFT(cufftExecC2R(p->inverse, (cufftComplex *)kept, p->windows.data), error) &&
            LITHO_CUDA(litho_patch_add(t, row, rows, first, p->batch, p->windows.data, stream),
                       error));
}

// Rows [row, row + rows) with cuFFT, batch after batch. Their strips begin at zero.
static gboolean columns_any(PatchSweep *s, int row, int rows, GError **error)
{
    PatchPlan *p = s->p;
    const LithoPatchTask *t = &s->task;
    cudaStream_t stream = litho_cuda_stream(p->context);
    const gint64 one = (gint64)t->count[1] * 2 * t->pairs;
    int batches = 0;
    for (int r = row; r < row + rows && !t->largest; r++)
        if (!LITHO_CUDA(cudaMemsetAsync((char *)t->ring + (r % t->slots) * row_bytes(t), 0,
                                        row_bytes(t), stream),
                        error))
            return FALSE;
    for (gint64 first = 0; first < rows * one; first += p->batch)
        if (!run_batch(s, row, rows, first, error) ||
            (++batches % CHUNK_BATCHES == 0 &&
             !go_on(s, MIN(row * one + first + p->batch, (row + rows) * one), error)))
            return FALSE;
    return TRUE;
}

static gboolean run_rows(PatchSweep *s, int row, int rows, GError **error)
{
    const LithoPatchTask *t = &s->task;
    LithoCudaContext *c = s->p->context;
    const double windows = (double)rows * t->count[1] * 2 * t->pairs;
    litho_cuda_mark(c, s->stage, LITHO_STAGE_COMPUTE, rows * (double)row_bytes(t) * 2,
                    windows * litho_patch_window_flops(&t->g));
    if (!litho_patch_knows(&t->g, t->guided, s->p->shared))
        return columns_any(s, row, rows, error);
    return LITHO_CUDA(litho_patch_columns(t, row, rows, litho_cuda_stream(c)), error);
}

static gboolean sum_inlines(PatchSweep *s, gint64 il0, gint64 il1, GError **error)
{
    const LithoPatchTask *t = &s->task;
    const LithoPatchAxis *axis = t->g.axis;
    const double over = ceil(axis[0].length / (double)axis[0].stride) *
                        ceil(axis[1].length / (double)axis[1].stride);
    litho_cuda_mark(s->p->context, "sum", LITHO_STAGE_COMPUTE,
                    4 * (over + 1) * (il1 - il0) * t->region.n[1] * t->region.n[2],
                    over * (il1 - il0) * t->region.n[1] * t->region.n[2]);
    return LITHO_CUDA(litho_patch_sum(t, il0, il1, litho_cuda_stream(s->p->context)), error);
}

// `s->done` of `s->total` samples are made before, of the whole region.
static gboolean run_all(PatchSweep *s, GError **error)
{
    const LithoPatchTask *t = &s->task;
    const LithoPatchAxis a = t->g.axis[0];
    const gint64 end = t->region.lo[0] + t->region.n[0];
    const gint64 window = (gint64)a.length * t->g.axis[1].length * t->g.axis[2].length;
    const gint64 row_samples = (gint64)t->count[1] * 2 * t->pairs * window;
    const gint64 most = MAX((gint64)CHUNK_SAMPLES * s->p->processors / row_samples, 1);
    const int keep = rows_needed(t) - 1;
    gint64 il = t->region.lo[0];
    for (int row = 0; row < t->count[0];) {
        const int fresh = t->largest ? t->count[0] : row == 0 ? t->slots : MAX(t->slots - keep, 1);
        const int rows = (int)MIN(MIN(fresh, most), t->count[0] - row);
        if (!run_rows(s, row, rows, error))
            return FALSE;
        row += rows;
        const gint64 upto =
            row >= t->count[0] ? end : MIN(litho_patch_start(a, t->first[0] + row), end);
        if (!t->largest && upto > il) {
            if (!sum_inlines(s, il, upto, error))
                return FALSE;
            il = upto;
        }
        if (!go_on(s, (gint64)row * t->count[1] * 2 * t->pairs, error))
            return FALSE;
    }
    return TRUE;
}

// A region whose strips fit into `room` bytes.
static gboolean sweep_region(PatchSweep *s, guint64 room, GError **error)
{
    PatchPlan *p = s->p;
    LithoPatchTask *t = &s->task;
    count_windows(t);
    if (!upload_tables(s, error) ||
        !litho_cuda_reserve(p->context, &p->share, sizeof(float) * t->count[0] * t->count[1],
                            error))
        return FALSE;
    t->share = p->share.data;
    if (!make_ring(s, room, error) ||
        !LITHO_CUDA(litho_patch_shares(t, litho_cuda_stream(p->context)), error) ||
        !run_all(s, error))
        return FALSE;
    s->done += t->region.n[0] * t->region.n[1] * t->region.n[2];
    return TRUE;
}

// Halves the region until its strips fit, along the axis that has more windows side by side: what
// lies beside a cut is made twice. A sixteenth of the room is for tables, and lost where the pool
// rounds.
static gboolean sweep_halves(PatchSweep *s, guint64 room, GError **error)
{
    const LithoPatchBox r = s->task.region;
    const LithoPatchAxis *axis = s->task.g.axis;
    const int a = r.n[1] * axis[2].length > r.n[2] * axis[1].length ? 1 : 2;
    if (s->task.largest || r.n[a] < 2 ||
        least_bytes(&s->task.g, r) <= MIN(room / 16 * 15, RING_BYTES))
        return sweep_region(s, room, error);
    s->task.region.n[a] = r.n[a] / 2;
    gboolean ok = sweep_halves(s, room, error);
    s->task.region.lo[a] = r.lo[a] + r.n[a] / 2;
    s->task.region.n[a] = r.n[a] - r.n[a] / 2;
    ok = ok && sweep_halves(s, room, error);
    s->task.region = r;
    return ok;
}

gboolean patch_sweep(PatchSweep *s, GError **error)
{
    const LithoPatchGeometry *g = &s->task.g;
    const LithoPatchBox r = s->task.region;
    const gint64 samples = r.n[0] * r.n[1] * r.n[2];
    guint64 room = 0;
    s->done = s->pass * samples;
    s->total = MAX(s->passes, 1) * samples;
    if (s->pass == 0)
        litho_run_begin(s->run, s->stage, "samples");
    return (litho_patch_knows(g, s->task.guided, s->p->shared) ||
            make_transforms(s->p, g, error)) &&
           measure_room(s->p, &room, error) && sweep_halves(s, room, error);
}
