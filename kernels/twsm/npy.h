// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// A two-dimensional NumPy array, little-endian float32 or float64 in C order, as doubles.
// shape[0] rows of shape[1] numbers; g_free() the result. Any thread.
double *twsm_npy_read(const char *path, int shape[2], GError **error);
