// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/quality_sure.h"

#include <math.h>
#include <string.h>

#include "core/engine/probe.h"
#include "core/engine/quality_unknown.h"
#include "core/text.h"

// Where a threshold jumps, the probe moves up to two thirds more than the noise that passes.
#define PASSING 0.6

// Mean squared error of the output, and the variance that this estimate has by the ends of traces.
typedef struct Error {
    double mean, scatter;
} Error;

// The error of samples by the noise that passes them differs between the ends of traces and their
// middle by so much of itself, and by the part of it that is no noise.
#define FOLLOWS 0.15
// The energy of noise that is alike in the middle of traces may differ at their ends by so much,
// and where it is not, by as much more as its level says. What is removed near Nyquist tells it
// (LithoQualitySums.rough, 0.38 independent numbers a sample), beside what is removed of the probe:
// so much more of it than the probe has are events, and where thresholds let the input pass and not
// the probe nothing is told.
#define ALIKE 0.03
#define ROUGH_NUMBERS 0.38
#define EVENTS_ROUGH 1.1
#define REMOVED_ROUGH 0.8

// Samples by 1 - weight, which the level's windows do not see, and what is known of them.
typedef struct Ends {
    const LithoNoise *noise;
    double variance, level; // of the level: `level` times the noise's
    double mse;             // where samples are seen
} Ends;

// Energy of the noise at the ends over that where it is seen, and the variance of this ratio. Where
// the noise has next to nothing near Nyquist what is removed there are events.
static Error loudness_of_ends(const LithoQualitySums *s, const LithoNoise *noise)
{
    const double more = ALIKE + fabs(1 - 1 / noise->ends), open = more * more;
    const double n = s->rough_n - s->seen_rough_n;
    const double own = s->rough_probe - s->seen_rough_probe;
    if (noise->ends != 1 || !(n > 0) || !(own > 0) ||
        !(s->seen_rough > REMOVED_ROUGH * s->seen_rough_probe) ||
        s->seen_rough > EVENTS_ROUGH * s->seen_rough_probe)
        return (Error){1, open};
    const double ratio = (s->rough - s->seen_rough) / own * s->seen_rough_probe / s->seen_rough;
    const double off = 2 * 2 / ROUGH_NUMBERS * (s->unseen_squared / (n * n) + 1 / s->seen_rough_n);
    return (Error){1 + (ratio - 1) * open / (open + off), open * off / (open + off)};
}

// SURE by the level of the samples that are seen.
static Error ends_by_level(const LithoQualitySums *s, const Ends *e)
{
    const Error loud = loudness_of_ends(s, e->noise);
    const double there = e->variance * ((double)s->n - s->seen / e->noise->ends); // noise's energy
    const double chance =
        (2 * e->variance * e->variance + 4 * e->variance * fmax(e->mse, 0)) * s->unseen_squared;
    return (Error){s->rr - s->seen_rr + e->level * 2 * (s->div - s->seen_div) - loud.mean * there,
                   chance + loud.scatter * pow(e->variance * s->unseen, 2)};
}

// The error of the samples that are seen by the noise that passes, which passes where events are,
// as errors do, unless a filter takes events away.
static Error ends_by_noise(const LithoQualitySums *s, const Ends *e)
{
    const double passes = s->seen_pass / s->seen;
    const double mean = e->mse * (s->pass - s->seen_pass) / passes;
    const double most = fmax(e->mse * s->unseen, mean);
    return (Error){mean, pow((FOLLOWS + 1 - fmin(1, passes / e->mse)) * most, 2)};
}

// Energy of the error in those samples. Two witnesses count by what is known of each. Where they
// are further apart than the level leaves open the error does not follow the noise that passes, as
// at an event that ends with the traces and that filters bend.
static Error error_of_ends(const LithoQualitySums *s, const Ends *e)
{
    Error level = ends_by_level(s, e);
    if (!(s->seen_pass > 0) || !(e->mse > 0))
        return level;
    Error noise = ends_by_noise(s, e);
    const double apart = pow(level.mean - noise.mean, 2) - 2 * level.scatter;
    noise.scatter = fmax(noise.scatter, apart);
    const double both = level.scatter + noise.scatter;
    return (Error){(level.mean * noise.scatter + noise.mean * level.scatter) / both,
                   level.scatter * noise.scatter / both};
}

// SURE with a noise level `factor` times the given one. The level is the energy of this noise as
// its windows see it, which end with the traces: so the error is that of samples as they are seen,
// and that of the others is added. Of a local level the error is known less well, and its share at
// the ends, where noise may be many times as loud, not at all: there the noise alone is added, no
// more than there is. Where they hold less than the middle, as in a water layer, the noise that
// passes tells how much less.
static Error sure(const LithoQualitySums *s, const LithoNoise *noise, double factor)
{
    const double level = factor * factor, variance = level * noise->total * noise->total;
    const double n = (double)s->n;
    if (!(s->seen > 0))
        return (Error){(s->rr + level * 2 * s->div) / n - variance, 0};
    const double mse = (s->seen_rr + level * 2 * s->seen_div) / s->seen - variance / noise->ends;
    if (noise->local) {
        const double more = s->pass / n - s->seen_pass / s->seen;
        const double there = fmax(variance * (1 - 1 / noise->ends), 0);
        return (Error){mse + PASSING * fmin(more, there), 0};
    }
    const Ends e = {.noise = noise, .variance = variance, .level = level, .mse = mse};
    const Error ends = error_of_ends(s, &e);
    return (Error){(s->seen * mse + ends.mean) / n, ends.scatter / (n * n)};
}

// Scatter of the estimate by its own randomness: the noise that hides in n . (s - f), the scatter
// of the probe and, where the level was given, |n|^2 instead of tr C. A level that was measured on
// this noise follows |n|^2 as well as its interval says, but for the ends of traces.
//
// Noise that varies within four traces and eight samples moves the probe's products.
static double sure_deviation(const LithoQualitySums *s, const LithoNoise *noise, Error e,
                             double mse)
{
    const double within = noise->local ? 0.04 * noise->varies * 2 * s->div / (double)s->n : 0;
    const double energy = noise->high > noise->low ? 0 : 2 * litho_noise_fourth(noise);
    const double own = energy + 4 * noise->total * noise->total * mse;
    return sqrt(own / s->n + 4 * s->scatter / ((double)s->n * s->n) + within * within + e.scatter);
}

// The error n - (y - f) is no smaller than what its two parts differ by.
static double error_at_least(const LithoQualitySums *s, double sigma)
{
    const double off = sigma - sqrt(s->rr / s->n);
    return off * off;
}

// The least error worth telling. No output is better than the noise that passes: |J b|^2, exact for
// linear filters, PASSING of it where thresholds jump. A filter that is
// designed on the data follows the probe, so that at least two decibels are left above the
// estimate: of packets 1.7 were needed where one decibel had been left.
static double least_error(const LithoQualitySums *s, double mse)
{
    return MIN(PASSING * s->pass / s->n, 0.63 * mse);
}

// The error n - (y - f) is no larger than its two parts together.
static double error_at_most(const LithoQualitySums *s, double sigma)
{
    const double both = sigma + sqrt(s->rr / s->n);
    return both * both;
}

// Where events are, a level that is known beside them alone may be too low by so much.
#define MORE_NOISE 1.5

// Half of its amplitude from trace to trace: the probe's noise, alike everywhere, is another one.
#define UNEVEN 0.5

// The interval, by the ends of the level's own and by the estimate's deviation, and the errors that
// settings are ranked by. A larger level means less error and less signal, so that its ends are
// tried as they are.
static void tell_ends(const LithoQualitySums *s, const LithoNoise *noise, double signal,
                      double deviation, double least, LithoQuality *q)
{
    const double variance = noise->total * noise->total;
    const double ends[] = {noise->low / noise->total, noise->high / noise->total};
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < 2; k++) {
        const double level = isfinite(ends[k]) && ends[k] > 0 ? ends[k] : 1;
        const double left = MAX(s->yy / s->n - level * level * variance, 0.01 * signal);
        const double error = sure(s, noise, level).mean;
        const double end = MAX(error_at_least(s, level * noise->total), least);
        q->mse_ends[k] = MAX(error, end);
        low = MIN(low, litho_quality_decibel(left / MAX(error + 2 * deviation, end)));
        high = MAX(high, litho_quality_decibel(left / MAX(error - 2 * deviation, end)));
    }
    const double bound = error_at_least(s, noise->total);
    q->mse_ends[2] = MAX(q->mse + (MORE_NOISE - 1) * 2 * s->div / s->n, MAX(bound, least));
    q->expected_low_db = MIN(low, q->expected_snr_db);
    q->expected_high_db = MAX(high, q->expected_snr_db);
}

// The kind of noise or data that makes the SNR doubtful, or another one than asked for. `told`: the
// mean squared error.
static void tell_kind(const LithoQualitySums *s, const LithoNoise *noise, double told,
                      LithoQuality *q)
{
    const double variance = noise->total * noise->total;
    const gboolean is_uneven =
        noise->gains > UNEVEN ||
        (noise->gains > 0 && (q->is_beyond || s->rr / s->n < 0.8 * variance));
    if (noise->lumps > LITHO_NOISE_LUMPS)
        litho_quality_tell_filtered(noise, q);
    else if (is_uneven)
        litho_quality_tell_uneven(noise, q);
    else if (noise->local &&
             (q->is_beyond || q->expected_is_bound || litho_quality_is_doubtful(noise, told)))
        litho_quality_tell_varying(noise, q);
    else if (noise->swell > 0)
        litho_quality_tell_swell(noise, q);
    else if (noise->noisy > 0)
        litho_quality_tell_noisy(noise, q);
    else if (!noise->local && litho_quality_is_doubtful(noise, told))
        litho_quality_tell_small(noise, q);
    else if (noise->steep > 0)
        litho_quality_tell_steep(noise, q);
    // Shifts from trace to trace pass for gains that differ by 10 to 16 %.
    if (noise->shifts > 0 && (is_uneven || !*q->why) && !(noise->lumps > LITHO_NOISE_LUMPS))
        litho_quality_tell_shifts(noise, q);
    if (fabs(noise->offset) > LITHO_QUALITY_OFFSET && !*q->why)
        litho_quality_tell_offset(noise, q);
}

void litho_quality_expect(const LithoQualitySums *s, const LithoNoise *noise, LithoQuality *q)
{
    const double variance = noise->total * noise->total;
    const double signal = s->yy / s->n - variance, bound = error_at_least(s, noise->total);
    const Error error = sure(s, noise, 1);
    const double mse = error.mean;
    const double deviation = sure_deviation(s, noise, error, MAX(mse, bound));
    const double told = MAX(MAX(mse, bound), deviation), least = least_error(s, told);
    q->mse = mse;
    q->input_snr_db = litho_quality_decibel(signal / variance);
    if (!(signal > 0)) {
        g_strlcpy(q->why,
                  _("the noise level is as large as the data: nothing is left of the signal"),
                  sizeof q->why);
        return;
    }
    // Below its own deviation an error cannot be told from none.
    q->expected_snr_db = litho_quality_decibel(signal / told);
    q->expected_is_bound = deviation > MAX(mse, bound);
    q->is_beyond = bound > MAX(mse, deviation);
    if (q->is_beyond)
        g_strlcpy(q->why,
                  _("the flow removes so much less than the noise level that no higher SNR is "
                    "possible; the level may be too high"),
                  sizeof q->why);
    if (q->expected_is_bound)
        g_strlcpy(
            q->why,
            _("the error is too small to be told beside this noise level: the expected SNR is "
              "a lower bound"),
            sizeof q->why);
    q->expected_gain_db = q->expected_snr_db - q->input_snr_db;
    tell_ends(s, noise, signal, deviation, least, q);
    const double sure_of =
        litho_quality_decibel(signal / error_at_most(s, MAX(noise->high, noise->total)));
    q->is_clean = sure_of > LITHO_QUALITY_CLEAN_DB;
    tell_kind(s, noise, told, q);
}
