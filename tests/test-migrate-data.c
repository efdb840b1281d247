// SPDX-License-Identifier: GPL-3.0-or-later
//
// Depth migration of data that was not made by its own operator: modelled by finite differences,
// placed by trace headers, and through the Marmousi model.
#include "core/synth/synth.h"
#include "tests/migrate_helpers.h"
#include "tests/segy_make.h"
#include "tests/common.h"

// --- generated data ----------------------------------------------------------------------------

// The generator "models" with these settings; NULL with `error` where it refuses.
static LithoCube *try_models(const char *settings, LithoCube **velocity, GError **error)
{
    const LithoSynth *synth = litho_synth_find("models");
    g_autofree void *params = g_malloc0(synth->params.size);
    litho_param_defaults(&synth->params, params);
    g_auto(GStrv) words = g_strsplit(settings, " ", -1);
    for (int k = 0; words[k]; k++) {
        char *eq = strchr(words[k], '=');
        *eq = 0;
        g_assert_true(litho_param_parse(&synth->params, params, words[k], eq + 1, NULL));
    }
    LithoCube *cube = NULL;
    synth->make(params, NULL, &cube, NULL, velocity, error);
    return cube;
}

static char *save_scratch(const LithoCube *cube, const char *name)
{
    LithoSaveOptions save = {.force = TRUE};
    char *path = scratch_path(name);
    g_assert_true(litho_cube_save(cube, path, &save, NULL, NULL));
    return path;
}

// A record of the generator "models" and its velocity, the latter written to a file.
static LithoCube *generated(const char *settings, char **velocity_path)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) velocity = NULL;
    LithoCube *cube = try_models(settings, &velocity, &error);
    g_assert_no_error(error);
    *velocity_path = save_scratch(velocity, "litho-test-model.npy");
    return cube;
}

// Time (s) of a trace's largest magnitude.
static double peak_time(const LithoCube *cube, gint64 inl, gint64 xl)
{
    const float *trace = litho_cube_trace(cube, inl, xl);
    gint64 at = 0;
    for (gint64 k = 1; k < cube->grid.axis[2].n; k++)
        if (fabsf(trace[k]) > fabsf(trace[at]))
            at = k;
    return at * cube->grid.axis[2].step;
}

// Property: a slow lens delays what passes it, as the slowness along the vertical says: 30 % in
// its middle is 77 ms of two-way time here. 15 ms: the wave takes ways around the middle, too.
// Beside it nothing is delayed (4 ms, a sample), and the record of a shot holds the reflection
// alone: before it there is 2 % at most, the direct wave's remainder.
static void test_lens(void)
{
    const double z = 1000, v = 2000;
    double slow = 0;
    for (int k = 0; k < 1000; k++) {
        const double c = ((k + 0.5) * z / 1000 - 0.45 * z) / (0.15 * z);
        slow += 2 * z / 1000 * (1 / (1 - 0.3 * exp(-c * c)) - 1) / v;
    }
    g_autofree char *path = NULL;
    g_autoptr(LithoCube) stack = generated("model=lens inlines=1 xlines=161 samples=300 depths=60 "
                                           "velocity=2000 depth=1000",
                                           &path);
    const double middle = peak_time(stack, 0, 80), aside = peak_time(stack, 0, 15);
    g_test_message("%.3f s in the middle, %.3f s aside; %.3f s more by the slowness", middle, aside,
                   slow);
    assert_below(fabs(middle - aside - slow), 0.015);
    assert_below(fabs(aside - 2 * z / v), 0.005);
    g_unlink(path);
    g_autofree char *second = NULL;
    g_autoptr(LithoCube) shot = generated("record=shot model=lens inlines=1 xlines=161 samples=300 "
                                          "depths=60 velocity=2000 depth=1000 source_x=1600 "
                                          "source_y=0",
                                          &second);
    float before = 0, most = 0;
    for (gint64 k = 0; k < 300; k++) {
        float *side = k * 0.004 < 0.85 ? &before : &most;
        *side = fmaxf(*side, fabsf(litho_cube_trace(shot, 0, 80)[k]));
    }
    assert_below(before, 0.02 * most);
    g_unlink(second);
}

// Property: the demonstration that the operator names focuses: its points come to their depths
// (10 m: half a cell), which another velocity misses.
static void test_demo(void)
{
    const LithoDemo *demo = litho_operator_migrate.demo;
    g_assert_cmpstr(demo->survey, ==, "models model=diffractors");
    g_autofree char *path = NULL;
    g_autoptr(LithoCube) in = generated("model=diffractors inlines=1", &path);
    g_autofree char *settings = g_strdup_printf("%s dz=10 nz=120", demo->settings);
    g_autoptr(LithoCube) image = migrate(in, "%s", settings);
    const double found = peak_depth(image, 0, 32, 400, 800, NULL);
    g_test_message("%.1f m, true 600 m", found);
    assert_below(fabs(found - 600), 10);
    g_unlink(path);
}

// Property: waves modelled by finite differences in time, which share nothing with the migration,
// come back to the depths of their model: flat, dipping under a velocity step, a trough whose
// record is a bow tie, and a shot. 0.2 dz (0.3 dz for the shot): the staircase of the model and
// dispersion.
static void test_generated(void)
{
    static const struct {
        const char *model;
        int trace;
        double depth;
    } known[] = {{"flat", 60, 600},
                 {"dipping", 60, 600},
                 {"dipping", 75, 600 + 300 * 0.36397},
                 {"syncline", 60, 720},
                 {"syncline", 15, 420}};
    for (guint k = 0; k < G_N_ELEMENTS(known); k++) {
        g_autofree char *settings =
            g_strdup_printf("model=%s inlines=1 xlines=121 samples=250 depth=600", known[k].model);
        g_autofree char *path = NULL;
        g_autoptr(LithoCube) in = generated(settings, &path);
        g_autoptr(LithoCube) image =
            migrate(in, "velocity=%s dz=20 nz=60 step=1 fmin=2 fmax=26 pad=30 dx=20 dy=20", path);
        double found =
            peak_depth(image, 0, known[k].trace, known[k].depth - 120, known[k].depth + 120, NULL);
        g_test_message("%s, trace %d: %.1f m, true %.1f m", known[k].model, known[k].trace, found,
                       known[k].depth);
        assert_below(fabs(found - known[k].depth), 4);
        g_unlink(path);
    }
    g_autofree char *path = NULL;
    g_autoptr(LithoCube) shot = generated("record=shot model=flat inlines=1 xlines=121 samples=250 "
                                          "depth=600 source_x=1200 source_y=0",
                                          &path);
    g_autoptr(LithoCube) image = migrate(shot,
                                         "mode=shot velocity=%s dz=20 nz=60 step=1 fmin=2 fmax=26 "
                                         "pad=30 source_x=1200 wavelet=8 dx=20 dy=20",
                                         path);
    double at = peak_depth(image, 0, 60, 480, 720, NULL),
           side = peak_depth(image, 0, 75, 480, 720, NULL);
    g_test_message("shot: %.1f m below it, %.1f m 300 m aside, true 600 m", at, side);
    assert_below(fabs(at - 600), 6);
    assert_below(fabs(side - at), 10);
    g_unlink(path);
}

static LithoCube *two_layers(double bin, int n, double dz, int nz, double depth)
{
    LithoGrid grid = time_grid(1, n, nz, bin, dz);
    grid.is_depth = TRUE;
    grid.xy_source = LITHO_FROM_COMPUTED; // an assumed spacing is not written
    g_strlcpy(grid.axis[LITHO_SAMPLE].unit, "m", sizeof grid.axis[LITHO_SAMPLE].unit);
    LithoCube *cube = litho_cube_new(&grid, NULL);
    for (int j = 0; j < n; j++)
        for (int k = 0; k < nz; k++)
            litho_cube_trace(cube, 0, j)[k] = k * dz < depth ? 2000 : 3000;
    return cube;
}

// Property: waves over a velocity cube from a file arrive when its interface, a ramp between two
// samples, says, and as strong as its reflection coefficient, whatever spacing the file has; one
// that states none has samples a cell apart. 1.5 ms and 5 %: dispersion at eight to twelve cells a
// wavelength. A sentence for what is no velocity.
static void test_velocity_file(void)
{
    g_autoptr(LithoCube) same = two_layers(10, 161, 10, 100, 600);
    g_autoptr(LithoCube) coarser = two_layers(40, 41, 20, 50, 600);
    g_autofree char *plain = save_scratch(same, "litho-test-rock.npy");
    g_autofree char *stated = save_scratch(coarser, "litho-test-rock.sgy");
    const struct {
        const char *path;
        double time; // ms, two-way: the slower half of the ramp is less than half of its time
    } files[] = {{plain, 594.5}, {stated, 588.9}};
    for (guint k = 0; k < G_N_ELEMENTS(files); k++) {
        g_autofree char *settings =
            g_strdup_printf("model=file file=%s cell=10 samples=200 wavelet=8", files[k].path);
        g_autoptr(GError) error = NULL;
        g_autoptr(LithoCube) velocity = NULL;
        g_autoptr(LithoCube) in = try_models(settings, &velocity, &error);
        g_assert_no_error(error);
        g_assert_cmpint(in->grid.axis[LITHO_XLINE].n, ==, 161);
        g_assert_cmpint(velocity->grid.axis[LITHO_SAMPLE].n, ==, 100);
        double peak = 0, at = 1000 * peak_depth(in, 0, 80, 0.45, 0.75, &peak);
        g_test_message("%s: %.1f ms, %.3f", files[k].path, at, peak);
        assert_below(fabs(at - files[k].time), 1.5);
        assert_below(fabs(peak / 0.2 - 1), 0.05);
    }
    litho_cube_trace(same, 0, 7)[11] = -1;
    g_autofree char *bad = save_scratch(same, "litho-test-rock.npy");
    g_autofree char *negative = g_strconcat("model=file file=", bad, NULL);
    const char *const refused[][2] = {{"model=file", "file=PATH"},
                                      {"model=file file=/nowhere.npy", "nowhere"},
                                      {negative, "crossline 8"}};
    for (guint k = 0; k < G_N_ELEMENTS(refused); k++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(try_models(refused[k][0], NULL, &error));
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, refused[k][1]));
    }
    g_unlink(bad);
    g_unlink(stated);
}

// Migrates the file by its headers and compares the image with `want`; gives the records.
static LithoCube *placed_image(const char *path, const LithoOpenOptions *options,
                               const LithoCube *want)
{
    g_autoptr(GError) error = NULL;
    LithoCube *in = litho_cube_load(path, options, NULL, &error);
    g_assert_no_error(error);
    g_autoptr(LithoCube) image =
        migrate(in,
                "mode=shot geometry=headers nx=%d ny=1 dx=12.5 dy=12.5 origin_x=5000 origin_y=7000 "
                "velocity=2000 dz=12.5 nz=30",
                (int)want->grid.axis[LITHO_XLINE].n);
    g_assert_cmpfloat(image->grid.origin[0], ==, 5000);
    assert_below(relative_difference(image, want), 1e-5);
    return in;
}

// Property: an image, written as SEG-Y, is read back with its lines and places, be its traces as
// many as the records' or not. The records' trace headers tell of shots and receivers elsewhere.
static void expect_lines(LithoCube *in, int nx, int ny)
{
    enum { NZ = 6 };
    const int y = 7000 - 50 * (ny / 2); // the records' line is the middle one
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) image =
        migrate(in,
                "mode=shot geometry=headers nx=%d ny=%d dx=25 dy=50 origin_x=5100 origin_y=%d "
                "velocity=2000 dz=12.5 nz=%d",
                nx, ny, y, NZ);
    LithoSaveOptions save = {.force = TRUE};
    g_autofree char *path = scratch_path("litho-test-lines.sgy");
    image->survey = litho_survey_ref(in->survey);
    litho_cube_save(image, path, &save, NULL, &error);
    g_assert_no_error(error);
    g_autoptr(LithoCube) read = litho_cube_load(path, NULL, NULL, &error);
    g_assert_no_error(error);
    const LithoGrid *g = &read->grid;
    g_assert_cmpint(g->axis[LITHO_INLINE].n, ==, ny);
    g_assert_cmpint(g->axis[LITHO_XLINE].n, ==, nx);
    g_assert_cmpint(g->axis[LITHO_SAMPLE].n, ==, NZ);
    g_assert_cmpfloat(g->origin[0], ==, 5100);
    g_assert_cmpfloat(g->origin[1], ==, y);
    g_assert_cmpfloat(g->xline_step[0], ==, 25);
    if (ny > 1) // one line says nothing of the next
        g_assert_cmpfloat(g->inline_step[1], ==, 50);
    assert_below(relative_difference(read, image), 1e-7);
    g_unlink(path);
}

// So many records of floats every 4 ms.
static Make make_records(int records, int traces, int samples)
{
    Make make = make_plain();
    make.format = 5;
    make.n1 = records;
    make.n2 = traces;
    make.ns = samples;
    make.dt_us = 4000;
    return make;
}

// Property: the image of one record, of as many cells as it has traces, is not placed as they are.
static void test_own_places(void)
{
    enum { NX = 30, NT = 60 };
    Make make = make_records(1, NX, NT);
    g_autoptr(GByteArray) file = make_file(&make);
    for (int n = 0; n < NX; n++) {
        make_put_head16(file, &make, n, 71, 1);
        make_put_head32(file, &make, n, 73, 5200);
        make_put_head32(file, &make, n, 77, 7000);
        for (int byte = 81; byte <= 181; byte += 100) { // receivers, and bins where they stand
            make_put_head32(file, &make, n, byte, 5000 + 50 * n);
            make_put_head32(file, &make, n, byte + 4, 7000);
        }
        make_put_sample(file, &make, n, 20 + n % 3, 1);
    }
    g_autofree char *path = scratch_path("litho-test-record.sgy");
    g_assert_true(g_file_set_contents(path, (char *)file->data, file->len, NULL));
    LithoOpenOptions options = {.file_order = TRUE};
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) in = litho_cube_load(path, &options, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpfloat(in->grid.origin[0], ==, 5000);
    expect_lines(in, NX, 1);
    g_unlink(path);
}

// Property: records whose trace headers state no place are refused with the bytes that were read,
// since all traces would fall on one cell.
static void expect_places(GByteArray *file, const Make *make)
{
    for (int n = 0; n < make->n1 * make->n2; n++)
        for (int byte = 73; byte <= 85; byte += 4)
            make_put_head32(file, make, n, byte, 0);
    g_autofree char *path = scratch_path("litho-test-nowhere.sgy");
    g_assert_true(g_file_set_contents(path, (char *)file->data, file->len, NULL));
    LithoOpenOptions options = {.file_order = TRUE, .keep_zero_traces = TRUE};
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) in = litho_cube_load(path, &options, NULL, &error);
    g_assert_no_error(error);
    g_assert_null(try_migrate(in, NULL, &error,
                              "mode=shot geometry=headers nx=60 ny=1 velocity=2000 dz=12.5 nz=6"));
    g_test_message("%s", error->message);
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY);
    g_assert_nonnull(strstr(error->message, "bytes 73 to 88"));
    g_unlink(path);
}

// Property: a file of two shots whose trace headers place sources and receivers gives the sum of
// the two records' images, at the survey coordinates asked for. 1e-5 is the order of summation.
static void test_headers(void)
{
    enum { NX = 60, NT = 120 };
    Make make = make_records(2, NX, NT);
    g_autoptr(GByteArray) file = make_file(&make);
    LithoGrid grid = time_grid(1, NX, NT, 12.5, 0.004);
    g_autoptr(LithoCube) sum = NULL;
    const int source[2] = {15, 40};
    for (int k = 0; k < 2; k++) {
        g_autoptr(LithoCube) record = random_cube(&grid, 20 + k);
        for (int j = 0; j < NX; j++) {
            const int n = k * NX + j;
            make_put_head16(file, &make, n, 71, -10); // coordinates in tenths of a metre
            make_put_head32(file, &make, n, 73, 50000 + 125 * source[k]);
            make_put_head32(file, &make, n, 77, 70000);
            make_put_head32(file, &make, n, 81, 50000 + 125 * (NX - 1 - j)); // receivers backwards
            make_put_head32(file, &make, n, 85, 70000);
            for (int t = 0; t < NT; t++)
                make_put_sample(file, &make, n, t, litho_cube_trace(record, 0, NX - 1 - j)[t]);
        }
        g_autoptr(LithoCube) image =
            migrate(record, "mode=shot velocity=2000 dz=12.5 nz=30 source_x=%g", source[k] * 12.5);
        if (!sum)
            sum = litho_cube_ref(image);
        else
            for (gint64 i = 0; i < litho_grid_samples(&sum->grid); i++)
                sum->samples[i] += image->samples[i];
    }
    g_autofree char *path = scratch_path("litho-test-shots.sgy");
    g_assert_true(g_file_set_contents(path, (char *)file->data, file->len, NULL));
    LithoOpenOptions options = {.file_order = TRUE, .keep_zero_traces = TRUE};
    g_autoptr(LithoCube) in = placed_image(path, &options, sum);
    expect_lines(in, 9, 5);
    // The scalar that the file was opened with counts, not what stands in the headers.
    for (int n = 0; n < 2 * NX; n++)
        make_put_head16(file, &make, n, 71, 32);
    g_assert_true(g_file_set_contents(path, (char *)file->data, file->len, NULL));
    options.xy_scalar = -10;
    g_autoptr(LithoCube) mended = placed_image(path, &options, sum);

    // A file of several shots taken for one shot is refused.
    g_autoptr(GError) several = NULL;
    g_autoptr(LithoCube) wrong =
        try_migrate(in, NULL, &several, "mode=shot velocity=2000 dz=12.5 nz=30 source_x=50");
    g_assert_null(wrong);
    g_assert_error(several, LITHO_ERROR, LITHO_ERROR_GEOMETRY);
    g_assert_nonnull(strstr(several->message, "several shots"));
    g_assert_nonnull(strstr(several->message, "geometry = headers"));
    g_unlink(path);
    expect_places(file, &make);
}

static LithoCube *saved_and_loaded(const LithoCube *cube, const char *name)
{
    g_autofree char *path = scratch_path(name);
    LithoSaveOptions save = {.force = TRUE};
    LithoOpenOptions options = {0};
    g_autoptr(GError) error = NULL;
    litho_cube_save(cube, path, &save, NULL, &error);
    g_assert_no_error(error);
    LithoCube *read = litho_cube_load(path, &options, NULL, &error);
    g_assert_no_error(error);
    return read; // keeps its file open
}

// Property: the image of a SEG-Y stack carries the stack's text on and is yet read back in depth,
// with its interval; modelled back it is read in time, migrated again in depth. Without a word in
// the text each of these files would speak of the axis of the one before.
static void test_axis_in_files(void)
{
    Make make = make_plain();
    make.dt_us = 4000;
    g_autoptr(GByteArray) file = make_file(&make);
    g_autofree char *path = scratch_path("litho-test-axis.sgy");
    g_assert_true(g_file_set_contents(path, (char *)file->data, file->len, NULL));
    LithoOpenOptions options = {0};
    g_autoptr(LithoCube) stack = litho_cube_load(path, &options, NULL, NULL);
    g_assert_false(stack->grid.is_depth);
    g_autoptr(LithoCube) image = migrate(stack, "velocity=2000 dz=7.5 nz=20");
    g_autoptr(LithoCube) depth = saved_and_loaded(image, "litho-test-axis-1.sgy");
    g_assert_true(depth->grid.is_depth);
    g_assert_cmpfloat(depth->grid.axis[2].step, ==, 7.5);
    g_autoptr(LithoCube) back = migrate(depth, "mode=demigrate velocity=2000 nt=30 dt=0.004");
    g_autoptr(LithoCube) time = saved_and_loaded(back, "litho-test-axis-2.sgy");
    g_assert_false(time->grid.is_depth);
    g_assert_cmpfloat(fabs(time->grid.axis[2].step - 0.004), <, 1e-9);
    g_autoptr(LithoCube) again = migrate(time, "velocity=2000 dz=7.5 nz=20");
    g_autoptr(LithoCube) last = saved_and_loaded(again, "litho-test-axis-3.sgy");
    g_assert_true(last->grid.is_depth);
    for (int k = 0; k < 4; k++) {
        g_autofree char *name =
            k ? g_strdup_printf("litho-test-axis-%d.sgy", k) : g_strdup("litho-test-axis.sgy");
        g_autofree char *used = scratch_path(name);
        g_unlink(used);
    }
}

// Correlation of an image with the reflectivity it should be, or another image, over so many
// traces.
static double correlation_of(const LithoCube *image, const LithoCube *reflectivity, int traces)
{
    double ab = 0, aa = 0, bb = 0;
    for (gint64 k = 0; k < traces * image->grid.axis[2].n; k++) {
        g_assert_true(isfinite(image->samples[k]));
        ab += (double)image->samples[k] * reflectivity->samples[k];
        aa += pow(image->samples[k], 2);
        bb += pow(reflectivity->samples[k], 2);
    }
    return ab / sqrt(aa * bb);
}

static double correlation(const LithoCube *image, const LithoCube *reflectivity)
{
    return correlation_of(image, reflectivity, (int)litho_grid_traces(&image->grid));
}

// Property: the Marmousi velocity (Marmousi "hard", 384 x 122 cells) migrates without growth, and
// the images of data modelled through it, by demigration and by finite differences in time,
// correlate with the reflectivity they came from.
static void test_marmousi(void)
{
    g_autofree char *name = NULL;
    const char *shared = g_getenv("LITHO_SHARED_DATA"), *root = g_getenv("LITHO_SOURCE_ROOT");
    g_autofree char *beside = g_build_filename(root ? root : ".", "..", "shared", "data", NULL);
    name = g_build_filename(shared ? shared : beside, "velocity", "marmhard_122x384.txt", NULL);
    g_autofree char *content = NULL;
    if (!g_file_get_contents(name, &content, NULL, NULL)) {
        g_test_skip("the Marmousi model is not on this machine");
        return;
    }
    LithoGrid grid = time_grid(1, 384, 122, 24, 24);
    grid.is_depth = TRUE;
    g_autoptr(LithoCube) velocity = litho_cube_new(&grid, NULL);
    g_autoptr(LithoCube) reflectivity = litho_cube_new(&grid, NULL);
    char *at = content;
    for (int k = 0; k < 384 * 122; k++)
        velocity->samples[k] = (float)g_ascii_strtod(at, &at); // one trace after another
    for (int j = 0; j < 384; j++)
        for (int z = 1; z < 122; z++) {
            const float *v = litho_cube_trace(velocity, 0, j);
            litho_cube_trace(reflectivity, 0, j)[z] = (v[z] - v[z - 1]) / (v[z] + v[z - 1]);
        }
    g_autofree char *path = scratch_path("litho-test-marmousi.npy");
    LithoSaveOptions save = {.force = TRUE};
    g_assert_true(litho_cube_save(velocity, path, &save, NULL, NULL));
    const char *common = "fmin=3 fmax=20 step=1 sponge=30";
    g_autoptr(LithoCube) data =
        migrate(reflectivity, "mode=demigrate velocity=%s nt=800 dt=0.004 %s", path, common);
    g_autoptr(LithoCube) image = migrate(data, "velocity=%s dz=24 nz=122 %s", path, common);
    // Band limits alone (3 to 20 Hz of white) leave about 0.5.
    double found = correlation(image, reflectivity);
    g_test_message("correlation of image and reflectivity %.3f", found);
    g_assert_cmpfloat(found, >, 0.5);
    g_autofree char *settings =
        g_strdup_printf("model=file file=%s cell=24 samples=750 wavelet=5", path);
    g_autofree char *model = NULL;
    g_autoptr(LithoCube) waves = generated(settings, &model);
    g_autoptr(LithoCube) second =
        migrate(waves, "velocity=%s dx=24 dy=24 dz=24 nz=122 %s", model, common);
    found = correlation(second, reflectivity);
    g_test_message("of finite differences %.3f", found);
    g_assert_cmpfloat(found, >, 0.3);
    // The first 30 traces, which the border would eat, against a border far away.
    g_autoptr(LithoCube) far =
        migrate(waves, "velocity=%s dx=24 dy=24 dz=24 nz=122 %s pad=150", model, common);
    found = correlation_of(second, far, 30);
    g_test_message("of the first 30 traces with an image whose border lies 150 cells away %.3f",
                   found);
    g_assert_cmpfloat(found, >=, 0.94);
    g_unlink(model);
    g_unlink(path);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/migrate-data/lens", test_lens);
    g_test_add_func("/migrate-data/demo", test_demo);
    g_test_add_func("/migrate-data/generated", test_generated);
    g_test_add_func("/migrate-data/velocity-file", test_velocity_file);
    g_test_add_func("/migrate-data/headers", test_headers);
    g_test_add_func("/migrate-data/own-places", test_own_places);
    g_test_add_func("/migrate-data/axis-in-files", test_axis_in_files);
    g_test_add_func("/migrate-data/marmousi", test_marmousi);
    return test_run();
}
