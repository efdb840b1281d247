// SPDX-License-Identifier: GPL-3.0-or-later
//
// Traces over their gains on a device.
#include "kernels/cuda/gains.h"

#include "kernels/patch/cuda/plan.h"

LithoCube *patch_fetch_box(const LithoBox *box, LithoRun *run, gpointer data, GError **error)
{
    const PatchFetch *fetch = data;
    return litho_cuda_fetch_box(fetch->p->context, fetch->cube, *box, run, error);
}

const LithoCube *patch_over_gains(PatchPlan *p, const LithoPass *pass, LithoRun *run,
                                  GError **error)
{
    LithoCudaGains here;
    litho_cuda_gains_set(&here, p->context, &p->gain, pass->in);
    return patch_gains_divide(&p->gains, pass->params, pass->in, &here.device, pass->measured, run,
                              error);
}

static LithoBox box_of(LithoPatchBox box)
{
    LithoBox to;
    for (int a = 0; a < 3; a++) {
        to.lo[a] = box.lo[a];
        to.hi[a] = box.lo[a] + box.n[a];
    }
    return to;
}

gboolean patch_times_gains(PatchSweep *s, GError **error)
{
    PatchPlan *p = s->p;
    return litho_cuda_times_gains(p->context, &p->gain, &p->grid, p->gains.of.gain, s->task.out,
                                  box_of(s->task.out_held), box_of(s->task.region), error);
}
