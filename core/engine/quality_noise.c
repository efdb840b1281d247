// SPDX-License-Identifier: GPL-3.0-or-later
//
// The noise level that quality is judged by.
#include <math.h>

#include "core/engine/quality.h"
#include "core/engine/quality_unknown.h"
#include "core/engine/steadied.h"

// Windows of so many traces along either axis, and samples, half of their size apart: each sample
// is in two of them along each axis. Those of lines are longer, as 16 wavenumbers scatter too much
// to tell how loud a window's noise is; gathers, whose events are steep, are shorter than that.
enum { SIDE = 16, LONG_SIDE = 32, TIMES = 64, FEW_LINES = 4, LONG_LINE = 48 };
enum { WINDOW_SAMPLES = SIDE * SIDE * TIMES, MOST_SAMPLES = 320 * WINDOW_SAMPLES };

static gint64 lines_of(LithoBox box)
{
    return MIN(litho_box_size(box, 0), litho_box_size(box, 1));
}

// Mean power of the frequencies [from, to) and the standard error of that mean.
static double mean_power(const LithoNoise *noise, guint from, guint to, double *error)
{
    double sum = 0, squares = 0;
    for (guint f = from; f < to; f++) {
        const double power = noise->sigma[f] * noise->sigma[f];
        sum += power;
        squares += power * power;
    }
    const double n = to - from, mean = sum / n;
    *error = sqrt(fmax(squares / n - mean * mean, 0) / (n - 1));
    return mean;
}

// Where flat noise begins: half of Nyquist, or above it up to three quarters where a frequency
// stands out of all those above it by three times their scatter. Sharp or strong events reach there.
static guint first_flat(const LithoNoise *noise)
{
    guint from = 3 * noise->n / 4;
    for (; from > noise->n / 2; from--) {
        double error;
        const double mean = mean_power(noise, from, noise->n, &error);
        const double deviation = error * sqrt(noise->n - from - 1.0);
        const double next = noise->sigma[from - 1];
        if (next * next > mean + 3 * deviation)
            break;
    }
    return from;
}

// Share of a hump below frequency `from` of `n` that is noise; `hump` is in units of the part
// above. Two parts of one white noise differ by chance, and the quiet coefficients of the lower
// one, about half of them, scatter around it by half as much again: up to three standard deviations
// it is all noise. A part that stands further out holds events, and counts less with its fourth
// power. The scatter between the frequencies of the upper part is known too badly for that:
// seventeen figures.
static double noise_of_hump(double samples, double from, double n, double hump)
{
    const double chance = 1.5 * 2 / samples * (n / from + n / (n - from));
    const double far = hump > 0 ? fmin(1, 9 * chance / (hump * hump)) : 1;
    return far * far;
}

// Level of a white noise as its quiet coefficients tell it: its power, and the variance of that,
// relative, around the energy of this noise.
typedef struct White {
    double power, variance;
} White;

// Coefficients of the frequencies [from, to): their number in units of a frequency's, those that
// tell the level, and the mean power of these.
typedef struct Band {
    double all, used, power;
} Band;

static Band band_of(const LithoNoise *noise, guint from, guint to)
{
    Band band = {0};
    for (guint f = from; f < to; f++) {
        const double times = f == 0 || f + 1 == noise->n ? 0.5 : 1;
        band.all += times;
        band.used += times * noise->used[f];
        band.power += times * noise->used[f] * noise->sigma[f] * noise->sigma[f];
    }
    band.power /= fmax(band.used, 1e-30);
    return band;
}

// Where no event shows any more: first_flat() or above it up to three quarters, where nearly all
// coefficients tell the level.
static guint first_clean(const LithoNoise *noise)
{
    const double nearly_all = 0.7;
    guint from = 3 * noise->n / 4;
    for (const guint least = first_flat(noise); from > least; from--)
        if (noise->used[from - 1] < nearly_all)
            break;
    return from;
}

// Mean of a number of variance s^2 that `h` holds beside the leak of events, which is above 0 and
// distributed exponentially with mean `leak`: a normal distribution about s^2 / leak that ends at
// h. Where h is far below that end nothing has leaked, far above it the number says nothing.
static double without_leak(double h, double s, double leak, double *variance)
{
    const double middle = s * s / leak, end = (h - middle) / s, far = -6;
    const double below = 0.5 * erfc(-end / G_SQRT2);
    const double slope = end > far ? exp(-0.5 * end * end) / sqrt(2 * G_PI) / below : 0;
    *variance = end > far ? s * s * fmax(1 - end * slope - slope * slope, 0) : 0;
    return end > far ? middle - s * slope : h;
}

// Coefficients that tell nothing hold the mean of the others. Those below what events reach hold
// chance, which counts, and what events leave in all wavenumbers, which does not: up to 1 % of the
// power where events are many. 0.1 % are expected on a million samples, 0.2 % on two million and
// more, where chance is so small that events show, and more where the hump is beyond 2.5 times its
// chance. What is left of the leak above is 0.07 % on large surveys and 0.3 % on a quarter of a
// million samples, whose windows are full of events.
static White white_of(const LithoNoise *noise, double samples)
{
    const guint from = first_clean(noise);
    const Band low = band_of(noise, 0, from), high = band_of(noise, from, noise->n);
    const double all = low.all + high.all, used = low.used + high.used, share = used / all;
    const double each = 2 * all / samples; // variance of a power of one frequency's coefficients
    const double s = sqrt(each / low.used + each / high.used), hump = low.power / high.power - 1;
    double variance;
    const double leak = fmax(CLAMP(1e-9 * samples, 0.001, 0.002), hump - 2.5 * s);
    const double own = without_leak(hump, s, leak, &variance);
    const double left = hypot(0.0007, 700 / samples), part = low.used / used;
    return (White){.power = high.power * (1 + part * own),
                   .variance =
                       2 * (1 - share) / (samples * share) + part * part * variance + left * left};
}

// The level where the noise is local, or nobody tells which coefficients are quiet: the mean of the
// upper part and the lower one, as far as this is noise.
static double level_of_hump(const LithoNoise *noise, double samples)
{
    const guint from = first_flat(noise);
    double unused;
    const double upper = mean_power(noise, from, noise->n, &unused);
    const double hump = mean_power(noise, 0, from, &unused) - upper;
    const double part = noise_of_hump(samples, from, noise->n, hump / fmax(upper, 1e-30));
    return sqrt(upper + part * hump * from / noise->n);
}

// TRUE where enough coefficients are known to be quiet. Lines have too few of them, and where
// events are a hundred times as strong as the noise they hold all but a tenth below what they
// reach.
static gboolean tells_white(const LithoNoise *noise, LithoBox box)
{
    const double few = 0.3;
    if (!noise->used || noise->local || lines_of(box) < SIDE)
        return FALSE;
    const Band low = band_of(noise, 0, first_clean(noise));
    return low.used > few * low.all && band_of(noise, 3 * noise->n / 4, noise->n).used > 0;
}

// TRUE where no frequency is far from the level, and none far above what events reach.
static gboolean is_flat(const LithoNoise *noise, double level)
{
    const guint from = first_flat(noise);
    for (guint f = 0; f < noise->n; f++) {
        const double off = noise->sigma[f] / level - 1;
        if (off < -0.1 || off > 0.4 || (f >= from && fabs(off) > 0.06))
            return FALSE;
    }
    return TRUE;
}

// Noise that is flat above half of Nyquist, or above what events reach there, and nowhere far from
// that, is white: a hump of less than two fifths below is what events leave in all wavenumbers,
// most of it where traces are missing. The interval is that of white_of(), and what is open beyond
// the scatter between groups of windows, which is of all such noises and not of this one; a local
// level keeps that scatter and 0.2 % for events that nothing tells from noise.
static void take_for_white(LithoBox box, double samples, LithoNoise *noise)
{
    const guint n = noise->n;
    if (n < 9)
        return;
    samples = fmax(samples, 1);
    const gboolean told = tells_white(noise, box);
    const White white = told ? white_of(noise, samples) : (White){0};
    const double level = told ? sqrt(white.power) : level_of_hump(noise, samples);
    if (!(level > 0) || !is_flat(noise, level))
        return;
    if (noise->local) { // what events raise is seen
        noise->doubt -= noise->events;
        noise->events = 0;
        noise->high = (1.003 + 2 * noise->doubt) * noise->total;
    }
    const double beyond = noise->high - 1.003 * noise->total;
    const double off = told ? hypot(fmax(beyond - noise->scatter, 0), sqrt(white.variance) * level)
                            : hypot(fmax(beyond, 0), 0.002 * level);
    noise->low = (told ? level : MIN(level, noise->total)) - off;
    noise->high = (told ? level : MAX(level, noise->total)) + off;
    noise->total = level;
    for (guint f = 0; f < n; f++)
        noise->sigma[f] = level;
    const gsize places = (gsize)noise->n_places[0] * noise->n_places[1] * noise->n_places[2];
    for (gsize k = 0; noise->local && k < n * places; k++)
        noise->local[k] = 1; // events made it vary from frequency to frequency
}

static gboolean is_long_line(LithoBox box)
{
    return lines_of(box) < FEW_LINES &&
           MAX(litho_box_size(box, 0), litho_box_size(box, 1)) >= LONG_LINE;
}

// Sizes of the windows, and the most of them: no sample beyond MOST_SAMPLES is looked at.
static int set_windows(LithoBox box, int window[3])
{
    int overlap = 1;
    gint64 samples = 1;
    for (int axis = 0; axis < 3; axis++) {
        window[axis] = axis == 2 ? TIMES : is_long_line(box) ? LONG_SIDE : SIDE;
        overlap *= litho_box_size(box, axis) > 1 ? 2 : 1;
        samples *= CLAMP(litho_box_size(box, axis), 1, window[axis]); // an empty box is refused
    }
    return (int)MIN(MOST_SAMPLES / samples * overlap, G_MAXINT);
}

static double live_samples(const LithoCube *cube, LithoBox box)
{
    gint64 live = 0;
    for (gint64 i = box.lo[0]; i < box.hi[0]; i++)
        for (gint64 j = box.lo[1]; j < box.hi[1]; j++)
            live += litho_cube_is_live(cube, i, j);
    return (double)live * (double)litho_box_size(box, 2);
}

// Guesses where many traces are missing miss what is curved, and leave it as noise: in a survey of
// one or two windows by up to a sixth, with four windows by nothing that shows. The lower end of
// the interval says so.
static void widen_for_guesses(LithoNoise *noise, LithoBox box, double samples)
{
    const double missing = 1 - samples / (double)MAX(litho_box_count(box), 1) - 0.1;
    const double windows = samples / WINDOW_SAMPLES;
    const double least = fmin(noise->low, 0.5 * noise->total);
    if (missing > 0 && windows > 0)
        noise->low -= noise->total * fmin(1.7 * missing * missing / (windows * windows), 0.25);
    noise->low = fmax(noise->low, least);
}

// Events fill the few windows of a small survey: the level was up to five times too high in one or
// two windows, and in up to seven of a line. Windows of traces shorter than 32 samples tell it
// otherwise, and 0.4 to 1.2 % too high.
static void put_doubt(LithoBox box, const int window[3], double samples, LithoNoise *noise)
{
    const gint64 few = 8;
    noise->fewest = is_long_line(box) ? 4 : lines_of(box) < few ? 8 : 3;
    noise->windows = samples;
    for (int a = 0; a < 3; a++)
        noise->windows /= (double)MIN(window[a], litho_box_size(box, a));
    noise->doubt = noise->windows < noise->fewest                    ? 1
                   : litho_box_size(box, 2) < LITHO_QUALITY_SHORTEST ? 0.006
                                                                     : 0;
}

static gboolean measure_level(const LithoCube *cube, const LithoBox *box, LithoRun *run,
                              LithoNoise *noise, GError **error)
{
    const LithoBox measured = box ? litho_box_intersect(*box, cube->held) : cube->held;
    int window[3];
    const int most = set_windows(measured, window);
    if (!litho_qc_noise_windows(cube, box, window, most, run, noise, error))
        return FALSE;
    if (!noise->local && !litho_qc_swell(cube, &measured, run, &noise->swell, error)) {
        litho_noise_clear(noise);
        return FALSE;
    }
    const double samples = live_samples(cube, measured);
    if (!noise->shape &&
        !(noise->levelled < 0)) { // where noise varies most of its energy is in fewer samples
        take_for_white(measured, fmin(samples, MOST_SAMPLES) / (1 + noise->varies * noise->varies),
                       noise);
    }
    if (!noise->local)
        put_doubt(measured, window, samples, noise);
    widen_for_guesses(noise, measured, samples);
    noise->high =
        noise->swell > 0 ? fmax(noise->high, hypot(noise->total, noise->swell)) : noise->high;
    return TRUE;
}

gboolean litho_quality_noise(const LithoCube *cube, const LithoBox *box, LithoRun *run,
                             LithoNoise *noise, GError **error)
{
    LithoRun quiet = litho_run_quiet(run);
    LithoSteady steady;
    LithoSteadyTaken taken;
    if (!litho_qc_steady_in(cube, &quiet, &steady, error))
        return FALSE;
    if (litho_steady_is_none(&steady))
        return measure_level(cube, box, run, noise, error);
    if (!litho_cube_host(cube, error))
        return FALSE;
    g_autoptr(LithoCube) without = litho_qc_steady_without(cube, &steady, &quiet, &taken, error);
    if (!without || !measure_level(without, box, run, noise, error))
        return FALSE;
    noise->steady = litho_steadied_rms(&taken);
    return TRUE;
}
