// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/twsm/chain.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"

void twsm_chain_clear(TwsmChain *chain)
{
    for (int m = 0; m < chain->n_legs; m++)
        g_free(chain->leg[m].coef);
    g_free(chain->leg);
    *chain = (TwsmChain){0};
}

TwsmAlgorithm twsm_leg_algorithm(const TwsmLeg *leg, TwsmAlgorithm asked)
{
    if (leg->lattice && (asked == TWSM_AUTO || asked == TWSM_FFT || asked == TWSM_FAST))
        return TWSM_FFT;
    if (asked == TWSM_AUTO || asked == TWSM_FFT)
        return TWSM_FUSED;
    // Clusters pay between boundaries only, as receivers are few.
    if (asked == TWSM_FAST && (leg->mask || leg->near || leg->to->n < 4 * TWSM_PAD))
        return TWSM_FUSED;
    // Clusters are squares of a regular mesh, and stand for smooth beams only: raw coefficients
    // have a kink.
    if (asked == TWSM_FAST && (!leg->from->cells[0] || !leg->to->cells[0] || leg->pair.coef == 2))
        return TWSM_FUSED;
    return asked;
}

// --- pairs ------------------------------------------------------------------------------------

// TRUE when no way between these elements needs to be looked at. Most do not: between boundaries a
// wavelength or more apart only steep flanks are in the way.
static gboolean all_seen(const TwsmLeg *leg, int i, int n_i, int j, int n_j)
{
    if (leg->absorb)
        return FALSE;
    const TwsmBox from = twsm_points_box(leg->from, j, n_j), to = twsm_points_box(leg->to, i, n_i);
    return twsm_mask_box_clear(leg->mask, &from, &to, leg->pair.side > 0);
}

static void apply_mask(const TwsmLeg *leg, int i, int j, float *are, float *aim)
{
    const TwsmPoints *s = leg->from, *t = leg->to;
    if (*are == 0 && *aim == 0)
        return;
    float seen = twsm_mask_at(leg->mask, (float[3]){s->x[j], s->y[j], s->z[j]},
                              (float[3]){t->x[i], t->y[i], t->z[i]});
    if (leg->absorb)
        seen = 1 - seen;
    *are *= seen;
    *aim *= seen;
}

// Coefficient and damping of n pairs; cos_i holds the cosines of arrival.
static inline void finish_pairs(const TwsmLeg *leg, int n, const float *t, const float *cos_i,
                                float *are, float *aim)
{
    if (leg->coef) {
        for (int l = 0; l < n; l++) {
            float re, im;
            twsm_coefficient(leg->coef, cos_i[l], &re, &im);
            aim[l] = are[l] * im;
            are[l] *= re;
        }
    } else {
        memset(aim, 0, n * sizeof *aim);
    }
    if (leg->pair.damp != 0)
        for (int l = 0; l < n; l++) {
            float fall = expf(-leg->pair.damp * t[l] / leg->pair.turns);
            are[l] *= fall;
            aim[l] *= fall;
        }
}

enum { CHUNK = 256 };

void twsm_pair_rows(const TwsmLeg *leg, int i, int n, int j, float *restrict t, float *restrict are,
                    float *restrict aim)
{
    const TwsmPoints *s = leg->from, *p = leg->to;
    const TwsmPairScale scale = leg->pair;
    float cos_i[CHUNK];
    const float sx = s->x[j], sy = s->y[j], sz = s->z[j], area = s->area[j];
    const float snx = s->nx[j], sny = s->ny[j], snz = s->nz[j];
    for (int l = 0; l < n; l++)
        twsm_pair(&scale, sx, sy, sz, snx, sny, snz, area, p->x[i + l], p->y[i + l], p->z[i + l],
                  p->nx[i + l], p->ny[i + l], p->nz[i + l], &t[l], &are[l], &cos_i[l]);
    finish_pairs(leg, n, t, cos_i, are, aim);
    if (leg->mask && !all_seen(leg, i, n, j, 1))
        for (int l = 0; l < n; l++)
            apply_mask(leg, i + l, j, &are[l], &aim[l]);
}

void twsm_pair_columns(const TwsmLeg *leg, int i, int j, int n, float *restrict t,
                       float *restrict are, float *restrict aim)
{
    const TwsmPoints *s = leg->from, *p = leg->to;
    const TwsmPairScale scale = leg->pair;
    float cos_i[CHUNK];
    const float tx = p->x[i], ty = p->y[i], tz = p->z[i];
    const float tnx = p->nx[i], tny = p->ny[i], tnz = p->nz[i];
    for (int done = 0; done < n; done += CHUNK) {
        int at = j + done, m = MIN(n - done, CHUNK);
        for (int l = 0; l < m; l++)
            twsm_pair(&scale, s->x[at + l], s->y[at + l], s->z[at + l], s->nx[at + l],
                      s->ny[at + l], s->nz[at + l], s->area[at + l], tx, ty, tz, tnx, tny, tnz,
                      &t[done + l], &are[done + l], &cos_i[l]);
        finish_pairs(leg, m, t + done, cos_i, are + done, aim + done);
        if (leg->mask && !all_seen(leg, i, 1, at, m))
            for (int l = 0; l < m; l++)
                apply_mask(leg, i, at + l, &are[done + l], &aim[done + l]);
    }
}

gboolean twsm_step(const TwsmHow *how, double part, LithoRun *run, GError **error)
{
    return litho_run_step(run, (gint64)(how->done + part * how->leg), (gint64)how->total + 1,
                          error);
}

gboolean twsm_strips_fit(int width, int n, double bytes, double available, GError **error)
{
    if (bytes <= available)
        return TRUE;
    double widest = floor(width * available / bytes);
    if (widest >= 1)
        litho_refuse(
            error, LITHO_ERROR_MEMORY,
            "strips of %d rows x %d elements take %.3g GB and %.3g GB are free: strip_width "
            "must be %.0f or less",
            width, n, 1e-9 * bytes, 1e-9 * available, widest);
    else
        litho_refuse(error, LITHO_ERROR_MEMORY,
                     "a single row of %d elements takes %.3g GB and %.3g GB are free: "
                     "algorithm=fused stores nothing",
                     n, 1e-9 * bytes / width, 1e-9 * available);
    return FALSE;
}

gboolean twsm_stopped(gint stop, GError **error)
{
    return !stop || litho_run_stopped(error);
}
