// SPDX-License-Identifier: GPL-3.0-or-later
//
// Where the noise is stronger and where it is weaker, for filters that have one level for a survey.
//
// Cells of many windows each have a power in quiet wavenumbers, frequency by frequency. Noise that
// varies from place to place does so at all frequencies that hold some; events raise the power at
// their own. So whether the noise varies is asked of the frequencies at which cells differ least,
// and by how much of the quarter of the frequencies at which a cell is weakest.
#include <math.h>
#include <string.h>

#include "kernels/common/noise_job.h"
#include "kernels/common/places.h"
#include "kernels/common/select.h"

// After core/grid.h, which calls an axis LITHO_INLINE.
#include "kernels/common/clones.h"

enum { TRACES = 16, SAMPLES = 32 };             // a cell at least; half of shorter windows
enum { CELL_WINDOWS = 10, CELL_VALUES = 1024 }; // windows, and wavenumbers of all of them
// Cells scatter by 0.006 to 0.035 where the noise is alike everywhere, also below events of 30 dB.
static const double VARIES = 0.08, CLEARLY = 0.12;
// The middle band's scatter over that of the least ones: 1.02 to 1.28 where the noise varies, also
// 30 dB below the events; 1.7 to 3 where events leak or fill their windows.
static const double NOISE = 1.4, EVENTS = 1.6;
static const double MUTED = 0.06; // of a window that tells nothing

// The value that `rank` of n powers come before, and the sum of all. The bits of numbers that are
// not negative have their order, and halving the range of these goes through few values in vectors
// sooner than any sorting.
LITHO_CLONES static float kth_of(const float *power, int n, int rank, float *sum)
{
    const guint32 *bits = (const guint32 *)power;
    guint32 lo = G_MAXUINT32, hi = 0;
    float all = 0;
    for (int k = 0; k < n; k++) {
        lo = MIN(lo, bits[k]);
        hi = MAX(hi, bits[k]);
    }
    for (int k = 0; k < n; k++)
        all += power[k];
    *sum = all;
    while (lo < hi) {
        const guint32 middle = lo + (hi - lo) / 2;
        int below = 0;
        for (int k = 0; k < n; k++)
            below += bits[k] <= middle;
        if (below > rank)
            hi = middle;
        else
            lo = middle + 1;
    }
    float kth;
    memcpy(&kth, &lo, sizeof kth);
    return kth;
}

float *noise_map_quiet(const NoiseJob *job, int threads)
{
    const gint64 nk = noise_wavenumbers(job), all = noise_map_bands(job) * job->windows;
    float *quiet = g_new0(float, 2 * all);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (gint64 i = 0; i < all; i++) {
        const gint64 band = i / job->windows, w = i % job->windows;
        const gsize at = (gsize)noise_map_frequency_of(job, (int)band) * job->windows + w;
        if (!(job->share[w] > 0) || !litho_run_checkpoint(job->run))
            continue;
        quiet[i] = kth_of(job->power + at * nk, (int)nk, (int)noise_map_rank(job), &quiet[all + i]);
        quiet[all + i] /= (float)nk;
    }
    return quiet;
}

typedef struct Cells {
    const NoiseJob *job;
    int n[3], all;
    gint64 *of;    // per window; -1 = it tells nothing
    gint64 *count; // windows per cell
} Cells;

static gboolean tells(const NoiseJob *job, gint64 w)
{
    return job->share[w] > 0 && job->muted[w] < MUTED;
}

// Cells along the axes, as many as there are windows for; the finest axis gives way first.
static void divide(Cells *c, int traces, int samples, gint64 each, gint64 windows)
{
    const NoiseJob *job = c->job;
    const int least[3] = {traces, traces, samples};
    for (int a = 0; a < 3; a++) {
        const gint64 wish = litho_box_size(job->box, a) / least[a];
        c->n[a] = (int)CLAMP(wish, 1, job->count[a]);
    }
    while ((gint64)c->n[0] * c->n[1] * c->n[2] * each > windows) {
        int finest = -1;
        double size = INFINITY;
        for (int a = 0; a < 3; a++) {
            const double own = (double)litho_box_size(job->box, a) / (c->n[a] * least[a]);
            if (c->n[a] > 1 && own < size) {
                size = own;
                finest = a;
            }
        }
        if (finest < 0)
            break;
        c->n[finest]--;
    }
    c->all = c->n[0] * c->n[1] * c->n[2];
}

static int cell_along(const Cells *c, int axis, gint64 place)
{
    return (int)(place * c->n[axis] / c->job->count[axis]);
}

static Cells cells_new(const NoiseJob *job, int traces, int samples, int each, int values)
{
    Cells c = {.job = job, .of = g_new(gint64, job->windows)};
    gint64 windows = 0;
    for (gint64 w = 0; w < job->windows; w++)
        windows += tells(job, w);
    divide(&c, traces, samples, MAX(each, values / noise_wavenumbers(job)), windows);
    c.count = g_new0(gint64, c.all);
    for (gint64 w = 0; w < job->windows; w++) {
        gint64 place[3];
        noise_places_of(job, w, place);
        const int at[3] = {cell_along(&c, 0, place[0]), cell_along(&c, 1, place[1]),
                           cell_along(&c, 2, place[2])};
        c.of[w] = tells(job, w) ? ((gint64)at[0] * c.n[1] + at[1]) * c.n[2] + at[2] : -1;
        if (c.of[w] >= 0)
            c.count[c.of[w]]++;
    }
    return c;
}

static Cells large_cells(const NoiseJob *job)
{
    return cells_new(job, TRACES, MIN(SAMPLES, job->n[2] / 2), CELL_WINDOWS, CELL_VALUES);
}

static void cells_clear(Cells *c)
{
    g_free(c->of);
    g_free(c->count);
}

// Medians over the windows of each cell at one band; 0 where there is none.
static void medians(const Cells *c, const float *quiet, float *to)
{
    const gint64 windows = c->job->windows;
    g_autofree float *sorted = g_new(float, windows);
    g_autofree gint64 *at = g_new(gint64, c->all);
    gint64 sum = 0;
    for (int k = 0; k < c->all; k++) {
        at[k] = sum;
        sum += c->count[k];
    }
    for (gint64 w = 0; w < windows; w++)
        if (c->of[w] >= 0)
            sorted[at[c->of[w]]++] = quiet[w];
    for (int k = 0; k < c->all; k++) {
        const gint64 n = c->count[k];
        const float *own = sorted + at[k] - n;
        to[k] = n == 0   ? 0
                : n == 2 ? fmaxf(own[0], own[1]) // of most small cells
                         : litho_select_kth(sorted + at[k] - n, n, n / 2);
    }
}

// Logarithms of the cells' amplitudes [band][cell] in units of the band's middle cell; the number
// of bands that hold noise.
static int amplitudes(const Cells *c, const float *quiet, float *level)
{
    const double least = 1e-8;
    g_autofree float *power = g_new(float, c->all), *sorted = g_new(float, c->all);
    int bands = 0;
    for (int band = 0; band < noise_map_bands(c->job); band++) {
        float *to = level + (gsize)bands * c->all;
        int n = 0;
        medians(c, quiet + band * c->job->windows, power);
        for (int k = 0; k < c->all; k++)
            if (c->count[k] > 0)
                sorted[n++] = power[k];
        const double unit = n > 0 ? litho_select_kth(sorted, n, n / 2) : 0;
        for (int k = 0; unit > 0 && k < c->all; k++)
            to[k] = c->count[k] > 0 ? (float)(0.5 * log(fmax(power[k] / unit, least))) : 0;
        bands += unit > 0;
    }
    return bands;
}

static double scatter_of(const Cells *c, const float *level)
{
    double sum = 0, squares = 0;
    int n = 0;
    for (int k = 0; k < c->all; k++)
        if (c->count[k] > 0) {
            sum += level[k];
            squares += (double)level[k] * level[k];
            n++;
        }
    return n > 0 ? sqrt(fmax(squares / n - sum / n * (sum / n), 0)) : 0;
}

// How clearly the noise varies, 0 to 1: cells differ in the quarter of the bands at which they do
// so least, and hardly more at the middle one.
static double variation_of(const Cells *c, const float *level, int bands)
{
    g_autofree float *scatter = g_new(float, bands), *sorted = g_new(float, bands);
    g_autofree float *mean = g_new0(float, c->all);
    for (int band = 0; band < bands; band++)
        sorted[band] = scatter[band] = (float)scatter_of(c, level + (gsize)band * c->all);
    const double middle = litho_select_kth(sorted, bands, bands / 2);
    const float limit = litho_select_kth(sorted, bands, MAX(bands / 4, 1) - 1);
    int n = 0;
    for (int band = 0; band < bands; band++)
        if (scatter[band] <= limit) {
            for (int k = 0; k < c->all; k++)
                mean[k] += level[(gsize)band * c->all + k];
            n++;
        }
    const double least = scatter_of(c, mean) / n;
    return CLAMP((least - VARIES) / (CLEARLY - VARIES), 0, 1) *
           CLAMP((EVENTS - middle / fmax(least, VARIES)) / (EVENTS - NOISE), 0, 1);
}

// The quarter of the bands at which a cell is weakest ends there.
static void weakest(const Cells *c, const float *level, int bands, float *to)
{
    g_autofree float *own = g_new(float, bands);
    for (int k = 0; k < c->all; k++) {
        for (int band = 0; band < bands; band++)
            own[band] = level[(gsize)band * c->all + k];
        to[k] = litho_select_kth(own, bands, bands / 4);
    }
}

// Cells without windows get the mean of the ones beside them.
static void fill(const Cells *c, float *level)
{
    const int step[3] = {c->n[1] * c->n[2], c->n[2], 1};
    g_autofree guint8 *known = g_malloc0(c->all), *next = g_malloc0(c->all);
    for (int k = 0; k < c->all; k++)
        known[k] = next[k] = c->count[k] > 0;
    for (int pass = 0; pass < c->n[0] + c->n[1] + c->n[2]; pass++) {
        for (int k = 0; k < c->all; k++) {
            double sum = 0;
            int n = 0;
            for (int side = 0; !known[k] && side < 6; side++) {
                const int a = side / 2, at = k / step[a] % c->n[a] + (side % 2 ? 1 : -1);
                const int other = k + (side % 2 ? step[a] : -step[a]);
                if (at >= 0 && at < c->n[a] && known[other]) {
                    sum += level[other];
                    n++;
                }
            }
            if (n > 0) {
                level[k] = (float)(sum / n);
                next[k] = 1;
            }
        }
        memcpy(known, next, c->all);
    }
}

// Middles of the windows of each cell, along the axes.
static float *knots_of(const Cells *c)
{
    const NoiseJob *job = c->job;
    float *at = g_new0(float, c->n[0] + c->n[1] + c->n[2]), *to = at;
    for (int a = 0; a < 3; a++) {
        g_autofree int *count = g_new0(int, c->n[a]);
        for (gint64 p = 0; p < job->count[a]; p++) {
            const int k = cell_along(c, a, p);
            to[k] += (float)noise_start_of(job, a, p) + 0.5f * (float)(job->n[a] - 1);
            count[k]++;
        }
        for (int k = 0; k < c->n[a]; k++)
            to[k] /= (float)count[k];
        to += c->n[a];
    }
    return at;
}

// Level times amplitude is the noise at a place: its mean square over the windows is one, less what
// they do not see of the ends, which the level holds.
static void normalise(const Cells *c, double ends, float *level)
{
    const NoiseJob *job = c->job;
    double power = 0, weight = 0;
    for (gint64 w = 0; w < job->windows; w++)
        if (c->of[w] >= 0) {
            power += job->share[w] * exp(2.0 * level[c->of[w]]);
            weight += job->share[w];
        }
    const double by = weight > 0 ? 0.5 * log(power / weight * ends) : 0;
    for (int k = 0; k < c->all; k++)
        level[k] -= (float)by;
}

// --- some frequencies alone ----------------------------------------------------------------------

// Noise is louder in a cell by so much, in logarithms of its amplitude: below the lower end it may
// be chance, from the upper one on it counts as it is.
static const double CHANCE = 0.15, SURE = 0.3;
// Level over the mean power in a cell: events leak into the quiet wavenumbers, too, but 10 dB and
// more below themselves. From SOME on louder noise is told from them a little, from MUCH on surely.
static const double SOME = 0.1, MUCH = 0.2;
// So many bands of large cells tell of noise louder by LOUDER.
static const double LOUDER = 0.3;
enum { LOUDER_BANDS = 4 };
// Cells are smaller: what they scatter is less than CHANCE, and noise that is louder in a corner
// ends there.
enum { BAND_TRACES = 12, BAND_WINDOWS = 2, BAND_VALUES = 512 };
// Where noise that varies at all frequencies has an edge, small cells differ from the level between
// large ones by so much: where it varies smoothly, by 0.2 at most.
static const double EDGE = 0.35, CLEAR_EDGE = 0.7;

static double ramp(double x, double from, double to)
{
    return CLAMP((x - from) / (to - from), 0, 1);
}

// Means over the windows of each cell at one band.
static void means(const Cells *c, const float *mean, float *to)
{
    memset(to, 0, c->all * sizeof *to);
    for (gint64 w = 0; w < c->job->windows; w++)
        if (c->of[w] >= 0)
            to[c->of[w]] += mean[w] / (float)c->count[c->of[w]];
}

// The common level between its knots, at those of other cells.
static float *common_at(const Cells *c, const float *at, const LithoNoiseMap *map)
{
    float *level = g_new0(float, c->all);
    const float *knots = map->at;
    const WpPlaces places = {.n = {map->n[0], map->n[1], map->n[2]},
                             .at = {knots, knots + map->n[0], knots + map->n[0] + map->n[1]},
                             .level = map->level};
    for (int i = 0; map->level && i < c->all; i++) {
        const float x[3] = {at[i / c->n[2] / c->n[1]], at[c->n[0] + i / c->n[2] % c->n[1]],
                            at[c->n[0] + c->n[1] + i % c->n[2]]};
        float share[3];
        int k[3];
        for (int a = 0; a < 3; a++)
            k[a] = wp_place(places.at[a], places.n[a], x[a], &share[a]);
        level[i] = wp_place_level(&places, k, share);
    }
    return level;
}

typedef struct Band {
    float *by;    // per cell: louder than `quiet`, a logarithm of the amplitude
    float *part;  // per cell: its level over its mean power
    double quiet; // deviation that a quarter of the cells do not exceed
} Band;

// Power of the noise at one band, by quiet wavenumbers, and which part it is of all.
static void powers_of(const Cells *c, const float *quiet, const float *mean, float *power,
                      float *part)
{
    const double of_mean = -log(1 - NOISE_QUIET);
    medians(c, quiet, power);
    means(c, mean, part);
    for (int k = 0; k < c->all; k++) {
        const double own = power[k] / of_mean;
        part[k] = part[k] > 0 ? (float)(own / part[k]) : 0;
        power[k] = (float)own;
    }
}

// Beyond `common`, what all frequencies have in common.
static void compare(const Cells *c, const float *quiet, const float *mean, const float *common,
                    Band *band)
{
    g_autofree float *sorted = g_new(float, c->all);
    int n = 0;
    powers_of(c, quiet, mean, band->by, band->part);
    for (int k = 0; k < c->all; k++) {
        band->by[k] = (float)(band->by[k] * exp(-2 * common[k]));
        if (c->count[k] > 0)
            sorted[n++] = band->by[k];
    }
    const double unit = n > 0 ? litho_select_kth(sorted, n, n / 4) : 0;
    for (int k = 0; k < c->all; k++)
        band->by[k] =
            unit > 0 && c->count[k] > 0 ? (float)(0.5 * log(fmax(band->by[k] / unit, 1e-8))) : 0;
    band->quiet = sqrt(unit);
}

// Cells in which the noise of a band is LOUDER.
static int count_louder(const Cells *c, const Band *band)
{
    int n = 0;
    for (int k = 0; k < c->all; k++)
        n += band->by[k] * ramp(band->part[k], SOME, MUCH) > LOUDER;
    return n;
}

// `level`: of all places at the band.
static void settle(const Cells *c, const Band *band, double level, float *to)
{
    const double off = level > 0 ? log(fmax(band->quiet / level, 1e-8)) : 0;
    for (int k = 0; k < c->all; k++) {
        const double by = band->by[k], told = by > 0 ? ramp(band->part[k], SOME / 3, MUCH / 3) : 1;
        to[k] = (float)(by * told * ramp(fabs(by), CHANCE, SURE) +
                        off * ramp(fabs(off), CHANCE / 3, SURE / 3));
    }
    fill(c, to);
}

static Band band_new(const Cells *c)
{
    return (Band){.by = g_new(float, c->all), .part = g_new(float, c->all)};
}

static void band_clear(Band *band)
{
    g_free(band->by);
    g_free(band->part);
}

// Marks the bands at which large cells are louder; how many of cells and bands are.
static int find_louder(const Cells *c, const float *quiet, const float *mean,
                       const LithoNoiseMap *map, guint8 *found)
{
    g_autofree float *at = knots_of(c), *common = common_at(c, at, map);
    Band band = band_new(c);
    int all = 0;
    for (int b = 0; b < noise_map_bands(c->job); b++) {
        compare(c, quiet + b * c->job->windows, mean + b * c->job->windows, common, &band);
        const int n = count_louder(c, &band);
        found[b] = n > 0;
        all += n;
    }
    band_clear(&band);
    return all;
}

// Loudness that the noise of all bands has in common in a cell, from that of each of them: the
// quarter of them that says least, where that is clear. The large cells' level leads past edges.
static void settle_edges(const Cells *c, const float *by, int bands, float *to)
{
    g_autofree float *own = g_new(float, bands);
    for (int k = 0; k < c->all; k++) {
        for (int b = 0; b < bands; b++)
            own[b] = by[(gsize)b * c->all + k];
        const float low = litho_select_kth(own, bands, bands / 4);
        const float high = litho_select_kth(own, bands, bands - 1 - bands / 4);
        const float least = low > 0 ? low : high < 0 ? high : 0;
        to[k] = (float)(least * ramp(fabs(least), EDGE, CLEAR_EDGE));
    }
    fill(c, to);
}

static gboolean any_of(const float *x, gsize n)
{
    for (gsize k = 0; k < n; k++)
        if (x[k] != 0)
            return TRUE;
    return FALSE;
}

// Noise that varies at some frequencies alone, and edges of noise that varies at all. Where it is
// louder somewhere, the level of its frequency holds a part of that, so that cells are told in
// units of their own quiet ones there.
static void find_bands(const Cells *large, const float *quiet, LithoNoise *noise)
{
    const NoiseJob *job = large->job;
    const int bands = noise_map_bands(job);
    const float *mean = quiet + bands * job->windows;
    g_autofree guint8 *found = g_malloc0(bands + 2); // one more before and behind
    const gboolean some = find_louder(large, quiet, mean, &noise->map, found + 1) >= LOUDER_BANDS;
    if (!some && !noise->map.level)
        return;
    Cells c = cells_new(job, BAND_TRACES, SAMPLES, BAND_WINDOWS, BAND_VALUES);
    const gsize all = (gsize)bands * c.all;
    float *at = knots_of(&c), *level = g_new0(float, all);
    g_autofree float *common = common_at(&c, at, &noise->map), *by = g_new(float, all);
    g_autofree float *edges = g_new0(float, c.all);
    Band band = band_new(&c);
    for (int b = 0; b < bands; b++) {
        float *to = level + (gsize)b * c.all;
        compare(&c, quiet + b * job->windows, mean + b * job->windows, common, &band);
        memcpy(by + (gsize)b * c.all, band.by, c.all * sizeof *by);
        if (some && (found[b] || found[b + 1] || found[b + 2]))
            settle(&c, &band, noise->sigma[noise_map_frequency_of(job, b)], to);
    }
    if (noise->map.level)
        settle_edges(&c, by, bands, edges);
    for (int b = 0; b < bands; b++)
        if (!(some && (found[b] || found[b + 1] || found[b + 2])))
            memcpy(level + (gsize)b * c.all, edges, c.all * sizeof *edges);
    if (any_of(level, all)) {
        noise->bands = (LithoNoiseMap){
            .n = {c.n[0], c.n[1], c.n[2]}, .at = at, .level = level, .bands = bands};
    } else {
        g_free(at);
        g_free(level);
    }
    band_clear(&band);
    cells_clear(&c);
}

void noise_map_common(const NoiseJob *job, const float *quiet, LithoNoise *noise)
{
    Cells c = large_cells(job);
    g_autofree float *level = g_new0(float, (gsize)noise_map_bands(job) * c.all);
    const int bands = c.all > 1 ? amplitudes(&c, quiet, level) : 0;
    const float part = bands > 0 ? (float)variation_of(&c, level, bands) : 0;
    if (part > 0) {
        noise->map = (LithoNoiseMap){
            .n = {c.n[0], c.n[1], c.n[2]}, .at = knots_of(&c), .level = g_new(float, c.all)};
        weakest(&c, level, bands, noise->map.level);
        for (int k = 0; k < c.all; k++)
            noise->map.level[k] *= part;
        fill(&c, noise->map.level);
        normalise(&c, noise->ends, noise->map.level);
    }
    cells_clear(&c);
}

void noise_map_find_bands(const NoiseJob *job, const float *quiet, LithoNoise *noise)
{
    Cells c = large_cells(job);
    if (c.all > 1)
        find_bands(&c, quiet, noise);
    cells_clear(&c);
}

gboolean noise_map_is_even(const NoiseJob *job, const float *quiet)
{
    const LithoNoiseMap none = {0};
    const int all = noise_map_bands(job);
    const float *mean = quiet + all * job->windows;
    Cells c = large_cells(job);
    g_autofree float *level = g_new0(float, (gsize)all *c.all);
    g_autofree guint8 *found = g_malloc0(all);
    const int bands = c.all > 1 ? amplitudes(&c, quiet, level) : 0;
    const gboolean even = !(bands > 0 && variation_of(&c, level, bands) > 0) &&
                          (c.all <= 1 || find_louder(&c, quiet, mean, &none, found) < LOUDER_BANDS);
    cells_clear(&c);
    return even;
}

float *noise_map_of_windows(const NoiseJob *job, const LithoNoiseMap *map)
{
    Cells c = large_cells(job);
    float *power = g_new0(float, job->windows);
    for (gint64 w = 0; w < job->windows; w++)
        power[w] = c.of[w] >= 0 ? expf(2 * map->level[c.of[w]]) : 0;
    cells_clear(&c);
    return power;
}

// --- for a filter that has levels of its own -----------------------------------------------------

static NoiseCells cells_of(Cells c, const float *quiet)
{
    const NoiseJob *job = c.job;
    const int bands = noise_map_bands(job);
    const gsize all = (gsize)job->nf * c.all;
    NoiseCells to = {.n = {c.n[0], c.n[1], c.n[2]},
                     .all = c.all,
                     .nf = job->nf,
                     .told = noise_told(job),
                     .at = knots_of(&c),
                     .power = g_new(float, all),
                     .part = g_new(float, all),
                     .count = g_memdup2(c.count, c.all * sizeof *c.count)};
    for (int f = 0; f < job->nf; f++) {
        const int band = bands == job->nf ? f : MIN(f / 2, bands - 1);
        powers_of(&c, quiet + band * job->windows, quiet + (bands + band) * job->windows,
                  to.power + (gsize)f * c.all, to.part + (gsize)f * c.all);
    }
    cells_clear(&c);
    return to;
}

NoiseCells noise_cells_new(const NoiseJob *job, const float *quiet)
{
    return cells_of(cells_new(job, BAND_TRACES, SAMPLES, BAND_WINDOWS, BAND_VALUES), quiet);
}

NoiseCells noise_cells_of_times(const NoiseJob *job, const float *quiet)
{
    return cells_of(cells_new(job, G_MAXINT, 1, 1, 1), quiet);
}

void noise_cells_fill(const NoiseCells *cells, float *values)
{
    const Cells c = {
        .n = {cells->n[0], cells->n[1], cells->n[2]}, .all = cells->all, .count = cells->count};
    fill(&c, values);
}

void noise_cells_clear(NoiseCells *cells)
{
    g_free(cells->at);
    g_free(cells->power);
    g_free(cells->part);
    g_free(cells->count);
    *cells = (NoiseCells){0};
}
