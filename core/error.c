// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/error.h"

#include <gio/gio.h>

G_DEFINE_QUARK(litho-error-quark, litho_error)

gboolean litho_error_is_cancelled(const GError *error)
{
    return g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}
