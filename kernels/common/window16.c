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
