// SPDX-License-Identifier: GPL-3.0-or-later
//
// The noise level that quality is judged by.
#include <math.h>

#include "core/engine/quality.h"

// Mean power of the frequencies [from, to) and the standard error of that mean.
static double mean_power(const LithoNoise *noise, guint from, guint to, double *error)
{
    double sum = 0, squares = 0;
    for (guint f = from; f < to; f++) {
        const double power = noise->sigma[f] * noise->sigma[f];
        sum += power;
        squares += power * power;
    }
    const double n = to - from, mean = sum / n;
    *error = sqrt(fmax(squares / n - mean * mean, 0) / (n - 1));
    return mean;
}

// Noise that is flat above half of Nyquist, and nowhere far from that, is white: a hump of less
// than two fifths below is what events leave in all wavenumbers, most of it where traces are missing.
// The level is the mean of the upper and the lower half. A lower half that stands further out of
// the upper one than its scatter explains holds events: its weight falls with the fourth power of
// the hump. The interval holds both, with the scatter between groups of windows and 0.2 % for
// events that nothing tells from noise.
static void take_for_white(LithoNoise *noise)
{
    const guint n = noise->n, half = n / 2;
    if (n < 9)
        return;
    double scatter, least = INFINITY, most = 0, top = 0, unused;
    const double upper = mean_power(noise, half, n, &scatter);
    const double hump = mean_power(noise, 0, half, &unused) - upper;
    const double far = hump > 0 ? fmin(1, 20 * scatter * scatter / (hump * hump)) : 1;
    const double share = 0.5 * far * far;
    const double level = sqrt(upper + share * hump);
    for (guint f = 0; f < n; f++) {
        least = MIN(least, noise->sigma[f]);
        most = MAX(most, noise->sigma[f]);
        if (f >= half)
            top = MAX(top, fabs(noise->sigma[f] / level - 1));
    }
    if (!(level > 0) || top > 0.06 || least < 0.9 * level || most > 1.4 * level)
        return;
    const double off = hypot(MAX(noise->high - 1.003 * noise->total, 0), 0.002 * level);
    noise->low = MIN(level, noise->total) - off;
    noise->high = MAX(level, noise->total) + off;
    noise->total = level;
    for (guint f = 0; f < n; f++)
        noise->sigma[f] = level;
}

gboolean litho_quality_noise(const LithoCube *cube, const LithoBox *box, LithoRun *run,
                             LithoNoise *noise, GError **error)
{
    static const int window[3] = {16, 16, 64};
    if (!litho_qc_noise_windows(cube, box, window, 1024, run, noise, error))
        return FALSE;
    take_for_white(noise);
    return TRUE;
}
