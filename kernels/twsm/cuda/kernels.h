// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <driver_types.h>

#include "kernels/twsm/cluster_rule.h"
#include "kernels/twsm/contact_rule.h"
#include "kernels/twsm/mask_rule.h"

// Launchers of cuda/ends.cu, cuda/fused.cu, cuda/fast.cu and cuda/stored.cu. Each gives
// (int)cudaGetLastError(). All pointers are device pointers. A field is float2 [right-hand
// side][padded element][stride], frequency fastest.

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TWSM_GPU_BLOCK = 32,   // frequencies in registers at a time
    TWSM_GPU_BAND = 128,   // frequencies of a launch at most
    TWSM_GPU_ROWS = 64,    // targets of a block of the fused kernel
    TWSM_GPU_SLICE = 2048, // sources of a block; partial sums are added in this order
};

typedef struct TwsmGpuMask {
    int nx, ny;
    float x0, y0, dx, dy, soft;
    const float *top, *bottom; // NULL = open
    TwsmMaskBounds bounds;
} TwsmGpuMask;

// A leg as the device sees it. Positions: x, y, z, area; normals: nx, ny, nz, taper.
typedef struct TwsmGpuLeg {
    const void *from, *from_normal, *to, *to_normal; // float4
    int n_from, n_to;                                // padded to TWSM_PAD
    TwsmPairScale pair;
    const float *coef; // [TWSM_TABLE + 1] of re, im and their slopes per interval; or NULL
    int has_mask, absorb, near;
    TwsmGpuMask mask;
} TwsmGpuLeg;

// Field of a source at `n` elements (float4 `place` and `normal`, [padded]) for n_k frequencies
// from k0 on; u [padded][stride], with zeros around it: the sums run over padding too, with beams
// of 0, and 0 times garbage may be NaN. `pieces` (of device memory) is read for
// TWSM_FIRST_EFFECTIVE only.
int litho_twsm_source(const TwsmRayRule *rule, const TwsmPieces *pieces, const void *place,
                      const void *normal, int n, int padded, int k0, int n_k, int stride, void *u,
                      cudaStream_t stream);

// Traces out [n_traces][n_time] = scale exp(fall t) Re sum_k W_k P_k exp(-2 pi i k t / n_time),
// from spectra float2 [n_traces][n_k], numbers 1 .. n_k; wavelet and turn of twsm_trace_factors().
int litho_twsm_traces(const void *spectra, long long n_traces, int n_k, const void *wavelet,
                      const void *turn, int n_time, double scale, double fall, float *out,
                      cudaStream_t stream);

// Sums of targets row .. row + rows - 1 over each slice of the sources, for n_k frequencies (a
// multiple of 32, at most TWSM_GPU_BAND) from k0 on: partial, float2 [slice][rows][1 or 2
// (near)][n_k]. `u` points to the first of the frequencies of source 0; `stride` in float2.
int litho_twsm_fused(const TwsmGpuLeg *leg, const void *u, int stride, int k0, int n_k, int row,
                     int rows, void *partial, cudaStream_t stream);
// Adds the slices in order and finishes: y = taper (i (k + i sig) S - N), or u - that (absorb).
// `u`, `y` point to the first of the frequencies of element 0.
int litho_twsm_reduce(const TwsmGpuLeg *leg, const void *partial, int k0, int n_k, float sig,
                      int row, int rows, const void *u, void *y, int stride, cudaStream_t stream);

// Clusters of a mesh (clusters.h) on the device.
typedef struct TwsmGpuClusters {
    int n, n_x;               // clusters, and of a row of them
    int cells_x, cells_y;     // of the mesh
    const TwsmSquare *square; // [n]
    const void *node;         // float4 [n][TWSM_ALL_NODES][2]: place (and 1), normal
    const float *weights;     // twsm_clusters_axis_weights()
    const void *smooth;       // float4 [element]: TwsmClusters.smooth
} TwsmGpuClusters;

enum {
    TWSM_GPU_SIDE = 8, // cells of a cluster
    TWSM_GPU_CLUSTER = 2 * TWSM_GPU_SIDE * TWSM_GPU_SIDE,
    TWSM_GPU_CLASSES = TWSM_MAX_NODES, // blocks of 8, 7, .. 2 nodes a side, and direct ones
};

// algorithm=fast. partners(): for target clusters first .. first + count - 1 and every 32 of n_k
// frequencies from k0 on (the last that matters is k_last), the clusters they meet, sorted by
// class: list [band][count][from->n], start [band][count][TWSM_GPU_CLASSES + 1]; `direct` (8 bytes,
// to be 0 before the first call) counts pairs summed directly. cluster_field(): u times area in
// order of clusters, [cluster][TWSM_GPU_CLUSTER][stride]. clusters(): y of these targets, finished;
// `most` of the rule.
int litho_twsm_partners(const TwsmGpuClusters *from, const TwsmGpuClusters *to, float turns,
                        TwsmClusterRule rule, int k0, int n_k, int k_last, int first, int count,
                        void *list, void *start, void *direct, cudaStream_t stream);
int litho_twsm_cluster_field(const TwsmGpuLeg *leg, const TwsmGpuClusters *from, const void *u,
                             int stride, void *out, cudaStream_t stream);
int litho_twsm_clusters(const TwsmGpuLeg *leg, const TwsmGpuClusters *from,
                        const TwsmGpuClusters *to, const void *field, int stride, int k0, int n_k,
                        float sig, int first, int count, int most, const void *list,
                        const void *start, void *y, cudaStream_t stream);

// Stored strips, row major: P[r][j] = a E^k of targets row + r; with `near` a / (2 pi t) E^k.
// `phase` (may be NULL) takes E.
int litho_twsm_fill(const TwsmGpuLeg *leg, int row, int rows, int k, int near, void *p, void *phase,
                    cudaStream_t stream);
// P *= phase over n elements.
int litho_twsm_turn(void *p, const void *phase, long long n, cudaStream_t stream);
// Turns rows of n elements (even) n_k times, the first time only with `turn_first`. After each turn
// f, y[f * y_step + r] = product of row r with x + f * x_step (steps in complex numbers).
int litho_twsm_turn_products(void *p, const void *phase, int rows, int n, int n_k, int turn_first,
                             const void *x, long long x_step, void *y, long long y_step,
                             cudaStream_t stream);
// Sums of n_k = 16, 4 or 1 frequencies over a strip that litho_twsm_fill() made at the first of
// them, for targets row .. row + rows - 1: y, and with the near part y_near, as above.
int litho_twsm_near_products(const TwsmGpuLeg *leg, const void *p, int row, int rows, int n_k,
                             const void *x, long long x_step, void *y, void *y_near,
                             long long y_step, cudaStream_t stream);
// columns[k * step + j] = u[j * stride + k], n of them for each of n_k frequencies.
int litho_twsm_columns(const void *u, int stride, int n, int n_k, long long step, void *columns,
                       cudaStream_t stream);
// Sums of n_k frequencies from k on, sums[i * step + r], become rows of y from `row` on: y = taper
// (i (k + i sig)) s - near part, or u less that. `near_sum` may be NULL.
int litho_twsm_finish(const TwsmGpuLeg *leg, const void *sum, const void *near_sum, long long step,
                      int k, int n_k, float sig, int row, int rows, const void *u, void *y,
                      int stride, cudaStream_t stream);

// Lattice: beams of the four kinds at all differences of cells, t and complex amplitude,
// [kind][pad_y][pad_x]; t < 0 where there is no such pair.
int litho_twsm_beams(const TwsmGpuLeg *leg, int nx, int ny, int px, int py, float *t, void *a,
                     cudaStream_t stream);
int litho_twsm_beams_at(const float *t, const void *a, long long n, int k, int near, void *out,
                        cudaStream_t stream);
// Field at one frequency -> two zero-padded lattices; product with the kernels' transforms; and
// back.
int litho_twsm_spread(const void *u, int stride, int nx, int ny, int px, int py, void *out,
                      cudaStream_t stream);
int litho_twsm_multiply(const void *kernels, const void *fields, long long bins, void *out,
                        cudaStream_t stream);
int litho_twsm_gather(const void *lattice, int nx, int ny, int px, int py, void *sum,
                      cudaStream_t stream);

#ifdef __cplusplus
}
#endif
