// SPDX-License-Identifier: GPL-3.0-or-later
//
// Finds panels and makes operators of them.
#include <string.h>

#include "core/error.h"
#include "core/io/output.h"
#include "core/operator_files.h"
#include "core/show/script.h"
#include "core/text.h"
#include "kernels/external/external.h"
#include "kernels/external/job.h"

enum { MOST_PANELS = 100 };

static int by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Paths of the folder's panels, in the order of their names.
static GPtrArray *panels_of(const char *folder, GError **error)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, error);
    const char *name;
    if (!dir)
        return NULL;
    GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
    while ((name = g_dir_read_name(dir)))
        if (g_str_has_suffix(name, ".json") && *name != '.')
            g_ptr_array_add(paths, g_build_filename(folder, name, NULL));
    g_ptr_array_sort(paths, by_name);
    return paths;
}

// Panels live as long as the program.
static GPtrArray *panels; // of ExternalPanel

static const ExternalPanel *panel_of_key(const char *key)
{
    for (guint k = 0; panels && k < panels->len; k++) {
        const ExternalPanel *panel = g_ptr_array_index(panels, k);
        if (strcmp(panel->op.key, key) == 0)
            return panel;
    }
    return NULL;
}

// No output replaces a panel or a file of its program: both are inputs of the command. An
// interrupted run does not go on with others.
static void hold_files(const ExternalPanel *panel)
{
    litho_input_hold_path(panel->path);
    litho_operator_files_note(&panel->op, panel->path);
    for (char *const *word = panel->command; *word; word++) {
        g_autofree char *file = g_canonicalize_filename(*word, panel->folder);
        if (!g_file_test(file, G_FILE_TEST_IS_REGULAR)) // outputs may lie in a folder
            continue;
        litho_input_hold_path(file);
        litho_operator_files_note(&panel->op, file);
    }
}

// FALSE with a sentence: the panel makes no operator. FALSE without one: the file is no panel. A
// panel of another folder goes before it.
static gboolean add_panel(const char *path, GError **error)
{
    ExternalPanel *panel = external_panel_load(path, error);
    if (!panel)
        return FALSE;
    const ExternalPanel *other = panel_of_key(panel->op.key);
    gboolean ok = TRUE;
    if (other ? strcmp(other->folder, panel->folder) == 0
              : litho_operator_find(panel->op.key) != NULL)
        ok = litho_refuse(error, LITHO_ERROR_FORMAT,
                          "%s: key is '%s', as that of %s; another one is needed", path,
                          panel->op.key, other ? other->path : "a built-in operator");
    if (other || !ok) {
        external_panel_free(panel);
        return ok;
    }
    external_operator_make(panel);
    hold_files(panel);
    if (!panels)
        panels = g_ptr_array_new();
    g_ptr_array_add(panels, panel);
    litho_operators_add(&panel->op);
    return TRUE;
}

gboolean litho_external_load_folder(const char *folder, GError **error)
{
    g_autoptr(GPtrArray) paths = panels_of(folder, error);
    for (guint k = 0; paths && k < MIN(paths->len, MOST_PANELS); k++) {
        g_autoptr(GError) why = NULL;
        if (!add_panel(g_ptr_array_index(paths, k), &why) && why)
            litho_operators_refused(g_strdup(why->message));
    }
    if (paths && paths->len > MOST_PANELS)
        litho_operators_refused(g_strdup_printf(_("%s: %u panels; the first %d were read"), folder,
                                                paths->len, MOST_PANELS));
    return paths != NULL;
}

// Folders that need not be there.
static void load_where_there(char *folder)
{
    g_autoptr(GError) error = NULL;
    if (folder && g_file_test(folder, G_FILE_TEST_IS_DIR) &&
        !litho_external_load_folder(folder, &error))
        litho_operators_refused(g_strdup(error->message));
    g_free(folder);
}

// The folder behind the option at argv[k], NULL = there is none; `words` it takes. "" = it is
// missing.
static const char *folder_at(char **argv, int k, int argc, int *words)
{
    static const char option[] = "--operators";
    const gsize n = strlen(option);
    *words = 1;
    if (strncmp(argv[k], option, n) != 0 || (argv[k][n] != '\0' && argv[k][n] != '='))
        return NULL;
    if (argv[k][n] == '=')
        return argv[k] + n + 1;
    *words = k + 1 < argc ? 2 : 1;
    return k + 1 < argc ? argv[k + 1] : "";
}

// compare has an --operators of its own, which takes no folder.
static gboolean is_own_option(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], "compare") == 0;
}

static gboolean take_options(int *argc, char **argv, GError **error)
{
    int kept = 1;
    for (int k = 1, words; k < *argc; k += words) {
        const char *folder = folder_at(argv, k, *argc, &words);
        if (!folder || (kept > 1 && is_own_option(kept, argv))) {
            words = 1;
            argv[kept++] = argv[k];
            continue;
        }
        if (!*folder)
            return litho_refuse(error, LITHO_ERROR_PARAMETER,
                                "--operators needs a folder of panels behind it");
        if (!litho_external_load_folder(folder, error)) {
            g_prefix_error(error, "--operators: ");
            return FALSE;
        }
    }
    argv[kept] = NULL;
    *argc = kept;
    return TRUE;
}

gboolean litho_external_init(int *argc, char **argv, GError **error)
{
    if (!take_options(argc, argv, error))
        return FALSE;
    load_where_there(g_build_filename(g_get_user_data_dir(), "lithoscope", "operators", NULL));
    load_where_there(litho_data_file("operators"));
    return TRUE;
}
