// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Reads a text file of "depth velocity" lines (m, m/s) into two arrays of double, depth growing.
// '#' starts a comment, lines without a digit above the first number are headings, and two lines of
// one depth are a jump. FALSE with a sentence that names the line. Any thread.
gboolean litho_migrate_table_read(const char *path, GArray *depth, GArray *velocity,
                                  GError **error);
