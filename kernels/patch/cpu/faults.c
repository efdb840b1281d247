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
#include "kernels/common/clones.h"
#include "kernels/patch/cpu/goes_on.h"

enum {
    W = LITHO_PATCH_FAULT_TRACES,
    K = W * W, // wavenumbers of a window
    AROUND = LITHO_PATCH_FAULT_AROUND,
    BESIDE = LITHO_PATCH_FAULT_BESIDE,
    EDGE = LITHO_PATCH_FAULT_EDGE,
    TILE_IL = 20, // of a tile's output
    TILE_XL = 36,
    MADE_IL = TILE_IL + 2 * AROUND, // traces that windows are added up on
    MADE_XL = TILE_XL + 2 * AROUND,
    ROWS = MADE_IL + 2 * EDGE,    // traces that are transformed
    VECTOR = 16,                  // lanes
    LANES = MADE_XL + 2 * EDGE,   // 48: no vector is in part beyond, so that all lanes are alike
    WINDOW_ROWS = ROWS - (W - 1), // windows whose quartiles are found; BESIDE fewer are filtered
    LEAD = 16,                    // numbers before the first lane of a row of windows
    ROOM = LEAD + LANES + 16,     // lanes beyond the ends are read and written, and mean nothing
    BINS = LITHO_PATCH_MAX_WINDOW / 2 + 1,
    NEAR = 2 * AROUND + 1, // traces of an axis, and windows along time, whose energies count
};

typedef float Lane[ROOM] __attribute__((aligned(64)));

// Complex numbers of a row.
typedef struct Row {
    Lane re, im;
} Row;

// A row from lane 0 on, to be read and to be written.
typedef struct From {
    const float *re, *im;
} From;
typedef struct To {
    float *re, *im;
} To;

// Made of a window along time: sums of windows, and their energies.
typedef struct Made {
    Lane re[BINS][MADE_IL], im[BINS][MADE_IL];
    Lane energy[MADE_IL];
} Made;

// Rows and lanes that a tile needs: a slice of the survey needs few of one of them.
typedef struct Size {
    int made_il, made_xl; // traces that windows are added up on
    int rows, lanes;      // traces that are transformed; lanes in whole vectors
} Size;

typedef struct Scratch {
    Size size;
    Lane time[LITHO_PATCH_MAX_WINDOW];
    Lane re[BINS][ROWS], im[BINS][ROWS]; // spectra along time
    Lane noise[WINDOW_ROWS][BINS];       // 1 / mean |F|^2 of the noise of windows
    Lane quiet[WINDOW_ROWS];             // at the quartile of their frequencies
    Row window[BINS][K];                 // of a row of windows: lane l stands at LEAD + l
    Row along[BINS][W];                  // transformed along inlines alone, there and back
    Lane power[BINS][K];                 // in units of the noise
    Lane factor;                         // of the limits
    Made made[NEAR];                     // of window k in slot k modulo NEAR
} Scratch;

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
        t->inverse = fftwf_plan_guru_split_dft_c2r(1, &inverse, 1, &lanes, s->power[0][0],
                                                   s->power[0][0] + BINS * ROOM, s->time[0], flags);
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

// --- windows -------------------------------------------------------------------------------------

#define OUTER 0.382683432365090f // of the taper: sin(pi / 8)
#define INNER 0.923879532511287f // and sin(3 pi / 8)

// x[i] from lane l + i step on, transformed over i.
LITHO_INLINE void forward4(const From x[W], int step, const To to[W], int lanes)
{
    const float *xr0 = x[0].re, *xr1 = x[1].re + step, *xr2 = x[2].re + 2 * step;
    const float *xi0 = x[0].im, *xi1 = x[1].im + step, *xi2 = x[2].im + 2 * step;
    const float *xr3 = x[3].re + 3 * step, *xi3 = x[3].im + 3 * step;
    float *restrict r0 = to[0].re, *restrict r1 = to[1].re, *restrict r2 = to[2].re;
    float *restrict i0 = to[0].im, *restrict i1 = to[1].im, *restrict i2 = to[2].im;
    float *restrict r3 = to[3].re, *restrict i3 = to[3].im;
    for (int l = 0; l < lanes; l++) {
        const float er = OUTER * xr0[l] + INNER * xr2[l], dr = OUTER * xr0[l] - INNER * xr2[l];
        const float ei = OUTER * xi0[l] + INNER * xi2[l], di = OUTER * xi0[l] - INNER * xi2[l];
        const float fr = INNER * xr1[l] + OUTER * xr3[l], gr = INNER * xr1[l] - OUTER * xr3[l];
        const float fi = INNER * xi1[l] + OUTER * xi3[l], gi = INNER * xi1[l] - OUTER * xi3[l];
        r0[l] = er + fr;
        i0[l] = ei + fi;
        r1[l] = dr + gi;
        i1[l] = di - gr;
        r2[l] = er - fr;
        i2[l] = ei - fi;
        r3[l] = dr - gi;
        i3[l] = di + gr;
    }
}

// Sums over the windows of a row that hold a trace, of their transforms back along crosslines: lane
// l takes number i of window l - i. A trace gathers them. Windows that were spread over the traces
// would be written beside where they are read next, which a processor waits for.
LITHO_INLINE void gather4(const From x[W], To to, int lanes)
{
    const float *ar = x[0].re, *br = x[1].re, *cr = x[2].re, *dr = x[3].re;
    const float *ai = x[0].im, *bi = x[1].im, *ci = x[2].im, *di = x[3].im;
    float *restrict re = to.re, *restrict im = to.im;
    for (int l = 0; l < lanes; l++) {
        const int m = l - 1, n = l - 2, o = l - 3;
        re[l] =
            OUTER * (((ar[l] + cr[l]) + (br[l] + dr[l])) + ((ar[o] - cr[o]) + (bi[o] - di[o]))) +
            INNER * (((ar[m] - cr[m]) - (bi[m] - di[m])) + ((ar[n] + cr[n]) - (br[n] + dr[n])));
        im[l] =
            OUTER * (((ai[l] + ci[l]) + (bi[l] + di[l])) + ((ai[o] - ci[o]) - (br[o] - dr[o]))) +
            INNER * (((ai[m] - ci[m]) + (br[m] - dr[m])) + ((ai[n] + ci[n]) - (bi[n] + di[n])));
    }
}

// Adds `scale` times the transform of x back along inlines to four rows.
LITHO_INLINE void inverse4(const From x[W], float scale, const To to[W], int lanes)
{
    const float outer = OUTER * scale, inner = INNER * scale;
    const float *ar = x[0].re, *br = x[1].re, *cr = x[2].re, *dr = x[3].re;
    const float *ai = x[0].im, *bi = x[1].im, *ci = x[2].im, *di = x[3].im;
    float *restrict r0 = to[0].re, *restrict r1 = to[1].re, *restrict r2 = to[2].re;
    float *restrict i0 = to[0].im, *restrict i1 = to[1].im, *restrict i2 = to[2].im;
    float *restrict r3 = to[3].re, *restrict i3 = to[3].im;
    for (int l = 0; l < lanes; l++) {
        const float er = ar[l] + cr[l], fr = br[l] + dr[l], gr = ar[l] - cr[l], hr = br[l] - dr[l];
        const float ei = ai[l] + ci[l], fi = bi[l] + di[l], gi = ai[l] - ci[l], hi = bi[l] - di[l];
        r0[l] += outer * (er + fr);
        i0[l] += outer * (ei + fi);
        r1[l] += inner * (gr - hi);
        i1[l] += inner * (gi + hr);
        r2[l] += inner * (er - fr);
        i2[l] += inner * (ei - fi);
        r3[l] += outer * (gr + hi);
        i3[l] += outer * (gi - hr);
    }
}

LITHO_INLINE To lanes_of(Row *window)
{
    return (To){window->re + LEAD, window->im + LEAD};
}

LITHO_INLINE From lanes_in(const Row *window)
{
    return (From){window->re + LEAD, window->im + LEAD};
}

// |z|^2 in units of the noise.
LITHO_INLINE void powers4(From z, const float *noise, float *restrict power, int lanes)
{
    for (int l = 0; l < lanes; l++)
        power[l] = (z.re[l] * z.re[l] + z.im[l] * z.im[l]) * noise[l];
}

// Spectra of the row of windows that begins at row `row`, and their powers. All frequencies take a
// step together: what is read has been written long before.
LITHO_INLINE void transform_row(Scratch *s, int bins, int row, int lanes)
{
    From from[W];
    To to[W];
    for (int f = 0; f < bins; f++) {
        for (int i = 0; i < W; i++) {
            from[i] = (From){s->re[f][row + i], s->im[f][row + i]};
            to[i] = (To){s->along[f][i].re, s->along[f][i].im};
        }
        forward4(from, 0, to, lanes);
    }
    for (int f = 0; f < bins; f++)
        for (int k = 0; k < W; k++) {
            for (int i = 0; i < W; i++) {
                from[i] = (From){s->along[f][k].re, s->along[f][k].im};
                to[i] = lanes_of(&s->window[f][k * W + i]);
            }
            forward4(from, 1, to, lanes);
        }
    for (int f = 0; f < bins; f++)
        for (int k = 0; k < K; k++)
            powers4(lanes_in(&s->window[f][k]), s->noise[row][f], s->power[f][k], lanes);
}

// Mean powers of a row of windows at frequency f, without the transforms.
LITHO_INLINE void mean_powers(const Scratch *s, int f, int row, Lane mean, int lanes)
{
    Lane along = {0};
    for (int i = 0; i < W; i++) {
        const float w = i == 0 || i == W - 1 ? OUTER * OUTER : INNER * INNER;
        const float *re = s->re[f][row + i], *im = s->im[f][row + i];
        for (int l = 0; l < lanes; l++)
            along[l] += w * (re[l] * re[l] + im[l] * im[l]);
    }
    for (int l = 0; l < lanes; l++) {
        const float outer = along[l] + along[l + 3], inner = along[l + 1] + along[l + 2];
        mean[l] = (OUTER * OUTER * outer + INNER * INNER * inner) * s->noise[row][f][l];
    }
}

// The quartiles of a row of windows.
LITHO_CLONES static void find_quiet(Scratch *s, int bins, int row, int rank)
{
    const int lanes = s->size.lanes;
    Lane least[LITHO_PATCH_FAULT_RANKS];
    for (int r = 0; r <= rank; r++)
        for (int l = 0; l < lanes; l++)
            least[r][l] = INFINITY;
    for (int f = 0; f < bins; f++) {
        Lane mean;
        mean_powers(s, f, row, mean, lanes);
        for (int r = 0; r <= rank; r++)
            for (int l = 0; l < lanes; l++) {
                const float a = least[r][l], b = mean[l];
                least[r][l] = a < b ? a : b;
                mean[l] = a < b ? b : a;
            }
    }
    memcpy(s->quiet[row], least[rank], lanes * sizeof(float));
}

// Powers in units of the noise at their wavenumbers.
LITHO_INLINE void apply_shape(Scratch *s, int bins, const float (*shape)[K], int lanes)
{
    for (int f = 0; f < bins; f++)
        for (int k = 0; k < K; k++) {
            const float by = 1 / shape[f][k];
            for (int l = 0; l < lanes; l++)
                s->power[f][k][l] *= by;
        }
}

// Wavenumber -k.
LITHO_INLINE int opposite(int k)
{
    return (W - k / W) % W * W + (W - k % W) % W;
}

// Zeros where the energy of a coefficient and its neighbours is below the limit. One frequency
// beyond the bins stand the opposite wavenumbers.
LITHO_INLINE void threshold_row(Scratch *s, int bins, int lanes)
{
    for (int f = 0; f < bins; f++)
        for (int k = 0; k < K; k++) {
            const float(*power)[ROOM] = s->power[f];
            const float *below = f > 0 ? s->power[f - 1][k] : s->power[bins > 1][opposite(k)];
            const float *above =
                f < bins - 1 ? s->power[f + 1][k] : s->power[bins > 1 ? bins - 2 : 0][opposite(k)];
            const float *own = power[k], *left = power[k / W * W + (k + W - 1) % W];
            const float *right = power[k / W * W + (k + 1) % W];
            const float *up = power[(k + W) % K], *down = power[(k + K - W) % K];
            const float *limit = s->factor;
            const To z = lanes_of(&s->window[f][k]);
            float *restrict re = z.re, *restrict im = z.im;
            for (int l = 0; l < lanes; l++) {
                const float near =
                    ((up[l] + down[l]) + (right[l] + left[l])) + (above[l] + below[l]);
                const float keep = own[l] + 0.5f * near >= limit[l] ? 1 : 0;
                re[l] *= keep;
                im[l] *= keep;
            }
        }
}

// Adds the row of windows to the rows of `made` that they cover.
LITHO_INLINE void add_row(Scratch *s, int bins, int row, Made *made, int lanes)
{
    const float scale = 1.0f / (K * W); // of the transforms, and of the sum of w^2 along both axes
    Row away;
    From from[W];
    To to[W];
    memset(&away, 0, sizeof away);
    for (int f = 0; f < bins; f++)
        for (int k = 0; k < W; k++) {
            for (int i = 0; i < W; i++)
                from[i] = lanes_in(&s->window[f][k * W + i]);
            gather4(from, (To){s->along[f][k].re, s->along[f][k].im}, lanes);
        }
    for (int f = 0; f < bins; f++) {
        for (int i = 0; i < W; i++) {
            const int at = row + i - EDGE;
            const gboolean there = at >= 0 && at < s->size.made_il;
            from[i] = (From){s->along[f][i].re, s->along[f][i].im};
            to[i] = there ? (To){made->re[f][at], made->im[f][at]} : (To){away.re, away.im};
        }
        inverse4(from, scale, to, lanes);
    }
}

LITHO_INLINE void filter_lanes(Scratch *s, int bins, int row, const float (*shape)[K], Made *made,
                               int lanes)
{
    transform_row(s, bins, row, lanes);
    if (shape)
        apply_shape(s, bins, shape, lanes);
    threshold_row(s, bins, lanes);
    add_row(s, bins, row, made, lanes);
}

// A row of windows from their spectra along time to their sums. Whole tiles have code of their own,
// and so do slices along inlines.
LITHO_CLONES static void filter_row(Scratch *s, int bins, int row, const float (*shape)[K],
                                    Made *made)
{
    if (s->size.lanes == LANES)
        filter_lanes(s, bins, row, shape, made, LANES);
    else if (s->size.lanes == VECTOR)
        filter_lanes(s, bins, row, shape, made, VECTOR);
    else
        filter_lanes(s, bins, row, shape, made, s->size.lanes);
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

// Spectra along time of window k, of the traces from (il0, xl0) on.
static void transform_time(const Job *job, Scratch *s, gint64 il0, gint64 xl0, int k)
{
    const LithoPatchAxis time = job->of->small.axis[2];
    int at[LITHO_PATCH_MAX_WINDOW];
    for (int t = 0; t < time.length; t++)
        at[t] = litho_patch_mirror(time.n, litho_patch_start(time, k) + t);
    for (int i = 0; i < s->size.rows; i++) {
        for (int j = 0; j < s->size.lanes; j++) {
            const float *x = trace_of(job->of, il0 + i, xl0 + j);
            for (int t = 0; t < time.length; t++)
                s->time[t][j] = x ? job->taper[t] * x[at[t]] : 0;
        }
        fftwf_execute_split_dft_r2c(job->of->transforms->forward, s->time[0], s->re[0][i],
                                    s->im[0][i]);
    }
}

// Noise of the row of windows that begin at inline `il` and from crossline xl0 on.
static void find_noise(const Job *job, gint64 il, gint64 xl0, int k, int lanes, Lane noise[BINS])
{
    const PatchFaults *of = job->of;
    const LithoPatchAxis time = of->small.axis[2];
    const float t = litho_patch_start(time, k) + 0.5f * (time.length - 1);
    for (int l = 0; l < lanes; l++) {
        const float centre[3] = {il + 0.5f * (W - 1), xl0 + l + 0.5f * (W - 1), t};
        const LithoPatchCorners corners = litho_patch_corners(of->levels, centre);
        for (int f = 0; f < of->small.bins; f++) {
            const float sigma = litho_patch_level_at(of->levels, &corners, f);
            noise[f][l] = 1 / fmaxf(sigma * sigma * (float)of->small.energy, 1e-30f);
        }
    }
}

// Noise and quartiles of all windows, of which the first one begins at (il0, xl0).
static void judge_windows(const Job *job, gint64 il0, gint64 xl0, int k, Scratch *s)
{
    const LithoPatchAxis *axis = job->of->small.axis;
    const int bins = job->of->small.bins;
    for (int row = 0; row + W <= s->size.rows; row++) {
        const gboolean begins = litho_patch_fault_begins(axis[0].n, il0 + row);
        find_noise(job, il0 + row, xl0, k, s->size.lanes, s->noise[row]);
        find_quiet(s, bins, row, litho_patch_fault_rank(bins));
        for (int l = 0; l < s->size.lanes; l++)
            if (!begins || !litho_patch_fault_begins(axis[1].n, xl0 + l))
                s->quiet[row][l] = 0;
    }
}

LITHO_CLONES static void add_quiet(const Scratch *s, int row, Lane sum)
{
    memset(sum, 0, sizeof(Lane));
    for (int a = row - BESIDE; a <= row + BESIDE; a++)
        for (int b = 0; b <= 2 * BESIDE; b++)
            for (int l = 0; l < s->size.lanes; l++)
                sum[l] += s->quiet[a][l + b];
}

// Factors of the limits of a row of windows, which begin at inline `il` and from crossline xl0 on.
// Windows at the ends of the row have too few others beside them and are not used.
static void find_factors(const Job *job, gint64 il, gint64 xl0, int row, Scratch *s)
{
    const LithoPatchAxis *axis = job->of->small.axis;
    const float limit = job->of->limit;
    Lane sum;
    add_quiet(s, row, sum);
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
        filter_row(s, bins, row, job->shape, made);
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
                largest[l] = fmaxf(largest[l], own[l]);
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
        float *re = s->power[0][0], *im = re + BINS * ROOM;
        if (!find_gate(job, il0, xl0, k, s, i, gate))
            continue;
        memset(re, 0, 2 * BINS * sizeof(Lane));
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
    const guint64 lanes = small->axis[2].length + bins * (2 * ROWS + WINDOW_ROWS + 2 * W + 3 * K) +
                          WINDOW_ROWS + NEAR * made;
    return MIN(threads, (gint64)tiles[0] * tiles[1]) * lanes * sizeof(Lane);
}
