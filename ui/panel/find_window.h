// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/window/window.h"

// Better values for the selected step, listed before anything changes: at once what the spectrum
// and the size of the data suggest, then the values with the highest expected SNR on the area in
// view (core/engine/find.h), whole seconds shown as they pass. Ticked rows are applied as one step
// of the history. The dialog, or NULL when no step is selected.
GtkWidget *litho_find_open(LithoWindow *window);
// TRUE when the search in `dialog` is over; `n` is the number of rows in the list. For tests.
gboolean litho_find_is_done(GtkWidget *dialog, guint *n);
