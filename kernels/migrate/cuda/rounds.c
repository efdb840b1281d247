// SPDX-License-Identifier: GPL-3.0-or-later
//
// Filling of a card's memory and processors: lanes, rounds of frequencies, bytes in all.
#include <math.h>

#include "kernels/migrate/cuda/engine.h"

// Lanes: grids beside each other where the finest one's waves do not keep the processors busy by
// themselves and all of it is short, for what is shown is shown at the end then, when the lanes are
// added up.
int mig_gpu_lanes(const MigEngine *home, const LithoMigrateJobs *jobs, int n_cards)
{
    const double half_a_second = 1e13; // operations, of a card with 132 processors
    const LithoMigrateJob *fine = jobs->job[0];
    const LithoMigrateParams *p = &fine->params;
    const int processors = ((const MigGpu *)home)->processors;
    const int blocks = fine->nf / n_cards * ((fine->cells.nx + 255) / 256);
    double flops = 0;
    for (int k = 0; k < jobs->n; k++)
        flops += litho_migrate_sweep_flops(jobs->job[k], p->mode == LITHO_MIGRATE_SHOT ? 2 : 1);
    if (p->engine == LITHO_MIGRATE_SPLITSTEP || blocks > 1.5 * processors ||
        flops > half_a_second * n_cards)
        return 1;
    return MIN(jobs->n, MIG_MAX_LANES);
}

static size_t held_by(MigEngine *const *lanes)
{
    size_t bytes = 0;
    for (int n = 0; n < MIG_MAX_LANES && lanes[n]; n++) {
        const MigGpu *card = mig_gpu_of(lanes[n]);
        bytes += card->scratch.bytes + card->image.bytes + card->light.bytes +
                 card->up.planes.bytes + card->down.planes.bytes + card->resampled[0].bytes +
                 card->resampled[1].bytes;
        for (int k = 0; k < LITHO_MIGRATE_MAX_JOBS; k++)
            bytes += card->band[k].slow.bytes + card->band[k].spectrum.bytes;
    }
    return bytes;
}

// Bytes of the waves of one frequency on a card: depths of a step, the surface, and between passes.
static double bytes_of_frequency(const LithoMigrateJob *job, gboolean shot)
{
    double plane = 8.0 * ((job->cells.nx + 7) / 8 * 8) * job->cells.ny;
    return plane * (shot ? 2 * (job->step + 1) + 8 : job->step + 1 + 5);
}

// Bytes that do not depend on how many frequencies are under way: cubes, sums, velocity, FFTs of
// traces.
static double bytes_of_jobs(const LithoGrid *in, const LithoMigrateJobs *jobs, gboolean shot)
{
    const LithoMigrateJob *job = jobs->job[0];
    const double image = 4.0 * litho_migrate_image_cells(job) * litho_migrate_image_depths(job);
    const double traces = fmin((double)litho_grid_traces(in), mig_gpu_lines(job->nfft));
    double slowness = 0;
    for (int k = 0; k < jobs->n; k++) {
        const LithoMigrateJob *j = jobs->job[k];
        slowness += j->varies ? 4.4 * j->cells.nx * j->cells.ny * j->n_steps : 0;
    }
    // A coarse image, half of the fine one at most, and two stages of its way to the fine one.
    const double coarse = jobs->n > 1 ? (shot ? 2.4 : 1.9) * image : 0;
    return image * (shot ? 3 : 2) + coarse + 4.0 * litho_grid_samples(in) + slowness +
           16 * traces * job->nfft;
}

// Waves of every n-th frequency: of the job that needs most, and what all keep of the record. On
// wider cells they begin as waves on the image's, twice.
static double bytes_of_waves(const LithoMigrateJobs *jobs, gboolean shot, int n)
{
    const LithoMigrateJob *fine = jobs->job[0];
    const double plane = 8.0 * ((fine->image.axis[1].n + 7) / 8 * 8) * fine->image.axis[0].n;
    double most = 0, kept = 0;
    for (int k = 0; k < jobs->n; k++) {
        const LithoMigrateJob *job = jobs->job[k];
        const int nf = (job->nf + n - 1) / n;
        most = fmax(most, nf * (bytes_of_frequency(job, shot) + (job->ratio > 1 ? 2 * plane : 0)));
        kept += shot ? 0 : 8.0 * ((job->cells.nx + 7) / 8 * 8) * job->cells.ny * nf;
    }
    return most + kept;
}

// Rounds in which every card's share fits into its memory, one lane after the other if need be.
// When not even one frequency does, the allocation says so.
gboolean mig_gpu_rounds(MigEngine *(*engine)[MIG_MAX_LANES], const LithoMigrateJobs *jobs,
                        MigTeam *team, GError **error)
{
    const gboolean shot = jobs->job[0]->params.mode == LITHO_MIGRATE_SHOT;
    const int n_cards = team->cards, sharers = n_cards * team->ranks;
    guint64 least = G_MAXUINT64;
    int most = 1, rounds = 1;
    for (int k = 0; k < n_cards; k++) {
        guint64 left, total;
        if (!litho_cuda_memory(litho_cuda_device(mig_gpu_of(engine[k][0])->context), &left, &total,
                               error))
            return FALSE;
        least = MIN(least, left + held_by(engine[k]));
    }
    for (int k = 0; k < jobs->n; k++)
        most = MAX(most, jobs->job[k]->nf);
    const double fixed = bytes_of_jobs(&mig_gpu_of(engine[0][0])->in, jobs, shot),
                 room = fmax(0.9 * least - fixed, 1);
    if (team->lanes * (fixed + bytes_of_waves(jobs, shot, sharers)) > 0.5 * least)
        team->lanes = 1;
    while (rounds * sharers < most && bytes_of_waves(jobs, shot, rounds * sharers) > room)
        rounds++;
    const double spare =
        0.9 * least / team->lanes - fixed - bytes_of_waves(jobs, shot, rounds * sharers);
    for (int k = 0; k < n_cards; k++)
        for (int lane = 0; lane < team->lanes; lane++)
            mig_gpu_of(engine[k][lane])->spare = (size_t)(fmax(spare, 0) / (shot ? 2 : 1));
    team->rounds = rounds;
    return TRUE;
}

// --- before there is a job ----------------------------------------------------------------------

guint64 mig_gpu_bytes(const LithoGrid *in, const void *params, LithoResolved *known,
                      LithoBox region, int threads)
{
    (void)threads;
    const LithoMigrateParams *p = params;
    const gboolean shot = p->mode == LITHO_MIGRATE_SHOT;
    LithoMigrateJobs jobs;
    (void)region;
    if (!litho_migrate_jobs_sketch(&jobs, in, p, known))
        return 0;
    double beside = 0; // planes of a slab's steps, where all of them pass on the card
    for (int k = 0;
         k < jobs.n && p->engine != LITHO_MIGRATE_SPLITSTEP && p->mode != LITHO_MIGRATE_DEMIGRATE;
         k++) {
        const LithoMigrateJob *job = jobs.job[k];
        const double plane = 8.0 * ((job->cells.nx + 7) / 8 * 8) * job->cells.ny;
        const int steps = mig_gpu_slab_steps((double)job->cells.nx * job->cells.ny * job->nf *
                                                 (p->degree + 1) * job->step * (shot ? 2 : 1),
                                             job->step);
        beside = fmax(beside, plane * job->nf * (steps - 1) * job->step * (shot ? 2 : 1));
    }
    // Polynomials are designed in what the waves between passes need; small waves have less.
    const LithoMigrateJob *fine = jobs.job[0];
    const double scratch = 4 * 8.0 * ((fine->cells.nx + 7) / 8 * 8) * fine->cells.ny * fine->nf;
    beside += fmax(MIG_GPU_DESIGN_ROOM - scratch, 0);
    // `out` and what bytes_of_jobs() counts: sums, the input, slowness.
    const double bytes = bytes_of_jobs(in, &jobs, shot) + bytes_of_waves(&jobs, shot, 1) + beside;
    litho_migrate_jobs_clear(&jobs);
    return (guint64)bytes;
}
