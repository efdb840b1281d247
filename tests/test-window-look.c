// SPDX-License-Identifier: GPL-3.0-or-later
//
// Look of the window where it is not the designer's: a narrow or small screen, large text, dark and
// high-contrast themes, a locale with a decimal comma. Asked of the widgets, not of pixels: which
// panels stand there, which labels are cut, which colours meet.
#include <locale.h>
#include <math.h>
#include <string.h>

#include "core/calm.h"
#include "kernels/template/template.h"
#include "render/ticks.h"
#include "tests/gui/files.h"
#include "ui/panel/parts.h"
#include "ui/view/cube_view_private.h"
#include "ui/window/window_private.h"

static Gui gui;

static void resize(int width, int height)
{
    gtk_window_set_default_size(GTK_WINDOW(gui.window), width, height);
    gui_spin(&gui, 0.6);
}

static void assert_panels(gboolean left, gboolean right)
{
    g_test_message("window %d wide: left %d right %d", gtk_widget_get_width(GTK_WIDGET(gui.window)),
                   gtk_widget_get_visible(litho_panels_get(gui.window->panels, LITHO_PANEL_LEFT)),
                   gtk_widget_get_visible(litho_panels_get(gui.window->panels, LITHO_PANEL_RIGHT)));
    g_assert_cmpint(gtk_widget_get_visible(litho_panels_get(gui.window->panels, LITHO_PANEL_LEFT)),
                    ==, left);
    g_assert_cmpint(gtk_widget_get_visible(litho_panels_get(gui.window->panels, LITHO_PANEL_RIGHT)),
                    ==, right);
}

// Property: the views keep room in a narrow window; the panel that gave way comes back with the
// width and counts as wanted meanwhile; one that a person asks for there stays; nothing is wider
// than the window.
static void test_room(void)
{
    resize(1280, 800);
    assert_panels(TRUE, TRUE);
    resize(1100, 700); // the figures are what settings are judged by
    assert_panels(TRUE, TRUE);
    resize(980, 700);
    assert_panels(TRUE, FALSE);
    g_assert_true(litho_window_wants_panel(gui.window, 1));
    gui_screenshot(&gui, "narrow");
    gui_activate(&gui, "win.fold-right");
    assert_panels(TRUE, TRUE);
    gui_activate(&gui, "win.fold-right");
    assert_panels(TRUE, FALSE);
    g_assert_false(litho_window_wants_panel(gui.window, 1)); // folded by hand
    resize(1280, 800);
    assert_panels(TRUE, FALSE);
    gui_activate(&gui, "win.fold-right");
    assert_panels(TRUE, TRUE);
    resize(900, 600); // the header shrinks, and lets the window become smaller
    resize(800, 600);
    assert_panels(TRUE, FALSE);
    g_assert_cmpint(gtk_widget_get_width(GTK_WIDGET(gui.window)), <=, 800);
    gui_screenshot(&gui, "small");
    gui_activate(&gui, "win.fold-right"); // there is no room for both
    assert_panels(FALSE, TRUE);
    gui_spin(&gui, 0.4);
    g_assert_cmpint(gtk_widget_get_width(GTK_WIDGET(litho_window_canvas(gui.window))), >=, 240);
    gui_activate(&gui, "win.fold-left");
    assert_panels(TRUE, FALSE);
    gui_activate(&gui, "win.fold-right");
    gui_activate(&gui, "win.fold-right");
    gui_spin(&gui, 0.4);
    assert_panels(TRUE, FALSE); // the left one is back
    gui_activate(&gui, "win.fold-right");
    gui_activate(&gui, "win.fold-left");
    assert_panels(TRUE, FALSE);
    resize(1280, 800);
    assert_panels(TRUE, TRUE);
    g_assert_true(litho_header_is_whole(gui.window->header));
}

// Property: a header without room for all still names the file where there is room for that.
static void test_narrow_header(void)
{
    GtkWidget *bar = litho_header_widget(gui.window->header);
    GtkWidget *title = GTK_WIDGET(gui_find_label(bar, litho_header_title(gui.window->header)));
    int least;
    litho_header_fit(gui.window->header, 400);
    g_assert_false(litho_header_is_whole(gui.window->header));
    g_assert_false(gtk_widget_get_visible(gtk_widget_get_parent(title)));
    gtk_widget_measure(bar, GTK_ORIENTATION_HORIZONTAL, -1, &least, NULL, NULL, NULL);
    litho_header_fit(gui.window->header, least + 130);
    g_assert_false(litho_header_is_whole(gui.window->header));
    g_assert_true(gtk_widget_get_visible(gtk_widget_get_parent(title)));
    litho_header_fit(gui.window->header, gtk_widget_get_width(GTK_WIDGET(gui.window)));
}

// Property: the similarity, which lies over whatever is compared, is no one of the linked buttons
// of which one is pressed.
static void test_similarity_stands_apart(void)
{
    GtkWidget *bar = gtk_window_get_titlebar(GTK_WINDOW(gui.window));
    static const char *const names[] = {"Removed", "Similarity"};
    GtkWidget *box[2];
    for (int k = 0; k < 2; k++) {
        GtkLabel *label = gui_find_label(bar, names[k]);
        g_assert_nonnull(label);
        GtkWidget *button = gtk_widget_get_ancestor(GTK_WIDGET(label), GTK_TYPE_TOGGLE_BUTTON);
        box[k] = gtk_widget_get_parent(button);
        const char *tip = gtk_widget_get_tooltip_text(button); // little that leaves looks blank
        g_assert_true(k > 0 || strstr(tip, "} shows it stronger"));
    }
    g_assert_true(gtk_widget_has_css_class(box[0], "linked"));
    g_assert_false(gtk_widget_has_css_class(box[1], "linked"));
}

// Property: who computes is said on a screen that is filled, too: the header is not there then.
static void test_full_screen(void)
{
    GtkWidget *badge = litho_header_full_badge(gui.window->header);
    g_assert_false(gtk_widget_get_visible(badge));
    // Without a window manager a window fills the screen only from the moment it is shown.
    gtk_widget_set_visible(GTK_WIDGET(gui.window), FALSE);
    gtk_window_fullscreen(GTK_WINDOW(gui.window));
    gtk_window_present(GTK_WINDOW(gui.window));
    gui_spin(&gui, 0.5);
    g_assert_true(gtk_window_is_fullscreen(GTK_WINDOW(gui.window)));
    g_assert_true(gtk_widget_get_mapped(badge));
    g_assert_nonnull(strstr(gtk_label_get_text(GTK_LABEL(badge)), "CPU"));
    gui_screenshot(&gui, "full-screen");
    gtk_widget_set_visible(GTK_WIDGET(gui.window), FALSE);
    gtk_window_unfullscreen(GTK_WINDOW(gui.window));
    gtk_window_present(GTK_WINDOW(gui.window));
    gui_spin(&gui, 0.5);
    g_assert_false(gtk_widget_get_visible(badge));
}

// Property: every window of its own fits a small screen: what does not find room there scrolls.
static void test_dialogs(void)
{
    static const char *const opens[][2] = {{"win.import", "Import look.sgy"},
                                           {"win.sweep", "Parameter sweep"},
                                           {"win.survey", "Survey"},
                                           {"win.help", "Lithoscope help"},
                                           {"win.palette", "Commands"}};
    for (guint k = 0; k < G_N_ELEMENTS(opens); k++) {
        gui_activate(&gui, opens[k][0]);
        gui_spin(&gui, 1);
        GtkWindow *window = gui_window_titled(opens[k][1]);
        g_assert_nonnull(window);
        int width, height;
        gtk_widget_measure(GTK_WIDGET(window), GTK_ORIENTATION_HORIZONTAL, -1, &width, NULL, NULL,
                           NULL);
        gtk_widget_measure(GTK_WIDGET(window), GTK_ORIENTATION_VERTICAL, -1, &height, NULL, NULL,
                           NULL);
        g_test_message("%s: at least %d x %d", opens[k][1], width, height);
        g_assert_cmpint(width, <=, 800);
        g_assert_cmpint(height, <=, 600);
        gui_screenshot_of(&gui, GTK_WIDGET(window), opens[k][0]);
        gtk_window_destroy(window);
        gui_spin(&gui, 0.2);
    }
    gui_settle(&gui);
}

// Property: side by side the numbers of the time axis stand once, and both sections are equally
// wide.
static void test_beside(void)
{
    gui_activate(&gui, "win.show('side')");
    gui_settle(&gui);
    const LithoCubeView *view = litho_canvas_view(litho_window_canvas(gui.window), LITHO_INLINE);
    g_assert_cmpuint(view->n_panels, ==, 2);
    const LithoRect a = view->panel[0].frame.data, b = view->panel[1].frame.data;
    g_test_message("%g and %g wide, %g between, %g before", a.w, b.w, b.x - a.x - a.w, a.x);
    g_assert_cmpfloat(fabs(a.w - b.w), <=, 1);
    g_assert_cmpfloat(b.x - a.x - a.w, <, a.x);
    gui_screenshot(&gui, "beside");
    gui_activate(&gui, "win.show('output')");
    gui_settle(&gui);
}

static void count_sizes(const char *domain, GLogLevelFlags level, const char *text, gpointer n)
{
    (void)domain, (void)level;
    *(guint *)n += strstr(text, "reported min") != NULL;
}

// Keys below `widget`, each of which a person would say: "Page Up", not "Page_Up".
static guint count_keys(GtkWidget *widget)
{
    guint n = 0;
    if (GTK_IS_LABEL(widget) && gtk_widget_has_css_class(widget, "keycap")) {
        g_assert_null(strchr(gtk_label_get_text(GTK_LABEL(widget)), '_'));
        n++;
    }
    for (GtkWidget *c = gtk_widget_get_first_child(widget); c; c = gtk_widget_get_next_sibling(c))
        n += count_keys(c);
    return n;
}

// Property: no part of the window of shortcuts asks for less than no room, and its keys have names.
static void test_shortcuts(void)
{
    guint n = 0;
    const guint handler = g_log_set_handler("Gtk", G_LOG_LEVEL_WARNING, count_sizes, &n);
    gui_activate(&gui, "win.shortcuts");
    gui_spin(&gui, 0.6);
    GtkWindow *shortcuts = gui_window_of(GTK_TYPE_SHORTCUTS_WINDOW);
    g_assert_nonnull(shortcuts);
    g_assert_cmpuint(count_keys(GTK_WIDGET(shortcuts)), >, 80);
    gtk_window_destroy(shortcuts);
    gui_spin(&gui, 0.2);
    g_log_remove_handler("Gtk", handler);
    g_assert_cmpuint(n, ==, 0);
}

// Property: the About dialog shows a picture that the icon theme has, also in the build tree, and
// says who made the program and under which license.
static void test_about(void)
{
    gui_activate(&gui, "win.about");
    gui_spin(&gui, 0.5);
    GtkWindow *window = gui_window_of(GTK_TYPE_ABOUT_DIALOG);
    g_assert_nonnull(window);
    GtkAboutDialog *about = GTK_ABOUT_DIALOG(window);
    GtkIconTheme *icons =
        gtk_icon_theme_get_for_display(gtk_widget_get_display(GTK_WIDGET(gui.window)));
    const char *icon = gtk_about_dialog_get_logo_icon_name(about);
    g_assert_true(icon && gtk_icon_theme_has_icon(icons, icon));
    g_assert_nonnull(gtk_about_dialog_get_authors(about)[0]);
    g_assert_cmpint(gtk_about_dialog_get_license_type(about), ==, GTK_LICENSE_GPL_3_0);
    gtk_window_close(GTK_WINDOW(about));
    gui_spin(&gui, 0.2);
}

// --- places -------------------------------------------------------------------------------------

static void check_sliders(GtkWidget *widget, guint *n)
{
    if (!gtk_widget_get_mapped(widget))
        return;
    if (GTK_IS_SCALE(widget)) {
        (*n)++;
        g_test_message("a slider of %d px", gtk_widget_get_width(widget));
        g_assert_cmpint(gtk_widget_get_width(widget), >=, 76);
    }
    for (GtkWidget *c = gtk_widget_get_first_child(widget); c; c = gtk_widget_get_next_sibling(c))
        check_sliders(c, n);
}

// Property: at the usual width of the window a hand finds its value on every slider; 55 px for
// hundreds of values are none.
static void test_sliders(void)
{
    static const char *const keys[] = {"fx", "patch", "wavepacket", "migrate"};
    guint n = 0;
    resize(1280, 800);
    for (guint k = 0; k < G_N_ELEMENTS(keys); k++) {
        const LithoOperator *op = litho_operator_find(keys[k]);
        if (!op)
            continue;
        gui_use_operator(&gui, op);
        gui_settle(&gui);
        check_sliders(gui.window->params, &n);
    }
    g_assert_cmpuint(n, >, 0);
    gui_use_operator(&gui, &litho_operator_template);
    gui_settle(&gui);
}

static void count_tip(GtkWidget *widget, GParamSpec *spec, guint *tips)
{
    (void)widget;
    (void)spec;
    (*tips)++;
}

static void watch_tips(GtkWidget *widget, guint *tips)
{
    g_signal_connect(widget, "notify::tooltip-text", G_CALLBACK(count_tip), tips);
    for (GtkWidget *child = gtk_widget_get_first_child(widget); child;
         child = gtk_widget_get_next_sibling(child))
        watch_tips(child, tips);
}

static void forget_tips(GtkWidget *widget, guint *tips)
{
    g_signal_handlers_disconnect_by_func(widget, count_tip, tips);
    for (GtkWidget *child = gtk_widget_get_first_child(widget); child;
         child = gtk_widget_get_next_sibling(child))
        forget_tips(child, tips);
}

// Property: a move of a slider leaves the tooltips of other rows alone. GTK waits for the display
// server at each that is set, and a drag would stand still for it.
static void test_tooltips_at_rest(void)
{
    enum { MOVES = 4 };
    const LithoOperator *op = litho_operator_find("fx");
    const LithoParam *row = op ? litho_param_find(&op->params, "fmin") : NULL;
    guint tips = 0;
    if (!row) {
        g_test_skip("no fx");
        return;
    }
    gui_use_operator(&gui, op);
    gui_settle(&gui);
    watch_tips(GTK_WIDGET(gui.window), &tips);
    for (int k = 0; k < MOVES; k++)
        litho_session_set_param(gui.session, 0, row, row->min + 3 * (k + 1), NULL, NULL);
    const guint moved = tips;
    gui_settle(&gui);
    g_test_message("%u tooltips at %d moves, %u with the results", moved, MOVES, tips);
    g_assert_cmpuint(moved, <=, 2 * MOVES); // the row's own mark, and perhaps what tells a change
    forget_tips(GTK_WIDGET(gui.window), &tips);
    gui_use_operator(&gui, &litho_operator_template);
    gui_settle(&gui);
}

// Property: the sentence of an error covers no title of a view, and moves no view.
static void test_error_bar(void)
{
    LithoCanvas *canvas = litho_window_canvas(gui.window);
    GtkWidget *bar = litho_bar_widget(litho_tellers_error(gui.window->tellers));
    graphene_rect_t before, after, over;
    g_assert_true(gtk_widget_compute_bounds(GTK_WIDGET(canvas), GTK_WIDGET(gui.window), &before));
    litho_bar_tell(litho_tellers_error(gui.window->tellers),
                   "this file is none that can be read: it has no samples, and its text header "
                   "says that it is a letter",
                   "details");
    gui_spin(&gui, 0.8);
    gui_screenshot(&gui, "error");
    g_assert_true(gtk_widget_compute_bounds(GTK_WIDGET(canvas), GTK_WIDGET(gui.window), &after));
    g_assert_true(graphene_rect_equal(&before, &after));
    g_assert_true(gtk_widget_compute_bounds(bar, GTK_WIDGET(canvas), &over));
    g_assert_cmpfloat(over.size.height, >, 10);
    g_assert_cmpfloat(over.origin.y, >, after.size.height / 2 + 30); // below the lower titles
    litho_bar_hide(litho_tellers_error(gui.window->tellers));
}

// --- text ---------------------------------------------------------------------------------------

// Property: a label without room for a line breaks before a unit, and within no number.
static void test_unbroken(void)
{
    GtkWidget *label = g_object_ref_sink(litho_label_new("1\u2009972 ms", NULL));
    for (int whole = 0; whole < 2; whole++) {
        if (whole)
            litho_label_set_unbroken(label, "1\u2009972 ms");
        g_autoptr(PangoLayout) layout =
            gtk_widget_create_pango_layout(label, gtk_label_get_text(GTK_LABEL(label)));
        pango_layout_set_width(layout, 1);
        g_assert_cmpint(pango_layout_get_line_count(layout), ==, whole ? 2 : 3);
    }
    g_object_unref(label);
}

// A number field with less room than its text.
static gboolean is_cut_field(GtkWidget *widget)
{
    if (!GTK_IS_TEXT(widget))
        return FALSE;
    const char *text = gtk_editable_get_text(GTK_EDITABLE(widget));
    g_autoptr(PangoLayout) layout = gtk_widget_create_pango_layout(widget, text);
    int width;
    pango_layout_get_pixel_size(layout, &width, NULL);
    if (width > gtk_widget_get_width(widget))
        g_test_message("cut: '%s' in %d of %d pixels", text, gtk_widget_get_width(widget), width);
    return width > gtk_widget_get_width(widget);
}

// Labels of which less is shown than they say, and that say the rest nowhere, and such fields.
static guint count_cut(GtkWidget *widget)
{
    guint n = is_cut_field(widget);
    if (!gtk_widget_get_mapped(widget))
        return 0;
    if (GTK_IS_LABEL(widget) && *gtk_label_get_text(GTK_LABEL(widget)) &&
        pango_layout_is_ellipsized(gtk_label_get_layout(GTK_LABEL(widget))) &&
        !gtk_widget_get_tooltip_text(widget)) {
        g_test_message("cut: %s", gtk_label_get_text(GTK_LABEL(widget)));
        n++;
    }
    for (GtkWidget *c = gtk_widget_get_first_child(widget); c; c = gtk_widget_get_next_sibling(c))
        n += count_cut(c);
    return n;
}

// Property: no operator's parameters are cut, neither with the usual text nor with text half as
// large again, for which the panels grow and the views still have room; the axes' text grows as
// well.
static void test_text(void)
{
    GtkSettings *settings = gtk_settings_get_default();
    int usual;
    g_object_get(settings, "gtk-xft-dpi", &usual, NULL);
    for (int k = 0; k < 2; k++) {
        g_object_set(settings, "gtk-xft-dpi", k == 0 ? 96 * 1024 : 144 * 1024, NULL);
        gui_spin(&gui, 0.6);
        LithoCubeView *view = litho_canvas_view(litho_window_canvas(gui.window), LITHO_INLINE);
        g_assert_cmpfloat(litho_cube_view_style(view).font_size, ==, k == 0 ? 11 : 16.5);
        for (const LithoOperator *const *op = litho_operators(); *op; op++) {
            gui_show_operator(&gui, *op);
            g_assert_cmpuint(count_cut(litho_panels_get(gui.window->panels, LITHO_PANEL_LEFT)), ==,
                             0);
            g_autofree char *name = g_strdup_printf("text-%d-%s", k, (*op)->key);
            gui_screenshot(&gui, name);
        }
        assert_panels(TRUE, k == 0);
        g_assert_cmpint(gtk_widget_get_width(GTK_WIDGET(litho_window_canvas(gui.window))), >=, 500);
    }
    g_object_set(settings, "gtk-xft-dpi", usual, NULL);
    gui_forget_flow(&gui);
    resize(1280, 800);
}

// --- colours ------------------------------------------------------------------------------------

static double linear(double x)
{
    return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
}

static double luminance(GdkRGBA c)
{
    return 0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue);
}

// WCAG 2.1: (lighter + 0.05) / (darker + 0.05).
static double contrast(GdkRGBA a, GdkRGBA b)
{
    double x = luminance(a), y = luminance(b);
    return (MAX(x, y) + 0.05) / (MIN(x, y) + 0.05);
}

static GdkRGBA named(GtkWidget *widget, const char *name)
{
    GdkRGBA colour;
    if (!gtk_style_context_lookup_color(gtk_widget_get_style_context(widget), name, &colour))
        g_error("no colour %s", name);
    return colour;
}

static GdkRGBA colour_of(GtkWidget *widget)
{
    GdkRGBA colour;
    gtk_style_context_get_color(gtk_widget_get_style_context(widget), &colour);
    return colour;
}

static void count_pictures(GtkWidget *widget, guint *count)
{
    if (GTK_IS_PICTURE(widget)) {
        g_assert_cmpint(gtk_widget_get_width(widget), >, 400);
        *count += 1;
    }
    for (GtkWidget *c = gtk_widget_get_first_child(widget); c; c = gtk_widget_get_next_sibling(c))
        count_pictures(c, count);
}

// The info button leads to all parameters of the operator, with pictures of those that have some.
static void test_pages(void)
{
    static const struct {
        const char *key, *text;
        guint pictures;
    } operators[] = {{"fx", "amplitudes shrink", 20}, {"twsm", "beams", 17}};
    for (guint k = 0; k < G_N_ELEMENTS(operators); k++) {
        const LithoOperator *op = litho_operator_find(operators[k].key);
        gui_show_operator(&gui, op);
        GtkWidget *panel = GTK_WIDGET(litho_window_params(gui.window));
        GtkMenuButton *info = GTK_MENU_BUTTON(gui_find_type(panel, GTK_TYPE_MENU_BUTTON));
        gtk_menu_button_popup(info);
        gui_spin(&gui, 0.3);
        GtkWidget *popover = GTK_WIDGET(gtk_menu_button_get_popover(info));
        gtk_widget_activate(gui_find_type(popover, GTK_TYPE_BUTTON));
        gui_spin(&gui, 0.6);
        GtkWindow *window = gui_window_titled(op->title);
        guint pictures = 0;
        g_assert_nonnull(window);
        g_assert_true(gui_label_says(GTK_WIDGET(window), operators[k].text));
        count_pictures(GTK_WIDGET(window), &pictures);
        g_assert_cmpuint(pictures, ==, operators[k].pictures);
        g_autofree char *name = g_strdup_printf("parameters-%s", op->key);
        gui_screenshot_of(&gui, GTK_WIDGET(window), name);
        gtk_window_close(window);
        gui_spin(&gui, 0.2);
    }
    gui_forget_flow(&gui);
    gui_settle(&gui);
}

// Property: in light, dark and both high-contrast themes the dot of a changed parameter and the
// accent of sliders stand out of the panel by 3 at least, as WCAG asks of what is no text;
// complaints, which are text, by 4.5.
static void test_contrast(void)
{
    static const struct {
        const char *theme;
        gboolean dark;
    } themes[] = {
        {"Default", FALSE}, {"Default", TRUE}, {"HighContrast", FALSE}, {"HighContrast", TRUE}};
    GtkSettings *settings = gtk_settings_get_default();
    gui_show_operator(&gui, &litho_operator_template);
    gui_set_gain(&gui, 5);
    GtkWidget *row = litho_param_panel_row(litho_window_params(gui.window), "gain");
    litho_param_editor_complain(LITHO_PARAM_EDITOR(row), "what is wrong");
    GtkWidget *dot = gui_find_type(row, GTK_TYPE_BUTTON),
              *complaint = gtk_widget_get_last_child(row);
    g_assert_true(gtk_widget_has_css_class(dot, "litho-dot"));
    for (guint k = 0; k < G_N_ELEMENTS(themes); k++) {
        g_object_set(settings, "gtk-theme-name", themes[k].theme,
                     "gtk-application-prefer-dark-theme", themes[k].dark, NULL);
        gui_spin(&gui, 0.3);
        GdkRGBA ground = named(row, "theme_bg_color");
        double at_dot = contrast(colour_of(dot), ground);
        double at_accent = contrast(named(row, "litho_accent"), ground);
        double at_text = contrast(colour_of(complaint), ground);
        g_test_message("%s%s: dot %.1f accent %.1f complaint %.1f", themes[k].theme,
                       themes[k].dark ? " dark" : "", at_dot, at_accent, at_text);
        g_assert_cmpfloat(at_dot, >=, 3);
        g_assert_cmpfloat(at_accent, >=, 3);
        g_assert_cmpfloat(at_text, >=, 4.5);
        g_autofree char *name = g_strdup_printf("theme-%u", k);
        gui_screenshot(&gui, name);
    }
    gtk_settings_reset_property(settings, "gtk-theme-name");
    gtk_settings_reset_property(settings, "gtk-application-prefer-dark-theme");
    litho_param_editor_complain(LITHO_PARAM_EDITOR(row), NULL);
}

// --- numbers ------------------------------------------------------------------------------------

// Property: where people write a decimal comma, the window shows it and takes both it and the
// point; commands and recipes keep the point.
static void test_comma(void)
{
    gui_show_operator(&gui, &litho_operator_template);
    gui_set_gain(&gui, 2.5);
    gui_spin(&gui, 0.2);
    GtkWidget *row = litho_param_panel_row(litho_window_params(gui.window), "gain");
    GtkWidget *spin = gui_find_type(row, GTK_TYPE_SPIN_BUTTON);
    g_assert_cmpstr(gtk_editable_get_text(GTK_EDITABLE(spin)), ==, "2,5");
    g_assert_cmpstr(localeconv()->decimal_point, ==, ".");
    g_autofree char *command = litho_window_command(gui.window);
    g_assert_nonnull(strstr(command, "2.5"));
    static const char *const typed[] = {"1,25", "1.25"};
    for (guint k = 0; k < G_N_ELEMENTS(typed); k++) {
        gui_set_gain(&gui, 2);
        gtk_editable_set_text(GTK_EDITABLE(spin), typed[k]);
        gtk_spin_button_update(GTK_SPIN_BUTTON(spin));
        gui_spin(&gui, 0.1);
        g_assert_cmpfloat(gui_gain(&gui), ==, 1.25);
    }
    g_autofree char *amplitude = litho_format_amplitude(-0.0362);
    g_assert_cmpstr(amplitude, ==, "\u22120,0362");
    g_autofree char *decibels = litho_format_decibels(15.42, 1, FALSE);
    g_assert_cmpstr(decibels, ==, "15,4 dB");
}

// Property: parameters alone stand beside the start page, which is whole: figures have nothing to
// say, and their panel cut the page.
static void test_start(void)
{
    gui_reopen(&gui);
    gui_use_operator(&gui, litho_operator_find("migrate"));
    gui_spin(&gui, 0.5);
    assert_panels(TRUE, FALSE);
    gui_screenshot(&gui, "look-start");
    GtkWidget *page = litho_start_page_widget(litho_middle_start(gui.window->middle));
    int least;
    static const char *const dead[] = {
        "fit",  "zoom-in", "zoom-out", "clip-up",    "clip-down",    "gain-up", "gain-down",
        "show", "volume",  "maximise", "focus-view", "colours-menu", "model",   "medium",
        "agc",  "density", "wiggle",   "time-gain",  "display-gain", "demo-end"};
    for (guint k = 0; k < G_N_ELEMENTS(dead); k++) // without data they do nothing
        g_assert_false(g_action_group_get_action_enabled(G_ACTION_GROUP(gui.window), dead[k]));
    g_assert_true(gtk_widget_get_mapped(page));
    gtk_widget_measure(gtk_scrolled_window_get_child(GTK_SCROLLED_WINDOW(page)),
                       GTK_ORIENTATION_HORIZONTAL, -1, &least, NULL, NULL, NULL);
    g_assert_cmpint(least, <=, gtk_widget_get_width(page));
}

// A locale with a comma, made on the spot where the machine has none; FALSE when that cannot be
// done.
static gboolean use_comma(const char *folder)
{
    g_autofree char *path = g_build_filename(folder, "de_DE.UTF-8", NULL);
    const char *argv[] = {"localedef", "-i", "de_DE", "-f", "UTF-8", path, NULL};
    g_spawn_sync(NULL, (char **)argv, NULL,
                 G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL,
                 NULL, NULL, NULL, NULL, NULL, NULL);
    g_setenv("LOCPATH", folder, TRUE);
    gboolean there = setlocale(LC_NUMERIC, "de_DE.UTF-8") != NULL;
    if (there)
        g_setenv("LC_ALL", "de_DE.UTF-8", TRUE); // what gtk_init() looks at
    else
        g_unsetenv("LOCPATH");
    return there;
}

int main(int argc, char **argv)
{
    litho_threads_calm(argv); // before a folder is made
    g_autofree char *locales = g_dir_make_tmp("lithoscope-locale-XXXXXX", NULL);
    gboolean comma = use_comma(locales);
    gui_init(&argc, &argv);
    gui_open(&gui, 1280, 800);
    g_autofree char *path = gui_write_cube(&gui, "look.sgy", 30, 32, 60);
    gui_open_with_gain(&gui, path, 2);
    g_test_add_func("/look/room", test_room);
    g_test_add_func("/look/similarity", test_similarity_stands_apart);
    g_test_add_func("/look/narrow-header", test_narrow_header);
    g_test_add_func("/look/full-screen", test_full_screen);
    g_test_add_func("/look/dialogs", test_dialogs);
    g_test_add_func("/look/beside", test_beside);
    g_test_add_func("/look/about", test_about);
    g_test_add_func("/look/shortcuts", test_shortcuts);
    g_test_add_func("/look/sliders", test_sliders);
    g_test_add_func("/look/tooltips-at-rest", test_tooltips_at_rest);
    g_test_add_func("/look/error-bar", test_error_bar);
    g_test_add_func("/look/text", test_text);
    g_test_add_func("/look/unbroken", test_unbroken);
    g_test_add_func("/look/pages", test_pages);
    g_test_add_func("/look/contrast", test_contrast);
    if (comma)
        g_test_add_func("/look/decimal-comma", test_comma);
    g_test_add_func("/look/start", test_start);
    int status = g_test_run();
    gui_close(&gui);
    gui_remove_tree(locales);
    return status;
}
