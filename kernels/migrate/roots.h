// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/migrate/design.h"

// A step's polynomial as a product: sum a_n T_n(X) = turn prod_j (scale X - root_j). One factor
// reads one plane and writes one, where a recursion reads three.
typedef struct LithoFactors {
    float re[64], im[64]; // scale times the roots, in the order in which the factors are applied
    float scale, turn_re, turn_im;
    double gain;          // sum over factors of max |partial product| max |rest|: what rounding errors
                          // are multiplied by at worst
} LithoFactors;

// Factors of poly (degree 1 .. 63). The order keeps the partial products small: measured over steps
// of random waves, the result is 2 to 4 times less exact in single precision than Clenshaw's
// recursion, 1e-4 after 200 steps. `turn` is lowered by what rounding the roots may have added, so
// that |p| stays below 1. FALSE: no such form in single precision (leading coefficient zero, roots
// not found, gain beyond 2e4); use the recursion. Any thread.
gboolean litho_poly_factor(const LithoPoly *poly, LithoFactors *factors);
