// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/history.h"

#include <string.h>

#include "core/json.h"
#include "core/text.h"

#define MERGE_US 1500000 // longer than a frame of the slowest software OpenGL

typedef struct Entry {
    LithoFlow *flow;
    char *name;
} Entry;

struct LithoHistory {
    GPtrArray *past, *future; // of Entry, newest last
    gint64 pushed_us;         // last push, 0 = the next one stands alone
    gboolean held;
};

static void entry_free(gpointer data)
{
    Entry *entry = data;
    litho_flow_free(entry->flow);
    g_free(entry->name);
    g_free(entry);
}

static void add(GPtrArray *list, const LithoFlow *flow, const char *name)
{
    Entry *entry = g_new(Entry, 1);
    entry->flow = litho_flow_copy(flow);
    entry->name = g_strdup(name);
    g_ptr_array_add(list, entry);
}

static Entry *newest(GPtrArray *list)
{
    return list->len > 0 ? g_ptr_array_index(list, list->len - 1) : NULL;
}

LithoHistory *litho_history_new(void)
{
    LithoHistory *h = g_new0(LithoHistory, 1);
    h->past = g_ptr_array_new_with_free_func(entry_free);
    h->future = g_ptr_array_new_with_free_func(entry_free);
    return h;
}

void litho_history_free(LithoHistory *h)
{
    g_ptr_array_unref(h->past);
    g_ptr_array_unref(h->future);
    g_free(h);
}

void litho_history_push(LithoHistory *h, const LithoFlow *before, const char *name)
{
    gint64 now = g_get_monotonic_time();
    Entry *last = newest(h->past);
    gboolean same = last && h->pushed_us > 0 && (h->held || now - h->pushed_us < MERGE_US) &&
                    strcmp(last->name, name) == 0;
    if (!same)
        add(h->past, before, name);
    g_ptr_array_set_size(h->future, 0);
    h->pushed_us = now;
}

void litho_history_seal(LithoHistory *h)
{
    h->pushed_us = 0;
}

void litho_history_hold(LithoHistory *h, gboolean held)
{
    h->held = held;
    h->pushed_us = 0;
}

// Moves the newest entry of `from` out, keeping `now` in `to` under the same name.
static LithoFlow *step(LithoHistory *h, GPtrArray *from, GPtrArray *to, const LithoFlow *now)
{
    Entry *entry = newest(from);
    if (!entry)
        return NULL;
    add(to, now, entry->name);
    LithoFlow *flow = g_steal_pointer(&entry->flow);
    g_ptr_array_set_size(from, from->len - 1);
    h->pushed_us = 0;
    return flow;
}

LithoFlow *litho_history_undo(LithoHistory *h, const LithoFlow *now)
{
    return step(h, h->past, h->future, now);
}

LithoFlow *litho_history_redo(LithoHistory *h, const LithoFlow *now)
{
    return step(h, h->future, h->past, now);
}

const char *litho_history_undo_name(const LithoHistory *h)
{
    Entry *entry = newest(h->past);
    return entry ? entry->name : NULL;
}

const char *litho_history_redo_name(const LithoHistory *h)
{
    Entry *entry = newest(h->future);
    return entry ? entry->name : NULL;
}

guint litho_history_length(const LithoHistory *h, gboolean redo)
{
    return redo ? h->future->len : h->past->len;
}

static const Entry *entry_at(const LithoHistory *h, gboolean redo, guint k)
{
    const GPtrArray *list = redo ? h->future : h->past;
    return g_ptr_array_index(list, list->len - 1 - k);
}

const char *litho_history_name(const LithoHistory *h, gboolean redo, guint k)
{
    return entry_at(h, redo, k)->name;
}

const LithoFlow *litho_history_flow(const LithoHistory *h, gboolean redo, guint k)
{
    return entry_at(h, redo, k)->flow;
}

// --- sessions -----------------------------------------------------------------------------------

JsonArray *litho_history_to_json(const LithoHistory *h, gboolean redo, guint most)
{
    GPtrArray *list = redo ? h->future : h->past;
    JsonArray *array = json_array_new();
    for (guint k = list->len > most ? list->len - most : 0; k < list->len; k++) {
        Entry *entry = g_ptr_array_index(list, k);
        JsonObject *object = json_object_new();
        json_object_set_string_member(object, "name", entry->name);
        json_object_set_member(object, "recipe", litho_flow_to_json(entry->flow));
        json_array_add_object_element(array, object);
    }
    return array;
}

void litho_history_from_json(LithoHistory *h, gboolean redo, JsonArray *array)
{
    GPtrArray *list = redo ? h->future : h->past;
    g_ptr_array_set_size(list, 0);
    h->pushed_us = 0;
    for (guint k = 0; array && k < json_array_get_length(array); k++) {
        JsonObject *object = litho_json_node_object(json_array_get_element(array, k));
        g_autoptr(LithoFlow) flow =
            object ? litho_flow_from_json(json_object_get_member(object, "recipe"), NULL) : NULL;
        if (flow)
            add(list, flow, litho_json_string_or(object, "name", _("Change")));
    }
}
