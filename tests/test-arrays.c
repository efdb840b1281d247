// SPDX-License-Identifier: GPL-3.0-or-later
// HDF5 and netCDF cubes: written here with the libraries, read back by any box, refused when
// damaged.
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "core/cube.h"
#include "core/error.h"
#include "core/io/survey.h"

#if defined LITHO_HAVE_HDF5 && defined LITHO_HAVE_NETCDF
#include <hdf5.h>
#include <netcdf.h>

enum { N1 = 7, N2 = 9, N3 = 33 };

static char *folder;

static float value(gint64 i, gint64 j, gint64 k)
{
    return (float)(i * 1000 + j * 40 + k);
}

static float *make_samples(void)
{
    float *x = g_new(float, N1 *N2 *N3);
    for (int c = 0; c < N1 * N2 * N3; c++)
        x[c] = value(c / (N2 * N3), c / N3 % N2, c % N3);
    return x;
}

static char *in_folder(const char *name)
{
    return g_build_filename(folder, name, NULL);
}

// chunk[0] = 0: contiguous.
static void write_hdf5(const char *path, hid_t type, const hsize_t chunk[3], gboolean second,
                       gboolean packed)
{
    const hsize_t size[3] = {N1, N2, N3}, small[3] = {2, 2, 2};
    g_autofree float *x = make_samples();
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t layout = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(3, size, NULL);
    if (chunk[0]) {
        H5Pset_chunk(layout, 3, chunk);
        if (packed) {
            H5Pset_shuffle(layout);
            H5Pset_deflate(layout, 4);
            H5Pset_fletcher32(layout);
        }
    }
    const hid_t group = H5Gcreate2(file, "survey", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t set = H5Dcreate2(group, "cube", type, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    g_assert_cmpint(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, x), >=, 0);
    if (second) {
        const hid_t less = H5Screate_simple(3, small, NULL);
        H5Dclose(H5Dcreate2(file, "a", type, less, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        H5Sclose(less);
    }
    H5Dclose(set);
    H5Gclose(group);
    H5Sclose(space);
    H5Pclose(layout);
    H5Fclose(file);
}

static LithoSurvey *open_file(const char *path, GError **error)
{
    const char *const paths[] = {path, NULL};
    return litho_survey_open(paths, NULL, NULL, error);
}

static void check_box(LithoSurvey *survey, LithoBox box)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) cube = litho_survey_read(survey, &box, NULL, &error);
    g_assert_no_error(error);
    const float *x = cube->samples;
    for (gint64 i = box.lo[0]; i < box.hi[0]; i++)
        for (gint64 j = box.lo[1]; j < box.hi[1]; j++)
            for (gint64 k = box.lo[2]; k < box.hi[2]; k++, x++)
                g_assert_cmpfloat(*x, ==, value(i, j, k));
}

static void check_boxes(const char *path, const char *format)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoSurvey) survey = open_file(path, &error);
    g_assert_no_error(error);
    g_assert_nonnull(strstr(litho_survey_format(survey), format));
    const LithoGrid *grid = litho_survey_grid(survey);
    g_assert_cmpint(grid->axis[0].n, ==, N1);
    g_assert_cmpint(grid->axis[1].n, ==, N2);
    g_assert_cmpint(grid->axis[2].n, ==, N3);
    check_box(survey, litho_box_full(grid));
    check_box(survey, litho_box_slice(grid, LITHO_XLINE, 4));
    check_box(survey, litho_box_slice(grid, LITHO_SAMPLE, N3 - 1));
    check_box(survey, (LithoBox){{2, 3, 5}, {6, 8, 30}});
}

// Property: whatever the type and the chunks, any box holds the samples that were written.
static void test_hdf5(void)
{
    static const hsize_t chunks[][3] = {{0, 0, 0}, {1, N2, N3}, {4, 4, 16}, {N1, 1, 1}};
    g_autofree char *path = in_folder("cube.dat"); // told by its first bytes, not by its name
    for (guint k = 0; k < G_N_ELEMENTS(chunks); k++) {
        write_hdf5(path, H5T_IEEE_F32BE, chunks[k], FALSE, FALSE);
        check_boxes(path, "HDF5, array /survey/cube");
    }
    for (guint k = 1; k < G_N_ELEMENTS(chunks); k++) { // packed by the library's own filters
        write_hdf5(path, k == 1 ? H5T_STD_I32BE : H5T_IEEE_F32BE, chunks[k], FALSE, TRUE);
        check_boxes(path, "HDF5, array /survey/cube");
    }
    write_hdf5(path, H5T_STD_I16LE, chunks[2], TRUE, FALSE);
    check_boxes(path, "HDF5");
    write_hdf5(path, H5T_IEEE_F64LE, chunks[0], FALSE, FALSE);
    check_boxes(path, "HDF5");
}

static void put_axis(int file, const char *name, int dimension, int n, double first, double step,
                     const char *unit)
{
    int v;
    g_autofree double *x = g_new(double, n);
    for (int k = 0; k < n; k++)
        x[k] = first + k * step;
    nc_def_var(file, name, NC_DOUBLE, 1, &dimension, &v);
    if (unit)
        nc_put_att_text(file, v, "units", strlen(unit), unit);
    nc_enddef(file);
    nc_put_var_double(file, v, x);
    nc_redef(file);
}

// Dimensions `names` with coordinates; sample (2, 3, all) is the fill value.
static void write_netcdf(const char *path, int mode, const char *const names[3], gboolean deflate)
{
    const int n[3] = {N1, N2, N3};
    int file, dimension[3], v;
    const float fill = -9999;
    g_autofree float *x = make_samples();
    for (int k = 0; k < N3; k++)
        x[(2 * N2 + 3) * N3 + k] = fill;
    g_assert_cmpint(nc_create(path, mode | NC_CLOBBER, &file), ==, NC_NOERR);
    for (int k = 0; k < 3; k++)
        nc_def_dim(file, names[k], n[k], &dimension[k]);
    nc_def_var(file, "data", NC_FLOAT, 3, dimension, &v);
    nc_put_att_float(file, v, "_FillValue", NC_FLOAT, 1, &fill);
    if (deflate)
        nc_def_var_deflate(file, v, 1, 1, 3);
    nc_enddef(file);
    g_assert_cmpint(nc_put_var_float(file, v, x), ==, NC_NOERR);
    nc_redef(file);
    put_axis(file, names[0], dimension[0], n[0], 1000, 2, NULL);
    put_axis(file, names[1], dimension[1], n[1], 300, 1, NULL);
    put_axis(file, names[2], dimension[2], n[2], 100, 2, "ms");
    g_assert_cmpint(nc_close(file), ==, NC_NOERR);
}

// Property: axes come from the coordinates, traces of the fill value are missing.
static void test_netcdf(void)
{
    static const char *const names[] = {"iline", "xline", "twt"};
    static const int modes[] = {0, NC_64BIT_OFFSET, NC_CDF5, NC_NETCDF4, NC_NETCDF4};
    g_autofree char *path = in_folder("cube.nc");
    for (guint m = 0; m < G_N_ELEMENTS(modes); m++) {
        g_autoptr(GError) error = NULL;
        write_netcdf(path, modes[m], names, m == G_N_ELEMENTS(modes) - 1);
        g_autoptr(LithoSurvey) survey = open_file(path, &error);
        g_assert_no_error(error);
        const LithoGrid *grid = litho_survey_grid(survey);
        g_assert_cmpfloat(grid->axis[0].first, ==, 1000);
        g_assert_cmpfloat(grid->axis[0].step, ==, 2);
        g_assert_cmpfloat(grid->axis[1].first, ==, 300);
        g_assert_cmpfloat_with_epsilon(grid->axis[2].first, 0.1, 1e-12);
        g_assert_cmpfloat_with_epsilon(grid->axis[2].step, 0.002, 1e-12);
        g_assert_false(grid->is_depth);
        g_autoptr(LithoCube) cube = litho_survey_read(survey, NULL, NULL, &error);
        g_assert_no_error(error);
        for (int c = 0; c < N1 * N2; c++) {
            g_assert_cmpint(cube->live[c], ==, c != 2 * N2 + 3);
            if (cube->live[c])
                g_assert_cmpfloat(cube->samples[c * N3 + 5], ==, value(c / N2, c % N2, 5));
        }
        check_box(survey, (LithoBox){{3, 1, 7}, {N1, 8, 20}});
    }
}

static void assert_refused(const char *path, const char *words)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoSurvey) survey = open_file(path, &error);
    g_autoptr(LithoCube) cube = survey ? litho_survey_read(survey, NULL, NULL, &error) : NULL;
    g_assert_null(cube);
    g_assert_nonnull(error);
    if (!strstr(error->message, words))
        g_error("'%s' does not say '%s'", error->message, words);
}

// Packed by a filter that is not read.
static void write_scaled(const char *path)
{
    static const hsize_t size[3] = {N1, N2, N3}, chunk[3] = {4, 4, 16};
    g_autofree float *x = make_samples();
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t layout = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(3, size, NULL);
    H5Pset_chunk(layout, 3, chunk);
    H5Pset_scaleoffset(layout, H5Z_SO_FLOAT_DSCALE, 2);
    const hid_t set =
        H5Dcreate2(file, "cube", H5T_IEEE_F32LE, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, x);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(layout);
    H5Fclose(file);
}

static void test_shapes(void)
{
    static const char *const turned[] = {"twt", "iline", "xline"};
    static const hsize_t flat[1] = {50}, huge[3] = {1u << 20, 1u << 20, 1u << 20},
                         chunk[3] = {1, 1 << 15, 1 << 14}, wide[3] = {4, 1 << 15, 1 << 14};
    g_autofree char *nc = in_folder("turned.nc"), *h5 = in_folder("odd.h5");
    write_netcdf(nc, 0, turned, FALSE);
    assert_refused(nc, "transpose");
    write_scaled(h5);
    assert_refused(h5, "the filter scale-offset (6), which is not read");
    // A list of numbers is no cube; a header may promise more than there is room for.
    hid_t file = H5Fcreate(h5, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, flat, NULL);
    H5Dclose(H5Dcreate2(file, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
    H5Fclose(file);
    assert_refused(
        h5, "three dimensions; (inline, crossline, sample) is needed, found: /x (50 numbers)");
    for (int k = 0; k < 2; k++) {
        file = H5Fcreate(h5, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        space = H5Screate_simple(3, k ? wide : huge, NULL);
        const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_chunk(layout, 3, chunk);
        H5Dclose(H5Dcreate2(file, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT, layout, H5P_DEFAULT));
        H5Pclose(layout);
        H5Sclose(space);
        H5Fclose(file);
        assert_refused(h5, "GiB");
    }
}

// Property: a file with any part overwritten or cut off is read or refused, and nothing else.
static void test_damage(void)
{
    static const char *const names[] = {"iline", "xline", "twt"};
    static const hsize_t chunk[3] = {4, 4, 16};
    g_autofree char *h5 = in_folder("sound.h5"), *nc = in_folder("sound.nc"),
                    *nc4 = in_folder("sound.nc4"), *bad = in_folder("bad"),
                    *packed = in_folder("packed.h5"), *packed4 = in_folder("packed.nc4");
    write_hdf5(h5, H5T_IEEE_F32LE, chunk, FALSE, FALSE);
    write_netcdf(nc, 0, names, FALSE);
    write_netcdf(nc4, NC_NETCDF4, names, FALSE);
    write_hdf5(packed, H5T_IEEE_F32LE, chunk, FALSE, TRUE);
    write_netcdf(packed4, NC_NETCDF4, names, TRUE);
    const char *const sound[] = {h5, nc, nc4, packed, packed4};
    guint refused = 0, tried = 0;
    for (guint f = 0; f < G_N_ELEMENTS(sound); f++) {
        g_autofree char *data = NULL;
        gsize length;
        g_assert_true(g_file_get_contents(sound[f], &data, &length, NULL));
        g_autoptr(GRand) rand = g_rand_new_with_seed(f + 1);
        for (int k = 0; k < 100; k++) {
            g_autofree char *copy = g_memdup2(data, length);
            gsize n = length;
            if (k % 3 == 0)
                n = 8 + (gsize)g_rand_int_range(rand, 0, (int)length - 8);
            else // most of the first bytes are headers
                for (int b = 0; b < 4; b++)
                    copy[8 + g_rand_int_range(rand, 0, (int)MIN(length, 2500) - 8)] =
                        (char)g_rand_int_range(rand, 0, 256);
            g_assert_true(g_file_set_contents_full(bad, copy, (gssize)n, G_FILE_SET_CONTENTS_NONE,
                                                   0600, NULL));
            g_autoptr(GError) error = NULL;
            g_autoptr(LithoSurvey) survey = open_file(bad, &error);
            g_autoptr(LithoCube) cube =
                survey ? litho_survey_read(survey, NULL, NULL, &error) : NULL;
            g_assert_true(cube || error);
            refused += !cube;
            tried++;
        }
    }
    g_test_message("%u of %u damaged files were refused", refused, tried);
    g_assert_cmpuint(refused, >, tried / 6);
}

// The whole survey in a file, which is to be read without an error.
static LithoCube *read_whole(const char *path)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoSurvey) survey = open_file(path, &error);
    g_assert_no_error(error);
    LithoCube *cube = litho_survey_read(survey, NULL, NULL, &error);
    g_assert_no_error(error);
    return cube;
}

// Property: a flipped bit under a checksum is refused, and samples that were never written are what
// the file says they are: here the value of missing ones.
static void test_checksum_and_fill(void)
{
    const hsize_t size[3] = {8, 8, 32}, chunk[3] = {4, 4, 16}, half[3] = {4, 8, 32};
    const hsize_t start[3] = {0, 0, 0};
    const float fill = 1e30f, mark = 12345.678f;
    float x[4 * 8 * 32];
    g_autofree char *path = in_folder("checked.h5");
    for (guint k = 0; k < G_N_ELEMENTS(x); k++)
        x[k] = mark;
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(3, size, NULL), memory = H5Screate_simple(3, half, NULL);
    H5Pset_chunk(layout, 3, chunk);
    H5Pset_fletcher32(layout);
    H5Pset_fill_value(layout, H5T_NATIVE_FLOAT, &fill);
    const hid_t set =
        H5Dcreate2(file, "cube", H5T_IEEE_F32LE, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, half, NULL);
    g_assert_cmpint(H5Dwrite(set, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, x), >=, 0);
    H5Dclose(set);
    H5Sclose(memory);
    H5Sclose(space);
    H5Pclose(layout);
    H5Fclose(file);
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) cube = read_whole(path);
    for (int i = 0; i < 8; i++) {
        g_assert_cmpint(litho_cube_is_live(cube, i, 3), ==, i < 4);
        g_assert_cmpfloat(litho_cube_trace(cube, i, 3)[20], ==, i < 4 ? mark : 0);
    }
    g_autofree char *data = NULL;
    gsize length, at = 0;
    g_assert_true(g_file_get_contents(path, &data, &length, NULL));
    while (at + sizeof mark < length && memcmp(data + at, &mark, sizeof mark) != 0)
        at++;
    g_assert_cmpuint(at + 400, <, length);
    data[at + 400] ^= 1;
    g_assert_true(g_file_set_contents(path, data, (gssize)length, &error));
    g_autoptr(LithoSurvey) damaged = open_file(path, &error);
    g_assert_no_error(error);
    g_autoptr(LithoCube) refused = litho_survey_read(damaged, NULL, NULL, &error);
    g_assert_null(refused);
    g_assert_nonnull(strstr(error->message, "cannot be unpacked"));
}

// --- attributes ---------------------------------------------------------------------------------

// Numbers 0, 1, 2... as int16 or bytes; attributes come from `put`.
static void write_stored(const char *path, int mode, nc_type type, void (*put)(int file, int v))
{
    static const char *const names[] = {"iline", "xline", "twt"};
    const int n[3] = {2, 3, 40};
    short x[240];
    int file, dimension[3], v;
    for (int k = 0; k < 240; k++)
        x[k] = (short)(type == NC_BYTE && k > 127 ? k - 256 : k);
    g_assert_cmpint(nc_create(path, mode | NC_CLOBBER, &file), ==, NC_NOERR);
    for (int k = 0; k < 3; k++)
        nc_def_dim(file, names[k], n[k], &dimension[k]);
    nc_def_var(file, "data", type, 3, dimension, &v);
    put(file, v);
    nc_enddef(file);
    g_assert_cmpint(nc_put_var_short(file, v, x), ==, NC_NOERR);
    g_assert_cmpint(nc_close(file), ==, NC_NOERR);
}

static void put_packed(int file, int v)
{
    const double scale = 0.5, offset = -7;
    const short fill = 41, more[2] = {43, 45};
    nc_put_att_double(file, v, "scale_factor", NC_DOUBLE, 1, &scale);
    nc_put_att_double(file, v, "add_offset", NC_DOUBLE, 1, &offset);
    nc_put_att_short(file, v, "_FillValue", NC_SHORT, 1, &fill);
    nc_put_att_short(file, v, "missing_value", NC_SHORT, 2, more);
}

static void put_unsigned(int file, int v)
{
    nc_put_att_text(file, v, "_Unsigned", 4, "true");
}

static void put_zero_scale(int file, int v)
{
    const double scale = 0;
    nc_put_att_double(file, v, "scale_factor", NC_DOUBLE, 1, &scale);
}

static void put_text_scale(int file, int v)
{
    nc_put_att_text(file, v, "scale_factor", 4, "half");
}

static void put_two_offsets(int file, int v)
{
    const float offset[2] = {1, 2};
    nc_put_att_float(file, v, "add_offset", NC_FLOAT, 2, offset);
}

// Bounds of stored numbers.
static void put_range(int file, int v)
{
    const short range[2] = {40, 199};
    nc_put_att_short(file, v, "valid_range", NC_SHORT, 2, range);
}

// Bounds of samples, which fall where stored numbers rise.
static void put_sample_range(int file, int v)
{
    const double scale = -0.1, offset = 3, least = -16.9, most = -1;
    nc_put_att_double(file, v, "scale_factor", NC_DOUBLE, 1, &scale);
    nc_put_att_double(file, v, "add_offset", NC_DOUBLE, 1, &offset);
    nc_put_att_double(file, v, "valid_min", NC_DOUBLE, 1, &least);
    nc_put_att_double(file, v, "valid_max", NC_DOUBLE, 1, &most);
}

// Bounds of unsigned numbers, given as the bytes they are stored in.
static void put_unsigned_range(int file, int v)
{
    const signed char range[2] = {40, (signed char)199};
    nc_put_att_text(file, v, "_Unsigned", 4, "true");
    nc_put_att_schar(file, v, "valid_range", NC_BYTE, 2, range);
}

static void put_turned_range(int file, int v)
{
    const short range[2] = {199, 40};
    nc_put_att_short(file, v, "valid_range", NC_SHORT, 2, range);
}

static void put_many_fills(int file, int v) // under a name that the library does not know
{
    short fill[256] = {0};
    nc_put_att_short(file, v, "_FillValuX", NC_SHORT, 256, fill);
}

static void check_stored(const char *path, gboolean is_packed)
{
    g_autoptr(LithoCube) cube = read_whole(path);
    for (int k = 0; k < 240; k++) {
        const gboolean is_missing = is_packed && (k == 41 || k == 43 || k == 45);
        // One missing sample masks its trace.
        g_assert_cmpint(cube->live[k / 40], ==, !(is_packed && k / 40 == 1));
        if (cube->live[k / 40] && !is_missing)
            g_assert_cmpfloat(cube->samples[k], ==, is_packed ? 0.5f * k - 7 : k);
    }
}

// Numbers 40 to 199 are valid: of six traces the first and the last are masked.
static void check_range(const char *path, gboolean is_packed)
{
    g_autoptr(LithoCube) cube = read_whole(path);
    for (int k = 0; k < 240; k++) {
        g_assert_cmpint(cube->live[k / 40], ==, k >= 40 && k < 200);
        if (cube->live[k / 40])
            g_assert_cmpfloat_with_epsilon(cube->samples[k], is_packed ? 3 - 0.1 * k : k, 1e-5);
    }
}

// Property: numbers outside of the bounds that the file gives stand for no sample, in the stored
// numbers' units and in those of the samples, by netCDF and by HDF5 alone.
static void test_bounds(void)
{
    static const int modes[] = {0, NC_CDF5, NC_NETCDF4};
    g_autofree char *path = in_folder("bounds.nc");
    for (guint m = 0; m < G_N_ELEMENTS(modes); m++) {
        write_stored(path, modes[m], NC_SHORT, put_range);
        check_range(path, FALSE);
        write_stored(path, modes[m], NC_SHORT, put_sample_range);
        check_range(path, TRUE);
        write_stored(path, modes[m], NC_BYTE, put_unsigned_range);
        check_range(path, FALSE);
        write_stored(path, modes[m], NC_SHORT, put_turned_range);
        assert_refused(path, "valid_range of data is 199 and 40; two numbers, the lower one first");
    }
    write_stored(path, NC_NETCDF4, NC_SHORT, put_sample_range);
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    H5Adelete(file, "_NCProperties"); // plain HDF5 from here on
    H5Fclose(file);
    check_range(path, TRUE);
}

// Property: samples are what the attributes make of the stored numbers, by netCDF and by HDF5
// alone; attributes that make no sense are refused with what was found.
static void test_attributes(void)
{
    static const int modes[] = {0, NC_CDF5, NC_NETCDF4};
    static const struct {
        void (*put)(int file, int v);
        const char *words;
    } odd[] = {{put_zero_scale, "scale_factor of data is 0; one number other than 0"},
               {put_text_scale, "scale_factor of data is 'half'"},
               {put_two_offsets, "add_offset of data is 1 and 2; one number"}};
    g_autofree char *path = in_folder("stored.nc");
    for (guint m = 0; m < G_N_ELEMENTS(modes); m++) {
        write_stored(path, modes[m], NC_SHORT, put_packed);
        check_stored(path, TRUE);
        write_stored(path, modes[m], NC_BYTE, put_unsigned);
        check_stored(path, FALSE);
        for (guint k = 0; k < G_N_ELEMENTS(odd); k++) {
            write_stored(path, modes[m], NC_SHORT, odd[k].put);
            assert_refused(path, odd[k].words);
        }
    }
    write_stored(path, NC_NETCDF4, NC_SHORT, put_packed);
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    H5Adelete(file, "_NCProperties"); // plain HDF5 from here on
    H5Fclose(file);
    check_stored(path, TRUE);
    // More fill values than one overran the reader's place for it.
    gsize length, at = 0;
    g_autofree char *data = NULL;
    write_stored(path, 0, NC_SHORT, put_many_fills);
    g_assert_true(g_file_get_contents(path, &data, &length, NULL));
    while (at + 10 < length && memcmp(data + at, "_FillValuX", 10) != 0)
        at++;
    g_assert_cmpuint(at + 10, <, length);
    data[at + 9] = 'e';
    g_assert_true(g_file_set_contents(path, data, (gssize)length, NULL));
    assert_refused(path, "_FillValue of data is 256 numbers");
}

// Property: a classic file that is cut off is refused, also where its first bytes would hold the
// cube; the netCDF library reads zeros there.
static void test_cut(void)
{
    static const int modes[] = {0, NC_64BIT_OFFSET, NC_CDF5};
    const size_t n[4] = {NC_UNLIMITED, 5, 50, 4000}, start[3] = {0, 0, 0}, count[3] = {6, 5, 50};
    g_autofree char *path = in_folder("cut.nc");
    float x[1500];
    double coordinates[4000] = {0};
    for (int k = 0; k < 1500; k++)
        x[k] = (float)(k + 1);
    for (guint m = 0; m < 2 * G_N_ELEMENTS(modes); m++) {
        int file, dimension[4], first, v;
        nc_create(path, modes[m / 2] | NC_CLOBBER, &file);
        for (int k = 0; k < 4; k++) {
            g_autofree char *name = g_strdup_printf("d%d", k);
            nc_def_dim(file, name, k == 0 && m % 2 ? 6 : n[k], &dimension[k]);
        }
        nc_def_var(file, "first", NC_DOUBLE, 1, &dimension[3], &first);
        nc_def_var(file, "data", NC_FLOAT, 3, dimension, &v);
        nc_enddef(file);
        nc_put_var_double(file, first, coordinates);
        g_assert_cmpint(nc_put_vara_float(file, v, start, count, x), ==, NC_NOERR);
        g_assert_cmpint(nc_close(file), ==, NC_NOERR);
        g_autoptr(GError) error = NULL;
        g_autoptr(LithoSurvey) survey = open_file(path, &error);
        g_assert_no_error(error);
        GStatBuf info;
        g_assert_cmpint(g_stat(path, &info), ==, 0);
        g_assert_cmpint(truncate(path, info.st_size - 4), ==, 0);
        assert_refused(path, "cut off");
    }
}

// --- where the array lies -----------------------------------------------------------------------

static void write_set(hid_t place, const char *name, hid_t layout)
{
    const hsize_t size[3] = {N1, N2, N3};
    g_autofree float *x = make_samples();
    const hid_t space = H5Screate_simple(3, size, NULL);
    const hid_t set =
        H5Dcreate2(place, name, H5T_IEEE_F32LE, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    g_assert_cmpint(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, x), >=, 0);
    H5Dclose(set);
    H5Sclose(space);
}

// Property: the array is found in groups of netCDF, behind bytes of another program and in the
// file's own headers; samples in other files and groups without end are refused in a sentence.
static void test_places(void)
{
    g_autofree char *path = in_folder("places.h5"), *other = in_folder("other.raw");
    hid_t layout = H5Pcreate(H5P_DATASET_CREATE), create = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_userblock(create, 1024);
    H5Pset_layout(layout, H5D_COMPACT);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, create, H5P_DEFAULT);
    write_set(file, "cube", layout);
    H5Fclose(file);
    check_boxes(path, "HDF5");
    H5Pclose(layout);
    H5Pclose(create);

    layout = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(layout, other, 0, H5F_UNLIMITED);
    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    write_set(file, "cube", layout);
    H5Fclose(file);
    H5Pclose(layout);
    assert_refused(path, "keeps its samples in another file");

    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t group = H5Gopen2(file, "/", H5P_DEFAULT);
    for (int k = 0; k < 1000; k++) { // the library's own walk takes a minute for these
        const hid_t next = H5Gcreate2(group, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Gclose(group);
        group = next;
    }
    write_set(group, "cube", H5P_DEFAULT);
    H5Gclose(group);
    H5Fclose(file);
    assert_refused(path, "found: no array, and groups more than 32 levels deep");

    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    group = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    write_set(group, "cube", H5P_DEFAULT);
    H5Lcreate_hard(file, "/g", group, "again", H5P_DEFAULT, H5P_DEFAULT); // round and round
    H5Gclose(group);
    H5Fclose(file);
    check_boxes(path, "HDF5");

    int nc, inner, dimension[3], v;
    g_autofree float *x = make_samples();
    nc_create(path, NC_NETCDF4 | NC_CLOBBER, &nc);
    nc_def_grp(nc, "inner", &inner);
    nc_def_dim(inner, "iline", N1, &dimension[0]);
    nc_def_dim(inner, "xline", N2, &dimension[1]);
    nc_def_dim(inner, "twt", N3, &dimension[2]);
    nc_def_var(inner, "data", NC_FLOAT, 3, dimension, &v);
    g_assert_cmpint(nc_put_var_float(inner, v, x), ==, NC_NOERR);
    nc_close(nc);
    check_boxes(path, "HDF5");
}

// Property: a file that changes after it was opened is no mixture of both.
static void test_change(void)
{
    static const hsize_t whole[3] = {0, 0, 0};
    g_autofree char *path = in_folder("changing.h5");
    g_autoptr(GError) error = NULL;
    write_hdf5(path, H5T_IEEE_F32LE, whole, FALSE, FALSE);
    g_autoptr(LithoSurvey) survey = open_file(path, &error);
    g_assert_no_error(error);
    FILE *file = g_fopen(path, "ab");
    fputc(0, file);
    fclose(file);
    g_autoptr(LithoCube) cube = litho_survey_read(survey, NULL, NULL, &error);
    g_assert_null(cube);
    g_assert_nonnull(strstr(error->message, "changed"));
}

static void remove_folder(void)
{
    GDir *dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *path = in_folder(name);
        g_unlink(path);
    }
    if (dir)
        g_dir_close(dir);
    g_rmdir(folder);
    g_free(folder);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    folder = g_dir_make_tmp("litho-arrays-XXXXXX", NULL);
    g_test_add_func("/arrays/hdf5", test_hdf5);
    g_test_add_func("/arrays/checksum-and-fill", test_checksum_and_fill);
    g_test_add_func("/arrays/netcdf", test_netcdf);
    g_test_add_func("/arrays/shapes", test_shapes);
    g_test_add_func("/arrays/attributes", test_attributes);
    g_test_add_func("/arrays/bounds", test_bounds);
    g_test_add_func("/arrays/cut", test_cut);
    g_test_add_func("/arrays/places", test_places);
    g_test_add_func("/arrays/damage", test_damage);
    g_test_add_func("/arrays/change", test_change);
    const int status = g_test_run();
    remove_folder();
    return status;
}
#else
static void test_without(void)
{
    g_test_skip("built without the HDF5 or the netCDF library");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/arrays/without", test_without);
    return g_test_run();
}
#endif
