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

static const LithoBackend fake = {.free = fake_free, .download = fake_download};

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

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cube/reused", test_reused);
    return g_test_run();
}
