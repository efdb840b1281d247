// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/walk.h"

#include "core/error.h"
#include "core/qc_steady.h"
#include "core/text.h"

void litho_walk_free(LithoWalk *walk)
{
    if (!walk)
        return;
    for (guint k = 0; k < walk->n; k++)
        litho_resolved_unref(walk->step[k].known);
    g_free(walk->step);
    g_free(walk);
}

// Finds the contents of one step's files. FALSE: refused; *waits: they are not read and must not
// be.
static gboolean find_files(LithoWalkStep *l, gboolean read, LithoRun *run, gboolean *waits,
                           GError **error)
{
    const LithoOperator *op = l->step->op;
    if (read)
        return litho_resolve(op, l->step->params, run, &l->known, error);
    l->known = litho_resolve_known(op, l->step->params);
    *waits = !l->known && litho_resolve_is_needed(op, l->step->params);
    return TRUE;
}

// Judges the parameters alone before a file is read, and again with the files' contents afterwards.
static gboolean add_step(LithoWalkStep *l, gboolean read, LithoRun *run, gboolean *waits,
                         GError **error)
{
    const LithoOperator *op = l->step->op;
    const void *params = l->step->params;
    const LithoGrid *in = l->has_in ? &l->in : NULL;
    if (!litho_operator_check(op, in, params, NULL, error) ||
        !find_files(l, read, run, waits, error))
        return FALSE;
    if (*waits)
        return TRUE;
    return (!l->known || litho_operator_check(op, in, params, l->known, error)) &&
           litho_operator_output_grid(op, in, params, l->known, &l->out, error);
}

static LithoWalk *go_over(const LithoFlow *flow, const LithoGrid *in, gboolean read, LithoRun *run,
                          GError **error)
{
    g_autoptr(LithoWalk) walk = g_new0(LithoWalk, 1);
    const LithoGrid *at = in;
    walk->step = g_new0(LithoWalkStep, litho_flow_length(flow) + 1);
    if (in)
        walk->in = *in;
    const int last = litho_flow_volume_step(flow); // what comes behind changes the result only
    for (guint k = 0; k < litho_flow_length(flow) && !walk->waits; k++) {
        if (last >= 0 && (int)k > last)
            break;
        const LithoStep *step = litho_flow_step(flow, k);
        if (!step->enabled)
            continue;
        LithoWalkStep *l = &walk->step[walk->n++];
        l->step = step;
        l->measured = litho_step_measured(step, NULL);
        l->volume = (int)k == last ? litho_operator_volume(step->op, flow->volume) : NULL;
        l->has_in = step->op->needs_input && at;
        if (l->has_in)
            l->in = *at;
        if (!add_step(l, read, run, &walk->waits, error))
            return NULL;
        at = &l->out;
    }
    if (!at) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY, _("there is no input cube"));
        return NULL;
    }
    if (!walk->waits)
        walk->out = *at;
    return g_steal_pointer(&walk);
}

LithoWalk *litho_walk_look(const LithoFlow *flow, const LithoGrid *in, GError **error)
{
    return go_over(flow, in, FALSE, NULL, error);
}

LithoWalk *litho_walk_resolve(const LithoFlow *flow, const LithoGrid *in, LithoRun *run,
                              GError **error)
{
    return go_over(flow, in, TRUE, run, error);
}

LithoBox litho_walk_want(LithoWalk *walk, const LithoBox *region)
{
    const LithoBox all = litho_box_full(&walk->out);
    LithoBox need = region ? litho_box_intersect(*region, all) : all;
    for (guint k = walk->n; k-- > 0;) {
        LithoWalkStep *l = &walk->step[k];
        const gboolean local = litho_operator_is_local(l->step->op, l->step->params);
        l->region = local ? need : litho_box_full(&l->out); // all or nothing
        const gboolean measured = walk->measured || l->measured;
        const LithoBox of = litho_volume_box(l->volume, &l->out, l->region);
        l->need = l->has_in ? litho_operator_input_box(l->step->op, &l->in, l->step->params,
                                                       measured, of)
                            : (LithoBox){0};
        const gboolean most = walk->most && !l->measured;
        if ((l->measured || most) && local && l->step->op->measured_box &&
            !litho_box_empty(l->need))
            l->need = l->step->op->measured_box(&l->in, l->step->params, l->measured, l->need);
        // Steady noise is told by whole traces.
        if (k == 0 && l->has_in && !litho_box_empty(l->need) &&
            litho_steady_stands_in(l->measured)) {
            l->need.lo[2] = 0;
            l->need.hi[2] = l->in.axis[2].n;
        }
        need = l->need;
    }
    return need;
}

gboolean litho_walk_input_box(const LithoFlow *flow, const LithoGrid *in, LithoBox region,
                              LithoRun *run, LithoBox *need, GError **error)
{
    g_autoptr(LithoWalk) walk = litho_walk_resolve(flow, in, run, error);
    if (walk)
        *need = litho_walk_want(walk, &region);
    return walk != NULL;
}
