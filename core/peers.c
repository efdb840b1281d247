// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/peers.h"

#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"

enum { PIECE = 4 << 20 }; // bytes of a sum sent and added at a time

// The head of every message.
typedef struct Frame {
    guint64 bytes;
    guint32 failed;
    char sentence[244]; // why
} Frame;

static gboolean lost(int rank, LithoRun *run, GError **error)
{
    if (litho_run_step(run, 0, 1, error))
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_DEVICE, _("process %d of this run has gone"),
                    rank);
    return FALSE;
}

gboolean litho_peers_send(LithoPeers *p, const void *bytes, gsize n, int to, LithoRun *run,
                          GError **error)
{
    const Frame frame = {.bytes = n};
    const double start = litho_now_ms();
    const gboolean ok = p->send(&frame, sizeof frame, to, run, p->data) &&
                        (n == 0 || p->send(bytes, n, to, run, p->data));
    p->waited_ms += litho_now_ms() - start;
    p->sent += n;
    return ok || lost(to, run, error);
}

gboolean litho_peers_receive(LithoPeers *p, void *bytes, gsize n, int from, LithoRun *run,
                             GError **error)
{
    Frame frame;
    const double start = litho_now_ms();
    const gboolean told = p->receive(&frame, sizeof frame, from, run, p->data);
    if (told && (frame.failed || frame.bytes != n)) {
        frame.sentence[sizeof frame.sentence - 1] = '\0';
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_DEVICE, _("process %d: %s"), from,
                    frame.failed ? frame.sentence : _("sent another message than was its turn"));
        return FALSE;
    }
    const gboolean ok = told && (n == 0 || p->receive(bytes, n, from, run, p->data));
    p->waited_ms += litho_now_ms() - start;
    p->received += n;
    return ok || lost(from, run, error);
}

void litho_peers_fail(LithoPeers *p, const GError *why)
{
    Frame frame = {.failed = 1};
    g_strlcpy(frame.sentence, why->message, sizeof frame.sentence);
    for (int to = 0; to < p->n; to++)
        if (to != p->rank)
            p->send(&frame, sizeof frame, to, NULL, p->data);
}

// --- trees --------------------------------------------------------------------------------------
//
// Process r hears from r + 1, r + 2, r + 4, ... while these are smaller than its lowest set bit, and
// answers to r without that bit.

static int reach(const LithoPeers *p)
{
    int step = 1;
    if (p->rank > 0)
        return p->rank & -p->rank;
    while (step < p->n)
        step *= 2;
    return step;
}

gboolean litho_peers_spread(LithoPeers *p, void *bytes, gsize n, LithoRun *run, GError **error)
{
    const int all = reach(p);
    if (p->rank > 0 && !litho_peers_receive(p, bytes, n, p->rank - all, run, error))
        return FALSE;
    for (int step = all / 2; step > 0; step /= 2)
        if (p->rank + step < p->n && !litho_peers_send(p, bytes, n, p->rank + step, run, error))
            return FALSE;
    return TRUE;
}

typedef void (*Add)(void *to, const void *x, gsize bytes);

static void add_floats(void *to, const void *x, gsize bytes)
{
    float *sum = to;
    const float *more = x;
    for (gsize k = 0; k < bytes / sizeof *sum; k++)
        sum[k] += more[k];
}

static void add_doubles(void *to, const void *x, gsize bytes)
{
    double *sum = to;
    const double *more = x;
    for (gsize k = 0; k < bytes / sizeof *sum; k++)
        sum[k] += more[k];
}

static gboolean collect(LithoPeers *p, char *x, gsize bytes, Add add, char *room, LithoRun *run,
                        GError **error)
{
    const int all = reach(p);
    for (int step = 1; step < all && p->rank + step < p->n; step *= 2) {
        if (!litho_peers_receive(p, room, bytes, p->rank + step, run, error))
            return FALSE;
        add(x, room, bytes);
    }
    return p->rank == 0 || litho_peers_send(p, x, bytes, p->rank - all, run, error);
}

static gboolean sum(LithoRun *run, char *x, gsize bytes, Add add, GError **error)
{
    LithoPeers *p = run ? run->peers : NULL;
    if (!p || p->n == 1 || bytes == 0)
        return TRUE;
    g_autofree char *room =
        litho_memory_new(MIN(bytes, PIECE), 1, "parts of other processes", error);
    if (!room)
        return FALSE;
    for (gsize at = 0; at < bytes; at += PIECE) {
        const gsize n = MIN(bytes - at, PIECE);
        if (!collect(p, x + at, n, add, room, run, error) ||
            !litho_peers_spread(p, x + at, n, run, error))
            return FALSE;
    }
    return TRUE;
}

// --- within a pass ------------------------------------------------------------------------------

int litho_run_rank(const LithoRun *run)
{
    return run && run->peers ? run->peers->rank : 0;
}

int litho_run_ranks(const LithoRun *run)
{
    return run && run->peers ? run->peers->n : 1;
}

void litho_run_used_ranks(LithoRun *run, int n)
{
    if (run)
        run->ranks_used = MAX(run->ranks_used, n);
}

gboolean litho_run_sum_floats(LithoRun *run, float *x, gsize n, GError **error)
{
    return sum(run, (char *)x, n * sizeof *x, add_floats, error);
}

gboolean litho_run_sum_doubles(LithoRun *run, double *x, gsize n, GError **error)
{
    return sum(run, (char *)x, n * sizeof *x, add_doubles, error);
}

gint64 litho_run_share(gint64 n, int rank, int ranks)
{
    return n * rank / ranks;
}

gboolean litho_run_gather_rows(LithoRun *run, void *rows, gsize bytes, gint64 n, GError **error)
{
    LithoPeers *p = run ? run->peers : NULL;
    if (!p || p->n == 1)
        return TRUE;
    for (int k = 1; k < p->n; k++) {
        const gint64 lo = litho_run_share(n, k, p->n), hi = litho_run_share(n, k + 1, p->n);
        char *at = (char *)rows + bytes * lo;
        if ((p->rank == 0 && !litho_peers_receive(p, at, bytes * (hi - lo), k, run, error)) ||
            (p->rank == k && !litho_peers_send(p, at, bytes * (hi - lo), 0, run, error)))
            return FALSE;
    }
    return litho_peers_spread(p, rows, bytes * n, run, error);
}
