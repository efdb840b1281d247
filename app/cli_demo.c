// SPDX-License-Identifier: GPL-3.0-or-later
//
// Demonstrations without a window: every frame of a script as a PNG.
#include <glib/gstdio.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli.h"
#include "app/cli_files.h"
#include "app/cli_flow.h"
#include "app/cli_open.h"
#include "app/progress.h"
#include "core/engine/engine.h"
#include "core/engine/find.h"
#include "core/engine/race_result.h"
#include "core/error.h"
#include "core/qc.h"
#include "core/qc_noise.h"
#include "core/show/script.h"
#include "core/text.h"
#include "render/picture.h"

enum { RAMP_FRAMES = 8 }; // of a step in which something moves, without --fps

typedef struct Demo {
    char *out, *size, *backend, *progress;
    double width, height, fps;
    int threads;
    gboolean force, list, no_races;
    LithoScript *script;
    LithoDevice device;
    LithoEngine *engine;
    LithoCube *in;         // what is open; or NULL
    LithoScriptCube shown; // what it was made from
    LithoFlow *found;      // what Find chose, until the script brings another flow; or NULL
    LithoFlow *found_for;  // the script's flow then
    LithoCube *result;     // of `result_flow`, whole; or NULL
    LithoFlow *result_flow;
    LithoRace *race; // that the step held; or NULL
    guint frames;
} Demo;

static void demo_clear(Demo *d)
{
    g_free(d->out);
    g_free(d->size);
    g_free(d->backend);
    g_free(d->progress);
    litho_script_free(d->script);
    litho_engine_free(d->engine);
    litho_cube_unref(d->in);
    litho_script_cube_clear(&d->shown);
    litho_flow_free(d->found);
    litho_flow_free(d->found_for);
    litho_cube_unref(d->result);
    litho_flow_free(d->result_flow);
    g_clear_pointer(&d->race, litho_race_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Demo, demo_clear)

// --- computing ----------------------------------------------------------------------------------

static gboolean open_cube(Demo *d, const LithoScriptStep *step, LithoRun *run, GError **error)
{
    if (litho_script_cube_equal(&step->cube, &d->shown))
        return TRUE;
    g_clear_pointer(&d->in, litho_cube_unref);
    g_clear_pointer(&d->result, litho_cube_unref);
    litho_script_cube_clear(&d->shown);
    if (!step->cube.synth && !step->cube.file)
        return TRUE;
    d->in = litho_script_cube_open(&step->cube, run, error);
    d->shown = litho_script_cube_copy(&step->cube);
    return d->in != NULL;
}

// The flow of that moment: the script's, or what Find made of it.
static LithoFlow *flow_at(Demo *d, const LithoScriptStep *step, double part)
{
    if (d->found && litho_flow_equal(step->flow, d->found_for))
        return litho_flow_copy(d->found);
    return litho_script_flow_at(step, part);
}

static gboolean compute(Demo *d, const LithoFlow *flow, LithoRun *run, GError **error)
{
    if (d->result && litho_flow_equal(flow, d->result_flow))
        return TRUE;
    g_clear_pointer(&d->result, litho_cube_unref);
    g_clear_pointer(&d->result_flow, litho_flow_free);
    d->result = litho_engine_run(d->engine, flow, d->in, NULL, run, error);
    d->result_flow = litho_flow_copy(flow);
    return d->result && litho_cube_host(d->result, error);
}

static gboolean find_better(Demo *d, const LithoFlow *flow, LithoRun *run, GError **error)
{
    guint at = 0;
    while (!litho_flow_step(flow, at)->enabled)
        at++;
    const LithoBox area = litho_quality_area(flow, d->in->held);
    LithoNoise noise = {0};
    if (!litho_quality_noise(d->in, &area, run, &noise, error))
        return FALSE;
    LithoFindAsk ask = {
        .quality = {.flow = flow, .in = d->in, .area = area, .noise = &noise, .seed = 1},
        .step = at,
        .seconds = 20};
    LithoFind find;
    LithoJudge *judge = litho_judge_new(d->device);
    gboolean good = litho_find(judge, &ask, run, &find, error);
    litho_judge_free(judge);
    litho_noise_clear(&noise);
    if (!good)
        return FALSE;
    litho_flow_free(d->found);
    litho_flow_free(d->found_for);
    d->found_for = litho_flow_copy(flow);
    d->found = litho_flow_copy(flow);
    LithoStep *step = litho_flow_step(d->found, at);
    litho_find_apply(&find, G_MAXUINT, step->op, step->params);
    return TRUE;
}

// --- races --------------------------------------------------------------------------------------

static gboolean add_lanes(Demo *d, const LithoScriptStep *step, const LithoFlow *flow,
                          GError **error)
{
    const gboolean cpu = !d->device.backend || d->device.backend == litho_backend_cpu();
    for (guint k = 0; k < step->lanes->len; k++) {
        const LithoScriptLane *lane = &g_array_index(step->lanes, LithoScriptLane, k);
        if (!litho_race_add(d->race, flow, lane->device, lane->threads, lane->settings, lane->label,
                            error))
            return FALSE;
    }
    if (step->lanes->len > 0)
        return TRUE;
    return cpu ? litho_race_add(d->race, flow, "cpu", 1, NULL, NULL, error) &&
                     litho_race_add(d->race, flow, "cpu", d->threads, NULL, NULL, error)
               : litho_race_add_usual(d->race, flow, error);
}

static gboolean hold_race(Demo *d, const LithoScriptStep *step, LithoRun *run, GError **error)
{
    g_autoptr(LithoFlow) flow = flow_at(d, step, 1);
    d->race = litho_race_new(d->in);
    d->race->pieces = 1;
    return add_lanes(d, step, flow, error) && litho_race_run(d->race, NULL, run, error);
}

// The divider stands between the results of the first two lanes that ran.
static gboolean race_cubes(const Demo *d, const LithoRaceLane *two[2])
{
    return d->race && litho_race_pair(d->race, two) &&
           litho_grid_same_shape(&two[0]->out->grid, &two[1]->out->grid);
}

static char *race_text(const Demo *d, const LithoRaceLane *const two[2])
{
    g_autofree char *sentence = litho_race_sentence(d->race);
    return g_strdup_printf(_("× %.3g   Left: %s, %.3g s. Right: %s, %.3g s. %s."),
                           litho_race_ratio(d->race), two[0]->label, 1e-3 * two[0]->ms,
                           two[1]->label, 1e-3 * two[1]->ms, sentence);
}

// --- drawing ------------------------------------------------------------------------------------

static void add_panel(LithoPicture *picture, const LithoScriptStep *step, const LithoGrid *grid,
                      int axis, double part)
{
    static const LithoShow shows[] = {LITHO_SHOW_INPUT, LITHO_SHOW_OUTPUT, LITHO_SHOW_REMOVED,
                                      LITHO_SHOW_SPLIT, LITHO_SHOW_SPLIT};
    // Without a second cube of the shape there is one thing to show, in the place of the input.
    LithoShow show = picture->output ? shows[step->show] : LITHO_SHOW_INPUT;
    if (axis == LITHO_SCRIPT_SCENE)
        litho_picture_add_scene(picture, show);
    else
        litho_picture_add_slice(picture, axis, litho_script_slice_at(step, grid, axis, part), show);
}

// Cubes of one shape are laid over each other; else the input or the result stands alone.
static void choose_cubes(const Demo *d, const LithoScriptStep *step, const LithoCube *two[2])
{
    two[0] = d->in;
    two[1] = d->result && d->result != d->in ? d->result : NULL;
    const gboolean comparable =
        two[0] && two[1] && litho_grid_same_shape(&two[0]->grid, &two[1]->grid);
    if (comparable || !two[1])
        return;
    if (step->show != LITHO_SCRIPT_INPUT || !two[0])
        two[0] = two[1];
    two[1] = NULL;
}

static gboolean set_colours(LithoPicture *picture, LithoRun *run, GError **error)
{
    LithoStats stats;
    if (!litho_qc_stats(picture->input, run, &stats, error))
        return FALSE;
    LithoRange range = litho_qc_range(picture->input, &stats, LITHO_CLIP_AUTO);
    litho_look_set_range(&picture->look, &range);
    picture->unit = range.unit;
    return TRUE;
}

static gboolean draw(Demo *d, const LithoScriptStep *step, double part, LithoRun *run,
                     GError **error)
{
    const LithoCube *cubes[2];
    const LithoRaceLane *two[2];
    LithoPicture picture;
    const gboolean raced = race_cubes(d, two);
    choose_cubes(d, step, cubes);
    for (int k = 0; raced && k < 2; k++)
        cubes[k] = two[k]->out;
    litho_picture_init(&picture, cubes[0], cubes[1]);
    if (!set_colours(&picture, run, error))
        return FALSE;
    picture.width = d->width;
    picture.height = d->height;
    picture.title = litho_text(*step->caption ? step->caption : d->script->title);
    picture.look.split = litho_script_split_at(step, part);
    picture.style.font_size = 11 * d->height / 600;
    g_autofree char *command = litho_flow_command(d->result_flow, NULL, "out.sgy");
    g_autofree char *verdict = raced ? race_text(d, two) : NULL;
    if (verdict || litho_flow_length(d->result_flow) == 1)
        picture.caption = verdict ? verdict : command;
    const LithoGrid *grid = &cubes[0]->grid;
    for (int axis = 0; axis < 4; axis++)
        if (step->view == LITHO_SCRIPT_ALL || step->view == (LithoScriptView)axis)
            add_panel(&picture, step, grid, axis, part);
    for (guint k = 0; raced && k < picture.n_panels; k++) {
        picture.panels[k].show = LITHO_SHOW_SPLIT;
        picture.look.split = 0.5;
    }
    g_autofree char *name = g_strdup_printf("frame-%05u.png", d->frames++);
    g_autofree char *path = g_build_filename(d->out, name, NULL);
    picture.run = run;
    picture.replace = d->force ? LITHO_REPLACE_ANY : LITHO_REPLACE_OWN;
    return litho_picture_save(&picture, path, error);
}

// --- playing ------------------------------------------------------------------------------------

static gboolean moves(const LithoScriptStep *step)
{
    gboolean still = step->ramps->len == 0 && step->split[0] == step->split[1];
    for (int a = 0; a < 3; a++)
        still &= step->slice[a][0] == step->slice[a][1];
    return !still;
}

static guint frames_of(const Demo *d, const LithoScriptStep *step)
{
    if (d->fps > 0)
        return MAX((guint)lround(step->dwell * d->fps), 1);
    return moves(step) ? RAMP_FRAMES : 1;
}

static gboolean play_step(Demo *d, const LithoScriptStep *step, LithoRun *run, GError **error)
{
    if (!open_cube(d, step, run, error))
        return FALSE;
    if (step->act == LITHO_SCRIPT_FIND && d->in) {
        g_autoptr(LithoFlow) flow = flow_at(d, step, 1);
        if (!find_better(d, flow, run, error))
            return FALSE;
    }
    g_clear_pointer(&d->race, litho_race_free);
    if (step->act == LITHO_SCRIPT_RACE && !d->no_races && !hold_race(d, step, run, error))
        return FALSE;
    const guint n = frames_of(d, step);
    for (guint k = 0; k < n; k++) {
        const double part = n > 1 ? (double)k / (n - 1) : 1;
        g_autoptr(LithoFlow) flow = flow_at(d, step, part);
        if (!compute(d, flow, run, error) || !draw(d, step, part, run, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean play(Demo *d, LithoRun *run, GError **error)
{
    if (g_mkdir_with_parents(d->out, 0777) != 0) {
        const int code = errno;
        g_set_error(error, G_IO_ERROR, g_io_error_from_errno(code),
                    _("the folder %s cannot be made: %s"), d->out, g_strerror(code));
        return FALSE;
    }
    d->engine = litho_engine_new(d->device);
    for (guint k = 0; k < d->script->steps->len; k++)
        if (!play_step(d, g_ptr_array_index(d->script->steps, k), run, error)) {
            if (!litho_error_is_cancelled(*error))
                g_prefix_error(error, _("step %u: "), k + 1);
            return FALSE;
        }
    return TRUE;
}

// --- the command --------------------------------------------------------------------------------

static int print_list(void)
{
    g_auto(GStrv) names = litho_script_names();
    for (char **name = names; *name; name++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *path = litho_script_find(*name, NULL);
        g_autoptr(LithoScript) script = path ? litho_script_load(path, &error) : NULL;
        printf("%-12s %s\n", *name, script ? litho_text(script->summary) : error->message);
    }
    return LITHO_EXIT_OK;
}

static gboolean check(Demo *d, char **words, GError **error)
{
    char tail;
    if (!words[0] || words[1])
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "one name from 'lithoscope-cli demo --list' is needed");
    if (!d->out)
        return litho_refuse(error, LITHO_ERROR_PARAMETER, "-o FOLDER is needed");
    if (d->size && (sscanf(d->size, "%lfx%lf%c", &d->width, &d->height, &tail) != 2 ||
                    !(d->width >= 64 && d->width <= 8192 && d->height >= 64 && d->height <= 8192)))
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "--size '%s' is not WIDTHxHEIGHT of 64 to 8192 pixels", d->size);
    if (!(d->fps >= 0 && d->fps <= 120))
        return litho_refuse(error, LITHO_ERROR_PARAMETER, "--fps must lie between 0 and 120");
    if (!litho_cli_threads(d->threads, error) ||
        !litho_cli_device(d->backend, NULL, &d->device, error))
        return FALSE;
    g_autofree char *path = litho_script_find(words[0], error);
    d->script = path ? litho_script_load(path, error) : NULL;
    return d->script != NULL;
}

int litho_cli_demo(int argc, char **argv)
{
    g_auto(Demo) d = {.width = 1280, .height = 720};
    const GOptionEntry entries[] = {
        {"list", 0, 0, G_OPTION_ARG_NONE, &d.list, _("Demonstrations there are"), NULL},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &d.out, _("Folder for the frames"), "FOLDER"},
        {"size", 0, 0, G_OPTION_ARG_STRING, &d.size, _("Size of a frame, 1280x720"),
         "WIDTHxHEIGHT"},
        {"fps", 0, 0, G_OPTION_ARG_DOUBLE, &d.fps,
         _("Frames a second of every step's time; without it one a step, eight where something "
           "moves"),
         "N"},
        {"no-races", 0, 0, G_OPTION_ARG_NONE, &d.no_races,
         _("Show the result where a race is held"), NULL},
        LITHO_CLI_DEVICE(&d.backend, &d.threads),
        {"force", 0, 0, G_OPTION_ARG_NONE, &d.force, _("Overwrite frames"), NULL},
        LITHO_CLI_PROGRESS(&d.progress),
        {NULL},
    };
    g_autoptr(GOptionContext) context = litho_cli_options(
        _("NAME|FILE.json -o FOLDER"), _("Plays a demonstration without a window: frames as PNG."),
        entries, NULL);
    g_option_context_set_description(
        context, _("Example: lithoscope-cli demo tour --fps 25 -o frames/ && ffmpeg -framerate 25 "
                   "-i frames/frame-%05d.png tour.mp4"));
    GError *error = NULL;
    if (!g_option_context_parse(context, &argc, &argv, &error))
        return litho_cli_misused("demo", error);
    if (d.list)
        return print_list();
    if (!check(&d, argv + 1, &error))
        return litho_cli_misused("demo", error);
    LithoRun run = {.threads = d.threads, .device = d.device.index};
    LithoCliProgress progress;
    if (!litho_cli_progress_init(&progress, d.progress ? d.progress : "auto", &run, &error))
        return litho_cli_misused("demo", error);
    gboolean good = play(&d, &run, &error);
    litho_cli_progress_end(&progress);
    if (!good)
        return litho_cli_fail(error);
    g_autofree char *wrote = g_strdup_printf(
        litho_text_plural("%u frame in %s", "%u frames in %s", d.frames), d.frames, d.out);
    litho_cli_wrote(&progress, wrote);
    return LITHO_EXIT_OK;
}
