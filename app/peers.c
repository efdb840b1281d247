// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/peers.h"

#include <gmodule.h>

#include "core/backend.h"
#include "core/error.h"
#include "core/text.h"

gboolean litho_peers_are_several(void)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
    for (guint k = 0; k < G_N_ELEMENTS(sizes); k++) {
        const char *size = g_getenv(sizes[k]);
        if (size && g_ascii_strtoll(size, NULL, 10) > 1)
            return TRUE;
    }
    return FALSE;
}

static GModule *open_module(void)
{
    g_autoptr(GPtrArray) folders = litho_module_folders();
    for (guint k = 0; k < folders->len; k++) {
        g_autofree char *path =
            g_build_filename(g_ptr_array_index(folders, k), "lithoscope-mpi.so", NULL);
        // Open MPI's own plugins look for the library's symbols globally.
        GModule *module = g_file_test(path, G_FILE_TEST_EXISTS) ? g_module_open(path, 0) : NULL;
        if (module) {
            g_module_make_resident(module);
            return module;
        }
    }
    return NULL;
}

LithoPeersModule *litho_peers_start(GError **error)
{
    if (!litho_peers_are_several())
        return NULL;
    GModule *module = open_module();
    gpointer symbol = NULL;
    if (!module || !g_module_symbol(module, LITHO_PEERS_ENTRY, &symbol)) {
        g_set_error(
            error, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED,
            _("started by mpirun, but lithoscope-mpi.so was not built or cannot be loaded%s%s"),
            module ? "" : ": ",
            module             ? ""
            : g_module_error() ? g_module_error()
                               : _("not found"));
        return NULL;
    }
    return ((LithoPeersEntry)symbol)(error);
}
