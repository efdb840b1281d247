// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/modes.h"

#include "core/memory.h"
#include "kernels/migrate/planes.h"

gboolean mig_show(int first, int n, gpointer data, GError **error)
{
    const MigWatch *w = data;
    MigEngine *engine = w->engine;
    if (!w->run || !w->run->on_partial || n <= 0)
        return TRUE;
    const gsize cells = litho_migrate_image_cells(engine->job[0]), count = cells * n;
    g_autofree float *planes = litho_memory_new(count, sizeof *planes, "depths to show", error);
    if (!planes || !engine->class->planes(engine, MIG_IMAGE, first, n, planes, error))
        return FALSE;
    if (engine->has_light && w->params->imaging == LITHO_MIGRATE_NORMALISED) {
        g_autofree float *light = litho_memory_new(count, sizeof *light, "depths to show", error);
        if (!light || !engine->class->planes(engine, MIG_LIGHT, first, n, light, error))
            return FALSE;
        litho_migrate_normalise(planes, light, cells, n, w->params->stabilise, planes);
    } else if (w->scale != 1) {
        for (gsize k = 0; k < count; k++)
            planes[k] *= w->scale;
    }
    litho_migrate_show(w->out, planes, first, n, w->run);
    return TRUE;
}

gboolean mig_stack(MigEngine *engine, const LithoCube *in, MigWatch *watch, LithoRun *run,
                   GError **error)
{
    const MigEngineClass *class = engine->class;
    for (int b = engine->n_bands - 1; b >= 0; b--) {
        if (!engine->kept[b])
            engine->kept[b] = class->keep_record(engine, b, in, run, error);
        if (!engine->kept[b] || !class->take_record(engine, b, error) ||
            !class->down(engine, b, FALSE, mig_show, watch, run, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean one_shot(MigEngine *engine, int b, const LithoShots *shots, guint k,
                         const LithoCube *in, MigWatch *watch, LithoRun *run, GError **error)
{
    const gint64 traces = litho_grid_traces(&in->grid);
    g_autofree int *row = litho_shots_cells_of(shots, shots->row, k, traces);
    g_autofree int *column = litho_shots_cells_of(shots, shots->column, k, traces);
    return engine->class->take_shot(engine, b, in, row, column, &shots->shot[k], run, error) &&
           engine->class->down(engine, b, TRUE, mig_show, watch, run, error);
}

gboolean mig_shots(MigEngine *engine, const LithoShots *shots, const LithoCube *in, MigWatch *watch,
                   LithoRun *run, GError **error)
{
    for (guint k = 0; k < shots->n; k++)
        for (int b = engine->n_bands - 1; b >= 0; b--)
            if (!one_shot(engine, b, shots, k, in, watch, run, error))
                return FALSE;
    return TRUE;
}

gboolean mig_demigrate(MigEngine *engine, const LithoCube *in, LithoRun *run, GError **error)
{
    if (!engine->class->take_image(engine, in, run, error))
        return FALSE;
    for (int b = 0; b < engine->n_bands; b++)
        if (!engine->class->up(engine, b, run, error))
            return FALSE;
    return TRUE;
}
