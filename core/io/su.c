// SPDX-License-Identifier: GPL-3.0-or-later
#include <string.h>

#include "core/error.h"
#include "core/io/segy_fields.h"
#include "core/text.h"

// Seismic Unix: SEG-Y trace headers and IEEE floats in either byte order, no file headers.

// 0..1: how well the file reads as SU in this byte order; *ns from the first header.
static double judge(const LithoTraceFile *file, LithoOrder order, gint64 *ns)
{
    guint8 header[LITHO_HEADER_BYTES];
    if (litho_file_read(file, header, sizeof header, 0, NULL) != sizeof header)
        return 0;
    *ns = litho_get_u16(header + 114, order);
    int dt = litho_get_u16(header + 116, order);
    gint64 stride = LITHO_HEADER_BYTES + 4 * *ns, whole = file->size / stride;
    if (*ns == 0 || whole == 0)
        return 0;
    double sum = 0;
    gint64 probes[] = {0, 1, whole / 2, whole - 1};
    for (guint k = 0; k < G_N_ELEMENTS(probes); k++) {
        gint64 t = MIN(probes[k], whole - 1);
        if (litho_file_read(file, header, sizeof header, t * stride, NULL) != sizeof header)
            return 0;
        sum += litho_segy_header_plausible(header, order, *ns, dt);
    }
    double score = 0.8 * sum / G_N_ELEMENTS(probes);
    return score + (file->size % stride == 0 ? 0.2 : 0);
}

gboolean litho_su_plausible(const LithoTraceFile *file)
{
    gint64 ns;
    return judge(file, LITHO_ORDER_BIG, &ns) > 0.9 || judge(file, LITHO_ORDER_LITTLE, &ns) > 0.9;
}

gboolean litho_su_layout(LithoSurvey *survey, LithoTraceFile *file, const LithoOpenOptions *options,
                         GError **error)
{
    gint64 ns[2] = {0, 0};
    double score[2];
    for (int k = 0; k < 2; k++)
        score[k] = options->endian && options->endian != k + 1
                       ? 0
                       : judge(file, k == 0 ? LITHO_ORDER_BIG : LITHO_ORDER_LITTLE, &ns[k]);
    int best = score[1] > score[0];
    if (score[best] < 0.4) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                    _("%s is not SU: its first 240 bytes are no trace header whose sample count "
                      "(byte 115) fits the file"),
                    file->path);
        return FALSE;
    }
    file->order = file->sample_order = best ? LITHO_ORDER_LITTLE : LITHO_ORDER_BIG;
    file->format = LITHO_FORMAT_IEEE;
    file->header_bytes = LITHO_HEADER_BYTES;
    file->ns = ns[best];
    file->stride = LITHO_HEADER_BYTES + 4 * file->ns;
    file->traces = file->size / file->stride;
    file->measurement = 1;
    gint64 rest = file->size % file->stride;
    return rest == 0 || litho_survey_repair(survey, options->strict, error,
                                            "the last trace is incomplete: %" PRId64 " of %" PRId64
                                            " bytes; %" PRId64 " whole traces were kept",
                                            rest, file->stride, file->traces);
}
