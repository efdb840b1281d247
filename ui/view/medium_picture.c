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

// The layer's first sample lies where the grid's first one does; its last may lie before.
void litho_medium_append(GtkSnapshot *snapshot, LithoMedium *medium, GdkTexture *picture,
                         const LithoGrid *grid, const LithoSliceMap *map)
{
    const LithoCube *cube = litho_medium_layer(medium)->cube;
    const LithoRect r = map->rect;
    double first[3], last[3], x0, y0, x1, y1;
    for (int a = 0; a < 3; a++) {
        const double by = cube->grid.axis[a].step / grid->axis[a].step;
        first[a] = -0.5;
        last[a] = MIN((cube->grid.axis[a].n - 0.5) * by, grid->axis[a].n - 0.5);
    }
    litho_slice_map_to_pixel(map, first, &x0, &y0);
    litho_slice_map_to_pixel(map, last, &x1, &y1);
    if (x0 == x1 || y0 == y1)
        return;
    const int w = gdk_texture_get_width(picture), h = gdk_texture_get_height(picture);
    gtk_snapshot_push_clip(snapshot, &GRAPHENE_RECT_INIT(r.x, r.y, r.w, r.h));
    gtk_snapshot_push_opacity(snapshot, litho_medium_opacity(medium));
    gtk_snapshot_save(snapshot);
    // Axes may run either way: a negative factor mirrors.
    gtk_snapshot_translate(snapshot, &GRAPHENE_POINT_INIT(x0, y0));
    gtk_snapshot_scale(snapshot, (x1 - x0) / w, (y1 - y0) / h);
    gtk_snapshot_append_texture(snapshot, picture, &GRAPHENE_RECT_INIT(0, 0, w, h));
    gtk_snapshot_restore(snapshot);
    gtk_snapshot_pop(snapshot);
    gtk_snapshot_pop(snapshot);
}
