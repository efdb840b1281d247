// SPDX-License-Identifier: GPL-3.0-or-later
//
// Frames of filling on the device: one block a trace. All of it moves memory only.
#include "kernels/patch/cuda/device.cuh"

__global__ void frame_kernel(const float *in, LithoPatchBox held, const unsigned char *live,
                             LithoPatchBox frame, float *x, unsigned char *missing)
{
    const long long trace = (long long)blockIdx.y * gridDim.x + blockIdx.x;
    if (trace >= frame.n[0] * frame.n[1])
        return;
    const long long il = frame.lo[0] + trace / frame.n[1], xl = frame.lo[1] + trace % frame.n[1];
    const long long at = trace_at(held, il, xl);
    const float *from = in + at * held.n[2] + frame.lo[2] - held.lo[2];
    int bad = !live[at];
    for (long long k = threadIdx.x; !bad && k < frame.n[2]; k += THREADS)
        bad = !(from[k] - from[k] == 0);
    bad = __syncthreads_or(bad);
    for (long long k = threadIdx.x; k < frame.n[2]; k += THREADS)
        x[trace * frame.n[2] + k] = bad ? 0 : from[k];
    if (threadIdx.x == 0)
        missing[trace] = bad != 0;
}

__global__ void move_kernel(LithoPatchBox frame, const unsigned char *missing, const float *y,
                            float *z, float *x)
{
    const long long trace = (long long)blockIdx.y * gridDim.x + blockIdx.x;
    if (trace >= frame.n[0] * frame.n[1] || !missing[trace])
        return;
    for (long long k = threadIdx.x; k < frame.n[2]; k += THREADS) {
        const long long at = trace * frame.n[2] + k;
        if (z) {
            z[at] = LITHO_PATCH_MOMENTUM * z[at] + LITHO_PATCH_STEP * (y[at] - x[at]);
            x[at] += z[at];
        } else {
            x[at] = y[at];
        }
    }
}

__global__ void write_kernel(LithoPatchBox frame, const float *x, const float *raw,
                             LithoPatchBox held, const unsigned char *live, LithoPatchBox part,
                             float *out, LithoPatchBox out_held, unsigned char *filled)
{
    const long long trace = (long long)blockIdx.y * gridDim.x + blockIdx.x;
    if (trace >= part.n[0] * part.n[1])
        return;
    const long long il = part.lo[0] + trace / part.n[1], xl = part.lo[1] + trace % part.n[1];
    const float *from = x + trace_at(frame, il, xl) * frame.n[2];
    if (raw && live[trace_at(held, il, xl)]) { // the same for all threads of the block
        const float *recorded =
            raw + trace_at(held, il, xl) * held.n[2] + frame.lo[2] - held.lo[2];
        int bad = 0;
        for (long long k = threadIdx.x; k < frame.n[2]; k += THREADS)
            bad |= !(recorded[k] - recorded[k] == 0);
        from = __syncthreads_or(bad) ? from : recorded;
    }
    float *to = out + trace_at(out_held, il, xl) * out_held.n[2];
    int any = 0;
    for (long long k = threadIdx.x; k < frame.n[2]; k += THREADS)
        any |= from[k] != 0;
    for (long long k = threadIdx.x; k < part.n[2]; k += THREADS)
        to[part.lo[2] + k - out_held.lo[2]] = from[part.lo[2] + k - frame.lo[2]];
    any = __syncthreads_or(any);
    if (threadIdx.x == 0)
        filled[trace] = any != 0;
}

static dim3 traces_grid(const LithoPatchBox *b)
{
    const long long n = b->n[0] * b->n[1], across = n < 65535 ? n : 65535;
    return dim3((unsigned)across, (unsigned)((n + across - 1) / across));
}

int litho_patch_frame(const float *in, LithoPatchBox held, const unsigned char *live,
                      LithoPatchBox frame, float *x, unsigned char *missing, cudaStream_t stream)
{
    frame_kernel<<<traces_grid(&frame), THREADS, 0, stream>>>(in, held, live, frame, x, missing);
    return (int)cudaGetLastError();
}

int litho_patch_move(LithoPatchBox frame, const unsigned char *missing, const float *y, float *z,
                     float *x, cudaStream_t stream)
{
    move_kernel<<<traces_grid(&frame), THREADS, 0, stream>>>(frame, missing, y, z, x);
    return (int)cudaGetLastError();
}

int litho_patch_write(LithoPatchBox frame, const float *x, const float *raw, LithoPatchBox held,
                      const unsigned char *live, LithoPatchBox part, float *out,
                      LithoPatchBox out_held, unsigned char *filled, cudaStream_t stream)
{
    write_kernel<<<traces_grid(&part), THREADS, 0, stream>>>(frame, x, raw, held, live, part, out,
                                                             out_held, filled);
    return (int)cudaGetLastError();
}
