// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// x, y = origin + i * di + j * dj fitted to points by least squares. Sums only: points are added
// one by one, relative to the first, and never stored. Thread-safety: one thread a fit.
typedef struct LithoXyFit {
    gint64 n;
    double base[4];                 // i, j, x, y of the first point
    double s[2], sx[2];             // sums of (i, j) and of (x, y)
    double ss[3];                   // ii, ij, jj
    double cross[2][2];             // [x|y][i|j]
    double xx;                      // sum of x^2 + y^2
    double origin[2], di[2], dj[2]; // the result; di or dj stay as they were when the points
                                    // do not determine them
    double rms;                     // of the distances between points and fit
    int rank;                       // 0, 1, 2: lattice directions determined
} LithoXyFit;

void litho_xy_fit_add(LithoXyFit *fit, double i, double j, double x, double y);
void litho_xy_fit_solve(LithoXyFit *fit);
