// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"
#include "kernels/common/erratic.h"
#include "kernels/patch/geometry.h"

// Local Fourier filter: in a small window events are few large Fourier coefficients and random
// noise is many small ones. Windows overlap; coefficients below a multiple of the noise's level at
// their frequency become zero; iterated with falling thresholds, missing traces are filled (POCS,
// Abma & Kabir 2006, doi:10.1190/1.2356088). See docs/patch.md.
extern const LithoOperator litho_operator_patch;

// Names of its volumes.
#define LITHO_PATCH_NOISE_LEVEL "noise level"
#define LITHO_PATCH_DIP_IL "dip inline"
#define LITHO_PATCH_DIP_XL "dip crossline"
#define LITHO_PATCH_COHERENT "coherence"
// Which number of structure.h the volume is; -1 = none of them.
int litho_patch_structure_volume(const LithoVolumeDoc *volume);
// Dips in samples a trace times this are in the volume's unit.
float litho_patch_dip_unit(const LithoGrid *grid);
// Traces of `to` are live where they are in `from`, which holds them.
void litho_patch_take_live(LithoCube *to, const LithoCube *from);
// Samples of the result that a structure volume in `region` needs.
LithoBox litho_patch_structure_box(const LithoGrid *grid, LithoBox region);

// The CPU backend's implementation (cpu/patch.c).
extern const LithoImpl litho_patch_cpu;

// The window asked for along an axis of a grid: in lines and surveys of up to 7 lines it is longer
// along the lines and along time, unless window_il, window_xl or window_t is given.
int litho_patch_grid_window(const LithoGrid *grid, const LithoPatchParams *params, int axis);
// TRUE where the window is left automatic and may be LITHO_PATCH_WIDE: denoising with a measured
// level, of a grid that holds several such windows along each axis (choice.c).
gboolean litho_patch_may_be_wide(const LithoGrid *grid, const LithoPatchParams *params);
// The parameters with the largest window that they may come to.
LithoPatchParams litho_patch_at_most(const LithoGrid *grid, const LithoPatchParams *params);
// Geometry for a cube's grid; the operator's check() has accepted both.
LithoPatchGeometry litho_patch_grid_geometry(const LithoGrid *grid, const LithoPatchParams *params);
// Samples of the first pass that `region` depends on: more than the region where what leaves at
// faults comes back.
LithoBox litho_patch_first_pass(const LithoPatchGeometry *g, const LithoPatchParams *params,
                                LithoBox region);
// The operator's input_box().
LithoBox litho_patch_input_box(const LithoGrid *in, const void *params, LithoBox region);

// Erratic pieces and missing traces are guessed.
LithoCleanRule litho_patch_clean_rule(const LithoPatchParams *params);
// `box` with what decides whether its samples are erratic (erratic.h).
LithoBox litho_patch_with_erratic(const LithoGrid *in, const LithoPatchParams *params,
                                  LithoBox box);
// The operator's measure_key() and measure() (levels.c): the level of the noise.
char *litho_patch_measure_key(const void *params);
LithoMeasured *litho_patch_measure(const void *params, const LithoReader *reader, LithoRun *run,
                                   GError **error);

// --- blocks of filling ---------------------------------------------------------------------------

// Filling repeats the whole frame, so that its reach grows with every iteration: the survey is cut
// into blocks of about 256 x 256 whole traces, anchored to the survey, each filled by itself with
// 32 more traces around it. What a block gives does not depend on the region asked for.
typedef struct LithoPatchBlocks {
    int n[2];         // along the inline and the crossline axis
    gint64 traces[2]; // of a block along each; the last one may have fewer
} LithoPatchBlocks;

LithoPatchBlocks litho_patch_blocks(const LithoGrid *grid);
// Traces that block (i, j) makes, and with those around that it reads. Whole traces.
LithoBox litho_patch_block(const LithoGrid *grid, int i, int j);
LithoBox litho_patch_block_frame(const LithoGrid *grid, int i, int j);
// The frame of most traces, which no other one exceeds along any axis.
LithoBox litho_patch_largest_frame(const LithoGrid *grid);
// TRUE where the missing traces of a frame of n0 x n1, one byte each, repeat themselves every 2 to
// 8 traces: their aliases are above a quarter of the events.
gboolean litho_patch_is_regular(const guint8 *missing, int n0, int n1);
// Level of iteration `k`: a share of the largest coefficient.
double litho_patch_fill_level(const LithoPatchParams *params, int k);
