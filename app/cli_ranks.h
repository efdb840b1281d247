// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <json-glib/json-glib.h>

#include "app/peers.h"

// The share of each process in a run, for its timings: host, seconds, processor time, time it
// waited, operations that its stages count, bytes sent and received. All processes call it, with
// the seconds that theirs took; the first one collects, the others send and get an empty array.
// NULL with an error: one of them has gone. json_array_unref().
JsonArray *litho_cli_ranks(LithoPeersModule *peers, double seconds, LithoRun *run, GError **error);
