// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/cuda/cuda.h"
#include "kernels/migrate/job.h"
#include "kernels/migrate/cuda/kernels.h"
#include "kernels/migrate/stages.h"

// What the CUDA side of migration keeps on one device. Private to *_cuda.c. Everything runs in the
// context's stream.

typedef enum LithoGpuKernel {
    LITHO_GPU_FUSED,
    LITHO_GPU_PER_DEGREE,
    LITHO_GPU_SPLITSTEP,
} LithoGpuKernel;

// One grid's share of the band (see cpu/migrate.c) with its tables on the device.
typedef struct LithoGpuBand {
    LithoMigrateJob *job; // this card's share, its own
    LithoGpuPlane plane;
    LithoGpuKernel kernel;
    int degrees_a_pass, quads, strip; // of the fused kernel, see litho_gpu_fused_plan()
    int strips;                       // blocks that a plane's width takes
    int slab_steps;                   // between two partial results
    int planes; // that a set of waves moves through: those of a step, of a slab when fused
    LithoCudaArray steps; // LithoGpuStep [n_steps][nf]
    LithoCudaArray coef;  // float [entries][targets][2][COEFS]
    LithoCudaArray slow;  // float [n_steps][ny][pitch], squared when fused; empty: layered
    LithoCudaArray table, table_scale; // pointwise form
    LithoCudaArray sponge_x, sponge_y;
    LithoCudaArray omega, kx2, ky2; // split-step: doubles
    double *mean;                   // [n_steps] mean slowness, split-step
    LithoCudaArray turn;            // float [nf][2]
    LithoCudaArray spectrum;        // waves at the surface (zero-offset)
    gboolean have_spectrum;
} LithoGpuBand;

// A set of nf waves under way.
typedef struct LithoGpuWaves {
    LithoCudaArray planes; // [band->planes][nf] waves
    int now;               // plane that the waves have come to
} LithoGpuWaves;

typedef struct LithoGpuPlan {
    LithoGrid in;
    LithoCudaContext *context;
    LithoGpuBand band[LITHO_MIGRATE_MAX_JOBS];
    int n_bands;
    LithoGpuWaves up, down;
    LithoCudaArray scratch;      // b's between passes, T's between degrees
    LithoCudaArray progress;     // of the fused kernel's tasks
    LithoCudaArray image, light; // [nz][ny][nx] of the image's grid
    LithoCudaArray coarse, coarse_light, resampled[2], taps; // coarse band
    LithoCudaArray growth; // doubles: energy, floor, grown [nf] each
    LithoCudaArray live, cells, taper, lines, bins, largest, wavelet;
    int fft_length, fft_batch;
    int fft_forward, fft_inverse, fft_plane;         // cufftHandle; 0 = none
    int fft_plane_nx, fft_plane_ny, fft_plane_waves; // what fft_plane is for
    gboolean have_light;
    LithoCudaArray gathered, traces; // another card's sums; traces of a card other than the first
    int ordinal;                     // CUDA's index of the device
    size_t spare;  // bytes left for planes beyond those of one step, a set of waves
    size_t shared; // bytes of shared memory a block may have
    int processors;
    double quota; // part of the processors that this lane may count on
} LithoGpuPlan;

// cuda/card.c ----------------------------------------------------------------------------------
LithoGpuPlan *litho_gpu_card_new(const LithoGrid *in, int device, GError **error);
void litho_gpu_card_free(LithoGpuPlan *card); // NULL is fine
// Drops tables and spectra.
void litho_gpu_card_forget(LithoGpuPlan *card);
// Share k of n of the frequencies, of the jobs that are lane `lane` of `lanes`: the first lane has
// the image's own grid, the others take turns at the coarser ones.
typedef struct LithoGpuShare {
    int k, n, lane, lanes;
} LithoGpuShare;
// Takes the share, with tables.
gboolean litho_gpu_card_share(LithoGpuPlan *card, const LithoMigrateJobs *jobs,
                              const LithoGpuShare *share, GError **error);

// What a finished slab is shown with.
typedef struct LithoGpuWatch {
    LithoGpuPlan *card;
    const LithoMigrateParams *params;
    const LithoCube *out;
    float scale; // of a sum that is only part of the image
    LithoRun *run;
} LithoGpuWatch;

// The card's image as it is, all of its depths.
gboolean litho_gpu_card_show(LithoGpuWatch *watch, GError **error);
// The share's image (and light) onto sums that clear() made, or the traces of its frequencies onto
// `out`, a device array.
gboolean litho_gpu_card_clear(LithoGpuPlan *card, gboolean light, GError **error);
gboolean litho_gpu_card_stack(LithoGpuPlan *card, const LithoCube *in, LithoGpuWatch *watch,
                              LithoRun *run, GError **error);
gboolean litho_gpu_card_shots(LithoGpuPlan *card, const LithoShots *shots, const LithoCube *in,
                              LithoGpuWatch *watch, LithoRun *run, GError **error);
gboolean litho_gpu_card_demigrate(LithoGpuPlan *card, const LithoCube *in, float *out,
                                  LithoRun *run, GError **error);

// cuda/band.c ----------------------------------------------------------------------------------
// Steps of about 12 ms, which a cancel may have to wait for twice; `updates` of a point by a degree
// a step.
int litho_gpu_slab_steps(double updates, int step);
gboolean litho_gpu_band_tables(LithoGpuPlan *plan, LithoGpuBand *band, GError **error);
void litho_gpu_band_clear(LithoGpuPlan *plan, LithoGpuBand *band);
// Uploads `count` elements of `size` bytes; waits, so `from` may go.
gboolean litho_gpu_upload(LithoGpuPlan *plan, LithoCudaArray *to, const void *from, size_t bytes,
                          GError **error);

// cuda/spectrum.c ------------------------------------------------------------------------------
// Traces to waves (zeroed first) at the cells given (host array of the input's traces: y pitch + x
// of the plane, -1 = none).
gboolean litho_gpu_spectrum_forward(LithoGpuPlan *plan, LithoGpuBand *band, const LithoCube *in,
                                    const int *row, const int *column, float *waves, LithoRun *run,
                                    GError **error);
gboolean litho_gpu_spectrum_adjoint(LithoGpuPlan *plan, LithoGpuBand *band, const float *waves,
                                    float *out, LithoRun *run, GError **error);
// fine image += interpolated coarse image, and its adjoint.
gboolean litho_gpu_coarse_add(LithoGpuPlan *plan, const LithoGpuBand *band, const float *coarse,
                              float *fine, GError **error);
gboolean litho_gpu_coarse_adjoint(LithoGpuPlan *plan, const LithoGpuBand *band, const float *fine,
                                  float *coarse, GError **error);

// cuda/step.c ----------------------------------------------------------------------------------
// Before the first step and, on the way up, after the last one: the split-step engine's transforms,
// and its waves from plane 0 into its own and back. For others nothing happens.
gboolean litho_gpu_steps_begin(LithoGpuPlan *plan, const LithoGpuBand *band,
                               LithoGpuWaves *const *sets, int n_sets, GError **error);
gboolean litho_gpu_steps_end(LithoGpuPlan *plan, const LithoGpuBand *band, LithoGpuWaves *waves,
                             GError **error);
// How the waves lie between begin and end.
LithoGpuPlane litho_gpu_plane_under_way(const LithoGpuBand *band);
// Waves that planes have room for, a little more than nf where transforms come in batches.
int litho_gpu_room(const LithoGpuBand *band);
float *litho_gpu_wave(const LithoGpuBand *band, const LithoGpuWaves *waves, int index, int f);
// Index of the plane that target m (0: the first) of a step lies in when the waves are in `now`; m
// may run on into the steps that follow.
int litho_gpu_plane_after(const LithoGpuBand *band, int now, int m);
// Room for what lies between passes, degrees and targets.
gboolean litho_gpu_scratch_reserve(LithoGpuPlan *plan, const LithoGpuBand *band, int n_sets,
                                   GError **error);
// Steps s .. s + n_steps - 1 (one, unless fused) of one or two sets of waves, from plane `now` to
// those of the targets. The fused kernel applies the sponge at the end of every step; for the
// others the imaging does.
gboolean litho_gpu_steps_down(LithoGpuPlan *plan, const LithoGpuBand *band,
                              LithoGpuWaves *const *sets, int n_sets, int now, int s, int n_steps,
                              GError **error);
// One step up, from plane `now` (and those of the depths between) to the last target's.
gboolean litho_gpu_step_up(LithoGpuPlan *plan, const LithoGpuBand *band, const LithoGpuWaves *up,
                           int now, int s, GError **error);

// cuda/sweep.c ---------------------------------------------------------------------------------
typedef gboolean (*LithoGpuSlab)(int first, int n, gpointer data, GError **error);
// Like litho_sweep_down() / litho_sweep_up(); the waves are plan->up and plan->down.
gboolean litho_gpu_sweep_down(LithoGpuPlan *plan, LithoGpuBand *band, gboolean shot, float *image,
                              float *light, LithoGpuSlab slab, gpointer data, LithoRun *run,
                              GError **error);
gboolean litho_gpu_sweep_up(LithoGpuPlan *plan, LithoGpuBand *band, const float *image,
                            LithoRun *run, GError **error);
// Room for nf waves and their planes of one step.
gboolean litho_gpu_waves_reserve(LithoGpuPlan *plan, const LithoGpuBand *band, LithoGpuWaves *waves,
                                 GError **error);
