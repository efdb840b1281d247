// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// The k-th smallest (from 0) of n numbers, none of them NaN; may reorder them. Any thread.
float litho_select_kth(float *x, gint64 n, gint64 k);
