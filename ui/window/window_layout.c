// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the window is made of.
#include "ui/panel/flow_list.h"
#include "ui/panel/history_list.h"
#include "ui/panel/parts.h"
#include "ui/panel/snapshot_bar.h"
#include "ui/panel/qc_panel.h"
#include "ui/panel/status_line.h"
#include "ui/show/start_page.h"
#include "ui/view/survey_map.h"
#include "ui/window/window_private.h"

#include <string.h>

// --- header -------------------------------------------------------------------------------------

static GtkWidget *make_open(LithoWindow *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    gtk_widget_add_css_class(box, "linked");
    gtk_box_append(GTK_BOX(box),
                   litho_action_button(NULL, "Open", "win.open", "Open a seismic cube (Ctrl+O)"));
    GtkWidget *recent = gtk_menu_button_new(), *popover = gtk_popover_new();
    self->start_recent = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_popover_set_child(GTK_POPOVER(popover), self->start_recent);
    gtk_menu_button_set_popover(GTK_MENU_BUTTON(recent), popover);
    gtk_widget_set_tooltip_text(recent, "Recent files");
    litho_name_widget(recent, "Recent files");
    g_signal_connect_swapped(popover, "show", G_CALLBACK(litho_window_update_recent), self);
    gtk_box_append(GTK_BOX(box), recent);
    return box;
}

static GtkWidget *make_similarity(LithoWindow *self)
{
    GtkWidget *button = gtk_toggle_button_new_with_label("Similarity");
    gtk_actionable_set_action_name(GTK_ACTIONABLE(button), "win.similarity");
    self->similarity = button;
    gtk_widget_set_tooltip_text(button, "Where output and removed are alike: signal leaves (L)");
    return button;
}

static GtkWidget *make_compare(LithoWindow *self)
{
    static const char *const tips[] = {
        "Input (hold Space)", "Output", "What the flow removed: input minus output (D)",
        "Input left, output right of a divider (S)", "Input and output side by side"};
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    gtk_widget_add_css_class(box, "linked");
    gtk_widget_set_valign(box, GTK_ALIGN_CENTER);
    for (int k = 0; k < 5; k++) {
        const char *name = litho_show_name(k);
        g_autofree char *action = g_strdup_printf("win.show::%s", litho_show_keys[k]);
        GtkWidget *button = gtk_toggle_button_new_with_label(name);
        gtk_actionable_set_detailed_action_name(GTK_ACTIONABLE(button), action);
        gtk_widget_set_tooltip_text(button, tips[k]);
        gtk_box_append(GTK_BOX(box), button);
        self->compare[k] = button;
        if (k == LITHO_SHOW_REMOVED)
            gtk_box_append(GTK_BOX(box), make_similarity(self));
    }
    self->volumes = gtk_menu_button_new();
    gtk_widget_set_visible(self->volumes, FALSE);
    litho_name_widget(self->volumes, "Shown volume");
    gtk_widget_set_tooltip_text(self->volumes, "The result, or a volume that a step gives beside it");
    gtk_box_append(GTK_BOX(box), self->volumes);
    return box;
}

void litho_window_fill_volumes(LithoWindow *self)
{
    g_autofree const char **names = litho_flow_volumes(litho_session_flow(self->session));
    const char *shown = litho_session_volume(self->session);
    g_autofree char *all = g_strjoinv("\n", (char **)names);
    gtk_widget_set_visible(self->volumes, names[0] != NULL);
    g_autofree char *label =
        g_strdup_printf("%c%s", g_ascii_toupper(shown ? *shown : 'R'), shown ? shown + 1 : "esult");
    if (g_strcmp0(gtk_menu_button_get_label(GTK_MENU_BUTTON(self->volumes)), label) != 0)
        gtk_menu_button_set_label(GTK_MENU_BUTTON(self->volumes), label);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->volumes), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Shown volume", -1);
    if (g_strcmp0(g_object_get_data(G_OBJECT(self->volumes), "names"), all) == 0)
        return;
    g_object_set_data_full(G_OBJECT(self->volumes), "names", g_steal_pointer(&all), g_free);
    GMenu *menu = g_menu_new();
    g_menu_append(menu, "Result", "win.volume::");
    for (const char **name = names; *name; name++) {
        g_autofree char *title = g_strdup_printf("%c%s", g_ascii_toupper(**name), *name + 1);
        g_autoptr(GMenuItem) item = g_menu_item_new(title, NULL);
        g_menu_item_set_action_and_target(item, "win.volume", "s", *name);
        g_menu_append_item(menu, item);
    }
    gtk_menu_button_set_menu_model(GTK_MENU_BUTTON(self->volumes), G_MENU_MODEL(menu));
    g_object_unref(menu);
}

void litho_window_fill_badge(LithoWindow *self)
{
    const int gpus = litho_session_gpus(self->session);
    GMenuModel *old = gtk_menu_button_get_menu_model(GTK_MENU_BUTTON(self->badge));
    if (old && g_menu_model_get_n_items(old) == (gpus > 1 ? gpus + 3 : 3))
        return;
    GMenu *menu = g_menu_new();
    g_menu_append(menu, "Automatic", "win.device::auto");
    if (gpus < 2)
        g_menu_append(menu, "GPU", "win.device::cuda");
    for (int k = 0; gpus > 1 && k < gpus; k++) {
        g_autofree char *title = g_strdup_printf("GPU %d", k);
        g_autofree char *action = g_strdup_printf("win.device::cuda:%d", k);
        g_menu_append(menu, title, action);
    }
    g_autofree char *all = g_strdup_printf("All %d GPUs", gpus);
    if (gpus > 1)
        g_menu_append(menu, all, "win.device::cuda:all");
    g_menu_append(menu, "CPU", "win.device::cpu");
    gtk_menu_button_set_menu_model(GTK_MENU_BUTTON(self->badge), G_MENU_MODEL(menu));
    g_object_unref(menu);
}

static GtkWidget *make_badge(LithoWindow *self)
{
    self->badge = gtk_menu_button_new();
    self->badge_label = gtk_label_new(NULL);
    gtk_label_set_ellipsize(GTK_LABEL(self->badge_label), PANGO_ELLIPSIZE_END);
    gtk_label_set_max_width_chars(GTK_LABEL(self->badge_label), 22);
    gtk_menu_button_set_child(GTK_MENU_BUTTON(self->badge), self->badge_label);
    gtk_widget_add_css_class(self->badge, "litho-badge");
    gtk_widget_set_valign(self->badge, GTK_ALIGN_CENTER);
    return self->badge;
}

// Who computes, in the bottom line while the window fills the screen: it has no header then.
static GtkWidget *make_full_badge(LithoWindow *self)
{
    GtkWidget *label = litho_label_new(NULL, "litho-full-badge");
    g_object_bind_property(self->badge_label, "label", label, "label", G_BINDING_SYNC_CREATE);
    g_object_bind_property(self, "fullscreened", label, "visible", G_BINDING_SYNC_CREATE);
    gtk_widget_set_valign(label, GTK_ALIGN_CENTER);
    self->full_badge = label;
    return label;
}

static void append_section(GMenu *menu, const char *const (*items)[2])
{
    GMenu *section = g_menu_new();
    for (; (*items)[0]; items++)
        g_menu_append(section, (*items)[0], (*items)[1]);
    g_menu_append_section(menu, NULL, G_MENU_MODEL(section));
    g_object_unref(section);
}

static GtkWidget *make_menu(void)
{
    static const char *const file[][2] = {{"Save result…", "win.save"},
                                          {"Export picture…", "win.picture"},
                                          {"Save points…", "win.points-save"},
                                          {"Open recipe…", "win.recipe-open"},
                                          {"Save recipe…", "win.recipe-save"},
                                          {"Copy as command", "win.copy-command"},
                                          {NULL, NULL}};
    static const char *const view[][2] = {{"Compare with file…", "win.reference"},
                                          {"Wiggles", "win.wiggle"},
                                          {"Next colour map", "win.colours-next"},
                                          {"Load colour map…", "win.colours-load"},
                                          {"Fit to window", "win.fit"},
                                          {"Survey and headers…", "win.survey"},
                                          {"Read with other header bytes…", "win.import"},
                                          {"Race: CPU against GPU", "win.race"},
                                          {"Presenter mode", "win.present"},
                                          {"Full screen", "win.fullscreen"},
                                          {NULL, NULL}};
    static const char *const look[][2] = {{"Follow the system", "app.appearance::system"},
                                          {"Light", "app.appearance::light"},
                                          {"Dark", "app.appearance::dark"},
                                          {NULL, NULL}};
    static const char *const help[][2] = {{"Commands…", "win.palette"},
                                          {"Keyboard shortcuts", "win.shortcuts"},
                                          {"Help", "win.help"},
                                          {"About Lithoscope", "win.about"},
                                          {NULL, NULL}};
    static const char *const times[][2] = {{"Time unit by length", "win.time-unit::auto"},
                                           {"Milliseconds", "win.time-unit::ms"},
                                           {"Seconds", "win.time-unit::s"},
                                           {NULL, NULL}};
    static const char *const lines[][2] = {{"Inline and crossline numbers", "win.lines::numbers"},
                                           {"Metres", "win.lines::metres"},
                                           {NULL, NULL}};
    static const char *const scripts[][2] = {
        {"Open…", "win.demo-open"}, {"Record what I do", "win.record"}, {NULL, NULL}};
    static const char *const gains[][2] = {{"None", "win.display-gain::none"},
                                           {"With time, t", "win.display-gain::t"},
                                           {"With time, t²", "win.display-gain::t2"},
                                           {"Automatic, 50 samples", "win.display-gain::agc50"},
                                           {"Automatic, 100 samples", "win.display-gain::agc100"},
                                           {"Automatic, 250 samples", "win.display-gain::agc250"},
                                           {NULL, NULL}};
    g_autoptr(GMenu) gain = g_menu_new();
    GMenu *menu = g_menu_new(), *appearance = g_menu_new(), *axes = g_menu_new();
    append_section(menu, file);
    append_section(menu, view);
    append_section(axes, times);
    append_section(axes, lines);
    append_section(gain, gains);
    g_menu_append_submenu(menu, "Gain of the picture", G_MENU_MODEL(gain));
    g_menu_append_submenu(menu, "Axes", G_MENU_MODEL(axes));
    GMenu *shows = litho_podium_menu();
    append_section(shows, scripts);
    g_menu_append_submenu(menu, "Demonstrations", G_MENU_MODEL(shows));
    g_object_unref(shows);
    append_section(appearance, look);
    g_menu_append_submenu(menu, "Appearance", G_MENU_MODEL(appearance));
    append_section(menu, help);
    GtkWidget *button = gtk_menu_button_new();
    gtk_menu_button_set_icon_name(GTK_MENU_BUTTON(button), "open-menu-symbolic");
    gtk_menu_button_set_menu_model(GTK_MENU_BUTTON(button), G_MENU_MODEL(menu));
    gtk_widget_set_tooltip_text(button, "Menu");
    litho_name_widget(button, "Menu");
    g_object_unref(menu);
    g_object_unref(appearance);
    g_object_unref(axes);
    return button;
}

static GtkWidget *make_titles(LithoWindow *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_widget_set_valign(box, GTK_ALIGN_CENTER);
    self->title = litho_label_new("Lithoscope", "heading");
    self->subtitle = litho_label_new(NULL, "litho-subtitle");
    gtk_label_set_ellipsize(GTK_LABEL(self->title), PANGO_ELLIPSIZE_MIDDLE);
    gtk_label_set_ellipsize(GTK_LABEL(self->subtitle), PANGO_ELLIPSIZE_END);
    gtk_label_set_max_width_chars(GTK_LABEL(self->title), 32);
    gtk_label_set_max_width_chars(GTK_LABEL(self->subtitle), 36);
    gtk_widget_set_visible(self->subtitle, FALSE);
    gtk_box_append(GTK_BOX(box), self->title);
    gtk_box_append(GTK_BOX(box), self->subtitle);
    return box;
}

static GtkWidget *make_header(LithoWindow *self)
{
    GtkWidget *header = gtk_header_bar_new();
    gtk_header_bar_pack_start(GTK_HEADER_BAR(header), make_open(self));
    gtk_header_bar_pack_start(GTK_HEADER_BAR(header), make_titles(self));
    gtk_header_bar_set_title_widget(GTK_HEADER_BAR(header), make_compare(self));
    gtk_header_bar_pack_end(GTK_HEADER_BAR(header), make_menu());
    gtk_header_bar_pack_end(GTK_HEADER_BAR(header), make_badge(self));
    self->redo =
        litho_action_button("edit-redo-symbolic", "Redo", "win.redo", "Redo (Ctrl+Shift+Z)");
    self->undo = litho_action_button("edit-undo-symbolic", "Undo", "win.undo", "Undo (Ctrl+Z)");
    GtkWidget *steps = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    gtk_widget_add_css_class(steps, "linked");
    gtk_box_append(GTK_BOX(steps), self->undo);
    gtk_box_append(GTK_BOX(steps), self->redo);
    GtkWidget *history = litho_history_button_new(self->session);
    g_object_bind_property(self->undo, "visible", history, "visible", G_BINDING_SYNC_CREATE);
    gtk_box_append(GTK_BOX(steps), history);
    gtk_header_bar_pack_end(GTK_HEADER_BAR(header), steps);
    return header;
}

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
    gtk_stack_add_named(GTK_STACK(self->stack), litho_start_page_new(self), "start");
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

static GtkWidget *make_panes(LithoWindow *self)
{
    GtkWidget *outer = gtk_paned_new(GTK_ORIENTATION_HORIZONTAL);
    GtkWidget *inner = gtk_paned_new(GTK_ORIENTATION_HORIZONTAL);
    self->left_pane = outer;
    self->right_pane = inner;
    self->left = make_left(self);
    self->right = make_right(self);
    gtk_paned_set_start_child(GTK_PANED(outer), self->left);
    gtk_paned_set_end_child(GTK_PANED(outer), inner);
    gtk_paned_set_start_child(GTK_PANED(inner), make_middle(self));
    gtk_paned_set_end_child(GTK_PANED(inner), self->right);
    GtkPaned *panes[] = {GTK_PANED(outer), GTK_PANED(inner)};
    for (int k = 0; k < 2; k++) {
        gtk_paned_set_shrink_start_child(panes[k], FALSE);
        gtk_paned_set_shrink_end_child(panes[k], FALSE);
    }
    gtk_paned_set_resize_start_child(panes[0], FALSE);
    gtk_paned_set_resize_end_child(panes[1], FALSE);
    gtk_widget_set_vexpand(outer, TRUE);
    return outer;
}

static void on_busy(gpointer window)
{
    litho_window_actions_update(window);
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
    gtk_window_set_titlebar(GTK_WINDOW(self), make_header(self));
    make_tellers(self);
    GtkWidget *bottom = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    self->status = litho_status_line_new(self->session);
    gtk_widget_set_hexpand(self->status, TRUE);
    gtk_box_append(GTK_BOX(bottom), litho_busy_line_words(self->busy));
    gtk_box_append(GTK_BOX(bottom), self->status);
    gtk_box_append(GTK_BOX(bottom), make_full_badge(self));
    gtk_widget_add_css_class(bottom, "litho-bottom");
    gtk_box_append(GTK_BOX(box), litho_busy_line_bar(self->busy));
    gtk_box_append(GTK_BOX(box), litho_bar_widget(self->offer));
    gtk_box_append(GTK_BOX(box), litho_bar_widget(self->notes));
    gtk_box_append(GTK_BOX(box), make_panes(self));
    gtk_box_append(GTK_BOX(box), bottom);
    gtk_window_set_child(GTK_WINDOW(self), box);
}

// --- recent files -------------------------------------------------------------------------------

// Of the items that are cubes: a file dialog adds what is chosen in it as well, before it is known
// whether it can be read, and pictures that are written.
static char cube_group[] = "lithoscope-cube";

static gboolean is_ours(GtkRecentInfo *info)
{
    return gtk_recent_info_has_application(info, g_get_application_name()) &&
           gtk_recent_info_has_group(info, cube_group) && gtk_recent_info_exists(info);
}

void litho_window_add_recent(const char *uri)
{
    char *groups[] = {cube_group, NULL};
    char type[] = "application/x-segy";
    g_autofree char *run = g_strdup_printf("%s %%u", g_get_prgname());
    g_autofree char *name = g_strdup(g_get_application_name());
    GtkRecentData data = {.mime_type = type, .app_name = name, .app_exec = run, .groups = groups};
    gtk_recent_manager_add_full(gtk_recent_manager_get_default(), uri, &data);
}

static int newest_first(gconstpointer a, gconstpointer b)
{
    return g_date_time_compare(gtk_recent_info_get_modified((GtkRecentInfo *)b),
                               gtk_recent_info_get_modified((GtkRecentInfo *)a));
}

// Ours, newest first; g_list_free_full() with gtk_recent_info_unref().
static GList *recent_files(void)
{
    GList *ours = NULL, *items = gtk_recent_manager_get_items(gtk_recent_manager_get_default());
    for (GList *k = items; k; k = k->next) {
        if (is_ours(k->data))
            ours = g_list_prepend(ours, k->data);
        else
            gtk_recent_info_unref(k->data);
    }
    g_list_free(items);
    return g_list_sort(ours, newest_first);
}

char *litho_window_last_path(void)
{
    GList *items = recent_files();
    char *path =
        items ? g_filename_from_uri(gtk_recent_info_get_uri(items->data), NULL, NULL) : NULL;
    g_list_free_full(items, (GDestroyNotify)gtk_recent_info_unref);
    return path;
}

static GtkWidget *recent_button(GtkRecentInfo *info, gboolean with_folder)
{
    g_autofree char *path = g_filename_from_uri(gtk_recent_info_get_uri(info), NULL, NULL);
    g_autofree char *folder = path ? g_path_get_dirname(path) : g_strdup("");
    GtkWidget *button = gtk_button_new(), *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    gtk_box_append(GTK_BOX(line), litho_label_new(gtk_recent_info_get_display_name(info), NULL));
    if (with_folder) {
        GtkWidget *where = litho_label_new(folder, "dim-label");
        gtk_label_set_ellipsize(GTK_LABEL(where), PANGO_ELLIPSIZE_START);
        gtk_label_set_max_width_chars(GTK_LABEL(where), 40);
        gtk_box_append(GTK_BOX(line), where);
    }
    gtk_button_set_child(GTK_BUTTON(button), line);
    gtk_widget_add_css_class(button, "flat");
    gtk_widget_set_tooltip_text(button, path);
    litho_name_widget(button, gtk_recent_info_get_display_name(info));
    gtk_actionable_set_action_name(GTK_ACTIONABLE(button), "win.open-path");
    gtk_actionable_set_action_target(GTK_ACTIONABLE(button), "s", path ? path : "");
    return button;
}

// At most `most` buttons into `box`, in place of what was there; returns how many.
static guint fill_recent(GtkWidget *box, guint most, gboolean with_folder)
{
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(box)))
        gtk_box_remove(GTK_BOX(box), child);
    GList *items = recent_files();
    guint n = 0;
    for (GList *k = items; k && n < most; k = k->next, n++)
        gtk_box_append(GTK_BOX(box), recent_button(k->data, with_folder));
    g_list_free_full(items, (GDestroyNotify)gtk_recent_info_unref);
    return n;
}

void litho_window_update_recent(LithoWindow *self)
{
    if (fill_recent(self->start_recent, 10, FALSE) == 0)
        gtk_box_append(GTK_BOX(self->start_recent),
                       litho_label_new("No recent files", "dim-label"));
}

void litho_window_update_start(LithoWindow *self)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *name = NULL, *about = litho_window_state_last(&name, &error);
    litho_start_page_update(self);
    gtk_widget_set_visible(self->start_continue, about != NULL);
    if (about) {
        g_autofree char *text = g_strdup_printf("%s\n%s", name, about);
        gtk_label_set_text(GTK_LABEL(self->start_continue_label), text);
        gtk_accessible_update_property(GTK_ACCESSIBLE(self->start_continue),
                                       GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
    }
    if (error)
        litho_window_show_error(self, error->message, NULL);
    guint n = fill_recent(self->start_list, 5, TRUE);
    gtk_widget_set_visible(self->start_list_title, n > 0);
}
