// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/io/segy_geometry.h"
#include "core/sort.h"
#include "core/text.h"

// Line numbers of all traces -> two regular axes and the trace of each cell.

typedef struct Values {
    gint32 low, high;
    gint64 distinct, step; // step: gcd of the differences, 1 when constant
    gint64 up, down;       // changes between neighbours in the file
} Values;

// A bitmap costs range / 8 bytes, sorting 4 bytes a trace: the bitmap up to about the same memory.
enum { BITMAP_BITS_PER_TRACE = 64, BITMAP_BITS = 1 << 16 };

gint64 litho_lattice_gcd(gint64 a, gint64 b)
{
    while (b) {
        gint64 r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static void meet(Values *v, gint64 value, gint64 *before)
{
    if (v->distinct == 0 || value != *before) {
        if (v->distinct > 0)
            v->step = litho_lattice_gcd(v->step, value - *before);
        v->distinct++;
        *before = value;
    }
}

// FALSE: no memory for the bitmap.
static gboolean count_by_bitmap(Values *v, const gint32 *key, const guint8 *flags, gint64 n)
{
    gint64 range = (gint64)v->high - v->low + 1, before = 0;
    g_autofree guint64 *bits = g_try_new0(guint64, range / 64 + 1);
    if (!bits)
        return FALSE;
    for (gint64 t = 0; t < n; t++)
        if (!(flags[t] & LITHO_SCAN_OUT)) {
            gint64 k = (gint64)key[t] - v->low;
            bits[k / 64] |= 1ull << (k % 64);
        }
    for (gint64 w = 0; w <= range / 64; w++)
        for (guint64 rest = bits[w]; rest; rest &= rest - 1)
            meet(v, v->low + 64 * w + __builtin_ctzll(rest), &before);
    return TRUE;
}

static gboolean count_by_sorting(Values *v, const gint32 *key, const guint8 *flags, gint64 n,
                                 GError **error)
{
    g_autofree gint32 *sorted = g_try_new(gint32, n);
    if (!sorted) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY,
                    _("no memory to sort %" PRId64 " line numbers"), n);
        return FALSE;
    }
    gint64 kept = 0, before = 0;
    for (gint64 t = 0; t < n; t++)
        if (!(flags[t] & LITHO_SCAN_OUT))
            sorted[kept++] = key[t];
    qsort(sorted, kept, sizeof *sorted, litho_compare_int32);
    for (gint64 k = 0; k < kept; k++)
        meet(v, sorted[k], &before);
    return TRUE;
}

static gboolean summarise(Values *v, const gint32 *key, const guint8 *flags, gint64 n,
                          GError **error)
{
    *v = (Values){.low = G_MAXINT32, .high = G_MININT32};
    gboolean first = TRUE;
    gint32 before = 0;
    for (gint64 t = 0; t < n; t++) {
        if (flags[t] & LITHO_SCAN_OUT)
            continue;
        v->low = MIN(v->low, key[t]);
        v->high = MAX(v->high, key[t]);
        v->up += !first && key[t] > before;
        v->down += !first && key[t] < before;
        before = key[t];
        first = FALSE;
    }
    if (first) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
                    _("no trace has a header that is not all zeros; use --file-order"));
        return FALSE;
    }
    gboolean counted = (gint64)v->high - v->low < BITMAP_BITS + BITMAP_BITS_PER_TRACE * n &&
                       count_by_bitmap(v, key, flags, n);
    if (!counted && !count_by_sorting(v, key, flags, n, error))
        return FALSE;
    v->step = MAX(v->step, 1);
    return TRUE;
}

// Axes run the way the file does; a zig-zag line counts as ascending.
static LithoAxis make_axis(const Values *v, int byte)
{
    LithoAxis axis = {.source = LITHO_FROM_FILE};
    axis.n = ((gint64)v->high - v->low) / v->step + 1;
    gboolean down = v->down > 2 * v->up;
    axis.first = down ? v->high : v->low;
    axis.step = down ? -(double)v->step : (double)v->step;
    if (byte > 0)
        g_snprintf(axis.evidence, sizeof axis.evidence, _("trace header byte %d"), byte);
    return axis;
}

static gint64 place(const LithoAxis *axis, gint32 value)
{
    gint64 step = (gint64)axis->step;
    return ((gint64)value - (gint64)axis->first) / step;
}

// --- filling the cells ------------------------------------------------------------------------

static gboolean is_dead(const LithoScan *scan, gint64 t)
{
    return (scan->flags[t] & LITHO_SCAN_DEAD) != 0;
}

// Decides between two traces that claim one cell: one that lives, the one nearest to zero offset
// (prestack), else the user's choice between equal ones. TRUE = `t` takes the place of `held`.
static gboolean replaces(const LithoScan *scan, gint64 t, gint64 held, int policy,
                         gboolean *duplicate)
{
    *duplicate = !scan->offset || scan->offset[t] == scan->offset[held];
    if (is_dead(scan, t) != is_dead(scan, held))
        return is_dead(scan, held);
    if (!*duplicate)
        return ABS((gint64)scan->offset[t]) < ABS((gint64)scan->offset[held]);
    return policy == 1;
}

static int compare_repeats(const void *a, const void *b)
{
    const LithoRepeat *p = a, *q = b;
    if (p->cell != q->cell)
        return p->cell < q->cell ? -1 : 1;
    return (p->trace > q->trace) - (p->trace < q->trace);
}

// Does trace `t` have a part in the mean of the cell that trace `held` fills?
static gboolean has_part(const LithoScan *scan, gint64 t, gint64 held)
{
    return (!scan->offset || scan->offset[t] == scan->offset[held]) &&
           (!scan->delay || scan->delay[t] == scan->delay[held]) &&
           (!is_dead(scan, t) || is_dead(scan, held));
}

// Sorts the repeats and leaves those that have a part; a cell of one trace is read as all others.
static void settle_repeats(const LithoScan *scan, LithoSurvey *survey)
{
    LithoRepeat *list = (LithoRepeat *)survey->repeats->data;
    guint kept = 0;
    qsort(list, survey->repeats->len, sizeof *list, compare_repeats);
    for (guint k = 0, first = 0; k < survey->repeats->len; first = kept) {
        const gint64 cell = list[k].cell, held = survey->table[cell];
        for (; k < survey->repeats->len && list[k].cell == cell; k++)
            if (has_part(scan, list[k].trace, held) &&
                (kept == first || list[kept - 1].trace != list[k].trace))
                list[kept++] = list[k];
        if (kept - first < 2) {
            kept = first;
            survey->state[cell] &= (guint8)~LITHO_CELL_REPEATED;
        }
    }
    g_array_set_size(survey->repeats, kept);
}

static void fill_cells(const LithoScan *scan, LithoSurvey *survey, int policy)
{
    const LithoAxis *ai = &survey->grid.axis[0], *aj = &survey->grid.axis[1];
    gint64 cells = ai->n * aj->n;
    for (gint64 c = 0; c < cells; c++)
        survey->table[c] = -1;
    for (gint64 t = 0; t < scan->n; t++) {
        if (scan->flags[t] & LITHO_SCAN_OUT)
            continue;
        gint64 cell = place(ai, scan->key[0][t]) * aj->n + place(aj, scan->key[1][t]);
        gint64 held = survey->table[cell];
        gboolean duplicate = FALSE;
        if (held < 0 || replaces(scan, t, held, policy, &duplicate))
            survey->table[cell] = t;
        if (!duplicate)
            continue;
        survey->counts.duplicates++;
        survey->state[cell] |= LITHO_CELL_REPEATED;
        if (policy == 2) {
            LithoRepeat both[2] = {{cell, held}, {cell, t}};
            g_array_append_vals(survey->repeats, both, 2);
        }
    }
    if (survey->repeats && survey->repeats->len)
        settle_repeats(scan, survey);
    for (gint64 c = 0; c < cells; c++) {
        gint64 t = survey->table[c];
        survey->counts.missing += t < 0;
        if (t >= 0 && is_dead(scan, t)) {
            survey->state[c] |= LITHO_CELL_DEAD;
            survey->counts.dead++;
        }
    }
}

// A complete regular file needs no table: one origin and two strides say it all.
static void drop_regular_table(LithoSurvey *survey)
{
    gint64 n1 = survey->grid.axis[0].n, n2 = survey->grid.axis[1].n;
    gint64 origin = survey->table[0];
    gint64 si = n1 > 1 ? survey->table[n2] - origin : 0;
    gint64 sj = n2 > 1 ? survey->table[1] - origin : 0;
    if (origin < 0)
        return;
    for (gint64 i = 0; i < n1; i++)
        for (gint64 j = 0; j < n2; j++)
            if (survey->table[i * n2 + j] != origin + i * si + j * sj ||
                survey->table[i * n2 + j] < 0)
                return;
    survey->origin = origin;
    survey->inline_stride = si;
    survey->xline_stride = sj;
    g_clear_pointer(&survey->table, g_free);
}

gint64 litho_scan_offsets(const LithoScan *scan, gint32 *low, gint32 *high)
{
    Values v;
    if (!scan->offset || !summarise(&v, scan->offset, scan->flags, scan->n, NULL))
        return 1;
    *low = v.low;
    *high = v.high;
    return v.distinct;
}

static gboolean allocate_cells(LithoSurvey *survey, gint64 cells, int policy, GError **error)
{
    if (!litho_memory_check(cells * 9, "the table of traces", error))
        return FALSE;
    survey->table = g_try_new(gint64, cells);
    survey->state = g_try_malloc0(cells);
    if (policy == 2)
        survey->repeats = g_array_new(FALSE, FALSE, sizeof(LithoRepeat));
    if (survey->table && survey->state)
        return TRUE;
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY,
                _("no memory for a table of %" PRId64 " cells"), cells);
    return FALSE;
}

// `policy`: of the traces of a cell (LithoOpenOptions.duplicates).
static void tell_counts(LithoSurvey *survey, int policy, gint64 used, gint32 low, gint32 high)
{
    static const char *const taken[] = {N_("the first one"), N_("the last one"), N_("the mean")};
    LithoSurveyCounts *c = &survey->counts;
    gint64 cells = litho_grid_traces(&survey->grid), filled = cells - c->missing;
    if (c->offsets > 1 && filled < used - c->duplicates)
        litho_survey_note(survey,
                          "prestack: %" PRId64 " offsets (%d to %d) at byte 37; of each "
                          "cell the trace of the nearest offset was taken, %" PRId64 " of %" PRId64
                          " traces; filters and zero-offset migration take stacks",
                          c->offsets, low, high, filled, used);
    else if (c->offsets > 1)
        litho_survey_note(survey,
                          "offsets at byte 37 vary (%" PRId64 " values, %d to %d): this "
                          "may be prestack data; filters and zero-offset migration take stacks",
                          c->offsets, low, high);
    if (c->offsets > 1) // no operator is made for it: more than coordinates and the like
        litho_survey_note_first(survey);
    if (c->duplicates > 0)
        litho_survey_note(survey,
                          litho_text_plural("%" PRId64 " trace repeats the line numbers of another "
                                            "one; of each cell %s is taken and written "
                                            "(--duplicates)",
                                            "%" PRId64 " traces repeat the line numbers of another "
                                            "one; of each cell %s is taken and written "
                                            "(--duplicates)",
                                            c->duplicates),
                          c->duplicates, litho_text(taken[CLAMP(policy, 0, 2)]));
    if (c->missing > 0 && cells > 2 * filled)
        litho_survey_note(survey,
                          "%" PRId64 " of %" PRId64 " cells have no trace (%.1f %% filled); are "
                          "these the right header bytes?",
                          c->missing, cells, 100.0 * filled / cells);
    else if (c->missing > 0)
        litho_survey_note(
            survey,
            litho_text_plural("%" PRId64 " of %" PRId64 " cells has no trace (%.1f %% filled)",
                              "%" PRId64 " of %" PRId64 " cells have no trace (%.1f %% filled)",
                              c->missing),
            c->missing, cells, 100.0 * filled / cells);
    if (c->dead > 0)
        litho_survey_note(
            survey,
            litho_text_plural("%" PRId64 " trace is marked dead; samples there are read as zeros",
                              "%" PRId64 " traces are marked dead; samples there are read as zeros",
                              c->dead),
            c->dead);
}

static gboolean refuse_sparse(const LithoScan *scan, const Values v[2], double density,
                              GError **error)
{
    litho_refuse(
        error, LITHO_ERROR_GEOMETRY,
        "bytes %d and %d span inlines %d to %d and crosslines %d to %d, of which %.2g %% "
        "have traces; give --inline-byte and --xline-byte, --ignore-outliers to leave out what "
        "lies far from the rest, or --file-order",
        scan->byte[0], scan->byte[1], v[0].low, v[0].high, v[1].low, v[1].high, 100 * density);
    return FALSE;
}

// TRUE where most traces are neighbours on the lattice of the trace before them in the file.
static gboolean is_one_line(const LithoScan *scan, const LithoGrid *grid)
{
    enum { NEAR = 3 }; // cells
    gint64 last = -1, pairs = 0, near = 0;
    for (gint64 t = 0; t < scan->n; t++) {
        if (scan->flags[t] & LITHO_SCAN_OUT)
            continue;
        gboolean is_near = TRUE;
        for (int c = 0; c < 2 && last >= 0; c++) {
            const double off = (double)scan->key[c][t] - scan->key[c][last];
            is_near &= fabs(off) <= NEAR * fabs(grid->axis[c].step);
        }
        near += last >= 0 && is_near;
        pairs += last >= 0;
        last = t;
    }
    return 2 * near > pairs;
}

LithoLatticeResult litho_lattice_build(LithoScan *scan, LithoSurvey *survey,
                                       const LithoOpenOptions *options, gboolean forced,
                                       GError **error)
{
    Values v[2];
    for (int c = 0; c < 2; c++)
        if (!summarise(&v[c], scan->key[c], scan->flags, scan->n, error))
            return LITHO_LATTICE_FAILED;
    gint64 used = 0, cells;
    for (gint64 t = 0; t < scan->n; t++)
        used += !(scan->flags[t] & LITHO_SCAN_OUT);
    for (int c = 0; c < 2; c++)
        survey->grid.axis[c] = make_axis(&v[c], scan->coordinates ? 0 : scan->byte[c]);
    if (__builtin_mul_overflow(survey->grid.axis[0].n, survey->grid.axis[1].n, &cells))
        cells = G_MAXINT64;

    // Nothing has been allocated yet: a header word alone must not make us.
    double density = (double)used / cells;
    gboolean path = used <= 2 * (v[0].distinct + v[1].distinct);
    if (!forced && density < 0.1 && path)
        return is_one_line(scan, &survey->grid) ? LITHO_LATTICE_LINE : LITHO_LATTICE_SCATTERED;
    if (density < 0.01 && cells > 1000) {
        refuse_sparse(scan, v, density, error);
        return LITHO_LATTICE_FAILED;
    }
    if (!allocate_cells(survey, cells, options->duplicates, error))
        return LITHO_LATTICE_FAILED;
    gint32 low = 0, high = 0;
    survey->counts.offsets = litho_scan_offsets(scan, &low, &high);
    fill_cells(scan, survey, options->duplicates);
    tell_counts(survey, options->duplicates, used, low, high);
    if (!litho_strays_tell(scan, survey, options, error))
        return LITHO_LATTICE_FAILED;
    drop_regular_table(survey);
    return LITHO_LATTICE_BUILT;
}
