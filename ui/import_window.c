// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/import_window.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/sample_codec.h"
#include "ui/import_preview.h"
#include "ui/import_profile.h"
#include "ui/job.h"
#include "ui/survey_map.h"
#include "ui/window_private.h"

enum { SETTLE_MS = 250 }; // after the last change, before the file is read anew

static const int formats[] = {0, 1, 5, 2, 3, 8, 6, 7, 10, 11, 15, 16};

typedef struct Import {
    gint refs;           // of the dialog and of the job
    LithoWindow *window; // owned
    GtkWidget *dialog;   // NULL once closed
    char **paths;
    LithoOpenOptions options;
    LithoJob *job;
    guint settle;
    gboolean loading; // values are being put into the widgets
    char *text;       // text header of the file as last read

    GtkWidget *lines, *bytes[4], *scalar, *spacing[2], *interval, *domain, *format, *order;
    GtkWidget *candidates, *summary, *notes, *problem, *map, *open, *busy;
    GtkWidget *picture[2], *picture_label[2], *use[2], *picture_box[2];
    GtkWidget *profile, *profile_menu, *profile_list, *save, *remove;
    int decoded[2]; // formats of the pictures
} Import;

static void import_unref(Import *self)
{
    if (!g_atomic_int_dec_and_test(&self->refs))
        return;
    g_object_unref(self->window);
    g_strfreev(self->paths);
    g_free(self->text);
    g_free(self);
}

static void say(Import *self, const char *problem)
{
    gtk_label_set_text(GTK_LABEL(self->problem), problem ? problem : "");
    gtk_widget_set_visible(self->problem, problem != NULL);
}

static void load_values(Import *self);
static void changed(Import *self);

// --- what the file says -------------------------------------------------------------------------

static void on_candidate(GtkListBox *list, GtkListBoxRow *row, Import *self)
{
    (void)list;
    int pair = GPOINTER_TO_INT(g_object_get_data(G_OBJECT(row), "litho-pair"));
    self->options.inline_byte = pair >> 8;
    self->options.xline_byte = pair & 255;
    self->options.file_order = FALSE;
    load_values(self);
    changed(self);
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
    g_autofree char *score = g_strdup_printf("%.2f", c->score);
    g_autofree char *label = g_strdup_printf("Bytes %d and %d, score %s: %s", c->inline_byte,
                                             c->xline_byte, score, c->evidence);
    cell(line, pair, 9, NULL);
    cell(line, score, 4, NULL);
    GtkWidget *evidence = cell(line, c->evidence, -1, "dim-label");
    gtk_label_set_ellipsize(GTK_LABEL(evidence), PANGO_ELLIPSIZE_END);
    gtk_widget_set_hexpand(evidence, TRUE);
    gtk_widget_set_tooltip_text(row, c->evidence);
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), line);
    gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
    g_object_set_data(G_OBJECT(row), "litho-pair",
                      GINT_TO_POINTER(c->inline_byte << 8 | c->xline_byte));
    return row;
}

// With both bytes given only that pair is scored: the evidence for the others stays on screen.
static void show_candidates(Import *self, LithoSurvey *survey)
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

static void show_decodings(Import *self, const LithoImportPreview *p)
{
    for (guint k = 0; k < 2; k++) {
        gtk_widget_set_visible(self->picture_box[k], k < p->n);
        if (k >= p->n)
            continue;
        const LithoDecoding *d = &p->decoding[k];
        self->decoded[k] = d->format;
        gtk_picture_set_paintable(GTK_PICTURE(self->picture[k]),
                                  d->picture ? GDK_PAINTABLE(d->picture) : NULL);
        gtk_label_set_text(GTK_LABEL(self->picture_label[k]), d->label);
        gtk_picture_set_alternative_text(GTK_PICTURE(self->picture[k]), d->label);
        gtk_widget_set_visible(self->use[k], k > 0 && d->picture);
    }
}

static void show_preview(Import *self, const LithoImportPreview *p)
{
    g_autofree char *problem = p->problem ? litho_plain_sentence(p->problem) : NULL;
    g_autofree char *notes = litho_plain_sentence(p->notes ? p->notes : "");
    say(self, problem);
    gtk_label_set_text(GTK_LABEL(self->summary), p->summary ? p->summary : "");
    gtk_label_set_text(GTK_LABEL(self->notes), notes);
    gtk_widget_set_sensitive(self->open, p->survey != NULL);
    show_decodings(self, p);
    litho_survey_map_clear(LITHO_SURVEY_MAP(self->map));
    if (!p->survey)
        return;
    litho_survey_map_show(LITHO_SURVEY_MAP(self->map), p->survey);
    show_candidates(self, p->survey);
    g_free(self->text);
    self->text = g_strdup(litho_survey_text(p->survey));
}

// --- reading, in a thread -----------------------------------------------------------------------

typedef struct Reading {
    Import *self;
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
    Import *self = ((Reading *)data)->self;
    if (!self->dialog)
        return;
    g_autofree char *text = p->total > 0
                                ? g_strdup_printf("%s %.0f %%", p->what, 100.0 * p->done / p->total)
                                : g_strdup(p->what);
    gtk_label_set_text(GTK_LABEL(self->busy), text);
}

static void start_reading(Import *self);

static void read_done(gpointer result, const GError *error, gpointer data)
{
    Import *self = ((Reading *)data)->self;
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

static void start_reading(Import *self)
{
    static const LithoJobFuncs funcs = {read_work, read_progress, read_done, reading_free};
    Reading *r = g_new0(Reading, 1);
    g_atomic_int_inc(&self->refs);
    *r = (Reading){self, g_strdupv(self->paths), self->options};
    gtk_label_set_text(GTK_LABEL(self->busy), "reading");
    self->job = litho_job_start(&funcs, r);
}

static gboolean settled(gpointer data)
{
    Import *self = data;
    self->settle = 0;
    if (self->job)
        litho_job_cancel(self->job); // its end starts the next one
    else
        start_reading(self);
    return G_SOURCE_REMOVE;
}

static void changed(Import *self)
{
    g_clear_handle_id(&self->settle, g_source_remove);
    self->settle = g_timeout_add(SETTLE_MS, settled, self);
}

// --- the form -----------------------------------------------------------------------------------

static void load_values(Import *self)
{
    const LithoOpenOptions *o = &self->options;
    int bytes[4] = {o->inline_byte, o->xline_byte, o->x_byte, o->y_byte};
    self->loading = TRUE;
    gtk_drop_down_set_selected(GTK_DROP_DOWN(self->lines), o->file_order ? 1 : 0);
    for (int k = 0; k < 4; k++) {
        gtk_spin_button_set_value(GTK_SPIN_BUTTON(self->bytes[k]), bytes[k]);
        gtk_widget_set_sensitive(self->bytes[k], k >= 2 || !o->file_order);
    }
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(self->scalar), o->xy_scalar);
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(self->spacing[0]), o->dx);
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(self->spacing[1]), o->dy);
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(self->interval),
                              o->domain == 2 ? o->dt : o->dt * 1000);
    gtk_drop_down_set_selected(GTK_DROP_DOWN(self->domain), o->domain);
    gtk_drop_down_set_selected(GTK_DROP_DOWN(self->order), o->endian);
    guint row = 0;
    for (guint k = 0; k < G_N_ELEMENTS(formats); k++)
        row = formats[k] == o->format ? k : row;
    gtk_drop_down_set_selected(GTK_DROP_DOWN(self->format), row);
    self->loading = FALSE;
}

static void read_values(Import *self)
{
    LithoOpenOptions *o = &self->options;
    int *bytes[4] = {&o->inline_byte, &o->xline_byte, &o->x_byte, &o->y_byte};
    if (self->loading)
        return;
    LithoOpenOptions before = *o;
    o->file_order = gtk_drop_down_get_selected(GTK_DROP_DOWN(self->lines)) == 1;
    for (int k = 0; k < 4; k++)
        *bytes[k] = gtk_spin_button_get_value_as_int(GTK_SPIN_BUTTON(self->bytes[k]));
    o->xy_scalar = gtk_spin_button_get_value_as_int(GTK_SPIN_BUTTON(self->scalar));
    o->dx = gtk_spin_button_get_value(GTK_SPIN_BUTTON(self->spacing[0]));
    o->dy = gtk_spin_button_get_value(GTK_SPIN_BUTTON(self->spacing[1]));
    o->domain = gtk_drop_down_get_selected(GTK_DROP_DOWN(self->domain));
    double interval = gtk_spin_button_get_value(GTK_SPIN_BUTTON(self->interval));
    o->dt = o->domain == 2 ? interval : interval / 1000;
    o->endian = gtk_drop_down_get_selected(GTK_DROP_DOWN(self->order));
    o->format = formats[gtk_drop_down_get_selected(GTK_DROP_DOWN(self->format))];
    for (int k = 0; k < 2; k++)
        gtk_widget_set_sensitive(self->bytes[k], !o->file_order);
    if (!litho_open_options_equal(&before, o))
        changed(self);
}

// 0 stands for "find out".
static gboolean show_number(GtkSpinButton *spin, gpointer words)
{
    double value = gtk_spin_button_get_value(spin);
    if (value != 0)
        return FALSE;
    if (strcmp(gtk_editable_get_text(GTK_EDITABLE(spin)), words) != 0)
        gtk_editable_set_text(GTK_EDITABLE(spin), words);
    return TRUE;
}

static int parse_number(GtkSpinButton *spin, double *value, gpointer words)
{
    const char *text = gtk_editable_get_text(GTK_EDITABLE(spin));
    if (strcmp(text, words) != 0 && *text)
        return FALSE; // GTK's own way, which complains about what is no number
    *value = 0;
    return TRUE;
}

static void add_row(GtkWidget *grid, int row, const char *label, const char *doc, GtkWidget *widget)
{
    GtkWidget *name = gtk_label_new(label);
    gtk_label_set_xalign(GTK_LABEL(name), 0);
    gtk_widget_set_hexpand(widget, TRUE);
    gtk_widget_set_tooltip_text(widget, doc);
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                   GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, doc, -1);
    gtk_grid_attach(GTK_GRID(grid), name, 0, row, 1, 1);
    gtk_grid_attach(GTK_GRID(grid), widget, 1, row, 1, 1);
}

static GtkWidget *number(Import *self, double least, double most, int digits, const char *zero)
{
    GtkWidget *spin = gtk_spin_button_new_with_range(least, most, digits ? 0.5 : 1);
    gtk_spin_button_set_digits(GTK_SPIN_BUTTON(spin), digits);
    gtk_spin_button_set_numeric(GTK_SPIN_BUTTON(spin), FALSE); // it says "find out", too
    g_signal_connect(spin, "output", G_CALLBACK(show_number), (gpointer)zero);
    g_signal_connect(spin, "input", G_CALLBACK(parse_number), (gpointer)zero);
    g_signal_connect_swapped(spin, "value-changed", G_CALLBACK(read_values), self);
    show_number(GTK_SPIN_BUTTON(spin), (gpointer)zero);
    return spin;
}

static GtkWidget *choice(Import *self, const char *const *names)
{
    GtkWidget *drop = gtk_drop_down_new_from_strings(names);
    g_signal_connect_swapped(drop, "notify::selected", G_CALLBACK(read_values), self);
    return drop;
}

static GtkWidget *make_formats(Import *self)
{
    GtkStringList *names = gtk_string_list_new((const char *const[]){"As the file says", NULL});
    for (guint k = 1; k < G_N_ELEMENTS(formats); k++)
        gtk_string_list_append(names, litho_format_name(formats[k]));
    GtkWidget *drop = gtk_drop_down_new(G_LIST_MODEL(names), NULL);
    g_signal_connect_swapped(drop, "notify::selected", G_CALLBACK(read_values), self);
    return drop;
}

static GtkWidget *make_form(Import *self)
{
    static const char *const lines[] = {"From line numbers", "Traces in file order", NULL};
    static const char *const domains[] = {"As the file says", "Time", "Depth", NULL};
    static const char *const orders[] = {"Find out", "Big endian", "Little endian", NULL};
    static const char *const names[] = {"Inline byte", "Crossline byte", "X byte", "Y byte"};
    static const char *const docs[] = {
        "First byte of the inline number in the trace header, 1 to 237",
        "First byte of the crossline number in the trace header, 1 to 237",
        "First byte of the X coordinate in the trace header, 1 to 237",
        "First byte of the Y coordinate in the trace header, 1 to 237"};
    GtkWidget *grid = gtk_grid_new();
    gtk_grid_set_row_spacing(GTK_GRID(grid), 6);
    gtk_grid_set_column_spacing(GTK_GRID(grid), 12);
    self->lines = choice(self, lines);
    add_row(grid, 0, "Geometry", "How traces are arranged; file order always works", self->lines);
    for (int k = 0; k < 4; k++) {
        self->bytes[k] = number(self, 0, 237, 0, "find out");
        add_row(grid, 1 + k, names[k], docs[k], self->bytes[k]);
    }
    self->scalar = number(self, -10000, 10000, 0, "byte 71");
    add_row(grid, 5, "Coordinate scalar",
            "In place of trace header byte 71: -100 divides by 100, 10 multiplies by 10",
            self->scalar);
    for (int k = 0; k < 2; k++) {
        self->spacing[k] = number(self, 0, 10000, 2, "from coordinates");
        add_row(grid, 6 + k, k ? "Crossline spacing" : "Inline spacing",
                "Distance from line to line, m", self->spacing[k]);
    }
    self->interval = number(self, 0, 1000, 3, "from headers");
    add_row(grid, 8, "Sample interval", "ms, or m for depth", self->interval);
    self->domain = choice(self, domains);
    add_row(grid, 9, "Sample axis", "Time or depth", self->domain);
    self->format = make_formats(self);
    add_row(grid, 10, "Sample format", "How the samples are stored", self->format);
    self->order = choice(self, orders);
    add_row(grid, 11, "Byte order", "Of headers and samples", self->order);
    return grid;
}

// --- profiles -----------------------------------------------------------------------------------

static void on_profile(GtkButton *button, Import *self)
{
    const char *name = gtk_button_get_label(button);
    g_autoptr(GError) error = NULL;
    gtk_menu_button_popdown(GTK_MENU_BUTTON(self->profile_menu));
    LithoOpenOptions options;
    if (!litho_profile_load(name, &options, &error)) {
        say(self, error->message);
        return;
    }
    gtk_editable_set_text(GTK_EDITABLE(self->profile), name);
    self->options = options;
    load_values(self);
    changed(self);
}

static void list_profiles(Import *self)
{
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(self->profile_list)))
        gtk_box_remove(GTK_BOX(self->profile_list), child);
    g_auto(GStrv) names = litho_profiles();
    for (char **name = names; *name; name++) {
        GtkWidget *button = gtk_button_new_with_label(*name);
        gtk_widget_add_css_class(button, "flat");
        g_signal_connect(button, "clicked", G_CALLBACK(on_profile), self);
        gtk_box_append(GTK_BOX(self->profile_list), button);
    }
    gtk_widget_set_sensitive(self->profile_menu, names[0] != NULL);
}

static void profile_typed(Import *self)
{
    const char *name = gtk_editable_get_text(GTK_EDITABLE(self->profile));
    g_auto(GStrv) names = litho_profiles();
    gtk_widget_set_sensitive(self->save, litho_profile_bad_name(name) == NULL);
    gtk_widget_set_sensitive(self->remove, g_strv_contains((const char *const *)names, name));
}

static void on_save(Import *self)
{
    const char *name = gtk_editable_get_text(GTK_EDITABLE(self->profile));
    g_autoptr(GError) error = NULL;
    gboolean ok = litho_profile_save(name, &self->options, self->text ? self->text : "", &error);
    say(self, ok ? NULL : error->message);
    list_profiles(self);
    profile_typed(self);
}

static void on_remove(Import *self)
{
    const char *name = gtk_editable_get_text(GTK_EDITABLE(self->profile));
    g_autoptr(GError) error = NULL;
    gboolean ok = litho_profile_delete(name, &error);
    say(self, ok ? NULL : error->message);
    list_profiles(self);
    profile_typed(self);
}

static GtkWidget *make_profiles(Import *self)
{
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *popover = gtk_popover_new(), *joined = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    gtk_widget_add_css_class(joined, "linked");
    self->profile = gtk_entry_new();
    gtk_entry_set_placeholder_text(GTK_ENTRY(self->profile), "Name of a profile");
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->profile), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Name of the import profile", -1);
    g_signal_connect_swapped(self->profile, "changed", G_CALLBACK(profile_typed), self);
    self->profile_menu = gtk_menu_button_new();
    self->profile_list = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_popover_set_child(GTK_POPOVER(popover), self->profile_list);
    gtk_menu_button_set_popover(GTK_MENU_BUTTON(self->profile_menu), popover);
    gtk_widget_set_tooltip_text(self->profile_menu, "Load a profile");
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->profile_menu),
                                   GTK_ACCESSIBLE_PROPERTY_LABEL, "Load a profile", -1);
    self->save = gtk_button_new_with_label("Keep");
    gtk_widget_set_tooltip_text(self->save, "Keep these choices under this name; files with a "
                                            "similar text header will be offered them");
    self->remove = gtk_button_new_with_label("Delete");
    gtk_widget_set_tooltip_text(self->remove, "Delete the profile of this name");
    g_signal_connect_swapped(self->save, "clicked", G_CALLBACK(on_save), self);
    g_signal_connect_swapped(self->remove, "clicked", G_CALLBACK(on_remove), self);
    gtk_box_append(GTK_BOX(joined), self->profile);
    gtk_box_append(GTK_BOX(joined), self->profile_menu);
    gtk_box_append(GTK_BOX(line), joined);
    gtk_box_append(GTK_BOX(line), self->save);
    gtk_box_append(GTK_BOX(line), self->remove);
    list_profiles(self);
    profile_typed(self);
    return line;
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
    gtk_label_set_selectable(GTK_LABEL(label), TRUE);
    gtk_widget_set_focusable(label, FALSE);
    if (css)
        gtk_widget_add_css_class(label, css);
    return label;
}

static GtkWidget *make_candidates(Import *self)
{
    GtkWidget *scroll = gtk_scrolled_window_new();
    self->candidates = gtk_list_box_new();
    gtk_list_box_set_selection_mode(GTK_LIST_BOX(self->candidates), GTK_SELECTION_NONE);
    gtk_widget_add_css_class(self->candidates, "litho-candidates");
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->candidates), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Header bytes that may number the lines", -1);
    g_signal_connect(self->candidates, "row-activated", G_CALLBACK(on_candidate), self);
    GtkWidget *none = gtk_label_new("Nothing in the headers numbers lines.");
    gtk_widget_add_css_class(none, "dim-label");
    gtk_list_box_set_placeholder(GTK_LIST_BOX(self->candidates), none);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), self->candidates);
    gtk_widget_set_vexpand(scroll, TRUE);
    gtk_scrolled_window_set_min_content_height(GTK_SCROLLED_WINDOW(scroll), 120);
    return scroll;
}

static GtkWidget *make_left(Import *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    gtk_widget_set_size_request(box, 380, -1);
    gtk_box_append(GTK_BOX(box), heading("Found in the headers: inline / crossline bytes, score"));
    gtk_box_append(GTK_BOX(box), make_candidates(self));
    gtk_box_append(GTK_BOX(box), heading("By hand"));
    gtk_box_append(GTK_BOX(box), make_form(self));
    gtk_box_append(GTK_BOX(box), heading("Profile"));
    gtk_box_append(GTK_BOX(box), make_profiles(self));
    return box;
}

static void on_use(GtkButton *button, Import *self)
{
    self->options.format = self->decoded[GTK_WIDGET(button) == self->use[1]];
    load_values(self);
    changed(self);
}

static GtkWidget *make_pictures(Import *self)
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
        self->use[k] = gtk_button_new_with_label("Read it so");
        gtk_widget_set_tooltip_text(self->use[k], "Take this sample format");
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

static GtkWidget *make_right(Import *self)
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
    gtk_box_append(GTK_BOX(box), heading("First traces"));
    gtk_box_append(GTK_BOX(box), make_pictures(self));
    gtk_box_append(GTK_BOX(box), heading("Survey"));
    gtk_box_append(GTK_BOX(box), self->problem);
    gtk_box_append(GTK_BOX(box), self->summary);
    gtk_box_append(GTK_BOX(box), self->map);
    gtk_box_append(GTK_BOX(box), self->notes);
    return box;
}

static void on_open(Import *self)
{
    LithoWindow *window = self->window;
    gboolean same = window->paths && g_strv_equal((const char *const *)window->paths,
                                                  (const char *const *)self->paths);
    g_auto(GStrv) paths = g_strdupv(self->paths);
    LithoOpenOptions options = self->options;
    gtk_window_destroy(GTK_WINDOW(self->dialog));
    litho_window_open_as(window, (const char *const *)paths, &options,
                         same ? LITHO_OPEN_AGAIN : LITHO_OPEN_NORMAL);
}

static void on_cancel(Import *self)
{
    gtk_window_destroy(GTK_WINDOW(self->dialog));
}

static GtkWidget *make_header(Import *self)
{
    GtkWidget *header = gtk_header_bar_new(), *cancel = gtk_button_new_with_mnemonic("_Cancel");
    self->open = gtk_button_new_with_mnemonic("_Open");
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

static void on_destroy(GtkWidget *dialog, Import *self)
{
    (void)dialog;
    self->dialog = NULL;
    g_clear_handle_id(&self->settle, g_source_remove);
    litho_job_cancel(self->job);
    import_unref(self);
}

static gboolean on_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
                       Import *self)
{
    (void)keys;
    (void)code;
    (void)state;
    if (key != GDK_KEY_Escape)
        return FALSE;
    on_cancel(self);
    return TRUE;
}

void litho_import_open(LithoWindow *window, const char *const *paths,
                       const LithoOpenOptions *options)
{
    Import *self = g_new0(Import, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 24);
    self->refs = 1;
    self->window = g_object_ref(window);
    self->paths = g_strdupv((char **)paths);
    self->options = *options;
    self->dialog = gtk_window_new();
    gtk_widget_add_css_class(self->dialog, "lithoscope");
    gtk_widget_add_css_class(box, "litho-import");
    gtk_window_set_titlebar(GTK_WINDOW(self->dialog), make_header(self));
    gtk_box_append(GTK_BOX(box), make_left(self));
    gtk_box_append(GTK_BOX(box), gtk_separator_new(GTK_ORIENTATION_VERTICAL));
    gtk_box_append(GTK_BOX(box), make_right(self));
    load_values(self);
    g_autofree char *base = g_path_get_basename(paths[0]);
    g_autofree char *title = g_strdup_printf("Import %s", base);
    GtkEventController *keys = gtk_event_controller_key_new();
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), self);
    gtk_widget_add_controller(self->dialog, keys);
    gtk_window_set_child(GTK_WINDOW(self->dialog), box);
    gtk_window_set_title(GTK_WINDOW(self->dialog), title);
    gtk_window_set_transient_for(GTK_WINDOW(self->dialog), GTK_WINDOW(window));
    gtk_window_set_destroy_with_parent(GTK_WINDOW(self->dialog), TRUE);
    gtk_window_set_default_size(GTK_WINDOW(self->dialog), 1120, 720);
    gtk_window_set_default_widget(GTK_WINDOW(self->dialog), self->open);
    g_signal_connect(self->dialog, "destroy", G_CALLBACK(on_destroy), self);
    gtk_window_present(GTK_WINDOW(self->dialog));
    start_reading(self);
}
