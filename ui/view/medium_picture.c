// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/view/medium_picture.h"

#include <math.h>
#include <string.h>

GdkTexture *litho_medium_picture(LithoMedium *medium, LithoSession *session, int axis)
{
    const LithoLayer *layer = litho_medium_layer(medium);
    const LithoGrid *shown = litho_session_grid(session);
    const LithoColormap *map = litho_colormap_unsigned();
    if (!layer || !shown || axis > LITHO_SAMPLE || shown->is_depth != layer->cube->grid.is_depth)
        return NULL;
    const LithoCube *cube = layer->cube;
    const LithoAxis *axes = cube->grid.axis;
    const int h = axis == LITHO_XLINE ? LITHO_INLINE : LITHO_XLINE;
    const int v = axis == LITHO_SAMPLE ? LITHO_INLINE : LITHO_SAMPLE;
    const double place =
        litho_axis_value(&shown->axis[axis], litho_session_display(session)->slice[axis]);
    const gint64 w = axes[h].n, n = axes[v].n;
    gint64 c[3];
    double lo, hi;
    litho_medium_range(medium, &lo, &hi);
    c[axis] = CLAMP(llround(litho_axis_index(&axes[axis], place)), 0, axes[axis].n - 1);
    guint8 *rgba = g_malloc(4 * (gsize)w * n);
    for (c[v] = 0; c[v] < n; c[v]++)
        for (c[h] = 0; c[h] < w; c[h]++) {
            const double x = litho_cube_trace(cube, c[0], c[1])[c[2]];
            const double t = hi > lo ? CLAMP((x - lo) / (hi - lo), 0, 1) : 0.5;
            memcpy(&rgba[4 * (c[v] * w + c[h])], map->rgba[lrint(255 * t)], 4);
        }
    g_autoptr(GBytes) bytes = g_bytes_new_take(rgba, 4 * (gsize)w * n);
    return gdk_memory_texture_new((int)w, (int)n, GDK_MEMORY_R8G8B8A8, bytes, 4 * (gsize)w);
}

// Samples of the layer have places of the grid: its first one that of the grid's first, the others
// every so many lines and depths. The picture is as large as its pixels are apart, and may reach
// beyond the grid by half of one.
void litho_medium_place(const LithoGrid *layer, const LithoGrid *grid, const LithoSliceMap *map,
                        double from[2], double to[2])
{
    double first[3], last[3];
    for (int a = 0; a < 3; a++) {
        const double by = layer->axis[a].step / grid->axis[a].step;
        first[a] = -0.5 * by;
        last[a] = (layer->axis[a].n - 0.5) * by;
    }
    litho_slice_map_to_pixel(map, first, &from[0], &from[1]);
    litho_slice_map_to_pixel(map, last, &to[0], &to[1]);
}

// The part of the map's rectangle that the grid fills.
static graphene_rect_t clip_of(const LithoGrid *grid, const LithoSliceMap *map)
{
    const LithoRect r = map->rect;
    double first[3], last[3], x0, y0, x1, y1;
    for (int a = 0; a < 3; a++) {
        first[a] = -0.5;
        last[a] = grid->axis[a].n - 0.5;
    }
    litho_slice_map_to_pixel(map, first, &x0, &y0);
    litho_slice_map_to_pixel(map, last, &x1, &y1);
    const graphene_rect_t all = GRAPHENE_RECT_INIT(r.x, r.y, r.w, r.h);
    graphene_rect_t cells = GRAPHENE_RECT_INIT(x0, y0, x1 - x0, y1 - y0), both;
    graphene_rect_normalize(&cells); // inlines of a map run upwards
    return graphene_rect_intersection(&all, &cells, &both) ? both : *graphene_rect_zero();
}

void litho_medium_append(GtkSnapshot *snapshot, LithoMedium *medium, GdkTexture *picture,
                         const LithoGrid *grid, const LithoSliceMap *map)
{
    const graphene_rect_t clip = clip_of(grid, map);
    double from[2], to[2];
    litho_medium_place(&litho_medium_layer(medium)->cube->grid, grid, map, from, to);
    if (from[0] == to[0] || from[1] == to[1] || clip.size.width <= 0 || clip.size.height <= 0)
        return;
    const int w = gdk_texture_get_width(picture), h = gdk_texture_get_height(picture);
    gtk_snapshot_push_clip(snapshot, &clip);
    gtk_snapshot_push_opacity(snapshot, litho_medium_opacity(medium));
    gtk_snapshot_save(snapshot);
    // Axes may run either way: a negative factor mirrors.
    gtk_snapshot_translate(snapshot, &GRAPHENE_POINT_INIT(from[0], from[1]));
    gtk_snapshot_scale(snapshot, (to[0] - from[0]) / w, (to[1] - from[1]) / h);
    // Lines behind the layer's last ones take those: the larger picture shows beyond the exact one.
    gtk_snapshot_append_texture(snapshot, picture, &GRAPHENE_RECT_INIT(0, 0, w + 1, h + 1));
    gtk_snapshot_append_texture(snapshot, picture, &GRAPHENE_RECT_INIT(0, 0, w, h));
    gtk_snapshot_restore(snapshot);
    gtk_snapshot_pop(snapshot);
    gtk_snapshot_pop(snapshot);
}
