// SPDX-License-Identifier: GPL-3.0-or-later
//
// Sentences of the window that go by themselves: ui/window/notice.h.
#include "ui/window/window_private.h"

#include "core/text.h"

void litho_window_notice(LithoWindow *self, const char *format, ...)
{
    va_list words;
    va_start(words, format);
    g_autofree char *sentence = litho_text_vprintf(litho_text(format), words);
    va_end(words);
    litho_notice_tell(litho_tellers_notice(self->tellers), sentence);
}

void litho_window_notice_saved(LithoWindow *self, const char *path)
{
    g_autoptr(GFile) file = g_file_new_for_path(path);
    g_autoptr(GFileInfo) info =
        g_file_query_info(file, G_FILE_ATTRIBUTE_STANDARD_SIZE, G_FILE_QUERY_INFO_NONE, NULL, NULL);
    g_autofree char *base = g_path_get_basename(path), *folder = g_path_get_dirname(path);
    g_autofree char *size = g_format_size(info ? (guint64)g_file_info_get_size(info) : 0);
    litho_window_notice(self, "Saved %s (%s) in %s", base, size, folder);
}
