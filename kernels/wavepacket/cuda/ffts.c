// SPDX-License-Identifier: GPL-3.0-or-later
//
// Plans of cuFFT, which are slow to make: half a millisecond each, and a hundred times that for the
// first ones of a process. A plan that is given back waits for the next of its shape on its device,
// so that a slider that goes back and a second cube of one size find theirs made.
#include <string.h>

#include "core/error.h"
#include "kernels/wavepacket/cuda/wavepacket.h"

enum { MOST_IDLE = 4096 };

// All that cuFFT's plan depends on, cleared before it was filled.
typedef struct Key {
    int device, rank, batch;
    cufftType type;
    int n[3], from[3], to[3], strides[4];
} Key;

typedef struct Kept {
    guint hash; // of the key: most are told apart by it
    gboolean in_use;
    cufftHandle handle;
    size_t bytes;  // of its work area
    guint64 given; // number of the giving back: the lowest is the oldest
    Key key;
} Kept;

static GMutex lock;
static GArray *all; // of Kept
static guint idle;  // of them
static guint64 givings;

static Key key_of(int device, const WpFftShape *s)
{
    Key key;
    memset(&key, 0, sizeof key);
    key.device = device;
    key.rank = s->rank;
    key.batch = s->batch;
    key.type = s->type;
    for (int i = 0; i < s->rank; i++) {
        key.n[i] = s->n[i];
        key.from[i] = s->from.size[i];
        key.to[i] = s->to.size[i];
    }
    const int strides[4] = {s->from.stride, s->from.distance, s->to.stride, s->to.distance};
    memcpy(key.strides, strides, sizeof strides);
    return key;
}

// Fowler, Noll and Vo.
static guint hash_of(const Key *key)
{
    const guint8 *byte = (const guint8 *)key;
    guint hash = 2166136261u;
    for (gsize i = 0; i < sizeof *key; i++)
        hash = (hash ^ byte[i]) * 16777619u;
    return hash;
}

static gboolean find_idle(const Key *key, Kept *found)
{
    const guint hash = hash_of(key);
    gboolean any = FALSE;
    g_mutex_lock(&lock);
    for (guint i = 0; all && i < all->len && !any; i++) {
        Kept *k = &g_array_index(all, Kept, i);
        any = k->hash == hash && !k->in_use && memcmp(&k->key, key, sizeof *key) == 0;
        if (any) {
            k->in_use = TRUE;
            idle--;
            *found = *k;
        }
    }
    g_mutex_unlock(&lock);
    return any;
}

static gboolean make(const Key *key, const WpFftShape *s, Kept *made, GError **error)
{
    *made = (Kept){.hash = hash_of(key), .in_use = TRUE, .key = *key};
    if (!LITHO_CUFFT(cufftCreate(&made->handle), error))
        return FALSE;
    if (!LITHO_CUFFT(cufftSetAutoAllocation(made->handle, 0), error) ||
        !LITHO_CUFFT(cufftMakePlanMany(made->handle, s->rank, s->n, s->from.size, s->from.stride,
                                       s->from.distance, s->to.size, s->to.stride, s->to.distance,
                                       s->type, s->batch, &made->bytes),
                     error)) {
        cufftDestroy(made->handle);
        return FALSE;
    }
    g_mutex_lock(&lock);
    if (!all)
        all = g_array_new(FALSE, FALSE, sizeof(Kept));
    g_array_append_val(all, *made);
    g_mutex_unlock(&lock);
    return TRUE;
}

gboolean wp_cuda_make_fft(WpCuda *cuda, cufftHandle *plan, const WpFftShape *s, GError **error)
{
    const Key key = key_of(litho_cuda_device(cuda->context), s);
    Kept kept;
    if (cuda->stop && g_atomic_int_get(cuda->stop)) {
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "no longer wanted");
        return FALSE;
    }
    if (!find_idle(&key, &kept) && !make(&key, s, &kept, error))
        return FALSE;
    *plan = kept.handle;
    cuda->fft_work[s->stream] = MAX(cuda->fft_work[s->stream], kept.bytes);
    return LITHO_CUFFT(cufftSetStream(kept.handle, s->stream ? cuda->beside[s->stream - 1]
                                                             : litho_cuda_stream(cuda->context)),
                       error);
}

// Lock held. The plan that was given back first goes where more than MOST_IDLE are idle.
static void forget_oldest(void)
{
    guint oldest = 0;
    guint64 first = G_MAXUINT64;
    if (idle <= MOST_IDLE)
        return;
    for (guint i = 0; i < all->len; i++) {
        const Kept *k = &g_array_index(all, Kept, i);
        if (k->in_use || k->given >= first)
            continue;
        oldest = i;
        first = k->given;
    }
    cufftDestroy(g_array_index(all, Kept, oldest).handle);
    g_array_remove_index_fast(all, oldest);
    idle--;
}

void wp_cuda_drop_fft(cufftHandle plan)
{
    if (!plan)
        return;
    g_mutex_lock(&lock);
    for (guint i = 0; all && i < all->len; i++) {
        Kept *k = &g_array_index(all, Kept, i);
        if (!k->in_use || k->handle != plan)
            continue;
        k->in_use = FALSE;
        k->given = ++givings;
        idle++;
        forget_oldest();
        break;
    }
    g_mutex_unlock(&lock);
}
