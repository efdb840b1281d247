// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
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
    ROWS = MADE_IL + 2 * EDGE,    // traces that are transformed
    VECTOR = 16,                  // lanes
    LANES = MADE_XL + 2 * EDGE,   // 48: no vector is in part beyond, so that all lanes are alike
    WINDOW_ROWS = ROWS - (W - 1), // windows whose quartiles are found; BESIDE fewer are filtered
    LEAD = 16,                    // numbers before the first lane of a row of windows
    ROOM = LEAD + LANES + 16,     // lanes beyond the ends are read and written, and mean nothing
    BINS = LITHO_PATCH_MAX_WINDOW / 2 + 1,
    NEAR = 2 * AROUND + 1, // traces of an axis, and windows along time, whose energies count
};

typedef float Lane[ROOM] __attribute__((aligned(64)));

// Complex numbers of a row.
typedef struct Row {
    Lane re, im;
} Row;

// A row from lane 0 on, to be read and to be written.
typedef struct From {
    const float *re, *im;
} From;
typedef struct To {
    float *re, *im;
} To;

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
    Lane time[LITHO_PATCH_MAX_WINDOW];
    Lane re[BINS][ROWS], im[BINS][ROWS]; // spectra along time
    Lane noise[WINDOW_ROWS][BINS];       // 1 / mean |F|^2 of the noise of windows
    Lane quiet[WINDOW_ROWS];             // at the quartile of their frequencies
    Row along[2][W];                     // of a row of windows: transformed along inlines alone,
    Row window[3][K];                    // along both axes: lane l stands at LEAD + l,
    Row back[2][W];                      // and back along crosslines
    Lane power[3][K];                    // in units of the noise
    Lane factor;                         // of the limits
    Lane gated[2][BINS];                 // spectra that come back
    Made made[NEAR];                     // of window k in slot k modulo NEAR
} Scratch;

// Quartiles, which number `rank` of the frequencies' means is, of the windows that begin at row
// `row`, to s->quiet.
void patch_fault_quiet(Scratch *s, int bins, int row, int rank);
// Sums of quartiles over the windows beside those of row `row`: lane l takes those of lane
// l + BESIDE.
void patch_fault_add_quiet(const Scratch *s, int row, Lane sum);
// Noise of a row of windows between the cells of s->levels; `energy`: sum of w^2.
void patch_fault_noise(const Scratch *s, int bins, float energy, Lane noise[BINS]);
// A row of windows from their spectra along time to their sums. `shape`: of the noise's level,
// NULL = none.
void patch_fault_filter(Scratch *s, int bins, int row, const float (*shape)[K], Made *made);
