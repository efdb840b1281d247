// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/axis_names.h"
#include "core/text.h"

#include <math.h>

typedef struct Names {
    const char *one, *many, *brief, *key;
} Names;

// Names of all that an axis may count; lines have names by their place.
static const Names kinds[] = {
    [LITHO_COUNTS_LINES] = {N_("Line"), N_("Lines"), "", ""},
    [LITHO_COUNTS_CDPS] = {N_("CDP"), N_("CDPs"), N_("CDP"), "cdp"},
    [LITHO_COUNTS_SHOTS] = {N_("Shot"), N_("Shots"), N_("Shot"), "shot"},
    [LITHO_COUNTS_CHANNELS] = {N_("Channel"), N_("Channels"), N_("Channel"), "channel"},
    [LITHO_COUNTS_OFFSETS] = {N_("Offset"), N_("Offsets"), N_("Offset"), "offset"},
    [LITHO_COUNTS_TRACES] = {N_("Trace"), N_("Traces"), N_("Trace"), "trace"},
};
static const Names lines[] = {
    [LITHO_INLINE] = {N_("Inline"), N_("Inlines"), "IL", "inline"},
    [LITHO_XLINE] = {N_("Crossline"), N_("Crosslines"), "XL", "crossline"},
};
static const Names samples[] = {
    {N_("Time"), N_("Time"), "t", "sample"},
    {N_("Depth"), N_("Depth"), "z", "sample"},
};

gboolean litho_axis_is_line(const LithoGrid *grid, int axis)
{
    return axis < LITHO_SAMPLE && grid->axis[axis].counts == LITHO_COUNTS_LINES;
}

gboolean litho_axis_is_unnumbered(const LithoGrid *grid, int axis)
{
    return litho_axis_is_line(grid, axis) && grid->axis[axis].n == 1 &&
           fabs(grid->axis[axis].first) <= 1;
}

static const Names *names_of(const LithoGrid *grid, int axis)
{
    if (axis == LITHO_SAMPLE)
        return &samples[grid->is_depth != 0];
    if (!litho_axis_is_line(grid, axis))
        return &kinds[grid->axis[axis].counts];
    // Along a line that has no number the others number its traces.
    const int other = LITHO_INLINE + LITHO_XLINE - axis;
    if (grid->axis[axis].n > 1 && litho_axis_is_unnumbered(grid, other))
        return &kinds[LITHO_COUNTS_TRACES];
    return &lines[axis];
}

const char *litho_axis_name(const LithoGrid *grid, int axis)
{
    const Names *names =
        litho_axis_is_unnumbered(grid, axis) ? &kinds[LITHO_COUNTS_LINES] : names_of(grid, axis);
    return litho_text(names->one);
}

const char *litho_axis_plural(const LithoGrid *grid, int axis)
{
    return litho_text(names_of(grid, axis)->many);
}

char *litho_axis_word(const LithoGrid *grid, int axis)
{
    return litho_text_inside(litho_axis_name(grid, axis));
}

char *litho_axis_words(const LithoGrid *grid, int axis)
{
    return litho_text_inside(litho_axis_plural(grid, axis));
}

char *litho_axis_counted(const LithoGrid *grid, int axis)
{
    const gint64 n = grid->axis[axis].n;
    g_autofree char *words = n == 1 ? litho_axis_word(grid, axis) : litho_axis_words(grid, axis);
    return g_strdup_printf("%" G_GINT64_FORMAT " %s", n, words);
}

const char *litho_axis_short(const LithoGrid *grid, int axis)
{
    return litho_text(names_of(grid, axis)->brief);
}

const char *litho_axis_key(const LithoGrid *grid, int axis)
{
    return names_of(grid, axis)->key;
}

static double last_of(const LithoAxis *axis)
{
    return axis->first + (double)(axis->n - 1) * axis->step;
}

static gboolean are_apart(const LithoAxis *a, const LithoAxis *b)
{
    const double little = 1e-3 * fabs(a->step);
    return a->source != LITHO_FROM_ASSUMED && b->source != LITHO_FROM_ASSUMED &&
           a->counts == b->counts &&
           (strcmp(a->unit, b->unit) != 0 || fabs(a->first - b->first) > little ||
            fabs(last_of(a) - last_of(b)) > little);
}

char *litho_axes_tell_others(const LithoGrid *a, const LithoGrid *b)
{
    g_autoptr(GString) list = g_string_new(NULL);
    for (int k = 0; k < 3; k++) {
        const LithoAxis *x = &a->axis[k], *y = &b->axis[k];
        if (!are_apart(x, y))
            continue;
        g_autofree char *name = litho_axis_words(a, k);
        litho_text_add(list, _("%s%s %g to %g%s%s and %g to %g%s%s"), list->len ? "; " : "", name,
                       x->first, last_of(x), *x->unit ? " " : "", x->unit, y->first, last_of(y),
                       *y->unit ? " " : "", y->unit);
    }
    return list->len == 0 ? NULL
                          : g_strdup_printf(_("the cubes are compared in the order of their traces "
                                              "and samples, but their axes differ: %s"),
                                            list->str);
}
