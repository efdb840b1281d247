// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <cairo.h>
#include "core/cube.h"
#include "render/view.h"

// The slice shader's twin on the CPU: same samples, same colours, same hatch and wiggles, pixel by
// pixel, for pictures where no OpenGL can be had. Thread-safety: reads the cubes only.

typedef struct LithoRaster {
    const LithoCube *input, *output; // host samples needed; either may be NULL
    const LithoGrid *grid;
    LithoSliceView view;
    LithoLook look;
    LithoShow show; // not SIDE: call once per panel
    double scale;   // device pixels per logical pixel
} LithoRaster;

// A picture of width x height logical pixels (RGB24); grid lines and cross-hair are not in
// it. NULL sets `error` when samples cannot be had. cairo_surface_destroy() it.
cairo_surface_t *litho_raster_slice(const LithoRaster *raster, double width, double height,
                                    GError **error);
