// SPDX-License-Identifier: GPL-3.0-or-later
//
// Input and result of one survey side by side although their samples are not of one kind: time
// before a migration, depth behind it. ui/session/depth_time.h lays them upon each other.
#include "ui/session/session_private.h"

#include <math.h>

gboolean litho_session_side_by_side(LithoSession *self)
{
    // A modelled output has no part of the input in it.
    if (!self->input || self->preview || !litho_session_result(self) ||
        !litho_flow_needs_input(self->flow))
        return FALSE;
    const LithoAxis *in = self->input->grid.axis, *out = litho_flow_check_out(self->check)->axis;
    return in[0].n == out[0].n && in[1].n == out[1].n;
}

// The input's grid when the views show another one; NULL = it is the one that they show.
static const LithoGrid *other_input_grid(LithoSession *self, const LithoGrid *shown)
{
    const LithoGrid *in = self->input ? &self->input->grid : NULL;
    return in && shown && !litho_grid_equal(shown, in) ? in : NULL;
}

double litho_session_to_input(LithoSession *self, double sample)
{
    const LithoGrid *shown = litho_session_grid(self), *in = other_input_grid(self, shown);
    return in ? litho_depth_time_convert(self->depth_time, shown, in, sample) : sample;
}

double litho_session_from_input(LithoSession *self, double sample)
{
    const LithoGrid *shown = litho_session_grid(self), *in = other_input_grid(self, shown);
    return in ? litho_depth_time_convert(self->depth_time, in, shown, sample) : sample;
}

// --- views of the input -------------------------------------------------------------------------

LithoSliceView litho_session_input_view(LithoSession *self, int axis)
{
    LithoSliceView view = litho_session_slice_view(self, axis);
    if (!other_input_grid(self, litho_session_grid(self)))
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
