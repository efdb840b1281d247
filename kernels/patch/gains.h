// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/common/balance.h"
#include "kernels/patch/patch.h"

// Gains and noise of single traces (kernels/common/balance.h) of the local Fourier filter, for both
// backends: bursts are sought, the noise is measured and windows are filtered on traces over their
// gains, or with a share of what noisy traces have beside the guess of their neighbours.
typedef struct PatchGains {
    LithoUneven of;          // traces of the survey
    guint64 stamp;           // of these numbers; 0 = none
    LithoCube *cube;         // the input over its gains, on a device or the host; NULL = none
    guint64 serial;          // of the input that `cube` is of; 0 = none
    guint64 of_serial;       // of the input that the numbers were measured on
    LithoMeasured *measured; // that they were taken from; NULL = none. A reference
} PatchGains;

// TRUE where gains are asked for: noise is removed, its level is measured.
gboolean patch_gains_asked(const LithoPatchParams *params);
// Bytes of the input's copy over its gains, of a box; 0 where none can come.
guint64 patch_gains_bytes(const LithoGrid *grid, const LithoPatchParams *params, LithoBox box);
// A device's part of patch_gains_divide().
typedef struct PatchGainsDevice {
    const LithoReader
        *blocks; // boxes of whole traces of the input; NULL = the host has its samples
    // A new cube with the samples of `in` over their gains, of the survey's traces.
    LithoCube *(*divide)(const LithoCube *in, const float *gain, LithoRun *run, gpointer data,
                         GError **error);
    gpointer data;
} PatchGainsDevice;

// The input, or a cube of it over its gains, which are taken from `measured` or measured on `in`.
// `device`: where the input and that cube are; NULL = on the host. Borrowed. NULL: cancelled, or
// no memory.
const LithoCube *patch_gains_divide(PatchGains *gains, const LithoPatchParams *params,
                                    const LithoCube *in, const PatchGainsDevice *device,
                                    LithoMeasured *measured, LithoRun *run, GError **error);
void patch_gains_clear(PatchGains *gains);
void patch_gains_report(const PatchGains *gains, const LithoGrid *grid, LithoReport *report);
// The rule by which the input is cleaned, with the traces that are noisier than others.
LithoCleanRule patch_gains_clean_rule(const PatchGains *gains, const LithoPatchParams *params);
// levels_recipe.c: numbers that stand in `measured`.
LithoUneven patch_gains_from_measured(const LithoGrid *grid, const LithoMeasured *measured);
