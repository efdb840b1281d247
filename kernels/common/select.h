// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// The k-th smallest of n (Hoare's selection); reorders them.
static inline float litho_select_kth(float *x, gint64 n, gint64 k)
{
    gint64 lo = 0, hi = n - 1;
    while (lo < hi) {
        const float pivot = x[lo + (hi - lo) / 2];
        gint64 i = lo, j = hi;
        while (i <= j) {
            while (x[i] < pivot)
                i++;
            while (pivot < x[j])
                j--;
            if (i <= j) {
                float swap = x[i];
                x[i++] = x[j];
                x[j--] = swap;
            }
        }
        if (k <= j)
            hi = j;
        else if (k >= i)
            lo = i;
        else
            break;
    }
    return x[k];
}
