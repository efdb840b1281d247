// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/sweep.h"

#include <math.h>
#include <string.h>

#include "core/engine/probe.h"
#include "core/error.h"
#include "core/text.h"
#include "ui/panel/param_format.h"
#include "ui/panel/parts.h"
#include "ui/panel/sweep_axis.h"
#include "ui/session/job.h"
#include "ui/view/similarity_layer.h"
#include "ui/window/dialog.h"

// Cards are smaller where more than three stand in a row; the large picture always has ZOOM times
// the size of a card of three.
enum { THUMB_W = 248, THUMB_H = 190, ZOOM = 2, COLUMNS = 3, BESIDE = 28, LEAST_W = 110 };
// Sizes of the dialog, within the window that it belongs to.
enum { LEAST_WIDTH = 960, MOST_WIDTH = 1400, LEAST_HEIGHT = 700, MOST_HEIGHT = 920 };

guint litho_sweep_values(const LithoParam *row, guint n, double *values)
{
    LithoSweepAxis axis;
    gboolean soft = row->soft_min != 0 || row->soft_max != 0;
    litho_sweep_axis_fill(&axis, row, soft ? MAX(row->soft_min, row->min) : row->min,
                          soft ? MIN(row->soft_max, row->max) : row->max, n, NAN);
    for (guint k = 0; k < axis.n; k++)
        values[k] = axis.value[k];
    return axis.n;
}

// --- the job ------------------------------------------------------------------------------------

typedef struct Sweep {
    gint refs; // window and job
    GtkWidget *dialog, *line[2], *show, *box, *legend, *kind, *status;
    int thumb_w, thumb_h; // of the sheet's cards
    LithoWindow *window;
    const LithoOperator *op; // whose parameters are swept
    LithoSweepAxis axis[2];  // of the sheet
    guint shots, wanted;
    LithoJob *job;
    gboolean again; // another sheet is wanted when the job has ended
} Sweep;

typedef struct Errand {
    Sweep *sweep;
    LithoSweepTask *task;
} Errand;

typedef struct Delivery {
    Sweep *sweep;
    LithoSweepShot *shot;
} Delivery;

static void sweep_unref(Sweep *sweep)
{
    if (g_atomic_int_dec_and_test(&sweep->refs)) {
        g_object_unref(sweep->window);
        g_free(sweep);
    }
}

static void errand_free(gpointer data)
{
    Errand *errand = data;
    litho_sweep_task_free(errand->task);
    sweep_unref(errand->sweep);
    g_free(errand);
}

static void delivery_free(gpointer data)
{
    Delivery *d = data;
    litho_sweep_shot_free(d->shot);
    sweep_unref(d->sweep);
    g_free(d);
}

static gboolean show_shot(gpointer data);

static void deliver(LithoSweepShot *shot, gpointer data)
{
    Delivery *d = g_new(Delivery, 1);
    *d = (Delivery){data, shot};
    g_atomic_int_inc(&d->sweep->refs);
    g_idle_add_full(G_PRIORITY_DEFAULT, show_shot, d, delivery_free);
}

static gpointer work(LithoRun *run, gpointer data, GError **error)
{
    Errand *errand = data;
    return litho_sweep_run(errand->task, run, deliver, errand->sweep, error) ? errand : NULL;
}

// Before the first picture stands the level of the noise, which may take long on a large survey.
static void show_progress(const LithoProgress *progress, gpointer data)
{
    const Sweep *sweep = ((const Errand *)data)->sweep;
    if (!sweep->dialog || sweep->again || progress->total <= 0)
        return;
    g_autofree char *text =
        litho_text_printf(_("%u of %u; %s %.0f %%"), sweep->shots, sweep->wanted,
                          progress->what ? litho_text(progress->what) : "",
                          100 * CLAMP((double)progress->done / (double)progress->total, 0, 1));
    gtk_label_set_text(GTK_LABEL(sweep->status), text);
}

static void start(Sweep *sweep);
static void mark_best(Sweep *sweep);

static void done(gpointer result, const GError *error, gpointer data)
{
    Sweep *sweep = ((Errand *)data)->sweep;
    (void)error;
    sweep->job = NULL;
    if (!sweep->dialog)
        return;
    if (sweep->again)
        start(sweep);
    else if (result) {
        mark_best(sweep);
        gtk_label_set_text(GTK_LABEL(sweep->status),
                           _("Click a picture to adopt its values; stay on "
                             "one to see it larger."));
    }
}

// --- the sheet ----------------------------------------------------------------------------------

typedef struct Card {
    Sweep *sweep;
    guint at[2];
    double score; // that the best has most of, dB; NAN = not told
    GdkTexture *picture[LITHO_SWEEP_PICTURES], *thumb[LITHO_SWEEP_PICTURES];
    GtkWidget *image, *best; // what names the highest SNR
} Card;

static const char card_key[] = "litho-card";

static void card_free(gpointer data)
{
    Card *card = data;
    for (int k = 0; k < LITHO_SWEEP_PICTURES; k++) {
        g_clear_object(&card->picture[k]);
        g_clear_object(&card->thumb[k]);
    }
    g_free(card);
}

static void adopt(GtkButton *button, Sweep *sweep)
{
    const Card *card = g_object_get_data(G_OBJECT(button), card_key);
    LithoSession *session = litho_window_session(sweep->window);
    int step = litho_session_selected(session);
    const LithoStep *s = step >= 0 ? litho_flow_step(litho_session_flow(session), step) : NULL;
    gboolean same = s && sweep->axis[0].row &&
                    litho_param_find(&s->op->params, sweep->axis[0].row->key) == sweep->axis[0].row;
    if (same && sweep->axis[1].row) { // both as one change
        g_autofree void *params = g_memdup2(s->params, s->op->params.size);
        for (int k = 0; k < 2; k++)
            litho_sweep_put(sweep->axis[k].row, params, sweep->axis[k].value[card->at[k]], NULL);
        litho_session_set_params(session, step, params, _("Sweep of"));
    } else if (same) {
        const double value = sweep->axis[0].value[card->at[0]];
        char text[G_ASCII_DTOSTR_BUF_SIZE];
        g_ascii_formatd(text, sizeof text, "%.6g", value);
        litho_session_set_param(session, step, sweep->axis[0].row, value,
                                sweep->axis[0].row->type == LITHO_PARAM_FILE ? text : NULL, NULL);
    }
    gtk_window_destroy(GTK_WINDOW(sweep->dialog));
}

static GdkTexture *texture_of(cairo_surface_t *surface)
{
    if (!surface)
        return NULL;
    cairo_surface_flush(surface);
    int w = cairo_image_surface_get_width(surface), h = cairo_image_surface_get_height(surface);
    int stride = cairo_image_surface_get_stride(surface);
    g_autoptr(GBytes) bytes = g_bytes_new(cairo_image_surface_get_data(surface), (gsize)stride * h);
    return gdk_memory_texture_new(w, h, GDK_MEMORY_DEFAULT, bytes, stride);
}

// A texture in the size of a card: a picture's own size is what a card would grow to.
static GdkTexture *thumb_of(const Sweep *sweep, cairo_surface_t *surface)
{
    if (!surface)
        return NULL;
    cairo_surface_t *small =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, sweep->thumb_w, sweep->thumb_h);
    cairo_t *cr = cairo_create(small);
    cairo_scale(cr, (double)sweep->thumb_w / cairo_image_surface_get_width(surface),
                (double)sweep->thumb_h / cairo_image_surface_get_height(surface));
    cairo_set_source_surface(cr, surface, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_GOOD);
    cairo_paint(cr);
    cairo_destroy(cr);
    GdkTexture *texture = texture_of(small);
    cairo_surface_destroy(small);
    return texture;
}

// "100 % × 3 traces". `used`: of the shot.
static char *setting_of(const Sweep *sweep, const guint at[2], const double used[2])
{
    LithoCube *in = litho_session_input(litho_window_session(sweep->window));
    GString *text = g_string_new(NULL);
    for (int k = 0; k < 2 && sweep->axis[k].row; k++) {
        const LithoParam *row = sweep->axis[k].row;
        const double own = sweep->axis[k].value[at[k]];
        g_autofree char *value =
            row->type == LITHO_PARAM_FILE
                ? litho_text_printf("%.6g %s", own, litho_text(row->unit))
                : litho_param_format_left(row, own, used[k], in && in->grid.is_depth);
        const gboolean is_switch = row->type == LITHO_PARAM_BOOL; // "on" alone says nothing
        g_autofree char *named =
            is_switch ? g_strdup_printf("%s: %s", litho_text(row->label), value) : g_strdup(value);
        g_string_append_printf(text, "%s%s", k ? " × " : "", named);
    }
    return g_string_free(text, FALSE);
}

// Lines break between figures, not within "16.3 dB".
static char *unbroken(const char *text)
{
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    return g_strjoinv("\302\240", words);
}

static void add_figure(GString *text, const char *figure, const char *before)
{
    g_autofree char *whole = unbroken(figure);
    if (text->len > 0 && text->str[text->len - 1] != '\n')
        g_string_append(text, before);
    g_string_append(text, whole);
}

static char *caption_of(const Sweep *sweep, const LithoSweepShot *s)
{
    const gboolean narrow = sweep->thumb_w < THUMB_W;
    const char *gap = narrow ? "\n" : "   ";
    // A setting with the operator's own number takes a line: the figures move on by one.
    const gboolean longer = isfinite(s->used[0]) || isfinite(s->used[1]);
    g_autofree char *setting = setting_of(sweep, s->at, s->used),
                    *time = litho_format_duration(s->ms);
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "<b>%s</b>%s", setting, s->is_now ? _("  (now)") : "");
    if (s->refused)
        return g_string_free(text, FALSE);
    // Where no SNR can be told, as of filtered data, its figure would contradict the window's.
    const LithoQuality *q = &s->quality;
    if (s->judged && isfinite(q->expected_snr_db) && !q->is_filtered) {
        g_autofree char *snr = litho_format_decibels(q->expected_snr_db, 1, FALSE);
        const char *bound = q->is_clean || q->expected_is_bound ? "≥ " : q->is_beyond ? "≤ " : "";
        g_autofree char *figure = g_strdup_printf("SNR %s%s", bound, snr);
        add_figure(text, figure, longer ? "\n" : gap);
    } else if (s->judged && isfinite(q->hidden_recorded_db)) {
        // A misfit below the noise level tells a bound: the error is no larger than the misfit.
        const gboolean known = isfinite(q->hidden_snr_db);
        g_autofree char *snr =
            litho_format_decibels(known ? q->hidden_snr_db : q->hidden_recorded_db, 1, FALSE);
        g_autofree char *figure =
            g_strdup_printf(known ? _("hidden traces %s") : _("hidden traces ≥ %s"), snr);
        add_figure(text, figure, "\n"); // longer than the line of a card takes
    }
    if (!longer)
        g_string_append_c(text, '\n');
    const double leaving = s->judged ? litho_quality_leaving(&s->quality) : NAN;
    if (isfinite(leaving)) {
        g_autofree char *leaves = litho_text_printf(_("leaves %.1f %%"), 100 * leaving);
        add_figure(text, leaves, longer ? gap : "");
    }
    if (isfinite(s->removed)) {
        g_autofree char *removed = litho_text_printf(
            s->judged ? _("removed %.1f %%") : _("removed %.1f %% of the section"),
            100 * s->removed);
        add_figure(text, removed, longer ? "\n" : gap);
    }
    // The first one makes what the others find ready.
    const gboolean first = s->at[0] == 0 && s->at[1] == 0 && sweep->wanted > 1;
    g_autofree char *figure = first ? g_strdup_printf(_("%s at first"), time) : g_strdup(time);
    add_figure(text, figure,
               first && !longer ? "\n" : "   "); // a line that wraps would shrink the picture
    return g_string_free(text, FALSE);
}

static LithoSweepPicture shown(const Sweep *sweep)
{
    return (LithoSweepPicture)gtk_drop_down_get_selected(GTK_DROP_DOWN(sweep->show));
}

static void show_picture(const Card *card)
{
    GdkTexture *picture = card->thumb[shown(card->sweep)];
    gtk_picture_set_paintable(GTK_PICTURE(card->image), GDK_PAINTABLE(picture));
}

// The picture as large as it was drawn, while the pointer rests on it or the card has the keyboard.
static gboolean on_tooltip(GtkWidget *button, int x, int y, gboolean keyboard, GtkTooltip *tooltip)
{
    (void)x, (void)y, (void)keyboard;
    const Card *card = g_object_get_data(G_OBJECT(button), card_key);
    GdkTexture *picture = card->picture[shown(card->sweep)];
    if (!picture)
        return FALSE;
    GtkWidget *large = gtk_picture_new_for_paintable(GDK_PAINTABLE(picture));
    litho_name_widget(large, _("Picture of this setting, large"));
    gtk_picture_set_can_shrink(GTK_PICTURE(large), FALSE);
    gtk_tooltip_set_custom(tooltip, large);
    return TRUE;
}

static GtkWidget *make_inside(Card *card, const LithoSweepShot *s)
{
    GtkWidget *inside;
    if (s->refused) {
        inside = gtk_label_new(s->refused);
        gtk_label_set_wrap(GTK_LABEL(inside), TRUE);
        gtk_label_set_max_width_chars(GTK_LABEL(inside), 30);
    } else {
        for (int k = 0; k < LITHO_SWEEP_PICTURES; k++) {
            card->picture[k] = texture_of(s->picture[k]);
            card->thumb[k] = thumb_of(card->sweep, s->picture[k]);
        }
        inside = card->image = gtk_picture_new();
        litho_name_widget(inside, _("Picture of this setting"));
        show_picture(card);
    }
    gtk_widget_set_size_request(inside, card->sweep->thumb_w, card->sweep->thumb_h);
    return inside;
}

// Flows that only fill are told apart by hidden traces.
static double score_of(const LithoSweepShot *s)
{
    const LithoQuality *q = &s->quality;
    if (s->refused || !s->judged || q->is_filtered)
        return NAN;
    return q->fills_alone ? q->hidden_recorded_db : q->expected_snr_db;
}

static GtkWidget *make_card(Sweep *sweep, const LithoSweepShot *s)
{
    GtkWidget *button = gtk_button_new(), *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4);
    Card *card = g_new0(Card, 1);
    *card = (Card){.sweep = sweep, .at = {s->at[0], s->at[1]}};
    card->score = score_of(s);
    GtkWidget *inside = make_inside(card, s), *label = litho_text_new(sweep->thumb_w / 6);
    g_autofree char *caption = caption_of(sweep, s);
    gtk_label_set_xalign(GTK_LABEL(label), 0.5);
    gtk_label_set_justify(GTK_LABEL(label), GTK_JUSTIFY_CENTER);
    gtk_label_set_markup(GTK_LABEL(label), caption);
    gtk_widget_add_css_class(label, "numeric");
    // Pictures are of one size in a line of their own; else they would grow where captions are
    // short.
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    gtk_widget_set_halign(line, GTK_ALIGN_CENTER);
    gtk_box_append(GTK_BOX(line), inside);
    gtk_box_append(GTK_BOX(box), line);
    gtk_box_append(GTK_BOX(box), label);
    card->best = gtk_label_new(NULL); // its line is there from the start: cards stay in place
    gtk_widget_add_css_class(card->best, "litho-good");
    gtk_box_append(GTK_BOX(box), card->best);
    if (sweep->thumb_w < THUMB_W)
        gtk_widget_add_css_class(label, "litho-small");
    gtk_button_set_child(GTK_BUTTON(button), box);
    gtk_widget_add_css_class(button, "flat");
    if (s->is_now)
        gtk_widget_add_css_class(button, "litho-now");
    gtk_widget_set_sensitive(button, !s->refused);
    litho_name_widget(button, gtk_label_get_text(GTK_LABEL(label)));
    g_autofree char *name =
        g_strdup_printf(_("Section with %s"), gtk_label_get_text(GTK_LABEL(label)));
    if (card->image)
        litho_name_widget(card->image, name);
    g_object_set_data_full(G_OBJECT(button), card_key, card, card_free);
    gtk_widget_set_has_tooltip(button, TRUE);
    g_signal_connect(button, "query-tooltip", G_CALLBACK(on_tooltip), NULL);
    g_signal_connect(button, "clicked", G_CALLBACK(adopt), sweep);
    return button;
}

static gboolean show_shot(gpointer data)
{
    const Delivery *d = data;
    Sweep *sweep = d->sweep;
    if (!sweep->dialog || sweep->again) // of a sheet that is not wanted any more
        return G_SOURCE_REMOVE;
    gtk_flow_box_insert(GTK_FLOW_BOX(sweep->box), make_card(sweep, d->shot), -1);
    if (d->shot->picture[LITHO_SWEEP_SIMILARITY])
        gtk_label_set_text(GTK_LABEL(sweep->kind), litho_similarity_words(d->shot->is_beside));
    g_autofree char *text = g_strdup_printf(_("%u of %u"), ++sweep->shots, sweep->wanted);
    gtk_label_set_text(GTK_LABEL(sweep->status), text);
    return G_SOURCE_REMOVE;
}

static const Card *card_of(GtkWidget *child)
{
    GtkWidget *button = gtk_flow_box_child_get_child(GTK_FLOW_BOX_CHILD(child));
    return g_object_get_data(G_OBJECT(button), card_key);
}

static void on_show(Sweep *sweep)
{
    gtk_widget_set_visible(sweep->legend, shown(sweep) == LITHO_SWEEP_SIMILARITY);
    for (GtkWidget *c = gtk_widget_get_first_child(sweep->box); c;
         c = gtk_widget_get_next_sibling(c)) {
        const Card *card = card_of(c);
        if (card->image)
            show_picture(card);
    }
}

// Names the setting with the highest expected SNR, once all are there.
static void mark_best(Sweep *sweep)
{
    const Card *best = NULL;
    guint told = 0;
    for (GtkWidget *c = gtk_widget_get_first_child(sweep->box); c;
         c = gtk_widget_get_next_sibling(c)) {
        const Card *card = card_of(c);
        if (!isfinite(card->score))
            continue;
        told++;
        if (!best || card->score > best->score)
            best = card;
    }
    if (told > 1)
        gtk_label_set_text(GTK_LABEL(best->best), _("highest SNR"));
}

// --- asking -------------------------------------------------------------------------------------

static LithoSweepTask *make_task(Sweep *sweep)
{
    LithoSession *session = litho_window_session(sweep->window);
    LithoCube *input = litho_session_input(session);
    LithoJudgement *judgement = litho_window_judgement(sweep->window);
    const int axis =
        litho_cube_view_axis(litho_canvas_active_view(litho_window_canvas(sweep->window)));
    LithoSweepTask *task = g_new0(LithoSweepTask, 1);
    task->flow = litho_flow_copy(litho_session_flow(session));
    task->step = litho_session_selected(session);
    task->in = input ? litho_cube_ref(input) : NULL;
    task->device = litho_session_device(session);
    task->look = litho_session_display(session)->look;
    task->look.grid_lines = task->look.reversed = FALSE;
    task->view = litho_session_slice_view(session, axis == LITHO_VIEW_SCENE ? LITHO_INLINE : axis);
    task->view.keep_aspect = FALSE;
    const LithoGrid *grid = litho_session_grid(session);
    if (grid)
        task->grid = *grid;
    task->width = THUMB_W * ZOOM;
    task->height = THUMB_H * ZOOM;
    task->judged = litho_judgement_applies(session);
    task->area = litho_judgement_area(session);
    litho_judgement_hidden(judgement, &task->seed);
    task->widths = litho_judgement_widths(judgement);
    const LithoNoise *noise = litho_judgement_noise(judgement, task->area);
    task->noise = noise ? litho_noise_copy(noise) : (LithoNoise){0};
    const LithoStep *step = litho_flow_step(task->flow, task->step);
    for (int k = 0; k < 2 && sweep->axis[k].row; k++) {
        task->axis[k] = sweep->axis[k];
        task->now[k] = litho_sweep_value(sweep->axis[k].row, step->params);
    }
    return task;
}

static gboolean read_axes(Sweep *sweep, GError **error)
{
    LithoSession *session = litho_window_session(sweep->window);
    const int selected = litho_session_selected(session);
    const LithoStep *step =
        selected >= 0 ? litho_flow_step(litho_session_flow(session), selected) : NULL;
    const LithoParam *second = litho_sweep_line_row(LITHO_SWEEP_LINE(sweep->line[1]));
    const gboolean two = second != NULL;
    LithoSweepAxis axis[2] = {0};
    // The dialog is of one operator, and the main window may show another one by now.
    if (!step || step->op != sweep->op)
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "the step that is swept has gone; open the sweep again");
    if (two && second == litho_sweep_line_row(LITHO_SWEEP_LINE(sweep->line[0])))
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "both lines name the same parameter; two are needed");
    for (int k = 0; k < (two ? 2 : 1); k++) {
        LithoSweepLine *line = LITHO_SWEEP_LINE(sweep->line[k]);
        const LithoParam *row = litho_sweep_line_row(line);
        if (!litho_sweep_line_fill(line, two ? LITHO_SWEEP_DOUBLE : LITHO_SWEEP_SINGLE,
                                   row ? litho_sweep_value(row, step->params) : NAN, &axis[k],
                                   error))
            return FALSE;
    }
    if (!axis[0].row)
        return FALSE;
    memcpy(sweep->axis, axis, sizeof axis);
    return TRUE;
}

static void start(Sweep *sweep)
{
    static const LithoJobFuncs funcs = {work, show_progress, done, errand_free};
    g_autoptr(GError) error = NULL;
    sweep->again = sweep->job != NULL;
    if (sweep->job) { // the sheet under way makes room first
        litho_job_cancel(sweep->job);
        return;
    }
    if (!read_axes(sweep, &error)) {
        g_autofree char *sentence = error ? litho_plain_sentence(error->message) : NULL;
        gtk_label_set_text(GTK_LABEL(sweep->status), sentence ? sentence : "");
        return;
    }
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(sweep->box)))
        gtk_flow_box_remove(GTK_FLOW_BOX(sweep->box), child);
    const guint columns = sweep->axis[1].row ? sweep->axis[0].n : COLUMNS;
    const int width = MAX(gtk_widget_get_width(sweep->dialog), LEAST_WIDTH);
    sweep->thumb_w = CLAMP((width - 40) / (int)MAX(columns, 1) - BESIDE, LEAST_W, THUMB_W);
    sweep->thumb_h = sweep->thumb_w * THUMB_H / THUMB_W;
    gtk_flow_box_set_max_children_per_line(GTK_FLOW_BOX(sweep->box), columns);
    gtk_flow_box_set_min_children_per_line(GTK_FLOW_BOX(sweep->box),
                                           sweep->axis[1].row ? columns : 1);
    gtk_label_set_text(GTK_LABEL(sweep->status), _("computing…"));
    Errand *errand = g_new(Errand, 1);
    *errand = (Errand){sweep, make_task(sweep)};
    g_atomic_int_inc(&sweep->refs);
    sweep->shots = 0;
    sweep->wanted = litho_sweep_task_length(errand->task);
    sweep->job = litho_job_start(&funcs, errand);
}

// --- the dialog ---------------------------------------------------------------------------------

static void on_destroy(GtkWidget *dialog, Sweep *sweep)
{
    (void)dialog;
    sweep->dialog = NULL;
    litho_job_cancel(sweep->job);
    sweep_unref(sweep);
}

// The colours of |c| from 0 to 1.
static void draw_legend(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer unused)
{
    (void)area, (void)unused;
    LithoLook look = litho_look_default();
    const LithoRange range = {.lo = 0, .hi = 1, .is_unsigned = TRUE};
    litho_look_set_range(&look, &range);
    for (int x = 0; x < width; x++) {
        const guint8 *rgba = look.map->rgba[255 * x / MAX(width - 1, 1)];
        cairo_set_source_rgb(cr, rgba[0] / 255.0, rgba[1] / 255.0, rgba[2] / 255.0);
        cairo_rectangle(cr, x, 0, 1, height);
        cairo_fill(cr);
    }
}

static GtkWidget *make_legend(Sweep *sweep)
{
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6), *bar = gtk_drawing_area_new();
    gtk_drawing_area_set_content_width(GTK_DRAWING_AREA(bar), 90);
    gtk_drawing_area_set_content_height(GTK_DRAWING_AREA(bar), 12);
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(bar), draw_legend, NULL, NULL);
    gtk_widget_set_valign(bar, GTK_ALIGN_CENTER);
    litho_name_widget(bar, _("Colours of the similarity, from 0 to 1"));
    sweep->kind = litho_label_new(NULL, NULL);
    gtk_box_append(GTK_BOX(line), sweep->kind);
    gtk_box_append(GTK_BOX(line), gtk_label_new("|c| 0"));
    gtk_box_append(GTK_BOX(line), bar);
    gtk_box_append(GTK_BOX(line), gtk_label_new("1"));
    gtk_widget_set_visible(line, FALSE);
    return line;
}

// With a second parameter the sheet is a square of them.
static void on_second(Sweep *sweep)
{
    const gboolean two = litho_sweep_line_row(LITHO_SWEEP_LINE(sweep->line[1])) != NULL;
    litho_sweep_line_limit(LITHO_SWEEP_LINE(sweep->line[0]),
                           two ? LITHO_SWEEP_DOUBLE : LITHO_SWEEP_SINGLE);
}

static GtkWidget *make_head(Sweep *sweep, const LithoStep *step)
{
    const char *const kinds[] = {_("Output"), _("Removed"), _("Similarity"), NULL};
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 9);
    GtkWidget *button = gtk_button_new_with_label(_("Start"));
    const LithoGrid *grid = litho_session_grid(litho_window_session(sweep->window));
    for (int k = 0; k < 2; k++) {
        sweep->line[k] = litho_sweep_line_new(step, k == 1, grid && grid->is_depth);
        gtk_box_append(GTK_BOX(box), sweep->line[k]);
    }
    litho_sweep_lines_align(LITHO_SWEEP_LINE(sweep->line[0]), LITHO_SWEEP_LINE(sweep->line[1]));
    g_signal_connect_swapped(sweep->line[1], "chosen", G_CALLBACK(on_second), sweep);
    sweep->legend = make_legend(sweep);
    sweep->show = gtk_drop_down_new_from_strings(kinds);
    litho_name_choice(sweep->show, _("Pictures"),
                      _("Output, what was removed, or where both are alike"));
    sweep->status = litho_label_new(NULL, "dim-label");
    gtk_label_set_ellipsize(GTK_LABEL(sweep->status), PANGO_ELLIPSIZE_END);
    gtk_widget_set_hexpand(sweep->status, TRUE);
    gtk_widget_add_css_class(button, "suggested-action");
    g_signal_connect_swapped(button, "clicked", G_CALLBACK(start), sweep);
    g_signal_connect_swapped(sweep->show, "notify::selected", G_CALLBACK(on_show), sweep);
    gtk_box_append(GTK_BOX(line), button);
    gtk_box_append(GTK_BOX(line), sweep->show);
    gtk_box_append(GTK_BOX(line), sweep->legend);
    gtk_box_append(GTK_BOX(line), sweep->status);
    gtk_box_append(GTK_BOX(box), line);
    return box;
}

static GtkWidget *make_sheet(Sweep *sweep)
{
    GtkWidget *scroll = gtk_scrolled_window_new();
    sweep->box = gtk_flow_box_new();
    gtk_flow_box_set_selection_mode(GTK_FLOW_BOX(sweep->box), GTK_SELECTION_NONE);
    gtk_flow_box_set_homogeneous(GTK_FLOW_BOX(sweep->box), TRUE);
    gtk_widget_set_valign(sweep->box, GTK_ALIGN_START);
    gtk_widget_set_halign(sweep->box, GTK_ALIGN_CENTER);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), sweep->box);
    gtk_widget_set_vexpand(scroll, TRUE);
    return scroll;
}

void litho_sweep_open(LithoWindow *window)
{
    LithoSession *session = litho_window_session(window);
    const int step = litho_session_selected(session);
    if (step < 0)
        return;
    Sweep *sweep = g_new0(Sweep, 1);
    sweep->refs = 1;
    sweep->window = g_object_ref(window);
    const LithoStep *swept = litho_flow_step(litho_session_flow(session), step);
    sweep->op = swept->op;
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);
    gtk_widget_add_css_class(box, "litho-palette");
    gtk_box_append(GTK_BOX(box), make_head(sweep, swept));
    gtk_box_append(GTK_BOX(box), make_sheet(sweep));
    sweep->dialog = litho_dialog_new(
        GTK_WINDOW(window), _("Parameter sweep"),
        CLAMP(gtk_widget_get_width(GTK_WIDGET(window)) - 80, LEAST_WIDTH, MOST_WIDTH),
        CLAMP(gtk_widget_get_height(GTK_WIDGET(window)) - 40, LEAST_HEIGHT, MOST_HEIGHT));
    gtk_window_set_child(GTK_WINDOW(sweep->dialog), box);
    g_signal_connect(sweep->dialog, "destroy", G_CALLBACK(on_destroy), sweep);
    gtk_window_present(GTK_WINDOW(sweep->dialog));
    start(sweep);
}
