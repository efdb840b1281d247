// SPDX-License-Identifier: GPL-3.0-or-later
//
// Bursts and spikes (kernels/common/erratic.h): the pieces of erratic.c, comparison by comparison.
// Sums of squares are of double precision and in the host's order: products of two floats are exact
// there, so that both find the same pieces.
#include "kernels/common/mute_at.h"
#include "kernels/cuda/erratic.cuh"

namespace
{

enum {
    PIECE = LITHO_ERRATIC_CUDA_PIECE,
    REACH = LITHO_ERRATIC_CUDA_NEAR,
    STEEP = LITHO_ERRATIC_CUDA_STEEP,
    MUTED = LITHO_ERRATIC_CUDA_MUTED,
    LEAST_NEIGHBOURS = 4,
    CORNER_NEIGHBOURS = 8
};
// Marks of a piece; the last one is of a piece that is not erratic itself.
enum { FOUND = 1, WEAK = 2, GROWN = 4, NOISY = 128 };

// Samples of the piece that begins at `start` which are not muted, and MUTED.
__device__ unsigned char unmuted_of(const float *trace, long long n, long long start)
{
    const long long lo = max_of(start, 0), hi = min_of(start + PIECE, n);
    const bool muted = litho_mute_at(trace, n, lo) || litho_mute_at(trace, n, hi - 1);
    return (unsigned char)(litho_mute_count_live(trace, n, lo, hi) + (muted ? MUTED : 0));
}

// One thread a piece. Floor: 4 bytes read a sample.
__global__ void energy_kernel(const LithoErraticTask t)
{
    const long long at = (long long)blockIdx.x * THREADS + threadIdx.x, k = quotient(at, t.pieces);
    if (k >= t.n[0] * t.n[1])
        return;
    const long long start = start_of(t, at - k * t.pieces);
    int n = 0;
    double sum = 0;
    if (t.live[k]) {
        float x[PIECE];
        load_piece<0>(t.in + k * t.n[2], t.n[2], start, x);
#pragma unroll
        for (int i = 0; i < PIECE; i++)
            if (start + i >= 0 && start + i < t.n[2] && x[i] - x[i] == 0) {
                sum += (double)x[i] * x[i];
                n++;
            }
    }
    t.energy[at] = n > 0 ? (float)(sum / n) : 0;
    t.unmuted[at] = t.live[k] ? unmuted_of(t.in + k * t.n[2], t.n[2], start) : PIECE;
}

// Sample s, or one beside it, is muted.
__device__ bool is_beside_mute(const float *trace, long long n, long long s)
{
    return litho_mute_at(trace, n, s - 1) || litho_mute_at(trace, n, s) ||
           litho_mute_at(trace, n, s + 1);
}

// One thread a piece, out of its energy; the steps to mutes are left out. Floor: likewise.
__global__ void bend_kernel(const LithoErraticTask t)
{
    const long long at = (long long)blockIdx.x * THREADS + threadIdx.x, k = quotient(at, t.pieces);
    if (k >= t.n[0] * t.n[1])
        return;
    const long long start = start_of(t, at - k * t.pieces);
    const float energy = t.energy[at];
    float most = energy / 4;
    if (energy > 0) {
        float x[PIECE + 2];
        const float *trace = t.in + k * t.n[2];
        bool zeros = false;
        load_piece<1>(trace, t.n[2], start, x);
#pragma unroll
        for (int i = 0; i < PIECE + 2; i++)
            zeros |= x[i] == 0 && start + i - 1 >= 0 && start + i - 1 < t.n[2];
#pragma unroll
        for (int i = 1; i <= PIECE; i++) {
            const float bend = (x[i - 1] - x[i]) + (x[i + 1] - x[i]);
            const float square = bend - bend == 0 ? bend * bend : 0;
            const long long s = start + i - 1;
            if (s >= 1 && s < t.n[2] - 1 && square > most &&
                !(zeros && is_beside_mute(trace, t.n[2], s)))
                most = square;
        }
    }
    t.energy[at] = most;
}

// The largest measure of the piece, the one before it and the one behind it.
__device__ float strongest(const LithoErraticTask &t, long long trace, long long p)
{
    const float *e = t.energy + trace * t.pieces;
    const float before = p > 0 ? e[p - 1] : 0, behind = p + 1 < t.pieces ? e[p + 1] : 0;
    return fmaxf(e[p], fmaxf(before, behind));
}

// The strongest of a neighbour's pieces about piece p of trace k. A neighbour that is muted at more
// of the piece's samples says nothing (0).
__device__ float heard(const LithoErraticTask &t, long long k, long long neighbour, long long p)
{
    const unsigned char own = t.unmuted[k * t.pieces + p];
    const unsigned char other = t.unmuted[neighbour * t.pieces + p];
    const bool says = !(other & MUTED) || (other & ~MUTED) >= (own & ~MUTED);
    return says ? strongest(t, neighbour, p) : 0;
}

__device__ bool is_strong(const LithoErraticTask &t, long long trace, long long p, float own)
{
    return p >= 0 && p < t.pieces && 4 * strongest(t, trace, p) >= own;
}

__device__ bool is_end_of_event(const LithoErraticTask &t, long long k, long long p, float own)
{
    for (long long q = p - 2; q <= p + 2; q++)
        for (long long beside = k - 1; beside <= k + 1; beside += 2)
            if (beside >= 0 && beside < t.n[0] * t.n[1] && is_strong(t, beside, q, own))
                return true;
    return false;
}

// Trace (il, xl), or -1 where none was recorded.
__device__ long long trace_at(const LithoErraticTask &t, long long il, long long xl)
{
    const bool held = il >= 0 && il < t.n[0] && xl >= 0 && xl < t.n[1];
    return held && t.live[il * t.n[1] + xl] ? il * t.n[1] + xl : -1;
}

// Lines through the trace: along crosslines, along inlines, both diagonals.
__device__ bool is_event(const LithoErraticTask &t, long long il, long long xl, long long p,
                         int neighbours)
{
    const long long k = il * t.n[1] + xl;
    const float own = t.energy[k * t.pieces + p];
    int there = 0, flat = 0, steep = 0;
    if (t.line ? is_end_of_event(t, k, p, own) : neighbours < CORNER_NEIGHBOURS)
        return true;
    for (int l = 0; l < 4; l++) {
        const int to_il = l > 0, to_xl = l == 0 ? 1 : l == 1 ? 0 : l == 2 ? 1 : -1;
        const long long a = trace_at(t, il - to_il, xl - to_xl);
        const long long b = trace_at(t, il + to_il, xl + to_xl);
        bool level = false, steeply = false;
        if (a < 0 && b < 0)
            continue;
        for (int s = -STEEP; s <= STEEP; s++) {
            const bool goes_on =
                (a < 0 || is_strong(t, a, p - s, own)) && (b < 0 || is_strong(t, b, p + s, own));
            level |= s == 0 && goes_on;
            steeply |= (s < -1 || s > 1) && goes_on;
        }
        there++;
        steep += steeply;
        flat += level && !steeply;
    }
    return steep > 0 && steep + flat >= min(there, 2);
}

// One thread a piece. `again`: it has marks by another measure.
__global__ void judge_kernel(const LithoErraticTask t, bool again)
{
    const long long at = (long long)blockIdx.x * THREADS + threadIdx.x, k = quotient(at, t.pieces);
    const long long p = at - k * t.pieces, n0 = t.n[0], n1 = t.n[1];
    if (k >= n0 * n1)
        return;
    const long long il = quotient(k, n1), xl = k - il * n1;
    const float own = t.energy[at], lower = t.ratio / 4;
    int neighbours = 0, weaker = 0, below = 0;
    for (long long i = max_of(il - REACH, 0); i <= min_of(il + REACH, n0 - 1); i++)
        for (long long j = max_of(xl - REACH, 0); j <= min_of(xl + REACH, n1 - 1); j++) {
            const float other = i == il && j == xl ? 0 : heard(t, k, i * n1 + j, p);
            neighbours += other > 0;
            weaker += other > 0 && own > __fmul_rn(t.ratio, other);
            below += other > 0 && own > __fmul_rn(lower, other);
        }
    int mark = 0;
    if (own > 0 && neighbours >= LEAST_NEIGHBOURS && 2 * below > neighbours)
        mark = 2 * weaker > neighbours && !(t.spare_events && is_event(t, il, xl, p, neighbours))
                   ? FOUND
                   : WEAK;
    t.bad[at] = (unsigned char)(mark | (again ? t.bad[at] : 0));
}

__device__ bool has_mark(const LithoErraticTask &t, const unsigned char *marks, long long p,
                         int mark)
{
    return p >= 0 && p < t.pieces && (marks[p] & mark);
}

// One thread a piece, which adds one mark to its own and reads others of its neighbours.
__global__ void grow_kernel(const LithoErraticTask t)
{
    const long long at = (long long)blockIdx.x * THREADS + threadIdx.x, p = at % t.pieces;
    if (at >= t.n[0] * t.n[1] * t.pieces || !(t.energy[at] > 0))
        return;
    const unsigned char *marks = t.bad + (at - p);
    for (int by = -1; by <= 1; by += 2)
        if (has_mark(t, marks, p + by, FOUND) ||
            (has_mark(t, marks, p + by, WEAK) && has_mark(t, marks, p + 2 * by, FOUND)))
            t.bad[at] |= GROWN;
}

// One thread a trace: weak marks have done their part.
__global__ void count_kernel(const LithoErraticTask t)
{
    const long long k = (long long)blockIdx.x * THREADS + threadIdx.x;
    int n = 0;
    unsigned spikes = 0;
    for (long long p = 0; k < t.n[0] * t.n[1] && p < t.pieces; p++) {
        unsigned char *mark = t.bad + k * t.pieces + p;
        *mark &= FOUND | GROWN;
        n += *mark != 0;
        spikes |= t.spikes[k * t.pieces + p];
    }
    if (n > 0)
        atomicAdd(&t.counts[LITHO_ERRATIC_CUDA_PIECES], n);
    if (n > 0 || spikes)
        atomicAdd(&t.counts[LITHO_ERRATIC_CUDA_WITH], 1);
}

// One thread a piece.
__global__ void noisy_kernel(const LithoErraticTask t)
{
    const long long at = (long long)blockIdx.x * THREADS + threadIdx.x, k = at / t.pieces;
    if (k < t.n[0] * t.n[1] && t.live[k] && t.share[k] < 1)
        t.bad[at] |= NOISY;
}

// One thread a sample. Floor: 12 bytes a sample of a noisy trace.
__global__ void share_kernel(const LithoErraticTask t)
{
    const long long at = (long long)blockIdx.x * THREADS + threadIdx.x, k = at / t.n[2];
    if (k >= t.n[0] * t.n[1] || !t.live[k] || t.share[k] == 1)
        return;
    const long long sample = t.t0 + at % t.n[2], piece = k * t.pieces + sample / PIECE - t.first;
    const float beside = t.in[at] - t.to[at];
    if (t.bad[piece] == NOISY && beside - beside == 0 && !(t.spikes[piece] >> sample % PIECE & 1))
        t.to[at] += t.share[k] * beside;
}

} // namespace

int litho_erratic_mark_noisy(const LithoErraticTask *t, cudaStream_t stream)
{
    noisy_kernel<<<blocks_for(t->n[0] * t->n[1] * t->pieces), THREADS, 0, stream>>>(*t);
    return (int)cudaGetLastError();
}

int litho_erratic_keep_share(const LithoErraticTask *t, cudaStream_t stream)
{
    share_kernel<<<blocks_for(t->n[0] * t->n[1] * t->n[2]), THREADS, 0, stream>>>(*t);
    return (int)cudaGetLastError();
}

int litho_erratic_find(const LithoErraticTask *t, cudaStream_t stream)
{
    const long long traces = t->n[0] * t->n[1], pieces = traces * t->pieces;
    energy_kernel<<<blocks_for(pieces), THREADS, 0, stream>>>(*t);
    judge_kernel<<<blocks_for(pieces), THREADS, 0, stream>>>(*t, false);
    bend_kernel<<<blocks_for(pieces), THREADS, 0, stream>>>(*t);
    judge_kernel<<<blocks_for(pieces), THREADS, 0, stream>>>(*t, true);
    grow_kernel<<<blocks_for(pieces), THREADS, 0, stream>>>(*t);
    count_kernel<<<blocks_for(traces), THREADS, 0, stream>>>(*t);
    return (int)cudaGetLastError();
}
