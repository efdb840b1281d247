// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/twsm/mask_rule.h"
#include "kernels/twsm/model.h"

// The elements of a boundary, or a set of receivers: points with normals and areas, metres relative
// to the model's centre, float32, structure of arrays. Arrays are padded to a multiple of TWSM_PAD
// with copies of element 0 of area 0, which send nothing.
enum { TWSM_PAD = 64 };

typedef struct TwsmPoints {
    int n, padded;
    float *x, *y, *z;    // centroid
    float *nx, *ny, *nz; // unit normal, nz > 0 (down); 0 for receivers
    float *area;         // m2; 0 for receivers
    float *taper;        // 0..1 towards the artificial edges; 1 for receivers
    float *storage;      // all of them; owned
    guint64 serial;      // unique: tells device copies apart

    // Regular meshes: two triangles a cell, elements 2 (iy nx + ix) + kind. cells = 0 otherwise.
    int cells[2];
    double origin[2], step[2]; // first corner and cell size, absolute metres
    gboolean flat;             // one depth everywhere
    double edge;               // longest edge in plan, m
    double sag;                // largest depth between surface and facet, m
} TwsmPoints;

// Mesh of a boundary over the model's extent. Formulas and height grids: square cells of `cell`
// metres or a little less, the same diagonal in all of them (alternating diagonals cost 6 % at 2
// cells a wavelength, equal ones 0.2 %). Sheets: the triangles of the file, those with a centroid
// inside the extent. Errors: depths that are not finite, triangles without area (the first is
// named), more than 20 million elements.
TwsmPoints *twsm_mesh_new(const TwsmModel *model, int boundary, double cell, double taper,
                          int threads, const double centre[3], GError **error);
// Elements that twsm_mesh_new() would make; of a sheet all its triangles, 0 when its file is not
// open.
double twsm_mesh_count(const TwsmModel *model, int boundary, double cell);
// Receivers of the model, x fastest. NULL: no memory.
TwsmPoints *twsm_receivers_new(const TwsmModel *model, const double centre[3], GError **error);
// A point set with room for n; the caller fills it and calls twsm_points_pad().
// NULL: no memory.
TwsmPoints *twsm_points_new(int n, GError **error);
void twsm_points_pad(TwsmPoints *points);
void twsm_points_free(TwsmPoints *points); // NULL is fine
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TwsmPoints, twsm_points_free)

// TRUE when both are flat regular meshes with the same cells: beams then depend on differences
// only.
gboolean twsm_points_lattice(const TwsmPoints *a, const TwsmPoints *b);
// Around elements first .. first + n - 1.
TwsmBox twsm_points_box(const TwsmPoints *points, int first, int n);
