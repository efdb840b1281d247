// SPDX-License-Identifier: GPL-3.0-or-later
#define LITHO_ROW 28
#define PATCH_PLANES(part) patch_planes28_##part
#include "kernels/patch/cpu/planes_rows.h"
