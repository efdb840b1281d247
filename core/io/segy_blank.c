// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>

#include "core/error.h"
#include "core/io/writer_private.h"
#include "core/io/xy_fit.h"

// Words of new traces, which a filling adds, that no neighbour has for them: counts, ensembles and
// places. A copy of another trace's would be wrong: words that grow evenly over the survey go on
// so, those that do not are zero.

enum {
    PROBES = 64, // traces looked at, spread over the survey
    LEAST = 4,   // three traces lie on any plane
    LAST_COUNT = 37,
};

// Four-byte words by the standard: sequences, record, channel, source, ensemble, trace in it,
// offset; source and receiver; the ensemble's place; line numbers; shot point.
static const int WORDS[] = {1, 5, 9, 13, 17, 21, 25, 37, 73, 77, 81, 85, 181, 185, 189, 193, 197};

// Coordinates are rounded, and of rotated surveys so are their steps.
static const double NEAR_COUNT = 0.01, NEAR_PLACE = 1.5;

typedef struct Probe {
    double i, j; // cell of the source
    gint32 word[G_N_ELEMENTS(WORDS)];
} Probe;

static gboolean read_probe(LithoSurvey *s, gint64 cell, gint64 trace, Probe *probe, GError **error)
{
    const gint64 n2 = s->grid.axis[1].n;
    const LithoTraceFile *file = litho_survey_file_of(s, trace);
    guint8 header[LITHO_HEADER_BYTES];
    if (!litho_file_read_all(file, header, sizeof header,
                             litho_file_trace_at(file, trace - file->base), error))
        return FALSE;
    probe->i = (double)(cell / n2);
    probe->j = (double)(cell % n2);
    for (guint k = 0; k < G_N_ELEMENTS(WORDS); k++)
        probe->word[k] = litho_get_i32(header + WORDS[k] - 1, file->order);
    return TRUE;
}

// Traces of PROBES stretches of the survey, the first live one of each.
static gboolean read_probes(LithoSurvey *s, Probe *probe, guint *n, GError **error)
{
    const gint64 n2 = s->grid.axis[1].n, cells = litho_grid_traces(&s->grid);
    *n = 0;
    for (gint64 p = 0; p < PROBES; p++) {
        for (gint64 cell = p * cells / PROBES; cell < (p + 1) * cells / PROBES; cell++) {
            const gint64 trace = litho_survey_trace_of(s, cell / n2, cell % n2);
            if (trace < 0 || s->state[cell] & LITHO_CELL_DEAD)
                continue;
            if (!read_probe(s, cell, trace, &probe[(*n)++], error))
                return FALSE;
            break;
        }
    }
    return TRUE;
}

// A word as a plane over the cells; zero where it is none.
static LithoBlankWord fit_word(const Probe *probe, guint n, guint k)
{
    const double near = WORDS[k] <= LAST_COUNT ? NEAR_COUNT : NEAR_PLACE;
    LithoXyFit fit = {0};
    for (guint p = 0; p < n; p++)
        litho_xy_fit_add(&fit, probe[p].i, probe[p].j, probe[p].word[k], 0);
    litho_xy_fit_solve(&fit);
    const LithoBlankWord word = {WORDS[k], fit.origin[0], fit.di[0], fit.dj[0]};
    for (guint p = 0; p < n; p++) {
        const double told = word.origin + probe[p].i * word.di + probe[p].j * word.dj;
        if (n < LEAST || fabs(told - probe[p].word[k]) > near)
            return (LithoBlankWord){.byte = WORDS[k]};
    }
    return word;
}

gboolean litho_segy_fit_blank(LithoWriter *w, GError **error)
{
    Probe probe[PROBES];
    guint n;
    w->blank_words = g_array_new(FALSE, FALSE, sizeof(LithoBlankWord));
    if (!read_probes(w->like, probe, &n, error))
        return FALSE;
    for (guint k = 0; k < G_N_ELEMENTS(WORDS); k++) {
        gboolean varies = FALSE;
        for (guint p = 1; p < n; p++)
            varies |= probe[p].word[k] != probe[0].word[k];
        if (!varies || w->like->float_word[WORDS[k]])
            continue;
        const LithoBlankWord word = fit_word(probe, n, k);
        g_array_append_val(w->blank_words, word);
    }
    return TRUE;
}

void litho_segy_put_blank(const LithoWriter *w, gint64 i, gint64 j, guint8 *header)
{
    const LithoAxis *from = w->like->grid.axis, *to = w->grid.axis;
    const double a = litho_axis_index(&from[0], litho_axis_value(&to[0], (double)i));
    const double b = litho_axis_index(&from[1], litho_axis_value(&to[1], (double)j));
    for (guint k = 0; k < w->blank_words->len; k++) {
        const LithoBlankWord *word = &g_array_index(w->blank_words, LithoBlankWord, k);
        const double value = rint(word->origin + a * word->di + b * word->dj);
        const gboolean fits = value >= G_MININT32 && value <= G_MAXINT32;
        litho_put_32(header + word->byte - 1, w->order, fits ? (guint32)(gint32)value : 0);
    }
}
