// SPDX-License-Identifier: GPL-3.0-or-later
//
// The local Fourier filter's level where an event fills a cell of a line, and where noise grows or
// decays along the traces.
#include <math.h>

#include "kernels/kernels.h"
#include "tests/patch_common.h"

enum { TRACES = 48, SAMPLES = 1024, LAYERS = 14 };

static double ricker(double t, double f)
{
    const double x = G_PI * f * t;
    return (1 - 2 * x * x) * exp(-x * x);
}

// A shot: hyperbolas, and a direct wave of so many times their amplitude and samples a trace.
static LithoCube *shot(double amplitude, double steep)
{
    LithoCube *line = patch_noise(PATCH_WHITE, 1, TRACES, SAMPLES, 0, 1);
    for (int j = 0; j < TRACES; j++)
        for (int k = 0; k < SAMPLES; k++) {
            const double t = 0.004 * k;
            double sum = amplitude * ricker(t - 0.2 - 0.004 * steep * j, 25);
            for (int layer = 0; layer < LAYERS; layer++)
                sum +=
                    cos(3.0 * layer * layer) * ricker(t - hypot(1 + 0.15 * layer, 0.012 * j), 30);
            line->samples[j * SAMPLES + k] = (float)sum;
        }
    return line;
}

// Samples of `noise` times (t0 / (t + t0))^2, t in seconds.
static void decay(LithoCube *noise, double t0)
{
    const gint64 samples = noise->grid.axis[2].n;
    for (gint64 k = 0; k < litho_cube_held_samples(noise); k++)
        noise->samples[k] *= (float)pow(1 + 0.004 * (double)(k % samples) / t0, -2);
}

static double snr_out(const LithoCube *clean, const LithoCube *noise)
{
    g_autoptr(LithoCube) in = patch_sum(clean, noise);
    const LithoPatchParams params = patch_settings("");
    g_autoptr(LithoCube) out = patch_run(&litho_patch_cpu, in, &params, NULL, 0);
    const double own = patch_snr(out, clean, NULL);
    g_test_message("%.2f dB become %.2f dB", patch_snr(in, clean, NULL), own);
    return own;
}

// Property: a direct wave of 20 and 25 samples a trace, which fills whole cells, stays, one and
// five times as strong as the layers. The cell's own level left 22 and 24 dB.
static void test_event(void)
{
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, 1, TRACES, SAMPLES, 0.01, 5);
    for (int steep = 20; steep <= 25; steep += 5) {
        g_autoptr(LithoCube) weak = shot(1, steep), strong = shot(5, steep);
        g_assert_cmpfloat(snr_out(weak, noise), >, 27);
        g_assert_cmpfloat(snr_out(strong, noise), >, 32);
    }
}

// SNR of planes whose noise decays with them, (scale / (t + scale))^2, t in seconds.
static double snr_of_decay(int n1, int n2, int nt, double scale)
{
    g_autoptr(LithoCube) clean = patch_cube(PATCH_PLANES, n1, n2, nt);
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, n1, n2, nt, 0.5, 5);
    decay(clean, scale);
    decay(noise, scale);
    return snr_out(clean, noise);
}

// Property: noise of a line that decays with the events leaves them with 12 dB, where cells of a
// second left them at what they had; noise of a cube that decays to a quarter within the first
// window comes out.
static void test_decay(void)
{
    g_assert_cmpfloat(snr_of_decay(1, 160, 512, 0.3), >, 12);
    g_assert_cmpfloat(snr_of_decay(48, 48, 256, 0.1), >, 18);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/patch-lines/event", test_event);
    g_test_add_func("/patch-lines/decay", test_decay);
    return g_test_run();
}
