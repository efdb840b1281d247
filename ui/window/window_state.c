// SPDX-License-Identifier: GPL-3.0-or-later
//
// The memory of the file that is open: written a second after each change and on
// leaving, so that neither a crash nor closing loses anything; restored when the file is opened
// again.
#include "core/text.h"
#include "ui/window/window_private.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/json.h"
#include "ui/session/state_store.h"

// --- telling ------------------------------------------------------------------------------------

static JsonArray *numbers_to_json(const double *x, guint n)
{
    JsonArray *array = json_array_new();
    for (guint k = 0; k < n; k++)
        json_array_add_double_element(array, x[k]);
    return array;
}

static JsonArray *integers_to_json(const gint64 *x, guint n)
{
    JsonArray *array = json_array_new();
    for (guint k = 0; k < n; k++)
        json_array_add_int_element(array, x[k]);
    return array;
}

static const char *const colour_keys[2] = {"colours",
                                           "colours_unsigned"}; // litho_session_colours()

static const char result_range_key[] = "result_range";

// Input and result may be of different kinds, and somebody may have set the colours of either.
static void ranges_to_json(LithoWindow *self, JsonObject *object)
{
    double range[2];
    JsonObject *waiting = litho_open_file_views(self->file, LITHO_LOOK_WAITING);
    if (litho_session_range_set(self->session, LITHO_NUMBERS_IN, range)) {
        if (range[0] == -range[1])
            json_object_set_double_member(object, "clip", range[1]);
        else
            json_object_set_array_member(object, "range", numbers_to_json(range, 2));
    }
    if (waiting)
        json_object_set_member(object, result_range_key,
                               json_object_dup_member(waiting, result_range_key));
    else if (litho_session_range_set(self->session, LITHO_NUMBERS_OUT, range))
        json_object_set_array_member(object, result_range_key, numbers_to_json(range, 2));
}

static JsonObject *look_to_json(LithoWindow *self)
{
    LithoSession *session = self->session;
    const LithoLook *look = &litho_session_display(session)->look;
    JsonObject *object = json_object_new();
    for (int k = 0; k < 2; k++)
        json_object_set_string_member(object, colour_keys[k],
                                      litho_session_colours(session, k)->name);
    ranges_to_json(self, object);
    json_object_set_double_member(object, "gain", look->gain);
    json_object_set_double_member(object, "removed_gain", look->removed_gain);
    json_object_set_int_member(object, "wiggle", look->wiggle);
    json_object_set_double_member(object, "split", look->split);
    json_object_set_double_member(object, "time_power", look->time_power);
    json_object_set_int_member(object, "agc", look->agc);
    json_object_set_int_member(object, "no_density", look->no_density);
    return object;
}

// Slices, zoom and camera belong to a grid of this size.
static JsonObject *views_to_json(LithoWindow *self)
{
    const LithoGrid *grid = litho_session_grid(self->session);
    const LithoDisplay *d = litho_session_display(self->session);
    const LithoCamera *c = &d->scene.camera;
    gint64 shape[3] = {grid->axis[0].n, grid->axis[1].n, grid->axis[2].n};
    double camera[] = {c->yaw, c->pitch, c->distance, c->target[0], c->target[1], c->target[2]};
    JsonObject *object = json_object_new();
    json_object_set_array_member(object, "shape", integers_to_json(shape, 3));
    json_object_set_array_member(object, "slices", integers_to_json(d->slice, 3));
    json_object_set_array_member(object, "lo", numbers_to_json(d->lo, 3));
    json_object_set_array_member(object, "hi", numbers_to_json(d->hi, 3));
    json_object_set_array_member(object, "camera", numbers_to_json(camera, G_N_ELEMENTS(camera)));
    json_object_set_int_member(object, "maximised",
                               litho_canvas_maximised(litho_window_canvas(self)));
    return object;
}

static JsonArray *paths_to_json(char **paths)
{
    JsonArray *array = json_array_new();
    for (; paths && *paths; paths++)
        json_array_add_string_element(array, *paths);
    return array;
}

char *litho_window_state_text(LithoWindow *self)
{
    LithoSession *session = self->session;
    LithoHistory *history = litho_session_history(session);
    JsonObject *root = json_object_new();
    json_object_set_int_member(root, "lithoscope-session", 1);
    json_object_set_int_member(root, "saved", g_get_real_time() / G_USEC_PER_SEC);
    JsonObject *before = litho_open_file_views(self->file, LITHO_VIEWS_BEFORE);
    const char *title = litho_header_title(self->header);
    json_object_set_string_member(root, "name",
                                  before ? litho_json_string_or(before, "name", title) : title);
    json_object_set_array_member(root, "paths", paths_to_json(litho_open_file_paths(self->file)));
    json_object_set_object_member(root, "open",
                                  litho_open_options_to_json(litho_open_file_options(self->file)));
    json_object_set_member(root, "recipe", litho_flow_to_json(litho_session_flow(session)));
    json_object_set_int_member(root, "selected", litho_session_selected(session));
    json_object_set_string_member(root, "show",
                                  litho_show_keys[litho_session_display(session)->show]);
    json_object_set_object_member(root, "look", look_to_json(self));
    if (before)
        json_object_set_object_member(root, "views", json_object_ref(before));
    else if (litho_session_grid(session))
        json_object_set_object_member(root, "views", views_to_json(self));
    json_object_set_array_member(root, "snapshots", litho_snapshots_to_json(self->snapshots));
    json_object_set_array_member(root, "past",
                                 litho_history_to_json(history, FALSE, LITHO_HISTORY_KEPT));
    json_object_set_array_member(root, "future",
                                 litho_history_to_json(history, TRUE, LITHO_HISTORY_KEPT));
    JsonNode *node = json_node_init_object(json_node_alloc(), root);
    char *text = litho_json_text(node);
    json_object_unref(root);
    json_node_unref(node);
    return text;
}

// --- writing ------------------------------------------------------------------------------------

static char *text_of(gpointer window)
{
    return litho_window_state_text(window);
}

// While a file is being opened nothing is settled; the end of that comes back. Saving may take
// hours, in which nothing may be lost either.
static gboolean is_open(gpointer window)
{
    return !litho_window_is_opening(window);
}

static void write_failed(const GError *error, gpointer window)
{
    litho_window_show_error(window, error->message, NULL);
}

// The line of a file being opened has a name, a grid, slices and zoom of its own: those of the file
// that is open, whose state is still the one being kept, are put aside meanwhile.
void litho_window_state_preview(LithoWindow *self, gboolean on)
{
    if (!on) {
        litho_open_file_keep_views(self->file, LITHO_VIEWS_BEFORE, NULL);
    } else if (!litho_open_file_views(self->file, LITHO_VIEWS_BEFORE) &&
               litho_session_grid(self->session)) {
        JsonObject *views = views_to_json(self);
        json_object_set_string_member(views, "name", litho_header_title(self->header));
        litho_open_file_keep_views(self->file, LITHO_VIEWS_BEFORE, views);
        json_object_unref(views);
    }
}

void litho_window_state_touched(LithoWindow *self)
{
    if (self->writer) // not while the window goes
        litho_state_writer_touched(self->writer);
}

void litho_window_state_flush(LithoWindow *self)
{
    litho_state_writer_flush(self->writer);
}

// --- restoring ----------------------------------------------------------------------------------

// Exactly `n` finite numbers.
static gboolean read_numbers(JsonObject *object, const char *key, double *x, guint n)
{
    JsonArray *array = litho_json_array_or_null(object, key);
    if (!array || json_array_get_length(array) != n)
        return FALSE;
    for (guint k = 0; k < n; k++) {
        if (!litho_json_node_number(json_array_get_element(array, k), &x[k]) || fabs(x[k]) >= 1e15)
            return FALSE;
    }
    return TRUE;
}

static double member_number(JsonObject *object, const char *key, double fallback, double least,
                            double most)
{
    double value = litho_json_number_or(object, key, fallback);
    return value >= least && value <= most ? value : fallback;
}

static void restore_look(LithoWindow *self, JsonObject *object)
{
    LithoSession *session = self->session;
    LithoLook look = litho_session_display(session)->look;
    look.gain = member_number(object, "gain", look.gain, 0, 1e6);
    look.removed_gain = member_number(object, "removed_gain", look.removed_gain, 0, 128);
    look.split = member_number(object, "split", look.split, 0, 1);
    look.wiggle = (LithoWiggle)member_number(object, "wiggle", look.wiggle, 0, LITHO_WIGGLE_FILL);
    look.time_power = member_number(object, "time_power", look.time_power, -4, 4);
    look.agc = (int)member_number(object, "agc", look.agc, 0, 1e5);
    look.no_density = member_number(object, "no_density", look.no_density, 0, 1) > 0;
    litho_session_set_look(session, &look);
    for (int k = 0; k < 2; k++) {
        const char *name = litho_json_string_or(object, colour_keys[k], "");
        const LithoColormap *map = litho_window_find_colours(self, name);
        if (map)
            litho_session_set_colours(session, k, map);
    }
    double range[2];
    if (read_numbers(object, "range", range, 2))
        litho_session_set_range(session, range[0], range[1]);
    if (json_object_has_member(object, "clip"))
        litho_session_set_clip(session, member_number(object, "clip", 0, 0, 1e30));
    const gboolean waits = read_numbers(object, result_range_key, range, 2);
    litho_open_file_keep_views(self->file, LITHO_LOOK_WAITING, waits ? object : NULL);
}

// The colours of the result, once they are the ones on show.
static void restore_result_range(LithoWindow *self)
{
    double range[2];
    JsonObject *look = litho_open_file_views(self->file, LITHO_LOOK_WAITING);
    if (!look || !litho_session_result(self->session) ||
        !litho_session_shows_own_range(self->session))
        return;
    if (read_numbers(look, result_range_key, range, 2))
        litho_session_set_range(self->session, range[0], range[1]);
    litho_open_file_keep_views(self->file, LITHO_LOOK_WAITING, NULL);
}

// FALSE when the views show a grid of another size: a result may bring the right one later.
static gboolean restore_views(LithoWindow *self, JsonObject *object)
{
    const LithoGrid *grid = litho_session_grid(self->session);
    double shape[3], slices[3], lo[3], hi[3], camera[6];
    if (!read_numbers(object, "shape", shape, 3))
        return TRUE;
    for (int a = 0; a < 3; a++)
        if (!grid || grid->axis[a].n != (gint64)shape[a])
            return FALSE;
    if (read_numbers(object, "slices", slices, 3))
        for (int a = 0; a < 3; a++)
            litho_session_set_slice(self->session, a, (gint64)slices[a]);
    if (read_numbers(object, "lo", lo, 3) && read_numbers(object, "hi", hi, 3) && lo[0] < hi[0] &&
        lo[1] < hi[1] && lo[2] < hi[2])
        litho_session_set_window(self->session, lo, hi);
    if (read_numbers(object, "camera", camera, 6) && camera[2] > 0.01 && camera[2] < 1000) {
        LithoSceneView scene = litho_session_display(self->session)->scene;
        scene.camera = (LithoCamera){
            .yaw = camera[0], .pitch = CLAMP(camera[1], -89, 89), .distance = camera[2]};
        memcpy(scene.camera.target, camera + 3, sizeof scene.camera.target);
        litho_session_set_scene(self->session, &scene);
    }
    int maximised = (int)member_number(object, "maximised", -1, -1, LITHO_N_VIEWS - 1);
    litho_canvas_maximise(litho_window_canvas(self), maximised);
    return TRUE;
}

void litho_window_state_back(LithoWindow *self)
{
    JsonObject *before = litho_open_file_views(self->file, LITHO_VIEWS_BEFORE);
    if (before && !restore_views(self, before)) // of a result, which comes again
        litho_open_file_keep_views(self->file, LITHO_VIEWS_WAITING, before);
    litho_window_state_preview(self, FALSE);
}

static void restore_flow(LithoWindow *self, JsonObject *root, const LithoFlow *flow)
{
    LithoHistory *history = litho_history_new();
    litho_history_from_json(history, FALSE, litho_json_array_or_null(root, "past"));
    litho_history_from_json(history, TRUE, litho_json_array_or_null(root, "future"));
    int selected = (int)member_number(root, "selected", 0, -1, 1000);
    litho_session_restore_flow(self->session, flow, selected, history);
}

static LithoFlow *flow_of(JsonNode *state)
{
    return litho_flow_from_json(json_object_get_member(json_node_get_object(state), "recipe"),
                                NULL);
}

guint litho_window_state_flow_length(JsonNode *state)
{
    g_autoptr(LithoFlow) flow = flow_of(state);
    return flow ? litho_flow_length(flow) : 0;
}

void litho_window_state_restore_flow(LithoWindow *self, JsonNode *state)
{
    g_autoptr(LithoFlow) flow = flow_of(state);
    if (flow)
        restore_flow(self, json_node_get_object(state), flow);
    if (flow && flow->note)
        litho_window_notice(self, "%s", flow->note);
}

// All but the flow.
void litho_window_state_restore(LithoWindow *self, JsonNode *state, gboolean keep_flow)
{
    JsonObject *root = json_node_get_object(state), *look = litho_json_object_or_null(root, "look");
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoFlow) flow =
        litho_flow_from_json(json_object_get_member(root, "recipe"), &error);
    litho_open_file_keep_views(self->file, LITHO_VIEWS_WAITING, NULL);
    litho_open_file_keep_views(self->file, LITHO_LOOK_WAITING, NULL);
    if (!flow) {
        g_autofree char *text = g_strdup_printf(
            _("The recipe saved with this file cannot be used and was left aside: %s"),
            error->message);
        litho_window_show_error(self, text, NULL);
        return;
    }
    if (keep_flow && !litho_flow_equal(flow, litho_session_flow(self->session)) &&
        litho_flow_length(flow) > 0)
        // Nothing is lost: one undo gives this file its own recipe back.
        litho_history_push(litho_session_history(self->session), flow,
                           _("The recipe of another file"));
    litho_snapshots_from_json(self->snapshots, litho_json_array_or_null(root, "snapshots"));
    if (look)
        restore_look(self, look);
    const char *show = litho_json_string_or(root, "show", "output");
    for (int k = 0; k < 5; k++)
        if (strcmp(show, litho_show_keys[k]) == 0)
            litho_session_show(self->session, k);
    JsonObject *views = litho_json_object_or_null(root, "views");
    if (views && !restore_views(self, views))
        litho_open_file_keep_views(self->file, LITHO_VIEWS_WAITING, views);
}

void litho_window_state_result(LithoWindow *self)
{
    JsonObject *views = litho_open_file_views(self->file, LITHO_VIEWS_WAITING);
    if (views && restore_views(self, views))
        litho_open_file_keep_views(self->file, LITHO_VIEWS_WAITING, NULL);
    restore_result_range(self);
}

// --- where one left off -------------------------------------------------------------------------

static char **paths_of(JsonObject *root)
{
    JsonArray *array = litho_json_array_or_null(root, "paths");
    guint n = array ? json_array_get_length(array) : 0;
    GStrvBuilder *builder = g_strv_builder_new();
    for (guint k = 0; k < n; k++) {
        const char *path = litho_json_node_string(json_array_get_element(array, k));
        if (path)
            g_strv_builder_add(builder, path);
    }
    char **paths = g_strv_builder_end(builder);
    g_strv_builder_unref(builder);
    return paths;
}

static char *ago(gint64 saved)
{
    gint64 s = g_get_real_time() / G_USEC_PER_SEC - saved;
    if (s < 90)
        return g_strdup(_("just now"));
    if (s < 90 * 60)
        return g_strdup_printf(_("%d minutes ago"), (int)((s + 30) / 60));
    if (s < 36 * 3600)
        return g_strdup_printf(_("%d hours ago"), (int)((s + 1800) / 3600));
    return g_strdup_printf(_("%d days ago"), (int)((s + 43200) / 86400));
}

// "F-X prediction filter, 2 hours ago".
static char *describe(JsonObject *root)
{
    g_autoptr(LithoFlow) flow = litho_flow_from_json(json_object_get_member(root, "recipe"), NULL);
    g_autofree char *when = ago((gint64)CLAMP(litho_json_number_or(root, "saved", 0), 0, 1e15));
    guint n = flow ? litho_flow_length(flow) : 0;
    if (n == 0)
        return g_steal_pointer(&when);
    const char *title = litho_text(litho_flow_step(flow, 0)->op->title);
    return n == 1 ? g_strdup_printf("%s, %s", title, when)
                  : g_strdup_printf(_("%s and %u more, %s"), title, n - 1, when);
}

char *litho_window_state_last(char **name, GError **error)
{
    g_autofree char *key = litho_state_newest();
    JsonNode *state = key ? litho_state_read(key, error) : NULL;
    if (!state)
        return NULL;
    JsonObject *root = json_node_get_object(state);
    g_auto(GStrv) paths = paths_of(root);
    gboolean there = paths[0] != NULL || strcmp(key, "demo") == 0;
    for (char **p = paths; *p; p++)
        there &= g_file_test(*p, G_FILE_TEST_EXISTS);
    char *text = there ? describe(root) : NULL;
    if (there && name)
        *name = g_strdup(litho_json_string_or(root, "name", ""));
    json_node_unref(state);
    return text;
}

void litho_window_continue(LithoWindow *self)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *key = litho_state_newest();
    JsonNode *state = key ? litho_state_read(key, &error) : NULL;
    if (!state) {
        litho_window_show_error(
            self, error ? error->message : _("There is no session to go back to."), NULL);
        return;
    }
    JsonObject *root = json_node_get_object(state);
    g_auto(GStrv) paths = paths_of(root);
    LithoOpenOptions options =
        litho_open_options_from_json(litho_json_object_or_null(root, "open"));
    litho_window_open_as(self, paths[0] ? (const char *const *)paths : NULL, &options,
                         LITHO_OPEN_CONTINUE);
    json_node_unref(state);
}

// --- life ---------------------------------------------------------------------------------------

void litho_window_state_adopt(LithoWindow *self, const char *const *paths,
                              const LithoOpenOptions *options)
{
    litho_open_file_adopt(self->file, paths, options);
    litho_state_writer_set_key(self->writer, litho_open_file_key(self->file));
}

void litho_window_state_leave(LithoWindow *self)
{
    litho_open_file_leave(self->file);
    litho_state_writer_set_key(self->writer, NULL);
}

void litho_window_state_close(LithoWindow *self)
{
    litho_window_state_leave(self);
    litho_open_file_close(self->file);
}

void litho_window_state_init(LithoWindow *self)
{
    static const char *const signals[] = {"flow-changed", "params-changed", "display-changed",
                                          "slices-changed"};
    static const LithoStateWriterFuncs funcs = {text_of, is_open, write_failed};
    self->writer = litho_state_writer_new(&funcs, self);
    for (guint k = 0; k < G_N_ELEMENTS(signals); k++)
        g_signal_connect_object(self->session, signals[k], G_CALLBACK(litho_window_state_touched),
                                self, G_CONNECT_SWAPPED);
    g_signal_connect_object(self->snapshots, "changed", G_CALLBACK(litho_window_state_touched),
                            self, G_CONNECT_SWAPPED);
    g_signal_connect_object(litho_window_canvas(self), "layout-changed", G_CALLBACK(litho_window_state_touched),
                            self, G_CONNECT_SWAPPED);
}
