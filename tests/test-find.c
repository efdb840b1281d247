// SPDX-License-Identifier: GPL-3.0-or-later
//
// Deciding: the choice among settings by the expected SNR, the search for the best, the hard bound,
// events that leave.
#include <math.h>
#include <string.h>

#include "core/engine/find.h"
#include "core/engine/losses.h"
#include "core/engine/probe.h"
#include "core/error.h"
#include "core/synth/synth.h"
#include "kernels/kernels.h"
#include "kernels/template/template.h"
#include "tests/common.h"
#include "tests/quality_cubes.h"

// Property: with the noise level measured on the data the setting of the highest expected SNR is
// within 0.3 dB of the truly best one, and the true SNR is inside the interval; the whole table is
// tests/decide_table.py's. The value: half a million samples tell the noise's energy to 0.2 %, of
// which three times are allowed, 0.8 dB of an error of 3 % of that energy.
static void test_choice(void)
{
    static const char *const settings[] = {"prewhitening=1", "", "prewhitening=100",
                                           "prewhitening=100 half_width=1", "window=30"};
    static const char *const cubes[] = {"snr=0", "snr=-6", "snr=0 noise=low"};
    for (guint k = 0; k < G_N_ELEMENTS(cubes); k++) {
        g_autofree char *words = g_strdup_printf("samples=128 %s", cubes[k]);
        g_auto(Cubes) c = quality_make(k == 1 ? "curved" : "fault", words);
        LithoNoise noise;
        g_assert_true(litho_quality_noise(c.noisy, NULL, NULL, &noise, NULL));
        const double input = k == 1 ? -6 : 0; // dB
        double best = -INFINITY, chosen = -INFINITY, highest = -INFINITY;
        for (guint n = 0; n < G_N_ELEMENTS(settings); n++) {
            g_autoptr(LithoFlow) flow = quality_flow(litho_operator_find("fx"), settings[n]);
            LithoQuality q = quality_judge(flow, &c, &noise, 0);
            g_test_message("%s, %s: expected %.2f (%.2f to %.2f), true %.2f dB", words, settings[n],
                           q.expected_snr_db, q.expected_low_db, q.expected_high_db, q.snr_db);
            g_assert_cmpfloat_with_epsilon(pow(10, (input - q.expected_snr_db) / 10),
                                           pow(10, (input - q.snr_db) / 10), 0.006);
            g_assert_cmpfloat(q.expected_low_db, <=, q.snr_db);
            g_assert_cmpfloat(q.expected_high_db, >=, q.snr_db);
            best = MAX(best, q.snr_db);
            if (q.expected_snr_db > highest) {
                highest = q.expected_snr_db;
                chosen = q.snr_db;
            }
        }
        g_assert_cmpfloat(chosen, >=, best - 0.3);
        litho_noise_clear(&noise);
    }
}

static LithoFindAsk ask_of(const LithoFlow *flow, const Cubes *c, const LithoNoise *noise)
{
    return (LithoFindAsk){.quality = {.flow = flow, .in = c->noisy, .noise = noise, .seed = 1}};
}

static LithoFind found(LithoJudge *judge, const LithoFindAsk *ask)
{
    LithoFind find;
    GError *error = NULL;
    litho_find(judge, ask, NULL, &find, &error);
    g_assert_no_error(error);
    return find;
}

// Property: beside a noise level that is told too high no error can be told from none; the values
// stay as they are then, or are told to gain something, but nothing is found that is told to lose.
static void test_find_nothing(void)
{
    static const char *const kinds[] = {"planes", "curved", "fault"};
    LithoJudge *j = litho_judge_new(litho_device_cpu());
    guint kept = 0;
    for (guint k = 0; k < G_N_ELEMENTS(kinds); k++)
        for (double times = 1.2; times < 3; times *= 1.5) {
            g_auto(Cubes) c =
                quality_make(kinds[k], "inlines=24 xlines=24 samples=128 snr=12 seed=5");
            LithoNoise noise = quality_true_noise(&c);
            for (guint f = 0; f < noise.n; f++)
                noise.sigma[f] *= times;
            noise.total *= times, noise.low *= times, noise.high *= times;
            g_autoptr(LithoFlow) flow = quality_flow(litho_operator_find("fx"), "");
            const LithoFindAsk ask = ask_of(flow, &c, &noise);
            const LithoFind find = found(j, &ask);
            const double before = quality_judge(flow, &c, &noise, 0).snr_db;
            litho_find_apply(&find, G_MAXUINT, litho_operator_find("fx"),
                             litho_flow_step(flow, 0)->params);
            const double after = quality_judge(flow, &c, &noise, 0).snr_db;
            g_test_message("%s, level times %.2f: %.2f dB, bound %d to %d; true %.2f to %.2f dB",
                           kinds[k], times, find.gain_db, find.now.expected_is_bound,
                           find.found.expected_is_bound, before, after);
            g_assert_cmpfloat(find.gain_db, >=, 0);
            g_assert_cmpfloat(after, >, before - 0.5);
            kept += find.gain_db == 0;
            for (guint i = 0; i < find.n && find.gain_db == 0; i++)
                g_assert_cmpfloat(find.item[i].found, ==, find.item[i].now);
            litho_noise_clear(&noise);
        }
    g_assert_cmpuint(kept, >, 0);
    litho_judge_free(j);
}

// Property: beside a level as high as the data no SNR can be told: one look is enough.
static void test_find_blind(void)
{
    g_auto(Cubes) c = quality_make("planes", "inlines=24 xlines=24 samples=96 snr=12 seed=5");
    LithoNoise noise = quality_true_noise(&c);
    for (guint f = 0; f < noise.n; f++)
        noise.sigma[f] *= 30;
    noise.total *= 30, noise.low *= 30, noise.high *= 30;
    g_autoptr(LithoFlow) flow = quality_flow(litho_operator_find("fx"), "");
    LithoJudge *j = litho_judge_new(litho_device_cpu());
    const LithoFindAsk ask = ask_of(flow, &c, &noise);
    const LithoFind find = found(j, &ask);
    g_test_message("%u trials: %s", find.trials, find.now.why);
    g_assert_cmpuint(find.trials, ==, 1);
    g_assert_cmpuint(strlen(find.now.why), >, 0);
    for (guint k = 0; k < find.n; k++)
        g_assert_cmpfloat(find.item[k].found, ==, find.item[k].now);
    litho_noise_clear(&noise);
    litho_judge_free(j);
}

// Property: what is found is truly better, by about as much as was promised, and at least as good
// as any of a few settings by hand; the parameters handed in stay as they are until applied.
static void test_find(void)
{
    g_auto(Cubes) c = quality_make("planes", "inlines=40 xlines=40 samples=128 snr=0 seed=3");
    LithoNoise noise = quality_true_noise(&c);
    const LithoOperator *op = litho_operator_find("fx");
    g_autoptr(LithoFlow) flow = quality_flow(op, "");
    LithoJudge *j = litho_judge_new(litho_device_cpu());
    LithoFindAsk ask = ask_of(flow, &c, &noise);
    LithoFind find = found(j, &ask);
    GError *error = NULL;
    const LithoQuality before = quality_judge(flow, &c, &noise, 0);
    litho_find_apply(&find, G_MAXUINT, op, litho_flow_step(flow, 0)->params);
    const LithoQuality after = quality_judge(flow, &c, &noise, 0);
    g_test_message("%u trials: %.2f to %.2f dB true, promised %.2f dB", find.trials, before.snr_db,
                   after.snr_db, find.gain_db);
    g_assert_cmpuint(find.n, ==, 3);
    g_assert_cmpfloat(after.snr_db, >, before.snr_db + 1);
    g_assert_cmpfloat_with_epsilon(after.snr_db - before.snr_db, find.gain_db, 0.5);
    for (guint k = 0; k < find.n; k++) // none is worth more than all of them
        g_assert_cmpfloat(find.item[k].gain_db, <=, find.gain_db + 1e-9);
    for (double prewhitening = 1; prewhitening <= 1000; prewhitening *= 10) {
        g_autofree char *words = g_strdup_printf("prewhitening=%g half_width=2", prewhitening);
        g_autoptr(LithoFlow) other = quality_flow(op, words);
        g_assert_cmpfloat(quality_judge(other, &c, &noise, 0).snr_db, <, after.snr_db + 0.3);
    }
    g_autoptr(GCancellable) cancel = g_cancellable_new();
    g_cancellable_cancel(cancel);
    LithoRun run = {.cancel = cancel};
    g_assert_false(litho_find(j, &ask, &run, &find, &error));
    g_assert_true(litho_error_is_cancelled(error));
    g_clear_error(&error);
    g_autoptr(LithoFlow) plain = quality_flow(&litho_operator_template, "");
    ask.quality.flow = plain;
    g_assert_false(litho_find(j, &ask, NULL, &find, &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED);
    g_clear_error(&error);
    litho_judge_free(j);
    litho_noise_clear(&noise);
}

// Property: the word that a row takes is tried beside its numbers: with fx's defaults but for a
// prewhitening of 30 % nothing is left that the defaults have over what is found.
static void test_find_word(void)
{
    g_auto(Cubes) c = quality_make("survey", "inlines=40 xlines=40 samples=128 snr=3 seed=3");
    LithoNoise noise;
    g_assert_true(litho_quality_noise(c.noisy, NULL, NULL, &noise, NULL));
    const LithoOperator *op = litho_operator_find("fx");
    g_autoptr(LithoFlow) plain = quality_flow(op, "");
    g_autoptr(LithoFlow) flow = quality_flow(op, "prewhitening=30");
    LithoJudge *j = litho_judge_new(litho_device_cpu());
    const LithoFindAsk ask = ask_of(flow, &c, &noise);
    const LithoFind find = found(j, &ask);
    const double mse = quality_judge(plain, &c, &noise, 0).mse;
    g_test_message("%u trials, prewhitening %g: error %g, of the defaults %g", find.trials,
                   find.item[0].found, find.found.mse, mse);
    g_assert_cmpfloat(find.found.mse, <=, mse * 1.012); // what no change is made for
    g_assert_cmpfloat(find.item[0].found, ==, 0);
    litho_judge_free(j);
    litho_noise_clear(&noise);
}

// Property: settings of a flow that fills alone are found by hidden traces, although the noise
// level is known: they truly fill better.
static void test_find_filling(void)
{
    g_auto(Cubes) c = quality_make("planes", "inlines=24 xlines=24 samples=96 snr=20 missing=15");
    LithoNoise noise = litho_noise_white(0.04, 0.039, 0.041);
    const LithoOperator *op = litho_operator_find("patch");
    g_autoptr(LithoFlow) flow = quality_flow(op, "mode=fill iterations=10 threshold=10");
    LithoJudge *j = litho_judge_new(litho_device_cpu());
    LithoFindAsk ask = ask_of(flow, &c, &noise);
    ask.quality.reference = c.truth;
    const LithoFind find = found(j, &ask);
    g_test_message("%u trials: hidden %.2f to %.2f dB, true %.2f to %.2f dB", find.trials,
                   find.now.hidden_snr_db, find.found.hidden_snr_db, find.now.snr_db,
                   find.found.snr_db);
    g_assert_cmpfloat(find.gain_db, >, 0.2);
    g_assert_cmpfloat(find.found.snr_db, >, find.now.snr_db + 1);
    litho_judge_free(j);
    litho_noise_clear(&noise);
}

// Settings that are found for patch from its defaults on, with the true SNR before and after.
static LithoFind patch_found(const Cubes *c, double *before, double *after)
{
    LithoNoise noise;
    g_assert_true(litho_quality_noise(c->noisy, NULL, NULL, &noise, NULL));
    const LithoOperator *op = litho_operator_find("patch");
    g_autoptr(LithoFlow) flow = quality_flow(op, "");
    LithoJudge *j = litho_judge_new(litho_device_cpu());
    const LithoFindAsk ask = ask_of(flow, c, &noise);
    const LithoFind find = found(j, &ask);
    *before = quality_judge(flow, c, &noise, 0).snr_db;
    litho_find_apply(&find, G_MAXUINT, op, litho_flow_step(flow, 0)->params);
    *after = quality_judge(flow, c, &noise, 0).snr_db;
    litho_judge_free(j);
    litho_noise_clear(&noise);
    return find;
}

// Property: in a survey of two windows with four traces of ten missing, whose level is a tenth too
// high, the true gain is in the interval that is told, and the sentence tells the interval.
static void test_find_open(void)
{
    g_auto(Cubes) c = quality_make("curved", "inlines=23 xlines=18 samples=75 snr=3 seed=2 "
                                             "noise=band missing=42");
    double before, after;
    const LithoFind find = patch_found(&c, &before, &after);
    const double gain = after - before;
    g_test_message("gain %.2f (%.2f to %.2f), true %.2f dB: %s", find.gain_db, find.gain_low_db,
                   find.gain_high_db, gain, find.why);
    g_assert_cmpfloat(find.gain_low_db, <=, find.gain_db);
    g_assert_cmpfloat(find.gain_high_db, >=, find.gain_db);
    g_assert_cmpfloat(find.gain_low_db, <=, gain + 0.1);
    g_assert_cmpfloat(find.gain_high_db, >=, gain - 0.1);
    if (find.gain_high_db - find.gain_low_db > 0.5)
        g_assert_nonnull(strstr(find.why, "the gain lies between"));
}

// Property: a search costs no more trials than promise something: 14 where tops of
// parabolas that promise nothing and another round took 20; and it truly gains.
static void test_find_trials(void)
{
    g_auto(Cubes) c = quality_make("planes", "inlines=24 xlines=24 samples=96 snr=0 seed=3");
    double before, after;
    const LithoFind find = patch_found(&c, &before, &after);
    g_test_message("%u trials: %.2f to %.2f dB", find.trials, before, after);
    g_assert_cmpuint(find.trials, <=, 16);
    g_assert_cmpfloat(after, >=, before);
}

// --- time ---------------------------------------------------------------------------------------

// A clock that stands but where the operator works: a step takes step_ms, and more from run to run.
static struct {
    double ms, step_ms, growth;
} fake_clock;

static double fake_now(gpointer data)
{
    (void)data;
    return fake_clock.ms;
}

static gboolean slow_exec(gpointer plan, const LithoPass *pass, LithoRun *run, GError **error)
{
    enum { STEPS = 10 };
    for (int k = 0; k < STEPS; k++) {
        fake_clock.ms += fake_clock.step_ms;
        if (!litho_run_step(run, k, STEPS, error))
            return FALSE;
    }
    fake_clock.step_ms *= fake_clock.growth;
    return litho_operator_template.cpu->exec(plan, pass, run, error);
}

// Property: the time asked for holds, on a machine that grows slower, too: a trial that it would
// not see the end of is given up, and the values found before are asked on the whole area within
// it, for which time is kept; a search that ends by itself says nothing of time. The first trial
// ends in any case, and is told.
static void test_find_time(void)
{
    static const LithoFindRow rows[] = {{"gain", 0.2, 1}, {"halfwidth", 0, 9}, {NULL, 0, 0}};
    LithoImpl slow = *litho_operator_template.cpu;
    LithoOperator op = litho_operator_template;
    slow.exec = slow_exec;
    op.cpu = &slow;
    op.find = rows;
    g_auto(Cubes) c = quality_make("planes", "inlines=24 xlines=24 samples=128 snr=0 seed=3");
    LithoNoise noise = quality_true_noise(&c);
    g_autoptr(LithoFlow) flow = quality_flow(&op, "");
    LithoFindAsk ask = ask_of(flow, &c, &noise);
    ask.now_ms = fake_now;
    const struct {
        double seconds, step_ms, growth;
        gboolean cut;
    } cases[] = {{0, 100, 1, FALSE},   {1000, 100, 1, FALSE}, {20, 100, 1, TRUE},
                 {20, 100, 1.1, TRUE}, {20, 250, 1.3, TRUE},  {20, 420, 1, TRUE}};
    LithoJudge *j = litho_judge_new(litho_device_cpu());
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        fake_clock.ms = 0;
        fake_clock.step_ms = cases[k].step_ms;
        fake_clock.growth = cases[k].growth;
        ask.seconds = cases[k].seconds;
        const LithoFind find = found(j, &ask);
        g_test_message("%g s, steps of %g ms that grow by %g: %u trials in %.1f s, %.2f dB: %s",
                       ask.seconds, cases[k].step_ms, cases[k].growth, find.trials, find.seconds,
                       find.gain_db, find.why);
        g_assert_cmpfloat(find.seconds, ==, fake_clock.ms * 1e-3);
        if (ask.seconds > 0) // the step that was under way ends
            g_assert_cmpfloat(find.seconds, <=, ask.seconds + 1e-3 * fake_clock.step_ms);
        g_assert_cmpint(find.is_out_of_time, ==, cases[k].cut);
        g_assert_true(!cases[k].cut || *find.why);
        g_assert_true(cases[k].cut || find.gain_db > 1);
    }
    fake_clock.ms = 0;
    fake_clock.step_ms = 3000;
    fake_clock.growth = 1;
    const LithoFind find = found(j, &ask);
    g_assert_cmpuint(find.trials, ==, 1);
    g_assert_cmpfloat(find.seconds, ==, 1e-3 * fake_clock.ms);
    g_assert_cmpfloat(find.seconds, >, ask.seconds);
    g_test_message("%g s: %u trials in %.1f s, expected %.2f dB: %s", ask.seconds, find.trials,
                   find.seconds, find.now.expected_snr_db, find.why);
    g_assert_true(find.is_out_of_time);
    g_assert_true(isfinite(find.now.expected_snr_db));
    for (guint k = 0; k < find.n; k++)
        g_assert_cmpfloat(find.item[k].found, ==, find.item[k].now);
    litho_judge_free(j);
    litho_noise_clear(&noise);
}

// Property: where two trials of the area fit into half of the time the figures are of all of it, as
// everywhere else; where they do not, of the part by which settings are told apart.
static void test_find_part(void)
{
    static const LithoFindRow rows[] = {{"gain", 0.2, 1}, {NULL, 0, 0}};
    LithoImpl slow = *litho_operator_template.cpu;
    LithoOperator op = litho_operator_template;
    slow.exec = slow_exec;
    op.cpu = &slow;
    op.find = rows;
    g_auto(Cubes) c = quality_make("planes", "inlines=80 xlines=80 samples=192 snr=0 seed=3");
    LithoNoise noise = quality_true_noise(&c);
    g_autoptr(LithoFlow) flow = quality_flow(&op, "");
    LithoFindAsk ask = ask_of(flow, &c, &noise);
    ask.now_ms = fake_now;
    const LithoBox all = c.noisy->held, part = litho_quality_choosing(flow, all);
    g_assert_cmpint(3 * litho_box_count(part), <, litho_box_count(all));
    const struct {
        double seconds, step_ms;
        gboolean whole;
    } cases[] = {{0, 100, TRUE}, {20, 10, TRUE}, {20, 200, FALSE}};
    LithoJudge *j = litho_judge_new(litho_device_cpu());
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        fake_clock.ms = 0;
        fake_clock.step_ms = cases[k].step_ms;
        fake_clock.growth = 1;
        ask.seconds = cases[k].seconds;
        const LithoFind find = found(j, &ask);
        g_test_message("%g s, steps of %g ms: %u trials on %d samples in %.1f s", ask.seconds,
                       cases[k].step_ms, find.trials, (int)litho_box_count(find.area),
                       find.seconds);
        g_assert_true(litho_box_equal(find.area, cases[k].whole ? all : part));
        g_assert_cmpuint(find.trials, >=, 3);
        g_assert_true(isfinite(find.now.expected_snr_db));
    }
    litho_judge_free(j);
    litho_noise_clear(&noise);
}

static LithoCube *output_of(const LithoFlow *flow, const LithoCube *in)
{
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    GError *error = NULL;
    LithoCube *out = litho_engine_run(engine, flow, in, NULL, NULL, &error);
    g_assert_no_error(error);
    litho_engine_free(engine);
    return out;
}

// Property: an operator that removes much less than the noise is not told to remove it: no error is
// below (sigma - rms(removed))^2, whatever the level, the estimate, and the probe say.
static void test_bound(void)
{
    g_auto(Cubes) c = quality_make("planes", "inlines=32 xlines=32 samples=128 snr=20 seed=3");
    g_autoptr(LithoFlow) flow = quality_flow(litho_operator_find("patch"), "threshold=3");
    // Four times the noise that is there: an estimate by SURE alone is below zero.
    LithoNoise noise = quality_true_noise(&c);
    const double sigma = 4 * noise.total;
    litho_noise_clear(&noise);
    noise = litho_noise_white(sigma, 0.98 * sigma, 1.02 * sigma);
    const LithoQuality q = quality_judge(flow, &c, &noise, 0);
    double rr = 0, yy = 0;
    g_autoptr(LithoCube) out = output_of(flow, c.noisy);
    for (gint64 k = 0; k < litho_cube_held_samples(out); k++) {
        rr += pow((double)c.noisy->samples[k] - out->samples[k], 2);
        yy += pow(c.noisy->samples[k], 2);
    }
    const double n = (double)litho_cube_held_samples(out), off = sigma - sqrt(rr / n);
    const double most = 10 * log10((yy / n - sigma * sigma) / (off * off));
    g_test_message("told %.2f dB (to %.2f), at most %.2f", q.expected_snr_db, q.expected_high_db,
                   most);
    g_assert_cmpfloat(q.expected_snr_db, <=, most + 0.01);
    g_assert_true(q.is_beyond);
    g_autofree char *text = litho_quality_expected_text(&q);
    g_assert_true(g_str_has_prefix(text, "at most "));
    g_assert_cmpfloat(q.mse, <, off * off); // or this shows nothing
    litho_noise_clear(&noise);
}

// --- losses -------------------------------------------------------------------------------------

// A survey whose amplitudes fall by 60 dB, its noise with them.
static Cubes make_falling(void)
{
    Cubes c = quality_make("planes", "inlines=24 xlines=40 samples=256 snr=0 seed=3");
    for (gint64 k = 0; k < litho_cube_held_samples(c.noisy); k++) {
        const float gain = powf(10, -3 * (float)(k % 256) / 256);
        c.noisy->samples[k] *= gain;
        c.truth->samples[k] *= gain;
    }
    return c;
}

// Property: the late events that an output no longer holds are seen, although they are a millionth
// of the energy, both where they are wiped out and where half of them is left; noise alone grows
// nothing.
static void test_losses(void)
{
    g_auto(Cubes) c = make_falling();
    const LithoBox area = c.noisy->held;
    g_autoptr(LithoCube) wiped = litho_cube_copy_box(c.truth, area, NULL);
    g_autoptr(LithoCube) halved = litho_cube_copy_box(c.truth, area, NULL);
    for (gint64 k = 0; k < litho_cube_held_samples(wiped); k++)
        if (k % 256 >= 192) {
            wiped->samples[k] = 0;
            halved->samples[k] *= 0.5f;
        }
    LithoLosses now, found;
    char why[256] = "";
    g_assert_true(litho_losses(c.noisy, c.truth, area, NULL, NULL, &now, NULL));
    g_assert_false(litho_losses_grow(&now, &now, &c.noisy->grid, why, sizeof why));
    for (guint k = 0; k < now.n; k++) // white noise was removed, and nothing else
        g_assert_cmpfloat(now.band[k].common, <, 0.1);
    LithoCube *const outs[] = {wiped, halved};
    for (int k = 0; k < 2; k++) {
        g_assert_true(litho_losses(c.noisy, outs[k], area, NULL, NULL, &found, NULL));
        const struct LithoLossBand *last = &found.band[found.n - 1];
        g_test_message("last band: similar %.2f, common %.2f", last->similar, last->common);
        g_assert_true(litho_losses_grow(&now, &found, &c.noisy->grid, why, sizeof why));
        g_test_message("%s", why);
        g_assert_false(litho_losses_grow(&found, &now, &c.noisy->grid, why, sizeof why));
        if (k == 0)
            g_assert_cmpfloat(last->common, >, 5 * now.band[now.n - 1].common);
    }
}

// Property: noise of which a low threshold lets a part pass is no event that leaves: the judge's
// losses, which know how alike it is on both sides, see next to nothing where those without a probe
// read "events leave"; an event that is halved they see.
static void test_losses_noise(void)
{
    g_auto(Cubes) c = quality_make("conflict", "inlines=48 xlines=48 samples=128 snr=0 seed=5");
    LithoNoise noise = quality_true_noise(&c);
    LithoJudge *j = litho_judge_new(litho_device_cpu());
    const struct {
        const char *op, *settings;
        double least, most; // of what is alike
    } cases[] = {{"patch", "threshold=1", 0, 0.03}, {"template", "halfwidth=0 gain=0.5", 0.2, 1}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        const LithoOperator *op =
            k == 0 ? litho_operator_find(cases[k].op) : &litho_operator_template;
        g_autoptr(LithoFlow) flow = quality_flow(op, cases[k].settings);
        const LithoQualityAsk ask = {.flow = flow, .in = c.noisy, .noise = &noise, .seed = 1};
        LithoQuality q;
        LithoLosses losses, raw;
        g_assert_true(litho_judge_run(j, &ask, NULL, &q, NULL));
        g_assert_true(litho_judge_losses(j, NULL, &losses, NULL));
        g_assert_true(
            litho_losses(c.noisy, litho_judge_output(j), c.noisy->held, NULL, NULL, &raw, NULL));
        for (guint b = 0; b < losses.n; b++) {
            g_test_message("%s: alike %.3f, beside the noise %.3f", cases[k].settings,
                           raw.band[b].similar, losses.band[b].similar);
            g_assert_cmpfloat(losses.band[b].similar, <=, cases[k].most);
            g_assert_cmpfloat(losses.band[b].similar, >=, cases[k].least);
            g_assert_cmpfloat(raw.band[b].similar, >, 0.15);
        }
    }
    litho_judge_free(j);
    litho_noise_clear(&noise);
}

// Property: a level that is told twenty times too high, as the early part of a survey whose
// amplitudes fall does to the late one, makes the error fall the more is removed; Find leaves the
// events all the same, and says why.
static void test_find_events(void)
{
    g_auto(Cubes) c = make_falling();
    g_autoptr(LithoFlow) flow = quality_flow(litho_operator_find("patch"), "threshold=1");
    LithoNoise noise = litho_noise_white(0.05, 0.049, 0.051);
    LithoJudge *j = litho_judge_new(litho_device_cpu());
    const LithoFindAsk ask = ask_of(flow, &c, &noise);
    const LithoFind find = found(j, &ask);
    g_test_message("gain %.2f dB; %s", find.gain_db, find.why);
    LithoLosses losses[2];
    for (int k = 0; k < 2; k++) {
        if (k == 1)
            litho_find_apply(&find, G_MAXUINT, litho_flow_step(flow, 0)->op,
                             litho_flow_step(flow, 0)->params);
        g_autoptr(LithoCube) out = output_of(flow, c.noisy);
        g_assert_true(litho_losses(c.noisy, out, c.noisy->held, NULL, NULL, &losses[k], NULL));
    }
    char why[256];
    g_assert_false(litho_losses_grow(&losses[0], &losses[1], &c.noisy->grid, why, sizeof why));
    litho_judge_free(j);
    litho_noise_clear(&noise);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/find/choice", test_choice);
    g_test_add_func("/find/best", test_find);
    g_test_add_func("/find/word", test_find_word);
    g_test_add_func("/find/filling", test_find_filling);
    g_test_add_func("/find/open", test_find_open);
    g_test_add_func("/find/trials", test_find_trials);
    g_test_add_func("/find/time", test_find_time);
    g_test_add_func("/find/part", test_find_part);
    g_test_add_func("/find/nothing", test_find_nothing);
    g_test_add_func("/find/blind", test_find_blind);
    g_test_add_func("/find/bound", test_bound);
    g_test_add_func("/find/late-events", test_losses);
    g_test_add_func("/find/losses-noise", test_losses_noise);
    g_test_add_func("/find/events", test_find_events);
    return g_test_run();
}
