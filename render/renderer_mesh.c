// SPDX-License-Identifier: GPL-3.0-or-later
//
// Points, lines and sheets of the 3-D scene on the device.
#include "render/renderer_gl.h"

#include <epoxy/gl.h>
#include <math.h>
#include <string.h>

typedef struct MeshBuffers {
    guint vertices, colours; // colours 0 = one for all
    guint indices;           // 0 = vertices in order
    guint count;             // vertices or indices to draw
    guint64 frame;           // last drawn
    double sorted_for[16];   // matrix that the order of translucent triangles belongs to
} MeshBuffers;

static void free_buffers(gpointer data)
{
    MeshBuffers *b = data;
    glDeleteBuffers(1, &b->vertices);
    if (b->colours)
        glDeleteBuffers(1, &b->colours);
    if (b->indices)
        glDeleteBuffers(1, &b->indices);
    g_free(b);
}

// --- lines and points ---------------------------------------------------------------------------

typedef struct Segments {
    LithoLines lines;
    GArray *colours; // of guint8
} Segments;

// From vertex `a` to vertex `b`; the six corners of litho_lines_add() in its order.
static void add_segment(Segments *s, const LithoMesh *mesh, guint a, guint b)
{
    static const gboolean far_end[6] = {FALSE, TRUE, FALSE, FALSE, TRUE, TRUE};
    double from[3], to[3];
    for (int c = 0; c < 3; c++) {
        from[c] = mesh->position[3 * (gsize)a + c];
        to[c] = mesh->position[3 * (gsize)b + c];
    }
    litho_lines_add(&s->lines, from, to);
    for (int k = 0; k < 6 && mesh->colour; k++)
        g_array_append_vals(s->colours, &mesh->colour[4 * (gsize)(far_end[k] ? b : a)], 4);
}

// A point is a segment of no length, widened by line.vert.
static void fill_segments(const LithoMesh *mesh, MeshBuffers *buffers)
{
    Segments s = {.colours = g_array_new(FALSE, FALSE, 1)};
    litho_lines_init(&s.lines);
    if (mesh->kind == LITHO_MESH_POINTS) {
        for (guint k = 0; k < mesh->n; k++)
            add_segment(&s, mesh, k, k);
    } else if (mesh->n_index > 0) {
        for (guint k = 0; k + 1 < mesh->n_index; k += 2)
            add_segment(&s, mesh, mesh->index[k], mesh->index[k + 1]);
    } else {
        for (guint k = 0; k + 1 < mesh->n; k++)
            add_segment(&s, mesh, k, k + 1);
    }
    buffers->count = s.lines.vertices->len / 8;
    glBufferData(GL_ARRAY_BUFFER, s.lines.vertices->len * sizeof(float), s.lines.vertices->data,
                 GL_STATIC_DRAW);
    if (mesh->colour) {
        glGenBuffers(1, &buffers->colours);
        glBindBuffer(GL_ARRAY_BUFFER, buffers->colours);
        glBufferData(GL_ARRAY_BUFFER, s.colours->len, s.colours->data, GL_STATIC_DRAW);
    }
    litho_lines_clear(&s.lines);
    g_array_unref(s.colours);
}

// --- upload -------------------------------------------------------------------------------------

static MeshBuffers *upload_mesh(const LithoMesh *mesh)
{
    MeshBuffers *buffers = g_new0(MeshBuffers, 1);
    glGenBuffers(1, &buffers->vertices);
    glBindBuffer(GL_ARRAY_BUFFER, buffers->vertices);
    if (mesh->kind != LITHO_MESH_TRIANGLES) {
        fill_segments(mesh, buffers);
        return buffers;
    }
    glBufferData(GL_ARRAY_BUFFER, (gsize)mesh->n * 3 * sizeof(float), mesh->position,
                 GL_STATIC_DRAW);
    if (mesh->colour) {
        glGenBuffers(1, &buffers->colours);
        glBindBuffer(GL_ARRAY_BUFFER, buffers->colours);
        glBufferData(GL_ARRAY_BUFFER, (gsize)mesh->n * 4, mesh->colour, GL_STATIC_DRAW);
    }
    buffers->count = mesh->n_index > 0 ? mesh->n_index : mesh->n;
    if (mesh->n_index > 0) {
        glGenBuffers(1, &buffers->indices);
        glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers->indices);
        glBufferData(GL_ELEMENT_ARRAY_BUFFER, (gsize)mesh->n_index * sizeof(guint32), mesh->index,
                     GL_STATIC_DRAW);
    }
    return buffers;
}

static MeshBuffers *mesh_buffers(LithoRenderer *renderer, const LithoMesh *mesh)
{
    if (!renderer->meshes)
        renderer->meshes = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_buffers);
    MeshBuffers *buffers = g_hash_table_lookup(renderer->meshes, &mesh->serial);
    if (!buffers) {
        buffers = upload_mesh(mesh);
        g_hash_table_insert(renderer->meshes, g_memdup2(&mesh->serial, sizeof mesh->serial),
                            buffers);
    }
    buffers->frame = renderer->frame;
    return buffers;
}

static gboolean is_stale(gpointer serial, gpointer buffers, gpointer renderer)
{
    (void)serial;
    return ((MeshBuffers *)buffers)->frame + 600 < ((LithoRenderer *)renderer)->frame;
}

void litho_renderer_age_meshes(LithoRenderer *renderer)
{
    if (renderer->meshes)
        g_hash_table_foreach_remove(renderer->meshes, is_stale, renderer);
}

void litho_renderer_free_meshes(LithoRenderer *renderer)
{
    if (renderer->meshes)
        g_hash_table_unref(renderer->meshes);
    renderer->meshes = NULL;
}

// --- drawing ------------------------------------------------------------------------------------

// Translucent triangles are seen rightly from the farthest to the nearest only. The order is needed
// again when the camera has moved.
static void sort_triangles(const LithoMesh *mesh, MeshBuffers *buffers, const double matrix[16])
{
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers->indices);
    if (memcmp(buffers->sorted_for, matrix, sizeof buffers->sorted_for) == 0)
        return;
    memcpy(buffers->sorted_for, matrix, sizeof buffers->sorted_for);
    g_autofree guint32 *order = g_new(guint32, mesh->n_index);
    litho_mesh_far_to_near(mesh, matrix, order);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, (gsize)mesh->n_index * sizeof(guint32), order,
                 GL_STREAM_DRAW);
}

static void draw_sheet(LithoRenderer *renderer, const LithoMeshDraw *draw, const LithoMesh *mesh,
                       MeshBuffers *buffers)
{
    double world[16];
    guint program = renderer->mesh_program;
    litho_scene_world(draw->grid, draw->view, world);
    // Light from above the viewer's left shoulder, so that shading follows the camera.
    double yaw = (draw->view->camera.yaw - 40) * G_PI / 180;
    double light[3] = {-sin(yaw) * 0.6, -cos(yaw) * 0.6, 0.53};
    double length = sqrt(light[0] * light[0] + light[1] * light[1] + light[2] * light[2]);
    glUseProgram(program);
    litho_set_matrix(program, "u_matrix", draw->matrix);
    litho_set_matrix(program, "u_world", world);
    glUniform3f(glGetUniformLocation(program, "u_light"), light[0] / length, light[1] / length,
                light[2] / length);
    glBindBuffer(GL_ARRAY_BUFFER, buffers->vertices);
    glEnableVertexAttribArray(0);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, NULL);
    if (buffers->colours) {
        glBindBuffer(GL_ARRAY_BUFFER, buffers->colours);
        glEnableVertexAttribArray(1);
        glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 0, NULL);
    } else {
        glVertexAttrib4fv(1, mesh->rgba);
    }
    if (buffers->indices && buffers->colours && litho_mesh_is_translucent(mesh))
        sort_triangles(mesh, buffers, draw->matrix);
    if (buffers->indices) {
        glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers->indices);
        glDrawElements(GL_TRIANGLES, buffers->count, GL_UNSIGNED_INT, NULL);
    } else {
        glDrawArrays(GL_TRIANGLES, 0, buffers->count);
    }
    glDisableVertexAttribArray(0);
    glDisableVertexAttribArray(1);
}

void litho_renderer_draw_meshes(LithoRenderer *renderer, const LithoMeshDraw *draw,
                                gboolean translucent)
{
    for (guint k = 0; draw->meshes && k < draw->meshes->len; k++) {
        const LithoMesh *mesh = g_ptr_array_index(draw->meshes, k);
        if (litho_mesh_is_translucent(mesh) != translucent || mesh->n == 0)
            continue;
        MeshBuffers *buffers = mesh_buffers(renderer, mesh);
        if (mesh->kind == LITHO_MESH_TRIANGLES) {
            draw_sheet(renderer, draw, mesh, buffers);
            continue;
        }
        const double rgba[4] = {mesh->rgba[0], mesh->rgba[1], mesh->rgba[2], mesh->rgba[3]};
        const LithoPen pen = {.matrix = draw->matrix,
                              .view_w = draw->width,
                              .view_h = draw->height,
                              .width = mesh->size * draw->scale,
                              .rgba = rgba,
                              .bias = 3e-4};
        litho_renderer_draw_line_buffer(renderer, buffers->vertices, buffers->colours,
                                        buffers->count, &pen);
    }
}
