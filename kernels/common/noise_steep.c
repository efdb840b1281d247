// SPDX-License-Identifier: GPL-3.0-or-later
//
// Coherent noise of low frequency, as ground roll is: it moves faster from trace to trace than
// reflections do, and is slower than they are in time.
//
// A dip alone accuses no event: flanks and diffractions are steep, too. They have the spectrum of
// the flat events, or a higher one, for steepness is counted in periods. So the spectrum of what is
// steep is held against that of what is flat, in local windows, whose random noise is taken off: by
// its level, or, where that varies from place to place, by the median over the wavenumbers of each
// window and frequency, which curved events raise.
#include <fftw3.h>
#include <math.h>
#include <string.h>

#include "kernels/common/noise_job.h"
#include "kernels/common/select.h"

// Windows, no more than MOST of them, half a window apart or evenly spread.
enum { TRACES = 32, SAMPLES = 64, LONGEST = 256, MOST = 64, FEWEST = 16 };
// Wavenumbers |k| in bins of 1 / TRACES, up to sqrt(1/2) of a cycle a trace.
enum { RINGS = 24 };
// Steep is what moves by so many periods of the flat events' frequency from trace to trace: ten
// milliseconds at 30 Hz, a kilometre in 0.4 s where traces are 25 m apart. Flat is a third of that.
#define STEEP 0.3
// Where the low frequencies outweigh the middle ones, which flanks of events do not, less is steep:
// two samples a trace at 30 Hz and 4 ms.
#define STEEP_OF_LOW 0.23
#define FLAT 0.1
// Wavenumbers that a window tells from none, in bins.
enum { RESOLVED = 2 };
// Low frequencies end at this part of the flat events' mean frequency; those up to the other part
// are in its middle.
#define LOW 0.6
#define HIGH 1.5
// Standard deviations of the random noise that events are clear of.
#define SURE 3

typedef struct Steep {
    const LithoCube *cube;
    const LithoNoise *level; // of the random noise; NULL = the windows' medians
    LithoBox box;
    int n[3], nf;
    gint64 count[3], windows;
    double *taper[3];
    fftwf_plan plan;
    float *ring;   // [window][ring][frequency]: power above the noise
    double *noise; // [window][frequency]: of all wavenumbers
    int ring_of[TRACES * TRACES], in_ring[RINGS];
} Steep;

static gint64 start_of(const Steep *s, int axis, gint64 k)
{
    const gint64 free = litho_box_size(s->box, axis) - s->n[axis];
    return s->box.lo[axis] + (s->count[axis] > 1 ? k * free / (s->count[axis] - 1) : 0);
}

static void set_windows(Steep *s, int samples)
{
    const int want[3] = {TRACES, TRACES, samples};
    gint64 all = 1;
    for (int a = 0; a < 3; a++) {
        const gint64 size = litho_box_size(s->box, a);
        s->n[a] = (int)MIN(want[a], size);
        const gint64 half = MAX(s->n[a] / 2, 1);
        s->count[a] = 1 + (size - s->n[a] + half - 1) / half;
        all *= s->count[a];
        s->taper[a] = g_new(double, s->n[a]);
        for (int k = 0; k < s->n[a]; k++)
            s->taper[a][k] = s->n[a] > 1 ? sin(G_PI * (k + 0.5) / s->n[a]) : 1;
    }
    s->nf = s->n[2] / 2 + 1;
    s->windows = MIN(all, MOST);
    memset(s->in_ring, 0, sizeof s->in_ring);
    for (int k = 0; k < s->n[0] * s->n[1]; k++) {
        const int i = k / s->n[1], j = k % s->n[1];
        const double k0 = (double)MIN(i, s->n[0] - i) / s->n[0];
        const double k1 = (double)MIN(j, s->n[1] - j) / s->n[1];
        s->ring_of[k] = MIN((int)(hypot(k0, k1) * TRACES + 0.5), RINGS - 1);
        s->in_ring[s->ring_of[k]]++;
    }
}

// Energy of the taper on the window's traces; 0 where a third of them are missing, muted or not
// finite.
static double put_window(const Steep *s, const gint64 at[3], float *to)
{
    int live = 0;
    double energy = 0;
    for (int x = 0; x < s->n[0] * s->n[1]; x++) {
        const gint64 il = at[0] + x / s->n[1], xl = at[1] + x % s->n[1];
        const double w = s->taper[0][x / s->n[1]] * s->taper[1][x % s->n[1]];
        float *row = to + (gsize)x * s->n[2];
        memset(row, 0, s->n[2] * sizeof *row);
        if (!litho_cube_is_live(s->cube, il, xl))
            continue;
        const float *trace = litho_cube_trace(s->cube, il, xl) + at[2] - s->cube->held.lo[2];
        double sum = 0;
        for (int t = 0; t < s->n[2]; t++)
            sum += (double)trace[t] * trace[t];
        if (!(sum > 0) || !isfinite(sum))
            continue;
        live++;
        energy += w * w * 0.5 * s->n[2];
        for (int t = 0; t < s->n[2]; t++)
            row[t] = (float)(w * s->taper[2][t] * trace[t]);
    }
    return 3 * live > 2 * s->n[0] * s->n[1] ? energy : 0;
}

// Power of a coefficient at frequency f by the level.
static double level_at(const Steep *s, int f)
{
    const guint last = s->level->n - 1;
    const double sigma = s->level->sigma[MIN((guint)((gint64)f * 2 * last / s->n[2]), last)];
    return sigma * sigma;
}

static void measure_window(const Steep *s, gint64 w, float *in, fftwf_complex *out, float *row)
{
    const gint64 all = s->count[0] * s->count[1] * s->count[2], place = w * all / s->windows;
    const gint64 line = place / s->count[2], nk = (gint64)s->n[0] * s->n[1];
    const gint64 at[3] = {start_of(s, 0, line / s->count[1]), start_of(s, 1, line % s->count[1]),
                          start_of(s, 2, place % s->count[2])};
    const double energy = put_window(s, at, in);
    if (!(energy > 0))
        return;
    fftwf_execute_dft_r2c(s->plan, in, out);
    for (int f = 0; f < s->nf; f++) {
        float *ring = s->ring + (w * RINGS) * s->nf + f;
        for (gint64 k = 0; k < nk; k++) {
            const float *c = out[k * s->nf + f];
            row[k] = c[0] * c[0] + c[1] * c[1];
            ring[s->ring_of[k] * s->nf] += row[k];
        }
        const double noise =
            s->level ? energy * level_at(s, f) : litho_select_kth(row, nk, nk / 2) / G_LN2;
        s->noise[w * s->nf + f] = noise * (double)nk;
        for (int r = 0; r < RINGS; r++)
            ring[r * s->nf] -= (float)(noise * s->in_ring[r]);
    }
}

static gboolean measure(Steep *s, LithoRun *run)
{
    const gsize samples = (gsize)s->n[0] * s->n[1] * s->n[2];
    const gsize spectrum = (gsize)s->n[0] * s->n[1] * s->nf;
    s->ring = g_new0(float, s->windows *RINGS * s->nf);
    s->noise = g_new0(double, s->windows * s->nf);
    float *in = fftwf_alloc_real(samples);
    fftwf_complex *out = fftwf_alloc_complex(spectrum);
    s->plan =
        in && out ? fftwf_plan_dft_r2c_3d(s->n[0], s->n[1], s->n[2], in, out, FFTW_ESTIMATE) : NULL;
    fftwf_free(in);
    fftwf_free(out);
    if (!s->plan)
        return FALSE;
#pragma omp parallel num_threads(litho_run_threads(run))
    {
        float *own_in = fftwf_alloc_real(samples);
        fftwf_complex *own_out = fftwf_alloc_complex(spectrum);
        g_autofree float *row = g_new(float, (gsize)s->n[0] * s->n[1]);
#pragma omp for schedule(dynamic)
        for (gint64 w = 0; w < s->windows; w++)
            if (own_in && own_out && litho_run_checkpoint(run))
                measure_window(s, w, own_in, own_out, row);
        fftwf_free(own_in);
        fftwf_free(own_out);
    }
    fftwf_destroy_plan(s->plan);
    return TRUE;
}

static void clear(Steep *s)
{
    for (int a = 0; a < 3; a++)
        g_clear_pointer(&s->taper[a], g_free);
    g_clear_pointer(&s->ring, g_free);
    g_clear_pointer(&s->noise, g_free);
}

// --- the reading ---------------------------------------------------------------------------------

// Sum of the rings [from, to) over the windows at frequency f, without what is below none.
static double power_of(const Steep *s, int f, int from, int to)
{
    double sum = 0;
    for (gint64 w = 0; w < s->windows; w++)
        for (int r = MAX(from, 0); r < MIN(to, RINGS); r++)
            sum += s->ring[(w * RINGS + r) * s->nf + f];
    return sum;
}

// Variance of power_of() by the random noise and by its medians.
static double scatter_of(const Steep *s, int f, int from, int to)
{
    double squares = 0, count = 0;
    const double nk = (double)s->n[0] * s->n[1];
    for (int r = from; r < MIN(to, RINGS); r++)
        count += s->in_ring[r];
    for (gint64 w = 0; w < s->windows; w++)
        squares += pow(s->noise[w * s->nf + f] / nk * count, 2) * (1 / fmax(count, 1) + 2.1 / nk);
    return 8 * squares; // coefficients behind a taper, windows half a length apart: alike by twos
}

// Mean frequency of the flat events in bins: of the rings below `slope` cycles a trace in units of
// a bin, and of none. Ground roll leaks there, lower and as strong as they are: frequencies weigh
// as their square, and what a wavelet has of f^4 exp(-f^2) then seems higher by so much. Random
// noise does, too, and where all events have dips the flat rings hold nothing else: a frequency
// counts where they stand clear of its scatter. 0: none does.
static double mean_frequency(const Steep *s, double slope)
{
    const double higher = 1.2, some = 0.03;
    g_autofree double *power = g_new0(double, s->nf);
    double sum = 0, weight = 0, most = 0;
    for (int f = 1; f < s->nf; f++) {
        const int to = MAX(1, (int)ceil(slope * f * TRACES));
        const double own = power_of(s, f, 0, to);
        power[f] = own > SURE * sqrt(scatter_of(s, f, 0, to)) ? pow(f, 2) * own : 0;
        most = fmax(most, power[f]);
    }
    for (int f = 1; f < s->nf; f++) {
        const double own = power[f] > some * most ? power[f] : 0;
        sum += f * own;
        weight += own;
    }
    return weight > 0 ? sum / weight / higher : 0;
}

// Sets what belongs to ground roll, which has next to none of the middle frequencies, or a lower
// mean of all. Steep events are 0.1 to 1.6 times as strong in the low frequencies as in the middle
// ones, up to 5 times the ratio of flat events (strongly curved ones, whose higher frequencies are
// aliased), and their mean frequency is no less than 0.65 of the flat ones' where they hold less
// than a tenth of the energy; ground roll of 10 to 12 Hz has a ratio above 5.
static void read_spectra(const Steep *s, double df, LithoNoise *noise)
{
    const double share = 0.02, ratio = 1.5, times = 6, much = 0.15, slower = 0.7;
    double flat = mean_frequency(s, 0);
    flat = mean_frequency(s, FLAT / fmax(flat, 1));
    double steep[2] = {0}, plain[2] = {0}, all = 0, whole = 0, sum = 0, weight = 0, squares = 0;
    double below_flat = 0;
    for (int f = 1; f < s->nf; f++) {
        const double periods = f / fmax(flat, 1) * TRACES; // STEEP and FLAT are in units of it
        const int from = MAX(RESOLVED + 1, (int)floor(STEEP * periods) + 1);
        const int from_low = MAX(RESOLVED + 1, (int)floor(STEEP_OF_LOW * periods) + 1);
        const int to = MAX(1, (int)ceil(FLAT * periods));
        const double own = power_of(s, f, from, RINGS);
        const int part = f < LOW * flat ? 0 : f < HIGH * flat ? 1 : -1;
        all += own;
        below_flat += f < flat ? own : 0;
        whole += power_of(s, f, 0, RINGS);
        sum += f * fmax(own, 0);
        weight += fmax(own, 0);
        if (part >= 0) {
            steep[part] += power_of(s, f, from_low, RINGS);
            plain[part] += power_of(s, f, 0, to);
        }
        squares += part == 0 ? scatter_of(s, f, from_low, RINGS) : 0;
    }
    if (!(whole > 0) || !(flat > 0) || steep[0] < SURE * sqrt(squares))
        return;
    const gboolean lower = steep[0] > share * whole && plain[1] > 0 &&
                           steep[0] > fmax(ratio, times * plain[0] / plain[1]) * steep[1];
    const gboolean slow = all > much * whole && sum < slower * flat * weight;
    if (!lower && !slow)
        return;
    noise->steep = fmin((slow ? below_flat : steep[0]) / whole, 1);
    noise->steep_slope = (slow ? STEEP : STEEP_OF_LOW) * s->n[2] / fmax(flat, 1); // samples a trace
    noise->steep_below = (slow ? flat : LOW * flat) * df;
}

void noise_find_steep(const LithoCube *cube, LithoBox box, LithoRun *run, LithoNoise *noise)
{
    const double dt = fabs(cube->grid.axis[2].step);
    const gint64 nt = litho_box_size(box, 2);
    noise->steep = 0;
    if (litho_box_empty(box) || nt < SAMPLES / 2 ||
        MAX(litho_box_size(box, 0), litho_box_size(box, 1)) < FEWEST)
        return;
    // Finely sampled traces need longer windows for a few low frequencies.
    for (int samples = SAMPLES;; samples *= 2) {
        Steep s = {.cube = cube, .level = noise->local ? NULL : noise, .box = box};
        const double bins = 6;
        set_windows(&s, samples);
        gboolean ok = measure(&s, run) && litho_run_checkpoint(run);
        const double mean = ok ? mean_frequency(&s, 0) : 0;
        const gboolean again = mean > 0 && mean < bins && 2 * samples <= MIN(nt, LONGEST);
        if (ok && !again)
            read_spectra(&s, 1 / (s.n[2] * dt), noise);
        clear(&s);
        if (!again)
            return;
    }
}
