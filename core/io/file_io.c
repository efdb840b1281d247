// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/survey_private.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"

gboolean litho_file_open(LithoTraceFile *file, const char *path, GError **error)
{
    *file = (LithoTraceFile){.path = g_strdup(path)};
    // Not blocking, so that a pipe by that name cannot hang the program.
    file->fd = g_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    if (file->fd < 0)
        return litho_refuse_errno(error, "open", path);
    struct stat info;
    if (fstat(file->fd, &info) < 0)
        return litho_refuse_errno(error, "examine", path);
    const gboolean is_zarr = S_ISDIR(info.st_mode) && litho_is_store(path);
    if (S_ISDIR(info.st_mode) && !is_zarr)
        return litho_foreign_refuse_folder(path, error);
    if (!is_zarr && !S_ISREG(info.st_mode))
        return litho_refuse(error, LITHO_ERROR_FORMAT,
                            "%s is a device or pipe, a regular file is needed", path);
    if (!(is_zarr ? litho_stamp_take(path, &file->stamp, error)
                  : litho_stamp_take_open(file->fd, &file->stamp) ||
                        litho_refuse_errno(error, "examine", path)))
        return FALSE;
    file->size = file->stamp.bytes;
    file->id = (LithoFileId){info.st_dev, info.st_ino};
    if (is_zarr)
        return TRUE;
    if (file->size == 0) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT, _("%s is empty"), path);
        return FALSE;
    }
    return litho_foreign_check(file, error);
}

void litho_file_close(LithoTraceFile *file)
{
    if (file->path && file->fd >= 0)
        close(file->fd);
    litho_array_free(file->array);
    g_free(file->offsets);
    g_free(file->path);
    *file = (LithoTraceFile){.fd = -1};
}

gint64 litho_file_read(const LithoTraceFile *file, void *buffer, gint64 n, gint64 at,
                       GError **error)
{
    if (file->array)
        return litho_array_read_bytes(file->array, buffer, n, at, error);
    const gint64 got = litho_read_at(file->fd, buffer, n, at);
    if (got < 0)
        litho_refuse_errno(error, "read", file->path);
    return got;
}

gboolean litho_file_read_all(const LithoTraceFile *file, void *buffer, gint64 n, gint64 at,
                             GError **error)
{
    gint64 got = litho_file_read(file, buffer, n, at, error);
    if (got < 0)
        return FALSE;
    if (got == n)
        return TRUE;
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED,
                _("%s ends at byte %" PRId64 " but had %" PRId64
                  " bytes when it was opened; it was changed or is still being copied"),
                file->path, at + got, file->size);
    return FALSE;
}

gboolean litho_file_read_cached(const LithoTraceFile *file, void *buffer, gint64 n, gint64 at)
{
    if (file->array)
        return FALSE;
    const struct iovec part = {.iov_base = buffer, .iov_len = (gsize)n};
    return preadv2(file->fd, &part, 1, at, RWF_NOWAIT) == n;
}

void litho_file_expect(const LithoTraceFile *file, gint64 n, gint64 at)
{
    if (!file->array)
        posix_fadvise(file->fd, at, n, POSIX_FADV_WILLNEED);
}

gboolean litho_file_refuse_changed(const char *path, GError **error)
{
    g_set_error(
        error, G_IO_ERROR, G_IO_ERROR_FAILED,
        _("%s was changed after it was opened; its samples would be a mixture, open it again"),
        path);
    return FALSE;
}

gboolean litho_file_unchanged(const LithoTraceFile *file, GError **error)
{
    LithoStamp now;
    if (!(file->stamp.listing ? litho_stamp_take(file->path, &now, error)
                              : litho_stamp_take_open(file->fd, &now) ||
                                    litho_refuse_errno(error, "examine", file->path)))
        return FALSE;
    return litho_stamp_equal(&now, &file->stamp) || litho_file_refuse_changed(file->path, error);
}

// --- memory -----------------------------------------------------------------------------------

gboolean litho_memory_check(gint64 bytes, const char *what, GError **error)
{
    guint64 available = litho_memory_available();
    if ((guint64)bytes <= available)
        return TRUE;
    litho_refuse(error, LITHO_ERROR_MEMORY, "%s needs %.2f GiB of memory and %.2f GiB are free",
                 litho_text(what), bytes / 1073741824.0, available / 1073741824.0);
    return FALSE;
}

// --- notes ------------------------------------------------------------------------------------

static void note_once(LithoSurvey *survey, char *text)
{
    for (guint k = 0; k < survey->notes->len; k++)
        if (strcmp(g_ptr_array_index(survey->notes, k), text) == 0) {
            g_free(text);
            return;
        }
    g_ptr_array_add(survey->notes, text);
}

void litho_survey_note(LithoSurvey *survey, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    note_once(survey, litho_text_vprintf(litho_text(format), args));
    va_end(args);
}

void litho_survey_note_first(LithoSurvey *survey)
{
    GPtrArray *notes = survey->notes;
    if (notes->len > 1)
        g_ptr_array_insert(notes, 0, g_ptr_array_steal_index(notes, notes->len - 1));
}

gboolean litho_survey_repair(LithoSurvey *survey, gboolean strict, GError **error,
                             const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = litho_text_vprintf(litho_text(format), args);
    va_end(args);
    if (!strict) {
        note_once(survey, text);
        return TRUE;
    }
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT, _("%s (strict reading repairs nothing)"),
                text);
    g_free(text);
    return FALSE;
}
