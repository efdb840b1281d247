// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <fftw3.h>
#include "core/run.h"

// Real 3-D FFT between a volume and the half spectrum of a larger, zero-padded one. Passes over
// lines that are all zero (forward) or not wanted (inverse) are left out, which at 1.5 times
// oversampling saves a third of the work of a plain FFT of the padded volume.
//
// The spectrum is stored [i1][i2][l3], l3 = 0..n3/2, inside an array of dim[0] x dim[1] x dim[2]
// complex numbers, first element at `origin`.
//
// Thread-safety: making and freeing take FFTW's planner lock; transforms on different arrays may
// run at the same time.
typedef struct WpFft {
    int n[3];
    int dim[3], origin[3];
    fftwf_plan along_z, along_y, along_x; // one row, one plane, one (x, z) slice
    fftwf_plan back_x, back_y, back_z;
} WpFft;

// Place of the samples in the padded volume: sample i of axis a lies at index (i - first[a]) mod
// n[a] and is multiplied by scale[a][i] (NULL = 1).
typedef struct WpFftVolume {
    gint64 n[3], first[3];
    const float *scale[3];
} WpFftVolume;

// `data`: the array later transforms will use, or one like it; planning leaves it as it is.
void wp_fft_init(WpFft *fft, const int n[3], const int dim[3], const int origin[3], float *data);
void wp_fft_clear(WpFft *fft);
// FALSE when cancelled. exp(-2 pi i ..), no normalisation.
gboolean wp_fft_forward(const WpFft *fft, const WpFftVolume *volume, const float *samples,
                        float *data, LithoRun *run);
// exp(+2 pi i ..), no normalisation; destroys `data`. The imaginary parts that a real volume cannot
// have (after the first two passes, l3 = 0 and n3/2) are ignored: the result is the real part.
gboolean wp_fft_inverse(const WpFft *fft, const WpFftVolume *volume, float *data, float *samples,
                        LithoRun *run);
