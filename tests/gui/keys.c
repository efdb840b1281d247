// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/keys.h"

#include <gdk/x11/gdkx.h>

static gboolean child_gone;

static void on_child(GPid pid, int status, gpointer data)
{
    (void)data;
    (void)status;
    g_spawn_close_pid(pid);
    child_gone = TRUE;
}

static gboolean is_child_gone(Gui *gui)
{
    (void)gui;
    return child_gone;
}

gboolean gui_can_type(void)
{
    g_autofree char *tool = g_find_program_in_path("xdotool");
    return tool != NULL;
}

void gui_type_into(Gui *gui, GtkWindow *window, const char *words, double seconds)
{
    GtkNative *native = GTK_NATIVE(window ? window : GTK_WINDOW(gui->window));
    gulong id = gdk_x11_surface_get_xid(gtk_native_get_surface(native));
    g_autofree char *command = g_strdup_printf("xdotool windowfocus %lu %s", id, words);
    g_auto(GStrv) argv = g_strsplit(command, " ", -1);
    g_autoptr(GError) error = NULL;
    GPid pid;
    child_gone = FALSE;
    g_spawn_async(NULL, argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
                  &pid, &error);
    g_assert_no_error(error);
    g_child_watch_add(pid, on_child, NULL);
    g_assert_true(gui_wait(is_child_gone, gui, 20));
    gui_spin(gui, seconds);
}

void gui_type(Gui *gui, const char *words)
{
    gui_type_into(gui, NULL, words, 0.15);
}
