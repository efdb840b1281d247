// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/reach.h"

#include <math.h>

LithoReach *litho_reach_new(gint64 n)
{
    LithoReach *reach = g_new0(LithoReach, 1);
    reach->n = n;
    reach->fast = g_new(double, n + 1);
    reach->slow = g_new0(double, n + 1);
    reach->least = g_new(double, n + 1);
    for (gint64 k = 0; k <= n; k++)
        reach->fast[k] = reach->least[k] = INFINITY;
    return reach;
}

void litho_reach_free(LithoReach *reach)
{
    if (!reach)
        return;
    g_free(reach->fast);
    g_free(reach->slow);
    g_free(reach->least);
    g_free(reach);
}

// least[k + 1] is the smallest slowness of sample k until it is finished.
void litho_reach_add(LithoReach *reach, const float *trace, double unit)
{
    double sum = 0, slowness = 0;
    for (gint64 k = 0; k < reach->n; k++) {
        slowness = 1 / (trace[k] * unit);
        sum += slowness;
        reach->fast[k + 1] = fmin(reach->fast[k + 1], sum);
        reach->slow[k + 1] = fmax(reach->slow[k + 1], sum);
        reach->least[k + 1] = fmin(reach->least[k + 1], slowness);
    }
    reach->last_slow = fmax(reach->last_slow, slowness);
}

void litho_reach_merge(LithoReach *reach, const LithoReach *from)
{
    for (gint64 k = 0; k <= reach->n; k++) {
        reach->fast[k] = fmin(reach->fast[k], from->fast[k]);
        reach->slow[k] = fmax(reach->slow[k], from->slow[k]);
        reach->least[k] = fmin(reach->least[k], from->least[k]);
    }
    reach->last_slow = fmax(reach->last_slow, from->last_slow);
}

void litho_reach_finish(LithoReach *reach)
{
    reach->fast[0] = reach->least[0] = 0;
    for (gint64 k = 0; k < reach->n; k++)
        reach->least[k + 1] += reach->least[k];
}

double litho_reach_time(const LithoReach *reach, LithoColumn column, double at)
{
    const double *sum = column == LITHO_COLUMN_FAST   ? reach->fast
                        : column == LITHO_COLUMN_SLOW ? reach->slow
                                                      : reach->least;
    const gint64 n = reach->n;
    if (at <= 0)
        return at * sum[1];
    if (at >= n) {
        const double last =
            column == LITHO_COLUMN_SLOW ? reach->last_slow : reach->least[n] - reach->least[n - 1];
        return sum[n] + (at - n) * last;
    }
    const gint64 k = (gint64)at;
    return sum[k] + (at - k) * (sum[k + 1] - sum[k]);
}
