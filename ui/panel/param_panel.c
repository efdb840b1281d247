// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/param_panel.h"

#include <string.h>

#include "core/engine/positions.h"
#include "core/text.h"
#include "ui/panel/param_editor.h"
#include "ui/panel/param_pages.h"
#include "ui/panel/parts.h"
#include "ui/panel/preset_line.h"
#include "ui/view/tooltip.h"
#include "ui/window/dialog.h"
#include "ui/window/window.h"

struct _LithoParamPanel {
    GtkBox parent;
    LithoSession *session;
    const LithoOperator *op; // whose rows are shown, NULL = none
    GPtrArray *editors;      // borrowed widgets

    GtkWidget *title, *info, *summary, *reset;
    GtkWidget *presets;
    GtkWidget *rows, *advanced, *remarks, *problem, *memory;
};

G_DEFINE_TYPE(LithoParamPanel, litho_param_panel, GTK_TYPE_BOX)

static LithoStep *step_of(LithoParamPanel *self)
{
    int k = litho_session_selected(self->session);
    return k < 0 ? NULL : litho_flow_step(litho_session_flow(self->session), k);
}

static void on_reset(GtkButton *button, LithoParamPanel *self)
{
    (void)button;
    if (litho_session_selected(self->session) >= 0)
        litho_session_reset_step(self->session, litho_session_selected(self->session));
}

// --- rows ---------------------------------------------------------------------------------------

static void on_edited(LithoParamEditor *editor, double value, const char *text,
                      LithoParamPanel *self)
{
    g_autoptr(GError) error = NULL;
    const LithoParam *row = litho_param_editor_declaration(editor);
    LithoStep *step = step_of(self);
    // A field that goes with its operator loses the keyboard: by then another step is chosen.
    if (!step || litho_param_find(&step->op->params, row->key) != row)
        return;
    if (!litho_session_set_param(self->session, litho_session_selected(self->session), row, value,
                                 text, &error))
        litho_param_editor_complain(editor, error->message);
}

static void clear_rows(GtkWidget *box)
{
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(box)))
        gtk_box_remove(GTK_BOX(box), child);
}

static void build_rows(LithoParamPanel *self)
{
    GtkWidget *folded = gtk_expander_get_child(GTK_EXPANDER(self->advanced));
    clear_rows(self->rows);
    clear_rows(folded);
    g_ptr_array_set_size(self->editors, 0);
    for (guint k = 0; self->op && k < self->op->params.n; k++) {
        const LithoParam *row = &self->op->params.rows[k];
        GtkWidget *editor = litho_param_editor_new(row);
        g_signal_connect(editor, "edited", G_CALLBACK(on_edited), self);
        gtk_box_append(GTK_BOX(row->advanced ? folded : self->rows), editor);
        g_ptr_array_add(self->editors, editor);
    }
}

// Rows that do not matter for the chosen mode are out of the way; their values stay.
static void show_what_applies(LithoParamPanel *self, const LithoStep *step)
{
    LithoCube *in = litho_session_input(self->session);
    gboolean any_advanced = FALSE;
    for (guint k = 0; k < self->editors->len; k++) {
        LithoParamEditor *editor = g_ptr_array_index(self->editors, k);
        const LithoParam *row = litho_param_editor_declaration(editor);
        gboolean applies = litho_param_applies(&step->op->params, row, step->params);
        litho_param_editor_set_axis(editor, in ? &in->grid.axis[LITHO_SAMPLE] : NULL,
                                    in && in->grid.is_depth);
        gtk_widget_set_visible(GTK_WIDGET(editor), applies);
        any_advanced |= row->advanced && applies;
    }
    gtk_widget_set_visible(self->advanced, any_advanced);
}

// TRUE when the row `part` is of the row `whole`, as window_il and window_t are of window.
static gboolean is_part(const LithoParam *part, const LithoParam *whole)
{
    const gsize n = strlen(whole->key);
    return part->special_text && strncmp(part->key, whole->key, n) == 0 && part->key[n] == '_';
}

// The numbers that stand for `whole` where its parts are left to it and the operator takes others,
// with their units, "24 traces, 24 samples"; "" where all are `own`, the one in use. g_free().
static char *other_numbers(LithoParamPanel *self, const LithoStep *step, const LithoParam *whole,
                           double own)
{
    GString *text = g_string_new(NULL);
    LithoCube *in = litho_session_input(self->session);
    for (guint k = 0; k < self->editors->len; k++) {
        LithoParamEditor *editor = g_ptr_array_index(self->editors, k);
        const LithoParam *row = litho_param_editor_declaration(editor);
        const double used = litho_param_editor_used(editor);
        char number[64];
        // Windows that the survey cuts short are told by their own rows.
        if (!is_part(row, whole) || !litho_param_special(row, step->params) || !isfinite(used) ||
            used <= own)
            continue;
        litho_param_format_used(row, used, in && in->grid.is_depth, number, sizeof number);
        g_string_append_printf(text, "%s%s", text->len ? ", " : "", number);
    }
    return g_string_free(text, FALSE);
}

// A length says below its name what it is on these data, where folded rows alone would tell. Of
// whole results only: numbers of the pass before are no others.
static void load_notes(LithoParamPanel *self)
{
    const LithoStep *step = step_of(self);
    if (!step || step->op != self->op || !litho_session_output(self->session))
        return;
    for (guint k = 0; k < self->editors->len; k++) {
        LithoParamEditor *editor = g_ptr_array_index(self->editors, k);
        const LithoParam *row = litho_param_editor_declaration(editor);
        if (row->type != LITHO_PARAM_INT)
            continue;
        const double own = litho_param_special(row, step->params)
                               ? litho_param_editor_used(editor)
                               : litho_param_get(row, step->params);
        g_autofree char *others = other_numbers(self, step, row, own);
        // TRANSLATORS: under a length, what it is on these data: "here 24 traces, 24 samples".
        g_autofree char *note = *others ? g_strdup_printf(_("here %s"), others) : g_strdup("");
        litho_param_editor_set_note(editor, note);
    }
}

// Shows the operator's own choices for the rows that are left to it.
static void load_used(LithoParamPanel *self)
{
    g_autoptr(GArray) numbers = litho_session_report_numbers(self->session);
    for (guint k = 0; k < self->editors->len; k++) {
        LithoParamEditor *editor = g_ptr_array_index(self->editors, k);
        const LithoParam *row = litho_param_editor_declaration(editor);
        double value = NAN;
        for (guint n = 0; numbers && n < numbers->len; n++)
            if (litho_number_is_used(&g_array_index(numbers, LithoNumber, n), self->op->key,
                                     row->key))
                value = g_array_index(numbers, LithoNumber, n).value;
        if (row->special_text)
            litho_param_editor_set_used(editor, value);
    }
    load_notes(self);
}

static void show_problem(LithoParamPanel *self)
{
    const char *problem = litho_session_flow_problem(self->session);
    // Without a cube a filter has nothing to check against, and nothing to complain about yet.
    gboolean tell = problem && (litho_session_input(self->session) ||
                                !litho_flow_needs_input(litho_session_flow(self->session)));
    g_autofree char *begun = litho_text_begin(tell ? problem : "");
    g_autofree char *sentence =
        tell ? g_strdup_printf("%s. %s", begun,
                               litho_session_result(self->session)
                                   ? _("The views show the last result that could be computed.")
                                   : _("There is no result."))
             : g_strdup("");
    gtk_label_set_text(GTK_LABEL(self->problem), sentence);
    gtk_widget_set_visible(self->problem, tell);
}

// Remarks of the operators on the result, such as that cells are too wide for a dip; the file has a
// bar of its own. Sentences stay until the next whole result of the same kind, and below the rows,
// so that nothing moves while a slider is dragged.
static void show_remarks(LithoParamPanel *self)
{
    LithoCube *in = litho_session_input(self->session), *out = litho_session_output(self->session);
    if (!out && litho_session_result(self->session) &&
        !litho_session_figures_missing(self->session))
        return;
    g_autoptr(GPtrArray) said = g_ptr_array_new();
    g_autofree char *positions =
        out && in ? litho_positions_note(litho_session_flow(self->session), in->survey) : NULL;
    if (positions)
        g_ptr_array_add(said, positions);
    for (guint k = 0; out && k < out->notes->len; k++) {
        char *note = g_ptr_array_index(out->notes, k);
        if (!in || !g_ptr_array_find_with_equal_func(in->notes, note, g_str_equal, NULL))
            g_ptr_array_add(said, note);
    }
    GString *all = g_string_new(NULL);
    for (guint k = 0; k < said->len; k++)
        g_string_append_printf(all, "%s%s%s", k ? "\n" : "", said->len > 1 ? "• " : "",
                               (const char *)said->pdata[k]);
    g_autofree char *plain = litho_plain_sentence(all->str);
    gtk_label_set_text(GTK_LABEL(self->remarks), plain);
    gtk_widget_set_visible(self->remarks, said->len > 0);
    g_string_free(all, TRUE);
}

const char *litho_param_panel_remarks(LithoParamPanel *self)
{
    return gtk_label_get_text(GTK_LABEL(self->remarks));
}

static void on_result(LithoParamPanel *self)
{
    show_problem(self);
    show_remarks(self);
    load_notes(self);
}

static void load_values(LithoParamPanel *self)
{
    LithoStep *step = step_of(self);
    show_problem(self);
    if (!step || step->op != self->op)
        return;
    g_autofree void *defaults = g_malloc0(step->op->params.size);
    litho_param_defaults(&step->op->params, defaults);
    for (guint k = 0; k < self->editors->len; k++)
        litho_param_editor_load(g_ptr_array_index(self->editors, k), step->params, defaults);
    show_what_applies(self, step);
    load_used(self);
    gboolean changed =
        litho_params_first_stage(&step->op->params, step->params, defaults) != G_MAXINT;
    gtk_widget_set_sensitive(self->reset, changed);
    litho_preset_line_load(LITHO_PRESET_LINE(self->presets), step);
}

static void format_bytes(char *out, gsize size, guint64 bytes)
{
    const double mib = 1 << 20, gib = 1 << 30;
    if (bytes < 0.1 * gib)
        litho_text_put(out, size, "%.3g MiB", bytes / mib);
    else
        litho_text_put(out, size, "%.*f GiB", bytes < 100 * gib, bytes / gib);
}

// Shows the memory of a run before it is begun; amber with a way out when it is too much.
static void show_memory(LithoParamPanel *self)
{
    const LithoMemoryPlan *plan = litho_session_memory(self->session);
    gtk_widget_set_visible(self->memory, plan != NULL);
    if (!plan)
        return;
    char need[32], total[32];
    gboolean fits = plan->need <= plan->total;
    format_bytes(need, sizeof need, plan->need);
    format_bytes(total, sizeof total, plan->total);
    g_autofree char *text =
        fits ? g_strdup_printf(_("needs %s of %s"), need, total)
             : g_strdup_printf(_("needs %s, there are %s: the whole cube does not fit. "
                                 "lithoscope-cli run computes it in slabs (Copy as command)."),
                               need, total);
    gtk_label_set_text(GTK_LABEL(self->memory), text);
    litho_set_short_tooltip(self->memory,
                            _("Memory for the whole result: input, output and what the "
                              "operators keep, of what this program may take there"));
    if (fits)
        gtk_widget_remove_css_class(self->memory, "litho-amber");
    else
        gtk_widget_add_css_class(self->memory, "litho-amber");
}

static void on_params(LithoSession *session, LithoParamPanel *self)
{
    (void)session;
    load_values(self);
}

static void on_flow(LithoSession *session, LithoParamPanel *self)
{
    (void)session;
    LithoStep *step = step_of(self);
    const LithoOperator *op = step ? step->op : NULL;
    if (op != self->op) {
        self->op = op;
        gtk_label_set_text(GTK_LABEL(self->title), op ? litho_text(op->title) : "");
        gtk_label_set_text(GTK_LABEL(self->summary), op ? litho_text(op->summary) : "");
        build_rows(self);
    }
    gtk_widget_set_visible(GTK_WIDGET(self), op != NULL);
    load_values(self);
    show_remarks(self);
}

const char *litho_param_panel_memory(LithoParamPanel *self)
{
    return gtk_widget_get_visible(self->memory) ? gtk_label_get_text(GTK_LABEL(self->memory)) : "";
}

GtkWidget *litho_param_panel_row(LithoParamPanel *self, const char *key)
{
    for (guint k = 0; k < self->editors->len; k++) {
        LithoParamEditor *editor = g_ptr_array_index(self->editors, k);
        if (strcmp(litho_param_editor_declaration(editor)->key, key) == 0)
            return GTK_WIDGET(editor);
    }
    return NULL;
}

gboolean litho_param_panel_focus(LithoParamPanel *self, const char *key)
{
    GtkWidget *row = litho_param_panel_row(self, key);
    if (!row)
        return FALSE;
    if (litho_param_editor_declaration(LITHO_PARAM_EDITOR(row))->advanced)
        gtk_expander_set_expanded(GTK_EXPANDER(self->advanced), TRUE);
    gtk_widget_set_visible(row, TRUE); // asked for by name: shown until the next change
    litho_param_editor_grab(LITHO_PARAM_EDITOR(row));
    return TRUE;
}

// --- construction -------------------------------------------------------------------------------

static void on_pages(GtkButton *button, LithoParamPanel *self)
{
    GtkWindow *parent = GTK_WINDOW(gtk_widget_get_root(GTK_WIDGET(self)));
    gtk_popover_popdown(GTK_POPOVER(gtk_widget_get_ancestor(GTK_WIDGET(button), GTK_TYPE_POPOVER)));
    GtkWidget *window = litho_dialog_new(parent, litho_text(self->op->title), 920, 680);
    gtk_window_set_child(GTK_WINDOW(window), litho_param_pages_new(self->op));
    gtk_window_present(GTK_WINDOW(window));
}

static GtkWidget *make_info(LithoParamPanel *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    GtkWidget *pages = gtk_button_new_with_label(_("All parameters, with pictures…"));
    self->summary = litho_text_new(48);
    g_signal_connect(pages, "clicked", G_CALLBACK(on_pages), self);
    gtk_box_append(GTK_BOX(box), self->summary);
    gtk_box_append(GTK_BOX(box), pages);
    return litho_popover_button_new("help-about-symbolic", _("What this operator does"), box);
}

static GtkWidget *make_header(LithoParamPanel *self)
{
    self->title = gtk_label_new(NULL);
    GtkWidget *line = litho_panel_title_new(self->title, make_info(self));
    gtk_box_set_spacing(GTK_BOX(line), 0);
    self->reset = gtk_button_new_with_label(_("Reset"));
    gtk_widget_add_css_class(self->reset, "flat");
    gtk_widget_set_tooltip_text(self->reset, _("All parameters back to their defaults"));
    g_signal_connect(self->reset, "clicked", G_CALLBACK(on_reset), self);
    gtk_box_append(GTK_BOX(line), self->reset);
    return line;
}

static GtkWidget *make_tool(const char *label, const char *action, const char *tooltip)
{
    GtkWidget *tool = gtk_button_new_with_label(label);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(tool), action);
    gtk_widget_add_css_class(tool, "litho-sweep");
    litho_set_tooltip(tool, tooltip);
    return tool;
}

// Tools that help to decide on the values above, whatever the panel's length.
static GtkWidget *make_foot(void)
{
    GtkWidget *foot = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    gtk_widget_add_css_class(foot, "litho-foot");
    gtk_box_append(GTK_BOX(foot),
                   make_tool(_("Find…"), "win.find",
                             _("Better values by expected SNR and from the spectrum, as a list to "
                               "choose from (Ctrl+F)")));
    gtk_box_append(GTK_BOX(foot), make_tool(_("Sweep…"), "win.sweep",
                                            _("One parameter or two over their values, side by "
                                              "side (Ctrl+P)")));
    gtk_box_append(GTK_BOX(foot), make_tool(_("Race"), "win.race", _("CPU against GPU (Ctrl+R)")));
    return foot;
}

static GtkWidget *make_body(LithoParamPanel *self)
{
    GtkWidget *body = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    self->rows = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    self->advanced = gtk_expander_new(_("Advanced"));
    gtk_widget_add_css_class(self->advanced, "litho-advanced");
    litho_name_widget(self->advanced, _("Advanced parameters"));
    gtk_expander_set_child(GTK_EXPANDER(self->advanced), gtk_box_new(GTK_ORIENTATION_VERTICAL, 0));
    gtk_box_append(GTK_BOX(body), self->rows);
    self->remarks = litho_text_new(36);
    gtk_widget_add_css_class(self->remarks, "litho-remarks");
    litho_label_set_copyable(self->remarks);
    gtk_widget_set_visible(self->remarks, FALSE);
    gtk_box_append(GTK_BOX(body), self->advanced);
    gtk_box_append(GTK_BOX(body), self->remarks);
    return body;
}

// The reason why the flow is refused: over the panel's end, so that no row moves while it is
// dragged.
static GtkWidget *make_problem(LithoParamPanel *self, GtkWidget *below)
{
    GtkWidget *overlay = gtk_overlay_new();
    gtk_overlay_set_child(GTK_OVERLAY(overlay), below);
    self->problem = gtk_label_new(NULL);
    gtk_label_set_wrap(GTK_LABEL(self->problem), TRUE);
    gtk_label_set_xalign(GTK_LABEL(self->problem), 0);
    gtk_widget_set_valign(self->problem, GTK_ALIGN_END);
    gtk_widget_set_can_target(self->problem, FALSE); // what lies below it stays in reach
    gtk_widget_add_css_class(self->problem, "litho-complaint");
    gtk_widget_add_css_class(self->problem, "litho-over");
    gtk_widget_set_visible(self->problem, FALSE);
    gtk_overlay_add_overlay(GTK_OVERLAY(overlay), self->problem);
    return overlay;
}

static void litho_param_panel_init(LithoParamPanel *self)
{
    gtk_orientable_set_orientation(GTK_ORIENTABLE(self), GTK_ORIENTATION_VERTICAL);
    gtk_widget_add_css_class(GTK_WIDGET(self), "litho-panel");
    self->editors = g_ptr_array_new();
    gtk_box_append(GTK_BOX(self), make_header(self));
    GtkWidget *scroll = gtk_scrolled_window_new();
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), make_body(self));
    gtk_widget_set_vexpand(scroll, TRUE);
    gtk_box_append(GTK_BOX(self), make_problem(self, scroll));
    gtk_box_append(GTK_BOX(self), make_foot());
    self->memory = gtk_label_new(NULL);
    gtk_label_set_wrap(GTK_LABEL(self->memory), TRUE);
    gtk_label_set_xalign(GTK_LABEL(self->memory), 0);
    gtk_widget_add_css_class(self->memory, "litho-memory");
    gtk_widget_set_visible(self->memory, FALSE);
    gtk_box_append(GTK_BOX(self), self->memory);
}

static void dispose(GObject *object)
{
    LithoParamPanel *self = LITHO_PARAM_PANEL(object);
    g_clear_pointer(&self->editors, g_ptr_array_unref);
    g_clear_object(&self->session);
    G_OBJECT_CLASS(litho_param_panel_parent_class)->dispose(object);
}

static void litho_param_panel_class_init(LithoParamPanelClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
}

GtkWidget *litho_param_panel_new(LithoSession *session)
{
    LithoParamPanel *self = g_object_new(LITHO_TYPE_PARAM_PANEL, NULL);
    self->session = g_object_ref(session);
    self->presets = litho_preset_line_new(session);
    gtk_box_prepend(GTK_BOX(gtk_widget_get_parent(self->rows)), self->presets);
    g_signal_connect_object(session, "flow-changed", G_CALLBACK(on_flow), self, 0);
    g_signal_connect_object(session, "params-changed", G_CALLBACK(on_params), self, 0);
    g_signal_connect_object(session, "cube-changed", G_CALLBACK(on_params), self, 0);
    g_signal_connect_object(session, "report-changed", G_CALLBACK(load_used), self,
                            G_CONNECT_SWAPPED);
    // Faults of a file are known when the worker has tried to read it.
    g_signal_connect_object(session, "result", G_CALLBACK(on_result), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(session, "memory-changed", G_CALLBACK(show_memory), self,
                            G_CONNECT_SWAPPED);
    on_flow(session, self);
    return GTK_WIDGET(self);
}
