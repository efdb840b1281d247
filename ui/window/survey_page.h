// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "core/cube.h"
#include "render/ticks.h"

// A page about the survey: file and format, a map of the traces, axes with where each value comes
// from, counts, and what opening repaired or assumed. Times stand in the `units` of the views.
GtkWidget *litho_survey_page_new(LithoCube *cube, LithoUnits units);
