// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/session/points.h"

// The noted points that lie on the slice of `map`: a numbered ring each.
void litho_points_append(GtkSnapshot *snapshot, LithoPoints *points, const LithoAxesStyle *style,
                         const LithoSliceMap *map);
