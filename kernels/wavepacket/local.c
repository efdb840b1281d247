// SPDX-License-Identifier: GPL-3.0-or-later
//
// Levels of the residual and the coarse box in local Fourier windows.
#include "kernels/wavepacket/local.h"

#include <complex.h>
#include <math.h>

enum { N = WP_LOCAL, FINE = 2 * N }; // frequencies that the noise's spectrum is summed over

void wp_local_taper(int n, float taper[WP_LOCAL])
{
    for (int k = 0; k < N; k++)
        taper[k] = n == 1 ? 1 : (float)sin(G_PI * (k + 0.5) / N);
}

// share[k][f]: power that noise of frequency f / FINE leaves in coefficient k.
static void window_spectrum(double share[N][FINE])
{
    for (int k = 0; k < N; k++)
        for (int f = 0; f < FINE; f++) {
            double complex sum = 0;
            for (int n = 0; n < N; n++)
                sum += sin(G_PI * (n + 0.5) / N) *
                       cexp(-2 * G_PI * I * n * ((double)k / N - (double)f / FINE));
            share[k][f] = (creal(sum) * creal(sum) + cimag(sum) * cimag(sum)) / FINE;
        }
}

// Shares along an axis of one sample, which lies in its window alone with a weight of one: noise of
// any frequency leaves equal power in all coefficients.
static void line_spectrum(double share[N][FINE])
{
    for (int k = 0; k < N; k++)
        for (int f = 0; f < FINE; f++)
            share[k][f] = 1.0 / FINE;
}

// Sums the last axis of from[rows][FINE] into to[N][rows]: after three of them the axes stand in
// their order again.
static void contract(double share[N][FINE], const double *from, int rows, double *to)
{
    for (int k = 0; k < N; k++)
        for (int r = 0; r < rows; r++) {
            double sum = 0;
            for (int f = 0; f < FINE; f++)
                sum += share[k][f] * from[r * FINE + f];
            to[k * rows + r] = sum;
        }
}

// Power of the noise in the box at frequency (i, j, l) / FINE of its lattice.
static double lattice_power(const WpTiling *tiling, const WpBox *box, const LithoNoise *noise,
                            const int index[3])
{
    double xi[3];
    for (int a = 0; a < 3; a++)
        xi[a] = box->n[a] == 1 ? 0
                               : (double)(index[a] < N ? index[a] : index[a] - FINE) / FINE *
                                     box->n[a] / box->M[a];
    const double phi =
        box->kind == WP_COARSE ? wp_window_coarse(tiling, xi) : wp_window_residual(tiling, xi);
    return phi * phi *
           (noise ? wp_noise_power(noise, fabs(xi[2])) * litho_noise_shape(noise, xi) : 1);
}

double *wp_local_powers(const WpTiling *tiling, const WpBox *box, const LithoNoise *noise,
                        int threads)
{
    g_autofree double *a = g_new(double, FINE *FINE *FINE);
    double *b = g_new(double, N *FINE *FINE);
    double window[N][FINE], line[N][FINE];
    window_spectrum(window);
    line_spectrum(line);
#pragma omp parallel for num_threads(threads)
    for (int i = 0; i < FINE; i++)
        for (int j = 0; j < FINE; j++)
            for (int l = 0; l < FINE; l++)
                a[(i * FINE + j) * FINE + l] =
                    lattice_power(tiling, box, noise, (const int[3]){i, j, l});
    contract(box->n[2] == 1 ? line : window, a, FINE * FINE, b); // [k3][f1][f2]
    contract(box->n[1] == 1 ? line : window, b, N * FINE, a);    // [k2][k3][f1]
    contract(box->n[0] == 1 ? line : window, a, N * N, b);       // [k1][k2][k3]
    return b;
}

float *wp_local_limits(const double *powers, double k)
{
    float *limit = g_new(float, WP_LOCAL_LIMITS);
    for (int i = 0; i < WP_LOCAL_LIMITS; i++)
        limit[i] = (float)(2 * k * k * powers[i]);
    return limit;
}
