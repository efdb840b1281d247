// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/common/spikes.h"

#include "kernels/common/spikes_math.h"

enum { PIECE = LITHO_SPIKE_PIECE, REACH = LITHO_SPIKE_TRACES, BESIDE = LITHO_SPIKES_BESIDE };
G_STATIC_ASSERT((int)LITHO_SPIKE_PIECE == (int)LITHO_SPIKES_PIECE);
G_STATIC_ASSERT((int)LITHO_SPIKE_TRACES == (int)LITHO_SPIKES_REACH);

// The ends of a trace have none.
LITHO_CLONES static void measure_trace(const float *x, gint64 n, float *distance)
{
    for (gint64 t = 0; t < MIN(BESIDE, n); t++)
        distance[t] = distance[n - 1 - t] = 0;
    for (gint64 t = BESIDE; t < n - BESIDE; t++)
        distance[t] = litho_spikes_distance(x + t);
}

// Sum over the samples of a piece that are held, in their order.
static float sum_piece(const LithoSpikes *s, const float *distance, gint64 piece)
{
    const LithoBox held = s->in->held;
    const gint64 lo = MAX((s->first + piece) * PIECE, held.lo[2]) - held.lo[2];
    const gint64 hi = MIN((s->first + piece + 1) * PIECE, held.hi[2]) - held.lo[2];
    float sum = 0;
    for (gint64 t = lo; t < hi; t++)
        sum += distance[t];
    return sum;
}

static gboolean exceeds_neighbours(const LithoSpikes *s, gint64 k, gint64 t, float own)
{
    const LithoBox held = s->in->held;
    const gint64 n0 = litho_box_size(held, 0), n1 = litho_box_size(held, 1);
    const gint64 nt = litho_box_size(held, 2), il = k / n1, xl = k % n1;
    int neighbours = 0, weaker = 0;
    for (gint64 i = MAX(il - REACH, 0); i <= MIN(il + REACH, n0 - 1); i++)
        for (gint64 j = MAX(xl - REACH, 0); j <= MIN(xl + REACH, n1 - 1); j++) {
            const gint64 other = i * n1 + j;
            if (other == k || !s->in->live[other])
                continue;
            const float most = litho_spikes_largest(s->in->samples + other * nt, nt, t);
            neighbours += most > 0;
            weaker += most > 0 && own > s->above * most;
        }
    return neighbours >= LITHO_SPIKES_LEAST && 2 * weaker > neighbours;
}

// Marks of the samples of a piece that exceed their trace's mean and their neighbours'.
static guint16 mark_piece(const LithoSpikes *s, gint64 k, gint64 piece, const float *distance,
                          const float sums[3])
{
    const LithoBox held = s->in->held;
    const gint64 nt = litho_box_size(held, 2), start = (s->first + piece) * PIECE - held.lo[2];
    const float *x = s->in->samples + k * nt;
    const float least = LITHO_SPIKES_OWN * ((sums[0] + sums[1] + sums[2]) / (3 * PIECE));
    guint16 marks = 0;
    for (gint64 t = MAX(start, BESIDE); t < MIN(start + PIECE, nt - BESIDE); t++)
        if (distance[t] > least && litho_spikes_has_beside(x + t, distance[t]) &&
            exceeds_neighbours(s, k, t, distance[t]))
            marks |= (guint16)(1 << (t - start));
    return marks;
}

void litho_spikes_find(const LithoSpikes *s, gint64 k)
{
    const gint64 nt = litho_box_size(s->in->held, 2);
    const gint64 start = s->first * PIECE - s->in->held.lo[2]; // of the first piece
    const float *x = s->in->samples + k * nt;
    guint16 *at = s->at + k * s->pieces;
    if (!s->in->live[k])
        return;
    g_autofree float *distance = g_new(float, nt);
    g_autofree guint16 *marks = g_new(guint16, s->pieces);
    measure_trace(x, nt, distance);
    float sums[3] = {0, 0, sum_piece(s, distance, 0)};
    for (gint64 p = 0; p < s->pieces; p++) {
        sums[0] = sums[1];
        sums[1] = sums[2];
        sums[2] = p + 1 < s->pieces ? sum_piece(s, distance, p + 1) : 0;
        marks[p] = mark_piece(s, k, p, distance, sums);
    }
    for (gint64 p = 0; p < s->pieces; p++)
        for (int bit = 0; marks[p] && bit < PIECE; bit++) {
            const gint64 t = start + p * PIECE + bit;
            if (marks[p] >> bit & 1 &&
                litho_spikes_stands_alone(x + t, litho_spikes_marks(marks, s->pieces, p, bit), t,
                                          nt - 1 - t))
                at[p] |= (guint16)(1 << bit);
        }
}

gboolean litho_spikes_at(const LithoSpikes *s, gint64 k, gint64 t)
{
    const gint64 sample = s->in->held.lo[2] + t;
    return s->at[k * s->pieces + sample / PIECE - s->first] >> sample % PIECE & 1;
}

void litho_spikes_repair(const LithoSpikes *s, gint64 k, float *to)
{
    const gint64 start = s->first * PIECE - s->in->held.lo[2];
    const float *x = s->in->samples + k * litho_box_size(s->in->held, 2);
    const guint16 *at = s->at + k * s->pieces;
    for (gint64 p = 0; p < s->pieces; p++)
        for (int bit = 0; at[p] && bit < PIECE; bit++) {
            const gint64 t = start + p * PIECE + bit;
            if (at[p] >> bit & 1)
                to[t] =
                    (float)litho_spikes_through(x + t, litho_spikes_marks(at, s->pieces, p, bit));
        }
}
