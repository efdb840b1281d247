// SPDX-License-Identifier: GPL-3.0-or-later
//
// Reading a panel: every member is asked for by name and checked, so that a mistake is a sentence
// and what is left over is a spelling mistake.
#include "kernels/external/panel.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/json.h"
#include "core/text.h"

typedef LithoJsonReader Reader;

#define SCHEMA "docs/external.md"

enum {
    VERSION = 1,
    MOST_PARAMETERS = 32,
    MOST_PRESETS = 32,
    MOST_CHOICES = 32,
    MOST_WORDS = 64,
    WORD_BYTES = 4096,
    KEY_BYTES = 32,
    TITLE_BYTES = 60,
    UNIT_BYTES = 16,
    TEXT_BYTES = 800,
    MOST_HALO = 1000000,
    MOST_COPIES = 1000,
};

// --- texts --------------------------------------------------------------------------------------

static gboolean complain(Reader *r, const char *key, GError **error, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

static gboolean complain(Reader *r, const char *key, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    return litho_json_complain(r, key, what, error);
}

static const char *keep(ExternalPanel *panel, char *text)
{
    g_ptr_array_add(panel->texts, text);
    return text;
}

static gboolean is_one_line(const char *text)
{
    for (const char *p = text; *p; p = g_utf8_next_char(p))
        if (g_unichar_iscntrl(g_utf8_get_char(p)))
            return FALSE;
    return TRUE;
}

// A text of one line. `optional`: NULL where there is none.
static gboolean read_text(ExternalPanel *panel, Reader *r, const char *key, gsize most,
                          gboolean optional, const char **text, GError **error)
{
    *text = NULL;
    if (optional && !json_object_has_member(r->object, key))
        return TRUE;
    const char *found = litho_json_string(r, key, error);
    if (!found)
        return FALSE;
    if (!*found || strlen(found) > most || !is_one_line(found))
        return complain(r, key, error, _("must be one line of 1 to %zu bytes"), most);
    *text = keep(panel, g_strdup(found));
    return TRUE;
}

// A name of small letters, digits and "_" that begins with a letter.
static gboolean read_key(ExternalPanel *panel, Reader *r, const char *key, const char **text,
                         GError **error)
{
    if (!read_text(panel, r, key, KEY_BYTES, FALSE, text, error))
        return FALSE;
    gboolean good = g_ascii_islower(**text) && strcmp(*text, "preset") != 0;
    for (const char *p = *text; *p; p++)
        good = good && (g_ascii_islower(*p) || g_ascii_isdigit(*p) || *p == '_');
    return good ||
           complain(r, key, error,
                    _("is '%s'; small letters, digits and _ are needed, a letter first"), *text);
}

// --- parameters ---------------------------------------------------------------------------------

static const char *const type_names[] = {"float", "int", "bool", "choice", "text", "file", NULL};

static gboolean read_type(Reader *r, LithoParamType *type, GError **error)
{
    const char *name = litho_json_string(r, "type", error);
    if (!name)
        return FALSE;
    for (guint k = 0; type_names[k]; k++)
        if (strcmp(name, type_names[k]) == 0) {
            *type = (LithoParamType)k;
            return TRUE;
        }
    return complain(r, "type", error, _("must be float, int, bool, choice, text or file"));
}

static gboolean fits_int(Reader *r, const char *key, double value, GError **error)
{
    return (value == floor(value) && fabs(value) <= 1e9) ||
           complain(r, key, error, _("must be a whole number of at most 1e9"));
}

static gboolean read_slider(Reader *r, LithoParam *row, GError **error)
{
    double range[2];
    row->soft_min = row->min;
    row->soft_max = row->max;
    if (!json_object_has_member(r->object, "slider"))
        return TRUE;
    if (!litho_json_numbers(r, "slider", 2, range, error))
        return FALSE;
    row->soft_min = range[0];
    row->soft_max = range[1];
    return (range[0] < range[1] && range[0] >= row->min && range[1] <= row->max) ||
           complain(r, "slider", error, _("must be a range within min and max"));
}

static gboolean read_number(Reader *r, LithoParam *row, GError **error)
{
    gboolean log;
    const gboolean is_int = row->type == LITHO_PARAM_INT;
    if (!litho_json_number(r, "min", LITHO_JSON_REQUIRED, &row->min, error) ||
        !litho_json_number(r, "max", LITHO_JSON_REQUIRED, &row->max, error) ||
        !litho_json_number(r, "default", LITHO_JSON_REQUIRED, &row->def, error) ||
        !litho_json_number(r, "step", 0, &row->step, error) ||
        !litho_json_boolean(r, "log", FALSE, &log, error))
        return FALSE;
    row->log = log;
    if (is_int && (!fits_int(r, "min", row->min, error) || !fits_int(r, "max", row->max, error) ||
                   !fits_int(r, "default", row->def, error) ||
                   !fits_int(r, "step", row->step, error)))
        return FALSE;
    if (row->min >= row->max)
        return complain(r, "min", error, _("must be less than max"));
    if (row->def < row->min || row->def > row->max)
        return complain(r, "default", error, _("must lie from min to max"));
    if (row->step < 0)
        return complain(r, "step", error, _("must not be negative"));
    return read_slider(r, row, error) &&
           (!row->log || row->soft_min > 0 ||
            complain(r, "log", error, _("needs a min, or a slider, that begins above 0")));
}

static gboolean is_word(const char *text)
{
    gboolean good = *text != '\0' && strlen(text) <= KEY_BYTES;
    for (const char *p = text; *p; p++)
        good = good && (g_ascii_isalnum(*p) || strchr("_.-", *p));
    return good;
}

static gboolean read_choices(ExternalPanel *panel, Reader *r, LithoParam *row, GError **error)
{
    JsonArray *names = litho_json_array(r, "choices", 2, MOST_CHOICES, error);
    g_autoptr(GString) list = g_string_new(NULL);
    if (!names)
        return FALSE;
    const char *def = litho_json_string(r, "default", error);
    if (!def)
        return FALSE;
    row->def = -1;
    for (guint k = 0; k < json_array_get_length(names); k++) {
        const char *name = litho_json_node_string(json_array_get_element(names, k));
        if (!name || !is_word(name))
            return complain(r, "choices", error,
                            _("must be words of letters, digits, '_', '.' and '-'"));
        for (const char *p = list->str; *p; p += strlen(p) + 1)
            if (strcmp(p, name) == 0)
                return complain(r, "choices", error, _("has '%s' twice"), name);
        g_string_append_len(list, name, strlen(name) + 1);
        if (strcmp(name, def) == 0)
            row->def = k;
    }
    row->choices = keep(panel, g_memdup2(list->str, list->len + 1)); // a second 0 ends it
    row->max = 1e9;
    return row->def >= 0 || complain(r, "default", error, _("must be one of the choices"));
}

static gboolean read_values(ExternalPanel *panel, Reader *r, LithoParam *row, GError **error)
{
    gboolean on;
    switch (row->type) {
    case LITHO_PARAM_FLOAT:
    case LITHO_PARAM_INT:
        return read_number(r, row, error);
    case LITHO_PARAM_BOOL:
        row->max = 1;
        if (!json_object_has_member(r->object, "default"))
            return complain(r, "default", error, _("is missing"));
        if (!litho_json_boolean(r, "default", FALSE, &on, error))
            return FALSE;
        row->def = on;
        return TRUE;
    case LITHO_PARAM_CHOICE:
        return read_choices(panel, r, row, error);
    default:
        return read_text(panel, r, "default", sizeof(LithoText) - 1, TRUE, &row->def_text, error);
    }
}

// Bytes of a value, which are also what its place must be a multiple of, but for texts.
static gsize value_bytes(LithoParamType type)
{
    return type == LITHO_PARAM_FLOAT  ? sizeof(double)
           : type == LITHO_PARAM_BOOL ? sizeof(bool)
           : type == LITHO_PARAM_INT || type == LITHO_PARAM_CHOICE
               ? sizeof(int)
               : sizeof(LithoText);
}

static void place(LithoParamTable *table, LithoParam *row)
{
    const gsize bytes = value_bytes(row->type), unit = MIN(bytes, sizeof(double));
    row->offset = (table->size + unit - 1) / unit * unit;
    table->size = row->offset + bytes;
}

// "find": true, or the range that is searched.
static gboolean read_find(ExternalPanel *panel, Reader *r, const LithoParam *row, GError **error)
{
    JsonNode *node = litho_json_ask(r, "find");
    LithoFindRow found = {.key = row->key};
    guint n = 0;
    while (panel->find[n].key)
        n++;
    if (!node)
        return TRUE;
    if (litho_json_node_array(node)) {
        double range[2];
        if (!litho_json_numbers(r, "find", 2, range, error))
            return FALSE;
        found.lo = range[0];
        found.hi = range[1];
        if (!(found.lo < found.hi && found.lo >= row->min && found.hi <= row->max))
            return complain(r, "find", error, _("must be a range within min and max"));
    } else {
        gboolean on;
        if (!litho_json_boolean(r, "find", FALSE, &on, error))
            return FALSE;
        if (!on)
            return TRUE;
    }
    if (row->type == LITHO_PARAM_TEXT || row->type == LITHO_PARAM_FILE)
        return complain(r, "find", error, _("needs a parameter of numbers or choices"));
    if (n == EXTERNAL_FIND_MOST)
        return complain(r, "find", error, _("is asked for more than %d parameters"),
                        EXTERNAL_FIND_MOST);
    panel->find[n] = found;
    return TRUE;
}

static gboolean read_parameter(ExternalPanel *panel, LithoParam *rows, JsonNode *node,
                               GError **error)
{
    LithoParamTable *table = &panel->op.params;
    LithoParam *row = &rows[table->n];
    char where[64];
    gboolean advanced = FALSE;
    Reader r;
    g_snprintf(where, sizeof where, "parameters[%u]", table->n);
    *row = (LithoParam){.stage = 1};
    gboolean ok = litho_json_open(&r, node, where, _("the panel"), error) &&
                  read_key(panel, &r, "key", &row->key, error) &&
                  (!litho_param_find(table, row->key) ||
                   complain(&r, "key", error, _("is '%s', as that of another one"), row->key)) &&
                  read_text(panel, &r, "label", TITLE_BYTES, FALSE, &row->label, error) &&
                  read_type(&r, &row->type, error) &&
                  read_text(panel, &r, "unit", UNIT_BYTES, TRUE, &row->unit, error) &&
                  (!row->unit || row->type == LITHO_PARAM_FLOAT || row->type == LITHO_PARAM_INT ||
                   complain(&r, "unit", error, _("belongs to float and int only"))) &&
                  read_values(panel, &r, row, error) &&
                  litho_json_boolean(&r, "advanced", FALSE, &advanced, error) &&
                  read_text(panel, &r, "help", TEXT_BYTES, FALSE, &row->doc, error) &&
                  read_find(panel, &r, row, error);
    row->advanced = advanced;
    if (!litho_json_close(&r, ok, SCHEMA, error))
        return FALSE;
    place(table, row);
    table->n++;
    return TRUE;
}

static gboolean read_parameters(ExternalPanel *panel, Reader *r, GError **error)
{
    JsonArray *list = litho_json_array(r, "parameters", 0, MOST_PARAMETERS, error);
    if (!list)
        return FALSE;
    LithoParam *rows = g_new0(LithoParam, json_array_get_length(list) + 1);
    keep(panel, (char *)rows);
    panel->op.params = (LithoParamTable){.rows = rows, .size = sizeof(ExternalParams)};
    for (guint k = 0; k < json_array_get_length(list); k++)
        if (!read_parameter(panel, rows, json_array_get_element(list, k), error))
            return FALSE;
    ExternalParams *head = g_new0(ExternalParams, 1);
    head->panel = panel;
    panel->op.params.head = keep(panel, (char *)head);
    panel->op.params.head_bytes = sizeof *head;
    panel->op.params.size = (panel->op.params.size + sizeof(double) - 1) / sizeof(double) *
                            sizeof(double);
    return TRUE;
}

// --- halo ---------------------------------------------------------------------------------------

// "KEY" or "FACTOR*KEY".
static gboolean halo_of_parameter(const ExternalPanel *panel, const char *text,
                                   ExternalHalo *halo)
{
    const char *star = strchr(text, '*');
    char *end = NULL;
    halo->times = star ? g_ascii_strtod(text, &end) : 1;
    if (star && (end != star || end == text))
        return FALSE;
    halo->row = litho_param_find(&panel->op.params, star ? star + 1 : text);
    return halo->row && isfinite(halo->times) && halo->times > 0 &&
           (halo->row->type == LITHO_PARAM_INT || halo->row->type == LITHO_PARAM_FLOAT);
}

static gboolean read_halo_entry(const ExternalPanel *panel, JsonNode *node, ExternalHalo *halo)
{
    const char *text = litho_json_node_string(node);
    if (litho_json_node_number(node, &halo->fixed))
        return halo->fixed >= 0 && halo->fixed <= MOST_HALO && halo->fixed == floor(halo->fixed);
    halo->all = text && strcmp(text, "all") == 0;
    return halo->all || (text && halo_of_parameter(panel, text, halo));
}

static gboolean read_halo(ExternalPanel *panel, Reader *r, GError **error)
{
    JsonArray *list = litho_json_array(r, "halo", 3, 3, error);
    for (guint k = 0; list && k < 3; k++)
        if (!read_halo_entry(panel, json_array_get_element(list, k), &panel->halo[k]))
            return complain(
                r, "halo", error,
                _("must be [inlines, crosslines, samples], each a whole number from 0 to "
                  "%d, \"all\", the key of a parameter of numbers, or \"2*KEY\""),
                MOST_HALO);
    return list != NULL;
}

// --- the rest -----------------------------------------------------------------------------------

static gboolean read_command(ExternalPanel *panel, Reader *r, GError **error)
{
    JsonArray *list = litho_json_array(r, "command", 1, MOST_WORDS, error);
    if (!list)
        return FALSE;
    const guint n = json_array_get_length(list);
    panel->command = g_new0(char *, n + 1);
    for (guint k = 0; k < n; k++) {
        const char *word = litho_json_node_string(json_array_get_element(list, k));
        if (!word || strlen(word) > WORD_BYTES || (k == 0 && !*word))
            return complain(
                r, "command", error,
                _("must be a list of words, the program first, of at most %d bytes each"),
                WORD_BYTES);
        panel->command[k] = g_strdup(word);
    }
    g_autofree char *first = g_path_get_basename(panel->command[0]);
    panel->name = n > 1 ? g_strdup_printf("%s %s", first, panel->command[1]) : g_strdup(first);
    return TRUE;
}

static gboolean read_preset(ExternalPanel *panel, LithoPreset *preset, guint k, JsonNode *node,
                            GError **error)
{
    char where[64];
    Reader r;
    g_snprintf(where, sizeof where, "presets[%u]", k);
    gboolean ok =
        litho_json_open(&r, node, where, _("the panel"), error) &&
        read_text(panel, &r, "name", KEY_BYTES, FALSE, &preset->name, error) &&
        (is_word(preset->name) ||
         complain(&r, "name", error, _("must be one word of letters, digits, _, . and -"))) &&
        read_text(panel, &r, "settings", TEXT_BYTES, FALSE, &preset->settings, error) &&
        read_text(panel, &r, "help", TEXT_BYTES, FALSE, &preset->doc, error);
    g_autofree void *params = g_malloc0(panel->op.params.size);
    g_autoptr(GError) why = NULL;
    litho_param_defaults(&panel->op.params, params);
    if (ok && !litho_operator_settings(&panel->op, params, preset->settings, &why))
        ok = complain(&r, "settings", error, _("cannot be taken: %s"), why->message);
    return litho_json_close(&r, ok, SCHEMA, error);
}

static gboolean read_presets(ExternalPanel *panel, Reader *r, GError **error)
{
    JsonArray *list = NULL;
    if (json_object_has_member(r->object, "presets") &&
        !(list = litho_json_array(r, "presets", 0, MOST_PRESETS, error)))
        return FALSE;
    const guint n = list ? json_array_get_length(list) : 0;
    LithoPreset *presets = g_new0(LithoPreset, n + 2);
    keep(panel, (char *)presets);
    presets[0] = (LithoPreset){"default", "", _("the values of the panel")};
    for (guint k = 0; k < n; k++)
        if (!read_preset(panel, &presets[k + 1], k, json_array_get_element(list, k), error))
            return FALSE;
    panel->op.presets = presets;
    return TRUE;
}

// One of two words, the first where there is none.
static gboolean read_either(Reader *r, const char *key, const char *const words[2],
                            gboolean *second, GError **error)
{
    *second = FALSE;
    if (!json_object_has_member(r->object, key))
        return TRUE;
    const char *word = litho_json_string(r, key, error);
    if (!word)
        return FALSE;
    *second = strcmp(word, words[1]) == 0;
    return *second || strcmp(word, words[0]) == 0 ||
           complain(r, key, error, _("must be %s or %s"), words[0], words[1]);
}

static gboolean read_panel(ExternalPanel *panel, JsonNode *root, GError **error)
{
    static const char *const stages[] = {"plan", "program", NULL};
    static const char *const missing[] = {"zero", "nan"}, *const amplitudes[] = {"input", "own"};
    LithoOperator *op = &panel->op;
    double version;
    Reader r;
    op->stages = stages;
    op->needs_input = TRUE;
    gboolean ok =
        litho_json_open(&r, root, "", _("the panel"), error) &&
        litho_json_number(&r, "lithoscope_operator", LITHO_JSON_REQUIRED, &version, error) &&
        (version == VERSION || complain(&r, "lithoscope_operator", error,
                                        _("is %g; version %d is needed"), version, VERSION)) &&
        read_key(panel, &r, "key", &op->key, error) &&
        read_text(panel, &r, "title", TITLE_BYTES, FALSE, &op->title, error) &&
        read_text(panel, &r, "summary", TEXT_BYTES, FALSE, &op->summary, error) &&
        read_command(panel, &r, error) && read_parameters(panel, &r, error) &&
        read_halo(panel, &r, error) && read_presets(panel, &r, error) &&
        read_either(&r, "missing", missing, &panel->missing_as_nan, error) &&
        read_either(&r, "amplitudes", amplitudes, &op->own_amplitudes, error) &&
        litho_json_boolean(&r, "fills", FALSE, &panel->fills, error) &&
        litho_json_boolean(&r, "one_cube", FALSE, &panel->one_cube, error) &&
        litho_json_number(&r, "memory", 3, &panel->copies, error) &&
        ((panel->copies >= 0 && panel->copies <= MOST_COPIES) ||
         complain(&r, "memory", error, _("must be a number of copies from 0 to %d"), MOST_COPIES));
    op->find = panel->find[0].key ? panel->find : NULL;
    op->fills = panel->fills ? "" : NULL;
    return litho_json_close(&r, ok, SCHEMA, error);
}

void external_panel_free(ExternalPanel *panel)
{
    if (!panel)
        return;
    g_free(panel->path);
    g_free(panel->folder);
    g_free(panel->name);
    g_strfreev(panel->command);
    g_ptr_array_unref(panel->texts);
    g_free(panel);
}

// Recipes, sessions and reports are JSON objects, too, and say nothing of a program.
static gboolean is_another_file(JsonNode *root)
{
    JsonObject *object = litho_json_node_object(root);
    return object && !json_object_has_member(object, "lithoscope_operator") &&
           !json_object_has_member(object, "command");
}

ExternalPanel *external_panel_load(const char *path, GError **error)
{
    JsonNode *root = litho_json_load(path, error);
    if (!root)
        return NULL;
    if (is_another_file(root)) {
        json_node_unref(root);
        return NULL;
    }
    ExternalPanel *panel = g_new0(ExternalPanel, 1);
    panel->texts = g_ptr_array_new_with_free_func(g_free);
    panel->path = g_canonicalize_filename(path, NULL);
    panel->folder = g_path_get_dirname(panel->path);
    const gboolean ok = read_panel(panel, root, error);
    json_node_unref(root);
    if (ok)
        return panel;
    g_prefix_error(error, "%s: ", path);
    external_panel_free(panel);
    return NULL;
}
