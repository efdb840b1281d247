// SPDX-License-Identifier: GPL-3.0-or-later
//
// The window's life: what the session tells becomes visible here.
#include "ui/window/window_private.h"
#include "core/text.h"

#include <string.h>

G_DEFINE_TYPE(LithoWindow, litho_window, GTK_TYPE_APPLICATION_WINDOW)

LithoSession *litho_window_session(LithoWindow *self)
{
    return self->session;
}

LithoCanvas *litho_window_canvas(LithoWindow *self)
{
    return litho_middle_canvas(self->middle);
}

LithoJudgement *litho_window_judgement(LithoWindow *self)
{
    return self->judgement;
}

LithoParamPanel *litho_window_params(LithoWindow *self)
{
    return LITHO_PARAM_PANEL(self->params);
}

LithoWatchdog *litho_window_watchdog(LithoWindow *self)
{
    return self->watchdog;
}

// --- errors and notes ---------------------------------------------------------------------------

// The part of a line that ends where advice about an option begins.
static gsize plain_length(const char *line, gsize length)
{
    static const char *const advice[] = {N_("; give --"), N_(", give --"), N_(": give --"),
                                         N_("; use --"),  " (--",          "; --"};
    for (guint k = 0; k < G_N_ELEMENTS(advice); k++) {
        const char *found = g_strstr_len(line, length, litho_text(advice[k]));
        if (found)
            length = found - line;
    }
    return length;
}

// A plain word, and neither a file name nor an operator's, which keep their case.
static gboolean starts_with_word(const char *text)
{
    gsize n = strspn(text, "abcdefghijklmnopqrstuvwxyz");
    g_autofree char *word = g_strndup(text, n);
    return n > 0 && (text[n] == ' ' || text[n] == ',' || text[n] == 0 ||
                     (g_str_has_prefix(text + n, ": ") && !litho_operator_find(word)));
}

char *litho_plain_sentence(const char *sentence)
{
    GString *text = g_string_new(NULL);
    g_auto(GStrv) lines = g_strsplit(sentence, "\n", -1);
    for (char **line = lines; *line; line++) {
        if (line != lines)
            g_string_append_c(text, '\n');
        g_string_append_len(text, *line, plain_length(*line, strlen(*line)));
    }
    if (starts_with_word(text->str))
        text->str[0] = g_ascii_toupper(text->str[0]);
    return g_string_free(text, FALSE);
}

void litho_window_show_error(LithoWindow *self, const char *sentence, const char *details)
{
    g_autofree char *plain = litho_plain_sentence(sentence);
    litho_open_file_set_failed(self->file, NULL);
    LithoBar *bar = litho_tellers_error(self->tellers);
    litho_bar_set_remedy(bar, FALSE);
    litho_bar_tell(bar, plain, details);
}

void litho_window_clear_error(LithoWindow *self)
{
    litho_tellers_clear_error(self->tellers);
}

const char *litho_window_error(LithoWindow *self)
{
    return litho_bar_text(litho_tellers_error(self->tellers));
}

// --- header -------------------------------------------------------------------------------------

void litho_window_show_title(LithoWindow *self)
{
    const LithoCube *cube = litho_session_input(self->session);
    char **paths = litho_open_file_paths(self->file);
    litho_header_show_title(self->header, cube && cube->survey && paths ? g_strv_length(paths) : 1);
}

static void show_device(LithoWindow *self)
{
    litho_header_show_device(self->header);
}

static void show_compare(LithoWindow *self)
{
    litho_window_show_title(self); // of what is shown
    litho_window_actions_update(self);
}

// --- session ------------------------------------------------------------------------------------

static void on_cube(LithoWindow *self)
{
    gboolean has = litho_session_grid(self->session) != NULL;
    litho_middle_show_views(self->middle, has);
    if (has)
        litho_panels_give_widths(self->panels);
    litho_tellers_show_notes(self->tellers, litho_session_input(self->session));
    show_compare(self);
    if (has && !gtk_window_get_focus(GTK_WINDOW(self))) // arrows step its slice at once
        gtk_widget_grab_focus(GTK_WIDGET(litho_canvas_active_view(litho_window_canvas(self))));
}

static void on_result(LithoWindow *self)
{
    const GError *problem = litho_session_problem(self->session);
    if (problem)
        litho_window_show_error(self, problem->message, NULL);
    litho_tellers_set_problem(self->tellers, problem != NULL);
    const LithoGrid *grid = litho_session_grid(self->session);
    if (grid) {
        litho_middle_show_views(self->middle, TRUE);
        litho_middle_follow_section(self->middle, grid);
    }
    if (litho_flow_source(litho_session_flow(self->session)))
        litho_tellers_show_notes(self->tellers, NULL); // they are of a file that is not read
    show_compare(self);
    litho_window_result_arrived(self);
    litho_window_state_result(self);
}

static void on_gl_known(LithoWindow *self)
{
    gboolean failed;
    const char *name = litho_canvas_gl_name(litho_window_canvas(self), &failed);
    if (failed)
        litho_window_show_error(self,
                                _("The pictures need OpenGL 3.2 or newer, which this display "
                                  "does not offer."),
                                name);
}

static void on_snapshot_failed(LithoSnapshots *snapshots, const char *sentence, LithoWindow *self)
{
    (void)snapshots;
    litho_window_show_error(self, sentence, NULL);
}

static void connect_session(LithoWindow *self)
{
    const struct {
        const char *signal;
        void (*func)(LithoWindow *self);
    } wires[] = {{"cube-changed", on_cube},
                 {"flow-changed", show_compare},
                 {"flow-changed", litho_window_offer_velocity},
                 {"params-changed", litho_window_offer_velocity},
                 {"params-changed", litho_window_actions_update},
                 {"result", on_result},
                 {"device-changed", show_device},
                 {"display-changed", show_compare}};
    for (guint k = 0; k < G_N_ELEMENTS(wires); k++)
        g_signal_connect_object(self->session, wires[k].signal, G_CALLBACK(wires[k].func), self,
                                G_CONNECT_SWAPPED);
}

// --- parts ---------------------------------------------------------------------------------------

void litho_window_update_start(LithoWindow *self)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *name = NULL, *about = litho_window_state_last(&name, &error);
    litho_start_page_update(litho_middle_start(self->middle), self->settings, name, about);
    if (error) {
        litho_window_show_error(self, error->message, NULL);
        g_free(self->damaged);
        self->damaged = g_strdup(litho_window_error(self));
    }
}

void litho_window_show_panel(LithoWindow *self, int panel, gboolean shown)
{
    litho_panels_show(self->panels, panel, shown);
}

gboolean litho_window_wants_panel(LithoWindow *self, int panel)
{
    return litho_panels_wants(self->panels, panel);
}

// --- settings -----------------------------------------------------------------------------------

static void restore_units(LithoWindow *self)
{
    static const char *const names[][2] = {{"time-unit", "auto"}, {"lines", "numbers"}};
    for (guint k = 0; k < G_N_ELEMENTS(names); k++) {
        g_autofree char *value = litho_settings_text(self->settings, names[k][0], names[k][1]);
        g_action_group_activate_action(G_ACTION_GROUP(self), names[k][0],
                                       g_variant_new_string(value));
    }
}

static void remember_units(LithoWindow *self)
{
    static const char *const names[] = {"time-unit", "lines"};
    for (guint k = 0; k < G_N_ELEMENTS(names); k++) {
        g_autoptr(GVariant) state = g_action_group_get_action_state(G_ACTION_GROUP(self), names[k]);
        litho_settings_set_text(self->settings, names[k], g_variant_get_string(state, NULL));
    }
}

static void restore(LithoWindow *self)
{
    LithoSettings *s = self->settings;
    LithoSimilarityWidths widths;
    g_autofree char *similarity = litho_settings_text(s, "similarity", "");
    if (*similarity && litho_similarity_widths_parse(similarity, &widths, NULL))
        litho_judgement_set_widths(self->judgement, widths);
    litho_panels_restore(self->panels, s);
    restore_units(self);
    gtk_window_set_default_size(GTK_WINDOW(self), litho_settings_int(s, "width", 1280),
                                litho_settings_int(s, "height", 800));
    if (litho_settings_int(s, "maximised", 0))
        gtk_window_maximize(GTK_WINDOW(self));
    g_autofree char *colours = litho_settings_text(s, "colours", "");
    LithoLook look = litho_session_display(self->session)->look;
    litho_window_restore_colours(self);
    look.map = litho_window_find_colours(self, colours);
    litho_session_set_look(self->session, &look);
    g_autofree char *device = litho_settings_text(s, "device", "auto");
    litho_session_set_device(self->session, device);
}

static void remember(LithoWindow *self)
{
    LithoSettings *s = self->settings;
    int width, height;
    gtk_window_get_default_size(GTK_WINDOW(self), &width, &height);
    litho_settings_set_int(s, "width", width);
    litho_settings_set_int(s, "height", height);
    litho_settings_set_int(s, "maximised", gtk_window_is_maximized(GTK_WINDOW(self)));
    litho_panels_remember(self->panels, s);
    remember_units(self);
    const LithoColormap *map = litho_session_display(self->session)->look.map;
    litho_settings_set_text(s, "colours", map ? map->name : "");
    g_autofree char *widths =
        litho_similarity_widths_print(litho_judgement_widths(self->judgement));
    litho_settings_set_text(s, "similarity", widths);
    litho_settings_set_text(s, "device", litho_session_wanted_device(self->session));
}

// A visible modal dialog of `window`, or of one of its dialogs; NULL = none is open.
static GtkWindow *modal_dialog(GtkWindow *window)
{
    g_autoptr(GList) toplevels = gtk_window_list_toplevels();
    for (GList *l = toplevels; l; l = l->next) {
        GtkWindow *parent = gtk_window_get_transient_for(l->data);
        while (parent && parent != window)
            parent = gtk_window_get_transient_for(parent);
        if (parent && gtk_window_get_modal(l->data) && gtk_widget_get_visible(l->data))
            return l->data;
    }
    return NULL;
}

// GTK drops the close button's event while a modal dialog is open. The window's dialogs are closed
// first, as by their own close buttons; GTK then closes the window with the same event.
static gboolean before_event(GSignalInvocationHint *hint, guint n_values, const GValue *values,
                             gpointer data)
{
    (void)hint, (void)n_values, (void)data;
    GdkEvent *event = g_value_peek_pointer(&values[1]);
    if (gdk_event_get_event_type(event) != GDK_DELETE)
        return TRUE;
    GtkNative *native = gtk_native_get_for_surface(gdk_event_get_surface(event));
    if (!native || !LITHO_IS_WINDOW(native))
        return TRUE;
    GtkWindow *dialog;
    for (int k = 0; k < 16 && (dialog = modal_dialog(GTK_WINDOW(native))) != NULL; k++)
        gtk_window_close(dialog);
    return TRUE;
}

static gboolean close_request(GtkWindow *window)
{
    LithoWindow *self = LITHO_WINDOW(window);
    if (!litho_window_may_close(self))
        return TRUE;
    litho_podium_present(self->podium, FALSE); // what it puts away is no choice to remember
    remember(self);
    litho_window_state_flush(self);
    litho_job_bar_cancel(self->job);
    return GTK_WINDOW_CLASS(litho_window_parent_class)->close_request(window);
}

// --- the object ---------------------------------------------------------------------------------

static void dispose(GObject *object)
{
    LithoWindow *self = LITHO_WINDOW(object);
    g_clear_pointer(&self->podium, litho_podium_free); // first: it puts things back in their places
    g_clear_pointer(&self->blink, litho_blink_free);
    g_clear_pointer(&self->busy, litho_busy_line_free);
    litho_tellers_stop(self->tellers);
    g_clear_pointer(&self->panels, litho_panels_free);
    g_clear_pointer(&self->watchdog, litho_watchdog_free);
    g_clear_pointer(&self->writer, litho_state_writer_free);
    if (self->snapshots)
        g_object_run_dispose(G_OBJECT(self->snapshots)); // its job holds a reference
    g_clear_object(&self->snapshots);
    if (self->judgement)
        g_object_run_dispose(G_OBJECT(self->judgement)); // its jobs hold references
    g_clear_object(&self->judgement);
    g_clear_pointer(&self->colours, g_ptr_array_unref);
    G_OBJECT_CLASS(litho_window_parent_class)->dispose(object);
    if (self->session) {
        g_object_run_dispose(G_OBJECT(self->session)); // joins the worker although jobs hold a ref
        g_clear_object(&self->session);
    }
}

static void finalize(GObject *object)
{
    LithoWindow *self = LITHO_WINDOW(object);
    litho_tellers_free(self->tellers);
    litho_middle_free(self->middle);
    litho_open_file_free(self->file);
    litho_job_bar_free(self->job); // every job holds a reference to its window
    g_free(self->damaged);
    G_OBJECT_CLASS(litho_window_parent_class)->finalize(object);
}

static void on_realize(LithoWindow *self)
{
    litho_watchdog_follow(gtk_widget_get_frame_clock(GTK_WIDGET(self)));
}

static void litho_window_init(LithoWindow *self)
{
    self->session = litho_session_new();
    self->file = litho_open_file_new();
    self->watchdog = litho_watchdog_new();
    g_signal_connect_after(self, "realize", G_CALLBACK(on_realize), NULL);
    self->snapshots = litho_snapshots_new(self->session);
    self->colours = g_ptr_array_new();
    self->judgement = litho_judgement_new(self->session);
    self->blink = litho_blink_new(self->session);
    litho_window_build(self);
    litho_window_state_init(self);
    litho_window_actions_init(self);
    connect_session(self);
    g_signal_connect_object(self->snapshots, "changed", G_CALLBACK(litho_window_actions_update),
                            self, G_CONNECT_SWAPPED);
    g_signal_connect_object(self->judgement, "changed", G_CALLBACK(litho_window_actions_update),
                            self, G_CONNECT_SWAPPED);
    g_signal_connect_object(self->snapshots, "failed", G_CALLBACK(on_snapshot_failed), self, 0);
    g_signal_connect_object(litho_canvas_area(litho_window_canvas(self)), "realize",
                            G_CALLBACK(on_gl_known), self, G_CONNECT_SWAPPED | G_CONNECT_AFTER);
    litho_window_drop_init(self);
    gtk_widget_add_css_class(GTK_WIDGET(self), "lithoscope");
    on_cube(self);
    show_device(self);
}

static void litho_window_class_init(LithoWindowClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
    G_OBJECT_CLASS(klass)->finalize = finalize;
    GTK_WINDOW_CLASS(klass)->close_request = close_request;
    // The hook runs before the handlers of the surface's "event", GTK's own among them.
    g_type_class_unref(g_type_class_ref(GDK_TYPE_SURFACE));
    g_signal_add_emission_hook(g_signal_lookup("event", GDK_TYPE_SURFACE), 0, before_event, NULL,
                               NULL);
    g_signal_new("job-done", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                 G_TYPE_NONE, 2, G_TYPE_STRING, G_TYPE_BOOLEAN);
}

GtkWidget *litho_window_new(GtkApplication *app, LithoSettings *settings)
{
    LithoWindow *self = g_object_new(LITHO_TYPE_WINDOW, "application", app, NULL);
    self->settings = settings;
    restore(self);
    litho_window_update_start(self);
    litho_start_page_focus(litho_middle_start(self->middle));
    litho_panels_begin(self->panels);
    return GTK_WIDGET(self);
}
