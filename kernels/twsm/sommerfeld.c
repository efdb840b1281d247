// SPDX-License-Identifier: GPL-3.0-or-later
//
// The Sommerfeld integral of a point source over a plane contact: effective coefficients. Loops run
// over the nodes of several panels at a time, without calls and without branches, so that they
// compile to vector instructions.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/twsm/coef.h"

enum {
    PANEL = 8,  // nodes of a Gauss rule
    NODES = 64, // nodes worked on at a time
};

// Nodes and weights of the 8-point Gauss rule on -1..1.
static const double gauss_x[PANEL] = {-0.9602898564975363, -0.7966664774136267, -0.5255324099163290,
                                      -0.1834346424956498, 0.1834346424956498,  0.5255324099163290,
                                      0.7966664774136267,  0.9602898564975363};
static const double gauss_w[PANEL] = {0.1012285362903763, 0.2223810344533745, 0.3137066458778873,
                                      0.3626837833783620, 0.3626837833783620, 0.3137066458778873,
                                      0.2223810344533745, 0.1012285362903763};

typedef struct Pair {
    double re, im;
} Pair;

#define INLINE static inline __attribute__((always_inline))

INLINE Pair times(Pair a, Pair b)
{
    return (Pair){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

INLINE Pair over(Pair a, Pair b)
{
    const double inv = 1 / (b.re * b.re + b.im * b.im);
    return (Pair){(a.re * b.re + a.im * b.im) * inv, (a.im * b.re - a.re * b.im) * inv};
}

// The root with Re >= 0; `tiny` keeps 0 from dividing by 0.
INLINE Pair root(Pair z)
{
    const double tiny = 1e-290, size = sqrt(z.re * z.re + z.im * z.im);
    const double r = sqrt(0.5 * (size + fabs(z.re)) + tiny), s = 0.5 * fabs(z.im) / r;
    const double im = z.re >= 0 ? s : r;
    return (Pair){z.re >= 0 ? r : s, z.im < 0 ? -im : im};
}

// The root with Im >= 0: waves that decay away from the contact.
INLINE Pair root_down(Pair z)
{
    const Pair r = root(z);
    return (Pair){r.im < 0 ? -r.re : r.re, fabs(r.im)};
}

// Adding it leaves a whole number in the low bits of a double.
static const double whole = 0x1.8p52;

INLINE uint64_t bits_of(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

INLINE double double_of(uint64_t b)
{
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

// exp(x) for |x| < 700, beyond that exp(-700): error 1e-14 of the value.
INLINE double exp_of(double x)
{
    x = x > -700 ? x : -700;
    const double t = x * 1.4426950408889634 + whole, n = t - whole;
    const double r = (x - n * 0x1.62e42fefa3800p-1) - n * 0x1.ef35793c76730p-45;
    double p = 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1;
    p = p * r + 1;
    return p * double_of((bits_of(t) << 52) + 0x3ff0000000000000u);
}

// exp(i x) for |x| < 1e6: error 1e-12.
INLINE Pair turn_of(double x)
{
    const double t = x * 0.6366197723675814 + whole, n = t - whole;
    const double r = (x - n * 0x1.921fb54400000p+0) - n * 0x1.0b4611a626331p-34, r2 = r * r;
    double s = 1.0 / 6227020800;
    s = s * r2 - 1.0 / 39916800;
    s = s * r2 + 1.0 / 362880;
    s = s * r2 - 1.0 / 5040;
    s = s * r2 + 1.0 / 120;
    s = s * r2 - 1.0 / 6;
    s = s * r2 * r + r;
    double c = -1.0 / 87178291200;
    c = c * r2 + 1.0 / 479001600;
    c = c * r2 - 1.0 / 3628800;
    c = c * r2 + 1.0 / 40320;
    c = c * r2 - 1.0 / 720;
    c = c * r2 + 1.0 / 24;
    c = c * r2 - 0.5;
    c = c * r2 + 1;
    const uint64_t quarter = bits_of(t) & 3;
    const double a = quarter & 1 ? s : c, b = quarter & 1 ? c : s;
    return (Pair){(quarter + 1) & 2 ? -a : a, quarter & 2 ? -b : b};
}

INLINE Pair exp_pair(Pair z)
{
    const double size = exp_of(z.re);
    const Pair turn = turn_of(z.im);
    return (Pair){size * turn.re, size * turn.im};
}

// The integrand, and the nodes under way: q = horizontal slowness in units of 1/v1, and
// `f` the integrand's part beside J0 and weight.
typedef struct Integral {
    const TwsmContact *contact;
    double chi, cos1, sin1;
    double depth, end; // of the path
    int n;
    double s[NODES], weight[NODES];
    double z_re[NODES], z_im[NODES]; // argument of J0
    double f_re[NODES], f_im[NODES];
    double sum_re, sum_im;
} Integral;

// Everything but J0 at all nodes: slope of the path, coefficient, i q / x1, the vertical phase.
static void fill_nodes(Integral *g)
{
    const double n2 = (g->contact->v1 / g->contact->v2) * (g->contact->v1 / g->contact->v2);
    const double rho1 = g->contact->rho1, rho2 = g->contact->rho2;
    const double plus = g->contact->transmit ? 1 : 0, d = g->depth, rate = M_PI / g->end;
    const double chi = g->chi, cos1 = g->cos1, along = g->chi * g->sin1;
    const int n = g->n;
#pragma omp simd
    for (int k = 0; k < n; k++) {
        const Pair angle = turn_of(g->s[k] * rate);
        const Pair q = {g->s[k], -d * angle.im}, slope = {1, -d * rate * angle.re};
        const Pair q2 = times(q, q);
        const Pair x1 = root_down((Pair){1 - q2.re, -q2.im});
        const Pair x2 = root_down((Pair){n2 - q2.re, -q2.im});
        const Pair up = {rho2 * x1.re - rho1 * x2.re, rho2 * x1.im - rho1 * x2.im};
        const Pair down = {rho2 * x1.re + rho1 * x2.re, rho2 * x1.im + rho1 * x2.im};
        Pair c = over(up, down);
        c.re += plus;
        const Pair rise = {-chi * x1.im * cos1, chi * (x1.re * cos1 - 1)};
        const Pair iq = {-q.im, q.re};
        const Pair f = times(times(over(iq, x1), c), times(slope, exp_pair(rise)));
        g->f_re[k] = f.re * g->weight[k];
        g->f_im[k] = f.im * g->weight[k];
        g->z_re[k] = q.re * along;
        g->z_im[k] = q.im * along;
    }
}

// Adds J0 times the rest for nodes first .. first + n - 1 by the power series, `most` the largest
// |z|^2 among them. Within 17 cancellation costs at most 7 of 16 digits.
static void add_series(Integral *g, int first, int n, double most)
{
    double term_re[NODES], term_im[NODES], sum_re[NODES], sum_im[NODES], r_re[NODES], r_im[NODES];
#pragma omp simd
    for (int k = 0; k < n; k++) {
        const Pair z = {g->z_re[first + k], g->z_im[first + k]};
        r_re[k] = -0.25 * (z.re * z.re - z.im * z.im);
        r_im[k] = -0.5 * z.re * z.im;
        term_re[k] = sum_re[k] = 1;
        term_im[k] = sum_im[k] = 0;
    }
    double bound = 1;
    for (int m = 1; m < 80 && (bound > 1e-13 || 0.25 * most > m * m); m++) {
        const double inv = 1 / ((double)m * m);
        bound *= 0.25 * most * inv;
#pragma omp simd
        for (int k = 0; k < n; k++) {
            const Pair t = times((Pair){term_re[k], term_im[k]}, (Pair){r_re[k], r_im[k]});
            term_re[k] = t.re * inv;
            term_im[k] = t.im * inv;
            sum_re[k] += term_re[k];
            sum_im[k] += term_im[k];
        }
    }
    for (int k = 0; k < n; k++) {
        g->sum_re += g->f_re[first + k] * sum_re[k] - g->f_im[first + k] * sum_im[k];
        g->sum_im += g->f_re[first + k] * sum_im[k] + g->f_im[first + k] * sum_re[k];
    }
}

// Hankel's expansion of the sums: 14 terms give 1e-11 from |z| = 14 on.
static void add_hankel(Integral *g, int first)
{
    double total_re = 0, total_im = 0;
    const int n = g->n;
#pragma omp simd reduction(+ : total_re, total_im)
    for (int k = first; k < n; k++) {
        const Pair z = {g->z_re[k], g->z_im[k]}, one = {1, 0};
        const Pair inv = over(one, (Pair){8 * z.re, 8 * z.im});
        // Terms of even number make P, of odd number Q, by Horner's rule: term m + 1 is term m
        // times (2m + 1)^2 / (m + 1) / (8 z); signs +, -, -, + as in Hankel's series.
        const Pair inv2 = times(inv, inv);
        Pair p = one, q = one;
#pragma GCC unroll 6
        for (int m = 12; m >= 2; m -= 2) {
            const double even =
                (2.0 * m - 3) * (2.0 * m - 3) / (m - 1) * (2.0 * m - 1) * (2.0 * m - 1) / m;
            const double odd =
                (2.0 * m - 1) * (2.0 * m - 1) / m * (2.0 * m + 1) * (2.0 * m + 1) / (m + 1);
            p = times(p, inv2);
            p = (Pair){1 - even * p.re, -even * p.im};
            q = times(q, inv2);
            q = (Pair){1 - odd * q.re, -odd * q.im};
        }
        q = times(q, (Pair){-inv.re, -inv.im});
        const Pair turn = exp_pair((Pair){-z.im, z.re - M_PI / 4}), back = over(one, turn);
        const Pair add = {turn.re + back.re, turn.im + back.im};
        const Pair sub = {turn.re - back.re, turn.im - back.im};
        const Pair pa = times(p, add), qs = times(q, sub);
        const Pair size = root(over((Pair){2 / M_PI, 0}, z));
        const Pair j0 = times(size, (Pair){0.5 * (pa.re - qs.im), 0.5 * (pa.im + qs.re)});
        total_re += g->f_re[k] * j0.re - g->f_im[k] * j0.im;
        total_im += g->f_re[k] * j0.im + g->f_im[k] * j0.re;
    }
    g->sum_re += total_re;
    g->sum_im += total_im;
}

// Adds the panels that have gathered. |z| grows along the path, so that the series' nodes lie
// first.
static void add_nodes(Integral *g)
{
    fill_nodes(g);
    int near = 0;
    double most = 0;
    for (; near < g->n; near++) {
        const double size = g->z_re[near] * g->z_re[near] + g->z_im[near] * g->z_im[near];
        if (size >= 14 * 14)
            break;
        most = size > most ? size : most;
    }
    if (near > 0)
        add_series(g, 0, near, most);
    if (near < g->n)
        add_hankel(g, near);
    g->n = 0;
}

static void add_panel(Integral *g, double from, double width)
{
    for (int k = 0; k < PANEL; k++) {
        g->s[g->n] = from + 0.5 * width * (1 + gauss_x[k]);
        g->weight[g->n++] = 0.5 * width * gauss_w[k];
    }
    if (g->n == NODES)
        add_nodes(g);
}

// Distance from the path at s to the branch point at `point`.
static double way_off(const Integral *g, double s, double point)
{
    const double depth = g->depth * sin(M_PI * s / g->end);
    return hypot(s - point, depth);
}

// Phase of the integrand per unit of chi s. Its vertical part, cos1 q / x1, grows towards q = 1,
// where the path's depth damps it by the square of exp(-rate): beyond 5 nothing is left to resolve.
static double phase_rate(const Integral *g, double s)
{
    const double x1 = sqrt(way_off(g, s, 1) * (1 + s));
    return g->sin1 + fmin(g->cos1 * s / x1, 5);
}

// Width of the panel from s on: 8 radians of phase, which 8 points resolve to 1e-8, and at most
// three quarters of the way to a branch point.
static double panel_width(const Integral *g, double s, double ratio)
{
    double width = fmin(0.75 * fmin(way_off(g, s, 1), way_off(g, s, ratio)), 0.1 * g->end);
    width = fmin(width, 8 / (g->chi * phase_rate(g, s)));
    width = fmin(width, 8 / (g->chi * phase_rate(g, s + width)));
    return fmin(fmax(width, 1e-4 * g->end), g->end - s);
}

double complex twsm_coef_effective(const TwsmContact *c, double chi, double cos1)
{
    // The path runs below the branch points at q = 1 and q = v1/v2 at depth d, where J0 grows by
    // e^2 at most; it ends where the evanescent tail has fallen by e^-36.
    const double ratio = c->v1 / c->v2, tail = 36 / (chi * cos1);
    Integral g = {.contact = c,
                  .chi = chi,
                  .cos1 = cos1,
                  .sin1 = sqrt(fmax(0, 1 - cos1 * cos1)),
                  .depth = fmin(0.25, 2 / chi),
                  .end = fmax(fmax(sqrt(1 + tail * tail), 1.3 * ratio), 1.3)};
    for (double at = 0; g.end - at > 1e-12 * g.end;) {
        const double width = panel_width(&g, at, ratio);
        add_panel(&g, at, width);
        at += width;
    }
    if (g.n > 0)
        add_nodes(&g);
    return CMPLX(chi * g.sum_re, chi * g.sum_im);
}
