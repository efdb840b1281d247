// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/main_menu.h"

#include "core/text.h"
#include "ui/panel/parts.h"
#include "ui/show/podium.h"
#include "ui/view/tooltip.h"

typedef const char *const Item[2]; // title, action; a row without a title ends a section

static const Item file[] = {{N_("Save result…"), "win.save"},
                            {N_("Export picture…"), "win.picture"},
                            {N_("Report…"), "win.report"},
                            {N_("Save points…"), "win.points-save"},
                            {N_("Open recipe…"), "win.recipe-open"},
                            {N_("Save recipe…"), "win.recipe-save"},
                            {N_("Copy as command"), "win.copy-command"},
                            {NULL}};
static const Item view[] = {{N_("Compare with file…"), "win.reference"},
                            {N_("Fit to window"), "win.fit"},
                            {N_("Survey and headers…"), "win.survey"},
                            {N_("Read with other header bytes…"), "win.import"},
                            {N_("Race: CPU against GPU"), "win.race"},
                            {N_("Presenter mode"), "win.present"},
                            {N_("Full screen"), "win.fullscreen"},
                            {NULL}};
static const Item colours[] = {{N_("Next colour map"), "win.colours-next"},
                               {N_("Load colour map…"), "win.colours-load"},
                               {N_("Wiggles"), "win.wiggle"},
                               {NULL}};
static const Item gains[] = {{N_("None"), "win.display-gain::none"},
                             {N_("With time, t"), "win.display-gain::t"},
                             {N_("With time, t^1.5"), "win.display-gain::t1.5"},
                             {N_("With time, t²"), "win.display-gain::t2"},
                             {N_("With time, t³"), "win.display-gain::t3"},
                             {N_("Automatic, 50 samples"), "win.display-gain::agc50"},
                             {N_("Automatic, 100 samples"), "win.display-gain::agc100"},
                             {N_("Automatic, 250 samples"), "win.display-gain::agc250"},
                             {NULL}};
static const Item times[] = {{N_("Time unit by length"), "win.time-unit::auto"},
                             {N_("Milliseconds"), "win.time-unit::ms"},
                             {N_("Seconds"), "win.time-unit::s"},
                             {NULL}};
static const Item lines[] = {{N_("Line and trace numbers"), "win.lines::numbers"},
                             {N_("Metres"), "win.lines::metres"},
                             {NULL}};
static const Item scripts[] = {
    {N_("Open…"), "win.demo-open"}, {N_("Record what I do"), "win.record"}, {NULL}};
static const Item look[] = {{N_("Follow the system"), "app.appearance::system"},
                            {N_("Light"), "app.appearance::light"},
                            {N_("Dark"), "app.appearance::dark"},
                            {NULL}};
static const Item help[] = {{N_("Commands…"), "win.palette"},
                            {N_("Keyboard shortcuts"), "win.shortcuts"},
                            {N_("Help"), "win.help"},
                            {N_("About Lithoscope"), "win.about"},
                            {NULL}};

static void append_section(GMenu *menu, const Item *items)
{
    g_autoptr(GMenu) section = g_menu_new();
    for (; (*items)[0]; items++)
        g_menu_append(section, litho_text((*items)[0]), (*items)[1]);
    g_menu_append_section(menu, NULL, G_MENU_MODEL(section));
}

// Takes over `submenu`; `more` is a section at its end, NULL = none.
static void append_submenu(GMenu *menu, const char *title, GMenu *submenu, const Item *more)
{
    if (more)
        append_section(submenu, more);
    g_menu_append_submenu(menu, title, G_MENU_MODEL(submenu));
    g_object_unref(submenu);
}

static GMenu *make_model(void)
{
    GMenu *menu = g_menu_new(), *axes = g_menu_new();
    append_section(menu, file);
    append_section(menu, view);
    append_section(axes, times);
    append_submenu(menu, _("Colours and wiggles"), g_menu_new(), colours);
    append_submenu(menu, _("Gain of the picture"), g_menu_new(), gains);
    append_submenu(menu, _("Axes"), axes, lines);
    append_submenu(menu, _("Demonstrations"), litho_podium_menu(), scripts);
    append_submenu(menu, _("Appearance"), g_menu_new(), look);
    append_section(menu, help);
    return menu;
}

// GTK leaves a submenu by its title alone: here Left leaves it from every line.
static gboolean on_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
                       GtkPopover *popover)
{
    (void)keys;
    (void)code;
    (void)state;
    const gboolean mirrored = gtk_widget_get_direction(GTK_WIDGET(popover)) == GTK_TEXT_DIR_RTL;
    g_autofree char *shown = NULL;
    g_object_get(popover, "visible-submenu", &shown, NULL);
    if (key != (mirrored ? GDK_KEY_Right : GDK_KEY_Left) || g_strcmp0(shown, "main") == 0)
        return FALSE;
    g_object_set(popover, "visible-submenu", "main", NULL);
    return TRUE;
}

// GTK 4.8 leaves the keyboard with the line of a submenu that was chosen, which is no longer there:
// no key would do anything until the next click.
static void on_closed(GtkWidget *button, GtkWidget *popover)
{
    GtkRoot *root = gtk_widget_get_root(button);
    GtkWidget *focus = root ? gtk_root_get_focus(root) : NULL;
    if (focus && gtk_widget_is_ancestor(focus, popover))
        gtk_widget_grab_focus(button);
}

GtkWidget *litho_main_menu_new(void)
{
    g_autoptr(GMenu) model = make_model();
    GtkWidget *button = gtk_menu_button_new();
    gtk_menu_button_set_icon_name(GTK_MENU_BUTTON(button), "open-menu-symbolic");
    gtk_menu_button_set_menu_model(GTK_MENU_BUTTON(button), G_MENU_MODEL(model));
    GtkWidget *popover = GTK_WIDGET(gtk_menu_button_get_popover(GTK_MENU_BUTTON(button)));
    GtkEventController *keys = gtk_event_controller_key_new();
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), popover);
    gtk_widget_add_controller(popover, keys);
    g_signal_connect_swapped(popover, "closed", G_CALLBACK(on_closed), button);
    litho_set_short_tooltip(button, _("Menu (Alt+M)"));
    litho_name_widget(button, _("Menu"));
    return button;
}
