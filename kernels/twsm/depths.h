// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/report.h"
#include "kernels/twsm/model.h"

// The parameter `depths`: numbers in the place of a model's, one entry for each boundary from the
// first on, with commas or blanks between. An entry is
//     D     depth in m: of a flat boundary, of a dipping one at x = y = 0, of a bulge far from its
//           centre, of grids, horizons and sheets in the middle of the extent, to which the whole
//           boundary follows
//     D:A   the amplitude of a bulge too, in m, positive = deeper at the centre
//     -     as the model has it
// Pure functions; any thread.

// Puts the entries of `text` into the model. The error names the entry.
gboolean twsm_depths_apply(TwsmModel *model, const char *text, GError **error);
// The number that an entry for the boundary holds at present.
double twsm_depths_number(const TwsmModel *model, const TwsmBoundary *boundary);
// The parameter's text around one number, all boundaries as they are. FALSE: it is too long.
gboolean twsm_depths_around(const TwsmModel *model, int boundary, gboolean amplitude,
                            LithoGrip *grip);
