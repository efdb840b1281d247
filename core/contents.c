// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/contents.h"

#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/error.h"
#include "core/text.h"

// Reads up to `size` bytes; a file that shrinks meanwhile is shorter.
static char *read_bytes(int fd, const char *path, gsize size, gsize *length, GError **error)
{
    g_autofree char *bytes = g_try_malloc(size + 1);
    if (!bytes) {
        litho_refuse(error, LITHO_ERROR_MEMORY, "no memory for the %zu bytes of %s", size, path);
        return NULL;
    }
    const gint64 done = litho_read_at(fd, bytes, (gint64)size, 0);
    if (done < 0) {
        litho_refuse_errno(error, "read", path);
        return NULL;
    }
    bytes[done] = '\0';
    if (length)
        *length = (gsize)done;
    return g_steal_pointer(&bytes);
}

char *litho_contents_load(const char *path, gsize most, gsize *length, GError **error)
{
    // Not blocking: opening a pipe by that name would wait for its writer.
    const int fd = g_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    char *bytes = NULL;
    struct stat info;
    if (fd < 0) {
        litho_refuse_errno(error, "open", path);
        return NULL;
    }
    if (fstat(fd, &info) < 0)
        litho_refuse_errno(error, "examine", path);
    else if (!S_ISREG(info.st_mode))
        litho_refuse(error, LITHO_ERROR_FORMAT, "%s is %s; a regular file is needed", path,
                     S_ISDIR(info.st_mode) ? "a folder" : "a device or pipe");
    else if ((guint64)info.st_size > most)
        litho_refuse(error, LITHO_ERROR_FORMAT,
                     "%s has %" PRId64 " bytes; at most %zu"
                     " are read of a file of this kind",
                     path, (gint64)info.st_size, most);
    else
        bytes = read_bytes(fd, path, info.st_size, length, error);
    close(fd);
    return bytes;
}

gsize litho_contents_mark(const char *text, gsize length)
{
    return length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

char *litho_contents_to_text(const char *bytes, gsize length, GError **error)
{
    const char *text = bytes + litho_contents_mark(bytes, length);
    return g_utf8_validate(text, -1, NULL)
               ? g_strdup(text)
               : g_convert(text, -1, "UTF-8", "ISO-8859-1", NULL, NULL, error);
}

char *litho_contents_load_text(const char *path, gsize most, GError **error)
{
    gsize length = 0;
    g_autofree char *text = litho_contents_load(path, most, &length, error);
    if (!text)
        return NULL;
    if (memchr(text, 0, length)) {
        litho_refuse(error, LITHO_ERROR_FORMAT, "%s is not text", path);
        return NULL;
    }
    return litho_contents_to_text(text, length, error);
}
