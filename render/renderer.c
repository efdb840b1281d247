// SPDX-License-Identifier: GPL-3.0-or-later
#include "render/renderer_gl.h"

#include <epoxy/gl.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "render/axes.h"

// --- programs -----------------------------------------------------------------------------------

// Slice programs by variant; see the head of sample.glsl.
typedef struct Variant {
    int what;
    gboolean fold_a, fold_b, masked, wiggles, scene;
    int axis; // fixed axis; gives H and V
    int mean; // 0 nearest, 1 linear, 2 by size
    gboolean gained; // along the trace
} Variant;

static guint slice_program(LithoRenderer *renderer, Variant v)
{
    guint key = 1 + (v.what | v.fold_a << 2 | v.fold_b << 3 | v.masked << 4 | v.wiggles << 5 |
                     v.scene << 6 | v.axis << 7 | v.mean << 9 | v.gained << 11);
    gpointer known;
    if (g_hash_table_lookup_extended(renderer->programs, GUINT_TO_POINTER(key), NULL, &known))
        return GPOINTER_TO_UINT(known);
    g_autofree char *defines =
        g_strdup_printf("#define WHAT %d\n#define FOLD_A %d\n#define FOLD_B %d\n#define MASKED %d\n"
                        "#define WIGGLES %d\n#define H %c\n#define V %c\n#define MEAN %d\n"
                        "#define GAINED %d\n",
                        v.what, v.fold_a, v.fold_b, v.masked, v.wiggles, "yxy"[v.axis],
                        "zzx"[v.axis], v.mean, v.gained);
    g_autoptr(GError) error = NULL;
    guint program = litho_program_new(renderer, v.scene ? "scene.vert" : "slice.vert",
                                      v.scene ? "scene.frag" : "slice.frag", defines, &error);
    if (!program)
        g_warning("%s", error->message); // the plainest variant was tested at the start
    g_hash_table_insert(renderer->programs, GUINT_TO_POINTER(key), GUINT_TO_POINTER(program));
    return program;
}

// --- context ------------------------------------------------------------------------------------

gboolean litho_gl_is_software(void)
{
    static const char *const names[] = {"llvmpipe", "softpipe", "swrast", "Software"};
    const char *device = (const char *)glGetString(GL_RENDERER);
    for (guint k = 0; device && k < G_N_ELEMENTS(names); k++)
        if (strstr(device, names[k]))
            return TRUE;
    return !device;
}

char *litho_gl_device(void)
{
    return g_strdup((const char *)glGetString(GL_RENDERER));
}

static gboolean check_version(LithoRenderer *renderer, GError **error)
{
    int version = epoxy_gl_version(); // 32 = 3.2
    const char *device = (const char *)glGetString(GL_RENDERER);
    renderer->gles = !epoxy_is_desktop_gl();
    if (!device || version < (renderer->gles ? 30 : 32)) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED,
                    _("found OpenGL%s %d.%d; drawing needs OpenGL 3.2 or OpenGL ES 3.0"),
                    renderer->gles ? " ES" : "", version / 10, version % 10);
        return FALSE;
    }
    g_snprintf(renderer->name, sizeof renderer->name, _("%s, OpenGL%s %d.%d"), device,
               renderer->gles ? " ES" : "", version / 10, version % 10);
    renderer->software = litho_gl_is_software();
    return TRUE;
}

LithoRenderer *litho_renderer_new(GError **error)
{
    LithoRenderer *renderer = g_new0(LithoRenderer, 1);
    renderer->programs = g_hash_table_new(NULL, NULL);
    if (!check_version(renderer, error)) {
        litho_renderer_free(renderer);
        return NULL;
    }
    renderer->line_program = litho_program_new(renderer, "line.vert", "line.frag", "", error);
    if (renderer->line_program)
        renderer->mesh_program = litho_program_new(renderer, "mesh.vert", "mesh.frag", "", error);
    if (!renderer->mesh_program || !slice_program(renderer, (Variant){0})) {
        if (error && !*error)
            g_set_error(error, LITHO_ERROR, LITHO_ERROR_DEVICE,
                        _("this OpenGL driver does not compile the slice shader"));
        litho_renderer_free(renderer);
        return NULL;
    }
    glGenVertexArrays(1, &renderer->vertex_array);
    glGenBuffers(1, &renderer->stream);
    glGenTextures(1, &renderer->map_texture);
    return renderer;
}

static void delete_program(gpointer key, gpointer program, gpointer data)
{
    (void)key;
    (void)data;
    glDeleteProgram(GPOINTER_TO_UINT(program));
}

void litho_renderer_free(LithoRenderer *renderer)
{
    if (!renderer)
        return;
    litho_renderer_free_meshes(renderer);
    g_hash_table_foreach(renderer->programs, delete_program, NULL);
    g_hash_table_unref(renderer->programs);
    if (renderer->vertex_array) {
        glDeleteVertexArrays(1, &renderer->vertex_array);
        glDeleteBuffers(1, &renderer->stream);
        glDeleteTextures(1, &renderer->map_texture);
    }
    if (renderer->line_program)
        glDeleteProgram(renderer->line_program);
    if (renderer->mesh_program)
        glDeleteProgram(renderer->mesh_program);
    g_free(renderer);
}

const char *litho_renderer_name(const LithoRenderer *renderer)
{
    return renderer->name;
}

gboolean litho_renderer_is_software(const LithoRenderer *renderer)
{
    return renderer->software;
}

// --- state --------------------------------------------------------------------------------------

static void set_viewport(LithoPixels p)
{
    glViewport(p.x, p.y, p.w, p.h);
}

static void set_scissor(LithoPixels p)
{
    glScissor(p.x, p.y, p.w, p.h);
}

void litho_renderer_begin(LithoRenderer *renderer)
{
    renderer->frame++;
    glBindVertexArray(renderer->vertex_array);
    glDisable(GL_DEPTH_TEST);
    glDisable(GL_CULL_FACE);
    glDisable(GL_STENCIL_TEST);
    glEnable(GL_SCISSOR_TEST);
    glEnable(GL_BLEND);
    glBlendEquation(GL_FUNC_ADD);
    glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA); // premultiplied
    glColorMask(TRUE, TRUE, TRUE, TRUE);
    glDepthMask(TRUE);
}

void litho_renderer_end(LithoRenderer *renderer)
{
    (void)renderer;
    glDisable(GL_SCISSOR_TEST);
    glDisable(GL_DEPTH_TEST);
    glDisable(GL_BLEND);
    glUseProgram(0);
    glBindVertexArray(0);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glActiveTexture(GL_TEXTURE0);
}

typedef struct SavedView {
    GLint viewport[4], scissor[4];
} SavedView;

static SavedView save_view(void)
{
    SavedView saved;
    glGetIntegerv(GL_VIEWPORT, saved.viewport);
    glGetIntegerv(GL_SCISSOR_BOX, saved.scissor);
    return saved;
}

static void restore_view(const SavedView *s)
{
    glViewport(s->viewport[0], s->viewport[1], s->viewport[2], s->viewport[3]);
    glScissor(s->scissor[0], s->scissor[1], s->scissor[2], s->scissor[3]);
}

void litho_renderer_clear(LithoRenderer *renderer, const LithoTarget *target, const double rgb[3])
{
    litho_renderer_clear_rect(renderer, target, (LithoRect){0, 0, target->width, target->height},
                              rgb);
}

void litho_renderer_clear_rect(LithoRenderer *renderer, const LithoTarget *target, LithoRect rect,
                               const double rgb[3])
{
    (void)renderer;
    SavedView saved = save_view();
    glEnable(GL_SCISSOR_TEST);
    set_scissor(litho_target_pixels(target, rect));
    glClearColor(rgb[0], rgb[1], rgb[2], 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glDisable(GL_SCISSOR_TEST);
    restore_view(&saved);
}

// --- slices -------------------------------------------------------------------------------------

static gboolean usable(const LithoVolume *volume, const LithoGrid *grid)
{
    return volume && litho_volume_grid(volume) &&
           litho_grid_same_shape(litho_volume_grid(volume), grid);
}

guint litho_panel_data(const LithoTarget *target, const LithoVolume *input,
                       const LithoVolume *output, const LithoGrid *grid, LithoShow show,
                       double split, LithoRect rect, LithoPanelData sources[2],
                       LithoPixels scissors[2])
{
    const LithoVolume *a = usable(input, grid) ? input : NULL;
    const LithoVolume *b = usable(output, grid) ? output : NULL;
    LithoPanelData all[2] = {{show == LITHO_SHOW_OUTPUT    ? 1
                              : show == LITHO_SHOW_REMOVED ? 2
                                                           : 0,
                              a, b},
                             {1, a, b}};
    LithoRect parts[2] = {rect, rect};
    if (show == LITHO_SHOW_SPLIT) {
        parts[0].w = rect.w * CLAMP(split, 0, 1);
        parts[1].x += parts[0].w;
        parts[1].w -= parts[0].w;
    }
    guint n = 0;
    for (guint k = 0; k < (show == LITHO_SHOW_SPLIT ? 2 : 1); k++) {
        if ((all[k].what != 1 && !a) || (all[k].what != 0 && !b))
            continue;
        sources[n] = all[k];
        scissors[n++] = litho_target_pixels(target, parts[k]);
    }
    return n;
}

static void bind_texture(guint program, const char *name, int unit, GLenum target, guint texture)
{
    glActiveTexture(GL_TEXTURE0 + unit);
    glBindTexture(target, texture);
    glUniform1i(glGetUniformLocation(program, name), unit);
}

static void set_ivec3(guint program, const char *name, const gint64 v[3])
{
    glUniform3i(glGetUniformLocation(program, name), v[0], v[1], v[2]);
}

static void bind_tile(guint program, gboolean second, const LithoTile *tile, guint live)
{
    gint64 n[3];
    for (int k = 0; k < 3; k++)
        n[k] = litho_box_size(tile->box, k);
    set_ivec3(program, second ? "u_lo_b" : "u_lo_a", tile->box.lo);
    set_ivec3(program, second ? "u_n_b" : "u_n_a", n);
    bind_texture(program, second ? "u_volume_b" : "u_volume_a", second ? 1 : 0, GL_TEXTURE_3D,
                 tile->folded ? 0 : tile->texture);
    bind_texture(program, second ? "u_flat_b" : "u_flat_a", second ? 3 : 2, GL_TEXTURE_2D,
                 tile->folded ? tile->texture : 0);
    bind_texture(program, second ? "u_live_b" : "u_live_a", second ? 5 : 4, GL_TEXTURE_2D, live);
}

static void bind_map(LithoRenderer *renderer, guint program, const LithoColormap *map)
{
    bind_texture(program, "u_map", 6, GL_TEXTURE_2D, renderer->map_texture);
    if (renderer->map_valid && memcmp(renderer->map_rgba, map->rgba, sizeof map->rgba) == 0)
        return;
    memcpy(renderer->map_rgba, map->rgba, sizeof map->rgba);
    renderer->map_valid = TRUE;
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, LITHO_COLORMAP_SIZE, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                 map->rgba);
}

// Boxes of the slice that all needed textures hold, the largest alone when it is the whole slice.
static LithoCover slice_cover(LithoBox slice, const LithoTile *a, const LithoTile *b)
{
    LithoCover cover = {0};
    const LithoTile *first = a ? a : b, *second = a ? b : NULL;
    // Slices that came first leave the whole in pieces. Drawn piece by piece it would show: nothing
    // is interpolated, no wiggle crosses, from one to the next.
    if (litho_cover_contains(&first->has, slice) &&
        (!second || litho_cover_contains(&second->has, slice)))
        return (LithoCover){.n = 1, .box = {slice}};
    for (guint k = 0; k < first->has.n; k++) {
        LithoBox box = litho_box_intersect(first->has.box[k], slice);
        for (guint m = 0; second && m < second->has.n; m++)
            litho_cover_add(&cover, litho_box_intersect(box, second->has.box[m]));
        if (!second)
            litho_cover_add(&cover, box);
    }
    return cover;
}

static LithoShow show_of(int what)
{
    return what == 0 ? LITHO_SHOW_INPUT : what == 1 ? LITHO_SHOW_OUTPUT : LITHO_SHOW_REMOVED;
}

static void set_common(LithoRenderer *renderer, guint program, const LithoPanelData *source,
                       const LithoSliceUniforms *s)
{
    double lo, hi;
    const gint64 grid[3] = {s->grid->axis[0].n, s->grid->axis[1].n, s->grid->axis[2].n};
    litho_look_range(s->look, show_of(source->what), &lo, &hi);
    set_ivec3(program, "u_grid", grid);
    const int sign = litho_look_sign(s->look, show_of(source->what)); // REMOVED is about zero
    glUniform2f(glGetUniformLocation(program, "u_range"), sign * lo, sign * hi);
    const LithoTraceGain gain =
        litho_look_trace_gain(s->look, s->grid, s->axis, show_of(source->what));
    glUniform3f(glGetUniformLocation(program, "u_time_gain"), gain.power, gain.first, gain.middle);
    glUniform1i(glGetUniformLocation(program, "u_agc"), gain.half);
    glUniform1f(glGetUniformLocation(program, "u_agc_level"), gain.level);
    glUniform1f(glGetUniformLocation(program, "u_scale"), s->scale);
    const double *c = s->look->background;
    glUniform3f(glGetUniformLocation(program, "u_background"), c[0], c[1], c[2]);
    LithoRect r = s->rect;
    glUniform4f(glGetUniformLocation(program, "u_rect"), r.x * s->scale, r.y * s->scale,
                r.w * s->scale, r.h * s->scale);
    glUniform1f(glGetUniformLocation(program, "u_height"), litho_target_height(s->target));
    bind_map(renderer, program, litho_look_map(s->look, show_of(source->what)));
}

void litho_renderer_each_cover(LithoRenderer *renderer, const LithoPanelData *source,
                               const LithoSliceUniforms *s, gboolean scene,
                               void (*draw)(LithoRenderer *renderer, guint program, gpointer data),
                               gpointer data)
{
    const LithoTile *a = NULL, *b = NULL;
    gboolean masked = FALSE;
    if (source->what != 1) {
        a = litho_volume_tile(source->a, s->axis, s->index);
        masked |= litho_volume_is_masked(source->a);
    }
    if (source->what != 0) {
        b = litho_volume_tile(source->b, s->axis, s->index);
        masked |= litho_volume_is_masked(source->b);
    }
    if ((source->what != 1 && !a) || (source->what != 0 && !b))
        return;
    gboolean wiggles = !scene && s->look->wiggle != LITHO_WIGGLE_OFF && s->axis != LITHO_SAMPLE;
    gboolean gained = litho_look_trace_gain(s->look, s->grid, s->axis, show_of(source->what)).on;
    int mean = s->look->nearest ? 0 : !scene && s->magnified ? 1 : 2;
    guint program =
        slice_program(renderer, (Variant){source->what, a && a->folded, b && b->folded, masked,
                                          wiggles, scene, s->axis, mean, gained});
    if (!program)
        return;
    glUseProgram(program);
    if (a)
        bind_tile(program, FALSE, a, litho_volume_live_texture(source->a));
    if (b)
        bind_tile(program, TRUE, b, litho_volume_live_texture(source->b));
    set_common(renderer, program, source, s);
    LithoCover cover = slice_cover(litho_box_slice(s->grid, s->axis, s->index), a, b);
    for (guint k = 0; k < cover.n; k++) {
        set_ivec3(program, "u_cover_lo", cover.box[k].lo);
        set_ivec3(program, "u_cover_hi", cover.box[k].hi);
        draw(renderer, program, data);
    }
}

static void draw_triangle(LithoRenderer *renderer, guint program, gpointer map)
{
    const LithoSliceMap *m = map;
    (void)renderer;
    glUniform4f(glGetUniformLocation(program, "u_window"), m->left, m->right, m->top, m->bottom);
    glUniform1i(glGetUniformLocation(program, "u_slice"), m->index);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

// Uniforms of wiggles; the numbers of raster.c's prepare_wiggles().
static void set_wiggles(guint program, const LithoLook *look, const LithoSliceMap *map,
                        LithoShow show, double scale)
{
    double lo, hi, trace = map->rect.w / fabs(map->right - map->left);
    int step = litho_wiggle_step(trace);
    litho_look_range(look, show, &lo, &hi);
    double apart = step * trace * scale, top = MAX(fabs(lo), fabs(hi));
    double gain = look->wiggle_gain > 0 ? look->wiggle_gain : 1;
    glUniform1i(glGetUniformLocation(program, "u_wiggle"), look->wiggle);
    glUniform1i(glGetUniformLocation(program, "u_step"), step);
    glUniform1f(glGetUniformLocation(program, "u_deflect"),
                litho_look_sign(look, show) * apart * gain / (top > 0 ? top : 1));
    glUniform1f(glGetUniformLocation(program, "u_limit"), 1.5 * apart);
}

typedef struct SlicePass {
    const LithoSliceMap *map;
    const LithoLook *look;
    LithoShow show;
    double scale;
} SlicePass;

static void draw_slice_pass(LithoRenderer *renderer, guint program, gpointer data)
{
    const SlicePass *pass = data;
    glUniform1i(glGetUniformLocation(program, "u_density"),
                litho_look_has_density(pass->look, pass->map->axis));
    set_wiggles(program, pass->look, pass->map, pass->show, pass->scale);
    draw_triangle(renderer, program, (gpointer)pass->map);
}

// Column-major: logical pixels -> clip space.
static void pixel_matrix(const LithoTarget *t, double m[16])
{
    memset(m, 0, 16 * sizeof *m);
    m[0] = 2 / t->width;
    m[5] = -2 / t->height;
    m[10] = m[15] = 1;
    m[12] = -1;
    m[13] = 1;
}

static void add_line(LithoLines *lines, double x0, double y0, double x1, double y1)
{
    litho_lines_add(lines, (double[]){x0, y0, 0}, (double[]){x1, y1, 0});
}

static void draw_flat(LithoRenderer *renderer, const LithoTarget *target, const LithoLines *lines,
                      double width, const double rgba[4])
{
    double m[16];
    pixel_matrix(target, m);
    const LithoPen pen = {.matrix = m,
                          .view_w = target->width * target->scale,
                          .view_h = target->height * target->scale,
                          .width = width,
                          .rgba = rgba};
    litho_renderer_draw_lines(renderer, lines, &pen);
}

// Middle of a device pixel, in logical pixels.
static double crisp(double x, double scale)
{
    return (floor(x * scale) + 0.5) / scale;
}

static void draw_grid(LithoRenderer *renderer, const LithoTarget *target,
                      const LithoSliceDraw *draw, const LithoSliceMap *map)
{
    LithoAxesStyle style = {.units = draw->units};
    double at[LITHO_TICKS_MAX], s = target->scale;
    LithoRect r = map->rect;
    LithoLines lines;
    litho_lines_init(&lines);
    guint n = litho_axes_grid_positions(&style, draw->grid, map, FALSE, at, LITHO_TICKS_MAX);
    for (guint k = 0; k < n; k++)
        add_line(&lines, crisp(at[k], s), r.y, crisp(at[k], s), r.y + r.h);
    n = litho_axes_grid_positions(&style, draw->grid, map, TRUE, at, LITHO_TICKS_MAX);
    for (guint k = 0; k < n; k++)
        add_line(&lines, r.x, crisp(at[k], s), r.x + r.w, crisp(at[k], s));
    // d + s - 2ds: 12 % towards the inverse colour, on dark and bright alike.
    glBlendFunc(GL_ONE_MINUS_DST_COLOR, GL_ONE_MINUS_SRC_COLOR);
    draw_flat(renderer, target, &lines, MAX(1, floor(s)), (double[]){0.12, 0.12, 0.12, 1});
    glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    litho_lines_clear(&lines);
}

static void draw_cursor(LithoRenderer *renderer, const LithoTarget *target,
                        const LithoSliceMap *map, const double cursor[3])
{
    const double gap = 7;
    double x, y, s = target->scale;
    LithoRect r = map->rect;
    litho_slice_map_to_pixel(map, cursor, &x, &y);
    x = crisp(x, s);
    y = crisp(y, s);
    LithoLines lines;
    litho_lines_init(&lines);
    add_line(&lines, x, MIN(r.y, y - gap), x, y - gap);
    add_line(&lines, x, y + gap, x, MAX(r.y + r.h, y + gap));
    add_line(&lines, MIN(r.x, x - gap), y, x - gap, y);
    add_line(&lines, x + gap, y, MAX(r.x + r.w, x + gap), y);
    draw_flat(renderer, target, &lines, 3 * s, (double[]){0, 0, 0, 0.4});
    draw_flat(renderer, target, &lines, MAX(1, floor(s)), (double[]){1, 1, 1, 0.95});
    litho_lines_clear(&lines);
}

void litho_renderer_draw_divider(LithoRenderer *renderer, const LithoTarget *target, LithoRect rect,
                                 double split)
{
    double s = target->scale, x = crisp(rect.x + rect.w * CLAMP(split, 0, 1), s);
    double middle = rect.y + rect.h / 2;
    LithoLines line, grip;
    litho_lines_init(&line);
    litho_lines_init(&grip);
    add_line(&line, x, rect.y, x, rect.y + rect.h);
    add_line(&grip, x, middle - 11, x, middle + 11);
    draw_flat(renderer, target, &line, 3 * s, (double[]){0, 0, 0, 0.45});
    draw_flat(renderer, target, &grip, 8 * s, (double[]){0, 0, 0, 0.45});
    draw_flat(renderer, target, &line, 2 * MAX(1, floor(s)), litho_divider_ink);
    draw_flat(renderer, target, &grip, 6 * s, litho_divider_ink);
    litho_lines_clear(&line);
    litho_lines_clear(&grip);
}

static void draw_panel(LithoRenderer *renderer, const LithoTarget *target,
                       const LithoSliceDraw *draw, LithoRect rect, LithoShow show)
{
    LithoSliceMap map = litho_slice_map(draw->grid, &draw->view, rect);
    LithoPixels pixels = litho_target_pixels(target, rect);
    const double *ground = draw->look.background;
    set_viewport(pixels);
    set_scissor(pixels);
    glClearColor(ground[0], ground[1], ground[2], 1);
    if (!draw->over)
        glClear(GL_COLOR_BUFFER_BIT);

    LithoPanelData sources[2];
    LithoPixels scissors[2];
    guint n = litho_panel_data(target, draw->input, draw->output, draw->grid, show,
                               draw->look.split, rect, sources, scissors);
    double across = fabs(map.right - map.left) / (rect.w * target->scale);
    double down = fabs(map.bottom - map.top) / (rect.h * target->scale);
    LithoSliceUniforms slice = {
        draw->grid,    &draw->look, map.axis, map.index,
        target->scale, rect,        target,   across <= 1.05 && down <= 1.05};
    for (guint k = 0; k < n; k++) {
        SlicePass pass = {&map, &draw->look, show_of(sources[k].what), target->scale};
        set_scissor(scissors[k]);
        litho_renderer_each_cover(renderer, &sources[k], &slice, FALSE, draw_slice_pass, &pass);
    }
    set_viewport(litho_target_pixels(target, (LithoRect){0, 0, target->width, target->height}));
    set_scissor(pixels);
    if (draw->look.grid_lines)
        draw_grid(renderer, target, draw, &map);
    if (show == LITHO_SHOW_SPLIT)
        litho_renderer_draw_divider(renderer, target, rect, draw->look.split);
    if (draw->has_cursor)
        draw_cursor(renderer, target, &map, draw->cursor);
}

void litho_renderer_draw_slice(LithoRenderer *renderer, const LithoTarget *target,
                               const LithoSliceDraw *draw)
{
    LithoRect panels[2];
    LithoShow shows[2];
    guint n = litho_show_panels(draw->show, draw->rect, panels, shows);
    SavedView saved = save_view();
    litho_renderer_begin(renderer);
    for (guint k = 0; k < n; k++)
        draw_panel(renderer, target, draw, panels[k], shows[k]);
    litho_renderer_end(renderer);
    restore_view(&saved);
}
