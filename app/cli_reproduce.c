// SPDX-License-Identifier: GPL-3.0-or-later
//
// Tables, figures and numbers of the papers, each by the commands that data/reproduce.json
// declares: this program runs itself in a scratch folder and reads what it wrote.
#include <glib/gstdio.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli.h"
#include "app/cli_flow.h"
#include "app/cli_open.h"
#include "app/progress.h"
#include "core/backend.h"
#include "core/error.h"
#include "core/io/output.h"
#include "core/json.h"
#include "core/show/script.h"

enum { MOST = 200, MOST_WORDS = 100 };

typedef struct Value {
    const char *what, *unit, *says, *path; // borrowed from the table
    const char *over;                      // path of what it is divided by; NULL = nothing
    const char *read;                      // the file in which both are; NULL = the figure's
    double scale, got;                     // got NAN = not there
} Value;

typedef struct Figure {
    const char *id, *paper, *item, *what, *read, *refuse, *needs; // borrowed; NULL = none
    JsonArray *commands;                                          // borrowed; of arrays of words
    JsonArray *pictures;                                          // that they draw; or NULL
    GArray *values;                                               // of Value
    char *failed; // why there are no numbers; NULL = there are, or it was not run
    gboolean ran;
} Figure;

typedef struct Reproduce {
    char *json, *csv, *markdown, *pictures, *backend;
    char **from;
    gboolean list, force;
    JsonNode *table;
    GPtrArray *figures; // of Figure
    GPtrArray *earlier; // of JsonNode: results of --from
    char *machine;
    LithoDevice device;
} Reproduce;

static void figure_free(gpointer data)
{
    Figure *f = data;
    g_array_unref(f->values);
    g_free(f->failed);
    g_free(f);
}

static void reproduce_clear(Reproduce *r)
{
    g_free(r->json);
    g_free(r->csv);
    g_free(r->markdown);
    g_free(r->pictures);
    g_free(r->backend);
    g_strfreev(r->from);
    g_clear_pointer(&r->figures, g_ptr_array_unref);
    g_clear_pointer(&r->earlier, g_ptr_array_unref);
    g_clear_pointer(&r->table, json_node_unref);
    g_free(r->machine);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Reproduce, reproduce_clear)

// --- the table of figures
// -------------------------------------------------------------------------

static const char *text_or_null(LithoJsonReader *r, const char *key)
{
    return litho_json_node_string(litho_json_ask(r, key));
}

static gboolean read_value(Figure *f, LithoJsonReader *r, GError **error)
{
    Value v = {.got = NAN};
    if (!(v.what = litho_json_string(r, "what", error)) ||
        !(v.unit = litho_json_string(r, "unit", error)) ||
        !(v.says = litho_json_string(r, "says", error)) ||
        !(v.path = litho_json_string(r, "path", error)) ||
        !litho_json_number(r, "scale", 1, &v.scale, error))
        return FALSE;
    v.over = text_or_null(r, "over");
    v.read = text_or_null(r, "read");
    g_array_append_val(f->values, v);
    return TRUE;
}

static gboolean read_members(Figure *f, LithoJsonReader *r, GError **error)
{
    if (!(f->id = litho_json_string(r, "id", error)) ||
        !(f->paper = litho_json_string(r, "paper", error)) ||
        !(f->item = litho_json_string(r, "item", error)) ||
        !(f->what = litho_json_string(r, "what", error)))
        return FALSE;
    f->refuse = text_or_null(r, "refuse");
    f->needs = text_or_null(r, "needs");
    if (f->refuse)
        return TRUE;
    JsonArray *values = litho_json_array(r, "values", 1, MOST, error);
    if (!values || !(f->commands = litho_json_array(r, "commands", 1, MOST, error)) ||
        !(f->read = litho_json_string(r, "read", error)))
        return FALSE;
    f->pictures = litho_json_node_array(litho_json_ask(r, "pictures"));
    for (guint k = 0; k < json_array_get_length(values); k++) {
        LithoJsonReader s;
        g_autofree char *where = g_strdup_printf("%s.values[%u]", r->where, k);
        gboolean good =
            litho_json_open(&s, json_array_get_element(values, k), where, NULL, error) &&
            read_value(f, &s, error);
        if (!litho_json_close(&s, good, NULL, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean read_table(Reproduce *r, GError **error)
{
    g_autofree char *path = litho_data_file("reproduce.json");
    if (!path)
        return litho_refuse(error, LITHO_ERROR_UNSUPPORTED,
                            "the table reproduce.json lies in no data folder");
    r->table = litho_json_load(path, error);
    LithoJsonReader root;
    if (!r->table || !litho_json_open(&root, r->table, "", "the table", error))
        return FALSE;
    JsonArray *list = litho_json_array(&root, "figures", 1, MOST, error);
    gboolean good = list != NULL;
    for (guint k = 0; good && k < json_array_get_length(list); k++) {
        LithoJsonReader s;
        char where[24];
        g_snprintf(where, sizeof where, "figures[%u]", k);
        Figure *f = g_new0(Figure, 1);
        f->values = g_array_new(FALSE, TRUE, sizeof(Value));
        g_ptr_array_add(r->figures, f);
        good = litho_json_open(&s, json_array_get_element(list, k), where, NULL, error) &&
               read_members(f, &s, error);
        good = litho_json_close(&s, good, NULL, error);
    }
    return litho_json_close(&root, good, NULL, error);
}

// --- running
// --------------------------------------------------------------------------------------

static JsonNode *element_called(JsonArray *array, const char *name)
{
    for (guint k = 0; k < json_array_get_length(array); k++) {
        JsonObject *one = litho_json_node_object(json_array_get_element(array, k));
        if (one && strcmp(litho_json_string_or(one, "name", ""), name) == 0)
            return json_array_get_element(array, k);
    }
    return NULL;
}

// "runs/0/stages/time FFT/median_ms" of what a command wrote: members, numbers of elements or what
// an element calls itself.
static double value_at(JsonNode *node, const char *path)
{
    g_auto(GStrv) parts = g_strsplit(path, "/", -1);
    double value;
    for (char **p = parts; *p && node; p++) {
        JsonArray *array = litho_json_node_array(node);
        JsonObject *object = litho_json_node_object(node);
        char *end;
        const guint64 k = g_ascii_strtoull(*p, &end, 10);
        node = object                             ? json_object_get_member(object, *p)
               : !array                           ? NULL
               : *end != '\0'                     ? element_called(array, *p)
               : k < json_array_get_length(array) ? json_array_get_element(array, (guint)k)
                                                  : NULL;
    }
    return litho_json_node_number(node, &value) ? value : NAN;
}

// The words of a command with the backend put in: "{backend}" and, for bench, "{backends}".
static char **argv_of(const Reproduce *r, JsonArray *words, const char *program)
{
    GStrvBuilder *builder = g_strv_builder_new();
    const gboolean card = strcmp(r->device.backend->key, "cuda") == 0;
    if (program)
        g_strv_builder_add(builder, program);
    for (guint k = 0; k < MIN(json_array_get_length(words), MOST_WORDS); k++) {
        const char *word = json_array_get_string_element(words, k);
        if (strcmp(word, "{backends}") == 0)
            word = card ? "cpu,cuda" : "cpu";
        else if (strcmp(word, "{backend}") == 0)
            word = card ? "cuda" : "cpu";
        g_strv_builder_add(builder, word);
    }
    char **argv = g_strv_builder_end(builder);
    g_strv_builder_unref(builder);
    return argv;
}

// What the command prints becomes stdout.json and, for figures that read several, `prints`.
static gboolean run_command(const Reproduce *r, JsonArray *words, const char *folder,
                            const char *prints, LithoRun *run, GError **error)
{
    g_autofree char *program = g_file_read_link("/proc/self/exe", error);
    g_autoptr(GSubprocessLauncher) launcher =
        g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
    g_autofree char *said = NULL, *printed = NULL;
    if (!program)
        return FALSE;
    g_auto(GStrv) argv = argv_of(r, words, program);
    g_subprocess_launcher_set_cwd(launcher, folder);
    // A sentence of its becomes part of the results.
    g_subprocess_launcher_setenv(launcher, "LANGUAGE", "en", TRUE);
    g_autoptr(GSubprocess) child =
        g_subprocess_launcher_spawnv(launcher, (const char *const *)argv, error);
    if (!child)
        return FALSE;
    if (!g_subprocess_communicate_utf8(child, NULL, run->cancel, &printed, &said, error)) {
        g_subprocess_force_exit(child);
        g_subprocess_wait(child, NULL, NULL); // nothing of it is written after the folder is gone
        if (error && litho_error_is_cancelled(*error)) {
            g_clear_error(error);
            litho_run_step(run, 0, 1, error); // our word for it
        }
        return FALSE;
    }
    if (g_subprocess_get_if_exited(child) && g_subprocess_get_exit_status(child) == 0) {
        g_autofree char *path = g_build_filename(folder, "stdout.json", NULL);
        g_autofree char *own = g_build_filename(folder, prints, NULL);
        return litho_output_save(path, printed ? printed : "", -1, LITHO_REPLACE_ANY, error) &&
               litho_output_save(own, printed ? printed : "", -1, LITHO_REPLACE_ANY, error);
    }
    return litho_refuse(error, LITHO_ERROR_UNSUPPORTED, "%s failed: %s", argv[1],
                        said ? g_strstrip(said) : "");
}

static void remove_folder(const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_unlink(path);
    }
    g_rmdir(folder);
}

static gboolean read_result(Value *v, const char *folder, const char *name, GError **error)
{
    g_autofree char *path = g_build_filename(folder, v->read ? v->read : name, NULL);
    g_autoptr(JsonNode) root = litho_json_load(path, error);
    if (root)
        v->got = value_at(root, v->path) * v->scale / (v->over ? value_at(root, v->over) : 1);
    return root != NULL;
}

// docs/reproduce/FIGURE-NAME.png, where pictures are asked for.
static gboolean keep_pictures(const Reproduce *r, const Figure *f, const char *folder,
                              GError **error)
{
    for (guint k = 0; r->pictures && f->pictures && k < json_array_get_length(f->pictures); k++) {
        const char *name = json_array_get_string_element(f->pictures, k);
        g_autofree char *from = g_build_filename(folder, name, NULL), *text = NULL;
        g_autofree char *called = g_strdup_printf("%s-%s", f->id, name);
        g_autofree char *to = g_build_filename(r->pictures, called, NULL);
        gsize bytes;
        if (!g_file_get_contents(from, &text, &bytes, error) ||
            !litho_output_save(to, text, (gssize)bytes, LITHO_REPLACE_ANY, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean run_in(const Reproduce *r, Figure *f, const char *folder, LithoRun *run,
                       GError **error)
{
    for (guint k = 0; k < json_array_get_length(f->commands); k++) {
        g_autofree char *prints = g_strdup_printf("stdout-%u.json", k + 1);
        if (!run_command(r, json_array_get_array_element(f->commands, k), folder, prints, run,
                         error))
            return FALSE;
    }
    for (guint k = 0; k < f->values->len; k++)
        if (!read_result(&g_array_index(f->values, Value, k), folder, f->read, error))
            return FALSE;
    return keep_pictures(r, f, folder, error);
}

// Results keep it in English.
static const char needs[] = N_("needs the backend %s: hours on a CPU");
static const char on_cpu[] = N_("of the processors: --backend cpu measures it");

static gboolean needs_cpu(const Figure *f)
{
    return strcmp(f->needs, "cpu") == 0;
}

// FALSE only when it was cancelled: what fails is told in the table.
static gboolean run_figure(const Reproduce *r, Figure *f, LithoRun *run, GError **error)
{
    g_autoptr(GError) why = NULL;
    if (f->refuse)
        return TRUE;
    if (f->needs && strcmp(f->needs, r->device.backend->key) != 0) {
        f->failed = needs_cpu(f) ? g_strdup(on_cpu) : g_strdup_printf(needs, f->needs);
        return TRUE;
    }
    g_autofree char *folder = g_dir_make_tmp("lithoscope-reproduce-XXXXXX", error);
    if (!folder)
        return FALSE;
    f->ran = TRUE;
    const gboolean good = run_in(r, f, folder, run, &why);
    remove_folder(folder);
    if (good)
        return TRUE;
    if (litho_error_is_cancelled(why)) {
        g_propagate_error(error, g_steal_pointer(&why));
        return FALSE;
    }
    f->failed = g_strdup(why->message);
    return TRUE;
}

// --- telling
// --------------------------------------------------------------------------------------

static char *command_text(const Reproduce *r, JsonArray *words)
{
    g_auto(GStrv) argv = argv_of(r, words, "lithoscope-cli");
    for (char **word = argv; *word; word++)
        if (strchr(*word, ' ')) {
            char *bare = *word;
            *word = g_shell_quote(bare);
            g_free(bare);
        }
    return g_strjoinv(" ", argv);
}

// For want of the backend that it needs.
static gboolean is_left_out(const Figure *f)
{
    return f->failed && !f->ran && f->needs;
}

static char *got_text(const Figure *f, const Value *v)
{
    return f->refuse        ? g_strdup(litho_text(f->refuse))
           : is_left_out(f) ? needs_cpu(f) ? g_strdup(litho_text(on_cpu))
                                           : litho_text_printf(litho_text(needs), f->needs)
           : f->failed ? g_strdup(f->failed)
           : isnan(v->got)  ? g_strdup("–")
           : *v->unit       ? g_strdup_printf("%.4g %s", v->got, v->unit)
                            : g_strdup_printf("%.4g", v->got);
}

// `text` in `columns` characters, which printf would count in bytes.
static void print_padded(const char *text, glong columns)
{
    printf("%s%*s", text, (int)MAX(columns - g_utf8_strlen(text, -1), 0), "");
}

// Headings and values in the person's language; results that are written keep the table's.
static void print_heading(const Figure *f)
{
    printf("%s, %s: %s", litho_text(f->paper), litho_text(f->item), litho_text(f->what));
}

static void print_figure(const Reproduce *r, const Figure *f)
{
    printf("%s: ", f->id);
    print_heading(f);
    printf("\n");
    if (f->refuse)
        printf(_("    refused: %s\n"), litho_text(f->refuse));
    for (guint k = 0; f->commands && k < json_array_get_length(f->commands); k++) {
        g_autofree char *text = command_text(r, json_array_get_array_element(f->commands, k));
        printf("    %s\n", text);
    }
    for (guint k = 0; k < f->values->len; k++) {
        const Value *v = &g_array_index(f->values, Value, k);
        g_autofree char *got = got_text(f, v);
        printf("    ");
        print_padded(litho_text(v->what), 44);
        printf(" %s ", _("paper:"));
        print_padded(litho_text(v->says), 28);
        printf(" %s %s\n", _("here:"), got);
    }
    fflush(stdout);
}

static JsonObject *figure_to_json(const Reproduce *r, const Figure *f)
{
    JsonObject *object = json_object_new();
    JsonArray *values = json_array_new();
    json_object_set_string_member(object, "id", f->id);
    json_object_set_string_member(object, "machine", r->machine);
    if (f->refuse || f->failed)
        json_object_set_string_member(object, "why", f->refuse ? f->refuse : f->failed);
    for (guint k = 0; k < f->values->len; k++) {
        const Value *v = &g_array_index(f->values, Value, k);
        JsonObject *one = json_object_new();
        json_object_set_string_member(one, "what", v->what);
        json_object_set_string_member(one, "unit", v->unit);
        json_object_set_string_member(one, "says", v->says);
        if (!isnan(v->got))
            json_object_set_double_member(one, "got", v->got);
        json_array_add_object_element(values, one);
    }
    json_object_set_array_member(object, "values", values);
    return object;
}

static char *results_text(const Reproduce *r)
{
    JsonObject *root = json_object_new();
    JsonArray *list = json_array_new();
    json_object_set_int_member(root, "lithoscope-reproduced", 1);
    json_object_set_string_member(root, "machine", r->machine);
    for (guint k = 0; k < r->figures->len; k++) {
        const Figure *f = g_ptr_array_index(r->figures, k);
        if (f->ran || f->refuse || f->failed)
            json_array_add_object_element(list, figure_to_json(r, f));
    }
    json_object_set_array_member(root, "figures", list);
    return litho_json_object_text(root);
}

static void csv_field(GString *out, const char *text, const char *end)
{
    g_autoptr(GString) quoted = g_string_new(text);
    g_string_replace(quoted, "\"", "\"\"", 0);
    g_string_append_printf(out, "\"%s\"%s", quoted->str, end);
}

static char *csv_text(const Reproduce *r)
{
    GString *out = g_string_new("figure,paper,item,what,unit,paper says,we get,machine\n");
    for (guint k = 0; k < r->figures->len; k++) {
        const Figure *f = g_ptr_array_index(r->figures, k);
        for (guint i = 0; i < f->values->len && f->ran && !f->failed; i++) {
            const Value *v = &g_array_index(f->values, Value, i);
            char got[G_ASCII_DTOSTR_BUF_SIZE] = "";
            if (!isnan(v->got))
                g_ascii_formatd(got, sizeof got, "%.6g", v->got);
            const char *const fields[] = {f->id, f->paper, f->item, v->what, v->unit, v->says, got};
            for (guint n = 0; n < G_N_ELEMENTS(fields); n++)
                csv_field(out, fields[n], ",");
            csv_field(out, r->machine, "\n");
        }
    }
    return g_string_free(out, FALSE);
}

// The member "got" of a value in earlier results; NAN = not there.
static double earlier_value(JsonNode *results, const Figure *f, const char *what)
{
    JsonObject *root = litho_json_node_object(results);
    JsonArray *list = root ? litho_json_array_or_null(root, "figures") : NULL;
    for (guint k = 0; list && k < json_array_get_length(list); k++) {
        JsonObject *one = litho_json_node_object(json_array_get_element(list, k));
        JsonArray *values = one && strcmp(litho_json_string_or(one, "id", ""), f->id) == 0
                                ? litho_json_array_or_null(one, "values")
                                : NULL;
        for (guint i = 0; values && i < json_array_get_length(values); i++) {
            JsonObject *v = litho_json_node_object(json_array_get_element(values, i));
            if (v && strcmp(litho_json_string_or(v, "what", ""), what) == 0)
                return litho_json_number_or(v, "got", NAN);
        }
    }
    return NAN;
}

static void markdown_values(const Reproduce *r, const Figure *f, GString *out)
{
    g_string_append(out, "\n| number | the paper says |");
    for (guint k = 0; k < r->earlier->len; k++) {
        JsonObject *root = litho_json_node_object(g_ptr_array_index(r->earlier, k));
        g_string_append_printf(out, " %s |", litho_json_string_or(root, "machine", "?"));
    }
    g_string_append(out, "\n|---|---|");
    for (guint k = 0; k < r->earlier->len; k++)
        g_string_append(out, "---|");
    for (guint k = 0; k < f->values->len; k++) {
        const Value *v = &g_array_index(f->values, Value, k);
        g_string_append_printf(out, "\n| %s%s%s | %s |", v->what, *v->unit ? ", " : "", v->unit,
                               v->says);
        for (guint e = 0; e < r->earlier->len; e++) {
            const double got = earlier_value(g_ptr_array_index(r->earlier, e), f, v->what);
            if (isnan(got))
                g_string_append(out, " – |");
            else
                g_string_append_printf(out, " %.4g |", got);
        }
    }
    g_string_append(out, "\n");
}

// Pictures lie where --pictures docs/reproduce puts them, beside the page docs/reproduce.md.
static void markdown_pictures(const Figure *f, GString *out)
{
    for (guint k = 0; f->pictures && k < json_array_get_length(f->pictures); k++) {
        const char *name = json_array_get_string_element(f->pictures, k);
        g_string_append_printf(out, "\n![%s: %.*s](reproduce/%s-%s)", f->item,
                               (int)strcspn(name, "."), name, f->id, name);
    }
    if (f->pictures)
        g_string_append_c(out, '\n');
}

// A paragraph of `text` after an empty line, in lines of 100 columns.
static void paragraph(GString *out, const char *text)
{
    enum { COLUMNS = 100 };
    g_auto(GStrv) words = g_strsplit_set(text, " \n", -1);
    glong column = COLUMNS;
    for (guint k = 0; words[k]; k++) {
        const glong length = g_utf8_strlen(words[k], -1);
        const gboolean fits = column + 1 + length <= COLUMNS;
        g_string_append_printf(out, "%s%s", fits ? " " : "\n", words[k]);
        column = (fits ? column + 1 : 0) + length;
    }
    g_string_append_c(out, '\n');
}

// A command in lines of 100 columns, as a shell reads it.
static void append_command(GString *out, const char *text)
{
    enum { COLUMNS = 98 }; // and what goes on
    while (strlen(text) > COLUMNS) {
        const char *space = text + COLUMNS;
        while (space > text && *space != ' ')
            space--;
        if (space == text)
            break;
        g_string_append_len(out, text, space - text);
        g_string_append(out, " \\\n ");
        text = space;
    }
    g_string_append_printf(out, "%s\n", text);
}

static char *markdown_text(const Reproduce *r)
{
    GString *out = g_string_new("# The papers, reproduced\n");
    paragraph(out,
              "Made by `lithoscope-cli reproduce --markdown`. The figures and their commands are "
              "declared in `data/reproduce.json`. A dash: not run on that machine. The papers "
              "took their times on their own machines: the problem is compared, not the time.");
    for (guint k = 0; k < r->figures->len; k++) {
        const Figure *f = g_ptr_array_index(r->figures, k);
        g_autofree char *title = g_strdup_printf("%s, %s: %s.", f->paper, f->item, f->what);
        g_string_append_printf(out, "\n## %s\n", f->id);
        paragraph(out, title);
        if (f->refuse) {
            g_autofree char *refused = g_strdup_printf("Refused: %s.", f->refuse);
            paragraph(out, refused);
            continue;
        }
        g_string_append(out,
                        "\n<!-- not run: takes minutes; `lithoscope-cli reproduce` runs it -->\n");
        g_string_append(out, "```sh\n");
        for (guint i = 0; i < json_array_get_length(f->commands); i++) {
            g_autofree char *text = command_text(r, json_array_get_array_element(f->commands, i));
            append_command(out, text);
        }
        g_string_append(out, "```\n");
        markdown_values(r, f, out);
        markdown_pictures(f, out);
    }
    return g_string_free(out, FALSE);
}

static gboolean save(const char *path, char *text, gboolean force, GError **error)
{
    const gboolean good =
        !path ||
        litho_output_save(path, text, -1, force ? LITHO_REPLACE_ANY : LITHO_REPLACE_OWN, error);
    g_free(text);
    return good;
}

// --- the command ---------------------------------------------------------------------------------

static Figure *find_figure(const Reproduce *r, const char *id)
{
    for (guint k = 0; k < r->figures->len; k++)
        if (strcmp(((Figure *)g_ptr_array_index(r->figures, k))->id, id) == 0)
            return g_ptr_array_index(r->figures, k);
    return NULL;
}

static gboolean check(Reproduce *r, char **words, GError **error)
{
    r->figures = g_ptr_array_new_with_free_func(figure_free);
    r->earlier = g_ptr_array_new_with_free_func((GDestroyNotify)json_node_unref);
    if (!litho_cli_device(r->backend, NULL, &r->device, error) ||
        !read_table(r, error))
        return FALSE;
    r->machine = litho_device_label(r->device, 0);
    for (char **word = words; *word; word++)
        if (!find_figure(r, *word))
            return litho_refuse(error, LITHO_ERROR_PARAMETER,
                                "there is no figure '%s'; 'lithoscope-cli reproduce --list' tells "
                                "them",
                                *word);
    const char *const writes[] = {r->json  ? r->json
                                  : r->csv ? r->csv
                                           : r->markdown,
                                  r->json && r->csv ? r->csv : NULL, NULL};
    return !writes[0] ||
           litho_outputs_check(writes, r->force ? LITHO_REPLACE_ANY : LITHO_REPLACE_NONE, error);
}

static gboolean read_earlier(Reproduce *r, GError **error)
{
    for (char **path = r->from; path && *path; path++) {
        JsonNode *node = litho_json_load(*path, error);
        if (!node)
            return FALSE;
        g_ptr_array_add(r->earlier, node);
        JsonObject *root = litho_json_node_object(node);
        if (!root || litho_json_number_or(root, "lithoscope-reproduced", 0) != 1)
            return litho_refuse(error, LITHO_ERROR_FORMAT,
                                "%s: results of 'lithoscope-cli reproduce --json' are needed",
                                *path);
    }
    return TRUE;
}

static gboolean reproduce(Reproduce *r, char **words, LithoRun *run, GError **error)
{
    if (!read_earlier(r, error))
        return FALSE;
    const gboolean only_page = r->from && r->markdown && !words[0];
    for (guint k = 0; k < r->figures->len && !only_page; k++) {
        Figure *f = g_ptr_array_index(r->figures, k);
        if (words[0] && !g_strv_contains((const char *const *)words, f->id))
            continue;
        if (!run_figure(r, f, run, error))
            return FALSE;
        print_figure(r, f);
        // Figures take minutes to hours: these numbers survive a cancel in the next one.
        if (!save(r->json, results_text(r), r->force, error))
            return FALSE;
    }
    char *results = results_text(r);
    if (!only_page)
        g_ptr_array_add(r->earlier, litho_json_parse(results, -1, NULL)); // our own text
    return save(r->json, results, r->force, error) && save(r->csv, csv_text(r), r->force, error) &&
           save(r->markdown, markdown_text(r), r->force, error);
}

int litho_cli_reproduce(int argc, char **argv)
{
    g_auto(Reproduce) r = {0};
    const GOptionEntry entries[] = {
        {"list", 0, 0, G_OPTION_ARG_NONE, &r.list, "Figures there are; runs nothing", NULL},
        {"backend", 0, 0, G_OPTION_ARG_STRING, &r.backend, "auto, cpu, cuda", "DEVICE"},
        {"json", 0, 0, G_OPTION_ARG_FILENAME, &r.json, "Write the numbers", "FILE"},
        {"csv", 0, 0, G_OPTION_ARG_FILENAME, &r.csv, "Write the numbers", "FILE"},
        {"markdown", 0, 0, G_OPTION_ARG_FILENAME, &r.markdown, "Write the page", "FILE"},
        {"pictures", 0, 0, G_OPTION_ARG_FILENAME, &r.pictures, "Keep the pictures in this folder",
         "FOLDER"},
        {"from", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &r.from,
         "Results of another machine for the page (may be repeated)", "FILE.json"},
        {"force", 0, 0, G_OPTION_ARG_NONE, &r.force, "Replace existing files", NULL},
        {NULL},
    };
    g_autoptr(GOptionContext) context =
        litho_cli_options("[FIGURE ...]",
                          "Tables, figures and numbers of the papers: what they say, the commands, "
                          "and what this machine gets.",
                          entries, NULL);
    g_option_context_set_description(
        context, "Without a name all figures are run. With --from and --markdown and without a "
                 "name nothing is run: the page is made of earlier results.");
    GError *error = NULL;
    if (!g_option_context_parse(context, &argc, &argv, &error) || !check(&r, argv + 1, &error))
        return litho_cli_misused("reproduce", error);
    if (r.list) {
        for (guint k = 0; k < r.figures->len; k++) {
            const Figure *f = g_ptr_array_index(r.figures, k);
            printf("%-24s ", f->id);
            print_heading(f);
            if (f->refuse)
                printf(_("; refused: %s"), litho_text(f->refuse));
            printf("\n");
        }
        return LITHO_EXIT_OK;
    }
    LithoRun run = {0};
    LithoCliProgress progress;
    litho_cli_progress_init(&progress, "none", &run, NULL);
    gboolean good = reproduce(&r, argv + 1, &run, &error);
    litho_cli_progress_end(&progress);
    return good ? LITHO_EXIT_OK : litho_cli_fail(error);
}
