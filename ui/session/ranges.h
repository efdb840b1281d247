// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "render/scene.h"
#include "render/view.h"
#include "ui/session/numbers.h"

// Ends of the colours and colour maps. Input and results of another shape have ends of their own:
// their amplitudes differ by orders of magnitude. Data of one sign (velocities, energies) have a
// colour map of their own. Ends follow the 99th percentile until somebody sets them. Main thread
// only; no I/O, nothing waits.
typedef struct LithoRanges LithoRanges;

LithoRanges *litho_ranges_new(void);
void litho_ranges_free(LithoRanges *ranges); // NULL is fine

// Beside those of LITHO_NUMBERS_IN and LITHO_NUMBERS_OUT: of the first part of a file that is still
// being read.
enum { LITHO_RANGE_PREVIEW = LITHO_N_NUMBERS, LITHO_N_RANGES };

// lo = hi: not known yet. Borrowed until the next call. `which`: LITHO_NUMBERS_*, LITHO_RANGE_*.
const LithoRange *litho_ranges_get(const LithoRanges *ranges, int which);
// Known before any numbers are, e.g. from the first part of a file; nobody has set it.
void litho_ranges_begin(LithoRanges *ranges, int which,
                        const LithoRange *range);          // NULL = not known
void litho_ranges_release(LithoRanges *ranges, int which); // follows the percentile again
// Somebody sets the ends: they stay. `look` takes them, too.
void litho_ranges_set(LithoRanges *ranges, int which, double lo, double hi, LithoLook *look);
gboolean litho_ranges_is_set(const LithoRanges *ranges, int which); // by somebody
// `look` takes the ends and the map of `which`; `numbers` (NULL = not known) move ends that nobody
// has set. TRUE when `look` changed.
gboolean litho_ranges_follow(LithoRanges *ranges, int which, const LithoCubeNumbers *numbers,
                             LithoLook *look);
// `look` takes these ends and the map of their kind of data.
void litho_ranges_apply(const LithoRanges *ranges, const LithoRange *range, LithoLook *look);
// Percentage of samples within the ends of `look`; < 0 = not known.
double litho_ranges_inside(const LithoCubeNumbers *numbers, const LithoLook *look);
// Colour map of signed or of unsigned data; never NULL, borrowed: maps live as long as the program.
const LithoColormap *litho_ranges_colours(const LithoRanges *ranges, gboolean of_unsigned);
void litho_ranges_set_colours(LithoRanges *ranges, gboolean of_unsigned, const LithoColormap *map);
