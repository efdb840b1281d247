// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"
#include "core/run.h"

// Published methods that the operators are measured against (`lithoscope-cli compare --operators`),
// written as plainly as their papers state them: no parameter is tuned to the cubes, no work is
// spent on speed. They are no operators and are not in the window. CPU only.

typedef struct LithoBaseline {
    const char *name;  // "fxdecon"
    const char *title; // "2-D F-X prediction"
    const char *doc;   // method, settings and source, one sentence
    // Each gives `out`, a cube of the input's grid that holds all of it; the input holds all of its
    // grid on the host. NULL = the method does not do that. FALSE: cancelled, no memory. Missing
    // traces count as zero; fill() keeps the samples of recorded traces.
    gboolean (*denoise)(const LithoCube *in, LithoCube *out, LithoRun *run, GError **error);
    gboolean (*fill)(const LithoCube *in, LithoCube *out, LithoRun *run, GError **error);
} LithoBaseline;

const LithoBaseline *const *litho_baselines(void); // NULL-terminated

extern const LithoBaseline litho_baseline_fxdecon, litho_baseline_fourier, litho_baseline_rank;
