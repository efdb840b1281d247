// SPDX-License-Identifier: GPL-3.0-or-later
//
// Planes of a frequency (planes.h), or columns of windows row by row (a row: all columns at one
// inline place), their strips in a ring of rows, and the sum of the strips for the inlines that no
// later row reaches.
#include "kernels/patch/cpu/sweep.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "kernels/patch/cpu/column.h"
#include "kernels/patch/cpu/goes_on.h"
#include "kernels/patch/cpu/planes.h"

// Bytes of the ring of strips: rows beyond the least are only for more columns at once. Windows of
// planes.h go by columns where a guide or neighbours judge; what is told, before that is known, is
// near either.
#define RING_BYTES ((gsize)256 << 20)
#define SHORT_RING_BYTES ((gsize)32 << 20)
enum { TRACES_TOGETHER = 64 }; // summed between two looks at a cancel
// More than this splits the region.
#define MOST_BYTES ((gsize)1 << 30)
#define MOST_ENERGY_BYTES ((gsize)64 << 20) // of windows of planes.h by the energy of neighbours

// --- transforms ----------------------------------------------------------------------------------

// The code for columns of these windows.
typedef struct Way {
    int length; // of the windows, along all axes
    void (*run)(PatchColumn *column, void *scratch);
    gsize scratch;
} Way;

#define WAY(n)                                                                                     \
    {                                                                                              \
        n, LITHO_ISA_PICK(patch_column##n), LITHO_ISA_PICK(patch_column##n##_scratch)()            \
    }

static Way way_of(const PatchSweep *s)
{
    const LithoPatchAxis *axis = s->g.axis;
    const Way ways[] = {WAY(12), WAY(16), WAY(20), WAY(24), WAY(28), WAY(32)};
    for (guint k = 0; k < G_N_ELEMENTS(ways); k++)
        if (axis[0].length == ways[k].length && axis[1].length == ways[k].length &&
            axis[2].length == ways[k].length && (!s->guided || s->rule == LITHO_PATCH_SINGLE))
            return ways[k];
    return (Way){.run = patch_column_any, .scratch = patch_column_any_scratch(&s->g)};
}

// FFTW_ESTIMATE: the same plan in every process, so that previews, command line and the ranks of a
// cluster agree bit for bit.
gboolean patch_transforms_init(PatchTransforms *t, const LithoPatchGeometry *g, GError **error)
{
    *t = (PatchTransforms){0};
    const int n[3] = {g->axis[0].length, g->axis[1].length, g->axis[2].length};
    float *window = fftwf_alloc_real((gsize)n[0] * n[1] * n[2]);
    fftwf_complex *spectrum = fftwf_alloc_complex((gsize)n[0] * n[1] * g->bins);
    if (window && spectrum) {
        t->forward = fftwf_plan_dft_r2c(3, n, window, spectrum, FFTW_ESTIMATE);
        t->inverse = fftwf_plan_dft_c2r(3, n, spectrum, window, FFTW_ESTIMATE);
    }
    fftwf_free(window);
    fftwf_free(spectrum);
    if (t->forward && t->inverse)
        return TRUE;
    patch_transforms_clear(t);
    return litho_refuse(error, LITHO_ERROR_MEMORY,
                        "there is no memory for transforms of %d x %d x %d samples", n[0], n[1],
                        n[2]);
}

void patch_transforms_clear(PatchTransforms *t)
{
    if (t->forward)
        fftwf_destroy_plan(t->forward);
    if (t->inverse)
        fftwf_destroy_plan(t->inverse);
    *t = (PatchTransforms){0};
}

// --- what columns ask ----------------------------------------------------------------------------

void patch_limits(const PatchSweep *s, const int place[3], float share, float *limits)
{
    const LithoPatchGeometry *g = &s->g;
    float centre[3];
    litho_patch_centre(g, place, centre);
    const LithoPatchCorners corners = litho_patch_corners(s->levels, centre);
    for (int f = 0; f < g->bins; f++) {
        const float sigma = s->threshold > 0 ? litho_patch_level_at(s->levels, &corners, f) : 0;
        limits[f] = litho_patch_limit_of(g, s->levels, sigma, s->threshold, s->least, share);
    }
}

void patch_column_limits(const PatchColumn *c, int k, float *limits)
{
    patch_limits(c->sweep, (const int[3]){c->place[0], c->place[1], k}, c->share, limits);
}

void patch_column_times(const PatchColumn *c, int t0, int count, int *at)
{
    for (int t = 0; t < count; t++)
        at[t] = litho_patch_mirror(c->sweep->g.axis[2].n, t0 + t);
}

void patch_load(const float *row, const int *at, int count, float *to)
{
    if (!row) {
        memset(to, 0, count * sizeof *to);
        return;
    }
    for (int t = 0; t < count; t++) {
        const float x = row[at[t]];
        to[t] = x - x == 0 ? x : 0;
    }
}

// --- what all sweeps ask -------------------------------------------------------------------------

PatchExtent patch_extent(const LithoPatchGeometry *g, LithoBox r)
{
    PatchExtent e;
    for (int a = 0; a < 2; a++) {
        e.first[a] = litho_patch_first(g->axis[a], (int)r.lo[a]);
        e.last[a] = litho_patch_last(g->axis[a], (int)r.hi[a] - 1);
    }
    e.pair0 = litho_patch_first(g->axis[2], (int)r.lo[2]) / 2;
    e.pair1 = litho_patch_last(g->axis[2], (int)r.hi[2] - 1) / 2 + 1;
    return e;
}

void patch_clip(const PatchSweep *s, int axis, int place, int *lo, int *hi)
{
    const LithoPatchAxis a = s->g.axis[axis];
    const int start = litho_patch_start(a, place);
    *lo = (int)MAX(s->region.lo[axis] - start, 0);
    *hi = (int)MIN(s->region.hi[axis] - start, a.length);
}

guint64 patch_wanted_inlines(const PatchSweep *s, const int place[2])
{
    if (!s->wanted || s->largest)
        return G_MAXUINT64;
    const LithoBox held = s->out_held;
    const gint64 il0 = litho_patch_start(s->g.axis[0], place[0]) - held.lo[0];
    const gint64 xl0 = litho_patch_start(s->g.axis[1], place[1]) - held.lo[1];
    guint64 bits = 0;
    int lo[2], hi[2];
    for (int a = 0; a < 2; a++)
        patch_clip(s, a, place[a], &lo[a], &hi[a]);
    for (int il = lo[0]; il < hi[0]; il++)
        for (int xl = lo[1]; xl < hi[1]; xl++)
            if (s->wanted[(il0 + il) * litho_box_size(held, 1) + xl0 + xl])
                bits |= (guint64)1 << il;
    return bits;
}

float patch_share(const PatchSweep *s, const float *const taper[2], const int place[2])
{
    const LithoPatchAxis *axis = s->g.axis;
    const gint64 nx = litho_box_size(s->held, 1);
    double there = 0, all = 0;
    for (int i = 0; i < axis[0].length; i++) {
        const gint64 il = litho_patch_mirror(axis[0].n, litho_patch_start(axis[0], place[0]) + i);
        for (int j = 0; j < axis[1].length; j++) {
            const gint64 xl =
                litho_patch_mirror(axis[1].n, litho_patch_start(axis[1], place[1]) + j);
            const gint64 trace = (il - s->held.lo[0]) * nx + xl - s->held.lo[1];
            const double w = (double)taper[0][i] * taper[1][j];
            there += !s->live || s->live[trace] ? w * w : 0;
            all += w * w;
        }
    }
    return (float)(there / all);
}

void patch_tables_init(PatchTables *t, const PatchSweep *s)
{
    for (int a = 0; a < 3; a++) {
        const int n = s->g.axis[a].length;
        t->taper[a] = aligned_alloc(64, (n * sizeof(float) + 63) / 64 * 64);
        for (int i = 0; i < n; i++)
            t->taper[a][i] = (float)litho_patch_taper(s->g.axis[a], i);
        t->norm[a] = g_new(float, litho_box_size(s->region, a));
        for (gint64 i = s->region.lo[a]; i < s->region.hi[a]; i++)
            t->norm[a][i - s->region.lo[a]] = (float)(1 / litho_patch_weight(s->g.axis[a], (int)i));
    }
}

void patch_tables_clear(PatchTables *t)
{
    for (int a = 0; a < 3; a++) {
        free(t->taper[a]);
        g_free(t->norm[a]);
    }
    *t = (PatchTables){0};
}

void *patch_room_take(void **room, gsize *had, gsize bytes)
{
    if (*had < bytes) {
        free(*room);
        *room = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
        *had = *room ? bytes : 0;
    }
    return *room;
}

void patch_room_clear(PatchRoom *room)
{
    free(room->scratch.data);
    free(room->ring.data);
    free(room->empty.data);
    *room = (PatchRoom){0};
}

// --- one column ----------------------------------------------------------------------------------

// One sweep over a region whose strips fit.
typedef struct Job {
    PatchSweep *s;
    LithoRun *run;
    Way way;
    PatchExtent extent;
    int length; // of a strip
    PatchTables tables;
    int slots;        // rows in the ring
    gsize row_floats; // of one row of strips
    float *ring;
    guint8 *empty; // [slot][column]: the strip was not made
    int threads;
    gsize scratch_bytes;
    guint8 *scratch; // per thread: rows, then the column's own
    PatchRoom own;   // of the ring and the rest, where the sweep has none
    gint64 done, total;
    gint stop; // atomic
    GError **error;
} Job;

static int columns(const Job *job)
{
    return job->extent.last[1] - job->extent.first[1] + 1;
}

// Strip of a column in the ring's row: all strips have room for the widest.
static float *strip_of(const Job *job, int row, int column)
{
    const gsize one = job->row_floats / columns(job);
    return job->ring + (row % job->slots) * job->row_floats + (column - job->extent.first[1]) * one;
}

// Rows of the window's traces.
static void find_rows(PatchColumn *c)
{
    const PatchSweep *s = c->sweep;
    const LithoPatchAxis *axis = s->g.axis;
    const gint64 nx = litho_box_size(s->held, 1), nt = litho_box_size(s->held, 2);
    for (int i = 0; i < axis[0].length; i++) {
        const gint64 il =
            litho_patch_mirror(axis[0].n, litho_patch_start(axis[0], c->place[0]) + i);
        for (int j = 0; j < axis[1].length; j++) {
            const gint64 xl =
                litho_patch_mirror(axis[1].n, litho_patch_start(axis[1], c->place[1]) + j);
            const gint64 trace = (il - s->held.lo[0]) * nx + xl - s->held.lo[1];
            const gboolean live = !s->live || s->live[trace];
            c->rows[i * axis[1].length + j] = live ? s->in + trace * nt - s->held.lo[2] : NULL;
        }
    }
}

// Cancel and progress, from any thread of the loop, also within a column: one of 64^3 windows takes
// a second.
static gboolean go_on(gpointer data)
{
    Job *job = data;
    return patch_goes_on(job->run, &job->done, job->total, &job->stop, job->error);
}

static void run_column(Job *job, int row, int column, int thread)
{
    PatchSweep *s = job->s;
    const gsize traces = (gsize)s->g.axis[0].length * s->g.axis[1].length;
    guint8 *scratch = job->scratch + thread * job->scratch_bytes;
    const gsize rows_bytes = (traces * sizeof(float *) + 63) / 64 * 64;
    PatchColumn c = {
        .sweep = s,
        .place = {row, column},
        .pair0 = job->extent.pair0,
        .pair1 = job->extent.pair1,
        .rows = (const float **)scratch,
        .taper = {job->tables.taper[0], job->tables.taper[1], job->tables.taper[2]},
        .strip = s->largest ? NULL : strip_of(job, row, column),
        .length = job->length,
        .go_on = go_on,
        .go_on_data = job,
    };
    guint8 *empty =
        s->largest
            ? NULL
            : &job->empty[(gsize)(row % job->slots) * columns(job) + column - job->extent.first[1]];
    patch_clip(s, 0, row, &c.clip_lo[0], &c.clip_hi[0]);
    patch_clip(s, 1, column, &c.clip_lo[1], &c.clip_hi[1]);
    find_rows(&c);
    c.share = patch_share(s, c.taper, c.place);
    c.wanted = patch_wanted_inlines(s, c.place);
    if (empty)
        *empty = c.share <= 0 || !c.wanted;
    if (c.share <= 0 || (empty && *empty))
        return;
    if (c.strip)
        memset(c.strip, 0,
               sizeof(float) * (c.clip_hi[0] - c.clip_lo[0]) * (c.clip_hi[1] - c.clip_lo[1]) *
                   (gsize)job->length);
    job->way.run(&c, scratch + rows_bytes);
    if (s->largest)
#pragma omp critical(patch_largest)
        *s->largest = fmaxf(*s->largest, sqrtf(c.largest));
    __atomic_add_fetch(&s->windows, 2 * (job->extent.pair1 - job->extent.pair0), __ATOMIC_RELAXED);
}

// Rows [row0, row1) of columns.
static gboolean run_rows(Job *job, int row0, int row1)
{
    const int n = columns(job);
#pragma omp parallel for schedule(dynamic) num_threads(job->threads)
    for (int k = 0; k < (row1 - row0) * n; k++)
        if (go_on(job)) {
            run_column(job, row0 + k / n, job->extent.first[1] + k % n, omp_get_thread_num());
            __atomic_add_fetch(&job->done, 1, __ATOMIC_RELAXED);
        }
    return go_on(job);
}

// --- the sum -------------------------------------------------------------------------------------

// Rule 5: strips in ascending order of inline place, then crossline place.
static void sum_trace(const Job *job, gint64 il, gint64 xl)
{
    const PatchSweep *s = job->s;
    const LithoPatchAxis *axis = s->g.axis;
    const LithoBox r = s->region, held = s->out_held;
    const gint64 trace = (il - held.lo[0]) * litho_box_size(held, 1) + xl - held.lo[1];
    const int n = (int)litho_box_size(r, 2);
    if (s->wanted && !s->wanted[trace])
        return;
    float *out = s->out + trace * litho_box_size(held, 2) + r.lo[2] - held.lo[2];
    memset(out, 0, n * sizeof *out);
    const int first = litho_patch_start(axis[2], 2 * job->extent.pair0);
    for (int row = litho_patch_first(axis[0], (int)il); row <= litho_patch_last(axis[0], (int)il);
         row++)
        for (int column = litho_patch_first(axis[1], (int)xl);
             column <= litho_patch_last(axis[1], (int)xl); column++) {
            int lo[2], hi[2];
            if (job->empty[(gsize)(row % job->slots) * columns(job) + column -
                           job->extent.first[1]])
                continue;
            patch_clip(s, 0, row, &lo[0], &hi[0]);
            patch_clip(s, 1, column, &lo[1], &hi[1]);
            const int i = (int)il - litho_patch_start(axis[0], row) - lo[0];
            const int j = (int)xl - litho_patch_start(axis[1], column) - lo[1];
            const float *strip = strip_of(job, row, column) +
                                 ((gsize)i * (hi[1] - lo[1]) + j) * job->length + r.lo[2] - first;
            for (int t = 0; t < n; t++)
                out[t] += strip[t];
        }
    const float norm = job->tables.norm[0][il - r.lo[0]] * job->tables.norm[1][xl - r.lo[1]];
    for (int t = 0; t < n; t++)
        out[t] *= norm * job->tables.norm[2][t];
}

// Inlines [il0, il1), whose rows are all in the ring.
static gboolean sum_inlines(Job *job, gint64 il0, gint64 il1)
{
    const gint64 nx = litho_box_size(job->s->region, 1);
#pragma omp parallel for schedule(static) num_threads(job->threads)
    for (gint64 k = 0; k < (il1 - il0) * nx; k++)
        if (k % TRACES_TOGETHER != 0 || go_on(job))
            sum_trace(job, il0 + k / nx, job->s->region.lo[1] + k % nx);
    return go_on(job);
}

// --- a region ------------------------------------------------------------------------------------

static void count_windows(Job *job)
{
    const PatchSweep *s = job->s;
    job->extent = patch_extent(&s->g, s->region);
    job->length = patch_strip_length(&s->g.axis[2], job->extent.pair1 - job->extent.pair0);
    job->total = (gint64)(job->extent.last[0] - job->extent.first[0] + 1) * columns(job);
    gsize one = job->length;
    for (int a = 0; a < 2; a++)
        one *= MIN(s->g.axis[a].length, litho_box_size(s->region, a));
    job->row_floats = one * columns(job);
}

// Rows of strips an inline needs.
static int rows_needed(const Job *job)
{
    return litho_patch_rows_over(job->s->g.axis[0], job->extent.last[0] - job->extent.first[0] + 1);
}

// Rows of strips that are kept: as many as the ring holds and as there are, never too few.
static int slots_of(const Job *job)
{
    const gsize most = patch_planes_have(&job->s->g) ? SHORT_RING_BYTES : RING_BYTES;
    const gint64 fit = most / (sizeof(float) * job->row_floats);
    return (int)MIN(MAX(fit, rows_needed(job) + 1), job->extent.last[0] - job->extent.first[0] + 1);
}

static gboolean job_memory(Job *job)
{
    PatchRoom *room = job->s->room ? job->s->room : &job->own;
    const PatchSweep *s = job->s;
    const gsize rows = sizeof(float *) * s->g.axis[0].length * s->g.axis[1].length;
    job->slots = slots_of(job);
    job->way = way_of(s);
    job->scratch_bytes = ((rows + 63) / 64 * 64 + job->way.scratch + 4095) / 4096 * 4096;
    job->scratch = patch_room_take(&room->scratch.data, &room->scratch.bytes,
                                   job->threads * job->scratch_bytes);
    if (!s->largest) {
        job->ring = patch_room_take(&room->ring.data, &room->ring.bytes,
                                    sizeof(float) * job->slots * job->row_floats);
        job->empty = patch_room_take(&room->empty.data, &room->empty.bytes,
                                     (gsize)job->slots * columns(job));
    }
    patch_tables_init(&job->tables, s);
    return job->scratch && (s->largest || (job->ring && job->empty));
}

static void job_clear(Job *job)
{
    patch_room_clear(&job->own);
    patch_tables_clear(&job->tables);
}

// Last inline (exclusive) that rows up to `row` complete.
static gint64 complete_up_to(const Job *job, int row)
{
    const LithoPatchAxis a = job->s->g.axis[0];
    return row >= job->extent.last[0] ? job->s->region.hi[0]
                                      : MIN(litho_patch_start(a, row + 1), job->s->region.hi[0]);
}

static gboolean run_job(Job *job)
{
    const int keep = rows_needed(job) - 1;
    gint64 il = job->s->region.lo[0];
    int row = job->extent.first[0];
    while (row <= job->extent.last[0]) {
        // The ring keeps the rows that inlines still to come need.
        const int fresh = row == job->extent.first[0] ? job->slots : MAX(job->slots - keep, 1);
        const int next = MIN(row + fresh, job->extent.last[0] + 1);
        if (!run_rows(job, row, next))
            return FALSE;
        if (!job->s->largest) {
            const gint64 upto = complete_up_to(job, next - 1);
            if (upto > il && !sum_inlines(job, il, upto))
                return FALSE;
            il = MAX(upto, il);
        }
        row = next;
    }
    return TRUE;
}

static gboolean sweep_region(PatchSweep *s, LithoRun *run, gint64 *done, gint64 total,
                             GError **error)
{
    if (patch_planes_can(s))
        return patch_planes_sweep(s, run, done, total, error);
    GError *trouble = NULL;
    Job job = {.s = s, .run = run, .threads = litho_run_threads(run), .error = &trouble};
    count_windows(&job);
    job.done = *done;
    job.total = total;
    gboolean ok = job_memory(&job);
    if (!ok)
        litho_refuse(&trouble, LITHO_ERROR_MEMORY,
                     "there is no memory for %d rows of windows of %d x %d x %d samples", job.slots,
                     s->g.axis[0].length, s->g.axis[1].length, s->g.axis[2].length);
    ok = ok && run_job(&job);
    *done = job.done;
    job_clear(&job);
    if (!ok && !trouble)
        litho_run_stopped(&trouble);
    if (!ok)
        g_propagate_error(error, trouble);
    return ok;
}

static gsize least_bytes(PatchSweep *s)
{
    if (patch_planes_can(s))
        return patch_planes_least(s);
    Job job = {.s = s};
    count_windows(&job);
    return sizeof(float) * (rows_needed(&job) + 1) * job.row_floats;
}

// Traces along an axis that the windows there have in the region, all together.
static guint64 covered(const Job *job, int axis)
{
    guint64 sum = 0;
    for (int place = job->extent.first[axis]; place <= job->extent.last[axis]; place++) {
        int lo, hi;
        patch_clip(job->s, axis, place, &lo, &hi);
        sum += hi - lo;
    }
    return sum;
}

// Strips of windows that reach beyond the region are shorter than the room they have, and what is
// not written takes no memory: in a slab of 20 inlines that is a third of the ring.
guint64 patch_columns_bytes(const LithoPatchGeometry *g, LithoBox region)
{
    PatchSweep s = {.g = *g, .region = region};
    Job job = {.s = &s};
    count_windows(&job);
    const guint64 rows = job.extent.last[0] - job.extent.first[0] + 1, slots = slots_of(&job);
    const guint64 inlines =
        slots < rows ? slots * MIN(g->axis[0].length, litho_box_size(region, 0)) : covered(&job, 0);
    return MIN(sizeof(float) * inlines * covered(&job, 1) * job.length, MOST_BYTES);
}

// Bytes that a region of a sweep takes at most before it is halved.
static gsize most_bytes(const PatchSweep *s)
{
    return s->rule == LITHO_PATCH_ENERGY && patch_planes_have(&s->g) ? MOST_ENERGY_BYTES
                                                                     : MOST_BYTES;
}

guint64 patch_sweep_bytes(const LithoPatchGeometry *g, LithoBox region, int rule, gboolean fills,
                          int threads)
{
    const guint64 columns = patch_columns_bytes(g, region);
    PatchRoom room;
    const PatchSweep s = {.g = *g, .region = region, .rule = rule, .room = fills ? &room : NULL};
    if (!patch_planes_have(g) || (rule == LITHO_PATCH_ENERGY && !fills))
        return MIN(columns, most_bytes(&s));
    const guint64 planes = MIN(patch_planes_bytes(&s, threads), MOST_BYTES);
    return fills ? MAX(columns, planes) : planes;
}

// The axis that a region is halved along where its work memory is too large.
static int axis_to_halve(const PatchSweep *s)
{
    const gint64 il = litho_box_size(s->region, 0), xl = litho_box_size(s->region, 1);
    if (patch_planes_can(s))
        return xl >= il ? 1 : 0;
    return xl >= 8 * s->g.axis[1].length ? 1 : 2;
}

// Halves the region until what it takes fits.
static gboolean sweep_halves(PatchSweep *s, LithoRun *run, gint64 *done, gint64 total,
                             GError **error)
{
    const LithoBox r = s->region;
    const int axis = axis_to_halve(s);
    if (s->largest || least_bytes(s) <= most_bytes(s) || litho_box_size(r, axis) < 2)
        return sweep_region(s, run, done, total, error);
    gboolean ok = TRUE;
    const gint64 middle = r.lo[axis] + litho_box_size(r, axis) / 2;
    s->region.hi[axis] = middle;
    ok = sweep_halves(s, run, done, total, error);
    s->region = r;
    s->region.lo[axis] = middle;
    ok = ok && sweep_halves(s, run, done, total, error);
    s->region = r;
    return ok;
}

gboolean patch_sweep(PatchSweep *s, LithoRun *run, GError **error)
{
    const double start = litho_now_ms();
    if (litho_box_empty(s->region))
        return TRUE;
    PatchSweep copy = *s;
    Job whole = {.s = &copy};
    count_windows(&whole);
    s->windows = 0;
    if (s->pass == 0)
        litho_run_begin(run, s->stage, "columns of windows");
    gint64 done = s->pass * whole.total;
    if (!sweep_halves(s, run, &done, MAX(s->passes, 1) * whole.total, error))
        return FALSE;
    litho_run_time(run, s->stage, LITHO_STAGE_COMPUTE, litho_now_ms() - start,
                   8.0 * litho_box_count(s->region), s->windows * litho_patch_window_flops(&s->g));
    return TRUE;
}
