// SPDX-License-Identifier: GPL-3.0-or-later
//
// The page of `report`: its f-k picture, and what it says of the similarity.
#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "render/report_page.h"
#include "tests/quality_cubes.h"

enum { SIMILAR = 3, FK = 4 }; // columns

static LithoSheet *page_of(const LithoCube *cube)
{
    LithoQuality quality = litho_quality_unknown();
    g_autoptr(LithoFlow) flow = litho_flow_new();
    const LithoReportPage page = {.in = cube,
                                  .out = cube,
                                  .flow = flow,
                                  .quality = &quality,
                                  .slice = {-1, -1, -1},
                                  .look = litho_look_default(),
                                  .title = "cube",
                                  .caption = "",
                                  .survey = &cube->grid};
    GError *error = NULL;
    LithoSheet *sheet = litho_report_page_draw(&page, NULL, &error);
    g_assert_no_error(error);
    return sheet;
}

// Mean difference of two f-k pictures, of 255.
static double apart(const LithoSheet *a, const LithoSheet *b)
{
    cairo_surface_t *const picture[] = {a->cells[FK].picture, b->cells[FK].picture};
    const int stride = cairo_image_surface_get_stride(picture[0]);
    const int rows = cairo_image_surface_get_height(picture[0]);
    const guint8 *p = cairo_image_surface_get_data(picture[0]);
    const guint8 *q = cairo_image_surface_get_data(picture[1]);
    double sum = 0;
    for (int k = 0; k < stride * rows; k++)
        sum += abs(p[k] - q[k]);
    return sum / (stride * rows);
}

// Property: missing traces do not smear events over all wavenumbers: with two traces of five gone
// the picture is nearer to that of the whole survey than half of what zeros in their place make of
// it.
static void test_gaps(void)
{
    g_auto(Cubes) c = quality_make("planes", "inlines=32 xlines=40 samples=96 snr=30 missing=40");
    g_autoptr(LithoCube) zeros = litho_cube_copy_box(c.noisy, c.noisy->held, NULL);
    memset(zeros->live, 1, (gsize)litho_grid_traces(&zeros->grid));
    memset(c.truth->live, 1, (gsize)litho_grid_traces(&zeros->grid));
    g_autoptr(LithoSheet) whole = page_of(c.truth);
    g_autoptr(LithoSheet) holed = page_of(c.noisy);
    g_autoptr(LithoSheet) zeroed = page_of(zeros);
    g_test_message("apart by %.1f, with zeros by %.1f", apart(holed, whole), apart(zeroed, whole));
    g_assert_cmpfloat(apart(zeroed, whole), >, 5); // or this shows nothing
    g_assert_cmpfloat(apart(holed, whole), <, 0.5 * apart(zeroed, whole));
}

// Property: the axes of an f-k picture are those of its cells, of which there are whole numbers: the
// middle of one is wavenumber 0, of the first row frequency 0, of the last one that of Nyquist.
static void test_fk_axes(void)
{
    g_auto(Cubes) c = quality_make("planes", "inlines=32 xlines=40 samples=96 snr=30");
    g_autoptr(LithoSheet) page = page_of(c.noisy);
    const LithoSheetAxes *axes = page->cells[FK].axes;
    const double cell = -(axes->across.from + axes->across.to); // of an even number of columns
    const double columns = (axes->across.to - axes->across.from) / cell;
    const double row = -2 * axes->down.from, rows = (axes->down.to - axes->down.from) / row;
    g_test_message("%g columns, %g rows", columns, rows);
    g_assert_cmpfloat_with_epsilon(columns, rint(columns), 1e-6);
    g_assert_cmpfloat_with_epsilon(rows, rint(rows), 1e-6);
    g_assert_cmpfloat_with_epsilon((rows - 1) * row, litho_grid_nyquist(&c.noisy->grid), 1e-6);
}

// The notes of a page of `cube` less `out` with maps beside the noise across the first `n` axes.
static char *notes_with(LithoCube *cube, LithoCube *out, int n, LithoBox judged, char **title)
{
    LithoQuality quality = litho_quality_unknown();
    g_autoptr(LithoFlow) flow = litho_flow_new();
    LithoReportPage page = {.in = cube,
                            .out = out,
                            .flow = flow,
                            .quality = &quality,
                            .slice = {8, 9, 20},
                            .look = litho_look_default(),
                            .title = "cube",
                            .caption = "",
                            .survey = &cube->grid};
    LithoCube *maps[3] = {NULL};
    for (int axis = 0; axis < n; axis++)
        page.beside[axis] = maps[axis] = litho_cube_new_box(
            &cube->grid,
            litho_box_intersect(judged, litho_box_slice(&cube->grid, axis, page.slice[axis])),
            NULL);
    g_autoptr(LithoSheet) sheet = litho_report_page_draw(&page, NULL, NULL);
    g_assert_nonnull(sheet);
    *title = g_strdup(sheet->cells[SIMILAR].lines[0]);
    for (int axis = 0; axis < n; axis++)
        litho_cube_unref(maps[axis]);
    return g_strjoinv("\n", sheet->notes);
}

// Property: a page says of which sections the similarity counts noise that stays, and that it is of
// a part where no more was judged; a section's title says which it is.
static void test_similarity_note(void)
{
    g_auto(Cubes) c = quality_make("planes", "inlines=16 xlines=18 samples=64 snr=6");
    const LithoBox all = c.noisy->held, part = {{4, 4, 8}, {12, 16, 40}};
    const struct {
        int n; // sections beside the noise
        LithoBox judged;
        const char *says, *title;
    } cases[] = {{0, all, "noise that stays in the output, too\n", "similarity, inline"},
                 {2, all, "where the noise was not judged", "similarity beside the noise, inline"},
                 {3, part, "of the part that was judged", "similarity beside the noise, inline"},
                 {3, all, NULL, "similarity beside the noise, inline"}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autofree char *title = NULL;
        g_autofree char *notes = notes_with(c.noisy, c.truth, cases[k].n, cases[k].judged, &title);
        g_test_message("%s: %s", title, notes);
        g_assert_true(g_str_has_prefix(title, cases[k].title));
        g_assert_true(cases[k].says ? strstr(notes, cases[k].says) != NULL
                                    : strstr(notes, "The similarity") == NULL);
    }
}

// Property: the line below a picture with axes goes on below its colour bar: a title of this length
// ends with the number of its slice.
static void test_long_title(void)
{
    g_autoptr(LithoSheet) sheet = litho_sheet_new(1, 1);
    double width, height;
    guint ink = 0;
    sheet->with_axes = TRUE;
    sheet->cells[0].lines[0] = g_strdup("similarity beside the noise, crossline 102061");
    litho_sheet_size(sheet, &width, &height);
    cairo_surface_t *page =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(width), (int)ceil(height));
    cairo_t *cr = cairo_create(page);
    litho_sheet_draw(sheet, cr);
    cairo_destroy(cr);
    cairo_surface_flush(page);
    const int stride = cairo_image_surface_get_stride(page);
    const double margin = (width - LITHO_SHEET_LEFT - sheet->cell_width - LITHO_SHEET_RIGHT) / 2;
    const int edge = (int)(margin + LITHO_SHEET_LEFT + sheet->cell_width) + 3; // beyond the frame
    for (int y = 0; y < (int)height; y++)
        for (int x = edge; x < (int)width; x++)
            ink += cairo_image_surface_get_data(page)[y * stride + 4 * x] < 128;
    cairo_surface_destroy(page);
    g_test_message("%u dark pixels below the bar", ink);
    g_assert_cmpuint(ink, >, 20);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/report-page/gaps", test_gaps);
    g_test_add_func("/report-page/fk-axes", test_fk_axes);
    g_test_add_func("/report-page/long-title", test_long_title);
    g_test_add_func("/report-page/similarity-note", test_similarity_note);
    return g_test_run();
}
