// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/engine.h"

#include <string.h>

#include "core/engine/loudness.h"
#include "core/engine/steadied.h"
#include "core/error.h"
#include "core/mute.h"
#include "core/peers.h"
#include "core/text.h"

// One enabled step as it was last run: its plan, what the plan was made for, and its result.
typedef struct Node {
    const LithoOperator *op;
    const LithoImpl *impl;
    LithoGrid in_grid;           // zero for a source
    LithoResolved *known;        // what the plan was made from, or NULL
    gpointer params;             // of the last attempt
    gpointer plan;               // NULL until made
    guint64 in_serial;           // of the last attempt
    guint64 in_source, source;   // of its input and of what it made of that
    int devices;                 // that its last attempt was given
    LithoMeasured *measured;     // likewise, or NULL; a reference
    int dirty;                   // first stage whose caches cannot be trusted; G_MAXINT = all can
    LithoCube *out;              // of the last success, or NULL
    const LithoVolumeDoc *volume;   // that `out` holds; NULL = the result
    LithoReport *planned, *told; // what plan() and the last exec() reported
} Node;

struct LithoEngine {
    LithoDevice device;
    GPtrArray *nodes; // of Node, one per enabled step
    LithoSteadied steadied; // the last input
    gboolean is_steadied;   // inputs come less their steady noise
};

static void drop_plan(Node *node)
{
    if (node->plan)
        node->impl->destroy(node->plan);
    node->plan = NULL;
    g_clear_pointer(&node->known, litho_resolved_unref);
    g_clear_pointer(&node->measured, litho_measured_unref);
    g_clear_pointer(&node->out, litho_cube_unref);
}

static void node_free(gpointer data)
{
    Node *node = data;
    drop_plan(node);
    litho_report_unref(node->planned);
    litho_report_unref(node->told);
    g_free(node->params);
    g_free(node);
}

LithoEngine *litho_engine_new(LithoDevice device)
{
    LithoEngine *engine = g_new0(LithoEngine, 1);
    engine->device = device;
    engine->nodes = g_ptr_array_new_with_free_func(node_free);
    return engine;
}

void litho_engine_free(LithoEngine *engine)
{
    if (!engine)
        return;
    g_ptr_array_unref(engine->nodes);
    litho_steadied_clear(&engine->steadied);
    g_free(engine);
}

LithoDevice litho_engine_device(const LithoEngine *engine)
{
    return engine->device;
}

void litho_engine_expect_steadied(LithoEngine *engine)
{
    engine->is_steadied = TRUE;
}

void litho_engine_share(LithoEngine *engine, int count)
{
    engine->device.count = count;
}

// Node `index` for `op`: the one of the last run when it is the same operator, else a fresh one in
// its place (what lies behind it depends on it and goes too).
static Node *node_at(LithoEngine *engine, guint index, const LithoOperator *op, GError **error)
{
    if (index < engine->nodes->len) {
        Node *node = g_ptr_array_index(engine->nodes, index);
        if (node->op == op)
            return node;
        g_ptr_array_set_size(engine->nodes, index);
    }
    const LithoImpl *impl = litho_device_impl(engine->device, op, error);
    if (!impl)
        return NULL;
    Node *node = g_new0(Node, 1);
    node->op = op;
    node->impl = impl;
    node->params = g_malloc0(op->params.size);
    node->planned = litho_report_new();
    node->told = litho_report_new();
    node->dirty = 1;
    g_ptr_array_add(engine->nodes, node);
    return node;
}

static LithoCube *new_output(LithoEngine *engine, const LithoWalkStep *l, const LithoCube *in,
                             GError **error)
{
    const LithoBackend *backend = engine->device.backend;
    LithoCube *out;
    if (!backend->alloc) {
        out = litho_cube_new_box(&l->out, l->region, error);
    } else {
        LithoBuffer *buffer =
            backend->alloc(engine->device.index, litho_box_count(l->region), error);
        if (!buffer)
            return NULL;
        out = litho_cube_new_device(&l->out, l->region, buffer, error);
        if (!out)
            backend->free(buffer);
    }
    if (out && in && litho_grid_matches(&l->in, &l->out)) {
        litho_cube_inherit(out, in);
    } else if (out && in) {
        g_strlcpy(out->name, in->name, sizeof out->name);
        litho_cube_inherit_notes(out, in); // what steps before this one told holds of its traces
    }
    return out;
}

void litho_engine_forget(LithoEngine *engine)
{
    for (guint k = 0; k < engine->nodes->len; k++) {
        Node *node = g_ptr_array_index(engine->nodes, k);
        node->dirty = MIN(node->dirty, 1);
    }
}

// First stage that must run, given what the node's caches were made from.
static int stage_to_start(const Node *node, const LithoWalkStep *l, const LithoCube *in,
                          int devices)
{
    const LithoGrid *grid = l->has_in ? &l->in : NULL;
    int first = litho_params_first_stage(&node->op->params, node->params, l->step->params);
    if (devices != node->devices)
        first = MIN(first, litho_operator_split(node->op, grid, l->step->params).stage);
    if ((in && in->serial != node->in_serial) || l->measured != node->measured)
        first = MIN(first, 1);
    return MIN(first, node->dirty);
}

// Begins a new `report` that keeps all the operator tells from here on and passes it on to the
// run's report: a pass that leaves this step out repeats it. The caller ends this by giving `outer`
// back to the run.
static LithoReport *listen(LithoReport **report, LithoRun *run)
{
    LithoReport *outer = run->report;
    litho_report_unref(*report);
    *report = litho_report_new();
    litho_report_forward(*report, outer);
    run->report = *report;
    return outer;
}

static void end_listening(LithoReport *report, LithoReport *outer, LithoRun *run)
{
    litho_report_forward(report, NULL);
    run->report = outer;
}

static gboolean make_plan(Node *node, const LithoWalkStep *l, LithoRun *run, GError **error)
{
    double start = litho_now_ms();
    drop_plan(node);
    node->dirty = 1;
    node->in_grid = l->in;
    node->devices = run->devices;
    node->known = l->known ? litho_resolved_ref(l->known) : NULL;
    memcpy(node->params, l->step->params, node->op->params.size);
    LithoReport *outer = listen(&node->planned, run);
    node->plan = node->impl->plan(l->has_in ? &l->in : NULL, node->params, node->known, run, error);
    end_listening(node->planned, outer, run);
    litho_run_time(run, "plan", LITHO_STAGE_PLAN, litho_now_ms() - start, 0, 0);
    return node->plan != NULL;
}

// TRUE when the processes of a pass deal out the inlines of a step: its regions need their
// surroundings only, and the samples come to host memory.
static gboolean is_dealt_out(const LithoWalkStep *l, const LithoCube *out, const LithoRun *run)
{
    gboolean needed;
    litho_step_measured(l->step, &needed);
    return litho_run_ranks(run) > 1 &&
           litho_operator_is_local(l->step->op, l->step->params) && out->samples &&
           (!needed || l->measured);
}

// The part of the region that is this process's.
static LithoBox own_part(LithoBox region, const LithoRun *run)
{
    const gint64 first = region.lo[0], n = litho_box_size(region, 0);
    const int rank = litho_run_rank(run), ranks = litho_run_ranks(run);
    region.lo[0] = first + litho_run_share(n, rank, ranks);
    region.hi[0] = first + litho_run_share(n, rank + 1, ranks);
    return region;
}

static gboolean exec_node(Node *node, LithoPass *pass, const LithoWalkStep *l, LithoRun *run,
                          GError **error)
{
    LithoCube *out = pass->out;
    if (!is_dealt_out(l, out, run))
        return node->impl->exec(node->plan, pass, run, error);
    LithoPeers *peers = run->peers;
    const gint64 n = litho_box_size(out->held, 0), traces = litho_box_size(out->held, 1);
    pass->region = own_part(l->region, run);
    run->peers = NULL;
    const gboolean done = litho_box_size(pass->region, 0) == 0 ||
                          node->impl->exec(node->plan, pass, run, error);
    run->peers = peers;
    litho_run_used_ranks(run, (int)MIN(n, peers->n));
    return done &&
           litho_run_gather_rows(run, out->samples,
                                 traces * litho_box_size(out->held, 2) * sizeof(float), n, error) &&
           litho_run_gather_rows(run, out->live, traces, n, error);
}

// Muted samples of the input stay muted.
static gboolean keep_mute(LithoEngine *engine, const LithoWalkStep *l, const LithoCube *in,
                          LithoCube *out, LithoRun *run, GError **error)
{
    if (!l->step->op->keeps_mute || l->volume || !litho_grid_matches(&l->in, &l->out))
        return TRUE;
    if (out->device)
        return engine->device.backend->keep_mute(in, out, l->region, error);
    if (!litho_cube_host(in, error))
        return FALSE;
    litho_mute_keep(in, out, l->region, litho_run_threads(run));
    return TRUE;
}

// The output of a step whose plan is made. Arrays that plans keep from pass to pass may hold all
// the memory of a device; then they go, the step's plan is made anew, and *first is its first
// stage.
static LithoCube *take_output(LithoEngine *engine, Node *node, const LithoWalkStep *l,
                              const LithoCube *in, LithoRun *run, int *first, GError **error)
{
    g_autoptr(GError) why = NULL;
    LithoCube *out = new_output(engine, l, in, &why);
    if (out || !g_error_matches(why, LITHO_ERROR, LITHO_ERROR_MEMORY)) {
        if (why)
            g_propagate_error(error, g_steal_pointer(&why));
        return out;
    }
    for (guint k = 0; k < engine->nodes->len; k++)
        drop_plan(g_ptr_array_index(engine->nodes, k));
    *first = 1;
    return make_plan(node, l, run, error) ? new_output(engine, l, in, error) : NULL;
}

// Says whether `out` is a part of what the step makes of parts of one input. `same`: the step is
// the one of the last attempt.
static void tell_source(Node *node, const LithoCube *in, LithoCube *out, gboolean same)
{
    const guint64 source = in ? in->source : 0;
    if (!same || source != node->in_source)
        node->source = source != 0 ? out->serial : 0;
    node->in_source = source;
    out->source = node->source;
}

// Runs one step. Returns a new reference, or NULL.
static LithoCube *run_node(LithoEngine *engine, Node *node, const LithoWalkStep *l,
                           const LithoCube *in, LithoRun *run, GError **error)
{
    run->devices = litho_device_sharing(engine->device, node->op, l->has_in ? &l->in : NULL,
                                        l->step->params);
    int first = stage_to_start(node, l, in, run->devices);
    gboolean planned = FALSE;
    gboolean other_grid = node->op->needs_input &&
                          (!litho_grid_equal(&node->in_grid, &l->in) ||
                           litho_grid_spacing(&node->in_grid, 0) != litho_grid_spacing(&l->in, 0) ||
                           litho_grid_spacing(&node->in_grid, 1) != litho_grid_spacing(&l->in, 1));
    if (!node->plan || other_grid || node->known != l->known || first == 0) {
        if (!make_plan(node, l, run, error))
            return NULL;
        first = 1;
        planned = TRUE;
    } else {
        litho_report_repeat(node->planned, run->report);
        if (first == G_MAXINT && node->out && node->volume == l->volume &&
            litho_box_contains(node->out->held, l->region)) {
            litho_report_repeat(node->told, run->report);
            return litho_cube_ref(node->out);
        }
    }

    const gboolean same =
        !planned && node->measured == l->measured && node->volume == l->volume &&
        litho_params_first_stage(&node->op->params, node->params, l->step->params) == G_MAXINT;
    LithoCube *out = take_output(engine, node, l, in, run, &first, error);
    if (!out)
        return NULL;
    tell_source(node, in, out, same);
    memcpy(node->params, l->step->params, node->op->params.size);
    node->in_serial = in ? in->serial : 0;
    node->devices = run->devices;
    litho_measured_unref(node->measured);
    node->measured = l->measured ? litho_measured_ref(l->measured) : NULL;
    node->dirty = first; // until exec() has come back whole
    LithoPass pass = {.params = node->params,
                      .known = node->known,
                      .measured = l->measured,
                      .volume = l->volume,
                      .first_stage = first,
                      .in = in,
                      .region = l->region,
                      .out = out};
    LithoReport *outer = listen(&node->told, run);
    gboolean done = exec_node(node, &pass, l, run, error) &&
                    keep_mute(engine, l, in, out, run, error);
    end_listening(node->told, outer, run);
    if (!done) {
        litho_cube_unref(out);
        return NULL;
    }
    node->dirty = G_MAXINT;
    node->volume = l->volume;
    g_clear_pointer(&node->out, litho_cube_unref);
    node->out = litho_cube_ref(out);
    return out;
}

// TRUE when the last of the steps has planes.
static gboolean has_planes(LithoDevice device, const LithoWalk *walk)
{
    const LithoWalkStep *l = walk->n > 0 ? &walk->step[walk->n - 1] : NULL;
    if (!l || l->volume || !l->has_in)
        return FALSE;
    const LithoImpl *impl = litho_device_impl(device, l->step->op, NULL);
    const int devices = litho_device_sharing(device, l->step->op, &l->in, l->step->params);
    return impl && impl->planes && impl->planes(&l->in, l->step->params, devices);
}

gboolean litho_engine_shows_slices(LithoDevice device, const LithoFlow *flow, const LithoGrid *in)
{
    if (litho_flow_is_local(flow))
        return TRUE;
    g_autoptr(LithoWalk) walk = litho_walk_look(flow, in, NULL);
    return walk && !walk->waits && has_planes(device, walk);
}

// The last step, which takes all of its input, need not give all of its output.
static void want_view(const LithoEngine *engine, LithoWalk *walk, const LithoBox *region,
                      const LithoRun *run)
{
    if (!region || litho_run_ranks(run) > 1 || !has_planes(engine->device, walk))
        return;
    for (guint k = 0; k < run->n_views; k++)
        if (litho_box_equal(run->views[k], *region))
            walk->step[walk->n - 1].region = *region;
}

// The input less its steady noise where the first step asks for it; a new reference.
static LithoCube *take_input(LithoEngine *engine, const LithoWalk *walk, const LithoCube *in,
                             LithoRun *run, GError **error)
{
    const LithoWalkStep *l = walk->n > 0 && walk->step[0].has_in ? &walk->step[0] : NULL;
    if (!l || engine->is_steadied)
        return litho_cube_ref(in);
    const LithoCube *at = litho_steadied_take(&engine->steadied, l->step, in, FALSE, run, error);
    if (at)
        litho_steadied_report(&engine->steadied, l->step->op->key, &l->in, run->report);
    return at ? litho_cube_ref(at) : NULL;
}

LithoCube *litho_engine_run(LithoEngine *engine, const LithoFlow *flow, const LithoCube *in,
                            const LithoBox *region, LithoRun *run, GError **error)
{
    LithoRun none = {0};
    run = run ? run : &none;
    run->device = engine->device.index; // plans made here live on our device
    litho_run_used_devices(run, 1);
    g_autoptr(LithoWalk) walk = litho_walk_resolve(flow, in ? &in->grid : NULL, run, error);
    if (!walk)
        return NULL;
    const LithoBox need = litho_walk_want(walk, region);
    want_view(engine, walk, region, run);
    if (in && walk->n > 0 && !litho_box_contains(in->held, need)) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
                    _("the input holds less of the survey than the operator needs"));
        return NULL;
    }
    if (in && !litho_loudness_check_cube(flow, in, error))
        return NULL;
    LithoCube *at = in ? take_input(engine, walk, in, run, error) : NULL;
    if (in && !at)
        return NULL;
    for (guint k = 0; k < walk->n; k++) {
        const LithoWalkStep *l = &walk->step[k];
        Node *node = node_at(engine, k, l->step->op, error);
        LithoCube *next =
            node ? run_node(engine, node, l, l->has_in ? at : NULL, run, error) : NULL;
        litho_cube_unref(at);
        if (!next)
            return NULL;
        at = next;
    }
    if (engine->nodes->len > walk->n)
        g_ptr_array_set_size(engine->nodes, walk->n);
    return at;
}

static int threads_of(const LithoWalk *walk)
{
    return litho_run_threads(&(LithoRun){.threads = walk->threads});
}

// Bytes of a pass over the region, which a volume instead of the result may take from a larger box.
static guint64 pass_memory(const LithoImpl *impl, const LithoWalkStep *l, int threads)
{
    return impl->memory(l->has_in ? &l->in : NULL, l->step->params, l->known,
                        litho_volume_box(l->volume, &l->out, l->region), threads);
}

// Samples that numbers of the survey ask for beyond what the operator tells by itself: they are
// read, and there is a copy of them.
static guint64 beyond_bytes(const LithoWalkStep *l, gboolean most)
{
    if (!(l->measured || most) || !l->step->op->measured_box || !l->has_in)
        return 0;
    const LithoBox of = litho_volume_box(l->volume, &l->out, l->region);
    const LithoBox own = litho_operator_input_box(l->step->op, &l->in, l->step->params, TRUE, of);
    return 8 * (guint64)(litho_box_count(l->need) - litho_box_count(own));
}

// The copy of the input less its steady noise, on the host, where numbers tell that there is some.
guint64 litho_engine_steadied_bytes(const LithoWalk *walk)
{
    const LithoWalkStep *l = walk->n > 0 && walk->step[0].has_in ? &walk->step[0] : NULL;
    const gboolean stands =
        l &&
        (litho_steady_stands_in(l->measured) ||
         (walk->most && !l->measured && litho_operator_is_steadied(l->step->op, l->step->params)));
    return stands ? 4 * (guint64)litho_box_count(l->need) : 0;
}

guint64 litho_engine_memory(const LithoEngine *engine, const LithoWalk *walk)
{
    const int threads = threads_of(walk);
    guint64 bytes = 0;
    for (guint k = 0; !walk->waits && k < walk->n; k++) {
        const LithoWalkStep *l = &walk->step[k];
        const LithoImpl *impl = litho_device_impl(engine->device, l->step->op, NULL);
        if (impl && impl->memory)
            bytes += pass_memory(impl, l, threads) + beyond_bytes(l, walk->most);
        if (impl && impl->volume_memory && l->volume && l->has_in)
            bytes += impl->volume_memory(&l->in, l->step->params, l->volume, l->region);
    }
    return bytes;
}

guint64 litho_engine_measure_memory(const LithoEngine *engine, const LithoWalk *walk, guint64 part)
{
    guint64 most = 0;
    for (guint k = 0; !walk->waits && k < walk->n; k++) {
        const LithoWalkStep *l = &walk->step[k];
        const LithoImpl *impl = litho_device_impl(engine->device, l->step->op, NULL);
        gboolean needed = FALSE;
        if (!impl || !impl->measure_memory || !l->has_in || litho_step_measured(l->step, &needed) ||
            !needed)
            continue;
        const guint64 own = impl->measure_memory(&l->in, l->step->params, part, threads_of(walk));
        most = MAX(most, own);
    }
    return most;
}

char *litho_engine_less_memory(const LithoEngine *engine, const LithoWalk *walk, guint64 over)
{
    const int threads = threads_of(walk);
    char *clause = NULL;
    for (guint k = 0; !walk->waits && k < walk->n && !clause; k++) {
        const LithoWalkStep *l = &walk->step[k];
        const LithoImpl *impl = litho_device_impl(engine->device, l->step->op, NULL);
        if (!impl || !impl->memory || !impl->less_memory)
            continue;
        const guint64 bytes = pass_memory(impl, l, threads);
        clause = impl->less_memory(l->has_in ? &l->in : NULL, l->step->params, l->known,
                                   bytes > over ? bytes - over : 0, threads);
    }
    return clause;
}
