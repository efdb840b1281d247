// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"
#include "kernels/migrate/engine.h"

extern const MigEngineClass mig_cpu;
extern const LithoImpl litho_migrate_cpu;
