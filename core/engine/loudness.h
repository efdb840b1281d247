// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/flow.h"
#include "core/io/survey.h"
#include "core/peers.h"

// Surveys so loud or so faint that an operator's arithmetic leaves the range of a float
// (LithoOperator.faintest, loudest): they are refused, and 'convert --scale' is named.

// FALSE (LITHO_ERROR_PARAMETER): one of the steps is not right with this input. `loudest`: of all
// of the input, 0 = not all is known; `loudness`: of what is read (cube.h). A loud trace among
// others is left to the operators' `erratic`; a faint part of a survey is right beside louder ones.
// Any thread.
gboolean litho_loudness_check(const LithoFlow *flow, float loudest, float loudness, GError **error);
// litho_loudness_check() of a cube that a flow is about to run on. A cube that was made in memory
// is looked through once. Any thread.
gboolean litho_loudness_check_cube(const LithoFlow *flow, const LithoCube *cube, GError **error);
// FALSE (LITHO_ERROR_FORMAT): nothing but zeros was read, `loudest` 0, since the traces were masked
// or count as missing for NaN, infinite or null samples: the file is read in a wrong format, or
// holds nothing.
// Any thread.
gboolean litho_loudness_check_masked(const LithoSurvey *survey, float loudest, GError **error);
// litho_loudness_check() and litho_loudness_check_masked() behind a run in slabs. `loudest`: of
// what this process has read. `peers`: others that have read the rest, all of which call this, or
// NULL; the first one judges. What was kept of an earlier run, `kept` inlines, is read again,
// `at_once` at a time, where that decides. *refused: FALSE is for the survey.
gboolean litho_loudness_check_slabs(const LithoFlow *flow, LithoSurvey *survey, float loudest,
                                    LithoPeers *peers, gint64 kept, gint64 at_once, LithoRun *run,
                                    gboolean *refused, GError **error);
