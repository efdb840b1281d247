// SPDX-License-Identifier: GPL-3.0-or-later
//
// Both ends of a chain on the device: the field of a source on the first boundary, and traces from
// spectra. Short sums in float64 where phases and samples are at stake: they cost nothing here.
#include "kernels/twsm/cuda/kernels.h"

namespace
{

enum {
    THREADS = 256,
    TRACES = 8,  // traces that share a cosine
    TIMES = 128, // samples of a block
    PART = 64,   // frequencies in shared memory at a time
};

// Coefficient of one frequency: the pieces of four cosines, combined.
__device__ float2 look_up(const TwsmPieces &p, int row, const float w[4], double at)
{
    float t;
    const int j = twsm_pieces_column(&p, at, &t);
    const float4 *q = (const float4 *)p.piece + 2 * ((size_t)row * p.n_chi + j);
    float4 a = make_float4(0, 0, 0, 0), b = a;
    for (int m = 0; m < 4; m++, q += 2 * (size_t)p.n_chi) {
        const float4 x = q[0], y = q[1];
        a.x = fmaf(w[m], x.x, a.x), a.y = fmaf(w[m], x.y, a.y);
        a.z = fmaf(w[m], x.z, a.z), a.w = fmaf(w[m], x.w, a.w);
        b.x = fmaf(w[m], y.x, b.x), b.y = fmaf(w[m], y.y, b.y);
        b.z = fmaf(w[m], y.z, b.z), b.w = fmaf(w[m], y.w, b.w);
    }
    return make_float2(fmaf(fmaf(fmaf(b.z, t, b.x), t, a.z), t, a.x),
                       fmaf(fmaf(fmaf(b.w, t, b.y), t, a.w), t, a.y));
}

// A warp an element. Whole turns of the phase leave in float64: hundreds of them are nothing
// unusual.
__global__ void __launch_bounds__(THREADS)
    source_kernel(const TwsmRayRule rule, const TwsmPieces pieces, const float4 *place,
                  const float4 *normal, int n, int padded, int k0, int n_k, int stride, float2 *u)
{
    const int j = (blockIdx.x * THREADS + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (j >= padded)
        return;
    const float4 at = place[j], dir = normal[j];
    const TwsmRay ray = twsm_ray(&rule, at.x, at.y, at.z, dir.x, dir.y, dir.z, dir.w);
    const bool lit = j < n && ray.amp != 0;
    float w[4];
    float2 c = make_float2(0, 0);
    double base = 0;
    int row = 0;
    if (lit && rule.first == TWSM_FIRST_EFFECTIVE) {
        base = log(6.283185307179586 * ray.turns / TWSM_CHI_MIN) / TWSM_CHI_STEP;
        row = twsm_pieces_cosine(&pieces, ray.cos1, w);
    } else if (lit) {
        double re, im = 0;
        if (rule.first == TWSM_FIRST_PLANE)
            twsm_contact_plane(&rule.contact, ray.cos1, &re, &im);
        else
            re = twsm_contact_frozen(&rule.contact, ray.cos1);
        c = make_float2((float)re, (float)im);
    }
    for (int k = lane; k < stride; k += 32) {
        float2 v = make_float2(0, 0);
        if (lit && k < n_k) {
            if (rule.first == TWSM_FIRST_EFFECTIVE)
                c = look_up(pieces, row, w, base + log((double)(k0 + k)) / TWSM_CHI_STEP);
            const double turns = (k0 + k) * ray.turns;
            const float amp = (float)ray.amp;
            float re, im;
            sincospif(2 * (float)(turns - rint(turns)), &im, &re);
            v = make_float2(amp * (re * c.x - im * c.y), amp * (re * c.y + im * c.x));
        }
        u[(size_t)j * stride + k] = v;
    }
}

__host__ __device__ unsigned blocks_of_time(int n)
{
    return (n + TIMES - 1) / TIMES;
}

// p(t) = scale exp(fall t) Re sum_k W_k P_k exp(-2 pi i k t / n): a thread a sample of TRACES
// traces. Blocks of the same traces follow each other, for their spectra are in the cache then.
__global__ void __launch_bounds__(TIMES)
    trace_kernel(const float2 *spectra, long long n_traces, int n_k, const double2 *wavelet,
                 const double2 *turn, int n, double scale, double fall, float *out)
{
    __shared__ double2 part[PART][TRACES];
    const unsigned times = blocks_of_time(n);
    const int t = blockIdx.x % times * TIMES + threadIdx.x;
    const long long first = (long long)(blockIdx.x / times) * TRACES;
    double sum[TRACES] = {};
    for (int from = 0; from < n_k; from += PART) {
        __syncthreads();
        for (int e = threadIdx.x; e < PART * TRACES; e += TIMES) {
            const int k = from + e % PART;
            const long long r = first + e / PART;
            double2 p = make_double2(0, 0);
            if (k < n_k && r < n_traces) {
                const float2 s = spectra[(size_t)r * n_k + k];
                const double2 w = wavelet[k];
                p = make_double2(w.x * s.x - w.y * s.y, w.x * s.y + w.y * s.x);
            }
            part[e % PART][e / PART] = p;
        }
        __syncthreads();
        if (t >= n)
            continue;
        int at = (int)((long long)(from + 1) * t % n);
        for (int k = 0; k < PART; k++) {
            const double2 c = turn[at];
#pragma unroll
            for (int r = 0; r < TRACES; r++)
                sum[r] = fma(part[k][r].x, c.x, fma(part[k][r].y, c.y, sum[r]));
            at += t;
            at -= at >= n ? n : 0;
        }
    }
    if (t >= n)
        return;
    const double rise = scale * exp(fall * t);
#pragma unroll
    for (int r = 0; r < TRACES; r++)
        if (first + r < n_traces)
            out[(size_t)(first + r) * n + t] = (float)(sum[r] * rise);
}

} // namespace

int litho_twsm_source(const TwsmRayRule *rule, const TwsmPieces *pieces, const void *place,
                      const void *normal, int n, int padded, int k0, int n_k, int stride, void *u,
                      cudaStream_t stream)
{
    const unsigned blocks = (unsigned)(((long long)padded * 32 + THREADS - 1) / THREADS);
    source_kernel<<<blocks, THREADS, 0, stream>>>(*rule, *pieces, (const float4 *)place,
                                                  (const float4 *)normal, n, padded, k0, n_k,
                                                  stride, (float2 *)u);
    return (int)cudaGetLastError();
}

int litho_twsm_traces(const void *spectra, long long n_traces, int n_k, const void *wavelet,
                      const void *turn, int n_time, double scale, double fall, float *out,
                      cudaStream_t stream)
{
    // One axis, since the others end at 65,535 blocks: traces come by the million.
    const unsigned blocks = (unsigned)((n_traces + TRACES - 1) / TRACES) * blocks_of_time(n_time);
    trace_kernel<<<blocks, TIMES, 0, stream>>>((const float2 *)spectra, n_traces, n_k,
                                               (const double2 *)wavelet, (const double2 *)turn,
                                               n_time, scale, fall, out);
    return (int)cudaGetLastError();
}
