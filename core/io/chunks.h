// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/io/array.h"

// An array that lies in packed chunks of one size, of which those read last stay unpacked. Chunks at
// the end of an axis are as large as all others.

typedef struct LithoChunks LithoChunks;

// Unpacks the chunk at[] (counted in chunks) into `out`, all of its samples, sample fastest. One call
// at a time; any thread.
typedef gboolean (*LithoUnpack)(gpointer owner, const gint64 at[3], float *out, GError **error);

// n[] and chunk[] are checked (litho_grid_check(), litho_array_check_chunk()).
LithoChunks *litho_chunks_new(const gint64 n[3], const gint64 chunk[3], LithoUnpack unpack,
                              gpointer owner);
void litho_chunks_free(LithoChunks *chunks); // NULL is fine
// Reads like LithoArray.read.
gboolean litho_chunks_read(LithoChunks *chunks, const gint64 first[3], const gint64 count[3],
                           float *out, GError **error);

// Puts the bytes of `n` elements of `size` bytes back into their order: the first bytes of all
// elements came first, then the second ones. `to` and `from` hold n * size bytes, and do not overlap.
void litho_unshuffle(guint8 *to, const guint8 *from, gsize n, gsize size);
