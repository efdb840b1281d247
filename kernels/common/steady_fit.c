// SPDX-License-Identifier: GPL-3.0-or-later
//
// Steady noise of one trace.
#include <math.h>
#include <string.h>

#include "kernels/common/steady.h"

LithoSteadyFit *litho_steady_fit_new(gint64 n, const double *line, int lines)
{
    LithoSteadyFit *fit = g_new0(LithoSteadyFit, 1);
    fit->n = n;
    fit->lines = lines;
    fit->wave = g_new(double, 2 * (gsize)MAX(lines, 1) * n);
    fit->x = g_new(double, n);
    fit->rest = g_new(double, n);
    fit->weigh = g_new(double, n);
    for (int k = 0; k < lines; k++)
        for (gint64 t = 0; t < n; t++) {
            fit->wave[2 * k * n + t] = cos(2 * G_PI * line[k] * (double)t);
            fit->wave[(2 * k + 1) * n + t] = sin(2 * G_PI * line[k] * (double)t);
        }
    return fit;
}

void litho_steady_fit_free(LithoSteadyFit *fit)
{
    if (!fit)
        return;
    g_free(fit->wave);
    g_free(fit->x);
    g_free(fit->rest);
    g_free(fit->weigh);
    g_free(fit);
}

// Solves a x = b of m equations, `a` symmetric and positive; b becomes x. FALSE: it is singular.
static gboolean solve(int m, double a[][LITHO_STEADY_BASES], double *b)
{
    for (int k = 0; k < m; k++) {
        const double least = 1e-12 * a[k][k];
        for (int j = 0; j < k; j++)
            a[k][k] -= a[k][j] * a[k][j];
        if (!(a[k][k] > least))
            return FALSE;
        a[k][k] = sqrt(a[k][k]);
        for (int i = k + 1; i < m; i++) {
            for (int j = 0; j < k; j++)
                a[i][k] -= a[i][j] * a[k][j];
            a[i][k] /= a[k][k];
        }
    }
    for (int k = 0; k < m; k++) {
        for (int j = 0; j < k; j++)
            b[k] -= a[k][j] * b[j];
        b[k] /= a[k][k];
    }
    for (int k = m; k-- > 0;) {
        for (int j = k + 1; j < m; j++)
            b[k] -= a[j][k] * b[j];
        b[k] /= a[k][k];
    }
    return TRUE;
}

// Waves of a fit: `m` of them, on n samples.
typedef struct Bases {
    int m;
    const double *of[LITHO_STEADY_BASES];
} Bases;

// Least squares of x by weights (NULL = alike); FALSE: the waves are not told apart.
static gboolean fit_waves(const Bases *b, gint64 n, const double *x, const double *weight,
                          double *to)
{
    double a[LITHO_STEADY_BASES][LITHO_STEADY_BASES];
    for (int i = 0; i < b->m; i++) {
        const double *p = b->of[i];
        double sum = 0;
        for (gint64 t = 0; t < n; t++)
            sum += p[t] * x[t] * (weight ? weight[t] : 1);
        to[i] = sum;
        for (int j = 0; j <= i; j++) {
            const double *q = b->of[j];
            double product = 0;
            for (gint64 t = 0; t < n; t++)
                product += p[t] * q[t] * (weight ? weight[t] : 1);
            a[i][j] = product;
        }
    }
    return solve(b->m, a, to);
}

static void take_off(const Bases *b, gint64 n, const double *of, const double *x, double *rest)
{
    memcpy(rest, x, (gsize)n * sizeof *rest);
    for (int i = 0; i < b->m; i++)
        for (gint64 t = 0; t < n; t++)
            rest[t] -= of[i] * b->of[i][t];
}

// 1 over the energy of `rest` around each sample, where there is next to none a thousandth of the
// mean's.
static void weigh(gint64 n, const double *rest, double faint, double *weight)
{
    double all = 0, near = 0;
    for (gint64 t = 0; t < n; t++)
        all += rest[t] * rest[t];
    const double floor = 1e-3 * all / (double)n + faint;
    for (gint64 t = 0; t < MIN(LITHO_STEADY_NEAR, n); t++)
        near += rest[t] * rest[t];
    for (gint64 t = 0; t < n; t++) {
        const gint64 in = t + LITHO_STEADY_NEAR, out = t - LITHO_STEADY_NEAR - 1;
        near += in < n ? rest[in] * rest[in] : 0;
        near -= out >= 0 ? rest[out] * rest[out] : 0;
        const double count = (double)(MIN(in, n - 1) - MAX(out, -1));
        weight[t] = 1 / (fmax(near, 0) / count + floor);
    }
}

static void set_span(const float *trace, gint64 n, LithoSteadyTrace *to)
{
    gboolean finite = TRUE;
    *to = (LithoSteadyTrace){.lo = 0, .hi = n};
    for (gint64 t = 0; t < n; t++)
        finite &= isfinite(trace[t]);
    while (to->lo < to->hi && trace[to->lo] == 0)
        to->lo++;
    while (to->hi > to->lo && trace[to->hi - 1] == 0)
        to->hi--;
    if (!finite || to->hi - to->lo < LITHO_STEADY_SHORTEST)
        to->hi = to->lo;
}

// Offset and drift of `x` by least squares; the drift's zero is the middle of the span.
static void fit_straight(const double *x, gint64 n, gboolean offset, gboolean drift,
                         LithoSteadyTrace *to)
{
    double sum = 0, turn = 0, squares = 0;
    const double middle = 0.5 * (double)(n - 1);
    for (gint64 t = 0; t < n; t++) {
        const double at = (double)t - middle;
        sum += x[t];
        turn += at * x[t];
        squares += at * at;
    }
    to->offset = offset ? sum / (double)n : 0;
    to->drift = drift ? turn / squares : 0;
}

static double straight_at(const LithoSteadyTrace *of, gint64 t)
{
    return of->offset + of->drift * ((double)t - 0.5 * (double)(of->hi - of->lo - 1));
}

void litho_steady_fit_some(LithoSteadyFit *fit, const float *trace, gboolean offset, gboolean drift,
                           const guint8 *use, LithoSteadyTrace *to)
{
    Bases b = {0};
    int line[LITHO_STEADY_LINES];
    double of[LITHO_STEADY_BASES] = {0}, faint = 0, squares = 0;
    set_span(trace, fit->n, to);
    const gint64 n = to->hi - to->lo;
    for (int k = 0; k < fit->lines && n > 0; k++)
        if (!use || use[k]) {
            line[b.m / 2] = k;
            b.of[b.m++] = fit->wave + 2 * k * fit->n + to->lo;
            b.of[b.m++] = fit->wave + (2 * k + 1) * fit->n + to->lo;
        }
    for (gint64 t = 0; t < n; t++) {
        fit->x[t] = trace[to->lo + t];
        faint += 1e-14 * fit->x[t] * fit->x[t] / (double)n;
    }
    // Lines and offset are nearly independent on a span of many periods: three turns tell them
    // apart.
    const int turns = offset || drift ? 3 : 2;
    memcpy(fit->rest, fit->x, (gsize)MAX(n, 0) * sizeof *fit->rest);
    for (int turn = 0; turn < turns && n > 0; turn++) {
        fit_straight(fit->rest, n, offset, drift, to);
        if (b.m == 0)
            break;
        for (gint64 t = 0; t < n; t++)
            fit->x[t] = trace[to->lo + t] - straight_at(to, t);
        // The first turn has no rest to weigh by.
        gboolean told = turn > 0 || fit_waves(&b, n, fit->x, NULL, of);
        for (int round = 0; told && turn > 0 && round < LITHO_STEADY_ROUNDS; round++) {
            take_off(&b, n, of, fit->x, fit->rest);
            weigh(n, fit->rest, faint, fit->weigh);
            told = fit_waves(&b, n, fit->x, fit->weigh, of);
        }
        if (!told) {
            memset(of, 0, sizeof of);
            b.m = 0;
        }
        for (gint64 t = 0; t < n; t++)
            fit->x[t] = trace[to->lo + t];
        take_off(&b, n, of, fit->x, fit->rest);
    }
    if (n > 0 && b.m > 0)
        fit_straight(fit->rest, n, offset, drift, to);
    for (int k = 0; k < b.m / 2; k++) {
        to->wave[2 * line[k]] = of[2 * k];
        to->wave[2 * line[k] + 1] = of[2 * k + 1];
        to->amplitude[line[k]] = hypot(of[2 * k], of[2 * k + 1]);
    }
    for (gint64 t = 0; t < n; t++)
        squares += pow(fit->rest[t] - straight_at(to, t), 2);
    to->rms = n > 0 ? sqrt(squares / (double)n) : 0;
}

void litho_steady_fit(LithoSteadyFit *fit, const float *trace, gboolean offset, gboolean drift,
                      LithoSteadyTrace *to)
{
    litho_steady_fit_some(fit, trace, offset, drift, NULL, to);
}
