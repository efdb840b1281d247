// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/history_list.h"

#include <string.h>

#include "core/text.h"
#include "ui/panel/param_format.h"
#include "ui/panel/parts.h"
#include "ui/view/tooltip.h"

static const char steps_key[] = "litho-steps", list_key[] = "litho-list";

// --- changes in words ---------------------------------------------------------------------------

static char *value_text(const LithoParam *row, const void *params, gboolean is_depth)
{
    char text[80];
    if (row->type != LITHO_PARAM_FLOAT && row->type != LITHO_PARAM_INT)
        return litho_param_shown(row, params);
    litho_param_format_unit(row, litho_param_get(row, params), is_depth, text, sizeof text);
    return g_strdup(text);
}

// Appends the rows of one step that differ: "Window 16 samples to 24 samples", with an arrow.
static void append_rows(const LithoStep *before, const LithoStep *after, const char *name,
                        gboolean is_depth, GPtrArray *changes)
{
    for (guint r = 0; r < before->op->params.n; r++) {
        const LithoParam *row = &before->op->params.rows[r];
        if (litho_param_equal(row, before->params, after->params))
            continue;
        const char *label = litho_text(row->label);
        const gboolean named = g_str_has_suffix(name, label); // the change is called after it
        g_autofree char *from = value_text(row, before->params, is_depth),
                        *to = value_text(row, after->params, is_depth);
        g_ptr_array_add(changes, g_strdup_printf("%s%s%s \u2192 %s", named ? "" : label,
                                                 named ? "" : " ", from, to));
    }
}

// Values that a change called `name` gave; "" where it added, removed or moved a step.
static char *changes_of(const LithoFlow *before, const LithoFlow *after, const char *name,
                        gboolean is_depth)
{
    enum { SHOWN = 3 };
    const guint n = litho_flow_length(before);
    g_autoptr(GPtrArray) changes = g_ptr_array_new_with_free_func(g_free);
    for (guint k = 0; k < n && n == litho_flow_length(after); k++) {
        const LithoStep *a = litho_flow_step(before, k), *b = litho_flow_step(after, k);
        if (a->op != b->op)
            return g_strdup("");
        append_rows(a, b, name, is_depth, changes);
    }
    if (changes->len > SHOWN) {
        const guint more = changes->len - SHOWN;
        g_ptr_array_set_size(changes, SHOWN);
        g_ptr_array_add(changes, g_strdup_printf(_("%u more"), more));
    }
    g_ptr_array_add(changes, NULL);
    return g_strjoinv("\n", (char **)changes->pdata);
}

// --- the list -----------------------------------------------------------------------------------

static void on_step(GtkButton *button, LithoSession *session)
{
    GtkWidget *popover = gtk_widget_get_ancestor(GTK_WIDGET(button), GTK_TYPE_POPOVER);
    int steps = GPOINTER_TO_INT(g_object_get_data(G_OBJECT(button), steps_key));
    gtk_popover_popdown(GTK_POPOVER(popover));
    litho_session_travel(session, steps);
}

static GtkWidget *line_of(const char *text, const char *css)
{
    GtkWidget *label = litho_label_new(text, css);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    gtk_label_set_max_width_chars(GTK_LABEL(label), 40);
    return label;
}

// `steps` from the flow as it stands; 0 = that itself. `changes`: values that it gave, in lines.
static void append(GtkWidget *list, LithoSession *session, const char *name, const char *changes,
                   int steps)
{
    GtkWidget *button = gtk_button_new(), *lines = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    g_autofree char *spoken = g_strdelimit(g_strdup(changes), "\n", ','),
                    *title = *changes ? g_strdup_printf("%s, %s", name, spoken) : g_strdup(name),
                    *said = steps == 0  ? g_strdup_printf(_("%s, now"), title)
                            : steps < 0 ? g_strdup_printf(_("%s, go back to it"), title)
                                        : g_strdup_printf(_("%s, undone; repeat up to it"), title);
    gtk_box_append(GTK_BOX(lines), line_of(name, steps > 0    ? "dim-label"
                                                 : steps == 0 ? "heading"
                                                              : NULL));
    if (*changes)
        gtk_box_append(GTK_BOX(lines), line_of(changes, "dim-label"));
    gtk_button_set_child(GTK_BUTTON(button), lines);
    gtk_widget_add_css_class(button, "flat");
    litho_name_widget(button, said);
    g_object_set_data(G_OBJECT(button), steps_key, GINT_TO_POINTER(steps));
    g_signal_connect_object(button, "clicked", G_CALLBACK(on_step), session, 0);
    gtk_box_append(GTK_BOX(list), button);
}

// Lists the states of the past: k further undo steps give entry k, and the newest is now.
static void fill(GtkWidget *popover, LithoSession *session)
{
    const LithoHistory *history = litho_session_history(session);
    GtkWidget *list = g_object_get_data(G_OBJECT(popover), list_key), *child;
    while ((child = gtk_widget_get_first_child(list)))
        gtk_box_remove(GTK_BOX(list), child);
    const LithoFlow *now = litho_session_flow(session);
    const LithoCube *in = litho_session_input(session);
    const gboolean is_depth = in && in->grid.is_depth;
    for (guint k = litho_history_length(history, TRUE); k-- > 0;) {
        const LithoFlow *before = k > 0 ? litho_history_flow(history, TRUE, k - 1) : now;
        const char *name = litho_history_name(history, TRUE, k);
        g_autofree char *changes =
            changes_of(before, litho_history_flow(history, TRUE, k), name, is_depth);
        append(list, session, name, changes, (int)k + 1);
    }
    const guint n = litho_history_length(history, FALSE);
    for (guint k = 0; k < n; k++) {
        const LithoFlow *after = k > 0 ? litho_history_flow(history, FALSE, k - 1) : now;
        const char *name = litho_history_name(history, FALSE, k);
        g_autofree char *changes =
            changes_of(litho_history_flow(history, FALSE, k), after, name, is_depth);
        append(list, session, name, changes, -(int)k);
    }
    append(list, session, _("Beginning"), "", -(int)n);
}

GtkWidget *litho_history_button_new(LithoSession *session)
{
    GtkWidget *button = gtk_menu_button_new(), *popover = gtk_popover_new();
    GtkWidget *list = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0), *scroll = gtk_scrolled_window_new();
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(scroll), TRUE);
    // Else it is as narrow as names that are cut to their dots.
    gtk_scrolled_window_set_propagate_natural_width(GTK_SCROLLED_WINDOW(scroll), TRUE);
    gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(scroll), 420);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), list);
    gtk_popover_set_child(GTK_POPOVER(popover), scroll);
    g_object_set_data(G_OBJECT(popover), list_key, list);
    g_signal_connect_object(popover, "show", G_CALLBACK(fill), session, 0);
    gtk_menu_button_set_popover(GTK_MENU_BUTTON(button), popover);
    gtk_menu_button_set_icon_name(GTK_MENU_BUTTON(button), "pan-down-symbolic");
    litho_set_short_tooltip(button, _("History: the changes by name"));
    litho_name_widget(button, _("History"));
    return button;
}
