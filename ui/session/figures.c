// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/figures.h"

#include <string.h>

struct LithoFigures {
    LithoReport *newest, *before; // of the last pass that told something, and the one before it
    guint serial;                 // of `newest` when it was last looked at
    guint64 first_tag;            // reports of earlier wishes are refused
};

LithoFigures *litho_figures_new(void)
{
    return g_new0(LithoFigures, 1);
}

void litho_figures_free(LithoFigures *figures)
{
    if (!figures)
        return;
    litho_report_unref(figures->newest);
    litho_report_unref(figures->before);
    g_free(figures);
}

gboolean litho_figures_restart(LithoFigures *figures, guint64 first_tag)
{
    gboolean any = figures->newest != NULL;
    g_clear_pointer(&figures->newest, litho_report_unref);
    g_clear_pointer(&figures->before, litho_report_unref);
    figures->serial = 0;
    figures->first_tag = first_tag;
    return any;
}

gboolean litho_figures_take(LithoFigures *figures, LithoReport *report, guint64 tag)
{
    guint serial = report && tag >= figures->first_tag ? litho_report_serial(report) : 0;
    if (serial == 0 || (report == figures->newest && serial == figures->serial))
        return FALSE;
    if (report != figures->newest) {
        litho_report_unref(figures->before);
        figures->before = figures->newest;
        figures->newest = litho_report_ref(report);
    }
    figures->serial = serial;
    return TRUE;
}

// Elements begin with their key. Those of `newest` in place of the ones of the same key in
// `before`, new ones behind; takes both.
static GArray *merge(GArray *before, GArray *newest)
{
    gsize size = g_array_get_element_size(newest), n = newest->len;
    if (!before)
        return newest;
    g_autofree gboolean *used = g_new0(gboolean, n + 1);
    for (guint k = 0; k < before->len; k++) {
        char *old = before->data + k * size;
        for (guint m = 0; m < n; m++) {
            char *other = newest->data + m * size;
            if (used[m] || strcmp(old, other) != 0)
                continue;
            g_autofree char *swap = g_memdup2(old, size); // the old one is freed with `newest`
            memcpy(old, other, size);
            memcpy(other, swap, size);
            used[m] = TRUE;
            break;
        }
    }
    for (guint m = 0; m < n; m++)
        if (!used[m]) {
            g_array_append_vals(before, newest->data + m * size, 1);
            memset(newest->data + m * size, 0, size); // moved
        }
    g_array_unref(newest);
    return before;
}

static GArray *collect(const LithoFigures *figures, gboolean running,
                       GArray *(*get)(LithoReport *report))
{
    if (!figures->newest)
        return NULL;
    // A pass that has ended has told everything: what it did not repeat is no longer true.
    return merge(running && figures->before ? get(figures->before) : NULL, get(figures->newest));
}

GArray *litho_figures_numbers(const LithoFigures *figures, gboolean running)
{
    return collect(figures, running, litho_report_numbers);
}

GArray *litho_figures_curves(const LithoFigures *figures, gboolean running)
{
    return collect(figures, running, litho_report_curves);
}

GArray *litho_figures_shapes(const LithoFigures *figures, gboolean running)
{
    return collect(figures, running, litho_report_shapes);
}

GArray *litho_figures_layers(const LithoFigures *figures, gboolean running)
{
    return collect(figures, running, litho_report_layers);
}

gboolean litho_figures_is_newest(const LithoFigures *figures, const char *key)
{
    g_autoptr(GArray) numbers = figures->newest ? litho_report_numbers(figures->newest) : NULL;
    for (guint k = 0; numbers && k < numbers->len; k++)
        if (strcmp(g_array_index(numbers, LithoNumber, k).key, key) == 0)
            return TRUE;
    return FALSE;
}
