// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/snapshot_list.h"

#include <string.h>

#include "ui/panel/parts.h"
#include "ui/view/tooltip.h"

struct _LithoSnapshotList {
    GtkBox parent;
    LithoSnapshots *snapshots;
    GtkWidget *list, *scroll;
    char letters[LITHO_SNAPSHOTS_MAX + 1]; // of the rows, in order
    gboolean loading;
};

G_DEFINE_TYPE(LithoSnapshotList, litho_snapshot_list, GTK_TYPE_BOX)

static const char letter_key[] = "litho-letter", name_key[] = "litho-name",
                  compare_key[] = "litho-compare", mark_key[] = "litho-mark";

// Index of the snapshot a widget belongs to, -1 = it has gone.
static int index_of(LithoSnapshotList *self, gpointer widget)
{
    char letter = (char)GPOINTER_TO_INT(g_object_get_data(G_OBJECT(widget), letter_key));
    for (guint k = 0; k < litho_snapshots_count(self->snapshots); k++)
        if (litho_snapshots_get(self->snapshots, k)->letter == letter)
            return k;
    return -1;
}

// --- one row ------------------------------------------------------------------------------------

static void on_named(GtkEditableLabel *name, GParamSpec *spec, LithoSnapshotList *self)
{
    (void)spec;
    int k = index_of(self, name);
    if (!self->loading && k >= 0 && !gtk_editable_label_get_editing(name))
        litho_snapshots_rename(self->snapshots, k, gtk_editable_get_text(GTK_EDITABLE(name)));
}

static void on_compare(GtkToggleButton *button, LithoSnapshotList *self)
{
    if (!self->loading)
        litho_snapshots_compare(self->snapshots,
                                gtk_toggle_button_get_active(button) ? index_of(self, button) : -1);
}

static void on_remove(GtkButton *button, LithoSnapshotList *self)
{
    int k = index_of(self, button);
    if (k >= 0)
        litho_snapshots_remove(self->snapshots, k);
}

static void tag(GtkWidget *widget, char letter)
{
    g_object_set_data(G_OBJECT(widget), letter_key, GINT_TO_POINTER((int)letter));
}

static GtkWidget *make_name(LithoSnapshotList *self, const LithoSnapshot *s)
{
    GtkWidget *name = gtk_editable_label_new(s->name);
    gtk_widget_set_hexpand(name, TRUE);
    gtk_editable_set_max_width_chars(GTK_EDITABLE(name), 12);
    g_autofree char *label = g_strdup_printf("Name of snapshot %c", s->letter);
    litho_name_widget(name, label);
    g_signal_connect(name, "notify::editing", G_CALLBACK(on_named), self);
    return name;
}

static GtkWidget *make_row(LithoSnapshotList *self, const LithoSnapshot *s)
{
    GtkWidget *row = gtk_list_box_row_new(), *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    char letter[2] = {s->letter, 0};
    GtkWidget *mark = gtk_label_new(letter), *name = make_name(self, s);
    gtk_widget_add_css_class(mark, "litho-letter");
    gtk_widget_set_valign(mark, GTK_ALIGN_CENTER);
    g_autofree char *comparing = g_strdup_printf("Compare the output with snapshot %c", s->letter);
    GtkWidget *compare = gtk_toggle_button_new();
    gtk_button_set_icon_name(GTK_BUTTON(compare), "view-dual-symbolic");
    gtk_widget_add_css_class(compare, "flat");
    gtk_widget_set_valign(compare, GTK_ALIGN_CENTER);
    litho_name_widget(compare, comparing);
    gtk_widget_set_tooltip_text(compare, comparing);
    g_signal_connect(compare, "toggled", G_CALLBACK(on_compare), self);
    g_autofree char *removing = g_strdup_printf("Remove snapshot %c", s->letter);
    GtkWidget *remove = litho_icon_button_new("window-close-symbolic", removing, removing);
    g_signal_connect(remove, "clicked", G_CALLBACK(on_remove), self);
    GtkWidget *all[] = {row, name, compare, remove};
    for (guint k = 0; k < G_N_ELEMENTS(all); k++)
        tag(all[k], s->letter);
    g_object_set_data(G_OBJECT(row), name_key, name);
    g_object_set_data(G_OBJECT(row), compare_key, compare);
    g_object_set_data(G_OBJECT(row), mark_key, mark);
    gtk_box_append(GTK_BOX(line), mark);
    gtk_box_append(GTK_BOX(line), name);
    gtk_box_append(GTK_BOX(line), compare);
    gtk_box_append(GTK_BOX(line), remove);
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), line);
    return row;
}

// --- the list -----------------------------------------------------------------------------------

static void rebuild(LithoSnapshotList *self)
{
    guint n = litho_snapshots_count(self->snapshots);
    char letters[LITHO_SNAPSHOTS_MAX + 1] = "";
    for (guint k = 0; k < n; k++)
        letters[k] = litho_snapshots_get(self->snapshots, k)->letter;
    if (strcmp(letters, self->letters) == 0)
        return;
    memcpy(self->letters, letters, sizeof letters);
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(self->list)))
        gtk_list_box_remove(GTK_LIST_BOX(self->list), child);
    for (guint k = 0; k < n; k++)
        gtk_list_box_append(GTK_LIST_BOX(self->list),
                            make_row(self, litho_snapshots_get(self->snapshots, k)));
    gtk_widget_set_visible(self->scroll, n > 0);
}

static void show_row(LithoSnapshotList *self, GtkListBoxRow *row, guint k)
{
    const LithoSnapshot *s = litho_snapshots_get(self->snapshots, k);
    GtkWidget *name = g_object_get_data(G_OBJECT(row), name_key);
    GtkWidget *mark = g_object_get_data(G_OBJECT(row), mark_key);
    gboolean present = litho_snapshots_present(self->snapshots) == (int)k;
    if (!gtk_editable_label_get_editing(GTK_EDITABLE_LABEL(name)) &&
        strcmp(gtk_editable_get_text(GTK_EDITABLE(name)), s->name) != 0)
        gtk_editable_set_text(GTK_EDITABLE(name), s->name);
    gtk_toggle_button_set_active(g_object_get_data(G_OBJECT(row), compare_key),
                                 litho_snapshots_compared(self->snapshots) == (int)k);
    if (present)
        gtk_widget_add_css_class(mark, "litho-present");
    else
        gtk_widget_remove_css_class(mark, "litho-present");
    g_autofree char *tip = g_strdup_printf("%s\n%s%s", s->name,
                                           present ? "Shown now" : "Click or Enter goes back to it",
                                           s->result ? "; its result is kept" : "");
    litho_set_tooltip(GTK_WIDGET(row), tip);
    g_autofree char *label =
        g_strdup_printf("Snapshot %c: %s%s", s->letter, s->name, present ? ", shown now" : "");
    litho_name_widget(GTK_WIDGET(row), label);
}

static void on_changed(LithoSnapshotList *self)
{
    self->loading = TRUE;
    rebuild(self);
    for (guint k = 0; k < litho_snapshots_count(self->snapshots); k++)
        show_row(self, gtk_list_box_get_row_at_index(GTK_LIST_BOX(self->list), k), k);
    gtk_widget_set_visible(GTK_WIDGET(self), litho_snapshots_useful(self->snapshots));
    self->loading = FALSE;
}

static void on_activated(GtkListBox *list, GtkListBoxRow *row, LithoSnapshotList *self)
{
    (void)list;
    int k = index_of(self, row);
    if (k >= 0)
        litho_snapshots_adopt(self->snapshots, k);
}

// Delete removes the row with the focus; F2 edits its name.
static gboolean on_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
                       LithoSnapshotList *self)
{
    (void)keys;
    (void)code;
    (void)state;
    GtkWidget *row = gtk_widget_get_focus_child(self->list);
    int k = row ? index_of(self, row) : -1;
    if (k < 0 || !gtk_widget_has_focus(row))
        return FALSE;
    if (key == GDK_KEY_Delete) {
        litho_snapshots_remove(self->snapshots, k);
        return TRUE;
    }
    if (key != GDK_KEY_F2)
        return FALSE;
    gtk_editable_label_start_editing(g_object_get_data(G_OBJECT(row), name_key));
    return TRUE;
}

static GtkWidget *make_header(void)
{
    GtkWidget *take = litho_icon_button_new("camera-photo-symbolic", "Keep a snapshot",
                                            "Keep the flow as it stands, to come back to it and to "
                                            "compare with it (K)");
    gtk_actionable_set_action_name(GTK_ACTIONABLE(take), "win.snapshot");
    return litho_panel_title_new(gtk_label_new("Snapshots"), take);
}

static void litho_snapshot_list_init(LithoSnapshotList *self)
{
    gtk_orientable_set_orientation(GTK_ORIENTABLE(self), GTK_ORIENTATION_VERTICAL);
    gtk_widget_add_css_class(GTK_WIDGET(self), "litho-panel");
    self->list = gtk_list_box_new();
    gtk_list_box_set_selection_mode(GTK_LIST_BOX(self->list), GTK_SELECTION_NONE);
    gtk_widget_add_css_class(self->list, "litho-flow");
    litho_name_widget(self->list, "Snapshots");
    g_signal_connect(self->list, "row-activated", G_CALLBACK(on_activated), self);
    GtkEventController *keys = gtk_event_controller_key_new();
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), self);
    gtk_widget_add_controller(self->list, keys);
    self->scroll = gtk_scrolled_window_new();
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(self->scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(self->scroll), TRUE);
    gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(self->scroll), 140);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(self->scroll), self->list);
    gtk_widget_set_visible(self->scroll, FALSE);
    gtk_box_append(GTK_BOX(self), make_header());
    gtk_box_append(GTK_BOX(self), self->scroll);
}

static void dispose(GObject *object)
{
    g_clear_object(&LITHO_SNAPSHOT_LIST(object)->snapshots);
    G_OBJECT_CLASS(litho_snapshot_list_parent_class)->dispose(object);
}

static void litho_snapshot_list_class_init(LithoSnapshotListClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
}

GtkWidget *litho_snapshot_list_new(LithoSnapshots *snapshots)
{
    LithoSnapshotList *self = g_object_new(LITHO_TYPE_SNAPSHOT_LIST, NULL);
    self->snapshots = g_object_ref(snapshots);
    g_signal_connect_object(snapshots, "changed", G_CALLBACK(on_changed), self, G_CONNECT_SWAPPED);
    on_changed(self);
    return GTK_WIDGET(self);
}
