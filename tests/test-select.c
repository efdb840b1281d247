// SPDX-License-Identifier: GPL-3.0-or-later
//
// The k-th smallest of many numbers.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/select.h"

static int compare(gconstpointer a, gconstpointer b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

typedef enum Kind { POWERS, ANY_SIGN, FEW_VALUES, ANY_SIZE, N_KINDS } Kind;

static float number(GRand *rand, Kind kind)
{
    const double u = g_rand_double_range(rand, 1e-9, 1);
    switch (kind) {
    case POWERS: // of noise
        return (float)-log(u);
    case ANY_SIGN:
        return (float)(u - 0.5);
    case FEW_VALUES:
        return (float)(g_rand_int_range(rand, 0, 3) - 1);
    default: // subnormal ones and infinity, too
        return (float)(pow(10, 90 * (u - 0.5)) * (g_rand_boolean(rand) ? 1 : -1));
    }
}

// Property: the number is that at place k of the sorted ones, whatever bits they share and for few
// and many of them.
static void test_sorted(void)
{
    static const int sizes[] = {1, 2, 3, 255, 1024, 1025, 4099, 50001, 300000};
    g_autoptr(GRand) rand = g_rand_new_with_seed(7);
    for (guint s = 0; s < G_N_ELEMENTS(sizes); s++)
        for (Kind kind = POWERS; kind < N_KINDS; kind++) {
            const int n = sizes[s];
            g_autofree float *x = g_new(float, n), *sorted = g_new(float, n);
            for (int i = 0; i < n; i++)
                sorted[i] = number(rand, kind);
            memcpy(x, sorted, n * sizeof *x);
            qsort(sorted, n, sizeof *sorted, compare);
            const int places[] = {0, n - 1, n / 2, n / 10, g_rand_int_range(rand, 0, n)};
            for (guint k = 0; k < G_N_ELEMENTS(places); k++)
                g_assert_cmpfloat(litho_select_kth(x, n, places[k]), ==, sorted[places[k]]);
        }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/select/sorted", test_sorted);
    return g_test_run();
}
