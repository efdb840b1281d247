// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/loudness.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"

static void range_of(const LithoStep *step, float *faintest, float *loudest)
{
    *faintest = step->op->faintest;
    *loudest = step->op->loudest;
    if (step->op->range)
        step->op->range(step->params, faintest, loudest);
}

gboolean litho_loudness_check(const LithoFlow *flow, float loudest, float loudness, GError **error)
{
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        float least, most;
        if (!step->enabled)
            continue;
        if (!step->op->needs_input || step->op->own_amplitudes)
            return TRUE;
        range_of(step, &least, &most);
        const gboolean faint = loudest > 0 && loudest < least;
        if (!faint && (most <= 0 || loudness <= most))
            continue;
        const double found = faint ? loudest : loudness;
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                    _("the input's samples reach about %.0e; %s is right between %.0e and %.0e: "
                      "'lithoscope-cli convert --scale %.0e' brings them there"),
                    found, step->op->key, least, most, 1 / found);
        return FALSE;
    }
    return TRUE;
}

// --- a cube in memory ---------------------------------------------------------------------------

// Exponent of a trace's largest finite magnitude, -1 = all are zero.
static int exponent_of(const float *trace, gint64 n)
{
    guint32 most = 0;
    for (gint64 t = 0; t < n; t++) {
        guint32 bits;
        memcpy(&bits, trace + t, sizeof bits);
        bits &= 0x7fffffff;
        most = MAX(most, bits < 0x7f800000 ? bits : 0);
    }
    return most > 0 ? (int)(most >> 23) : -1;
}

// Reading a survey does it alike (io/survey_read.c).
static void weigh(LithoCube *cube)
{
    const gint64 traces = litho_box_size(cube->held, 0) * litho_box_size(cube->held, 1);
    const gint64 n = litho_box_size(cube->held, 2);
    gint64 loud[256] = {0}, live = 0, below = 0;
    float most = 0;
    for (gint64 k = 0; k < traces; k++) {
        const int e = cube->live[k] ? exponent_of(cube->samples + k * n, n) : -1;
        if (e < 0)
            continue;
        loud[e]++;
        live++;
        most = MAX(most, ldexpf(1, e - 127));
    }
    for (int e = 0; e < 256 && live > 0; e++) {
        below += loud[e];
        if (2 * below >= live) {
            cube->loudness = ldexpf(1, e - 127);
            break;
        }
    }
    cube->loudest = most;
}

gboolean litho_loudness_check_cube(const LithoFlow *flow, const LithoCube *cube, GError **error)
{
    const gboolean all = litho_box_equal(cube->held, litho_box_full(&cube->grid));
    LithoCube *own = (LithoCube *)cube; // what it holds stays as it is
    g_mutex_lock(&own->device_lock);
    if (all && own->loudest <= 0 && own->samples)
        weigh(own);
    const float loudest = own->loudest, loudness = own->loudness;
    g_mutex_unlock(&own->device_lock);
    return litho_loudness_check(flow, all ? loudest : 0, loudness, error);
}

gboolean litho_loudness_check_masked(const LithoSurvey *survey, float loudest, GError **error)
{
    const LithoSurveyCounts c = litho_survey_counts(survey);
    const gboolean is_empty = c.missing == litho_grid_traces(litho_survey_grid(survey));
    if (loudest > 0 || (c.masked <= c.zero + c.flat && !is_empty))
        return TRUE;
    return litho_refuse(error, LITHO_ERROR_FORMAT,
                        "no trace has samples to work with: all hold NaN, infinite or null (1e30) "
                        "ones; --format and --endian tell how a file is read");
}

// --- a survey in slabs --------------------------------------------------------------------------

static gboolean gather(LithoPeers *peers, float *loudest, LithoRun *run, GError **error)
{
    if (peers->rank > 0)
        return litho_peers_send(peers, loudest, sizeof *loudest, 0, run, error);
    for (int from = 1; from < peers->n; from++) {
        float theirs = 0;
        if (!litho_peers_receive(peers, &theirs, sizeof theirs, from, run, error))
            return FALSE;
        *loudest = MAX(*loudest, theirs);
    }
    return TRUE;
}

gboolean litho_loudness_check_slabs(const LithoFlow *flow, LithoSurvey *survey, float loudest,
                                    LithoPeers *peers, gint64 kept, gint64 at_once, LithoRun *run,
                                    gboolean *refused, GError **error)
{
    *refused = FALSE;
    if (!survey)
        return TRUE;
    if (peers && !gather(peers, &loudest, run, error))
        return FALSE;
    if (peers && peers->rank > 0)
        return TRUE;
    for (gint64 lo = 0; lo < kept && !litho_loudness_check(flow, loudest, 0, NULL); lo += at_once) {
        LithoBox box = litho_box_full(litho_survey_grid(survey));
        box.lo[0] = lo;
        box.hi[0] = MIN(lo + at_once, kept);
        g_autoptr(LithoCube) part = litho_survey_read(survey, &box, run, error);
        if (!part)
            return FALSE;
        loudest = MAX(loudest, part->loudest);
    }
    *refused = !litho_loudness_check(flow, loudest, 0, error) ||
               (kept == 0 && !litho_loudness_check_masked(survey, loudest, error));
    return !*refused;
}
