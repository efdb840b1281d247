// SPDX-License-Identifier: GPL-3.0-or-later
//
// Similarity and histogram of an output that is on a GPU: the host's answers, and the output stays
// where it is. Skipped where there is no GPU.
#include "kernels/kernels.h"
#include "tests/similarity_cubes.h"

static gboolean no_gpu(void)
{
    if (litho_backend_cuda()->n_devices > 0)
        return FALSE;
    g_test_skip(litho_backend_cuda()->why_not);
    return TRUE;
}

static double largest_difference(const LithoCube *a, const LithoCube *b)
{
    double off = 0;
    for (gint64 k = 0; k < litho_cube_held_samples(a); k++)
        off = fmax(off, fabs((double)a->samples[k] - b->samples[k]));
    return off;
}

static void check_box(LithoCube *in, const LithoCube *host, LithoBox held, LithoBox box,
                      const LithoSimilarityWidths *widths)
{
    g_autoptr(LithoCube) there = similarity_device_cube(litho_backend_cuda(), host, held);
    g_autoptr(LithoCube) here = litho_cube_copy_box(host, held, NULL);
    g_autoptr(LithoCube) map = NULL, expected = NULL;
    g_autoptr(GError) error = NULL;
    litho_similarity(in, there, box, widths, NULL, &map, &error);
    g_assert_no_error(error);
    g_assert_null(there->samples); // not fetched: the device has made the map
    g_assert_true(litho_similarity(in, here, box, widths, NULL, &expected, NULL));
    const double off = largest_difference(map, expected);
    g_test_message("box from %d %d %d: off by %.1e", (int)box.lo[0], (int)box.lo[1], (int)box.lo[2],
                   off);
    g_assert_cmpfloat(off, <=, 1e-5);
    g_assert_cmpmem(map->live, litho_box_size(box, 0) * litho_box_size(box, 1), expected->live,
                    litho_box_size(box, 0) * litho_box_size(box, 1));
}

// Property: |c| of the GPU is the host's within 1e-5, which is the rounding of sums of 27 products;
// on slices of each axis, at faces, of the whole cube, of an output that is a slice and no more, of
// other widths, beside mutes, absent traces and samples that are not finite.
static void test_similarity(void)
{
    LithoCube *in, *out;
    if (no_gpu())
        return;
    similarity_pair(37, 43, 101, &in, &out);
    const gint64 at[][3] = {{0, 0, 0}, {36, 42, 100}, {18, 21, 12}, {20, 5, 57}};
    for (guint k = 0; k < G_N_ELEMENTS(at); k++)
        for (int axis = 0; axis < 3; axis++) {
            const LithoBox slice = litho_box_slice(&in->grid, axis, at[k][axis]);
            check_box(in, out, in->held, slice, NULL);
            check_box(in, out, slice, slice, NULL);
        }
    check_box(in, out, in->held, in->held, NULL);
    const LithoBox part = {{5, 7, 20}, {11, 30, 64}};
    check_box(in, out, in->held, part, NULL);
    check_box(in, out, in->held, part, &(LithoSimilarityWidths){{0, 5}, 0.050});
    litho_cube_unref(in);
    litho_cube_unref(out);
}

// Property: the same holds where the input is on the device alone, too, and neither is fetched.
static void test_input_there(void)
{
    LithoCube *in, *out;
    if (no_gpu())
        return;
    similarity_pair(20, 31, 64, &in, &out);
    g_autoptr(LithoCube) in_there = similarity_device_cube(litho_backend_cuda(), in, in->held);
    g_autoptr(LithoCube) out_there = similarity_device_cube(litho_backend_cuda(), out, out->held);
    const LithoBox slice = litho_box_slice(&in->grid, LITHO_XLINE, 9);
    g_autoptr(LithoCube) map = NULL, expected = NULL;
    g_assert_true(litho_similarity(in_there, out_there, slice, NULL, NULL, &map, NULL));
    g_assert_null(in_there->samples);
    g_assert_null(out_there->samples);
    g_assert_true(litho_similarity(in, out, slice, NULL, NULL, &expected, NULL));
    g_assert_cmpfloat(largest_difference(map, expected), <=, 1e-5);
    litho_cube_unref(in);
    litho_cube_unref(out);
}

// Property: the GPU counts what the host counts, to the sample, in as many bins as blocks count by
// themselves and in more.
static void test_histogram(void)
{
    LithoCube *in, *out;
    if (no_gpu())
        return;
    similarity_pair(37, 43, 101, &in, &out);
    g_autoptr(LithoCube) there = similarity_device_cube(litho_backend_cuda(), in, in->held);
    const guint sizes[] = {1, 100, 4096, 20000};
    for (guint k = 0; k < G_N_ELEMENTS(sizes); k++) {
        g_autofree double *counts = g_new(double, sizes[k]), *expected = g_new(double, sizes[k]);
        litho_qc_histogram(there, -0.4, 0.7, sizes[k], counts);
        g_assert_null(there->samples);
        litho_qc_histogram(in, -0.4, 0.7, sizes[k], expected);
        g_assert_cmpmem(counts, sizes[k] * sizeof *counts, expected, sizes[k] * sizeof *counts);
    }
    litho_cube_unref(in);
    litho_cube_unref(out);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/similarity-cuda/map", test_similarity);
    g_test_add_func("/similarity-cuda/input-there", test_input_there);
    g_test_add_func("/similarity-cuda/histogram", test_histogram);
    return test_run();
}
