// SPDX-License-Identifier: GPL-3.0-or-later
//
// One leg on the CPU: the sum by the algorithm that was asked for, and the factor in front of it.
#include "kernels/twsm/chain.h"

#include "core/memory.h"

// y = taper (i (k + i sig/dw) S - N), or u minus that where the leg absorbs.
static void finish_leg(const TwsmLeg *leg, const TwsmChain *chain, TwsmBand band,
                       const TwsmValue *u, const TwsmValue *near, TwsmValue *y, int threads)
{
    gint64 rows = (gint64)chain->n_rhs * leg->to->n;
#pragma omp parallel for num_threads(threads)
    for (gint64 r = 0; r < rows; r++) {
        float taper = leg->to->taper[r % leg->to->n];
        for (int k = 0; k < band.n; k++) {
            gint64 at = r * band.n + k;
            TwsmValue factor = I * (float)(band.k0 + k) - (float)chain->sig;
            TwsmValue v = factor * y[at] - (near ? near[at] : 0);
            y[at] = leg->absorb ? u[at] - v : taper * v;
        }
    }
}

gboolean twsm_cpu_leg(const TwsmLeg *leg, const TwsmChain *chain, TwsmBand band, TwsmHow *how,
                      const TwsmValue *u, TwsmValue *y, LithoRun *run, GError **error)
{
    gint64 values = (gint64)chain->n_rhs * leg->to->n * band.n;
    g_autofree TwsmValue *near =
        leg->near ? litho_memory_new(values, sizeof *near, "the near field", error) : NULL;
    int rhs = chain->n_rhs;
    gboolean ok;
    if (leg->near && !near)
        return FALSE;
    switch (twsm_leg_algorithm(leg, how->algorithm)) {
    case TWSM_FFT:
        ok = twsm_cpu_lattice(leg, rhs, band, how, u, y, near, run, error);
        break;
    case TWSM_ALG1:
    case TWSM_ALG2:
    case TWSM_MOD2:
        ok = LITHO_ISA_PICK(twsm_cpu_strips)(leg, rhs, band, how, u, y, near, run, error);
        break;
    case TWSM_FAST:
        ok = LITHO_ISA_PICK(twsm_cpu_fast)(leg, rhs, band, how, u, y, near, run, error);
        break;
    default:
        ok = LITHO_ISA_PICK(twsm_cpu_fused)(leg, rhs, band, how, u, y, near, run, error);
    }
    if (ok)
        finish_leg(leg, chain, band, u, near, y, litho_run_threads(run));
    return ok;
}
