// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/common/isa.h"
#include "kernels/patch/cpu/faults.h"

// After core/grid.h, which calls an axis LITHO_INLINE.
#include "kernels/common/clones.h"

// Rows of windows of a tile of traces, for cpu/faults.c: lanes are crosslines.

enum {
    W = LITHO_PATCH_FAULT_TRACES,
    K = W * W, // wavenumbers of a window
    AROUND = LITHO_PATCH_FAULT_AROUND,
    BESIDE = LITHO_PATCH_FAULT_BESIDE,
    EDGE = LITHO_PATCH_FAULT_EDGE,
    TILE_IL = 20, // of a tile's output
    TILE_XL = 36,
    MADE_IL = TILE_IL + 2 * AROUND, // traces that windows are added up on
    MADE_XL = TILE_XL + 2 * AROUND,
    ROWS = MADE_IL + 2 * EDGE, // traces that are transformed
    VECTOR = 16,               // lanes
    TILE_ROOM = (TILE_XL + VECTOR - 1) / VECTOR * VECTOR,
    LANES = MADE_XL + 2 * EDGE,   // 48: no vector is in part beyond, so that all lanes are alike
    WINDOW_ROWS = ROWS - (W - 1), // windows whose quartiles are found; BESIDE fewer are filtered
    ROOM = LANES + 16,            // lanes beyond the end are read and mean nothing
    BINS = PATCH_FAULT_BINS,
    NEAR = 2 * AROUND + 1, // traces of an axis, and windows along time, whose energies count
};

typedef float Lane[ROOM] __attribute__((aligned(64)));

// Made of a window along time: sums of windows, and their energies.
typedef struct Made {
    Lane re[BINS][MADE_IL], im[BINS][MADE_IL];
    Lane energy[MADE_IL];
} Made;

// Rows and lanes that a tile needs: a slice of the survey needs few of one of them.
typedef struct Size {
    int made_il, made_xl; // traces that windows are added up on
    int rows, lanes;      // traces that are transformed; lanes in whole vectors
} Size;

// Levels at the crossline cells that lanes lie between: cells are wider than a trace.
typedef float Cells[BINS][LANES + 1];

typedef struct Scratch {
    Size size;
    int first, cells;              // of the levels, along crosslines
    int cell[LANES], above[LANES]; // from `first` on, below and above the middle of each window,
    float share[LANES];            // and the share of the one above
    Cells levels;
    int cells_row[2];                    // rows of cells in `level`: row r in r modulo 2; -1 = none
    Lane level[2][BINS];                 // at the windows of a row
    float windows[LANES], traces[LANES]; // along crosslines, beside each window and each trace
    gint64 column[LANES]; // places of traces in an inline that is held; -1 = none is there
    float copies[LANES][LITHO_PATCH_MAX_WINDOW]; // of traces, in windows that reach a face
    Lane re[BINS][ROWS], im[BINS][ROWS]; // spectra along time
    Lane noise[WINDOW_ROWS][BINS];       // 1 / mean |F|^2 of the noise of windows
    Lane quiet[WINDOW_ROWS];             // at the quartile of their frequencies
    Lane factor;                         // of the limits
    Lane gated[2][BINS];                 // spectra that come back,
    float back[LANES][LITHO_PATCH_MAX_WINDOW]; // and their samples
    Made made[NEAR];                     // of window k in slot k modulo NEAR
} Scratch;

// Quartiles, which number `rank` of the frequencies' means is, of all windows.
void patch_fault_quiet(Scratch *s, int bins, int rank);
// A row of cells in s->levels, between the cells at every window.
void patch_fault_spread(const Scratch *s, int bins, Lane to[BINS]);
// Noise of a row of windows between two rows of cells; `energy`: sum of w^2.
void patch_fault_noise(const Lane below[BINS], const Lane above[BINS], float share, int bins,
                       int lanes, float energy, Lane noise[BINS]);
// Factors of the limits of the windows that begin at row `row`, each the least one times `limit`;
// `rows`: of windows beside. Those at the ends of the row have too few others and mean nothing.
void patch_fault_factors(Scratch *s, int row, float rows, float limit);
// Energies of what was made, times `scale`, in units of the noise of the windows that begin at the
// traces.
void patch_fault_energies(const Scratch *s, int bins, int length, float scale, Made *made);
// Sums and largest ones of the energies in windows first .. last of the traces around those of row
// i of the tile; `rows`: of them. FALSE: none is enough for anything to come back.
gboolean patch_fault_gathers(const Scratch *s, int first, int last, int i, float rows, Lane sum,
                             Lane largest);

// --- on vectors (cpu/faults_time.c, cpu/faults_filter.c) -----------------------------------------

// Spectra along time of `lanes` traces, [bin][lane], bins `apart` floats apart. Of each trace as
// many samples are read as fill whole VECTORs.
void patch_fault_forward(const PatchFaultTransforms *of, const float *taper,
                         const float *const *traces, int lanes, float *re, float *im, gsize apart);
// And back: `length` times the samples of each lane.
void patch_fault_inverse(const PatchFaultTransforms *of, const Lane *re, const Lane *im, int lanes,
                         float (*to)[LITHO_PATCH_MAX_WINDOW]);
// A row of windows from their spectra along time to their sums. `shape` multiplies
// powers; NULL = 1.
void patch_fault_filter(const Scratch *s, int bins, int row, const float (*shape)[K], Made *made);
LITHO_ISA_DECLARE(patch_fault_forward);
LITHO_ISA_DECLARE(patch_fault_inverse);
LITHO_ISA_DECLARE(patch_fault_filter);
