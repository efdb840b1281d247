// SPDX-License-Identifier: GPL-3.0-or-later
//
// The example operator: a running mean over 2h+1 inlines, times a gain. It is built and tested, not
// offered to users. docs/tour.md, "Adding an operator", says how a copy of the folder becomes an
// operator of the program.
//
// This file is the declaration; the work is in cpu/template.c and cuda/template.c.
#include "kernels/template/template.h"
#include "core/text.h"

// Output inline i depends on inlines i-h..i+h, every other axis on itself.
static LithoBox input_box(const LithoGrid *in, const void *params, LithoBox region)
{
    const LithoTemplateParams *p = params;
    return litho_box_grow(in, region, (const gint64[3]){p->halfwidth, 0, 0});
}

static const LithoParam rows[] = {
    LITHO_FLOAT(LithoTemplateParams, gain, .label = N_("Gain"), .def = 1, .min = 0.001, .max = 1000,
                .soft_min = 0.1, .soft_max = 10, .log = true, .stage = LITHO_TEMPLATE_STAGE_GAIN,
                .doc = N_("Factor on every sample; 1 leaves the amplitudes as they are.")),
    LITHO_INT(LithoTemplateParams, halfwidth, .label = N_("Half width"), .unit = N_("traces"),
              .def = 1, .min = 0, .max = 50, .soft_max = 10, .stage = LITHO_TEMPLATE_STAGE_MEAN,
              .doc = N_("Traces on either side that the mean is taken over; 0 = none.")),
};

static const char *const stages[] = {"plan", "mean", "gain", NULL};

static const LithoPreset presets[] = {
    {N_("default"), "", N_("three traces")},
    {N_("smooth"), "halfwidth=4", N_("nine traces")},
    {NULL},
};

static const LithoDemo demo = {"planes", "preset=smooth", N_("neighbouring traces grow alike")};

const LithoOperator litho_operator_template = {
    .key = "template",
    .title = N_("Running mean"),
    .summary = N_("Mean over neighbouring inlines: the example operator."),
    .stages = stages,
    .params = {rows, G_N_ELEMENTS(rows), sizeof(LithoTemplateParams)},
    .presets = presets,
    .demo = &demo,
    .needs_input = TRUE,
    .input_box = input_box,
    .cpu = &litho_template_cpu,
};
