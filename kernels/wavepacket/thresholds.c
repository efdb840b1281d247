// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/wavepacket/apply.h"

float *wp_levels(const WpJob *job, double k_sigma)
{
    const WpGeometry *g = job->geometry;
    float *level = g_new0(float, g->n_boxes);
    for (int b = 0; b < g->n_boxes; b++)
        if (g->boxes[b].kind != WP_COARSE)
            level[b] = (float)(k_sigma * g->boxes[b].sigma);
    return level;
}

// --- noise level ----------------------------------------------------------------------------------

static int compare_float(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static float median(float *v, int n)
{
    qsort(v, n, sizeof *v, compare_float);
    return v[n / 2];
}

// Median of |c| over translations whose packet sits well inside the block: those in the margin or at
// a face see less noise and would pull it down. Planes of the box are sampled evenly. Negative = failed, 0 = the
// box has no such translation.
static float box_median(WpJob *job, const WpBox *box, const float *c, GError **error)
{
    enum { PLANES = 8, INSET = 7 }; // samples; about the reach of the finest packets
    const WpGeometry *g = job->geometry;
    const int plane = box->n[1] * box->n[2], planes = MIN(PLANES, box->n[0]);
    g_autofree float *data = g_new(float, 2 * plane);
    g_autofree float *inside = g_new(float, planes * plane);
    int n = 0;
    for (int i = 0; i < planes; i++) {
        int p[3] = {i * box->n[0] / planes, 0, 0};
        if (!job->engine->class->download(job->engine, c + box->at + 2 * (gint64)p[0] * plane,
                                          data, 2 * plane, error))
            return -1;
        for (p[1] = 0; p[1] < box->n[1]; p[1]++)
            for (p[2] = 0; p[2] < box->n[2]; p[2]++) {
                const float *z = data + 2 * (p[1] * box->n[2] + p[2]);
                double x[3];
                wp_box_position(g, box, p, x);
                gboolean in = TRUE;
                for (int a = 0; a < 3; a++) {
                    double inset = MIN(INSET, g->n[a] / 5);
                    in &= x[a] >= inset && x[a] <= g->n[a] - 1 - inset;
                }
                if (in)
                    inside[n++] = hypotf(z[0], z[1]);
            }
    }
    return n > 0 ? median(inside, n) : 0;
}

// White noise of deviation s gives complex coefficients with P(|c| > t) = exp(-t^2/(s sigma_b)^2),
// median s sigma_b sqrt(ln 2). The median over directions of the finest scale, each the median over
// positions, is not moved by events: they are steep in few directions and present in few places.
double wp_estimate_sigma(WpJob *job, const float *c, GError **error)
{
    enum { BOXES = 24 };
    const WpGeometry *g = job->geometry;
    g_autofree int *finest = g_new(int, g->n_boxes);
    float level[BOXES];
    int n = 0, used = 0;
    for (int b = 0; b < g->n_boxes; b++)
        if (g->boxes[b].kind == WP_DIRECTION && g->boxes[b].scale == g->tiling->scales)
            finest[n++] = b;
    for (int i = 0; i < MIN(n, BOXES); i++) {
        const WpBox *box = &g->boxes[finest[(gint64)i * n / MIN(n, BOXES)]];
        float m = box_median(job, box, c, error);
        if (m < 0)
            return -1;
        if (m > 0)
            level[used++] = m / (float)(box->sigma * sqrt(M_LN2));
    }
    return used ? median(level, used) : 0;
}

// --- a level by count -----------------------------------------------------------------------------

static gboolean add_histogram(WpJob *job, WpHistogram *h, guint64 *total, LithoRun *run,
                              GError **error)
{
    memset(total, 0, WP_BINS * sizeof *total);
    for (int b = 0; b < job->n_blocks; b++) {
        const float *c = wp_job_coefficients(job, b, run, error);
        if (!c || !job->engine->class->histogram(job->engine, c, h, error))
            return FALSE;
        for (int i = 0; i < WP_BINS; i++)
            total[i] += h->bins[i];
    }
    return TRUE;
}

// The bin in which the `count`-th largest value lies; *left = how many of that bin are wanted.
static int bin_of(const guint64 *bins, guint64 count, guint64 *left)
{
    for (int i = WP_BINS - 1; i >= 0; i--) {
        if (bins[i] >= count) {
            *left = count;
            return i;
        }
        count -= bins[i];
    }
    return -1; // fewer values than wanted: keep all
}

gboolean wp_level_for_count(WpJob *job, guint64 count, double *level, LithoRun *run,
                            GError **error)
{
    g_autofree WpHistogram *h = g_new0(WpHistogram, 1);
    g_autofree guint64 *total = g_new(guint64, WP_BINS);
    g_autofree float *scale = g_new(float, job->geometry->n_boxes);
    guint64 left = 0;
    for (int b = 0; b < job->geometry->n_boxes; b++)
        scale[b] = 1;
    h->scale = scale;
    h->prefix = -1;
    *level = 0;
    if (!add_histogram(job, h, total, run, error))
        return FALSE;
    h->prefix = bin_of(total, MAX(count, 1), &left);
    if (h->prefix < 0)
        return TRUE;
    if (!add_histogram(job, h, total, run, error))
        return FALSE;
    int low = bin_of(total, left, &left);
    guint32 bits = ((guint32)h->prefix << 16) | ((guint32)MAX(low, 0) << 1);
    float value;
    memcpy(&value, &bits, sizeof value);
    *level = value;
    return TRUE;
}
