// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/pieces.h"

// Pieces closer than this are windows that slide: their number grows with the samples.
enum { APART = 16 };
// Samples of an axis on which the pieces show: several of any size.
enum { PROBED = 8192 };

// Pieces of `length` samples, each `apart` beyond the one before; the first begins `margin` samples
// above the axis, the last ends as far below it.
typedef struct Pieces {
    gint64 length, apart, margin;
} Pieces;

// Part of the input along an axis that sample `at` of the result needs.
static void need_at(const LithoWalkStep *l, const LithoGrid *grid, int axis, gint64 at, gint64 *lo,
                    gint64 *hi)
{
    LithoBox sample = {{0, 0, 0}, {1, 1, 1}};
    sample.lo[axis] = at;
    sample.hi[axis] = at + 1;
    const LithoBox need = l->step->op->input_box(grid, l->step->params, sample);
    *lo = need.lo[axis];
    *hi = need.hi[axis];
}

// The pieces along an axis, from where needs change: at the first sample that the second piece
// holds, and at the first one that is behind the first piece. What a piece needs around it moves
// its ends, not these samples, and hides the second of them where it is more than the piece: then
// `length` is 0. FALSE: there are no large pieces.
static gboolean find_pieces(const LithoWalkStep *l, int axis, Pieces *p)
{
    LithoGrid grid = l->in;
    grid.axis[axis].n = PROBED;
    gint64 lo, hi, first, end, second = 1, behind = 1;
    *p = (Pieces){0};
    need_at(l, &grid, axis, 0, &lo, &first);
    do
        need_at(l, &grid, axis, second, &lo, &hi);
    while (hi == first && ++second < PROBED);
    p->apart = hi - first;
    p->margin = p->apart - second;
    if (second == PROBED || p->apart < APART || p->margin < 0 || p->margin > second)
        return FALSE;
    do
        need_at(l, &grid, axis, behind, &lo, &end);
    while (lo == 0 && ++behind < PROBED);
    const gint64 length = behind + p->margin;
    // A piece that overlaps by more than a half is not worked on by itself.
    p->length = length > p->apart && length <= 2 * p->apart ? length : 0;
    return TRUE;
}

// Pieces whose length is hidden are as long as those of another axis that are as far apart.
static gboolean find_lengths(const LithoWalkStep *l, Pieces p[3])
{
    gboolean any = FALSE;
    for (int a = 0; a < 3; a++) {
        if (!find_pieces(l, a, &p[a]))
            p[a] = (Pieces){0};
        any |= p[a].length > 0;
    }
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3 && p[a].length == 0; b++)
            if (p[b].apart == p[a].apart)
                p[a].length = p[b].length;
    return any;
}

// Samples of all pieces of an axis of n.
static double samples_of(const Pieces *p, gint64 n)
{
    const gint64 all = n + 2 * p->margin, shared = p->length - p->apart;
    const gint64 pieces = (all - shared + p->apart - 1) / p->apart;
    return all <= p->length ? (double)all : (double)pieces * (double)p->length;
}

double litho_pieces_work(const LithoWalk *walk)
{
    double sum = 0;
    for (guint k = 0; k < walk->n; k++) {
        const LithoWalkStep *l = &walk->step[k];
        double work = 1;
        Pieces pieces[3];
        if (l->has_in && litho_operator_is_local(l->step->op, l->step->params) &&
            find_lengths(l, pieces))
            for (int a = 0; a < 3; a++)
                if (pieces[a].length > 0)
                    work *= samples_of(&pieces[a], l->in.axis[a].n) / (double)l->in.axis[a].n;
        sum += work;
    }
    return walk->n > 0 ? sum / walk->n : 1;
}
