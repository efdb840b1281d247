// SPDX-License-Identifier: GPL-3.0-or-later
//
// Windows of LITHO_ROW samples along each axis: a row holds so many traces or wavenumbers, an axis
// is so many rows. Two windows are the real and imaginary part of one transform. Both cubes (16 KB
// of 16^3, 55 of 24^3) stay in the near caches; each is passed through memory twice. Included by
// one file a length, which defines LITHO_ROW, PATCH_COLUMN and PATCH_SCRATCH.
#pragma once
#include <string.h>

#include "kernels/patch/cpu/column.h"

// After core/grid.h, which calls an axis LITHO_INLINE.
#include "kernels/common/isa.h"
#include "kernels/common/vector_rows.h"
#include "kernels/patch/cpu/pairs.h"

enum { N = LITHO_ROW, BINS = N / 2 + 1, HALVES = N / 4 + 1 };

enum { PARTS = LITHO_PARTS, LANES = LITHO_LANES };

typedef LithoPart V; // PARTS of them are a row
typedef LithoMask M;

typedef struct Scratch {
    // [frequency][inline] of crosslines; in wavenumbers [crossline] of inlines
    LithoRow re[N][N], im[N][N];
    LithoRow power_a[BINS][N], power_b[BINS][N];
    LithoRow half_a[HALVES][N], half_b[HALVES][N]; // guides, at half their frequencies
    LithoRow shape[BINS][N];                       // of the noise's level
} Scratch;

// Limits that powers must reach: those of two windows at each frequency, times the shape of the
// noise's level over the wavenumbers, and `least` in any case. `shape` NULL: the limits alone.
typedef struct Limits {
    float a[BINS], b[BINS], least;
    LithoRow (*shape)[N];
} Limits;

gsize LITHO_ISA_NAME(PATCH_SCRATCH)(void)
{
    return sizeof(Scratch);
}

// --- permutations --------------------------------------------------------------------------------

#if LITHO_LANES == 16
#define OPPOSITE 0, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17
#define NEXT 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
#define LAST 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
#elif LITHO_LANES == 8
#define OPPOSITE 0, 15, 14, 13, 12, 11, 10, 9
#define NEXT 1, 2, 3, 4, 5, 6, 7, 8
#define LAST 7, 8, 9, 10, 11, 12, 13, 14
#else
#define OPPOSITE 0, 7, 6, 5
#define NEXT 1, 2, 3, 4
#define LAST 3, 4, 5, 6
#endif

// Part p of the row in which lane l is lane -l, l + 1 or l - 1 modulo 16 of x.
LITHO_INLINE V opposite(const LithoRow x, int p)
{
    return __builtin_shufflevector(x[(PARTS - p) % PARTS], x[PARTS - 1 - p], OPPOSITE);
}

LITHO_INLINE V next_lane(const LithoRow x, int p)
{
    return __builtin_shufflevector(x[p], x[(p + 1) % PARTS], NEXT);
}

LITHO_INLINE V last_lane(const LithoRow x, int p)
{
    return __builtin_shufflevector(x[(p + PARTS - 1) % PARTS], x[p], LAST);
}

// --- time ----------------------------------------------------------------------------------------

// Windows 2 * pair and 2 * pair + 1 of the traces of inline il, tapered. `at`: places of their
// samples in a trace.
LITHO_INLINE void load_plane(const PatchColumn *c, int pair, const int *at, int il, LithoRow a[N],
                             LithoRow b[N])
{
    const LithoPatchAxis *time = &c->sweep->g.axis[2];
    const int t0 = litho_patch_start(*time, 2 * pair), second = time->stride;
    const gboolean inside = t0 >= 0 && t0 + second + N <= time->n;
    for (int xl = 0; xl < N; xl++) {
        const float *row = c->rows[il * N + xl];
        float copy[2 * N];
        if (row && inside) {
            row += t0;
        } else {
            patch_load(row, at, second + N, copy);
            row = copy;
        }
        for (int p = 0; p < PARTS; p++) {
            const float trace = c->taper[0][il] * c->taper[1][xl];
            const V w = litho_load_part(c->taper[2] + p * LANES) * trace;
            a[xl][p] = clean(litho_load_part(row + p * LANES)) * w;
            b[xl][p] = clean(litho_load_part(row + second + p * LANES)) * w;
        }
    }
}

LITHO_INLINE void forward_time(const PatchColumn *c, int pair, Scratch *s)
{
    const LithoPatchAxis *time = &c->sweep->g.axis[2];
    int at[2 * N];
    patch_column_times(c, litho_patch_start(*time, 2 * pair), time->stride + N, at);
    for (int il = 0; il < N; il++) {
        LithoRow a[N], b[N];
        load_plane(c, pair, at, il, a, b);
        litho_transpose(a);
        litho_transpose(b);
        litho_fft_rows(a, b, 1);
        for (int f = 0; f < N; f++)
            for (int p = 0; p < PARTS; p++) {
                s->re[f][il][p] = a[f][p];
                s->im[f][il][p] = b[f][p];
            }
    }
}

LITHO_INLINE void add_row(float *strip, const LithoRow x, const V *w)
{
    for (int p = 0; p < PARTS; p++)
        *(LithoPartAnywhere *)(strip + p * LANES) =
            litho_load_part(strip + p * LANES) + x[p] * w[p];
}

LITHO_INLINE void inverse_time(const PatchColumn *c, int pair, float scale, Scratch *s)
{
    const int second = c->sweep->g.axis[2].stride, n_xl = c->clip_hi[1] - c->clip_lo[1];
    float *strip = c->strip + (pair - c->pair0) * 2 * second;
    for (int il = c->clip_lo[0]; il < c->clip_hi[0]; il++) {
        LithoRow a[N], b[N];
        if (!patch_column_makes(c, il))
            continue;
        for (int f = 0; f < N; f++)
            for (int p = 0; p < PARTS; p++) {
                a[f][p] = s->re[f][il][p];
                b[f][p] = s->im[f][il][p];
            }
        litho_fft_rows(b, a, 1);
        litho_transpose(a);
        litho_transpose(b);
        for (int xl = c->clip_lo[1]; xl < c->clip_hi[1]; xl++) {
            const float trace = c->taper[0][il] * c->taper[1][xl];
            V w[PARTS];
            for (int p = 0; p < PARTS; p++)
                w[p] = litho_load_part(c->taper[2] + p * LANES) * scale * trace;
            float *to =
                strip + ((gsize)(il - c->clip_lo[0]) * n_xl + xl - c->clip_lo[1]) * c->length;
            add_row(to, a[xl], w);
            add_row(to + second, b[xl], w);
        }
    }
}

// --- space ---------------------------------------------------------------------------------------

// Lanes whose power reaches the limit.
LITHO_INLINE M reaches(V power, float limit, const V *shape, float least)
{
    return shape ? (power >= limit * *shape) & (power >= least) : power >= limit;
}

// Guides of a frequency's wavenumbers, and the largest (geometry.h).
typedef struct Guide {
    LithoRow a[N], b[N];
    float most_a, most_b;
} Guide;

LITHO_INLINE V guided(V power, V guide, float most)
{
    const V w = guide / (guide + (LITHO_PATCH_GUIDE * most + 1e-30f));
    return power * (w * w);
}

// Row r of a plane against row -r of the plane at the opposite frequency (the plane itself for the
// first and the middle one), hard threshold; limits are of 4 |F|^2. `guide`: NULL = none.
LITHO_INLINE void threshold_row(LithoRow re, LithoRow im, LithoRow re_opposite,
                                LithoRow im_opposite, const Limits *limits, const Guide *guide,
                                int f, int row, gboolean shaped, gboolean same)
{
    Both x[PARTS];
    LithoRow r, i;
    for (int p = 0; p < PARTS; p++)
        x[p] = separate(re[p], im[p], opposite(re_opposite, p), opposite(im_opposite, p));
    for (int p = 0; p < PARTS; p++) {
        V power_a = x[p].ar * x[p].ar + x[p].ai * x[p].ai;
        V power_b = x[p].br * x[p].br + x[p].bi * x[p].bi;
        if (guide) {
            power_a = guided(power_a, guide->a[row][p], guide->most_a);
            power_b = guided(power_b, guide->b[row][p], guide->most_b);
        }
        const V *shape = shaped ? &limits->shape[f][row][p] : NULL;
        x[p] = masked(x[p], reaches(power_a, limits->a[f], shape, limits->least),
                      reaches(power_b, limits->b[f], shape, limits->least));
        join(x[p], &re[p], &im[p]);
        join_opposite(x[p], &r[p], &i[p]);
    }
    for (int p = 0; p < PARTS && !same; p++) {
        re_opposite[p] = opposite(r, p);
        im_opposite[p] = opposite(i, p);
    }
}

LITHO_INLINE void threshold_planes(LithoRow re[N], LithoRow im[N], LithoRow re_opposite[N],
                                   LithoRow im_opposite[N], const Limits *limits,
                                   const Guide *guide, int f, gboolean shaped, gboolean same)
{
    for (int r = 0; r < (same ? N / 2 + 1 : N); r++) {
        const int o = (N - r) % N;
        threshold_row(re[r], im[r], re_opposite[o], im_opposite[o], limits, guide, f, r, shaped,
                      same && o == r);
    }
}

// The planes of frequency f and of its opposite.
LITHO_INLINE void forward_space(Scratch *s, int f)
{
    const int o = (N - f) % N;
    litho_fft_plane(s->re[f], s->im[f]);
    if (o != f)
        litho_fft_plane(s->re[o], s->im[o]);
}

LITHO_INLINE void inverse_space(Scratch *s, int f)
{
    const int o = (N - f) % N;
    litho_fft_plane(s->im[f], s->re[f]);
    if (o != f)
        litho_fft_plane(s->im[o], s->re[o]);
}

// Both transforms and the threshold, a plane and its opposite at a time.
LITHO_INLINE void filter_single(Scratch *s, const Limits *limits, gboolean shaped)
{
    for (int f = 0; f < BINS; f++) {
        const int o = (N - f) % N;
        forward_space(s, f);
        threshold_planes(s->re[f], s->im[f], s->re[o], s->im[o], limits, NULL, f, shaped, o == f);
        inverse_space(s, f);
    }
}

// --- the other rule, guides, and the largest coefficient -----------------------------------------

LITHO_INLINE Both both_of(const Scratch *s, int f, int r, int p)
{
    const int o = (N - f) % N, q = (N - r) % N;
    return separate(s->re[f][r][p], s->im[f][r][p], opposite(s->re[o][q], p),
                    opposite(s->im[o][q], p));
}

// The larger of limit and least, where levels have a shape.
LITHO_INLINE V limit_at(const Limits *limits, float limit, int f, int r, int p)
{
    const V flat = limit - (V){0};
    if (!limits->shape)
        return flat;
    const V x = limit * limits->shape[f][r][p], least = limits->least - (V){0};
    return litho_keep(x >= least, x) + litho_keep(x < least, least);
}

static void powers(Scratch *s, const Limits *limits)
{
    for (int f = 0; f < BINS; f++)
        for (int r = 0; r < N; r++)
            for (int p = 0; p < PARTS; p++) {
                const Both x = both_of(s, f, r, p);
                s->power_a[f][r][p] =
                    (x.ar * x.ar + x.ai * x.ai) / limit_at(limits, limits->a[f], f, r, p);
                s->power_b[f][r][p] =
                    (x.br * x.br + x.bi * x.bi) / limit_at(limits, limits->b[f], f, r, p);
            }
}

// Mean of a coefficient (weight 1) and its neighbours (1/2) is 1 or more. Frequency -1 and bin 9
// stand at the opposite wavenumbers.
LITHO_INLINE M energetic(LithoRow power[BINS][N], int f, int r, int p)
{
    const int q = (N - r) % N;
    const V below = f > 0 ? power[f - 1][r][p] : opposite(power[1][q], p);
    const V above = f < BINS - 1 ? power[f + 1][r][p] : opposite(power[BINS - 2][q], p);
    const V sum = next_lane(power[f][r], p) + last_lane(power[f][r], p) + power[f][(r + 1) % N][p] +
                  power[f][(r + N - 1) % N][p] + below + above;
    return power[f][r][p] + 0.5f * sum >= 4;
}

// Row r of frequency f and its opposite.
LITHO_INLINE void keep_energetic(Scratch *s, int f, int r)
{
    const int o = (N - f) % N, q = (N - r) % N;
    Both x[PARTS];
    LithoRow re, im;
    for (int p = 0; p < PARTS; p++)
        x[p] = both_of(s, f, r, p);
    for (int p = 0; p < PARTS; p++) {
        x[p] = masked(x[p], energetic(s->power_a, f, r, p), energetic(s->power_b, f, r, p));
        join(x[p], &s->re[f][r][p], &s->im[f][r][p]);
        join_opposite(x[p], &re[p], &im[p]);
    }
    for (int p = 0; p < PARTS && !(o == f && q == r); p++) {
        s->re[o][q][p] = opposite(re, p);
        s->im[o][q][p] = opposite(im, p);
    }
}

static void filter_energy(Scratch *s, const Limits *limits)
{
    for (int f = 0; f < N; f++)
        litho_fft_plane(s->re[f], s->im[f]);
    powers(s, limits);
    for (int f = 0; f < BINS; f++)
        for (int r = 0; r < (f % (N / 2) == 0 ? N / 2 + 1 : N); r++)
            keep_energetic(s, f, r);
    for (int f = 0; f < N; f++)
        litho_fft_plane(s->im[f], s->re[f]);
}

// |F|^2 of both windows at frequency f.
LITHO_INLINE void energies(const Scratch *s, int f, LithoRow a[N], LithoRow b[N])
{
    for (int r = 0; r < N; r++)
        for (int p = 0; p < PARTS; p++) {
            const Both x = both_of(s, f, r, p);
            a[r][p] = 0.25f * (x.ar * x.ar + x.ai * x.ai);
            b[r][p] = 0.25f * (x.br * x.br + x.bi * x.bi);
        }
}

// Sums at the places around half of each row's number.
LITHO_INLINE void sum_halves(LithoRow from[N], LithoRow to[N])
{
    for (int r = 0; r < N; r++) {
        int at[2];
        litho_patch_halves(N, r, at);
        for (int p = 0; p < PARTS; p++)
            to[r][p] = from[at[0]][p] + from[at[1]][p];
    }
}

// Sums of energies around half of the wavenumbers of both axes.
static void sum_around(LithoRow energy[N], LithoRow to[N])
{
    LithoRow x[N];
    sum_halves(energy, x);
    litho_transpose(x);
    sum_halves(x, to);
    litho_transpose(to);
}

LITHO_INLINE V larger(V a, V b)
{
    return litho_keep(a >= b, a) + litho_keep(a < b, b);
}

// Guides of frequency f, from sums at its half, and the largest. The last frequency is its own
// opposite: its wavenumbers are judged two by two.
LITHO_INLINE float find_guide(LithoRow half[HALVES][N], int f, LithoRow guide[N])
{
    LithoRow most = {0};
    float all = 0;
    for (int r = 0; r < N; r++)
        for (int p = 0; p < PARTS; p++) {
            V own = half[f / 2][r][p] + half[(f + 1) / 2][r][p];
            if (f == BINS - 1)
                own = 0.5f * (own + 2 * opposite(half[HALVES - 1][(N - r) % N], p));
            guide[r][p] = own;
            most[p] = larger(most[p], own);
        }
    for (int l = 0; l < N; l++)
        all = fmaxf(all, most[l / LANES][l % LANES]);
    return all;
}

// Half the frequencies are transformed before any is judged.
static void filter_guided(Scratch *s, const Limits *limits)
{
    for (int f = 0; f < HALVES; f++) {
        forward_space(s, f);
        energies(s, f, s->power_a[f], s->power_b[f]);
        sum_around(s->power_a[f], s->half_a[f]);
        sum_around(s->power_b[f], s->half_b[f]);
    }
    for (int f = 0; f < BINS; f++) {
        const int o = (N - f) % N;
        Guide guide;
        if (f >= HALVES)
            forward_space(s, f);
        guide.most_a = find_guide(s->half_a, f, guide.a);
        guide.most_b = find_guide(s->half_b, f, guide.b);
        threshold_planes(s->re[f], s->im[f], s->re[o], s->im[o], limits, &guide, f,
                         limits->shape != NULL, o == f);
        inverse_space(s, f);
    }
}

static float largest(Scratch *s)
{
    Limits ones = {0};
    float most = 0;
    for (int f = 0; f < BINS; f++)
        ones.a[f] = ones.b[f] = 4;
    for (int f = 0; f < N; f++)
        litho_fft_plane(s->re[f], s->im[f]);
    powers(s, &ones);
    for (int f = 0; f < BINS; f++)
        for (int r = 0; r < N; r++)
            for (int l = 0; l < N; l++) {
                const float a = s->power_a[f][r][l / LANES][l % LANES];
                most = fmaxf(most, fmaxf(a, s->power_b[f][r][l / LANES][l % LANES]));
            }
    return most;
}

// --- the column ----------------------------------------------------------------------------------

// The shape of the noise's level, rows of inline wavenumbers.
static LithoRow (*load_shape(const PatchColumn *c, Scratch *s))[N]
{
    const float *shape = c->sweep->levels->shape;
    for (int f = 0; shape && f < BINS; f++)
        for (int il = 0; il < N; il++)
            for (int xl = 0; xl < N; xl++)
                s->shape[f][xl][il / LANES][il % LANES] = shape[(f * N + il) * N + xl];
    return shape ? s->shape : NULL;
}

void LITHO_ISA_NAME(PATCH_COLUMN)(PatchColumn *c, void *scratch)
{
    Scratch *s = scratch;
    Limits limits = {.least = 4 * litho_patch_least(c->sweep->least), .shape = load_shape(c, s)};
    // 1 / N^3 of the transforms, 1 / 2 of separate(), 1 / share of absent traces.
    const float scale = 1 / (2.0f * N * N * N * c->share);
    for (int pair = c->pair0; pair < c->pair1 && patch_column_goes_on(c, 2 * pair); pair++) {
        forward_time(c, pair, s);
        if (c->sweep->largest) {
            c->largest = fmaxf(c->largest, largest(s));
            continue;
        }
        patch_column_limits(c, 2 * pair, limits.a);
        patch_column_limits(c, 2 * pair + 1, limits.b);
        for (int f = 0; f < BINS; f++) {
            limits.a[f] *= 4;
            limits.b[f] *= 4;
        }
        if (c->sweep->rule == LITHO_PATCH_ENERGY)
            filter_energy(s, &limits);
        else if (c->sweep->guided)
            filter_guided(s, &limits);
        else if (limits.shape)
            filter_single(s, &limits, TRUE);
        else
            filter_single(s, &limits, FALSE);
        inverse_time(c, pair, scale, s);
    }
}
