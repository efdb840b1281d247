// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"
#include "core/param.h"
#include "core/run.h"

// Generated cubes with known truth. Same parameters and seed, same samples, on any machine and
// number of threads.

typedef struct LithoSynth {
    const char *key, *title, *summary;
    LithoParamTable params;
    // Makes `*noisy` and, where they make sense, `*truth` (clean) and `*velocity` (m/s on the same
    // grid); pointers may be NULL when not wanted.
    gboolean (*make)(const void *params, LithoRun *run, LithoCube **noisy, LithoCube **truth,
                     LithoCube **velocity, GError **error);
} LithoSynth;

const LithoSynth *const *litho_synths(void); // NULL-terminated
const LithoSynth *litho_synth_find(const char *key);
// The cube `./run.sh` opens: faulted, folded, noisy, 5 % of its traces missing.
LithoCube *litho_synth_demo(LithoRun *run, LithoCube **truth, GError **error);
