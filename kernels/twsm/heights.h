// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

#include "core/run.h"

// Depths of a boundary, as a function z(x, y) and as files bring it. Metres, z down. Plain data;
// read-only after it has been made, so any thread may evaluate it.

// Depths on a regular grid: z[iy * nx + ix] at (x0 + ix dx, y0 + iy dy).
typedef struct TwsmHeights {
    int nx, ny;
    double x0, y0, dx, dy; // m; steps > 0
    float *z;              // m; owned
} TwsmHeights;

// A triangulated sheet as drawn by the modeller.
typedef struct TwsmSheet {
    int n_vertices, n_triangles;
    double (*vertex)[3]; // x, y, z; owned
    int (*triangle)[3];  // indices from 0; owned
} TwsmSheet;

void twsm_heights_free(TwsmHeights *heights); // NULL is fine
void twsm_sheet_free(TwsmSheet *sheet);       // NULL is fine
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TwsmHeights, twsm_heights_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TwsmSheet, twsm_sheet_free)

// Depth at (x, y) by cubic convolution (continuous slopes: a bilinear surface has a kink along
// every grid line, and every kink diffracts). Outside the grid the edge value continues.
double twsm_heights_at(const TwsmHeights *heights, double x, double y);

// A NumPy file of depths [iy][ix], float32 or float64, C order. Depths must be finite.
TwsmHeights *twsm_heights_from_npy(const char *path, double x0, double y0, double dx, double dy,
                                   GError **error);
// A horizon: points (x, y, z), one a line of a text file (blank or comma between numbers, lines
// that begin with # or a letter are skipped), or a .npy array of shape (n, 3). Points on a regular
// lattice are taken as they are; scattered points are averaged into cells of `spacing` metres
// (0 = from the density of points) and holes are filled smoothly, which can be given up through
// `run` (may be NULL).
TwsmHeights *twsm_heights_from_horizon(const char *path, double spacing, LithoRun *run,
                                       GError **error);
// Triangles of a Wavefront .obj ("v x y z", "f a b c ...": faces of more corners become fans) or
// GOCAD TSurf ("VRTX id x y z", "TRGL a b c") file. With "ZPOSITIVE Elevation" depths are the
// negative of z. `run` may be NULL.
TwsmSheet *twsm_sheet_load(const char *path, LithoRun *run, GError **error);
// Depths of a sheet on a grid of nx x ny points over the rectangle, for tests of "above or below";
// beside the sheet, of the vertex that is nearest. NULL: cancelled; `run` may be NULL.
TwsmHeights *twsm_sheet_heights(const TwsmSheet *sheet, const double x[2], const double y[2],
                                int nx, int ny, LithoRun *run, GError **error);
