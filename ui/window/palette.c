// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/palette.h"

#include <math.h>
#include <string.h>

#include "core/text.h"
#include "render/ticks.h"
#include "ui/window/commands.h"
#include "ui/panel/param_editor.h"
#include "ui/panel/parts.h"
#include "ui/window/window_private.h"

enum { MAX_HITS = 12 };

// Something that can be done.
typedef struct Hit {
    const LithoWindowCommand *command;
    const LithoOperator *op; // add it to the flow
    const LithoParam *row;   // of the selected step
    const char *value;       // for `row`, borrowed from the query; NULL = go there
    enum { HIT_OTHER, HIT_SLICE, HIT_PERCENT, HIT_RANGE } typed; // what a number was typed for
    int axis;                                                    // of the slice
    gint64 index;
    double lo, hi; // the range, or the percentage twice
    char title[128];
} Hit;

// --- finding ------------------------------------------------------------------------------------

// Every word of the query begins a word of the title.
static gboolean matches(const char *title, char **words)
{
    g_autofree char *folded = g_utf8_casefold(title, -1);
    for (char **w = words; *w; w++) {
        if (!**w)
            continue;
        g_autofree char *word = g_utf8_casefold(*w, -1);
        const char *at = folded;
        gboolean found = FALSE;
        while (!found && (at = strstr(at, word))) {
            found = at == folded || !g_ascii_isalnum(at[-1]);
            at++;
        }
        if (!found)
            return FALSE;
    }
    return TRUE;
}

// A command by its title and by the other words it is known by.
static gboolean command_matches(const LithoWindowCommand *command, const char *title, char **words)
{
    g_autofree char *all =
        g_strdup_printf("%s %s", title, command->words ? litho_text(command->words) : "");
    return matches(all, words);
}

// An operator by its title and by the key that the command line knows it by.
static gboolean operator_matches(const LithoOperator *op, const char *title, char **words)
{
    // The summary tells what it is for: "denoise", "missing traces".
    g_autofree char *all = g_strdup_printf("%s %s %s", title, op->key, litho_text(op->summary));
    return matches(all, words);
}

// TRUE when the title goes on from what was typed: "Add wave" means "Add Wave packets" more than
// "Add Tip-wave modelling".
static gboolean begins_with(const char *title, char **words)
{
    g_autofree char *query = g_strjoinv(" ", words);
    g_autofree char *folded = g_utf8_casefold(title, -1);
    g_autofree char *start = g_utf8_casefold(g_strstrip(query), -1);
    return *start && g_str_has_prefix(folded, start);
}

// Rank of a hit, best first. 0: its title begins with the words typed; 1: it has them; 2: they are
// other words that it is known by.
static int rank_of(const Hit *hit, char **words)
{
    if (begins_with(hit->title, words))
        return 0;
    return hit->typed != HIT_OTHER || hit->row || matches(hit->title, words) ? 1 : 2;
}

// Within a rank the order stays.
static void sort_hits(Hit *hits, guint n, char **words)
{
    Hit sorted[MAX_HITS];
    guint filled = 0;
    for (int rank = 0; rank <= 2; rank++)
        for (guint k = 0; k < n; k++)
            if (rank_of(&hits[k], words) == rank)
                sorted[filled++] = hits[k];
    memcpy(hits, sorted, n * sizeof *hits);
}

static LithoStep *selected_step(LithoSession *session)
{
    int k = litho_session_selected(session);
    return k < 0 ? NULL : litho_flow_step(litho_session_flow(session), k);
}

// `words` without its last one when that is a value for the row.
static gboolean row_matches(const LithoParam *row, char **words, const char **value)
{
    guint n = g_strv_length(words);
    *value = NULL;
    if (matches(litho_text(row->label), words) || matches(row->key, words))
        return TRUE;
    if (n < 2)
        return FALSE;
    g_auto(GStrv) head = g_strdupv(words);
    g_clear_pointer(&head[n - 1], g_free);
    gboolean number = row->type == LITHO_PARAM_FLOAT || row->type == LITHO_PARAM_INT;
    if (number && !strchr("0123456789.+-", words[n - 1][0]))
        return FALSE; // another word of a command's name
    *value = words[n - 1];
    return matches(litho_text(row->label), head) || matches(row->key, head);
}

static gboolean is_number(const char *word, const char *behind, double *value)
{
    char *end;
    g_autofree char *typed = g_strdup(word);
    litho_text_unmark(typed);
    *value = g_ascii_strtod(typed, &end);
    return end != typed && isfinite(*value) && strcmp(end, behind) == 0;
}

// "inline 1050", "time 620": the slice nearest to that number, as the axis shows it.
static gboolean slice_matches(LithoSession *session, char **words, Hit *hit)
{
    const LithoGrid *grid = litho_session_grid(session);
    double value;
    if (!grid || g_strv_length(words) != 2 || strlen(words[0]) < 2 ||
        !is_number(words[1], "", &value))
        return FALSE;
    const LithoUnits units = litho_session_display(session)->units;
    for (int a = 0; a < 3; a++) {
        // Slices are called by their line numbers, whatever stands at the axes.
        LithoAxisText how = litho_axis_text(grid, a, units & LITHO_UNITS_TIME);
        if (g_ascii_strncasecmp(how.label, words[0], strlen(words[0])) != 0)
            continue;
        double index = rint(litho_axis_shown_at(&how, &grid->axis[a], value));
        if (index < 0 || index >= grid->axis[a].n)
            continue;
        g_autofree char *label = litho_slice_label(grid, a, (gint64)index, units);
        *hit = (Hit){.typed = HIT_SLICE, .axis = a, .index = (gint64)index};
        g_snprintf(hit->title, sizeof hit->title, _("Go to %s"), label);
        return TRUE;
    }
    return FALSE;
}

// "clip 98 %", "clip 1.5", "clip 1500 4500".
static gboolean clip_matches(LithoSession *session, char **words, Hit *hit)
{
    guint n = g_strv_length(words);
    double a, b;
    if (!litho_session_grid(session) || n < 2 || g_ascii_strcasecmp(words[0], "clip") != 0)
        return FALSE;
    gboolean percent = (n == 2 && is_number(words[1], "%", &a)) ||
                       (n == 3 && strcmp(words[2], "%") == 0 && is_number(words[1], "", &a));
    if (percent && a >= 50 && a <= 100) {
        *hit = (Hit){.typed = HIT_PERCENT, .lo = a, .hi = a};
        litho_text_put(hit->title, sizeof hit->title, _("Clip = %g %%"), a);
        return TRUE;
    }
    if (!is_number(words[1], "", &a) || (n == 3 && !is_number(words[2], "", &b)) || n > 3)
        return FALSE;
    *hit = (Hit){.typed = HIT_RANGE, .lo = n == 3 ? a : -a, .hi = n == 3 ? b : a};
    if (!(hit->hi > hit->lo))
        return FALSE;
    if (n == 3)
        litho_text_put(hit->title, sizeof hit->title, _("Colours from %g to %g"), a, b);
    else
        litho_text_put(hit->title, sizeof hit->title, _("Clip = %g"), a);
    return TRUE;
}

// A command of a letter is one of a snapshot.
static gboolean has_snapshot(LithoWindow *window, const char *letter)
{
    LithoSnapshots *snapshots = window->snapshots;
    for (guint k = 0; k < litho_snapshots_count(snapshots); k++)
        if (litho_snapshots_get(snapshots, k)->letter == *letter)
            return TRUE;
    return FALSE;
}

// A command that would do nothing now is not offered.
static gboolean is_possible(LithoWindow *window, const LithoWindowCommand *command)
{
    g_autoptr(GVariant) target = g_str_has_prefix(command->action, "win.snapshot-")
                                     ? g_variant_ref_sink(litho_command_target(command))
                                     : NULL;
    const char *letter = target ? g_variant_get_string(target, NULL) : "";
    if (*letter && !has_snapshot(window, letter))
        return FALSE;

    const char *name = g_str_has_prefix(command->action, "win.") ? command->action + 4 : NULL;
    GAction *action = name ? g_action_map_lookup_action(G_ACTION_MAP(window), name) : NULL;
    return !action || g_action_get_enabled(action);
}

// Operators by themselves, or, with `by_rows`, by a parameter that they have.
static guint find_operators(char **words, gboolean by_rows, Hit *hits, guint room)
{
    guint n = 0;
    for (const LithoOperator *const *op = litho_operators(); op && *op && n < room; op++) {
        Hit hit = {.op = *op};
        g_snprintf(hit.title, sizeof hit.title, _("Add %s"), litho_text((*op)->title));
        gboolean found = !by_rows && operator_matches(*op, hit.title, words);
        for (guint k = 0; by_rows && k < (*op)->params.n && !found; k++)
            found = matches(litho_text((*op)->params.rows[k].label), words) ||
                    matches((*op)->params.rows[k].key, words);
        if (found)
            hits[n++] = hit;
    }
    return n;
}

static guint find(LithoWindow *window, char **words, Hit hits[MAX_HITS])
{
    guint n = 0, n_commands;
    LithoSession *session = litho_window_session(window);
    n += slice_matches(session, words, &hits[n]);
    n += clip_matches(session, words, &hits[n]);
    LithoStep *step = selected_step(litho_window_session(window));
    for (guint k = 0; step && k < step->op->params.n && n < MAX_HITS; k++) {
        const LithoParam *row = &step->op->params.rows[k];
        Hit hit = {.row = row};
        if (!row_matches(row, words, &hit.value))
            continue;
        g_snprintf(hit.title, sizeof hit.title, "%s%s%s%s%s", litho_text(row->label),
                   hit.value ? " = " : "…", hit.value ? hit.value : "",
                   hit.value && row->unit ? " " : "", hit.value && row->unit ? row->unit : "");
        hits[n++] = hit;
    }
    const LithoWindowCommand *commands = litho_commands(&n_commands);
    for (guint k = 0; k < n_commands && n < MAX_HITS; k++) {
        Hit hit = {.command = &commands[k]};
        g_autofree char *title = litho_command_title(&commands[k], litho_session_grid(session));
        if (!command_matches(&commands[k], title, words) || !is_possible(window, &commands[k]))
            continue;
        g_strlcpy(hit.title, title, sizeof hit.title);
        hits[n++] = hit;
    }
    n += find_operators(words, FALSE, hits + n, MAX_HITS - n);
    if (n == 0) // a parameter of an operator that is not in the flow
        n = find_operators(words, TRUE, hits, MAX_HITS);
    sort_hits(hits, n, words);
    return n;
}

// --- doing --------------------------------------------------------------------------------------

static void set_param(LithoWindow *window, const Hit *hit)
{
    LithoSession *session = litho_window_session(window);
    LithoStep *step = selected_step(session);
    g_autofree void *params = g_memdup2(step->params, step->op->params.size);
    g_autoptr(GError) error = NULL;
    gboolean text = hit->row->type == LITHO_PARAM_TEXT || hit->row->type == LITHO_PARAM_FILE;
    LithoCube *in = litho_session_input(session);
    if (!litho_param_parse_along(&step->op->params, params, hit->row->key, hit->value,
                                 in ? &in->grid.axis[LITHO_SAMPLE] : NULL, &error) ||
        !litho_session_set_param(session, litho_session_selected(session), hit->row,
                                 litho_param_get(hit->row, params), text ? hit->value : NULL,
                                 &error))
        litho_window_show_error(window, error->message, NULL);
    else
        litho_window_clear_error(window);
}

static void run_hit(LithoWindow *window, const Hit *hit)
{
    LithoSession *session = litho_window_session(window);
    if (hit->typed == HIT_SLICE)
        litho_session_set_slice(session, hit->axis, hit->index);
    else if (hit->typed == HIT_PERCENT)
        litho_session_set_clip_percent(session, hit->lo);
    else if (hit->typed == HIT_RANGE)
        litho_session_set_range(session, hit->lo, hit->hi);
    else if (hit->command)
        gtk_widget_activate_action_variant(GTK_WIDGET(window), hit->command->action,
                                           litho_command_target(hit->command));
    else if (hit->op)
        litho_session_add_step(litho_window_session(window), hit->op);
    else if (hit->value)
        set_param(window, hit);
    else
        litho_param_panel_focus(litho_window_params(window), hit->row->key);
}

char *litho_palette_first(LithoWindow *window, const char *text)
{
    Hit hits[MAX_HITS];
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    return find(window, words, hits) > 0 ? g_strdup(hits[0].title) : NULL;
}

gboolean litho_palette_run(LithoWindow *window, const char *text)
{
    Hit hits[MAX_HITS];
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    if (find(window, words, hits) == 0)
        return FALSE;
    run_hit(window, &hits[0]);
    return TRUE;
}

// --- the window ---------------------------------------------------------------------------------

typedef struct Palette {
    LithoWindow *window;
    GtkWidget *dialog, *entry, *list;
} Palette;

// The right end of a line: the keys of a command, the key of an operator, the present value of a
// parameter.
static GtkWidget *make_hint(LithoSession *session, const Hit *hit)
{
    if (hit->command && hit->command->accel)
        return gtk_shortcut_label_new(hit->command->accel);
    if (hit->op)
        return litho_label_new(hit->op->key, "dim-label");
    if (!hit->row)
        return NULL;
    const LithoParam *row = hit->row;
    const void *params = selected_step(session)->params;
    if (row->type != LITHO_PARAM_FLOAT && row->type != LITHO_PARAM_INT) {
        g_autofree char *text = litho_param_shown(row, params);
        GtkWidget *label = litho_label_new(text, "dim-label");
        gtk_label_set_ellipsize(GTK_LABEL(label),
                                PANGO_ELLIPSIZE_START); // names of files end apart
        return label;
    }
    char text[64];
    LithoCube *in = litho_session_input(session);
    litho_param_format_unit(row, litho_param_get(row, params), in && in->grid.is_depth, text,
                            sizeof text);
    return litho_label_new(text, "dim-label");
}

static const char hit_key[] = "litho-hit"; // title of a line's hit

static void fill(Palette *p)
{
    Hit hits[MAX_HITS];
    g_auto(GStrv) words = g_strsplit(gtk_editable_get_text(GTK_EDITABLE(p->entry)), " ", -1);
    guint n = find(p->window, words, hits);
    GtkListBoxRow *old; // not the placeholder, which is a child as well
    while ((old = gtk_list_box_get_row_at_index(GTK_LIST_BOX(p->list), 0)))
        gtk_list_box_remove(GTK_LIST_BOX(p->list), GTK_WIDGET(old));
    for (guint k = 0; k < n; k++) {
        GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
        GtkWidget *title = litho_label_new(hits[k].title, NULL);
        GtkWidget *hint = make_hint(litho_window_session(p->window), &hits[k]);
        gtk_widget_set_hexpand(title, TRUE);
        gtk_box_append(GTK_BOX(line), title);
        if (hint)
            gtk_box_append(GTK_BOX(line), hint);
        g_object_set_data_full(G_OBJECT(line), hit_key, g_strdup(hits[k].title), g_free);
        gtk_list_box_append(GTK_LIST_BOX(p->list), line);
        litho_name_widget(gtk_widget_get_parent(line), hits[k].title); // its row
    }
    GtkListBoxRow *first = gtk_list_box_get_row_at_index(GTK_LIST_BOX(p->list), 0);
    gtk_list_box_select_row(GTK_LIST_BOX(p->list), first);
}

// Commands become possible and impossible while the palette is open: the hit that was chosen is
// known by its title, and another hit in its place is not run instead.
static void activate(Palette *p)
{
    GtkListBoxRow *row = gtk_list_box_get_selected_row(GTK_LIST_BOX(p->list));
    if (!row)
        return;
    Hit hits[MAX_HITS];
    g_auto(GStrv) words = g_strsplit(gtk_editable_get_text(GTK_EDITABLE(p->entry)), " ", -1);
    const char *title = g_object_get_data(G_OBJECT(gtk_list_box_row_get_child(row)), hit_key);
    guint n = find(p->window, words, hits), k = 0;
    while (k < n && strcmp(hits[k].title, title) != 0)
        k++;
    if (k == n) {
        fill(p);
        return;
    }
    g_autoptr(LithoWindow) window = g_object_ref(p->window);
    gtk_window_destroy(GTK_WINDOW(p->dialog)); // frees p
    run_hit(window, &hits[k]);
}

static gboolean on_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
                       Palette *p)
{
    (void)keys;
    (void)code;
    (void)state;
    if (key == GDK_KEY_Escape) {
        gtk_window_destroy(GTK_WINDOW(p->dialog));
        return TRUE;
    }
    if (key != GDK_KEY_Up && key != GDK_KEY_Down)
        return FALSE;
    GtkListBox *list = GTK_LIST_BOX(p->list);
    GtkListBoxRow *row = gtk_list_box_get_selected_row(list);
    int at = (row ? gtk_list_box_row_get_index(row) : -1) + (key == GDK_KEY_Down ? 1 : -1);
    GtkListBoxRow *next = gtk_list_box_get_row_at_index(list, MAX(at, 0));
    if (next)
        gtk_list_box_select_row(list, next);
    return TRUE;
}

void litho_palette_open(LithoWindow *window)
{
    Palette *p = g_new0(Palette, 1);
    p->window = window;
    p->dialog = gtk_window_new();
    g_object_set_data_full(G_OBJECT(p->dialog), "litho-palette", p, g_free);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    p->entry = gtk_search_entry_new();
    g_object_set(p->entry, "placeholder-text", _("Command, or parameter and value"), NULL);
    litho_name_widget(p->entry, _("Command, or parameter and value"));
    p->list = gtk_list_box_new();
    litho_name_widget(p->list, _("Matching commands and parameters"));
    gtk_list_box_set_placeholder(GTK_LIST_BOX(p->list),
                                 litho_label_new(_("Nothing is called so."), "dim-label"));
    gtk_widget_set_vexpand(p->list, TRUE);
    gtk_widget_add_css_class(box, "litho-palette");
    gtk_box_append(GTK_BOX(box), p->entry);
    gtk_box_append(GTK_BOX(box), p->list);
    g_signal_connect_swapped(p->entry, "changed", G_CALLBACK(fill), p);
    g_signal_connect_swapped(p->entry, "activate", G_CALLBACK(activate), p);
    g_signal_connect_swapped(p->list, "row-activated", G_CALLBACK(activate), p);
    GtkEventController *keys = gtk_event_controller_key_new();
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), p);
    gtk_widget_add_controller(p->dialog, keys);
    gtk_window_set_child(GTK_WINDOW(p->dialog), box);
    gtk_window_set_title(GTK_WINDOW(p->dialog), _("Commands"));
    gtk_window_set_transient_for(GTK_WINDOW(p->dialog), GTK_WINDOW(window));
    gtk_window_set_modal(GTK_WINDOW(p->dialog), TRUE);
    gtk_window_set_destroy_with_parent(GTK_WINDOW(p->dialog), TRUE);
    gtk_window_set_default_size(GTK_WINDOW(p->dialog), 480, 360);
    fill(p);
    gtk_window_present(GTK_WINDOW(p->dialog));
}
