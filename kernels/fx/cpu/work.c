// SPDX-License-Identifier: GPL-3.0-or-later
//
// The cache that a plan keeps between passes. Nothing here changes a result: a work only remembers
// spectra and filtered windows, which depend on the cube and the parameters alone.
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "kernels/common/gaps.h"
#include "kernels/fx/cpu/plan.h"

gpointer fx_alloc(guint64 bytes, GError **error)
{
    gpointer memory = NULL;
    if (posix_memalign(&memory, 64, MAX(bytes, 64)) == 0)
        return memory;
    litho_refuse(error, LITHO_ERROR_MEMORY,
                 "the F-X filter needs %.1f MB more memory than there is", bytes * 1e-6);
    return NULL;
}

static int batches_of(const LithoFxGeometry *g, int lanes)
{
    return (g->bins + lanes - 1) / lanes;
}

static FxRect windows_touching(const LithoFxGeometry *g, LithoBox r)
{
    return (FxRect){
        litho_fx_first(g->axis[0], (int)r.lo[0]), litho_fx_last(g->axis[0], (int)r.hi[0] - 1) + 1,
        litho_fx_first(g->axis[1], (int)r.lo[1]), litho_fx_last(g->axis[1], (int)r.hi[1] - 1) + 1};
}

static FxRect traces_needed(const LithoFxGeometry *g, LithoBox r)
{
    FxRect t;
    litho_fx_needs(g->axis[0], g->halo, (int)r.lo[0], (int)r.hi[0], &t.il0, &t.il1);
    litho_fx_needs(g->axis[1], g->halo, (int)r.lo[1], (int)r.hi[1], &t.xl0, &t.xl1);
    return t;
}

FxPart fx_part(FxPlan *plan, const LithoPass *pass, const LithoCube *raw, LithoBox region,
               LithoRun *run)
{
    LithoFxGeometry g = litho_fx_grid_geometry(&plan->grid, pass->params);
    return (FxPart){
        .plan = plan,
        .pass = pass,
        .raw = raw,
        .params = pass->params,
        .region = region,
        .first = litho_fx_first(g.axis[2], (int)region.lo[2]),
        .last = litho_fx_last(g.axis[2], (int)region.hi[2] - 1),
        .windows = windows_touching(&g, region),
        .traces = traces_needed(&g, region),
        .run = run,
        .n_threads = litho_run_threads(run),
    };
}

static guint64 bytes_for(const LithoFxGeometry *g, int lanes, gint64 traces, gint64 windows,
                         int time_windows)
{
    gint64 unit = (gint64)g->axis[0].length * g->axis[1].length;
    return (guint64)(traces + windows * unit) * batches_of(g, lanes) * lanes * 8 * time_windows;
}

guint64 fx_kept_bytes(const LithoFxGeometry *g, int lanes)
{
    const gsize units = (gsize)g->axis[0].count * g->axis[1].count * g->axis[2].count;
    const guint64 weights = sizeof(float) * g->axis[2].count * (guint64)g->axis[2].length;
    return weights + units * (sizeof(float *) + batches_of(g, lanes) * (1 + sizeof(FxCounts)) + 1);
}

gsize fx_sum_count(const LithoFxGeometry *g, int lanes)
{
    return (gsize)FX_RUN * 2 * lanes * MAX(batches_of(g, lanes), 1);
}

guint64 fx_part_bytes(const LithoFxGeometry *g, int lanes, LithoBox region, int time_windows)
{
    return bytes_for(g, lanes, fx_area(traces_needed(g, region)),
                     fx_area(windows_touching(g, region)), time_windows);
}

FxWork *fx_work_new(const LithoFxGeometry *g, int lanes, const LithoFxParams *params,
                    guint64 serial, FxRect held, GError **error)
{
    gsize traces = fx_area(held) * g->axis[2].count;
    gsize units = (gsize)g->axis[0].count * g->axis[1].count * g->axis[2].count;
    FxWork *w = g_new0(FxWork, 1);
    *w = (FxWork){.serial = serial,
                  .params = *params,
                  .g = *g,
                  .lanes = lanes,
                  .batches = batches_of(g, lanes),
                  .held = held};
    w->weights = litho_fx_weights(g->axis[2], error);
    w->known = g_try_malloc0(traces);
    w->present = g_try_malloc0(traces);
    w->spectra = g_try_new0(float *, g->axis[2].count);
    w->filtered = g_try_new0(float *, units);
    w->blocks = g_ptr_array_new_with_free_func(free);
    w->ready = g_try_malloc0(units * MAX(w->batches, 1));
    w->kept = g_try_malloc0(units);
    w->counts = g_try_new0(FxCounts, units * MAX(w->batches, 1));
    const gboolean weighed = w->weights != NULL;
    if (weighed && w->known && w->present && w->spectra && w->filtered && w->ready && w->kept &&
        w->counts)
        return w;
    fx_work_free(w);
    if (weighed) // else that is the sentence
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY,
                    _("there is no memory for the bookkeeping of %zu windows"), units);
    return NULL;
}

static void drop_filtered(FxWork *w, gboolean memory_too)
{
    gsize units = (gsize)w->g.axis[0].count * w->g.axis[1].count * w->g.axis[2].count;
    memset(w->ready, 0, units * MAX(w->batches, 1));
    memset(w->kept, 0, units);
    if (memory_too) {
        memset(w->filtered, 0, units * sizeof *w->filtered);
        g_ptr_array_set_size(w->blocks, 0);
    }
}

void fx_work_free(FxWork *w)
{
    if (!w)
        return;
    g_ptr_array_unref(w->blocks);
    for (int k = 0; w->spectra && k < w->g.axis[2].count; k++)
        free(w->spectra[k]);
    g_free(w->spectra);
    g_free(w->weights);
    g_free(w->filtered);
    g_free(w->known);
    g_free(w->present);
    g_free(w->ready);
    g_free(w->kept);
    g_free(w->counts);
    g_free(w);
}

static gboolean same_windows(const LithoFxGeometry *a, const LithoFxGeometry *b)
{
    for (int k = 0; k < 2; k++)
        if (a->axis[k].length != b->axis[k].length || a->axis[k].stride != b->axis[k].stride)
            return FALSE;
    return TRUE;
}

// Takes new parameters over; FALSE when not even the spectra hold any more.
static gboolean refresh(FxWork *w, const LithoFxGeometry *g, const LithoFxParams *params)
{
    const LithoParamTable *table = &litho_operator_fx.params;
    int first = litho_params_first_stage(table, &w->params, params);
    if (first <= LITHO_FX_STAGE_FFT)
        return FALSE;
    if (first <= LITHO_FX_STAGE_FILTER) {
        drop_filtered(w, !same_windows(&w->g, g));
        if (!same_windows(&w->g, g)) { // another number of units: another bookkeeping
            FxWork *fresh = fx_work_new(g, w->lanes, params, w->serial, w->held, NULL);
            if (!fresh)
                return FALSE;
            FxWork old = *w;
            w->g = *g;
            w->filtered = g_steal_pointer(&fresh->filtered);
            w->ready = g_steal_pointer(&fresh->ready);
            w->kept = g_steal_pointer(&fresh->kept);
            w->counts = g_steal_pointer(&fresh->counts);
            g_free(old.filtered);
            g_free(old.ready);
            g_free(old.kept);
            g_free(old.counts);
            fx_work_free(fresh);
        }
    }
    w->g = *g;
    w->params = *params;
    return TRUE;
}

static void drop_slot(FxPlan *plan, int slot)
{
    g_clear_pointer(&plan->works[slot], fx_work_free);
}

// Frees works that belong to another cube or to another band.
static void drop_stale(FxPlan *plan, guint64 serial, const LithoFxGeometry *g,
                       const LithoFxParams *params)
{
    for (int k = 0; k < FX_MAX_WORKS; k++)
        if (plan->works[k] &&
            (plan->works[k]->serial != serial || plan->works[k]->shared != plan->shared.version ||
             !refresh(plan->works[k], g, params)))
            drop_slot(plan, k);
}

// A free slot with `bytes` of the budget free, at the cost of the works used longest ago.
static int make_room(FxPlan *plan, guint64 bytes)
{
    for (;;) {
        guint64 sum = bytes;
        int empty = -1, oldest = -1;
        for (int k = 0; k < FX_MAX_WORKS; k++) {
            if (!plan->works[k]) {
                empty = k;
                continue;
            }
            sum += plan->works[k]->bytes;
            if (oldest < 0 || plan->works[k]->used < plan->works[oldest]->used)
                oldest = k;
        }
        if (sum <= plan->budget && empty >= 0)
            return empty;
        drop_slot(plan, oldest);
    }
}

static gboolean covers(const FxWork *w, const FxPart *part)
{
    FxRect need = part->traces;
    return w->held.il0 <= need.il0 && w->held.il1 >= need.il1 && w->held.xl0 <= need.xl0 &&
           w->held.xl1 >= need.xl1 && w->first <= part->first && w->last >= part->last;
}

// The traces of the input that any region may need: not those around them by which bursts alone are
// told, at faces that are not the survey's.
static FxRect filtered_traces(const FxPlan *plan, const FxPart *part)
{
    const LithoBox held = part->pass->in->held;
    gint64 lo[2], hi[2];
    for (int a = 0; a < 2; a++) {
        const gint64 ring =
            part->params->erratic > 0 ? LITHO_GAPS_TRACES + LITHO_ERRATIC_TRACES : 0;
        lo[a] = held.lo[a] + (held.lo[a] > 0 ? ring : 0);
        hi[a] = held.hi[a] - (held.hi[a] < plan->grid.axis[a].n ? ring : 0);
    }
    return (FxRect){MIN((int)lo[0], part->traces.il0), MAX((int)hi[0], part->traces.il1),
                    MIN((int)lo[1], part->traces.xl0), MAX((int)hi[1], part->traces.xl1)};
}

FxWork *fx_work_find(FxPlan *plan, const FxPart *part, GError **error)
{
    const LithoCube *in = part->pass->in;
    LithoFxGeometry g = litho_fx_grid_geometry(&plan->grid, part->params);
    drop_stale(plan, in->serial, &g, part->params);
    for (int k = 0; k < FX_MAX_WORKS; k++)
        if (plan->works[k] && covers(plan->works[k], part)) {
            plan->works[k]->used = ++plan->clock;
            return plan->works[k];
        }
    // The whole cube when it fits, else what this region needs.
    FxRect held = filtered_traces(plan, part);
    const int lanes = plan->isa->lanes;
    int first = 0, last = g.axis[2].count - 1;
    guint64 bytes = bytes_for(&g, lanes, fx_area(held), (gint64)g.axis[0].count * g.axis[1].count,
                              g.axis[2].count);
    if (bytes > plan->budget) {
        held = part->traces;
        first = part->first;
        last = part->last;
        bytes = fx_part_bytes(&g, lanes, part->region, part->last - part->first + 1);
    }
    if (bytes > plan->budget)
        return NULL;
    int slot = make_room(plan, bytes);
    FxWork *work = fx_work_new(&g, lanes, part->params, in->serial, held, error);
    if (!work)
        return NULL;
    work->shared = plan->shared.version;
    work->bytes = bytes;
    work->first = first;
    work->last = last;
    work->used = ++plan->clock;
    return plan->works[slot] = work;
}
