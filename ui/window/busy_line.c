// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/busy_line.h"

#include <math.h>

#include "core/text.h"
#include "ui/panel/parts.h"
#include "ui/window/bar.h"

enum { BUSY_AFTER_MS = 300, LOOK_MS = 100 };

struct LithoBusyLine {
    LithoSession *session;
    void (*changed)(gpointer owner);
    gpointer owner;
    GtkWidget *bar, *box, *label, *pause;
    gint64 since; // when the worker began to be busy, 0 = idle
    guint timeout;
};

static char *left_text(double seconds)
{
    const double s = rint(seconds);
    if (s >= 60)
        return litho_text_printf(_(", %.0f min %02.0f s left"), floor(s / 60), fmod(s, 60));
    return s >= 1 ? litho_text_printf(_(", %.0f s left"), s) : g_strdup("");
}

static gboolean look(gpointer data)
{
    LithoBusyLine *line = data;
    LithoProgress p;
    gboolean busy = litho_session_progress(line->session, &p);
    if (!busy) {
        gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(line->bar), 0);
        gtk_widget_set_visible(line->box, FALSE);
        line->since = 0;
        line->timeout = 0;
        line->changed(line->owner);
        return G_SOURCE_REMOVE;
    }
    if (g_get_monotonic_time() - line->since < BUSY_AFTER_MS * 1000)
        return G_SOURCE_CONTINUE;
    double fraction = p.total > 0 ? CLAMP((double)p.done / p.total, 0, 1) : 0;
    gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(line->bar), fraction);
    g_autofree char *left = left_text(p.seconds_left);
    const gboolean paused = litho_session_is_paused(line->session);
    g_autofree char *text = litho_text_printf("%s %.0f %%%s", p.what ? litho_text(p.what) : "",
                                              100 * fraction, paused ? _(", paused") : left);
    gtk_label_set_text(GTK_LABEL(line->label), text);
    if (gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(line->pause)) != paused)
        line->changed(line->owner); // a change of the flow went on
    gtk_widget_set_visible(line->box, TRUE);
    return G_SOURCE_CONTINUE;
}

static void on_progress(LithoBusyLine *line)
{
    if (line->timeout || !litho_session_progress(line->session, NULL))
        return;
    line->since = g_get_monotonic_time();
    line->timeout = g_timeout_add(LOOK_MS, look, line);
    line->changed(line->owner);
}

static GtkWidget *make_words(LithoBusyLine *line)
{
    line->box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    line->label = litho_label_new(NULL, "numeric");
    gtk_box_append(GTK_BOX(line->box), line->label);
    line->pause = gtk_toggle_button_new();
    gtk_button_set_icon_name(GTK_BUTTON(line->pause), "media-playback-pause-symbolic");
    gtk_actionable_set_detailed_action_name(GTK_ACTIONABLE(line->pause), "win.pause");
    gtk_widget_set_tooltip_text(line->pause, _("Pause and go on (P)"));
    litho_name_widget(line->pause, _("Pause"));
    gtk_widget_add_css_class(line->pause, "flat");
    gtk_box_append(GTK_BOX(line->box), line->pause);
    GtkWidget *cancel = litho_action_button("process-stop-symbolic", _("Cancel"), "win.cancel",
                                            _("Stop computing (Escape)"));
    gtk_widget_add_css_class(cancel, "flat");
    gtk_box_append(GTK_BOX(line->box), cancel);
    gtk_widget_set_margin_end(line->box, 12);
    gtk_widget_set_visible(line->box, FALSE);
    return line->box;
}

LithoBusyLine *litho_busy_line_new(LithoSession *session, void (*changed)(gpointer owner),
                                   gpointer owner)
{
    LithoBusyLine *line = g_new0(LithoBusyLine, 1);
    line->session = session;
    line->changed = changed;
    line->owner = owner;
    line->bar = gtk_progress_bar_new();
    gtk_widget_add_css_class(line->bar, "litho-progress");
    litho_name_widget(line->bar, _("Progress of the whole cube"));
    make_words(line);
    g_signal_connect_swapped(session, "progress", G_CALLBACK(on_progress), line);
    return line;
}

void litho_busy_line_free(LithoBusyLine *line)
{
    if (!line)
        return;
    g_clear_handle_id(&line->timeout, g_source_remove);
    g_signal_handlers_disconnect_by_data(line->session, line);
    g_free(line);
}

GtkWidget *litho_busy_line_bar(const LithoBusyLine *line)
{
    return line->bar;
}

GtkWidget *litho_busy_line_words(const LithoBusyLine *line)
{
    return line->box;
}
