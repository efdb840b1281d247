// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/coordinates.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/io/survey_private.h"
#include "core/text.h"

gboolean litho_coordinates_even(const double *value, gint64 n, double *first, double *step)
{
    if (n < 2)
        return FALSE;
    *first = value[0];
    *step = (value[n - 1] - value[0]) / (double)(n - 1);
    gboolean even = isfinite(*first) && isfinite(*step) && *step != 0;
    for (gint64 k = 0; even && k < n; k++)
        even = fabs(value[k] - (*first + (double)k * *step)) <= 1e-3 * fabs(*step);
    return even;
}

static gboolean starts_like(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (g_ascii_strncasecmp(name, *words, strlen(*words)) == 0)
            return TRUE;
    return FALSE;
}

gboolean litho_coordinates_samples(const double *value, const char *name, const char *unit,
                                   LithoGrid *grid)
{
    static const char *const depths[] = {"depth", "z", NULL};
    static const struct {
        const char *unit;
        double factor;
        gboolean is_depth;
    } units[] = {{"s", 1, FALSE},    {"ms", 1e-3, FALSE}, {"us", 1e-6, FALSE}, {"ns", 1e-9, FALSE},
                 {"sec", 1, FALSE},  {"m", 1, TRUE},      {"km", 1e3, TRUE},   {"cm", 0.01, TRUE},
                 {"mm", 1e-3, TRUE}, {"ft", 0.3048, TRUE}};
    static const struct {
        const char *begin;
        double factor;
        gboolean is_depth;
    } words[] = {{"second", 1, FALSE},      {"millis", 1e-3, FALSE},  {"msec", 1e-3, FALSE},
                 {"microsec", 1e-6, FALSE}, {"nanosec", 1e-9, FALSE}, {"meter", 1, TRUE},
                 {"metre", 1, TRUE},        {"kilomet", 1e3, TRUE},   {"foot", 0.3048, TRUE},
                 {"feet", 0.3048, TRUE}};
    LithoAxis *axis = &grid->axis[LITHO_SAMPLE];
    double first, step, factor = 0;
    if (!litho_coordinates_even(value, axis->n, &first, &step) || step <= 0)
        return FALSE;
    grid->is_depth = starts_like(name, depths);
    for (guint k = 0; k < G_N_ELEMENTS(units); k++)
        if (g_ascii_strcasecmp(unit, units[k].unit) == 0) {
            factor = units[k].factor;
            grid->is_depth = units[k].is_depth;
        }
    for (guint k = 0; k < G_N_ELEMENTS(words); k++)
        if (g_ascii_strncasecmp(unit, words[k].begin, strlen(words[k].begin)) == 0) {
            factor = words[k].factor;
            grid->is_depth = words[k].is_depth;
        }
    if (factor == 0) // without a unit: no record has samples a tenth of a second apart
        factor = grid->is_depth || step < 0.1 ? 1 : 1e-3;
    axis->first = first * factor;
    axis->step = step * factor;
    axis->source = LITHO_FROM_FILE;
    g_strlcpy(axis->unit, grid->is_depth ? "m" : "s", sizeof axis->unit);
    g_snprintf(axis->evidence, sizeof axis->evidence, _("coordinates '%.30s'"), name);
    return TRUE;
}

gboolean litho_coordinates_lines(const double *value, const char *name, LithoAxis *axis)
{
    double first, step;
    if (!litho_coordinates_even(value, axis->n, &first, &step) || first != rint(first) ||
        step != rint(step))
        return FALSE;
    axis->first = first;
    axis->step = step;
    axis->source = LITHO_FROM_FILE;
    g_snprintf(axis->evidence, sizeof axis->evidence, _("coordinates '%.30s'"), name);
    return TRUE;
}

void litho_coordinates_note(LithoSurvey *survey, const char *name, gboolean is_sample)
{
    g_autofree char *plain = litho_text_plain(name, 60);
    if (is_sample)
        litho_survey_note(survey,
                          "the coordinates %s do not rise in even steps and were not used; the "
                          "first sample is taken for the uppermost",
                          plain);
    else
        litho_survey_note(survey,
                          "the coordinates %s are no whole numbers in even steps and were not used",
                          plain);
}

gboolean litho_coordinates_check_order(const char *path, const char *variable,
                                       const char *const name[3], GError **error)
{
    static const char *const samples[] = {"twt", "time", "depth", "z", "sample", NULL};
    if (starts_like(name[2], samples) ||
        !(starts_like(name[0], samples) || starts_like(name[1], samples)))
        return TRUE;
    return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                        "%s: the variable %s has the dimensions (%s, %s, %s); the samples must "
                        "be the last one, transpose it",
                        path, variable, name[0], name[1], name[2]);
}
