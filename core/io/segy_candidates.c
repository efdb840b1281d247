// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/io/segy_geometry.h"
#include "core/sort.h"
#include "core/text.h"

// Pairs of words that number inlines and crosslines in files met in practice, with how much we
// trust them before looking: 189/193 is the standard's own place since revision 1, the others are
// habits of companies and programs (Petrel writes 5/21, Seismic Unix 9/21). The last pairs are CDP
// and offset of gathers that have no numbers of shots, and CDP and trace of a single gather.
static const struct {
    guint8 inline_byte, xline_byte;
    float trust;
} usual[] = {
    {189, 193, 1.0f}, {9, 21, 0.85f},    {5, 21, 0.84f},  {213, 217, 0.7f}, {193, 197, 0.6f},
    {9, 13, 0.62f},   {17, 25, 0.58f},   {17, 21, 0.58f}, {221, 225, 0.6f}, {197, 201, 0.5f},
    {233, 237, 0.6f}, {181, 185, 0.55f}, {9, 25, 0.5f},   {17, 13, 0.5f},   {5, 9, 0.4f},
    {189, 21, 0.5f},  {5, 193, 0.4f},    {9, 193, 0.5f},  {21, 37, 0.5f},   {21, 25, 0.5f},
};

enum { LEFT_OUT = 50 }; // one of so many, at either end of a range

#define ONE_GATHER 0.55 // above any pair in which only one number counts, and below a rectangle's
#define ONE_COUNTED 0.54 // below that, and above shots of one CDP

typedef struct Words {
    guint n, distinct;
    gint32 low, high;
    gint64 step; // greatest common divisor of the differences; 0 = constant
} Words;

static Words summarise(const gint32 *values, guint n)
{
    g_autofree gint32 *sorted = g_memdup2(values, n * sizeof *values);
    qsort(sorted, n, sizeof *sorted, litho_compare_int32);
    const guint out = n / LEFT_OUT; // a few damaged headers have no say about the range
    Words w = {.n = n, .distinct = 1, .low = sorted[out], .high = sorted[n - 1 - out]};
    for (guint k = 1; k < n; k++)
        if (sorted[k] != sorted[k - 1]) {
            w.distinct++;
            w.step = litho_lattice_gcd(w.step, (gint64)sorted[k] - sorted[k - 1]);
        }
    return w;
}

static int compare_u64(const void *a, const void *b)
{
    guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
    return (x > y) - (x < y);
}

static guint count_distinct(guint64 *values, guint n)
{
    qsort(values, n, sizeof *values, compare_u64);
    guint distinct = n > 0;
    for (guint k = 1; k < n; k++)
        distinct += values[k] != values[k - 1];
    return distinct;
}

// TRUE when every `a` has every offset once: records of shots. A midpoint number moves on from shot
// to shot and leaves the corners of its rectangle empty, where channels fill theirs.
static gboolean are_records(const gint32 *a, const gint32 *offset, guint n, const Words *wa,
                            const Words *wo)
{
    if (wo->distinct < 2 || wa->distinct < 2 || (guint64)wa->distinct * wo->distinct != n)
        return FALSE;
    g_autofree guint64 *pairs = g_new(guint64, n);
    for (guint k = 0; k < n; k++)
        pairs[k] = (guint64)(guint32)a[k] << 32 | (guint32)offset[k];
    return count_distinct(pairs, n) == n;
}

// TRUE when offsets are no axis of gathers: one gather or offset, several traces of one, or offsets
// so irregular that a lattice of them is empty for the most part.
static gboolean are_no_gathers(const Words *a, const Words *offset, guint cells)
{
    const double places = ((double)offset->high - offset->low) / (double)MAX(offset->step, 1) + 1;
    return a->distinct < 2 || offset->distinct < 2 || cells < a->n ||
           cells < 0.5 * places * a->distinct;
}

// TRUE when all traces are of one midpoint and of shots that differ, and `b` has no gap: one
// gather.
static gboolean is_one_gather(const LithoHeads *heads, const Words *a, const Words *b)
{
    return heads->complete && a->distinct == 1 && a->low != 0 && litho_heads_vary(heads, 9, TRUE) &&
           a->n > 2 && b->distinct == a->n && b->step > 0 &&
           ((gint64)b->high - b->low) / b->step + 1 == (gint64)a->n - 2 * (a->n / LEFT_OUT);
}

// The score of pairs that number one gather, 0 where it is none; *decides tells such pairs. Offsets
// that are evenly apart, and no counter, tell more of it than the count of its traces, and that
// more than the numbers of its shots.
static double score_gather(const LithoHeads *heads, const LithoCandidate *c, const Words *a,
                           const Words *b, guint cells, gboolean *decides)
{
    *decides = c->inline_byte == 21 && (c->xline_byte == 37 || c->xline_byte == 25);
    if (!*decides)
        return 0;
    const gboolean one = is_one_gather(heads, a, b);
    if (c->xline_byte == 25)
        return one && b->step == 1 ? ONE_COUNTED : 0;
    if (one && b->step > 1)
        return ONE_GATHER;
    *decides = are_no_gathers(a, b, cells);
    return 0;
}

// Score of `a` (slow) and `b` (fast) as numbers of the sample's traces: each pair of numbers names
// one trace (or one gather), and together they fill a rectangle.
static double score_pair(const LithoHeads *heads, const gint32 *a, const gint32 *b,
                         const gint32 *offset, guint n, float trust, LithoCandidate *c)
{
    Words wa = summarise(a, n), wb = summarise(b, n);
    g_autofree guint64 *pairs = g_new(guint64, n);
    for (guint k = 0; k < n; k++)
        pairs[k] = (guint64)(guint32)a[k] << 32 | (guint32)b[k];
    guint cells = count_distinct(pairs, n);
    double once = (double)cells / n;
    // In gathers every cell holds one trace per offset; that is as good as one trace a cell.
    Words wo = summarise(offset, n);
    if (wo.distinct > 1 && cells < n) {
        double gathers = (double)cells * wo.distinct / n;
        once = MAX(once, 0.9 * MIN(gathers, 1 / gathers));
    }
    double fill = cells / ((double)wa.distinct * wb.distinct);
    litho_text_put(
        c->evidence, sizeof c->evidence,
        heads->complete
            ? _("%u x %u numbers, step %" PRId64 " and %" PRId64 ", fills %.*f %%")
            : _("%u x %u numbers, step %" PRId64 " and %" PRId64 ", fills %.*f %% of the sample"),
        wa.distinct, wb.distinct, MAX(wa.step, 1), MAX(wb.step, 1), fill < 0.1 ? 1 : 0, 100 * fill);
    if (n > 1 && wa.distinct == 1 && wb.distinct == 1)
        return 0;
    if (wa.distinct == 1 && wb.distinct == 1 && wa.low == 0 && wb.low == 0)
        return 0;
    gboolean decides;
    const double gather = score_gather(heads, c, &wa, &wb, cells, &decides);
    if (decides)
        return gather;
    // Coordinates form rectangles too, but their steps are metres or centimetres.
    if (c->inline_byte == 181 && (MAX(wa.step, wb.step) > 4 || MAX(wa.high, wb.high) > 200000))
        return 0;
    double score = trust * once * (0.2 + 0.8 * sqrt(fill));
    if (MAX(wa.high, wb.high) > 10000000 || MIN(wa.low, wb.low) < -10000000)
        score *= 0.1; // nobody counts lines that far: text or floats in disguise
    if (c->xline_byte == 21 && cells == n && fill < 1 && are_records(a, offset, n, &wa, &wo))
        score *= 0.7;
    if (cells > 1 && wa.distinct == cells && wb.distinct == cells)
        score *= 0.3; // both count traces: a diagonal, not a rectangle
    if (c->inline_byte == 5 && cells > 1 && wa.distinct == cells && wb.distinct < cells)
        score *= 0.3; // the standard's count of traces, beside any word that repeats
    gboolean silent = (wa.distinct == 1 && wa.low == 0) || (wb.distinct == 1 && wb.low == 0);
    if (silent && c->inline_byte != 189) // one word unused, the other any counter
        score *= 0.25;
    else if (wa.distinct == 1 || wb.distinct == 1) // one line
        score *= silent ? 0.45 : 0.6;
    return score;
}

static gint compare_candidates(gconstpointer p, gconstpointer q)
{
    const LithoCandidate *a = p, *b = q;
    return (a->score < b->score) - (a->score > b->score);
}

static void add_candidate(LithoSurvey *survey, const LithoHeads *heads, int inline_byte,
                          int xline_byte, float trust)
{
    if (survey->float_word[inline_byte] == LITHO_FLOAT_OF_SU ||
        survey->float_word[xline_byte] == LITHO_FLOAT_OF_SU)
        return;
    for (guint k = 0; k < survey->candidates->len; k++) {
        const LithoCandidate *c = &g_array_index(survey->candidates, LithoCandidate, k);
        if (c->inline_byte == inline_byte && c->xline_byte == xline_byte)
            return;
    }
    g_autofree gint32 *a = g_new(gint32, heads->n), *b = g_new(gint32, heads->n),
                      *offset = g_new(gint32, heads->n);
    guint n = 0;
    for (guint k = 0; k < heads->n; k++) {
        if (litho_head_empty(heads, k))
            continue;
        a[n] = litho_head_i32(heads, k, inline_byte);
        b[n] = litho_head_i32(heads, k, xline_byte);
        offset[n++] = litho_head_i32(heads, k, 37);
    }
    if (n == 0)
        return;
    LithoCandidate c = {.inline_byte = inline_byte, .xline_byte = xline_byte};
    c.score = score_pair(heads, a, b, offset, n, trust, &c);
    g_array_append_val(survey->candidates, c);
}

void litho_candidates_score(LithoSurvey *survey, const LithoHeads *heads,
                            const LithoOpenOptions *options)
{
    int hint_inline, hint_xline;
    litho_text_hints(survey->text ? survey->text : "", &hint_inline, &hint_xline);
    if (options->inline_byte && options->xline_byte) {
        add_candidate(survey, heads, options->inline_byte, options->xline_byte, 1);
    } else if (options->inline_byte || options->xline_byte) {
        for (guint k = 0; k < G_N_ELEMENTS(usual); k++) // the other one is found
            if (options->inline_byte)
                add_candidate(survey, heads, options->inline_byte, usual[k].xline_byte,
                              usual[k].trust);
            else
                add_candidate(survey, heads, usual[k].inline_byte, options->xline_byte,
                              usual[k].trust);
    } else {
        // The text is typed by hand and often wrong, so it only adds a little to what is found.
        if (hint_inline && hint_xline && hint_inline != hint_xline) {
            float trust = 0.75f;
            for (guint k = 0; k < G_N_ELEMENTS(usual); k++)
                if (usual[k].inline_byte == hint_inline && usual[k].xline_byte == hint_xline)
                    trust = MIN(usual[k].trust + 0.05f, 1);
            add_candidate(survey, heads, hint_inline, hint_xline, trust);
        }
        for (guint k = 0; k < G_N_ELEMENTS(usual); k++)
            add_candidate(survey, heads, usual[k].inline_byte, usual[k].xline_byte, usual[k].trust);
    }
    g_array_sort(survey->candidates, compare_candidates);
}
