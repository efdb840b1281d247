// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"

// A chain of operators with their parameters: what is tuned, saved as a recipe and run headless.
// A flow is a value owned by one thread; hand a copy to another.

typedef struct LithoStep {
    const LithoOperator *op;
    gboolean enabled;
    gpointer params; // op->params.size bytes, owned
    LithoMeasured *measured; // numbers of the whole input that were measured before; owned, NULL =
                             // none. litho_step_measured() tells whether they still hold
} LithoStep;

typedef struct LithoFlow {
    GArray *steps;    // of LithoStep
    char *volume;     // the flow gives this volume of the last enabled step that has it, instead of
                      // the result; owned, NULL = the result. litho_flow_set_volume()
    const char *note; // a sentence about the recipe that it was read from, for the reader: a key
                      // that is no parameter any more, no step that works. Static; NULL = none.
                      // Copies have none
} LithoFlow;

// Numbers measured for the step, borrowed, while its parameters are the measured ones; else NULL.
// `needed` (may be NULL): whether the step needs to be measured at all.
LithoMeasured *litho_step_measured(const LithoStep *step, gboolean *needed);

// A flow without steps. Flows are plain data: one thread at a time, or copies.
LithoFlow *litho_flow_new(void);
LithoFlow *litho_flow_copy(const LithoFlow *flow);
void litho_flow_free(LithoFlow *flow); // NULL is fine
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LithoFlow, litho_flow_free)
// TRUE when steps, parameters, switches and the volume asked for are the same.
gboolean litho_flow_equal(const LithoFlow *a, const LithoFlow *b);

guint litho_flow_length(const LithoFlow *flow);
LithoStep *litho_flow_step(const LithoFlow *flow, guint index); // borrowed, until the next change
gboolean litho_flow_has_work(const LithoFlow *flow);            // a step is switched on
// The last enabled step that makes its samples from nothing, as modelling does; NULL: none does.
const LithoStep *litho_flow_source(const LithoFlow *flow);
// TRUE when the first enabled step reads an input, or no step is enabled.
gboolean litho_flow_needs_input(const LithoFlow *flow);
// Appends with default parameters; returns the index.
guint litho_flow_append(LithoFlow *flow, const LithoOperator *op);
void litho_flow_remove(LithoFlow *flow, guint index);
void litho_flow_move(LithoFlow *flow, guint from, guint to);

// Asks for a volume by name; NULL = the result. FALSE (LITHO_ERROR_PARAMETER, with the names there
// are): no enabled step has it.
gboolean litho_flow_set_volume(LithoFlow *flow, const char *name, GError **error);
// The enabled step that `flow->volume` is of, -1 = there is none (any more).
int litho_flow_volume_step(const LithoFlow *flow);
// Names of all volumes of enabled steps, NULL-terminated; g_free() of the array only.
const char **litho_flow_volumes(const LithoFlow *flow);

// TRUE when every enabled step can compute a part of its output from a part of its input.
gboolean litho_flow_is_local(const LithoFlow *flow);
// TRUE when several processes can share an enabled step.
gboolean litho_flow_is_shared(const LithoFlow *flow);
// TRUE when an enabled step writes missing traces.
gboolean litho_flow_fills(const LithoFlow *flow);
// TRUE when every enabled step fills missing traces and leaves the others as they are, and there is
// one.
gboolean litho_flow_fills_alone(const LithoFlow *flow);
// TRUE when both have the same operators, and these name the same files.
gboolean litho_flow_same_files(const LithoFlow *a, const LithoFlow *b);

// Recipes: { "lithoscope": 1, "flow": [ { "operator", "enabled", "params", "measured" } ],
// "volume" }, the last two only where there is one. Text in and out is
// byte-stable: parse(print(flow)) prints the same bytes. Unknown keys, operators and values out of
// range are errors that name them.
char *litho_flow_print(const LithoFlow *flow); // g_free()
LithoFlow *litho_flow_parse(const char *text, GError **error);
JsonNode *litho_flow_to_json(const LithoFlow *flow); // the same as a tree; json_node_unref()
LithoFlow *litho_flow_from_json(JsonNode *root, GError **error);
LithoFlow *litho_flow_load(const char *path, GError **error);
gboolean litho_flow_save(const LithoFlow *flow, const char *path, GError **error); // via rename
// "lithoscope-cli run fx half_width=2 -i IN -o OUT": the command that repeats the flow (only
// parameters that differ from the defaults); names a recipe file when there are several steps.
// `out` NULL = without a place for the result.
char *litho_flow_command(const LithoFlow *flow, const char *in, const char *out);
