// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/patch/alone.h"

#include "core/text.h"
#include "kernels/common/alone.h"

// Windows of guesses are 16 wide and half overlap. Recorded at every 8th inline and crossline
// traces of 10 dB come out with 12 to 15 dB, at every 10th with 1.5; at random those with fewer
// than two others within 8 traces with 1 to 4, with two others with 6 to 14.
// Filled first, traces at every 5th to 8th or 3 % of them at random come out with 2 to 7 dB: what is
// filled between them is faint, and the threshold takes it and them.
enum { REACH = 8, FEWEST = 2, FEWEST_FILLED = 10 };

gboolean patch_alone(const LithoPass *pass, guint8 **alone, LithoRun *run, GError **error)
{
    const LithoPatchParams *params = pass->params;
    const int fewest = params->mode == LITHO_PATCH_BOTH ? FEWEST_FILLED : FEWEST;
    const LithoAround around = {.half = {REACH, REACH}, .fewest = fewest};
    *alone = NULL;
    if (params->mode == LITHO_PATCH_FILL)
        return TRUE;
    if (!litho_alone(pass->in, pass->region, around, alone, error))
        return FALSE;
    if (*alone && run)
        litho_report_remark(run->report,
                            "patch: recorded traces with fewer than %d recorded ones within %d "
                            "traces stay as they are",
                            fewest, REACH);
    return TRUE;
}
