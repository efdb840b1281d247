// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/error.h"

#include <errno.h>
#include <gio/gio.h>

#include "core/text.h"

G_DEFINE_QUARK(litho - error - quark, litho_error)

gboolean litho_error_is_cancelled(const GError *error)
{
    return g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

gboolean litho_refuse(GError **error, LithoErrorCode code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = litho_text_vprintf(litho_text(format), args);
    va_end(args);
    g_set_error_literal(error, LITHO_ERROR, code, text);
    return FALSE;
}

gboolean litho_refuse_errno(GError **error, const char *verb, const char *path)
{
    const int code = errno;
    g_set_error(error, G_IO_ERROR, g_io_error_from_errno(code), _("cannot %s %s: %s"), verb, path,
                g_strerror(code));
    return FALSE;
}
