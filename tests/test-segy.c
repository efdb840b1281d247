// SPDX-License-Identifier: GPL-3.0-or-later
// Every odd file that the reader promises to take or to refuse by name, made byte by byte and read
// back. Samples are whole numbers that all formats hold exactly, so "equal" means equal: there is
// no tolerance in this file except where a comment gives one. A wrong offset, byte order, sample
// count or cell shows up as a wrong number at once, as every sample of the cube differs from its
// neighbours.
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "common.h"
#include "core/error.h"
#include "core/survey.h"
#include "segy_make.h"

static char *folder;

static char *put_file(const char *name, const GByteArray *bytes)
{
    char *path = g_build_filename(folder, name, NULL);
    g_unlink(path); // and no fsync, which would cost more than all tests together
    g_assert_true(g_file_set_contents_full(path, (const char *)bytes->data, bytes->len,
                                           G_FILE_SET_CONTENTS_NONE, 0600, NULL));
    return path;
}

static LithoSurvey *open_bytes(const char *name, const GByteArray *bytes,
                               const LithoOpenOptions *options, GError **error)
{
    g_autofree char *path = put_file(name, bytes);
    const char *paths[] = {path, NULL};
    return litho_survey_open(paths, options, NULL, error);
}

static LithoCube *load(const Make *make, GByteArray *bytes, const LithoOpenOptions *options)
{
    GError *error = NULL;
    g_autoptr(LithoSurvey) survey =
        open_bytes(make->su ? "odd.su" : "odd.sgy", bytes, options, &error);
    g_assert_no_error(error);
    LithoCube *cube = litho_survey_read(survey, NULL, NULL, &error);
    g_assert_no_error(error);
    return cube;
}

static gboolean has_note(const LithoCube *cube, const char *words)
{
    for (guint k = 0; k < cube->notes->len; k++)
        if (strstr(g_ptr_array_index(cube->notes, k), words))
            return TRUE;
    return FALSE;
}

static void assert_note(const LithoCube *cube, const char *words)
{
    if (has_note(cube, words))
        return;
    for (guint k = 0; k < cube->notes->len; k++)
        g_test_message("note: %s", (char *)g_ptr_array_index(cube->notes, k));
    g_error("no note says '%s'", words);
}

// Cell (i, j) of the generator must be the cell with its line numbers; `skip` cells are masked.
static void assert_samples(const Make *make, const LithoCube *cube)
{
    for (int i = 0; i < make->n1; i++)
        for (int j = 0; j < make->n2; j++) {
            double il = make->inline_first + i * make->inline_step;
            double xl = make->xline_first + j * make->xline_step;
            gint64 a = (gint64)rint(litho_axis_index(&cube->grid.axis[0], il));
            gint64 b = (gint64)rint(litho_axis_index(&cube->grid.axis[1], xl));
            if (!litho_cube_is_live(cube, a, b))
                continue;
            const float *x = litho_cube_trace(cube, a, b);
            for (int k = 0; k < make->ns; k++)
                g_assert_cmpfloat(x[k], ==, make_value(make, i, j, k));
        }
}

static void assert_full(const Make *make, const LithoCube *cube)
{
    g_assert_cmpint(cube->grid.axis[0].n, ==, make->n1);
    g_assert_cmpint(cube->grid.axis[1].n, ==, make->n2);
    g_assert_cmpint(cube->grid.axis[2].n, ==, make->ns);
    g_assert_cmpfloat(fabs(cube->grid.axis[0].step), ==, abs(make->inline_step));
    g_assert_cmpfloat(fabs(cube->grid.axis[1].step), ==, abs(make->xline_step));
    g_assert_cmpint(litho_cube_count_live(cube), ==, make->n1 * make->n2);
    assert_samples(make, cube);
}

static void expect_cube(const Make *make, GByteArray *bytes, const char *note)
{
    g_autoptr(LithoCube) cube = load(make, bytes, NULL);
    assert_full(make, cube);
    if (note)
        assert_note(cube, note);
    g_byte_array_unref(bytes);
}

static void expect_refusal(const char *name, GByteArray *bytes, const LithoOpenOptions *options,
                           const char *words)
{
    GError *error = NULL;
    LithoSurvey *survey = open_bytes(name, bytes, options, &error);
    g_assert_null(survey);
    g_assert_nonnull(error);
    if (!strstr(error->message, words))
        g_error("refused with '%s', expected '%s'", error->message, words);
    g_error_free(error);
    g_byte_array_unref(bytes);
}

static GByteArray *bytes_of(const void *data, gsize n, gsize padded)
{
    GByteArray *bytes = g_byte_array_new();
    g_byte_array_append(bytes, data, (guint)n);
    gsize old = bytes->len;
    g_byte_array_set_size(bytes, (guint)MAX(padded, n));
    if (bytes->len > old)
        memset(bytes->data + old, 'x', bytes->len - old);
    return bytes;
}

// --- formats ----------------------------------------------------------------------------------

static void test_formats(void)
{
    static const int formats[] = {1, 2, 3, 5, 6, 7, 8, 10, 11, 15, 16};
    for (guint k = 0; k < G_N_ELEMENTS(formats); k++)
        for (int order = LITHO_ORDER_BIG; order <= LITHO_ORDER_LITTLE; order++) {
            Make make = make_plain();
            make.format = formats[k];
            make.order = (LithoOrder)order;
            expect_cube(&make, make_file(&make), NULL);
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
        expect_refusal("refused.sgy", make_file(&make), NULL, cases[k].words);
    }
    Make make = make_plain();
    GByteArray *file = make_file(&make);
    make_put_bin16(file, &make, 3225, 0);
    expect_refusal("zero.sgy", file, NULL, "format code 0");
    file = make_file(&make);
    make_put_bin16(file, &make, 3225, 0);
    g_autoptr(LithoCube) cube = load(&make, file, &(LithoOpenOptions){.format = 1});
    assert_full(&make, cube);
    g_byte_array_unref(file);
    // 8-bit samples under the code that an old vendor used and revision 2 gave to doubles.
    make.format = 8;
    file = make_file(&make);
    make_put_bin16(file, &make, 3225, 6);
    expect_refusal("vendor.sgy", file, NULL, "--format 8");
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
        g_autoptr(LithoCube) honest = load(&make, file, NULL);
        make_put_bin16(file, &make, 3225, lie);
        LithoOpenOptions fix = {.format = truth};
        g_autoptr(LithoCube) fixed = load(&make, file, &fix);
        g_assert_cmpmem(fixed->samples, litho_cube_held_samples(fixed) * 4, honest->samples,
                        litho_cube_held_samples(honest) * 4);
        expect_refusal("lie.sgy", file, NULL, truth == 5 ? "--format 5" : "--format 1");
    }
}

static void test_byte_orders(void)
{
    Make make = make_plain();
    make.format = 5;
    make.order = LITHO_ORDER_PAIRS;
    GByteArray *file = make_file(&make);
    make_put_bin32(file, &make, 3297, 0x01020304);
    expect_cube(&make, file, "swapped in pairs");

    make.order = LITHO_ORDER_LITTLE; // headers little, samples big
    file = make_file(&make);
    Make samples = make;
    samples.order = LITHO_ORDER_BIG;
    for (int n = 0; n < make.n1 * make.n2; n++)
        for (int k = 0; k < make.ns; k++)
            make_put_sample(file, &samples, n, k, make_value(&make, n / make.n2, n % make.n2, k));
    expect_cube(&make, file, "headers are little endian but samples are big endian");
}

// --- file level -------------------------------------------------------------------------------

static void test_not_segy(void)
{
    expect_refusal("a.sgy", bytes_of("short", 5, 2220), NULL, "2220 bytes, at least 3600 needed");
    expect_refusal("a.sgy", bytes_of("\x1f\x8b\x08", 3, 5000), NULL, "gzip");
    expect_refusal("a.sgy", bytes_of("PK\x03\x04", 4, 5000), NULL, "zip");
    expect_refusal("a.sgy", bytes_of("  <!DOCTYPE html>", 17, 5000), NULL, "HTML");
    expect_refusal("a.sgy", bytes_of("", 0, 0), NULL, "is empty");
    expect_refusal("a.sgy", bytes_of("C 1 text", 8, 9000), NULL, "not SEG-Y");
    static const guint8 tif[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0x8c, 0x0c};
    expect_refusal("a.sgy", bytes_of(tif, 12, 9000), NULL, "TIF-8");
    const char *paths[] = {folder, NULL};
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
    g_autoptr(LithoCube) cube = load(&make, file, NULL);
    assert_note(cube, "last trace is incomplete");
    g_assert_cmpint(litho_cube_count_live(cube), ==, 19);
    assert_samples(&make, cube);
    expect_refusal("cut.sgy", file, &(LithoOpenOptions){.strict = TRUE}, "incomplete");

    file = make_file(&make);
    g_byte_array_set_size(file, 3600);
    expect_refusal("none.sgy", file, NULL, "no whole trace");

    file = make_file(&make); // padded to a multiple of 512
    guint end = file->len;
    g_byte_array_set_size(file, (end / 512 + 1) * 512);
    memset(file->data + end, 0, file->len - end);
    expect_cube(&make, file, "padding");

    make.revision = 0x0200; // data trailer of revision 2
    file = make_file(&make);
    make_put_bin32(file, &make, 3529, 1);
    end = file->len;
    g_byte_array_set_size(file, end + 3200);
    memset(file->data + end, 'T', 3200);
    g_autoptr(LithoCube) trailed = load(&make, file, &(LithoOpenOptions){.strict = TRUE});
    assert_full(&make, trailed);
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
    expect_cube(&make, file, "tape label");
}

static void test_text_headers(void)
{
    for (int ascii = 0; ascii < 2; ascii++) {
        Make make = make_plain();
        make.ascii = ascii;
        g_autoptr(GByteArray) file = make_file(&make);
        file->data[100] = 0;    // in either code these three are no text
        file->data[101] = 0x04;
        file->data[102] = 0xff;
        g_autoptr(LithoCube) cube = load(&make, file, NULL);
        const char *text = litho_survey_text(cube->survey);
        g_assert_true(g_str_has_prefix(text, "C 1 A FILE OF THE TESTS\nC 2"));
        g_assert_true(g_utf8_validate(text, -1, NULL));
    }
    Make make = make_plain();
    GByteArray *file = make_file(&make);
    memset(file->data, 0, 3200);
    g_autoptr(LithoCube) cube = load(&make, file, NULL);
    g_assert_cmpstr(litho_survey_text(cube->survey), ==, "");
    expect_cube(&make, file, NULL);
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
        {1, 1, 0, FALSE, NULL},  // declared in a revision 0 file and there
        {0, 1, 0, FALSE, "1 extended text headers; 0"}, // and not there
    };
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        Make make = make_plain();
        make.ext_text = cases[k].present;
        make.ext_declared = cases[k].declared;
        make.revision = cases[k].revision;
        make.end_text = cases[k].end_text;
        expect_cube(&make, make_file(&make), cases[k].note);
    }
}

// --- binary header ----------------------------------------------------------------------------

static void test_sample_counts(void)
{
    Make make = make_plain();
    GByteArray *file = make_file(&make);
    make_put_bin16(file, &make, 3221, 0); // from the trace headers
    expect_cube(&make, file, "says 0 samples");

    file = make_file(&make);
    make_put_bin16(file, &make, 3221, 0); // from the size alone
    for (int n = 0; n < 20; n++)
        make_put_head16(file, &make, n, 115, 0);
    expect_cube(&make, file, "says 0 samples");

    file = make_file(&make);
    make_put_bin16(file, &make, 3221, 77); // contradicts the traces, which fit
    expect_cube(&make, file, "says 77 samples a trace; 30 fit");

    make.n1 = make.n2 = 2;
    make.ns = 40000; // negative when read as signed
    expect_cube(&make, make_file(&make), NULL);

    make.ns = 70000; // revision 2: bytes 3269 overrule
    make.revision = 0x0200;
    file = make_file(&make);
    make_put_bin16(file, &make, 3221, 1);
    make_put_bin32(file, &make, 3269, 70000);
    for (int n = 0; n < 4; n++)
        make_put_head16(file, &make, n, 115, 0);
    expect_cube(&make, file, NULL);

    file = make_file(&make); // an absurd count must not become an allocation
    make_put_bin32(file, &make, 3269, 0x7fffffff);
    make_put_bin16(file, &make, 3221, 0);
    for (int n = 0; n < 4; n++)
        make_put_head16(file, &make, n, 115, 0);
    GError *error = NULL;
    g_autoptr(LithoSurvey) survey = open_bytes("absurd.sgy", file, NULL, &error);
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
        {2, 2, 2e-6, "give --dt 0.002"},
        {40000, 40000, 0.04, "if this is a depth cube"},
    };
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        Make make = make_plain();
        g_autoptr(GByteArray) file = make_file(&make);
        make_put_bin16(file, &make, 3217, cases[k].binary);
        for (int n = 0; n < 20; n++)
            make_put_head16(file, &make, n, 117, cases[k].trace);
        g_autoptr(LithoCube) cube = load(&make, file, NULL);
        g_assert_cmpfloat_with_epsilon(cube->grid.axis[2].step, cases[k].dt, 1e-12);
        if (cases[k].note)
            assert_note(cube, cases[k].note);
        g_assert_cmpint(cube->grid.axis[2].source, ==,
                        cases[k].binary || cases[k].trace ? LITHO_FROM_FILE : LITHO_FROM_ASSUMED);
        LithoOpenOptions given = {.dt = 0.001};
        g_autoptr(LithoCube) told = load(&make, file, &given);
        g_assert_cmpfloat(told->grid.axis[2].step, ==, 0.001);
        LithoOpenOptions depth = {.domain = 2};
        g_autoptr(LithoCube) deep = load(&make, file, &depth);
        g_assert_true(deep->grid.is_depth);
        g_assert_cmpstr(deep->grid.axis[2].unit, ==, "m");
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
    g_autoptr(LithoCube) cube = load(&make, file, NULL);
    assert_full(&make, cube);
    g_assert_cmpfloat_with_epsilon(cube->grid.axis[2].step, 125e-6, 1e-12);

    Make lie = make_plain(); // declared but not there
    lie.revision = 0x0201;
    GByteArray *bytes = make_file(&lie);
    make_put_bin16(bytes, &lie, 3507, 1);
    expect_cube(&lie, bytes, "declared but not there");
    for (int k = 0; k < 3; k++) { // 29559; 1 for 0x0100; 256
        static const int revisions[] = {29559, 1, 256};
        Make odd = make_plain();
        odd.revision = revisions[k];
        expect_cube(&odd, make_file(&odd), k == 0 ? "make no sense" : NULL);
    }
}

// --- geometry ---------------------------------------------------------------------------------

static void test_sortings(void)
{
    static const int steps[][2] = {{1, 1}, {3, 2}, {-2, 1}, {1, -5}};
    for (int sorting = 0; sorting < 4; sorting++)
        for (guint s = 0; s < G_N_ELEMENTS(steps); s++) {
            Make make = make_plain();
            make.sorting = (MakeSorting)sorting;
            make.inline_step = steps[s][0];
            make.xline_step = steps[s][1];
            expect_cube(&make, make_file(&make), NULL);
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
        g_autoptr(LithoCube) all = load(&make, file, NULL);
        LithoBox boxes[] = {
            litho_box_slice(&all->grid, 0, 2), litho_box_slice(&all->grid, 1, 3),
            litho_box_slice(&all->grid, 2, 17), {{1, 1, 5}, {3, 4, 20}},
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
    static const int pairs[][2] = {{189, 193}, {9, 21}, {5, 21},   {9, 13},
                                   {17, 25},   {213, 217}, {193, 197}};
    for (guint k = 0; k < G_N_ELEMENTS(pairs); k++) {
        Make make = make_plain();
        make.inline_byte = pairs[k][0];
        make.xline_byte = pairs[k][1];
        g_autoptr(GByteArray) file = make_file(&make);
        g_autoptr(LithoCube) cube = load(&make, file, NULL);
        assert_full(&make, cube);
        const LithoCandidate *c;
        g_assert_cmpint(litho_survey_candidates(cube->survey, &c), >, 0);
        g_assert_cmpint(c[0].inline_byte, ==, pairs[k][0]);
        g_assert_cmpint(c[0].xline_byte, ==, pairs[k][1]);
        g_assert_nonnull(strstr(c[0].evidence, "4 values, step 1"));
    }
    Make make = make_plain(); // somewhere nobody looks, but the user knows
    make.inline_byte = 61;
    make.xline_byte = 65;
    GByteArray *file = make_file(&make);
    LithoOpenOptions known = {.inline_byte = 61, .xline_byte = 65};
    g_autoptr(LithoCube) cube = load(&make, file, &known);
    assert_full(&make, cube);
    g_byte_array_unref(file);
}

static void test_gaps_and_repeats(void)
{
    Make make = make_plain();
    GByteArray *file = make_file(&make);
    make_drop_trace(file, &make, 13);
    make_drop_trace(file, &make, 6);
    g_autoptr(LithoCube) gaps = load(&make, file, NULL);
    g_assert_cmpint(litho_cube_count_live(gaps), ==, 18);
    g_assert_false(litho_cube_is_live(gaps, 1, 1));
    assert_samples(&make, gaps);
    assert_note(gaps, "2 of 20 cells have no trace");
    g_byte_array_unref(file);

    // Trace 1 claims the cell of trace 0: first 0, last 1, mean of both.
    file = make_file(&make);
    make_put_head32(file, &make, 1, 193, make.xline_first);
    for (int policy = 0; policy < 3; policy++) {
        LithoOpenOptions options = {.duplicates = policy};
        g_autoptr(LithoCube) cube = load(&make, file, &options);
        g_assert_cmpint(litho_survey_counts(cube->survey).duplicates, ==, 1);
        for (int k = 0; k < make.ns; k++) {
            float a = make_value(&make, 0, 0, k), b = make_value(&make, 0, 1, k);
            float want = policy == 0 ? a : policy == 1 ? b : (a + b) / 2;
            g_assert_cmpfloat(litho_cube_trace(cube, 0, 0)[k], ==, want);
        }
        g_assert_false(litho_cube_is_live(cube, 0, 1));
    }
    g_byte_array_unref(file);

    file = make_file(&make); // one line number far away: refused before anything is allocated
    make_put_head32(file, &make, 3, 189, 2000000000);
    expect_refusal("far.sgy", file, &(LithoOpenOptions){.inline_byte = 189, .xline_byte = 193},
                   "--file-order");
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
        g_autoptr(LithoCube) cube = load(&make, file, NULL);
        assert_note(cube, "fitted to the coordinates");
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
    g_autoptr(LithoCube) cube = load(&make, file, NULL);
    g_assert_cmpfloat_with_epsilon(litho_grid_spacing(&cube->grid, 0), 25, 0.01);
    g_assert_cmpfloat_with_epsilon(litho_grid_spacing(&cube->grid, 1), 12.5, 0.01);
    g_assert_cmpfloat_with_epsilon(cube->grid.origin[0], 430000, 0.05);
    make_put_bin16(file, &make, 3255, 2); // feet
    g_autoptr(LithoCube) feet = load(&make, file, NULL);
    g_assert_cmpfloat_with_epsilon(litho_grid_spacing(&feet->grid, 0), 25 * 0.3048, 0.01);
    LithoOpenOptions given = {.dx = 30, .dy = 20};
    g_autoptr(LithoCube) told = load(&make, file, &given);
    g_assert_cmpfloat_with_epsilon(litho_grid_spacing(&told->grid, 0), 30, 1e-9);
    g_assert_cmpfloat_with_epsilon(litho_grid_spacing(&told->grid, 1), 20, 1e-9);
    for (int n = 0; n < 20; n++)
        make_put_head16(file, &make, n, 89, 3); // degrees
    g_autoptr(LithoCube) angles = load(&make, file, NULL);
    assert_note(angles, "angles");
    g_assert_cmpint(angles->grid.xy_source, ==, LITHO_FROM_ASSUMED);
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
        g_autoptr(LithoCube) cube = load(&make, file, &options);
        double a = litho_grid_spacing(&cube->grid, 0), b = litho_grid_spacing(&cube->grid, 1);
        g_assert_cmpfloat_with_epsilon(MAX(a, b), 250, 0.1);
        g_assert_cmpfloat_with_epsilon(MIN(a, b), 125, 0.1);
    }
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
    g_autoptr(LithoSurvey) survey = open_bytes("told.sgy", file, &options, &error);
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

static void test_no_geometry(void)
{
    Make make = make_plain();
    make.inline_byte = make.xline_byte = -1;
    make.bin_x = 0;
    GByteArray *file = make_file(&make);
    g_autoptr(LithoCube) cube = load(&make, file, NULL);
    assert_note(cube, "file order");
    g_assert_cmpint(cube->grid.axis[0].n, ==, 1);
    g_assert_cmpint(cube->grid.axis[1].n, ==, 20);
    g_assert_cmpfloat(litho_cube_trace(cube, 0, 13)[4], ==, make_value(&make, 2, 3, 4));
    LithoOpenOptions shaped = {.shape = {4, 5}};
    g_autoptr(LithoCube) box = load(&make, file, &shaped);
    g_assert_cmpfloat(litho_cube_trace(box, 2, 3)[4], ==, make_value(&make, 2, 3, 4));
    g_byte_array_unref(file);

    make = make_plain();
    file = make_file(&make);
    LithoOpenOptions order = {.file_order = TRUE};
    g_autoptr(LithoCube) line = load(&make, file, &order);
    g_assert_cmpint(line->grid.axis[1].n, ==, 20);
    g_byte_array_unref(file);
}

static void test_prestack(void)
{
    Make make = make_plain();
    make.offsets = 3;
    GByteArray *file = make_file(&make);
    for (int n = 0; n < 60; n++) // later offsets hold other numbers
        for (int k = 0; k < make.ns && n % 3; k++)
            make_put_sample(file, &make, n, k, 99);
    g_autoptr(LithoCube) cube = load(&make, file, NULL);
    assert_full(&make, cube);
    assert_note(cube, "prestack: 3 offsets (100 to 300)");
    g_assert_cmpint(litho_survey_counts(cube->survey).offsets, ==, 3);
    g_byte_array_unref(file);
}

static void test_dead_and_zero(void)
{
    Make make = make_plain();
    g_autoptr(GByteArray) file = make_file(&make);
    make_put_head16(file, &make, 2, 29, 2);
    for (int k = 0; k < make.ns; k++)
        make_put_sample(file, &make, 3, k, 0);
    memset(file->data + 3600 + 4 * make_stride(&make), 0, (gsize)make_stride(&make));
    g_autoptr(LithoCube) cube = load(&make, file, NULL);
    LithoSurveyCounts c = litho_survey_counts(cube->survey);
    g_assert_cmpint(c.dead, ==, 1);
    g_assert_cmpint(c.zero, ==, 1);
    g_assert_cmpint(c.missing, ==, 1); // the zero header block
    g_assert_cmpint(c.live, ==, 17);
    g_assert_cmpint(litho_cube_count_live(cube), ==, 17);
    LithoOpenOptions keep = {.keep_zero_traces = TRUE};
    g_autoptr(LithoCube) kept = load(&make, file, &keep);
    g_assert_cmpint(litho_cube_count_live(kept), ==, 18);

    g_autoptr(GByteArray) quiet = make_file(&make); // an all-zero cube loads, all live
    for (int n = 0; n < 20; n++)
        for (int k = 0; k < make.ns; k++)
            make_put_sample(quiet, &make, n, k, 0);
    g_autoptr(LithoCube) zeros = load(&make, quiet, NULL);
    g_assert_cmpint(litho_cube_count_live(zeros), ==, 20);
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
    for (int k = 0; k < 30; k++)
        make_put_sample(file, &make, 3, k, -1e30);
    g_autoptr(LithoCube) cube = load(&make, file, NULL);
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
    assert_note(cube, "4 traces hold NaN");

    make.format = 6; // doubles beyond float32
    g_autoptr(GByteArray) wide = make_file(&make);
    make_put_sample(wide, &make, 0, 5, 1e200);
    g_autoptr(LithoCube) doubles = load(&make, wide, NULL);
    g_assert_false(litho_cube_is_live(doubles, 0, 0));
}

static void test_variable_lengths(void)
{
    Make make = make_plain();
    make.revision = 0;
    g_autoptr(GByteArray) file = make_file(&make);
    int stride = make_stride(&make);
    for (int n = 19; n >= 0; n -= 3) { // every third trace loses 4 samples
        make_put_head16(file, &make, n, 115, 26);
        g_byte_array_remove_range(file, (guint)(3600 + n * stride + stride - 16), 16);
    }
    g_autoptr(LithoCube) cube = load(&make, file, NULL);
    assert_note(cube, "differ in length");
    g_assert_cmpint(cube->grid.axis[2].n, ==, 30);
    for (int n = 0; n < 20; n++)
        for (int k = 0; k < 30; k++)
            g_assert_cmpfloat(litho_cube_trace(cube, n / 5, n % 5)[k], ==,
                              n % 3 == 1 && k >= 26 ? 0 : make_value(&make, n / 5, n % 5, k));
}

static void test_delays(void)
{
    Make make = make_plain();
    g_autoptr(GByteArray) file = make_file(&make);
    for (int n = 0; n < 20; n++)
        make_put_head16(file, &make, n, 109, -200);
    g_autoptr(LithoCube) constant = load(&make, file, NULL);
    g_assert_cmpfloat_with_epsilon(constant->grid.axis[2].first, -0.2, 1e-12);
    assert_full(&make, constant);
    for (int n = 0; n < 20; n++) { // in tenths of milliseconds, trace 7 starts two samples later
        make_put_head16(file, &make, n, 109, n == 7 ? 1080 : 1000);
        make_put_head16(file, &make, n, 215, -10);
    }
    g_autoptr(LithoCube) moved = load(&make, file, NULL);
    g_assert_cmpint(moved->grid.axis[2].n, ==, 32);
    g_assert_cmpfloat_with_epsilon(moved->grid.axis[2].first, 0.1, 1e-12);
    g_assert_cmpfloat(litho_cube_trace(moved, 1, 2)[2], ==, make_value(&make, 1, 2, 0));
    g_assert_cmpfloat(litho_cube_trace(moved, 1, 3)[0], ==, make_value(&make, 1, 3, 0));
}

static void test_su(void)
{
    for (int order = 0; order < 2; order++) {
        Make make = make_plain();
        make.su = TRUE;
        make.format = 5;
        make.order = (LithoOrder)order;
        g_autoptr(GByteArray) file = make_file(&make);
        g_autoptr(LithoCube) cube = load(&make, file, NULL);
        assert_full(&make, cube);
        g_autoptr(LithoSurvey) disguised = open_bytes("really-su.sgy", file, NULL, NULL);
        g_assert_nonnull(disguised);
        g_assert_true(g_str_has_prefix(litho_survey_format(disguised), "SU"));
    }
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
        paths[f] = put_file(name, file);
    }
    GError *error = NULL;
    g_autoptr(LithoSurvey) survey =
        litho_survey_open((const char *const *)paths, NULL, NULL, &error);
    g_assert_no_error(error);
    g_autoptr(LithoCube) cube = litho_survey_read(survey, NULL, NULL, &error);
    assert_full(&whole, cube);
    g_free(paths[2]);
    Make other = whole;
    other.ns = 31;
    g_autoptr(GByteArray) file = make_file(&other);
    paths[2] = put_file("other.sgy", file);
    g_assert_null(litho_survey_open((const char *const *)paths, NULL, NULL, &error));
    g_assert_nonnull(strstr(error->message, "must agree"));
    g_error_free(error);
    for (int f = 0; f < 3; f++)
        g_free(paths[f]);
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
            g_autoptr(GByteArray) file = bytes_of(good->data, good->len, 0);
            make_put_bin16(file, &make, byte, values[v]);
            g_autoptr(LithoSurvey) survey = open_bytes("hostile.sgy", file, NULL, NULL);
            if (!survey || litho_grid_samples(litho_survey_grid(survey)) > 1000000)
                continue;
            g_autoptr(LithoCube) cube = litho_survey_read(survey, NULL, NULL, NULL);
            g_assert_nonnull(cube);
        }
    for (guint n = 0; n <= good->len; n += 61) {
        g_autoptr(GByteArray) file = bytes_of(good->data, n, 0);
        g_autoptr(LithoSurvey) survey = open_bytes("cut.sgy", file, NULL, NULL);
        g_assert_true(!survey || n > 3600 + 240);
    }
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
    g_autofree char *path = put_file("large.sgy", file);
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
    folder = g_dir_make_tmp("litho-segy-XXXXXX", NULL);
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
    g_test_add_func("/segy/revision-2", test_revision_2);
    g_test_add_func("/segy/sortings", test_sortings);
    g_test_add_func("/segy/boxes", test_boxes);
    g_test_add_func("/segy/header-bytes", test_header_bytes);
    g_test_add_func("/segy/gaps-and-repeats", test_gaps_and_repeats);
    g_test_add_func("/segy/coordinates-only", test_coordinates_only);
    g_test_add_func("/segy/coordinates", test_coordinates);
    g_test_add_func("/segy/no-geometry", test_no_geometry);
    g_test_add_func("/segy/prestack", test_prestack);
    g_test_add_func("/segy/dead-and-zero", test_dead_and_zero);
    g_test_add_func("/segy/bad-samples", test_bad_samples);
    g_test_add_func("/segy/variable-lengths", test_variable_lengths);
    g_test_add_func("/segy/delays", test_delays);
    g_test_add_func("/segy/given-scalar", test_given_scalar);
    g_test_add_func("/segy/told-headers", test_told_headers);
    g_test_add_func("/segy/su", test_su);
    g_test_add_func("/segy/several-files", test_several_files);
    g_test_add_func("/segy/hostile", test_hostile);
    g_test_add_func("/segy/first-line-and-cancel", test_first_line_and_cancel);
    int status = g_test_run();
    test_remove_folder(folder);
    return status;
}
