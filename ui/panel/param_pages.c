// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/param_pages.h"

#include "core/json.h"
#include "core/text.h"
#include "ui/panel/param_format.h"
#include "ui/panel/parts.h"

#define RESOURCES "/org/lithoscope/Lithoscope/"

enum { TEXT_CHARS = 80 };

// docs/parameters.json: notes on parameters of the program's own operators. NULL = it is not there.
static JsonNode *load_notes(const char *name)
{
    g_autofree char *path = g_strconcat(RESOURCES, name, NULL);
    g_autoptr(GBytes) bytes = g_resources_lookup_data(path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
    return bytes ? litho_json_parse(g_bytes_get_data(bytes, NULL),
                                    (gssize)g_bytes_get_size(bytes), NULL)
                 : NULL;
}

static void add_text(GtkWidget *page, const char *text, const char *css)
{
    GtkWidget *label = litho_text_new(TEXT_CHARS);
    gtk_label_set_text(GTK_LABEL(label), text);
    litho_label_set_copyable(label);
    if (css)
        gtk_widget_add_css_class(label, css);
    gtk_box_append(GTK_BOX(page), label);
}

// "Typical 7 to 50 traces, default 20 traces."
static void add_values(GtkWidget *page, const LithoParam *row)
{
    double lo, hi;
    char def[48];
    if (row->type != LITHO_PARAM_FLOAT && row->type != LITHO_PARAM_INT)
        return;
    litho_param_slider_range(row, &lo, &hi);
    g_autofree char *typical = litho_param_format_range(row, lo, hi, FALSE);
    litho_param_format_unit(row, row->def, FALSE, def, sizeof def);
    g_autofree char *text = g_strdup_printf(_("Typical %s, default %s."), typical, def);
    add_text(page, text, NULL);
}

// Results side by side, where docs/parameters.json tells of them.
static void add_picture(GtkWidget *page, const LithoOperator *op, const LithoParam *row,
                        JsonObject *note)
{
    JsonObject *told = note ? litho_json_object_or_null(note, "pictures") : NULL;
    g_autofree char *path =
        g_strdup_printf(RESOURCES "parameters/%s-%s.png", op->key, row->key);
    if (!g_resources_get_info(path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL, NULL, NULL))
        return;
    GtkWidget *picture = gtk_picture_new_for_resource(path);
    const char *settings = told ? litho_json_string_or(told, "values", NULL) : NULL;
    g_autofree char *words =
        settings
            ? g_strdup_printf(_("Results with %s at %s"), litho_text(row->label), settings)
            : g_strdup_printf(_("Results with %s too low and too high"), litho_text(row->label));
    gtk_picture_set_alternative_text(GTK_PICTURE(picture), words);
    gtk_picture_set_can_shrink(GTK_PICTURE(picture), FALSE);
    gtk_widget_set_halign(picture, GTK_ALIGN_START);
    gtk_box_append(GTK_BOX(page), picture);
}

// A sentence of the notes in the language of the person; NULL = the note has none.
static const char *sentence(JsonObject *note, const char *key, JsonObject *words)
{
    const char *text = note ? litho_json_string_or(note, key, NULL) : NULL;
    return text && words ? litho_json_string_or(words, text, text) : text;
}

static void add_parameter(GtkWidget *page, const LithoOperator *op, const LithoParam *row,
                          JsonObject *note, JsonObject *words)
{
    GtkWidget *title = litho_label_new(litho_text(row->label), "heading");
    gtk_widget_set_margin_top(title, 18);
    gtk_box_append(GTK_BOX(page), title);
    if (litho_text(row->doc))
        add_text(page, litho_text(row->doc), NULL);
    add_values(page, row);
    const char *formula = sentence(note, "formula", words);
    const char *low = sentence(note, "low", words);
    const char *high = sentence(note, "high", words);
    if (formula)
        add_text(page, formula, "monospace");
    if (low || high) {
        g_autofree char *text =
            g_strdup_printf("%s%s%s%s%s.", low ? _("Too low: ") : "", low ? low : "",
                            low && high ? ". " : "", high ? _("Too high: ") : "", high ? high : "");
        add_text(page, text, NULL);
    }
    const char *none = sentence(note, "none", words);
    if (none) {
        g_autofree char *text = g_strdup_printf(_("No picture: %s."), none);
        add_text(page, text, NULL);
    }
    add_picture(page, op, row, note);
}

GtkWidget *litho_param_pages_new(const LithoOperator *op)
{
    GtkWidget *page = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6), *scroll = gtk_scrolled_window_new();
    // For translators: the name of a file in docs/ with these sentences and yours.
    JsonNode *notes = load_notes("parameters.json"), *own = load_notes(_("parameters.json"));
    JsonObject *all = litho_json_node_object(notes);
    JsonObject *mine = all ? litho_json_object_or_null(all, op->key) : NULL;
    gtk_widget_add_css_class(page, "litho-help");
    add_text(page, litho_text(op->summary), NULL);
    for (guint k = 0; k < op->params.n; k++) {
        const LithoParam *row = &op->params.rows[k];
        add_parameter(page, op, row, mine ? litho_json_object_or_null(mine, row->key) : NULL,
                      litho_json_node_object(own));
    }
    g_clear_pointer(&notes, json_node_unref);
    g_clear_pointer(&own, json_node_unref);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), page);
    gtk_widget_set_focusable(scroll, TRUE);
    return scroll;
}
