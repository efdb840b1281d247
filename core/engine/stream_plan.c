// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/stream_plan.h"

#include "core/engine/before.h"
#include "core/engine/engine.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/qc_steady.h"
#include "core/text.h"

// A device's engine is shared by threads, lanes, one of which computes at a time. Beside it the CPU
// has one that reads; a GPU has one that reads and uploads and one that downloads.
enum { CPU_LANES = 2, GPU_LANES = 3 };

// Slabs of surveys far larger than that, in bytes of output, hold this much, and a few halos.
enum { SLAB_BYTES = 1 << 30, SLAB_HALOS = 4 };

static int device_count(const LithoStreamOptions *options)
{
    return options->device.backend ? MAX(options->device.count, 1) : 1;
}

LithoDevice litho_stream_device(const LithoStreamOptions *options, const LithoStreamPlan *plan,
                                guint k)
{
    if (!options->device.backend)
        return litho_device_cpu();
    return (LithoDevice){.backend = options->device.backend,
                         .index = options->device.index + (int)k,
                         .count = plan->sharing};
}

static gboolean on_cpu(const LithoStreamOptions *options)
{
    return !options->device.backend || options->device.backend == litho_backend_cpu();
}

// Chooses who computes: slabs are dealt out, or all devices share the only one.
static void deal_out(const LithoFlow *flow, const LithoWalk *walk,
                     const LithoStreamOptions *options, LithoStreamPlan *plan)
{
    plan->engines = litho_flow_is_local(flow) ? (guint)device_count(options) : 1;
    plan->sharing = 1;
    plan->splits = litho_flow_is_local(flow);
    plan->alone = !litho_flow_is_shared(flow);
    for (guint k = 0; options->device.backend && plan->engines == 1 && k < walk->n; k++) {
        const LithoWalkStep *l = &walk->step[k];
        const LithoGrid *in = l->has_in ? &l->in : NULL;
        const int n = litho_device_sharing(options->device, l->step->op, in, l->step->params);
        if (n > plan->sharing) {
            plan->sharing = n;
            plan->shared = litho_operator_split(l->step->op, in, l->step->params).unit;
        }
    }
}

static int rank_count(const LithoStreamOptions *options)
{
    return options->peers ? options->peers->n : 1;
}

static LithoBox inlines_of(const LithoGrid *out, gint64 lo, gint64 hi)
{
    LithoBox box = litho_box_full(out);
    box.lo[0] = lo;
    box.hi[0] = MIN(hi, out->axis[0].n);
    return box;
}

LithoBox litho_stream_row_box(const LithoStreamPlan *plan, gint64 slab)
{
    const gint64 lo = plan->first + slab / plan->columns * plan->slab;
    return inlines_of(&plan->out, lo, lo + plan->slab);
}

LithoBox litho_stream_slab_box(const LithoStreamPlan *plan, gint64 slab)
{
    LithoBox box = litho_stream_row_box(plan, slab);
    box.lo[1] = slab % plan->columns * plan->across;
    box.hi[1] = MIN(box.lo[1] + plan->across, plan->out.axis[1].n);
    return box;
}

gint64 litho_stream_all_slabs(const LithoStreamPlan *plan)
{
    return (plan->out.axis[0].n + plan->slab - 1) / plan->slab * plan->columns;
}

gint64 litho_stream_slabs_before(const LithoStreamPlan *plan, gint64 slab)
{
    return plan->first / plan->slab * plan->columns + slab;
}

// A slab of n inlines in the middle of the survey, where such slabs lie.
static LithoBox middle_slab(const LithoStreamPlan *plan, gint64 n, gint64 multiple)
{
    const gint64 lo = MAX(plan->out.axis[0].n - n, 0) / 2 / multiple * multiple;
    LithoBox box = inlines_of(&plan->out, lo, lo + n);
    box.lo[1] = (plan->out.axis[1].n - plan->across) / 2 / plan->across * plan->across;
    box.hi[1] = box.lo[1] + plan->across;
    return box;
}

// Bytes a slab of `n` inlines in the middle of the survey takes in all threads: input with halo and
// output, and as much again for the operator's own use unless it tells.
static void slab_bytes(LithoWalk *walk, const LithoGrid *in, const LithoStreamOptions *options,
                       LithoStreamPlan *plan, gint64 n, gint64 multiple)
{
    const LithoBox region = middle_slab(plan, n, multiple);
    const LithoBox need = litho_walk_want(walk, &region);
    guint64 input = in ? litho_box_count(need) * 4 : 0, output = litho_box_count(region) * 4;
    LithoEngine *engine = litho_engine_new(litho_stream_device(options, plan, 0));
    guint64 operators = litho_engine_memory(engine, walk);
    gboolean cpu = on_cpu(options);
    const gint64 slabs = (plan->out.axis[0].n + n - 1) / n * plan->columns;
    plan->halo = in ? litho_box_size(need, 0) - litho_box_size(region, 0) : 0;
    plan->halo_across = in ? litho_box_size(need, 1) - litho_box_size(region, 1) : 0;
    // `operators` counts one input and one output already; the lanes beside the one that computes
    // have an input on its way there or an output on its way back.
    plan->device_bytes = cpu || operators == 0 ? 0 : operators;
    if (plan->device_bytes > 0 && slabs > 1)
        plan->device_bytes += (plan->lanes - 1) * MAX(input, output);
    const gint64 lanes = (gint64)plan->engines * plan->lanes;
    plan->host_bytes = slabs > 1 ? MIN(lanes, slabs) * (input + output) : input + output;
    // A GPU's lanes have a result each on its way into the file while they compute the next; the
    // CPU's engine has the last one while it makes the next and a third slab is read.
    if (slabs > (cpu ? 2 : 1))
        plan->host_bytes += cpu ? output : MIN(lanes, slabs) * output;
    // The slab read last stays for what the next one shares with it: beside two lanes on the CPU it
    // is the one of the lane that computes.
    if (plan->halo > 0 && slabs > 1 && plan->columns == 1 && (!cpu || lanes == 1))
        plan->host_bytes += input;
    plan->host_bytes += MIN(plan->engines, slabs) * litho_engine_steadied_bytes(walk);
    if (plan->columns > 1) // a row of slabs waits for its last one
        plan->host_bytes += 4 * (guint64)n * plan->out.axis[1].n * plan->out.axis[2].n;
    if (cpu)
        plan->host_bytes +=
            operators > input + output ? operators - input - output : input + output;
    const guint64 measuring =
        slabs > 1 ? litho_engine_measure_memory(engine, walk, plan->host_bytes / 2) : 0;
    plan->host_bytes = MAX(plan->host_bytes, measuring);
    litho_engine_free(engine);
}

gint64 litho_stream_slab_multiple(const LithoWalk *walk)
{
    gint64 multiple = 1;
    for (guint k = 0; k < walk->n; k++) {
        const LithoWalkStep *l = &walk->step[k];
        if (l->step->op->slab && l->has_in)
            multiple = MAX(multiple, l->step->op->slab(&l->in, l->step->params));
    }
    return multiple;
}

// TRUE when no step computes much twice where `whole` is cut into n pieces like `piece`: less than
// twice as much in all. A step behind one that works in blocks would need the blocks all around.
static gboolean cuts_well(LithoWalk *walk, LithoBox whole, LithoBox piece, gint64 n)
{
    g_autofree gint64 *once = g_new0(gint64, walk->n);
    litho_walk_want(walk, &whole);
    for (guint k = 0; k < walk->n; k++)
        once[k] = litho_box_count(walk->step[k].need);
    litho_walk_want(walk, &piece);
    for (guint k = 0; k < walk->n; k++)
        if (n * litho_box_count(walk->step[k].need) >= 2 * once[k])
            return FALSE;
    return TRUE;
}

// Crosslines of a block of the flow's steps, 0 where none works in blocks.
static gint64 block_across(const LithoFlow *flow, const LithoWalk *walk)
{
    gint64 across = 0;
    for (guint k = 0; litho_flow_is_local(flow) && k < walk->n; k++) {
        const LithoWalkStep *l = &walk->step[k];
        const LithoOperator *op = l->step->op;
        if (op->across && l->has_in)
            across = MAX(across, op->across(&l->in, l->step->params));
    }
    return across;
}

// Cuts the output into single blocks where a step works in them: into rows of `inlines`, and these
// along the crosslines. Such slabs depend on nothing but the flow and the grid, so that any run can
// go on from those of another. FALSE: rows may have any height.
static gboolean cut_blocks(const LithoFlow *flow, LithoWalk *walk, gint64 inlines,
                           LithoStreamPlan *plan)
{
    const LithoBox all = litho_box_full(&plan->out);
    const gint64 across = block_across(flow, walk), crosslines = all.hi[1];
    plan->across = crosslines;
    plan->columns = 1;
    if (across == 0)
        return FALSE;
    const LithoBox row = middle_slab(plan, inlines, inlines);
    const gint64 rows = (all.hi[0] + inlines - 1) / inlines;
    plan->across = MIN(across, crosslines);
    plan->columns = (crosslines + plan->across - 1) / plan->across;
    if (plan->columns > 1 &&
        cuts_well(walk, row, middle_slab(plan, inlines, inlines), plan->columns))
        return TRUE;
    plan->across = crosslines;
    plan->columns = 1;
    return rows > 1 && cuts_well(walk, all, row, rows);
}

// --- steps behind blocks ------------------------------------------------------------------------

// Steps behind the last one that works in blocks, where processes would compute the blocks around
// theirs for them: the blocks of others stay with the others. 0: none, or alone, where slabs share
// what was computed. GPUs compute beside each other without a place for one more engine.
static guint steps_behind(const LithoFlow *flow, const LithoWalk *walk,
                          const LithoStreamOptions *options)
{
    for (guint k = walk->n; k-- > 0;) {
        const LithoWalkStep *l = &walk->step[k];
        const LithoOperator *op = l->step->op;
        if (op->across && l->has_in && op->across(&l->in, l->step->params) > 0)
            return rank_count(options) > 1 && on_cpu(options) && litho_flow_is_local(flow) &&
                           litho_grid_equal(&l->out, &walk->out)
                       ? walk->n - 1 - k
                       : 0;
    }
    return 0;
}

// The walk's last `n` steps.
static LithoWalk last_steps(const LithoWalk *walk, guint n)
{
    LithoWalk last = *walk;
    last.step += walk->n - n;
    last.n = n;
    last.in = last.step[0].in;
    return last;
}

// Bytes beside the slabs for steps behind them: the rows that wait, old and new, and a result.
static guint64 behind_bytes(LithoWalk *walk, const LithoStreamOptions *options,
                            const LithoStreamPlan *plan, gint64 inlines)
{
    if (plan->behind == 0)
        return 0;
    LithoWalk last = last_steps(walk, plan->behind);
    const gint64 lo = MAX(plan->out.axis[0].n - inlines, 0) / 2;
    const LithoBox region = inlines_of(&plan->out, lo, lo + inlines);
    const guint64 input = 4 * litho_box_count(litho_walk_want(&last, &region));
    const guint64 output = 4 * litho_box_count(region);
    LithoEngine *engine = litho_engine_new(litho_stream_device(options, plan, 0));
    const guint64 operators = litho_engine_memory(engine, &last);
    litho_engine_free(engine);
    return input + MAX(operators, input + output);
}

// The first inline of the row of slabs that the steps behind need for inline `begin`.
static gint64 first_row(LithoWalk *walk, const LithoStreamPlan *plan, gint64 multiple)
{
    const gint64 all = plan->out.axis[0].n;
    if (plan->behind == 0 || plan->begin >= all)
        return plan->begin;
    LithoWalk last = last_steps(walk, plan->behind);
    const LithoBox one = inlines_of(&plan->out, plan->begin, plan->begin + 1);
    return litho_walk_want(&last, &one).lo[0] / multiple * multiple;
}

guint64 litho_stream_device_memory(const LithoStreamOptions *options)
{
    guint64 unused, total;
    return !on_cpu(options) && litho_device_memory(options->device, &unused, &total, NULL)
               ? unused
               : G_MAXUINT64;
}

// The smallest memory of the first n devices: all devices that share a slab are needed at once.
static guint64 least_memory(const LithoStreamOptions *options, int n)
{
    guint64 least = G_MAXUINT64;
    for (int k = 0; k < n; k++) {
        LithoStreamOptions one = *options;
        one.device.index += k;
        const guint64 own = litho_stream_device_memory(&one);
        least = MIN(least, own);
    }
    return least;
}

// Says why a plan does not fit into `budget`, of the host or of a device, and the change that helps
// where a step knows one.
static void too_large(LithoWalk *walk, const LithoStreamOptions *options,
                      const LithoStreamPlan *plan, gboolean host, guint64 budget, GError **error)
{
    const LithoBox first = litho_stream_slab_box(plan, 0);
    const guint64 bytes = host ? plan->host_bytes : plan->device_bytes;
    g_autofree char *change = NULL;
    LithoEngine *engine = litho_engine_new(litho_stream_device(options, plan, 0));
    litho_walk_want(walk, &first);
    if (host == on_cpu(options))
        change = litho_engine_less_memory(engine, walk, bytes - budget);
    litho_engine_free(engine);
    litho_refuse(
        error, LITHO_ERROR_MEMORY,
        host ? _("the smallest piece this flow can work on needs %.3f GiB of host memory; "
                 "%.3f GiB may be used%s%s")
             : _("the smallest piece this flow can work on needs %.3f GiB of memory of the "
                 "GPU; %.3f GiB may be used%s%s"),
        bytes / 1073741824.0, budget / 1073741824.0, change ? ": " : "", change ? change : "");
}

// Inlines beyond which a slab only takes memory and delays the first write: its halo and the
// windows cut at its ends are a small share by then.
static gint64 most_inlines(LithoWalk *walk, const LithoGrid *in, const LithoGrid *out)
{
    const gint64 middle = out->axis[0].n / 2;
    const LithoBox one = inlines_of(out, middle, middle + 1);
    const gint64 halo = in ? litho_box_size(litho_walk_want(walk, &one), 0) - 1 : 0;
    return MAX(SLAB_BYTES / (4 * litho_box_count(one)), MAX(SLAB_HALOS * halo, 1));
}

// Where the memory that slabs leave holds what steps before a measured one give, it is kept, and no
// step is left behind the slabs: the run goes on from there. GPUs compute as slabs do.
static void keep_before(const LithoFlow *flow, LithoWalk *walk, const LithoGrid *in,
                        const LithoStreamOptions *options, guint64 budget, LithoStreamPlan *plan)
{
    const guint64 bytes =
        in && on_cpu(options) && litho_flow_is_local(flow) && plan->begin == 0 && plan->n_slabs > 1
            ? litho_before_bytes(walk)
            : 0;
    if (bytes == 0)
        return;
    LithoWalk most = *walk; // slabs of the steps before cannot become smaller than a block
    LithoStreamPlan largest = *plan;
    most.most = TRUE;
    slab_bytes(&most, in, options, &largest, plan->slab, litho_stream_slab_multiple(walk));
    if (MAX(largest.host_bytes, plan->host_bytes) + bytes > budget)
        return;
    plan->kept_bytes = bytes;
    plan->host_bytes += bytes;
    plan->behind = 0;
}

gboolean litho_stream_make_plan(const LithoFlow *flow, LithoWalk *walk, const LithoGrid *in,
                                const LithoStreamOptions *options, gint64 first,
                                LithoStreamPlan *plan, GError **error)
{
    *plan = (LithoStreamPlan){.out = walk->out, .begin = first};
    deal_out(flow, walk, options, plan);
    walk->measured = TRUE; // in a pass before, where there are several slabs
    walk->threads = options->threads;
    LithoWalk slabs = *walk; // the steps that slabs are of
    gboolean cut = cut_blocks(flow, &slabs, litho_stream_slab_multiple(&slabs), plan);
    const guint behind = cut ? 0 : steps_behind(flow, walk, options);
    if (behind > 0) {
        slabs.n -= behind;
        cut = cut_blocks(flow, &slabs, litho_stream_slab_multiple(&slabs), plan);
        plan->behind = cut ? behind : 0;
        slabs.n = walk->n - plan->behind;
    }
    guint64 budget = options->memory ? options->memory : litho_memory_available() / 2;
    gint64 all = plan->out.axis[0].n, multiple = litho_stream_slab_multiple(&slabs), n = all;
    // More slabs than devices keep everybody busy, and reading and writing beside computing; a
    // small cube is done sooner in one piece.
    gint64 shares = 4 * (gint64)plan->engines * rank_count(options);
    gboolean large = litho_grid_samples(&plan->out) > 8 << 20;
    if (cut)
        n = MIN(n, multiple);
    if (litho_flow_is_local(flow) && (large || shares > 4))
        n = MIN(n, (all + shares - 1) / shares);
    if (litho_flow_is_local(flow))
        n = MIN(n, most_inlines(&slabs, in, &plan->out));
    const guint64 device_budget = options->device_memory ? options->device_memory
                                                         : least_memory(options, plan->sharing);
    plan->lanes = on_cpu(options) ? CPU_LANES : GPU_LANES;
    for (;; n = (n + 1) / 2) {
        if (n < all)
            n = MIN(MAX((n + multiple - 1) / multiple, 1) * multiple, all);
        slab_bytes(&slabs, in, options, plan, n, multiple);
        plan->host_bytes += behind_bytes(walk, options, plan, n);
        if (plan->host_bytes <= budget && plan->device_bytes <= device_budget)
            break;
        if (n > multiple && litho_flow_is_local(flow))
            continue;
        plan->lanes = 1; // the last thing to give up is that copies run beside the computing
        slab_bytes(&slabs, in, options, plan, n, multiple);
        plan->host_bytes += behind_bytes(walk, options, plan, n);
        break;
    }
    plan->slab = n;
    plan->first = first_row(walk, plan, n);
    plan->n_slabs = (all - plan->first + n - 1) / n * plan->columns;
    keep_before(flow, walk, in, options, budget, plan);
    if (plan->host_bytes > budget)
        too_large(&slabs, options, plan, TRUE, budget, error);
    else if (plan->device_bytes > device_budget)
        too_large(&slabs, options, plan, FALSE, device_budget, error);
    return plan->host_bytes <= budget && plan->device_bytes <= device_budget;
}

// A copy of a flow that does not fit, with its walk and plan: all its steps work on regions,
// by settings of their own. NULL: no setting helps.
static LithoFlow *divide_flow(const LithoFlow *flow, const LithoWalk *walk, const LithoGrid *in,
                              const LithoStreamOptions *options, LithoRun *run, LithoWalk **parts,
                              LithoStreamPlan *plan)
{
    gboolean can = TRUE;
    for (int attempt = 0; can; attempt++) {
        g_autoptr(LithoFlow) copy = litho_flow_copy(flow);
        can = FALSE;
        for (guint k = 0, at = 0; k < litho_flow_length(copy); k++) {
            LithoStep *step = litho_flow_step(copy, k);
            if (!step->enabled)
                continue;
            const LithoGrid *grid = walk->step[at].has_in ? &walk->step[at].in : NULL;
            if (!litho_operator_is_local(step->op, step->params) && step->op->divide)
                can |= step->op->divide(grid, step->params, attempt);
            at++;
        }
        if (!can || !litho_flow_is_local(copy))
            continue;
        *parts = litho_walk_resolve(copy, in, run, NULL);
        if (*parts && litho_stream_make_plan(copy, *parts, in, options, 0, plan, NULL))
            return g_steal_pointer(&copy);
        g_clear_pointer(parts, litho_walk_free);
    }
    return NULL;
}

// The plan of `flow`, or where it does not fit of `*divided`, which is the caller's like its walk.
gboolean litho_stream_plan_flow(const LithoFlow *flow, LithoWalk **walk, const LithoGrid *in,
                          const LithoStreamOptions *options, LithoRun *run, LithoFlow **divided,
                          LithoStreamPlan *plan, GError **error)
{
    g_autoptr(GError) problem = NULL;
    LithoWalk *parts = NULL;
    *divided = NULL;
    if (litho_stream_make_plan(flow, *walk, in, options, 0, plan, &problem))
        return TRUE;
    if (g_error_matches(problem, LITHO_ERROR, LITHO_ERROR_MEMORY))
        *divided = divide_flow(flow, *walk, in, options, run, &parts, plan);
    if (!*divided) {
        g_propagate_error(error, g_steal_pointer(&problem));
        return FALSE;
    }
    litho_walk_free(*walk);
    *walk = parts;
    return TRUE;
}

gboolean litho_stream_plan_at_most(const LithoFlow *flow, LithoSurvey *survey,
                                   const LithoStreamOptions *options, LithoRun *run,
                                   LithoStreamPlan *plan, GError **error)
{
    const LithoGrid *in = survey ? litho_survey_grid(survey) : NULL;
    g_autoptr(LithoWalk) walk = litho_walk_resolve(flow, in, run, error);
    g_autoptr(LithoFlow) divided = NULL;
    if (!walk || !litho_stream_plan_flow(flow, &walk, in, options, run, &divided, plan, error))
        return FALSE;
    walk->most = TRUE;
    return plan->n_slabs <= 1 ||
           litho_stream_make_plan(divided ? divided : flow, walk, in, options, 0, plan, error);
}

gboolean litho_stream_plan(const LithoFlow *flow, LithoSurvey *survey,
                           const LithoStreamOptions *options, LithoRun *run, LithoStreamPlan *plan,
                           GError **error)
{
    const LithoGrid *in = survey ? litho_survey_grid(survey) : NULL;
    g_autoptr(LithoWalk) walk = litho_walk_resolve(flow, in, run, error);
    g_autoptr(LithoFlow) divided = NULL;
    return walk && litho_stream_plan_flow(flow, &walk, in, options, run, &divided, plan, error);
}

char *litho_stream_kept_text(const LithoStreamPlan *plan)
{
    if (plan->columns > 1 && plan->behind == 0 && plan->begin + plan->kept > 0)
        return g_strdup_printf(_("%" PRId64 " of %" PRId64
                                 " slabs were kept by an interrupted run; the others are computed"),
                               litho_stream_slabs_before(plan, plan->kept),
                               litho_stream_all_slabs(plan));
    if (plan->begin > 0)
        return g_strdup_printf(
            _("%" PRId64 " of %" PRId64
              " inlines were kept by an interrupted run; the others are computed"),
            plan->begin, plan->out.axis[0].n);
    return NULL;
}

char *litho_stream_keeps_text(const LithoStreamPlan *plan, gint64 pieces, const char *problem)
{
    if (plan->columns > 1 && plan->behind == 0)
        return g_strdup_printf(_("%s; %" PRId64 " of %" PRId64
                                 " slabs are kept: the same command goes on with the rest, "
                                 "--restart begins anew"),
                               problem, litho_stream_slabs_before(plan, pieces),
                               litho_stream_all_slabs(plan));
    return g_strdup_printf(_("%s; %" PRId64 " of %" PRId64
                             " inlines are kept: the same command goes on with the rest, "
                             "--restart begins anew"),
                           problem, plan->begin, plan->out.axis[0].n);
}

gboolean litho_stream_plan_by_numbers(const LithoFlow *own, const LithoGrid *in,
                                      const LithoStreamOptions *options, LithoStreamPlan *plan,
                                      LithoRun *run, GError **error)
{
    gboolean grows = FALSE, can = FALSE;
    for (guint k = 0; k < litho_flow_length(own); k++)
        can |= litho_flow_step(own, k)->enabled && litho_flow_step(own, k)->measured &&
               (litho_flow_step(own, k)->op->measured_box ||
                litho_steady_stands_in(litho_flow_step(own, k)->measured));
    if (!can || plan->n_slabs <= 1 || plan->kept > 0)
        return TRUE;
    g_autoptr(LithoWalk) walk = litho_walk_resolve(own, in, run, error);
    for (guint k = 0; walk && k < walk->n; k++) {
        const LithoWalkStep *l = &walk->step[k];
        const LithoBox one = {{0}, {1, 1, 1}};
        grows |= k == 0 && litho_steady_stands_in(l->measured);
        grows |= l->measured && l->has_in && l->step->op->measured_box &&
                 !litho_box_equal(
                     l->step->op->measured_box(&l->in, l->step->params, l->measured, one), one);
    }
    return walk &&
           (!grows || litho_stream_make_plan(own, walk, in, options, plan->begin, plan, error));
}
