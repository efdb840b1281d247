// SPDX-License-Identifier: GPL-3.0-or-later
//
// A sweep by planes of one frequency (planes.h): groups of pairs of windows along time, a few
// groups at once. Traces to spectra, frequencies to sums of windows, sums to traces. A thread takes
// a trace's phase or a frequency as a whole, so that sums have one order.
#include "kernels/patch/cpu/planes.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "kernels/patch/cpu/goes_on.h"

enum {
    MOST_PAIRS = 16,     // of a group
    TASKS = 3,           // frequencies for a thread, at least
    PHASES_TOGETHER = 4, // of inlines, for a thread at once
    TRACES_TOGETHER = 64 // between two looks at a cancel
};
// Groups at once take at most this where threads are many, and as much in any case: a sweep alone
// takes new pages, those of a filling keep theirs.
#define MOST_BYTES ((gsize)256 << 20)
#define ALONE_BYTES ((gsize)4 << 20)
// Spectra of a frequency at one inline place stay in a processor's own cache.
#define PLACE_BYTES ((gsize)300 << 10)

// The code for windows of so many traces and samples.
typedef struct Way {
    int traces, samples;
    void (*time)(const PatchPlanes *p, int line, int phase);
    void (*filter)(const PatchPlanes *p, int f, void *scratch);
    void (*back)(const PatchPlanes *p, int line, int phase);
} Way;

#define WAY(n, nt)                                                                                 \
    {                                                                                              \
        n, nt, LITHO_ISA_PICK(patch_planes##nt##_time), LITHO_ISA_PICK(patch_planes##n##_filter),  \
            LITHO_ISA_PICK(patch_planes##nt##_back)                                                \
    }

static Way way_of(const LithoPatchGeometry *g)
{
    const LithoPatchAxis *axis = g->axis;
    const Way ways[] = {WAY(12, 12), WAY(16, 16), WAY(20, 20), WAY(24, 24), WAY(28, 28),
                        WAY(32, 32), WAY(16, 32), WAY(16, 64), WAY(24, 48), WAY(24, 64)};
    for (guint k = 0; k < G_N_ELEMENTS(ways); k++)
        if (axis[0].length == ways[k].traces && axis[1].length == ways[k].traces &&
            axis[2].length == ways[k].samples)
            return ways[k];
    return (Way){0};
}

gboolean patch_planes_have(const LithoPatchGeometry *g)
{
    return way_of(g).traces > 0;
}

gboolean patch_planes_can(const PatchSweep *s)
{
    return s->rule != LITHO_PATCH_ENERGY && !s->guided && !s->largest && patch_planes_have(&s->g);
}

// --- groups --------------------------------------------------------------------------------------

static int round_up(int n)
{
    return (n + PATCH_ABREAST - 1) / PATCH_ABREAST * PATCH_ABREAST;
}

// A group without its memory.
static PatchPlanes layout(const PatchSweep *s, PatchExtent e, int pair0, int pairs)
{
    const LithoPatchAxis *axis = s->g.axis;
    const int phases = axis[1].stride, columns = e.last[1] - e.first[1] + 1;
    const int behind = (axis[1].length - 1) / phases; // windows that begin within one
    int from, to;
    litho_patch_needs(axis[0], FALSE, (int)s->region.lo[0], (int)s->region.hi[0], &from, &to);
    PatchPlanes p = {.sweep = s,
                     .place0 = {e.first[0], e.first[1]},
                     .places = {e.last[0] - e.first[0] + 1, columns},
                     .pair0 = pair0,
                     .pairs = pairs,
                     .line0 = from,
                     .lines = to - from,
                     .phases = phases,
                     .windows = columns * pairs,
                     .traces = (columns + behind) * pairs,
                     .width = round_up(round_up(columns * pairs) + behind * pairs)};
    p.wave = patch_planes_apart((gsize)phases * p.width);
    p.plane = patch_planes_apart(p.lines * p.wave);
    p.sum_plane = patch_planes_apart(litho_box_size(s->region, 0) * p.wave);
    return p;
}

static gsize limits_of(const PatchPlanes *p)
{
    return (gsize)p->sweep->g.bins * p->places[0] * patch_planes_wide(p);
}

static gsize spectra_of(const PatchPlanes *p)
{
    return p->sweep->g.axis[2].length * p->plane;
}

static gsize sums_of(const PatchPlanes *p)
{
    return p->sweep->g.axis[2].length * p->sum_plane;
}

static int times_of(const PatchPlanes *p)
{
    const LithoPatchAxis time = p->sweep->g.axis[2];
    return round_up(p->pairs * (time.stride + time.length));
}

static gsize group_bytes(const PatchPlanes *p)
{
    const gsize scales = (gsize)p->places[0] * patch_planes_wide(p);
    return 4 * (2 * spectra_of(p) + 2 * sums_of(p) + 2 * limits_of(p) + scales + times_of(p));
}

gsize patch_planes_scratch(const PatchPlanes *p)
{
    const gsize n = p->sweep->g.axis[0].length;
    return 16 * n * (p->wave + patch_planes_room(p));
}

// Work of a group: transforms along crosslines, and half as much for what windows share.
static double work_of(const PatchPlanes *p)
{
    return patch_planes_wide(p) + 0.5 * p->width;
}

// Room for groups, where sweeps follow each other as much as their other kinds take.
static gsize room_for(const PatchSweep *s)
{
    return s->room ? patch_columns_bytes(&s->g, s->region) : ALONE_BYTES;
}

// Pairs of a group: as many as leave the fewest lanes idle; of a filling, whose blocks are told to
// take little, within the room for groups or that of one pair.
static int pairs_together(const PatchSweep *s, PatchExtent e)
{
    const int all = e.pair1 - e.pair0;
    const PatchPlanes one = layout(s, e, e.pair0, 1);
    const gsize most = s->room ? MAX(room_for(s), group_bytes(&one)) : G_MAXSIZE;
    int best = 1;
    double least = INFINITY;
    for (int pairs = 1; pairs <= MIN(all, MOST_PAIRS); pairs++) {
        const PatchPlanes p = layout(s, e, e.pair0, pairs);
        const PatchPlanes rest = layout(s, e, e.pair0, MAX(all % pairs, 1));
        const double work = all / pairs * work_of(&p) + (all % pairs > 0 ? work_of(&rest) : 0);
        if (pairs > 1 && patch_planes_scratch(&p) > PLACE_BYTES)
            break;
        if (work < 0.97 * least && group_bytes(&p) <= most) {
            least = work;
            best = pairs;
        }
    }
    return best;
}

// Groups at once: enough for the threads, and as many as fit in `room` bytes.
static int groups_together(const PatchPlanes *group, int all, gsize room, int threads)
{
    const gsize bytes = group_bytes(group);
    const int bins = group->sweep->g.bins, wanted = (TASKS * threads + bins - 1) / bins;
    const int most = (int)MIN(MOST_BYTES / bytes, (gsize)all);
    const int fit = (int)MIN(room / bytes, (gsize)all);
    return MAX(MAX(MIN(wanted, most), fit), 1);
}

// --- a sweep -------------------------------------------------------------------------------------

typedef struct Job {
    PatchSweep *s;
    LithoRun *run;
    Way way;
    int threads;
    PatchExtent extent;
    PatchTables tables;
    int pairs, together; // of a group; groups at once
    gsize group_bytes, scratch_bytes;
    guint8 *memory, *scratch;
    float *share;  // [inline place][crossline place]; 0 = nothing of the column is to be made
    PatchRoom own; // where the sweep has none
    gint64 first, columns, step, steps; // columns before and of this sweep, and what has been done
    gint64 done, total;                 // in columns
    gint stop;                          // atomic
    GError **error;
} Job;

static gboolean go_on(Job *job)
{
    return patch_goes_on(job->run, &job->done, job->total, &job->stop, job->error);
}

// Before every inline place of a frequency.
static gboolean next_place(gpointer data)
{
    Job *job = data;
    const gint64 step = __atomic_add_fetch(&job->step, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&job->done, job->first + job->columns * step / job->steps, __ATOMIC_RELAXED);
    return go_on(job);
}

static void place_group(const Job *job, PatchPlanes *p, int k)
{
    const LithoPatchAxis time = job->s->g.axis[2];
    float *at = (float *)(job->memory + k * job->group_bytes);
    p->re = at;
    p->im = p->re + spectra_of(p);
    p->sum_re = p->im + spectra_of(p);
    p->sum_im = p->sum_re + sums_of(p);
    p->limits[0] = p->sum_im + sums_of(p);
    p->limits[1] = p->limits[0] + limits_of(p);
    p->scale = p->limits[1] + limits_of(p);
    p->times = (int *)(p->scale + (gsize)p->places[0] * patch_planes_wide(p));
    for (int a = 0; a < 3; a++)
        p->taper[a] = job->tables.taper[a];
    for (int pair = 0; pair < p->pairs; pair++)
        for (int t = 0; t < time.stride + time.length; t++)
            p->times[pair * (time.stride + time.length) + t] =
                litho_patch_mirror(time.n, litho_patch_start(time, 2 * (p->pair0 + pair)) + t);
    p->go_on = next_place;
    p->go_on_data = (gpointer)job;
}

// Limits and scales of the windows at inline place `place`; numbers that are no windows pass
// nothing.
static void find_limits(const Job *job, const PatchPlanes *p, int place)
{
    const PatchSweep *s = job->s;
    const int bins = s->g.bins, wide = patch_planes_wide(p);
    const double n = s->g.axis[0].length, nt = s->g.axis[2].length;
    for (int x = 0; x < wide; x++) {
        const int column = x / p->pairs, pair = p->pair0 + x % p->pairs;
        const float share = x < p->windows ? job->share[(gsize)place * p->places[1] + column] : 0;
        p->scale[(gsize)place * wide + x] = share > 0 ? (float)(1 / (2 * n * n * nt * share)) : 0;
        for (int half = 0; half < 2; half++) {
            const int at[3] = {p->place0[0] + place, p->place0[1] + column, 2 * pair + half};
            float limits[LITHO_PATCH_MAX_WINDOW / 2 + 1], *to = p->limits[half];
            if (share > 0)
                patch_limits(s, at, share, limits);
            for (int f = 0; f < bins; f++)
                to[((gsize)f * p->places[0] + place) * wide + x] =
                    share > 0 ? 4 * limits[f] : INFINITY;
        }
    }
}

static void find_shares(Job *job)
{
    PatchSweep *s = job->s;
    const PatchExtent e = job->extent;
    const int rows = e.last[0] - e.first[0] + 1, columns = e.last[1] - e.first[1] + 1;
    gint64 made = 0;
#pragma omp parallel for schedule(dynamic) num_threads(job->threads) reduction(+ : made)
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns && go_on(job); column++) {
            const int place[2] = {e.first[0] + row, e.first[1] + column};
            const gboolean wanted = patch_wanted_inlines(s, place) != 0;
            const float share =
                wanted ? patch_share(s, (const float *const *)job->tables.taper, place) : 0;
            job->share[(gsize)row * columns + column] = share;
            made += share > 0;
        }
    s->windows += made * 2 * (e.pair1 - e.pair0);
}

// The region's traces: zeros before the sweep, over the tapers behind it.
static gboolean each_trace(Job *job, gboolean before)
{
    const PatchSweep *s = job->s;
    const LithoBox r = s->region, held = s->out_held;
    const gint64 nx = litho_box_size(r, 1), n = litho_box_size(r, 2);
#pragma omp parallel for schedule(static) num_threads(job->threads)
    for (gint64 k = 0; k < litho_box_size(r, 0) * nx; k++) {
        const gint64 i = k / nx, j = k % nx;
        const gint64 trace =
            (r.lo[0] + i - held.lo[0]) * litho_box_size(held, 1) + r.lo[1] + j - held.lo[1];
        const float norm = job->tables.norm[0][i] * job->tables.norm[1][j];
        if ((s->wanted && !s->wanted[trace]) || (k % TRACES_TOGETHER == 0 && !go_on(job)))
            continue;
        float *out = s->out + trace * litho_box_size(held, 2) + r.lo[2] - held.lo[2];
        for (gint64 t = 0; t < n; t++)
            out[t] = before ? 0 : out[t] * (norm * job->tables.norm[2][t]);
    }
    return go_on(job);
}

// Frequencies that have an opposite take twice as long, and go first.
static int frequency(int bins, int k)
{
    return k < bins - 2 ? k + 1 : k == bins - 2 ? 0 : bins - 1;
}

static void clear_sums(const PatchPlanes *p, int f)
{
    const int n = p->sweep->g.axis[2].length, opposite = (n - f) % n;
    for (int k = 0; k < (opposite == f ? 1 : 2); k++) {
        memset(p->sum_re + (k == 0 ? f : opposite) * p->sum_plane, 0, p->sum_plane * sizeof(float));
        memset(p->sum_im + (k == 0 ? f : opposite) * p->sum_plane, 0, p->sum_plane * sizeof(float));
    }
}

// All of `n` groups.
static gboolean run_groups(Job *job, const PatchPlanes *groups, int n)
{
    const PatchPlanes *p = &groups[0];
    const int bins = job->s->g.bins, phases = p->phases;
    const int lines = (int)litho_box_size(job->s->region, 0);
#pragma omp parallel num_threads(job->threads)
    {
        void *scratch = job->scratch + omp_get_thread_num() * job->scratch_bytes;
#pragma omp for schedule(dynamic) nowait
        for (int k = 0; k < n * p->places[0]; k++)
            if (go_on(job))
                find_limits(job, &groups[k % n], k / n);
#pragma omp for schedule(dynamic, PHASES_TOGETHER)
        for (int k = 0; k < n * p->lines * phases; k++)
            if (go_on(job))
                job->way.time(&groups[k % n], k / n / phases, k / n % phases);
#pragma omp for schedule(dynamic)
        for (int k = 0; k < n * bins; k++)
            if (go_on(job)) {
                clear_sums(&groups[k % n], frequency(bins, k / n));
                job->way.filter(&groups[k % n], frequency(bins, k / n), scratch);
            }
#pragma omp for schedule(dynamic, PHASES_TOGETHER)
        for (int k = 0; k < lines * phases; k++)
            for (int g = 0; g < n && go_on(job); g++)
                job->way.back(&groups[g], k / phases, k % phases);
    }
    return go_on(job);
}

static gboolean job_memory(Job *job)
{
    PatchRoom *room = job->s->room ? job->s->room : &job->own;
    const PatchExtent e = job->extent;
    const int all = e.pair1 - e.pair0;
    job->pairs = pairs_together(job->s, e);
    const PatchPlanes largest = layout(job->s, e, e.pair0, job->pairs);
    job->together = groups_together(&largest, (all + job->pairs - 1) / job->pairs, room_for(job->s),
                                    job->threads);
    job->group_bytes = group_bytes(&largest);
    job->scratch_bytes = (patch_planes_scratch(&largest) + 4095) / 4096 * 4096;
    job->memory =
        patch_room_take(&room->ring.data, &room->ring.bytes, job->together * job->group_bytes);
    job->scratch = patch_room_take(&room->scratch.data, &room->scratch.bytes,
                                   job->threads * job->scratch_bytes);
    job->share = patch_room_take(&room->empty.data, &room->empty.bytes,
                                 sizeof(float) * largest.places[0] * largest.places[1]);
    patch_tables_init(&job->tables, job->s);
    return job->memory && job->scratch && job->share;
}

static gboolean run_job(Job *job)
{
    const PatchExtent e = job->extent;
    find_shares(job);
    if (!each_trace(job, TRUE))
        return FALSE;
    g_autofree PatchPlanes *groups = g_new(PatchPlanes, job->together);
    for (int pair = e.pair0; pair < e.pair1;) {
        int n = 0;
        for (; n < job->together && pair < e.pair1; n++, pair += job->pairs) {
            groups[n] = layout(job->s, e, pair, MIN(job->pairs, e.pair1 - pair));
            place_group(job, &groups[n], n);
        }
        if (!run_groups(job, groups, n))
            return FALSE;
    }
    return each_trace(job, FALSE);
}

gboolean patch_planes_sweep(PatchSweep *s, LithoRun *run, gint64 *done, gint64 total,
                            GError **error)
{
    GError *trouble = NULL;
    Job job = {.s = s,
               .run = run,
               .way = way_of(&s->g),
               .threads = litho_run_threads(run),
               .extent = patch_extent(&s->g, s->region),
               .first = *done,
               .done = *done,
               .total = total,
               .error = &trouble};
    const PatchExtent e = job.extent;
    const gint64 rows = e.last[0] - e.first[0] + 1;
    gboolean ok = job_memory(&job);
    job.columns = rows * (e.last[1] - e.first[1] + 1);
    job.steps = rows * s->g.bins * ((e.pair1 - e.pair0 + job.pairs - 1) / job.pairs);
    if (!ok)
        litho_refuse(&trouble, LITHO_ERROR_MEMORY,
                     "there is no memory for %d rows of windows of %d x %d x %d samples", (int)rows,
                     s->g.axis[0].length, s->g.axis[1].length, s->g.axis[2].length);
    ok = ok && run_job(&job);
    *done = job.first + job.columns;
    patch_room_clear(&job.own);
    patch_tables_clear(&job.tables);
    if (!ok && !trouble)
        litho_run_stopped(&trouble);
    if (!ok)
        g_propagate_error(error, trouble);
    return ok;
}

gsize patch_planes_bytes(const PatchSweep *s, int threads)
{
    const PatchExtent e = patch_extent(&s->g, s->region);
    const int pairs = pairs_together(s, e), all = e.pair1 - e.pair0;
    const PatchPlanes p = layout(s, e, e.pair0, pairs);
    const int together = groups_together(&p, (all + pairs - 1) / pairs, room_for(s), threads);
    return together * group_bytes(&p) + threads * patch_planes_scratch(&p);
}

gsize patch_planes_least(const PatchSweep *s)
{
    const PatchExtent e = patch_extent(&s->g, s->region);
    const PatchPlanes p = layout(s, e, e.pair0, pairs_together(s, e));
    return group_bytes(&p);
}
