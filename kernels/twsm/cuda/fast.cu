// SPDX-License-Identifier: GPL-3.0-or-later
//
// algorithm=fast on the device: blocks of two distant clusters through a few nodes (clusters.h),
// near blocks pair by pair. A lane is one of 32 frequencies, so every weight, distance and
// amplitude is the same for a warp, fields are read in whole lines, and beams need no recurrence:
// their phases relative to the clusters' centres are small, and the special function units make
// them.
//
// A block of eight warps owns a target cluster and 32 frequencies. Each warp takes another source
// cluster: it gathers the field on that cluster's nodes (rows of cells first, then columns) and
// carries it to the target's nodes. Then each warp spreads all eight onto its own sixteen elements,
// whose sums stay in registers. From 6 x 6 nodes on two warps share a cluster.
//
// Per block of clusters, node count m and frequency: 2 x 128 (10 + 2 m) + 2 x 32 m^2 + 11 m^4
// instructions, 9,600 at m = 4, where 128 x 128 pairs take 131,000; 4 x 128 + 2 m^4 of them are
// special functions, which run at an eighth of the rate and are the limit.
#include "kernels/twsm/cuda/device.cuh"

namespace
{

enum {
    SIDE = TWSM_GPU_SIDE,
    CLUSTER = TWSM_GPU_CLUSTER,
    CLASSES = TWSM_GPU_CLASSES,
    BAND = 32,
    WARPS = 8,
    OWN = CLUSTER / WARPS, // target elements of a warp: two rows of cells of one kind
    NODE_ROWS = 4 * 64,    // nodes of all clusters under way: four of 8 x 8, or eight of 5 x 5
    AXIS_NODES = 8,        // row of the weights
    AXIS_ROWS = 2 * SIDE,
    WEIGHTS = 2 * 2 * (TWSM_MAX_NODES - 1) * AXIS_ROWS * AXIS_NODES,
};

// Cells of a cluster: where it begins in the mesh, and how many there are.
struct Patch {
    int x, y, nx, ny;
};

__device__ __forceinline__ Patch patch_of(const TwsmGpuClusters &c, int cluster)
{
    Patch p;
    p.x = cluster % c.n_x * SIDE, p.y = cluster / c.n_x * SIDE;
    p.nx = min(SIDE, c.cells_x - p.x), p.ny = min(SIDE, c.cells_y - p.y);
    return p;
}

// Element `e` of a cluster in the order [kind][row][cell]; places that the last clusters of a row
// do not have give the nearest one that exists.
__device__ __forceinline__ int element_of(const TwsmGpuClusters &c, const Patch &p, int e)
{
    int cx = min(e % SIDE, p.nx - 1), cy = min(e / SIDE % SIDE, p.ny - 1);
    return 2 * ((p.y + cy) * c.cells_x + p.x + cx) + e / (SIDE * SIDE);
}

__device__ __forceinline__ float distance(float4 a, const TwsmSquare &b)
{
    float x = a.x - b.centre[0], y = a.y - b.centre[1], z = a.z - b.centre[2];
    return sqrtf(x * x + y * y + z * z);
}

__device__ __forceinline__ float2 times(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

__device__ __forceinline__ void add(float2 &sum, float2 a, float2 b)
{
    sum.x = fmaf(a.x, b.x, fmaf(-a.y, b.y, sum.x));
    sum.y = fmaf(a.x, b.y, fmaf(a.y, b.x, sum.y));
}

__device__ __forceinline__ void add(float2 &sum, float w, float2 b)
{
    sum.x = fmaf(w, b.x, sum.x);
    sum.y = fmaf(w, b.y, sum.y);
}

// exp(i x) for a few radians: absolute error 1e-6.
__device__ __forceinline__ float2 turn(float x)
{
    return make_float2(__cosf(x), __sinf(x));
}

// exp(2 pi i k t) of a whole way.
__device__ __forceinline__ float2 long_turn(float k, float t)
{
    return turn(6.28318530717958648f * fmaf(k, t, -twsm_round(k * t)));
}

// --- partners ---------------------------------------------------------------------------------

// A warp per target cluster and band. Two passes, count and place, keep the order of clusters
// within a class: sums then have one order.
__global__ void partners_kernel(const TwsmGpuClusters from, const TwsmGpuClusters to, float turns,
                                TwsmClusterRule rule, int k0, int n_bands, int k_last, int first,
                                int count, int *list, int *start, unsigned long long *direct)
{
    int job = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (job >= n_bands * count)
        return;
    int band = job / count, i = first + job % count, k = min(k0 + BAND * band + BAND - 1, k_last);
    int at[CLASSES] = {0};
    unsigned long long pairs = 0;
    list += (size_t)job * from.n;
    start += (size_t)job * (CLASSES + 1);
    const Patch mine = patch_of(to, i);
    for (int pass = 0; pass < 2; pass++) {
        for (int j0 = 0; j0 < from.n; j0 += 32) {
            int j = j0 + lane, nodes = 0;
            if (j < from.n) {
                nodes = twsm_square_rule(turns, rule, &to.square[i], &from.square[j], k);
                const Patch p = patch_of(from, j);
                pairs += pass == 0 && nodes == 0 ? 4ull * p.nx * p.ny * mine.nx * mine.ny : 0;
            }
            int kind = j >= from.n ? -1 : nodes ? TWSM_MAX_NODES - nodes : CLASSES - 1;
#pragma unroll
            for (int c = 0; c < CLASSES; c++) {
                unsigned who = __ballot_sync(~0u, kind == c);
                if (pass && kind == c)
                    list[at[c] + __popc(who & ((1u << lane) - 1))] = j;
                at[c] += __popc(who);
            }
        }
        if (pass)
            break;
        for (int c = 0, sum = 0; c < CLASSES; c++) {
            int n = at[c];
            at[c] = sum;
            sum += n;
        }
        if (lane == 0) {
            for (int c = 0; c < CLASSES; c++)
                start[c] = at[c];
            start[CLASSES] = from.n;
        }
    }
    for (int d = 16; d > 0; d /= 2)
        pairs += __shfl_xor_sync(~0u, pairs, d);
    if (lane == 0 && pairs)
        atomicAdd(direct, pairs);
}

__global__ void cluster_field_kernel(const TwsmGpuLeg leg, const TwsmGpuClusters from,
                                     const float2 *__restrict__ u, int stride, float2 *out)
{
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    int k = (int)(at % stride), e = (int)(at / stride % CLUSTER);
    long long cluster = at / stride / CLUSTER;
    if (cluster >= from.n)
        return;
    const Patch p = patch_of(from, (int)cluster);
    int j = element_of(from, p, e);
    float area = e % SIDE < p.nx && e / SIDE % SIDE < p.ny ? ((const float4 *)leg.from)[j].w : 0;
    float2 v = u[(size_t)j * stride + k];
    out[at] = make_float2(area * v.x, area * v.y);
}

// --- sums -------------------------------------------------------------------------------------

// Shared memory of a block.
struct Shared {
    float weights[2][WEIGHTS];    // of the sending and the receiving mesh
    float2 node[NODE_ROWS][BAND]; // fields on the target's nodes, cluster after cluster
    float gather[WARPS][CLUSTER]; // phase per frequency, radians: source element to target's centre
    float sent[WARPS][CLUSTER];   // twsm_facet_factor() of source elements
    float scatter[WARPS][CLUSTER]; // source's centre to target element; of a cluster
    float4 beam[WARPS][32];        // phase per frequency, amplitude (complex) of pairs under way
};

// Place of a warp.
struct Place {
    const TwsmGpuLeg &leg;
    const TwsmGpuClusters &from, &to;
    const float2 *field; // of this lane's frequency, element 0 of cluster 0
    int stride, target, warp, lane;
    float k;
    Patch patch;
};

template <int M>
__device__ __forceinline__ const float *weights_of(const float *weights, int axis, bool last)
{
    return weights + ((axis * 2 + last) * (TWSM_MAX_NODES - 1) + M - 2) * AXIS_ROWS * AXIS_NODES;
}

template <int M> __device__ __forceinline__ void load_weights(const float *row, float w[M])
{
#pragma unroll
    for (int m = 0; m < M; m++)
        w[m] = row[m];
}

// Phases of both ends relative to the distance of the centres, by all lanes. `slot` is the
// cluster's place among those under way, or -1: another warp does the target's.
__device__ __forceinline__ void measure(const Place &p, int j, int slot, Shared &sh)
{
    const TwsmSquare &a = p.to.square[p.target], &b = p.from.square[j];
    const float4 centre = make_float4(a.centre[0], a.centre[1], a.centre[2], 0);
    const float r0 = distance(centre, b), scale = 6.28318530717958648f * p.leg.pair.turns;
    const Patch source = patch_of(p.from, j);
    for (int e = p.lane; e < CLUSTER; e += 32) {
        const int own = element_of(p.from, source, e);
        float4 s = ((const float4 *)p.leg.from)[own];
        float4 n = ((const float4 *)p.leg.from_normal)[own];
        float4 smooth = ((const float4 *)p.from.smooth)[own];
        sh.gather[p.warp][e] = scale * (distance(s, a) - r0);
        sh.sent[p.warp][e] =
            twsm_facet_factor(p.leg.pair.side, n.x, n.y, n.z, smooth.x, smooth.y, smooth.z,
                              a.centre[0] - s.x, a.centre[1] - s.y, a.centre[2] - s.z);
        if (slot < 0)
            continue;
        float4 t = ((const float4 *)p.leg.to)[element_of(p.to, p.patch, e)];
        sh.scatter[slot][e] = scale * (distance(t, b) - r0);
    }
    __syncwarp();
}

// Field of cluster j on NY rows of its M x M nodes from row Y0 on, as seen from the target's
// centre.
template <int M, int Y0, int NY>
__device__ __forceinline__ void gather(const Place &p, int j, const Shared &sh, float2 v[NY * M])
{
    const Patch source = patch_of(p.from, j);
    const float *wx = weights_of<M>(sh.weights[0], 0, j % p.from.n_x == p.from.n_x - 1);
    const float *wy = weights_of<M>(sh.weights[0], 1, source.y + SIDE >= p.from.cells_y);
    const float2 *u = p.field + (size_t)j * CLUSTER * p.stride;
#pragma unroll
    for (int m = 0; m < NY * M; m++)
        v[m] = make_float2(0, 0);
#pragma unroll 1
    for (int row = 0; row < 2 * SIDE; row++) {
        int kind = row / SIDE, cy = row % SIDE;
        float2 sum[M];
        float w[M];
#pragma unroll
        for (int m = 0; m < M; m++)
            sum[m] = make_float2(0, 0);
#pragma unroll
        for (int cx = 0; cx < SIDE; cx++) {
            float2 z = times(turn(p.k * sh.gather[p.warp][row * SIDE + cx]),
                             u[(size_t)(row * SIDE + cx) * p.stride]);
            float sent = sh.sent[p.warp][row * SIDE + cx];
            z = make_float2(sent * z.x, sent * z.y);
            load_weights<M>(wx + (2 * cx + kind) * AXIS_NODES, w);
#pragma unroll
            for (int m = 0; m < M; m++)
                add(sum[m], w[m], z);
        }
        load_weights<M>(wy + (2 * cy + kind) * AXIS_NODES, w);
#pragma unroll
        for (int m = 0; m < NY * M; m++)
            add(v[m], w[Y0 + m / M], sum[m % M]);
    }
}

// From nodes FIRST .. FIRST + N - 1 of j to the target's nodes lo .. hi - 1, without the phases of
// both ends; the way between the centres is in `v` then. Writes to `out`, or adds for FIRST > 0.
template <int M, int FIRST, int N>
__device__ __forceinline__ void translate(const Place &p, int j, int lo, int hi, Shared &sh,
                                          float2 v[N], float2 (*out)[BAND])
{
    enum { ROWS = 32 / N };
    const TwsmSquare &a = p.to.square[p.target], &b = p.from.square[j];
    const float turns = p.leg.pair.turns;
    const float r0 = distance(make_float4(a.centre[0], a.centre[1], a.centre[2], 0), b);
    const int nodes = twsm_nodes_first(M);
    const float4 *x = (const float4 *)p.to.node + 2 * ((size_t)p.target * TWSM_ALL_NODES + nodes);
    const float4 *y =
        (const float4 *)p.from.node + 2 * ((size_t)j * TWSM_ALL_NODES + nodes + FIRST);
    const float2 way = long_turn(p.k, r0 * turns);
#pragma unroll
    for (int m = 0; m < N; m++)
        v[m] = times(v[m], way);
#pragma unroll 1
    for (int row = lo; row < hi; row += ROWS) {
        int to = min(row + p.lane / N, hi - 1), from = p.lane % N;
        float4 beam;
        twsm_device_pair<false>(p.leg, y[2 * from], y[2 * from + 1], x[2 * to], x[2 * to + 1],
                                &beam.x, &beam.y, &beam.z);
        float known = distance(x[2 * to], b) + distance(y[2 * from], a) - r0;
        beam.x = 6.28318530717958648f * (beam.x - known * turns);
        __syncwarp();
        sh.beam[p.warp][p.lane] = beam;
        __syncwarp();
#pragma unroll 1
        for (int r = 0; r < ROWS && row + r < hi; r++) {
            float2 sum = FIRST ? out[row + r][p.lane] : make_float2(0, 0);
#pragma unroll
            for (int m = 0; m < N; m++) {
                float4 z = sh.beam[p.warp][r * N + m];
                add(sum, times(make_float2(z.y, z.z), turn(p.k * z.x)), v[m]);
            }
            out[row + r][p.lane] = sum;
        }
    }
}

// Cluster j to the target's nodes lo .. hi - 1, through NY rows of its own nodes.
template <int M, int Y0, int NY>
__device__ __forceinline__ void through(const Place &p, int j, int lo, int hi, Shared &sh,
                                        float2 (*out)[BAND])
{
    float2 v[NY * M];
    gather<M, Y0, NY>(p, j, sh, v);
    translate<M, Y0 * M, NY * M>(p, j, lo, hi, sh, v, out);
}

// From the target's nodes to this warp's elements, for the clusters of `n` warps.
template <int M>
__device__ __forceinline__ void spread(const Place &p, int n, const Shared &sh, float2 y[OWN])
{
    const int row = 2 * p.warp, kind = row / SIDE, cy = row % SIDE;
    const float *wx = weights_of<M>(sh.weights[1], 0, p.target % p.to.n_x == p.to.n_x - 1);
    const float *wy = weights_of<M>(sh.weights[1], 1, p.patch.y + SIDE >= p.to.cells_y);
#pragma unroll 1
    for (int from = 0; from < n; from++) {
        float2 sum[2][M];
#pragma unroll
        for (int m = 0; m < M; m++)
            sum[0][m] = sum[1][m] = make_float2(0, 0);
#pragma unroll
        for (int m = 0; m < M * M; m++) {
            float2 z = sh.node[from * M * M + m][p.lane];
            add(sum[0][m % M], wy[(2 * cy + kind) * AXIS_NODES + m / M], z);
            add(sum[1][m % M], wy[(2 * cy + 2 + kind) * AXIS_NODES + m / M], z);
        }
#pragma unroll
        for (int cx = 0; cx < SIDE; cx++) {
            float w[M];
            load_weights<M>(wx + (2 * cx + kind) * AXIS_NODES, w);
#pragma unroll
            for (int r = 0; r < 2; r++) {
                float2 z = make_float2(0, 0);
#pragma unroll
                for (int m = 0; m < M; m++)
                    add(z, w[m], sum[r][m]);
                add(y[r * SIDE + cx], turn(p.k * sh.scatter[from][(row + r) * SIDE + cx]), z);
            }
        }
    }
}

// All source clusters of one class. More than 32 nodes are too many for registers: two warps share
// a cluster then, each carries it to one half of the target's nodes, through one half of the
// source's after the other.
template <int M>
__device__ __forceinline__ void far_clusters(const Place &p, const int *list, int n, Shared &sh,
                                             float2 y[OWN])
{
    constexpr bool HALVES = M * M > 32;
    constexpr int SLOTS = HALVES ? WARPS / 2 : WARPS;
    const int slot = p.warp % SLOTS, half = p.warp / SLOTS;
    float2(*out)[BAND] = &sh.node[slot * M * M];
    for (int at = 0; at < n; at += SLOTS) {
        if (at + slot < n) {
            int j = list[at + slot];
            measure(p, j, half ? -1 : slot, sh);
            if constexpr (HALVES) {
                int lo = half * (M * M / 2), hi = half ? M * M : M * M / 2;
                through<M, 0, (M + 1) / 2>(p, j, lo, hi, sh, out);
                through<M, (M + 1) / 2, M / 2>(p, j, lo, hi, sh, out);
            } else {
                through<M, 0, M>(p, j, 0, M * M, sh, out);
            }
        }
        __syncthreads();
        spread<M>(p, min(SLOTS, n - at), sh, y);
        __syncthreads();
    }
}

// Pairs of this warp's elements with all of cluster j. The field has the area in it already.
__device__ __forceinline__ void near_cluster(const Place &p, int j, Shared &sh, float2 y[OWN])
{
    const Patch source = patch_of(p.from, j);
    const int i = element_of(p.to, p.patch, p.warp * OWN + p.lane % OWN);
    const float4 t = ((const float4 *)p.leg.to)[i], tn = ((const float4 *)p.leg.to_normal)[i];
    const float2 *u = p.field + (size_t)j * CLUSTER * p.stride;
#pragma unroll 1
    for (int e = 0; e < CLUSTER; e += 2) {
        int from = element_of(p.from, source, e + p.lane / OWN);
        float4 s = ((const float4 *)p.leg.from)[from], beam;
        twsm_device_pair<false>(p.leg, s, ((const float4 *)p.leg.from_normal)[from], t, tn, &beam.x,
                                &beam.y, &beam.z);
        beam.y /= s.w, beam.z /= s.w;
        __syncwarp();
        sh.beam[p.warp][p.lane] = beam;
        __syncwarp();
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float2 v = u[(size_t)(e + half) * p.stride];
#pragma unroll
            for (int o = 0; o < OWN; o++) {
                float4 z = sh.beam[p.warp][half * OWN + o];
                add(y[o], times(make_float2(z.y, z.z), long_turn(p.k, z.x)), v);
            }
        }
    }
}

// MOST: nodes a side. Classes of more than five take so many registers that the others spill.
template <int MOST>
__global__ void __launch_bounds__(32 * WARPS, 2)
    clusters_kernel(const TwsmGpuLeg leg, const TwsmGpuClusters from, const TwsmGpuClusters to,
                    const float2 *__restrict__ field, int stride, int k0, int n_bands, float sig,
                    int first, int count, const int *__restrict__ list,
                    const int *__restrict__ start, float2 *__restrict__ out)
{
    extern __shared__ float4 memory[];
    Shared &sh = *(Shared *)memory;
    // High frequencies take more nodes: they begin first, so that the last blocks are short ones.
    const int band = n_bands - 1 - blockIdx.x / count, own = blockIdx.x % count;
    const int job = band * count + own, lane = threadIdx.x % 32;
    Place p = {leg,
               from,
               to,
               field + band * BAND + lane,
               stride,
               first + own,
               (int)threadIdx.x / 32,
               lane,
               (float)(k0 + band * BAND + lane),
               patch_of(to, first + own)};
    for (int e = threadIdx.x; e < WEIGHTS; e += blockDim.x) {
        sh.weights[0][e] = from.weights[e];
        sh.weights[1][e] = to.weights[e];
    }
    __syncthreads();
    list += (size_t)job * from.n;
    start += (size_t)job * (CLASSES + 1);
    float2 y[OWN];
#pragma unroll
    for (int o = 0; o < OWN; o++)
        y[o] = make_float2(0, 0);
    if constexpr (MOST > 5) {
        far_clusters<8>(p, list + start[0], start[1] - start[0], sh, y);
        far_clusters<7>(p, list + start[1], start[2] - start[1], sh, y);
        far_clusters<6>(p, list + start[2], start[3] - start[2], sh, y);
    }
    far_clusters<5>(p, list + start[3], start[4] - start[3], sh, y);
    far_clusters<4>(p, list + start[4], start[5] - start[4], sh, y);
    far_clusters<3>(p, list + start[5], start[6] - start[5], sh, y);
    far_clusters<2>(p, list + start[6], start[7] - start[6], sh, y);
    for (int at = start[7]; at < start[8]; at++)
        near_cluster(p, list[at], sh, y);
#pragma unroll
    for (int o = 0; o < OWN; o++) {
        int e = p.warp * OWN + o;
        if (e % SIDE >= p.patch.nx || e / SIDE % SIDE >= p.patch.ny)
            continue;
        int i = element_of(to, p.patch, e);
        float taper = ((const float4 *)leg.to_normal)[i].w;
        out[(size_t)i * stride + band * BAND + lane] = make_float2(
            taper * (-sig * y[o].x - p.k * y[o].y), taper * (p.k * y[o].x - sig * y[o].y));
    }
}

} // namespace

// --- launchers --------------------------------------------------------------------------------

int litho_twsm_partners(const TwsmGpuClusters *from, const TwsmGpuClusters *to, float turns,
                        TwsmClusterRule rule, int k0, int n_k, int k_last, int first, int count,
                        void *list, void *start, void *direct, cudaStream_t stream)
{
    int n_bands = n_k / BAND, per_block = 4;
    partners_kernel<<<(n_bands * count + per_block - 1) / per_block, 32 * per_block, 0, stream>>>(
        *from, *to, turns, rule, k0, n_bands, k_last, first, count, (int *)list, (int *)start,
        (unsigned long long *)direct);
    return (int)cudaGetLastError();
}

int litho_twsm_cluster_field(const TwsmGpuLeg *leg, const TwsmGpuClusters *from, const void *u,
                             int stride, void *out, cudaStream_t stream)
{
    long long values = (long long)from->n * CLUSTER * stride;
    cluster_field_kernel<<<(unsigned)((values + 255) / 256), 256, 0, stream>>>(
        *leg, *from, (const float2 *)u, stride, (float2 *)out);
    return (int)cudaGetLastError();
}

template <int MOST>
static int launch_clusters(const TwsmGpuLeg *leg, const TwsmGpuClusters *from,
                           const TwsmGpuClusters *to, const void *field, int stride, int k0,
                           int n_k, float sig, int first, int count, const void *list,
                           const void *start, void *y, cudaStream_t stream)
{
    cudaError_t status = cudaFuncSetAttribute(
        clusters_kernel<MOST>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(Shared));
    if (status != cudaSuccess)
        return (int)status;
    clusters_kernel<MOST><<<n_k / BAND * count, 32 * WARPS, sizeof(Shared), stream>>>(
        *leg, *from, *to, (const float2 *)field, stride, k0, n_k / BAND, sig, first, count,
        (const int *)list, (const int *)start, (float2 *)y);
    return (int)cudaGetLastError();
}

int litho_twsm_clusters(const TwsmGpuLeg *leg, const TwsmGpuClusters *from,
                        const TwsmGpuClusters *to, const void *field, int stride, int k0, int n_k,
                        float sig, int first, int count, int most, const void *list,
                        const void *start, void *y, cudaStream_t stream)
{
    return (most > 5 ? launch_clusters<TWSM_MAX_NODES>
                     : launch_clusters<5>)(leg, from, to, field, stride, k0, n_k, sig, first, count,
                                           list, start, y, stream);
}
