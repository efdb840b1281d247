// SPDX-License-Identifier: GPL-3.0-or-later
//
// Traces of zeros, and of one value: missing, dead or data, as the rest of the file says.
#include <math.h>
#include <string.h>

#include "tests/cube_files.h"

static gboolean has_note(const LithoCube *cube, const char *start)
{
    for (guint k = 0; k < cube->notes->len; k++)
        if (g_str_has_prefix(g_ptr_array_index(cube->notes, k), start))
            return TRUE;
    return FALSE;
}

// A trace of one value repeated among traces of both signs is a dead one: missing, told, and zeros
// when it is written. Asked for, it is data; so are the flat traces of a velocity model.
static void test_flat_traces(void)
{
    enum { N1 = 12, N2 = 10, N3 = 40 };
    const LithoGrid grid = litho_grid_new(N1, N2, N3);
    const LithoOpenOptions keep = {.keep_zero_traces = TRUE};
    for (int positive = 0; positive < 2; positive++) {
        g_autofree char *path = in_folder("flat.sgy"), *out = in_folder("flat-out.npy");
        g_autoptr(LithoCube) cube = litho_cube_new(&grid, NULL);
        for (gint64 k = 0; k < N1 * N2 * N3; k++)
            cube->samples[k] = k / N3 % 40 == 3 ? 1 : sinf((float)k) + 1500 * (float)positive;
        save(cube, path, &forced);
        g_autoptr(LithoCube) in = load(path, NULL), all = load(path, &keep);
        for (gint64 t = 0; t < N1 * N2; t++)
            g_assert_true(all->live[t] && in->live[t] == (positive || t % 40 != 3));
        g_assert_cmpint(has_note(in, "3 traces of one value repeated count"), ==, !positive);
        save(in, out, &forced);
        g_autoptr(LithoCube) again = load(out, &keep);
        g_assert_cmpfloat(again->samples[3 * N3 + 7], ==, positive ? 1 : 0);
    }
}

// NumPy, RSF and raw cubes: a trace of zeros is a missing trace, is told, and is written as zeros
// again; all of them are data when that is asked for, and in a cube that is silent but for a spike.
static void test_zero_traces(void)
{
    static const char *const names[] = {"zero.npy", "zero.rsf", "zero.bin"};
    enum { N1 = 20, N2 = 30, N3 = 40 };
    const LithoGrid grid = litho_grid_new(N1, N2, N3);
    g_autoptr(LithoCube) cube = litho_cube_new(&grid, NULL);
    for (gint64 t = 0; t < N1 * N2; t++)
        for (gint64 k = 0; k < N3; k++) // every tenth trace stays zero
            cube->samples[t * N3 + k] = t % 10 ? sinf(0.7f * (float)(t + 3 * k)) + 2 : 0;
    for (guint f = 0; f < G_N_ELEMENTS(names); f++) {
        g_autofree char *path = in_folder(names[f]), *out = in_folder("zero-out.npy");
        const LithoOpenOptions plain = {.shape = {N1, N2, N3}, .dtype = "float32"};
        LithoOpenOptions keep = plain;
        keep.keep_zero_traces = TRUE;
        save(cube, path, &forced);
        g_autoptr(LithoCube) in = load(path, f == 2 ? &plain : NULL);
        for (gint64 t = 0; t < N1 * N2; t++)
            g_assert_cmpint(in->live[t], ==, t % 10 != 0);
        g_assert_true(has_note(in, "60 traces of zeros count as missing"));
        g_autoptr(LithoCube) all = load(path, &keep);
        for (gint64 t = 0; t < N1 * N2; t++)
            g_assert_true(all->live[t]);
        save(in, out, &forced);
        g_autoptr(LithoCube) again = load(out, &keep);
        g_assert_cmpmem(again->samples, N1 * N2 * N3 * sizeof(float), cube->samples,
                        N1 * N2 * N3 * sizeof(float));
        for (gint64 t = 0; t < N1 * N2; t++)
            g_assert_true(again->live[t]); // zeros, not NaN
    }
    memset(cube->samples, 0, N1 * N2 * N3 * sizeof(float));
    cube->samples[N3 * (N1 * N2 / 2) + 20] = 1;
    g_autofree char *spike = in_folder("spike.npy");
    save(cube, spike, &forced);
    g_autoptr(LithoCube) quiet = load(spike, NULL);
    for (gint64 t = 0; t < N1 * N2; t++)
        g_assert_true(quiet->live[t]);
}

// Property: zeros count alike whatever their sign: a cube of nothing but -0 is one of zeros, all
// live, in files without and with trace headers, and single traces of them are missing.
static void test_zeros_below(void)
{
    static const char *const names[] = {"below.npy", "below.sgy", "below.su"};
    enum { N1 = 20, N2 = 30, N3 = 40 };
    const LithoGrid grid = litho_grid_new(N1, N2, N3);
    for (guint f = 0; f < G_N_ELEMENTS(names); f++)
        for (int others = 0; others < 2; others++) {
            g_autoptr(LithoCube) cube = litho_cube_new(&grid, NULL);
            for (gint64 k = 0; k < N1 * N2 * N3; k++)
                cube->samples[k] = others && k / N3 % 10 ? sinf(0.7f * (float)k) + 2 : -0.0f;
            g_autofree char *path = in_folder(names[f]);
            save(cube, path, &forced);
            g_autoptr(LithoCube) in = load(path, NULL);
            for (gint64 t = 0; t < N1 * N2; t++)
                g_assert_cmpint(in->live[t], ==, !others || t % 10 != 0);
        }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    folder = g_dir_make_tmp("litho-zeros-XXXXXX", NULL);
    g_test_add_func("/zeros/missing", test_zero_traces);
    g_test_add_func("/zeros/below", test_zeros_below);
    g_test_add_func("/zeros/flat", test_flat_traces);
    int status = g_test_run();
    test_remove_folder(folder);
    return status;
}
