// SPDX-License-Identifier: GPL-3.0-or-later
// Members that MDIO stores of traces beside their samples: which of them there are, and their
// places.
#include <math.h>
#include <string.h>

#include "core/io/segy_geometry.h"
#include "core/io/survey_private.h"
#include "core/io/units.h"
#include "core/io/xy_fit.h"
#include "core/io/zarr.h"
#include "core/text.h"

// MDIO 1 keeps such arrays beside the cube, MDIO 0 in the group /metadata.
static double *find(LithoSurvey *survey, const char *root, const char *folder, const char *name,
                    const gint64 n[2], char **found)
{
    g_autofree char *group = g_path_get_dirname(folder);
    g_autofree char *metadata = g_build_filename(root, "metadata", NULL);
    const char *const places[] = {group, metadata};
    double *value = NULL;
    // The cube may be the store itself: what lies beside it then is another's.
    for (guint k = strcmp(root, folder) == 0; !value && k < G_N_ELEMENTS(places); k++) {
        g_free(*found);
        *found = g_build_filename(places[k], name, NULL);
        value = litho_zarr_read_numbers(*found, 2, n);
        if (!value && litho_zarr_is_array(*found))
            litho_survey_note(survey,
                              "the array %s is damaged, packed in another way or of other sizes "
                              "than %" PRId64 " x %" PRId64 "; it was not used",
                              name, n[0], n[1]);
    }
    return value;
}

static void read_mask(LithoSurvey *survey, LithoArray *array, const char *root, const char *folder)
{
    static const char *const names[] = {"trace_mask", "live_mask"};
    const gint64 traces = array->n[0] * array->n[1];
    g_autofree double *value = NULL;
    g_autofree char *found = NULL;
    for (guint k = 0; !value && k < G_N_ELEMENTS(names); k++)
        value = find(survey, root, folder, names[k], array->n, &found);
    g_autofree guint8 *live = value ? g_new(guint8, traces) : NULL;
    gint64 n = 0;
    for (gint64 t = 0; live && t < traces; t++)
        n += live[t] = value[t] != 0;
    if (n > 0)
        array->live = g_steal_pointer(&live);
    else if (live)
        litho_survey_note(survey, "the array %s says that there is no trace; it was not used",
                          strrchr(found, '/') + 1);
}

// Places of the traces that there are, fitted as those of SEG-Y headers are.
static void read_places(LithoSurvey *survey, const LithoArray *array, const char *root,
                        const char *folder)
{
    g_autofree char *path = NULL;
    g_autofree double *x = find(survey, root, folder, "cdp_x", array->n, &path);
    g_autofree double *y = x ? find(survey, root, folder, "cdp_y", array->n, &path) : NULL;
    LithoXyFit fit = {0};
    LithoZarrMeta meta;
    char unit[16] = "";
    if (!y || !litho_zarr_read_meta(path, &meta))
        return;
    litho_zarr_read_unit(path, meta.version, unit, sizeof unit);
    gboolean is_length = FALSE;
    const double factor = litho_file_unit(unit, &is_length), metre = is_length ? factor : 1;
    for (gint64 i = 0; i < array->n[0]; i++)
        for (gint64 j = 0; j < array->n[1]; j++) {
            const gint64 t = i * array->n[1] + j;
            if ((!array->live || array->live[t]) && isfinite(x[t]) && isfinite(y[t]))
                litho_xy_fit_add(&fit, (double)i, (double)j, x[t] * metre, y[t] * metre);
        }
    litho_xy_fit_solve(&fit);
    const double bin = fmax(hypot(fit.di[0], fit.di[1]), hypot(fit.dj[0], fit.dj[1]));
    if (fit.rank == 0 || !(bin > 0))
        return;
    if (!(fit.rms <= 0.5 * bin)) {
        litho_survey_note(survey,
                          "the coordinates cdp_x and cdp_y do not follow the line numbers "
                          "(residual %.1f bins) and are not used",
                          fit.rms / bin);
        return;
    }
    litho_grid_take_fit(&fit, &survey->grid);
    litho_text_put(survey->grid.xy_evidence, sizeof survey->grid.xy_evidence,
                   _("arrays cdp_x and cdp_y, residual %.2f of a bin"), fit.rms / bin);
    if (metre == LITHO_FOOT)
        litho_survey_note(survey, "coordinates are in feet and were turned into metres");
}

void litho_zarr_read_traces(LithoSurvey *survey, LithoArray *array, const char *root,
                            const char *folder)
{
    read_mask(survey, array, root, folder);
    read_places(survey, array, root, folder);
}
