// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli_ranks.h"

#include <string.h>
#include <sys/resource.h>

// The share of one process in a run.
typedef struct RankTold {
    double seconds, cpu_s, waited_s, flops;
    guint64 sent, received;
    char host[64];
} RankTold;

static double own_flops(LithoTimings *timings)
{
    LithoStage stages[LITHO_TIMINGS_STAGES];
    const guint n = timings ? litho_timings_snapshot(timings, stages, G_N_ELEMENTS(stages)) : 0;
    double flops = 0;
    for (guint k = 0; k < n; k++)
        flops += stages[k].flops;
    return flops;
}

static RankTold rank_tells(const LithoPeersModule *peers, double seconds, const LithoRun *run)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    RankTold told = {.seconds = seconds,
                     .cpu_s = used.ru_utime.tv_sec + used.ru_stime.tv_sec +
                              1e-6 * (used.ru_utime.tv_usec + used.ru_stime.tv_usec),
                     .waited_s = 1e-3 * peers->peers.waited_ms,
                     .flops = own_flops(run->timings),
                     .sent = peers->peers.sent,
                     .received = peers->peers.received};
    g_strlcpy(told.host, g_get_host_name(), sizeof told.host);
    return told;
}

JsonArray *litho_cli_ranks(LithoPeersModule *peers, double seconds, LithoRun *run, GError **error)
{
    JsonArray *ranks = json_array_new();
    RankTold told = rank_tells(peers, seconds, run);
    gboolean ok = peers->peers.rank == 0 ||
                  litho_peers_send(&peers->peers, &told, sizeof told, 0, run, error);
    for (int k = 0; ok && k < peers->peers.n && peers->peers.rank == 0; k++) {
        if (k > 0 && !(ok = litho_peers_receive(&peers->peers, &told, sizeof told, k, run, error)))
            break;
        JsonObject *object = json_object_new();
        json_object_set_string_member(object, "host", told.host);
        json_object_set_double_member(object, "seconds", told.seconds);
        json_object_set_double_member(object, "cpu_seconds", told.cpu_s);
        json_object_set_double_member(object, "waited_seconds", told.waited_s);
        json_object_set_double_member(object, "flops", told.flops);
        json_object_set_int_member(object, "bytes_sent", (gint64)told.sent);
        json_object_set_int_member(object, "bytes_received", (gint64)told.received);
        json_array_add_object_element(ranks, object);
    }
    if (!ok)
        g_clear_pointer(&ranks, json_array_unref);
    return ranks;
}
