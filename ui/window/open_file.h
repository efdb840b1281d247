// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <json-glib/json-glib.h>
#include "core/io/open_options.h"

// The open survey: its files, how they were read, the name of its session, and pieces of that which
// wait. Also the files that could not be opened. Main thread only.
typedef struct LithoOpenFile LithoOpenFile;

LithoOpenFile *litho_open_file_new(void);       // nothing is open
void litho_open_file_free(LithoOpenFile *file); // NULL is fine

// `paths` (absolute; NULL = the demo) are open from here on, read with `options`. Copies both.
void litho_open_file_adopt(LithoOpenFile *file, const char *const *paths,
                           const LithoOpenOptions *options);
// Another one takes its place: it has no session any more, its files are still named.
void litho_open_file_leave(LithoOpenFile *file);
void litho_open_file_close(LithoOpenFile *file); // nothing is open

// NULL = the demo, or nothing. Borrowed until another one is open.
char **litho_open_file_paths(const LithoOpenFile *file);
const char *litho_open_file_path(const LithoOpenFile *file); // the first; NULL = none
const LithoOpenOptions *litho_open_file_options(const LithoOpenFile *file);
const char *
litho_open_file_key(const LithoOpenFile *file); // of its session; NULL = nothing is open
// File of the truth that lay beside the open one when it was opened; NULL = none. Copies `path`;
// borrowed until another file is open.
void litho_open_file_set_truth(LithoOpenFile *file, const char *path);
const char *litho_open_file_truth(const LithoOpenFile *file);
void litho_open_file_set_velocity(LithoOpenFile *file, const char *path); // likewise its velocity
const char *litho_open_file_velocity(const LithoOpenFile *file);
gboolean litho_open_file_is_demo(const LithoOpenFile *file);

// Files that could not be opened last; NULL = none. Takes `paths` over; borrowed.
void litho_open_file_set_failed(LithoOpenFile *file, char **paths);
char **litho_open_file_failed(const LithoOpenFile *file);
// Import profile that fits the open file; NULL = none. Copies `name`; borrowed.
void litho_open_file_set_profile(LithoOpenFile *file, const char *name);
const char *litho_open_file_profile(const LithoOpenFile *file);

// Slices, zoom and camera, as a session keeps them: those that wait for a result of their shape,
// and those of what is open while the first line of another file is shown. LOOK_WAITING: a look
// whose colours of the result wait for that.
typedef enum {
    LITHO_VIEWS_WAITING,
    LITHO_VIEWS_BEFORE,
    LITHO_LOOK_WAITING,
    LITHO_N_VIEWS_KEPT
} LithoViewsKept;
void litho_open_file_keep_views(LithoOpenFile *file, LithoViewsKept which,
                                JsonObject *views); // referenced; NULL = none
JsonObject *litho_open_file_views(const LithoOpenFile *file, LithoViewsKept which); // borrowed
