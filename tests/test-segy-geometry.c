// SPDX-License-Identifier: GPL-3.0-or-later
// Places of the traces of odd files: line numbers at every byte and in every order, gaps,
// coordinates, several files, and the opening itself. Samples are whole numbers that differ from
// cell to cell, compared for equality: a wrong cell shows up as a wrong number at once.
#include <math.h>
#include <string.h>

#include "tests/common.h"
#include "core/error.h"
#include "core/io/survey.h"
#include "tests/segy_odd.h"

static void test_sortings(void)
{
    static const int steps[][2] = {{1, 1}, {3, 2}, {-2, 1}, {1, -5}};
    for (int sorting = 0; sorting < 4; sorting++)
        for (guint s = 0; s < G_N_ELEMENTS(steps); s++) {
            Make make = make_plain();
            make.sorting = (MakeSorting)sorting;
            make.inline_step = steps[s][0];
            make.xline_step = steps[s][1];
            odd_expect_cube(&make, make_file(&make), NULL);
        }
}

// Reading parts must give the same samples as reading everything, whatever the order of the file:
// an inline, a crossline, a time slice and a box inside.
static void test_boxes(void)
{
    for (int sorting = 0; sorting < 4; sorting++) {
        Make make = make_plain();
        make.sorting = (MakeSorting)sorting;
        g_autoptr(GByteArray) file = make_file(&make);
        make_drop_trace(file, &make, 7);
        g_autoptr(LithoCube) all = odd_load(&make, file, NULL);
        LithoBox boxes[] = {
            litho_box_slice(&all->grid, 0, 2),
            litho_box_slice(&all->grid, 1, 3),
            litho_box_slice(&all->grid, 2, 17),
            {{1, 1, 5}, {3, 4, 20}},
        };
        for (guint b = 0; b < G_N_ELEMENTS(boxes); b++) {
            GError *error = NULL;
            g_autoptr(LithoCube) part = litho_survey_read(all->survey, &boxes[b], NULL, &error);
            g_assert_no_error(error);
            g_autoptr(LithoCube) cut = litho_cube_copy_box(all, boxes[b], NULL);
            g_assert_cmpmem(part->samples, litho_cube_held_samples(part) * 4, cut->samples,
                            litho_cube_held_samples(cut) * 4);
            gsize traces = (gsize)(litho_box_size(boxes[b], 0) * litho_box_size(boxes[b], 1));
            g_assert_cmpmem(part->live, traces, cut->live, traces);
        }
    }
}

static void test_header_bytes(void)
{
    static const int pairs[][2] = {{189, 193}, {9, 21},    {5, 21},   {9, 13},
                                   {17, 25},   {213, 217}, {193, 197}};
    for (guint k = 0; k < G_N_ELEMENTS(pairs); k++) {
        Make make = make_plain();
        make.inline_byte = pairs[k][0];
        make.xline_byte = pairs[k][1];
        g_autoptr(GByteArray) file = make_file(&make);
        g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
        odd_assert_full(&make, cube);
        const LithoCandidate *c;
        g_assert_cmpint(litho_survey_candidates(cube->survey, &c), >, 0);
        g_assert_cmpint(c[0].inline_byte, ==, pairs[k][0]);
        g_assert_cmpint(c[0].xline_byte, ==, pairs[k][1]);
        g_assert_nonnull(strstr(c[0].evidence, "4 x 5 numbers, step 1 and 1, fills 100 %"));
    }
    Make make = make_plain(); // somewhere nobody looks, but the user knows
    make.inline_byte = 61;
    make.xline_byte = 65;
    GByteArray *file = make_file(&make);
    LithoOpenOptions known = {.inline_byte = 61, .xline_byte = 65};
    g_autoptr(LithoCube) cube = odd_load(&make, file, &known);
    odd_assert_full(&make, cube);
    g_byte_array_unref(file);
}

// Property: records of shots, whose channels have the same offsets in each, are shots and channels:
// midpoint numbers, which move on from shot to shot, leave empty corners. Without bins the
// receivers tell how far apart channels are; sources would tell how far apart shots are.
static void test_records(void)
{
    Make make = make_plain();
    make.inline_byte = 9;
    make.xline_byte = 13;
    g_autoptr(GByteArray) file = make_file(&make);
    for (int n = 0; n < make.n1 * make.n2; n++) {
        make_put_head32(file, &make, n, 21, 300 + n / make.n2 + n % make.n2);
        make_put_head32(file, &make, n, 37, -262 - 25 * (n % make.n2));
    }
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    odd_assert_full(&make, cube);
    for (int n = 0; n < make.n1 * make.n2; n++) {
        const int words[][2] = {{71, 1}, {73, 600 * (n / make.n2)}, {77, 0},
                                {85, 0}, {81, 25 * (n % make.n2)},  {181, 0},
                                {185, 0}};
        make_put_head16(file, &make, n, words[0][0], words[0][1]);
        for (guint k = 1; k < G_N_ELEMENTS(words); k++)
            make_put_head32(file, &make, n, words[k][0], words[k][1]);
    }
    g_autoptr(LithoCube) unbinned = odd_load(&make, file, NULL);
    g_assert_cmpfloat(litho_grid_spacing(&unbinned->grid, LITHO_XLINE), ==, 25);
}

// Property: of traces that claim one cell a dead one and one of zeros have no part, whichever comes
// first and whatever is read of them: what is left of the cell is the good trace.
static void check_repeats(void)
{
    Make make = make_plain();
    for (int kind = 0; kind < 4; kind++) { // dead or zeros, behind the good trace or before it
        g_autoptr(GByteArray) file = make_file(&make);
        const int spoilt = kind / 2, good = 1 - spoilt;
        make_put_head32(file, &make, 1, 193, make.xline_first);
        if (kind % 2 == 0)
            make_put_head16(file, &make, spoilt, 29, 2);
        for (int k = 0; k < make.ns; k++)
            make_put_sample(file, &make, spoilt, k, kind % 2 ? 0 : 99);
        for (int policy = 0; policy < 3; policy++) {
            // Whole traces are no longer looked at after the choice of the user.
            if (kind % 2 && policy < 2)
                continue;
            g_autoptr(LithoCube) cube =
                odd_load(&make, file, &(LithoOpenOptions){.duplicates = policy});
            const LithoBox part = {{0, 0, 3}, {1, 5, 9}};
            g_autoptr(LithoCube) again = litho_survey_read(cube->survey, &part, NULL, NULL);
            g_assert_true(litho_cube_is_live(cube, 0, 0));
            for (int k = 0; k < make.ns; k++)
                g_assert_cmpfloat(litho_cube_trace(cube, 0, 0)[k], ==,
                                  make_value(&make, 0, good, k));
            for (int k = 0; k < 6; k++)
                g_assert_cmpfloat(litho_cube_trace(again, 0, 0)[k], ==,
                                  make_value(&make, 0, good, k + 3));
        }
    }
    // Two traces of a far offset repeat each other; the one nearest to zero fills the cell alone.
    make.offsets = 3;
    g_autoptr(GByteArray) file = make_file(&make);
    make_put_head32(file, &make, 0, 37, 300);
    for (int n = 0; n < 60; n++)
        for (int k = 0; k < make.ns && (n > 2 ? n % 3 : n != 1); k++)
            make_put_sample(file, &make, n, k, 99);
    g_autoptr(LithoCube) near = odd_load(&make, file, &(LithoOpenOptions){.duplicates = 2});
    odd_assert_full(&make, near);
}

static void test_gaps_and_repeats(void)
{
    Make make = make_plain();
    GByteArray *file = make_file(&make);
    make_drop_trace(file, &make, 13);
    make_drop_trace(file, &make, 6);
    g_autoptr(LithoCube) gaps = odd_load(&make, file, NULL);
    g_assert_cmpint(litho_cube_count_live(gaps), ==, 18);
    g_assert_false(litho_cube_is_live(gaps, 1, 1));
    odd_assert_samples(&make, gaps);
    odd_assert_note(gaps, "2 of 20 cells have no trace");
    g_byte_array_unref(file);

    // Lines 0 to 2 lack crosslines 0 to 2.
    file = make_file(&make);
    for (int k = 12; k >= 0; k--)
        if (k % 5 < 3)
            make_drop_trace(file, &make, k);
    g_autoptr(LithoCube) corner = odd_load(&make, file, NULL);
    const gint64 far[] = {9, 4, 1, 0, 0};
    for (int reach = 0; reach < 5; reach++)
        g_assert_cmpint(litho_survey_far_cells(corner->survey, reach), ==, far[reach]);
    g_byte_array_unref(file);

    // Trace 1 claims the cell of trace 0: first 0, last 1, mean of both.
    file = make_file(&make);
    make_put_head32(file, &make, 1, 193, make.xline_first);
    for (int policy = 0; policy < 3; policy++) {
        LithoOpenOptions options = {.duplicates = policy};
        g_autoptr(LithoCube) cube = odd_load(&make, file, &options);
        g_assert_cmpint(litho_survey_counts(cube->survey).duplicates, ==, 1);
        for (int k = 0; k < make.ns; k++) {
            float a = make_value(&make, 0, 0, k), b = make_value(&make, 0, 1, k);
            float want = policy == 0 ? a : policy == 1 ? b : (a + b) / 2;
            g_assert_cmpfloat(litho_cube_trace(cube, 0, 0)[k], ==, want);
        }
        g_assert_false(litho_cube_is_live(cube, 0, 1));
    }
    g_byte_array_unref(file);

    check_repeats();

    // One line number far away is outvoted; several are refused before anything is allocated.
    file = make_file(&make);
    make_put_head32(file, &make, 3, 189, 2000000000);
    LithoOpenOptions bytes = {.inline_byte = 189, .xline_byte = 193};
    g_autoptr(LithoCube) outvoted = odd_load(&make, file, &bytes);
    g_assert_cmpint(litho_cube_count_live(outvoted), ==, 19);
    g_assert_false(litho_cube_is_live(outvoted, 0, 3));
    odd_assert_samples(&make, outvoted);
    odd_assert_note(outvoted, "1 trace (number 4): the line numbers lie far");
    for (int t = 4; t < 9; t++)
        make_put_head32(file, &make, t, 189, 2000000000 - 1000 * t);
    odd_expect_refusal("far.sgy", file, &bytes, "--file-order");
}

// A lattice found from coordinates alone, turned by 23 degrees, in any order: cells may come out
// mirrored or swapped, so traces are looked up by what they hold.
static void test_coordinates_only(void)
{
    for (int sorting = 0; sorting < 4; sorting++) {
        Make make = make_plain();
        make.n1 = 7;
        make.sorting = (MakeSorting)sorting;
        make.inline_byte = make.xline_byte = -1;
        make.angle = 0.4;
        g_autoptr(GByteArray) file = make_file(&make);
        g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
        odd_assert_note(cube, "fitted to the coordinates");
        const LithoGrid *g = &cube->grid;
        gboolean swapped = g->axis[0].n == 5;
        g_assert_cmpint(g->axis[0].n * g->axis[1].n, ==, 35);
        g_assert_cmpint(litho_cube_count_live(cube), ==, 35);
        // Coordinates are rounded to 1 cm; the fit averages 35 of them.
        g_assert_cmpfloat_with_epsilon(litho_grid_spacing(g, 0), swapped ? 12.5 : 25, 0.005);
        g_assert_cmpfloat_with_epsilon(litho_grid_spacing(g, 1), swapped ? 25 : 12.5, 0.005);
        for (int n = 0; n < 35; n++) {
            int i, j;
            make_cell(&make, n, &i, &j);
            double x = make.x0 + j * 12.5 * cos(0.4) - i * 25 * sin(0.4);
            double y = make.y0 + j * 12.5 * sin(0.4) + i * 25 * cos(0.4);
            gboolean found = FALSE;
            for (gint64 a = 0; a < g->axis[0].n; a++)
                for (gint64 b = 0; b < g->axis[1].n; b++) {
                    double px = g->origin[0] + a * g->inline_step[0] + b * g->xline_step[0];
                    double py = g->origin[1] + a * g->inline_step[1] + b * g->xline_step[1];
                    if (hypot(px - x, py - y) > 0.1)
                        continue;
                    found = TRUE;
                    g_assert_cmpfloat(litho_cube_trace(cube, a, b)[9], ==,
                                      make_value(&make, i, j, 9));
                }
            g_assert_true(found);
        }
    }
}

static void test_coordinates(void)
{
    Make make = make_plain();
    make.angle = -0.7;
    GByteArray *file = make_file(&make);
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    g_assert_cmpfloat_with_epsilon(litho_grid_spacing(&cube->grid, 0), 25, 0.01);
    g_assert_cmpfloat_with_epsilon(litho_grid_spacing(&cube->grid, 1), 12.5, 0.01);
    g_assert_cmpfloat_with_epsilon(cube->grid.origin[0], 430000, 0.05);
    make_put_bin16(file, &make, 3255, 2); // feet
    g_autoptr(LithoCube) feet = odd_load(&make, file, NULL);
    g_assert_cmpfloat_with_epsilon(litho_grid_spacing(&feet->grid, 0), 25 * 0.3048, 0.01);
    g_autoptr(LithoCube) half = odd_load(&make, file, &(LithoOpenOptions){.x_byte = 73});
    odd_assert_note(half, "byte 73 was given for one of two coordinates");
    LithoOpenOptions given = {.dx = 30, .dy = 20};
    g_autoptr(LithoCube) told = odd_load(&make, file, &given);
    g_assert_cmpfloat_with_epsilon(litho_grid_spacing(&told->grid, 0), 30, 1e-9);
    g_assert_cmpfloat_with_epsilon(litho_grid_spacing(&told->grid, 1), 20, 1e-9);
    for (int n = 0; n < 20; n++)
        make_put_head16(file, &make, n, 89, 3); // degrees
    g_autoptr(LithoCube) angles = odd_load(&make, file, NULL);
    odd_assert_note(angles, "angles");
    g_assert_cmpint(angles->grid.xy_source, ==, LITHO_FROM_ASSUMED);
    const LithoOpenOptions shaped[] = {{.file_order = TRUE},
                                       {.file_order = TRUE, .shape = {10, 2}}};
    for (guint k = 0; k < G_N_ELEMENTS(shaped); k++) {
        g_autoptr(LithoCube) line = odd_load(&make, file, &shaped[k]);
        g_assert_cmpint(line->grid.xy_source, ==, LITHO_FROM_ASSUMED);
        g_assert_cmpint(line->grid.axis[0].n, ==, k == 0 ? 1 : 10);
    }
    g_byte_array_unref(file);
}

// Property: a scalar given by the user takes the place of byte 71, with line numbers and without
// them: bins of 25 m stored with -100 and read as -10 are 250 m. What would break it: a place that
// asks the header itself.
static void test_given_scalar(void)
{
    LithoOpenOptions options = {.xy_scalar = -10};
    for (int numbers = 0; numbers < 2; numbers++) {
        Make make = make_plain();
        if (!numbers)
            make.inline_byte = make.xline_byte = -1;
        g_autoptr(GByteArray) file = make_file(&make);
        g_autoptr(LithoCube) cube = odd_load(&make, file, &options);
        double a = litho_grid_spacing(&cube->grid, 0), b = litho_grid_spacing(&cube->grid, 1);
        g_assert_cmpfloat_with_epsilon(MAX(a, b), 250, 0.1);
        g_assert_cmpfloat_with_epsilon(MIN(a, b), 125, 0.1);
    }
}

// Property: a scalar that no standard knows is not applied where the offsets say that it is none:
// receivers 25 m apart are not 800 m apart. With offsets of another length it is used as it stands.
static void test_false_scalar(void)
{
    for (int agrees = 0; agrees < 2; agrees++) {
        Make make = make_plain();
        make.n1 = 1;
        make.n2 = 20;
        make.bin_x = 0;
        g_autoptr(GByteArray) file = make_file(&make);
        for (int n = 0; n < 20; n++) {
            make_put_head16(file, &make, n, 71, 32);
            make_put_head32(file, &make, n, 37, (agrees ? 1 : 3) * (200 + 25 * n));
            make_put_head32(file, &make, n, 73, 430000);
            make_put_head32(file, &make, n, 77, 6780000);
            make_put_head32(file, &make, n, 81, 430200 + 25 * n);
            make_put_head32(file, &make, n, 85, 6780000);
        }
        g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
        odd_assert_note(cube, agrees ? "holds no scalar" : "used as it stands");
        g_assert_cmpfloat_with_epsilon(litho_grid_spacing(&cube->grid, 1), agrees ? 25 : 800, 0.1);
    }
}

// Property: gathers read in file order have the offsets that they have, not one.
static void test_offsets_in_file_order(void)
{
    Make make = make_plain();
    make.offsets = 2;
    g_autoptr(GByteArray) file = make_file(&make);
    g_autoptr(LithoCube) cube = odd_load(&make, file, &(LithoOpenOptions){.file_order = TRUE});
    g_assert_cmpint(litho_survey_counts(cube->survey).offsets, ==, 2);
    odd_assert_note(cube, "(2 values, 100 to 200) but traces are in file order");
}

typedef struct Told {
    gint64 traces, total;
    gint32 low[2], high[2];
} Told;

static void on_headers(const gint32 *a, const gint32 *b, gint64 n, gint64 total, gpointer data)
{
    Told *told = data;
    told->traces += n;
    told->total = total;
    for (gint64 k = 0; k < n; k++) {
        told->low[0] = MIN(told->low[0], a[k]);
        told->high[0] = MAX(told->high[0], a[k]);
        told->low[1] = MIN(told->low[1], b[k]);
        told->high[1] = MAX(told->high[1], b[k]);
    }
}

// Property: the scan tells the line numbers of every trace once, and the opened survey knows which
// cells have one.
static void test_told_headers(void)
{
    Make make = make_plain();
    g_autoptr(GByteArray) file = make_file(&make);
    make_drop_trace(file, &make, 7);
    Told told = {.low = {G_MAXINT32, G_MAXINT32}, .high = {G_MININT32, G_MININT32}};
    LithoOpenOptions options = {.on_headers = on_headers, .headers_data = &told};
    GError *error = NULL;
    g_autoptr(LithoSurvey) survey = odd_open("told.sgy", file, &options, &error);
    g_assert_no_error(error);
    g_assert_cmpint(told.traces, ==, 19);
    g_assert_cmpint(told.total, ==, 19);
    g_assert_cmpint(told.low[0], ==, make.inline_first);
    g_assert_cmpint(told.high[0], ==, make.inline_first + 3 * make.inline_step);
    g_assert_cmpint(told.low[1], ==, make.xline_first);
    g_assert_cmpint(told.high[1], ==, make.xline_first + 4 * make.xline_step);
    int missing = 0;
    for (int c = 0; c < 20; c++)
        missing += !litho_survey_has_trace(survey, c / 5, c % 5);
    g_assert_cmpint(missing, ==, 1);
    g_assert_false(litho_survey_has_trace(survey, 1, 2));
}

// Property: traces here and there on a grid are not told as one line across it, and are on it when
// the bytes are given; a line across it is.
static void test_scattered(void)
{
    enum { N = 40, EVERY = 19 };
    Make make = make_plain();
    make.n1 = make.n2 = N;
    make.bin_x = 0;
    for (int is_line = 0; is_line < 2; is_line++) {
        g_autoptr(GByteArray) file = make_file(&make);
        for (int n = N * N - 1; n >= 0; n--)
            if (is_line ? n % N != n / N && n % N != n / N + 1 : n * 7 % EVERY != 0)
                make_drop_trace(file, &make, n);
        g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
        odd_assert_note(cube, is_line ? "one line across the lattice of bytes 189 and 193"
                                      : "traces fill 5.3 % of the lattice of bytes 189 and 193");
        const LithoOpenOptions given = {.inline_byte = 189, .xline_byte = 193};
        g_autoptr(LithoCube) grid = odd_load(&make, file, &given);
        g_assert_cmpint(grid->grid.axis[0].n, ==, N);
    }
}

static void test_no_geometry(void)
{
    Make make = make_plain();
    make.inline_byte = make.xline_byte = -1;
    make.bin_x = 0;
    GByteArray *file = make_file(&make);
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    odd_assert_note(cube, "file order");
    g_assert_cmpint(cube->grid.axis[0].n, ==, 1);
    g_assert_cmpint(cube->grid.axis[1].n, ==, 20);
    g_assert_cmpfloat(litho_cube_trace(cube, 0, 13)[4], ==, make_value(&make, 2, 3, 4));
    LithoOpenOptions shaped = {.shape = {4, 5}};
    g_autoptr(LithoCube) box = odd_load(&make, file, &shaped);
    g_assert_cmpfloat(litho_cube_trace(box, 2, 3)[4], ==, make_value(&make, 2, 3, 4));
    g_byte_array_unref(file);

    make = make_plain();
    file = make_file(&make);
    LithoOpenOptions order = {.file_order = TRUE};
    g_autoptr(LithoCube) line = odd_load(&make, file, &order);
    g_assert_cmpint(line->grid.axis[1].n, ==, 20);
    g_byte_array_unref(file);
}

// A file of two lines without line numbers, of 24 and 16 traces, that `way` tells apart: 0 nothing,
// 1 coordinates that bend, and jump by 5 km from line to line, else the byte that changes (9) or
// counts anew.
static GByteArray *two_lines(const Make *make, int way)
{
    GByteArray *file = make_file(make);
    for (int n = 0; n < 40; n++) {
        const int second = n >= 24, k = second ? n - 24 : n;
        if (way == 1) {
            make_put_head16(file, make, n, 71, -10);
            make_put_head32(file, make, n, 181, 4300000 + 240 * k + 50000 * second);
            make_put_head32(file, make, n, 185, 64800000 + 9 * k * k);
        } else if (way == 9) {
            make_put_head32(file, make, n, 9, 17 + second);
        } else if (way) {
            make_put_head32(file, make, n, way == 2 ? 1 : way, 1 + k);
        }
    }
    return file;
}

// Property: the person is told where lines that are shown as one are joined, and the distance of
// traces is that along the lines.
static void test_two_lines(void)
{
    const int ways[] = {0, 1, 9, 2, 21};
    const char *const evidence[] = {
        NULL, "(coordinates jump at trace 25)", "(byte 9 changes at trace 25)",
        "(byte 1 counts anew at trace 25)", "(byte 21 counts anew at trace 25)"};
    for (guint w = 0; w < G_N_ELEMENTS(ways); w++) {
        Make make = make_plain();
        make.n1 = 1;
        make.n2 = 40;
        make.bin_x = 0;
        make.inline_byte = make.xline_byte = -1;
        g_autoptr(GByteArray) file = two_lines(&make, ways[w]);
        g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
        g_assert_cmpint(cube->grid.axis[1].n, ==, 40);
        if (evidence[w])
            odd_assert_note(cube, evidence[w]);
        for (guint k = 0; !evidence[w] && k < cube->notes->len; k++)
            g_assert_null(strstr(g_ptr_array_index(cube->notes, k), "seem to be"));
        if (ways[w] == 1) {
            const double spacing = litho_grid_spacing(&cube->grid, 1);
            g_assert_cmpfloat(spacing, >, 24);
            g_assert_cmpfloat(spacing, <, 40);
        }
    }
}

static void test_prestack(void)
{
    Make make = make_plain();
    make.offsets = 3;
    GByteArray *file = make_file(&make);
    for (int n = 0; n < 60; n++) // later offsets hold other numbers
        for (int k = 0; k < make.ns && n % 3; k++)
            make_put_sample(file, &make, n, k, 99);
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    odd_assert_full(&make, cube);
    odd_assert_note(cube, "prestack: 3 offsets (100 to 300)");
    g_assert_cmpint(litho_survey_counts(cube->survey).offsets, ==, 3);
    for (int n = 0; n < 60; n++)
        make_put_head16(file, &make, n, 89, 3); // degrees: a note that says less
    g_autoptr(LithoCube) angles = odd_load(&make, file, NULL);
    odd_assert_note(angles, "angles");
    g_assert_true(
        g_str_has_prefix(g_ptr_array_index(litho_survey_notes(angles->survey), 0), "prestack"));
    g_byte_array_unref(file);
}

static void test_several_files(void)
{
    char *paths[4] = {NULL};
    Make whole = make_plain();
    whole.n1 = 6;
    for (int f = 0; f < 3; f++) { // two inlines each; the formats differ, the survey does not care
        Make part = whole;
        part.n1 = 2;
        part.inline_first = whole.inline_first + 2 * f;
        part.format = f == 1 ? 5 : 1;
        part.order = f == 2 ? LITHO_ORDER_LITTLE : LITHO_ORDER_BIG;
        part.y0 += 2 * f * part.bin_x;
        g_autoptr(GByteArray) file = make_file(&part);
        for (int n = 0; n < 10; n++)
            for (int k = 0; k < part.ns; k++)
                make_put_sample(file, &part, n, k, make_value(&whole, 2 * f + n / 5, n % 5, k));
        g_autofree char *name = g_strdup_printf("part-%d.sgy", f);
        paths[f] = odd_put(name, file);
    }
    GError *error = NULL;
    g_autoptr(LithoSurvey) survey =
        litho_survey_open((const char *const *)paths, NULL, NULL, &error);
    g_assert_no_error(error);
    g_autoptr(LithoCube) cube = litho_survey_read(survey, NULL, NULL, &error);
    odd_assert_full(&whole, cube);
    g_free(paths[2]);
    Make other = whole;
    other.ns = 31;
    g_autoptr(GByteArray) file = make_file(&other);
    paths[2] = odd_put("other.sgy", file);
    g_assert_null(litho_survey_open((const char *const *)paths, NULL, NULL, &error));
    g_assert_nonnull(strstr(error->message, "must agree"));
    g_error_free(error);
    for (int f = 0; f < 3; f++)
        g_free(paths[f]);
}

// Opens two files as one survey.
static LithoSurvey *open_two(const Make *a, GByteArray *first, const Make *b, GByteArray *second,
                             GError **error)
{
    g_autofree char *one = odd_put(a->su ? "one.su" : "one.sgy", first);
    g_autofree char *two = odd_put(b->su ? "two.su" : "two.sgy", second);
    const char *paths[] = {one, two, NULL};
    return litho_survey_open(paths, NULL, NULL, error);
}

typedef enum { IN_SU, IN_DEPTH, IN_FEET, IN_TRACES, IN_SILENCE } Apart;

// The second of two files, with another interval, domain or unit of length than the first; where it
// differs `in silence`, the first one states no interval.
static void check_apart(Apart how, const char *words)
{
    Make make = make_plain(), other = make;
    make.ascii = other.ascii = TRUE;
    make.su = other.su = how == IN_SU;
    make.format = other.format = 5;
    other.inline_first += make.n1;
    other.dt_us = how == IN_SU || how == IN_SILENCE ? 2000 : make.dt_us;
    g_autoptr(GByteArray) first = make_file(&make), second = make_file(&other);
    if (how == IN_DEPTH)
        memcpy(first->data + 160, "C 3 DEPTH MIN: 0 MAX: 120", 25);
    if (how == IN_FEET)
        make_put_bin16(second, &other, 3255, 2);
    for (int n = 0; n < 20 && (how == IN_TRACES || how == IN_SILENCE); n++) {
        make_put_head16(second, &other, n, 117, how == IN_TRACES ? 2000 : 0);
        make_put_head16(first, &make, n, 117, how == IN_TRACES ? 4000 : 0);
    }
    if (how == IN_SILENCE)
        make_put_bin16(first, &make, 3217, 0);
    GError *error = NULL;
    g_autoptr(LithoSurvey) survey = open_two(&make, first, &other, second, &error);
    if (words) {
        g_assert_null(survey);
        g_assert_nonnull(strstr(error->message, words));
        g_assert_nonnull(strstr(error->message, "files of one survey must agree"));
        g_clear_error(&error);
        return;
    }
    g_assert_no_error(error);
    g_assert_cmpfloat(litho_survey_grid(survey)->axis[2].step, ==, 0.002);
}

// Property: files that mean different lengths, domains or intervals make no survey, whatever words
// say it; one sentence has both values. A file that states none agrees with one that does.
static void test_disagreeing_files(void)
{
    check_apart(IN_SU, "30 samples every 4 ms");
    check_apart(IN_DEPTH, "30 samples every 4 m in depth");
    check_apart(IN_FEET, "one.sgy are in metres, those of");
    check_apart(IN_TRACES, "30 every 2 ms");
    check_apart(IN_SILENCE, NULL);
    const Make make = make_plain();
    g_autoptr(GByteArray) file = make_file(&make), array = odd_bytes("\x93NUMPY", 6, 9000);
    g_autofree char *one = odd_put("one.sgy", file), *two = odd_put("two", array);
    const char *paths[] = {one, two, NULL};
    GError *error = NULL;
    g_assert_null(litho_survey_open(paths, NULL, NULL, &error));
    g_assert_nonnull(strstr(error->message, "SEG-Y or SU only, not with"));
    g_error_free(error);
}

// --- the opening itself -----------------------------------------------------------------------

typedef struct Watch {
    gboolean first_seen, scan_ended_before_first;
    int traces;
    gint64 most_scanned;
    int asked;
} Watch;

static void on_first(LithoCube *line, gpointer data)
{
    Watch *w = data;
    w->first_seen = TRUE;
    w->traces = (int)(line->grid.axis[0].n * line->grid.axis[1].n);
    w->scan_ended_before_first = w->most_scanned > 0;
    g_assert_cmpfloat(line->samples[4], ==, (float)((3 * 16) % 41 - 20));
}

static void on_progress(const LithoProgress *progress, gpointer data)
{
    Watch *w = data;
    if (strcmp(progress->what, "scanning headers") == 0)
        w->most_scanned = MAX(w->most_scanned, progress->done);
}

static gboolean third_time(gpointer data)
{
    return ++((Watch *)data)->asked == 3;
}

// The first inline is handed out before a single header of the scan was counted. A reader is asked
// to stop at its third look (of 13: one per MiB) and must do so; a cancel is never a failure.
static void test_first_line_and_cancel(void)
{
    Make make = make_plain();
    make.n1 = 300;
    make.n2 = 120;
    g_autoptr(GByteArray) file = make_file(&make);
    g_autofree char *path = odd_put("large.sgy", file);
    const char *paths[] = {path, NULL};
    Watch watch = {0};
    LithoRun run = {.on_progress = on_progress, .progress_data = &watch};
    LithoOpenOptions options = {.on_first = on_first, .first_data = &watch};
    GError *error = NULL;
    g_autoptr(LithoSurvey) survey = litho_survey_open(paths, &options, &run, &error);
    g_assert_no_error(error);
    g_assert_true(watch.first_seen);
    g_assert_false(watch.scan_ended_before_first);
    g_assert_cmpint(watch.traces, ==, 120);
    g_assert_cmpint(watch.most_scanned, >, 0);

    LithoRun stopped = {.superseded = third_time, .superseded_data = &watch, .threads = 1};
    g_assert_null(litho_survey_read(survey, NULL, &stopped, &error));
    g_assert_true(litho_error_is_cancelled(error));
    g_assert_cmpint(watch.asked, ==, 3);
    g_clear_error(&error);
    g_autoptr(GCancellable) cancel = g_cancellable_new();
    g_cancellable_cancel(cancel);
    run.cancel = cancel;
    g_assert_null(litho_survey_read(survey, NULL, &run, &error));
    g_assert_true(litho_error_is_cancelled(error));
    g_clear_error(&error);
    g_assert_null(litho_survey_open(paths, NULL, &run, &error)); // cancelled from the start
    g_assert_true(litho_error_is_cancelled(error));
    g_clear_error(&error);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    odd_folder = g_dir_make_tmp("litho-segy-XXXXXX", NULL);
    g_test_add_func("/segy-geometry/sortings", test_sortings);
    g_test_add_func("/segy-geometry/boxes", test_boxes);
    g_test_add_func("/segy-geometry/header-bytes", test_header_bytes);
    g_test_add_func("/segy-geometry/gaps-and-repeats", test_gaps_and_repeats);
    g_test_add_func("/segy-geometry/coordinates-only", test_coordinates_only);
    g_test_add_func("/segy-geometry/coordinates", test_coordinates);
    g_test_add_func("/segy-geometry/given-scalar", test_given_scalar);
    g_test_add_func("/segy-geometry/false-scalar", test_false_scalar);
    g_test_add_func("/segy-geometry/offsets-in-file-order", test_offsets_in_file_order);
    g_test_add_func("/segy-geometry/told-headers", test_told_headers);
    g_test_add_func("/segy-geometry/no-geometry", test_no_geometry);
    g_test_add_func("/segy-geometry/scattered", test_scattered);
    g_test_add_func("/segy-geometry/two-lines", test_two_lines);
    g_test_add_func("/segy-geometry/records", test_records);
    g_test_add_func("/segy-geometry/prestack", test_prestack);
    g_test_add_func("/segy-geometry/several-files", test_several_files);
    g_test_add_func("/segy-geometry/disagreeing-files", test_disagreeing_files);
    g_test_add_func("/segy-geometry/first-line-and-cancel", test_first_line_and_cancel);
    int status = g_test_run();
    test_remove_folder(odd_folder);
    return status;
}
