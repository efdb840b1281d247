// SPDX-License-Identifier: GPL-3.0-or-later
// The small parsers without the fuzzer: seeds, the kept corpus (tests/corpus/PARSER), and mutations
// of both from a fixed random seed. Property: nothing crashes, hangs or trips a critical warning
// (fatal here). Under -Db_sanitize=address,undefined it sees more.
#include <glib/gstdio.h>
#include <string.h>

#include "core/error.h"
#include "tests/fuzz_parsers.h"

enum { MUTATIONS = 400 };

static gint compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void load_folder(GPtrArray *inputs, const char *folder, gboolean remove)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (const char *name; dir && (name = g_dir_read_name(dir));)
        g_ptr_array_add(names, g_build_filename(folder, name, NULL));
    g_ptr_array_sort(names, compare_names);
    for (guint k = 0; k < names->len; k++) {
        char *data;
        gsize n;
        g_assert_true(g_file_get_contents(names->pdata[k], &data, &n, NULL));
        g_ptr_array_add(inputs, g_bytes_new_take(data, n));
        if (remove)
            g_unlink(names->pdata[k]);
    }
    if (remove)
        g_rmdir(folder);
}

// Bytes changed, cut out, doubled; digits and brackets more often than others.
static GByteArray *mutate(GRand *rand, const guint8 *data, gsize n)
{
    static const char words[] = "0123456789-+.eE{}[]\",:\n \0\xff";
    GByteArray *out = g_byte_array_new();
    g_byte_array_append(out, data, (guint)n);
    for (int changes = g_rand_int_range(rand, 1, 8); changes > 0 && out->len > 0; changes--) {
        guint at = (guint)g_rand_int_range(rand, 0, (gint32)out->len);
        guint length = (guint)g_rand_int_range(rand, 1, 30);
        length = MIN(length, out->len - at);
        switch (g_rand_int_range(rand, 0, 4)) {
        case 0:
            out->data[at] = (guint8)words[g_rand_int_range(rand, 0, (gint32)sizeof words - 1)];
            break;
        case 1:
            out->data[at] = (guint8)g_rand_int(rand);
            break;
        case 2:
            g_byte_array_remove_range(out, at, length);
            break;
        default: {
            g_autofree guint8 *copy = g_memdup2(out->data + at, length);
            g_byte_array_append(out, copy, length);
        }
        }
    }
    return out;
}

static void test_parser(gconstpointer data)
{
    const LithoFuzzParser *parser = data;
    g_autoptr(GPtrArray) inputs = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_autofree char *folder = g_dir_make_tmp("litho-seeds-XXXXXX", NULL);
    g_autofree char *corpus = g_test_build_filename(G_TEST_DIST, "corpus", parser->name, NULL);
    litho_fuzz_parsers_seed(parser, folder);
    load_folder(inputs, folder, TRUE);
    g_assert_cmpuint(inputs->len, >, 0);
    load_folder(inputs, corpus, FALSE);
    g_test_message("%u inputs", inputs->len);
    g_autoptr(GRand) rand = g_rand_new_with_seed(20240607);
    for (guint k = 0; k < inputs->len + MUTATIONS; k++) {
        gsize n;
        const guint8 *bytes = g_bytes_get_data(inputs->pdata[k % inputs->len], &n);
        if (k < inputs->len) {
            parser->parse(bytes, n);
            continue;
        }
        g_autoptr(GByteArray) changed = mutate(rand, bytes, n);
        parser->parse(changed->data, changed->len);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_fuzz_parsers_start();
    for (const LithoFuzzParser *p = litho_fuzz_parsers(); p->name; p++) {
        g_autofree char *path = g_strconcat("/fuzz/", p->name, NULL);
        g_test_add_data_func(path, p, test_parser);
    }
    return g_test_run();
}
