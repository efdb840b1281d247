// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/common/alone.h"

#include <string.h>

#include "core/memory.h"

// TRUE where `fewest` traces, or as large a part of them as the survey has places around, are
// recorded beside the one at (il, xl).
static gboolean has_around(const LithoCube *raw, gint64 il, gint64 xl, int reach, int fewest)
{
    const LithoBox held = raw->held;
    const gint64 lo[2] = {MAX(il - reach, held.lo[0]), MAX(xl - reach, held.lo[1])};
    const gint64 hi[2] = {MIN(il + reach + 1, held.hi[0]), MIN(xl + reach + 1, held.hi[1])};
    const gint64 all = (gint64)(2 * reach + 1) * (2 * reach + 1);
    const gint64 part = fewest * (hi[0] - lo[0]) * (hi[1] - lo[1]) / all;
    gint64 left = MAX(part, MIN(fewest, LITHO_ALONE_LEAST));
    for (gint64 i = lo[0]; i < hi[0]; i++) {
        const guint8 *live = raw->live + litho_cube_trace_index(raw, i, lo[1]);
        for (gint64 k = 0; k < hi[1] - lo[1]; k++)
            left -= live[k] != 0;
        if (left < 0) // the trace itself is one
            return TRUE;
    }
    return FALSE;
}

gboolean litho_alone(const LithoCube *raw, LithoBox region, int reach, int fewest, guint8 **alone,
                     GError **error)
{
    const gint64 traces = litho_box_size(raw->held, 0) * litho_box_size(raw->held, 1);
    *alone = NULL;
    if (!memchr(raw->live, 0, traces))
        return TRUE;
    for (gint64 il = region.lo[0]; il < region.hi[0]; il++)
        for (gint64 xl = region.lo[1]; xl < region.hi[1]; xl++) {
            const gint64 k = litho_cube_trace_index(raw, il, xl);
            if (!raw->live[k] || has_around(raw, il, xl, reach, fewest))
                continue;
            if (!*alone && !(*alone = litho_memory_new(traces, 1, "flags of traces", error)))
                return FALSE;
            (*alone)[k] = 1;
        }
    return TRUE;
}
