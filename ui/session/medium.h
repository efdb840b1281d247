// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/session/session.h"

// The medium that the flow assumes (a velocity): the newest layer that its operators told, how
// strongly it lies over the sections, and its value anywhere. Main thread.
//
// Signal "changed": another layer, none any more, or another opacity.
#define LITHO_TYPE_MEDIUM (litho_medium_get_type())
G_DECLARE_FINAL_TYPE(LithoMedium, litho_medium, LITHO, MEDIUM, GObject)

LithoMedium *litho_medium_of(LithoSession *session);     // borrowed: the session's own
const LithoLayer *litho_medium_layer(LithoMedium *self); // NULL = none; until the next signal
void litho_medium_range(LithoMedium *self, double *lo, double *hi); // of the layer's samples
double litho_medium_opacity(LithoMedium *self);                     // 0..1, 0 = not over sections
void litho_medium_set_opacity(LithoMedium *self, double opacity);
// Linear between the layer's samples; FALSE where there is no layer, or another kind of samples is
// shown. Indices of the grid that is shown.
gboolean litho_medium_value(LithoMedium *self, const double at[3], double *value);
