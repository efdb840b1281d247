// SPDX-License-Identifier: GPL-3.0-or-later
// Writing, and reading what was written: what goes in must come out, to the bit where the format
// allows it; headers that need not change do not. libsegyio, which shares no code with us, is the
// oracle for well-formed SEG-Y. A swapped field, a wrong offset or a rounding that is off by one
// unit in the last place fails here.
#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#ifdef TEST_HAVE_SEGYIO
#include <segyio/segy.h>
#endif
#include <string.h>
#include <unistd.h>

#include "core/error.h"
#include "tests/cube_files.h"
#include "tests/segy_make.h"

static GByteArray *contents(const char *path)
{
    char *data;
    gsize n;
    g_assert_true(g_file_get_contents(path, &data, &n, NULL));
    return g_byte_array_new_take((guint8 *)data, n);
}

static void assert_same_file(const char *path, const GByteArray *wanted)
{
    g_autoptr(GByteArray) got = contents(path);
    g_assert_cmpuint(got->len, ==, wanted->len);
    for (guint k = 0; k < got->len; k++)
        if (got->data[k] != wanted->data[k])
            g_error("%s differs at byte %u: %02x, wanted %02x", path, k + 1, got->data[k],
                    wanted->data[k]);
}

static void assert_same_cube(const LithoCube *a, const LithoCube *b)
{
    g_assert_true(litho_grid_same_shape(&a->grid, &b->grid));
    gsize traces = (gsize)litho_grid_traces(&a->grid);
    g_assert_cmpmem(a->live, traces, b->live, traces);
    for (gint64 k = 0; k < litho_cube_held_samples(a); k++)
        g_assert_cmpfloat(a->samples[k], ==, b->samples[k]);
}

// --- SEG-Y kept byte for byte -----------------------------------------------------------------

// Every format, both byte orders, every sorting, extended headers of both kinds: opened and saved,
// the file is the same to the last byte.
static void test_identity(void)
{
    static const int formats[] = {1, 2, 3, 5, 6, 7, 8, 10, 11, 15, 16};
    for (guint k = 0; k < G_N_ELEMENTS(formats); k++)
        for (int order = 0; order < 2; order++)
            for (int kind = 0; kind < 4; kind++) {
                Make make = make_plain();
                make.format = formats[k];
                make.order = (LithoOrder)order;
                make.sorting = (MakeSorting)kind;
                make.revision = kind == 2 ? 0x0201 : 0x0100;
                make.additional = kind == 2;
                make.ext_text = make.ext_declared = kind == 3 ? 2 : 0;
                g_autoptr(GByteArray) file = make_file(&make);
                for (int n = 0; n < 20; n++) // words that only their owner understands
                    make_put_head32(file, &make, n, 233, 77000 + n);
                g_autofree char *in = put_file("id.sgy", file), *out = in_folder("id-out.sgy");
                g_autoptr(LithoCube) cube = load(in, NULL);
                save(cube, out, &forced);
                assert_same_file(out, file);
            }
}

// To the other byte order and back gives the first file again: every word of both headers is known
// by its width.
static void test_swapped_and_back(void)
{
    for (int order = 0; order < 2; order++) {
        Make make = make_plain();
        make.order = (LithoOrder)order;
        make.revision = 0x0201;
        g_autoptr(GByteArray) file = make_file(&make);
        for (int byte = 1; byte < 240; byte += 7) // odd words everywhere but in the ones that count
            if (byte != 29 && (byte < 69 || byte > 72) && byte != 37 &&
                (byte < 106 || byte > 118) && byte < 181)
                file->data[3600 + byte - 1] ^= 0x55;
        make_put_bin16(file, &make, 3231, 17);
        make_put_bin32(file, &make, 3205, 123456);
        g_autofree char *in = put_file("sw.sgy", file), *there = in_folder("sw1.sgy"),
                        *back = in_folder("sw2.sgy");
        g_autoptr(LithoCube) cube = load(in, NULL);
        save(cube, there, &(LithoSaveOptions){.force = TRUE, .endian = order ? 1 : 2});
        g_autoptr(LithoCube) turned = load(there, NULL);
        assert_same_cube(cube, turned);
        save(turned, back, &(LithoSaveOptions){.force = TRUE, .endian = order ? 2 : 1});
        assert_same_file(back, file);
    }
}

static void test_note_and_trailer(void)
{
    Make make = make_plain();
    make.revision = 0x0200;
    g_autoptr(GByteArray) file = make_file(&make);
    make_put_bin32(file, &make, 3529, 1);
    guint end = file->len;
    g_byte_array_set_size(file, end + 3200);
    memset(file->data + end, 'T', 3200);
    g_autofree char *in = put_file("note.sgy", file), *out = in_folder("note-out.sgy");
    g_autoptr(LithoCube) cube = load(in, NULL);
    save(cube, out, &(LithoSaveOptions){.force = TRUE, .note = "filtered: fx half_width=3"});
    g_autoptr(GByteArray) got = contents(out);
    g_assert_cmpuint(got->len, ==, file->len);
    g_assert_cmpmem(got->data, 80, file->data, 80); // the used line stays
    g_assert_cmpmem(got->data + 160, got->len - 160, file->data + 160, file->len - 160);
    g_autoptr(LithoCube) again = load(out, NULL);
    g_assert_nonnull(strstr(litho_survey_text(again->survey), "C 2 filtered: fx half_width=3\n"));
}

// Another sample format, fewer samples, another interval: the words that follow from them change,
// all others stay.
static void test_changed_axis(void)
{
    Make make = make_plain();
    g_autoptr(GByteArray) file = make_file(&make);
    for (int n = 0; n < 20; n++)
        make_put_head32(file, &make, n, 197, 5000 + n);
    g_autofree char *in = put_file("axis.sgy", file), *out = in_folder("axis-out.sgy");
    g_autoptr(LithoCube) cube = load(in, NULL);
    LithoGrid grid = cube->grid;
    grid.axis[2].n = 12;
    grid.axis[2].step = 0.002;
    grid.axis[2].first = 0.0005;
    g_autoptr(LithoCube) result = litho_cube_new(&grid, NULL);
    litho_cube_inherit(result, cube);
    for (gint64 k = 0; k < litho_cube_held_samples(result); k++)
        result->samples[k] = (float)k * 0.37f;
    save(result, out, &(LithoSaveOptions){.force = TRUE, .format = 5});
    g_autoptr(LithoCube) again = load(out, NULL);
    assert_same_cube(result, again);
    g_assert_true(litho_grid_equal(&again->grid, &grid));
    guint8 header[240];
    g_assert_true(litho_survey_trace_header(again->survey, 2, 3, header, NULL));
    g_assert_cmpint(litho_get_i32(header + 196, LITHO_ORDER_BIG), ==, 5013);
}

// --- masks ------------------------------------------------------------------------------------

static void test_missing(void)
{
    Make make = make_plain();
    g_autoptr(GByteArray) file = make_file(&make);
    make_drop_trace(file, &make, 7);
    g_autofree char *in = put_file("gap.sgy", file), *out = in_folder("gap-out.sgy");
    g_autoptr(LithoCube) cube = load(in, NULL);
    save(cube, out, &forced); // left out, as the source had it
    assert_same_file(out, file);
    save(cube, out, &(LithoSaveOptions){.force = TRUE, .missing = 1}); // or there and dead
    g_autoptr(LithoCube) dead = load(out, NULL);
    g_assert_cmpint(litho_survey_counts(dead->survey).traces, ==, 20);
    g_assert_cmpint(litho_survey_counts(dead->survey).dead, ==, 1);
    assert_same_cube(cube, dead);

    // An operator that fills the gap gives it a header with the right numbers and coordinates.
    g_autoptr(LithoCube) filled = litho_cube_copy_box(cube, litho_box_full(&cube->grid), NULL);
    filled->live[7] = 1;
    for (int k = 0; k < 30; k++)
        litho_cube_trace(filled, 1, 2)[k] = (float)k;
    save(filled, out, &forced);
    g_autoptr(LithoCube) again = load(out, NULL);
    assert_same_cube(filled, again);
    guint8 header[240];
    g_assert_true(litho_survey_trace_header(again->survey, 1, 2, header, NULL));
    g_assert_cmpint(litho_get_i32(header + 188, LITHO_ORDER_BIG), ==, 101);
    g_assert_cmpint(litho_get_i32(header + 192, LITHO_ORDER_BIG), ==, 302);
    g_assert_cmpint(litho_get_i32(header + 180, LITHO_ORDER_BIG), ==, 43002500);
    g_assert_cmpint(litho_get_i32(header + 184, LITHO_ORDER_BIG), ==, 648002500);
    g_assert_cmpint(litho_get_i16(header + 28, LITHO_ORDER_BIG), ==, 1);
}

// --- other formats ----------------------------------------------------------------------------

static LithoCube *bare_cube(void)
{
    LithoGrid grid = litho_grid_new(5, 7, 33);
    grid.axis[0].first = 1000;
    grid.axis[0].step = 2;
    grid.axis[1].first = 50;
    grid.axis[2].step = 0.002;
    grid.axis[2].first = 0.1;
    grid.axis[2].source = grid.xy_source = LITHO_FROM_FILE;
    grid.origin[0] = 500000;
    grid.inline_step[0] = 7;
    LithoCube *cube = litho_cube_new(&grid, NULL);
    g_autoptr(GRand) rand = g_rand_new_with_seed(3);
    for (gint64 k = 0; k < litho_cube_held_samples(cube); k++)
        cube->samples[k] =
            (float)(g_rand_double_range(rand, -1, 1) * exp2(g_rand_int_range(rand, -20, 20)));
    cube->live[9] = 0;
    memset(litho_cube_trace(cube, 1, 2), 0, 33 * sizeof(float));
    return cube;
}

static void test_bare_grid(void)
{
    g_autoptr(LithoCube) cube = bare_cube();
    static const char *const names[] = {"bare.sgy", "bare.su", "bare.npy", "bare.rsf"};
    for (guint k = 0; k < G_N_ELEMENTS(names); k++)
        for (int endian = 1; endian <= 2; endian++) {
            g_autofree char *path = in_folder(names[k]);
            save(cube, path, &(LithoSaveOptions){.force = TRUE, .endian = endian});
            LithoOpenOptions options = {.dt = k == 2 ? 0.002 : 0};
            g_autoptr(LithoCube) again = load(path, &options);
            assert_same_cube(cube, again);
            if (k == 2)
                continue;
            for (int a = 0; a < 3; a++) {
                g_assert_cmpfloat_with_epsilon(again->grid.axis[a].first, cube->grid.axis[a].first,
                                               1e-9);
                g_assert_cmpfloat_with_epsilon(again->grid.axis[a].step, cube->grid.axis[a].step,
                                               1e-9);
            }
            for (int c = 0; c < 2; c++) { // header coordinates are whole centimetres
                g_assert_cmpfloat_with_epsilon(again->grid.inline_step[c],
                                               cube->grid.inline_step[c], 0.01);
                g_assert_cmpfloat_with_epsilon(again->grid.origin[c], cube->grid.origin[c], 0.02);
            }
        }
    g_autofree char *raw = in_folder("bare.raw");
    save(cube, raw, &forced);
    LithoOpenOptions options = {.shape = {5, 7, 33}, .dtype = "float32"};
    g_autoptr(LithoCube) again = load(raw, &options);
    assert_same_cube(cube, again);
    GError *error = NULL;
    options.shape[2] = 34;
    g_assert_null(litho_cube_load(raw, &options, NULL, &error));
    g_assert_nonnull(strstr(error->message, "holds 1155"));
    g_clear_error(&error);
}

// Property: a bin that was assumed is told as assumed again when the result is read, line numbers
// are not lost by it, and one that was given is stated.
static void test_rsf_assumed_bins(void)
{
    g_autoptr(LithoCube) cube = bare_cube();
    g_autofree char *npy = in_folder("bins.npy"), *rsf = in_folder("bins.rsf");
    save(cube, npy, &forced);
    for (int k = 0; k < 2; k++) {
        const LithoOpenOptions options = {.dx = k * 30, .dy = k * 20};
        g_autoptr(LithoCube) in = load(npy, &options);
        in->grid.axis[1].first = 301;
        save(in, rsf, &forced);
        g_autoptr(LithoCube) out = load(rsf, NULL);
        g_assert_cmpint(out->grid.xy_source, ==, k ? LITHO_FROM_FILE : LITHO_FROM_ASSUMED);
        g_assert_cmpfloat_with_epsilon(litho_grid_spacing(&out->grid, 1), k ? 20 : 25, 1e-9);
        g_assert_cmpfloat(out->grid.axis[1].first, ==, 301);
        g_assert_cmpfloat(out->grid.axis[1].step, ==, in->grid.axis[1].step);
    }
}

static void test_npy_types(void)
{
    g_autoptr(LithoCube) cube = bare_cube();
    g_autofree char *path = in_folder("types.npy");
    save(cube, path, &(LithoSaveOptions){.force = TRUE, .format = 6});
    g_autoptr(LithoCube) doubles = load(path, NULL);
    assert_same_cube(cube, doubles);
    cube->live[9] = 1; // int16 has no NaN: no missing traces
    for (gint64 k = 0; k < litho_cube_held_samples(cube); k++)
        cube->samples[k] = (float)(k % 65536 - 32768);
    save(cube, path, &(LithoSaveOptions){.force = TRUE, .format = 3});
    g_autoptr(LithoCube) shorts = load(path, NULL);
    assert_same_cube(cube, shorts);
    static const char *const refused[][2] = {
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3, 4), }", "Fortran"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (2, 3, 4), }", "type '<c8'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3, 4), }", "shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (9999999, 9999999, 99999999), }",
         "held"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (200, 300, 400), }", "need 24000000"},
    };
    for (guint k = 0; k < G_N_ELEMENTS(refused); k++) {
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        g_byte_array_append(bytes, (const guint8 *)"\x93NUMPY\1\0\x76\0", 10);
        g_autofree char *text = g_strdup_printf("%-117s\n", refused[k][0]);
        g_byte_array_append(bytes, (const guint8 *)text, 118);
        g_byte_array_set_size(bytes, 400);
        g_autofree char *bad = put_file("bad.npy", bytes);
        GError *error = NULL;
        g_assert_null(litho_cube_load(bad, NULL, NULL, &error));
        if (!strstr(error->message, refused[k][1]))
            g_error("'%s' lacks '%s'", error->message, refused[k][1]);
        g_clear_error(&error);
    }
}

// Property: depths without an interval are assumed to be 4 m apart, in NumPy, where the person says
// that they are depths, and in RSF, where a label does; samples that begin as a gzip file does, but
// for its third byte, are samples.
static void test_bare_depths(void)
{
    g_autoptr(GByteArray) samples = g_byte_array_new();
    g_byte_array_append(samples, (const guint8 *)"\x1f\x8b\x12\x3f", 4);
    g_byte_array_set_size(samples, 4 * 24);
    memset(samples->data + 4, 0, 4 * 23);
    g_autofree char *raw = put_file("bare.bin", samples);
    const LithoOpenOptions depth = {.shape = {2, 3, 4}, .domain = 2};
    g_autoptr(LithoCube) cube = load(raw, &depth);
    g_assert_cmpfloat(cube->samples[0], >, 0.5f);
    g_assert_cmpfloat(cube->grid.axis[2].step, ==, 4);
    g_autofree char *text = g_strdup_printf("n1=4 n2=3 n3=2 label1=Depth in=%s\n", raw);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_byte_array_append(bytes, (const guint8 *)text, (guint)strlen(text));
    g_autofree char *header = put_file("bare-depth.rsf", bytes);
    g_autoptr(LithoCube) labelled = load(header, NULL);
    g_assert_true(labelled->grid.is_depth);
    g_assert_cmpfloat(labelled->grid.axis[2].step, ==, 4);
}

static void test_long_traces(void)
{
    LithoGrid grid = litho_grid_new(1, 2, 70001);
    g_autoptr(LithoCube) cube = litho_cube_new(&grid, NULL);
    for (gint64 k = 0; k < litho_cube_held_samples(cube); k++)
        cube->samples[k] = (float)(k % 977);
    g_autofree char *path = in_folder("long.sgy");
    save(cube, path, &forced);
    g_autoptr(LithoCube) again = load(path, NULL);
    g_test_message("%s", litho_survey_format(again->survey));
    assert_same_cube(cube, again);
    g_assert_true(g_str_has_prefix(litho_survey_format(again->survey), "SEG-Y rev 2"));
}

// --- the target -------------------------------------------------------------------------------

static int count_files(void)
{
    GDir *dir = g_dir_open(folder, 0, NULL);
    int n = 0;
    while (g_dir_read_name(dir))
        n++;
    g_dir_close(dir);
    return n;
}

static void refuse_save(const LithoCube *cube, const char *path, const LithoSaveOptions *options,
                        const char *words)
{
    GError *error = NULL;
    g_assert_false(litho_cube_save(cube, path, options, NULL, &error));
    if (!strstr(error->message, words))
        g_error("'%s' lacks '%s'", error->message, words);
    g_error_free(error);
}

static void test_target(void)
{
    Make make = make_plain();
    g_autoptr(GByteArray) file = make_file(&make);
    g_autofree char *in = put_file("target.sgy", file), *out = in_folder("target-out.sgy"),
                    *alias = in_folder("target-alias.sgy"), *odd = in_folder("target.xyz"),
                    *nowhere = g_build_filename(folder, "no", "where.sgy", NULL);
    g_unlink(out);
    g_unlink(alias);
    g_assert_cmpint(link(in, alias), ==, 0);
    g_autoptr(LithoCube) cube = load(in, NULL);
    refuse_save(cube, in, &forced, "is an input");
    refuse_save(cube, alias, &forced, "is an input"); // by any name
    refuse_save(cube, odd, NULL, "follows the name");
    refuse_save(cube, nowhere, NULL, "cannot write");
    assert_same_file(in, file);
    save(cube, out, NULL);
    refuse_save(cube, out, NULL, "--force");
    save(cube, out, &forced);

    int before = count_files(); // a writer that is given up leaves nothing, nor touches the target
    GError *error = NULL;
    LithoWriter *w = litho_writer_new(out, &cube->grid, cube->survey, &forced, &error);
    g_assert_no_error(error);
    LithoBox box = litho_box_full(&cube->grid);
    box.hi[0] = 2;
    g_autoptr(LithoCube) part = litho_cube_copy_box(cube, box, NULL);
    g_assert_true(litho_writer_put(w, part, NULL, &error));
    g_assert_false(litho_writer_put(w, part, NULL, &error)); // the same inlines again
    g_clear_error(&error);
    g_assert_false(litho_writer_finish(w, &error));
    g_assert_nonnull(strstr(error->message, "2 of 4 inlines"));
    g_clear_error(&error);
    litho_writer_free(w);
    g_assert_cmpint(count_files(), ==, before);
    assert_same_file(out, file);
}

// A file written to between two reads gives no mixture of old and new samples.
static void test_changed(void)
{
    Make make = make_plain();
    g_autoptr(GByteArray) file = make_file(&make);
    g_autofree char *in = put_file("changed.sgy", file);
    g_autoptr(LithoCube) cube = load(in, NULL);
    FILE *other = g_fopen(in, "r+b"); // in place, as cp does
    g_assert_nonnull(other);
    g_usleep(20000); // file systems count time in ticks of up to 10 ms
    g_assert_cmpint(fseek(other, -40, SEEK_END), ==, 0);
    g_assert_cmpint(fputc('x', other), ==, 'x');
    g_assert_cmpint(fclose(other), ==, 0);
    GError *error = NULL;
    g_assert_null(litho_survey_read(cube->survey, NULL, NULL, &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_FAILED);
    g_assert_nonnull(strstr(error->message, "was changed after it was opened"));
    g_error_free(error);
}

// In slabs or at once: the same bytes, also for a file sorted the other way.
static void test_slabs(void)
{
    for (int sorting = 0; sorting < 2; sorting++) {
        Make make = make_plain();
        make.n1 = 9;
        make.sorting = (MakeSorting)sorting;
        g_autoptr(GByteArray) file = make_file(&make);
        g_autofree char *in = put_file("slab.sgy", file), *out = in_folder("slab-out.sgy");
        g_autoptr(LithoCube) cube = load(in, NULL);
        GError *error = NULL;
        LithoWriter *w = litho_writer_new(out, &cube->grid, cube->survey, &forced, &error);
        for (gint64 i = 0; i < 9; i += 2) {
            LithoBox box = litho_box_full(&cube->grid);
            box.lo[0] = i;
            box.hi[0] = MIN(i + 2, 9);
            g_autoptr(LithoCube) slab = litho_survey_read(cube->survey, &box, NULL, &error);
            g_assert_true(litho_writer_put(w, slab, NULL, &error));
        }
        g_assert_true(litho_writer_finish(w, &error));
        litho_writer_free(w);
        assert_same_file(out, file);
    }
}

// The file leaves the page cache; where it stays, as on tmpfs, nothing but the test's point is
// lost.
static void forget_file(const char *path)
{
    const int fd = g_open(path, O_RDONLY, 0);
    g_assert_cmpint(fd, >=, 0);
    fdatasync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}

// Headers and sections of a file on the disk, with traces so long that they are read one by one and
// asked for beforehand: what was asked for too early, twice or not at all changes no sample.
static void test_on_disk(void)
{
    Make make = make_plain();
    make.n1 = 3;
    make.n2 = 300; // more than are asked for at a time
    make.ns = 9000;
    make.format = LITHO_FORMAT_INT16; // 18 KB a trace, beyond GAP_BYTES and BLOCK_STRIDE
    g_autoptr(GByteArray) file = make_file(&make);
    g_autofree char *path = put_file("on-disk.sgy", file);
    const char *const paths[] = {path, NULL};
    GError *error = NULL;
    forget_file(path);
    g_autoptr(LithoSurvey) survey = litho_survey_open(paths, NULL, NULL, &error);
    g_assert_no_error(error);
    const LithoGrid *g = litho_survey_grid(survey);
    g_assert_cmpint(g->axis[0].n, ==, make.n1);
    g_assert_cmpint(g->axis[1].n, ==, make.n2);
    for (int axis = 0; axis < 3; axis++) {
        const LithoBox box = litho_box_slice(g, axis, 2);
        forget_file(path);
        g_autoptr(LithoCube) cube = litho_survey_read(survey, &box, NULL, &error);
        g_assert_no_error(error);
        gint64 at = 0;
        for (gint64 i = box.lo[0]; i < box.hi[0]; i++)
            for (gint64 j = box.lo[1]; j < box.hi[1]; j++)
                for (gint64 k = box.lo[2]; k < box.hi[2]; k++)
                    g_assert_cmpfloat(cube->samples[at++], ==,
                                      make_value(&make, (int)i, (int)j, (int)k));
    }
}

static void test_clipping(void)
{
    g_autoptr(LithoCube) cube = bare_cube();
    for (gint64 k = 0; k < litho_cube_held_samples(cube); k++)
        cube->samples[k] = 0.4f;
    litho_cube_trace(cube, 0, 0)[3] = 1e9f;
    litho_cube_trace(cube, 0, 1)[3] = NAN;
    g_autofree char *path = in_folder("clip.sgy");
    GError *error = NULL;
    LithoSaveOptions options = {.force = TRUE, .format = 3, .missing = 1};
    LithoWriter *w = litho_writer_new(path, &cube->grid, NULL, &options, &error);
    g_assert_no_error(error);
    g_assert_true(litho_writer_put(w, cube, NULL, &error));
    g_assert_true(litho_writer_finish(w, &error));
    const GPtrArray *notes = litho_writer_notes(w);
    g_assert_cmpint(notes->len, ==, 2);
    g_assert_true(g_str_has_prefix(g_ptr_array_index(notes, 0), "1 sample lies outside"));
    g_assert_true(g_str_has_prefix(g_ptr_array_index(notes, 1), "1 trace held NaN"));
    litho_writer_free(w);
    LithoOpenOptions keep = {.keep_zero_traces = TRUE};
    g_autoptr(LithoCube) again = load(path, &keep);
    g_assert_cmpfloat(litho_cube_trace(again, 0, 0)[3], ==, 32767);
    g_assert_false(litho_cube_is_live(again, 0, 1));
}

// Writes zeros on this grid; the only note, or NULL where there is none.
static char *note_of_writing(const char *name, const LithoGrid *grid)
{
    g_autoptr(LithoCube) cube = litho_cube_new(grid, NULL);
    g_autofree char *path = in_folder(name);
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    LithoSaveOptions options = {.force = TRUE, .notes = notes};
    GError *error = NULL;
    g_assert_true(litho_cube_save(cube, path, &options, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpint(notes->len, <=, 1);
    return notes->len ? g_strdup(g_ptr_array_index(notes, 0)) : NULL;
}

// Property: a NumPy file whose reader would take depths for times, or assume other distances, is
// told with the options that read it; read so, it has the axes of what was written. Nothing is told
// where the assumptions are right, and of formats with axes.
static void test_axes_that_are_lost(void)
{
    LithoGrid grid = litho_grid_new(5, 7, 33);
    g_assert_null(note_of_writing("same.npy", &grid));
    grid.has_xy = TRUE;
    grid.xline_step[0] = 25.0004; // of coordinates that were rounded to whole metres
    grid.xline_step[1] = 0;
    g_assert_null(note_of_writing("rounded.npy", &grid));
    grid.is_depth = TRUE;
    grid.has_xy = TRUE;
    grid.axis[2].step = 12.5;
    grid.inline_step[1] = 10;
    grid.xline_step[0] = 25;
    g_autofree char *depth = note_of_writing("depth.npy", &grid);
    g_assert_cmpstr(depth, ==,
                    "a NumPy file does not state that its samples are depths; give --depth --dt "
                    "12.5 --dx 10 when it is read");
    g_autofree char *path = in_folder("depth.npy");
    LithoOpenOptions read = {.domain = 2, .dt = 12.5, .dx = 10};
    g_autoptr(LithoCube) again = load(path, &read);
    g_assert_true(again->grid.is_depth);
    g_assert_cmpfloat(again->grid.axis[2].step, ==, 12.5);
    g_assert_cmpfloat(litho_grid_spacing(&again->grid, 0), ==, 10);
    g_assert_cmpfloat(litho_grid_spacing(&again->grid, 1), ==, 25);
    g_assert_null(note_of_writing("depth.rsf", &grid));
    grid = litho_grid_new(5, 7, 33);
    grid.axis[2].step = 0.002;
    grid.axis[2].first = 0.5;
    g_autofree char *late = note_of_writing("late.npy", &grid);
    g_assert_cmpstr(late, ==,
                    "a NumPy file states no axes, and time starts at 0 (here 0.5 s); give --dt 2ms "
                    "when it is read");
    g_autofree char *raw = note_of_writing("late.raw", &grid);
    g_assert_true(g_str_has_prefix(raw, "a raw file states no sizes and no axes, and time starts"));
    g_assert_nonnull(strstr(raw, "; give --shape 5,7,33 --dt 2ms "));
}

// Property: where no trace is left, the first note says so, not that an interval is assumed.
static void test_nothing_left(void)
{
    for (int k = 0; k < 2; k++) {
        LithoGrid grid = litho_grid_new(5, 7, 33);
        g_autoptr(LithoCube) cube = litho_cube_new(&grid, NULL);
        for (gint64 n = 0; n < litho_cube_held_samples(cube); n++)
            cube->samples[n] = k && n < 33 ? 1 : NAN;
        g_autofree char *path = in_folder("nothing.npy");
        LithoSaveOptions options = {.force = TRUE};
        g_assert_true(litho_cube_save(cube, path, &options, NULL, NULL));
        g_autoptr(LithoCube) again = load(path, NULL);
        const char *first = g_ptr_array_index(again->notes, 0);
        g_assert_true(g_str_has_prefix(first, "there is no trace to look at") == (k == 0));
    }
}

// --- IBM floats -------------------------------------------------------------------------------

// The vector code against plain arithmetic for a million bit patterns of all magnitudes and the
// edges: encoding equals the nearest IBM number; coming back, a number has lost at most half a unit
// of its 24-bit fraction, which is 1/16 at least: 2^-25 / 2^-4 of itself.
static void test_ibm(void)
{
    enum { N = 1 << 20 };
    g_autofree float *x = g_new(float, N), *back = g_new(float, N);
    g_autofree guint8 *raw = g_malloc(4 * N);
    g_autoptr(GRand) rand = g_rand_new_with_seed(11);
    static const guint32 edges[] = {0,          0x80000000, 1,          0x007fffff,
                                    0x00800000, 0x7f7fffff, 0x3f800000, 0x3f7fffff,
                                    0x41800000, 0x417fffff, 0x42ffffff};
    for (int k = 0; k < N; k++) {
        guint32 w = k < (int)G_N_ELEMENTS(edges) ? edges[k] : g_rand_int(rand);
        if ((w & 0x7f800000) == 0x7f800000)
            w &= 0xbfffffff; // no NaN, no infinity
        memcpy(&x[k], &w, 4);
    }
    g_assert_cmpint(litho_encode(x, 1, LITHO_ORDER_BIG, raw, N), ==, 0);
    litho_decode(raw, 1, LITHO_ORDER_BIG, back, N);
    for (int k = 0; k < N; k++) {
        guint32 got = (guint32)litho_get_i32(raw + 4 * k, LITHO_ORDER_BIG);
        guint32 want = make_ibm(x[k]) | (x[k] == 0 && signbit(x[k]) ? 0x80000000 : 0);
        if (got != want)
            g_error("%.9g -> %08x, nearest is %08x", x[k], got, want);
        if (fabs((double)back[k] - x[k]) > ldexp(fabs((double)x[k]), -21) + 1e-45)
            g_error("%.9g came back as %.9g", x[k], back[k]);
    }
}

#ifdef TEST_HAVE_SEGYIO
// --- libsegyio as oracle ----------------------------------------------------------------------

// Formats that libsegyio 1.8.3 reads, both ways: it reads what the generator made as we do, and
// reads what we wrote as it was meant.
static void test_oracle(void)
{
    static const int formats[] = {1, 2, 3, 5, 8};
    for (guint k = 0; k < G_N_ELEMENTS(formats); k++) {
        Make make = make_plain();
        make.format = formats[k];
        g_autoptr(GByteArray) file = make_file(&make);
        g_autofree char *in = put_file("oracle.sgy", file), *out = in_folder("oracle-out.sgy");
        g_autoptr(LithoCube) cube = load(in, NULL);
        LithoSurvey *survey = g_steal_pointer(&cube->survey);
        // Written with headers of our own, from the grid alone.
        save(cube, out, &(LithoSaveOptions){.force = TRUE, .format = formats[k]});
        cube->survey = survey;
        const char *paths[] = {in, out};
        for (int p = 0; p < 2; p++) {
            segy_file *fp = segy_open(paths[p], "rb");
            char header[240], binary[400];
            g_assert_nonnull(fp);
            g_assert_cmpint(segy_binheader(fp, binary), ==, SEGY_OK);
            g_assert_cmpint(segy_format(binary), ==, formats[k]);
            g_assert_cmpint(segy_samples(binary), ==, make.ns);
            segy_set_format(fp, formats[k]);
            int bytes = segy_trsize(formats[k], make.ns), traces = 0;
            g_assert_cmpint(segy_traces(fp, &traces, segy_trace0(binary), bytes), ==, SEGY_OK);
            g_assert_cmpint(traces, ==, 20);
            float dt;
            segy_sample_interval(fp, 0, &dt);
            g_assert_cmpfloat(dt, ==, 4000);
            guint8 *raw = g_malloc(4 * make.ns);
            for (int n = 0; n < 20; n++) {
                gint32 il, xl;
                segy_traceheader(fp, n, header, segy_trace0(binary), bytes);
                segy_get_field(header, SEGY_TR_INLINE, &il);
                segy_get_field(header, SEGY_TR_CROSSLINE, &xl);
                g_assert_cmpint(il, ==, 100 + n / 5);
                g_assert_cmpint(xl, ==, 300 + n % 5);
                segy_readtrace(fp, n, raw, segy_trace0(binary), bytes);
                segy_to_native(formats[k], make.ns, raw);
                const float *ours = litho_cube_trace(cube, n / 5, n % 5);
                for (int q = 0; q < make.ns; q++) {
                    float theirs = formats[k] == 2   ? (float)((gint32 *)raw)[q]
                                   : formats[k] == 3 ? (float)((gint16 *)raw)[q]
                                   : formats[k] == 8 ? (float)((gint8 *)raw)[q]
                                                     : ((float *)raw)[q];
                    g_assert_cmpfloat(theirs, ==, ours[q]);
                }
            }
            g_free(raw);
            segy_close(fp);
        }
    }
}
#else
static void test_oracle(void)
{
    g_test_skip("built without libsegyio");
}
#endif

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    folder = g_dir_make_tmp("litho-files-XXXXXX", NULL);
    g_test_add_func("/files/identity", test_identity);
    g_test_add_func("/files/swapped-and-back", test_swapped_and_back);
    g_test_add_func("/files/note-and-trailer", test_note_and_trailer);
    g_test_add_func("/files/changed-axis", test_changed_axis);
    g_test_add_func("/files/missing", test_missing);
    g_test_add_func("/files/bare-grid", test_bare_grid);
    g_test_add_func("/files/npy-types", test_npy_types);
    g_test_add_func("/files/bare-depths", test_bare_depths);
    g_test_add_func("/files/rsf-assumed-bins", test_rsf_assumed_bins);
    g_test_add_func("/files/long-traces", test_long_traces);
    g_test_add_func("/files/target", test_target);
    g_test_add_func("/files/slabs", test_slabs);
    g_test_add_func("/files/on-disk", test_on_disk);
    g_test_add_func("/files/changed", test_changed);
    g_test_add_func("/files/clipping", test_clipping);
    g_test_add_func("/files/axes-that-are-lost", test_axes_that_are_lost);
    g_test_add_func("/files/nothing-left", test_nothing_left);
    g_test_add_func("/files/ibm", test_ibm);
    g_test_add_func("/files/oracle", test_oracle);
    int status = g_test_run();
    test_remove_folder(folder);
    return status;
}
