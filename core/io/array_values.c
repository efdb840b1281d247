// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/array_values.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"

const char *const litho_array_attributes[] = {"scale_factor",  "add_offset", "_FillValue",
                                              "missing_value", "_Unsigned",  NULL};

static const char *take_missing(LithoArrayValues *v, const double *number, guint n)
{
    if (n > LITHO_ARRAY_MISSING - v->n_missing)
        return _("eight numbers or less");
    for (guint k = 0; k < n; k++)
        v->missing[v->n_missing++] = (float)number[k];
    return NULL;
}

const char *litho_array_values_take(LithoArrayValues *v, const char *key, const double *number,
                                    guint n, const char *text, int bytes)
{
    if (strcmp(key, "_FillValue") == 0 || strcmp(key, "missing_value") == 0)
        return take_missing(v, number, n);
    if (strcmp(key, "_Unsigned") == 0) {
        if (text && bytes > 0)
            v->turn = ldexp(g_ascii_strcasecmp(text, "true") == 0    ? 1
                            : g_ascii_strcasecmp(text, "false") == 0 ? -1
                                                                     : 0,
                            8 * bytes);
        return NULL;
    }
    const gboolean is_scale = strcmp(key, "scale_factor") == 0;
    if (n != 1 || !isfinite(*number) || (is_scale && *number == 0))
        return is_scale ? _("one number other than 0") : _("one number");
    if (!v->is_packed)
        v->scale = 1;
    v->is_packed = TRUE;
    *(is_scale ? &v->scale : &v->offset) = *number;
    return NULL;
}

gboolean litho_array_values_read(LithoArrayValues *v, const char *path, const char *name,
                                 const char *key, const double *number, guint n, const char *text,
                                 int bytes, GError **error)
{
    const char *needed = litho_array_values_take(v, key, number, n, text, bytes);
    if (!needed)
        return TRUE;
    g_autofree char *plain = text ? g_utf8_make_valid(text, -1) : NULL;
    char found[64];
    if (plain)
        g_snprintf(found, sizeof found, "'%.30s'", plain);
    else if (n == 1)
        g_snprintf(found, sizeof found, "%g", *number);
    else
        g_snprintf(found, sizeof found, _("%u numbers"), n);
    return litho_refuse(error, LITHO_ERROR_FORMAT,
                        "%s: the attribute %s of %s is %s; %s is needed, or no such attribute",
                        path, key, name, found, needed);
}

double litho_array_value(const LithoArrayValues *v, double stored)
{
    for (guint k = 0; k < v->n_missing; k++)
        if ((float)stored == v->missing[k])
            return NAN;
    if (v->turn > 0 ? stored < 0 : stored >= -v->turn / 2)
        stored += v->turn;
    return v->is_packed ? stored * v->scale + v->offset : stored;
}

void litho_array_values_apply(const LithoArrayValues *v, float *x, gint64 n)
{
    for (gint64 k = 0; (v->is_packed || v->turn != 0) && k < n; k++)
        x[k] = (float)litho_array_value(v, x[k]);
    if (v->is_packed || v->turn != 0)
        return;
    for (guint m = 0; m < v->n_missing; m++)
        for (gint64 k = 0; k < n; k++)
            if (x[k] == v->missing[m])
                x[k] = NAN;
}
