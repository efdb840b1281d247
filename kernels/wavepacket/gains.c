// SPDX-License-Identifier: GPL-3.0-or-later
//
// Gains of traces: packets are made of traces over their gains (kernels/common/gains.h), and the
// result is multiplied by them. The pass below knows nothing of them: its input is another cube.
#include "kernels/common/alone.h"
#include "kernels/wavepacket/apply.h"

gboolean wp_gains_asked(const LithoWavepacketParams *p)
{
    return p->balance == WP_BALANCE_AUTO && p->mode == WP_DENOISE && !(p->sigma > 0);
}

guint64 wp_gains_bytes(const LithoGrid *in, const LithoWavepacketParams *p, LithoBox box)
{
    return wp_gains_asked(p) ? litho_gains_bytes(in, box) : 0;
}

LithoCleanRule wp_gains_clean_rule(LithoUneven of, guint64 stamp, LithoCleanRule rule)
{
    rule.share = of.share;
    rule.share_of = of.share ? stamp : 0;
    return rule;
}

// Sets the pass's input to the one over its gains, where these differ. FALSE: cancelled, or a
// failure.
static gboolean over_gains(WpJob *job, LithoPass *pass, LithoRun *run, GError **error)
{
    const LithoGainsFrom from = {pass->measured, wp_gains_from_measured};
    const WpEngineClass *k = job->engine->class;
    // A part of a survey of which nothing was measured tells nothing.
    const gboolean told =
        pass->measured || litho_box_equal(pass->in->held, litho_box_full(&job->survey));
    job->as_recorded = pass->in;
    if (!wp_gains_asked(pass->params) || !told) {
        litho_gains_clear(&job->gains);
        return TRUE;
    }
    if (!k->attach(job->engine, error))
        return FALSE;
    pass->in = k->over_gains ? k->over_gains(job->engine, &job->gains, pass->in, from, run, error)
                             : litho_gains_divide(&job->gains, pass->in, NULL, from, run, error);
    return pass->in != NULL;
}

// Of the survey's traces; those that stand alone in the window came into the result as they were
// recorded.
static gboolean factors(const WpJob *job, float **by, GError **error)
{
    const LithoBox w = job->window;
    const LithoCube *in = job->as_recorded;
    const gint64 nx = job->survey.axis[1].n;
    g_autofree guint8 *alone = NULL;
    if (!wp_alone(in, w, &alone, error))
        return FALSE;
    *by = g_memdup2(job->gains.of.gain, litho_grid_traces(&job->survey) * sizeof **by);
    for (gint64 il = w.lo[0]; alone && il < w.hi[0]; il++)
        for (gint64 xl = w.lo[1]; xl < w.hi[1]; xl++)
            if (alone[litho_cube_trace_index(in, il, xl)])
                (*by)[il * nx + xl] = 1;
    return TRUE;
}

// The pass's output times the gains, and what is told of them.
static gboolean times_gains(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error)
{
    const WpEngineClass *k = job->engine->class;
    const LithoBox box = litho_box_intersect(pass->out->held, job->window);
    g_autofree float *by = NULL;
    if (run)
        litho_gains_report(&job->gains, "wavepacket", &job->survey, run->report);
    if (!job->gains.of.gain)
        return TRUE;
    if (!factors(job, &by, error))
        return FALSE;
    if (!pass->out->samples)
        return k->times_gains(job->engine, by, pass->out, box, error);
    litho_balance_multiply(pass->out, box, by, run);
    return TRUE;
}

gboolean wp_job_run(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error)
{
    LithoPass over = *pass;
    return over_gains(job, &over, run, error) && wp_job_run_over(job, &over, run, error) &&
           times_gains(job, pass, run, error);
}

// --- a survey part by part -----------------------------------------------------------------------

static LithoCube *read_over(const LithoBox *box, LithoRun *run, gpointer data, GError **error)
{
    const WpReader *r = data;
    g_autoptr(LithoCube) raw = r->survey->read(box, run, r->survey->data, error);
    if (!raw || !r->of.gain)
        return g_steal_pointer(&raw);
    return litho_cube_host(raw, error) ? litho_balance_divide(raw, r->of.gain, run, error) : NULL;
}

gboolean wp_reader_begin(WpReader *r, const LithoWavepacketParams *p, const LithoReader *survey,
                         LithoRun *run, GError **error)
{
    *r = (WpReader){.survey = survey};
    r->over =
        (LithoReader){.grid = survey->grid, .bytes = survey->bytes, .read = read_over, .data = r};
    return !wp_gains_asked(p) || litho_gains_read(survey, run, &r->of, error);
}

void wp_reader_end(WpReader *r)
{
    litho_uneven_clear(&r->of);
}
