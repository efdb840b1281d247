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

void litho_window_actions_update(LithoWindow *self)
{
    stop_blinking(self);
    LithoHistory *history = litho_session_history(self->session);
    gboolean has = litho_session_grid(self->session) != NULL;
    gboolean idle = !litho_window_is_busy(self);
    gboolean computing = litho_session_progress(self->session, NULL);
    gboolean comparable = litho_session_comparable(self->session);
    gboolean full = gtk_window_is_fullscreen(GTK_WINDOW(self));
    gboolean steps = litho_flow_length(litho_session_flow(self->session)) > 0;
    gboolean paged = litho_session_is_paged(self->session);
    gboolean playing = litho_player_is_playing(litho_podium_player(self->podium));
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
                  {"snapshot-go", litho_snapshots_count(self->snapshots) > 0},
                  {"snapshot-compare", litho_snapshots_count(self->snapshots) > 0 && !paged},
                  {"save", has},
                  {"picture", has},
                  {"report", idle && litho_judgement_applies(self->session)},
                  {"truth", idle && has && litho_window_has_truth(self)},
                  {"reference", idle && litho_session_input(self->session) && !paged},
                  {"reference-forget", litho_judgement_truth(self->judgement, NULL) != NULL},
                  {"hidden", litho_judgement_applies(self->session)},
                  {"point", has},
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
                  {"area", has},
                  {"survey", litho_session_input(self->session) != NULL},
                  {"import", idle && (litho_open_file_path(self->file) ||
                                      litho_open_file_failed(self->file))},
                  {"pause", idle && computing},
                  {"cancel", !idle || computing || compares || full},
                  {"removed", comparable},
                  {"split", comparable},
                  {"blink", comparable},
                  {"show", has},
                  {"volume", has},
                  {"fit", has},
                  {"zoom-in", has},
                  {"zoom-out", has},
                  {"maximise", has},
                  {"focus-view", has},
                  {"model", has},
                  {"medium", has},
                  {"clip-up", has},
                  {"clip-down", has},
                  {"gain-up", has},
                  {"gain-down", has},
                  {"display-gain", has},
                  {"time-gain", has},
                  {"agc", has},
                  {"density", has},
                  {"wiggle", has},
                  {"colours-menu", has},
                  {"demo-next", playing},
                  {"demo-back", playing},
                  {"demo-pause", playing},
                  {"demo-end", playing},
                  {"similarity", litho_judgement_applies(self->session)}};
    for (guint k = 0; k < G_N_ELEMENTS(states); k++)
        set_enabled(self, states[k].name, states[k].enabled);
    GAction *pause = g_action_map_lookup_action(G_ACTION_MAP(self), "pause");
    g_simple_action_set_state(G_SIMPLE_ACTION(pause),
                              g_variant_new_boolean(litho_session_is_paused(self->session)));
    GAction *similarity = g_action_map_lookup_action(G_ACTION_MAP(self), "similarity");
    g_simple_action_set_state(G_SIMPLE_ACTION(similarity),
                              g_variant_new_boolean(litho_judgement_wants_maps(self->judgement)));
    const char *shown = litho_show_keys[litho_session_shown(self->session)];
    GAction *show = g_action_map_lookup_action(G_ACTION_MAP(self), "show");
    g_simple_action_set_state(G_SIMPLE_ACTION(show), g_variant_new_string(shown));
    const char *volume = litho_session_volume(self->session);
    GAction *volumes = g_action_map_lookup_action(G_ACTION_MAP(self), "volume");
    g_simple_action_set_state(G_SIMPLE_ACTION(volumes), g_variant_new_string(volume ? volume : ""));
    litho_header_show_compare(self->header); // "show" has enabled all of its buttons
}
