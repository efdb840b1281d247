// SPDX-License-Identifier: GPL-3.0-or-later
//
// A window that is closed under a virtual display while its result is being written.
#include "tests/gui/files.h"
#include "ui/window/window_private.h"

static Gui gui;

static gint goes_on;

static gpointer until_cancelled(LithoRun *run, gpointer window, GError **error)
{
    while (g_atomic_int_get(&goes_on) && litho_run_checkpoint(run))
        g_usleep(1000);
    if (litho_run_checkpoint(run))
        return window;
    litho_run_stopped(error);
    return NULL;
}

static void written(gpointer result, const GError *error, gpointer window)
{
    if (litho_window_end_job(window, error))
        litho_window_tell_done(window, result != NULL);
}

static GtkDialog *ask_to_close(void)
{
    static const LithoJobFuncs funcs = {until_cancelled, NULL, written, g_object_unref};
    if (!litho_window_is_busy(gui.window)) {
        goes_on = 1;
        litho_window_start_job(gui.window, "save", "Saving", &funcs, g_object_ref(gui.window));
    }
    gtk_window_close(GTK_WINDOW(gui.window));
    GtkWindow *dialog = gui_window_of(GTK_TYPE_MESSAGE_DIALOG);
    g_assert_nonnull(dialog);
    return GTK_DIALOG(dialog);
}

static gboolean is_gone(Gui *g)
{
    return !g->window;
}

// Property: a window that is closed while a file is being saved asks: it stays, closes once the
// file is there, or closes at once. A saving that is stopped meanwhile leaves it open.
static void test_close_while_saving(void)
{
    g_object_add_weak_pointer(G_OBJECT(gui.window), (gpointer *)&gui.window);
    gtk_dialog_response(ask_to_close(), GTK_RESPONSE_CANCEL);
    gui_spin(&gui, 0.3);
    g_assert_true(litho_window_is_busy(gui.window));
    GtkDialog *dialog = ask_to_close();
    gui_spin(&gui, 0.3);
    gui_screenshot_of(&gui, GTK_WIDGET(dialog), "files-close");
    gtk_dialog_response(dialog, GTK_RESPONSE_ACCEPT);
    gui_activate(&gui, "win.cancel");
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    gui_spin(&gui, 0.3);
    g_assert_true(gtk_widget_get_visible(GTK_WIDGET(gui.window)));
    gtk_dialog_response(ask_to_close(), GTK_RESPONSE_ACCEPT);
    g_atomic_int_set(&goes_on, 0); // the file is there
    g_clear_object(&gui.mirror);
    g_assert_true(gui_wait(is_gone, &gui, 20));
    gui_reopen(&gui);
    g_object_add_weak_pointer(G_OBJECT(gui.window), (gpointer *)&gui.window);
    gtk_dialog_response(ask_to_close(), GTK_RESPONSE_REJECT);
    g_clear_object(&gui.mirror);
    g_assert_true(gui_wait(is_gone, &gui, 20));
    gui_reopen(&gui);
}

int main(int argc, char **argv)
{
    gui_init(&argc, &argv);
    gui_open_sized(&gui);
    g_test_add_func("/close/while-saving", test_close_while_saving);
    int status = g_test_run();
    gui_close(&gui);
    return status;
}
