// SPDX-License-Identifier: GPL-3.0-or-later
//
// Finds the scripts that come with the program.
#include <string.h>

#include "core/error.h"
#include "core/program.h"
#include "core/show/script.h"
#include "core/text.h"

// Best first; of char *.
static GPtrArray *data_folders(void)
{
    GPtrArray *folders = g_ptr_array_new_with_free_func(g_free);
    const char *given = g_getenv("LITHO_DATA_DIR");
    if (given)
        g_ptr_array_add(folders, g_strdup(given));
    g_autofree char *here = litho_program_folder();
    if (here) {
        g_ptr_array_add(folders,
                        g_build_filename(here, LITHO_DATADIR_FROM_BIN, "lithoscope", NULL));
        // The build's folder names the tree it was made from, for programs that are not installed.
        g_autofree char *mark = g_build_filename(here, "..", "data", "source-folder", NULL);
        g_autofree char *source = NULL;
        if (g_file_get_contents(mark, &source, NULL, NULL))
            g_ptr_array_add(folders, g_build_filename(g_strstrip(source), "data", NULL));
    }
    return folders;
}

char *litho_data_file(const char *name)
{
    g_autoptr(GPtrArray) folders = data_folders();
    for (guint k = 0; k < folders->len; k++) {
        char *path = g_build_filename(g_ptr_array_index(folders, k), name, NULL);
        if (g_file_test(path, G_FILE_TEST_EXISTS))
            return path;
        g_free(path);
    }
    return NULL;
}

static int by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

char **litho_script_names(void)
{
    GPtrArray *names = g_ptr_array_new();
    g_autofree char *folder = litho_data_file("demos");
    g_autoptr(GDir) dir = folder ? g_dir_open(folder, 0, NULL) : NULL;
    const char *name;
    while (dir && (name = g_dir_read_name(dir)))
        if (g_str_has_suffix(name, ".json"))
            g_ptr_array_add(names, g_strndup(name, strlen(name) - strlen(".json")));
    g_ptr_array_sort(names, by_name);
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(names, FALSE);
}

char *litho_script_find(const char *name, GError **error)
{
    if (strchr(name, '/') || g_str_has_suffix(name, ".json"))
        return g_strdup(name);
    g_autofree char *file = g_strdup_printf("demos/%s.json", name);
    char *path = litho_data_file(file);
    if (path)
        return path;
    g_auto(GStrv) names = litho_script_names();
    g_autofree char *list = g_strjoinv(", ", names);
    litho_refuse(error, LITHO_ERROR_PARAMETER,
                 "there is no demonstration '%s'; %s, or a file that ends in .json is needed", name,
                 *list ? list : "no data folder was found");
    return NULL;
}
