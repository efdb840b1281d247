// SPDX-License-Identifier: GPL-3.0-or-later
//
// The mark of a writer in a journal: how far it has come, and whether a file holds that much.
#include <string.h>

#include "core/io/writer_private.h"

enum { LANES = 4 };

// Tells torn and foreign bytes from those that were written, at the speed of memory: four sums of
// 64 bits, each step one multiplication.
static guint64 hash_bytes(guint64 seed, const guint8 *bytes, gint64 n)
{
    static const guint64 odd = 0x9e3779b97f4a7c15u;
    guint64 lane[LANES], word[LANES] = {0};
    for (int k = 0; k < LANES; k++)
        lane[k] = (seed ^ (guint64)n) + odd * (guint64)(k + 1);
    for (gint64 at = 0; at < n; at += (gint64)sizeof word) {
        const gsize left = (gsize)MIN(n - at, (gint64)sizeof word);
        if (left < sizeof word)
            memset(word, 0, sizeof word);
        memcpy(word, bytes + at, left);
        for (int k = 0; k < LANES; k++) {
            lane[k] = (lane[k] ^ word[k]) * odd;
            lane[k] ^= lane[k] >> 29;
        }
    }
    for (int k = 1; k < LANES; k++)
        lane[0] = (lane[0] ^ lane[k]) * odd + (lane[0] >> 32);
    return lane[0];
}

void litho_writer_count(LithoWriter *w, const guint8 *bytes, gint64 n, gint64 at)
{
    w->hash = hash_bytes(w->hash, bytes, n);
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
                              .hash = w->hash,
                              .runs = w->runs};
    w->hash = 0;
    w->runs = g_array_new(FALSE, FALSE, sizeof(gint64));
}

gboolean litho_writer_reach(LithoWriter *w, const LithoWriterMark *mark)
{
    enum { LONGEST = 1 << 30 }; // a write is 8 MB, or one trace
    guint64 hash = 0;
    if (mark->next_inline <= w->next_inline || mark->next_inline > w->grid.axis[0].n)
        return FALSE;
    for (guint k = 0; k + 1 < mark->runs->len; k += 2) {
        const gint64 at = g_array_index(mark->runs, gint64, k);
        const gint64 n = g_array_index(mark->runs, gint64, k + 1);
        g_autofree guint8 *bytes = n > 0 && n < LONGEST && at >= 0 ? g_try_malloc(n) : NULL;
        if (!bytes || !litho_output_read_at(w->out, bytes, n, at))
            return FALSE;
        hash = hash_bytes(hash, bytes, n);
    }
    if (hash != mark->hash)
        return FALSE;
    w->next_inline = mark->next_inline;
    w->written = mark->written;
    w->clipped = mark->clipped;
    w->not_finite = mark->not_finite;
    return TRUE;
}

void litho_writer_keep(LithoWriter *w)
{
    litho_output_keep(w->out);
}
