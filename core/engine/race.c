// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/race.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/qc.h"
#include "core/sort.h"

enum { TIMED_RUNS = 3, LONG_MS = 4000 }; // a lane that takes so long is timed once

static void lane_free(gpointer data)
{
    LithoRaceLane *lane = data;
    g_free(lane->label);
    g_free(lane->why);
    litho_flow_free(lane->flow);
    litho_cube_unref(lane->out);
    g_free(lane);
}

LithoRace *litho_race_new(LithoCube *in)
{
    LithoRace *race = g_new0(LithoRace, 1);
    race->in = in ? litho_cube_ref(in) : NULL;
    race->axis = LITHO_INLINE;
    race->pieces = 12;
    race->lanes = g_ptr_array_new_with_free_func(lane_free);
    return race;
}

void litho_race_free(LithoRace *race)
{
    if (!race)
        return;
    litho_cube_unref(race->in);
    g_ptr_array_unref(race->lanes);
    g_free(race);
}

// --- lanes --------------------------------------------------------------------------------------

static gboolean apply(LithoFlow *flow, const char *settings, GError **error)
{
    g_auto(GStrv) words = g_strsplit(settings ? settings : "", " ", -1);
    LithoStep *step = NULL;
    for (guint k = 0; !step && k < litho_flow_length(flow); k++)
        if (litho_flow_step(flow, k)->enabled)
            step = litho_flow_step(flow, k);
    for (char **word = words; step && *word; word++)
        if (**word && !litho_operator_set(step->op, step->params, *word, error))
            return FALSE;
    return TRUE;
}

static gboolean runs_on(const LithoFlow *flow, LithoDevice device, GError **error)
{
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        if (step->enabled && !litho_device_impl(device, step->op, error))
            return FALSE;
    }
    return TRUE;
}

gboolean litho_race_add(LithoRace *race, const LithoFlow *flow, const char *device, int threads,
                        const char *settings, const char *label, GError **error)
{
    g_autoptr(LithoFlow) own = litho_flow_copy(flow);
    g_autoptr(GError) why = NULL;
    if (!apply(own, settings, error))
        return FALSE;
    LithoRaceLane *lane = g_new0(LithoRaceLane, 1);
    lane->threads = threads;
    lane->difference = NAN;
    lane->flow = g_steal_pointer(&own);
    if (!litho_device_parse(device, &lane->device, &why) ||
        !runs_on(lane->flow, lane->device, &why))
        lane->why = g_strdup(why->message);
    lane->label = label       ? g_strdup(label)
                  : lane->why ? g_strdup(device)
                              : litho_device_label(lane->device, threads);
    g_ptr_array_add(race->lanes, lane);
    return TRUE;
}

gboolean litho_race_add_usual(LithoRace *race, const LithoFlow *flow, GError **error)
{
    LithoDevice card;
    if (litho_device_parse("cuda", &card, NULL) && runs_on(flow, card, NULL))
        return litho_race_add(race, flow, "cpu", 0, NULL, NULL, error) &&
               litho_race_add(race, flow, "cuda", 0, NULL, NULL, error);
    return litho_race_add(race, flow, "cpu", 1, NULL, NULL, error) &&
           litho_race_add(race, flow, "cpu", 0, NULL, NULL, error);
}

// --- one lane -----------------------------------------------------------------------------------

typedef struct Runner {
    LithoRace *race;
    const LithoRaceWatch *watch;
    guint at;
    LithoRaceLane *lane;
    LithoEngine *engine;
    LithoCube *in;   // NULL: the flow reads none
    LithoCube *twin; // the input's samples under another serial: other data to the engine
    double start;
} Runner;

static void tell_stage(Runner *r, guint stage)
{
    if (r->watch && r->watch->on_stage)
        r->watch->on_stage(r->at, stage, r->watch->data);
}

static void tell_piece(Runner *r, LithoCube *piece)
{
    if (r->watch && r->watch->on_piece)
        r->watch->on_piece(r->at, piece, litho_now_ms() - r->start, r->watch->data);
}

// Depths and scales that a device shows come to the host; a part that cannot is only not shown.
static void on_partial(LithoCube *part, gpointer data)
{
    if (litho_cube_host(part, NULL))
        tell_piece(data, part);
}

// A part of the result, on the host.
static LithoCube *run_part(Runner *r, LithoCube *in, const LithoBox *box, LithoRun *run,
                           GError **error)
{
    if (!in) // without an input nothing tells the engine that its result is wanted again
        litho_engine_forget(r->engine);
    LithoCube *out = litho_engine_run(r->engine, r->lane->flow, in, box, run, error);
    if (out && !litho_cube_host(out, error))
        g_clear_pointer(&out, litho_cube_unref);
    return out;
}

static LithoBox piece_box(const LithoBox *all, int axis, guint k, guint n)
{
    LithoBox box = *all;
    const gint64 length = all->hi[axis] - all->lo[axis];
    box.lo[axis] = all->lo[axis] + length * k / n;
    box.hi[axis] = all->lo[axis] + length * (k + 1) / n;
    return box;
}

// A local flow: the plan first, then piece by piece with the clock running.
static gboolean show_pieces(Runner *r, const LithoBox *all, LithoRun *run, GError **error)
{
    const int axis = r->race->axis;
    const guint n = (guint)CLAMP(all->hi[axis] - all->lo[axis], 1, (gint64)r->race->pieces);
    LithoBox first = piece_box(all, axis, 0, n);
    g_autoptr(LithoCube) warm = run_part(r, r->twin, &first, run, error);
    if (!warm)
        return FALSE;
    tell_stage(r, 1);
    r->start = litho_now_ms();
    for (guint k = 0; k < n; k++) {
        const LithoBox box = piece_box(all, axis, k, n);
        g_autoptr(LithoCube) piece = run_part(r, r->in, &box, run, error);
        if (!piece)
            return FALSE;
        tell_piece(r, piece);
    }
    r->lane->shown_ms = litho_now_ms() - r->start;
    return TRUE;
}

// A flow that needs all of its input: its own partial results, then the whole.
static gboolean show_whole(Runner *r, LithoRun *run, GError **error)
{
    run->on_partial = on_partial;
    run->partial_data = r;
    tell_stage(r, 1);
    r->start = litho_now_ms();
    g_autoptr(LithoCube) out = run_part(r, r->twin, NULL, run, error);
    run->on_partial = NULL;
    if (!out)
        return FALSE;
    r->lane->shown_ms = litho_now_ms() - r->start;
    tell_piece(r, out);
    return TRUE;
}

static gboolean time_whole(Runner *r, LithoRun *run, GError **error)
{
    LithoRaceLane *lane = r->lane;
    double ms[TIMED_RUNS];
    const guint n = lane->shown_ms > LONG_MS ? 1 : TIMED_RUNS;
    for (guint k = 0; k < n; k++) {
        tell_stage(r, 2 + k);
        g_clear_pointer(&lane->out, litho_cube_unref);
        const double start = litho_now_ms();
        // The run before had the other one.
        const gboolean even = litho_flow_is_local(lane->flow) == (k % 2 == 0);
        lane->out = run_part(r, even ? r->twin : r->in, NULL, run, error);
        if (!lane->out)
            return FALSE;
        ms[k] = litho_now_ms() - start;
    }
    qsort(ms, n, sizeof *ms, litho_compare_double);
    lane->ms = ms[n / 2];
    lane->runs = n;
    return TRUE;
}

static gboolean run_lane(LithoRace *race, guint at, const LithoRaceWatch *watch, LithoRun *outer,
                         GError **error)
{
    Runner r = {.race = race, .watch = watch, .at = at, .lane = g_ptr_array_index(race->lanes, at)};
    LithoRun run = {.cancel = outer ? outer->cancel : NULL,
                    .threads = r.lane->threads,
                    .device = r.lane->device.index,
                    .on_progress = outer ? outer->on_progress : NULL,
                    .progress_data = outer ? outer->progress_data : NULL};
    r.in = litho_flow_needs_input(r.lane->flow) ? race->in : NULL;
    tell_stage(&r, 0);
    g_autoptr(LithoWalk) walk =
        litho_walk_resolve(r.lane->flow, r.in ? &r.in->grid : NULL, &run, error);
    if (!walk || (r.in && !(r.twin = litho_cube_copy_box(r.in, r.in->held, error))))
        return FALSE;
    r.engine = litho_engine_new(r.lane->device);
    const LithoBox all = litho_box_full(&walk->out);
    gboolean good = (r.in && litho_flow_is_local(r.lane->flow) ? show_pieces(&r, &all, &run, error)
                                                               : show_whole(&r, &run, error)) &&
                    time_whole(&r, &run, error);
    litho_engine_free(r.engine);
    litho_cube_unref(r.twin);
    return good;
}

gboolean litho_race_run(LithoRace *race, const LithoRaceWatch *watch, LithoRun *run, GError **error)
{
    const LithoRaceLane *first = NULL;
    for (guint k = 0; k < race->lanes->len; k++) {
        LithoRaceLane *lane = g_ptr_array_index(race->lanes, k);
        LithoDifference difference;
        if (lane->why)
            continue;
        if (!run_lane(race, k, watch, run, error))
            return FALSE;
        if (first && litho_grid_same_shape(&first->out->grid, &lane->out->grid)) {
            if (!litho_qc_compare(lane->out, first->out, NULL, &difference, error))
                return FALSE;
            lane->difference = difference.relative_l2;
        } else if (!first)
            first = lane;
    }
    return TRUE;
}
