// SPDX-License-Identifier: GPL-3.0-or-later
//
// Snapshots of settings and their comparison in the window under a virtual display, and what an
// undo and a job beside them show.
#include <math.h>
#include <string.h>

#include "core/io/survey.h"
#include "kernels/template/template.h"
#include "tests/gui/files.h"
#include "tests/gui/teller.h"
#include "ui/panel/snapshot_bar.h"
#include "ui/window/window_private.h"

static Gui gui;

static gboolean compared_ready(Gui *g)
{
    return litho_session_reference_name(g->session) != NULL;
}

// Property: A and B come back with their samples at once and without computing; the output can be
// compared with either, also after their results were dropped (then it is computed); removing one
// leaves the other alone. The template multiplies by its gain: samples tell which one is shown.
static void test_snapshots(void)
{
    g_autofree char *path = gui_write_cube(&gui, "snap.sgy", 12, 12, 40);
    gui_forget_flow(&gui);
    gui_open_file(&gui, path);
    LithoSnapshots *s = gui.window->snapshots;
    litho_session_add_step(gui.session, &litho_operator_template);
    gui_set_gain(&gui, 2);
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    float one = gui_output_at(&gui, 3, 4, 5) / 2;
    gui_activate(&gui, "win.snapshot");
    g_assert_false(g_action_group_get_action_enabled(G_ACTION_GROUP(gui.window), "snapshot"));
    gui_set_gain(&gui, 4);
    gui_activate(&gui, "win.snapshot");
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    gui_settle(&gui);
    g_assert_cmpuint(litho_snapshots_count(s), ==, 2);
    g_assert_nonnull(litho_snapshots_get(s, 0)->result);
    g_assert_nonnull(litho_snapshots_get(s, 1)->result);
    gui_set_gain(&gui, 9);
    g_assert_true(gui_wait(gui_has_output, &gui, 20));

    gui_activate(&gui, "win.snapshot-go('A')");
    g_assert_cmpfloat(gui_gain(&gui), ==, 2);
    g_assert_nonnull(litho_session_output(gui.session)); // at once
    g_assert_cmpfloat_with_epsilon(gui_output_at(&gui, 3, 4, 5), 2 * one, 1e-5);
    gui_activate(&gui, "win.snapshot-go('B')");
    g_assert_cmpfloat_with_epsilon(gui_output_at(&gui, 3, 4, 5), 4 * one, 1e-5);
    gui_activate(&gui, "win.snapshot-compare('A')");
    g_assert_cmpstr(litho_session_reference_name(gui.session), ==, "A");
    gui_activate(&gui, "win.show('split')");
    gui_spin(&gui, 0.4);
    gui_screenshot(&gui, "files-snapshots");
    float reference;
    g_assert_true(litho_session_sample(gui.session, FALSE, (const gint64[]){3, 4, 5}, &reference));
    g_assert_cmpfloat_with_epsilon(reference, 2 * one, 1e-5);
    gui_activate(&gui, "win.snapshot-compare('')");
    g_assert_null(litho_session_reference_name(gui.session));
    gui_activate(&gui, "win.show('output')");

    gui_open_file(&gui, path); // the same file: parameters stay, results go
    g_assert_cmpuint(litho_snapshots_count(s), ==, 2);
    gui_settle(&gui);
    g_assert_null(litho_snapshots_get(s, 0)->result);
    litho_snapshots_compare(s, 0);
    g_assert_true(gui_wait(compared_ready, &gui, 20));
    g_assert_true(litho_session_sample(gui.session, FALSE, (const gint64[]){3, 4, 5}, &reference));
    g_assert_cmpfloat_with_epsilon(reference, 2 * one, 1e-5);
    litho_snapshots_rename(s, 1, "stronger");
    litho_snapshots_remove(s, 0);
    g_assert_null(litho_session_reference_name(gui.session));
    g_assert_cmpuint(litho_snapshots_count(s), ==, 1);
    g_assert_cmpstr(litho_snapshots_get(s, 0)->name, ==, "stronger");
    g_assert_cmpint(litho_snapshots_get(s, 0)->letter, ==, 'B');
}

// Property: the colours of an image that has amplitudes of its own come back with the image: those
// of its record stay automatic, and the other way round. Closing before the image is there loses
// nothing.
static void test_colours_of_result(void)
{
    g_autofree char *path = gui_write_cube(&gui, "colours.sgy", 12, 12, 60);
    gui_forget_flow(&gui);
    gui_open_file(&gui, path);
    gui_use_operator(&gui, &gui_teller);
    gui_set_param(&gui, &gui_teller, "mode", 2);
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    gui_settle(&gui);
    g_assert_true(litho_session_grid(gui.session)->is_depth);
    litho_session_set_clip(gui.session, 0.0625);
    gui_settle(&gui);
    for (int k = 0; k < 2; k++) {
        gui_reopen(&gui);
        gui_open_file(&gui, path);
        if (k == 0) { // it is closed before
            litho_session_cancel(gui.session);
            litho_window_state_touched(gui.window);
            continue;
        }
        g_assert_cmpfloat(litho_session_clip(gui.session), !=, 0.0625); // of the record
        g_assert_true(gui_wait(gui_has_output, &gui, 20));
        gui_settle(&gui);
        g_assert_cmpfloat(litho_session_clip(gui.session), ==, 0.0625);
        gui_activate(&gui, "win.show('input')");
        gui_settle(&gui);
        g_assert_true(litho_session_clip_is_automatic(gui.session));
        g_assert_cmpfloat(litho_session_clip(gui.session), >, 0.5);
    }
    gui_forget_flow(&gui);
}

static gboolean names_volume(Gui *g)
{
    g_autofree char *label = litho_session_show_label(g->session, LITHO_SHOW_OUTPUT);
    return g_str_equal(label, "Noise level");
}

// Property: undo and redo change the parameters, and not which volume is looked at; views name the
// volume in the place of the output.
static void test_volume_stays(void)
{
    const LithoOperator *patch = litho_operator_find("patch");
    g_autofree char *path = gui_write_cube(&gui, "volume.sgy", 12, 12, 64);
    gui_forget_flow(&gui);
    gui_open_file(&gui, path);
    gui_use_operator(&gui, patch);
    gui_set_param(&gui, patch, "threshold", 2);
    g_autofree const char **names = litho_flow_volumes(litho_session_flow(gui.session));
    litho_session_set_volume(gui.session, names[0]);
    g_assert_cmpstr(litho_session_volume(gui.session), ==, names[0]);
    gui_activate(&gui, "win.undo");
    g_assert_cmpstr(litho_session_volume(gui.session), ==, names[0]);
    g_assert_true(gui_wait(names_volume, &gui, 20));
    litho_session_set_volume(gui.session, NULL);
    gui_activate(&gui, "win.redo");
    g_assert_null(litho_session_volume(gui.session));
    gui_settle(&gui);
    g_assert_false(names_volume(&gui));
    gui_forget_flow(&gui);
}

static gboolean tells_minutes(Gui *g)
{
    return gui_label_says(litho_busy_line_words(g->window->busy), " min ");
}

// Property: the time that is left of a long pass is told in minutes and seconds.
static void test_minutes_left(void)
{
    g_autofree char *path = gui_write_cube(&gui, "long.sgy", 12, 12, 40);
    gui_forget_flow(&gui);
    gui_open_file(&gui, path);
    gui_use_operator(&gui, &gui_teller);
    gui_set_param(&gui, &gui_teller, "wait_ms", 200000);
    litho_session_cancel(gui.session);
    litho_session_recompute(gui.session);
    g_assert_true(gui_wait(tells_minutes, &gui, 20));
    gui_set_param(&gui, &gui_teller, "wait_ms", 0);
    gui_settle(&gui);
    gui_forget_flow(&gui);
}

static gboolean computes(Gui *g, double *part)
{
    return litho_snapshots_is_computing(g->window->snapshots, part);
}

static gboolean has_come_further(Gui *g)
{
    double part;
    return computes(g, &part) && part > 0;
}

// A job that computes a snapshot holds the list of snapshots.
static guint refs_at_rest;

static gboolean is_at_rest(Gui *g)
{
    double part;
    return !computes(g, &part) && G_OBJECT(g->window->snapshots)->ref_count == refs_at_rest;
}

// Property: computing a snapshot for a comparison is told as it goes, and ends when nobody waits
// for it any more: with Escape, with another choice, and with the window.
static void test_snapshot_stops(void)
{
    g_autofree char *path = gui_write_cube(&gui, "snap-long.sgy", 12, 12, 40);
    gui_forget_flow(&gui);
    gui_open_file(&gui, path);
    gui_use_operator(&gui, &gui_teller);
    gui_set_param(&gui, &gui_teller, "wait_ms", 60000);
    gui_activate(&gui, "win.snapshot");
    gui_set_param(&gui, &gui_teller, "wait_ms", 900);
    gui_activate(&gui, "win.snapshot");
    gui_set_param(&gui, &gui_teller, "wait_ms", 0);
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    LithoSnapshots *s = gui.window->snapshots;
    refs_at_rest = G_OBJECT(s)->ref_count;
    litho_snapshots_compare(s, 0);
    g_assert_true(gui_wait(has_come_further, &gui, 20));
    GtkWidget *bar = gui_find_type(GTK_WIDGET(gui.window), LITHO_TYPE_SNAPSHOT_BAR);
    g_assert_true(gui_label_says(bar, "computing"));
    g_assert_true(g_action_group_get_action_enabled(G_ACTION_GROUP(gui.window), "cancel"));
    gui_activate(&gui, "win.cancel");
    g_assert_false(gui_label_says(bar, "computing"));
    g_assert_true(gui_wait(is_at_rest, &gui, 20));
    litho_snapshots_compare(s, 0);
    litho_snapshots_compare(s, 1); // the first is computed no longer, and takes nothing with it
    litho_snapshots_compare(s, -1);
    g_assert_true(gui_wait(is_at_rest, &gui, 20));
    litho_snapshots_compare(s, 1);
    gui_reopen(&gui);
    gui_spin(&gui, 2);
    gui_forget_flow(&gui);
}

static void assert_name(guint k, const char *name)
{
    g_assert_cmpstr(litho_snapshots_get(gui.window->snapshots, k)->name, ==, name);
}

// Property: of a flow of two steps each snapshot is called by what differs from the one before,
// which a chip has room for; where steps differ it tells them all.
static void test_names(void)
{
    g_autofree char *path = gui_write_cube(&gui, "names.sgy", 12, 12, 40);
    gui_forget_flow(&gui);
    gui_open_file(&gui, path);
    litho_snapshots_clear(gui.window->snapshots);
    litho_session_add_step(gui.session, &litho_operator_template);
    litho_session_add_step(gui.session, &litho_operator_template);
    gui_set_gain(&gui, 2);
    gui_activate(&gui, "win.snapshot");
    gui_set_gain(&gui, 4);
    gui_activate(&gui, "win.snapshot");
    litho_session_enable_step(gui.session, 1, FALSE);
    gui_activate(&gui, "win.snapshot");
    assert_name(0, "Running mean: Gain 2; Running mean");
    assert_name(1, "Gain 4");
    assert_name(2, "Running mean: Gain 4");
    litho_snapshots_clear(gui.window->snapshots);
}

int main(int argc, char **argv)
{
    gui_init(&argc, &argv);
    gui_register(&gui_teller);
    gui_open_sized(&gui);
    g_test_add_func("/snapshots/snapshots", test_snapshots);
    g_test_add_func("/snapshots/colours-of-result", test_colours_of_result);
    g_test_add_func("/snapshots/volume-stays", test_volume_stays);
    g_test_add_func("/snapshots/minutes-left", test_minutes_left);
    g_test_add_func("/snapshots/snapshot-stops", test_snapshot_stops);
    g_test_add_func("/snapshots/names", test_names);
    int status = g_test_run();
    gui_close(&gui);
    return status;
}
