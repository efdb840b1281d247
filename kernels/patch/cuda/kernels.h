// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <driver_types.h>
#include <vector_types.h>

#include "kernels/patch/faults.h"

// Launchers of the local Fourier filter. Each gives (int)cudaGetLastError(). All pointers are
// device pointers unless said otherwise.
//
// A column is all windows at one place of the inline and crossline axes, a row all columns at one
// inline place. The windows of a column are added up in its strip; strips of a few rows are kept in
// a ring and summed for the inlines that no later row reaches. Both sums have a fixed order.

#ifdef __cplusplus
extern "C" {
#endif

// A dense box of samples: `n[3]` of them, the first at grid index `lo[3]`.
typedef struct LithoPatchBox {
    long long lo[3], n[3];
} LithoPatchBox;

// One sweep over a region.
typedef struct LithoPatchTask {
    LithoPatchGeometry g;
    const float *in;
    LithoPatchBox held;        // of `in`
    const unsigned char *live; // traces of `held`; NULL = all
    LithoPatchBox region;      // to be made
    float *out;
    LithoPatchBox out_held;
    const unsigned char *wanted; // traces of `out_held`; NULL = all of the region
    const float *taper[3];
    const float *norm[3]; // 1 / sum of w^2, from the region's first sample on
    LithoPatchLevels levels;
    float threshold, least; // in standard deviations, and of |F|
    int rule, guided;       // guided: LITHO_PATCH_SINGLE by half the frequencies (geometry.h)
    int first[2], count[2]; // columns along the inline and the crossline axis
    int pair0, pairs;       // windows along time, in twos
    int length;             // of a trace of a strip; a multiple of 4
    float *share;           // [inline place][crossline place]: 0 = the column is not needed
    unsigned long long *windows; // NULL, or takes the number of windows of needed columns, added
    float *ring;            // [slot][crossline place][window's traces][length]
    int slots;              // rows in the ring
    unsigned *largest;      // NULL, or takes the bits of the largest |F|^2: nothing is written then
} LithoPatchTask;

// task->share of all columns, and task->windows.
int litho_patch_shares(const LithoPatchTask *task, cudaStream_t stream);
// Samples of inlines [il0, il1) from the strips.
int litho_patch_sum(const LithoPatchTask *task, long long il0, long long il1, cudaStream_t stream);

// --- cuda/window16.cu, cuda/window_mixed.cu -----------------------------------------------------

// 1 when litho_patch_columns() knows windows of this geometry (16^3 with a stride of 2, 4 or 8;
// 12^3, 20^3 and 24^3 that overlap four times), guided or not, and needs no more than `shared`
// bytes of a block's shared memory.
int litho_patch_knows(const LithoPatchGeometry *g, int guided, size_t shared);
// Strips of rows [row, row + rows), counted from the first place on.
int litho_patch_columns(const LithoPatchTask *task, int row, int rows, cudaStream_t stream);
int litho_patch_columns16(const LithoPatchTask *task, int row, int rows, cudaStream_t stream);

// --- cuda/window.cu: other sizes, around cuFFT ---------------------------------------------------

// Windows are numbered row by row, column by column, down the column: number 0 is the first of row
// `row`. Those behind the last of `rows` rows are zero.
int litho_patch_load(const LithoPatchTask *task, int row, int rows, long long first, int count,
                     float *windows, cudaStream_t stream);
// spectra[window][inline][crossline][bins] to kept (may be the same for LITHO_PATCH_SINGLE that is
// not guided), or the largest coefficient. `sums`: as many floats as samples, for what guides.
int litho_patch_threshold_windows(const LithoPatchTask *task, int row, int rows, long long first,
                                  int count, const float *spectra, float *sums, float *kept,
                                  cudaStream_t stream);
// Adds the windows to their strips, which were zero before the first of them.
int litho_patch_add(const LithoPatchTask *task, int row, int rows, long long first, int count,
                    const float *windows, cudaStream_t stream);

// --- cuda/fill.cu --------------------------------------------------------------------------------

// The frame of a block: x takes `in` (box `held`) inside `frame`, missing traces are zero and
// missing[trace] = 1: not live, or a sample that is not finite.
int litho_patch_frame(const float *in, LithoPatchBox held, const unsigned char *live,
                      LithoPatchBox frame, float *x, unsigned char *missing, cudaStream_t stream);
// Moves x where a trace is missing (patch.h); z, of the frame, is the last move. NULL = it takes y.
int litho_patch_move(LithoPatchBox frame, const unsigned char *missing, const float *y, float *z,
                     float *x, cudaStream_t stream);
// `part` (inside all boxes) of x into out; filled[trace of part] = 1 when anything of its trace is
// not zero. Live traces whose samples are all finite are taken from `raw` (box `held`); NULL = all
// are from x.
int litho_patch_write(LithoPatchBox frame, const float *x, const float *raw, LithoPatchBox held,
                      const unsigned char *live, LithoPatchBox part, float *out,
                      LithoPatchBox out_held, unsigned char *filled, cudaStream_t stream);
// Traces of `region` that are not live: out takes them from `in` as they are.
int litho_patch_copy_dead(const LithoPatchTask *task, cudaStream_t stream);
// Traces of `region` whose byte of `alone` (of the traces of `held`) is not 0: out takes them from
// `in`, samples that are not finite as zeros.
int litho_patch_leave(const LithoPatchTask *task, const unsigned char *alone, cudaStream_t stream);
// sums[block][2]: energies of the input and of what was removed, over live traces.
int litho_patch_weigh(const LithoPatchTask *task, int blocks, double *sums, cudaStream_t stream);

// --- cuda/faults.cu ------------------------------------------------------------------------------

enum {
    LITHO_PATCH_FAULT_MADE = 13
}; // inlines that a block of windows of the pass for faults makes

// The pass for faults (kernels/patch/faults.h), of a part of the region along inlines and time.
typedef struct LithoPatchFaultTask {
    LithoPatchGeometry small;
    const float *removed;
    LithoPatchBox held;   // of `removed`
    LithoPatchBox region; // its traces are the part's
    long long from, to;   // samples that are made
    float *out;           // takes what comes back, added
    LithoPatchBox out_held;
    const unsigned char *wanted; // traces of `out_held`
    LithoPatchLevels levels;
    const float *shape; // [frequency][wavenumbers of a small window]; NULL = all are alike
    const float2 *wave; // cosine and sine of 2 pi i / length
    const float *taper; // along time
    float limit;
    int rank;           // of the quartile
    LithoPatchBox made; // traces whose energies count
    int first, count;   // windows along time
    float2 *spectra;    // [window][frequency][inline][crossline], EDGE traces more on all sides
    float *quiet;       // [window][inline][crossline] of all windows whose quartiles count
    float *limits;      // [window][inline][crossline] of those that what is made takes part in
    float2 *sums;       // [window][frequency][inline][crossline]
    float *energy;      // [window][inline][crossline]
    float *gate;        // [window][inline][crossline] of the region
} LithoPatchFaultTask;

// `made`, the first pass in task->held: its traces in the region to the output, and what they
// removed of `in` in their place; zeros on traces that were not recorded.
int litho_patch_fault_split(const LithoPatchFaultTask *task, const float *in, LithoPatchBox in_held,
                            const unsigned char *recorded, float *made, cudaStream_t stream);
// Spectra, sums and energies.
int litho_patch_fault_sums(const LithoPatchFaultTask *task, cudaStream_t stream);
// The gate, and the samples.
int litho_patch_fault_back(const LithoPatchFaultTask *task, cudaStream_t stream);

// --- cuda/structure.cu ---------------------------------------------------------------------------

// Dips or coherence by the rules of structure.h, a chunk of inlines at a time.
typedef struct LithoPatchDips {
    const float *in;
    LithoPatchBox held;        // of `in`: all that `region` needs
    const unsigned char *live; // traces of `held`
    long long n[3];            // of the survey
    LithoPatchBox region;      // to be made
    LithoPatchBox sums;        // its traces and those around whose products it takes
    float *out;
    LithoPatchBox out_held;
    float *fits;     // [inline of sums][crossline of sums]: the weights of LithoPatchFit
    float *products; // [product][inline of sums][crossline of sums][sample], added along time
    float *across;   // [product][inline of sums][crossline of region][sample], crosslines added too
    int volume;
    float unit; // of dips
} LithoPatchDips;

int litho_patch_fits(const LithoPatchDips *task, cudaStream_t stream);
int litho_patch_products(const LithoPatchDips *task, cudaStream_t stream);
int litho_patch_across(const LithoPatchDips *task, cudaStream_t stream);
int litho_patch_dips(const LithoPatchDips *task, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
