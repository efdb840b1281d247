// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/quality_unknown.h"

#include <math.h>

#include "core/text.h"

// Flat events of more than half of Nyquist: STEEP periods of theirs are fewer samples a trace
// (kernels/common/noise_steep.c).
#define OF_HIGH_FREQUENCY 1.2
// Frequencies of windows closer than that are wavenumbers along depth.
#define PER_METRE 0.05

static void forget_figures(LithoQuality *q)
{
    q->is_beyond = q->expected_is_bound = FALSE;
    q->expected_snr_db = q->expected_low_db = q->expected_high_db = q->expected_gain_db = NAN;
}

// The cause, and what can be done about it.
static void put_why(LithoQuality *q, const char *cause, const char *advice)
{
    g_snprintf(q->why, sizeof q->why, "%s; %s", cause, advice);
}

// Advice where no level tells an SNR.
static const char *look_at_it(void)
{
    return _("judge by the removed part, or by the truth");
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
    g_autofree char *cause = litho_text_printf(
        q->is_rough
            ? _("the noise keeps to some wavenumbers, as in migrated or mixed data (lumps %.1f, "
                "recorded noise has 1.0): where the events are its level is known to a tenth, "
                "which ranks settings and tells no SNR")
            : _("the data look clean or filtered (lumps %.1f, recorded noise has 1.0): noise that "
                "was left with their events counts as signal, and what events spread as noise"),
        noise->lumps);
    put_why(q, cause, look_at_it());
}

void litho_quality_tell_uneven(const LithoNoise *noise, LithoQuality *q)
{
    forget_figures(q);
    q->input_snr_db = NAN;
    g_autofree char *cause = litho_text_printf(
        _("amplitudes differ from trace to trace by %.0f %%, and the noise or what passes for it "
          "with them"),
        100 * noise->gains);
    put_why(q, cause, _("balance the traces before"));
}

void litho_quality_tell_noisy(const LithoNoise *noise, LithoQuality *q)
{
    forget_figures(q);
    q->is_unsure = TRUE;
    q->input_snr_db = NAN;
    g_autofree char *cause = litho_text_printf(
        _("single traces are noisier than their neighbours (their noise differs by %.0f %%): the "
          "noise level is that of most traces, which tells no SNR"),
        100 * noise->noisy);
    put_why(q, cause, look_at_it());
}

gboolean litho_quality_is_doubtful(const LithoNoise *noise, double mse)
{
    const double much = noise->local && !(noise->levelled < 0) ? 1 : 0.4; // 3 and 1.5 dB
    const double energy = 4 * noise->doubt * noise->total * noise->total;
    return energy > much * (mse - energy);
}

// A line in the lowest frequency of the windows: 4 Hz of 64 samples 4 ms apart.
static gboolean is_swell(const LithoNoise *noise)
{
    return noise->df >= PER_METRE && noise->line_at < noise->df;
}

static char *cause_of_line(const LithoNoise *noise)
{
    const double percent = 100 * noise->lines;
    return noise->df < PER_METRE
               ? litho_text_printf(_("%.0f %% of the noise's energy stands in lines of the "
                                     "spectrum: its level is not known well enough to tell an SNR"),
                                   percent)
           : is_swell(noise)
               ? litho_text_printf(_("%.0f %% of the noise's energy stands in lines of the "
                                     "spectrum, most of it below %.1f Hz, as swell does: its level "
                                     "is not known well enough to tell an SNR"),
                                   percent, 2 * noise->line_at)
               : litho_text_printf(_("%.0f %% of the noise's energy stands in lines of the "
                                     "spectrum, most of it near %.0f Hz, as hum does: its level is "
                                     "not known well enough to tell an SNR"),
                                   percent, noise->line_at);
}

void litho_quality_tell_varying(const LithoNoise *noise, LithoQuality *q)
{
    forget_figures(q);
    q->is_unsure = TRUE;
    g_autofree char *cause = NULL;
    if (noise->lines > LITHO_NOISE_LINES) {
        cause = cause_of_line(noise);
        put_why(q, cause,
                is_swell(noise) ? _("a low-cut before takes it away")
                                : _("a narrow notch before takes it away"));
        return;
    }
    cause = noise->levelled < 0
                ? litho_text_printf(_("the noise is weak where events are strong (rank correlation "
                                      "%.2f), as gain control leaves it: its level is not known "
                                      "well enough to tell so small an error"),
                                    noise->levelled)
                : litho_text_printf(_("the noise varies from place to place by %.0f %%: its level "
                                      "is not known well enough to tell so small an error"),
                                    100 * noise->varies);
    put_why(q, cause,
            noise->levelled < 0 ? _("filter before the gain, or judge by the truth")
                                : _("judge by the removed part, or by hidden traces"));
}

void litho_quality_tell_swell(const LithoNoise *noise, LithoQuality *q)
{
    forget_figures(q);
    q->is_unsure = TRUE;
    q->input_snr_db = NAN;
    g_autofree char *cause = litho_text_printf(
        _("some traces have noise of low frequency that lasts, as swell does (standard deviation "
          "%.2g over all traces; the noise level is %.2g): the level misses a part of it and tells "
          "no SNR"),
        noise->swell, noise->total);
    put_why(q, cause, _("a low-cut before takes it away"));
}

void litho_quality_tell_steady(const LithoNoise *noise, LithoQuality *q)
{
    forget_figures(q);
    q->is_unsure = TRUE;
    q->input_snr_db = NAN;
    q->noise_sigma = hypot(noise->total, noise->steady);
    g_autofree char *cause = litho_text_printf(
        _("traces have offsets or hum (standard deviation %.2g; the noise level without them is "
          "%.2g), which this flow leaves and which counts as signal"),
        noise->steady, noise->total);
    put_why(q, cause,
            _("take them off before, or take a filter that does (patch, fx, wavepacket)"));
}

void litho_quality_tell_small(const LithoNoise *noise, LithoQuality *q)
{
    const double low = q->expected_low_db, high = q->expected_high_db;
    const gboolean is_small = noise->doubt >= 1;
    q->is_unsure = TRUE;
    q->is_clean = FALSE;
    forget_figures(q);
    q->expected_low_db = low;
    q->expected_high_db = high;
    if (is_small) // nor does the level tell what the input has
        q->input_snr_db = NAN;
    g_autofree char *cause =
        is_small ? litho_text_printf(_("the judged area fills %.1f of the %.0f windows that tell "
                                       "a noise level"),
                                     noise->windows, noise->fewest)
                 : litho_text_printf(_("traces of fewer than %d samples do not tell the level of "
                                       "their noise well enough to tell so small an error"),
                                     LITHO_QUALITY_SHORTEST);
    put_why(q, cause, is_small ? _("judge a larger one, or by hidden traces") : look_at_it());
}

void litho_quality_tell_steep(const LithoNoise *noise, LithoQuality *q)
{
    q->counts_steep = TRUE;
    q->is_clean = q->is_beyond = q->expected_is_bound = FALSE;
    q->expected_low_db = q->expected_high_db = q->expected_gain_db = NAN;
    g_autofree char *cause =
        noise->steep_slope < OF_HIGH_FREQUENCY
            ? litho_text_printf(_("at least %.0f %% of what traces share with their neighbours is "
                                  "steeper than %.1f samples a trace, and what is flat is of high "
                                  "frequency: noise that is correlated from trace to trace, or "
                                  "ground roll, counts as signal"),
                                100 * noise->steep, noise->steep_slope)
        : noise->steep_below > 1
            ? litho_text_printf(_("at least %.0f %% of the events' energy is steeper than %.1f "
                                  "samples a trace and lies below %.0f Hz, as ground roll does: "
                                  "the SNR counts it as signal, not as noise"),
                                100 * noise->steep, noise->steep_slope, noise->steep_below)
            : litho_text_printf( // cycles per metre
                  _("at least %.0f %% of the events' energy is steeper than %.1f samples a trace "
                    "and of low frequency, as ground roll is: the SNR counts it as signal, not as "
                    "noise"),
                  100 * noise->steep, noise->steep_slope);
    put_why(q, cause,
            noise->steep_slope < OF_HIGH_FREQUENCY
                ? look_at_it()
                : _("a low-cut or a filter of steep dips before takes it away"));
}

void litho_quality_tell_shifts(const LithoNoise *noise, LithoQuality *q)
{
    litho_text_put(q->why, sizeof q->why,
                   _("single traces are shifted against their neighbours by %.1f samples (rms), as "
                     "statics shift them: no filter keeps what shifts scatter, correct them first"),
                   noise->shifts);
}

void litho_quality_tell_offset(const LithoNoise *noise, LithoQuality *q)
{
    litho_text_put(
        q->why, sizeof q->why,
        _("the samples have an offset of %.2g times what they stray from it, which counts "
          "as signal; take it off before"),
        noise->offset);
}

// TRUE where a step filters traces over their gains.
static gboolean balances(const LithoFlow *flow)
{
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        const LithoParamTable *table = &step->op->params;
        for (guint r = 0; step->enabled && r < table->n; r++)
            if (table->rows[r].role == LITHO_ROLE_BALANCE &&
                litho_param_applies(table, &table->rows[r], step->params) &&
                litho_param_get(&table->rows[r], step->params) == 0)
                return TRUE;
    }
    return FALSE;
}

void litho_quality_tell_gains(const LithoNoise *noise, const LithoFlow *flow, LithoQuality *q)
{
    if (!(noise->gains > 0) || balances(flow))
        return;
    litho_text_put(q->why, sizeof q->why,
                   _("amplitudes differ from trace to trace by %.0f %%, which this flow takes for "
                     "noise; balance the traces before, or take a filter that does (patch, fx, "
                     "wavepacket)"),
                   100 * noise->gains);
}

void litho_quality_tell_reversed(const LithoNoise *noise, const LithoFlow *flow, LithoQuality *q)
{
    g_autoptr(GString) places = g_string_new(NULL);
    if (noise->reversed == 0)
        return;
    for (guint k = 0; k < MIN(noise->reversed, LITHO_NOISE_NAMED); k++) {
        char place[64];
        litho_text_put(place, sizeof place, "%.10g/%.10g", noise->reversed_at[k][0],
                       noise->reversed_at[k][1]);
        g_string_append_printf(places, "%s%s", k > 0 ? ", " : "", place);
    }
    g_autofree char *cause = litho_text_printf(
        litho_text_plural("%u trace has reversed polarity against its neighbours (%s%s)",
                          "%u traces have reversed polarity against their neighbours (%s%s)",
                          noise->reversed),
        noise->reversed, places->str, noise->reversed > LITHO_NOISE_NAMED ? ", …" : "");
    put_why(q, cause,
            balances(flow)
                ? _("this flow turns those that it finds in surveys of 32 lines and more, and "
                    "back again")
                : _("their events are lost and those beside them weakened: turn them "
                    "before, or take a filter that does (patch, fx, wavepacket)"));
}
