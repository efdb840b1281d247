// SPDX-License-Identifier: GPL-3.0-or-later
//
// The wave-packet operator's report to the window beside its samples: boxes for the 3-D scene, the
// histogram with its threshold, counts that agree with each other, and one entry per iteration
// while missing traces are filled.
#include <math.h>
#include <string.h>

#include "core/engine/engine.h"
#include "kernels/wavepacket/wavepacket.h"
#include "tests/wavepacket-data.h"

typedef struct Bench {
    LithoFlow *flow;
    LithoEngine *engine;
    LithoWavepacketParams *p;
    LithoRun run;
    guint partials;
    double iterations[8];
} Bench;

static Bench bench(void)
{
    Bench b = {.flow = litho_flow_new(), .engine = litho_engine_new(litho_device_cpu())};
    litho_flow_append(b.flow, &litho_operator_wavepacket);
    b.p = litho_flow_step(b.flow, 0)->params;
    b.run = (LithoRun){.report = litho_report_new()};
    return b;
}

static void clear(Bench *b)
{
    litho_flow_free(b->flow);
    litho_engine_free(b->engine);
    litho_report_unref(b->run.report);
}

static LithoCube *apply(Bench *b, const LithoCube *in)
{
    g_autoptr(GError) error = NULL;
    LithoCube *out = litho_engine_run(b->engine, b->flow, in, NULL, &b->run, &error);
    g_assert_no_error(error);
    return out;
}

static LithoCube *noisy_events(gint64 n)
{
    LithoGrid grid = litho_grid_new(n, n, n);
    LithoCube *cube = litho_cube_new(&grid, NULL);
    GRand *rand = g_rand_new_with_seed(5);
    wp_test_events(cube->samples, (const gint64[3]){n, n, n});
    for (gint64 i = 0; i < n * n * n; i++)
        cube->samples[i] += (float)(0.2 * wp_test_gauss(rand));
    g_rand_free(rand);
    return cube;
}

static double number(const Bench *b, const char *key)
{
    double value = NAN;
    g_assert_true(litho_report_get(b->run.report, key, &value));
    return value;
}

static const LithoCurve *curve(GArray *curves, const char *key)
{
    for (guint i = 0; i < curves->len; i++)
        if (strcmp(g_array_index(curves, LithoCurve, i).key, key) == 0)
            return &g_array_index(curves, LithoCurve, i);
    g_error("no curve %s", key);
}

// Property: at 64^3 there are a coarse box and 27, 75 and 147 directional ones; each is a
// right-angled box about its direction inside the frequency cube (corners may stick out a little:
// the windows' bounding boxes do), and values are shares. The strongest box has value 1. A corner
// order that differs from the scene's, or a transposed frame, breaks the right angles.
static void test_boxes(void)
{
    Bench b = bench();
    g_autoptr(LithoCube) in = noisy_events(64);
    g_autoptr(LithoCube) out = apply(&b, in);
    g_autoptr(GArray) shapes = litho_report_shapes(b.run.report);
    const guint expected[] = {1, 27, 75, 147};
    float strongest = 0;
    g_assert_cmpuint(shapes->len, ==, G_N_ELEMENTS(expected));
    for (guint s = 0; s < shapes->len; s++) {
        const LithoShape *shape = &g_array_index(shapes, LithoShape, s);
        g_test_message("%s: %s, %u boxes", shape->key, shape->label, shape->n / 8);
        g_assert_cmpint(shape->space, ==, LITHO_SPACE_FREQUENCY);
        g_assert_cmpint(shape->kind, ==, LITHO_SHAPE_BOXES);
        g_assert_cmpuint(shape->n, ==, 8 * expected[s]);
        g_assert_nonnull(strstr(shape->label, "kept"));
        for (guint i = 0; i < shape->n / 8; i++) {
            const float *c = shape->xyz + 24 * i;
            double edge[3][3], length[3];
            for (int e = 0; e < 3; e++) {
                length[e] = 0;
                for (int a = 0; a < 3; a++) {
                    edge[e][a] = c[3 * (1 << e) + a] - c[a];
                    length[e] += edge[e][a] * edge[e][a];
                }
            }
            for (int e = 0; e < 3; e++) {
                const double *p = edge[e], *q = edge[(e + 1) % 3];
                g_assert_cmpfloat(fabs(p[0] * q[0] + p[1] * q[1] + p[2] * q[2]), <,
                                  1e-5 * sqrt(length[e] * length[(e + 1) % 3]));
                for (int k = 0; k < 8; k++) // opposite edges are equal
                    for (int a = 0; a < 3 && !(k >> e & 1); a++)
                        g_assert_cmpfloat(fabs(c[3 * (k | 1 << e) + a] - c[3 * k + a] - p[a]), <,
                                          1e-5);
            }
            for (int k = 0; k < 24; k++)
                g_assert_cmpfloat(fabs(c[k]), <, 0.75);
            g_assert_cmpfloat(shape->value[i], >=, 0);
            g_assert_cmpfloat(shape->value[i], <=, 1);
            strongest = MAX(strongest, shape->value[i]);
        }
    }
    g_assert_cmpfloat(strongest, ==, 1);
    clear(&b);
}

// Property: the histogram is drawn as bars with a logarithmic height, the mark stands at the
// threshold, and the bars above it hold as many coefficients as were kept. The difference allowed:
// the bar that the mark cuts, and in denoising the coarse box (35^3), which is kept whatever its
// size.
static void test_histogram(void)
{
    Bench b = bench();
    g_autoptr(LithoCube) in = noisy_events(64);
    for (int compress = 0; compress < 2; compress++) {
        b.p->mode = compress ? WP_COMPRESS : WP_DENOISE;
        g_autoptr(LithoCube) out = apply(&b, in);
        g_autoptr(GArray) curves = litho_report_curves(b.run.report);
        const LithoCurve *h = curve(curves, "magnitudes");
        double above = 0, cut = 0;
        g_assert_true(h->bars && h->log_y && h->log_x);
        g_assert_cmpuint(h->n_marks, ==, 1);
        g_assert_cmpfloat(h->mark[0], ==, number(&b, "threshold_level"));
        for (guint i = 0; i < h->n; i++) {
            above += h->x[i] > h->mark[0] ? h->y[i] : 0;
            cut = fabs(log2(h->x[i] / h->mark[0])) < 0.3 ? MAX(cut, h->y[i]) : cut;
        }
        g_test_message("%s: kept %.0f of %.0f, bars above the mark %.0f, largest bar it cuts %.0f",
                       compress ? "compress" : "denoise", number(&b, "kept"), number(&b, "total"),
                       above, cut);
        g_assert_cmpfloat(fabs(above - number(&b, "kept")), <=,
                          cut + (compress ? 0 : 35 * 35 * 35));
        g_assert_cmpfloat(fabs(number(&b, "cr") * 64 * 64 * 64 - number(&b, "kept")), <, 0.5);
        if (compress)
            g_assert_cmpfloat(fabs(number(&b, "cr") / b.p->keep - 1), <, 1e-3);
    }
    clear(&b);
}

static void watch(LithoCube *part, gpointer data)
{
    Bench *b = data;
    (void)part;
    g_assert_cmpuint(b->partials, <, G_N_ELEMENTS(b->iterations));
    b->iterations[b->partials++] = number(b, "iteration");
}

// Property: while traces are filled, each iteration hands over its result with curves one entry
// longer; the packets explain the recorded traces better each time, with more coefficients. A
// report made only at the end would leave the window without anything to draw.
static void test_iterations(void)
{
    Bench b = bench();
    g_autoptr(LithoCube) in = noisy_events(32);
    for (gint64 t = 0; t < 32 * 32; t += 3)
        in->live[t] = 0;
    b.p->mode = WP_INTERPOLATE;
    b.p->threshold = 0; // it does not stop at the noise, where neither grows any more
    b.p->iterations = 6;
    b.run.on_partial = watch;
    b.run.partial_data = &b;
    g_autoptr(LithoCube) out = apply(&b, in);
    g_assert_cmpuint(b.partials, ==, 6);
    for (int i = 0; i < 6; i++)
        g_assert_cmpfloat(b.iterations[i], ==, i + 1);
    g_autoptr(GArray) curves = litho_report_curves(b.run.report);
    const LithoCurve *snr = curve(curves, "pocs_snr"), *cr = curve(curves, "pocs_cr");
    g_assert_cmpuint(snr->n, ==, 6);
    for (int i = 1; i < 6; i++) {
        g_test_message("iteration %d: CR %.4f, SNR on recorded traces %.1f dB", i + 1, cr->y[i],
                       snr->y[i]);
        g_assert_cmpfloat(snr->y[i], >, snr->y[i - 1]);
        g_assert_cmpfloat(cr->y[i], >=, cr->y[i - 1]);
    }
    g_assert_cmpfloat(fabs(number(&b, "missing") - 100.0 * 342 / 1024), <, 1e-6);
    clear(&b);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/wavepacket-report/boxes", test_boxes);
    g_test_add_func("/wavepacket-report/histogram", test_histogram);
    g_test_add_func("/wavepacket-report/iterations", test_iterations);
    return g_test_run();
}
