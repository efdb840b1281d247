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
#include "app/reproduce_page.h"
#include "core/backend.h"
#include "core/error.h"
#include "core/io/output.h"
#include "core/json.h"
#include "core/show/script.h"

enum { MOST = 200 }; // figures, commands of one, values of one

typedef struct Reproduce {
    LithoFigures figures;
    char *json, *csv, *markdown, *pictures, *backend;
    char **from;
    gboolean list, force;
    JsonNode *table;
} Reproduce;

static void figure_free(gpointer data)
{
    LithoFigure *f = data;
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
    g_clear_pointer(&r->figures.list, g_ptr_array_unref);
    g_clear_pointer(&r->figures.earlier, g_ptr_array_unref);
    g_clear_pointer(&r->table, json_node_unref);
    g_free(r->figures.machine);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Reproduce, reproduce_clear)

// --- the table of figures -----------------------------------------------------------------------

static const char *text_or_null(LithoJsonReader *r, const char *key)
{
    return litho_json_node_string(litho_json_ask(r, key));
}

static gboolean read_value(LithoFigure *f, LithoJsonReader *r, GError **error)
{
    LithoFigureValue v = {.got = NAN};
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

static gboolean read_members(LithoFigure *f, LithoJsonReader *r, GError **error)
{
    if (!(f->id = litho_json_string(r, "id", error)) ||
        !(f->paper = litho_json_string(r, "paper", error)) ||
        !(f->item = litho_json_string(r, "item", error)) ||
        !(f->what = litho_json_string(r, "what", error)))
        return FALSE;
    f->refuse = text_or_null(r, "refuse");
    f->needs = text_or_null(r, "needs");
    if (!litho_json_boolean(r, "long_on_cpu", FALSE, &f->long_on_cpu, error))
        return FALSE;
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
        LithoFigure *f = g_new0(LithoFigure, 1);
        f->values = g_array_new(FALSE, TRUE, sizeof(LithoFigureValue));
        g_ptr_array_add(r->figures.list, f);
        good = litho_json_open(&s, json_array_get_element(list, k), where, NULL, error) &&
               read_members(f, &s, error);
        good = litho_json_close(&s, good, NULL, error);
    }
    return litho_json_close(&root, good, NULL, error);
}

// --- running ------------------------------------------------------------------------------------

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

// The command's output becomes stdout.json and, for figures that read several, `prints`.
static gboolean run_command(const Reproduce *r, JsonArray *words, const char *folder,
                            const char *prints, LithoRun *run, GError **error)
{
    g_autofree char *program = g_file_read_link("/proc/self/exe", error);
    g_autoptr(GSubprocessLauncher) launcher =
        g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
    g_autofree char *said = NULL, *printed = NULL;
    if (!program)
        return FALSE;
    g_auto(GStrv) argv = litho_figures_argv(&r->figures, words, program);
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

static gboolean read_result(LithoFigureValue *v, const char *folder, const char *name,
                            GError **error)
{
    g_autofree char *path = g_build_filename(folder, v->read ? v->read : name, NULL);
    g_autoptr(JsonNode) root = litho_json_load(path, error);
    if (root)
        v->got = value_at(root, v->path) * v->scale / (v->over ? value_at(root, v->over) : 1);
    return root != NULL;
}

// docs/reproduce/FIGURE-NAME.png, where pictures are asked for.
static gboolean keep_pictures(const Reproduce *r, const LithoFigure *f, const char *folder,
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

static gboolean run_in(const Reproduce *r, LithoFigure *f, const char *folder, LithoRun *run,
                       GError **error)
{
    for (guint k = 0; k < json_array_get_length(f->commands); k++) {
        g_autofree char *prints = g_strdup_printf("stdout-%u.json", k + 1);
        if (!run_command(r, json_array_get_array_element(f->commands, k), folder, prints, run,
                         error))
            return FALSE;
    }
    for (guint k = 0; k < f->values->len; k++)
        if (!read_result(&g_array_index(f->values, LithoFigureValue, k), folder, f->read, error))
            return FALSE;
    return keep_pictures(r, f, folder, error);
}

// Results keep it in English.
static const char on_gpu[] = N_("of a GPU: --backend cuda measures it");
static const char by_name[] = N_("many minutes on a CPU: by its name it runs there, too");
static const char on_cpu[] = N_("of the processors: --backend cpu measures it");

// Why a figure is left out on this device; NULL = it is not. `named`: the person asked for this
// figure, who may wait for it.
static const char *why_not(const Reproduce *r, const LithoFigure *f, gboolean named)
{
    const char *device = r->figures.device.backend->key;
    if (f->needs && strcmp(f->needs, device) != 0)
        return strcmp(f->needs, "cpu") == 0 ? on_cpu : on_gpu;
    return f->long_on_cpu && !named && strcmp(device, "cpu") == 0 ? by_name : NULL;
}

// FALSE only when it was cancelled: what fails is told in the table.
static gboolean run_figure(const Reproduce *r, LithoFigure *f, gboolean named, LithoRun *run,
                           GError **error)
{
    g_autoptr(GError) why = NULL;
    if (f->refuse)
        return TRUE;
    f->left_out = why_not(r, f, named);
    if (f->left_out) {
        f->failed = g_strdup(f->left_out);
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

// --- telling ------------------------------------------------------------------------------------

static char *got_text(const LithoFigure *f, const LithoFigureValue *v)
{
    return f->refuse       ? g_strdup(litho_text(f->refuse))
           : f->left_out   ? g_strdup(litho_text(f->left_out))
           : f->failed     ? g_strdup(f->failed)
           : isnan(v->got) ? g_strdup("–")
           : *v->unit      ? g_strdup_printf("%.4g %s", v->got, v->unit)
                           : g_strdup_printf("%.4g", v->got);
}

// `text` in `columns` characters, which printf would count in bytes.
static void print_padded(const char *text, glong columns)
{
    printf("%s%*s", text, (int)MAX(columns - g_utf8_strlen(text, -1), 0), "");
}

// Headings and values in the person's language; results that are written keep the table's.
static void print_heading(const LithoFigure *f)
{
    printf("%s, %s: %s", litho_text(f->paper), litho_text(f->item), litho_text(f->what));
}

static void print_figure(const Reproduce *r, const LithoFigure *f)
{
    printf("%s: ", f->id);
    print_heading(f);
    printf("\n");
    if (f->refuse)
        printf(_("    refused: %s\n"), litho_text(f->refuse));
    for (guint k = 0; f->commands && k < json_array_get_length(f->commands); k++) {
        g_autofree char *text =
            litho_figures_command(&r->figures, json_array_get_array_element(f->commands, k));
        printf("    %s\n", text);
    }
    for (guint k = 0; k < f->values->len; k++) {
        const LithoFigureValue *v = &g_array_index(f->values, LithoFigureValue, k);
        g_autofree char *got = got_text(f, v);
        printf("    ");
        print_padded(litho_text(v->what), 44);
        printf(" %s ", _("paper:"));
        print_padded(litho_text(v->says), 28);
        printf(" %s %s\n", _("here:"), got);
    }
    fflush(stdout);
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

static LithoFigure *find_figure(const Reproduce *r, const char *id)
{
    for (guint k = 0; k < r->figures.list->len; k++)
        if (strcmp(((LithoFigure *)g_ptr_array_index(r->figures.list, k))->id, id) == 0)
            return g_ptr_array_index(r->figures.list, k);
    return NULL;
}

static gboolean check(Reproduce *r, char **words, GError **error)
{
    r->figures.list = g_ptr_array_new_with_free_func(figure_free);
    r->figures.earlier = g_ptr_array_new_with_free_func((GDestroyNotify)json_node_unref);
    if (!litho_cli_device(r->backend, NULL, &r->figures.device, error) || !read_table(r, error))
        return FALSE;
    r->figures.machine = litho_device_label(r->figures.device, 0);
    for (char **word = words; *word; word++)
        if (!find_figure(r, *word))
            return litho_refuse(error, LITHO_ERROR_PARAMETER,
                                "there is no figure '%s'; 'lithoscope-cli reproduce --list' tells "
                                "them",
                                *word);
    if (r->pictures && !g_file_test(r->pictures, G_FILE_TEST_IS_DIR))
        return litho_refuse(error, LITHO_ERROR_PARAMETER, "--pictures %s is no folder",
                            r->pictures);
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
        g_ptr_array_add(r->figures.earlier, node);
        JsonObject *root = litho_json_node_object(node);
        if (!root || litho_json_number_or(root, "lithoscope-reproduced", 0) != 1)
            return litho_refuse(error, LITHO_ERROR_FORMAT,
                                "%s: results of 'lithoscope-cli reproduce --json' are needed",
                                *path);
    }
    return TRUE;
}

// FALSE when a figure that was run has no numbers; the table tells why.
static gboolean all_good(const Reproduce *r, GError **error)
{
    g_autoptr(GString) failed = g_string_new(NULL);
    for (guint k = 0; k < r->figures.list->len; k++) {
        const LithoFigure *f = g_ptr_array_index(r->figures.list, k);
        if (f->ran && f->failed)
            g_string_append_printf(failed, "%s%s", failed->len ? ", " : "", f->id);
    }
    return failed->len == 0 ||
           litho_refuse(error, LITHO_ERROR_UNSUPPORTED, "not reproduced: %s", failed->str);
}

static gboolean reproduce(Reproduce *r, char **words, LithoRun *run, GError **error)
{
    if (!read_earlier(r, error))
        return FALSE;
    const gboolean only_page = r->from && r->markdown && !words[0];
    for (guint k = 0; k < r->figures.list->len && !only_page; k++) {
        LithoFigure *f = g_ptr_array_index(r->figures.list, k);
        if (words[0] && !g_strv_contains((const char *const *)words, f->id))
            continue;
        if (!run_figure(r, f, words[0] != NULL, run, error))
            return FALSE;
        print_figure(r, f);
        // Figures take minutes to hours: these numbers survive a cancel in the next one.
        if (!save(r->json, litho_figures_json(&r->figures), r->force, error))
            return FALSE;
    }
    char *results = litho_figures_json(&r->figures);
    if (!only_page)
        g_ptr_array_add(r->figures.earlier, litho_json_parse(results, -1, NULL)); // our own text
    return save(r->json, results, r->force, error) &&
           save(r->csv, litho_figures_csv(&r->figures), r->force, error) &&
           save(r->markdown, litho_figures_markdown(&r->figures), r->force, error) &&
           all_good(r, error);
}

int litho_cli_reproduce(int argc, char **argv)
{
    g_auto(Reproduce) r = {0};
    const GOptionEntry entries[] = {
        {"list", 0, 0, G_OPTION_ARG_NONE, &r.list, _("Figures there are; runs nothing"), NULL},
        {"backend", 0, 0, G_OPTION_ARG_STRING, &r.backend, _("auto, cpu, cuda"), "DEVICE"},
        {"json", 0, 0, G_OPTION_ARG_FILENAME, &r.json, _("Write the numbers"), "FILE"},
        {"csv", 0, 0, G_OPTION_ARG_FILENAME, &r.csv, _("Write the numbers"), "FILE"},
        {"markdown", 0, 0, G_OPTION_ARG_FILENAME, &r.markdown, _("Write the page"), "FILE"},
        {"pictures", 0, 0, G_OPTION_ARG_FILENAME, &r.pictures,
         _("Keep the pictures in this folder"), "FOLDER"},
        {"from", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &r.from,
         _("Results of another machine for the page (may be repeated)"), "FILE.json"},
        {"force", 0, 0, G_OPTION_ARG_NONE, &r.force, _("Replace existing files"), NULL},
        {NULL},
    };
    g_autoptr(GOptionContext) context =
        litho_cli_options(_("[FIGURE ...]"),
                          _("Tables, figures and numbers of the papers: what they say, the "
                            "commands, and what this machine gets."),
                          entries, NULL);
    g_option_context_set_description(
        context, _("Without a name all figures are run. With --from and --markdown and without a "
                   "name nothing is run: the page is made of earlier results."));
    GError *error = NULL;
    if (!g_option_context_parse(context, &argc, &argv, &error) || !check(&r, argv + 1, &error))
        return litho_cli_misused("reproduce", error);
    if (r.list) {
        for (guint k = 0; k < r.figures.list->len; k++) {
            const LithoFigure *f = g_ptr_array_index(r.figures.list, k);
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
