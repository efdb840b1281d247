// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/view/points_layer.h"

#include <math.h>

static const double radius = 4;

// Black around white: seen on any colours.
static void draw_ring(cairo_t *cr, double x, double y)
{
    for (int pass = 0; pass < 2; pass++) {
        cairo_set_line_width(cr, pass ? 1.5 : 3.5);
        cairo_set_source_rgba(cr, pass, pass, pass, pass ? 1 : 0.8);
        cairo_new_sub_path(cr);
        cairo_arc(cr, x, y, radius, 0, 2 * G_PI);
        cairo_stroke(cr);
    }
}

void litho_points_append(GtkSnapshot *snapshot, LithoPoints *points, const LithoAxesStyle *style,
                         const LithoSliceMap *map)
{
    const LithoRect r = map->rect;
    cairo_t *cr = NULL;
    for (guint k = 0; k < litho_points_count(points); k++) {
        double at[3], x, y;
        char number[12];
        if (!litho_points_place(points, k, at) || fabs(at[map->axis] - (double)map->index) > 0.5)
            continue;
        litho_slice_map_to_pixel(map, at, &x, &y);
        if (!litho_rect_contains(r, x, y))
            continue;
        if (!cr)
            cr = gtk_snapshot_append_cairo(snapshot, &GRAPHENE_RECT_INIT(r.x, r.y, r.w, r.h));
        draw_ring(cr, x, y);
        g_snprintf(number, sizeof number, "%u", k + 1);
        litho_axes_set_font(cr, style, 1, TRUE);
        cairo_move_to(cr, x + radius + 3, y + 0.36 * style->font_size);
        cairo_text_path(cr, number);
        cairo_set_source_rgba(cr, 0, 0, 0, 0.8);
        cairo_set_line_width(cr, 2.5);
        cairo_stroke_preserve(cr);
        cairo_set_source_rgba(cr, 1, 1, 1, 1);
        cairo_fill(cr);
    }
    if (cr)
        cairo_destroy(cr);
}
