// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/taps.h"

#include <math.h>
#include <string.h>

enum { POINTS = 12 }; // of an interpolated sample

static LithoTaps taps_new(int n_out, int n_in, int width)
{
    return (LithoTaps){n_out,
                       n_in,
                       width,
                       g_new0(int, n_out),
                       g_new0(int, n_out),
                       g_new0(float, (gsize)n_out *width)};
}

void litho_taps_clear(LithoTaps *t)
{
    g_clear_pointer(&t->first, g_free);
    g_clear_pointer(&t->count, g_free);
    g_clear_pointer(&t->weight, g_free);
}

static LithoTaps identity(int n)
{
    LithoTaps t = taps_new(n, n, 1);
    for (int o = 0; o < n; o++) {
        t.first[o] = o;
        t.count[o] = 1;
        t.weight[o] = 1;
    }
    return t;
}

int litho_taps_wide(int n, double ratio)
{
    return n > 1 ? (int)ceil((n - 1) / ratio - 1e-9) + 1 : n;
}

static double sinc(double x)
{
    return x == 0 ? 1 : sin(G_PI * x) / (G_PI * x);
}

// --- to wide cells ----------------------------------------------------------------------------

// Modified Bessel function of order 0, by its series: 12 digits for the arguments of a window.
static double bessel_i0(double x)
{
    double term = 1, sum = 1;
    for (int k = 1; k < 40; k++) {
        term *= (x / (2 * k)) * (x / (2 * k));
        sum += term;
    }
    return sum;
}

enum { REACH = 6 }; // wide cells on either side

// Kaiser's window with 50 dB: flat to 0.75 of the wide cells' Nyquist wavenumber within 0.5 %, gone
// from 1.25 of it on.
static double low_pass(double x)
{
    const double q = x / REACH, beta = 4.6;
    return fabs(q) >= 1 ? 0 : sinc(x) * bessel_i0(beta * sqrt(1 - q * q)) / bessel_i0(beta);
}

LithoTaps litho_taps_decimation(int n_fine, int n_wide, double ratio)
{
    if (n_fine == 1)
        return identity(1);
    LithoTaps t = taps_new(n_wide, n_fine, (int)(2 * REACH * ratio) + 1);
    for (int o = 0; o < n_wide; o++) {
        const double at = o * ratio;
        const int lo = (int)ceil(at - REACH * ratio), hi = (int)floor(at + REACH * ratio);
        double all = 0;
        for (int i = lo; i <= hi; i++)
            all += low_pass((i - at) / ratio);
        t.first[o] = CLAMP(lo, 0, n_fine - 1);
        t.count[o] = MAX(MIN(hi, n_fine - 1) - t.first[o] + 1, 0);
        for (int k = 0; k < t.count[o]; k++)
            litho_taps_row(&t, o)[k] = (float)(low_pass((t.first[o] + k - at) / ratio) / all);
    }
    return t;
}

// --- from wide cells --------------------------------------------------------------------------

// Solves a x = b for symmetric positive a, n <= POINTS; both are used up, b becomes x.
static void solve(double a[POINTS][POINTS], double *b, int n)
{
    for (int j = 0; j < n; j++) {
        for (int i = j + 1; i < n; i++) {
            const double factor = a[i][j] / a[j][j];
            for (int k = j; k < n; k++)
                a[i][k] -= factor * a[j][k];
            b[i] -= factor * b[j];
        }
    }
    for (int j = n - 1; j >= 0; j--) {
        for (int k = j + 1; k < n; k++)
            b[j] -= a[j][k] * b[k];
        b[j] /= a[j][j];
    }
}

// The weights of samples 0 .. n - 1 that give a wave's value at `x` with the smallest mean square
// error over wavenumbers up to 0.8 of Nyquist, while those beyond are kept from growing; exact at
// 0.
static void best_weights(double x, int n, double *weight)
{
    const double band = 0.8, beyond = 1e-3;
    double a[POINTS][POINTS], sum = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            a[i][j] = (1 - beyond) * band * sinc(band * (i - j)) + (i == j ? beyond : 0);
        weight[i] = band * sinc(band * (x - i));
    }
    solve(a, weight, n);
    for (int i = 0; i < n; i++)
        sum += weight[i];
    for (int i = 0; i < n; i++)
        weight[i] /= sum;
}

LithoTaps litho_taps_interpolation(int n_wide, int n_fine, double ratio)
{
    if (n_fine == 1)
        return identity(1);
    const int n = MIN(POINTS, n_wide);
    LithoTaps t = taps_new(n_fine, n_wide, n);
    for (int o = 0; o < n_fine; o++) {
        const double at = o / ratio;
        double weight[POINTS];
        t.first[o] = CLAMP((int)floor(at) - POINTS / 2 + 1, 0, n_wide - n);
        t.count[o] = n;
        best_weights(at - t.first[o], n, weight);
        for (int k = 0; k < n; k++)
            litho_taps_row(&t, o)[k] = (float)weight[k];
    }
    return t;
}

// --- means ------------------------------------------------------------------------------------

LithoTaps litho_taps_mean(int n_fine, int n_wide, double start, double ratio)
{
    LithoTaps t = taps_new(n_wide, n_fine, (int)ceil(ratio) + 1);
    for (int o = 0; o < n_wide; o++) {
        const double from = start + ratio * o, to = from + ratio;
        const int lo = (int)floor(from + 1e-9), hi = (int)ceil(to - 1e-9);
        t.first[o] = CLAMP(lo, 0, n_fine - 1);
        for (int j = lo; j < hi; j++) {
            const int at = CLAMP(j, 0, n_fine - 1) - t.first[o];
            litho_taps_row(&t, o)[at] += (float)((fmin(to, j + 1) - fmax(from, j)) / ratio);
            t.count[o] = MAX(t.count[o], at + 1);
        }
    }
    return t;
}

// --- all --------------------------------------------------------------------------------------

LithoTaps litho_taps_transposed(const LithoTaps *t)
{
    // Outputs that look at an input: rows move to the right, so they follow each other.
    g_autofree int *first = g_new(int, t->n_in), *last = g_new(int, t->n_in);
    int width = 1;
    for (int i = 0; i < t->n_in; i++) {
        first[i] = t->n_out;
        last[i] = -1;
    }
    for (int o = 0; o < t->n_out; o++)
        for (int k = 0; k < t->count[o]; k++) {
            const int i = t->first[o] + k;
            first[i] = MIN(first[i], o);
            last[i] = MAX(last[i], o);
            width = MAX(width, last[i] - first[i] + 1);
        }
    LithoTaps r = taps_new(t->n_in, t->n_out, width);
    for (int i = 0; i < t->n_in; i++) {
        r.first[i] = last[i] < 0 ? 0 : first[i];
        r.count[i] = MAX(last[i] - first[i] + 1, 0);
    }
    for (int o = 0; o < t->n_out; o++)
        for (int k = 0; k < t->count[o]; k++) {
            const int i = t->first[o] + k;
            litho_taps_row(&r, i)[o - first[i]] = litho_taps_row(t, o)[k];
        }
    return r;
}

static void apply_row(const LithoTaps *t, int o, gsize inner, const float *in, float *out)
{
    const float *weight = litho_taps_row(t, o);
    if (inner == 1) {
        float sum = 0;
        for (int k = 0; k < t->count[o]; k++)
            sum += weight[k] * in[t->first[o] + k];
        *out = sum;
        return;
    }
    memset(out, 0, sizeof(float) * inner);
    for (int k = 0; k < t->count[o]; k++) {
        const float *from = in + (t->first[o] + k) * inner, w = weight[k];
        for (gsize x = 0; x < inner; x++)
            out[x] += w * from[x];
    }
}

void litho_taps_apply(const LithoTaps *t, gsize outer, gsize inner, const float *in, float *out,
                      int threads)
{
#pragma omp parallel for collapse(2) schedule(static) num_threads(threads) if (threads > 1)
    for (gsize a = 0; a < outer; a++)
        for (int o = 0; o < t->n_out; o++)
            apply_row(t, o, inner, in + a * t->n_in * inner, out + (a * t->n_out + o) * inner);
}
