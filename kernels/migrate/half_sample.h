// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The half-sample interpolator that both backends protect a product of waves with: p(1/2) = sum_j
// c_j (p(-j) + p(1 + j)), equal-ripple (0.4 %) to 0.75 of Nyquist, 1 at wavenumber 0. No GLib here.
enum { LITHO_HALF_REACH = 6 }; // taps on either side
#define LITHO_HALF_SAMPLE                                                                          \
    {                                                                                              \
        0.6281764f, -0.1868244f, 0.0893386f, -0.0435275f, 0.0199671f, -0.0071303f                  \
    }
