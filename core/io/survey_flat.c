// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/survey_private.h"

#include "core/error.h"
#include "core/text.h"

// Traces of one value repeated, as a dead channel of a recorder or a null value gives them, and
// what is told of traces that were read and not believed.

enum {
    LOOKED_AT = 64, // traces, spread evenly over the files
    DEEP = 8,       // fewer samples may be equal by chance, as those of a map always are
};

// TRUE when the samples have both signs.
static gboolean has_both_signs(const float *x, gint64 n)
{
    gboolean above = FALSE, below = FALSE;
    for (gint64 k = 0; k < n; k++) {
        above |= x[k] > 0;
        below |= x[k] < 0;
    }
    return above && below;
}

// The trace has both signs, has one, or is zero or cannot be read: 1, -1, 0.
static int look_at(const LithoSurvey *survey, gint64 trace)
{
    const LithoTraceFile *file = litho_survey_file_of(survey, trace);
    const gint64 t = trace - file->base, n = litho_file_trace_samples(file, t);
    const gint64 bytes = n * litho_format_bytes(file->format);
    g_autofree guint8 *raw = g_try_malloc(MAX(bytes, 1));
    g_autofree float *x = g_try_new(float, MAX(n, 1));
    if (!raw || !x ||
        !litho_file_read_all(file, raw, bytes, litho_file_trace_at(file, t) + file->header_bytes,
                             NULL) ||
        litho_file_all_zero(file, raw, n))
        return 0;
    litho_decode(raw, file->format, file->sample_order, x, n);
    return has_both_signs(x, n) ? 1 : -1;
}

gboolean litho_survey_flat_is_dead(LithoSurvey *survey)
{
    int known = __atomic_load_n(&survey->flat_is_dead, __ATOMIC_RELAXED);
    if (known == 0) {
        const gint64 cells = litho_grid_traces(&survey->grid), take = MIN(cells, LOOKED_AT);
        int balance = 0;
        for (gint64 k = 0; k < take && survey->grid.axis[2].n >= DEEP; k++) {
            const gint64 cell = k * (cells / take), n2 = survey->grid.axis[1].n;
            const gint64 trace = litho_survey_trace_of(survey, cell / n2, cell % n2);
            balance += trace >= 0 ? look_at(survey, trace) : 0;
        }
        known = balance > 0 ? 1 : -1;
        __atomic_store_n(&survey->flat_is_dead, known, __ATOMIC_RELAXED); // every thread's is equal
    }
    return known > 0;
}

char *litho_survey_zero_traces(const LithoSurvey *survey)
{
    const gint64 n = litho_survey_counts(survey).zero, flat = litho_survey_counts(survey).flat;
    if (flat > 0 && n > 0)
        return g_strdup_printf(_("%" PRId64 " traces of zeros and %" PRId64 " of one other value "
                                 "count as missing; --keep-zero-traces keeps them"),
                               n, flat);
    if (flat > 0)
        return g_strdup_printf(
            litho_text_plural("%" PRId64 " trace of one value repeated counts as missing; "
                              "--keep-zero-traces keeps it",
                              "%" PRId64 " traces of one value repeated count as missing; "
                              "--keep-zero-traces keeps them",
                              flat),
            flat);
    if (n == 0)
        return NULL;
    return g_strdup_printf(
        litho_text_plural(
            "%" PRId64 " trace of zeros counts as missing; --keep-zero-traces keeps it",
            "%" PRId64 " traces of zeros count as missing; --keep-zero-traces keeps them", n),
        n);
}

char *litho_survey_bad_samples(const LithoSurvey *survey)
{
    LithoSurveyCounts c = litho_survey_counts(survey);
    if (c.bad == 0)
        return NULL;
    if (!c.bad_samples)
        return g_strdup_printf(
            litho_text_plural("%" PRId64 " trace holds NaN, infinite or null samples: lone ones "
                              "set to the mean of their neighbours, others to zero; %" PRId64
                              " of these traces masked",
                              "%" PRId64 " traces hold NaN, infinite or null samples: lone ones "
                              "set to the mean of their neighbours, others to zero; %" PRId64
                              " of these traces masked",
                              c.bad),
            c.bad, c.masked);
    return g_strdup_printf(
        litho_text_plural("%" PRId64 " trace holds %" PRId64 " NaN, infinite or null samples: lone "
                          "ones set to the mean of their neighbours, others to zero; %" PRId64
                          " of these traces masked",
                          "%" PRId64 " traces hold %" PRId64 " NaN, infinite or null samples: lone "
                          "ones set to the mean of their neighbours, others to zero; %" PRId64
                          " of these traces masked",
                          c.bad),
        c.bad, c.bad_samples, c.masked);
}

char *litho_survey_left_out(const LithoSurvey *survey)
{
    const gint64 n = litho_survey_counts(survey).left_out;
    if (n == 0)
        return NULL;
    return g_strdup_printf(
        litho_text_plural("%" PRId64 " trace of zeros or with holes was left out of the mean of "
                          "its cell",
                          "%" PRId64 " traces of zeros or with holes were left out of the means of "
                          "their cells",
                          n),
        n);
}
