// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/param_format.h"
#include "core/text.h"

#include <math.h>
#include <string.h>

void litho_param_slider_range(const LithoParam *row, double *lo, double *hi)
{
    gboolean soft = row->soft_min != 0 || row->soft_max != 0;
    *lo = soft && row->soft_min >= row->min ? row->soft_min : row->min;
    *hi = soft && row->soft_max <= row->max ? row->soft_max : row->max;
    if (*hi <= *lo)
        *hi = row->max;
}

// No ratio leads to 0, which many a log row has as its special value: the slider's lower end.
double litho_param_slider_from_value(const LithoParam *row, double value)
{
    double lo, hi;
    if (!row->log)
        return value;
    litho_param_slider_range(row, &lo, &hi);
    return log10(value > 0 ? value : lo > 0 ? lo : 1e-3 * hi);
}

double litho_param_slider_to_value(const LithoParam *row, double position)
{
    double value = row->log ? pow(10, position) : position;
    if (row->type == LITHO_PARAM_INT) {
        const double unit = MAX(row->step, 1); // windows of an even number of samples: steps of 2
        return CLAMP(rint(value / unit) * unit, row->min, row->max);
    }
    // Three digits are what a hand on a slider means; the number field takes more.
    double unit = pow(10, floor(log10(MAX(fabs(value), 1e-12))) - 2);
    if (!row->log && row->step > 0)
        unit = row->step;
    return CLAMP(rint(value / unit) * unit, row->min, row->max);
}

double litho_param_step(const LithoParam *row)
{
    if (row->step > 0)
        return row->step;
    if (row->type == LITHO_PARAM_INT)
        return 1;
    double lo, hi;
    litho_param_slider_range(row, &lo, &hi);
    return (hi - lo) / 100;
}

gboolean litho_param_is_special(const LithoParam *row, double value)
{
    return row->special_text && value == row->special;
}

void litho_param_format(const LithoParam *row, double value, char *out, gsize size)
{
    if (litho_param_is_special(row, value))
        g_strlcpy(out, litho_text(row->special_text), size);
    else if (row->type == LITHO_PARAM_INT)
        litho_text_put(out, size, "%.0f", value);
    else
        litho_text_put(out, size, "%.5g", value);
}

const char *litho_param_unit(const LithoParam *row, gboolean is_depth)
{
    const char *unit = is_depth && row->depth_unit ? row->depth_unit : row->unit;
    return unit ? unit : "";
}

// For translators: of one, "1 trace".
G_GNUC_UNUSED static const char *const singles[] = {
    N_("trace"), N_("sample"), N_("degree"), N_("cell"), N_("row"), N_("tap"), N_("step")};

// "3 traces", "1 trace"; "ms" and "m/s" are no plurals.
static void append_unit(const char *unit, gboolean is_one, char *out, gsize size)
{
    gsize n = 0;
    while (g_ascii_isalpha(unit[n]))
        n++;
    const gboolean plural = n > 3 && !unit[n] && unit[n - 1] == 's';
    g_autofree char *own = g_strndup(unit, is_one && plural ? n - 1 : strlen(unit));
    g_strlcat(out, " ", size);
    g_strlcat(out, litho_text(own), size);
}

void litho_param_format_unit(const LithoParam *row, double value, gboolean is_depth, char *out,
                             gsize size)
{
    const char *unit = litho_param_unit(row, is_depth);
    litho_param_format(row, value, out, size);
    if (*unit && !litho_param_is_special(row, value))
        append_unit(unit, value == 1, out, size);
}

void litho_param_format_any(const LithoParam *row, double value, gboolean is_depth, char *out,
                            gsize size)
{
    if (row->type == LITHO_PARAM_CHOICE)
        g_strlcpy(out, litho_param_choice_shown(row, (guint)value), size);
    else if (row->type == LITHO_PARAM_BOOL)
        g_strlcpy(out, value != 0 ? _("on") : _("off"), size);
    else
        litho_param_format_unit(row, value, is_depth, out, size);
}

void litho_param_format_used(const LithoParam *row, double value, gboolean is_depth, char *out,
                             gsize size)
{
    const char *unit = litho_param_unit(row, is_depth);
    gboolean whole = row->type == LITHO_PARAM_INT || fabs(value) >= 1000;
    litho_text_put(out, size, whole ? "%.0f" : "%.3g", value);
    if (*unit)
        append_unit(unit, strcmp(out, "1") == 0, out, size);
}

char *litho_param_format_left(const LithoParam *row, double value, double used, gboolean is_depth)
{
    char text[48], own[48];
    litho_param_format_any(row, value, is_depth, text, sizeof text);
    if (!isfinite(used))
        return g_strdup(text);
    if (row->type == LITHO_PARAM_CHOICE)
        litho_param_format_any(row, used, is_depth, own, sizeof own);
    else
        litho_param_format_used(row, used, is_depth, own, sizeof own);
    return g_strdup_printf("%s: %s", text, own);
}

static char *number_of(double value)
{
    char *number = litho_param_number_text(value);
    litho_text_mark(number);
    return number;
}

void litho_param_format_bound(const LithoParam *row, double value, gboolean is_depth, char *out,
                              gsize size)
{
    const char *unit = litho_param_unit(row, is_depth);
    g_autofree char *number = number_of(value);
    g_strlcpy(out, number, size);
    if (*unit)
        append_unit(unit, value == 1, out, size);
}

char *litho_param_format_range(const LithoParam *row, double lo, double hi, gboolean is_depth)
{
    const double endless = 1e9; // a limit that only keeps out what is no number
    char from[48], to[48];
    if (lo <= -endless && hi >= endless)
        return g_strdup(_("any"));
    if (hi >= endless) {
        litho_param_format_bound(row, lo, is_depth, from, sizeof from);
        return g_strdup_printf(_("%s or more"), from);
    }
    litho_param_format_bound(row, hi, is_depth, to, sizeof to);
    if (litho_param_is_special(row, lo))
        return g_strdup_printf(_("up to %s"), to);
    g_autofree char *number = number_of(lo);
    return g_strdup_printf(_("%s to %s"), number, to);
}
