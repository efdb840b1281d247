// SPDX-License-Identifier: GPL-3.0-or-later
//
// The k-th smallest of many numbers, one by one and in columns; sums of those below a limit.
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

// Property: a column's number is that at place k of its sorted ones, zeros and infinity among them.
// Columns beside the ones that are asked for hold numbers of any sign and change nothing.
static void test_columns(void)
{
    enum { WIDE = 50, MOST = 130 };
    static const int rows[] = {1, 2, 40, MOST}, columns[] = {1, 7, 8, 23, WIDE};
    g_autoptr(GRand) rand = g_rand_new_with_seed(8);
    g_autofree float *x = g_new(float, MOST *WIDE);
    const float *row[MOST];
    for (int i = 0; i < MOST; i++)
        row[i] = x + (MOST - 1 - i) * WIDE; // in any order
    for (guint r = 0; r < G_N_ELEMENTS(rows); r++)
        for (guint c = 0; c < G_N_ELEMENTS(columns); c++) {
            const int n = rows[r], k = g_rand_int_range(rand, 0, n);
            float found[WIDE], sorted[MOST];
            for (int i = 0; i < MOST * WIDE; i++) {
                const Kind kind = i % WIDE % 3 == 0 ? FEW_VALUES : i % 2 ? POWERS : ANY_SIZE;
                x[i] = number(rand, kind);
                x[i] = i % WIDE < columns[c] ? fabsf(x[i]) : -x[i];
            }
            litho_select_columns(row, n, k, columns[c], found);
            for (int j = 0; j < columns[c]; j++) {
                for (int i = 0; i < n; i++)
                    sorted[i] = row[i][j];
                qsort(sorted, n, sizeof *sorted, compare);
                g_assert_cmpfloat(found[j], ==, sorted[k]);
            }
        }
}

// Property: the sum is that of eight lanes, added up one after the other behind the rest, bit for
// bit; the number is that of a plain count.
static void test_sum_below(void)
{
    static const int sizes[] = {0, 1, 7, 8, 9, 1000, 4099};
    g_autoptr(GRand) rand = g_rand_new_with_seed(9);
    for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
        const int n = sizes[s], whole = n / 8 * 8;
        g_autofree float *x = g_new(float, n);
        double lanes[8] = {0}, sum = 0, found;
        gint64 kept = 0;
        for (int i = 0; i < n; i++)
            x[i] = i % 97 == 5 ? 2.5f : number(rand, POWERS);
        for (int i = 0; i < n; i++) {
            *(i < whole ? &lanes[i % 8] : &sum) += x[i] <= 2.5 ? x[i] : 0;
            kept += x[i] <= 2.5;
        }
        for (int lane = 0; lane < 8; lane++)
            sum += lanes[lane];
        g_assert_cmpint(litho_sum_below(x, n, 2.5, &found), ==, kept);
        g_assert_cmpfloat(found, ==, sum);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/select/sorted", test_sorted);
    g_test_add_func("/select/columns", test_columns);
    g_test_add_func("/select/sum-below", test_sum_below);
    return g_test_run();
}
