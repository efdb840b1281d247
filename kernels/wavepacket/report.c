// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <string.h>

#include "kernels/wavepacket/apply.h"

// Middle of histogram bin i: the top 16 bits of a positive float.
static double bin_value(int i)
{
    guint32 bits = ((guint32)i << 16) | 0x8000;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Four bins an octave over the range in use, in units of sigma_b.
static void report_histogram(const WpJob *job, LithoRun *run)
{
    enum { MERGE = 32 };
    double x[WP_BINS / MERGE], y[WP_BINS / MERGE];
    guint n = 0;
    int first = WP_BINS, last = -1;
    for (int i = 0; i < WP_BINS; i++)
        if (job->counts[i] > 0) {
            first = MIN(first, i / MERGE);
            last = i / MERGE;
        }
    for (int m = first; m <= last && n < G_N_ELEMENTS(x); m++, n++) {
        x[n] = bin_value(m * MERGE + MERGE / 2);
        y[n] = 0;
        for (int i = 0; i < MERGE; i++)
            y[n] += job->counts[m * MERGE + i];
    }
    litho_report_curve(run->report, "magnitudes", "Coefficient magnitudes", "|c| / sigma_b",
                       "coefficients", n, x, y);
}

static void report_energies(const WpJob *job, LithoRun *run)
{
    const WpGeometry *g = job->geometry;
    const int finest = g->tiling->scales, n = g->tiling->dir[finest].n;
    double scale[WP_MAX_SCALES + 2] = {0}, x[WP_MAX_SCALES + 2];
    g_autofree double *direction = g_new0(double, n), *index = g_new0(double, n);
    for (int b = 0; b < g->n_boxes; b++) {
        const WpBox *box = &g->boxes[b];
        scale[box->scale] += job->stats[b].energy;
        if (box->kind == WP_DIRECTION && box->scale == finest)
            direction[box->direction] = job->stats[b].energy;
    }
    for (int k = 0; k <= finest + 1; k++)
        x[k] = k;
    for (int i = 0; i < n; i++)
        index[i] = i;
    litho_report_curve(run->report, "scales", "Energy per scale",
                       "scale (0 coarse, last residual)", "energy", finest + 2, x, scale);
    litho_report_curve(run->report, "directions", "Energy per direction, finest scale",
                       "direction", "energy", n, index, direction);
}

void wp_report_spectrum(const WpJob *job, double threshold, LithoRun *run)
{
    if (!run || !run->report)
        return;
    const WpGeometry *g = job->geometry;
    litho_report_number(run->report, "threshold_level", "Threshold in units of sigma_b", "",
                        threshold);
    litho_report_number(run->report, "redundancy", "Real numbers per sample", "", g->redundancy);
    litho_report_number(run->report, "boxes", "Boxes", "", g->n_boxes);
    litho_report_number(run->report, "blocks", "Segments", "", job->n_blocks);
    report_histogram(job, run);
    report_energies(job, run);
}

void wp_report_kept(const WpJob *job, guint64 kept, LithoRun *run)
{
    if (!run)
        return;
    double total = (double)job->geometry->n_points * job->n_blocks;
    litho_report_number(run->report, "kept", "Coefficients kept", "", (double)kept);
    litho_report_number(run->report, "total", "Coefficients in all", "", total);
    litho_report_number(run->report, "cr", "Kept coefficients / samples", "",
                        (double)kept / (double)job->samples);
}

gboolean wp_report_error(WpJob *job, LithoRun *run, const char *key, GError **error)
{
    const WpEngineClass *k = job->engine->class;
    double difference;
    if (!run || !run->report)
        return TRUE;
    if (!wp_job_reserve(job, &job->w, job->samples, error) ||
        !k->blend(job->engine, 1, job->volume, 0, job->w, job->samples, error) ||
        !k->blend(job->engine, 1, job->result, -1, job->w, job->samples, error) ||
        !k->dot(job->engine, job->w, job->w, job->samples, &difference, error))
        return FALSE;
    double relative = job->input_energy > 0 ? difference / job->input_energy : 0;
    litho_report_number(run->report, key, "SNR of the result against the input", "dB",
                        relative > 0 ? -10 * log10(relative) : INFINITY);
    litho_report_number(run->report, "error", "Relative L2 difference to the input", "",
                        sqrt(relative));
    return TRUE;
}
