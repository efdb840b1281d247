// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/io/segy_fields.h"
#include "core/text.h"

// Trace headers of cells.

static double place_word(const LithoSurvey *survey, const guint8 *header, int byte)
{
    gint32 word = litho_get_i32(header + byte - 1, LITHO_ORDER_BIG);
    if (!survey->float_word[byte])
        return word;
    float v;
    memcpy(&v, &word, sizeof v);
    return isfinite(v) ? v : 0;
}

void litho_survey_place(const LithoSurvey *survey, const guint8 header[240], gboolean receiver,
                        double xy[2])
{
    const int scalar =
        survey->xy_scalar ? survey->xy_scalar : litho_get_i16(header + 70, LITHO_ORDER_BIG);
    const LithoTraceFile *file = &g_array_index(survey->files, LithoTraceFile, 0);
    for (int c = 0; c < 2; c++)
        xy[c] = litho_scaled(place_word(survey, header, (receiver ? 81 : 73) + 4 * c), scalar) *
                (file->measurement == 2 ? LITHO_FOOT : 1);
}

gboolean litho_survey_trace_header(LithoSurvey *survey, gint64 i, gint64 j, guint8 bytes[240],
                                   GError **error)
{
    const LithoGrid *g = &survey->grid;
    gint64 trace = i >= 0 && i < g->axis[0].n && j >= 0 && j < g->axis[1].n
                       ? litho_survey_trace_of(survey, i, j)
                       : -1;
    if (trace < 0) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY, _("this cell has no trace"));
        return FALSE;
    }
    const LithoTraceFile *file = litho_survey_file_of(survey, trace);
    if (file->header_bytes < LITHO_HEADER_BYTES) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED, _("%s has no trace headers"),
                    survey->name);
        return FALSE;
    }
    if (!litho_file_read_all(file, bytes, LITHO_HEADER_BYTES,
                             litho_file_trace_at(file, trace - file->base), error))
        return FALSE;
    litho_segy_reorder_survey(survey, bytes, file->order, LITHO_ORDER_BIG);
    return TRUE;
}
