// SPDX-License-Identifier: GPL-3.0-or-later
//
// Reading a model: every member is asked for by name, so that whatever is left over is a spelling
// mistake, and every complaint names the member.
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "kernels/twsm/model.h"

// An object of the file under its path ("boundaries[1]"), and the members asked for so far.
typedef struct Reader {
    JsonObject *object;
    char where[64];
    GHashTable *asked; // of const char *, not owned
} Reader;

#define REQUIRED NAN // as a default: the member must be there

static gboolean complain(const Reader *r, const char *key, const char *what, GError **error)
{
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT, "%s%s%s %s", r->where, *r->where ? "." : "",
                key, what);
    return FALSE;
}

static gboolean reader_open(Reader *r, JsonNode *node, const char *where, GError **error)
{
    *r = (Reader){0};
    g_strlcpy(r->where, where, sizeof r->where);
    if (!node || !JSON_NODE_HOLDS_OBJECT(node)) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT, "%s must be an object { ... }",
                    *where ? where : "the model");
        return FALSE;
    }
    r->object = json_node_get_object(node);
    r->asked = g_hash_table_new(g_str_hash, g_str_equal);
    return TRUE;
}

// Frees the reader; with `ok` TRUE complains about members nobody asked for.
static gboolean reader_close(Reader *r, gboolean ok, GError **error)
{
    if (!r->object)
        return ok;
    g_autoptr(GList) members = json_object_get_members(r->object);
    for (GList *m = members; m && ok; m = m->next)
        if (!g_hash_table_contains(r->asked, m->data))
            ok = complain(r, m->data, "is not known here; see the schema in docs/twsm.md", error);
    g_hash_table_unref(r->asked);
    return ok;
}

static JsonNode *ask(Reader *r, const char *key)
{
    g_hash_table_add(r->asked, (gpointer)key);
    return json_object_get_member(r->object, key);
}

static gboolean node_number(JsonNode *node, double *value)
{
    if (!node || !JSON_NODE_HOLDS_VALUE(node))
        return FALSE;
    GType type = json_node_get_value_type(node);
    if (type != G_TYPE_INT64 && type != G_TYPE_DOUBLE)
        return FALSE;
    *value = json_node_get_double(node);
    return isfinite(*value);
}

static gboolean number(Reader *r, const char *key, double def, double *value, GError **error)
{
    JsonNode *node = ask(r, key);
    *value = def;
    if (!node)
        return !isnan(def) || complain(r, key, "is missing", error);
    return node_number(node, value) || complain(r, key, "must be a number", error);
}

static gboolean positive(Reader *r, const char *key, double def, double *value, GError **error)
{
    return number(r, key, def, value, error) &&
           (*value > 0 || complain(r, key, "must be greater than 0", error));
}

static gboolean numbers(Reader *r, const char *key, guint n, double *value, GError **error)
{
    JsonNode *node = ask(r, key);
    char what[60];
    g_snprintf(what, sizeof what, "must be a list of %u numbers", n);
    if (!node || !JSON_NODE_HOLDS_ARRAY(node) ||
        json_array_get_length(json_node_get_array(node)) != n)
        return complain(r, key, node ? what : "is missing", error);
    for (guint k = 0; k < n; k++)
        if (!node_number(json_array_get_element(json_node_get_array(node), k), &value[k]))
            return complain(r, key, what, error);
    return TRUE;
}

static const char *text(Reader *r, const char *key, GError **error)
{
    JsonNode *node = ask(r, key);
    if (node && JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == G_TYPE_STRING)
        return json_node_get_string(node);
    complain(r, key, node ? "must be a text" : "is missing", error);
    return NULL;
}

static JsonArray *array(Reader *r, const char *key, guint min, guint max, GError **error)
{
    JsonNode *node = ask(r, key);
    guint n =
        node && JSON_NODE_HOLDS_ARRAY(node) ? json_array_get_length(json_node_get_array(node)) : 0;
    char what[60];
    g_snprintf(what, sizeof what, "must be a list of %u to %u entries", min, max);
    if (n >= min && n <= max && n > 0)
        return json_node_get_array(node);
    complain(r, key, node ? what : "is missing", error);
    return NULL;
}

// --- the parts --------------------------------------------------------------------------------

static gboolean read_layer(TwsmModel *model, int l, JsonNode *node, GError **error)
{
    Reader r;
    char where[64];
    g_snprintf(where, sizeof where, "layers[%d]", l);
    gboolean ok = reader_open(&r, node, where, error) &&
                  positive(&r, "velocity", REQUIRED, &model->velocity[l], error) &&
                  positive(&r, "density", REQUIRED, &model->density[l], error);
    return reader_close(&r, ok, error);
}

static gboolean read_dipping(Reader *r, TwsmBoundary *b, GError **error)
{
    static const char *const keys[2] = {"dip_x", "dip_y"};
    b->shape = TWSM_DIPPING;
    if (!number(r, "depth", REQUIRED, &b->depth, error))
        return FALSE;
    for (int k = 0; k < 2; k++) {
        double dip;
        if (!number(r, keys[k], 0, &dip, error))
            return FALSE;
        if (fabs(dip) > 80)
            return complain(r, keys[k], "must be a dip from -80 to 80 degrees", error);
        b->slope[k] = tan(dip * G_PI / 180);
    }
    return TRUE;
}

static gboolean read_gaussian(Reader *r, TwsmBoundary *b, GError **error)
{
    b->shape = TWSM_GAUSSIAN;
    return number(r, "depth", REQUIRED, &b->depth, error) &&
           number(r, "amplitude", REQUIRED, &b->amplitude, error) &&
           number(r, "sigma_x", 0, &b->sigma[0], error) &&
           number(r, "sigma_y", 0, &b->sigma[1], error) &&
           number(r, "x", 0, &b->centre[0], error) && number(r, "y", 0, &b->centre[1], error) &&
           ((b->sigma[0] >= 0 && b->sigma[1] >= 0) ||
            complain(r, "sigma_x", "and sigma_y must not be negative", error));
}

static gboolean read_file_name(Reader *r, TwsmBoundary *b, const char *folder, GError **error)
{
    const char *file = text(r, "file", error);
    if (!file)
        return FALSE;
    b->file =
        g_path_is_absolute(file) || !folder ? g_strdup(file) : g_build_filename(folder, file, NULL);
    return TRUE;
}

static gboolean read_grid(Reader *r, TwsmBoundary *b, const char *folder, GError **error)
{
    b->shape = TWSM_HEIGHTS;
    return read_file_name(r, b, folder, error) &&
           number(r, "x0", REQUIRED, &b->file_grid[0], error) &&
           number(r, "y0", REQUIRED, &b->file_grid[1], error) &&
           positive(r, "dx", REQUIRED, &b->file_grid[2], error) &&
           positive(r, "dy", REQUIRED, &b->file_grid[3], error);
}

static gboolean read_boundary(TwsmBoundary *b, int index, JsonNode *node, const char *folder,
                              GError **error)
{
    Reader r;
    char where[64];
    g_snprintf(where, sizeof where, "boundaries[%d]", index);
    gboolean ok = reader_open(&r, node, where, error);
    const char *type = ok ? text(&r, "type", error) : NULL;
    if (!type) {
        ok = FALSE;
    } else if (strcmp(type, "flat") == 0) {
        ok = number(&r, "depth", REQUIRED, &b->depth, error);
    } else if (strcmp(type, "dipping") == 0) {
        ok = read_dipping(&r, b, error);
    } else if (strcmp(type, "gaussian") == 0) {
        ok = read_gaussian(&r, b, error);
    } else if (strcmp(type, "grid") == 0) {
        ok = read_grid(&r, b, folder, error);
    } else if (strcmp(type, "horizon") == 0) {
        b->shape = TWSM_HEIGHTS;
        b->horizon = TRUE;
        ok = read_file_name(&r, b, folder, error) && number(&r, "spacing", 0, &b->spacing, error);
    } else if (strcmp(type, "sheet") == 0) {
        b->shape = TWSM_SHEET;
        ok = read_file_name(&r, b, folder, error);
    } else {
        ok = complain(&r, "type", "must be flat, dipping, gaussian, grid, horizon or sheet", error);
    }
    return reader_close(&r, ok, error);
}

// "0T 1R 0T" -> hits. Blanks and commas part the hits.
static gboolean read_code(TwsmModel *model, const char *from, GError **error)
{
    TwsmCode *code = &model->code[model->n_codes++];
    g_strlcpy(code->text, from, sizeof code->text);
    const char *p = from;
    for (;;) {
        while (*p == ' ' || *p == ',')
            p++;
        if (*p == '\0')
            break;
        char *end;
        gint64 b = g_ascii_strtoll(p, &end, 10);
        char what = g_ascii_toupper(*end);
        if (end == p || (what != 'R' && what != 'T') || code->n == TWSM_MAX_HITS) {
            g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                        "wave code '%s' is not understood at position %d; at most %d hits like 0R "
                        "or 0T 1R 0T are needed",
                        from, (int)(p - from) + 1, TWSM_MAX_HITS);
            return FALSE;
        }
        if (b < 0 || b >= model->n_boundaries) {
            g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                        "wave code '%s', position %d: there is no boundary %d; the model has %d",
                        from, (int)(p - from) + 1, (int)b, model->n_boundaries);
            return FALSE;
        }
        code->hit[code->n++] = (TwsmHit){(int)b, what == 'T'};
        p = end + 1;
    }
    if (code->n == 0)
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                    "wave code %d is empty; it needs one hit or more, like 0R", model->n_codes);
    return code->n > 0;
}

static gboolean read_codes(Reader *r, TwsmModel *model, GError **error)
{
    JsonNode *node = ask(r, "wave_code");
    if (node && JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == G_TYPE_STRING)
        return read_code(model, json_node_get_string(node), error);
    JsonArray *list = array(r, "wave_code", 1, TWSM_MAX_CODES, error);
    for (guint k = 0; list && k < json_array_get_length(list); k++) {
        JsonNode *entry = json_array_get_element(list, k);
        if (!JSON_NODE_HOLDS_VALUE(entry) || json_node_get_value_type(entry) != G_TYPE_STRING)
            return complain(r, "wave_code", "must be a text or a list of texts", error);
        if (!read_code(model, json_node_get_string(entry), error))
            return FALSE;
    }
    return list != NULL;
}

static gboolean read_sources(Reader *r, TwsmModel *model, GError **error)
{
    model->n_sources = 1;
    if (!json_object_has_member(r->object, "sources"))
        return numbers(r, "source", 3, model->source[0], error);
    JsonArray *list = array(r, "sources", 1, TWSM_MAX_SOURCES, error);
    if (!list)
        return FALSE;
    model->n_sources = json_array_get_length(list);
    for (int s = 0; s < model->n_sources; s++) {
        JsonNode *entry = json_array_get_element(list, s);
        JsonArray *at = JSON_NODE_HOLDS_ARRAY(entry) ? json_node_get_array(entry) : NULL;
        for (guint k = 0; k < 3; k++)
            if (!at || json_array_get_length(at) != 3 ||
                !node_number(json_array_get_element(at, k), &model->source[s][k]))
                return complain(r, "sources", "must be a list of [x, y, z]", error);
    }
    return TRUE;
}

static gboolean read_receivers(TwsmModel *model, JsonNode *node, GError **error)
{
    static const char *const keys[2] = {"x", "y"};
    Reader r;
    gboolean ok = reader_open(&r, node, "receivers", error);
    for (int k = 0; k < 2 && ok; k++) {
        double line[3];
        ok = numbers(&r, keys[k], 3, line, error);
        if (ok && (line[2] < 1 || line[2] > 100000 || line[2] != floor(line[2])))
            ok = complain(&r, keys[k], "must be [first, step, count] with a count of 1 to 100000",
                          error);
        if (ok) {
            model->receiver_first[k] = line[0];
            model->receiver_step[k] = line[1];
            model->receiver_count[k] = (int)line[2];
        }
    }
    ok = ok && number(&r, "z", 0, &model->receiver_z, error);
    return reader_close(&r, ok, error);
}

static gboolean read_wavelet(TwsmModel *model, JsonNode *node, GError **error)
{
    Reader r;
    gboolean ok = reader_open(&r, node, "wavelet", error) &&
                  positive(&r, "ricker", REQUIRED, &model->ricker, error) &&
                  number(&r, "delay", 0, &model->delay, error);
    return reader_close(&r, ok, error);
}

static gboolean read_extent(TwsmModel *model, JsonNode *node, GError **error)
{
    Reader r;
    gboolean ok = reader_open(&r, node, "extent", error) && numbers(&r, "x", 2, model->x, error) &&
                  numbers(&r, "y", 2, model->y, error);
    if (ok && (model->x[1] <= model->x[0] || model->y[1] <= model->y[0]))
        ok = complain(&r, "x", "and y must be [smaller, larger]", error);
    return reader_close(&r, ok, error);
}

static gboolean read_layers(Reader *r, TwsmModel *model, const char *folder, GError **error)
{
    JsonArray *layers = array(r, "layers", 2, TWSM_MAX_LAYERS, error);
    if (!layers)
        return FALSE;
    model->n_layers = json_array_get_length(layers);
    model->n_boundaries = model->n_layers - 1;
    for (int l = 0; l < model->n_layers; l++)
        if (!read_layer(model, l, json_array_get_element(layers, l), error))
            return FALSE;
    JsonArray *boundaries = array(r, "boundaries", model->n_boundaries, model->n_boundaries, error);
    for (int b = 0; boundaries && b < model->n_boundaries; b++)
        if (!read_boundary(&model->boundary[b], b, json_array_get_element(boundaries, b), folder,
                           error))
            return FALSE;
    return boundaries != NULL;
}

static gboolean read_model(TwsmModel *model, JsonNode *root, const char *folder, GError **error)
{
    Reader r;
    gboolean ok = reader_open(&r, root, "", error) && read_layers(&r, model, folder, error) &&
                  read_extent(model, ask(&r, "extent"), error) && read_codes(&r, model, error) &&
                  read_sources(&r, model, error) &&
                  read_receivers(model, ask(&r, "receivers"), error) &&
                  read_wavelet(model, ask(&r, "wavelet"), error) &&
                  // Beyond 2.5 times its peak a Ricker spectrum is under 1.1 % of the maximum.
                  positive(&r, "fmax", 2.5 * model->ricker, &model->fmax, error) &&
                  positive(&r, "record", REQUIRED, &model->record, error) &&
                  positive(&r, "dt", 0.002, &model->dt, error) &&
                  positive(&r, "cells_per_wavelength", 2.5, &model->cells, error) &&
                  number(&r, "taper", 0.15, &model->taper, error);
    if (ok && (model->taper < 0 || model->taper > 0.5))
        ok = complain(&r, "taper", "must be from 0 to 0.5", error);
    return reader_close(&r, ok, error);
}

static gboolean load_file(TwsmModel *model, TwsmBoundary *b, GError **error)
{
    const double *g = b->file_grid;
    if (!b->file)
        return TRUE;
    if (b->shape == TWSM_SHEET) {
        b->sheet = twsm_sheet_load(b->file, error);
        // 128 points a side: enough to tell layers apart.
        b->heights = b->sheet ? twsm_sheet_heights(b->sheet, model->x, model->y, 128, 128) : NULL;
    } else if (b->horizon) {
        b->heights = twsm_heights_from_horizon(b->file, b->spacing, error);
    } else {
        b->heights = twsm_heights_from_npy(b->file, g[0], g[1], g[2], g[3], error);
    }
    return b->heights != NULL;
}

TwsmModel *twsm_model_load(const char *name, gboolean files, GError **error)
{
    g_autoptr(JsonParser) parser = json_parser_new();
    const char *builtin = twsm_model_text(name);
    g_autofree char *folder = builtin ? NULL : g_path_get_dirname(name);
    GError *inner = NULL;
    gboolean parsed = builtin ? json_parser_load_from_data(parser, builtin, -1, &inner)
                              : json_parser_load_from_file(parser, name, &inner);
    if (!parsed) {
        g_autofree char *names = g_strjoinv(", ", (char **)twsm_model_names());
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                    "model '%s' cannot be read (%s); a JSON file or one of %s is needed", name,
                    inner->message, names);
        g_clear_error(&inner);
        return NULL;
    }
    g_autoptr(TwsmModel) model = g_new0(TwsmModel, 1);
    gboolean ok = read_model(model, json_parser_get_root(parser), folder, &inner);
    for (int b = 0; files && ok && b < model->n_boundaries; b++)
        ok = load_file(model, &model->boundary[b], &inner);
    if (ok)
        return g_steal_pointer(&model);
    g_propagate_prefixed_error(error, inner, "model '%s': ", name);
    return NULL;
}
