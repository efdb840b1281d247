// SPDX-License-Identifier: GPL-3.0-or-later
//
// Input and result of one survey side by side although their samples are not of one kind: time
// before a migration, depth behind it. What lies at one depth lies at one time: the curve of the
// operator's report with the role LITHO_CURVE_DEPTH_TIME says which.
#include "ui/session/session_private.h"

#include <math.h>
#include <string.h>

gboolean litho_session_side_by_side(LithoSession *self)
{
    if (!self->input || self->preview || !self->result)
        return FALSE;
    const LithoAxis *in = self->input->grid.axis, *out = self->out_grid.axis;
    return in[0].n == out[0].n && in[1].n == out[1].n;
}

// --- the curve ----------------------------------------------------------------------------------

void litho_session_side_look(LithoSession *self)
{
    g_autoptr(GArray) curves = litho_session_report_curves(self);
    g_clear_pointer(&self->depth_time, g_array_unref);
    for (guint k = 0; curves && k < curves->len; k++) {
        const LithoCurve *c = &g_array_index(curves, LithoCurve, k);
        if (c->role != LITHO_CURVE_DEPTH_TIME || c->n < 2)
            continue;
        self->depth_time = g_array_sized_new(FALSE, FALSE, 2 * sizeof(double), c->n);
        for (guint i = 0; i < c->n; i++) {
            const double pair[2] = {c->x[i], c->y[i]};
            g_array_append_val(self->depth_time, pair);
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

// Sample index on one axis -> the index on the other at the same depth. Without a curve the two
// axes are laid upon each other from end to end.
double litho_session_convert(LithoSession *self, const LithoGrid *from, const LithoGrid *to,
                             double index)
{
    const LithoAxis *a = &from->axis[LITHO_SAMPLE], *b = &to->axis[LITHO_SAMPLE];
    if (from->is_depth == to->is_depth)
        return litho_axis_index(b, litho_axis_value(a, index));
    if (!self->depth_time)
        return a->n > 1 ? index * (b->n - 1) / (a->n - 1) : 0;
    double value = litho_axis_value(a, index);
    return litho_axis_index(b, along_curve(self->depth_time, from->is_depth ? 0 : 1, value));
}

double litho_session_to_input(LithoSession *self, double sample)
{
    if (!self->input || litho_grid_equal(&self->grid, &self->input->grid))
        return sample;
    return litho_session_convert(self, &self->grid, &self->input->grid, sample);
}

double litho_session_from_input(LithoSession *self, double sample)
{
    if (!self->input || litho_grid_equal(&self->grid, &self->input->grid))
        return sample;
    return litho_session_convert(self, &self->input->grid, &self->grid, sample);
}

// --- views of the input -------------------------------------------------------------------------

LithoSliceView litho_session_input_view(LithoSession *self, int axis)
{
    LithoSliceView view = litho_session_slice_view(self, axis);
    if (!self->input || litho_grid_equal(&self->grid, &self->input->grid))
        return view;
    gint64 last = self->input->grid.axis[LITHO_SAMPLE].n - 1;
    view.lo[LITHO_SAMPLE] = litho_session_to_input(self, view.lo[LITHO_SAMPLE]);
    view.hi[LITHO_SAMPLE] = litho_session_to_input(self, view.hi[LITHO_SAMPLE]);
    if (!(view.hi[LITHO_SAMPLE] > view.lo[LITHO_SAMPLE] + 1))
        view.hi[LITHO_SAMPLE] = view.lo[LITHO_SAMPLE] + 1;
    if (axis == LITHO_SAMPLE)
        view.index = CLAMP(llround(litho_session_to_input(self, view.index)), 0, last);
    return view;
}

LithoLook litho_session_look_for(LithoSession *self, LithoShow show)
{
    LithoLook look = self->display.look;
    const LithoRange *range = litho_ranges_get(self->ranges, LITHO_NUMBERS_IN);
    // Amplitudes of another kind have colours of their own.
    if (show == LITHO_SHOW_INPUT && litho_session_shown(self) == LITHO_SHOW_SIDE &&
        !litho_session_comparable(self) && range->hi > range->lo)
        litho_ranges_apply(self->ranges, range, &look);
    return look;
}
