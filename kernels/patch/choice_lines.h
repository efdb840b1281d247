// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/patch/choice.h"

// Window, rule and threshold of single lines, gathers among them, where they are left automatic.
//
// Windows of lines hold few coefficients, and which window, rule and threshold are best depends on
// dips, on how events bend and on the noise. So up to 25 pieces of 64 traces and 96 samples are
// filtered as by default, and by `energy` in windows of 16 to 48 traces, and in the best of these
// with other thresholds. The setting with the least expected error (trial.h) is taken where it is
// clearly less than the default's.

// TRUE where a line chooses: denoising with a measured level, traces and samples enough, no length
// of a window given.
gboolean patch_lines_choose(const LithoGrid *grid, const LithoPatchParams *params);
// The parameters with the longest windows that may be chosen.
LithoPatchParams patch_lines_at_most(const LithoGrid *grid, const LithoPatchParams *params);
// Chooses in what `clean` reads, boxes of whole traces. Nothing is found where a piece tells
// nothing, or no setting is clearly better than the default. FALSE: cancelled, unreadable, no
// memory.
gboolean patch_lines_find(const LithoReader *clean, LithoRun *run, PatchFound *found,
                          GError **error);
