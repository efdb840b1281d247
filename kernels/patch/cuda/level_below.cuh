// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
//
// Functions of the statistics of a frequency, by a block of THREADS.
#include "kernels/patch/cuda/level.cuh"

namespace
{

__device__ bool is_real(const LithoLevelTask &t, int f, int k)
{
    const int own[3] = {k / t.n[1], k % t.n[1], f};
    for (int a = 0; a < 3; a++)
        if (own[a] != 0 && 2 * own[a] != t.n[a])
            return false;
    return true;
}

// Real coefficients at a frequency: none, some (4, 2 or 1), or all of them.
__device__ int count_real(const LithoLevelTask &t, int f)
{
    int n = f == 0 || 2 * f == t.n[2];
    for (int a = 0; a < 2; a++)
        n *= t.n[a] % 2 == 0 ? 2 : 1;
    return n;
}

// Half widths of noise_below_events().
__device__ int median_reach(int n)
{
    return n < 4 ? 0 : 1;
}

__device__ int opening_reach(int n)
{
    return n < 4 ? 0 : (n + 4) / 8;
}

__device__ int around(int i, int n)
{
    return i < 0 ? i + n : i >= n ? i - n : i;
}

// The middle one of the neighbours of wavenumber (i, j), 1, 3 or 9 of them: the one that has no
// more than half of them on either side.
__device__ float middle_at(const int n[2], const float *z, int i, int j)
{
    const int r0 = median_reach(n[0]), r1 = median_reach(n[1]);
    const int of = (2 * r0 + 1) * (2 * r1 + 1);
    for (int a = -r0; a <= r0; a++)
        for (int b = -r1; b <= r1; b++) {
            const float x = z[around(i + a, n[0]) * n[1] + around(j + b, n[1])];
            int smaller = 0, same = 0;
            for (int c = -r0; c <= r0; c++)
                for (int d = -r1; d <= r1; d++) {
                    const float y = z[around(i + c, n[0]) * n[1] + around(j + d, n[1])];
                    smaller += y < x;
                    same += y == x;
                }
            if (smaller <= of / 2 && of / 2 < smaller + same)
                return x;
        }
    return z[i * n[1] + j];
}

// Least or largest of the neighbours along an axis.
__device__ void extreme_along(const int n[2], int axis, bool least, const float *from, float *to)
{
    const int r = opening_reach(n[axis]);
    for (int k = threadIdx.x; k < n[0] * n[1]; k += THREADS) {
        const int i = k / n[1], j = k % n[1];
        float own = from[k];
        for (int d = -r; d <= r; d++) {
            const float other = axis == 0 ? from[around(i + d, n[0]) * n[1] + j]
                                          : from[i * n[1] + around(j + d, n[1])];
            own = least ? fminf(own, other) : fmaxf(own, other);
        }
        to[k] = own;
    }
    __syncthreads();
}

// Means of the floor of a frequency, `one`, which is lost, and adds it to sum[wavenumber]; `other`:
// a plane. By all threads of a block of THREADS; each has the values of `one` that it wrote.
__device__ void tell_below(const LithoLevelTask &t, float *one, float *other, double *parts,
                           double unit, LithoLevelBelow *below, unsigned long long *sum)
{
    const int n[2] = {t.n[0], t.n[1]}, nk = n[0] * n[1];
    double all = 0;
    for (int k = threadIdx.x; k < nk; k += THREADS)
        all += one[k];
    const float mean = (float)(sum_of_block(all, parts) / nk);
    const bool counts = mean > 0 && isfinite(mean);
    if (!counts) {
        if (threadIdx.x == 0)
            *below = LithoLevelBelow{0, 0};
        return;
    }
    for (int k = threadIdx.x; k < nk; k += THREADS) {
        atomicAdd(sum + k, (unsigned long long)(one[k] / mean * unit));
        other[k] = middle_at(n, one, k / n[1], k % n[1]);
    }
    __syncthreads();
    extreme_along(n, 0, true, other, one);
    extreme_along(n, 1, true, one, other);
    extreme_along(n, 0, false, other, one);
    extreme_along(n, 1, false, one, other);
    double left = 0;
    for (int k = threadIdx.x; k < nk; k += THREADS)
        left += other[k];
    left = sum_of_block(left, parts) / nk;
    if (threadIdx.x == 0)
        *below = LithoLevelBelow{mean, (float)left};
}

} // namespace
