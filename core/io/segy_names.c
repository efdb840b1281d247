// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/axis_names.h"
#include "core/io/segy_geometry.h"
#include "core/text.h"

#include <math.h>

// Words of trace headers mean something by the standard: bytes 9 and 17 number shots, 13 their
// channels, 21 midpoints, 25 the traces of a midpoint, 37 is the offset. Stacks of many companies
// have inlines and crosslines in the same words, so that the words alone do not tell.

// One trace in every cell and offsets that vary: shots or midpoints. Several offsets in a cell are
// the gathers of a survey, whose cells are numbered by inlines and crosslines.
static gboolean are_records(const LithoSurvey *survey, const LithoScan *scan)
{
    gint64 used = 0;
    for (gint64 t = 0; t < scan->n; t++)
        used += !(scan->flags[t] & LITHO_SCAN_OUT);
    const LithoSurveyCounts *c = &survey->counts;
    const gint64 filled = litho_grid_traces(&survey->grid) - c->missing;
    return c->offsets > 1 && filled >= used - c->duplicates;
}

static LithoAxisCounts counts_of(const LithoSurvey *survey, int k, gboolean records)
{
    const int other = survey->key_byte[1 - k];
    switch (survey->key_byte[k]) {
    case 9:
    case 17:
        return records || other == 13 ? LITHO_COUNTS_SHOTS : LITHO_COUNTS_LINES;
    case 13:
        return LITHO_COUNTS_CHANNELS;
    case 21:
        return records || other == 37 || litho_axis_is_unnumbered(&survey->grid, 1 - k)
                   ? LITHO_COUNTS_CDPS
                   : LITHO_COUNTS_LINES;
    case 5:
    case 25:
        return records ? LITHO_COUNTS_TRACES : LITHO_COUNTS_LINES;
    case 37:
        return LITHO_COUNTS_OFFSETS;
    default:
        return LITHO_COUNTS_LINES;
    }
}

// Step from trace to trace where the offsets of all of them are evenly apart; 0 where they are not.
// Steps of 1 are those of a counter, which many programs write into the word of the offset.
static gint64 even_step(const LithoScan *scan)
{
    if (!scan->offset || scan->n < 2)
        return 0;
    const gint64 step = (gint64)scan->offset[1] - scan->offset[0];
    for (gint64 t = 0; t < scan->n; t++)
        if ((scan->flags[t] & LITHO_SCAN_OUT) ||
            scan->offset[t] != (gint64)scan->offset[0] + t * step)
            return 0;
    return step > 1 || step < -1 ? step : 0;
}

static void set_offset_unit(const LithoSurvey *survey, LithoAxis *axis)
{
    const int system = g_array_index(survey->files, LithoTraceFile, 0).measurement;
    g_strlcpy(axis->unit, system == 1 ? "m" : system == 2 ? "ft" : "", sizeof axis->unit);
}

// Neighbours in a gather are as far apart as their offsets, where no coordinates tell it.
static void space_by_offset(LithoGrid *grid, double step)
{
    if (grid->has_xy)
        return;
    grid->has_xy = grid->has_no_place = TRUE;
    grid->inline_step[1] = grid->xline_step[0] = fabs(step);
    grid->xy_source = LITHO_FROM_FILE;
    g_strlcpy(grid->xy_evidence, _("offsets at byte 37"), sizeof grid->xy_evidence);
}

gboolean litho_segy_number_by_offset(LithoSurvey *survey, const LithoScan *scan)
{
    LithoAxis *axis = &survey->grid.axis[LITHO_XLINE];
    const gint64 step = survey->grid.axis[LITHO_INLINE].n == 1 ? even_step(scan) : 0;
    if (step == 0)
        return FALSE;
    axis->first = scan->offset[0];
    axis->step = (double)step;
    axis->counts = LITHO_COUNTS_OFFSETS;
    axis->source = LITHO_FROM_FILE;
    g_snprintf(axis->evidence, sizeof axis->evidence, _("trace header byte %d"), 37);
    set_offset_unit(survey, axis);
    space_by_offset(&survey->grid, axis->step);
    litho_survey_note(survey,
                      "the traces are one gather, numbered by their offsets at byte 37 (%d to "
                      "%d); zero-offset migration takes stacks (--file-order counts the traces)",
                      scan->offset[0], scan->offset[scan->n - 1]);
    return TRUE;
}

void litho_segy_name_axes(LithoSurvey *survey, const LithoScan *scan)
{
    int inl, xline;
    litho_text_hints(survey->text ? survey->text : "", &inl, &xline);
    if (!survey->key_byte[0] || (inl == survey->key_byte[0] && xline == survey->key_byte[1]))
        return; // coordinates, file order, or words that the text header calls inline and crossline
    const gboolean records = are_records(survey, scan);
    LithoAxisCounts counts[2];
    for (int k = 0; k < 2; k++)
        counts[k] = counts_of(survey, k, records);
    for (int k = 0; k < 2; k++) {
        LithoAxis *axis = &survey->grid.axis[k];
        axis->counts = counts[k];
        if (counts[k] == LITHO_COUNTS_OFFSETS)
            set_offset_unit(survey, axis);
    }
}
