// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>

// A bar with one sentence, a button "Details" that opens the rest of it, and a button that does
// something about it; a person closes it. Hidden at first. Main thread only. The bar lives as long
// as its widget.
typedef struct LithoBar LithoBar;

// `remedy`: label of the button, which activates `action`, "win.import".
LithoBar *litho_bar_new(GtkMessageType type, const char *remedy, const char *action);
GtkWidget *litho_bar_widget(const LithoBar *bar);
// Shows `sentence`, in place of the one before; `details` NULL = there are none.
void litho_bar_tell(LithoBar *bar, const char *sentence, const char *details);
void litho_bar_set_remedy(LithoBar *bar, gboolean on); // shows or hides its button; off at first
gboolean litho_bar_has_remedy(const LithoBar *bar);    // the button is shown
void litho_bar_hide(LithoBar *bar);
const char *litho_bar_text(const LithoBar *bar); // the sentence, NULL = hidden; borrowed

// A button with a label, or with the icon of that name and `label` for screen readers, that
// activates `action`; floating.
GtkWidget *litho_action_button(const char *icon, const char *label, const char *action,
                               const char *tooltip);
