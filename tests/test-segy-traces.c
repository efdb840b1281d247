// SPDX-License-Identifier: GPL-3.0-or-later
//
// Traces of SEG-Y files that are dead, damaged, of differing lengths or none of the survey's, made
// byte by byte and read back: what is masked, what is left out, and that all others are whole.
#include <math.h>
#include <string.h>

#include "tests/common.h"
#include "core/io/survey.h"
#include "tests/segy_odd.h"

static void test_dead_and_zero(void)
{
    Make make = make_plain();
    g_autoptr(GByteArray) file = make_file(&make);
    make_put_head16(file, &make, 2, 29, 2);
    for (int k = 0; k < make.ns; k++)
        make_put_sample(file, &make, 3, k, 0);
    memset(file->data + 3600 + 4 * make_stride(&make), 0, (gsize)make_stride(&make));
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    LithoSurveyCounts c = litho_survey_counts(cube->survey);
    g_assert_cmpint(c.dead, ==, 1);
    g_assert_cmpint(c.zero, ==, 1);
    g_assert_cmpint(c.missing, ==, 1); // the zero header block
    const GPtrArray *notes = litho_survey_notes(cube->survey);
    gboolean told = FALSE;
    for (guint k = 0; k < notes->len; k++)
        told |=
            g_str_equal(notes->pdata[k], "1 trace is marked dead; samples there are read as zeros");
    g_assert_true(told);
    g_assert_cmpint(c.live, ==, 17);
    g_assert_cmpint(litho_cube_count_live(cube), ==, 17);
    LithoOpenOptions keep = {.keep_zero_traces = TRUE};
    g_autoptr(LithoCube) kept = odd_load(&make, file, &keep);
    g_assert_cmpint(litho_cube_count_live(kept), ==, 18);

    g_autoptr(GByteArray) quiet = make_file(&make); // an all-zero cube loads, all live
    for (int n = 0; n < 20; n++)
        for (int k = 0; k < make.ns; k++)
            make_put_sample(quiet, &make, n, k, 0);
    g_autoptr(LithoCube) zeros = odd_load(&make, quiet, NULL);
    g_assert_cmpint(litho_cube_count_live(zeros), ==, 20);
}

static void put_identity(GByteArray *file, const Make *make, int step, int id)
{
    for (int n = 0; n < make->n1 * make->n2; n += step)
        make_put_head16(file, make, n, 29, id);
}

// Property: a sweep, a time break and the like are none of the survey's traces, whatever lines they
// name; dummies are dead. An identification that most traces have is a habit and says nothing.
static void test_auxiliary_traces(void)
{
    Make make = make_plain();
    make.n1 = 6;
    make.n2 = 20;
    g_autoptr(GByteArray) file = make_file(&make);
    put_identity(file, &make, 11, 6);
    g_autoptr(LithoCube) swept = odd_load(&make, file, NULL);
    odd_assert_note(swept, "11 traces (numbers 1, 12, 23, ");
    g_assert_cmpint(litho_cube_count_live(swept), ==, 109);
    odd_assert_samples(&make, swept);
    for (int n = 0; n < 120; n += 11)
        for (int byte = 189; byte <= 193; byte += 4)
            make_put_head32(file, &make, n, byte, 0);
    g_autoptr(LithoCube) unnumbered = odd_load(&make, file, NULL);
    g_assert_cmpint(unnumbered->grid.axis[0].n, ==, make.n1);
    g_assert_cmpint(litho_survey_counts(unnumbered->survey).missing, ==, 11);
    g_autoptr(LithoCube) ordered = odd_load(&make, file, &(LithoOpenOptions){.file_order = TRUE});
    g_assert_cmpint(litho_cube_count_live(ordered), ==, 109);

    g_autoptr(GByteArray) plain = make_file(&make);
    put_identity(plain, &make, 1, 6);
    g_autoptr(LithoCube) habit = odd_load(&make, plain, NULL);
    odd_assert_full(&make, habit);
    put_identity(plain, &make, 1, 1);
    put_identity(plain, &make, 30, 3);
    g_autoptr(LithoCube) dummies = odd_load(&make, plain, NULL);
    g_assert_cmpint(litho_survey_counts(dummies->survey).dead, ==, 4);
    for (make.revision = 0; make.revision <= 0x0100; make.revision += 0x0100) { // 9 is new in 1
        g_autoptr(GByteArray) guns = make_file(&make);
        put_identity(guns, &make, 30, 9);
        g_autoptr(LithoCube) cube = odd_load(&make, guns, NULL);
        g_assert_cmpint(litho_cube_count_live(cube), ==, make.revision ? 116 : 120);
    }
}

// NaN at the top and 1e30 at the bottom are mutes: zero, trace live. Inside they are holes: masked.
static void test_bad_samples(void)
{
    Make make = make_plain();
    make.format = 5;
    g_autoptr(GByteArray) file = make_file(&make);
    make_put_sample(file, &make, 0, 0, NAN);
    make_put_sample(file, &make, 0, 1, INFINITY);
    for (int k = 20; k < 30; k++)
        make_put_sample(file, &make, 1, k, 1e30);
    make_put_sample(file, &make, 2, 11, NAN);
    make_put_sample(file, &make, 2, 12, NAN);
    for (int k = 0; k < 30; k++)
        make_put_sample(file, &make, 3, k, -1e30);
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    g_assert_true(litho_cube_is_live(cube, 0, 0));
    g_assert_true(litho_cube_is_live(cube, 0, 1));
    g_assert_false(litho_cube_is_live(cube, 0, 2));
    g_assert_false(litho_cube_is_live(cube, 0, 3));
    g_assert_cmpint(litho_survey_counts(cube->survey).bad, ==, 4);
    g_assert_cmpint(litho_survey_counts(cube->survey).live, ==, 18);
    for (gint64 k = 0; k < litho_cube_held_samples(cube); k++)
        g_assert_true(fabsf(cube->samples[k]) < 1e6f);
    g_assert_cmpfloat(litho_cube_trace(cube, 0, 0)[0], ==, 0);
    g_assert_cmpfloat(litho_cube_trace(cube, 0, 0)[2], ==, make_value(&make, 0, 0, 2));
    odd_assert_note(cube, "4 traces hold 44 NaN");

    // Lone ones in a long trace are the mean of their neighbours; two beside each other are a hole.
    make.format = 5;
    make.ns = 300;
    g_autoptr(GByteArray) longer = make_file(&make);
    make_put_sample(longer, &make, 0, 150, NAN);
    make_put_sample(longer, &make, 0, 152, 1e30);
    make_put_sample(longer, &make, 1, 150, NAN);
    make_put_sample(longer, &make, 1, 151, NAN);
    for (int k = 0; k < 4; k++)
        make_put_sample(longer, &make, 2, 100 + 2 * k, NAN);
    g_autoptr(LithoCube) lone = odd_load(&make, longer, NULL);
    const float *x = litho_cube_trace(lone, 0, 0);
    g_assert_true(litho_cube_is_live(lone, 0, 0));
    g_assert_cmpfloat(x[150], ==, 0.5f * (x[149] + x[151]));
    g_assert_cmpfloat(x[152], ==, 0.5f * (x[151] + x[153]));
    g_assert_false(litho_cube_is_live(lone, 0, 1));
    g_assert_false(litho_cube_is_live(lone, 0, 2)); // four of 300
    odd_assert_note(lone, "3 traces hold 8 NaN");

    // One of zeros with a lone NaN is missing, as one without: it became a recorded trace of zeros,
    // which nothing filled.
    g_autoptr(GByteArray) zeros = make_file(&make);
    for (int k = 0; k < 300; k++)
        make_put_sample(zeros, &make, 1, k, k == 150 ? NAN : 0);
    g_autoptr(LithoCube) dead = odd_load(&make, zeros, NULL);
    g_assert_true(litho_cube_is_live(dead, 0, 0));
    g_assert_false(litho_cube_is_live(dead, 0, 1));

    make = make_plain();
    make.format = 6; // doubles beyond float32
    g_autoptr(GByteArray) wide = make_file(&make);
    make_put_sample(wide, &make, 0, 5, 1e200);
    make_put_sample(wide, &make, 0, 6, 1e200);
    g_autoptr(LithoCube) doubles = odd_load(&make, wide, NULL);
    g_assert_false(litho_cube_is_live(doubles, 0, 0));
}

// Property: the mean of a cell has every trace that would live alone, and what it leaves out is
// counted. A lone NaN is mended in the shortest trace, too.
static void test_bad_in_means(void)
{
    enum { LONE, HOLE, ZEROS };
    Make make = make_plain();
    make.format = 5;
    for (int kind = LONE; kind <= ZEROS; kind++) {
        g_autoptr(GByteArray) file = make_file(&make);
        make_put_head32(file, &make, 1, 193, make.xline_first); // the cell of trace 0
        make_put_sample(file, &make, 1, 15, NAN);
        for (int k = 0; k < make.ns && kind != LONE; k++)
            if (kind == ZEROS || k == 16)
                make_put_sample(file, &make, 1, k, kind == ZEROS ? 0 : NAN);
        g_autoptr(LithoCube) cube = odd_load(&make, file, &(LithoOpenOptions){.duplicates = 2});
        const float a = make_value(&make, 0, 0, 10), b = make_value(&make, 0, 1, 10);
        g_assert_cmpfloat(litho_cube_trace(cube, 0, 0)[10], ==, kind == LONE ? (a + b) / 2 : a);
        g_assert_cmpint(litho_survey_counts(cube->survey).left_out, ==, kind != LONE);
        if (kind != LONE)
            odd_assert_note(cube, "1 trace of zeros or with holes was left out of the mean");
        if (kind != ZEROS)
            odd_assert_note(cube, kind == LONE ? "1 trace holds 1 NaN" : "1 trace holds 2 NaN");
    }
}

// `says_fixed`: the binary header of revision 1 says that all lengths are the same, as some
// programs always do. `cut`: bytes of the last trace that are missing.
static void check_variable_lengths(gboolean says_fixed, guint cut)
{
    Make make = make_plain();
    make.revision = says_fixed ? make.revision : 0;
    g_autoptr(GByteArray) file = make_file(&make);
    int stride = make_stride(&make);
    for (int n = 19; n >= 0; n -= 3) { // every third trace loses 4 samples
        make_put_head16(file, &make, n, 115, 26);
        g_byte_array_remove_range(file, (guint)(3600 + n * stride + stride - 16), 16);
    }
    g_byte_array_set_size(file, file->len - cut);
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    odd_assert_note(cube, "differ in length");
    g_assert_cmpint(cube->grid.axis[2].n, ==, 30);
    for (int n = 0; n < (cut ? 19 : 20); n++)
        for (int k = 0; k < 30; k++)
            g_assert_cmpfloat(litho_cube_trace(cube, n / 5, n % 5)[k], ==,
                              n % 3 == 1 && k >= 26 ? 0 : make_value(&make, n / 5, n % 5, k));
}

static void test_variable_lengths(void)
{
    check_variable_lengths(FALSE, 0);
    check_variable_lengths(TRUE, 0);
    check_variable_lengths(TRUE, 70);
}

// Property: traces of differing lengths end where the trailer that the binary header tells of
// begins, of so many records or (-1) behind so many traces, and the trailer is carried on.
static void test_variable_and_trailer(void)
{
    for (int records = -1; records < 2; records += 2) {
        Make make = make_plain();
        make.revision = 0x0200;
        g_autoptr(GByteArray) file = make_file(&make);
        make_put_bin16(file, &make, 3503, 0);
        make_put_bin32(file, &make, 3517, 20);
        make_put_bin32(file, &make, 3529, records);
        for (int n = 19; n >= 0; n--) {
            make_put_head16(file, &make, n, 115, 30 - n % 3);
            const guint end = (guint)(make_first(&make) + (n + 1) * make_stride(&make));
            if (n % 3)
                g_byte_array_remove_range(file, end - 4 * (guint)(n % 3), 4 * (guint)(n % 3));
        }
        const guint traces = file->len;
        g_byte_array_set_size(file, traces + 3200);
        memset(file->data + traces, 0xe3, 3200); // T of EBCDIC
        g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
        odd_assert_note(cube, "traces differ in length");
        g_assert_cmpint(litho_cube_count_live(cube), ==, 20);
        g_assert_cmpint(cube->notes->len, ==, 1);
        for (int n = 0; n < 20; n++)
            g_assert_cmpfloat(litho_cube_trace(cube, n / 5, n % 5)[27], ==,
                              make_value(&make, n / 5, n % 5, 27));
        g_autofree char *path = g_build_filename(odd_folder, "trailer.sgy", NULL);
        g_autofree char *bytes = NULL;
        gsize length;
        g_assert_true(litho_cube_save(cube, path, &(LithoSaveOptions){.force = TRUE}, NULL, NULL));
        g_assert_true(g_file_get_contents(path, &bytes, &length, NULL));
        g_assert_cmpuint(length, ==, 3600 + 20 * 360 + 3200);
        g_assert_cmpmem(bytes + length - 3200, 3200, file->data + traces, 3200);
    }
}

// Property: trace headers that kept the length of longer traces do not beat a binary header whose
// length fills the file with whole traces; every walk by them ends inside the last one.
static void test_stale_lengths(void)
{
    Make make = make_plain();
    make.revision = 0;
    g_autoptr(GByteArray) file = make_file(&make);
    for (int n = 1; n < 20; n++) // two whole traces long, all but the first
        make_put_head16(file, &make, n, 115, 120);
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    g_assert_cmpint(cube->grid.axis[2].n, ==, 30);
    odd_assert_full(&make, cube);
}

static gboolean has_note(const LithoCube *cube, const char *words)
{
    const GPtrArray *notes = litho_survey_notes(cube->survey);
    for (guint k = 0; k < notes->len; k++)
        if (strstr(g_ptr_array_index(notes, k), words))
            return TRUE;
    return FALSE;
}

// Property: the tails of modelled wavelets, smaller than any recorded amplitude, are no sign of
// samples that were read in a wrong way; numbers as large are.
static void test_tails(void)
{
    for (int kind = 0; kind < 2; kind++) {
        Make make = make_plain();
        make.format = 5;
        g_autoptr(GByteArray) file = make_file(&make);
        for (int n = 0; n < make.n1 * make.n2; n++)
            for (int k = 0; k < make.ns; k++) {
                const double a = 0.01 * (k - 10) * (k - 10) + n;
                const double tail = kind ? 1e25 * (1 + a) : 1e-30 * (1 + a);
                make_put_sample(file, &make, n, k, k < 20 ? exp(-a) - 0.1 : tail);
            }
        g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
        g_assert_true(has_note(cube, "1e-20..1e20") == (kind == 1));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    odd_folder = g_dir_make_tmp("litho-segy-traces-XXXXXX", NULL);
    g_test_add_func("/segy-traces/dead-and-zero", test_dead_and_zero);
    g_test_add_func("/segy-traces/auxiliary-traces", test_auxiliary_traces);
    g_test_add_func("/segy-traces/bad-samples", test_bad_samples);
    g_test_add_func("/segy-traces/bad-in-means", test_bad_in_means);
    g_test_add_func("/segy-traces/variable-lengths", test_variable_lengths);
    g_test_add_func("/segy-traces/variable-and-trailer", test_variable_and_trailer);
    g_test_add_func("/segy-traces/stale-lengths", test_stale_lengths);
    g_test_add_func("/segy-traces/tails", test_tails);
    int status = g_test_run();
    test_remove_folder(odd_folder);
    return status;
}
