// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>

#include "core/error.h"
#include "core/io/segy_geometry.h"
#include "core/text.h"

// Files of one survey must mean the same by their words: each is read alone for its sample axis, as
// headers of any one file decide for all of them later.

enum { LOOKED_AT = 256 }; // trace headers of a file

static const double SLACK = 0.5; // samples, at the end of a trace

gboolean litho_survey_read_axis(const LithoSurvey *survey, const LithoTraceFile *file,
                                const LithoOpenOptions *options, LithoGrid *grid, GError **error)
{
    LithoOpenOptions told = *options;
    told.strict = FALSE; // what must be mended is told when all files are read
    LithoTraceFile own = *file;
    own.base = 0;
    LithoHeads heads = {.most = LOOKED_AT};
    guint8 text[LITHO_TEXT_BYTES];
    LithoSurvey *alone = litho_survey_bare();
    alone->kind = survey->kind;
    alone->files = g_array_new(FALSE, FALSE, sizeof(LithoTraceFile)); // borrows the open file
    alone->notes = g_ptr_array_new_with_free_func(g_free);
    alone->traces = own.traces;
    g_array_append_val(alone->files, own);
    gboolean good = TRUE;
    if (alone->kind == LITHO_FILE_SEGY) {
        good = litho_file_read_all(file, text, sizeof text, file->label, error);
        alone->text = good ? litho_text_decode(text) : NULL;
    }
    good = good && litho_heads_read(&heads, alone, error);
    if (good)
        litho_heads_take_floats(&heads, alone, &told);
    good = good && litho_segy_sample_axis(alone, &heads, &told, error);
    *grid = alone->grid;
    litho_heads_clear(&heads);
    litho_survey_unref(alone);
    return good;
}

static const char *unit_of(const LithoTraceFile *file)
{
    return file->measurement == 2   ? _("feet")
           : file->measurement == 1 ? _("metres")
                                    : _("metres, as it names no unit");
}

static char *step_of(const LithoGrid *grid)
{
    const double step = grid->axis[LITHO_SAMPLE].step;
    return grid->is_depth ? litho_text_printf(_("%.10g m in depth"), step)
                          : litho_text_printf(_("%.10g ms"), 1e3 * step);
}

static gboolean have_equal_axes(const LithoGrid *a, const LithoGrid *b)
{
    const LithoAxis *p = &a->axis[LITHO_SAMPLE], *q = &b->axis[LITHO_SAMPLE];
    const gboolean known = p->source != LITHO_FROM_ASSUMED && q->source != LITHO_FROM_ASSUMED;
    return p->n == q->n && a->is_depth == b->is_depth &&
           (!known || fabs(p->step - q->step) * (double)p->n <= SLACK * p->step);
}

gboolean litho_survey_agree(const LithoTraceFile *a, const LithoGrid *first,
                            const LithoTraceFile *b, const LithoGrid *grid, GError **error)
{
    if ((a->measurement == 2) != (b->measurement == 2))
        return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                            "lengths of %s are in %s, those of %s in %s; files of one survey must "
                            "agree",
                            a->path, unit_of(a), b->path, unit_of(b));
    if (have_equal_axes(first, grid))
        return TRUE;
    g_autofree char *step = step_of(first), *other = step_of(grid);
    return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                        "%s has %" PRId64 " samples every %s, %s has %" PRId64
                        " every %s; files of one survey must agree",
                        a->path, first->axis[LITHO_SAMPLE].n, step, b->path,
                        grid->axis[LITHO_SAMPLE].n, other);
}
