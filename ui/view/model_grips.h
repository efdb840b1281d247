// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "core/report.h"
#include "render/scene.h"

// Grips of an operator's model (LithoGrip in core/report.h) in a 3-D view: where they are, which
// one is chosen, and a move of it. The view has the pointer and the keys; it hands over the picture
// they happen in. Main thread.

typedef struct LithoModelGrips LithoModelGrips;

// The picture: indices of `grid`, whose box is one cell, seen by `view` in `rect`.
typedef struct LithoGripScene {
    const LithoGrid *grid;
    const LithoSceneView *view;
    LithoRect rect;
} LithoGripScene;

LithoModelGrips *litho_model_grips_new(void);
void litho_model_grips_free(LithoModelGrips *grips); // NULL is fine
// The grips among `shapes` (LithoShape; NULL = none) of one space. One that is held stays where the
// hand has it.
void litho_model_grips_take(LithoModelGrips *grips, const GArray *shapes, LithoSpace space);
guint litho_model_grips_length(const LithoModelGrips *grips);
// Deepest place a grip stands at.
double litho_model_grips_deepest(const LithoModelGrips *grips);

// The grip under a pixel becomes the chosen one and is held; FALSE = there is none.
gboolean litho_model_grips_hold(LithoModelGrips *grips, const LithoGripScene *scene, double x,
                                double y);
gboolean litho_model_grips_held(const LithoModelGrips *grips);
gboolean litho_model_grips_under(const LithoModelGrips *grips, const LithoGripScene *scene,
                                 double x, double y);
void litho_model_grips_release(LithoModelGrips *grips);
// Chooses the next grip.
void litho_model_grips_next(LithoModelGrips *grips);
// Brings the held grip to (dx, dy) pixels from where it was taken, or the chosen one so many steps
// down. FALSE: it stands there already.
gboolean litho_model_grips_drag(LithoModelGrips *grips, const LithoGripScene *scene, double dx,
                                double dy);
gboolean litho_model_grips_step(LithoModelGrips *grips, const LithoGripScene *scene, int steps);

// The chosen grip; NULL = there is none. Borrowed until the next call. `at` (may be NULL): its place.
const LithoGrip *litho_model_grips_chosen(const LithoModelGrips *grips, double *at);
// Where the chosen grip is in the picture; FALSE = nowhere.
gboolean litho_model_grips_where(const LithoModelGrips *grips, const LithoGripScene *scene,
                                 double *x, double *y);
// The text that the chosen grip's place gives its parameter; g_free().
char *litho_model_grips_text(const LithoModelGrips *grips);
// "Depth of boundary 0, 1000 m"; NULL = there is none. g_free().
char *litho_model_grips_describe(const LithoModelGrips *grips);
// Rings over the picture, with the chosen one's place beside it while `active`.
void litho_model_grips_draw(const LithoModelGrips *grips, cairo_t *cr, const LithoGripScene *scene,
                            const LithoAxesStyle *style, gboolean active);
