// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/flow.h"
#include "core/io/survey.h"

// A sentence where a step places its source by its parameter source_x while the trace headers of
// `survey` (NULL = no sentence) name sources of their own: it says which of them are used, by the
// first trace of the file. Reads one trace header. NULL = the two do not compete. g_free().
// Any thread.
char *litho_positions_note(const LithoFlow *flow, LithoSurvey *survey);
