// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/quality_cubes.h"

#include <math.h>

#include "core/synth/synth.h"

void cubes_clear(Cubes *c)
{
    litho_cube_unref(c->noisy);
    litho_cube_unref(c->truth);
}

Cubes quality_make(const char *kind, const char *settings)
{
    const LithoSynth *synth = litho_synth_find(kind);
    g_autofree void *params = g_malloc0(synth->params.size);
    litho_param_defaults(&synth->params, params);
    g_auto(GStrv) words = g_strsplit(settings, " ", -1);
    for (char **word = words; *word; word++) {
        g_auto(GStrv) pair = g_strsplit(*word, "=", 2);
        g_assert_true(litho_param_parse(&synth->params, params, pair[0], pair[1], NULL));
    }
    Cubes c;
    g_assert_true(synth->make(params, NULL, &c.noisy, &c.truth, NULL, NULL));
    return c;
}

LithoFlow *quality_flow(const LithoOperator *op, const char *settings)
{
    LithoFlow *flow = litho_flow_new();
    litho_flow_append(flow, op);
    g_auto(GStrv) words = g_strsplit(settings, " ", -1);
    for (char **word = words; *word; word++)
        if (**word)
            g_assert_true(litho_operator_set(op, litho_flow_step(flow, 0)->params, *word, NULL));
    return flow;
}

LithoNoise quality_true_noise(const Cubes *c)
{
    enum { BINS = 65 };
    const LithoGrid *grid = &c->noisy->grid;
    const gint64 n = grid->axis[2].n, traces = litho_grid_traces(grid), length = 2 * (BINS - 1);
    LithoNoise noise = {.n = BINS, .sigma = g_new0(double, BINS)};
    g_autofree double *wave = g_new(double, length);
    for (gint64 t = 0; t < length; t++)
        wave[t] = cos(2 * G_PI * t / length);
    double power = 0;
    gint64 pieces = 0;
    for (gint64 x = 0; x < traces; x++)
        for (gint64 at = 0; at + length <= n; at += length, pieces++)
            for (int f = 0; f < BINS; f++) {
                double re = 0, im = 0;
                for (gint64 t = 0; t < length; t++) {
                    const double v = (double)c->noisy->samples[x * n + at + t] -
                                     c->truth->samples[x * n + at + t];
                    re += v * wave[f * t % length];
                    im += v * wave[(f * t + 3 * length / 4) % length];
                }
                noise.sigma[f] += re * re + im * im;
            }
    for (gint64 k = 0; k < traces * n; k++)
        power += pow((double)c->noisy->samples[k] - c->truth->samples[k], 2);
    for (int f = 0; f < BINS; f++)
        noise.sigma[f] = sqrt(noise.sigma[f] / pieces / length);
    noise.total = noise.low = noise.high = sqrt(power / (traces * n));
    return noise;
}

LithoQuality quality_judge(const LithoFlow *flow, const Cubes *c, const LithoNoise *noise,
                           double hide)
{
    LithoJudge *j = litho_judge_new(litho_device_cpu());
    LithoQualityAsk ask = {.flow = flow,
                           .in = c->noisy,
                           .noise = noise,
                           .reference = c->truth,
                           .hide = hide,
                           .folds = 4,
                           .seed = 1};
    LithoQuality q;
    GError *error = NULL;
    litho_judge_run(j, &ask, NULL, &q, &error);
    g_assert_no_error(error);
    litho_judge_free(j);
    return q;
}

LithoQuality quality_pass(const LithoFlow *flow, LithoCube *in, LithoCube *truth, LithoCube **out)
{
    LithoJudge *judge = litho_judge_new(litho_device_cpu());
    LithoNoise noise;
    LithoQuality q;
    g_assert_true(litho_quality_noise(in, NULL, NULL, &noise, NULL));
    g_test_message("lumps %.2f", noise.lumps);
    const LithoQualityAsk ask = {
        .flow = flow, .in = in, .noise = &noise, .reference = truth, .seed = 1};
    g_assert_true(litho_judge_run(judge, &ask, NULL, &q, NULL));
    if (out)
        *out = litho_cube_copy_box(litho_judge_output(judge), in->held, NULL);
    litho_noise_clear(&noise);
    litho_judge_free(judge);
    g_test_message("told %.2f, true %.2f dB", q.expected_snr_db, q.snr_db);
    return q;
}
