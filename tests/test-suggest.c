// SPDX-License-Identifier: GPL-3.0-or-later
//
// First guesses for windows and filters from the dips of the events and the size of the survey.
#include <glib.h>
#include <math.h>
#include <string.h>

#include "core/engine/probe.h"
#include "core/suggest.h"
#include "kernels/kernels.h"
#include "tests/quality_cubes.h"

// Suggestions for windows and filters as words of a command; g_string_free().
static GString *suggested(const LithoOperator *op, const LithoCube *cube)
{
    LithoSpectrum spectrum;
    GString *words = g_string_new(NULL);
    g_assert_true(litho_qc_spectrum(cube, NULL, 0, NULL, &spectrum, NULL));
    const LithoBand band = litho_suggest_band(&spectrum);
    const LithoEvents events = litho_suggest_events(cube, &band);
    GArray *list = litho_suggest(op, &cube->grid, &spectrum, &events, 0);
    for (guint k = 0; k < list->len; k++) {
        const LithoSuggestion *s = &g_array_index(list, LithoSuggestion, k);
        g_assert_cmpuint(strlen(s->why), >, 10);
        if (strcmp(s->row->key, "mode") != 0)
            g_string_append_printf(words, "%s%s=%g", words->len ? " " : "", s->row->key, s->value);
    }
    g_array_unref(list);
    litho_spectrum_clear(&spectrum);
    return words;
}

static double true_snr(const LithoOperator *op, const char *settings, const Cubes *c)
{
    g_autoptr(LithoFlow) flow = quality_flow(op, settings);
    LithoNoise noise = litho_noise_white(1, 0.9, 1.1); // of no account: the truth is there
    const LithoQuality q = quality_judge(flow, c, &noise, 0);
    litho_noise_clear(&noise);
    return q.snr_db;
}

// Property: what is suggested gains this much, in dB, and nothing is suggested where the defaults
// are right. The least gains are half of those measured: of other seeds they scatter by a third.
static void test_gains(void)
{
    static const struct {
        const char *op, *kind, *cube, *settings;
        double least;
    } cases[] = {
        {"fx", "planes", "inlines=44 xlines=44 samples=80", "half_width=5 window=30", 0.8},
        {"fx", "planes", "inlines=6 xlines=90 samples=80", "window=41", 0.8},
        {"fx", "fault", "inlines=1 xlines=160 samples=160", "half_width=5 window=34", 0.5},
        {"fx", "curved", "inlines=1 xlines=160 samples=160 snr=10", "half_width=4", 0.1},
        {"fx", "fault", "inlines=30 xlines=30 samples=32", "time_window=20", 0.4},
        {"fx", "curved", "inlines=44 xlines=44 samples=80", "", 0},
        {"fx", "survey", "inlines=30 xlines=44 samples=80", "", 0},
        {"wavepacket", "conflict", "inlines=40 xlines=40 samples=64", "directions=5", 0.3},
        {"wavepacket", "curved", "inlines=40 xlines=40 samples=64", "", 0},
        {"wavepacket", "fault", "inlines=40 xlines=40 samples=64", "", 0},
    };
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        const LithoOperator *op = litho_operator_find(cases[k].op);
        g_autofree char *words = g_strdup_printf(
            "seed=31 %s%s", strstr(cases[k].cube, "snr") ? "" : "snr=0 ", cases[k].cube);
        g_auto(Cubes) c = quality_make(cases[k].kind, words);
        g_autoptr(GString) found = suggested(op, c.noisy);
        g_test_message("%s, %s, %s: '%s'", cases[k].op, cases[k].kind, cases[k].cube, found->str);
        g_assert_cmpstr(found->str, ==, cases[k].settings);
        if (!*cases[k].settings)
            continue;
        const double before = true_snr(op, "", &c), after = true_snr(op, found->str, &c);
        g_test_message("%.2f dB, with it %.2f", before, after);
        g_assert_cmpfloat(after - before, >, cases[k].least);
    }
}

// Property: dips and how plane events are do not depend on the noise from -6 dB up, and noise alone
// has neither: planes 0.05 at most, hyperboloids and folds 0.1 at least.
static void test_events(void)
{
    static const char *const kinds[] = {"planes", "conflict", "curved"};
    for (guint k = 0; k < G_N_ELEMENTS(kinds); k++)
        for (int snr = -6; snr <= 10; snr += 8) {
            g_autofree char *words =
                g_strdup_printf("seed=%u inlines=40 xlines=50 samples=160 snr=%d", 20 + k, snr);
            g_auto(Cubes) c = quality_make(kinds[k], words);
            const LithoBand none = {0};
            const LithoEvents e = litho_suggest_events(c.noisy, &none);
            const double bend = MAX(e.axis[0].bend, e.axis[1].bend);
            g_test_message("%s, %d dB: dip %.2f, %.2f, bend %.3f, %.3f, share %.2f", kinds[k], snr,
                           e.axis[0].dip, e.axis[1].dip, e.axis[0].bend, e.axis[1].bend,
                           litho_events_share(&e));
            g_assert_true(e.axis[0].known && e.axis[1].known);
            if (k == 2)
                g_assert_cmpfloat(bend, >, 0.1);
            else
                g_assert_cmpfloat(bend, <, 0.05);
            g_assert_cmpfloat(litho_events_dip(&e), >, 0.3);
            g_assert_cmpint(litho_events_kind(&e), ==,
                            k == 2 ? LITHO_EVENTS_BENT : LITHO_EVENTS_DIPPING);
        }
    g_auto(Cubes) noise = quality_make("planes", "inlines=40 xlines=50 samples=160 snr=-40");
    const LithoEvents e = litho_suggest_events(noise.noisy, &(LithoBand){0});
    g_assert_cmpint(litho_events_kind(&e), ==, LITHO_EVENTS_UNKNOWN);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/suggest/events", test_events);
    g_test_add_func("/suggest/gains", test_gains);
    return g_test_run();
}
