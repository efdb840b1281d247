// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/panels.h"

#include "ui/view/small_text.h"

// Below these widths of the views a section cannot be judged any more: four views, or one above
// another.
enum { FOUR_VIEWS = 480, SOME_VIEW = 240 };
enum { RESTYLED_MS = 150 };

struct LithoPanels {
    GtkWidget *panel[2];      // LITHO_PANEL_*
    GtkWidget *outer, *inner; // panes: left | (middle | right)
    GtkWindow *window;        // NULL until it is watched
    LithoSession *session;
    void (*fitted)(int width, gpointer owner);
    gpointer owner;
    int wanted[2];          // widths, until the first cube is shown; 0 = as they are
    gboolean no_room[2];    // folded because the window is narrow or nothing is open
    gboolean no_content[2]; // the panel has nothing to say
    int width[2];           // when they were seen last
    int room;               // width of the window when that was decided
    guint soon, restyled;   // sources
};

// --- widgets ------------------------------------------------------------------------------------

LithoPanels *litho_panels_new(GtkWidget *left, GtkWidget *middle, GtkWidget *right)
{
    LithoPanels *panels = g_new0(LithoPanels, 1);
    panels->panel[LITHO_PANEL_LEFT] = left;
    panels->panel[LITHO_PANEL_RIGHT] = right;
    panels->outer = gtk_paned_new(GTK_ORIENTATION_HORIZONTAL);
    panels->inner = gtk_paned_new(GTK_ORIENTATION_HORIZONTAL);
    gtk_paned_set_start_child(GTK_PANED(panels->outer), left);
    gtk_paned_set_end_child(GTK_PANED(panels->outer), panels->inner);
    gtk_paned_set_start_child(GTK_PANED(panels->inner), middle);
    gtk_paned_set_end_child(GTK_PANED(panels->inner), right);
    GtkPaned *panes[] = {GTK_PANED(panels->outer), GTK_PANED(panels->inner)};
    for (int k = 0; k < 2; k++) {
        gtk_paned_set_shrink_start_child(panes[k], FALSE);
        gtk_paned_set_shrink_end_child(panes[k], FALSE);
    }
    gtk_paned_set_resize_start_child(panes[0], FALSE);
    gtk_paned_set_resize_end_child(panes[1], FALSE);
    gtk_widget_set_vexpand(panels->outer, TRUE);
    return panels;
}

GtkWidget *litho_panels_widget(const LithoPanels *panels)
{
    return panels->outer;
}

GtkWidget *litho_panels_get(const LithoPanels *panels, int panel)
{
    return panels->panel[panel];
}

// --- widths -------------------------------------------------------------------------------------

static const char *const width_keys[] = {"left-width", "right-width"};
static const char *const shown_keys[] = {"left-panel", "right-panel"};

// The panels get their widths in the first frame that knows how much room there is: beside the
// views, since the start page may need more than they do.
static gboolean give_widths(GtkWidget *pane, GdkFrameClock *clock, gpointer data)
{
    (void)clock;
    LithoPanels *panels = data;
    int least, room = gtk_widget_get_width(pane), most;
    g_object_get(pane, "max-position", &most, NULL); // leaves the right panel its least width
    if (room <= 0 || most <= 0 || most >= room)
        return G_SOURCE_CONTINUE;
    const int left = panels->wanted[LITHO_PANEL_LEFT], right = panels->wanted[LITHO_PANEL_RIGHT];
    if (left > 0) {
        most += gtk_widget_get_width(panels->panel[LITHO_PANEL_LEFT]) - left;
        gtk_paned_set_position(GTK_PANED(panels->outer), left);
    }
    gtk_widget_measure(panels->panel[LITHO_PANEL_RIGHT], GTK_ORIENTATION_HORIZONTAL, -1, &least,
                       NULL, NULL, NULL);
    if (right > least)
        gtk_paned_set_position(GTK_PANED(pane), MAX(most - (right - least), 1));
    panels->wanted[LITHO_PANEL_LEFT] = panels->wanted[LITHO_PANEL_RIGHT] = 0;
    return G_SOURCE_REMOVE;
}

void litho_panels_give_widths(LithoPanels *panels)
{
    if (panels->wanted[LITHO_PANEL_LEFT] > 0 || panels->wanted[LITHO_PANEL_RIGHT] > 0)
        gtk_widget_add_tick_callback(panels->inner, give_widths, panels, NULL);
}

void litho_panels_restore(LithoPanels *panels, LithoSettings *settings)
{
    for (int k = 0; k < 2; k++) {
        panels->wanted[k] = litho_settings_int(settings, width_keys[k], 0);
        gtk_widget_set_visible(panels->panel[k], litho_settings_int(settings, shown_keys[k], 1));
    }
    if (panels->wanted[LITHO_PANEL_LEFT] > 0)
        gtk_paned_set_position(GTK_PANED(panels->outer), panels->wanted[LITHO_PANEL_LEFT]);
}

// A folded panel keeps the width it had.
void litho_panels_remember(LithoPanels *panels, LithoSettings *settings)
{
    for (int k = 0; k < 2; k++) {
        if (gtk_widget_get_mapped(panels->panel[k]))
            litho_settings_set_int(settings, width_keys[k], gtk_widget_get_width(panels->panel[k]));
        litho_settings_set_int(settings, shown_keys[k], litho_panels_wants(panels, k));
    }
}

// --- room ---------------------------------------------------------------------------------------

// Width of a panel that stands there, or its width when it was folded: GTK measures nothing that
// is hidden.
static int width_of(LithoPanels *panels, int panel)
{
    GtkWidget *widget = panels->panel[panel];
    int least;
    if (gtk_widget_get_visible(widget)) {
        gtk_widget_measure(widget, GTK_ORIENTATION_HORIZONTAL, -1, &least, NULL, NULL, NULL);
        panels->width[panel] = MAX(least, gtk_widget_get_width(widget));
    }
    return panels->width[panel];
}

static void fold(LithoPanels *panels, int panel, gboolean folded)
{
    GtkWidget *widget = panels->panel[panel];
    if (folded == panels->no_room[panel] || (folded && !gtk_widget_get_visible(widget)))
        return;
    panels->no_room[panel] = folded;
    gtk_widget_set_visible(widget, !folded);
}

// Nothing is open: there are no figures to show, and without a flow no parameters. The start page
// has the room.
static gboolean is_empty(const LithoPanels *panels, int panel)
{
    return !litho_session_grid(panels->session) &&
           (panel == LITHO_PANEL_RIGHT ||
            litho_flow_length(litho_session_flow(panels->session)) == 0);
}

static void fit(LithoPanels *panels)
{
    int width = gtk_widget_get_width(GTK_WIDGET(panels->window));
    if (width <= 0 || width == panels->room)
        return;
    panels->room = width;
    int left = width_of(panels, LITHO_PANEL_LEFT), right = width_of(panels, LITHO_PANEL_RIGHT);
    double scale = MAX(litho_text_scale(GTK_WIDGET(panels->window)), 1); // axes have text, too
    fold(panels, LITHO_PANEL_RIGHT,
         is_empty(panels, LITHO_PANEL_RIGHT) || width - left - right < FOUR_VIEWS * scale);
    fold(panels, LITHO_PANEL_LEFT,
         is_empty(panels, LITHO_PANEL_LEFT) || width - left < SOME_VIEW * scale);
    panels->fitted(width, panels->owner);
}

static gboolean fit_now(gpointer data)
{
    LithoPanels *panels = data;
    panels->soon = 0;
    fit(panels);
    return G_SOURCE_REMOVE;
}

static gboolean fit_restyled(gpointer data)
{
    LithoPanels *panels = data;
    panels->restyled = 0;
    fit(panels);
    return G_SOURCE_REMOVE;
}

// After the frame that gives the window its width: nothing may change while it is given.
static void fit_soon(LithoPanels *panels)
{
    if (!panels->soon)
        panels->soon = g_idle_add_full(GDK_PRIORITY_REDRAW + 10, fit_now, panels, NULL);
}

// --- signals ------------------------------------------------------------------------------------

static void on_layout(LithoPanels *panels)
{
    fit_soon(panels);
}

// A cube is there, or gone: panels come back with the width they had, and are measured again.
static void on_content(LithoPanels *panels)
{
    gboolean changed = FALSE;
    for (int k = 0; k < 2; k++) {
        const gboolean empty = is_empty(panels, k);
        if (empty == panels->no_content[k])
            continue;
        panels->no_content[k] = empty;
        fold(panels, k, empty);
        changed = TRUE;
    }
    if (!changed)
        return;
    panels->room = 0;
    fit_soon(panels);
}

static void on_text_size(LithoPanels *panels)
{
    panels->room = 0; // the panels need another one, too, once they have their new style
    g_clear_handle_id(&panels->restyled, g_source_remove);
    panels->restyled =
        g_timeout_add_full(GDK_PRIORITY_REDRAW + 10, RESTYLED_MS, fit_restyled, panels, NULL);
}

static void on_realize(LithoPanels *panels)
{
    g_signal_connect_data(gtk_native_get_surface(GTK_NATIVE(panels->window)), "layout",
                          G_CALLBACK(on_layout), panels, NULL, G_CONNECT_SWAPPED | G_CONNECT_AFTER);
}

void litho_panels_watch(LithoPanels *panels, GtkWindow *window, LithoSession *session,
                        void (*fitted)(int width, gpointer owner), gpointer owner)
{
    static const char *const told[] = {"cube-changed", "flow-changed", "result"};
    static const char *const about[] = {"notify::gtk-xft-dpi", "notify::gtk-font-name"};
    panels->window = window;
    panels->session = session;
    panels->fitted = fitted;
    panels->owner = owner;
    g_signal_connect_swapped(window, "realize", G_CALLBACK(on_realize), panels);
    for (guint k = 0; k < G_N_ELEMENTS(told); k++)
        g_signal_connect_swapped(session, told[k], G_CALLBACK(on_content), panels);
    for (guint k = 0; k < G_N_ELEMENTS(about); k++)
        g_signal_connect_swapped(gtk_settings_get_default(), about[k], G_CALLBACK(on_text_size),
                                 panels);
}

void litho_panels_free(LithoPanels *panels)
{
    if (!panels)
        return;
    g_clear_handle_id(&panels->soon, g_source_remove);
    g_clear_handle_id(&panels->restyled, g_source_remove);
    if (panels->window) {
        GdkSurface *surface = gtk_native_get_surface(GTK_NATIVE(panels->window));
        if (surface)
            g_signal_handlers_disconnect_by_data(surface, panels);
        g_signal_handlers_disconnect_by_data(panels->window, panels);
        g_signal_handlers_disconnect_by_data(panels->session, panels);
        g_signal_handlers_disconnect_by_data(gtk_settings_get_default(), panels);
    }
    g_free(panels);
}

void litho_panels_begin(LithoPanels *panels)
{
    on_content(panels);
}

// A panel that is wanted takes the room of the other one where the views would have too little:
// they would else lie below it. The other one comes back with the room.
static void make_room(LithoPanels *panels, int panel, gboolean shown)
{
    const int other = 1 - panel, width = gtk_widget_get_width(GTK_WIDGET(panels->window));
    const double scale = MAX(litho_text_scale(GTK_WIDGET(panels->window)), 1);
    if (!shown && panels->no_room[other]) {
        panels->room = 0;
        fit_soon(panels);
    } else if (shown && width > 0 &&
               width - width_of(panels, panel) - width_of(panels, other) < SOME_VIEW * scale) {
        fold(panels, other, TRUE);
    }
}

void litho_panels_show(LithoPanels *panels, int panel, gboolean shown)
{
    panels->no_room[panel] = FALSE;
    gtk_widget_set_visible(panels->panel[panel], shown);
    make_room(panels, panel, shown);
}

gboolean litho_panels_wants(const LithoPanels *panels, int panel)
{
    return panels->no_room[panel] || gtk_widget_get_visible(panels->panel[panel]);
}
