// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/run.h"

// Processes that share one run (mpirun), each with its own devices. Regions of the output are dealt
// out by core/engine/stream.h; where a step needs the whole survey, all processes compute one pass
// together, and the operator gives its parts out by litho_run_rank() and litho_run_ranks().
//
// Thread-safety: one thread at a time per process. Every process makes the same calls in the same
// order; messages of one sender arrive in their order.

struct LithoPeers {
    int rank, n;
    gpointer data;
    // Whole messages. FALSE = the other side is gone or `run` was cancelled.
    gboolean (*send)(const void *bytes, gsize count, int to, LithoRun *run, gpointer data);
    gboolean (*receive)(void *bytes, gsize count, int from, LithoRun *run, gpointer data);
    guint64 sent, received; // out: bytes so far
    double waited_ms;       // out: time in send() and receive() so far
};

// One message. FALSE with a sentence: cancelled, the other process has gone or has failed (then
// with its sentence).
gboolean litho_peers_send(LithoPeers *peers, const void *bytes, gsize n, int to, LithoRun *run,
                          GError **error);
gboolean litho_peers_receive(LithoPeers *peers, void *bytes, gsize n, int from, LithoRun *run,
                             GError **error);
// Tells all others why nothing more comes from here.
void litho_peers_fail(LithoPeers *peers, const GError *why);
// The first process's bytes to all, by a binary tree.
gboolean litho_peers_spread(LithoPeers *peers, void *bytes, gsize n, LithoRun *run,
                            GError **error);

// --- within a pass ------------------------------------------------------------------------------

// This process among those that compute the pass together: 0 of 1 when it is alone.
int litho_run_rank(const LithoRun *run);
int litho_run_ranks(const LithoRun *run);
// For operators that share their work out: how many processes took part.
void litho_run_used_ranks(LithoRun *run, int n);
// x[0..n-1] becomes the sum over all processes, in all of them, added by a binary tree of ranks:
// equal runs give equal bytes. Where at most one process has a value other than 0 at every place
// the result does not depend on the number of processes.
gboolean litho_run_sum_floats(LithoRun *run, float *x, gsize n, GError **error);
gboolean litho_run_sum_doubles(LithoRun *run, double *x, gsize n, GError **error);
// `rows` rows of `bytes` bytes, of which process r has made rows litho_run_share(rows, r, ranks) to
// litho_run_share(rows, r + 1, ranks) - 1: all of them in all processes.
gboolean litho_run_gather_rows(LithoRun *run, void *rows, gsize bytes, gint64 n, GError **error);
// First of n units that belongs to process `rank` of `ranks`.
gint64 litho_run_share(gint64 n, int rank, int ranks);
