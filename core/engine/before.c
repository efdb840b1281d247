// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/before.h"

#include "core/engine/engine.h"
#include "core/memory.h"

struct LithoBefore {
    guint steps;
    LithoCube *whole;
    float loudest;
};

static gboolean works_in_blocks(const LithoWalkStep *l)
{
    const LithoOperator *op = l->step->op;
    return op->across && op->slab && l->has_in && litho_grid_equal(&l->in, &l->out) &&
           op->across(&l->in, l->step->params) > 0;
}

guint64 litho_before_bytes(const LithoWalk *walk)
{
    guint64 last = 0, two = 0, most = 0; // bytes of the last result, and with the one before it
    for (guint k = 0; !walk->waits && k < walk->n; k++) {
        const LithoWalkStep *l = &walk->step[k];
        gboolean needed = FALSE;
        if (!litho_step_measured(l->step, &needed) && needed)
            most = two;
        if (works_in_blocks(l)) {
            const guint64 own = 4 * (guint64)litho_grid_samples(&l->out);
            two = MAX(two, last + own);
            last = own;
        }
    }
    return most;
}

void litho_before_free(LithoBefore *before)
{
    if (!before)
        return;
    litho_cube_unref(before->whole);
    g_free(before);
}

LithoFlow *litho_before_part(const LithoFlow *flow, guint first, guint end)
{
    LithoFlow *steps = litho_flow_copy(flow);
    litho_flow_set_volume(steps, NULL, NULL); // steps pass their results on
    for (guint k = litho_flow_length(steps); k-- > 0;)
        if (k < first || k >= end || !litho_flow_step(steps, k)->enabled)
            litho_flow_remove(steps, k);
    return steps;
}

guint litho_before_steps(const LithoBefore *before)
{
    return before->steps;
}

const LithoGrid *litho_before_grid(const LithoBefore *before)
{
    return &before->whole->grid;
}

float litho_before_loudest(const LithoBefore *before)
{
    return before->loudest;
}

LithoCube *litho_before_read(const LithoBefore *before, LithoBox box, GError **error)
{
    box.lo[2] = 0;
    box.hi[2] = before->whole->grid.axis[2].n;
    LithoCube *part = litho_cube_copy_box(before->whole, box, error);
    if (!part)
        return NULL;
    part->source = before->whole->serial;
    part->loudest = G_MAXFLOAT; // the input was judged; between steps nobody judges
    return part;
}

// --- computing --------------------------------------------------------------------------------

// Blocks of a result, row by row.
typedef struct Blocks {
    LithoGrid grid;
    gint64 size[2], n[2];
} Blocks;

static Blocks blocks_of(const LithoWalk *walk)
{
    const LithoWalkStep *l = &walk->step[walk->n - 1];
    const LithoOperator *op = l->step->op;
    Blocks b = {
        .grid = walk->out,
        .size = {MAX(op->slab(&l->in, l->step->params), 1), op->across(&l->in, l->step->params)}};
    for (int a = 0; a < 2; a++)
        b.n[a] = (walk->out.axis[a].n + b.size[a] - 1) / b.size[a];
    return b;
}

// Indices of the flow from `first` on up to the next step before `end` that works in blocks; 0 =
// none does.
static guint steps_to_blocks(const LithoBeforeOf *of, guint first, guint end, const LithoGrid *in,
                             LithoRun *run, Blocks *blocks, GError **error)
{
    for (guint n = first + 1; n <= end; n++) {
        if (!litho_flow_step(of->flow, n - 1)->enabled)
            continue;
        g_autoptr(LithoFlow) steps = litho_before_part(of->flow, first, n);
        g_autoptr(LithoWalk) walk = litho_walk_resolve(steps, in, run, error);
        if (!walk)
            return 0;
        if (!works_in_blocks(&walk->step[walk->n - 1]))
            continue;
        *blocks = blocks_of(walk);
        return n;
    }
    return 0;
}

static LithoBox block_at(const Blocks *b, gint64 k)
{
    const gint64 place[2] = {k / b->n[1], k % b->n[1]};
    LithoBox box = litho_box_full(&b->grid);
    for (int a = 0; a < 2; a++) {
        box.lo[a] = place[a] * b->size[a];
        box.hi[a] = MIN(box.lo[a] + b->size[a], b->grid.axis[a].n);
    }
    return box;
}

// Result in the making.
typedef struct Making {
    const LithoBeforeOf *of;
    const LithoBefore *from; // NULL = the survey
    LithoFlow *steps;
    LithoEngine *engine;
    LithoBefore *to;
    guint64 source; // of all inputs
} Making;

static LithoCube *read_input(Making *m, LithoBox box, LithoRun *run, GError **error)
{
    const LithoGrid *grid = m->from ? &m->from->whole->grid : litho_survey_grid(m->of->survey);
    LithoBox need;
    if (!litho_walk_input_box(m->steps, grid, box, run, &need, error))
        return NULL;
    if (m->from)
        return litho_before_read(m->from, need, error);
    need.lo[2] = 0; // files are read in whole traces
    need.hi[2] = grid->axis[2].n;
    LithoCube *in = litho_survey_read(m->of->survey, &need, run, error);
    if (!in)
        return NULL;
    in->source = m->source = m->source ? m->source : in->serial;
    m->to->loudest = MAX(m->to->loudest, in->loudest);
    return in;
}

static gboolean make_block(Making *m, LithoBox box, LithoRun *run, GError **error)
{
    LithoRun own = *run;
    own.on_progress = NULL; // of blocks
    own.peers = NULL;
    g_autoptr(LithoCube) in = read_input(m, box, &own, error);
    g_autoptr(LithoCube) out =
        in ? litho_engine_run(m->engine, m->steps, in, &box, &own, error) : NULL;
    if (!out || !litho_cube_host(out, error))
        return FALSE;
    litho_cube_tell_notes(out, in, m->of->notes);
    litho_cube_paste(m->to->whole, out);
    return TRUE;
}

// A block from process `owner` to all others: the first one hands it on.
static gboolean share_block(Making *m, LithoBox box, int owner, LithoRun *run, GError **error)
{
    LithoPeers *p = m->of->peers;
    const gsize bytes = litho_box_count(box) * sizeof(float);
    const gsize traces = litho_box_size(box, 0) * litho_box_size(box, 1);
    g_autoptr(LithoCube) block = litho_cube_new_box(&m->to->whole->grid, box, error);
    if (!block)
        return FALSE;
    if (p->rank == owner)
        litho_cube_paste(block, m->to->whole);
    if (p->rank == owner && owner > 0 &&
        !(litho_peers_send(p, block->samples, bytes, 0, run, error) &&
          litho_peers_send(p, block->live, traces, 0, run, error)))
        return FALSE;
    if (p->rank == 0 && owner > 0 &&
        !(litho_peers_receive(p, block->samples, bytes, owner, run, error) &&
          litho_peers_receive(p, block->live, traces, owner, run, error)))
        return FALSE;
    if (!litho_peers_spread(p, block->samples, bytes, run, error) ||
        !litho_peers_spread(p, block->live, traces, run, error))
        return FALSE;
    if (p->rank != owner)
        litho_cube_paste(m->to->whole, block);
    return TRUE;
}

// Rounds in which every process computes a block; FALSE told to the others, too.
static gboolean make_blocks(Making *m, const Blocks *b, LithoRun *run, GError **error)
{
    LithoPeers *p = m->of->peers;
    const int rank = p ? p->rank : 0, ranks = p ? p->n : 1;
    const gint64 n = b->n[0] * b->n[1];
    GError *problem = NULL;
    gboolean ok = TRUE;
    litho_run_begin(run, "steps before", "blocks");
    for (gint64 k = 0; ok && k < n; k += ranks) {
        ok = litho_run_step(run, k, n, &problem) &&
             (k + rank >= n || make_block(m, block_at(b, k + rank), run, &problem));
        if (!ok && rank > 0)
            litho_peers_fail(p, problem);
        for (int owner = 0; ok && ranks > 1 && owner < ranks && k + owner < n; owner++)
            ok = share_block(m, block_at(b, k + owner), owner, run, &problem);
    }
    if (problem)
        g_propagate_error(error, problem);
    return ok;
}

// Goes on to index `steps` of the flow.
static gboolean extend_to(LithoBefore **before, const LithoBeforeOf *of, guint steps,
                          const Blocks *blocks, LithoRun *run, GError **error)
{
    const LithoBefore *from = *before;
    Making m = {.of = of,
                .from = from,
                .steps = litho_before_part(of->flow, from ? from->steps : 0, steps),
                .engine = litho_engine_new(of->device),
                .to = g_new0(LithoBefore, 1)};
    if (from)
        litho_engine_expect_steadied(m.engine);
    *m.to = (LithoBefore){.steps = steps,
                          .loudest = from ? from->loudest : 0,
                          .whole = litho_cube_new(&blocks->grid, error)};
    const gboolean ok = m.to->whole && make_blocks(&m, blocks, run, error);
    litho_engine_free(m.engine);
    litho_flow_free(m.steps);
    litho_memory_return();
    litho_before_free(ok ? *before : m.to);
    if (ok)
        *before = m.to;
    return ok;
}

gboolean litho_before_extend(LithoBefore **before, const LithoBeforeOf *of, guint step,
                             LithoRun *run, GError **error)
{
    LithoRun none = {0};
    run = run ? run : &none;
    for (;;) {
        const guint first = *before ? (*before)->steps : 0;
        const LithoGrid *in = *before ? &(*before)->whole->grid : litho_survey_grid(of->survey);
        GError *problem = NULL;
        Blocks blocks;
        const guint steps = steps_to_blocks(of, first, step, in, run, &blocks, &problem);
        if (problem)
            g_propagate_error(error, problem);
        if (steps == 0)
            return !problem;
        if (!extend_to(before, of, steps, &blocks, run, error))
            return FALSE;
    }
}
