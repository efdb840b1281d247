// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/common/alone.h"

#include <string.h>

#include "core/memory.h"

// Recorded traces of inlines [lo, hi) of the cube: at each crossline, and before it.
typedef struct Rows {
    const LithoCube *raw;
    gint64 lo, hi, n;
    gint32 *at, *before; // [n], [n + 1]
} Rows;

static void add_row(Rows *rows, gint64 il, int sign)
{
    const guint8 *live =
        rows->raw->live + litho_cube_trace_index(rows->raw, il, rows->raw->held.lo[1]);
    for (gint64 k = 0; k < rows->n; k++)
        rows->at[k] += sign * live[k];
}

// Neither end moves back.
static void move_rows(Rows *rows, gint64 lo, gint64 hi)
{
    for (; rows->hi < hi; rows->hi++)
        add_row(rows, rows->hi, 1);
    for (; rows->lo < lo; rows->lo++)
        add_row(rows, rows->lo, -1);
    for (gint64 k = 0; k < rows->n; k++)
        rows->before[k + 1] = rows->before[k] + rows->at[k];
}

static void find_ends(const LithoCube *raw, const LithoAround *around, int axis, gint64 at,
                      gint64 *lo, gint64 *hi)
{
    const int half = around->half[axis];
    const gint64 n = around->inside[axis];
    const gint64 centre = n > 0 ? CLAMP(at, half, n - 1 - half) : at;
    *lo = MAX(centre - half, raw->held.lo[axis]);
    *hi = MIN(centre + half + 1, raw->held.hi[axis]);
}

// Others that are enough in a rectangle of so many traces.
static gint64 enough(const LithoAround *around, gint64 traces)
{
    const gint64 all = (gint64)(2 * around->half[0] + 1) * (2 * around->half[1] + 1);
    return around->inside[0] > 0
               ? around->fewest
               : MAX(around->fewest * traces / all, MIN(around->fewest, LITHO_ALONE_LEAST));
}

// Marks inline il. FALSE: no memory.
static gboolean mark(const Rows *rows, const LithoAround *around, LithoBox region, gint64 il,
                     guint8 **alone, GError **error)
{
    const LithoCube *raw = rows->raw;
    const gint64 traces = litho_box_size(raw->held, 0) * rows->n, first = raw->held.lo[1];
    for (gint64 xl = region.lo[1]; xl < region.hi[1]; xl++) {
        const gint64 k = litho_cube_trace_index(raw, il, xl);
        gint64 lo, hi;
        find_ends(raw, around, 1, xl, &lo, &hi);
        const gint64 others = rows->before[hi - first] - rows->before[lo - first] - 1;
        if (!raw->live[k] || others >= enough(around, (rows->hi - rows->lo) * (hi - lo)))
            continue;
        if (!*alone && !(*alone = litho_memory_new(traces, 1, "flags of traces", error)))
            return FALSE;
        (*alone)[k] = 1;
    }
    return TRUE;
}

gboolean litho_alone(const LithoCube *raw, LithoBox region, LithoAround around, guint8 **alone,
                     GError **error)
{
    const gint64 n = litho_box_size(raw->held, 1);
    *alone = NULL;
    if (!memchr(raw->live, 0, litho_box_size(raw->held, 0) * n))
        return TRUE;
    g_autofree gint32 *counts =
        litho_memory_new(2 * n + 1, sizeof *counts, "flags of traces", error);
    Rows rows = {.raw = raw, .n = n, .at = counts, .before = counts ? counts + n : NULL};
    if (!counts)
        return FALSE;
    for (gint64 il = region.lo[0]; il < region.hi[0]; il++) {
        gint64 lo, hi;
        find_ends(raw, &around, 0, il, &lo, &hi);
        if (il == region.lo[0])
            rows.lo = rows.hi = lo;
        move_rows(&rows, lo, hi);
        if (!mark(&rows, &around, region, il, alone, error))
            return FALSE;
    }
    return TRUE;
}
