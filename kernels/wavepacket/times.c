// SPDX-License-Identifier: GPL-3.0-or-later
//
// Noise that is louder on all traces for a short time. Windows of 64 samples smear it: a burst of
// 50 ms seems a third as loud and three times as long. Windows of half that length tell it at times
// 16 samples apart. They say less of frequencies and places, so that they only move the map of the
// long windows up and down in time, all traces alike, where the middle cell of a time says so.
#include <math.h>
#include <string.h>

#include "kernels/common/places.h"
#include "kernels/common/select.h"
#include "kernels/wavepacket/apply.h"

// The map moves by so much, a logarithm of the amplitude: below the lower end it may be chance,
// from the upper one on it counts as it is.
static const double CHANCE = 0.1, SURE = 0.2;

static double counted(double by)
{
    return by * CLAMP((fabs(by) - CHANCE) / (SURE - CHANCE), 0, 1);
}

static WpPlaces places_of(const LithoNoiseMap *map, const float *level)
{
    const float *at = map->at;
    return (WpPlaces){.n = {map->n[0], map->n[1], map->n[2]},
                      .at = {at, at + map->n[0], at + map->n[0] + map->n[1]},
                      .level = level};
}

// The level at a place; beyond the outermost knots theirs.
static float level_at(const WpPlaces *places, const float x[3])
{
    float share[3];
    int k[3];
    for (int a = 0; a < 3; a++) {
        k[a] = wp_place(places->at[a], places->n[a], x[a], &share[a]);
        share[a] = CLAMP(share[a], 0, 1);
    }
    return wp_place_level(places, k, share);
}

static float middle(float *values, int n)
{
    return litho_select_kth(values, n, n / 2);
}

// Logarithm by which the short windows exceed the map at each of their times; FALSE: nowhere by
// more than chance.
static gboolean find_times(const LithoNoiseMap *map, const LithoNoiseMap *fine, float *by)
{
    const int columns = fine->n[0] * fine->n[1], n = fine->n[2];
    const WpPlaces places = places_of(map, map->level), own = places_of(fine, fine->level);
    g_autofree float *more = g_new(float, columns), *sorted = g_new(float, n);
    gboolean any = FALSE;
    for (int t = 0; t < n; t++) {
        for (int k = 0; k < columns; k++) {
            const float x[3] = {own.at[0][k / fine->n[1]], own.at[1][k % fine->n[1]], own.at[2][t]};
            more[k] = fine->level[k * n + t] - level_at(&places, x);
        }
        by[t] = middle(more, columns);
    }
    // Both maps have their own unit.
    memcpy(sorted, by, n * sizeof *by);
    const float unit = middle(sorted, n);
    for (int t = 0; t < n; t++) {
        by[t] = (float)counted(by[t] - unit);
        any |= by[t] != 0;
    }
    return any;
}

// Mean power over the knots of a map.
static double power_of(const LithoNoiseMap *map)
{
    const int all = map->n[0] * map->n[1] * map->n[2];
    double sum = 0;
    for (int k = 0; k < all; k++)
        sum += exp(2.0 * map->level[k]) / all;
    return sum;
}

// The map at the times of `fine`, moved by[time], or as it is (NULL).
static LithoNoiseMap at_times(const LithoNoiseMap *map, const LithoNoiseMap *fine, const float *by)
{
    const int columns = map->n[0] * map->n[1], n = fine->n[2];
    const WpPlaces places = places_of(map, map->level);
    LithoNoiseMap to = {.n = {map->n[0], map->n[1], n},
                        .at = g_new(float, map->n[0] + map->n[1] + n),
                        .level = g_new(float, (gsize)columns *n)};
    memcpy(to.at, map->at, (map->n[0] + map->n[1]) * sizeof *to.at);
    float *times = to.at + map->n[0] + map->n[1];
    memcpy(times, fine->at + fine->n[0] + fine->n[1], n * sizeof *times);
    for (int k = 0; k < columns; k++)
        for (int t = 0; t < n; t++) {
            const float x[3] = {places.at[0][k / map->n[1]], places.at[1][k % map->n[1]], times[t]};
            to.level[k * n + t] = level_at(&places, x) + (by ? by[t] : 0);
        }
    return to;
}

// The part of the levels [band] of a time that all bands have in common: the quarter of them that
// says least.
static float in_common(float *levels, int bands)
{
    const float low = litho_select_kth(levels, bands, bands / 4);
    const float high = litho_select_kth(levels, bands, bands - 1 - bands / 4);
    return low > 0 ? low : high < 0 ? high : 0;
}

// Edges that small cells told of all bands and all traces are in the map then.
static void leave_edges(LithoNoiseMap *bands)
{
    const int columns = bands->n[0] * bands->n[1], n = bands->n[2];
    g_autofree float *row = g_new(float, columns), *each = g_new(float, bands->bands);
    for (int t = 0; t < n; t++) {
        for (int b = 0; b < bands->bands; b++) {
            for (int k = 0; k < columns; k++)
                row[k] = bands->level[((gsize)b * columns + k) * n + t];
            each[b] = middle(row, columns);
        }
        const float edge = in_common(each, bands->bands);
        for (int k = 0; k < columns * bands->bands; k++)
            bands->level[(gsize)k * n + t] -= edge;
    }
}

void wp_noise_take_times(LithoNoise *noise, const LithoNoise *shorter)
{
    const LithoNoiseMap *fine = &shorter->map;
    if (!noise->map.level || !fine->level || fine->n[2] <= noise->map.n[2])
        return;
    g_autofree float *by = g_new(float, fine->n[2]);
    if (!find_times(&noise->map, fine, by))
        return;
    LithoNoiseMap before = at_times(&noise->map, fine, NULL), map = at_times(&noise->map, fine, by);
    const float unit = (float)(0.5 * log(power_of(&map) / power_of(&before)));
    for (int k = 0; k < map.n[0] * map.n[1] * map.n[2]; k++)
        map.level[k] -= unit;
    litho_noise_map_clear(&before);
    litho_noise_map_clear(&noise->map);
    noise->map = map;
    if (noise->bands.level)
        leave_edges(&noise->bands);
}
