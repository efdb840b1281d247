// SPDX-License-Identifier: GPL-3.0-or-later
#define LITHO_ROW 32
#define PATCH_COLUMN patch_column32
#define PATCH_SCRATCH patch_column32_scratch
#include "kernels/patch/cpu/column_rows.h"
