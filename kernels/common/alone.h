// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"

// Recorded traces that stand alone: no filter tells what of them neighbours share, and guesses
// around them are made of nothing else, so that little of them would be left.
//
enum { LITHO_ALONE_LEAST = 2 }; // others at corners of the survey

// *alone, one byte a trace of raw->held, is 1 for recorded traces of `region` with fewer than
// `fewest` other recorded ones within `reach` inlines and crosslines; of the survey raw->held has
// these at least. Where the survey ends within `reach` as large a part of `fewest` is enough, but
// LITHO_ALONE_LEAST. NULL: there are none. g_free(). FALSE: no memory.
gboolean litho_alone(const LithoCube *raw, LithoBox region, int reach, int fewest, guint8 **alone,
                     GError **error);
