// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/level_button.h"

#include <math.h>

#include "core/text.h"
#include "render/ticks.h"
#include "ui/panel/parts.h"
#include "ui/view/tooltip.h"

typedef struct Level {
    LithoSession *session;
    LithoJudgement *judgement;
    GtkWidget *button, *told, *field;
} Level;

static const char key[] = "litho-level";

static void level_free(gpointer data)
{
    Level *self = data;
    g_object_unref(self->session);
    g_object_unref(self->judgement);
    g_free(self);
}

// "Measured: 0.417 (0.416 to 0.418)", of the part that the figures are told of.
static void show_told(Level *self)
{
    const LithoBox area = litho_judgement_area(self->session);
    const LithoNoise *noise = litho_judgement_noise(self->judgement, area);
    const gboolean typed = litho_judgement_sigma(self->judgement) > 0;
    g_autofree char *level = noise ? litho_format_amplitude(noise->total) : NULL;
    g_autofree char *low = noise ? litho_format_amplitude(noise->low) : NULL;
    g_autofree char *high = noise ? litho_format_amplitude(noise->high) : NULL;
    g_autofree char *text = !noise ? g_strdup(_("Not measured yet"))
                            : typed
                                ? g_strdup_printf(_("Typed: %s, of white noise"), level)
                                : g_strdup_printf(_("Measured: %s (%s to %s)"), level, low, high);
    litho_label_set_unbroken(self->told, text);
    // Who sees the figures sees that a person's level is below them.
    g_autofree char *name =
        typed ? g_strdup_printf(_("Noise level %s"), level) : g_strdup(_("Noise level"));
    gtk_menu_button_set_label(GTK_MENU_BUTTON(self->button), name);
    litho_name_widget(self->button, name);
}

static void on_changed(LithoJudgement *judgement, GtkWidget *button)
{
    (void)judgement;
    show_told(g_object_get_data(G_OBJECT(button), key));
}

// With a decimal comma, too. Another file has no typed level.
static void on_shown(Level *self)
{
    const double typed = litho_judgement_sigma(self->judgement);
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    litho_text_put(text, sizeof text, "%.6g", typed);
    gtk_editable_set_text(GTK_EDITABLE(self->field), typed > 0 ? text : "");
    gtk_widget_remove_css_class(self->field, "error");
    show_told(self);
}

static void on_typed(Level *self)
{
    g_autofree char *text = g_strstrip(g_strdup(gtk_editable_get_text(GTK_EDITABLE(self->field))));
    char *end;
    const double sigma = g_ascii_strtod(g_strdelimit(text, ",", '.'), &end);
    if (*end != 0 || !isfinite(sigma) || sigma < 0) {
        gtk_widget_add_css_class(self->field, "error");
        gtk_label_set_text(GTK_LABEL(self->told), _("A number above 0 is needed, or none"));
        return;
    }
    gtk_widget_remove_css_class(self->field, "error");
    litho_judgement_set_sigma(self->judgement, sigma);
}

GtkWidget *litho_level_button_new(LithoSession *session, LithoJudgement *judgement)
{
    Level *self = g_new0(Level, 1);
    self->session = g_object_ref(session);
    self->judgement = g_object_ref(judgement);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6), *why = litho_text_new(40);
    GtkWidget *popover = gtk_popover_new(), *button = self->button = gtk_menu_button_new();
    gtk_label_set_text(GTK_LABEL(why),
                       _("The expected SNR rests on the level of the noise, its standard "
                         "deviation, which is measured at each frequency beside the events. Type "
                         "another one, of white noise, where you know it; none measures again."));
    self->told = litho_label_new(NULL, "numeric");
    self->field = gtk_entry_new();
    gtk_entry_set_placeholder_text(GTK_ENTRY(self->field), _("measured"));
    litho_field_of_numbers(self->field);
    litho_name_widget(self->field, _("Noise level of the expected SNR"));
    gtk_box_append(GTK_BOX(box), why);
    gtk_box_append(GTK_BOX(box), self->told);
    gtk_box_append(GTK_BOX(box), self->field);
    gtk_popover_set_child(GTK_POPOVER(popover), box);
    gtk_menu_button_set_popover(GTK_MENU_BUTTON(button), popover);
    litho_set_tooltip(button,
                      _("Noise level that the expected SNR rests on: see it, type another"));
    gtk_widget_add_css_class(button, "litho-small-choice");
    gtk_widget_set_valign(button, GTK_ALIGN_CENTER);
    g_object_set_data_full(G_OBJECT(button), key, self, level_free);
    g_signal_connect_swapped(self->field, "activate", G_CALLBACK(on_typed), self);
    g_signal_connect_swapped(popover, "show", G_CALLBACK(on_shown), self);
    g_signal_connect_object(judgement, "changed", G_CALLBACK(on_changed), button, 0);
    show_told(self);
    return button;
}
