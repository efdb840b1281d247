// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/stream_behind.h"

#include "core/engine/engine.h"
#include "core/engine/stream_rows.h"

struct LithoStreamBehind {
    LithoFlow *flow; // the last steps alone
    LithoWalk *walk;
    LithoEngine *engine;
    const LithoStreamOptions *options;
    GMutex *lock;    // guards options->notes
    LithoCube *row;  // slabs that wait for the others of their inlines
    LithoCube *rows; // whole inlines of the steps before, from the first one that is needed
    gint64 next;     // inline of the output
    guint64 source;  // of all `rows` (cube.h)
};

// Switches enabled steps off: the last `n`, or those before them.
static LithoFlow *part_of(const LithoFlow *flow, guint n, gboolean last)
{
    LithoFlow *part = litho_flow_copy(flow);
    guint behind = 0;
    for (guint k = litho_flow_length(part); k-- > 0;) {
        LithoStep *step = litho_flow_step(part, k);
        if (step->enabled)
            step->enabled = (behind++ < n) == last;
    }
    if (!last)
        g_clear_pointer(&part->volume, g_free);
    return part;
}

LithoFlow *litho_stream_steps_before(const LithoFlow *flow, guint behind)
{
    return part_of(flow, behind, FALSE);
}

LithoFlow *litho_stream_steps_from(const LithoFlow *flow, guint first)
{
    LithoFlow *part = litho_flow_copy(flow);
    for (guint k = 0; k < first; k++)
        litho_flow_step(part, k)->enabled = FALSE;
    return part;
}

LithoStreamBehind *litho_stream_behind_new(const LithoFlow *flow, const LithoStreamPlan *plan,
                                           const LithoStreamOptions *options, GMutex *lock,
                                           LithoRun *run, GError **error)
{
    g_autoptr(LithoFlow) part = part_of(flow, plan->behind, TRUE);
    LithoWalk *walk = litho_walk_resolve(part, &plan->out, run, error);
    if (!walk)
        return NULL;
    walk->measured = TRUE;
    LithoStreamBehind *b = g_new0(LithoStreamBehind, 1);
    b->flow = g_steal_pointer(&part);
    b->walk = walk;
    b->engine = litho_engine_new(litho_stream_device(options, plan, 0));
    b->options = options;
    b->lock = lock;
    b->next = plan->begin;
    return b;
}

void litho_stream_behind_free(LithoStreamBehind *b)
{
    if (!b)
        return;
    litho_engine_free(b->engine);
    litho_walk_free(b->walk);
    litho_flow_free(b->flow);
    litho_cube_unref(b->row);
    litho_cube_unref(b->rows);
    g_free(b);
}

static LithoBox need_of(LithoStreamBehind *b, gint64 lo, gint64 hi)
{
    LithoBox region = litho_box_full(&b->walk->out);
    region.lo[0] = lo;
    region.hi[0] = hi;
    return litho_walk_want(b->walk, &region);
}

// The row that is whole now joins those before it, of which the inlines stay that are needed.
static gboolean join_row(LithoStreamBehind *b, GError **error)
{
    LithoBox box = b->row->held;
    if (b->rows)
        box.lo[0] = CLAMP(need_of(b, b->next, b->next + 1).lo[0], b->rows->held.lo[0], box.lo[0]);
    LithoCube *rows = litho_cube_new_box(&b->row->grid, box, error);
    if (!rows)
        return FALSE;
    if (b->rows)
        litho_cube_paste(rows, b->rows);
    litho_cube_paste(rows, b->row);
    rows->source = b->source = b->source ? b->source : rows->serial;
    rows->loudest = G_MAXFLOAT; // the input was judged; between steps nobody judges
    litho_cube_unref(b->rows);
    b->rows = rows;
    g_clear_pointer(&b->row, litho_cube_unref);
    return TRUE;
}

// The inline up to which the rows hold all that is needed.
static gint64 reach(LithoStreamBehind *b)
{
    gint64 hi = b->rows->held.hi[0];
    while (hi > b->next && need_of(b, b->next, hi).hi[0] > b->rows->held.hi[0])
        hi--;
    return hi;
}

static LithoCube *compute(LithoStreamBehind *b, gint64 hi, LithoRun *run, GError **error)
{
    LithoRun quiet = run ? *run : (LithoRun){0};
    quiet.on_progress = NULL; // of slabs
    quiet.threads = b->options->threads;
    quiet.force = b->options->save.force;
    quiet.peers = NULL;
    LithoBox region = litho_box_full(&b->walk->out);
    region.lo[0] = b->next;
    region.hi[0] = hi;
    LithoCube *out = litho_engine_run(b->engine, b->flow, b->rows, &region, &quiet, error);
    g_mutex_lock(b->lock);
    if (out)
        litho_cube_tell_notes(out, NULL, b->options->notes);
    g_mutex_unlock(b->lock);
    return out;
}

gboolean litho_stream_behind_put(LithoStreamBehind *b, const LithoStreamPlan *plan, gint64 slab,
                                 const LithoCube *cube, LithoWriter *writer, LithoJournal *journal,
                                 LithoRun *run, GError **error)
{
    if (!b->row)
        b->row = litho_cube_new_box(&plan->out, litho_stream_row_box(plan, slab), error);
    if (!b->row)
        return FALSE;
    litho_cube_paste(b->row, cube);
    if (slab % plan->columns < plan->columns - 1)
        return TRUE;
    if (!join_row(b, error))
        return FALSE;
    const gint64 hi = reach(b);
    if (hi <= b->next)
        return TRUE;
    g_autoptr(LithoCube) out = compute(b, hi, run, error);
    const double start = litho_now_ms();
    if (!out || !litho_stream_put_inlines(out, writer, journal, run, error))
        return FALSE;
    litho_run_time(run, "write", LITHO_STAGE_IO, litho_now_ms() - start,
                   4.0 * litho_cube_held_samples(out), 0);
    b->next = hi;
    return TRUE;
}
