// SPDX-License-Identifier: GPL-3.0-or-later
// Results that lie elsewhere than their input: other axes, filled gaps, another unit of length. The
// file that was written is read again and must say what the cube said. A header word in another
// unit, or written over another word, fails here.
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "tests/common.h"
#include "core/io/survey.h"
#include "tests/segy_odd.h"

// Saves a result of `from` on `grid` under `name`, with samples that count, and reads it again.
static LithoCube *write_and_read(const LithoCube *from, const LithoGrid *grid, const char *name)
{
    GError *error = NULL;
    g_autofree char *path = g_build_filename(odd_folder, name, NULL);
    g_autoptr(LithoCube) result = litho_cube_new(grid, &error);
    g_assert_no_error(error);
    litho_cube_inherit(result, from);
    for (gint64 k = 0; k < litho_cube_held_samples(result); k++)
        result->samples[k] = (float)(k % 97);
    litho_cube_save(result, path, &(LithoSaveOptions){.force = TRUE}, NULL, &error);
    g_assert_no_error(error);
    LithoCube *again = litho_cube_load(path, NULL, NULL, &error);
    g_assert_no_error(error);
    return again;
}

static GByteArray *file_in_feet(const Make *make)
{
    GByteArray *file = make_file(make);
    make_put_bin16(file, make, 3255, 2);
    return file;
}

// --- feet ---------------------------------------------------------------------------------------

// Property: an image in depth of a survey in feet has the depths that were computed, in metres; so
// have depths that begin below the surface. SU, which names no unit, gets metres.
static void test_depths_in_feet(void)
{
    const char *const names[] = {"feet.sgy", "feet.su"};
    Make make = make_plain();
    g_autoptr(GByteArray) file = file_in_feet(&make);
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    LithoGrid grid = cube->grid;
    grid.is_depth = TRUE;
    grid.axis[2].step = 5;
    grid.axis[2].first = 150;
    g_strlcpy(grid.axis[2].unit, "m", sizeof grid.axis[2].unit);
    for (guint k = 0; k < G_N_ELEMENTS(names); k++) {
        g_autoptr(LithoCube) again = write_and_read(cube, &grid, names[k]);
        g_assert_true(again->grid.is_depth);
        g_assert_cmpfloat_with_epsilon(again->grid.axis[2].step, 5, 1e-3);
        g_assert_cmpfloat_with_epsilon(again->grid.axis[2].first, 150, 0.01);
    }
}

// Property: a start in depth is in the unit that the steps are in.
static void test_starts_in_feet(void)
{
    Make make = make_plain();
    make.dt_us = 10;
    g_autoptr(GByteArray) file = file_in_feet(&make);
    for (int n = 0; n < 20; n++)
        make_put_head16(file, &make, n, 109, 1000);
    const LithoOpenOptions depth = {.domain = 2};
    g_autoptr(LithoCube) cube = odd_load(&make, file, &depth);
    g_assert_cmpfloat_with_epsilon(cube->grid.axis[2].step, 3.048, 1e-9);
    g_assert_cmpfloat_with_epsilon(cube->grid.axis[2].first, 304.8, 1e-9);
    make_put_head16(file, &make, 3, 109, 1020); // two samples below the others
    g_autoptr(LithoCube) moved = odd_load(&make, file, &depth);
    g_assert_cmpfloat_with_epsilon(moved->grid.axis[2].first, 304.8, 1e-9);
    g_assert_cmpint(moved->grid.axis[2].n, ==, make.ns + 2);
}

// Property: places of modelled sources and receivers are in the unit that the file names.
static void test_spread_in_feet(void)
{
    Make make = make_plain();
    g_autoptr(GByteArray) file = file_in_feet(&make);
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    LithoGrid grid = litho_grid_new(3, 4, 30); // elsewhere: none of the input's traces
    grid.origin[0] = 1000;
    grid.xy_source = LITHO_FROM_COMPUTED;
    const double source[1][3] = {{1100, 40, 6}};
    grid.spread = litho_spread_get(1, 3, 0, source);
    g_autoptr(LithoCube) again = write_and_read(cube, &grid, "spread.sgy");
    guint8 header[240];
    double xy[2], receiver[2];
    g_assert_true(litho_survey_trace_header(again->survey, 1, 2, header, NULL));
    litho_survey_place(again->survey, header, FALSE, xy);
    g_assert_cmpfloat_with_epsilon(xy[0], 1100, 0.01);
    g_assert_cmpfloat_with_epsilon(xy[1], 40, 0.01);
    litho_survey_place(again->survey, header, TRUE, xy);
    litho_grid_receiver(&grid, 1, 2, receiver);
    g_assert_cmpfloat_with_epsilon(xy[0], receiver[0], 0.01);
    g_assert_cmpfloat_with_epsilon(again->grid.origin[0], 1000, 0.01);
    const double feet = hypot(receiver[0] - 1100, receiver[1] - 40) / 0.3048;
    g_assert_cmpfloat_with_epsilon(litho_get_i32(header + 36, LITHO_ORDER_BIG), feet, 0.5);
}

// --- intervals ----------------------------------------------------------------------------------

// Property: steps of depth and time that 16 bits of the usual unit do not hold, or hold as a number
// with a sign, come back to the rounding of half a thousandth of a foot.
static void test_rare_intervals(void)
{
    static const struct {
        double step;
        gboolean is_depth;
    } all[] = {{100, TRUE},   {70.25, TRUE},    {250, TRUE},    {0.15, TRUE},   {0.5, TRUE},
               {65.5, TRUE},  {199.7, TRUE},    {0.1, FALSE},   {1e-7, FALSE},  {0.004, FALSE},
               {0.03, FALSE}, {12e-7, FALSE},   {0.002, FALSE}, {48.536, TRUE}, {61.536, TRUE},
               {40, TRUE},    {0.061536, FALSE}};
    Make make = make_plain();
    for (int feet = 0; feet < 2; feet++) {
        g_autoptr(GByteArray) file = feet ? file_in_feet(&make) : make_file(&make);
        g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
        for (guint k = 0; k < G_N_ELEMENTS(all); k++) {
            LithoGrid grid = cube->grid;
            grid.is_depth = all[k].is_depth;
            grid.axis[2].step = all[k].step;
            g_strlcpy(grid.axis[2].unit, all[k].is_depth ? "m" : "s", sizeof grid.axis[2].unit);
            g_autoptr(LithoCube) again = write_and_read(cube, &grid, "rare.sgy");
            g_test_message("%g", all[k].step);
            g_assert_cmpint(again->grid.is_depth, ==, grid.is_depth);
            g_assert_cmpfloat_with_epsilon(again->grid.axis[2].step, all[k].step,
                                           all[k].step * 3e-4);
            g_autofree char *path = g_build_filename(odd_folder, "rare.sgy", NULL), *bytes = NULL;
            g_assert_true(g_file_get_contents(path, &bytes, NULL, NULL));
            const gint16 word = litho_get_i16((const guint8 *)bytes + 3216, LITHO_ORDER_BIG);
            g_assert_true(word >= 0 || !grid.is_depth); // other programs read a sign
        }
    }
}

// Property: words of SU have no sign, those of depths least of all.
static void test_long_steps_in_su(void)
{
    static const double steps[] = {48.536, 61.536, 40};
    Make make = make_plain();
    g_autoptr(GByteArray) file = make_file(&make);
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    for (guint k = 0; k < G_N_ELEMENTS(steps); k++) {
        LithoGrid grid = cube->grid;
        grid.is_depth = TRUE;
        grid.axis[2].step = steps[k];
        g_autoptr(LithoCube) again = write_and_read(cube, &grid, "long.su");
        g_assert_cmpfloat_with_epsilon(again->grid.axis[2].step, steps[k], 1e-9);
    }
}

// Property: an image in depth keeps no times of the traces it was made of, which others would read
// as depths and this program as a hint at another start.
static void test_no_times_of_depths(void)
{
    Make make = make_plain();
    g_autoptr(GByteArray) file = make_file(&make);
    for (int n = 0; n < 20; n++)
        for (int byte = 95; byte <= 113; byte += 2)
            make_put_head16(file, &make, n, byte, byte == 109 ? 100 : byte);
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    LithoGrid grid = cube->grid;
    grid.is_depth = TRUE;
    grid.axis[2].step = 10;
    for (int first = 0; first <= 150; first += 150) {
        grid.axis[2].first = first;
        g_autoptr(LithoCube) again = write_and_read(cube, &grid, "times.sgy");
        g_assert_cmpfloat(again->grid.axis[2].first, ==, first);
        g_assert_cmpint(again->notes->len, ==, 0);
        guint8 header[240];
        g_assert_true(litho_survey_trace_header(again->survey, 1, 2, header, NULL));
        for (int byte = 95; byte <= 113; byte += 2)
            g_assert_cmpint(litho_get_i16(header + byte - 1, LITHO_ORDER_BIG), ==,
                            byte == 109 ? first : 0);
    }
}

// --- text ---------------------------------------------------------------------------------------

// Property: an image in depth is read as depth where the input's text header has no free line.
static void test_full_text(void)
{
    Make make = make_plain();
    make.ascii = TRUE;
    g_autoptr(GByteArray) file = make_file(&make);
    for (int line = 1; line < 40; line++)
        memset(file->data + 80 * line + 4, 'A', 76);
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    LithoGrid grid = cube->grid;
    grid.is_depth = TRUE;
    grid.axis[2].step = 10;
    g_autoptr(LithoCube) again = write_and_read(cube, &grid, "full.sgy");
    g_assert_true(again->grid.is_depth);
    g_assert_cmpfloat_with_epsilon(again->grid.axis[2].step, 10, 1e-9);
    g_assert_nonnull(strstr(litho_survey_text(again->survey), "C38 SAMPLE AXIS NOW: DEPTH MIN: 0"));
}

// Property: a note is read as it was written: letters that a text header lacks are written with
// those that it has, and lines end between words.
static void test_notes(void)
{
    static const char note[] =
        "M\303\274ller: Gr\303\266\303\237e f\303\274r \316\251 "
        "lithoscope-cli run patch threshold=2.75 window=20 overlap=0.5 -i "
        "/a/folder/of/some/length/with/surveys.sgy -o /another/folder/of/some/length/filtered.sgy";
    Make make = make_plain();
    for (int ascii = 0; ascii < 2; ascii++) {
        make.ascii = ascii;
        g_autoptr(GByteArray) file = make_file(&make);
        g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
        g_autofree char *path = g_build_filename(odd_folder, "noted.sgy", NULL);
        const LithoSaveOptions options = {.force = TRUE, .note = note};
        g_assert_true(litho_cube_save(cube, path, &options, NULL, NULL));
        g_autoptr(LithoCube) again = litho_cube_load(path, NULL, NULL, NULL);
        const char *text = litho_survey_text(again->survey);
        g_assert_nonnull(strstr(text, "Mueller: Groesse fuer ? lithoscope-cli run "));
        g_auto(GStrv) words = g_strsplit(note, " ", -1);
        for (guint k = 5; words[k]; k++)
            g_assert_nonnull(strstr(text, words[k]));
    }
}

// --- words that are in use ----------------------------------------------------------------------

// Property: a start that changes does not write over line numbers at 213, whose second half is the
// scalar of times in the standard.
static void test_numbers_at_213(void)
{
    Make make = make_plain();
    make.inline_byte = 213;
    make.xline_byte = 217;
    g_autoptr(GByteArray) file = make_file(&make);
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    LithoGrid grid = cube->grid;
    grid.axis[2].first = 0.1004; // a scalar would hold it exactly
    g_autoptr(LithoCube) again = write_and_read(cube, &grid, "213.sgy");
    g_assert_cmpint(again->grid.axis[0].n, ==, make.n1);
    g_assert_cmpint(again->grid.axis[1].n, ==, make.n2);
    g_assert_cmpfloat(again->grid.axis[0].first, ==, make.inline_first);
    g_assert_cmpfloat_with_epsilon(again->grid.axis[2].first, 0.1, 1e-9);
}

// Property: line numbers are whole words in the other byte order, too, where the standard has two
// halves; a header is told with them as they are.
static void test_numbers_turned(void)
{
    const int bytes[][2] = {{213, 217}, {221, 225}};
    for (guint b = 0; b < G_N_ELEMENTS(bytes); b++)
        for (int order = 0; order < 2; order++) {
            Make make = make_plain();
            make.order = (LithoOrder)order;
            make.inline_byte = bytes[b][0];
            make.xline_byte = bytes[b][1];
            make.inline_first = 70000; // both halves are in use
            g_autoptr(GByteArray) file = make_file(&make);
            g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
            g_autofree char *path = g_build_filename(odd_folder, "turned.sgy", NULL);
            const LithoSaveOptions other = {.force = TRUE, .endian = order ? 1 : 2};
            g_assert_true(litho_cube_save(cube, path, &other, NULL, NULL));
            g_autoptr(LithoCube) again = litho_cube_load(path, NULL, NULL, NULL);
            odd_assert_full(&make, again);
            guint8 header[240];
            g_assert_true(litho_survey_trace_header(again->survey, 1, 2, header, NULL));
            g_assert_cmpint(litho_get_i32(header + bytes[b][0] - 1, LITHO_ORDER_BIG), ==, 70001);
        }
}

// Property: such a number is no scalar, where it is the same in all traces, too.
static void test_one_line_at_213(void)
{
    Make make = make_plain();
    make.n1 = 1;
    make.n2 = 20;
    make.inline_byte = 213;
    make.xline_byte = 217;
    g_autoptr(GByteArray) file = make_file(&make);
    for (int n = 0; n < 20; n++)
        make_put_head16(file, &make, n, 109, 200);
    const LithoOpenOptions bytes = {.inline_byte = 213, .xline_byte = 217};
    g_autoptr(LithoCube) cube = odd_load(&make, file, &bytes); // inline 100
    g_assert_cmpfloat_with_epsilon(cube->grid.axis[2].first, 0.2, 1e-9);
}

// Property: traces that fill gaps have floats where those around them have floats. What would break
// it: whole numbers among them, which read as 0 and turn the survey into one line.
static void test_numbers_as_floats(void)
{
    Make make = make_plain();
    g_autoptr(GByteArray) file = make_file(&make);
    const int bytes[] = {189, 193, 181, 185};
    for (int n = 0; n < 20; n++)
        for (guint k = 0; k < G_N_ELEMENTS(bytes); k++) {
            guint8 *word = file->data + 3600 + n * make_stride(&make) + bytes[k] - 1;
            const float value = (float)litho_get_i32(word, LITHO_ORDER_BIG) / (k < 2 ? 1 : 100);
            guint32 bits;
            memcpy(&bits, &value, sizeof bits);
            litho_put_32(word, LITHO_ORDER_BIG, bits);
            make_put_head16(file, &make, n, 71, 1);
        }
    make_drop_trace(file, &make, 13);
    make_drop_trace(file, &make, 6);
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    g_assert_cmpint(litho_cube_count_live(cube), ==, 18);
    memset(cube->live, 1, 20);
    g_autofree char *path = g_build_filename(odd_folder, "floats.sgy", NULL);
    g_assert_true(litho_cube_save(cube, path, &(LithoSaveOptions){.force = TRUE}, NULL, NULL));
    g_autoptr(LithoCube) again = litho_cube_load(path, NULL, NULL, NULL);
    g_assert_cmpint(again->grid.axis[0].n, ==, make.n1);
    g_assert_cmpint(again->grid.axis[1].n, ==, make.n2);
    g_assert_cmpint(litho_survey_counts(again->survey).missing, ==, 0);
    g_assert_cmpfloat_with_epsilon(litho_grid_spacing(&again->grid, 0), 25, 0.05);
    g_autofree char *su =
        g_build_filename(odd_folder, "floats.su", NULL); // floats are its own there
    g_assert_true(litho_cube_save(cube, su, &(LithoSaveOptions){.force = TRUE}, NULL, NULL));
    g_autoptr(LithoCube) whole = litho_cube_load(su, NULL, NULL, NULL);
    g_assert_cmpint(whole->grid.axis[0].n, ==, make.n1);
    g_assert_cmpint(whole->grid.axis[1].n, ==, make.n2);
    g_assert_cmpfloat(whole->grid.axis[0].first, ==, make.inline_first);
    g_assert_cmpfloat_with_epsilon(litho_grid_spacing(&whole->grid, 0), 25, 0.5);
}

// Property: an interval given for a file whose revision 2 stands in the second byte is the
// output's, where the float of that revision stood in its way.
static void test_revision_in_the_second_byte(void)
{
    Make make = make_plain();
    make.revision = 2;
    g_autoptr(GByteArray) file = make_file(&make);
    litho_put_f64(file->data + 3273 - 1, LITHO_ORDER_BIG, 2000);
    g_autoptr(LithoCube) cube = odd_load(&make, file, &(LithoOpenOptions){.dt = 0.003});
    g_autoptr(LithoCube) again = write_and_read(cube, &cube->grid, "revision.sgy");
    g_assert_cmpfloat_with_epsilon(again->grid.axis[2].step, 0.003, 1e-9);
}

// Property: names of trace headers keep their letters in the other byte order, and the words of the
// first extension are turned there and back.
static void test_swapped_extension(void)
{
    Make make = make_plain();
    make.revision = 0x0201;
    make.additional = 1;
    g_autoptr(GByteArray) file = make_file(&make);
    for (int n = 0; n < 20; n++)
        for (int h = 0; h < 2; h++)
            memcpy(file->data + 3600 + n * make_stride(&make) + 240 * h + 232,
                   h ? "SEG00001" : "SEG00000", 8);
    for (int byte = 0; byte < 176; byte++)
        file->data[3600 + 240 + byte] = (guint8)(byte + 1);
    g_autofree char *there = g_build_filename(odd_folder, "ext1.sgy", NULL);
    g_autofree char *back = g_build_filename(odd_folder, "ext2.sgy", NULL);
    g_autofree char *turned = NULL, *again = NULL;
    gsize length;
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    g_assert_true(
        litho_cube_save(cube, there, &(LithoSaveOptions){.force = TRUE, .endian = 2}, NULL, NULL));
    g_assert_true(g_file_get_contents(there, &turned, &length, NULL));
    const guint8 *header = (const guint8 *)turned + 3600, *extension = header + 240;
    g_assert_cmpmem(header + 232, 8, "SEG00000", 8);
    g_assert_cmpmem(extension + 232, 8, "SEG00001", 8);
    g_assert_cmpint(extension[0], ==, 8);     // trace number, eight bytes
    g_assert_cmpint(extension[136], ==, 140); // samples, four bytes
    g_assert_cmpint(extension[156], ==, 158); // additional headers, two bytes
    g_autoptr(LithoCube) little = litho_cube_load(there, NULL, NULL, NULL);
    g_assert_true(
        litho_cube_save(little, back, &(LithoSaveOptions){.force = TRUE, .endian = 1}, NULL, NULL));
    g_assert_true(g_file_get_contents(back, &again, &length, NULL));
    g_assert_cmpmem(again, length, file->data, file->len);
}

// Property: traces that fill gaps have headers that are read, where the first trace of the file has
// none: noise, or zeros, stand there.
static void test_first_header(void)
{
    for (int noise = 0; noise < 2; noise++) {
        Make make = make_plain();
        g_autoptr(GByteArray) file = make_file(&make);
        for (int byte = 0; byte < 240; byte++)
            file->data[3600 + byte] = noise ? (guint8)(77 + 41 * byte + byte * byte / 7) : 0;
        g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
        g_assert_cmpint(litho_cube_count_live(cube), ==, 19);
        g_autoptr(LithoCube) again = write_and_read(cube, &cube->grid, "first.sgy");
        g_assert_cmpint(litho_survey_counts(again->survey).missing, ==, 1);
        memset(cube->live, 1, 20);
        g_autofree char *path = g_build_filename(odd_folder, "filled.sgy", NULL);
        litho_cube_save(cube, path, &(LithoSaveOptions){.force = TRUE}, NULL, NULL);
        g_autoptr(LithoCube) filled = litho_cube_load(path, NULL, NULL, NULL);
        g_assert_cmpint(litho_survey_counts(filled->survey).missing, ==, 0);
        guint8 header[240];
        g_assert_true(litho_survey_trace_header(filled->survey, 0, 0, header, NULL));
        g_assert_cmpint(litho_get_i16(header + 114, LITHO_ORDER_BIG), ==, make.ns);
    }
}

// Property: an RSF header names its samples, whatever quotation mark is in the file's name; what no
// header can name is refused before anything is written.
static void test_quotation_marks(void)
{
    const char *const names[] = {"a\"b.rsf", "a'b c.rsf"};
    Make make = make_plain();
    g_autoptr(GByteArray) file = make_file(&make);
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    for (guint k = 0; k < G_N_ELEMENTS(names); k++) {
        g_autoptr(LithoCube) again = write_and_read(cube, &cube->grid, names[k]);
        g_assert_cmpfloat(again->samples[96], ==, 96);
    }
    GError *error = NULL;
    g_autofree char *path = g_build_filename(odd_folder, "a'b\".rsf", NULL);
    g_assert_false(litho_cube_save(cube, path, NULL, NULL, &error));
    g_assert_nonnull(strstr(error->message, "both kinds of quotation marks"));
    g_error_free(error);
    g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
}

// Property: a depth cube in SU is one where its first trace is dead.
static void test_dead_depths(void)
{
    Make make = make_plain();
    g_autoptr(GByteArray) file = make_file(&make);
    make_put_head16(file, &make, 0, 29, 2);
    g_autoptr(LithoCube) cube = odd_load(&make, file, &(LithoOpenOptions){.domain = 2});
    g_autofree char *path = g_build_filename(odd_folder, "dead.su", NULL);
    g_assert_true(litho_cube_save(cube, path, &(LithoSaveOptions){.force = TRUE}, NULL, NULL));
    g_autoptr(LithoCube) again = litho_cube_load(path, NULL, NULL, NULL);
    g_assert_true(again->grid.is_depth);
    g_assert_cmpfloat_with_epsilon(again->grid.axis[2].step, cube->grid.axis[2].step, 1e-9);
}

// Property: starts that were not believed are not in the output, where they would be, or where
// another trace comes first.
static void test_ignored_starts(void)
{
    Make make = make_plain();
    make.sorting = MAKE_SHUFFLED;
    make.ns = 5;
    g_autoptr(GByteArray) file = make_file(&make);
    for (int n = 1; n < 20; n++)
        make_put_head16(file, &make, n, 109, 100 * n);
    make_drop_trace(file, &make, 7); // the output is in the order of the lines
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    odd_assert_note(cube, "they are ignored");
    const char *const names[] = {"starts.su", "starts.sgy"};
    for (guint k = 0; k < G_N_ELEMENTS(names); k++) {
        g_autofree char *path = g_build_filename(odd_folder, names[k], NULL);
        g_assert_true(litho_cube_save(cube, path, &(LithoSaveOptions){.force = TRUE}, NULL, NULL));
        g_autoptr(LithoCube) again = litho_cube_load(path, NULL, NULL, NULL);
        g_assert_cmpint(again->grid.axis[2].n, ==, make.ns);
        g_assert_cmpfloat(again->grid.axis[2].first, ==, cube->grid.axis[2].first);
        odd_assert_samples(&make, again);
    }
}

// --- assumptions --------------------------------------------------------------------------------

// Property: bins and an interval that were assumed are assumed where the file is read again, and
// where it is copied; an interval that a person gives is none of these, even if it is the same.
static void test_assumptions(void)
{
    GError *error = NULL;
    g_autofree char *path = g_build_filename(odd_folder, "assumed.sgy", NULL);
    g_autofree char *raw = g_build_filename(odd_folder, "assumed.raw", NULL);
    const float samples[4 * 5 * 30] = {1, -1};
    g_assert_true(g_file_set_contents(raw, (const char *)samples, sizeof samples, NULL));
    LithoOpenOptions options = {.shape = {4, 5, 30}, .dtype = "float32", .keep_zero_traces = TRUE};
    g_autoptr(LithoCube) cube = litho_cube_load(raw, &options, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(litho_cube_save(cube, path, NULL, NULL, NULL));
    g_autoptr(LithoCube) again = litho_cube_load(path, NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpint(again->grid.axis[2].source, ==, LITHO_FROM_ASSUMED);
    g_assert_cmpint(again->grid.xy_source, ==, LITHO_FROM_ASSUMED);
    g_assert_cmpfloat(again->grid.axis[2].step, ==, 0.004);
    odd_assert_note(again, "was assumed when the file was written; give --dt");
    odd_assert_note(again, "bins of 25 m are assumed");
    guint8 header[240];
    g_assert_true(litho_survey_trace_header(again->survey, 3, 4, header, NULL));
    g_assert_cmpint(litho_get_i32(header + 180, LITHO_ORDER_BIG), ==, 0);
    g_assert_cmpint(litho_get_u16(header + 116, LITHO_ORDER_BIG), ==, 4000);
    g_autoptr(LithoCube) copy = write_and_read(again, &again->grid, "assumed-2.sgy");
    g_assert_cmpint(copy->grid.axis[2].source, ==, LITHO_FROM_ASSUMED);
    for (double dt = 0.002; dt <= 0.004; dt += 0.002) {
        options = (LithoOpenOptions){.dt = dt};
        g_autoptr(LithoCube) given = litho_cube_load(path, &options, NULL, NULL);
        g_autoptr(LithoCube) known = write_and_read(given, &given->grid, "given.sgy");
        g_assert_cmpint(known->grid.axis[2].source, ==, LITHO_FROM_FILE);
        g_assert_cmpfloat_with_epsilon(known->grid.axis[2].step, dt, 1e-9);
    }
}

// --- revisions ----------------------------------------------------------------------------------

static void assert_second(const char *path, LithoOrder order)
{
    GError *error = NULL;
    g_autofree char *bytes = NULL;
    g_assert_true(g_file_get_contents(path, &bytes, NULL, NULL));
    g_assert_cmpint(bytes[3500], ==, 2);
    g_assert_cmpint(litho_get_i32((const guint8 *)bytes + 3296, order), ==, 0x01020304);
    g_autoptr(LithoCube) cube = litho_cube_load(path, NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_nonnull(strstr(litho_survey_text(cube->survey), "\nC39 SEG-Y REV2.0\n"));
    g_assert_cmpfloat_with_epsilon(cube->grid.axis[2].step, 1e-7, 1e-12);
}

// Property: a file of revision 2 says so in its text and names its byte order, where it is new and
// where it is the copy of one of revision 1.
static void test_new_revision(void)
{
    GError *error = NULL;
    g_autofree char *path = g_build_filename(odd_folder, "second.sgy", NULL);
    g_autofree char *copy = g_build_filename(odd_folder, "copy.sgy", NULL);
    LithoGrid grid = litho_grid_new(2, 3, 30);
    g_autoptr(LithoCube) cube = litho_cube_new(&grid, &error);
    g_assert_no_error(error);
    for (int k = 0; k < 2 * 3 * 30; k++)
        cube->samples[k] = (float)(k % 7 - 3);
    memset(cube->live, 1, 6);
    cube->grid.axis[2].source = LITHO_FROM_USER;
    cube->grid.axis[2].step = 1e-7; // no word of revision 1 holds it
    for (int order = 0; order < 2; order++) {
        const LithoSaveOptions options = {.force = TRUE, .endian = 1 + order};
        g_assert_true(litho_cube_save(cube, path, &options, NULL, NULL));
        assert_second(path, (LithoOrder)order);
    }
    cube->grid.axis[2].step = 0.004;
    g_assert_true(litho_cube_save(cube, path, &(LithoSaveOptions){.force = TRUE}, NULL, NULL));
    g_autoptr(LithoCube) first = litho_cube_load(path, NULL, NULL, NULL);
    g_assert_nonnull(strstr(litho_survey_text(first->survey), "\nC39 SEG Y REV1\n"));
    LithoGrid fine = first->grid;
    fine.axis[2].step = 1e-7;
    g_autoptr(LithoCube) again = write_and_read(first, &fine, "copy.sgy");
    g_assert_nonnull(again);
    assert_second(copy, LITHO_ORDER_BIG);
}

// --- mended headers -----------------------------------------------------------------------------

typedef enum { ODD_SAMPLES, ODD_INTERVAL, ODD_TEXTS, ODD_END, ODD_ORDER, ODD_HEADERS, ODDS } Odd;

// A file whose headers say something else than what is there; the reader finds it out.
static GByteArray *make_odd(Make *make, Odd odd)
{
    *make = make_plain();
    make->format = 5;
    make->n1 = 6;
    make->n2 = 20;
    make->revision = odd == ODD_HEADERS ? 0x0201 : make->revision;
    make->ext_text = odd == ODD_END ? 2 : 0;
    make->ext_declared = odd == ODD_TEXTS ? 2 : odd == ODD_END ? -1 : 0;
    GByteArray *file = make_file(make);
    Make turned = *make;
    turned.order = LITHO_ORDER_LITTLE;
    if (odd == ODD_SAMPLES)
        make_put_bin16(file, make, 3221, make->ns + 1);
    if (odd == ODD_HEADERS)
        make_put_bin16(file, make, 3507, 1);
    for (int n = 0; n < 120; n++) {
        if (odd == ODD_SAMPLES)
            make_put_head16(file, make, n, 115, make->ns - 1);
        if (odd == ODD_INTERVAL)
            make_put_head16(file, make, n, 117, n == 77 ? 1000 : 2000);
        for (int k = 0; odd == ODD_ORDER && k < make->ns; k++)
            make_put_sample(file, &turned, n, k, make_value(make, n / 20, n % 20, k));
    }
    return file;
}

// Property: what reading mends is not written again. Strict reading finds nothing to mend in the
// copy, whose notes are none and whose words are those of what is there.
static void test_mended_headers(void)
{
    for (int odd = 0; odd < ODDS; odd++) {
        Make make;
        g_autoptr(GByteArray) file = make_odd(&make, (Odd)odd);
        g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
        g_assert_cmpint(cube->notes->len, >, 0);
        g_autofree char *path = g_build_filename(odd_folder, "mended.sgy", NULL);
        g_assert_true(litho_cube_save(cube, path, &(LithoSaveOptions){.force = TRUE}, NULL, NULL));
        GError *error = NULL;
        g_autoptr(LithoCube) again =
            litho_cube_load(path, &(LithoOpenOptions){.strict = TRUE}, NULL, &error);
        g_assert_no_error(error);
        odd_assert_full(&make, again);
        g_assert_cmpint(again->notes->len, ==, 0);
        g_assert_cmpfloat(again->grid.axis[2].step, ==, cube->grid.axis[2].step);
        g_autofree char *text = NULL;
        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        const guint8 *bytes = (const guint8 *)text, *head = bytes + make_first(&make);
        g_assert_cmpint(litho_get_u16(bytes + 3220, LITHO_ORDER_BIG), ==, make.ns);
        g_assert_cmpint(litho_get_u16(head + 114, LITHO_ORDER_BIG), ==, make.ns);
        g_assert_cmpint(litho_get_u16(bytes + 3504, LITHO_ORDER_BIG), ==, make.ext_text);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    odd_folder = g_dir_make_tmp("litho-written-XXXXXX", NULL);
    g_test_add_func("/written/depths-in-feet", test_depths_in_feet);
    g_test_add_func("/written/starts-in-feet", test_starts_in_feet);
    g_test_add_func("/written/spread-in-feet", test_spread_in_feet);
    g_test_add_func("/written/rare-intervals", test_rare_intervals);
    g_test_add_func("/written/long-steps-in-su", test_long_steps_in_su);
    g_test_add_func("/written/no-times-of-depths", test_no_times_of_depths);
    g_test_add_func("/written/full-text", test_full_text);
    g_test_add_func("/written/notes", test_notes);
    g_test_add_func("/written/numbers-at-213", test_numbers_at_213);
    g_test_add_func("/written/numbers-turned", test_numbers_turned);
    g_test_add_func("/written/one-line-at-213", test_one_line_at_213);
    g_test_add_func("/written/numbers-as-floats", test_numbers_as_floats);
    g_test_add_func("/written/revision-in-the-second-byte", test_revision_in_the_second_byte);
    g_test_add_func("/written/swapped-extension", test_swapped_extension);
    g_test_add_func("/written/first-header", test_first_header);
    g_test_add_func("/written/quotation-marks", test_quotation_marks);
    g_test_add_func("/written/dead-depths", test_dead_depths);
    g_test_add_func("/written/ignored-starts", test_ignored_starts);
    g_test_add_func("/written/assumptions", test_assumptions);
    g_test_add_func("/written/new-revision", test_new_revision);
    g_test_add_func("/written/mended-headers", test_mended_headers);
    int status = g_test_run();
    test_remove_folder(odd_folder);
    return status;
}
