// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/import/import_preview.h"
#include "ui/import/import_window.h"
#include "ui/session/job.h"
#include "ui/window/window_private.h"

// The import view's own files: import_window.c shows what the file says, import_form.c what the
// user says about it. UI thread only.

typedef struct LithoImport {
    gint refs;           // of the dialog and of the job
    LithoWindow *window; // owned
    GtkWidget *dialog;   // NULL once closed
    char **paths;
    LithoOpenOptions options;
    LithoJob *job;
    guint settle;
    LithoImportKind kind;
    gboolean loading; // values are being put into the widgets
    char *text;       // text header of the file as last read

    GtkWidget *lines, *bytes[4], *scalar, *spacing[2], *interval, *domain, *format, *order;
    GtkWidget *shape[3], *type;
    GtkWidget *evidence; // what the headers say, with its heading
    GtkWidget *candidates, *summary, *notes, *problem, *map, *open, *busy;
    GtkWidget *picture[2], *picture_label[2], *use[2], *picture_box[2];
    GtkWidget *profile, *profile_menu, *profile_list, *save, *remove;
    int decoded[2]; // formats of the pictures
} LithoImport;

// One sentence about what does not work; NULL takes it away.
void litho_import_say(LithoImport *self, const char *problem);
// The options are others now: the file is read anew soon.
void litho_import_changed(LithoImport *self);

GtkWidget *litho_import_make_form(LithoImport *self);
GtkWidget *litho_import_make_profiles(LithoImport *self);
// Puts the options into the form without reading anything.
void litho_import_load_values(LithoImport *self);
