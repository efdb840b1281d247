// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/view/similarity_layer.h"

#include <math.h>
#include <string.h>

#include "core/similarity.h"
#include "core/text.h"
#include "render/colormap.h"

// Below this |c| the section is left as it is: two unlike signals of this length reach it.
static const double faintest = 0.2;
static const double opaque = 0.85; // at |c| = 1
// Green and yellow, which no map of the data has: red or brown would be read as amplitudes.
static const char overlay[] = "lagoon";

static void colour_of(const LithoColormap *map, double c, guint8 rgba[4])
{
    double t = CLAMP((c - faintest) / (1 - faintest), 0, 1);
    memcpy(rgba, map->rgba[lrint(255 * (0.6 + 0.4 * t))], 3);
    rgba[3] = (guint8)lrint(255 * opaque * pow(t, 0.7)); // soon visible, then slowly stronger
}

enum { SHADES = 1024, TILE = 32 };

// Colours of |c| from 0 to 1: a power a pixel would take longer than a frame.
static const guint8 *shades(void)
{
    static guint8 table[4 * SHADES];
    static gsize once;
    if (g_once_init_enter(&once)) {
        const LithoColormap *colours = litho_colormap_find(overlay);
        for (int k = 0; k < SHADES; k++)
            colour_of(colours, k / (SHADES - 1.0), &table[4 * k]);
        g_once_init_leave(&once, 1);
    }
    return table;
}

// Columns [x, x1) of rows [y, y1) of the picture. `step`: samples of the map from pixel to pixel,
// to the right and downwards.
static void paint_tile(const float *map, const gint64 step[2], gint64 x, gint64 x1, gint64 y,
                       gint64 y1, gint64 w, guint8 *rgba)
{
    const guint8 *table = shades();
    for (gint64 v = y; v < y1; v++)
        for (gint64 h = x; h < x1; h++) {
            const int shade = (int)(map[h * step[0] + v * step[1]] * (SHADES - 1) + 0.5F);
            memcpy(rgba + 4 * (v * w + h), table + 4 * CLAMP(shade, 0, SHADES - 1), 4);
        }
}

GdkTexture *litho_similarity_picture(LithoCube *map, const LithoSliceMap *place)
{
    const int h = place->h_axis, v = place->v_axis;
    const gint64 w = map->grid.axis[h].n, n = map->grid.axis[v].n;
    const LithoBox held = map->held;
    const LithoBox part =
        litho_box_intersect(held, litho_box_slice(&map->grid, place->axis, place->index));
    if (litho_box_empty(part))
        return NULL;
    const gint64 stride[3] = {litho_box_size(held, 1) * litho_box_size(held, 2),
                              litho_box_size(held, 2), 1};
    const gint64 step[2] = {stride[h], stride[v]};
    const float *first = map->samples; // of the whole slice, were it held
    for (int axis = 0; axis < 3; axis++)
        first += ((axis == place->axis ? place->index : 0) - held.lo[axis]) * stride[axis];
    guint8 *rgba = g_malloc0(4 * (gsize)w * n);
    // In tiles: along one of the two axes neighbours lie far apart in memory.
    for (gint64 y = part.lo[v]; y < part.hi[v]; y += TILE)
        for (gint64 x = part.lo[h]; x < part.hi[h]; x += TILE)
            paint_tile(first, step, x, MIN(x + TILE, part.hi[h]), y, MIN(y + TILE, part.hi[v]), w,
                       rgba);
    g_autoptr(GBytes) bytes = g_bytes_new_take(rgba, 4 * (gsize)w * n);
    return gdk_memory_texture_new((int)w, (int)n, GDK_MEMORY_R8G8B8A8, bytes, 4 * (gsize)w);
}

void litho_similarity_append(GtkSnapshot *snapshot, GdkTexture *picture, const LithoGrid *grid,
                             const LithoSliceMap *place)
{
    double first[3], last[3], x0, y0, x1, y1;
    for (int a = 0; a < 3; a++) {
        first[a] = -0.5;
        last[a] = grid->axis[a].n - 0.5;
    }
    litho_slice_map_to_pixel(place, first, &x0, &y0);
    litho_slice_map_to_pixel(place, last, &x1, &y1);
    int w = gdk_texture_get_width(picture), h = gdk_texture_get_height(picture);
    const LithoRect r = place->rect;
    if (x0 == x1 || y0 == y1)
        return;
    gtk_snapshot_push_clip(snapshot, &GRAPHENE_RECT_INIT(r.x, r.y, r.w, r.h));
    gtk_snapshot_save(snapshot);
    // Axes may run either way: a negative factor mirrors.
    gtk_snapshot_translate(snapshot, &GRAPHENE_POINT_INIT(x0, y0));
    gtk_snapshot_scale(snapshot, (x1 - x0) / w, (y1 - y0) / h);
    gtk_snapshot_append_texture(snapshot, picture, &GRAPHENE_RECT_INIT(0, 0, w, h));
    gtk_snapshot_restore(snapshot);
    gtk_snapshot_pop(snapshot);
}

// Edges of the part of a section that was judged, where that is not all of it: beyond them nothing
// is known, which would look as if nothing left.
void litho_similarity_append_edges(GtkSnapshot *snapshot, const LithoCube *map,
                                   const LithoSliceMap *place)
{
    const LithoBox slice = litho_box_slice(&map->grid, place->axis, place->index);
    const LithoRect r = place->rect;
    double lo[3], hi[3], x0, y0, x1, y1;
    if (litho_box_contains(map->held, slice))
        return;
    for (int a = 0; a < 3; a++) {
        lo[a] = (double)map->held.lo[a] - 0.5;
        hi[a] = (double)map->held.hi[a] - 0.5;
    }
    litho_slice_map_to_pixel(place, lo, &x0, &y0);
    litho_slice_map_to_pixel(place, hi, &x1, &y1);
    cairo_t *cr = gtk_snapshot_append_cairo(snapshot, &GRAPHENE_RECT_INIT(r.x, r.y, r.w, r.h));
    for (int pass = 0; pass < 2;
         pass++) { // the colour of the map around black: seen on any colours
        const guint8 *rgba = &shades()[4 * (SHADES - 1)];
        cairo_set_line_width(cr, pass ? 1 : 3);
        cairo_set_source_rgba(cr, pass * rgba[0] / 255.0, pass * rgba[1] / 255.0,
                              pass * rgba[2] / 255.0, pass ? 1 : 0.6);
        cairo_rectangle(cr, MIN(x0, x1), MIN(y0, y1), fabs(x1 - x0), fabs(y1 - y0));
        cairo_stroke(cr);
    }
    cairo_destroy(cr);
}

static double width_of(const LithoAxesStyle *style, const char *text)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
    cairo_t *cr = cairo_create(surface);
    cairo_text_extents_t e;
    litho_axes_set_font(cr, style, 1, FALSE);
    cairo_text_extents(cr, text, &e);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
    return e.x_advance;
}

// The colours from `from` on, `bar` wide, in a line that begins at `y`, with a tick where two
// signals begin to count as alike.
static void draw_bar(cairo_t *cr, double from, double bar, double y, double line)
{
    const LithoColormap *colours = litho_colormap_find(overlay);
    for (int k = 0; k < (int)bar; k++) {
        guint8 rgba[4];
        colour_of(colours, k / bar, rgba);
        cairo_set_source_rgba(cr, rgba[0] / 255.0, rgba[1] / 255.0, rgba[2] / 255.0,
                              rgba[3] / 255.0);
        cairo_rectangle(cr, from + k, y + 0.35 * line, 1, 0.35 * line);
        cairo_fill(cr);
    }
    cairo_set_source_rgba(cr, 1, 1, 1, 0.35); // its faint end has one, too
    cairo_set_line_width(cr, 1);
    cairo_rectangle(cr, from - 0.5, y + 0.35 * line - 0.5, bar + 1, 0.35 * line + 1);
    cairo_stroke(cr);
    cairo_set_source_rgba(cr, 1, 1, 1, 0.9);
    cairo_rectangle(cr, from + LITHO_SIMILAR * bar, y + 0.2 * line, 1, 0.65 * line);
    cairo_fill(cr);
}

const char *litho_similarity_words(gboolean is_beside)
{
    return is_beside ? _("similarity beside the noise") : _("similarity, noise not taken off");
}

// What a narrow panel has room for, which the letter of the second line explains.
static const char *short_words(gboolean is_beside)
{
    return is_beside ? _("noise taken off") : _("noise included");
}

void litho_similarity_append_legend(GtkSnapshot *snapshot, const LithoAxesStyle *style,
                                    LithoRect data, gboolean is_beside)
{
    const double size = style->font_size, line = 1.6 * size, gap = size, edge = 6;
    const char *zero = "|c|  0", *whole = litho_similarity_words(is_beside);
    const gboolean fits = width_of(style, whole) + 2 * edge <= data.w;
    const char *what = fits ? whole : short_words(is_beside);
    const double words = width_of(style, what), number = width_of(style, zero) + 0.5 * size;
    const double ends = edge + number + edge + 1.5 * size; // beside the bar
    const gboolean wide = data.w >= words + gap + ends + 90;
    const double before = wide ? words + gap : 0, lines = wide ? 1 : 2;
    const double bar = floor(CLAMP(data.w - before - ends, 1, 90));
    const double w = MIN(data.w, MAX(before + bar + ends, wide ? 0 : words + 2 * edge));
    const double x = data.x, y = data.y + data.h - line, top = y - (lines - 1) * line;
    cairo_t *cr = gtk_snapshot_append_cairo(snapshot, &GRAPHENE_RECT_INIT(x, top, w, lines * line));
    cairo_set_source_rgba(cr, 0.08, 0.08, 0.08, 0.85);
    cairo_rectangle(cr, x, top, w, lines * line);
    cairo_fill(cr);
    litho_axes_draw_caption(cr, style, (LithoRect){x + edge, top, MIN(words + 1, w - edge), line},
                            what);
    litho_axes_draw_caption(cr, style, (LithoRect){x + edge + before, y, number, line}, zero);
    const double from = x + edge + before + number;
    draw_bar(cr, from, bar, y, line);
    litho_axes_draw_caption(cr, style, (LithoRect){from + bar + edge, y, 2 * size, line}, "1");
    cairo_destroy(cr);
}
