// SPDX-License-Identifier: GPL-3.0-or-later
//
// Signal that leaves, told in two ways: by its amplitude, from the probe that tells the expected
// SNR, and by its resemblance to what stays, which tells the place.
#include "core/engine/quality_leaving.h"

#include <math.h>

#include "core/text.h"

// The lost amplitude reads as the similar share does (litho_leak_reading()).
#define LITTLE 0.05
#define MUCH 0.15

// Part of the noise's variation from place to place by which its level may be another one.
#define WITHIN 0.01

// Half of an interval, as a part of the amplitude, beyond which a figure is worth telling only
// where the interval excludes that nothing leaves: a third of weak events may go with strong noise,
// and the removed part looks like noise all the same.
#define TOO_WIDE 0.1
#define FAR_TOO_WIDE 0.15 // in any case

// Part of the removed energy below which what is alike tells no place.
#define WORTH_A_LOOK 0.0005

static double lost_at(const LithoQualitySums *s, double variance, double factor)
{
    const double noise = factor * factor * variance * (double)s->n;
    return (s->yr - noise + factor * factor * s->div) / (s->yy - noise);
}

void litho_quality_tell_lost(const LithoQualitySums *s, const LithoNoise *noise, LithoQuality *q)
{
    const double variance = noise->total * noise->total;
    const double signal = s->yy - (double)s->n * variance;
    const double ends[] = {noise->low / noise->total, noise->high / noise->total};
    // The probe's noise is another one where amplitudes are uneven from trace to trace, and noise
    // follows the signal behind gain control.
    if (!(signal > 0) || q->is_filtered || q->counts_steep || noise->gains > 0 ||
        noise->levelled < 0)
        return;
    // Products of signal and noise, the scatter of the probe's, and noise that is removed with
    // another level than that of its place.
    const double own = variance / signal, probe = s->scatter / (signal * signal);
    const double removed = fmax((double)s->n * variance - s->div, 0) / signal;
    const double place = noise->local ? WITHIN * noise->varies * removed : 0;
    const double lost = lost_at(s, variance, 1);
    const double by_chance = 2 * sqrt(own + probe + place * place);
    double low = lost - by_chance, high = lost + by_chance;
    for (int k = 0; k < 2; k++) {
        if (!isfinite(ends[k]) || !(s->yy > ends[k] * ends[k] * variance * (double)s->n))
            continue;
        const double end = lost_at(s, variance, ends[k]), off = end - lost;
        const double reach = sqrt(off * off + by_chance * by_chance);
        low = MIN(low, lost - (off < 0 ? reach : 0));
        high = MAX(high, lost + (off > 0 ? reach : 0));
    }
    if (!(high - low < 2 * (low > 0 ? FAR_TOO_WIDE : TOO_WIDE)) || high < 0)
        return;
    q->lost = lost;
    q->lost_low = low;
    q->lost_high = high;
}

// Events that leave are a part of the error, whose energy the lower end of the expected SNR bounds:
// they are no larger part of the removed energy than this. Noise that stays in a few coefficients
// resembles what leaves beside them, and the similarity alone takes that for events. INFINITY = the
// error is not known.
static double most_that_leaves(const LithoQuality *q)
{
    const double ratio = pow(10, q->input_snr_db / 10), error = pow(10, -q->expected_low_db / 10);
    const double most = ratio / (1 + ratio) * error / q->removed;
    return q->is_filtered || q->counts_steep || q->is_beyond || !isfinite(most) ? INFINITY : most;
}

// The part of the removed energy that is alike beyond the noise that stays.
static double alike_of(const LithoQuality *q)
{
    return MIN(q->leak.beside_noise, most_that_leaves(q));
}

// Reading of that part.
static LithoLeakReading reading_of_place(const LithoQuality *q)
{
    LithoLeak own = q->leak;
    own.share = alike_of(q);
    return litho_leak_reading(&own);
}

LithoLeakReading litho_quality_leak_reading(const LithoQuality *q)
{
    const LithoLeakReading alike = reading_of_place(q);
    const LithoLeakReading lost = !(q->lost >= LITTLE) ? LITHO_LEAK_NOISE
                                  : q->lost <= MUCH    ? LITHO_LEAK_SOME
                                                       : LITHO_LEAK_EVENTS;
    return MAX(alike, lost);
}

const char *litho_quality_leak_sentence(const LithoQuality *q)
{
    const LithoLeakReading reading = litho_quality_leak_reading(q);
    if (q->leak.count > 0 && !(q->leak.removed > 0))
        return litho_leak_sentence(&q->leak);
    if (reading == LITHO_LEAK_NOISE && litho_leak_reading(&q->leak) != LITHO_LEAK_NOISE)
        return _("removed looks like the noise that stays");
    if (reading == LITHO_LEAK_EVENTS && reading_of_place(q) != LITHO_LEAK_EVENTS)
        return _("events lose amplitude");
    // Beside a small figure of all events the words say that it is what leaves at single places.
    if (reading != LITHO_LEAK_NOISE && q->lost < LITTLE)
        return reading == LITHO_LEAK_SOME ? _("some signal leaves in places")
                                          : _("events leave in places");
    return litho_text(litho_leak_words(reading));
}

gboolean litho_quality_leak_has_place(const LithoQuality *q)
{
    return q->leak.beside_noise >= WORTH_A_LOOK &&
           litho_quality_leak_reading(q) != LITHO_LEAK_NOISE;
}

double litho_quality_leaving(const LithoQuality *q)
{
    return isfinite(q->lost) ? MAX(q->lost, 0) : q->leak.count > 0 ? alike_of(q) : NAN;
}

char *litho_quality_leaving_text(const LithoQuality *q)
{
    const double part = litho_quality_leaving(q);
    const int digits = part < 0.0995;
    const double half = isfinite(q->lost) ? (q->lost_high - q->lost_low) / 2 : 0;
    return half >= 0.0005 ? litho_text_printf("%.*f ±%.1f %%", digits, 100 * part, 100 * half)
                          : litho_text_printf("%.*f %%", digits, 100 * part);
}

char *litho_quality_removed_text(const LithoQuality *q)
{
    return q->removed > LITHO_LEAK_ROUNDING && q->removed < 0.0005
               ? g_strdup("< 0.1 %")
               : litho_text_printf("%.1f %%", 100 * q->removed);
}
