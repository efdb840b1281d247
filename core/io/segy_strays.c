// SPDX-License-Identifier: GPL-3.0-or-later
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/io/segy_geometry.h"
#include "core/sort.h"
#include "core/text.h"

// One damaged header or one mistyped line number must not turn a survey into a line, or into a
// lattice of a million empty cells: the few traces that contradict all others are outvoted, and
// told by number.

enum {
    SAMPLE = 1 << 16,      // keys that the quantiles come from
    MAX_COUNTED = 1 << 22, // widest range of line numbers that is counted number by number
    TOLD = 5,              // traces named one by one
};

static gint64 count_used(const LithoScan *scan)
{
    gint64 used = 0;
    for (gint64 t = 0; t < scan->n; t++)
        used += !(scan->flags[t] & LITHO_SCAN_OUT);
    return used;
}

// Traces that may be outvoted.
static gint64 limit_of(gint64 used, const LithoOpenOptions *options)
{
    return options->ignore_outliers ? used / 4 : MAX(used / 100, MIN(3, used / 10));
}

// The part of the keys between two quantiles, widened on both sides.
static void core_of(const LithoScan *scan, int c, gint64 used, gboolean tolerant, gint64 *low,
                    gint64 *high)
{
    g_autofree gint32 *sample = g_new(gint32, SAMPLE);
    gint64 step = MAX(used / SAMPLE, 1), seen = 0, n = 0;
    for (gint64 t = 0; t < scan->n && n < SAMPLE; t++)
        if (!(scan->flags[t] & LITHO_SCAN_OUT) && seen++ % step == 0)
            sample[n++] = scan->key[c][t];
    qsort(sample, n, sizeof *sample, litho_compare_int32);
    gint64 cut = (gint64)((double)n * (tolerant ? 0.26 : 0.02)) + (n >= 10 && !tolerant);
    cut = MIN(cut, (n - 1) / 2);
    gint64 range = (gint64)sample[n - 1 - cut] - sample[cut];
    gint64 pad = range * (tolerant ? 2 : 1) + 16;
    *low = sample[cut] - pad;
    *high = sample[n - 1 - cut] + pad;
}

// Cells of the lattice that the keys of the traces in use, less those flagged `less`, span.
static double cells_of(const LithoScan *scan, const guint8 *stray)
{
    double cells = 1;
    for (int c = 0; c < 2; c++) {
        gint64 low = G_MAXINT64, high = G_MININT64, step = 0, first = G_MININT64;
        for (gint64 t = 0; t < scan->n; t++) {
            if (scan->flags[t] & LITHO_SCAN_OUT || (stray && stray[t]))
                continue;
            gint64 v = scan->key[c][t];
            first = first == G_MININT64 ? v : first;
            low = MIN(low, v);
            high = MAX(high, v);
            if (step != 1)
                step = litho_lattice_gcd(step, ABS(v - first));
        }
        cells *= (double)(high - low) / (double)MAX(step, 1) + 1;
    }
    return cells;
}

static void flag(LithoScan *scan, const guint8 *stray)
{
    for (gint64 t = 0; t < scan->n; t++)
        if (stray[t])
            scan->flags[t] |= LITHO_SCAN_STRAY;
}

static void find_far(LithoScan *scan, guint8 *stray, gint64 used, const LithoOpenOptions *options)
{
    gint64 low[2], high[2], n = 0;
    for (int c = 0; c < 2; c++)
        core_of(scan, c, used, options->ignore_outliers, &low[c], &high[c]);
    // A line due north has no range in x: what is near is measured by the longer side.
    gint64 reach = scan->coordinates ? MAX(high[0] - low[0], high[1] - low[1]) : 0;
    for (gint64 t = 0; t < scan->n; t++) {
        stray[t] = FALSE;
        for (int c = 0; c < 2; c++)
            stray[t] |= scan->key[c][t] < low[c] - reach || scan->key[c][t] > high[c] + reach;
        stray[t] &= !(scan->flags[t] & LITHO_SCAN_OUT);
        n += stray[t];
    }
    if (n == 0 || n > limit_of(used, options))
        return;
    // A sparse corner of a survey that makes a good lattice with the rest stays.
    double all = cells_of(scan, NULL), core = cells_of(scan, stray);
    if (scan->coordinates || ((double)used < 0.25 * all && 2 * core <= all))
        flag(scan, stray);
}

// Numbers between the lines' own (a 7 among 2, 4, 6, 8, ...) that hardly a trace has.
static void find_between(LithoScan *scan, int c, guint8 *stray, gint64 used,
                         const LithoOpenOptions *options)
{
    gint32 low = G_MAXINT32, high = G_MININT32;
    for (gint64 t = 0; t < scan->n; t++)
        if (!(scan->flags[t] & LITHO_SCAN_OUT)) {
            low = MIN(low, scan->key[c][t]);
            high = MAX(high, scan->key[c][t]);
        }
    gint64 range = (gint64)high - low + 1, distinct = 0;
    if (range < 3 || range > MAX_COUNTED)
        return;
    g_autofree gint32 *count = g_try_new0(gint32, range), *sorted = g_try_new(gint32, range);
    if (!count || !sorted)
        return;
    for (gint64 t = 0; t < scan->n; t++)
        if (!(scan->flags[t] & LITHO_SCAN_OUT))
            count[scan->key[c][t] - low]++;
    for (gint64 k = 0; k < range; k++)
        if (count[k])
            sorted[distinct++] = count[k];
    qsort(sorted, distinct, sizeof *sorted, litho_compare_int32);
    gint32 rare = sorted[distinct / 2] / 10;
    gint64 base = -1, step = 0, every = 0, n = 0;
    for (gint64 k = 0; rare > 0 && k < range; k++) {
        if (!count[k])
            continue;
        every = litho_lattice_gcd(every, k);
        if (count[k] <= rare)
            continue;
        base = base < 0 ? k : base;
        step = litho_lattice_gcd(step, k - base);
    }
    if (step <= every)
        return;
    for (gint64 t = 0; t < scan->n; t++) {
        gint64 k = (gint64)scan->key[c][t] - low;
        stray[t] = !(scan->flags[t] & LITHO_SCAN_OUT) && count[k] <= rare && (k - base) % step != 0;
        n += stray[t];
    }
    if (n > 0 && n <= limit_of(used, options))
        flag(scan, stray);
}

void litho_strays_find(LithoScan *scan, const LithoOpenOptions *options)
{
    gint64 used = count_used(scan);
    g_autofree guint8 *stray = used >= 10 ? g_try_malloc0(scan->n) : NULL;
    if (!stray) // too few to have a majority; without memory the lattice is judged as it is
        return;
    find_far(scan, stray, used, options);
    for (int c = 0; c < 2 && !scan->coordinates; c++)
        find_between(scan, c, stray, used, options);
}

// --- telling ------------------------------------------------------------------------------------

// "3 traces (numbers 17, 18, 1034)"; the numbers count from 1 in the order of the file. NULL =
// none.
static char *name_traces(const LithoScan *scan, guint8 which, gint64 *first)
{
    g_autoptr(GString) list = g_string_new(NULL);
    gint64 n = 0;
    for (gint64 t = 0; t < scan->n; t++) {
        if (!(scan->flags[t] & which))
            continue;
        if (n++ == 0)
            *first = t;
        if (n <= TOLD)
            g_string_append_printf(list, "%s%" G_GINT64_FORMAT, n > 1 ? ", " : "", t + 1);
    }
    if (n > TOLD)
        g_string_append(list, ", ...");
    return n == 0 ? NULL
                  : g_strdup_printf(litho_text_plural("%" PRId64 " trace (number %s)",
                                                      "%" PRId64 " traces (numbers %s)", n),
                                    n, list->str);
}

gboolean litho_strays_tell(const LithoScan *scan, LithoSurvey *survey,
                           const LithoOpenOptions *options, GError **error)
{
    gint64 empty = 0, first = 0;
    for (gint64 t = 0; t < scan->n; t++)
        empty += (scan->flags[t] & LITHO_SCAN_OUT) == LITHO_SCAN_EMPTY;
    if (empty > 0)
        litho_survey_note(
            survey,
            litho_text_plural("%" PRId64 " trace has a header of zeros only and was left out",
                              "%" PRId64 " traces have headers of zeros only and were left out",
                              empty),
            empty);
    g_autofree char *auxiliary = name_traces(scan, LITHO_SCAN_AUXILIARY, &first);
    if (auxiliary)
        litho_survey_note(survey,
                          "%s: no seismic data by the trace identification at byte 29 (a sweep, a "
                          "time break or the like); left out",
                          auxiliary);
    g_autofree char *foreign = name_traces(scan, LITHO_SCAN_FOREIGN, &first);
    if (foreign && !litho_survey_repair(survey, options->strict, error,
                                        "%s: noise stands where the trace header should be; left "
                                        "out",
                                        foreign))
        return FALSE;
    g_autofree char *stray = name_traces(scan, LITHO_SCAN_STRAY, &first);
    if (!stray)
        return TRUE;
    if (scan->coordinates)
        return litho_survey_repair(survey, options->strict, error,
                                   "%s: the coordinates lie far from all others; left out", stray);
    return litho_survey_repair(survey, options->strict, error,
                               "%s: the line numbers lie far from all others or between them "
                               "(inline and crossline of the first: %d, %d); left out",
                               stray, scan->key[0][first], scan->key[1][first]);
}
