// SPDX-License-Identifier: GPL-3.0-or-later
//
// Madagascar's RSF as other programs write it: keys, units, samples behind the text.
#include <string.h>

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

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    folder = g_dir_make_tmp("lithoscope-XXXXXX", NULL);
    g_test_add_func("/rsf/habits", test_rsf_habits);
    g_test_add_func("/rsf/units", test_rsf_units);
    const int status = g_test_run();
    test_remove_folder(folder);
    return status;
}
