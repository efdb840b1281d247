// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/operator_files.h"

static GHashTable *noted; // of GPtrArray of paths with a NULL behind, by operator; or NULL

void litho_operator_files_note(const LithoOperator *op, const char *path)
{
    if (!noted)
        noted = g_hash_table_new(NULL, NULL);
    GPtrArray *paths = g_hash_table_lookup(noted, op);
    if (!paths) {
        paths = g_ptr_array_new(); // lives as long as the operator, which is as long as the program
        g_hash_table_insert(noted, (gpointer)op, paths);
    } else {
        g_ptr_array_set_size(paths, (gint)paths->len - 1); // its NULL
    }
    g_ptr_array_add(paths, g_strdup(path));
    g_ptr_array_add(paths, NULL);
}

char *const *litho_operator_files(const LithoOperator *op)
{
    const GPtrArray *paths = noted ? g_hash_table_lookup(noted, op) : NULL;
    return paths ? (char *const *)paths->pdata : NULL;
}
