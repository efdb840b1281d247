// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/place.h"

#include <math.h>
#include <string.h>

gboolean litho_migrate_place_stated(const LithoGrid *grid)
{
    return grid->has_xy && !grid->has_no_place &&
           (grid->xy_source == LITHO_FROM_FILE || grid->xy_source == LITHO_FROM_USER);
}

// TRUE when the grid's line numbers were stated by a file or the user.
static gboolean is_stated(LithoSource source)
{
    return source == LITHO_FROM_FILE || source == LITHO_FROM_USER;
}

// Model index of the image's (i, j), through survey coordinates.
static gboolean map_by_coordinates(const LithoGrid *model, const LithoGrid *image,
                                   LithoModelMap *map)
{
    const double *a = model->inline_step, *b = model->xline_step;
    double det = a[0] * b[1] - a[1] * b[0];
    if (det == 0)
        return FALSE;
    const double *from[] = {image->origin, image->inline_step, image->xline_step};
    double *to[] = {map->at, map->by_inline, map->by_xline};
    for (int k = 0; k < 3; k++) {
        double x = from[k][0] - (k == 0 ? model->origin[0] : 0);
        double y = from[k][1] - (k == 0 ? model->origin[1] : 0);
        to[k][0] = (x * b[1] - y * b[0]) / det;
        to[k][1] = (y * a[0] - x * a[1]) / det;
    }
    return TRUE;
}

static void map_by_numbers(const LithoGrid *model, const LithoGrid *image, LithoModelMap *map)
{
    double *along[] = {map->by_inline, map->by_xline};
    memset(map->by_inline, 0, sizeof map->by_inline);
    memset(map->by_xline, 0, sizeof map->by_xline);
    for (int k = 0; k < 2; k++) {
        map->at[k] = litho_axis_index(&model->axis[k], image->axis[k].first);
        along[k][k] = image->axis[k].step / model->axis[k].step;
    }
}

// Maps both areas onto each other, whatever the numbers say: first trace on first, last on last.
static void map_by_stretching(const LithoGrid *model, const LithoGrid *image, LithoModelMap *map)
{
    double *along[] = {map->by_inline, map->by_xline};
    memset(map, 0, sizeof *map);
    for (int k = 0; k < 2; k++)
        along[k][k] =
            image->axis[k].n > 1 ? (model->axis[k].n - 1.0) / (image->axis[k].n - 1.0) : 0;
}

LithoPlace litho_migrate_place(const LithoGrid *model, const LithoGrid *image, LithoModelMap *map)
{
    if (litho_migrate_place_stated(model) && litho_migrate_place_stated(image) &&
        map_by_coordinates(model, image, map))
        return LITHO_PLACE_COORDINATES;
    if (is_stated(model->axis[0].source) && is_stated(image->axis[0].source)) {
        map_by_numbers(model, image, map);
        return LITHO_PLACE_NUMBERS;
    }
    map_by_stretching(model, image, map);
    return LITHO_PLACE_STRETCHED;
}

gboolean litho_migrate_place_overlaps(const LithoGrid *model, const LithoGrid *image,
                                      const LithoModelMap *map)
{
    double lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
    for (int corner = 0; corner < 4; corner++)
        for (int k = 0; k < 2; k++) {
            double f = map->at[k] + (corner & 1) * (image->axis[0].n - 1.0) * map->by_inline[k] +
                       (corner >> 1) * (image->axis[1].n - 1.0) * map->by_xline[k];
            lo[k] = fmin(lo[k], f);
            hi[k] = fmax(hi[k], f);
        }
    for (int k = 0; k < 2; k++)
        if (hi[k] < -0.5 || lo[k] > model->axis[k].n - 0.5)
            return FALSE;
    return TRUE;
}
