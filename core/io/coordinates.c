// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/coordinates.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/io/survey_private.h"
#include "core/io/units.h"
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

static void take(LithoAxis *axis, double first, double step, const char *name)
{
    g_autofree char *plain = litho_text_plain(name, 30);
    axis->first = first;
    axis->step = step;
    axis->source = LITHO_FROM_FILE;
    g_snprintf(axis->evidence, sizeof axis->evidence, _("coordinates '%s'"), plain);
    const char *end;
    if (!g_utf8_validate(axis->evidence, -1, &end)) // cut inside a letter
        axis->evidence[end - axis->evidence] = 0;
}

gboolean litho_coordinates_samples(const double *value, const char *name, const char *unit,
                                   LithoSurvey *survey)
{
    static const char *const depths[] = {"depth", "z", NULL};
    LithoGrid *grid = &survey->grid;
    LithoAxis *axis = &grid->axis[LITHO_SAMPLE];
    double first, step;
    if (!litho_coordinates_even(value, axis->n, &first, &step) || step <= 0)
        return FALSE;
    grid->is_depth = starts_like(name, depths);
    double factor = litho_file_unit(unit, &grid->is_depth);
    if (factor == 0) { // no record has samples a tenth of a second apart
        factor = grid->is_depth || step < 0.1 ? 1 : 1e-3;
        g_autofree char *plain = litho_text_plain(unit, 30);
        if (*unit)
            litho_survey_note(
                survey,
                "the unit '%s' of the samples is not known: a sample interval of %g %s is assumed",
                plain, grid->is_depth ? step : 1e3 * step * factor, grid->is_depth ? "m" : "ms");
    }
    take(axis, first * factor, step * factor, name);
    g_strlcpy(axis->unit, grid->is_depth ? "m" : "s", sizeof axis->unit);
    return TRUE;
}

gboolean litho_coordinates_lines(const double *value, const char *name, LithoAxis *axis)
{
    double first, step;
    if (!litho_coordinates_even(value, axis->n, &first, &step) || first != rint(first) ||
        step != rint(step))
        return FALSE;
    take(axis, first, step, name);
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
