// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/wavepacket/cuda/kernels.h"

// The windows on the device. Launchers work on the stream given and return (int)cudaGetLastError();
// pointers are device pointers.

#ifdef __cplusplus
extern "C" {
#endif

enum { WP_DEV_STEPS = 8193, WP_DEV_TERMS = 18, WP_DEV_BANDS = 64 };

#define WP_DEV_ENERGY 0x1p25f // energies are whole numbers of 1 / this

// WpNeighbour of tiling.h.
typedef struct WpDevNeighbour {
    float nu[3], inv_radius2;
} WpDevNeighbour;

// One complex box's window and lattice.
typedef struct WpDevWindow {
    double R[3][3], M[3];
    int j0[3];
    int coarse;        // the scaling function; else a direction
    int corners;       // top scale of the full design
    float a[2], b[2];  // radial transitions, inner and outer
    float outer;       // where the angular radius is that of inv_radius2
    float factor;      // weight over phi
    int first, count;  // neighbours, itself first
} WpDevWindow;

typedef struct WpDevTiling {
    const float *step; // [WP_DEV_STEPS]
    const WpDevNeighbour *neighbours;
    const WpDevWindow *windows; // of the complex boxes
    float bump[WP_DEV_TERMS];
    float power;       // of the opening
    float taper, cut;
    float residual[2]; // where the residual window begins and ends to rise
} WpDevTiling;

// Windows of the first n_boxes boxes, which are the complex ones and have n_rows rows together:
// weights[complex index], every lattice point; energies[box][band] and active[box] are added to.
// NULL leaves either out, `active` goes with `energies`.
int wp_cuda_sample_windows(const WpDevTiling *tiling, const WpDevBox *boxes, int n_boxes,
                           int64_t n_rows, float *weights, unsigned long long *energies,
                           unsigned long long *active, cudaStream_t stream);
// The residual window of n[] points times `scale` on the half spectrum; energies[band] of the whole
// one. NULL leaves either out.
int wp_cuda_sample_residual(const WpDevTiling *tiling, const int n[3], double scale, float *weights,
                            unsigned long long *energies, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
