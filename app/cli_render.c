// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli.h"
#include "app/cli_files.h"
#include "app/cli_open.h"
#include "app/cli_slices.h"
#include "app/progress.h"
#include "core/axis_names.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/qc.h"
#include "core/io/survey.h"
#include "core/text.h"
#include "render/picture.h"

enum { MOST_PIXELS = 32000 }; // that a cairo surface takes along an edge
#define MOST_GAIN 1e6
#define NO_CLIP (-G_MAXDOUBLE) // the automatic one

typedef struct Render {
    LithoOpenOptions open;
    LithoCliFiles files;
    char *against, *colormap, *size, *title, *progress;
    LithoCliSlices slices; // each may be given several times
    double clip, scale, gain, power;
    int agc;
    gboolean scene, wiggle, grid, nearest, cpu, force;
    double width, height; // from --size
    const LithoColormap *map;
} Render;

// --- which slices -------------------------------------------------------------------------------

static GArray *wanted_slices(const Render *r, const LithoGrid *grid, GError **error)
{
    g_autoptr(GArray) wanted = litho_cli_slices_find(&r->slices, grid, error);
    if (!wanted)
        return NULL;
    if (wanted->len == 0 && !r->scene) { // nothing said: the middle line
        LithoCliSlice w = {.axis = grid->axis[0].n > 1 || grid->axis[1].n > 1 ? LITHO_INLINE
                                                                              : LITHO_XLINE,
                           .index = grid->axis[0].n / 2};
        g_array_append_val(wanted, w);
    }
    guint panels = (wanted->len + (r->scene != 0)) * (r->against ? 3 : 1);
    if (panels > LITHO_PICTURE_PANELS) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                    _("%u panels were asked for; a picture holds %d"), panels,
                    LITHO_PICTURE_PANELS);
        return NULL;
    }
    return g_steal_pointer(&wanted);
}

// --- data ---------------------------------------------------------------------------------------

enum { WHOLE_BYTES = 1 << 30 }; // read and counted in seconds

// A survey that is soon read and fits is read whole, so that the clip is the whole cube's; of
// another one the smallest box around the slices.
static LithoBox box_to_read(const LithoGrid *grid, const GArray *wanted, gboolean scene,
                            int n_files)
{
    LithoBox full = litho_box_full(grid), box = {0};
    const guint64 bytes = (guint64)litho_box_count(full) * 4 * n_files;
    if (scene || (bytes < WHOLE_BYTES && bytes < litho_memory_available() / 3))
        return full;
    for (guint k = 0; k < wanted->len; k++) {
        const LithoCliSlice *w = &g_array_index(wanted, LithoCliSlice, k);
        box = litho_box_union(box, litho_box_slice(grid, w->axis, w->index));
    }
    return box;
}

static LithoSurvey *open_one(const Render *r, const char *path, LithoRun *run, GError **error)
{
    const char *paths[] = {path, NULL};
    return litho_survey_open(paths, &r->open, run, error);
}

static LithoCube *read_against(const Render *r, const LithoGrid *grid, const LithoBox *box,
                               LithoRun *run, GError **error)
{
    g_autoptr(LithoSurvey) survey = open_one(r, r->against, run, error);
    if (!survey)
        return NULL;
    const LithoAxis *a = grid->axis, *b = litho_survey_grid(survey)->axis;
    if (!litho_grid_same_shape(grid, litho_survey_grid(survey))) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
                    _("%s has %" PRId64 " x %" PRId64 " x %" PRId64
                      " samples; the first file has %" PRId64 " x %" PRId64 " x %" PRId64),
                    r->against, b[0].n, b[1].n, b[2].n, a[0].n, a[1].n, a[2].n);
        return NULL;
    }
    g_autofree char *axes = litho_axes_tell_others(grid, litho_survey_grid(survey));
    if (axes)
        fprintf(stderr, _("note: %s\n"), axes);
    return litho_survey_read(survey, box, run, error);
}

// One clip for all panels.
static gboolean choose_range(const Render *r, LithoPicture *picture, LithoRun *run, char *note,
                             gsize note_size, GError **error)
{
    LithoStats stats;
    const LithoCube *cube = picture->input;
    if (!litho_qc_stats(cube, run, &stats, error))
        return FALSE;
    LithoRange range = litho_qc_range(cube, &stats, r->clip == NO_CLIP ? LITHO_CLIP_AUTO : r->clip);
    litho_look_set_range(&picture->look, &range);
    picture->unit = range.unit;
    if (r->map)
        picture->look.map = r->map;
    gboolean part = !litho_box_equal(cube->held, litho_box_full(&cube->grid));
    g_snprintf(note, note_size, part ? _("%.4g %% of this part") : "%.4g %%", range.percent);
    picture->clip_note = note;
    return TRUE;
}

// --- picture ------------------------------------------------------------------------------------

// "Inline 1130, fx.sgy"; owned by `keep`, the picture borrows it.
static const char *panel_title(GPtrArray *keep, const LithoGrid *grid, const LithoCliSlice *w,
                               const char *which)
{
    char *label =
        w ? litho_slice_label(grid, w->axis, w->index, LITHO_UNITS_AUTO) : g_strdup("3-D");
    label[0] = g_ascii_toupper(label[0]);
    char *title = g_strdup_printf("%s, %s", label, which);
    g_free(label);
    g_ptr_array_add(keep, title);
    return title;
}

static void add_panels(const Render *r, LithoPicture *picture, const GArray *wanted,
                       GPtrArray *titles)
{
    static const LithoShow shows[] = {LITHO_SHOW_INPUT, LITHO_SHOW_OUTPUT, LITHO_SHOW_REMOVED};
    const char *const which[] = {picture->input->name, picture->output ? picture->output->name : "",
                                 "difference"};
    int n = r->against ? 3 : 1;
    for (guint k = 0; k < wanted->len + (r->scene ? 1 : 0); k++)
        for (int s = 0; s < n; s++) {
            const LithoCliSlice *w =
                k < wanted->len ? &g_array_index(wanted, LithoCliSlice, k) : NULL;
            LithoPanel *panel = w ? litho_picture_add_slice(picture, w->axis, w->index, shows[s])
                                  : litho_picture_add_scene(picture, shows[s]);
            if (r->against)
                panel->title = panel_title(titles, &picture->input->grid, w, which[s]);
        }
    picture->columns = r->against ? 3 : 0;
}

static gboolean draw(const Render *r, const LithoCube *cube, const LithoCube *other,
                     const GArray *wanted, LithoRun *run, GError **error)
{
    LithoPicture picture;
    char note[64];
    litho_picture_init(&picture, cube, other);
    if (!choose_range(r, &picture, run, note, sizeof note, error))
        return FALSE;
    g_autofree char *title =
        other ? g_strdup_printf(_("%s against %s"), cube->name, other->name) : g_strdup(cube->name);
    picture.width = r->width;
    picture.height = r->height;
    picture.scale = r->scale;
    picture.title = r->title ? r->title : title;
    picture.with = r->cpu ? LITHO_DRAW_CPU : LITHO_DRAW_AUTO;
    picture.look.removed_gain = r->gain;
    picture.look.time_power = r->power;
    picture.look.agc = r->agc;
    picture.look.wiggle = r->wiggle ? LITHO_WIGGLE_FILL : LITHO_WIGGLE_OFF;
    picture.look.grid_lines = r->grid;
    picture.look.nearest = r->nearest;
    g_autoptr(GPtrArray) titles = g_ptr_array_new_with_free_func(g_free);
    add_panels(r, &picture, wanted, titles);
    picture.run = run;
    picture.replace = r->force ? LITHO_REPLACE_ANY : LITHO_REPLACE_NONE;
    return litho_picture_save(&picture, r->files.out, error);
}

static gboolean render(const Render *r, const char *path, LithoRun *run, GError **error)
{
    const char *reads[3] = {NULL};
    int n = 0;
    if (r->against)
        reads[n++] = r->against;
    if (r->colormap)
        reads[n++] = r->colormap; // the name of a built-in map is no file
    if (!litho_cli_files_check(&r->files, NULL, reads, NULL, r->force, error))
        return FALSE;
    g_autoptr(LithoSurvey) survey = open_one(r, path, run, error);
    if (!survey)
        return FALSE;
    const LithoGrid *grid = litho_survey_grid(survey);
    g_autoptr(GArray) wanted = wanted_slices(r, grid, error);
    if (!wanted)
        return FALSE;
    LithoBox box = box_to_read(grid, wanted, r->scene, r->against ? 2 : 1);
    g_autoptr(LithoCube) cube = litho_survey_read(survey, &box, run, error);
    if (!cube)
        return FALSE;
    g_autoptr(LithoCube) other = NULL;
    if (r->against && !(other = read_against(r, grid, &box, run, error)))
        return FALSE;
    return draw(r, cube, other, wanted, run, error);
}

// --- words --------------------------------------------------------------------------------------

static gboolean check(Render *r, char **words, GError **error)
{
    char rest;
    if (!litho_cli_files_add(&r->files, words, 1, TRUE, error))
        return FALSE;
    if (!r->files.in || !r->files.out)
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "a file and a picture to draw are needed: -i FILE -o OUT.png");
    if (r->size && (sscanf(r->size, "%lfx%lf%c", &r->width, &r->height, &rest) != 2 ||
                    !(r->width >= 100 && r->width <= MOST_PIXELS) ||
                    !(r->height >= 80 && r->height <= MOST_PIXELS))) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                    _("--size %s: width x height in pixels, 100x80 to %dx%d"), r->size, MOST_PIXELS,
                    MOST_PIXELS);
        return FALSE;
    }
    if (r->clip != NO_CLIP && !(r->clip > 0 && r->clip <= 100)) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER, _("--clip %g: 0 to 100 %%"),
                    r->clip);
        return FALSE;
    }
    if (!(r->scale >= 0.5 && r->scale <= 8) || !(r->gain > 0 && r->gain <= MOST_GAIN)) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                    _("--scale is 0.5 to 8 and --difference-gain above 0, up to %g"), MOST_GAIN);
        return FALSE;
    }
    if (r->agc < 0 || r->agc > 100000 || !(r->power >= 0 && r->power <= 4) ||
        (r->agc > 0 && r->power > 0)) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                    _("--agc is a window of samples and --time-gain a power of 0 to 4; one of "
                      "them is enough"));
        return FALSE;
    }
    return litho_cli_slices_check(&r->slices, G_MAXUINT, error) &&
           (!r->colormap || (r->map = litho_colormap_get(r->colormap, error)) != NULL);
}

static void render_clear(Render *r)
{
    litho_cli_files_clear(&r->files);
    g_free(r->against);
    g_free(r->colormap);
    g_free(r->size);
    g_free(r->title);
    g_free(r->progress);
    litho_cli_slices_clear(&r->slices);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Render, render_clear)

static GOptionContext *options(Render *r)
{
    const GOptionEntry entries[] = {
        LITHO_CLI_INPUT(&r->files, _("Survey to draw")),
        LITHO_CLI_OUTPUT(&r->files, _("Picture: .png, .pdf or .svg")),
        LITHO_CLI_SLICES(&r->slices, _("Inline section; may be repeated, each slice is a panel")),
        {"scene", 0, 0, G_OPTION_ARG_NONE, &r->scene, _("The 3-D scene (needs OpenGL)"), NULL},
        {"against", 0, 0, G_OPTION_ARG_FILENAME, &r->against,
         _("Second file: both and their difference, one clip"), "FILE2"},
        {"difference-gain", 0, 0, G_OPTION_ARG_DOUBLE, &r->gain,
         _("Shows the difference enlarged (default 1)"), "X"},
        {"agc", 0, 0, G_OPTION_ARG_INT, &r->agc,
         _("Automatic gain of the sections over so many samples (default none)"), "SAMPLES"},
        {"time-gain", 0, 0, G_OPTION_ARG_DOUBLE, &r->power,
         _("Amplitudes times this power of time or depth (default none)"), "POWER"},
        {"clip", 0, 0, G_OPTION_ARG_DOUBLE, &r->clip,
         _("Percentile of amplitude at the end of the colours (default 99; of quiet records, 99 % "
           "of what is loud)"),
         "PCT"},
        {"colormap", 0, 0, G_OPTION_ARG_STRING, &r->colormap,
         _("Name, or a CSV file with rows r,g,b"), "NAME"},
        {"size", 0, 0, G_OPTION_ARG_STRING, &r->size, _("Size (default 1280x800)"), "WxH"},
        {"scale", 0, 0, G_OPTION_ARG_DOUBLE, &r->scale, _("Pixels per unit of size in PNG"), "S"},
        {"title", 0, 0, G_OPTION_ARG_STRING, &r->title, _("Title (default: file names)"), "TEXT"},
        {"wiggle", 0, 0, G_OPTION_ARG_NONE, &r->wiggle, _("Wiggles over the sections"), NULL},
        {"grid", 0, 0, G_OPTION_ARG_NONE, &r->grid, _("Grid lines at the ticks"), NULL},
        {"nearest", 0, 0, G_OPTION_ARG_NONE, &r->nearest, _("Cells without interpolation"), NULL},
        {"cpu", 0, 0, G_OPTION_ARG_NONE, &r->cpu, _("Draw without OpenGL"), NULL},
        {"force", 0, 0, G_OPTION_ARG_NONE, &r->force, _("Replace an existing picture"), NULL},
        LITHO_CLI_PROGRESS(&r->progress),
        {NULL},
    };
    g_autofree char *names = litho_colormap_names();
    g_autofree char *maps = g_strdup_printf(
        _("Example: lithoscope-cli render survey.sgy --inline 1050 --time 600ms -o look.png\n\n"
          "Colour maps: %s."),
        names);
    GOptionContext *context = litho_cli_options(
        _("-i FILE -o OUT"),
        _("Draws slices of a survey, or its 3-D scene, with axes and colour bar. Without a "
          "slice: the middle inline."),
        entries, litho_cli_open_group(&r->open));
    g_option_context_set_description(context, maps);
    return context;
}

int litho_cli_render(int argc, char **argv)
{
    g_auto(Render) r = {.clip = NO_CLIP, .scale = 1, .gain = 1, .width = 1280, .height = 800};
    g_autoptr(GOptionContext) context = options(&r);
    GError *error = NULL;
    if (!g_option_context_parse(context, &argc, &argv, &error) || !check(&r, argv + 1, &error))
        return litho_cli_misused("render", error);
    LithoRun run = {0};
    LithoCliProgress progress;
    if (!litho_cli_progress_init(&progress, r.progress ? r.progress : "auto", &run, &error))
        return litho_cli_misused("render", error);
    gboolean good = render(&r, r.files.in[0], &run, &error);
    litho_cli_progress_end(&progress);
    if (good)
        litho_cli_wrote(&progress, r.files.out);
    return good ? LITHO_EXIT_OK : litho_cli_fail(error);
}
