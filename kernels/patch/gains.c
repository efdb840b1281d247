// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/patch/gains.h"

gboolean patch_gains_asked(const LithoPatchParams *params)
{
    return params->balance == LITHO_PATCH_BALANCE_AUTO && !(params->sigma > 0);
}

guint64 patch_gains_bytes(const LithoGrid *grid, const LithoPatchParams *params, LithoBox box)
{
    return patch_gains_asked(params) ? litho_gains_bytes(grid, box) : 0;
}

const LithoCube *patch_gains_divide(PatchGains *g, const LithoPatchParams *params,
                                    const LithoCube *in, const PatchGainsDevice *device,
                                    LithoMeasured *measured, LithoRun *run, GError **error)
{
    if (!patch_gains_asked(params)) {
        litho_gains_clear(g);
        return in;
    }
    return litho_gains_divide(g, in, device, (LithoGainsFrom){measured, patch_gains_from_measured},
                              run, error);
}

LithoCleanRule patch_gains_clean_rule(const PatchGains *g, const LithoPatchParams *params)
{
    LithoCleanRule rule = litho_patch_clean_rule(params);
    rule.share = g->of.share;
    rule.share_of = g->of.share ? g->stamp : 0;
    return rule;
}
