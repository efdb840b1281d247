// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/fx/gains.h"

#include "kernels/fx/fx.h"

gboolean fx_gains_asked(const LithoFxParams *params)
{
    return params->balance == LITHO_FX_BALANCE_AUTO;
}

guint64 fx_gains_bytes(const LithoGrid *grid, const LithoFxParams *params, LithoBox box)
{
    return fx_gains_asked(params) ? litho_gains_bytes(grid, box) : 0;
}

const LithoCube *fx_gains_divide(LithoGains *g, const LithoPass *pass,
                                 const LithoGainsDevice *device, LithoRun *run, GError **error)
{
    // A part of a survey, which no engine gives without the survey's measurement, tells nothing.
    const gboolean told =
        pass->measured || litho_box_equal(pass->in->held, litho_box_full(&pass->in->grid));
    if (!fx_gains_asked(pass->params) || !told) {
        litho_gains_clear(g);
        return pass->in;
    }
    return litho_gains_divide(g, pass->in, device,
                              (LithoGainsFrom){pass->measured, fx_gains_from_measured}, run, error);
}

LithoCleanRule fx_gains_clean_rule(LithoUneven of, guint64 stamp, const LithoFxParams *params)
{
    LithoCleanRule rule = litho_fx_clean_rule(params);
    // Without guesses the input of a region has none of the traces that guesses need.
    const gboolean guesses = rule.above > 0 || rule.missing == LITHO_CLEAN_GUESSED;
    rule.share = guesses ? of.share : NULL;
    rule.share_of = rule.share ? stamp : 0;
    return rule;
}
