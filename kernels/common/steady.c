// SPDX-License-Identifier: GPL-3.0-or-later
//
// Traces less their steady noise.
#include "kernels/common/steady.h"

#include <math.h>
#include <omp.h>

// Lines that stand above what the fit takes of events, all in one fit.
static void fit_loud(LithoSteadyFit *fit, const LithoSteady *s, const float *trace,
                     LithoSteadyTrace *to)
{
    guint8 use[LITHO_STEADY_LINES];
    int loud = 0;
    litho_steady_fit(fit, trace, s->offset || s->drift, s->drift, to);
    for (int k = 0; k < s->n; k++)
        loud += use[k] = to->amplitude[k] > s->above[k] * to->rms;
    if (loud < s->n)
        litho_steady_fit_some(fit, trace, s->offset || s->drift, s->drift, use, to);
}

// Samples that are zero are mutes or gaps, and stay.
static void take_off(const LithoSteadyFit *fit, const LithoSteady *s, const LithoSteadyTrace *of,
                     float *trace, LithoSteadyTaken *taken)
{
    const gboolean straight = (s->offset || s->drift) && of->hi > of->lo;
    const double middle = 0.5 * (double)(of->hi - of->lo - 1);
    for (gint64 t = of->lo; t < of->hi; t++) {
        const double slope = of->drift * ((double)(t - of->lo) - middle);
        const double offset = straight ? of->offset - s->mean : 0;
        double hum = 0;
        if (trace[t] == 0)
            continue;
        for (int k = 0; k < s->n; k++)
            hum += of->wave[2 * k] * fit->wave[2 * k * fit->n + t] +
                   of->wave[2 * k + 1] * fit->wave[(2 * k + 1) * fit->n + t];
        trace[t] = (float)(trace[t] - offset - slope - hum);
        taken->offset += offset * offset;
        taken->drift += slope * slope;
        taken->hum_squares += hum * hum;
        taken->samples++;
    }
    for (int k = 0; k < s->n; k++)
        taken->hum[k] += of->amplitude[k] > 0;
    taken->traces++;
}

static void add_taken(LithoSteadyTaken *to, const LithoSteadyTaken *from)
{
    to->traces += from->traces;
    for (int k = 0; k < LITHO_STEADY_LINES; k++)
        to->hum[k] += from->hum[k];
    to->offset += from->offset;
    to->drift += from->drift;
    to->hum_squares += from->hum_squares;
    to->samples += from->samples;
}

LithoCube *litho_steady_without(const LithoCube *cube, const LithoSteady *steady, LithoRun *run,
                                LithoSteadyTaken *taken, GError **error)
{
    g_autoptr(LithoCube) out = litho_cube_copy_box(cube, cube->held, error);
    if (!out)
        return NULL;
    const gint64 rows = litho_box_size(out->held, 0), across = litho_box_size(out->held, 1);
    const gint64 n = litho_box_size(out->held, 2);
    g_autofree LithoSteadyTaken *of_row = g_new0(LithoSteadyTaken, MAX(rows, 1));
    gboolean stopped = FALSE;
#pragma omp parallel num_threads(litho_run_threads(run))
    {
        LithoSteadyFit *fit = litho_steady_fit_new(n, steady->line, steady->n);
        LithoSteadyTrace found;
#pragma omp for schedule(dynamic)
        for (gint64 i = 0; i < rows; i++)
            for (gint64 j = 0; j < across; j++) {
                float *trace = out->samples + (i * across + j) * n;
                if (!out->live[i * across + j] || !litho_run_checkpoint(run))
                    continue;
                fit_loud(fit, steady, trace, &found);
                take_off(fit, steady, &found, trace, &of_row[i]);
            }
        litho_steady_fit_free(fit);
    }
    stopped = !litho_run_checkpoint(run);
    if (stopped && !litho_run_stopped(error))
        return NULL;
    LithoSteadyTaken all = {0};
    for (gint64 i = 0; i < rows; i++)
        add_taken(&all, &of_row[i]);
    if (taken)
        *taken = all;
    out->loudest = out->loudness = 0;
    return g_steal_pointer(&out);
}
