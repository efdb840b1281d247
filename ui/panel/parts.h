// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>

// Small things that several panels and windows are made of. All are floating, as GTK's own.

// Sets the name by which a screen reader calls the widget.
void litho_name_widget(GtkWidget *widget, const char *name);
// Names a choice for screen readers: GTK puts its button, which has no name of its own, in front.
void litho_name_choice(GtkWidget *drop_down, const char *name, const char *description);

// A choice of strings shows `chars` characters of the chosen one at most: a long name that a person
// gave would push the panel wide. The list below shows whole names.
void litho_shorten_choice(GtkWidget *drop_down, int chars);

// Left-aligned text with a style class, NULL = none.
GtkWidget *litho_label_new(const char *text, const char *css);

// Numbers and their units stand from left to right in every language: "16 %", where a line without
// a letter would follow the window from right to left and read "% 16".
// A label's text.
void litho_label_set_number(GtkWidget *label, const char *text);
// `name` with words in small letters under it, as markup; g_free().
char *litho_words_below(const char *name, const char *words);
// A label of at least `width` pixels keeps the room of `markup` when a shorter text takes its
// place: what lies below it does not move.
void litho_label_keep_room(GtkWidget *label, const char *markup, int width);
// A field that numbers are typed into; its own alignment first.
void litho_field_of_numbers(GtkWidget *field);

// A label that breaks into lines of at most `chars` characters: explanations in popovers.
GtkWidget *litho_text_new(int chars);

// A label that wraps breaks no number at the space between its thousands.
void litho_label_set_unbroken(GtkWidget *label, const char *text);

// Lines break also within a file name, which would else push its window wide, and no hyphen that
// is not the name's is put there.
void litho_label_wrap_names(GtkWidget *label);

// Lets the mouse mark the label's text. The keyboard passes it by: a label that is selectable but
// not focusable takes Tab and gives it to nobody, and Tab never comes further.
void litho_label_set_copyable(GtkWidget *label);

// A flat button with a picture; `name` is what it does, also for a screen reader.
GtkWidget *litho_icon_button_new(const char *icon, const char *name, const char *tooltip);

// A flat menu button with a picture that opens `content`.
GtkWidget *litho_popover_button_new(const char *icon, const char *name, GtkWidget *content);

// The first line of a panel: its title (taken as it is, so that the caller may change it), and
// `end` at the right.
GtkWidget *litho_panel_title_new(GtkWidget *title, GtkWidget *end);

// A line with an arrow that shows and hides `content` below it; hidden at first. (The focus chain
// of a folded GtkExpander of GTK 4.8 ends in a widget without a window.)
GtkWidget *litho_disclosure_new(const char *title, GtkWidget *content);

// "15.4 dB", "−0.5 dB", "+0.35 dB": with a true minus, and with a plus where it is a change; g_free().
char *litho_format_decibels(double db, int decimals, gboolean change);

// "0.42 ms", "37 ms", "1.3 s", "2 min 5 s": as exact as it is read; g_free().
char *litho_format_duration(double ms);

// The wheel over a control that has not the keyboard scrolls the panel instead of changing it.
void litho_wheel_needs_focus(GtkWidget *widget);
