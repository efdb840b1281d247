// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>

#include "core/engine/find.h"

static void add_value(JsonObject *object, const LithoParam *row, double value)
{
    if (row->type == LITHO_PARAM_CHOICE)
        json_object_set_string_member(object, row->key, litho_param_choice(row, (guint)value));
    else if (row->type == LITHO_PARAM_FLOAT)
        json_object_set_double_member(object, row->key, value);
    else
        json_object_set_int_member(object, row->key, (gint64)value);
}

JsonObject *litho_find_to_json(const LithoFind *find)
{
    JsonObject *root = json_object_new(), *now = json_object_new(), *found = json_object_new();
    JsonObject *gains = json_object_new(), *before = json_object_new(), *after = json_object_new();
    JsonArray *area = json_array_new();
    for (guint k = 0; k < find->n; k++) {
        add_value(now, find->item[k].row, find->item[k].now);
        add_value(found, find->item[k].row, find->item[k].found);
        json_object_set_double_member(gains, find->item[k].row->key, find->item[k].gain_db);
    }
    for (int axis = 0; axis < 3; axis++) {
        json_array_add_int_element(area, find->area.lo[axis]);
        json_array_add_int_element(area, find->area.hi[axis]);
    }
    litho_quality_to_json(&find->now, before);
    litho_quality_to_json(&find->found, after);
    json_object_set_object_member(root, "now", now);
    json_object_set_object_member(root, "found", found);
    json_object_set_double_member(root, "gain_db", find->gain_db);
    json_object_set_double_member(root, "seconds", find->seconds);
    if (isfinite(find->gain_low_db) && isfinite(find->gain_high_db)) {
        JsonArray *interval = json_array_new();
        json_array_add_double_element(interval, find->gain_low_db);
        json_array_add_double_element(interval, find->gain_high_db);
        json_object_set_array_member(root, "gain_interval_db", interval);
    }
    json_object_set_object_member(root, "gains_db", gains);
    json_object_set_object_member(root, "quality_now", before);
    json_object_set_object_member(root, "quality_found", after);
    json_object_set_array_member(root, "area", area);
    json_object_set_int_member(root, "trials", find->trials);
    if (*find->why)
        json_object_set_string_member(root, "note", find->why);
    return root;
}
