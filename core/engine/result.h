// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/backend.h"
#include "core/cube.h"
#include "core/report.h"

// A result is made by a pass of the worker (core/engine/worker.h): parts of an output, or why there
// are none. Reference-counted; its maker writes it until it is published, and any thread may read
// it from then on.

typedef struct LithoResult {
    guint64 tag;        // of the wish that asked
    guint64 generation; // grows by one with every published result
    GPtrArray *parts;   // of LithoCube: boxes of the output, later ones on top; never NULL
    gboolean complete;  // the only part is the whole output
    gboolean all_views; // every view of the wish is among the parts
    GError *error;      // why there are no parts, or NULL; a result with an error replaces nothing
    gboolean refused;   // the error is one of the flow itself: a check or a file that a step names
    gboolean resolved;  // no parts, no error: the files of the flow have been read, and its grid
                        // can be asked for
    double seconds;     // wish accepted -> result
    // litho_now_ms(), for latency: the wish was handed over, the worker took it, the result was
    // published, its taker took it (0 until then; the taker's to set).
    double wish_ms, begun_ms, ready_ms, taken_ms;
    LithoDevice device;  // that computed it
    LithoReport *report; // may be NULL
    gint refs;
} LithoResult;

// The whole output `whole` of a flow, computed elsewhere; references it and `report` (may be NULL).
LithoResult *litho_result_of(LithoCube *whole, LithoReport *report, LithoDevice device);
LithoResult *litho_result_ref(LithoResult *result);
void litho_result_unref(LithoResult *result); // NULL is fine
// Without parts yet.
LithoResult *litho_result_new(LithoDevice device);
// `result` follows `old`, which nobody has seen. Where both are incomplete it takes the parts of
// the other that it has none of: a depth or a slice that was not drawn yet must not get lost, nor
// behind another slice of newer parameters.
void litho_result_follow(LithoResult *result, const LithoResult *old);
