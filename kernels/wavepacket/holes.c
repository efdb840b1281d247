// SPDX-License-Identifier: GPL-3.0-or-later
//
// Missing traces. Zeros in their place would spread every event over the packets of all positions
// and directions: the threshold then takes from the events, and what it leaves of the zeros' own
// packets is error. Guesses stand in for them (gaps.h) while coefficients are judged; the traces
// come back dead. Filling (mode=interpolate) begins with zeros, which it replaces itself.
#include "core/error.h"
#include "kernels/common/gaps.h"
#include "kernels/wavepacket/apply.h"

gboolean wp_guesses(const LithoWavepacketParams *p)
{
    return p->mode == WP_DENOISE || p->mode == WP_COMPRESS;
}

LithoBox wp_guess_box(const LithoGrid *survey, const LithoWavepacketParams *p, LithoBox box)
{
    static const gint64 reach[3] = {LITHO_GAPS_TRACES, LITHO_GAPS_TRACES, LITHO_GAPS_SAMPLES};
    return wp_guesses(p) ? litho_box_grow(survey, box, reach) : box;
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
    if (!cube || !litho_gaps_guess(cube, NULL, run, error))
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
