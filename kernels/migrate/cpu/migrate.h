// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"
#include "kernels/migrate/job.h"

extern const LithoImpl litho_migrate_cpu;
