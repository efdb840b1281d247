// SPDX-License-Identifier: GPL-3.0-or-later
//
// Actions that are possible now, and the state of those that are switched on and off.
#include "ui/session/points.h"
#include "ui/window/window_private.h"

static void set_enabled(LithoWindow *self, const char *name, gboolean enabled)
{
    GAction *action = g_action_map_lookup_action(G_ACTION_MAP(self), name);
    g_simple_action_set_enabled(G_SIMPLE_ACTION(action), enabled);
}

// Where there is nothing to compare any more the key that stops the blinking is dead, too. Stopping
// changes the display, which comes back here: by then it is off.
static void stop_blinking(LithoWindow *self)
{
    if (!litho_blink_is_on(self->blink) || litho_session_comparable(self->session))
        return;
    GAction *blink = g_action_map_lookup_action(G_ACTION_MAP(self), "blink");
    g_simple_action_set_state(G_SIMPLE_ACTION(blink), g_variant_new_boolean(FALSE));
    litho_blink_toggle(self->blink);
}

// The selected step's operator has values to search for, or guesses from the data: without them the
// list would be empty.
static gboolean has_values_to_find(LithoSession *session)
{
    const int k = litho_session_selected(session);
    const LithoOperator *op = k < 0 ? NULL : litho_flow_step(litho_session_flow(session), k)->op;
    return op && (op->find || op->suggest) && litho_session_input(session) &&
           !litho_session_is_paged(session);
}

// Actions on the data that are shown.
static const char *const on_data[] = {
    "save",       "picture",      "point",     "area",      "show",        "volume",
    "fit",        "zoom-in",      "zoom-out",  "maximise",  "model",       "medium",
    "focus-view", "clip-up",      "gain-up",   "clip-down", "gain-down",   "density",
    "wiggle",     "display-gain", "time-gain", "agc",       "colours-menu"};
static const char *const on_comparison[] = {"removed", "split", "blink"};
static const char *const on_demonstration[] = {"demo-next", "demo-back", "demo-pause", "demo-end"};

static void set_all(LithoWindow *self, const char *const *names, guint n, gboolean enabled)
{
    for (guint k = 0; k < n; k++)
        set_enabled(self, names[k], enabled);
}

static void set_state(LithoWindow *self, const char *name, GVariant *state)
{
    GAction *action = g_action_map_lookup_action(G_ACTION_MAP(self), name);
    g_simple_action_set_state(G_SIMPLE_ACTION(action), state);
}

static void show_states(LithoWindow *self)
{
    const char *volume = litho_session_volume(self->session);
    const char *shown = litho_show_keys[litho_session_shown(self->session)];
    set_state(self, "pause", g_variant_new_boolean(litho_session_is_paused(self->session)));
    set_state(self, "similarity",
              g_variant_new_boolean(litho_judgement_wants_maps(self->judgement)));
    set_state(self, "show", g_variant_new_string(shown));
    set_state(self, "volume", g_variant_new_string(volume ? volume : ""));
}

void litho_window_actions_update(LithoWindow *self)
{
    stop_blinking(self);
    LithoHistory *history = litho_session_history(self->session);
    gboolean has = litho_session_grid(self->session) != NULL;
    gboolean idle = !litho_window_is_busy(self);
    gboolean computing = litho_session_progress(self->session, NULL);
    gboolean full = gtk_window_is_fullscreen(GTK_WINDOW(self));
    gboolean steps = litho_flow_length(litho_session_flow(self->session)) > 0;
    gboolean paged = litho_session_is_paged(self->session);
    gboolean applies = litho_judgement_applies(self->session);
    gboolean kept = litho_snapshots_count(self->snapshots) > 0;
    double part;
    gboolean compares = litho_snapshots_is_computing(self->snapshots, &part);
    gboolean points = litho_points_count(litho_points_of(self->session)) > 0;
    const struct {
        const char *name;
        gboolean enabled;
    } states[] = {{"open", idle},
                  {"open-last", idle},
                  {"demo", idle},
                  {"continue", idle},
                  {"snapshot", steps && litho_snapshots_present(self->snapshots) < 0},
                  {"snapshot-go", kept},
                  {"snapshot-compare", kept && !paged},
                  {"report", idle && applies},
                  {"truth", idle && has && litho_window_has_truth(self)},
                  {"reference", idle && litho_session_input(self->session) && !paged},
                  {"reference-forget", litho_judgement_truth(self->judgement, NULL) != NULL},
                  {"hidden", applies},
                  {"similarity", applies},
                  {"points-save", points},
                  {"points-forget", points},
                  {"recipe-save", steps},
                  {"copy-command", steps},
                  {"undo", litho_history_undo_name(history) != NULL},
                  {"redo", litho_history_redo_name(history) != NULL},
                  {"compute", has && steps},
                  {"sweep", has && steps && !paged},
                  {"find", has_values_to_find(self->session)},
                  {"race", has && steps && !paged},
                  {"survey", litho_session_input(self->session) != NULL},
                  {"import", idle && (litho_open_file_path(self->file) ||
                                      litho_open_file_failed(self->file))},
                  {"pause", idle && computing},
                  {"cancel", !idle || computing || compares || full}};
    for (guint k = 0; k < G_N_ELEMENTS(states); k++)
        set_enabled(self, states[k].name, states[k].enabled);
    set_all(self, on_data, G_N_ELEMENTS(on_data), has);
    set_all(self, on_comparison, G_N_ELEMENTS(on_comparison),
            litho_session_comparable(self->session));
    set_all(self, on_demonstration, G_N_ELEMENTS(on_demonstration),
            litho_player_is_playing(litho_podium_player(self->podium)));
    show_states(self);
    litho_header_show_compare(self->header); // "show" has enabled all of its buttons
}
