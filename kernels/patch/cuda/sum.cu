// SPDX-License-Identifier: GPL-3.0-or-later
//
// Around the windows: which columns are needed, and the sum of their strips.
#include "kernels/patch/cuda/device.cuh"

enum { COLUMNS = THREADS / 32 }; // of a block

// One warp a column. The sums are the CPU's, term by term: lanes look at a trace each, and all of
// them add all terms.
__global__ void shares_kernel(const LithoPatchTask t)
{
    const int k = blockIdx.x * COLUMNS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (k >= t.count[0] * t.count[1])
        return;
    const LithoPatchAxis *axis = t.g.axis;
    const int n1 = axis[1].length, traces = axis[0].length * n1;
    const int il0 = litho_patch_start(axis[0], t.first[0] + k / t.count[1]);
    const int xl0 = litho_patch_start(axis[1], t.first[1] + k % t.count[1]);
    double there = 0, all = 0;
    bool wanted = !t.wanted || t.largest;
    for (int first = 0; first < traces; first += 32) {
        const int e = first + lane, i = e / n1, j = e % n1;
        bool live = false;
        double w = 0;
        if (e < traces) {
            const long long trace = trace_at(t.held, litho_patch_mirror(axis[0].n, il0 + i),
                                             litho_patch_mirror(axis[1].n, xl0 + j));
            const long long di = il0 + i - t.region.lo[0], dj = xl0 + j - t.region.lo[1];
            w = (double)t.taper[0][i] * t.taper[1][j];
            live = !t.live || t.live[trace];
            if (!wanted && di >= 0 && di < t.region.n[0] && dj >= 0 && dj < t.region.n[1])
                wanted = t.wanted[trace_at(t.out_held, il0 + i, xl0 + j)];
        }
        const unsigned lives = __ballot_sync(~0u, live);
        for (int b = 0; b < 32 && first + b < traces; b++) {
            const double x = __shfl_sync(~0u, w * w, b);
            there += lives >> b & 1 ? x : 0;
            all += x;
        }
    }
    wanted = __any_sync(~0u, wanted);
    if (lane > 0)
        return;
    t.share[k] = wanted ? (float)(there / all) : 0;
    if (t.windows && t.share[k] > 0)
        atomicAdd(t.windows, 2ull * t.pairs);
}

enum { AHEAD = 4 }; // columns whose samples a thread loads at a time

// One block a trace and 256 of its samples. Floor: a strip's sample for each of the (L / S)^2
// columns read, one written.
__global__ void sum_kernel(const LithoPatchTask t, long long il0)
{
    const long long il = il0 + blockIdx.z, xl = t.region.lo[1] + blockIdx.y;
    const long long k = (long long)blockIdx.x * THREADS + threadIdx.x;
    const long long trace = trace_at(t.out_held, il, xl);
    if (k >= t.region.n[2] || (t.wanted && !t.wanted[trace]))
        return;
    const LithoPatchAxis a = t.g.axis[0], b = t.g.axis[1];
    const long long at = t.region.lo[2] + k - litho_patch_start(t.g.axis[2], 2 * t.pair0);
    float sum = 0;
    const int j0 = litho_patch_first(b, (int)xl), j1 = litho_patch_last(b, (int)xl);
    for (int i = litho_patch_first(a, (int)il); i <= litho_patch_last(a, (int)il); i++)
        for (int first = j0; first <= j1; first += AHEAD) {
            float x[AHEAD];
#pragma unroll
            for (int ahead = 0; ahead < AHEAD; ahead++) {
                const int j = first + ahead, row = i - t.first[0], column = j - t.first[1];
                const long long in_window =
                    (il - litho_patch_start(a, i)) * b.length + xl - litho_patch_start(b, j);
                x[ahead] = j <= j1 && t.share[(long long)row * t.count[1] + column] > 0
                               ? strip_at(t, row, column)[in_window * t.length + at]
                               : 0;
            }
#pragma unroll
            for (int ahead = 0; ahead < AHEAD; ahead++)
                sum += x[ahead];
        }
    const float norm = t.norm[0][il - t.region.lo[0]] * t.norm[1][xl - t.region.lo[1]];
    t.out[trace * t.out_held.n[2] + t.region.lo[2] + k - t.out_held.lo[2]] =
        sum * (norm * t.norm[2][k]);
}

// One block a trace.
__global__ void copy_dead_kernel(const LithoPatchTask t)
{
    const long long il = t.region.lo[0] + blockIdx.y, xl = t.region.lo[1] + blockIdx.x;
    const long long from = trace_at(t.held, il, xl), to = trace_at(t.out_held, il, xl);
    if (t.live[from])
        return;
    for (long long k = threadIdx.x; k < t.region.n[2]; k += THREADS)
        t.out[to * t.out_held.n[2] + t.region.lo[2] + k - t.out_held.lo[2]] =
            t.in[from * t.held.n[2] + t.region.lo[2] + k - t.held.lo[2]];
}

__global__ void leave_kernel(const LithoPatchTask t, const unsigned char *alone)
{
    const long long il = t.region.lo[0] + blockIdx.y, xl = t.region.lo[1] + blockIdx.x;
    const long long from = trace_at(t.held, il, xl), to = trace_at(t.out_held, il, xl);
    if (!alone[from])
        return;
    for (long long k = threadIdx.x; k < t.region.n[2]; k += THREADS) {
        const float x = t.in[from * t.held.n[2] + t.region.lo[2] + k - t.held.lo[2]];
        t.out[to * t.out_held.n[2] + t.region.lo[2] + k - t.out_held.lo[2]] = isfinite(x) ? x : 0;
    }
}

// Traces of the region, one warp each; a trace with a sample that is not finite counts nothing.
__global__ void weigh_kernel(const LithoPatchTask t, double *sums)
{
    __shared__ double part[2][THREADS / 32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const long long traces = t.region.n[0] * t.region.n[1];
    double all[2] = {0, 0};
    for (long long k = (long long)blockIdx.x * (THREADS / 32) + warp; k < traces;
         k += (long long)gridDim.x * (THREADS / 32)) {
        const long long il = t.region.lo[0] + k / t.region.n[1],
                        xl = t.region.lo[1] + k % t.region.n[1];
        const long long from = trace_at(t.held, il, xl), to = trace_at(t.out_held, il, xl);
        double in = 0, gone = 0;
        for (long long s = lane; t.live[from] && s < t.region.n[2]; s += 32) {
            const float x = t.in[from * t.held.n[2] + t.region.lo[2] + s - t.held.lo[2]];
            const double d =
                (double)x - t.out[to * t.out_held.n[2] + t.region.lo[2] + s - t.out_held.lo[2]];
            in += (double)x * x;
            gone += d * d;
        }
        for (int by = 16; by; by /= 2) {
            in += __shfl_xor_sync(~0u, in, by);
            gone += __shfl_xor_sync(~0u, gone, by);
        }
        if (isfinite(in) && isfinite(gone)) {
            all[0] += in;
            all[1] += gone;
        }
    }
    if (lane == 0)
        for (int c = 0; c < 2; c++)
            part[c][warp] = all[c];
    __syncthreads();
    if (threadIdx.x < 2) {
        double sum = 0;
        for (int k = 0; k < THREADS / 32; k++)
            sum += part[threadIdx.x][k];
        sums[blockIdx.x * 2 + threadIdx.x] = sum;
    }
}

int litho_patch_shares(const LithoPatchTask *t, cudaStream_t stream)
{
    const unsigned columns = (unsigned)t->count[0] * t->count[1];
    shares_kernel<<<(columns + COLUMNS - 1) / COLUMNS, THREADS, 0, stream>>>(*t);
    return (int)cudaGetLastError();
}

// Inlines and crosslines are counted in grid dimensions of 65,535 at most.
int litho_patch_sum(const LithoPatchTask *t, long long il0, long long il1, cudaStream_t stream)
{
    for (long long il = il0; il < il1; il += 65535)
        for (long long xl = 0; xl < t->region.n[1]; xl += 65535) {
            LithoPatchTask part = *t;
            const long long n = t->region.n[1] - xl < 65535 ? t->region.n[1] - xl : 65535;
            const dim3 grid(blocks_for(t->region.n[2]), (unsigned)n,
                            (unsigned)(il1 - il < 65535 ? il1 - il : 65535));
            part.region.lo[1] += xl;
            part.region.n[1] = n;
            part.norm[1] += xl;
            sum_kernel<<<grid, THREADS, 0, stream>>>(part, il);
        }
    return (int)cudaGetLastError();
}

int litho_patch_copy_dead(const LithoPatchTask *t, cudaStream_t stream)
{
    for (long long il = 0; il < t->region.n[0]; il += 65535) {
        LithoPatchTask part = *t;
        part.region.lo[0] += il;
        part.region.n[0] = t->region.n[0] - il < 65535 ? t->region.n[0] - il : 65535;
        const dim3 grid((unsigned)part.region.n[1], (unsigned)part.region.n[0]);
        copy_dead_kernel<<<grid, THREADS, 0, stream>>>(part);
    }
    return (int)cudaGetLastError();
}

int litho_patch_leave(const LithoPatchTask *t, const unsigned char *alone, cudaStream_t stream)
{
    for (long long il = 0; il < t->region.n[0]; il += 65535) {
        LithoPatchTask part = *t;
        part.region.lo[0] += il;
        part.region.n[0] = t->region.n[0] - il < 65535 ? t->region.n[0] - il : 65535;
        const dim3 grid((unsigned)part.region.n[1], (unsigned)part.region.n[0]);
        leave_kernel<<<grid, THREADS, 0, stream>>>(part, alone);
    }
    return (int)cudaGetLastError();
}

int litho_patch_weigh(const LithoPatchTask *t, int blocks, double *sums, cudaStream_t stream)
{
    weigh_kernel<<<(unsigned)blocks, THREADS, 0, stream>>>(*t, sums);
    return (int)cudaGetLastError();
}
