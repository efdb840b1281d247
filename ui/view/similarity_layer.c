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
    const LithoBox held = map->held, slice = litho_box_slice(&map->grid, place->axis, place->index);
    if (!litho_box_contains(held, slice))
        return NULL;
    const gint64 stride[3] = {litho_box_size(held, 1) * litho_box_size(held, 2),
                              litho_box_size(held, 2), 1};
    const gint64 step[2] = {stride[h], stride[v]};
    const float *first = map->samples;
    for (int axis = 0; axis < 3; axis++)
        first += (slice.lo[axis] - held.lo[axis]) * stride[axis];
    guint8 *rgba = g_malloc(4 * (gsize)w * n);
    // In tiles: along one of the two axes neighbours lie far apart in memory.
    for (gint64 y = 0; y < n; y += TILE)
        for (gint64 x = 0; x < w; x += TILE)
            paint_tile(first, step, x, MIN(x + TILE, w), y, MIN(y + TILE, n), w, rgba);
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

// "similarity |c|  0 [bar] 1", with a tick where two signals begin to count as alike; without the
// word where the panel has no room for it.
void litho_similarity_append_legend(GtkSnapshot *snapshot, const LithoAxesStyle *style,
                                    LithoRect data)
{
    const double size = style->font_size, line = 1.6 * size, rest = 4 * size;
    const gboolean wide = data.w >= 90 + 10.5 * size + rest;
    const double words = (wide ? 10.5 : 4.2) * size;
    const double bar = floor(CLAMP(data.w - words - rest, 1, 90));
    const LithoColormap *colours = litho_colormap_find(overlay);
    const double w = MIN(data.w, words + bar + rest), x = data.x, y = data.y + data.h - line;
    cairo_t *cr = gtk_snapshot_append_cairo(snapshot, &GRAPHENE_RECT_INIT(x, y, w, line));
    cairo_set_source_rgba(cr, 0.08, 0.08, 0.08, 0.85);
    cairo_rectangle(cr, x, y, w, line);
    cairo_fill(cr);
    litho_axes_draw_caption(cr, style, (LithoRect){x + 6, y, words, line},
                            wide ? _("similarity |c|   0") : "|c|  0");
    const double from = x + words + 0.1 * size;
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
    litho_axes_draw_caption(cr, style, (LithoRect){from + bar + 6, y, 2 * size, line}, "1");
    cairo_destroy(cr);
}
