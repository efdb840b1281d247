// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"

// Parameters of the example operator: copy this folder to begin one of your own.
typedef struct LithoTemplateParams {
    double gain;   // factor on every sample
    int halfwidth; // traces on either side, inline direction, that the mean is taken over
} LithoTemplateParams;

extern const LithoOperator litho_operator_template;
