// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/io/segy_geometry.h"
#include "core/text.h"

enum { FIRST_LINE_TRACES = 4096 }; // of the line shown while the scan still runs

// --- file order -------------------------------------------------------------------------------

// One line of all traces, or the user's n1 x n2 when the count agrees.
static gboolean use_file_order(LithoSurvey *survey, const LithoHeads *heads,
                               const LithoOpenOptions *options, gboolean metric, GError **error)
{
    LithoGrid *g = &survey->grid;
    gint64 n1 = 1, n2 = survey->traces;
    if (options->shape[0] > 0 && options->shape[1] > 0) {
        n1 = options->shape[0];
        n2 = options->shape[1];
        gint64 product;
        if (__builtin_mul_overflow(n1, n2, &product) || product != survey->traces) {
            g_set_error(
                error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
                _("--shape asks for %" PRId64 " x %" PRId64 " traces, the file holds %" PRId64), n1,
                n2, survey->traces);
            return FALSE;
        }
    }
    g->axis[0] = (LithoAxis){.n = n1, .first = 1, .step = 1};
    g->axis[1] = (LithoAxis){.n = n2, .first = 1, .step = 1};
    g_strlcpy(g->axis[1].evidence, _("traces in file order"), sizeof g->axis[1].evidence);
    if (n1 == 1)
        g->axis[1].counts = LITHO_COUNTS_TRACES;
    survey->origin = 0;
    survey->inline_stride = n2;
    survey->xline_stride = 1;
    survey->state = g_try_malloc0(survey->traces);
    if (!survey->state) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY, _("no memory for a mask of traces"));
        return FALSE;
    }
    if (n1 == 1 && metric)
        litho_segy_fit_xy(survey, heads, options, 0, 0);
    return TRUE;
}

static void mark_dead(LithoSurvey *survey, const LithoScan *scan)
{
    for (gint64 t = 0; t < scan->n; t++)
        if (scan->flags[t] & (LITHO_SCAN_DEAD | LITHO_SCAN_FOREIGN | LITHO_SCAN_AUXILIARY)) {
            survey->state[t] |= LITHO_CELL_DEAD;
            survey->counts.dead++;
        }
}

// Offsets number the traces of one gather, unless the user wants them counted.
static void number_traces(LithoSurvey *survey, const LithoScan *scan,
                          const LithoOpenOptions *options)
{
    gint32 low = 0, high = 0;
    survey->counts.offsets = litho_scan_offsets(scan, &low, &high);
    if (!options->file_order && litho_segy_number_by_offset(survey, scan))
        return;
    if (!scan->have_keys && !options->file_order)
        litho_survey_note(survey, "no line numbers and no coordinates found; traces are shown "
                                  "in file order (--shape N1,N2 arranges them)");
    if (survey->counts.offsets > 1)
        litho_survey_note(
            survey,
            "offsets at byte 37 vary (%" PRId64 " values, %d to %d) but traces are "
            "in file order, where they are not used; filters and zero-offset migration take stacks",
            survey->counts.offsets, low, high);
}

// --- what the heads say -----------------------------------------------------------------------

// The finest coordinate unit in the sample: keys are whole multiples of it.
static double finest_scale(const LithoHeads *heads)
{
    double scale = INFINITY;
    for (guint k = 0; k < heads->n; k++)
        if (!litho_head_empty(heads, k))
            scale = MIN(scale, litho_scaled(1, litho_head_scalar(heads, k)));
    return isfinite(scale) ? scale : 1;
}

static void check_scalars(LithoSurvey *survey, const LithoHeads *heads)
{
    for (guint k = 0; k < heads->n; k++) {
        const int s = litho_head_scalar(heads, k);
        if (heads->foreign[k] || litho_head_empty(heads, k))
            continue;
        if (!litho_scalar_standard(s)) {
            litho_survey_note(survey,
                              "coordinate scalar %d at byte 71 is not one of the "
                              "standard's; used as it stands",
                              s);
            return;
        }
        if (s == 0 && litho_heads_vary(heads, 181, TRUE)) {
            litho_survey_note(survey, "coordinate scalar 0 at byte 71 was read as 1");
            return;
        }
    }
}

// Degrees have no metric length; TRUE when coordinates may be used.
static gboolean metric_coordinates(LithoSurvey *survey, const LithoHeads *heads)
{
    const guint lead = litho_heads_lead(heads);
    if (lead == heads->n) {
        litho_survey_note(survey, "no trace header makes sense; starts, offsets and coordinates in "
                                  "them are not used");
        return FALSE;
    }
    const int unit = litho_head_i16(heads, lead, 89);
    if (unit < 2 || unit > 4)
        return TRUE;
    litho_survey_note(survey,
                      "coordinates are angles (byte 89 = %d) and are not used; give --dx and --dy",
                      unit);
    return FALSE;
}

static void apply_measurement(LithoSurvey *survey)
{
    const LithoTraceFile *file = &g_array_index(survey->files, LithoTraceFile, 0);
    LithoGrid *g = &survey->grid;
    survey->counted.in_feet = file->measurement == 2;
    if (file->measurement == 2 && g->xy_source == LITHO_FROM_FILE) {
        for (int c = 0; c < 2; c++) {
            g->origin[c] *= LITHO_FOOT;
            g->inline_step[c] *= LITHO_FOOT;
            g->xline_step[c] *= LITHO_FOOT;
        }
        litho_survey_note(survey, "coordinates are in feet and were turned into metres");
    } else if (file->measurement != 1 && g->xy_source == LITHO_FROM_FILE) {
        litho_survey_note(survey, "the file names no unit of length (byte 3255); metres are "
                                  "assumed");
    }
}

// --- the first line, before the scan ----------------------------------------------------------

// Traces from the start of the file that share one of the two numbers: a line of the survey along
// its faster direction, or simply the first traces when there are no numbers.
static void show_first_line(LithoSurvey *survey, const LithoHeads *heads,
                            const LithoOpenOptions *options, const LithoCandidate *c)
{
    guint n = 1;
    const LithoTraceFile *file = &g_array_index(survey->files, LithoTraceFile, 0);
    guint limit = (guint)MIN(MIN((gint64)heads->n, FIRST_LINE_TRACES), file->traces);
    int slow = 0, fast = 0;
    if (c && heads->n > 1) {
        gboolean along_xline =
            litho_head_i32(heads, 0, c->inline_byte) == litho_head_i32(heads, 1, c->inline_byte);
        slow = along_xline ? c->inline_byte : c->xline_byte;
        fast = along_xline ? c->xline_byte : c->inline_byte;
    }
    while (n < limit && heads->follows[n] &&
           (!slow || litho_head_i32(heads, n, slow) == litho_head_i32(heads, 0, slow)))
        n++;
    LithoSurvey *line = litho_survey_bare(); // a survey of its own: the traces 0..n-1
    line->kind = survey->kind;
    line->files = g_array_ref(survey->files);
    line->traces = n;
    line->grid = litho_grid_new(1, n, survey->grid.axis[2].n);
    line->grid.axis[2] = survey->grid.axis[2];
    line->grid.is_depth = survey->grid.is_depth;
    line->name = g_strdup(survey->name);
    line->notes = g_ptr_array_new_with_free_func(g_free);
    line->state = g_malloc0(n);
    line->xline_stride = 1;
    line->zero_is_live = survey->zero_is_live;
    if (slow) {
        gint32 first = litho_head_i32(heads, 0, fast);
        line->grid.axis[0].first = litho_head_i32(heads, 0, slow);
        line->grid.axis[1].first = first;
        if (n > 1 && litho_head_i32(heads, 1, fast) != first)
            line->grid.axis[1].step = (double)litho_head_i32(heads, 1, fast) - first;
    }
    g_autoptr(LithoCube) cube = litho_survey_read(line, NULL, NULL, NULL);
    if (cube)
        options->on_first(cube, options->first_data);
    litho_survey_unref(line);
}

// --- entry ------------------------------------------------------------------------------------

static const LithoCandidate *best_candidate(const LithoSurvey *survey, gboolean forced)
{
    if (survey->candidates->len == 0)
        return NULL;
    const LithoCandidate *c = &g_array_index(survey->candidates, LithoCandidate, 0);
    return forced || c->score >= LITHO_CANDIDATE_GOOD ? c : NULL;
}

// Chooses the keys of the scan: line numbers, else coordinates, else none.
static void plan_scan(LithoScan *scan, const LithoSurvey *survey, const LithoHeads *heads,
                      const LithoOpenOptions *options, const LithoCandidate *c, gboolean metric)
{
    // Heads that are a sample of all say nothing about the others.
    scan->want_offset = litho_heads_lead(heads) < heads->n &&
                        (!heads->complete || litho_heads_vary(heads, 37, TRUE));
    scan->delay_unit = litho_segy_delay_unit(survey, heads);
    scan->want_delay =
        scan->delay_unit > 0 && (!heads->complete || litho_heads_vary(heads, 109, FALSE));
    scan->bare = heads->bare;
    scan->judged = heads->judged;
    scan->apart = heads->apart;
    scan->scalar = options->xy_scalar;
    if (c && !options->file_order) {
        scan->byte[0] = c->inline_byte;
        scan->byte[1] = c->xline_byte;
        scan->have_keys = TRUE;
    } else if (!options->file_order && metric && options->shape[0] <= 0 && heads->n >= 4 &&
               litho_segy_xy_bytes(heads, options, &scan->byte[0], &scan->byte[1])) {
        scan->coordinates = scan->have_keys = TRUE;
        scan->scale = finest_scale(heads);
    }
    for (int k = 0; k < 2; k++)
        scan->floats[k] = survey->float_word[scan->byte[k]] != 0;
}

// A lattice fitted to coordinates has a cell where nothing lies between its lines, too: the places
// follow the axes, which have none.
static void leave_out_cells(LithoGrid *g)
{
    for (int c = 0; c < 2; c++) {
        g->origin[c] +=
            (g->axis[0].first - 1) * g->inline_step[c] + (g->axis[1].first - 1) * g->xline_step[c];
        g->inline_step[c] *= g->axis[0].step;
        g->xline_step[c] *= g->axis[1].step;
    }
}

// Before the traces are laid out in file order, the grid is that of the lattice.
static void tell_scattered(const LithoScan *scan, LithoSurvey *survey)
{
    const LithoAxis *axis = survey->grid.axis;
    gint64 used = 0;
    for (gint64 t = 0; t < scan->n; t++)
        used += !(scan->flags[t] & LITHO_SCAN_OUT);
    const double filled = 100 * (double)used / ((double)axis[0].n * (double)axis[1].n);
    if (scan->coordinates)
        litho_survey_note(survey,
                          "traces fill %.1f %% of the lattice of the coordinates at bytes %d and "
                          "%d, and are shown in file order",
                          filled, scan->byte[0], scan->byte[1]);
    else
        litho_survey_note(survey,
                          "traces fill %.1f %% of the lattice of bytes %d and %d, and are shown in "
                          "file order; --inline-byte %d --xline-byte %d shows them on it",
                          filled, scan->byte[0], scan->byte[1], scan->byte[0], scan->byte[1]);
}

// Lattice from the scanned keys; FALSE without `error` = file order.
static gboolean build(LithoScan *scan, LithoSurvey *survey, const LithoHeads *heads,
                      const LithoOpenOptions *options, gboolean forced, gboolean metric,
                      GError **error)
{
    char why[96];
    litho_strays_find(scan, options);
    if (scan->coordinates && !litho_lattice_from_xy(scan, survey, why)) {
        litho_survey_note(survey, "no line numbers found and %s; traces are shown in file order",
                          why);
        return FALSE;
    }
    if (!scan->coordinates && !forced &&
        litho_segy_lines_begin_anew(heads, options, scan->byte[0], scan->byte[1])) {
        litho_survey_note(survey,
                          "the numbers at byte %d begin anew where the coordinates jump; the "
                          "traces are shown in file order",
                          scan->byte[1]);
        return FALSE;
    }
    switch (litho_lattice_build(scan, survey, options, forced, error)) {
    case LITHO_LATTICE_FAILED:
        return FALSE;
    case LITHO_LATTICE_LINE:
        litho_survey_note(survey,
                          "the traces form one line across the lattice of bytes %d and %d; "
                          "they are shown in file order",
                          scan->byte[0], scan->byte[1]);
        return FALSE;
    case LITHO_LATTICE_SCATTERED:
        tell_scattered(scan, survey);
        return FALSE;
    case LITHO_LATTICE_BUILT:
        break;
    }
    if (scan->coordinates)
        leave_out_cells(&survey->grid);
    memcpy(scan->coordinates ? survey->xy_byte : survey->key_byte, scan->byte, sizeof scan->byte);
    if (scan->coordinates)
        litho_survey_note(survey,
                          "no line numbers found; the lattice was fitted to the "
                          "coordinates at bytes %d/%d",
                          scan->byte[0], scan->byte[1]);
    else if (metric)
        litho_segy_fit_xy(survey, heads, options, scan->byte[0], scan->byte[1]);
    return TRUE;
}

// --- surveys whose traces are counted through -------------------------------------------------

enum { LEAST_LINES = 3 }; // of a grid, either way
static const double LEAST_FILLED = 0.5, MOST_STRETCHED = 20;

// TRUE when one of the two numbers is 0 in all headers: the other one counts the traces of a 2-D
// line, or those of a survey from its first to its last, which coordinates tell.
static gboolean is_counted_through(const LithoHeads *heads, const LithoOpenOptions *options,
                                   const LithoCandidate *c)
{
    const guint lead = litho_heads_lead(heads);
    if (!c || options->file_order || options->inline_byte || options->xline_byte ||
        lead == heads->n || litho_heads_vary(heads, 37, TRUE))
        return FALSE;
    const int words[] = {c->inline_byte, c->xline_byte};
    for (int k = 0; k < 2; k++)
        if (litho_head_i32(heads, lead, words[k]) == 0 && !litho_heads_vary(heads, words[k], TRUE))
            return TRUE;
    return FALSE;
}

// TRUE when the scanned coordinates fill a grid of several lines that are about as far apart as
// their traces: no 2-D lines side by side. Nothing is changed. Without memory it is none.
static gboolean fills_grid(const LithoScan *scan, const LithoSurvey *survey)
{
    const gsize bytes = (gsize)scan->n * sizeof *scan->key[0];
    g_autofree gint32 *x = g_try_malloc(bytes), *y = g_try_malloc(bytes);
    LithoScan copy = *scan;
    LithoSurvey none = {.grid = survey->grid};
    char why[96];
    if (!x || !y)
        return FALSE;
    copy.key[0] = memcpy(x, scan->key[0], bytes);
    copy.key[1] = memcpy(y, scan->key[1], bytes);
    if (!litho_lattice_from_xy(&copy, &none, why))
        return FALSE;
    double most[2] = {0, 0}, used = 0;
    for (gint64 t = 0; t < scan->n; t++) {
        if (scan->flags[t] & LITHO_SCAN_OUT)
            continue;
        for (int k = 0; k < 2; k++)
            most[k] = MAX(most[k], copy.key[k][t]);
        used++;
    }
    const double a = hypot(none.grid.inline_step[0], none.grid.inline_step[1]);
    const double b = hypot(none.grid.xline_step[0], none.grid.xline_step[1]);
    return MIN(most[0], most[1]) >= LEAST_LINES && used >= LEAST_FILLED * most[0] * most[1] &&
           MAX(a, b) <= MOST_STRETCHED * MIN(a, b);
}

// Scans for line numbers, else coordinates, else nothing. Traces that are counted through lie as
// their coordinates say where these fill a grid.
static gboolean scan_keys(LithoScan *scan, LithoSurvey *survey, const LithoHeads *heads,
                          const LithoOpenOptions *options, const LithoCandidate *c, gboolean metric,
                          LithoRun *run, GError **error)
{
    if (metric && is_counted_through(heads, options, c)) {
        plan_scan(scan, survey, heads, options, NULL, metric);
        if (scan->coordinates && !litho_scan_run(scan, survey, run, error))
            return FALSE;
        if (scan->coordinates && fills_grid(scan, survey))
            return TRUE;
        litho_scan_clear(scan);
        scan->on_headers = options->on_headers;
        scan->headers_data = options->headers_data;
    }
    plan_scan(scan, survey, heads, options, c, metric);
    return litho_scan_run(scan, survey, run, error);
}

// The options, with the scalar 1 where byte 71 holds another word.
static LithoOpenOptions judge_scalar(LithoSurvey *survey, LithoHeads *heads,
                                     const LithoOpenOptions *options)
{
    LithoOpenOptions judged = *options;
    if (options->xy_scalar || !litho_heads_scalar_is_none(heads))
        return judged;
    judged.xy_scalar = heads->scalar = 1;
    litho_survey_note(survey, "byte 71 holds no scalar of coordinates: without it sources and "
                              "receivers are as far apart as the offsets say");
    return judged;
}

// TRUE when the four bytes from `byte` on and the scalar of times at 215 have a byte in common.
static gboolean holds_time_scalar(int byte)
{
    return byte >= 212 && byte <= 216;
}

static gboolean survey_geometry(LithoSurvey *survey, LithoHeads *heads, LithoScan *scan,
                                const LithoOpenOptions *given, LithoRun *run, GError **error)
{
    gboolean forced = given->inline_byte && given->xline_byte;
    if (!litho_heads_read(heads, survey, error))
        return FALSE;
    if (!given->x_byte != !given->y_byte)
        litho_survey_note(survey,
                          "byte %d was given for one of two coordinates and is not used; give "
                          "--x-byte and --y-byte",
                          given->x_byte + given->y_byte);
    const LithoOpenOptions judged = judge_scalar(survey, heads, given), *options = &judged;
    survey->xy_scalar = judged.xy_scalar;
    litho_heads_take_floats(heads, survey, options);
    litho_candidates_score(survey, heads, options);
    const LithoCandidate *c = best_candidate(survey, forced);
    heads->numbered = c && !options->file_order &&
                      (holds_time_scalar(c->inline_byte) || holds_time_scalar(c->xline_byte));
    if (!litho_segy_sample_axis(survey, heads, options, error))
        return FALSE;
    if (options->on_first)
        show_first_line(survey, heads, options, options->file_order ? NULL : c);
    gboolean metric = metric_coordinates(survey, heads);
    if (!scan_keys(scan, survey, heads, options, c, metric, run, error))
        return FALSE;

    GError *failure = NULL;
    gboolean lattice =
        scan->have_keys && build(scan, survey, heads, options, forced, metric, &failure);
    if (failure) {
        g_propagate_error(error, failure);
        return FALSE;
    }
    if (!lattice) {
        survey->grid.has_xy = FALSE;
        if (!use_file_order(survey, heads, options, metric, error))
            return FALSE;
        mark_dead(survey, scan);
        number_traces(survey, scan, options);
        if (!options->file_order && survey->grid.axis[0].n == 1 && survey->counts.offsets <= 1)
            litho_segy_tell_lines(survey, heads, options, TRUE);
        if (!litho_strays_tell(scan, survey, options, error))
            return FALSE;
    }
    if (lattice && survey->grid.axis[0].n == 1 && survey->counts.offsets <= 1)
        litho_segy_tell_lines(survey, heads, options, FALSE);
    litho_segy_name_axes(survey, scan);
    check_scalars(survey, heads);
    if (!survey->grid.has_xy && heads->su[2] > 0)
        litho_survey_note(survey,
                          "traces are %g apart (d2 of SU, byte 189), in a unit that SU does not "
                          "name; if it is the metre, give --dy %g",
                          heads->su[2], heads->su[2]);
    apply_measurement(survey);
    litho_grid_apply_spacing(survey, options);
    if (lattice)
        litho_segy_tell_apart(survey, heads, options);
    if (lattice && options->shape[0] > 0)
        litho_survey_note(survey, "--shape is not used, as the file has line numbers; with "
                                  "--file-order it arranges the traces");
    return litho_segy_apply_delays(survey, scan, error);
}

gboolean litho_segy_geometry(LithoSurvey *survey, const LithoOpenOptions *options, LithoRun *run,
                             GError **error)
{
    LithoHeads heads = {.scalar = options->xy_scalar};
    LithoScan scan = {.on_headers = options->on_headers, .headers_data = options->headers_data};
    survey->grid = (LithoGrid){0};
    gboolean good = survey_geometry(survey, &heads, &scan, options, run, error);
    litho_heads_clear(&heads);
    litho_scan_clear(&scan);
    return good && litho_grid_check(&survey->grid, error);
}
