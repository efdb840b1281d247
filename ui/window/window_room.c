// SPDX-License-Identifier: GPL-3.0-or-later
//
// In a narrow window, or with large text, the data keep their place: the right panel folds by
// itself, then the left one, and both come back with the room. What a person folds or unfolds by
// hand stays.
#include "ui/view/small_text.h"
#include "ui/window/window_private.h"

// Below these widths of the views a section cannot be judged any more: four views, or one above
// another. A window cannot be made narrower than its header: that has to shrink a little before.
enum { FOUR_VIEWS = 500, SOME_VIEW = 240, SLACK = 24 };
enum { RESTYLED_MS = 150 };

// Of a panel that stands there, or what it had when it was folded: GTK measures nothing that is
// hidden.
static int width_of(LithoWindow *self, int panel)
{
    GtkWidget *widget = panel == 0 ? self->left : self->right;
    int least;
    if (gtk_widget_get_visible(widget)) {
        gtk_widget_measure(widget, GTK_ORIENTATION_HORIZONTAL, -1, &least, NULL, NULL, NULL);
        self->panel_width[panel] = MAX(least, gtk_widget_get_width(widget));
    }
    return self->panel_width[panel];
}

static void fold(LithoWindow *self, int panel, gboolean folded)
{
    GtkWidget *widget = panel == 0 ? self->left : self->right;
    if (folded == self->no_room[panel] || (folded && !gtk_widget_get_visible(widget)))
        return;
    self->no_room[panel] = folded;
    gtk_widget_set_visible(widget, !folded);
}

static void set_header(LithoWindow *self, gboolean whole)
{
    gtk_widget_set_visible(self->undo, whole);
    gtk_widget_set_visible(self->redo, whole);
    gtk_widget_set_visible(self->similarity, whole);
    gtk_widget_set_visible(gtk_widget_get_parent(self->title), whole);
    gtk_button_set_label(GTK_BUTTON(self->compare[LITHO_SHOW_SIDE]),
                         whole ? litho_show_name(LITHO_SHOW_SIDE) : "Side");
}

// Undo, redo and the similarity have keys, the file's name stands on the window; what is compared
// and who computes has to be seen.
static void fit_header(LithoWindow *self, int width)
{
    GtkWidget *header = gtk_window_get_titlebar(GTK_WINDOW(self));
    int least;
    set_header(self, TRUE);
    gtk_widget_measure(header, GTK_ORIENTATION_HORIZONTAL, -1, &least, NULL, NULL, NULL);
    set_header(self, least + SLACK <= width);
}

// Nothing is open and nothing in the flow: the panels have nothing to say.
static gboolean is_empty(LithoWindow *self)
{
    return !litho_session_grid(self->session) &&
           litho_flow_length(litho_session_flow(self->session)) == 0;
}

static gboolean fit(gpointer data)
{
    LithoWindow *self = data;
    int width = gtk_widget_get_width(GTK_WIDGET(self));
    if (!self->session || width <= 0 || width == self->room_width)
        return G_SOURCE_REMOVE;
    self->room_width = width;
    int left = width_of(self, 0), right = width_of(self, 1);
    double scale = MAX(litho_text_scale(GTK_WIDGET(self)), 1); // axes have text, too
    const gboolean empty = is_empty(self);
    fold(self, 1, empty || width - left - right < FOUR_VIEWS * scale);
    fold(self, 0, empty || width - left < SOME_VIEW * scale);
    fit_header(self, width);
    return G_SOURCE_REMOVE;
}

// After the frame that gives the window its width: nothing may change while it is given.
static void fit_soon(LithoWindow *self)
{
    g_idle_add_full(GDK_PRIORITY_REDRAW + 10, fit, g_object_ref(self), g_object_unref);
}

static void on_layout(GdkSurface *surface, int width, int height, LithoWindow *self)
{
    (void)surface;
    (void)width;
    (void)height;
    fit_soon(self);
}

// A cube is there, or gone: panels come back with the width they had, and are measured again.
static void on_content(LithoWindow *self)
{
    const gboolean empty = is_empty(self);
    if (empty == self->no_content)
        return;
    self->no_content = empty;
    self->room_width = 0;
    for (int panel = 0; panel < 2; panel++)
        fold(self, panel, empty);
    fit_soon(self);
}

static void on_text_size(LithoWindow *self)
{
    self->room_width = 0; // the panels need another one, too, once they have their new style
    g_timeout_add_full(GDK_PRIORITY_REDRAW + 10, RESTYLED_MS, fit, g_object_ref(self),
                       g_object_unref);
}

static void on_realize(LithoWindow *self)
{
    g_signal_connect_object(gtk_native_get_surface(GTK_NATIVE(self)), "layout",
                            G_CALLBACK(on_layout), self, G_CONNECT_AFTER);
}

void litho_window_room_init(LithoWindow *self)
{
    static const char *const about[] = {"notify::gtk-xft-dpi", "notify::gtk-font-name"};
    g_signal_connect(self, "realize", G_CALLBACK(on_realize), NULL);
    static const char *const told[] = {"cube-changed", "flow-changed", "result"};
    for (guint k = 0; k < G_N_ELEMENTS(told); k++)
        g_signal_connect_object(self->session, told[k], G_CALLBACK(on_content), self,
                                G_CONNECT_SWAPPED);
    for (guint k = 0; k < G_N_ELEMENTS(about); k++)
        g_signal_connect_object(gtk_settings_get_default(), about[k], G_CALLBACK(on_text_size),
                                self, G_CONNECT_SWAPPED);
}

void litho_window_room_begin(LithoWindow *self)
{
    on_content(self);
}

void litho_window_show_panel(LithoWindow *self, int panel, gboolean shown)
{
    self->no_room[panel] = FALSE;
    gtk_widget_set_visible(panel == 0 ? self->left : self->right, shown);
}

gboolean litho_window_wants_panel(LithoWindow *self, int panel)
{
    return self->no_room[panel] || gtk_widget_get_visible(panel == 0 ? self->left : self->right);
}
