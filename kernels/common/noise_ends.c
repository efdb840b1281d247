// SPDX-License-Identifier: GPL-3.0-or-later
//
// Ends of the traces, of which windows see less.
#include <math.h>

#include "kernels/common/noise_job.h"

// --- by the loudness of windows ------------------------------------------------------------------

// Mean of the straight lines through power[k] at the middles of windows along the traces, which go
// on to the ends, over all samples.
static double mean_along(const NoiseJob *job, const double *power, gint64 places)
{
    const gint64 n = litho_box_size(job->box, 2);
    const double first = noise_start_of(job, 2, 0) - job->box.lo[2] + 0.5 * (job->n[2] - 1);
    const double step =
        (double)(noise_start_of(job, 2, places - 1) - noise_start_of(job, 2, 0)) / (places - 1);
    double sum = 0;
    for (gint64 t = 0; t < n; t++) {
        const double at = (t - first) / step;
        const gint64 k = CLAMP((gint64)floor(at), 0, places - 2);
        sum += fmax(power[k] + (at - k) * (power[k + 1] - power[k]), 0);
    }
    return sum / n;
}

// Energy of the noise over that of the windows: these end with the traces, whose ends count less
// than their middle. Events make windows at some times seem up to 7 % louder; from 15 to 30 % on
// the noise itself varies.
double noise_energy_at_ends(const NoiseJob *job, const float *loud)
{
    const gint64 places = job->count[2];
    g_autofree double *power = g_new0(double, places), *weight = g_new0(double, places);
    double mean = 0, whole = 0, squares = 0;
    for (gint64 w = 0; w < job->windows; w++) {
        power[noise_place_of(job, w, 2)] += (double)job->share[w] * loud[w];
        weight[noise_place_of(job, w, 2)] += job->share[w];
    }
    for (gint64 k = 0; k < places; k++) {
        if (places < 2 || !(weight[k] > 0))
            return 1;
        mean += power[k];
        whole += weight[k];
        power[k] /= weight[k];
    }
    mean /= whole;
    for (gint64 k = 0; k < places; k++)
        squares += (power[k] / mean - 1) * (power[k] / mean - 1);
    const double part = CLAMP(sqrt(squares / places) / 0.15 - 1, 0, 1);
    return 1 + part * (mean_along(job, power, places) / mean - 1);
}

// --- by a local level ----------------------------------------------------------------------------

static double taper_at(const NoiseJob *job, gint64 k, gint64 t)
{
    const gint64 at = t - (noise_start_of(job, 2, k) - job->box.lo[2]);
    return at < 0 || at >= job->n[2] ? 0 : job->taper[2][at] * job->taper[2][at];
}

static double middle_of(const NoiseJob *job, gint64 k)
{
    return (double)(noise_start_of(job, 2, k) - job->box.lo[2]) + 0.5 * (job->n[2] - 1);
}

// Power of the noise at each sample, straight lines of its logarithm through the middles of the
// windows, which go on to the ends.
static void lay_lines(const NoiseJob *job, const double *knots, double *profile)
{
    const gint64 places = job->count[2], n = litho_box_size(job->box, 2);
    const double first = middle_of(job, 0);
    const double step = (middle_of(job, places - 1) - first) / (double)(places - 1);
    for (gint64 t = 0; t < n; t++) {
        const double x = ((double)t - first) / step;
        const gint64 k = CLAMP((gint64)floor(x), 0, places - 2);
        profile[t] = exp(knots[k] + (x - (double)k) * (knots[k + 1] - knots[k]));
    }
}

// Energy of the noise over that of the windows, which end with the traces and see less of their
// ends: of the profile along the traces whose windows hold what these do.
double noise_local_ends(const NoiseJob *job, const NoiseLocal *local)
{
    enum { PASSES = 8 };
    const gint64 places = job->count[2], n = litho_box_size(job->box, 2);
    g_autofree double *power = g_new0(double, places), *weight = g_new0(double, places);
    g_autofree double *knots = g_new0(double, places), *profile = g_new0(double, n);
    double seen = 0, held = 0;
    for (gint64 w = 0; w < job->windows; w++) {
        const gint64 k = noise_place_of(job, w, 2);
        double sum = 0;
        for (int f = 0; job->share[w] > 0 && f < job->nf; f++)
            sum += noise_times_of(job, f) * local->level[job->windows * f + w];
        power[k] += job->share[w] * sum;
        weight[k] += job->share[w];
    }
    for (gint64 k = 0; k < places; k++) {
        if (places < 2 || !(power[k] > 0))
            return 1;
        power[k] /= weight[k];
        knots[k] = log(power[k]);
        seen += power[k] / (double)places;
    }
    for (int pass = 0; pass < PASSES; pass++) {
        lay_lines(job, knots, profile);
        for (gint64 k = 0; k < places; k++) {
            double sum = 0, whole = 0;
            for (gint64 t = 0; t < n; t++) {
                sum += taper_at(job, k, t) * profile[t];
                whole += taper_at(job, k, t);
            }
            knots[k] += log(power[k] * whole / sum);
        }
    }
    lay_lines(job, knots, profile);
    for (gint64 t = 0; t < n; t++)
        held += profile[t] / (double)n;
    return held / seen;
}
