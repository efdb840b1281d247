// SPDX-License-Identifier: GPL-3.0-or-later
//
// How long each live figure of the window takes: figure-times [N1xN2xN3 [OPERATOR [cuda|cpu]]]
//
// The questions are the window's own (ui/session/judgement.c, numbers.c, area.c), of a generated
// survey; the first answer also makes plans and measures the noise, the others are those of a
// slider that moves. Prints a table for docs/decide.md. No test: times prove nothing on a busy
// machine.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine/quality.h"
#include "core/resolve.h"
#include "core/synth/synth.h"
#include "kernels/kernels.h"

enum { RUNS = 7, TRACES = 2000, BINS = 4096 };

typedef struct Subject {
    LithoCube *in, *out; // out: a slider's newest result, where the flow left it
    LithoEngine *engine;
    LithoFlow *flow;
    LithoJudge *judge;
    LithoNoise noise;
    LithoBox area;
    gboolean similarity;
    float *section;
    guint traces, samples;
} Subject;

typedef void (*Figure)(Subject *s, int number);

static void fail(GError *error)
{
    fprintf(stderr, "figure-times: %s\n", error ? error->message : "failed");
    exit(1);
}

static void level(Subject *s, int number)
{
    (void)number;
    GError *error = NULL;
    litho_noise_clear(&s->noise);
    if (!litho_quality_noise(s->in, &s->area, NULL, &s->noise, &error))
        fail(error);
}

// A slider moves: another value of the operator's first parameter that Find names.
static void move_slider(Subject *s, int number)
{
    LithoStep *step = litho_flow_step(s->flow, 0);
    const LithoParam *row = litho_param_find(&step->op->params, step->op->find[0].key);
    const double from = row->soft_min > 0 ? row->soft_min : row->min;
    litho_param_set(row, step->params, from + (number + 1) * 0.05 * (row->soft_max - from), NULL);
}

// The result of another value, on a device where there is one.
static void compute(Subject *s, int number)
{
    GError *error = NULL;
    move_slider(s, number);
    litho_cube_unref(s->out);
    s->out = litho_engine_run(s->engine, s->flow, s->in, NULL, NULL, &error);
    if (!s->out)
        fail(error);
}

static void expected(Subject *s, int number)
{
    move_slider(s, number);
    LithoQualityAsk ask = {.flow = s->flow,
                           .in = s->in,
                           .area = s->area,
                           .noise = &s->noise,
                           .seed = 1,
                           .similarity = s->similarity};
    LithoQuality quality;
    GError *error = NULL;
    if (!litho_judge_run(s->judge, &ask, NULL, &quality, &error))
        fail(error);
}

static void figures(Subject *s, int number)
{
    s->similarity = TRUE;
    expected(s, number);
    s->similarity = FALSE;
}

// Of an output on a device there, as in the window.
static void maps(Subject *s, int number)
{
    GError *error = NULL;
    for (int axis = 0; axis < 3; axis++) {
        const LithoBox box =
            litho_box_slice(&s->in->grid, axis, s->in->grid.axis[axis].n / 2 + number);
        LithoCube *map;
        if (!litho_similarity(s->in, s->out, box, NULL, NULL, &map, &error))
            fail(error);
        litho_cube_unref(map);
    }
}

// On the host, of what the last question judged.
static void maps_beside(Subject *s, int number)
{
    GError *error = NULL;
    g_autoptr(LithoBeside) beside = litho_judge_beside(s->judge);
    for (int axis = 0; axis < 3; axis++) {
        const LithoBox box =
            litho_box_slice(&s->in->grid, axis, s->in->grid.axis[axis].n / 2 + number);
        LithoCube *map;
        if (!litho_beside_map(beside, box, NULL, NULL, &map, &error))
            fail(error);
        litho_cube_unref(map);
    }
}

static void spectra(Subject *s, int number)
{
    (void)number;
    GError *error = NULL;
    LithoSpectrum spectrum;
    LithoCube *const cubes[] = {s->in, s->out};
    for (int k = 0; k < 2; k++) {
        if (!litho_qc_spectrum(cubes[k], NULL, TRACES, NULL, &spectrum, &error))
            fail(error);
        litho_spectrum_clear(&spectrum);
    }
}

static void fk(Subject *s, int number)
{
    (void)number;
    GError *error = NULL;
    for (int k = 0; k < 3; k++) {
        LithoFk answer = {0};
        if (!litho_qc_fk(s->section, s->traces, s->samples, &answer, &error))
            fail(error);
        litho_fk_clear(&answer);
    }
}

// Of a result of a drag, where it is.
static void histogram(Subject *s, int number)
{
    (void)number;
    static double counts[BINS];
    litho_qc_histogram(s->out, -3, 3, BINS, counts);
}

static void statistics(Subject *s, int number)
{
    (void)number;
    LithoStats stats;
    GError *error = NULL;
    if (!litho_qc_stats(s->out, NULL, &stats, &error))
        fail(error);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// `before` (NULL = nothing) is not timed.
static void time_figure(const char *name, Figure before, Figure figure, Subject *s)
{
    double first = 0, more[RUNS];
    for (int k = 0; k <= RUNS; k++) {
        if (before)
            before(s, k);
        const double start = litho_now_ms();
        figure(s, k);
        *(k == 0 ? &first : &more[k - 1]) = litho_now_ms() - start;
    }
    qsort(more, RUNS, sizeof *more, compare);
    printf("| %s | %.1f | %.1f | %.1f |\n", name, first, more[RUNS / 2], more[RUNS - 1]);
    fflush(stdout);
}

static void make_survey(Subject *s, const char *size)
{
    const LithoSynth *synth = litho_synth_find("fault");
    g_autofree void *params = g_malloc0(synth->params.size);
    litho_param_defaults(&synth->params, params);
    static const char *const keys[] = {"inlines", "xlines", "samples"};
    g_auto(GStrv) n = g_strsplit(size, "x", -1);
    GError *error = NULL;
    for (int k = 0; k < 3; k++)
        if (g_strv_length(n) != 3 ||
            !litho_param_parse(&synth->params, params, keys[k], n[k], &error))
            fail(error);
    LithoCube *truth = NULL;
    if (!synth->make(params, NULL, &s->in, &truth, NULL, &error))
        fail(error);
    litho_cube_unref(truth);
}

int main(int argc, char **argv)
{
    const char *size = argc > 1 ? argv[1] : "100x120x300", *key = argc > 2 ? argv[2] : "fx";
    litho_kernels_init();
    LithoDevice device = litho_device_cpu();
    GError *error = NULL;
    const LithoOperator *op = litho_operator_find(key);
    if (!op || !op->find || (argc > 3 && !litho_device_parse(argv[3], &device, &error)))
        fail(error);
    Subject s = {.flow = litho_flow_new(), .judge = litho_judge_new(device)};
    litho_flow_append(s.flow, op);
    make_survey(&s, size);
    s.engine = litho_engine_new(device);
    compute(&s, 0);
    s.area = litho_quality_area(s.flow, s.in->held);
    s.traces = (guint)s.in->grid.axis[1].n;
    s.samples = (guint)s.in->grid.axis[2].n;
    s.section = s.in->samples; // the first inline
    printf("%s, %s, %s\n\n| figure | first, ms | median | longest of %d |\n|---|---|---|---|\n",
           size, key, argc > 3 ? argv[3] : "cpu", RUNS);
    time_figure("noise level, once an area", NULL, level, &s);
    time_figure("expected SNR and removed energy", NULL, expected, &s);
    time_figure("the same with leakage", NULL, figures, &s);
    time_figure("similarity of the three slices", compute, maps, &s);
    time_figure("the same beside the noise", expected, maps_beside, &s);
    time_figure("spectra of input and output", NULL, spectra, &s);
    time_figure("f-k of input, output, removed", NULL, fk, &s);
    time_figure("statistics of the output", NULL, statistics, &s);
    time_figure("histogram of the output", compute, histogram, &s);
    litho_engine_free(s.engine);
    litho_judge_free(s.judge);
    litho_noise_clear(&s.noise);
    litho_cube_unref(s.in);
    litho_cube_unref(s.out);
    litho_flow_free(s.flow);
    return 0;
}
