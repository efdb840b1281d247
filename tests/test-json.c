// SPDX-License-Identifier: GPL-3.0-or-later
//
// JSON, small files and NumPy arrays that are damaged, hostile or of the wrong kind: one sentence,
// no crash, no hang, nothing allocated for what a header only says.
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "core/contents.h"
#include "core/error.h"
#include "core/flow.h"
#include "core/io/npy.h"
#include "core/json.h"
#include "kernels/kernels.h"
#include "tests/common.h"

static char *folder;

static char *write_file(const char *name, const void *bytes, gssize length)
{
    char *path = g_build_filename(folder, name, NULL);
    g_assert_true(g_file_set_contents(path, bytes, length, NULL));
    return path;
}

static void refused(const char *text, gssize length, const char *word)
{
    g_autoptr(GError) error = NULL;
    JsonNode *node = litho_json_parse(text, length, &error);
    g_assert_null(node);
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, word));
}

// --- the parser ---------------------------------------------------------------------------------

// Property: nothing that the parser would drop or change in silence reaches it: members of one
// name, numbers beyond 64 bits, texts with a zero; a text that is cut off says so.
static void test_silence(void)
{
    refused("{\"a\": 1, \"b\": {\"a\": 2},\n \"a\": 3}", -1, "line 2 has a second member 'a'");
    refused("{\"a\": {\"b\\u001b\": 1, \"b\\u001b\": 1}}", -1, "second member 'b\\u001b'");
    refused("{\"a\": 99999999999999999999999}", -1, "whole number that is too large");
    refused("[-9223372036854775809]", -1, "whole number that is too large");
    refused("[18446744073709551616]", -1, "whole number that is too large");
    refused("{\"operator\": \"fx\\u0000patch\"}", -1, "zero character");
    refused("{\"a\": [1, 2", -1, "ends within an object or a list");
    refused("{\"a\": \"b", -1, "ends within a text");
    refused("{\"a\": \"b\\", -1, "ends within a text");
    static const char *const fine[] = {
        "[{\"a\": 1}, {\"a\": 1}]", "{\"a\": {\"a\": {\"a\": \"a\"}}}",
        "[-9223372036854775808, 9223372036854775807, 1e300, -0.5, 0]",
        "{\"a\": \"b:\", \"c\": \"a\"}"};
    for (guint k = 0; k < G_N_ELEMENTS(fine); k++) {
        g_autoptr(GError) error = NULL;
        JsonNode *node = litho_json_parse(fine[k], -1, &error);
        g_assert_no_error(error);
        json_node_unref(node);
    }
}

// Property: whole numbers that need all 64 bits without a sign are the numbers they are.
static void test_large(void)
{
    JsonNode *node =
        litho_json_parse("{\"a\": [18446744073709551615, 9223372036854775808, 1]}", -1, NULL);
    g_assert_nonnull(node);
    JsonArray *list = litho_json_array_or_null(litho_json_node_object(node), "a");
    static const double want[] = {18446744073709551615.0, 9223372036854775808.0, 1};
    for (guint k = 0; k < G_N_ELEMENTS(want); k++) {
        double value = 0;
        g_assert_true(litho_json_node_number(json_array_get_element(list, k), &value));
        g_assert_cmpfloat(value, ==, want[k]);
    }
    json_node_unref(node);
}

// Property: real numbers are written with the fewest digits that read back as they were, and stay
// real ones; texts that look like numbers stay as they are.
static void test_digits(void)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{2.6, "2.6"},
                 {0.004, "0.004"},
                 {4, "4.0"},
                 {1e30, "1e+30"},
                 {-0.1, "-0.1"},
                 {1.0 / 3, "0.3333333333333333"},
                 {5e-324, "4.94065645841247e-324"},
                 {0.1 + 0.2, "0.30000000000000004"}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        JsonObject *object = json_object_new();
        json_object_set_double_member(object, "2.6000000000000001", cases[k].value);
        json_object_set_string_member(object, "text", "a \"1.10000000000000001\": 1e+30.0");
        json_object_set_int_member(object, "whole", 9007199254740993);
        g_autofree char *line = litho_json_object_line(object);
        g_autofree char *want = g_strdup_printf(
            "{\"2.6000000000000001\":%s,\"text\":\"a \\\"1.10000000000000001\\\": 1e+30.0\","
            "\"whole\":9007199254740993}",
            cases[k].text);
        g_assert_cmpstr(line, ==, want);
        JsonNode *back = litho_json_parse(line, -1, NULL);
        double value = 0;
        g_assert_true(litho_json_node_number(
            json_object_get_member(litho_json_node_object(back), "2.6000000000000001"), &value));
        g_assert_cmpfloat(value, ==, cases[k].value);
        json_node_unref(back);
    }
}

// Property: depth is limited before anything is parsed, and nothing hides brackets from the count:
// neither strings, escapes, comments nor single quotes.
static void test_depth(void)
{
    enum { DEEP = 1000000 };
    g_autofree char *brackets = g_malloc(DEEP + 64);
    static const char *const before[] = {"",        "[\"\\\\\",", "[\"\\\"[\",", "/* \" */",
                                         "// \"\n", "'\"',",      "# \"\n"};
    for (guint k = 0; k < G_N_ELEMENTS(before); k++) {
        const gsize n = strlen(before[k]);
        memcpy(brackets, before[k], n);
        memset(brackets + n, '[', DEEP);
        brackets[n + DEEP] = '\0';
        refused(brackets, -1, before[k][0] && strchr("/'#", before[k][0]) ? "JSON" : "deep");
    }
    char text[2 * LITHO_JSON_LEVELS + 3] = {0};
    memset(text, '[', LITHO_JSON_LEVELS);
    memset(text + LITHO_JSON_LEVELS, ']', LITHO_JSON_LEVELS);
    JsonNode *node = litho_json_parse(text, -1, NULL);
    g_assert_nonnull(node);
    json_node_unref(node);
    memset(text, '[', LITHO_JSON_LEVELS + 1);
    memset(text + LITHO_JSON_LEVELS + 1, ']', LITHO_JSON_LEVELS + 1);
    refused(text, -1, "deep");
    // Brackets inside a string are none.
    g_autofree char *string =
        g_strdup_printf("[\"%s\"]", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[");
    node = litho_json_parse(string, -1, NULL);
    g_assert_nonnull(node);
    json_node_unref(node);
}

static void test_text(void)
{
    refused("", -1, "empty");
    refused("   \n", -1, "empty");
    refused("{\"a\": 1", -1, "cut off");
    // The parser behind takes several values and loses all but the last.
    refused("{}{}", -1, "behind the end");
    refused("{\"a\": 1}\n[2]", -1, "line 2 has text behind the end");
    refused("1 {}", -1, "does not begin");
    refused("{\"a\": \"\xff\"}", -1, "not text");
    refused("{}\0{}", 5, "not text");
    refused("{\"a\": \"unfinished", -1, "cut off");
    g_autofree char *long_text = g_malloc(LITHO_JSON_BYTES + 1);
    memset(long_text, ' ', LITHO_JSON_BYTES + 1);
    refused(long_text, LITHO_JSON_BYTES + 1, "bytes");
    JsonNode *marked = litho_json_parse("\xef\xbb\xbf{ \"a\": 1 }", -1, NULL);
    g_assert_nonnull(litho_json_node_object(marked));
    json_node_unref(marked);
}

// Property: every member of a recipe is typed, and the sentence names the member.
static void test_recipe_types(void)
{
    static const struct {
        const char *text, *word;
    } cases[] = {
        {"{\"lithoscope\":1,\"flow\":[{\"operator\":5}]}", "flow[0].operator must be a text"},
        {"{\"lithoscope\":1,\"flow\":[{\"operator\":null}]}", "flow[0].operator must be a text"},
        {"{\"lithoscope\":1,\"flow\":[{}]}", "flow[0].operator is missing"},
        {"{\"lithoscope\":1,\"flow\":[7]}", "flow[0] must be an object"},
        {"{\"lithoscope\":1,\"flow\":{}}", "flow must be a list"},
        {"{\"lithoscope\":\"1\",\"flow\":[]}", "lithoscope must be a number"},
        {"{\"lithoscope\":2,\"flow\":[]}", "version 1"},
        {"{\"lithoscope\":1}", "flow is missing"},
        {"[]", "a recipe must be an object"},
        {"{\"lithoscope\":1,\"flow\":[],\"folw\":[]}", "folw is not known"},
        {"{\"lithoscope\":1,\"flow\":[{\"operator\":\"fx\",\"enabled\":\"false\"}]}",
         "flow[0].enabled must be true or false"},
        {"{\"lithoscope\":1,\"flow\":[{\"operator\":\"fx\",\"enabled\":0}]}",
         "flow[0].enabled must be true or false"},
        {"{\"lithoscope\":1,\"flow\":[{\"operator\":\"fx\",\"params\":[]}]}",
         "flow[0].params must be an object"},
        {"{\"lithoscope\":1,\"flow\":[{\"operator\":\"fx\",\"params\":{\"window\":[]}}]}",
         "window"},
        {"{\"lithoscope\":1,\"flow\":[{\"operator\":\"fx\",\"params\":{\"window\":1e999}}]}", ""},
        {"{\"lithoscope\":1,\"flow\":[{\"operator\":\"fx\"},{\"operator\":\"nonsense\"}]}",
         "nonsense"},
    };
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(litho_flow_parse(cases[k].text, &error));
        g_assert_nonnull(error);
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, cases[k].word));
    }
}

// --- files --------------------------------------------------------------------------------------

// Property: what is no regular file is refused without waiting for it.
static void test_special_files(void)
{
    g_autofree char *pipe = g_build_filename(folder, "pipe.json", NULL);
    g_assert_cmpint(mkfifo(pipe, 0600), ==, 0);
    const char *paths[] = {pipe, "/dev/zero", folder, "/nonexistent/file"};
    for (guint k = 0; k < G_N_ELEMENTS(paths); k++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(litho_contents_load(paths[k], G_MAXSSIZE - 1, NULL, &error));
        g_assert_nonnull(strstr(error->message, paths[k]));
        g_clear_error(&error);
        g_assert_null(litho_json_load(paths[k], &error));
        g_assert_nonnull(error);
        g_clear_error(&error);
        gint64 shape[2];
        g_assert_null(litho_npy_read(paths[k], 2, 100, shape, &error));
        g_assert_nonnull(error);
    }
    g_autofree char *path = write_file("long.txt", "0123456789", 10);
    g_autoptr(GError) error = NULL;
    g_assert_null(litho_contents_load(path, 9, NULL, &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT);
    gsize length = 0;
    g_autofree char *text = litho_contents_load(path, 10, &length, NULL);
    g_assert_cmpstr(text, ==, "0123456789");
    g_assert_cmpuint(length, ==, 10);
}

static void test_text_files(void)
{
    g_autofree char *latin = write_file("latin.txt", "# M\xfcller\n0 2000\n", -1);
    g_autofree char *text = litho_contents_load_text(latin, 100, NULL);
    g_assert_cmpstr(text, ==, "# Müller\n0 2000\n");
    g_autofree char *binary = write_file("binary.txt", "0 2000\0\n", 8);
    g_autoptr(GError) error = NULL;
    g_assert_null(litho_contents_load_text(binary, 100, &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT);
}

// --- NumPy --------------------------------------------------------------------------------------

static char *write_npy(const char *type, const char *shape, const char *order, const void *data,
                       gsize n)
{
    g_autoptr(GByteArray) file = g_byte_array_new();
    g_autofree char *header =
        g_strdup_printf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", type, order, shape);
    g_autofree char *padded = g_strdup_printf("%-117s\n", header);
    const guint8 lead[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (guint8)strlen(padded), 0};
    g_byte_array_append(file, lead, sizeof lead);
    g_byte_array_append(file, (const guint8 *)padded, strlen(padded));
    g_byte_array_append(file, data, n);
    return write_file("array.npy", file->data, file->len);
}

// Property: doubles arrive as they are (a coordinate in metres does not fit float32), other types
// by their value, in either byte order.
static void test_npy(void)
{
    const double exact[6] = {6543210.123456789, -1e-300, 0.1, 4, 5, 6e15};
    guint8 swapped[48];
    for (int k = 0; k < 48; k++)
        swapped[k] = ((const guint8 *)exact)[k / 8 * 8 + 7 - k % 8];
    gint64 shape[2];
    for (int big = 0; big < 2; big++) {
        g_autofree char *path =
            write_npy(big ? ">f8" : "<f8", "(2, 3)", "False", big ? swapped : (void *)exact, 48);
        g_autofree double *x = litho_npy_read(path, 2, 6, shape, NULL);
        g_assert_cmpmem(x, 48, exact, 48);
        g_assert_true(shape[0] == 2 && shape[1] == 3);
    }
    const gint16 small[3] = {-5, 0, 32000};
    g_autofree char *path = write_npy("<i2", "(3,)", "False", small, 6);
    g_autofree double *x = litho_npy_read(path, 1, 3, shape, NULL);
    g_assert_true(shape[0] == 3 && x[0] == -5 && x[1] == 0 && x[2] == 32000);
    const gint32 large[2] = {-2147483647, 16777217}; // beyond float32's whole numbers
    g_autofree char *of_int32 = write_npy("<i4", "(2,)", "False", large, 8);
    g_autofree double *y = litho_npy_read(of_int32, 1, 2, shape, NULL);
    g_assert_true(y[0] == -2147483647 && y[1] == 16777217);
    const guint32 larger[1] = {4294967295u};
    g_autofree char *of_uint32 = write_npy("<u4", "(1,)", "False", larger, 4);
    g_autofree double *z = litho_npy_read(of_uint32, 1, 1, shape, NULL);
    g_assert_true(z[0] == 4294967295.0);
}

// Property: nothing is believed that a header says: products that wrap, more numbers than the file
// or the caller's limit has, other axes, orders and types.
static void test_npy_refused(void)
{
    static const struct {
        const char *type, *shape, *order;
    } cases[] = {
        {"<f8", "(2147352580, 1073807362)", "False"}, // 8 times the product wraps to 64 bytes
        {"<f8", "(4611686018427387904, 4)", "False"},
        {"<f8", "(3, 3)", "False"},
        {"<f8", "(8,)", "False"},
        {"<f8", "(2, 2, 2)", "False"},
        {"<f8", "(2, 4)", "True"},
        {"<f8", "(0, 4)", "False"},
        {"<f8", "(-2, -4)", "False"},
        {"<c16", "(2, 2)", "False"},
        {"<f8", "(100, 100)", "False"},
    };
    const double data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    gint64 shape[2];
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *path =
            write_npy(cases[k].type, cases[k].shape, cases[k].order, data, sizeof data);
        g_assert_null(litho_npy_read(path, 2, 1000, shape, &error));
        g_assert_nonnull(error);
        g_test_message("%s", error->message);
    }
    g_autofree char *path = write_npy("<f8", "(2, 4)", "False", data, sizeof data);
    g_autofree double *x = litho_npy_read(path, 2, 8, shape, NULL);
    g_assert_nonnull(x);
    g_assert_null(litho_npy_read(path, 2, 7, shape, NULL));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    folder = g_dir_make_tmp("litho-json-XXXXXX", NULL);
    g_test_add_func("/json/depth", test_depth);
    g_test_add_func("/json/digits", test_digits);
    g_test_add_func("/json/silence", test_silence);
    g_test_add_func("/json/large", test_large);
    g_test_add_func("/json/text", test_text);
    g_test_add_func("/json/recipe-types", test_recipe_types);
    g_test_add_func("/contents/special-files", test_special_files);
    g_test_add_func("/contents/text-files", test_text_files);
    g_test_add_func("/npy/values", test_npy);
    g_test_add_func("/npy/refused", test_npy_refused);
    int status = g_test_run();
    test_remove_folder(folder);
    return status;
}
