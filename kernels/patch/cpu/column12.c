// SPDX-License-Identifier: GPL-3.0-or-later
#define LITHO_ROW 12
#define PATCH_COLUMN patch_column12
#define PATCH_SCRATCH patch_column12_scratch
#include "kernels/patch/cpu/column_rows.h"
