// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/run.h"
#include "kernels/common/places.h"
#include "kernels/wavepacket/tiling.h"
#include "kernels/wavepacket/usfft.h"

// The plan of a transform: one box of frequency points per window with its own rotated regular
// lattice, the windows sampled on it, and where its coefficients lie.
//
// Coefficients of all boxes are one array of floats: first the complex boxes (coarse and
// directional; [j1][j2][j3] pairs re, im; boxes of equal size behind each other so that their FFTs
// batch), then the real residual box. Box `b` begins at float box->at, a multiple of 16; what lies
// between a box's end and the next multiple is always zero.

enum { WP_THINNEST = 16 }; // samples of a volume along any axis, at least; but for a line

// A line is a volume with one inline or one crossline. Its spectrum does not depend on the
// frequency across it: boxes lie in the plane where that is zero and have one lattice point there,
// so that transform, adjoint and windows are those in two dimensions.
// The axis that a volume of n samples does not have, or -1; the fewest samples along the others.
int wp_flat_axis(const gint64 n[3]);
gint64 wp_shortest(const gint64 n[3]);

enum { WP_PROFILE = 64 };  // bands of |xi_3| from 0 to 1/2

typedef enum { WP_COARSE, WP_DIRECTION, WP_RESIDUAL } WpBoxKind;

// Points j3 = first .. first+count-1 of one lattice row have phi > 0; their weights begin at
// box->weight[at].
typedef struct WpRow {
    guint32 at;
    guint16 first, count;
} WpRow;

typedef struct WpBox {
    WpBoxKind kind;
    int scale, direction; // direction within its scale; 0 for coarse and residual
    double R[3][3];       // rows e1 (= nu, radial), e2, e3
    double lo[3], hi[3];  // support along e_i, cycles/sample
    double M[3];          // period of the lattice along e_i, samples; spacing 1/M_i
    int n[3];             // lattice points
    int j0[3];            // first lattice index
    double sigma;         // standard deviation of a coefficient for white noise of variance 1
    float *profile;       // WP_PROFILE: share of the window's energy per band; sums to 1
    gint64 at;            // first float of its coefficients
    gint64 floats;        // 2 n1 n2 n3, residual n1 n2 n3
    // Weight of a point = phi s_b (M1 M2 M3)^(-1/2) (n1 n2 n3)^(-1/2): window, normalisation and
    // that of the unitary FFT in one factor, the same in the transform and its adjoint.
    float *weight;    // NULL for the residual box, and where a device has the windows
    WpRow *rows;      // n1 n2 of them; NULL likewise
    gint64 n_weights; // points with phi > 0
} WpBox;

typedef struct WpGeometry {
    gint64 n[3]; // samples of the volume
    WpTiling *tiling;
    WpKernel kernel;
    int nf[3];             // fine grid
    int halo[3];           // grid points kept beyond -nf/2 and nf/2 on axis 1, 2, beyond 0 and
                           //   nf/2 on axis 3, so that no tap wraps
    double *deconvolve[3]; // 1/p_a(x) for sample i = 0..n_a-1, double
    WpBox *boxes;
    int n_boxes;
    gint64 floats;     // of all coefficients, padding between boxes included
    gint64 n_points;   // complex lattice points (coarse and directional) and residual ones
    gint64 n_active;   // points with phi > 0 outside the residual box
    double redundancy; // real numbers stored per sample
} WpGeometry;

typedef struct WpSpec {
    gint64 n[3];
    WpDesignKind design;
    int scales;     // 0 = from the smallest axis
    int directions; // cells per face edge at scale 1
    WpKernelKind kernel;
    int width; // taps per axis
    double oversampling;
} WpSpec;

// Fills sigma, profile and the number of points of every box of a geometry that is laid out. FALSE
// on cancel.
typedef gboolean (*WpWindowsFunc)(WpGeometry *geometry, LithoRun *run, GError **error);

// NULL on cancel, or when a volume is refused (an axis below 16 samples).
WpGeometry *wp_geometry_new_with(const WpSpec *spec, WpWindowsFunc windows, LithoRun *run,
                                 GError **error);
// With wp_fill_windows().
WpGeometry *wp_geometry_new(const WpSpec *spec, LithoRun *run, GError **error);
void wp_geometry_free(WpGeometry *geometry); // NULL is fine

// Sizes of a geometry, without its windows: 1 to 20 ms by all threads (0), nothing when asked
// again.
typedef struct WpSizes {
    gint64 floats;   // of all coefficients
    gint64 lattice;  // complex lattice points
    gint64 residual; // real ones of the residual box
    gint64 batch;    // complex points of the boxes of one size, at most
    gint64 fine;     // complex points of the fine grid's half spectrum
} WpSizes;
// `spec` must have been cleared before it was filled. FALSE: the volume is refused.
gboolean wp_geometry_sizes(const WpSpec *spec, int threads, WpSizes *sizes, GError **error);

// windows.c, a WpWindowsFunc: rows and weights on the host, too.
gboolean wp_fill_windows(WpGeometry *geometry, LithoRun *run, GError **error);
// Mean of `power` over the frequencies of a box of one direction, weighted by its window's energy,
// at every few points of its lattice. xi in cycles per sample, of any period.
double wp_box_mean(const WpTiling *tiling, const WpBox *box,
                   double (*power)(const double xi[3], gconstpointer data), gconstpointer data);
// The residual box or NULL (full design).
const WpBox *wp_residual(const WpGeometry *geometry);
// Residual weight phi/(n1 n2 n3) for the half spectrum [n1][n2][n3/2+1]; g_free(). NULL: no memory.
float *wp_residual_weights(const WpGeometry *geometry, LithoRun *run, GError **error);
// Position (samples from the first one, of the representative nearest to the middle of the volume)
// that translation p of a box is centred at.
void wp_box_position(const WpGeometry *geometry, const WpBox *box, const int p[3], double x[3]);
// Where coefficients lie, for wp_places_factor(), and the volume whose first sample is `at` of the
// survey.
WpPlacesBox wp_places_box(const WpBox *box);
WpPlacesVolume wp_places_volume(const WpGeometry *geometry, const gint64 at[3]);
// Index of the smallest even product of 2, 3, 5, 7 that is >= n (even) or smallest product (any).
int wp_smooth(int n, gboolean even);
