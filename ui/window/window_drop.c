// SPDX-License-Identifier: GPL-3.0-or-later
//
// Files dropped on the window.
#include "ui/window/window_private.h"

// A drop's files are read meanwhile, after the pointer is free.
enum { DEAD_MS = 1000 };

static const char source_key[] = "litho-dead-drag"; // of the target: the source that ends the drag

static gboolean on_drop(GtkDropTarget *target, const GValue *value, double x, double y,
                        LithoWindow *self)
{
    (void)target;
    (void)x;
    (void)y;
    GSList *files = g_value_get_boxed(value);
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    for (GSList *k = files; k; k = k->next) {
        char *path = g_file_get_path(k->data);
        if (path)
            g_ptr_array_add(paths, path);
    }
    if (paths->len == 0)
        return FALSE;
    g_ptr_array_add(paths, NULL);
    litho_window_open(self, (const char *const *)paths->pdata);
    return TRUE;
}

static gboolean is_held_over(GtkDropTarget *target)
{
    GtkWidget *window = gtk_event_controller_get_widget(GTK_EVENT_CONTROLLER(target));
    return window && gtk_widget_get_state_flags(window) & GTK_STATE_FLAG_DROP_ACTIVE;
}

static gboolean end_drag(gpointer data)
{
    GtkDropTarget *target = data;
    g_object_set_data(G_OBJECT(target), source_key, NULL);
    if (is_held_over(target))
        gtk_drop_target_reject(target);
    return G_SOURCE_REMOVE;
}

// While files are held over the window the pointer is the other program's. When it moves here, that
// program has gone without a word, and X11 tells nobody: the window would stay marked.
static void on_pointer(GtkDropTarget *target)
{
    if (!is_held_over(target) || g_object_get_data(G_OBJECT(target), source_key))
        return;
    guint source = g_timeout_add_full(G_PRIORITY_DEFAULT, DEAD_MS, end_drag, g_object_ref(target),
                                      g_object_unref);
    g_object_set_data(G_OBJECT(target), source_key, GUINT_TO_POINTER(source));
}

void litho_window_drop_init(LithoWindow *self)
{
    GtkDropTarget *drop = gtk_drop_target_new(GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);
    GtkEventController *motion = gtk_event_controller_motion_new();
    gtk_event_controller_set_propagation_phase(motion, GTK_PHASE_CAPTURE);
    g_signal_connect(drop, "drop", G_CALLBACK(on_drop), self);
    g_signal_connect_object(motion, "enter", G_CALLBACK(on_pointer), drop, G_CONNECT_SWAPPED);
    g_signal_connect_object(motion, "motion", G_CALLBACK(on_pointer), drop, G_CONNECT_SWAPPED);
    gtk_widget_add_controller(GTK_WIDGET(self), motion);
    gtk_widget_add_controller(GTK_WIDGET(self), GTK_EVENT_CONTROLLER(drop));
}
