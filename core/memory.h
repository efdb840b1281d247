// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Bytes this process may still take: the least of what the system has available, what its
// control groups leave and RLIMIT_AS; no more than LITHO_MEMORY says (GiB). Never 0. Thread-safety:
// any thread.
guint64 litho_memory_available(void);
// Bytes that an operator's plan may keep from pass to pass: a quarter of that, 2 GiB at most. Any
// thread.
guint64 litho_memory_to_keep(void);
// FALSE (LITHO_ERROR_PARAMETER) when LITHO_MEMORY is set to what is no number of GiB; programs
// refuse it at their start, litho_memory_available() passes it over.
gboolean litho_memory_check_setting(GError **error);
// Gives what was freed back to the system: small blocks stay with the threads that had them, and
// other threads take theirs anew. Any thread.
void litho_memory_return(void);
// Asks the system for large pages in a block of `bytes` that malloc() gave, which nobody has
// written yet: a block of gigabytes is else taken and given back for a second, four kilobytes at a
// time. A wish; NULL is fine. Any thread.
void litho_memory_large_pages(gpointer block, gsize bytes);
// `n` items of `size` bytes, zeroed, for whatever grows with the data. NULL (LITHO_ERROR_MEMORY)
// with "there is no memory for 1.20 GiB of WHAT". g_free(). Any thread.
gpointer litho_memory_new(gsize n, gsize size, const char *what, GError **error);
