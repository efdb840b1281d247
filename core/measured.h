// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/run.h"

// Numbers that an operator needs of its whole input before it can work on parts of it (the level of
// the noise by frequency, place and time). LithoOperator.measure makes them in one pass over the
// survey, part by part; from then on a region of the output needs its surroundings only, and
// samples do not depend on how the survey was cut. They stand in the recipe's step ("measured").
//
// Immutable bytes in a layout of the operator's own, counted references. Any thread.

typedef struct LithoMeasured LithoMeasured;

// `key`: the parameters that they were measured with (LithoOperator.measure_key). `text`: what they
// are, for people: "noise level 0.012". Copies everything.
LithoMeasured *litho_measured_new(const char *key, const char *text, gconstpointer bytes, gsize n);
// litho_measured_new() with numbers of the steady noise that was taken off the input before
// (core/qc_steady.h); NULL and 0 = there was none.
LithoMeasured *litho_measured_new_steady(const char *key, const char *text, gconstpointer bytes,
                                         gsize n, gconstpointer steady, gsize n_steady);
// The numbers of `measured` by another key, with those of the steady noise that was taken off the
// input before (core/qc_steady.h) and words for these; NULL and 0 = there was none.
LithoMeasured *litho_measured_with_steady(const LithoMeasured *measured, const char *key,
                                          const char *text, gconstpointer steady, gsize n);
LithoMeasured *litho_measured_ref(LithoMeasured *measured);
void litho_measured_unref(LithoMeasured *measured); // NULL is fine
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LithoMeasured, litho_measured_unref)

const char *litho_measured_key(const LithoMeasured *measured);
const char *litho_measured_text(const LithoMeasured *measured);
gconstpointer litho_measured_bytes(const LithoMeasured *measured, gsize *n);

// NULL and 0: there was no steady noise, or nobody looked for it.
gconstpointer litho_measured_steady(const LithoMeasured *measured, gsize *n);

// { "key", "text", "bytes", "steady" (both base64, the latter where there was some) }, and back;
// NULL with a sentence when it is no such object.
JsonNode *litho_measured_to_json(const LithoMeasured *measured);
LithoMeasured *litho_measured_from_json(JsonNode *node, GError **error);

// The input of a step, read part by part. Used by one thread.
typedef struct LithoReader {
    const LithoGrid *grid;
    guint64 bytes; // a part should not be larger; 0 = any size
    // A new cube with host samples of at least `box`. NULL: cancelled, unreadable, no memory.
    LithoCube *(*read)(const LithoBox *box, LithoRun *run, gpointer data, GError **error);
    gpointer data;
} LithoReader;
