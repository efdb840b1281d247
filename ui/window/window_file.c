// SPDX-License-Identifier: GPL-3.0-or-later
//
// Opening files, in a thread.
#include "core/text.h"
#include "ui/window/window_private.h"

#include <glib/gstdio.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/io/beside.h"
#include "core/io/survey.h"
#include "core/synth/synth.h"
#include "ui/import/import_preview.h"
#include "ui/import/import_profile.h"
#include "ui/import/import_window.h"
#include "ui/session/state_store.h"
#include "ui/show/start_page.h"
#include "ui/view/survey_map.h"
#include "ui/window/recent.h"

enum { SHARES = 3 };         // input, result, and what an operator needs beside them
enum { MAP_POINTS = 40000 }; // of the survey map that fills while headers are scanned

// --- opening ------------------------------------------------------------------------------------

typedef struct Opening {
    LithoWindow *window;
    char **paths; // NULL = the demo
    LithoOpenMode mode;
    gboolean has_options; // given, rather than those of the file's session
    LithoOpenOptions options;
    LithoSurvey *paged;  // the cube does not fit into memory; or NULL
    guint64 memory;      // then: bytes that may be taken
    char *profile;       // import profile that fits, or NULL
    char *truth;         // that lies beside it, or NULL
    char *velocity;      // likewise
    GMutex lock;         // guards `points`
    GArray *points;      // of gint32[2]: line numbers scanned and not yet on the map
    JsonNode *state;     // the file's session, or NULL
    GError *state_error; // why it could not be read
    char *damaged;       // a sentence of the start that the bar still shows, or NULL
    GCancellable *cancel; // the job's, borrowed, once it works
} Opening;

static void opening_free(gpointer data)
{
    Opening *o = data;
    g_object_unref(o->window);
    g_strfreev(o->paths);
    g_clear_pointer(&o->state, json_node_unref);
    g_array_unref(o->points);
    g_mutex_clear(&o->lock);
    g_free(o->profile);
    g_free(o->truth);
    g_free(o->velocity);
    litho_survey_unref(o->paged);
    g_clear_error(&o->state_error);
    g_free(o->damaged);
    g_free(o);
}

typedef struct Preview {
    LithoWindow *window;
    LithoCube *line;
    LithoRange range;
} Preview;

static gboolean show_preview(gpointer data)
{
    Preview *p = data;
    if (p->window->session && litho_job_bar_is_at_work(p->window->job)) {
        litho_window_state_preview(p->window, TRUE);
        litho_session_set_preview(p->window->session, p->line, &p->range);
    }
    return G_SOURCE_REMOVE;
}

static void preview_free(gpointer data)
{
    Preview *p = data;
    litho_cube_unref(p->line);
    g_object_unref(p->window);
    g_free(p);
}

// In the opening thread: the first inline can be shown.
static void on_first(LithoCube *line, gpointer data)
{
    Opening *o = data;
    Preview *p = g_new0(Preview, 1);
    p->window = g_object_ref(o->window);
    p->line = litho_cube_ref(line);
    LithoStats stats;
    litho_qc_stats(line, NULL, &stats, NULL); // held on the host: cannot fail
    p->range = litho_qc_range(line, &stats, LITHO_CLIP_AUTO);
    g_idle_add_full(G_PRIORITY_DEFAULT, show_preview, p, preview_free);
}

// Every so many traces goes on the map: a prime, as one that divides the traces of a line would
// leave stripes.
static gint64 map_step(gint64 total)
{
    gint64 step = MAX(total / MAP_POINTS, 1), d = 2;
    while (d * d <= step)
        if (step % d == 0)
            step++, d = 2;
        else
            d++;
    return step;
}

// In a scanning thread: a part of the line numbers goes on the map.
static void on_headers(const gint32 *a, const gint32 *b, gint64 n, gint64 total, gpointer data)
{
    Opening *o = data;
    gint64 step = map_step(total);
    g_mutex_lock(&o->lock);
    for (gint64 k = 0; k < n; k += step) {
        gint32 point[2] = {a[k], b[k]};
        g_array_append_val(o->points, point);
    }
    g_mutex_unlock(&o->lock);
}

static void fill_map(Opening *o)
{
    LithoSurveyMap *map = litho_middle_map(o->window->middle);
    g_mutex_lock(&o->lock);
    litho_survey_map_add(map, (const gint32(*)[2])(void *)o->points->data, o->points->len);
    g_array_set_size(o->points, 0);
    g_mutex_unlock(&o->lock);
    gtk_widget_set_visible(GTK_WIDGET(map), litho_survey_map_count(map) > 0);
}

// The session this file was left with, and how the file was read then.
static void read_state(Opening *o)
{
    g_autofree char *key = litho_state_key((const char *const *)o->paths);
    // The demo begins afresh each time; "Continue" brings it back as it was.
    if (o->mode == LITHO_OPEN_AGAIN || (!o->paths && o->mode == LITHO_OPEN_NORMAL))
        return;
    o->state = litho_state_read(key, &o->state_error);
    if (!o->state || o->has_options)
        return;
    JsonNode *open = json_object_get_member(json_node_get_object(o->state), "open");
    if (open && JSON_NODE_HOLDS_OBJECT(open))
        o->options = litho_open_options_from_json(json_node_get_object(open));
}

// All of it when input, result and the operator's own share fit; else the inline in the middle, and
// the window reads on as it goes.
static LithoCube *read_survey(Opening *o, LithoSurvey *survey, LithoRun *run, GError **error)
{
    const LithoGrid *grid = litho_survey_grid(survey);
    guint64 bytes = 4 * (guint64)litho_grid_samples(grid), free = litho_memory_available();
    if (bytes <= free / SHARES)
        return litho_survey_read(survey, NULL, run, error);
    LithoBox middle = litho_box_slice(grid, LITHO_INLINE, grid->axis[0].n / 2);
    LithoCube *cube = litho_survey_read(survey, &middle, run, error);
    if (!cube)
        return NULL;
    o->paged = litho_survey_ref(survey);
    o->memory = free;
    g_ptr_array_insert(
        cube->notes, 0,
        litho_text_printf(
            _("This cube of %.3g GiB is too large for the memory (%.3g GiB free): slices are "
              "read and the flow is computed as you look at them, and numbers are those "
              "of one inline"),
            bytes / 1073741824.0, free / 1073741824.0));
    return cube;
}

static gpointer open_work(LithoRun *run, gpointer data, GError **error)
{
    Opening *o = data;
    o->cancel = run->cancel;
    read_state(o);
    if (!o->paths)
        return litho_synth_demo(run, NULL, error);
    o->truth = litho_truth_beside((const char *const *)o->paths);
    o->velocity = litho_velocity_beside((const char *const *)o->paths);
    LithoOpenOptions options = o->options;
    options.on_first = on_first;
    options.first_data = o;
    options.on_headers = on_headers;
    options.headers_data = o;
    g_autoptr(LithoSurvey) survey =
        litho_survey_open((const char *const *)o->paths, &options, run, error);
    const LithoOpenOptions none = {0};
    if (survey && litho_open_options_equal(&o->options, &none))
        o->profile = litho_profile_match(litho_survey_text(survey));
    return survey ? read_survey(o, survey, run, error) : NULL;
}

static void open_progress(const LithoProgress *progress, gpointer data)
{
    Opening *o = data;
    if (!o->window->session)
        return;
    fill_map(o);
    litho_window_show_job(o->window, progress);
}

static void offer_profile(LithoWindow *self, Opening *o)
{
    litho_open_file_set_profile(self->file, o->profile);
    if (!o->profile) {
        litho_bar_hide(litho_tellers_offer(self->tellers));
        return;
    }
    g_autofree char *text =
        g_strdup_printf(_("The import profile “%s” was made for files like this one."), o->profile);
    litho_bar_tell(litho_tellers_offer(self->tellers), text, NULL);
}

// A file brings the flow back that it was left with. The flow of the file before goes with one that
// has none; what a person chose before any file was open (on the command line, from the palette) is
// kept as well.
static gboolean keeps_flow(LithoWindow *self, const Opening *o, gboolean first)
{
    return o->mode == LITHO_OPEN_NORMAL &&
           litho_flow_length(litho_session_flow(self->session)) > 0 &&
           (first || !o->state || litho_window_state_flow_length(o->state) == 0);
}

static void open_session(LithoWindow *self, Opening *o, gboolean keep_flow)
{
    gboolean same = o->mode == LITHO_OPEN_AGAIN;
    litho_window_state_adopt(self, (const char *const *)o->paths, &o->options);
    litho_open_file_set_truth(self->file, o->truth);
    litho_open_file_set_velocity(self->file, o->velocity);
    litho_window_show_title(self); // names the files
    if (!same) {
        litho_snapshots_clear(self->snapshots);
        litho_middle_show_section(self->middle, litho_session_grid(self->session));
    }
    if (o->state)
        litho_window_state_restore(self, o->state, keep_flow);
    const char *lost = o->state_error ? o->state_error->message : o->damaged;
    if (lost)
        litho_window_show_error(self, lost, NULL);
    litho_window_state_touched(self);
}

// Reading it otherwise may help; it does not where nothing can be read.
static gboolean has_content(const char *path)
{
    GStatBuf info;
    return g_stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
}

static void open_done(gpointer result, const GError *error, gpointer data)
{
    Opening *o = data;
    LithoWindow *self = o->window;
    g_autoptr(LithoCube) cube = result;
    if (!litho_window_end_job(self, error))
        return;
    // A cancel that came when all was read is one, too: what was open stays.
    if (cube && g_cancellable_is_cancelled(o->cancel))
        g_clear_pointer(&cube, litho_cube_unref);
    gtk_widget_set_visible(GTK_WIDGET(litho_middle_map(self->middle)), FALSE);
    if (cube) {
        litho_start_page_greeted(self->settings);
        const gboolean keep_flow = keeps_flow(self, o, !litho_open_file_key(self->file));
        litho_window_state_flush(self); // what was open until now
        litho_window_state_preview(self, FALSE);
        litho_window_state_leave(self);
        if (!keep_flow && o->state) // before its samples: they need not meet another file's flow
            litho_window_state_restore_flow(self, o->state);
        if (o->paged)
            litho_session_set_paged_input(self->session, o->paged, cube, o->memory);
        else
            litho_session_set_input(self->session, cube);
        open_session(self, o, keep_flow);
        offer_profile(self, o);
        self->velocity_offered = FALSE;
        litho_window_offer_velocity(self);
        if (o->paths) {
            g_autofree char *uri = g_filename_to_uri(o->paths[0], NULL, NULL);
            if (uri)
                litho_recent_add(uri);
        }
    } else {
        litho_session_set_preview(self->session, NULL, NULL); // back to what was open before
        litho_window_state_back(self);
        litho_window_state_touched(self);
        if (o->paths && error && error->domain == LITHO_ERROR && has_content(o->paths[0])) {
            const gboolean bare =
                litho_import_kind(o->paths[0]) == LITHO_IMPORT_RAW && !o->options.shape[0];
            litho_open_file_set_failed(self->file, g_steal_pointer(&o->paths));
            litho_bar_set_remedy(litho_tellers_error(self->tellers), TRUE);
            // Notes of the file before are gone.
            litho_bar_set_remedy(litho_tellers_notes(self->tellers), FALSE);
            litho_window_actions_update(self);
            if (bare) { // no failure: samples alone need to be told their sizes
                litho_window_clear_error(self);
                litho_import_open(self, (const char *const *)litho_open_file_failed(self->file),
                                  &o->options);
            }
        }
    }
    litho_window_tell_done(self, cube != NULL);
}

// It goes back to what was open before: its steps are not for another file, nor is its flow.
static void end_demonstration(LithoWindow *self)
{
    litho_player_end(litho_podium_player(self->podium));
}

void litho_window_open_as(LithoWindow *self, const char *const *paths,
                          const LithoOpenOptions *options, LithoOpenMode mode)
{
    static const LithoJobFuncs funcs = {open_work, open_progress, open_done, opening_free};
    if (litho_window_is_busy(self)) {
        litho_window_show_error(self, _("Something is being opened or saved; cancel it or wait."),
                                NULL);
        return;
    }
    Opening *o = g_new0(Opening, 1);
    o->window = g_object_ref(self);
    o->paths = g_strdupv((char **)paths);
    o->mode = mode;
    o->points = g_array_new(FALSE, FALSE, sizeof(gint32[2]));
    g_mutex_init(&o->lock);
    litho_survey_map_clear(litho_middle_map(self->middle));
    o->has_options = options != NULL;
    if (options)
        o->options = *options;
    // A file of the command line is opened before anybody could read it.
    if (g_strcmp0(self->damaged, litho_window_error(self)) == 0)
        o->damaged = g_steal_pointer(&self->damaged);
    end_demonstration(self); // the names may be those of what is open: they are copied by now
    litho_window_start_job(self, "open", paths ? _("Opening") : _("Making the demo cube"), &funcs,
                           o);
}

static char **absolute_paths(const char *const *paths)
{
    GStrvBuilder *builder = g_strv_builder_new();
    for (; *paths; paths++) {
        g_autofree char *path = g_canonicalize_filename(*paths, NULL);
        g_strv_builder_add(builder, path);
    }
    char **result = g_strv_builder_end(builder);
    g_strv_builder_unref(builder);
    return result;
}

void litho_window_open(LithoWindow *self, const char *const *paths)
{
    if (g_str_has_suffix(paths[0], ".json")) {
        litho_window_load_recipe(self, paths[0]);
        return;
    }
    g_auto(GStrv) absolute = absolute_paths(paths);
    litho_window_open_as(self, (const char *const *)absolute, NULL, LITHO_OPEN_NORMAL);
}

// With nothing in the flow the demo brings the operator of first choice.
void litho_window_open_demo(LithoWindow *self)
{
    LithoSession *session = litho_window_session(self);
    const LithoOperator *op = litho_operator_first_choice();
    if (!litho_window_is_busy(self))
        end_demonstration(self);
    if (op && litho_flow_length(litho_session_flow(session)) == 0) {
        g_autoptr(LithoFlow) flow = litho_flow_new();
        LithoStep *step = litho_flow_step(flow, litho_flow_append(flow, op));
        if (op->demo)
            litho_operator_settings(op, step->params, op->demo->settings, NULL);
        litho_session_set_flow(session, flow, _("Demonstration"));
        litho_session_select(session, 0);
    }
    litho_window_open_as(self, NULL, NULL, LITHO_OPEN_NORMAL);
}

// --- recipes ------------------------------------------------------------------------------------

void litho_window_load_recipe(LithoWindow *self, const char *path)
{
    if (litho_window_is_opening(self)) { // the file brings the flow that it was left with
        litho_window_show_error(self, _("Something is being opened or saved; cancel it or wait."),
                                NULL);
        return;
    }
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoFlow) flow = litho_flow_load(path, &error);
    if (!flow) {
        litho_window_show_error(self, error->message, NULL);
        return;
    }
    end_demonstration(self);
    litho_window_clear_error(self);
    litho_session_set_flow(self->session, flow, _("Open recipe"));
    if (flow->note)
        litho_window_notice(self, "%s", flow->note);
}
