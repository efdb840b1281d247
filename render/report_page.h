// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/quality.h"
#include "render/sheet.h"

// The page that a result is judged by: input, output, removed part, their similarity and the f-k
// spectrum of the output on chosen slices, the figures, and the flow that repeats it.
// Thread-safety: reads the cubes only; draws in any thread.

// All borrowed. Input and output are host cubes on one grid that hold the slices.
typedef struct LithoReportPage {
    const LithoCube *in, *out;
    // Maps of their similarity beside the noise (litho_judge_similarity(), litho_beside_map()), of
    // the slice across each axis: they hold it, or as much of it as was judged. NULL = similarity
    // as it is, made here.
    const LithoCube *beside[3];
    const LithoFlow *flow;
    const LithoQuality *quality;
    gint64 slice[3]; // grid indices; outside what is held = the middle of it
    LithoLook look;  // ends and map of the colours of input, output and removed part
    const char *title;
    const char *caption;     // what was judged, and by which program
    const char *file;        // the input; NULL = it has none
    const LithoGrid *survey; // of the input as a whole
    const char *command;     // the line that repeats the run; NULL = none
} LithoReportPage;

// One row of pictures for a line, three for a survey. NULL: cancelled, no memory.
LithoSheet *litho_report_page_draw(const LithoReportPage *page, LithoRun *run, GError **error);
