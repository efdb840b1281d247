// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "render/volume.h"
#include "ui/view/cube_view.h"
#include "ui/view/model_view.h"

// The middle of the window: four linked views over one OpenGL area, which holds the textures of
// input and result once for all of them.
#define LITHO_TYPE_CANVAS (litho_canvas_get_type())
G_DECLARE_FINAL_TYPE(LithoCanvas, litho_canvas, LITHO, CANVAS, GtkWidget)

// `judgement`: whose similarity maps the sections show while they are wanted; NULL = none.
GtkWidget *litho_canvas_new(LithoSession *session, LithoJudgement *judgement);
// -1 = all four, else the one of that axis fills the canvas. Signal "layout-changed" when it is
// another than before.
void litho_canvas_maximise(LithoCanvas *self, int axis);
int litho_canvas_maximised(LithoCanvas *self);
LithoCubeView *litho_canvas_view(LithoCanvas *self, int axis);
// Contents of the 3-D panel: -1 = the data, else the operators' shapes of that LithoSpace. Without
// such shapes the data are shown until there are some.
void litho_canvas_show_model(LithoCanvas *self, int space);
void litho_canvas_next_model(LithoCanvas *self);          // data, model, boxes, data: what there is
LithoModelView *litho_canvas_model(LithoCanvas *self);    // NULL while the panel shows the data
void litho_canvas_zoom(LithoCanvas *self, double factor); // the active view; > 1 closer
void litho_canvas_fit(LithoCanvas *self);                 // all of them
// The view with the keyboard, or else the first visible one.
LithoCubeView *litho_canvas_active_view(LithoCanvas *self);
void litho_canvas_focus(LithoCanvas *self); // gives the active view the keyboard
GtkWidget *
litho_canvas_area(LithoCanvas *self); // the GtkGLArea; its "realize" makes the name known
// "llvmpipe (...), OpenGL 4.5", or the sentence why nothing can be drawn; "" before the first
// frame. Borrowed.
const char *litho_canvas_gl_name(LithoCanvas *self, gboolean *failed);
// State of the result's textures (how samples reached the screen).
void litho_canvas_volume_info(LithoCanvas *self, LithoVolumeInfo *info);
const LithoVolume *
litho_canvas_output(LithoCanvas *self); // borrowed; its textures belong to area()
// Nothing waits to be copied into a texture or painted in a coming frame.
gboolean litho_canvas_is_whole(LithoCanvas *self);
guint64 litho_canvas_frames(LithoCanvas *self); // drawn since the start
// Number of times that a view (LITHO_INLINE .. LITHO_VIEW_SCENE; LITHO_N_VIEWS = the model) was
// painted: only when it changed.
guint64 litho_canvas_paints(LithoCanvas *self, int view);
