// SPDX-License-Identifier: GPL-3.0-or-later
//
// Every key that the design promises, pressed through the display server on the running window:
// compare, slices, zoom, clip and gain, colours, views, undo, files, help. A key that a widget
// takes away, or a shortcut that the table forgot, fails here. Skips without xdotool.
#include <string.h>

#include <gdk/x11/gdkx.h>

#include "kernels/template/template.h"
#include "tests/gui/files.h"
#include "tests/gui/keys.h"
#include "ui/panel/snapshot_bar.h"
#include "ui/window/commands.h"
#include "ui/window/window_private.h"

static Gui gui;
static void type(const char *words)
{
    gui_type(&gui, words);
}

static const LithoDisplay *display(void)
{
    return litho_session_display(gui.session);
}

static LithoShow shown(void)
{
    return litho_session_shown(gui.session);
}

static void focus_view(int axis)
{
    gtk_widget_grab_focus(GTK_WIDGET(litho_canvas_view(litho_window_canvas(gui.window), axis)));
    gui_spin(&gui, 0.1);
}

static gboolean input_is_up(Gui *g)
{
    return litho_session_shown(g->session) == LITHO_SHOW_INPUT;
}

static gboolean output_is_up(Gui *g)
{
    return litho_session_shown(g->session) == LITHO_SHOW_OUTPUT;
}

// The picture of the canvas differs from `before`, which is given back.
static void assert_other(GdkTexture *before, const char *what)
{
    g_autoptr(GdkTexture) old = before, now = gui_picture(&gui);
    double differs = gui_difference(&gui, old, now);
    g_test_message("%s changes %.1f %% of the pixels", what, 100 * differs);
    g_assert_cmpfloat(differs, >, 0.02);
}

static void settle_view(void)
{
    gui_spin(&gui, 0.4);
}

// Space hold: input. B: blink, there and back until pressed again. D: removed. S: split, whose
// divider goes by Left and Right.
static void test_compare(void)
{
    focus_view(0);
    settle_view();
    GdkTexture *output = gui_picture(&gui);
    type("keydown space");
    g_assert_cmpint(shown(), ==, LITHO_SHOW_INPUT);
    settle_view();
    assert_other(output, "Space");
    type("keyup space");
    g_assert_cmpint(shown(), ==, LITHO_SHOW_OUTPUT);
    type("key b");
    g_assert_true(gui_wait(input_is_up, &gui, 3));
    g_assert_true(gui_wait(output_is_up, &gui, 3));
    g_assert_true(gui_wait(input_is_up, &gui, 3));
    type("key b");
    gui_spin(&gui, 1);
    g_assert_cmpint(shown(), ==, LITHO_SHOW_OUTPUT);
    settle_view();
    output = gui_picture(&gui);
    type("key d");
    g_assert_cmpint(shown(), ==, LITHO_SHOW_REMOVED);
    settle_view();
    assert_other(output, "D");
    type("key d");
    g_assert_cmpint(shown(), ==, LITHO_SHOW_OUTPUT);
    settle_view();
    output = gui_picture(&gui);
    type("key s");
    g_assert_cmpint(shown(), ==, LITHO_SHOW_SPLIT);
    settle_view();
    assert_other(output, "S");
    double split = display()->look.split;
    GdkTexture *middle = gui_picture(&gui);
    type("key Left key Left key Left key Left");
    g_assert_cmpfloat(display()->look.split, <, split);
    settle_view();
    assert_other(middle, "Left in the split");
    type("key shift+Right");
    g_assert_cmpfloat(display()->look.split, >, split);
    type("key s");
    g_assert_cmpint(shown(), ==, LITHO_SHOW_OUTPUT);
}

// Arrows step the slice of the view that has the keyboard, Shift ten at once; Home and End.
static void test_slices(void)
{
    const LithoGrid *grid = litho_session_grid(gui.session);
    for (int axis = 0; axis < 3; axis++) {
        focus_view(axis);
        type("key Home");
        g_assert_cmpint(display()->slice[axis], ==, 0);
        type("key Down key Right");
        g_assert_cmpint(display()->slice[axis], ==, 2);
        type("key shift+Down key shift+Right");
        g_assert_cmpint(display()->slice[axis], ==, 22);
        type("key Up key Left key shift+Up");
        g_assert_cmpint(display()->slice[axis], ==, 10);
        type("key End");
        g_assert_cmpint(display()->slice[axis], ==, grid->axis[axis].n - 1);
    }
}

// + and - zoom, 0 fits.
static void test_zoom(void)
{
    focus_view(0);
    type("key 0");
    double all = display()->hi[2] - display()->lo[2];
    type("key plus key plus");
    double near = display()->hi[2] - display()->lo[2];
    g_assert_cmpfloat(near, <, all);
    type("key minus");
    g_assert_cmpfloat(display()->hi[2] - display()->lo[2], >, near);
    type("key 0");
    g_assert_cmpfloat(display()->hi[2] - display()->lo[2], ==, all);
}

// [ and ] change the clip, { and } the gain of what was removed, C the colours, W the wiggles.
static void test_look(void)
{
    focus_view(1);
    double clip = litho_session_clip(gui.session);
    type("key bracketleft");
    g_assert_cmpfloat(litho_session_clip(gui.session), <, clip);
    type("key bracketright");
    g_assert_cmpfloat_with_epsilon(litho_session_clip(gui.session), clip, 1e-6 * clip);
    type("key braceright key braceright");
    g_assert_cmpfloat(display()->look.removed_gain, ==, 4);
    type("key braceleft key braceleft");
    g_assert_cmpfloat(display()->look.removed_gain, ==, 1);
    const LithoColormap *map = display()->look.map;
    type("key c");
    g_assert_true(display()->look.map != map);
    type("key w");
    g_assert_cmpint(display()->look.wiggle, !=, LITHO_WIGGLE_OFF);
    type("key w");
    g_assert_cmpint(display()->look.wiggle, ==, LITHO_WIGGLE_OFF);
}

// 1 to 4 maximise a view and restore it, Return the one with the keyboard; F9 and F10 fold panels.
static void test_views(void)
{
    LithoCanvas *canvas = litho_window_canvas(gui.window);
    for (int k = 0; k < 4; k++) {
        g_autofree char *key = g_strdup_printf("key %d", k + 1);
        type(key);
        g_assert_cmpint(litho_canvas_maximised(canvas), ==, k);
        type(key);
        g_assert_cmpint(litho_canvas_maximised(canvas), ==, -1);
    }
    focus_view(2);
    type("key Return");
    g_assert_cmpint(litho_canvas_maximised(canvas), ==, 2);
    type("key Return");
    g_assert_cmpint(litho_canvas_maximised(canvas), ==, -1);
    GtkWidget *panels[] = {litho_panels_get(gui.window->panels, LITHO_PANEL_LEFT),
                           litho_panels_get(gui.window->panels, LITHO_PANEL_RIGHT)};
    for (int k = 0; k < 2; k++) {
        const char *key = k == 0 ? "key F9" : "key F10";
        type(key);
        if (gtk_widget_get_visible(panels[k]))
            g_error("%s folds nothing", key);
        type(key);
        g_assert_true(gtk_widget_get_visible(panels[k]));
    }
}

// A widget that the keyboard should reach: a control that is there and can be used. The parts of
// one control count as one; labels that only let their text be marked do not count.
static gboolean is_stop(GtkWidget *widget)
{
    static GType (*const types[])(void) = {gtk_button_get_type,      gtk_switch_get_type,
                                           gtk_scale_get_type,       gtk_spin_button_get_type,
                                           gtk_drop_down_get_type,   gtk_entry_get_type,
                                           gtk_menu_button_get_type, gtk_expander_get_type};
    for (guint k = 0; k < G_N_ELEMENTS(types); k++)
        if (G_TYPE_CHECK_INSTANCE_TYPE(widget, types[k]()))
            return TRUE;
    return FALSE;
}

static void list_stops(GtkWidget *widget, GPtrArray *stops)
{
    if (!gtk_widget_get_mapped(widget) || !gtk_widget_is_sensitive(widget) ||
        GTK_IS_WINDOW_CONTROLS(widget))
        return;
    if (is_stop(widget) && (!GTK_IS_BUTTON(widget) || gtk_widget_get_focusable(widget))) {
        g_ptr_array_add(stops, widget);
        if (!GTK_IS_EXPANDER(widget))
            return;
    }
    for (GtkWidget *c = gtk_widget_get_first_child(widget); c; c = gtk_widget_get_next_sibling(c))
        list_stops(c, stops);
}

static char *name_of(GtkWidget *widget)
{
    const char *tip = gtk_widget_get_tooltip_text(widget);
    return g_strdup_printf("%s (%s)", G_OBJECT_TYPE_NAME(widget), tip ? tip : "");
}

static gboolean was_reached(GtkWidget *stop, const GPtrArray *seen)
{
    for (guint k = 0; k < seen->len; k++)
        if (seen->pdata[k] == stop || gtk_widget_is_ancestor(seen->pdata[k], stop))
            return TRUE;
    return FALSE;
}

// Presses Tab until the focus is where it was first, and the other way round once. Every control
// must have had it, and shown it.
static void go_round(GtkWindow *window)
{
    g_autoptr(GPtrArray) stops = g_ptr_array_new(), seen = g_ptr_array_new();
    list_stops(GTK_WIDGET(window), stops);
    GtkWidget *now = NULL, *before = NULL;
    gboolean round = FALSE;
    for (int k = 0; k < 90 && !round; k++) {
        gui_type_into(&gui, window, "key Tab", 0.02);
        before = now;
        now = gtk_window_get_focus(window);
        if (!now)
            g_error("%s: Tab %d ends nowhere", gtk_window_get_title(window), k);
        round = seen->len > 0 && now == seen->pdata[0];
        g_autofree char *name = name_of(now);
        if (!(gtk_widget_get_state_flags(now) & GTK_STATE_FLAG_FOCUS_VISIBLE))
            g_error("the focus of %s is not seen", name);
        g_ptr_array_add(seen, now);
    }
    g_assert_true(round);
    g_test_message("%s: %u stops, %u controls", gtk_window_get_title(window), seen->len - 1,
                   stops->len);
    for (guint k = 0; k < stops->len; k++) {
        g_autofree char *name = name_of(stops->pdata[k]);
        if (!was_reached(stops->pdata[k], seen))
            g_error("%s: Tab does not reach %s", gtk_window_get_title(window), name);
    }
    gui_type_into(&gui, window, "key shift+Tab", 0.05);
    g_assert_true(gtk_window_get_focus(window) == before);
}

// Property: Tab comes to every control of the window that can be used, and from the last one back
// to the first, past the sentence of the bar that tells about the file (which can be marked, but is
// no stop). The same in the windows with controls of their own.
static void test_tab_round(void)
{
    static const char *const others[][2] = {{"win.import", "Import keys.sgy"},
                                            {"win.sweep", "Parameter sweep"},
                                            {"win.survey", "Survey"}};
    g_assert_nonnull(litho_bar_text(litho_tellers_notes(gui.window->tellers)));
    focus_view(0);
    go_round(GTK_WINDOW(gui.window));
    for (guint k = 0; k < G_N_ELEMENTS(others); k++) {
        gui_activate(&gui, others[k][0]);
        gui_spin(&gui, 1.5);
        GtkWindow *window = gui_window_titled(others[k][1]);
        g_assert_nonnull(window);
        go_round(window);
        gtk_window_destroy(window);
        gui_spin(&gui, 0.2);
    }
}

// Tab goes from the flow through the parameter rows, all four views and the panel on the right to
// the header.
static void test_tab(void)
{
    LithoCanvas *canvas = litho_window_canvas(gui.window);
    gboolean row = FALSE, left = FALSE, right = FALSE, header = FALSE;
    int views = 0;
    g_assert_true(gtk_widget_child_focus(litho_panels_get(gui.window->panels, LITHO_PANEL_LEFT),
                                         GTK_DIR_TAB_FORWARD));
    for (int k = 0; k < 70 && !(row && left && right && header && views == 15); k++) {
        gui_type_into(&gui, NULL, "key Tab", 0.03);
        GtkWidget *now = gtk_window_get_focus(GTK_WINDOW(gui.window));
        if (!now)
            break;
        g_assert_false(GTK_IS_SCROLLED_WINDOW(now)); // a stop without a control
        row |= gtk_widget_is_ancestor(now, GTK_WIDGET(litho_window_params(gui.window)));
        left |= gtk_widget_is_ancestor(now, litho_panels_get(gui.window->panels, LITHO_PANEL_LEFT));
        right |=
            gtk_widget_is_ancestor(now, litho_panels_get(gui.window->panels, LITHO_PANEL_RIGHT));
        header |= gtk_widget_is_ancestor(now, gtk_window_get_titlebar(GTK_WINDOW(gui.window)));
        for (int axis = 0; axis < 4; axis++)
            if (now == GTK_WIDGET(litho_canvas_view(canvas, axis)))
                views |= 1 << axis;
    }
    if (!row || !left || !right || !header)
        g_error("Tab misses%s%s%s%s", row ? "" : " the rows", left ? "" : " the left panel",
                right ? "" : " the right panel", header ? "" : " the header");
    g_assert_cmpint(views, ==, 15);
}

// Ctrl+Z and Ctrl+Shift+Z; Ctrl+Return computes all.
static void test_flow(void)
{
    gui_set_gain(&gui, 4);
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    focus_view(0);
    type("key ctrl+z");
    g_assert_cmpfloat(gui_gain(&gui), ==, 2);
    type("key ctrl+shift+z");
    g_assert_cmpfloat(gui_gain(&gui), ==, 4);
    gui_settle(&gui);
    gui_set_gain(&gui, 3);
    litho_session_cancel(gui.session);
    gui_spin(&gui, 0.5);
    type("key ctrl+Return");
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
}

// Property: an empty flow offers the operators; Return on one adds it, and the focus is on its
// step. The focus is on the first choice again when the step is gone, and no key is lost meanwhile.
static void test_first_operator(void)
{
    while (litho_flow_length(litho_session_flow(gui.session)) > 0)
        litho_session_remove_step(gui.session, 0);
    gui_spin(&gui, 0.3);
    const LithoOperator *op = litho_operator_first_choice();
    GtkWidget *left = litho_panels_get(gui.window->panels, LITHO_PANEL_LEFT);
    GtkLabel *purpose = gui_find_label(left, op->purpose);
    g_assert_true(purpose && gtk_widget_get_mapped(GTK_WIDGET(purpose)));
    gtk_widget_grab_focus(gtk_widget_get_ancestor(GTK_WIDGET(purpose), GTK_TYPE_BUTTON));
    type("key Return");
    gui_spin(&gui, 0.3);
    const LithoFlow *flow = litho_session_flow(gui.session);
    g_assert_cmpint(litho_flow_length(flow), ==, 1);
    g_assert_true(litho_flow_step(flow, 0)->op == op);
    GtkWidget *now = gtk_window_get_focus(GTK_WINDOW(gui.window));
    g_assert_nonnull(gtk_widget_get_ancestor(now, GTK_TYPE_LIST_BOX));
    g_assert_false(gtk_widget_get_mapped(GTK_WIDGET(purpose)));
    type("key Delete");
    g_assert_cmpint(litho_flow_length(litho_session_flow(gui.session)), ==, 0);
    now = gtk_window_get_focus(GTK_WINDOW(gui.window));
    g_assert_true(gtk_widget_is_ancestor(GTK_WIDGET(purpose), now));
    // The second key comes before the frame that shows the first one's work.
    type("key ctrl+z key ctrl+z");
    g_assert_cmpint(litho_flow_length(litho_session_flow(gui.session)), ==, 0);
    type("key ctrl+z");
    gui_spin(&gui, 0.3);
    g_assert_cmpint(litho_flow_length(litho_session_flow(gui.session)), ==, 1);
    g_assert_true(litho_flow_step(litho_session_flow(gui.session), 0)->op != op);
    gui_settle(&gui);
}

// F2 on either button of a snapshot opens its menu, whose field has Delete to itself; Delete on the
// button removes the snapshot.
static void test_snapshot_menu(void)
{
    gui_activate(&gui, "win.snapshot");
    gui_spin(&gui, 0.3);
    GtkWidget *bar = gui_find_type(GTK_WIDGET(gui.window), LITHO_TYPE_SNAPSHOT_BAR);
    GtkWidget *menu = gui_find_type(bar, GTK_TYPE_MENU_BUTTON);
    GtkWidget *popover = GTK_WIDGET(gtk_menu_button_get_popover(GTK_MENU_BUTTON(menu)));
    gtk_widget_grab_focus(gtk_widget_get_first_child(menu));
    type("key F2");
    gui_spin(&gui, 0.3);
    g_assert_true(gtk_widget_get_visible(popover));
    type("key End key Delete");
    g_assert_cmpuint(litho_snapshots_count(gui.window->snapshots), ==, 1);
    type("key Escape");
    gui_spin(&gui, 0.5);
    g_assert_false(gtk_widget_get_visible(popover));
    type("key Delete");
    g_assert_cmpuint(litho_snapshots_count(gui.window->snapshots), ==, 0);
}

// Keys that open something, and Escape, which closes it.
static void test_windows(void)
{
    static const struct {
        const char *keys, *title;
    } opens[] = {
        {"key ctrl+o", "Open a seismic cube"},
        {"key ctrl+s", "Save the result"},
        {"key ctrl+e", "Export the picture"},
        {"key ctrl+p", "Parameter sweep"},
        {"key ctrl+i", "Survey"},
        {"key ctrl+shift+i", "Import keys.sgy"},
        {"key F1", "Lithoscope help"},
        {"key ctrl+question", "Keyboard shortcuts"},
        {"key ctrl+shift+p", "Commands"},
    };
    for (guint k = 0; k < G_N_ELEMENTS(opens); k++) {
        type(opens[k].keys);
        gui_spin(&gui, 0.2);
        GtkWindow *window = gui_window_titled(opens[k].title);
        if (!window)
            g_error("%s does not open '%s'", opens[k].keys, opens[k].title);
        gui_type_into(&gui, window, "sleep 0.2 key Escape", 0.3);
        window = gui_window_titled(opens[k].title);
        if (window && gtk_widget_get_visible(GTK_WIDGET(window)))
            g_error("Escape does not close '%s'", opens[k].title);
    }
    g_assert_nonnull(litho_session_input(gui.session));
    g_assert_null(litho_window_error(gui.window));
}

// Property: Space that is let go in another window does not leave the input on the screen.
static void test_space_elsewhere(void)
{
    focus_view(0);
    type("keydown space");
    g_assert_cmpint(shown(), ==, LITHO_SHOW_INPUT);
    gui_activate(&gui, "win.palette");
    gui_spin(&gui, 0.3);
    GtkWindow *commands = gui_window_titled("Commands");
    g_assert_nonnull(commands);
    gui_type_into(&gui, commands, "keyup space", 0.3);
    g_assert_cmpint(shown(), ==, LITHO_SHOW_OUTPUT);
    gtk_window_destroy(commands);
    gui_spin(&gui, 0.3);
}

static gboolean no_popover(Gui *g)
{
    GtkWidget *open =
        gtk_widget_get_ancestor(gtk_window_get_focus(GTK_WINDOW(g->window)), GTK_TYPE_POPOVER);
    return !open || !gtk_widget_get_visible(open);
}

// Property: Escape ends what is in front first: a menu, then a running computation, then full
// screen; with nothing of that it does nothing, and never closes the window.
static void test_escape(void)
{
    GtkWidget *plus = NULL;
    for (int k = 0; !plus; k++) {
        int n = k;
        GtkWidget *found = gui_find_nth(litho_panels_get(gui.window->panels, LITHO_PANEL_LEFT),
                                        GTK_TYPE_MENU_BUTTON, &n);
        g_assert_nonnull(found);
        plus = g_strcmp0(gtk_widget_get_tooltip_text(found), "Add an operator") ? NULL : found;
    }
    gui_activate(&gui, "win.fullscreen");
    gui_spin(&gui, 0.3);
    gtk_menu_button_popup(GTK_MENU_BUTTON(plus));
    gui_spin(&gui, 0.5);
    GtkPopover *popover = gtk_menu_button_get_popover(GTK_MENU_BUTTON(plus));
    g_assert_true(gtk_widget_get_visible(GTK_WIDGET(popover)));
    gui_set_gain(&gui, 5);
    type("key Escape");
    g_assert_true(gui_wait(no_popover, &gui, 3));
    g_assert_false(gtk_widget_get_visible(GTK_WIDGET(popover)));
    g_assert_true(gui_wait(gui_has_output, &gui, 20)); // that was not cancelled
    gui_settle(&gui);
    type("key Escape key Escape");
    gui_spin(&gui, 0.3);
    g_assert_false(gtk_window_is_fullscreen(GTK_WINDOW(gui.window)));
    g_assert_true(gtk_widget_get_mapped(GTK_WIDGET(gui.window)));
    g_assert_nonnull(litho_session_output(gui.session));
    gui_set_gain(&gui, 2);
    gui_settle(&gui);
}

// Property: a map read from a CSV file comes up at once, C goes on from it, and C comes to it
// again.
static void test_colour_map(void)
{
    g_autofree char *path = gui_path(&gui, "greens.csv");
    g_assert_true(g_file_set_contents(path, "0,0,0\n0,255,0\n255,255,255\n", -1, NULL));
    focus_view(0);
    settle_view();
    GdkTexture *usual = gui_picture(&gui);
    g_autofree char *bad = gui_path(&gui, "bad.csv");
    g_assert_true(g_file_set_contents(bad, "1,2\n", -1, NULL));
    litho_window_load_colours(gui.window, bad);
    g_assert_nonnull(litho_window_error(gui.window));
    litho_window_load_colours(gui.window, path);
    g_assert_null(litho_window_error(gui.window)); // it is no longer what matters
    gui_spin(&gui, 0.5);
    const LithoColormap *own = display()->look.map;
    g_assert_cmpstr(own->name, ==, "greens");
    assert_other(usual, "a map of one's own");
    GdkTexture *green = gui_picture(&gui);
    type("key c");
    g_assert_true(display()->look.map != own);
    settle_view();
    assert_other(green, "C");
    for (int k = 0; k < 40 && display()->look.map != own; k++)
        type("key c");
    g_assert_true(display()->look.map == own);
    type("key c");
}

// Moves the pointer to the middle of a widget of the window and clicks.
static void click(GtkWidget *widget)
{
    GtkWidget *window = GTK_WIDGET(gui.window);
    graphene_rect_t box;
    double x, y;
    g_assert_true(gtk_widget_compute_bounds(widget, window, &box));
    gtk_native_get_surface_transform(GTK_NATIVE(window), &x, &y);
    g_autofree char *words =
        g_strdup_printf("mousemove --window %lu %d %d click 1",
                        gdk_x11_surface_get_xid(gtk_native_get_surface(GTK_NATIVE(window))),
                        (int)(x + box.origin.x + box.size.width / 2),
                        (int)(y + box.origin.y + box.size.height / 2));
    type(words);
}

// Property: Space shows the input after a click on a button, which it does not press once more; a
// button that Tab has reached takes it.
static void test_space_after_click(void)
{
    GtkWidget *window = GTK_WIDGET(gui.window);
    gui_activate(&gui, "win.show('removed')");
    GtkWidget *output = gtk_widget_get_ancestor(
        GTK_WIDGET(gui_find_label(gtk_window_get_titlebar(GTK_WINDOW(window)), "Output")),
        GTK_TYPE_TOGGLE_BUTTON);
    g_assert_nonnull(output);
    click(output);
    g_assert_cmpint(shown(), ==, LITHO_SHOW_OUTPUT);
    g_assert_true(gtk_window_get_focus(GTK_WINDOW(window)) == output);
    type("keydown space");
    g_assert_cmpint(shown(), ==, LITHO_SHOW_INPUT);
    type("keyup space");
    g_assert_cmpint(shown(), ==, LITHO_SHOW_OUTPUT);
    type("key Tab");
    type("key shift+Tab");
    g_assert_true(gtk_window_get_focus(GTK_WINDOW(window)) == output);
    gui_activate(&gui, "win.show('removed')");
    type("key space");
    g_assert_cmpint(shown(), ==, LITHO_SHOW_OUTPUT);
    focus_view(0);
}

static GtkWidget *main_menu(void)
{
    GtkWidget *header = gtk_window_get_titlebar(GTK_WINDOW(gui.window)), *button;
    for (int k = 0;; k++) {
        int n = k;
        button = gui_find_nth(header, GTK_TYPE_MENU_BUTTON, &n);
        g_assert_nonnull(button);
        if (g_strcmp0(gtk_menu_button_get_icon_name(GTK_MENU_BUTTON(button)),
                      "open-menu-symbolic") == 0)
            return button;
    }
}

static char *visible_submenu(GtkWidget *popover)
{
    char *name;
    g_object_get(popover, "visible-submenu", &name, NULL);
    return name;
}

// Property: a key opens the menu, Right goes into a submenu and Left out of it from any line; keys
// reach the window behind a choice in a submenu.
static void test_menu(void)
{
    focus_view(0);
    type("mousemove 2 2 key alt+m"); // a line under the pointer would take the keyboard
    gui_spin(&gui, 0.4);
    GtkWidget *button = main_menu();
    GtkWidget *popover = GTK_WIDGET(gtk_menu_button_get_popover(GTK_MENU_BUTTON(button)));
    g_assert_true(gtk_widget_get_mapped(popover));
    g_autofree char *first = visible_submenu(popover), *in = NULL, *out = NULL;
    for (int k = 0; k < 20 && !in; k++) {
        type("key Down key Right");
        in = visible_submenu(popover);
        if (g_str_equal(in, first))
            g_clear_pointer(&in, g_free);
    }
    g_assert_nonnull(in);
    type("key Down key Left");
    out = visible_submenu(popover);
    g_assert_cmpstr(out, ==, first);
    const LithoColormap *map = display()->look.map;
    type("key Right");
    gui_spin(&gui, 0.4);
    type("key Return"); // the line where it was left: "Next colour map"
    gui_spin(&gui, 0.4);
    g_assert_false(gtk_widget_get_mapped(popover));
    g_assert_true(display()->look.map != map);
    const LithoShow before = shown();
    type("key d");
    g_assert_cmpint(shown(), !=, before);
    type("key d");
    focus_view(0);
}

// Property: no two commands share a key, and no single key is one that the views take.
static void test_table(void)
{
    guint n;
    const LithoWindowCommand *commands = litho_commands(&n);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint k = 0; k < n; k++) {
        g_auto(GStrv) keys = g_strsplit(commands[k].accel ? commands[k].accel : "", " ", -1);
        for (char **key = keys; *key; key++)
            if (!g_hash_table_add(seen, g_strdup(*key)))
                g_error("two commands have the key %s", *key);
        if (commands[k].single)
            g_assert_true(litho_command_for_key(gdk_keyval_from_name(commands[k].accel), 0) ==
                          &commands[k]);
    }
}

// Property: the key that opens GTK's inspector in other programs does nothing here. (Its other one,
// Control+Shift+I, opens the import view.)
static void test_no_inspector(void)
{
    gui_type(&gui, "key ctrl+shift+d");
    gui_spin(&gui, 0.5);
    g_autoptr(GList) all = gtk_window_list_toplevels();
    for (GList *w = all; w; w = w->next)
        g_assert_cmpstr(G_OBJECT_TYPE_NAME(w->data), !=, "GtkInspectorWindow");
}

int main(int argc, char **argv)
{
    gui_init(&argc, &argv);
    if (!gui_can_type()) {
        g_print("1..0 # SKIP there is no xdotool\n");
        return 77;
    }
    gui_open_sized(&gui);
    g_autofree char *path = gui_write_cube(&gui, "keys.sgy", 40, 44, 80);
    gui_open_with_gain(&gui, path, 2);
    g_test_add_func("/keys/compare", test_compare);
    g_test_add_func("/keys/no-inspector", test_no_inspector);
    g_test_add_func("/keys/slices", test_slices);
    g_test_add_func("/keys/zoom", test_zoom);
    g_test_add_func("/keys/look", test_look);
    g_test_add_func("/keys/views", test_views);
    g_test_add_func("/keys/tab", test_tab);
    g_test_add_func("/keys/tab-round", test_tab_round);
    g_test_add_func("/keys/escape", test_escape);
    g_test_add_func("/keys/colour-map", test_colour_map);
    g_test_add_func("/keys/flow", test_flow);
    g_test_add_func("/keys/first-operator", test_first_operator);
    g_test_add_func("/keys/snapshot-menu", test_snapshot_menu);
    g_test_add_func("/keys/windows", test_windows);
    g_test_add_func("/keys/space-elsewhere", test_space_elsewhere);
    g_test_add_func("/keys/space-after-click", test_space_after_click);
    g_test_add_func("/keys/menu", test_menu);
    g_test_add_func("/keys/table", test_table);
    int status = g_test_run();
    gui_close(&gui);
    return status;
}
