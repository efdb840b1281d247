// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/provenance.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/io/open_options.h"
#include "core/io/survey_private.h"
#include "core/json.h"
#include "core/stamp.h"

enum { FORMAT = 1 };

static const char FORMAT_KEY[] = "lithoscope-provenance";

// --- marks
// ----------------------------------------------------------------------------------------

gboolean litho_file_mark_holds(const LithoFileMark *mark, const char *path, GError **error)
{
    LithoStamp stamp;
    if (!litho_stamp_take(path, &stamp, NULL))
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "%s, which the output was computed from, is not there", path);
    if (stamp.bytes == mark->bytes && stamp.changed_ns == mark->changed_ns)
        return TRUE;
    g_autofree char *now = litho_fingerprint(path, error);
    return now && (strcmp(now, mark->fingerprint) == 0 ||
                   litho_refuse(error, LITHO_ERROR_PARAMETER,
                                "%s is not the file that the output was computed from: it has "
                                "changed since, or has another's name",
                                path));
}

static void clear_mark(gpointer data)
{
    LithoFileMark *mark = data;
    g_free(mark->path);
    g_free(mark->fingerprint);
}

static GArray *new_marks(void)
{
    GArray *marks = g_array_new(FALSE, TRUE, sizeof(LithoFileMark));
    g_array_set_clear_func(marks, clear_mark);
    return marks;
}

// --- writing --------------------------------------------------------------------------------------

char *litho_provenance_path(const char *output)
{
    return g_strconcat(output, ".provenance", NULL);
}

char *litho_provenance_device(LithoDevice device)
{
    LithoDeviceInfo info;
    const LithoBackend *backend = device.backend ? device.backend : litho_backend_cpu();
    if (!backend->device_info(device.index, &info, NULL))
        return g_strdup("");
    char *comma = strrchr(info.name, ',');
    if (comma && strstr(comma, "thread"))
        *comma = '\0';
    return g_strdup(info.name);
}

// A whole path as JSON, which is UTF-8, can hold it: as it is, or where its bytes are no UTF-8 as a
// URI ("file:///a%E9.sgy"); g_free().
static char *path_to_text(const char *path)
{
    g_autofree char *full = g_canonicalize_filename(path, NULL);
    return g_utf8_validate(full, -1, NULL) ? g_steal_pointer(&full)
                                           : g_filename_to_uri(full, NULL, NULL);
}

static char *path_from_text(const char *text)
{
    char *path = g_str_has_prefix(text, "file://") ? g_filename_from_uri(text, NULL, NULL) : NULL;
    return path ? path : g_strdup(text);
}

// A mark of what lies at `path` now as { "path", "bytes", "changed_ns", "fingerprint" }.
static gboolean add_mark(JsonArray *array, const char *path, GError **error)
{
    LithoStamp stamp;
    g_autofree char *full = path_to_text(path);
    g_autofree char *fingerprint = litho_fingerprint(path, error);
    if (!fingerprint || !litho_stamp_take(path, &stamp, error))
        return FALSE;
    JsonObject *object = json_object_new();
    char changed[24];
    g_snprintf(changed, sizeof changed, "%" G_GINT64_FORMAT, stamp.changed_ns);
    json_object_set_string_member(object, "path", full);
    json_object_set_int_member(object, "bytes", stamp.bytes);
    json_object_set_string_member(object, "changed_ns", changed); // beyond a double's whole numbers
    json_object_set_string_member(object, "fingerprint", fingerprint);
    json_array_add_object_element(array, object);
    return TRUE;
}

// Files that the flow's parameters name get their whole path, and a mark in `marks`.
static gboolean settle_files(LithoFlow *flow, JsonArray *marks, GError **error)
{
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        LithoStep *step = litho_flow_step(flow, k);
        const LithoParamTable *table = &step->op->params;
        for (guint r = 0; step->enabled && r < table->n; r++) {
            const LithoParam *row = &table->rows[r];
            if (!litho_param_is_read(table, row, step->params))
                continue;
            g_autofree char *path = litho_param_print(row, step->params);
            LithoStamp stamp;
            if (!litho_stamp_take(path, &stamp, NULL)) // a number, or a built-in model
                continue;
            g_autofree char *full = g_canonicalize_filename(path, NULL);
            if (!litho_param_set_text(row, step->params, full, NULL) ||
                !add_mark(marks, path, error))
                return FALSE;
        }
    }
    return TRUE;
}

static JsonObject *to_json(const LithoProvenanceOf *of, LithoFlow *flow, GError **error)
{
    JsonObject *object = json_object_new();
    JsonArray *inputs = json_array_new(), *files = json_array_new(), *steps = json_array_new();
    JsonArray *size = json_array_new();
    gboolean good = settle_files(flow, steps, error);
    for (char *const *path = of->inputs; good && path && *path; path++) {
        g_autofree char *full = path_to_text(*path);
        json_array_add_string_element(inputs, full);
    }
    for (guint k = 0; good && of->survey && k < of->survey->files->len; k++)
        good = add_mark(files, g_array_index(of->survey->files, LithoTraceFile, k).path, error);
    for (int a = 0; a < 3; a++)
        json_array_add_int_element(size, of->out->axis[a].n);
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    g_autofree char *finished = g_date_time_format_iso8601(now);
    g_autofree char *device = litho_provenance_device(of->device);
    const LithoBackend *backend = of->device.backend ? of->device.backend : litho_backend_cpu();
    json_object_set_int_member(object, FORMAT_KEY, FORMAT);
    json_object_set_string_member(object, "version", LITHO_VERSION);
    json_object_set_string_member(object, "finished", finished);
    json_object_set_string_member(object, "backend", backend->key);
    json_object_set_string_member(object, "device", device);
    json_object_set_int_member(object, "devices", MAX(of->devices, 1));
    json_object_set_int_member(object, "ranks", MAX(of->ranks, 1));
    json_object_set_array_member(object, "inputs", inputs);
    json_object_set_array_member(object, "input_files", files);
    json_object_set_array_member(object, "parameter_files", steps);
    json_object_set_object_member(object, "reading", litho_open_options_to_json(of->open));
    json_object_set_array_member(object, "output_size", size);
    json_object_set_member(object, "recipe", litho_flow_to_json(flow));
    if (!good)
        g_clear_pointer(&object, json_object_unref);
    return object;
}

// TRUE when a provenance stands at `path`.
static gboolean is_ours(const char *path)
{
    JsonNode *node = litho_json_load(path, NULL);
    JsonObject *object = node ? litho_json_node_object(node) : NULL;
    const gboolean ours = object && json_object_has_member(object, FORMAT_KEY);
    g_clear_pointer(&node, json_node_unref);
    return ours;
}

gboolean litho_provenance_check(const char *output, gboolean force, GError **error)
{
    g_autofree char *path = litho_provenance_path(output);
    const char *const paths[] = {path, NULL};
    const gboolean any = force || !g_file_test(path, G_FILE_TEST_EXISTS) || is_ours(path);
    return litho_outputs_check(paths, any ? LITHO_REPLACE_ANY : LITHO_REPLACE_NONE, error);
}

gboolean litho_provenance_save(const char *output, const LithoProvenanceOf *of, GError **error)
{
    g_autofree char *path = litho_provenance_path(output);
    g_autoptr(LithoFlow) flow = litho_flow_copy(of->flow);
    JsonObject *object = to_json(of, flow, error);
    if (!object)
        return FALSE;
    g_autofree char *text = litho_json_object_text(object), *line = g_strconcat(text, "\n", NULL);
    return litho_output_save(path, line, -1, LITHO_REPLACE_ANY, error);
}

// --- reading --------------------------------------------------------------------------------------

static gboolean read_marks(LithoJsonReader *r, const char *key, GArray *marks, GError **error)
{
    JsonArray *array = litho_json_array(r, key, 0, 100000, error);
    for (guint k = 0; array && k < json_array_get_length(array); k++) {
        JsonObject *object = litho_json_node_object(json_array_get_element(array, k));
        const char *path = object ? litho_json_string_or(object, "path", NULL) : NULL;
        const char *print = object ? litho_json_string_or(object, "fingerprint", NULL) : NULL;
        if (!path || !print)
            return litho_json_complain(r, key, "must name files with fingerprints", error);
        const LithoFileMark mark = {.path = path_from_text(path),
                                    .fingerprint = g_strdup(print),
                                    .bytes = (gint64)litho_json_number_or(object, "bytes", 0),
                                    .changed_ns = g_ascii_strtoll(
                                        litho_json_string_or(object, "changed_ns", "0"), NULL, 10)};
        g_array_append_val(marks, mark);
    }
    return array != NULL;
}

static gboolean read_text(LithoJsonReader *r, const char *key, char **text, GError **error)
{
    *text = g_strdup(litho_json_string(r, key, error));
    return *text != NULL;
}

static gboolean read_inputs(LithoProvenance *p, LithoJsonReader *r, GError **error)
{
    JsonArray *array = litho_json_array(r, "inputs", 0, 100000, error);
    if (!array)
        return FALSE;
    p->inputs = g_new0(char *, json_array_get_length(array) + 1);
    for (guint k = 0; k < json_array_get_length(array); k++) {
        const char *path = litho_json_node_string(json_array_get_element(array, k));
        if (!path)
            return litho_json_complain(r, "inputs", "must be texts", error);
        p->inputs[k] = path_from_text(path);
    }
    return TRUE;
}

static gboolean read_all(LithoProvenance *p, LithoJsonReader *r, GError **error)
{
    double format, devices, ranks, size[3];
    if (!litho_json_number(r, FORMAT_KEY, LITHO_JSON_REQUIRED, &format, error))
        return FALSE;
    if (format != FORMAT)
        return litho_refuse(error, LITHO_ERROR_FORMAT,
                            "the provenance is of form %g; this version reads form %d", format,
                            FORMAT);
    if (!read_text(r, "version", &p->version, error) ||
        !read_text(r, "finished", &p->finished, error) ||
        !read_text(r, "backend", &p->backend, error) ||
        !read_text(r, "device", &p->device, error) ||
        !litho_json_number(r, "devices", 1, &devices, error) ||
        !litho_json_number(r, "ranks", 1, &ranks, error) || !read_inputs(p, r, error) ||
        !read_marks(r, "input_files", p->input_marks, error) ||
        !read_marks(r, "parameter_files", p->step_marks, error) ||
        !litho_json_numbers(r, "output_size", 3, size, error))
        return FALSE;
    p->devices = (int)CLAMP(devices, 1, G_MAXINT16);
    p->ranks = (int)CLAMP(ranks, 1, G_MAXINT16);
    for (int a = 0; a < 3; a++)
        p->size[a] = (gint64)size[a];
    p->open = litho_open_options_from_json(litho_json_node_object(litho_json_ask(r, "reading")));
    p->open.dtype = p->open.dtype ? g_intern_string(p->open.dtype) : NULL;
    p->flow = litho_flow_from_json(litho_json_ask(r, "recipe"), error);
    return p->flow != NULL;
}

LithoProvenance *litho_provenance_load(const char *output, GError **error)
{
    g_autofree char *path = litho_provenance_path(output);
    if (!g_file_test(output, G_FILE_TEST_EXISTS)) {
        litho_refuse(error, LITHO_ERROR_PARAMETER, "there is no file %s", output);
        return NULL;
    }
    if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
        litho_refuse(error, LITHO_ERROR_PARAMETER,
                     "%s has no provenance: %s, which 'lithoscope-cli run' writes beside its "
                     "output, is not there",
                     output, path);
        return NULL;
    }
    JsonNode *node = litho_json_load(path, error);
    LithoJsonReader r;
    if (!node)
        return NULL;
    LithoProvenance *p = g_new0(LithoProvenance, 1);
    p->input_marks = new_marks();
    p->step_marks = new_marks();
    gboolean good = litho_json_open(&r, node, "", "a provenance", error) && read_all(p, &r, error);
    good = litho_json_close(&r, good, NULL, error);
    json_node_unref(node);
    if (!good) {
        g_prefix_error(error, "%s: ", path);
        g_clear_pointer(&p, litho_provenance_free);
    }
    return p;
}

void litho_provenance_free(LithoProvenance *p)
{
    if (!p)
        return;
    g_free(p->version);
    g_free(p->backend);
    g_free(p->device);
    g_free(p->finished);
    litho_flow_free(p->flow);
    g_strfreev(p->inputs);
    g_array_unref(p->input_marks);
    g_array_unref(p->step_marks);
    g_free(p);
}
