// SPDX-License-Identifier: GPL-3.0-or-later
//
// Few numbers are exchanged around pivots. Many are counted by their bits, so that no branch waits
// for a number: random numbers make every second guess of a branch wrong.
#include "kernels/common/select.h"

#include <math.h>
#include <string.h>

#include "kernels/common/clones.h"

enum { FEW = 1024, MANY = 8 * FEW, BINS = 1 << 11, COLUMNS = 8, LANES = 8 };

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

// Most numbers lie beyond two of a sample that enclose the k-th one with four of its deviations:
// these are counted, and few are left. FALSE: there is no memory, or the sample misled.
static gboolean narrow(const float *x, gint64 n, gint64 k, float *kth)
{
    const double share = (double)k / (double)n, wide = 4 * sqrt(share * (1 - share) * FEW) + 2;
    const gint64 at = (gint64)(share * FEW), by = (gint64)wide;
    float sample[FEW], ends[2] = {-G_MAXFLOAT, G_MAXFLOAT};
    for (int i = 0; i < FEW; i++)
        sample[i] = x[i * n / FEW];
    if (at - by >= 0)
        ends[0] = exchange(sample, FEW, at - by);
    if (at + by < FEW)
        ends[1] = exchange(sample, FEW, at + by);
    float *between = g_try_new(float, n + 1);
    gint64 m = 0, less = 0;
    for (gint64 i = 0; between && i < n; i++) {
        between[m] = x[i];
        m += x[i] >= ends[0] && x[i] <= ends[1];
        less += x[i] < ends[0];
    }
    const gboolean found = between && k >= less && k < less + m && m <= n / 2;
    if (found)
        *kth = litho_select_kth(between, m, k - less);
    g_free(between);
    return found;
}

float litho_select_kth(float *x, gint64 n, gint64 k)
{
    static const struct {
        int shift, width;
    } pass[] = {{21, 11}, {10, 11}, {0, 10}};
    guint32 prefix = 0;
    float kth;
    if (n <= FEW)
        return exchange(x, n, k);
    if (n >= MANY && narrow(x, n, k, &kth))
        return kth;
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

// --- columns -------------------------------------------------------------------------------------

// No wider than the registers of AVX2: GCC 12 compares the lanes of wider vectors one by one.
typedef gint32 Columns __attribute__((vector_size(COLUMNS * sizeof(gint32))));

// Numbers without a sign have bits in their own order. Of `len` columns from `at` on the k-th
// number is found bit by bit: the largest of which no more than k numbers are smaller.
LITHO_INLINE void select_block(const float *const *row, gint64 n, gint64 k, gint64 at, int len,
                               float to[COLUMNS])
{
    Columns found = {0};
    for (int bit = 30; bit >= 0; bit--) {
        const Columns next = found | 1 << bit;
        Columns less = {0};
        for (gint64 i = 0; i < n; i++) {
            Columns bits = {0};
            memcpy(&bits, row[i] + at, len * sizeof(float));
            less -= bits < next; // -1 where it is
        }
        const Columns fits = less <= (gint32)k;
        found = (next & fits) | (found & ~fits);
    }
    memcpy(to, &found, sizeof found);
}

LITHO_CLONES void litho_select_columns(const float *const *row, gint64 n, gint64 k, gint64 columns,
                                       float *to)
{
    gint64 at = 0;
    for (; at + COLUMNS <= columns; at += COLUMNS)
        select_block(row, n, k, at, COLUMNS, to + at);
    if (at == columns)
        return;
    float rest[COLUMNS];
    select_block(row, n, k, at, (int)(columns - at), rest);
    memcpy(to + at, rest, (columns - at) * sizeof *to);
}

// --- sums ----------------------------------------------------------------------------------------

typedef double Halves __attribute__((vector_size(LANES / 2 * sizeof(double))));
typedef float Floats __attribute__((vector_size(LANES / 2 * sizeof(float))));

LITHO_CLONES gint64 litho_sum_below(const float *x, gint64 n, double limit, double *total)
{
    Halves sums[2] = {{0}};
    double sum = 0, lanes[LANES];
    gint64 kept = 0, k = 0, counts[LANES];
    __typeof__(sums[0] <= limit) below_limit, number[2] = {{0}};
    for (; k + LANES <= n; k += LANES)
        for (int half = 0; half < 2; half++) {
            Floats part;
            memcpy(&part, x + k + half * (LANES / 2), sizeof part);
            const Halves value = __builtin_convertvector(part, Halves);
            below_limit = value <= limit;
            number[half] -= below_limit; // -1 where it is
            sums[half] += (Halves)((__typeof__(below_limit))value & below_limit);
        }
    for (; k < n; k++)
        if (x[k] <= limit) {
            sum += x[k];
            kept++;
        }
    memcpy(lanes, sums, sizeof lanes);
    memcpy(counts, number, sizeof counts);
    for (int lane = 0; lane < LANES; lane++) {
        sum += lanes[lane];
        kept += counts[lane];
    }
    *total = sum;
    return kept;
}
