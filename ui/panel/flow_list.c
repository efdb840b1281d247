// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/flow_list.h"

#include "core/text.h"
#include "ui/panel/parts.h"

struct _LithoFlowList {
    GtkBox parent;
    LithoSession *session;
    GtkWidget *list, *empty, *add;
    gboolean loading;
};

G_DEFINE_TYPE(LithoFlowList, litho_flow_list, GTK_TYPE_BOX)

static const char step_key[] = "litho-step"; // index + 1 of a row's step
static const char op_key[] = "litho-operator", toggle_key[] = "litho-toggle",
                  title_key[] = "litho-title";

static int row_step(gpointer widget)
{
    return GPOINTER_TO_INT(g_object_get_data(G_OBJECT(widget), step_key)) - 1;
}

// --- one row ------------------------------------------------------------------------------------

static void on_enabled(GtkSwitch *toggle, GParamSpec *spec, LithoFlowList *self)
{
    (void)spec;
    if (!self->loading)
        litho_session_enable_step(self->session, row_step(toggle), gtk_switch_get_active(toggle));
}

static void on_remove(GtkButton *button, LithoFlowList *self)
{
    litho_session_remove_step(self->session, row_step(button));
}

static GdkContentProvider *drag_prepare(GtkDragSource *source, double x, double y, gpointer row)
{
    (void)x;
    (void)y;
    g_autoptr(GdkPaintable) picture = gtk_widget_paintable_new(row);
    gtk_drag_source_set_icon(source, picture, 12, 12);
    return gdk_content_provider_new_typed(G_TYPE_INT, row_step(row));
}

static gboolean on_drop(GtkDropTarget *target, const GValue *value, double x, double y,
                        LithoFlowList *self)
{
    (void)x;
    (void)y;
    int to = row_step(gtk_event_controller_get_widget(GTK_EVENT_CONTROLLER(target)));
    litho_session_move_step(self->session, g_value_get_int(value), to);
    return TRUE;
}

static void make_draggable(LithoFlowList *self, GtkWidget *row)
{
    GtkDragSource *source = gtk_drag_source_new();
    gtk_drag_source_set_actions(source, GDK_ACTION_MOVE);
    g_signal_connect(source, "prepare", G_CALLBACK(drag_prepare), row);
    gtk_widget_add_controller(row, GTK_EVENT_CONTROLLER(source));
    GtkDropTarget *target = gtk_drop_target_new(G_TYPE_INT, GDK_ACTION_MOVE);
    g_signal_connect(target, "drop", G_CALLBACK(on_drop), self);
    gtk_widget_add_controller(row, GTK_EVENT_CONTROLLER(target));
}

static void tag(GtkWidget *widget, guint step)
{
    g_object_set_data(G_OBJECT(widget), step_key, GINT_TO_POINTER((int)step + 1));
}

static GtkWidget *make_row(LithoFlowList *self, guint k)
{
    const LithoStep *step = litho_flow_step(litho_session_flow(self->session), k);
    GtkWidget *row = gtk_list_box_row_new(), *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    g_autofree char *number = g_strdup_printf("%u", k + 1);
    GtkWidget *index = litho_label_new(number, "dim-label");
    GtkWidget *title = litho_label_new(litho_text(step->op->title), NULL);
    gtk_label_set_ellipsize(GTK_LABEL(title), PANGO_ELLIPSIZE_END);
    gtk_widget_set_hexpand(title, TRUE);
    gtk_widget_set_opacity(title, step->enabled ? 1 : 0.55);

    GtkWidget *toggle = gtk_switch_new();
    gtk_switch_set_active(GTK_SWITCH(toggle), step->enabled);
    gtk_widget_set_valign(toggle, GTK_ALIGN_CENTER);
    gtk_widget_set_tooltip_text(toggle, _("Switch this step on or off"));
    g_autofree char *label = g_strdup_printf(_("%s on"), litho_text(step->op->title));
    litho_name_widget(toggle, label);
    g_signal_connect(toggle, "notify::active", G_CALLBACK(on_enabled), self);

    g_autofree char *remove_label = g_strdup_printf(_("Remove %s"), litho_text(step->op->title));
    GtkWidget *remove = litho_icon_button_new("window-close-symbolic", remove_label,
                                              _("Remove this step (Delete)"));
    g_signal_connect(remove, "clicked", G_CALLBACK(on_remove), self);

    g_object_set_data(G_OBJECT(row), op_key, (gpointer)step->op);
    g_object_set_data(G_OBJECT(row), toggle_key, toggle);
    g_object_set_data(G_OBJECT(row), title_key, title);
    tag(row, k);
    tag(toggle, k);
    tag(remove, k);
    gtk_box_append(GTK_BOX(line), index);
    gtk_box_append(GTK_BOX(line), title);
    gtk_box_append(GTK_BOX(line), toggle);
    gtk_box_append(GTK_BOX(line), remove);
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), line);
    g_autofree char *name = g_strdup_printf("%u %s", k + 1, litho_text(step->op->title));
    litho_name_widget(row, name);
    make_draggable(self, row);
    return row;
}

// --- the list -----------------------------------------------------------------------------------

// TRUE when the rows show these operators in this order already: only switches may differ.
static gboolean rows_fit(LithoFlowList *self, const LithoFlow *flow)
{
    GtkListBox *list = GTK_LIST_BOX(self->list);
    guint n = litho_flow_length(flow);
    for (guint k = 0; k < n; k++) {
        GtkListBoxRow *row = gtk_list_box_get_row_at_index(list, k);
        if (!row || g_object_get_data(G_OBJECT(row), op_key) != litho_flow_step(flow, k)->op)
            return FALSE;
    }
    return !gtk_list_box_get_row_at_index(list, n);
}

static void update_rows(LithoFlowList *self, const LithoFlow *flow)
{
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        GtkListBoxRow *row = gtk_list_box_get_row_at_index(GTK_LIST_BOX(self->list), k);
        gboolean enabled = litho_flow_step(flow, k)->enabled;
        gtk_switch_set_active(g_object_get_data(G_OBJECT(row), toggle_key), enabled);
        gtk_widget_set_opacity(g_object_get_data(G_OBJECT(row), title_key), enabled ? 1 : 0.55);
    }
}

static void rebuild_rows(LithoFlowList *self, const LithoFlow *flow)
{
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(self->list)))
        gtk_list_box_remove(GTK_LIST_BOX(self->list), child);
    guint n = litho_flow_length(flow);
    for (guint k = 0; k < n; k++)
        gtk_list_box_append(GTK_LIST_BOX(self->list), make_row(self, k));
    gtk_widget_set_visible(self->list, n > 0);
    gtk_widget_set_visible(self->empty, n == 0);
}

static void on_flow(LithoSession *session, LithoFlowList *self)
{
    const LithoFlow *flow = litho_session_flow(session);
    self->loading = TRUE;
    gboolean had_focus = gtk_widget_get_focus_child(self->list) ||
                         gtk_widget_get_focus_child(self->empty); // a choice goes with its button
    if (rows_fit(self, flow))
        update_rows(self, flow);
    else
        rebuild_rows(self, flow);
    int selected = litho_session_selected(session);
    GtkListBoxRow *row =
        selected >= 0 ? gtk_list_box_get_row_at_index(GTK_LIST_BOX(self->list), selected) : NULL;
    if (row)
        gtk_list_box_select_row(GTK_LIST_BOX(self->list), row);
    // GTK drops keys from the end of a focused widget to the next frame, so the focus moves now.
    if (had_focus && row)
        gtk_widget_grab_focus(GTK_WIDGET(row));
    else if (had_focus)
        gtk_widget_child_focus(self->empty, GTK_DIR_TAB_FORWARD);
    self->loading = FALSE;
}

static void on_selected(GtkListBox *list, GtkListBoxRow *row, LithoFlowList *self)
{
    (void)list;
    if (row && !self->loading)
        litho_session_select(self->session, row_step(row));
}

static gboolean on_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
                       LithoFlowList *self)
{
    (void)keys;
    (void)code;
    int k = litho_session_selected(self->session);
    int n = litho_flow_length(litho_session_flow(self->session));
    if (k < 0)
        return FALSE;
    if (key == GDK_KEY_Delete) {
        litho_session_remove_step(self->session, k);
        return TRUE;
    }
    int to = key == GDK_KEY_Up ? k - 1 : key == GDK_KEY_Down ? k + 1 : -1;
    if (!(state & GDK_ALT_MASK) || to < 0 || to >= n)
        return FALSE;
    litho_session_move_step(self->session, k, to);
    return TRUE;
}

// --- adding -------------------------------------------------------------------------------------

static void on_operator(GtkButton *button, LithoFlowList *self)
{
    const LithoOperator *op = g_object_get_data(G_OBJECT(button), op_key);
    gtk_menu_button_popdown(GTK_MENU_BUTTON(self->add));
    litho_session_add_step(self->session, op);
}

// A button that adds an operator: its title and what is said of it, `chars` to a line.
static GtkWidget *make_choice(LithoFlowList *self, const LithoOperator *op, const char *about,
                              int chars)
{
    GtkWidget *button = gtk_button_new(), *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 2);
    GtkWidget *title = litho_label_new(litho_text(op->title), "heading"),
              *summary = litho_text_new(chars);
    gtk_label_set_text(GTK_LABEL(summary), litho_text(about));
    gtk_widget_add_css_class(summary, "dim-label");
    gtk_box_append(GTK_BOX(box), title);
    gtk_box_append(GTK_BOX(box), summary);
    gtk_button_set_child(GTK_BUTTON(button), box);
    gtk_widget_add_css_class(button, "flat");
    g_object_set_data(G_OBJECT(button), op_key, (gpointer)op);
    g_signal_connect(button, "clicked", G_CALLBACK(on_operator), self);
    return button;
}

// Buttons of all operators, the first choice above the others; `brief`: with their purpose instead
// of their summary.
static GtkWidget *make_choices(LithoFlowList *self, gboolean brief)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    for (int first = 1; first >= 0; first--)
        for (const LithoOperator *const *op = litho_operators(); op && *op; op++)
            if ((*op)->first_choice == (gboolean)first) {
                const char *about = brief && (*op)->purpose ? (*op)->purpose : (*op)->summary;
                gtk_box_append(GTK_BOX(box), make_choice(self, *op, about, brief ? 32 : 56));
            }
    return box;
}

static GtkWidget *make_add(LithoFlowList *self)
{
    return litho_popover_button_new("list-add-symbolic", _("Add an operator"),
                                    make_choices(self, FALSE));
}

// An empty flow offers the operators where its steps will stand.
static GtkWidget *make_empty(LithoFlowList *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    GtkWidget *said = litho_label_new(_("No operator yet. Choose the first one:"), "dim-label");
    GtkWidget *choices = make_choices(self, TRUE);
    gtk_widget_add_css_class(said, "litho-empty");
    gtk_widget_add_css_class(choices, "litho-choices");
    gtk_box_append(GTK_BOX(box), said);
    gtk_box_append(GTK_BOX(box), choices);
    return box;
}

static void litho_flow_list_init(LithoFlowList *self)
{
    gtk_orientable_set_orientation(GTK_ORIENTABLE(self), GTK_ORIENTATION_VERTICAL);
    gtk_widget_add_css_class(GTK_WIDGET(self), "litho-panel");
    self->list = gtk_list_box_new();
    gtk_list_box_set_selection_mode(GTK_LIST_BOX(self->list), GTK_SELECTION_BROWSE);
    gtk_widget_add_css_class(self->list, "litho-flow");
    litho_name_widget(self->list, _("Steps of the flow"));
    g_signal_connect(self->list, "row-selected", G_CALLBACK(on_selected), self);
    GtkEventController *keys = gtk_event_controller_key_new();
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), self);
    gtk_widget_add_controller(self->list, keys);

    self->empty = make_empty(self);
    self->add = make_add(self);
    gtk_box_append(GTK_BOX(self), litho_panel_title_new(gtk_label_new(_("Flow")), self->add));
    gtk_box_append(GTK_BOX(self), self->list);
    gtk_box_append(GTK_BOX(self), self->empty);
}

static void dispose(GObject *object)
{
    g_clear_object(&LITHO_FLOW_LIST(object)->session);
    G_OBJECT_CLASS(litho_flow_list_parent_class)->dispose(object);
}

static void litho_flow_list_class_init(LithoFlowListClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
}

GtkWidget *litho_flow_list_new(LithoSession *session)
{
    LithoFlowList *self = g_object_new(LITHO_TYPE_FLOW_LIST, NULL);
    self->session = g_object_ref(session);
    g_signal_connect_object(session, "flow-changed", G_CALLBACK(on_flow), self, 0);
    on_flow(session, self);
    return GTK_WIDGET(self);
}
