// SPDX-License-Identifier: GPL-3.0-or-later
//
// Noise that the F-X filter removes and its cost to the signal, on the cube of docs/fx.md:
// two dipping planes, a hyperboloid and a folded event in white noise. Figures are statistical; the
// seeds are fixed, and the thresholds lie 0.2 to 0.3 dB below what other noise gave.
#include <complex.h>

#include "core/synth/synth.h"
#include "tests/common.h"
#include "tests/fx_common.h"
#include "tests/fx_reference.h"

#define BAND "fmin=3 fmax=80 outband=mute "

static double ricker(double t, double f)
{
    double a = pow(G_PI * f * t, 2);
    return (1 - 2 * a) * exp(-a);
}

static LithoCube *events(int n)
{
    LithoCube *cube = fx_cube(n, n, 250);
    float *at = cube->samples;
    for (int x = 0; x < n; x++)
        for (int y = 0; y < n; y++)
            for (int k = 0; k < 250; k++) {
                double X = x - 18.5, Y = y - 18.5, t = k * 0.004;
                double bend = 0.015 * sin(2 * G_PI * x / 40) * cos(2 * G_PI * y / 50);
                double hyperbola = sqrt(0.75 * 0.75 + pow(0.010 * X, 2) + pow(0.008 * Y, 2));
                *at++ =
                    (float)(ricker(t - 0.30 - 0.0030 * X - 0.0010 * Y, 30) +
                            0.8 * ricker(t - 0.62 + 0.0022 * X - 0.0024 * Y, 25) +
                            0.9 * ricker(t - hyperbola, 30) + 0.7 * ricker(t - 0.88 - bend, 28));
            }
    return cube;
}

static LithoCube *with_noise(const LithoCube *clean, double snr_db, guint32 seed)
{
    const gint64 n = litho_cube_held_samples(clean);
    LithoCube *cube = litho_cube_copy_box(clean, clean->held, NULL);
    g_autofree double *noise = g_new(double, n);
    GRand *rand = g_rand_new_with_seed(seed);
    double signal = 0, energy = 0;
    for (gint64 k = 0; k < n; k++) {
        noise[k] = fx_normal(rand);
        energy += noise[k] * noise[k];
        signal += (double)clean->samples[k] * clean->samples[k];
    }
    double scale = sqrt(signal / energy * pow(10, -snr_db / 10));
    for (gint64 k = 0; k < n; k++)
        cube->samples[k] += (float)(scale * noise[k]);
    g_rand_free(rand);
    return cube;
}

// gain: SNR out - SNR in, dB. kept: <out, clean> / <clean, clean>. leak: correlation of what was
// removed with the clean cube. Over the traces that are live.
typedef struct Quality {
    double gain, kept, leak;
} Quality;

static Quality quality(const LithoCube *clean, const LithoCube *noisy, const LithoCube *out)
{
    double ss = 0, before = 0, after = 0, os = 0, rs = 0, rr = 0;
    const gint64 nt = clean->grid.axis[2].n;
    for (gint64 k = 0; k < litho_cube_held_samples(clean); k++) {
        double s = clean->samples[k], d = noisy->samples[k], y = out->samples[k];
        if (!noisy->live[k / nt])
            continue;
        ss += s * s;
        before += (d - s) * (d - s);
        after += (y - s) * (y - s);
        os += y * s;
        rs += (d - y) * s;
        rr += (d - y) * (d - y);
    }
    return (Quality){10 * log10(before / after), os / ss, rs / sqrt(rr * ss)};
}

static Quality measure(const LithoCube *clean, const LithoCube *noisy, const char *settings)
{
    g_autofree char *all = g_strconcat(BAND, settings, NULL);
    g_autoptr(LithoCube) out = fx_run(noisy, all, NULL, NULL);
    Quality q = quality(clean, noisy, out);
    g_test_message("  %-42s gain %5.2f dB  kept %.3f  leak %.3f", settings, q.gain, q.kept, q.leak);
    return q;
}

// --- the 2-D filter everyone has --------------------------------------------------------------

// Forward (sign 1) or backward one-step prediction of one line by least squares with `order` taps,
// damped by 0.1 % ... 10 % of the mean diagonal; traces without enough neighbours keep their value.
static void predict_line(const double complex *s, int n, int order, double damping, int sign,
                         double complex *out)
{
    double complex a[8][9];
    double trace = 0;
    memset(a, 0, sizeof a);
    for (int x = order; x < n; x++)
        for (int i = 0; i < order; i++) {
            int at = sign > 0 ? x : n - 1 - x;
            for (int j = 0; j <= order; j++)
                a[i][j] +=
                    conj(s[at - sign * (i + 1)]) * (j < order ? s[at - sign * (j + 1)] : s[at]);
        }
    for (int i = 0; i < order; i++)
        trace += creal(a[i][i]);
    for (int i = 0; i < order; i++)
        a[i][i] += damping * trace / order + 1e-300;
    for (int c = 0; c < order; c++) // the matrix is positive definite: no pivots needed
        for (int r = 0; r < order; r++)
            if (r != c) {
                double complex f = a[r][c] / a[c][c];
                for (int k = c; k <= order; k++)
                    a[r][k] -= f * a[c][k];
            }
    for (int x = 0; x < n; x++) {
        int at = sign > 0 ? x : n - 1 - x;
        double complex sum = 0;
        for (int i = 0; i < order && x >= order; i++)
            sum += a[i][order] / a[i][i] * s[at - sign * (i + 1)];
        out[at] = x < order ? s[at] : sum;
    }
}

// Canales' filter inline by inline: mean of forward and backward prediction, whole traces, the band
// of the others.
static LithoCube *canales(const LithoCube *in, int order, double damping)
{
    const int n1 = (int)in->grid.axis[0].n, n = (int)in->grid.axis[1].n, nt = 250, nfft = 512;
    LithoCube *out = litho_cube_new(&in->grid, NULL);
    double complex s[64], forward[64], backward[64];
    for (int bin = 0; bin <= nfft / 2; bin++) {
        double f = bin / (nfft * 0.004);
        if (f < 3 || f > 80)
            continue;
        for (int i = 0; i < n1; i++) {
            const double complex step = cexp(-2 * G_PI * I * bin / nfft);
            for (int j = 0; j < n; j++) {
                double complex phase = 1;
                s[j] = 0;
                for (int t = 0; t < nt; t++, phase *= step)
                    s[j] += in->samples[((gint64)i * n + j) * nt + t] * phase;
            }
            predict_line(s, n, order, damping, 1, forward);
            predict_line(s, n, order, damping, -1, backward);
            for (int j = 0; j < n; j++) {
                double complex y = 0.5 * (forward[j] + backward[j]), phase = 2.0 / nfft;
                for (int t = 0; t < nt; t++, phase *= conj(step))
                    out->samples[((gint64)i * n + j) * nt + t] += (float)creal(y * phase);
            }
        }
    }
    return out;
}

// --- tests ------------------------------------------------------------------------------------

// Acceptance 4 of the design, 0 dB: the gain, the signal kept, the leak; the strong preset; and at
// least 4.5 dB more than the best of three 2-D filters of Canales' kind.
static void test_0_db(void)
{
    g_autoptr(LithoCube) clean = events(37);
    g_autoptr(LithoCube) noisy = with_noise(clean, 0, 1);
    Quality normal = measure(clean, noisy, "");
    g_assert_cmpfloat(normal.gain, >=, 13.2);
    g_assert_cmpfloat(normal.kept, >=, 0.98);
    g_assert_cmpfloat(normal.leak, <=, 0.02);
    g_assert_cmpfloat(measure(clean, noisy, "prewhitening=100").gain, >=, 15.8);
    double best = 0;
    for (int order = 4; order <= 8; order += 2) {
        g_autoptr(LithoCube) flat = canales(noisy, order, 0.1);
        Quality q = quality(clean, noisy, flat);
        g_test_message("  2-D by lines, %d taps %20s gain %5.2f dB  kept %.3f  leak %.3f", order,
                       "", q.gain, q.kept, q.leak);
        best = fmax(best, q.gain);
    }
    g_assert_cmpfloat(best, >, 7); // the rival works
    g_assert_cmpfloat(normal.gain - best, >=, 4.5);
}

static void test_minus_3_db(void)
{
    g_autoptr(LithoCube) clean = events(37);
    g_autoptr(LithoCube) noisy = with_noise(clean, -3, 1);
    g_assert_cmpfloat(measure(clean, noisy, "").gain, >=, 13.2);
    g_assert_cmpfloat(measure(clean, noisy, "prewhitening=100").gain, >=, 16.4);
}

// Property: other settings do as the manual says, to 0.4 dB: post keeps amplitudes, half 2 and
// window 30 gain, the autocorrelation form and unfitted edges lose.
static void test_settings(void)
{
    g_autoptr(LithoCube) clean = events(37);
    g_autoptr(LithoCube) noisy = with_noise(clean, 0, 1);
    double normal = measure(clean, noisy, "prewhitening=1").gain;
    Quality post = measure(clean, noisy, "prewhitening=100 post=on");
    g_assert_cmpfloat(fabs(post.gain - 14.0), <, 0.4);
    g_assert_cmpfloat(post.kept, >, 0.98);
    g_assert_cmpfloat(measure(clean, noisy, "half_width=2 prewhitening=1").gain, >, normal + 1);
    g_assert_cmpfloat(measure(clean, noisy, "window=30 prewhitening=1").gain, >, normal + 1);
    g_assert_cmpfloat(measure(clean, noisy, "form=acf prewhitening=1").gain, <, normal - 0.8);
    g_assert_cmpfloat(measure(clean, noisy, "edge=renorm prewhitening=1").gain, <, normal - 1);
    g_assert_cmpfloat(measure(clean, noisy, "edge=zero prewhitening=1").gain, <, normal - 1);
}

// Automatic prewhitening is ahead of every fixed value in strong, equal and weak noise, whole band,
// and loses less of the signal than the strongest of them that comes near.
static void test_automatic(void)
{
    static const char *const fixed[] = {"1", "3", "10", "30", "100", "300"};
    g_autoptr(LithoCube) clean = events(37);
    for (double snr = -6; snr <= 20; snr += 13) {
        g_autoptr(LithoCube) noisy = with_noise(clean, snr, 1);
        const Quality q = measure(clean, noisy, "fmin=0 fmax=0 prewhitening=automatic");
        for (guint k = 0; k < G_N_ELEMENTS(fixed); k++) {
            g_autofree char *settings = g_strconcat("fmin=0 fmax=0 prewhitening=", fixed[k], NULL);
            g_assert_cmpfloat(measure(clean, noisy, settings).gain, <, q.gain);
        }
        g_assert_cmpfloat(q.kept, >, snr < 0 ? 0.8 : 0.9);
    }
}

// Property: where noise is weak, automatic prewhitening comes within 0.7 dB of the best fixed one:
// curved events need filters of large coefficients, which strong damping takes signal from.
static void test_automatic_weak(void)
{
    static const char *const fixed[] = {"0.1", "1", "10"};
    g_auto(GStrv) words = g_strsplit("inlines=48 xlines=48 samples=192 snr=30 seed=5", " ", -1);
    const LithoSynth *synth = litho_synth_find("curved");
    g_autofree void *params = g_malloc0(synth->params.size);
    litho_param_defaults(&synth->params, params);
    for (char **word = words; *word; word++) {
        g_auto(GStrv) pair = g_strsplit(*word, "=", 2);
        g_assert_true(litho_param_parse(&synth->params, params, pair[0], pair[1], NULL));
    }
    g_autoptr(LithoCube) noisy = NULL;
    g_autoptr(LithoCube) clean = NULL;
    g_assert_true(synth->make(params, NULL, &noisy, &clean, NULL, NULL));
    g_autoptr(LithoCube) out = fx_run(noisy, "fmin=0 fmax=0 prewhitening=automatic", NULL, NULL);
    const double automatic = -20 * log10(fx_relative(out, clean));
    for (guint k = 0; k < G_N_ELEMENTS(fixed); k++) {
        g_autofree char *settings = g_strconcat("fmin=0 fmax=0 prewhitening=", fixed[k], NULL);
        g_autoptr(LithoCube) other = fx_run(noisy, settings, NULL, NULL);
        const double snr = -20 * log10(fx_relative(other, clean));
        g_test_message("  automatic %.2f dB, %s %%: %.2f dB", automatic, fixed[k], snr);
        g_assert_cmpfloat(automatic, >, snr - 0.7);
    }
}

// Property: the default time windows are ahead of 150 samples that overlap by 50 by 2 dB and more,
// in strong, equal and weak noise.
static void test_short_windows(void)
{
    g_autoptr(LithoCube) clean = events(37);
    for (double snr = -6; snr <= 20; snr += 13) {
        g_autoptr(LithoCube) noisy = with_noise(clean, snr, 1);
        static const char all[] = "fmin=0 fmax=0 prewhitening=automatic";
        const double normal = measure(clean, noisy, all).gain;
        g_autofree char *longer = g_strconcat(all, " time_window=150 time_overlap=50", NULL);
        g_assert_cmpfloat(normal - measure(clean, noisy, longer).gain, >, 1.8);
    }
}

// Property: the plain prediction's loss on these events without noise, as SNR to 0.7 dB: bending
// events leak.
static void test_distortion(void)
{
    g_autoptr(LithoCube) events_alone = events(37);
    g_autoptr(LithoCube) clean = with_noise(events_alone, 90, 1); // zeros would stay zero, as mutes
    const double expected[][2] = {{0.1, 49.4}, {1, 41.0}, {10, 31.2}, {100, 22.7}};
    for (guint k = 0; k < G_N_ELEMENTS(expected); k++) {
        g_autofree char *settings =
            g_strdup_printf("fmin=0 fmax=0 faults=off prewhitening=%g", expected[k][0]);
        g_autoptr(LithoCube) out = fx_run(clean, settings, NULL, NULL);
        double snr = -20 * log10(fx_relative(out, clean));
        g_test_message("  noiseless, prewhitening %g: %.1f dB", expected[k][0], snr);
        g_assert_cmpfloat(fabs(snr - expected[k][1]), <, 0.7);
    }
}

// Acceptance 6: 5 % of the traces dead and one NaN cost 0.6 dB at most on the live ones.
static void test_dead_traces(void)
{
    g_autoptr(LithoCube) clean = events(37);
    g_autoptr(LithoCube) noisy = with_noise(clean, 0, 1);
    GRand *rand = g_rand_new_with_seed(2);
    for (gint64 k = 0; k < 37 * 37; k++)
        if (g_rand_double(rand) < 0.05) {
            noisy->live[k] = 0;
            memset(noisy->samples + 250 * k, 0, 250 * sizeof(float));
        }
    g_rand_free(rand);
    const gint64 odd = 37 * 18 + 18;
    noisy->samples[250 * odd + 100] = NAN;
    g_autoptr(LithoCube) out = fx_run(noisy, BAND, NULL, NULL);
    for (gint64 k = 0; k < litho_cube_held_samples(out); k++)
        g_assert_true(isfinite(out->samples[k]) || k == 250 * odd + 100);
    noisy->live[odd] = 0; // from here on: quality() cannot weigh it
    Quality q = quality(clean, noisy, out);
    g_test_message("  5 %% dead: gain %.2f dB", q.gain);
    g_assert_cmpfloat(q.gain, >=, 13.3);
}

// The paper's solver: on its own system (autocorrelation, 7 x 7) Jacobi's iteration converges
// nowhere without noise and hardly anywhere with it. The operator counts as the direct iteration
// does: the frequencies of the first 150 samples, all windows.
static void test_jacobi(void)
{
    const double snr[] = {INFINITY, 10, 0, -3, -10};
    const double prewhitening[] = {1, 10, 100};
    g_autoptr(LithoCube) clean = events(37);
    for (guint p = 0; p < G_N_ELEMENTS(prewhitening); p++) {
        int worse = -1;
        for (guint k = 0; k < G_N_ELEMENTS(snr); k++) {
            g_autoptr(LithoCube) noisy =
                isinf(snr[k]) ? litho_cube_ref(clean) : with_noise(clean, snr[k], 1);
            LithoReport *report = litho_report_new();
            g_autofree char *settings =
                g_strdup_printf(BAND "form=acf solver=jacobi time_window=150 time_overlap=50 "
                                     "prewhitening=%g",
                                prewhitening[p]);
            LithoBox top = litho_box_slice(&noisy->grid, 2, 40); // the first time window only
            g_autoptr(LithoCube) out = fx_run(noisy, settings, &top, &(LithoRun){.report = report});
            double systems = 0, lost = 0;
            litho_report_get(report, "systems", &systems);
            litho_report_get(report, "fallbacks", &lost);
            litho_report_unref(report);
            int converged = 0, tried = 0;
            for (int bin = 4; bin <= 79; bin += 5)
                for (int w = 0; w < 4; w++, tried++) {
                    double complex s[20 * 20];
                    for (int t = 0; t < 400; t++) {
                        int x = t / 20 + 17 * (w / 2), y = t % 20 + 17 * (w % 2);
                        s[t] = 0;
                        for (int n = 0; n < 150; n++)
                            s[t] += noisy->samples[((gint64)x * 37 + y) * 250 + n] *
                                    cexp(-2 * G_PI * I * bin * n / 256);
                    }
                    converged += fx_ref_jacobi(20, 20, 20, s, 3, prewhitening[p]);
                }
            g_test_message(
                "  prewhitening %3g %%, SNR %3g dB: %.0f of %.0f converge; directly %d of "
                "%d",
                prewhitening[p], snr[k], systems - lost, systems, converged, tried);
            if (isinf(snr[k])) {
                g_assert_cmpfloat(systems, ==, lost);
                g_assert_cmpint(converged, ==, 0);
            }
            // The share of all frequencies equals the share of every fifth, as far as 64 samples
            // can tell.
            g_assert_cmpfloat(fabs((systems - lost) / systems - converged / 64.0), <, 0.12);
            g_assert_cmpint((int)(systems - lost), >=, worse); // more noise, more convergence
            worse = (int)(0.9 * (systems - lost));
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    test_add_answers("/fx-gain/0-db", test_0_db);
    test_add_answers("/fx-gain/minus-3-db", test_minus_3_db);
    g_test_add_func("/fx-gain/settings", test_settings);
    test_add_answers("/fx-gain/automatic", test_automatic);
    test_add_answers("/fx-gain/automatic-weak", test_automatic_weak);
    test_add_answers("/fx-gain/short-windows", test_short_windows);
    test_add_answers("/fx-gain/distortion", test_distortion);
    g_test_add_func("/fx-gain/dead-traces", test_dead_traces);
    g_test_add_func("/fx-gain/jacobi", test_jacobi);
    return g_test_run();
}
