// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/run.h"

// Coefficients of the extrapolation polynomial G(s) = sum_n a_n T_n(1 - 2 s / rho), which stands
// for t(s) = exp(i sqrt(kap^2 - s)), s = -(Laplacian) dz^2 in [0, rho].
//
// Convex L-infinity design: the error is smallest possible in the pass band (dips up to theta),
// |G| <= 1 everywhere, damped beyond. Every iterate of the solver keeps |G| <= 1, and the result is
// certified on a fine grid: stopping early costs accuracy, never stability.
//
// With `stop` the target is 1 up to theta and |G| <= stop from LITHO_POLY_TRANSITION / N in phi,
// s = rho sin^2(phi / 2), beyond it: a real polynomial that takes steeper waves away.

typedef struct LithoPolySpec {
    double kap;   // omega dz / v; 0 < kap
    double rho;   // upper end of s
    double theta; // radians, 0 < theta < pi/2
    double w0;    // error allowed at s = 0 relative to the band edge, 0 < w0 <= 1
    double tol;  // relative gap to the optimum at which the solver stops (0.1 to 0.3; 1e-3 to test)
    int degree;  // N, 1..63
    double stop; // 0 < stop < 1: bound beyond the transition; 0: extrapolate
} LithoPolySpec;

// Transition of a stop design times its degree: with stop = 0.25 the error in the pass band is
// about 1 % at its end, 0.1 % at phi = 0.
#define LITHO_POLY_TRANSITION 4.0

// Designs one polynomial: coefficients in re[0..N], im[0..N]. Returns tau, the weighted error bound
// |G - t| <= tau w(s) on the pass band, w(s) = w0 + (1 - w0) (s / s_theta)^2; the division that
// certifies |G| <= 1 between the samples adds up to 1e-4 of amplitude. Any thread; about 0.4 ms at
// N = 15, 1 ms at N = 23.
double litho_poly_design(const LithoPolySpec *spec, double *re, double *im);
// max |G| over 256 (N + 1) + 1 equal angles; what certifies stability.
double litho_poly_max_modulus(const LithoPolySpec *spec, const double *re, const double *im);
// G at one s in [0, rho].
void litho_poly_value(const LithoPolySpec *spec, const double *re, const double *im, double s,
                      double *g_re, double *g_im);

// A finished design in the form the extrapolators read.
typedef struct LithoPoly {
    LithoPolySpec spec;
    double tau;
    float re[64], im[64];
} LithoPoly;

// Another device's way to design. make() fills in polys[0 .. n - 1], whose specs are set; one that
// it cannot design keeps tau = 0. Its polynomials agree with the host's where waves pass; where they
// are only damped, by rounding that grows with the degree.
typedef struct LithoPolyMaker {
    gboolean (*make)(gpointer self, LithoPoly *const *polys, guint n, LithoRun *run,
                     GError **error);
    gpointer self;
} LithoPolyMaker;

// Designs what is not in the process-wide cache, by `maker` or where that is NULL in parallel over
// `threads`, and sets polys[k] for specs[k]. A maker's polynomials and the host's have a cache
// each, so that neither changes the other's samples. The polynomials live until the process ends or
// litho_poly_cache_clear(). Any thread. FALSE when cancelled.
gboolean litho_poly_get(const LithoPolySpec *specs, guint n, const LithoPoly **polys,
                        const LithoPolyMaker *maker, LithoRun *run, GError **error);
// Number of designs computed since the start: what a slider's move cost.
guint64 litho_poly_designs_made(void);
// For tests: forget everything. No polynomial may be in use.
void litho_poly_cache_clear(void);
