// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// A stage of an operator beside a library's way to do the work, on one problem in one run: a row of
// `lithoscope-cli bench --peers`. Texts are for people, in their language.
typedef struct LithoRival {
    const char *stage;         // key of the row, static: "forward"
    const char *peer;          // the library, static: "cuFINUFFT"
    char problem[160];         // what was computed, with its size
    char settings[160];        // of the library: the fastest that reach the error
    char note[320];            // what each can do; "" = nothing to say
    char why_not[256];         // one sentence: the library did not run, `theirs` is 0; "" = it ran
    int runs;                  // of each, in turn
    double ours_ms, theirs_ms; // medians on the device, without copies
    double ours_error, theirs_error; // relative L2 against float64, at a sample
} LithoRival;
