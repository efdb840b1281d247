// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/session/session.h"
#include "ui/session/settings.h"

// The side panels beside the views. In a narrow window, or with large text, the data keep their
// place: the right panel folds by itself, then the left one, and both come back with the room; a
// panel that a person folds or unfolds by hand stays, and where there is no room for both, the one
// that was unfolded last. While nothing is open and the flow is empty
// both are folded. Main thread only.
typedef struct LithoPanels LithoPanels;

enum { LITHO_PANEL_LEFT, LITHO_PANEL_RIGHT };

LithoPanels *litho_panels_new(GtkWidget *left, GtkWidget *middle, GtkWidget *right);
void litho_panels_free(LithoPanels *panels); // before its session goes; NULL is fine
GtkWidget *litho_panels_widget(const LithoPanels *panels);
GtkWidget *litho_panels_get(const LithoPanels *panels, int panel); // LITHO_PANEL_*

// Follows the window's width and the session. `fitted`: the window has another width.
void litho_panels_watch(LithoPanels *panels, GtkWindow *window, LithoSession *session,
                        void (*fitted)(int width, gpointer owner), gpointer owner);
// Widths and folded panels as they were left; and keeps them for the next start.
void litho_panels_restore(LithoPanels *panels, LithoSettings *settings);
void litho_panels_remember(LithoPanels *panels, LithoSettings *settings);
void litho_panels_begin(LithoPanels *panels); // restored: an empty window folds them
// The views have taken the start page's place: panels get the widths they were left with.
void litho_panels_give_widths(LithoPanels *panels);
void litho_panels_show(LithoPanels *panels, int panel, gboolean shown); // a person wants it so
// Shown, or as soon as there is room.
gboolean litho_panels_wants(const LithoPanels *panels, int panel);
