// SPDX-License-Identifier: GPL-3.0-or-later
//
// Noise of a shape, from independent numbers.
#include <fftw3.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "kernels/common/noise.h"

typedef struct Colour {
    const LithoNoise *noise;
    gint64 at[3];   // first number, of the grid
    int n[3], nf;   // window: inlines, crosslines, samples; frequencies
    gint64 size[3]; // of the numbers
    float *taper[3];
    float *response; // [inline wavenumber][crossline wavenumber][frequency], over the window's size
    fftwf_plan forward, back;
} Colour;

static void colour_clear(Colour *c)
{
    for (int a = 0; a < 3; a++)
        g_free(c->taper[a]);
    g_free(c->response);
    if (c->forward)
        fftwf_destroy_plan(c->forward);
    if (c->back)
        fftwf_destroy_plan(c->back);
}

// Cycles per sample of coefficient k of n.
static double cycles(int k, int n)
{
    return (double)(2 * k > n ? k - n : k) / n;
}

// Standard deviation of the noise at a frequency of `xi` cycles per sample, between its bins.
static double level_at(const LithoNoise *noise, double xi)
{
    const double at = 2 * xi * (noise->n - 1);
    const guint below = MIN((guint)at, noise->n - 1), up = MIN(below + 1, noise->n - 1);
    return noise->sigma[below] + (at - below) * (noise->sigma[up] - noise->sigma[below]);
}

static void set_response(Colour *c, const LithoNoise *noise)
{
    const double samples = (double)c->n[0] * c->n[1] * c->n[2];
    float *to = c->response = g_new(float, (gsize)c->n[0] *c->n[1] * c->nf);
    for (int i = 0; i < c->n[0]; i++)
        for (int j = 0; j < c->n[1]; j++)
            for (int f = 0; f < c->nf; f++) {
                const double xi[3] = {cycles(i, c->n[0]), cycles(j, c->n[1]), (double)f / c->n[2]};
                const double shape = fmax(litho_noise_shape(noise, xi), 0);
                *to++ = (float)(level_at(noise, xi[2]) * sqrt(shape) / samples);
            }
}

static gboolean colour_init(Colour *c, const LithoNoise *noise, const gint64 size[3])
{
    c->nf = c->n[2] / 2 + 1;
    for (int a = 0; a < 3; a++) {
        c->size[a] = size[a];
        c->taper[a] = g_new(float, c->n[a]);
        for (int k = 0; k < c->n[a]; k++) // squares of tapers half a window apart add up to one
            c->taper[a][k] = (float)sin(G_PI * (k + 0.5) / c->n[a]);
    }
    set_response(c, noise);
    float *x = fftwf_alloc_real((gsize)c->n[0] * c->n[1] * c->n[2]);
    fftwf_complex *y = fftwf_alloc_complex((gsize)c->n[0] * c->n[1] * c->nf);
    if (x && y) {
        c->forward = fftwf_plan_dft_r2c_3d(c->n[0], c->n[1], c->n[2], x, y, FFTW_ESTIMATE);
        c->back = fftwf_plan_dft_c2r_3d(c->n[0], c->n[1], c->n[2], y, x, FFTW_ESTIMATE);
    }
    fftwf_free(x);
    fftwf_free(y);
    return c->forward && c->back;
}

// First number of trace (i, j) of the window at `at`.
static gsize place(const Colour *c, const gint64 at[3], int i, int j)
{
    return (gsize)(((at[0] + i) * c->size[1] + at[1] + j) * c->size[2] + at[2]);
}

// Amplitudes around the middle of a window at the filter's frequencies, [nf].
static void local_of(const Colour *c, const gint64 at[3], double *amplitude)
{
    const guint last = c->noise->n - 1;
    g_autofree double *each = g_new(double, c->noise->n);
    double middle[3];
    for (int a = 0; a < 3; a++)
        middle[a] = (double)(c->at[a] + at[a]) + 0.5 * (c->n[a] - 1);
    litho_noise_local(c->noise, middle, each);
    for (int f = 0; f < c->nf; f++) {
        const double x = (double)f * last / (c->nf - 1);
        const guint below = MIN((guint)x, last), up = MIN(below + 1, last);
        amplitude[f] = each[below] + (x - below) * (each[up] - each[below]);
    }
}

static void colour_window(const Colour *c, const gint64 at[3], const float *from, float *to,
                          float *x, fftwf_complex *y)
{
    const int nt = c->n[2];
    const gsize coefficients = (gsize)c->n[0] * c->n[1] * c->nf;
    double amplitude[LITHO_COLOUR_SAMPLES / 2 + 1];
    local_of(c, at, amplitude);
    for (int i = 0; i < c->n[0]; i++)
        for (int j = 0; j < c->n[1]; j++) {
            const float w = c->taper[0][i] * c->taper[1][j], *trace = from + place(c, at, i, j);
            for (int t = 0; t < nt; t++)
                x[(i * c->n[1] + j) * nt + t] = w * c->taper[2][t] * trace[t];
        }
    fftwf_execute_dft_r2c(c->forward, x, y);
    for (gsize k = 0; k < coefficients; k++) {
        const float response = c->response[k] * (float)amplitude[k % c->nf];
        y[k][0] *= response;
        y[k][1] *= response;
    }
    fftwf_execute_dft_c2r(c->back, y, x);
    for (int i = 0; i < c->n[0]; i++)
        for (int j = 0; j < c->n[1]; j++) {
            const float w = c->taper[0][i] * c->taper[1][j];
            float *trace = to + place(c, at, i, j);
            for (int t = 0; t < nt; t++)
                trace[t] += w * c->taper[2][t] * x[(i * c->n[1] + j) * nt + t];
        }
}

static int hop(const Colour *c, int axis)
{
    return MAX(c->n[axis] / 2, 1);
}

// All windows that begin at inline `il`.
static void colour_row(const Colour *c, gint64 il, const float *from, float *to, float *x,
                       fftwf_complex *y)
{
    for (gint64 xl = 0; xl + c->n[1] <= c->size[1]; xl += hop(c, 1))
        for (gint64 t = 0; t + c->n[2] <= c->size[2]; t += hop(c, 2))
            colour_window(c, (const gint64[3]){il, xl, t}, from, to, x, y);
}

// Rows of windows half a window apart share inlines: every other row first, then those between.
// Sums have one order, whatever the number of threads.
static void colour_all(const Colour *c, const float *from, float *to, LithoRun *run)
{
    const gint64 rows = 1 + (c->size[0] - c->n[0]) / hop(c, 0);
#pragma omp parallel num_threads(litho_run_threads(run))
    {
        float *x = fftwf_alloc_real((gsize)c->n[0] * c->n[1] * c->n[2]);
        fftwf_complex *y = fftwf_alloc_complex((gsize)c->n[0] * c->n[1] * c->nf);
        for (int odd = 0; odd < 2; odd++) {
#pragma omp for schedule(dynamic)
            for (gint64 row = odd; row < rows; row += 2)
                if (x && y && litho_run_checkpoint(run))
                    colour_row(c, row * hop(c, 0), from, to, x, y);
        }
        fftwf_free(x);
        fftwf_free(y);
    }
}

gboolean litho_noise_colour(const LithoNoise *noise, const gint64 at[3], const gint64 n[3],
                            const float *from, float *to, LithoRun *run, GError **error)
{
    Colour c = {.noise = noise,
                .at = {at[0], at[1], at[2]},
                .n = {noise->window[0] > 1 ? LITHO_COLOUR_TRACES : 1,
                      noise->window[1] > 1 ? LITHO_COLOUR_TRACES : 1, LITHO_COLOUR_SAMPLES}};
    memset(to, 0, sizeof *to * (gsize)(n[0] * n[1] * n[2]));
    const gboolean ok = colour_init(&c, noise, n);
    if (ok)
        colour_all(&c, from, to, run);
    colour_clear(&c);
    if (!ok)
        return litho_refuse(error, LITHO_ERROR_MEMORY,
                            "there is no memory for windows of %d x %d x %d samples", c.n[0], c.n[1],
                            c.n[2]);
    return litho_run_checkpoint(run) || litho_run_stopped(error);
}
