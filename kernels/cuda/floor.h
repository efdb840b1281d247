// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <driver_types.h>

#ifdef __cplusplus
extern "C" {
#endif

// Windows of a job: all jobs' windows, and their powers, stand one behind the other.
typedef struct LithoFloorJob {
    int first, windows;
} LithoFloorJob;

// noise_floor() of kernels/common/noise_job.h on the device: floor[job][frequency][wavenumber] from
// power[job][frequency][window][wavenumber]. Windows whose share is 0 are left out; the value that
// `part` of the others exceed no more stands for all, `least` windows are needed. `jobs` is on the
// device, too. Gives cudaGetLastError().
int litho_noise_floor_launch(const float *power, const float *share, const LithoFloorJob *jobs,
                             int n_jobs, int frequencies, int wavenumbers, double part, int least,
                             float *floor, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
