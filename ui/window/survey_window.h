// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/window/window.h"

// A window about the file and its reading: format, where each axis comes from, header bytes that
// were tried with their evidence, the text header, and the trace header under the slices.
void litho_survey_open_window(LithoWindow *window);

// Decoded trace header of grid cell (i, j) as lines "byte  name  value"; NULL with the reason when
// there is none. Reads the file: not for the main thread. g_free().
char *litho_survey_header_text(LithoSurvey *survey, gint64 i, gint64 j, GError **error);
