// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/taps.h"

#include <math.h>

static LithoTaps taps_new(int n_out, int n_in)
{
    return (LithoTaps){n_out, n_in, g_new0(int, n_out), g_new0(int, n_out),
                  g_malloc0(sizeof(float[LITHO_TAPS]) * n_out)};
}

void litho_taps_clear(LithoTaps *t)
{
    g_free(t->first);
    g_free(t->count);
    g_free(t->weight);
}

static double windowed_sinc(double x, double half_width)
{
    if (fabs(x) >= half_width)
        return 0;
    double sinc = x == 0 ? 1 : sin(G_PI * x) / (G_PI * x);
    double c = cos(0.5 * G_PI * x / half_width);
    return sinc * c * c;
}

// Row `o` takes inputs around position `at` (in input cells) with a kernel stretched by `stretch`;
// inputs outside the axis are 0. Weights sum to 1 where all of them are inside.
static void fill_row(LithoTaps *t, int o, double at, double stretch, double half_width)
{
    int lo = (int)ceil(at - half_width * stretch + 1e-9);
    int hi = (int)floor(at + half_width * stretch - 1e-9);
    double all = 0;
    for (int i = lo; i <= hi; i++)
        all += windowed_sinc((i - at) / stretch, half_width);
    t->first[o] = MAX(lo, 0);
    t->count[o] = MAX(MIN(hi, t->n_in - 1) - t->first[o] + 1, 0);
    for (int k = 0; k < t->count[o]; k++)
        t->weight[o][k] =
            (float)(windowed_sinc((t->first[o] + k - at) / stretch, half_width) / all);
}

LithoTaps litho_taps_decimation(int n_fine, int n_coarse)
{
    LithoTaps t = taps_new(n_coarse, n_fine);
    for (int o = 0; o < n_coarse; o++)
        fill_row(&t, o, 2 * o, n_fine > 1 ? 2 : 1, n_fine > 1 ? 4 : 0.5);
    return t;
}

LithoTaps litho_taps_interpolation(int n_coarse, int n_fine)
{
    LithoTaps t = taps_new(n_fine, n_coarse);
    for (int o = 0; o < n_fine; o++)
        fill_row(&t, o, o / 2.0, 1, n_fine > 1 ? 4 : 0.5);
    return t;
}

LithoTaps litho_taps_transposed(const LithoTaps *t)
{
    LithoTaps r = taps_new(t->n_in, t->n_out);
    for (int i = 0; i < t->n_in; i++)
        r.first[i] = t->n_out;
    for (int o = 0; o < t->n_out; o++)
        for (int k = 0; k < t->count[o]; k++) {
            int i = t->first[o] + k;
            r.first[i] = MIN(r.first[i], o);
            r.count[i] = o - r.first[i] + 1;
            g_assert(r.count[i] <= LITHO_TAPS);
            r.weight[i][o - r.first[i]] = t->weight[o][k];
        }
    return r;
}
