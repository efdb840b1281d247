// SPDX-License-Identifier: GPL-3.0-or-later
//
// File choosers. They ask; window_file.c does.
#include "core/error.h"
#include "core/text.h"
#include "ui/window/window_private.h"

#include <string.h>

typedef void (*Chosen)(LithoWindow *self, GListModel *files);

static char *path_of(GListModel *files, guint k)
{
    g_autoptr(GFile) file = g_list_model_get_item(files, k);
    return g_file_get_path(file);
}

// The chooser also offers places that have no path, such as a phone.
static gboolean all_local(LithoWindow *self, GListModel *files)
{
    for (guint k = 0; k < g_list_model_get_n_items(files); k++) {
        g_autofree char *path = path_of(files, k);
        if (!path) {
            litho_window_show_error(
                self, _("This place is not on a disk of this machine; copy the file first."), NULL);
            return FALSE;
        }
    }
    return TRUE;
}

// Each kind of dialog begins where it was left, also in the next session.
static void remember_folder(LithoWindow *self, GtkNativeDialog *dialog, GListModel *files)
{
    const char *key = g_object_get_data(G_OBJECT(dialog), "litho-folder");
    g_autofree char *path = path_of(files, 0), *folder = g_path_get_dirname(path);
    litho_settings_set_text(self->settings, key, folder);
}

// Saving begins beside the data, any other dialog where it was left, or beside the data where there
// was none yet. One call only: a chooser that is told two folders in a row shows neither.
static void use_folder(LithoWindow *self, GtkFileChooserNative *dialog, const char *key,
                       gboolean save)
{
    const char *data = litho_session_path(self->session);
    g_autofree char *here = data ? g_path_get_dirname(data) : g_get_current_dir();
    g_autofree char *known =
        save && data ? g_strdup(here) : litho_settings_text(self->settings, key, here);
    g_autoptr(GFile) folder =
        g_file_new_for_path(g_file_test(known, G_FILE_TEST_IS_DIR) ? known : here);
    g_object_set_data(G_OBJECT(dialog), "litho-folder", (gpointer)key);
    gtk_file_chooser_set_current_folder(GTK_FILE_CHOOSER(dialog), folder, NULL);
}

char *litho_window_saved_path(const char *path, const char *suffix, GError **error)
{
    g_autofree char *name = g_path_get_basename(path);
    if (!suffix || strchr(name, '.'))
        return g_strdup(path);
    g_autofree char *whole = g_strconcat(path, suffix, NULL);
    if (!g_file_test(whole, G_FILE_TEST_EXISTS))
        return g_steal_pointer(&whole);
    litho_refuse(error, LITHO_ERROR_PARAMETER,
                 "%s%s is there already; give the whole name to replace it", name, suffix);
    return NULL;
}

// The file to be saved, with the suffix of its kind where the name has none.
static GListModel *with_suffix(LithoWindow *self, GtkNativeDialog *dialog, GListModel *files)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = path_of(files, 0);
    g_autofree char *whole =
        litho_window_saved_path(path, g_object_get_data(G_OBJECT(dialog), "litho-suffix"), &error);
    if (!whole) {
        litho_window_show_error(self, error->message, NULL);
        return NULL;
    }
    GListStore *one = g_list_store_new(G_TYPE_FILE);
    g_autoptr(GFile) file = g_file_new_for_path(whole);
    g_list_store_append(one, file);
    return G_LIST_MODEL(one);
}

static void accept(LithoWindow *self, GtkNativeDialog *dialog, GListModel *files)
{
    Chosen chosen = (Chosen)g_object_get_data(G_OBJECT(dialog), "litho-chosen");
    if (g_list_model_get_n_items(files) == 0 || !all_local(self, files))
        return;
    remember_folder(self, dialog, files);
    const gboolean saves = g_object_get_data(G_OBJECT(dialog), "litho-suffix") != NULL;
    g_autoptr(GListModel) taken = saves ? with_suffix(self, dialog, files) : g_object_ref(files);
    if (taken)
        chosen(self, taken);
}

static void on_response(GtkNativeDialog *dialog, int response, LithoWindow *self)
{
    if (response == GTK_RESPONSE_ACCEPT) {
        g_autoptr(GListModel) files = gtk_file_chooser_get_files(GTK_FILE_CHOOSER(dialog));
        accept(self, dialog, files);
    }
    gtk_native_dialog_destroy(dialog);
    g_object_unref(dialog);
}

static void add_filter(GtkFileChooserNative *dialog, const char *name, const char *const *globs)
{
    GtkFileFilter *filter = gtk_file_filter_new();
    gtk_file_filter_set_name(filter, name);
    for (; *globs; globs++)
        gtk_file_filter_add_pattern(filter, *globs);
    gtk_file_chooser_add_filter(GTK_FILE_CHOOSER(dialog), filter);
    g_object_unref(filter);
}

static void suggest(LithoWindow *self, GtkFileChooserNative *dialog, const char *tail)
{
    LithoCube *cube = litho_session_input(self->session);
    g_autofree char *base = g_strdup(cube && *cube->name ? cube->name : "result");
    char *dot = strrchr(base, '.');
    if (dot && dot > base)
        *dot = 0;
    g_autofree char *name = g_strconcat(base, tail, NULL);
    gtk_file_chooser_set_current_name(GTK_FILE_CHOOSER(dialog), name);
}

// One kind of dialog.
typedef struct Dialog {
    const char *title;
    gboolean save;
    gboolean several;  // files at once
    const char *key;   // of the settings: the folder where it begins
    const char *tail;  // with `save`: behind the cube's name, the name that is suggested
    const char *names; // of the files that it offers
    const char *const *globs;
    gboolean also_all; // offers all files as well
    Chosen chosen;
} Dialog;

static const char *const all[] = {"*", NULL};

static void show(LithoWindow *self, const Dialog *d)
{
    GtkFileChooserNative *dialog = gtk_file_chooser_native_new(
        litho_text(d->title), GTK_WINDOW(self),
        d->save ? GTK_FILE_CHOOSER_ACTION_SAVE : GTK_FILE_CHOOSER_ACTION_OPEN,
        d->save ? _("_Save") : _("_Open"), _("_Cancel"));
    gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(dialog), TRUE);
    g_object_set_data(G_OBJECT(dialog), "litho-chosen", (gpointer)d->chosen);
    g_signal_connect_object(dialog, "response", G_CALLBACK(on_response), self, 0);
    use_folder(self, dialog, d->key, d->save);
    gtk_file_chooser_set_select_multiple(GTK_FILE_CHOOSER(dialog), d->several);
    add_filter(dialog, litho_text(d->names), d->globs);
    if (d->also_all)
        add_filter(dialog, _("All files"), all);
    if (d->save) {
        suggest(self, dialog, d->tail);
        g_object_set_data_full(G_OBJECT(dialog), "litho-suffix", g_strdup(strrchr(d->tail, '.')),
                               g_free);
    }
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

// --- open ---------------------------------------------------------------------------------------

static void open_chosen(LithoWindow *self, GListModel *files)
{
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    for (guint k = 0; k < g_list_model_get_n_items(files); k++)
        g_ptr_array_add(paths, path_of(files, k));
    g_ptr_array_add(paths, NULL);
    litho_window_open(self, (const char *const *)paths->pdata);
}

void litho_window_choose_open(LithoWindow *self)
{
    static const char *const seismic[] = {"*.sgy", "*.segy", "*.SGY", "*.SEGY", "*.su", "*.npy",
                                          "*.rsf", "*.bin",  "*.raw", "*.h5",   "*.hdf5", "*.nc",
                                          "*.json", NULL};
    static const Dialog dialog = {.title = N_("Open a seismic cube"),
                                  .several = TRUE,
                                  .key = "data-folder",
                                  .names = N_("Seismic data and recipes"),
                                  .globs = seismic,
                                  .also_all = TRUE,
                                  .chosen = open_chosen};
    show(self, &dialog);
}

// --- save ---------------------------------------------------------------------------------------

static void save_chosen(LithoWindow *self, GListModel *files)
{
    g_autofree char *path = path_of(files, 0);
    litho_window_save(self, path, TRUE); // the chooser has asked about overwriting
}

void litho_window_choose_save(LithoWindow *self)
{
    static const char *const formats[] = {"*.sgy", "*.su", "*.npy", "*.rsf", NULL};
    const char *volume = litho_session_volume(self->session);
    g_autofree char *tail = g_strconcat("-", volume ? volume : "result", ".sgy", NULL);
    g_autofree char *name = litho_volume_title(volume ? volume : N_("Result"));
    g_autofree char *title = g_strdup_printf(_("Save the volume: %s"), name);
    const Dialog dialog = {.title = volume ? title : N_("Save the result"),
                           .save = TRUE,
                           .key = "result-folder",
                           .tail = g_strdelimit(tail, " ", '-'),
                           .names = N_("SEG-Y, SU, NumPy, RSF"),
                           .globs = formats,
                           .chosen = save_chosen};
    show(self, &dialog);
}

static void picture_chosen(LithoWindow *self, GListModel *files)
{
    g_autofree char *path = path_of(files, 0);
    litho_window_export(self, path);
}

void litho_window_choose_picture(LithoWindow *self)
{
    static const char *const formats[] = {"*.png", "*.pdf", "*.svg", NULL};
    static const Dialog dialog = {.title = N_("Export the picture"),
                                  .save = TRUE,
                                  .key = "picture-folder",
                                  .tail = ".png",
                                  .names = N_("PNG, PDF, SVG"),
                                  .globs = formats,
                                  .chosen = picture_chosen};
    show(self, &dialog);
}

static void report_chosen(LithoWindow *self, GListModel *files)
{
    g_autofree char *path = path_of(files, 0);
    litho_window_report(self, path);
}

void litho_window_choose_report(LithoWindow *self)
{
    static const char *const formats[] = {"*.pdf", "*.png", "*.svg", NULL};
    static const Dialog dialog = {.title = N_("Save the report; its figures go beside it as JSON"),
                                  .save = TRUE,
                                  .key = "report-folder",
                                  .tail = "-report.pdf",
                                  .names = N_("PDF, PNG, SVG"),
                                  .globs = formats,
                                  .chosen = report_chosen};
    show(self, &dialog);
}

// --- recipe -------------------------------------------------------------------------------------

static void recipe_open_chosen(LithoWindow *self, GListModel *files)
{
    g_autofree char *path = path_of(files, 0);
    litho_window_load_recipe(self, path);
}

static void recipe_save_chosen(LithoWindow *self, GListModel *files)
{
    g_autofree char *path = path_of(files, 0);
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoInputs) inputs = litho_window_inputs(self);
    if (litho_flow_save(litho_session_flow(self->session), path, &error))
        litho_window_notice_saved(self, path);
    else
        litho_window_show_error(self, error->message, NULL);
}

void litho_window_choose_recipe(LithoWindow *self, gboolean save)
{
    static const char *const formats[] = {"*.json", NULL};
    const Dialog dialog = {.title = save ? _("Save the recipe") : _("Open a recipe"),
                           .save = save,
                           .key = "recipe-folder",
                           .tail = "-recipe.json",
                           .names = _("Recipes"),
                           .globs = formats,
                           .chosen = save ? recipe_save_chosen : recipe_open_chosen};
    show(self, &dialog);
}

// --- tables and other cubes ---------------------------------------------------------------------

static void colours_chosen(LithoWindow *self, GListModel *files)
{
    g_autofree char *path = path_of(files, 0);
    litho_window_load_colours(self, path);
}

void litho_window_choose_colours(LithoWindow *self)
{
    static const char *const formats[] = {"*.csv", "*.txt", NULL};
    static const Dialog dialog = {.title = N_("Load a colour map: rows of red, green, blue"),
                                  .key = "colour-folder",
                                  .names = N_("Tables of colours"),
                                  .globs = formats,
                                  .chosen = colours_chosen};
    show(self, &dialog);
}

static void reference_chosen(LithoWindow *self, GListModel *files)
{
    g_autofree char *path = path_of(files, 0);
    litho_window_compare_file(self, path);
}

void litho_window_choose_reference(LithoWindow *self)
{
    static const Dialog dialog = {.title = N_("Compare with a file of the survey's shape"),
                                  .key = "reference-folder",
                                  .names = N_("All files"),
                                  .globs = all,
                                  .chosen = reference_chosen};
    show(self, &dialog);
}

static void points_chosen(LithoWindow *self, GListModel *files)
{
    g_autofree char *path = path_of(files, 0);
    litho_window_save_points(self, path);
}

void litho_window_choose_points(LithoWindow *self)
{
    static const char *const formats[] = {"*.csv", NULL};
    static const Dialog dialog = {.title = N_("Save the noted points"),
                                  .save = TRUE,
                                  .key = "points-folder",
                                  .tail = "-points.csv",
                                  .names = N_("Tables (CSV)"),
                                  .globs = formats,
                                  .chosen = points_chosen};
    show(self, &dialog);
}
