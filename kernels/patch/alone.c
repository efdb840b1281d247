// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/patch/alone.h"

#include <math.h>

#include "core/text.h"
#include "kernels/common/alone.h"
#include "kernels/patch/gains.h"

// Windows of guesses are 16 wide and half overlap. Recorded at every 8th inline and crossline
// traces of 10 dB come out with 12 to 15 dB, at every 10th with 1.5; at random those with fewer
// than two others within 8 traces with 1 to 4, with two others with 6 to 14.
// Filled first, traces at every 5th to 8th or 3 % of them at random come out with 2 to 7 dB: what is
// filled between them is faint, and the threshold takes it and them.
enum { REACH = 8, FEWEST = 2, FEWEST_FILLED = 10 };

// Traces that filling leaves: of a cube on a device those that were recorded, on the host but for
// those with a sample that is not finite, which are filled.
static guint8 *as_recorded(const LithoCube *in)
{
    const gint64 nt = litho_box_size(in->held, 2);
    const gint64 traces = litho_box_size(in->held, 0) * litho_box_size(in->held, 1);
    guint8 *recorded = g_memdup2(in->live, traces);
    for (gint64 k = 0; in->samples && k < traces; k++)
        for (gint64 t = 0; recorded[k] && t < nt; t++)
            recorded[k] = isfinite(in->samples[k * nt + t]) != 0;
    return recorded;
}

gboolean patch_alone(const LithoPass *pass, guint8 **alone, LithoRun *run, GError **error)
{
    const LithoPatchParams *params = pass->params;
    const int fewest = params->mode == LITHO_PATCH_BOTH ? FEWEST_FILLED : FEWEST;
    const LithoAround around = {.half = {REACH, REACH}, .fewest = fewest};
    *alone = NULL;
    if (params->mode == LITHO_PATCH_FILL) {
        *alone = patch_gains_asked(params) ? as_recorded(pass->in) : NULL;
        return TRUE;
    }
    if (!litho_alone(pass->in, pass->region, around, alone, error))
        return FALSE;
    if (*alone && run)
        litho_report_remark(run->report,
                            "patch: recorded traces with fewer than %d recorded ones within %d "
                            "traces stay as they are",
                            fewest, REACH);
    return TRUE;
}
