// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/gui.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/calm.h"
#include "kernels/kernels.h"
#include "kernels/template/template.h"
#include "ui/window/window_private.h"

void gui_register(const LithoOperator *op)
{
    static const LithoOperator *table[32];
    guint n = 0;
    for (const LithoOperator *const *k = litho_operators(); k && *k; k++)
        table[n++] = *k;
    g_assert_cmpuint(n, <, G_N_ELEMENTS(table) - 1);
    table[n] = op;
    litho_operators_register(table);
}

// A folder of the test's own keeps its settings apart from the settings of the machine's user.
static char *home;

static void isolate(void)
{
    static const char *const names[] = {"XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
                                        "XDG_CACHE_HOME"};
    home = g_dir_make_tmp("lithoscope-home-XXXXXX", NULL);
    for (guint k = 0; home && k < G_N_ELEMENTS(names); k++)
        g_setenv(names[k], home, TRUE);
}

void gui_remove_tree(const char *path)
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *inside = g_build_filename(path, name, NULL);
        if (g_file_test(inside, G_FILE_TEST_IS_DIR) && !g_file_test(inside, G_FILE_TEST_IS_SYMLINK))
            gui_remove_tree(inside);
        else
            g_remove(inside);
    }
    g_rmdir(path);
}

void gui_init(int *argc, char ***argv)
{
    litho_threads_calm(*argv); // as the program does
    isolate();
    g_setenv("GTK_A11Y", "none", FALSE); // unless the test is about it
    g_setenv("GDK_BACKEND", "x11", FALSE);
    g_setenv("GSETTINGS_BACKEND", "memory", TRUE);
    litho_kernels_init();
    gui_register(&litho_operator_template); // quick, exact, and there whatever else is built
    g_set_application_name("Lithoscope");
    if (!gtk_init_check()) {
        printf("1..0 # SKIP there is no display\n");
        exit(77);
    }
    // GTK itself warns about the bare environment of a test (no bus, no settings portal).
    g_test_init(argc, argv, NULL);
    g_log_set_always_fatal(G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
}

static void make_window(Gui *gui)
{
    gui->window = LITHO_WINDOW(litho_window_new(gui->app, gui->settings));
    gui->session = litho_window_session(gui->window);
    gui->mirror = gtk_widget_paintable_new(GTK_WIDGET(gui->window));
    gtk_window_present(GTK_WINDOW(gui->window));
    gui_spin(gui, 0.3);
}

void gui_open(Gui *gui, int width, int height)
{
    g_autoptr(GError) error = NULL;
    gui->folder = g_dir_make_tmp("lithoscope-gui-XXXXXX", &error);
    g_assert_no_error(error);
    g_autofree char *ini = gui_path(gui, "settings.ini");
    gui->settings = litho_settings_new(ini);
    litho_settings_set_text(gui->settings, "device", "cpu");
    if (g_getenv("LITHO_WINDOW_DARK"))
        litho_settings_set_text(gui->settings, "appearance", "dark");
    litho_settings_set_int(gui->settings, "width", width);
    litho_settings_set_int(gui->settings, "height", height);
    gui->app = gtk_application_new(NULL, G_APPLICATION_NON_UNIQUE);
    g_application_register(G_APPLICATION(gui->app), NULL, &error);
    g_assert_no_error(error);
    g_free(litho_application_prepare(gui->app, gui->settings));
    make_window(gui);
}

void gui_reopen(Gui *gui)
{
    g_clear_object(&gui->mirror);
    if (gui->window) // else it has closed itself
        gtk_window_close(GTK_WINDOW(gui->window));
    gui_spin(gui, 0.2);
    make_window(gui);
}

void gui_open_sized(Gui *gui)
{
    gboolean large = g_strcmp0(g_getenv("LITHO_WINDOW_SIZE"), "large") == 0;
    gui_open(gui, large ? 2560 : 1280, large ? 1440 : 800);
}

void gui_close(Gui *gui)
{
    g_clear_object(&gui->mirror);
    gtk_window_destroy(GTK_WINDOW(gui->window));
    gui_spin(gui, 0.1);
    g_clear_object(&gui->app);
    litho_settings_free(gui->settings);
    gui_remove_tree(gui->folder);
    if (home)
        gui_remove_tree(home);
    g_free(gui->folder);
}

char *gui_path(Gui *gui, const char *name)
{
    return g_build_filename(gui->folder, name, NULL);
}

static gboolean ring(gpointer data)
{
    *(gboolean *)data = TRUE;
    return G_SOURCE_REMOVE;
}

gboolean gui_wait(gboolean (*done)(Gui *gui), Gui *gui, double seconds)
{
    gboolean late = FALSE;
    guint alarm = g_timeout_add((guint)(seconds * 1000), ring, &late);
    gboolean ok;
    while (!(ok = done && done(gui)) && !late)
        g_main_context_iteration(NULL, TRUE);
    if (!late)
        g_source_remove(alarm);
    return ok;
}

// Windows that have yet to draw the frames they were asked for.
static int windows_due;

static gboolean one_frame_less(G_GNUC_UNUSED GtkWidget *window, G_GNUC_UNUSED GdkFrameClock *clock,
                               gpointer frames)
{
    return --*(int *)frames > 0 ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

// They were drawn, or the window is gone.
static void window_done(gpointer frames)
{
    g_free(frames);
    windows_due--;
}

static gboolean all_drawn(G_GNUC_UNUSED Gui *gui)
{
    return windows_due == 0;
}

// A window has its size and its texts after the next frame, which a busy machine draws late.
void gui_spin(Gui *gui, double seconds)
{
    gui_wait(NULL, gui, seconds / 2);
    GListModel *windows = gtk_window_get_toplevels();
    for (guint k = 0; k < g_list_model_get_n_items(windows); k++) {
        g_autoptr(GtkWidget) window = g_list_model_get_item(windows, k);
        int *frames = g_new(int, 1);
        *frames = 2;
        if (gtk_widget_get_mapped(window)) {
            windows_due++;
            gtk_widget_add_tick_callback(window, one_frame_less, frames, window_done);
        } else
            g_free(frames);
    }
    gui_wait(NULL, gui, seconds / 2);
    gui_wait(all_drawn, gui, 5);
}

static gboolean settled(Gui *gui)
{
    LithoVolumeInfo info;
    litho_canvas_volume_info(litho_window_canvas(gui->window), &info);
    return !litho_window_is_busy(gui->window) && !litho_session_progress(gui->session, NULL) &&
           !litho_session_pages_wanted(gui->session) && info.pending_bytes == 0 &&
           litho_canvas_is_whole(litho_window_canvas(gui->window));
}

void gui_settle(Gui *gui)
{
    gui_spin(gui, 0.05);
    g_assert_true(gui_wait(settled, gui, 60));
    gui_spin(gui, 0.8); // numbers and panels, which follow at their own pace
}

gboolean gui_has_input(Gui *gui)
{
    return litho_session_input(gui->session) && !litho_window_is_busy(gui->window);
}

gboolean gui_has_output(Gui *gui)
{
    return litho_session_output(gui->session) != NULL;
}

float gui_output_at(Gui *gui, gint64 i, gint64 j, gint64 k)
{
    float x = 0;
    g_assert_true(litho_session_sample(gui->session, TRUE, (const gint64[]){i, j, k}, &x));
    return x;
}

gboolean gui_is_free(Gui *gui)
{
    return !litho_window_is_busy(gui->window);
}

GtkWidget *gui_find_type(GtkWidget *widget, GType type)
{
    if (G_TYPE_CHECK_INSTANCE_TYPE(widget, type))
        return widget;
    for (GtkWidget *c = gtk_widget_get_first_child(widget); c; c = gtk_widget_get_next_sibling(c)) {
        GtkWidget *found = gui_find_type(c, type);
        if (found)
            return found;
    }
    return NULL;
}

GtkLabel *gui_find_label(GtkWidget *widget, const char *text)
{
    if (GTK_IS_LABEL(widget) && strcmp(gtk_label_get_text(GTK_LABEL(widget)), text) == 0)
        return GTK_LABEL(widget);
    GtkLabel *found = NULL;
    for (GtkWidget *c = gtk_widget_get_first_child(widget); c && !found;
         c = gtk_widget_get_next_sibling(c))
        found = gui_find_label(c, text);
    return found;
}

gboolean gui_label_says(GtkWidget *widget, const char *text)
{
    if (GTK_IS_LABEL(widget) && strstr(gtk_label_get_text(GTK_LABEL(widget)), text))
        return TRUE;
    for (GtkWidget *c = gtk_widget_get_first_child(widget); c; c = gtk_widget_get_next_sibling(c))
        if (gui_label_says(c, text))
            return TRUE;
    return FALSE;
}

// --- pictures -----------------------------------------------------------------------------------

static GdkTexture *picture_of(Gui *gui, GtkWidget *widget, GdkPaintable *mirror)
{
    int w = gtk_widget_get_width(widget), h = gtk_widget_get_height(widget);
    g_autoptr(GskRenderNode) node = NULL;
    for (int k = 0; k < 50 && !node; k++) { // empty until the window has drawn itself
        g_autoptr(GtkSnapshot) snapshot = gtk_snapshot_new();
        gdk_paintable_snapshot(mirror, snapshot, w, h);
        node = gtk_snapshot_to_node(snapshot);
        if (!node)
            gui_spin(gui, 0.1);
    }
    g_assert_nonnull(node);
    GskRenderer *renderer = gtk_native_get_renderer(GTK_NATIVE(widget));
    return gsk_renderer_render_texture(renderer, node, &GRAPHENE_RECT_INIT(0, 0, w, h));
}

static gboolean is_whole(Gui *gui)
{
    return litho_canvas_is_whole(litho_window_canvas(gui->window)) ||
           !gtk_widget_get_mapped(GTK_WIDGET(litho_window_canvas(gui->window)));
}

GdkTexture *gui_picture(Gui *gui)
{
    gui_wait(is_whole, gui, 20); // a software OpenGL paints beside the window
    gui_spin(gui, 0.05);
    return picture_of(gui, GTK_WIDGET(gui->window), gui->mirror);
}

static void save(GdkTexture *picture, const char *name)
{
    g_autofree char *path = g_strdup_printf("%s/%s.png", g_getenv("LITHO_SCREENSHOTS"), name);
    g_assert_true(gdk_texture_save_to_png(picture, path));
}

void gui_screenshot(Gui *gui, const char *name)
{
    if (!g_getenv("LITHO_SCREENSHOTS"))
        return;
    g_autoptr(GdkTexture) picture = gui_picture(gui);
    save(picture, name);
}

void gui_screenshot_of(Gui *gui, GtkWidget *window, const char *name)
{
    if (!g_getenv("LITHO_SCREENSHOTS"))
        return;
    g_autoptr(GdkPaintable) mirror = gtk_widget_paintable_new(window);
    gtk_widget_queue_draw(window);
    gui_spin(gui, 0.3);
    g_autoptr(GdkTexture) picture = picture_of(gui, window, mirror);
    save(picture, name);
}

double gui_difference(Gui *gui, GdkTexture *a, GdkTexture *b)
{
    int w = gdk_texture_get_width(a), h = gdk_texture_get_height(a);
    g_assert_cmpint(w, ==, gdk_texture_get_width(b));
    g_assert_cmpint(h, ==, gdk_texture_get_height(b));
    g_autofree guint32 *p = g_new(guint32, (gsize)w * h), *q = g_new(guint32, (gsize)w * h);
    gdk_texture_download(a, (guchar *)p, 4 * (gsize)w);
    gdk_texture_download(b, (guchar *)q, 4 * (gsize)w);
    graphene_rect_t r;
    g_assert_true(gtk_widget_compute_bounds(GTK_WIDGET(litho_window_canvas(gui->window)),
                                            GTK_WIDGET(gui->window), &r));
    guint64 differ = 0, all = 0;
    for (int y = (int)r.origin.y; y < MIN(h, (int)(r.origin.y + r.size.height)); y++)
        for (int x = (int)r.origin.x; x < MIN(w, (int)(r.origin.x + r.size.width)); x++) {
            differ += p[(gsize)y * w + x] != q[(gsize)y * w + x];
            all++;
        }
    return all ? (double)differ / all : 0;
}

void gui_activate(Gui *gui, const char *action)
{
    g_autofree char *name = NULL;
    GVariant *target = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(g_action_parse_detailed_name(action, &name, &target, &error));
    g_assert_no_error(error);
    g_assert_true(gtk_widget_activate_action_variant(GTK_WIDGET(gui->window), name, target));
    g_clear_pointer(&target, g_variant_unref);
}

void gui_assert_same(const LithoCube *a, const LithoCube *b)
{
    g_assert_true(litho_grid_same_shape(&a->grid, &b->grid));
    gsize bytes = 4 * a->grid.axis[2].n;
    for (gint64 i = 0; i < a->grid.axis[0].n; i++)
        for (gint64 j = 0; j < a->grid.axis[1].n; j++)
            if (litho_cube_is_live(a, i, j))
                g_assert_cmpmem(litho_cube_trace(a, i, j), bytes, litho_cube_trace(b, i, j), bytes);
}

void gui_use_operator(Gui *gui, const LithoOperator *op)
{
    while (litho_flow_length(litho_session_flow(gui->session)) > 0)
        litho_session_remove_step(gui->session, 0);
    litho_session_add_step(gui->session, op);
}

void gui_set_param(Gui *gui, const LithoOperator *op, const char *key, double value)
{
    g_autoptr(GError) error = NULL;
    const LithoParam *row = litho_param_find(&op->params, key);
    litho_session_set_param(gui->session, 0, row, value, NULL, &error);
    g_assert_no_error(error);
}

void gui_use_flow(Gui *gui, const char *key, const char *const *words)
{
    g_autoptr(LithoFlow) flow = litho_flow_new();
    const LithoOperator *op = litho_operator_find(key);
    LithoStep *step = litho_flow_step(flow, litho_flow_append(flow, op));
    for (; *words; words++)
        g_assert_true(litho_operator_set(op, step->params, *words, NULL));
    litho_session_set_flow(gui->session, flow, "test");
}

LithoQualityPanel *gui_quality_panel(Gui *gui)
{
    return LITHO_QUALITY_PANEL(gui_find_type(
        litho_panels_get(gui->window->panels, LITHO_PANEL_RIGHT), LITHO_TYPE_QUALITY_PANEL));
}

gboolean gui_is_judged(Gui *gui)
{
    gboolean fresh;
    return litho_judgement_figures(gui->window->judgement, &fresh) && fresh;
}
