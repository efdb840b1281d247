// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/flow.h"
#include "core/report.h"

// Flows with the choices that their operators made. Parameters that are left automatic may be
// chosen by the data (LithoParam.by_data); a little noise more, or a few traces fewer, may change a
// choice that was a close one, and with it more of the result than the noise does. Figures that
// compare runs hold the choices of the first one.

// TRUE when a parameter of an enabled step is left to the data.
gboolean litho_flow_has_choices(const LithoFlow *flow);
// A copy with the values that a run of `flow` told in `report`. Of an operator that stands in the
// flow twice they are left open. The caller frees it.
LithoFlow *litho_flow_settled(const LithoFlow *flow, LithoReport *report);
