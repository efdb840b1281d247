// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <math.h>
#include "core/cube.h"

// Volumes the wave-packet tests share. Seeds are fixed: the figures in docs/wavepacket.md are of
// these very volumes.

static inline double wp_test_gauss(GRand *rand)
{
    return sqrt(-2 * log(1 - g_rand_double(rand))) * cos(2 * G_PI * g_rand_double(rand));
}

static inline void wp_test_noise(float *u, gint64 n, guint32 seed)
{
    GRand *rand = g_rand_new_with_seed(seed);
    for (gint64 i = 0; i < n; i++)
        u[i] = (float)wp_test_gauss(rand);
    g_rand_free(rand);
}

// Nine curved events with Ricker wavelets about 0.1 cycles/sample along the last axis.
static inline void wp_test_events(float *u, const gint64 n[3])
{
    GRand *rand = g_rand_new_with_seed(11);
    double e[9][8];
    for (int k = 0; k < 9; k++) {
        e[k][0] = (0.1 + 0.1 * k) * n[2];                 // time at the centre
        e[k][1] = g_rand_double_range(rand, -0.45, 0.45); // slopes, samples/trace
        e[k][2] = g_rand_double_range(rand, -0.45, 0.45);
        e[k][3] = g_rand_double_range(rand, -0.004, 0.004); // curvatures
        e[k][4] = g_rand_double_range(rand, -0.004, 0.004);
        e[k][5] = g_rand_double_range(rand, 0.5, 1) * (k % 2 ? 1 : -1);
        e[k][6] = g_rand_double_range(rand, 0.08, 0.12); // peak frequency
    }
    for (gint64 i = 0; i < n[0]; i++)
        for (gint64 j = 0; j < n[1]; j++)
            for (gint64 t = 0; t < n[2]; t++) {
                double x = i - 0.5 * n[0], y = j - 0.5 * n[1], sum = 0;
                for (int k = 0; k < 9; k++) {
                    double at =
                        e[k][0] + e[k][1] * x + e[k][2] * y + e[k][3] * x * x + e[k][4] * y * y;
                    double a = G_PI * e[k][6] * (t - at), q = a * a;
                    sum += e[k][5] * (1 - 2 * q) * exp(-q);
                }
                u[(i * n[1] + j) * n[2] + t] = (float)sum;
            }
    g_rand_free(rand);
}

static inline double wp_test_energy(const float *u, gint64 n)
{
    double sum = 0;
    for (gint64 i = 0; i < n; i++)
        sum += (double)u[i] * u[i];
    return sum;
}

// ||a - b||/||b||.
static inline double wp_test_error(const float *a, const float *b, gint64 n)
{
    double d = 0;
    for (gint64 i = 0; i < n; i++)
        d += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
    return sqrt(d / wp_test_energy(b, n));
}

static inline double wp_test_snr(const float *a, const float *truth, gint64 n)
{
    return -20 * log10(wp_test_error(a, truth, n));
}
