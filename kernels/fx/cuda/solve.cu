// SPDX-License-Identifier: GPL-3.0-or-later
//
// From normal equations to filters, one block of threads a system: Cholesky in shared memory with
// panels of four columns, Jacobi, and the one-sided filters of survey edges from columns of the
// inverse (fx.md sections 4 and 5).
//
// The matrix lies as litho_fx_packed() has it: four rows are one 16-byte access, neighbouring
// threads take neighbouring rows. The usual blocks have a faster way (solve_rows.cu). 49^3 / 3
// operations for the factor and 2 * 49^2 a right-hand side.
#include "kernels/fx/cuda/solve_block.cuh"

enum { MAX_STEPS = 100 };

// --- iteration ----------------------------------------------------------------------------------

template <int SIZE>
__device__ static float product_row(Shared<SIZE> s, const float *x, int row, int n)
{
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum = fmaf(*s.at(max(row, k), min(row, k)), x[k], sum);
    return sum;
}

// Jacobi on the complex equations, as the paper has it: Richardson's iteration in the real unknowns
// with the mean diagonal of every pair.
template <int SIZE> __device__ static bool jacobi(Shared<SIZE> s)
{
    const int n = s.size() - 1;
    float *beta = s.x, *image = beta + s.pitch();
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        beta[k] = k % 2 == 0 ? 0.02f * 0.70710678f : 0;
    __syncthreads();
    for (int step = 0; step < MAX_STEPS; step++) {
        for (int k = threadIdx.x; k < n; k += blockDim.x)
            image[k] = product_row(s, beta, k, n);
        __syncthreads();
        float change = 0;
        bool finite = true;
        for (int k = 2 * threadIdx.x; k < n; k += 2 * blockDim.x) {
            const float scale = 1 / fmaxf(0.5f * (*s.at(k, k) + *s.at(k + 1, k + 1)), 1e-30f);
            const float u = (*s.at(n, k) - image[k]) * scale;
            const float v = (*s.at(n, k + 1) - image[k + 1]) * scale;
            beta[k] += u;
            beta[k + 1] += v;
            change = fmaxf(change, u * u + v * v); // twice the square of the taps' change
            finite = finite && u * u + v * v < 1e12f;
        }
        const int small = __syncthreads_and(change < 2e-8f);
        if (!__syncthreads_and(finite))
            return false;
        if (small)
            return true;
    }
    return false;
}

// Automatic prewhitening after a design with `lambda`, whose centred filter is in s.x: the share of
// the mean diagonal for the next one.
template <int SIZE>
__device__ static float automatic_share(const LithoFxSpot &spot, Shared<SIZE> s,
                                        const float *matrix, float lambda, float mean, bool third)
{
    const int e = s.size() - 1;
    float taken = 0, energy = 0;
    for (int k = threadIdx.x; k < e; k += blockDim.x) {
        taken += s.x[k] * (matrix[litho_fx_packed(s.pitch(), e, k)] + lambda * s.x[k]);
        energy += s.x[k] * s.x[k];
    }
    taken = block_sum(taken, s.part);
    energy = block_sum(energy, s.part);
    const float left = matrix[litho_fx_packed(s.pitch(), e, e)] - taken;
    return share_after(spot, left, mean, energy, e, third);
}

// AUTOMATIC: prewhitening from the data. A kernel of its own keeps its two more designs out of the
// registers of the other.
template <int SIZE, bool AUTOMATIC>
__global__ void __launch_bounds__(LARGE)
    solve_kernel(LithoFxGroup g, int first, int edges, int last)
{
    extern __shared__ float4 shared[];
    const Shared<SIZE> s = shared_of<SIZE>(g, (float *)shared, edges ? RIGHT : CENTRE);
    const int number = first + blockIdx.x, bin = blockIdx.y;
    const LithoFxSpot spot = g.spots[number];
    const float *matrix = g.matrix + system_of(g, number, bin) * g.matrix_pitch;
    float2 *taps = taps_of(g, spot, bin);
    const int across = spot.d_xl1 - spot.d_xl0 + 1;
    float2 *centre = taps + (-spot.d_il0 * across - spot.d_xl0) * s.size();

    float trace = 0;
    for (int k = threadIdx.x; k < s.size(); k += blockDim.x)
        trace += matrix[litho_fx_packed(s.pitch(), k, k)];
    trace = block_sum(trace, s.part);
    const bool alive = trace > 0;
    float lambda = alive ? g.share * trace : 1.0f, share = 1;
    bool done = false;
    const float mean = lambda * (1 / LITHO_FX_FIRST_SHARE);
    for (int third = 0; AUTOMATIC && third < 2; third++) {
        load(s, matrix, lambda);
        cholesky(s);
        solve_centre(s);
        share = automatic_share(spot, s, matrix, lambda, mean, third);
        lambda = share * mean;
        __syncthreads();
    }
    if (g.solver != LITHO_FX_CHOLESKY) {
        load(s, matrix, lambda);
        done = jacobi(s);
        if (done)
            write_centre(g, s, matrix, lambda, centre);
        __syncthreads();
    }
    load(s, matrix, lambda);
    const bool factored = cholesky(s);
    if (!done) {
        solve_centre(s);
        write_centre(g, s, matrix, lambda, centre);
    }
    if (edges)
        edge_filters(g, spot, s, matrix, lambda, taps);
    if (threadIdx.x > 0)
        return;
    const bool good = alive && (done || factored);
    g.good[system_of(g, number, bin)] = good;
    if (last && alive)
        count_system(g, g.solver != LITHO_FX_CHOLESKY && !done, good, share);
}

// --- launchers ----------------------------------------------------------------------------------

template <int SIZE>
static int launch(const LithoFxGroup *g, int first, int count, int edges, int last,
                  cudaStream_t stream)
{
    const int bytes = shared_bytes(g, edges ? RIGHT : CENTRE);
    const auto kernel = g->automatic ? solve_kernel<SIZE, true> : solve_kernel<SIZE, false>;
    cudaError_t status =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (status != cudaSuccess)
        return (int)status;
    kernel<<<dim3(count, g->bins), litho_fx_round4(g->size) <= 64 ? SMALL : LARGE, bytes,
             stream>>>(*g, first, edges, last);
    return (int)cudaGetLastError();
}

int litho_fx_solve(const LithoFxGroup *g, int first, int count, int edges, int last,
                   cudaStream_t stream)
{
    if (count == 0)
        return (int)cudaSuccess;
    if (g->lags)
        return litho_fx_solve_shared(g, first, count, edges, last, stream);
    if (litho_fx_rows_serve(g))
        return litho_fx_solve_rows(g, first, count, edges, last, stream);
    switch (g->size) {
    case 25:
        return launch<25>(g, first, count, edges, last, stream);
    case 49:
        return launch<49>(g, first, count, edges, last, stream);
    default:
        return launch<0>(g, first, count, edges, last, stream);
    }
}
