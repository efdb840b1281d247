// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/application.h"

#include <locale.h>
#include <string.h>

#include "core/operator.h"
#include "core/text.h"
#include "render/warm_up.h"
#include "ui/window/commands.h"
#include "ui/session/job.h"
#include "ui/window/measure.h"

struct _LithoApplication {
    GtkApplication parent;
    LithoSettings *settings;
    char *recipe, *operator_key;
    char *operators; // for --help: the program's start takes the option away
    gboolean demo, version;
    LithoMeasure measure; // seconds or scrub > 0: measure and quit
    char *measure_param, *measure_json, *measure_picture, *measure_race;
    int status;
    char *software_gl; // the device's name where OpenGL is computed on the processor, or NULL
    LithoJob *warm_up; // compiles its shaders; or NULL
};

G_DEFINE_TYPE(LithoApplication, litho_application, GTK_TYPE_APPLICATION)

// --- light and dark -----------------------------------------------------------------------------
//
// GTK itself does not ask the desktop; the settings portal does (color-scheme: 1 dark, 2 light).

static gboolean wants_system(GtkApplication *app)
{
    GAction *action = g_action_map_lookup_action(G_ACTION_MAP(app), "appearance");
    g_autoptr(GVariant) state = g_action_get_state(action);
    return strcmp(g_variant_get_string(state, NULL), "system") == 0;
}

static void set_dark(gboolean dark)
{
    g_object_set(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", dark, NULL);
}

// The system does not tell: what it set itself, not what was chosen here before.
static void leave_to_theme(void)
{
    gtk_settings_reset_property(gtk_settings_get_default(), "gtk-application-prefer-dark-theme");
}

static void apply_scheme(GtkApplication *app, GVariant *value)
{
    g_autoptr(GVariant) inner = g_variant_ref(value);
    while (g_variant_is_of_type(inner, G_VARIANT_TYPE_VARIANT)) {
        GVariant *next = g_variant_get_variant(inner);
        g_variant_unref(inner);
        inner = next;
    }
    if (wants_system(app) && g_variant_is_of_type(inner, G_VARIANT_TYPE_UINT32))
        set_dark(g_variant_get_uint32(inner) == 1);
}

static void on_portal_signal(GDBusProxy *proxy, const char *sender, const char *signal,
                             GVariant *arguments, GtkApplication *app)
{
    (void)proxy;
    (void)sender;
    const char *space, *key;
    g_autoptr(GVariant) value = NULL;
    if (strcmp(signal, "SettingChanged") != 0)
        return;
    g_variant_get(arguments, "(&s&sv)", &space, &key, &value);
    if (strcmp(space, "org.freedesktop.appearance") == 0 && strcmp(key, "color-scheme") == 0)
        apply_scheme(app, value);
}

static void on_scheme(GObject *proxy, GAsyncResult *result, gpointer app)
{
    g_autoptr(GVariant) reply = g_dbus_proxy_call_finish(G_DBUS_PROXY(proxy), result, NULL);
    if (reply) {
        g_autoptr(GVariant) value = g_variant_get_child_value(reply, 0);
        apply_scheme(app, value);
    } else if (wants_system(app)) {
        leave_to_theme();
    }
    g_object_unref(app);
}

static void ask_scheme(GDBusProxy *proxy, GtkApplication *app)
{
    g_dbus_proxy_call(proxy, "Read",
                      g_variant_new("(ss)", "org.freedesktop.appearance", "color-scheme"),
                      G_DBUS_CALL_FLAGS_NONE, -1, NULL, on_scheme, g_object_ref(app));
}

static void on_portal(GObject *source, GAsyncResult *result, gpointer app)
{
    (void)source;
    GDBusProxy *proxy = g_dbus_proxy_new_for_bus_finish(result, NULL);
    if (proxy) {
        g_object_set_data_full(app, "litho-portal", proxy, g_object_unref);
        g_signal_connect_object(proxy, "g-signal", G_CALLBACK(on_portal_signal), app, 0);
        ask_scheme(proxy, app);
    }
    g_object_unref(app);
}

static void set_appearance(GtkApplication *app, const char *name)
{
    GDBusProxy *proxy = g_object_get_data(G_OBJECT(app), "litho-portal");
    if (strcmp(name, "system") != 0)
        set_dark(strcmp(name, "dark") == 0);
    else if (proxy)
        ask_scheme(proxy, app);
    else
        leave_to_theme();
}

static void on_appearance(GSimpleAction *action, GVariant *value, gpointer app)
{
    g_simple_action_set_state(action, value);
    LithoSettings *settings = g_object_get_data(app, "litho-settings");
    litho_settings_set_text(settings, "appearance", g_variant_get_string(value, NULL));
    litho_settings_save(settings); // a program that is killed later has kept it
    set_appearance(app, g_variant_get_string(value, NULL));
}

// --- preparation --------------------------------------------------------------------------------

static gboolean theme_is_dark(GtkSettings *settings)
{
    gboolean dark;
    g_autofree char *name = NULL;
    const char *forced = g_getenv("GTK_THEME"); // GTK then asks for nothing else
    if (forced)
        return strstr(forced, "dark") != NULL;
    g_object_get(settings, "gtk-theme-name", &name, "gtk-application-prefer-dark-theme", &dark,
                 NULL);
    return dark || (name && g_str_has_suffix(name, "-dark"));
}

static void follow_theme(GtkSettings *settings, GParamSpec *spec, GtkStyleProvider *dark)
{
    (void)spec;
    GdkDisplay *display = gdk_display_get_default();
    if (theme_is_dark(settings))
        gtk_style_context_add_provider_for_display(display, dark,
                                                   GTK_STYLE_PROVIDER_PRIORITY_APPLICATION + 1);
    else
        gtk_style_context_remove_provider_for_display(display, dark);
}

static void load_style(void)
{
    g_autoptr(GtkCssProvider) css = gtk_css_provider_new(), dark = gtk_css_provider_new();
    gtk_css_provider_load_from_resource(css, "/org/lithoscope/Lithoscope/style.css");
    gtk_css_provider_load_from_resource(dark, "/org/lithoscope/Lithoscope/style-dark.css");
    gtk_style_context_add_provider_for_display(gdk_display_get_default(), GTK_STYLE_PROVIDER(css),
                                               GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
    static const char *const about[] = {"notify::gtk-theme-name",
                                        "notify::gtk-application-prefer-dark-theme"};
    GtkSettings *settings = gtk_settings_get_default();
    for (guint k = 0; k < G_N_ELEMENTS(about); k++)
        g_signal_connect_data(settings, about[k], G_CALLBACK(follow_theme), g_object_ref(dark),
                              (GClosureNotify)(void (*)(void))g_object_unref, 0);
    follow_theme(settings, NULL, GTK_STYLE_PROVIDER(dark));
    gtk_icon_theme_add_resource_path(gtk_icon_theme_get_for_display(gdk_display_get_default()),
                                     "/org/lithoscope/Lithoscope/icons");
}

// Where OpenGL is computed on the processor, GTK would draw the whole window that way for every
// frame; with cairo it draws what has changed. Before the first window; $GSK_RENDERER overrides it.
// Returns the device's name in that case; g_free().
static char *choose_window_renderer(GdkDisplay *display)
{
    char *software = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(GdkGLContext) context = gdk_display_create_gl_context(display, &error);
    if (!context || !gdk_gl_context_realize(context, &error))
        return NULL; // GTK finds that out as well
    gdk_gl_context_make_current(context);
    if (litho_gl_is_software()) {
        g_object_set_data(G_OBJECT(display), "gsk-renderer", (gpointer) "cairo");
        software = litho_gl_device();
    }
    gdk_gl_context_clear_current();
    return software;
}

static gboolean no_inspector(GtkWindow *window, gboolean toggle)
{
    (void)window;
    (void)toggle;
    return TRUE;
}

// Control+Shift+I and D open GTK's inspector in every program. It is a tool for its makers, changes
// whatever a key hits in it and ends the program by a fault of its own; GTK_DEBUG=interactive still
// opens it. Before the first window is made: their classes inherit this.
static void leave_out_inspector(void)
{
    GtkWindowClass *windows = g_type_class_ref(GTK_TYPE_WINDOW); // kept
    windows->enable_debugging = no_inspector;
}

char *litho_application_prepare(GtkApplication *app, LithoSettings *settings)
{
    // GTK has taken the person's locale. The C library's numbers keep their point, which recipes
    // and commands have; what is shown takes the person's mark.
    setlocale(LC_NUMERIC, "C");
    litho_text_take_mark();
    leave_out_inspector();
    char *software = choose_window_renderer(gdk_display_get_default());
    static const GActionEntry entries[] = {
        {"appearance", on_appearance, "s", "'system'", NULL, {0}}};
    load_style();
    gtk_window_set_default_icon_name("org.lithoscope.Lithoscope");
    g_object_set_data(G_OBJECT(app), "litho-settings", settings);
    g_action_map_add_action_entries(G_ACTION_MAP(app), entries, G_N_ELEMENTS(entries), app);
    litho_commands_install(app);
    g_autofree char *name = litho_settings_text(settings, "appearance", "system");
    g_action_group_change_action_state(G_ACTION_GROUP(app), "appearance",
                                       g_variant_new_string(name));
    set_appearance(app, name);
    g_dbus_proxy_new_for_bus(G_BUS_TYPE_SESSION, G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES, NULL,
                             "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop",
                             "org.freedesktop.portal.Settings", NULL, on_portal, g_object_ref(app));
    return software;
}

// --- shaders ------------------------------------------------------------------------------------

static gpointer warm_up(LithoRun *run, gpointer data, GError **error)
{
    LithoApplication *self = data;
    return GINT_TO_POINTER(litho_warm_up(self->software_gl, run, error));
}

static void warmed_up(gpointer result, const GError *error, gpointer data)
{
    (void)result;
    if (error) // the window compiles what it needs when it needs it
        g_debug("shaders were not compiled in advance: %s", error->message);
    ((LithoApplication *)data)->warm_up = NULL;
}

// Beside the start page and while a file is read. Of no use without Mesa's cache.
static void start_warm_up(LithoApplication *self)
{
    static const LithoJobFuncs funcs = {warm_up, NULL, warmed_up, g_object_unref};
    if (self->software_gl && !g_getenv("MESA_SHADER_CACHE_DISABLE") &&
        !g_getenv("MESA_GLSL_CACHE_DISABLE"))
        self->warm_up = litho_job_start(&funcs, g_object_ref(self));
}

// Its thread must not be inside OpenGL while the process ends; it looks up after each shader.
static void end_warm_up(LithoApplication *self)
{
    litho_job_cancel(self->warm_up);
    while (self->warm_up)
        g_main_context_iteration(NULL, TRUE);
}

// --- the program --------------------------------------------------------------------------------

static LithoWindow *window_of(LithoApplication *self)
{
    GtkWindow *window = gtk_application_get_active_window(GTK_APPLICATION(self));
    if (!window)
        window = GTK_WINDOW(litho_window_new(GTK_APPLICATION(self), self->settings));
    gtk_window_present(window);
    return LITHO_WINDOW(window);
}

// Panels that made no operator, once.
static void tell_problems(LithoWindow *window)
{
    static gboolean told;
    const char *const *problems = litho_operators_problems();
    if (told || !*problems)
        return;
    g_autofree char *details = g_strjoinv("\n", (char **)problems);
    litho_window_show_error(window, _("A panel in the folders of operators has a mistake."),
                            details);
    told = TRUE;
}

// Wishes of the command line beside files.
static void apply_options(LithoApplication *self, LithoWindow *window)
{
    g_autofree char *recipe = g_steal_pointer(&self->recipe);
    g_autofree char *key = g_steal_pointer(&self->operator_key);
    tell_problems(window);
    const LithoOperator *op = key ? litho_operator_find(key) : NULL;
    if (recipe)
        litho_window_load_recipe(window, recipe);
    if (op)
        litho_session_add_step(litho_window_session(window), op);
    else if (key)
        litho_window_show_error(window,
                                _("There is no operator of the name given with --operator."), key);
    if (self->demo)
        litho_window_open_demo(window);
    self->demo = FALSE;
    if (self->measure.seconds > 0 || self->measure.scrub > 0) {
        self->measure.param = self->measure_param;
        self->measure.json = self->measure_json;
        self->measure.picture = self->measure_picture;
        self->measure.race = self->measure_race;
        litho_measure_start(window, &self->measure, &self->status);
        self->measure.seconds = self->measure.scrub = 0;
    }
}

static void activate(GApplication *app)
{
    apply_options(LITHO_APPLICATION(app), window_of(LITHO_APPLICATION(app)));
}

static void open_files(GApplication *app, GFile **files, int n, const char *hint)
{
    (void)hint;
    LithoWindow *window = window_of(LITHO_APPLICATION(app));
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    for (int k = 0; k < n; k++) {
        char *path = g_file_get_path(files[k]);
        if (path)
            g_ptr_array_add(paths, path);
    }
    g_ptr_array_add(paths, NULL);
    apply_options(LITHO_APPLICATION(app), window);
    if (paths->len > 1)
        litho_window_open(window, (const char *const *)paths->pdata);
    else
        litho_window_show_error(
            window, _("This place is not on a disk of this machine; copy the file first."), NULL);
}

static void startup(GApplication *app)
{
    G_APPLICATION_CLASS(litho_application_parent_class)->startup(app);
    LithoApplication *self = LITHO_APPLICATION(app);
    self->settings = litho_settings_new(NULL);
    self->software_gl = litho_application_prepare(GTK_APPLICATION(app), self->settings);
    start_warm_up(self);
}

static void shutdown_app(GApplication *app)
{
    enum { PATIENCE_S = 3 };
    end_warm_up(LITHO_APPLICATION(app));
    litho_jobs_end(PATIENCE_S);
    G_APPLICATION_CLASS(litho_application_parent_class)->shutdown(app);
    g_clear_pointer(&LITHO_APPLICATION(app)->settings, litho_settings_free);
}

static void finalize(GObject *object)
{
    g_free(LITHO_APPLICATION(object)->recipe);
    g_free(LITHO_APPLICATION(object)->operators);
    g_free(LITHO_APPLICATION(object)->software_gl);
    g_free(LITHO_APPLICATION(object)->operator_key);
    g_free(LITHO_APPLICATION(object)->measure_param);
    g_free(LITHO_APPLICATION(object)->measure_json);
    g_free(LITHO_APPLICATION(object)->measure_picture);
    g_free(LITHO_APPLICATION(object)->measure_race);
    G_OBJECT_CLASS(litho_application_parent_class)->finalize(object);
}

static int handle_local_options(GApplication *app, GVariantDict *options)
{
    (void)options;
    if (!LITHO_APPLICATION(app)->version)
        return -1; // go on
    g_print("lithoscope %s\n", LITHO_VERSION);
    return 0;
}

static void litho_application_init(LithoApplication *self)
{
    const GOptionEntry options[] = {
        {"recipe", 'r', 0, G_OPTION_ARG_FILENAME, &self->recipe, _("Start with this recipe"),
         "FILE"},
        {"operator", 'o', 0, G_OPTION_ARG_STRING, &self->operator_key,
         _("Start with this operator"), "KEY"},
        {"operators", 0, 0, G_OPTION_ARG_FILENAME, &self->operators,
         _("Add the operators whose panels lie in this folder"), "DIR"},
        {"version", 0, 0, G_OPTION_ARG_NONE, &self->version, _("Print the version and quit"), NULL},
        {"demo", 0, 0, G_OPTION_ARG_NONE, &self->demo, _("Open the demo cube"), NULL},
        {"measure", 0, 0, G_OPTION_ARG_DOUBLE, &self->measure.seconds,
         _("Drag a parameter for so long, print frames, results and latency, and quit"), "SECONDS"},
        {"measure-scrub", 0, 0, G_OPTION_ARG_DOUBLE, &self->measure.scrub,
         _("Sweep slices and turn the 3-D views for so long each, print frames, and quit"),
         "SECONDS"},
        {"measure-similarity", 0, 0, G_OPTION_ARG_NONE, &self->measure.similarity,
         _("Show the similarity of output and removed during the drag, and time it"), NULL},
        {"measure-param", 0, 0, G_OPTION_ARG_STRING, &self->measure_param, _("Parameter to drag"),
         "KEY"},
        {"measure-json", 0, 0, G_OPTION_ARG_FILENAME, &self->measure_json, _("Write the figures"),
         "FILE"},
        {"measure-picture", 0, 0, G_OPTION_ARG_FILENAME, &self->measure_picture,
         _("Write a picture of the window at the end of the drag"), "FILE.png"},
        {"measure-race", 0, 0, G_OPTION_ARG_FILENAME, &self->measure_race,
         _("Hold the race of CPU and GPU too and write its picture"), "FILE.png"},
        {NULL},
    };
    g_application_add_main_option_entries(G_APPLICATION(self), options);
    g_application_set_option_context_parameter_string(G_APPLICATION(self), "[FILE…]");
}

static void litho_application_class_init(LithoApplicationClass *klass)
{
    GApplicationClass *app_class = G_APPLICATION_CLASS(klass);
    G_OBJECT_CLASS(klass)->finalize = finalize;
    app_class->handle_local_options = handle_local_options;
    app_class->activate = activate;
    app_class->open = open_files;
    app_class->startup = startup;
    app_class->shutdown = shutdown_app;
}

int litho_application_status(LithoApplication *self)
{
    return self->status;
}

LithoApplication *litho_application_new(void)
{
    g_set_application_name("Lithoscope");
    return g_object_new(LITHO_TYPE_APPLICATION, "application-id", "org.lithoscope.Lithoscope",
                        "flags", G_APPLICATION_HANDLES_OPEN | G_APPLICATION_NON_UNIQUE, NULL);
}
