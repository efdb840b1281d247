// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/session/judgement.h"

// "Is it right?": large figures (expected SNR, signal leaving, energy removed; where they are asked
// for, SNR against a reference and on hidden traces), each with a
// mark and words, and where no figure can be told, why. Pale while they belong to the parameters
// before.
#define LITHO_TYPE_QUALITY_PANEL (litho_quality_panel_get_type())
G_DECLARE_FINAL_TYPE(LithoQualityPanel, litho_quality_panel, LITHO, QUALITY_PANEL, GtkBox)

GtkWidget *litho_quality_panel_new(LithoSession *session, LithoJudgement *judgement);
// Text of figure `k` (0..4): "15.4 dB ±0.3", "3 %"; "" = nothing. Borrowed until the next change.
const char *litho_quality_panel_text(LithoQualityPanel *self, int k);
