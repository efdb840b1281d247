// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/grid.h"

// Names that Madagascar's files give the axes of traces, label2 and label3. Any thread; the texts
// are static and English.

typedef enum {
    LITHO_LABEL_NONE,   // no label, or a place along a line ("X", "Distance"): lines by their place
    LITHO_LABEL_INLINE, // "Inline", "iline"
    LITHO_LABEL_XLINE,  // "Crossline", "xline"
    LITHO_LABEL_COUNTS, // something that LithoAxisCounts has a word for
    LITHO_LABEL_UNKNOWN, // anything else
} LithoRsfLabel;

// The kind of `label` (NULL = there is none); *counts is set for LITHO_LABEL_COUNTS. Upper and
// lower case are the same, and words behind the first one ("Shot number") change nothing.
LithoRsfLabel litho_rsf_label_read(const char *label, LithoAxisCounts *counts);
// The label that says what `axis` (LITHO_INLINE or LITHO_XLINE) counts.
const char *litho_rsf_label(const LithoGrid *grid, int axis);
