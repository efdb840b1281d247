// SPDX-License-Identifier: GPL-3.0-or-later
//
// Noise that varies from place to place (places.h).
#include <math.h>
#include <string.h>

#include "core/report.h"
#include "kernels/wavepacket/apply.h"
#include "kernels/wavepacket/local.h"

static gsize cells_of(const LithoNoiseMap *map)
{
    return (gsize)map->n[0] * map->n[1] * map->n[2];
}

static gboolean equal(const LithoNoiseMap *a, const LithoNoiseMap *b)
{
    if (!a->level || !b->level)
        return !a->level && !b->level;
    const gsize knots = (gsize)a->n[0] + a->n[1] + a->n[2];
    return memcmp(a->n, b->n, sizeof a->n) == 0 && a->bands == b->bands &&
           memcmp(a->at, b->at, knots * sizeof *a->at) == 0 &&
           memcmp(a->level, b->level, MAX(a->bands, 1) * cells_of(a) * sizeof *a->level) == 0;
}

// TRUE where the pass removes noise that job->noise tells of then.
static gboolean wanted(WpJob *job, const LithoPass *pass, gboolean *known, LithoRun *run,
                       GError **error)
{
    const LithoWavepacketParams *p = pass->params;
    *known = FALSE;
    if (p->mode != WP_DENOISE || p->sigma > 0)
        return TRUE;
    if (!wp_know_noise(job, pass, run, error))
        return FALSE;
    *known = job->noise.n > 0;
    return TRUE;
}

gboolean wp_places_current(WpJob *job, const LithoPass *pass, gboolean *current, LithoRun *run,
                           GError **error)
{
    const LithoNoiseMap none = {0};
    gboolean known;
    if (!wanted(job, pass, &known, run, error))
        return FALSE;
    *current = equal(known ? &job->noise.map : &none, &job->map) &&
               equal(known ? &job->noise.bands : &none, &job->bands);
    return TRUE;
}

WpPlacesBox wp_places_box(const WpBox *box)
{
    WpPlacesBox own;
    for (int i = 0; i < 3; i++) {
        own.n[i] = box->n[i];
        for (int a = 0; a < 3; a++) {
            own.back[i][a] = (float)(box->R[i][a] * box->M[i]);
            own.step[i][a] = (float)(box->R[i][a] * box->M[i] / box->n[i]);
        }
    }
    return own;
}

WpPlacesVolume wp_places_volume(const WpGeometry *g, const gint64 at[3])
{
    WpPlacesVolume volume;
    for (int a = 0; a < 3; a++) {
        volume.n[a] = (float)g->n[a];
        volume.at[a] = (float)at[a];
    }
    return volume;
}

// --- at some frequencies alone -------------------------------------------------------------------

// Power of the noise at a frequency, in cycles per sample, in a cell beyond what all have.
static double more_at(const LithoNoiseMap *bands, gsize cell, double f)
{
    const int band = CLAMP((int)(2 * f * bands->bands), 0, bands->bands - 1);
    return exp(2.0 * bands->level[band * cells_of(bands) + cell]);
}

// Logarithm of the deviation of the box's noise in a cell, over that of the noise of all places.
static float level_in(const WpBox *box, const LithoNoise *noise, const LithoNoiseMap *bands,
                      gsize cell)
{
    double own = 0, all = 0;
    for (int k = 0; k < WP_PROFILE; k++) {
        const double f = 0.5 * (k + 0.5) / WP_PROFILE;
        const double power = box->profile[k] * wp_noise_power(noise, f);
        own += power * more_at(bands, cell, f);
        all += power;
    }
    return all > 0 && own > 0 ? (float)(0.5 * log(own / all)) : 0;
}

static float *levels_of_boxes(const WpJob *job, int threads)
{
    const WpGeometry *g = job->geometry;
    const gsize cells = cells_of(&job->bands);
    float *level = g_new(float, g->n_boxes *cells);
#pragma omp parallel for num_threads(threads)
    for (int b = 0; b < g->n_boxes; b++)
        for (gsize k = 0; k < cells; k++)
            level[b * cells + k] = level_in(&g->boxes[b], &job->noise, &job->bands, k);
    return level;
}

gboolean wp_places_weigh(const WpJob *job, WpLane *lane, int block, gboolean over, float *c,
                         GError **error)
{
    WpPlacesLevels levels = {.map = &job->bands, .level = job->box_levels};
    for (int a = 0; a < 3; a++)
        levels.at[a] = job->window.lo[a] + job->blocks[block].at[a];
    return !job->box_levels || lane->engine->class->weigh(lane->engine, &levels, over, c, error);
}

void wp_places_forget(WpJob *job)
{
    litho_noise_map_clear(&job->map);
    litho_noise_map_clear(&job->bands);
    g_clear_pointer(&job->box_levels, g_free);
}

// --- a pass --------------------------------------------------------------------------------------

static gboolean scale(WpJob *job, gboolean over, float *volume, GError **error)
{
    return !job->map.level || job->engine->class->scale(job->engine, &job->map, over,
                                                        job->window.lo, job->n, volume, error);
}

gboolean wp_places_end_plane(WpJob *job, const WpPlane *plane, GError **error)
{
    gint64 at[3], n[3];
    for (int a = 0; a < 3; a++) {
        at[a] = job->window.lo[a] + (a == plane->axis ? plane->at : 0);
        n[a] = a == plane->axis ? 1 : job->n[a];
    }
    return !job->map.level ||
           job->engine->class->scale(job->engine, &job->map, FALSE, at, n, plane->samples, error);
}

gboolean wp_places_begin(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error)
{
    gboolean even, known = FALSE;
    if (!wp_beside_go_on(job, pass, &even, run, error) ||
        (!even && !wanted(job, pass, &known, run, error)))
        return FALSE;
    wp_places_forget(job);
    if (known) {
        job->map = litho_noise_map_copy(&job->noise.map);
        job->bands = litho_noise_map_copy(&job->noise.bands);
    }
    if (job->bands.level)
        job->box_levels = levels_of_boxes(job, litho_run_threads(run));
    return scale(job, TRUE, job->volume, error);
}

gboolean wp_places_end(WpJob *job, GError **error)
{
    return scale(job, FALSE, job->result, error);
}

// The level of a map at a sample of the survey.
static double level_at(const LithoNoiseMap *map, const float x[3])
{
    const float *knots = map->at;
    const WpPlaces places = {.n = {map->n[0], map->n[1], map->n[2]},
                             .at = {knots, knots + map->n[0], knots + map->n[0] + map->n[1]},
                             .level = map->level};
    float share[3];
    int k[3];
    for (int a = 0; a < 3; a++)
        k[a] = wp_place(places.at[a], places.n[a], x[a], &share[a]);
    return wp_place_level(&places, k, share);
}

// Power of the noise of all frequencies in a cell over that at all places.
static double power_in(const LithoNoise *noise, const LithoNoiseMap *bands, gsize cell)
{
    double own = 0, all = 0;
    for (guint f = 0; f < noise->n; f++) {
        const double power = noise->sigma[f] * noise->sigma[f];
        own += power * more_at(bands, cell, 0.5 * f / (noise->n - 1));
        all += power;
    }
    return all > 0 && own > 0 ? own / all : 1;
}

double wp_noise_places(const LithoNoise *noise, guint f)
{
    const gsize cells = noise->bands.level ? cells_of(&noise->bands) : 0;
    double power = 0;
    for (gsize k = 0; k < cells; k++)
        power += more_at(&noise->bands, k, 0.5 * f / (noise->n - 1)) / (double)cells;
    return cells > 0 ? power : 1;
}

double wp_noise_deviation(const LithoNoise *noise)
{
    const gsize cells = cells_of(&noise->bands);
    double power = 0;
    if (!noise->bands.level)
        return noise->total;
    for (gsize k = 0; k < cells; k++)
        power += power_in(noise, &noise->bands, k) / (double)cells;
    return noise->total * sqrt(power);
}

// Deviation of the noise in a cell of a map, over job->noise.total: a logarithm.
static double deviation_in(const WpJob *job, const LithoNoiseMap *map, gsize cell)
{
    const int *n = map->n,
              at[3] = {(int)(cell / n[2]) / n[1], (int)(cell / n[2]) % n[1], (int)(cell % n[2])};
    const float x[3] = {map->at[at[0]], map->at[n[0] + at[1]], map->at[n[0] + n[1] + at[2]]};
    const double common = job->map.level ? level_at(&job->map, x) : 0;
    return common + (map->bands > 0 ? 0.5 * log(power_in(&job->noise, map, cell)) : 0);
}

void wp_places_report(const WpJob *job, LithoReport *report)
{
    const LithoNoiseMap *map = job->bands.level ? &job->bands : &job->map;
    double least = INFINITY, most = -INFINITY;
    if (!map->level)
        return;
    for (gsize k = 0; k < cells_of(map); k++) {
        const double own = deviation_in(job, map, k);
        least = fmin(least, own);
        most = fmax(most, own);
    }
    litho_report_remark(report,
                        "wavepacket: the noise varies from place to place, from %.3g to %.3g "
                        "(standard deviation); the threshold follows it",
                        job->noise.total * exp(least), job->noise.total * exp(most));
}
