// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"

// Depth migration by explicit frequency-space extrapolation: one Chebyshev polynomial of a
// cross-shaped Laplacian a depth step (Deschizeaux and Blanc, GPU Gems 3, ch. 38; Soubaras 1996).
//
// Axes inside: x = crossline index (fastest), y = inline index, z = depth. p(t) = sum P exp(+iwt),
// so a recorded wave goes down by G = exp(+i dz sqrt(w^2/v^2 - k^2)).

enum { LITHO_MIGRATE_ZERO_OFFSET, LITHO_MIGRATE_SHOT, LITHO_MIGRATE_DEMIGRATE };
enum { LITHO_MIGRATE_OPERATOR, LITHO_MIGRATE_POINTWISE };
enum { LITHO_MIGRATE_CHEBYSHEV, LITHO_MIGRATE_SPLITSTEP };
enum { LITHO_MIGRATE_CORRELATION, LITHO_MIGRATE_NORMALISED };
enum { LITHO_MIGRATE_RECORD, LITHO_MIGRATE_LINE, LITHO_MIGRATE_HEADERS };
enum { LITHO_MIGRATE_FUSED, LITHO_MIGRATE_PER_DEGREE };

enum { LITHO_MIGRATE_MAX_DEGREE = 63, LITHO_MIGRATE_MAX_STEP = 4 };
enum { LITHO_MIGRATE_MOST_DEPTHS = 100000 };

typedef struct LithoMigrateParams {
    int mode;
    LithoText velocity; // m/s, or a file: "depth velocity" lines, or a cube
    double velocity_dz; // m between the samples of a velocity cube; 0 = what its file says
    double dz;          // m, of the image
    int nz;             // image depths; 0 = as deep as the record reaches
    double dx, dy;      // m, along crossline and inline index; 0 = what the input says
    int degree;         // N of the polynomial
    double max_dip;     // degrees from vertical propagation
    bool stop;          // take away what is steeper than max_dip, operator form
    int form;
    int engine;
    double fmin, fmax;         // Hz; fmax 0 = 60 Hz or 80 % of Nyquist, whichever is lower
    int step;                  // image depths an extrapolation step crosses; 0 = about one dx
    bool coarse;               // lower frequencies on wider cells and depths
    int sponge;                // cells of absorbing border
    int pad;                   // cells added around the data; -1 = sponge
    double source_x, source_y; // m from trace (0, 0) along the crossline and inline index
    double wavelet;            // Hz, peak of the source's Ricker wavelet; 0 = an impulse
    double delay;              // s, time of the wavelet's peak
    int imaging;
    double stabilise; // fraction of the plane's largest illumination added before dividing
    bool antialias;   // product of two waves on a grid twice as fine
    int geometry;
    double origin_x, origin_y; // m, corner of the image when geometry = headers
    int nx, ny;                // its cells
    double dt;                 // s, of demigrated data
    int nt;                    // samples of demigrated data; 0 = as long as the image needs
    double edge_weight; // w0 of the design: error allowed at vertical propagation / at max_dip
    double ratio_cap;   // velocity ratio of a plane up to which max_dip holds in its fast rock
    double growth;      // pointwise form: energy over its running minimum that stops; 0 = never
    int gpu_kernel;
} LithoMigrateParams;

enum {
    LITHO_MIGRATE_STAGE_PLAN,
    LITHO_MIGRATE_STAGE_VELOCITY,
    LITHO_MIGRATE_STAGE_SPECTRUM,
    LITHO_MIGRATE_STAGE_DESIGN,
    LITHO_MIGRATE_STAGE_EXTRAPOLATE,
    LITHO_MIGRATE_STAGE_IMAGE,
};

extern const LithoOperator litho_operator_migrate;
