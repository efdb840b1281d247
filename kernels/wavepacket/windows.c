// SPDX-License-Identifier: GPL-3.0-or-later
//
// The windows sampled on the boxes' lattices: the long part of a plan, box by box in parallel.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "kernels/wavepacket/boxes.h"

// Lattice point j as a frequency.
static inline void lattice_xi(const WpBox *box, int j1, int j2, int j3, double xi[3])
{
    double t1 = (box->j0[0] + j1) / box->M[0], t2 = (box->j0[1] + j2) / box->M[1];
    double t3 = (box->j0[2] + j3) / box->M[2];
    for (int a = 0; a < 3; a++)
        xi[a] = t1 * box->R[0][a] + t2 * box->R[1][a] + t3 * box->R[2][a];
}

static void window_row(const WpTiling *t, const WpBox *box, const WpNeighbour *nb, int count,
                       int j1, int j2, float *phi)
{
    for (int at = 0; at < box->n[2]; at += WP_ROW) {
        int n = MIN(WP_ROW, box->n[2] - at);
        float x[WP_ROW], y[WP_ROW], z[WP_ROW];
        for (int i = 0; i < n; i++) {
            double xi[3];
            lattice_xi(box, j1, j2, at + i, xi);
            x[i] = (float)xi[0];
            y[i] = (float)xi[1];
            z[i] = (float)xi[2];
            if (box->kind == WP_COARSE)
                phi[at + i] = (float)wp_window_coarse(t, xi);
        }
        if (box->kind == WP_DIRECTION)
            wp_window_points(t, box->scale, nb, count, n, x, y, z, phi + at);
    }
}

// Adds window energy at a frequency along the samples to its band.
static inline void add_profile(double *profile, double xi3, double energy)
{
    const double f = fabs(xi3 - rint(xi3)); // beyond Nyquist: its image
    profile[MIN((int)(2 * WP_PROFILE * f), WP_PROFILE - 1)] += energy;
}

static void keep_profile(WpBox *box, const double *profile, double sum)
{
    box->profile = g_new(float, WP_PROFILE);
    for (int k = 0; k < WP_PROFILE; k++)
        box->profile[k] = (float)(sum > 0 ? profile[k] / sum : 0);
}

// Fills rows, weights and profile; returns sum phi^2. Of use only where the run was not told to
// stop.
static double box_windows(const WpGeometry *g, WpBox *box, const LithoRun *run)
{
    int count = 0;
    WpNeighbour *nb = box->kind == WP_DIRECTION
                          ? wp_neighbours(g->tiling, box->scale, box->direction, &count)
                          : NULL;
    const gint64 rows = (gint64)box->n[0] * box->n[1], points = rows * box->n[2];
    const double s = box->kind == WP_DIRECTION ? G_SQRT2 : 1;
    const float factor = (float)(s / sqrt(box->M[0] * box->M[1] * box->M[2] * (double)points));
    float *phi = g_new(float, box->n[2]), *weight = g_try_new(float, points);
    double sum = 0, profile[WP_PROFILE] = {0};
    gint64 at = 0;
    box->rows = g_try_new0(WpRow, rows);
    if (!weight || !box->rows) {
        g_free(weight);
        g_free(phi);
        g_free(nb);
        return -1;
    }
    for (gint64 r = 0; r < rows && litho_run_checkpoint(run); r++) {
        window_row(g->tiling, box, nb, count, (int)(r / box->n[1]), (int)(r % box->n[1]), phi);
        int first = 0, end = box->n[2];
        while (first < end && phi[first] == 0)
            first++;
        while (end > first && phi[end - 1] == 0)
            end--;
        box->rows[r] = (WpRow){(guint32)at, (guint16)first, (guint16)(end - first)};
        for (int j = first; j < end; j++) {
            double xi[3];
            lattice_xi(box, (int)(r / box->n[1]), (int)(r % box->n[1]), j, xi);
            add_profile(profile, xi[2], (double)phi[j] * phi[j]);
            sum += (double)phi[j] * phi[j];
            weight[at++] = phi[j] * factor;
        }
    }
    keep_profile(box, profile, sum);
    g_free(phi);
    g_free(nb);
    box->weight = g_try_realloc_n(weight, MAX(at, 1), sizeof *weight);
    if (!box->weight) // what is smaller by now was refused
        box->weight = weight;
    box->n_weights = at;
    return sum;
}

double wp_box_mean(const WpTiling *t, const WpBox *box,
                   double (*power)(const double xi[3], gconstpointer data), gconstpointer data)
{
    enum { POINTS = 8 }; // per axis, about
    int count = 0, step[3];
    g_autofree WpNeighbour *nb = wp_neighbours(t, box->scale, box->direction, &count);
    double sum = 0, weight = 0;
    for (int a = 0; a < 3; a++)
        step[a] = MAX(box->n[a] / POINTS, 1);
    for (int i = step[0] / 2; i < box->n[0]; i += step[0])
        for (int j = step[1] / 2; j < box->n[1]; j += step[1])
            for (int k = step[2] / 2; k < box->n[2]; k += step[2]) {
                double xi[3];
                float phi;
                lattice_xi(box, i, j, k, xi);
                const float x = (float)xi[0], y = (float)xi[1], z = (float)xi[2];
                wp_window_points(t, box->scale, nb, count, 1, &x, &y, &z, &phi);
                if (phi > 0)
                    sum += (double)phi * phi * power(xi, data);
                weight += (double)phi * phi;
            }
    return weight > 0 ? sum / weight : 0;
}

// Row (i, j) of the residual box's half spectrum is also that of the opposite wavenumbers.
static void mirror_row(float *weights, const int n[3], int i, int j)
{
    const int half = n[2] / 2 + 1, at[2] = {(n[0] - i) % n[0], (n[1] - j) % n[1]};
    const float *from = weights + ((gsize)i * n[1] + j) * half;
    for (int m = 1; m < 4; m++) {
        const int a = m & 1 ? at[0] : i, b = m & 2 ? at[1] : j;
        if (a != i || b != j)
            memcpy(weights + ((gsize)a * n[1] + b) * half, from, half * sizeof *from);
    }
}

float *wp_residual_weights(const WpGeometry *g, LithoRun *run, GError **error)
{
    const WpBox *box = wp_residual(g);
    const int *n = box->n, half = n[2] / 2 + 1;
    const double scale = 1.0 / ((double)n[0] * n[1] * n[2]);
    float *weights = litho_memory_new((gsize)n[0] * n[1] * half, sizeof *weights,
                                      "weights of the residual", error);
    if (!weights)
        return NULL;
#pragma omp parallel for schedule(dynamic) num_threads(litho_run_threads(run))
    for (int i = 0; i <= n[0] / 2; i++)
        for (int j = 0; j <= n[1] / 2 && litho_run_checkpoint(run); j++) {
            float *row = weights + ((gsize)i * n[1] + j) * half;
            for (int k = 0; k < half; k++) {
                double xi[3] = {(double)i / n[0], (double)j / n[1], (double)k / n[2]};
                row[k] = (float)(scale * wp_window_residual(g->tiling, xi));
            }
            mirror_row(weights, n, i, j);
        }
    if (!litho_run_step(run, 1, 1, error))
        g_clear_pointer(&weights, g_free);
    return weights;
}

// Points of an axis of n that have the frequency of point i <= n / 2 or its opposite.
static int alike(int i, int n)
{
    return 2 * i % n == 0 ? 1 : 2;
}

static double residual_energy(const WpGeometry *g, WpBox *box, const LithoRun *run)
{
    const int *n = box->n;
    g_autofree double *bands = g_new0(double, n[2] / 2 + 1);
    double sum = 0, profile[WP_PROFILE] = {0};
#pragma omp parallel for schedule(static) num_threads(litho_run_threads(run))
    for (int k = 0; k <= n[2] / 2; k++)
        for (int i = 0; i <= n[0] / 2 && litho_run_checkpoint(run); i++)
            for (int j = 0; j <= n[1] / 2; j++) {
                const double phi = wp_window_residual(
                    g->tiling, (double[3]){(double)i / n[0], (double)j / n[1], (double)k / n[2]});
                bands[k] += alike(i, n[0]) * alike(j, n[1]) * phi * phi;
            }
    for (int k = 0; k <= n[2] / 2; k++) {
        add_profile(profile, (double)k / n[2], alike(k, n[2]) * bands[k]);
        sum += alike(k, n[2]) * bands[k];
    }
    keep_profile(box, profile, sum);
    return sum;
}

static void finish_box(WpGeometry *g, WpBox *box, const LithoRun *run)
{
    double sum = box->kind == WP_RESIDUAL ? residual_energy(g, box, run) : box_windows(g, box, run);
    double s = box->kind == WP_DIRECTION ? G_SQRT2 : 1;
    if (sum < 0) // box_windows() had no memory
        return;
    box->sigma = s * sqrt(sum / ((double)box->n[0] * box->n[1] * box->n[2]));
}

gboolean wp_fill_windows(WpGeometry *g, LithoRun *run, GError **error)
{
    const int n = g->n_boxes, threads = litho_run_threads(run);
    litho_run_begin(run, "windows", "boxes");
    for (int at = 0; at < n; at += 4 * threads) {
        const int end = MIN(at + 4 * threads, n);
        if (!litho_run_step(run, at, n, error))
            return FALSE;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
        for (int b = at; b < end; b++)
            if (g->boxes[b].kind != WP_RESIDUAL && litho_run_checkpoint(run))
                finish_box(g, &g->boxes[b], run);
    }
    if (wp_residual(g)) // parallel inside
        finish_box(g, &g->boxes[n - 1], run);
    if (!litho_run_step(run, n, n, error))
        return FALSE;
    for (int b = 0; b < n; b++) {
        const WpBox *box = &g->boxes[b];
        if (box->kind != WP_RESIDUAL && !box->weight)
            return litho_refuse(error, LITHO_ERROR_MEMORY,
                                "there is no memory for the windows of %d boxes", n);
        g->n_active += box->n_weights;
    }
    return TRUE;
}
