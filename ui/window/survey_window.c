// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/survey_window.h"

#include <string.h>

#include "core/io/survey.h"
#include "render/ticks.h"
#include "ui/window/dialog.h"
#include "ui/session/job.h"

// --- texts --------------------------------------------------------------------------------------

static const char *const sources[] = {"assumed", "from the file", "given by you", "computed"};

// "Inline     10087 to 10155, step 4 (18)      from the file: trace header byte 189".
static void append_axis(GString *text, const LithoGrid *grid, int axis)
{
    const LithoAxis *a = &grid->axis[axis];
    const char *names[] = {"Inlines", "Crosslines", grid->is_depth ? "Depth" : "Time"};
    g_autofree char *range =
        g_strdup_printf("%.10g to %.10g%s%s, step %.6g", a->first, litho_axis_value(a, a->n - 1),
                        *a->unit ? " " : "", a->unit, a->step);
    g_string_append_printf(text, "%-12s %6" G_GINT64_FORMAT "   %-32s %s%s%s\n", names[axis], a->n,
                           range, sources[a->source], *a->evidence ? ": " : "", a->evidence);
}

static void append_place(GString *text, const LithoGrid *grid)
{
    g_autofree char *size = g_strdup_printf("%.4g × %.4g m", litho_grid_spacing(grid, LITHO_INLINE),
                                            litho_grid_spacing(grid, LITHO_XLINE));
    int pad = 32 - (int)g_utf8_strlen(size, -1); // printf would count the bytes of ×
    g_string_append_printf(text, "%-12s          %s%*s %s%s%s\n", "Bins", size, MAX(pad, 0), "",
                           sources[grid->xy_source], *grid->xy_evidence ? ": " : "",
                           grid->xy_evidence);
    if (grid->has_xy && grid->xy_source != LITHO_FROM_ASSUMED)
        g_string_append_printf(text, "%-12s          X %.1f m, Y %.1f m\n", "First trace",
                               grid->origin[0], grid->origin[1]);
}

// Only what there is: nobody reads a row of zeros.
static void append_counts(GString *text, LithoSurveyCounts c)
{
    const struct {
        gint64 n;
        const char *what;
    } odd[] = {{c.missing, "missing"},
               {c.dead, "dead"},
               {c.zero, "of zeros"},
               {c.duplicates, "duplicate"},
               {c.bad, "with bad samples"}};
    g_string_append_printf(text,
                           "%-12s %6" G_GINT64_FORMAT "   in the file, %" G_GINT64_FORMAT " live",
                           "Traces", c.traces, c.live);
    for (guint k = 0; k < G_N_ELEMENTS(odd); k++)
        if (odd[k].n > 0)
            g_string_append_printf(text, ", %" G_GINT64_FORMAT " %s", odd[k].n, odd[k].what);
    g_string_append_c(text, '\n');
}

static char *summary_text(LithoCube *cube)
{
    const LithoGrid *grid = &cube->grid;
    GString *text = g_string_new(NULL);
    LithoSurvey *survey = cube->survey;
    if (survey)
        g_string_append_printf(text, "%s\n%s\n\n", litho_survey_path(survey),
                               litho_survey_format(survey));
    else
        g_string_append_printf(text, "%s (not from a file)\n\n", cube->name);
    for (int a = 0; a < 3; a++)
        append_axis(text, grid, a);
    append_place(text, grid);
    if (survey)
        append_counts(text, litho_survey_counts(survey));
    for (guint k = 0; cube->notes && k < cube->notes->len; k++) {
        g_autofree char *note = litho_plain_sentence(g_ptr_array_index(cube->notes, k));
        g_string_append_printf(text, "\n• %s", note);
    }
    return g_string_free(text, FALSE);
}

static char *candidates_text(LithoSurvey *survey)
{
    const LithoCandidate *list;
    guint n = survey ? litho_survey_candidates(survey, &list) : 0;
    if (n == 0)
        return g_strdup("This format has no header bytes to choose from.");
    GString *text = g_string_new("Inline  Crossline  Score  What the headers hold\n");
    for (guint k = 0; k < n; k++)
        g_string_append_printf(text, "%6d  %9d  %5.2f  %s\n", list[k].inline_byte,
                               list[k].xline_byte, list[k].score, list[k].evidence);
    return g_string_free(text, FALSE);
}

char *litho_survey_header_text(LithoSurvey *survey, gint64 i, gint64 j, GError **error)
{
    guint8 bytes[240];
    guint n;
    if (!litho_survey_trace_header(survey, i, j, bytes, error))
        return NULL;
    const LithoHeaderField *fields = litho_segy_fields(&n);
    int width = 5;
    for (guint k = 0; k < n; k++)
        width = MAX(width, (int)strlen(fields[k].name));
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "Byte  %-*s %11s\n", width, "Field", "Value");
    for (guint k = 0; k < n; k++)
        g_string_append_printf(text, "%4d  %-*s %11d\n", fields[k].byte, width, fields[k].name,
                               litho_segy_field_value(bytes, &fields[k]));
    return g_string_free(text, FALSE);
}

// --- the trace header, read in a thread ---------------------------------------------------------

typedef struct Question {
    LithoSurvey *survey;
    gint64 i, j;
    char *place;      // which trace that is, in words
    GtkWidget *label; // owned reference; without a parent once the window is gone
} Question;

static void question_free(gpointer data)
{
    Question *q = data;
    litho_survey_unref(q->survey);
    g_object_unref(q->label);
    g_free(q->place);
    g_free(q);
}

static gpointer read_header(LithoRun *run, gpointer data, GError **error)
{
    (void)run;
    Question *q = data;
    return litho_survey_header_text(q->survey, q->i, q->j, error);
}

static void header_read(gpointer result, const GError *error, gpointer data)
{
    Question *q = data;
    g_autofree char *text = result;
    g_autofree char *page = text ? g_strdup_printf("%s\n\n%s", q->place, text) : NULL;
    gtk_label_set_text(GTK_LABEL(q->label), page ? page : error ? error->message : "");
}

// --- the window ---------------------------------------------------------------------------------

static GtkWidget *add_page(GtkWidget *notebook, const char *title, const char *text)
{
    GtkWidget *scroll = gtk_scrolled_window_new(), *label = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_yalign(GTK_LABEL(label), 0);
    gtk_label_set_selectable(GTK_LABEL(label), TRUE);
    gtk_widget_add_css_class(label, "monospace");
    gtk_widget_add_css_class(label, "litho-listing");
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), label);
    gtk_notebook_append_page(GTK_NOTEBOOK(notebook), scroll, gtk_label_new(title));
    return label;
}

static void on_otherwise(GtkButton *button, GtkWindow *dialog)
{
    (void)button;
    GtkWindow *window = gtk_window_get_transient_for(dialog);
    gtk_widget_activate_action(GTK_WIDGET(window), "win.import", NULL);
    gtk_window_destroy(dialog);
}

static GtkWidget *make_otherwise(const LithoCube *cube, GtkWidget *dialog)
{
    GtkWidget *button = gtk_button_new_with_label("Read otherwise…");
    gtk_widget_set_tooltip_text(button,
                                "Other header bytes, sample format or order (Ctrl+Shift+I)");
    gtk_widget_set_sensitive(button, cube->survey != NULL);
    gtk_widget_set_margin_end(button, 6);
    gtk_widget_show(button);
    g_signal_connect(button, "clicked", G_CALLBACK(on_otherwise), dialog);
    return button;
}

void litho_survey_open_window(LithoWindow *window)
{
    LithoSession *session = litho_window_session(window);
    LithoCube *cube = litho_session_input(session);
    if (!cube)
        return;
    const LithoDisplay *d = litho_session_display(session);
    GtkWidget *notebook = gtk_notebook_new();
    GtkWidget *dialog = litho_dialog_new(GTK_WINDOW(window), "Survey", 760, 560);
    g_autofree char *summary = summary_text(cube), *candidates = candidates_text(cube->survey);
    add_page(notebook, "Survey", summary);
    add_page(notebook, "Header bytes", candidates);
    const char *header = cube->survey ? litho_survey_text(cube->survey) : "";
    add_page(notebook, "Text header", *header ? header : "This format has no text header.");
    GtkWidget *trace = add_page(notebook, "Trace header", "This cube was not read from a file.");
    if (cube->survey) {
        static const LithoJobFuncs funcs = {read_header, NULL, header_read, question_free};
        Question *q = g_new(Question, 1);
        *q = (Question){.survey = litho_survey_ref(cube->survey),
                        .i = MIN(d->slice[0], cube->grid.axis[0].n - 1),
                        .j = MIN(d->slice[1], cube->grid.axis[1].n - 1),
                        .label = g_object_ref(trace)};
        q->place = g_strdup_printf("Trace where the slices cross: inline %.10g, crossline %.10g",
                                   litho_axis_value(&cube->grid.axis[0], q->i),
                                   litho_axis_value(&cube->grid.axis[1], q->j));
        litho_job_start(&funcs, q);
    }
    gtk_window_set_child(GTK_WINDOW(dialog), notebook);
    gtk_notebook_set_action_widget(GTK_NOTEBOOK(notebook), make_otherwise(cube, dialog),
                                   GTK_PACK_END);
    gtk_window_present(GTK_WINDOW(dialog));
}
