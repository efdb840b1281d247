// SPDX-License-Identifier: GPL-3.0-or-later
//
// The level of the noise in nearly clean data. Windows hold so few traces that events leak into all
// of their wavenumbers, 25 to 35 dB below themselves: noise weaker than that is told 2 to 80 times
// too strong, and the threshold takes events that stand far above it.
//
// Windows of half the traces and samples tell. Noise has one level in windows of any size; events
// leak the more, the smaller these are. Where the small windows hold a little more, leak of
// LITTLE_LEAK of theirs is taken off. Where they hold far more and the noise seems weak, no level
// between the events can be told from leak, and the frequencies that hold least give it to all.
// "Far more" is asked of frequencies and of all power together: windows leak from frequency to
// frequency, too, so that coloured noise has large ratios beside its band, where next to none of it
// is.
#include <math.h>
#include <stdlib.h>

#include "core/sort.h"
#include "kernels/wavepacket/apply.h"
#include "kernels/wavepacket/local.h"

// Power of leak in small windows over that in windows twice as large: 3 to 25 for events of six
// kinds, 5 to 9 for most.
static const double LITTLE_LEAK = 8;
// Frequencies to either side that leak tells of: it comes and goes with events' wavelets. Small
// windows of a line hold 8 wavenumbers: events leak more into these, and its bounds are its own.
enum { BESIDE = 3, BESIDE_LINE = 1 };
static const double POWER = 2, POWER_LINE = 2.6; // small windows' power over the other, from here on
// dB of the data over the noise beyond which its variation may be that of leak or of rounding.
static const double CLEAREST = 35;

static double clamp01(double x)
{
    return CLAMP(x, 0, 1);
}

// The small windows' level over the other at each frequency. Where there is next to no noise it is
// the noise of other frequencies that leaks, which says nothing of events.
static double *ratios_of(const LithoNoise *noise, const LithoNoise *small)
{
    const double little = 0.003 * noise->total * noise->total;
    double *ratio = g_new(double, noise->n);
    for (guint f = 0; f < noise->n; f++) {
        const double own = noise->sigma[f] * noise->sigma[f];
        ratio[f] =
            own > 0
                ? sqrt((wp_noise_power(small, 0.5 * f / (noise->n - 1)) + little) / (own + little))
                : 1;
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
// two. `ratio`: factors of the amplitudes; NULL = 1.
static double power_of(const LithoNoise *noise, const double *ratio)
{
    double sum = 0;
    for (guint f = 0; f < noise->n; f++) {
        const double own = noise->sigma[f] * (ratio ? ratio[f] : 1);
        sum += (f == 0 || f == noise->n - 1 ? 0.5 : 1) * own * own;
    }
    return sum / (noise->n - 1);
}

// In steps: sums of parts of a survey differ in their last digits.
static double decibels_over(const LithoNoise *noise, double power)
{
    const double own = wp_noise_deviation(noise);
    return rint(40 * log10(power / (own * own))) / 4;
}

void wp_noise_check_map(LithoNoise *noise, double power)
{
    if (decibels_over(noise, power) <= CLEAREST)
        return;
    litho_noise_map_clear(&noise->map);
    litho_noise_map_clear(&noise->bands);
}

gboolean wp_noise_may_leak(const LithoNoise *noise, double power)
{
    const double own = wp_noise_deviation(noise);
    return power > WP_CLEAR * own * own;
}

// How far the level is leak of events, 0 to 1. `from`: dB of the data over it.
static double leaked(const LithoNoise *noise, const double *ratio, double decibels, double from,
                     gboolean line)
{
    const double own = power_of(noise, NULL), least = line ? POWER_LINE : POWER;
    const double more = own > 0 ? power_of(noise, ratio) / own : 1;
    return clamp01((decibels - from) / 3) *
           clamp01((quantile(ratio, noise->n, 0.9) - 1.7) / 0.6) * clamp01((more - least) / 0.6);
}

void wp_noise_take_leak(LithoNoise *noise, const LithoNoise *small, double power, double missing,
                        gboolean line)
{
    // Guesses in place of missing traces err, which leaks as well: 16 dB below crossing events
    // where half of the traces are missing.
    const double from = 17 - 10 * MIN(missing, 0.5);
    g_autofree double *ratio = ratios_of(noise, small);
    const double least = quantile(noise->sigma, noise->n, 0.15);
    const double decibels = decibels_over(noise, power);
    const double all = leaked(noise, ratio, decibels, from, line);
    const double before = power_of(noise, NULL);
    for (guint f = 0; f < noise->n; f++) {
        const double most =
            most_beside(ratio, (int)noise->n, (int)f, line ? BESIDE_LINE : BESIDE);
        const double floor = MIN(noise->sigma[f], least);
        const double rest = clamp01((LITTLE_LEAK - most * most) / (LITTLE_LEAK - 1));
        const double some = MAX(noise->sigma[f] * sqrt(rest), floor);
        noise->sigma[f] = floor > 0 ? some * pow(floor / some, all) : some;
    }
    const double by = before > 0 ? sqrt(power_of(noise, NULL) / before) : 1;
    noise->total *= by;
    noise->low *= by;
    noise->high *= by;
}
