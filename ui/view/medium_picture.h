// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "render/view.h"
#include "ui/session/medium.h"

// A slice of the medium as colours. Main thread.

// The slice of `axis` at the place that the session shows; columns are the view's horizontal axis,
// rows its vertical one, downwards. NULL = there is no layer.
GdkTexture *litho_medium_picture(LithoMedium *medium, LithoSession *session, int axis);
// Pixels between which the picture of a layer on the grid `layer` lies in `map`, so that each of its
// samples is in the middle of its own pixel.
void litho_medium_place(const LithoGrid *layer, const LithoGrid *grid, const LithoSliceMap *map,
                        double from[2], double to[2]);
// Lays it over the section of `map`, as strongly as the medium says.
void litho_medium_append(GtkSnapshot *snapshot, LithoMedium *medium, GdkTexture *picture,
                         const LithoGrid *grid, const LithoSliceMap *map);
