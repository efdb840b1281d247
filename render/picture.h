// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <cairo.h>
#include "core/cube.h"
#include "core/io/output.h"
#include "core/run.h"
#include "render/axes.h"
#include "render/model.h"
#include "render/scene.h"

// Pictures for reports: slices or the 3-D scene with axes, colour bar and titles into PNG, PDF or
// SVG, without a display. Sections need no OpenGL (raster.h draws them when there is none); the
// 3-D scene does; an operator's model is drawn with cairo.

typedef enum {
    LITHO_DRAW_AUTO = 0, // OpenGL when it can be had, else the CPU
    LITHO_DRAW_CPU,
    LITHO_DRAW_GL, // fail with the reason instead of falling back
} LithoDrawWith;

typedef struct LithoPanel {
    gboolean scene;          // 3-D scene instead of a slice
    const LithoModel *model; // an operator's model, seen through `view`, instead of both; or NULL
    LithoSliceView slice;
    LithoSceneView view; // for scenes
    LithoShow show;      // INPUT, OUTPUT, REMOVED or SPLIT
    const char *title;   // NULL = the slice's label, and which data where there are two cubes
} LithoPanel;

enum { LITHO_PICTURE_PANELS = 16 };

typedef struct LithoPicture {
    double width, height;    // logical pixels (points in PDF and SVG)
    double scale;            // device pixels per logical pixel in PNG; 0 = 1
    const LithoCube *input;  // never NULL
    const LithoCube *output; // same shape, or NULL
    // Elements are LithoCube: slices of a cube that is never there as a whole, in place of input's
    // and output's samples; NULL = input and output hold everything.
    const GPtrArray *input_parts, *output_parts;
    LithoLook look;
    guint n_panels, columns; // columns 0 = as square as possible
    LithoPanel panels[LITHO_PICTURE_PANELS];
    const char *title;        // above all panels; NULL = none
    const char *caption;      // below, small, in three lines at most: parameters, recipe; NULL = none
    const char *unit;         // of the amplitudes; NULL = none
    const char *clip_note;    // "99 %": how the clip was found; NULL = not said
    const GPtrArray *meshes;  // for scenes; NULL = none
    const char *const *texts; // key, value, key, value, ..., NULL: PNG text chunks beside the
                              // built-in ones (Title, Software, slice, clip, colour map)
    LithoDrawWith with;
    LithoAxesStyle style; // zero = black on white, 11 px
    LithoReplace replace; // what litho_picture_save() may replace; any file after the init
    const LithoRun *run;  // borrowed; its cancel ends drawing and writing; NULL = goes on to the end
} LithoPicture;

// Black on white, 1280 x 800, no panels yet.
void litho_picture_init(LithoPicture *picture, const LithoCube *input, const LithoCube *output);
// Appends a panel; ignored when full. Returns it for changes.
LithoPanel *litho_picture_add_slice(LithoPicture *picture, int axis, gint64 index, LithoShow show);
LithoPanel *litho_picture_add_scene(LithoPicture *picture, LithoShow show);
// `model` outlives the picture.
LithoPanel *litho_picture_add_model(LithoPicture *picture, const LithoModel *model);

// Draws into a file by core/io/output.h; the suffix decides: .png, .pdf, .svg.
gboolean litho_picture_save(const LithoPicture *picture, const char *path, GError **error);
// Draws into an image surface of width * scale x height * scale (RGB24).
cairo_surface_t *litho_picture_draw(const LithoPicture *picture, GError **error);
// PNG with text chunks (UTF-8 iTXt; key, value, ..., NULL) from an RGB24 or ARGB32 surface. `run`
// as in LithoPicture.
gboolean litho_png_write(cairo_surface_t *surface, const char *path, const char *const *texts,
                         LithoReplace replace, const LithoRun *run, GError **error);
