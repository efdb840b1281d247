// SPDX-License-Identifier: GPL-3.0-or-later
//
// Regular gaps, as every second line that was not shot.
#include <fftw3.h>

#include "kernels/patch/patch.h"

enum { LONGEST = 8 };             // traces of a period that windows of 16 show twice
static const double share = 0.25; // of aliases in the events

// TRUE where wavenumber k of n, on an axis of its own or with one of another axis, has a period of
// LONGEST traces or less.
static gboolean is_short(int n, int k)
{
    return MIN(k, n - k) * LONGEST >= n && n > 1;
}

gboolean litho_patch_is_regular(const guint8 *missing, int n0, int n1)
{
    const gsize bins = n1 / 2 + 1;
    float *mask = fftwf_alloc_real((gsize)n0 * n1);
    fftwf_complex *spectrum = fftwf_alloc_complex(n0 * bins);
    fftwf_plan plan =
        mask && spectrum ? fftwf_plan_dft_r2c_2d(n0, n1, mask, spectrum, FFTW_ESTIMATE) : NULL;
    gboolean regular = FALSE;
    if (plan) {
        for (gsize k = 0; k < (gsize)n0 * n1; k++)
            mask[k] = !missing[k];
        fftwf_execute(plan);
        const double all = spectrum[0][0] * share;
        for (gsize k = 1; k < n0 * bins && !regular; k++)
            if (is_short(n0, (int)(k / bins)) || is_short(n1, (int)(k % bins)))
                regular =
                    spectrum[k][0] * spectrum[k][0] + spectrum[k][1] * spectrum[k][1] > all * all;
        fftwf_destroy_plan(plan);
    }
    fftwf_free(mask);
    fftwf_free(spectrum);
    return regular;
}
