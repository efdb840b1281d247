// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/snapshot_bar.h"

#include <math.h>
#include <string.h>

#include "core/text.h"
#include "ui/panel/parts.h"
#include "ui/view/tooltip.h"

struct _LithoSnapshotBar {
    GtkBox parent;
    LithoSnapshots *snapshots;
    GtkWidget *chips, *hint;
    char letters[LITHO_SNAPSHOTS_MAX + 1]; // of the chips, in order
    gboolean loading;
};

G_DEFINE_TYPE(LithoSnapshotBar, litho_snapshot_bar, GTK_TYPE_BOX)

static const char letter_key[] = "litho-letter", parts_key[] = "litho-chip";

typedef struct Chip {
    GtkWidget *go, *name, *mark, *menu, *popover, *entry, *compare;
} Chip;

// Index of the snapshot a widget belongs to, -1 = it has gone.
static int index_of(LithoSnapshotBar *self, gpointer widget)
{
    char letter = (char)GPOINTER_TO_INT(g_object_get_data(G_OBJECT(widget), letter_key));
    for (guint k = 0; k < litho_snapshots_count(self->snapshots); k++)
        if (litho_snapshots_get(self->snapshots, k)->letter == letter)
            return k;
    return -1;
}

// --- what a chip does ---------------------------------------------------------------------------

static void on_go(GtkButton *button, LithoSnapshotBar *self)
{
    int k = index_of(self, button);
    if (k >= 0)
        litho_snapshots_adopt(self->snapshots, k);
}

static void on_named(GtkEditable *entry, LithoSnapshotBar *self)
{
    int k = index_of(self, entry);
    const char *name = gtk_editable_get_text(entry);
    if (!self->loading && k >= 0 && *name)
        litho_snapshots_rename(self->snapshots, k, name);
}

static void on_entered(GtkEntry *entry, LithoSnapshotBar *self)
{
    (void)self;
    GtkWidget *popover = gtk_widget_get_ancestor(GTK_WIDGET(entry), GTK_TYPE_POPOVER);
    gtk_popover_popdown(GTK_POPOVER(popover));
}

static void on_compare(GtkCheckButton *button, LithoSnapshotBar *self)
{
    if (!self->loading)
        litho_snapshots_compare(self->snapshots,
                                gtk_check_button_get_active(button) ? index_of(self, button) : -1);
}

static void on_remove(GtkButton *button, LithoSnapshotBar *self)
{
    int k = index_of(self, button);
    if (k >= 0)
        litho_snapshots_remove(self->snapshots, k);
}

// Delete removes the chip that has the focus in one of its two buttons; F2 opens its menu, with the
// keyboard on the name.
static gboolean on_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
                       LithoSnapshotBar *self)
{
    (void)code;
    (void)state;
    GtkWidget *part = gtk_event_controller_get_widget(GTK_EVENT_CONTROLLER(keys));
    const Chip *chip = g_object_get_data(G_OBJECT(part), parts_key);
    int k = index_of(self, part);
    if (k < 0 || gtk_widget_get_visible(chip->popover) ||
        (key != GDK_KEY_Delete && key != GDK_KEY_F2))
        return FALSE;
    if (key == GDK_KEY_Delete)
        litho_snapshots_remove(self->snapshots, k);
    else
        gtk_menu_button_popup(GTK_MENU_BUTTON(chip->menu));
    return TRUE;
}

// --- one chip -----------------------------------------------------------------------------------

static void tag(gpointer widget, char letter)
{
    g_object_set_data(G_OBJECT(widget), letter_key, GINT_TO_POINTER((int)letter));
}

static void listen(LithoSnapshotBar *self, GtkWidget *part, Chip *chip, char letter)
{
    GtkEventController *keys = gtk_event_controller_key_new();
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), self);
    gtk_widget_add_controller(part, keys);
    tag(part, letter);
    g_object_set_data(G_OBJECT(part), parts_key, chip);
}

static GtkWidget *make_menu(LithoSnapshotBar *self, Chip *chip, const LithoSnapshot *s)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    GtkWidget *remove = gtk_button_new_with_label(_("Remove"));
    g_autofree char *name = g_strdup_printf(_("Name of snapshot %c"), s->letter);
    chip->entry = gtk_entry_new();
    gtk_editable_set_text(GTK_EDITABLE(chip->entry), s->name);
    gtk_editable_set_width_chars(GTK_EDITABLE(chip->entry), 28);
    litho_name_widget(chip->entry, name);
    chip->compare = gtk_check_button_new_with_label(_("Compare the output with it"));
    gtk_widget_add_css_class(remove, "flat");
    g_signal_connect(chip->entry, "changed", G_CALLBACK(on_named), self);
    g_signal_connect(chip->entry, "activate", G_CALLBACK(on_entered), self);
    g_signal_connect(chip->compare, "toggled", G_CALLBACK(on_compare), self);
    g_signal_connect(remove, "clicked", G_CALLBACK(on_remove), self);
    gtk_box_append(GTK_BOX(box), chip->entry);
    gtk_box_append(GTK_BOX(box), chip->compare);
    gtk_box_append(GTK_BOX(box), remove);
    tag(chip->entry, s->letter);
    tag(chip->compare, s->letter);
    tag(remove, s->letter);
    chip->popover = gtk_popover_new();
    gtk_popover_set_child(GTK_POPOVER(chip->popover), box);
    chip->menu = gtk_menu_button_new();
    gtk_menu_button_set_popover(GTK_MENU_BUTTON(chip->menu), chip->popover);
    g_autofree char *label = g_strdup_printf(_("Menu of snapshot %c"), s->letter);
    litho_name_widget(chip->menu, label);
    litho_set_short_tooltip(chip->menu, _("Compare, rename, remove (F2)"));
    listen(self, chip->menu, chip, s->letter);
    return chip->menu;
}

static GtkWidget *make_chip(LithoSnapshotBar *self, const LithoSnapshot *s)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    Chip *chip = g_new0(Chip, 1);
    char letter[2] = {s->letter, 0};
    chip->mark = litho_label_new(letter, "litho-letter");
    gtk_label_set_xalign(GTK_LABEL(chip->mark), 0.5);
    gtk_widget_set_valign(chip->mark, GTK_ALIGN_CENTER);
    chip->name = litho_label_new(s->name, NULL);
    // A name ends in the value that was changed: the middle is what may go.
    gtk_label_set_ellipsize(GTK_LABEL(chip->name), PANGO_ELLIPSIZE_MIDDLE);
    gtk_label_set_max_width_chars(GTK_LABEL(chip->name), 26);
    gtk_box_append(GTK_BOX(line), chip->mark);
    gtk_box_append(GTK_BOX(line), chip->name);
    chip->go = gtk_button_new();
    gtk_button_set_child(GTK_BUTTON(chip->go), line);
    g_signal_connect(chip->go, "clicked", G_CALLBACK(on_go), self);
    listen(self, chip->go, chip, s->letter);
    gtk_widget_add_css_class(box, "linked");
    gtk_widget_add_css_class(box, "litho-chip");
    gtk_widget_set_valign(box, GTK_ALIGN_CENTER);
    gtk_box_append(GTK_BOX(box), chip->go);
    gtk_box_append(GTK_BOX(box), make_menu(self, chip, s));
    g_object_set_data_full(G_OBJECT(box), parts_key, chip, g_free);
    return box;
}

static void set_class(GtkWidget *widget, const char *css, gboolean on)
{
    if (on)
        gtk_widget_add_css_class(widget, css);
    else
        gtk_widget_remove_css_class(widget, css);
}

// "computing Window 12 traces, 34 %".
static char *computing_text(const char *name, double part)
{
    return isnan(part) ? g_strdup_printf(_("computing %s"), name)
                       : litho_text_printf(_("computing %s, %.0f %%"), name, 100 * part);
}

static void show_chip(LithoSnapshotBar *self, GtkWidget *box, guint k)
{
    const LithoSnapshot *s = litho_snapshots_get(self->snapshots, k);
    Chip *chip = g_object_get_data(G_OBJECT(box), parts_key);
    gboolean present = litho_snapshots_present(self->snapshots) == (int)k;
    gboolean compared = litho_snapshots_compared(self->snapshots) == (int)k;
    double part;
    const gboolean computing = compared && litho_snapshots_is_computing(self->snapshots, &part);
    g_autofree char *shown = computing  ? computing_text(s->name, part)
                             : compared ? g_strdup_printf(_("vs %s"), s->name)
                                        : g_strdup(s->name);
    gtk_label_set_text(GTK_LABEL(chip->name), shown);
    if (!gtk_widget_get_mapped(chip->entry)) // not while it is being typed
        gtk_editable_set_text(GTK_EDITABLE(chip->entry), s->name);
    gtk_check_button_set_active(GTK_CHECK_BUTTON(chip->compare), compared);
    set_class(chip->mark, "litho-present", present);
    set_class(box, "litho-compared", compared);
    g_autofree char *tip = g_strdup_printf(
        "%s\n%s%s%s", s->name, present ? _("Shown now") : _("Click or Enter goes back to it"),
        computing  ? _("; it is being computed for the comparison, Escape stops that")
        : compared ? _("; the output is compared with it")
                   : "",
        s->result ? _("; its result is kept") : "");
    g_autofree char *label =
        g_strdup_printf(_("Snapshot %c: %s%s%s"), s->letter, s->name,
                        present ? _(", shown now") : "", compared ? _(", compared with") : "");
    litho_set_tooltip(chip->go, tip);
    litho_name_widget(chip->go, label);
}

// --- the bar ------------------------------------------------------------------------------------

static void rebuild(LithoSnapshotBar *self)
{
    guint n = litho_snapshots_count(self->snapshots);
    char letters[LITHO_SNAPSHOTS_MAX + 1] = "";
    for (guint k = 0; k < n; k++)
        letters[k] = litho_snapshots_get(self->snapshots, k)->letter;
    gtk_widget_set_visible(self->hint, n == 0);
    // Tab would stop at a scrolled window in which nothing takes it.
    gtk_widget_set_can_focus(gtk_widget_get_ancestor(self->chips, GTK_TYPE_SCROLLED_WINDOW), n > 0);
    if (strcmp(letters, self->letters) == 0)
        return;
    memcpy(self->letters, letters, sizeof letters);
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(self->chips)))
        gtk_box_remove(GTK_BOX(self->chips), child);
    for (guint k = 0; k < n; k++)
        gtk_box_append(GTK_BOX(self->chips),
                       make_chip(self, litho_snapshots_get(self->snapshots, k)));
}

static void on_changed(LithoSnapshotBar *self)
{
    self->loading = TRUE;
    rebuild(self);
    GtkWidget *child = gtk_widget_get_first_child(self->chips);
    for (guint k = 0; child; k++, child = gtk_widget_get_next_sibling(child))
        show_chip(self, child, k);
    // A hint is nothing to present: then the line appears with the first snapshot.
    GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(self));
    const gboolean presented =
        root && gtk_widget_has_css_class(GTK_WIDGET(root), "litho-presenting");
    gtk_widget_set_visible(GTK_WIDGET(self),
                           litho_snapshots_count(self->snapshots) > 0 ||
                               (!presented && litho_snapshots_useful(self->snapshots)));
    self->loading = FALSE;
}

static void litho_snapshot_bar_init(LithoSnapshotBar *self)
{
    GtkWidget *box = GTK_WIDGET(self), *scroll = gtk_scrolled_window_new();
    GtkWidget *take =
        litho_icon_button_new("camera-photo-symbolic", _("Keep a snapshot"),
                              _("Keep the flow as it stands, to come back to it and to "
                                "compare with it (K)"));
    gtk_box_set_spacing(GTK_BOX(self), 6);
    gtk_widget_add_css_class(box, "litho-chips");
    gtk_actionable_set_action_name(GTK_ACTIONABLE(take), "win.snapshot");
    self->chips = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->chips), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Snapshots"), -1);
    self->hint = litho_label_new(_("Snapshots: keep one with K and compare with it"), "dim-label");
    gtk_label_set_ellipsize(GTK_LABEL(self->hint), PANGO_ELLIPSIZE_END);
    gtk_widget_set_tooltip_text(self->hint, _("Snapshots: keep one with K and compare with it"));
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroll), GTK_POLICY_EXTERNAL,
                                   GTK_POLICY_NEVER);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), self->chips);
    gtk_scrolled_window_set_propagate_natural_width(GTK_SCROLLED_WINDOW(scroll), TRUE);
    gtk_box_append(GTK_BOX(self), take);
    gtk_box_append(GTK_BOX(self), self->hint);
    gtk_box_append(GTK_BOX(self), scroll);
    gtk_widget_set_hexpand(scroll, TRUE);
}

static void dispose(GObject *object)
{
    g_clear_object(&LITHO_SNAPSHOT_BAR(object)->snapshots);
    G_OBJECT_CLASS(litho_snapshot_bar_parent_class)->dispose(object);
}

static void litho_snapshot_bar_class_init(LithoSnapshotBarClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
}

GtkWidget *litho_snapshot_bar_new(LithoSnapshots *snapshots)
{
    LithoSnapshotBar *self = g_object_new(LITHO_TYPE_SNAPSHOT_BAR, NULL);
    self->snapshots = g_object_ref(snapshots);
    g_signal_connect_object(snapshots, "changed", G_CALLBACK(on_changed), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(snapshots, "progress", G_CALLBACK(on_changed), self, G_CONNECT_SWAPPED);
    on_changed(self);
    return GTK_WIDGET(self);
}
