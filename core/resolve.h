// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/run.h"

// Data that an operator reads from the files that its parameters name (a velocity model, a layered
// model). It is read once, in a job's thread, by LithoOperator.resolve, and is immutable from then
// on: checks, plans and passes of all backends share it. The process keeps the last ones, so that a
// change of another parameter reads nothing.
//
// Thread-safety: any thread. litho_resolve() reads files and may take long: never in the thread of
// a window. litho_resolve_known() looks into memory only.

typedef struct LithoOperator LithoOperator;
typedef struct LithoResolved LithoResolved;

// --- for operators: filling one ---------------------------------------------------------------

// An empty one, with a reference for the caller.
LithoResolved *litho_resolved_new(void);
// Names a file or a store (core/stamp.h) that is about to be read, before it is opened: when its
// stamp differs at the next use, resolve() is called again. FALSE with a sentence: there is none.
gboolean litho_resolved_add_file(LithoResolved *resolved, const char *path, GError **error);
// Gives it `data` of `bytes` bytes of memory, freed by `destroy` with the last reference. Once.
void litho_resolved_set(LithoResolved *resolved, gpointer data, GDestroyNotify destroy,
                        guint64 bytes);
// The data, read-only; NULL for NULL.
gpointer litho_resolved_data(const LithoResolved *resolved);

// Paths of the files that were named; g_strfreev().
char **litho_resolved_files(const LithoResolved *resolved);

LithoResolved *litho_resolved_ref(LithoResolved *resolved);
void litho_resolved_unref(LithoResolved *resolved); // NULL is fine
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LithoResolved, litho_resolved_unref)

// --- for the engine ---------------------------------------------------------------------------

// TRUE when these parameters name files that resolve() reads.
gboolean litho_resolve_is_needed(const LithoOperator *op, const void *params);
// TRUE when `a` and `b` name the same files (or none).
gboolean litho_resolve_is_same(const LithoOperator *op, const void *a, const void *b);
// The newest answer for these parameters, as a new reference; NULL when nothing was read yet, or
// has been forgotten. Touches no file, so a file that has changed since is not noticed.
LithoResolved *litho_resolve_known(const LithoOperator *op, const void *params);
// Answers as litho_resolve_known() does, but reads files that are not known or have changed; two
// threads that ask for the same files wait for one reading. *resolved is a new reference, NULL when
// the operator needs no file. FALSE: the operator's sentence, or cancelled.
gboolean litho_resolve(const LithoOperator *op, const void *params, LithoRun *run,
                       LithoResolved **resolved, GError **error);
// Bytes that are kept although nobody uses them: 1 GiB unless told. The newest is always kept.
void litho_resolve_keep(guint64 bytes);
