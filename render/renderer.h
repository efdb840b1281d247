// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "render/mesh.h"
#include "render/scene.h"
#include "render/view.h"
#include "render/volume.h"

// Draws slices and the 3-D scene with OpenGL 3.2 core (or GLES 3.0). One renderer per GL context,
// shared by all views of it. Needs the context current in every call.
//
// The draw calls paint into the framebuffer that is bound (GtkGLArea binds its own), set the
// viewport and scissor they need and put back: framebuffer untouched, viewport, scissor, blend,
// depth test off, program 0, vertex array 0. They do not clear outside their rectangle.

typedef struct LithoRenderer LithoRenderer;

// NULL with a sentence when the context is older than OpenGL 3.2 / GLES 3.0 or a shader does not
// compile.
LithoRenderer *litho_renderer_new(GError **error);
void litho_renderer_free(LithoRenderer *renderer); // NULL is fine
// "NVIDIA H200, OpenGL 4.6" or "llvmpipe (LLVM 15.0.6, 256 bits), OpenGL 4.5"; borrowed.
const char *litho_renderer_name(const LithoRenderer *renderer);
// Tells whether the current context is a software rasteriser, without a renderer. TRUE also when it
// cannot draw for us at all.
gboolean litho_gl_is_software(void);
char *litho_gl_device(void); // its name, GL_RENDERER; g_free()
// TRUE for Mesa's software rasterisers: the window then spares itself needless redraws.
gboolean litho_renderer_is_software(const LithoRenderer *renderer);

// Target of drawing: its size in logical pixels, and device pixels per logical pixel (may be
// fractional).
typedef struct LithoTarget {
    double width, height, scale;
} LithoTarget;

// Fills the whole target with one colour; what a view's render handler does first.
void litho_renderer_clear(LithoRenderer *renderer, const LithoTarget *target, const double rgb[3]);

// Clears one rectangle of the target.
void litho_renderer_clear_rect(LithoRenderer *renderer, const LithoTarget *target, LithoRect rect,
                               const double rgb[3]);

typedef struct LithoSliceDraw {
    const LithoVolume *input, *output; // either may be NULL: then nothing is drawn for it
    const LithoGrid *grid;             // of what is shown; input and output of another shape are
                                       // not drawn
    LithoSliceView view;
    LithoLook look;
    LithoShow show;
    LithoRect rect; // logical pixels; of all panels for SIDE
    gboolean has_cursor;
    double cursor[3]; // indices
    LithoUnits units; // for the grid lines' round numbers
    gboolean over;    // no background: what is drawn already stays where no samples have arrived
} LithoSliceDraw;

// Section or time slice with background, hatched missing traces, wiggles, grid lines, divider and
// cross-hair. Axes and text are litho_axes_draw()'s. Samples that have not arrived are background.
void litho_renderer_draw_slice(LithoRenderer *renderer, const LithoTarget *target,
                               const LithoSliceDraw *draw);

typedef struct LithoSceneDraw {
    const LithoVolume *input, *output;
    const LithoGrid *grid;
    LithoSceneView view;
    LithoLook look; // wiggles are not drawn here
    LithoShow show;
    LithoRect rect;
    const GPtrArray *meshes; // of LithoMesh, or NULL; drawn over the slices with depth test
    gboolean has_cursor;
    double cursor[3]; // three thin lines on the slices
} LithoSceneDraw;

// Needs a depth buffer in the bound framebuffer (gtk_gl_area_set_has_depth_buffer). Clears depth in
// its rectangle. Labels are litho_scene_draw_labels()'s.
void litho_renderer_draw_scene(LithoRenderer *renderer, const LithoTarget *target,
                               const LithoSceneDraw *draw);
