// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "core/io/survey.h"

// A small map of where a survey has traces: fills while headers are scanned, and shows an opened
// survey in its coordinates, north up. Main thread.
#define LITHO_TYPE_SURVEY_MAP (litho_survey_map_get_type())
G_DECLARE_FINAL_TYPE(LithoSurveyMap, litho_survey_map, LITHO, SURVEY_MAP, GtkWidget)

GtkWidget *litho_survey_map_new(void);
void litho_survey_map_clear(LithoSurveyMap *map);
// Points of the scan, in any unit: the map keeps all of them in view. Thin them out beforehand;
// some ten thousand are plenty.
void litho_survey_map_add(LithoSurveyMap *map, const gint32 (*points)[2], guint n);
guint litho_survey_map_count(LithoSurveyMap *map); // points so far
// The cells of an opened survey, in place of the points.
void litho_survey_map_show(LithoSurveyMap *map, LithoSurvey *survey);
