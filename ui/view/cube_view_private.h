// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/view/colour_bar.h"
#include "ui/view/cube_view.h"

typedef struct LithoViewPanel {
    LithoShow show;
    LithoRect area;      // of the panel with its text, in the widget's own pixels
    LithoFrame frame;    // likewise
    LithoGrid grid;      // of what is shown: the input's, where it differs from the result's
    LithoSliceView view; // sections and time slices, in indices of `grid`
    LithoSliceMap map;
    gboolean beside;   // the panel on the left has the numbers of its upright axis
    gboolean of_input; // `grid` is the input's and another one than the session's
} LithoViewPanel;

enum { LITHO_VIEW_PANELS = 2, LITHO_VIEW_PIECES = 3 };

// A part of the text over the samples, kept until what it shows changes.
typedef struct LithoViewPiece {
    GskRenderNode *node; // NULL = nothing to draw, or not made yet
    guint64 hash;
} LithoViewPiece;

struct _LithoCubeView {
    GtkWidget parent;
    LithoSession *session;
    LithoJudgement *judgement; // or NULL
    guint64 map_serial;        // of `map_picture`, 0 = none
    gint64 map_index;
    GdkTexture *map_picture; // similarity on the slice; NULL = none
    int axis;
    gboolean large;
    double covered; // pixels from the left that the canvas' buttons take beside the title
    guint n_panels; // 0 = nothing to show, or no room
    LithoViewPanel panel[LITHO_VIEW_PANELS];
    guint n_drawn; // panels whose pieces belong to what is shown
    LithoViewPiece piece[LITHO_VIEW_PANELS][LITHO_VIEW_PIECES];

    // Drag under way, cube_view_input.c.
    enum {
        DRAG_NONE,
        DRAG_PAN,
        DRAG_SPLIT,
        DRAG_RUBBER,
        DRAG_AREA,
        DRAG_ORBIT,
        DRAG_MOVE,
        DRAG_SLICE,
        DRAG_BAR
    } drag;
    LithoViewPanel drag_panel; // where it began
    LithoSliceView drag_view;  // as it was at the beginning
    LithoSceneView drag_scene;
    int drag_axis;
    LithoBarDrag drag_bar;
    LithoRect rubber;
    int diagonal;      // of it, as in LithoArea
    double pointer[2]; // last place of the mouse
    double scroll;     // wheel steps not yet used, for touchpads
};

// Text over the samples, cube_view_overlay.c.
LithoAxesStyle litho_cube_view_style(LithoCubeView *self);
// "Inline 1051", "Time 600 ms", "Line", "3-D scene"; g_free().
char *litho_cube_view_title(LithoCubeView *self, const LithoGrid *grid, gint64 index);
// "Removed ×4, AGC 400 ms", "Output, velocity": which samples are shown, how, and what lies over
// them; in split both names, left and right of the divider; g_free().
char *litho_cube_view_note(LithoCubeView *self, LithoShow show);
// Draws again what has changed; TRUE when something has.
gboolean litho_cube_view_overlay_update(LithoCubeView *self);
void litho_cube_view_overlay_append(LithoCubeView *self, GtkSnapshot *snapshot);
void litho_cube_view_overlay_clear(LithoCubeView *self);
void litho_cube_view_input_init(LithoCubeView *self);
void litho_cube_view_layout(LithoCubeView *self);
// Panel whose samples lie under the point; NULL = none. Borrowed.
LithoViewPanel *litho_cube_view_panel_at(LithoCubeView *self, double x, double y);
// The panel's window, which may be in indices of the input, as the window of all views.
void litho_cube_view_set_window(LithoCubeView *self, const LithoViewPanel *panel,
                                const LithoSliceView *view);
LithoSceneView litho_cube_view_scene(LithoCubeView *self);
