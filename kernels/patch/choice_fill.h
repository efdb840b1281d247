// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/patch/patch.h"

// Last threshold of filling where `floor` is automatic. One threshold falls for all windows of a
// block, from the largest coefficient of all to `floor` of it, so that windows whose events are
// fainter than that stay empty: in data without gain, which decay by 40 to 60 dB along time, late
// traces came back with 4 to 24 dB instead of 23 to 36. The faintest piece of time of the survey
// tells how far it must fall.

enum { PATCH_FLOOR_STEPS = 15 }; // halvings of LITHO_PATCH_FLOOR, at most

// TRUE where the survey tells `floor`.
gboolean patch_floor_asked(const LithoPatchParams *params);
// Sets the floor where it is automatic, and as many iterations more as the threshold falls further:
// with longer steps three quarters of the traces, missing, come back 2 dB worse.
void patch_floor_take(LithoPatchParams *params, int steps);
// Halvings of LITHO_PATCH_FLOOR that the survey asks for: 0 where eight pieces of its time are
// alike within 21 dB. `clean` reads boxes of whole traces of it, with guesses for missing ones.
// FALSE: cancelled, unreadable.
gboolean patch_floor_find(const LithoReader *clean, LithoRun *run, int *steps, GError **error);
