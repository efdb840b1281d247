// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"

// Wave-packet transform of a cube and what is done with its coefficients. The transform is the one
// of Nikitin, Romanenko, Duchkov, Andersson (SEG 2011); docs/wavepacket.md explains it.
typedef struct LithoWavepacketParams {
    int mode;               // enum LithoWavepacketMode
    double threshold;       // denoise: multiples of sigma
    double sigma;           // standard deviation of the noise in data units; 0 = estimate
    int rule;               // 0 hard, 1 soft
    double keep;            // compress: kept coefficients / samples
    int refit;              // compress: least-squares steps on the kept coefficients
    int iterations;         // interpolate: POCS steps
    double floor;           // interpolate: last threshold / first one
    double trust;           // interpolate: weight of recorded traces, 1 = kept as they are
    LithoText coefficients; // compress writes this file, reconstruct reads it; "" = none
    int corrections;        // Neumann steps after the adjoint
    int design;             // compact, default, full
    int scales;             // 0 = from the smallest axis
    int directions;         // cells per cube-face edge at the coarsest directional scale
    int kernel;             // kaiser, gaussian
    int kernel_width;       // taps per axis
    double oversampling;    // fine grid / samples
    int block, overlap;     // segments; 0 = the whole volume at once
    int adjoint;            // CUDA only: enum LithoWavepacketAdjoint
    int balance;            // denoise: enum LithoWavepacketBalance
    int steady;             // denoise: 0 = steady noise is taken off before (core/qc_steady.h)
    double erratic;         // denoise: bursts are above so many times the neighbours; 0 = none
} LithoWavepacketParams;

// Samples, and lines of a cube, at least; of fewer lines each is transformed by itself.
enum { WP_FEWEST = 4 };

enum { WP_LEAST_DIRECTIONS = 3, WP_FINE_DIRECTIONS = 5, WP_MOST_DIRECTIONS = 9 };

enum LithoWavepacketMode { WP_DENOISE, WP_COMPRESS, WP_INTERPOLATE, WP_RECONSTRUCT };
enum LithoWavepacketAdjoint { WP_TILES, WP_GATHER };
enum LithoWavepacketBalance { WP_BALANCE_AUTO, WP_BALANCE_OFF };

extern const LithoOperator litho_operator_wavepacket;
