// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Arrays of numbers from NumPy's .npy files: grids of depths, points of a horizon. Cubes are read
// by core/io/survey.h through the same header reader.

// The array at `path`, of exactly `axes` (1 to 3) axes in C order and any number type that cubes
// may have, as doubles; g_free(). shape[0 .. axes - 1] is its shape, slowest axis first. A file
// that is no regular one, that says it holds more than `most` numbers or more than it holds, and a
// failing allocation are errors of one sentence; nothing is allocated before the file's length
// agrees with its header. Any thread.
double *litho_npy_read(const char *path, int axes, gint64 most, gint64 *shape, GError **error);
