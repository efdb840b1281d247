// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/report.h"
#include "render/mesh.h"
#include "render/scene.h"

// An operator's model (LithoShape in core/report.h), made ready for drawing: meshes in a box with
// axes of its own, a legend, a sentence. Immutable once made; reference-counted, any thread.
//
// Drawn by litho_renderer_draw_scene() with `grid`, `meshes` and no volumes, or by
// litho_model_draw() with cairo.

typedef struct LithoModelEntry {
    char label[64];
    LithoShapeKind kind;
    guint count;        // points, or boxes
    gboolean by_value;  // coloured by value: the legend shows the map
    float rgba[4];      // else this colour
    float lo[3], hi[3]; // bounds in the shapes' own units
} LithoModelEntry;

typedef struct LithoModel {
    LithoSpace space;
    LithoGrid grid; // one cell: indices -0.5..0.5 are the box around everything
    LithoAxisText axis[3];
    GPtrArray *meshes; // of LithoMesh, in indices of `grid`
    GArray *legend;    // of LithoModelEntry, in the operator's order
    gint refs;
} LithoModel;

// The shapes (LithoShape) of one space; NULL when there are none with a finite point.
LithoModel *litho_model_new(const GArray *shapes, LithoSpace space);
// Likewise, in a box that ends at `bottom` of the third axis or further down.
LithoModel *litho_model_new_down_to(const GArray *shapes, LithoSpace space, double bottom);
LithoModel *litho_model_ref(LithoModel *model);
void litho_model_unref(LithoModel *model); // NULL is fine
// Camera on the whole box, no slices.
LithoSceneView litho_model_view(const LithoModel *model);
// "Model" or "Boxes": the name of the switch; static.
const char *litho_space_name(LithoSpace space);
// One sentence for those who do not see the picture; g_free().
char *litho_model_describe(const LithoModel *model);
// Map of the values 0..1.
const LithoColormap *litho_model_colours(void);

// The picture of litho_renderer_draw_scene() with cairo: background, outline and shapes, without
// labels and legend. Slower, sharp at any size, needs no OpenGL.
void litho_model_draw(cairo_t *cr, const LithoModel *model, const LithoSceneView *view,
                      LithoRect rect, const double background[3]);
// One line per shape in the rectangle's top left corner, on a translucent ground; names too long
// end with an ellipsis, and shapes that find no room are counted in the last line.
void litho_model_draw_legend(cairo_t *cr, const LithoAxesStyle *style, const LithoModel *model,
                             LithoRect rect);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LithoModel, litho_model_unref)
