// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"
#include "kernels/wavepacket/engine.h"
#include "kernels/wavepacket/wavepacket.h"

// What the operator does with wave packets, for any engine: the plan of the operator is a WpJob,
// exec() is wp_job_run(). A volume is one block or several that overlap; block by block
//     result = sum_b g_b A* shrink(A g_b volume),    sum_b g_b^2 = 1,
// with the same thresholds in every block, so that no seam shows.

enum { WP_STAGE_PLAN, WP_STAGE_FORWARD, WP_STAGE_SHRINK, WP_STAGE_INVERSE };

// Coefficients of plane p1 = `plane` of a box whose packets sit well inside the block.
typedef struct WpProbe {
    int box, plane, n;
    int *inside; // p2 n3 + p3
} WpProbe;

typedef struct WpJob {
    LithoGrid grid;
    gint64 n[3], samples;
    WpSpec spec;          // of one block
    WpGeometry *geometry; // of one block
    WpEngine *engine;
    WpBlock *blocks;
    int n_blocks;
    float *tapers[3];     // per axis: n_along x geometry n[a]; NULL with a single block along it

    // In the engine's memory; NULL until needed.
    float *volume, *result; // the whole cube
    float *u, *v, *w;       // block-sized volumes (u is not made for a single block)
    float *x;               // interpolation: one more whole cube
    float **c;              // per block: A g_b volume; all the same array when `shared`
    gboolean shared;        // no room for every block's coefficients: they are made again each time
    int current;            // block whose coefficients the shared array holds, -1 = none
    float *d, *e, *f;       // coefficient-sized work

    GArray *probes; // of WpProbe: where the noise level is measured; NULL until needed

    // Known after the forward stage.
    gboolean transformed;
    double input_energy;
    double sigma;           // estimated noise level
    WpBoxStats *stats;      // per box: energy summed, peak over all blocks
    double peak;            // max over boxes but the coarse one of peak/sigma_b
    double *counts;         // WP_BINS, histogram of |c|/sigma_b

    guint64 *kept;          // per box: coefficients the last pass kept
} WpJob;

WpJob *wp_job_new(const LithoGrid *in, const LithoWavepacketParams *params, WpEngineNew make,
                  LithoRun *run, GError **error);
void wp_job_free(WpJob *job);
gboolean wp_job_run(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error);
// TRUE when the engine could allocate; the arrays are kept in the job.
gboolean wp_job_reserve(WpJob *job, float **array, gint64 floats, GError **error);

// Coefficients A g_b volume of a block (cached or made anew); NULL on failure.
float *wp_job_coefficients(WpJob *job, int block, LithoRun *run, GError **error);
// g_b times a whole volume as the block's input: the volume itself when there is only one block.
const float *wp_job_cut(WpJob *job, const float *volume, int block, GError **error);
// Where a block's output goes, and then into the whole `volume` (cleared by the caller).
float *wp_job_target(WpJob *job, float *volume);
gboolean wp_job_paste(WpJob *job, const float *u, int block, float *volume, GError **error);
gboolean wp_job_clear(WpJob *job, float *volume, GError **error);
void wp_job_forget_kept(WpJob *job);
guint64 wp_job_kept(const WpJob *job);

// thresholds.c
double wp_estimate_sigma(WpJob *job, const float *c, GError **error);
void wp_probes_free(WpJob *job);
// Level k sigma sigma_b per box, coarse box never thresholded; g_free().
float *wp_levels(const WpJob *job, double k_sigma);
// The magnitude below which coefficients are dropped so that `count` are kept, over all blocks.
// counts[WP_BINS]: the histogram of |c| it was found from.
gboolean wp_level_for_count(WpJob *job, guint64 count, double *level, double *counts, LithoRun *run,
                            GError **error);

// Modes. Each fills job->result and reports its numbers.
gboolean wp_denoise(WpJob *job, const LithoWavepacketParams *params, LithoRun *run,
                    GError **error);
gboolean wp_reconstruct(WpJob *job, const LithoWavepacketParams *params, LithoRun *run,
                        GError **error);
gboolean wp_compress(WpJob *job, const LithoWavepacketParams *params, LithoRun *run,
                     GError **error);
gboolean wp_interpolate(WpJob *job, const LithoWavepacketParams *params, const LithoCube *in,
                        LithoRun *run, GError **error);
// u = A* d, improved by Neumann steps towards A u = d; d is destroyed. For m corrections.
gboolean wp_invert(WpJob *job, float *d, float *u, int corrections, LithoRun *run,
                   GError **error);

// report.c
// What is known once the forward stage is through: the boxes with their energies, the histogram.
void wp_report_spectrum(const WpJob *job, LithoRun *run);
// The histogram once more, with a threshold: counts of WP_BINS bins of `what`.
void wp_report_threshold(const double *counts, const char *what, double threshold, LithoRun *run);
// From job->kept: totals, per scale, and the boxes' legend.
void wp_report_kept(const WpJob *job, LithoRun *run);
// Relative error and SNR of job->result against job->volume.
gboolean wp_report_error(WpJob *job, LithoRun *run, const char *key, GError **error);
