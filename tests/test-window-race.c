// SPDX-License-Identifier: GPL-3.0-or-later
//
// The race of the backends in the window under a virtual display.
#include "core/io/survey.h"
#include "tests/gui/files.h"
#include "ui/window/window_private.h"

static Gui gui;

static gboolean race_over(Gui *g)
{
    return !litho_race_view_is_running(litho_podium_race_view(g->window->podium));
}

typedef struct Running {
    guint clocks[2], pieces[2]; // different texts of a lane's clock; parts of its picture
    char *last[2];
} Running;

static Running running;

// Looks at the lanes while the race runs.
static gboolean watched_race_over(Gui *g)
{
    LithoRaceView *view = litho_podium_race_view(g->window->podium);
    for (guint k = 0; k < 2 && !race_over(g); k++) {
        g_autofree char *clock = litho_race_view_clock(view, k);
        running.clocks[k] += g_strcmp0(clock, running.last[k]) != 0;
        running.pieces[k] = MAX(running.pieces[k], litho_race_view_pieces(view, k));
        g_free(running.last[k]);
        running.last[k] = g_steal_pointer(&clock);
    }
    return race_over(g);
}

// Property: while a race runs both lanes show it, each its own clock and the section as its parts
// come, so that nobody looks at empty bars beside a percentage.
static void test_race_shows(void)
{
    LithoRaceView *view = litho_podium_race_view(gui.window->podium);
    g_autofree char *path = gui_write_cube(&gui, "race.npy", 100, 100, 250);
    gui_forget_flow(&gui);
    gui_open_file(&gui, path);
    gui_forget_flow(&gui);
    litho_session_add_step(gui.session, litho_operator_find("fx"));
    gui_activate(&gui, "win.race");
    g_assert_true(litho_race_view_is_running(view));
    g_assert_true(gui_wait(watched_race_over, &gui, 200));
    for (guint k = 0; k < 2; k++) {
        g_test_message("lane %u: %u texts of its clock, %u parts", k, running.clocks[k],
                       running.pieces[k]);
        g_assert_cmpuint(running.clocks[k], >=, 5);
        g_assert_cmpuint(running.pieces[k], >=, 1);
        g_clear_pointer(&running.last[k], g_free);
    }
    litho_race_view_close(view);
    gui_settle(&gui);
}

// Property: the race ends with a time of every lane that runs and with how far the results are
// apart, with a GPU or without one, and the window goes on working; closing it in the middle of a
// race is no accident.
static void test_race(void)
{
    LithoRaceView *view = litho_podium_race_view(gui.window->podium);
    litho_window_open_demo(gui.window);
    g_assert_true(gui_wait(gui_has_input, &gui, 60));
    gui_settle(&gui);
    gui_activate(&gui, "win.race");
    g_assert_true(litho_race_view_is_running(view));
    g_assert_true(gui_wait(race_over, &gui, 60));
    gui_screenshot(&gui, "race");
    const LithoRace *race = litho_race_view_result(view);
    g_assert_nonnull(race);
    g_assert_cmpuint(race->lanes->len, ==, 2);
    for (guint k = 0; k < 2; k++)
        g_assert_cmpfloat(((LithoRaceLane *)g_ptr_array_index(race->lanes, k))->ms, >, 0);
    g_assert_cmpfloat(((LithoRaceLane *)g_ptr_array_index(race->lanes, 1))->difference, <, 1e-5);
    g_assert_cmpfloat(litho_race_view_ratio(view), >=, 1);
    litho_race_view_close(view);
    gui_activate(&gui, "win.race");
    litho_race_view_close(view);
    gui_activate(&gui, "win.race"); // before the one that was closed has ended
    g_assert_true(gtk_widget_get_visible(GTK_WIDGET(view)));
    litho_race_view_close(view);
    gui_spin(&gui, 0.5);
    g_assert_false(gtk_widget_get_visible(GTK_WIDGET(view)));
    gui_settle(&gui);
}

int main(int argc, char **argv)
{
    gui_init(&argc, &argv);
    gui_open_sized(&gui);
    g_test_add_func("/race/race", test_race);
    g_test_add_func("/race/shows", test_race_shows);
    int status = g_test_run();
    gui_close(&gui);
    return status;
}
