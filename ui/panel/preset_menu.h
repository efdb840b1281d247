// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/session/session.h"

// The button beside the presets: its popover saves the parameters of the selected step under a
// name, and renames and removes sets of the user's. A name that is taken is asked about once; what
// was removed comes back as long as the popover is open. Main thread.
typedef struct LithoPresetMenu LithoPresetMenu;

// `changed` is called with `owner` behind every change of the sets. The button owns the menu.
LithoPresetMenu *litho_preset_menu_new(LithoSession *session, void (*changed)(gpointer owner),
                                       gpointer owner);
GtkWidget *litho_preset_menu_button(const LithoPresetMenu *menu);
// Lists the user's sets of `op`: `names` and those that cannot be read, of char *.
void litho_preset_menu_list(LithoPresetMenu *menu, const LithoOperator *op, const GPtrArray *names,
                            const GPtrArray *unreadable);
// Work of the popover's buttons; FALSE: the popover says why. Saving under a name that is taken
// needs two calls.
gboolean litho_preset_menu_save(LithoPresetMenu *menu, const char *name);
gboolean litho_preset_menu_rename(LithoPresetMenu *menu, const char *from, const char *to);
gboolean litho_preset_menu_remove(LithoPresetMenu *menu, const char *name);
gboolean litho_preset_menu_undo(LithoPresetMenu *menu); // the last removal
