// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <driver_types.h>

#ifdef __cplusplus
extern "C" {
#endif

// Copies `bytes` (a multiple of 16). 2 * bytes move.
int litho_probe_copy(void *to, const void *from, size_t bytes, int processors, cudaStream_t stream);
// `blocks` blocks of 256 threads, each thread 2 * 8 * 4 * LITHO_PROBE_ROUNDS flops in fp32 fused
// multiply-adds. `sink` holds one float a block.
enum { LITHO_PROBE_ROUNDS = 4096 };
int litho_probe_fma(float *sink, int blocks, float seed, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
