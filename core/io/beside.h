// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Files that belong to a survey and lie beside it, as `synth` writes them. `paths`: the survey's
// files, ended by NULL; of none and of several nothing is known. They look at the disk: of a thread
// that may wait.

// "cube.sgy" -> "cube-truth.sgy", the samples without noise; NULL where there is no such file.
// g_free().
char *litho_truth_beside(const char *const *paths);
// "cube.sgy" -> "cube-velocity.sgy", its velocity against depth; NULL where there is no such file,
// or one of a format that states no depths (NumPy, raw). g_free().
char *litho_velocity_beside(const char *const *paths);
