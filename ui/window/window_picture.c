// SPDX-License-Identifier: GPL-3.0-or-later
//
// The views on screen as a picture in a file.
#include "core/text.h"
#include "ui/window/window_private.h"

#include <string.h>

#include "render/picture.h"
#include "render/ticks.h"

typedef struct Picture {
    LithoWindow *window;
    LithoPicture picture;
    LithoCube *input, *output;             // owned, for picture.input/.output
    LithoModel *model;                     // owned, for a panel that shows it
    GPtrArray *input_parts, *output_parts; // of a cube beyond memory; or NULL
    GPtrArray *titles;                     // of the panels
    LithoInputs *inputs;                   // never replaced by the picture
    char *path, *title, *caption, *clip_note;
} Picture;

static void picture_free(gpointer data)
{
    Picture *p = data;
    g_object_unref(p->window);
    litho_cube_unref(p->input);
    litho_cube_unref(p->output);
    litho_model_unref(p->model);
    litho_inputs_free(p->inputs);
    g_ptr_array_unref(p->titles);
    g_clear_pointer(&p->input_parts, g_ptr_array_unref);
    g_clear_pointer(&p->output_parts, g_ptr_array_unref);
    g_free(p->path);
    g_free(p->title);
    g_free(p->caption);
    g_free(p->clip_note);
    g_free(p);
}

static gpointer picture_work(LithoRun *run, gpointer data, GError **error)
{
    Picture *p = data;
    p->picture.run = run;
    return litho_picture_save(&p->picture, p->path, error) ? p->path : NULL;
}

static void picture_done(gpointer result, const GError *error, gpointer data)
{
    Picture *p = data;
    if (!litho_window_end_job(p->window, error))
        return;
    if (result)
        litho_window_notice_saved(p->window, p->path);
    litho_window_tell_done(p->window, result != NULL);
}

// With a snapshot in the input's place the titles name it, and with the result of an earlier flow
// they say so; NULL = the picture's own title. `show` is what the panel shows to a person: an
// output alone is the picture's input, and yet an output.
static const char *title_of(LithoWindow *self, Picture *p, int axis, LithoShow show)
{
    const LithoDisplay *d = litho_session_display(self->session);
    if (!litho_session_reference_name(self->session) && !litho_session_shows_earlier(self->session))
        return NULL;
    g_autofree char *label = litho_session_show_label(self->session, show);
    g_autofree char *slice =
        axis == LITHO_VIEW_SCENE
            ? g_strdup("3-D")
            : litho_slice_label(litho_session_grid(self->session), axis, d->slice[axis], d->units);
    char *title = g_strdup_printf("%s, %s", label, slice);
    g_ptr_array_add(p->titles, title);
    return title;
}

// TRUE when the slice of `axis` is on screen beside the others: lines have one section only.
static gboolean is_beside(LithoCanvas *canvas, int axis)
{
    return axis == LITHO_VIEW_SCENE ||
           gtk_widget_get_visible(GTK_WIDGET(litho_canvas_view(canvas, axis)));
}

// The panels that are on screen: one maximised view, or all that lie beside each other.
static void add_panels(LithoWindow *self, Picture *p, gboolean both, LithoModel *model)
{
    LithoPicture *picture = &p->picture;
    const LithoDisplay *d = litho_session_display(self->session);
    LithoShow show = litho_session_shown(self->session), shows[2] = {show, show};
    LithoCanvas *canvas = litho_window_canvas(self);
    int only = litho_canvas_maximised(canvas);
    guint n = 1;
    if (!both)
        shows[0] = LITHO_SHOW_INPUT; // of the picture, which has one cube
    else if (show == LITHO_SHOW_SIDE) {
        shows[n - 1] = LITHO_SHOW_INPUT;
        shows[n++] = LITHO_SHOW_OUTPUT;
    }
    for (int axis = 0; axis < LITHO_N_VIEWS; axis++) {
        if (only >= 0 ? only != axis : !is_beside(canvas, axis))
            continue;
        if (axis == LITHO_VIEW_SCENE && model) {
            litho_picture_add_model(picture, model)->view =
                *litho_model_view_scene(litho_canvas_model(canvas));
            continue;
        }
        for (guint k = 0; k < (axis == LITHO_VIEW_SCENE ? 1 : n); k++) {
            LithoPanel *panel =
                axis == LITHO_VIEW_SCENE
                    ? litho_picture_add_scene(picture, shows[n - 1])
                    : litho_picture_add_slice(picture, axis, d->slice[axis], shows[k]);
            const LithoShow named = !both ? show : shows[axis == LITHO_VIEW_SCENE ? n - 1 : k];
            panel->title = title_of(self, p, axis, named);
            if (axis == LITHO_VIEW_SCENE) {
                panel->view = d->scene;
                memcpy(panel->view.index, d->slice, sizeof d->slice);
            } else {
                panel->slice = litho_session_slice_view(self->session, axis);
            }
        }
    }
    picture->columns = n == 2 && only >= 0 ? 2 : 0;
}

static gpointer copy_reference(gconstpointer cube, gpointer unused)
{
    (void)unused;
    return litho_cube_ref(cube);
}

// The cube that the views show as the output: of an earlier flow where the present one cannot be
// computed. NULL: there is none, or it is not whole. Borrowed.
static LithoCube *output_on_show(LithoSession *session)
{
    LithoCube *output = litho_session_output(session);
    const LithoResult *result = litho_session_result(session);
    const gboolean earlier = !output && litho_session_shows_earlier(session) && result->complete;
    return earlier ? g_ptr_array_index(result->parts, result->parts->len - 1) : output;
}

void litho_window_export(LithoWindow *self, const char *path)
{
    static const LithoJobFuncs funcs = {picture_work, NULL, picture_done, picture_free};
    LithoCube *input = litho_session_against(self->session);
    LithoCube *output = output_on_show(self->session);
    const gboolean earlier = litho_session_shows_earlier(self->session);
    const LithoResult *result = litho_session_result(self->session);
    guint64 stamp, dropped;
    const GPtrArray *pages = litho_session_pages(self->session, &stamp, &dropped);
    if (pages && result && result->parts->len > 0)
        output = g_ptr_array_index(result->parts, 0);
    if (!input && !output)
        return;
    if (litho_window_is_busy(self)) {
        litho_window_show_error(self, _("Something is being opened or saved; cancel it or wait."),
                                NULL);
        return;
    }
    if (!output && litho_session_shown(self->session) != LITHO_SHOW_INPUT) {
        litho_window_show_error(
            self, _("The result is not whole yet; wait for it, or show the input."), NULL);
        return;
    }
    Picture *p = g_new0(Picture, 1);
    gboolean both =
        input && output && output != input && litho_grid_matches(&input->grid, &output->grid);
    // A picture has one grid: of two, the one on screen.
    gboolean alone =
        !both && output && (!input || litho_session_shown(self->session) != LITHO_SHOW_INPUT);
    p->window = g_object_ref(self);
    p->input = litho_cube_ref(alone ? output : input);
    p->output = both ? litho_cube_ref(output) : NULL;
    p->titles = g_ptr_array_new_with_free_func(g_free);
    p->path = g_strdup(path);
    p->inputs = litho_window_inputs(self);
    p->title = g_strdup(p->input->name);
    const gboolean made = (both || alone) && !earlier; // by the command that stands below
    p->caption = made ? litho_window_short_command(self, NULL) : g_strdup("");
    double percent = litho_session_clip_percent(self->session);
    p->clip_note = percent >= 0 ? litho_text_printf("%.4g %%", percent) : NULL;
    litho_picture_init(&p->picture, p->input, p->output);
    if (pages) {
        const GPtrArray *parts = alone ? result->parts : pages;
        p->input_parts = g_ptr_array_copy((GPtrArray *)parts, copy_reference, NULL);
        p->output_parts = both ? g_ptr_array_copy(result->parts, copy_reference, NULL) : NULL;
        p->picture.input_parts = p->input_parts;
        p->picture.output_parts = p->output_parts;
    }
    p->picture.look = litho_session_display(self->session)->look;
    p->picture.style.units = litho_session_display(self->session)->units;
    p->picture.scale = 2;
    p->picture.title = p->title;
    p->picture.caption = made ? p->caption : NULL;
    p->picture.clip_note = p->clip_note;
    p->picture.unit = litho_session_unit(self->session); // static
    LithoModelView *shown = litho_canvas_model(litho_window_canvas(self));
    LithoModel *model = shown ? litho_model_view_model(shown) : NULL;
    p->model = model ? litho_model_ref(model) : NULL;
    add_panels(self, p, both, p->model);
    litho_window_start_job(self, "picture", _("Drawing the picture"), &funcs, p);
}
