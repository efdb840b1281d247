// SPDX-License-Identifier: GPL-3.0-or-later
//
// Levels of the residual and the coarse box in local Fourier windows.
#include "kernels/wavepacket/local.h"

#include <complex.h>
#include <math.h>

enum { N = WP_LOCAL, FINE = 2 * N }; // frequencies that the noise's spectrum is summed over
G_STATIC_ASSERT((int)WP_LOCAL_FREQUENCIES == (int)FINE * (int)FINE * (int)FINE);

void wp_local_taper(int n, float taper[WP_LOCAL])
{
    for (int k = 0; k < N; k++)
        taper[k] = n == 1 ? 1 : (float)sin(G_PI * (k + 0.5) / N);
}

// share[k][f]: power that noise of frequency f / FINE leaves in coefficient k, which depends on
// their distance alone.
static void window_spectrum(double share[N][FINE])
{
    double at[FINE];
    for (int d = 0; d < FINE; d++) {
        double complex sum = 0;
        for (int n = 0; n < N; n++)
            sum += sin(G_PI * (n + 0.5) / N) * cexp(-2 * G_PI * I * n * (double)d / FINE);
        at[d] = (creal(sum) * creal(sum) + cimag(sum) * cimag(sum)) / FINE;
    }
    for (int k = 0; k < N; k++)
        for (int f = 0; f < FINE; f++)
            share[k][f] = at[(2 * k - f + FINE) % FINE];
}

// Shares along an axis of one sample, which lies in its window alone with a weight of one: noise of
// any frequency leaves equal power in all coefficients.
static void line_spectrum(double share[N][FINE])
{
    for (int k = 0; k < N; k++)
        for (int f = 0; f < FINE; f++)
            share[k][f] = 1.0 / FINE;
}

// Shares along an axis of n samples, by frequency.
static void axis_spectrum(int n, double by_frequency[FINE][N])
{
    double share[N][FINE];
    if (n == 1)
        line_spectrum(share);
    else
        window_spectrum(share);
    for (int f = 0; f < FINE; f++)
        for (int k = 0; k < N; k++)
            by_frequency[f][k] = share[k][f];
}

// Sums the last axis of from[rows][FINE] into to[N][rows]: after three of them the axes stand in
// their order again.
static void contract(double share[FINE][N], const double *from, int rows, double *to)
{
    for (int r = 0; r < rows; r++) {
        double sum[N] = {0};
        for (int f = 0; f < FINE; f++)
            for (int k = 0; k < N; k++)
                sum[k] += share[f][k] * from[r * FINE + f];
        for (int k = 0; k < N; k++)
            to[k * rows + r] = sum[k];
    }
}

// Frequency `index` / FINE of the box's lattice along an axis, in cycles per sample.
static double frequency(const WpBox *box, int axis, int index)
{
    return box->n[axis] == 1
               ? 0
               : (double)(index < N ? index : index - FINE) / FINE * box->n[axis] / box->M[axis];
}

double *wp_local_window(const WpTiling *tiling, const WpBox *box, int threads)
{
    double *squares = g_new(double, WP_LOCAL_FREQUENCIES);
#pragma omp parallel for num_threads(threads)
    for (int i = 0; i < FINE; i++)
        for (int j = 0; j < FINE; j++)
            for (int l = 0; l < FINE; l++) {
                const double xi[3] = {frequency(box, 0, i), frequency(box, 1, j),
                                      frequency(box, 2, l)};
                const double phi = box->kind == WP_COARSE ? wp_window_coarse(tiling, xi)
                                                          : wp_window_residual(tiling, xi);
                squares[(i * FINE + j) * FINE + l] = phi * phi;
            }
    return squares;
}

// Power of the noise behind the window.
static void lattice_powers(const double *window, const WpBox *box, const LithoNoise *noise,
                           int threads, double *to)
{
    double power[FINE];
    for (int l = 0; l < FINE; l++)
        power[l] = noise ? wp_noise_power(noise, fabs(frequency(box, 2, l))) : 1;
#pragma omp parallel for num_threads(threads)
    for (int i = 0; i < FINE; i++)
        for (int j = 0; j < FINE; j++)
            for (int l = 0; l < FINE; l++) {
                const double xi[3] = {frequency(box, 0, i), frequency(box, 1, j),
                                      frequency(box, 2, l)};
                const double own = noise ? power[l] * litho_noise_shape(noise, xi) : 1;
                const int at = (i * FINE + j) * FINE + l;
                to[at] = window[at] * own;
            }
}

double *wp_local_powers(const double *window, const WpBox *box, const LithoNoise *noise,
                        int threads)
{
    g_autofree double *a = g_new(double, FINE *FINE *FINE);
    double *b = g_new(double, N *FINE *FINE);
    double share[3][FINE][N];
    for (int axis = 0; axis < 3; axis++)
        axis_spectrum(box->n[axis], share[axis]);
    lattice_powers(window, box, noise, threads, a);
    contract(share[2], a, FINE * FINE, b); // [k3][f1][f2]
    contract(share[1], b, N * FINE, a);    // [k2][k3][f1]
    contract(share[0], a, N * N, b);       // [k1][k2][k3]
    return b;
}

float *wp_local_limits(const double *powers, double k)
{
    float *limit = g_new(float, WP_LOCAL_LIMITS);
    for (int i = 0; i < WP_LOCAL_LIMITS; i++)
        limit[i] = (float)(2 * k * k * powers[i]);
    return limit;
}
