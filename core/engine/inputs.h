// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/flow.h"

// Files that a job reads or a window shows, held as inputs while they are wanted: an output of any
// kind refuses their names (core/io/output.h). One thread at a time.
typedef struct LithoInputs LithoInputs;

LithoInputs *litho_inputs_new(void);
// A name without a regular file behind it is passed over.
void litho_inputs_add(LithoInputs *inputs, const char *path);
// Every file that the steps read, switched off or not: those that parameters name, and what these
// lead to (the grids of a layered model) as far as they have been read.
void litho_inputs_add_flow(LithoInputs *inputs, const LithoFlow *flow);
// Lets them go. NULL is fine.
void litho_inputs_free(LithoInputs *inputs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LithoInputs, litho_inputs_free)
