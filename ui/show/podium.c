// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/show/podium.h"

#include <math.h>
#include <string.h>

#include "core/text.h"
#include "ui/panel/parts.h"
#include "ui/show/recorder.h"
#include "ui/show/start_page.h"
#include "ui/view/tooltip.h"
#include "ui/window/window_private.h"

enum { FIGURES_MS = 200, PRESENT_HEIGHT = 720 };

struct LithoPodium {
    LithoWindow *window; // borrowed
    LithoPlayer *player;
    LithoRecorder *recorder; // NULL = nothing is recorded
    GtkWidget *race;
    // Above the views while one presents.
    GtkWidget *strip, *what, *device, *time, *ratio;
    // Below them while a script plays or is recorded.
    GtkWidget *foot, *caption, *note, *count, *pause;
    gboolean presenting;
    gboolean was_shown[2], was_full; // panels and screen before
    int was_dpi;
    guint figures;
    gboolean was_noted;
    double raced; // ratio of the last race, NAN = none
    const LithoOperator *raced_op;
};

// --- the strip ----------------------------------------------------------------------------------

static const LithoOperator *first_operator(LithoPodium *podium)
{
    const LithoFlow *flow = litho_session_flow(podium->window->session);
    for (guint k = 0; k < litho_flow_length(flow); k++)
        if (litho_flow_step(flow, k)->enabled)
            return litho_flow_step(flow, k)->op;
    return NULL;
}

static gboolean show_figures(gpointer data)
{
    LithoPodium *podium = data;
    LithoSession *session = podium->window->session;
    const LithoOperator *op = first_operator(podium);
    const char *why, *device = litho_session_device_label(session, &why);
    double last, median;
    litho_session_latency(session, &last, &median);
    g_autofree char *time = median > 0 ? litho_format_duration(median) : NULL;
    const gboolean known = op && op == podium->raced_op && !isnan(podium->raced);
    g_autofree char *ratio = known ? litho_text_printf("× %.3g", podium->raced) : NULL;
    gtk_label_set_text(GTK_LABEL(podium->what), op ? litho_text(op->title) : _("No operator"));
    gtk_label_set_text(GTK_LABEL(podium->device), device ? device : "");
    gtk_label_set_text(GTK_LABEL(podium->time), time ? time : "");
    gtk_widget_set_visible(podium->time, time != NULL); // until something was computed
    gtk_label_set_text(GTK_LABEL(podium->ratio), known ? ratio : "");
    gtk_widget_set_visible(podium->ratio, known); // until a race has told it
    litho_set_short_tooltip(podium->ratio, _("Ratio of the last race"));
    if (why)
        gtk_widget_add_css_class(podium->device, "litho-amber");
    else
        gtk_widget_remove_css_class(podium->device, "litho-amber");
    return G_SOURCE_CONTINUE;
}

static GtkWidget *add_figure(GtkWidget *strip, const char *name, const char *css)
{
    GtkWidget *label = litho_label_new(NULL, css);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    litho_name_widget(label, name);
    gtk_box_append(GTK_BOX(strip), label);
    return label;
}

static GtkWidget *make_strip(LithoPodium *podium)
{
    GtkWidget *strip = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 24);
    gtk_widget_add_css_class(strip, "litho-strip");
    podium->what = add_figure(strip, _("Operator"), "litho-strip-what");
    gtk_widget_set_hexpand(podium->what, TRUE);
    podium->device = add_figure(strip, _("Computed by"), "litho-strip-badge");
    podium->time = add_figure(strip, _("From slider to pixel"), "litho-strip-figure");
    podium->ratio = add_figure(strip, _("Ratio of the last race"), "litho-strip-figure");
    gtk_label_set_ellipsize(GTK_LABEL(podium->time), PANGO_ELLIPSIZE_NONE);
    gtk_label_set_ellipsize(GTK_LABEL(podium->ratio), PANGO_ELLIPSIZE_NONE);
    gtk_widget_set_visible(strip, FALSE);
    return strip;
}

// --- presenting ---------------------------------------------------------------------------------

static void set_text_scale(LithoPodium *podium, gboolean large)
{
    GtkSettings *settings = gtk_widget_get_settings(GTK_WIDGET(podium->window));
    if (!large) {
        g_object_set(settings, "gtk-xft-dpi", podium->was_dpi, NULL);
        return;
    }
    g_object_get(settings, "gtk-xft-dpi", &podium->was_dpi, NULL);
    const int dpi = podium->was_dpi > 0 ? podium->was_dpi : 96 * 1024;
    const double height = gtk_widget_get_height(GTK_WIDGET(podium->window));
    const double factor = CLAMP(1.5 * height / PRESENT_HEIGHT, 1.5, 3);
    g_object_set(settings, "gtk-xft-dpi", (int)(dpi * factor), NULL);
}

void litho_podium_present(LithoPodium *podium, gboolean on)
{
    LithoWindow *window = podium->window;
    if (on == podium->presenting)
        return;
    podium->presenting = on;
    for (int k = 0; k < 2; k++) {
        if (on)
            podium->was_shown[k] = litho_window_wants_panel(window, k);
        litho_window_show_panel(window, k, !on && podium->was_shown[k]);
    }
    if (on)
        podium->was_full = gtk_window_is_fullscreen(GTK_WINDOW(window));
    set_text_scale(podium, on);
    gtk_widget_set_visible(gtk_window_get_titlebar(GTK_WINDOW(window)), !on);
    gtk_widget_set_visible(gtk_widget_get_parent(window->status), !on);
    gtk_widget_set_visible(podium->strip, on);
    // Notes about the file are for who opened it, not for who looks on.
    GtkWidget *notes = litho_bar_widget(litho_tellers_notes(window->tellers));
    if (on)
        podium->was_noted = gtk_widget_get_visible(notes);
    gtk_widget_set_visible(notes, !on && podium->was_noted);
    // A line of no snapshots is a hint, and nothing to present.
    LithoSnapshots *snapshots = window->snapshots;
    gtk_widget_set_visible(gtk_widget_get_next_sibling(podium->strip),
                           litho_snapshots_count(snapshots) > 0 ||
                               (!on && litho_snapshots_useful(snapshots)));
    if (on) {
        gtk_widget_add_css_class(GTK_WIDGET(window), "litho-presenting");
        gtk_window_fullscreen(GTK_WINDOW(window));
        show_figures(podium);
        podium->figures = g_timeout_add(FIGURES_MS, show_figures, podium);
    } else {
        gtk_widget_remove_css_class(GTK_WIDGET(window), "litho-presenting");
        if (!podium->was_full)
            gtk_window_unfullscreen(GTK_WINDOW(window));
        g_clear_handle_id(&podium->figures, g_source_remove);
    }
}

gboolean litho_podium_is_presenting(const LithoPodium *podium)
{
    return podium->presenting;
}

// --- the foot -----------------------------------------------------------------------------------

static void show_foot(LithoPodium *podium)
{
    guint at;
    const LithoScript *script = litho_player_script(podium->player, &at);
    gtk_widget_set_visible(podium->foot, script != NULL);
    litho_window_actions_update(podium->window);
    if (!script)
        return;
    const LithoScriptStep *step = g_ptr_array_index(script->steps, at);
    const char *note = litho_player_note(podium->player);
    g_autofree char *count = g_strdup_printf("%u / %u", at + 1, script->steps->len);
    const gboolean end = litho_player_is_at_end(podium->player);
    gtk_label_set_text(GTK_LABEL(podium->caption),
                       litho_text(*step->caption ? step->caption : script->title));
    gtk_label_set_text(GTK_LABEL(podium->note), *note ? note
                                                : end ? _("The end; Escape goes back")
                                                      : "");
    gtk_widget_set_visible(podium->note, *note || end);
    gtk_label_set_text(GTK_LABEL(podium->count), count);
    const gboolean paused = litho_player_is_paused(podium->player);
    gtk_button_set_icon_name(GTK_BUTTON(podium->pause), paused ? "media-playback-start-symbolic"
                                                               : "media-playback-pause-symbolic");
    litho_name_widget(podium->pause, paused ? _("Go on") : _("Pause"));
}

static GtkWidget *foot_button(GtkWidget *foot, const char *icon, const char *name,
                              const char *action)
{
    GtkWidget *button = litho_icon_button_new(icon, name, name);
    gtk_actionable_set_detailed_action_name(GTK_ACTIONABLE(button), action);
    gtk_box_append(GTK_BOX(foot), button);
    return button;
}

static void on_caption_click(LithoPodium *podium)
{
    litho_player_go(podium->player, 1);
}

static GtkWidget *make_foot(LithoPodium *podium)
{
    GtkWidget *foot = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *words = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_widget_add_css_class(foot, "litho-show-foot");
    podium->caption = g_object_new(GTK_TYPE_LABEL, "accessible-role", GTK_ACCESSIBLE_ROLE_STATUS,
                                   "xalign", 0.0, "wrap", TRUE, NULL);
    gtk_widget_add_css_class(podium->caption, "litho-caption");
    podium->note = litho_label_new(NULL, "dim-label");
    gtk_label_set_ellipsize(GTK_LABEL(podium->note), PANGO_ELLIPSIZE_END);
    gtk_box_append(GTK_BOX(words), podium->caption);
    gtk_box_append(GTK_BOX(words), podium->note);
    gtk_widget_set_hexpand(words, TRUE);
    gtk_widget_set_valign(words, GTK_ALIGN_CENTER);
    gtk_box_append(GTK_BOX(foot), words);
    GtkGesture *click = gtk_gesture_click_new();
    g_signal_connect_swapped(click, "released", G_CALLBACK(on_caption_click), podium);
    gtk_widget_add_controller(words, GTK_EVENT_CONTROLLER(click));
    podium->count = litho_label_new(NULL, "numeric");
    gtk_box_append(GTK_BOX(foot), podium->count);
    foot_button(foot, "go-previous-symbolic", _("Back (Left)"), "win.demo-back");
    podium->pause =
        foot_button(foot, "media-playback-pause-symbolic", _("Pause (P)"), "win.demo-pause");
    foot_button(foot, "go-next-symbolic", _("Next (Right)"), "win.demo-next");
    foot_button(foot, "window-close-symbolic", _("End (Escape)"), "win.demo-end");
    gtk_widget_set_visible(foot, FALSE);
    return foot;
}

// --- what can be done ---------------------------------------------------------------------------

void litho_podium_play(LithoPodium *podium, const char *name)
{
    g_autoptr(GError) error = NULL;
    if (litho_window_is_busy(podium->window)) {
        litho_window_show_error(podium->window,
                                _("Something is being opened or saved; cancel it or wait."), NULL);
        return;
    }
    if (podium->recorder) {
        litho_window_show_error(
            podium->window, _("A recording is under way; Ctrl+Shift+R ends and saves it."), NULL);
        return;
    }
    g_autofree char *path = litho_script_find(name, &error);
    LithoScript *script = path ? litho_script_load(path, &error) : NULL;
    if (!script) {
        litho_window_show_error(podium->window, error->message, NULL);
        return;
    }
    litho_start_page_greeted(podium->window->settings);
    litho_window_clear_error(podium->window); // it tells of something before
    litho_player_play(podium->player, script);
}

void litho_podium_race(LithoPodium *podium)
{
    g_autoptr(GError) error = NULL;
    if (!litho_race_view_open(LITHO_RACE_VIEW(podium->race), NULL, &error))
        litho_window_show_error(podium->window, error->message, NULL);
}

static void on_race_over(LithoPodium *podium)
{
    podium->raced = litho_race_view_ratio(LITHO_RACE_VIEW(podium->race));
    podium->raced_op = first_operator(podium);
}

static void ask_file(LithoPodium *podium, LithoScript *script);

typedef struct Asking {
    LithoWindow *window; // a reference
    LithoScript *script; // to be saved; NULL = one is opened
    GtkFileChooserNative *dialog;
} Asking;

static void on_answer(GtkNativeDialog *dialog, int response, Asking *a)
{
    g_autoptr(GFile) file = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
    g_autofree char *path = file ? g_file_get_path(file) : NULL;
    g_autoptr(GError) error = NULL;
    if (response == GTK_RESPONSE_ACCEPT && path && a->window->session) {
        g_autoptr(LithoInputs) inputs = litho_window_inputs(a->window); // never replaced
        if (!a->script) {
            litho_podium_play(a->window->podium, path);
        } else if (litho_script_save(a->script, path, &error)) {
            litho_window_notice_saved(a->window, path);
        } else { // what was recorded is not lost with a wrong place
            litho_window_show_error(a->window, error->message, NULL);
            ask_file(a->window->podium, g_steal_pointer(&a->script));
        }
    }
    litho_script_free(a->script);
    g_object_unref(a->window);
    g_object_unref(a->dialog);
    g_free(a);
}

static void ask_file(LithoPodium *podium, LithoScript *script)
{
    Asking *a = g_new0(Asking, 1);
    a->window = g_object_ref(podium->window);
    a->script = script;
    a->dialog = gtk_file_chooser_native_new(
        script ? _("Save the demonstration") : _("Open a demonstration"),
        GTK_WINDOW(podium->window),
        script ? GTK_FILE_CHOOSER_ACTION_SAVE : GTK_FILE_CHOOSER_ACTION_OPEN, NULL, NULL);
    if (script)
        gtk_file_chooser_set_current_name(GTK_FILE_CHOOSER(a->dialog), "demonstration.json");
    gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(a->dialog), TRUE);
    g_signal_connect(a->dialog, "response", G_CALLBACK(on_answer), a);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(a->dialog));
}

void litho_podium_record(LithoPodium *podium)
{
    g_autoptr(GError) error = NULL;
    GAction *action = g_action_map_lookup_action(G_ACTION_MAP(podium->window), "record");
    if (podium->recorder)
        ask_file(podium, litho_recorder_stop(g_steal_pointer(&podium->recorder)));
    else if (litho_player_is_playing(podium->player))
        litho_window_show_error(podium->window,
                                _("A demonstration is playing; end it to record one."), NULL);
    else {
        podium->recorder = litho_recorder_start(podium->window, &error);
        if (podium->recorder)
            litho_window_notice(
                podium->window,
                "Recording: each thing you do becomes a step. Ctrl+Shift+R ends it.");
        else
            litho_window_show_error(podium->window, error->message, NULL);
    }
    g_simple_action_set_state(G_SIMPLE_ACTION(action),
                              g_variant_new_boolean(podium->recorder != NULL));
}

LithoPlayer *litho_podium_player(LithoPodium *podium)
{
    return podium->player;
}

LithoRaceView *litho_podium_race_view(LithoPodium *podium)
{
    return LITHO_RACE_VIEW(podium->race);
}

GMenu *litho_podium_menu(void)
{
    GMenu *menu = g_menu_new();
    g_auto(GStrv) names = litho_script_names();
    for (char **name = names; *name; name++) {
        g_autofree char *path = litho_script_find(*name, NULL);
        g_autoptr(LithoScript) script = path ? litho_script_load(path, NULL) : NULL;
        g_autofree char *action = g_strdup_printf("win.demo-play::%s", *name);
        if (script)
            g_menu_append(menu, litho_text(script->title), action);
    }
    return menu;
}

// --- actions ------------------------------------------------------------------------------------

static LithoPodium *podium_of(gpointer window)
{
    return LITHO_WINDOW(window)->podium;
}

#define ACTION(name)                                                                               \
    static void name(GSimpleAction *action G_GNUC_UNUSED, GVariant *value G_GNUC_UNUSED,           \
                     gpointer data)

ACTION(do_present)
{
    litho_podium_present(podium_of(data), !podium_of(data)->presenting);
}

ACTION(do_race)
{
    litho_podium_race(podium_of(data));
}

ACTION(do_play)
{
    litho_podium_play(podium_of(data), g_variant_get_string(value, NULL));
}

ACTION(do_open)
{
    ask_file(podium_of(data), NULL);
}

ACTION(do_next)
{
    litho_player_go(podium_of(data)->player, 1);
}

ACTION(do_back)
{
    litho_player_go(podium_of(data)->player, -1);
}

ACTION(do_pause)
{
    LithoPlayer *player = podium_of(data)->player;
    litho_player_pause(player, !litho_player_is_paused(player));
}

ACTION(do_end)
{
    litho_player_end(podium_of(data)->player);
}

ACTION(do_record)
{
    litho_podium_record(podium_of(data));
}

// --- keys ---------------------------------------------------------------------------------------

// Innermost first: the race, the script, the presenter.
static gboolean leave(LithoPodium *podium)
{
    if (gtk_widget_get_visible(podium->race))
        litho_race_view_close(LITHO_RACE_VIEW(podium->race));
    else if (litho_player_is_playing(podium->player))
        litho_player_end(podium->player);
    else if (podium->presenting)
        litho_podium_present(podium, FALSE);
    else
        return FALSE;
    return TRUE;
}

// Without a script the page keys of a remote go through what can be compared.
static gboolean turn_page(LithoPodium *podium, int by)
{
    LithoSession *session = podium->window->session;
    if (litho_player_is_playing(podium->player)) {
        litho_player_go(podium->player, by);
        return TRUE;
    }
    if (!podium->presenting)
        return FALSE;
    const int show = (int)litho_session_display(session)->show + by;
    litho_session_show(session, (LithoShow)CLAMP(show, LITHO_SHOW_INPUT, LITHO_SHOW_SPLIT));
    return TRUE;
}

static gboolean is_typing(LithoPodium *podium)
{
    GtkWidget *focus = gtk_window_get_focus(GTK_WINDOW(podium->window));
    return focus && GTK_IS_EDITABLE(focus);
}

static gboolean on_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
                       LithoPodium *podium)
{
    (void)keys;
    (void)code;
    const gboolean playing = litho_player_is_playing(podium->player);
    if (state & (GDK_CONTROL_MASK | GDK_ALT_MASK | GDK_SHIFT_MASK) || is_typing(podium))
        return FALSE;
    switch (key) {
    case GDK_KEY_Escape:
        return leave(podium);
    case GDK_KEY_Page_Down:
        return turn_page(podium, 1);
    case GDK_KEY_Page_Up:
        return turn_page(podium, -1);
    case GDK_KEY_Right:
        return playing && turn_page(podium, 1);
    case GDK_KEY_Left:
        return playing && turn_page(podium, -1);
    case GDK_KEY_p:
        if (playing)
            litho_player_pause(podium->player, !litho_player_is_paused(podium->player));
        return playing;
    default:
        return FALSE;
    }
}

// While one presents a script a click on the views is the next step, as with a remote.
static void on_click(GtkGestureClick *click, int n, double x, double y, LithoPodium *podium)
{
    (void)n;
    (void)x;
    (void)y;
    if (!podium->presenting || !litho_player_is_playing(podium->player) ||
        gtk_widget_get_visible(podium->race))
        return;
    gtk_gesture_set_state(GTK_GESTURE(click), GTK_EVENT_SEQUENCE_CLAIMED);
    litho_player_go(podium->player, 1);
}

// --- life ---------------------------------------------------------------------------------------

void litho_podium_add_actions(LithoPodium *podium)
{
    static const GActionEntry entries[] = {
        {"present", do_present, NULL, NULL, NULL, {0}},
        {"race", do_race, NULL, NULL, NULL, {0}},
        {"demo-play", do_play, "s", NULL, NULL, {0}},
        {"demo-open", do_open, NULL, NULL, NULL, {0}},
        {"demo-next", do_next, NULL, NULL, NULL, {0}},
        {"demo-back", do_back, NULL, NULL, NULL, {0}},
        {"demo-pause", do_pause, NULL, NULL, NULL, {0}},
        {"demo-end", do_end, NULL, NULL, NULL, {0}},
        {"record", do_record, NULL, "false", NULL, {0}},
    };
    g_action_map_add_action_entries(G_ACTION_MAP(podium->window), entries, G_N_ELEMENTS(entries),
                                    podium->window);
    GtkEventController *keys = gtk_event_controller_key_new();
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), podium);
    gtk_widget_add_controller(GTK_WIDGET(podium->window), keys);
}

LithoPodium *litho_podium_new(LithoWindow *window, GtkBox *column, GtkOverlay *overlay)
{
    LithoPodium *podium = g_new0(LithoPodium, 1);
    podium->window = window;
    podium->raced = NAN;
    podium->race = litho_race_view_new(window);
    podium->player = litho_player_new(window, LITHO_RACE_VIEW(podium->race));
    podium->strip = make_strip(podium);
    podium->foot = make_foot(podium);
    gtk_box_prepend(column, podium->strip);
    gtk_box_append(column, podium->foot);
    gtk_overlay_add_overlay(overlay, podium->race);
    GtkGesture *click = gtk_gesture_click_new();
    gtk_event_controller_set_propagation_phase(GTK_EVENT_CONTROLLER(click), GTK_PHASE_CAPTURE);
    g_signal_connect(click, "pressed", G_CALLBACK(on_click), podium);
    gtk_widget_add_controller(GTK_WIDGET(overlay), GTK_EVENT_CONTROLLER(click));
    g_signal_connect_swapped(podium->player, "changed", G_CALLBACK(show_foot), podium);
    g_signal_connect_swapped(podium->race, "over", G_CALLBACK(on_race_over), podium);
    return podium;
}

void litho_podium_free(LithoPodium *podium)
{
    if (!podium)
        return;
    if (podium->presenting) // the text size is the whole program's
        set_text_scale(podium, FALSE);
    g_clear_handle_id(&podium->figures, g_source_remove);
    if (podium->recorder)
        litho_script_free(litho_recorder_stop(podium->recorder));
    g_signal_handlers_disconnect_by_data(podium->player, podium);
    g_signal_handlers_disconnect_by_data(podium->race, podium);
    g_object_run_dispose(G_OBJECT(podium->player)); // its jobs hold references
    g_object_unref(podium->player);
    g_free(podium);
}
