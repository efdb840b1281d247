// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <driver_types.h>

// Launchers of template.cu. Each gives (int)cudaGetLastError(). All pointers are device pointers.

#ifdef __cplusplus
extern "C" {
#endif

// A dense box of traces: `n[3]` samples, the first at grid index `lo[3]`.
typedef struct LithoTemplateBox {
    long long lo[3], n[3];
} LithoTemplateBox;

// Means over live traces i - halfwidth .. i + halfwidth of `in`, for inlines [first, first + count)
// of `out`.
typedef struct LithoTemplateMean {
    float *out;
    LithoTemplateBox out_box;
    const float *in;
    const unsigned char *live; // a byte a trace of `in`
    LithoTemplateBox in_box;
    long long first, count;
    long long n_inline; // of the grid
    int halfwidth;
} LithoTemplateMean;

// out = gain * mean in `region`, which both boxes contain.
typedef struct LithoTemplateGain {
    float *out;
    LithoTemplateBox out_box;
    const float *mean;
    LithoTemplateBox mean_box, region;
    float gain;
} LithoTemplateGain;

int litho_template_mean(const LithoTemplateMean *task, cudaStream_t stream);
int litho_template_gain(const LithoTemplateGain *task, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
