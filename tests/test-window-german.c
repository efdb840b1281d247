// SPDX-License-Identifier: GPL-3.0-or-later
//
// The window in another language: what it shows is German, nothing is cut at 1280 x 800, what is
// parsed stays as it is; and the window from right to left.
#include <string.h>

#include "core/text.h"
#include "tests/gui/files.h"
#include "ui/view/plot.h"
#include "ui/window/window_private.h"

static Gui gui;
static char *path;

static void assert_german(const char *text, const char *where)
{
    const char *german = litho_text(text);
    if (german && strcmp(german, text) != 0)
        g_test_message("%s: \"%s\" should be \"%s\"", where, text, german);
    g_assert_cmpstr(german, ==, text);
}

// Each text that stands there and has a translation is the translation.
static guint check(GtkWidget *widget, const char *where)
{
    guint n = 0;
    if (!gtk_widget_get_mapped(widget))
        return 0;
    const char *tip = gtk_widget_get_tooltip_text(widget);
    if (tip)
        assert_german(tip, where);
    if (GTK_IS_LABEL(widget) && *gtk_label_get_text(GTK_LABEL(widget))) {
        assert_german(gtk_label_get_text(GTK_LABEL(widget)), where);
        // A file's name gives way where a step has volumes to choose from.
        if (pango_layout_is_ellipsized(gtk_label_get_layout(GTK_LABEL(widget))) && !tip &&
            strcmp(gtk_label_get_text(GTK_LABEL(widget)), "german.sgy") != 0) {
            g_test_message("%s: cut: %s", where, gtk_label_get_text(GTK_LABEL(widget)));
            n++;
        }
    }
    for (GtkWidget *c = gtk_widget_get_first_child(widget); c; c = gtk_widget_get_next_sibling(c))
        n += check(c, where);
    return n;
}

// Property: every operator's panel is German and whole.
static void test_panels(void)
{
    guint cut = 0;
    for (const LithoOperator *const *op = litho_operators(); *op; op++) {
        gui_show_operator(&gui, *op);
        cut += check(GTK_WIDGET(gui.window), (*op)->key);
        g_autofree char *name = g_strdup_printf("german-%s", (*op)->key);
        gui_screenshot(&gui, name);
    }
    g_assert_cmpuint(cut, ==, 0);
    GtkWidget *left = litho_panels_get(gui.window->panels, LITHO_PANEL_LEFT);
    g_assert_true(gui_label_says(left, "Ablauf"));
    gui_show_operator(&gui, litho_operator_find("fx"));
    g_assert_true(gui_label_says(left, "Halbe Breite"));
    g_assert_true(gui_label_says(left, "F-X-Prädiktion"));
    g_assert_true(gui_label_says(left, "Standard"));    // the preset
    g_assert_true(gui_label_says(left, "durchlassen")); // a choice
}

// Property: a window of 1100 x 700 has the figures that settings are judged by, whatever the
// operator.
static void test_narrow(void)
{
    static const int widths[] = {1100, 1280};
    GtkWidget *right = litho_panels_get(gui.window->panels, LITHO_PANEL_RIGHT);
    for (const LithoOperator *const *op = litho_operators(); *op; op++) {
        gui_show_operator(&gui, *op);
        for (guint k = 0; k < G_N_ELEMENTS(widths); k++) {
            gtk_window_set_default_size(GTK_WINDOW(gui.window), widths[k], k ? 800 : 700);
            gui_spin(&gui, 0.6);
            g_test_message("%s: window %d, panel %d wide", (*op)->key,
                           gtk_widget_get_width(GTK_WIDGET(gui.window)),
                           gtk_widget_get_width(right));
            g_assert_true(gtk_widget_get_visible(right));
        }
    }
}

// Property: the list of stages takes no more width than the panel has.
static void test_stages(void)
{
    gui_show_operator(&gui, litho_operator_find("patch"));
    GtkWidget *right = litho_panels_get(gui.window->panels, LITHO_PANEL_RIGHT);
    const int width = gtk_widget_get_width(right);
    GtkLabel *title = gui_find_label(right, litho_text("Stages"));
    g_assert_nonnull(title);
    GtkWidget *button = gtk_widget_get_ancestor(GTK_WIDGET(title), GTK_TYPE_TOGGLE_BUTTON);
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(button), TRUE);
    gui_spin(&gui, 0.3);
    g_assert_true(gui_label_says(right, "Median"));
    g_assert_cmpint(gtk_widget_get_width(right), ==, width);
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(button), FALSE);
}

// Property: so are the dialogs, and a small screen holds them.
static void test_dialogs(void)
{
    static const char *const opens[][2] = {{"win.import", "german.sgy importieren"},
                                           {"win.sweep", "Parameterreihe"},
                                           {"win.survey", "Survey"},
                                           {"win.help", "Hilfe zu Lithoscope"},
                                           {"win.palette", "Befehle"}};
    gui_show_operator(&gui, litho_operator_find("fx"));
    for (guint k = 0; k < G_N_ELEMENTS(opens); k++) {
        gui_activate(&gui, opens[k][0]);
        gui_spin(&gui, 1);
        GtkWindow *window = gui_window_titled(opens[k][1]);
        g_assert_nonnull(window);
        if (!g_str_equal(opens[k][0], "win.palette")) // its values are the command line's
            check(GTK_WIDGET(window), opens[k][1]);
        int width;
        gtk_widget_measure(GTK_WIDGET(window), GTK_ORIENTATION_HORIZONTAL, -1, &width, NULL, NULL,
                           NULL);
        g_assert_cmpint(width, <=, 800);
        gui_screenshot_of(&gui, GTK_WIDGET(window), opens[k][0]);
        gtk_window_destroy(window);
        gui_spin(&gui, 0.2);
    }
    gui_settle(&gui);
}

// Property: a unit that the field shows in German can stay where a number is typed, and the words of
// a special value can be typed in German; commands keep English keys and points.
static void test_typing(void)
{
    const LithoOperator *fx = litho_operator_find("fx");
    gui_show_operator(&gui, fx);
    LithoParamPanel *panel = litho_window_params(gui.window);
    GtkWidget *window =
        gui_find_type(litho_param_panel_row(panel, "window"), GTK_TYPE_SPIN_BUTTON);
    g_assert_cmpstr(gtk_editable_get_text(GTK_EDITABLE(window)), ==, "20 Spuren");
    gtk_editable_set_text(GTK_EDITABLE(window), "24 Spuren");
    gtk_spin_button_update(GTK_SPIN_BUTTON(window));
    GtkWidget *whitening =
        gui_find_type(litho_param_panel_row(panel, "prewhitening"), GTK_TYPE_SPIN_BUTTON);
    gtk_editable_set_text(GTK_EDITABLE(whitening), "2.5 %");
    gtk_spin_button_update(GTK_SPIN_BUTTON(whitening));
    gui_spin(&gui, 0.2);
    g_autofree char *command = litho_window_command(gui.window);
    g_assert_nonnull(strstr(command, "window=24"));
    g_assert_nonnull(strstr(command, "prewhitening=2.5"));
    gtk_editable_set_text(GTK_EDITABLE(whitening), "automatisch");
    gtk_spin_button_update(GTK_SPIN_BUTTON(whitening));
    gui_spin(&gui, 0.2);
    g_autofree char *plain = litho_window_command(gui.window);
    g_assert_null(strstr(plain, "prewhitening"));
}

// Property: advice to the command line is cut from a sentence that the window shows, in German, too.
static void test_advice(void)
{
    const char *const refused =
        litho_text("the file states no sample interval; 4 ms is assumed, give --dt");
    g_assert_nonnull(strstr(refused, "--dt"));
    g_autofree char *plain = litho_plain_sentence(refused);
    g_assert_null(strstr(plain, "--"));
}

// Property: so is the race, with its choices.
static void test_race(void)
{
    g_autoptr(GError) error = NULL;
    LithoRaceView *race = litho_podium_race_view(gui.window->podium);
    gui_show_operator(&gui, litho_operator_find("fx"));
    g_assert_true(litho_race_view_open(race, NULL, &error));
    g_assert_no_error(error);
    for (int k = 0; k < 600 && !litho_race_view_result(race); k++)
        gui_spin(&gui, 0.05);
    gui_screenshot(&gui, "german-race");
    g_assert_cmpuint(check(GTK_WIDGET(race), "race"), ==, 0);
    g_assert_true(gui_label_says(GTK_WIDGET(race), "Offener Würfel"));
    litho_race_view_close(race);
    gui_settle(&gui);
}

static int left_of(GtkWidget *widget)
{
    graphene_point_t at;
    g_assert_true(
        gtk_widget_compute_point(widget, GTK_WIDGET(gui.window), &GRAPHENE_POINT_INIT(0, 0), &at));
    return (int)at.x;
}

// Property: a file's name is whole where the header has room, and its tooltip is always; a button with a
// long name gives way first. Taken back, it has its name again.
static void test_header(void)
{
    g_autofree char *name = gui_write_cube(&gui, "survey-of-many-days.sgy", 30, 32, 60);
    gui_open_with_gain(&gui, name, 2);
    GtkWidget *header = litho_header_widget(gui.window->header);
    gui_spin(&gui, 0.2);
    gui_screenshot(&gui, "german-title");
    for (int k = 0; k < 2; k++) {
        GtkLabel *title = gui_find_label(header, "survey-of-many-days.sgy");
        g_assert_nonnull(title);
        g_assert_cmpstr(gtk_widget_get_tooltip_text(GTK_WIDGET(title)), ==,
                        "survey-of-many-days.sgy");
        g_assert_nonnull(gui_find_label(header, "Geteilt"));
        g_assert_true(!gui_find_label(header, "Nebeneinander") == (k == 0));
        g_assert_false(pango_layout_is_ellipsized(gtk_label_get_layout(title)));
        litho_header_fit(gui.window->header, k ? 1280 : 2000);
    }
    // With one more button, of an operator that gives several volumes.
    g_autofree char *sizes = gui_write_cube(&gui, "hundreds.sgy", 100, 101, 102);
    gui_open_file(&gui, sizes);
    gui_use_operator(&gui, litho_operator_find("patch"));
    gui_spin(&gui, 0.2);
    g_assert_nonnull(gui_find_label(header, "Ergebnis"));
    GtkLabel *subtitle = gui_find_label(header, "100 × 101 × 102 · 4 ms");
    g_assert_nonnull(subtitle);
    g_assert_false(pango_layout_is_ellipsized(gtk_label_get_layout(subtitle)));
    gui_open_with_gain(&gui, path, 2);
}

// The first digit before a percent sign stands left of it.
static guint check_percents(GtkWidget *widget)
{
    guint n = 0;
    const char *text = GTK_IS_LABEL(widget) ? gtk_label_get_text(GTK_LABEL(widget)) : "";
    const char *digit = text + strcspn(text, "0123456789"), *percent = strchr(digit, '%');
    if (!gtk_widget_get_mapped(widget))
        return 0;
    if (percent) {
        PangoRectangle at[2];
        PangoLayout *layout = gtk_label_get_layout(GTK_LABEL(widget));
        pango_layout_index_to_pos(layout, (int)(digit - text), &at[0]);
        pango_layout_index_to_pos(layout, (int)(percent - text), &at[1]);
        g_assert_true(at[0].y != at[1].y || at[0].x < at[1].x);
        n++;
    }
    if (GTK_IS_SPIN_BUTTON(widget)) {
        GtkEditable *field = gtk_editable_get_delegate(GTK_EDITABLE(widget));
        g_assert_cmpint(gtk_widget_get_direction(GTK_WIDGET(field)), ==, GTK_TEXT_DIR_LTR);
    }
    for (GtkWidget *c = gtk_widget_get_first_child(widget); c; c = gtk_widget_get_next_sibling(c))
        n += check_percents(c);
    return n;
}

// Figures of the result come after it.
static gboolean has_percents(Gui *g)
{
    return check_percents(GTK_WIDGET(g->window)) > 1;
}

// Property: the window stands in a language that is read from right to left, and is as wide as
// before; panels change sides, and views, curves and their numbers stay as they are.
static void test_right_to_left(void)
{
    gtk_widget_set_default_direction(GTK_TEXT_DIR_RTL);
    gui_reopen(&gui);
    gui_spin(&gui, 1); // no file is open: there is no result to wait for
    g_assert_cmpint(gtk_widget_get_direction(GTK_WIDGET(gui.window)), ==, GTK_TEXT_DIR_RTL);
    g_assert_cmpint(gtk_widget_get_width(GTK_WIDGET(gui.window)), <=, 1280);
    gui_screenshot(&gui, "right-to-left");
    gui_open_with_gain(&gui, path, 2);
    gui_use_operator(&gui, litho_operator_find("fx"));
    g_assert_true(gui_wait(gui_has_output, &gui, 60));
    g_assert_true(gui_wait(has_percents, &gui, 60));
    gui_settle(&gui);
    gui_screenshot(&gui, "right-to-left-fx");
    LithoCanvas *canvas = litho_window_canvas(gui.window);
    GtkWidget *inline_view = GTK_WIDGET(litho_canvas_view(canvas, LITHO_INLINE));
    g_assert_cmpint(left_of(inline_view), <,
                    left_of(GTK_WIDGET(litho_canvas_view(canvas, LITHO_XLINE))));
    g_assert_cmpint(left_of(inline_view), <,
                    left_of(litho_panels_get(gui.window->panels, LITHO_PANEL_LEFT)));
    // Fields stand as far from the panel's left border as they do from the right one otherwise.
    GtkWidget *left = litho_panels_get(gui.window->panels, LITHO_PANEL_LEFT);
    GtkWidget *row = gui_find_type(left, LITHO_TYPE_PARAM_EDITOR);
    g_assert_cmpint(left_of(gui_find_type(row, GTK_TYPE_SPIN_BUTTON)), >=, left_of(left) + 10);
    GtkWidget *plot = gui_find_type(GTK_WIDGET(gui.window), LITHO_TYPE_PLOT);
    g_assert_cmpint(gtk_widget_get_direction(plot), ==, GTK_TEXT_DIR_LTR);
    gtk_widget_set_default_direction(GTK_TEXT_DIR_LTR);
}

int main(int argc, char **argv)
{
    g_setenv("LC_ALL", "C.UTF-8", TRUE);
    g_setenv("LANGUAGE", "de", TRUE);
    litho_text_init();
    if (strcmp(litho_text("Flow"), "Ablauf") != 0) {
        g_print("1..0 # SKIP the translations were not built or C.UTF-8 is not there\n");
        return 0;
    }
    gui_init(&argc, &argv);
    gui_open(&gui, 1280, 800);
    path = gui_write_cube(&gui, "german.sgy", 30, 32, 60);
    gui_open_with_gain(&gui, path, 2);
    g_test_add_func("/german/panels", test_panels);
    g_test_add_func("/german/narrow", test_narrow);
    g_test_add_func("/german/stages", test_stages);
    g_test_add_func("/german/dialogs", test_dialogs);
    g_test_add_func("/german/race", test_race);
    g_test_add_func("/german/typing", test_typing);
    g_test_add_func("/german/advice", test_advice);
    g_test_add_func("/german/header", test_header);
    g_test_add_func("/german/right-to-left", test_right_to_left);
    int status = g_test_run();
    gui_close(&gui);
    return status;
}
