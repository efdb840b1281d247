// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/twsm/cuda/twsm.h"

// Sends what enters `task->chain` through it on `n` cards at once and takes the field of the
// receivers from the first, [rhs][receiver][band.n]. `task` has no leg yet; its `how` gets what
// came of it. The calling thread drives the first card and tells progress; it is the current one
// then.
gboolean twsm_team_run(TwsmCard *card, int n, TwsmTask *task, TwsmStart start, TwsmValue *receivers,
                       GError **error);
