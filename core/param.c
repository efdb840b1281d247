// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/param.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "core/words.h"

#define FIELD(T, row, params) ((T *)((char *)(params) + (row)->offset))
#define FIELD_CONST(T, row, params) ((const T *)((const char *)(params) + (row)->offset))

const LithoParam *litho_param_find(const LithoParamTable *table, const char *key)
{
    for (guint k = 0; k < table->n; k++)
        if (strcmp(table->rows[k].key, key) == 0)
            return &table->rows[k];
    return NULL;
}

static gboolean is_text(const LithoParam *row)
{
    return row->type == LITHO_PARAM_TEXT || row->type == LITHO_PARAM_FILE;
}

static void store(const LithoParam *row, void *params, double value)
{
    switch (row->type) {
    case LITHO_PARAM_FLOAT:
        *FIELD(double, row, params) = value;
        break;
    case LITHO_PARAM_INT:
    case LITHO_PARAM_CHOICE:
        *FIELD(int, row, params) = (int)value;
        break;
    case LITHO_PARAM_BOOL:
        *FIELD(bool, row, params) = value != 0;
        break;
    case LITHO_PARAM_TEXT:
    case LITHO_PARAM_FILE:
        break;
    }
}

static void store_text(const LithoParam *row, void *params, const char *value)
{
    LithoText *text = FIELD(LithoText, row, params);
    memset(text, 0, sizeof *text);
    g_strlcpy(text->text, value, sizeof text->text);
}

void litho_param_defaults(const LithoParamTable *table, void *params)
{
    memset(params, 0, table->size);
    if (table->head)
        memcpy(params, table->head, table->head_bytes);
    for (guint k = 0; k < table->n; k++) {
        const LithoParam *row = &table->rows[k];
        if (is_text(row))
            store_text(row, params, row->def_text ? row->def_text : "");
        else
            store(row, params, row->def);
    }
}

guint litho_param_n_choices(const LithoParam *row)
{
    guint n = 0;
    for (const char *c = row->choices; c && *c; c += strlen(c) + 1)
        n++;
    return n;
}

const char *litho_param_choice(const LithoParam *row, guint i)
{
    for (const char *c = row->choices; c && *c; c += strlen(c) + 1)
        if (i-- == 0)
            return c;
    return NULL;
}

const char *litho_param_choice_shown(const LithoParam *row, guint i)
{
    return litho_text(litho_param_choice(row, i));
}

const LithoRetiredChoice *litho_param_retired_choice(const LithoParam *row, const char *text)
{
    return row->retired && g_ascii_strcasecmp(text, row->retired->name) == 0 ? row->retired : NULL;
}

double litho_param_get(const LithoParam *row, const void *params)
{
    switch (row->type) {
    case LITHO_PARAM_FLOAT:
        return *FIELD_CONST(double, row, params);
    case LITHO_PARAM_INT:
    case LITHO_PARAM_CHOICE:
        return *FIELD_CONST(int, row, params);
    case LITHO_PARAM_BOOL:
        return *FIELD_CONST(bool, row, params);
    default:
        return NAN;
    }
}

const char *litho_param_special(const LithoParam *row, const void *params)
{
    return row->special_text && litho_param_get(row, params) == row->special ? row->special_text
                                                                             : NULL;
}

// "one of cholesky, cg, jacobi", "a whole number from 2 to 64 traces". g_free().
static char *legal_text(const LithoParam *row)
{
    if (row->type == LITHO_PARAM_BOOL)
        return g_strdup(_("on or off"));
    if (row->type == LITHO_PARAM_CHOICE) {
        g_autoptr(GString) all = g_string_new(NULL);
        for (guint i = 0; i < litho_param_n_choices(row); i++)
            g_string_append_printf(all, "%s%s", i ? ", " : "", litho_param_choice(row, i));
        return g_strdup_printf(_("one of %s"), all->str);
    }
    g_autofree char *min = litho_param_number_text(row->min),
                    *max = litho_param_number_text(row->max);
    const char *unit = row->unit ? row->unit : "", *space = row->unit ? " " : "";
    litho_text_mark(min);
    litho_text_mark(max);
    return g_strdup_printf(row->type == LITHO_PARAM_INT ? _("a whole number from %s to %s%s%s")
                                                        : _("%s to %s%s%s"),
                           min, max, space, unit);
}

static gboolean refuse(const LithoParam *row, const char *found, GError **error)
{
    g_autofree char *legal = legal_text(row);
    if (*found == '\0')
        return litho_refuse(error, LITHO_ERROR_PARAMETER, "%s has no value; it must be %s",
                            row->key, legal);
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER, _("%s is %s; it must be %s"), row->key,
                found, legal);
    return FALSE;
}

gboolean litho_param_set(const LithoParam *row, void *params, double value, GError **error)
{
    double max = row->type == LITHO_PARAM_CHOICE ? litho_param_n_choices(row) - 1.0 : row->max;
    gboolean whole = row->type == LITHO_PARAM_FLOAT || value == floor(value);
    if (is_text(row) || !isfinite(value) || value < row->min || value > max || !whole) {
        g_autofree char *found = litho_param_number_text(value);
        return refuse(row, found, error);
    }
    store(row, params, value);
    return TRUE;
}

gboolean litho_param_set_text(const LithoParam *row, void *params, const char *value,
                              GError **error)
{
    if (!is_text(row))
        return refuse(row, value, error);
    if (strlen(value) >= sizeof(LithoText) || !g_utf8_validate(value, -1, NULL)) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                    _("%s has %zu bytes or is not UTF-8; at most %zu bytes of UTF-8 are needed"),
                    row->key, strlen(value), sizeof(LithoText) - 1);
        return FALSE;
    }
    store_text(row, params, value);
    return TRUE;
}

static gboolean parse_bool(const char *text, double *value)
{
    static const char *const on[] = {"on", "true", "yes", "1"}, *const off[] = {"off", "false",
                                                                                "no", "0"};
    for (guint k = 0; k < G_N_ELEMENTS(on); k++) {
        if (g_ascii_strcasecmp(text, on[k]) == 0) {
            *value = 1;
            return TRUE;
        }
        if (g_ascii_strcasecmp(text, off[k]) == 0) {
            *value = 0;
            return TRUE;
        }
    }
    return FALSE;
}

// --- units --------------------------------------------------------------------------------------

// "Hz", "hz"; "trace" for "traces".
static gboolean is_unit(const char *word, const char *unit)
{
    const gsize n = unit ? strlen(unit) : 0;
    return n > 0 && (g_ascii_strcasecmp(word, unit) == 0 ||
                     (n > 2 && unit[n - 1] == 's' && strlen(word) == n - 1 &&
                      g_ascii_strncasecmp(word, unit, n - 1) == 0));
}

// Units of one quantity and their size in the first one of its kind in the list.
static const struct {
    const char *word, *unit;
    double factor;
} multiples[] = {{"ms", "s", 1e-3},          {"us", "s", 1e-6},     {"s", "ms", 1e3},
                 {"km", "m", 1e3},           {"km/s", "m/s", 1e3},  {"kHz", "Hz", 1e3},
                 {"percent", "%", 1},        {"deg", "degrees", 1}, {"degree", "degrees", 1},
                 {"\xc2\xb0", "degrees", 1}, {"1/m", "1/km", 1e3},  {"ft", "m", 0.3048},
                 {"ft/s", "m/s", 0.3048},    {"us", "ms", 1e-3},    {"kft/s", "m/s", 304.8},
                 {"ft/ms", "m/s", 304.8}};

double litho_param_unit_size(const char *word, const char *unit)
{
    if (is_unit(word, unit))
        return 1;
    for (guint k = 0; k < G_N_ELEMENTS(multiples); k++)
        if (g_ascii_strcasecmp(word, multiples[k].word) == 0 &&
            g_strcmp0(unit, multiples[k].unit) == 0)
            return multiples[k].factor;
    return 0;
}

// The factor of a number with the unit `word` behind it; 0 = the unit does not fit the row.
static double unit_factor(const LithoParam *row, const char *word)
{
    const double depth = litho_param_unit_size(word, row->depth_unit);
    return *word == '\0' ? 1 : depth > 0 ? depth : litho_param_unit_size(word, row->unit);
}

// The factor of a unit that the sample interval ties to the row's: a time or a depth for samples,
// samples for a time. `axis` NULL = one of 1 s, or of 1 m.
static double axis_factor(const LithoParam *row, const char *word, const LithoAxis *axis)
{
    const double step = axis ? fabs(axis->step) : 1;
    if (g_strcmp0(row->unit, "samples") == 0) {
        const double one =
            fmax(axis && strcmp(axis->unit, "s") != 0 ? 0 : litho_param_unit_size(word, "s"),
                 axis && strcmp(axis->unit, "m") != 0 ? 0 : litho_param_unit_size(word, "m"));
        return step > 0 ? one / step : 0;
    }
    const double of_row =
        axis ? litho_param_unit_size(axis->unit, row->unit)
             : fmax(litho_param_unit_size("s", row->unit), litho_param_unit_size("m", row->unit));
    return is_unit(word, "samples") ? step * of_row : 0;
}

// A number and the unit behind it, which may be "". FALSE: no number.
static gboolean split_number(const char *text, double *value, char **unit)
{
    char *end = NULL;
    errno = 0;
    *value = g_ascii_strtod(text, &end);
    if (end == text || errno != 0)
        return FALSE;
    *unit = g_strstrip(g_strdup(end));
    return TRUE;
}

static gboolean refuse_unit(const LithoParam *row, const char *found, const char *unit,
                            const LithoAxis *axis, GError **error)
{
    const char *letter = unit;
    while (*letter && !g_ascii_isdigit(*letter))
        letter++;
    if (*letter) // "3-5" and the like
        return refuse(row, found, error);
    if (!axis && axis_factor(row, unit, NULL) > 0)
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "%s is %s; %s is needed where no survey says the sample interval",
                            row->key, found, row->unit);
    return litho_refuse(error, LITHO_ERROR_PARAMETER, "%s is %s; its unit is %s%s, not %s",
                        row->key, found, row->unit ? row->unit : "none",
                        g_strcmp0(row->unit, "samples") != 0   ? ""
                        : axis && strcmp(axis->unit, "m") == 0 ? " or m"
                                                               : " or ms",
                        unit);
}

// A number, alone or with its unit: "30", "30%", "60 Hz", "600ms".
gboolean litho_param_number(const LithoParam *row, const char *text, const LithoAxis *axis,
                            double *value, GError **error)
{
    g_autofree char *unit = NULL;
    if (!split_number(text, value, &unit))
        return refuse(row, text, error);
    const double factor = unit_factor(row, unit);
    const double along = factor > 0 || !axis ? 0 : axis_factor(row, unit, axis);
    if (factor == 0 && along == 0)
        return refuse_unit(row, text, unit, axis, error);
    *value *= factor > 0 ? factor : along;
    if (along > 0 && row->type == LITHO_PARAM_INT) {
        const double exact = *value;
        *value = nearbyint(exact);
        // A length that is a fraction of a sample does not ask for "automatic".
        if (row->special_text && *value == row->special && exact != row->special)
            return refuse(row, text, error);
    }
    return TRUE;
}

// A file's row may hold a number, too: "2.5km/s" is kept as "2500".
static gboolean parse_text(const LithoParam *row, void *params, const char *text, GError **error)
{
    g_autofree char *unit = NULL;
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    double value;
    if (!row->unit || !split_number(text, &value, &unit) || *unit == '\0' ||
        unit_factor(row, unit) == 0)
        return litho_param_set_text(row, params, text, error);
    g_ascii_dtostr(number, sizeof number, value * unit_factor(row, unit));
    return litho_param_set_text(row, params, number, error);
}

static gboolean parse_value(const LithoParam *row, void *params, const char *text,
                            const LithoAxis *axis, GError **error)
{
    if (is_text(row))
        return parse_text(row, params, text, error);
    double value = 0;
    if (row->type == LITHO_PARAM_CHOICE) {
        for (guint i = 0; i < litho_param_n_choices(row); i++)
            if (g_ascii_strcasecmp(text, litho_param_choice(row, i)) == 0)
                return litho_param_set(row, params, i, error);
        const LithoRetiredChoice *retired = litho_param_retired_choice(row, text);
        return retired ? litho_refuse(error, LITHO_ERROR_PARAMETER, "%s", retired->why)
                       : refuse(row, text, error);
    }
    if (row->special_text && g_ascii_strcasecmp(text, row->special_text) == 0)
        return litho_param_set(row, params, row->special, error);
    if (row->type == LITHO_PARAM_BOOL ? !parse_bool(text, &value) && !refuse(row, text, error)
                                      : !litho_param_number(row, text, axis, &value, error))
        return FALSE;
    return litho_param_set(row, params, value, error);
}

const char *litho_param_retired(const char *key)
{
    if (strcmp(key, "gpus") == 0)
        return _("gpus is no parameter any more: the number of devices is chosen with --gpus or in "
                 "the device menu");
    return NULL;
}

static const LithoParam *find_or_refuse(const LithoParamTable *table, const char *key,
                                        GError **error)
{
    const LithoParam *row = litho_param_find(table, key);
    const char *retired = row ? NULL : litho_param_retired(key);
    if (retired)
        litho_refuse(error, LITHO_ERROR_PARAMETER, "%s", retired);
    if (row || retired)
        return row;
    g_autofree const char **keys = g_new0(const char *, table->n + 1);
    for (guint k = 0; k < table->n; k++)
        keys[k] = table->rows[k].key;
    g_autofree char *known = litho_word_choices(key, keys);
    g_autofree char *plain = litho_text_plain(key, 60);
    litho_refuse(error, LITHO_ERROR_PARAMETER, "there is no parameter '%s'; %s", plain, known);
    return NULL;
}

gboolean litho_param_parse_along(const LithoParamTable *table, void *params, const char *key,
                                 const char *value, const LithoAxis *axis, GError **error)
{
    const LithoParam *row = find_or_refuse(table, key, error);
    return row && parse_value(row, params, value, axis, error);
}

gboolean litho_param_parse(const LithoParamTable *table, void *params, const char *key,
                           const char *value, GError **error)
{
    return litho_param_parse_along(table, params, key, value, NULL, error);
}

gboolean litho_param_needs_axis(const LithoParamTable *table, const char *key, const char *value)
{
    const LithoParam *row = litho_param_find(table, key);
    g_autofree char *unit = NULL;
    double number;
    return row && (row->type == LITHO_PARAM_INT || row->type == LITHO_PARAM_FLOAT) &&
           split_number(value, &number, &unit) && unit_factor(row, unit) == 0 &&
           axis_factor(row, unit, NULL) > 0;
}

char *litho_param_number_text(double value)
{
    char number[G_ASCII_DTOSTR_BUF_SIZE], format[8];
    int digits = 0;
    do {
        g_snprintf(format, sizeof format, "%%.%de", digits);
        g_ascii_formatd(number, sizeof number, format, value);
    } while (g_ascii_strtod(number, NULL) != value && ++digits < 17);
    const char *e = strchr(number, 'e');
    const int power = e ? atoi(e + 1) : 0;
    if (!e || power < -9 || power >= 15)
        return e ? g_strdup_printf("%.*se%d", (int)(e - number), number, power) : g_strdup(number);
    g_snprintf(format, sizeof format, "%%.%df", MAX(digits - power, 0));
    return g_strdup(g_ascii_formatd(number, sizeof number, format, value));
}

char *litho_param_print(const LithoParam *row, const void *params)
{
    switch (row->type) {
    case LITHO_PARAM_FLOAT:
        return litho_param_number_text(*FIELD_CONST(double, row, params));
    case LITHO_PARAM_INT:
        return g_strdup_printf("%d", *FIELD_CONST(int, row, params));
    case LITHO_PARAM_BOOL:
        return g_strdup(*FIELD_CONST(bool, row, params) ? "on" : "off");
    case LITHO_PARAM_CHOICE: {
        const char *name = litho_param_choice(row, *FIELD_CONST(int, row, params));
        return g_strdup(name ? name : "");
    }
    default:
        return g_strdup(FIELD_CONST(LithoText, row, params)->text);
    }
}

char *litho_param_shown(const LithoParam *row, const void *params)
{
    const char *special = litho_param_special(row, params);
    if (special)
        return g_strdup(litho_text(special));
    if (row->type == LITHO_PARAM_CHOICE)
        return g_strdup(litho_param_choice_shown(row, (guint)*FIELD_CONST(int, row, params)));
    if (row->type == LITHO_PARAM_BOOL)
        return g_strdup(*FIELD_CONST(bool, row, params) ? _("on") : _("off"));
    char *text = litho_param_print(row, params);
    if (row->type == LITHO_PARAM_FLOAT)
        litho_text_mark(text);
    return text;
}

// One condition of `when`: "mode=shot|demigrate", "block!=0". An unknown key does not hold.
static gboolean holds(const LithoParamTable *table, const char *condition, const void *params)
{
    const char *equals = strchr(condition, '=');
    gboolean negated = equals && equals > condition && equals[-1] == '!';
    if (!equals)
        return FALSE;
    g_autofree char *key = g_strndup(condition, (gsize)(equals - condition) - negated);
    const LithoParam *row = litho_param_find(table, key);
    if (!row)
        return FALSE;
    g_autofree char *value = litho_param_print(row, params);
    g_auto(GStrv) wanted = g_strsplit(equals + 1, "|", -1);
    return g_strv_contains((const char *const *)wanted, value) != negated;
}

gboolean litho_params_hold(const LithoParamTable *table, const char *when, const void *params)
{
    g_auto(GStrv) conditions = g_strsplit(when, " ", -1);
    for (guint k = 0; conditions[k]; k++)
        if (*conditions[k] && !holds(table, conditions[k], params))
            return FALSE;
    return TRUE;
}

gboolean litho_param_applies(const LithoParamTable *table, const LithoParam *row,
                             const void *params)
{
    return !row->when || litho_params_hold(table, row->when, params);
}

gboolean litho_param_is_written(const LithoParamTable *table, const LithoParam *row,
                                const void *params)
{
    return row->type == LITHO_PARAM_FILE && row->written_when &&
           FIELD_CONST(LithoText, row, params)->text[0] &&
           litho_param_applies(table, row, params) &&
           litho_params_hold(table, row->written_when, params);
}

gboolean litho_param_is_read(const LithoParamTable *table, const LithoParam *row,
                             const void *params)
{
    return row->type == LITHO_PARAM_FILE && litho_param_applies(table, row, params) &&
           !litho_param_is_written(table, row, params);
}

gboolean litho_param_equal(const LithoParam *row, const void *a, const void *b)
{
    if (is_text(row))
        return strcmp(FIELD_CONST(LithoText, row, a)->text, FIELD_CONST(LithoText, row, b)->text) ==
               0;
    return litho_param_get(row, a) == litho_param_get(row, b);
}

int litho_params_first_stage(const LithoParamTable *table, const void *a, const void *b)
{
    int first = G_MAXINT;
    for (guint k = 0; k < table->n; k++)
        if (!litho_param_equal(&table->rows[k], a, b))
            first = MIN(first, table->rows[k].stage);
    return first;
}

JsonObject *litho_params_to_json(const LithoParamTable *table, const void *params)
{
    JsonObject *object = json_object_new();
    for (guint k = 0; k < table->n; k++) {
        const LithoParam *row = &table->rows[k];
        switch (row->type) {
        case LITHO_PARAM_FLOAT:
            json_object_set_double_member(object, row->key, litho_param_get(row, params));
            break;
        case LITHO_PARAM_INT:
            json_object_set_int_member(object, row->key, (gint64)litho_param_get(row, params));
            break;
        case LITHO_PARAM_BOOL:
            json_object_set_boolean_member(object, row->key, litho_param_get(row, params) != 0);
            break;
        default: {
            g_autofree char *text = litho_param_print(row, params);
            json_object_set_string_member(object, row->key, text);
        }
        }
    }
    return object;
}

static gboolean set_from_node(const LithoParam *row, void *params, JsonNode *node, GError **error)
{
    GType type = JSON_NODE_HOLDS_VALUE(node) ? json_node_get_value_type(node) : G_TYPE_INVALID;
    if (type == G_TYPE_STRING) {
        const char *text = json_node_get_string(node);
        const LithoRetiredChoice *retired = litho_param_retired_choice(row, text);
        return parse_value(row, params, retired ? retired->instead : text, NULL, error);
    }
    if (type == G_TYPE_BOOLEAN && row->type == LITHO_PARAM_BOOL)
        return litho_param_set(row, params, json_node_get_boolean(node), error);
    if ((type == G_TYPE_INT64 || type == G_TYPE_DOUBLE) && row->type != LITHO_PARAM_CHOICE &&
        row->type != LITHO_PARAM_BOOL && !is_text(row))
        return litho_param_set(row, params, json_node_get_double(node), error);
    if ((type == G_TYPE_INT64 || type == G_TYPE_DOUBLE) && is_text(row)) { // "velocity": 2000
        char number[G_ASCII_DTOSTR_BUF_SIZE];
        return parse_value(row, params,
                           g_ascii_dtostr(number, sizeof number, json_node_get_double(node)), NULL,
                           error);
    }
    if (is_text(row))
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "%s is a JSON value of another type; it must be a text", row->key);
    return refuse(row, _("a JSON value of another type"), error);
}

gboolean litho_params_from_json(const LithoParamTable *table, void *params, JsonObject *object,
                                GError **error)
{
    g_autofree void *copy = g_memdup2(params, table->size);
    g_autoptr(GList) keys = json_object_get_members(object);
    for (GList *k = keys; k; k = k->next) {
        if (!litho_param_find(table, k->data) && litho_param_retired(k->data))
            continue;
        const LithoParam *row = find_or_refuse(table, k->data, error);
        if (!row || !set_from_node(row, copy, json_object_get_member(object, k->data), error))
            return FALSE;
    }
    memcpy(params, copy, table->size);
    return TRUE;
}
