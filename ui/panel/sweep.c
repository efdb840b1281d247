// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/sweep.h"

#include <math.h>
#include <string.h>

#include "core/engine/engine.h"
#include "core/error.h"
#include "render/raster.h"
#include "ui/window/dialog.h"
#include "ui/session/job.h"
#include "ui/panel/param_editor.h"
#include "ui/panel/parts.h"

enum { MAX_VALUES = 9, THUMB_W = 248, THUMB_H = 190 };

// --- values -------------------------------------------------------------------------------------

guint litho_sweep_values(const LithoParam *row, guint n, double *values)
{
    gboolean soft = row->soft_min != 0 || row->soft_max != 0;
    double lo = litho_param_slider_from_value(row, soft ? MAX(row->soft_min, row->min) : row->min);
    double hi = litho_param_slider_from_value(row, soft ? MIN(row->soft_max, row->max) : row->max);
    guint kept = 0;
    for (guint k = 0; k < n; k++) {
        double value = litho_param_slider_to_value(row, lo + (hi - lo) * k / (n - 1));
        if (kept == 0 || value != values[kept - 1])
            values[kept++] = value;
    }
    return kept;
}

// --- the job ------------------------------------------------------------------------------------

typedef struct Sweep {
    gint refs; // window and job
    GtkWidget *dialog, *choice, *box, *status;
    LithoWindow *window;
    const LithoParam *rows[64]; // numeric ones of the step
    guint n_rows;
    LithoJob *job;
} Sweep;

// Everything one run needs, by value or reference: the window may change meanwhile.
typedef struct Task {
    Sweep *sweep;
    LithoFlow *flow;
    guint step;
    const LithoParam *row;
    LithoCube *in;
    LithoDevice device;
    LithoLook look;
    LithoSliceView view;
    guint n;
    double value[MAX_VALUES], now; // to be tried; in the flow
} Task;

typedef struct Picture {
    Sweep *sweep;
    Task *task;
    double value, ms, removed; // removed: part of the input's energy, NAN = cannot be compared
    cairo_surface_t *surface;
    char *refused; // instead of a picture
} Picture;

static void sweep_unref(Sweep *sweep)
{
    if (g_atomic_int_dec_and_test(&sweep->refs)) {
        g_object_unref(sweep->window);
        g_free(sweep);
    }
}

static void task_free(gpointer data)
{
    Task *task = data;
    litho_flow_free(task->flow);
    litho_cube_unref(task->in);
    sweep_unref(task->sweep);
    g_free(task);
}

static void picture_free(gpointer data)
{
    Picture *p = data;
    if (p->surface)
        cairo_surface_destroy(p->surface);
    g_free(p->refused);
    sweep_unref(p->sweep);
    g_free(p);
}

static double removed_energy(const LithoCube *in, const LithoCube *out, LithoBox box)
{
    if (!in || !litho_grid_same_shape(&in->grid, &out->grid))
        return NAN;
    double all = 0, gone = 0;
    for (gint64 i = box.lo[0]; i < box.hi[0]; i++)
        for (gint64 j = box.lo[1]; j < box.hi[1]; j++) {
            if (!litho_cube_is_live(in, i, j))
                continue;
            const float *a = litho_cube_trace(in, i, j) - in->held.lo[2];
            const float *b = litho_cube_trace(out, i, j) - out->held.lo[2];
            for (gint64 t = box.lo[2]; t < box.hi[2]; t++) {
                all += (double)a[t] * a[t];
                gone += ((double)a[t] - b[t]) * ((double)a[t] - b[t]);
            }
        }
    return all > 0 ? gone / all : NAN;
}

static gboolean draw(Task *task, const LithoCube *out, Picture *p, GError **error)
{
    LithoRaster raster = {.input = task->in,
                          .output = out,
                          .grid = &out->grid,
                          .view = task->view,
                          .look = task->look,
                          .show = LITHO_SHOW_OUTPUT,
                          .scale = 1};
    p->surface = litho_raster_slice(&raster, THUMB_W, THUMB_H, error);
    return p->surface != NULL;
}

static gboolean compute(Task *task, LithoEngine *engine, LithoRun *run, Picture *p, GError **error)
{
    LithoStep *step = litho_flow_step(task->flow, task->step);
    if (!litho_param_set(task->row, step->params, p->value, error))
        return FALSE;
    g_autoptr(LithoWalk) walk =
        litho_walk_resolve(task->flow, task->in ? &task->in->grid : NULL, run, error);
    if (!walk)
        return FALSE;
    const LithoGrid grid = walk->out;
    gint64 index = MIN(task->view.index, grid.axis[task->view.axis].n - 1);
    LithoBox slice = litho_box_slice(&grid, task->view.axis, index);
    gboolean local = litho_flow_is_local(task->flow);
    double start = litho_now_ms();
    g_autoptr(LithoCube) out =
        litho_engine_run(engine, task->flow, task->in, local ? &slice : NULL, run, error);
    p->ms = litho_now_ms() - start;
    if (!out || !litho_cube_host(out, error))
        return FALSE;
    p->removed = removed_energy(task->in, out, slice);
    return draw(task, out, p, error);
}

static gboolean show_picture(gpointer data);

static gpointer work(LithoRun *run, gpointer data, GError **error)
{
    Task *task = data;
    LithoEngine *engine = litho_engine_new(task->device);
    gboolean cancelled = FALSE;
    for (guint k = 0; k < task->n && !cancelled; k++) {
        g_autoptr(GError) refused = NULL;
        Picture *p = g_new0(Picture, 1);
        g_atomic_int_inc(&task->sweep->refs);
        p->sweep = task->sweep;
        p->value = task->value[k];
        p->task = task; // lives until done(), which comes after the pictures
        if (!compute(task, engine, run, p, &refused)) {
            p->refused = g_strdup(refused->message);
            cancelled = litho_error_is_cancelled(refused);
        }
        g_idle_add_full(G_PRIORITY_DEFAULT, show_picture, p, picture_free);
    }
    litho_engine_free(engine);
    if (cancelled)
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "cancelled");
    return cancelled ? NULL : task;
}

static char *value_text(const Task *task, double value)
{
    char text[48];
    gboolean is_depth = task->in && task->in->grid.is_depth;
    litho_param_format_unit(task->row, value, is_depth, text, sizeof text);
    return g_strdup(text);
}

static void done(gpointer result, const GError *error, gpointer data)
{
    Task *task = data;
    (void)error;
    task->sweep->job = NULL;
    if (!task->sweep->dialog)
        return;
    g_autofree char *now = value_text(task, task->now);
    g_autofree char *text = g_strdup_printf("Now %s; click a picture to adopt its value.", now);
    gtk_label_set_text(GTK_LABEL(task->sweep->status), result ? text : "");
}

// --- the sheet ----------------------------------------------------------------------------------

static void adopt(GtkButton *button, Sweep *sweep)
{
    LithoSession *session = litho_window_session(sweep->window);
    const LithoParam *row = g_object_get_data(G_OBJECT(button), "litho-row");
    const double *value = g_object_get_data(G_OBJECT(button), "litho-value");
    int step = litho_session_selected(session);
    if (step >= 0 &&
        litho_param_find(&litho_flow_step(litho_session_flow(session), step)->op->params,
                         row->key) == row)
        litho_session_set_param(session, step, row, *value, NULL, NULL);
    gtk_window_destroy(GTK_WINDOW(sweep->dialog));
}

static GdkTexture *texture_of(cairo_surface_t *surface)
{
    cairo_surface_flush(surface);
    int w = cairo_image_surface_get_width(surface), h = cairo_image_surface_get_height(surface);
    int stride = cairo_image_surface_get_stride(surface);
    g_autoptr(GBytes) bytes = g_bytes_new(cairo_image_surface_get_data(surface), (gsize)stride * h);
    return gdk_memory_texture_new(w, h, GDK_MEMORY_DEFAULT, bytes, stride);
}

static char *caption_of(const Picture *p)
{
    g_autofree char *value = value_text(p->task, p->value);
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "<b>%s</b>", value);
    if (p->surface)
        g_string_append_printf(text, "   %.0f ms", p->ms);
    if (p->surface && !isnan(p->removed))
        g_string_append_printf(text, "   removed %.1f %%", 100 * p->removed);
    return g_string_free(text, FALSE);
}

static GtkWidget *make_card(const Picture *p)
{
    GtkWidget *button = gtk_button_new(), *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4);
    GtkWidget *inside;
    if (p->surface) {
        g_autoptr(GdkTexture) texture = texture_of(p->surface);
        inside = gtk_picture_new_for_paintable(GDK_PAINTABLE(texture));
        gtk_picture_set_can_shrink(GTK_PICTURE(inside), FALSE);
    } else {
        inside = gtk_label_new(p->refused);
        gtk_label_set_wrap(GTK_LABEL(inside), TRUE);
        gtk_label_set_max_width_chars(GTK_LABEL(inside), 30);
        gtk_widget_set_sensitive(button, FALSE);
    }
    gtk_widget_set_size_request(inside, THUMB_W, THUMB_H);
    g_autofree char *caption = caption_of(p);
    GtkWidget *label = litho_text_new(36); // one line, two with large text
    gtk_label_set_xalign(GTK_LABEL(label), 0.5);
    gtk_label_set_justify(GTK_LABEL(label), GTK_JUSTIFY_CENTER);
    gtk_label_set_markup(GTK_LABEL(label), caption);
    gtk_widget_add_css_class(label, "numeric");
    gtk_box_append(GTK_BOX(box), inside);
    gtk_box_append(GTK_BOX(box), label);
    gtk_button_set_child(GTK_BUTTON(button), box);
    gtk_widget_add_css_class(button, "flat");
    litho_name_widget(button, gtk_label_get_text(GTK_LABEL(label)));
    g_autofree char *shown =
        g_strdup_printf("Section with %s", gtk_label_get_text(GTK_LABEL(label)));
    if (p->surface)
        litho_name_widget(inside, shown);
    g_object_set_data(G_OBJECT(button), "litho-row", (gpointer)p->task->row);
    g_object_set_data_full(G_OBJECT(button), "litho-value", g_memdup2(&p->value, sizeof p->value),
                           g_free);
    return button;
}

static gboolean show_picture(gpointer data)
{
    Picture *p = data;
    Sweep *sweep = p->sweep;
    if (!sweep->dialog)
        return G_SOURCE_REMOVE;
    GtkWidget *card = make_card(p);
    g_signal_connect(card, "clicked", G_CALLBACK(adopt), sweep);
    gtk_flow_box_insert(GTK_FLOW_BOX(sweep->box), card, -1);
    return G_SOURCE_REMOVE;
}

static Task *make_task(Sweep *sweep, const LithoParam *row)
{
    LithoSession *session = litho_window_session(sweep->window);
    LithoCube *input = litho_session_input(session);
    LithoCubeView *view = litho_canvas_active_view(litho_window_canvas(sweep->window));
    int axis = litho_cube_view_axis(view);
    Task *task = g_new0(Task, 1);
    g_atomic_int_inc(&sweep->refs);
    task->sweep = sweep;
    task->flow = litho_flow_copy(litho_session_flow(session));
    task->step = litho_session_selected(session);
    task->row = row;
    task->in = input ? litho_cube_ref(input) : NULL;
    task->device = litho_session_device(session);
    task->look = litho_session_display(session)->look;
    task->look.grid_lines = FALSE;
    task->view = litho_session_slice_view(session, axis == LITHO_VIEW_SCENE ? LITHO_INLINE : axis);
    task->view.keep_aspect = FALSE;
    task->n = litho_sweep_values(row, MAX_VALUES, task->value);
    task->now = litho_param_get(row, litho_flow_step(task->flow, task->step)->params);
    return task;
}

static void start(Sweep *sweep)
{
    static const LithoJobFuncs funcs = {work, NULL, done, task_free};
    guint k = gtk_drop_down_get_selected(GTK_DROP_DOWN(sweep->choice));
    if (k >= sweep->n_rows || sweep->job)
        return;
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(sweep->box)))
        gtk_flow_box_remove(GTK_FLOW_BOX(sweep->box), child);
    gtk_label_set_text(GTK_LABEL(sweep->status), "computing…");
    sweep->job = litho_job_start(&funcs, make_task(sweep, sweep->rows[k]));
}

// --- the dialog ---------------------------------------------------------------------------------

static void on_destroy(GtkWidget *dialog, Sweep *sweep)
{
    (void)dialog;
    sweep->dialog = NULL;
    litho_job_cancel(sweep->job);
    sweep_unref(sweep);
}

static void list_rows(Sweep *sweep, GtkStringList *names)
{
    LithoSession *session = litho_window_session(sweep->window);
    int k = litho_session_selected(session);
    const LithoOperator *op = litho_flow_step(litho_session_flow(session), k)->op;
    for (guint r = 0; r < op->params.n && sweep->n_rows < G_N_ELEMENTS(sweep->rows); r++) {
        const LithoParam *row = &op->params.rows[r];
        if (row->type != LITHO_PARAM_FLOAT && row->type != LITHO_PARAM_INT)
            continue;
        sweep->rows[sweep->n_rows++] = row;
        gtk_string_list_append(names, row->label);
    }
}

static GtkWidget *make_head(Sweep *sweep, GtkStringList *names)
{
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    GtkWidget *label = gtk_label_new("Sweep"), *button = gtk_button_new_with_label("Start");
    sweep->choice = gtk_drop_down_new(G_LIST_MODEL(names), NULL);
    litho_name_choice(sweep->choice, "Parameter to sweep", "Nine values over its slider's range");
    sweep->status = litho_label_new(NULL, "dim-label");
    gtk_label_set_ellipsize(GTK_LABEL(sweep->status), PANGO_ELLIPSIZE_END);
    gtk_widget_set_hexpand(sweep->status, TRUE);
    gtk_widget_add_css_class(button, "suggested-action");
    g_signal_connect_swapped(button, "clicked", G_CALLBACK(start), sweep);
    gtk_widget_set_valign(line, GTK_ALIGN_START);
    gtk_box_append(GTK_BOX(line), label);
    gtk_box_append(GTK_BOX(line), sweep->choice);
    gtk_box_append(GTK_BOX(line), button);
    gtk_box_append(GTK_BOX(line), sweep->status);
    return line;
}

void litho_sweep_open(LithoWindow *window)
{
    LithoSession *session = litho_window_session(window);
    if (litho_session_selected(session) < 0)
        return;
    Sweep *sweep = g_new0(Sweep, 1);
    sweep->refs = 1;
    sweep->window = g_object_ref(window);
    GtkStringList *names = gtk_string_list_new(NULL);
    list_rows(sweep, names);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);
    GtkWidget *scroll = gtk_scrolled_window_new();
    gtk_widget_add_css_class(box, "litho-palette");
    sweep->box = gtk_flow_box_new();
    gtk_flow_box_set_selection_mode(GTK_FLOW_BOX(sweep->box), GTK_SELECTION_NONE);
    gtk_flow_box_set_max_children_per_line(GTK_FLOW_BOX(sweep->box), 3);
    gtk_flow_box_set_homogeneous(GTK_FLOW_BOX(sweep->box), TRUE);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), sweep->box);
    gtk_widget_set_vexpand(scroll, TRUE);
    gtk_box_append(GTK_BOX(box), make_head(sweep, names));
    gtk_box_append(GTK_BOX(box), scroll);
    sweep->dialog = litho_dialog_new(GTK_WINDOW(window), "Parameter sweep", 870, 760);
    gtk_window_set_child(GTK_WINDOW(sweep->dialog), box);
    g_signal_connect(sweep->dialog, "destroy", G_CALLBACK(on_destroy), sweep);
    gtk_window_present(GTK_WINDOW(sweep->dialog));
    start(sweep);
}
