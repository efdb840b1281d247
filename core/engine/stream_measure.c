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

gboolean litho_stream_measure(LithoFlow *flow, LithoSurvey *survey,
                              const LithoStreamOptions *options, const LithoStreamPlan *plan,
                              guint64 bytes, LithoRun *run, GError **error)
{
    LithoPeers *p = options->peers;
    if ((!p || p->rank == 0) &&
        !litho_measure_flow(flow, survey, litho_stream_device(options, plan, 0), bytes, run, error))
        return FALSE;
    for (guint k = 0; p && p->n > 1 && k < litho_flow_length(flow); k++) {
        LithoStep *step = litho_flow_step(flow, k);
        gboolean needed;
        if (!step->enabled || (litho_step_measured(step, &needed), !needed))
            continue;
        if (p->rank == 0) {
            if (!send_measured(p, step->measured, run, error))
                return FALSE;
            continue;
        }
        LithoMeasured *measured = receive_measured(p, run, error);
        if (!measured)
            return FALSE;
        litho_measured_unref(step->measured);
        step->measured = measured;
    }
    return TRUE;
}
