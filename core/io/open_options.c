// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/open_options.h"

#include <stddef.h>
#include <string.h>

#include "core/json.h"
#include "core/param.h"
#include "core/text.h"

typedef enum { WHOLE, REAL, FLAG, ORDER, DOMAIN, DUPLICATES } Kind;

// JSON key, word of the command line, place. Shape and type of raw files are no numbers: by hand.
static const struct {
    const char *key, *word;
    Kind kind;
    size_t at;
} rows[] = {
    {"inline_byte", "--inline-byte", WHOLE, offsetof(LithoOpenOptions, inline_byte)},
    {"xline_byte", "--xline-byte", WHOLE, offsetof(LithoOpenOptions, xline_byte)},
    {"x_byte", "--x-byte", WHOLE, offsetof(LithoOpenOptions, x_byte)},
    {"y_byte", "--y-byte", WHOLE, offsetof(LithoOpenOptions, y_byte)},
    {"xy_scalar", "--xy-scalar", WHOLE, offsetof(LithoOpenOptions, xy_scalar)},
    {"format", "--format", WHOLE, offsetof(LithoOpenOptions, format)},
    {"endian", "--endian", ORDER, offsetof(LithoOpenOptions, endian)},
    {"dt", "--dt", REAL, offsetof(LithoOpenOptions, dt)},
    {"dx", "--dx", REAL, offsetof(LithoOpenOptions, dx)},
    {"dy", "--dy", REAL, offsetof(LithoOpenOptions, dy)},
    {"file_order", "--file-order", FLAG, offsetof(LithoOpenOptions, file_order)},
    {"ignore_outliers", "--ignore-outliers", FLAG, offsetof(LithoOpenOptions, ignore_outliers)},
    {"strict", "--strict", FLAG, offsetof(LithoOpenOptions, strict)},
    {"duplicates", "--duplicates", DUPLICATES, offsetof(LithoOpenOptions, duplicates)},
    {"domain", NULL, DOMAIN, offsetof(LithoOpenOptions, domain)},
    {"keep_zero_traces", "--keep-zero-traces", FLAG, offsetof(LithoOpenOptions, keep_zero_traces)},
};

static void *place(const LithoOpenOptions *options, guint k)
{
    return (char *)options + rows[k].at;
}

static double value_of(const LithoOpenOptions *options, guint k)
{
    return rows[k].kind == REAL ? *(double *)place(options, k) : *(int *)place(options, k);
}

JsonObject *litho_open_options_to_json(const LithoOpenOptions *options)
{
    JsonObject *object = json_object_new();
    for (guint k = 0; k < G_N_ELEMENTS(rows); k++) {
        double value = value_of(options, k);
        if (value == 0)
            continue;
        if (rows[k].kind == REAL)
            json_object_set_double_member(object, rows[k].key, value);
        else
            json_object_set_int_member(object, rows[k].key, (gint64)value);
    }
    if (options->shape[0] > 0) {
        JsonArray *shape = json_array_new();
        for (int a = 0; a < 3; a++)
            json_array_add_int_element(shape, options->shape[a]);
        json_object_set_array_member(object, "shape", shape);
    }
    if (options->dtype)
        json_object_set_string_member(object, "dtype", options->dtype);
    return object;
}

static void read_shape(JsonObject *object, LithoOpenOptions *options)
{
    JsonArray *shape = litho_json_array_or_null(object, "shape");
    for (guint a = 0; shape && json_array_get_length(shape) == 3 && a < 3; a++) {
        double n = 0;
        litho_json_node_number(json_array_get_element(shape, a), &n);
        options->shape[a] = (gint64)CLAMP(n, 0, 1e15);
    }
    const char *type = litho_json_string_or(object, "dtype", NULL);
    if (type)
        options->dtype = g_intern_string(type);
}

LithoOpenOptions litho_open_options_from_json(JsonObject *object)
{
    LithoOpenOptions options = {0};
    for (guint k = 0; object && k < G_N_ELEMENTS(rows); k++) {
        JsonNode *node = json_object_get_member(object, rows[k].key);
        double value = 0;
        // A flag may be written as true; another type is nothing.
        if (node && JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == G_TYPE_BOOLEAN)
            value = json_node_get_boolean(node);
        else
            litho_json_node_number(node, &value);
        if (rows[k].kind == REAL)
            *(double *)place(&options, k) = value;
        else
            *(int *)place(&options, k) = (int)CLAMP(value, G_MININT, G_MAXINT);
    }
    if (object)
        read_shape(object, &options);
    return options;
}

static void append_row(GString *words, guint k, double value)
{
    static const char *const orders[] = {"", "big", "little"};
    static const char *const which[] = {"first", "last", "mean"};
    g_autofree char *number = litho_param_number_text(value);
    switch (rows[k].kind) {
    case WHOLE:
        g_string_append_printf(words, " %s %d", rows[k].word, (int)value);
        break;
    case REAL:
        g_string_append_printf(words, " %s %s", rows[k].word, number);
        break;
    case FLAG:
        g_string_append_printf(words, " %s", rows[k].word);
        break;
    case ORDER:
        g_string_append_printf(words, " %s %s", rows[k].word, orders[CLAMP((int)value, 0, 2)]);
        break;
    case DOMAIN:
        g_string_append(words, value == 2 ? " --depth" : " --time");
        break;
    case DUPLICATES:
        g_string_append_printf(words, " %s %s", rows[k].word, which[CLAMP((int)value, 0, 2)]);
        break;
    }
}

char *litho_open_options_words(const LithoOpenOptions *options)
{
    GString *words = g_string_new(NULL);
    for (guint k = 0; k < G_N_ELEMENTS(rows); k++) {
        const double value = value_of(options, k);
        if (value != 0)
            append_row(words, k, value);
        // A long interval of times is believed with its unit alone.
        if (value != 0 && rows[k].at == offsetof(LithoOpenOptions, dt) && options->domain != 2 &&
            !litho_interval_meant(value, TRUE, FALSE, NULL))
            g_string_append_c(words, 's');
    }
    const gint64 *n = options->shape;
    if (n[0] > 0)
        g_string_append_printf(words, " --shape %" PRId64 ",%" PRId64, n[0], n[1]);
    if (n[0] > 0 && n[2] > 0)
        g_string_append_printf(words, ",%" G_GINT64_FORMAT, n[2]);
    if (options->dtype) {
        g_autofree char *type = g_shell_quote(options->dtype);
        g_string_append_printf(words, " --dtype %s", type);
    }
    return g_string_free(words, FALSE);
}

gboolean litho_open_options_equal(const LithoOpenOptions *a, const LithoOpenOptions *b)
{
    for (guint k = 0; k < G_N_ELEMENTS(rows); k++)
        if (value_of(a, k) != value_of(b, k))
            return FALSE;
    return memcmp(a->shape, b->shape, sizeof a->shape) == 0 && g_strcmp0(a->dtype, b->dtype) == 0;
}
