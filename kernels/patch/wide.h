// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/measured.h"
#include "kernels/patch/patch.h"

// The window where it is left automatic: LITHO_PATCH_WINDOW, or LITHO_PATCH_WIDE where samples of
// the survey say that its events are plane for as long. A window of 24 holds an event in fewer,
// larger coefficients; one that bends over its traces it holds in more.
//
// Places of 24 x 24 x 24 samples, spread over the survey, are transformed as one wide window and as
// 27 windows of 16. The level of the noise at a frequency follows from the quieter coefficients of
// the place. Of both sizes, what the threshold keeps of the events less the noise that it keeps is
// held against the noise that it keeps: the wide ones are taken where they keep clearly more. The
// gain that this ratio promises is real for all windows over a sample: with it above
// PATCH_WIDE_PAYS no survey of docs/quality.md loses.

// The window that was found for a cube. One plan, one thread at a time.
typedef struct PatchWide {
    guint64 serial; // of the cube; 0 = none
    double erratic; // bursts were sought with
    int window;
} PatchWide;

// The window in use where no cube needs to be asked: the one that is given, that of `measured`
// (NULL = nothing was measured), or the one found for the cube before. 0: it is to be sought.
int patch_wide_known(const PatchWide *wide, const LithoGrid *grid, const LithoPatchParams *params,
                     const LithoMeasured *measured, const LithoCube *in);
// Seeks it in what `clean` reads: the survey without bursts, with guesses for missing traces. 0:
// cancelled, unreadable, no memory.
int patch_wide_find(const LithoReader *clean, LithoRun *run, GError **error);
// The window in use with `params` for a survey that is read part by part, as it is. 0: as above.
int patch_wide_read(const LithoPatchParams *params, const LithoReader *survey, LithoRun *run,
                    GError **error);
// Tells the window of `used` where none was given in `asked`.
void patch_wide_report(const LithoPatchParams *asked, const LithoPatchParams *used,
                       LithoReport *report);
// patch_wide_find() in a cube that holds the survey and may be on a device, where `read` copies
// boxes of whole traces to the host. `in`: the input that `clean` was made from.
gboolean patch_wide_find_in(PatchWide *wide, const LithoPatchParams *params, const LithoCube *in,
                            const LithoReader *clean, LithoRun *run, GError **error);
