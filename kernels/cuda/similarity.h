// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <driver_types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LITHO_SIMILARITY_SUMS = 3 }; // o o, r r, o r

// Samples of a dense array [inline][crossline][sample], counted in the grid: from lo, n of them.
typedef struct LithoSimilarityBox {
    long long lo[3], n[3];
} LithoSimilarityBox;

// One pass of the separable mean of core/similarity.c, along `axis`: weights[m + half] of the
// sample m further on.
typedef struct LithoSimilarityPass {
    const float *in, *out; // of the cubes
    LithoSimilarityBox in_box, out_box;
    const unsigned char *present; // one byte a trace of `reach`
    LithoSimilarityBox reach;     // samples that count
    int axis, half;
    const float *weights;
    const float *from[LITHO_SIMILARITY_SUMS]; // over `from_box`; the first pass has none
    LithoSimilarityBox from_box;
    float *to[LITHO_SIMILARITY_SUMS]; // over `to_box`; the last pass has none
    float *map;                       // |c| over `to_box`, of the last pass
    LithoSimilarityBox to_box;
} LithoSimilarityPass;

// All samples of `to_box`. Each returns cudaGetLastError().
int litho_similarity_products_launch(const LithoSimilarityPass *pass, cudaStream_t stream);
int litho_similarity_sums_launch(const LithoSimilarityPass *pass, cudaStream_t stream);
int litho_similarity_map_launch(const LithoSimilarityPass *pass, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
