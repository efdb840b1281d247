// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/survey_window.h"

#include <string.h>

#include "core/axis_names.h"
#include "core/io/survey.h"
#include "core/text.h"
#include "ui/window/dialog.h"
#include "ui/session/job.h"
#include "ui/window/survey_page.h"

// --- texts --------------------------------------------------------------------------------------

static char *candidates_text(LithoSurvey *survey)
{
    const LithoCandidate *list;
    guint n = survey ? litho_survey_candidates(survey, &list) : 0;
    if (n == 0)
        return g_strdup(_("This format has no header bytes to choose from."));
    GString *text = g_string_new(_("Inline  Crossline  Score  What the headers hold\n"));
    for (guint k = 0; k < n; k++)
        litho_text_add(text, "%6d  %9d  %5.2f  %s\n", list[k].inline_byte, list[k].xline_byte,
                       list[k].score, list[k].evidence);
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
        width = MAX(width, (int)strlen(litho_text(fields[k].name)));
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, _("Byte  %-*s %11s\n"), width, _("Field"), _("Value"));
    for (guint k = 0; k < n; k++)
        g_string_append_printf(text, "%4d  %-*s %11d\n", fields[k].byte, width,
                               litho_text(fields[k].name),
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

static void on_otherwise(GtkWindow *dialog)
{
    gtk_window_destroy(dialog); // the action has opened the other window
}

static GtkWidget *make_otherwise(const LithoCube *cube, GtkWidget *dialog)
{
    GtkWidget *button = gtk_button_new_with_label(_("Read otherwise…"));
    gtk_widget_set_tooltip_text(button,
                                _("Other header bytes, sample format or order (Ctrl+Shift+I)"));
    if (cube->survey) // dead as the action is, while something is opened or saved
        gtk_actionable_set_action_name(GTK_ACTIONABLE(button), "main.import");
    else
        gtk_widget_set_sensitive(button, FALSE);
    gtk_widget_set_margin_end(button, 6);
    gtk_widget_show(button);
    // Behind the button's own handler, which activates the action.
    g_signal_connect_data(button, "clicked", G_CALLBACK(on_otherwise), dialog, NULL,
                          G_CONNECT_SWAPPED | G_CONNECT_AFTER);
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
    GtkWidget *dialog = litho_dialog_new(GTK_WINDOW(window), _("Survey"), 760, 560);
    gtk_widget_insert_action_group(dialog, "main", G_ACTION_GROUP(window));
    g_autofree char *candidates = candidates_text(cube->survey);
    gtk_notebook_append_page(GTK_NOTEBOOK(notebook), litho_survey_page_new(cube, d->units),
                             gtk_label_new(_("Survey")));
    add_page(notebook, _("Header bytes"), candidates);
    const char *header = cube->survey ? litho_survey_text(cube->survey) : "";
    add_page(notebook, _("Text header"), *header ? header : _("This format has no text header."));
    GtkWidget *trace =
        add_page(notebook, _("Trace header"), _("This cube was not read from a file."));
    if (cube->survey) {
        static const LithoJobFuncs funcs = {read_header, NULL, header_read, question_free};
        Question *q = g_new(Question, 1);
        *q = (Question){.survey = litho_survey_ref(cube->survey),
                        .i = MIN(d->slice[0], cube->grid.axis[0].n - 1),
                        .j = MIN(d->slice[1], cube->grid.axis[1].n - 1),
                        .label = g_object_ref(trace)};
        g_autofree char *name = litho_axis_word(&cube->grid, LITHO_INLINE);
        g_autofree char *other = litho_axis_word(&cube->grid, LITHO_XLINE);
        q->place = litho_text_printf(_("Trace where the slices cross: %s %.10g, %s %.10g"), name,
                                     litho_axis_value(&cube->grid.axis[0], q->i), other,
                                     litho_axis_value(&cube->grid.axis[1], q->j));
        litho_job_start(&funcs, q);
    }
    gtk_window_set_child(GTK_WINDOW(dialog), notebook);
    gtk_notebook_set_action_widget(GTK_NOTEBOOK(notebook), make_otherwise(cube, dialog),
                                   GTK_PACK_END);
    gtk_window_present(GTK_WINDOW(dialog));
    gtk_widget_grab_focus(gtk_notebook_get_nth_page(GTK_NOTEBOOK(notebook), 0));
}
