// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Folder of the running program, links resolved; modules and data are found from it. NULL: the
// system does not tell. g_free(). Any thread.
static inline char *litho_program_folder(void)
{
    g_autofree char *exe = g_file_read_link("/proc/self/exe", NULL);
    return exe ? g_path_get_dirname(exe) : NULL;
}
