// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/files.h"

#include <math.h>
#include <string.h>

#include "kernels/template/template.h"
#include "ui/window/window_private.h"

// A cube whose every sample tells where it belongs.
static LithoCube *make_cube(gint64 n1, gint64 n2, gint64 n3)
{
    LithoGrid grid = litho_grid_new(n1, n2, n3);
    g_autoptr(GError) error = NULL;
    LithoCube *cube = litho_cube_new(&grid, &error);
    g_assert_no_error(error);
    for (gint64 i = 0; i < n1; i++)
        for (gint64 j = 0; j < n2; j++)
            for (gint64 k = 0; k < n3; k++)
                litho_cube_trace(cube, i, j)[k] =
                    (float)(sin(0.21 * i + 0.13 * j) * sin(0.3 * k + 0.02 * i * j));
    return cube;
}

char *gui_write_cube(Gui *gui, const char *name, gint64 n1, gint64 n2, gint64 n3)
{
    char *path = gui_path(gui, name);
    g_autoptr(LithoCube) cube = make_cube(n1, n2, n3);
    g_autoptr(GError) error = NULL;
    LithoSaveOptions options = {.force = TRUE};
    g_assert_true(litho_cube_save(cube, path, &options, NULL, &error));
    g_assert_no_error(error);
    return path;
}

void gui_open_file(Gui *gui, const char *path)
{
    litho_window_open(gui->window, (const char *const[]){path, NULL});
    g_assert_true(gui_wait(gui_is_free, gui, 60));
}

double gui_gain(Gui *gui)
{
    const LithoStep *s = litho_flow_step(litho_session_flow(gui->session), 0);
    return litho_param_get(litho_param_find(&s->op->params, "gain"), s->params);
}

void gui_set_gain(Gui *gui, double value)
{
    const LithoParam *row = litho_param_find(&litho_operator_template.params, "gain");
    g_assert_true(litho_session_set_param(gui->session, 0, row, value, NULL, NULL));
}

void gui_forget_flow(Gui *gui)
{
    g_autoptr(LithoFlow) none = litho_flow_new();
    litho_session_restore_flow(gui->session, none, -1, litho_history_new());
}

void gui_show_operator(Gui *gui, const LithoOperator *op)
{
    gui_forget_flow(gui);
    litho_session_add_step(gui->session, op);
    litho_session_cancel(gui->session);
    gui_spin(gui, 0.3);
}

char *gui_write_odd(Gui *gui, const char *name, const Make *make, const char *client)
{
    g_autoptr(GByteArray) file = make_file(make);
    g_autofree char *text =
        g_strdup_printf("C 1 CLIENT %-20s RECORDED BY NORTHERN SURVEYS%*s"
                        "C 2 PROCESSING SEQUENCE: REFORMAT, DECONVOLUTION, STACK, MIGRATION%*s"
                        "C 3 LINE NUMBERS WHERE OUR OWN PROGRAM PUTS THEM",
                        client, 20, "", 14, "");
    memset(file->data, ' ', 3200);
    memcpy(file->data, text, MIN(strlen(text), 3200));
    char *path = gui_path(gui, name);
    g_assert_true(g_file_set_contents(path, (const char *)file->data, file->len, NULL));
    return path;
}

Make gui_odd_make(void)
{
    Make make = make_plain();
    make.inline_byte = 61;
    make.xline_byte = 65;
    make.bin_x = 0;
    make.ascii = TRUE;
    return make;
}

void gui_open_with_gain(Gui *gui, const char *path, double value)
{
    gui_forget_flow(gui);
    gui_open_file(gui, path);
    gui_forget_flow(gui); // what its session brought
    litho_session_add_step(gui->session, &litho_operator_template);
    gui_set_gain(gui, value);
    g_assert_true(gui_wait(gui_has_output, gui, 20));
    gui_settle(gui);
}

GtkWindow *gui_window_titled(const char *title)
{
    GListModel *tops = gtk_window_get_toplevels();
    for (guint k = 0; k < g_list_model_get_n_items(tops); k++) {
        g_autoptr(GtkWindow) top = g_list_model_get_item(tops, k);
        if (g_strcmp0(gtk_window_get_title(top), title) == 0)
            return top;
    }
    return NULL;
}

GtkWindow *gui_window_of(GType type)
{
    GListModel *tops = gtk_window_get_toplevels();
    GtkWindow *found = NULL;
    for (guint k = 0; k < g_list_model_get_n_items(tops); k++) {
        g_autoptr(GtkWindow) top = g_list_model_get_item(tops, k);
        if (G_TYPE_CHECK_INSTANCE_TYPE(top, type))
            found = top;
    }
    return found;
}

GtkWidget *gui_find_nth(GtkWidget *widget, GType type, int *n)
{
    if (G_TYPE_CHECK_INSTANCE_TYPE(widget, type) && (*n)-- == 0)
        return widget;
    for (GtkWidget *c = gtk_widget_get_first_child(widget); c; c = gtk_widget_get_next_sibling(c)) {
        GtkWidget *found = gui_find_nth(c, type, n);
        if (found)
            return found;
    }
    return NULL;
}

GtkWidget *gui_nth(GtkWindow *dialog, GType type, int n)
{
    GtkWidget *found = gui_find_nth(GTK_WIDGET(dialog), type, &n);
    g_assert_nonnull(found);
    return found;
}

GtkWidget *gui_button(GtkWindow *dialog, const char *label)
{
    for (int k = 0;; k++) {
        int n = k;
        GtkWidget *found = gui_find_nth(GTK_WIDGET(dialog), GTK_TYPE_BUTTON, &n);
        g_assert_nonnull(found);
        if (g_strcmp0(gtk_button_get_label(GTK_BUTTON(found)), label) == 0)
            return found;
    }
}

void gui_click(GtkWindow *dialog, const char *label)
{
    GtkWidget *found = gui_button(dialog, label);
    g_assert_true(gtk_widget_get_sensitive(found));
    g_signal_emit_by_name(found, "clicked");
}

static const char *dialog_title;
static const char *awaited;

static gboolean label_says(Gui *g)
{
    (void)g;
    GtkWindow *dialog = gui_window_titled(dialog_title);
    for (int k = 0; dialog; k++) {
        int n = k;
        GtkWidget *found = gui_find_nth(GTK_WIDGET(dialog), GTK_TYPE_LABEL, &n);
        if (!found)
            return FALSE;
        if (strstr(gtk_label_get_text(GTK_LABEL(found)), awaited))
            return TRUE;
    }
    return FALSE;
}

void gui_await_label(Gui *gui, const char *title, const char *text)
{
    dialog_title = title;
    awaited = text;
    g_assert_true(gui_wait(label_says, gui, 20));
}
