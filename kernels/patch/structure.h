// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <math.h>
#include <stdbool.h>

// Dips and coherence of a cube by the gradient structure tensor (Bigun & Granlund 1987; van Vliet &
// Verbeek 1995; Bakker 2002). Plain C without GLib, so that CUDA code includes it too. Pure
// functions, any thread. Both backends compute the following, sums in this order:
//   1. About each live trace a plane is fitted by least squares to the live traces within FIT of
//      it, weighted by a Gaussian of one trace: its height and its two slopes, sample by sample.
//      Along time a line is fitted likewise to the samples within FIT: the height of both slopes
//      and the slope of the height are the gradient. A fit needs no traces beyond the faces and
//      none in the place of missing ones; height and slope see a wave through the same Gaussian, so
//      that their ratio is its dip at every frequency. A fit to one side is curved by the wave: it
//      counts the less, the further the fitted traces' centre is from the trace.
//   2. The six products of the gradient are added over the live traces within TRACES and the
//      samples within SAMPLES, weighted by Gaussians of SPREAD_TRACES and SPREAD_SAMPLES: along
//      time, then crosslines, then inlines, in ascending order.
//   3. The normal of the events is the eigenvector n of the largest eigenvalue. The dip is
//      -n_x / n_t samples a trace, cut at MOST; coherence is (a - b) / (a + b) of the two largest
//      eigenvalues: 1 for parallel planes, 0 where no direction leads.

enum {
    LITHO_PATCH_FIT = 3,
    LITHO_PATCH_FIT_WIDTH = 2 * LITHO_PATCH_FIT + 1,
    LITHO_PATCH_FIT_TRACES = LITHO_PATCH_FIT_WIDTH * LITHO_PATCH_FIT_WIDTH,
    LITHO_PATCH_TENSOR_TRACES = 5,
    LITHO_PATCH_TENSOR_SAMPLES = 10,
    LITHO_PATCH_MOST_DIP = 64,
};

// Samples of the cube around a sample that its dip depends on.
enum {
    LITHO_PATCH_DIP_TRACES = LITHO_PATCH_FIT + LITHO_PATCH_TENSOR_TRACES,
    LITHO_PATCH_DIP_SAMPLES = LITHO_PATCH_FIT + LITHO_PATCH_TENSOR_SAMPLES,
};

// Numbers of an eigenvector's volumes.
enum { LITHO_PATCH_DIP_INLINE, LITHO_PATCH_DIP_XLINE, LITHO_PATCH_COHERENCE };

#ifdef __CUDACC__
#define LITHO_STRUCTURE_FN static __host__ __device__ __forceinline__
#else
#define LITHO_STRUCTURE_FN static inline __attribute__((unused))
#endif

LITHO_STRUCTURE_FN double litho_patch_gaussian(int i, double spread)
{
    return exp(-0.5 * i * i / (spread * spread));
}

// Weights of the products `i` traces or samples away.
LITHO_STRUCTURE_FN float litho_patch_tensor_traces(int i)
{
    return (float)litho_patch_gaussian(i, 2);
}

LITHO_STRUCTURE_FN float litho_patch_tensor_samples(int i)
{
    return (float)litho_patch_gaussian(i, 4);
}

// Weight of a gradient whose fit is centred so far away; its products take the square.
LITHO_STRUCTURE_FN double litho_patch_trust(double i, double j)
{
    return exp(-12 * (i * i + j * j));
}

// Weighted least squares of a line, over samples `-lo` .. `hi` around the middle, both within FIT:
// its height there is sum value[FIT + i] x(i), its slope sum slope[FIT + i] x(i).
LITHO_STRUCTURE_FN void litho_patch_fit_line(int lo, int hi, float value[LITHO_PATCH_FIT_WIDTH],
                                             float slope[LITHO_PATCH_FIT_WIDTH])
{
    double m0 = 0, m1 = 0, m2 = 0;
    for (int i = -lo; i <= hi; i++) {
        const double w = litho_patch_gaussian(i, 1);
        m0 += w;
        m1 += w * i;
        m2 += w * i * i;
    }
    const double det = m0 * m2 - m1 * m1, trust = litho_patch_trust(m1 / m0, 0);
    for (int i = -LITHO_PATCH_FIT; i <= LITHO_PATCH_FIT; i++) {
        const double w = i >= -lo && i <= hi ? trust * litho_patch_gaussian(i, 1) : 0;
        // One sample alone has a height and no slope.
        value[LITHO_PATCH_FIT + i] = (float)(det > 1e-9 ? w * (m2 - m1 * i) / det : w / m0);
        slope[LITHO_PATCH_FIT + i] = (float)(det > 1e-9 ? w * (m0 * i - m1) / det : 0);
    }
}

// Weights of a plane's height and slopes along inlines (i) and crosslines (j).
typedef struct LithoPatchFit {
    float value[LITHO_PATCH_FIT_TRACES], inl[LITHO_PATCH_FIT_TRACES], xl[LITHO_PATCH_FIT_TRACES];
} LithoPatchFit;

// Weighted least squares of a plane over the traces with there[(FIT + i) * WIDTH + FIT + j]; the
// middle is one of them. A direction without traces has no slope.
LITHO_STRUCTURE_FN void litho_patch_fit_plane(const unsigned char *there, LithoPatchFit *fit)
{
    const double none = 1e-9; // slopes of directions that the traces do not span
    double near[LITHO_PATCH_FIT_WIDTH];
    for (int i = -LITHO_PATCH_FIT; i <= LITHO_PATCH_FIT; i++)
        near[LITHO_PATCH_FIT + i] = litho_patch_gaussian(i, 1);
    double m = 0, mi = 0, mj = 0, mii = none, mij = 0, mjj = none;
    for (int k = 0; k < LITHO_PATCH_FIT_TRACES; k++) {
        const int i = k / LITHO_PATCH_FIT_WIDTH - LITHO_PATCH_FIT,
                  j = k % LITHO_PATCH_FIT_WIDTH - LITHO_PATCH_FIT;
        const double w = there[k] ? near[LITHO_PATCH_FIT + i] * near[LITHO_PATCH_FIT + j] : 0;
        m += w;
        mi += w * i;
        mj += w * j;
        mii += w * i * i;
        mij += w * i * j;
        mjj += w * j * j;
    }
    // The inverse of the symmetric matrix of the moments.
    const double c00 = mii * mjj - mij * mij, c01 = mij * mj - mi * mjj, c02 = mi * mij - mii * mj;
    const double c11 = m * mjj - mj * mj, c12 = mi * mj - m * mij, c22 = m * mii - mi * mi;
    const double det = (m * c00 + mi * c01 + mj * c02) / litho_patch_trust(mi / m, mj / m);
    for (int k = 0; k < LITHO_PATCH_FIT_TRACES; k++) {
        const int i = k / LITHO_PATCH_FIT_WIDTH - LITHO_PATCH_FIT,
                  j = k % LITHO_PATCH_FIT_WIDTH - LITHO_PATCH_FIT;
        const double w = there[k] ? near[LITHO_PATCH_FIT + i] * near[LITHO_PATCH_FIT + j] / det : 0;
        fit->value[k] = (float)(w * (c00 + c01 * i + c02 * j));
        fit->inl[k] = (float)(w * (c01 + c11 * i + c12 * j));
        fit->xl[k] = (float)(w * (c02 + c12 * i + c22 * j));
    }
}

// Sums of products of the gradient (i inline, j crossline, t time).
enum {
    LITHO_PATCH_II,
    LITHO_PATCH_IJ,
    LITHO_PATCH_JJ,
    LITHO_PATCH_IT,
    LITHO_PATCH_JT,
    LITHO_PATCH_TT,
    LITHO_PATCH_PRODUCTS
};

// Column `c` of the longest of the cross products of two rows of A - a I: the eigenvector of a.
LITHO_STRUCTURE_FN void litho_patch_normal(double ii, double ij, double jj, double it, double jt,
                                           double tt, double n[3])
{
    const double v[3][3] = {
        {ij * jt - it * jj, it * ij - ii * jt, ii * jj - ij * ij}, // rows 0 and 1
        {ij * tt - it * jt, it * it - ii * tt, ii * jt - ij * it}, // rows 0 and 2
        {jj * tt - jt * jt, jt * it - ij * tt, ij * jt - jj * it}, // rows 1 and 2
    };
    double most = -1;
    for (int k = 0; k < 3; k++) {
        const double size = v[k][0] * v[k][0] + v[k][1] * v[k][1] + v[k][2] * v[k][2];
        if (size > most) {
            most = size;
            for (int c = 0; c < 3; c++)
                n[c] = v[k][c];
        }
    }
}

LITHO_STRUCTURE_FN double litho_patch_slope(double across, double down)
{
    const double most = LITHO_PATCH_MOST_DIP * fabs(down);
    const double cut = across > most ? most : across < -most ? -most : across;
    return down != 0 ? -cut / down : 0;
}

// One volume's number from the sums; dips in samples a trace. 0 where there is nothing.
LITHO_STRUCTURE_FN float litho_patch_structure(const float sums[LITHO_PATCH_PRODUCTS], int volume)
{
    const double scale = (double)sums[LITHO_PATCH_II] + sums[LITHO_PATCH_JJ] + sums[LITHO_PATCH_TT];
    if (!(scale > 1e-30 && scale < 1e37))
        return 0;
    const double ii = sums[LITHO_PATCH_II] / scale, jj = sums[LITHO_PATCH_JJ] / scale;
    const double tt = sums[LITHO_PATCH_TT] / scale, ij = sums[LITHO_PATCH_IJ] / scale;
    const double it = sums[LITHO_PATCH_IT] / scale, jt = sums[LITHO_PATCH_JT] / scale;
    // Eigenvalues of a symmetric matrix by the angle of its characteristic equation (Smith 1961).
    const double q = 1.0 / 3, a = ii - q, b = jj - q, c = tt - q;
    const double p = sqrt((a * a + b * b + c * c + 2 * (ij * ij + it * it + jt * jt)) / 6);
    if (p < 1e-7)
        return 0;
    double r = (a * (b * c - jt * jt) - ij * (ij * c - jt * it) + it * (ij * jt - b * it)) /
               (2 * p * p * p);
    r = r > 1 ? 1 : r < -1 ? -1 : r;
    const double angle = acos(r) / 3;
    const double first = q + 2 * p * cos(angle);
    const double last = q + 2 * p * cos(angle + 2.09439510239319549231);
    const double second = 1 - first - last;
    if (volume == LITHO_PATCH_COHERENCE)
        return (float)((first - second) / (first + second));
    double n[3] = {0, 0, 1};
    litho_patch_normal(ii - first, ij, jj - first, it, jt, tt - first, n);
    return (float)litho_patch_slope(n[volume == LITHO_PATCH_DIP_INLINE ? 0 : 1], n[2]);
}
