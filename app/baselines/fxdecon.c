// SPDX-License-Identifier: GPL-3.0-or-later
//
// Canales (1984): at each frequency a trace is the combination of the LENGTH traces before it on
// its line, by least squares within a window of the line; the mean of the prediction forward and
// that backward. Each inline by itself.
#include <string.h>

#include "app/baselines/baselines.h"
#include "app/baselines/slices.h"

enum { WINDOW = 20, OVERLAP = 10, LENGTH = 4 }; // traces
#define DAMPING 0.01                            // of the mean diagonal

// Solves the damped equations in place; they are positive definite, no pivots are needed.
static void solve(double complex a[LENGTH][LENGTH + 1])
{
    double trace = 0;
    for (int i = 0; i < LENGTH; i++)
        trace += creal(a[i][i]);
    for (int i = 0; i < LENGTH; i++)
        a[i][i] += DAMPING * trace / LENGTH + 1e-300;
    for (int c = 0; c < LENGTH; c++)
        for (int r = 0; r < LENGTH; r++) {
            const double complex f = r == c ? 0 : a[r][c] / a[c][c];
            for (int k = c; k <= LENGTH && r != c; k++)
                a[r][k] -= f * a[c][k];
        }
}

// Prediction of s[0 .. n-1], with sign 1 from smaller numbers, with -1 from larger ones; what has
// too few neighbours there stays untouched. Adds to `sum` and `count`.
static void predict(const double complex *s, int n, int sign, double complex *sum, int *count)
{
    double complex a[LENGTH][LENGTH + 1];
    memset(a, 0, sizeof a);
    for (int x = LENGTH; x < n; x++) {
        const double complex *at = s + (sign > 0 ? x : n - 1 - x);
        for (int i = 0; i < LENGTH; i++)
            for (int j = 0; j <= LENGTH; j++)
                a[i][j] += conj(at[-sign * (i + 1)]) * (j < LENGTH ? at[-sign * (j + 1)] : *at);
    }
    solve(a);
    for (int x = LENGTH; x < n; x++) {
        const int to = sign > 0 ? x : n - 1 - x;
        for (int i = 0; i < LENGTH; i++)
            sum[to] += a[i][LENGTH] / a[i][i] * s[to - sign * (i + 1)];
        count[to]++;
    }
}

static void filter_line(double complex *line, int n)
{
    const int window = MIN(WINDOW, n), windows = (int)litho_baseline_windows(n, window, OVERLAP);
    g_autofree double complex *out = g_new0(double complex, n);
    g_autofree double *weight = g_new0(double, n);
    for (int w = 0; w < windows; w++) {
        const int start = (int)litho_baseline_start(n, window, windows, w);
        double complex sum[WINDOW] = {0};
        int count[WINDOW] = {0};
        predict(line + start, window, 1, sum, count);
        predict(line + start, window, -1, sum, count);
        for (int x = 0; x < window; x++) {
            const double ramp = litho_baseline_ramp(x, window, OVERLAP);
            out[start + x] += ramp * (count[x] ? sum[x] / count[x] : line[start + x]);
            weight[start + x] += ramp;
        }
    }
    for (int x = 0; x < n; x++)
        line[x] = out[x] / weight[x];
}

static void filter_slice(double complex *slice, gint64 n1, gint64 n2, gconstpointer data)
{
    (void)data;
    for (gint64 i = 0; i < n1 && n2 > 2 * LENGTH; i++)
        filter_line(slice + i * n2, (int)n2);
}

static gboolean denoise(const LithoCube *in, LithoCube *out, LithoRun *run, GError **error)
{
    return litho_baseline_slices(in, filter_slice, NULL, out, run, error);
}

const LithoBaseline litho_baseline_fxdecon = {
    .name = "fxdecon",
    .title = "2-D F-X prediction",
    .doc = "Each inline by itself: 4 traces predict the next, forward and backward, least squares "
           "in windows of 20 traces, 1 % damping (Canales, 1984).",
    .denoise = denoise,
};
