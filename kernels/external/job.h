// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/external/panel.h"

// Gives the operator of a panel its functions.
void external_operator_make(ExternalPanel *panel);
