// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/array_values.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"

// Bounds of valid numbers need what packs the numbers, so they come last.
const char *const litho_array_attributes[] = {"scale_factor",  "add_offset",  "_FillValue",
                                              "missing_value", "_Unsigned",   "valid_min",
                                              "valid_max",     "valid_range", NULL};

static const char *take_missing(LithoArrayValues *v, const LithoArrayAttribute *a)
{
    if ((a->n > 0 && !a->number) || a->n > LITHO_ARRAY_MISSING - v->n_missing)
        return _("eight numbers or less");
    for (guint k = 0; k < a->n; k++)
        v->missing[v->n_missing++] = (float)a->number[k];
    return NULL;
}

static const char *take_sign(LithoArrayValues *v, const char *text, int bytes)
{
    if (text && bytes > 0)
        v->turn = ldexp(g_ascii_strcasecmp(text, "true") == 0    ? 1
                        : g_ascii_strcasecmp(text, "false") == 0 ? -1
                                                                 : 0,
                        8 * bytes);
    return NULL;
}

static double turned(const LithoArrayValues *v, double stored)
{
    return (v->turn > 0 ? stored < 0 : stored >= -v->turn / 2) ? stored + v->turn : stored;
}

// Stored numbers are whole ones where samples are bounded, so that rounding loses none at a bound.
static double bound(const LithoArrayValues *v, double number, gboolean of_samples)
{
    return of_samples ? rint((number - v->offset) / v->scale) : turned(v, number);
}

static const char *take_bounds(LithoArrayValues *v, const LithoArrayAttribute *a, int bytes)
{
    const gboolean is_range = strcmp(a->key, "valid_range") == 0;
    const gboolean has_least = is_range || strcmp(a->key, "valid_min") == 0;
    const gboolean has_most = is_range || !has_least;
    const gboolean of_samples = a->is_real && bytes > 0 && v->is_packed;
    const char *needed = is_range ? _("two numbers, the lower one first") : _("one number");
    if (!a->number || a->n != (is_range ? 2 : 1) || isnan(a->number[0]) ||
        isnan(a->number[a->n - 1]))
        return needed;
    double least = bound(v, a->number[0], of_samples);
    double most = bound(v, a->number[a->n - 1], of_samples);
    const gboolean is_turned = of_samples && v->scale < 0;
    if (is_range && (is_turned ? least < most : least > most))
        return needed;
    if (is_turned ? has_most : has_least) {
        v->least = (float)(is_turned ? most : least);
        v->has_least = TRUE;
    }
    if (is_turned ? has_least : has_most) {
        v->most = (float)(is_turned ? least : most);
        v->has_most = TRUE;
    }
    return NULL;
}

const char *litho_array_values_take(LithoArrayValues *v, const LithoArrayAttribute *a, int bytes)
{
    if (strcmp(a->key, "_FillValue") == 0 || strcmp(a->key, "missing_value") == 0)
        return take_missing(v, a);
    if (strcmp(a->key, "_Unsigned") == 0)
        return take_sign(v, a->text, bytes);
    if (g_str_has_prefix(a->key, "valid_"))
        return take_bounds(v, a, bytes);
    const gboolean is_scale = strcmp(a->key, "scale_factor") == 0;
    if (!a->number || a->n != 1 || !isfinite(*a->number) || (is_scale && *a->number == 0))
        return is_scale ? _("one number other than 0") : _("one number");
    if (!v->is_packed)
        v->scale = 1;
    v->is_packed = TRUE;
    *(is_scale ? &v->scale : &v->offset) = *a->number;
    return NULL;
}

gboolean litho_array_values_read(LithoArrayValues *v, const char *path, const char *name,
                                 const LithoArrayAttribute *a, int bytes, GError **error)
{
    const char *needed = litho_array_values_take(v, a, bytes);
    if (!needed)
        return TRUE;
    g_autofree char *plain = a->text ? litho_text_plain(a->text, 30) : NULL;
    char found[160];
    if (plain)
        g_snprintf(found, sizeof found, "'%s'", plain);
    else if (a->n == 1 && a->number)
        g_snprintf(found, sizeof found, "%g", *a->number);
    else if (a->n == 2 && a->number)
        g_snprintf(found, sizeof found, _("%g and %g"), a->number[0], a->number[1]);
    else
        g_snprintf(found, sizeof found, _("%u numbers"), a->n);
    return litho_refuse(error, LITHO_ERROR_FORMAT,
                        "%s: the attribute %s of %s is %s; %s is needed, or no such attribute",
                        path, a->key, name, found, needed);
}

double litho_array_value(const LithoArrayValues *v, double stored)
{
    for (guint k = 0; k < v->n_missing; k++)
        if ((float)stored == v->missing[k])
            return NAN;
    const double number = turned(v, stored);
    if ((v->has_least && (float)number < v->least) || (v->has_most && (float)number > v->most))
        return NAN;
    return v->is_packed ? number * v->scale + v->offset : number;
}

void litho_array_values_apply(const LithoArrayValues *v, float *x, gint64 n)
{
    const gboolean is_plain = !v->is_packed && v->turn == 0 && !v->has_least && !v->has_most;
    for (gint64 k = 0; !is_plain && k < n; k++)
        x[k] = (float)litho_array_value(v, x[k]);
    for (guint m = 0; is_plain && m < v->n_missing; m++)
        for (gint64 k = 0; k < n; k++)
            if (x[k] == v->missing[m])
                x[k] = NAN;
}
