// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <cairo.h>

#include "render/offscreen.h"
#include "render/renderer.h"
#include "tests/render_fixture.h"

// One off-screen OpenGL context for a whole test program, and pictures drawn in it.

enum { GL_WIDTH = 320, GL_HEIGHT = 240 };

extern LithoOffscreen *gl_screen; // NULL = no EGL here
extern LithoRenderer *gl_renderer;
extern const LithoTarget gl_target; // GL_WIDTH x GL_HEIGHT

void gl_begin(void); // makes context and renderer where there is EGL
void gl_end(void);
// Makes the context current. TRUE: there is none, and the test is skipped with the reason.
gboolean gl_missing(void);
// Draws one slice on green; the caller destroys the picture.
cairo_surface_t *gl_shoot(const LithoSliceDraw *draw);
// A volume that shows `cube`; litho_volume_free().
LithoVolume *gl_volume_with(LithoCube *cube);
// Slice `index` of `axis` over the whole picture, with the default look.
LithoSliceDraw gl_draw_of(const LithoVolume *in, const LithoVolume *out, const LithoGrid *grid,
                          int axis, gint64 index, LithoShow show);
