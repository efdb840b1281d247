// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <driver_types.h>

#include "kernels/fx/geometry.h"

// Launchers of the F-X filter's kernels, plain C. All pointers inside are device pointers; every
// function gives (int)cudaGetLastError(). The rules are those of geometry.h; a "system" is one
// spatial window at one bin of one time window.
//
// Order of the stages: forward (spectra of the time windows), then per time window and chunk of
// bins [open, fill: matrix + solve + guess, ...] for windows with absent traces, and for all of
// them matrix, solve, apply; then the inverse.

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LithoFxComplex {
    float re, im;
} LithoFxComplex;

// Traces held on the device: survey indices [il0, il0 + n_il) x [xl0, xl0 + n_xl).
typedef struct LithoFxHeld {
    int il0, xl0, n_il, n_xl;
} LithoFxHeld;

// One spatial window of one time window, as the host has laid it out. Survey indices throughout.
typedef struct LithoFxSpot {
    int il0, xl0, n_il, n_xl;       // traces to predict
    int c_il0, c_il1, c_xl0, c_xl1; // traces with a centred block: design points when live
    int d_il0, d_il1, d_xl0, d_xl1; // places in the block, relative to its centre, that
                                    // traces near the survey's edge take; all 0: only the
                                    // centre. Inclusive
    int slot;                       // number of the first filter; (d_il1 - d_il0 + 1) x
                                    // (d_xl1 - d_xl0 + 1) of them, row by row
    int tile;                       // private tile of a window with absent traces, or -1
    int missing;                    // design points that are absent
    int few;                        // absent traces of the widened window when they are so few that
                                    // equations are brought up to date between passes; else 0
    int out;                        // number among all spatial windows of the job
} LithoFxSpot;

// Data that the kernels of one group share: one time window, one block shape, `bins` bins.
typedef struct LithoFxGroup {
    const LithoFxSpot *spots;
    int n_spots, n_slots;
    int half_il, half_xl, size; // size = traces of the block
    int n_il, n_xl;             // survey
    LithoFxHeld held;
    const LithoFxComplex *spectra; // [bin][held], first bin of the chunk
    long long plane;               // numbers from one bin to the next
    const unsigned char *present;  // [held]
    const unsigned char *recorded; // [held]: 0 = missing in the input, present as a guess at most
    int bins;

    // Private tiles: [tile][bin][tile_il][tile_xl], window widened by 2 half; states [tile][...].
    LithoFxComplex *tiles[2]; // before and after a fill pass
    unsigned char *states[2];
    int tile_il, tile_xl;

    float *matrix; // [spot][bin][matrix_pitch], litho_fx_packed()
    int matrix_pitch;
    LithoFxComplex *taps; // [bin][slot][size]
    unsigned char *good;  // [spot][bin]: 1 = has a filter
    float *scales;        // [spot][bin]: of the traces in the matrix, a power of two
    LithoFxComplex *out;  // [spot.out][bin of out_bins][window_il * window_xl], from the first bin
    int out_pitch, out_bins;
    unsigned long long *counters; // LITHO_FX_COUNTERS
    float *over;    // [spot][bin][out_pitch]: the part of what was removed that is beyond the noise
    float *largest; // [spot][bin][piece]: amplitude of what was removed; 0 = none of it is beyond
    float padding;  // samples of the transform over those of a time window

    float share;                        // litho_fx_share() over size
    // Shared noise (rule 8 of geometry.h): its power in a spectrum, [bin of the band], and its
    // covariance in units of that, [bin of the band][lag] as fx_shared_bins() has them for blocks
    // of half widths reach_il, reach_xl. `lags` NULL: there is none.
    const float *level;
    const LithoFxComplex *lags;
    int reach_il, reach_xl;
    LithoFxAlike alike;
    int band_first, band_bins;          // of the group's first bin in the band, and all of the band
    int automatic;                      // prewhitening is
    int updates;                        // litho_fx_update() serves the spots with few changes
    int solver, form, edge, mute, post; // edge: renorm for form acf
} LithoFxGroup;

// States of a tile's traces.
enum { LITHO_FX_ABSENT, LITHO_FX_FILLED, LITHO_FX_LIVE, LITHO_FX_OUTSIDE };
enum {
    LITHO_FX_SYSTEMS,
    LITHO_FX_FALLBACKS,
    LITHO_FX_FAILED,
    LITHO_FX_OCTAVES, // sum of litho_fx_octaves(), which may be negative: modulo 2^64
    LITHO_FX_COUNTERS
};

// --- cuda/spectra.cu -----------------------------------------------------------------------------

// One row of time windows to transform: traces [first, first + count) of the held ones, time
// windows [0, windows) starting at sample start[k] (relative to the input's first held sample).
typedef struct LithoFxFrame {
    const float *in;           // [held traces][samples]
    const unsigned char *live; // [held traces]: the cube's mask
    long long traces;          // held
    int samples;               // held per trace
    int length, nfft, windows;
    const int *start; // device
    long long first;
    int count;
} LithoFxFrame;

// padded[window][trace][nfft] = samples or zeros; present[window][held trace] = 1 or 0;
// absent[window] counts the zeros.
int litho_fx_pad(const LithoFxFrame *frame, float *padded, unsigned char *present, int *absent,
                 cudaStream_t stream);
// spectra[window][bin][held trace] = transformed[window][trace][bin_first + bin].
int litho_fx_transpose(const LithoFxFrame *frame, const LithoFxComplex *transformed, int bin_first,
                       int bins, LithoFxComplex *spectra, cudaStream_t stream);

// Time windows [window, window + windows) on their way back: traces [first, first + count) of those
// to make, row by row. Several windows are allowed only where litho_fx_inverse() blends the
// filtered windows itself.
typedef struct LithoFxBack {
    LithoFxAxis il, xl, time;
    int w_il0, w_xl0, w_nxl;  // windows of the job: first ones, and how many along xl
    int il0, xl0, n_il, n_xl; // traces to make, survey indices
    int t0, samples;          // samples to make, survey indices
    LithoFxHeld out_held;     // what the result covers
    int out_t0, out_samples;
    const LithoFxComplex *out; // as in LithoFxGroup
    int out_pitch, out_bins;   // bins of all time windows of the chunk
    int bins;                  // of one time window
    int bin_first;             // of this chunk in the FFT
    int nfft;
    long long first;
    int count;

    const float *in; // the input's held box
    LithoFxHeld in_held;
    int in_t0, in_samples;
    const unsigned char *present; // [windows][in_held]
    int window, windows;
    const float *weights; // [windows][time.length]: blending
    int mute, fill_dead, clear;
} LithoFxBack;

// blended[trace][nfft / 2 + 1]: bins of the chunk are set, others left alone, or cleared (`clear`).
int litho_fx_blend_bins(const LithoFxBack *back, LithoFxComplex *blended, cudaStream_t stream);
// result[out_held][out_samples] takes time window `window`'s share; samples[trace][nfft] not yet
// divided by nfft. Time windows must come in ascending order.
int litho_fx_blend_time(const LithoFxBack *back, const float *samples, float *result,
                        cudaStream_t stream);

// sums[block][3], `blocks` of them: energies of input, of what was removed, and their product with
// the output, over live traces; filled[trace to make] = 1 where anything is not zero.
int litho_fx_weigh(const LithoFxBack *back, const unsigned char *live, const float *result,
                   int blocks, double *sums, unsigned char *filled, cudaStream_t stream);

// Traces of the region that are missing (`recorded` is 0, [in_held]) get the samples back->in has.
int litho_fx_restore(const LithoFxBack *back, const unsigned char *recorded, float *result,
                     cudaStream_t stream);

// --- cuda/fft.cu ---------------------------------------------------------------------------------

// 1 when the two functions below know this length: powers of two from 64 to 1024, and 3, 5 or 15
// times a power of two between 40 and 384, and 54.
int litho_fx_own_length(int nfft);
// 1 when they can blend windows that overlap like these (at most eight deep).
int litho_fx_can_blend(LithoFxAxis axis);
// pad, transform and transpose in one.
int litho_fx_forward(const LithoFxFrame *frame, int bin_first, int bins, LithoFxComplex *spectra,
                     unsigned char *present, int *absent, cudaStream_t stream);
// blend_bins (when `blended` is NULL and back->bins are all bins of the band), transform and
// blend_time in one. The samples do not depend on who blended.
int litho_fx_inverse(const LithoFxBack *back, const LithoFxComplex *blended, float *result,
                     cudaStream_t stream);

// --- cuda/matrix.cu ------------------------------------------------------------------------------

// 1 when litho_fx_matrix() can use box sums for windows of this shape (a fraction of the cost of
// one equation after the other).
int litho_fx_box_serves(int half_il, int half_xl, int form, int max_il, int max_xl,
                        int shared_limit);
int litho_fx_matrix(const LithoFxGroup *group, int max_il, int max_xl, int pass, int shared_limit,
                    cudaStream_t stream);

// --- cuda/update.cu -----------------------------------------------------------------------------

// Brings the matrices of spots with few changes up to date, from pass - 1 to pass. Where
// litho_fx_box_serves() says 1 only; `most`: largest `few` in the group. litho_fx_matrix() leaves
// these spots alone but in pass 0.
int litho_fx_update(const LithoFxGroup *group, int max_il, int max_xl, int most, int pass,
                    cudaStream_t stream);

// --- cuda/solve.cu -------------------------------------------------------------------------------

// Spots [first, first + count); `edges`: they have more than one filter. `last`: count systems.
int litho_fx_solve(const LithoFxGroup *group, int first, int count, int edges, int last,
                   cudaStream_t stream);

// --- cuda/solve_rows.cu ---------------------------------------------------------------------------

// 1 when litho_fx_solve_rows() can solve the group's systems.
int litho_fx_rows_serve(const LithoFxGroup *group);
// litho_fx_solve() for them.
int litho_fx_solve_rows(const LithoFxGroup *group, int first, int count, int edges, int last,
                        cudaStream_t stream);

// --- cuda/shared.cu ------------------------------------------------------------------------------

// litho_fx_solve() for groups with shared noise.
int litho_fx_solve_shared(const LithoFxGroup *group, int first, int count, int edges, int last,
                          cudaStream_t stream);

// --- cuda/apply.cu -------------------------------------------------------------------------------

// Fills both tiles and states from the spectra.
int litho_fx_open(const LithoFxGroup *group, cudaStream_t stream);
// Absent traces of the boxes take their prediction: from tiles[pass % 2] to the other.
int litho_fx_guess(const LithoFxGroup *group, int pass, cudaStream_t stream);
// Predictions of the windows; tiles[pass % 2] for windows that have one.
int litho_fx_apply(const LithoFxGroup *group, int pass, cudaStream_t stream);

// --- cuda/keep.cu --------------------------------------------------------------------------------

// Rule 6 of geometry.h on the predictions. `a_window`: bins of one time window, of which the group
// holds several.
int litho_fx_keep(const LithoFxGroup *group, int a_window, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

// Lower triangles of a size rounded up to multiples of four, in block columns of four, the rows
// above the diagonal tile left out: four rows are one 16-byte access, and shared memory holds the
// same bytes as device memory. Place of (row, column), row >= column; litho_fx_packed_size() floats
// in all.
LITHO_FX_FN int litho_fx_round4(int size)
{
    return (size + 3) / 4 * 4;
}

LITHO_FX_FN int litho_fx_block(int rounded, int block)
{
    return 4 * (rounded * block - 2 * block * (block - 1));
}

LITHO_FX_FN int litho_fx_packed(int rounded, int row, int column)
{
    int block = column / 4;
    return litho_fx_block(rounded, block) + column % 4 * (rounded - 4 * block) + row - 4 * block;
}

LITHO_FX_FN int litho_fx_packed_size(int rounded)
{
    return litho_fx_block(rounded, rounded / 4);
}
