// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/session/judgement.h"
#include "ui/show/start_page.h"
#include "ui/view/canvas.h"
#include "ui/view/survey_map.h"

// The middle of the window: the start page, or the views once something is open, and the map of the
// survey that fills over them while headers are scanned. Main thread only.
typedef struct LithoMiddle LithoMiddle;

LithoMiddle *litho_middle_new(LithoSession *session, LithoJudgement *judgement);
void litho_middle_free(LithoMiddle *middle);               // its widgets live on; NULL is fine
GtkWidget *litho_middle_widget(const LithoMiddle *middle); // an overlay, for more than the map
LithoCanvas *litho_middle_canvas(const LithoMiddle *middle);
LithoStartPage *litho_middle_start(const LithoMiddle *middle);
LithoSurveyMap *litho_middle_map(const LithoMiddle *middle); // hidden at first

void litho_middle_show_views(LithoMiddle *middle, gboolean views); // or the start page
// Another file is open. A line is one section: its other views are a trace and a row of samples. A
// cube behind it has all four again, unless a person chose otherwise.
void litho_middle_show_section(LithoMiddle *middle, const LithoGrid *grid);
// A result: so, too, where the section of a line is shown and the result is another line or a cube.
void litho_middle_follow_section(LithoMiddle *middle, const LithoGrid *grid);
