// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/run.h"

// Sizes of a file of float32 samples and nothing else, from the samples: neighbouring traces are
// alike, and so are neighbouring lines. `n` samples of `total` are looked at, the first ones.
// FALSE: nothing stands out. Inlines, crosslines, samples; one line where no line length stands
// out.
gboolean litho_import_shape_from_samples(const float *x, gint64 n, gint64 total, LithoRun *run,
                                         gint64 shape[3]);
// Sizes of a file of which a few megabytes are read; in a thread.
gboolean litho_import_shape_of_file(const char *path, LithoRun *run, gint64 shape[3]);
