// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "core/io/survey.h"

// Picture and text of a file read with given options: everything the import view shows. Made in a
// thread; the caller frees it.
typedef struct LithoDecoding {
    int format;          // SEG-Y sample format code
    GdkTexture *picture; // the first traces; NULL = they cannot be had
    char *label;         // "IBM float, typical amplitude 1.3"
} LithoDecoding;

// The kind of file that a name promises: traces with headers (SEG-Y, SU), an array that says its
// shape (NumPy, RSF), or samples and nothing else.
typedef enum { LITHO_IMPORT_HEADED, LITHO_IMPORT_ARRAY, LITHO_IMPORT_RAW } LithoImportKind;
LithoImportKind litho_import_kind(const char *path);
// Sizes in a name such as "cube_300x100x10.bin" when their product is `samples`: inlines,
// crosslines, samples; the larger of the outer two counts as samples. FALSE = the name says
// nothing.
gboolean litho_import_shape_from_name(const char *path, gint64 samples, gint64 shape[3]);

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
