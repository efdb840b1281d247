// SPDX-License-Identifier: GPL-3.0-or-later
//
// Madagascar's RSF as other programs write it: keys, units, samples behind the text.
#include <string.h>

#include "core/axis_names.h"
#include "core/io/sample_codec.h"
#include "tests/cube_files.h"

// Madagascar's own habits: later keys win, data behind the header, xdr_float, kilometres.
static void test_rsf_habits(void)
{
    GByteArray *bytes = g_byte_array_new();
    const char *text = "1.6 sfwindow a/b:\n\tn1=99 in=\"/nowhere/x.rsf@\"\n\tn1=4 n2=3 d1=0.5 o1=1 "
                       "unit1=\"km\"\n\td2=0.0125 unit2=\"km\" label1=\"Depth\" esize=4\n"
                       "data_format=\"xdr_float\" in=\"stdin\"\n\014\014\004";
    g_byte_array_append(bytes, (const guint8 *)text, (guint)strlen(text));
    for (int k = 0; k < 12; k++) {
        guint8 word[4];
        guint32 w;
        float x = (float)k - 3;
        memcpy(&w, &x, 4);
        litho_put_32(word, LITHO_ORDER_BIG, w);
        g_byte_array_append(bytes, word, 4);
    }
    g_autofree char *path = put_file("habits.rsf", bytes);
    g_byte_array_unref(bytes);
    g_autoptr(LithoCube) cube = load(path, NULL);
    g_assert_cmpint(cube->grid.axis[0].n, ==, 1);
    g_assert_cmpint(cube->grid.axis[1].n, ==, 3);
    g_assert_cmpint(cube->grid.axis[2].n, ==, 4);
    g_assert_true(cube->grid.is_depth);
    g_assert_cmpfloat(cube->grid.axis[2].first, ==, 1000);
    g_assert_cmpfloat(cube->grid.axis[2].step, ==, 500);
    g_assert_cmpfloat_with_epsilon(litho_grid_spacing(&cube->grid, 1), 12.5, 1e-9);
    g_assert_cmpfloat(cube->samples[7], ==, 4);
}

// Units as words and in feet; a unit that is none of a time or a length, and a sample interval that
// no record has, are told.
static void test_rsf_units(void)
{
    static const struct {
        const char *keys;
        double step;
        gboolean is_depth;
        const char *told;
    } cases[] = {{"d1=10 unit1=feet", 3.048, TRUE, NULL},
                 {"d1=0.01 unit1=Kilometers label1=Depth", 10, TRUE, NULL},
                 {"d1=4 unit1=msec", 0.004, FALSE, NULL},
                 {"d1=4000 unit1=us", 0.004, FALSE, NULL},
                 {"d1=0.004 unit1=Hz", 0.004, FALSE, "unit1=Hz is not known"},
                 {"d1=4", 4, FALSE, "a sample interval of 4 s"},
                 {"d1=4 unit1=ms d2=50 d3=50 unit2=feet unit3=feet", 0.004, FALSE, NULL}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autofree char *text =
            g_strdup_printf("n1=4 n2=3 n3=2 %s in=stdin\n\014\014\004", cases[k].keys);
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        const float none[24] = {0, 1, 2};
        g_byte_array_append(bytes, (const guint8 *)text, (guint)strlen(text));
        g_byte_array_append(bytes, (const guint8 *)none, sizeof none);
        g_autofree char *path = put_file("units.rsf", bytes);
        g_autoptr(LithoCube) cube = load(path, NULL);
        g_assert_cmpfloat_with_epsilon(cube->grid.axis[2].step, cases[k].step, 1e-9);
        g_assert_cmpint(cube->grid.is_depth, ==, cases[k].is_depth);
        gboolean told = FALSE;
        for (guint n = 0; n < cube->notes->len && cases[k].told; n++)
            told |= strstr(cube->notes->pdata[n], cases[k].told) != NULL;
        g_assert_cmpint(told, ==, cases[k].told != NULL);
        if (k == G_N_ELEMENTS(cases) - 1)
            g_assert_cmpfloat_with_epsilon(litho_grid_spacing(&cube->grid, 1), 15.24, 1e-9);
    }
}

// 3 x 2 traces of 4 samples, which count from 0, behind a header of these words.
static char *numbered_file(const char *words)
{
    g_autofree char *text = g_strdup_printf(
        "n1=4 n2=3 n3=2 d1=0.004 label1=Time unit1=s %s in=stdin\n\014\014\004", words);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_byte_array_append(bytes, (const guint8 *)text, (guint)strlen(text));
    for (int k = 0; k < 24; k++)
        g_byte_array_append(bytes, (const guint8 *)&(float){(float)k + 1}, 4);
    return put_file("labels.rsf", bytes);
}

static gboolean tells(const LithoCube *cube, const char *words)
{
    for (guint n = 0; n < cube->notes->len; n++)
        if (strstr(cube->notes->pdata[n], words))
            return TRUE;
    return FALSE;
}

// Property: axes are called and numbered by label2 and label3, and again after a copy; offsets and
// labels that nobody knows are told.
static void test_rsf_labels(void)
{
    static const struct {
        const char *words, *xline, *inl, *told;
        double first, step; // of axis 2
        const char *unit;
        double spacing;
    } cases[] = {
        {"label2=Offset unit2=km o2=-1 d2=0.0125 label3=Shot d3=1 o3=7", "offset", "shot",
         "label2 is Offset: this is prestack data", -1000, 12.5, "m", 12.5},
        {"label2=offset unit2=ft o2=300 d2=100 label3=\"CMP number\" d3=1", "offset", "cdp",
         "prestack", 300, 100, "ft", 30.48},
        {"label2=\"Receivers\" o2=5 d2=2 label3=source", "channel", "shot", NULL, 5, 2, "", 25},
        {"label2=Half-Offset unit2=km d2=0.05 label3=Midpoint unit3=km d3=0.05", "trace", "cdp",
         NULL, 1, 1, "", 50},
        {"label2=X unit2=m d2=20 label3=\"\" unit3=m d3=30", "crossline", "inline", NULL, 1, 1, "",
         20},
        {"label2=Angle o2=10 d2=5 label3=Inline", "crossline", "inline",
         "label2=Angle is not known; the axis is called Crossline", 10, 5, "", 25},
        {"", "crossline", "inline", NULL, 1, 1, "", 25},
    };
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autofree char *path = numbered_file(cases[k].words), *copy = in_folder("copy.rsf");
        g_autoptr(LithoCube) cube = load(path, NULL);
        save(cube, copy, &forced);
        g_autoptr(LithoCube) again = load(copy, NULL);
        for (int n = 0; n < 2; n++) {
            const LithoGrid *g = n ? &again->grid : &cube->grid;
            g_assert_cmpstr(litho_axis_key(g, LITHO_XLINE), ==, cases[k].xline);
            g_assert_cmpstr(litho_axis_key(g, LITHO_INLINE), ==, cases[k].inl);
            g_assert_cmpfloat_with_epsilon(g->axis[1].first, cases[k].first, 1e-9);
            g_assert_cmpfloat_with_epsilon(g->axis[1].step, cases[k].step, 1e-9);
            g_assert_cmpstr(g->axis[1].unit, ==, cases[k].unit);
            g_assert_cmpfloat_with_epsilon(litho_grid_spacing(g, 1), cases[k].spacing, 1e-9);
        }
        g_assert_true(!cases[k].told || tells(cube, cases[k].told));
        g_assert_true(cases[k].told || (!tells(cube, "prestack") && !tells(cube, "known")));
    }
}

// Property: a file whose labels say that it is sorted by crosslines has the inlines and crosslines
// that it names, each sample at its place.
static void test_rsf_by_crosslines(void)
{
    g_autofree char *path = numbered_file("label2=Inline o2=101 d2=1 label3=Crossline o3=51 d3=2");
    g_autoptr(LithoCube) cube = load(path, NULL);
    const LithoGrid *g = &cube->grid;
    g_assert_cmpint(g->axis[0].n, ==, 3);
    g_assert_cmpint(g->axis[1].n, ==, 2);
    g_assert_cmpfloat(g->axis[0].first, ==, 101);
    g_assert_cmpfloat(g->axis[1].first, ==, 51);
    g_assert_cmpfloat(g->axis[1].step, ==, 2);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++)
            for (int t = 0; t < 4; t++)
                g_assert_cmpfloat(litho_cube_trace(cube, i, j)[t], ==, 1 + t + 4 * (i + 3 * j));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    folder = g_dir_make_tmp("lithoscope-XXXXXX", NULL);
    g_test_add_func("/rsf/habits", test_rsf_habits);
    g_test_add_func("/rsf/units", test_rsf_units);
    g_test_add_func("/rsf/labels", test_rsf_labels);
    g_test_add_func("/rsf/by-crosslines", test_rsf_by_crosslines);
    const int status = g_test_run();
    test_remove_folder(folder);
    return status;
}
