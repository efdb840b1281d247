// SPDX-License-Identifier: GPL-3.0-or-later
//
// lithoscope-mpi.so: LithoPeers by MPI. Calls come from one thread at a time
// (MPI_THREAD_SERIALIZED).
#include <mpi.h>
#include <sched.h>

#include "app/cli.h"
#include "app/peers.h"
#include "core/error.h"
#include "core/io/output.h"
#include "core/text.h"

enum { TAG_SLAB = 1, TAG_GO };
enum {
    CHUNK = 1 << 30, // MPI counts are ints
    LARGE = 1 << 20, // bytes of a message that both sides wait for together
};

// Polls until the message is there or gone, TRUE, or the run is cancelled. `moving`: both sides are
// at it, and every call of MPI_Test() may move a piece of some 32 KB, so that no time is slept
// away. Else no core spins: it polls often at first, for an answer that is on its way, then every
// 0.2 ms, far below any slab's time.
static gboolean wait_for(MPI_Request *request, gboolean moving, LithoRun *run)
{
    enum { LONGEST_US = 200 };
    int done = 0, wait_us = 1;
    while (MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
        if (!litho_run_checkpoint(run))
            return FALSE;
        if (moving) {
            sched_yield();
            continue;
        }
        g_usleep(wait_us);
        wait_us = MIN(2 * wait_us, LONGEST_US);
    }
    return done != 0;
}

// A send that has begun cannot be taken back, and MPI reads its bytes to the end: the other side
// has said that it is there, so that the end is near. Where it is not, this process is of no use.
static void finish_sending(MPI_Request *request)
{
    const gint64 until = g_get_monotonic_time() + LITHO_PEERS_CLEAN_UP_S * G_USEC_PER_SEC;
    int done = 0;
    while (MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
        if (g_get_monotonic_time() > until) {
            litho_outputs_abandon();
            MPI_Abort(MPI_COMM_WORLD, LITHO_EXIT_CANCELLED);
        }
        sched_yield();
    }
}

// One message of up to INT_MAX bytes. A short one is sent from a copy, which stays with MPI when
// the run is cancelled before anybody has asked for it: the process ends soon.
static gboolean send_bytes(const void *bytes, int n, int to, int tag, gboolean moving,
                           LithoRun *run)
{
    MPI_Request request;
    void *copy = n < LARGE ? g_memdup2(bytes, (gsize)n) : NULL;
    if (MPI_Isend(copy ? copy : bytes, n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request) !=
        MPI_SUCCESS) {
        g_free(copy);
        return FALSE;
    }
    const gboolean done = wait_for(&request, moving, run);
    if (!done && !copy)
        finish_sending(&request);
    if (done)
        g_free(copy);
    return done;
}

// Behind a cancel `bytes` is the caller's again: MPI has given the message up, or has put it there.
static gboolean receive_bytes(void *bytes, int n, int from, int tag, gboolean moving,
                              LithoRun *run)
{
    MPI_Request request;
    if (MPI_Irecv(bytes, n, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request) != MPI_SUCCESS)
        return FALSE;
    if (wait_for(&request, moving, run))
        return TRUE;
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return FALSE;
}

// A large message begins when the receiver has said that it is there.
static gboolean mpi_send(const void *bytes, gsize count, int to, LithoRun *run, gpointer data)
{
    (void)data;
    const char *at = bytes;
    const gboolean large = count >= LARGE;
    char word = 0;
    if (large && !receive_bytes(&word, 1, to, TAG_GO, FALSE, run))
        return FALSE;
    while (count > 0) {
        const int n = (int)MIN(count, (gsize)CHUNK);
        if (!send_bytes(at, n, to, TAG_SLAB, large, run))
            return FALSE;
        at += n;
        count -= n;
    }
    return TRUE;
}

static gboolean mpi_receive(void *bytes, gsize count, int from, LithoRun *run, gpointer data)
{
    (void)data;
    char *at = bytes;
    const gboolean large = count >= LARGE;
    char word = 0;
    if (large && !send_bytes(&word, 1, from, TAG_GO, FALSE, run))
        return FALSE;
    while (count > 0) {
        const int n = (int)MIN(count, (gsize)CHUNK);
        if (!receive_bytes(at, n, from, TAG_SLAB, large, run))
            return FALSE;
        at += n;
        count -= n;
    }
    return TRUE;
}

static guint64 least(guint64 value)
{
    guint64 all = value;
    MPI_Allreduce(&value, &all, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

static void stop(int status)
{
    if (status != 0)
        MPI_Abort(MPI_COMM_WORLD, status);
    MPI_Finalize();
}

LithoPeersModule *litho_peers_entry(GError **error);

LithoPeersModule *litho_peers_entry(GError **error)
{
    static LithoPeersModule module = {
        .peers = {.send = mpi_send, .receive = mpi_receive}, .least = least, .stop = stop};
    int provided = 0;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS ||
        provided < MPI_THREAD_SERIALIZED) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED,
                    _("MPI gives thread level %d; serialized (%d) is needed"), provided,
                    MPI_THREAD_SERIALIZED);
        return NULL;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &module.peers.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &module.peers.n);
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &module.local_rank);
    MPI_Comm_size(node, &module.local_n);
    MPI_Comm_free(&node);
    return &module;
}
