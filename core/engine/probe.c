// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/probe.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/mix.h"
#include "core/mute.h"

static guint64 trace_key(gint64 i, gint64 j, guint32 seed)
{
    return litho_mix(litho_mix(litho_mix(seed) ^ (guint64)i) ^ (guint64)j);
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
    const gsize nk = noise->shape ? (gsize)noise->window[0] * noise->window[1] : 0;
    double sum = 0, weights = 0;
    for (guint f = 0; f < noise->n; f++) {
        const double w = f == 0 || f + 1 == noise->n ? 0.5 : 1;
        double squares = 0; // of the shape, whose mean is 1
        for (gsize k = 0; k < nk; k++)
            squares += pow(noise->shape[f * nk + k], 2);
        sum += w * pow(noise->sigma[f], 4) * (nk > 0 ? squares / (double)nk : 1);
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
            bits = litho_mix(key ^ (at / 64 + 1));
        signs[k] = bits >> (at % 64) & 1 ? 1 : -1;
    }
}

// Level of sample t in units of the whole, linear between the times that are known and for one step
// beyond them: they are the middles of windows, half of which lies before the first and behind the
// last.
static float level_at(const LithoNoise *noise, gint64 t)
{
    if (noise->local || noise->n_times < 2 || !(noise->time_step > 0))
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

// Signs behind the filter of a shape on whole steps of its windows, of which the box is a part: one
// step more on either side.
typedef struct Shaped {
    LithoBox box;
    gint64 n[3];
    float *x; // [n[0]][n[1]][n[2]]; g_free()
} Shaped;

static gint64 step_below(gint64 at, gint64 step)
{
    return (at >= 0 ? at / step : (at - step + 1) / step) * step;
}

static gboolean shaped_new(LithoBox held, const LithoNoise *noise, guint32 seed, LithoRun *run,
                           Shaped *shaped, GError **error)
{
    *shaped = (Shaped){.box = held};
    for (int a = 0; a < 3; a++) {
        const gint64 step = (a < 2 ? LITHO_COLOUR_TRACES : LITHO_COLOUR_SAMPLES) / 2;
        if (a == 2 || noise->window[a] > 1) {
            shaped->box.lo[a] = step_below(held.lo[a], step) - step;
            shaped->box.hi[a] = step_below(held.hi[a] + step - 1, step) + step;
        }
        shaped->n[a] = litho_box_size(shaped->box, a);
    }
    const gint64 nt = shaped->n[2], traces = shaped->n[0] * shaped->n[1];
    g_autofree float *signs = g_try_new(float, traces *nt);
    shaped->x = g_try_new(float, traces *nt);
    if (!signs || !shaped->x) {
        g_clear_pointer(&shaped->x, g_free);
        return litho_refuse(error, LITHO_ERROR_MEMORY, "no memory for %.2f GiB of samples",
                            (double)traces * nt * 2 * sizeof(float) / (1 << 30));
    }
#pragma omp parallel for schedule(static)
    for (gint64 x = 0; x < traces; x++) {
        const gint64 i = shaped->box.lo[0] + x / shaped->n[1];
        const gint64 j = shaped->box.lo[1] + x % shaped->n[1];
        fill_signs(trace_key(i, j, seed), shaped->box.lo[2], nt, signs + x * nt);
    }
    if (litho_qc_colour(noise, shaped->box.lo, shaped->n, signs, shaped->x, run, error))
        return TRUE;
    g_clear_pointer(&shaped->x, g_free);
    return FALSE;
}

// The knot before `x` of n along an axis, from `k` on, and how far the next one counts: 0 to 1.
static int knot_of(const float *at, int n, int k, double x, double *share)
{
    while (k < n - 2 && x >= at[k + 1])
        k++;
    *share = n > 1 ? CLAMP((x - at[k]) / (at[k + 1] - at[k]), 0, 1) : 0;
    return k;
}

// Multiplies samples of trace (i, j) by the map's deviation.
static void apply_map(const LithoNoiseMap *map, gint64 i, gint64 j, gint64 from, gint64 to,
                      float *out)
{
    const int *n = map->n;
    const float *times = map->at + n[0] + n[1];
    double part[3];
    const int at[2] = {knot_of(map->at, n[0], 0, (double)i, &part[0]),
                       knot_of(map->at + n[0], n[1], 0, (double)j, &part[1])};
    g_autofree double *level = g_new0(double, n[2]);
    for (int corner = 0; corner < 4; corner++) {
        const int up[2] = {corner / 2, corner % 2};
        const double weight = (up[0] ? part[0] : 1 - part[0]) * (up[1] ? part[1] : 1 - part[1]);
        const gsize row = (gsize)MIN(at[0] + up[0], n[0] - 1) * n[1] + MIN(at[1] + up[1], n[1] - 1);
        for (int k = 0; k < n[2]; k++)
            level[k] += weight * map->level[row * n[2] + k];
    }
    int k = 0;
    for (gint64 t = from; t < to; t++) {
        k = knot_of(times, n[2], k, (double)t, &part[2]);
        out[t - from] *= (float)exp(level[k] + part[2] * (level[MIN(k + 1, n[2] - 1)] - level[k]));
    }
}

static void copy_trace(const Shaped *shaped, const LithoNoise *noise, gint64 i, gint64 j, gint64 from,
                       gint64 to, float *out)
{
    const gint64 trace = (i - shaped->box.lo[0]) * shaped->n[1] + j - shaped->box.lo[1];
    const float *x = shaped->x + trace * shaped->n[2] - shaped->box.lo[2];
    for (gint64 t = from; t < to; t++)
        out[t - from] = x[t] * level_at(noise, t);
    if (noise->map.level)
        apply_map(&noise->map, i, j, from, to, out);
}

LithoCube *litho_probe_new(const LithoCube *like, LithoBox held, const LithoNoise *noise,
                           guint32 seed, LithoRun *run, GError **error)
{
    if (!litho_cube_host(like, error))
        return NULL;
    Shaped shaped = {0};
    if ((noise->shape || noise->local) && !shaped_new(held, noise, seed, run, &shaped, error))
        return NULL;
    LithoCube *probe = litho_cube_new_box(&like->grid, held, error);
    const Filter filter = filter_new(noise);
    const gint64 n1 = litho_box_size(held, 1), traces = litho_box_size(held, 0) * n1;
#pragma omp parallel for schedule(dynamic, 16)
    for (gint64 x = 0; x < (probe ? traces : 0); x++) {
        const gint64 i = held.lo[0] + x / n1, j = held.lo[1] + x % n1;
        gint64 from, to;
        probe->live[x] = litho_cube_is_live(like, i, j);
        if (!litho_trace_span(like, i, j, held.lo[2], held.hi[2], &from, &to))
            continue;
        float *trace = litho_cube_trace(probe, i, j) + (from - held.lo[2]);
        if (shaped.x)
            copy_trace(&shaped, noise, i, j, from, to, trace);
        else
            fill_trace(&filter, noise, trace_key(i, j, seed), from, to, trace);
        litho_mute_trace(litho_cube_trace(like, i, j) + (from - like->held.lo[2]), to - from,
                         trace);
    }
    g_free(shaped.x);
    return probe;
}
