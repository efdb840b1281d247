// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli_slices.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/progress.h"
#include "core/axis_names.h"
#include "core/error.h"

void litho_cli_slices_clear(LithoCliSlices *slices)
{
    for (int k = 0; k < 3; k++)
        g_strfreev(slices->words[k]);
    g_strfreev(slices->depths);
}

// A time with "s" or "ms" behind; without a unit seconds, or ms where no record lasts as many
// seconds. Depths and line numbers are plain.
static gboolean parse_value(const LithoGrid *grid, int axis, const char *text, double *value)
{
    char *end;
    *value = g_ascii_strtod(text, &end);
    if (end == text || !isfinite(*value))
        return FALSE;
    end += strspn(end, " ");
    const LithoAxis *a = &grid->axis[axis];
    if (axis != LITHO_SAMPLE || grid->is_depth)
        return *end == 0 || (axis == LITHO_SAMPLE && strcmp(end, "m") == 0);
    double last = MAX(fabs(a->first), fabs(litho_axis_value(a, (double)a->n - 1)));
    if (strcmp(end, "ms") == 0 || (*end == 0 && fabs(*value) > last + fabs(a->step)))
        *value /= 1000;
    return *end == 0 || strcmp(end, "ms") == 0 || strcmp(end, "s") == 0;
}

static gboolean no_number(const LithoGrid *grid, int axis, const char *text, GError **error)
{
    g_autofree char *name = litho_axis_word(grid, axis);
    return litho_refuse(error, LITHO_ERROR_PARAMETER, "'%s' is not a number of %s", text, name);
}

static gboolean find_slice(const LithoGrid *grid, int axis, const char *text, gint64 *index,
                           GError **error)
{
    g_autofree char *name = litho_axis_word(grid, axis);
    const LithoAxis *a = &grid->axis[axis];
    double value;
    if (!parse_value(grid, axis, text, &value))
        return no_number(grid, axis, text, error);
    double at = litho_axis_index(a, value);
    *index = (gint64)floor(at + 0.5);
    if (*index < 0 || *index >= a->n) {
        double last = litho_axis_value(a, (double)a->n - 1);
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                    _("there is no %s %.10g; the file has %.10g to %.10g%s%s"), name, value,
                    MIN(a->first, last), MAX(a->first, last), *a->unit ? " " : "", a->unit);
        return FALSE;
    }
    litho_cli_progress_erase();
    if (fabs(at - (double)*index) > 1e-3)
        fprintf(stderr, _("note: the nearest %s to %.10g%s%s is %.10g%s%s\n"), name, value,
                *a->unit ? " " : "", a->unit, litho_axis_value(a, (double)*index),
                *a->unit ? " " : "", a->unit);
    return TRUE;
}

gboolean litho_cli_slices_check(const LithoCliSlices *slices, guint most, GError **error)
{
    static const char *const names[] = {"inline", "xline", "time", "depth"};
    char **const lists[] = {slices->words[0], slices->words[1], slices->words[2], slices->depths};
    for (guint k = 0; k < G_N_ELEMENTS(lists); k++) {
        LithoGrid grid = {.is_depth = k == 3};
        const int axis = MIN((int)k, LITHO_SAMPLE);
        double unused;
        if (lists[k] && g_strv_length(lists[k]) > most)
            return litho_refuse(error, LITHO_ERROR_PARAMETER, "--%s is given more than once",
                                names[k]);
        for (int i = 0; lists[k] && lists[k][i]; i++)
            if (!parse_value(&grid, axis, lists[k][i], &unused))
                return no_number(&grid, axis, lists[k][i], error);
    }
    return TRUE;
}

GArray *litho_cli_slices_find(const LithoCliSlices *slices, const LithoGrid *grid, GError **error)
{
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(LithoCliSlice));
    if (grid->is_depth ? slices->words[LITHO_SAMPLE] != NULL : slices->depths != NULL) {
        g_set_error_literal(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                            grid->is_depth ? _("this file is in depth: use --depth")
                                           : _("this file is in time: use --time"));
        return NULL;
    }
    for (int axis = 0; axis < 3; axis++) {
        char **list = axis == LITHO_SAMPLE && grid->is_depth ? slices->depths : slices->words[axis];
        for (int k = 0; list && list[k]; k++) {
            LithoCliSlice slice = {.axis = axis};
            if (!find_slice(grid, axis, list[k], &slice.index, error))
                return NULL;
            g_array_append_val(found, slice);
        }
    }
    return g_steal_pointer(&found);
}
