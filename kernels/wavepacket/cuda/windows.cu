// SPDX-License-Identifier: GPL-3.0-or-later
//
// The windows sampled on the boxes' lattices, as tiling.c and windows.c have them: once for the
// energies that thresholds stand on, once for the weights of the points.
//
// Energies are added as whole numbers of 2^-25: sums of any order have the bits of any other.
#include "kernels/wavepacket/cuda/tiles.cuh"
#include "kernels/wavepacket/cuda/windows.h"

namespace
{

enum { WARPS = 8, ANGLE_TERMS = 12 };

// --- windows -------------------------------------------------------------------------------------

DEV float step_at(const float *table, float t)
{
    const float u = fminf(fmaxf(t * (WP_DEV_STEPS - 1), 0.f), (float)(WP_DEV_STEPS - 1));
    const int i = min((int)u, WP_DEV_STEPS - 2);
    const float at = __ldg(table + i);
    return at + (u - (float)i) * (__ldg(table + i + 1) - at);
}

// angle^2 from the chord y = |u - nu|^2: tiling.c.
DEV float angle2(float y)
{
    const float c[ANGLE_TERMS] = {1.f,           1.f / 12,      1.f / 90,       1.f / 560,
                                  1.f / 3150,    1.f / 16632,   1.f / 84084,    1.f / 411840,
                                  1.f / 1969110, 1.f / 9237800, 1.f / 42678636, 1.f / 194699232};
    float s = y * c[ANGLE_TERMS - 1] + c[ANGLE_TERMS - 2];
#pragma unroll
    for (int i = ANGLE_TERMS - 3; i >= 0; i--)
        s = s * y + c[i];
    return s * y;
}

DEV float bump_of(const WpDevTiling &t, const WpDevNeighbour &nb, const float u[3], float open)
{
    const float dx = u[0] - nb.nu[0], dy = u[1] - nb.nu[1], dz = u[2] - nb.nu[2];
    const float y = dx * dx + dy * dy + dz * dz, scale = open * nb.inv_radius2;
    if (1 - y * scale <= 0)
        return 0;
    const float q = 1 - angle2(y) * scale;
    if (q <= 0)
        return 0;
    float s = q * t.bump[WP_DEV_TERMS - 1] + t.bump[WP_DEV_TERMS - 2];
#pragma unroll
    for (int i = WP_DEV_TERMS - 3; i >= 0; i--)
        s = s * q + t.bump[i];
    return s * q;
}

DEV float opening(const WpDevWindow &w, float r)
{
    const float q = r / w.outer;
    if (!w.corners)
        return fminf(q, 1.f);
    const float q2 = q * q;
    return q / sqrtf(sqrtf(1 + q2 * q2));
}

// V_k^2, times the corner taper of the full design.
DEV float radial2(const WpDevTiling &t, const WpDevWindow &w, const float xi[3], float r)
{
    float rise = step_at(t.step, (r - w.a[0]) / (w.b[0] - w.a[0]));
    if (!w.corners)
        return rise * (1 - step_at(t.step, (r - w.a[1]) / (w.b[1] - w.a[1])));
    for (int c = 0; c < 3; c++)
        rise *= 1 - step_at(t.step, (fabsf(xi[c]) - 0.5f + t.taper) / (2 * t.taper));
    return rise;
}

DEV float direction_window(const WpDevTiling &t, const WpDevWindow &w, const float xi[3])
{
    const float r = sqrtf(xi[0] * xi[0] + xi[1] * xi[1] + xi[2] * xi[2]);
    const float v2 = radial2(t, w, xi, r);
    if (v2 <= 0)
        return 0;
    const float u[3] = {xi[0] / r, xi[1] / r, xi[2] / r};
    const float open = powf(opening(w, r), t.power);
    const WpDevNeighbour *nb = t.neighbours + w.first;
    float sum = bump_of(t, nb[0], u, open);
    const float own = v2 * sum;
    if (own <= 0)
        return 0;
    for (int m = 1; m < w.count; m++)
        sum += bump_of(t, nb[m], u, open);
    const float phi = sqrtf(own / sum);
    return phi < t.cut ? 0 : phi;
}

DEV float coarse_window(const WpDevTiling &t, const WpDevWindow &w, const float xi[3])
{
    const float r = sqrtf(xi[0] * xi[0] + xi[1] * xi[1] + xi[2] * xi[2]);
    const float phi = sqrtf(1 - step_at(t.step, (r - w.a[0]) / (w.b[0] - w.a[0])));
    return phi < t.cut ? 0 : phi;
}

// --- energies ------------------------------------------------------------------------------------

DEV unsigned sum_of_warp(unsigned x)
{
    for (int by = 16; by; by /= 2)
        x += __shfl_xor_sync(~0u, x, by);
    return x;
}

// Energy of a warp's points by band of |xi_3|: a row runs through few bands, one after the other.
struct Bands {
    unsigned long long *to, sum;
    int band;

    DEV void flush()
    {
        if (threadIdx.x % WP_WARP == 0 && sum > 0)
            atomicAdd(&to[band], sum);
        sum = 0;
    }

    // All lanes together; phi is 0 where a lane has no point. `counts`: of the points.
    DEV void add(float phi, double xi3, unsigned counts)
    {
        const double f = fabs(xi3 - rint(xi3)); // beyond Nyquist: its image
        const int own = min((int)(2 * WP_DEV_BANDS * f), WP_DEV_BANDS - 1);
        const unsigned energy = (unsigned)__float2uint_rn(phi * phi * WP_DEV_ENERGY) * counts;
        unsigned left = __ballot_sync(~0u, energy > 0);
        while (left) {
            const int next = __shfl_sync(~0u, own, __ffs(left) - 1);
            const unsigned part = sum_of_warp(own == next ? energy : 0);
            left &= ~__ballot_sync(~0u, own == next);
            if (next != band)
                flush();
            band = next;
            sum += part;
        }
    }
};

// --- kernels -------------------------------------------------------------------------------------

// One warp a row of a complex box.
__global__ void __launch_bounds__(WARPS *WP_WARP)
    sample_windows(const WpDevTiling t, const WpDevBox *boxes, int n_boxes, int64_t n_rows,
                   float *weights, unsigned long long *energies, unsigned long long *active)
{
    const int64_t r = blockIdx.x * (int64_t)WARPS + threadIdx.x / WP_WARP;
    if (r >= n_rows)
        return;
    const int box = box_of_row(boxes, n_boxes, r);
    const WpDevBox &b = boxes[box];
    const WpDevWindow &w = t.windows[box];
    const int row = (int)(r - b.first_row), lane = threadIdx.x % WP_WARP;
    const double t1 = (w.j0[0] + row / b.n[1]) / w.M[0], t2 = (w.j0[1] + row % b.n[1]) / w.M[1];
    Bands bands = {energies ? energies + (int64_t)box * WP_DEV_BANDS : NULL, 0, 0};
    unsigned n = 0;
    for (int j = lane; j - lane < b.n[2]; j += WP_WARP) {
        const double t3 = (w.j0[2] + j) / w.M[2];
        double x[3];
        float xi[3], phi = 0;
        for (int a = 0; a < 3; a++) {
            x[a] = t1 * w.R[0][a] + t2 * w.R[1][a] + t3 * w.R[2][a];
            xi[a] = (float)x[a];
        }
        if (j < b.n[2])
            phi = w.coarse ? coarse_window(t, w, xi) : direction_window(t, w, xi);
        if (weights && j < b.n[2])
            weights[(int64_t)b.at + (int64_t)row * b.n[2] + j] = phi * w.factor;
        if (energies) {
            bands.add(phi, x[2], 1);
            n += __popc(__ballot_sync(~0u, phi > 0));
        }
    }
    if (energies)
        bands.flush();
    if (energies && lane == 0 && n > 0)
        atomicAdd(&active[box], (unsigned long long)n);
}

// One warp a row (i, j) of the residual box's half spectrum.
__global__ void __launch_bounds__(WARPS *WP_WARP)
    sample_residual(const WpDevTiling t, int n1, int n2, int n3, double scale, float *weights,
                    unsigned long long *energies)
{
    const int64_t r = blockIdx.x * (int64_t)WARPS + threadIdx.x / WP_WARP;
    if (r >= (int64_t)n1 * n2)
        return;
    const int half = n3 / 2 + 1, lane = threadIdx.x % WP_WARP;
    const double x1 = (double)(r / n2) / n1, x2 = (double)(r % n2) / n2;
    const double f1 = x1 - rint(x1), f2 = x2 - rint(x2);
    Bands bands = {energies, 0, 0};
    for (int k = lane; k - lane < half; k += WP_WARP) {
        const double x3 = (double)k / n3;
        float phi = 0;
        if (k < half) {
            const float radius = (float)sqrt(f1 * f1 + f2 * f2 + x3 * x3);
            phi = sqrtf(step_at(t.step, (radius - t.residual[0]) /
                                            (t.residual[1] - t.residual[0])));
            phi = phi < t.cut ? 0 : phi;
        }
        if (weights && k < half)
            weights[r * half + k] = (float)(scale * phi);
        if (energies)
            bands.add(phi, x3, k == 0 || 2 * k == n3 ? 1 : 2);
    }
    if (energies)
        bands.flush();
}

} // namespace

static unsigned blocks_of(int64_t rows)
{
    return (unsigned)((rows + WARPS - 1) / WARPS);
}

int wp_cuda_sample_windows(const WpDevTiling *t, const WpDevBox *boxes, int n_boxes, int64_t n_rows,
                           float *weights, unsigned long long *energies, unsigned long long *active,
                           cudaStream_t stream)
{
    if (n_rows > 0)
        sample_windows<<<blocks_of(n_rows), WARPS * WP_WARP, 0, stream>>>(
            *t, boxes, n_boxes, n_rows, weights, energies, active);
    return (int)cudaGetLastError();
}

int wp_cuda_sample_residual(const WpDevTiling *t, const int n[3], double scale, float *weights,
                            unsigned long long *energies, cudaStream_t stream)
{
    sample_residual<<<blocks_of((int64_t)n[0] * n[1]), WARPS * WP_WARP, 0, stream>>>(
        *t, n[0], n[1], n[2], scale, weights, energies);
    return (int)cudaGetLastError();
}
