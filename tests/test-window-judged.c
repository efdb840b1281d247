// SPDX-License-Identifier: GPL-3.0-or-later
//
// Figures of a result in the window: whether another filter, or another setting, would be better,
// and the noise level that they rest on.
#include <math.h>

#include "core/synth/synth.h"
#include "tests/gui/files.h"
#include "ui/window/window_private.h"

static Gui gui;

// Opens a generated cube, of words like "inlines=24 noise=mixed".
static void open_made(const char *kind, const char *settings)
{
    const LithoSynth *synth = litho_synth_find(kind);
    g_autofree void *params = g_malloc0(synth->params.size);
    litho_param_defaults(&synth->params, params);
    g_auto(GStrv) words = g_strsplit_set(settings, " =", -1);
    for (char **word = words; *word; word += 2)
        g_assert_true(litho_param_parse(&synth->params, params, word[0], word[1], NULL));
    g_autoptr(LithoCube) noisy = NULL;
    g_assert_true(synth->make(params, NULL, &noisy, NULL, NULL, NULL));
    litho_session_set_input(gui.session, noisy);
}

// Property: a filter that leaves noise which neighbours share is told so, and which operator
// measures it; that one is not told to try itself.
static void test_noise_stays(void)
{
    open_made("curved", "inlines=48 xlines=48 samples=160 seed=5 noise=mixed snr=0");
    gui_use_flow(&gui, "fx", (const char *[]){"shared=off", NULL});
    GtkWidget *quality = GTK_WIDGET(gui_quality_panel(&gui));
    g_assert_true(gui_wait(gui_is_judged, &gui, 60));
    g_assert_true(gui_label_says(quality, "stays: try 'Local Fourier filter'"));
    gui_screenshot(&gui, "judged-noise-stays");
    gui_use_flow(&gui, "patch", (const char *[]){NULL});
    g_assert_true(gui_wait(gui_is_judged, &gui, 60));
    g_assert_false(gui_label_says(quality, "stays"));
    g_assert_true(gui_label_says(quality, "the noise has"));
}

// Property: an output better than the input is not called good where another setting has done
// better on the area in view.
static void test_best(void)
{
    open_made("planes", "inlines=24 xlines=24 samples=96");
    gui_use_flow(&gui, "patch", (const char *[]){NULL});
    LithoJudgement *judgement = gui.window->judgement;
    GtkWidget *quality = GTK_WIDGET(gui_quality_panel(&gui));
    g_assert_true(gui_wait(gui_is_judged, &gui, 60));
    const double best = litho_judgement_figures(judgement, NULL)->expected_snr_db;
    g_assert_cmpfloat(litho_judgement_best_db(judgement), ==, best);
    g_assert_false(gui_label_says(quality, "were reached before"));
    gui_set_param(&gui, litho_operator_find("patch"), "threshold", 8);
    g_assert_true(gui_wait(gui_is_judged, &gui, 60));
    const double worse = litho_judgement_figures(judgement, NULL)->expected_snr_db;
    g_test_message("%.2f dB, then %.2f", best, worse);
    g_assert_cmpfloat(worse, <, best - 0.5);
    g_assert_cmpfloat(litho_judgement_best_db(judgement), ==, best);
    g_assert_true(gui_label_says(quality, "were reached before"));
    gui_screenshot(&gui, "judged-best");
    gui_set_param(&gui, litho_operator_find("patch"), "threshold", 0);
    g_assert_true(gui_wait(gui_is_judged, &gui, 60));
    g_assert_false(gui_label_says(quality, "were reached before"));
    open_made("planes", "inlines=10 xlines=12 samples=96");
    g_assert_true(isnan(litho_judgement_best_db(judgement)));
}

// Property: the noise level that the expected SNR rests on is shown, and another one can be typed:
// the figures follow, and the measured one is back where none is typed. Another file has its own.
static void test_level(void)
{
    open_made("planes", "inlines=24 xlines=24 samples=96");
    gui_use_flow(&gui, "patch", (const char *[]){NULL});
    LithoJudgement *judgement = gui.window->judgement;
    GtkWidget *quality = GTK_WIDGET(gui_quality_panel(&gui));
    g_assert_true(gui_wait(gui_is_judged, &gui, 60));
    const double sigma = litho_judgement_figures(judgement, NULL)->noise_sigma;
    const double snr = litho_judgement_figures(judgement, NULL)->expected_snr_db;
    g_assert_true(gui_label_says(quality, "Measured: "));
    litho_judgement_set_sigma(judgement, 1.1 * sigma);
    g_assert_false(gui_is_judged(&gui));
    g_assert_true(gui_wait(gui_is_judged, &gui, 60));
    g_assert_true(gui_label_says(quality, "Typed: "));
    const LithoQuality *q = litho_judgement_figures(judgement, NULL);
    g_test_message("%g, %.2f dB; with %g %.2f dB", sigma, snr, q->noise_sigma, q->expected_snr_db);
    g_assert_cmpfloat(q->noise_sigma, ==, 1.1 * sigma);
    g_assert_cmpfloat(fabs(q->expected_snr_db - snr), >, 0.1);
    litho_judgement_set_sigma(judgement, 0);
    g_assert_true(gui_wait(gui_is_judged, &gui, 60));
    g_assert_cmpfloat(litho_judgement_figures(judgement, NULL)->expected_snr_db, ==, snr);
    litho_judgement_set_sigma(judgement, 2);
    open_made("planes", "inlines=10 xlines=12 samples=96");
    g_assert_cmpfloat(litho_judgement_sigma(judgement), ==, 0);
}

static gboolean is_beside(Gui *g)
{
    return gui_is_judged(g) && litho_judgement_map_is_beside(g->window->judgement, LITHO_INLINE) &&
           litho_judgement_map_is_beside(g->window->judgement, LITHO_SAMPLE);
}

static gboolean has_plain_map(Gui *g)
{
    return litho_judgement_map(g->window->judgement, LITHO_INLINE) &&
           !litho_judgement_map_is_beside(g->window->judgement, LITHO_INLINE);
}

static double map_mean(void)
{
    const LithoCube *map = litho_judgement_map(gui.window->judgement, LITHO_INLINE);
    const gint64 n = litho_box_count(map->held);
    double sum = 0;
    for (gint64 k = 0; k < n; k++)
        sum += map->samples[k];
    return sum / (double)n;
}

// |c| of the similarity as it is, on the inline in front.
static double plain_mean(void)
{
    const LithoCube *in = litho_session_input(gui.session);
    const LithoBox slice = litho_box_slice(&in->grid, LITHO_INLINE,
                                           litho_session_display(gui.session)->slice[LITHO_INLINE]);
    g_autoptr(LithoCube) map = NULL;
    double sum = 0;
    g_assert_true(
        litho_similarity(in, litho_session_output(gui.session), slice, NULL, NULL, &map, NULL));
    for (gint64 k = 0; k < litho_box_count(slice); k++)
        sum += map->samples[k] / (double)litho_box_count(slice);
    return sum;
}

// Property: once the figures know the noise, the overlay is beside it: a threshold that lets half
// of the noise stay is dark, where the similarity as it is would paint the section; another setting
// is shown as it is until its own figures are there, and agrees with them: the place that they name
// is marked.
static void test_similarity(void)
{
    open_made("conflict", "inlines=32 xlines=32 samples=96 snr=0 seed=9");
    gui_use_flow(&gui, "patch", (const char *[]){"threshold=1", NULL});
    LithoJudgement *judgement = gui.window->judgement;
    gui_activate(&gui, "win.similarity");
    g_assert_true(gui_wait(is_beside, &gui, 60));
    gui_settle(&gui);
    gui_screenshot(&gui, "judged-similarity");
    g_test_message("mean %.3f, as it is %.3f", map_mean(), plain_mean());
    g_assert_cmpfloat(plain_mean(), >, 0.3);
    g_assert_cmpfloat(map_mean(), <, 0.15);

    gui_set_param(&gui, litho_operator_find("patch"), "threshold", 9);
    g_assert_true(gui_wait(has_plain_map, &gui, 60));
    g_assert_null(litho_judgement_beside(judgement));
    g_assert_true(gui_wait(is_beside, &gui, 60));
    const LithoQuality *q = litho_judgement_figures(judgement, NULL);
    const gint64 *worst = q->leak.worst;
    g_assert_cmpfloat(q->leak.beside_noise, >, 0);
    for (int a = 0; a < 3; a++)
        litho_session_set_slice(gui.session, a, worst[a]);
    const gint64 at[3] = {worst[0], worst[1], worst[2]};
    g_assert_true(gui_wait(is_beside, &gui, 60));
    for (int a = 0; a < 3; a++) {
        const LithoCube *map = litho_judgement_map(judgement, a);
        const double c = litho_cube_trace(map, at[0], at[1])[at[2] - map->held.lo[2]];
        g_test_message("at %d %d %d, across axis %d: %.3f", (int)at[0], (int)at[1], (int)at[2], a,
                       c);
        g_assert_cmpfloat(c, >, LITHO_SIMILAR);
    }
    gui_activate(&gui, "win.similarity");
    g_assert_null(litho_judgement_map(judgement, LITHO_INLINE));
}

static gboolean has_plain_crossline(Gui *g)
{
    return litho_judgement_map(g->window->judgement, LITHO_XLINE) &&
           !litho_judgement_map_is_beside(g->window->judgement, LITHO_XLINE);
}

static gboolean says_level(Gui *g)
{
    return gui_label_says(GTK_WIDGET(gui_quality_panel(g)), "noise level ");
}

// Property: of a survey larger than what is judged the panel says how far its first figures have
// come, and then that they are of the middle, or of what is in view; of all of a survey it says
// nothing. The similarity beside the noise is of that part; a slice without any of it is as it is.
static void test_area(void)
{
    GtkWidget *quality = GTK_WIDGET(gui_quality_panel(&gui));
    open_made("planes", "inlines=160 xlines=168 samples=160");
    gui_use_operator(&gui, litho_operator_find("template"));
    g_assert_true(gui_wait(says_level, &gui, 60));
    g_assert_true(gui_wait(gui_is_judged, &gui, 120));
    g_assert_true(gui_label_says(quality, "of the middle of the area in view"));
    gui_activate(&gui, "win.similarity");
    g_assert_true(gui_wait(is_beside, &gui, 20));
    const LithoCube *map = litho_judgement_map(gui.window->judgement, LITHO_SAMPLE);
    const LithoBox area = litho_judgement_area(gui.session);
    g_assert_cmpint(area.lo[LITHO_XLINE], >, 0);
    g_assert_cmpint(map->held.lo[LITHO_XLINE], ==, area.lo[LITHO_XLINE]); // and no more
    gui_settle(&gui);
    gui_screenshot(&gui, "judged-area");
    litho_session_set_slice(gui.session, LITHO_XLINE, 0); // which was not judged
    g_assert_true(gui_wait(has_plain_crossline, &gui, 20));
    g_assert_true(litho_judgement_map_is_beside(gui.window->judgement, LITHO_INLINE));
    gui_activate(&gui, "win.similarity");
    open_made("planes", "inlines=40 xlines=40 samples=160");
    gui_use_operator(&gui, litho_operator_find("template"));
    g_assert_true(gui_wait(gui_is_judged, &gui, 60));
    g_assert_false(gui_label_says(quality, "area in view"));
    const double lo[3] = {-0.5, -0.5, -0.5}, hi[3] = {39.5, 39.5, 129.5};
    litho_session_set_window(gui.session, lo, hi);
    g_assert_true(gui_wait(gui_is_judged, &gui, 60));
    g_assert_true(gui_label_says(quality, "of the area in view"));
    g_assert_false(gui_label_says(quality, "of the middle"));
}

// Mean brightness, 0 to 1, of the pixels of a report's fourth column, the similarity's.
static double similar_column(const char *path)
{
    cairo_surface_t *page = cairo_image_surface_create_from_png(path);
    g_assert_cmpint(cairo_surface_status(page), ==, CAIRO_STATUS_SUCCESS);
    const int w = cairo_image_surface_get_width(page), h = cairo_image_surface_get_height(page);
    double sum = 0, n = 0;
    for (int y = h / 5; y < 4 * h / 5; y++) {
        const guint8 *row = cairo_image_surface_get_data(page) +
                            (gsize)y * (gsize)cairo_image_surface_get_stride(page);
        for (int x = 63 * w / 100; x < 77 * w / 100; x++, n++)
            sum += (row[4 * x] + row[4 * x + 1] + row[4 * x + 2]) / 765.0;
    }
    cairo_surface_destroy(page);
    return sum / n;
}

// Property: the report's similarity is that of the overlay: a threshold that lets half of the noise
// stay is darker than one that takes events, which it is not as it is.
static void test_report(void)
{
    double bright[2];
    open_made("conflict", "inlines=32 xlines=32 samples=96 snr=0 seed=9");
    for (int k = 0; k < 2; k++) {
        g_autofree char *path = gui_path(&gui, k ? "nine.png" : "one.png");
        gui_use_flow(&gui, "patch", (const char *[]){k ? "threshold=9" : "threshold=1", NULL});
        g_assert_true(gui_wait(gui_is_judged, &gui, 60));
        gui_settle(&gui);
        litho_window_report(gui.window, path);
        g_assert_true(gui_wait(gui_is_free, &gui, 60));
        bright[k] = similar_column(path);
    }
    g_test_message("similarity %.3f where noise stays, %.3f where events leave", bright[0],
                   bright[1]);
    g_assert_cmpfloat(bright[0], <, bright[1]);
}

int main(int argc, char **argv)
{
    gui_init(&argc, &argv);
    gui_open_sized(&gui);
    g_test_add_func("/judged/noise-stays", test_noise_stays);
    g_test_add_func("/judged/best", test_best);
    g_test_add_func("/judged/level", test_level);
    g_test_add_func("/judged/similarity", test_similarity);
    g_test_add_func("/judged/report", test_report);
    g_test_add_func("/judged/area", test_area);
    int status = g_test_run();
    gui_close(&gui);
    return status;
}
