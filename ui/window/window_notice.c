// SPDX-License-Identifier: GPL-3.0-or-later
//
// A sentence over the foot of the views that goes by itself: what was saved or copied. What needs
// an answer is a bar (window.c).
#include "ui/window/window_private.h"

enum { SECONDS = 6 };

GtkWidget *litho_window_make_notice(LithoWindow *self)
{
    self->notice =
        g_object_new(GTK_TYPE_LABEL, "accessible-role", GTK_ACCESSIBLE_ROLE_STATUS, "halign",
                     GTK_ALIGN_CENTER, "valign", GTK_ALIGN_END, "visible", FALSE, "can-target",
                     FALSE, "ellipsize", PANGO_ELLIPSIZE_MIDDLE, NULL);
    gtk_widget_add_css_class(self->notice, "litho-notice");
    return self->notice;
}

static gboolean take_away(gpointer data)
{
    LithoWindow *self = data;
    self->notice_timeout = 0;
    gtk_widget_set_visible(self->notice, FALSE);
    return G_SOURCE_REMOVE;
}

void litho_window_notice(LithoWindow *self, const char *format, ...)
{
    va_list words;
    va_start(words, format);
    g_autofree char *sentence = g_strdup_vprintf(format, words);
    va_end(words);
    gtk_label_set_text(GTK_LABEL(self->notice), sentence);
    gtk_widget_set_visible(self->notice, TRUE);
    g_clear_handle_id(&self->notice_timeout, g_source_remove);
    self->notice_timeout = g_timeout_add_seconds(SECONDS, take_away, self);
}

void litho_window_notice_saved(LithoWindow *self, const char *path)
{
    g_autoptr(GFile) file = g_file_new_for_path(path);
    g_autoptr(GFileInfo) info =
        g_file_query_info(file, G_FILE_ATTRIBUTE_STANDARD_SIZE, G_FILE_QUERY_INFO_NONE, NULL, NULL);
    g_autofree char *base = g_path_get_basename(path), *folder = g_path_get_dirname(path);
    g_autofree char *size = g_format_size(info ? (guint64)g_file_info_get_size(info) : 0);
    litho_window_notice(self, "Saved %s (%s) in %s", base, size, folder);
}
