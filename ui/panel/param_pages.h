// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>

#include "core/operator.h"

// All parameters of an operator as a text to read: meaning, usual values, formula, and pictures of
// values that are too low and too high. Made of the operator's declaration and of the resources
// parameters.json and parameters/OPERATOR-KEY.png (docs/parameters.py). Scrolls; the caller puts it
// into a window. Floating.
GtkWidget *litho_param_pages_new(const LithoOperator *op);
