// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "app/cli_judge.h"
#include "core/flow.h"

// Notes of `run`, on standard error, on what a command line says and does not mean. `words`: of the
// flow, as they were typed.

// A model or file that nobody named, on which the result depends, and settings that were typed and
// that the others leave without effect. `in`: the input's files, or NULL; a velocity beside them is
// named.
void litho_cli_hint_settings(const LithoFlow *flow, char **words, char **in);
// The upper end of a band that was written down and lies beyond what the samples of its step hold.
// `grid`: of the survey, or NULL.
void litho_cli_hint_bands(const LithoFlow *flow, char **words, const LithoGrid *grid);
// Options that only judge, for a run in which nothing is judged.
void litho_cli_hint_idle(const LithoCliJudge *judge, const LithoFlow *flow);
