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

// Inlines [first, first + count) of box `b`: mean over live traces i-h..i+h of `in` (box `a`).
// `live` has one byte a trace of `a`; `n_inline` is the grid's size.
int litho_template_mean(float *out, LithoTemplateBox b, long long first, long long count,
                        const float *in, const unsigned char *live, LithoTemplateBox a,
                        long long n_inline, int h, cudaStream_t stream);
// out (box b) = gain * mean (box a) in box `r`, which both contain.
int litho_template_gain(float *out, LithoTemplateBox b, const float *mean, LithoTemplateBox a,
                        LithoTemplateBox r, float gain, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
