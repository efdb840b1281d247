// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Small files that are read whole: recipes, sessions, models, tables, colour maps.

enum { LITHO_CONTENTS_TEXT = 1 << 30 }; // bytes: no table, horizon or colour map is longer

// The bytes of the regular file `path`, with a 0 behind them that `length` (may be NULL) does not
// count; g_free(). A folder, device or pipe, a file of more than `most` bytes and a failing
// allocation are errors of one sentence; none of them blocks. Any thread.
char *litho_contents_load(const char *path, gsize most, gsize *length, GError **error);
// The text of a file, as UTF-8 without a byte order mark, likewise: other bytes are taken for
// Latin-1 (comments of old programs), a 0 byte is an error.
char *litho_contents_load_text(const char *path, gsize most, GError **error);
// `length` bytes of such a text, with a 0 behind them and none among them, likewise; g_free().
char *litho_contents_to_text(const char *bytes, gsize length, GError **error);
// Bytes of the byte order mark that some editors write in front of a text: 3 or 0.
gsize litho_contents_mark(const char *text, gsize length);
