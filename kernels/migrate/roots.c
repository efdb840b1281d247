// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/roots.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#include "kernels/migrate/migrate.h"

typedef double complex Complex;

enum { MOST = LITHO_MIGRATE_MAX_DEGREE, SAMPLES = 4 * (MOST + 1) };

// p(x) and p'(x) by Clenshaw's recursion.
static Complex value_at(const LithoPoly *poly, Complex x, Complex *slope)
{
    Complex b1 = 0, b2 = 0, d1 = 0, d2 = 0;
    for (int n = poly->spec.degree; n >= 1; n--) {
        Complex b = poly->re[n] + I * poly->im[n] + 2 * x * b1 - b2, d = 2 * b1 + 2 * x * d1 - d2;
        b2 = b1;
        b1 = b;
        d2 = d1;
        d1 = d;
    }
    *slope = b1 + x * d1 - d2;
    return poly->re[0] + I * poly->im[0] + x * b1 - b2;
}

// All roots at once (Aberth's method), from points around the interval [-1, 1], where they lie.
static gboolean find_roots(const LithoPoly *poly, Complex *z)
{
    const int n = poly->spec.degree;
    for (int k = 0; k < n; k++) {
        double angle = G_PI * (k + 0.5) / n;
        z[k] = 1.3 * cos(angle) + I * (0.01 * k + (k & 1 ? 0.7 : -0.7) * sin(angle));
    }
    for (int round = 0; round < 200; round++) {
        double largest = 0;
        for (int k = 0; k < n; k++) {
            Complex slope, p = value_at(poly, z[k], &slope), others = 0;
            Complex newton = p / slope;
            for (int j = 0; j < n; j++)
                if (j != k)
                    others += 1 / (z[k] - z[j]);
            Complex move = newton / (1 - newton * others);
            z[k] -= move;
            largest = fmax(largest, cabs(move) / (1 + cabs(z[k])));
        }
        if (!isfinite(largest))
            return FALSE;
        if (largest < 1e-12)
            return TRUE;
    }
    return FALSE;
}

// Greedily: next is the factor with the smallest product of the largest partial product after it and
// the largest rest, both over the spectrum. Logarithms, for the products span many decades.
static double order_roots(const Complex *z, int n, double log_scale, Complex *ordered)
{
    const int m = 4 * (n + 1);
    double partial[SAMPLES] = {0}, rest[SAMPLES] = {0}, gain = 0;
    double(*log_factor)[SAMPLES] = g_malloc(n * sizeof *log_factor);
    gboolean used[MOST] = {0};
    for (int k = 0; k < n; k++)
        for (int i = 0; i < m; i++) {
            log_factor[k][i] = log_scale + log(cabs(cos(G_PI * i / (m - 1)) - z[k]) + 1e-30);
            rest[i] += log_factor[k][i];
        }
    for (int at = 0; at < n; at++) {
        int best = -1;
        double lowest = INFINITY;
        for (int k = 0; k < n; k++) {
            double before = -INFINITY, after = -INFINITY;
            for (int i = 0; i < m && !used[k]; i++) {
                before = fmax(before, partial[i] + log_factor[k][i]);
                after = fmax(after, rest[i] - log_factor[k][i]);
            }
            if (!used[k] && before + after < lowest) {
                lowest = before + after;
                best = k;
            }
        }
        used[best] = TRUE;
        ordered[at] = z[best];
        gain += exp(lowest);
        for (int i = 0; i < m; i++) {
            partial[i] += log_factor[best][i];
            rest[i] -= log_factor[best][i];
        }
    }
    g_free(log_factor);
    return gain;
}

// Largest difference of the product with its rounded roots from p over the spectrum; 8 (N + 1)
// angles see a polynomial's maximum to 2 %.
static double rounding_of(const LithoPoly *poly, const LithoFactors *f)
{
    const int n = poly->spec.degree, m = 8 * (n + 1);
    double worst = 0;
    for (int i = 0; i <= m; i++) {
        double x = cos(G_PI * i / m);
        Complex slope, product = f->turn_re + I * f->turn_im;
        for (int k = 0; k < n; k++)
            product *= f->scale * x - (f->re[k] + I * f->im[k]);
        worst = fmax(worst, cabs(product - value_at(poly, x, &slope)));
    }
    return worst;
}

gboolean litho_poly_factor(const LithoPoly *poly, LithoFactors *factors)
{
    const int n = poly->spec.degree;
    Complex z[MOST], ordered[MOST];
    Complex lead = (poly->re[n] + I * poly->im[n]) * ldexp(1, n - 1);
    if (n < 1 || cabs(lead) < 1e-20 || !find_roots(poly, z))
        return FALSE;
    const float scale = (float)pow(cabs(lead), 1.0 / n);
    memset(factors, 0, sizeof *factors);
    factors->scale = scale;
    factors->gain = order_roots(z, n, log(scale), ordered);
    for (int k = 0; k < n; k++) {
        factors->re[k] = (float)(scale * creal(ordered[k]));
        factors->im[k] = (float)(scale * cimag(ordered[k]));
    }
    Complex turn = lead / pow(scale, n);
    factors->turn_re = (float)creal(turn);
    factors->turn_im = (float)cimag(turn);
    const double off = 1.02 * rounding_of(poly, factors);
    factors->turn_re /= (float)(1 + off);
    factors->turn_im /= (float)(1 + off);
    return off < 1e-4 && factors->gain < 2e4;
}
