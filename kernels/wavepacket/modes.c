// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "kernels/wavepacket/apply.h"
#include "kernels/wavepacket/coefficients.h"

gboolean wp_invert(WpJob *job, float *d, float *u, int corrections, LithoRun *run, GError **error)
{
    const WpEngineClass *k = job->engine->class;
    const gint64 floats = job->geometry->floats;
    const gint64 n = job->spec.n[0] * job->spec.n[1] * job->spec.n[2];
    if (corrections == 0)
        return k->adjoint(job->engine, d, u, run, error);
    // u += A*(d - A u): each step multiplies the error by about ||A*A - 1||.
    if (!wp_job_reserve(job, &job->e, floats, error) ||
        !wp_job_reserve(job, &job->v, n, error) ||
        !k->blend(job->engine, 1, d, 0, job->e, floats, error) ||
        !k->adjoint(job->engine, job->e, u, run, error))
        return FALSE;
    for (int m = 0; m < corrections; m++)
        if (!k->forward(job->engine, u, job->e, run, error) ||
            !k->blend(job->engine, 1, d, -1, job->e, floats, error) ||
            !k->adjoint(job->engine, job->e, job->v, run, error) ||
            !k->blend(job->engine, 1, job->v, 1, u, n, error))
            return FALSE;
    return TRUE;
}

// result = sum_b g_b A* rule(A g_b volume): thresholding of all blocks with the same levels.
static gboolean filter_blocks(WpJob *job, const WpRule *rule, int corrections, LithoRun *run,
                              GError **error)
{
    const WpEngineClass *k = job->engine->class;
    if (!wp_job_reserve(job, &job->d, job->geometry->floats, error) ||
        !wp_job_clear(job, job->result, error))
        return FALSE;
    wp_job_forget_kept(job);
    litho_run_begin(run, "inverse", "blocks");
    for (int b = 0; b < job->n_blocks; b++) {
        if (!litho_run_step(run, b, job->n_blocks, error))
            return FALSE;
        const float *c = wp_job_coefficients(job, b, run, error);
        if (!c || !k->shrink(job->engine, c, c, job->d, rule, job->kept, error))
            return FALSE;
        float *u = wp_job_target(job, job->result);
        if (!wp_invert(job, job->d, u, corrections, run, error) ||
            !wp_job_paste(job, u, b, job->result, error))
            return FALSE;
    }
    return litho_run_step(run, job->n_blocks, job->n_blocks, error);
}

gboolean wp_denoise(WpJob *job, const LithoWavepacketParams *p, LithoRun *run, GError **error)
{
    const double sigma = p->sigma > 0 ? p->sigma : job->sigma;
    g_autofree float *level = wp_levels(job, p->threshold * sigma);
    const WpRule rule = {.level = level, .soft = p->rule == 1};
    wp_report_threshold(job->counts, "|c| / sigma_b", p->threshold * sigma, run);
    if (!filter_blocks(job, &rule, p->corrections, run, error))
        return FALSE;
    if (run) {
        litho_report_number(run->report, "sigma", "Noise level (standard deviation)", "", sigma);
        litho_report_number(run->report, "sigma_estimated", "Noise level, estimated", "",
                            job->sigma);
    }
    wp_report_kept(job, run);
    return TRUE;
}

gboolean wp_reconstruct(WpJob *job, const LithoWavepacketParams *p, LithoRun *run, GError **error)
{
    g_autofree float *level = wp_levels(job, 0);
    const WpRule rule = {.level = level};
    if (p->coefficients.text[0]) {
        if (!wp_coefficients_expand(job, p->coefficients.text, p->corrections, run, error))
            return FALSE;
    } else if (!filter_blocks(job, &rule, p->corrections, run, error)) {
        return FALSE;
    }
    wp_report_kept(job, run);
    return TRUE;
}

// --- interpolation ----------------------------------------------------------------------------------

// One step: z = sum_b g_b A* hard(A g_b v). The first one uses the coefficients of the forward stage.
static gboolean project(WpJob *job, const float *v, const WpRule *rule, float *z, LithoRun *run,
                        GError **error)
{
    const WpEngineClass *k = job->engine->class;
    if (!wp_job_clear(job, z, error))
        return FALSE;
    for (int b = 0; b < job->n_blocks; b++) {
        const float *c = job->d;
        if (!litho_run_step(run, b, job->n_blocks, error))
            return FALSE;
        if (!v) {
            c = wp_job_coefficients(job, b, run, error);
            if (!c)
                return FALSE;
        } else {
            const float *u = wp_job_cut(job, v, b, error);
            if (!u || !k->forward(job->engine, u, job->d, run, error))
                return FALSE;
        }
        if (!k->shrink(job->engine, c, c, job->d, rule, job->kept, error))
            return FALSE;
        float *u = wp_job_target(job, z);
        if (!k->adjoint(job->engine, job->d, u, run, error) ||
            !wp_job_paste(job, u, b, z, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean publish(WpJob *job, const LithoCube *in, const float *v, LithoRun *run,
                        GError **error)
{
    if (!run || !run->on_partial)
        return TRUE;
    LithoCube *part = job->engine->class->new_cube(job->engine, &job->grid, error);
    if (!part)
        return FALSE;
    litho_cube_inherit(part, in);
    memset(part->live, 1, litho_grid_traces(&job->grid));
    gboolean ok = job->engine->class->store(job->engine, v, part, error);
    if (ok)
        litho_run_partial(run, part);
    litho_cube_unref(part);
    return ok;
}

// What a watcher sees grow: one entry per iteration so far.
typedef struct Iterations {
    double *x, *level, *change, *cr, *snr;
    int n;
} Iterations;

static Iterations iterations_new(int most)
{
    Iterations i = {g_new0(double, most), g_new0(double, most), g_new0(double, most),
                    g_new0(double, most), g_new0(double, most), 0};
    return i;
}

static void iterations_free(Iterations *i)
{
    double *all[] = {i->x, i->level, i->change, i->cr, i->snr};
    for (guint k = 0; k < G_N_ELEMENTS(all); k++)
        g_free(all[k]);
}

static void report_iterations(const WpJob *job, const Iterations *i, LithoRun *run)
{
    LithoReport *r = run ? run->report : NULL;
    const struct {
        const char *key, *label, *unit, *group;
        const double *y;
        gboolean log_y;
    } curves[] = {
        {"pocs_threshold", "Threshold per iteration", "multiple of sigma_b", "pocs", i->level, TRUE},
        {"pocs_change", "Change per iteration", "relative L2", "pocs", i->change, TRUE},
        {"pocs_cr", "Kept coefficients / samples", "CR", "", i->cr, TRUE},
        {"pocs_snr", "SNR on the recorded traces", "dB", "", i->snr, FALSE},
    };
    if (!r)
        return;
    for (guint k = 0; k < G_N_ELEMENTS(curves); k++) {
        litho_report_curve(r, curves[k].key, curves[k].label, "iteration", curves[k].unit, i->n,
                           i->x, curves[k].y);
        litho_report_curve_style(r, curves[k].key, curves[k].group, curves[k].label, FALSE,
                                 curves[k].log_y, FALSE);
    }
    litho_report_number(r, "iteration", "Iterations done", "", i->n);
    litho_report_number(r, "snr_recorded", "SNR of the packets on the recorded traces", "dB",
                        i->snr[i->n - 1]);
    wp_report_threshold(job->counts, "|c| / sigma_b", i->level[i->n - 1], run);
    wp_report_kept(job, run);
}

// How well the packets alone, z = job->w, explain what was recorded. job->x is scratch.
static gboolean recorded_snr(WpJob *job, const float *dead, gint64 traces, double *snr,
                             GError **error)
{
    const WpEngineClass *k = job->engine->class;
    double misfit;
    // The volume is zero on dead traces: inserting it there clears them.
    if (!wp_job_reserve(job, &job->x, job->samples, error) ||
        !k->blend(job->engine, 1, job->w, 0, job->x, job->samples, error) ||
        !k->blend(job->engine, -1, job->volume, 1, job->x, job->samples, error) ||
        !k->insert(job->engine, job->volume, dead, job->x, traces, job->n[2], error) ||
        !k->dot(job->engine, job->x, job->x, job->samples, &misfit, error))
        return FALSE;
    *snr = misfit > 0 && job->input_energy > 0 ? 10 * log10(job->input_energy / misfit) : 0;
    return TRUE;
}

// Projection onto convex sets: v = d; repeat  z = A* hard(A v, T_i),  v = z outside the recorded
// traces and d (or a blend, `trust` < 1) on them. T_i falls geometrically from just below the
// largest coefficient, in units of sigma_b: strong events are filled first, and what they explain
// no longer leaks into the gaps.
gboolean wp_interpolate(WpJob *job, const LithoWavepacketParams *p, const LithoCube *in,
                        LithoRun *run, GError **error)
{
    const WpEngineClass *k = job->engine->class;
    const gint64 traces = litho_grid_traces(&job->grid);
    g_autofree float *mask = g_new(float, traces), *dead = g_new(float, traces);
    gint64 live = 0;
    for (gint64 t = 0; t < traces; t++) {
        mask[t] = in->live[t] ? (float)p->trust : 0;
        dead[t] = in->live[t] ? 0 : 1;
        live += in->live[t] != 0;
    }
    if (!wp_job_reserve(job, &job->d, job->geometry->floats, error) ||
        !wp_job_reserve(job, &job->w, job->samples, error) ||
        !k->blend(job->engine, 1, job->volume, 0, job->result, job->samples, error))
        return FALSE;
    if (run)
        litho_report_number(run->report, "missing", "Missing traces", "%",
                            100.0 * (traces - live) / traces);
    Iterations done = iterations_new(p->iterations);
    gboolean ok = TRUE;
    for (int it = 0; it < p->iterations && ok; it++) {
        const double t = p->iterations > 1 ? (double)it / (p->iterations - 1) : 1;
        const double threshold = 0.99 * job->peak * pow(p->floor, t);
        double norm = 0, snr = 0;
        g_autofree float *level = wp_levels(job, threshold);
        const WpRule rule = {.level = level};
        litho_run_begin(run, "iterations", "iterations");
        wp_job_forget_kept(job);
        ok = litho_run_step(run, it, p->iterations, error) &&
             project(job, it ? job->result : NULL, &rule, job->w, run, error) &&
             (!run || !run->report || recorded_snr(job, dead, traces, &snr, error)) &&
             k->insert(job->engine, job->volume, mask, job->w, traces, job->n[2], error) &&
             k->blend(job->engine, 1, job->w, -1, job->result, job->samples, error) &&
             k->dot(job->engine, job->result, job->result, job->samples, &norm, error) &&
             k->blend(job->engine, 1, job->w, 0, job->result, job->samples, error);
        if (!ok)
            break;
        done.x[it] = it + 1;
        done.level[it] = threshold;
        done.change[it] = job->input_energy > 0 ? sqrt(norm / job->input_energy) : 0;
        done.cr[it] = (double)wp_job_kept(job) / (double)job->samples;
        done.snr[it] = snr;
        done.n = it + 1;
        report_iterations(job, &done, run);
        ok = publish(job, in, job->result, run, error);
    }
    iterations_free(&done);
    return ok;
}
