// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli.h"
#include "app/cli_flow.h"
#include "app/cli_open.h"
#include "app/cli_trial.h"
#include "app/sheet.h"
#include "core/error.h"
#include "core/io/open_options.h"
#include "core/text.h"
#include "render/ticks.h"

enum { INPUT, OUTPUT, REMOVED, SIMILAR, KINDS, FK = KINDS, COLUMNS, JUDGED_SAMPLES = 1 << 22 };

typedef struct Options {
    LithoCliTrial trial;
    char *json;
    gboolean force;
} Options;

static void options_clear(Options *o)
{
    litho_cli_trial_clear(&o->trial);
    g_free(o->json);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

typedef struct Report {
    const Options *o;
    LithoFlow *flow;
    LithoCliPart part;
    LithoQuality quality;
    LithoCube *cube[KINDS]; // of the area, each a cube of its own
    LithoLook look[COLUMNS];
    LithoSheet *sheet;
} Report;

// --- cubes --------------------------------------------------------------------------------------

static gboolean make_cubes(Report *r, LithoCube *out, LithoRun *run, GError **error)
{
    const gboolean whole = litho_box_equal(out->held, litho_box_full(&out->grid));
    r->cube[INPUT] = litho_quality_cut(r->part.in, r->part.area, error);
    r->cube[OUTPUT] = whole ? litho_cube_ref(out) : litho_quality_cut(out, r->part.area, error);
    if (!r->cube[INPUT] || !r->cube[OUTPUT])
        return FALSE;
    r->cube[REMOVED] = litho_cube_copy_box(r->cube[INPUT], r->cube[INPUT]->held, error);
    const gint64 n = r->cube[REMOVED] ? litho_cube_held_samples(r->cube[REMOVED]) : 0;
    for (gint64 k = 0; k < n; k++)
        r->cube[REMOVED]->samples[k] -= r->cube[OUTPUT]->samples[k];
    return r->cube[REMOVED] &&
           litho_similarity(r->cube[INPUT], r->cube[OUTPUT], r->cube[INPUT]->held, NULL, run,
                            &r->cube[SIMILAR], NULL, error);
}

static gboolean make_looks(Report *r, LithoRun *run, GError **error)
{
    LithoStats stats;
    if (!litho_qc_stats(r->cube[INPUT], run, &stats, error))
        return FALSE;
    const LithoRange range = litho_qc_range(r->cube[INPUT], &stats, 99);
    const LithoRange unit = {.lo = 0, .hi = 1, .is_unsigned = TRUE};
    const LithoRange decibels = {.lo = -60, .hi = 0, .is_unsigned = TRUE};
    for (int k = 0; k < COLUMNS; k++) {
        r->look[k] = litho_look_default();
        litho_look_set_range(&r->look[k], k == FK ? &decibels : k == SIMILAR ? &unit : &range);
    }
    return TRUE;
}

// --- f-k ----------------------------------------------------------------------------------------

// One vertical section as rows of samples. The cube is held as a whole.
static float *section_of(const LithoCube *cube, int axis, gint64 index, guint *traces)
{
    const gint64 n = cube->grid.axis[2].n, wide = cube->grid.axis[axis == 0 ? 1 : 0].n;
    float *section = g_new(float, wide *n);
    for (gint64 k = 0; k < wide; k++)
        memcpy(section + k * n,
               litho_cube_trace(cube, axis == 0 ? index : k, axis == 0 ? k : index),
               n * sizeof(float));
    *traces = (guint)wide;
    return section;
}

// The f-k spectrum of the output in dB below the input's largest, as a section of wavenumber and
// frequency. NULL without an error: the section is too small for one.
static LithoCube *fk_cube(const Report *r, int axis, gint64 index)
{
    LithoFk fk[2] = {0};
    LithoCube *cube = NULL;
    float top = 0;
    gboolean ok = TRUE;
    for (int which = INPUT; which <= OUTPUT; which++) {
        guint traces;
        g_autofree float *section = section_of(r->cube[which], axis, index, &traces);
        ok = ok &&
             litho_qc_fk(section, traces, (guint)r->cube[which]->grid.axis[2].n, &fk[which], NULL);
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

// --- the sheet ----------------------------------------------------------------------------------

// From edge to edge of the picture: half a cell beyond the first and the last line or sample.
static LithoSheetAxis grid_axis(const LithoGrid *grid, int axis)
{
    static const char *const names[] = {"inline", "crossline", "time"};
    const LithoAxis *a = &grid->axis[axis];
    LithoSheetAxis to = {.from = litho_axis_value(a, -0.5),
                         .to = litho_axis_value(a, (double)a->n - 0.5),
                         .whole = axis != LITHO_SAMPLE};
    const gboolean is_depth = axis == LITHO_SAMPLE && grid->is_depth;
    g_snprintf(to.title, sizeof to.title, "%s%s%s", is_depth ? "depth" : names[axis],
               *a->unit ? ", " : "", a->unit);
    return to;
}

// Half a cycle a trace to either side.
static LithoSheetAxis wavenumber_axis(const LithoGrid *grid, int other)
{
    const double spacing = litho_grid_spacing(grid, other);
    const gboolean known = grid->has_xy && grid->xy_source != LITHO_FROM_ASSUMED && spacing > 0;
    const double most = known ? 500 / spacing : 0.5;
    LithoSheetAxis to = {.from = -most, .to = most};
    g_snprintf(to.title, sizeof to.title, _("wavenumber, %s"),
               known ? "1/km" : _("cycles a trace"));
    return to;
}

static LithoSheetAxis frequency_axis(const LithoGrid *grid)
{
    const double nyquist = 0.5 / fabs(grid->axis[LITHO_SAMPLE].step);
    LithoSheetAxis to = {.to = grid->is_depth ? 1000 * nyquist : nyquist};
    g_snprintf(to.title, sizeof to.title, "%s",
               grid->is_depth ? _("wavenumber, 1/km") : _("frequency, Hz"));
    return to;
}

// The axes of slice `axis`, or of its f-k spectrum. Inlines of a slice in time run upwards.
static LithoSheetAxes *axes_of(const LithoGrid *grid, int axis, gboolean is_fk,
                               const LithoLook *look)
{
    const int other = axis == LITHO_XLINE ? LITHO_INLINE : LITHO_XLINE;
    LithoSheetAxes *axes = g_new0(LithoSheetAxes, 1);
    axes->across = is_fk ? wavenumber_axis(grid, other) : grid_axis(grid, other);
    axes->down = is_fk                  ? frequency_axis(grid)
                 : axis == LITHO_SAMPLE ? grid_axis(grid, LITHO_INLINE)
                                        : grid_axis(grid, LITHO_SAMPLE);
    if (axis == LITHO_SAMPLE) {
        const double from = axes->down.from;
        axes->down.from = axes->down.to;
        axes->down.to = from;
    }
    axes->look = *look;
    axes->unit = is_fk ? "dB" : NULL;
    return axes;
}

static gboolean draw_row(Report *r, guint row, int axis, GError **error)
{
    const char *const kinds[] = {_("input"), _("output"), _("removed"), _("similarity"),
                                 _("f-k of output")};
    static const char *const axes[] = {"inline", "crossline", "time"};
    const LithoGrid *grid = &r->cube[INPUT]->grid;
    const gint64 index = grid->axis[axis].n / 2;
    for (int k = 0; k < COLUMNS; k++) {
        LithoSheetCell *cell = &r->sheet->cells[row * COLUMNS + k];
        g_autoptr(LithoCube) fk = k == FK && axis != LITHO_SAMPLE ? fk_cube(r, axis, index) : NULL;
        if (k == FK && !fk)
            continue;
        const LithoCube *cube = fk ? fk : r->cube[k];
        cell->picture = litho_sheet_slice(r->sheet, cube, fk ? LITHO_INLINE : axis, fk ? 0 : index,
                                          &r->look[k], error);
        if (!cell->picture)
            return FALSE;
        const char *name = axis == LITHO_SAMPLE && grid->is_depth ? "depth" : axes[axis];
        cell->lines[0] = g_strdup_printf("%s, %s %.10g %s", kinds[k], name,
                                         litho_axis_value(&grid->axis[axis], (double)index),
                                         grid->axis[axis].unit);
        cell->axes = axes_of(grid, axis, fk != NULL, &r->look[k]);
    }
    return TRUE;
}

// The command that repeats the run on the whole survey, read as it was read here.
static char *command_of(const Report *r)
{
    char *const *in = r->o->trial.files.in;
    g_autofree char *command = litho_flow_command(r->flow, in[0], "OUT");
    g_autofree char *reading = litho_open_options_words(&r->o->trial.open);
    g_autoptr(GString) text = g_string_new(command);
    for (char *const *other = in + 1; *other; other++) {
        g_autofree char *quoted = g_shell_quote(*other);
        g_string_append_printf(text, " -i %s", quoted);
    }
    g_string_append(text, reading);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static char **notes_of(const Report *r)
{
    const LithoQuality *q = &r->quality;
    GPtrArray *notes = g_ptr_array_new();
    g_autofree char *expected = litho_quality_expected_text(q);
    if (isfinite(q->expected_snr_db))
        g_ptr_array_add(
            notes, q->is_filtered
                       ? g_strdup_printf(_("Expected SNR %s, noise level %.4g"), expected,
                                         q->noise_sigma)
                       : g_strdup_printf(_("Expected SNR %s, input %.2f dB, noise level %.4g"),
                                         expected, q->input_snr_db, q->noise_sigma));
    g_ptr_array_add(notes, g_strdup_printf(_("Signal leaving %.1f %% (%s), removed %.1f %% of the "
                                           "energy"),
                                           100 * q->leak.share,
                                           litho_leak_words(litho_leak_reading(&q->leak)),
                                           100 * q->removed));
    if (isfinite(q->hidden_snr_db))
        g_ptr_array_add(notes, g_strdup_printf(_("Hidden traces %.2f dB (%u)"), q->hidden_snr_db,
                                               q->hidden_traces));
    if (isfinite(q->snr_db))
        g_ptr_array_add(
            notes, g_strdup_printf(_("True SNR %.2f dB, gain %.2f dB"), q->snr_db, q->gain_db));
    if (*q->why)
        g_ptr_array_add(notes, g_strdup_printf(_("Note: %s"), q->why));
    g_ptr_array_add(notes, command_of(r));
    g_ptr_array_add(notes, NULL);
    return (char **)g_ptr_array_free(notes, FALSE);
}

static gboolean draw(Report *r, const char *name, GError **error)
{
    const LithoGrid *grid = &r->cube[INPUT]->grid;
    const gboolean is_cube = grid->axis[0].n > 1 && grid->axis[1].n > 1;
    r->sheet = litho_sheet_new(COLUMNS, is_cube ? 3 : 1);
    r->sheet->with_axes = TRUE;
    g_autofree char *area = litho_cli_area_text(&r->part.in->grid, r->part.area);
    r->sheet->title = g_strdup_printf("%s", name);
    r->sheet->caption = g_strdup_printf(_("lithoscope %s; %s%s"), LITHO_VERSION,
                                        r->part.is_all ? "" : _("a part: "), area);
    r->sheet->notes = notes_of(r);
    if (!is_cube)
        return draw_row(r, 0, grid->axis[0].n > 1 ? LITHO_XLINE : LITHO_INLINE, error);
    for (int axis = 0; axis < 3; axis++)
        if (!draw_row(r, axis, axis, error))
            return FALSE;
    return TRUE;
}

static gboolean make(Report *r, LithoRun *run, GError **error)
{
    const Options *o = r->o;
    const char *const reads[] = {o->trial.judge.reference, NULL}, *const writes[] = {o->json, NULL};
    LithoDevice device;
    if (!litho_cli_device(o->trial.backend, r->flow, &device, error) ||
        !litho_cli_files_check(&o->trial.files, r->flow, reads, writes, o->force, error))
        return FALSE;
    g_autoptr(LithoSurvey) survey =
        litho_survey_open((const char *const *)o->trial.files.in, &o->trial.open, run, error);
    if (!survey ||
        !litho_cli_flow_settle(r->flow, &o->trial.files, litho_survey_grid(survey), error) ||
        !litho_cli_part(survey, r->flow, &o->trial.judge, &o->trial.open, JUDGED_SAMPLES, run,
                        &r->part, error))
        return FALSE;
    LithoJudge *judge = litho_judge_new(device);
    LithoQualityAsk ask = litho_cli_ask(&o->trial.judge, &r->part, r->flow);
    gboolean ok = litho_judge_run(judge, &ask, run, &r->quality, error) &&
                  make_cubes(r, litho_judge_output(judge), run, error) &&
                  make_looks(r, run, error) && draw(r, litho_survey_name(survey), error);
    litho_judge_free(judge);
    if (ok)
        litho_cli_print_quality(&r->quality, &r->part);
    ok = ok &&
         (!o->trial.files.out || litho_sheet_save(r->sheet, o->trial.files.out, o->force, error));
    if (!ok || !o->json)
        return ok;
    g_autofree char *command = command_of(r);
    JsonObject *figures = litho_cli_quality_json(&r->quality, &r->part, &o->trial.judge, r->flow,
                                                 litho_survey_name(survey));
    json_object_set_string_member(figures, "command", command);
    return litho_cli_save_json(figures, o->json, o->force, error);
}

static void report_clear(Report *r)
{
    for (int k = 0; k < KINDS; k++)
        litho_cube_unref(r->cube[k]);
    litho_sheet_free(r->sheet);
    litho_cli_part_clear(&r->part);
}

int litho_cli_report(int argc, char **argv)
{
    g_auto(Options) o = {.trial.judge.seed = 1};
    const GOptionEntry entries[] = {
        LITHO_CLI_INPUT(&o.trial.files, _("Survey to read; may be repeated")),
        LITHO_CLI_OUTPUT(&o.trial.files, _("Report: .pdf, .svg or .png")),
        {"json", 0, 0, G_OPTION_ARG_FILENAME, &o.json, _("Write the figures"), "FILE"},
        LITHO_CLI_TRIAL(&o.trial),
        {"force", 0, 0, G_OPTION_ARG_NONE, &o.force, _("Overwrite files"), NULL},
        {NULL},
    };
    g_autoptr(GOptionContext) context = litho_cli_options(
        _("OPERATOR|RECIPE.json [key=value ...] -i IN -o REPORT.pdf"),
        _("One page: slices through the middle of input, output, removed part and similarity, f-k "
          "of "
          "the output in dB below the input, the figures, the command that repeats it."),
        entries, litho_cli_open_group(&o.trial.open));
    GError *error = NULL;
    if (!g_option_context_parse(context, &argc, &argv, &error))
        return litho_cli_misused("report", error);
    if (argc < 2) {
        litho_refuse(&error, LITHO_ERROR_PARAMETER, "an operator or a recipe is needed");
        return litho_cli_misused("report", error);
    }
    g_autoptr(LithoFlow) flow = litho_cli_flow(argv + 1, &o.trial.files, TRUE, &error);
    if (flow && (!o.trial.files.in || (!o.trial.files.out && !o.json)))
        litho_refuse(&error, LITHO_ERROR_PARAMETER,
                     "-i IN and -o REPORT.pdf or --json FILE are needed");
    if (error)
        return litho_cli_misused("report", error);
    LithoRun run;
    LithoCliProgress progress;
    if (!litho_cli_trial_begin(&o.trial, &run, &progress, &error))
        return litho_cli_misused("report", error);
    Report report = {.o = &o, .flow = flow};
    const gboolean ok = make(&report, &run, &error);
    report_clear(&report);
    litho_cli_progress_end(&progress);
    if (ok && o.trial.files.out)
        litho_cli_wrote(&progress, o.trial.files.out);
    return ok ? LITHO_EXIT_OK : litho_cli_fail(error);
}
