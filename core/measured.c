// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/measured.h"

#include "core/error.h"
#include "core/json.h"

struct LithoMeasured {
    char *key, *text;
    GBytes *bytes;
    GBytes *steady; // NULL = none
    gint refs; // atomic
};

LithoMeasured *litho_measured_new(const char *key, const char *text, gconstpointer bytes, gsize n)
{
    LithoMeasured *m = g_new0(LithoMeasured, 1);
    m->key = g_strdup(key);
    m->text = g_strdup(text);
    m->bytes = g_bytes_new(bytes, n);
    m->refs = 1;
    return m;
}

LithoMeasured *litho_measured_new_steady(const char *key, const char *text, gconstpointer bytes,
                                         gsize n, gconstpointer steady, gsize n_steady)
{
    LithoMeasured *m = litho_measured_new(key, text, bytes, n);
    m->steady = n_steady > 0 ? g_bytes_new(steady, n_steady) : NULL;
    return m;
}

LithoMeasured *litho_measured_with_steady(const LithoMeasured *measured, const char *key,
                                          const char *text, gconstpointer steady, gsize n)
{
    LithoMeasured *m = g_new0(LithoMeasured, 1);
    m->key = g_strdup(key);
    m->text = n > 0 ? g_strdup_printf("%s, %s", measured->text, text) : g_strdup(measured->text);
    m->bytes = g_bytes_ref(measured->bytes);
    m->steady = n > 0 ? g_bytes_new(steady, n) : NULL;
    m->refs = 1;
    return m;
}

LithoMeasured *litho_measured_ref(LithoMeasured *m)
{
    g_atomic_int_inc(&m->refs);
    return m;
}

void litho_measured_unref(LithoMeasured *m)
{
    if (!m || !g_atomic_int_dec_and_test(&m->refs))
        return;
    g_free(m->key);
    g_free(m->text);
    g_bytes_unref(m->bytes);
    g_clear_pointer(&m->steady, g_bytes_unref);
    g_free(m);
}

const char *litho_measured_key(const LithoMeasured *m)
{
    return m->key;
}

const char *litho_measured_text(const LithoMeasured *m)
{
    return m->text;
}

gconstpointer litho_measured_bytes(const LithoMeasured *m, gsize *n)
{
    return g_bytes_get_data(m->bytes, n);
}

gconstpointer litho_measured_steady(const LithoMeasured *m, gsize *n)
{
    *n = 0;
    return m->steady ? g_bytes_get_data(m->steady, n) : NULL;
}

JsonNode *litho_measured_to_json(const LithoMeasured *m)
{
    gsize n;
    gconstpointer bytes = g_bytes_get_data(m->bytes, &n);
    g_autofree char *text = g_base64_encode(bytes, n);
    JsonObject *object = json_object_new();
    json_object_set_string_member(object, "key", m->key);
    json_object_set_string_member(object, "text", m->text);
    json_object_set_string_member(object, "bytes", text);
    if (m->steady) {
        gconstpointer steady = g_bytes_get_data(m->steady, &n);
        g_autofree char *code = g_base64_encode(steady, n);
        json_object_set_string_member(object, "steady", code);
    }
    JsonNode *node = json_node_new(JSON_NODE_OBJECT);
    json_node_take_object(node, object);
    return node;
}

LithoMeasured *litho_measured_from_json(JsonNode *node, GError **error)
{
    LithoJsonReader r;
    LithoMeasured *m = NULL;
    gboolean good = litho_json_open(&r, node, "measured", NULL, error);
    const char *key = good ? litho_json_string(&r, "key", error) : NULL;
    const char *text = key ? litho_json_string(&r, "text", error) : NULL;
    const char *code = text ? litho_json_string(&r, "bytes", error) : NULL;
    if (code) {
        gsize n;
        g_autofree guchar *bytes = g_base64_decode(code, &n);
        gsize n_steady = 0;
        const char *steady = litho_json_node_string(litho_json_ask(&r, "steady"));
        g_autofree guchar *noise = steady ? g_base64_decode(steady, &n_steady) : NULL;
        m = litho_measured_new_steady(key, text, bytes, n, noise, n_steady);
    }
    if (litho_json_close(&r, code != NULL, NULL, error))
        return m;
    litho_measured_unref(m);
    return NULL;
}
