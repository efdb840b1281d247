// SPDX-License-Identifier: GPL-3.0-or-later
//
// The mark of a writer in a journal: how far it has come, and whether a file holds that much.
#include <string.h>

#include "core/io/writer_private.h"

enum { LANES = 4 };

typedef struct Sums {
    guint64 lane[LANES];
} Sums;

static inline void add_words(Sums *sums, const guint8 *bytes)
{
    static const guint64 odd = 0x9e3779b97f4a7c15u;
    guint64 word[LANES];
    memcpy(word, bytes, sizeof word);
    for (int k = 0; k < LANES; k++) {
        sums->lane[k] = (sums->lane[k] ^ word[k]) * odd;
        sums->lane[k] ^= sums->lane[k] >> 29;
    }
}

// Tells torn and foreign bytes from those that were written, at the speed of memory: four sums of
// 64 bits, each step one multiplication.
static guint64 hash_piece(guint64 seed, const guint8 *bytes, gint64 n)
{
    static const guint64 odd = 0x9e3779b97f4a7c15u;
    const gint64 step = LANES * (gint64)sizeof(guint64);
    Sums sums;
    gint64 at = 0;
    for (int k = 0; k < LANES; k++)
        sums.lane[k] = (seed ^ (guint64)n) + odd * (guint64)(k + 1);
    for (; at + step <= n; at += step)
        add_words(&sums, bytes + at);
    if (at < n) {
        guint8 last[LANES * sizeof(guint64)] = {0};
        memcpy(last, bytes + at, (gsize)(n - at));
        add_words(&sums, last);
    }
    for (int k = 1; k < LANES; k++)
        sums.lane[0] = (sums.lane[0] ^ sums.lane[k]) * odd + (sums.lane[0] >> 32);
    return sums.lane[0];
}

guint64 litho_writer_hash(const guint8 *bytes, gint64 n)
{
    return hash_piece(0, bytes, n);
}

// The hash of what was counted so far and of the next piece's.
static guint64 chain(guint64 before, guint64 hash)
{
    return hash_piece(before, (const guint8 *)&hash, sizeof hash);
}

void litho_writer_count(LithoWriter *w, guint64 hash, gint64 n, gint64 at)
{
    w->hash = chain(w->hash, hash);
    g_array_append_val(w->runs, at);
    g_array_append_val(w->runs, n);
}

gint64 litho_writer_next_inline(const LithoWriter *w)
{
    return w->next_inline;
}

void litho_writer_mark(LithoWriter *w, LithoWriterMark *mark)
{
    *mark = (LithoWriterMark){.next_inline = w->next_inline,
                              .written = w->written,
                              .clipped = w->clipped,
                              .not_finite = w->not_finite,
                              .rounded = w->rounded,
                              .energy = w->energy,
                              .hash = w->hash,
                              .runs = w->runs};
    w->hash = 0;
    w->runs = g_array_new(FALSE, FALSE, sizeof(gint64));
}

gboolean litho_writer_reach(LithoWriter *w, const LithoWriterMark *mark)
{
    enum { LONGEST = 1 << 30 }; // a write is 2 MB, or one trace
    guint64 hash = 0;
    if (mark->next_inline <= w->next_inline || mark->next_inline > w->grid.axis[0].n)
        return FALSE;
    for (guint k = 0; k + 1 < mark->runs->len; k += 2) {
        const gint64 at = g_array_index(mark->runs, gint64, k);
        const gint64 n = g_array_index(mark->runs, gint64, k + 1);
        g_autofree guint8 *bytes = n > 0 && n < LONGEST && at >= 0 ? g_try_malloc(n) : NULL;
        if (!bytes || !litho_output_read_at(w->out, bytes, n, at))
            return FALSE;
        hash = chain(hash, litho_writer_hash(bytes, n));
    }
    if (hash != mark->hash)
        return FALSE;
    w->next_inline = mark->next_inline;
    w->written = mark->written;
    w->clipped = mark->clipped;
    w->not_finite = mark->not_finite;
    w->rounded = mark->rounded;
    w->energy = mark->energy;
    return TRUE;
}

void litho_writer_keep(LithoWriter *w)
{
    litho_output_keep(w->out);
}
