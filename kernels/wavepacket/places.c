// SPDX-License-Identifier: GPL-3.0-or-later
//
// Noise that varies from place to place (places.h).
#include <math.h>
#include <string.h>

#include "core/report.h"
#include "kernels/wavepacket/apply.h"

static gsize cells_of(const LithoNoiseMap *map)
{
    return (gsize)map->n[0] * map->n[1] * map->n[2];
}

static gboolean equal(const LithoNoiseMap *a, const LithoNoiseMap *b)
{
    if (!a->level || !b->level)
        return !a->level && !b->level;
    const gsize knots = (gsize)a->n[0] + a->n[1] + a->n[2];
    return memcmp(a->n, b->n, sizeof a->n) == 0 &&
           memcmp(a->at, b->at, knots * sizeof *a->at) == 0 &&
           memcmp(a->level, b->level, cells_of(a) * sizeof *a->level) == 0;
}

// The map of the noise that the pass removes, which job->noise keeps; one without levels where it
// is alike everywhere, or stated.
static gboolean wanted(WpJob *job, const LithoPass *pass, LithoNoiseMap *map, LithoRun *run,
                       GError **error)
{
    const LithoWavepacketParams *p = pass->params;
    *map = (LithoNoiseMap){0};
    if (p->mode != WP_DENOISE || p->sigma > 0)
        return TRUE;
    if (!wp_know_noise(job, pass, run, error))
        return FALSE;
    if (job->noise.n > 0)
        *map = job->noise.map;
    return TRUE;
}

gboolean wp_places_current(WpJob *job, const LithoPass *pass, gboolean *current, LithoRun *run,
                           GError **error)
{
    LithoNoiseMap map;
    if (!wanted(job, pass, &map, run, error))
        return FALSE;
    *current = equal(&map, &job->map);
    return TRUE;
}

static gboolean scale(WpJob *job, gboolean over, float *volume, GError **error)
{
    return !job->map.level || job->engine->class->scale(job->engine, &job->map, over,
                                                        job->window.lo, job->n, volume, error);
}

gboolean wp_places_begin(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error)
{
    LithoNoiseMap map;
    if (!wanted(job, pass, &map, run, error))
        return FALSE;
    litho_noise_map_clear(&job->map);
    job->map = litho_noise_map_copy(&map);
    return scale(job, TRUE, job->volume, error);
}

gboolean wp_places_end(WpJob *job, GError **error)
{
    return scale(job, FALSE, job->result, error);
}

void wp_places_report(const WpJob *job, LithoReport *report)
{
    const LithoNoiseMap *map = &job->map;
    float least = INFINITY, most = -INFINITY;
    if (!map->level)
        return;
    for (gsize k = 0; k < cells_of(map); k++) {
        least = MIN(least, map->level[k]);
        most = MAX(most, map->level[k]);
    }
    litho_report_remark(report,
                        "wavepacket: the noise varies from place to place, from %.3g to %.3g "
                        "(standard deviation); the threshold follows it",
                        job->noise.total * exp(least), job->noise.total * exp(most));
}
