// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/common/window16.h"

#include "kernels/common/vector16.h"

enum { N = 16 };

LITHO_INLINE void first_axis(LithoRow re[N][N], LithoRow im[N][N])
{
    for (int i = 0; i < N; i++)
        litho_fft16(&re[0][i], &im[0][i], N);
}

void LITHO_ISA_NAME(litho_window16_forward)(float *re, float *im)
{
    LithoRow(*r)[N] = (LithoRow(*)[N])re, (*i)[N] = (LithoRow(*)[N])im;
    first_axis(r, i);
    for (int k = 0; k < N; k++)
        litho_fft16_plane(r[k], i[k]);
}

void LITHO_ISA_NAME(litho_window16_backward)(float *re, float *im)
{
    LithoRow(*r)[N] = (LithoRow(*)[N])re, (*i)[N] = (LithoRow(*)[N])im;
    for (int k = 0; k < N; k++)
        litho_fft16_plane(i[k], r[k]);
    first_axis(i, r);
}
