// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"

// Parameters of the example operator: copy this folder to begin one of your own.
typedef struct LithoTemplateParams {
    double gain;   // factor on every sample
    int halfwidth; // traces on either side, inline direction, that the mean is taken over
} LithoTemplateParams;

// Stages of the work, for parameters and plans.
enum { LITHO_TEMPLATE_STAGE_PLAN, LITHO_TEMPLATE_STAGE_MEAN, LITHO_TEMPLATE_STAGE_GAIN };

extern const LithoImpl litho_template_cpu;
extern const LithoOperator litho_operator_template;
