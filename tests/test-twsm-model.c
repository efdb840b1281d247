// SPDX-License-Identifier: GPL-3.0-or-later
//
// Models of tip-wave modelling and what is said about them: what a model file may hold and how its
// mistakes are named, files of boundaries, what a run reports, what SEG-Y carries, memory.
#include "core/io/survey.h"
#include "kernels/migrate/migrate.h"
#include "tests/twsm_case.h"

static const char curved[] = TWSM_CASE_CURVED("'source':[50,20,10],");

// --- models -----------------------------------------------------------------------------------

static void expect_error(const char *json, const char *settings, const char *words)
{
    g_autoptr(GError) error = NULL;
    LithoCube *cube = twsm_case_run_on(litho_device_cpu(), json, settings, NULL, &error);
    g_assert_null(cube);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, words));
}

static char *replaced(const char *what, const char *with)
{
    g_auto(GStrv) parts = g_strsplit(curved, what, 2);
    g_assert_nonnull(parts[1]);
    return g_strjoinv(with, parts);
}

// Property: a mistake in a model is refused in a sentence that names it, and the place.
static void test_model_errors(void)
{
    const struct {
        const char *what, *with, *words;
    } cases[] = {
        {"0T 1R 0T", "", "empty"},
        {"0T 1R 0T", "1R", "hit 1 is at boundary 1"},
        {"0T 1R 0T", "0T 1R 7T", "no boundary 7"},
        {"0T 1R 0T", "0T 1X", "position 4"},
        {"0T 1R 0T", "0T 1R", "receiver"},
        {"'velocity':2600", "'velocity':0", "layers[1].velocity"},
        {"'velocity':2600", "'velocity':2.6", "layers[1].velocity must be 10 to 100000 m/s"},
        {"'receivers':", "'sources':[[0,0,0]],'receivers':", "source must not stand beside"},
        {"'wavelet':{'ricker':8},", "", "wavelet is missing"},
        {"'density':2300", "'density':-1", "layers[1].density"},
        {"'type':'dipping'", "'type':'bent'", "boundaries[1].type"},
        {"'type':'dipping'", "'type':'dipping','tilt':3", "boundaries[1].tilt"},
        {"'type':'dipping'", "'type':'grid','file':'none.npy','x0':0,'y0':0,'dx':1,'dy':1",
         "boundaries[1].depth"},
        {"'depth':300,", "", "boundaries[0].depth is missing"},
        {"[-400,400]", "[400,-400]", "extent"},
        {"[-200,100,5]", "[-200,100,0]", "receivers.x"},
        {"[-200,100,5]", "[-200,0,5]", "a step that is not 0"},
        {"[50,20,10]", "[50,20,500]", "hit 2"},
        {"'type':'gaussian','depth':300,'amplitude':60,'sigma_x':150", "'type':'flat','depth':10",
         "source 1 lies on boundary 0"},
        {"'z':0}", "'z':330}", "receiver"},
        {"'record':2.2", "'record':'long'", "record must be a number"},
        {"'dt':0.004", "'dt':0.04", "dt"},
        {"'fmax':20", "'fmax':1e12", "2200000000000 frequencies"},
        {"{'velocity':3200,'density':2500}", "{'velocity':3200,'density':2500},{'velocity':90}",
         "layers[3].density"},
    };
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autofree char *json = replaced(cases[k].what, cases[k].with);
        expect_error(json, "", cases[k].words);
    }
    expect_error("no-such-model.json", "", "flat, dipping");
    expect_error(curved, "cells_per_wavelength=1", "force=on");
}

static gboolean tells(const LithoCube *cube, const char *words)
{
    for (guint k = 0; k < cube->notes->len; k++)
        if (strstr(g_ptr_array_index(cube->notes, k), words))
            return TRUE;
    return FALSE;
}

// Property: meshes between the limits are computed with a warning; force computes below.
static void test_warnings(void)
{
    const char *const settings[] = {"cells_per_wavelength=1.6",
                                    "cells_per_wavelength=1 force=on",
                                    "coefficients=plane fmax=10",
                                    "record=0.4 fmax=10",
                                    "source_x=380 fmax=10",
                                    "depths=750 fmax=10",
                                    "wavelet=19 fmax=10",
                                    "depths=-,400 fmax=10",
                                    "source_z=352 source_x=50 fmax=10",
                                    "frequencies=6 cells_per_wavelength=1.3",
                                    "algorithm=fft fmax=10"};
    const char *const words[] = {"1.6",
                                 "1.0",
                                 "critical",
                                 "wraps",
                                 "Fresnel",
                                 "must not",
                                 "fmax=47.5",
                                 "m apart at",
                                 "source 1 lies",
                                 "frequencies=44",
                                 "fused takes its place"};
    for (guint k = 0; k < G_N_ELEMENTS(words); k++) {
        g_autoptr(LithoCube) cube = twsm_case_run(curved, settings[k]);
        g_assert_true(tells(cube, words[k]));
    }
}

// Property: a record too short is told by the farthest corner of all receivers and sources, and
// densities of two units are. The model as it is tells neither.
static void test_far_warnings(void)
{
    const char *const settings = "fmax=8 cells_per_wavelength=1.3";
    const char *const cases[][3] = {
        {"[-100,100,3]", "[-100,3700,3]", "wraps"},
        {"'source':[50,20,10]", "'sources':[[50,20,10],[8000,20,10]]", "wraps"},
        {"'density':2300", "'density':2.3", "kg/m3"}};
    g_autoptr(LithoCube) plain = twsm_case_run(curved, settings);
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autofree char *json = replaced(cases[k][0], cases[k][1]);
        g_autoptr(LithoCube) cube = twsm_case_run(json, settings);
        g_assert_false(tells(plain, cases[k][2]));
        g_assert_true(tells(cube, cases[k][2]));
    }
}

// Property: a migration behind the modelling tells that it has a shot before it and how to take it,
// what the modelling told stays, and its image has no sources.
static void test_migrated(void)
{
    TwsmCaseFlow f = twsm_case_flow(curved, "fmax=10 cells_per_wavelength=1.6");
    g_autoptr(GError) error = NULL;
    litho_flow_append(f.flow, &litho_operator_migrate);
    LithoStep *step = litho_flow_step(f.flow, 1);
    g_assert_true(litho_param_parse(&step->op->params, step->params, "nz", "5", NULL));
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    g_autoptr(LithoCube) image = litho_engine_run(engine, f.flow, NULL, NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(tells(image, "1.6"));
    g_assert_true(tells(image, "mode=shot source_x=250 source_y=120"));
    g_assert_null(image->grid.spread);
    litho_engine_free(engine);
    twsm_case_flow_clear(&f);
}

static void write_npy(const char *path, const float *z, int rows, int columns)
{
    g_autofree char *header = g_strdup_printf(
        "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows, columns);
    GString *file = g_string_new_len("\x93NUMPY\x01\x00\x76\x00", 10);
    g_string_append_printf(file, "%-117s\n", header);
    g_string_append_len(file, (const char *)z, 4l * rows * columns);
    g_assert_true(g_file_set_contents(path, file->str, file->len, NULL));
    g_string_free(file, TRUE);
}

// Property: one surface given as a formula, as a grid file and as horizon points (text in any
// order, and .npy) gives the same traces, within the interpolation error of a 20 m grid (0.1 %).
static void test_files(void)
{
    enum { NX = 51, NY = 41 };
    g_autofree float *z = g_new(float, NX *NY), *points = g_new(float, 3 * NX * NY);
    g_autoptr(GString) text = g_string_new("# x y z\n");
    g_autofree char *folder = g_dir_make_tmp("twsm-XXXXXX", NULL);
    for (int k = 0; k < NX * NY; k++) {
        int m = (k * 7 + 3) % (NX * NY); // the order of points must not matter
        double x = -500 + 20 * (m % NX), y = -400 + 20 * (m / NX);
        z[m] = (float)(300 + 60 * exp(-x * x / (2 * 150.0 * 150)));
        g_string_append_printf(text, "%g, %g, %.9g\n", x, y, z[m]);
        points[3 * k] = (float)x, points[3 * k + 1] = (float)y, points[3 * k + 2] = z[m];
    }
    g_autofree char *grid = g_build_filename(folder, "grid.npy", NULL);
    g_autofree char *horizon = g_build_filename(folder, "horizon.txt", NULL);
    g_autofree char *cloud = g_build_filename(folder, "points.npy", NULL);
    write_npy(grid, z, NY, NX);
    write_npy(cloud, points, NX * NY, 3);
    g_file_set_contents(horizon, text->str, -1, NULL);
    // Other programs write it with decimal commas and a byte order mark.
    g_autofree char *commas = g_build_filename(folder, "commas.txt", NULL);
    g_string_replace(text, ", ", ";", 0);
    g_string_replace(text, ".", ",", 0);
    g_string_prepend(text, "\xef\xbb\xbf");
    g_file_set_contents(commas, text->str, -1, NULL);
    g_autofree char *blanks = g_build_filename(folder, "blanks.txt", NULL);
    g_string_replace(text, ";", " ", 0);
    g_file_set_contents(blanks, text->str, -1, NULL);
    char *with[5] = {
        g_strdup_printf("'type':'grid','file':'%s','x0':-500,'y0':-400,'dx':20,'dy':20", grid),
        g_strdup_printf("'type':'horizon','file':'%s'", horizon),
        g_strdup_printf("'type':'horizon','file':'%s'", cloud),
        g_strdup_printf("'type':'horizon','file':'%s'", commas),
        g_strdup_printf("'type':'horizon','file':'%s'", blanks)};
    g_autoptr(LithoCube) formula = twsm_case_run(curved, "fmax=20");
    for (int k = 0; k < 5; k++) {
        g_autofree char *json =
            replaced("'type':'gaussian','depth':300,'amplitude':60,'sigma_x':150", with[k]);
        g_autoptr(LithoCube) cube = twsm_case_run(json, "fmax=20");
        double error = twsm_case_cube_difference(cube, formula);
        g_test_message("%s: %.2g", with[k], error);
        g_assert_cmpfloat(error, <, 1e-3);
        g_free(with[k]);
    }
    remove(grid);
    remove(horizon);
    remove(cloud);
    remove(commas);
    remove(blanks);
    remove(folder);
}

// Property: a sheet with a vertex that is not a number or a triangle without area, and a grid with
// a depth that is not a number, are refused in a sentence that names the first of them; so is a
// horizon whose commas may part columns or be decimal marks.
static void test_bad_geometry(void)
{
    static const char square[] = "v -300 -300 %s\nv 300 -300 700\nv -300 300 700\nv 300 300 700\n"
                                 "f 1 2 3\n%s";
    const struct {
        const char *depth, *second, *words;
    } cases[] = {
        {"nan", "f 2 4 3\n", "line 1 "},
        {"700", "f 2 4 4\n", "triangle 2 "},
        {"700", "v 0 inf 700\nf 2 4 5\n", "line 6 "},
        {"700", "f 2 4 9\n", "line 6 "},
        {"seven", "", "line 1 "},
    };
    g_autofree char *folder = g_dir_make_tmp("twsm-XXXXXX", NULL);
    g_autofree char *sheet = g_build_filename(folder, "sheet.obj", NULL);
    g_autofree char *grid = g_build_filename(folder, "grid.npy", NULL);
    static const char dipping[] = "'type':'dipping','depth':700,'dip_x':8,'dip_y':-4";
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autofree char *text = g_strdup_printf(square, cases[k].depth, cases[k].second);
        g_autofree char *with = g_strdup_printf("'type':'sheet','file':'%s'", sheet);
        g_autofree char *json = replaced(dipping, with);
        g_assert_true(g_file_set_contents(sheet, text, -1, NULL));
        expect_error(json, "", cases[k].words);
    }
    const float z[] = {700, 700, 700, 700, NAN, 700};
    g_autofree char *with =
        g_strdup_printf("'type':'grid','file':'%s','x0':-400,'y0':-350,'dx':400,'dy':700", grid);
    g_autofree char *json = replaced(dipping, with);
    write_npy(grid, z, 2, 3);
    expect_error(json, "", "row 1, column 1");
    g_autofree char *horizon = g_build_filename(folder, "horizon.txt", NULL);
    g_autofree char *of_points = g_strdup_printf("'type':'horizon','file':'%s'", horizon);
    g_autofree char *unclear = replaced(dipping, of_points);
    g_assert_true(
        g_file_set_contents(horizon, "# x,y z\n-400,350 700 7\n400,351 700 7\n", -1, NULL));
    expect_error(unclear, "", "line 2 ");
    remove(horizon);
    remove(sheet);
    remove(grid);
    remove(folder);
}

// Property: the built-in model "published" has the size of the paper's problem: between two
// boundaries, each of 112,000 elements and somewhat more, at 128 frequencies.
static void test_published(void)
{
    g_autoptr(GError) error = NULL;
    TwsmParams p;
    litho_param_defaults(&litho_operator_twsm.params, &p);
    g_strlcpy(p.model.text, "published", sizeof p.model.text);
    g_autoptr(TwsmSetup) setup = twsm_setup_open(&p, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(twsm_setup_build(setup, &p, NULL, &error));
    g_assert_cmpint(setup->n_frequencies, ==, 128);
    for (int b = 0; b < 2; b++) {
        g_assert_cmpint(setup->mesh[b]->n, >, 112000);
        g_assert_cmpint(setup->mesh[b]->n, <, 113000);
    }
}

// Property: the share of a strip's refill and product is told by the processors: both take part.
static void test_strip_parts(void)
{
    double refill = 0, product = 0;
    LithoReport *report = litho_report_new();
    LithoRun run = {.report = report};
    g_autoptr(LithoCube) cube =
        twsm_case_run_on(litho_device_cpu(), curved, "algorithm=mod2", &run, NULL);
    g_assert_nonnull(cube);
    g_assert_true(litho_report_get(report, "refill", &refill));
    g_assert_true(litho_report_get(report, "product", &product));
    g_assert_cmpfloat(refill, >, 0);
    g_assert_cmpfloat(product, >, 0);
    g_assert_cmpfloat_with_epsilon(refill + product, 100, 1e-9);
    litho_report_unref(report);
}

// Property: the built-in models run, and the grid of the output carries the receivers' coordinates.
static void test_builtin(void)
{
    for (const char *const *name = twsm_model_names(); *name; name++) {
        g_autoptr(LithoCube) cube = twsm_case_run(*name, "fmax=8 cells_per_wavelength=2.5");
        g_assert_true(cube->grid.has_xy);
        float peak = 0;
        for (gint64 k = 0; k < litho_box_count(cube->held); k++) {
            g_assert_true(isfinite(cube->samples[k]));
            peak = MAX(peak, fabsf(cube->samples[k]));
        }
        g_assert_cmpfloat(peak, >, 0);
    }
    g_autoptr(LithoCube) dome = twsm_case_run("dome", "fmax=8");
    g_assert_cmpint(dome->grid.axis[0].n, ==, 21);
    g_assert_cmpint(dome->grid.axis[1].n, ==, 41);
    g_assert_cmpfloat(dome->grid.origin[0], ==, -1000);
    g_assert_cmpfloat(dome->grid.xline_step[0], ==, 50);
    g_assert_cmpfloat(dome->grid.inline_step[1], ==, 100);
}

static const LithoShape *shape_of(GArray *shapes, const char *key)
{
    for (guint k = 0; k < shapes->len; k++)
        if (strcmp(g_array_index(shapes, LithoShape, k).key, key) == 0)
            return &g_array_index(shapes, LithoShape, k);
    g_test_message("no shape %s", key);
    g_assert_not_reached();
}

// --- depths ------------------------------------------------------------------------------------

static void expect_same(const char *json, const char *settings, const char *like)
{
    g_autoptr(LithoCube) a = twsm_case_run(json, settings);
    g_autoptr(LithoCube) b = twsm_case_run(like, "fmax=12");
    const gsize bytes = litho_box_count(a->held) * sizeof(float);
    g_assert_cmpmem(a->samples, bytes, b->samples, litho_box_count(b->held) * sizeof(float));
}

// Property: the parameter's depths give the same bytes as a model file that holds them; what it does
// not name stays; a mistake is named.
static void test_depths(void)
{
    g_autofree char *bulge = replaced("'depth':300,'amplitude':60", "'depth':320,'amplitude':-35.5");
    g_autofree char *second = replaced("'depth':700", "'depth':655");
    g_autofree char *depth = replaced("'depth':300", "'depth':290");
    expect_same(curved, "fmax=12 depths=320:-35.5", bulge);
    expect_same(curved, "fmax=12 depths=-,655", second);
    expect_same(curved, "fmax=12 depths=290,-", depth);
    expect_error("flat", "fmax=8 depths=900,1000", "one entry too many");
    expect_error("flat", "fmax=8 depths=deep", "no entry for boundary 0");
    expect_error("flat", "fmax=8 depths=900:30", "no entry for boundary 0");
    expect_error("dome", "fmax=8 depths=900:", "no entry for boundary 0");
    expect_error("twolayer", "fmax=8 depths=-20,1300", "wave is in layer 0");
}

// Property: a boundary from a file goes down as a whole, meshes of grids and sheets alike: every
// point of the model's picture lies 120 m deeper.
static void test_depths_of_files(void)
{
    static const char sheet[] = "v -400 -350 650\nv 400 -350 700\nv -400 350 690\nv 400 350 760\n"
                                "f 1 2 3\nf 2 4 3\n";
    static const char *const settings[] = {"fmax=6 force=on depths=-,700",
                                           "fmax=6 force=on depths=-,820"};
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), "litho-depths.obj", NULL);
    g_autofree char *with = g_strdup_printf("'type':'sheet','file':'%s'", path);
    g_autofree char *json = replaced("'type':'dipping','depth':700,'dip_x':8,'dip_y':-4", with);
    g_assert_true(g_file_set_contents(path, sheet, -1, NULL));
    GArray *shapes[2];
    LithoCube *cube[2];
    for (int k = 0; k < 2; k++) {
        LithoRun run = {.report = litho_report_new()};
        g_autoptr(GError) error = NULL;
        cube[k] = twsm_case_run_on(litho_device_cpu(), json, settings[k], &run, &error);
        g_assert_no_error(error);
        shapes[k] = litho_report_shapes(run.report);
        litho_report_unref(run.report);
    }
    const LithoShape *a = shape_of(shapes[0], "boundary1"), *b = shape_of(shapes[1], "boundary1");
    for (guint k = 0; k < a->n; k++)
        g_assert_cmpfloat(fabsf(b->xyz[3 * k + 2] - a->xyz[3 * k + 2] - 120), <, 1e-3);
    g_assert_cmpfloat(twsm_case_cube_difference(cube[0], cube[1]), >, 0.1);
    for (int k = 0; k < 2; k++) {
        g_array_unref(shapes[k]);
        litho_cube_unref(cube[k]);
    }
    remove(path);
}

// Property: a grip's text around its number is the parameter that leaves the model as it is, and
// another number moves that grip's point to the place that belongs to it, and no other boundary.
static void test_grips(void)
{
    static const char *const keys[] = {"grip0", "grip0bulge", "grip1"};
    LithoRun run = {.report = litho_report_new()};
    g_autoptr(LithoCube) whole =
        twsm_case_run_on(litho_device_cpu(), curved, "fmax=6", &run, NULL);
    g_autoptr(GArray) shapes = litho_report_shapes(run.report);
    litho_report_unref(run.report);
    for (guint k = 0; k < G_N_ELEMENTS(keys); k++) {
        const LithoShape *shape = shape_of(shapes, keys[k]);
        const LithoGrip *grip = &shape->grip;
        const double z = shape->xyz[2], to = z + 20;
        g_assert_cmpstr(grip->operator_key, ==, "twsm");
        g_assert_cmpstr(grip->param, ==, "depths");
        g_assert_cmpfloat(grip->lo, <, z);
        g_assert_cmpfloat(grip->hi, >, z);
        g_autofree char *same = g_strdup_printf("fmax=6 depths=%s%.9g%s", grip->before,
                                                z - grip->offset, grip->after);
        g_autofree char *moved = g_strdup_printf("fmax=6 depths=%s%.9g%s", grip->before,
                                                 to - grip->offset, grip->after);
        g_test_message("%s: %s, %s", keys[k], same, moved);
        g_autoptr(LithoCube) again = twsm_case_run(curved, same);
        g_assert_cmpfloat(twsm_case_cube_difference(again, whole), <, 1e-4);
        LithoRun other = {.report = litho_report_new()};
        g_autoptr(LithoCube) cube =
            twsm_case_run_on(litho_device_cpu(), curved, moved, &other, NULL);
        g_autoptr(GArray) after = litho_report_shapes(other.report);
        litho_report_unref(other.report);
        g_assert_nonnull(cube);
        g_assert_cmpfloat(fabs(shape_of(after, keys[k])->xyz[2] - to), <, 1e-3);
        const char *still = k < 2 ? "grip1" : "grip0bulge";
        g_assert_cmpfloat(shape_of(after, still)->xyz[2], ==, shape_of(shapes, still)->xyz[2]);
    }
}

// --- what a run tells -------------------------------------------------------------------------

static double used(LithoReport *report, const char *key)
{
    g_autoptr(GArray) numbers = litho_report_numbers(report);
    for (guint k = 0; k < numbers->len; k++)
        if (litho_number_is_used(&g_array_index(numbers, LithoNumber, k), "twsm", key))
            return g_array_index(numbers, LithoNumber, k).value;
    return NAN;
}

// Property: the model is told before the long sum begins (a cancel during the sum finds it), with
// boundaries at their depths, source and receivers at their places, and the ray of a dipping
// reflector meeting it at a right angle: n = (sin, 0, -cos) from the source, distance d cos(dip).
static void test_model_report(void)
{
    g_autoptr(GCancellable) cancel = g_cancellable_new();
    g_autoptr(GError) error = NULL;
    LithoReport *report = litho_report_new();
    LithoRun run = {.cancel = cancel, .report = report};
    GThread *thread = g_thread_new("cancel", twsm_case_cancel_soon, cancel);
    g_autoptr(LithoCube) cube =
        twsm_case_run_on(litho_device_cpu(), "dipping",
                         "algorithm=alg1 near_field=off coefficients=pair", &run, &error);
    g_thread_join(thread);
    g_assert_true(cube || litho_error_is_cancelled(error));
    g_autoptr(GArray) shapes = litho_report_shapes(report);
    const LithoShape *sheet = shape_of(shapes, "boundary0"), *ray = shape_of(shapes, "ray0");
    g_assert_cmpint(sheet->kind, ==, LITHO_SHAPE_SHEET);
    g_assert_cmpuint(sheet->rows * sheet->columns, ==, sheet->n);
    for (guint k = 0; k < sheet->n; k++) {
        const float *p = sheet->xyz + 3 * k;
        g_assert_cmpfloat_with_epsilon(p[2], 1000 + p[0] * tan(G_PI / 12), 0.01);
        g_assert_true(sheet->value[k] >= 0 && sheet->value[k] <= 1);
    }
    g_assert_cmpuint(shape_of(shapes, "receivers")->n, ==, 41);
    g_assert_cmpfloat(shape_of(shapes, "receivers")->xyz[0], ==, -1000);
    g_assert_cmpuint(shape_of(shapes, "sources")->n, ==, 1);
    double d = 1000 * cos(G_PI / 12), time = 0;
    g_assert_cmpuint(ray->n, ==, 3);
    g_assert_cmpfloat_with_epsilon(ray->xyz[3], -d * sin(G_PI / 12), 1);
    g_assert_cmpfloat_with_epsilon(ray->xyz[4], 0, 1);
    g_assert_cmpfloat_with_epsilon(ray->xyz[5], d * cos(G_PI / 12), 1);
    g_assert_true(litho_report_get(report, "ray0", &time));
    g_assert_cmpfloat_with_epsilon(time, 2 * d / 2000, 1e-6);
    // Values that the model gives where a row is left to it are told before the waves run.
    g_assert_cmpfloat_with_epsilon(used(report, "fmax"), 50, 1e-9);
    g_assert_cmpfloat_with_epsilon(used(report, "wavelet"), 20, 1e-9);
    g_assert_cmpfloat_with_epsilon(used(report, "taper"), 0.15, 1e-9);
    litho_report_unref(report);
}

static const LithoCurve *curve_of(GArray *curves, const char *key)
{
    for (guint k = 0; k < curves->len; k++)
        if (strcmp(g_array_index(curves, LithoCurve, k).key, key) == 0)
            return &g_array_index(curves, LithoCurve, k);
    return NULL;
}

// Property: widths tried one after another stay in the curve of time against width, ascending,
// beside the paper's; another model begins anew; the strips' memory is M N 16 bytes.
static void test_strip_report(void)
{
    const int widths[] = {256, 32, 100, 32};
    const guint points[] = {1, 2, 3, 3};
    LithoFlow *flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_twsm);
    TwsmParams *p = litho_flow_step(flow, 0)->params;
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    p->algorithm = TWSM_MOD2;
    p->fmax = 8;
    for (guint k = 0; k <= G_N_ELEMENTS(widths); k++) {
        LithoReport *report = litho_report_new();
        LithoRun run = {.report = report};
        if (k < G_N_ELEMENTS(widths))
            p->strip_width = widths[k];
        else
            p->fmax = 6;
        g_autoptr(LithoCube) cube = litho_engine_run(engine, flow, NULL, NULL, &run, NULL);
        g_assert_nonnull(cube);
        g_autoptr(GArray) curves = litho_report_curves(report);
        const LithoCurve *time = curve_of(curves, "strip_time");
        const LithoCurve *bytes = curve_of(curves, "strip_bytes");
        g_assert_nonnull(time);
        g_assert_nonnull(curve_of(curves, "strip_paper_gpu"));
        g_assert_cmpuint(time->n, ==, k < G_N_ELEMENTS(widths) ? points[k] : 1);
        for (guint m = 1; m < time->n; m++)
            g_assert_cmpfloat(time->x[m], >, time->x[m - 1]);
        double elements = 0;
        g_assert_true(litho_report_get(report, "elements", &elements));
        g_assert_cmpfloat_with_epsilon(bytes->y[0], 16e-6 * 16 * elements, 1e-9);
        litho_report_unref(report);
    }
    litho_engine_free(engine);
    litho_flow_free(flow);
}

static gint32 header_word(const guint8 *header, int byte)
{
    const guint8 *b = header + byte - 1;
    return (gint32)((guint32)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3]);
}

// Property: SEG-Y of two shots carries source and receiver of every trace (bytes 73-88, 41, 49, the
// scalars of bytes 69 and 71), and reads back as the same cube.
static void test_segy(void)
{
    static const char shots[] =
        "{'layers':[{'velocity':2000,'density':2200},{'velocity':3000,'density':2400}],"
        "'boundaries':[{'type':'flat','depth':500}],'extent':{'x':[-700,700],'y':[-700,700]},"
        "'wave_code':'0R','sources':[[10.5,-20,3],[200,0,0]],"
        "'receivers':{'x':[-100,50,5],'y':[0,25,3],'z':2},'wavelet':{'ricker':10},'fmax':20,"
        "'record':1,'dt':0.004}";
    g_autoptr(LithoCube) cube = twsm_case_run(shots, "");
    g_autofree char *folder = g_dir_make_tmp("twsm-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "two.sgy", NULL);
    GError *error = NULL;
    g_assert_true(litho_cube_save(cube, path, NULL, NULL, &error));
    g_assert_no_error(error);
    g_autoptr(LithoCube) back = litho_cube_load(path, NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpmem(back->samples, 4 * litho_box_count(back->held), cube->samples,
                    4 * litho_box_count(cube->held));
    g_assert_cmpfloat(litho_grid_spacing(&cube->grid, LITHO_XLINE), ==, 50);
    g_assert_cmpfloat(litho_grid_spacing(&cube->grid, LITHO_INLINE), ==, 25);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 5; j++) {
            guint8 h[240];
            g_assert_true(litho_survey_trace_header(back->survey, i, j, h, &error));
            const gint32 wanted[][2] = {{73, i < 3 ? 1050 : 20000},
                                        {77, i < 3 ? -2000 : 0},
                                        {81, 100 * (-100 + 50 * j)},
                                        {85, 100 * 25 * (i % 3)},
                                        {41, -200},
                                        {49, i < 3 ? 300 : 0},
                                        {181, 0}, // no bin: two shots share their receivers
                                        {17, i / 3 + 1}};
            for (guint k = 0; k < G_N_ELEMENTS(wanted); k++)
                g_assert_cmpint(header_word(h, wanted[k][0]), ==, wanted[k][1]);
            g_assert_cmpint((gint16)(h[68] << 8 | h[69]), ==, -100);
            g_assert_cmpint((gint16)(h[70] << 8 | h[71]), ==, -100);
        }
    remove(path);
    remove(folder);
}

// Property: memory is known before a run, and strips that do not fit are refused with the width
// that would. LITHO_MEMORY stands for a small machine.
static void test_memory(void)
{
    TwsmParams p;
    litho_param_defaults(&litho_operator_twsm.params, &p);
    g_strlcpy(p.model.text, "twolayer", sizeof p.model.text);
    p.near_field = TWSM_NEAR_ON;
    p.algorithm = TWSM_MOD2;
    guint64 narrow = twsm_memory_cpu(&p, NULL, 2), on_gpu = twsm_memory_gpu(&p, NULL);
    p.strip_width += 1000;
    guint64 wide = twsm_memory_cpu(&p, NULL, 2);
    g_assert_cmpuint(narrow, >, 0);
    g_assert_cmpuint(on_gpu, >, 0);
    // 1000 rows more of (3600 / 16)^2 2 elements of 28 bytes (near field).
    g_assert_cmpfloat_with_epsilon((double)(wide - narrow) / (1000.0 * 28 * 2 * 225 * 225), 1,
                                   0.02);
    g_setenv("LITHO_MEMORY", "0.05", TRUE);
    expect_error("syncline", "algorithm=mod2 strip_width=4000 fmax=40", "strip_width must be");
    g_unsetenv("LITHO_MEMORY");
    // Runs in slabs are told of the widest strips that fit, and no wider.
    g_autofree char *change = twsm_less_memory_cpu(&p, NULL, narrow, 2);
    int width = 0;
    g_assert_cmpint(sscanf(change, "strip_width must be %d", &width), ==, 1);
    p.strip_width = width;
    g_assert_cmpuint(twsm_memory_cpu(&p, NULL, 2), <=, narrow);
    p.strip_width++;
    g_assert_cmpuint(twsm_memory_cpu(&p, NULL, 2), >, narrow);
}

// Property: moving the wavelet does not run the wave again unless the mesh depends on it; changing
// the algorithm keeps the mesh. Counted in the report of stages by the engine's own timings.
static void test_stages(void)
{
    LithoFlow *flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_twsm);
    TwsmParams *p = litho_flow_step(flow, 0)->params;
    p->fmax = 10;
    LithoTimings *timings = litho_timings_new();
    LithoRun run = {.timings = timings};
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    const int algorithms[] = {TWSM_FUSED, TWSM_MOD2, TWSM_MOD2};
    const guint meshes[] = {1, 1, 1}, propagations[] = {1, 2, 2};
    for (int k = 0; k < 3; k++) {
        p->algorithm = algorithms[k];
        g_autoptr(LithoCube) cube = litho_engine_run(engine, flow, NULL, NULL, &run, NULL);
        g_assert_nonnull(cube);
        litho_timings_end_pass(timings);
        LithoStage stages[LITHO_TIMINGS_STAGES];
        guint n = litho_timings_snapshot(timings, stages, LITHO_TIMINGS_STAGES);
        for (guint s = 0; s < n; s++) {
            if (strcmp(stages[s].name, "mesh") == 0)
                g_assert_cmpuint(stages[s].count, ==, meshes[k]);
            if (strcmp(stages[s].name, "propagate") == 0)
                g_assert_cmpuint(stages[s].count, ==, propagations[k]);
        }
    }
    litho_engine_free(engine);
    litho_timings_unref(timings);
    litho_flow_free(flow);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/twsm-model/stages", test_stages);
    g_test_add_func("/twsm-model/model-errors", test_model_errors);
    g_test_add_func("/twsm-model/warnings", test_warnings);
    g_test_add_func("/twsm-model/far-warnings", test_far_warnings);
    g_test_add_func("/twsm-model/migrated", test_migrated);
    g_test_add_func("/twsm-model/files", test_files);
    g_test_add_func("/twsm-model/bad-geometry", test_bad_geometry);
    g_test_add_func("/twsm-model/builtin", test_builtin);
    g_test_add_func("/twsm-model/published", test_published);
    g_test_add_func("/twsm-model/strip-parts", test_strip_parts);
    g_test_add_func("/twsm-model/depths", test_depths);
    g_test_add_func("/twsm-model/depths-of-files", test_depths_of_files);
    g_test_add_func("/twsm-model/grips", test_grips);
    g_test_add_func("/twsm-model/model-report", test_model_report);
    g_test_add_func("/twsm-model/strip-report", test_strip_report);
    g_test_add_func("/twsm-model/segy", test_segy);
    g_test_add_func("/twsm-model/memory", test_memory);
    return g_test_run();
}
