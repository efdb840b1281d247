// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/race.h"

// The result of a finished race: the first two lanes that ran are compared. Pure functions.

// Time of the slower lane over the time of the faster one; NAN when one lane ran alone.
double litho_race_ratio(const LithoRace *race);
// The result as a sentence: the faster lane, the error between the results, the size; g_free().
char *litho_race_sentence(const LithoRace *race);
