// SPDX-License-Identifier: GPL-3.0-or-later
//
// The level of the noise: spectra of windows, the quiet wavenumbers, and the mean below three times
// the noise from an exact median. Sums have a fixed order; histograms count whole numbers.
#include "kernels/patch/cuda/level_below.cuh"

namespace
{

enum {
    TILE = 128, // traces at a time
    TIME = LITHO_LEVEL_MAX_TIME,
    GROUPS = LITHO_LEVEL_GROUPS,
    MANY = 1024, // threads that add windows
    SLICE = 64,  // windows of a block of a mean
    DIGITS = 256,
    AHEAD = 8, // values that a thread loads at a time
};

__device__ float2 turned(float2 w, float2 z)
{
    return make_float2(w.x * z.x - w.y * z.y, w.x * z.y + w.y * z.x);
}

// exp(-2 pi i k / n), k = threadIdx.x.
__device__ void make_circle(float2 *circle, int n)
{
    if ((int)threadIdx.x < n) {
        double s, c;
        sincospi(-2.0 * threadIdx.x / n, &s, &c);
        circle[threadIdx.x] = make_float2((float)c, (float)s);
    }
}

// --- spectra -------------------------------------------------------------------------------------

// A trace that is live, finite and not zero throughout the window.
__device__ bool is_there(const float *x, int n)
{
    bool any = false, finite = true;
    for (int k = 0; k < n; k++) {
        any |= x[k] != 0;
        finite &= isfinite(x[k]);
    }
    return any && finite;
}

// One block a window: its traces, tapered, along time. Floor: 4 bytes read a sample, 8 written a
// coefficient.
__global__ void __launch_bounds__(TILE)
    time_kernel(const LithoLevelTask t, const LithoLevelPlace *places)
{
    __shared__ float x[TILE][TIME + 1];
    __shared__ float2 circle[TIME];
    __shared__ double parts[TILE / 32];
    const LithoLevelPlace p = places[blockIdx.x];
    const int nk = (int)wavenumbers(t), nf = bins(t), n2 = t.n[2];
    double energy = 0;
    int present = 0;
    float2 *to = (float2 *)t.spectra + (long long)blockIdx.x * nf * nk;
    make_circle(circle, n2);
    for (int first = 0; first < nk; first += TILE) {
        const int traces = nk - first < TILE ? nk - first : TILE;
        __syncthreads();
        for (int e = threadIdx.x; e < traces * n2; e += TILE) {
            const int k = first + e / n2;
            const long long trace = trace_at(t.held, p.at[0] + k / t.n[1], p.at[1] + k % t.n[1]);
            x[e / n2][e % n2] =
                t.live[trace] ? t.in[trace * t.held.n[2] + p.at[2] - t.held.lo[2] + e % n2] : 0;
        }
        __syncthreads();
        const int k = first + threadIdx.x;
        if (k >= nk)
            continue;
        float *own = x[threadIdx.x];
        const bool counts = is_there(own, n2);
        const double w = t.taper[0][k / t.n[1]] * t.taper[1][k % t.n[1]];
        const long long trace = trace_at(t.held, p.at[0] + k / t.n[1], p.at[1] + k % t.n[1]);
        if (counts && t.recorded[trace]) {
            energy += w * w;
            present++;
        }
        for (int i = 0; i < n2; i++)
            own[i] = counts ? (float)(w * t.taper[2][i] * own[i]) : 0;
        for (int f = 0; f < nf; f++) {
            float2 sum = make_float2(0, 0);
            for (int i = 0, at = 0; i < n2; i++) {
                sum.x += circle[at].x * own[i];
                sum.y += circle[at].y * own[i];
                at = at + f < n2 ? at + f : at + f - n2;
            }
            to[(long long)f * nk + k] = sum;
        }
    }
    energy = sum_of_block(energy, parts);
    present = (int)sum_of_block(present, parts);
    weigh_window(t, t.jobs[p.job].first + p.window, energy, present);
}

// One block a window and frequency: both space axes, then the power.
__global__ void __launch_bounds__(THREADS)
    space_kernel(const LithoLevelTask t, const LithoLevelPlace *places)
{
    extern __shared__ float2 z[]; // the plane, then the plane along crosslines
    __shared__ float2 circle[2][LITHO_PATCH_MAX_WINDOW];
    const LithoLevelPlace p = places[blockIdx.x];
    const int n0 = t.n[0], n1 = t.n[1], nk = n0 * n1, f = blockIdx.y;
    const float2 *from = (const float2 *)t.spectra + ((long long)blockIdx.x * bins(t) + f) * nk;
    const float scale = t.scale[t.jobs[p.job].first + p.window];
    float2 *across = z + nk;
    float *to = power_of(t, p.job, f, p.window);
    make_circle(circle[0], n0);
    make_circle(circle[1], n1);
    for (int e = threadIdx.x; e < nk; e += THREADS)
        z[e] = from[e];
    __syncthreads();
    for (int e = threadIdx.x; e < nk; e += THREADS) {
        const int row = e / n1 * n1, k = e % n1;
        float2 sum = make_float2(0, 0);
        for (int i = 0, at = 0; i < n1; i++) {
            const float2 y = turned(circle[1][at], z[row + i]);
            sum.x += y.x;
            sum.y += y.y;
            at = at + k < n1 ? at + k : at + k - n1;
        }
        across[e] = sum;
    }
    __syncthreads();
    for (int e = threadIdx.x; e < nk; e += THREADS) {
        const int column = e % n1, k = e / n1;
        float2 sum = make_float2(0, 0);
        for (int i = 0, at = 0; i < n0; i++) {
            const float2 y = turned(circle[0][at], across[i * n1 + column]);
            sum.x += y.x;
            sum.y += y.y;
            at = at + k < n0 ? at + k : at + k - n0;
        }
        to[e] = scale * (sum.x * sum.x + sum.y * sum.y);
    }
}

// --- quiet wavenumbers ---------------------------------------------------------------------------

// One block a job, frequency and half: sums over the windows, and the marks of those up to their
// median. As many threads a wavenumber as there are add every so manieth window each.
__global__ void __launch_bounds__(MANY) quiet_kernel(const LithoLevelTask t)
{
    extern __shared__ float sums[]; // a part of `all` per thread, then of all windows
    const int f = blockIdx.x, half = blockIdx.y, job = blockIdx.z, nk = (int)wavenumbers(t);
    const LithoLevelJob j = t.jobs[job];
    const int chooses = half ? LITHO_LEVEL_CHOOSES_1 : LITHO_LEVEL_CHOOSES_0;
    const int parts = nk < MANY ? MANY / nk : 1;
    const float *power = power_of(t, job, f, 0), *share = t.share + j.first;
    const unsigned char *flags = t.flags + j.first;
    unsigned char *quiet = t.quiet + (((long long)job * bins(t) + f) * 2 + half) * nk;
    for (int e = threadIdx.x; e < parts * nk; e += MANY) {
        const int k = e % nk;
        float sum = 0;
#pragma unroll 8
        for (int w = e / nk; w < j.windows; w += parts) {
            const float x = power[(long long)w * nk + k];
            sum += share[w] > 0 && (flags[w] & chooses) ? x : 0;
        }
        sums[e] = sum;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < nk; k += MANY)
        for (int part = 1; part < parts; part++)
            sums[k] += sums[part * nk + k];
    __syncthreads();
    // Opposite wavenumbers of a real plane are alike: of equal ones the first count.
    for (int k = threadIdx.x; k < nk; k += MANY) {
        int rank = 0;
        for (int i = 0; i < nk; i++)
            rank += sums[i] < sums[k] || (sums[i] == sums[k] && i < k);
        quiet[k] = rank <= nk / 2;
    }
}

// --- means ---------------------------------------------------------------------------------------

// One block's share of a set of coefficients: the windows of a slice, and wavenumbers with a mark.
struct Set {
    int slice, slices; // slices: of the set
    int nk, freedom, windows;
    const float *power; // of window 0
    unsigned char marks[LITHO_LEVEL_MAX_WAVENUMBERS];
    short taken[SLICE]; // windows

    // Calls visit(value) with what is in the set; of windows that nobody wrote nothing is read.
    template <class Visit> __device__ void each(Visit visit) const
    {
        for (int i = threadIdx.x / 32; i < windows; i += THREADS / 32) {
            const float *p = power + (long long)taken[i] * nk;
            for (int first = threadIdx.x % 32; first < nk; first += 32 * AHEAD) {
                float x[AHEAD];
#pragma unroll
                for (int a = 0; a < AHEAD; a++) {
                    const int k = first + 32 * a;
                    x[a] = k < nk && marks[k] ? __ldg(p + k) : -1;
                }
#pragma unroll
                for (int a = 0; a < AHEAD; a++)
                    if (x[a] >= 0)
                        visit(x[a]);
            }
        }
    }
};

// Slices of a set of all windows, and of one of a group.
__host__ __device__ inline int slices_of(int windows, bool group)
{
    const int n = group ? (windows + GROUPS - 1) / GROUPS : windows;
    return (n + SLICE - 1) / SLICE;
}

// Blocks of all sets of a frequency: sets of all windows are the first three.
__host__ __device__ inline int blocks_of(int windows, int sets)
{
    return 3 * slices_of(windows, false) + (sets - 3) * slices_of(windows, true);
}

// Powers of a slice below the limit.
struct Part {
    double sum, n;
};

// The set of this block.
__device__ int own_set(int most)
{
    const int all = slices_of(most, false), beyond = (int)blockIdx.x - 3 * all;
    return beyond < 0 ? blockIdx.x / all : 3 + beyond / slices_of(most, true);
}

// Its place among all of all jobs and frequencies.
__device__ long long place_of_set(const LithoLevelTask &t, int most, int interval)
{
    return ((long long)blockIdx.z * bins(t) + blockIdx.y) * LITHO_LEVEL_SETS(interval) +
           own_set(most);
}

// The block's windows and marks; by all threads.
__device__ void begin_set(const LithoLevelTask &t, int most, Set &s)
{
    const int nk = (int)wavenumbers(t), f = blockIdx.y, job = blockIdx.z, set = own_set(most);
    const int all = slices_of(most, false), few = slices_of(most, true);
    const int slice = set < 3 ? blockIdx.x % all : (blockIdx.x - 3 * all) % few;
    const int half = set == 0 ? -1 : (set - 1) % 2;
    const int group = set == 0 ? GROUPS : GROUPS - (set - 1) / 2;
    const LithoLevelJob j = t.jobs[job];
    const unsigned char *quiet = t.quiet + (((long long)job * bins(t) + f) * 2 + (half > 0)) * nk;
    const int n_real = count_real(t, f);
    if (threadIdx.x == 0) {
        s.slice = slice;
        s.slices = set < 3 ? all : few;
        s.nk = nk;
        s.power = power_of(t, job, f, 0);
    }
    // Windows stand in the list in ascending order: two warps' votes.
    __shared__ unsigned votes[SLICE / 32];
    bool takes = false;
    int window = 0;
    if (threadIdx.x < SLICE) {
        const int i = slice * SLICE + threadIdx.x;
        window = group == GROUPS ? i : i * GROUPS + group;
        takes = window < j.windows && t.share[j.first + window] > 0 &&
                (half < 0 || (t.flags[j.first + window] & LITHO_LEVEL_HALF) == half);
        const unsigned vote = __ballot_sync(~0u, takes);
        if (threadIdx.x % 32 == 0)
            votes[threadIdx.x / 32] = vote;
    }
    __syncthreads();
    if (takes) {
        int at = __popc(votes[threadIdx.x / 32] & ((1u << threadIdx.x % 32) - 1));
        for (int v = 0; v < (int)threadIdx.x / 32; v++)
            at += __popc(votes[v]);
        s.taken[at] = (short)window;
    }
    for (int k = threadIdx.x; k < nk; k += THREADS)
        s.marks[k] = (half < 0 || quiet[k]) && (n_real == nk || n_real == 0 || !is_real(t, f, k));
    if (threadIdx.x == 0) {
        s.windows = 0;
        for (int v = 0; v < SLICE / 32; v++)
            s.windows += __popc(votes[v]);
        s.freedom = n_real == nk ? 1 : 2;
    }
    __syncthreads();
}

// TRUE in all threads of the block of a set that arrives last, which sees what the others wrote.
__device__ bool is_last(const Set &s, LithoLevelMean *mean)
{
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(&mean->arrived, 1u) + 1 == (unsigned)s.slices;
        if (last)
            mean->arrived = 0;
    }
    __syncthreads();
    __threadfence();
    return last;
}

// The digit in which the rank falls, one a thread, and the rank within it.
__device__ void find_digit(const LithoLevelTask &t, const Set &s, int *digits, int shift,
                           bool first, LithoLevelMean *mean)
{
    __shared__ int warps[DIGITS / 32];
    const int own = __ldcg(digits + threadIdx.x), lane = threadIdx.x % 32;
    digits[threadIdx.x] = 0; // of the next pass
    int upto = own;
    for (int by = 1; by < 32; by *= 2) {
        const int below = __shfl_up_sync(~0u, upto, by);
        upto += lane >= by ? below : 0;
    }
    if (lane == 31)
        warps[threadIdx.x / 32] = upto;
    __syncthreads();
    int all = 0;
    for (int w = 0; w < DIGITS / 32; w++) {
        upto += w < (int)threadIdx.x / 32 ? warps[w] : 0;
        all += warps[w];
    }
    const long long rank = first ? all / 2 : mean->left;
    __syncthreads();
    if (threadIdx.x == 0 && first) {
        mean->n = all;
        mean->rests = all == 0;
    }
    if (upto - own <= rank && rank < upto) {
        const unsigned prefix = mean->prefix | (unsigned)threadIdx.x << shift;
        mean->left = rank - (upto - own);
        mean->prefix = prefix;
        if (shift == 0)
            mean->mean = __uint_as_float(prefix) / t.median[s.freedom - 1];
    }
}

// Counts eight bits of the values of each set, from the top, among those whose bits above are the
// median's; the last pass counts seven. Values are not negative.
__global__ void __launch_bounds__(THREADS)
    digit_kernel(const LithoLevelTask t, int most, int interval, int shift, LithoLevelMean *means,
                 int *digits)
{
    __shared__ Set s;
    __shared__ int count[DIGITS];
    const long long at = place_of_set(t, most, interval);
    const int top = 23, width = shift == 0 ? 7 : 8;
    const unsigned prefix = means[at].prefix;
    if (means[at].rests)
        return;
    begin_set(t, most, s);
    count[threadIdx.x] = 0;
    __syncthreads();
    s.each([&](float x) {
        const unsigned bits = __float_as_uint(x);
        if (shift == top || bits >> (shift + width) == prefix >> (shift + width))
            atomicAdd(&count[bits >> shift & ((1u << width) - 1)], 1);
    });
    __syncthreads();
    digits += at * DIGITS;
    if (count[threadIdx.x] > 0)
        atomicAdd(digits + threadIdx.x, count[threadIdx.x]);
    if (is_last(s, &means[at]))
        find_digit(t, s, digits, shift, shift == top, &means[at]);
}

// A pass of noise_power() of noise_level.c: the mean of what is below `cut` times the mean.
__global__ void __launch_bounds__(THREADS)
    mean_kernel(const LithoLevelTask t, int most, int interval, LithoLevelMean *means,
                Part *parts)
{
    __shared__ Set s;
    __shared__ double scratch[THREADS / 32];
    const long long at = place_of_set(t, most, interval);
    const double mean = means[at].mean;
    if (means[at].rests)
        return;
    begin_set(t, most, s);
    const float limit = __double2float_rd(t.cut * mean); // no float lies between
    double sum = 0;
    int kept = 0;
    s.each([&](float x) {
        if (x <= limit) {
            sum += x;
            kept++;
        }
    });
    const double all = sum_of_block(sum, scratch), number = sum_of_block(kept, scratch);
    parts += at * slices_of(most, false);
    if (threadIdx.x == 0)
        parts[s.slice] = Part{all, number};
    if (!is_last(s, &means[at]) || threadIdx.x > 0)
        return;
    double below = 0, n = 0;
    for (int slice = 0; slice < s.slices; slice++) {
        below += __ldcg(&parts[slice].sum);
        n += __ldcg(&parts[slice].n);
    }
    const double next = n > 0 ? below / n / t.below[s.freedom - 1] : mean;
    means[at].rests = next == mean;
    means[at].mean = next;
}

// --- below events --------------------------------------------------------------------------------

// One block a frequency and job.
__global__ void __launch_bounds__(THREADS)
    below_kernel(const LithoLevelTask t, const float *floor, double unit, LithoLevelBelow *below,
                 unsigned long long *sum)
{
    extern __shared__ float planes[];
    __shared__ double parts[THREADS / 32];
    const int nk = (int)wavenumbers(t), f = blockIdx.x, job = blockIdx.y;
    const long long at = (long long)job * bins(t) + f;
    for (int k = threadIdx.x; k < nk; k += THREADS)
        planes[k] = floor[at * nk + k];
    tell_below(t, planes, planes + nk, parts, unit, below + at, sum + (long long)f * nk);
}

} // namespace

int litho_level_spectra(const LithoLevelTask *t, const LithoLevelPlace *places, int count,
                        cudaStream_t stream)
{
    if (litho_level_takes_lines(t))
        return litho_level_lines(t, places, count, stream);
    const unsigned plane = 2 * sizeof(float2) * t->n[0] * t->n[1];
    const dim3 planes((unsigned)count, (unsigned)(t->n[2] / 2 + 1));
    // With the circles the largest planes take more than the 48 kB that a block has unasked.
    const cudaError_t status =
        cudaFuncSetAttribute(space_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)plane);
    if (status != cudaSuccess)
        return (int)status;
    time_kernel<<<(unsigned)count, TILE, 0, stream>>>(*t, places);
    space_kernel<<<planes, THREADS, plane, stream>>>(*t, places);
    return (int)cudaGetLastError();
}

int litho_level_quiet(const LithoLevelTask *t, cudaStream_t stream)
{
    const int nk = t->n[0] * t->n[1];
    const dim3 grid((unsigned)(t->n[2] / 2 + 1), 2, (unsigned)t->n_jobs);
    quiet_kernel<<<grid, MANY, sizeof(float) * (nk < MANY ? MANY : nk), stream>>>(*t);
    return (int)cudaGetLastError();
}

unsigned long long litho_level_means_bytes(int interval, long long frequencies, int windows)
{
    return frequencies * LITHO_LEVEL_SETS(interval) *
           (sizeof(LithoLevelMean) + DIGITS * sizeof(int) +
            slices_of(windows, false) * sizeof(Part));
}

int litho_level_means(const LithoLevelTask *t, int interval, int windows, void *room,
                      cudaStream_t stream)
{
    const int sets = LITHO_LEVEL_SETS(interval), nf = t->n[2] / 2 + 1;
    const long long all = (long long)t->n_jobs * nf * sets;
    const dim3 grid((unsigned)blocks_of(windows, sets), (unsigned)nf, (unsigned)t->n_jobs);
    LithoLevelMean *means = (LithoLevelMean *)room;
    Part *parts = (Part *)(means + all);
    int *digits = (int *)(parts + all * slices_of(windows, false));
    const cudaError_t status = cudaMemsetAsync(
        room, 0, litho_level_means_bytes(interval, (long long)t->n_jobs * nf, windows), stream);
    if (status != cudaSuccess)
        return (int)status;
    const int shifts[] = {23, 15, 7, 0};
    for (int k = 0; k < 4; k++)
        digit_kernel<<<grid, THREADS, 0, stream>>>(*t, windows, interval, shifts[k], means, digits);
    for (int pass = 0; pass < t->passes; pass++)
        mean_kernel<<<grid, THREADS, 0, stream>>>(*t, windows, interval, means, parts);
    return (int)cudaGetLastError();
}

int litho_level_below(const LithoLevelTask *t, const float *floor, double unit,
                      LithoLevelBelow *below, unsigned long long *sum, cudaStream_t stream)
{
    const unsigned planes = 2 * sizeof(float) * t->n[0] * t->n[1];
    const dim3 grid((unsigned)(t->n[2] / 2 + 1), (unsigned)t->n_jobs);
    below_kernel<<<grid, THREADS, planes, stream>>>(*t, floor, unit, below, sum);
    return (int)cudaGetLastError();
}
