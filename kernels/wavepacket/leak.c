// SPDX-License-Identifier: GPL-3.0-or-later
//
// The level of the noise in nearly clean data. Windows hold so few traces that events leak into all
// of their wavenumbers, 12 to 35 dB below themselves: noise weaker than that is told 2 to 200 times
// too strong, and the threshold takes events that stand far above it.
//
// Smaller windows tell. Noise has one level in windows of any size, and noise of a band spreads in
// frequency as their tapers say. The less windows hold, the more of them lie between the events:
// where windows of 12 traces and half the samples tell less, theirs is the level. Events leak the
// more, the smaller windows are: where those of 8 traces hold a little more, leak of LITTLE_LEAK of
// theirs is taken off. Where they hold far more and the noise seems weak, no level between the
// events can be told from leak, and the frequencies that hold least give it to all. "Far more" is
// asked of frequencies and of all power together.
#include <math.h>
#include <stdlib.h>

#include "core/sort.h"
#include "kernels/wavepacket/apply.h"
#include "kernels/wavepacket/local.h"

// Bounds of cubes and of lines, whose small windows hold 8 wavenumbers: events leak more into
// these.
typedef struct Bounds {
    // Power of leak in windows of 8 traces over that in the level: 3 to 25 for events of six kinds
    // in cubes.
    double little_leak;
    int beside;   // frequencies to either side that leak tells of: it comes and goes with wavelets
    double power; // of windows of 8 traces over the level's, from where on it may be leak alone
} Bounds;

static const Bounds of_cubes = {8, 6, 2}, of_lines = {16, 1, 2.6};
// dB of the data over the noise from where on the level may be leak alone: 28 to 40 for seven kinds
// of events without noise.
static const double CLEAR = 28;
// dB of the data over the noise beyond which its variation may be that of leak or of rounding.
static const double CLEAREST = 35;
// Power of noise over the level below which the level, and how it varies, was leak.
static const double LEAK_ALONE = 0.25;

static double clamp01(double x)
{
    return CLAMP(x, 0, 1);
}

// Correlation of a window's taper with itself, moved by a part x of its length, over its energy.
static double overlap_of(double x)
{
    return (1 - x) * cos(G_PI * x) + sin(G_PI * x) / G_PI;
}

// Power of the noise in windows with n frequencies: these are shorter, and noise of a band spreads
// to either side of it there.
static double *power_in_windows(const LithoNoise *noise, guint n)
{
    const int longer = 2 * (int)(noise->n - 1), shorter = MIN(2 * (int)(n - 1), longer);
    g_autofree double *covariance = g_new0(double, shorter);
    double *power = g_new0(double, n);
    for (int t = 0; t < shorter; t++) {
        for (guint f = 0; f < noise->n; f++)
            covariance[t] += (f == 0 || f == noise->n - 1 ? 1 : 2) * noise->sigma[f] *
                             noise->sigma[f] * cos(2 * G_PI * (double)f * t / longer) / longer;
        if (shorter < longer)
            covariance[t] *= overlap_of((double)t / shorter) / overlap_of((double)t / longer);
    }
    for (guint f = 0; f < n; f++) {
        const double at = G_PI * f / (n - 1);
        for (int t = 0; t < (shorter < longer ? shorter : longer / 2 + 1); t++)
            power[f] += (t == 0 || 2 * t == longer ? 1 : 2) * covariance[t] * cos(at * t);
        power[f] = MAX(power[f], 0);
    }
    return power;
}

// Value between those at frequencies that lie evenly from 0 to Nyquist.
static double value_at(const double *values, guint n, double part)
{
    const guint lo = MIN((guint)(part * (n - 1)), n - 1), hi = MIN(lo + 1, n - 1);
    return values[lo] + (part * (n - 1) - lo) * (values[hi] - values[lo]);
}

// Power in smaller windows at each of noise's frequencies over what it would be of noise alone.
// `little`, a share of the noise's power, comes to both: where there is less it is the noise of
// other frequencies that leaks, which says nothing of events.
static double *ratios_of(const LithoNoise *noise, const LithoNoise *smaller, double little)
{
    const double least = little * noise->total * noise->total;
    g_autofree double *own = power_in_windows(noise, smaller->n);
    double *ratio = g_new(double, noise->n);
    for (guint f = 0; f < smaller->n; f++)
        own[f] = own[f] + least > 0
                     ? sqrt((smaller->sigma[f] * smaller->sigma[f] + least) / (own[f] + least))
                     : 1;
    for (guint f = 0; f < noise->n; f++) {
        const double amplitude = value_at(own, smaller->n, (double)f / (noise->n - 1));
        ratio[f] = amplitude * amplitude;
    }
    return ratio;
}

// The value that a share of them does not exceed.
static double quantile(const double *values, guint n, double share)
{
    g_autofree double *sorted = g_memdup2(values, n * sizeof *values);
    qsort(sorted, n, sizeof *sorted, litho_compare_double);
    return sorted[(guint)(share * (n - 1) + 0.5)];
}

static double most_beside(const double *values, int n, int at, int beside)
{
    double most = 0;
    for (int f = MAX(at - beside, 0); f <= MIN(at + beside, n - 1); f++)
        most = MAX(most, values[f]);
    return most;
}

// Mean over all frequencies, of which the first and the last stand for one each, the others for
// two. `ratio`: factors of the power; NULL = 1.
static double power_of(const LithoNoise *noise, const double *ratio)
{
    double sum = 0;
    for (guint f = 0; f < noise->n; f++)
        sum += (f == 0 || f == noise->n - 1 ? 0.5 : 1) * noise->sigma[f] * noise->sigma[f] *
               (ratio ? ratio[f] : 1);
    return sum / (noise->n - 1);
}

// In steps: sums of parts of a survey differ in their last digits.
static double decibels_over(const LithoNoise *noise, double power)
{
    const double own = wp_noise_deviation(noise);
    return rint(40 * log10(power / (own * own))) / 4;
}

static void clear_maps(LithoNoise *noise)
{
    litho_noise_map_clear(&noise->map);
    litho_noise_map_clear(&noise->bands);
}

void wp_noise_check_map(LithoNoise *noise, double power)
{
    if (decibels_over(noise, power) > CLEAREST)
        clear_maps(noise);
}

gboolean wp_noise_may_leak(const LithoNoise *noise, double power)
{
    // Events that leak seem to vary from place to place, too: without the maps.
    return power > WP_CLEAR * power_of(noise, NULL);
}

static void follow(LithoNoise *noise, double before)
{
    const double by = before > 0 ? sqrt(power_of(noise, NULL) / before) : 1;
    noise->total *= by;
    noise->low *= by;
    noise->high *= by;
}

// TRUE where wavenumbers that seem to hold more noise than others are the events'. Noise that keeps
// to some does so where there are no events, too: the smaller windows, which tell of the others
// alone, hold less at all frequencies then.
static gboolean shape_is_leak(const LithoNoise *noise, const double *ratio)
{
    const double least = 1e-4 * power_of(noise, NULL), more = power_of(noise, ratio);
    double sum = 0;
    int n = 0;
    for (guint f = 0; f < noise->n; f++)
        if (noise->sigma[f] * noise->sigma[f] > least) {
            sum += MIN(ratio[f], 1);
            n++;
        }
    return n > 0 && more < LEAK_ALONE * power_of(noise, NULL) * sum / n;
}

// The level of windows between the events. One that knows of wavenumbers and one that does not are
// of other coefficients.
static void take_least(LithoNoise *noise, const LithoNoise *smaller)
{
    g_autofree double *ratio = ratios_of(noise, smaller, 1e-6);
    const double before = power_of(noise, NULL);
    if (noise->shape && !smaller->shape && shape_is_leak(noise, ratio))
        g_clear_pointer(&noise->shape, g_free);
    if (!noise->shape != !smaller->shape)
        return;
    for (guint f = 0; f < noise->n; f++)
        noise->sigma[f] *= sqrt(CLAMP(ratio[f], 0, 1));
    if (power_of(noise, NULL) < LEAK_ALONE * before)
        clear_maps(noise);
    follow(noise, before);
}

// Small windows hold the power that noise has at each frequency in all places, and the level is
// that of the places where it is faintest: what the map of bands tells is no leak, as long as the
// noise is not so weak that the map may be of leak itself.
static void leave_places(const LithoNoise *noise, double decibels, double from, double *ratio)
{
    const double part = clamp01((from - 4 - decibels) / 4);
    for (guint f = 0; f < noise->n; f++) {
        const double places = MAX(wp_noise_places(noise, f), 1);
        ratio[f] = MAX(ratio[f] / pow(places, part), MIN(ratio[f], 1));
    }
}

// How far the level is leak of events, 0 to 1. `from`: dB of the data over it.
static double leaked(const LithoNoise *noise, const double *ratio, double decibels, double from,
                     double least)
{
    const double own = power_of(noise, NULL);
    const double more = own > 0 ? power_of(noise, ratio) / own : 1;
    return clamp01((decibels - from) / 3) *
           clamp01((sqrt(quantile(ratio, noise->n, 0.9)) - 1.7) / 0.6) *
           clamp01((more - least) / 0.6);
}

// Leak that a little more power in small windows tells of, and all of it where that is far more.
static void take_rest(LithoNoise *noise, const LithoNoise *small, const Bounds *bounds,
                      double decibels, double from)
{
    const double little = 0.003, total = noise->total;
    g_autofree double *ratio = ratios_of(noise, small, little);
    leave_places(noise, decibels, from, ratio);
    g_autofree double *more = g_new(double, noise->n);
    const double least = quantile(noise->sigma, noise->n, 0.15);
    const double all = leaked(noise, ratio, decibels, from, bounds->power);
    const double before = power_of(noise, NULL);
    for (guint f = 0; f < noise->n; f++)
        more[f] = MAX(ratio[f] - 1, 0) *
                  (noise->sigma[f] * noise->sigma[f] + little * total * total) /
                  (bounds->little_leak - 1);
    for (guint f = 0; f < noise->n; f++) {
        const double own = noise->sigma[f], floor = MIN(own, least);
        const double leak = most_beside(more, (int)noise->n, (int)f, bounds->beside);
        const double some = MAX(sqrt(MAX(own * own - leak, 0)), floor);
        noise->sigma[f] = floor > 0 ? some * pow(floor / some, all) : some;
    }
    follow(noise, before);
}

void wp_noise_take_leak(LithoNoise *noise, const LithoNoise smaller[WP_SMALLER], double power,
                        double missing, gboolean line)
{
    // Guesses in place of missing traces err, which leaks as well: 16 dB below crossing events
    // where half of the traces are missing.
    const double from = CLEAR - 10 * MIN(missing, 0.5);
    take_least(noise, &smaller[0]);
    take_rest(noise, &smaller[1], line ? &of_lines : &of_cubes, decibels_over(noise, power), from);
}
