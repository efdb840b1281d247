// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <cuda_runtime_api.h>
#include <stdint.h>
#include "kernels/common/places.h"
#include "kernels/wavepacket/usfft.h"

// Launchers of the wave-packet kernels. All work on the stream given and return
// (int)cudaGetLastError(); pointers are device pointers.

#ifdef __cplusplus
extern "C" {
#endif

// --- transforms of the boxes ---------------------------------------------------------------------

// The boxes of one size, in one of the two kernels: planes (axes 2 and 3) or columns (axis 1).
typedef struct WpDevFft {
    uint32_t at, distance; // first complex index, and from box to box
    int n[3];
    uint32_t radices[3]; // less 1, of the passes along each axis: 4 bits each, the first one lowest
    int passes[3];
    int first_block, blocks; // among the launch's; for each box
    int first_box;           // number of the first one
    int share;               // planes, or columns (a power of two), of a block
} WpDevFft;

typedef struct WpFftLaunch {
    int columns;  // or planes
    int first, n; // in the list
    int blocks, threads, shared;
} WpFftLaunch;

// A hard threshold that a launch applies to what it reads: coefficients x of the boxes from number
// `first` on, device pointers; those of the boxes before it are read from c as they are. kept[box]
// grows.
typedef struct WpDevRule {
    const float2 *x;
    const float *level;
    unsigned long long *kept;
    int first, drops;
} WpDevRule;

// c = transform of c, exp(sign 2 pi i ...), along the axes of one launch; of what `rule` leaves
// where it is not NULL, of planes forward.
int wp_cuda_box_fft(const WpFftLaunch *launch, const WpDevFft *list, int sign,
                    const WpDevRule *rule, float2 *c, cudaStream_t stream);

// --- the fine grid and its tiles -----------------------------------------------------------------
//
// The fine grid is cut into tiles of WP_TILE^3 grid points by the first tap of a point, so every
// point belongs to one tile and reaches w-1 further along each axis: a tile with its halo is a cube
// of side WP_TILE + w - 1 in shared memory.

enum {
    WP_TILE = 8,
    WP_TILE_CELLS = WP_TILE * WP_TILE * WP_TILE,
    WP_WARP = 32,
    WP_ROUNDS = WP_TILE_CELLS / WP_WARP
};

// One lattice point. `index` = complex coefficient, `weight` as in boxes.h (0 = nothing here).
// `place` = first tap within the tile (9 bits: l1, l2, l3), mirrored half (1 bit), then the three
// places between the taps as 18-bit fractions (4e-6 of a cell).
typedef struct WpPoint {
    uint32_t index;
    float weight;
    uint64_t place;
} WpPoint;

typedef struct WpDevBox {
    double start[3];   // grid units of lattice point (0, 0, 0)
    double step[3][3]; // step[i][a]: along axis a for one step along e_i
    int n[3];
    int kind;    // WpBoxKind
    uint32_t at; // complex index of its first coefficient
    int64_t at_float, floats;
    int64_t first_row; // its first row (j1, j2) among those of all complex boxes
    int64_t first_piece; // of WP_PIECE floats, among those of all boxes
} WpDevBox;

// Pieces of a box that statistics go by.
enum { WP_PIECE = 1 << 13 };
#define wp_pieces_of(floats) (((floats) + WP_PIECE - 1) / WP_PIECE)

typedef struct WpDevGrid {
    int nf[3], half; // half = nf[2]/2 + 1 complex points stored along axis 3
    int tiles[3];
    int offset3; // first tap + offset3 >= 0 along axis 3
    int w;
} WpDevGrid;

// The fine grid's FFT is made in two steps, planes (axes 2 and 3) and columns (axis 1). Of `of`
// GPUs number k has the planes of its samples along axis 1 and the columns of its grid points along
// axis 2.
enum { WP_MAX_PARTS = 16 };

typedef struct WpShare {
    int k, of;
    int sample, samples; // along axis 1
    int column, columns; // along axis 2
} WpShare;

// The grids of all shares. Pointers on other GPUs are read over the link.
typedef struct WpPeers {
    const float2 *u[WP_MAX_PARTS];
} WpPeers;

// Points lo .. hi-1 along axis 3 of the half spectrum, of one row (l1, l2), that a GPU's tiles
// touch.
typedef struct WpSpan {
    uint16_t lo, hi;
} WpSpan;

// psi as polynomials (usfft.h), by value in constant memory of a launch.
typedef struct WpDevKernel {
    float coef[WP_DEGREE + 1][WP_MAX_WIDTH];
} WpDevKernel;

// Plan: counts[tile][cell] of points; then per tile the lane that takes each cell, the start of
// every cell in its lane's list (over counts), and the steps of the tile; then the points.
// `weights` of all lattice points of the first n_boxes boxes, n_rows rows: zeros make no points.
int wp_cuda_count(const WpDevGrid *grid, const WpDevBox *boxes, int n_boxes, int64_t n_rows,
                  const float *weights, uint32_t *counts, cudaStream_t stream);
int wp_cuda_assign(const WpDevGrid *grid, uint32_t *counts, uint8_t *lanes, uint32_t *steps,
                   uint32_t *rounds, cudaStream_t stream);
int wp_cuda_place(const WpDevGrid *grid, const WpDevBox *boxes, int n_boxes, int64_t n_rows,
                  const float *weights, uint32_t *cursors, const uint8_t *lanes,
                  const uint32_t *first_step, WpPoint *points, cudaStream_t stream);
int wp_cuda_order(const WpDevGrid *grid, const uint32_t *cursors, const uint8_t *lanes,
                  const uint32_t *first_step, WpPoint *points, cudaStream_t stream);

// active[k] = tile, first_step[k] .. first_step[k + 1]: steps of the k-th active tile.
int wp_cuda_gather(const WpDevGrid *grid, const WpDevKernel *kernel, const float2 *u,
                   const uint32_t *active, const uint32_t *first_step, const uint32_t *rounds,
                   int n_active, const WpPoint *points, float2 *c, cudaStream_t stream);
// Adjoint, tiles: each active tile summed in shared memory, written to its own place in `sums`...
int wp_cuda_spread(const WpDevGrid *grid, const WpDevKernel *kernel, const float2 *c,
                   const uint32_t *active, const uint32_t *first_step, const uint32_t *rounds,
                   int n_active, const WpPoint *points, float2 *sums, cudaStream_t stream);
// ... and collected: u = 2 H, H = (G[l] + conj G[-l])/2. slot[tile] = k or -1. With spans (one a
// row of the grid) nothing is written beyond them.
int wp_cuda_collect(const WpDevGrid *grid, const float2 *sums, const int32_t *slot,
                    const WpSpan *spans, float2 *u, cudaStream_t stream);
// Adjoint, the papers' form: a thread per grid point of the block around one box. `table` = psi at
// WP_TABLE + 1 nodes of |z| = 0 .. w/2; dense = weights of all points of the box.
enum { WP_TABLE = 4096 };
typedef struct WpBlockOfBox {
    int lo[3], n[3];      // grid points of the block
    double inverse[3][3]; // lattice index t_i = sum_a inverse[i][a] (l_a - start[a])
    float reach[3];       // |q_i| <= reach_i
} WpBlockOfBox;
int wp_cuda_collect_box(const WpDevGrid *grid, const WpDevBox *box, const WpBlockOfBox *block,
                        const float *table, const float *dense, const float2 *c, float2 *u,
                        cudaStream_t stream);
int wp_cuda_symmetrize(const WpDevGrid *grid, float2 *u, cudaStream_t stream);

// --- single planes (cuda/planes.cu) --------------------------------------------------------------

// Planes across axes of the fine grid; turn[k][q]: phase of plane k at grid point q along its axis,
// counted from the first tile's first one. residual_turn: likewise of the residual box's half
// spectrum.
enum { WP_DEV_PLANES = 6 };
typedef struct WpDevPlanes {
    int n, axis[WP_DEV_PLANES];
    const float2 *turn[WP_DEV_PLANES], *residual_turn[WP_DEV_PLANES];
} WpDevPlanes;

// Sums of every active tile (wp_cuda_spread()) along each plane's axis, with its phases:
// reduced[tile][plane][side][side].
int wp_cuda_reduce_tiles(const WpDevGrid *grid, const WpDevPlanes *planes, const uint32_t *active,
                         int n_active, const float2 *sums, float2 *reduced, cudaStream_t stream);
// The spectrum of plane k from those: [rows][columns] of the fine grid's other two axes, of which
// the inverse transform's real part is wanted.
int wp_cuda_collect_plane(const WpDevGrid *grid, const WpDevPlanes *planes, int k,
                          const float2 *reduced, const int32_t *slot, float2 *spectrum,
                          cudaStream_t stream);
// Likewise of the residual box of n[], from the half spectrum u: [rows][columns] of n[].
int wp_cuda_sum_residual(const int n[3], const WpDevPlanes *planes, int k, const float2 *u,
                         float2 *spectrum, cudaStream_t stream);
// The plane's samples out of values that are padded to m[], over the roll-off; scale NULL: added to
// what is there, as they are.
int wp_cuda_crop_plane(const int n[3], const int m[3], int axis, int at,
                       const float *const scale[3], const float2 *from, float *to,
                       cudaStream_t stream);
// to = plane `at` of a volume of n[], less a plane of a block of m[] that begins at first[] (part
// NULL: of the volume).
int wp_cuda_drop_plane(const int n[3], int axis, int at, const float *volume, const int m[3],
                       const int first[3], const float *part, float *to, cudaStream_t stream);

// --- volumes -------------------------------------------------------------------------------------

// to[m][m][row] = u / p at x mod m, zero elsewhere, of planes first .. first+planes-1. scale[a] =
// 1/p_a, or all NULL; `row` is even.
int wp_cuda_pad(const int n[3], const int m[3], int row, int first, int planes,
                const float *const scale[3], const float *u, float *to, cudaStream_t stream);
// u = factor * from / p (+ second padded volume without scale, when not NULL), of the share's
// samples.
int wp_cuda_crop(const int n[3], const int m[3], int row, const WpShare *share,
                 const float *const scale[3], float factor, const float *from, const int m2[3],
                 const float *second, float *u, cudaStream_t stream);

// --- between the grids of several GPUs (cuda/share.cu) -------------------------------------------

// The planes of all samples (n1 of them), within the share's columns, from those who have them; the
// planes between are cleared, and so is what lies beyond `spans`, one a column l2.
int wp_cuda_pull_planes(const WpDevGrid *grid, const WpShare *share, int n1, const WpSpan *spans,
                        const WpPeers *peers, float2 *u, cudaStream_t stream);
// The other shares' columns, within the spans of this one's tiles.
int wp_cuda_pull_spans(const WpDevGrid *grid, const WpShare *share, const WpSpan *spans,
                       const WpPeers *peers, float2 *u, cudaStream_t stream);
// The share's columns = the sum of what all have there within their spans: spans[share][l1][l2]. In
// the order of the shares.
int wp_cuda_sum_spans(const WpDevGrid *grid, const WpShare *share, const WpSpan *spans,
                      const WpPeers *peers, float2 *u, cudaStream_t stream);
// The other shares' columns within the planes of this one's samples; beyond the spans of the
// columns zeros.
int wp_cuda_pull_columns(const WpDevGrid *grid, const WpShare *share, int n1, const WpSpan *spans,
                         const WpPeers *peers, float2 *u, cudaStream_t stream);
int wp_cuda_scale_complex(float2 *u, const float *weight, int64_t n, cudaStream_t stream);
int wp_cuda_blend(double a, const float *x, double b, float *y, int64_t n, cudaStream_t stream);
enum { WP_PARTS = 1024 };
int wp_cuda_dot(const float *x, const float *y, int64_t n, double *parts, cudaStream_t stream);
int wp_cuda_distance(const float *x, const float *y, const float *m, int64_t traces, int64_t n3,
                     double *parts, cudaStream_t stream);
int wp_cuda_insert(const float *x, const float *m, float *y, int64_t traces, int64_t n3,
                   cudaStream_t stream);
// Samples of a volume over the deviation of the noise, or times it; device pointers in `places`.
int wp_cuda_scale(const WpPlaces *places, int over, const int64_t at[3], const int64_t n[3],
                  float *volume, cudaStream_t stream);
// Coefficients of all boxes over the deviation at their places, or times it: `places` has the
// levels of the first box, those of the others follow; device pointers.
int wp_cuda_weigh(const WpDevBox *boxes, const WpPlacesBox *lattices, int n_complex, int n_residual,
                  const WpPlaces *places, const WpPlacesVolume *volume, int over, float *c,
                  cudaStream_t stream);
// u = taper * volume part, or volume part += taper * u. taper[a] may be NULL.
int wp_cuda_cut(const int64_t n[3], const int64_t at[3], int mirror, const int64_t m[3],
                const float *const taper[3], const float *volume, float *u, cudaStream_t stream);
int wp_cuda_paste(const int64_t n[3], const int64_t at[3], const int64_t m[3],
                  const float *const taper[3], const float *u, float *volume, cudaStream_t stream);
// Samples with dead traces zeroed; counts non-finite ones of live traces.
int wp_cuda_load(const float *in, const uint8_t *live, int64_t traces, int64_t n3, float *out,
                 unsigned *bad, cudaStream_t stream);
int wp_cuda_magnitudes(const float2 *u, float *m2, int64_t n, float scale, cudaStream_t stream);

// --- coefficients --------------------------------------------------------------------------------

// Adds to kept[box]. The residual box, if any, comes last.
int wp_cuda_shrink(const WpDevBox *boxes, int n_complex, int n_residual, const float *level,
                   int soft, int drops, const float *key, const float *x, float *out,
                   unsigned long long *kept, cudaStream_t stream);
// Inlines of the residual box, `from` a multiple of 16, `to` too unless it is the box's end.
typedef struct WpLocalRows {
    int from, to;
} WpLocalRows;
// Thresholds of the residual box x in local Fourier windows (local.h). What stays is added to the
// rows of `out`, or taken away there (`drops`); they need x from 8 rows before to 8 rows behind
// them. count: windows along inlines and
// crosslines, pairs along samples. taper: of 16 for each axis, host. kept: grows; each window
// counts in the rows that it begins in, or half a window before.
int wp_cuda_local(const int n[3], const int count[3], const WpLocalRows *rows, const float *taper,
                  const float *x, float *out, const float *limit, int soft, int drops,
                  unsigned long long *kept, cudaStream_t stream);
// One reading of all coefficients, whose boxes have n_pieces pieces. bins (cleared; NULL = none):
// of |c| scale[box] as WpHistogram has them, with its prefix. pieces (room for two a piece; NULL =
// none): per_box[box][2] = energy, largest |c|^2.
int wp_cuda_look(const WpDevBox *boxes, int n_boxes, int64_t n_pieces, const float *scale,
                 int prefix, const float *c, uint32_t *bins, double *pieces, double *per_box,
                 cudaStream_t stream);

#ifdef __cplusplus
}
#endif
