// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// The k-th smallest (from 0) of n numbers, none of them NaN; may reorder them. Any thread.
float litho_select_kth(float *x, gint64 n, gint64 k);

// The k-th smallest of n numbers in each of many columns: to[column] of row[0 .. n-1][column], none
// of which is negative or NaN. Many times as fast as one by one. Any thread.
void litho_select_columns(const float *const *row, gint64 n, gint64 k, gint64 columns, float *to);
// Sum and number of the n numbers up to `limit`, of a fixed order on any machine. Any thread.
gint64 litho_sum_below(const float *x, gint64 n, double limit, double *sum);
