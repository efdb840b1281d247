// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>

#include "core/error.h"
#include "kernels/wavepacket/apply.h"
#include "kernels/wavepacket/coefficients.h"

static double decibel(double energy, double error)
{
    return error > 0 ? 10 * log10(energy / error) : INFINITY;
}

// Least squares on the kept coefficients: min over x, zero where |c| < level, of ||A* x - u||, by
// CGLS from x = the kept coefficients themselves. Plain thresholding loses amplitude because the
// frame is redundant: what the dropped coefficients carried is spread over the kept ones here.
// On entry lane->d = x, on return x is better. lane->e, f hold gradient and direction; v, w the
// residual u - A* x and A* of the direction. *plain = ||u - A* x||^2 on entry.
typedef struct Refit {
    const float *c, *u; // what the support is judged by; the block's data
    const WpRule *rule;
    gint64 n; // samples
} Refit;

static gboolean gradient(WpLane *lane, const Refit *f, double *norm, GError **error)
{
    WpEngine *engine = lane->engine;
    const WpEngineClass *k = engine->class;
    return k->forward(engine, lane->v, lane->e, lane->run, error) &&
           k->shrink(engine, f->c, lane->e, lane->e, f->rule, NULL, error) &&
           k->dot(engine, lane->e, lane->e, WP_COEFFICIENTS, norm, error);
}

static gboolean cgls(WpLane *lane, const Refit *f, int steps, double *plain, GError **error)
{
    WpEngine *engine = lane->engine;
    const WpEngineClass *k = engine->class;
    float *x = lane->d, *s = lane->e, *p = lane->f, *r = lane->v, *q = lane->w;
    const gint64 all = WP_COEFFICIENTS, n = f->n;
    double old, now, qq;
    // r = u - A* x; p serves as the copy that the adjoint destroys.
    if (!k->blend(engine, 1, x, 0, p, all, error) || !k->adjoint(engine, p, r, lane->run, error) ||
        !k->blend(engine, 1, f->u, -1, r, n, error) || !k->dot(engine, r, r, n, plain, error) ||
        !gradient(lane, f, &old, error) || !k->blend(engine, 1, s, 0, p, all, error))
        return FALSE;
    for (int i = 0; i < steps && old > 0; i++) {
        if (!litho_run_step(lane->run, i, steps, error) ||
            !k->blend(engine, 1, p, 0, s, all, error) ||
            !k->adjoint(engine, s, q, lane->run, error) || !k->dot(engine, q, q, n, &qq, error))
            return FALSE;
        if (qq <= 0)
            break;
        if (!k->blend(engine, old / qq, p, 1, x, all, error) ||
            !k->blend(engine, -old / qq, q, 1, r, n, error) || !gradient(lane, f, &now, error) ||
            !k->blend(engine, 1, s, now / old, p, all, error))
            return FALSE;
        old = now;
    }
    return TRUE;
}

typedef struct Compression {
    const WpRule *rule;
    int steps;
    double *plain;        // per block: ||u - A* thresholded||^2 before the refit
    WpCoefficients *file; // or NULL
} Compression;

static gboolean reserve(WpLane *lane, int steps, gint64 n, GError **error)
{
    WpEngine *engine = lane->engine;
    return wp_reserve(engine, &lane->d, WP_COEFFICIENTS, error) &&
           wp_reserve(engine, &lane->v, n, error) &&
           (steps == 0 || (wp_reserve(engine, &lane->e, WP_COEFFICIENTS, error) &&
                           wp_reserve(engine, &lane->f, WP_COEFFICIENTS, error) &&
                           wp_reserve(engine, &lane->w, n, error)));
}

static gboolean refit_block(WpJob *job, WpLane *lane, int b, const float *c, const Compression *z,
                            GError **error)
{
    const gint64 *n = job->spec.n;
    const float *u = wp_lane_cut(job, lane, b, error);
    const Refit refit = {.c = c, .u = u, .rule = z->rule, .n = n[0] * n[1] * n[2]};
    return u && cgls(lane, &refit, z->steps, &z->plain[b], error);
}

// One block: threshold, refit, adjoint into the result.
static gboolean compress_block(WpJob *job, WpLane *lane, int b, gpointer data, GError **error)
{
    const Compression *z = data;
    const gint64 *n = job->spec.n;
    WpEngine *engine = lane->engine;
    const WpEngineClass *k = engine->class;
    const float *c = wp_lane_coefficients(job, lane, b, error);
    if (!c || !reserve(lane, z->steps, n[0] * n[1] * n[2], error) ||
        !k->shrink(engine, c, c, lane->d, z->rule, lane->kept, error) ||
        (z->steps > 0 && !refit_block(job, lane, b, c, z, error)) ||
        (z->file && !wp_coefficients_append(z->file, lane, lane->d, error)))
        return FALSE;
    float *v = job->whole ? lane->out : lane->v;
    if (!k->adjoint(engine, lane->d, v, lane->run, error))
        return FALSE;
    if (z->steps == 0) { // what a refit would begin with is the result
        const float *u = wp_lane_cut(job, lane, b, error);
        if (!u || !k->distance(engine, u, v, NULL, n[0] * n[1], n[2], &z->plain[b], error))
            return FALSE;
    }
    return wp_lane_paste(job, lane, v, b, error);
}

// The baseline: as many values kept of a plain FFT of the whole cube (half spectrum, each complex
// value counted once, as the packets' complex values are).
static gboolean report_baseline(WpJob *job, guint64 kept, LithoRun *run, GError **error)
{
    double lost = 0;
    GError *why = NULL;
    if (!run || !run->report)
        return TRUE;
    if (!job->engine->class->fourier(job->engine, job->volume, job->n, kept, &lost, run, &why)) {
        // The result is there: for want of memory its report has one number less.
        const gboolean full = g_error_matches(why, LITHO_ERROR, LITHO_ERROR_MEMORY);
        if (full)
            g_error_free(why);
        else
            g_propagate_error(error, why);
        return full;
    }
    litho_report_number(run->report, "snr_fourier", "SNR of a global FFT, as many values", "dB",
                        decibel(job->input_energy, lost));
    return TRUE;
}

gboolean wp_compress(WpJob *job, const LithoWavepacketParams *p, LithoRun *run, GError **error)
{
    const guint64 wanted = (guint64)(p->keep * (double)job->samples);
    g_autofree double *counts = g_new0(double, WP_BINS);
    double level, plain = 0;
    if (!wp_level_for_count(job, wanted, &level, counts, run, error))
        return FALSE;
    wp_report_threshold(counts, "coefficient", level, run);
    g_autofree float *levels = g_new(float, job->geometry->n_boxes);
    for (int b = 0; b < job->geometry->n_boxes; b++)
        levels[b] = (float)level;
    g_autofree double *block_error = g_new0(double, job->n_blocks);
    const WpRule rule = {.level = levels};
    const gboolean writes = p->coefficients.text[0] && run && run->writes;
    WpCoefficients *file = writes ? wp_coefficients_new() : NULL;
    Compression compression = {&rule, p->refit, block_error, file};
    const WpWork work = {.stage = "compress",
                         .from = job->volume,
                         .to = job->result,
                         .each = compress_block,
                         .data = &compression,
                         .in_order = file != NULL};
    gboolean ok = wp_lanes_work(job, &work, run, error);
    const guint64 kept = wp_job_kept(job);
    if (ok && file)
        ok = wp_coefficients_write(file, job, p->coefficients.text, run, error);
    wp_coefficients_free(file);
    if (!ok || !report_baseline(job, kept, run, error))
        return FALSE;
    for (int b = 0; b < job->n_blocks; b++)
        plain += block_error[b];
    if (run) {
        litho_report_number(run->report, "snr_plain", "SNR without refit", "dB",
                            decibel(job->input_energy, plain));
        litho_report_number(run->report, "level", "Smallest coefficient kept", "", level);
    }
    wp_report_kept(job, run);
    return TRUE;
}
