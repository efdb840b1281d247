// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/display_gain.h"

#include <string.h>

enum { USUAL_WINDOW = 100 }; // samples

static const struct {
    const char *name;
    double power;
    int agc;
} gains[] = {{"none", 0, 0}, {"t", 1, 0},      {"t1.5", 1.5, 0},   {"t2", 2, 0},
             {"t3", 3, 0},   {"agc50", 0, 50}, {"agc100", 0, 100}, {"agc250", 0, 250}};

static LithoSession *session_of(GSimpleAction *action)
{
    return g_object_get_data(G_OBJECT(action), "litho-session");
}

static void set_gain(LithoSession *session, double power, int agc)
{
    LithoLook look = litho_session_display(session)->look;
    look.time_power = power;
    look.agc = agc;
    litho_session_set_look(session, &look);
}

static void do_gain(GSimpleAction *action, GVariant *value, gpointer data)
{
    (void)data;
    for (guint k = 0; k < G_N_ELEMENTS(gains); k++)
        if (strcmp(gains[k].name, g_variant_get_string(value, NULL)) == 0)
            set_gain(session_of(action), gains[k].power, gains[k].agc);
}

static void do_agc(GSimpleAction *action, GVariant *value, gpointer data)
{
    (void)value, (void)data;
    const LithoLook *look = &litho_session_display(session_of(action))->look;
    set_gain(session_of(action), 0, look->agc > 0 ? 0 : USUAL_WINDOW);
}

static void do_time(GSimpleAction *action, GVariant *value, gpointer data)
{
    (void)value, (void)data;
    const LithoLook *look = &litho_session_display(session_of(action))->look;
    double power = look->agc > 0 ? 0 : look->time_power;
    set_gain(session_of(action), power < 1 ? 1 : power < 2 ? 2 : 0, 0);
}

// Without the section there is nothing to see but wiggles.
static void do_density(GSimpleAction *action, GVariant *value, gpointer data)
{
    (void)value, (void)data;
    LithoLook look = litho_session_display(session_of(action))->look;
    look.no_density = !look.no_density;
    if (look.no_density && look.wiggle == LITHO_WIGGLE_OFF)
        look.wiggle = LITHO_WIGGLE_FILL;
    litho_session_set_look(session_of(action), &look);
}

static const GActionEntry entries[] = {{"display-gain", do_gain, "s", "'none'", NULL, {0}},
                                       {"agc", do_agc, NULL, "false", NULL, {0}},
                                       {"time-gain", do_time, NULL, NULL, NULL, {0}},
                                       {"density", do_density, NULL, "true", NULL, {0}}};

static void set_state(GActionMap *map, const char *name, GVariant *state)
{
    g_simple_action_set_state(G_SIMPLE_ACTION(g_action_map_lookup_action(map, name)), state);
}

// A look that was restored or set elsewhere has its check marks, too.
static void follow(GActionMap *window, LithoSession *session)
{
    const LithoLook *look = &litho_session_display(session)->look;
    const char *name = "";
    for (guint k = 0; k < G_N_ELEMENTS(gains); k++)
        if (look->agc == gains[k].agc && (look->agc > 0 || look->time_power == gains[k].power))
            name = gains[k].name;
    set_state(window, "display-gain", g_variant_new_string(name));
    set_state(window, "agc", g_variant_new_boolean(look->agc > 0));
    set_state(window, "density", g_variant_new_boolean(!look->no_density));
    set_state(window, "wiggle", g_variant_new_boolean(look->wiggle != LITHO_WIGGLE_OFF));
}

static void on_display(LithoSession *session, GActionMap *window)
{
    follow(window, session);
}

void litho_display_gain_init(GActionMap *window, LithoSession *session)
{
    g_action_map_add_action_entries(window, entries, G_N_ELEMENTS(entries), NULL);
    for (guint k = 0; k < G_N_ELEMENTS(entries); k++)
        g_object_set_data(G_OBJECT(g_action_map_lookup_action(window, entries[k].name)),
                          "litho-session", session); // lives as long as the window's actions
    g_signal_connect_object(session, "display-changed", G_CALLBACK(on_display), window, 0);
}
