// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "render/renderer.h"
#include "ui/session/judgement.h"

// One of the four views: a section, a time slice or the 3-D scene. The samples are painted by the
// canvas below it in one OpenGL context; this widget draws axes, title, colour bar and cross-hair
// over them and takes mouse and keyboard.
//
// Signal "maximise": double click or Enter.
#define LITHO_TYPE_CUBE_VIEW (litho_cube_view_get_type())
G_DECLARE_FINAL_TYPE(LithoCubeView, litho_cube_view, LITHO, CUBE_VIEW, GtkWidget)

enum { LITHO_VIEW_SCENE = 3, LITHO_N_VIEWS = 4 };

// `axis`: LITHO_INLINE, LITHO_XLINE, LITHO_SAMPLE or LITHO_VIEW_SCENE.
GtkWidget *litho_cube_view_new(LithoSession *session, int axis);
int litho_cube_view_axis(LithoCubeView *self);
// More room: full axis titles, and the colour bar is this view's.
void litho_cube_view_set_large(LithoCubeView *self, gboolean large);
// Buttons over the title's line end so many pixels from the left, 0 = there are none: what is shown
// is written right of them, or not at all where no room is left.
void litho_cube_view_set_covered(LithoCubeView *self, double width);
// Sets whose maps lie over the section while they are wanted; NULL = nobody's. Adds a reference.
void litho_cube_view_set_judgement(LithoCubeView *self, LithoJudgement *judgement);
// Zooms around the middle of the view; > 1 closer.
void litho_cube_view_zoom(LithoCubeView *self, double factor);
void litho_cube_view_step(LithoCubeView *self, gint64 by);
// Opens the colour maps beside the colour bar, or in the corner of a view without one.
void litho_cube_view_open_maps(LithoCubeView *self);

// Changes with everything that litho_cube_view_draw() paints but the samples themselves.
guint64 litho_cube_view_hash(LithoCubeView *self);
// Paints the samples. The renderer's context is current; the view's corner lies at (x, y) of the
// target.
void litho_cube_view_draw(LithoCubeView *self, LithoRenderer *renderer, const LithoTarget *target,
                          double x, double y, const LithoVolume *input, const LithoVolume *output);
