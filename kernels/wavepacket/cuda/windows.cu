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

enum { WARPS = 8, ANGLE_TERMS = 12, GROUP = 16, MOST_LISTED = 64, RESIDUAL_BLOCKS = 1024 };

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

// Neighbour m of a window: its direction, and 1 / radius^2.
DEV float4 neighbour(const WpDevTiling &t, const WpDevWindow &w, int m)
{
    return __ldg((const float4 *)t.neighbours + w.first + m);
}

DEV float bump_of(const WpDevTiling &t, float4 nb, const float u[3], float open)
{
    const float dx = u[0] - nb.x, dy = u[1] - nb.y, dz = u[2] - nb.z;
    const float y = dx * dx + dy * dy + dz * dz, scale = open * nb.w;
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

// (radius at the outer edge / radius here)^2
DEV float opened(const WpDevTiling &t, const WpDevWindow &w, float r)
{
    const float q = opening(w, r);
    return t.power == 1.5f ? q * sqrtf(q) : powf(q, t.power);
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

// Neighbours that may be open somewhere on a row of the lattice, bit by bit; those from MOST_LISTED
// on are not asked. 0: the window itself is closed on the whole row.
//
// On the row (t1, t2, t3) of the box's frame r is smallest and bumps are widest where t3 is 0. A
// bump reaches the row only if it reaches the plane through the row and the origin, and the middle
// of what the window's own bump leaves of the row to within half of that. Lengths are chords
// between unit vectors; what is rounded is less than SLACK.
DEV uint64_t open_on_row(const WpDevTiling &t, const WpDevWindow &w, float t1, float t2,
                         float first, float last, unsigned members)
{
    const float SLACK = 1e-3f, r = sqrtf(t1 * t1 + t2 * t2);
    if (r == 0)
        return ~(uint64_t)0;
    const float wide = rsqrtf(opened(t, w, r)), own = wide * rsqrtf(neighbour(t, w, 0).w) + SLACK;
    if (!w.corners && r >= w.outer)
        return 0;
    if (2 * (1 - t1 / r) > own * own)
        return 0;
    const float cosine = 1 - 0.5f * own * own;
    if (t1 > 0 && cosine > 0.2f) {
        const float lateral = t1 * sqrtf(1 - cosine * cosine) / cosine;
        const float most = sqrtf(fmaxf(lateral * lateral - t2 * t2, 0.f));
        first = fmaxf(first, -most);
        last = fminf(last, most);
    }
    const float at[3] = {0.5f * (first + last), first, last};
    float u[3][3], normal[3], half = 0;
    for (int k = 0; k < 3; k++) {
        const float inverse = rsqrtf(r * r + at[k] * at[k]);
        for (int a = 0; a < 3; a++)
            u[k][a] = (float)(t1 * w.R[0][a] + t2 * w.R[1][a] + at[k] * w.R[2][a]) * inverse;
    }
    for (int k = 1; k < 3; k++) {
        const float x = u[k][0] - u[0][0], y = u[k][1] - u[0][1], z = u[k][2] - u[0][2];
        half = fmaxf(half, sqrtf(x * x + y * y + z * z));
    }
    for (int a = 0; a < 3; a++)
        normal[a] = (float)(t2 * w.R[0][a] - t1 * w.R[1][a]) / r;
    uint64_t listed = 0;
    const int lane = threadIdx.x % GROUP, shift = threadIdx.x % WP_WARP / GROUP * GROUP;
    for (int m = 0; m < min(w.count, (int)MOST_LISTED); m += GROUP) {
        bool reaches = false;
        if (m + lane < w.count) {
            const float4 nb = neighbour(t, w, m + lane);
            const float radius = wide * rsqrtf(nb.w) + SLACK;
            const float x = nb.x - u[0][0], y = nb.y - u[0][1], z = nb.z - u[0][2];
            const float off = nb.x * normal[0] + nb.y * normal[1] + nb.z * normal[2];
            reaches = fabsf(off) < radius &&
                      x * x + y * y + z * z < (radius + half) * (radius + half);
        }
        const unsigned bits = __ballot_sync(members, reaches) >> shift & ((1u << GROUP) - 1);
        listed |= (uint64_t)bits << m;
    }
    return listed;
}

DEV float direction_window(const WpDevTiling &t, const WpDevWindow &w, const float xi[3],
                           uint64_t listed)
{
    const float r = sqrtf(xi[0] * xi[0] + xi[1] * xi[1] + xi[2] * xi[2]);
    const float v2 = listed ? radial2(t, w, xi, r) : 0;
    if (v2 <= 0)
        return 0;
    const float u[3] = {xi[0] / r, xi[1] / r, xi[2] / r};
    const float open = opened(t, w, r);
    float sum = bump_of(t, neighbour(t, w, 0), u, open);
    const float own = v2 * sum;
    if (own <= 0)
        return 0;
    for (listed &= ~(uint64_t)1; listed; listed &= listed - 1)
        sum += bump_of(t, neighbour(t, w, __ffsll((long long)listed) - 1), u, open);
    for (int m = MOST_LISTED; m < w.count; m++)
        sum += bump_of(t, neighbour(t, w, m), u, open);
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

// Energy of a group's points by band of |xi_3|: a row runs through few bands, one after the other.
struct Bands {
    unsigned long long *to, sum;
    int band;
    unsigned members; // lanes of the group

    DEV unsigned sum_of_group(unsigned x)
    {
        for (int by = __popc(members) / 2; by; by /= 2)
            x += __shfl_xor_sync(members, x, by);
        return x;
    }

    DEV void flush()
    {
        if (threadIdx.x % WP_WARP == __ffs(members) - 1 && sum > 0)
            atomicAdd(&to[band], sum);
        sum = 0;
    }

    // All lanes together; phi is 0 where a lane has no point. `counts`: of the points.
    DEV void add(float phi, double xi3, unsigned counts)
    {
        const double f = fabs(xi3 - rint(xi3)); // beyond Nyquist: its image
        const int own = min((int)(2 * WP_DEV_BANDS * f), WP_DEV_BANDS - 1);
        const unsigned energy = (unsigned)__float2uint_rn(phi * phi * WP_DEV_ENERGY) * counts;
        unsigned left = __ballot_sync(members, energy > 0);
        while (left) {
            const int next = __shfl_sync(members, own, __ffs(left) - 1);
            const unsigned part = sum_of_group(own == next ? energy : 0);
            left &= ~__ballot_sync(members, own == next);
            if (next != band)
                flush();
            band = next;
            sum += part;
        }
    }
};

// Sums that a block adds to one box: in shared memory first, for its rows meet in few bands. The
// number of points stands behind the bands.
DEV void clear_sums(unsigned long long *sums)
{
    for (int k = threadIdx.x; k <= WP_DEV_BANDS; k += blockDim.x)
        sums[k] = 0;
    __syncthreads();
}

DEV void add_sums(const unsigned long long *sums, unsigned long long *energies,
                  unsigned long long *active)
{
    __syncthreads();
    for (int k = threadIdx.x; k <= WP_DEV_BANDS; k += blockDim.x)
        if (sums[k] > 0)
            atomicAdd(k < WP_DEV_BANDS ? &energies[k] : active, sums[k]);
}

// --- kernels -------------------------------------------------------------------------------------

// The box of row `r`: as many questions at a time as a group has lanes.
DEV int box_of_group(const WpDevBox *boxes, int n, int64_t r, unsigned members)
{
    const int lane = threadIdx.x % GROUP;
    int lo = 0;
    while (n > 1) {
        const int step = (n + GROUP - 1) / GROUP, at = lane * step;
        const bool before = at < n && boxes[lo + at].first_row <= r;
        const int part = __popc(__ballot_sync(members, before)) - 1;
        lo += part * step;
        n = min(step, n - part * step);
    }
    return lo;
}

// A row of one box by a group of lanes.
DEV void sample_row(const WpDevTiling &t, const WpDevBox &b, const WpDevWindow &w, int row,
                    unsigned members, float *weights, Bands *bands, unsigned long long *active)
{
    const int lane = threadIdx.x % GROUP;
    const double t1 = (w.j0[0] + row / b.n[1]) / w.M[0], t2 = (w.j0[1] + row % b.n[1]) / w.M[1];
    const double spacing = 1 / w.M[2];
    const uint64_t listed =
        w.coarse ? 0 : open_on_row(t, w, (float)t1, (float)t2, (float)(w.j0[2] * spacing),
                                   (float)((w.j0[2] + b.n[2] - 1) * spacing), members);
    unsigned n = 0;
    for (int j = lane; j - lane < b.n[2]; j += GROUP) {
        const double t3 = (w.j0[2] + j) * spacing;
        double x[3];
        float xi[3], phi = 0;
        for (int a = 0; a < 3; a++) {
            x[a] = t1 * w.R[0][a] + t2 * w.R[1][a] + t3 * w.R[2][a];
            xi[a] = (float)x[a];
        }
        if (j < b.n[2])
            phi = w.coarse ? coarse_window(t, w, xi) : direction_window(t, w, xi, listed);
        if (weights && j < b.n[2])
            weights[(int64_t)b.at + (int64_t)row * b.n[2] + j] = phi * w.factor;
        if (bands->to) {
            bands->add(phi, x[2], 1);
            n += __popc(__ballot_sync(members, phi > 0));
        }
    }
    if (bands->to)
        bands->flush();
    if (bands->to && lane == 0 && n > 0)
        atomicAdd(active, (unsigned long long)n);
}

// A group of lanes a row of a complex box: most have 14 to 35 points.
__global__ void __launch_bounds__(WARPS *WP_WARP, 4)
    sample_windows(const WpDevTiling t, const WpDevBox *boxes, int n_boxes, int64_t n_rows,
                   float *weights, unsigned long long *energies, unsigned long long *active)
{
    __shared__ unsigned long long sums[WP_DEV_BANDS + 1];
    __shared__ int first_box;
    const int64_t r = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / GROUP;
    const unsigned members = ((1u << GROUP) - 1) << threadIdx.x % WP_WARP / GROUP * GROUP;
    const int box = r < n_rows ? box_of_group(boxes, n_boxes, r, members) : -1;
    if (threadIdx.x == 0)
        first_box = box;
    clear_sums(sums); // waits
    if (box >= 0) {
        const bool shared = box == first_box;
        unsigned long long *to = !energies ? NULL
                                 : shared  ? sums
                                           : energies + (int64_t)box * WP_DEV_BANDS;
        Bands bands = {to, 0, 0, members};
        sample_row(t, boxes[box], t.windows[box], (int)(r - boxes[box].first_row), members, weights,
                   &bands, shared ? sums + WP_DEV_BANDS : active + box);
    }
    if (energies)
        add_sums(sums, energies + (int64_t)first_box * WP_DEV_BANDS, active + first_box);
}

// One warp a row (i, j) of the residual box's half spectrum, and another one after it.
__global__ void __launch_bounds__(WARPS *WP_WARP)
    sample_residual(const WpDevTiling t, int n1, int n2, int n3, double scale, float *weights,
                    unsigned long long *energies)
{
    __shared__ unsigned long long sums[WP_DEV_BANDS + 1];
    const int half = n3 / 2 + 1, lane = threadIdx.x % WP_WARP;
    Bands bands = {energies ? sums : NULL, 0, 0, ~0u};
    clear_sums(sums);
    for (int64_t r = blockIdx.x * (int64_t)WARPS + threadIdx.x / WP_WARP; r < (int64_t)n1 * n2;
         r += (int64_t)gridDim.x * WARPS) {
        const double x1 = (double)(r / n2) / n1, x2 = (double)(r % n2) / n2;
        const double f1 = x1 - rint(x1), f2 = x2 - rint(x2);
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
    if (energies)
        add_sums(sums, energies, NULL);
}

} // namespace

static unsigned blocks_of(int64_t rows, int lanes)
{
    const int many = WARPS * WP_WARP / lanes;
    return (unsigned)((rows + many - 1) / many);
}

int wp_cuda_sample_windows(const WpDevTiling *t, const WpDevBox *boxes, int n_boxes, int64_t n_rows,
                           float *weights, unsigned long long *energies, unsigned long long *active,
                           cudaStream_t stream)
{
    if (n_rows > 0)
        sample_windows<<<blocks_of(n_rows, GROUP), WARPS * WP_WARP, 0, stream>>>(
            *t, boxes, n_boxes, n_rows, weights, energies, active);
    return (int)cudaGetLastError();
}

int wp_cuda_sample_residual(const WpDevTiling *t, const int n[3], double scale, float *weights,
                            unsigned long long *energies, cudaStream_t stream)
{
    const unsigned rows = blocks_of((int64_t)n[0] * n[1], WP_WARP);
    const unsigned blocks = rows < RESIDUAL_BLOCKS ? rows : RESIDUAL_BLOCKS;
    sample_residual<<<blocks, WARPS * WP_WARP, 0, stream>>>(
        *t, n[0], n[1], n[2], scale, weights, energies);
    return (int)cudaGetLastError();
}
