// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <cuda_runtime_api.h>

// Launchers for the level of the noise from quiet coefficients: the device's side of
// kernels/common/noise_quiet.c, step by step. Each works on the stream of the task and gives
// (int)cudaGetLastError(); pointers are device pointers. Sums have a fixed order, medians are
// exact.
//
// Values [frequency][window][wavenumber] are called a field: power, smooth, near.

#ifdef __cplusplus
extern "C" {
#endif

enum { WP_LEVEL_WAVENUMBERS = 256, WP_LEVEL_GROUPS = 8, WP_LEVEL_CLASSES = 12 };

typedef struct WpLevelTask {
    cudaStream_t stream;
    const float *in;           // dense over `held`
    long long lo[3], size[3];  // held
    long long box_lo[3], box_hi[3];
    const unsigned char *live, *recorded; // traces of `held`; recorded NULL = all that are live
    int n[3], nf, windows, mute_run;
    const long long *at;       // [window][3]
    const double *taper[3];
    double energy, time_energy; // of the taper, over traces and along time
    float *samples;            // [window][wavenumber][n[2]]: scratch, then of no use
    const float2 *spectra;     // [window][wavenumber][nf]
    float *power, *smooth, *near;
    float *share, *scale, *leak; // per window
    float *muted;                // per window, as NoiseJob has it
    unsigned char *holes;        // per window: a trace inside the box is missing
} WpLevelTask;

// Tapered samples, share, scale, holes of all windows.
int wp_level_load(const WpLevelTask *task);
// Power from the spectra, and the leak of windows with holes.
int wp_level_power(const WpLevelTask *task);

// noise_map_quiet(): value `rank` of the wavenumbers, and their mean, [2][band][window].
int wp_level_quiet(const WpLevelTask *task, int bands, int rank, float *quiet);

// Selection by rank in segments: by frequency of a field, or by window. Windows without a share are
// left out.
typedef struct WpSelect {
    const float *values;        // a field
    int by_window;              // segments are windows; else frequencies
    int without_real;           // leaves real coefficients out, where there are others
    unsigned *counts;           // scratch: [segment][2048]
    unsigned long long *rank;   // [segment]: on entry the rank, then scratch
    unsigned *prefix;           // [segment]: scratch
    float *result;              // [segment]
} WpSelect;
int wp_level_select(const WpLevelTask *task, const WpSelect *select);

// smooth = power / median[frequency], mean of 3 x 3.
int wp_level_smooth(const WpLevelTask *task, const float *median);
// near = mean of the neighbourhoods.
int wp_level_near(const WpLevelTask *task, int nearest, int farthest);

typedef struct WpLevelSpread {
    const float *far[2], *close[2]; // [place][distance] per axis
    const int *place;               // [window][2]
    const float *median, *loud;     // per frequency, per window
    float loudest, counts;          // LOUD and SPREAD_COUNTS
} WpLevelSpread;
// near = near / loud + what loud coefficients spread.
int wp_level_spread(const WpLevelTask *task, const WpLevelSpread *spread);

// Per [frequency][window][class]: the power of its coefficients, and how many there are.
typedef struct WpLevelPart {
    double power;
    int count;
} WpLevelPart;
// Sums of one frequency, half and class: ClassSums of noise_quiet.c.
typedef struct WpLevelSums {
    double power[WP_LEVEL_GROUPS], weight[WP_LEVEL_GROUPS], leaky, leaky_weight;
} WpLevelSums;
typedef struct WpLevelClasses {
    float edge[WP_LEVEL_CLASSES];
    const float *limit;           // per frequency
    const float *loud;            // per window
    const unsigned char *half;    // per window
    WpLevelPart *parts;
    double *mean;                 // [frequency][window] of the power
    WpLevelSums *sums;            // [frequency][half][class]
} WpLevelClasses;
int wp_level_classes(const WpLevelTask *task, const WpLevelClasses *classes);

// Mean of the noise by frequency over all wavenumbers: noise_power() of noise_level.c from the
// median; frequencies whose coefficients are all real have one degree of freedom.
enum { WP_LEVEL_SLICES = 16 };

typedef struct WpLevelSlice {
    double sum, n;
} WpLevelSlice;

typedef struct WpLevelAll {
    const float *median;
    double of_median[2], below[2], cut; // by degrees of freedom, 1 and 2
    int passes;
    double *mean; // [frequency]
    // Scratch of a pass: what blocks have found, those that are done, and means that rest.
    WpLevelSlice *slices; // [frequency][WP_LEVEL_SLICES]
    unsigned *arrived, *rests;
} WpLevelAll;
int wp_level_all(const WpLevelTask *task, const WpLevelAll *all);

#ifdef __cplusplus
}
#endif
