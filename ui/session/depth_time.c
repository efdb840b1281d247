// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/depth_time.h"

#include "core/report.h"

struct LithoDepthTime {
    GArray *pairs; // depth (m), two-way time (s); NULL = no curve
};

LithoDepthTime *litho_depth_time_new(void)
{
    return g_new0(LithoDepthTime, 1);
}

void litho_depth_time_free(LithoDepthTime *curve)
{
    if (!curve)
        return;
    g_clear_pointer(&curve->pairs, g_array_unref);
    g_free(curve);
}

void litho_depth_time_take(LithoDepthTime *curve, const GArray *curves)
{
    g_clear_pointer(&curve->pairs, g_array_unref);
    for (guint k = 0; curves && k < curves->len; k++) {
        const LithoCurve *c = &g_array_index(curves, LithoCurve, k);
        if (c->role != LITHO_CURVE_DEPTH_TIME || c->n < 2)
            continue;
        g_clear_pointer(&curve->pairs, g_array_unref);
        curve->pairs = g_array_sized_new(FALSE, FALSE, 2 * sizeof(double), c->n);
        for (guint i = 0; i < c->n; i++) {
            const double pair[2] = {c->x[i], c->y[i]};
            g_array_append_val(curve->pairs, pair);
        }
    }
}

// The curve's other coordinate at `value` of coordinate `from` (0 depth, 1 time), which grows along
// it; straight on beyond its ends.
static double along_curve(const GArray *curve, int from, double value)
{
    const double(*p)[2] = (const double(*)[2])(void *)curve->data;
    guint k = 1;
    while (k + 1 < curve->len && p[k][from] < value)
        k++;
    double width = p[k][from] - p[k - 1][from];
    double share = width > 0 ? (value - p[k - 1][from]) / width : 0;
    return p[k - 1][!from] + share * (p[k][!from] - p[k - 1][!from]);
}

double litho_depth_time_convert(const LithoDepthTime *curve, const LithoGrid *from,
                                const LithoGrid *to, double index)
{
    const LithoAxis *a = &from->axis[LITHO_SAMPLE], *b = &to->axis[LITHO_SAMPLE];
    if (from->is_depth == to->is_depth)
        return litho_axis_index(b, litho_axis_value(a, index));
    if (!curve->pairs)
        return a->n > 1 ? index * (b->n - 1) / (a->n - 1) : 0;
    double value = litho_axis_value(a, index);
    return litho_axis_index(b, along_curve(curve->pairs, from->is_depth ? 0 : 1, value));
}
