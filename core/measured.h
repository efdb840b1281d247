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
LithoMeasured *litho_measured_ref(LithoMeasured *measured);
void litho_measured_unref(LithoMeasured *measured); // NULL is fine
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LithoMeasured, litho_measured_unref)

const char *litho_measured_key(const LithoMeasured *measured);
const char *litho_measured_text(const LithoMeasured *measured);
gconstpointer litho_measured_bytes(const LithoMeasured *measured, gsize *n);

// { "key", "text", "bytes" (base64) }, and back; NULL with a sentence when it is no such object.
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
