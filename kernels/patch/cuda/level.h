// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/cuda/floor.h"
#include "kernels/patch/cuda/kernels.h"

// Launchers for the level of the noise. Each gives (int)cudaGetLastError(). All
// pointers are device pointers unless said otherwise. The numbers are those of
// kernels/common/noise_level.c, with transforms in single precision of another order.

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LITHO_LEVEL_MAX_TIME = 30,          // samples of a window
    LITHO_LEVEL_MAX_WAVENUMBERS = 3072, // of a window
    LITHO_LEVEL_GROUPS = 8,
};

// A window as the statistics see it.
enum { LITHO_LEVEL_HALF = 1, LITHO_LEVEL_CHOOSES_0 = 2, LITHO_LEVEL_CHOOSES_1 = 4 };

// A window that is transformed: its first sample, its taper's place in the results.
typedef struct LithoLevelPlace {
    long long at[3];
    int job, window; // number `window` of the job
} LithoLevelPlace;

// A group of windows with a level of its own.
typedef LithoFloorJob LithoLevelJob;

typedef struct LithoLevelTask {
    const float *in;
    LithoPatchBox held;            // of `in`
    const unsigned char *live;     // traces of `held`
    const unsigned char *recorded; // likewise: others that are live are guesses, without weight
    int n[3];                      // window
    const double *taper[3];        // sin(pi (i + 1/2) / n)
    double energy;                 // of the taper over all traces of a window
    double time_energy;            // and along time
    const LithoLevelJob *jobs;
    int n_jobs;
    const unsigned char *flags; // [window of all jobs]
    float *share;               // [window of all jobs]: of `energy` on live traces, 0 = left out
    float *scale;               // [window of all jobs]: of |F|^2
    float *spectra;             // scratch: [window of a batch][frequency][wavenumber], complex
    float *power;               // [job][frequency][window][wavenumber]
    unsigned char *quiet;       // [job][frequency][half][wavenumber]
    double median[2];           // over the mean, for 1 and 2 degrees of freedom
    double below[2];            // share of the mean below `cut` times the mean, likewise
    double cut;
    int passes;
} LithoLevelTask;

// Spectra of `count` windows into `power`.
int litho_level_spectra(const LithoLevelTask *task, const LithoLevelPlace *places, int count,
                        cudaStream_t stream);
// The quiet half of the wavenumbers that each half of the windows chooses for the other.
int litho_level_quiet(const LithoLevelTask *task, cudaStream_t stream);

// level_bands.cu: the windows' parts of zeros in runs, of the traces that are there
// (noise_count_muted() with runs of `mute_run`), into muted[window of the first job]; launched for
// the places that litho_level_spectra() gets.
int litho_level_muted(const LithoLevelTask *task, const LithoLevelPlace *places, int count,
                      int mute_run, float *muted, cudaStream_t stream);
// Values of `rank` among the wavenumbers of each window of the first job, and their means,
// [2][frequency][window]: noise_map_quiet() of kernels/common/noise_map.c.
int litho_level_ranks(const LithoLevelTask *task, int windows, int rank, float *quiet,
                      cudaStream_t stream);

// A mean of |F|^2 of the noise, the number of coefficients it was taken from, and its search.
typedef struct LithoLevelMean {
    double mean;
    long long n;
    long long left;   // rank of the median among values with the prefix
    unsigned prefix;  // bits of the median that are known
    unsigned arrived; // blocks of the launch
    int rests;
} LithoLevelMean;

// Sets of coefficients a frequency has: all of them; quiet ones of both halves, of all windows and,
// with `interval`, of each group, the last first.
#define LITHO_LEVEL_SETS(interval) (1 + 2 * ((interval) ? LITHO_LEVEL_GROUPS + 1 : 1))
// Bytes that the means of so many jobs and frequencies need, of at most `windows` each.
unsigned long long litho_level_means_bytes(int interval, long long frequencies, int windows);
// means[job][frequency][set], at the beginning of `room`. `windows`: the most of a job.
int litho_level_means(const LithoLevelTask *task, int interval, int windows, void *room,
                      cudaStream_t stream);

// Mean power of a frequency over the wavenumbers of the floor, of all and below events.
typedef struct LithoLevelBelow {
    float mean, below;
} LithoLevelBelow;

// Gives below[job][frequency] of floor[job][frequency][wavenumber], and adds the floors in units of
// their means to sum[frequency][wavenumber], in steps of 1 / unit. As patch_floor_add().
int litho_level_below(const LithoLevelTask *task, const float *floor, double unit,
                      LithoLevelBelow *below, unsigned long long *sum, cudaStream_t stream);

// level_cells.cu: litho_level_quiet(), litho_level_means() without the interval, the floors, of
// which litho_noise_floor_launch() has `part` and `least`, and litho_level_below() in one, where
// 1 is given for the most windows of a job: powers of a frequency fit into shared memory.
int litho_level_takes_cells(const LithoLevelTask *task, int windows);
int litho_level_cells(const LithoLevelTask *task, int windows, double part, int least, double unit,
                      LithoLevelMean *means, LithoLevelBelow *below, unsigned long long *sum,
                      cudaStream_t stream);

#ifdef __cplusplus
}
#endif
