// SPDX-License-Identifier: GPL-3.0-or-later
//
// Filters beside noise that neighbouring traces share (rule 8 of geometry.h), one block of threads
// a system. The noise's covariance follows from a table of lags; only right-hand sides change, so
// that the factor is that of solve.cu.
#include "kernels/fx/cuda/solve_block.cuh"

enum { DESIGNS = 3 };

// The noise at one bin, in a window's equations.
struct Noise {
    const float2 *lags; // [inline][crossline]
    int reach_xl;
    int half_il, half_xl; // of the block
    float part_il, part_xl; // a lag takes so much of biased autocorrelations; 0 of covariances
    float level;            // the survey's power

    // The covariance of two places, `il` and `xl` traces apart.
    __device__ float2 at(int il, int xl) const
    {
        const int sign = il < 0 ? -1 : 1;
        const float2 c = lags[sign * il * (4 * reach_xl + 1) + 2 * reach_xl + sign * xl];
        return make_float2(c.x, sign * c.y);
    }
    // The covariance as the matrix has it.
    __device__ float2 biased(int il, int xl) const
    {
        const float a = fmaxf(1 - part_il * (float)abs(il), 0.0f);
        const float b = fmaxf(1 - part_xl * (float)abs(xl), 0.0f);
        const float2 c = at(il, xl);
        return make_float2(a * b * c.x, a * b * c.y);
    }
    // Place of block number `k` relative to the centre.
    __device__ int2 offset(int k) const
    {
        const int width = 2 * half_xl + 1;
        return make_int2(k / width - half_il, k % width - half_xl);
    }
    // Unknown k of the covariance with the centre; 1 at the centre itself, unknown 2 `pairs`.
    __device__ float own(int k, int pairs) const
    {
        if (k == 2 * pairs)
            return 1;
        const int2 o = offset(pairs + k / 2 + 1);
        const float2 c = biased(o.x, o.y);
        return 1.41421356f * (k % 2 == 0 ? c.x : -c.y);
    }
    // Two pairs' part of h' N h, the unknowns at 2 q and 2 p.
    __device__ float product(int q, int p, int pairs, const float *h) const
    {
        const int2 a = offset(pairs + q + 1), b = offset(pairs + p + 1);
        const float2 near = biased(a.x - b.x, a.y - b.y), far = biased(a.x + b.x, a.y + b.y);
        const float qu = h[2 * q], qv = h[2 * q + 1], pu = h[2 * p], pv = h[2 * p + 1];
        return qu * pu * (near.x + far.x) + qv * pv * (near.x - far.x) -
               qv * pu * (near.y + far.y) + qu * pv * (near.y - far.y);
    }
};

__device__ static Noise noise_of(const LithoFxGroup &g, const LithoFxSpot &spot, int number,
                                 int bin)
{
    const int at = (g.band_first + bin) % g.band_bins;
    const int lags = (2 * g.reach_il + 1) * (4 * g.reach_xl + 1);
    const float scale = g.scales[system_of(g, number, bin)];
    const bool biased = g.form == LITHO_FX_ACF;
    const int points = (spot.c_il1 - spot.c_il0) * (spot.c_xl1 - spot.c_xl0) - spot.missing;
    Noise n;
    n.lags = (const float2 *)g.lags + (long long)at * lags;
    n.reach_xl = g.reach_xl;
    n.half_il = g.half_il;
    n.half_xl = g.half_xl;
    n.part_il = biased ? 1.0f / (float)spot.n_il : 0;
    n.part_xl = biased ? 1.0f / (float)spot.n_xl : 0;
    n.level = (float)(biased ? spot.n_il * spot.n_xl : points) * scale * scale * g.level[at];
    return n;
}

// The filter of the equations with `power` of noise off their right-hand side, into s.x. FALSE: a
// pivot was not positive.
template <int SIZE>
__device__ static bool design(Shared<SIZE> s, const Noise &noise, const float *matrix, float lambda,
                              float power, float trace)
{
    const int e = s.size() - 1;
    load(s, matrix, lambda);
    for (int k = threadIdx.x; k < e; k += blockDim.x)
        *s.at(e, k) -= power * noise.own(k, e / 2);
    if (threadIdx.x == 0)
        *s.at(e, e) = 4 * (trace + lambda); // no right-hand side takes as much
    __syncthreads();
    const bool good = cholesky(s);
    solve_centre(s);
    return good;
}

// Power of the noise after a design whose filter is in s.x; *energy: sum of its squares.
template <int SIZE>
__device__ static float power_after(const LithoFxSpot &spot, Shared<SIZE> s, const Noise &noise,
                                    const float *matrix, float lambda, float power, float mean,
                                    float *energy)
{
    const int e = s.size() - 1, pairs = e / 2;
    float taken = 0, squares = 0, left = 0;
    for (int k = threadIdx.x; k < e; k += blockDim.x) {
        const float own = noise.own(k, pairs), h = s.x[k];
        taken += h * (matrix[litho_fx_packed(s.pitch(), e, k)] + power * own + lambda * h);
        left -= 2 * h * own;
        squares += h * h;
    }
    for (int t = threadIdx.x; t < pairs * (pairs + 1) / 2; t += blockDim.x) {
        int q, p;
        triangle(t, &q, &p);
        left += (q == p ? 1.0f : 2.0f) * noise.product(q, p, pairs, s.x);
    }
    taken = block_sum(taken, s.part);
    squares = block_sum(squares, s.part);
    left = block_sum(left, s.part);
    *energy = squares;
    const int points = (spot.c_il1 - spot.c_il0) * (spot.c_xl1 - spot.c_xl0) - spot.missing;
    return litho_fx_shared_power(matrix[litho_fx_packed(s.pitch(), e, e)] - taken, 1 + left,
                                 power, mean, e, points);
}

// Taps of the centred filter in s.x.
template <int SIZE>
__device__ static void write_centre(const LithoFxGroup &g, Shared<SIZE> s, const Noise &noise,
                                    const float *matrix, float lambda, float power, float2 *taps)
{
    const int e = s.size() - 1, c = e / 2;
    float alpha = 0.70710678f;
    if (g.post) {
        float hb = 0, hh = 0;
        for (int k = threadIdx.x; k < e; k += blockDim.x) {
            const float b =
                matrix[litho_fx_packed(s.pitch(), e, k)] - power * noise.own(k, c);
            hb = fmaf(s.x[k], b, hb);
            hh = fmaf(s.x[k], s.x[k], hh);
        }
        hb = block_sum(hb, s.part);
        hh = block_sum(hh, s.part);
        alpha *= stretch(hb, hh, lambda);
    }
    for (int q = threadIdx.x; q < c; q += blockDim.x) {
        const float2 beta = *(const float2 *)(s.x + 2 * q);
        taps[c + q + 1] = make_float2(alpha * beta.x, alpha * beta.y);
        taps[c - q - 1] = make_float2(alpha * beta.x, -alpha * beta.y);
    }
    if (threadIdx.x == 0)
        taps[c] = make_float2(0, 0);
}

// --- the survey's edge ---------------------------------------------------------------------------

// Block number `a` of the right-hand side for place t: power times the noise's covariance with t,
// and lambda at t.
__device__ static inline float2 side_of(const Noise &noise, int t, int a, float power, float lambda)
{
    const int2 to = noise.offset(t), from = noise.offset(a);
    const float2 c = noise.at(to.x - from.x, to.y - from.y);
    return make_float2(power * c.x + (a == t ? lambda : 0), power * c.y);
}

// Unknown k of its real part (part 0) or imaginary part (1).
__device__ static float right_hand_side(const Noise &noise, int t, int c, int k, int part,
                                        float power, float lambda)
{
    if (k == 2 * c) {
        const float2 middle = side_of(noise, t, c, power, lambda);
        return part == 0 ? middle.x : middle.y;
    }
    const float2 a = side_of(noise, t, c + k / 2 + 1, power, lambda);
    const float2 b = side_of(noise, t, c - k / 2 - 1, power, lambda);
    if (k % 2 == 0)
        return 0.70710678f * (part == 0 ? a.x + b.x : a.y + b.y);
    return 0.70710678f * (part == 0 ? a.y - b.y : b.x - a.x);
}

// Tap `number` of the filter for place t from the solutions x, y of the two parts.
__device__ static inline float2 tap_of(const float *x, const float *y, int c, int t, int number)
{
    const int p = abs(number - c) - 1;
    const float one = number == t ? 1 : 0;
    if (number == c)
        return make_float2(one - x[2 * c], -y[2 * c]);
    const float u_re = 0.70710678f * x[2 * p], u_im = 0.70710678f * y[2 * p];
    const float v_re = 0.70710678f * x[2 * p + 1], v_im = 0.70710678f * y[2 * p + 1];
    return number > c ? make_float2(one + v_im - u_re, -(u_im + v_re))
                      : make_float2(one - (u_re + v_im), v_re - u_im);
}

// Factor that stretches the filter for place t to least squares; r_tt: the power there.
__device__ static float stretch_of(const Noise &noise, const float *x, const float *y, int c, int t,
                                   float r_tt, float power, float lambda)
{
    const int2 to = noise.offset(t);
    float hn = 0, hh = 0;
    for (int a = 0; a <= 2 * c; a++) {
        const int2 from = noise.offset(a);
        const float2 n = noise.at(to.x - from.x, to.y - from.y), h = tap_of(x, y, c, t, a);
        hn += h.x * n.x + h.y * n.y;
        hh += h.x * h.x + h.y * h.y;
    }
    const float own = tap_of(x, y, c, t, t).x;
    return stretch(r_tt - power - lambda * own - power * hn, hh, lambda);
}

// Filters for the places that traces near the survey's edge take, themselves included, from the
// factor in s.a.
template <int SIZE>
__device__ static void shared_edge_filters(const LithoFxGroup &g, const LithoFxSpot &spot,
                                           Shared<SIZE> s, const Noise &noise, const float *matrix,
                                           float lambda, float power, float2 *taps)
{
    const int size = s.size(), pitch = s.pitch(), c = size / 2;
    const int slots = (spot.d_il1 - spot.d_il0 + 1) * (spot.d_xl1 - spot.d_xl0 + 1);
    for (int first = 0; first < slots; first += RIGHT / 2) {
        const int n = min(slots - first, RIGHT / 2);
        __syncthreads();
        for (int t = threadIdx.x; t < 2 * n * pitch; t += blockDim.x) {
            const int vector = t / pitch, k = t % pitch;
            const int place = place_of(g, spot, first + vector / 2);
            s.x[t] = k < size ? right_hand_side(noise, place, c, k, vector % 2, power, lambda) : 0;
        }
        __syncthreads();
        forward(s, 2 * n);
        backward(s, 2 * n);
        for (int slot = 0; slot < n; slot++) {
            const int place = place_of(g, spot, first + slot), u = 2 * (abs(place - c) - 1);
            if (place == c)
                continue; // the centred filter
            const float *x = s.x + 2 * slot * pitch, *y = x + pitch;
            const float r_tt = 0.5f * (matrix[litho_fx_packed(pitch, u, u)] +
                                       matrix[litho_fx_packed(pitch, u + 1, u + 1)]);
            const float alpha =
                g.post ? stretch_of(noise, x, y, c, place, r_tt, power, lambda) : 1.0f;
            const bool nothing =
                r_tt < LITHO_FX_NOTHING * matrix[litho_fx_packed(pitch, size - 1, size - 1)];
            for (int number = threadIdx.x; number < size; number += blockDim.x) {
                const float2 h = tap_of(x, y, c, place, number);
                taps[(first + slot) * size + number] =
                    nothing ? make_float2(number == place ? 1.0f : 0.0f, 0)
                            : make_float2(alpha * h.x, alpha * h.y);
            }
        }
    }
}

// --- the kernel ----------------------------------------------------------------------------------

// Fill passes (`last` is 0) take the filters of edges that have no part in themselves: what is
// missing there is to be predicted.
template <int SIZE>
__global__ void __launch_bounds__(LARGE)
    shared_kernel(LithoFxGroup g, int first, int edges, int last)
{
    extern __shared__ float4 memory[];
    const Shared<SIZE> s = shared_of<SIZE>(g, (float *)memory, edges ? RIGHT : CENTRE);
    const int number = first + blockIdx.x, bin = blockIdx.y;
    const LithoFxSpot spot = g.spots[number];
    const float *matrix = g.matrix + system_of(g, number, bin) * g.matrix_pitch;
    const Noise noise = noise_of(g, spot, number, bin);
    const int points = (spot.c_il1 - spot.c_il0) * (spot.c_xl1 - spot.c_xl0) - spot.missing;
    const int across = spot.d_xl1 - spot.d_xl0 + 1, taps_of_block = s.size() - 1;
    float2 *taps = taps_of(g, spot, bin);
    float trace = 0, share = 1;
    for (int k = threadIdx.x; k < s.size(); k += blockDim.x)
        trace += matrix[litho_fx_packed(s.pitch(), k, k)];
    trace = block_sum(trace, s.part);
    const bool alive = trace > 0;
    float lambda = alive ? g.share * trace : 1.0f;
    const float mean = alive ? trace / (float)s.size() : 1.0f;
    float power = litho_fx_shared_most(noise.level, mean);
    if (g.automatic) {
        share = litho_fx_shared_share(power, mean, 0, taps_of_block, points, true);
        lambda = share * mean;
    }
    bool good = design(s, noise, matrix, lambda, power, trace);
    for (int k = 1; k < DESIGNS; k++) {
        float energy;
        power = power_after(spot, s, noise, matrix, lambda, power, mean, &energy);
        if (g.automatic) {
            share = litho_fx_shared_share(power, mean, energy, taps_of_block, points, false);
            lambda = share * mean;
        }
        __syncthreads(); // s.x has been read
        good = design(s, noise, matrix, lambda, power, trace);
    }
    write_centre(g, s, noise, matrix, lambda, power,
                 taps + (-spot.d_il0 * across - spot.d_xl0) * s.size());
    if (edges) {
        __syncthreads();
        load(s, matrix, lambda);
        good = cholesky(s);
        if (last)
            shared_edge_filters(g, spot, s, noise, matrix, lambda, power, taps);
        else
            edge_filters(g, spot, s, matrix, lambda, taps);
    }
    if (threadIdx.x > 0)
        return;
    g.good[system_of(g, number, bin)] = alive && good;
    if (last && alive)
        count_system(g, g.solver != LITHO_FX_CHOLESKY, good, share);
}

template <int SIZE>
static int launch(const LithoFxGroup *g, int first, int count, int edges, int last,
                  cudaStream_t stream)
{
    const int bytes = shared_bytes(g, edges ? RIGHT : CENTRE);
    const cudaError_t status = cudaFuncSetAttribute(
        shared_kernel<SIZE>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (status != cudaSuccess)
        return (int)status;
    shared_kernel<SIZE>
        <<<dim3(count, g->bins), litho_fx_round4(g->size) <= 64 ? SMALL : LARGE, bytes, stream>>>(
            *g, first, edges, last);
    return (int)cudaGetLastError();
}

int litho_fx_solve_shared(const LithoFxGroup *g, int first, int count, int edges, int last,
                          cudaStream_t stream)
{
    return g->size == 49 ? launch<49>(g, first, count, edges, last, stream)
                         : launch<0>(g, first, count, edges, last, stream);
}
