// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/probe.h"

#include <math.h>
#include <string.h>

#include "core/mute.h"

// splitmix64's finaliser (Steele, Lea, Flood 2014).
static guint64 mix(guint64 x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static guint64 trace_key(gint64 i, gint64 j, guint32 seed)
{
    return mix(mix(mix(seed) ^ (guint64)i) ^ (guint64)j);
}

gboolean litho_probe_hides(gint64 i, gint64 j, double percent, guint fold, guint32 seed)
{
    const double u = (trace_key(i, j, seed ^ 0x9e3779b9u) >> 11) * 0x1p-53 * 100;
    return u >= percent * fold && u < percent * (fold + 1);
}

gboolean litho_trace_span(const LithoCube *cube, gint64 i, gint64 j, gint64 lo, gint64 hi,
                          gint64 *from, gint64 *to)
{
    if (!litho_cube_is_live(cube, i, j))
        return FALSE;
    const float *x = litho_cube_trace(cube, i, j) - cube->held.lo[LITHO_SAMPLE];
    while (lo < hi && x[lo] == 0)
        lo++;
    while (hi > lo && x[hi - 1] == 0)
        hi--;
    *from = lo;
    *to = hi;
    return hi > lo;
}

// --- spectra ------------------------------------------------------------------------------------

LithoNoise litho_noise_white(double sigma, double low, double high)
{
    LithoNoise noise = {.n = 2, .df = 0, .total = sigma, .low = low, .high = high};
    noise.sigma = g_new(double, 2);
    noise.sigma[0] = noise.sigma[1] = sigma;
    return noise;
}

double litho_noise_fourth(const LithoNoise *noise)
{
    double sum = 0, weights = 0;
    for (guint f = 0; f < noise->n; f++) {
        const double w = f == 0 || f + 1 == noise->n ? 0.5 : 1;
        sum += w * pow(noise->sigma[f], 4);
        weights += w;
    }
    return weights > 0 ? sum / weights : 0;
}

// Half of the longest filter: 2 x 96 samples resolve 1.3 Hz at 4 ms, which no noise level needs.
enum { MAX_REACH = 96 };

// Zero-phase filter with the amplitude response sigma: h[m] = h[-m], the inverse cosine transform,
// ended by a cosine taper where it is cut, scaled to sum h^2 = total^2.
typedef struct Filter {
    int reach;
    double h[MAX_REACH + 1];
} Filter;

static gboolean is_white(const LithoNoise *noise)
{
    for (guint f = 0; f < noise->n; f++)
        if (fabs(noise->sigma[f] - noise->sigma[0]) > 1e-6 * noise->sigma[0])
            return FALSE;
    return TRUE;
}

static Filter filter_new(const LithoNoise *noise)
{
    Filter filter = {0};
    if (noise->n < 2 || is_white(noise)) {
        filter.h[0] = noise->total;
        return filter;
    }
    const int last = (int)noise->n - 1;
    filter.reach = MIN(last, MAX_REACH);
    double sum = 0;
    for (int m = 0; m <= filter.reach; m++) {
        double h = noise->sigma[0] + noise->sigma[last] * (m % 2 ? -1 : 1);
        for (int f = 1; f < last; f++)
            h += 2 * noise->sigma[f] * cos(G_PI * f * m / last);
        if (m == last || m > MAX_REACH / 2) // the two ends of a period share one value
            h *= m == last ? 0.5 : 0.5 + 0.5 * cos(G_PI * (2.0 * m / MAX_REACH - 1));
        filter.h[m] = h;
        sum += h * h * (m > 0 ? 2 : 1);
    }
    for (int m = 0; m <= filter.reach; m++)
        filter.h[m] *= noise->total / sqrt(sum);
    return filter;
}

// --- the cube -----------------------------------------------------------------------------------

// Signs of samples from - MAX_REACH on; 64 of them from one hash.
static void fill_signs(guint64 key, gint64 from, gint64 n, float *signs)
{
    guint64 bits = 0;
    for (gint64 k = 0; k < n; k++) {
        const guint64 at = (guint64)(from + k + MAX_REACH);
        if (k == 0 || at % 64 == 0)
            bits = mix(key ^ (at / 64 + 1));
        signs[k] = bits >> (at % 64) & 1 ? 1 : -1;
    }
}

// Level of sample t in units of the whole, linear between the times that are known and for one step
// beyond them: they are the middles of windows, half of which lies before the first and behind the
// last.
static float level_at(const LithoNoise *noise, gint64 t)
{
    if (noise->n_times < 2 || !(noise->time_step > 0))
        return 1;
    const double x = CLAMP((t - noise->first_time) / noise->time_step, -1, noise->n_times);
    const guint k = MIN((guint)MAX(x, 0), noise->n_times - 2);
    const float level = noise->at_time[k], next = noise->at_time[k + 1];
    return (float)fmax(level + (x - k) * (next - level), 0.25 * MIN(level, next));
}

static void fill_trace(const Filter *filter, const LithoNoise *noise, guint64 key, gint64 from,
                       gint64 to, float *out)
{
    const gint64 n = to - from;
    const int reach = filter->reach;
    g_autofree float *signs = g_new(float, n + 2 * reach);
    fill_signs(key, from - reach, n + 2 * reach, signs);
    for (gint64 t = 0; t < n; t++)
        out[t] = (float)filter->h[0] * signs[t + reach];
    for (int m = 1; m <= reach; m++) {
        const float h = (float)filter->h[m];
        for (gint64 t = 0; t < n; t++)
            out[t] += h * (signs[t + reach - m] + signs[t + reach + m]);
    }
    for (gint64 t = 0; t < n; t++)
        out[t] *= level_at(noise, from + t);
}

LithoCube *litho_probe_new(const LithoCube *like, LithoBox held, const LithoNoise *noise,
                           guint32 seed, GError **error)
{
    if (!litho_cube_host(like, error))
        return NULL;
    LithoCube *probe = litho_cube_new_box(&like->grid, held, error);
    if (!probe)
        return NULL;
    const Filter filter = filter_new(noise);
    const gint64 n1 = litho_box_size(held, 1), traces = litho_box_size(held, 0) * n1;
#pragma omp parallel for schedule(dynamic, 16)
    for (gint64 x = 0; x < traces; x++) {
        const gint64 i = held.lo[0] + x / n1, j = held.lo[1] + x % n1;
        gint64 from, to;
        probe->live[x] = litho_cube_is_live(like, i, j);
        if (!litho_trace_span(like, i, j, held.lo[2], held.hi[2], &from, &to))
            continue;
        float *trace = litho_cube_trace(probe, i, j) + (from - held.lo[2]);
        fill_trace(&filter, noise, trace_key(i, j, seed), from, to, trace);
        litho_mute_trace(litho_cube_trace(like, i, j) + (from - like->held.lo[2]), to - from,
                         trace);
    }
    return probe;
}
