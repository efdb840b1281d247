// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/patch/choice_dense.h"

#include <fftw3.h>
#include <math.h>

#include "kernels/patch/geometry.h"

enum {
    N = PATCH_DENSE_SAMPLES,
    EVERY = 3,  // trace along both axes is asked
    LOBE = 5,   // bins that the taper's main lobe reaches beyond a band
    WINDOWS = 4 // windows along time that a trace holds at least
};
// 30 dB: noise that decays towards Nyquist, or stands 30 dB below events, has more there; high cuts
// leave 40 dB less and more.
#define LEAST 1e-3
// Windows of 16 such samples are as long as most stacks need; a tenth more is as well.
#define USUAL_S 0.0044

int patch_dense_most(const LithoGrid *grid)
{
    const double step = fabs(grid->axis[2].step);
    int most = LITHO_PATCH_DENSEST;
    if (grid->is_depth || !(step > 0))
        return 1;
    while (most > 1 &&
           (step * most > USUAL_S || grid->axis[2].n < WINDOWS * most * LITHO_PATCH_WINDOW))
        most /= 2;
    return most;
}

// Blackman and Harris' taper of four terms.
static void make_taper(double taper[N], double *energy)
{
    const double a[4] = {0.35875, 0.48829, 0.14128, 0.01168};
    *energy = 0;
    for (int t = 0; t < N; t++) {
        const double x = 2 * G_PI * (t + 0.5) / N;
        taper[t] = a[0] - a[1] * cos(x) + a[2] * cos(2 * x) - a[3] * cos(3 * x);
        *energy += taper[t] * taper[t];
    }
}

// Pieces of a trace of n samples, half overlapping, that are finite and not all zero.
static void add_trace(PatchDense *d, const double taper[N], double energy, fftwf_plan plan,
                      float *in, const fftwf_complex *out, const float *x, gint64 n)
{
    for (gint64 from = 0; from + N <= n; from += N / 2) {
        double sum = 0;
        for (int t = 0; t < N; t++) {
            in[t] = (float)(x[from + t] * taper[t]);
            sum += fabs(in[t]);
        }
        if (!isfinite(sum) || sum == 0)
            continue;
        fftwf_execute(plan);
        for (int f = 0; f < PATCH_DENSE_BINS; f++)
            d->power[f] += ((double)out[f][0] * out[f][0] + (double)out[f][1] * out[f][1]) / energy;
        d->pieces++;
    }
}

gboolean patch_dense_add(PatchDense *d, const LithoCube *column)
{
    const LithoBox held = column->held;
    double taper[N], energy;
    float *in = fftwf_alloc_real(N);
    fftwf_complex *out = fftwf_alloc_complex(PATCH_DENSE_BINS);
    fftwf_plan plan = in && out ? fftwf_plan_dft_r2c_1d(N, in, out, FFTW_ESTIMATE) : NULL;
    make_taper(taper, &energy);
    for (gint64 il = held.lo[0]; plan && il < held.hi[0]; il += EVERY)
        for (gint64 xl = held.lo[1]; xl < held.hi[1]; xl += EVERY)
            if (litho_cube_is_live(column, il, xl))
                add_trace(d, taper, energy, plan, in, out, litho_cube_trace(column, il, xl),
                          litho_box_size(held, 2));
    const gboolean ok = plan != NULL;
    if (plan)
        fftwf_destroy_plan(plan);
    fftwf_free(in);
    fftwf_free(out);
    return ok;
}

static double mean(const double *x, int from, int to)
{
    double sum = 0;
    for (int k = from; k < to; k++)
        sum += x[k];
    return sum / MAX(to - from, 1);
}

int patch_dense_find(const PatchDense *d, int most, const double *noise, int n)
{
    for (int dense = most; dense > 1 && d->pieces > 0; dense /= 2) {
        const double above =
            mean(d->power, (PATCH_DENSE_BINS - 1) / dense + LOBE, PATCH_DENSE_BINS) /
            (double)d->pieces;
        if (above < LEAST * mean(noise, 0, (n - 1) / dense + 1))
            return dense;
    }
    return 1;
}
