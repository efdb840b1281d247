// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/session/judgement.h"

// Quality control of the result: is it right, spectra, histogram with the clip, numbers, the
// operator's own numbers and curves.
#define LITHO_TYPE_QC_PANEL (litho_qc_panel_get_type())
G_DECLARE_FINAL_TYPE(LithoQcPanel, litho_qc_panel, LITHO, QC_PANEL, GtkBox)

GtkWidget *litho_qc_panel_new(LithoSession *session, LithoJudgement *judgement);
