// SPDX-License-Identifier: GPL-3.0-or-later
// Packed chunks: the box that is asked for, put together of chunks that are kept.
#include "core/io/chunks.h"

#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"

typedef struct Slot {
    gint64 index;
    float *samples;
    GList link; // in the order of use, the last used first
} Slot;

struct LithoChunks {
    gint64 n[3], chunk[3], along[3]; // along: chunks along each axis
    LithoUnpack unpack;
    gpointer owner;
    GMutex lock;
    GHashTable *slots; // by index
    GQueue order;
    gsize most, samples; // slots that are kept; samples of a chunk
};

static void slot_free(gpointer data)
{
    Slot *slot = data;
    g_free(slot->samples);
    g_free(slot);
}

LithoChunks *litho_chunks_new(const gint64 n[3], const gint64 chunk[3], LithoUnpack unpack,
                              gpointer owner)
{
    LithoChunks *self = g_new0(LithoChunks, 1);
    self->samples = 1;
    for (int k = 0; k < 3; k++) {
        self->n[k] = n[k];
        self->chunk[k] = chunk[k];
        self->along[k] = (n[k] - 1) / chunk[k] + 1;
        self->samples *= (gsize)chunk[k];
    }
    self->most =
        MAX(litho_array_cache_bytes(n, chunk) / (self->samples * sizeof(float)), (gsize)1);
    self->unpack = unpack;
    self->owner = owner;
    g_mutex_init(&self->lock);
    self->slots = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, slot_free);
    g_queue_init(&self->order);
    return self;
}

void litho_chunks_free(LithoChunks *self)
{
    if (!self)
        return;
    g_hash_table_unref(self->slots);
    g_mutex_clear(&self->lock);
    g_free(self);
}

// The memory of the chunk that was used longest ago serves the next one.
static Slot *take_slot(LithoChunks *self, GError **error)
{
    if (g_hash_table_size(self->slots) >= self->most) {
        Slot *old = self->order.tail->data;
        g_queue_unlink(&self->order, &old->link);
        g_hash_table_steal(self->slots, &old->index);
        return old;
    }
    float *samples = litho_memory_new(self->samples, sizeof(float), N_("a chunk"), error);
    if (!samples)
        return NULL;
    Slot *slot = g_new0(Slot, 1);
    slot->samples = samples;
    slot->link.data = slot;
    return slot;
}

static const float *chunk_at(LithoChunks *self, const gint64 at[3], GError **error)
{
    const gint64 index = (at[0] * self->along[1] + at[1]) * self->along[2] + at[2];
    Slot *slot = g_hash_table_lookup(self->slots, &index);
    if (slot) {
        g_queue_unlink(&self->order, &slot->link);
    } else {
        slot = take_slot(self, error);
        if (!slot)
            return NULL;
        if (!self->unpack(self->owner, at, slot->samples, error)) {
            slot_free(slot);
            return NULL;
        }
        slot->index = index;
        g_hash_table_insert(self->slots, &slot->index, slot);
    }
    g_queue_push_head_link(&self->order, &slot->link);
    return slot->samples;
}

// Copies what the chunk at[] and the box have in common.
static void copy_common(const LithoChunks *self, const gint64 at[3], const float *from,
                        const gint64 first[3], const gint64 count[3], float *out)
{
    gint64 lo[3], hi[3];
    for (int k = 0; k < 3; k++) {
        lo[k] = MAX(first[k], at[k] * self->chunk[k]);
        hi[k] = MIN(first[k] + count[k], (at[k] + 1) * self->chunk[k]);
    }
    for (gint64 i = lo[0]; i < hi[0]; i++)
        for (gint64 j = lo[1]; j < hi[1]; j++) {
            const gint64 there = ((i - at[0] * self->chunk[0]) * self->chunk[1] + j -
                                  at[1] * self->chunk[1]) *
                                     self->chunk[2] +
                                 lo[2] - at[2] * self->chunk[2];
            const gint64 here =
                ((i - first[0]) * count[1] + j - first[1]) * count[2] + lo[2] - first[2];
            memcpy(out + here, from + there, (gsize)(hi[2] - lo[2]) * sizeof(float));
        }
}

gboolean litho_chunks_read(LithoChunks *self, const gint64 first[3], const gint64 count[3],
                           float *out, GError **error)
{
    gint64 lo[3], hi[3], at[3];
    gboolean good = TRUE;
    for (int k = 0; k < 3; k++) {
        lo[k] = first[k] / self->chunk[k];
        hi[k] = (first[k] + count[k] - 1) / self->chunk[k];
    }
    g_mutex_lock(&self->lock);
    for (at[0] = lo[0]; good && at[0] <= hi[0]; at[0]++)
        for (at[1] = lo[1]; good && at[1] <= hi[1]; at[1]++)
            for (at[2] = lo[2]; good && at[2] <= hi[2]; at[2]++) {
                const float *from = chunk_at(self, at, error);
                good = from != NULL;
                if (good)
                    copy_common(self, at, from, first, count, out);
            }
    g_mutex_unlock(&self->lock);
    return good;
}

void litho_unshuffle(guint8 *to, const guint8 *from, gsize n, gsize size)
{
    for (gsize byte = 0; byte < size; byte++)
        for (gsize k = 0; k < n; k++)
            to[k * size + byte] = from[byte * n + k];
}
