// SPDX-License-Identifier: GPL-3.0-or-later
// Files from the wild (LITHO_SHARED_DATA, else ../shared/data beside the sources; skipped when they
// are not there). Property: every file is read or refused with a sentence, none crashes; what is
// known about some of them holds. The sums of the format files are those of one and the same crop,
// so a codec that is wrong by one unit anywhere shows.
#include <math.h>
#include <string.h>

#include "core/io/survey.h"
#include "tests/common.h"

static char *data_folder;

static char *find_data(void)
{
    const char *given = g_getenv("LITHO_SHARED_DATA");
    const char *root = g_getenv("LITHO_SOURCE_ROOT");
    if (given)
        return g_file_test(given, G_FILE_TEST_IS_DIR) ? g_strdup(given) : NULL;
    char *path = root ? g_build_filename(root, "..", "shared", "data", NULL) : NULL;
    if (path && !g_file_test(path, G_FILE_TEST_IS_DIR))
        g_clear_pointer(&path, g_free);
    return path;
}

typedef struct Known {
    const char *file;
    int n[3];
    double first[3], step[3];
    int live;           // after reading; 0 = all cells
    const char *format; // contained in the format's name
} Known;

static const Known known[] = {
    {"segy_odd/segyio/f3.sgy",
     {23, 18, 75},
     {111, 875, 0.004},
     {1, 1, 0.004},
     0,
     "16-bit integer, big"},
    {"segy_odd/segyio/f3-lsb.sgy", {23, 18, 75}, {111, 875, 0.004}, {1, 1, 0.004}, 0, "little"},
    {"segy_odd/segyio/small.sgy", {5, 5, 50}, {1, 20, 0}, {1, 1, 0.004}, 0, "IBM"},
    {"segy_odd/segyio/small-lsb.sgy", {5, 5, 50}, {1, 20, 0}, {1, 1, 0.004}, 0, "little"},
    {"segy_odd/segyio/small.su", {5, 5, 50}, {1, 20, 0}, {1, 1, 0.004}, 0, "SU, IEEE float, big"},
    {"segy_odd/segyio/small-lsb.su",
     {5, 5, 50},
     {1, 20, 0},
     {1, 1, 0.004},
     0,
     "SU, IEEE float, little"},
    {"segy_odd/segyio/small-ps.sgy", {4, 3, 10}, {1, 1, 0}, {1, 1, 0.004}, 0, "IBM"},
    {"segy_odd/segyio/stanzas-known-count.sgy", {3, 2, 4}, {1, 20, 0}, {1, 1, 0.001}, 0, "IBM"},
    {"segy_odd/segyio/stanzas-unknown-count.sgy", {3, 2, 4}, {1, 20, 0}, {1, 1, 0.001}, 0, "IBM"},
    {"segy_odd/segyio/trace-header-extension1.sgy",
     {3, 2, 4},
     {1, 20, 0},
     {1, 1, 0.001},
     0,
     "rev 2.1"},
    {"segy_odd/segyio/rotated-small-rev2.sgy", {5, 5, 50}, {1, 20, 0}, {1, 1, 0.004}, 0, "rev 2.0"},
    {"segy_odd/segyio/broken.sgy", {2, 2, 4}, {1, 20, 0}, {1, 1, 0.001}, 3, "IBM"},
    {"segy_odd/segyio/\345\260\217\346\226\207\344\273\266.sgy",
     {5, 5, 50},
     {1, 20, 0},
     {1, 1, 0.004},
     0,
     "IBM"},
    {"segy_odd/derived/f3_crossline_sorted.sgy",
     {23, 18, 75},
     {111, 875, 0.004},
     {1, 1, 0.004},
     0,
     "16-bit"},
    {"segy_odd/derived/f3_missing_every7th.sgy",
     {23, 18, 75},
     {111, 875, 0.004},
     {1, 1, 0.004},
     354,
     "16-bit"},
    {"segy_odd/derived/f3_truncated_midtrace.sgy",
     {14, 18, 75},
     {111, 875, 0.004},
     {1, 1, 0.004},
     247,
     "16-bit"},
    {"segy_odd/segysak/f3-withdead.sgy",
     {23, 18, 75},
     {111, 875, 0.004},
     {1, 1, 0.004},
     239,
     "IBM"},
    {"segy_odd/segysak/f3-ebcidctest.sgy", {2, 100, 463}, {105, 300, 0}, {1, 1, 0.004}, 0, "IBM"},
    {"velocity/volve10-migvel-depth-sub3d.sgy",
     {18, 52, 226},
     {10087, 2148, 0},
     {4, 4, 0.02},
     0,
     "IEEE"},
    {"real2d/volve10r12-full-z-il10117sub.sgy", {1, 202, 1125}, {1, 1, 4}, {1, 1, 4}, 0, "IEEE"},
    {"prestack/mobil_pylops.npy", {1, 60, 1000}, {1, 1, 0}, {1, 1, 0.004}, 0, "NumPy"},
    {"seismiclab/data_with_noise.su", {1, 50, 501}, {1, 1, 0}, {1, 1, 0.004}, 0, "SU"},
};

static void test_known(void)
{
    for (guint k = 0; k < G_N_ELEMENTS(known); k++) {
        const Known *w = &known[k];
        g_autofree char *path = g_build_filename(data_folder, w->file, NULL);
        GError *error = NULL;
        g_autoptr(LithoCube) cube = litho_cube_load(path, NULL, NULL, &error);
        if (error)
            g_error("%s: %s", w->file, error->message);
        for (int a = 0; a < 3; a++) {
            const LithoAxis *axis = &cube->grid.axis[a];
            if (axis->n != w->n[a] || fabs(axis->first - w->first[a]) > 1e-9 ||
                fabs(axis->step - w->step[a]) > 1e-9)
                g_error("%s: axis %d has %d from %g step %g, wanted %d from %g step %g", w->file, a,
                        (int)axis->n, axis->first, axis->step, w->n[a], w->first[a], w->step[a]);
        }
        g_assert_cmpint(litho_cube_count_live(cube), ==, w->live ? w->live : w->n[0] * w->n[1]);
        g_assert_nonnull(strstr(litho_survey_format(cube->survey), w->format));
    }
}

static void test_every_format(void)
{
    static const struct {
        int format;
        double sum; // -1 = refused
    } cases[] = {
        {1, 780251},     {2, 780251}, {3, 780251},        {4, -1},      {5, 780251},
        {6, 780251},     {7, 780251}, {8, -19749},        {9, -1},      {10, 53369264400347},
        {11, 815130587}, {12, -1},    {15, 208474466267}, {16, 3229403}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++)
        for (int order = 0; order < 2; order++) {
            g_autofree char *name =
                g_strdup_printf("Format%d%s.sgy", cases[k].format, order ? "lsb" : "msb");
            g_autofree char *path =
                g_build_filename(data_folder, "segy_odd", "segyio", "multiformats", name, NULL);
            GError *error = NULL;
            g_autoptr(LithoCube) cube = litho_cube_load(path, NULL, NULL, &error);
            if (cases[k].sum == -1) {
                g_assert_nonnull(error);
                g_clear_error(&error);
                continue;
            }
            g_assert_no_error(error);
            double sum = 0;
            for (gint64 q = 0; q < litho_cube_held_samples(cube); q++)
                sum += cube->samples[q];
            // Format 10 holds 32-bit numbers, which a float rounds to 24 bits.
            double tolerance = cases[k].format == 10 ? 1e7 : 0.5;
            if (fabs(sum - cases[k].sum) > tolerance)
                g_error("%s: sum %.17g, wanted %.17g", name, sum, cases[k].sum);
        }
}

static void test_split_survey(void)
{
    g_auto(GStrv) paths = g_new0(char *, 24);
    for (int il = 111; il <= 133; il++) {
        g_autofree char *name = g_strdup_printf("f3-iline-%d.sgy", il);
        paths[il - 111] = g_build_filename(data_folder, "segy_odd", "segysak", name, NULL);
    }
    GError *error = NULL;
    g_autoptr(LithoSurvey) survey =
        litho_survey_open((const char *const *)paths, NULL, NULL, &error);
    g_assert_no_error(error);
    const LithoGrid *g = litho_survey_grid(survey);
    g_assert_cmpint(g->axis[0].n, ==, 23);
    g_assert_cmpint(g->axis[1].n, ==, 18);
    g_autoptr(LithoCube) cube = litho_survey_read(survey, NULL, NULL, &error);
    g_assert_cmpint(litho_survey_counts(survey).zero, ==, 175); // dead traces kept as zeros
}

static guint walk(const char *folder, guint *refused)
{
    GDir *dir = g_dir_open(folder, 0, NULL);
    guint n = 0;
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
            n += walk(path, refused);
            continue;
        }
        GError *error = NULL;
        g_autoptr(LithoCube) cube = litho_cube_load(path, NULL, NULL, &error);
        g_assert_true((cube != NULL) != (error != NULL));
        *refused += error != NULL;
        g_assert_true(cube || strlen(error->message) > 10);
        g_clear_error(&error);
        n++;
    }
    if (dir)
        g_dir_close(dir);
    return n;
}

static void test_everything(void)
{
    guint refused = 0, n = walk(data_folder, &refused);
    g_test_message("%u files, %u refused", n, refused);
    g_assert_cmpuint(n, >, 100);
    g_assert_cmpuint(refused, <, n / 4);
}

static void skip(void)
{
    g_test_skip("no shared data (LITHO_SHARED_DATA)");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    data_folder = find_data();
    g_test_add_func("/real/known", data_folder ? test_known : skip);
    g_test_add_func("/real/every-format", data_folder ? test_every_format : skip);
    g_test_add_func("/real/split-survey", data_folder ? test_split_survey : skip);
    g_test_add_func("/real/everything", data_folder ? test_everything : skip);
    int status = test_run();
    g_free(data_folder);
    return status;
}
