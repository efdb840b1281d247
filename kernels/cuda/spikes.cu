// SPDX-License-Identifier: GPL-3.0-or-later
//
// Spikes (kernels/common/spikes.h): the samples of spikes.c, comparison by comparison. Distances are
// of single precision and added in the host's order.
#include "kernels/common/spikes_math.h"
#include "kernels/cuda/erratic.cuh"

namespace
{

enum {
    PIECE = LITHO_SPIKES_PIECE,
    REACH = LITHO_SPIKES_REACH,
    BESIDE = LITHO_SPIKES_BESIDE
};

// Sums of the distances in a piece, in place of energies; one thread a piece. Floor: 4 bytes read a
// sample.
__global__ void sums_kernel(const LithoErraticTask t)
{
    const long long at = (long long)blockIdx.x * THREADS + threadIdx.x, k = quotient(at, t.pieces);
    if (k >= t.n[0] * t.n[1])
        return;
    const long long start = start_of(t, at - k * t.pieces), end = t.n[2] - BESIDE;
    float sum = 0;
    if (t.live[k]) {
        float x[PIECE + 2 * BESIDE];
        load_piece<BESIDE>(t.in + k * t.n[2], t.n[2], start, x);
#pragma unroll
        for (int i = 0; i < PIECE; i++)
            if (start + i >= BESIDE && start + i < end)
                sum += litho_spikes_distance(x + BESIDE + i);
    }
    t.energy[at] = sum;
}

__device__ bool exceeds_neighbours(const LithoErraticTask &t, long long k, long long s, float own)
{
    const long long n0 = t.n[0], n1 = t.n[1], il = k / n1, xl = k % n1;
    int neighbours = 0, weaker = 0;
    for (long long i = max_of(il - REACH, 0); i <= min_of(il + REACH, n0 - 1); i++)
        for (long long j = max_of(xl - REACH, 0); j <= min_of(xl + REACH, n1 - 1); j++) {
            const long long other = i * n1 + j;
            if (other == k || !t.live[other])
                continue;
            const float most = litho_spikes_largest(t.in + other * t.n[2], t.n[2], s);
            neighbours += most > 0;
            weaker += most > 0 && own > __fmul_rn(t.above, most);
        }
    return neighbours >= LITHO_SPIKES_LEAST && 2 * weaker > neighbours;
}

// One thread a piece; few look at their neighbours. Floor: likewise.
__global__ void mark_kernel(const LithoErraticTask t)
{
    const long long at = (long long)blockIdx.x * THREADS + threadIdx.x, k = quotient(at, t.pieces);
    if (k >= t.n[0] * t.n[1])
        return;
    const long long p = at - k * t.pieces, start = start_of(t, p), end = t.n[2] - BESIDE;
    const float before = p > 0 ? t.energy[at - 1] : 0;
    const float behind = p + 1 < t.pieces ? t.energy[at + 1] : 0;
    const float least = LITHO_SPIKES_OWN * ((before + t.energy[at] + behind) / (3 * PIECE));
    unsigned marks = 0;
    if (t.live[k]) {
        float x[PIECE + 2 * BESIDE];
        load_piece<BESIDE>(t.in + k * t.n[2], t.n[2], start, x);
#pragma unroll
        for (int i = 0; i < PIECE; i++) {
            const float distance = litho_spikes_distance(x + BESIDE + i);
            if (start + i >= BESIDE && start + i < end && distance > least &&
                litho_spikes_has_beside(x + BESIDE + i, distance))
                marks |= 1u << i;
        }
        for (unsigned left = marks; left; left &= left - 1) {
            const int i = __ffs(left) - 1;
            const long long s = start + i;
            if (!exceeds_neighbours(t, k, s, litho_spikes_distance(t.in + k * t.n[2] + s)))
                marks &= ~(1u << i);
        }
    }
    t.marks[at] = (unsigned short)marks;
}

// One thread a piece, of which next to none has a mark.
__global__ void alone_kernel(const LithoErraticTask t)
{
    const long long at = (long long)blockIdx.x * THREADS + threadIdx.x, k = quotient(at, t.pieces);
    if (k >= t.n[0] * t.n[1])
        return;
    const long long p = at - k * t.pieces, start = start_of(t, p);
    const unsigned marks = t.marks[at];
    unsigned spikes = 0;
    for (int bit = 0; marks && bit < PIECE; bit++) {
        const long long s = start + bit;
        if (marks >> bit & 1 &&
            litho_spikes_stands_alone(
                t.in + k * t.n[2] + s,
                litho_spikes_marks(t.marks + k * t.pieces, t.pieces, p, bit), s, t.n[2] - 1 - s))
            spikes |= 1u << bit;
    }
    t.spikes[at] = (unsigned short)spikes;
    if (spikes)
        atomicAdd(&t.counts[LITHO_ERRATIC_CUDA_SPIKES], __popc(spikes));
}

// One thread a piece; reads of `in`, where they are still, what it replaces in `to`.
__global__ void repair_kernel(const LithoErraticTask t)
{
    const long long at = (long long)blockIdx.x * THREADS + threadIdx.x, k = at / t.pieces;
    if (k >= t.n[0] * t.n[1])
        return;
    const long long p = at % t.pieces, start = k * t.n[2] + start_of(t, p);
    const unsigned spikes = t.spikes[at];
    for (int bit = 0; spikes && bit < PIECE; bit++)
        if (spikes >> bit & 1)
            t.to[start + bit] = (float)litho_spikes_through(
                t.in + start + bit,
                litho_spikes_marks(t.spikes + k * t.pieces, t.pieces, p, bit));
}

} // namespace

int litho_erratic_find_spikes(const LithoErraticTask *t, cudaStream_t stream)
{
    const unsigned blocks = blocks_for(t->n[0] * t->n[1] * t->pieces);
    sums_kernel<<<blocks, THREADS, 0, stream>>>(*t);
    mark_kernel<<<blocks, THREADS, 0, stream>>>(*t);
    alone_kernel<<<blocks, THREADS, 0, stream>>>(*t);
    return (int)cudaGetLastError();
}

int litho_erratic_repair_spikes(const LithoErraticTask *t, cudaStream_t stream)
{
    repair_kernel<<<blocks_for(t->n[0] * t->n[1] * t->pieces), THREADS, 0, stream>>>(*t);
    return (int)cudaGetLastError();
}
