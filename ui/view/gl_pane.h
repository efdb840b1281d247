// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "render/view.h"

// A GtkGLArea that may show finished pictures in place of its framebuffer. Where OpenGL is computed
// on the processor, GTK's own way from the framebuffer to the screen costs more than the drawing:
// GTK 4.8 converts every pixel through floats. A view that has changed is read back as it is, the
// others keep their picture and are not touched.
#define LITHO_TYPE_GL_PANE (litho_gl_pane_get_type())
G_DECLARE_FINAL_TYPE(LithoGlPane, litho_gl_pane, LITHO, GL_PANE, GtkGLArea)

enum { LITHO_PANE_PICTURES = 8 };

GtkWidget *litho_gl_pane_new(void);
// TRUE: what "render" draws is not shown, the pictures are. Before the first frame.
void litho_gl_pane_set_pictures(LithoGlPane *self, gboolean on);
// Picture `which` at `place` (the widget's own pixels) from now on, NULL = none. During "render".
void litho_gl_pane_show(LithoGlPane *self, guint which, cairo_surface_t *picture, LithoRect place);
