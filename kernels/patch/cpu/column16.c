// SPDX-License-Identifier: GPL-3.0-or-later
#define LITHO_ROW 16
#define PATCH_COLUMN patch_column16
#define PATCH_SCRATCH patch_column16_scratch
#include "kernels/patch/cpu/column_rows.h"
