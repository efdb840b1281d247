// SPDX-License-Identifier: GPL-3.0-or-later
//
// Windows with absent traces, one at a time: equations brought up to date after every fill pass
// give the filter that equations formed again give, at a fraction of the operations. Surveys of
// which every second line is missing.
#include <math.h>
#include <stdlib.h>

#include "core/synth/synth_parts.h"
#include "tests/common.h"
#include "tests/fx_common.h"

typedef struct Case {
    const char *settings;
    int n_il, n_xl; // survey
    FxRect window;
    double absent;  // share of the traces
    double cheaper; // the updated window's share of the operations is below this
} Case;

static const FxIsa *isa(void)
{
    return &fx_isa;
}

static int always(void *data)
{
    (void)data;
    return 1;
}

// Two plane waves and noise in every lane; absent traces are zero.
static void make_survey(const Case *c, float *spectra, uint8_t *present)
{
    const int lanes = isa()->lanes;
    g_autoptr(GRand) rand = g_rand_new_with_seed(17);
    for (int il = 0; il < c->n_il; il++)
        for (int xl = 0; xl < c->n_xl; xl++) {
            const int trace = il * c->n_xl + xl;
            float *re = spectra + (gsize)2 * lanes * trace, *im = re + lanes;
            present[trace] = g_rand_double(rand) >= c->absent;
            for (int l = 0; l < lanes; l++) {
                const double a = (0.3 + 0.01 * l) * il + 0.2 * xl, b = 0.1 * xl - 0.02 * l * il;
                re[l] = present[trace] * (float)(cos(a) + 0.6 * cos(b) + 0.5 * fx_normal(rand));
                im[l] = present[trace] * (float)(sin(a) + 0.6 * sin(b) + 0.5 * fx_normal(rand));
            }
        }
}

static double run_window(const Case *c, const LithoFxParams *params, const float *spectra,
                         const uint8_t *present, int anew, float *out)
{
    const int il = c->window.il1 - c->window.il0, xl = c->window.xl1 - c->window.xl0;
    void *scratch = NULL;
    FxCounts counts;
    FxWindow w = {.params = params,
                  .n_il = c->n_il,
                  .n_xl = c->n_xl,
                  .held = {0, c->n_il, 0, c->n_xl},
                  .window = c->window,
                  .spectra = spectra,
                  .present = present,
                  .out = out,
                  .anew = anew,
                  .go_on = always};
    g_assert_cmpint(posix_memalign(&scratch, 64, isa()->scratch_bytes(il, xl, params->half_width)),
                    ==, 0);
    g_assert_cmpint(isa()->filter(&w, scratch, &counts), ==, 1);
    free(scratch);
    return counts.flops;
}

static void compare(const Case *c)
{
    const int lanes = isa()->lanes, traces = c->n_il * c->n_xl;
    const gsize n =
        (gsize)2 * lanes * (c->window.il1 - c->window.il0) * (c->window.xl1 - c->window.xl0);
    const LithoFxParams params = fx_params(c->settings);
    void *spectra = NULL, *out[2] = {NULL, NULL};
    g_autofree uint8_t *present = g_malloc(traces);
    g_assert_cmpint(posix_memalign(&spectra, 64, sizeof(float) * 2 * lanes * traces), ==, 0);
    make_survey(c, spectra, present);
    double flops[2], gone = 0, all = 0;
    for (int k = 0; k < 2; k++) {
        g_assert_cmpint(posix_memalign(&out[k], 64, sizeof(float) * n), ==, 0);
        flops[k] = run_window(c, &params, spectra, present, k, out[k]);
    }
    for (gsize k = 0; k < n; k++) {
        const double a = ((float *)out[0])[k], b = ((float *)out[1])[k];
        gone += (a - b) * (a - b);
        all += b * b;
    }
    g_test_message("%s, %g %% absent: %.1e apart, %.2f of the operations", c->settings,
                   100 * c->absent, sqrt(gone / all), flops[0] / flops[1]);
    g_assert_cmpfloat(all, >, 0);
    g_assert_cmpfloat(sqrt(gone / all), <, 1e-5);
    g_assert_cmpfloat(flops[0], <=, c->cheaper * flops[1]);
    free(spectra);
    free(out[0]);
    free(out[1]);
}

// Interior windows, corners, shapes, most traces absent, settings under which nothing is updated.
static void test_updated(void)
{
    const Case cases[] = {
        {"", 40, 40, {10, 30, 10, 30}, 0.04, 0.5},
        {"", 40, 40, {0, 20, 20, 40}, 0.04, 0.8},
        {"prewhitening=0.1", 40, 40, {10, 30, 10, 30}, 0.02, 0.5},
        {"half_width=2 fill_passes=6", 30, 30, {5, 25, 5, 25}, 0.08, 0.7},
        {"half_width=5 edge=zero", 60, 50, {20, 44, 0, 24}, 0.03, 0.6},
        {"edge=renorm post=on", 33, 24, {13, 33, 4, 24}, 0.05, 0.7},
        {"", 9, 40, {0, 9, 10, 30}, 0.05, 1.0}, // narrower than two blocks
        {"", 40, 40, {10, 30, 10, 30}, 0.6, 1.0},
        {"form=acf", 40, 40, {10, 30, 10, 30}, 0.04, 1.0},
        {"post=on outband=mute", 40, 40, {10, 30, 10, 30}, 0.04, 0.6},
    };
    for (gsize k = 0; k < G_N_ELEMENTS(cases); k++)
        compare(&cases[k]);
}

// Property: where every second line of an axis is missing no recorded trace comes out worse than it
// was. Those near the edges, whose places in the blocks beside them are never recorded beside a
// recorded centre, stay as they are (they were zero).
static void test_every_second(void)
{
    const FxWave waves[] = {{1, 0.3, 0.2}, {0.7, -0.5, 0.1}};
    g_autoptr(LithoCube) truth = fx_plane_waves(40, 37, waves, 2);
    const gint64 nt = truth->grid.axis[2].n, n_xl = 37;
    for (int which = 0; which < 8; which++) {
        g_autoptr(LithoCube) in = litho_cube_copy_box(truth, truth->held, NULL);
        for (gint64 k = 0; k < litho_grid_traces(&in->grid); k++) {
            const gint64 line = which & 1 ? k % n_xl : k / n_xl;
            in->live[k] = line % 2 == (which >> 1 & 1);
            for (gint64 t = k * nt; t < (k + 1) * nt; t++)
                in->samples[t] =
                    in->live[k] ? in->samples[t] + (float)(0.4 * litho_hash_normal(4, 1, t)) : 0;
        }
        g_autoptr(LithoCube) out = fx_run(in, which >> 2 ? "post=on" : "", NULL, NULL);
        double least = INFINITY, all_noise = 0, all_error = 0;
        for (gint64 k = 0; k < litho_grid_traces(&in->grid); k++) {
            double noise = 0, error = 0;
            for (gint64 t = k * nt; in->live[k] && t < (k + 1) * nt; t++) {
                noise += pow((double)truth->samples[t] - in->samples[t], 2);
                error += pow((double)truth->samples[t] - out->samples[t], 2);
            }
            least = in->live[k] ? fmin(least, 10 * log10(noise / error)) : least;
            all_noise += noise;
            all_error += error;
        }
        g_test_message("case %d: gain %.1f dB, of the worst recorded trace %.1f dB", which,
                       10 * log10(all_noise / all_error), least);
        g_assert_cmpfloat(least, >, -0.5);
        g_assert_cmpfloat(all_noise, >, 3 * all_error);
    }
}

// SNR in dB of the traces that are live in `in`, or of the others.
static double snr_of(const LithoCube *in, gboolean live, const LithoCube *truth,
                     const LithoCube *out)
{
    const gint64 nt = truth->grid.axis[2].n;
    double energy = 0, error = 0;
    for (gint64 t = 0; t < litho_grid_samples(&truth->grid); t++)
        if (!in->live[t / nt] == !live) {
            energy += pow(truth->samples[t], 2);
            error += pow((double)truth->samples[t] - out->samples[t], 2);
        }
    return 10 * log10(energy / error);
}

// Every `every`-th trace of each axis of two plane waves in noise at 6 dB.
static LithoCube *sparse_survey(const LithoCube *truth, int every)
{
    LithoCube *in = litho_cube_copy_box(truth, truth->held, NULL);
    const gint64 nt = truth->grid.axis[2].n, n_il = truth->grid.axis[0].n,
                 n_xl = truth->grid.axis[1].n;
    for (gint64 k = 0; k < n_il * n_xl; k++) {
        const gboolean there = k % n_xl % every == 0 && (n_il == 1 || k / n_xl % every == 0);
        in->live[k] = there;
        for (gint64 t = k * nt; t < (k + 1) * nt; t++)
            in->samples[t] = there ? in->samples[t] + (float)(0.4 * litho_hash_normal(4, 1, t)) : 0;
    }
    return in;
}

// Property: recorded traces that are alone stay as they are, and the result says so, as it says
// that what is far from them stays empty. They came out as zeros: what was filled beside them
// counted as their neighbours.
static void test_alone(void)
{
    const FxWave waves[] = {{1, 0.3, 0.2}, {0.7, -0.5, 0.1}};
    for (int line = 0; line < 2; line++)
        for (int fills = 0; fills < 2; fills++) {
            g_autoptr(LithoCube) truth = fx_plane_waves(line ? 1 : 40, 40, waves, 2);
            g_autoptr(LithoCube) in = sparse_survey(truth, line ? 4 : 8);
            LithoRun run = {.report = litho_report_new()};
            g_autoptr(LithoCube) out = fx_run(in, fills ? "fill_dead=on" : "", NULL, &run);
            const double before = snr_of(in, TRUE, truth, in), after = snr_of(in, TRUE, truth, out);
            g_autoptr(GPtrArray) remarks = litho_report_remarks(run.report);
            g_test_message("%s: %.1f dB, %.1f before", line ? "line" : "cube", after, before);
            g_assert_cmpfloat(after, >, before - 0.1);
            g_assert_cmpuint(remarks->len, ==, fills && !line ? 2 : 1);
            litho_report_unref(run.report);
        }
}

// Property: fill_dead=on fills where every second inline, crossline or both are missing. They
// stayed zero: an event and its images at other wavenumbers are alike there.
static void test_fills_regular(void)
{
    const FxWave waves[] = {{1, 0.3, 0.2}, {0.7, -0.5, 0.1}};
    g_autoptr(LithoCube) truth = fx_plane_waves(40, 37, waves, 2);
    g_autoptr(LithoCube) in = sparse_survey(truth, 2);
    g_autoptr(LithoCube) out = fx_run(in, "fill_dead=on", NULL, NULL);
    const double filled = snr_of(in, FALSE, truth, out), live = snr_of(in, TRUE, truth, out);
    g_test_message("filled %.1f dB, recorded %.1f", filled, live);
    g_assert_cmpfloat(filled, >, 10);
    g_assert_cmpfloat(live, >, 10);
}

// Property: a tenth of the traces of a line in noise as strong as they are fills the others better
// than zeros do. Filters fitted to a few recorded traces made noise of them, at -1 dB.
static void test_fills_sparse(void)
{
    const FxWave waves[] = {{1, 0.3, 0.2}, {0.7, -0.5, 0.1}};
    g_autoptr(LithoCube) truth = fx_plane_waves(1, 128, waves, 2);
    g_autoptr(LithoCube) in = litho_cube_copy_box(truth, truth->held, NULL);
    const gint64 nt = truth->grid.axis[2].n;
    double power = 0;
    for (gint64 t = 0; t < 128 * nt; t++)
        power += pow(truth->samples[t], 2) / (double)(128 * nt);
    for (gint64 k = 0; k < 128; k++) {
        in->live[k] = litho_hash_uniform(7, 2, k) < 0.1;
        for (gint64 t = k * nt; t < (k + 1) * nt; t++)
            in->samples[t] =
                in->live[k] ? in->samples[t] + (float)(sqrt(power) * litho_hash_normal(4, 1, t))
                            : 0;
    }
    g_autoptr(LithoCube) out = fx_run(in, "fill_dead=on", NULL, NULL);
    const double filled = snr_of(in, FALSE, truth, out);
    g_test_message("filled %.2f dB", filled);
    g_assert_cmpfloat(filled, >, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/fx/holes/updated", test_updated);
    g_test_add_func("/fx/holes/every-second", test_every_second);
    g_test_add_func("/fx/holes/alone", test_alone);
    g_test_add_func("/fx/holes/fills-regular", test_fills_regular);
    g_test_add_func("/fx/holes/fills-sparse", test_fills_sparse);
    return g_test_run();
}
