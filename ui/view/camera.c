// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/view/camera.h"

static const double KEY_PX = 12; // an arrow key is a drag of this length

gboolean litho_camera_key(LithoSceneView *view, LithoRect rect, guint key, GdkModifierType state)
{
    double dx = key == GDK_KEY_Left ? -KEY_PX : key == GDK_KEY_Right ? KEY_PX : 0;
    double dy = key == GDK_KEY_Up ? -KEY_PX : key == GDK_KEY_Down ? KEY_PX : 0;
    if (dx == 0 && dy == 0)
        return FALSE;
    *view = litho_camera_dragged(view, rect, (state & GDK_SHIFT_MASK) != 0, dx, dy);
    return TRUE;
}

LithoSceneView litho_camera_dragged(const LithoSceneView *from, LithoRect rect, gboolean pan,
                                    double dx, double dy)
{
    LithoSceneView view = *from;
    if (pan)
        litho_scene_pan(&view, rect, dx, dy);
    else
        litho_camera_orbit(&view.camera, dx, dy);
    return view;
}
