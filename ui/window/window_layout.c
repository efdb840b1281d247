// SPDX-License-Identifier: GPL-3.0-or-later
//
// The parts of the window and how they lie.
#include "ui/panel/flow_list.h"
#include "ui/panel/parts.h"
#include "ui/panel/snapshot_bar.h"
#include "ui/panel/qc_panel.h"
#include "ui/panel/status_line.h"
#include "ui/show/start_page.h"
#include "ui/view/survey_map.h"
#include "ui/window/window_private.h"

#include <string.h>

// --- body ---------------------------------------------------------------------------------------

static GtkWidget *make_left(LithoWindow *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_widget_set_size_request(box, 312, -1);
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

// The timings stay in sight, however many curves an operator draws above them.
static GtkWidget *make_right(LithoWindow *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    self->timings = litho_timing_panel_new(self->session);
    GtkWidget *qc = scrolled(litho_qc_panel_new(self->session, self->judgement)),
              *timings = scrolled(self->timings);
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
    self->stack = gtk_stack_new();
    gtk_stack_set_hhomogeneous(GTK_STACK(self->stack), FALSE); // the views may be narrower than
    gtk_stack_set_vhomogeneous(GTK_STACK(self->stack), FALSE); // the start page
    self->canvas = litho_canvas_new(self->session, self->judgement);
    self->start = litho_start_page_new();
    gtk_stack_add_named(GTK_STACK(self->stack), litho_start_page_widget(self->start), "start");
    gtk_stack_add_named(GTK_STACK(self->stack), self->canvas, "canvas");
    gtk_widget_set_vexpand(self->stack, TRUE);
    gtk_widget_set_hexpand(self->stack, TRUE);
    GtkWidget *overlay = gtk_overlay_new();
    self->scan_map = litho_survey_map_new();
    gtk_widget_add_css_class(self->scan_map, "litho-scan-map");
    gtk_widget_set_size_request(self->scan_map, 240, 180);
    gtk_widget_set_halign(self->scan_map, GTK_ALIGN_END);
    gtk_widget_set_valign(self->scan_map, GTK_ALIGN_END);
    gtk_widget_set_can_target(self->scan_map, FALSE);
    gtk_widget_set_visible(self->scan_map, FALSE);
    gtk_overlay_set_child(GTK_OVERLAY(overlay), self->stack);
    gtk_overlay_add_overlay(GTK_OVERLAY(overlay), self->scan_map);
    // Over the views: it comes in the middle of a drag, and nothing may move under the pointer.
    gtk_widget_set_valign(litho_bar_widget(self->error), GTK_ALIGN_START);
    gtk_overlay_add_overlay(GTK_OVERLAY(overlay), litho_bar_widget(self->error));
    gtk_overlay_add_overlay(GTK_OVERLAY(overlay), litho_notice_widget(self->notice));
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

static void make_tellers(LithoWindow *self)
{
    static const char again[] = "Read otherwise…";
    self->error = litho_bar_new(GTK_MESSAGE_ERROR, again, "win.import");
    self->notes = litho_bar_new(GTK_MESSAGE_INFO, again, "win.import");
    self->offer = litho_bar_new(GTK_MESSAGE_QUESTION, "Use it", "win.use-profile");
    litho_bar_set_remedy(self->offer, TRUE);
    self->notice = litho_notice_new();
    self->job = litho_job_bar_new();
    self->busy = litho_busy_line_new(self->session, on_busy, self);
}

void litho_window_build(LithoWindow *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    self->header = litho_header_new(GTK_WINDOW(self), self->session);
    gtk_window_set_titlebar(GTK_WINDOW(self), litho_header_widget(self->header));
    make_tellers(self);
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
    gtk_box_append(GTK_BOX(box), litho_bar_widget(self->offer));
    gtk_box_append(GTK_BOX(box), litho_bar_widget(self->notes));
    gtk_box_append(GTK_BOX(box), litho_panels_widget(self->panels));
    gtk_box_append(GTK_BOX(box), bottom);
    gtk_window_set_child(GTK_WINDOW(self), box);
    litho_panels_watch(self->panels, GTK_WINDOW(self), self->session, on_fitted, self);
}
