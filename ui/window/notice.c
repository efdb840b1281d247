// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/notice.h"

enum { SECONDS = 6 };

struct LithoNotice {
    GtkWidget *label;
    guint timeout;
};

LithoNotice *litho_notice_new(void)
{
    LithoNotice *notice = g_new0(LithoNotice, 1);
    notice->label =
        g_object_new(GTK_TYPE_LABEL, "accessible-role", GTK_ACCESSIBLE_ROLE_STATUS, "halign",
                     GTK_ALIGN_CENTER, "valign", GTK_ALIGN_END, "visible", FALSE, "can-target",
                     FALSE, "ellipsize", PANGO_ELLIPSIZE_MIDDLE, NULL);
    gtk_widget_add_css_class(notice->label, "litho-notice");
    return notice;
}

void litho_notice_free(LithoNotice *notice)
{
    if (!notice)
        return;
    g_clear_handle_id(&notice->timeout, g_source_remove);
    g_free(notice);
}

GtkWidget *litho_notice_widget(const LithoNotice *notice)
{
    return notice->label;
}

static gboolean take_away(gpointer data)
{
    LithoNotice *notice = data;
    notice->timeout = 0;
    gtk_widget_set_visible(notice->label, FALSE);
    return G_SOURCE_REMOVE;
}

void litho_notice_tell(LithoNotice *notice, const char *sentence)
{
    gtk_label_set_text(GTK_LABEL(notice->label), sentence);
    gtk_widget_set_visible(notice->label, TRUE);
    g_clear_handle_id(&notice->timeout, g_source_remove);
    notice->timeout = g_timeout_add_seconds(SECONDS, take_away, notice);
}
