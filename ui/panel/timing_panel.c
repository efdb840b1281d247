// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/timing_panel.h"

#include <string.h>

#include "core/json.h"
#include "core/text.h"
#include "ui/panel/parts.h"
#include "ui/view/spark.h"
#include "ui/view/tooltip.h"

enum { REFRESH_MS = 200, MAX_ROWS = 2 * LITHO_TIMINGS_STAGES };

typedef struct Row {
    GtkWidget *name, *last, *median, *spark;
} Row;

struct _LithoTimingPanel {
    GtkBox parent;
    LithoSession *session;
    GtkWidget *big, *small, *device, *why, *grid, *stages, *latency_spark;
    Row row[MAX_ROWS];
    guint n_rows, timeout;
    char *gl_name;
};

G_DEFINE_TYPE(LithoTimingPanel, litho_timing_panel, GTK_TYPE_BOX)

static guint copied_signal;

// --- rows ---------------------------------------------------------------------------------------

static GtkWidget *cell(LithoTimingPanel *self, GtkWidget *widget, int column, int row)
{
    gtk_grid_attach(GTK_GRID(self->grid), widget, column, row, 1, 1);
    return widget;
}

static GtkWidget *number_label(void)
{
    GtkWidget *label = gtk_label_new(NULL);
    gtk_label_set_xalign(GTK_LABEL(label), 1);
    gtk_label_set_width_chars(GTK_LABEL(label), 5);
    gtk_widget_add_css_class(label, "numeric");
    return label;
}

static Row *row_of(LithoTimingPanel *self, guint k)
{
    while (self->n_rows <= k) {
        Row *row = &self->row[self->n_rows];
        int at = (int)self->n_rows + 1; // 0 is the head
        row->name = gtk_label_new(NULL);
        gtk_label_set_xalign(GTK_LABEL(row->name), 0);
        gtk_label_set_ellipsize(GTK_LABEL(row->name), PANGO_ELLIPSIZE_END);
        gtk_label_set_max_width_chars(GTK_LABEL(row->name), 14); // "design + filter"
        gtk_widget_set_hexpand(row->name, TRUE);
        row->last = number_label();
        row->median = number_label();
        row->spark = litho_spark_new();
        cell(self, row->name, 0, at);
        cell(self, row->spark, 1, at);
        cell(self, row->last, 2, at);
        cell(self, row->median, 3, at);
        self->n_rows++;
    }
    return &self->row[k];
}

static void format_ms(char *text, gsize size, double ms)
{
    if (ms >= 9999.5) { // with a unit of its own; others are in the head's ms
        g_autofree char *duration = litho_format_duration(ms);
        g_strlcpy(text, duration, size);
        return;
    }
    litho_text_put(text, size, ms < 10 ? "%.2f" : ms < 100 ? "%.1f" : "%.0f", ms);
}

static void show_stage(LithoTimingPanel *self, guint k, const LithoStage *stage)
{
    Row *row = row_of(self, k);
    char last[16], median[16];
    format_ms(last, sizeof last, stage->last_ms);
    format_ms(median, sizeof median, stage->median_ms);
    gtk_label_set_text(GTK_LABEL(row->name), stage->name);
    gtk_label_set_text(GTK_LABEL(row->last), last);
    gtk_label_set_text(GTK_LABEL(row->median), median);
    litho_spark_set(LITHO_SPARK(row->spark), MIN(stage->count, LITHO_TIMINGS_RING), stage->ring_ms);
    const double times[] = {stage->last_ms, stage->median_ms, stage->p25_ms, stage->p75_ms,
                            stage->min_ms};
    char *told[G_N_ELEMENTS(times)];
    for (guint t = 0; t < G_N_ELEMENTS(times); t++)
        told[t] = litho_format_duration(times[t]);
    GString *tip = g_string_new(NULL);
    g_string_append_printf(
        tip, _("%s: last %s, median %s, middle half %s to %s, fastest %s, passes: %u"), stage->name,
        told[0], told[1], told[2], told[3], told[4], stage->count);
    for (guint t = 0; t < G_N_ELEMENTS(times); t++)
        g_free(told[t]);
    if (stage->bytes > 0 && stage->last_ms > 0)
        litho_text_add(tip, "\n%.1f GB/s", stage->bytes / stage->last_ms * 1e-6);
    if (stage->flops > 0 && stage->last_ms > 0)
        litho_text_add(tip, ", %.1f GFLOP/s", stage->flops / stage->last_ms * 1e-6);
    litho_set_tooltip(row->name, tip->str);
    g_string_free(tip, TRUE);
}

static guint show_timings(LithoTimingPanel *self, LithoTimings *timings, guint k)
{
    LithoStage stages[LITHO_TIMINGS_STAGES];
    guint n = litho_timings_snapshot(timings, stages, LITHO_TIMINGS_STAGES);
    for (guint s = 0; s < n; s++)
        if (stages[s].count > 0)
            show_stage(self, k++, &stages[s]);
    return k;
}

static void hide_rows_from(LithoTimingPanel *self, guint shown)
{
    for (guint k = 0; k < self->n_rows; k++) {
        GtkWidget *cells[] = {self->row[k].name, self->row[k].last, self->row[k].median,
                              self->row[k].spark};
        for (guint c = 0; c < G_N_ELEMENTS(cells); c++)
            gtk_widget_set_visible(cells[c], k < shown);
    }
}

static void show_latency(LithoTimingPanel *self)
{
    double last, median;
    float ring[LITHO_LATENCY_RING];
    litho_session_latency(self->session, &last, &median);
    g_autofree char *big = litho_format_duration(last);
    g_autofree char *usual = litho_format_duration(median);
    const guint n = litho_session_latencies(self->session, ring);
    g_autofree char *small = n == 1 ? g_strdup(_("to the first picture"))
                             : median > 0
                                 ? g_strdup_printf(_("from slider to pixel, median %s"), usual)
                                 : g_strdup(_("from slider to pixel"));
    gtk_label_set_text(GTK_LABEL(self->big), big);
    gtk_label_set_text(GTK_LABEL(self->small), small);
    gtk_widget_set_visible(self->big, last > 0);
    gtk_widget_set_visible(self->small, last > 0);
    litho_spark_set(LITHO_SPARK(self->latency_spark), n, ring);
}

static gboolean refresh(gpointer data)
{
    LithoTimingPanel *self = data;
    self->timeout = 0;
    const char *why;
    const char *device = litho_session_device_label(self->session, &why);
    gtk_label_set_text(GTK_LABEL(self->device), device);
    litho_set_tooltip(self->device, self->gl_name);
    gtk_label_set_text(GTK_LABEL(self->why), why ? why : "");
    gtk_widget_set_visible(self->why, why != NULL);
    show_latency(self);
    guint n = show_timings(self, litho_session_timings(self->session), 0);
    n = show_timings(self, litho_session_display_timings(self->session), n);
    gtk_widget_set_visible(self->stages, n > 0);
    hide_rows_from(self, n);
    return G_SOURCE_REMOVE;
}

static void refresh_soon(LithoTimingPanel *self)
{
    if (self->timeout == 0)
        self->timeout = g_timeout_add(REFRESH_MS, refresh, self);
}

// --- clipboard ----------------------------------------------------------------------------------

char *litho_timing_panel_text(LithoTimingPanel *self)
{
    double last, median;
    litho_session_latency(self->session, &last, &median);
    g_autofree char *compute = litho_timings_to_text(litho_session_timings(self->session));
    g_autofree char *draw = litho_timings_to_text(litho_session_display_timings(self->session));
    return litho_text_printf(
        _("%s; drawn by %s\nslider to pixel: last %.1f ms, median %.1f ms\n%s%s"),
        litho_session_device_label(self->session, NULL), self->gl_name ? self->gl_name : "?", last,
        median, compute, draw);
}

char *litho_timing_panel_json(LithoTimingPanel *self)
{
    double last, median;
    litho_session_latency(self->session, &last, &median);
    JsonBuilder *b = json_builder_new();
    json_builder_begin_object(b);
    json_builder_set_member_name(b, "device");
    json_builder_add_string_value(b, litho_session_device_label(self->session, NULL));
    json_builder_set_member_name(b, "drawn_by");
    json_builder_add_string_value(b, self->gl_name ? self->gl_name : "");
    json_builder_set_member_name(b, "latency_last_ms");
    json_builder_add_double_value(b, last);
    json_builder_set_member_name(b, "latency_median_ms");
    json_builder_add_double_value(b, median);
    json_builder_set_member_name(b, "compute");
    json_builder_add_value(b, litho_timings_to_json(litho_session_timings(self->session)));
    json_builder_set_member_name(b, "display");
    json_builder_add_value(b, litho_timings_to_json(litho_session_display_timings(self->session)));
    json_builder_end_object(b);
    JsonNode *root = json_builder_get_root(b);
    char *text = litho_json_text(root);
    json_node_unref(root);
    g_object_unref(b);
    return text;
}

static void on_copy(GtkButton *button, LithoTimingPanel *self)
{
    gboolean json = g_object_get_data(G_OBJECT(button), "litho-json") != NULL;
    g_autofree char *text = json ? litho_timing_panel_json(self) : litho_timing_panel_text(self);
    gdk_clipboard_set_text(gtk_widget_get_clipboard(GTK_WIDGET(self)), text);
    g_signal_emit(self, copied_signal, 0);
}

void litho_timing_panel_set_gl(LithoTimingPanel *self, const char *name)
{
    g_free(self->gl_name);
    self->gl_name = g_strdup(name);
}

// --- the widget ---------------------------------------------------------------------------------

static GtkWidget *copy_button(LithoTimingPanel *self, const char *label, gboolean json)
{
    GtkWidget *button = gtk_button_new_with_label(label);
    gtk_widget_add_css_class(button, "flat");
    gtk_widget_set_valign(button, GTK_ALIGN_CENTER);
    gtk_widget_set_tooltip_text(button, json ? _("Copy the timings as JSON")
                                             : _("Copy the timings as text"));
    if (json)
        g_object_set_data(G_OBJECT(button), "litho-json", button);
    g_signal_connect(button, "clicked", G_CALLBACK(on_copy), self);
    return button;
}

static GtkWidget *make_header(LithoTimingPanel *self)
{
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    GtkWidget *title = litho_label_new(_("Timings"), "heading");
    gtk_widget_set_hexpand(title, TRUE);
    gtk_widget_add_css_class(line, "litho-head");
    gtk_box_append(GTK_BOX(line), title);
    gtk_box_append(GTK_BOX(line), copy_button(self, _("Copy"), FALSE));
    gtk_box_append(GTK_BOX(line), copy_button(self, "JSON", TRUE));
    return line;
}

// The number that is read from the back of the room, and under it what it is.
static GtkWidget *make_latency(LithoTimingPanel *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    self->big = gtk_label_new("–");
    gtk_widget_add_css_class(self->big, "litho-big");
    self->latency_spark = litho_spark_new();
    gtk_widget_set_hexpand(self->latency_spark, TRUE);
    // Beside the digits: in the whole height of their line it meets the device's name above.
    gtk_widget_set_valign(self->latency_spark, GTK_ALIGN_END);
    gtk_widget_set_margin_bottom(self->latency_spark, 4);
    self->small = litho_label_new(NULL, "dim-label");
    gtk_label_set_ellipsize(GTK_LABEL(self->small), PANGO_ELLIPSIZE_END);
    gtk_box_append(GTK_BOX(line), self->big);
    gtk_box_append(GTK_BOX(line), self->latency_spark);
    gtk_box_append(GTK_BOX(box), line);
    gtk_box_append(GTK_BOX(box), self->small);
    return box;
}

static GtkWidget *make_grid(LithoTimingPanel *self)
{
    const char *const heads[] = {_("stage, ms"), "", _("last"), _("median")};
    const char *const tips[] = {_("Stages of the last pass, times in milliseconds"), NULL,
                                _("Of the last pass"),
                                _("Of the passes since the device was chosen, 64 at most")};
    self->grid = gtk_grid_new();
    gtk_grid_set_column_spacing(GTK_GRID(self->grid), 6);
    gtk_grid_set_row_spacing(GTK_GRID(self->grid), 2);
    gtk_widget_add_css_class(self->grid, "litho-numbers");
    for (guint c = 0; c < G_N_ELEMENTS(heads); c++) {
        GtkWidget *head = gtk_label_new(heads[c]);
        gtk_label_set_xalign(GTK_LABEL(head), c == 0 ? 0 : 1);
        gtk_widget_add_css_class(head, "dim-label");
        litho_set_tooltip(head, tips[c]);
        cell(self, head, (int)c, 0);
    }
    return self->grid;
}

static void litho_timing_panel_init(LithoTimingPanel *self)
{
    gtk_orientable_set_orientation(GTK_ORIENTABLE(self), GTK_ORIENTATION_VERTICAL);
    gtk_widget_add_css_class(GTK_WIDGET(self), "litho-panel");
    gtk_widget_add_css_class(GTK_WIDGET(self), "litho-qc");
    gtk_box_append(GTK_BOX(self), make_header(self));
    self->device = gtk_label_new(NULL);
    gtk_label_set_xalign(GTK_LABEL(self->device), 0);
    gtk_label_set_ellipsize(GTK_LABEL(self->device), PANGO_ELLIPSIZE_END);
    gtk_box_append(GTK_BOX(self), self->device);
    self->why = gtk_label_new(NULL); // it is not the device that was asked for
    gtk_label_set_xalign(GTK_LABEL(self->why), 0);
    gtk_label_set_wrap(GTK_LABEL(self->why), TRUE);
    gtk_label_set_max_width_chars(GTK_LABEL(self->why), 30);
    gtk_widget_add_css_class(self->why, "litho-why");
    gtk_box_append(GTK_BOX(self), self->why);
    gtk_box_append(GTK_BOX(self), make_latency(self));
    self->stages = litho_disclosure_new(_("Stages"), make_grid(self));
    gtk_box_append(GTK_BOX(self), self->stages);
}

static void dispose(GObject *object)
{
    LithoTimingPanel *self = LITHO_TIMING_PANEL(object);
    g_clear_handle_id(&self->timeout, g_source_remove);
    g_clear_pointer(&self->gl_name, g_free);
    g_clear_object(&self->session);
    G_OBJECT_CLASS(litho_timing_panel_parent_class)->dispose(object);
}

static void litho_timing_panel_class_init(LithoTimingPanelClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
    copied_signal = g_signal_new("copied", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                 NULL, NULL, G_TYPE_NONE, 0);
}

GtkWidget *litho_timing_panel_new(LithoSession *session)
{
    LithoTimingPanel *self = g_object_new(LITHO_TYPE_TIMING_PANEL, NULL);
    self->session = g_object_ref(session);
    static const char *const signals[] = {"result", "progress", "device-changed", "slices-changed",
                                          "display-changed"};
    for (guint k = 0; k < G_N_ELEMENTS(signals); k++)
        g_signal_connect_object(session, signals[k], G_CALLBACK(refresh_soon), self,
                                G_CONNECT_SWAPPED);
    refresh(self);
    return GTK_WIDGET(self);
}
