// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/import/import_window.h"

#include <glib/gstdio.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "ui/window/dialog.h"
#include "ui/import/import_guess.h"
#include "ui/import/import_private.h"
#include "ui/view/survey_map.h"
#include "ui/panel/parts.h"
#include "ui/view/tooltip.h"
#include "ui/window/window_private.h"

enum { SETTLE_MS = 250 }; // after the last change, before the file is read anew

static void import_unref(LithoImport *self)
{
    if (!g_atomic_int_dec_and_test(&self->refs))
        return;
    g_object_unref(self->window);
    g_strfreev(self->paths);
    g_free(self->text);
    g_free(self);
}

void litho_import_say(LithoImport *self, const char *problem)
{
    gtk_label_set_text(GTK_LABEL(self->problem), problem ? problem : "");
    gtk_widget_set_visible(self->problem, problem != NULL);
}

// --- what the file says -------------------------------------------------------------------------

static void on_candidate(GtkListBox *list, GtkListBoxRow *row, LithoImport *self)
{
    (void)list;
    int pair = GPOINTER_TO_INT(g_object_get_data(G_OBJECT(row), "litho-pair"));
    self->options.inline_byte = pair >> 8;
    self->options.xline_byte = pair & 255;
    self->options.file_order = FALSE;
    litho_import_load_values(self);
    litho_import_changed(self);
}

static GtkWidget *cell(GtkWidget *line, const char *text, int width, const char *css)
{
    GtkWidget *label = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_width_chars(GTK_LABEL(label), width);
    gtk_widget_add_css_class(label, "numeric");
    if (css)
        gtk_widget_add_css_class(label, css);
    gtk_box_append(GTK_BOX(line), label);
    return label;
}

static GtkWidget *candidate_row(const LithoCandidate *c)
{
    GtkWidget *row = gtk_list_box_row_new(), *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    g_autofree char *pair = g_strdup_printf("%d / %d", c->inline_byte, c->xline_byte);
    g_autofree char *score = litho_text_printf("%.2f", c->score);
    g_autofree char *label = g_strdup_printf(_("Bytes %d and %d, score %s: %s"), c->inline_byte,
                                             c->xline_byte, score, c->evidence);
    cell(line, pair, 9, NULL);
    cell(line, score, 4, NULL);
    GtkWidget *evidence = cell(line, c->evidence, -1, "dim-label");
    gtk_label_set_ellipsize(GTK_LABEL(evidence), PANGO_ELLIPSIZE_END);
    gtk_widget_set_hexpand(evidence, TRUE);
    litho_set_tooltip(row, c->evidence);
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), line);
    gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
    g_object_set_data(G_OBJECT(row), "litho-pair",
                      GINT_TO_POINTER(c->inline_byte << 8 | c->xline_byte));
    return row;
}

// The pair in use stands out: the one given by hand, else the best.
static void mark_used(LithoImport *self)
{
    const LithoOpenOptions *o = &self->options;
    int given = o->inline_byte << 8 | o->xline_byte;
    GtkListBox *list = GTK_LIST_BOX(self->candidates);
    GtkListBoxRow *row;
    for (int k = 0; (row = gtk_list_box_get_row_at_index(list, k)); k++) {
        int pair = GPOINTER_TO_INT(g_object_get_data(G_OBJECT(row), "litho-pair"));
        gboolean used = !o->file_order && (given ? pair == given : k == 0);
        if (used)
            gtk_widget_add_css_class(GTK_WIDGET(row), "litho-used");
        else
            gtk_widget_remove_css_class(GTK_WIDGET(row), "litho-used");
        gtk_accessible_update_state(
            GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_STATE_PRESSED,
            used ? GTK_ACCESSIBLE_TRISTATE_TRUE : GTK_ACCESSIBLE_TRISTATE_FALSE, -1);
    }
}

// With both bytes given only that pair is scored: the evidence for the others stays on screen.
static void show_candidates(LithoImport *self, LithoSurvey *survey)
{
    const LithoCandidate *list;
    guint n = litho_survey_candidates(survey, &list);
    if (self->options.inline_byte || self->options.xline_byte)
        return;
    GtkListBoxRow *row; // the placeholder is a child, too, but no row
    while ((row = gtk_list_box_get_row_at_index(GTK_LIST_BOX(self->candidates), 0)))
        gtk_list_box_remove(GTK_LIST_BOX(self->candidates), GTK_WIDGET(row));
    for (guint k = 0; k < n && list[k].score > 0; k++)
        gtk_list_box_append(GTK_LIST_BOX(self->candidates), candidate_row(&list[k]));
}

static void show_decodings(LithoImport *self, const LithoImportPreview *p)
{
    for (guint k = 0; k < 2; k++) {
        gtk_widget_set_visible(self->picture_box[k], k < p->n);
        if (k >= p->n)
            continue;
        const LithoDecoding *d = &p->decoding[k];
        self->decoded[k] = d->format;
        gtk_picture_set_paintable(GTK_PICTURE(self->picture[k]),
                                  d->picture ? GDK_PAINTABLE(d->picture) : NULL);
        litho_label_set_unbroken(self->picture_label[k], d->label);
        g_autofree char *name = g_strdup_printf(_("First traces as %s"), d->label);
        gtk_picture_set_alternative_text(GTK_PICTURE(self->picture[k]), name);
        gtk_accessible_update_property(GTK_ACCESSIBLE(self->picture[k]),
                                       GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
        gtk_widget_set_visible(self->use[k], k > 0 && d->picture);
    }
}

static void show_preview(LithoImport *self, const LithoImportPreview *p)
{
    g_autofree char *problem = p->problem ? litho_plain_sentence(p->problem) : NULL;
    g_autofree char *notes = litho_plain_sentence(p->notes ? p->notes : "");
    litho_import_say(self, problem);
    litho_label_set_unbroken(self->summary, p->summary ? p->summary : "");
    gtk_label_set_text(GTK_LABEL(self->notes), notes);
    gtk_widget_set_sensitive(self->open, p->survey != NULL);
    show_decodings(self, p);
    litho_survey_map_clear(LITHO_SURVEY_MAP(self->map));
    if (!p->survey)
        return;
    litho_survey_map_show(LITHO_SURVEY_MAP(self->map), p->survey);
    show_candidates(self, p->survey);
    mark_used(self);
    g_free(self->text);
    self->text = g_strdup(litho_survey_text(p->survey));
}

// --- reading, in a thread -----------------------------------------------------------------------

typedef struct Reading {
    LithoImport *self;
    char **paths;
    LithoOpenOptions options;
} Reading;

static void reading_free(gpointer data)
{
    Reading *r = data;
    import_unref(r->self);
    g_strfreev(r->paths);
    g_free(r);
}

static gpointer read_work(LithoRun *run, gpointer data, GError **error)
{
    Reading *r = data;
    return litho_import_preview_new((const char *const *)r->paths, &r->options, run, error);
}

static void read_progress(const LithoProgress *p, gpointer data)
{
    LithoImport *self = ((Reading *)data)->self;
    if (!self->dialog)
        return;
    g_autofree char *text = p->total > 0 ? litho_text_printf("%s %.0f %%", litho_text(p->what),
                                                             100.0 * p->done / p->total)
                                         : g_strdup(litho_text(p->what));
    gtk_label_set_text(GTK_LABEL(self->busy), text);
}

static void start_reading(LithoImport *self);

static void read_done(gpointer result, const GError *error, gpointer data)
{
    LithoImport *self = ((Reading *)data)->self;
    LithoImportPreview *preview = result;
    self->job = NULL;
    gboolean newest = litho_open_options_equal(&((Reading *)data)->options, &self->options);
    if (self->dialog && preview && newest) {
        gtk_label_set_text(GTK_LABEL(self->busy), "");
        show_preview(self, preview);
    } else if (self->dialog && !self->settle) {
        start_reading(self);
    }
    (void)error; // a cancel: something newer is wanted
    litho_import_preview_free(preview);
}

static void start_reading(LithoImport *self)
{
    static const LithoJobFuncs funcs = {read_work, read_progress, read_done, reading_free};
    Reading *r = g_new0(Reading, 1);
    g_atomic_int_inc(&self->refs);
    *r = (Reading){self, g_strdupv(self->paths), self->options};
    gtk_label_set_text(GTK_LABEL(self->busy), _("reading"));
    self->job = litho_job_start(&funcs, r);
}

static gboolean settled(gpointer data)
{
    LithoImport *self = data;
    self->settle = 0;
    if (self->job)
        litho_job_cancel(self->job); // its end starts the next one
    else
        start_reading(self);
    return G_SOURCE_REMOVE;
}

void litho_import_changed(LithoImport *self)
{
    g_clear_handle_id(&self->settle, g_source_remove);
    self->settle = g_timeout_add(SETTLE_MS, settled, self);
}

// --- the dialog ---------------------------------------------------------------------------------

static GtkWidget *heading(const char *text)
{
    GtkWidget *label = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_widget_add_css_class(label, "heading");
    return label;
}

static GtkWidget *wrapped(const char *css)
{
    GtkWidget *label = gtk_label_new(NULL);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    litho_label_set_copyable(label);
    if (css)
        gtk_widget_add_css_class(label, css);
    return label;
}

static GtkWidget *make_candidates(LithoImport *self)
{
    GtkWidget *scroll = gtk_scrolled_window_new();
    self->candidates = gtk_list_box_new();
    gtk_list_box_set_selection_mode(GTK_LIST_BOX(self->candidates), GTK_SELECTION_NONE);
    gtk_widget_add_css_class(self->candidates, "litho-candidates");
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->candidates), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Header bytes that may number the lines"), -1);
    g_signal_connect(self->candidates, "row-activated", G_CALLBACK(on_candidate), self);
    GtkWidget *none = gtk_label_new(_("Nothing in the headers numbers lines."));
    gtk_widget_add_css_class(none, "dim-label");
    gtk_list_box_set_placeholder(GTK_LIST_BOX(self->candidates), none);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), self->candidates);
    gtk_widget_set_vexpand(scroll, TRUE);
    gtk_scrolled_window_set_min_content_height(GTK_SCROLLED_WINDOW(scroll), 120);
    return scroll;
}

static GtkWidget *make_left(LithoImport *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    gtk_widget_set_size_request(box, 380, -1);
    gtk_widget_set_hexpand(box, FALSE); // its entries would ask for a share of the pictures' width
    self->evidence = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    gtk_widget_set_vexpand(self->evidence, TRUE);
    gtk_box_append(GTK_BOX(self->evidence),
                   heading(_("Found in the headers: inline / crossline bytes, score")));
    gtk_box_append(GTK_BOX(self->evidence), make_candidates(self));
    gtk_box_append(GTK_BOX(box), self->evidence);
    gtk_box_append(GTK_BOX(box), heading(_("By hand")));
    gtk_box_append(GTK_BOX(box), litho_import_make_form(self));
    gtk_box_append(GTK_BOX(box), heading(_("Profile")));
    gtk_box_append(GTK_BOX(box), litho_import_make_profiles(self));
    return box;
}

static void on_use(GtkButton *button, LithoImport *self)
{
    self->options.format = self->decoded[GTK_WIDGET(button) == self->use[1]];
    litho_import_load_values(self);
    litho_import_changed(self);
}

static GtkWidget *make_pictures(LithoImport *self)
{
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    for (int k = 0; k < 2; k++) {
        GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
        GtkWidget *foot = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
        self->picture[k] = gtk_picture_new();
        gtk_picture_set_can_shrink(GTK_PICTURE(self->picture[k]), TRUE);
        gtk_picture_set_content_fit(GTK_PICTURE(self->picture[k]), GTK_CONTENT_FIT_FILL);
        gtk_widget_set_size_request(self->picture[k], LITHO_PREVIEW_WIDTH, LITHO_PREVIEW_HEIGHT);
        self->picture_label[k] = wrapped("dim-label");
        gtk_widget_set_hexpand(self->picture_label[k], TRUE);
        gtk_widget_set_size_request(foot, -1, 36); // with and without its button
        self->use[k] = gtk_button_new_with_label(_("Use this"));
        gtk_widget_set_tooltip_text(self->use[k], _("Take this sample format"));
        g_signal_connect(self->use[k], "clicked", G_CALLBACK(on_use), self);
        gtk_widget_set_visible(self->use[k], FALSE);
        gtk_box_append(GTK_BOX(foot), self->picture_label[k]);
        gtk_box_append(GTK_BOX(foot), self->use[k]);
        gtk_box_append(GTK_BOX(box), self->picture[k]);
        gtk_box_append(GTK_BOX(box), foot);
        gtk_widget_set_visible(box, FALSE);
        self->picture_box[k] = box;
        gtk_box_append(GTK_BOX(line), box);
    }
    return line;
}

static GtkWidget *make_right(LithoImport *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    self->summary = wrapped("numeric");
    self->notes = wrapped("dim-label");
    self->problem = wrapped("litho-import-problem");
    self->map = litho_survey_map_new();
    gtk_widget_set_vexpand(self->map, TRUE);
    gtk_widget_set_size_request(self->map, -1, 160);
    gtk_widget_set_hexpand(box, TRUE);
    gtk_widget_set_visible(self->problem, FALSE);
    gtk_box_append(GTK_BOX(box), heading(_("First traces")));
    gtk_box_append(GTK_BOX(box), make_pictures(self));
    gtk_box_append(GTK_BOX(box), heading(_("Survey")));
    gtk_box_append(GTK_BOX(box), self->problem);
    gtk_box_append(GTK_BOX(box), self->summary);
    gtk_box_append(GTK_BOX(box), self->map);
    gtk_box_append(GTK_BOX(box), self->notes);
    return box;
}

static void on_open(LithoImport *self)
{
    LithoWindow *window = self->window;
    if (litho_window_is_busy(window)) { // what was typed here stays
        litho_import_say(self, _("Something is being opened or saved; cancel it or wait."));
        return;
    }
    char **open = litho_open_file_paths(window->file);
    gboolean same =
        open && g_strv_equal((const char *const *)open, (const char *const *)self->paths);
    g_auto(GStrv) paths = g_strdupv(self->paths);
    LithoOpenOptions options = self->options;
    gtk_window_destroy(GTK_WINDOW(self->dialog));
    litho_window_open_as(window, (const char *const *)paths, &options,
                         same ? LITHO_OPEN_AGAIN : LITHO_OPEN_NORMAL);
}

static void on_cancel(LithoImport *self)
{
    gtk_window_destroy(GTK_WINDOW(self->dialog));
}

static GtkWidget *make_header(LithoImport *self)
{
    GtkWidget *header = gtk_header_bar_new(), *cancel = gtk_button_new_with_mnemonic(_("_Cancel"));
    self->open = gtk_button_new_with_mnemonic(_("_Open"));
    gtk_widget_add_css_class(self->open, "suggested-action");
    self->busy = gtk_label_new(NULL);
    gtk_widget_add_css_class(self->busy, "numeric");
    g_signal_connect_swapped(cancel, "clicked", G_CALLBACK(on_cancel), self);
    g_signal_connect_swapped(self->open, "clicked", G_CALLBACK(on_open), self);
    gtk_widget_set_sensitive(self->open, FALSE);
    gtk_header_bar_set_show_title_buttons(GTK_HEADER_BAR(header), FALSE);
    gtk_header_bar_pack_start(GTK_HEADER_BAR(header), cancel);
    gtk_header_bar_pack_end(GTK_HEADER_BAR(header), self->open);
    gtk_header_bar_pack_end(GTK_HEADER_BAR(header), self->busy);
    return header;
}

static void on_destroy(GtkWidget *dialog, LithoImport *self)
{
    (void)dialog;
    self->dialog = NULL;
    g_clear_handle_id(&self->settle, g_source_remove);
    litho_job_cancel(self->job);
    import_unref(self);
}

// Sizes guessed from the samples where the name says nothing; found in a thread.
typedef struct Guess {
    LithoImport *import;
    char *path;
    gint64 shape[3];
} Guess;

static void guess_free(gpointer data)
{
    Guess *guess = data;
    import_unref(guess->import);
    g_free(guess->path);
    g_free(guess);
}

static gpointer guess_work(LithoRun *run, gpointer data, GError **error)
{
    (void)error;
    Guess *guess = data;
    return litho_import_shape_of_file(guess->path, run, guess->shape) ? guess : NULL;
}

// Not over sizes that a person has typed meanwhile.
static void guessed(gpointer result, const GError *error, gpointer data)
{
    (void)error;
    Guess *guess = data;
    LithoImport *self = guess->import;
    if (!self->dialog || !result || self->options.shape[0])
        return;
    memcpy(self->options.shape, guess->shape, sizeof self->options.shape);
    litho_import_load_values(self);
    litho_import_changed(self);
}

static void guess_shape(LithoImport *self)
{
    static const LithoJobFuncs funcs = {guess_work, NULL, guessed, guess_free};
    GStatBuf info;
    if (g_stat(self->paths[0], &info) != 0 ||
        litho_import_shape_from_name(self->paths[0], info.st_size / 4, self->options.shape))
        return;
    Guess *guess = g_new0(Guess, 1);
    guess->import = self;
    guess->path = g_strdup(self->paths[0]);
    g_atomic_int_inc(&self->refs);
    litho_job_start(&funcs, guess);
}

void litho_import_open(LithoWindow *window, const char *const *paths,
                       const LithoOpenOptions *options)
{
    LithoImport *self = g_new0(LithoImport, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 24);
    self->refs = 1;
    self->window = g_object_ref(window);
    self->paths = g_strdupv((char **)paths);
    self->options = *options;
    self->kind = litho_import_kind(paths[0]);
    if (self->kind == LITHO_IMPORT_RAW && !options->shape[0])
        guess_shape(self);
    g_autofree char *base = g_path_get_basename(paths[0]);
    g_autofree char *title = g_strdup_printf(_("Import %s"), base);
    self->dialog = litho_dialog_new(GTK_WINDOW(window), title, 1184, 760);
    gtk_widget_add_css_class(box, "litho-import");
    gtk_window_set_titlebar(GTK_WINDOW(self->dialog), make_header(self));
    gtk_box_append(GTK_BOX(box), make_left(self));
    gtk_box_append(GTK_BOX(box), gtk_separator_new(GTK_ORIENTATION_VERTICAL));
    gtk_box_append(GTK_BOX(box), make_right(self));
    litho_import_load_values(self);
    GtkWidget *scroll = gtk_scrolled_window_new(); // on a small screen
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), box);
    gtk_window_set_child(GTK_WINDOW(self->dialog), scroll);
    gtk_window_set_default_widget(GTK_WINDOW(self->dialog), self->open);
    g_signal_connect(self->dialog, "destroy", G_CALLBACK(on_destroy), self);
    gtk_window_present(GTK_WINDOW(self->dialog));
    start_reading(self);
}
