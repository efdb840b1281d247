// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "core/cube.h"

// A page about the survey: file and format, a map of the traces, axes with where each value comes
// from, counts, and what opening repaired or assumed.
GtkWidget *litho_survey_page_new(LithoCube *cube);
