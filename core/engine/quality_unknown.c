// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/quality_unknown.h"

#include <math.h>

#include "core/text.h"

static void forget_figures(LithoQuality *q)
{
    q->is_beyond = q->expected_is_bound = FALSE;
    q->expected_snr_db = q->expected_low_db = q->expected_high_db = q->expected_gain_db = NAN;
}

gboolean litho_quality_only_ranks(const LithoQuality *q)
{
    return q->is_rough || q->is_unsure;
}

void litho_quality_tell_filtered(const LithoNoise *noise, LithoQuality *q)
{
    q->is_filtered = TRUE;
    q->is_rough = noise->shape && !q->is_clean;
    q->is_clean = FALSE;
    q->expected_is_bound = FALSE;
    q->expected_low_db = q->expected_high_db = q->expected_gain_db = NAN;
    g_strlcpy(
        q->why,
        q->is_rough
            ? _("the noise keeps to some wavenumbers, as in migrated or mixed data: where the "
                "events are its level is known to a tenth, which ranks settings and tells no "
                "SNR")
            : _("the data look clean or filtered: noise that was left with their events counts "
                "as signal, and what events spread as noise, so that no SNR can be told"),
        sizeof q->why);
}

void litho_quality_tell_uneven(LithoQuality *q)
{
    forget_figures(q);
    q->input_snr_db = NAN;
    g_strlcpy(q->why,
              _("amplitudes differ from trace to trace, and the noise or what passes for it"
                " with them, so that no SNR can be told"),
              sizeof q->why);
}

gboolean litho_quality_is_doubtful(const LithoNoise *noise, double mse)
{
    const double much = 0.4; // 1.5 dB
    const double energy = 4 * noise->doubt * noise->total * noise->total;
    return energy > much * (mse - energy);
}

void litho_quality_tell_varying(LithoQuality *q)
{
    forget_figures(q);
    q->is_unsure = TRUE;
    g_strlcpy(q->why,
              _("the noise varies from place to place or stands in lines of the spectrum: its level"
                " is not known well enough to tell so small an error"),
              sizeof q->why);
}

void litho_quality_tell_small(const LithoNoise *noise, LithoQuality *q)
{
    const double low = q->expected_low_db, high = q->expected_high_db;
    q->is_unsure = TRUE;
    q->is_clean = FALSE;
    forget_figures(q);
    q->expected_low_db = low;
    q->expected_high_db = high;
    if (noise->doubt >= 1) // nor does the level tell what the input has
        q->input_snr_db = NAN;
    g_strlcpy(q->why,
              _("so few samples do not tell the level of their noise well enough to tell an SNR"),
              sizeof q->why);
}

void litho_quality_tell_steep(const LithoNoise *noise, LithoQuality *q)
{
    q->counts_steep = TRUE;
    q->is_clean = q->is_beyond = q->expected_is_bound = FALSE;
    q->expected_low_db = q->expected_high_db = q->expected_gain_db = NAN;
    if (noise->steep_below > 1)
        litho_text_put(
            q->why, sizeof q->why,
            _("at least %.0f %% of the events' energy is steeper than %.1f samples a trace and "
              "lies below %.0f Hz, as ground roll does: the SNR counts it as signal, not as "
              "noise"),
            100 * noise->steep, noise->steep_slope, noise->steep_below);
    else // cycles per metre
        litho_text_put(
            q->why, sizeof q->why,
            _("at least %.0f %% of the events' energy is steeper than %.1f samples a trace and "
              "of low frequency, as ground roll is: the SNR counts it as signal, not as noise"),
            100 * noise->steep, noise->steep_slope);
}

void litho_quality_tell_shifts(const LithoNoise *noise, LithoQuality *q)
{
    litho_text_put(q->why, sizeof q->why,
                   _("single traces are shifted against their neighbours by %.1f samples (rms), as "
                     "statics shift them: no filter keeps what shifts scatter, correct them first"),
                   noise->shifts);
}
