// SPDX-License-Identifier: GPL-3.0-or-later
//
// Axes of SEG-Y files: what they count and how they are called, and files that hold several 2-D
// lines, in files made byte by byte and read back.
#include "tests/common.h"
#include "core/axis_names.h"
#include "core/io/survey.h"
#include "core/qc.h"
#include "tests/segy_odd.h"

typedef struct Gathers {
    int slow, fast;        // bytes
    int offset_by;         // from trace to trace of a gather; 0 = none
    const char *key[2];    // of the two axes
    const char *name, *of; // of the fast axis, and several
    const char *unit;
} Gathers;

// n1 x n2 traces without line numbers and coordinates.
static Make make_bare(int n1, int n2)
{
    Make make = make_plain();
    make.n1 = n1;
    make.n2 = n2;
    make.bin_x = 0;
    make.inline_byte = make.xline_byte = -1;
    return make;
}

static LithoCube *load(const Gathers *g)
{
    const Make make = make_bare(6, 12);
    g_autoptr(GByteArray) file = make_file(&make);
    make_put_bin16(file, &make, 3255, 2); // feet
    for (int n = 0; n < 72; n++) {
        const int i = n / 12, j = n % 12;
        make_put_head32(file, &make, n, 37, g->offset_by ? 100 + g->offset_by * j : 0);
        if (g->slow)
            make_put_head32(file, &make, n, g->slow, 301 + i);
        if (g->fast != 37)
            make_put_head32(file, &make, n, g->fast, 1 + j);
    }
    return odd_load(&make, file, NULL);
}

// Property: axes are called by what their words of the trace header mean, where the offsets say
// that these are records, and inline and crossline where they do not.
static void test_names(void)
{
    static const Gathers list[] = {
        {9, 13, 25, {"shot", "channel"}, "Channel", "Channels", ""},
        {17, 13, 25, {"shot", "channel"}, "Channel", "Channels", ""},
        {9, 21, 25, {"shot", "cdp"}, "CDP", "CDPs", ""},
        {21, 37, 25, {"cdp", "offset"}, "Offset", "Offsets", "ft"},
        {9, 21, 0, {"inline", "crossline"}, "Crossline", "Crosslines", ""},
        {189, 193, 25, {"inline", "crossline"}, "Crossline", "Crosslines", ""},
    };
    for (guint k = 0; k < G_N_ELEMENTS(list); k++) {
        g_autoptr(LithoCube) cube = load(&list[k]);
        const LithoGrid *grid = &cube->grid;
        g_test_message("bytes %d and %d: %s, %s", list[k].slow, list[k].fast,
                       litho_axis_key(grid, 0), litho_axis_key(grid, 1));
        g_assert_cmpint(grid->axis[0].n, ==, 6);
        g_assert_cmpint(grid->axis[1].n, ==, 12);
        for (int a = 0; a < 2; a++)
            g_assert_cmpstr(litho_axis_key(grid, a), ==, list[k].key[a]);
        g_assert_cmpstr(litho_axis_name(grid, 1), ==, list[k].name);
        g_assert_cmpstr(litho_axis_plural(grid, 1), ==, list[k].of);
        g_assert_cmpstr(grid->axis[1].unit, ==, list[k].unit);
    }
    g_autoptr(LithoCube) offsets = load(&list[3]);
    g_assert_cmpfloat(offsets->grid.axis[1].first, ==, 100);
    g_assert_cmpfloat(offsets->grid.axis[1].step, ==, 25);
    g_autofree char *word = litho_axis_word(&offsets->grid, 0);
    g_assert_cmpstr(word, ==, "CDP"); // no "cdp" inside a sentence
    g_autofree char *words = litho_axis_words(&offsets->grid, 1);
    g_assert_cmpstr(words, ==, "offsets");
}

// Property: a line has CDPs where its header counts them, else traces; in both cases it has no
// number of its own.
static void test_line(void)
{
    for (int numbered = 0; numbered < 2; numbered++) {
        const Make make = make_bare(1, 40);
        g_autoptr(GByteArray) file = make_file(&make);
        for (int n = 0; n < 40 && numbered; n++) {
            make_put_head32(file, &make, n, 9, 1);
            make_put_head32(file, &make, n, 21, 700 + n);
        }
        g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
        g_assert_true(litho_axis_is_unnumbered(&cube->grid, 0));
        g_assert_cmpstr(litho_axis_name(&cube->grid, 0), ==, "Line");
        g_assert_cmpstr(litho_axis_name(&cube->grid, 1), ==, numbered ? "CDP" : "Trace");
        g_assert_cmpfloat(cube->grid.axis[1].first, ==, numbered ? 700 : 1);
    }
}

// Property: offsets that lie anywhere are no axis: the file is read as before there were any.
static void test_irregular_offsets(void)
{
    const Make make = make_bare(6, 12);
    g_autoptr(GByteArray) file = make_file(&make);
    for (int n = 0; n < 72; n++) {
        make_put_head32(file, &make, n, 21, 301 + n / 12);
        make_put_head32(file, &make, n, 37, 100 + n * 7919 % 3001);
    }
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    g_assert_cmpint(litho_grid_traces(&cube->grid), ==, 72);
    g_assert_cmpstr(litho_axis_name(&cube->grid, 1), ==, "Trace");
}

typedef struct Lines {
    int number[2]; // at byte 9
    int first[2];  // CDP at byte 21
    double x[2], y[2], dx[2], dy[2];
    int n1, n2; // of the cube
    const char *told;
} Lines;

// Property: whoever opens a file of two lines reads that they are two and which, and no trace is
// left out; two lines of a cube side by side are none of that.
static void test_two_lines(void)
{
    static const Lines list[] = {
        // One numbering, side by side but far apart.
        {{101, 205}, {1, 1}, {0, 0}, {0, 5000}, {25, 25}, {0, 0}, 2, 40, "lines 101 and 205 are"},
        // Across one another.
        {{101, 205},
         {1, 1},
         {0, 700},
         {0, -900},
         {25, 0},
         {0, 25},
         2,
         40,
         "lines 101 and 205 do not lie side by side"},
        // CDPs that begin anew, and lines without a number.
        {{1, 1}, {1, 1}, {0, 0}, {0, 5000}, {25, 25}, {0, 0}, 1, 80, "2 lines, shown"},
        // CDPs that go on.
        {{1, 1}, {1, 41}, {0, 0}, {0, 5000}, {25, 25}, {0, 0}, 1, 80, "2 lines, shown"},
        // CDPs of their own.
        {{101, 205},
         {1001, 2001},
         {0, 0},
         {0, 5000},
         {25, 25},
         {0, 0},
         1,
         80,
         "2 lines, 101 and 205, shown"},
        // Two lines of a survey.
        {{101, 102}, {1, 1}, {0, 0}, {0, 50}, {25, 25}, {0, 0}, 2, 40, NULL},
    };
    for (guint w = 0; w < G_N_ELEMENTS(list); w++) {
        const Lines *l = &list[w];
        const Make make = make_bare(2, 40);
        g_autoptr(GByteArray) file = make_file(&make);
        for (int n = 0; n < 80; n++) {
            const int line = n / 40, k = n % 40;
            make_put_head16(file, &make, n, 71, 1);
            make_put_head32(file, &make, n, 9, l->number[line]);
            make_put_head32(file, &make, n, 21, l->first[line] + k);
            make_put_head32(file, &make, n, 181, (gint64)(l->x[line] + k * l->dx[line]));
            make_put_head32(file, &make, n, 185, (gint64)(l->y[line] + k * l->dy[line]));
        }
        g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
        for (guint k = 0; k < cube->notes->len; k++) {
            const char *note = g_ptr_array_index(cube->notes, k);
            g_test_message("%u: %s", w, note);
            g_assert_true(l->told || !strstr(note, "split the file"));
        }
        g_assert_cmpint(cube->grid.axis[0].n, ==, l->n1);
        g_assert_cmpint(cube->grid.axis[1].n, ==, l->n2);
        if (!l->told)
            continue;
        odd_assert_note(cube, l->told);
        // Before all else that may be odd about the file.
        g_assert_nonnull(strstr(g_ptr_array_index(litho_survey_notes(cube->survey), 0), "split"));
    }
}

// Property: two lines without any numbers are as far apart as their coordinates say, however many
// cells of the fitted lattice lie between them.
static void test_fitted_lines(void)
{
    const Make make = make_bare(2, 60);
    g_autoptr(GByteArray) file = make_file(&make);
    for (int n = 0; n < 120; n++) {
        make_put_head16(file, &make, n, 71, 1);
        make_put_head32(file, &make, n, 181, 25 * (n % 60));
        make_put_head32(file, &make, n, 185, n < 60 ? 0 : 5000);
    }
    for (int n = 119; n >= 110; n--)
        make_drop_trace(file, &make, n);
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    g_assert_cmpint(cube->grid.axis[0].n, ==, 2);
    g_assert_cmpfloat_with_epsilon(litho_grid_spacing(&cube->grid, 0), 5000, 1e-6);
    g_assert_cmpfloat_with_epsilon(litho_grid_spacing(&cube->grid, 1), 25, 1e-6);
    odd_assert_note(cube, "are 5000 m apart");
}

// Property: velocities have the unit of the file's lengths.
static void test_feet(void)
{
    for (int system = 1; system <= 2; system++) {
        Make make = make_plain();
        g_autoptr(GByteArray) file = make_file(&make);
        make_put_bin16(file, &make, 3255, system);
        for (int n = 0; n < 20; n++)
            for (int k = 0; k < make.ns; k++)
                make_put_sample(file, &make, n, k, 6000 + 10 * k);
        g_autoptr(LithoSurvey) survey = odd_open("velocity.sgy", file, NULL, NULL);
        g_autoptr(LithoCube) cube = litho_survey_read(survey, NULL, NULL, NULL);
        LithoStats stats;
        g_assert_true(litho_qc_stats(cube, NULL, &stats, NULL));
        g_assert_cmpstr(litho_qc_range(cube, &stats, LITHO_CLIP_AUTO).unit, ==,
                        system == 1 ? "m/s" : "ft/s");
    }
}

// Property: one gather has offsets, where these are evenly apart and count metres rather than
// traces; --file-order counts the traces. Its neighbours are as far apart as their offsets.
static void test_one_gather(void)
{
    for (int kind = 0; kind < 5; kind++) { // even, decreasing, counted, uneven, in file order
        const Make make = make_bare(1, 12);
        g_autoptr(GByteArray) file = make_file(&make);
        make_put_bin16(file, &make, 3255, 2); // feet
        const int step = kind == 1 ? -50 : kind == 2 ? 1 : 50;
        for (int n = 0; n < 12; n++)
            make_put_head32(file, &make, n, 37, 700 + step * n + (kind == 3 && n == 7 ? 10 : 0));
        g_autoptr(LithoCube) cube =
            odd_load(&make, file, &(LithoOpenOptions){.file_order = kind == 4});
        const LithoAxis *axis = &cube->grid.axis[1];
        g_assert_cmpstr(litho_axis_name(&cube->grid, 1), ==, kind < 2 ? "Offset" : "Trace");
        g_assert_cmpfloat(axis->first, ==, kind < 2 ? 700 : 1);
        g_assert_cmpfloat(axis->step, ==, kind < 2 ? step : 1);
        g_assert_cmpstr(axis->unit, ==, kind < 2 ? "ft" : "");
        g_assert_cmpfloat_with_epsilon(litho_grid_spacing(&cube->grid, 1),
                                       kind < 2 ? 50 * 0.3048 : 25, 1e-9);
        if (kind < 2)
            odd_assert_note(cube, "); zero-offset migration takes stacks (--file-order");
    }
}

// Property: a gather of one midpoint has offsets, not the numbers of the shots that it is made of,
// where these are evenly apart, and else the count of its traces where byte 25 has one; without it,
// or as one record of a shot, it is read as before.
static void test_gather_of_a_midpoint(void)
{
    enum { TRACES = 120 };                 // some of which have no say about ranges
    for (int kind = 0; kind < 4; kind++) { // even, uneven, one shot, uneven and counted
        const Make make = make_bare(1, TRACES);
        g_autoptr(GByteArray) file = make_file(&make);
        for (int n = 0; n < TRACES; n++) {
            make_put_head32(file, &make, n, 9, kind == 2 ? 50 : 50 + n);
            make_put_head32(file, &make, n, 13, n + 1);
            make_put_head32(file, &make, n, 21, 1010);
            make_put_head32(file, &make, n, 25, kind == 3 ? n + 1 : 0);
            make_put_head32(file, &make, n, 37, -100 - 175 * n - (kind % 2 == 1 && n > 5 ? 30 : 0));
        }
        g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
        const LithoGrid *grid = &cube->grid;
        g_test_message("%d: %s, %s", kind, litho_axis_key(grid, 0), litho_axis_key(grid, 1));
        g_assert_true(g_str_equal(litho_axis_key(grid, 1), "offset") == (kind == 0));
        g_assert_true(g_str_equal(litho_axis_key(grid, 1), "trace") == (kind == 3));
        if (kind == 3) {
            g_assert_cmpstr(litho_axis_key(grid, 0), ==, "cdp");
            g_assert_cmpint(grid->axis[1].n, ==, TRACES);
            g_assert_cmpfloat(litho_axis_value(&grid->axis[1], 6), ==, 7);
        }
        if (kind == 0) {
            g_assert_cmpstr(litho_axis_key(grid, 0), ==, "cdp");
            g_assert_cmpfloat(litho_axis_value(&grid->axis[1], 0), ==, -100);
            g_assert_cmpfloat(litho_axis_value(&grid->axis[1], TRACES - 1), ==,
                              -100 - 175 * (TRACES - 1));
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    odd_folder = g_dir_make_tmp("litho-names-XXXXXX", NULL);
    g_test_add_func("/segy-names/names", test_names);
    g_test_add_func("/segy-names/line", test_line);
    g_test_add_func("/segy-names/one-gather", test_one_gather);
    g_test_add_func("/segy-names/gather-of-a-midpoint", test_gather_of_a_midpoint);
    g_test_add_func("/segy-names/irregular-offsets", test_irregular_offsets);
    g_test_add_func("/segy-names/fitted-lines", test_fitted_lines);
    g_test_add_func("/segy-names/feet", test_feet);
    g_test_add_func("/segy-names/two-lines", test_two_lines);
    int status = g_test_run();
    test_remove_folder(odd_folder);
    return status;
}
