// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"

// Recorded traces that stand alone: no filter tells what of them neighbours share, and guesses
// around them are made of nothing else, so that little of them would be left.

enum { LITHO_ALONE_LEAST = 2 }; // others at corners of the survey

// Traces around one that count: `half` of them on either side along both axes.
typedef struct LithoAround {
    int half[2];
    // Traces of the survey along both axes: the rectangle is moved inside it. 0: it is cut, and as
    // large a part of `fewest` is enough, but LITHO_ALONE_LEAST.
    gint64 inside[2];
    int fewest;
} LithoAround;

// *alone, one byte a trace of raw->held, is 1 for recorded traces of `region` with fewer than
// `fewest` other recorded ones around; of the survey raw->held has these at least. NULL: there are
// none. g_free(). FALSE: no memory. Any thread.
gboolean litho_alone(const LithoCube *raw, LithoBox region, LithoAround around, guint8 **alone,
                     GError **error);
