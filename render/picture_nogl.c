// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/error.h"
#include "core/text.h"
#include "render/picture_draw.h"

cairo_surface_t *litho_picture_draw_gl(const LithoPicture *picture, const LithoRect *rects,
                                       double scale, GError **error)
{
    (void)picture;
    (void)rects;
    (void)scale;
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED,
                _("this program was built without OpenGL; the 3-D scene needs it"));
    return NULL;
}
