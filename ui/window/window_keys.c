// SPDX-License-Identifier: GPL-3.0-or-later
//
// Keys of the window that no widget took.
#include "ui/window/commands.h"
#include "ui/window/window_private.h"

// Single letters come after the widgets had their turn: whoever types a number or a path must not
// switch the view. Commands with Ctrl or function keys are the application's accelerators.
static gboolean on_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
                       LithoWindow *self)
{
    (void)keys;
    (void)code;
    if (key == GDK_KEY_space && !(state & (GDK_CONTROL_MASK | GDK_ALT_MASK))) {
        litho_session_hold_input(self->session, TRUE);
        return TRUE;
    }
    const LithoWindowCommand *command = litho_command_for_key(key, state);
    if (!command)
        return FALSE;
    return gtk_widget_activate_action_variant(GTK_WIDGET(self), command->action,
                                              litho_command_target(command));
}

// A widget that a click has focused takes no Space: the press is the window's, and would else
// toggle the button of the last click. What the keyboard has reached, lists of popovers and text
// take it.
static gboolean takes_space(LithoWindow *self)
{
    GtkWidget *focus = gtk_window_get_focus(GTK_WINDOW(self));
    return focus && (self->by_keyboard || GTK_IS_EDITABLE(focus) || GTK_IS_TEXT_VIEW(focus) ||
                     gtk_widget_get_ancestor(focus, GTK_TYPE_POPOVER));
}

static gboolean on_event_first(GtkEventControllerLegacy *events, GdkEvent *event, LithoWindow *self)
{
    (void)events;
    const GdkEventType type = gdk_event_get_event_type(event);
    if (type == GDK_BUTTON_PRESS || type == GDK_TOUCH_BEGIN)
        self->by_keyboard = FALSE;
    if (type != GDK_KEY_PRESS)
        return GDK_EVENT_PROPAGATE;
    const guint key = gdk_key_event_get_keyval(event);
    if (key == GDK_KEY_Tab || key == GDK_KEY_ISO_Left_Tab || key == GDK_KEY_KP_Tab)
        self->by_keyboard = TRUE;
    const GdkModifierType state = gdk_event_get_modifier_state(event);
    if (key != GDK_KEY_space || (state & (GDK_CONTROL_MASK | GDK_ALT_MASK)) || takes_space(self))
        return GDK_EVENT_PROPAGATE;
    litho_session_hold_input(self->session, TRUE);
    return GDK_EVENT_STOP;
}

static void on_key_released(GtkEventControllerKey *keys, guint key, guint code,
                            GdkModifierType state, LithoWindow *self)
{
    (void)keys;
    (void)code;
    (void)state;
    if (key == GDK_KEY_space)
        litho_session_hold_input(self->session, FALSE);
}

// A key that is let go in another window is not told here.
static void on_active(LithoWindow *self)
{
    if (self->session && !gtk_window_is_active(GTK_WINDOW(self)) && !litho_blink_is_on(self->blink))
        litho_session_hold_input(self->session, FALSE);
}

void litho_window_keys_init(LithoWindow *self)
{
    // GTK keeps F10 for menu bars, also where there is none: it is taken before anything sees it.
    GtkEventController *first = gtk_shortcut_controller_new();
    gtk_event_controller_set_propagation_phase(first, GTK_PHASE_CAPTURE);
    gtk_shortcut_controller_add_shortcut(GTK_SHORTCUT_CONTROLLER(first),
                                         gtk_shortcut_new(gtk_keyval_trigger_new(GDK_KEY_F10, 0),
                                                          gtk_named_action_new("win.fold-right")));
    gtk_widget_add_controller(GTK_WIDGET(self), first);
    GtkEventController *events = gtk_event_controller_legacy_new();
    gtk_event_controller_set_propagation_phase(events, GTK_PHASE_CAPTURE);
    g_signal_connect(events, "event", G_CALLBACK(on_event_first), self);
    gtk_widget_add_controller(GTK_WIDGET(self), events);
    GtkEventController *keys = gtk_event_controller_key_new();
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), self);
    g_signal_connect(keys, "key-released", G_CALLBACK(on_key_released), self);
    gtk_widget_add_controller(GTK_WIDGET(self), keys);
    g_signal_connect(self, "notify::is-active", G_CALLBACK(on_active), NULL);
}
