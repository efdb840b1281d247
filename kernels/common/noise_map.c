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
#include "kernels/common/select.h"

enum { TRACES = 16, SAMPLES = 32 };             // a cell at least
enum { CELL_WINDOWS = 10, CELL_VALUES = 1024 }; // windows, and wavenumbers of all of them
// Cells scatter by 0.006 to 0.035 where the noise is alike everywhere, also below events of 30 dB.
static const double VARIES = 0.08, CLEARLY = 0.12;
// The middle band's scatter over that of the least ones: 1.02 to 1.28 where the noise varies, also
// 30 dB below the events; 1.7 to 3 where events leak or fill their windows.
static const double NOISE = 1.4, EVENTS = 1.6;
static const double MUTED = 0.06; // of a window that tells nothing

float *noise_map_quiet(const NoiseJob *job, int threads)
{
    const gint64 nk = noise_wavenumbers(job), rank = noise_map_rank(job);
    const int bands = noise_map_bands(job);
    float *quiet = g_new0(float, (gsize)bands * job->windows);
#pragma omp parallel num_threads(threads)
    {
        g_autofree float *row = g_new(float, nk);
#pragma omp for schedule(static)
        for (gint64 i = 0; i < bands * job->windows; i++) {
            const gint64 band = i / job->windows, w = i % job->windows;
            const gsize at = (gsize)noise_map_frequency((int)band) * job->windows + w;
            if (!(job->share[w] > 0) || !litho_run_checkpoint(job->run))
                continue;
            memcpy(row, job->power + at * nk, nk * sizeof *row);
            quiet[i] = litho_select_kth(row, nk, rank);
        }
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
static void divide(Cells *c, gint64 windows)
{
    const NoiseJob *job = c->job;
    const gint64 each = MAX(CELL_WINDOWS, CELL_VALUES / noise_wavenumbers(job));
    const int least[3] = {TRACES, TRACES, SAMPLES};
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

static Cells cells_new(const NoiseJob *job)
{
    Cells c = {.job = job, .of = g_new(gint64, job->windows)};
    gint64 windows = 0;
    for (gint64 w = 0; w < job->windows; w++)
        windows += tells(job, w);
    divide(&c, windows);
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
        to[k] = n > 0 ? litho_select_kth(sorted + at[k] - n, n, n / 2) : 0;
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

void noise_map_find(const NoiseJob *job, const float *quiet, LithoNoise *noise)
{
    Cells c = cells_new(job);
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
