// SPDX-License-Identifier: GPL-3.0-or-later
//
// Missing traces. Zeros in their place would spread every event over the packets of all positions
// and directions: the threshold then takes from the events, and what it leaves of the zeros' own
// packets is error. Guesses stand in for them (gaps.h) while coefficients are judged; the traces
// come back dead. Filling (mode=interpolate) begins with zeros, which it replaces itself.
//
// Bursts and spikes (erratic.h) would pass every threshold, raise the noise's level, and spread
// into the traces that are filled: guesses take their place, too, and filling puts them back at its
// end. The other modes show or keep what is recorded.
#include "core/text.h"
#include "kernels/common/alone.h"
#include "kernels/common/gaps.h"
#include "kernels/wavepacket/apply.h"

// Recorded traces with fewer others within REACH stand alone: seven traces from a recorded half of
// a survey and thirteen from one another they kept 1 % of their energy, 10 dB above the noise.
// Traces six apart gain 2 to 6 dB.
enum { REACH = 6, FEWEST = 2 };

gboolean wp_guesses(const LithoWavepacketParams *p)
{
    return p->mode == WP_DENOISE || p->mode == WP_COMPRESS;
}

LithoCleanRule wp_clean_rule(const LithoWavepacketParams *p, LithoCleanMissing missing)
{
    const gboolean finds = p->mode == WP_DENOISE || p->mode == WP_INTERPOLATE;
    return (LithoCleanRule){
        .above = finds ? p->erratic : 0, .missing = missing, .spare_events = TRUE};
}

LithoBox wp_guess_box(const LithoGrid *survey, const LithoWavepacketParams *p, LithoBox box)
{
    return wp_guesses(p) ? litho_clean_box(survey, wp_clean_rule(p, LITHO_CLEAN_GUESSED), box)
                         : box;
}

const LithoCube *wp_clean(WpJob *job, const LithoWavepacketParams *p, const LithoCube *in,
                          LithoRun *run, GError **error)
{
    const LithoCleanRule rule = wp_gains_clean_rule(
        job->gains.of, job->gains.stamp,
        wp_clean_rule(p, p->mode == WP_INTERPOLATE ? LITHO_CLEAN_ABSENT : LITHO_CLEAN_BESIDE));
    const WpEngineClass *k = job->engine->class;
    const gboolean looks = rule.above > 0 || rule.share;
    if (looks && k->clean)
        return k->clean(job->engine, &job->clean, rule, in, run, error);
    if (looks && !litho_cube_host(in, error))
        return NULL;
    return litho_clean(&job->clean, rule, in, run, error);
}

gboolean wp_guess(const LithoWavepacketParams *p, const LithoCube *in, LithoBox box,
                  WpEngine *engine, LithoCube **guessed, LithoRun *run, GError **error)
{
    *guessed = NULL;
    if (!wp_guesses(p) || !litho_gaps_any(in, box))
        return TRUE;
    if (engine && engine->class->guess && litho_box_equal(box, in->held))
        return (*guessed = engine->class->guess(engine, in, run, error)) != NULL;
    if (!litho_cube_host(in, error))
        return FALSE;
    g_autoptr(LithoCube) cube = litho_cube_copy_box(in, box, error);
    if (!cube || !litho_gaps_guess(cube, NULL, (LithoGapsRule){0}, run, error))
        return FALSE;
    *guessed = g_steal_pointer(&cube);
    return TRUE;
}

gboolean wp_bury(WpJob *job, const LithoCube *in, GError **error)
{
    const gint64 traces = litho_grid_traces(&job->grid);
    if (litho_cube_count_live(in) == traces)
        return TRUE;
    float *dead = wp_mask_new(job, in, 0, 1, error);
    const gboolean ok =
        dead && job->engine->class->insert(job->engine, NULL, dead, job->result, traces, job->n[2],
                                           error);
    job->engine->class->release(job->engine, dead);
    return ok;
}

gboolean wp_alone(const LithoCube *in, LithoBox window, guint8 **alone, GError **error)
{
    const LithoAround around = {.half = {REACH, REACH}, .fewest = FEWEST};
    return litho_alone(in, window, around, alone, error);
}

gboolean wp_any_alone(WpJob *job, const LithoCube *in, gboolean *any, GError **error)
{
    if (job->alone_of != in->serial) {
        g_autofree guint8 *alone = NULL;
        if (!wp_alone(in, job->window, &alone, error))
            return FALSE;
        job->alone_of = in->serial;
        job->alone = alone != NULL;
    }
    *any = job->alone;
    return TRUE;
}

gboolean wp_leave_alone(WpJob *job, const LithoWavepacketParams *p, const LithoCube *in,
                        LithoRun *run, GError **error)
{
    const WpEngineClass *k = job->engine->class;
    const LithoBox window = job->window;
    g_autofree guint8 *alone = NULL;
    if (p->mode != WP_DENOISE)
        return TRUE;
    if (!wp_alone(in, window, &alone, error))
        return FALSE;
    if (!alone)
        return TRUE;
    if (!k->wait(job->engine, error) || !litho_cube_host(in, error))
        return FALSE;
    for (gint64 il = window.lo[0]; il < window.hi[0]; il++)
        for (gint64 xl = window.lo[1]; xl < window.hi[1]; xl++) {
            const gint64 to = ((il - window.lo[0]) * job->n[1] + xl - window.lo[1]) * job->n[2];
            const float *trace = litho_cube_trace(in, il, xl) + window.lo[2] - in->held.lo[2];
            if (alone[litho_cube_trace_index(in, il, xl)] &&
                !k->upload(job->engine, trace, job->result, to, job->n[2], error))
                return FALSE;
        }
    if (run)
        litho_report_remark(run->report,
                            "wavepacket: recorded traces with fewer than %d recorded ones within "
                            "%d traces stay as they are",
                            FEWEST, REACH);
    return TRUE;
}
