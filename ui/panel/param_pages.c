// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/param_pages.h"

#include "core/json.h"
#include "ui/panel/param_format.h"
#include "ui/panel/parts.h"

#define RESOURCES "/org/lithoscope/Lithoscope/"

enum { TEXT_CHARS = 80 };

// The notes of docs/parameters.json on the operator's parameters; NULL for operators that it does
// not know, such as programs of the user's own.
static JsonNode *load_notes(void)
{
    g_autoptr(GBytes) bytes =
        g_resources_lookup_data(RESOURCES "parameters.json", G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
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
    char from[48], to[48], def[48];
    if (row->type != LITHO_PARAM_FLOAT && row->type != LITHO_PARAM_INT)
        return;
    litho_param_slider_range(row, &lo, &hi);
    litho_param_format(row, lo, from, sizeof from);
    litho_param_format_unit(row, hi, FALSE, to, sizeof to);
    litho_param_format_unit(row, row->def, FALSE, def, sizeof def);
    g_autofree char *text = g_strdup_printf("Typical %s to %s, default %s.", from, to, def);
    add_text(page, text, NULL);
}

static void add_picture(GtkWidget *page, const LithoOperator *op, const LithoParam *row)
{
    g_autofree char *path =
        g_strdup_printf(RESOURCES "parameters/%s-%s.png", op->key, row->key);
    if (!g_resources_get_info(path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL, NULL, NULL))
        return;
    GtkWidget *picture = gtk_picture_new_for_resource(path);
    g_autofree char *words = g_strdup_printf("Results with %s too low and too high", row->label);
    gtk_picture_set_alternative_text(GTK_PICTURE(picture), words);
    gtk_picture_set_can_shrink(GTK_PICTURE(picture), FALSE);
    gtk_widget_set_halign(picture, GTK_ALIGN_START);
    gtk_box_append(GTK_BOX(page), picture);
}

static void add_parameter(GtkWidget *page, const LithoOperator *op, const LithoParam *row,
                          JsonObject *note)
{
    GtkWidget *title = litho_label_new(row->label, "heading");
    gtk_widget_set_margin_top(title, 18);
    gtk_box_append(GTK_BOX(page), title);
    if (row->doc)
        add_text(page, row->doc, NULL);
    add_values(page, row);
    const char *formula = note ? litho_json_string_or(note, "formula", NULL) : NULL;
    const char *low = note ? litho_json_string_or(note, "low", NULL) : NULL;
    const char *high = note ? litho_json_string_or(note, "high", NULL) : NULL;
    if (formula)
        add_text(page, formula, "monospace");
    if (low || high) {
        g_autofree char *text =
            g_strdup_printf("%s%s%s%s%s.", low ? "Too low: " : "", low ? low : "",
                            low && high ? ". " : "", high ? "Too high: " : "", high ? high : "");
        add_text(page, text, NULL);
    }
    add_picture(page, op, row);
}

GtkWidget *litho_param_pages_new(const LithoOperator *op)
{
    GtkWidget *page = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6), *scroll = gtk_scrolled_window_new();
    JsonNode *notes = load_notes();
    JsonObject *all = litho_json_node_object(notes);
    JsonObject *mine = all ? litho_json_object_or_null(all, op->key) : NULL;
    gtk_widget_add_css_class(page, "litho-help");
    add_text(page, op->summary, NULL);
    for (guint k = 0; k < op->params.n; k++) {
        const LithoParam *row = &op->params.rows[k];
        add_parameter(page, op, row, mine ? litho_json_object_or_null(mine, row->key) : NULL);
    }
    g_clear_pointer(&notes, json_node_unref);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), page);
    gtk_widget_set_focusable(scroll, TRUE);
    return scroll;
}
