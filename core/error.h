// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Every failure below app/ travels as a GError of this domain (or G_IO_ERROR for the operating
// system's own refusals). The message is one sentence for the person at the screen: what was found,
// what is needed. Cancelling is G_IO_ERROR_CANCELLED, so that it is never shown as a failure.
#define LITHO_ERROR (litho_error_quark())
GQuark litho_error_quark(void);

typedef enum {
    LITHO_ERROR_FORMAT,      // a file is not what its name or its headers say
    LITHO_ERROR_UNSUPPORTED, // understood, but refused: the sentence names what is missing
    LITHO_ERROR_GEOMETRY,    // sizes or axes do not fit the operation
    LITHO_ERROR_PARAMETER,   // unknown key or value outside the legal range
    LITHO_ERROR_MEMORY,      // host or device memory does not suffice
    LITHO_ERROR_DEVICE,      // a device call failed; the sentence names the call
    LITHO_ERROR_WORD,        // an option says nothing that exists: the command line is wrong
    LITHO_ERROR_NUMERICS,    // a computation grew, broke down or produced non-finite numbers
    LITHO_ERROR_PROGRAM,     // a program of the user's own failed; the sentence holds its last words
} LithoErrorCode;

// Fills `error` and gives FALSE: return litho_refuse(error, LITHO_ERROR_PARAMETER, "...", ...);
gboolean litho_refuse(GError **error, LithoErrorCode code, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
// Fills `error` with what errno says (G_IO_ERROR) and gives FALSE: "cannot open a.sgy: ...". `verb`
// is one of "open", "read", "write", "create", "examine".
gboolean litho_refuse_errno(GError **error, const char *verb, const char *path);
// TRUE when `error` is the result of cancelling and not of a failure. NULL is FALSE.
gboolean litho_error_is_cancelled(const GError *error);
