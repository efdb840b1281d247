// SPDX-License-Identifier: GPL-3.0-or-later
//
// The spectrum of the QC panel: frequencies and heights against sines that are known exactly.
#include <math.h>

#include "core/error.h"
#include "core/qc.h"
#include "kernels/kernels.h"

enum { N = 500 }; // at 4 ms: df = 0.5 Hz

// Inline 0 carries 30 Hz of amplitude 3, inline 1 is dead (and full of NaN), inline 2 carries 3
// too.
static LithoCube *sines(void)
{
    LithoGrid grid = litho_grid_new(3, 4, N);
    LithoCube *cube = litho_cube_new(&grid, NULL);
    for (gint64 i = 0; i < 3; i++)
        for (gint64 j = 0; j < 4; j++)
            for (gint64 t = 0; t < N; t++)
                litho_cube_trace(cube, i, j)[t] =
                    i == 1 ? NAN : (float)(3 * sin(2 * G_PI * 30 * t * 0.004 + 0.3 * j));
    for (gint64 j = 0; j < 4; j++)
        cube->live[litho_cube_trace_index(cube, 1, j)] = 0;
    return cube;
}

// Property: a sine of amplitude A stands at its frequency with height A, the Hann window leaks A/2
// into each neighbour and nothing further away; dead traces do not count. 1e-4: single precision
// over 500 samples. A wrong window norm, df or mask fails.
static void test_sine(void)
{
    g_autoptr(LithoCube) cube = sines();
    LithoSpectrum s;
    g_assert_true(litho_qc_spectrum(cube, NULL, 0, NULL, &s, NULL));
    g_assert_cmpuint(s.n, ==, N / 2 + 1);
    g_assert_cmpfloat_with_epsilon(s.df, 0.5, 1e-12);
    g_assert_cmpint(s.traces, ==, 8);
    g_assert_cmpfloat_with_epsilon(s.amplitude[60], 3, 1e-4);
    g_assert_cmpfloat_with_epsilon(s.amplitude[59], 1.5, 1e-4);
    g_assert_cmpfloat_with_epsilon(s.amplitude[61], 1.5, 1e-4);
    g_assert_cmpfloat(s.amplitude[63], <, 1e-4);
    litho_spectrum_clear(&s);
}

// Property: a bounded number of traces is respected, and a cancel is a cancel.
static void test_bounds(void)
{
    g_autoptr(LithoCube) cube = sines();
    LithoSpectrum s;
    g_assert_true(litho_qc_spectrum(cube, NULL, 4, NULL, &s, NULL));
    g_assert_cmpint(s.traces, <=, 4);
    g_assert_cmpint(s.traces, >, 0);
    litho_spectrum_clear(&s);
    g_autoptr(GCancellable) cancel = g_cancellable_new();
    g_cancellable_cancel(cancel);
    LithoRun run = {.cancel = cancel};
    g_autoptr(GError) error = NULL;
    g_assert_false(litho_qc_spectrum(cube, NULL, 0, &run, &s, &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

// Property: a plane wave stands at its own frequency and wavenumber, on the positive side when it
// comes later to the right, with its amplitude (2 %: the windows' tops lie between two lines); a
// missing trace is left out; too small a piece is refused. A turned sign, axis or norm fails.
static void test_fk(void)
{
    enum { TRACES = 64, SAMPLES = 128 };
    g_autofree float *section = g_new(float, TRACES *SAMPLES);
    const double f = 16.0 / SAMPLES, k = 10.0 / TRACES;
    for (int x = 0; x < TRACES; x++)
        for (int t = 0; t < SAMPLES; t++)
            section[x * SAMPLES + t] = (float)(5 * sin(2 * G_PI * (f * t - k * x)));
    LithoFk fk;
    g_autoptr(GError) error = NULL;
    g_assert_true(litho_qc_fk(section, TRACES, SAMPLES, &fk, &error));
    g_assert_cmpuint(fk.n_k, ==, TRACES);
    g_assert_cmpuint(fk.n_f, ==, SAMPLES / 2 + 1);
    guint best = 0;
    for (guint n = 0; n < fk.n_k * fk.n_f; n++)
        best = fk.amplitude[n] > fk.amplitude[best] ? n : best;
    g_assert_cmpuint(best % fk.n_f, ==, 16);
    g_assert_cmpuint(best / fk.n_f, ==, TRACES / 2 + 10);
    g_assert_cmpfloat_with_epsilon(fk.amplitude[best], 5, 0.1);
    g_assert_cmpfloat_with_epsilon(fk.spectrum[16], 5, 0.1);
    g_assert_cmpfloat(fk.amplitude[(TRACES / 2 - 10) * fk.n_f + 16], <, 1e-3);
    g_assert_cmpuint(fk.n_x, ==, TRACES);
    for (guint x = 0; x < TRACES; x++)
        g_assert_cmpfloat_with_epsilon(fk.by_trace[x * fk.n_f + 16], 5, 0.1);
    litho_fk_clear(&fk);
    section[7 * SAMPLES + 3] = NAN;
    g_assert_true(litho_qc_fk(section, TRACES, SAMPLES, &fk, &error));
    g_assert_cmpuint(fk.traces, ==, TRACES - 1);
    g_assert_cmpfloat(fk.by_trace[7 * fk.n_f + 16], ==, 0);
    g_assert_cmpfloat_with_epsilon(fk.spectrum[16], 5, 0.1);
    litho_fk_clear(&fk);
    g_assert_false(litho_qc_fk(section, 1, SAMPLES, &fk, &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/spectrum/sine", test_sine);
    g_test_add_func("/spectrum/bounds", test_bounds);
    g_test_add_func("/spectrum/fk", test_fk);
    return g_test_run();
}
