// SPDX-License-Identifier: GPL-3.0-or-later
#define LITHO_ROW 64
#define PATCH_TIME_ALONE
#define PATCH_PLANES(part) patch_planes64_##part
#include "kernels/patch/cpu/planes_rows.h"
