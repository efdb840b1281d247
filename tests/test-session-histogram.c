// SPDX-License-Identifier: GPL-3.0-or-later
//
// Histograms among the session's numbers: spikes, and cubes without a spectrum. The f-k picture of
// an area with gaps.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "render/view.h"
#include "ui/session/area.h"
#include "ui/session/numbers.h"
#include "ui/session/ranges.h"

static void hear(int which, gpointer owner)
{
    (void)which;
    ++*(guint *)owner;
}

static gboolean give_up(gpointer data)
{
    (void)data;
    g_error("no numbers in a minute");
    return G_SOURCE_REMOVE;
}

// The numbers of a cube as the session has them; until the next call.
static const LithoCubeNumbers *numbers_of(LithoCube *cube)
{
    static const LithoNumbersFuncs funcs = {hear, NULL};
    static LithoNumbers *numbers;
    static guint heard;
    const guint before = heard, timeout = g_timeout_add_seconds(60, give_up, NULL);
    if (!numbers)
        numbers = litho_numbers_new(&funcs, &heard);
    litho_numbers_want(numbers, LITHO_NUMBERS_IN, cube, NULL);
    while (heard == before)
        g_main_context_iteration(NULL, TRUE);
    g_source_remove(timeout);
    return litho_numbers_get(numbers, LITHO_NUMBERS_IN);
}

// As many samples of each of 101 values from -1 to 1.
static LithoCube *even(gint64 samples)
{
    LithoGrid grid = litho_grid_new(20, 20, samples);
    LithoCube *cube = litho_cube_new(&grid, NULL);
    g_assert_nonnull(cube);
    for (gint64 k = 0; k < litho_grid_samples(&grid); k++)
        cube->samples[k] = (float)(k % 101 - 50) / 50;
    return cube;
}

// Property: of a cube with one spike a thousand times its clip the histogram about the clip is that
// of the cube without it, and the clip of 99 % is told as 99 %.
static void test_spike(void)
{
    g_autoptr(LithoCube) cube = even(101);
    cube->samples[0] = 1000;
    const LithoCubeNumbers *known = numbers_of(cube);
    LithoLook look = litho_look_default();
    litho_look_set_range(&look, &known->range);
    // A hundredth of the samples lies at the clip itself.
    g_assert_cmpfloat_with_epsilon(litho_ranges_inside(known, &look), 99, 1.1);
    for (int bar = -9; bar < 9; bar++) {
        const double share = litho_cube_numbers_share(known, bar / 10.0, (bar + 1) / 10.0);
        g_test_message("%g to %g: %g", bar / 10.0, (bar + 1) / 10.0, share);
        g_assert_cmpfloat_with_epsilon(share, 5 / 101.0, 1.1 / 101);
    }
    g_assert_cmpfloat(litho_cube_numbers_share(known, -1001, 1001), ==, 1);
    look.lo = -500;
    look.hi = 500;
    g_assert_cmpfloat_with_epsilon(litho_ranges_inside(known, &look), 100, 0.01);
}

// Property: a cube of one sample a trace has no spectrum, and all other numbers.
static void test_one_sample(void)
{
    g_autoptr(LithoCube) cube = even(1);
    const LithoCubeNumbers *known = numbers_of(cube);
    g_assert_cmpuint(known->spectrum.n, ==, 0);
    g_assert_cmpint(known->stats.count, ==, 400);
    g_assert_cmpfloat(known->counted, ==, 400);
    g_assert_cmpfloat(known->range.hi, ==, 1);
}

// Part of the energy of an f-k picture that lies more than an eighth of all wavenumbers away from
// the largest amplitude.
static double spread(const LithoFk *fk)
{
    double all = 0, away = 0;
    guint best = 0;
    for (guint k = 0; k < fk->n_k * fk->n_f; k++)
        best = fk->amplitude[k] > fk->amplitude[best] ? k : best;
    for (guint k = 0; k < fk->n_k * fk->n_f; k++) {
        const double energy = (double)fk->amplitude[k] * fk->amplitude[k];
        const int off = abs((int)(k / fk->n_f) - (int)(best / fk->n_f));
        all += energy;
        away += 8 * MIN(off, (int)fk->n_k - off) > (int)fk->n_k ? energy : 0;
    }
    return away / all;
}

static void hear_area(gpointer owner)
{
    ++*(guint *)owner;
}

static void wait_for(const guint *heard, guint n)
{
    const guint timeout = g_timeout_add_seconds(60, give_up, NULL);
    while (*heard < n)
        g_main_context_iteration(NULL, TRUE);
    g_source_remove(timeout);
}

// Property: missing traces do not spread a plane event over all wavenumbers of the f-k picture;
// seen trace by trace they stay missing.
static void test_area_with_gaps(void)
{
    enum { N = 40, SAMPLES = 96 };
    guint heard = 0;
    LithoAreaTool *tool = litho_area_tool_new(hear_area, &heard);
    const LithoGrid grid = litho_grid_new(N, N, SAMPLES);
    g_autoptr(LithoCube) in = litho_cube_new(&grid, NULL);
    for (gint64 i = 0; i < N; i++)
        for (gint64 j = 0; j < N; j++) {
            in->live[i * N + j] = (7 * i + 3 * j) % 10 != 0;
            for (int t = 0; in->live[i * N + j] && t < SAMPLES; t++)
                litho_cube_trace(in, i, j)[t] = (float)sin(0.6 * t - 0.2 * (double)j);
        }
    const LithoBox box = litho_box_slice(&grid, LITHO_INLINE, 20);
    litho_area_tool_ask(tool, in, NULL, box);
    wait_for(&heard, 1);
    const LithoFk *fk = &litho_area_tool_numbers(tool)->fk[0];
    const double guessed = spread(fk);
    guint missing = 0;
    for (guint k = 0; k < fk->n_x; k++)
        missing += !(fk->by_trace[k * fk->n_f + fk->n_f / 5] > 0);
    memset(in->live, 1, N * N); // zeros in their place
    litho_area_tool_ask(tool, in, NULL, box);
    wait_for(&heard, 2);
    const double zeros = spread(&litho_area_tool_numbers(tool)->fk[0]);
    g_test_message("%.4f beside the event, %.4f with zeros", guessed, zeros);
    g_assert_cmpuint(missing, ==, N / 10);
    g_assert_cmpfloat(zeros, >, 0.01); // or this shows nothing
    g_assert_cmpfloat(guessed, <, 0.2 * zeros);
    litho_area_tool_forget(tool);
    litho_area_tool_free(tool);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/session-histogram/spike", test_spike);
    g_test_add_func("/session-histogram/one-sample", test_one_sample);
    g_test_add_func("/session-histogram/area-with-gaps", test_area_with_gaps);
    return g_test_run();
}
