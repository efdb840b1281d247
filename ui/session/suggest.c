// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/suggest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- the band -----------------------------------------------------------------------------------

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Median of the amplitudes [from, to).
static double median(const double *x, guint from, guint to)
{
    g_autofree double *sorted = g_memdup2(x + from, (to - from) * sizeof *x);
    qsort(sorted, to - from, sizeof *sorted, compare_doubles);
    return sorted[(to - from) / 2];
}

// The floor is the median of the uppermost fifth; white noise is flat there. What stands out of it
// by 6 dB or more, from the largest amplitude outwards, is the band.
LithoBand litho_suggest_band(const LithoSpectrum *s, gint64 samples)
{
    LithoBand band = {0};
    if (!s || s->n < 20)
        return band;
    guint peak = 1, upper = s->n - s->n / 5;
    for (guint k = 2; k < s->n; k++)
        peak = s->amplitude[k] > s->amplitude[peak] ? k : peak;
    double floor = median(s->amplitude, upper, s->n);
    double above = 2 * MAX(floor, 1e-3 * s->amplitude[peak]);
    if (peak >= upper || s->amplitude[peak] < 2 * above)
        return band;
    guint low = peak, high = peak;
    while (low > 0 && s->amplitude[low - 1] > above)
        low--;
    while (high + 1 < s->n && s->amplitude[high + 1] > above)
        high++;
    band = (LithoBand){.known = TRUE, .low = low * s->df, .high = high * s->df, .floor = floor};
    // A Hann window and the scale that gives a sine its amplitude turn white noise of deviation 1
    // into sqrt(6 / n) at every frequency: 2 sqrt(sum w^2) / sum w with sums 3n/8 and n/2.
    gboolean flat = median(s->amplitude, upper, upper + s->n / 10) < 1.3 * floor;
    if (flat && floor > 3e-3 * s->amplitude[peak])
        band.sigma = floor / sqrt(6.0 / samples);
    return band;
}

// --- operators ----------------------------------------------------------------------------------

static void add(GArray *list, const LithoStep *step, const char *key, double value, char *why)
{
    const LithoParam *row = litho_param_find(&step->op->params, key);
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

// Two figures are what such an estimate is worth.
static double rounded(double x)
{
    if (!(x > 0))
        return 0;
    char text[32]; // the nearest number to what is read, which a multiple of 0.1 need not be
    g_snprintf(text, sizeof text, "%.2g", x);
    return g_ascii_strtod(text, NULL);
}

static void add_band(GArray *list, const LithoStep *step, const LithoGrid *grid,
                     const LithoBand *band)
{
    double factor = grid->is_depth ? 1000 : 1; // 1/m -> 1/km
    const char *unit = grid->is_depth ? "1/km" : "Hz";
    if (!band->known)
        return;
    double low = rounded(band->low * factor * 0.8), high = rounded(band->high * factor * 1.1);
    add(list, step, "fmin", low,
        g_strdup_printf("the signal begins at about %.3g %s", band->low * factor, unit));
    add(list, step, "fmax", high,
        g_strdup_printf("above %.3g %s the spectrum is flat: noise", band->high * factor, unit));
}

static void suggest_fx(GArray *list, const LithoStep *step, const LithoGrid *grid,
                       const LithoBand *band)
{
    add_band(list, step, grid, band);
    if (grid->is_depth)
        return;
    // 0.6 s hold a few periods of the lowest frequency and still one set of dips.
    double window = MIN(0.6 / fabs(grid->axis[2].step), (double)grid->axis[2].n);
    add(list, step, "time_window", window, g_strdup("0.6 s of this sample interval"));
    add(list, step, "time_overlap", window / 3, g_strdup("a third of the time window"));
}

static void suggest_wavepacket(GArray *list, const LithoStep *step, const LithoBand *band,
                               double missing)
{
    if (missing > 0.02) {
        add(list, step, "mode", 2,
            g_strdup_printf("%.0f %% of the traces are missing", 100 * missing));
        return;
    }
    add(list, step, "mode", 0, g_strdup("no traces are missing: there is noise to remove"));
    if (band->sigma > 0)
        add(list, step, "sigma", rounded(band->sigma),
            g_strdup_printf("white noise of this level makes the floor above %.3g Hz", band->high));
}

GArray *litho_suggest(const LithoStep *step, const LithoGrid *grid, const LithoSpectrum *spectrum,
                      double missing)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(LithoSuggestion));
    LithoBand band = litho_suggest_band(spectrum, grid->axis[2].n);
    if (strcmp(step->op->key, "fx") == 0)
        suggest_fx(list, step, grid, &band);
    else if (strcmp(step->op->key, "wavepacket") == 0)
        suggest_wavepacket(list, step, &band, missing);
    else if (strcmp(step->op->key, "migrate") == 0 && !grid->is_depth)
        add_band(list, step, grid, &band);
    return list;
}
