// SPDX-License-Identifier: GPL-3.0-or-later
//
// The papers' figures told: as JSON, as CSV, and as the page docs/reproduce.md.
#include "app/reproduce_page.h"

#include <math.h>
#include <string.h>

#include "core/json.h"

char **litho_figures_argv(const LithoFigures *r, JsonArray *words, const char *program)
{
    GStrvBuilder *builder = g_strv_builder_new();
    const gboolean card = strcmp(r->device.backend->key, "cuda") == 0;
    if (program)
        g_strv_builder_add(builder, program);
    for (guint k = 0; k < MIN(json_array_get_length(words), LITHO_FIGURE_WORDS); k++) {
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

char *litho_figures_command(const LithoFigures *r, JsonArray *words)
{
    g_auto(GStrv) argv = litho_figures_argv(r, words, "lithoscope-cli");
    for (char **word = argv; *word; word++)
        if (strchr(*word, ' ')) {
            char *bare = *word;
            *word = g_shell_quote(bare);
            g_free(bare);
        }
    return g_strjoinv(" ", argv);
}

static JsonObject *figure_to_json(const LithoFigures *r, const LithoFigure *f)
{
    JsonObject *object = json_object_new();
    JsonArray *values = json_array_new();
    json_object_set_string_member(object, "id", f->id);
    json_object_set_string_member(object, "machine", r->machine);
    if (f->refuse || f->failed)
        json_object_set_string_member(object, "why", f->refuse ? f->refuse : f->failed);
    for (guint k = 0; k < f->values->len; k++) {
        const LithoFigureValue *v = &g_array_index(f->values, LithoFigureValue, k);
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

char *litho_figures_json(const LithoFigures *r)
{
    JsonObject *root = json_object_new();
    JsonArray *list = json_array_new();
    json_object_set_int_member(root, "lithoscope-reproduced", 1);
    json_object_set_string_member(root, "machine", r->machine);
    for (guint k = 0; k < r->list->len; k++) {
        const LithoFigure *f = g_ptr_array_index(r->list, k);
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

char *litho_figures_csv(const LithoFigures *r)
{
    GString *out = g_string_new("figure,paper,item,what,unit,paper says,we get,machine\n");
    for (guint k = 0; k < r->list->len; k++) {
        const LithoFigure *f = g_ptr_array_index(r->list, k);
        for (guint i = 0; i < f->values->len && f->ran && !f->failed; i++) {
            const LithoFigureValue *v = &g_array_index(f->values, LithoFigureValue, i);
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
static double earlier_value(JsonNode *results, const LithoFigure *f, const char *what)
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

static void markdown_values(const LithoFigures *r, const LithoFigure *f, GString *out)
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
        const LithoFigureValue *v = &g_array_index(f->values, LithoFigureValue, k);
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
static void markdown_pictures(const LithoFigure *f, GString *out)
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

char *litho_figures_markdown(const LithoFigures *r)
{
    GString *out = g_string_new("# The papers, reproduced\n");
    paragraph(out,
              "Made by `lithoscope-cli reproduce --markdown`. The figures and their commands are "
              "declared in `data/reproduce.json`. A dash: not run on that machine. The papers "
              "took their times on their own machines: the problem is compared, not the time.");
    for (guint k = 0; k < r->list->len; k++) {
        const LithoFigure *f = g_ptr_array_index(r->list, k);
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
            g_autofree char *text =
                litho_figures_command(r, json_array_get_array_element(f->commands, i));
            append_command(out, text);
        }
        g_string_append(out, "```\n");
        markdown_values(r, f, out);
        markdown_pictures(f, out);
    }
    return g_string_free(out, FALSE);
}
