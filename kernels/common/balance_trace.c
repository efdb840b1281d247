// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/common/balance_trace.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/common/select.h"

enum { HALF = BALANCE_HALF };
#define AGAINST 3 // standard deviations of a slope that is negative
static const float least_gain = 0.02f, most_gain = 50;

static int by_ratio(const void *a, const void *b)
{
    const float x = ((const BalancePiece *)a)->ratio, y = ((const BalancePiece *)b)->ratio;
    return (x > y) - (x < y);
}

static void sort_pieces(BalancePiece *pieces, gint64 n)
{
    enum { FEW = 32 };
    if (n > FEW) {
        qsort(pieces, n, sizeof *pieces, by_ratio);
        return;
    }
    for (gint64 k = 1; k < n; k++) {
        const BalancePiece own = pieces[k];
        gint64 to = k;
        for (; to > 0 && own.ratio < pieces[to - 1].ratio; to--)
            pieces[to] = pieces[to - 1];
        pieces[to] = own;
    }
}

static float weighted_median(const BalanceSums *s, gint64 n, gint64 step, BalancePiece *pieces)
{
    gint64 m = 0;
    double all = 0, below = 0;
    for (gint64 k = 0; k < n; k += step)
        if (s[k].kept > 0) {
            pieces[m++] = (BalancePiece){s[k].product / s[k].kept, s[k].kept};
            all += s[k].kept;
        }
    sort_pieces(pieces, m);
    for (gint64 k = 0; k < m; k++)
        if ((below += pieces[k].weight) >= all / 2)
            return pieces[k].ratio;
    return 0;
}

// Energy of the misfit in a window.
static float misfit(const BalanceSums *s, float gain)
{
    const float energy = s->own - 2 * gain * s->product + gain * gain * s->kept;
    return MAX(energy, 0);
}

float balance_gain_of(const BalanceSums *s, gint64 n, gint64 step, BalancePiece *pieces, float *off,
                      float *variance)
{
    float gain = weighted_median(s, n, step, pieces);
    *variance = INFINITY;
    for (int pass = 0; pass < 2; pass++) {
        double product = 0, kept = 0, error = 0;
        gint64 m = 0;
        for (gint64 k = 0; k < n; k += step)
            if (s[k].own > 0)
                off[m++] = misfit(&s[k], gain);
        const float middle = m > 0 ? litho_select_kth(off, m, m / 2) : 0;
        for (gint64 k = 0; k < n; k += step) {
            // The misfit's variance of a sample: the taper's energy in a window is half its length.
            const float misfits = misfit(&s[k], gain), own = MAX(misfits, 1e-30f);
            const double weight = 1 / MAX(own, middle);
            product += weight * s[k].product;
            kept += weight * s[k].kept;
            error += weight * weight * own / HALF * s[k].kept;
        }
        if (!(kept > 0) || !(product > 0))
            return 0;
        gain = (float)(product / kept);
        *variance = (float)(error / (product * product));
    }
    return CLAMP(gain, least_gain, most_gain);
}

// A trace whose events stand against those around it: the slope, without regard to the gain, in
// units of its own error, in every second of n windows from the `first`.
static gboolean is_against(const BalanceSums *s, gint64 n, gint64 first)
{
    double product = 0, error = 0;
    for (gint64 k = first; k < n; k += 2)
        if (s[k].own > 0) {
            product += s[k].product / s[k].own;
            error += s[k].kept / s[k].own / HALF;
        }
    return product < -AGAINST * sqrt(error);
}

gboolean balance_is_reversed(const BalanceSums *s, gint64 n)
{
    return is_against(s, n, 0) && is_against(s, n, 1);
}

int balance_windows_of(const BalanceSums *s, gint64 n, gint64 step)
{
    int windows = 0;
    for (gint64 k = 0; k < n; k += step)
        windows += s[k].all_own > 0;
    return windows;
}

float balance_level_of(const BalanceSums *s, gint64 n, gint64 step, float *list, float *events)
{
    double product = 0, kept = 0;
    gint64 m = 0;
    for (gint64 k = 0; k < n; k += step) {
        product += s[k].all_product;
        kept += s[k].all_kept;
    }
    const float gain = kept > 0 ? (float)(product / kept) : 0;
    for (gint64 k = 0; k < n; k += step)
        if (s[k].all_own > 0)
            list[m++] = s[k].all_own - 2 * gain * s[k].all_product + gain * gain * s[k].all_kept;
    const float middle = m > 0 ? litho_select_kth(list, m, m / 2) : 0;
    *events = 0.5f * logf((float)(kept / MAX(m, 1)) + 1e-30f);
    return middle > 0 ? 0.5f * logf(middle) : NAN;
}

void balance_less_mean(const float *log, const gint64 n[2], int reach, float *to)
{
    for (gint64 i = 0; i < n[0]; i++)
        for (gint64 j = 0; j < n[1]; j++) {
            double sum = 0;
            int count = 0;
            for (gint64 a = MAX(i - reach, 0); a <= MIN(i + reach, n[0] - 1); a++)
                for (gint64 b = MAX(j - reach, 0); b <= MIN(j + reach, n[1] - 1); b++)
                    if (isfinite(log[a * n[1] + b])) {
                        sum += log[a * n[1] + b];
                        count++;
                    }
            to[i * n[1] + j] = log[i * n[1] + j] - (float)(count > 0 ? sum / count : 0);
        }
}
