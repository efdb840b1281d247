// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "core/survey.h"

// What a file looks like when read with given options: everything the import view shows. Made in a
// thread; the caller frees it.
typedef struct LithoDecoding {
    int format;          // SEG-Y sample format code
    GdkTexture *picture; // the first traces; NULL = they cannot be had
    char *label;         // "IBM float, typical amplitude 1.3"
} LithoDecoding;

typedef struct LithoImportPreview {
    LithoSurvey *survey; // NULL = it cannot be opened so
    char *problem;       // why
    char *summary;       // sizes, interval, bins, counts
    char *notes;         // what opening repaired or assumed, a line each
    guint n; // decodings: the chosen one first, the other floating-point one if there is
    LithoDecoding decoding[2]; // a doubt
} LithoImportPreview;

enum { LITHO_PREVIEW_WIDTH = 320, LITHO_PREVIEW_HEIGHT = 220 };

// NULL only after a cancel.
LithoImportPreview *litho_import_preview_new(const char *const *paths,
                                             const LithoOpenOptions *options, LithoRun *run,
                                             GError **error);
void litho_import_preview_free(LithoImportPreview *preview); // NULL is fine
