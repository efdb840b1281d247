// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "kernels/wavepacket/apply.h"
#include "kernels/wavepacket/coefficients.h"
#include "kernels/wavepacket/local.h"

typedef struct Filter {
    const WpRule *rule;
    int corrections;
} Filter;

// The coarse box's windows hold all of an event's lowest wavenumbers, most of them little above the
// noise: 0.5 to 0.6 times the threshold of other boxes is best on every kind of cube, in white
// noise and in that of low frequency.
static const double COARSE_THRESHOLD = 0.55;

// Coefficients of a block that the rule leaves, in lane->d.
static gboolean shrink_block(WpLane *lane, const float *c, const WpRule *rule, GError **error)
{
    return wp_reserve(lane->engine, &lane->d, WP_COEFFICIENTS, error) &&
           wp_shrink_all(lane->engine, c, lane->d, rule, lane->kept, lane->run, error);
}

// The part of a block that the rule leaves, as samples.
static gboolean filter_block(WpJob *job, WpLane *lane, int b, gpointer data, GError **error)
{
    const Filter *f = data;
    const float *c = wp_lane_coefficients(job, lane, b, error);
    if (!c || !shrink_block(lane, c, f->rule, error) ||
        !wp_places_weigh(job, lane, b, FALSE, lane->d, error))
        return FALSE;
    float *u = wp_lane_target(job, lane, error);
    return u && wp_lane_invert(job, lane, lane->d, u, f->corrections, error) &&
           wp_lane_paste(job, lane, u, b, error) && wp_ask_sigma_late(job, error);
}

// result = sum_b g_b A* rule(A g_b volume): thresholding of all blocks with the same levels.
static gboolean filter_blocks(WpJob *job, Filter filter, LithoRun *run, GError **error)
{
    const WpWork work = {.stage = "inverse",
                         .from = job->volume,
                         .to = job->result,
                         .each = filter_block,
                         .data = &filter};
    return wp_lanes_work(job, &work, run, error);
}

static gboolean take_dropped_off(WpJob *job, GError **error)
{
    return job->engine->class->blend(job->engine, 1, job->volume, -1, job->result, job->samples,
                                     error);
}

// result = volume - sum_b g_b A* (1 - rule)(A g_b volume): that of filter_blocks(), but for the
// error of the inverse, which takes a part of the noise here and leaves the events.
static gboolean drop_blocks(WpJob *job, Filter filter, LithoRun *run, GError **error)
{
    g_assert(filter.rule->drops);
    return filter_blocks(job, filter, run, error) && take_dropped_off(job, error);
}

// Limits in the windows of `box`, k times the noise. A threshold that moves scales what is known.
static float *local_limits(WpJob *job, const WpBox *box, const LithoNoise *noise, double sigma,
                           double k, const LithoRun *run)
{
    const double *powers = wp_noise_powers(job, box, noise, litho_run_threads(run));
    return wp_local_limits(powers, noise ? k : k * sigma);
}

// Rule of a pass, and the arrays that it borrows.
typedef struct Dropping {
    WpRule rule;
    float *level, *in_residual, *in_coarse;
} Dropping;

static void dropping_clear(Dropping *d)
{
    g_free(d->level);
    g_free(d->in_residual);
    g_free(d->in_coarse);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Dropping, dropping_clear)

// Deviation of the noise that the pass goes by, which is known; *measured: of each frequency.
static double sigma_of(WpJob *job, const LithoWavepacketParams *p, gboolean *measured)
{
    *measured = !(p->sigma > 0) && job->noise.n > 0;
    return p->sigma > 0 ? p->sigma : *measured ? job->noise.total : wp_job_sigma(job);
}

static gboolean make_rule(WpJob *job, const LithoPass *pass, LithoRun *run, Dropping *d,
                          GError **error)
{
    const LithoWavepacketParams *p = pass->params;
    gboolean measured;
    if (!(p->sigma > 0) && (!wp_know_noise(job, pass, run, error) ||
                            (job->noise.n == 0 && !wp_ask_sigma_late(job, error))))
        return FALSE;
    const double sigma = sigma_of(job, p, &measured);
    d->level = measured ? wp_noise_levels(job, p->threshold, litho_run_threads(run))
                        : wp_levels(job, p->threshold * sigma);
    const LithoNoise *noise = measured ? &job->noise : NULL;
    const WpBox *residual = wp_residual(job->geometry), *coarse = &job->geometry->boxes[0];
    const gboolean windows = p->threshold > 0;
    if (windows && residual)
        d->in_residual = local_limits(job, residual, noise, sigma, p->threshold, run);
    if (windows)
        d->in_coarse =
            local_limits(job, coarse, noise, sigma, COARSE_THRESHOLD * p->threshold, run);
    if (residual)
        d->level[job->geometry->n_boxes - 1] *= (float)job->real;
    if (d->in_coarse)
        d->level[0] = G_MAXFLOAT; // what stays comes from its windows
    d->rule = (WpRule){.level = d->level,
                       .soft = p->rule == 1,
                       .drops = TRUE,
                       .local = d->in_residual,
                       .coarse = d->in_coarse};
    return TRUE;
}

void wp_denoise_report(WpJob *job, const LithoPass *pass, LithoRun *run)
{
    const LithoWavepacketParams *p = pass->params;
    gboolean measured;
    if (!wp_ask_sigma_late(job, NULL)) // slices alone have not asked
        return;
    const double sigma = sigma_of(job, p, &measured);
    wp_report_threshold(job->counts, _("coefficient, × noise of its box"), p->threshold * sigma,
                        run);
    if (run) {
        litho_report_number(run->report, "sigma", "Noise level (standard deviation)", "", sigma);
        if (!(p->sigma > 0))
            litho_report_used(run->report, "wavepacket", "sigma", sigma);
        litho_report_number(run->report, "sigma_estimated", "Noise level, estimated", "",
                            wp_job_sigma(job));
        wp_places_report(job, run->report);
        litho_clean_report(&job->clean, pass->in, run->report);
    }
    wp_report_kept(job, run);
}

typedef struct Begin {
    const WpRule *rule;
    const WpPlane *planes;
    int n;
} Begin;

// The planes are asked for with it: they do not wait until the host has seen its end.
static gboolean begin_block(WpJob *job, WpLane *lane, int b, gpointer data, GError **error)
{
    const Begin *begin = data;
    const WpEngineClass *k = lane->engine->class;
    const float *c = wp_lane_coefficients(job, lane, b, error);
    return c && shrink_block(lane, c, begin->rule, error) &&
           wp_places_weigh(job, lane, b, FALSE, lane->d, error) &&
           k->begin_adjoint(lane->engine, lane->d, lane->run, error) &&
           k->planes(lane->engine, lane->d, begin->planes, begin->n, lane->run, error);
}

gboolean wp_denoise_begin(WpJob *job, const LithoPass *pass, const WpPlane *planes, int n,
                          LithoRun *run, GError **error)
{
    g_auto(Dropping) d = {0};
    if (!make_rule(job, pass, run, &d, error))
        return FALSE;
    Begin begin = {&d.rule, planes, n};
    const WpWork work = {
        .stage = "inverse", .from = job->volume, .each = begin_block, .data = &begin};
    job->begun = wp_lanes_work(job, &work, run, error);
    return job->begun;
}

static gboolean end_block(WpJob *job, WpLane *lane, int b, gpointer data, GError **error)
{
    (void)data;
    float *u = wp_lane_target(job, lane, error);
    return u && lane->engine->class->end_adjoint(lane->engine, lane->d, u, lane->run, error) &&
           wp_lane_paste(job, lane, u, b, error);
}

// Makes the part that is dropped, from where wp_denoise_begin() has come to; counts of there stay.
static gboolean end_dropped(WpJob *job, LithoRun *run, GError **error)
{
    const gsize bytes = job->geometry->n_boxes * sizeof *job->kept;
    const WpWork work = {
        .stage = "inverse", .from = job->volume, .to = job->result, .each = end_block};
    g_autofree guint64 *kept = g_memdup2(job->kept, bytes);
    const gboolean ok = wp_lanes_work(job, &work, run, error);
    memcpy(job->kept, kept, bytes);
    return ok;
}

static gboolean drop(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error)
{
    const LithoWavepacketParams *p = pass->params;
    g_auto(Dropping) d = {0};
    if (job->begun) {
        job->begun = FALSE; // it is used up
        return end_dropped(job, run, error) && take_dropped_off(job, error);
    }
    return make_rule(job, pass, run, &d, error) &&
           drop_blocks(job, (Filter){&d.rule, p->corrections}, run, error);
}

gboolean wp_denoise(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error)
{
    if (!drop(job, pass, run, error) || !wp_places_end(job, error))
        return FALSE;
    wp_denoise_report(job, pass, run);
    return TRUE;
}

gboolean wp_reads_file(const LithoWavepacketParams *p)
{
    return p->mode == WP_RECONSTRUCT && p->coefficients.text[0] != '\0';
}

gboolean wp_reconstruct(WpJob *job, const LithoWavepacketParams *p, LithoRun *run, GError **error)
{
    g_autofree float *level = wp_levels(job, 0);
    const WpRule rule = {.level = level};
    if (wp_reads_file(p)) {
        if (!wp_coefficients_expand(job, p->coefficients.text, p->corrections, run, error))
            return FALSE;
    } else if (!filter_blocks(job, (Filter){&rule, p->corrections}, run, error)) {
        return FALSE;
    }
    wp_report_kept(job, run);
    return TRUE;
}

// --- interpolation -------------------------------------------------------------------------------

typedef struct Step {
    const WpRule *rule;
    gboolean known; // the coefficients of the forward stage are those of this step
} Step;

static gboolean project_block(WpJob *job, WpLane *lane, int b, gpointer data, GError **error)
{
    const Step *step = data;
    const WpEngineClass *k = lane->engine->class;
    if (!wp_reserve(lane->engine, &lane->d, WP_COEFFICIENTS, error))
        return FALSE;
    const float *c = lane->d;
    if (step->known) {
        c = wp_lane_coefficients(job, lane, b, error);
        if (!c)
            return FALSE;
    } else {
        const float *u = wp_lane_cut(job, lane, b, error);
        if (!u || !k->forward(lane->engine, u, lane->d, lane->run, error))
            return FALSE;
    }
    if (!k->shrink(lane->engine, c, c, lane->d, step->rule, lane->kept, error))
        return FALSE;
    float *u = wp_lane_target(job, lane, error);
    return u && k->adjoint(lane->engine, lane->d, u, lane->run, error) &&
           wp_lane_paste(job, lane, u, b, error);
}

// One step: z = sum_b g_b A* hard(A g_b v).
static gboolean project(WpJob *job, const float *v, const WpRule *rule, float *z, LithoRun *run,
                        GError **error)
{
    Step step = {rule, v == job->volume};
    const WpWork work = {
        .stage = "iterations", .from = v, .to = z, .each = project_block, .data = &step};
    return wp_lanes_work(job, &work, run, error);
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

// Curves that a watcher sees grow: one entry per iteration so far.
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
        {"pocs_threshold", _("Threshold per iteration"), _("× noise of the box"), "pocs", i->level,
         TRUE},
        {"pocs_change", _("Change per iteration"), _("relative L2"), "pocs", i->change, TRUE},
        {"pocs_cr", _("Kept coefficients / samples"), "CR", "", i->cr, TRUE},
        {"pocs_snr", _("SNR on the recorded traces"), "dB", "", i->snr, FALSE},
    };
    if (!r)
        return;
    for (guint k = 0; k < G_N_ELEMENTS(curves); k++) {
        litho_report_curve(r, curves[k].key, curves[k].label, N_("iteration"), curves[k].unit, i->n,
                           i->x, curves[k].y);
        litho_report_curve_style(r, curves[k].key, curves[k].group, curves[k].label, FALSE,
                                 curves[k].log_y, FALSE);
    }
    litho_report_number(r, "iteration", "Iterations done", "", i->n);
    litho_report_number(r, "snr_recorded", "SNR of the packets on the recorded traces", "dB",
                        i->snr[i->n - 1]);
    wp_report_threshold(job->counts, _("coefficient, × noise of its box"), i->level[i->n - 1], run);
    wp_report_kept(job, run);
}

// Arrays of one run of iterations, in the engine's memory.
typedef struct Pocs {
    const LithoWavepacketParams *params;
    const LithoCube *in;
    float *live, *trust; // per trace: 1 or 0, `trust` or 0
    float *noise;        // per box: level at which the falling threshold stops
    Iterations done;
} Pocs;

static gboolean pocs_init(WpJob *job, Pocs *p, GError **error)
{
    p->live = wp_mask_new(job, p->in, 1, 0, error);
    p->trust = p->live ? wp_mask_new(job, p->in, p->params->trust, 0, error) : NULL;
    p->done = iterations_new(p->params->iterations);
    return p->trust && wp_reserve(job->engine, &job->work, job->samples, error);
}

static void pocs_clear(WpJob *job, Pocs *p)
{
    job->engine->class->release(job->engine, p->live);
    job->engine->class->release(job->engine, p->trust);
    g_free(p->noise);
    iterations_free(&p->done);
}

static double decibels(double signal, double misfit)
{
    return misfit > 0 && signal > 0 ? 10 * log10(signal / misfit) : 0;
}

// Over-relaxation: a step goes further than the projection, as in successive projections with
// relaxation (Youla and Webb, 1982), but for the last one. 30 steps fill three quarters of the
// traces as well as 100 projections do.
#define OVER 1.8

// One iteration: v of the one before is in job->result (the volume itself at first), and so is the
// new one in the end.
static gboolean iterate(WpJob *job, Pocs *p, LithoRun *run, GError **error)
{
    const WpEngineClass *k = job->engine->class;
    const gint64 traces = litho_grid_traces(&job->grid), n3 = job->n[2];
    const int it = p->done.n, last = p->params->iterations - 1;
    const double t = last > 0 ? (double)it / last : 1;
    const double threshold = 0.99 * job->peak * pow(p->params->floor, t);
    const float *v = it ? job->result : job->volume;
    const double step = it < last ? OVER : 1;
    double change = 0, misfit = 0;
    g_autofree float *level = wp_levels(job, threshold);
    const WpRule rule = {.level = level};
    for (int b = 0; p->noise && b < job->geometry->n_boxes; b++)
        level[b] = MAX(level[b], p->noise[b]);
    if (!project(job, v, &rule, job->work, run, error) ||
        // Misfit of the packets alone against the recorded traces.
        (run && run->report &&
         !k->distance(job->engine, job->work, job->volume, p->live, traces, n3, &misfit, error)) ||
        !k->blend(job->engine, 1 - step, v, step, job->work, job->samples, error) ||
        !k->insert(job->engine, job->volume, p->trust, job->work, traces, n3, error) ||
        !k->distance(job->engine, job->work, v, NULL, traces, n3, &change, error))
        return FALSE;
    float *fresh = job->work;
    job->work = job->result;
    job->result = fresh;
    p->done.x[it] = it + 1;
    p->done.level[it] = threshold;
    p->done.change[it] = job->input_energy > 0 ? sqrt(change / job->input_energy) : 0;
    p->done.cr[it] = (double)wp_job_kept(job) / (double)job->samples;
    p->done.snr[it] = decibels(job->input_energy, misfit);
    p->done.n++;
    report_iterations(job, &p->done, run);
    return publish(job, p->in, job->result, run, error);
}

// Filling stops at less than the threshold that removes noise, as patch does.
static const double FILL_THRESHOLD = 0.8;

// The threshold's levels, times the cube root of the share of recorded traces: guesses hold no
// noise. None where no level can be told.
static gboolean stop_at_noise(WpJob *job, Pocs *p, const LithoPass *pass, LithoRun *run,
                              GError **error)
{
    const gint64 traces = litho_grid_traces(&job->grid), live = litho_cube_count_live(p->in);
    const double share = cbrt((double)live / (double)traces), sigma = p->params->sigma;
    const double k = FILL_THRESHOLD * p->params->threshold * share;
    if (!(sigma > 0) && !wp_know_noise(job, pass, run, error))
        return FALSE;
    if (sigma > 0)
        p->noise = wp_levels(job, k * sigma);
    else if (job->noise.n > 0)
        p->noise = wp_noise_levels(job, k, litho_run_threads(run));
    if (p->noise && wp_residual(job->geometry)) // its coefficients are real: WpJob.real
        p->noise[job->geometry->n_boxes - 1] *= (float)G_SQRT2;
    if (run && p->noise)
        litho_report_number(run->report, "sigma", "Noise level (standard deviation)", "",
                            sigma > 0 ? sigma : job->noise.total);
    return TRUE;
}

// Bursts that were left out come back: recorded traces are as they were recorded.
static gboolean put_back(WpJob *job, const Pocs *p, const LithoPass *pass, LithoRun *run,
                         GError **error)
{
    const WpEngineClass *k = job->engine->class;
    if (run)
        litho_clean_report(&job->clean, pass->in, run->report);
    if (p->params->trust < 1 || !job->clean.cube)
        return TRUE;
    return k->load(job->engine, pass->in, job->work, run, error) &&
           k->insert(job->engine, job->work, p->live, job->result, litho_grid_traces(&job->grid),
                     job->n[2], error);
}

// Projection onto convex sets: v = d; repeat  z = A* hard(A v, T_i),  v = z outside the recorded
// traces and d (or a blend, `trust` < 1) on them. T_i falls geometrically from just below the
// largest coefficient, in units of sigma_b: strong events are filled first, and what they explain
// no longer leaks into the gaps. It stops at the noise, which has no place in traces that are
// guessed.
gboolean wp_interpolate(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error)
{
    const LithoWavepacketParams *params = pass->params;
    const LithoCube *in = pass->in;
    const gint64 traces = litho_grid_traces(&job->grid), live = litho_cube_count_live(in);
    Pocs p = {.params = params, .in = in};
    gboolean ok = pocs_init(job, &p, error) && stop_at_noise(job, &p, pass, run, error);
    if (run)
        litho_report_number(run->report, "missing", "Missing traces", "%",
                            100.0 * (double)(traces - live) / (double)traces);
    while (ok && p.done.n < params->iterations)
        ok = litho_run_step(run, p.done.n, params->iterations, error) &&
             iterate(job, &p, run, error);
    ok = ok && put_back(job, &p, pass, run, error);
    pocs_clear(job, &p);
    return ok;
}
