// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <string.h>

#include "core/report.h"

#include "core/text.h"

struct LithoReport {
    GMutex lock;
    GArray *numbers, *curves, *shapes, *layers;
    GPtrArray *remarks; // of char *
    LithoReport *also; // hears the same; set and read by the thread that runs the operator
    guint serial;
    gint refs;
};

static void curve_clear(gpointer data)
{
    LithoCurve *curve = data;
    g_free(curve->x);
    g_free(curve->y);
}

static GArray *curves_new(void)
{
    GArray *curves = g_array_new(FALSE, TRUE, sizeof(LithoCurve));
    g_array_set_clear_func(curves, curve_clear);
    return curves;
}

static void shape_clear(gpointer data)
{
    LithoShape *shape = data;
    g_free(shape->xyz);
    g_free(shape->value);
}

static GArray *shapes_new(void)
{
    GArray *shapes = g_array_new(FALSE, TRUE, sizeof(LithoShape));
    g_array_set_clear_func(shapes, shape_clear);
    return shapes;
}

static void layer_clear(gpointer data)
{
    litho_cube_unref(((LithoLayer *)data)->cube);
}

static GArray *layers_new(void)
{
    GArray *layers = g_array_new(FALSE, TRUE, sizeof(LithoLayer));
    g_array_set_clear_func(layers, layer_clear);
    return layers;
}

LithoReport *litho_report_new(void)
{
    LithoReport *report = g_new0(LithoReport, 1);
    g_mutex_init(&report->lock);
    report->numbers = g_array_new(FALSE, TRUE, sizeof(LithoNumber));
    report->curves = curves_new();
    report->shapes = shapes_new();
    report->layers = layers_new();
    report->remarks = g_ptr_array_new_with_free_func(g_free);
    report->refs = 1;
    return report;
}

LithoReport *litho_report_ref(LithoReport *report)
{
    g_atomic_int_inc(&report->refs);
    return report;
}

void litho_report_unref(LithoReport *report)
{
    if (!report || !g_atomic_int_dec_and_test(&report->refs))
        return;
    litho_report_unref(report->also);
    g_array_unref(report->numbers);
    g_array_unref(report->curves);
    g_array_unref(report->shapes);
    g_array_unref(report->layers);
    g_ptr_array_unref(report->remarks);
    g_mutex_clear(&report->lock);
    g_free(report);
}

static LithoNumber *number_for(LithoReport *report, const char *key, gboolean make)
{
    for (guint k = 0; k < report->numbers->len; k++) {
        LithoNumber *number = &g_array_index(report->numbers, LithoNumber, k);
        if (strcmp(number->key, key) == 0)
            return number;
    }
    if (!make)
        return NULL;
    g_array_set_size(report->numbers, report->numbers->len + 1);
    return &g_array_index(report->numbers, LithoNumber, report->numbers->len - 1);
}

void litho_report_number(LithoReport *report, const char *key, const char *label, const char *unit,
                         double value)
{
    if (!report)
        return;
    g_mutex_lock(&report->lock);
    LithoNumber *number = number_for(report, key, TRUE);
    g_strlcpy(number->key, key, sizeof number->key);
    g_strlcpy(number->label, label, sizeof number->label);
    g_strlcpy(number->unit, unit, sizeof number->unit);
    number->value = value;
    report->serial++;
    g_mutex_unlock(&report->lock);
    litho_report_number(report->also, key, label, unit, value);
}

static const char used_prefix[] = "used:";

static void used_key(char out[32], const char *operator_key, const char *key)
{
    g_snprintf(out, 32, "%s%s.%s", used_prefix, operator_key, key);
}

void litho_report_used(LithoReport *report, const char *operator_key, const char *key, double value)
{
    const char *nothing = ""; // no text to translate
    char full[32];
    used_key(full, operator_key, key);
    litho_report_number(report, full, nothing, nothing, value);
}

gboolean litho_number_is_used(const LithoNumber *number, const char *operator_key, const char *key)
{
    char full[32];
    used_key(full, operator_key, key);
    return strcmp(number->key, full) == 0;
}

gboolean litho_number_is_any_used(const LithoNumber *number)
{
    return g_str_has_prefix(number->key, used_prefix);
}

static LithoCurve *curve_for(LithoReport *report, const char *key)
{
    for (guint k = 0; k < report->curves->len; k++) {
        LithoCurve *curve = &g_array_index(report->curves, LithoCurve, k);
        if (strcmp(curve->key, key) == 0)
            return curve;
    }
    return NULL;
}

void litho_report_curve(LithoReport *report, const char *key, const char *label,
                        const char *x_label, const char *y_label, guint n, const double *x,
                        const double *y)
{
    if (!report)
        return;
    g_mutex_lock(&report->lock);
    LithoCurve *curve = curve_for(report, key);
    if (!curve) {
        g_array_set_size(report->curves, report->curves->len + 1);
        curve = &g_array_index(report->curves, LithoCurve, report->curves->len - 1);
    }
    curve_clear(curve);
    g_strlcpy(curve->key, key, sizeof curve->key);
    g_strlcpy(curve->label, label, sizeof curve->label);
    g_strlcpy(curve->x_label, x_label, sizeof curve->x_label);
    g_strlcpy(curve->y_label, y_label, sizeof curve->y_label);
    curve->n = n;
    curve->x = g_memdup2(x, n * sizeof(double));
    curve->y = g_memdup2(y, n * sizeof(double));
    report->serial++;
    g_mutex_unlock(&report->lock);
    litho_report_curve(report->also, key, label, x_label, y_label, n, x, y);
}

void litho_report_curve_style(LithoReport *report, const char *key, const char *group,
                              const char *name, gboolean log_x, gboolean log_y, gboolean bars)
{
    if (!report)
        return;
    g_mutex_lock(&report->lock);
    LithoCurve *curve = curve_for(report, key);
    if (curve) {
        g_strlcpy(curve->group, group ? group : "", sizeof curve->group);
        g_strlcpy(curve->name, name ? name : "", sizeof curve->name);
        curve->log_x = log_x;
        curve->log_y = log_y;
        curve->bars = bars;
        report->serial++;
    }
    g_mutex_unlock(&report->lock);
    litho_report_curve_style(report->also, key, group, name, log_x, log_y, bars);
}

void litho_report_curve_role(LithoReport *report, const char *key, LithoCurveRole role)
{
    if (!report)
        return;
    g_mutex_lock(&report->lock);
    LithoCurve *curve = curve_for(report, key);
    if (curve) {
        curve->role = role;
        report->serial++;
    }
    g_mutex_unlock(&report->lock);
    litho_report_curve_role(report->also, key, role);
}

void litho_report_curve_marks(LithoReport *report, const char *key, guint n, const double *x)
{
    if (!report)
        return;
    g_mutex_lock(&report->lock);
    LithoCurve *curve = curve_for(report, key);
    if (curve) {
        curve->n_marks = MIN(n, LITHO_CURVE_MARKS);
        memcpy(curve->mark, x, curve->n_marks * sizeof *x);
        report->serial++;
    }
    g_mutex_unlock(&report->lock);
    litho_report_curve_marks(report->also, key, n, x);
}

// Number of colour values a shape carries.
static gsize n_values(const LithoShape *shape)
{
    return shape->kind == LITHO_SHAPE_BOXES ? shape->n / 8 : shape->n;
}

static LithoShape shape_copy(const LithoShape *from)
{
    LithoShape shape = *from;
    shape.xyz = g_memdup2(from->xyz, 3 * (gsize)from->n * sizeof(float));
    shape.value = from->value ? g_memdup2(from->value, n_values(from) * sizeof(float)) : NULL;
    return shape;
}

void litho_report_shape(LithoReport *report, const LithoShape *shape)
{
    if (!report)
        return;
    LithoShape copy = shape_copy(shape);
    g_mutex_lock(&report->lock);
    guint k = 0;
    while (k < report->shapes->len &&
           strcmp(g_array_index(report->shapes, LithoShape, k).key, shape->key) != 0)
        k++;
    if (k < report->shapes->len) {
        shape_clear(&g_array_index(report->shapes, LithoShape, k));
        g_array_index(report->shapes, LithoShape, k) = copy;
    } else
        g_array_append_val(report->shapes, copy);
    report->serial++;
    g_mutex_unlock(&report->lock);
    litho_report_shape(report->also, shape);
}

void litho_report_layer(LithoReport *report, const char *key, const char *label, const char *unit,
                        LithoCube *cube)
{
    if (!report)
        return;
    LithoLayer layer = {.cube = litho_cube_ref(cube)};
    g_strlcpy(layer.key, key, sizeof layer.key);
    g_strlcpy(layer.label, label, sizeof layer.label);
    g_strlcpy(layer.unit, unit, sizeof layer.unit);
    g_mutex_lock(&report->lock);
    for (guint k = 0; k < report->layers->len; k++)
        if (strcmp(g_array_index(report->layers, LithoLayer, k).key, key) == 0) {
            g_array_remove_index(report->layers, k);
            break;
        }
    g_array_append_val(report->layers, layer);
    report->serial++;
    g_mutex_unlock(&report->lock);
    litho_report_layer(report->also, key, label, unit, cube);
}

GArray *litho_report_layers(LithoReport *report)
{
    GArray *copy = layers_new();
    g_mutex_lock(&report->lock);
    for (guint k = 0; k < report->layers->len; k++) {
        LithoLayer layer = g_array_index(report->layers, LithoLayer, k);
        litho_cube_ref(layer.cube);
        g_array_append_val(copy, layer);
    }
    g_mutex_unlock(&report->lock);
    return copy;
}

void litho_report_forward(LithoReport *report, LithoReport *to)
{
    LithoReport *before = report->also;
    report->also = to ? litho_report_ref(to) : NULL;
    litho_report_unref(before);
}

void litho_report_repeat(LithoReport *report, LithoReport *to)
{
    g_autoptr(GArray) numbers = litho_report_numbers(report);
    g_autoptr(GArray) curves = litho_report_curves(report);
    g_autoptr(GArray) shapes = litho_report_shapes(report);
    for (guint k = 0; k < numbers->len; k++) {
        const LithoNumber *n = &g_array_index(numbers, LithoNumber, k);
        litho_report_number(to, n->key, n->label, n->unit, n->value);
    }
    for (guint k = 0; k < curves->len; k++) {
        const LithoCurve *c = &g_array_index(curves, LithoCurve, k);
        litho_report_curve(to, c->key, c->label, c->x_label, c->y_label, c->n, c->x, c->y);
        litho_report_curve_style(to, c->key, c->group, c->name, c->log_x, c->log_y, c->bars);
        litho_report_curve_marks(to, c->key, c->n_marks, c->mark);
        litho_report_curve_role(to, c->key, c->role);
    }
    for (guint k = 0; k < shapes->len; k++)
        litho_report_shape(to, &g_array_index(shapes, LithoShape, k));
    g_autoptr(GArray) layers = litho_report_layers(report);
    for (guint k = 0; k < layers->len; k++) {
        const LithoLayer *layer = &g_array_index(layers, LithoLayer, k);
        litho_report_layer(to, layer->key, layer->label, layer->unit, layer->cube);
    }
}

gboolean litho_report_get(LithoReport *report, const char *key, double *value)
{
    g_mutex_lock(&report->lock);
    LithoNumber *number = number_for(report, key, FALSE);
    if (number)
        *value = number->value;
    g_mutex_unlock(&report->lock);
    return number != NULL;
}

GArray *litho_report_numbers(LithoReport *report)
{
    g_mutex_lock(&report->lock);
    GArray *copy = g_array_copy(report->numbers);
    g_mutex_unlock(&report->lock);
    return copy;
}

GArray *litho_report_curves(LithoReport *report)
{
    GArray *copy = curves_new();
    g_mutex_lock(&report->lock);
    for (guint k = 0; k < report->curves->len; k++) {
        LithoCurve curve = g_array_index(report->curves, LithoCurve, k);
        curve.x = g_memdup2(curve.x, curve.n * sizeof(double));
        curve.y = g_memdup2(curve.y, curve.n * sizeof(double));
        g_array_append_val(copy, curve);
    }
    g_mutex_unlock(&report->lock);
    return copy;
}

GArray *litho_report_shapes(LithoReport *report)
{
    GArray *copy = shapes_new();
    g_mutex_lock(&report->lock);
    for (guint k = 0; k < report->shapes->len; k++) {
        LithoShape shape = shape_copy(&g_array_index(report->shapes, LithoShape, k));
        g_array_append_val(copy, shape);
    }
    g_mutex_unlock(&report->lock);
    return copy;
}

static void add_remark(LithoReport *report, const char *text)
{
    if (!report)
        return;
    g_mutex_lock(&report->lock);
    if (!g_ptr_array_find_with_equal_func(report->remarks, text, g_str_equal, NULL)) {
        g_ptr_array_add(report->remarks, g_strdup(text));
        report->serial++;
    }
    g_mutex_unlock(&report->lock);
    add_remark(report->also, text);
}

void litho_report_remark(LithoReport *report, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = litho_text_vprintf(litho_text(format), args);
    va_end(args);
    add_remark(report, text);
}

GPtrArray *litho_report_remarks(LithoReport *report)
{
    GPtrArray *copy = g_ptr_array_new_with_free_func(g_free);
    g_mutex_lock(&report->lock);
    for (guint k = 0; k < report->remarks->len; k++)
        g_ptr_array_add(copy, g_strdup(report->remarks->pdata[k]));
    g_mutex_unlock(&report->lock);
    return copy;
}

guint litho_report_serial(LithoReport *report)
{
    g_mutex_lock(&report->lock);
    guint serial = report->serial;
    g_mutex_unlock(&report->lock);
    return serial;
}

JsonNode *litho_report_to_json(LithoReport *report)
{
    g_autoptr(GArray) numbers = litho_report_numbers(report);
    JsonObject *object = json_object_new();
    for (guint k = 0; k < numbers->len; k++) {
        const LithoNumber *number = &g_array_index(numbers, LithoNumber, k);
        if (isfinite(number->value))
            json_object_set_double_member(object, number->key, number->value);
        else
            json_object_set_null_member(object, number->key);
    }
    JsonNode *node = json_node_new(JSON_NODE_OBJECT);
    json_node_take_object(node, object);
    return node;
}
