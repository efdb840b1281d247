// SPDX-License-Identifier: GPL-3.0-or-later
#define LITHO_ROW 20
#define PATCH_COLUMN patch_column20
#define PATCH_SCRATCH patch_column20_scratch
#include "kernels/patch/cpu/column_rows.h"
