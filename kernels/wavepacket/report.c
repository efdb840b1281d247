// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <string.h>

#include "core/text.h"
#include "kernels/wavepacket/apply.h"

// Middle of histogram bin i: the top 16 bits of a positive float.
static double bin_value(int i)
{
    guint32 bits = ((guint32)i << 16) | 0x8000;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Four bins an octave over the range in use; FALSE when all is zero.
static gboolean report_histogram(const double *counts, const char *what, LithoRun *run)
{
    enum { MERGE = 32 };
    double x[WP_BINS / MERGE], y[WP_BINS / MERGE];
    guint n = 0;
    int first = WP_BINS, last = -1;
    for (int i = 0; i < WP_BINS; i++)
        if (counts[i] > 0) {
            first = MIN(first, i / MERGE);
            last = i / MERGE;
        }
    for (int m = first; m <= last && n < G_N_ELEMENTS(x); m++, n++) {
        x[n] = bin_value(m * MERGE + MERGE / 2);
        y[n] = 0;
        for (int i = 0; i < MERGE; i++)
            y[n] += counts[m * MERGE + i];
    }
    litho_report_curve(run->report, N_("magnitudes"), N_("Coefficient magnitudes"), what,
                       N_("coefficients"), n, x, y);
    litho_report_curve_style(run->report, "magnitudes", "", "", TRUE, TRUE, TRUE);
    return n > 0;
}

void wp_report_threshold(const double *counts, const char *what, double threshold, LithoRun *run)
{
    if (!run || !run->report || !report_histogram(counts, what, run))
        return;
    litho_report_number(run->report, "threshold_level", "Threshold", "× noise of box", threshold);
    litho_report_curve_marks(run->report, "magnitudes", threshold > 0, &threshold);
}

// Corner k of a box: bit i of k picks the far end along e_(i+1).
static void box_corners(const WpBox *box, float corners[24])
{
    for (int k = 0; k < 8; k++)
        for (int a = 0; a < 3; a++) {
            double at = 0;
            for (int i = 0; i < 3; i++)
                at += box->R[i][a] * (k >> i & 1 ? box->hi[i] : box->lo[i]);
            corners[3 * k + a] = (float)at;
        }
}

enum { DECIBELS = 60 }; // of energy between the palest and the strongest box

// The boxes of one scale, coloured by energy per coefficient. The residual box is the frequency
// cube itself and is left out. Of the two boxes of a direction, at xi and at -xi, one is shown.
static void report_scale(const WpJob *job, int scale, double strongest, const char *label,
                         LithoRun *run)
{
    const WpGeometry *g = job->geometry;
    g_autofree float *xyz = g_new(float, 24 * g->n_boxes), *value = g_new(float, g->n_boxes);
    LithoShape shape = {
        .space = LITHO_SPACE_FREQUENCY, .kind = LITHO_SHAPE_BOXES, .xyz = xyz, .value = value};
    for (int b = 0; b < g->n_boxes; b++) {
        const WpBox *box = &g->boxes[b];
        if (box->kind == WP_RESIDUAL || box->scale != scale)
            continue;
        const double mean = job->stats[b].energy / (double)box->floats;
        const double db = mean > 0 ? 10 * log10(mean / strongest) : -G_MAXDOUBLE;
        box_corners(box, xyz + 3 * shape.n);
        value[shape.n / 8] = (float)CLAMP(1 + db / DECIBELS, 0, 1);
        shape.n += 8;
    }
    g_snprintf(shape.key, sizeof shape.key, "boxes%d", scale);
    g_strlcpy(shape.label, label, sizeof shape.label);
    litho_report_shape(run->report, &shape);
}

typedef struct ScaleSum {
    double energy, points, kept;
} ScaleSum;

static void sum_scales(const WpJob *job, ScaleSum sum[WP_MAX_SCALES + 2])
{
    const WpGeometry *g = job->geometry;
    memset(sum, 0, (WP_MAX_SCALES + 2) * sizeof *sum);
    for (int b = 0; b < g->n_boxes; b++) {
        ScaleSum *s = &sum[g->boxes[b].scale];
        s->energy += job->stats[b].energy;
        s->points += (double)g->boxes[b].floats / (g->boxes[b].kind == WP_RESIDUAL ? 1 : 2);
        s->kept += (double)job->kept[b];
    }
}

// `kept` = whether a threshold has been applied, to say so in the legend.
static void report_boxes(const WpJob *job, gboolean kept, LithoRun *run)
{
    const WpGeometry *g = job->geometry;
    double strongest = G_MINDOUBLE;
    ScaleSum sum[WP_MAX_SCALES + 2];
    sum_scales(job, sum);
    for (int b = 0; b < g->n_boxes; b++)
        if (g->boxes[b].kind != WP_RESIDUAL)
            strongest = MAX(strongest, job->stats[b].energy / (double)g->boxes[b].floats);
    for (int k = 0; k <= g->tiling->scales; k++) {
        char label[64];
        const double percent = 100 * sum[k].kept / (sum[k].points * job->n_blocks);
        int at = k ? g_snprintf(label, sizeof label, _("Scale %d, %d directions"), k,
                                g->tiling->dir[k].n)
                   : g_snprintf(label, sizeof label, _("Coarse"));
        if (kept)
            litho_text_put(label + at, sizeof label - at, _(": %.3g %% kept"), percent);
        report_scale(job, k, strongest, label, run);
    }
}

static void report_energies(const WpJob *job, LithoRun *run)
{
    const WpGeometry *g = job->geometry;
    const int finest = g->tiling->scales, n = g->tiling->dir[finest].n;
    double x[WP_MAX_SCALES + 2], energy[WP_MAX_SCALES + 2];
    ScaleSum sum[WP_MAX_SCALES + 2];
    g_autofree double *direction = g_new0(double, n), *index = g_new0(double, n);
    sum_scales(job, sum);
    for (int k = 0; k <= finest + 1; k++) {
        x[k] = k;
        energy[k] = sum[k].energy;
    }
    for (int i = 0; i < n; i++)
        index[i] = i;
    for (int b = 0; b < g->n_boxes; b++)
        if (g->boxes[b].kind == WP_DIRECTION && g->boxes[b].scale == finest)
            direction[g->boxes[b].direction] = job->stats[b].energy;
    litho_report_curve(run->report, N_("scales"), N_("Energy per scale"),
                       N_("scale (0 coarse, last residual)"), N_("energy"), finest + 2, x, energy);
    litho_report_curve_style(run->report, "scales", "", "", FALSE, TRUE, TRUE);
    litho_report_curve(run->report, N_("directions"), N_("Energy per direction, finest scale"),
                       N_("direction"), N_("energy"), n, index, direction);
    litho_report_curve_style(run->report, "directions", "", "", FALSE, TRUE, TRUE);
}

void wp_report_spectrum(const WpJob *job, LithoRun *run)
{
    if (!run || !run->report)
        return;
    const WpGeometry *g = job->geometry;
    litho_report_number(run->report, "redundancy", "Real numbers per sample", "", g->redundancy);
    litho_report_number(run->report, "boxes", "Boxes", "", g->n_boxes);
    litho_report_number(run->report, "blocks", "Segments", "", job->n_blocks);
    litho_report_used(run->report, "wavepacket", "scales", g->tiling->scales);
    if (job->segment > 0)
        litho_report_used(run->report, "wavepacket", "block", job->segment);
    report_boxes(job, FALSE, run);
    report_histogram(job->counts, _("coefficient, × noise of its box"), run);
    report_energies(job, run);
}

void wp_report_kept(const WpJob *job, LithoRun *run)
{
    if (!run || !run->report)
        return;
    const int n = job->geometry->tiling->scales + 2;
    const double total = (double)job->geometry->n_points * job->n_blocks;
    const double kept = (double)wp_job_kept(job);
    ScaleSum sum[WP_MAX_SCALES + 2];
    double x[WP_MAX_SCALES + 2], share[WP_MAX_SCALES + 2];
    sum_scales(job, sum);
    for (int k = 0; k < n; k++) {
        x[k] = k;
        share[k] = sum[k].points > 0 ? 100 * sum[k].kept / (sum[k].points * job->n_blocks) : 0;
    }
    litho_report_number(run->report, "kept", "Coefficients kept", "", kept);
    litho_report_number(run->report, "total", "Coefficients in all", "", total);
    litho_report_number(run->report, "cr", "Kept coefficients / samples", "",
                        kept / (double)job->samples);
    litho_report_curve(run->report, N_("kept_scales"), N_("Kept per scale"),
                       N_("scale (0 coarse, last residual)"), "%", n, x, share);
    litho_report_curve_style(run->report, "kept_scales", "", "", FALSE, TRUE, TRUE);
    report_boxes(job, TRUE, run);
}

gboolean wp_report_error(WpJob *job, LithoRun *run, GError **error)
{
    const WpEngineClass *k = job->engine->class;
    double difference;
    if (!run || !run->report)
        return TRUE;
    if (!k->distance(job->engine, job->result, job->volume, NULL, litho_grid_traces(&job->grid),
                     job->n[2], &difference, error))
        return FALSE;
    double relative = job->input_energy > 0 ? difference / job->input_energy : 0;
    litho_report_number(run->report, "snr", "SNR of the result against the input", "dB",
                        relative > 0 ? -10 * log10(relative) : INFINITY);
    litho_report_number(run->report, "error", "Relative L2 difference to the input", "",
                        sqrt(relative));
    return TRUE;
}
