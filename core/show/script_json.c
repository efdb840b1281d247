// SPDX-License-Identifier: GPL-3.0-or-later
//
// Scripts as JSON text: one strict reader, one writer.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/io/output.h"
#include "core/json.h"
#include "core/show/script.h"
#include "core/text.h"

// The place where the members are explained.
#define SCHEMA "docs/files.md"

static const char *const views[] = {"all", "inline", "crossline", "slice", "scene", NULL};
static const char *const acts[] = {"look", "snapshot", "find", "race", NULL};
static const char *const axes[] = {"inline", "crossline", "sample"};

// --- reading ------------------------------------------------------------------------------------

// Index of an optional word among `words`; what it was before where there is none.
static gboolean read_word(LithoJsonReader *r, const char *key, const char *const *words, int *index,
                          GError **error)
{
    if (!json_object_has_member(r->object, key))
        return TRUE;
    const char *word = litho_json_string(r, key, error);
    if (!word)
        return FALSE;
    for (int k = 0; words[k]; k++)
        if (strcmp(words[k], word) == 0) {
            *index = k;
            return TRUE;
        }
    g_autofree char *list = g_strjoinv(", ", (char **)words);
    g_autofree char *what = g_strdup_printf(_("is '%s'; one of %s is needed"), word, list);
    return litho_json_complain(r, key, what, error);
}

// An optional part of 0..1, or two of them: where it begins and where it ends.
static gboolean read_part(LithoJsonReader *r, const char *key, double part[2], GError **error)
{
    JsonNode *node = json_object_get_member(r->object, key);
    double read[2];
    if (!node)
        return TRUE;
    if (litho_json_node_array(node)) {
        if (!litho_json_numbers(r, key, 2, read, error))
            return FALSE;
    } else if (!litho_json_number(r, key, NAN, &read[0], error))
        return FALSE;
    else
        read[1] = read[0];
    for (int k = 0; k < 2; k++)
        if (!(read[k] >= 0 && read[k] <= 1))
            return litho_json_complain(r, key, _("must lie between 0 and 1"), error);
    memcpy(part, read, sizeof read);
    return TRUE;
}

static gboolean read_slices(LithoJsonReader *r, LithoScriptStep *step, GError **error)
{
    JsonNode *node = litho_json_ask(r, "slices");
    LithoJsonReader s;
    g_autofree char *where = g_strdup_printf("%s.slices", r->where);
    if (!node)
        return TRUE;
    gboolean good = litho_json_open(&s, node, where, NULL, error);
    for (int a = 0; good && a < 3; a++)
        good = read_part(&s, axes[a], step->slice[a], error);
    return litho_json_close(&s, good, SCHEMA, error);
}

static gboolean read_generator(LithoJsonReader *r, LithoScriptCube *cube, GError **error)
{
    const char *key = litho_json_string(r, "generate", error);
    if (!key)
        return FALSE;
    cube->synth = litho_synth_find(key);
    if (!cube->synth) {
        g_autofree char *what = g_strdup_printf(_("is '%s', which is no generator"), key);
        return litho_json_complain(r, "generate", what, error);
    }
    cube->params = g_malloc0(cube->synth->params.size);
    litho_param_defaults(&cube->synth->params, cube->params);
    JsonNode *params = litho_json_ask(r, "params");
    if (params && !litho_json_node_object(params))
        return litho_json_complain(r, "params", _("must be an object { ... }"), error);
    if (!params || litho_params_from_json(&cube->synth->params, cube->params,
                                          json_node_get_object(params), error))
        return TRUE;
    g_prefix_error(error, "%s.params: ", r->where);
    return FALSE;
}

static gboolean read_file(LithoJsonReader *r, const char *folder, LithoScriptCube *cube,
                          GError **error)
{
    const char *file = litho_json_string(r, "file", error);
    if (file)
        cube->file = g_path_is_absolute(file) || !folder ? g_strdup(file)
                                                         : g_build_filename(folder, file, NULL);
    return file != NULL;
}

static gboolean read_cube(LithoJsonReader *r, const char *folder, LithoScriptStep *step,
                          GError **error)
{
    JsonNode *node = litho_json_ask(r, "cube");
    LithoJsonReader c;
    g_autofree char *where = g_strdup_printf("%s.cube", r->where);
    if (!node)
        return TRUE;
    litho_script_cube_clear(&step->cube);
    gboolean good = litho_json_open(&c, node, where, NULL, error);
    if (good)
        good = json_object_has_member(c.object, "file") ? read_file(&c, folder, &step->cube, error)
                                                        : read_generator(&c, &step->cube, error);
    return litho_json_close(&c, good, SCHEMA, error);
}

// A file that a parameter names and that lies beside the script is taken from there: what else the
// text may be, a number or a built-in model, is no such file.
static void find_beside(LithoStep *step, const char *folder)
{
    for (guint k = 0; k < step->op->params.n; k++) {
        const LithoParam *row = &step->op->params.rows[k];
        if (row->type != LITHO_PARAM_FILE ||
            litho_param_is_written(&step->op->params, row, step->params))
            continue;
        g_autofree char *name = litho_param_print(row, step->params);
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (*name && !g_path_is_absolute(name) && g_file_test(path, G_FILE_TEST_IS_REGULAR))
            litho_param_set_text(row, step->params, path, NULL); // too long: as it was written
    }
}

// The steps of a recipe without its frame.
static gboolean read_flow(LithoJsonReader *r, const char *folder, LithoScriptStep *step,
                          GError **error)
{
    JsonNode *node = litho_json_ask(r, "flow");
    if (!node)
        return TRUE;
    JsonObject *recipe = json_object_new();
    json_object_set_int_member(recipe, "lithoscope", 1);
    json_object_set_member(recipe, "flow", json_node_copy(node));
    JsonNode *root = json_node_init_object(json_node_alloc(), recipe);
    json_object_unref(recipe);
    LithoFlow *flow = litho_flow_from_json(root, error);
    json_node_unref(root);
    if (!flow) {
        g_prefix_error(error, "%s: ", r->where);
        return FALSE;
    }
    for (guint k = 0; folder && k < litho_flow_length(flow); k++)
        find_beside(litho_flow_step(flow, k), folder);
    litho_flow_free(step->flow);
    step->flow = flow;
    return TRUE;
}

static gboolean read_ramp_ends(LithoJsonReader *r, LithoScriptStep *step, LithoScriptRamp *ramp,
                               GError **error)
{
    double at;
    const char *key = litho_json_string(r, "parameter", error);
    if (!key || !litho_json_number(r, "step", 1, &at, error) ||
        !litho_json_number(r, "from", LITHO_JSON_REQUIRED, &ramp->from, error) ||
        !litho_json_number(r, "to", LITHO_JSON_REQUIRED, &ramp->to, error))
        return FALSE;
    if (!(at >= 1 && at <= litho_flow_length(step->flow)) || at != floor(at))
        return litho_json_complain(r, "step", _("must be the number of a step of the flow"), error);
    ramp->step = (guint)at - 1;
    LithoStep *moved = litho_flow_step(step->flow, ramp->step);
    ramp->row = litho_param_find(&moved->op->params, key);
    if (!ramp->row || ramp->row->type == LITHO_PARAM_TEXT || ramp->row->type == LITHO_PARAM_FILE) {
        g_autofree char *what = g_strdup_printf(_("is '%s', which is no number of the operator %s"),
                                                key, moved->op->key);
        return litho_json_complain(r, "parameter", what, error);
    }
    // Both ends are legal; the flow begins where the ramp does.
    if (litho_param_set(ramp->row, moved->params, ramp->to, error) &&
        litho_param_set(ramp->row, moved->params, ramp->from, error))
        return TRUE;
    g_prefix_error(error, "%s: ", r->where);
    return FALSE;
}

static gboolean read_ramps(LithoJsonReader *r, LithoScriptStep *step, GError **error)
{
    if (!json_object_has_member(r->object, "ramps"))
        return TRUE;
    JsonArray *array = litho_json_array(r, "ramps", 0, LITHO_SCRIPT_RAMPS, error);
    for (guint k = 0; array && k < json_array_get_length(array); k++) {
        LithoJsonReader s;
        LithoScriptRamp ramp = {0};
        g_autofree char *where = g_strdup_printf("%s.ramps[%u]", r->where, k);
        gboolean good = litho_json_open(&s, json_array_get_element(array, k), where, NULL, error) &&
                        read_ramp_ends(&s, step, &ramp, error);
        if (!litho_json_close(&s, good, SCHEMA, error))
            return FALSE;
        g_array_append_val(step->ramps, ramp);
    }
    return array != NULL;
}

static const LithoStep *first_enabled(const LithoFlow *flow)
{
    for (guint k = 0; k < litho_flow_length(flow); k++)
        if (litho_flow_step(flow, k)->enabled)
            return litho_flow_step(flow, k);
    return NULL;
}

static gboolean check_settings(LithoJsonReader *r, const LithoFlow *flow, const char *settings,
                               GError **error)
{
    const LithoStep *step = first_enabled(flow);
    g_auto(GStrv) words = g_strsplit(settings, " ", -1);
    if (!step)
        return litho_json_complain(r, "settings", _("needs a flow with a step"), error);
    g_autofree void *params = g_memdup2(step->params, step->op->params.size);
    for (char **word = words; *word; word++)
        if (**word && !litho_operator_set(step->op, params, *word, error)) {
            g_prefix_error(error, "%s.settings: ", r->where);
            return FALSE;
        }
    return TRUE;
}

static gboolean read_lane(LithoJsonReader *r, const LithoFlow *flow, LithoScriptLane *lane,
                          GError **error)
{
    double threads;
    const char *device = litho_json_string(r, "device", error);
    if (!device || !litho_json_number(r, "threads", 0, &threads, error))
        return FALSE;
    if (!(threads >= 0 && threads <= 1024) || threads != floor(threads))
        return litho_json_complain(r, "threads", _("must be a whole number from 0 to 1024"), error);
    const gboolean has[2] = {json_object_has_member(r->object, "label"),
                             json_object_has_member(r->object, "settings")};
    const char *label = has[0] ? litho_json_string(r, "label", error) : NULL;
    const char *settings = has[1] ? litho_json_string(r, "settings", error) : NULL;
    if ((has[0] && !label) || (has[1] && !settings) ||
        (settings && !check_settings(r, flow, settings, error)))
        return FALSE;
    *lane = (LithoScriptLane){g_strdup(label), g_strdup(device), (int)threads, g_strdup(settings)};
    return TRUE;
}

static gboolean read_lanes(LithoJsonReader *r, LithoScriptStep *step, GError **error)
{
    if (!json_object_has_member(r->object, "lanes"))
        return TRUE;
    JsonArray *array = litho_json_array(r, "lanes", 2, LITHO_SCRIPT_LANES, error);
    for (guint k = 0; array && k < json_array_get_length(array); k++) {
        LithoJsonReader s;
        LithoScriptLane lane = {0};
        g_autofree char *where = g_strdup_printf("%s.lanes[%u]", r->where, k);
        gboolean good = litho_json_open(&s, json_array_get_element(array, k), where, NULL, error) &&
                        read_lane(&s, step->flow, &lane, error);
        if (lane.device)
            g_array_append_val(step->lanes, lane);
        if (!litho_json_close(&s, good, SCHEMA, error))
            return FALSE;
    }
    return array != NULL;
}

// A race needs a flow, everything else a cube or a source.
static gboolean check_step(LithoJsonReader *r, const LithoScriptStep *step, GError **error)
{
    const LithoStep *first = first_enabled(step->flow);
    if (!step->cube.synth && !step->cube.file && (!first || first->op->needs_input))
        return litho_json_complain(r, "cube", _("is missing: nothing is open"), error);
    if (step->act != LITHO_SCRIPT_LOOK && !first)
        return litho_json_complain(r, "act", _("needs a flow with a step"), error);
    if (step->lanes->len > 0 && step->act != LITHO_SCRIPT_RACE)
        return litho_json_complain(r, "lanes", _("belong to the act 'race'"), error);
    return TRUE;
}

static gboolean read_step(LithoJsonReader *r, const char *folder, LithoScriptStep *step,
                          GError **error)
{
    int show = step->show, view = step->view + 1, act = LITHO_SCRIPT_LOOK;
    const char *caption =
        json_object_has_member(r->object, "caption") ? litho_json_string(r, "caption", error) : "";
    if (!caption || !read_cube(r, folder, step, error) || !read_flow(r, folder, step, error) ||
        !read_ramps(r, step, error) || !read_word(r, "show", litho_script_shows, &show, error) ||
        !read_word(r, "view", views, &view, error) || !read_word(r, "act", acts, &act, error) ||
        !read_part(r, "split", step->split, error) || !read_slices(r, step, error) ||
        !read_lanes(r, step, error) ||
        !litho_json_number(r, "dwell", step->dwell, &step->dwell, error))
        return FALSE;
    if (!(step->dwell >= 0 && step->dwell <= LITHO_SCRIPT_SECONDS))
        return litho_json_complain(r, "dwell", _("must lie between 0 and 600 seconds"), error);
    g_free(step->caption);
    step->caption = g_strdup(caption);
    step->show = (LithoScriptShow)show;
    step->view = (LithoScriptView)(view - 1);
    step->act = (LithoScriptAct)act;
    return check_step(r, step, error);
}

static gboolean read_steps(LithoScript *script, JsonArray *array, const char *folder,
                           GError **error)
{
    const LithoScriptStep *before = NULL;
    for (guint k = 0; k < json_array_get_length(array); k++) {
        LithoJsonReader r;
        char where[24];
        g_snprintf(where, sizeof where, "steps[%u]", k);
        LithoScriptStep *step = litho_script_step_after(before);
        g_ptr_array_add(script->steps, step);
        gboolean good = litho_json_open(&r, json_array_get_element(array, k), where, NULL, error) &&
                        read_step(&r, folder, step, error);
        if (!litho_json_close(&r, good, SCHEMA, error))
            return FALSE;
        before = step;
    }
    return TRUE;
}

static gboolean read_script(LithoScript *script, LithoJsonReader *r, const char *folder,
                            GError **error)
{
    double version;
    if (!litho_json_number(r, "lithoscope-demo", LITHO_JSON_REQUIRED, &version, error))
        return FALSE;
    if (version != 1)
        return litho_refuse(error, LITHO_ERROR_FORMAT,
                            "the script has \"lithoscope-demo\": %g; version 1 is read", version);
    const char *title = litho_json_string(r, "title", error);
    const char *summary = !title ? NULL
                          : json_object_has_member(r->object, "summary")
                              ? litho_json_string(r, "summary", error)
                              : "";
    if (!summary || !litho_json_boolean(r, "loop", FALSE, &script->loop, error))
        return FALSE;
    g_free(script->title);
    g_free(script->summary);
    script->title = g_strdup(title);
    script->summary = g_strdup(summary);
    JsonArray *array = litho_json_array(r, "steps", 1, LITHO_SCRIPT_STEPS, error);
    return array && read_steps(script, array, folder, error);
}

static LithoScript *from_json(JsonNode *root, const char *folder, GError **error)
{
    g_autoptr(LithoScript) script = litho_script_new("");
    LithoJsonReader r;
    gboolean good = litho_json_open(&r, root, "", _("a script"), error) &&
                    read_script(script, &r, folder, error);
    return litho_json_close(&r, good, SCHEMA, error) ? g_steal_pointer(&script) : NULL;
}

LithoScript *litho_script_parse(const char *text, const char *folder, GError **error)
{
    JsonNode *root = litho_json_parse(text, -1, error);
    LithoScript *script = root ? from_json(root, folder, error) : NULL;
    g_clear_pointer(&root, json_node_unref);
    return script;
}

LithoScript *litho_script_load(const char *path, GError **error)
{
    JsonNode *root = litho_json_load(path, error);
    g_autofree char *folder = g_path_get_dirname(path);
    LithoScript *script = root ? from_json(root, folder, error) : NULL;
    if (root && !script)
        g_prefix_error(error, "%s: ", path);
    g_clear_pointer(&root, json_node_unref);
    return script;
}

// --- writing ------------------------------------------------------------------------------------

static void write_part(JsonObject *object, const char *key, const double part[2])
{
    if (part[0] == part[1]) {
        json_object_set_double_member(object, key, part[0]);
        return;
    }
    JsonArray *array = json_array_new();
    for (int k = 0; k < 2; k++)
        json_array_add_double_element(array, part[k]);
    json_object_set_array_member(object, key, array);
}

// Only the rows that differ from the defaults.
static JsonObject *params_to_json(const LithoParamTable *table, gconstpointer params)
{
    g_autofree void *defaults = g_malloc0(table->size);
    litho_param_defaults(table, defaults);
    JsonObject *all = litho_params_to_json(table, params);
    for (guint k = 0; k < table->n; k++)
        if (litho_param_equal(&table->rows[k], params, defaults))
            json_object_remove_member(all, table->rows[k].key);
    return all;
}

static JsonObject *cube_to_json(const LithoScriptCube *cube)
{
    JsonObject *object = json_object_new();
    if (cube->file) {
        json_object_set_string_member(object, "file", cube->file);
        return object;
    }
    JsonObject *params = params_to_json(&cube->synth->params, cube->params);
    json_object_set_string_member(object, "generate", cube->synth->key);
    if (json_object_get_size(params) > 0)
        json_object_set_object_member(object, "params", params);
    else
        json_object_unref(params);
    return object;
}

static JsonArray *flow_to_json(const LithoFlow *flow)
{
    JsonArray *steps = json_array_new();
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        JsonObject *object = json_object_new(),
                   *params = params_to_json(&step->op->params, step->params);
        json_object_set_string_member(object, "operator", step->op->key);
        if (!step->enabled)
            json_object_set_boolean_member(object, "enabled", FALSE);
        if (json_object_get_size(params) > 0)
            json_object_set_object_member(object, "params", params);
        else
            json_object_unref(params);
        json_array_add_object_element(steps, object);
    }
    return steps;
}

static JsonArray *ramps_to_json(const LithoScriptStep *step)
{
    JsonArray *array = json_array_new();
    for (guint k = 0; k < step->ramps->len; k++) {
        const LithoScriptRamp *ramp = &g_array_index(step->ramps, LithoScriptRamp, k);
        JsonObject *object = json_object_new();
        if (ramp->step > 0)
            json_object_set_int_member(object, "step", ramp->step + 1);
        json_object_set_string_member(object, "parameter", ramp->row->key);
        json_object_set_double_member(object, "from", ramp->from);
        json_object_set_double_member(object, "to", ramp->to);
        json_array_add_object_element(array, object);
    }
    return array;
}

static JsonArray *lanes_to_json(const LithoScriptStep *step)
{
    JsonArray *array = json_array_new();
    for (guint k = 0; k < step->lanes->len; k++) {
        const LithoScriptLane *lane = &g_array_index(step->lanes, LithoScriptLane, k);
        JsonObject *object = json_object_new();
        if (lane->label)
            json_object_set_string_member(object, "label", lane->label);
        json_object_set_string_member(object, "device", lane->device);
        if (lane->threads > 0)
            json_object_set_int_member(object, "threads", lane->threads);
        if (lane->settings)
            json_object_set_string_member(object, "settings", lane->settings);
        json_array_add_object_element(array, object);
    }
    return array;
}

static void write_slices(JsonObject *object, const LithoScriptStep *step,
                         const LithoScriptStep *before)
{
    JsonObject *slices = json_object_new();
    for (int a = 0; a < 3; a++)
        if (step->slice[a][0] != before->slice[a][0] || step->slice[a][1] != before->slice[a][1])
            write_part(slices, axes[a], step->slice[a]);
    if (json_object_get_size(slices) > 0)
        json_object_set_object_member(object, "slices", slices);
    else
        json_object_unref(slices);
}

// Members of the step that differ from `before`, the state that it inherits.
static JsonObject *step_to_json(const LithoScriptStep *step, const LithoScriptStep *before)
{
    JsonObject *object = json_object_new();
    if (*step->caption)
        json_object_set_string_member(object, "caption", step->caption);
    if ((step->cube.synth || step->cube.file) &&
        !litho_script_cube_equal(&step->cube, &before->cube))
        json_object_set_object_member(object, "cube", cube_to_json(&step->cube));
    if (!litho_flow_equal(step->flow, before->flow))
        json_object_set_array_member(object, "flow", flow_to_json(step->flow));
    if (step->ramps->len > 0)
        json_object_set_array_member(object, "ramps", ramps_to_json(step));
    if (step->show != before->show)
        json_object_set_string_member(object, "show", litho_script_shows[step->show]);
    if (step->view != before->view)
        json_object_set_string_member(object, "view", views[step->view + 1]);
    if (step->split[0] != before->split[0] || step->split[1] != before->split[1])
        write_part(object, "split", step->split);
    write_slices(object, step, before);
    if (step->act != LITHO_SCRIPT_LOOK)
        json_object_set_string_member(object, "act", acts[step->act]);
    if (step->lanes->len > 0)
        json_object_set_array_member(object, "lanes", lanes_to_json(step));
    if (step->dwell != before->dwell)
        json_object_set_double_member(object, "dwell", step->dwell);
    return object;
}

char *litho_script_print(const LithoScript *script)
{
    JsonObject *root = json_object_new();
    JsonArray *steps = json_array_new();
    json_object_set_int_member(root, "lithoscope-demo", 1);
    json_object_set_string_member(root, "title", script->title);
    if (*script->summary)
        json_object_set_string_member(root, "summary", script->summary);
    if (script->loop)
        json_object_set_boolean_member(root, "loop", TRUE);
    for (guint k = 0; k < script->steps->len; k++) {
        LithoScriptStep *before =
            litho_script_step_after(k > 0 ? g_ptr_array_index(script->steps, k - 1) : NULL);
        json_array_add_object_element(steps,
                                      step_to_json(g_ptr_array_index(script->steps, k), before));
        litho_script_step_free(before);
    }
    json_object_set_array_member(root, "steps", steps);
    g_autofree char *text = litho_json_object_text(root);
    return g_strconcat(text, "\n", NULL);
}

gboolean litho_script_save(const LithoScript *script, const char *path, GError **error)
{
    g_autofree char *text = litho_script_print(script);
    return litho_output_save(path, text, -1, LITHO_REPLACE_ANY, error);
}
