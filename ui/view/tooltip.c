// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/view/tooltip.h"

#define LINE_CHARS 52

// GTK wraps a tooltip only at a width the theme decides, which is most of a small screen.
static char *broken_into_lines(const char *text)
{
    GString *lines = g_string_new(text);
    glong width = 0;
    gsize blank = 0; // the last place where the present line may end; 0 if none
    for (gsize k = 0; k < lines->len; k = (gsize)(g_utf8_next_char(lines->str + k) - lines->str)) {
        if (lines->str[k] == '\n') {
            width = 0;
            blank = 0;
            continue;
        }
        if (lines->str[k] == ' ')
            blank = k;
        if (++width > LINE_CHARS && blank) {
            lines->str[blank] = '\n';
            width = g_utf8_strlen(lines->str + blank + 1, (gssize)(k - blank));
            blank = 0;
        }
    }
    return g_string_free(lines, FALSE);
}

static gboolean has_popover(GtkWidget *widget)
{
    for (GtkWidget *w = gtk_widget_get_first_child(widget); w; w = gtk_widget_get_next_sibling(w))
        if (GTK_IS_POPOVER(w) ? gtk_widget_get_visible(w) : has_popover(w))
            return TRUE;
    return FALSE;
}

// GTK draws the tooltip of a button over the menu that the button has opened.
static gboolean on_query(GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip)
{
    (void)x, (void)y, (void)keyboard, (void)tooltip;
    if (has_popover(widget))
        g_signal_stop_emission_by_name(widget, "query-tooltip");
    return FALSE;
}

void litho_set_short_tooltip(GtkWidget *widget, const char *text)
{
    static const char key[] = "litho-tooltip";
    if (g_strcmp0(gtk_widget_get_tooltip_text(widget), text) == 0)
        return;
    if (!g_object_get_data(G_OBJECT(widget), key)) {
        g_object_set_data(G_OBJECT(widget), key, widget);
        g_signal_connect(widget, "query-tooltip", G_CALLBACK(on_query), NULL);
    }
    gtk_widget_set_tooltip_text(widget, text);
}

void litho_set_tooltip(GtkWidget *widget, const char *text)
{
    g_autofree char *lines = text ? broken_into_lines(text) : NULL;
    litho_set_short_tooltip(widget, lines);
}
