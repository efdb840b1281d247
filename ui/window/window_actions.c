// SPDX-License-Identifier: GPL-3.0-or-later
//
// Everything the window can do, by name: menus, keys, buttons and the palette all come here.
#include "ui/window/window_private.h"

#include <math.h>
#include <string.h>

#include "ui/window/about.h"
#include "ui/window/commands.h"
#include "ui/window/display_gain.h"
#include "ui/import/import_profile.h"
#include "ui/import/import_window.h"
#include "ui/window/palette.h"
#include "ui/window/recent.h"
#include "ui/panel/find_window.h"
#include "ui/window/survey_window.h"
#include "ui/session/medium.h"
#include "ui/panel/sweep.h"

#define CLIP_STEP 1.12201845 // 1 dB

static const LithoDisplay *display_of(LithoWindow *self)
{
    return litho_session_display(self->session);
}

// --- files --------------------------------------------------------------------------------------

#define ACTION(name)                                                                               \
    static void name(GSimpleAction *action G_GNUC_UNUSED, GVariant *value G_GNUC_UNUSED,           \
                     gpointer data)
#define SELF LithoWindow *self = LITHO_WINDOW(data)

ACTION(do_open_path)
{
    const char *paths[] = {g_variant_get_string(value, NULL), NULL};
    litho_window_open(LITHO_WINDOW(data), paths);
}

ACTION(do_open_last)
{
    SELF;
    g_autofree char *path = litho_recent_last_path();
    const char *paths[] = {path, NULL};
    if (path)
        litho_window_open(self, paths);
}

ACTION(do_recipe_open)
{
    litho_window_choose_recipe(LITHO_WINDOW(data), FALSE);
}

ACTION(do_recipe_save)
{
    litho_window_choose_recipe(LITHO_WINDOW(data), TRUE);
}

ACTION(do_copy_command)
{
    SELF;
    g_autofree char *text = litho_window_command(self);
    gdk_clipboard_set_text(gtk_widget_get_clipboard(GTK_WIDGET(self)), text);
    litho_window_notice(self, "Copied: %s", text);
}

// --- flow ---------------------------------------------------------------------------------------

ACTION(do_cancel)
{
    SELF;
    double part;
    if (litho_window_is_busy(self))
        litho_window_cancel_job(self);
    else if (litho_session_progress(self->session, NULL)) {
        litho_session_cancel(self->session);
        litho_window_notice(self,
                            "Stopped: the result is not whole. Ctrl+Return computes it again.");
    } else if (litho_snapshots_is_computing(self->snapshots, &part)) {
        litho_snapshots_compare(self->snapshots, -1);
    } else if (gtk_window_is_fullscreen(GTK_WINDOW(self)))
        gtk_window_unfullscreen(GTK_WINDOW(self));
}

ACTION(do_pause)
{
    SELF;
    litho_session_pause(self->session, !litho_session_is_paused(self->session));
    litho_window_actions_update(self);
}

// The file that could not be opened while the bar says so, or else the one that is open. Without an
// open one the closed bar's file is still the only one that can be meant.
ACTION(do_import)
{
    SELF;
    const LithoOpenOptions none = {0};
    char **failed = litho_open_file_failed(self->file), **paths = litho_open_file_paths(self->file);
    if (failed && (!paths || litho_bar_text(litho_tellers_error(self->tellers))))
        litho_import_open(self, (const char *const *)failed, &none);
    else if (paths)
        litho_import_open(self, (const char *const *)paths, litho_open_file_options(self->file));
}

ACTION(do_use_profile)
{
    SELF;
    LithoOpenOptions options;
    g_autoptr(GError) error = NULL;
    litho_bar_hide(litho_tellers_offer(self->tellers));
    const char *profile = litho_open_file_profile(self->file);
    g_auto(GStrv) paths = g_strdupv(litho_open_file_paths(self->file));
    if (!profile || !paths)
        return;
    if (litho_profile_load(profile, &options, &error))
        litho_window_open_as(self, (const char *const *)paths, &options, LITHO_OPEN_AGAIN);
    else
        litho_window_show_error(self, error->message, NULL);
}

// The units at the axes; remembered with the settings.
ACTION(do_time_unit)
{
    SELF;
    const char *name = g_variant_get_string(value, NULL);
    LithoUnits lines = display_of(self)->units & LITHO_UNITS_METRES;
    LithoUnits time = strcmp(name, "ms") == 0  ? LITHO_UNITS_MS
                      : strcmp(name, "s") == 0 ? LITHO_UNITS_S
                                               : LITHO_UNITS_AUTO;
    litho_session_set_units(self->session, lines | time);
    g_simple_action_set_state(action, value);
}

ACTION(do_lines)
{
    SELF;
    gboolean metres = strcmp(g_variant_get_string(value, NULL), "metres") == 0;
    LithoUnits time = display_of(self)->units & LITHO_UNITS_TIME;
    litho_session_set_units(self->session, time | (metres ? LITHO_UNITS_METRES : 0));
    g_simple_action_set_state(action, value);
}

ACTION(do_device)
{
    litho_session_set_device(LITHO_WINDOW(data)->session, g_variant_get_string(value, NULL));
    g_simple_action_set_state(action, value);
}

// --- snapshots ----------------------------------------------------------------------------------

// Index of the snapshot of that letter, -1 = none.
static int snapshot_of(LithoWindow *self, const char *letter)
{
    for (guint k = 0; k < litho_snapshots_count(self->snapshots); k++)
        if (litho_snapshots_get(self->snapshots, k)->letter == *letter)
            return k;
    return -1;
}

ACTION(do_snapshot)
{
    litho_snapshots_take(LITHO_WINDOW(data)->snapshots);
}

ACTION(do_snapshot_go)
{
    SELF;
    int k = snapshot_of(self, g_variant_get_string(value, NULL));
    if (k >= 0)
        litho_snapshots_adopt(self->snapshots, k);
}

// A second press of the letter goes back to the input.
ACTION(do_snapshot_compare)
{
    SELF;
    int k = snapshot_of(self, g_variant_get_string(value, NULL));
    litho_snapshots_compare(self->snapshots,
                            k == litho_snapshots_compared(self->snapshots) ? -1 : k);
}

ACTION(do_truth)
{
    litho_window_compare_truth(LITHO_WINDOW(data));
}

// --- compare ------------------------------------------------------------------------------------

static LithoShow show_from_name(const char *name)
{
    for (int k = 0; k < 5; k++)
        if (strcmp(name, litho_show_keys[k]) == 0)
            return k;
    return LITHO_SHOW_OUTPUT;
}

ACTION(do_volume)
{
    LithoWindow *self = LITHO_WINDOW(data);
    const char *name = g_variant_get_string(value, NULL);
    litho_session_set_volume(self->session, *name ? name : NULL);
    if (*name)
        litho_session_show(self->session, LITHO_SHOW_OUTPUT);
}

ACTION(do_show)
{
    litho_session_show(LITHO_WINDOW(data)->session,
                       show_from_name(g_variant_get_string(value, NULL)));
}

// A second press of the key goes back to the output.
static void toggle_show(LithoWindow *self, LithoShow show)
{
    gboolean on = display_of(self)->show == show;
    litho_session_show(self->session, on ? LITHO_SHOW_OUTPUT : show);
}

ACTION(do_removed)
{
    toggle_show(LITHO_WINDOW(data), LITHO_SHOW_REMOVED);
}

ACTION(do_split)
{
    toggle_show(LITHO_WINDOW(data), LITHO_SHOW_SPLIT);
}

ACTION(do_blink)
{
    gboolean on = litho_blink_toggle(LITHO_WINDOW(data)->blink);
    g_simple_action_set_state(action, g_variant_new_boolean(on));
}

// --- look ---------------------------------------------------------------------------------------

static void scale_clip(LithoWindow *self, double factor)
{
    litho_session_scale_clip(self->session, factor);
}

static void scale_removed(LithoWindow *self, double factor)
{
    LithoLook look = display_of(self)->look;
    double gain = look.removed_gain > 0 ? look.removed_gain : 1;
    look.removed_gain = CLAMP(gain * factor, 1, 128);
    litho_session_set_look(self->session, &look);
}

// The built-in maps, then the user's own.
ACTION(do_colours_next)
{
    SELF;
    LithoLook look = display_of(self)->look;
    const LithoColormap *const *maps = litho_colormaps();
    const LithoColormap *now = look.map ? look.map : maps[0];
    guint n = 0, k = 0;
    while (maps[n])
        n++;
    guint all = n + self->colours->len;
    while (k < all && now != (k < n ? maps[k] : g_ptr_array_index(self->colours, k - n)))
        k++;
    k = k + 1 < all ? k + 1 : 0;
    look.map = k < n ? maps[k] : g_ptr_array_index(self->colours, k - n);
    litho_session_set_look(self->session, &look);
}

ACTION(do_colours_load)
{
    litho_window_choose_colours(LITHO_WINDOW(data));
}

ACTION(do_colours)
{
    SELF;
    LithoLook look = display_of(self)->look;
    look.map = litho_window_find_colours(self, g_variant_get_string(value, NULL));
    if (!look.map)
        return;
    litho_session_set_look(self->session, &look);
}

ACTION(do_colours_menu)
{
    SELF;
    litho_cube_view_open_maps(litho_canvas_active_view(litho_window_canvas(self)));
}

ACTION(do_wiggle)
{
    SELF;
    LithoLook look = display_of(self)->look;
    look.wiggle = look.wiggle == LITHO_WIGGLE_OFF ? LITHO_WIGGLE_FILL : LITHO_WIGGLE_OFF;
    look.no_density = look.no_density && look.wiggle != LITHO_WIGGLE_OFF;
    litho_session_set_look(self->session, &look);
    g_simple_action_set_state(action, g_variant_new_boolean(look.wiggle != LITHO_WIGGLE_OFF));
}

// The output with the map over it; input and side by side stay as they are.
ACTION(do_similarity)
{
    SELF;
    gboolean on = !litho_judgement_wants_maps(self->judgement);
    if (on && litho_session_shown(self->session) == LITHO_SHOW_INPUT)
        litho_session_show(self->session, LITHO_SHOW_OUTPUT);
    litho_judgement_want_maps(self->judgement, on);
    (void)action;
}

// Off, faint, strong, alone.
ACTION(do_medium)
{
    SELF;
    static const double steps[] = {0, 0.35, 0.7, 1};
    LithoMedium *medium = litho_medium_of(self->session);
    guint k = 0;
    while (k + 1 < G_N_ELEMENTS(steps) && steps[k] <= litho_medium_opacity(medium))
        k++;
    litho_medium_set_opacity(medium, litho_medium_opacity(medium) >= 1 ? 0 : steps[k]);
}

// --- views --------------------------------------------------------------------------------------

static void zoom(LithoWindow *self, double factor)
{
    litho_canvas_zoom(litho_window_canvas(self), factor);
}

ACTION(do_maximise)
{
    SELF;
    LithoCanvas *canvas = litho_window_canvas(self);
    int axis = g_variant_get_int32(value);
    litho_canvas_maximise(canvas, litho_canvas_maximised(canvas) == axis ? -1 : axis);
}

// On: what the active section shows; a drag then chooses another rectangle. Off again by the same
// key.
ACTION(do_area)
{
    SELF;
    int axis = litho_cube_view_axis(litho_canvas_active_view(litho_window_canvas(self)));
    LithoArea area = {.on = !litho_session_area(self->session)->on,
                      .axis = axis == LITHO_XLINE ? LITHO_XLINE : LITHO_INLINE};
    const LithoGrid *grid = litho_session_grid(self->session);
    for (int a = 0; grid && a < 3; a++) {
        area.box.lo[a] = CLAMP((gint64)ceil(display_of(self)->lo[a]), 0, grid->axis[a].n - 1);
        area.box.hi[a] =
            CLAMP((gint64)floor(display_of(self)->hi[a]) + 1, area.box.lo[a] + 1, grid->axis[a].n);
    }
    litho_session_set_area(self->session, area.on && grid ? &area : NULL);
    if (area.on)
        litho_window_show_panel(self, 1, TRUE);
}

static void toggle_panel(LithoWindow *self, int panel)
{
    gboolean shown = gtk_widget_get_visible(litho_panels_get(self->panels, panel));
    litho_panels_show(self->panels, panel, !shown);
}

ACTION(do_fold_left)
{
    SELF;
    toggle_panel(self, LITHO_PANEL_LEFT);
}

ACTION(do_fold_right)
{
    SELF;
    toggle_panel(self, LITHO_PANEL_RIGHT);
}

ACTION(do_menu)
{
    litho_header_open_menu(LITHO_WINDOW(data)->header);
}

ACTION(do_fullscreen)
{
    SELF;
    if (gtk_window_is_fullscreen(GTK_WINDOW(self)))
        gtk_window_unfullscreen(GTK_WINDOW(self));
    else
        gtk_window_fullscreen(GTK_WINDOW(self));
}

// Commands that are one call without further arguments.
static const struct {
    const char *name;
    GCallback call;
    enum { ON_WINDOW, ON_SESSION, ON_CANVAS } on;
} calls[] = {
    {"open", G_CALLBACK(litho_window_choose_open), ON_WINDOW},
    {"continue", G_CALLBACK(litho_window_continue), ON_WINDOW},
    {"demo", G_CALLBACK(litho_window_open_demo), ON_WINDOW},
    {"reference", G_CALLBACK(litho_window_choose_reference), ON_WINDOW},
    {"reference-forget", G_CALLBACK(litho_window_forget_truth), ON_WINDOW},
    {"hidden", G_CALLBACK(litho_window_test_hidden), ON_WINDOW},
    {"use-velocity", G_CALLBACK(litho_window_use_velocity), ON_WINDOW},
    {"point", G_CALLBACK(litho_window_note_point), ON_WINDOW},
    {"points-save", G_CALLBACK(litho_window_choose_points), ON_WINDOW},
    {"points-forget", G_CALLBACK(litho_window_forget_points), ON_WINDOW},
    {"save", G_CALLBACK(litho_window_choose_save), ON_WINDOW},
    {"picture", G_CALLBACK(litho_window_choose_picture), ON_WINDOW},
    {"report", G_CALLBACK(litho_window_choose_report), ON_WINDOW},
    {"undo", G_CALLBACK(litho_session_undo), ON_SESSION},
    {"redo", G_CALLBACK(litho_session_redo), ON_SESSION},
    {"compute", G_CALLBACK(litho_session_recompute), ON_SESSION},
    {"sweep", G_CALLBACK(litho_sweep_open), ON_WINDOW},
    {"find", G_CALLBACK(litho_find_open), ON_WINDOW},
    {"survey", G_CALLBACK(litho_survey_open_window), ON_WINDOW},
    {"model", G_CALLBACK(litho_canvas_next_model), ON_CANVAS},
    {"fit", G_CALLBACK(litho_canvas_fit), ON_CANVAS},
    {"focus-view", G_CALLBACK(litho_canvas_focus), ON_CANVAS},
    {"palette", G_CALLBACK(litho_palette_open), ON_WINDOW},
    {"shortcuts", G_CALLBACK(litho_shortcuts_open), ON_WINDOW},
    {"help", G_CALLBACK(litho_help_open), ON_WINDOW},
    {"about", G_CALLBACK(litho_about_open), ON_WINDOW},
};

// Commands that make something larger or smaller by a factor.
static const struct {
    const char *name;
    void (*scale)(LithoWindow *self, double factor);
    double factor;
} scales[] = {
    {"clip-down", scale_clip, 1 / CLIP_STEP},
    {"clip-up", scale_clip, CLIP_STEP},
    {"gain-down", scale_removed, 0.5},
    {"gain-up", scale_removed, 2},
    {"zoom-in", zoom, 1.5},
    {"zoom-out", zoom, 1 / 1.5},
};

static void on_scale(GSimpleAction *action, GVariant *value, gpointer data)
{
    (void)value;
    const char *name = g_action_get_name(G_ACTION(action));
    for (guint k = 0; k < G_N_ELEMENTS(scales); k++)
        if (strcmp(scales[k].name, name) == 0)
            scales[k].scale(LITHO_WINDOW(data), scales[k].factor);
}

static GSimpleAction *add_action(LithoWindow *self, const char *name)
{
    g_autoptr(GSimpleAction) action = g_simple_action_new(name, NULL);
    g_action_map_add_action(G_ACTION_MAP(self), G_ACTION(action));
    return action; // the map keeps it
}

// The session and the canvas live as long as the window's actions.
static void add_calls(LithoWindow *self)
{
    gpointer on[] = {self, self->session, litho_window_canvas(self)};
    for (guint k = 0; k < G_N_ELEMENTS(calls); k++)
        g_signal_connect_swapped(add_action(self, calls[k].name), "activate", calls[k].call,
                                 on[calls[k].on]);
    for (guint k = 0; k < G_N_ELEMENTS(scales); k++)
        g_signal_connect(add_action(self, scales[k].name), "activate", G_CALLBACK(on_scale), self);
}

static const GActionEntry entries[] = {
    {"open-path", do_open_path, "s", NULL, NULL, {0}},
    {"open-last", do_open_last, NULL, NULL, NULL, {0}},
    {"snapshot", do_snapshot, NULL, NULL, NULL, {0}},
    {"snapshot-go", do_snapshot_go, "s", NULL, NULL, {0}},
    {"snapshot-compare", do_snapshot_compare, "s", NULL, NULL, {0}},
    {"truth", do_truth, NULL, NULL, NULL, {0}},
    {"recipe-open", do_recipe_open, NULL, NULL, NULL, {0}},
    {"recipe-save", do_recipe_save, NULL, NULL, NULL, {0}},
    {"copy-command", do_copy_command, NULL, NULL, NULL, {0}},
    {"pause", do_pause, NULL, "false", NULL, {0}},
    {"cancel", do_cancel, NULL, NULL, NULL, {0}},
    {"import", do_import, NULL, NULL, NULL, {0}},
    {"use-profile", do_use_profile, NULL, NULL, NULL, {0}},
    {"device", do_device, "s", "'auto'", NULL, {0}},
    {"time-unit", do_time_unit, "s", "'auto'", NULL, {0}},
    {"lines", do_lines, "s", "'numbers'", NULL, {0}},
    {"show", do_show, "s", "'output'", NULL, {0}},
    {"volume", do_volume, "s", "''", NULL, {0}},
    {"removed", do_removed, NULL, NULL, NULL, {0}},
    {"split", do_split, NULL, NULL, NULL, {0}},
    {"blink", do_blink, NULL, "false", NULL, {0}},
    {"colours-next", do_colours_next, NULL, NULL, NULL, {0}},
    {"colours-load", do_colours_load, NULL, NULL, NULL, {0}},
    {"colours-menu", do_colours_menu, NULL, NULL, NULL, {0}},
    {"colours", do_colours, "s", NULL, NULL, {0}},
    {"wiggle", do_wiggle, NULL, "false", NULL, {0}},
    {"similarity", do_similarity, NULL, "false", NULL, {0}},
    {"medium", do_medium, NULL, NULL, NULL, {0}},
    {"maximise", do_maximise, "i", NULL, NULL, {0}},
    {"area", do_area, NULL, NULL, NULL, {0}},
    {"fold-left", do_fold_left, NULL, NULL, NULL, {0}},
    {"fold-right", do_fold_right, NULL, NULL, NULL, {0}},
    {"menu", do_menu, NULL, NULL, NULL, {0}},
    {"fullscreen", do_fullscreen, NULL, NULL, NULL, {0}},
};

// --- all of them --------------------------------------------------------------------------------

void litho_window_actions_init(LithoWindow *self)
{
    g_action_map_add_action_entries(G_ACTION_MAP(self), entries, G_N_ELEMENTS(entries), self);
    add_calls(self);
    litho_podium_add_actions(self->podium);
    litho_display_gain_init(G_ACTION_MAP(self), self->session);
    litho_window_keys_init(self);
    litho_window_actions_update(self);
}
