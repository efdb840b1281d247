// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/render_fixture.h"

#include <math.h>
#include <stdlib.h>

LithoGrid fixture_grid(gint64 ni, gint64 nj, gint64 nk)
{
    LithoGrid grid = litho_grid_new(ni, nj, nk);
    grid.axis[0].first = 1001;
    grid.axis[1].first = 2005;
    grid.axis[1].step = 2;
    grid.xy_source = LITHO_FROM_FILE;
    return grid;
}

LithoCube *fixture_numbered(gint64 ni, gint64 nj, gint64 nk)
{
    LithoGrid grid = fixture_grid(ni, nj, nk);
    LithoCube *cube = litho_cube_new(&grid, NULL);
    for (gint64 n = 0; n < litho_grid_samples(&grid); n++)
        cube->samples[n] = (float)n;
    return cube;
}

LithoCube *fixture_events(gint64 ni, gint64 nj, gint64 nk, double noise)
{
    LithoGrid grid = fixture_grid(ni, nj, nk);
    LithoCube *cube = litho_cube_new(&grid, NULL);
    g_autoptr(GRand) rand = g_rand_new_with_seed(7);
    for (gint64 i = 0; i < ni; i++)
        for (gint64 j = 0; j < nj; j++)
            for (gint64 k = 0; k < nk; k++) {
                double t = (double)k - 0.2 * j - 3 * sin(0.25 * i + 0.1 * j);
                double v = 0.8 * sin(0.35 * t) * cos(0.045 * t);
                litho_cube_trace(cube, i, j)[k] =
                    (float)(v + noise * g_rand_double_range(rand, -1, 1));
            }
    g_strlcpy(cube->name, "events", sizeof cube->name);
    return cube;
}

void fixture_kill(LithoCube *cube, gint64 i, gint64 j)
{
    cube->live[litho_cube_trace_index(cube, i, j)] = 0;
}

guint32 fixture_pixel(cairo_surface_t *surface, int x, int y)
{
    cairo_surface_flush(surface);
    const guint8 *data = cairo_image_surface_get_data(surface);
    gsize stride = cairo_image_surface_get_stride(surface);
    return ((const guint32 *)(data + y * stride))[x] & 0xffffff;
}

guint32 fixture_color(const LithoLook *look, LithoShow show, double value)
{
    double lo, hi, rgb[3];
    litho_look_range(look, show, &lo, &hi);
    litho_colormap_at(litho_look_map(look, show), (value - lo) / (hi - lo), rgb);
    guint32 out = 0;
    for (int k = 0; k < 3; k++)
        out = out << 8 | (guint32)lrint(rgb[k] * 255);
    return out;
}

int fixture_distance(guint32 a, guint32 b)
{
    int most = 0;
    for (int shift = 0; shift < 24; shift += 8)
        most = MAX(most, abs((int)(a >> shift & 255) - (int)(b >> shift & 255)));
    return most;
}

double fixture_differing(cairo_surface_t *a, cairo_surface_t *b, const LithoRect *rect, int limit)
{
    int w = cairo_image_surface_get_width(a), h = cairo_image_surface_get_height(a);
    g_assert_cmpint(w, ==, cairo_image_surface_get_width(b));
    g_assert_cmpint(h, ==, cairo_image_surface_get_height(b));
    int x0 = rect ? (int)rect->x : 0, x1 = rect ? (int)(rect->x + rect->w) : w;
    int y0 = rect ? (int)rect->y : 0, y1 = rect ? (int)(rect->y + rect->h) : h;
    gint64 count = 0, bad = 0;
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++, count++)
            bad += fixture_distance(fixture_pixel(a, x, y), fixture_pixel(b, x, y)) > limit;
    return count ? (double)bad / (double)count : 0;
}

void fixture_golden(cairo_surface_t *picture, const char *name, const LithoRect *data, guint n)
{
    const char *folder = g_getenv("G_TEST_SRCDIR");
    g_autofree char *path = g_build_filename(folder ? folder : "tests", "golden", name, NULL);
    if (g_getenv("LITHO_GOLDEN_UPDATE")) {
        g_assert_cmpint(cairo_surface_write_to_png(picture, path), ==, CAIRO_STATUS_SUCCESS);
        return;
    }
    cairo_surface_t *golden = cairo_image_surface_create_from_png(path);
    g_assert_cmpint(cairo_surface_status(golden), ==, CAIRO_STATUS_SUCCESS);
    for (guint k = 0; k < n; k++) {
        double bad = fixture_differing(picture, golden, &data[k], 10);
        g_test_message("%s: panel %u: %.3f %% of pixels beyond 10 (1 %% allowed)", name, k,
                       bad * 100);
        g_assert_cmpfloat(bad, <=, 0.01);
    }
    double bad = fixture_differing(picture, golden, NULL, 40);
    g_test_message("%s: %.3f %% of all pixels beyond 40 (4 %% allowed)", name, bad * 100);
    g_assert_cmpfloat(bad, <=, 0.04);
    cairo_surface_destroy(golden);
}

gboolean fixture_is_hatch(guint32 color)
{
    int r = color >> 16, g = color >> 8 & 255, b = color & 255;
    return r == g && g == b && r >= 66 && r <= 112; // 0.27..0.43
}
