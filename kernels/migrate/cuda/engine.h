// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/cuda/cuda.h"
#include "kernels/migrate/cuda/kernels.h"
#include "kernels/migrate/engine.h"

// The engine on a GPU: one card, or one lane of it. Private to this folder. Everything runs in the
// context's stream.

typedef enum MigGpuKernel {
    MIG_GPU_FUSED,
    MIG_GPU_PER_DEGREE,
    MIG_GPU_SPLITSTEP,
} MigGpuKernel;

// One grid's share of the band with its tables on the device.
typedef struct MigGpuBand {
    const LithoMigrateJob *job; // the engine's; NULL: no tables
    MigGpuPlane plane;
    MigGpuKernel kernel;
    int degrees_a_pass, quads, strip; // of the fused kernel, see mig_gpu_fused_plan()
    int strips;                       // blocks that a plane's width takes
    int slab_steps;                   // between two partial results
    int planes; // that a set of waves moves through: those of a step, of a slab when fused
    LithoCudaArray steps; // MigGpuStep [n_steps][nf]
    LithoCudaArray coef;  // float [entries][targets][2][COEFS]
    LithoCudaArray stop;  // float [entries][2][COEFS] of what takes steeper waves away
    LithoCudaArray slow;  // float [n_steps][ny][pitch], squared when fused; empty: layered
    guint64 slow_serial;  // of the job's planes that `slow` holds; kept beyond the job
    gboolean slow_squared;
    LithoCudaArray table, table_scale; // pointwise form
    LithoCudaArray sponge_x, sponge_y;
    LithoCudaArray omega, kx2, ky2; // split-step: doubles
    LithoCudaArray turn;            // float [nf][2]
    LithoCudaArray spectrum;        // waves at the surface (zero-offset)
} MigGpuBand;

// A set of nf waves under way.
typedef struct MigGpuWaves {
    LithoCudaArray planes; // [band->planes][nf] waves
    int now;               // plane that the waves have come to
} MigGpuWaves;

typedef struct MigGpu {
    MigEngine engine;
    LithoGrid in;
    LithoCudaContext *context;
    MigGpuBand band[LITHO_MIGRATE_MAX_JOBS];
    MigGpuWaves up, down;
    LithoCudaArray scratch;      // b's between passes, T's between degrees
    LithoCudaArray progress;     // of the fused kernel's tasks
    LithoCudaArray image, light; // [nz][ny][nx] of the image's grid
    LithoCudaArray coarse, coarse_light, resampled[2], taps; // coarse band
    LithoCudaArray growth; // doubles: energy, floor, grown [nf] each
    LithoCudaArray live, cells, listed, taper, lines, bins, largest, wavelet;
    int fft_length, fft_batch;
    int fft_forward, fft_inverse, fft_plane;         // cufftHandle; 0 = none
    int fft_plane_nx, fft_plane_ny, fft_plane_waves; // what fft_plane is for
    int fft_look[2], fft_look_key[2][3]; // of a first look's waves and sums; rows, columns, planes
    LithoCudaArray look;                 // its tables
    LithoCudaArray specs;                // of polynomials under design, and the designs
    float *out;                          // the result on the first card, borrowed for the pass
    LithoCudaArray gathered, traces; // another card's sums; traces of a card other than the first
    int ordinal;                     // CUDA's index of the device
    size_t spare;  // bytes left for planes beyond those of one step, a set of waves
    size_t shared; // bytes of shared memory a block may have
    int processors;
    double quota; // part of the processors that this lane may count on
} MigGpu;

// cuda/engine.c --------------------------------------------------------------------------------
extern const MigEngineClass mig_gpu;
static inline MigGpu *mig_gpu_of(MigEngine *engine)
{
    return (MigGpu *)engine;
}

// cuda/design.c --------------------------------------------------------------------------------
// The member of the same name of MigEngineClass.
gboolean mig_gpu_design_polys(gpointer engine, LithoPoly *const *polys, guint n, LithoRun *run,
                              GError **error);
// Most bytes that designs under way have, in the room of the waves' scratch.
enum { MIG_GPU_DESIGN_ROOM = 64 << 20 };

// cuda/rounds.c --------------------------------------------------------------------------------
// The members of the same name of MigEngineClass.
int mig_gpu_lanes(const MigEngine *home, const LithoMigrateJobs *jobs, int cards);
gboolean mig_gpu_rounds(MigEngine *(*engine)[MIG_MAX_LANES], const LithoMigrateJobs *jobs,
                        MigTeam *team, GError **error);
// Bytes that the fastest way takes; with less, fewer frequencies are under way at a time.
guint64 mig_gpu_bytes(const LithoGrid *in, const void *params, LithoResolved *known,
                      LithoBox region, int threads);

// cuda/band.c ----------------------------------------------------------------------------------
// Steps of about 12 ms, which a cancel may have to wait for twice; `updates` of a point by a degree
// a step.
int mig_gpu_slab_steps(double updates, int step);
gboolean mig_gpu_band_tables(MigGpu *plan, MigGpuBand *band, GError **error);
// Drops all but the slowness, which the next job often shares.
void mig_gpu_band_clear(MigGpu *plan, MigGpuBand *band);
// Uploads `count` elements of `size` bytes; waits, so `from` may go.
gboolean mig_gpu_upload(MigGpu *plan, LithoCudaArray *to, const void *from, size_t bytes,
                        GError **error);

// cuda/spectrum.c ------------------------------------------------------------------------------
// Traces of `nfft` samples that are transformed at a time, at most: a gigabyte with their spectra
// and cuFFT's own room.
static inline int mig_gpu_lines(int nfft)
{
    enum { MOST = 8192 };
    return (int)CLAMP((gint64)(1 << 30) / (16 * (gint64)nfft), 1, MOST);
}
// Traces to waves (zeroed first): all at their own cells, or those of a shot at their receivers'.
gboolean mig_gpu_spectrum_forward(MigGpu *plan, MigGpuBand *band, const LithoCube *in,
                                  const LithoShotTraces *traces, float *waves, LithoRun *run,
                                  GError **error);
gboolean mig_gpu_spectrum_adjoint(MigGpu *plan, MigGpuBand *band, const float *waves, float *out,
                                  LithoRun *run, GError **error);
// fine image += interpolated coarse image, and its adjoint.
gboolean mig_gpu_coarse_add(MigGpu *plan, const MigGpuBand *band, const float *coarse, float *fine,
                            GError **error);
gboolean mig_gpu_coarse_adjoint(MigGpu *plan, const MigGpuBand *band, const float *fine,
                                float *coarse, GError **error);

// cuda/step.c ----------------------------------------------------------------------------------
// Before the first step and, on the way up, after the last one: the split-step engine's transforms,
// and its waves from plane 0 into its own and back. For others nothing happens.
gboolean mig_gpu_steps_begin(MigGpu *plan, const MigGpuBand *band, MigGpuWaves *const *sets,
                             int n_sets, GError **error);
gboolean mig_gpu_steps_end(MigGpu *plan, const MigGpuBand *band, MigGpuWaves *waves,
                           GError **error);
// Plane of the waves between begin and end.
MigGpuPlane mig_gpu_plane_under_way(const MigGpuBand *band);
// Waves that planes have room for, a little more than nf where transforms come in batches.
int mig_gpu_room(const MigGpuBand *band);
float *mig_gpu_wave(const MigGpuBand *band, const MigGpuWaves *waves, int index, int f);
// Index of the plane that target m (0: the first) of a step lies in when the waves are in `now`; m
// may run on into the steps that follow.
int mig_gpu_plane_after(const MigGpuBand *band, int now, int m);
// Room for what lies between passes, degrees and targets.
gboolean mig_gpu_scratch_reserve(MigGpu *plan, const MigGpuBand *band, int n_sets, GError **error);
// Steps s .. s + n_steps - 1 (one, unless fused) of one or two sets of waves, from plane `now` to
// those of the targets. The fused kernel applies the sponge at the end of every step; for the
// others the imaging does.
gboolean mig_gpu_steps_down(MigGpu *plan, const MigGpuBand *band, MigGpuWaves *const *sets,
                            int n_sets, int now, int s, int n_steps, GError **error);
// Takes what is steeper than the largest dip away from one or two sets of waves, as in step s: from
// plane `now` to the next one, plane_after(now, 0). Its own adjoint.
gboolean mig_gpu_stop(MigGpu *plan, const MigGpuBand *band, MigGpuWaves *const *sets, int n_sets,
                      int now, int s, GError **error);
// One step up, from plane `now` (and those of the depths between) to the last target's.
gboolean mig_gpu_step_up(MigGpu *plan, const MigGpuBand *band, const MigGpuWaves *up, int now,
                         int s, GError **error);

// cuda/rival.c ---------------------------------------------------------------------------------
// LithoImpl.rivals.
gboolean mig_gpu_rivals(const LithoGrid *in, const void *params, int repeat, LithoRun *run,
                        GArray *rows, GError **error);

// cuda/preview.c -------------------------------------------------------------------------------
// The member of the same name of MigEngineClass.
gboolean mig_gpu_preview(MigEngine *engine, int b, gboolean *made, LithoRun *run, GError **error);
void mig_gpu_preview_drop(MigGpu *plan); // its transforms

// cuda/sweep.c ---------------------------------------------------------------------------------
// Sweeps as litho_sweep_down() and litho_sweep_up(); the waves are plan->up and plan->down.
gboolean mig_gpu_sweep_down(MigGpu *plan, MigGpuBand *band, gboolean shot, float *image,
                            float *light, MigSlab slab, gpointer data, LithoRun *run,
                            GError **error);
gboolean mig_gpu_sweep_up(MigGpu *plan, MigGpuBand *band, const float *image, LithoRun *run,
                          GError **error);
// Room for nf waves and their planes of one step.
gboolean mig_gpu_waves_reserve(MigGpu *plan, const MigGpuBand *band, MigGpuWaves *waves,
                               GError **error);
