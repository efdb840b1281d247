// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/baselines/baselines.h"

const LithoBaseline *const *litho_baselines(void)
{
    static const LithoBaseline *const all[] = {&litho_baseline_fxdecon, &litho_baseline_fourier,
                                               &litho_baseline_rank, NULL};
    return all;
}
