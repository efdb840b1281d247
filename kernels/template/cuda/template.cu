// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/template/cuda/kernels.h"

enum { THREADS = 256 };

__device__ static long long trace_at(const LithoTemplateBox &b, long long i, long long j)
{
    return (i - b.lo[0]) * b.n[1] + (j - b.lo[1]);
}

// One thread a sample. Floor: 4 (2h + 1) bytes read (from L2 but for one inline) and 4 written a
// sample, 2h + 1 additions. The order of additions is the CPU's, so results agree to the last bit.
static __global__ void mean_kernel(float *out, LithoTemplateBox b, long long first, long long count,
                            const float *in, const unsigned char *live, LithoTemplateBox a,
                            long long n_inline, int h)
{
    const long long k = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (k >= count * b.n[1] * b.n[2])
        return;
    const long long t = b.lo[2] + k % b.n[2];
    const long long j = b.lo[1] + k / b.n[2] % b.n[1];
    const long long i = first + k / (b.n[2] * b.n[1]);
    float sum = 0;
    int used = 0;
    for (long long q = max(i - h, 0LL); q <= min(i + h, n_inline - 1); q++) {
        const long long trace = trace_at(a, q, j);
        if (!live[trace])
            continue;
        sum += in[trace * a.n[2] + t - a.lo[2]];
        used++;
    }
    out[trace_at(b, i, j) * b.n[2] + t - b.lo[2]] = used > 1 ? sum / used : sum;
}

// Floor: 4 bytes read, 4 written a sample.
static __global__ void gain_kernel(float *out, LithoTemplateBox b, const float *mean, LithoTemplateBox a,
                            LithoTemplateBox r, float gain)
{
    const long long k = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (k >= r.n[0] * r.n[1] * r.n[2])
        return;
    const long long t = r.lo[2] + k % r.n[2];
    const long long j = r.lo[1] + k / r.n[2] % r.n[1];
    const long long i = r.lo[0] + k / (r.n[2] * r.n[1]);
    out[trace_at(b, i, j) * b.n[2] + t - b.lo[2]] =
        gain * mean[trace_at(a, i, j) * a.n[2] + t - a.lo[2]];
}

static unsigned blocks_for(long long n)
{
    return (unsigned)((n + THREADS - 1) / THREADS);
}

int litho_template_mean(float *out, LithoTemplateBox b, long long first, long long count,
                        const float *in, const unsigned char *live, LithoTemplateBox a,
                        long long n_inline, int h, cudaStream_t stream)
{
    mean_kernel<<<blocks_for(count * b.n[1] * b.n[2]), THREADS, 0, stream>>>(
        out, b, first, count, in, live, a, n_inline, h);
    return (int)cudaGetLastError();
}

int litho_template_gain(float *out, LithoTemplateBox b, const float *mean, LithoTemplateBox a,
                        LithoTemplateBox r, float gain, cudaStream_t stream)
{
    gain_kernel<<<blocks_for(r.n[0] * r.n[1] * r.n[2]), THREADS, 0, stream>>>(out, b, mean, a, r,
                                                                              gain);
    return (int)cudaGetLastError();
}
