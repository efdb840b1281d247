// SPDX-License-Identifier: GPL-3.0-or-later
//
// The parts of the window and how they lie.
#include "ui/panel/flow_list.h"
#include "ui/panel/parts.h"
#include "ui/panel/snapshot_bar.h"
#include "ui/panel/qc_panel.h"
#include "ui/panel/status_line.h"
#include "ui/panel/timing_panel.h"
#include "ui/window/window_private.h"

#include <string.h>

// --- body ---------------------------------------------------------------------------------------

static GtkWidget *make_left(LithoWindow *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_widget_set_size_request(box, 336, -1);
    gtk_widget_add_css_class(box, "litho-side");
    self->params = litho_param_panel_new(self->session);
    gtk_widget_set_vexpand(self->params, TRUE);
    gtk_box_append(GTK_BOX(box), litho_flow_list_new(self->session));
    gtk_box_append(GTK_BOX(box), gtk_separator_new(GTK_ORIENTATION_HORIZONTAL));
    gtk_box_append(GTK_BOX(box), self->params);
    return box;
}

static GtkWidget *scrolled(GtkWidget *child)
{
    GtkWidget *scroll = gtk_scrolled_window_new();
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), child);
    return scroll;
}

// Who draws the pictures stands among the timings.
static void on_gl_known(GtkWidget *area, LithoTimingPanel *panel)
{
    gboolean failed;
    GtkWidget *canvas = gtk_widget_get_ancestor(area, LITHO_TYPE_CANVAS);
    litho_timing_panel_set_gl(panel, litho_canvas_gl_name(LITHO_CANVAS(canvas), &failed));
}

// The timings stay in sight, however many curves an operator draws above them.
static void on_copied(LithoWindow *self)
{
    litho_window_notice(self, "The timings are on the clipboard.");
}

static GtkWidget *make_right(LithoWindow *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    GtkWidget *panel = litho_timing_panel_new(self->session);
    GtkWidget *qc = scrolled(litho_qc_panel_new(self->session, self->judgement)),
              *timings = scrolled(panel);
    g_signal_connect_object(litho_canvas_area(litho_window_canvas(self)), "realize",
                            G_CALLBACK(on_gl_known), panel, G_CONNECT_AFTER);
    g_signal_connect_object(panel, "copied", G_CALLBACK(on_copied), self, G_CONNECT_SWAPPED);
    gtk_widget_set_vexpand(qc, TRUE);
    gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(timings), TRUE);
    gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(timings), 300);
    gtk_box_append(GTK_BOX(box), qc);
    gtk_box_append(GTK_BOX(box), gtk_separator_new(GTK_ORIENTATION_HORIZONTAL));
    gtk_box_append(GTK_BOX(box), timings);
    gtk_widget_set_size_request(box, 264, -1);
    gtk_widget_add_css_class(box, "litho-side");
    return box;
}

static GtkWidget *make_middle(LithoWindow *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    GtkWidget *overlay = litho_middle_widget(self->middle);
    // Over the views: sentences come in the middle of a drag, and nothing may move under the
    // pointer. At their foot, where no title lies.
    GtkWidget *foot = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_widget_set_valign(foot, GTK_ALIGN_END);
    gtk_box_append(GTK_BOX(foot), litho_notice_widget(litho_tellers_notice(self->tellers)));
    gtk_box_append(GTK_BOX(foot), litho_bar_widget(litho_tellers_error(self->tellers)));
    gtk_overlay_add_overlay(GTK_OVERLAY(overlay), foot);
    gtk_box_append(GTK_BOX(box), litho_snapshot_bar_new(self->snapshots));
    gtk_box_append(GTK_BOX(box), overlay);
    gtk_box_append(GTK_BOX(box), litho_job_bar_widget(self->job));
    self->podium = litho_podium_new(self, GTK_BOX(box), GTK_OVERLAY(overlay));
    return box;
}

static void on_busy(gpointer window)
{
    litho_window_actions_update(window);
}

static void on_fitted(int width, gpointer window)
{
    litho_header_fit(((LithoWindow *)window)->header, width);
}

void litho_window_build(LithoWindow *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    self->header = litho_header_new(GTK_WINDOW(self), self->session);
    gtk_window_set_titlebar(GTK_WINDOW(self), litho_header_widget(self->header));
    self->tellers = litho_tellers_new();
    self->job = litho_job_bar_new();
    self->busy = litho_busy_line_new(self->session, on_busy, self);
    self->middle = litho_middle_new(self->session, self->judgement);
    GtkWidget *left = make_left(self), *right = make_right(self), *middle = make_middle(self);
    self->panels = litho_panels_new(left, middle, right);
    GtkWidget *bottom = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    self->status = litho_status_line_new(self->session);
    gtk_widget_set_hexpand(self->status, TRUE);
    gtk_box_append(GTK_BOX(bottom), litho_busy_line_words(self->busy));
    gtk_box_append(GTK_BOX(bottom), self->status);
    gtk_box_append(GTK_BOX(bottom), litho_header_full_badge(self->header));
    gtk_widget_add_css_class(bottom, "litho-bottom");
    gtk_box_append(GTK_BOX(box), litho_busy_line_bar(self->busy));
    gtk_box_append(GTK_BOX(box), litho_bar_widget(litho_tellers_offer(self->tellers)));
    gtk_box_append(GTK_BOX(box), litho_bar_widget(litho_tellers_velocity(self->tellers)));
    gtk_box_append(GTK_BOX(box), litho_bar_widget(litho_tellers_notes(self->tellers)));
    gtk_box_append(GTK_BOX(box), litho_panels_widget(self->panels));
    gtk_box_append(GTK_BOX(box), bottom);
    gtk_window_set_child(GTK_WINDOW(self), box);
    litho_panels_watch(self->panels, GTK_WINDOW(self), self->session, on_fitted, self);
}
