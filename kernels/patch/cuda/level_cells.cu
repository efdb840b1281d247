// SPDX-License-Identifier: GPL-3.0-or-later
//
// The level and the floor of many cells, whose windows are few: one block a cell and frequency has
// all of its powers in shared memory and reads them once. The numbers are those of level.cu and of
// kernels/cuda/floor.cu; sums have a fixed order.
#include "kernels/patch/cuda/level_below.cuh"

namespace
{

enum {
    SETS = 3, // all coefficients; the quiet ones of both halves of the windows
    DIGITS = 256,
    ADDS = 1024,        // parts that sums over the windows have, as in level.cu
    SHARED = 100 << 10, // two blocks a multiprocessor
};

// A window; CHOOSES << half is LITHO_LEVEL_CHOOSES_0, then _1.
enum { LIVE = 8, CHOOSES = LITHO_LEVEL_CHOOSES_0 };
// A wavenumber: QUIET << half, and whether it counts.
enum { QUIET = 1, COUNTS = 4 };

struct Powers {
    int nk, windows;
    float *x; // [window][wavenumber], -1 in windows that are left out
    unsigned char *window, *mark;

    // Calls visit(value, half, quiet) with all values that count: the half that their windows are
    // of, which all threads of a warp share, and whether their wavenumber is quiet there.
    template <class Visit> __device__ void each(Visit visit) const
    {
        for (int w = threadIdx.x / 32; w < windows; w += THREADS / 32) {
            const int half = window[w] & LITHO_LEVEL_HALF ? 1 : 0;
            if (!(window[w] & LIVE))
                continue;
#pragma unroll 4
            for (int k = threadIdx.x % 32; k < nk; k += 32) {
                const unsigned own = mark[k];
                const float value = x[w * nk + k];
                if (own & COUNTS)
                    visit(value, half, (own >> half & QUIET) != 0);
            }
        }
    }
};

__host__ __device__ inline int scratch_floats(int nk)
{
    return 2 * nk > ADDS ? 2 * nk : ADDS;
}

__host__ __device__ inline int shared_bytes(int windows, int nk)
{
    return (int)sizeof(float) * (windows * nk + scratch_floats(nk)) + windows + nk;
}

__device__ void load(const LithoLevelTask &t, int f, int job, const Powers &p)
{
    const LithoLevelJob j = t.jobs[job];
    const float *from = power_of(t, job, f, 0);
    const int n_real = count_real(t, f);
    for (int w = threadIdx.x; w < p.windows; w += THREADS)
        p.window[w] = t.share[j.first + w] > 0 ? t.flags[j.first + w] | LIVE : 0;
    for (int k = threadIdx.x; k < p.nk; k += THREADS)
        p.mark[k] = n_real == p.nk || n_real == 0 || !is_real(t, f, k) ? COUNTS : 0;
    __syncthreads();
    for (int w = threadIdx.x / 32; w < p.windows; w += THREADS / 32)
        for (int k = threadIdx.x % 32; k < p.nk; k += 32)
            p.x[w * p.nk + k] = p.window[w] & LIVE ? __ldg(from + w * p.nk + k) : -1;
    __syncthreads();
}

// quiet_kernel() of level.cu.
__device__ void mark_quiet(const Powers &p, int half, float *sums)
{
    const int parts = p.nk < ADDS ? ADDS / p.nk : 1;
    for (int e = threadIdx.x; e < parts * p.nk; e += THREADS) {
        const int k = e % p.nk;
        float sum = 0;
        for (int w = e / p.nk; w < p.windows; w += parts)
            sum += (p.window[w] & LIVE) && (p.window[w] & CHOOSES << half) ? p.x[w * p.nk + k] : 0;
        sums[e] = sum;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < p.nk; k += THREADS)
        for (int part = 1; part < parts; part++)
            sums[k] += sums[part * p.nk + k];
    __syncthreads();
    for (int k = threadIdx.x; k < p.nk; k += THREADS) {
        const float own = sums[k];
        int rank = 0;
        for (int i = 0; i < p.nk; i++)
            rank += sums[i] < own || (sums[i] == own && i < k);
        p.mark[k] |= rank <= p.nk / 2 ? QUIET << half : 0;
    }
    __syncthreads();
}

// State of a search for the medians.
struct Search {
    unsigned prefix[SETS];
    int left[SETS], n[SETS];
    int count[SETS][DIGITS];
};

// The medians of all sets, of a digit of eight bits after the other from the top, the last one of
// seven. Values are not negative.
__device__ void find_medians(const Powers &p, Search &s)
{
    const int top = 23, shifts[] = {top, 15, 7, 0};
    for (int pass = 0; pass < 4; pass++) {
        const int shift = shifts[pass], width = shift == 0 ? 7 : 8;
        for (int d = threadIdx.x; d < SETS * DIGITS; d += THREADS)
            s.count[d / DIGITS][d % DIGITS] = 0;
        __syncthreads();
        unsigned prefix[SETS]; // whose bits above are the median's
        for (int set = 0; set < SETS; set++)
            prefix[set] = shift == top ? 0 : s.prefix[set] >> (shift + width);
        p.each([&](float x, int half, bool quiet) {
            const unsigned bits = __float_as_uint(x), digit = bits >> shift & ((1u << width) - 1);
            const unsigned above = shift == top ? 0 : bits >> (shift + width);
            if (above == prefix[0])
                atomicAdd(&s.count[0][digit], 1);
            if (quiet && above == (half ? prefix[2] : prefix[1]))
                atomicAdd(&s.count[1 + half][digit], 1);
        });
        __syncthreads();
        const int set = threadIdx.x / 32, lane = threadIdx.x % 32, own = DIGITS / 32;
        if (set < SETS) { // a warp each
            int mine = 0;
            for (int d = 0; d < own; d++)
                mine += s.count[set][lane * own + d];
            int upto = mine;
            for (int by = 1; by < 32; by *= 2) {
                const int below = __shfl_up_sync(~0u, upto, by);
                upto += lane >= by ? below : 0;
            }
            const int all = __shfl_sync(~0u, upto, 31);
            int rank = shift == top ? all / 2 : s.left[set], at = upto - mine;
            __syncwarp();
            if (lane == 0 && shift == top) {
                s.n[set] = all;
                s.prefix[set] = 0;
            }
            __syncwarp();
            if (at <= rank && rank < upto) { // one lane; none where there are no values
                int d = lane * own;
                while (rank >= at + s.count[set][d])
                    at += s.count[set][d++];
                s.prefix[set] |= (unsigned)d << shift;
                s.left[set] = rank - at;
            }
        }
        __syncthreads();
    }
}

// noise_power() of noise_level.c: the mean of what is below `cut` times the mean, until it rests.
__device__ void find_means(const LithoLevelTask &t, const Powers &p, const Search &s, int freedom,
                           double (*parts)[THREADS / 32], double mean[SETS])
{
    bool rests[SETS];
    for (int set = 0; set < SETS; set++) {
        mean[set] = __uint_as_float(s.prefix[set]) / t.median[freedom - 1];
        rests[set] = s.n[set] == 0;
    }
    for (int pass = 0; pass < t.passes && !(rests[0] && rests[1] && rests[2]); pass++) {
        float limit[SETS];
        double sum[SETS] = {};
        int kept[SETS] = {};
        for (int set = 0; set < SETS; set++)
            limit[set] = rests[set] ? -1 : __double2float_rd(t.cut * mean[set]);
        p.each([&](float x, int half, bool quiet) {
            const double own = x;
            if (x <= limit[0]) {
                sum[0] += own;
                kept[0]++;
            }
            if (half == 0 && quiet && x <= limit[1]) {
                sum[1] += own;
                kept[1]++;
            }
            if (half == 1 && quiet && x <= limit[2]) {
                sum[2] += own;
                kept[2]++;
            }
        });
        for (int set = 0; set < SETS; set++) {
            const double all = sum_of_block(sum[set], parts[0]);
            const double n = sum_of_block(kept[set], parts[1]);
            const double next = n > 0 ? all / n / t.below[freedom - 1] : mean[set];
            if (!rests[set]) {
                rests[set] = next == mean[set];
                mean[set] = next;
            }
        }
    }
}

// floor_kernel() of kernels/cuda/floor.cu: the value of a rank among the windows, bit by bit.
__device__ void find_floor(const Powers &p, double part, int least, float *floor)
{
    int live = 0;
    for (int w = 0; w < p.windows; w++)
        live += p.window[w] & LIVE ? 1 : 0;
    const int rank = (int)(part * live);
    double mean = 0; // of exponentially distributed values of mean 1 (Renyi 1953)
    for (int i = 0; i <= rank; i++)
        mean += 1.0 / (live - i);
    for (int k = threadIdx.x; k < p.nk; k += THREADS) {
        unsigned bits = 0;
        for (int bit = 30; bit >= 0 && live >= least; bit--) {
            const unsigned next = bits | 1u << bit;
            int below = 0;
#pragma unroll 8
            for (int w = 0; w < p.windows; w++) // those left out are above all others
                below += __float_as_uint(p.x[w * p.nk + k]) < next;
            bits = below <= rank ? next : bits;
        }
        floor[k] = live < least ? 0 : (float)(1 / mean) * __uint_as_float(bits);
    }
}

__global__ void __launch_bounds__(THREADS)
    cells_kernel(const LithoLevelTask t, double part, int least, double unit, LithoLevelMean *means,
                 LithoLevelBelow *below, unsigned long long *sum)
{
    extern __shared__ float room[];
    __shared__ Search search;
    __shared__ double parts[2][THREADS / 32];
    const int f = blockIdx.x, job = blockIdx.y, n_real = count_real(t, f);
    const long long at = (long long)job * bins(t) + f;
    Powers p;
    p.nk = (int)wavenumbers(t);
    p.windows = t.jobs[job].windows;
    p.x = room;
    float *scratch = p.x + p.windows * p.nk;
    p.window = (unsigned char *)(scratch + scratch_floats(p.nk));
    p.mark = p.window + p.windows;
    load(t, f, job, p);
    mark_quiet(p, 0, scratch);
    mark_quiet(p, 1, scratch);
    find_medians(p, search);
    double mean[SETS];
    find_means(t, p, search, n_real == p.nk ? 1 : 2, parts, mean);
    if (threadIdx.x == 0)
        for (int set = 0; set < SETS; set++) {
            means[at * SETS + set].mean = mean[set];
            means[at * SETS + set].n = search.n[set];
        }
    find_floor(p, part, least, scratch);
    tell_below(t, scratch, scratch + p.nk, parts[0], unit, below + at, sum + (long long)f * p.nk);
}

} // namespace

int litho_level_takes_cells(const LithoLevelTask *t, int windows)
{
    int device, most;
    const int bytes = shared_bytes(windows, t->n[0] * t->n[1]);
    return bytes <= SHARED && cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) ==
               cudaSuccess &&
           bytes + (int)sizeof(Search) + 1024 <= most;
}

int litho_level_cells(const LithoLevelTask *t, int windows, double part, int least, double unit,
                      LithoLevelMean *means, LithoLevelBelow *below, unsigned long long *sum,
                      cudaStream_t stream)
{
    const int bytes = shared_bytes(windows, t->n[0] * t->n[1]);
    const dim3 grid((unsigned)(t->n[2] / 2 + 1), (unsigned)t->n_jobs);
    const cudaError_t status =
        cudaFuncSetAttribute(cells_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (status != cudaSuccess)
        return (int)status;
    cells_kernel<<<grid, THREADS, bytes, stream>>>(*t, part, least, unit, means, below, sum);
    return (int)cudaGetLastError();
}
