// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/param_editor_private.h"

#include <math.h>
#include <string.h>

#include "core/text.h"
#include "ui/panel/parts.h"

// Sizes of the row: its name, slider and number.
enum { NAME_WIDTH = 92, SLIDER_WIDTH = 96, SHORT_SLIDER = 76, NUMBER_CHARS = 8, LONG_UNIT = 6 };

// --- number and slider --------------------------------------------------------------------------

static void on_slider(GtkRange *range, LithoParamEditor *self)
{
    if (self->loading)
        return;
    double value = litho_param_slider_to_value(self->row, gtk_range_get_value(range));
    self->loading = TRUE;
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(self->spin), value);
    self->loading = FALSE;
    litho_param_editor_edited(self, value, NULL);
}

static void on_spin(GtkSpinButton *spin, LithoParamEditor *self)
{
    litho_param_editor_edited(self, gtk_spin_button_get_value(spin), NULL);
}

// Long units, and defaults of many digits such as "2.75 sigma", get two letters more, which the
// slider has less. A default that stands for a number has three digits of it.
static int number_chars(const LithoParamEditor *self)
{
    char usual[64];
    const gboolean special = litho_param_is_special(self->row, self->row->def);
    litho_param_editor_with_unit(
        self, special && self->row->type == LITHO_PARAM_FLOAT ? 2.75 : self->row->def, usual,
        sizeof usual);
    const gboolean wide = strlen(litho_param_editor_unit(self)) > LONG_UNIT ||
                          (!(special && self->row->type != LITHO_PARAM_FLOAT) &&
                           g_utf8_strlen(usual, -1) > NUMBER_CHARS + 1);
    return wide ? NUMBER_CHARS + 2 : NUMBER_CHARS;
}

// Words need the room of the slider, which has nothing to show as long as no number is known.
static void make_room(LithoParamEditor *self, gboolean words)
{
    gtk_editable_set_width_chars(GTK_EDITABLE(self->spin), words ? 16 : number_chars(self));
    gtk_editable_set_max_width_chars(GTK_EDITABLE(self->spin), words ? 16 : number_chars(self));
    if (self->slider)
        gtk_widget_set_visible(self->slider, !words);
}

static int text_width(const LithoParamEditor *self, const char *text)
{
    g_autoptr(PangoLayout) layout = gtk_widget_create_pango_layout(self->spin, text);
    int width;
    pango_layout_get_size(layout, &width, NULL);
    return width;
}

// TRUE when the number field has room for the text, as it has for the default.
static gboolean fits(const LithoParamEditor *self, const char *text)
{
    char usual[64];
    PangoFontMetrics *metrics =
        pango_context_get_metrics(gtk_widget_get_pango_context(self->spin), NULL, NULL);
    const int room =
        number_chars(self) * MAX(pango_font_metrics_get_approximate_char_width(metrics),
                                 pango_font_metrics_get_approximate_digit_width(metrics));
    pango_font_metrics_unref(metrics);
    litho_param_editor_with_unit(self, self->row->def, usual, sizeof usual);
    return text_width(self, text) <= MAX(room, text_width(self, usual));
}

// Text of the number field: the value with its unit; for a special value the number that it stands
// for at present, or its words while that is not known. A number of many digits has the field for
// itself: half a unit reads as a fault, and the tooltip tells it.
static void field_text(const LithoParamEditor *self, double value, char *out, gsize size)
{
    if (litho_param_is_special(self->row, value) && isfinite(self->used))
        litho_param_format_used(self->row, self->used, self->is_depth, out, size);
    else
        litho_param_editor_with_unit(self, value, out, size);
    if (*litho_param_editor_unit(self) && !litho_param_is_special(self->row, value) &&
        !fits(self, out))
        litho_param_format(self->row, value, out, size);
}

static gboolean spin_output(GtkSpinButton *spin, LithoParamEditor *self)
{
    char text[64];
    double value = gtk_spin_button_get_value(spin);
    gboolean special = litho_param_is_special(self->row, value);
    field_text(self, value, text, sizeof text);
    make_room(self, special && !isfinite(self->used));
    if (special)
        gtk_widget_add_css_class(GTK_WIDGET(spin), "litho-automatic");
    else
        gtk_widget_remove_css_class(GTK_WIDGET(spin), "litho-automatic");
    g_strlcpy(self->written, text, sizeof self->written);
    if (strcmp(text, gtk_editable_get_text(GTK_EDITABLE(spin))) != 0)
        gtk_editable_set_text(GTK_EDITABLE(spin), text);
    return TRUE;
}

void litho_param_number_write(LithoParamEditor *self)
{
    spin_output(GTK_SPIN_BUTTON(self->spin), self);
}

// The words of a special value, or nothing at all.
static gboolean says_special(const LithoParam *row, const char *text)
{
    return row->special_text && (!*text || g_ascii_strcasecmp(text, row->special_text) == 0 ||
                                 strcmp(text, litho_text(row->special_text)) == 0);
}

// Typed text as the rows read it: the unit by its own name, a point in the number. g_free().
static char *plain_number(const LithoParamEditor *self, const char *typed)
{
    const char *unit = litho_param_editor_unit(self), *shown = litho_text(unit);
    GString *text = g_string_new(typed);
    if (*unit && strcmp(unit, shown) != 0 && g_str_has_suffix(typed, shown)) {
        g_string_truncate(text, text->len - strlen(shown));
        g_string_append(text, unit);
    }
    litho_text_unmark(text->str);
    return g_string_free(text, FALSE);
}

// A refused number is told in words and the last good one comes back.
static int spin_input(GtkSpinButton *spin, double *value, LithoParamEditor *self)
{
    const char *text = gtk_editable_get_text(GTK_EDITABLE(spin));
    const LithoParam *row = self->row;
    // The field's text is the value rounded for display: leaving the field must not round the
    // value, nor make a choice of the number that a special value stands for.
    char bound[48], *end;
    *value = gtk_spin_button_get_value(spin);
    if (strcmp(self->written, text) == 0)
        return TRUE;
    if (says_special(row, text)) {
        *value = row->special;
        return TRUE;
    }
    double x;
    g_autofree char *sentence = NULL;
    g_autoptr(GError) error = NULL;
    g_autofree char *plain = plain_number(self, text);
    gboolean number =
        litho_param_number(row, plain, self->axis.step != 0 ? &self->axis : NULL, &x, &error);
    if (!number && g_ascii_strtod(plain, &end) == 0 && end == plain)
        sentence = g_strdup_printf(_("“%s” is not a number"), text);
    else if (!number)
        sentence = g_strdup(error->message);
    else if (!(x >= row->min && x <= row->max)) {
        const gboolean low = !(x >= row->min);
        litho_param_format_bound(row, low ? row->min : row->max, self->is_depth, bound,
                                 sizeof bound);
        sentence =
            g_strdup_printf(low ? _("%s is less than %s") : _("%s is more than %s"), text, bound);
    } else if (row->type == LITHO_PARAM_INT && x != rint(x))
        sentence = g_strdup(_("a whole number is needed"));
    if (sentence) {
        litho_param_editor_complain(self, sentence);
        return GTK_INPUT_ERROR;
    }
    *value = x;
    return TRUE;
}

// Arrows on a log row move in ratios: 20 steps a decade, Page keys 4.
static gboolean spin_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
                         LithoParamEditor *self)
{
    (void)keys;
    (void)code;
    const GdkModifierType others = GDK_CONTROL_MASK | GDK_ALT_MASK | GDK_SHIFT_MASK;
    if ((key == GDK_KEY_Return || key == GDK_KEY_KP_Enter) && !(state & others)) {
        gtk_spin_button_update(GTK_SPIN_BUTTON(self->spin));
        litho_param_editor_leave(self);
        return TRUE;
    }
    if (!self->row->log)
        return FALSE;
    double ratio = key == GDK_KEY_Up          ? 0.05
                   : key == GDK_KEY_Down      ? -0.05
                   : key == GDK_KEY_Page_Up   ? 0.25
                   : key == GDK_KEY_Page_Down ? -0.25
                                              : 0;
    if (ratio == 0)
        return FALSE;
    GtkSpinButton *spin = GTK_SPIN_BUTTON(self->spin);
    double value = gtk_spin_button_get_value(spin);
    if (litho_param_is_special(self->row, value) && isfinite(self->used))
        value = self->used; // from where the knob stands
    double position = litho_param_slider_from_value(self->row, value) + ratio;
    gtk_spin_button_set_value(spin, litho_param_slider_to_value(self->row, position));
    return TRUE;
}

// The slider is the way to change a number by hand; plus and minus would take its room.
static void hide_buttons(GtkWidget *spin)
{
    for (GtkWidget *c = gtk_widget_get_first_child(spin); c; c = gtk_widget_get_next_sibling(c))
        if (GTK_IS_BUTTON(c))
            gtk_widget_set_visible(c, FALSE);
}

static void make_spin(LithoParamEditor *self)
{
    const LithoParam *row = self->row;
    double step = litho_param_step(row);
    GtkWidget *spin = gtk_spin_button_new_with_range(row->min, row->max, step);
    gtk_spin_button_set_increments(GTK_SPIN_BUTTON(spin), step,
                                   row->type == LITHO_PARAM_INT ? MAX(step * 5, 2) : step * 10);
    gtk_spin_button_set_numeric(GTK_SPIN_BUTTON(spin), FALSE); // 1e-3 is a number, too
    gtk_spin_button_set_update_policy(GTK_SPIN_BUTTON(spin), GTK_UPDATE_IF_VALID);
    gtk_spin_button_set_digits(GTK_SPIN_BUTTON(spin), row->type == LITHO_PARAM_INT ? 0 : 12);
    gtk_editable_set_width_chars(GTK_EDITABLE(spin), number_chars(self));
    gtk_editable_set_max_width_chars(GTK_EDITABLE(spin), number_chars(self));
    gtk_editable_set_alignment(GTK_EDITABLE(spin), 1);
    litho_field_of_numbers(spin);
    gtk_widget_add_css_class(spin, "litho-number");
    g_signal_connect(spin, "output", G_CALLBACK(spin_output), self);
    self->spin = spin;
    spin_output(GTK_SPIN_BUTTON(spin), self); // GTK has written the first value in its own way
    g_signal_connect(spin, "input", G_CALLBACK(spin_input), self);
    g_signal_connect(spin, "value-changed", G_CALLBACK(on_spin), self);
    GtkEventController *keys = gtk_event_controller_key_new();
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(spin_key), self);
    gtk_widget_add_controller(spin, keys);
    litho_wheel_needs_focus(spin);
    hide_buttons(spin);
}

static GtkWidget *make_slider(LithoParamEditor *self)
{
    const LithoParam *row = self->row;
    double lo, hi, step = row->log ? 0.05 : litho_param_step(row);
    litho_param_slider_range(row, &lo, &hi);
    lo = litho_param_slider_from_value(row, lo);
    hi = litho_param_slider_from_value(row, hi);
    GtkWidget *slider = gtk_scale_new_with_range(GTK_ORIENTATION_HORIZONTAL, lo, hi, step);
    gtk_scale_set_draw_value(GTK_SCALE(slider), FALSE);
    gtk_range_set_increments(GTK_RANGE(slider), step, row->log ? 0.25 : MAX(step, (hi - lo) / 10));
    if (row->type == LITHO_PARAM_INT && !row->log)
        gtk_range_set_round_digits(GTK_RANGE(slider), 0);
    gtk_widget_set_hexpand(slider, TRUE);
    gtk_widget_set_size_request(
        slider, number_chars(self) > NUMBER_CHARS ? SHORT_SLIDER : SLIDER_WIDTH, -1);
    gtk_widget_set_valign(slider, GTK_ALIGN_CENTER);
    gtk_widget_add_css_class(slider, "litho-slider");
    g_signal_connect(slider, "value-changed", G_CALLBACK(on_slider), self);
    litho_wheel_needs_focus(slider);
    return slider;
}

void litho_param_number_fill(LithoParamEditor *self, GtkWidget *line)
{
    make_spin(self);
    self->slider = make_slider(self);
    gtk_widget_set_hexpand(self->name, FALSE);
    gtk_widget_set_size_request(self->name, NAME_WIDTH, -1);
    gtk_label_set_max_width_chars(GTK_LABEL(self->name), LITHO_PARAM_NAME_CHARS);
    gtk_box_append(GTK_BOX(line), self->slider);
    gtk_box_append(GTK_BOX(line), self->spin);
    gtk_widget_set_halign(self->spin, GTK_ALIGN_END);
    gtk_widget_set_hexpand(self->spin, TRUE); // at the right also without the slider
    gtk_widget_set_valign(self->spin, GTK_ALIGN_CENTER);
    litho_param_number_write(self); // makes room for words
    litho_param_editor_describe(self, self->spin);
    litho_param_editor_describe(self, self->slider);
}

// "automatic" in small letters under the name, where the field shows the number it stands for.
static void show_words(LithoParamEditor *self, gboolean special)
{
    const LithoParam *row = self->row;
    if (!row->special_text) {
        g_autofree char *name = *self->note ? litho_words_below(litho_text(row->label), self->note)
                                            : g_markup_escape_text(litho_text(row->label), -1);
        gtk_label_set_markup(GTK_LABEL(self->name), name);
        return;
    }
    g_autofree char *markup = litho_words_below(
        litho_text(row->label), *self->note ? self->note : litho_text(row->special_text));
    litho_label_keep_room(self->name, markup, NAME_WIDTH);
    if (special && isfinite(self->used))
        gtk_label_set_markup(GTK_LABEL(self->name), markup);
    else
        gtk_label_set_text(GTK_LABEL(self->name), litho_text(row->label));
}

static gboolean slider_is_at(const LithoParamEditor *self, double value)
{
    return litho_param_slider_to_value(self->row, gtk_range_get_value(GTK_RANGE(self->slider))) ==
           value;
}

// All rows are loaded at each move of a slider, and one of them has changed.
static gboolean shows_already(const LithoParamEditor *self, double value, double at,
                              const char *text, const char *words)
{
    return gtk_spin_button_get_value(GTK_SPIN_BUTTON(self->spin)) == value &&
           slider_is_at(self, at) && strcmp(self->told, words) == 0 &&
           strcmp(self->written, text) == 0 &&
           strcmp(gtk_editable_get_text(GTK_EDITABLE(self->spin)), text) == 0;
}

void litho_param_number_show(LithoParamEditor *self, double value)
{
    char text[64], words[128];
    gboolean special = litho_param_is_special(self->row, value);
    double at = special && isfinite(self->used) ? self->used : value;
    field_text(self, value, text, sizeof text);
    if (special && isfinite(self->used))
        g_snprintf(words, sizeof words, "%s: %s", litho_text(self->row->special_text), text);
    else
        g_strlcpy(words, text, sizeof words);
    if (shows_already(self, value, at, text, words))
        return;
    g_strlcpy(self->told, words, sizeof self->told);
    // Not while it says the same: the hand on the slider must not feel it move.
    if (!slider_is_at(self, at))
        gtk_range_set_value(GTK_RANGE(self->slider), litho_param_slider_from_value(self->row, at));
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(self->spin), value);
    litho_param_number_write(self); // the value may stand for another number now
    show_words(self, special);
    if (special)
        gtk_widget_add_css_class(self->slider, "litho-special");
    else
        gtk_widget_remove_css_class(self->slider, "litho-special");
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->slider), GTK_ACCESSIBLE_PROPERTY_VALUE_TEXT,
                                   words, -1);
}

void litho_param_editor_set_used(LithoParamEditor *self, double value)
{
    if (!self->spin || value == self->used || (isnan(value) && isnan(self->used)))
        return;
    self->used = value;
    const char *text = gtk_editable_get_text(GTK_EDITABLE(self->spin));
    if (strcmp(self->written, text) != 0) // somebody is typing
        return;
    self->loading = TRUE;
    litho_param_number_show(self, gtk_spin_button_get_value(GTK_SPIN_BUTTON(self->spin)));
    self->loading = FALSE;
}

double litho_param_editor_used(LithoParamEditor *self)
{
    return self->used;
}

void litho_param_editor_set_note(LithoParamEditor *self, const char *words)
{
    if (!self->spin || strcmp(self->note, words) == 0)
        return;
    g_strlcpy(self->note, words, sizeof self->note);
    show_words(self, litho_param_is_special(
                         self->row, gtk_spin_button_get_value(GTK_SPIN_BUTTON(self->spin))));
}
