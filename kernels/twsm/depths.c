// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/twsm/depths.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"

enum { MAX_DEPTH = 1000000 };

double twsm_depths_number(const TwsmModel *model, const TwsmBoundary *b)
{
    return b->shape == TWSM_HEIGHTS || b->shape == TWSM_SHEET
               ? twsm_boundary_depth(b, 0.5 * (model->x[0] + model->x[1]),
                                     0.5 * (model->y[0] + model->y[1]))
               : b->depth;
}

// A number that ends where the entry ends, or at `stop`.
static gboolean read_number(const char **text, char stop, double *value)
{
    char *end;
    *value = g_ascii_strtod(*text, &end);
    if (end == *text || (*end && *end != stop) || !(fabs(*value) <= MAX_DEPTH))
        return FALSE;
    *text = *end ? end + 1 : end;
    return TRUE;
}

static gboolean apply_entry(TwsmModel *model, int index, const char *entry, GError **error)
{
    TwsmBoundary *b = &model->boundary[index];
    const gboolean bulge = b->shape == TWSM_GAUSSIAN && strchr(entry, ':');
    const char *at = entry;
    double depth, amplitude = b->amplitude;
    if (strcmp(entry, "-") == 0)
        return TRUE;
    if (!read_number(&at, bulge ? ':' : '\0', &depth) ||
        (bulge && !read_number(&at, '\0', &amplitude))) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                    b->shape == TWSM_GAUSSIAN
                        ? _("depths: '%s' is no entry for boundary %d; a depth in m, with :HEIGHT "
                            "for its bulge, or - is needed")
                        : _("depths: '%s' is no entry for boundary %d; a depth in m or - is "
                            "needed"),
                    entry, index);
        return FALSE;
    }
    if (b->shape == TWSM_HEIGHTS || b->shape == TWSM_SHEET)
        b->shift += depth - twsm_depths_number(model, b);
    else
        b->depth = depth;
    b->amplitude = amplitude;
    return TRUE;
}

gboolean twsm_depths_apply(TwsmModel *model, const char *text, GError **error)
{
    g_auto(GStrv) entries = g_strsplit_set(text, ", ", -1);
    int index = 0;
    for (int k = 0; entries[k]; k++) {
        if (!*entries[k])
            continue;
        if (index == model->n_boundaries) {
            g_set_error(
                error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                litho_text_plural("depths: '%s' is one entry too many; the model has %d boundary",
                                  "depths: '%s' is one entry too many; the model has %d boundaries",
                                  model->n_boundaries),
                entries[k], model->n_boundaries);
            return FALSE;
        }
        if (!apply_entry(model, index++, entries[k], error))
            return FALSE;
    }
    return TRUE;
}

static void print_number(GString *text, double value)
{
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append(text, g_ascii_formatd(number, sizeof number, "%.9g", value));
}

gboolean twsm_depths_around(const TwsmModel *model, int boundary, gboolean amplitude,
                            LithoGrip *grip)
{
    g_autoptr(GString) before = g_string_new(NULL);
    g_autoptr(GString) after = g_string_new(NULL);
    for (int k = 0; k < model->n_boundaries; k++) {
        const TwsmBoundary *b = &model->boundary[k];
        GString *text = k <= boundary ? before : after;
        if (k > 0)
            g_string_append_c(text, ',');
        if (k == boundary && !amplitude)
            text = after;
        else
            print_number(text, twsm_depths_number(model, b));
        if (b->shape != TWSM_GAUSSIAN)
            continue;
        g_string_append_c(text, ':');
        if (k != boundary || !amplitude)
            print_number(text, b->amplitude);
    }
    return g_strlcpy(grip->before, before->str, sizeof grip->before) < sizeof grip->before &&
           g_strlcpy(grip->after, after->str, sizeof grip->after) < sizeof grip->after;
}
