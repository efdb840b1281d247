// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/stream.h"

// lithoscope-cli under mpirun. MPI is a module, lithoscope-mpi.so, opened only in a process that
// mpirun started: everybody else neither needs nor loads an MPI library.

typedef struct LithoPeersModule {
    LithoPeers peers;
    int local_rank, local_n;         // among the processes on this machine
    guint64 (*least)(guint64 value); // the smallest `value` any rank gave; collective
    void (*stop)(int status);        // ends MPI; a status other than 0 ends the other ranks too
} LithoPeersModule;

// Seconds that a process other than the first waits when the run has failed, before it tells its
// sentence and ends the others: the first one has heard of it, or waits in vain, cleans up its
// half-written file, tells the sentence once for all and ends the job.
enum { LITHO_PEERS_CLEAN_UP_S = 3 };

// TRUE when mpirun has started this process and others beside it.
gboolean litho_peers_are_several(void);
// Called before a mistake in the words is told, which all processes have in common: others than the
// first wait LITHO_PEERS_CLEAN_UP_S, and the job ends meanwhile with the sentence of the first. One
// that goes on alone, as its machine's files differ, tells it itself.
void litho_peers_let_first_tell(void);
// NULL without `error`: this process runs alone. NULL with `error`: mpirun started it, but the
// module is missing or MPI refused.
LithoPeersModule *litho_peers_start(GError **error);

#define LITHO_PEERS_ENTRY "litho_peers_entry"
typedef LithoPeersModule *(*LithoPeersEntry)(GError **error);
