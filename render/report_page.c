// SPDX-License-Identifier: GPL-3.0-or-later
#include "render/report_page.h"

#include <math.h>
#include <string.h>

#include "core/axis_names.h"
#include "core/text.h"
#include "render/raster.h"
#include "render/ticks.h"

enum { INPUT, OUTPUT, REMOVED, SIMILAR, FK, COLUMNS };

// --- pictures -----------------------------------------------------------------------------------

// The ends of each column's colours: amplitudes, |c| from 0 to 1, decibels.
static LithoLook look_of(const LithoReportPage *page, int column)
{
    const LithoRange unit = {.lo = 0, .hi = 1, .is_unsigned = TRUE};
    const LithoRange decibels = {.lo = -60, .hi = 0, .is_unsigned = TRUE};
    LithoLook look = page->look;
    look.grid_lines = look.reversed = FALSE;
    look.removed_gain = 0; // one range for input, output and removed part
    if (column < SIMILAR)
        return look;
    look = litho_look_default();
    litho_look_set_range(&look, column == FK ? &decibels : &unit);
    return look;
}

static cairo_surface_t *picture(const LithoSheet *sheet, const LithoCube *in, const LithoCube *out,
                                int axis, gint64 index, const LithoLook *look, LithoShow show,
                                GError **error)
{
    LithoRaster raster = {.input = in,
                          .output = out,
                          .grid = out ? &out->grid : &in->grid,
                          .look = *look,
                          .show = show,
                          .scale = 1};
    raster.view = litho_slice_view(raster.grid, axis, index);
    raster.view.keep_aspect = FALSE;
    return litho_raster_slice(&raster, sheet->cell_width, sheet->cell_height, error);
}

// --- f-k ----------------------------------------------------------------------------------------

// One vertical section as rows of samples.
static float *section_of(const LithoCube *cube, int axis, gint64 index, guint *traces)
{
    const int other = axis == LITHO_INLINE ? LITHO_XLINE : LITHO_INLINE;
    const gint64 n = cube->held.hi[2] - cube->held.lo[2], lo = cube->held.lo[other];
    const gint64 wide = cube->held.hi[other] - lo;
    float *section = g_try_malloc_n((gsize)(wide * n), sizeof *section);
    for (gint64 k = 0; section && k < wide; k++)
        memcpy(section + k * n,
               litho_cube_trace(cube, axis == LITHO_INLINE ? index : lo + k,
                                axis == LITHO_INLINE ? lo + k : index),
               n * sizeof(float));
    *traces = (guint)wide;
    return section;
}

// The f-k spectrum of the output in dB below the input's largest, as a section of wavenumber and
// frequency. NULL: the section is too small for one.
static LithoCube *fk_cube(const LithoReportPage *page, int axis, gint64 index, LithoRun *run)
{
    enum { AROUND = 16 }; // lines on either side, as far as a guess reaches
    const LithoCube *const cubes[] = {page->in, page->out};
    LithoFk fk[2] = {0};
    LithoCube *cube = NULL;
    float top = 0;
    gboolean ok = TRUE;
    for (int which = INPUT; which <= OUTPUT; which++) {
        guint traces;
        LithoBox line = cubes[which]->held;
        line.lo[axis] = index;
        line.hi[axis] = index + 1;
        g_autoptr(LithoCube) guessed = litho_qc_without_gaps(cubes[which], line, axis, AROUND, run);
        g_autofree float *section =
            section_of(guessed ? guessed : cubes[which], axis, index, &traces);
        const LithoBox held = cubes[which]->held;
        ok = ok && section &&
             litho_qc_fk(section, traces, (guint)(held.hi[2] - held.lo[2]), &fk[which], NULL);
    }
    for (guint k = 0; ok && k < fk[INPUT].n_k * fk[INPUT].n_f; k++)
        top = MAX(top, fk[INPUT].amplitude[k]);
    if (ok && top > 0) {
        LithoGrid grid = litho_grid_new(1, fk[OUTPUT].n_k, fk[OUTPUT].n_f);
        cube = litho_cube_new(&grid, NULL);
    }
    for (guint k = 0; cube && k < fk[OUTPUT].n_k * fk[OUTPUT].n_f; k++)
        cube->samples[k] = 20 * log10f(MAX(fk[OUTPUT].amplitude[k] / top, 1e-6f));
    litho_fk_clear(&fk[0]);
    litho_fk_clear(&fk[1]);
    return cube;
}

// --- axes ---------------------------------------------------------------------------------------

// From edge to edge of the picture: half a cell beyond the first and the last line or sample.
static LithoSheetAxis grid_axis(const LithoGrid *grid, int axis)
{
    const LithoAxis *a = &grid->axis[axis];
    const LithoAxisText how = litho_axis_text(grid, axis, LITHO_UNITS_AUTO);
    LithoSheetAxis to = {.from = litho_axis_shown(&how, a, -0.5),
                         .to = litho_axis_shown(&how, a, (double)a->n - 0.5),
                         .whole = axis != LITHO_SAMPLE};
    g_autofree char *name = litho_axis_word(grid, axis);
    g_snprintf(to.title, sizeof to.title, "%s%s%s", name, *how.unit ? ", " : "", how.unit);
    return to;
}

// Half a cycle a trace to either side, and half a cell more or less: the middle of a cell stands at
// its wavenumber.
static LithoSheetAxis wavenumber_axis(const LithoGrid *grid, int other, gint64 n)
{
    const double spacing = litho_grid_spacing(grid, other);
    const gboolean known = grid->has_xy && grid->xy_source != LITHO_FROM_ASSUMED && spacing > 0;
    const double cycle = known ? 1000 / spacing : 1, first = (-(double)(n / 2) - 0.5) / n;
    LithoSheetAxis to = {.from = first * cycle, .to = (first + 1) * cycle};
    g_snprintf(to.title, sizeof to.title, _("wavenumber, %s"),
               known ? "1/km" : _("cycles a trace"));
    return to;
}

static LithoSheetAxis frequency_axis(const LithoGrid *grid, gint64 n)
{
    const double step = litho_grid_nyquist(grid) / (n - 1);
    LithoSheetAxis to = {.from = -0.5 * step, .to = (n - 0.5) * step};
    g_snprintf(to.title, sizeof to.title, "%s",
               grid->is_depth ? _("wavenumber, 1/km") : _("frequency, Hz"));
    return to;
}

// The axes of slice `axis`, or of its f-k spectrum `fk`, where that is not NULL. Inlines of a slice
// in time run upwards.
static LithoSheetAxes *axes_of(const LithoGrid *grid, int axis, const LithoCube *fk,
                               const LithoLook *look)
{
    const int other = axis == LITHO_XLINE ? LITHO_INLINE : LITHO_XLINE;
    LithoSheetAxes *axes = g_new0(LithoSheetAxes, 1);
    const LithoAxis *k = fk ? fk->grid.axis : NULL;
    axes->across = fk ? wavenumber_axis(grid, other, k[LITHO_XLINE].n) : grid_axis(grid, other);
    axes->down = fk                     ? frequency_axis(grid, k[LITHO_SAMPLE].n)
                 : axis == LITHO_SAMPLE ? grid_axis(grid, LITHO_INLINE)
                                        : grid_axis(grid, LITHO_SAMPLE);
    if (axis == LITHO_SAMPLE) {
        const double from = axes->down.from;
        axes->down.from = axes->down.to;
        axes->down.to = from;
    }
    axes->look = *look;
    axes->unit = fk ? "dB" : NULL;
    return axes;
}

// --- rows ---------------------------------------------------------------------------------------

static gint64 slice_of(const LithoReportPage *page, int axis)
{
    const LithoBox held = litho_box_intersect(page->in->held, page->out->held);
    const gint64 k = page->slice[axis];
    return k >= held.lo[axis] && k < held.hi[axis]
               ? k
               : held.lo[axis] + (held.hi[axis] - held.lo[axis]) / 2;
}

// "removed, inline 1051"
static char *cell_title(const LithoGrid *grid, gboolean beside, int column, int axis, gint64 index)
{
    const char *const kinds[] = {_("input"), _("output"), _("removed"),
                                 beside ? _("similarity beside the noise") : _("similarity"),
                                 _("f-k of output")};
    g_autofree char *slice = litho_slice_label(grid, axis, index, LITHO_UNITS_AUTO);
    return g_strdup_printf("%s, %s", kinds[column], slice);
}

static gboolean draw_row(const LithoReportPage *page, LithoSheet *sheet, guint row, int axis,
                         LithoRun *run, GError **error)
{
    static const LithoShow shows[] = {LITHO_SHOW_INPUT, LITHO_SHOW_OUTPUT, LITHO_SHOW_REMOVED};
    const LithoGrid *grid = &page->in->grid;
    const gint64 index = slice_of(page, axis);
    LithoBox box = litho_box_slice(grid, axis, index);
    box = litho_box_intersect(litho_box_intersect(box, page->in->held), page->out->held);
    g_autoptr(LithoCube) map = NULL;
    const LithoCube *beside = page->beside[axis];
    if (!beside &&
        !litho_similarity(page->in, page->out, box, &page->quality->widths, run, &map, error))
        return FALSE;
    const LithoCube *similar = beside ? beside : map;
    for (int k = 0; k < COLUMNS; k++) {
        LithoSheetCell *cell = &sheet->cells[row * COLUMNS + k];
        const LithoLook look = look_of(page, k);
        g_autoptr(LithoCube) fk =
            k == FK && axis != LITHO_SAMPLE ? fk_cube(page, axis, index, run) : NULL;
        if (k == FK && !fk)
            continue;
        cell->picture =
            k == FK ? picture(sheet, fk, NULL, LITHO_INLINE, 0, &look, shows[0], error)
            : k == SIMILAR
                ? picture(sheet, similar, NULL, axis, index, &look, shows[0], error)
                : picture(sheet, page->in, page->out, axis, index, &look, shows[k], error);
        if (!cell->picture)
            return FALSE;
        cell->lines[0] = cell_title(grid, beside != NULL, k, axis, index);
        cell->axes = axes_of(grid, axis, fk, &look);
    }
    return TRUE;
}

// --- words --------------------------------------------------------------------------------------

static void add(GPtrArray *notes, char *note)
{
    g_ptr_array_add(notes, note);
}

// "Flow: Local Fourier filter window=24, F-X filter": what differs from the defaults.
static char *flow_note(const LithoFlow *flow)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint n = 0; n < litho_flow_length(flow); n++) {
        const LithoStep *step = litho_flow_step(flow, n);
        if (!step->enabled)
            continue;
        g_autofree void *defaults = g_malloc0(step->op->params.size);
        litho_param_defaults(&step->op->params, defaults);
        g_string_append_printf(text, "%s%s", text->len > 0 ? ", " : "",
                               litho_text(step->op->title));
        for (guint k = 0; k < step->op->params.n; k++) {
            const LithoParam *row = &step->op->params.rows[k];
            if (litho_param_equal(row, step->params, defaults))
                continue;
            g_autofree char *value = litho_param_print(row, step->params);
            g_string_append_printf(text, " %s=%s", row->key, value);
        }
    }
    return g_strdup_printf(_("Flow: %s"), text->str);
}

// "Input: survey.sgy, 100 x 120 x 300, 4 ms"
static char *input_note(const LithoReportPage *page)
{
    const LithoAxis *a = page->survey->axis;
    g_autofree char *shape = g_strdup_printf(
        "%" G_GINT64_FORMAT " × %" G_GINT64_FORMAT " × %" G_GINT64_FORMAT, a[0].n, a[1].n, a[2].n);
    const gboolean is_time = !page->survey->is_depth;
    const double step = fabs(a[2].step) * (is_time ? 1000 : 1);
    return page->file
               ? g_strdup_printf(_("Input: %s, %s, %.6g %s"), page->file, shape, step,
                                 is_time ? "ms" : a[2].unit)
               : g_strdup_printf(_("Input: %s, %.6g %s"), shape, step, is_time ? "ms" : a[2].unit);
}

// The first axis that slices are drawn across, and how many follow it: of a line its only section.
static guint rows_of(const LithoGrid *grid, int *first)
{
    const gboolean is_cube = grid->axis[0].n > 1 && grid->axis[1].n > 1;
    *first = !is_cube && grid->axis[0].n > 1 ? LITHO_XLINE : LITHO_INLINE;
    return is_cube ? 3 : 1;
}

// The sentence on sections whose similarity counts more than what leaves, or tells less of them;
// NULL = there are none. Static.
static const char *similarity_note(const LithoReportPage *page)
{
    const LithoGrid *grid = &page->in->grid;
    int first;
    const guint n = rows_of(grid, &first);
    guint plain = 0, parts = 0;
    for (guint k = 0; k < n; k++) {
        const int axis = first + (int)k;
        const LithoCube *map = page->beside[axis];
        const LithoBox both = litho_box_intersect(page->in->held, page->out->held);
        const LithoBox slice = litho_box_slice(grid, axis, slice_of(page, axis));
        plain += !map;
        parts += map && !litho_box_contains(map->held, litho_box_intersect(slice, both));
    }
    return plain == n  ? _("The similarity counts noise that stays in the output, too")
           : plain > 0 ? _("The similarity counts noise that stays in the output, too, where the "
                           "noise was not judged")
           : parts > 0 ? _("The similarity is told of the part that was judged")
                       : NULL;
}

static char **notes_of(const LithoReportPage *page)
{
    const LithoQuality *q = page->quality;
    GPtrArray *notes = g_ptr_array_new();
    g_autofree char *expected = litho_quality_expected_text(q);
    if (isfinite(q->expected_snr_db))
        add(notes,
            q->is_filtered
                ? g_strdup_printf(_("Expected SNR %s, noise level %.4g"), expected, q->noise_sigma)
                : g_strdup_printf(_("Expected SNR %s, input %.2f dB, noise level %.4g"), expected,
                                  q->input_snr_db, q->noise_sigma));
    g_autofree char *leaving = litho_quality_leaving_text(q);
    g_autofree char *removed = litho_quality_removed_text(q);
    if (isfinite(litho_quality_leaving(q)))
        add(notes, g_strdup_printf(isfinite(q->lost)
                                       ? _("Signal leaving %s of its amplitude (%s), removed %s "
                                           "of the energy")
                                       : _("Signal leaving %s of what is removed (%s), removed %s "
                                           "of the energy"),
                                   leaving, litho_quality_leak_sentence(q), removed));
    if (isfinite(q->hidden_snr_db))
        add(notes,
            g_strdup_printf(_("Hidden traces %.2f dB (%u)"), q->hidden_snr_db, q->hidden_traces));
    if (isfinite(q->snr_db) && q->fills_alone)
        add(notes, g_strdup_printf(_("True SNR of the filled traces %.2f dB"), q->snr_db));
    else if (isfinite(q->snr_db))
        add(notes, g_strdup_printf(_("True SNR %.2f dB, gain %.2f dB"), q->snr_db, q->gain_db));
    if (*q->why)
        add(notes, g_strdup_printf(_("Note: %s"), q->why));
    const char *similarity = similarity_note(page);
    if (similarity)
        add(notes, g_strdup(similarity));
    add(notes, input_note(page));
    add(notes, flow_note(page->flow));
    if (page->command)
        add(notes, g_strdup(page->command));
    g_ptr_array_add(notes, NULL);
    return (char **)g_ptr_array_free(notes, FALSE);
}

LithoSheet *litho_report_page_draw(const LithoReportPage *page, LithoRun *run, GError **error)
{
    int first;
    const guint n = rows_of(&page->in->grid, &first);
    g_autoptr(LithoSheet) sheet = litho_sheet_new(COLUMNS, n);
    sheet->with_axes = TRUE;
    sheet->title = g_strdup(page->title);
    sheet->caption = g_strdup(page->caption);
    sheet->notes = notes_of(page);
    for (guint row = 0; row < n; row++)
        if (!draw_row(page, sheet, row, first + (int)row, run, error))
            return NULL;
    return g_steal_pointer(&sheet);
}
