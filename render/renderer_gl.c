// SPDX-License-Identifier: GPL-3.0-or-later
#include "render/renderer_gl.h"

#include <epoxy/gl.h>
#include <gio/gio.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"

#define RESOURCES "/lithoscope/render/"

GResource *litho_render_get_resource(void); // generated from shaders/render.gresource.xml

// --- programs -----------------------------------------------------------------------------------

static char *shader_text(const char *name)
{
    g_autofree char *path = g_strconcat(RESOURCES, name, NULL);
    g_autoptr(GBytes) bytes = g_resource_lookup_data(litho_render_get_resource(), path,
                                                     G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
    g_assert(bytes); // built in
    return g_strndup(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
}

static guint compile(const LithoRenderer *renderer, GLenum kind, const char *name,
                     const char *defines, GError **error)
{
    const char *version =
        renderer->gles ? "#version 300 es\nprecision highp float;\nprecision highp int;\n"
                         "precision highp sampler2D;\nprecision highp sampler3D;\n"
                       : "#version 150\n#extension GL_ARB_explicit_attrib_location : enable\n";
    gboolean samples = g_str_equal(name, "slice.frag") || g_str_equal(name, "scene.frag");
    g_autofree char *common = samples ? shader_text("sample.glsl") : g_strdup("");
    g_autofree char *body = shader_text(name);
    const char *parts[4] = {version, defines, common, body};
    GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 4, parts, NULL);
    glCompileShader(shader);
    GLint ok = 0;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
    if (!ok) {
        char log[512] = "";
        glGetShaderInfoLog(shader, sizeof log, NULL, log);
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_DEVICE,
                    _("this OpenGL driver does not compile %s: %s"), name, g_strstrip(log));
        glDeleteShader(shader);
        return 0;
    }
    return shader;
}

guint litho_program_new(const LithoRenderer *renderer, const char *vertex, const char *fragment,
                        const char *defines, GError **error)
{
    GLuint v = compile(renderer, GL_VERTEX_SHADER, vertex, defines, error);
    GLuint f = v ? compile(renderer, GL_FRAGMENT_SHADER, fragment, defines, error) : 0;
    GLuint program = 0;
    if (v && f) {
        program = glCreateProgram();
        glAttachShader(program, v);
        glAttachShader(program, f);
        // For contexts without explicit locations; unknown names are ignored.
        glBindAttribLocation(program, 0, strcmp(vertex, "mesh.vert") ? "a_from" : "a_position");
        glBindAttribLocation(program, 1, strcmp(vertex, "mesh.vert") ? "a_to" : "a_color");
        glBindAttribLocation(program, 2, "a_corner");
        if (strcmp(vertex, "line.vert") == 0)
            glBindAttribLocation(program, 3, "a_color");
        glLinkProgram(program);
        GLint ok = 0;
        glGetProgramiv(program, GL_LINK_STATUS, &ok);
        if (!ok) {
            char log[512] = "";
            glGetProgramInfoLog(program, sizeof log, NULL, log);
            g_set_error(error, LITHO_ERROR, LITHO_ERROR_DEVICE,
                        _("this OpenGL driver does not link %s: %s"), fragment, g_strstrip(log));
            glDeleteProgram(program);
            program = 0;
        }
    }
    glDeleteShader(v);
    glDeleteShader(f);
    return program;
}

// --- pixels -------------------------------------------------------------------------------------

int litho_target_height(const LithoTarget *target)
{
    return (int)lrint(target->height * target->scale);
}

LithoPixels litho_target_pixels(const LithoTarget *target, LithoRect rect)
{
    double s = target->scale;
    int x0 = (int)ceil(rect.x * s - 0.5), x1 = (int)ceil((rect.x + rect.w) * s - 0.5);
    int y0 = (int)ceil(rect.y * s - 0.5), y1 = (int)ceil((rect.y + rect.h) * s - 0.5);
    return (LithoPixels){x0, litho_target_height(target) - y1, MAX(x1 - x0, 0), MAX(y1 - y0, 0)};
}

// --- lines --------------------------------------------------------------------------------------

void litho_lines_init(LithoLines *lines)
{
    lines->vertices = g_array_new(FALSE, FALSE, sizeof(float));
}

void litho_lines_clear(LithoLines *lines)
{
    g_array_unref(lines->vertices);
    lines->vertices = NULL;
}

void litho_lines_add(LithoLines *lines, const double from[3], const double to[3])
{
    static const float corners[6][2] = {{0, -1}, {1, -1}, {0, 1}, {0, 1}, {1, -1}, {1, 1}};
    for (int k = 0; k < 6; k++) {
        const float vertex[8] = {from[0], from[1], from[2],       to[0],
                                 to[1],   to[2],   corners[k][0], corners[k][1]};
        g_array_append_vals(lines->vertices, vertex, 8);
    }
}

void litho_set_matrix(guint program, const char *name, const double matrix[16])
{
    float m[16];
    for (int k = 0; k < 16; k++)
        m[k] = matrix[k];
    glUniformMatrix4fv(glGetUniformLocation(program, name), 1, GL_FALSE, m);
}

void litho_renderer_draw_line_buffer(LithoRenderer *renderer, guint buffer, guint colours,
                                     guint n_vertices, const LithoPen *pen)
{
    const guint color_at = 3;
    guint program = renderer->line_program;
    glUseProgram(program);
    litho_set_matrix(program, "u_matrix", pen->matrix);
    glUniform2f(glGetUniformLocation(program, "u_viewport"), pen->view_w, pen->view_h);
    glUniform1f(glGetUniformLocation(program, "u_width"), pen->width);
    glUniform1f(glGetUniformLocation(program, "u_bias"), pen->bias);
    if (colours) {
        glBindBuffer(GL_ARRAY_BUFFER, colours);
        glEnableVertexAttribArray(color_at);
        glVertexAttribPointer(color_at, 4, GL_UNSIGNED_BYTE, GL_TRUE, 0, NULL);
    } else {
        glVertexAttrib4f(color_at, pen->rgba[0], pen->rgba[1], pen->rgba[2], pen->rgba[3]);
    }
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    static const int at[3] = {0, 3, 6}, count[3] = {3, 3, 2};
    for (int k = 0; k < 3; k++) {
        glEnableVertexAttribArray(k);
        glVertexAttribPointer(k, count[k], GL_FLOAT, GL_FALSE, 8 * sizeof(float),
                              (void *)(at[k] * sizeof(float)));
    }
    glDrawArrays(GL_TRIANGLES, 0, n_vertices);
    for (guint k = 0; k <= color_at; k++)
        glDisableVertexAttribArray(k);
}

void litho_renderer_draw_lines(LithoRenderer *renderer, const LithoLines *lines,
                               const LithoPen *pen)
{
    if (lines->vertices->len == 0)
        return;
    glBindBuffer(GL_ARRAY_BUFFER, renderer->stream);
    glBufferData(GL_ARRAY_BUFFER, lines->vertices->len * sizeof(float), lines->vertices->data,
                 GL_STREAM_DRAW);
    litho_renderer_draw_line_buffer(renderer, renderer->stream, 0, lines->vertices->len / 8, pen);
}
