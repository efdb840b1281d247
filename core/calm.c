// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calm.h"

#include <glib.h>
#include <unistd.h>

void litho_threads_calm(char **argv)
{
    static const char turns[] = "2000"; // of 30 to 60 ns
    if (g_getenv("GOMP_SPINCOUNT") || g_getenv("OMP_WAIT_POLICY"))
        return;
    g_setenv("GOMP_SPINCOUNT", turns, TRUE); // seen by the program that begins here
    g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
    if (program)
        (void)execv(program, argv); // by its name, which lists of processes show
    (void)execv("/proc/self/exe", argv);
}
