// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <driver_types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LithoHistogram {
    const float *samples;      // traces of `length` samples
    const unsigned char *live; // one byte a trace
    long long traces, length;
    double lo, scale; // a sample x falls into bin (x - lo) * scale
    unsigned bins;
    unsigned long long *counts; // of each bin, added to
} LithoHistogram;

// litho_qc_histogram() of core/qc.h. Returns cudaGetLastError().
int litho_histogram_launch(const LithoHistogram *histogram, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
