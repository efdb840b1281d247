// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "render/model.h"
#include "render/renderer.h"
#include "ui/session/session.h"

// Shapes of the operators' model (boundaries, rays, boxes in frequency), in place of the 3-D scene
// of the data. The shapes are painted by the canvas in its OpenGL context; this widget draws labels
// and legend over them and takes mouse and keyboard. It follows the reports while a pass runs.
//
// Signals: "maximise": double click or Enter. "spaces-changed": shapes of a space came or went.
// "changed": the shapes or the camera, the canvas has to paint again.
#define LITHO_TYPE_MODEL_VIEW (litho_model_view_get_type())
G_DECLARE_FINAL_TYPE(LithoModelView, litho_model_view, LITHO, MODEL_VIEW, GtkWidget)

GtkWidget *litho_model_view_new(LithoSession *session);
gboolean litho_model_view_has(LithoModelView *self, LithoSpace space);
void litho_model_view_set_space(LithoModelView *self, LithoSpace space);
LithoModel *litho_model_view_model(LithoModelView *self); // borrowed; NULL = nothing to show
const LithoSceneView *litho_model_view_scene(LithoModelView *self);
void litho_model_view_set_large(LithoModelView *self, gboolean large);
void litho_model_view_zoom(LithoModelView *self, double factor);
void litho_model_view_turn(LithoModelView *self, double degrees); // about the vertical
void litho_model_view_fit(LithoModelView *self);
// Takes hold of the grip at a pixel of the view, FALSE = there is none; brings it to (dx, dy) pixels
// from there; lets go. All of it is one step of the history.
gboolean litho_model_view_hold(LithoModelView *self, double x, double y);
void litho_model_view_drag(LithoModelView *self, double dx, double dy);
void litho_model_view_release(LithoModelView *self);
// The chosen grip, where it is and its place; NULL = the model has none.
const LithoGrip *litho_model_view_grip(LithoModelView *self, double *x, double *y, double *at);
// Hash and painting, as litho_cube_view_hash() and litho_cube_view_draw().
guint64 litho_model_view_hash(LithoModelView *self);
void litho_model_view_draw(LithoModelView *self, LithoRenderer *renderer, const LithoTarget *target,
                           double x, double y);
