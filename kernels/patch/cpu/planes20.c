// SPDX-License-Identifier: GPL-3.0-or-later
#define LITHO_ROW 20
#define PATCH_PLANES(part) patch_planes20_##part
#include "kernels/patch/cpu/planes_rows.h"
