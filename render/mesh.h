// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Points, lines or sheets that an operator adds to the 3-D scene: rays, receivers, boundaries.
// Immutable once made; reference-counted, any thread.

typedef enum { LITHO_MESH_POINTS = 0, LITHO_MESH_LINES, LITHO_MESH_TRIANGLES } LithoMeshKind;

typedef struct LithoMesh {
    LithoMeshKind kind;
    guint n;         // vertices
    float *position; // 3 per vertex: fractional indices inline, crossline, sample
    guint n_index;   // 0 = vertices in order (lines: one polyline; triangles: every three)
    guint32 *index;  // lines: pairs; triangles: triples; points: unused
    float rgba[4];   // straight alpha
    guint8 *colour;  // 4 per vertex, straight alpha, instead of rgba; or NULL
    float size;      // logical pixels: line width or point diameter; 0 = 1.5 / 5
    char name[48];   // for legends; may be ""
    guint64 serial;  // unique; keys the renderer's buffers
    gint refs;
} LithoMesh;

// Copies the arrays. NULL `index` or n_index 0 = in order. Indices beyond `n` are a programming
// error. Triangle sheets are shaded by their facing; lines and points are flat.
LithoMesh *litho_mesh_new(LithoMeshKind kind, guint n, const float *position, guint n_index,
                          const guint32 *index, const float rgba[4], float size, const char *name);
// A sheet z(i, j) of sample indices over the grid's inlines x crosslines (NaN = hole).
LithoMesh *litho_mesh_new_sheet(guint n_inline, guint n_xline, const float *sample_index,
                                const float rgba[4], const char *name);
// Gives each vertex its own colour: `colour` is copied, 4 bytes for each of the mesh's n vertices.
// Translucent triangles of such a mesh are drawn from the farthest to the nearest. Before the mesh
// is shared.
void litho_mesh_set_colours(LithoMesh *mesh, const guint8 *colour);
// The mesh's triangles from the farthest to the nearest under `matrix` (column-major, to clip
// space): n_index indices into `order`.
void litho_mesh_far_to_near(const LithoMesh *mesh, const double matrix[16], guint32 *order);
gboolean litho_mesh_is_translucent(const LithoMesh *mesh);
void litho_mesh_unref(LithoMesh *mesh); // NULL is fine
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LithoMesh, litho_mesh_unref)
