// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <driver_types.h>

#include "kernels/migrate/stencil.h"

// Launchers of the .cu files of this folder. Each gives (int)cudaGetLastError(). All pointers are
// device pointers unless said otherwise.
//
// A wave is two planes of floats, real parts [ny][pitch], then imaginary parts; columns nx ..
// pitch-1 are 0. Waves of frequencies follow each other. pitch is a multiple of 8. While the
// split-step engine works, both parts of a point lie side by side instead; imaging takes either.

#ifdef __cplusplus
extern "C" {
#endif

enum { MIG_GPU_MAX_TARGETS = 4, MIG_GPU_COEFS = 64 };

typedef struct MigGpuPlane {
    int nx, ny, pitch;
    size_t size; // floats of one wave: 2 ny pitch
    int step;    // floats from a point to the next: 1, interleaved 2
    size_t im;   // floats from a real part to the imaginary one: ny pitch, interleaved 1
} MigGpuPlane;

// Operator of one frequency in one step.
typedef struct MigGpuStep {
    LithoStencil stencil;
    int entry; // polynomials coef[(entry * targets + m) * 2 * COEFS]: re[COEFS], im[COEFS]
} MigGpuStep;

// --- fused: several degrees on chip (operator form) -------------------------------------------

enum { MIG_GPU_PLANES = 33 };

// Waves through n_steps steps: for each the targets from targets[0] to targets[1] - 1, by
// Clenshaw's recursion b_n = a_n P + Y b_(n+1) - b_(n+2) in passes of up to `degrees` degrees. A
// step starts where the last target of the one before ended. One launch; `progress` must not be
// another's until it is done.
typedef struct MigGpuFused {
    MigGpuPlane plane;
    int n_sets, n_waves, n_steps;
    // Per set, n_waves waves at every entry: the start, then each step's targets.
    float *wave[2][MIG_GPU_PLANES];
    float *between[2][2]; // [n_sets n_waves]: what even and odd passes leave to the next, b_n and
                          // b_(n+1)
    const float *slow2;   // [n_steps][ny][pitch], or NULL: slow2_value everywhere
    float slow2_value[MIG_GPU_PLANES];
    const MigGpuStep *steps; // of the first wave's frequency and the first step
    size_t steps_stride;     // between steps
    const float *coef;
    int all_targets; // polynomials an entry of `coef` has
    int targets[2], degree[MIG_GPU_MAX_TARGETS];
    int conjugate;
    const float *sponge_x, *sponge_y; // [pitch], [ny] factors of a step's last target; NULL: none
    int *progress;                    // [1 + n_sets n_waves strips]
    int degrees, quads, strip, strips,
        halo; // of a block: degrees a pass, width / 4, columns written, overlap
    int passes[MIG_GPU_MAX_TARGETS], stages, n_tasks; // filled in by mig_gpu_fused()
} MigGpuFused;

// A configuration that this device can run, the fastest by count of work: degrees a pass and quads
// a tile for planes of nx columns. Up to `beside` blocks a plane run side by side. `shared` = bytes
// of shared memory a block may have.
void mig_gpu_fused_plan(int nx, int degrees, int beside, size_t shared, int *degrees_a_pass,
                        int *quads, int *strip);
size_t mig_gpu_fused_shared(int degrees, int quads);
int mig_gpu_fused_prepare(size_t shared);            // once per device
int mig_gpu_fused_blocks(int quads, int processors); // at work at a time
int mig_gpu_fused(const MigGpuFused *args, int processors, cudaStream_t stream);

// --- one launch a degree, as published ---------------------------------------------------------

typedef struct MigGpuDegree {
    MigGpuPlane plane;
    const float *now;                // T_(n-1) or b_(n+1); the stencil is applied to it
    float *other;                    // T_(n-2) or b_(n+2) on the way in, T_n or b_n on the way out
    float *sum[MIG_GPU_MAX_TARGETS]; // forward: W_m, added to
    const float *in[MIG_GPU_MAX_TARGETS]; // adjoint: sources
    const float *slowness;                // [ny][pitch] or NULL with slow_value
    float slow_value;
    const MigGpuStep *steps;
    const float *coef; // operator form
    // Pointwise form: table[target][n][entry][re, im]; entry = slowness scale[wave] - offset.
    const float *table;
    int n_table, n_coefs;
    const float *table_scale;
    float table_offset;
    int targets;
    int n, degree;
    int adjoint; // 0: T recursion, n = 1 .. degree; 1: Clenshaw, n = degree .. 0
    int n_waves;
} MigGpuDegree;
int mig_gpu_degree(const MigGpuDegree *args, cudaStream_t stream);

// --- imaging -----------------------------------------------------------------------------------

// Geometry that the imaging kernels share: cells under the image inside the padded plane, sponge
// factors (NULL = none) applied to the waves after they were used.
typedef struct MigGpuFrame {
    MigGpuPlane plane;
    int pad_x, pad_y, data_nx, data_ny;
    const float *sponge_x, *sponge_y;
    int n_waves;
} MigGpuFrame;

// The sponge: leave alone, apply after the sum, or it was applied already and the sum undoes it.
enum { MIG_GPU_NO_SPONGE, MIG_GPU_SPONGE, MIG_GPU_SPONGE_DONE };

// sum[data_ny][data_nx] += scale sum_f Re wave_f; then the sponge.
int mig_gpu_image(const MigGpuFrame *frame, float *waves, float scale, float *sum, int sponge,
                  cudaStream_t stream);
// sum += sum_f Re up_f down_f, light += sum_f |down_f|^2 over the first n_plain waves; then the
// sponge on all waves of both.
int mig_gpu_correlate(const MigGpuFrame *frame, float *up, float *down, int n_plain, float *sum,
                      float *light, int sponge, cudaStream_t stream);
// Sums as mig_gpu_correlate() does, for the waves from `first` on, multiplied on a grid twice as
// fine (product.h); leaves the waves alone. Before mig_gpu_correlate().
int mig_gpu_protect(const MigGpuFrame *frame, const float *up, const float *down, int first,
                    float *sum, float *light, int sponge, cudaStream_t stream);
// waves_f <- (sponge of the waves, if `sponge`) + scale plane[data_ny][data_nx] for all f.
int mig_gpu_inject(const MigGpuFrame *frame, float *waves, const float *plane, float scale,
                   int sponge, cudaStream_t stream);
// out[i][j][z] (nz samples a trace) = scale planes[z][i][j]; with `light`: divided by it plus eps
// times the plane's largest (from mig_gpu_plane_max).
int mig_gpu_planes_to_traces(const float *planes, const float *light, const float *largest,
                             float eps, float scale, size_t cells, int nz, float *out,
                             cudaStream_t stream);
int mig_gpu_plane_max(const float *planes, size_t cells, int nz, float *largest,
                      cudaStream_t stream);
// planes[z][cell] = traces[cell][z] where live and finite, else 0.
int mig_gpu_traces_to_planes(const float *traces, const unsigned char *live, size_t cells, int nz,
                             float *planes, cudaStream_t stream);
int mig_gpu_square(float *values, size_t n, cudaStream_t stream);
// a += b over n floats.
int mig_gpu_add(float *a, const float *b, size_t n, cudaStream_t stream);
// energy[wave] = sum |wave|^2 (double), fixed order.
int mig_gpu_energy(const MigGpuPlane *plane, const float *waves, int n_waves, double *energy,
                   cudaStream_t stream);
// grown[wave] = energy / floor when above limit (else 0); floor = min(floor, energy).
int mig_gpu_growth(const double *energy, double *floor, double *grown, double limit, int n_waves,
                   cudaStream_t stream);

// --- spectra -----------------------------------------------------------------------------------

// Padded and tapered traces: lines[k][nfft] from traces first + k, dead (`live` may be NULL: none
// is) and non-finite as 0; with `list` from traces list[first + k].
int mig_gpu_load_lines(const float *traces, const long long *list, const unsigned char *live,
                       const float *taper, size_t first, int n, int nt, int nfft, float *lines,
                       cudaStream_t stream);
// wave_f at each trace's cell += turn_f spectrum[k][k_first + k_stride f]. cell = y pitch + x, -1 =
// none.
int mig_gpu_scatter(const float2 *spectrum, int n, int n_bins, int k_first, int k_stride, int nf,
                    const float *turn, const int *cell, MigGpuPlane plane, float *waves,
                    cudaStream_t stream);
// The adjoint: spectrum[k][bins] from the waves (other bins 0).
int mig_gpu_gather(const float *waves, MigGpuPlane plane, const int *cell, const float *turn, int n,
                   int n_bins, int k_first, int k_stride, int nf, float2 *spectrum,
                   cudaStream_t stream);
// traces[first + k][t] += taper[t] lines[k][t].
int mig_gpu_store_lines(const float *lines, const float *taper, size_t first, int n, int nt,
                        int nfft, float *traces, cudaStream_t stream);
// A source on cells (i, j) of a rectangle with weights x[i] y[j].
enum { MIG_GPU_SPREAD = 16 };
typedef struct MigGpuSource {
    int first, nx, ny; // first cell as y pitch + x
    float x[MIG_GPU_SPREAD], y[MIG_GPU_SPREAD];
} MigGpuSource;
// waves_f at the source's cells += weight conj(wavelet_f).
int mig_gpu_source(float *waves, MigGpuPlane plane, const MigGpuSource *source,
                   const float *wavelet, int nf, cudaStream_t stream);

// --- split-step --------------------------------------------------------------------------------

// On interleaved planes. Phase shift of all waves in (kx, ky), by 1 / (nx ny) for the transforms.
int mig_gpu_phase_shift(MigGpuPlane plane, float *waves, int n_waves, const double *omega,
                        double mean, double dz, const double *kx2, const double *ky2, int adjoint,
                        cudaStream_t stream);
// wave *= exp(i omega dz (slowness - mean)); slowness [ny][pitch].
int mig_gpu_lens(MigGpuPlane plane, float *waves, int n_waves, const double *omega, double dz,
                 const float *slowness, double mean, cudaStream_t stream);
// Planes of one kind into the other's.
int mig_gpu_relay(MigGpuPlane from, const float *in, MigGpuPlane to, float *out, int n_waves,
                  cudaStream_t stream);

// --- a first look (preview.h) ------------------------------------------------------------------

enum { MIG_GPU_PREVIEW_NEW = 1, MIG_GPU_PREVIEW_STOP = 2 };

// Waves of all wavenumbers through all steps; sums of their frequencies in every depth.
typedef struct MigGpuPreview {
    int nx, ny, nf, nz, n_steps;
    int targets, degree[MIG_GPU_MAX_TARGETS]; // of a step
    const MigGpuStep *steps;                  // [n_steps][nf]
    const float *coef, *stop;                 // as the steps' entries say
    int stop_degree;
    const float *slow2; // [n_steps] of mean rock
    const int *flags;   // [n_steps]
    const float *waves; // [nf][ny][nx] pairs
    float *image;       // [nz][ny][nx] pairs
} MigGpuPreview;
int mig_gpu_preview_down(const MigGpuPreview *args, cudaStream_t stream);
// Cells under the image of planes of waves to pairs [nf][ny][nx], zeros around them.
int mig_gpu_preview_load(MigGpuPlane plane, const float *waves, int pad_x, int pad_y, int data_nx,
                         int data_ny, int nx, int ny, int nf, float *out, cudaStream_t stream);
// Real parts of the sums to planes [nz][data_ny][data_nx]; with `time`, [nz] of mean rock, at the
// depths of the cells' own vertical time.
typedef struct MigGpuPreviewImage {
    int nx, ny, nz, data_nx, data_ny;
    const float *image;
    float scale;
    const float *time; // NULL: rock does not vary to the sides
    const float *slow; // [n_steps][.. slow_plane], squared or not
    int squared, pad_x, pad_y, pitch;
    size_t slow_plane;
    int step, n_steps;
    float *planes;
} MigGpuPreviewImage;
int mig_gpu_preview_planes(const MigGpuPreviewImage *args, cudaStream_t stream);

// --- design of polynomials (design.h) ------------------------------------------------------------

typedef struct MigGpuPolySpec {
    double kap, rho, theta, w0, tol, stop, transition; // LITHO_POLY_TRANSITION
    int degree;
} MigGpuPolySpec;
typedef struct MigGpuPoly {
    double tau;
    float re[MIG_GPU_COEFS], im[MIG_GPU_COEFS];
} MigGpuPoly;
// Bytes of shared and of device memory that a block needs for a design; `real`: it is a stop.
size_t mig_gpu_design_shared(int degree, int real);
size_t mig_gpu_design_bytes(int degree, int real);
// n designs by so many blocks that take the next one each, of `shared` and `room` bytes: the
// largest that a design needs. `next` is a number of the launch's own.
int mig_gpu_design(const MigGpuPolySpec *specs, int n, size_t shared, double *rooms, size_t room,
                   int blocks, int *next, MigGpuPoly *polys, cudaStream_t stream);

// --- resampling --------------------------------------------------------------------------------

// out[a][o][x] = sum_k weight[o width + k] in[a][first[o] + k][x], k < count[o], added to what is
// there if `add`.
typedef struct MigGpuTaps {
    const int *first, *count;
    const float *weight;
    int width, n_in, n_out;
} MigGpuTaps;
int mig_gpu_taps(const MigGpuTaps *taps, size_t outer, size_t inner, const float *in, float *out,
                 int add, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
