// SPDX-License-Identifier: GPL-3.0-or-later
//
// Reading a model: every member is asked for by name, so that whatever is left over is a spelling
// mistake, and every complaint names the member.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "kernels/twsm/model.h"

typedef LithoJsonReader Reader;

#define REQUIRED LITHO_JSON_REQUIRED
#define SCHEMA "the schema in docs/twsm.md"

static gboolean positive(Reader *r, const char *key, double def, double *value, GError **error)
{
    return litho_json_number(r, key, def, value, error) &&
           (*value > 0 || litho_json_complain(r, key, _("must be greater than 0"), error));
}

// --- the parts --------------------------------------------------------------------------------

static gboolean read_layer(TwsmModel *model, int l, JsonNode *node, GError **error)
{
    Reader r;
    char where[64];
    g_snprintf(where, sizeof where, "layers[%d]", l);
    double *v = &model->velocity[l];
    gboolean ok = litho_json_open(&r, node, where, _("the model"), error) &&
                  litho_json_number(&r, "velocity", REQUIRED, v, error) &&
                  ((*v >= 10 && *v <= 100000) ||
                   litho_json_complain(&r, "velocity", _("must be 10 to 100000 m/s"), error)) &&
                  positive(&r, "density", REQUIRED, &model->density[l], error);
    return litho_json_close(&r, ok, SCHEMA, error);
}

static gboolean read_dipping(Reader *r, TwsmBoundary *b, GError **error)
{
    static const char *const keys[2] = {"dip_x", "dip_y"};
    b->shape = TWSM_DIPPING;
    if (!litho_json_number(r, "depth", REQUIRED, &b->depth, error))
        return FALSE;
    for (int k = 0; k < 2; k++) {
        double dip;
        if (!litho_json_number(r, keys[k], 0, &dip, error))
            return FALSE;
        if (fabs(dip) > 80)
            return litho_json_complain(r, keys[k], _("must be a dip from -80 to 80 degrees"),
                                       error);
        b->slope[k] = tan(dip * G_PI / 180);
    }
    return TRUE;
}

static gboolean read_gaussian(Reader *r, TwsmBoundary *b, GError **error)
{
    b->shape = TWSM_GAUSSIAN;
    return litho_json_number(r, "depth", REQUIRED, &b->depth, error) &&
           litho_json_number(r, "amplitude", REQUIRED, &b->amplitude, error) &&
           litho_json_number(r, "sigma_x", 0, &b->sigma[0], error) &&
           litho_json_number(r, "sigma_y", 0, &b->sigma[1], error) &&
           litho_json_number(r, "x", 0, &b->centre[0], error) &&
           litho_json_number(r, "y", 0, &b->centre[1], error) &&
           ((b->sigma[0] >= 0 && b->sigma[1] >= 0) ||
            litho_json_complain(r, "sigma_x", _("and sigma_y must not be negative"), error));
}

static gboolean read_file_name(Reader *r, TwsmBoundary *b, const char *folder, GError **error)
{
    const char *file = litho_json_string(r, "file", error);
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
           litho_json_number(r, "x0", REQUIRED, &b->file_grid[0], error) &&
           litho_json_number(r, "y0", REQUIRED, &b->file_grid[1], error) &&
           positive(r, "dx", REQUIRED, &b->file_grid[2], error) &&
           positive(r, "dy", REQUIRED, &b->file_grid[3], error);
}

static gboolean read_boundary(TwsmBoundary *b, int index, JsonNode *node, const char *folder,
                              GError **error)
{
    Reader r;
    char where[64];
    g_snprintf(where, sizeof where, "boundaries[%d]", index);
    gboolean ok = litho_json_open(&r, node, where, _("the model"), error);
    const char *type = ok ? litho_json_string(&r, "type", error) : NULL;
    if (!type) {
        ok = FALSE;
    } else if (strcmp(type, "flat") == 0) {
        ok = litho_json_number(&r, "depth", REQUIRED, &b->depth, error);
    } else if (strcmp(type, "dipping") == 0) {
        ok = read_dipping(&r, b, error);
    } else if (strcmp(type, "gaussian") == 0) {
        ok = read_gaussian(&r, b, error);
    } else if (strcmp(type, "grid") == 0) {
        ok = read_grid(&r, b, folder, error);
    } else if (strcmp(type, "horizon") == 0) {
        b->shape = TWSM_HEIGHTS;
        b->horizon = TRUE;
        ok = read_file_name(&r, b, folder, error) &&
             litho_json_number(&r, "spacing", 0, &b->spacing, error);
    } else if (strcmp(type, "sheet") == 0) {
        b->shape = TWSM_SHEET;
        ok = read_file_name(&r, b, folder, error);
    } else {
        ok = litho_json_complain(
            &r, "type", _("must be flat, dipping, gaussian, grid, horizon or sheet"), error);
    }
    return litho_json_close(&r, ok, SCHEMA, error);
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
            g_set_error(
                error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                _("wave code '%s' is not understood at position %d; at most %d hits like 0R "
                  "or 0T 1R 0T are needed"),
                from, (int)(p - from) + 1, TWSM_MAX_HITS);
            return FALSE;
        }
        if (b < 0 || b >= model->n_boundaries) {
            g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                        _("wave code '%s', position %d: there is no boundary %d; the model has %d"),
                        from, (int)(p - from) + 1, (int)b, model->n_boundaries);
            return FALSE;
        }
        code->hit[code->n++] = (TwsmHit){(int)b, what == 'T'};
        p = end + 1;
    }
    if (code->n == 0)
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                    _("wave code %d is empty; it needs one hit or more, like 0R"), model->n_codes);
    return code->n > 0;
}

static gboolean read_codes(Reader *r, TwsmModel *model, GError **error)
{
    JsonNode *node = litho_json_ask(r, "wave_code");
    const char *single = litho_json_node_string(node);
    if (single)
        return read_code(model, single, error);
    JsonArray *list = litho_json_array(r, "wave_code", 1, TWSM_MAX_CODES, error);
    for (guint k = 0; list && k < json_array_get_length(list); k++) {
        const char *code = litho_json_node_string(json_array_get_element(list, k));
        if (!code)
            return litho_json_complain(r, "wave_code", _("must be a text or a list of texts"),
                                       error);
        if (!read_code(model, code, error))
            return FALSE;
    }
    return list != NULL;
}

static gboolean read_sources(Reader *r, TwsmModel *model, GError **error)
{
    model->n_sources = 1;
    if (!json_object_has_member(r->object, "sources"))
        return litho_json_numbers(r, "source", 3, model->source[0], error);
    if (json_object_has_member(r->object, "source"))
        return litho_json_complain(r, "source", _("must not stand beside sources"), error);
    JsonArray *list = litho_json_array(r, "sources", 1, TWSM_MAX_SOURCES, error);
    if (!list)
        return FALSE;
    model->n_sources = json_array_get_length(list);
    for (int s = 0; s < model->n_sources; s++) {
        JsonArray *at = litho_json_node_array(json_array_get_element(list, s));
        for (guint k = 0; k < 3; k++)
            if (!at || json_array_get_length(at) != 3 ||
                !litho_json_node_number(json_array_get_element(at, k), &model->source[s][k]))
                return litho_json_complain(r, "sources", _("must be a list of [x, y, z]"), error);
    }
    return TRUE;
}

static gboolean read_receivers(TwsmModel *model, JsonNode *node, GError **error)
{
    static const char *const keys[2] = {"x", "y"};
    Reader r;
    gboolean ok = litho_json_open(&r, node, "receivers", _("the model"), error);
    for (int k = 0; k < 2 && ok; k++) {
        double line[3];
        ok = litho_json_numbers(&r, keys[k], 3, line, error);
        if (ok && (line[2] < 1 || line[2] > 100000 || line[2] != floor(line[2])))
            ok = litho_json_complain(
                &r, keys[k], _("must be [first, step, count] with a count of 1 to 100000"), error);
        if (ok && line[1] == 0 && line[2] > 1)
            ok = litho_json_complain(
                &r, keys[k], _("must be [first, step, count] with a step that is not 0"), error);
        if (ok) {
            model->receiver_first[k] = line[0];
            model->receiver_step[k] = line[1];
            model->receiver_count[k] = (int)line[2];
        }
    }
    ok = ok && litho_json_number(&r, "z", 0, &model->receiver_z, error);
    return litho_json_close(&r, ok, SCHEMA, error);
}

static gboolean read_wavelet(TwsmModel *model, JsonNode *node, GError **error)
{
    Reader r;
    gboolean ok = litho_json_open(&r, node, "wavelet", _("the model"), error) &&
                  positive(&r, "ricker", REQUIRED, &model->ricker, error) &&
                  litho_json_number(&r, "delay", 0, &model->delay, error);
    return litho_json_close(&r, ok, SCHEMA, error);
}

static gboolean read_extent(TwsmModel *model, JsonNode *node, GError **error)
{
    Reader r;
    gboolean ok = litho_json_open(&r, node, "extent", _("the model"), error) &&
                  litho_json_numbers(&r, "x", 2, model->x, error) &&
                  litho_json_numbers(&r, "y", 2, model->y, error);
    if (ok && (model->x[1] <= model->x[0] || model->y[1] <= model->y[0]))
        ok = litho_json_complain(&r, "x", _("and y must be [smaller, larger]"), error);
    return litho_json_close(&r, ok, SCHEMA, error);
}

static gboolean read_layers(Reader *r, TwsmModel *model, const char *folder, GError **error)
{
    JsonArray *layers = litho_json_array(r, "layers", 2, TWSM_MAX_LAYERS, error);
    if (!layers)
        return FALSE;
    model->n_layers = json_array_get_length(layers);
    model->n_boundaries = model->n_layers - 1;
    for (int l = 0; l < model->n_layers; l++)
        if (!read_layer(model, l, json_array_get_element(layers, l), error))
            return FALSE;
    JsonArray *boundaries =
        litho_json_array(r, "boundaries", model->n_boundaries, model->n_boundaries, error);
    for (int b = 0; boundaries && b < model->n_boundaries; b++)
        if (!read_boundary(&model->boundary[b], b, json_array_get_element(boundaries, b), folder,
                           error))
            return FALSE;
    return boundaries != NULL;
}

static gboolean read_model(TwsmModel *model, JsonNode *root, const char *folder, GError **error)
{
    Reader r;
    gboolean ok = litho_json_open(&r, root, "", _("the model"), error) &&
                  read_layers(&r, model, folder, error) &&
                  read_extent(model, litho_json_ask(&r, "extent"), error) &&
                  read_codes(&r, model, error) && read_sources(&r, model, error) &&
                  read_receivers(model, litho_json_ask(&r, "receivers"), error) &&
                  read_wavelet(model, litho_json_ask(&r, "wavelet"), error) &&
                  // Beyond 2.5 times its peak a Ricker spectrum is under 3.3 % of the maximum.
                  positive(&r, "fmax", 2.5 * model->ricker, &model->fmax, error) &&
                  positive(&r, "record", REQUIRED, &model->record, error) &&
                  positive(&r, "dt", 0.002, &model->dt, error) &&
                  positive(&r, "cells_per_wavelength", 2.5, &model->cells, error) &&
                  litho_json_number(&r, "taper", 0.15, &model->taper, error);
    if (ok && (model->taper < 0 || model->taper > 0.5))
        ok = litho_json_complain(&r, "taper", _("must be from 0 to 0.5"), error);
    return litho_json_close(&r, ok, SCHEMA, error);
}

static gboolean load_file(TwsmModel *model, TwsmBoundary *b, LithoResolved *files, LithoRun *run,
                          GError **error)
{
    const double *g = b->file_grid;
    if (!b->file)
        return TRUE;
    if (!litho_resolved_add_file(files, b->file, error))
        return FALSE;
    if (b->shape == TWSM_SHEET) {
        b->sheet = twsm_sheet_load(b->file, run, error);
        // 128 points a side: enough to tell layers apart.
        b->heights = b->sheet
                         ? twsm_sheet_heights(b->sheet, model->x, model->y, 128, 128, run, error)
                         : NULL;
    } else if (b->horizon) {
        b->heights = twsm_heights_from_horizon(b->file, b->spacing, run, error);
    } else {
        b->heights = twsm_heights_from_npy(b->file, g[0], g[1], g[2], g[3], error);
    }
    return b->heights != NULL;
}

TwsmModel *twsm_model_load(const char *path, LithoResolved *files, LithoRun *run, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(path);
    GError *inner = NULL;
    JsonNode *root =
        litho_resolved_add_file(files, path, &inner) ? litho_json_load(path, &inner) : NULL;
    if (!root) {
        g_autofree char *names = g_strjoinv(", ", (char **)twsm_model_names());
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                    _("model '%s' cannot be read (%s); a JSON file or one of %s is needed"), path,
                    inner->message, names);
        g_clear_error(&inner);
        return NULL;
    }
    g_autoptr(TwsmModel) model = g_new0(TwsmModel, 1);
    gboolean ok = read_model(model, root, folder, &inner);
    json_node_unref(root);
    litho_run_begin(run, "model", "boundaries");
    for (int b = 0; ok && b < model->n_boundaries; b++)
        ok = load_file(model, &model->boundary[b], files, run, &inner) &&
             litho_run_step(run, b + 1, model->n_boundaries, &inner);
    if (ok)
        return g_steal_pointer(&model);
    if (litho_error_is_cancelled(inner))
        g_propagate_error(error, inner);
    else
        g_propagate_prefixed_error(error, inner, _("model '%s': "), path);
    return NULL;
}

const TwsmModel *twsm_model_builtin(const char *name)
{
    static GMutex lock;
    static GHashTable *made;
    const char *text = twsm_model_text(name);
    if (!text)
        return NULL;
    g_mutex_lock(&lock);
    if (!made)
        made = g_hash_table_new(g_str_hash, g_str_equal);
    TwsmModel *model = g_hash_table_lookup(made, text);
    if (!model) {
        g_autoptr(GError) error = NULL;
        JsonNode *root = litho_json_parse(text, -1, &error);
        model = g_new0(TwsmModel, 1);
        if (!root || !read_model(model, root, NULL, &error))
            g_error("built-in model %s: %s", name, error->message); // of our own making
        json_node_unref(root);
        g_hash_table_insert(made, (gpointer)text, model);
    }
    g_mutex_unlock(&lock);
    return model;
}
