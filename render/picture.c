// SPDX-License-Identifier: GPL-3.0-or-later
#include "render/picture_draw.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "render/raster.h"

// Pixels per point of the sections inside PDF and SVG: 216 per inch, sharp in print; less for large
// pages, so that a file stays below a few megabytes.
static double vector_scale(const LithoPicture *picture)
{
    return CLAMP(sqrt(4e6 / (picture->width * picture->height)), 1.5, 3);
}

void litho_picture_init(LithoPicture *picture, const LithoCube *input, const LithoCube *output)
{
    *picture = (LithoPicture){.width = 1280,
                              .height = 800,
                              .scale = 1,
                              .input = input,
                              .output = output,
                              .look = litho_look_default(),
                              .replace = LITHO_REPLACE_ANY};
}

static LithoPanel *add_panel(LithoPicture *picture)
{
    static LithoPanel spare; // beyond the last: changes go nowhere
    if (picture->n_panels == LITHO_PICTURE_PANELS)
        return &spare;
    return &picture->panels[picture->n_panels++];
}

LithoPanel *litho_picture_add_slice(LithoPicture *picture, int axis, gint64 index, LithoShow show)
{
    LithoPanel *panel = add_panel(picture);
    *panel =
        (LithoPanel){.slice = litho_slice_view(&picture->input->grid, axis, index), .show = show};
    return panel;
}

LithoPanel *litho_picture_add_scene(LithoPicture *picture, LithoShow show)
{
    LithoPanel *panel = add_panel(picture);
    *panel =
        (LithoPanel){.scene = TRUE, .view = litho_scene_view(&picture->input->grid), .show = show};
    return panel;
}

LithoPanel *litho_picture_add_model(LithoPicture *picture, const LithoModel *model)
{
    LithoPanel *panel = add_panel(picture);
    *panel = (LithoPanel){.model = model, .view = litho_model_view(model)};
    return panel;
}

// Lines of a caption at most, and their distance in font sizes.
enum { CAPTION_LINES = 3 };
#define CAPTION_LEADING 1.2

// --- layout -------------------------------------------------------------------------------------

typedef struct Layout {
    LithoRect title, caption; // of its first line
    char **lines;             // of the caption; NULL = none
    LithoFrame frame[LITHO_PICTURE_PANELS];
    LithoRect data[LITHO_PICTURE_PANELS];
} Layout;

static double font_size(const LithoPicture *picture)
{
    return picture->style.font_size > 0 ? picture->style.font_size : 11;
}

static guint columns_of(const LithoPicture *picture)
{
    guint n = MAX(picture->n_panels, 1);
    return picture->columns > 0 ? MIN(picture->columns, n) : (guint)ceil(sqrt(n));
}

static LithoAxesStyle caption_style(const LithoPicture *picture)
{
    LithoAxesStyle small = picture->style;
    small.font_size = font_size(picture) * 0.9;
    return small;
}

static Layout layout_of(cairo_t *cr, const LithoPicture *picture)
{
    const double edge = 8, gap = 10;
    double size = font_size(picture);
    LithoRect area = {edge, edge, picture->width - 2 * edge, picture->height - 2 * edge};
    Layout layout = {.title = {area.x, area.y, area.w, 2 * size}};
    if (picture->title && *picture->title) {
        area.y += 2.2 * size;
        area.h -= 2.2 * size;
    }
    if (picture->caption && *picture->caption) {
        const LithoAxesStyle small = caption_style(picture);
        const double h = 1.6 * size, next = CAPTION_LEADING * size;
        layout.lines =
            litho_axes_wrap_caption(cr, &small, picture->caption, area.w, CAPTION_LINES);
        area.h -= (g_strv_length(layout.lines) - 1) * next;
        layout.caption = (LithoRect){area.x, area.y + area.h - h, area.w, h};
        area.h -= h + 2;
    }
    guint columns = columns_of(picture), rows = (MAX(picture->n_panels, 1) + columns - 1) / columns;
    double w = (area.w - gap * (columns - 1)) / columns, h = (area.h - gap * (rows - 1)) / rows;
    for (guint k = 0; k < picture->n_panels; k++) {
        const LithoPanel *panel = &picture->panels[k];
        LithoRect cell = {area.x + (k % columns) * (w + gap), area.y + (k / columns) * (h + gap), w,
                          h};
        layout.frame[k] = panel->scene || panel->model
                              ? litho_axes_layout_scene(&picture->style, cell, !panel->model)
                              : litho_axes_layout(&picture->style, &picture->input->grid,
                                                  panel->slice.axis, cell, TRUE);
        layout.data[k] = layout.frame[k].data;
    }
    return layout;
}

// --- data ---------------------------------------------------------------------------------------

// The divider of SPLIT, as the renderer draws it.
static void draw_divider(cairo_t *cr, LithoRect r, double split)
{
    double x = floor(r.x + r.w * CLAMP(split, 0, 1)) + 0.5, middle = r.y + r.h / 2;
    cairo_save(cr);
    cairo_rectangle(cr, r.x, r.y, r.w, r.h);
    cairo_clip(cr);
    cairo_set_line_cap(cr, CAIRO_LINE_CAP_ROUND);
    for (int pass = 0; pass < 4; pass++) {
        gboolean grip = pass % 2, bright = pass >= 2;
        const double *ink = litho_divider_ink;
        cairo_set_line_width(cr, grip ? bright ? 6 : 8 : bright ? 2 : 3);
        if (bright)
            cairo_set_source_rgba(cr, ink[0], ink[1], ink[2], ink[3]);
        else
            cairo_set_source_rgba(cr, 0, 0, 0, 0.45);
        cairo_move_to(cr, x, grip ? middle - 11 : r.y);
        cairo_line_to(cr, x, grip ? middle + 11 : r.y + r.h);
        cairo_stroke(cr);
    }
    cairo_restore(cr);
}

static void paint_image(cairo_t *cr, cairo_surface_t *image, LithoRect rect, double x, double y,
                        double scale)
{
    cairo_save(cr);
    cairo_rectangle(cr, rect.x, rect.y, rect.w, rect.h);
    cairo_clip(cr);
    cairo_translate(cr, x, y);
    cairo_scale(cr, 1 / scale, 1 / scale);
    cairo_set_source_surface(cr, image, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
    cairo_paint(cr);
    cairo_restore(cr);
}

// The cube whose samples the panel needs: a part that holds its slice, else the cube itself.
static const LithoCube *part_of(const LithoCube *cube, const GPtrArray *parts,
                                const LithoSliceView *view)
{
    for (guint k = 0; cube && parts && k < parts->len; k++) {
        const LithoCube *part = g_ptr_array_index(parts, k);
        if (litho_box_contains(part->held, litho_box_slice(&cube->grid, view->axis, view->index)))
            return part;
    }
    return cube;
}

static gboolean paint_cpu(cairo_t *cr, const LithoPicture *picture, const Layout *layout,
                          double scale, GError **error)
{
    for (guint k = 0; k < picture->n_panels; k++) {
        const LithoPanel *panel = &picture->panels[k];
        LithoRect r = layout->data[k];
        if (panel->model)
            continue;
        LithoRaster raster = {part_of(picture->input, picture->input_parts, &panel->slice),
                              part_of(picture->output, picture->output_parts, &panel->slice),
                              &picture->input->grid,
                              panel->slice,
                              picture->look,
                              panel->show,
                              scale};
        cairo_surface_t *image = litho_raster_slice(&raster, r.w, r.h, error);
        if (!image)
            return FALSE;
        paint_image(cr, image, r, r.x, r.y, scale);
        cairo_surface_destroy(image);
        if (panel->show == LITHO_SHOW_SPLIT)
            draw_divider(cr, r, picture->look.split);
    }
    return TRUE;
}

static gboolean has_scene(const LithoPicture *picture)
{
    for (guint k = 0; k < picture->n_panels; k++)
        if (picture->panels[k].scene)
            return TRUE;
    return FALSE;
}

// More triangles than this make a vector file slow to open: the model becomes an image there.
static const guint vector_triangles = 3000;

static void paint_model(cairo_t *cr, const LithoPicture *picture, const LithoPanel *panel,
                        LithoRect r, double scale)
{
    guint n = 0;
    for (guint m = 0; m < panel->model->meshes->len; m++)
        n += ((const LithoMesh *)g_ptr_array_index(panel->model->meshes, m))->n_index / 3;
    const double *ground = picture->look.background;
    if (n <= vector_triangles) {
        litho_model_draw(cr, panel->model, &panel->view, r, ground);
        return;
    }
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(r.w * scale),
                                                        (int)ceil(r.h * scale));
    cairo_t *on_image = cairo_create(image);
    cairo_scale(on_image, scale, scale);
    litho_model_draw(on_image, panel->model, &panel->view, (LithoRect){0, 0, r.w, r.h}, ground);
    cairo_destroy(on_image);
    paint_image(cr, image, r, r.x, r.y, scale);
    cairo_surface_destroy(image);
}

static gboolean paint_data(cairo_t *cr, const LithoPicture *picture, const Layout *layout,
                           double scale, GError **error)
{
    g_autoptr(GError) reason = NULL;
    if (picture->with != LITHO_DRAW_CPU) {
        if (!litho_run_library_begin(picture->run, error))
            return FALSE;
        cairo_surface_t *all = litho_picture_draw_gl(picture, layout->data, scale, &reason);
        litho_run_library_end(picture->run);
        for (guint k = 0; all && k < picture->n_panels; k++)
            if (!picture->panels[k].model)
                paint_image(cr, all, layout->data[k], 0, 0, scale);
        if (all) {
            cairo_surface_destroy(all);
            return TRUE;
        }
        if (picture->with == LITHO_DRAW_GL) {
            g_propagate_error(error, g_steal_pointer(&reason));
            return FALSE;
        }
    }
    if (has_scene(picture)) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED,
                    _("the 3-D scene needs OpenGL: %s"),
                    reason ? reason->message : _("not wanted here"));
        return FALSE;
    }
    return paint_cpu(cr, picture, layout, scale, error);
}

// --- text and axes ------------------------------------------------------------------------------

static char *panel_title(const LithoPicture *picture, const LithoPanel *panel)
{
    if (panel->title)
        return g_strdup(panel->title);
    if (panel->model)
        return g_strdup(litho_space_name(panel->model->space));
    g_autofree char *slice = panel->scene
                                 ? g_strdup("3-D")
                                 : litho_slice_label(&picture->input->grid, panel->slice.axis,
                                                     panel->slice.index, picture->style.units);
    if (!picture->output) {
        slice[0] = g_ascii_toupper(slice[0]);
        return g_steal_pointer(&slice);
    }
    return g_strdup_printf("%s, %s", litho_show_name(panel->show), slice);
}

// "clip 99 % = 1.83"; REMOVED with a gain of its own: "shown ×4, clip 0.458".
static char *panel_note(const LithoPicture *picture, const LithoPanel *panel)
{
    double lo, hi, gain = picture->look.removed_gain;
    litho_look_range(&picture->look, panel->show, &lo, &hi);
    g_autofree char *low = litho_format_amplitude(lo), *high = litho_format_amplitude(hi);
    const char *space = picture->unit ? " " : "", *unit = picture->unit ? picture->unit : "";
    if (lo != -hi)
        return g_strdup_printf(_("%s to %s%s%s"), low, high, space, unit);
    if (panel->show == LITHO_SHOW_REMOVED && gain > 0 && gain != 1)
        return litho_text_printf(_("shown ×%g, clip %s%s%s"), gain, high, space, unit);
    if (picture->clip_note)
        return g_strdup_printf(_("clip %s = %s%s%s"), picture->clip_note, high, space, unit);
    return g_strdup_printf(_("clip %s%s%s"), high, space, unit);
}

static void draw_panel_text(cairo_t *cr, const LithoPicture *picture, const LithoPanel *panel,
                            const LithoFrame *frame)
{
    const LithoGrid *grid = &picture->input->grid;
    const LithoAxesStyle *style = &picture->style;
    LithoAxesStyle on_dark = *style;
    for (int k = 0; k < 3; k++)
        on_dark.ink[k] = 0.92;
    on_dark.ink[3] = 1;
    g_autofree char *title = panel_title(picture, panel);
    if (panel->model) {
        litho_axes_draw_title(cr, style, frame->title, title, NULL);
        litho_scene_draw_labels(cr, &on_dark, &panel->model->grid, &panel->view, frame->data,
                                panel->model->axis);
        litho_model_draw_legend(cr, &on_dark, panel->model, frame->data);
        return;
    }
    g_autofree char *clip = panel_note(picture, panel);
    g_autofree char *gain =
        litho_look_gain_name(&picture->look, grid, panel->scene ? 3 : panel->slice.axis);
    // A gain of the picture is no property of the data: it is said on paper, too.
    g_autofree char *note = g_strdup_printf("%s%s%s", clip, gain ? ", " : "", gain ? gain : "");
    litho_axes_draw_title(cr, style, frame->title, title, note);
    LithoLook look = picture->look;
    if (!panel->scene && panel->slice.axis == LITHO_SAMPLE)
        look.agc = 0;
    litho_colorbar_draw(cr, style, frame->bar, &look, panel->show, picture->unit);
    if (panel->scene) {
        litho_scene_draw_labels(cr, &on_dark, grid, &panel->view, frame->data, NULL);
        return;
    }
    LithoSliceMap map = litho_slice_map(grid, &panel->slice, frame->data);
    if (picture->look.grid_lines)
        litho_axes_draw_grid(cr, style, grid, &map);
    litho_axes_draw(cr, style, grid, &map);
}

static gboolean goes_on(const LithoPicture *picture, GError **error)
{
    return litho_run_checkpoint(picture->run) || litho_run_stopped(error);
}

static gboolean draw(cairo_t *cr, const LithoPicture *picture, double scale, GError **error)
{
    Layout layout = layout_of(cr, picture);
    g_auto(GStrv) lines = layout.lines;
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    if (!goes_on(picture, error) || !paint_data(cr, picture, &layout, scale, error))
        return FALSE;
    for (guint k = 0; k < picture->n_panels; k++)
        if (picture->panels[k].model)
            paint_model(cr, picture, &picture->panels[k], layout.data[k], scale);
    for (guint k = 0; k < picture->n_panels; k++) {
        if (!goes_on(picture, error))
            return FALSE;
        draw_panel_text(cr, picture, &picture->panels[k], &layout.frame[k]);
    }
    if (picture->title && *picture->title) {
        LithoAxesStyle large = picture->style;
        large.font_size = font_size(picture) * 1.2;
        litho_axes_draw_title(cr, &large, layout.title, picture->title, NULL);
    }
    for (char **line = lines; line && *line; line++) {
        const LithoAxesStyle small = caption_style(picture);
        litho_axes_draw_caption(cr, &small, layout.caption, *line);
        layout.caption.y += CAPTION_LEADING * font_size(picture);
    }
    if (cairo_status(cr) != CAIRO_STATUS_SUCCESS) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY, _("drawing the picture failed: %s"),
                    cairo_status_to_string(cairo_status(cr)));
        return FALSE;
    }
    return TRUE;
}

static gboolean check(const LithoPicture *picture, GError **error)
{
    if (picture->n_panels == 0) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                    _("the picture has no panels; one slice or scene is needed"));
        return FALSE;
    }
    if (picture->output && !litho_grid_same_shape(&picture->input->grid, &picture->output->grid)) {
        const LithoAxis *a = picture->input->grid.axis, *b = picture->output->grid.axis;
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
                    _("the cubes differ in size: %" PRId64 " x %" PRId64 " x %" PRId64
                      " and %" PRId64 " x %" PRId64 " x %" PRId64 " samples"),
                    a[0].n, a[1].n, a[2].n, b[0].n, b[1].n, b[2].n);
        return FALSE;
    }
    double scale = picture->scale > 0 ? picture->scale : 1;
    if (!(picture->width >= 100 && picture->height >= 80) || picture->width * scale > 16000 ||
        picture->height * scale > 16000) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                    _("a picture of %g x %g was asked for; 100 x 80 to 16000 x 16000 pixels can be "
                      "drawn"),
                    picture->width * scale, picture->height * scale);
        return FALSE;
    }
    return TRUE;
}

cairo_surface_t *litho_picture_draw(const LithoPicture *picture, GError **error)
{
    if (!check(picture, error))
        return NULL;
    double scale = picture->scale > 0 ? picture->scale : 1;
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)lrint(picture->width * scale),
                                   (int)lrint(picture->height * scale));
    cairo_t *cr = cairo_create(surface);
    cairo_scale(cr, scale, scale);
    gboolean ok = draw(cr, picture, scale, error);
    cairo_destroy(cr);
    if (!ok) {
        cairo_surface_destroy(surface);
        return NULL;
    }
    return surface;
}

// --- files --------------------------------------------------------------------------------------

static void add_text(GPtrArray *texts, const char *key, char *value)
{
    g_ptr_array_add(texts, g_strdup(key));
    g_ptr_array_add(texts, value);
}

// Key, value, ..., NULL for the PNG.
static GPtrArray *all_texts(const LithoPicture *picture)
{
    GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);
    add_text(texts, "Software", g_strdup("Lithoscope"));
    add_text(texts, "Title", g_strdup(picture->title ? picture->title : picture->input->name));
    add_text(texts, "File", g_strdup(picture->input->name));
    if (picture->output && g_strcmp0(picture->output->name, picture->input->name) != 0)
        add_text(texts, "Second file", g_strdup(picture->output->name));
    GString *slices = g_string_new(NULL);
    for (guint k = 0; k < picture->n_panels; k++) {
        g_autofree char *title = panel_title(picture, &picture->panels[k]);
        g_string_append_printf(slices, "%s%s", k ? "; " : "", title);
    }
    add_text(texts, "Slice", g_string_free(slices, FALSE));
    g_autofree char *lo = litho_format_amplitude(picture->look.lo);
    g_autofree char *hi = litho_format_amplitude(picture->look.hi);
    add_text(texts, "Clip",
             g_strdup_printf("%s to %s%s%s%s", lo, hi, picture->clip_note ? " (" : "",
                             picture->clip_note ? picture->clip_note : "",
                             picture->clip_note ? ")" : ""));
    add_text(texts, "Colour map", g_strdup(litho_look_map(&picture->look, LITHO_SHOW_INPUT)->name));
    if (picture->caption)
        add_text(texts, "Description", g_strdup(picture->caption));
    for (const char *const *t = picture->texts; t && t[0] && t[1]; t += 2)
        add_text(texts, t[0], g_strdup(t[1]));
    g_ptr_array_add(texts, NULL);
    return texts;
}

static gboolean save_png(const LithoPicture *picture, const char *path, GError **error)
{
    cairo_surface_t *surface = litho_picture_draw(picture, error);
    if (!surface)
        return FALSE;
    g_autoptr(GPtrArray) texts = all_texts(picture);
    gboolean ok =
        litho_png_write(surface, path, (const char *const *)texts->pdata, picture->replace,
                        picture->run, error);
    cairo_surface_destroy(surface);
    return ok;
}

// "Clip: -1 to 1\nSlice: ..." of what stands in the PNG's text chunks.
static char *join_texts(const LithoPicture *picture)
{
    g_autoptr(GPtrArray) texts = all_texts(picture);
    GString *joined = g_string_new(NULL);
    for (guint k = 0; k + 1 < texts->len; k += 2)
        g_string_append_printf(joined, "%s%s: %s", k ? "\n" : "",
                               (char *)g_ptr_array_index(texts, k),
                               (char *)g_ptr_array_index(texts, k + 1));
    return g_string_free(joined, FALSE);
}

static cairo_status_t append(void *closure, const unsigned char *bytes, unsigned n)
{
    g_byte_array_append(closure, bytes, n);
    return CAIRO_STATUS_SUCCESS;
}

// cairo writes no metadata into SVG: title and description go behind the opening tag.
static void add_svg_texts(const LithoPicture *picture, GByteArray *svg)
{
    const guint8 *tag = memmem(svg->data, svg->len, "<svg", 4);
    const guint8 *end = tag ? memchr(tag, '>', svg->len - (gsize)(tag - svg->data)) : NULL;
    if (!end)
        return;
    g_autofree char *all = join_texts(picture);
    g_autofree char *texts =
        g_markup_printf_escaped("\n<title>%s</title>\n<desc>%s</desc>",
                                picture->title ? picture->title : picture->input->name, all);
    const guint at = (guint)(end + 1 - svg->data), old = svg->len, n = (guint)strlen(texts);
    g_byte_array_set_size(svg, old + n);
    memmove(svg->data + at + n, svg->data + at, old - at);
    memcpy(svg->data + at, texts, n);
}

static gboolean save_vector(const LithoPicture *picture, const char *path, gboolean pdf,
                            GError **error)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    LithoPicture p = *picture;
    p.style.vector = TRUE;
    cairo_surface_t *surface =
        pdf ? cairo_pdf_surface_create_for_stream(append, bytes, p.width, p.height)
            : cairo_svg_surface_create_for_stream(append, bytes, p.width, p.height);
    if (pdf) {
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE,
                                       p.title ? p.title : p.input->name);
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, "Lithoscope");
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_SUBJECT,
                                       p.caption ? p.caption : "");
        g_autofree char *all = join_texts(&p);
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_KEYWORDS, all);
    }
    cairo_t *cr = cairo_create(surface);
    gboolean ok = draw(cr, &p, vector_scale(&p), error);
    cairo_show_page(cr);
    cairo_destroy(cr);
    cairo_surface_finish(surface);
    cairo_status_t status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    if (ok && status != CAIRO_STATUS_SUCCESS)
        ok = litho_refuse(error, LITHO_ERROR_FORMAT, "cannot draw %s: %s", path,
                          cairo_status_to_string(status));
    if (!ok)
        return FALSE;
    if (!pdf)
        add_svg_texts(&p, bytes);
    return litho_output_save(path, (const char *)bytes->data, bytes->len, p.replace, error);
}

gboolean litho_picture_save(const LithoPicture *picture, const char *path, GError **error)
{
    g_autofree char *lower = g_ascii_strdown(path, -1);
    if (!check(picture, error))
        return FALSE;
    if (g_str_has_suffix(lower, ".png"))
        return save_png(picture, path, error);
    if (g_str_has_suffix(lower, ".pdf"))
        return save_vector(picture, path, TRUE, error);
    if (g_str_has_suffix(lower, ".svg"))
        return save_vector(picture, path, FALSE, error);
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED,
                _("cannot write a picture as '%s'; names ending in .png, .pdf or .svg are known"),
                path);
    return FALSE;
}
