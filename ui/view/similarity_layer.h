// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "core/cube.h"
#include "render/axes.h"

// The local similarity |c| of output and removed as a translucent layer over a section: nothing
// where the two are not alike, bright where an event leaves. Main thread.

// Picture of the slice of `axis` at `index` of a map of |c| (0..1), clear where the map does not
// hold it; NULL when it holds nothing of it. Columns are the view's horizontal axis, rows its
// vertical one.
GdkTexture *litho_similarity_picture(LithoCube *map, const LithoSliceMap *place);
// Lays it over the section.
void litho_similarity_append(GtkSnapshot *snapshot, GdkTexture *picture, const LithoGrid *grid,
                             const LithoSliceMap *place);
// The edges of what the map holds, where that is not all of the section.
void litho_similarity_append_edges(GtkSnapshot *snapshot, const LithoCube *map,
                                   const LithoSliceMap *place);
// "similarity beside the noise" or that noise is not taken off. Static.
const char *litho_similarity_words(gboolean is_beside);
// These words and the colours, "|c|  0 [bar] 1", at the section's foot: in one line, or in two
// where it has no room.
void litho_similarity_append_legend(GtkSnapshot *snapshot, const LithoAxesStyle *style,
                                    LithoRect data, gboolean is_beside);
