// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/quality_panel.h"

#include <math.h>

#include "core/text.h"
#include "render/ticks.h"
#include "ui/panel/level_button.h"
#include "ui/panel/parts.h"
#include "ui/panel/widths_button.h"
#include "ui/view/tooltip.h"

enum { SNR, LEAK, REMOVED, TRUTH, HIDDEN, FIGURES };

typedef enum { MARK_NONE, MARK_GOOD, MARK_LOOK, MARK_BAD, N_MARKS } Mark;

typedef struct Figure {
    GtkWidget *row, *mark, *number, *name, *words;
} Figure;

struct _LithoQualityPanel {
    GtkBox parent;
    LithoSession *session;
    LithoJudgement *judgement;
    GtkWidget *head, *title, *figures, *missing, *note;
    GtkWidget *leak; // the figure of the leak and the button of its half widths
    GtkWidget *test, *share, *seed;
    Figure figure[FIGURES];
    gboolean loading;
};

G_DEFINE_TYPE(LithoQualityPanel, litho_quality_panel, GTK_TYPE_BOX)

// --- contents -----------------------------------------------------------------------------------

static void set_class(GtkWidget *widget, const char *css, gboolean on)
{
    if (on)
        gtk_widget_add_css_class(widget, css);
    else
        gtk_widget_remove_css_class(widget, css);
}

// Lines do not break between a number and its unit.
static char *with_units_kept(const char *words)
{
    static const char *const units[] = {" dB", " %"};
    GString *text = g_string_new(words);
    for (guint k = 0; k < G_N_ELEMENTS(units); k++) {
        g_autofree char *kept = g_strconcat("\302\240", units[k] + 1, NULL);
        g_string_replace(text, units[k], kept, 0);
    }
    return g_string_free(text, FALSE);
}

// A mark is a shape and a word for the screen reader; its colour only repeats it.
static void show(Figure *f, const char *number, const char *words, Mark mark)
{
    static const char *const icons[N_MARKS] = {
        NULL, "object-select-symbolic", "dialog-information-symbolic", "dialog-warning-symbolic"};
    static const char *const css[N_MARKS] = {NULL, "litho-good", "litho-look", "litho-bad"};
    const char *const said[N_MARKS] = {"", _("good, "), _("look at it, "), _("warning, ")};
    litho_label_set_number(f->number, number);
    g_autofree char *kept = with_units_kept(words);
    gtk_label_set_text(GTK_LABEL(f->words), kept);
    gtk_image_set_from_icon_name(GTK_IMAGE(f->mark), icons[mark]);
    for (int m = 1; m < N_MARKS; m++)
        set_class(f->mark, css[m], m == (int)mark);
    g_autofree char *all = g_strdup_printf("%s: %s, %s%s", gtk_label_get_text(GTK_LABEL(f->name)),
                                           number, said[mark], words);
    litho_name_widget(f->row, all);
}

// "2.1 dB better than the input", and how good that is.
static char *gain_words(double gain, Mark *mark)
{
    *mark = gain > LITHO_QUALITY_EVEN_DB    ? MARK_GOOD
            : gain < -LITHO_QUALITY_EVEN_DB ? MARK_BAD
                                            : MARK_LOOK;
    return gain > LITHO_QUALITY_EVEN_DB
               ? litho_text_printf(_("%.1f dB better than the input"), gain)
           : gain < -LITHO_QUALITY_EVEN_DB
               ? litho_text_printf(_("%.1f dB worse than the input"), -gain)
               : g_strdup(_("about as good as the input"));
}

// A bound of the SNR is one of the gain.
static char *expected_gain_words(const LithoQuality *q, Mark *mark)
{
    g_autofree char *words = gain_words(q->expected_gain_db, mark);
    if (*mark != MARK_GOOD || !(q->expected_is_bound || q->is_beyond))
        return g_steal_pointer(&words);
    return litho_text_printf(q->expected_is_bound ? _("at least %.1f dB better than the input")
                                                  : _("at most %.1f dB better than the input"),
                             q->expected_gain_db);
}

// Better than the input is not good where other settings did better. FALSE: they did not.
static gboolean less_than_before(LithoQualityPanel *self, const LithoQuality *q, char **words,
                                 Mark *mark)
{
    const double best = litho_judgement_best_db(self->judgement), apart = 0.5; // dB
    if (*mark != MARK_GOOD || !(best > q->expected_snr_db + apart))
        return FALSE;
    *mark = MARK_LOOK;
    g_autofree char *gained = *words, *reached = litho_format_decibels(best, 1, FALSE);
    *words = g_strdup_printf(_("%s; %s were reached before"), gained, reached);
    return TRUE;
}

static void show_snr(LithoQualityPanel *self, const LithoQuality *q)
{
    Figure *f = &self->figure[SNR];
    const gboolean known = isfinite(q->expected_snr_db);
    const gboolean asked = isfinite(q->noise_sigma) && !q->fills_alone && *q->why;
    gtk_widget_set_visible(f->row, known || asked);
    if (!known && asked)
        show(f, _("not known"), _("the reason stands below"), MARK_LOOK);
    if (!known)
        return;
    double half = (q->expected_high_db - q->expected_low_db) / 2, gain = q->expected_gain_db;
    const double narrow = 2; // dB; a wider interval is far from even on both sides
    g_autofree char *plain = litho_format_decibels(q->expected_snr_db, 1, FALSE);
    // An error that cannot be told from none has no upper end; the least one possible is the end.
    g_autofree char *number = q->is_filtered || q->is_clean ? litho_quality_expected_text(q)
                              : q->expected_is_bound        ? g_strdup_printf("≥ %s", plain)
                              : q->is_beyond                ? g_strdup_printf("≤ %s", plain)
                              : half < narrow ? litho_text_printf("%s ±%.1f", plain, half)
                                              : g_strdup(plain);
    Mark mark = MARK_LOOK;
    g_autofree char *words =
        isfinite(gain)    ? expected_gain_words(q, &mark)
        : q->is_rough     ? g_strdup(_("noise as of migrated or mixed data: Find ranks settings"))
        : q->is_filtered  ? g_strdup(_("clean or filtered data: no noise beside the events"))
        : q->counts_steep ? g_strdup(_("steep noise, as ground roll, counts as signal"))
                          : g_strdup(_("expected of the output"));
    if (q->is_beyond || q->is_clean) // an interval that reaches higher would contradict it
        mark = MARK_LOOK;
    else if (!less_than_before(self, q, &words, &mark) && half >= narrow &&
             !q->expected_is_bound) { // also where the upper end is open
        g_autofree char *gained = g_steal_pointer(&words);
        g_autofree char *low = litho_format_decibels(q->expected_low_db, 0, FALSE);
        g_autofree char *high = litho_format_decibels(q->expected_high_db, 0, FALSE);
        const gboolean is_closed = q->expected_high_db < 60;
        if (is_closed) // "16 to 20 dB": one unit for both
            *strchr(low, ' ') = '\0';
        words = is_closed ? g_strdup_printf(_("%s; %s to %s is possible"), gained, low, high)
                          : g_strdup_printf(_("%s; %s or more is possible"), gained, low);
    }
    show(f, number, words, mark);
}

static void show_leak(LithoQualityPanel *self, const LithoQuality *q)
{
    static const Mark marks[] = {MARK_GOOD, MARK_LOOK, MARK_BAD};
    Figure *f = &self->figure[LEAK];
    gtk_widget_set_visible(f->row, q->leak.count > 0);
    if (q->leak.count == 0)
        return;
    const LithoLeakReading reading = litho_quality_leak_reading(q);
    g_autofree char *number = litho_quality_leaving_text(q);
    const char *sentence = litho_quality_leak_sentence(q);
    g_autofree char *said = litho_quality_leak_has_place(q)
                                ? g_strdup_printf(_("%s: show where"), sentence)
                                : g_strdup(sentence);
    g_autofree char *words = isfinite(q->lost)
                                 ? g_strdup_printf(_("of the signal's amplitude; %s"), said)
                                 : g_steal_pointer(&said);
    show(f, number, words, q->leak.removed > 0 ? marks[reading] : MARK_NONE);
}

// "38 %", "1.4 %", "< 0.1 %": what is not nothing does not read as 0.
static char *percent_of(double part)
{
    char percent[32];
    const gboolean small = part > LITHO_LEAK_ROUNDING && part < 0.0005;
    litho_format_number(percent, sizeof percent, small ? 0.1 : 100 * part, part < 0.0995 ? 0.1 : 1);
    return g_strdup_printf("%s%s %%", small ? "< " : "", percent);
}

// The operator that measures noise at each wavenumber, where the flow does without it and leaves
// such noise in the data; else NULL.
static const LithoOperator *better_choice(LithoQualityPanel *self, const LithoQuality *q)
{
    const LithoOperator *op = litho_operator_first_choice();
    const LithoFlow *flow = litho_session_flow(self->session);
    for (guint k = 0; k < litho_flow_length(flow) && op; k++)
        if (litho_flow_step(flow, k)->op == op && litho_flow_step(flow, k)->enabled)
            op = NULL;
    return q->is_rough && litho_quality_noise_stays(q) ? op : NULL;
}

static void show_removed(LithoQualityPanel *self, const LithoQuality *q)
{
    Figure *f = &self->figure[REMOVED];
    gtk_widget_set_visible(f->row, isfinite(q->removed));
    const double noise = litho_quality_noise_part(q);
    const gboolean stays = litho_quality_noise_stays(q);
    g_autofree char *number = percent_of(q->removed);
    g_autofree char *level = isfinite(noise) ? percent_of(noise) : NULL;
    const LithoOperator *better = better_choice(self, q);
    g_autofree char *words =
        !level ? g_strdup(_("of the input's energy"))
        : better
            ? g_strdup_printf(_("of the input's energy; most of the noise, %s, stays: try '%s'"),
                              level, litho_text(better->title))
        : stays ? g_strdup_printf(_("of the input's energy; most of the noise, %s, stays"), level)
                : g_strdup_printf(_("of the input's energy; the noise has %s"), level);
    show(f, number, words, stays ? MARK_LOOK : MARK_NONE);
}

static void show_truth(LithoQualityPanel *self, const LithoQuality *q)
{
    Figure *f = &self->figure[TRUTH];
    const char *name;
    gboolean known = litho_judgement_truth(self->judgement, &name) && isfinite(q->snr_db);
    gtk_widget_set_visible(f->row, known);
    if (!known)
        return;
    g_autofree char *title = q->fills_alone ? g_strdup(_("SNR of the filled traces"))
                             : g_strcmp0(name, _("Truth")) == 0
                                 ? g_strdup(_("SNR against the truth"))
                                 : g_strdup_printf(_("SNR against %s"), name);
    gtk_label_set_text(GTK_LABEL(f->name), title);
    g_autofree char *number = litho_format_decibels(q->snr_db, 1, FALSE);
    Mark mark = MARK_NONE;
    g_autofree char *gained =
        isfinite(q->gain_db) ? gain_words(q->gain_db, &mark) : g_strdup(_("of the output"));
    g_autofree char *words = isfinite(q->true_lost) && !q->fills_alone
                                 ? litho_text_printf(_("%s; %.1f %% of its amplitude leaves"),
                                                     gained, 100 * MAX(q->true_lost, 0))
                                 : g_strdup(gained);
    show(f, number, words, mark);
}

// Hidden traces are predicted while the person goes on: how far, and how long yet.
static char *words_of_hiding(LithoQualityPanel *self)
{
    const double part = litho_judgement_part(self->judgement);
    const double left = litho_judgement_left_s(self->judgement);
    gboolean fresh;
    litho_judgement_figures(self->judgement, &fresh);
    if (!fresh) // the part is that of the other figures
        return g_strdup(_("traces are predicted after the other figures"));
    if (isnan(part))
        return g_strdup(_("traces are being predicted"));
    return left >= 1 ? litho_text_printf(_("traces are being predicted: %.0f %%, %.0f s left"),
                                         100 * part, left)
                     : g_strdup_printf(_("traces are being predicted: %.0f %%"), 100 * part);
}

// `apart`: a sentence on figures that disagree, "" = none.
static char *words_of_hidden(guint traces, double share, guint32 seed, const char *apart)
{
    g_autofree char *words = litho_text_printf(
        litho_text_plural("on %u trace, %g %%, seed %u", "on %u traces, %g %%, seed %u", traces),
        traces, share, seed);
    return *apart ? g_strconcat(words, ". ", apart, NULL) : g_steal_pointer(&words);
}

static void show_hidden(LithoQualityPanel *self, const LithoQuality *q)
{
    Figure *f = &self->figure[HIDDEN];
    guint32 seed;
    const double share = litho_judgement_hidden(self->judgement, &seed);
    const gboolean hiding = litho_judgement_is_hiding(self->judgement);
    const char *why = litho_judgement_hidden_why(self->judgement);
    const gboolean known = q->hidden_traces > 0 && isfinite(q->hidden_snr_db);
    gtk_widget_set_visible(f->row, share > 0);
    if (share <= 0)
        return;
    g_autofree char *plain =
        known ? litho_format_decibels(q->hidden_snr_db, 1, FALSE) : g_strdup("–");
    g_autofree char *number = known && isfinite(q->hidden_off_db)
                                  ? litho_text_printf("%s ±%.1f", plain, q->hidden_off_db)
                                  : g_strdup(plain);
    g_autofree char *words = NULL;
    const char *apart = known ? litho_quality_disagreement(q) : "";
    if (hiding)
        words = words_of_hiding(self);
    else if (!known)
        words = why ? litho_text_begin(why) : g_strdup(_("not asked yet"));
    else
        words = words_of_hidden(q->hidden_traces, share, seed, apart);
    set_class(f->number, "litho-before", hiding);
    show(f, number, words, !hiding && (*apart || !known) ? MARK_LOOK : MARK_NONE);
}

// The test may have been switched by a command.
static void follow_test(LithoQualityPanel *self)
{
    guint32 seed;
    const double share = litho_judgement_hidden(self->judgement, &seed);
    self->loading = TRUE;
    gtk_check_button_set_active(GTK_CHECK_BUTTON(self->test), share > 0);
    if (share > 0) {
        gtk_spin_button_set_value(GTK_SPIN_BUTTON(self->share), share);
        gtk_spin_button_set_value(GTK_SPIN_BUTTON(self->seed), seed);
    }
    self->loading = FALSE;
}

// How far the new figures have come, where they take long.
static char *words_of_before(LithoQualityPanel *self)
{
    const double part = litho_judgement_part(self->judgement);
    return isnan(part) ? g_strdup(_("of the parameters before"))
                       : g_strdup_printf(_("from before; the new ones: %.0f %%"), 100 * part);
}

// Where the first figures come from takes seconds of a large survey: the level, then two runs.
static char *words_of_first(LithoQualityPanel *self)
{
    const double part = litho_judgement_part(self->judgement);
    const char *doing = litho_judgement_doing(self->judgement);
    const gboolean comes =
        litho_session_output(self->session) || litho_session_progress(self->session, NULL);
    if (!comes) // a pass that was stopped gives none
        return g_strdup(_("no result yet"));
    return doing ? litho_text_printf("%s %.0f %%", litho_text(doing), 100 * part)
                 : g_strdup(_("being computed"));
}

// What the figures are of where that is not the survey, whose numbers are its tooltip's; "" = it
// is.
static const char *words_of_area(LithoSession *session)
{
    LithoCube *in = litho_session_input(session);
    const LithoBox area = litho_judgement_area(session);
    if (!in || litho_box_equal(area, in->held))
        return "";
    return litho_box_equal(area, litho_judgement_view(session))
               ? _("of the area in view")
               : _("of the middle of the area in view");
}

// One line, as the note of figures from before is: rows below stay where they are.
static void show_note(LithoQualityPanel *self, const char *before, const char *why)
{
    const char *area = words_of_area(self->session);
    const char *note = before ? before : why ? why : area;
    LithoCube *in = litho_session_input(self->session);
    g_autofree char *numbers =
        note == area && *area
            ? litho_quality_area_text(&in->grid, litho_judgement_area(self->session))
            : NULL;
    gtk_label_set_text(GTK_LABEL(self->note), note);
    gtk_widget_set_tooltip_text(self->note, numbers);
}

// The rows that will hold the first figures, so that nothing below moves when these come.
static void show_pending(LithoQualityPanel *self)
{
    g_autofree char *words = words_of_first(self);
    for (int k = 0; k < FIGURES; k++) {
        gtk_widget_set_visible(self->figure[k].row, k <= REMOVED);
        show(&self->figure[k], k <= REMOVED ? "–" : "", k == SNR ? words : " ", MARK_NONE);
    }
}

static void on_progress(LithoQualityPanel *self)
{
    if (litho_judgement_is_pending(self->judgement))
        show_pending(self);
}

static void refresh(LithoQualityPanel *self)
{
    gboolean fresh;
    const LithoQuality *q = litho_judgement_figures(self->judgement, &fresh);
    const char *missing = litho_judgement_missing(self->judgement);
    const gboolean pending = litho_judgement_is_pending(self->judgement);
    gtk_widget_set_visible(GTK_WIDGET(self), q || missing);
    gtk_widget_set_visible(self->figures, q || pending);
    gtk_widget_set_visible(self->missing, missing && !pending);
    gtk_label_set_text(GTK_LABEL(self->missing), missing ? missing : "");
    set_class(self->figures, "litho-before", q && !fresh);
    follow_test(self);
    g_autofree char *why = q && *q->why ? litho_text_begin(q->why) : NULL;
    g_autofree char *before = q && !fresh ? words_of_before(self) : NULL;
    show_note(self, before, why);
    gtk_widget_set_visible(self->note, q || pending);
    if (pending)
        show_pending(self);
    if (!q)
        return;
    show_snr(self, q);
    show_leak(self, q);
    show_removed(self, q);
    show_truth(self, q);
    show_hidden(self, q);
}

// --- what can be clicked ------------------------------------------------------------------------

// Shows the place of the largest leak: the slices go there, the map lies over them.
static void on_leak(GtkButton *button, LithoQualityPanel *self)
{
    (void)button;
    const LithoQuality *q = litho_judgement_figures(self->judgement, NULL);
    if (!q || q->leak.count == 0)
        return;
    const int axes = q->leak.beside_noise > 0 ? 3 : 0; // else there is no place to go to
    for (int a = 0; a < axes; a++)
        litho_session_set_slice(self->session, a, q->leak.worst[a]);
    litho_judgement_want_maps(self->judgement, TRUE);
}

static void on_test(LithoQualityPanel *self)
{
    if (self->loading)
        return;
    gboolean on = gtk_check_button_get_active(GTK_CHECK_BUTTON(self->test));
    double share = gtk_spin_button_get_value(GTK_SPIN_BUTTON(self->share));
    double seed = gtk_spin_button_get_value(GTK_SPIN_BUTTON(self->seed));
    litho_judgement_hide(self->judgement, on ? share : 0, (guint32)seed);
}

// --- the widget ---------------------------------------------------------------------------------

static GtkWidget *add_tool(GtkWidget *line, GtkWidget *tool, const char *action, const char *tip)
{
    if (action)
        gtk_actionable_set_action_name(GTK_ACTIONABLE(tool), action);
    if (tip)
        litho_set_tooltip(tool, tip);
    gtk_widget_add_css_class(tool, "litho-tool");
    gtk_box_append(GTK_BOX(line), tool);
    return tool;
}

static void make_figure(LithoQualityPanel *self, int k, const char *name, const char *doc)
{
    Figure *f = &self->figure[k];
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    GtkWidget *texts = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    GtkWidget *title = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    f->mark = gtk_image_new();
    gtk_widget_set_size_request(f->mark, 18, 18);
    gtk_widget_set_valign(f->mark, GTK_ALIGN_CENTER);
    f->name = litho_label_new(name, "dim-label");
    f->number = litho_label_new(NULL, "litho-figure");
    f->words = litho_label_new(NULL, NULL);
    gtk_label_set_wrap(GTK_LABEL(f->words), TRUE);
    gtk_label_set_width_chars(GTK_LABEL(f->words), 20);
    if (k == SNR || k == REMOVED) // else rows below move as figures come
        gtk_widget_add_css_class(f->words, "litho-two-lines");
    gtk_widget_set_hexpand(texts, TRUE);
    gtk_box_append(GTK_BOX(title), f->name);
    gtk_widget_set_hexpand(f->name, TRUE);
    // A button ends the question, beside the figure that goes with it.
    if (k == TRUTH)
        add_tool(title,
                 litho_icon_button_new("window-close-symbolic", _("Forget the reference"),
                                       _("Forget the reference")),
                 "win.reference-forget", NULL);
    if (k == HIDDEN)
        add_tool(title,
                 litho_icon_button_new("window-close-symbolic", _("End the test on hidden traces"),
                                       _("End the test on hidden traces")),
                 "win.hidden", NULL);
    gtk_box_append(GTK_BOX(texts), title);
    gtk_box_append(GTK_BOX(texts), f->number);
    gtk_box_append(GTK_BOX(texts), f->words);
    gtk_box_append(GTK_BOX(line), f->mark);
    gtk_box_append(GTK_BOX(line), texts);
    f->row = line;
    if (k == LEAK) {
        f->row = gtk_button_new();
        gtk_button_set_child(GTK_BUTTON(f->row), line);
        gtk_widget_add_css_class(f->row, "flat");
        g_signal_connect(f->row, "clicked", G_CALLBACK(on_leak), self);
    }
    gtk_widget_add_css_class(f->row, "litho-figure-row");
    litho_set_tooltip(f->row, doc);
    if (k != LEAK) {
        gtk_box_append(GTK_BOX(self->figures), f->row);
        return;
    }
    self->leak = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    gtk_widget_set_hexpand(f->row, TRUE);
    gtk_box_append(GTK_BOX(self->leak), f->row);
    gtk_box_append(GTK_BOX(self->figures), self->leak);
}

static GtkWidget *make_number(const char *name, double lo, double hi, double value)
{
    GtkWidget *spin = gtk_spin_button_new_with_range(lo, hi, 1);
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(spin), value);
    litho_name_widget(spin, name);
    litho_field_of_numbers(spin);
    return spin;
}

static GtkWidget *make_test(LithoQualityPanel *self)
{
    GtkWidget *grid = gtk_grid_new();
    GtkWidget *why = litho_text_new(40);
    gtk_label_set_text(GTK_LABEL(why),
                       _("Traces at random are declared missing and predicted from the others; the "
                         "figure compares them with what was recorded. It needs no noise level and "
                         "is the check for filling missing traces."));
    self->test = gtk_check_button_new_with_label(_("Test on hidden traces"));
    self->share = make_number(_("Share of hidden traces in percent"), 1, 20, 5);
    self->seed = make_number(_("Seed of the choice"), 1, 1e6, 1);
    gtk_grid_set_row_spacing(GTK_GRID(grid), 6);
    gtk_grid_set_column_spacing(GTK_GRID(grid), 12);
    gtk_grid_attach(GTK_GRID(grid), why, 0, 0, 2, 1);
    gtk_grid_attach(GTK_GRID(grid), self->test, 0, 1, 2, 1);
    gtk_grid_attach(GTK_GRID(grid), litho_label_new(_("Share, %"), NULL), 0, 2, 1, 1);
    gtk_grid_attach(GTK_GRID(grid), self->share, 1, 2, 1, 1);
    gtk_grid_attach(GTK_GRID(grid), litho_label_new(_("Seed"), NULL), 0, 3, 1, 1);
    gtk_grid_attach(GTK_GRID(grid), self->seed, 1, 3, 1, 1);
    g_signal_connect_swapped(self->test, "toggled", G_CALLBACK(on_test), self);
    g_signal_connect_swapped(self->share, "value-changed", G_CALLBACK(on_test), self);
    g_signal_connect_swapped(self->seed, "value-changed", G_CALLBACK(on_test), self);
    GtkWidget *popover = gtk_popover_new(), *button = gtk_menu_button_new();
    gtk_popover_set_child(GTK_POPOVER(popover), grid);
    gtk_menu_button_set_label(GTK_MENU_BUTTON(button), _("Hidden traces"));
    gtk_menu_button_set_popover(GTK_MENU_BUTTON(button), popover);
    litho_set_tooltip(button, _("Test on hidden traces: the check for interpolation"));
    litho_name_widget(button, _("Hidden traces"));
    return button;
}

// Other answers to the question in the title: a known truth, another file, traces held out.
static GtkWidget *make_tools(LithoQualityPanel *self)
{
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    gtk_widget_add_css_class(line, "litho-tools");
    add_tool(line, gtk_button_new_with_label(_("Truth")), "win.truth",
             _("Compare with the known truth of a generated survey, and back (Ctrl+T)"));
    add_tool(line, gtk_button_new_with_label(_("File…")), "win.reference",
             _("Compare with a file of the survey's shape (Ctrl+Shift+T)"));
    add_tool(line, make_test(self), NULL, NULL);
    return line;
}

static void litho_quality_panel_init(LithoQualityPanel *self)
{
    gtk_orientable_set_orientation(GTK_ORIENTABLE(self), GTK_ORIENTATION_VERTICAL);
    GtkWidget *head = self->head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    self->title = litho_label_new(_("Is it right?"), "heading");
    gtk_widget_set_hexpand(self->title, TRUE);
    gtk_box_append(GTK_BOX(head), self->title);
    gtk_widget_add_css_class(head, "litho-head");
    self->figures = gtk_box_new(GTK_ORIENTATION_VERTICAL, 2);
    make_figure(self, SNR, _("Expected SNR"),
                _("Estimated without truth on the area in view, from how the output answers to a "
                  "little more noise (SURE) and from the noise level of the input; plus or minus "
                  "what the noise level leaves open."));
    make_figure(self, LEAK, _("Signal leaving"),
                _("Share of the removed energy that is alike to the output beside it, where the "
                  "output is strong. A click goes where most of it leaves."));
    make_figure(self, REMOVED, _("Removed"),
                _("Energy of input less output over that of the input, and the noise's share of it "
                  "by the measured level."));
    make_figure(self, TRUTH, _("SNR against the truth"),
                _("Energy of the reference over that of the error on the area in view. The "
                  "difference, output less reference, is what Difference shows in the views."));
    make_figure(self, HIDDEN, _("SNR on hidden traces"),
                _("Traces at random are predicted from the others and compared with what was "
                  "recorded: the check for interpolation."));
    self->missing = litho_label_new(NULL, "dim-label");
    self->note = litho_label_new(NULL, "dim-label");
    gtk_box_append(GTK_BOX(self), head);
    gtk_box_append(GTK_BOX(self), self->figures);
    GtkWidget *texts[] = {self->note, self->missing};
    for (guint k = 0; k < G_N_ELEMENTS(texts); k++) {
        gtk_label_set_wrap(GTK_LABEL(texts[k]), TRUE);
        gtk_label_set_width_chars(GTK_LABEL(texts[k]), 20);
        gtk_widget_add_css_class(texts[k], "litho-small");
        gtk_box_append(GTK_BOX(self), texts[k]);
    }
    gtk_box_append(GTK_BOX(self), make_tools(self));
}

static void dispose(GObject *object)
{
    LithoQualityPanel *self = LITHO_QUALITY_PANEL(object);
    g_clear_object(&self->judgement);
    g_clear_object(&self->session);
    G_OBJECT_CLASS(litho_quality_panel_parent_class)->dispose(object);
}

static void litho_quality_panel_class_init(LithoQualityPanelClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
}

const char *litho_quality_panel_text(LithoQualityPanel *self, int k)
{
    gboolean shown = litho_judgement_figures(self->judgement, NULL) &&
                     gtk_widget_get_visible(GTK_WIDGET(self)) &&
                     gtk_widget_get_visible(self->figures) &&
                     gtk_widget_get_visible(self->figure[k].row);
    return shown ? gtk_label_get_text(GTK_LABEL(self->figure[k].number)) : "";
}

GtkWidget *litho_quality_panel_new(LithoSession *session, LithoJudgement *judgement)
{
    LithoQualityPanel *self = g_object_new(LITHO_TYPE_QUALITY_PANEL, NULL);
    self->session = g_object_ref(session);
    self->judgement = g_object_ref(judgement);
    gtk_box_append(GTK_BOX(self->head), litho_level_button_new(session, judgement));
    GtkWidget *widths = litho_widths_button_new(session, judgement);
    g_object_bind_property(self->figure[LEAK].row, "visible", widths, "visible",
                           G_BINDING_SYNC_CREATE);
    gtk_box_append(GTK_BOX(self->leak), widths);
    g_signal_connect_object(judgement, "changed", G_CALLBACK(refresh), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(session, "progress", G_CALLBACK(on_progress), self, G_CONNECT_SWAPPED);
    refresh(self);
    return GTK_WIDGET(self);
}
