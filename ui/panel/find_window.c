// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/find_window.h"

#include <math.h>
#include <string.h>

#include "core/engine/find.h"
#include "core/engine/probe.h"
#include "core/error.h"
#include "core/text.h"
#include "ui/panel/param_format.h"
#include "ui/panel/parts.h"
#include "core/suggest.h"
#include "ui/view/tooltip.h"
#include "ui/window/dialog.h"
#include "ui/window/window_private.h"

enum { MAX_ROWS = 16, COLUMNS = 4, SECONDS = 60, HIDE_PERCENT = 5, FOLDS = 2 };

// A value that may be applied.
typedef struct Row {
    const LithoParam *row;
    double value;
    GtkWidget *tick;
} Row;

typedef struct Search {
    gint refs; // dialog and job
    LithoWindow *window;
    const LithoOperator *op;
    guint step;
    GtkWidget *dialog, *suggested_title, *suggested, *found_title, *found, *status, *apply, *stop;
    GtkSizeGroup *column[COLUMNS]; // of both lists
    Row row[MAX_ROWS];
    guint n_rows;
    LithoJob *job;
    guint clock; // shows the seconds while the job runs
    gint64 began_us;

    GMutex lock;      // of what the job tells while it runs
    guint trials;     // so far
    double best_gain; // dB
} Search;

// All that the job needs: the window may change meanwhile.
typedef struct Task {
    Search *search;
    LithoFlow *flow;
    LithoCube *in;
    LithoBox area;
    LithoDevice device;
    LithoNoise noise; // n = 0: to be measured
    guint32 seed;
    guint step;
} Task;

static void search_unref(Search *s)
{
    if (!g_atomic_int_dec_and_test(&s->refs))
        return;
    g_mutex_clear(&s->lock);
    for (int k = 0; k < COLUMNS; k++)
        g_object_unref(s->column[k]);
    g_object_unref(s->window);
    g_free(s);
}

static void task_free(gpointer data)
{
    Task *t = data;
    litho_flow_free(t->flow);
    litho_cube_unref(t->in);
    litho_noise_clear(&t->noise);
    search_unref(t->search);
    g_free(t);
}

// --- in the thread ------------------------------------------------------------------------------

static void on_trial(const LithoFind *so_far, gpointer data)
{
    Search *s = ((Task *)data)->search;
    g_mutex_lock(&s->lock);
    s->trials = so_far->trials;
    s->best_gain = so_far->gain_db;
    g_mutex_unlock(&s->lock);
}

static gpointer work(LithoRun *run, gpointer data, GError **error)
{
    Task *t = data;
    LithoFind *find = g_new0(LithoFind, 1);
    LithoFindAsk ask = {.quality = {.flow = t->flow, .in = t->in, .area = t->area, .seed = t->seed},
                        .step = t->step,
                        .seconds = SECONDS,
                        .on_trial = on_trial,
                        .data = t};
    gboolean ok = litho_cube_host(t->in, error) != NULL;
    if (ok && t->noise.n == 0 && !litho_quality_noise(t->in, &t->area, run, &t->noise, NULL))
        t->noise = (LithoNoise){0};
    ask.quality.noise = t->noise.n > 0 ? &t->noise : NULL;
    ask.quality.hide = t->noise.n > 0 ? 0 : HIDE_PERCENT;
    ask.quality.folds = FOLDS;
    LithoJudge *judge = litho_judge_new(t->device);
    ok = ok && litho_find(judge, &ask, run, find, error);
    litho_judge_free(judge);
    if (ok)
        return find;
    g_free(find);
    return NULL;
}

// --- the list -----------------------------------------------------------------------------------

static LithoStep *step_of(Search *s)
{
    const LithoFlow *flow = litho_session_flow(litho_window_session(s->window));
    LithoStep *step = s->step < litho_flow_length(flow) ? litho_flow_step(flow, s->step) : NULL;
    return step && step->op == s->op ? step : NULL; // it may have gone meanwhile
}

static void on_tick(Search *s)
{
    gboolean any = FALSE;
    for (guint k = 0; k < s->n_rows; k++)
        any = any || gtk_check_button_get_active(GTK_CHECK_BUTTON(s->row[k].tick));
    gtk_widget_set_sensitive(s->apply, any && step_of(s));
}

static void format(Search *s, const LithoParam *row, double value, char *out, gsize size)
{
    LithoCube *in = litho_session_input(litho_window_session(s->window));
    litho_param_format_any(row, value, in && in->grid.is_depth, out, size);
}

// The value before the search, with the operator's choice where it is left to it. g_free().
static char *format_now(Search *s, const LithoParam *row, double now)
{
    LithoSession *session = litho_window_session(s->window);
    LithoCube *in = litho_session_input(session);
    g_autoptr(GArray) numbers = litho_session_report_numbers(session);
    double used = NAN;
    for (guint k = 0; numbers && k < numbers->len; k++) {
        const LithoNumber *number = &g_array_index(numbers, LithoNumber, k);
        if (litho_number_is_used(number, s->op->key, row->key) &&
            (litho_param_is_special(row, now) ||
             (row->type == LITHO_PARAM_CHOICE && number->value != now)))
            used = number->value;
    }
    return litho_param_format_left(row, now, used, in && in->grid.is_depth);
}

static GtkWidget *cell(Search *s, GtkWidget *grid, const char *text, int column, int line,
                       const char *css)
{
    GtkWidget *label = litho_label_new(text, css);
    gtk_label_set_xalign(GTK_LABEL(label), column == 0 ? 0 : 1);
    gtk_size_group_add_widget(s->column[column], label);
    gtk_grid_attach(GTK_GRID(grid), label, column, line, 1, 1);
    return label;
}

// One line: tick with the name, now, found, gain.
static void add_row(Search *s, GtkWidget *grid, int line, const LithoParam *row, double now,
                    double value, const char *gain, gboolean ticked)
{
    char to[64];
    if (s->n_rows >= MAX_ROWS)
        return;
    g_autofree char *from = format_now(s, row, now);
    format(s, row, value, to, sizeof to);
    GtkWidget *tick = gtk_check_button_new_with_label(litho_text(row->label));
    gboolean differs = now != value;
    g_autofree char *name =
        g_strdup_printf(_("%s: %s instead of %s, %s"), litho_text(row->label), to, from, gain);
    litho_name_widget(tick, name);
    litho_set_tooltip(tick, litho_text(row->doc));
    gtk_check_button_set_active(GTK_CHECK_BUTTON(tick), ticked && differs);
    gtk_widget_set_sensitive(tick, differs);
    gtk_widget_set_hexpand(tick, TRUE);
    gtk_size_group_add_widget(s->column[0], tick);
    gtk_grid_attach(GTK_GRID(grid), tick, 0, line, 1, 1);
    cell(s, grid, from, 1, line, "numeric");
    cell(s, grid, differs ? to : _("as it is"), 2, line, "numeric");
    cell(s, grid, gain, 3, line, "numeric");
    s->row[s->n_rows++] = (Row){row, value, tick};
    g_signal_connect_swapped(tick, "toggled", G_CALLBACK(on_tick), s);
}

static void add_head(Search *s, GtkWidget *grid, const char *last)
{
    const char *const heads[COLUMNS] = {_("Parameter"), _("now"), _("found"), last};
    for (int k = 0; k < COLUMNS; k++)
        cell(s, grid, heads[k], k, 0, "dim-label");
}

// TRUE: the operator names parameters, and output and input can be compared.
static gboolean searches(const Search *s)
{
    return s->op->find && litho_judgement_applies(litho_window_session(s->window));
}

// The lines that the search will fill, so that nothing moves when it has.
static void add_waiting(Search *s)
{
    const LithoStep *step = step_of(s);
    int line = 1;
    add_head(s, s->found, _("gain"));
    for (const LithoFindRow *r = s->op->find; r->key; r++) {
        const LithoParam *row = litho_param_find(&s->op->params, r->key);
        if (!row || r->reversed || !litho_param_applies(&s->op->params, row, step->params))
            continue;
        g_autofree char *now = format_now(s, row, litho_param_get(row, step->params));
        GtkWidget *tick = gtk_check_button_new_with_label(litho_text(row->label));
        gtk_widget_set_sensitive(tick, FALSE);
        gtk_widget_set_hexpand(tick, TRUE);
        gtk_size_group_add_widget(s->column[0], tick);
        gtk_grid_attach(GTK_GRID(s->found), tick, 0, line, 1, 1);
        cell(s, s->found, now, 1, line, "numeric");
        cell(s, s->found, "…", 2, line++, "dim-label");
    }
}

static void clear_grid(GtkWidget *grid)
{
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(grid)))
        gtk_grid_remove(GTK_GRID(grid), child);
}

static void add_sentence(GtkWidget *grid, int line, const char *text)
{
    GtkWidget *label = litho_label_new(text, "dim-label");
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_grid_attach(GTK_GRID(grid), label, 0, line, COLUMNS, 1);
}

// At once, from what is known of the data; left to the person to tick.
static void fill_suggested(Search *s)
{
    LithoSession *session = litho_window_session(s->window);
    LithoCube *in = litho_session_input(session);
    const LithoCubeNumbers *numbers = litho_session_numbers(session, LITHO_NUMBERS_IN);
    LithoStep *step = step_of(s);
    if (!in || !numbers || !step)
        return;
    double traces = litho_box_size(in->held, 0) * (double)litho_box_size(in->held, 1);
    GArray *list = litho_suggest(step->op, &in->grid, &numbers->spectrum, &numbers->events,
                                 1 - litho_cube_count_live(in) / MAX(traces, 1));
    g_autoptr(GString) same = g_string_new(NULL);
    int line = 1;
    for (guint k = 0; k < list->len; k++, line += 2) {
        LithoSuggestion *g = &g_array_index(list, LithoSuggestion, k);
        if (litho_param_get(g->row, step->params) == g->value) {
            g_string_append_printf(same, "%s%s", same->len ? ", " : "", litho_text(g->row->label));
            continue;
        }
        if (s->n_rows == 0)
            add_head(s, s->suggested, "");
        add_row(s, s->suggested, line, g->row, litho_param_get(g->row, step->params), g->value, "",
                FALSE);
        GtkWidget *why = litho_label_new(g->why, "dim-label");
        gtk_label_set_wrap(GTK_LABEL(why), TRUE);
        gtk_widget_add_css_class(why, "litho-why-line");
        gtk_grid_attach(GTK_GRID(s->suggested), why, 0, line + 1, COLUMNS, 1);
    }
    if (same->len > 0) {
        g_autofree char *sentence = g_strdup_printf(_("%s: as the data suggest."), same->str);
        add_sentence(s->suggested, line, sentence);
    }
    gtk_widget_set_visible(s->suggested_title, list->len > 0);
    g_array_unref(list);
}

// Worth a tick, in dB: what gains more than the estimate scatters by.
#define WORTH_DB 0.05

static void fill_found(Search *s, const LithoFind *find)
{
    clear_grid(s->found);
    add_head(s, s->found, _("gain"));
    for (guint k = 0; k < find->n; k++) {
        const LithoFound *f = &find->item[k];
        g_autofree char *gain = litho_format_decibels(f->gain_db, 2, TRUE);
        add_row(s, s->found, (int)k + 1, f->row, f->now, f->found, gain, f->gain_db > WORTH_DB);
    }
    on_tick(s);
}

// --- the job's end ------------------------------------------------------------------------------

static gboolean tick_clock(gpointer data)
{
    Search *s = data;
    g_mutex_lock(&s->lock);
    guint trials = s->trials;
    double gain = s->best_gain;
    g_mutex_unlock(&s->lock);
    int seconds = (int)((g_get_monotonic_time() - s->began_us) / G_USEC_PER_SEC);
    g_autofree char *best = litho_format_decibels(gain, 2, TRUE);
    g_autofree char *text =
        trials > 0 && gain < WORTH_DB
            ? g_strdup_printf(_("%d s, settings tried: %u, none is better yet"), seconds, trials)
        : trials > 0
            ? g_strdup_printf(_("%d s, settings tried: %u, the best %s"), seconds, trials, best)
            : g_strdup_printf(_("%d s: measuring the noise and the setting as it is"), seconds);
    gtk_label_set_text(GTK_LABEL(s->status), text);
    return G_SOURCE_CONTINUE;
}

// The gain of all values together, or that there is none; `level`: the SNR expected then, NULL =
// not known, or at most this where `beyond`.
static char *gain_text(const LithoFind *find, const char *level, gboolean beyond)
{
    g_autofree char *gain = litho_format_decibels(find->gain_db, 2, TRUE);
    const gboolean gains = find->gain_db > 0.05;
    if (!level)
        return gains ? litho_text_printf(_("All together %s: %u settings in %.1f s."), gain,
                                         find->trials, find->seconds)
                     : litho_text_printf(
                           _("The values as they are cannot be bettered: %u settings in %.1f s."),
                           find->trials, find->seconds);
    if (gains)
        return litho_text_printf(
            beyond ? _("All together %s, expected SNR at most %s: %u settings in %.1f s.")
                   : _("All together %s, expected SNR %s: %u settings in %.1f s."),
            gain, level, find->trials, find->seconds);
    return litho_text_printf(
        beyond ? _("The values as they are cannot be bettered, expected SNR at most %s: %u "
                   "settings in %.1f s.")
               : _("The values as they are cannot be bettered, expected SNR %s: %u settings in "
                   "%.1f s."),
        level, find->trials, find->seconds);
}

static char *verdict_of(const LithoFind *find)
{
    const LithoQuality *q = &find->found;
    const gboolean is_known = isfinite(q->expected_snr_db) && !q->is_filtered && !q->counts_steep;
    g_autofree char *gain = litho_format_decibels(find->gain_db, 2, TRUE);
    g_autofree char *level = is_known ? litho_format_decibels(q->expected_snr_db, 1, FALSE) : NULL;
    if (litho_quality_only_ranks(q) && find->gain_db > 0.05)
        return litho_text_printf(
            _("No SNR can be told of these data. All together %s, and %.1f to %.1f dB with any "
              "level of the noise that is likely: %u settings in %.1f s."),
            gain, find->gain_low_db, find->gain_high_db, find->trials, find->seconds);
    if (litho_quality_only_ranks(q))
        return litho_text_printf(_("No SNR can be told of these data, and no values gain with any "
                                   "level of the noise that is likely: %u settings in %.1f s."),
                                 find->trials, find->seconds);
    if (q->is_filtered)
        return g_strdup(_("These data look clean or filtered: no SNR can be told, so that no value "
                          "is better than another."));
    return gain_text(find, level, q->is_beyond);
}

static void done(gpointer result, const GError *error, gpointer data)
{
    Search *s = ((Task *)data)->search;
    g_autofree LithoFind *find = result;
    s->job = NULL;
    if (!s->dialog)
        return;
    g_clear_handle_id(&s->clock, g_source_remove);
    gtk_widget_set_visible(s->stop, FALSE);
    if (!find) {
        gboolean stopped = error && litho_error_is_cancelled(error);
        gtk_label_set_text(GTK_LABEL(s->status), stopped ? _("Stopped.") : error->message);
        return;
    }
    fill_found(s, find);
    g_autofree char *text = verdict_of(find);
    g_autofree char *why = litho_text_begin(find->why);
    g_autofree char *note = *why ? g_strdup_printf("%s\n%s.", text, why) : g_strdup(text);
    gtk_label_set_text(GTK_LABEL(s->status), note);
}

// --- the dialog ---------------------------------------------------------------------------------

static void on_apply(Search *s)
{
    LithoStep *step = step_of(s);
    if (!step)
        return;
    g_autofree void *params = g_memdup2(step->params, step->op->params.size);
    for (guint k = 0; k < s->n_rows; k++)
        if (gtk_check_button_get_active(GTK_CHECK_BUTTON(s->row[k].tick)))
            litho_param_set(s->row[k].row, params, s->row[k].value, NULL);
    litho_session_set_params(litho_window_session(s->window), s->step, params,
                             _("Found values for"));
    gtk_window_destroy(GTK_WINDOW(s->dialog));
}

static void on_stop(Search *s)
{
    litho_job_cancel(s->job);
}

static void on_destroy(GtkWidget *dialog, Search *s)
{
    (void)dialog;
    s->dialog = NULL;
    g_clear_handle_id(&s->clock, g_source_remove);
    litho_job_cancel(s->job);
    search_unref(s);
}

static void start(Search *s)
{
    static const LithoJobFuncs funcs = {work, NULL, done, task_free};
    LithoSession *session = litho_window_session(s->window);
    if (!searches(s)) {
        gtk_label_set_text(GTK_LABEL(s->status),
                           s->op->find
                               ? _("Output and input cannot be compared: there is no "
                                   "expected SNR to search by.")
                               : _("This operator names no parameters to search by expected "
                                   "SNR."));
        gtk_widget_set_visible(s->stop, FALSE);
        return;
    }
    Task *t = g_new0(Task, 1);
    g_atomic_int_inc(&s->refs);
    *t = (Task){.search = s,
                .flow = litho_flow_copy(litho_session_flow(session)),
                .in = litho_cube_ref(litho_session_input(session)),
                .area = litho_judgement_area(session),
                .device = litho_session_device(session),
                .step = s->step};
    litho_judgement_hidden(s->window->judgement, &t->seed);
    const LithoNoise *noise = litho_judgement_noise(s->window->judgement, t->area);
    if (noise)
        t->noise = litho_noise_copy(noise);
    s->began_us = g_get_monotonic_time();
    s->clock = g_timeout_add(250, tick_clock, s);
    tick_clock(s);
    s->job = litho_job_start(&funcs, t);
}

static GtkWidget *make_grid(const char *name)
{
    GtkWidget *grid = gtk_grid_new();
    gtk_grid_set_column_spacing(GTK_GRID(grid), 18);
    gtk_grid_set_row_spacing(GTK_GRID(grid), 3);
    litho_name_widget(grid, name);
    return grid;
}

static GtkWidget *make_foot(Search *s)
{
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    s->status = litho_label_new(NULL, "numeric");
    gtk_label_set_wrap(GTK_LABEL(s->status), TRUE);
    gtk_label_set_width_chars(GTK_LABEL(s->status), 24);
    gtk_widget_set_hexpand(s->status, TRUE);
    s->stop = gtk_button_new_with_label(_("Stop"));
    s->apply = gtk_button_new_with_label(_("Apply"));
    gtk_widget_add_css_class(s->apply, "suggested-action");
    gtk_widget_set_tooltip_text(s->apply, _("Ticked values become the flow's; one undo takes them "
                                            "back"));
    gtk_widget_set_sensitive(s->apply, FALSE);
    GtkWidget *buttons[] = {s->stop, s->apply};
    gtk_box_append(GTK_BOX(line), s->status);
    for (guint k = 0; k < G_N_ELEMENTS(buttons); k++) {
        gtk_widget_set_valign(buttons[k], GTK_ALIGN_END);
        gtk_box_append(GTK_BOX(line), buttons[k]);
    }
    g_signal_connect_swapped(s->stop, "clicked", G_CALLBACK(on_stop), s);
    g_signal_connect_swapped(s->apply, "clicked", G_CALLBACK(on_apply), s);
    return line;
}

static void build(Search *s)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);
    GtkWidget *lists = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);
    GtkWidget *scroll = gtk_scrolled_window_new();
    s->found = make_grid(_("Values with the highest expected SNR"));
    s->suggested = make_grid(_("Values from the spectrum, the dips and the size of the data"));
    s->found_title = litho_label_new(_("Highest expected SNR, area in view"), "heading");
    s->suggested_title = litho_label_new(_("From spectrum, dips and size"), "heading");
    gtk_box_append(GTK_BOX(lists), s->found_title);
    gtk_box_append(GTK_BOX(lists), s->found);
    gtk_box_append(GTK_BOX(lists), s->suggested_title);
    gtk_box_append(GTK_BOX(lists), s->suggested);
    gtk_widget_set_visible(s->found_title, searches(s)); // no head without a list
    gtk_widget_set_visible(s->suggested_title, FALSE);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), lists);
    gtk_widget_set_vexpand(scroll, TRUE);
    gtk_widget_add_css_class(box, "litho-help");
    gtk_box_append(GTK_BOX(box), scroll);
    gtk_box_append(GTK_BOX(box), make_foot(s));
    g_autofree char *title = g_strdup_printf(_("Find: %s"), litho_text(s->op->title));
    s->dialog = litho_dialog_new(GTK_WINDOW(s->window), title, 560, 430);
    gtk_window_set_child(GTK_WINDOW(s->dialog), box);
    g_object_set_data(G_OBJECT(s->dialog), "litho-find", s);
    g_signal_connect(s->dialog, "destroy", G_CALLBACK(on_destroy), s);
}

gboolean litho_find_is_done(GtkWidget *dialog, guint *n)
{
    const Search *s = g_object_get_data(G_OBJECT(dialog), "litho-find");
    *n = s->n_rows;
    return s->job == NULL;
}

GtkWidget *litho_find_open(LithoWindow *window)
{
    LithoSession *session = litho_window_session(window);
    int step = litho_session_selected(session);
    if (step < 0 || !litho_session_input(session))
        return NULL;
    Search *s = g_new0(Search, 1);
    g_mutex_init(&s->lock);
    s->refs = 1;
    s->window = g_object_ref(window);
    s->step = (guint)step;
    s->op = litho_flow_step(litho_session_flow(session), step)->op;
    for (int k = 0; k < COLUMNS; k++)
        s->column[k] = gtk_size_group_new(GTK_SIZE_GROUP_HORIZONTAL);
    build(s);
    if (searches(s))
        add_waiting(s);
    fill_suggested(s);
    gtk_window_present(GTK_WINDOW(s->dialog));
    start(s);
    return s->dialog;
}
