// SPDX-License-Identifier: GPL-3.0-or-later
//
// One run, on any backend: meshes once, then block after block of frequencies through all wave
// codes, with the traces so far shown after each block.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/peers.h"
#include "core/text.h"
#include "kernels/twsm/report.h"
#include "kernels/twsm/setup.h"

struct TwsmPlan {
    const TwsmEngine *engine;
    gpointer self;
    GDestroyNotify free_self;
    TwsmSetup *setup;     // of the last build, or NULL
    TwsmValue *spectra;   // unit spectrum at the receivers, [source][receiver][k]; NULL = not valid
    TwsmParams made_with; // parameters of the propagation that made the spectra
    TwsmValue *field;   // of a block on a first boundary, `field_values` long; between blocks only
    gsize field_values;
    TwsmHow how; // what the last propagation told
    double propagate_ms;
    TwsmCost strips, gpus; // times of this model with this algorithm, by strip width and GPUs
    TwsmAlgorithm cost_algorithm;
    float cost_tolerance;
    double cost_total;
};

TwsmPlan *twsm_plan_new(const void *params, const TwsmEngine *engine, gpointer self,
                        GDestroyNotify free_self, LithoRun *run, GError **error)
{
    (void)params;
    (void)run;
    (void)error;
    TwsmPlan *plan = g_new0(TwsmPlan, 1);
    plan->engine = engine;
    plan->self = self;
    plan->free_self = free_self;
    return plan;
}

void twsm_plan_free(TwsmPlan *plan)
{
    twsm_setup_free(plan->setup);
    g_free(plan->spectra);
    if (plan->free_self && plan->self)
        plan->free_self(plan->self);
    g_free(plan);
}

// --- progress and cost ------------------------------------------------------------------------

static double leg_work(const TwsmLeg *leg, int n_rhs, int n_frequencies)
{
    return 1e-6 * leg->from->n * (double)leg->to->n * n_rhs * n_frequencies;
}

static double chain_work(const TwsmChain *chain, int n_frequencies)
{
    double sum = 0;
    for (int m = 0; m < chain->n_legs; m++)
        sum += leg_work(&chain->leg[m], chain->n_rhs, n_frequencies);
    return sum;
}

// --- propagation ------------------------------------------------------------------------------

// Room for a field: all blocks share it, since fresh memory costs as much as its values.
static gboolean reserve_field(TwsmPlan *plan, gsize values, GError **error)
{
    if (plan->field_values >= values)
        return TRUE;
    g_clear_pointer(&plan->field, g_free);
    plan->field = g_try_new(TwsmValue, values);
    plan->field_values = plan->field ? values : 0;
    if (!plan->field)
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY,
                    _("there is no memory for a field of %zu values on the first boundary"),
                    values);
    return plan->field != NULL;
}

static void drop_field(TwsmPlan *plan)
{
    g_clear_pointer(&plan->field, g_free);
    plan->field_values = 0;
}

// One code, one block: source field, chain, and its part of the spectra.
static gboolean run_code(TwsmPlan *plan, int c, TwsmBand band, LithoRun *run, GError **error)
{
    const TwsmSetup *s = plan->setup;
    const TwsmChain *chain = &s->chain[c];
    gint64 rows = (gint64)chain->n_rhs * s->receivers->n;
    gint64 elements = (gint64)chain->n_rhs * chain->leg[0].from->n;
    g_autofree TwsmValue *y =
        litho_memory_new(rows * band.n, sizeof *y, "spectra of the receivers", error);
    TwsmStart from = {.shot = &s->shot[c]};
    double start = litho_now_ms();
    if (!y)
        return FALSE;
    if (!plan->engine->takes_shot) {
        if (!reserve_field(plan, elements * band.n, error) ||
            !twsm_source_field(s, c, band, plan->field, run, error))
            return FALSE;
        from = (TwsmStart){.u = plan->field};
        litho_run_time(run, "source", LITHO_STAGE_COMPUTE, litho_now_ms() - start,
                       (double)elements * sizeof *plan->field * band.n, 0);
    }
    start = litho_now_ms();
    if (!plan->engine->run(plan->self, chain, band, &plan->how, from, y, run, error))
        return FALSE;
    plan->propagate_ms += litho_now_ms() - start;
    for (gint64 r = 0; r < rows; r++)
        for (int k = 0; k < band.n; k++)
            plan->spectra[r * s->n_frequencies + band.k0 - 1 + k] += y[r * band.n + k];
    return TRUE;
}

// Traces of what has arrived, as a cube of their own for whoever watches.
static void show_partial(const TwsmPlan *plan, const LithoCube *like, int known, LithoRun *run)
{
    if (!run || !run->on_partial)
        return;
    g_autoptr(LithoCube) part = litho_cube_new(&like->grid, NULL);
    if (!part)
        return;
    if (twsm_traces(plan->setup, plan->spectra, known, part, run, NULL))
        litho_run_partial(run, part);
}

static gboolean stores_strips(TwsmAlgorithm algorithm)
{
    return algorithm == TWSM_ALG1 || algorithm == TWSM_ALG2 || algorithm == TWSM_MOD2;
}

// Times of other widths and numbers of GPUs stay beside the newest while the model is the same.
static void keep_cost(TwsmPlan *plan)
{
    const TwsmHow *how = &plan->how;
    if (plan->cost_algorithm != how->algorithm || plan->cost_total != how->total ||
        plan->cost_tolerance != how->rule.tolerance)
        plan->strips.n = plan->gpus.n = 0;
    plan->cost_algorithm = how->algorithm;
    plan->cost_total = how->total;
    plan->cost_tolerance = how->rule.tolerance;
    if (stores_strips(how->algorithm))
        twsm_cost_add(&plan->strips, how->strip, plan->propagate_ms);
    if (how->cards > 0)
        twsm_cost_add(&plan->gpus, how->cards, plan->propagate_ms);
}

// All blocks of frequencies, or where the engine shares no rows the blocks of this process.
static gboolean run_blocks(TwsmPlan *plan, int block, const LithoCube *out, LithoRun *run,
                           GError **error)
{
    const TwsmSetup *s = plan->setup;
    const int ranks = plan->engine->shares ? 1 : litho_run_ranks(run);
    const int n_blocks = (s->n_frequencies + block - 1) / block;
    for (int b = ranks > 1 ? litho_run_rank(run) : 0; b < n_blocks; b += ranks) {
        const int k0 = 1 + b * block;
        TwsmBand band = {k0, MIN(block, s->n_frequencies + 1 - k0)};
        for (int c = 0; c < s->model->n_codes; c++)
            if (!run_code(plan, c, band, run, error))
                return FALSE;
        if (b + 1 < n_blocks && ranks == 1)
            show_partial(plan, out, k0 + band.n - 1, run);
    }
    litho_run_used_ranks(run, plan->engine->shares ? litho_run_ranks(run) : MIN(ranks, n_blocks));
    const gsize values = (gsize)s->model->n_sources * s->receivers->n * s->n_frequencies;
    return ranks == 1 || litho_run_sum_floats(run, (float *)plan->spectra, 2 * values, error);
}

static gboolean propagate(TwsmPlan *plan, const TwsmParams *p, const LithoCube *out, LithoRun *run,
                          GError **error)
{
    const TwsmSetup *s = plan->setup;
    gsize values = (gsize)s->model->n_sources * s->receivers->n * s->n_frequencies;
    g_clear_pointer(&plan->spectra, g_free);
    plan->spectra =
        litho_memory_new(values, sizeof *plan->spectra, "spectra of the receivers", error);
    if (!plan->spectra)
        return FALSE;
    // Measured on traces: the bound is of a single block, and the errors of blocks average out.
    static const TwsmClusterRule rule[] = {
        {4e-3f, 5}, {5e-4f, TWSM_MAX_NODES}, {1e-6f, TWSM_MAX_NODES}};
    plan->how =
        (TwsmHow){.algorithm = p->algorithm, .strip = p->strip_width, .rule = rule[p->fast_error]};
    plan->propagate_ms = 0;
    for (int c = 0; c < s->model->n_codes; c++)
        plan->how.total += chain_work(&s->chain[c], s->n_frequencies);
    litho_run_begin(run, "propagate", "million beams");
    int block = plan->engine->block(p->algorithm, s->n_frequencies);
    const gboolean ok = run_blocks(plan, block, out, run, error);
    drop_field(plan);
    if (!ok) {
        g_clear_pointer(&plan->spectra, g_free);
        return FALSE;
    }
    plan->made_with = *p;
    litho_run_used_devices(run, plan->how.cards);
    double beams = 1e6 * plan->how.total;
    // A complex multiply-add and a three-term step: 6 fused operations.
    litho_run_time(run, "propagate", LITHO_STAGE_COMPUTE, plan->propagate_ms, 0, 12 * beams);
    keep_cost(plan);
    return TRUE;
}

// --- exec -------------------------------------------------------------------------------------

static void report_cost(const TwsmPlan *plan, int elements, LithoReport *r)
{
    double beams = 1e6 * plan->how.total;
    if (stores_strips(plan->how.algorithm))
        twsm_report_strips(&plan->strips, beams, elements,
                           plan->how.algorithm == TWSM_MOD2 ? 16 : 8, plan->how.strip, r);
    else if (plan->how.cards > 0)
        twsm_report_gpus(&plan->gpus, beams, r);
}

// Values that the model gave where a parameter was left to it, for the rows of the panel.
static void report_used(const TwsmSetup *s, LithoReport *r)
{
    const TwsmModel *m = s->model;
    const struct {
        const char *key;
        double value;
    } used[] = {{"source_x", m->source[0][0]},
                {"source_y", m->source[0][1]},
                {"source_z", m->source[0][2]},
                {"wavelet", m->ricker},
                {"fmax", m->fmax},
                {"frequencies", s->n_frequencies},
                {"record", s->record},
                {"cells_per_wavelength", m->cells},
                {"taper", m->taper}};
    for (guint k = 0; k < G_N_ELEMENTS(used); k++)
        litho_report_used(r, "twsm", used[k].key, used[k].value);
}

static void report(const TwsmPlan *plan, LithoRun *run)
{
    const TwsmSetup *s = plan->setup;
    int elements = 0;
    for (int b = 0; b < TWSM_MAX_LAYERS; b++)
        elements = MAX(elements, s->mesh[b] ? s->mesh[b]->n : 0);
    LithoReport *r = run ? run->report : NULL;
    litho_report_number(r, "elements", "Elements of the largest boundary", "", elements);
    litho_report_number(r, "frequencies", "Frequencies", "", s->n_frequencies);
    litho_report_number(r, "record", "Record computed", "s", s->record);
    litho_report_number(r, "beams", "Pairs times frequencies", "million", plan->how.total);
    litho_report_number(r, "propagate", "Propagation", "ms", plan->propagate_ms);
    litho_report_number(r, "beam_rate", "Rate", "million/s",
                        1000 * plan->how.total / MAX(plan->propagate_ms, 1e-3));
    litho_report_number(r, "strip_memory", "Store of strips", "MB", 1e-6 * plan->how.strip_bytes);
    litho_report_number(r, "strip_width", "Rows of a strip", "", plan->how.strip);
    const double strips_ms = plan->how.refill_ms + plan->how.product_ms;
    if (strips_ms > 0) {
        litho_report_number(r, "refill", "Refill of strips", "%",
                            100 * plan->how.refill_ms / strips_ms);
        litho_report_number(r, "product", "Product with strips", "%",
                            100 * plan->how.product_ms / strips_ms);
    }
    if (plan->how.algorithm == TWSM_FAST)
        litho_report_number(r, "direct_share", "Pairs summed directly", "%",
                            100 * plan->how.direct_share);
    if (plan->how.cards > 0)
        litho_report_number(r, "gpus", "GPUs", "", plan->how.cards);
    report_cost(plan, elements, r);
}

// TRUE when the last pass's spectra serve these parameters: what changed is the wavelet, its delay
// or the sampling, which only the traces know. The same parameters again ask for the whole work.
static gboolean spectra_serve(const TwsmPlan *plan, const TwsmSetup *setup, const TwsmParams *p)
{
    const TwsmParams *last = &plan->made_with;
    return plan->setup && plan->spectra && last->coefficients == p->coefficients &&
           last->near_field == p->near_field && last->mask == p->mask &&
           last->mask_soft == p->mask_soft && last->absorption == p->absorption &&
           last->algorithm == p->algorithm && last->fast_error == p->fast_error &&
           last->strip_width == p->strip_width && twsm_setup_same_waves(plan->setup, setup) &&
           !twsm_setup_same_traces(plan->setup, setup);
}

static gboolean build(TwsmPlan *plan, const TwsmParams *p, LithoResolved *known, LithoRun *run,
                      GError **error)
{
    double start = litho_now_ms();
    litho_run_begin(run, "mesh", "wave codes");
    g_autoptr(TwsmSetup) setup = twsm_setup_open(p, known, error);
    const gboolean ok = setup && twsm_setup_build(setup, p, run, error);
    if (!ok || !spectra_serve(plan, setup, p))
        g_clear_pointer(&plan->spectra, g_free);
    g_clear_pointer(&plan->setup, twsm_setup_free);
    if (!ok)
        return FALSE;
    plan->setup = g_steal_pointer(&setup);
    litho_run_time(run, "mesh", LITHO_STAGE_PLAN, litho_now_ms() - start, 0, 0);
    return TRUE;
}

static gboolean make_traces(TwsmPlan *plan, LithoCube *traces, LithoRun *run, GError **error)
{
    const TwsmEngine *engine = plan->engine;
    const double start = litho_now_ms();
    if (engine->traces)
        return engine->traces(plan->self, plan->setup, plan->spectra, traces, run, error);
    if (!twsm_traces(plan->setup, plan->spectra, plan->setup->n_frequencies, traces, run, error))
        return FALSE;
    litho_run_time(run, "traces", LITHO_STAGE_COMPUTE, litho_now_ms() - start,
                   4.0 * litho_box_count(traces->held), 0);
    return TRUE;
}

gboolean twsm_plan_exec(TwsmPlan *plan, const LithoPass *pass, LithoRun *run, GError **error)
{
    const TwsmParams *p = pass->params;
    LithoCube *traces = pass->out;
    gboolean fresh = !plan->setup || pass->first_stage <= TWSM_STAGE_SOURCE;
    if (fresh && !build(plan, p, pass->known, run, error))
        return FALSE;
    twsm_report_model(plan->setup->model, run ? run->report : NULL);
    report_used(plan->setup, run ? run->report : NULL);
    const gboolean again = !fresh && pass->first_stage <= TWSM_STAGE_PROPAGATE;
    if ((again || !plan->spectra) && !propagate(plan, p, traces, run, error))
        return FALSE;
    if (!make_traces(plan, traces, run, error))
        return FALSE;
    for (guint k = 0; k < plan->setup->notes->len; k++)
        litho_cube_note(traces, "%s", (char *)g_ptr_array_index(plan->setup->notes, k));
    g_strlcpy(traces->name, p->model.text, sizeof traces->name);
    report(plan, run);
    return TRUE;
}
