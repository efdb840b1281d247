// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "render/view.h"
#include "ui/session/medium.h"

// A slice of the medium as colours. Main thread.

// The slice of `axis` at the place that the session shows; columns are the view's horizontal axis,
// rows its vertical one, downwards. NULL = there is no layer.
GdkTexture *litho_medium_picture(LithoMedium *medium, LithoSession *session, int axis);
// Lays it over the section of `map`, as strongly as the medium says.
void litho_medium_append(GtkSnapshot *snapshot, LithoMedium *medium, GdkTexture *picture,
                         const LithoGrid *grid, const LithoSliceMap *map);
