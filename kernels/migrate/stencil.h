// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Plain types that the C side and the CUDA kernels share. No GLib here.

// One application of Y = 2 X, the operator the Chebyshev polynomials are polynomials of:
//   (Y u)(x, y) = (alpha + beta s2(x, y)) u + sum_m hx[m] (u(x-m-1) + u(x+m+1)) + hy likewise,
// s2 = slowness squared (s^2/m^2), u = 0 outside the grid. X is symmetric with its spectrum in
// [-1, 1] for every s2 between the bounds it was made for: T_n(X) never grows.
typedef struct LithoStencil {
    float alpha, beta;
    float hx[4], hy[4];
} LithoStencil;

enum { LITHO_STENCIL_RADIUS = 4 };
