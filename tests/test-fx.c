// SPDX-License-Identifier: GPL-3.0-or-later
//
// The F-X filter: exact laws, absent traces, small surveys, and the program's own needs: any region,
// any number of threads, any memory, the same bits. Its agreement with a direct double precision
// implementation is in test-fx-reference.c, the noise that it removes in test-fx-gain.c.
#include <time.h>

#include "tests/common.h"
#include "tests/fx_common.h"

// Settings under which a cube of 64 samples is one time window without padding, so that a harmonic
// of bin b lives in bin b alone.
#define ONE_BIN "time_window=64 fft_length=64 fmin=0 fmax=125 "

// Property: windows cover the axis, the last flush with its end; weights add up to one (single
// precision: a few roundings); first() and last() name exactly the windows with weight. A gap, a
// window past the end or a ramp of the wrong length fails.
static void test_windows(void)
{
    const int cases[][3] = {{1, 20, 17},  {19, 20, 17}, {20, 20, 17},     {21, 20, 17},
                            {37, 20, 17}, {38, 20, 17}, {128, 20, 17},    {251, 30, 25},
                            {100, 10, 3}, {50, 7, 7},   {1001, 150, 100}, {9, 3, 1}};
    for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
        LithoFxAxis axis = litho_fx_axis(cases[c][0], cases[c][1], cases[c][2]);
        g_assert_cmpint(litho_fx_start(axis, 0), ==, 0);
        g_assert_cmpint(litho_fx_start(axis, axis.count - 1) + axis.length, ==, axis.n);
        for (int i = 0; i < axis.n; i++) {
            double sum = 0;
            for (int k = 0; k < axis.count; k++) {
                float w = litho_fx_weight(axis, k, i);
                g_assert_cmpint(w > 0, ==,
                                k >= litho_fx_first(axis, i) && k <= litho_fx_last(axis, i));
                sum += w;
            }
            g_assert_cmpfloat(fabs(sum - 1), <, 3e-7);
        }
    }
}

// Property: the table of weights has litho_fx_weight()'s bits, for windows that overlap by all but
// a sample too, and one that no memory holds is refused in words: a hundred thousand windows of as
// many samples are no reason to end the program.
static void test_weights(void)
{
    const int cases[][3] = {{37, 20, 17}, {200, 90, 1}, {251, 30, 25}, {9, 20, 3}};
    g_autoptr(GError) error = NULL;
    for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
        const LithoFxAxis axis = litho_fx_axis(cases[c][0], cases[c][1], cases[c][2]);
        g_autofree float *weights = litho_fx_weights(axis, &error);
        g_assert_no_error(error);
        for (int k = 0; k < axis.count; k++)
            for (int t = 0; t < axis.length; t++)
                g_assert_true(weights[k * axis.length + t] ==
                              litho_fx_weight(axis, k, litho_fx_start(axis, k) + t));
    }
    const LithoFxAxis huge = litho_fx_axis(G_MAXINT / 4, G_MAXINT / 8, 1);
    g_assert_null(litho_fx_weights(huge, &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY);
}

// Property: one plane wave without noise comes back damped by exactly lam / (48 + lam), lam the
// prewhitening (lam / (taps + lam) for other filters), in the interior and at the edges, aliased
// dips too. 1 % of the error allowed, plus the single precision of the transform, 3e-7. A wrong
// damping, a wrong tap or an edge filter that differs from the interior's fails.
static void test_plane_wave(void)
{
    const FxWave waves[] = {{1, 0.3, 0.2}, {1, -1.1, 2.9}, {1, 3.5, -0.4}};
    const double prewhitening[] = {0.1, 10, 100};
    for (guint w = 0; w < G_N_ELEMENTS(waves); w++)
        for (guint p = 0; p < G_N_ELEMENTS(prewhitening); p++)
            for (int half = 1; half <= 5; half += 2) {
                g_autoptr(LithoCube) in = fx_plane_waves(40, 33, &waves[w], 1);
                g_autofree char *settings =
                    g_strdup_printf(ONE_BIN "prewhitening=%g half_width=%d", prewhitening[p], half);
                g_autoptr(LithoCube) out = fx_run(in, settings, NULL, NULL);
                double lam = prewhitening[p] / 100, taps = (2 * half + 1) * (2 * half + 1) - 1;
                double law = lam / (taps + lam), found = fx_relative(out, in);
                g_test_message("%s: error %.4e, law %.4e", settings, found, law);
                g_assert_cmpfloat(fabs(found - law), <, 0.01 * law + 3e-7);
            }
}

// Property: surveys smaller than the window or the block take the largest filter that fits; one
// plane wave passes with an error of 1e-3 / taps at 0.1 %: 2 to 14 taps here. Reading outside the
// survey, or writing zeros where only a small filter exists, fails.
static void test_small_surveys(void)
{
    const int sizes[][3] = {{40, 1, 6},  {1, 40, 6}, {5, 40, 14}, {8, 8, 14}, {6, 6, 8},
                            {37, 3, 14}, {4, 5, 2},  {12, 2, 6}}; // inlines, crosslines, taps
    const FxWave wave = {1, 0.7, -0.4};
    for (guint k = 0; k < G_N_ELEMENTS(sizes); k++) {
        g_autoptr(LithoCube) in = fx_plane_waves(sizes[k][0], sizes[k][1], &wave, 1);
        g_autoptr(LithoCube) out = fx_run(in, ONE_BIN "prewhitening=0.1", NULL, NULL);
        g_test_message("%d x %d: %.2e", sizes[k][0], sizes[k][1], fx_relative(out, in));
        g_assert_cmpfloat(fabs(fx_relative(out, in) * sizes[k][2] / 1e-3 - 1), <, 0.02);
    }
}

// Property: two plane waves are predicted to 3e-5 of the largest sample at 0.01 % (7.4e-6 of it is
// the damping, the rest single precision).
static void test_two_waves(void)
{
    const FxWave waves[] = {{1, 0.3, 0.2}, {0.7, -0.5, 0.1}};
    g_autoptr(LithoCube) in = fx_plane_waves(40, 40, waves, 2);
    g_autoptr(LithoCube) out = fx_run(in, ONE_BIN "prewhitening=0.01", NULL, NULL);
    double worst = 0;
    for (gint64 k = 0; k < litho_cube_held_samples(in); k++)
        worst = fmax(worst, fabs(out->samples[k] - in->samples[k]));
    g_test_message("largest error %.2e", worst);
    g_assert_cmpfloat(worst, <=, 3e-5);
}

// Property: where nothing can be designed or nothing is there, nothing changes. Bit for bit when
// the band's outside passes; through the transforms (mute, whole band) within their precision,
// 2e-7.
static void test_untouched(void)
{
    const int sizes[][3] = {{1, 1, 300}, {2, 2, 300}, {2, 2, 41}, {1, 2, 1}, {1, 1, 7}};
    for (guint k = 0; k < G_N_ELEMENTS(sizes); k++) {
        g_autoptr(LithoCube) in = fx_random_cube(sizes[k][0], sizes[k][1], sizes[k][2], 5);
        g_autoptr(LithoCube) same = fx_run(in, "fmin=3 fmax=100", NULL, NULL);
        g_assert_true(fx_same_bits(same, in));
        g_autoptr(LithoCube) through = fx_run(in, "", NULL, NULL);
        g_assert_cmpfloat(fx_relative(through, in), <, 2e-7);
    }
    g_autoptr(LithoCube) zero = fx_cube(30, 25, 200);
    g_autoptr(LithoCube) still = fx_run(zero, "", NULL, NULL);
    g_assert_true(fx_same_bits(still, zero));
    g_autoptr(LithoCube) constant = fx_cube(30, 25, 200);
    for (gint64 k = 0; k < litho_cube_held_samples(constant); k++)
        constant->samples[k] = 3;
    g_autoptr(LithoCube) steady = fx_run(constant, "fmin=0", NULL, NULL);
    for (gint64 k = 0; k < litho_cube_held_samples(steady); k++)
        g_assert_true(isfinite(steady->samples[k]));
    g_assert_cmpfloat(fx_relative(steady, constant), <, 3e-3); // lam / (48 + lam) = 2.1e-3
}

// Property: scaling the data by a power of two scales the result, bit for bit, from 2^-60 to 2^60.
// Squares of such samples leave single precision: without scaling inside, everything is lost.
static void test_scale(void)
{
    g_autoptr(LithoCube) in = fx_random_cube(23, 21, 80, 6);
    g_autoptr(LithoCube) out = fx_run(in, "", NULL, NULL);
    for (int power = -60; power <= 60; power += 40) {
        g_autoptr(LithoCube) scaled = fx_cube(23, 21, 80);
        for (gint64 k = 0; k < litho_cube_held_samples(in); k++)
            scaled->samples[k] = ldexpf(in->samples[k], power);
        scaled->loudest = scaled->loudness = 1; // else the engine refuses it for other parts of fx
        g_autoptr(LithoCube) result = fx_run(scaled, "", NULL, NULL);
        for (gint64 k = 0; k < litho_cube_held_samples(in); k++)
            g_assert_cmpfloat(result->samples[k], ==, ldexpf(out->samples[k], power));
    }
}

// Property: absent traces keep their bits (NaN included), all others are finite, and holes do not
// spoil two noiseless plane waves: error at live traces for 5 % dead below 5e-3 with guesses and
// three filling passes, against more than 5e-2 without them. fill_dead writes values that are right
// to 1e-2.
static void test_absent(void)
{
    const FxWave waves[] = {{1, 0.3, 0.2}, {0.7, -0.5, 0.1}};
    g_autoptr(LithoCube) truth = fx_plane_waves(40, 40, waves, 2);
    g_autoptr(LithoCube) in = fx_plane_waves(40, 40, waves, 2);
    fx_kill_traces(in, 0.05, 9);
    double error[3] = {0};
    const char *settings[] = {ONE_BIN "prewhitening=0.1", ONE_BIN "prewhitening=0.1 fill_passes=0",
                              ONE_BIN "prewhitening=0.1 fill_dead=on"};
    for (int s = 0; s < 3; s++) {
        g_autoptr(LithoCube) out = fx_run(in, settings[s], NULL, NULL);
        double difference = 0, norm = 0;
        for (gint64 k = 0; k < litho_grid_traces(&in->grid); k++) {
            const float *a = in->samples + 64 * k, *b = out->samples + 64 * k;
            gboolean absent = !in->live[k] || a[1] == 0;
            if (absent && s < 2)
                g_assert_cmpmem(a, 64 * sizeof(float), b, 64 * sizeof(float));
            if (absent && s == 2)
                g_assert_true(out->live[k]);
            for (int t = 0; t < 64 && absent == (s == 2); t++) {
                g_assert_true(isfinite(b[t]));
                difference += pow(b[t] - truth->samples[64 * k + t], 2);
                norm += pow(truth->samples[64 * k + t], 2);
            }
        }
        error[s] = sqrt(difference / norm);
    }
    g_test_message("live traces %.2e, without filling %.2e, filled traces %.2e", error[0], error[1],
                   error[2]);
    g_assert_cmpfloat(error[0], <, 5e-3);
    g_assert_cmpfloat(error[1], >, 5e-2);
    g_assert_cmpfloat(error[2], <, 1e-2);
}

// Property: any region gives the bits of the whole, from an input cropped to what input_box() asks
// for, whatever memory there is. A halo one trace or one sample short, a decision that looks beyond
// it, or a sum whose order depends on the region fails.
static void test_region(void)
{
    g_autoptr(LithoCube) in = fx_random_cube(46, 38, 160, 11);
    fx_kill_traces(in, 0.07, 12);
    const char *settings =
        "half_width=2 window=12 time_window=70 time_overlap=30 post=on steady=off";
    g_autoptr(LithoCube) whole = fx_run(in, settings, NULL, NULL);
    const LithoBox regions[] = {
        litho_box_slice(&in->grid, 0, 23), litho_box_slice(&in->grid, 1, 37),
        litho_box_slice(&in->grid, 2, 80), {{0, 0, 0}, {10, 38, 160}},
        {{10, 0, 0}, {20, 38, 160}},       {{27, 17, 60}, {28, 18, 61}},
        {{40, 32, 140}, {46, 38, 160}},    {{0, 0, 0}, {46, 38, 160}},
    };
    LithoFxParams p = fx_params(settings);
    for (guint k = 0; k < G_N_ELEMENTS(regions); k++)
        for (int budget = 0; budget < 3; budget++) { // nothing kept, a part kept, all kept
            LithoBox box = litho_operator_fx.input_box(&in->grid, &p, regions[k]);
            g_autoptr(LithoCube) cropped = litho_cube_copy_box(in, box, NULL);
            g_autoptr(LithoCube) out = litho_cube_new_box(&in->grid, regions[k], NULL);
            FxPlan *plan = litho_fx_cpu.plan(&in->grid, &p, NULL, NULL, NULL);
            plan->budget = budget == 0 ? 0 : budget == 1 ? 3 << 20 : (guint64)1 << 30;
            LithoPass pass = {
                .params = &p, .first_stage = 1, .in = cropped, .region = regions[k], .out = out};
            GError *error = NULL;
            litho_fx_cpu.exec(plan, &pass, NULL, &error);
            g_assert_no_error(error);
            fx_assert_region_equal(out, whole, regions[k]);
            litho_fx_cpu.destroy(plan);
        }
}

// Property: what a plan keeps never shows. One plan, budgets from nothing to everything, slices and
// the whole cube in turn, parameters of every stage changing between them: the bits of a fresh
// engine. A kept window that no longer holds, or memory of another region taken for this one's,
// fails.
static void test_memory(void)
{
#define SMALL "time_window=60 time_overlap=20 half_width=1 steady=off "
    const char *settings[] = {SMALL "window=12", SMALL "window=12 prewhitening=40",
                              SMALL "window=15", SMALL "window=15 fmin=10"};
    const guint64 budgets[] = {0, 1 << 20, 3 << 20, 8 << 20, (guint64)1 << 30};
    g_autoptr(LithoCube) in = fx_random_cube(44, 37, 150, 18);
    fx_kill_traces(in, 0.04, 19);
    LithoCube *whole[G_N_ELEMENTS(settings)];
    for (guint s = 0; s < G_N_ELEMENTS(settings); s++)
        whole[s] = fx_run(in, settings[s], NULL, NULL);
    for (guint b = 0; b < G_N_ELEMENTS(budgets); b++) {
        LithoFxParams p = fx_params(settings[0]);
        FxPlan *plan = litho_fx_cpu.plan(&in->grid, &p, NULL, NULL, NULL);
        plan->budget = budgets[b];
        for (guint step = 0; step < 4 * G_N_ELEMENTS(settings); step++) {
            guint s = step / 4;
            LithoBox region = step % 4 == 3 ? litho_box_full(&in->grid)
                                            : litho_box_slice(&in->grid, step % 4, 20 + 3 * s);
            g_autoptr(LithoCube) out = litho_cube_new_box(&in->grid, region, NULL);
            p = fx_params(settings[s]);
            LithoPass pass = {.params = &p,
                              .first_stage = step == 0 ? 1 : 2,
                              .in = in,
                              .region = region,
                              .out = out};
            GError *error = NULL;
            litho_fx_cpu.exec(plan, &pass, NULL, &error);
            g_assert_no_error(error);
            fx_assert_region_equal(out, whole[s], region);
        }
        litho_fx_cpu.destroy(plan);
    }
    for (guint s = 0; s < G_N_ELEMENTS(settings); s++)
        litho_cube_unref(whole[s]);
}

// Property: the number of threads changes no bit.
static void test_threads(void)
{
    g_autoptr(LithoCube) in = fx_random_cube(41, 38, 160, 13);
    fx_kill_traces(in, 0.05, 14);
    g_autoptr(LithoCube) one = fx_run(in, "", NULL, &(LithoRun){.threads = 1});
    for (int threads = 2; threads <= 5; threads++) {
        g_autoptr(LithoCube) many = fx_run(in, "", NULL, &(LithoRun){.threads = threads});
        g_assert_true(fx_same_bits(many, one));
    }
}

// Property: a slider costs what lies behind it. Prewhitening runs no FFT, fill_dead no filter, the
// rest of the cube after a slice reuses the slice's windows; results equal those of a fresh engine.
static void test_live(void)
{
    const struct {
        const char *settings;
        int slice; // region: a slice of this axis, or 3 = all
        guint fft, filter;
    } steps[] = {{"", 0, 1, 1},
                 {"", 3, 2, 2},
                 {"", 1, 2, 2},
                 {"prewhitening=20", 2, 2, 3},
                 {"prewhitening=20", 3, 2, 4},
                 {"prewhitening=20 fill_dead=on", 3, 2, 4},
                 {"half_width=2 window=15", 3, 2, 5},
                 {"fmax=60", 3, 3, 6}};
    g_autoptr(LithoCube) in = fx_random_cube(45, 40, 300, 15);
    fx_kill_traces(in, 0.03, 16);
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_fx);
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    LithoTimings *timings = litho_timings_new();
    LithoRun run = {.timings = timings};
    for (guint k = 0; k < G_N_ELEMENTS(steps); k++) {
        *(LithoFxParams *)litho_flow_step(flow, 0)->params = fx_params(steps[k].settings);
        LithoBox region = steps[k].slice == 3 ? litho_box_full(&in->grid)
                                              : litho_box_slice(&in->grid, steps[k].slice, 20);
        g_autoptr(LithoCube) out = litho_engine_run(engine, flow, in, &region, &run, NULL);
        litho_timings_end_pass(timings);
        g_autoptr(LithoCube) fresh = fx_run(in, steps[k].settings, NULL, NULL);
        fx_assert_region_equal(out, fresh, region);
        g_test_message("step %u: %s", k, steps[k].settings);
        g_assert_cmpuint(test_passes_of(timings, "time FFT"), ==, steps[k].fft);
        g_assert_cmpuint(test_passes_of(timings, "design + filter"), ==, steps[k].filter);
    }
    litho_engine_free(engine);
    litho_timings_unref(timings);
}

typedef struct Stopper {
    GCancellable *cancel;
    double at_ms; // when it was cancelled
} Stopper;

static void stop_in_filter(const LithoProgress *progress, gpointer data)
{
    Stopper *s = data;
    if (strcmp(progress->what, "design + filter") == 0 && s->at_ms == 0) {
        s->at_ms = litho_now_ms();
        g_cancellable_cancel(s->cancel);
    }
}

typedef struct Steps {
    const LithoRun *run;
    const char *what; // stage: between two of them memory is made ready
    double last_ms, longest_ms, all_ms;
} Steps;

// Processor time of this thread: what others do on the machine does not count.
static double thread_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1e3 + now.tv_nsec * 1e-6;
}

static gboolean note_step(gpointer data)
{
    Steps *s = data;
    const double now = thread_ms();
    if (s->what == s->run->what) {
        s->longest_ms = fmax(s->longest_ms, now - s->last_ms);
        s->all_ms += now - s->last_ms;
    }
    s->what = s->run->what;
    s->last_ms = now;
    return FALSE;
}

// Property: the cancel flag is looked at within a window too, where that takes long: 100 x 100
// traces, half of them absent, make one step of a window and sixteen frequencies if it is not (22
// ms of 370 here; 2.3 with the looks within; shares hold with sanitizers too).
static void test_steps(void)
{
    g_autoptr(LithoCube) in = fx_random_cube(104, 104, 150, 23);
    GRand *rand = g_rand_new_with_seed(5);
    for (gint64 k = 0; k < litho_grid_traces(&in->grid); k++)
        in->live[k] = g_rand_double(rand) > 0.45;
    g_rand_free(rand);
    fx_blank_missing(in);
    Steps steps = {0};
    LithoRun run = {.threads = 1, .superseded = note_step, .superseded_data = &steps};
    steps.run = &run;
    g_autoptr(LithoCube) out = fx_run(in, "window=100 fmax=60 fill_passes=2", NULL, &run);
    g_test_message("longest step %.1f of %.0f ms", steps.longest_ms, steps.all_ms);
    g_assert_cmpfloat(steps.longest_ms, <=, steps.all_ms / 40);
}

typedef struct Looks {
    const LithoRun *run;
    const char *stage;
    guint n;
} Looks;

static gboolean count_look(gpointer data)
{
    Looks *l = data;
    l->n += l->run->what && strcmp(l->run->what, l->stage) == 0;
    return FALSE;
}

// Property: it is looked at in every run of traces and every time window of the stages before and
// after the filter: an inline of a thousand long traces takes a second.
static void test_looks(void)
{
    static const char *const stages[] = {"time FFT", "inverse"};
    g_autoptr(LithoCube) in = fx_random_cube(3, 4 * FX_RUN, 400, 23);
    for (guint k = 0; k < G_N_ELEMENTS(stages); k++) {
        Looks looks = {.stage = stages[k]};
        LithoRun run = {.threads = 1, .superseded = count_look, .superseded_data = &looks};
        looks.run = &run;
        g_autoptr(LithoCube) out =
            fx_run(in, "time_window=150 time_overlap=50 erratic=0", NULL, &run);
        g_test_message("%s: %u looks", stages[k], looks.n);
        g_assert_cmpuint(looks.n, >=, 3 * 4 * 4);
    }
}

// Property: cancel comes back within 100 ms (a step is one window and sixteen frequencies, below 1
// ms even for 11 x 11 traces), and the engine goes on with what it has: the next run gives the
// right bits.
static void test_cancel(void)
{
    g_autoptr(LithoCube) in = fx_random_cube(54, 54, 200, 17);
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_fx);
    *(LithoFxParams *)litho_flow_step(flow, 0)->params = fx_params("half_width=5");
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    Stopper stopper = {g_cancellable_new(), 0};
    LithoRun run = {
        .cancel = stopper.cancel, .on_progress = stop_in_filter, .progress_data = &stopper};
    GError *error = NULL;
    LithoCube *none = litho_engine_run(engine, flow, in, NULL, &run, &error);
    double late = litho_now_ms() - stopper.at_ms;
    g_assert_null(none);
    g_assert_true(litho_error_is_cancelled(error));
    g_test_message("came back after %.1f ms", late);
    g_assert_cmpfloat(late, <, 100);
    g_clear_error(&error);
    g_autoptr(LithoCube) out = litho_engine_run(engine, flow, in, NULL, NULL, &error);
    g_assert_no_error(error);
    g_autoptr(LithoCube) fresh = fx_run(in, "half_width=5", NULL, NULL);
    g_assert_true(fx_same_bits(out, fresh));
    litho_engine_free(engine);
    g_object_unref(stopper.cancel);
}

// Property: combinations that make no sense are refused with a sentence that names the numbers.
static void test_refused(void)
{
    const char *const cases[][2] = {
        {"half_width=5 window=10", "half width 5"},
        {"window_xl=5", "half width 3"},
        {"stride=21", "stride of 21"},
        {"time_overlap=40", "overlap of 40"},
        {"time_window=7", "time window of 7 samples"},
        {"time_window=150 fft_length=128", "FFT length of 128"},
        {"fmin=50 fmax=40", "40"},
    };
    LithoGrid grid = litho_grid_new(30, 30, 200);
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        LithoFxParams p = fx_params(cases[k][0]);
        GError *error = NULL;
        g_assert_false(litho_operator_check(&litho_operator_fx, &grid, &p, NULL, &error));
        g_assert_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER);
        g_assert_nonnull(strstr(error->message, cases[k][1]));
        g_clear_error(&error);
    }
}

// Property: an automatic time window is 0.16 s (250 m on depth axes) at every sample interval, its
// overlap half of the window, automatic or not; it is bounded and never longer than a trace.
static void test_automatic_times(void)
{
    const struct {
        double step;
        gboolean is_depth;
        const char *settings;
        int window, overlap;
    } cases[] = {
        {0.004, FALSE, "", 40, 20},
        {0.001, FALSE, "", 160, 80},
        {-0.002, FALSE, "", 80, 40},
        {0.0005, FALSE, "", 320, 160},
        {0.016, FALSE, "", 16, 8},
        {5, TRUE, "", 50, 25},
        {0.004, FALSE, "time_window=150", 150, 75},
        {0.004, FALSE, "time_overlap=10", 40, 10},
        {0.004, FALSE, "time_window=33 time_overlap=0", 33, 0},
    };
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        LithoGrid grid = litho_grid_new(30, 30, 400);
        grid.axis[2].step = cases[k].step;
        grid.is_depth = cases[k].is_depth;
        const LithoFxParams given = fx_params(cases[k].settings);
        const LithoFxParams used = litho_fx_in_use(&grid, &given);
        g_assert_cmpint(used.time_window, ==, cases[k].window);
        g_assert_cmpint(used.time_overlap, ==, cases[k].overlap);
        const LithoFxGeometry g = litho_fx_grid_geometry(&grid, &given);
        g_assert_cmpint(g.axis[2].length, ==, cases[k].window);
        g_assert_cmpint(g.axis[2].stride, ==, cases[k].window - cases[k].overlap);
        grid.axis[2].n = 12;
        g_assert_cmpint(litho_fx_grid_geometry(&grid, &given).axis[2].length, ==, 12);
    }
}

// Property: a value that is left to the filter is told as the number that it stands for, so that
// the panel can show it; one that is given is not told.
static void test_used(void)
{
    g_autoptr(LithoCube) in = fx_random_cube(24, 24, 80, 5);
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_fx);
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    static const char *const settings[] = {"", "fmax=40"};
    for (guint k = 0; k < G_N_ELEMENTS(settings); k++) {
        LithoReport *report = litho_report_new();
        LithoRun run = {.report = report};
        *(LithoFxParams *)litho_flow_step(flow, 0)->params = fx_params(settings[k]);
        g_autoptr(LithoCube) out = litho_engine_run(engine, flow, in, NULL, &run, NULL);
        g_assert_nonnull(out);
        double fmax = 0, stride = 0;
        gboolean told = litho_report_get(report, "used:fx.fmax", &fmax);
        g_assert_cmpint(told, ==, k == 0);
        if (told)
            g_assert_cmpfloat_with_epsilon(fmax, 0.5 / fabs(in->grid.axis[2].step), 1e-9);
        g_assert_true(litho_report_get(report, "used:fx.stride", &stride));
        g_assert_cmpfloat(stride, ==, 20 * 17 / 20);
        double times[2] = {0, 0};
        g_assert_true(litho_report_get(report, "used:fx.time_window", &times[0]));
        g_assert_true(litho_report_get(report, "used:fx.time_overlap", &times[1]));
        g_assert_cmpfloat(times[0], ==, 40);
        g_assert_cmpfloat(times[1], ==, 20);
        litho_report_unref(report);
    }
    // Traces shorter than the window are one window.
    g_autoptr(LithoCube) brief = fx_random_cube(24, 24, 20, 5);
    LithoReport *report = litho_report_new();
    LithoRun run = {.report = report};
    g_autoptr(LithoCube) out = litho_engine_run(engine, flow, brief, NULL, &run, NULL);
    double times[2] = {-1, -1};
    g_assert_true(litho_report_get(report, "used:fx.time_window", &times[0]));
    g_assert_true(litho_report_get(report, "used:fx.time_overlap", &times[1]));
    g_assert_cmpfloat(times[0], ==, 20);
    g_assert_cmpfloat(times[1], ==, 0);
    litho_report_unref(report);
    litho_engine_free(engine);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/fx/windows", test_windows);
    g_test_add_func("/fx/weights", test_weights);
    g_test_add_func("/fx/plane-wave", test_plane_wave);
    g_test_add_func("/fx/small-surveys", test_small_surveys);
    g_test_add_func("/fx/two-waves", test_two_waves);
    g_test_add_func("/fx/untouched", test_untouched);
    g_test_add_func("/fx/scale", test_scale);
    g_test_add_func("/fx/absent", test_absent);
    g_test_add_func("/fx/region", test_region);
    g_test_add_func("/fx/memory", test_memory);
    g_test_add_func("/fx/threads", test_threads);
    g_test_add_func("/fx/live", test_live);
    g_test_add_func("/fx/automatic-times", test_automatic_times);
    g_test_add_func("/fx/used", test_used);
    g_test_add_func("/fx/steps", test_steps);
    g_test_add_func("/fx/looks", test_looks);
    g_test_add_func("/fx/cancel", test_cancel);
    g_test_add_func("/fx/refused", test_refused);
    return g_test_run();
}
