// SPDX-License-Identifier: GPL-3.0-or-later
// The fuzzer's entry without the fuzzer: the seed corpus, then two thousand mutations of it (bytes
// changed, blocks moved, ends cut) from a fixed random seed. Property: nothing crashes, hangs or
// trips a critical warning (fatal here). Under -Db_sanitize=address,undefined it sees more.
#include <glib/gstdio.h>
#include <string.h>

#include "tests/fuzz_one.h"

static GPtrArray *seeds;

static gint compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void load_seeds(void)
{
    g_autofree char *folder = g_dir_make_tmp("litho-seeds-XXXXXX", NULL);
    seeds = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    litho_fuzz_seeds(folder);
    GDir *dir = g_dir_open(folder, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (const char *name; (name = g_dir_read_name(dir));)
        g_ptr_array_add(names, g_build_filename(folder, name, NULL));
    g_dir_close(dir);
    g_ptr_array_sort(names, compare_names);
    for (guint k = 0; k < names->len; k++) {
        char *data;
        gsize n;
        g_assert_true(g_file_get_contents(names->pdata[k], &data, &n, NULL));
        g_ptr_array_add(seeds, g_bytes_new_take(data, n));
        g_unlink(names->pdata[k]);
    }
    g_rmdir(folder);
    g_assert_cmpuint(seeds->len, >=, 17);
}

static void test_seeds(void)
{
    for (guint k = 0; k < seeds->len; k++) {
        gsize n;
        const guint8 *data = g_bytes_get_data(seeds->pdata[k], &n);
        litho_fuzz_one(data, n);
    }
}

static void mutate(GRand *rand, guint8 *data, gsize n)
{
    static const guint8 extremes[] = {0, 1, 0x7f, 0x80, 0xff, 0x40, ' '};
    for (int changes = g_rand_int_range(rand, 1, 12); changes > 0; changes--) {
        // Headers are where decisions are made: half of the changes go there.
        gsize limit = g_rand_boolean(rand) ? MIN(n, 4400) : n, from = n > 3400 ? 3200 : 0;
        gsize at = (gsize)g_rand_int_range(rand, (gint32)MIN(from, limit - 1), (gint32)limit);
        gsize length = (gsize)g_rand_int_range(rand, 1, 5);
        length = MIN(length, n - at);
        for (gsize k = 0; k < length; k++)
            data[at + k] = g_rand_boolean(rand) ? (guint8)g_rand_int(rand)
                                                : extremes[g_rand_int_range(rand, 0, 7)];
        if (g_rand_int_range(rand, 0, 8) == 0 && n > 600)
            memmove(data + at % (n - 500), data + n - 500, 300);
    }
}

static void test_mutations(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(20240607);
    for (int round = 0; round < 2000; round++) {
        gsize n;
        const guint8 *data = g_bytes_get_data(seeds->pdata[round % seeds->len], &n);
        g_autofree guint8 *copy = g_memdup2(data, n);
        mutate(rand, copy, n);
        if (round % 5 == 0)
            n = (gsize)g_rand_int_range(rand, 2, (gint32)n);
        litho_fuzz_one(copy, n);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    load_seeds();
    g_test_add_func("/fuzz/seeds", test_seeds);
    g_test_add_func("/fuzz/mutations", test_mutations);
    int status = g_test_run();
    g_ptr_array_unref(seeds);
    return status;
}
