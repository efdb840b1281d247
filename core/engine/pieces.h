// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/walk.h"

// Samples of the pieces that the operators of a walk cut their inputs into, for each sample of an
// input, on average over the steps: an operator on large pieces that overlap, such as segments of
// 64 samples every 32, works on all of each. 1 where no step has such pieces, or it cannot be told.
// Pure; asks input_box() a few thousand times. Any thread.
double litho_pieces_work(const LithoWalk *walk);
