// SPDX-License-Identifier: GPL-3.0-or-later
//
// Segments by region: of a volume that is cut into segments a part of the output needs the segments
// that touch it and no others. Samples are added up in the order of the segments, so that they do
// not depend on the part.
#include <string.h>

#include "core/backend.h"
#include "kernels/wavepacket/apply.h"

gboolean wp_is_regional(const LithoWavepacketParams *p)
{
    return p->block > 0 &&
           (p->mode == WP_DENOISE || (p->mode == WP_RECONSTRUCT && !wp_reads_file(p)));
}

// Segments first .. end - 1 of an axis touch samples lo .. hi - 1, and cover from[0] .. from[1] - 1.
static void touching(const WpCuts *c, gint64 lo, gint64 hi, int *first, int *end, gint64 from[2])
{
    *first = 0;
    while (*first + 1 < c->count && wp_cuts_start(c, *first) + c->block <= lo)
        ++*first;
    *end = *first + 1;
    while (*end < c->count && wp_cuts_start(c, *end) < hi)
        ++*end;
    from[0] = MAX(wp_cuts_start(c, *first), 0);
    from[1] = MIN(wp_cuts_start(c, *end - 1) + c->block, c->n - 2 * c->margin);
}

LithoBox wp_region_segments(const LithoGrid *in, const LithoWavepacketParams *p, LithoBox region)
{
    WpCuts cuts[3];
    int first, end;
    wp_cuts(in, p, p->block, cuts);
    for (int a = 0; a < 3; a++) {
        gint64 from[2];
        touching(&cuts[a], region.lo[a], region.hi[a], &first, &end, from);
        region.lo[a] = from[0];
        region.hi[a] = from[1];
    }
    return region;
}

LithoBox wp_region_input(const LithoGrid *in, const LithoWavepacketParams *p, LithoBox region)
{
    return wp_guess_box(in, p, wp_region_segments(in, p, region));
}

// --- windows --------------------------------------------------------------------------------------

static LithoGrid grid_of(const LithoGrid *whole, LithoBox box)
{
    LithoGrid grid = *whole;
    for (int a = 0; a < 3; a++)
        grid.axis[a].n = litho_box_size(box, a);
    return grid;
}

// Arrays that are as large as the window.
static void drop_arrays(WpJob *job)
{
    const WpEngineClass *k = job->engine->class;
    for (int i = 0; i < job->n_lanes; i++) {
        WpLane *lane = &job->lanes[i];
        wp_lane_drop_coefficients(job, lane);
        if (i > 0) {
            k->release(lane->engine, lane->in);
            k->release(lane->engine, lane->out);
        }
        lane->in = lane->out = NULL;
    }
    float **cubes[] = {&job->volume, &job->result, &job->work};
    for (guint i = 0; i < G_N_ELEMENTS(cubes); i++) {
        k->release(job->engine, *cubes[i]);
        *cubes[i] = NULL;
    }
}

// To segments first[a] .. end[a] - 1 of each axis.
static void open_window(WpJob *job, const int first[3], const int end[3])
{
    LithoBox box;
    for (int a = 0; a < 3; a++) {
        const WpCuts *c = &job->cuts[a];
        box.lo[a] = MAX(wp_cuts_start(c, first[a]), 0);
        box.hi[a] = MIN(wp_cuts_start(c, end[a] - 1) + c->block, job->survey.axis[a].n);
    }
    if (memcmp(&box, &job->window, sizeof box) == 0)
        return;
    drop_arrays(job);
    job->window = box;
    job->grid = grid_of(&job->survey, box);
    job->samples = litho_grid_samples(&job->grid);
    for (int a = 0; a < 3; a++)
        job->n[a] = job->grid.axis[a].n;
    wp_job_list_blocks(job, first, end);
    for (int k = 0; k < job->n_made; k++)
        wp_lane_deal(job, k);
    job->transformed = job->lanes_hold_volume = FALSE;
}

void wp_job_window(WpJob *job, LithoBox region)
{
    int first[3], end[3];
    gint64 from[2];
    for (int a = 0; a < 3; a++)
        touching(&job->cuts[a], region.lo[a], region.hi[a], &first[a], &end[a], from);
    open_window(job, first, end);
}

// The window's samples as a cube of its own, which engines load.
static LithoCube *window_of(const WpJob *job, const LithoCube *in, GError **error)
{
    const LithoBox box = job->window;
    if (!litho_cube_host(in, error))
        return NULL;
    g_autoptr(LithoCube) part = litho_cube_copy_box(in, box, error);
    LithoCube *cube = part ? litho_cube_new(&job->grid, error) : NULL;
    if (!cube)
        return NULL;
    memcpy(cube->samples, part->samples, sizeof(float) * job->samples);
    memcpy(cube->live, part->live, litho_grid_traces(&job->grid));
    return cube;
}

// The window's samples in the engine's memory, checked, and guesses in place of bursts and missing
// traces.
static gboolean load(WpJob *job, const LithoPass *pass, const LithoCube *in, LithoRun *run,
                     GError **error)
{
    const WpEngineClass *k = job->engine->class;
    const LithoBox need = wp_guess_box(&job->survey, pass->params, job->window);
    g_autoptr(LithoCube) guessed = NULL;
    if (!k->load(job->engine, in, job->volume, run, error))
        return FALSE;
    const LithoCube *clean = wp_clean(job, pass->params, pass->in, run, error);
    if (!clean ||
        (clean == pass->in && !wp_guess(pass->params, pass->in, need, NULL, &guessed, run, error)))
        return FALSE;
    clean = guessed ? guessed : clean;
    if (clean == pass->in)
        return TRUE;
    g_autoptr(LithoCube) window = window_of(job, clean, error);
    return window && k->load(job->engine, window, job->volume, run, error);
}

gboolean wp_region_store(WpJob *job, const LithoPass *pass, const LithoCube *in,
                         GError **error)
{
    const WpEngineClass *k = job->engine->class;
    g_autoptr(LithoCube) result = k->new_cube(job->engine, &job->grid, error);
    if (!result || !k->store(job->engine, job->result, result, error) ||
        !k->wait(job->engine, error) || !litho_cube_host(result, error))
        return FALSE;
    g_autoptr(LithoCube) placed = litho_cube_new_box(&job->survey, job->window, error);
    if (!placed)
        return FALSE;
    memcpy(placed->samples, result->samples, sizeof(float) * job->samples);
    memcpy(placed->live, in->live, litho_grid_traces(&job->grid));
    LithoCube *out = pass->out;
    if (out->samples) {
        litho_cube_paste(out, placed);
        return TRUE;
    }
    g_autoptr(LithoCube) host = litho_cube_copy_box(placed, out->held, error);
    return host && out->device->backend->upload(out->device, 0, host->samples,
                                                litho_box_count(out->held), error);
}

gboolean wp_region_run(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error)
{
    const LithoWavepacketParams *p = pass->params;
    LithoRun quiet = run ? *run : (LithoRun){0}; // histograms and counts would be of a part
    quiet.report = NULL;
    wp_job_window(job, pass->region);
    g_autoptr(LithoCube) in = window_of(job, pass->in, error);
    if (!in || !wp_lanes_begin(job, run, error))
        return FALSE;
    for (int i = 0; i < job->n_lanes; i++)
        job->lanes[i].current = -1;
    job->transformed = job->lanes_hold_volume = job->sigma_late = FALSE;
    if (!wp_job_reserve(job, error) || !load(job, pass, in, run, error) ||
        !wp_places_begin(job, pass, &quiet, error) || !wp_job_apply(job, pass, &quiet, error) ||
        !wp_bury(job, in, error) || !wp_leave_alone(job, p, job->as_recorded, run, error) ||
        !wp_region_store(job, pass, in, error))
        return FALSE;
    if (run && p->mode == WP_DENOISE)
        litho_report_number(run->report, "sigma", "Noise level (standard deviation)", "",
                            p->sigma > 0 ? p->sigma : job->noise.total);
    if (run)
        wp_places_report(job, run->report);
    return wp_lanes_finish(job, run, error);
}
