// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/report.h"
#include "kernels/common/balance.h"

// An operator's input over the gains of its traces (kernels/common/balance.h), kept for the next
// pass. The operator filters it and multiplies its result by them: litho_balance_multiply(). One
// plan, one thread at a time.
typedef struct LithoGains {
    LithoUneven of;          // traces of the survey
    guint64 stamp;           // of these numbers; 0 = none
    LithoCube *cube;         // the input over its gains, on a device or the host; NULL = none
    guint64 serial;          // of the input that `cube` is of; 0 = none
    guint64 of_serial;       // of the input that the numbers were measured on
    LithoMeasured *measured; // that they were taken from; NULL = none. A reference
} LithoGains;

// A device's part of litho_gains_divide().
typedef struct LithoGainsDevice {
    const LithoReader
        *blocks; // boxes of whole traces of the input; NULL = the host has its samples
    // A new cube with the samples of `in` over their gains, of the survey's traces.
    LithoCube *(*divide)(const LithoCube *in, const float *gain, LithoRun *run, gpointer data,
                         GError **error);
    gpointer data;
} LithoGainsDevice;

// Origin of the numbers: those that stand in `measured`, which read() gives; NULL: those of the
// input, which stands for the survey then.
typedef struct LithoGainsFrom {
    LithoMeasured *measured;
    LithoUneven (*read)(const LithoGrid *grid, const LithoMeasured *measured);
} LithoGainsFrom;

// The input, or a cube of it over its gains. `device`: where the input and that cube are; NULL = on
// the host. Borrowed. NULL: cancelled, or no memory. Plans that come to the same input find what
// was measured on it.
const LithoCube *litho_gains_divide(LithoGains *gains, const LithoCube *in,
                                    const LithoGainsDevice *device, LithoGainsFrom from,
                                    LithoRun *run, GError **error);
void litho_gains_clear(LithoGains *gains);
// Reversed traces, the scatter and noisy traces, and remarks with the operator's `key`. NULL report
// is fine.
void litho_gains_report(const LithoGains *gains, const char *key, const LithoGrid *grid,
                        LithoReport *report);

// Bytes of the input's copy over its gains, of a box; 0 in surveys whose gains are not told.
guint64 litho_gains_bytes(const LithoGrid *grid, LithoBox box);
// Numbers of all traces of a survey, read part by part; litho_uneven_clear().
gboolean litho_gains_read(const LithoReader *survey, LithoRun *run, LithoUneven *uneven,
                          GError **error);
// Numbers of the traces as they stand in the last bytes of n: one float each, 1 in place of what is
// none. FALSE with no numbers: they are too few.
gboolean litho_gains_of_bytes(const LithoGrid *grid, gconstpointer bytes, gsize n, gboolean gains,
                              LithoUneven *uneven);
