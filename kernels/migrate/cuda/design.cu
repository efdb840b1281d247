// SPDX-License-Identifier: GPL-3.0-or-later
//
// The polynomials of design.h, one block of threads each: the barrier, Newton's steps, line search
// and certificate of design.c, in double precision. A step's work is the elimination, which waits
// for itself column by column; many designs beside each other fill the waiting.
//
// The Hessian lies in shared memory with the gradient as its last row, so that eliminating solves
// the lower triangle on the way. Cosines and samples lie in device memory, which the caches hold.
#include <math.h>

#include "kernels/migrate/cuda/kernels.h"

namespace
{

enum {
    THREADS = 256,
    LANES = 32,
    SIDE = 16, // SIDE x SIDE threads update the Hessian
    MOMENTS = 7,
    MAX_NEWTON = 200,
    MAX_UNKNOWNS = 2 * MIG_GPU_COEFS + 1,
    FINE = 256, // angles a degree of the certificate
};
constexpr double PI = 3.14159265358979323846;
// Keeps certified |G| below 1 against rounding between grid points, as in design.c.
constexpr double SAFETY = 1 - 1e-6;

// Weighted sums over samples: second derivatives (rr, ri, ii), gradient (re, im), mixed with tau.
enum { RR, RI, II, GR, GI, TR, TI };

// Sizes of a design of one degree.
struct Shape {
    int n1, pass, samples, unknowns, width, pitch, columns;
    bool real; // a stop design: imaginary parts are 0
};

__host__ __device__ Shape shape_of(int degree, bool real)
{
    Shape s;
    s.n1 = degree + 1;
    s.pass = 2 * degree + 10 > 24 ? 2 * degree + 10 : 24;
    s.samples = s.pass + 6 * degree + 30;
    s.unknowns = (real ? 1 : 2) * s.n1 + 1;
    s.width = 2 * degree + 1;
    s.pitch = s.unknowns | 1;              // odd: columns fall into different banks
    s.columns = s.width <= 64 ? 64 : 128; // threads side by side in a sum of moments
    s.real = real;
    return s;
}

// Rooms of a block. In shared memory: what all threads read. In device memory: what one thread
// keeps of its samples, and the cosines.
struct Rooms {
    double *hess, *weight, *partial, *moment;                   // shared
    double *x, *trial, *step, *scale, *reduce;                  // shared
    double *angle, *t_re, *t_im, *w2, *u2, *g[2][2], *cosines; // device
};

__host__ __device__ size_t shared_doubles(const Shape &s)
{
    return (size_t)(s.unknowns + 1) * s.pitch + (size_t)MOMENTS * s.samples +
           (size_t)MOMENTS * THREADS + (size_t)MOMENTS * s.columns + 4 * (MAX_UNKNOWNS + 1) +
           THREADS / LANES + 1;
}

__host__ __device__ size_t device_doubles(const Shape &s)
{
    return (size_t)s.samples * (9 + s.width);
}

__device__ double *take(double *&from, size_t n)
{
    double *room = from;
    from += n;
    return room;
}

__device__ Rooms rooms_of(const Shape &s, double *shared, double *device)
{
    Rooms r;
    r.hess = take(shared, (size_t)(s.unknowns + 1) * s.pitch);
    r.weight = take(shared, (size_t)MOMENTS * s.samples);
    r.partial = take(shared, (size_t)MOMENTS * THREADS);
    r.moment = take(shared, (size_t)MOMENTS * s.columns);
    r.x = take(shared, MAX_UNKNOWNS + 1);
    r.trial = take(shared, MAX_UNKNOWNS + 1);
    r.step = take(shared, MAX_UNKNOWNS + 1);
    r.scale = take(shared, MAX_UNKNOWNS + 1);
    r.reduce = take(shared, THREADS / LANES + 1);
    r.angle = take(device, s.samples);
    r.t_re = take(device, s.samples);
    r.t_im = take(device, s.samples);
    r.w2 = take(device, s.samples);
    r.u2 = take(device, s.samples);
    for (int k = 0; k < 4; k++)
        r.g[k / 2][k % 2] = take(device, s.samples);
    r.cosines = take(device, (size_t)s.samples * s.width);
    return r;
}

// Sum or largest of all threads' values, given to all of them.
template <bool LARGEST> __device__ double together(double value, double *reduce)
{
    for (int away = LANES / 2; away > 0; away /= 2) {
        const double other = __shfl_xor_sync(0xffffffffu, value, away);
        value = LARGEST ? fmax(value, other) : value + other;
    }
    __syncthreads(); // the last result has been read
    if (threadIdx.x % LANES == 0)
        reduce[threadIdx.x / LANES] = value;
    __syncthreads();
    value = reduce[0];
    for (int k = 1; k < THREADS / LANES; k++)
        value = LARGEST ? fmax(value, reduce[k]) : value + reduce[k];
    return value;
}

// --- the problem --------------------------------------------------------------------------------

// Bound on |G| at phi, beyond the pass band's end at phi_p.
__device__ double stop_bound(const MigGpuPolySpec &spec, double phi_p, double phi)
{
    const double n = spec.degree;
    if (spec.stop > 0)
        return (phi < phi_p + 0.9 * spec.transition / n ? 1 : 0.97 * spec.stop) * SAFETY;
    const double phi_c = 2 * asin(fmin(1.0, spec.kap / sqrt(spec.rho)));
    const double x = fmin(fmax((phi - phi_c - PI / n) / (8 * PI / n), 0.0), 1.0);
    return (0.5 + 0.25 * (1 + cos(PI * x))) * SAFETY;
}

__device__ void set_samples(const MigGpuPolySpec &spec, const Shape &s, const Rooms &r)
{
    const double k2 = spec.kap * spec.kap, sine = sin(spec.theta);
    const double s_p = fmin(k2 * sine * sine, spec.rho), phi_p = 2 * asin(sqrt(s_p / spec.rho));
    const int stop = s.samples - s.pass;
    for (int j = threadIdx.x; j < s.samples; j += THREADS) {
        double phi, u;
        if (j < s.pass) {
            phi = phi_p * sin(0.5 * PI * j / (s.pass - 1));
            const double half = sin(phi / 2), at = spec.rho * half * half;
            const double weight = spec.w0 + (1 - spec.w0) * (at / s_p) * (at / s_p);
            const double phase = s.real ? 0 : sqrt(fmax(k2 - at, 0.0));
            r.t_re[j] = cos(phase) * SAFETY;
            r.t_im[j] = sin(phase) * SAFETY;
            r.w2[j] = weight * weight;
            u = SAFETY;
        } else {
            phi = phi_p + (PI - phi_p) * pow((j - s.pass + 1.0) / stop, 1.3);
            u = stop_bound(spec, phi_p, phi);
        }
        r.angle[j] = cos(phi);
        r.u2[j] = u * u;
        double *row = r.cosines + (size_t)j * s.width, a = 1, b = cos(phi);
        const double twice = 2 * b;
        for (int k = 0; k < s.width; k++) {
            row[k] = a;
            const double next = twice * b - a;
            a = b;
            b = next;
        }
    }
}

// G at cos(phi) = c, by Clenshaw's recursion.
__device__ void value_at(const Shape &s, const double *x, double c, double *re, double *im)
{
    double r1 = 0, r2 = 0, i1 = 0, i2 = 0;
    for (int n = s.n1 - 1; n >= 1; n--) {
        const double real = x[n] + 2 * c * r1 - r2;
        r2 = r1;
        r1 = real;
        if (!s.real) {
            const double imaginary = x[s.n1 + n] + 2 * c * i1 - i2;
            i2 = i1;
            i1 = imaginary;
        }
    }
    *re = x[0] + c * r1 - r2;
    *im = s.real ? 0 : x[s.n1] + c * i1 - i2;
}

// The barrier at x, and G at all samples into `g`; +inf outside.
__device__ double evaluate(const Shape &s, const Rooms &r, const double *x, double lam,
                           double *const *g)
{
    const double tau = x[s.unknowns - 1];
    double value = tau > 0 ? 0 : INFINITY;
    for (int j = threadIdx.x; j < s.samples && tau > 0; j += THREADS) {
        double re, im;
        value_at(s, x, r.angle[j], &re, &im);
        g[0][j] = re;
        g[1][j] = im;
        double room = r.u2[j] - re * re - im * im;
        if (room > 0 && j < s.pass) {
            const double er = re - r.t_re[j], ei = im - r.t_im[j];
            const double error = tau * tau * r.w2[j] - er * er - ei * ei;
            room = error > 0 ? room * error : error; // one logarithm for both
        }
        value = room > 0 ? value - log(room) : INFINITY;
    }
    return together<false>(value, r.reduce) + lam * tau;
}

// --- Newton's step ------------------------------------------------------------------------------

// Adds one sample to the sums, and its parts of the derivatives by tau.
__device__ void weigh(const Shape &s, const Rooms &r, double *const *g, double tau, int j,
                      double *grad, double *bend)
{
    const double gr = g[0][j], gi = g[1][j], i2 = 1 / (r.u2[j] - gr * gr - gi * gi);
    double w[MOMENTS] = {2 * i2 + 4 * gr * gr * i2 * i2,
                         4 * gr * gi * i2 * i2,
                         2 * i2 + 4 * gi * gi * i2 * i2,
                         2 * gr * i2,
                         2 * gi * i2,
                         0,
                         0};
    if (j < s.pass) {
        const double er = gr - r.t_re[j], ei = gi - r.t_im[j], w2 = r.w2[j];
        const double i1 = 1 / (tau * tau * w2 - er * er - ei * ei);
        w[RR] += 2 * i1 + 4 * er * er * i1 * i1;
        w[RI] += 4 * er * ei * i1 * i1;
        w[II] += 2 * i1 + 4 * ei * ei * i1 * i1;
        w[GR] += 2 * er * i1;
        w[GI] += 2 * ei * i1;
        w[TR] = -4 * er * tau * w2 * i1 * i1;
        w[TI] = -4 * ei * tau * w2 * i1 * i1;
        *grad -= 2 * tau * w2 * i1;
        *bend += -2 * w2 * i1 + 4 * tau * tau * w2 * w2 * i1 * i1;
    }
    for (int m = 0; m < MOMENTS; m++)
        r.weight[m * s.samples + j] = w[m];
}

// moment[m][k] = sum over samples of weight[m][j] cos(k phi_j): groups of threads share the
// samples, and their sums are added in one order.
__device__ void sum_moments(const Shape &s, const Rooms &r)
{
    const int k = threadIdx.x % s.columns, group = threadIdx.x / s.columns;
    const int groups = THREADS / s.columns;
    double sum[MOMENTS] = {0};
    if (k < s.width)
        for (int j = group; j < s.samples; j += groups) {
            const double c = r.cosines[(size_t)j * s.width + k];
            for (int m = 0; m < MOMENTS; m++)
                sum[m] += r.weight[m * s.samples + j] * c;
        }
    for (int m = 0; m < MOMENTS; m++)
        r.partial[(group * MOMENTS + m) * s.columns + k] = sum[m];
    __syncthreads();
    for (int at = threadIdx.x; at < MOMENTS * s.columns; at += THREADS) {
        double all = 0;
        for (int n = 0; n < groups; n++)
            all += r.partial[n * MOMENTS * s.columns + at];
        r.moment[at] = all;
    }
    __syncthreads();
}

// Element (i, n), n <= i, of the Hessian. cos(a phi) cos(b phi) is half of cos((a-b) phi) +
// cos((a+b) phi).
__device__ double second(const Shape &s, const Rooms &r, int i, int n, double bend)
{
    const int last = s.unknowns - 1, c = s.columns;
    if (i == last)
        return n == last ? bend : n < s.n1 ? r.moment[TR * c + n] : r.moment[TI * c + n - s.n1];
    const int block = (i >= s.n1) + (n >= s.n1);
    const int a = i >= s.n1 ? i - s.n1 : i, b = n >= s.n1 ? n - s.n1 : n;
    const double *sum = r.moment + (block == 0 ? RR : block == 1 ? RI : II) * c;
    return 0.5 * (sum[a > b ? a - b : b - a] + sum[a + b]);
}

// Hessian scaled to a diagonal of 1, and the negative gradient as row `unknowns`.
__device__ void set_system(const Shape &s, const Rooms &r, double lam, double grad, double bend)
{
    const int u = s.unknowns, c = s.columns;
    for (int i = threadIdx.x; i < u; i += THREADS)
        r.scale[i] = 1 / sqrt(fmax(second(s, r, i, i, bend), 1e-300));
    __syncthreads();
    for (int at = threadIdx.x; at < u * u; at += THREADS) {
        const int i = at / u, n = at % u;
        if (n <= i)
            r.hess[i * s.pitch + n] =
                second(s, r, i, n, bend) * r.scale[i] * r.scale[n] + (i == n ? 1e-12 : 0);
    }
    for (int i = threadIdx.x; i < u; i += THREADS) {
        const double g = i == u - 1 ? lam + grad
                         : i < s.n1 ? r.moment[GR * c + i]
                                    : r.moment[GI * c + i - s.n1];
        r.hess[u * s.pitch + i] = -g * r.scale[i];
    }
    __syncthreads();
}

__device__ double pivot(const Shape &s, const Rooms &r, int j)
{
    return fmax(r.hess[j * s.pitch + j], 1e-14);
}

// Eliminates column after column, none of which is divided: row i holds L_ij d_j, the last row what
// the lower triangle makes of the right side. Then the upper triangle, by one warp. Gives the
// squared decrement, and the step in `step`.
__device__ double solve(const Shape &s, const Rooms &r)
{
    const int u = s.unknowns, down = threadIdx.x / SIDE, along = threadIdx.x % SIDE;
    double *h = r.hess, *right = h + u * s.pitch, decrement = 0;
    for (int j = 0; j < u; j++) {
        const double inverse = 1 / pivot(s, r, j);
        for (int i = j + 1 + down; i <= u; i += THREADS / SIDE) {
            const double by = h[i * s.pitch + j] * inverse;
            for (int k = j + 1 + along; k <= i && k < u; k += SIDE)
                h[i * s.pitch + k] -= by * h[k * s.pitch + j];
        }
        __syncthreads();
    }
    for (int j = threadIdx.x; j < u; j += THREADS) {
        const double inverse = 1 / pivot(s, r, j);
        decrement += right[j] * right[j] * inverse;
        r.step[j] = inverse;
    }
    decrement = together<false>(decrement, r.reduce);
    if (threadIdx.x < LANES)
        for (int i = u - 1; i >= 0; i--) {
            const double x = right[i] * r.step[i];
            __syncwarp();
            if (threadIdx.x == 0)
                r.step[i] = x * r.scale[i];
            for (int k = threadIdx.x; k < i; k += LANES)
                right[k] -= h[i * s.pitch + k] * x;
            __syncwarp();
        }
    __syncthreads();
    return decrement;
}

// A point: its coordinates, G at the samples (one of two rooms), the barrier.
struct Point {
    int room;
    double value;
};

// One damped step of Newton's; false when no step lowers the barrier any more.
__device__ bool newton(const Shape &s, const Rooms &r, double lam, Point *at, double *decrement)
{
    const double tau = r.x[s.unknowns - 1];
    double grad = 0, bend = 0;
    for (int j = threadIdx.x; j < s.samples; j += THREADS)
        weigh(s, r, r.g[at->room], tau, j, &grad, &bend);
    grad = together<false>(grad, r.reduce);
    bend = together<false>(bend, r.reduce);
    sum_moments(s, r);
    set_system(s, r, lam, grad, bend);
    *decrement = solve(s, r);
    for (double alpha = 1; alpha > 1e-10; alpha *= 0.6) {
        for (int i = threadIdx.x; i < s.unknowns; i += THREADS)
            r.trial[i] = r.x[i] + alpha * r.step[i];
        __syncthreads();
        const double value = evaluate(s, r, r.trial, lam, r.g[1 - at->room]);
        if (value <= at->value - 0.1 * alpha * *decrement) {
            for (int i = threadIdx.x; i < s.unknowns; i += THREADS)
                r.x[i] = r.trial[i];
            *at = {1 - at->room, value};
            __syncthreads();
            return true;
        }
        __syncthreads(); // `trial` has been read
    }
    return false;
}

// --- one design ---------------------------------------------------------------------------------

__device__ void minimise(const MigGpuPolySpec &spec, const Shape &s, const Rooms &r)
{
    const int last = s.unknowns - 1;
    const double m = s.samples + s.pass;
    for (int i = threadIdx.x; i < s.unknowns; i += THREADS)
        r.x[i] = i == last ? 1.3 / spec.w0 : 0; // misses by 1 everywhere: strictly feasible
    __syncthreads();
    double lam = 0.5 * m / r.x[last];
    Point at = {0, 0};
    at.value = evaluate(s, r, r.x, lam, r.g[0]);
    for (int k = 0; k < MAX_NEWTON; k++) {
        double decrement;
        const bool moved = newton(s, r, lam, &at, &decrement);
        if (moved && decrement >= 1)
            continue;
        const double tau = r.x[last];
        if (lam * tau * spec.tol >= m || tau < 2e-5)
            return;
        lam *= 8;
        at.value = evaluate(s, r, r.x, lam, r.g[at.room]);
    }
}

// Largest |G| over FINE angles a degree.
__device__ double largest(const Shape &s, const Rooms &r)
{
    const int count = FINE * s.n1 + 1;
    double most = 0;
    for (int k = threadIdx.x; k < count; k += THREADS) {
        double re, im;
        value_at(s, r.x, cospi((double)k / (count - 1)), &re, &im);
        most = fmax(most, re * re + im * im);
    }
    return sqrt(together<true>(most, r.reduce));
}

__global__ void __launch_bounds__(THREADS)
    design_kernel(const MigGpuPolySpec *specs, int n, double *rooms, size_t room, int *next,
                  MigGpuPoly *polys)
{
    extern __shared__ double shared[];
    __shared__ int mine;
    for (;;) {
        if (threadIdx.x == 0)
            mine = atomicAdd(next, 1);
        __syncthreads();
        const int k = mine;
        if (k >= n)
            return;
        const MigGpuPolySpec spec = specs[k];
        const Shape s = shape_of(spec.degree, spec.stop > 0);
        const Rooms r = rooms_of(s, shared, rooms + room * blockIdx.x);
        set_samples(spec, s, r);
        __syncthreads();
        minimise(spec, s, r);
        const double most = largest(s, r), shrink = most > SAFETY ? SAFETY / most : 1;
        MigGpuPoly *poly = &polys[k];
        for (int i = threadIdx.x; i < MIG_GPU_COEFS; i += THREADS) {
            poly->re[i] = (float)(i < s.n1 ? r.x[i] * shrink : 0);
            poly->im[i] = (float)(i < s.n1 && !s.real ? r.x[s.n1 + i] * shrink : 0);
        }
        if (threadIdx.x == 0)
            poly->tau = r.x[s.unknowns - 1];
        __syncthreads(); // all have read `mine` and the rooms
    }
}

} // namespace

size_t mig_gpu_design_shared(int degree, int real)
{
    return shared_doubles(shape_of(degree, real)) * sizeof(double);
}

size_t mig_gpu_design_bytes(int degree, int real)
{
    return device_doubles(shape_of(degree, real)) * sizeof(double);
}

int mig_gpu_design(const MigGpuPolySpec *specs, int n, size_t shared, double *rooms, size_t room,
                   int blocks, int *next, MigGpuPoly *polys, cudaStream_t stream)
{
    int status = (int)cudaFuncSetAttribute(design_kernel,
                                           cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    if (status == 0)
        status = (int)cudaMemsetAsync(next, 0, sizeof *next, stream);
    if (status)
        return status;
    design_kernel<<<n < blocks ? n : blocks, THREADS, shared, stream>>>(
        specs, n, rooms, room / sizeof(double), next, polys);
    return (int)cudaGetLastError();
}
