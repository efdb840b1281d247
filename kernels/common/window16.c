// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/common/window16.h"

#include <string.h>

#include "kernels/common/vector_rows.h"

enum { N = 16 };

typedef LithoRow Plane[N];

LITHO_INLINE void first_axis(Plane *re, Plane *im)
{
    for (int i = 0; i < N; i++)
        litho_fft_rows(&re[0][i], &im[0][i], N);
}

void LITHO_ISA_NAME(litho_window16_first_forward)(float *re, float *im)
{
    first_axis((Plane *)re, (Plane *)im);
}

void LITHO_ISA_NAME(litho_window16_first_backward)(float *re, float *im)
{
    first_axis((Plane *)im, (Plane *)re);
}

void LITHO_ISA_NAME(litho_window16_others_forward)(float *re, float *im)
{
    Plane *r = (Plane *)re, *i = (Plane *)im;
    for (int k = 0; k < N; k++)
        litho_fft_plane(r[k], i[k]);
}

void LITHO_ISA_NAME(litho_window16_others_backward)(float *re, float *im)
{
    Plane *r = (Plane *)re, *i = (Plane *)im;
    for (int k = 0; k < N; k++)
        litho_fft_plane(i[k], r[k]);
}

void LITHO_ISA_NAME(litho_window16_forward)(float *re, float *im)
{
    LITHO_ISA_NAME(litho_window16_first_forward)(re, im);
    LITHO_ISA_NAME(litho_window16_others_forward)(re, im);
}

void LITHO_ISA_NAME(litho_window16_backward)(float *re, float *im)
{
    LITHO_ISA_NAME(litho_window16_others_backward)(re, im);
    LITHO_ISA_NAME(litho_window16_first_backward)(re, im);
}

LITHO_INLINE void keep_part(LithoPart *re, LithoPart *im, LithoPart limit)
{
    const LithoMask above = *re * *re + *im * *im >= limit;
    *re = litho_keep(above, *re);
    *im = litho_keep(above, *im);
}

LITHO_INLINE LithoPart take_part(LithoMask hole, LithoPart guess, LithoPart recorded)
{
    return litho_keep(hole, guess * (1.0f / (N * N))) + litho_keep(~hole, recorded);
}

void LITHO_ISA_NAME(litho_window16_others_keep)(float *re, float *im, const int *hole,
                                                const float *limit)
{
    Plane *x = (Plane *)re, *y = (Plane *)im;
    const LithoRow *limits = (const LithoRow *)limit;
    const LithoMask(*holes)[LITHO_PARTS] = (const LithoMask(*)[LITHO_PARTS])hole;
    for (int k = 0; k < N; k++) {
        Plane r, i;
        memcpy(r, x[k], sizeof r);
        memcpy(i, y[k], sizeof i);
        litho_fft_plane(r, i);
        for (int n = 0; n < N; n++)
            for (int p = 0; p < LITHO_PARTS; p++)
                keep_part(&r[n][p], &i[n][p], limits[n][p]);
        litho_fft_plane(i, r);
        for (int n = 0; n < N; n++)
            for (int p = 0; p < LITHO_PARTS; p++) {
                x[k][n][p] = take_part(holes[n][p], r[n][p], x[k][n][p]);
                y[k][n][p] = take_part(holes[n][p], i[n][p], y[k][n][p]);
            }
    }
}

void LITHO_ISA_NAME(litho_window16_keep)(float *re, float *im, const float *limit)
{
    Plane *r = (Plane *)re, *i = (Plane *)im;
    const LithoRow *limits = (const LithoRow *)limit;
    for (int k = 0; k < N; k++)
        for (int n = 0; n < N; n++)
            for (int p = 0; p < LITHO_PARTS; p++)
                keep_part(&r[k][n][p], &i[k][n][p], limits[n][p]);
}

// --- the middle power ----------------------------------------------------------------------------

enum { PARTS = LITHO_WINDOW16 / LITHO_LANES, BY = 4 }; // BY sums that do not wait for each other

LITHO_INLINE LithoMask larger(LithoMask a, LithoMask b)
{
    const LithoMask above = a > b;
    return (a & above) | (b & ~above);
}

int LITHO_ISA_NAME(litho_window16_powers)(const float *re, const float *im, int *power)
{
    const LithoPart *r = (const LithoPart *)re, *i = (const LithoPart *)im;
    LithoMask *to = (LithoMask *)power, most = {0};
    int all = 0;
    for (int k = 0; k < PARTS; k++) {
        to[k] = (LithoMask)(r[k] * r[k] + i[k] * i[k]);
        most = larger(most, to[k]);
    }
    for (int l = 0; l < LITHO_LANES; l++)
        all = most[l] > all ? most[l] : all;
    return all;
}

LITHO_INLINE int count_below(const LithoMask *power, int limit)
{
    LithoMask count[BY] = {{0}};
    int all = 0;
    for (int k = 0; k < PARTS; k += BY)
        for (int b = 0; b < BY; b++)
            count[b] -= power[k + b] < limit;
    for (int b = 1; b < BY; b++)
        count[0] += count[b];
    for (int l = 0; l < LITHO_LANES; l++)
        all += count[0][l];
    return all;
}

LITHO_INLINE int smallest_from(const LithoMask *power, int limit)
{
    LithoMask most = {0}; // of the complements
    int all = 0;
    for (int k = 0; k < PARTS; k++)
        most = larger(most, (0x7fffffff - power[k]) & (power[k] >= limit));
    for (int l = 0; l < LITHO_LANES; l++)
        all = most[l] > all ? most[l] : all;
    return 0x7fffffff - all;
}

// Its bits from the top: a bit is set where no more than half of the values are below. The middle
// one is known when one value is left between the bounds.
int LITHO_ISA_NAME(litho_window16_median)(const int *power)
{
    const LithoMask *parts = (const LithoMask *)power;
    int found = 0, under = 0, left = LITHO_WINDOW16; // values below the lower bound, and the upper
    for (int b = 30; b >= 0 && left - under > 1; b--) {
        const int trial = found | 1 << b, below = count_below(parts, trial);
        if (below <= LITHO_WINDOW16 / 2) {
            found = trial;
            under = below;
        } else {
            left = below;
        }
    }
    return left - under > 1 ? found : smallest_from(parts, found);
}

// --- traces into a window ------------------------------------------------------------------------

void LITHO_ISA_NAME(litho_window16_load)(const float *traces, float of_row, const float *of_trace,
                                         const float *of_sample, float *to)
{
    LithoRow x[N];
    for (int l = 0; l < N; l++)
        for (int p = 0; p < LITHO_PARTS; p++) {
            const LithoPart own = litho_load_part(traces + l * N + p * LITHO_LANES);
            x[l][p] = litho_keep(own - own == 0, own);
        }
    litho_transpose(x);
    for (int t = 0; t < N; t++)
        for (int p = 0; p < LITHO_PARTS; p++) {
            const LithoPart by = of_row * litho_load_part(of_trace + p * LITHO_LANES);
            *(LithoPartAnywhere *)(to + t * N * N + p * LITHO_LANES) = by * of_sample[t] * x[t][p];
        }
}

void LITHO_ISA_NAME(litho_window16_turn)(const int *traces, int *to)
{
    LithoRow x[N];
    memcpy(x, traces, sizeof x);
    litho_transpose(x);
    for (int t = 0; t < N; t++)
        memcpy(to + t * N * N, x[t], sizeof x[t]);
}
