// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <cuda_runtime_api.h>
#include <glib.h>

// cuFINUFFT behind plain types, for comparisons alone. Its header is needed when the program is
// built; the library is opened when it is first asked for and found as the system finds libraries.

typedef struct WpNufft WpNufft;

typedef struct WpNufftSettings {
    int type;     // 1: points to modes, 2: modes to points
    int method;   // gpu_method
    int bin;      // side of a bin; 0 = the library's choice
    double sigma; // upsampling factor
    float tolerance;
} WpNufftSettings;

// Points on the device, radians along the cube's axes.
typedef struct WpNufftPoints {
    gint64 n;
    float *at[3];
    int modes[3]; // samples of the cube
    int ordinal;  // CUDA's number of the device
    cudaStream_t stream;
} WpNufftPoints;

// TRUE when comparisons can be made; else a sentence that says why not.
gboolean wp_nufft_there(char *why, gsize size);
// A plan with its points. NULL: the library does not offer these settings, or there is no memory.
WpNufft *wp_nufft_new(const WpNufftPoints *points, const WpNufftSettings *settings);
// Type 2: values = sum over modes of exp(-i k x); type 1: modes = sum over values of exp(+i k x);
// k from -n/2. Complex float32. FALSE: the library refused.
gboolean wp_nufft_run(WpNufft *plan, void *values, void *modes);
void wp_nufft_free(WpNufft *plan); // NULL is fine
