// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Reads bytes `at` to `at` + `n` - 1 of an open file, going on where a signal or the system cuts a
// read short. Gives the number read, smaller only at the end of the file; -1 leaves errno. Any
// thread.
gint64 litho_read_at(int fd, void *bytes, gint64 n, gint64 at);
