// SPDX-License-Identifier: GPL-3.0-or-later
#include <string.h>

#include "core/error.h"
#include "core/io/segy_geometry.h"

gint64 litho_file_trace_at(const LithoTraceFile *file, gint64 t)
{
    return file->offsets ? file->offsets[t] : file->first + t * file->stride;
}

gint64 litho_file_trace_samples(const LithoTraceFile *file, gint64 t)
{
    if (!file->offsets)
        return file->ns;
    return (file->offsets[t + 1] - file->offsets[t] - file->header_bytes) /
           litho_format_bytes(file->format);
}

gint32 litho_head_i32(const LithoHeads *heads, guint k, int byte)
{
    return litho_get_i32(heads->bytes + (gsize)k * LITHO_HEADER_BYTES + byte - 1,
                         (LithoOrder)heads->order[k]);
}

gint16 litho_head_i16(const LithoHeads *heads, guint k, int byte)
{
    return litho_get_i16(heads->bytes + (gsize)k * LITHO_HEADER_BYTES + byte - 1,
                         (LithoOrder)heads->order[k]);
}

int litho_head_scalar(const LithoHeads *heads, guint k)
{
    return heads->scalar ? heads->scalar : litho_head_i16(heads, k, 71);
}

gboolean litho_head_empty(const LithoHeads *heads, guint k)
{
    if (heads->judged && heads->foreign[k])
        return TRUE;
    if (heads->bare)
        return FALSE;
    const guint8 *p = heads->bytes + (gsize)k * LITHO_HEADER_BYTES;
    return p[0] == 0 && memcmp(p, p + 1, LITHO_HEADER_BYTES - 1) == 0;
}

double litho_scaled(gint32 value, int scalar)
{
    return scalar > 0 ? (double)value * scalar : scalar < 0 ? (double)value / -scalar : value;
}

// Number of the k-th trace to look at: everything, or LITHO_HEAD_RUNS runs of neighbours from the
// first to the last trace.
static gint64 pick(gint64 traces, gint64 n, gint64 k)
{
    if (n == traces)
        return k;
    gint64 run = n / LITHO_HEAD_RUNS, r = k / run;
    gint64 start = (gint64)((double)(traces - run) * r / (LITHO_HEAD_RUNS - 1));
    return start + k % run;
}

gboolean litho_heads_read(LithoHeads *heads, LithoSurvey *survey, GError **error)
{
    gint64 n = MIN(survey->traces, LITHO_HEADS), foreign = 0;
    *heads = (LithoHeads){
        .scalar = heads->scalar,
        .n = (guint)n,
        .bytes = g_malloc(n * LITHO_HEADER_BYTES),
        .order = g_malloc(n),
        .follows = g_malloc0(n),
        .trace = g_new(gint64, n),
        .foreign = g_malloc0(n),
        .complete = n == survey->traces,
    };
    for (gint64 k = 0; k < n; k++) {
        gint64 t = pick(survey->traces, n, k);
        const LithoTraceFile *file = litho_survey_file_of(survey, t);
        if (!litho_file_read_all(file, heads->bytes + k * LITHO_HEADER_BYTES, LITHO_HEADER_BYTES,
                                 litho_file_trace_at(file, t - file->base), error))
            return FALSE;
        heads->order[k] = file->order;
        heads->trace[k] = t;
        heads->follows[k] = k > 0 && t == heads->trace[k - 1] + 1;
        heads->foreign[k] = litho_segy_header_foreign(
            heads->bytes + k * LITHO_HEADER_BYTES, file->order,
            litho_file_trace_samples(file, t - file->base), file->dt_binary);
        foreign += heads->foreign[k];
    }
    heads->judged = 4 * foreign <= n;
    heads->bare = TRUE;
    for (guint k = 0; k < heads->n && heads->bare; k++)
        heads->bare = (heads->judged && heads->foreign[k]) ||
                      (!litho_head_i16(heads, k, 115) && !litho_head_i16(heads, k, 117) &&
                       !litho_head_i16(heads, k, 29));
    return TRUE;
}

void litho_heads_clear(LithoHeads *heads)
{
    g_free(heads->bytes);
    g_free(heads->order);
    g_free(heads->follows);
    g_free(heads->trace);
    g_free(heads->foreign);
    *heads = (LithoHeads){0};
}
