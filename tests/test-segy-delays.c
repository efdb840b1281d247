// SPDX-License-Identifier: GPL-3.0-or-later
//
// Recording delays of SEG-Y and SU: where the first sample of each trace stands, in files made byte
// by byte and read back.
#include "tests/common.h"
#include "core/io/survey.h"
#include "tests/segy_odd.h"

static void test_delays(void)
{
    Make make = make_plain();
    g_autoptr(GByteArray) file = make_file(&make);
    for (int n = 0; n < 20; n++)
        make_put_head16(file, &make, n, 109, -200);
    g_autoptr(LithoCube) constant = odd_load(&make, file, NULL);
    g_assert_cmpfloat_with_epsilon(constant->grid.axis[2].first, -0.2, 1e-12);
    odd_assert_full(&make, constant);
    for (int n = 0; n < 20; n++) { // in tenths of milliseconds, trace 7 starts two samples later
        make_put_head16(file, &make, n, 109, n == 7 ? 1080 : 1000);
        make_put_head16(file, &make, n, 215, -10);
    }
    g_autoptr(LithoCube) moved = odd_load(&make, file, NULL);
    g_assert_cmpint(moved->grid.axis[2].n, ==, 32);
    g_assert_cmpfloat_with_epsilon(moved->grid.axis[2].first, 0.1, 1e-12);
    g_assert_cmpfloat(litho_cube_trace(moved, 1, 2)[2], ==, make_value(&make, 1, 2, 0));
    g_assert_cmpfloat(litho_cube_trace(moved, 1, 3)[0], ==, make_value(&make, 1, 3, 0));
}

// Property: starts so far apart that no axis holds them are told and ignored, in SU, too.
static void test_far_delays(void)
{
    Make make = make_plain();
    make.su = TRUE;
    make.format = 5;
    g_autoptr(GByteArray) file = make_file(&make);
    make_put_head16(file, &make, 3, 109, 32767);
    g_autoptr(LithoCube) cube = odd_load(&make, file, &(LithoOpenOptions){.dt = 1e-9});
    odd_assert_full(&make, cube);
    odd_assert_note(cube, "are ignored");
}

// Property: a start that differs is seen where no trace that was looked at first has it: 16384
// heads are a sample of 20000, in runs of 256.
static void test_few_delays(void)
{
    Make make = make_plain();
    make.n1 = 200;
    make.n2 = 100;
    make.ns = 6;
    g_autoptr(GByteArray) file = make_file(&make);
    make_put_head16(file, &make, 300, 109, 8); // two samples, between the second run and the third
    make_put_head32(file, &make, 301, 37, 700);
    g_autoptr(LithoCube) cube = odd_load(&make, file, NULL);
    g_assert_cmpint(cube->grid.axis[2].n, ==, 8);
    g_assert_cmpfloat(litho_cube_trace(cube, 3, 0)[2], ==, make_value(&make, 3, 0, 0));
    g_assert_cmpint(litho_survey_counts(cube->survey).offsets, ==, 2);
    make_put_head16(file, &make, 300, 29, 2); // a dead trace has no start
    g_autoptr(LithoCube) dead = odd_load(&make, file, NULL);
    g_assert_cmpint(dead->grid.axis[2].n, ==, 6);
    for (int n = 0; n < 20000; n++)
        make_put_head16(file, &make, n, 109, n ? 80 : 0);
    make_put_head16(file, &make, 0, 29, 2); // the first trace of all is dead
    g_autoptr(LithoCube) late = odd_load(&make, file, NULL);
    g_assert_cmpint(late->grid.axis[2].n, ==, 6);
    g_assert_cmpfloat_with_epsilon(late->grid.axis[2].first, 0.08, 1e-9);
}

// Property: a start that no survey has is ignored, told, and costs nothing else: 300,000 s by a
// scalar, a line number where the scalar stands, and headers overwritten with ramps.
static void test_false_delays(void)
{
    Make make = make_plain();
    g_autoptr(GByteArray) file = make_file(&make);
    for (int n = 0; n < 20; n++) {
        make_put_head16(file, &make, n, 109, 30000);
        make_put_head16(file, &make, n, 215, 10000);
    }
    g_autoptr(LithoCube) late = odd_load(&make, file, NULL);
    odd_assert_note(late, "cannot be true");
    g_assert_cmpfloat(late->grid.axis[2].first, ==, 0);
    odd_assert_full(&make, late);
    for (int n = 0; n < 20; n++) {
        make_put_head16(file, &make, n, 109, 200);
        make_put_head16(file, &make, n, 215, 111);
    }
    g_autoptr(LithoCube) numbered = odd_load(&make, file, NULL);
    g_assert_cmpfloat_with_epsilon(numbered->grid.axis[2].first, 0.2, 1e-12);
    Make few = make_plain(); // so few traces, so long, that the file counts as SEG-Y all the same
    few.n1 = 1;
    few.n2 = 3;
    few.ns = 6000;
    few.dt_us = 1000;
    g_autoptr(GByteArray) long_file = make_file(&few);
    for (int n = 0; n < 3; n++)
        for (int byte = 1; byte < 240; byte += 4)
            make_put_head32(long_file, &few, n, byte, n == 0 ? 0 : 16448 << 16 | (20 * byte + n));
    g_autoptr(LithoCube) ramps = odd_load(&few, long_file, NULL);
    odd_assert_note(ramps, "no trace header makes sense");
    g_assert_cmpint(ramps->grid.xy_source, ==, LITHO_FROM_ASSUMED);
    g_assert_cmpfloat(ramps->grid.axis[2].first, ==, 0);
    g_assert_cmpint(ramps->grid.axis[2].n, ==, 6000);
    g_assert_cmpint(ramps->grid.axis[1].n, ==, 3);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    odd_folder = g_dir_make_tmp("litho-segy-delays-XXXXXX", NULL);
    g_test_add_func("/segy-delays/delays", test_delays);
    g_test_add_func("/segy-delays/false", test_false_delays);
    g_test_add_func("/segy-delays/few", test_few_delays);
    g_test_add_func("/segy-delays/far", test_far_delays);
    int status = g_test_run();
    test_remove_folder(odd_folder);
    return status;
}
