// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/common/weigh.h"

#include <math.h>

static LithoWeights weigh_inline(const LithoPass *pass, gint64 il)
{
    LithoWeights all = {0};
    for (gint64 xl = pass->region.lo[1]; xl < pass->region.hi[1]; xl++) {
        const float *in = litho_cube_trace(pass->in, il, xl) - pass->in->held.lo[2];
        const float *out = litho_cube_trace(pass->out, il, xl) - pass->out->held.lo[2];
        LithoWeights trace = {0};
        for (gint64 t = pass->region.lo[2]; t < pass->region.hi[2]; t++) {
            const double gone = (double)in[t] - out[t];
            trace.input += (double)in[t] * in[t];
            trace.removed += gone * gone;
            trace.product += gone * out[t];
        }
        if (!litho_cube_is_live(pass->in, il, xl) ||
            !isfinite(trace.input + trace.removed + trace.product))
            continue;
        all.input += trace.input;
        all.removed += trace.removed;
        all.product += trace.product;
    }
    return all;
}

gboolean litho_weigh(const LithoPass *pass, const LithoRun *run, LithoWeights *weights,
                     GError **error)
{
    const gint64 rows = litho_box_size(pass->region, 0);
    g_autofree LithoWeights *row = g_new0(LithoWeights, rows);
#pragma omp parallel for schedule(dynamic) num_threads(litho_run_threads(run))
    for (gint64 k = 0; k < rows; k++)
        if (litho_run_checkpoint(run))
            row[k] = weigh_inline(pass, pass->region.lo[0] + k);
    *weights = (LithoWeights){0};
    for (gint64 k = 0; k < rows; k++) {
        weights->input += row[k].input;
        weights->removed += row[k].removed;
        weights->product += row[k].product;
    }
    return litho_run_checkpoint(run) || litho_run_stopped(error);
}
