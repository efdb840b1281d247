// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/template/cuda/kernels.h"

enum { THREADS = 256 };

__device__ static long long trace_at(const LithoTemplateBox &b, long long i, long long j)
{
    return (i - b.lo[0]) * b.n[1] + (j - b.lo[1]);
}

// One thread a sample. Floor: 4 (2h + 1) bytes read (from L2 but for one inline) and 4 written a
// sample, 2h + 1 additions. The order of additions is the CPU's, so results agree to the last bit.
static __global__ void mean_kernel(LithoTemplateMean m)
{
    const LithoTemplateBox &b = m.out_box, &a = m.in_box;
    const long long k = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (k >= m.count * b.n[1] * b.n[2])
        return;
    const long long t = b.lo[2] + k % b.n[2];
    const long long j = b.lo[1] + k / b.n[2] % b.n[1];
    const long long i = m.first + k / (b.n[2] * b.n[1]);
    float sum = 0;
    int used = 0;
    for (long long q = max(i - m.halfwidth, 0LL); q <= min(i + m.halfwidth, m.n_inline - 1); q++) {
        const long long trace = trace_at(a, q, j);
        if (!m.live[trace])
            continue;
        sum += m.in[trace * a.n[2] + t - a.lo[2]];
        used++;
    }
    m.out[trace_at(b, i, j) * b.n[2] + t - b.lo[2]] = used > 1 ? sum / used : sum;
}

// Floor: 4 bytes read, 4 written a sample.
static __global__ void gain_kernel(LithoTemplateGain g)
{
    const LithoTemplateBox &b = g.out_box, &a = g.mean_box, &r = g.region;
    const long long k = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (k >= r.n[0] * r.n[1] * r.n[2])
        return;
    const long long t = r.lo[2] + k % r.n[2];
    const long long j = r.lo[1] + k / r.n[2] % r.n[1];
    const long long i = r.lo[0] + k / (r.n[2] * r.n[1]);
    g.out[trace_at(b, i, j) * b.n[2] + t - b.lo[2]] =
        g.gain * g.mean[trace_at(a, i, j) * a.n[2] + t - a.lo[2]];
}

static unsigned blocks_for(long long n)
{
    return (unsigned)((n + THREADS - 1) / THREADS);
}

int litho_template_mean(const LithoTemplateMean *task, cudaStream_t stream)
{
    const long long n = task->count * task->out_box.n[1] * task->out_box.n[2];
    mean_kernel<<<blocks_for(n), THREADS, 0, stream>>>(*task);
    return (int)cudaGetLastError();
}

int litho_template_gain(const LithoTemplateGain *task, cudaStream_t stream)
{
    const long long n = task->region.n[0] * task->region.n[1] * task->region.n[2];
    gain_kernel<<<blocks_for(n), THREADS, 0, stream>>>(*task);
    return (int)cudaGetLastError();
}
