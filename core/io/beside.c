// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/beside.h"

#include <string.h>

static char *file_beside(const char *const *paths, const char *what)
{
    if (!paths || !paths[0] || paths[1])
        return NULL;
    const char *path = paths[0], *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    const gsize stem = dot && dot > (slash ? slash + 1 : path) ? (gsize)(dot - path) : strlen(path);
    g_autofree char *beside = g_strdup_printf("%.*s-%s%s", (int)stem, path, what, path + stem);
    return g_file_test(beside, G_FILE_TEST_IS_REGULAR) ? g_steal_pointer(&beside) : NULL;
}

char *litho_truth_beside(const char *const *paths)
{
    return file_beside(paths, "truth");
}

char *litho_velocity_beside(const char *const *paths)
{
    static const char *const with_axes[] = {".sgy", ".segy", ".su", ".rsf"};
    g_autofree char *path = file_beside(paths, "velocity");
    g_autofree char *lower = g_ascii_strdown(path ? path : "", -1);
    for (guint k = 0; k < G_N_ELEMENTS(with_axes); k++)
        if (g_str_has_suffix(lower, with_axes[k]))
            return g_steal_pointer(&path);
    return NULL;
}
