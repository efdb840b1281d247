// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/migrate/job.h"
#include "kernels/migrate/shots.h"

// Work of both backends around the extrapolation.

// The jobs of a pass: one, or with `coarse` one for every grid that a part of the band runs on. The
// first one is always the image's, the others follow from finer to coarser.
enum { LITHO_MIGRATE_MAX_JOBS = 6 };
typedef struct LithoMigrateJobs {
    LithoMigrateJob *job[LITHO_MIGRATE_MAX_JOBS];
    int n;
    LithoVelocityLayer layer; // of the first one
} LithoMigrateJobs;

void litho_migrate_jobs_clear(LithoMigrateJobs *jobs);
// Grids, frequencies and velocity; polynomials. Both take their time as a stage of the run. The
// velocity of `jobs` as it was is kept where it stays the same.
gboolean litho_migrate_jobs_velocity(LithoMigrateJobs *jobs, const LithoGrid *in,
                                     const LithoMigrateParams *params, LithoResolved *known,
                                     LithoRun *run, GError **error);
// Splits the one job on the image's grid: every frequency to the widest cells that hold its waves
// as well as the image's hold the highest one's. Left as it is where grids or bands would be too
// small. `last` (may be NULL): jobs that go, whose velocity may be taken over.
gboolean litho_migrate_jobs_split(LithoMigrateJobs *jobs, const LithoMigrateJobs *last,
                                  LithoRun *run, GError **error);
gboolean litho_migrate_jobs_design(LithoMigrateJobs *jobs, const LithoMigrateParams *params,
                                   const LithoPolyMaker *maker, LithoRun *run, GError **error);
// Hands the parameters behind the design (wavelet, growth) to the jobs, marks the output live and
// tells the report what is known before the long computation.
void litho_migrate_jobs_begin(LithoMigrateJobs *jobs, const LithoPass *pass, LithoRun *run);

gsize litho_migrate_image_cells(const LithoMigrateJob *job);
int litho_migrate_image_depths(const LithoMigrateJob *job);
// Floating-point work of one pass of `waves` waves over the job's depths, for the timing panel.
double litho_migrate_sweep_flops(const LithoMigrateJob *job, int waves);
// Writes the findings of a pass over all shots into report and notes.
void litho_migrate_shots_told(const LithoShots *shots, const LithoCube *out, LithoRun *run);

// Jobs of which memory is counted: grids and frequencies without velocity and polynomials. FALSE:
// refused. Freed by litho_migrate_jobs_clear().
gboolean litho_migrate_jobs_sketch(LithoMigrateJobs *jobs, const LithoGrid *in,
                                   const LithoMigrateParams *params, LithoResolved *known);
// Host bytes of slowness and choices that the jobs keep.
double litho_migrate_jobs_kept(const LithoMigrateJobs *jobs);
