// SPDX-License-Identifier: GPL-3.0-or-later
//
// Windows of 4 x 4 traces, a row of them side by side in lanes. Loops over lanes are told to be
// free of dependences: their rows are many, and a compiler that cannot tell them apart leaves them
// to one lane at a time.
#include "kernels/patch/cpu/faults_rows.h"

#include <math.h>
#include <string.h>

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
#pragma omp simd
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
#pragma omp simd
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
#pragma omp simd
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
#pragma omp simd
    for (int l = 0; l < lanes; l++)
        power[l] = (z.re[l] * z.re[l] + z.im[l] * z.im[l]) * noise[l];
}

// The row of windows that begins at row `row`, at frequency f, transformed along inlines.
LITHO_INLINE void transform_inlines(Scratch *s, int f, int row, int lanes)
{
    From from[W];
    To to[W];
    for (int i = 0; i < W; i++) {
        from[i] = (From){s->re[f][row + i], s->im[f][row + i]};
        to[i] = (To){s->along[f % 2][i].re, s->along[f % 2][i].im};
    }
    forward4(from, 0, to, lanes);
}

// The transform along crosslines, and powers: in units of the noise, at their wavenumbers where it
// has a shape.
LITHO_INLINE void transform_crosslines(Scratch *s, int f, int row, const float (*shape)[K],
                                       int lanes)
{
    From from[W];
    To to[W];
    for (int k = 0; k < W; k++) {
        for (int i = 0; i < W; i++) {
            from[i] = (From){s->along[f % 2][k].re, s->along[f % 2][k].im};
            to[i] = lanes_of(&s->window[f % 3][k * W + i]);
        }
        forward4(from, 1, to, lanes);
    }
    for (int k = 0; k < K; k++) {
        float *power = s->power[f % 3][k];
        powers4(lanes_in(&s->window[f % 3][k]), s->noise[row][f], power, lanes);
        const float by = shape ? 1 / shape[f][k] : 1;
        if (shape)
#pragma omp simd
            for (int l = 0; l < lanes; l++)
                power[l] *= by;
    }
}

// Mean powers of a row of windows at frequency f, without the transforms.
LITHO_INLINE void mean_powers(const Scratch *s, int f, int row, Lane mean, int lanes)
{
    Lane along = {0};
    for (int i = 0; i < W; i++) {
        const float w = i == 0 || i == W - 1 ? OUTER * OUTER : INNER * INNER;
        const float *re = s->re[f][row + i], *im = s->im[f][row + i];
#pragma omp simd
        for (int l = 0; l < lanes; l++)
            along[l] += w * (re[l] * re[l] + im[l] * im[l]);
    }
#pragma omp simd
    for (int l = 0; l < lanes; l++) {
        const float outer = along[l] + along[l + 3], inner = along[l + 1] + along[l + 2];
        mean[l] = (OUTER * OUTER * outer + INNER * INNER * inner) * s->noise[row][f][l];
    }
}

// The quartiles of a row of windows.
LITHO_CLONES void patch_fault_quiet(Scratch *s, int bins, int row, int rank)
{
    const int lanes = s->size.lanes;
    Lane least[LITHO_PATCH_FAULT_RANKS];
    for (int r = 0; r <= rank; r++)
#pragma omp simd
        for (int l = 0; l < lanes; l++)
            least[r][l] = INFINITY;
    for (int f = 0; f < bins; f++) {
        Lane mean;
        mean_powers(s, f, row, mean, lanes);
        for (int r = 0; r <= rank; r++)
#pragma omp simd
            for (int l = 0; l < lanes; l++) {
                const float a = least[r][l], b = mean[l];
                least[r][l] = a < b ? a : b;
                mean[l] = a < b ? b : a;
            }
    }
    memcpy(s->quiet[row], least[rank], lanes * sizeof(float));
}

// Wavenumber -k.
LITHO_INLINE int opposite(int k)
{
    return (W - k / W) % W * W + (W - k % W) % W;
}

// Zeros where the energy of a coefficient and its neighbours is below the limit. One frequency
// beyond the bins stand the opposite wavenumbers.
LITHO_INLINE void threshold_row(Scratch *s, int bins, int f, int lanes)
{
    const float(*power)[ROOM] = s->power[f % 3];
    const float(*before)[ROOM] = s->power[(f > 0 ? f - 1 : bins > 1) % 3];
    const float(*behind)[ROOM] = s->power[(f < bins - 1 ? f + 1 : bins > 1 ? bins - 2 : 0) % 3];
    for (int k = 0; k < K; k++) {
        const float *below = before[f > 0 ? k : opposite(k)];
        const float *above = behind[f < bins - 1 ? k : opposite(k)];
        const float *own = power[k], *left = power[k / W * W + (k + W - 1) % W];
        const float *right = power[k / W * W + (k + 1) % W];
        const float *up = power[(k + W) % K], *down = power[(k + K - W) % K];
        const float *limit = s->factor;
        const To z = lanes_of(&s->window[f % 3][k]);
        float *restrict re = z.re, *restrict im = z.im;
#pragma omp simd
        for (int l = 0; l < lanes; l++) {
            const float near = ((up[l] + down[l]) + (right[l] + left[l])) + (above[l] + below[l]);
            const float keep = own[l] + 0.5f * near >= limit[l] ? 1 : 0;
            re[l] *= keep;
            im[l] *= keep;
        }
    }
}

LITHO_INLINE void inverse_crosslines(Scratch *s, int f, int lanes)
{
    From from[W];
    for (int k = 0; k < W; k++) {
        for (int i = 0; i < W; i++)
            from[i] = lanes_in(&s->window[f % 3][k * W + i]);
        gather4(from, (To){s->back[f % 2][k].re, s->back[f % 2][k].im}, lanes);
    }
}

// Adds the row of windows to the rows of `made` that they cover.
LITHO_INLINE void inverse_inlines(Scratch *s, int f, int row, Made *made, int lanes)
{
    const float scale = 1.0f / (K * W); // of the transforms, and of the sum of w^2 along both axes
    Row away;
    From from[W];
    To to[W];
    for (int i = 0; i < W; i++) {
        const int at = row + i - EDGE;
        const gboolean there = at >= 0 && at < s->size.made_il;
        from[i] = (From){s->back[f % 2][i].re, s->back[f % 2][i].im};
        to[i] = there ? (To){made->re[f][at], made->im[f][at]} : (To){away.re, away.im};
        if (!there)
            memset(&away, 0, sizeof away);
    }
    inverse4(from, scale, to, lanes);
}

// Frequencies take their steps one behind the other, so that a few of them stay in the nearest
// cache, and what is read with other lanes has been written a while before.
LITHO_INLINE void filter_lanes(Scratch *s, int bins, int row, const float (*shape)[K], Made *made,
                               int lanes)
{
    for (int f = 0; f < bins + 4; f++) {
        if (f < bins)
            transform_inlines(s, f, row, lanes);
        if (f >= 1 && f - 1 < bins)
            transform_crosslines(s, f - 1, row, shape, lanes);
        if (f >= 2 && f - 2 < bins)
            threshold_row(s, bins, f - 2, lanes);
        if (f >= 3 && f - 3 < bins)
            inverse_crosslines(s, f - 3, lanes);
        if (f >= 4)
            inverse_inlines(s, f - 4, row, made, lanes);
    }
}

// Whole tiles have code of their own, and so do slices along inlines.
LITHO_CLONES void patch_fault_filter(Scratch *s, int bins, int row, const float (*shape)[K],
                                     Made *made)
{
    if (s->size.lanes == LANES)
        filter_lanes(s, bins, row, shape, made, LANES);
    else if (s->size.lanes == VECTOR)
        filter_lanes(s, bins, row, shape, made, VECTOR);
    else
        filter_lanes(s, bins, row, shape, made, s->size.lanes);
}

LITHO_CLONES void patch_fault_noise(const Scratch *s, int bins, float energy, Lane noise[BINS])
{
    for (int f = 0; f < bins; f++) {
        const float *level = s->levels[f];
#pragma omp simd
        for (int l = 0; l < s->size.lanes; l++) {
            const float sigma =
                (1 - s->share[l]) * level[s->cell[l]] + s->share[l] * level[s->above[l]];
            const float mean = sigma * sigma * energy;
            noise[f][l] = 1 / (mean > 1e-30f ? mean : 1e-30f);
        }
    }
}

LITHO_CLONES void patch_fault_add_quiet(const Scratch *s, int row, Lane sum)
{
    memset(sum, 0, sizeof(Lane));
    for (int a = row - BESIDE; a <= row + BESIDE; a++)
        for (int b = 0; b <= 2 * BESIDE; b++)
            for (int l = 0; l < s->size.lanes; l++)
                sum[l] += s->quiet[a][l + b];
}
