// SPDX-License-Identifier: GPL-3.0-or-later
#define LITHO_ROW 24
#define PATCH_COLUMN patch_column24
#define PATCH_SCRATCH patch_column24_scratch
#include "kernels/patch/cpu/column_rows.h"
