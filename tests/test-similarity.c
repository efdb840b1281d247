// SPDX-License-Identifier: GPL-3.0-or-later
//
// Where similarity and histogram of an output on a device are computed, without a device: a table
// that stands for one. Values are the matter of test-quality.c and test-similarity-cuda.c.
#include "tests/similarity_cubes.h"

static struct {
    gboolean fails;
    guint maps, histograms, downloads;
} device;

static LithoBuffer *fake_alloc(int number, gint64 count, GError **error);

static void fake_free(LithoBuffer *buffer)
{
    g_free(buffer->data);
    g_free(buffer);
}

static gboolean fake_upload(LithoBuffer *buffer, gint64 at, const float *from, gint64 count,
                            GError **error)
{
    (void)error;
    memcpy((float *)buffer->data + at, from, (gsize)count * sizeof *from);
    return TRUE;
}

static gboolean fake_download(const LithoBuffer *buffer, gint64 at, float *to, gint64 count,
                              GError **error)
{
    (void)error;
    memcpy(to, (const float *)buffer->data + at, (gsize)count * sizeof *to);
    device.downloads++;
    return TRUE;
}

static gboolean fake_similarity(const LithoSimilarityPlan *plan, const LithoCube *in,
                                const LithoCube *out, float *map, GError **error)
{
    (void)in, (void)out, (void)error;
    device.maps++;
    for (gint64 k = 0; k < litho_box_count(plan->box); k++)
        map[k] = 0.25f;
    return !device.fails;
}

static gboolean fake_histogram(const LithoCube *cube, double lo, double hi, guint bins,
                               guint64 *counts, GError **error)
{
    (void)cube, (void)lo, (void)hi, (void)error;
    device.histograms++;
    for (guint k = 0; k < bins; k++)
        counts[k] = 7;
    return !device.fails;
}

static const LithoBackend fake = {.abi = LITHO_BACKEND_ABI,
                                  .key = "fake",
                                  .alloc = fake_alloc,
                                  .free = fake_free,
                                  .upload = fake_upload,
                                  .download = fake_download,
                                  .similarity = fake_similarity,
                                  .histogram = fake_histogram};

static LithoBuffer *fake_alloc(int number, gint64 count, GError **error)
{
    (void)error;
    LithoBuffer *buffer = g_new0(LithoBuffer, 1);
    *buffer = (LithoBuffer){&fake, number, count, g_new0(float, count)};
    return buffer;
}

// Property: the map of an output on a device is the device's, and the output is not fetched; the
// numbers need the host, and so does a map where the device fails.
static void test_where(void)
{
    LithoCube *in, *out;
    similarity_pair(12, 13, 50, &in, &out);
    const LithoBox slice = litho_box_slice(&in->grid, LITHO_INLINE, 4);
    for (int fails = 0; fails < 2; fails++) {
        memset(&device, 0, sizeof device);
        device.fails = fails;
        g_autoptr(LithoCube) there = similarity_device_cube(&fake, out, out->held);
        g_autoptr(LithoCube) map = NULL, expected = NULL;
        LithoLeak leak;
        g_assert_true(litho_similarity(in, there, slice, NULL, NULL, &map, NULL));
        g_assert_cmpuint(device.maps, ==, 1);
        g_assert_cmpuint(device.downloads, ==, fails ? 1 : 0);
        g_assert_true(litho_similarity(in, out, slice, NULL, NULL, &expected, NULL));
        g_assert_cmpmem(map->live, 13, expected->live, 13);
        const float c = litho_cube_trace(map, 4, 5)[30],
                    host = litho_cube_trace(expected, 4, 5)[30];
        g_assert_cmpfloat(c, ==, fails ? host : 0.25f);
        g_assert_cmpfloat(host, !=, 0.25f);
        g_assert_true(litho_similarity_leak(in, there, slice, NULL, NULL, NULL, &leak, NULL));
        g_assert_cmpuint(device.maps, ==, 1);
        g_assert_cmpuint(device.downloads, ==, 1);
    }
    litho_cube_unref(in);
    litho_cube_unref(out);
}

// Property: samples on a device alone are counted there; where it fails, and once they have been
// fetched, the host counts them.
static void test_histogram(void)
{
    LithoCube *in, *out;
    similarity_pair(12, 13, 50, &in, &out);
    double counts[5], expected[5];
    litho_qc_histogram(out, -0.4, 0.4, 5, expected);
    memset(&device, 0, sizeof device);
    g_autoptr(LithoCube) there = similarity_device_cube(&fake, out, out->held);
    litho_qc_histogram(there, -0.4, 0.4, 5, counts);
    g_assert_cmpfloat(counts[3], ==, 7);
    g_assert_null(there->samples);
    device.fails = TRUE;
    litho_qc_histogram(there, -0.4, 0.4, 5, counts);
    g_assert_cmpmem(counts, sizeof counts, expected, sizeof expected);
    g_assert_cmpuint(device.histograms, ==, 2);
    litho_qc_histogram(there, -0.4, 0.4, 5, counts);
    g_assert_cmpuint(device.histograms, ==, 2);
    litho_cube_unref(in);
    litho_cube_unref(out);
}

// Property: what rounding removes is nothing, whatever it resembles; a thousand times its amplitude
// is something.
static void test_rounding(void)
{
    g_autoptr(LithoCube) in = test_random_cube(8, 9, 64, 5, FALSE);
    for (int k = 0; k < 2; k++) {
        const float part = k ? 1e-3f : 1e-6f;
        g_autoptr(LithoCube) out = litho_cube_copy_box(in, in->held, NULL);
        for (gint64 n = 0; n < litho_cube_held_samples(out); n++)
            out->samples[n] *= 1 - part;
        LithoLeak leak;
        g_assert_true(litho_similarity_leak(in, out, in->held, NULL, NULL, NULL, &leak, NULL));
        g_assert_cmpint(leak.count, >, 0);
        g_assert_true((leak.share > 0.4) == (k == 1) && (leak.share == 0) == (k == 0));
        g_assert_true((leak.removed > 0) == (k == 1));
        g_assert_true(g_str_equal(litho_leak_sentence(&leak), "nothing was removed") == (k == 0));
    }
}

// Property: half widths are read as they are written, none at all is the default, what is no width
// is refused with a sentence, and other widths give other numbers: wide ones find less by chance.
static void test_widths(void)
{
    static const char *const wrong[] = {"",         "3",       "3,3",   "3,3,20,1",
                                        "3,3,x",    "-1,3,20", "0,0,0", "3,51,20",
                                        "3,3,1001", "3,3,nan", "3,,20"};
    LithoSimilarityWidths w = {.seconds = 0};
    g_assert_true(litho_similarity_widths_equal(litho_similarity_widths_or_default(&w),
                                                litho_similarity_widths()));
    for (guint k = 0; k < G_N_ELEMENTS(wrong); k++) {
        g_autoptr(GError) error = NULL;
        g_assert_false(litho_similarity_widths_parse(wrong[k], &w, &error));
        g_assert_nonnull(strstr(error->message, "3,3,20"));
    }
    g_autoptr(GError) error = NULL;
    g_assert_true(litho_similarity_widths_parse("5,0,32.5", &w, &error));
    g_autofree char *text = litho_similarity_widths_print(w);
    g_assert_cmpstr(text, ==, "5,0,32.5");

    LithoCube *in, *out;
    LithoLeak usual, wide;
    similarity_pair(12, 13, 50, &in, &out);
    w = (LithoSimilarityWidths){.traces = {6, 6}, .seconds = 0.060};
    g_assert_true(litho_similarity_leak(in, out, in->held, NULL, NULL, NULL, &usual, &error));
    g_assert_true(litho_similarity_leak(in, out, in->held, &w, NULL, NULL, &wide, &error));
    g_test_message("share %.3f, with wide means %.3f", usual.share, wide.share);
    g_assert_cmpfloat(fabs(wide.share - usual.share), >, 0.01);
    litho_cube_unref(in);
    litho_cube_unref(out);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/similarity/where", test_where);
    g_test_add_func("/similarity/histogram", test_histogram);
    g_test_add_func("/similarity/widths", test_widths);
    g_test_add_func("/similarity/rounding", test_rounding);
    return test_run();
}
