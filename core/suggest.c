// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/suggest.h"
#include "core/sort.h"
#include "core/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- the band -----------------------------------------------------------------------------------

// Median of the amplitudes [from, to).
static double median(const double *x, guint from, guint to)
{
    g_autofree double *sorted = g_memdup2(x + from, (to - from) * sizeof *x);
    qsort(sorted, to - from, sizeof *sorted, litho_compare_double);
    return sorted[(to - from) / 2];
}

// The floor is the median of the uppermost fifth; white noise is flat there. The band is all that
// stands out of it, from the largest amplitude outwards, beyond notches of a thin layer that are as
// wide as half of that frequency: by 3 dB in the mean of a hundred traces or more, whose noise
// scatters by 5 % at most, by 6 dB in that of fewer.
LithoBand litho_suggest_band(const LithoSpectrum *s)
{
    LithoBand band = {0};
    if (!s || s->n < 20)
        return band;
    guint peak = 1, upper = s->n - s->n / 5;
    for (guint k = 2; k < s->n; k++)
        peak = s->amplitude[k] > s->amplitude[peak] ? k : peak;
    double floor = median(s->amplitude, upper, s->n);
    const double out = s->traces >= 100 ? G_SQRT2 : 2;
    double above = out * MAX(floor, 1e-3 * s->amplitude[peak]);
    if (peak >= upper || s->amplitude[peak] < out * above)
        return band;
    guint low = peak, high = peak;
    for (guint k = peak; k > 0 && low - (k - 1) <= peak / 2 + 1; k--)
        low = s->amplitude[k - 1] > above ? k - 1 : low;
    for (guint k = peak; k + 1 < s->n && k + 1 - high <= peak / 2 + 1; k++)
        high = s->amplitude[k + 1] > above ? k + 1 : high;
    band = (LithoBand){.known = TRUE, .low = low * s->df, .high = high * s->df, .floor = floor};
    return band;
}

// --- lists --------------------------------------------------------------------------------------

void litho_suggest_add(GArray *list, const LithoOperator *op, const char *key, double value,
                       char *why)
{
    const LithoParam *row = litho_param_find(&op->params, key);
    LithoSuggestion s = {row, 0, why};
    if (!row || !isfinite(value)) {
        g_free(why);
        return;
    }
    s.value = CLAMP(value, row->min, row->max);
    if (row->type == LITHO_PARAM_INT)
        s.value = rint(s.value);
    g_array_append_val(list, s);
}

double litho_suggest_rounded(double x)
{
    if (!(x > 0))
        return 0;
    char text[32]; // the nearest number to what is read, which a multiple of 0.1 need not be
    g_snprintf(text, sizeof text, "%.2g", x);
    return g_ascii_strtod(text, NULL);
}

void litho_suggest_add_band(GArray *list, const LithoOperator *op, const LithoEvidence *evidence)
{
    const gboolean is_depth = evidence->grid->is_depth;
    const LithoBand *band = &evidence->band;
    const double factor = is_depth ? 1000 : 1; // 1/m -> 1/km
    const char *unit = is_depth ? "1/km" : "Hz";
    if (!band->known)
        return;
    litho_suggest_add(
        list, op, "fmin", litho_suggest_rounded(band->low * factor * 0.9),
        litho_text_printf(_("the signal begins at about %.3g %s"), band->low * factor, unit));
    litho_suggest_add(list, op, "fmax", litho_suggest_rounded(band->high * factor),
                      litho_text_printf(_("above %.3g %s the spectrum is flat: noise"),
                                        band->high * factor, unit));
}

static void clear_suggestion(gpointer data)
{
    g_clear_pointer(&((LithoSuggestion *)data)->why, g_free);
}

GArray *litho_suggest(const LithoOperator *op, const LithoGrid *grid, const LithoSpectrum *spectrum,
                      const LithoEvents *events, double missing)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(LithoSuggestion));
    g_array_set_clear_func(list, clear_suggestion);
    const LithoEvidence evidence = {.grid = grid,
                                    .band = litho_suggest_band(spectrum),
                                    .events = events ? *events : (LithoEvents){.axis = {{0}}},
                                    .missing = missing};
    if (op->suggest)
        op->suggest(&evidence, list);
    return list;
}
