// SPDX-License-Identifier: GPL-3.0-or-later
//
// Bursts and spikes (erratic.h): the pieces of erratic.c, comparison by comparison.
#include "kernels/patch/cuda/device.cuh"
#include "kernels/patch/cuda/level.h"

namespace
{

enum { PIECE = 16, REACH = 2, LEAST_NEIGHBOURS = 4 };

__device__ long long max_of(long long a, long long b)
{
    return a > b ? a : b;
}

__device__ long long min_of(long long a, long long b)
{
    return a < b ? a : b;
}

// Samples of piece `p` that are held.
__device__ void span_of(const LithoErraticTask &t, long long p, long long *lo, long long *hi)
{
    *lo = max_of((t.first + p) * PIECE, t.held.lo[2]) - t.held.lo[2];
    *hi = min_of((t.first + p + 1) * PIECE, t.held.lo[2] + t.held.n[2]) - t.held.lo[2];
}

// One thread a piece. Floor: 4 bytes read a sample.
__global__ void energy_kernel(const LithoErraticTask t)
{
    const long long at = (long long)blockIdx.x * THREADS + threadIdx.x, k = at / t.pieces;
    if (k >= t.held.n[0] * t.held.n[1])
        return;
    long long lo, hi, n = 0;
    double sum = 0;
    span_of(t, at % t.pieces, &lo, &hi);
    for (long long s = lo; t.live[k] && s < hi; s++) {
        const float x = t.in[k * t.held.n[2] + s];
        if (x - x == 0) {
            sum += (double)x * x;
            n++;
        }
    }
    t.energy[at] = n > 0 ? (float)(sum / n) : 0;
}

// The largest energy of the piece, the one before it and the one behind it.
__device__ float strongest(const LithoErraticTask &t, long long trace, long long p)
{
    const float *e = t.energy + trace * t.pieces;
    const float before = p > 0 ? e[p - 1] : 0, behind = p + 1 < t.pieces ? e[p + 1] : 0;
    return fmaxf(e[p], fmaxf(before, behind));
}

// One thread a piece: erratic above the ratio to more than half of the neighbours that have any
// energy.
__global__ void judge_kernel(const LithoErraticTask t)
{
    const long long at = (long long)blockIdx.x * THREADS + threadIdx.x, k = at / t.pieces;
    const long long p = at % t.pieces, n0 = t.held.n[0], n1 = t.held.n[1];
    if (k >= n0 * n1)
        return;
    const long long il = k / n1, xl = k % n1;
    const float own = t.energy[at];
    int neighbours = 0, weaker = 0;
    for (long long i = max_of(il - REACH, 0); i <= min_of(il + REACH, n0 - 1); i++)
        for (long long j = max_of(xl - REACH, 0); j <= min_of(xl + REACH, n1 - 1); j++) {
            const float other = i == il && j == xl ? 0 : strongest(t, i * n1 + j, p);
            neighbours += other > 0;
            weaker += other > 0 && own > __fmul_rn(t.ratio, other);
        }
    t.bad[at] = own > 0 && neighbours >= LEAST_NEIGHBOURS && 2 * weaker > neighbours;
    if (t.bad[at])
        atomicAdd(t.count, 1);
}

} // namespace

int litho_erratic_find(const LithoErraticTask *t, cudaStream_t stream)
{
    const long long pieces = t->held.n[0] * t->held.n[1] * t->pieces;
    energy_kernel<<<blocks_for(pieces), THREADS, 0, stream>>>(*t);
    judge_kernel<<<blocks_for(pieces), THREADS, 0, stream>>>(*t);
    return (int)cudaGetLastError();
}
