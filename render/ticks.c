// SPDX-License-Identifier: GPL-3.0-or-later
#include "render/ticks.h"
#include "core/axis_names.h"
#include "core/text.h"

#include <math.h>
#include <string.h>

#define THIN_SPACE "\u2009"
#define MINUS "\u2212"

// Smallest of 1, 2, 5 times a power of ten that is not below `x`; its mantissa in `*mantissa`.
static double round_up(double x, int *mantissa)
{
    double power = pow(10, floor(log10(x)));
    static const int choices[] = {1, 2, 5, 10};
    int k = 0;
    while (k < 3 && choices[k] * power < x * (1 - 1e-9))
        k++;
    *mantissa = choices[k] == 10 ? 1 : choices[k];
    return choices[k] * power;
}

LithoTicks litho_ticks(double lo, double hi, double max_count, gboolean whole)
{
    LithoTicks ticks = {.step = 1, .minor = 1};
    if (lo > hi) {
        double swap = lo;
        lo = hi;
        hi = swap;
    }
    if (!isfinite(lo) || !isfinite(hi))
        return ticks;
    if (hi - lo < 1e-12 * MAX(fabs(lo), fabs(hi)) || hi == lo) {
        ticks.n = 1;
        ticks.value[0] = lo;
        return ticks;
    }
    int mantissa;
    ticks.step = round_up((hi - lo) / CLAMP(max_count, 2, LITHO_TICKS_MAX - 1), &mantissa);
    if (whole && ticks.step < 1) {
        ticks.step = 1;
        mantissa = 1;
    }
    ticks.minor = mantissa == 2 ? 4 : 5;
    if (whole && ticks.step < 10)
        ticks.minor = (guint)ticks.step; // line numbers have no fractions
    double first = ceil(lo / ticks.step - 1e-9);
    for (double k = first; k * ticks.step <= hi + 1e-9 * ticks.step; k++) {
        if (ticks.n == LITHO_TICKS_MAX)
            break;
        ticks.value[ticks.n++] = k * ticks.step + 0.0; // + 0.0: no negative zero
    }
    return ticks;
}

static LithoAxisText line_text(const LithoGrid *grid, int axis, gboolean metres)
{
    const LithoAxis *a = &grid->axis[axis];
    LithoAxisText text = {.factor = 1, .whole = TRUE};
    g_strlcpy(text.label, litho_axis_name(grid, axis), sizeof text.label);
    g_strlcpy(text.unit, a->unit, sizeof text.unit);
    if (!metres || a->counts == LITHO_COUNTS_OFFSETS || !grid->has_xy ||
        grid->xy_source == LITHO_FROM_ASSUMED || a->step == 0)
        return text;
    g_strlcpy(text.unit, "m", sizeof text.unit);
    text.whole = FALSE;
    text.factor = litho_grid_spacing(grid, axis) / a->step;
    text.offset = -a->first * text.factor;
    return text;
}

double litho_axis_shown(const LithoAxisText *text, const LithoAxis *axis, double index)
{
    return litho_axis_value(axis, index) * text->factor + text->offset;
}

double litho_axis_shown_at(const LithoAxisText *text, const LithoAxis *axis, double shown)
{
    return litho_axis_index(axis, (shown - text->offset) / text->factor);
}

static LithoAxisText sample_text(const char *label, const char *unit, double factor)
{
    LithoAxisText text = {.factor = factor};
    g_strlcpy(text.label, label, sizeof text.label);
    g_strlcpy(text.unit, unit, sizeof text.unit);
    return text;
}

LithoAxisText litho_axis_text(const LithoGrid *grid, int axis, LithoUnits units)
{
    if (axis != LITHO_SAMPLE)
        return line_text(grid, axis, units & LITHO_UNITS_METRES);
    if (grid->is_depth)
        return sample_text(litho_axis_name(grid, axis), "m", 1);
    LithoUnits unit = units & LITHO_UNITS_TIME;
    const LithoAxis *a = &grid->axis[LITHO_SAMPLE];
    double last = MAX(fabs(a->first), fabs(litho_axis_value(a, a->n - 1)));
    gboolean ms = unit == LITHO_UNITS_MS || (unit == LITHO_UNITS_AUTO && last < 10);
    if (ms)
        return sample_text(litho_axis_name(grid, axis), "ms", 1000);
    return sample_text(litho_axis_name(grid, axis), "s", 1);
}

// Puts thin spaces between groups of three digits of the integer part; 4 digits are grouped too,
// so that columns of numbers agree.
static void group_digits(char *out, gsize size, const char *digits)
{
    const char *point = strchr(digits, '.');
    int whole = point ? (int)(point - digits) : (int)strlen(digits);
    GString *s = g_string_new(NULL);
    for (int k = 0; digits[k]; k++) {
        if (k > 0 && k < whole && (whole - k) % 3 == 0)
            g_string_append(s, THIN_SPACE);
        g_string_append_c(s, digits[k]);
    }
    g_strlcpy(out, s->str, size);
    g_string_free(s, TRUE);
}

// "1.5e-05" -> "1.5e−5"
static void format_exponent(char *out, gsize size, double value, int digits)
{
    char text[40];
    g_snprintf(text, sizeof text, "%.*e", MAX(digits, 0), fabs(value));
    char *e = strchr(text, 'e');
    int power = (int)g_ascii_strtoll(e + 1, NULL, 10);
    *e = 0;
    g_snprintf(out, size, "%s%se%s%d", value < 0 ? MINUS : "", text, power < 0 ? MINUS : "",
               ABS(power));
    litho_text_mark(out);
}

void litho_format_number(char *out, gsize size, double value, double step)
{
    if (!isfinite(value)) {
        g_strlcpy(out, isnan(value) ? "none" : value < 0 ? MINUS "∞" : "∞", size);
        return;
    }
    step = step > 0 ? step : 1;
    if (fabs(value) < step * 1e-6) {
        g_strlcpy(out, "0", size);
        return;
    }
    // Large and round is read as a power; of large and exact, a coordinate or a count, every digit
    // matters.
    gboolean large = fabs(value) >= 1e7 && (step >= 1e4 || fabs(value) >= 1e15);
    if (large || step < 1e-4) {
        int digits = value == 0 ? 0 : (int)floor(log10(fabs(value))) - (int)floor(log10(step));
        if (value == 0)
            g_strlcpy(out, "0", size);
        else
            format_exponent(out, size, value, CLAMP(digits, 0, 8));
        return;
    }
    int decimals = CLAMP((int)ceil(-log10(step) - 1e-9), 0, 6);
    char digits[48], grouped[96];
    g_ascii_formatd(digits, sizeof digits,
                    decimals == 0   ? "%.0f"
                    : decimals == 1 ? "%.1f"
                    : decimals == 2 ? "%.2f"
                    : decimals == 3 ? "%.3f"
                    : decimals == 4 ? "%.4f"
                    : decimals == 5 ? "%.5f"
                                    : "%.6f",
                    fabs(value));
    group_digits(grouped, sizeof grouped, digits);
    gboolean zero = strspn(digits, "0.") == strlen(digits);
    g_snprintf(out, size, "%s%s", value < 0 && !zero ? MINUS : "", grouped);
    litho_text_mark(out);
}

// Coarsest of 1, 0.1 ... 0.0001 of which `value` is a multiple.
static double place_of(double value)
{
    double place = 1;
    while (place > 1.5e-4 && fabs(value / place - rint(value / place)) >
                                 1e-6 * MAX(1, fabs(value / place))) // of single precision
        place /= 10;
    return place;
}

double litho_axis_place(const LithoAxisText *text, const LithoAxis *axis)
{
    return MIN(place_of(litho_axis_shown(text, axis, 0)), place_of(axis->step * text->factor));
}

char *litho_slice_label(const LithoGrid *grid, int axis, gint64 index, LithoUnits units)
{
    // A slice is called by its line number, whatever stands at the axes.
    LithoAxisText text = litho_axis_text(grid, axis, units & LITHO_UNITS_TIME);
    const LithoAxis *a = &grid->axis[axis];
    double value = litho_axis_value(a, index) * text.factor;
    g_autofree char *label = litho_text_inside(text.label);
    // The section of a line has no number to tell it from others; a line cut from a survey has.
    if (litho_axis_is_unnumbered(grid, axis))
        return g_strdup(_("line"));
    if (litho_axis_is_line(grid, axis) && a->n == 1) {
        g_free(label);
        label = g_strdup(_("line"));
    }
    if (text.whole) // line numbers are names, not quantities: no grouping
        return litho_text_printf("%s %s%.*f%s%s", label, value < 0 ? MINUS : "",
                                 value == floor(value) ? 0 : 1, fabs(value),
                                 *text.unit ? THIN_SPACE : "", text.unit);
    char number[64];
    litho_format_number(number, sizeof number, value,
                        place_of(value) == 1 ? 1 : litho_axis_place(&text, a));
    return g_strdup_printf("%s %s%s%s", label, number, *text.unit ? THIN_SPACE : "", text.unit);
}

void litho_trim_zeros(char *number)
{
    if (!strpbrk(number, ".,") || strchr(number, 'e'))
        return;
    gsize n = strlen(number);
    while (number[n - 1] == '0')
        number[--n] = 0;
    if (number[n - 1] == '.' || number[n - 1] == ',')
        number[n - 1] = 0;
}

char *litho_format_amplitude(double value)
{
    char out[96];
    double size = fabs(value);
    if (size == 0 || !isfinite(value)) {
        litho_format_number(out, sizeof out, value, 1);
    } else if (size >= 1e7 || size < 1e-3) {
        format_exponent(out, sizeof out, value, 3);
    } else {
        double power = floor(log10(size)) - 3;
        if (power < -4) { // as a step of an axis it would ask for an exponent: "3.634e−2"
            g_autofree char *digits = litho_text_printf("%.*f", (int)-power, size);
            litho_trim_zeros(digits);
            return g_strconcat(value < 0 ? MINUS : "", digits, NULL);
        }
        litho_format_number(out, sizeof out, value, pow(10, MIN(power, 0)));
        litho_trim_zeros(out);
    }
    return g_strdup(out);
}
