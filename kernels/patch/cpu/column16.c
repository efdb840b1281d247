// SPDX-License-Identifier: GPL-3.0-or-later
//
// Windows of 16 x 16 x 16: a vector holds 16 traces or wavenumbers, an axis is 16 vectors. Two
// windows are the real and imaginary part of one transform. Both cubes of 16 KB stay in the nearest
// caches; each is passed through memory twice.
#include <string.h>

#include "kernels/patch/cpu/column.h"

// After core/grid.h, which calls an axis LITHO_INLINE.
#include "kernels/common/vector16.h"

enum { N = 16, BINS = N / 2 + 1 };

typedef LithoV16 V;
typedef LithoM16 M;

#define PATCH_T V
#define PATCH_FN LITHO_INLINE
#include "kernels/common/fft.h"

typedef struct Scratch {
    V re[N][N],
        im[N][N]; // [frequency][inline] of crosslines; in wavenumbers [crossline] of inlines
    V power_a[BINS][N], power_b[BINS][N];
} Scratch;

gsize patch_column16_scratch(void)
{
    return sizeof(Scratch);
}

// --- permutations --------------------------------------------------------------------------------

// Lane l takes lane -l modulo 16.
LITHO_INLINE V opposite(V x)
{
    return __builtin_shufflevector(x, x, 0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1);
}

LITHO_INLINE V next_lane(V x)
{
    return __builtin_shufflevector(x, x, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0);
}

LITHO_INLINE V last_lane(V x)
{
    return __builtin_shufflevector(x, x, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
}

// Zero where x is not finite.
LITHO_INLINE V clean(V x)
{
    return litho_keep16(x - x == 0, x);
}

// --- time ----------------------------------------------------------------------------------------

// Windows 2 * pair and 2 * pair + 1 of the traces of inline il, tapered.
LITHO_INLINE void load_plane(const PatchColumn *c, int pair, int il, V a[N], V b[N])
{
    const LithoPatchAxis *time = &c->sweep->g.axis[2];
    const int t0 = litho_patch_start(*time, 2 * pair), second = time->stride;
    const gboolean inside = t0 >= 0 && t0 + second + N <= time->n;
    const V taper = litho_load16(c->taper[2]);
    for (int xl = 0; xl < N; xl++) {
        const float *row = c->rows[il * N + xl];
        float copy[2 * N];
        if (row && inside) {
            row += t0;
        } else {
            patch_column_load(c, il * N + xl, t0, second + N, copy);
            row = copy;
        }
        const V w = taper * (c->taper[0][il] * c->taper[1][xl]);
        a[xl] = clean(litho_load16(row)) * w;
        b[xl] = clean(litho_load16(row + second)) * w;
    }
}

LITHO_INLINE void forward_time(const PatchColumn *c, int pair, Scratch *s)
{
    for (int il = 0; il < N; il++) {
        V a[N], b[N];
        load_plane(c, pair, il, a, b);
        litho_transpose16(a);
        litho_transpose16(b);
        patch_fft16(a, b);
        for (int f = 0; f < N; f++) {
            s->re[f][il] = a[f];
            s->im[f][il] = b[f];
        }
    }
}

LITHO_INLINE void add_to(float *strip, V x)
{
    *(LithoV16Unaligned *)strip = litho_load16(strip) + x;
}

LITHO_INLINE void inverse_time(const PatchColumn *c, int pair, float scale, Scratch *s)
{
    const int second = c->sweep->g.axis[2].stride, n_xl = c->clip_hi[1] - c->clip_lo[1];
    const V taper = litho_load16(c->taper[2]) * scale;
    float *strip = c->strip + (pair - c->pair0) * 2 * second;
    for (int il = c->clip_lo[0]; il < c->clip_hi[0]; il++) {
        V a[N], b[N];
        for (int f = 0; f < N; f++) {
            a[f] = s->re[f][il];
            b[f] = s->im[f][il];
        }
        patch_fft16(b, a);
        litho_transpose16(a);
        litho_transpose16(b);
        for (int xl = c->clip_lo[1]; xl < c->clip_hi[1]; xl++) {
            const V w = taper * (c->taper[0][il] * c->taper[1][xl]);
            float *to =
                strip + ((gsize)(il - c->clip_lo[0]) * n_xl + xl - c->clip_lo[1]) * c->length;
            add_to(to, a[xl] * w);
            add_to(to + second, b[xl] * w);
        }
    }
}

// --- space ---------------------------------------------------------------------------------------

// Inline, then crossline; the plane comes out as [crossline wavenumber] of inline wavenumbers.
LITHO_INLINE void forward_plane(V re[N], V im[N])
{
    patch_fft16(re, im);
    litho_transpose16(re);
    litho_transpose16(im);
    patch_fft16(re, im);
}

LITHO_INLINE void inverse_plane(V re[N], V im[N])
{
    patch_fft16(im, re);
    litho_transpose16(re);
    litho_transpose16(im);
    patch_fft16(im, re);
}

// Twice the spectra of the two windows at k, from the common spectrum Z there and at -k.
typedef struct Both {
    V ar, ai, br, bi;
} Both;

LITHO_INLINE Both separate(V re, V im, V re_opposite, V im_opposite)
{
    return (Both){re + re_opposite, im - im_opposite, im + im_opposite, re_opposite - re};
}

LITHO_INLINE Both masked(Both x, M a, M b)
{
    return (Both){litho_keep16(a, x.ar), litho_keep16(a, x.ai), litho_keep16(b, x.br),
                  litho_keep16(b, x.bi)};
}

// Z at k of what is kept, and at -k (in the order of k).
LITHO_INLINE void join(Both x, V *re, V *im)
{
    *re = x.ar - x.bi;
    *im = x.ai + x.br;
}

LITHO_INLINE void join_opposite(Both x, V *re, V *im)
{
    *re = x.ar + x.bi;
    *im = x.br - x.ai;
}

// Row r of a plane against row -r of the plane at the opposite frequency (the plane itself for the
// first and the middle one), hard threshold; limits are of 4 |F|^2.
LITHO_INLINE void threshold_row(V *re, V *im, V *re_opposite, V *im_opposite, float limit_a,
                                float limit_b, gboolean same)
{
    Both x = separate(*re, *im, opposite(*re_opposite), opposite(*im_opposite));
    x = masked(x, x.ar * x.ar + x.ai * x.ai >= limit_a, x.br * x.br + x.bi * x.bi >= limit_b);
    join(x, re, im);
    if (same)
        return;
    V r, i;
    join_opposite(x, &r, &i);
    *re_opposite = opposite(r);
    *im_opposite = opposite(i);
}

LITHO_INLINE void threshold_planes(V re[N], V im[N], V re_opposite[N], V im_opposite[N],
                                   float limit_a, float limit_b, gboolean same)
{
    for (int r = 0; r < (same ? N / 2 + 1 : N); r++) {
        const int o = (N - r) % N;
        threshold_row(&re[r], &im[r], &re_opposite[o], &im_opposite[o], limit_a, limit_b,
                      same && o == r);
    }
}

// Both transforms and the threshold, a plane and its opposite at a time.
LITHO_INLINE void filter_single(Scratch *s, const float *limit_a, const float *limit_b)
{
    for (int f = 0; f < BINS; f++) {
        const int o = (N - f) % N;
        forward_plane(s->re[f], s->im[f]);
        if (o != f)
            forward_plane(s->re[o], s->im[o]);
        threshold_planes(s->re[f], s->im[f], s->re[o], s->im[o], limit_a[f], limit_b[f], o == f);
        inverse_plane(s->re[f], s->im[f]);
        if (o != f)
            inverse_plane(s->re[o], s->im[o]);
    }
}

// --- the other rule, and the largest coefficient -------------------------------------------------

static void powers(Scratch *s, const float *limit_a, const float *limit_b)
{
    for (int f = 0; f < BINS; f++)
        for (int r = 0; r < N; r++) {
            const int o = (N - f) % N, q = (N - r) % N;
            Both x =
                separate(s->re[f][r], s->im[f][r], opposite(s->re[o][q]), opposite(s->im[o][q]));
            s->power_a[f][r] = (x.ar * x.ar + x.ai * x.ai) / limit_a[f];
            s->power_b[f][r] = (x.br * x.br + x.bi * x.bi) / limit_b[f];
        }
}

// Mean of a coefficient (weight 1) and its neighbours (1/2) is 1 or more. Frequency -1 and bin 9
// stand at the opposite wavenumbers.
LITHO_INLINE M energetic(V power[BINS][N], int f, int r)
{
    const int q = (N - r) % N;
    const V own = power[f][r];
    const V below = f > 0 ? power[f - 1][r] : opposite(power[1][q]);
    const V above = f < BINS - 1 ? power[f + 1][r] : opposite(power[BINS - 2][q]);
    const V sum = next_lane(own) + last_lane(own) + power[f][(r + 1) % N] +
                  power[f][(r + N - 1) % N] + below + above;
    return own + 0.5f * sum >= 4;
}

static void filter_energy(Scratch *s, const float *limit_a, const float *limit_b)
{
    for (int f = 0; f < N; f++)
        forward_plane(s->re[f], s->im[f]);
    powers(s, limit_a, limit_b);
    for (int f = 0; f < BINS; f++)
        for (int r = 0; r < (f % (N / 2) == 0 ? N / 2 + 1 : N); r++) {
            const int o = (N - f) % N, q = (N - r) % N;
            Both x =
                separate(s->re[f][r], s->im[f][r], opposite(s->re[o][q]), opposite(s->im[o][q]));
            x = masked(x, energetic(s->power_a, f, r), energetic(s->power_b, f, r));
            join(x, &s->re[f][r], &s->im[f][r]);
            if (o == f && q == r)
                continue;
            V re, im;
            join_opposite(x, &re, &im);
            s->re[o][q] = opposite(re);
            s->im[o][q] = opposite(im);
        }
    for (int f = 0; f < N; f++)
        inverse_plane(s->re[f], s->im[f]);
}

static float largest(Scratch *s)
{
    static const float ones[BINS] = {4, 4, 4, 4, 4, 4, 4, 4, 4};
    float most = 0;
    for (int f = 0; f < N; f++)
        forward_plane(s->re[f], s->im[f]);
    powers(s, ones, ones);
    for (int f = 0; f < BINS; f++)
        for (int r = 0; r < N; r++)
            for (int l = 0; l < N; l++)
                most = fmaxf(most, fmaxf(s->power_a[f][r][l], s->power_b[f][r][l]));
    return most;
}

// --- the column ----------------------------------------------------------------------------------

LITHO_CLONES void patch_column16(PatchColumn *c, void *scratch)
{
    Scratch *s = scratch;
    // 1 / N^3 of the transforms, 1 / 2 of separate(), 1 / share of absent traces.
    const float scale = 1 / (2.0f * N * N * N * c->share);
    for (int pair = c->pair0; pair < c->pair1; pair++) {
        float limits[2][BINS];
        forward_time(c, pair, s);
        if (c->sweep->largest) {
            c->largest = fmaxf(c->largest, largest(s));
            continue;
        }
        for (int k = 0; k < 2; k++) {
            patch_column_limits(c, 2 * pair + k, limits[k]);
            for (int f = 0; f < BINS; f++)
                limits[k][f] *= 4;
        }
        if (c->sweep->rule == LITHO_PATCH_ENERGY)
            filter_energy(s, limits[0], limits[1]);
        else
            filter_single(s, limits[0], limits[1]);
        inverse_time(c, pair, scale, s);
    }
}
