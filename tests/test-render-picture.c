// SPDX-License-Identifier: GPL-3.0-or-later
//
// Pictures that are saved: margins, captions, golden pictures, files.
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

#include "core/error.h"
#include "render/axes.h"
#include "render/picture.h"
#include "tests/render_fixture.h"

// Nothing is cut off: with the longest line numbers, any axis and either scale a margin of two
// pixels stays white all around the picture.
static void test_margins(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) cube = fixture_events(20, 20, 40, 0);
    for (int variant = 0; variant < 24; variant++) {
        LithoPicture p;
        cube->grid = fixture_grid(20, 20, 40);
        cube->grid.axis[0].first = variant & 1 ? 1234567 : 1;
        cube->grid.axis[1].first = variant & 1 ? 9876500 : 1;
        cube->grid.axis[2].first = variant & 1 ? 9 : -0.02;
        litho_picture_init(&p, cube, NULL);
        p.with = LITHO_DRAW_CPU;
        p.width = 420;
        p.height = 300;
        p.scale = variant & 2 ? 2 : 1;
        p.style.font_size = variant & 4 ? 15 : 0;
        p.title =
            "A title that is far too long for a picture this small and must end somewhere, so";
        p.caption = p.title;
        p.clip_note = "99.5 %";
        litho_look_set_clip(&p.look, variant & 1 ? 1.234567e-9 : 98765.4);
        litho_picture_add_slice(&p, variant / 8, 3, LITHO_SHOW_INPUT);
        cairo_surface_t *s = litho_picture_draw(&p, &error);
        g_assert_no_error(error);
        int w = cairo_image_surface_get_width(s), h = cairo_image_surface_get_height(s);
        int dark = 0;
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++)
                if (x < 2 || y < 2 || x >= w - 2 || y >= h - 2)
                    dark += fixture_distance(fixture_pixel(s, x, y), 0xffffff) > 8;
        g_test_message("variant %d: %d pixels of ink at the edge", variant, dark);
        g_assert_cmpint(dark, ==, 0);
        cairo_surface_destroy(s);
    }
}

// A sentence longer than a line goes on in the next: at the sizes of a demonstration's frames the
// result of a race is read whole, and only where three lines do not do an ellipsis ends it.
static void test_caption_lines(void)
{
    static const char *const sentence =
        "\u00d7 1.82   Left: CPU, 1 thread, 1.23 s. Right: CPU, 16 threads, 0.676 s. CPU, 16 threads "
        "is faster; the results differ by 1.2e-07 of their norm; 100 \u00d7 120 \u00d7 300 samples, "
        "copies to and from the device included, median of three runs.";
    cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 8, 8);
    cairo_t *cr = cairo_create(s);
    const struct {
        double width, size;
    } frames[] = {{1264, 11.7}, {1904, 17.1}, {1264, 40}};
    for (int k = 0; k < 3; k++) {
        const LithoAxesStyle style = {.font_size = frames[k].size};
        g_auto(GStrv) lines =
            litho_axes_wrap_caption(cr, &style, sentence, frames[k].width, 3);
        g_autofree char *joined = g_strjoinv(" ", lines);
        g_test_message("%g wide, size %g: %u lines", frames[k].width, frames[k].size,
                       g_strv_length(lines));
        g_assert_cmpuint(g_strv_length(lines), ==, k < 2 ? 2 : 3);
        g_assert_true((strcmp(joined, sentence) == 0) == (k < 2));
        g_assert_true(g_str_has_suffix(joined, k < 2 ? "." : "\u2026"));
    }
    cairo_destroy(cr);
    cairo_surface_destroy(s);
}

static void golden_picture(LithoPicture *p, const LithoCube *cube, const LithoCube *other)
{
    litho_picture_init(p, cube, other);
    p->with = LITHO_DRAW_CPU;
    p->width = 340;
    p->height = 230;
    p->style.font_size = 10;
}

// Committed pictures, looked at by people: a section with everything on it, and wiggles. The
// tolerance lets fonts and rounding differ, not data (see render_fixture.h).
static void test_goldens(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) cube = fixture_events(30, 40, 60, 0),
                         clean = fixture_events(30, 40, 60, 0);
    fixture_kill(cube, 12, 9);
    fixture_kill(cube, 12, 10);
    LithoPicture p;
    LithoRect data;
    golden_picture(&p, cube, clean);
    p.look.grid_lines = TRUE;
    p.clip_note = "99 %";
    litho_picture_add_slice(&p, LITHO_INLINE, 12, LITHO_SHOW_SPLIT);
    cairo_surface_t *s = litho_picture_draw(&p, &error);
    g_assert_no_error(error);
    data = (LithoRect){70, 60, 180, 150};
    fixture_golden(s, "section.png", &data, 1);
    cairo_surface_destroy(s);

    golden_picture(&p, cube, NULL);
    p.look.wiggle = LITHO_WIGGLE_FILL;
    p.look.no_density = TRUE;
    litho_picture_add_slice(&p, LITHO_XLINE, 9, LITHO_SHOW_INPUT);
    s = litho_picture_draw(&p, &error);
    g_assert_no_error(error);
    fixture_golden(s, "wiggles.png", &data, 1);
    cairo_surface_destroy(s);

    golden_picture(&p, cube, NULL);
    p.scale = 2;
    p.look.map = litho_colormap_find("lagoon");
    p.look.lo = 0;
    p.look.hi = 0.9;
    litho_picture_add_slice(&p, LITHO_SAMPLE, 30, LITHO_SHOW_INPUT);
    s = litho_picture_draw(&p, &error);
    g_assert_no_error(error);
    data = (LithoRect){140, 120, 360, 300};
    fixture_golden(s, "map-2x.png", &data, 1);
    cairo_surface_destroy(s);
}

// Files: PNG with the words that tell what it shows, PDF and SVG by their first bytes; other names
// and empty pictures are refused and leave nothing behind.
static void test_files(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = g_dir_make_tmp("litho-XXXXXX", NULL);
    g_autoptr(LithoCube) cube = fixture_events(10, 12, 20, 0);
    LithoPicture p;
    golden_picture(&p, cube, NULL);
    p.caption = "fx half_width=3 \u00b1";
    p.clip_note = "98 %";
    g_autofree char *refused = g_build_filename(folder, "empty.png", NULL);
    g_assert_false(litho_picture_save(&p, refused, &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER);
    g_clear_error(&error);
    litho_picture_add_slice(&p, LITHO_INLINE, 3, LITHO_SHOW_INPUT);
    static const char *const names[] = {"a.png", "a.pdf", "a.svg"};
    static const char *const first[] = {"\x89PNG", "%PDF-", "<?xml"};
    for (int k = 0; k < 3; k++) {
        g_autofree char *path = g_build_filename(folder, names[k], NULL), *bytes = NULL;
        gsize length;
        g_assert_true(litho_picture_save(&p, path, &error));
        g_assert_no_error(error);
        g_assert_true(g_file_get_contents(path, &bytes, &length, NULL));
        g_assert_cmpmem(bytes, strlen(first[k]), first[k], strlen(first[k]));
        if (k == 0) {
            static const char *const words[] = {"Inline 1004", "fx half_width=3 \u00b1", "98 %",
                                                "blue-white-red", "Lithoscope"};
            for (guint w = 0; w < G_N_ELEMENTS(words); w++)
                g_assert_nonnull(memmem(bytes, length, words[w], strlen(words[w])));
        }
        g_unlink(path);
    }
    g_autofree char *bmp = g_build_filename(folder, "a.bmp", NULL);
    g_assert_false(litho_picture_save(&p, bmp, &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED);
    g_clear_error(&error);
    g_autofree char *nowhere = g_build_filename(folder, "none", "a.png", NULL);
    g_assert_false(litho_picture_save(&p, nowhere, &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
    g_assert_cmpint(g_rmdir(folder), ==, 0); // nothing left behind
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/render-picture/margins", test_margins);
    g_test_add_func("/render-picture/caption-lines", test_caption_lines);
    g_test_add_func("/render-picture/goldens", test_goldens);
    g_test_add_func("/render-picture/files", test_files);
    return g_test_run();
}
