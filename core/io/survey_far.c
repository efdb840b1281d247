// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/survey_private.h"

// near[j] = 1 where line `i` has a trace within `reach` crosslines; lines after the last have none.
static void near_on_line(const LithoSurvey *survey, gint64 i, int reach, guint8 *near)
{
    const gint64 n = survey->grid.axis[1].n;
    gint64 next = 0; // crosslines before it are decided
    for (gint64 j = 0; j < n; j++)
        near[j] = 0;
    for (gint64 j = 0; j < n && i < survey->grid.axis[0].n; j++) {
        if (!litho_survey_has_trace(survey, i, j))
            continue;
        const gint64 end = MIN(j + reach + 1, n);
        for (next = MAX(next, j - reach); next < end; next++)
            near[next] = 1;
    }
}

gint64 litho_survey_far_cells(const LithoSurvey *survey, int reach)
{
    const gint64 ni = survey->grid.axis[0].n, nj = survey->grid.axis[1].n;
    const gint64 window = 2 * (gint64)reach + 1;
    // Nearness on the lines around the one looked at, in turn, and its sum at each crossline.
    g_autofree guint8 *lines = g_try_malloc0_n(window, nj);
    g_autofree int *sum = g_try_new0(int, nj);
    gint64 far = 0;
    if (!lines || !sum)
        return 0;
    for (gint64 i = 0; i < ni + reach; i++) {
        guint8 *line = lines + i % window * nj;
        for (gint64 j = 0; j < nj; j++)
            sum[j] -= line[j];
        near_on_line(survey, i, reach, line);
        for (gint64 j = 0; j < nj; j++) {
            sum[j] += line[j];
            far += i >= reach && sum[j] == 0;
        }
    }
    return far;
}
