// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/modes.h"

#include "core/error.h"
#include "kernels/migrate/preview.h"

gboolean mig_show(int first, int n, gpointer data, GError **error)
{
    const MigWatch *w = data;
    MigEngine *engine = w->engine;
    if (!w->run || !w->run->on_partial || n <= 0)
        return TRUE;
    const gboolean divide = engine->has_light && w->params->imaging == LITHO_MIGRATE_NORMALISED;
    g_autoptr(GError) trouble = NULL;
    g_autoptr(LithoCube) part = engine->class->part(engine, w->out, first, n, divide ? 1 : w->scale,
                                                    divide, w->params->stabilise, w->run, &trouble);
    if (part)
        litho_run_partial(w->run, part);
    else if (!g_error_matches(trouble, LITHO_ERROR, LITHO_ERROR_MEMORY)) // the run does without
        g_propagate_error(error, g_steal_pointer(&trouble));
    return part || trouble;
}

// A first look at all depths for who watches a long run. The engine has the whole band on the
// image's grid, and nobody else has a share of it.
static gboolean look_first(MigEngine *engine, MigWatch *watch, LithoRun *run, GError **error)
{
    const MigEngineClass *class = engine->class;
    const LithoMigrateJob *job = engine->job[0];
    gboolean made;
    if (!class->preview || !run || !run->on_partial || !run->on_first_look ||
        engine->n_bands != 1 || job->share || watch->scale != 1 || !litho_preview_suits(job) ||
        litho_migrate_sweep_flops(job, 1) < class->preview_flops)
        return TRUE;
    if (!class->preview(engine, 0, &made, run, error))
        return FALSE;
    if (!made)
        return TRUE;
    if (!mig_show(0, litho_migrate_image_depths(job), watch, error))
        return FALSE;
    litho_run_first_look(run);
    // A newer wish may have come: nothing is under way yet that would have to be waited for.
    return litho_run_step(run, 0, MAX(job->n_steps, 1), error) && class->clear(engine, error);
}

gboolean mig_stack(MigEngine *engine, const LithoCube *in, MigWatch *watch, LithoRun *run,
                   GError **error)
{
    const MigEngineClass *class = engine->class;
    for (int b = engine->n_bands - 1; b >= 0; b--) {
        if (!engine->kept[b])
            engine->kept[b] = class->keep_record(engine, b, in, run, error);
        if (!engine->kept[b] || !look_first(engine, watch, run, error) ||
            !class->take_record(engine, b, error) ||
            !class->down(engine, b, FALSE, mig_show, watch, run, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean one_shot(MigEngine *engine, int b, const LithoShots *shots, guint k,
                         const LithoCube *in, MigWatch *watch, LithoRun *run, GError **error)
{
    const LithoShotTraces traces = litho_shots_traces(shots, k);
    return engine->class->take_shot(engine, b, in, shots->trace ? &traces : NULL, &shots->shot[k],
                                    run, error) &&
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
