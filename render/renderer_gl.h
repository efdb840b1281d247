// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "render/renderer.h"
#include "render/volume_gl.h"

// Shared by renderer.c (context, programs, lines, flat slices) and renderer_scene.c; private.

typedef struct LithoRenderer {
    char name[160];
    gboolean software, gles;
    GHashTable *programs; // variant key -> GL program
    guint line_program, mesh_program;
    guint vertex_array; // for everything: attributes are set per draw
    guint stream;       // vertices of lines that change every frame
    guint map_texture;
    guint8 map_rgba[LITHO_COLORMAP_SIZE][4]; // what the texture holds
    gboolean map_valid;
    GHashTable *meshes; // serial -> MeshBuffers
    guint64 frame;
} LithoRenderer;

typedef struct LithoPixels { // device pixels, y up as GL has it
    int x, y, w, h;
} LithoPixels;

LithoPixels litho_target_pixels(const LithoTarget *target, LithoRect rect);
int litho_target_height(const LithoTarget *target);

// A program from shader resources, "#define"s in front; 0 with `error`.
guint litho_program_new(const LithoRenderer *renderer, const char *vertex, const char *fragment,
                        const char *defines, GError **error);

// One kind of data in a panel: which textures it needs.
typedef struct LithoPanelData {
    int what; // 0 input, 1 output, 2 removed
    const LithoVolume *a, *b;
} LithoPanelData;

// Splits a panel into what is drawn where: SPLIT gives two scissor boxes. Returns how many; drops
// what has no volume or another shape.
guint litho_panel_data(const LithoTarget *target, const LithoVolume *input,
                       const LithoVolume *output, const LithoGrid *grid, LithoShow show,
                       double split, LithoRect rect, LithoPanelData sources[2],
                       LithoPixels scissors[2]);

// Uniforms of sample.glsl: the slice and its look.
typedef struct LithoSliceUniforms {
    const LithoGrid *grid;
    const LithoLook *look;
    int axis;
    gint64 index;
    double scale;
    LithoRect rect;
    const LithoTarget *target;
    gboolean magnified; // pixels no larger than samples, both ways
} LithoSliceUniforms;

// Calls `draw` with the right program current and all uniforms of sample.glsl set, once for every
// box of the slice that has arrived. `scene` chooses scene.* instead of slice.*.
void litho_renderer_each_cover(LithoRenderer *renderer, const LithoPanelData *source,
                               const LithoSliceUniforms *slice, gboolean scene,
                               void (*draw)(LithoRenderer *renderer, guint program, gpointer data),
                               gpointer data);

// Segments, from/to pairs in the coordinates of a pen's matrix.
typedef struct LithoLines {
    GArray *vertices; // of float
} LithoLines;

void litho_lines_init(LithoLines *lines);
void litho_lines_clear(LithoLines *lines);
void litho_lines_add(LithoLines *lines, const double from[3], const double to[3]);
// The look of lines, borrowed until they are drawn.
typedef struct LithoPen {
    const double *matrix;  // 4 x 4, column-major, to the clip space
    double view_w, view_h; // of the viewport, device pixels
    double width;          // device pixels
    const double *rgba;    // straight alpha
    double bias;           // depth that lines are moved towards the eye
} LithoPen;

void litho_renderer_draw_lines(LithoRenderer *renderer, const LithoLines *lines,
                               const LithoPen *pen);
// Draws lines from a buffer that stays on the device. `colours`: a buffer of 4 bytes per vertex
// (straight alpha) instead of the pen's; 0 = none.
void litho_renderer_draw_line_buffer(LithoRenderer *renderer, guint buffer, guint colours,
                                     guint n_vertices, const LithoPen *pen);
void litho_set_matrix(guint program, const char *name, const double matrix[16]);
void litho_renderer_begin(LithoRenderer *renderer);
void litho_renderer_end(LithoRenderer *renderer);

// Meshes of the 3-D scene, renderer_mesh.c. Their buffers stay on the device while they are drawn.
typedef struct LithoMeshDraw {
    const GPtrArray *meshes; // of LithoMesh, or NULL
    const LithoGrid *grid;
    const LithoSceneView *view;
    const double *matrix; // litho_scene_matrix()
    double width, height; // of the viewport, device pixels
    double scale;         // device pixels per logical pixel
} LithoMeshDraw;

// Either the opaque or the translucent ones; depth test and depth mask are the caller's.
void litho_renderer_draw_meshes(LithoRenderer *renderer, const LithoMeshDraw *draw,
                                gboolean translucent);
void litho_renderer_age_meshes(LithoRenderer *renderer); // drops buffers not drawn for a while
void litho_renderer_free_meshes(LithoRenderer *renderer);
// Divider of SPLIT in a panel, logical pixels.
void litho_renderer_draw_divider(LithoRenderer *renderer, const LithoTarget *target, LithoRect rect,
                                 double split);
