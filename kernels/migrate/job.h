// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"
#include "kernels/migrate/bank.h"
#include "kernels/migrate/design.h"
#include "kernels/migrate/migrate.h"
#include "kernels/migrate/model.h"
#include "kernels/migrate/taps.h"

// A job: the plan of both backends before the first stencil. It has the extrapolation grid, depths,
// frequencies, slowness of every step, and which polynomial serves which frequency in which step.
//
// One job is one grid. With `coarse` the band is split into several jobs (ladder.c): the highest
// frequencies on the image's grid, lower ones on wider cells and depths.

typedef struct LithoEntry {
    double big_k, rho2;                            // K and spectral range of the recursion operator
    const LithoPoly *poly[LITHO_MIGRATE_MAX_STEP]; // for 1/step, 2/step, ... of the step's depth
    const LithoPoly *stop; // takes steeper waves away; NULL: no step at which that is done uses it
} LithoEntry;

typedef struct LithoMigrateJob {
    LithoMigrateParams params;
    double ratio;    // cells and depths of the image that one of this job's spans: 1, or more
    gboolean half;   // exploding reflector: waves run at v / 2
    LithoGrid image; // lateral axes of the image; its sample axis is depth in m

    int data_nx, data_ny; // cells of this job under the image
    LithoCells cells;     // with padding
    int pad_x, pad_y;
    double dz;         // m between this job's image planes
    int depths;        // planes of the image that the record reaches, from the surface down; the
                       // others are zero
    int nz;            // planes of this job's own, the first at depth 0, over those depths
    int step, n_steps; // image planes a step crosses; steps (the last may end below the image)

    int nt, nfft;    // samples, and padded
    double dt, t0;   // s
    int k_first, nf; // frequencies k_first + k_stride f, f < nf, in units of 1 / (nfft dt)
    int k_stride;    // 1, or the number of shares
    double *omega;   // [nf] rad/s
    float *weight;   // [nf] cosine ramps at the band's ends

    LithoMigrateModel *model;
    LithoModelMap map;
    LithoVelocityRange velocity;
    double *slow_min, *slow_max; // [n_steps] s/m of the propagating wave (doubled when half)
    double *slow_mean;           // [n_steps] of the planes of slowness; NULL: there are none
    float *slowness;             // [n_steps][ny][nx], or NULL when every step is constant
    guint64 slowness_serial;     // tells planes of slowness apart; 0 = there are none
    gboolean varies;             // to the sides: there are planes of slowness

    const LithoSecondDerivative **filter; // [n_steps][nf]
    GArray *entries;                      // of LithoEntry
    gint32 *entry;                        // [n_steps][nf] index into entries
    guint8 *stops; // [n_steps] 1: steeper waves are taken away before the step; NULL: never
    float *sponge_x, *sponge_y; // [nx], [ny] factors; NULL = none on that axis
    // Pointwise form: one table over kap for all frequencies and depths.
    int n_table;
    double table_first, table_step; // kap of entry 0 and increment
    const LithoPoly **table[LITHO_MIGRATE_MAX_STEP];
    gboolean share; // owns only what has one element a frequency
} LithoMigrateJob;

// The velocity under the image for the eye, kept from pass to pass: a slider that leaves the
// velocity alone leaves its picture alone, too.
typedef struct LithoVelocityLayer {
    LithoCube *cube; // NULL: none yet
    guint64 key;     // of the velocity and its cells
} LithoVelocityLayer;

// Cells of padding on either side of an axis of more than one cell.
static inline int litho_migrate_padding(const LithoMigrateParams *p)
{
    return p->pad < 0 ? p->sponge : p->pad;
}

enum { LITHO_MIGRATE_TABLE = 1024 }; // entries of the pointwise table: interpolation error < 1e-5

// Geometry, frequencies and velocity of the whole band on the image's grid. `in` is the input's
// grid, `known` the velocity's file when it is one. `last` (may be NULL) is a job that this one
// replaces: its slowness is taken over where both are the same. NULL: refused or cancelled.
LithoMigrateJob *litho_migrate_job_new(const LithoGrid *in, const LithoMigrateParams *params,
                                       LithoResolved *known, LithoMigrateJob *last, LithoRun *run,
                                       GError **error);
// A job without planes of slowness, every step as slow and as fast as the whole model, from which
// memory is counted. Cannot run.
LithoMigrateJob *litho_migrate_job_sketch(const LithoGrid *in, const LithoMigrateParams *params,
                                          LithoResolved *known, GError **error);
// Frequencies first .. first + n - 1 of a job on the image's grid, on cells and depths `ratio`
// times as wide; its slowness is the mean of the other's cells, or that of `last` (may be NULL)
// where both are the same. Neither is designed yet. NULL: cancelled, memory.
LithoMigrateJob *litho_migrate_job_coarser(const LithoMigrateJob *fine, double ratio, int first,
                                           int n, LithoMigrateJob *last, LithoRun *run,
                                           GError **error);
// Slowness of the model in every step on the image's grid (velocity.c). FALSE: cancelled, memory.
gboolean litho_migrate_job_velocity(LithoMigrateJob *job, LithoMigrateJob *last, LithoRun *run,
                                    GError **error);
// Takes over the planes of slowness of `last`, which has none afterwards. FALSE when `last` is NULL
// or its steps, cells or model are others: nothing has changed then.
gboolean litho_migrate_job_take_slowness(LithoMigrateJob *job, LithoMigrateJob *last);
// A number that no planes of slowness have had yet.
guint64 litho_migrate_slowness_serial(void);
// Mean slowness of a coarser job: FALSE when cancelled or without memory (ladder.c).
gboolean litho_migrate_job_mean_slowness(LithoMigrateJob *job, const LithoMigrateJob *fine,
                                         LithoRun *run, GError **error);
// Leaves a job with frequencies first .. first + n - 1 of its own.
void litho_migrate_job_keep(LithoMigrateJob *job, int first, int n);
void litho_migrate_job_free(LithoMigrateJob *job); // NULL is fine
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LithoMigrateJob, litho_migrate_job_free)

// Takes the parameters that only the design depends on (degree, max_dip, form, weights), chooses
// and computes the polynomials in use, by `maker` unless that is NULL. Again after such a change.
// FALSE when cancelled.
gboolean litho_migrate_job_design(LithoMigrateJob *job, const LithoMigrateParams *params,
                                  const LithoPolyMaker *maker, LithoRun *run, GError **error);
// Degree of target m: the depths inside a step are imaged and not carried on, so their shorter way
// does with fewer (error of one step, not of all); a product of factors is that much cheaper.
int litho_migrate_target_degree(const LithoMigrateJob *job, int m);
void litho_migrate_job_drop_design(LithoMigrateJob *job);
// The k-th of n shares of a designed job: every n-th frequency. Borrows from `whole`, which must
// stay as it is; freed with litho_migrate_job_free().
LithoMigrateJob *litho_migrate_job_share(const LithoMigrateJob *whole, int k, int n);
// TRUE when waves steeper than the largest dip are taken away before step s, by the polynomials
// `stop` of the entries. They begin at the surface; further down waves become steep where they come
// into faster rock.
gboolean litho_migrate_job_stops(const LithoMigrateJob *job, int s);
enum { LITHO_MIGRATE_STOP_DEGREE = 31 };
// Recursion operator of frequency f in step s.
LithoStencil litho_migrate_job_stencil(const LithoMigrateJob *job, int s, int f);
const LithoEntry *litho_migrate_job_entry(const LithoMigrateJob *job, int s, int f);
// TRUE when a shot's waves are to be multiplied on a finer grid in step s: with params.antialias,
// from the frequency on that makes them so short that their product folds, 2 k dx > pi at the
// largest dip.
gboolean litho_migrate_job_protects(const LithoMigrateJob *job, int s, int f);
// Factors of the record's samples: 1, falling to 0 over the last 5 %. [nt], g_free().
float *litho_migrate_job_taper(const LithoMigrateJob *job);
// Between the image's grid and this job's, along an axis of planes [z][y][x]: 0 = z, 1 = y, 2 = x.
// Waves are decimated along y and x, images interpolated along all.
LithoTaps litho_migrate_job_decimation(const LithoMigrateJob *job, int axis);
LithoTaps litho_migrate_job_interpolation(const LithoMigrateJob *job, int axis);
// Slowness of step s: a plane [ny][nx], or where the job has no planes the caller's `row`, filled
// with the step's one value [nx].
const float *litho_migrate_job_slowness(const LithoMigrateJob *job, int s, float *row);
// Mean slowness of step s.
static inline double litho_migrate_job_mean(const LithoMigrateJob *job, int s)
{
    return job->slowness ? job->slow_mean[s] : (float)job->slow_min[s];
}

// LITHO_ERROR_NUMERICS: the wave of frequency f grew in energy by step s (pointwise form).
void litho_migrate_job_grew(const LithoMigrateJob *job, int f, int s, double by, GError **error);

// The depth grid of a migration's result, the time grid of a demigration's.
gboolean litho_migrate_output_grid(const LithoGrid *in, const void *params, LithoResolved *known,
                                   LithoGrid *out, GError **error);
// Everything that is refused before it starts.
gboolean litho_migrate_check(const LithoGrid *in, const void *params, LithoResolved *known,
                             GError **error);

// Phase and amplitude of the chosen operators against dip, after 1000 m of depth, at the low,
// middle and high end of the band, into the report; design bounds as numbers; sentences of warning
// as notes of `out`. The first of `n` jobs is the image's grid, the others lower parts of the band.
// `layer` is made where it is not there or of another velocity.
void litho_migrate_jobs_report(LithoMigrateJob *const *jobs, int n, LithoVelocityLayer *layer,
                               LithoRun *run, LithoCube *out);
