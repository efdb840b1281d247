// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/header.h"

#include <string.h>

#include "core/axis_names.h"
#include "core/text.h"
#include "render/ticks.h"
#include "ui/panel/history_list.h"
#include "ui/panel/parts.h"
#include "ui/view/tooltip.h"
#include "ui/window/bar.h"
#include "ui/window/main_menu.h"
#include "ui/window/recent.h"

// A window cannot be made narrower than its header: that has to shrink a little before.
enum { SLACK = 24 };

struct LithoHeader {
    GtkWindow *window;
    LithoSession *session;
    GtkWidget *bar, *recent, *title, *subtitle, *compare[5], *similarity, *volumes;
    GtkWidget *badge, *badge_label, *full_badge, *undo, *redo, *menu;
    int width; // that the header was fitted into; 0 = not yet
};

// --- widgets ------------------------------------------------------------------------------------

static void fill_recent(LithoHeader *self)
{
    if (litho_recent_fill(self->recent, 10, FALSE) == 0)
        gtk_box_append(GTK_BOX(self->recent), litho_label_new(_("No recent files"), "dim-label"));
}

static GtkWidget *make_open(LithoHeader *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    gtk_widget_add_css_class(box, "linked");
    gtk_box_append(GTK_BOX(box), litho_action_button(NULL, _("Open"), "win.open",
                                                     _("Open a seismic cube (Ctrl+O)")));
    GtkWidget *recent = gtk_menu_button_new(), *popover = gtk_popover_new();
    self->recent = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_popover_set_child(GTK_POPOVER(popover), self->recent);
    gtk_menu_button_set_popover(GTK_MENU_BUTTON(recent), popover);
    litho_set_short_tooltip(recent, _("Recent files"));
    litho_name_widget(recent, _("Recent files"));
    g_signal_connect_swapped(popover, "show", G_CALLBACK(fill_recent), self);
    gtk_box_append(GTK_BOX(box), recent);
    return box;
}

static GtkWidget *make_similarity(LithoHeader *self)
{
    GtkWidget *button = gtk_toggle_button_new_with_label(_("Similarity"));
    gtk_actionable_set_action_name(GTK_ACTIONABLE(button), "win.similarity");
    self->similarity = button;
    gtk_widget_set_valign(button, GTK_ALIGN_CENTER);
    litho_set_short_tooltip(button, _("Where output and removed are alike: signal leaves (L)"));
    return button;
}

static const char *compare_tip(LithoShow show)
{
    static const char *const tips[] = {
        N_("Input (hold Space)"), N_("Output"),
        N_("What the flow removed: input minus output (D); } shows it stronger, { weaker"),
        N_("Input left, output right of a divider (S)"), N_("Input and output side by side")};
    return litho_text(tips[show]);
}

// One of five volumes is compared; the similarity lies over any of them, and so stands apart.
static GtkWidget *make_compare(LithoHeader *self)
{
    GtkWidget *all = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    gtk_widget_add_css_class(box, "linked");
    gtk_widget_set_valign(box, GTK_ALIGN_CENTER);
    for (int k = 0; k < 5; k++) {
        const char *name = litho_show_name(k);
        g_autofree char *action = g_strdup_printf("win.show::%s", litho_show_keys[k]);
        GtkWidget *button = gtk_toggle_button_new_with_label(name);
        gtk_actionable_set_detailed_action_name(GTK_ACTIONABLE(button), action);
        litho_set_short_tooltip(button, compare_tip(k));
        gtk_box_append(GTK_BOX(box), button);
        self->compare[k] = button;
    }
    self->volumes = gtk_menu_button_new();
    gtk_widget_set_visible(self->volumes, FALSE);
    litho_name_widget(self->volumes, _("Shown volume"));
    litho_set_short_tooltip(self->volumes,
                            _("The result, or a volume that a step gives beside it"));
    gtk_box_append(GTK_BOX(box), self->volumes);
    gtk_box_append(GTK_BOX(all), box);
    gtk_box_append(GTK_BOX(all), make_similarity(self));
    return all;
}

static void fill_volumes(LithoHeader *self)
{
    g_autofree const char **names = litho_flow_volumes(litho_session_flow(self->session));
    const char *shown = litho_session_volume(self->session);
    g_autofree char *all = g_strjoinv("\n", (char **)names);
    gtk_widget_set_visible(self->volumes, names[0] != NULL);
    g_autofree char *label = litho_volume_title(shown ? shown : N_("Result"));
    if (g_strcmp0(gtk_menu_button_get_label(GTK_MENU_BUTTON(self->volumes)), label) != 0)
        gtk_menu_button_set_label(GTK_MENU_BUTTON(self->volumes), label);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->volumes), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Shown volume"), -1);
    if (g_strcmp0(g_object_get_data(G_OBJECT(self->volumes), "names"), all) == 0)
        return;
    g_object_set_data_full(G_OBJECT(self->volumes), "names", g_steal_pointer(&all), g_free);
    GMenu *menu = g_menu_new();
    g_menu_append(menu, _("Result"), "win.volume::");
    for (const char **name = names; *name; name++) {
        g_autofree char *title = litho_volume_title(*name);
        g_autoptr(GMenuItem) item = g_menu_item_new(title, NULL);
        g_menu_item_set_action_and_target(item, "win.volume", "s", *name);
        g_menu_append_item(menu, item);
    }
    gtk_menu_button_set_menu_model(GTK_MENU_BUTTON(self->volumes), G_MENU_MODEL(menu));
    g_object_unref(menu);
}

static void fill_badge(LithoHeader *self)
{
    const int gpus = litho_session_gpus(self->session);
    GMenuModel *old = gtk_menu_button_get_menu_model(GTK_MENU_BUTTON(self->badge));
    if (old && g_menu_model_get_n_items(old) == (gpus > 1 ? gpus + 3 : 3))
        return;
    GMenu *menu = g_menu_new();
    g_menu_append(menu, _("Automatic"), "win.device::auto");
    if (gpus < 2)
        g_menu_append(menu, "GPU", "win.device::cuda");
    for (int k = 0; gpus > 1 && k < gpus; k++) {
        g_autofree char *title = g_strdup_printf("GPU %d", k);
        g_autofree char *action = g_strdup_printf("win.device::cuda:%d", k);
        g_menu_append(menu, title, action);
    }
    g_autofree char *all = g_strdup_printf(_("All %d GPUs"), gpus);
    if (gpus > 1)
        g_menu_append(menu, all, "win.device::cuda:all");
    g_menu_append(menu, "CPU", "win.device::cpu");
    gtk_menu_button_set_menu_model(GTK_MENU_BUTTON(self->badge), G_MENU_MODEL(menu));
    g_object_unref(menu);
}

static GtkWidget *make_badge(LithoHeader *self)
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
static void make_full_badge(LithoHeader *self)
{
    GtkWidget *label = litho_label_new(NULL, "litho-full-badge");
    g_object_bind_property(self->badge_label, "label", label, "label", G_BINDING_SYNC_CREATE);
    g_object_bind_property(self->window, "fullscreened", label, "visible", G_BINDING_SYNC_CREATE);
    gtk_widget_set_valign(label, GTK_ALIGN_CENTER);
    self->full_badge = label;
}

static GtkWidget *make_titles(LithoHeader *self)
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

static GtkWidget *make_header(LithoHeader *self)
{
    GtkWidget *header = gtk_header_bar_new();
    gtk_header_bar_pack_start(GTK_HEADER_BAR(header), make_open(self));
    gtk_header_bar_pack_start(GTK_HEADER_BAR(header), make_titles(self));
    gtk_header_bar_set_title_widget(GTK_HEADER_BAR(header), make_compare(self));
    self->menu = litho_main_menu_new();
    gtk_header_bar_pack_end(GTK_HEADER_BAR(header), self->menu);
    gtk_header_bar_pack_end(GTK_HEADER_BAR(header), make_badge(self));
    self->redo =
        litho_action_button("edit-redo-symbolic", _("Redo"), "win.redo", _("Redo (Ctrl+Shift+Z)"));
    self->undo =
        litho_action_button("edit-undo-symbolic", _("Undo"), "win.undo", _("Undo (Ctrl+Z)"));
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

LithoHeader *litho_header_new(GtkWindow *window, LithoSession *session)
{
    LithoHeader *self = g_new0(LithoHeader, 1);
    self->window = window;
    self->session = session;
    self->bar = make_header(self);
    make_full_badge(self);
    g_object_set_data_full(G_OBJECT(self->bar), "litho-header", self, g_free);
    return self;
}

GtkWidget *litho_header_widget(const LithoHeader *self)
{
    return self->bar;
}

GtkWidget *litho_header_full_badge(const LithoHeader *self)
{
    return self->full_badge;
}

void litho_header_open_menu(const LithoHeader *self)
{
    if (gtk_widget_get_mapped(self->menu)) // a full screen has no header
        gtk_menu_button_popup(GTK_MENU_BUTTON(self->menu));
}

const char *litho_header_title(const LithoHeader *self)
{
    return gtk_label_get_text(GTK_LABEL(self->title));
}

// --- telling -------------------------------------------------------------------------------------

// Title of the operator that makes the cube on show, where it is not made from the file that is
// open; else NULL.
static const char *source_shown(LithoSession *session)
{
    const LithoFlow *flow = litho_session_flow(session);
    if (!litho_session_result(session) || litho_session_shown(session) == LITHO_SHOW_INPUT)
        return NULL;
    const LithoStep *source = litho_flow_source(flow);
    return source ? litho_text(source->op->title) : NULL;
}

static gboolean set_text(GtkWidget *label, const char *text)
{
    if (g_str_equal(gtk_label_get_text(GTK_LABEL(label)), text))
        return FALSE;
    gtk_label_set_text(GTK_LABEL(label), text);
    return TRUE;
}

void litho_header_show_title(LithoHeader *self, guint files)
{
    LithoCube *cube = litho_session_input(self->session);
    const char *source = source_shown(self->session);
    const LithoGrid *grid = cube && !source ? &cube->grid : litho_session_grid(self->session);
    const gboolean named = source || (cube && *cube->name);
    gtk_widget_set_visible(self->subtitle, grid != NULL);
    g_autofree char *name = !named   ? g_strdup("Lithoscope")
                            : source ? g_strdup(source)
                            : files > 1
                                ? g_strdup_printf(_("%s and %u more"), cube->name, files - 1)
                                : g_strdup(cube->name);
    gboolean other = set_text(self->title, name);
    litho_set_short_tooltip(self->title, named ? name : NULL);
    g_autofree char *window_title =
        named ? g_strdup_printf(_("%s – Lithoscope"), name) : g_strdup("Lithoscope");
    gtk_window_set_title(self->window, window_title);
    if (!grid)
        return;
    char sizes[3][32], step[32];
    for (int a = 0; a < 3; a++)
        litho_format_number(sizes[a], sizeof sizes[a], grid->axis[a].n, 1);
    // An interval is told in milliseconds, also of records so long that their axis has seconds.
    LithoAxisText how = litho_axis_text(grid, LITHO_SAMPLE, LITHO_UNITS_MS);
    litho_text_put(step, sizeof step, "%.4g %s", grid->axis[2].step * how.factor, how.unit);
    g_autofree char *text =
        g_strdup_printf("%s × %s × %s · %s", sizes[0], sizes[1], sizes[2], step);
    other = set_text(self->subtitle, text) || other;
    g_autofree char *lines = litho_axis_words(grid, LITHO_INLINE);
    g_autofree char *traces = litho_axis_words(grid, LITHO_XLINE);
    g_autofree char *tip = g_strdup_printf(_("%s × %s × samples · sample interval"), lines, traces);
    litho_set_short_tooltip(self->subtitle, tip);
    if (other && self->width > 0)
        litho_header_fit(self, self->width);
}

void litho_header_show_device(LithoHeader *self)
{
    const char *why;
    const char *label = litho_session_device_label(self->session, &why);
    fill_badge(self);
    gtk_label_set_text(GTK_LABEL(self->badge_label), label ? label : "");
    // Who computes is read at a glance: the file's name gives way to it.
    gtk_label_set_width_chars(GTK_LABEL(self->badge_label),
                              MIN(label ? (int)g_utf8_strlen(label, -1) : 0, 13));
    if (why)
        gtk_widget_add_css_class(self->badge, "litho-amber");
    else
        gtk_widget_remove_css_class(self->badge, "litho-amber");
    if (why)
        gtk_widget_add_css_class(self->full_badge, "litho-amber");
    else
        gtk_widget_remove_css_class(self->full_badge, "litho-amber");
    g_autofree char *tip = why ? g_strdup_printf(_("Computed by %s: %s"), label, why)
                               : g_strdup_printf(_("Computed by %s"), label);
    litho_set_tooltip(self->badge, tip);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->badge), GTK_ACCESSIBLE_PROPERTY_LABEL, tip,
                                   -1);
}

void litho_header_show_compare(LithoHeader *self)
{
    static const LithoShow named[] = {LITHO_SHOW_INPUT, LITHO_SHOW_REMOVED};
    const char *other = litho_session_reference_name(self->session);
    for (guint k = 0; k < G_N_ELEMENTS(named); k++) {
        const char *plain = litho_show_name(named[k]);
        g_autofree char *name = !other                           ? g_strdup(plain)
                                : named[k] == LITHO_SHOW_REMOVED ? g_strdup(_("Difference"))
                                                                 : g_strdup(other);
        gtk_button_set_label(GTK_BUTTON(self->compare[named[k]]), name);
        g_autofree char *tip =
            !other                           ? g_strdup(compare_tip(named[k]))
            : named[k] == LITHO_SHOW_REMOVED ? g_strdup_printf(_("Output minus %s (D)"), other)
                                             : g_strdup_printf(_("%s (hold Space)"), other);
        litho_set_short_tooltip(self->compare[named[k]], tip);
    }
    gboolean has = litho_session_grid(self->session) != NULL;
    gboolean comparable = litho_session_comparable(self->session);
    for (int k = 0; k < 5; k++) {
        // Without an operator there is no output: the button would do nothing.
        gboolean single =
            k == LITHO_SHOW_INPUT ||
            (k == LITHO_SHOW_OUTPUT && litho_flow_length(litho_session_flow(self->session)) > 0);
        gboolean beside = k == LITHO_SHOW_SIDE && litho_session_side_by_side(self->session);
        gtk_widget_set_sensitive(self->compare[k], has && (single || comparable || beside));
    }
    fill_volumes(self);
    if (self->width > 0) // names and the menu of volumes take room
        litho_header_fit(self, self->width);
}

// --- room ---------------------------------------------------------------------------------------

gboolean litho_header_is_whole(const LithoHeader *self)
{
    return gtk_widget_get_visible(self->undo);
}

static void set_whole(LithoHeader *self, gboolean whole)
{
    gtk_widget_set_visible(self->undo, whole);
    gtk_widget_set_visible(self->redo, whole);
    gtk_widget_set_visible(self->similarity, whole);
    gtk_widget_set_visible(gtk_widget_get_parent(self->title), whole);
}

static void set_brief(LithoHeader *self, gboolean brief)
{
    gtk_button_set_label(GTK_BUTTON(self->compare[LITHO_SHOW_SIDE]),
                         brief ? _("Side") : litho_show_name(LITHO_SHOW_SIDE));
}

// Narrowest header, with the whole name of the file.
static int least_width(const LithoHeader *self)
{
    int bar, least, natural;
    gtk_widget_measure(self->bar, GTK_ORIENTATION_HORIZONTAL, -1, &bar, NULL, NULL, NULL);
    gtk_widget_measure(gtk_widget_get_parent(self->title), GTK_ORIENTATION_HORIZONTAL, -1, &least,
                       &natural, NULL, NULL);
    return bar + natural - least;
}

// The name of the file where there is room for some of it: a window without a bar of its own shows
// it nowhere else.
static void show_name(LithoHeader *self, int width)
{
    enum { SOME = 120 };
    int least;
    gtk_widget_measure(self->bar, GTK_ORIENTATION_HORIZONTAL, -1, &least, NULL, NULL, NULL);
    gtk_widget_set_visible(gtk_widget_get_parent(self->title), least + SOME <= width);
}

// A button with a long name gives way to the file's name first. Undo, redo and the similarity have
// keys; what is compared and who computes has to be seen.
void litho_header_fit(LithoHeader *self, int width)
{
    int least;
    self->width = width;
    set_whole(self, TRUE);
    set_brief(self, FALSE);
    // A window that is made narrower stops where its header does, and asks once: both go then.
    gtk_widget_measure(self->bar, GTK_ORIENTATION_HORIZONTAL, -1, &least, NULL, NULL, NULL);
    const gboolean whole = least + SLACK <= width, brief = least_width(self) + SLACK > width;
    set_whole(self, whole);
    set_brief(self, brief || !whole);
    if (!whole)
        show_name(self, width);
}
