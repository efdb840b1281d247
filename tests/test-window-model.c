// SPDX-License-Identifier: GPL-3.0-or-later
//
// The operator's model in the 3-D view: shapes that an operator made for the test tells
// (gui/teller.h), and boundaries of tip-wave models that are dragged.
#include <string.h>

#include "tests/gui/files.h"
#include "tests/gui/keys.h"
#include "tests/gui/teller.h"
#include "ui/view/cube_view_private.h"
#include "ui/window/window_private.h"

static Gui gui;

static LithoCanvas *canvas(void)
{
    return litho_window_canvas(gui.window);
}

// Property: where an operator tells shapes, the 3-D panel can show them, and only those spaces that
// there are; the panel goes back to the data when the operator goes, and comes back with it.
static void test_model(void)
{
    litho_window_open_demo(gui.window);
    g_assert_true(gui_wait(gui_has_input, &gui, 60));
    gui_use_operator(&gui, litho_operator_find("template"));
    g_assert_true(gui_wait(gui_has_output, &gui, 60));
    gui_settle(&gui);
    gui_activate(&gui, "win.model");
    g_assert_null(litho_canvas_model(canvas())); // nothing told: nothing to switch to
    gui_use_operator(&gui, &gui_teller);
    g_assert_true(gui_wait(gui_has_output, &gui, 60));
    gui_settle(&gui);
    gui_screenshot(&gui, "model-switch");
    g_autoptr(GdkTexture) data = gui_picture(&gui);
    gui_activate(&gui, "win.model");
    LithoModelView *view = litho_canvas_model(canvas());
    g_assert_nonnull(view);
    gui_spin(&gui, 0.3);
    const LithoModel *model = litho_model_view_model(view);
    g_assert_cmpint(model->space, ==, LITHO_SPACE_MODEL);
    g_assert_cmpuint(model->legend->len, ==, 4);
    GtkSettings *settings = gtk_widget_get_settings(GTK_WIDGET(view));
    int usual;
    g_object_get(settings, "gtk-xft-dpi", &usual, NULL);
    g_object_set(settings, "gtk-xft-dpi", 2 * 96 * 1024, NULL);
    litho_model_view_fit(view);
    g_assert_cmpfloat(litho_model_view_scene(view)->text, ==, 2); // room for larger letters
    g_object_set(settings, "gtk-xft-dpi", usual, NULL);
    litho_model_view_fit(view);
    gui_screenshot(&gui, "model-shapes");
    g_autoptr(GdkTexture) earth = gui_picture(&gui);
    g_assert_cmpfloat(gui_difference(&gui, data, earth), >, 0.03);
    gui_activate(&gui, "win.model");
    g_assert_cmpint(litho_model_view_model(view)->space, ==, LITHO_SPACE_FREQUENCY);
    gui_spin(&gui, 0.3);
    gui_screenshot(&gui, "model-boxes");
    gui_activate(&gui, "win.maximise(3)");
    gui_spin(&gui, 0.3);
    gui_screenshot(&gui, "model-boxes-large");
    gui_activate(&gui, "win.maximise(3)");
    gui_use_operator(&gui, litho_operator_find("template"));
    g_assert_null(litho_canvas_model(canvas()));
    gui_use_operator(&gui, &gui_teller);
    g_assert_true(gui_wait(gui_has_output, &gui, 60));
    g_assert_nonnull(litho_canvas_model(canvas()));
}

// Property: moving a parameter changes the shapes and keeps the camera; turning by keys changes the
// camera and computes nothing.
static void test_model_follows(void)
{
    LithoModelView *view = litho_canvas_model(canvas());
    gui_settle(&gui);
    litho_model_view_zoom(view, 1.2);
    LithoCamera camera = litho_model_view_scene(view)->camera;
    g_autoptr(GdkTexture) before = gui_picture(&gui);
    gui_set_param(&gui, &gui_teller, "threshold", 1);
    gui_settle(&gui);
    g_autoptr(GdkTexture) after = gui_picture(&gui);
    g_assert_cmpmem(&camera, sizeof camera, &litho_model_view_scene(view)->camera, sizeof camera);
    g_assert_cmpfloat(gui_difference(&gui, before, after), >, 0.01);
    guint64 generation = litho_session_result(gui.session)->generation;
    guint64 frames = litho_canvas_frames(canvas());
    for (int k = 0; k < 10; k++) {
        litho_model_view_zoom(view, 1.02);
        gui_spin(&gui, 0.03);
    }
    g_assert_cmpuint(litho_canvas_frames(canvas()), >=, frames + 5);
    g_assert_cmpuint(litho_session_result(gui.session)->generation, ==, generation);
    gui_activate(&gui, "win.fit");
}

// Property: where a section fills the window, the model comes beside it when it is asked for.
static void test_model_beside(void)
{
    gui_activate(&gui, "win.maximise(0)");
    g_assert_cmpint(litho_canvas_maximised(canvas()), ==, LITHO_INLINE);
    gui_activate(&gui, "win.model");
    g_assert_cmpint(litho_canvas_maximised(canvas()), ==, -1);
    g_assert_nonnull(litho_canvas_model(canvas()));
    g_assert_true(gtk_widget_get_mapped(GTK_WIDGET(litho_canvas_model(canvas()))));
}

static char *depths_text(void)
{
    const LithoStep *step = litho_flow_step(litho_session_flow(gui.session), 0);
    return litho_param_print(litho_param_find(&step->op->params, "depths"), step->params);
}

// Property: the start page is whole beside an operator's panel in a window of 1100 points.
static void test_start_page(void)
{
    GtkWidget *left = litho_panels_get(gui.window->panels, LITHO_PANEL_LEFT);
    GtkWidget *page = litho_start_page_widget(litho_middle_start(gui.window->middle));
    GtkWidget *viewport = gtk_scrolled_window_get_child(GTK_SCROLLED_WINDOW(page));
    GtkWidget *all = gtk_viewport_get_child(GTK_VIEWPORT(viewport));
    int least;
    gtk_widget_measure(all, GTK_ORIENTATION_HORIZONTAL, -1, &least, NULL, NULL, NULL);
    g_test_message("%d points, the panel %d", least, gtk_widget_get_width(left));
    g_assert_true(gtk_widget_get_mapped(page));
    g_assert_cmpint(least + gtk_widget_get_width(left), <=, 1090);
}

// Property: with no file open, too, the panel says why a modelling is refused, which needs none; of
// a filter nothing is asked yet.
static void test_refused_alone(void)
{
    static const char *const depths[] = {"fmax=8", "depths=300,600", NULL};
    GtkWidget *left = litho_panels_get(gui.window->panels, LITHO_PANEL_LEFT);
    g_assert_null(litho_session_input(gui.session));
    gui_use_flow(&gui, "twsm", depths);
    gui_spin(&gui, 0.3);
    g_assert_true(gui_label_says(left, "'600' is one entry too many"));
    g_assert_true(gui_label_says(left, "There is no result."));
    gui_screenshot(&gui, "model-refused-alone");
    test_start_page();
    gui_use_operator(&gui, litho_operator_find("fx"));
    gui_spin(&gui, 0.3);
    g_assert_false(gui_label_says(left, "There is no result."));
}

static LithoModelView *show_earth(void)
{
    for (int k = 0; k < 3; k++) {
        LithoModelView *view = litho_canvas_model(canvas());
        if (view && litho_model_view_model(view) &&
            litho_model_view_model(view)->space == LITHO_SPACE_MODEL)
            return view;
        gui_activate(&gui, "win.model");
        gui_spin(&gui, 0.2);
    }
    g_assert_not_reached();
}

// Property: a modelled line beside a cube that is open is named as what it is, with its own sizes,
// and has the views of a line; its input again is the file.
static void test_title(void)
{
    g_autofree char *file = g_strdup(litho_header_title(gui.window->header));
    GtkWidget *across = GTK_WIDGET(litho_canvas_view(canvas(), LITHO_XLINE));
    g_assert_true(gtk_widget_get_mapped(across));
    gui_use_operator(&gui, litho_operator_find("twsm"));
    g_assert_true(gui_wait(gui_has_output, &gui, 60));
    gui_settle(&gui);
    g_assert_cmpstr(litho_header_title(gui.window->header), ==, "Tip-wave modelling");
    g_assert_true(gui_label_says(litho_header_widget(gui.window->header), "1 × 41 × "));
    g_assert_false(gtk_widget_get_mapped(across));
    litho_session_show(gui.session, LITHO_SHOW_INPUT);
    gui_settle(&gui);
    g_assert_cmpstr(litho_header_title(gui.window->header), ==, file);
    litho_session_show(gui.session, LITHO_SHOW_OUTPUT);
    gui_use_operator(&gui, &gui_teller);
    g_assert_true(gui_wait(gui_has_output, &gui, 60));
    gui_settle(&gui);
    g_assert_cmpstr(litho_header_title(gui.window->header), ==, file);
    g_assert_true(gtk_widget_get_mapped(across));
}

// Property: a boundary of a model is dragged in its picture: the parameter follows the hand, the
// traces follow the parameter, the camera stays; the whole drag, a pause in it too, is undone as
// one, and then the traces are those of before. Page Up and Page Down do it by keys.
static void test_grip(void)
{
    double x, y, at, there;
    gui_use_operator(&gui, litho_operator_find("twsm"));
    const LithoStep *step = litho_flow_step(litho_session_flow(gui.session), 0);
    litho_session_set_param(gui.session, 0, litho_param_find(&step->op->params, "fmax"), 8, NULL,
                            NULL);
    g_assert_true(gui_wait(gui_has_output, &gui, 60));
    gui_settle(&gui);
    LithoModelView *view = show_earth();
    g_autoptr(LithoCube) before = litho_cube_ref(litho_session_output(gui.session));
    g_assert_nonnull(litho_model_view_grip(view, &x, &y, &at));
    g_assert_cmpfloat(at, ==, 1000);
    const LithoCamera camera = litho_model_view_scene(view)->camera;
    const guint steps = litho_history_length(litho_session_history(gui.session), FALSE);
    g_assert_false(litho_model_view_hold(view, x + 200, y));
    g_assert_true(litho_model_view_hold(view, x, y));
    for (int k = 1; k <= 6; k++) {
        litho_model_view_drag(view, 0, -4 * k);
        gui_spin(&gui, k == 3 ? 1.8 : 0.06);
    }
    gui_screenshot(&gui, "model-grip");
    litho_model_view_release(view);
    gui_settle(&gui);
    litho_model_view_grip(view, &x, &y, &there);
    g_autofree char *text = depths_text();
    g_test_message("dragged to %g m: depths=%s", there, text);
    g_assert_cmpfloat(there, <, 980);
    g_assert_cmpfloat(g_ascii_strtod(text, NULL), ==, there);
    g_assert_cmpmem(&camera, sizeof camera, &litho_model_view_scene(view)->camera, sizeof camera);
    g_assert_cmpuint(litho_history_length(litho_session_history(gui.session), FALSE), ==,
                     steps + 1);
    const gsize bytes = litho_box_count(before->held) * sizeof(float);
    g_assert_cmpint(memcmp(litho_cube_host(litho_session_output(gui.session), NULL),
                           litho_cube_host(before, NULL), bytes),
                    !=, 0);
    gui_activate(&gui, "win.undo");
    g_assert_true(gui_wait(gui_has_output, &gui, 60));
    gui_settle(&gui);
    g_autofree char *back = depths_text();
    g_assert_cmpstr(back, ==, "");
    gui_assert_same(before, litho_session_output(gui.session));
    gtk_widget_grab_focus(GTK_WIDGET(view));
    if (gui_can_type()) {
        gui_type_into(&gui, NULL, "key Next", 0.5);
        gui_type_into(&gui, NULL, "key shift+Prior", 0.5);
        g_autofree char *typed = depths_text();
        g_assert_cmpstr(typed, ==, "1009");
    }
    gui_settle(&gui);
    gui_use_operator(&gui, &gui_teller);
    g_assert_true(gui_wait(gui_has_output, &gui, 60));
    gui_settle(&gui);
}

static void assert_velocity(const char *wanted)
{
    const LithoStep *step = litho_flow_step(litho_session_flow(gui.session), 0);
    const LithoParam *row = litho_param_find(&step->op->params, "velocity");
    g_autofree char *text = litho_param_print(row, step->params);
    g_assert_cmpstr(text, ==, wanted);
}

// Property: a velocity that lies beside the survey is offered while a migration has its default,
// once, and is taken by one click; nobody is asked where there is none, or another one was chosen.
static void test_velocity_beside(void)
{
    const LithoOperator *migrate = litho_operator_find("migrate");
    g_autofree char *line = gui_write_cube(&gui, "line.sgy", 1, 24, 40);
    g_autofree char *alone = gui_write_cube(&gui, "alone.sgy", 1, 24, 40);
    g_autofree char *velocity = gui_write_cube(&gui, "line-velocity.sgy", 1, 24, 40);
    LithoBar *bar = litho_tellers_velocity(gui.window->tellers);
    gui_use_operator(&gui, litho_operator_find("template"));
    gui_open_file(&gui, line);
    g_assert_null(litho_bar_text(bar)); // no migration
    gui_use_operator(&gui, migrate);
    g_assert_nonnull(strstr(litho_bar_text(bar), "line-velocity.sgy lies beside the survey"));
    g_assert_nonnull(strstr(litho_bar_text(bar), "2000 m/s"));
    gui_screenshot(&gui, "velocity-beside");
    litho_bar_hide(bar); // as a person closes it
    gui_set_param(&gui, migrate, "degree", 11);
    g_assert_null(litho_bar_text(bar));
    gui_use_operator(&gui, litho_operator_find("template"));
    gui_use_operator(&gui, migrate);
    g_assert_nonnull(litho_bar_text(bar));
    gui_activate(&gui, "win.use-velocity");
    assert_velocity(velocity);
    g_assert_null(litho_bar_text(bar));
    gui_activate(&gui, "win.undo");
    assert_velocity("2000");
    g_assert_nonnull(litho_bar_text(bar));
    gui_open_file(&gui, alone);
    g_assert_null(litho_bar_text(bar));
    gui_use_operator(&gui, litho_operator_find("template"));
}

static char *export_svg(const char *name)
{
    g_autofree char *path = gui_path(&gui, name);
    char *text = NULL;
    litho_window_export(gui.window, path);
    g_assert_true(gui_wait(gui_is_free, &gui, 60));
    g_assert_null(litho_window_error(gui.window));
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    return text;
}

// Property: a result on another grid than its input is a picture of its own; so is the input where
// that is shown.
static void test_other_grid(void)
{
    gui_set_param(&gui, &gui_teller, "mode", 2);
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    gui_settle(&gui);
    g_assert_true(litho_session_grid(gui.session)->is_depth);
    g_autofree char *output = export_svg("depth.svg");
    g_assert_nonnull(strstr(output, "Depth 5"));
    g_assert_nonnull(strstr(output, gui_teller.key)); // the command
    gui_activate(&gui, "win.show('input')");
    g_autofree char *input = export_svg("time.svg");
    g_assert_null(strstr(input, "Depth 5"));
    g_assert_nonnull(strstr(input, "Time "));
    // Beside each other each has a name and a number, and the room above its axis' numbers for
    // them.
    gui_activate(&gui, "win.show('side')");
    gui_spin(&gui, 0.3);
    const LithoCubeView *view = litho_canvas_view(canvas(), LITHO_SAMPLE);
    g_assert_cmpuint(view->n_panels, ==, 2);
    for (int k = 0; k < 2; k++) {
        const LithoViewPanel *panel = &view->panel[k];
        g_assert_cmpfloat(panel->frame.title.x, ==, panel->area.x);
        g_assert_cmpfloat(panel->frame.title.x + panel->frame.title.w, >=,
                          panel->frame.data.x + panel->frame.data.w - 1);
    }
    gui_activate(&gui, "win.show('output')");
    gui_set_param(&gui, &gui_teller, "mode", 0);
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    gui_settle(&gui);
}

// Property: beside each other, with a reference in the input's place, each panel names the cube
// that it shows, with the units of the axes on screen.
static void test_picture_names(void)
{
    LithoCube *in = litho_session_input(gui.session);
    litho_session_set_reference(gui.session, in, "Kept");
    gui_activate(&gui, "win.show('side')");
    gui_activate(&gui, "win.time-unit('s')");
    while (litho_canvas_model(canvas())) // the data's scene
        gui_activate(&gui, "win.model");
    g_autofree char *text = export_svg("names.svg");
    g_assert_nonnull(strstr(text, "Output, 3-D"));
    g_assert_null(strstr(text, "Kept, 3-D"));
    g_assert_nonnull(strstr(text, "Kept, inline"));
    const char *time = strstr(text, "Kept, time ");
    g_assert_nonnull(time);
    g_autofree char *title = g_strndup(time, strcspn(time, ";<"));
    g_assert_true(g_str_has_suffix(title, "\u2009s"));
    litho_session_set_reference(gui.session, NULL, NULL);
    gui_activate(&gui, "win.time-unit('auto')");
    gui_activate(&gui, "win.show('output')");
}

// Asks again: what waits for the worker cannot be paused.
static gboolean is_paused(Gui *g)
{
    litho_session_pause(g->session, TRUE);
    return litho_session_is_paused(g->session);
}

// Property: a result that was paused is computed on when it is to be saved; with the wait for it
// cancelled everything is possible again at once.
static void test_save_paused(void)
{
    g_autofree char *out = gui_path(&gui, "paused.npy");
    GActionGroup *actions = G_ACTION_GROUP(gui.window);
    gui_set_param(&gui, &gui_teller, "wait_ms", 1000);
    for (int k = 0; k < 2; k++) {
        gui_set_param(&gui, &gui_teller, "gain", 0.5 + 0.1 * k);
        g_assert_true(gui_wait(is_paused, &gui, 10));
        g_assert_null(litho_session_output(gui.session));
        litho_window_save(gui.window, out, TRUE);
        g_assert_false(litho_session_is_paused(gui.session));
        g_assert_false(g_action_group_get_action_enabled(actions, "open"));
        if (k == 0)
            litho_window_cancel_job(gui.window);
        g_assert_cmpint(g_action_group_get_action_enabled(actions, "open"), ==, k == 0);
        g_assert_true(gui_wait(gui_is_free, &gui, 20));
        g_assert_cmpint(g_file_test(out, G_FILE_TEST_EXISTS), ==, k == 1);
        g_assert_true(gui_wait(gui_has_output, &gui, 20));
    }
    gui_set_param(&gui, &gui_teller, "wait_ms", 0);
    gui_set_param(&gui, &gui_teller, "gain", 1);
    gui_settle(&gui);
}

int main(int argc, char **argv)
{
    gui_init(&argc, &argv);
    gui_register(&gui_teller);
    gui_open_sized(&gui);
    g_test_add_func("/model/refused-alone", test_refused_alone);
    g_test_add_func("/model/shapes", test_model);
    g_test_add_func("/model/follows", test_model_follows);
    g_test_add_func("/model/beside", test_model_beside);
    g_test_add_func("/model/grip", test_grip);
    g_test_add_func("/model/other-grid", test_other_grid);
    g_test_add_func("/model/picture-names", test_picture_names);
    g_test_add_func("/model/save-paused", test_save_paused);
    g_test_add_func("/model/title", test_title);
    g_test_add_func("/model/velocity-beside", test_velocity_beside);
    int status = g_test_run();
    gui_close(&gui);
    return status;
}
