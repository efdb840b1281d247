// SPDX-License-Identifier: GPL-3.0-or-later
#define LITHO_ROW 28
#define PATCH_COLUMN patch_column28
#define PATCH_SCRATCH patch_column28_scratch
#include "kernels/patch/cpu/column_rows.h"
