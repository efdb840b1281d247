// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "core/cube.h"
#include "render/axes.h"

// The local similarity |c| of output and removed as a translucent layer over a section: nothing
// where the two are not alike, bright where an event leaves. Main thread.

// Picture of the slice of `axis` at `index` of a map of |c| (0..1); NULL when the map does not hold
// it. Columns are the view's horizontal axis, rows its vertical one.
GdkTexture *litho_similarity_picture(LithoCube *map, const LithoSliceMap *place);
// Lays it over the section, and a legend at the section's foot.
void litho_similarity_append(GtkSnapshot *snapshot, GdkTexture *picture, const LithoGrid *grid,
                             const LithoSliceMap *place);
void litho_similarity_append_legend(GtkSnapshot *snapshot, const LithoAxesStyle *style,
                                    LithoRect data);
