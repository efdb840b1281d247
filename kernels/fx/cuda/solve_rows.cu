// SPDX-License-Identifier: GPL-3.0-or-later
//
// From normal equations to filters for blocks of 3 x 3, 5 x 5 and 7 x 7 traces: Cholesky with the
// matrix in registers, eight threads a system, four systems a warp. A thread has every
// eighth row, so that all of them have work until the end; a panel of four columns goes through
// shared memory once, where every number of it is read by all eight threads at a time and serves up
// to six rows. The right-hand side is one more row, spread over the threads. The panel's own
// factor, which all threads compute alike, serves four systems.
//
// Windows at the survey's edge need columns of the inverse, two a one-sided filter (fx.md section
// 5): a thread takes one of them, eight unknowns at a time, with the factor in shared memory. Loops
// there are rolled: the code of the factor fills the cache for instructions.
//
// 49^3 / 3 operations a factor and 2 * 49^2 a solution; three of each where prewhitening is
// automatic. 5.8 kB read and 0.4 kB written a system.
#include <cuda_pipeline.h>

#include "kernels/fx/cuda/solve.cuh"

enum { LANES = 8, SYSTEMS = 32 / LANES };

// A system's shared memory in floats. Pitches of 8 or 24 modulo 32 keep the four systems of a warp
// off each other's banks.
template <int SLOTS> struct Floats {
    enum {
        N = LANES * SLOTS, // unknowns
        ROUNDED = N + 4,   // litho_fx_round4(N + 1)
        MATRIX = ROUNDED * (ROUNDED / 4 + 1) * 2, // litho_fx_packed_size(ROUNDED)
        PANEL = MATRIX,                           // [row][4]
        RIGHT = PANEL + 4 * (N > 28 ? N : 28),    // right-hand side of a panel's rows
        ROOTS = RIGHT + 4,                        // reciprocals of the factor's diagonal
        USED = ROOTS + N,
        PITCH = (USED + 7) / 8 * 8 + ((USED + 7) / 8 % 2 == 0 ? 8 : 0),
        LAST = LANES * LANES / 2 * SLOTS * (SLOTS + 1), // the factor's last row, see keep_factor()
    };
};

// A thread's part of a system: rows LANES s + lane up to column LANES s + LANES - 1, and numbers
// LANES s + lane of the right-hand side. Above the diagonal stands what nobody reads.
template <int SLOTS> struct Rows {
    float a[LANES / 2 * SLOTS * (SLOTS + 1)], right[SLOTS];
    float *shared; // of the system
    int lane;      // of the system

    __device__ static constexpr int at(int slot, int column)
    {
        return LANES / 2 * slot * (slot + 1) + column;
    }
    __device__ float4 four(int slot, int column) const
    {
        return make_float4(a[at(slot, column)], a[at(slot, column) + 1], a[at(slot, column) + 2],
                           a[at(slot, column) + 3]);
    }
};

__device__ static inline float4 &float4_at(float *shared, int at)
{
    return *(float4 *)(shared + at);
}

// Sum over the threads of a system, the same in all of them.
__device__ static inline float system_sum(float value)
{
#pragma unroll
    for (int k = LANES / 2; k > 0; k /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, k);
    return value;
}

template <int SLOTS> __device__ static inline void load(Rows<SLOTS> &m)
{
    typedef Floats<SLOTS> F;
#pragma unroll
    for (int s = 0; s < SLOTS; s++) {
#pragma unroll
        for (int j = 0; j < LANES * (s + 1); j++)
            m.a[m.at(s, j)] = m.shared[litho_fx_packed(F::ROUNDED, LANES * s, j) + m.lane];
        m.right[s] = m.shared[litho_fx_packed(F::ROUNDED, F::N, LANES * s + m.lane)];
    }
}

// --- Cholesky -----------------------------------------------------------------------------------

// Columns K to K + 3 of the factor, and what they take from the columns behind them.
template <int SLOTS, int K> __device__ static inline void panel(Rows<SLOTS> &m, bool *good)
{
    typedef Floats<SLOTS> F;
    constexpr int OWN = K / LANES, SECOND = K % LANES != 0;
    const bool mine = m.lane / 4 == SECOND;
    if (mine) {
        float4_at(m.shared, F::PANEL + 4 * (K + m.lane % 4)) = m.four(OWN, K);
        m.shared[F::RIGHT + m.lane % 4] = m.right[OWN];
    }
    __syncwarp();
    const float4 row0 = float4_at(m.shared, F::PANEL + 4 * K);
    const float4 row1 = float4_at(m.shared, F::PANEL + 4 * K + 4);
    const float4 row2 = float4_at(m.shared, F::PANEL + 4 * K + 8);
    const float4 row3 = float4_at(m.shared, F::PANEL + 4 * K + 12);
    const Tile t = factor_tile(
        make_float4(row0.x, row1.x, row2.x, row3.x), make_float4(0, row1.y, row2.y, row3.y),
        make_float4(0, 0, row2.z, row3.z), make_float4(0, 0, 0, row3.w), good);
    const float4 right = behind_tile(t, float4_at(m.shared, F::RIGHT));
#pragma unroll
    for (int s = OWN; s < SLOTS; s++) {
        const float4 x = behind_tile(t, m.four(s, K));
        m.a[m.at(s, K)] = x.x;
        m.a[m.at(s, K) + 1] = x.y;
        m.a[m.at(s, K) + 2] = x.z;
        m.a[m.at(s, K) + 3] = x.w;
        const float left =
            m.right[s] - x.x * right.x - x.y * right.y - x.z * right.z - x.w * right.w;
        if (s > OWN || (!SECOND && m.lane >= 4)) {
            float4_at(m.shared, F::PANEL + 4 * LANES * s + 4 * m.lane) = x;
            m.right[s] = left;
        }
    }
    if (mine) {
        const float low = m.lane % 2 ? right.y : right.x, high = m.lane % 2 ? right.w : right.z;
        m.right[OWN] = m.lane % 4 < 2 ? low : high;
    }
    if (m.lane == 0)
        float4_at(m.shared, F::ROOTS + K) = make_float4(t.r0, t.r1, t.r2, t.r3);
    __syncwarp();
#pragma unroll
    for (int j = K + 4; j < F::N; j++) {
        const float4 column = float4_at(m.shared, F::PANEL + 4 * j);
#pragma unroll
        for (int s = j / LANES; s < SLOTS; s++) {
            float &to = m.a[m.at(s, j)];
            to = fmaf(-m.a[m.at(s, K)], column.x, to);
            to = fmaf(-m.a[m.at(s, K) + 1], column.y, to);
            to = fmaf(-m.a[m.at(s, K) + 2], column.z, to);
            to = fmaf(-m.a[m.at(s, K) + 3], column.w, to);
        }
    }
    __syncwarp();
    if constexpr (K + 4 < F::N)
        panel<SLOTS, K + 4>(m, good);
}

// --- substitution -------------------------------------------------------------------------------

// v[k] of all threads of the system added up, in thread k.
__device__ static inline float gather_sums(float (&v)[LANES], int lane)
{
#pragma unroll
    for (int half = LANES / 2; half > 0; half /= 2)
#pragma unroll
        for (int k = 0; k < half; k++) {
            const float keep = lane & half ? v[k + half] : v[k];
            const float send = lane & half ? v[k] : v[k + half];
            v[k] = keep + __shfl_xor_sync(0xffffffffu, send, half);
        }
    return v[0];
}

// Unknowns LANES S .. of L^T y = right, then those before them; each thread's own replace its
// right-hand side.
template <int SLOTS, int S> __device__ static inline void backward(Rows<SLOTS> &m)
{
    typedef Floats<SLOTS> F;
    enum { LEFT = F::PANEL + LANES * LANES }; // behind the rows of the block
    float left = m.right[S];
    if constexpr (S + 1 < SLOTS) {
        float sums[LANES];
#pragma unroll
        for (int k = 0; k < LANES; k++) {
            sums[k] = m.a[m.at(S + 1, LANES * S + k)] * m.right[S + 1];
#pragma unroll
            for (int s = S + 2; s < SLOTS; s++)
                sums[k] = fmaf(m.a[m.at(s, LANES * S + k)], m.right[s], sums[k]);
        }
        left -= gather_sums(sums, m.lane);
    }
    float4_at(m.shared, F::PANEL + LANES * m.lane) = m.four(S, LANES * S);
    float4_at(m.shared, F::PANEL + LANES * m.lane + 4) = m.four(S, LANES * S + 4);
    m.shared[LEFT + m.lane] = left;
    __syncwarp();
    float y[LANES], roots[LANES];
#pragma unroll
    for (int k = 0; k < LANES; k += 4) {
        const float4 l = float4_at(m.shared, LEFT + k);
        const float4 r = float4_at(m.shared, F::ROOTS + LANES * S + k);
        y[k] = l.x, y[k + 1] = l.y, y[k + 2] = l.z, y[k + 3] = l.w;
        roots[k] = r.x, roots[k + 1] = r.y, roots[k + 2] = r.z, roots[k + 3] = r.w;
    }
    float own = 0;
#pragma unroll
    for (int k = LANES - 1; k >= 0; k--) {
        y[k] *= roots[k];
        own = m.lane == k ? y[k] : own;
#pragma unroll
        for (int j = 0; j < k; j += 4) {
            const float4 l = float4_at(m.shared, F::PANEL + LANES * k + j);
            const float row[4] = {l.x, l.y, l.z, l.w};
#pragma unroll
            for (int n = 0; n < 4; n++)
                if (j + n < k)
                    y[j + n] = fmaf(-row[n], y[k], y[j + n]);
        }
    }
    m.right[S] = own;
    __syncwarp();
    if constexpr (S > 0)
        backward<SLOTS, S - 1>(m);
}

// --- filters of the survey's edges ---------------------------------------------------------------

// Row `row` of the factor that keep_factor() has left: LANES more numbers from slot to slot.
__host__ __device__ static constexpr int factor_row(int row)
{
    return LANES * LANES / 2 * (row / LANES) * (row / LANES + 1) +
           row % LANES * LANES * (row / LANES + 1);
}

// The factor over the matrix, `last` its last row.
template <int SLOTS>
__device__ static inline void keep_factor(const Rows<SLOTS> &m, const float (&last)[SLOTS])
{
    __syncwarp();
#pragma unroll
    for (int s = 0; s < SLOTS; s++) {
#pragma unroll
        for (int j = 0; j < LANES * (s + 1); j += 4)
            float4_at(m.shared, factor_row(LANES * s) + m.lane * LANES * (s + 1) + j) =
                m.four(s, j);
        m.shared[Floats<SLOTS>::LAST + LANES * s + m.lane] = last[s];
    }
    __syncwarp();
}

// y -= the LANES x LANES numbers of the factor at `rows`, `pitch` apart, times x.
__device__ static inline void take_tile(const float *rows, int pitch, const float *x, float *y)
{
#pragma unroll
    for (int r = 0; r < LANES; r++)
#pragma unroll
        for (int j = 0; j < LANES; j += 4) {
            const float4 l = *(const float4 *)(rows + r * pitch + j);
            y[r] -= (l.x * x[j] + l.y * x[j + 1]) + (l.z * x[j + 2] + l.w * x[j + 3]);
        }
}

// The same times its transpose.
__device__ static inline void take_transposed(const float *rows, int pitch, const float *x,
                                              float *y)
{
#pragma unroll
    for (int r = 0; r < LANES; r++)
#pragma unroll
        for (int j = 0; j < LANES; j += 4) {
            const float4 l = *(const float4 *)(rows + r * pitch + j);
            y[j] = fmaf(-l.x, x[r], y[j]);
            y[j + 1] = fmaf(-l.y, x[r], y[j + 1]);
            y[j + 2] = fmaf(-l.z, x[r], y[j + 2]);
            y[j + 3] = fmaf(-l.w, x[r], y[j + 3]);
        }
}

// Unknown k of this thread at x[32 k].
__device__ static inline void read_eight(const float *x, int slot, float (&to)[LANES])
{
#pragma unroll
    for (int k = 0; k < LANES; k++)
        to[k] = x[32 * (LANES * slot + k)];
}

__device__ static inline void write_eight(const float (&from)[LANES], int slot, float *x)
{
#pragma unroll
    for (int k = 0; k < LANES; k++)
        x[32 * (LANES * slot + k)] = from[k];
}

// Column `unit` of the inverse into x, the last unknown behind the others; the inverse's number on
// the diagonal there. `root`: reciprocal of the factor's last diagonal.
template <int SLOTS>
__device__ static inline float inverse_column(const float *shared, float root, int unit, float *x)
{
    typedef Floats<SLOTS> F;
    float own = 0, last = 0, known[LANES], y[LANES];
#pragma unroll 1
    for (int s = 0; s < SLOTS; s++) {
        const float *rows = shared + factor_row(LANES * s);
        const int pitch = LANES * (s + 1);
#pragma unroll
        for (int k = 0; k < LANES; k++)
            y[k] = LANES * s + k == unit ? 1.0f : 0.0f;
#pragma unroll 1
        for (int t = 0; t < s; t++) {
            read_eight(x, t, known);
            take_tile(rows + LANES * t, pitch, known, y);
        }
#pragma unroll
        for (int k = 0; k < LANES; k++) {
            y[k] *= shared[F::ROOTS + LANES * s + k];
            own = fmaf(y[k], y[k], own);
            last = fmaf(-shared[F::LAST + LANES * s + k], y[k], last);
#pragma unroll
            for (int r = k + 1; r < LANES; r++)
                y[r] = fmaf(-rows[r * pitch + LANES * s + k], y[k], y[r]);
        }
        write_eight(y, s, x);
    }
    last *= root;
    own = fmaf(last, last, own);
    last *= root;
    x[32 * F::N] = last;
#pragma unroll 1
    for (int s = SLOTS - 1; s >= 0; s--) {
        const float *rows = shared + factor_row(LANES * s) + LANES * s;
        read_eight(x, s, y);
#pragma unroll
        for (int k = 0; k < LANES; k++)
            y[k] = fmaf(-shared[F::LAST + LANES * s + k], last, y[k]);
#pragma unroll 1
        for (int t = s + 1; t < SLOTS; t++) {
            read_eight(x, t, known);
            take_transposed(shared + factor_row(LANES * t) + LANES * s, LANES * (t + 1), known, y);
        }
#pragma unroll
        for (int k = LANES - 1; k >= 0; k--) {
            y[k] *= shared[F::ROOTS + LANES * s + k];
#pragma unroll
            for (int j = 0; j < k; j++)
                y[j] = fmaf(-rows[k * LANES * (s + 1) + j], y[k], y[j]);
        }
        write_eight(y, s, x);
    }
    return own;
}

// Taps c + 1 + pair (even threads, which have the column of u) and c - 1 - pair (odd ones, of v)
// of column `place` of K over -K[place, place].
struct EdgeFilter {
    float over, sign;
    bool odd;

    __device__ float2 tap(const float *x, int pair) const
    {
        const float a = 0.5f * over * x[64 * pair], b = 0.5f * over * x[64 * pair + 32];
        const float c = __shfl_xor_sync(0xffffffffu, a, 1), d = __shfl_xor_sync(0xffffffffu, b, 1);
        return odd ? make_float2(c + sign * b, sign * a - d)
                   : make_float2(a - sign * d, sign * c + b);
    }
};

// The power of the traces at both places of a pair, that of the centre for none (-1).
template <int SLOTS> __device__ static inline float power_of(const float *matrix, int pair)
{
    typedef Floats<SLOTS> F;
    if (pair < 0)
        return matrix[litho_fx_packed(F::ROUNDED, F::N, F::N)];
    return 0.5f * (matrix[litho_fx_packed(F::ROUNDED, 2 * pair, 2 * pair)] +
                   matrix[litho_fx_packed(F::ROUNDED, 2 * pair + 1, 2 * pair + 1)]);
}

// The filter of block number `place`, of which this thread has one half, into taps where `write`
// says so. All threads of the warp call it.
template <int SLOTS>
__device__ static void edge_filter(const LithoFxGroup &g, const Rows<SLOTS> &m, const float *matrix,
                                   float lambda, float root, int place, float *x, bool write,
                                   float2 *taps)
{
    constexpr int N = Floats<SLOTS>::N, C = N / 2;
    const int pair = abs(place - C) - 1;
    EdgeFilter f = {0, place > C ? -1.0f : 1.0f, m.lane % 2 != 0};
    const int own_pair = f.odd == (place < C) ? pair : -1; // among this thread's
    const float own = inverse_column<SLOTS>(m.shared, root, 2 * pair + m.lane % 2, x);
    const float k_tt = 0.5f * (own + __shfl_xor_sync(0xffffffffu, own, 1));
    f.over = -1 / (k_tt > 0 ? k_tt : 1.0f);
    const float middle = 0.70710678f * f.over * (f.odd ? f.sign : 1) * x[32 * N];
    const float power = power_of<SLOTS>(matrix, pair);
    float alpha = 1;
    if (g.post) {
        float hh = middle * middle;
#pragma unroll 2
        for (int p = 0; p < C; p++) {
            const float2 h = f.tap(x, p);
            hh += p == own_pair ? 0 : h.x * h.x + h.y * h.y;
        }
        hh += __shfl_xor_sync(0xffffffffu, hh, 1);
        alpha = stretch(power + lambda + f.over, hh, lambda);
    }
    // 1 at its own place where there is nothing to predict it from.
    const float none = power < LITHO_FX_NOTHING * power_of<SLOTS>(matrix, -1) ? 1 : 0;
#pragma unroll 4
    for (int p = 0; p < C; p++) {
        const float2 h = f.tap(x, p);
        if (write)
            taps[f.odd ? C - 1 - p : C + 1 + p] =
                p == own_pair ? make_float2(none, 0) : make_float2(alpha * h.x, alpha * h.y);
    }
    if (write)
        ((float *)(taps + C))[m.lane % 2] = alpha * middle;
}

// Filters of the places that traces near the survey's edge take, LANES / 2 of a system at a time.
template <int SLOTS>
__device__ static void edge_filters(const LithoFxGroup &g, const LithoFxSpot &spot,
                                    const Rows<SLOTS> &m, const float *matrix, float lambda,
                                    float root, float *x, float2 *taps)
{
    constexpr int C = Floats<SLOTS>::N / 2;
    const int across = spot.d_xl1 - spot.d_xl0 + 1;
    const int slots = (spot.d_il1 - spot.d_il0 + 1) * across;
#pragma unroll 1
    for (int first = 0; first < slots; first += LANES / 2) {
        const int slot = min(first + m.lane / 2, slots - 1);
        const int place = C + (spot.d_il0 + slot / across) * (2 * g.half_xl + 1) + spot.d_xl0 +
                          slot % across;
        const bool write = place != C && first + m.lane / 2 < slots;
        edge_filter<SLOTS>(g, m, matrix, lambda, root, place, x, write, taps + slot * g.size);
    }
}

// --- filters ------------------------------------------------------------------------------------

// The unknowns are in m.right. Taps of opposite traces are conjugates.
template <int SLOTS>
__device__ static inline void write_taps(const Rows<SLOTS> &m, float alpha, float2 *taps)
{
    constexpr int C = LANES * SLOTS / 2; // number of the centre
    float *ahead = (float *)(taps + C + 1) + m.lane;
    float *behind = (float *)(taps + C - 1) - (m.lane & ~1) + m.lane % 2;
#pragma unroll
    for (int s = 0; s < SLOTS; s++) {
        const float tap = alpha * m.right[s];
        ahead[LANES * s] = tap;
        behind[-LANES * s] = m.lane % 2 ? -tap : tap;
    }
    if (m.lane == 0)
        taps[C] = make_float2(0, 0);
}

// Copies the matrices of the warp's systems; every thread has the sum of its system's diagonal.
template <int SLOTS> __device__ static inline float fetch(const Rows<SLOTS> &m, const float *matrix)
{
    typedef Floats<SLOTS> F;
    for (int k = m.lane; k < F::MATRIX / 4; k += LANES)
        __pipeline_memcpy_async((float4 *)m.shared + k, (const float4 *)matrix + k, sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
    float trace = 0;
    for (int k = m.lane; k <= F::N; k += LANES)
        trace += m.shared[litho_fx_packed(F::ROUNDED, k, k)];
    return system_sum(trace);
}

// Adds the systems of a warp to the counters, those whose first thread says `counts`.
__device__ static inline void count_systems(const LithoFxGroup &g, bool counts, bool failed,
                                            float share)
{
    const unsigned all = __ballot_sync(0xffffffffu, counts);
    const unsigned bad = __ballot_sync(0xffffffffu, counts && failed);
    int octaves = counts && g.automatic ? litho_fx_octaves(share) : 0;
    for (int k = 16; k > 0; k /= 2)
        octaves += __shfl_xor_sync(0xffffffffu, octaves, k);
    if (threadIdx.x > 0 || all == 0)
        return;
    atomicAdd(g.counters + LITHO_FX_SYSTEMS, (unsigned long long)__popc(all));
    if (bad)
        atomicAdd(g.counters + LITHO_FX_FAILED, (unsigned long long)__popc(bad));
    if (octaves != 0)
        atomicAdd(g.counters + LITHO_FX_OCTAVES, (unsigned long long)(long long)octaves);
}

// EDGES: spots have more than one filter.
template <int SLOTS, bool EDGES>
__global__ void __launch_bounds__(32, SLOTS > 3 ? 8 : 16)
    rows_kernel(LithoFxGroup g, int first, int last)
{
    typedef Floats<SLOTS> F;
    extern __shared__ float4 shared[];
    Rows<SLOTS> m;
    m.lane = threadIdx.x % LANES;
    m.shared = (float *)shared + threadIdx.x / LANES * F::PITCH;
    // Spare threads repeat the last bin and write equal values.
    const int number = first + blockIdx.x, wanted = blockIdx.y * SYSTEMS + threadIdx.x / LANES;
    const int bin = min(wanted, g.bins - 1);
    const LithoFxSpot spot = g.spots[number];
    const long long system = system_of(g, number, bin);
    const float *matrix = g.matrix + system * g.matrix_pitch;
    const float trace = fetch(m, matrix);
    const bool alive = trace > 0;
    float lambda = alive ? g.share * trace : 1.0f, share = 1, alpha = 0.70710678f;
    const float mean = lambda * (1 / LITHO_FX_FIRST_SHARE);
    float diagonal[SLOTS], factor_last[SLOTS];
#pragma unroll
    for (int s = 0; s < SLOTS; s++)
        diagonal[s] = m.shared[litho_fx_packed(F::ROUNDED, LANES * s + m.lane, LANES * s + m.lane)];
    const float power = m.shared[litho_fx_packed(F::ROUNDED, F::N, F::N)];
    float last_root = 1;
    bool good;
#pragma unroll 1
    for (int design = g.automatic ? 0 : 2;; design++) {
#pragma unroll
        for (int s = 0; s < SLOTS; s++)
            m.shared[litho_fx_packed(F::ROUNDED, LANES * s + m.lane, LANES * s + m.lane)] =
                diagonal[s] + lambda;
        __syncwarp();
        good = true;
        load(m);
        panel<SLOTS, 0>(m, &good);
        if (design == 2) {
            float known = 0;
#pragma unroll
            for (int s = 0; s < SLOTS; s++) {
                known = fmaf(m.right[s], m.right[s], known);
                factor_last[s] = m.right[s];
            }
            last_root = reciprocal_root(power + lambda - system_sum(known), &good);
        }
        backward<SLOTS, SLOTS - 1>(m);
        if (design == 2 && !g.post)
            break;
        float taken = 0, energy = 0;
#pragma unroll
        for (int s = 0; s < SLOTS; s++) {
            const float b = m.shared[litho_fx_packed(F::ROUNDED, F::N, LANES * s + m.lane)];
            taken = fmaf(m.right[s], b, taken);
            energy = fmaf(m.right[s], m.right[s], energy);
        }
        taken = system_sum(taken);
        energy = system_sum(energy);
        if (design == 2) {
            alpha *= stretch(taken, energy, lambda);
            break;
        }
        share = share_after(spot, power - taken - lambda * energy, mean, energy, F::N, design == 1);
        lambda = share * mean;
    }
    const int across = spot.d_xl1 - spot.d_xl0 + 1;
    float2 *taps = (float2 *)g.taps + ((long long)bin * g.n_slots + spot.slot) * g.size;
    write_taps(m, alpha, taps + (-spot.d_il0 * across - spot.d_xl0) * g.size);
    if constexpr (EDGES) {
        keep_factor(m, factor_last);
        edge_filters(g, spot, m, matrix, lambda, last_root,
                     (float *)shared + SYSTEMS * F::PITCH + threadIdx.x, taps);
    }
    const bool one = m.lane == 0 && wanted == bin;
    if (one)
        g.good[system] = alive && good;
    if (last)
        count_systems(g, one && alive, !good, share);
}

template <int SLOTS>
static int launch(const LithoFxGroup *g, int first, int count, int edges, int last,
                  cudaStream_t stream)
{
    typedef Floats<SLOTS> F;
    const int floats = SYSTEMS * F::PITCH + (edges ? 32 * (F::N + 1) : 0), bytes = 4 * floats;
    const auto kernel = edges ? rows_kernel<SLOTS, true> : rows_kernel<SLOTS, false>;
    const cudaError_t status =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (status != cudaSuccess)
        return (int)status;
    kernel<<<dim3(count, (g->bins + SYSTEMS - 1) / SYSTEMS), 32, bytes, stream>>>(*g, first, last);
    return (int)cudaGetLastError();
}

int litho_fx_rows_serve(const LithoFxGroup *g)
{
    return g->solver == LITHO_FX_CHOLESKY && (g->size == 9 || g->size == 25 || g->size == 49);
}

int litho_fx_solve_rows(const LithoFxGroup *g, int first, int count, int edges, int last,
                        cudaStream_t stream)
{
    switch (g->size) {
    case 9:
        return launch<1>(g, first, count, edges, last, stream);
    case 25:
        return launch<3>(g, first, count, edges, last, stream);
    default:
        return launch<6>(g, first, count, edges, last, stream);
    }
}
