// SPDX-License-Identifier: GPL-3.0-or-later
//
// The report: a page with the slices on screen and the figures, and the same figures as JSON beside
// it.
#include "core/engine/probe.h"
#include "core/io/output.h"
#include "core/json.h"
#include "core/text.h"
#include "render/report_page.h"
#include "ui/window/window_private.h"

#include <string.h>

typedef struct Report {
    LithoWindow *window;
    LithoCube *input, *output, *truth; // truth NULL = none
    LithoFlow *flow;
    LithoDevice device;
    LithoQuality quality;
    LithoBeside *beside; // of these figures; NULL = they know no noise level
    gboolean known; // the figures are those of the panel; else they are made here
    LithoBox area;
    LithoNoise noise; // n 0 = not known
    double hide;
    guint32 seed;
    LithoSimilarityWidths widths;
    LithoLook look;
    gint64 slice[3];
    LithoInputs *inputs; // never replaced by the report
    gboolean replace;
    char *path, *json, *file, *truth_name, *command;
} Report;

static void report_free(gpointer data)
{
    Report *r = data;
    g_object_unref(r->window);
    litho_cube_unref(r->input);
    litho_cube_unref(r->output);
    litho_cube_unref(r->truth);
    litho_beside_unref(r->beside);
    litho_flow_free(r->flow);
    litho_noise_clear(&r->noise);
    litho_inputs_free(r->inputs);
    g_free(r->path);
    g_free(r->json);
    g_free(r->file);
    g_free(r->truth_name);
    g_free(r->command);
    g_free(r);
}

// --- in the job's thread ------------------------------------------------------------------------

static gboolean judge(Report *r, LithoRun *run, GError **error)
{
    LithoJudge *judge = litho_judge_new(r->device);
    if (r->noise.n == 0 && !litho_quality_noise(r->input, &r->area, run, &r->noise, NULL))
        r->noise = (LithoNoise){0};
    const LithoQualityAsk ask = {.flow = r->flow,
                                 .in = r->input,
                                 .area = r->area,
                                 .noise = r->noise.n > 0 ? &r->noise : NULL,
                                 .reference = r->truth,
                                 .hide = r->hide,
                                 .seed = r->seed,
                                 .similarity = TRUE,
                                 .widths = r->widths};
    const gboolean ok = litho_judge_run(judge, &ask, run, &r->quality, error);
    if (ok)
        r->beside = litho_judge_beside(judge);
    litho_judge_free(judge);
    return ok;
}

// The maps beside the noise of the slices that were judged; the page makes the others.
static gboolean make_maps(const Report *r, LithoRun *run, LithoCube *maps[3], GError **error)
{
    gboolean ok = TRUE;
    for (int axis = 0; ok && axis < 3; axis++) {
        const LithoBox slice = litho_box_slice(&r->input->grid, axis, r->slice[axis]);
        if (!litho_box_empty(litho_beside_part(r->beside, slice)))
            ok = litho_beside_map(r->beside, slice, &r->quality.widths, run, &maps[axis], error);
    }
    return ok;
}

static LithoSheet *draw_page(const Report *r, LithoCube *const maps[3], LithoRun *run,
                             GError **error)
{
    const LithoGrid *grid = &r->input->grid;
    g_autofree char *area = litho_quality_area_text(grid, r->area);
    const gboolean all = litho_box_equal(r->area, litho_box_full(grid));
    g_autofree char *caption = g_strdup_printf(all ? _("lithoscope %s; figures of %s")
                                                   : _("lithoscope %s; figures of a "
                                                       "part: %s"),
                                               LITHO_VERSION, area);
    const LithoReportPage page = {.in = r->input,
                                  .out = r->output,
                                  .beside = {maps[0], maps[1], maps[2]},
                                  .flow = r->flow,
                                  .quality = &r->quality,
                                  .slice = {r->slice[0], r->slice[1], r->slice[2]},
                                  .look = r->look,
                                  .title = r->input->name,
                                  .caption = caption,
                                  .file = r->file,
                                  .survey = grid,
                                  .command = r->command};
    return litho_report_page_draw(&page, run, error);
}

static LithoSheet *draw(const Report *r, LithoRun *run, GError **error)
{
    LithoCube *maps[3] = {NULL};
    LithoSheet *sheet = make_maps(r, run, maps, error) ? draw_page(r, maps, run, error) : NULL;
    for (int axis = 0; axis < 3; axis++)
        litho_cube_unref(maps[axis]);
    return sheet;
}

static gboolean save_json(const Report *r, GError **error)
{
    const LithoQualityRecord record = {.quality = &r->quality,
                                       .grid = &r->input->grid,
                                       .area = r->area,
                                       .noise = &r->noise,
                                       .hide = r->hide,
                                       .seed = r->seed,
                                       .input = r->input->name,
                                       .reference = r->truth_name,
                                       .flow = r->flow,
                                       .command = r->command,
                                       .slice = r->slice};
    g_autofree char *text = litho_json_object_text(litho_quality_record_json(&record));
    return litho_output_save(r->json, text, -1, r->replace ? LITHO_REPLACE_ANY : LITHO_REPLACE_NONE,
                             error);
}

// The figures are written first: where a file of their name is in the way, nothing is.
static gpointer work(LithoRun *run, gpointer data, GError **error)
{
    Report *r = data;
    if (!litho_cube_host(r->input, error) || !litho_cube_host(r->output, error) ||
        (r->truth && !litho_cube_host(r->truth, error)) || (!r->known && !judge(r, run, error)))
        return NULL;
    g_autoptr(LithoSheet) sheet = draw(r, run, error);
    // The chooser has asked about replacing the page.
    const gboolean ok =
        sheet && save_json(r, error) && litho_sheet_save(sheet, r->path, TRUE, error);
    return ok ? r : NULL;
}

static void done(gpointer result, const GError *error, gpointer data)
{
    Report *r = data;
    if (!litho_window_end_job(r->window, error))
        return;
    if (result) {
        g_autofree char *page = g_path_get_basename(r->path), *json = g_path_get_basename(r->json);
        g_autofree char *folder = g_path_get_dirname(r->path);
        litho_window_notice(r->window, "Saved %s and %s in %s", page, json, folder);
    }
    litho_window_tell_done(r->window, result != NULL);
}

// --- the question -------------------------------------------------------------------------------

// "survey-report.pdf" -> "survey-report.json"
static char *json_path(const char *path)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, G_DIR_SEPARATOR);
    const int stem = dot && dot > slash ? (int)(dot - path) : (int)strlen(path);
    return g_strdup_printf("%.*s.json", stem, path);
}

// The panel's figures where they belong to the flow as it stands.
static void take_figures(Report *r)
{
    LithoWindow *self = r->window;
    gboolean fresh;
    const LithoQuality *q = litho_judgement_figures(self->judgement, &fresh);
    const LithoNoise *noise = litho_judgement_noise(self->judgement, r->area);
    const char *name = NULL;
    LithoCube *truth = litho_judgement_truth(self->judgement, &name);
    r->known = q && fresh && !litho_judgement_is_hiding(self->judgement);
    if (r->known) {
        LithoBeside *beside = litho_judgement_beside(self->judgement);
        r->quality = *q;
        r->beside = beside ? litho_beside_ref(beside) : NULL;
    }
    if (noise)
        r->noise = litho_noise_copy(noise);
    if (truth) {
        r->truth = litho_cube_ref(truth);
        r->truth_name = g_strdup(name);
    }
    r->hide = litho_judgement_hidden(self->judgement, &r->seed);
    r->widths = litho_judgement_widths(self->judgement);
}

// A sentence that says why there is no report; NULL = there is one.
static const char *why_not(LithoWindow *self)
{
    if (litho_window_is_busy(self))
        return _("Something is being opened or saved; cancel it or wait.");
    if (!litho_judgement_applies(self->session))
        return _("A report compares input and output; this flow has an output of another shape.");
    if (litho_session_progress(self->session, NULL))
        return _("The result is being computed; the report needs all of it.");
    if (!litho_session_output(self->session)) // it was stopped, or has failed
        return _("There is no result yet. Ctrl+Return computes it.");
    return NULL;
}

void litho_window_report(LithoWindow *self, const char *path)
{
    static const LithoJobFuncs funcs = {work, NULL, done, report_free};
    const char *why = why_not(self);
    if (why) {
        litho_window_show_error(self, why, NULL);
        return;
    }
    const LithoDisplay *d = litho_session_display(self->session);
    Report *r = g_new0(Report, 1);
    r->window = g_object_ref(self);
    r->input = litho_cube_ref(litho_session_input(self->session));
    r->output = litho_cube_ref(litho_session_output(self->session));
    r->flow = litho_flow_copy(litho_session_flow(self->session));
    r->device = litho_session_device(self->session);
    r->area = litho_judgement_area(self->session);
    take_figures(r);
    r->look = d->look;
    r->look.wiggle = LITHO_WIGGLE_OFF;
    r->look.no_density = FALSE;
    r->look.time_power = 0;
    r->look.agc = 0; // what is judged are the amplitudes as they are
    memcpy(r->slice, d->slice, sizeof r->slice);
    r->inputs = litho_window_inputs(self);
    r->path = g_strdup(path);
    r->json = json_path(path);
    r->replace = g_file_test(path, G_FILE_TEST_EXISTS);
    r->file = g_strdup(litho_open_file_path(self->file));
    r->command = litho_window_command(self);
    g_autofree char *base = g_path_get_basename(path);
    g_autofree char *sentence = g_strdup_printf(_("Saving %s"), base);
    litho_window_start_job(self, "report", sentence, &funcs, r);
}
