// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/common/isa.h"
#include "kernels/wavepacket/boxes.h"

// Interpolation between the fine grid and the rotated lattice of a box, on the CPU. A lattice row
// is a straight line through the grid, so coordinates are made on the fly: nothing is sorted or
// stored per point.

// The half spectrum U[l1][l2][l3], complex, with halos so that no tap wraps: l_a runs from
// -nf_a/2 - halo_a for a = 1, 2 and from -halo_3 to nf_3/2 + halo_3 for a = 3.
typedef struct WpGrid {
    int dim[3];    // complex points stored; dim[2] includes padding for whole-vector loads
    int origin[3]; // stored index of l = 0
    float *data;   // aligned to 64 bytes; owned by the maker
} WpGrid;

// Sizes for a geometry; data stays NULL. Returns the floats to allocate.
gint64 wp_grid_layout(const WpGeometry *geometry, WpGrid *grid);

// Forward: fills the coefficients of `box` (box->floats floats) with weight * U at every lattice
// point, zero where the window is zero. Of use only where the run was not told to stop.
void wp_gather_box(const WpGeometry *geometry, const WpGrid *grid, const WpBox *box,
                   const LithoRun *run, float *out);
// Adjoint: adds weight * value of those points of `box` with first tap l1 in [from, to) to the
// planes they touch, that is from .. to + w - 2. `values` are the box's coefficients.
void wp_spread_box(const WpGeometry *geometry, const WpGrid *grid, const WpBox *box,
                   const float *values, int from, int to);

// The grid that sample `at` across an axis of the volume is summed up on: two axes of the fine grid
// in their order, with halos; along the third all grid points are added up with their phases.
enum { WP_PLANES_AT_ONCE = 6 };
typedef struct WpPlaneGrid {
    int axis;
    int dim[2];    // complex points: rows, and columns with padding for whole-vector loads
    int origin[3]; // stored index of l = 0; of `turn` along `axis`
    gint64 at;     // first float among those of all planes
    float *turn;   // exp(2 pi i l at / nf), complex
    // sum_t psi_t(x) exp(2 pi i t at / nf) = sum_d (re + i im)[d] x^d
    float re[WP_DEGREE + 1], im[WP_DEGREE + 1];
} WpPlaneGrid;

// Adds all of the box to up to WP_PLANES_AT_ONCE planes.
void wp_spread_box_to_planes(const WpGeometry *geometry, const WpPlaneGrid *planes, int n,
                             const WpBox *box, const float *values, float *data);
LITHO_ISA_DECLARE(wp_spread_box_to_planes);
LITHO_ISA_DECLARE(wp_gather_box);
LITHO_ISA_DECLARE(wp_spread_box);
