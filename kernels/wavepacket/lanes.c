// SPDX-License-Identifier: GPL-3.0-or-later
//
// Blocks of a volume dealt out to engines. Each lane has a contiguous range of blocks, and blocks
// are numbered inline by inline, so a lane needs a range of inlines only. Lane 0 works in the
// caller's thread on the whole cubes themselves; the others take their inlines from it, and what
// they have added up goes back to it lane after lane: the result does not depend on who was faster.
#include <string.h>

#include "core/error.h"
#include "kernels/wavepacket/apply.h"

static gint64 block_samples(const WpJob *job)
{
    return job->spec.n[0] * job->spec.n[1] * job->spec.n[2];
}

// --- life ----------------------------------------------------------------------------------------

gboolean wp_lanes_new(WpJob *job, const LithoWavepacketParams *p, const WpMachine *machine,
                      LithoRun *run, GError **error)
{
    const int devices = machine->devices ? machine->devices(litho_run_devices(run)) : 1;
    // The first axis' samples are shared out: a line of one inline has none to share.
    const gboolean spread = devices > 1 && job->n_blocks == 1 && job->spec.n[0] > 1;
    const int n = spread ? 1 : MIN(devices, job->n_blocks);
    job->lanes = g_new0(WpLane, n);
    for (int k = 0; k < n; k++) {
        WpLane *lane = &job->lanes[k];
        LithoRun on = run ? *run : (LithoRun){0};
        if (k > 0)
            on.device = on.device + k;
        lane->engine = spread ? machine->spread(job->geometry, p->adjoint, devices, run, error)
                              : machine->engine(job->geometry, p->adjoint, &on, error);
        if (!lane->engine)
            return FALSE;
        job->n_made = k + 1;
        lane->current = -1;
        lane->stats = g_new0(WpBoxStats, job->geometry->n_boxes);
        lane->counts = g_new0(double, WP_BINS);
        lane->kept = g_new0(guint64, job->geometry->n_boxes);
    }
    job->engine = job->lanes[0].engine;
    for (int k = 0; k < n; k++)
        wp_lane_deal(job, k);
    return TRUE;
}

void wp_lane_deal(WpJob *job, int k)
{
    WpLane *lane = &job->lanes[k];
    const int n = job->n_lanes = MIN(job->n_made, job->n_blocks);
    lane->first = k < n ? (int)((gint64)job->n_blocks * k / n) : 0;
    lane->end = k < n ? (int)((gint64)job->n_blocks * (k + 1) / n) : 0;
    lane->current = -1;
}

void wp_lane_drop_coefficients(WpJob *job, WpLane *lane)
{
    for (int b = lane->first; b < lane->end; b++) {
        if (!lane->shared || b == lane->first)
            lane->engine->class->release(lane->engine, job->c[b]);
        job->c[b] = NULL;
    }
    lane->shared = FALSE;
}

static void free_lane(WpJob *job, WpLane *lane)
{
    const WpEngineClass *k = lane->engine->class;
    float *arrays[] = {lane->u,
                       lane->v,
                       lane->w,
                       lane->d,
                       lane->e,
                       lane->f,
                       lane == job->lanes ? NULL : lane->in,
                       lane == job->lanes ? NULL : lane->out};
    for (guint i = 0; i < G_N_ELEMENTS(arrays); i++)
        k->release(lane->engine, arrays[i]);
    wp_lane_drop_coefficients(job, lane);
    wp_drop_sigma(lane);
    if (lane == job->lanes) {
        float *cubes[] = {job->volume, job->result, job->work};
        for (guint i = 0; i < G_N_ELEMENTS(cubes); i++)
            k->release(lane->engine, cubes[i]);
    }
    wp_engine_free(lane->engine);
    g_free(lane->stats);
    g_free(lane->counts);
    g_free(lane->kept);
}

void wp_lanes_free(WpJob *job)
{
    for (int k = job->n_made - 1; k >= 0; k--)
        free_lane(job, &job->lanes[k]);
    g_free(job->lanes);
}

gboolean wp_lanes_begin(WpJob *job, LithoRun *run, GError **error)
{
    // Lane 0 last: its engine is then the one that is ready in this thread.
    for (int k = job->n_lanes - 1; k >= 0; k--) {
        WpLane *lane = &job->lanes[k];
        lane->quiet = run ? (LithoRun){.cancel = run->cancel,
                                       .superseded = run->superseded,
                                       .superseded_data = run->superseded_data,
                                       .threads = run->threads}
                          : (LithoRun){0};
        lane->run = k > 0 ? &lane->quiet : run;
        if (!lane->engine->class->begin(lane->engine, lane->run, error))
            return FALSE;
    }
    litho_run_used_devices(run, MAX(job->n_lanes, job->engine->devices));
    return TRUE;
}

gboolean wp_lanes_finish(WpJob *job, LithoRun *run, GError **error)
{
    for (int k = job->n_lanes - 1; k >= 0; k--) {
        WpEngine *engine = job->lanes[k].engine;
        if (!engine->class->attach(engine, error) ||
            !engine->class->finish(engine, k > 0 ? NULL : run, error))
            return FALSE;
    }
    return TRUE;
}

// --- arrays --------------------------------------------------------------------------------------

gboolean wp_reserve(WpEngine *engine, float **array, gint64 floats, GError **error)
{
    if (!*array)
        *array = engine->class->alloc(engine, floats, error);
    return *array != NULL;
}

// Every block its own coefficients where the job may keep them and they fit into half of what the
// engine has left. All of them or none: what a cancel leaves half done is decided anew.
static gboolean reserve_lane(WpJob *job, WpLane *lane, GError **error)
{
    const guint64 need =
        sizeof(float) * (guint64)job->geometry->floats * (guint64)(lane->end - lane->first);
    if (job->c[lane->first])
        return TRUE;
    lane->shared =
        lane->end - lane->first > 1 &&
        (!job->keeps || litho_box_count(job->window) < litho_grid_samples(&job->survey) ||
         need > lane->engine->class->available(lane->engine) / 2);
    for (int b = lane->first; b < lane->end; b++)
        if (lane->shared && b > lane->first)
            job->c[b] = job->c[lane->first];
        else if (!wp_reserve(lane->engine, &job->c[b], WP_COEFFICIENTS, error)) {
            wp_lane_drop_coefficients(job, lane);
            return FALSE;
        }
    return TRUE;
}

gboolean wp_lanes_attach(WpJob *job, GError **error)
{
    gboolean ok = TRUE;
    for (int k = job->n_lanes - 1; k >= 0 && ok; k--)
        ok = job->lanes[k].engine->class->attach(job->lanes[k].engine, error);
    return ok;
}

gboolean wp_lanes_reserve_coefficients(WpJob *job, GError **error)
{
    gboolean ok = TRUE;
    for (int k = job->n_lanes - 1; k >= 0 && ok; k--)
        ok = job->lanes[k].engine->class->attach(job->lanes[k].engine, error) &&
             reserve_lane(job, &job->lanes[k], error);
    return ok;
}

float *wp_lane_coefficients(WpJob *job, WpLane *lane, int b, GError **error)
{
    if (!lane->shared && job->transformed)
        return job->c[b];
    if (lane->shared && lane->current == b)
        return job->c[b];
    lane->current = -1;
    const float *u = wp_lane_cut(job, lane, b, error);
    if (!u || !lane->engine->class->forward(lane->engine, u, job->c[b], lane->run, error) ||
        !wp_places_weigh(job, lane, b, TRUE, job->c[b], error))
        return NULL;
    lane->current = b;
    return job->c[b];
}

const float *wp_lane_cut(WpJob *job, WpLane *lane, int b, GError **error)
{
    if (job->whole)
        return lane->in;
    if (!wp_reserve(lane->engine, &lane->u, block_samples(job), error) ||
        !lane->engine->class->cut(lane->engine, lane->in, job->n, &job->blocks[b], lane->u, error))
        return NULL;
    return lane->u;
}

float *wp_lane_target(WpJob *job, WpLane *lane, GError **error)
{
    if (job->whole)
        return lane->out;
    return wp_reserve(lane->engine, &lane->u, block_samples(job), error) ? lane->u : NULL;
}

gboolean wp_lane_paste(WpJob *job, WpLane *lane, const float *u, int b, GError **error)
{
    return job->whole ||
           lane->engine->class->paste(lane->engine, u, &job->blocks[b], lane->out, job->n, error);
}

gboolean wp_lane_invert(WpJob *job, WpLane *lane, float *d, float *u, int corrections,
                        GError **error)
{
    WpEngine *engine = lane->engine;
    const WpEngineClass *k = engine->class;
    const gint64 n = block_samples(job);
    if (corrections == 0)
        return k->adjoint(engine, d, u, lane->run, error);
    // u += A*(d - A u): each step multiplies the error by about ||A*A - 1||.
    if (!wp_reserve(engine, &lane->e, WP_COEFFICIENTS, error) ||
        !wp_reserve(engine, &lane->v, n, error) ||
        !k->blend(engine, 1, d, 0, lane->e, WP_COEFFICIENTS, error) ||
        !k->adjoint(engine, lane->e, u, lane->run, error))
        return FALSE;
    for (int m = 0; m < corrections; m++)
        if (!k->forward(engine, u, lane->e, lane->run, error) ||
            !k->blend(engine, 1, d, -1, lane->e, WP_COEFFICIENTS, error) ||
            !k->adjoint(engine, lane->e, lane->v, lane->run, error) ||
            !k->blend(engine, 1, lane->v, 1, u, n, error))
            return FALSE;
    return TRUE;
}

// --- work ----------------------------------------------------------------------------------------

// Samples of the inlines that a lane's blocks cover.
static void covered(const WpJob *job, const WpLane *lane, gint64 *at, gint64 *n)
{
    const gint64 inline_samples = job->n[1] * job->n[2];
    const gint64 to = MIN(job->blocks[lane->end - 1].at[0] + job->spec.n[0], job->n[0]);
    *at = MAX(job->blocks[lane->first].at[0], 0) * inline_samples;
    *n = to * inline_samples - *at;
}

// The lane's copies: its inlines of `from`, and zeros to add up in.
static gboolean prepare(WpJob *job, WpLane *lane, const WpWork *work, GError **error)
{
    const WpEngineClass *k = lane->engine->class;
    gint64 at, n;
    covered(job, lane, &at, &n);
    if (lane == job->lanes) {
        lane->in = (float *)work->from;
        lane->out = work->to;
    } else if (work->from && !(job->lanes_hold_volume && work->from == job->volume)) {
        if (!wp_reserve(lane->engine, &lane->in, job->samples, error) ||
            !k->take(lane->engine, lane->in, job->engine, work->from, at, n, FALSE, error))
            return FALSE;
    }
    if (!work->to || job->whole)
        return TRUE;
    return wp_reserve(lane->engine, &lane->out, job->samples, error) &&
           k->blend(lane->engine, 0, lane->out, 0, lane->out, job->samples, error);
}

static gboolean run_blocks(WpJob *job, WpLane *lane, const WpWork *work, GError **error)
{
    const int n = lane->end - lane->first;
    for (int b = lane->first; b < lane->end; b++)
        if (!litho_run_step(lane->run, b - lane->first, n, error) ||
            !work->each(job, lane, b, work->data, error))
            return FALSE;
    return lane->engine->class->wait(lane->engine, error) && litho_run_step(lane->run, n, n, error);
}

typedef struct Task {
    WpJob *job;
    WpLane *lane;
    const WpWork *work;
    GError *error;
    gboolean ok;
} Task;

static gpointer run_lane(gpointer data)
{
    Task *t = data;
    WpEngine *engine = t->lane->engine;
    t->ok = engine->class->attach(engine, &t->error) &&
            prepare(t->job, t->lane, t->work, &t->error) &&
            (t->work->in_order || run_blocks(t->job, t->lane, t->work, &t->error));
    return NULL;
}

static gboolean run_all(WpJob *job, const WpWork *work, GError **error)
{
    g_autofree Task *tasks = g_new0(Task, job->n_lanes);
    g_autofree GThread **threads = g_new0(GThread *, job->n_lanes);
    gboolean ok = TRUE;
    for (int k = job->n_lanes - 1; k >= 0; k--) {
        tasks[k] = (Task){job, &job->lanes[k], work, NULL, FALSE};
        if (k > 0)
            threads[k] = g_thread_new("wavepacket-lane", run_lane, &tasks[k]);
        else
            run_lane(&tasks[k]);
    }
    for (int k = 0; k < job->n_lanes; k++) {
        if (threads[k])
            g_thread_join(threads[k]);
        if (!tasks[k].ok && ok)
            g_propagate_error(error, tasks[k].error);
        else
            g_clear_error(&tasks[k].error);
        ok &= tasks[k].ok;
    }
    return ok;
}

static gboolean run_in_order(WpJob *job, const WpWork *work, GError **error)
{
    for (int k = 0; k < job->n_lanes; k++) {
        WpLane *lane = &job->lanes[k];
        if (!lane->engine->class->attach(lane->engine, error) ||
            !run_blocks(job, lane, work, error))
            return FALSE;
    }
    return job->engine->class->attach(job->engine, error);
}

static void sum_kept(WpJob *job)
{
    for (int b = 0; b < job->geometry->n_boxes; b++) {
        job->kept[b] = 0;
        for (int k = 0; k < job->n_lanes; k++)
            job->kept[b] += job->lanes[k].kept[b];
    }
}

gboolean wp_lanes_work(WpJob *job, const WpWork *work, LithoRun *run, GError **error)
{
    const WpEngineClass *k = job->engine->class;
    litho_run_begin(run, work->stage, "blocks");
    for (int i = 0; i < job->n_lanes; i++)
        memset(job->lanes[i].kept, 0, job->geometry->n_boxes * sizeof(guint64));
    if ((job->n_lanes > 1 && !k->wait(job->engine, error)) || !run_all(job, work, error) ||
        (work->in_order && !run_in_order(job, work, error)))
        return FALSE;
    if (work->from)
        job->lanes_hold_volume = work->from == job->volume;
    for (int i = 1; work->to && i < job->n_lanes; i++) {
        gint64 at, n;
        covered(job, &job->lanes[i], &at, &n);
        if (!k->take(job->engine, work->to, job->lanes[i].engine, job->lanes[i].out, at, n, TRUE,
                     error))
            return FALSE;
    }
    sum_kept(job);
    return job->n_lanes == 1 || k->wait(job->engine, error);
}
