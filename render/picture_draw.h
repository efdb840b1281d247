// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "render/picture.h"

// The OpenGL half of picture.c; private. Built from picture_gl.c, or from picture_nogl.c where the
// program is built without OpenGL.

// Draws the data of all panels into their rectangles of one picture of the whole size; NULL when
// there is no OpenGL or it fails.
cairo_surface_t *litho_picture_draw_gl(const LithoPicture *picture, const LithoRect *rects,
                                       double scale, GError **error);
