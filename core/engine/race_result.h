// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/race.h"

// The result of a finished race: the first two lanes that ran are compared. Pure functions.

// The first two lanes that ran; FALSE when there is only one.
gboolean litho_race_pair(const LithoRace *race, const LithoRaceLane *two[2]);
// Time of the slower lane over the time of the faster one; NAN when one lane ran alone.
double litho_race_ratio(const LithoRace *race);
// The result as a sentence: the faster lane, the error between the results, the size; g_free().
char *litho_race_sentence(const LithoRace *race);
