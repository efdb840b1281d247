// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/migrate/cpu/step.h"
#include "kernels/migrate/preview.h"

// A first look at the image: `record`, nf waves at the surface, as planes
// image[nz][data_ny][data_nx] of which the job's own are written. FALSE in `made`: no memory,
// nothing was written. FALSE: cancelled.
gboolean litho_preview_cpu(const LithoMigrateJob *job, const LithoWaves *waves, float *record,
                           float *image, gboolean *made, LithoRun *run, GError **error);
