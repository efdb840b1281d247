// SPDX-License-Identifier: GPL-3.0-or-later
//
// Few numbers are exchanged around pivots. Many are counted by their bits, so that no branch waits
// for a number: random numbers make every second guess of a branch wrong.
#include "kernels/common/select.h"

#include <string.h>

enum { FEW = 1024, BINS = 1 << 11 };

// Hoare's selection.
static float exchange(float *x, gint64 n, gint64 k)
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

// Bits in the order of the numbers, and back.
static inline guint32 key_of(float x)
{
    guint32 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
}

static float number_of(guint32 key)
{
    const guint32 bits = key ^ (key >> 31 ? 0x80000000u : 0xffffffffu);
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// Numbers whose key begins with `prefix`, counted by their next `width` bits, down to bit `shift`.
// Neighbours have tables of their own: they often meet in one bin, and would wait for each other.
static void count(const float *x, gint64 n, guint32 prefix, int shift, int width,
                  guint32 bins[BINS])
{
    guint32 table[2][BINS + 1] = {0}; // the last one: other numbers
    for (gint64 i = 0; i < n; i++) {
        const guint32 key = key_of(x[i]);
        const gboolean counts = (guint64)key >> (shift + width) == prefix;
        table[i % 2][counts ? key >> shift & ((1u << width) - 1) : BINS]++;
    }
    for (int b = 0; b < BINS; b++)
        bins[b] = table[0][b] + table[1][b];
}

// Numbers whose key begins with `prefix`, down to bit `shift`; there are FEW at most.
static gint64 collect(const float *x, gint64 n, guint32 prefix, int shift, float to[FEW + 1])
{
    gint64 m = 0;
    for (gint64 i = 0; i < n; i++) {
        to[m] = x[i];
        m += key_of(x[i]) >> shift == prefix;
    }
    return m;
}

float litho_select_kth(float *x, gint64 n, gint64 k)
{
    static const struct {
        int shift, width;
    } pass[] = {{21, 11}, {10, 11}, {0, 10}};
    guint32 prefix = 0;
    if (n <= FEW)
        return exchange(x, n, k);
    for (guint p = 0; p < G_N_ELEMENTS(pass); p++) {
        guint32 bins[BINS], b = 0;
        count(x, n, prefix, pass[p].shift, pass[p].width, bins);
        for (; k >= bins[b]; b++)
            k -= bins[b];
        prefix = prefix << pass[p].width | b;
        if (bins[b] <= FEW) {
            float few[FEW + 1];
            return exchange(few, collect(x, n, prefix, pass[p].shift, few), k);
        }
    }
    return number_of(prefix);
}
