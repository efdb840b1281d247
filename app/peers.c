// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/peers.h"

#include <gmodule.h>
#include <signal.h>

#include "core/backend.h"
#include "core/error.h"
#include "core/text.h"

// The rank as the starter's environment tells it, before MPI begins; -1 = alone.
static gint64 early_rank(void)
{
    static const char *const names[][2] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                           {"PMI_SIZE", "PMI_RANK"},
                                           {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};
    for (guint k = 0; k < G_N_ELEMENTS(names); k++) {
        const char *size = g_getenv(names[k][0]), *rank = g_getenv(names[k][1]);
        if (size && g_ascii_strtoll(size, NULL, 10) > 1)
            return rank ? MAX(g_ascii_strtoll(rank, NULL, 10), 0) : 0;
    }
    return -1;
}

gboolean litho_peers_are_several(void)
{
    return early_rank() >= 0;
}

void litho_peers_let_first_tell(void)
{
    if (early_rank() <= 0)
        return;
    signal(SIGTERM, SIG_DFL); // mpirun ends this process as soon as the first one has ended
    g_usleep(LITHO_PEERS_CLEAN_UP_S * G_USEC_PER_SEC);
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
