// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/show/race_panel.h"

#include <math.h>

#include "render/raster.h"

typedef struct Piece {
    LithoCube *cube;
    double ms;
} Piece;

static void piece_clear(gpointer piece)
{
    litho_cube_unref(((Piece *)piece)->cube);
}

void litho_race_panel_init(LithoRacePanel *panel)
{
    *panel = (LithoRacePanel){.pieces = g_array_new(FALSE, FALSE, sizeof(Piece))};
    g_array_set_clear_func(panel->pieces, piece_clear);
}

void litho_race_panel_clear(LithoRacePanel *panel)
{
    litho_race_panel_repaint(panel);
    g_array_set_size(panel->pieces, 0);
    panel->painted = 0;
}

void litho_race_panel_free(LithoRacePanel *panel)
{
    litho_race_panel_clear(panel);
    g_clear_pointer(&panel->pieces, g_array_unref);
}

void litho_race_panel_add(LithoRacePanel *panel, LithoCube *piece, double ms)
{
    const Piece p = {piece, ms};
    g_array_append_val(panel->pieces, p);
}

void litho_race_panel_repaint(LithoRacePanel *panel)
{
    g_clear_pointer(&panel->picture, cairo_surface_destroy);
}

// Paints one piece where it lies in the section.
static void paint_piece(const LithoRaceSection *section, cairo_t *cr, const LithoCube *cube,
                        double w, double h)
{
    LithoSliceView view = litho_slice_view(&cube->grid, section->axis, section->index);
    view.keep_aspect = FALSE;
    const LithoSliceMap map = litho_slice_map(&cube->grid, &view, (LithoRect){0, 0, w, h});
    double lo[3], hi[3], x[2], y[2];
    for (int a = 0; a < 3; a++) {
        view.lo[a] = lo[a] = (double)cube->held.lo[a] - 0.5;
        view.hi[a] = hi[a] = (double)cube->held.hi[a] - 0.5;
    }
    litho_slice_map_to_pixel(&map, lo, &x[0], &y[0]);
    litho_slice_map_to_pixel(&map, hi, &x[1], &y[1]);
    const double left = floor(MIN(x[0], x[1])), top = floor(MIN(y[0], y[1])),
                 width = ceil(MAX(x[0], x[1])) - left, height = ceil(MAX(y[0], y[1])) - top;
    const LithoRaster raster = {.output = cube,
                                .grid = &cube->grid,
                                .view = view,
                                .look = section->look,
                                .show = LITHO_SHOW_OUTPUT,
                                .scale = 1};
    cairo_surface_t *surface =
        width < 1 || height < 1 ? NULL : litho_raster_slice(&raster, width, height, NULL);
    if (!surface)
        return;
    cairo_set_source_surface(cr, surface, left, top);
    cairo_rectangle(cr, left, top, width, height);
    cairo_fill(cr);
    cairo_surface_destroy(surface);
}

cairo_surface_t *litho_race_panel_picture(LithoRacePanel *panel, const LithoRaceSection *section,
                                          int width, int height, double ms)
{
    guint wanted = 0;
    while (wanted < panel->pieces->len && g_array_index(panel->pieces, Piece, wanted).ms <= ms)
        wanted++;
    if (panel->picture &&
        (panel->painted > wanted || cairo_image_surface_get_width(panel->picture) != width ||
         cairo_image_surface_get_height(panel->picture) != height))
        litho_race_panel_repaint(panel);
    if (!panel->picture) {
        panel->picture = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
        panel->painted = 0;
        cairo_t *cr = cairo_create(panel->picture);
        cairo_set_source_rgb(cr, 0.21, 0.21, 0.21);
        cairo_paint(cr);
        cairo_destroy(cr);
    }
    cairo_t *cr = cairo_create(panel->picture);
    for (; panel->painted < wanted; panel->painted++)
        paint_piece(section, cr, g_array_index(panel->pieces, Piece, panel->painted).cube, width,
                    height);
    cairo_destroy(cr);
    return panel->picture;
}
