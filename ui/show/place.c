// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/show/place.h"

#include "core/json.h"
#include "core/memory.h"
#include "ui/session/points.h"
#include "ui/window/window_private.h"

struct LithoPlace {
    LithoWindow *window;
    LithoCube *input;    // NULL = nothing was open
    LithoSurvey *survey; // of a cube beyond memory; or NULL
    char **paths, *key, *truth;
    LithoOpenOptions open;
    JsonNode *state; // as it is saved with a file
    // Not saved with it: noted points, the area tool, the known reference, and whether it is
    // compared with.
    GArray *points;
    LithoArea area;
    LithoCube *reference; // or NULL
    char *reference_name;
    gboolean compared;
};

static void remember_more(LithoPlace *place)
{
    LithoSession *session = place->window->session;
    const char *name;
    LithoCube *reference = litho_judgement_truth(place->window->judgement, &name);
    place->points = litho_points_copy(litho_points_of(session));
    place->area = *litho_session_area(session);
    if (!reference)
        return;
    place->reference = litho_cube_ref(reference);
    place->reference_name = g_strdup(name);
    place->compared = litho_session_against(session) == reference;
}

static void return_more(const LithoPlace *place)
{
    LithoWindow *window = place->window;
    litho_points_set(litho_points_of(window->session), place->points);
    if (place->area.on)
        litho_session_set_area(window->session, &place->area);
    if (place->reference)
        litho_judgement_set_truth(window->judgement, place->reference, place->reference_name);
    if (place->compared)
        litho_session_set_reference(window->session, place->reference, place->reference_name);
}

LithoPlace *litho_place_remember(LithoWindow *window)
{
    LithoSession *session = window->session;
    LithoPlace *place = g_new0(LithoPlace, 1);
    LithoCube *input = litho_session_input(session);
    LithoSurvey *survey = litho_session_page_survey(session);
    g_autofree char *text = litho_window_state_text(window);
    litho_window_state_flush(window);
    place->window = g_object_ref(window);
    place->input = input ? litho_cube_ref(input) : NULL;
    place->survey = survey ? litho_survey_ref(survey) : NULL;
    place->paths = g_strdupv(litho_open_file_paths(window->file));
    place->key = g_strdup(litho_open_file_key(window->file));
    place->truth = g_strdup(litho_open_file_truth(window->file));
    place->open = *litho_open_file_options(window->file);
    place->state = litho_json_parse(text, -1, NULL); // our own text
    remember_more(place);
    return place;
}

void litho_place_free(LithoPlace *place)
{
    if (!place)
        return;
    g_object_unref(place->window);
    litho_cube_unref(place->input);
    litho_survey_unref(place->survey);
    g_strfreev(place->paths);
    g_free(place->key);
    g_free(place->truth);
    g_array_unref(place->points);
    litho_cube_unref(place->reference);
    g_free(place->reference_name);
    g_clear_pointer(&place->state, json_node_unref);
    g_free(place);
}

void litho_place_show(LithoWindow *window, LithoCube *cube)
{
    litho_window_state_close(window);
    litho_snapshots_clear(window->snapshots);
    litho_session_set_input(window->session, cube);
    litho_window_show_title(window);
}

void litho_place_return(LithoPlace *place)
{
    LithoWindow *window = place->window;
    if (window->session) {
        litho_snapshots_clear(window->snapshots);
        litho_window_state_restore_flow(window, place->state);
        if (place->survey)
            litho_session_set_paged_input(window->session, place->survey, place->input,
                                          litho_memory_available());
        else
            litho_session_set_input(window->session, place->input);
        litho_window_state_leave(window);
        if (place->key) {
            litho_window_state_adopt(window, (const char *const *)place->paths, &place->open);
            litho_open_file_set_truth(window->file, place->truth);
        }
        litho_window_state_restore(window, place->state, FALSE);
        return_more(place);
        litho_window_show_title(window);
        litho_window_update_start(window);
    }
    litho_place_free(place);
}
