// SPDX-License-Identifier: GPL-3.0-or-later
// Every odd file that the reader promises to take or to refuse by name, made byte by byte and read
// back: containers, headers, samples (traces, geometry and delays have files of their own). Samples
// are whole numbers that all formats hold exactly, so "equal" means equal: there is no tolerance in
// this file except where a comment gives one. A wrong offset, byte order or sample count shows up
// as a wrong number at once, as every sample of the cube differs from its neighbours.
#include <math.h>
#include <string.h>

#include "tests/common.h"
#include "core/io/survey.h"
#include "tests/segy_odd.h"

// --- formats ----------------------------------------------------------------------------------

static void test_formats(void)
{
    static const int formats[] = {1, 2, 3, 5, 6, 7, 8, 10, 11, 15, 16};
    for (guint k = 0; k < G_N_ELEMENTS(formats); k++)
        for (int order = LITHO_ORDER_BIG; order <= LITHO_ORDER_LITTLE; order++) {
            Make make = make_plain();
            make.format = formats[k];
            make.order = (LithoOrder)order;
            odd_expect_cube(&make, make_file(&make), NULL);
        }
}

static void test_refused_formats(void)
{
    static const struct {
        int format;
        const char *words;
    } cases[] = {{4, "fixed point with gain"}, {9, "64-bit integer"}, {12, "64-bit integer"}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        Make make = make_plain();
        make.format = cases[k].format;
        odd_expect_refusal("refused.sgy", make_file(&make), NULL, cases[k].words);
    }
    Make make = make_plain();
    GByteArray *file = make_file(&make);
    make_put_bin16(file, &make, 3225, 0);
    odd_expect_refusal("zero.sgy", file, NULL, "format code 0");
    file = make_file(&make);
    make_put_bin16(file, &make, 3225, 0);
    g_autoptr(LithoCube) cube = odd_load(&make, file, &(LithoOpenOptions){.format = 1});
    odd_assert_full(&make, cube);
    g_byte_array_unref(file);
    // 8-bit samples under the code that an old vendor used and revision 2 gave to doubles.
    make.format = 8;
    file = make_file(&make);
    make_put_bin16(file, &make, 3225, 6);
    odd_expect_refusal("vendor.sgy", file, NULL, "--format 8");
}

static void fill_noise(GByteArray *file, const Make *make)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(7);
    for (int n = 0; n < make->n1 * make->n2; n++)
        for (int k = 0; k < make->ns; k++) {
            double u = g_rand_double_range(rand, -1, 1);
            make_put_sample(file, make, n, k, 1000 * u * u * u + 0.01 * u);
        }
}

// 40 x 40 noise traces say IBM where they are IEEE and the reverse: refused with the way out named,
// and read when the user insists or corrects.
static void test_format_mismatch(void)
{
    for (int truth = 1; truth <= 5; truth += 4) {
        Make make = make_plain();
        make.n1 = make.n2 = 12;
        make.format = truth;
        int lie = 6 - truth;
        GByteArray *file = make_file(&make);
        fill_noise(file, &make);
        g_autoptr(LithoCube) honest = odd_load(&make, file, NULL);
        make_put_bin16(file, &make, 3225, lie);
        LithoOpenOptions fix = {.format = truth};
        g_autoptr(LithoCube) fixed = odd_load(&make, file, &fix);
        g_assert_cmpmem(fixed->samples, litho_cube_held_samples(fixed) * 4, honest->samples,
                        litho_cube_held_samples(honest) * 4);
        odd_expect_refusal("lie.sgy", file, NULL, truth == 5 ? "--format 5" : "--format 1");
    }
}

static void test_byte_orders(void)
{
    Make make = make_plain();
    make.format = 5;
    make.order = LITHO_ORDER_PAIRS;
    GByteArray *file = make_file(&make);
    make_put_bin32(file, &make, 3297, 0x01020304);
    odd_expect_cube(&make, file, "swapped in pairs");

    make.order = LITHO_ORDER_LITTLE; // headers little, samples big
    file = make_file(&make);
    Make samples = make;
    samples.order = LITHO_ORDER_BIG;
    for (int n = 0; n < make.n1 * make.n2; n++)
        for (int k = 0; k < make.ns; k++)
            make_put_sample(file, &samples, n, k, make_value(&make, n / make.n2, n % make.n2, k));
    odd_expect_cube(&make, file, "headers are little endian but samples are big endian");
}

// --- file level -------------------------------------------------------------------------------

static void test_not_segy(void)
{
    odd_expect_refusal("a.sgy", odd_bytes("\1short", 6, 2220), NULL,
                       "2220 bytes, at least 3600 needed");
    odd_expect_refusal("a.sgy", odd_bytes("\x1f\x8b\x08", 3, 5000), NULL, "gzip");
    odd_expect_refusal("a.sgy", odd_bytes("PK\x03\x04", 4, 5000), NULL, "zip");
    odd_expect_refusal("a.sgy", odd_bytes("  <!DOCTYPE html>", 17, 5000), NULL, "HTML");
    odd_expect_refusal("a.sgy", odd_bytes("", 0, 0), NULL, "is empty");
    odd_expect_refusal("a.sgy", odd_bytes("C 1 text", 8, 9000), NULL, "text file, not SEG-Y");
    static const guint8 tif[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0x8c, 0x0c};
    odd_expect_refusal("a.sgy", odd_bytes(tif, 12, 9000), NULL, "TIF-8");
    const char *paths[] = {odd_folder, NULL};
    GError *error = NULL;
    g_assert_null(litho_survey_open(paths, NULL, NULL, &error));
    g_assert_nonnull(strstr(error->message, "folder"));
    g_error_free(error);
}

static void test_ends(void)
{
    Make make = make_plain();
    GByteArray *file = make_file(&make);
    g_byte_array_set_size(file, file->len - 7);
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    odd_assert_note(cube, "last trace is incomplete");
    g_assert_cmpint(litho_cube_count_live(cube), ==, 19);
    odd_assert_samples(&make, cube);
    odd_expect_refusal("cut.sgy", file, &(LithoOpenOptions){.strict = TRUE}, "incomplete");

    file = make_file(&make);
    g_byte_array_set_size(file, 3600);
    odd_expect_refusal("none.sgy", file, NULL, "no whole trace");

    file = make_file(&make); // padded to a multiple of 512
    guint end = file->len;
    g_byte_array_set_size(file, (end / 512 + 1) * 512);
    memset(file->data + end, 0, file->len - end);
    odd_expect_cube(&make, file, "padding");

    make.revision = 0x0200; // data trailer of revision 2
    file = make_file(&make);
    make_put_bin32(file, &make, 3529, 1);
    end = file->len;
    g_byte_array_set_size(file, end + 3200);
    memset(file->data + end, 'T', 3200);
    g_autoptr(LithoCube) trailed = odd_load(&make, file, &(LithoOpenOptions){.strict = TRUE});
    odd_assert_full(&make, trailed);
    g_byte_array_unref(file);
}

static void test_tape_label(void)
{
    Make make = make_plain();
    GByteArray *file = make_file(&make);
    guint8 label[128];
    memset(label, ' ', sizeof label);
    memcpy(label, "0001SY1.0RECORD", 15);
    g_byte_array_prepend(file, label, sizeof label);
    odd_expect_cube(&make, file, "tape label");
}

static void test_text_headers(void)
{
    for (int ascii = 0; ascii < 2; ascii++) {
        Make make = make_plain();
        make.ascii = ascii;
        g_autoptr(GByteArray) file = make_file(&make);
        file->data[100] = 0; // in either code these three are no text
        file->data[101] = 0x04;
        file->data[102] = 0xff;
        g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
        const char *text = litho_survey_text(cube->survey);
        g_assert_true(g_str_has_prefix(text, "C 1 A FILE OF THE TESTS\nC 2"));
        g_assert_true(g_utf8_validate(text, -1, NULL));
    }
    Make make = make_plain();
    GByteArray *file = make_file(&make);
    memset(file->data, 0, 3200);
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    g_assert_cmpstr(litho_survey_text(cube->survey), ==, "");
    odd_expect_cube(&make, file, NULL);
}

static void test_extended_text(void)
{
    static const struct {
        int present, declared, revision;
        gboolean end_text;
        const char *note;
    } cases[] = {
        {2, 2, 0x0100, FALSE, NULL},
        {2, -1, 0x0100, TRUE, "2 found"},
        {2, -1, 0x0100, FALSE, "2 found"},
        {0, 3, 0x0100, FALSE, "says 3 extended text headers; 0 were found"},
        {2, 0, 0x0100, FALSE, "says 0 extended text headers; 2 were found"},
        {1, 1, 0, FALSE, NULL},                         // declared in a revision 0 file and there
        {0, 1, 0, FALSE, "1 extended text headers; 0"}, // and not there
    };
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        Make make = make_plain();
        make.ext_text = cases[k].present;
        make.ext_declared = cases[k].declared;
        make.revision = cases[k].revision;
        make.end_text = cases[k].end_text;
        odd_expect_cube(&make, make_file(&make), cases[k].note);
    }
}

// --- binary header ----------------------------------------------------------------------------

static void test_sample_counts(void)
{
    Make make = make_plain();
    GByteArray *file = make_file(&make);
    make_put_bin16(file, &make, 3221, 0); // from the trace headers
    odd_expect_cube(&make, file, "says 0 samples");

    file = make_file(&make);
    make_put_bin16(file, &make, 3221, 0); // from the size alone
    for (int n = 0; n < 20; n++)
        make_put_head16(file, &make, n, 115, 0);
    odd_expect_cube(&make, file, "says 0 samples");

    file = make_file(&make);
    make_put_bin16(file, &make, 3221, 77); // contradicts the traces, which fit
    odd_expect_cube(&make, file, "says 77 samples a trace; 30 fit");

    make.n1 = make.n2 = 2;
    make.ns = 40000; // negative when read as signed
    odd_expect_cube(&make, make_file(&make), NULL);

    make.ns = 70000; // revision 2: bytes 3269 overrule
    make.revision = 0x0200;
    file = make_file(&make);
    make_put_bin16(file, &make, 3221, 1);
    make_put_bin32(file, &make, 3269, 70000);
    for (int n = 0; n < 4; n++)
        make_put_head16(file, &make, n, 115, 0);
    odd_expect_cube(&make, file, NULL);

    file = make_file(&make); // an absurd count must not become an allocation
    make_put_bin32(file, &make, 3269, 0x7fffffff);
    make_put_bin16(file, &make, 3221, 0);
    for (int n = 0; n < 4; n++)
        make_put_head16(file, &make, n, 115, 0);
    GError *error = NULL;
    g_autoptr(LithoSurvey) survey = odd_open("absurd.sgy", file, NULL, &error);
    g_assert_true(survey || error);
    if (survey)
        g_assert_cmpint(litho_grid_samples(litho_survey_grid(survey)), <=, file->len);
    g_clear_error(&error);
    g_byte_array_unref(file);
}

static void test_intervals(void)
{
    static const struct {
        int binary, trace;
        double dt;
        const char *note;
    } cases[] = {
        {4000, 4000, 0.004, NULL},
        {4000, 0, 0.004, NULL},
        {0, 2000, 0.002, NULL},
        {4000, 2000, 0.002, "the traces' was taken"},
        {0, 0, 0.004, "no sample interval"},
        {-4000, -4000, 0.004, "was read as 4000"},
        {2, 2, 2e-6, "2 ms may be meant (--dt 0.002)"},
        {40000, 40000, 0.04, "it may be depth, every 40 m (--depth)"},
    };
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        Make make = make_plain();
        g_autoptr(GByteArray) file = make_file(&make);
        make_put_bin16(file, &make, 3217, cases[k].binary);
        for (int n = 0; n < 20; n++)
            make_put_head16(file, &make, n, 117, cases[k].trace);
        g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
        g_assert_cmpfloat_with_epsilon(cube->grid.axis[2].step, cases[k].dt, 1e-12);
        if (cases[k].note)
            odd_assert_note(cube, cases[k].note);
        g_assert_cmpint(cube->grid.axis[2].source, ==,
                        cases[k].binary || cases[k].trace ? LITHO_FROM_FILE : LITHO_FROM_ASSUMED);
        LithoOpenOptions given = {.dt = 0.001};
        g_autoptr(LithoCube) told = odd_load(&make, file, &given);
        g_assert_cmpfloat(told->grid.axis[2].step, ==, 0.001);
        LithoOpenOptions depth = {.domain = 2};
        g_autoptr(LithoCube) deep = odd_load(&make, file, &depth);
        g_assert_true(deep->grid.is_depth);
        g_assert_cmpstr(deep->grid.axis[2].unit, ==, "m");
    }
}

// Property: the interval of a survey is the one that nearly all traces state; others are told with
// their number, and 4 ms are never assumed beside words. Where many differ, the binary header is
// the judge.
static void test_interval_votes(void)
{
    static const struct {
        int binary, others;
        gboolean su;
        double dt;
    } cases[] = {{0, 1, FALSE, 0.002},     {0, 1, TRUE, 0.002},      {4000, 1, FALSE, 0.002},
                 {4000, 30, FALSE, 0.004}, {2000, 30, FALSE, 0.002}, {0, 30, TRUE, 0.002}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        Make make = make_plain();
        make.n1 = 10;
        make.n2 = 12;
        make.su = cases[k].su;
        make.format = 5;
        g_autoptr(GByteArray) file = make_file(&make);
        if (!make.su)
            make_put_bin16(file, &make, 3217, cases[k].binary);
        for (int n = 0; n < 120; n++)
            make_put_head16(file, &make, n, 117,
                            n % 4 == 1 && n / 4 < cases[k].others ? 4000 : 2000);
        make_put_head16(file, &make, 0, 29, 2); // dead, and without a vote
        make_put_head16(file, &make, 0, 117, 1000);
        g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
        g_assert_cmpfloat_with_epsilon(cube->grid.axis[2].step, cases[k].dt, 1e-12);
        g_assert_cmpint(cube->grid.axis[2].source, ==, LITHO_FROM_FILE);
        g_autofree char *told = g_strdup_printf("2000 in %d and 4000 in %d of 119 traces",
                                                119 - cases[k].others, cases[k].others);
        odd_assert_note(cube, told);
    }
}

static void test_revision_2(void)
{
    Make make = make_plain();
    make.revision = 0x0201;
    make.additional = 2;
    make.order = LITHO_ORDER_LITTLE;
    g_autoptr(GByteArray) file = make_file(&make);
    make_put_bin32(file, &make, 3297, 0x01020304);
    guint64 dt = 0x405f400000000000; // 125.0 as a double, in little endian
    for (int k = 0; k < 8; k++)
        file->data[3273 - 1 + k] = (guint8)(dt >> (8 * k));
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    odd_assert_full(&make, cube);
    g_assert_cmpfloat_with_epsilon(cube->grid.axis[2].step, 125e-6, 1e-12);

    Make lie = make_plain(); // declared but not there
    lie.revision = 0x0201;
    GByteArray *bytes = make_file(&lie);
    make_put_bin16(bytes, &lie, 3507, 1);
    odd_expect_cube(&lie, bytes, "declared but not there");
    for (int k = 0; k < 3; k++) { // 29559; 1 for 0x0100; 256
        static const int revisions[] = {29559, 1, 256};
        Make odd = make_plain();
        odd.revision = revisions[k];
        odd_expect_cube(&odd, make_file(&odd), k == 0 ? "make no sense" : NULL);
    }
}

// --- Seismic Unix -----------------------------------------------------------------------------

static void put_float(GByteArray *file, const Make *make, int trace, int byte, float value)
{
    gint32 word;
    memcpy(&word, &value, sizeof word);
    make_put_head32(file, make, trace, byte, word);
}

// Property: SU's own floats d1, f1, d2, f2 are no coordinates and no line numbers; d1 and f1 say
// the sampling where nothing else does, and the trace identification says what of.
static void test_su_words(void)
{
    Make make = make_plain();
    make.su = TRUE;
    make.format = 5;
    make.bin_x = 0;
    make.inline_byte = 9;
    make.xline_byte = 21;
    g_autoptr(GByteArray) file = make_file(&make);
    for (int n = 0; n < 20; n++) {
        put_float(file, &make, n, 181, 5);
        put_float(file, &make, n, 185, 100);
        put_float(file, &make, n, 189, 35);
        put_float(file, &make, n, 193, 1 + n);
    }
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    odd_assert_note(cube, "traces are 35 apart");
    const GPtrArray *notes = litho_survey_notes(cube->survey);
    for (guint k = 0; k < notes->len; k++)
        g_assert_null(strstr(g_ptr_array_index(notes, k), "stored as floats"));
    odd_assert_full(&make, cube);
    for (int n = 0; n < 20; n++) {
        make_put_head16(file, &make, n, 117, 0);
        make_put_head16(file, &make, n, 29, 130);
    }
    g_autoptr(LithoCube) depth = odd_load(&make, file, NULL);
    g_assert_true(depth->grid.is_depth);
    g_assert_cmpfloat_with_epsilon(depth->grid.axis[2].step, 5, 1e-6);
    g_assert_cmpfloat_with_epsilon(depth->grid.axis[2].first, 100, 1e-6);
}

static void test_su(void)
{
    for (int order = 0; order < 2; order++) {
        Make make = make_plain();
        make.su = TRUE;
        make.format = 5;
        make.order = (LithoOrder)order;
        g_autoptr(GByteArray) file = make_file(&make);
        g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
        odd_assert_full(&make, cube);
        g_autoptr(LithoSurvey) disguised = odd_open("really-su.sgy", file, NULL, NULL);
        g_assert_nonnull(disguised);
        g_assert_true(g_str_has_prefix(litho_survey_format(disguised), "SU"));
    }
}

// Every header word of the file set to an extreme, one at a time, and the file cut at many places:
// whatever is answered, nothing may crash, hang or allocate by the lie (the sanitizer builds look
// on). What opens must be readable.
static void test_hostile(void)
{
    Make make = make_plain();
    make.n1 = 2;
    make.ns = 8;
    make.revision = 0x0201;
    g_autoptr(GByteArray) good = make_file(&make);
    static const int values[] = {0, 1, -1, 32767, -32768};
    for (int byte = 3201; byte < 3600 + 480; byte += 2)
        for (guint v = 0; v < G_N_ELEMENTS(values); v++) {
            g_autoptr(GByteArray) file = odd_bytes(good->data, good->len, 0);
            make_put_bin16(file, &make, byte, values[v]);
            g_autoptr(LithoSurvey) survey = odd_open("hostile.sgy", file, NULL, NULL);
            if (!survey || litho_grid_samples(litho_survey_grid(survey)) > 1000000)
                continue;
            g_autoptr(LithoCube) cube = litho_survey_read(survey, NULL, NULL, NULL);
            g_assert_nonnull(cube);
        }
    for (guint n = 0; n <= good->len; n += 61) {
        g_autoptr(GByteArray) file = odd_bytes(good->data, n, 0);
        g_autoptr(LithoSurvey) survey = odd_open("cut.sgy", file, NULL, NULL);
        g_assert_true(!survey || n > 3600 + 240);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    odd_folder = g_dir_make_tmp("litho-segy-XXXXXX", NULL);
    g_test_add_func("/segy/formats", test_formats);
    g_test_add_func("/segy/refused-formats", test_refused_formats);
    g_test_add_func("/segy/format-mismatch", test_format_mismatch);
    g_test_add_func("/segy/byte-orders", test_byte_orders);
    g_test_add_func("/segy/not-segy", test_not_segy);
    g_test_add_func("/segy/ends", test_ends);
    g_test_add_func("/segy/tape-label", test_tape_label);
    g_test_add_func("/segy/text-headers", test_text_headers);
    g_test_add_func("/segy/extended-text", test_extended_text);
    g_test_add_func("/segy/sample-counts", test_sample_counts);
    g_test_add_func("/segy/intervals", test_intervals);
    g_test_add_func("/segy/interval-votes", test_interval_votes);
    g_test_add_func("/segy/revision-2", test_revision_2);
    g_test_add_func("/segy/su-words", test_su_words);
    g_test_add_func("/segy/su", test_su);
    g_test_add_func("/segy/hostile", test_hostile);
    int status = g_test_run();
    test_remove_folder(odd_folder);
    return status;
}
