// SPDX-License-Identifier: GPL-3.0-or-later
//
// Traces are transformed along time once for all windows that hold them. A thread takes a tile of
// traces and goes down in time; lanes are crosslines. Of 16 windows over a trace, those of one row
// share the transform along inlines.
#include "kernels/patch/cpu/faults.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "kernels/patch/cpu/faults_rows.h"
#include "kernels/patch/cpu/goes_on.h"

// --- transforms along time -----------------------------------------------------------------------

// Unaligned, as rows are; FFTW_ESTIMATE: the same plan in every process.
gboolean patch_fault_transforms_init(PatchFaultTransforms *t, int length, GError **error)
{
    if (t->length == length)
        return TRUE;
    patch_fault_transforms_clear(t);
    Scratch *s = aligned_alloc(64, (sizeof *s + 63) / 64 * 64);
    if (s) {
        const fftwf_iodim lanes = {LANES, 1, 1};
        const fftwf_iodim forward = {length, ROOM, ROWS * ROOM};
        const fftwf_iodim inverse = {length, ROOM, ROOM};
        const unsigned flags = FFTW_ESTIMATE | FFTW_UNALIGNED;
        t->forward = fftwf_plan_guru_split_dft_r2c(1, &forward, 1, &lanes, s->time[0], s->re[0][0],
                                                   s->im[0][0], flags);
        t->inverse = fftwf_plan_guru_split_dft_c2r(1, &inverse, 1, &lanes, s->gated[0][0],
                                                   s->gated[1][0], s->time[0], flags);
        free(s);
    }
    t->length = length;
    if (t->forward && t->inverse)
        return TRUE;
    patch_fault_transforms_clear(t);
    return litho_refuse(error, LITHO_ERROR_MEMORY,
                        "there is no memory for transforms of %d samples", length);
}

void patch_fault_transforms_clear(PatchFaultTransforms *t)
{
    if (t->forward)
        fftwf_destroy_plan(t->forward);
    if (t->inverse)
        fftwf_destroy_plan(t->inverse);
    *t = (PatchFaultTransforms){0};
}

// --- a tile --------------------------------------------------------------------------------------

typedef struct Job {
    const PatchFaults *of;
    LithoRun *run;
    GError **error;
    int threads, tiles[2];
    float (*shape)[K]; // NULL = none
    float taper[LITHO_PATCH_MAX_WINDOW];
    gint64 done, total;
    gint stop; // atomic
} Job;

static gboolean go_on(Job *job)
{
    return patch_goes_on(job->run, &job->done, job->total, &job->stop, job->error);
}

// Samples of trace (il, xl) of the survey, or of the one that mirrors it; NULL = not held.
static const float *trace_of(const PatchFaults *of, gint64 il, gint64 xl)
{
    const LithoBox held = of->held;
    const LithoPatchAxis *axis = of->small.axis;
    if (il < -W || xl < -W || il >= axis[0].n + W || xl >= axis[1].n + W)
        return NULL;
    il = litho_patch_mirror(axis[0].n, (int)il);
    xl = litho_patch_mirror(axis[1].n, (int)xl);
    if (il < held.lo[0] || il >= held.hi[0] || xl < held.lo[1] || xl >= held.hi[1])
        return NULL;
    return of->removed +
           ((il - held.lo[0]) * litho_box_size(held, 1) + xl - held.lo[1]) *
               litho_box_size(held, 2) -
           held.lo[2];
}

// Samples `at` of VECTOR traces from (il, xl) on, tapered; zeros where they are not held. All are
// read before any is turned.
static void load_traces(const Job *job, gint64 il, gint64 xl, const int *at, Lane *to, int lane)
{
    const int n = job->of->small.axis[2].length;
    const gboolean inside = at[n - 1] - at[0] == n - 1;
    float rows[VECTOR][LITHO_PATCH_MAX_WINDOW];
    for (int l = 0; l < VECTOR; l++) {
        const float *x = trace_of(job->of, il, xl + l);
        if (x && inside)
            memcpy(rows[l], x + at[0], n * sizeof(float));
        else
            for (int t = 0; t < n; t++)
                rows[l][t] = x ? x[at[t]] : 0;
    }
    for (int t = 0; t < n; t++)
        for (int l = 0; l < VECTOR; l++)
            to[t][lane + l] = job->taper[t] * rows[l][t];
}

// Spectra along time of window k, of the traces from (il0, xl0) on.
static void transform_time(const Job *job, Scratch *s, gint64 il0, gint64 xl0, int k)
{
    const LithoPatchAxis time = job->of->small.axis[2];
    int at[LITHO_PATCH_MAX_WINDOW];
    for (int t = 0; t < time.length; t++)
        at[t] = litho_patch_mirror(time.n, litho_patch_start(time, k) + t);
    for (int i = 0; i < s->size.rows; i++) {
        for (int j = 0; j < s->size.lanes; j += VECTOR)
            load_traces(job, il0 + i, xl0 + j, at, s->time, j);
        fftwf_execute_split_dft_r2c(job->of->transforms->forward, s->time[0], s->re[0][i],
                                    s->im[0][i]);
    }
}

// Levels at the crossline cells from `first` on, of windows about `il` and `t`.
static void interpolate(const LithoPatchLevels *levels, float il, float t, int first, int cells,
                        int bins, Cells at)
{
    float up[2];
    const int row = litho_patch_cell(levels, 0, il, &up[0]);
    const int sample = litho_patch_cell(levels, 2, t, &up[1]);
    for (int f = 0; f < bins; f++)
        memset(at[f], 0, cells * sizeof(float));
    for (int corner = 0; corner < 4; corner++) {
        const int a = corner >> 1, b = corner & 1;
        const float weight = (a ? up[0] : 1 - up[0]) * (b ? up[1] : 1 - up[1]);
        for (int c = 0; weight > 0 && c < cells; c++) {
            const gsize cell =
                ((gsize)(row + a) * levels->n[1] + first + c) * levels->n[2] + sample + b;
            for (int f = 0; f < bins; f++)
                at[f][c] += weight * levels->sigma[cell * levels->bins + f];
        }
    }
}

// Noise of the row of windows that begin at inline `il` and from crossline xl0 on.
static void find_noise(const Job *job, gint64 il, int k, Scratch *s, Lane noise[BINS])
{
    const PatchFaults *of = job->of;
    const LithoPatchAxis time = of->small.axis[2];
    interpolate(of->levels, il + 0.5f * (W - 1),
                litho_patch_start(time, k) + 0.5f * (time.length - 1), s->first, s->cells,
                of->small.bins, s->levels);
    patch_fault_noise(s, of->small.bins, (float)of->small.energy, noise);
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
    for (int row = 0; row + W <= s->size.rows; row++) {
        const gboolean begins = litho_patch_fault_begins(axis[0].n, il0 + row);
        find_noise(job, il0 + row, k, s, s->noise[row]);
        patch_fault_quiet(s, bins, row, litho_patch_fault_rank(bins));
        for (int l = 0; l < s->size.lanes; l++)
            if (!begins || !litho_patch_fault_begins(axis[1].n, xl0 + l))
                s->quiet[row][l] = 0;
    }
}

// Factors of the limits of a row of windows, which begin at inline `il` and from crossline xl0 on.
// Windows at the ends of the row have too few others beside them and are not used.
static void find_factors(const Job *job, gint64 il, gint64 xl0, int row, Scratch *s)
{
    const LithoPatchAxis *axis = job->of->small.axis;
    const float limit = job->of->limit;
    Lane sum;
    patch_fault_add_quiet(s, row, sum);
    memset(s->factor, 0, sizeof(Lane));
    for (int l = BESIDE; l < s->size.lanes; l++) {
        const int n =
            litho_patch_fault_beside(axis[0].n, il) * litho_patch_fault_beside(axis[1].n, xl0 + l);
        s->factor[l] = 4 * limit * limit *
                       litho_patch_fault_louder(s->quiet[row][l], sum[l - BESIDE] / (float)n);
    }
}

// Energies of what was made, in units of the noise of the windows that begin at the traces.
static void find_energies(const Job *job, gint64 il0, gint64 xl0, const Scratch *s, Made *made)
{
    const LithoPatchAxis time = job->of->small.axis[2];
    const int bins = job->of->small.bins;
    const float scale = (float)(job->of->small.energy / (0.5 * time.length * time.length));
    for (int i = 0; i < s->size.made_il; i++) {
        memset(made->energy[i], 0, sizeof(Lane));
        for (int f = 0; f < bins; f++) {
            const float by = scale * (f == 0 || 2 * f == time.length ? 1 : 2);
            const float *re = made->re[f][i] + EDGE, *im = made->im[f][i] + EDGE;
            const float *noise = s->noise[i + EDGE][f] + EDGE;
            for (int l = 0; l < s->size.made_xl; l++)
                made->energy[i][l] += by * (re[l] * re[l] + im[l] * im[l]) * noise[l];
        }
        for (int l = 0; l < s->size.made_xl; l++) // the survey's traces alone count
            if (il0 + i < 0 || il0 + i >= job->of->small.axis[0].n || xl0 + l < 0 ||
                xl0 + l >= job->of->small.axis[1].n)
                made->energy[i][l] = 0;
    }
}

// Windows of one time; traces that are made begin at (il0, xl0).
static void make_windows(const Job *job, gint64 il0, gint64 xl0, int k, Scratch *s)
{
    const PatchFaults *of = job->of;
    Made *made = &s->made[k % NEAR];
    const int bins = of->small.bins;
    il0 -= EDGE;
    xl0 -= EDGE;
    transform_time(job, s, il0, xl0, k);
    judge_windows(job, il0, xl0, k, s);
    for (int f = 0; f < bins; f++) {
        memset(made->re[f], 0, s->size.made_il * sizeof(Lane));
        memset(made->im[f], 0, s->size.made_il * sizeof(Lane));
    }
    for (int row = BESIDE; row + W <= s->size.rows - BESIDE; row++) {
        find_factors(job, il0 + row, xl0, row, s);
        patch_fault_filter(s, bins, row, job->shape, made);
    }
    find_energies(job, il0 + EDGE, xl0 + EDGE, s, made);
}

// How many of `i` and those beside it are among `n`.
static int beside(int n, gint64 i)
{
    return (int)(MIN(i + AROUND, n - 1) - MAX(i - AROUND, 0) + 1);
}

// The share of window k of row i of the tile that comes back; traces of the output begin at (il0,
// xl0). FALSE: nothing does.
static gboolean find_gate(const Job *job, gint64 il0, gint64 xl0, int k, const Scratch *s, int i,
                          Lane gate)
{
    const LithoPatchAxis *axis = job->of->small.axis;
    gboolean any = FALSE;
    Lane sum = {0}, largest = {0};
    for (int a = 0; a < NEAR; a++)
        for (int b = 0; b < NEAR; b++) {
            Lane own = {0};
            for (int w = MAX(k - AROUND, 0); w <= MIN(k + AROUND, axis[2].count - 1); w++)
                for (int l = 0; l < LANES; l++)
                    own[l] += s->made[w % NEAR].energy[i + a][l + b];
            for (int l = 0; l < LANES; l++) {
                sum[l] += own[l];
                largest[l] = largest[l] > own[l] ? largest[l] : own[l];
            }
        }
    memset(gate, 0, sizeof(Lane));
    for (int l = 0; l < TILE_XL; l++) {
        const int traces = beside(axis[0].n, il0 + i) * beside(axis[1].n, xl0 + l);
        gate[l] = litho_patch_fault_gate(sum[l], largest[l], traces, beside(axis[2].count, k));
        any |= gate[l] > 0;
    }
    return any;
}

// Samples of one trace from a window that begins at sample `start`.
static void add_trace(const Job *job, gint64 trace, const Scratch *s, int lane, int start)
{
    const PatchFaults *of = job->of;
    const LithoPatchAxis time = of->small.axis[2];
    float *out = of->out + trace * litho_box_size(of->out_held, 2) - of->out_held.lo[2];
    const int lo = (int)MAX(of->region.lo[2] - start, 0);
    const int hi = (int)MIN(of->region.hi[2] - start, time.length);
    for (int t = lo; t < hi; t++)
        out[start + t] += s->time[t][lane] * job->taper[t] /
                          (float)(time.length * litho_patch_weight(time, start + t));
}

// Puts window k back on the tile's traces, which begin at (il0, xl0).
static void put_back(const Job *job, gint64 il0, gint64 xl0, int k, Scratch *s)
{
    const PatchFaults *of = job->of;
    const LithoBox r = of->region, held = of->out_held;
    const LithoPatchAxis time = of->small.axis[2];
    const Made *made = &s->made[k % NEAR];
    const int n_il = (int)MIN(r.hi[0] - il0, TILE_IL), n_xl = (int)MIN(r.hi[1] - xl0, TILE_XL);
    for (int i = 0; i < n_il; i++) {
        Lane gate;
        float *re = s->gated[0][0], *im = s->gated[1][0];
        if (!find_gate(job, il0, xl0, k, s, i, gate))
            continue;
        memset(s->gated, 0, sizeof s->gated);
        for (int f = 0; f < of->small.bins; f++)
            for (int l = 0; l < TILE_XL; l++) {
                const int from = l + AROUND + EDGE;
                re[f * ROOM + l] = gate[l] * made->re[f][i + AROUND][from];
                im[f * ROOM + l] = gate[l] * made->im[f][i + AROUND][from];
            }
        fftwf_execute_split_dft_c2r(of->transforms->inverse, re, im, s->time[0]);
        for (int l = 0; l < n_xl; l++) {
            const gint64 trace =
                (il0 + i - held.lo[0]) * litho_box_size(held, 1) + xl0 + l - held.lo[1];
            if (gate[l] > 0 && of->wanted[trace])
                add_trace(job, trace, s, l, litho_patch_start(time, k));
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
    memset(s->time, 0, sizeof s->time); // lanes that this tile does not load
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
    job->shape = g_malloc(sizeof *job->shape * bins);
    litho_patch_fault_shape(levels->shape, levels->window, bins, job->shape[0]);
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
    const guint64 lanes = small->axis[2].length + bins * (2 * ROWS + WINDOW_ROWS + 2) + 2 * 4 * W +
                          3 * 3 * K + WINDOW_ROWS + NEAR * made;
    return MIN(threads, (gint64)tiles[0] * tiles[1]) * lanes * sizeof(Lane);
}
