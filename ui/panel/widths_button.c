// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/widths_button.h"

#include <math.h>

#include "core/axis_names.h"
#include "core/text.h"
#include "ui/panel/parts.h"
#include "ui/view/tooltip.h"

enum { FIELDS = 3 };

typedef struct Widths {
    LithoSession *session;
    LithoJudgement *judgement;
    GtkWidget *field[FIELDS], *name[FIELDS];
    gboolean loading;
} Widths;

static const char key[] = "litho-widths";

static void widths_free(gpointer data)
{
    Widths *self = data;
    g_object_unref(self->session);
    g_object_unref(self->judgement);
    g_free(self);
}

// On depth axes 5 samples stand for 20 ms.
static double scale_of(const Widths *self)
{
    const LithoGrid *grid = litho_session_grid(self->session);
    return grid && grid->is_depth ? 250 : 1000;
}

static void on_shown(Widths *self)
{
    const LithoSimilarityWidths w = litho_judgement_widths(self->judgement);
    const gboolean is_depth = scale_of(self) < 1000;
    const double x[FIELDS] = {w.traces[0], w.traces[1], w.seconds * scale_of(self)};
    self->loading = TRUE;
    gtk_label_set_text(GTK_LABEL(self->name[2]), is_depth ? _("Samples") : _("Time, ms"));
    gtk_spin_button_set_range(GTK_SPIN_BUTTON(self->field[2]), 0,
                              LITHO_SIMILARITY_MOST_SECONDS * scale_of(self));
    for (int k = 0; k < FIELDS; k++)
        gtk_spin_button_set_value(GTK_SPIN_BUTTON(self->field[k]), x[k]);
    self->loading = FALSE;
}

static void on_changed(Widths *self)
{
    double x[FIELDS];
    if (self->loading)
        return;
    for (int k = 0; k < FIELDS; k++)
        x[k] = gtk_spin_button_get_value(GTK_SPIN_BUTTON(self->field[k]));
    litho_judgement_set_widths(
        self->judgement,
        (LithoSimilarityWidths){.traces = {x[0], x[1]}, .seconds = x[2] / scale_of(self)});
}

static void on_reset(Widths *self)
{
    litho_judgement_set_widths(self->judgement, litho_similarity_widths());
    on_shown(self);
}

static GtkWidget *make_fields(Widths *self)
{
    const char *const names[FIELDS] = {_("Inlines, traces"), _("Crosslines, traces"),
                                       _("Time, ms")};
    const char *const said[FIELDS] = {_("Half width of the similarity along inline numbers"),
                                      _("Half width of the similarity along crossline numbers"),
                                      _("Half width of the similarity along time or depth")};
    GtkWidget *grid = gtk_grid_new(), *why = litho_text_new(40);
    gtk_label_set_text(GTK_LABEL(why),
                       _("Output and removed part are compared over neighbouring traces and "
                         "samples: wide, chance resembles less; narrow, small losses show."));
    gtk_grid_set_row_spacing(GTK_GRID(grid), 6);
    gtk_grid_set_column_spacing(GTK_GRID(grid), 12);
    gtk_grid_attach(GTK_GRID(grid), why, 0, 0, 2, 1);
    for (int k = 0; k < FIELDS; k++) {
        self->name[k] = litho_label_new(names[k], NULL);
        self->field[k] =
            gtk_spin_button_new_with_range(0, k < 2 ? LITHO_SIMILARITY_MOST_TRACES : 1000, 1);
        litho_name_widget(self->field[k], said[k]);
        litho_field_of_numbers(self->field[k]);
        gtk_grid_attach(GTK_GRID(grid), self->name[k], 0, k + 1, 1, 1);
        gtk_grid_attach(GTK_GRID(grid), self->field[k], 1, k + 1, 1, 1);
        g_signal_connect_swapped(self->field[k], "value-changed", G_CALLBACK(on_changed), self);
    }
    GtkWidget *reset = gtk_button_new_with_label(_("Defaults"));
    gtk_grid_attach(GTK_GRID(grid), reset, 1, FIELDS + 1, 1, 1);
    g_signal_connect_swapped(reset, "clicked", G_CALLBACK(on_reset), self);
    return grid;
}

GtkWidget *litho_widths_button_new(LithoSession *session, LithoJudgement *judgement)
{
    Widths *self = g_new0(Widths, 1);
    self->session = g_object_ref(session);
    self->judgement = g_object_ref(judgement);
    GtkWidget *popover = gtk_popover_new(), *button = gtk_menu_button_new();
    gtk_popover_set_child(GTK_POPOVER(popover), make_fields(self));
    gtk_menu_button_set_popover(GTK_MENU_BUTTON(button), popover);
    gtk_menu_button_set_icon_name(GTK_MENU_BUTTON(button), "view-more-symbolic");
    litho_name_widget(button, _("Half widths of the similarity"));
    litho_set_tooltip(button, _("Half widths of the similarity: see and change them"));
    gtk_widget_add_css_class(button, "litho-small-choice");
    gtk_widget_set_valign(button, GTK_ALIGN_CENTER);
    g_object_set_data_full(G_OBJECT(button), key, self, widths_free);
    g_signal_connect_swapped(popover, "show", G_CALLBACK(on_shown), self);
    on_shown(self);
    return button;
}
