// SPDX-License-Identifier: GPL-3.0-or-later
//
// Single planes of a denoised volume in one piece, for a window that shows no more of it. All
// coefficients go through threshold and FFTs of their boxes, but of what they give in the volume
// only the planes are summed up: the grid of frequencies has two dimensions then, and the inverse
// FFT, too. What the boxes' FFTs gave stays, and the whole goes on from there.
#include <string.h>

#include "kernels/wavepacket/apply.h"

gboolean wp_has_planes(const LithoGrid *in, const void *params, int devices)
{
    const LithoWavepacketParams *p = params;
    return p->mode == WP_DENOISE && p->corrections == 0 && p->block == 0 && devices == 1 &&
           in->axis[0].n >= WP_FEWEST && in->axis[1].n >= WP_FEWEST;
}

// The plane of the survey that a box is.
static gboolean plane_of(const LithoGrid *survey, LithoBox box, WpPlane *plane)
{
    for (int a = 0; a < 3; a++)
        if (litho_box_equal(box, litho_box_slice(survey, a, box.lo[a]))) {
            *plane = (WpPlane){.axis = a, .at = box.lo[a]};
            return TRUE;
        }
    return FALSE;
}

gboolean wp_planes_wanted(const WpJob *job, const LithoPass *pass, const LithoRun *run,
                          WpPlane *plane)
{
    gboolean asked = FALSE;
    for (guint k = 0; run && k < run->n_views; k++)
        asked |= litho_box_equal(run->views[k], pass->region);
    return asked && wp_has_planes(&job->survey, pass->params, 1) &&
           litho_box_equal(pass->out->held, pass->region) &&
           plane_of(&job->survey, pass->region, plane);
}

void wp_planes_forget(WpJob *job)
{
    job->begun = job->has_result = FALSE;
    for (int k = 0; k < WP_MOST_PLANES; k++)
        job->planes[k].known = FALSE;
}

void wp_planes_free(WpJob *job)
{
    for (int k = 0; k < WP_MOST_PLANES && job->engine; k++) {
        job->engine->class->release(job->engine, job->planes[k].plane.samples);
        job->engine->class->release(job->engine, job->planes[k].part);
        job->planes[k] = (WpKeptPlane){0};
    }
}

static const WpKeptPlane *find(const WpJob *job, const WpPlane *plane)
{
    for (int k = 0; k < WP_MOST_PLANES; k++) {
        const WpKeptPlane *kept = &job->planes[k];
        if (kept->known && kept->plane.axis == plane->axis && kept->plane.at == plane->at)
            return kept;
    }
    return NULL;
}

static gint64 samples_across(const gint64 n[3], int axis)
{
    return n[(axis + 1) % 3] * n[(axis + 2) % 3];
}

// Memory for a plane, that of an earlier one across the same axis where there is one.
static WpKeptPlane *take_room(WpJob *job, const WpPlane *plane, GError **error)
{
    WpEngine *engine = job->engine;
    WpKeptPlane *room = NULL;
    for (int k = 0; k < WP_MOST_PLANES; k++) {
        WpKeptPlane *kept = &job->planes[k];
        const gboolean fits = kept->plane.axis == plane->axis && kept->part;
        if (!kept->known && (!room || fits))
            room = kept;
    }
    if (room->plane.axis != plane->axis) {
        engine->class->release(engine, room->plane.samples);
        engine->class->release(engine, room->part);
        *room = (WpKeptPlane){0};
    }
    float *samples = room->plane.samples;
    room->plane = *plane;
    room->plane.samples = samples;
    return wp_reserve(engine, &room->plane.samples, samples_across(job->n, plane->axis), error) &&
                   wp_reserve(engine, &room->part, samples_across(job->spec.n, plane->axis), error)
               ? room
               : NULL;
}

// Planes of all views, `first` in front; how many.
static int list_views(const WpJob *job, const WpPlane *first, const LithoRun *run,
                      WpPlane planes[WP_MOST_PLANES])
{
    int n = 0;
    planes[n++] = *first;
    for (guint k = 0; k < run->n_views && n < WP_MOST_PLANES; k++) {
        gboolean there = FALSE;
        if (!plane_of(&job->survey, run->views[k], &planes[n]))
            continue;
        for (int m = 0; m < n; m++)
            there |= planes[m].axis == planes[n].axis && planes[m].at == planes[n].at;
        n += !there;
    }
    return n;
}

// --- a plane's traces ----------------------------------------------------------------------------

// Dead traces become zeros; a plane across the samples has a trace a sample.
static gboolean bury(WpJob *job, const LithoCube *in, const WpPlane *plane, GError **error)
{
    const WpEngineClass *k = job->engine->class;
    const int a = plane->axis;
    const gint64 n1 = job->n[1], traces = a == 2 ? job->n[0] * n1 : job->n[1 - a];
    gboolean any = FALSE;
    g_autofree float *dead = g_new(float, traces);
    for (gint64 t = 0; t < traces; t++) {
        const gint64 of = a == 0 ? plane->at * n1 + t : a == 1 ? t * n1 + plane->at : t;
        dead[t] = in->live[of] ? 0 : 1;
        any |= dead[t] > 0;
    }
    float *mask = any ? k->alloc(job->engine, traces, error) : NULL;
    const gboolean ok = !any || (mask && k->upload(job->engine, dead, mask, 0, traces, error) &&
                                 k->insert(job->engine, NULL, mask, plane->samples, traces,
                                           a == 2 ? 1 : job->n[2], error));
    k->release(job->engine, mask);
    return ok;
}

// --- computing -----------------------------------------------------------------------------------

static gboolean finish_plane(WpJob *job, const LithoCube *in, WpKeptPlane *kept, GError **error)
{
    const WpEngineClass *k = job->engine->class;
    kept->known = k->drop_plane(job->engine, job->volume, job->n, &job->blocks[0], kept->part,
                                &kept->plane, error) &&
                  wp_places_end_plane(job, &kept->plane, error) &&
                  bury(job, in, &kept->plane, error);
    return kept->known;
}

static gboolean compute(WpJob *job, const LithoPass *pass, const WpPlane *first, LithoRun *run,
                        GError **error)
{
    const WpEngineClass *k = job->engine->class;
    WpPlane views[WP_MOST_PLANES], parts[WP_MOST_PLANES];
    WpKeptPlane *rooms[WP_MOST_PLANES];
    const int n = list_views(job, first, run, views);
    for (int i = 0; i < WP_MOST_PLANES; i++)
        job->planes[i].known = FALSE;
    for (int i = 0; i < n; i++) {
        rooms[i] = take_room(job, &views[i], error);
        if (!rooms[i])
            return FALSE;
        rooms[i]->known = TRUE; // taken
        parts[i] = (WpPlane){views[i].axis, views[i].at - job->blocks[0].at[views[i].axis],
                             rooms[i]->part};
    }
    gboolean ok = job->begun ? k->planes(job->engine, job->lanes[0].d, parts, n, run, error)
                             : wp_denoise_begin(job, pass, parts, n, run, error);
    for (int i = 0; i < n; i++)
        rooms[i]->known = FALSE;
    for (int i = 0; i < n && ok; i++)
        ok = finish_plane(job, pass->in, rooms[i], error);
    return ok;
}

static gboolean store(WpJob *job, const LithoPass *pass, const WpPlane *plane, GError **error)
{
    return job->engine->class->store(job->engine, plane->samples, pass->out, error);
}

gboolean wp_planes_store(WpJob *job, const LithoPass *pass, const WpPlane *plane, GError **error)
{
    for (int k = 0; k < WP_MOST_PLANES; k++)
        job->planes[k].known = FALSE;
    WpKeptPlane *room = take_room(job, plane, error);
    return room &&
           job->engine->class->drop_plane(job->engine, job->result, job->n, NULL, NULL,
                                          &room->plane, error) &&
           store(job, pass, &room->plane, error);
}

gboolean wp_planes_run(WpJob *job, const LithoPass *pass, const WpPlane *plane, LithoRun *run,
                       gboolean *done, GError **error)
{
    const gboolean one = job->n_blocks == 1 && job->n_lanes == 1 && !job->tapers[0] &&
                         !job->tapers[1] && !job->tapers[2] && job->engine->class->planes;
    gboolean alone = TRUE;
    *done = FALSE;
    if (job->has_result || !one)
        return TRUE;
    // Traces that stand alone come from the input as it was.
    if (!wp_any_alone(job, pass->in, &alone, error))
        return FALSE;
    if (alone)
        return TRUE;
    if (!find(job, plane) && !compute(job, pass, plane, run, error))
        return FALSE;
    wp_denoise_report(job, pass, run);
    *done = TRUE;
    return store(job, pass, &find(job, plane)->plane, error);
}
