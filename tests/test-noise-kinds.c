// SPDX-License-Identifier: GPL-3.0-or-later
//
// Noise that is not random everywhere alike: neighbouring traces share it, gains that follow the
// events change it, waves of low frequency move through it, and traces are shifted. Settings are
// searched and figures told of whole flows, which takes long.
#include <glib.h>
#include <math.h>
#include <string.h>

#include "core/engine/find.h"
#include "core/engine/quality.h"
#include "kernels/kernels.h"
#include "tests/quality_cubes.h"

// --- noise that keeps to some wavenumbers -------------------------------------------------------

typedef struct Searched {
    LithoFind find;
    double level; // of the noise that was added
} Searched;

// Settings found for `op` with some to begin with; `what` names the cubes.
static Searched search_on(Cubes *c, const char *op, const char *settings, const char *what)
{
    g_autoptr(LithoFlow) flow = quality_flow(litho_operator_find(op), settings);
    LithoJudge *judge = litho_judge_new(litho_device_cpu());
    LithoNoise noise;
    Searched s;
    double sum = 0;
    const gint64 n = litho_cube_held_samples(c->noisy);
    for (gint64 k = 0; k < n; k++)
        sum += pow((double)c->noisy->samples[k] - c->truth->samples[k], 2);
    g_assert_true(litho_quality_noise(c->noisy, NULL, NULL, &noise, NULL));
    s.level = noise.total / sqrt(sum / (double)n);
    const LithoFindAsk ask = {
        .quality = {
            .flow = flow, .in = c->noisy, .noise = &noise, .reference = c->truth, .seed = 1}};
    g_assert_true(litho_find(judge, &ask, NULL, &s.find, NULL));
    g_test_message("%s %s: level %.3f, true %.2f -> %.2f dB, told %+.2f (%.2f to %.2f), %u trials",
                   op, what, s.level, s.find.now.snr_db, s.find.found.snr_db, s.find.gain_db,
                   s.find.gain_low_db, s.find.gain_high_db, s.find.trials);
    litho_noise_clear(&noise);
    litho_judge_free(judge);
    return s;
}

// On a generated cube whose noise is mixed from trace to trace.
static Searched search_mixed(const char *kind, const char *op, const char *more)
{
    g_autofree char *words =
        g_strdup_printf("inlines=48 xlines=48 samples=160 seed=5 noise=mixed %s", more);
    g_auto(Cubes) c = quality_make(kind, words);
    g_autofree char *what = g_strdup_printf("%s %s", kind, more);
    // F-X that leaves such noise in: its settings matter there.
    return search_on(&c, op, strcmp(op, "fx") == 0 ? "shared=off" : "", what);
}

// Property: where the noise keeps to some wavenumbers settings are found that gain against the
// truth, by the level at each wavenumber, though no SNR can be told. Nothing was tried. Where the
// level is too rough to tell, the settings stay: ranked by the level alone patch was told to gain
// 1.4 dB and lost 4.9. The level is within a tenth; an opening alone tells 0.83.
static void test_rough(void)
{
    static const char *const fx[] = {"curved", "fault"};
    for (guint k = 0; k < G_N_ELEMENTS(fx); k++) {
        const Searched s = search_mixed(fx[k], "fx", "snr=10");
        g_assert_true(s.find.now.is_rough && s.find.now.is_filtered);
        g_assert_cmpuint(s.find.trials, >, 5);
        g_assert_cmpfloat(s.find.gain_low_db, >, 0);
        g_assert_cmpfloat(s.find.found.snr_db - s.find.now.snr_db, >, 0.5);
        g_autofree char *text = litho_quality_expected_text(&s.find.found);
        g_assert_cmpstr(text, ==, "not known");
        g_assert_nonnull(strstr(s.find.found.why, "keeps to some wavenumbers"));
    }
    const Searched s = search_mixed("fault", "patch", "snr=0");
    g_assert_true(s.find.now.is_rough);
    g_assert_cmpfloat(s.level, >, 0.88);
    g_assert_cmpfloat(s.level, <, 1.12);
    g_assert_cmpfloat(s.find.found.snr_db - s.find.now.snr_db, >, -0.1);
}

// Property: where the noise grows along the traces the SNR that is told is the true one within its
// interval, and no setting is found that loses. Patch follows the noise by itself: it gains next to
// nothing, and leaves so little that the level may not tell it. Nothing was tried.
static void test_varying(void)
{
    static const char *const cases[][2] = {
        {"planes", "fx"}, {"conflict", "fx"}, {"conflict", "patch"}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        const gboolean follows = g_str_equal(cases[k][1], "patch");
        g_auto(Cubes) c =
            quality_make(cases[k][0], "inlines=48 xlines=48 samples=192 seed=9 snr=1");
        const gint64 n = c.noisy->grid.axis[2].n, all = litho_cube_held_samples(c.noisy);
        for (gint64 s = 0; s < all; s++) {
            const double louder = 0.45 * exp(log(4) * (double)(s % n) / (double)n);
            const float own = c.truth->samples[s];
            c.noisy->samples[s] = own + (float)louder * (c.noisy->samples[s] - own);
        }
        const Searched s = search_on(&c, cases[k][1], "", cases[k][0]);
        const LithoQuality *now = &s.find.now;
        g_test_message("%s %s: expected %.2f (%.2f to %.2f), true %.2f, found %.2f", cases[k][0],
                       cases[k][1], now->expected_snr_db, now->expected_low_db,
                       now->expected_high_db, now->snr_db, s.find.found.snr_db);
        g_assert_true(follows || !now->is_unsure);
        if (!now->is_unsure) {
            g_assert_cmpfloat(fabs(now->expected_snr_db - now->snr_db), <, 1);
            g_assert_cmpfloat(now->expected_low_db, <, now->snr_db);
            g_assert_cmpfloat(now->expected_high_db, >, now->snr_db);
        }
        g_assert_cmpuint(s.find.trials, >, 5);
        g_assert_cmpfloat(s.find.found.snr_db - now->snr_db, >, -0.05);
        if (follows)
            g_assert_cmpfloat(now->snr_db, >, 19);
    }
}

// Each trace of both cubes over the running amplitude of the noisy one: gain control (AGC).
static void control_gain(Cubes *c, gint64 length)
{
    const gint64 n = c->noisy->grid.axis[2].n;
    g_autofree double *sum = g_new0(double, n + 1);
    for (gint64 k = 0; k < litho_grid_traces(&c->noisy->grid); k++) {
        float *y = c->noisy->samples + k * n, *s = c->truth->samples + k * n;
        for (gint64 t = 0; t < n; t++)
            sum[t + 1] = sum[t] + (double)y[t] * y[t];
        for (gint64 t = 0; t < n; t++) {
            const gint64 lo = MAX(t - length / 2, 0), hi = MIN(t - length / 2 + length, n);
            const double gain = sqrt((double)(hi - lo) / (sum[hi] - sum[lo]));
            y[t] *= (float)gain;
            s[t] *= (float)gain;
        }
    }
}

// Property: behind gain control the noise is weakest where events are strongest, and no wrong SNR
// is told: within a decibel, or "not known". Without regard to that fx was told 2.9 dB too bad at
// -6 dB, where the level is within 0.5 % (1.9 % too low before), 1.4 dB too bad behind the gain of
// whole traces, and patch 5.6 dB too good at 10 dB behind 0.1 s, where gains change within a
// window.
static void test_gain_control(void)
{
    static const struct {
        const char *kind, *words, *op;
        gint64 length;
    } cases[] = {{"curved", "snr=-6", "fx", 62},
                 {"curved", "snr=0", "fx", 250},
                 {"conflict", "snr=10", "patch", 25},
                 {"curved", "snr=10", "fx", 125}};
    guint told = 0;
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autofree char *words =
            g_strdup_printf("inlines=64 xlines=64 samples=256 seed=3 %s", cases[k].words);
        g_auto(Cubes) c = quality_make(cases[k].kind, words);
        control_gain(&c, cases[k].length);
        double sum = 0;
        const gint64 n = litho_cube_held_samples(c.noisy);
        for (gint64 s = 0; s < n; s++)
            sum += pow((double)c.noisy->samples[s] - c.truth->samples[s], 2);
        g_autoptr(LithoFlow) flow = quality_flow(litho_operator_find(cases[k].op), "");
        const LithoQuality q = quality_pass(flow, c.noisy, c.truth, NULL);
        const double level = q.noise_sigma / sqrt(sum / (double)n);
        g_test_message("%s %s, %d samples, %s: %.2f (%.2f to %.2f), true %.2f dB, level %.4f %s",
                       cases[k].kind, cases[k].words, (int)cases[k].length, cases[k].op,
                       q.expected_snr_db, q.expected_low_db, q.expected_high_db, q.snr_db, level,
                       q.why);
        if (g_str_equal(cases[k].words, "snr=-6"))
            g_assert_cmpfloat_with_epsilon(level, 1, 0.005);
        if (!isfinite(q.expected_snr_db)) {
            g_assert_nonnull(strstr(q.why, "as gain control leaves it"));
            continue;
        }
        told++;
        g_assert_cmpfloat_with_epsilon(q.expected_snr_db, q.snr_db, 1);
        g_assert_cmpfloat(q.expected_low_db, <=, q.snr_db);
        g_assert_cmpfloat(q.expected_high_db, >=, q.snr_db);
    }
    g_assert_cmpuint(told, >=, 2);
}

// Wave trains of `slope` samples a trace around `frequency` cycles a sample, `energy` times that of
// the truth, onto the noisy cube; `length` 0: wavelets of 0.11 cycles a sample, as the events' own.
static void add_waves(Cubes *c, double slope, double frequency, double length, double energy)
{
    const LithoAxis *a = c->noisy->grid.axis;
    const gint64 all = litho_cube_held_samples(c->noisy);
    g_autofree double *wave = g_new0(double, all);
    double own = 0, events = 0;
    for (gint64 k = 0; k < all; k++) {
        const double i = (double)(k / a[2].n / a[1].n), j = (double)(k / a[2].n % a[1].n);
        const double ridge = (double)(k % a[2].n) - 10 - slope * (0.95 * i + 0.3 * j);
        for (int train = -8; train <= 8; train++) {
            const double t = ridge - 70 * train, x = pow(G_PI * 0.11 * t, 2);
            wave[k] += length > 0 ? exp(-0.5 * pow(t / length, 2)) * cos(2 * G_PI * frequency * t)
                                  : (1 - 2 * x) * exp(-x);
        }
        own += wave[k] * wave[k];
        events += (double)c->truth->samples[k] * c->truth->samples[k];
    }
    for (gint64 k = 0; k < all; k++)
        c->noisy->samples[k] += (float)(wave[k] * sqrt(energy * events / own));
}

// Property: steep waves of low frequency, as ground roll is, also aliased and a tenth as strong as
// the events, are told: the SNR counts them as signal, and has neither an interval nor a gain. 13
// to 19 dB too much were told without a word. Clean surveys are not accused, nor those whose events
// are as steep but of their own frequency, nor those without flat events, beside which random noise
// had passed for events of 65 Hz.
static void test_ground_roll(void)
{
    static const struct {
        const char *kind, *words;
        double slope, frequency, length, energy;
        gboolean told;
    } cases[] = {{"conflict", "snr=0", 3, 0.04, 15, 1, TRUE},
                 {"conflict", "snr=0", 5, 0.05, 15, 0.1, TRUE},
                 {"fault", "snr=10", 20, 0.05, 15, 0.3, TRUE}, // aliased
                 {"curved", "snr=-6", 3, 0.072, 15, 1, TRUE},
                 {"conflict", "snr=0", 3, 0, 0, 0.5, FALSE},
                 {"fault", "snr=10", 5, 0, 0, 0.5, FALSE},
                 {"conflict", "snr=0", 2, 0.04, 15, 1, TRUE},
                 {"conflict", "snr=20", 0, 0, 0, 0, FALSE},
                 {"conflict", "snr=-6 seed=29", 0, 0, 0, 0, FALSE}, // no flat events
                 {"curved", "snr=20", 0, 0, 0, 0, FALSE},
                 {"fault", "snr=20 noise=low", 0, 0, 0, 0, FALSE},
                 {"survey", "snr=0 missing=20", 0, 0, 0, 0, FALSE}};
    g_autoptr(LithoFlow) flow = quality_flow(litho_operator_find("fx"), "");
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autofree char *words =
            g_strdup_printf("inlines=48 xlines=48 samples=160 seed=23 %s", cases[k].words);
        g_auto(Cubes) c = quality_make(cases[k].kind, words);
        if (cases[k].energy > 0)
            add_waves(&c, cases[k].slope, cases[k].frequency, cases[k].length, cases[k].energy);
        const LithoQuality q = quality_pass(flow, c.noisy, c.truth, NULL);
        g_autofree char *text = litho_quality_expected_text(&q);
        g_test_message("%s %s, %g samples a trace: %s, true %.2f dB: %s", cases[k].kind,
                       cases[k].words, cases[k].slope, text, q.snr_db, q.why);
        g_assert_cmpint(q.counts_steep, ==, cases[k].told);
        g_assert_cmpint(strstr(q.why, "ground roll") != NULL, ==, cases[k].told);
        g_assert_cmpint(strstr(text, "steep noise as signal") != NULL, ==, cases[k].told);
        if (cases[k].told)
            g_assert_false(isfinite(q.expected_low_db) || isfinite(q.expected_gain_db));
    }
}

// --- shifts of single traces ---------------------------------------------------------------------

// Every trace by a sample up or down, or as it is, by chance: rms 0.82.
static void shift_traces(Cubes *c, guint32 seed)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    const gint64 n = c->noisy->grid.axis[2].n;
    g_autofree float *was = g_new(float, n);
    for (gint64 x = 0; x < litho_cube_held_samples(c->noisy) / n; x++) {
        const int by = g_rand_int_range(rand, -1, 2);
        float *s = c->truth->samples + x * n, *y = c->noisy->samples + x * n;
        memcpy(was, s, n * sizeof *was);
        for (gint64 t = 0; t < n; t++) {
            s[t] = t - by >= 0 && t - by < n ? was[t - by] : 0;
            y[t] += c->noisy->live[x] ? s[t] - was[t] : 0;
        }
    }
}

// Property: traces that are shifted against their neighbours are told, with the rms of the shifts
// within a sixth, in white and coloured noise, with missing traces, at -6 and 10 dB. The SNR is
// told within a decibel: it is against the shifted events. The cubes as they were, with dips that
// conflict, a fault or curvature, are accused of nothing.
static void test_shifts(void)
{
    static const struct {
        const char *kind, *words;
    } cases[] = {{"planes", "snr=0"},
                 {"fault", "snr=-6"},
                 {"curved", "snr=10 noise=low"},
                 {"conflict", "snr=0 missing=20"}};
    g_autoptr(LithoFlow) flow = quality_flow(litho_operator_find("fx"), "");
    for (guint k = 0; k < 2 * G_N_ELEMENTS(cases); k++) {
        const gboolean shifted = k % 2;
        g_autofree char *words =
            g_strdup_printf("inlines=48 xlines=48 samples=192 seed=31 %s", cases[k / 2].words);
        g_auto(Cubes) c = quality_make(cases[k / 2].kind, words);
        if (shifted)
            shift_traces(&c, 7);
        LithoNoise noise;
        g_assert_true(litho_quality_noise(c.noisy, NULL, NULL, &noise, NULL));
        const LithoQuality q = quality_judge(flow, &c, &noise, 0);
        g_test_message("%s %s: shifts %.2f, told %.2f, true %.2f dB: %s", cases[k / 2].kind,
                       cases[k / 2].words, noise.shifts, q.expected_snr_db, q.snr_db, q.why);
        g_assert_cmpint(strstr(q.why, "statics") != NULL, ==, shifted);
        g_assert_cmpfloat_with_epsilon(noise.shifts, shifted ? 0.82 : 0, 0.14);
        g_assert_cmpfloat_with_epsilon(q.expected_snr_db, q.snr_db, 1);
        litho_noise_clear(&noise);
    }
}

// Property: single traces of reversed polarity are told with their number and the first places,
// in white and coloured noise; those of the cube as it is are accused of nothing.
static void test_reversed(void)
{
    static const struct {
        const char *kind, *words;
    } cases[] = {{"planes", "snr=0"}, {"curved", "snr=10 noise=low"}, {"fault", "snr=0"}};
    static const int at[][2] = {{5, 7}, {20, 30}, {21, 12}, {33, 34}};
    g_autoptr(LithoFlow) flow = quality_flow(litho_operator_find("fx"), "");
    for (guint k = 0; k < 2 * G_N_ELEMENTS(cases); k++) {
        const gboolean reversed = k % 2;
        g_autofree char *words =
            g_strdup_printf("inlines=40 xlines=40 samples=160 seed=33 %s", cases[k / 2].words);
        g_auto(Cubes) c = quality_make(cases[k / 2].kind, words);
        for (guint r = 0; reversed && r < G_N_ELEMENTS(at); r++)
            for (gint64 t = 0; t < 160; t++) {
                litho_cube_trace(c.noisy, at[r][0], at[r][1])[t] *= -1;
                litho_cube_trace(c.truth, at[r][0], at[r][1])[t] *= -1;
            }
        LithoNoise noise;
        g_assert_true(litho_quality_noise(c.noisy, NULL, NULL, &noise, NULL));
        const LithoQuality q = quality_judge(flow, &c, &noise, 0);
        g_test_message("%s %s: %u reversed: %s", cases[k / 2].kind, cases[k / 2].words,
                       noise.reversed, q.why);
        g_assert_cmpuint(noise.reversed, ==, reversed ? G_N_ELEMENTS(at) : 0);
        g_assert_cmpint(strstr(q.why, "4 traces have reversed") != NULL, ==, reversed);
        for (guint r = 0; reversed && r < LITHO_NOISE_NAMED; r++)
            for (int a = 0; a < 2; a++)
                g_assert_cmpfloat(noise.reversed_at[r][a], ==,
                                  litho_axis_value(&c.noisy->grid.axis[a], at[r][a]));
        litho_noise_clear(&noise);
    }
}

// Property: shifts are told first where amplitudes differ from trace to trace as well: for gains
// they pass themselves.
static void test_shifts_as_gains(void)
{
    g_autoptr(LithoFlow) flow = quality_flow(litho_operator_find("fx"), "balance=off");
    g_auto(Cubes) c = quality_make("planes", "inlines=48 xlines=48 samples=192 seed=31 snr=20");
    shift_traces(&c, 7);
    for (gint64 k = 0; k < litho_cube_held_samples(c.noisy); k++)
        c.noisy->samples[k] *= k / 192 % 2 ? 0.3f : 2;
    LithoNoise noise;
    g_assert_true(litho_quality_noise(c.noisy, NULL, NULL, &noise, NULL));
    const LithoQuality q = quality_judge(flow, &c, &noise, 0);
    g_test_message("gains %.2f, shifts %.2f: %s", noise.gains, noise.shifts, q.why);
    g_assert_cmpfloat(noise.gains, >, 0.06);
    g_assert_nonnull(strstr(q.why, "statics"));
    g_assert_false(isfinite(q.expected_snr_db));
    litho_noise_clear(&noise);
}

// --- noisy traces and offsets --------------------------------------------------------------------

// Property: no SNR is told where a part of the traces is noisier than the others, which were told
// 5 to 8 dB too low within an interval of 2 dB. An offset of the samples is named, and amplitudes
// that differ from trace to trace where no step balances them.
static void test_noisy_and_offset(void)
{
    static const struct {
        double share, factor, offset, scatter; // of the traces' amplitudes
        const char *told;
    } cases[] = {{0, 1, 0, 0, NULL},
                 {0.05, 10, 0, 0, "noisier than their neighbours"},
                 {0.2, 3, 0, 0, "noisier than their neighbours"},
                 {0, 1, 3, 0, "have an offset of 3"},
                 {0, 1, 0, 0.2, "which this flow takes for noise"}};
    g_autoptr(LithoFlow) flow = quality_flow(litho_operator_find("fx"), "balance=off");
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_auto(Cubes) c = quality_make("planes", "inlines=48 xlines=48 samples=160 seed=37 snr=10");
        g_autoptr(GRand) rand = g_rand_new_with_seed(3);
        const gint64 n = c.noisy->grid.axis[2].n;
        double squares = 0;
        for (gint64 x = 0; x < litho_cube_held_samples(c.noisy); x++)
            squares += (double)c.noisy->samples[x] * c.noisy->samples[x];
        const double rms = sqrt(squares / (double)litho_cube_held_samples(c.noisy));
        for (gint64 x = 0; x < litho_cube_held_samples(c.noisy) / n; x++) {
            const double by = g_rand_double(rand) < cases[k].share ? cases[k].factor : 1;
            float *s = c.truth->samples + x * n, *y = c.noisy->samples + x * n;
            const double gain = exp(cases[k].scatter * (2 * g_rand_double(rand) - 1) * 1.732);
            for (gint64 t = 0; t < n; t++)
                y[t] = (float)(gain * s[t] + by * (y[t] - s[t]) + cases[k].offset * rms);
        }
        const LithoQuality q = quality_pass(flow, c.noisy, c.truth, NULL);
        g_test_message("%g of the traces %g times, offset %g: %.2f dB, %s", cases[k].share,
                       cases[k].factor, cases[k].offset, q.expected_snr_db, q.why);
        g_assert_cmpint(isfinite(q.expected_snr_db), ==, cases[k].share == 0);
        if (cases[k].told)
            g_assert_nonnull(strstr(q.why, cases[k].told));
        else
            g_assert_cmpstr(q.why, ==, "");
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/noise-kinds/rough", test_rough);
    g_test_add_func("/noise-kinds/varying", test_varying);
    g_test_add_func("/noise-kinds/gain-control", test_gain_control);
    g_test_add_func("/noise-kinds/ground-roll", test_ground_roll);
    g_test_add_func("/noise-kinds/shifts", test_shifts);
    g_test_add_func("/noise-kinds/reversed", test_reversed);
    g_test_add_func("/noise-kinds/noisy-and-offset", test_noisy_and_offset);
    g_test_add_func("/noise-kinds/shifts-as-gains", test_shifts_as_gains);
    return g_test_run();
}
