// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/cuda/cuda.h"
#include "kernels/migrate/job.h"
#include "kernels/migrate/migrate_kernels.h"
#include "kernels/migrate/stages.h"

// What the CUDA side of migration keeps on one device. Private to *_cuda.c.
//
// Frequencies are split into groups, each with a stream of its own: while the last blocks of one
// group's launch finish, the other groups' fill the multiprocessors. Groups meet at the end of every
// slab of depths, where their image sums are added in a fixed order.

enum { LITHO_GPU_GROUPS = 4 };

typedef enum LithoGpuKernel {
    LITHO_GPU_FUSED,
    LITHO_GPU_PER_DEGREE,
    LITHO_GPU_SPLITSTEP,
} LithoGpuKernel;

// One grid's share of the band (see cpu.c) with its tables on the device.
typedef struct LithoGpuBand {
    LithoMigrateJob *job;    // this card's share, its own
    LithoGpuPlane plane;
    LithoGpuKernel kernel;
    int degrees_a_pass, quads, strip; // of the fused kernel, see litho_gpu_fused_plan()
    int strips;              // blocks that a plane's width takes
    int planes;              // arrays that a set of waves moves through
    LithoCudaArray steps;    // LithoGpuStep [n_steps][nf]
    LithoCudaArray coef;     // float [entries][targets][2][COEFS]
    LithoCudaArray slow;     // float [n_steps][ny][pitch], squared when fused; empty: layered
    LithoCudaArray table, table_scale;      // pointwise form
    LithoCudaArray sponge_x, sponge_y;
    LithoCudaArray omega, kx2, ky2;         // split-step: doubles
    double *mean;            // [n_steps] mean slowness, split-step
    LithoCudaArray turn;     // float [nf][2]
    LithoCudaArray spectrum; // waves at the surface (zero-offset)
    gboolean have_spectrum;
} LithoGpuBand;

// A set of nf waves under way: where it is now, and room for the planes of the next step.
typedef struct LithoGpuWaves {
    LithoCudaArray plane[LITHO_MIGRATE_MAX_STEP + 1];
    int now; // index of the plane array that holds the waves
} LithoGpuWaves;

typedef struct LithoGpuPlan {
    LithoGrid in;
    LithoCudaContext *context;
    LithoGpuBand band[LITHO_MIGRATE_MAX_JOBS];
    int n_bands;
    cudaStream_t stream[LITHO_GPU_GROUPS];
    cudaEvent_t joined[LITHO_GPU_GROUPS], forked;
    LithoGpuWaves up, down;
    LithoCudaArray scratch;     // b's between passes, T's between degrees
    LithoCudaArray part, light_part; // image sums of the groups for one slab
    LithoCudaArray image, light;     // [nz][ny][nx] of the image's grid
    LithoCudaArray coarse, coarse_light, resampled[2], taps; // coarse band
    LithoCudaArray growth;      // doubles: energy, floor, grown [nf] each
    LithoCudaArray live, cells, taper, lines, bins, largest, wavelet;
    int fft_length, fft_batch;
    int fft_forward, fft_inverse, fft_plane; // cufftHandle; 0 = none
    int fft_plane_nx, fft_plane_ny, fft_plane_waves; // what fft_plane is for
    gboolean have_light;
    LithoCudaArray gathered, traces; // another card's sums; traces of a card other than the first
    int ordinal;                // CUDA's index of the device
    size_t shared;              // bytes of shared memory a block may have
    int processors;
    double quota;               // part of the processors that this lane may count on
} LithoGpuPlan;

// card_cuda.c ----------------------------------------------------------------------------------
LithoGpuPlan *litho_gpu_card_new(const LithoGrid *in, int device, GError **error);
void litho_gpu_card_free(LithoGpuPlan *card); // NULL is fine
// Drops tables and spectra.
void litho_gpu_card_forget(LithoGpuPlan *card);
// Share k of n of the frequencies, of the jobs that are lane `lane` of `lanes`: the first lane has the image's
// own grid, the others take turns at the coarser ones.
typedef struct LithoGpuShare {
    int k, n, lane, lanes;
} LithoGpuShare;
// Takes the share, with tables.
gboolean litho_gpu_card_share(LithoGpuPlan *card, const LithoMigrateJobs *jobs, const LithoGpuShare *share,
                              GError **error);

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
gboolean litho_gpu_card_demigrate(LithoGpuPlan *card, const LithoCube *in, float *out, LithoRun *run,
                                  GError **error);

// band_cuda.c ----------------------------------------------------------------------------------
gboolean litho_gpu_band_tables(LithoGpuPlan *plan, LithoGpuBand *band, GError **error);
void litho_gpu_band_clear(LithoGpuPlan *plan, LithoGpuBand *band);
// Uploads `count` elements of `size` bytes; waits, so `from` may go.
gboolean litho_gpu_upload(LithoGpuPlan *plan, LithoCudaArray *to, const void *from, size_t bytes,
                          GError **error);

// spectrum_cuda.c ------------------------------------------------------------------------------
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

// step_cuda.c ----------------------------------------------------------------------------------
// n waves from frequency f on, in step s.
typedef struct LithoGpuTask {
    LithoGpuPlan *plan;
    LithoGpuBand *band;
    cudaStream_t stream;
    float *scratch; // litho_gpu_scratch_planes() * batch waves
    int batch;
    int s, f, n;
} LithoGpuTask;

// Before the first step and, on the way up, after the last one: the split-step engine's transforms, and its
// waves from plane 0 into its own and back. For others nothing happens.
gboolean litho_gpu_steps_begin(LithoGpuPlan *plan, const LithoGpuBand *band, LithoGpuWaves *waves, GError **error);
gboolean litho_gpu_steps_end(LithoGpuPlan *plan, const LithoGpuBand *band, LithoGpuWaves *waves, GError **error);
// How the waves lie between begin and end.
LithoGpuPlane litho_gpu_plane_under_way(const LithoGpuBand *band);
// Waves that planes have room for, a little more than nf where transforms come in batches.
int litho_gpu_room(const LithoGpuBand *band);
float *litho_gpu_wave(const LithoGpuBand *band, const LithoGpuWaves *waves, int index, int f);
// Index of the array that target m (0: the first) of a step lies in when the waves are in `now`.
int litho_gpu_plane_after(const LithoGpuBand *band, int now, int m);
int litho_gpu_scratch_planes(const LithoGpuBand *band);
// One step down, from array `now` to those of the targets; the sponge comes with the imaging.
gboolean litho_gpu_step_down(const LithoGpuTask *task, const LithoGpuWaves *waves, int now,
                             GError **error);
// One step up, from array `now` (and those of the depths between) to the last target's.
gboolean litho_gpu_step_up(const LithoGpuTask *task, const LithoGpuWaves *up, int now,
                           GError **error);

// sweep_cuda.c ---------------------------------------------------------------------------------
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
