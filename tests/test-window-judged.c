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

int main(int argc, char **argv)
{
    gui_init(&argc, &argv);
    gui_open_sized(&gui);
    g_test_add_func("/judged/noise-stays", test_noise_stays);
    g_test_add_func("/judged/best", test_best);
    g_test_add_func("/judged/level", test_level);
    int status = g_test_run();
    gui_close(&gui);
    return status;
}
