// SPDX-License-Identifier: GPL-3.0-or-later
//
// The other way to add up the adjoint: the papers' gather from the grid's side (Nikitin et al.
// 2011, Fig. 3b). Gives 2 H like the tiles, after wp_cuda_symmetrize().
#include "kernels/wavepacket/cuda/kernels.h"

#define DEV __device__ __forceinline__

// Index in the half spectrum to which grid point l adds, and whether conjugated.
DEV int64_t half_index(const WpDevGrid &g, int l1, int l2, int l3, int *mirrored)
{
    l1 %= g.nf[0];
    l2 %= g.nf[1];
    l3 %= g.nf[2];
    l1 += l1 < 0 ? g.nf[0] : 0;
    l2 += l2 < 0 ? g.nf[1] : 0;
    l3 += l3 < 0 ? g.nf[2] : 0;
    *mirrored = l3 >= g.half;
    if (*mirrored) {
        l1 = l1 ? g.nf[0] - l1 : 0;
        l2 = l2 ? g.nf[1] - l2 : 0;
        l3 = g.nf[2] - l3;
    }
    return ((int64_t)l1 * g.nf[1] + l2) * g.half + l3;
}

DEV void add_to(float2 *to, float x, float y)
{
#if __CUDA_ARCH__ >= 900
    atomicAdd(to, make_float2(x, y)); // one 8-byte reduction
#else
    atomicAdd(&to->x, x);
    atomicAdd(&to->y, y);
#endif
}

// --- the papers' form ----------------------------------------------------------------------------

// psi of the taps' convention: -w/2 < z <= w/2, and the other end for points of the other half (s =
// -1), which are placed mirrored. Lattice points that lie on a border of the grid matter: coarse
// boxes are axis-aligned.
DEV float psi(const float *table, float z, float s, float half)
{
    const float snap = 1e-5f, at = fabsf(z) * (WP_TABLE / half);
    const int i = min((int)at, WP_TABLE - 1);
    const float v = table[i] + (fminf(at, WP_TABLE) - i) * (table[i + 1] - table[i]);
    return s * z < snap - half || s * z > half + snap ? 0 : v;
}

// One thread a grid point l of the block around the box: collects what the lattice points near it
// would add. Lattice point j counts when |sum_i A[a][i] (j_i - t_i)| <= w/2 for every axis a, where
// t is l in lattice units and A the lattice steps; the range of j3 is the intersection of the three
// intervals, so that the innermost loop has no tests.
static __global__ void collect_box(WpDevGrid g, WpDevBox box, WpBlockOfBox block,
                                   const float *table, const float *dense, const float2 *c,
                                   float2 *u)
{
    const int i3 = blockIdx.x * blockDim.x + threadIdx.x, i2 = blockIdx.y, i1 = blockIdx.z;
    if (i3 >= block.n[2])
        return;
    const int l[3] = {block.lo[0] + i1, block.lo[1] + i2, block.lo[2] + i3};
    const float half = 0.5f * g.w, wide = half + 1e-5f;
    double t[3];
    float A[3][3]; // [axis][lattice direction]
    for (int i = 0; i < 3; i++) {
        t[i] = 0;
        for (int a = 0; a < 3; a++) {
            t[i] += block.inverse[i][a] * (l[a] - box.start[a]);
            A[a][i] = (float)box.step[i][a];
        }
    }
    const int lo1 = max((int)ceil(t[0] - block.reach[0] - 1e-5), 0);
    const int hi1 = min((int)floor(t[0] + block.reach[0] + 1e-5), box.n[0] - 1);
    const int lo2 = max((int)ceil(t[1] - block.reach[1] - 1e-5), 0);
    const int hi2 = min((int)floor(t[1] + block.reach[1] + 1e-5), box.n[1] - 1);
    float re = 0, im = 0;
    for (int j1 = lo1; j1 <= hi1; j1++)
        for (int j2 = lo2; j2 <= hi2; j2++) {
            const float q1 = (float)(j1 - t[0]), q2 = (float)(j2 - t[1]);
            float z0[3], from = -block.reach[2] - 1e-5f, to = block.reach[2] + 1e-5f;
            for (int a = 0; a < 3; a++) {
                z0[a] = A[a][0] * q1 + A[a][1] * q2;
                if (fabsf(A[a][2]) > 1e-6f) {
                    const float p = (-wide - z0[a]) / A[a][2], q = (wide - z0[a]) / A[a][2];
                    from = fmaxf(from, fminf(p, q));
                    to = fminf(to, fmaxf(p, q));
                } else if (fabsf(z0[a]) > wide) {
                    to = from - 1;
                }
            }
            if (to < from)
                continue;
            const int lo3 = max((int)ceil(t[2] + from), 0);
            const int hi3 = min((int)floor(t[2] + to), box.n[2] - 1);
            const int64_t row = ((int64_t)j1 * box.n[1] + j2) * box.n[2];
            for (int j3 = lo3; j3 <= hi3; j3++) {
                const float weight = dense[row + j3];
                const float q3 = (float)(j3 - t[2]);
                const float z3 = z0[2] + A[2][2] * q3, s = l[2] + z3 < -1e-5f ? -1 : 1;
                const float k = weight * psi(table, z0[0] + A[0][2] * q3, s, half) *
                                psi(table, z0[1] + A[1][2] * q3, s, half) * psi(table, z3, s, half);
                const float2 v = c[box.at + row + j3];
                re += k * v.x;
                im += k * v.y;
            }
        }
    if (re == 0 && im == 0)
        return;
    // Two grid points of a block may fold on one point of the half spectrum (the coarse box).
    int mirrored;
    int64_t at = half_index(g, l[0], l[1], l[2], &mirrored);
    add_to(&u[at], re, mirrored ? -im : im);
}

// Planes l3 = 0 and nf/2 hold both l and -l: u = G[l] + conj G[-l].
static __global__ void symmetrize_planes(WpDevGrid g, float2 *u)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t n = (int64_t)g.nf[0] * g.nf[1];
    if (i >= n)
        return;
    const int l1 = i / g.nf[1], l2 = i % g.nf[1];
    const int64_t j = (int64_t)(l1 ? g.nf[0] - l1 : 0) * g.nf[1] + (l2 ? g.nf[1] - l2 : 0);
    if (j < i)
        return;
    for (int k = 0; k < 2; k++) {
        float2 *p = &u[(int64_t)i * g.half + k * (g.half - 1)];
        float2 *q = &u[j * g.half + k * (g.half - 1)];
        const float2 v = make_float2(p->x + q->x, p->y - q->y);
        *p = v;
        *q = make_float2(v.x, -v.y);
    }
}

// --- launchers -----------------------------------------------------------------------------------

int wp_cuda_collect_box(const WpDevGrid *g, const WpDevBox *box, const WpBlockOfBox *block,
                        const float *table, const float *dense, const float2 *c, float2 *u,
                        cudaStream_t stream)
{
    const int threads = 64;
    dim3 blocks((block->n[2] + threads - 1) / threads, block->n[1], block->n[0]);
    collect_box<<<blocks, threads, 0, stream>>>(*g, *box, *block, table, dense + box->at, c, u);
    return (int)cudaGetLastError();
}

int wp_cuda_symmetrize(const WpDevGrid *g, float2 *u, cudaStream_t stream)
{
    const int64_t n = (int64_t)g->nf[0] * g->nf[1];
    symmetrize_planes<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(*g, u);
    return (int)cudaGetLastError();
}
