// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/window/window.h"

// The flow on the whole cube, on the processor and on the graphics card, one after the other: two
// bars, the ratio, and how far the two results are apart. The dialog, or NULL when the flow cannot
// run.
GtkWidget *litho_race_open(LithoWindow *window);
// TRUE when the race in `dialog` is over: median times of processor and card, 0 where it did not
// run, and the relative L2 between the results, NAN unless both did.
gboolean litho_race_result(GtkWidget *dialog, double ms[2], double *difference);
