// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/stream_measure.h"

#include <string.h>

#include "core/engine/measure.h"

static gboolean send_measured(LithoPeers *p, const LithoMeasured *measured, LithoRun *run,
                              GError **error)
{
    gsize n;
    gconstpointer bytes = litho_measured_bytes(measured, &n);
    const char *key = litho_measured_key(measured), *text = litho_measured_text(measured);
    gsize n_steady;
    gconstpointer steady = litho_measured_steady(measured, &n_steady);
    const guint64 sizes[4] = {strlen(key) + 1, strlen(text) + 1, n, n_steady};
    for (int to = 1; to < p->n; to++)
        if (!litho_peers_send(p, sizes, sizeof sizes, to, run, error) ||
            !litho_peers_send(p, key, sizes[0], to, run, error) ||
            !litho_peers_send(p, text, sizes[1], to, run, error) ||
            !litho_peers_send(p, bytes, n, to, run, error) ||
            (n_steady > 0 && !litho_peers_send(p, steady, n_steady, to, run, error)))
            return FALSE;
    return TRUE;
}

static LithoMeasured *receive_measured(LithoPeers *p, LithoRun *run, GError **error)
{
    guint64 sizes[4];
    if (!litho_peers_receive(p, sizes, sizeof sizes, 0, run, error))
        return NULL;
    g_autofree char *key = g_malloc(sizes[0]), *text = g_malloc(sizes[1]);
    g_autofree guint8 *bytes = g_malloc(sizes[2]);
    if (!litho_peers_receive(p, key, sizes[0], 0, run, error) ||
        !litho_peers_receive(p, text, sizes[1], 0, run, error) ||
        !litho_peers_receive(p, bytes, sizes[2], 0, run, error))
        return NULL;
    g_autofree guint8 *steady = g_malloc(sizes[3]);
    if (sizes[3] > 0 && !litho_peers_receive(p, steady, sizes[3], 0, run, error))
        return NULL;
    return litho_measured_new_steady(key, text, bytes, sizes[2], steady, sizes[3]);
}

// A step that the first process has no numbers for yet: it may have some of an earlier run.
static gboolean agree_to_measure(const LithoStep *step, LithoPeers *p, guint8 *wanted,
                                 LithoRun *run, GError **error)
{
    gboolean needed;
    *wanted = !litho_step_measured(step, &needed);
    return !p || p->n == 1 || litho_peers_spread(p, wanted, sizeof *wanted, run, error);
}

static gboolean spread_measured(LithoPeers *p, LithoStep *step, LithoRun *run, GError **error)
{
    if (!p || p->n == 1)
        return TRUE;
    if (p->rank == 0)
        return send_measured(p, step->measured, run, error);
    LithoMeasured *measured = receive_measured(p, run, error);
    if (!measured)
        return FALSE;
    litho_measured_unref(step->measured);
    step->measured = measured;
    return TRUE;
}

// Results of the steps before, by the caller's threads and files.
static gboolean extend(LithoBefore **before, const LithoFlow *flow, LithoSurvey *survey,
                       const LithoStreamOptions *options, LithoDevice device, guint step,
                       LithoRun *run, GError **error)
{
    const LithoBeforeOf of = {.flow = flow,
                              .survey = survey,
                              .device = device,
                              .notes = options->notes,
                              .peers = options->peers};
    LithoRun own = run ? *run : (LithoRun){0};
    own.threads = options->threads;
    own.writes = !options->peers || options->peers->rank == 0;
    own.force = options->save.force;
    return litho_before_extend(before, &of, step, &own, error);
}

gboolean litho_stream_measure(LithoFlow *flow, LithoSurvey *survey,
                              const LithoStreamOptions *options, const LithoStreamPlan *plan,
                              guint64 bytes, LithoBefore **before, LithoRun *run, GError **error)
{
    LithoPeers *p = options->peers;
    const LithoDevice device = litho_stream_device(options, plan, 0);
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        LithoStep *step = litho_flow_step(flow, k);
        gboolean needed;
        guint8 wanted;
        if (!step->enabled || (litho_step_measured(step, &needed), !needed))
            continue;
        if (!agree_to_measure(step, p, &wanted, run, error) ||
            (plan->kept_bytes > 0 &&
             !extend(before, flow, survey, options, device, k, run, error)) ||
            (wanted && (!p || p->rank == 0) &&
             !litho_measure_step(flow, k, survey, *before, device, bytes, run, error)) ||
            !spread_measured(p, step, run, error))
            return FALSE;
    }
    return TRUE;
}
