// SPDX-License-Identifier: GPL-3.0-or-later
//
// Traces are transformed along time once for all windows that hold them. A thread takes a tile of
// traces and goes down in time; lanes are crosslines. Of 16 windows over a trace, those of one row
// share the transform along inlines.
#include "kernels/patch/cpu/faults.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "kernels/patch/cpu/faults_rows.h"
#include "kernels/patch/cpu/goes_on.h"

// --- transforms along time -----------------------------------------------------------------------

void patch_fault_transforms_init(PatchFaultTransforms *t, int length)
{
    if (t->length == length)
        return;
    t->length = length;
    for (int f = 0; f <= length / 2; f++)
        for (int k = 0; k <= length / 2; k++) {
            const int turn = f * k % length; // of `length`
            const double angle = 2 * G_PI * turn / length;
            t->cosine[f][k] = (float)cos(angle);
            t->sine[f][k] = 2 * turn % length == 0 ? 0 : (float)-sin(angle);
        }
}

// --- a tile --------------------------------------------------------------------------------------

// The code for this processor.
typedef struct Way {
    __typeof__(patch_fault_forward) *forward;
    __typeof__(patch_fault_inverse) *inverse;
    __typeof__(patch_fault_filter) *filter;
} Way;

typedef struct Job {
    const PatchFaults *of;
    LithoRun *run;
    GError **error;
    int threads, tiles[2];
    float (*shape)[K]; // of powers, over the noise at their wavenumbers; NULL = 1
    float taper[LITHO_PATCH_MAX_WINDOW];
    Way way;
    gint64 done, total;
    gint stop; // atomic
} Job;

static gboolean go_on(Job *job)
{
    return patch_goes_on(job->run, &job->done, job->total, &job->stop, job->error);
}

// The place of line `i` among those held along an axis, or of the one that it mirrors; -1 = none.
static gint64 place_of(const PatchFaults *of, int axis, gint64 i)
{
    const int n = of->small.axis[axis].n;
    if (i < -W || i >= n + W)
        return -1;
    i = litho_patch_mirror(n, (int)i);
    return i < of->held.lo[axis] || i >= of->held.hi[axis] ? -1 : i - of->held.lo[axis];
}

// Number of places among `n` that are `i` or beside it.
static int beside(int n, gint64 i)
{
    return (int)(MIN(i + AROUND, n - 1) - MAX(i - AROUND, 0) + 1);
}

// The traces of the tile's rows, the first of which is crossline xl0, and windows and traces beside
// each.
static void find_columns(const PatchFaults *of, gint64 xl0, Scratch *s)
{
    const int n = of->small.axis[1].n;
    for (int l = 0; l < s->size.lanes; l++) {
        s->column[l] = place_of(of, 1, xl0 + l);
        s->windows[l] = (float)litho_patch_fault_beside(n, xl0 + l);
    }
    for (int l = 0; l < TILE_ROOM; l++)
        s->traces[l] = (float)beside(n, xl0 + EDGE + AROUND + l);
}

// Samples of a window along time.
typedef struct Times {
    int start;
    gboolean inside;                // they are neighbours in a trace, and so are as many more as
                                    // are read together
    int at[LITHO_PATCH_MAX_WINDOW]; // else
} Times;

static Times times_of(const PatchFaults *of, int k)
{
    const LithoPatchAxis time = of->small.axis[2];
    Times t = {.start = litho_patch_start(time, k)};
    const int read = (time.length + VECTOR - 1) / VECTOR * VECTOR;
    t.inside = t.start >= of->held.lo[2] && t.start + read <= of->held.hi[2];
    for (int i = 0; i < time.length; i++)
        t.at[i] = litho_patch_mirror(time.n, t.start + i);
    return t;
}

// Samples of the traces of inline `il` in a window; zeros where none is held.
static void find_traces(const Job *job, gint64 il, const Times *times, Scratch *s,
                        const float *traces[LANES])
{
    static const float zeros[LITHO_PATCH_MAX_WINDOW];
    const LithoBox held = job->of->held;
    const gint64 row = place_of(job->of, 0, il), nt = litho_box_size(held, 2);
    const float *first = job->of->removed + row * litho_box_size(held, 1) * nt - held.lo[2];
    for (int l = 0; l < s->size.lanes; l++) {
        const float *x = first + s->column[l] * nt;
        if (row < 0 || s->column[l] < 0) {
            traces[l] = zeros;
        } else if (times->inside) {
            traces[l] = x + times->start;
        } else {
            for (int t = 0; t < job->of->small.axis[2].length; t++)
                s->copies[l][t] = x[times->at[t]];
            traces[l] = s->copies[l];
        }
    }
}

// Spectra along time of window k, of the inlines from il0 on.
static void transform_time(const Job *job, Scratch *s, gint64 il0, int k)
{
    const Times times = times_of(job->of, k);
    for (int i = 0; i < s->size.rows; i++) {
        const float *traces[LANES];
        find_traces(job, il0 + i, &times, s, traces);
        job->way.forward(job->of->transforms, job->taper, traces, s->size.lanes, s->re[0][i],
                         s->im[0][i], ROWS * ROOM);
    }
}

// Levels of windows about sample `t` at row `row` of cells, at the windows of a row.
static void interpolate(const PatchFaults *of, int row, float t, Scratch *s)
{
    const LithoPatchLevels *levels = of->levels;
    const int bins = of->small.bins;
    float up;
    const int sample = litho_patch_cell(levels, 2, t, &up);
    for (int c = 0; c < s->cells; c++) {
        const gsize cell = ((gsize)row * levels->n[1] + s->first + c) * levels->n[2] + sample;
        const float *below = levels->sigma + cell * levels->bins;
        const float *above = up > 0 ? below + levels->bins : below;
        for (int f = 0; f < bins; f++)
            s->levels[f][c] = (1 - up) * below[f] + up * above[f];
    }
    patch_fault_spread(s, bins, s->level[row % 2]);
    s->cells_row[row % 2] = row;
}

// Noise of the row of windows that begin at inline `il`.
static void find_noise(const PatchFaults *of, gint64 il, int k, Scratch *s, Lane noise[BINS])
{
    const LithoPatchAxis time = of->small.axis[2];
    const float t = litho_patch_start(time, k) + 0.5f * (time.length - 1);
    float up;
    const int below = litho_patch_cell(of->levels, 0, il + 0.5f * (W - 1), &up);
    const int above = below + (up > 0 ? 1 : 0);
    for (int row = below; row <= above; row++)
        if (s->cells_row[row % 2] != row)
            interpolate(of, row, t, s);
    patch_fault_noise(s->level[below % 2], s->level[above % 2], up, of->small.bins, s->size.lanes,
                      (float)of->small.energy, noise);
}

// Cells of the levels at the windows that begin at crossline xl0 and behind.
static void find_cells(const LithoPatchLevels *levels, gint64 xl0, Scratch *s)
{
    for (int l = 0; l < LANES; l++) {
        s->cell[l] = litho_patch_cell(levels, 1, xl0 + l + 0.5f * (W - 1), &s->share[l]);
        if (l == 0)
            s->first = s->cell[0];
        s->cell[l] -= s->first;
        s->above[l] = s->cell[l] + (s->share[l] > 0 ? 1 : 0);
    }
    s->cells = s->above[LANES - 1] + 1;
}

// Noise and quartiles of all windows, of which the first one begins at (il0, xl0).
static void judge_windows(const Job *job, gint64 il0, gint64 xl0, int k, Scratch *s)
{
    const LithoPatchAxis *axis = job->of->small.axis;
    const int bins = job->of->small.bins;
    s->cells_row[0] = s->cells_row[1] = -1;
    for (int row = 0; row + W <= s->size.rows; row++)
        find_noise(job->of, il0 + row, k, s, s->noise[row]);
    patch_fault_quiet(s, bins, litho_patch_fault_rank(bins));
    for (int row = 0; row + W <= s->size.rows; row++) {
        const gboolean begins = litho_patch_fault_begins(axis[0].n, il0 + row);
        for (int l = 0; l < s->size.lanes; l++)
            if (!begins || !litho_patch_fault_begins(axis[1].n, xl0 + l))
                s->quiet[row][l] = 0;
    }
}

// Energies of what was made; the survey's traces alone count.
static void find_energies(const PatchFaults *of, gint64 il0, gint64 xl0, const Scratch *s,
                          Made *made)
{
    const LithoPatchAxis *axis = of->small.axis;
    const int length = axis[2].length;
    patch_fault_energies(s, of->small.bins, length,
                         (float)(of->small.energy / (0.5 * length * length)), made);
    for (int i = 0; i < s->size.made_il; i++)
        for (int l = 0; l < s->size.made_xl; l++)
            if (il0 + i < 0 || il0 + i >= axis[0].n || xl0 + l < 0 || xl0 + l >= axis[1].n)
                made->energy[i][l] = 0;
}

// Windows of one time; traces that are made begin at (il0, xl0).
static void make_windows(const Job *job, gint64 il0, gint64 xl0, int k, Scratch *s)
{
    const PatchFaults *of = job->of;
    Made *made = &s->made[k % NEAR];
    const int bins = of->small.bins;
    il0 -= EDGE;
    xl0 -= EDGE;
    transform_time(job, s, il0, k);
    judge_windows(job, il0, xl0, k, s);
    for (int f = 0; f < bins; f++) {
        memset(made->re[f], 0, s->size.made_il * sizeof(Lane));
        memset(made->im[f], 0, s->size.made_il * sizeof(Lane));
    }
    for (int row = BESIDE; row + W <= s->size.rows - BESIDE; row++) {
        patch_fault_factors(s, row, (float)litho_patch_fault_beside(of->small.axis[0].n, il0 + row),
                            4 * of->limit * of->limit);
        job->way.filter(s, bins, row, job->shape, made);
    }
    find_energies(of, il0 + EDGE, xl0 + EDGE, s, made);
}

// The share of window k of row i of the tile that comes back; traces of the output begin at (il0,
// xl0). FALSE: nothing does.
static gboolean find_gate(const Job *job, gint64 il0, gint64 xl0, int k, const Scratch *s, int i,
                          Lane gate)
{
    const LithoPatchAxis *axis = job->of->small.axis;
    const int first = MAX(k - AROUND, 0), last = MIN(k + AROUND, axis[2].count - 1);
    const int rows = beside(axis[0].n, il0 + i);
    gboolean any = FALSE;
    Lane sum, largest;
    if (!patch_fault_gathers(s, first, last, i, (float)rows, sum, largest))
        return FALSE;
    for (int l = 0; l < TILE_XL; l++) {
        const int traces = rows * beside(axis[1].n, xl0 + l);
        gate[l] = litho_patch_fault_gate(sum[l], largest[l], traces, last - first + 1);
        any |= gate[l] > 0;
    }
    return any;
}

// Shares of the samples of window k in those of a trace.
static void find_shares(const Job *job, int k, float share[LITHO_PATCH_MAX_WINDOW])
{
    const PatchFaults *of = job->of;
    const LithoPatchAxis time = of->small.axis[2];
    const int start = litho_patch_start(time, k);
    for (int t = 0; t < time.length; t++) {
        const gboolean there = start + t >= of->region.lo[2] && start + t < of->region.hi[2];
        share[t] =
            there ? job->taper[t] / (float)(time.length * litho_patch_weight(time, start + t)) : 0;
    }
}

// Samples of one trace from a window that begins at sample `start`.
static void add_trace(const PatchFaults *of, gint64 trace, const float *x, const float *share,
                      int start)
{
    float *out = of->out + trace * litho_box_size(of->out_held, 2) - of->out_held.lo[2] + start;
    const int lo = (int)MAX(of->region.lo[2] - start, 0);
    const int hi = (int)MIN(of->region.hi[2] - start, of->small.axis[2].length);
    for (int t = lo; t < hi; t++)
        out[t] += x[t] * share[t];
}

// Puts window k back on the tile's traces, which begin at (il0, xl0).
static void put_back(const Job *job, gint64 il0, gint64 xl0, int k, Scratch *s)
{
    const PatchFaults *of = job->of;
    const LithoBox r = of->region, held = of->out_held;
    const LithoPatchAxis time = of->small.axis[2];
    const Made *made = &s->made[k % NEAR];
    const int n_il = (int)MIN(r.hi[0] - il0, TILE_IL), n_xl = (int)MIN(r.hi[1] - xl0, TILE_XL);
    float share[LITHO_PATCH_MAX_WINDOW];
    find_shares(job, k, share);
    for (int i = 0; i < n_il; i++) {
        Lane gate;
        if (!find_gate(job, il0, xl0, k, s, i, gate))
            continue;
        for (int f = 0; f < of->small.bins; f++)
            for (int l = 0; l < TILE_XL; l++) {
                const int from = l + AROUND + EDGE;
                s->gated[0][f][l] = gate[l] * made->re[f][i + AROUND][from];
                s->gated[1][f][l] = gate[l] * made->im[f][i + AROUND][from];
            }
        job->way.inverse(of->transforms, s->gated[0], s->gated[1], TILE_ROOM, s->back);
        for (int l = 0; l < n_xl; l++) {
            const gint64 trace =
                (il0 + i - held.lo[0]) * litho_box_size(held, 1) + xl0 + l - held.lo[1];
            if (gate[l] > 0 && of->wanted[trace])
                add_trace(of, trace, s->back[l], share, litho_patch_start(time, k));
        }
    }
}

// The size of a tile by the traces of its output.
static Size size_of(gint64 n_il, gint64 n_xl)
{
    Size size = {.made_il = (int)n_il + 2 * AROUND, .made_xl = (int)n_xl + 2 * AROUND};
    size.rows = size.made_il + 2 * EDGE;
    size.lanes = (size.made_xl + 2 * EDGE + VECTOR - 1) / VECTOR * VECTOR;
    return size;
}

static void run_tile(Job *job, int tile, Scratch *s)
{
    const PatchFaults *of = job->of;
    const LithoBox r = of->region;
    const LithoPatchAxis time = of->small.axis[2];
    const gint64 il0 = r.lo[0] + (gint64)(tile / job->tiles[1]) * TILE_IL;
    const gint64 xl0 = r.lo[1] + (gint64)(tile % job->tiles[1]) * TILE_XL;
    int first, last;
    s->size = size_of(MIN(r.hi[0] - il0, TILE_IL), MIN(r.hi[1] - xl0, TILE_XL));
    memset(s->gated, 0, sizeof s->gated); // lanes beyond the tile
    find_columns(of, xl0 - AROUND - EDGE, s);
    find_cells(of->levels, xl0 - AROUND - EDGE, s);
    litho_patch_fault_windows(time, (int)r.lo[2], (int)r.hi[2], &first, &last);
    const int from = litho_patch_first(time, (int)r.lo[2]);
    const int to = litho_patch_last(time, (int)r.hi[2] - 1);
    for (int k = first; k <= last && go_on(job); k++) {
        make_windows(job, il0 - AROUND, xl0 - AROUND, k, s);
        if (k - AROUND >= from && k - AROUND <= to)
            put_back(job, il0, xl0, k - AROUND, s);
        if (k == last && last <= to) // the last window of the survey has none below
            put_back(job, il0, xl0, k, s);
        __atomic_add_fetch(&job->done, 1, __ATOMIC_RELAXED);
    }
}

// --- the pass ------------------------------------------------------------------------------------

static void make_shape(Job *job, const LithoPatchLevels *levels, int bins)
{
    const gsize n = (gsize)K * bins;
    float *shape = g_new(float, n);
    litho_patch_fault_shape(levels->shape, levels->window, bins, shape);
    for (gsize k = 0; k < n; k++)
        shape[k] = 1 / shape[k];
    job->shape = (void *)shape;
}

static gboolean run_tiles(Job *job)
{
    const gsize bytes = (sizeof(Scratch) + 63) / 64 * 64;
    const int tiles = job->tiles[0] * job->tiles[1], threads = MIN(job->threads, tiles);
    Scratch *scratch = aligned_alloc(64, threads * bytes);
    if (!scratch)
        return litho_refuse(job->error, LITHO_ERROR_MEMORY,
                            "there is no memory for windows at faults");
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int k = 0; k < tiles; k++)
        if (go_on(job))
            run_tile(job, k, (Scratch *)((guint8 *)scratch + omp_get_thread_num() * bytes));
    free(scratch);
    return go_on(job);
}

// Tiles along the inline and the crossline axis.
static void count_tiles(LithoBox region, int tiles[2])
{
    tiles[0] = (int)((litho_box_size(region, 0) + TILE_IL - 1) / TILE_IL);
    tiles[1] = (int)((litho_box_size(region, 1) + TILE_XL - 1) / TILE_XL);
}

gboolean patch_faults(const PatchFaults *of, LithoRun *run, GError **error)
{
    const double start = litho_now_ms();
    const LithoBox r = of->region;
    const LithoPatchAxis time = of->small.axis[2];
    GError *trouble = NULL;
    Job job = {.of = of, .run = run, .threads = litho_run_threads(run), .error = &trouble};
    job.way = (Way){LITHO_ISA_PICK(patch_fault_forward), LITHO_ISA_PICK(patch_fault_inverse),
                    LITHO_ISA_PICK(patch_fault_filter)};
    int first, last;
    if (litho_box_empty(r))
        return TRUE;
    count_tiles(r, job.tiles);
    litho_patch_fault_windows(time, (int)r.lo[2], (int)r.hi[2], &first, &last);
    job.total = (gint64)job.tiles[0] * job.tiles[1] * (last - first + 1);
    for (int t = 0; t < time.length; t++)
        job.taper[t] = (float)litho_patch_taper(time, t);
    if (of->levels->shape)
        make_shape(&job, of->levels, of->small.bins);
    litho_run_begin(run, "faults", "windows");
    const gboolean ok = run_tiles(&job);
    g_free(job.shape);
    if (!ok && !trouble)
        litho_run_stopped(&trouble);
    if (!ok) {
        g_propagate_error(error, trouble);
        return FALSE;
    }
    litho_run_time(run, "faults", LITHO_STAGE_COMPUTE, litho_now_ms() - start,
                   12.0 * litho_box_count(r),
                   litho_patch_fault_flops(&of->small, litho_box_count(r)));
    return TRUE;
}

// Threads without a tile, and frequencies that windows do not have, touch nothing.
guint64 patch_faults_bytes(const LithoPatchGeometry *small, LithoBox region, int threads)
{
    int tiles[2];
    count_tiles(region, tiles);
    const guint64 bins = small->bins, made = 2 * bins * MADE_IL + MADE_IL;
    const guint64 lanes = 2 * LITHO_PATCH_MAX_WINDOW + bins * (2 * ROWS + WINDOW_ROWS + 4) +
                          WINDOW_ROWS + NEAR * made;
    return MIN(threads, (gint64)tiles[0] * tiles[1]) * lanes * sizeof(Lane);
}
