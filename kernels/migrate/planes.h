// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"
#include "core/run.h"

// Work of the CPU on finished image planes, [nz][ny][nx] of the image's grid, by the run's threads.
// FALSE: cancelled.

// image / (illumination + eps * largest of the plane) in place of image, plane by plane, into `to`.
gboolean litho_migrate_normalise(const float *image, const float *illumination, gsize cells, int n,
                                 double eps, float *to, LithoRun *run, GError **error);
// Planes first .. first + n - 1 (`planes` starts at plane `first`), times `scale`, into the cube's
// traces.
gboolean litho_migrate_planes_to_cube(const float *planes, int first, int n, float scale,
                                      LithoCube *cube, LithoRun *run, GError **error);
// The other way: all samples of the cube as planes [nz][ny][nx]; dead traces and non-finite samples
// as 0.
gboolean litho_migrate_cube_to_planes(const LithoCube *cube, float *planes, LithoRun *run,
                                      GError **error);
