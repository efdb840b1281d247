// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/migrate/cpu/spectrum.h"

// Between the image's grid and a coarse job's: low-pass and fewer cells on the way in,
// interpolation on the way out, and the exact adjoints of both (taps.h).

gboolean litho_coarse_spectrum_forward(const LithoMigrateJob *job, const LithoWaves *waves,
                                       const LithoCube *in, const LithoShotTraces *traces,
                                       float *planes, LithoRun *run, GError **error);
gboolean litho_coarse_spectrum_adjoint(const LithoMigrateJob *job, const LithoWaves *waves,
                                       float *planes, LithoCube *out, LithoRun *run,
                                       GError **error);
// fine[nz][ny][nx] += interpolated coarse[job->nz][data_ny][data_nx].
// FALSE: no memory for what lies between.
gboolean litho_coarse_image_add(const LithoMigrateJob *job, const float *coarse, float *fine,
                                LithoRun *run, GError **error);
// The adjoint: a new coarse image, g_free(). NULL: no memory.
float *litho_coarse_image_adjoint(const LithoMigrateJob *job, const float *fine, LithoRun *run,
                                  GError **error);
