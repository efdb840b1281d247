// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/grid.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"

LithoGrid litho_grid_new(gint64 n_inline, gint64 n_xline, gint64 n_sample)
{
    LithoGrid grid = {
        .axis = {{.n = n_inline, .first = 1, .step = 1},
                 {.n = n_xline, .first = 1, .step = 1},
                 {.n = n_sample, .first = 0, .step = 0.004, .unit = "s"}},
        .has_xy = TRUE,
        .inline_step = {0, 25},
        .xline_step = {25, 0},
    };
    return grid;
}

static guint spread_hash(gconstpointer key)
{
    const LithoSpread *s = key;
    guint hash = (guint)s->n * 31 + (guint)s->lines;
    const guint32 *words = (const guint32 *)s->source;
    for (int k = 0; k < 6 * s->n; k++)
        hash = hash * 31 + words[k];
    return hash;
}

static gboolean spread_equal(gconstpointer a, gconstpointer b)
{
    const LithoSpread *p = a, *q = b;
    return p->n == q->n && p->lines == q->lines && p->receiver_z == q->receiver_z &&
           memcmp(p->source, q->source, sizeof *p->source * p->n) == 0;
}

const LithoSpread *litho_spread_get(int n, gint64 lines, double receiver_z,
                                    const double (*source)[3])
{
    static GMutex lock;
    static GHashTable *known;
    LithoSpread *wanted = g_malloc0(sizeof *wanted + sizeof *source * n);
    wanted->n = n;
    wanted->lines = lines;
    wanted->receiver_z = receiver_z;
    memcpy(wanted->source, source, sizeof *source * n);
    g_mutex_lock(&lock);
    if (!known)
        known = g_hash_table_new(spread_hash, spread_equal);
    LithoSpread *have = g_hash_table_lookup(known, wanted);
    if (have)
        g_free(wanted);
    else
        g_hash_table_add(known, have = wanted);
    g_mutex_unlock(&lock);
    return have;
}

void litho_grid_receiver(const LithoGrid *grid, gint64 i, gint64 j, double xy[2])
{
    if (grid->spread)
        i %= grid->spread->lines;
    for (int c = 0; c < 2; c++)
        xy[c] = grid->origin[c] + i * grid->inline_step[c] + j * grid->xline_step[c];
}

gint64 litho_grid_traces(const LithoGrid *grid)
{
    return grid->axis[LITHO_INLINE].n * grid->axis[LITHO_XLINE].n;
}

gint64 litho_grid_samples(const LithoGrid *grid)
{
    return litho_grid_traces(grid) * grid->axis[LITHO_SAMPLE].n;
}

double litho_axis_value(const LithoAxis *axis, double index)
{
    return axis->first + axis->step * index;
}

double litho_axis_index(const LithoAxis *axis, double value)
{
    return axis->step != 0 ? (value - axis->first) / axis->step : 0;
}

double litho_grid_spacing(const LithoGrid *grid, int axis)
{
    const double *step = axis == LITHO_INLINE ? grid->inline_step : grid->xline_step;
    double length = grid->has_xy ? hypot(step[0], step[1]) : 0;
    return length > 0 ? length : 25;
}

gboolean litho_grid_is_placed(const LithoGrid *grid)
{
    return grid->has_xy && grid->xy_source != LITHO_FROM_ASSUMED &&
           !(grid->spread && grid->has_no_place);
}

double litho_grid_nyquist(const LithoGrid *grid)
{
    return (grid->is_depth ? 1000 : 1) * 0.5 / fabs(grid->axis[LITHO_SAMPLE].step);
}

gboolean litho_grid_same_shape(const LithoGrid *a, const LithoGrid *b)
{
    return a->axis[0].n == b->axis[0].n && a->axis[1].n == b->axis[1].n &&
           a->axis[2].n == b->axis[2].n;
}

gboolean litho_grid_matches(const LithoGrid *a, const LithoGrid *b)
{
    return litho_grid_same_shape(a, b) && a->is_depth == b->is_depth;
}

char *litho_grid_size_text(const LithoGrid *grid)
{
    const LithoAxis *a = grid->axis;
    return g_strdup_printf("%" PRId64 " x %" PRId64 " x %" PRId64, a[0].n, a[1].n, a[2].n);
}

gboolean litho_grid_equal(const LithoGrid *a, const LithoGrid *b)
{
    for (int k = 0; k < 3; k++) {
        const LithoAxis *p = &a->axis[k], *q = &b->axis[k];
        double tolerance = 1e-6 * fabs(p->step);
        if (p->n != q->n || fabs(p->first - q->first) > tolerance ||
            fabs(p->step - q->step) > tolerance)
            return FALSE;
    }
    return a->is_depth == b->is_depth;
}

gboolean litho_grid_check(const LithoGrid *grid, GError **error)
{
    gint64 bytes = 4;
    for (int k = 0; k < 3; k++) {
        gint64 n = grid->axis[k].n;
        if (n < 1 || __builtin_mul_overflow(bytes, n, &bytes) || bytes > G_MAXINT64 / 4) {
            g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
                        _("a cube of %" PRId64 " x %" PRId64 " x %" PRId64
                          " samples cannot be held; every axis needs 1 sample or more"),
                        grid->axis[0].n, grid->axis[1].n, grid->axis[2].n);
            return FALSE;
        }
    }
    return TRUE;
}

LithoBox litho_box_full(const LithoGrid *grid)
{
    return (LithoBox){.hi = {grid->axis[0].n, grid->axis[1].n, grid->axis[2].n}};
}

LithoBox litho_box_slice(const LithoGrid *grid, int axis, gint64 index)
{
    LithoBox box = litho_box_full(grid);
    box.lo[axis] = CLAMP(index, 0, grid->axis[axis].n - 1);
    box.hi[axis] = box.lo[axis] + 1;
    return box;
}

LithoBox litho_box_intersect(LithoBox a, LithoBox b)
{
    LithoBox r;
    for (int k = 0; k < 3; k++) {
        r.lo[k] = MAX(a.lo[k], b.lo[k]);
        r.hi[k] = MAX(MIN(a.hi[k], b.hi[k]), r.lo[k]);
    }
    return r;
}

LithoBox litho_box_union(LithoBox a, LithoBox b)
{
    if (litho_box_empty(a))
        return b;
    if (litho_box_empty(b))
        return a;
    for (int k = 0; k < 3; k++) {
        a.lo[k] = MIN(a.lo[k], b.lo[k]);
        a.hi[k] = MAX(a.hi[k], b.hi[k]);
    }
    return a;
}

LithoBox litho_box_grow(const LithoGrid *grid, LithoBox box, const gint64 halo[3])
{
    for (int k = 0; k < 3; k++) {
        box.lo[k] = MAX(box.lo[k] - halo[k], 0);
        box.hi[k] = MIN(box.hi[k] + halo[k], grid->axis[k].n);
    }
    return box;
}

gboolean litho_box_empty(LithoBox box)
{
    return box.lo[0] >= box.hi[0] || box.lo[1] >= box.hi[1] || box.lo[2] >= box.hi[2];
}

gboolean litho_box_equal(LithoBox a, LithoBox b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

gboolean litho_box_contains(LithoBox outer, LithoBox inner)
{
    for (int k = 0; k < 3; k++)
        if (inner.lo[k] < outer.lo[k] || inner.hi[k] > outer.hi[k])
            return FALSE;
    return TRUE;
}

gint64 litho_box_size(LithoBox box, int axis)
{
    return MAX(box.hi[axis] - box.lo[axis], 0);
}

gint64 litho_box_count(LithoBox box)
{
    return litho_box_size(box, 0) * litho_box_size(box, 1) * litho_box_size(box, 2);
}
