// SPDX-License-Identifier: GPL-3.0-or-later
//
// Host memory of results that come from a device, driven with a backend that hands out a number.
#include "core/backend.h"
#include "core/cube.h"
#include "tests/common.h"

static float number;

static void fake_free(LithoBuffer *buffer)
{
    g_free(buffer);
}

static gboolean fake_download(const LithoBuffer *buffer, gint64 at, float *to, gint64 count,
                              GError **error)
{
    (void)buffer;
    (void)error;
    for (gint64 k = 0; k < count; k++)
        to[k] = number + (float)(at + k);
    return TRUE;
}

// Memory that is pinned now; how often it was.
static gpointer pinned[4];
static guint n_pinned, pins;

static gboolean fake_pin(int device, gpointer memory, gsize bytes)
{
    (void)device;
    g_assert_cmpuint(bytes, >, 0);
    g_assert_cmpuint(n_pinned, <, G_N_ELEMENTS(pinned));
    pinned[n_pinned++] = memory;
    pins++;
    return TRUE;
}

static void fake_unpin(gpointer memory)
{
    guint k = 0;
    while (k < n_pinned && pinned[k] != memory)
        k++;
    g_assert_cmpuint(k, <, n_pinned); // once only
    pinned[k] = pinned[--n_pinned];
}

static const LithoBackend fake = {
    .free = fake_free, .download = fake_download, .pin = fake_pin, .unpin = fake_unpin};

static LithoCube *result(gint64 n)
{
    const LithoGrid grid = litho_grid_new(n, 256, 256);
    LithoBuffer *buffer = g_new0(LithoBuffer, 1);
    *buffer = (LithoBuffer){.backend = &fake, .count = n * 256 * 256};
    return litho_cube_new_device(&grid, litho_box_full(&grid), buffer, NULL);
}

// Fetches a result of n x 256 x 256 samples, checks it and lets it go; where its samples were.
static gconstpointer fetch(gint64 n, float value)
{
    g_autoptr(LithoCube) cube = result(n);
    number = value;
    const float *samples = litho_cube_host(cube, NULL);
    g_assert_nonnull(samples);
    g_assert_cmpfloat(samples[0], ==, value);
    g_assert_cmpfloat(samples[n * 256 * 256 - 1], ==, value + (float)(n * 256 * 256 - 1));
    return samples;
}

// Property: the memory of a result serves the next of equal size, never a cube that is made zero,
// and goes when a result of another size comes. Machines with less than 1.1 GB keep nothing.
static void test_reused(void)
{
    const gconstpointer first = fetch(64, 1);
    const LithoGrid grid = litho_grid_new(64, 256, 256);
    g_autoptr(LithoCube) zero = litho_cube_new(&grid, NULL);
    g_assert_true(zero->samples != first);
    for (gint64 k = 0; k < litho_box_count(zero->held); k += 4099)
        g_assert_cmpfloat(zero->samples[k], ==, 0);
    LithoDeviceInfo info;
    g_assert_true(litho_backend_cpu()->device_info(0, &info, NULL));
    if (info.memory_total > (guint64)5 << 28)
        g_assert_true(fetch(64, 2) == first);
    fetch(80, 3);
    fetch(64, 4);
    g_autoptr(LithoCube) a = result(64), b = result(64);
    g_assert_true(litho_cube_host(a, NULL) != litho_cube_host(b, NULL));
}

// Property: memory that serves a second result is pinned, once, and not pinned any more when it is
// freed; memory that serves one result never is.
static void test_pinned(void)
{
    fetch(72, 1); // of another size: nothing is kept of the test before
    pins = 0;
    g_assert_cmpuint(n_pinned, ==, 0);
    fetch(64, 2);
    g_assert_cmpuint(pins, ==, 0);
    fetch(64, 3);
    const gboolean keeps = pins > 0; // a machine with little memory keeps none
    g_assert_cmpuint(fetch(64, 4) != NULL && keeps, ==, pins);
    fetch(80, 5);
    g_assert_cmpuint(n_pinned, ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cube/reused", test_reused);
    g_test_add_func("/cube/pinned", test_pinned);
    return g_test_run();
}
