// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/io/survey.h"

// Slices of a survey that does not fit into memory: read as they are looked at, the neighbours in
// the direction of scrubbing ahead, kept while a budget allows. Reading happens in a thread of its
// own; all functions below are for the main thread and never wait for it, except
// litho_pager_free(), which waits for the read under way to notice its cancel.
typedef struct LithoPager LithoPager;

// References `survey`. `arrived` is called in the main thread after slices came or a read failed.
LithoPager *litho_pager_new(LithoSurvey *survey, guint64 budget, void (*arrived)(gpointer data),
                            gpointer data);
void litho_pager_free(LithoPager *pager); // NULL is fine
// These slices are on screen, the most important axis first. Newest wins.
void litho_pager_want(LithoPager *pager, const gint64 slice[3], const int *axes, guint n);
// Slices that are there, of LithoCube; borrowed until the next arrival or want. `stamp` grows with
// every change, and `dropped` with every slice given up.
const GPtrArray *litho_pager_parts(LithoPager *pager, guint64 *stamp, guint64 *dropped);
// The part that holds this sample's trace or slice; NULL = not read yet. Borrowed.
LithoCube *litho_pager_find(LithoPager *pager, const gint64 at[3]);
gboolean litho_pager_is_busy(LithoPager *pager);
guint64 litho_pager_bytes(LithoPager *pager);       // kept now
const char *litho_pager_problem(LithoPager *pager); // of the newest failed read; NULL = none
