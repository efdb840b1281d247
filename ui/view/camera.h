// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gdk/gdk.h>
#include "render/scene.h"

// Keys and drags of a view with a camera, the same for the data and for the model.

// Arrows turn the camera, with Shift they move it. FALSE when the key is another one.
gboolean litho_camera_key(LithoSceneView *view, LithoRect rect, guint key, GdkModifierType state);
// The view as it is after a drag of (dx, dy) pixels that began at `from`.
LithoSceneView litho_camera_dragged(const LithoSceneView *from, LithoRect rect, gboolean pan,
                                    double dx, double dy);
