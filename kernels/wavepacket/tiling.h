// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// The covering of frequency space by wave-packet windows: scales (shells of |xi|), directions on
// the half sphere, and the windows phi with sum phi^2 = 1. Frequencies are in cycles/sample, so
// the Nyquist cube is [-1/2, 1/2]^3 whatever the size of the volume.
//
// Source: the method of Duchkov, Andersson, de Hoop (2010) as used by Nikitin et al. (SEG 2011);
// those papers leave tiling and windows open, the choices here are ours (docs/wavepacket.md).
//
// Thread-safety: a tiling is read-only once made.

typedef enum { WP_COMPACT, WP_DEFAULT, WP_FULL } WpDesignKind;

// Below this a window is cut off; the sum of squares then misses 1 by less than 5e-6.
#define WP_CUT 1e-3

typedef struct WpDesign {
    double alpha;   // angular radius of a bump in units of sqrt(solid angle)
    double gamma;   // how fast it opens towards low frequencies; 0 = a classical wedge
    double beta;    // Kaiser-Bessel parameter of the angular bump
    double cm, cmt; // wrap-around margins: radial, transverse
    gboolean full;  // directional boxes reach into the corners of the cube; no residual box
} WpDesign;

enum { WP_MAX_SCALES = 8, WP_STEP_NODES = 8193, WP_BUMP_TERMS = 18 };

// Directions of one scale, half a sphere: the cells of the cube faces +1, +2, +3; of a line half a
// circle.
typedef struct WpDirections {
    int edge, n;     // cells along a face's edge; n = 3 edge^2, of a line 2 edge
    double (*nu)[3]; // unit vectors
    double *omega;   // solid angles of the cells, sr
    double *side;    // their square roots
} WpDirections;

typedef struct WpTiling {
    WpDesign design;
    int scales;                          // K >= 1
    double a[WP_MAX_SCALES + 2];         // radial transition k = 1..K+1 runs from a[k] to b[k];
    double b[WP_MAX_SCALES + 2];         // transition K+1 is where the residual box begins
    WpDirections dir[WP_MAX_SCALES + 1]; // of scale 1..K
    float step[WP_STEP_NODES];           // S(t) of wp_step()
    float bump[WP_BUMP_TERMS];           // power series of the angular bump, see wp_bump()
    double taper;                        // half width of the corner taper of the full design
} WpTiling;

// A neighbour whose bump can overlap a box: direction (mirrored ones have the sign turned) and
// 1/(alpha^2 Omega), the reciprocal square of its radius at the outer edge.
typedef struct WpNeighbour {
    float nu[3], inv_radius2;
} WpNeighbour;

enum { WP_ROW = 64 }; // points per call of wp_window_points()

WpDesign wp_design(WpDesignKind kind, int directions);
// K for a volume whose smallest axis has n samples.
int wp_auto_scales(gint64 n);
// `edge`: direction cells per face edge at scale 1 (3 or more). `flat`: the axis that a line does
// not have, -1 = none: directions then lie in the plane of the two others.
WpTiling *wp_tiling_new(const WpDesign *design, int scales, int edge, int flat);
void wp_tiling_free(WpTiling *tiling); // NULL is fine

double wp_bessel_i0(double x);
// Smooth step: 0 below 0, 1 above 1, S(t) + S(1-t) = 1; the square of a window's edge.
double wp_step(const WpTiling *tiling, double t);
// Angular radius (rad) of direction m of scale k at |xi| = r.
double wp_radius(const WpTiling *tiling, int k, int m, double r);

// Neighbours of direction m of scale k, itself first; g_free().
WpNeighbour *wp_neighbours(const WpTiling *tiling, int k, int m, int *count);
// phi of that direction at n <= WP_ROW points; values below 1e-3 are cut to 0.
void wp_window_points(const WpTiling *tiling, int k, const WpNeighbour *neighbours, int count,
                      int n, const float *x, const float *y, const float *z, float *phi);
// Coarse (scaling function) and residual window; the second takes xi modulo the cube.
double wp_window_coarse(const WpTiling *tiling, const double xi[3]);
double wp_window_residual(const WpTiling *tiling, const double xi[3]);
// phi of direction m of scale k at one point in double, straight from the definition. For tests.
double wp_window_exact(const WpTiling *tiling, int k, int m, const double xi[3]);
