// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/flow.h"
#include "kernels/template/template.h"
#include "tests/common.h"

// A running mean, the example operator of kernels/template: it drives the tests of engine and
// worker.

static inline LithoCube *random_cube(gint64 n1, gint64 n2, gint64 n3)
{
    return test_random_cube(n1, n2, n3, 7, FALSE);
}

static inline LithoFlow *mean_flow(void)
{
    LithoFlow *flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_template);
    return flow;
}

static inline LithoTemplateParams *params_of(LithoFlow *flow, guint k)
{
    return litho_flow_step(flow, k)->params;
}
