// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/quality_hidden.h"

#include <math.h>
#include <string.h>

#include "core/engine/probe.h"
#include "core/text.h"

LithoFlow *litho_quality_filling_flow(const LithoFlow *flow)
{
    LithoFlow *copy = litho_flow_copy(flow);
    for (guint k = 0; k < litho_flow_length(copy); k++) {
        LithoStep *step = litho_flow_step(copy, k);
        const char *alone = step->op->fills_alone;
        if (!step->enabled || !step->op->fills ||
            (alone && litho_params_hold(&step->op->params, alone, step->params)))
            continue;
        g_auto(GStrv) words = g_strsplit(step->op->fills, " ", -1);
        for (char **word = words; *word; word++)
            litho_operator_set(step->op, step->params, *word, NULL);
    }
    return copy;
}

LithoCube *litho_quality_hide(const LithoQualityAsk *ask, const LithoFlow *flow,
                              const LithoQualityCase *c, guint fold, GError **error)
{
    LithoBox need;
    if (!litho_walk_input_box(flow, &c->in->grid, c->area, NULL, &need, error))
        return NULL;
    need = litho_box_intersect(litho_box_union(need, c->area), c->in->held);
    LithoCube *cube = litho_cube_copy_box(c->in, need, error);
    for (gint64 i = need.lo[0]; cube && i < need.hi[0]; i++)
        for (gint64 j = need.lo[1]; j < need.hi[1]; j++) {
            if (!litho_probe_hides(i + c->shift[0], j + c->shift[1], ask->hide, fold, ask->seed))
                continue;
            cube->live[litho_cube_trace_index(cube, i, j)] = 0;
            memset(litho_cube_trace(cube, i, j), 0, litho_box_size(need, 2) * sizeof(float));
        }
    return cube;
}

static void add_trace(const float *y, const float *p, const float *guess, gint64 from, gint64 to,
                      LithoQualityHidden *h)
{
    double misfit = 0, energy = 0;
    for (gint64 t = from; t < to; t++) {
        const double e = (double)y[t] - p[t];
        if (!isfinite(e) || guess[t] != y[t])
            continue;
        h->n++;
        energy += (double)y[t] * y[t];
        h->pp += (double)p[t] * p[t];
        misfit += e * e;
    }
    h->traces++;
    h->yy += energy;
    h->ee += misfit;
    h->yy2 += energy * energy;
    h->ye += energy * misfit;
    h->ee2 += misfit * misfit;
}

void litho_quality_hidden_add(const LithoQualityAsk *ask, const LithoQualityCase *c,
                              const LithoCube *out, guint fold, LithoQualityHidden *h)
{
    for (gint64 i = c->area.lo[0]; i < c->area.hi[0]; i++)
        for (gint64 j = c->area.lo[1]; j < c->area.hi[1]; j++) {
            gint64 from, to;
            if (!litho_probe_hides(i + c->shift[0], j + c->shift[1], ask->hide, fold, ask->seed) ||
                !litho_trace_span(c->in, i, j, c->area.lo[2], c->area.hi[2], &from, &to))
                continue;
            const float *y = litho_quality_row(c->in, i, j), *p = litho_quality_row(out, i, j);
            add_trace(y, p, c->guesses ? litho_quality_row(c->guesses, i, j) : y, from, to, h);
        }
}

void litho_quality_hidden_tell(const LithoQualityAsk *ask, const LithoQualityHidden *h,
                               LithoQuality *q)
{
    q->hidden_traces = h->traces;
    if (h->n == 0 || h->pp == 0) {
        g_strlcpy(q->why,
                  h->n == 0 ? _("no live trace was hidden: the area or the share is too small")
                            : _("this flow leaves missing traces empty: hidden ones tell nothing"),
                  sizeof q->why);
        return;
    }
    const double variance = ask->noise ? ask->noise->total * ask->noise->total : 0;
    const double signal = h->yy - h->n * variance, error = h->ee - h->n * variance;
    q->hidden_recorded_db = litho_quality_decibel(h->yy / h->ee);
    q->hidden_snr_db = signal > 0 && error > 0 ? litho_quality_decibel(signal / error) : NAN;
    if (!isfinite(q->hidden_snr_db) && !*q->why)
        g_strlcpy(q->why,
                  _("the energy of hidden traces, or of their misfit, is below that of the noise "
                    "level, which may be too high"),
                  sizeof q->why);
    // Scatter of what each trace adds to the logarithm of the ratio.
    const double sum = h->yy / signal - h->ee / error;
    const double squares = h->yy2 / (signal * signal) - 2 * h->ye / (signal * error) +
                           h->ee2 / (error * error) - sum * sum / h->traces;
    q->hidden_off_db =
        h->traces > 1 && signal > 0 && error > 0 ? 10 / G_LN10 * 2 * sqrt(MAX(squares, 0)) : NAN;
}
