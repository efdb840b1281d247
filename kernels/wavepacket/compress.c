// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>

#include "kernels/wavepacket/apply.h"
#include "kernels/wavepacket/coefficients.h"

static double decibel(double energy, double error)
{
    return error > 0 ? 10 * log10(energy / error) : INFINITY;
}

// Least squares on the kept coefficients: min over x, zero where |c| < level, of ||A* x - u||, by
// CGLS from x = the kept coefficients themselves. Plain thresholding loses amplitude because the
// frame is redundant: what the dropped coefficients carried is spread over the kept ones here.
// On entry job->d = x; on return x is better and job->w = A* x.
typedef struct Refit {
    const float *c, *u; // what the support is judged by; the block's data
    const WpRule *rule;
    float *x, *s, *p;   // coefficients: solution, gradient, direction
    float *r, *q;       // block volumes: residual, A* p
} Refit;

static gboolean gradient(WpJob *job, const Refit *f, double *norm, LithoRun *run, GError **error)
{
    const WpEngineClass *k = job->engine->class;
    return k->forward(job->engine, f->r, f->s, run, error) &&
           k->shrink(job->engine, f->c, f->s, f->s, f->rule, NULL, error) &&
           k->dot(job->engine, f->s, f->s, job->geometry->floats, norm, error);
}

static gboolean cgls(WpJob *job, const Refit *f, int steps, gint64 n, LithoRun *run,
                     GError **error)
{
    const WpEngineClass *k = job->engine->class;
    const gint64 floats = job->geometry->floats;
    double old, now, qq;
    // r = u - A* x; f->p serves as the copy that the adjoint destroys.
    if (!k->blend(job->engine, 1, f->x, 0, f->p, floats, error) ||
        !k->adjoint(job->engine, f->p, f->r, run, error) ||
        !k->blend(job->engine, 1, f->u, -1, f->r, n, error) ||
        !gradient(job, f, &old, run, error) ||
        !k->blend(job->engine, 1, f->s, 0, f->p, floats, error))
        return FALSE;
    for (int i = 0; i < steps && old > 0; i++) {
        if (!litho_run_step(run, i, steps, error) ||
            !k->blend(job->engine, 1, f->p, 0, f->s, floats, error) ||
            !k->adjoint(job->engine, f->s, f->q, run, error) ||
            !k->dot(job->engine, f->q, f->q, n, &qq, error))
            return FALSE;
        if (qq <= 0)
            break;
        if (!k->blend(job->engine, old / qq, f->p, 1, f->x, floats, error) ||
            !k->blend(job->engine, -old / qq, f->q, 1, f->r, n, error) ||
            !gradient(job, f, &now, run, error) ||
            !k->blend(job->engine, 1, f->s, now / old, f->p, floats, error))
            return FALSE;
        old = now;
    }
    return TRUE;
}

// One block: threshold, refit, adjoint into the result. `plain` collects ||u - A* thresholded||^2
// of the block before the refit.
static gboolean compress_block(WpJob *job, int b, const WpRule *rule, int steps, double *plain,
                               WpCoefficients *file, LithoRun *run, GError **error)
{
    const WpEngineClass *k = job->engine->class;
    const gint64 floats = job->geometry->floats;
    const gint64 n = job->spec.n[0] * job->spec.n[1] * job->spec.n[2];
    const float *c = wp_job_coefficients(job, b, run, error);
    if (!c || !k->shrink(job->engine, c, c, job->d, rule, job->kept, error) ||
        !k->blend(job->engine, 1, job->d, 0, job->e, floats, error) ||
        !k->adjoint(job->engine, job->e, job->v, run, error))
        return FALSE;
    const float *u = wp_job_cut(job, job->volume, b, error);
    if (!u || !k->blend(job->engine, 1, u, -1, job->v, n, error) ||
        !k->dot(job->engine, job->v, job->v, n, plain, error))
        return FALSE;
    if (steps > 0) {
        Refit f = {.c = c, .u = u, .rule = rule, .x = job->d, .s = job->e, .p = job->f,
                   .r = job->v, .q = job->w};
        if (!cgls(job, &f, steps, n, run, error))
            return FALSE;
    }
    if (file && !wp_coefficients_append(file, job, job->d, error))
        return FALSE;
    float *target = wp_job_target(job, job->result);
    return k->adjoint(job->engine, job->d, target, run, error) &&
           wp_job_paste(job, target, b, job->result, error);
}

// The baseline: as many values kept of a plain FFT of the whole cube (half spectrum, each complex
// value counted once, as the packets' complex values are).
static gboolean report_baseline(WpJob *job, guint64 kept, LithoRun *run, GError **error)
{
    double lost = 0;
    if (!run || !run->report)
        return TRUE;
    if (!job->engine->class->fourier(job->engine, job->volume, job->n, kept, &lost, run, error))
        return FALSE;
    litho_report_number(run->report, "snr_fourier", "SNR of a global FFT, as many values", "dB",
                        decibel(job->input_energy, lost));
    return TRUE;
}

static gboolean reserve(WpJob *job, int steps, GError **error)
{
    const gint64 floats = job->geometry->floats;
    const gint64 n = job->spec.n[0] * job->spec.n[1] * job->spec.n[2];
    return wp_job_reserve(job, &job->d, floats, error) &&
           wp_job_reserve(job, &job->e, floats, error) &&
           wp_job_reserve(job, &job->v, n, error) &&
           (steps == 0 || (wp_job_reserve(job, &job->f, floats, error) &&
                           wp_job_reserve(job, &job->w, job->samples, error)));
}

gboolean wp_compress(WpJob *job, const LithoWavepacketParams *p, LithoRun *run, GError **error)
{
    const guint64 wanted = (guint64)(p->keep * (double)job->samples);
    g_autofree double *counts = g_new0(double, WP_BINS);
    double level, plain = 0;
    if (!wp_level_for_count(job, wanted, &level, counts, run, error) || !reserve(job, p->refit, error) ||
        !wp_job_clear(job, job->result, error))
        return FALSE;
    wp_report_threshold(counts, "|c|", level, run);
    wp_job_forget_kept(job);
    g_autofree float *levels = g_new(float, job->geometry->n_boxes);
    for (int b = 0; b < job->geometry->n_boxes; b++)
        levels[b] = (float)level;
    const WpRule rule = {.level = levels};
    WpCoefficients *file = p->coefficients.text[0] ? wp_coefficients_new() : NULL;
    gboolean ok = TRUE;
    litho_run_begin(run, "compress", "blocks");
    for (int b = 0; b < job->n_blocks && ok; b++) {
        double error2 = 0;
        ok = litho_run_step(run, b, job->n_blocks, error) &&
             compress_block(job, b, &rule, p->refit, &error2, file, run, error);
        plain += error2;
    }
    const guint64 kept = wp_job_kept(job);
    if (ok && file)
        ok = wp_coefficients_write(file, job, p->coefficients.text, kept, run, error);
    wp_coefficients_free(file);
    if (!ok || !report_baseline(job, kept, run, error))
        return FALSE;
    if (run) {
        litho_report_number(run->report, "snr_plain", "SNR without refit", "dB",
                            decibel(job->input_energy, plain));
        litho_report_number(run->report, "level", "Smallest coefficient kept", "", level);
    }
    wp_report_kept(job, run);
    return TRUE;
}
