// SPDX-License-Identifier: GPL-3.0-or-later
//
// Closing the window while a file is being written: asked, since the file would not be there.
#include "core/text.h"
#include "ui/window/window_private.h"

static gboolean writes(LithoWindow *self)
{
    static const char *const whats[] = {"save", "picture", "report", NULL};
    const char *what = litho_job_bar_what(self->job);
    return litho_job_bar_save(self->job) ||
           (litho_job_bar_is_at_work(self->job) && what && g_strv_contains(whats, what));
}

static gboolean close_now(gpointer window)
{
    gtk_window_close(window);
    return G_SOURCE_REMOVE;
}

// The dialog outlives its signal by a little, and must not outlive its parent.
static void on_response(GtkDialog *dialog, int response, LithoWindow *self)
{
    gtk_window_destroy(GTK_WINDOW(dialog));
    self->closing = response == GTK_RESPONSE_REJECT   ? LITHO_CLOSING_NOW
                    : response == GTK_RESPONSE_ACCEPT ? LITHO_CLOSING_WHEN_SAVED
                                                      : LITHO_CLOSING_NOT;
    if (self->closing == LITHO_CLOSING_NOW ||
        (self->closing == LITHO_CLOSING_WHEN_SAVED && !writes(self)))
        g_idle_add_full(G_PRIORITY_DEFAULT, close_now, g_object_ref(self), g_object_unref);
    else if (self->closing == LITHO_CLOSING_WHEN_SAVED)
        litho_window_notice(self, "The window closes when the file is saved.");
}

static void ask(LithoWindow *self)
{
    GtkWidget *dialog = gtk_message_dialog_new(
        GTK_WINDOW(self), GTK_DIALOG_MODAL | GTK_DIALOG_DESTROY_WITH_PARENT, GTK_MESSAGE_QUESTION,
        GTK_BUTTONS_NONE, "%s", _("A file is being saved."));
    gtk_message_dialog_format_secondary_text(
        GTK_MESSAGE_DIALOG(dialog), "%s",
        _("Closing the window now stops that, and the file is not written."));
    // Under a title bar of the window manager's the theme leaves no room.
    gtk_widget_set_margin_top(gtk_message_dialog_get_message_area(GTK_MESSAGE_DIALOG(dialog)), 18);
    gtk_dialog_add_buttons(GTK_DIALOG(dialog), _("_Cancel"), GTK_RESPONSE_CANCEL,
                           _("_Stop and close"), GTK_RESPONSE_REJECT, _("Close when _saved"),
                           GTK_RESPONSE_ACCEPT, NULL);
    gtk_dialog_set_default_response(GTK_DIALOG(dialog), GTK_RESPONSE_ACCEPT);
    g_signal_connect_object(dialog, "response", G_CALLBACK(on_response), self, 0);
    gtk_window_present(GTK_WINDOW(dialog));
}

gboolean litho_window_may_close(LithoWindow *self)
{
    if (self->closing == LITHO_CLOSING_NOW || !writes(self))
        return TRUE;
    ask(self);
    return FALSE;
}

void litho_window_close_saved(LithoWindow *self, gboolean ok)
{
    if (self->closing != LITHO_CLOSING_WHEN_SAVED || (ok && writes(self)))
        return;
    self->closing = LITHO_CLOSING_NOT;
    if (ok) // else the window says why there is no file
        gtk_window_close(GTK_WINDOW(self));
}
