// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"

// Makes the operators of this folder known to the program. Call once at start, before threads.
void litho_kernels_init(void);
