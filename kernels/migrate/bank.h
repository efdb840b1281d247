// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>
#include "kernels/migrate/stencil.h"

// Second-derivative filters of radius 4 and the recursion operator built from them.
// Pure functions; any thread.

// Symmetric filter d0..d4 for unit spacing. Its symbol D(q) = d0 + 2 sum d_m cos(m q) is 0 at q = 0
// exactly and minimises max |D(q) + q^2| / q up to q = band * pi: equal phase error per metre for a
// given dip. (An equiripple fit of D itself has D(0) != 0 and turns the low frequencies' phase.)
typedef struct LithoSecondDerivative {
    double band; // q / pi up to which it was designed
    double d[5];
} LithoSecondDerivative;

// max |D| over the bank: one spectral range for all entries, so one table of polynomials.
#define LITHO_MIGRATE_RANGE 8.443699611

const LithoSecondDerivative *litho_migrate_bank(guint *n);
// First entry whose band holds `q` (= k_max * spacing); the last one when none does.
const LithoSecondDerivative *litho_migrate_bank_choose(double q);
double litho_migrate_symbol(const LithoSecondDerivative *filter, double q);

// Cells and spacing of the extrapolation grid. An axis of one cell takes no part.
typedef struct LithoCells {
    int nx, ny;
    double dx, dy; // m
} LithoCells;

// Range of -(Laplacian) dz^2 on these cells: rho.
double litho_migrate_rho(const LithoCells *cells, double dz);

// Y = 2 (1 - (2/rho2) (K^2 - kappa(x, y)^2 dz^2 - dz^2 L)) with kappa = omega * slowness. The
// pointwise form is K = 0, omega = 0, rho2 = rho. Coefficients sum up to the exact value at k = 0
// in single precision.
LithoStencil litho_migrate_stencil(const LithoSecondDerivative *filter, const LithoCells *cells,
                                   double dz, double omega, double big_k, double rho2);
