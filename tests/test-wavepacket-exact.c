// SPDX-License-Identifier: GPL-3.0-or-later
//
// The wave-packet transform against its definition, summed out in double precision: coefficients of
// whole boxes, the adjoint of arbitrary coefficients, volumes thinner than the transform's least
// size, and traces filled beside what a plain Fourier transform does for them.
#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <string.h>

#include "core/engine/engine.h"
#include "kernels/wavepacket/cpu/wavepacket.h"
#include "kernels/wavepacket/wavepacket.h"
#include "tests/wavepacket-data.h"

typedef double complex Complex;

static WpSpec spec_of(gint64 n1, gint64 n2, gint64 n3, int width, double oversampling)
{
    return (WpSpec){.n = {n1, n2, n3},
                    .design = WP_DEFAULT,
                    .directions = 3,
                    .width = width,
                    .oversampling = oversampling};
}

// exp(2 pi i sign xi.x) for samples x counted from the middle, axis by axis.
static void phases(const gint64 n[3], const double xi[3], int sign, Complex *e[3])
{
    for (int a = 0; a < 3; a++)
        for (gint64 i = 0; i < n[a]; i++)
            e[a][i] = cexp(2 * G_PI * I * sign * xi[a] * (double)(i - n[a] / 2));
}

static void lattice_point(const WpBox *box, const int j[3], double xi[3])
{
    for (int a = 0; a < 3; a++) {
        xi[a] = 0;
        for (int i = 0; i < 3; i++)
            xi[a] += box->R[i][a] * (box->j0[i] + j[i]) / box->M[i];
    }
}

// The window's weight at lattice point j, 0 outside of its rows.
static double weight_at(const WpBox *box, const int j[3])
{
    const WpRow *row = &box->rows[(gint64)j[0] * box->n[1] + j[1]];
    const int at = j[2] - row->first;
    return at >= 0 && at < row->count ? box->weight[row->at + at] : 0;
}

static Complex spectrum(const float *u, const gint64 n[3], Complex *e[3])
{
    Complex sum = 0;
    for (gint64 i = 0; i < n[0]; i++)
        for (gint64 j = 0; j < n[1]; j++) {
            Complex row = 0;
            for (gint64 k = 0; k < n[2]; k++)
                row += u[(i * n[1] + j) * n[2] + k] * e[2][k];
            sum += e[0][i] * e[1][j] * row;
        }
    return sum;
}

// Sums along one axis of a lattice: v[p] = sum_j exp(2 pi i j p/n) v[j].
static void inverse_along(Complex *v, const int n[3], int axis)
{
    const gint64 stride = axis == 0 ? (gint64)n[1] * n[2] : axis == 1 ? n[2] : 1, m = n[axis];
    g_autofree Complex *line = g_new(Complex, m), *turn = g_new(Complex, m);
    for (gint64 i = 0; i < m; i++)
        turn[i] = cexp(2 * G_PI * I * (double)i / (double)m);
    for (gint64 s = 0; s < (gint64)n[0] * n[1] * n[2]; s++) {
        if (s / stride % m)
            continue;
        for (gint64 p = 0; p < m; p++) {
            line[p] = 0;
            for (gint64 j = 0; j < m; j++)
                line[p] += v[s + j * stride] * turn[j * p % m];
        }
        for (gint64 p = 0; p < m; p++)
            v[s + p * stride] = line[p];
    }
}

// Property: all coefficients of a box are the inverse FFT of window times exact spectrum, in a box
// of every scale and kind. 5 taps at oversampling 1.5 err by 4e-4; 8 taps at 2 are limited by
// single precision. A transposed frame, a shift of the lattice or the wrong half gives errors
// near 1. Lines along either axis are transformed in two dimensions.
static void test_coefficients(void)
{
    const struct {
        gint64 n[3];
        int width;
        double oversampling, limit;
    } cases[] = {{{18, 16, 17}, 5, 1.5, 5e-4}, {{18, 16, 17}, 5, 2, 1.5e-4},
                 {{18, 16, 17}, 8, 2, 1e-6},   {{1, 40, 37}, 5, 1.5, 5e-4},
                 {{1, 40, 37}, 8, 2, 1e-6},    {{33, 1, 36}, 8, 2, 1e-6}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        const gint64 *n = cases[k].n, samples = n[0] * n[1] * n[2];
        WpSpec spec = spec_of(n[0], n[1], n[2], cases[k].width, cases[k].oversampling);
        WpGeometry *g = wp_geometry_new(&spec, NULL, NULL);
        WpEngine *engine = wp_engine_cpu(g, 0, NULL, NULL);
        float *u = engine->class->alloc(engine, samples, NULL);
        float *c = engine->class->alloc(engine, WP_COEFFICIENTS, NULL);
        Complex *e[3] = {g_new(Complex, n[0]), g_new(Complex, n[1]), g_new(Complex, n[2])};
        double worst = 0;
        wp_test_noise(u, samples, 3);
        g_assert_true(engine->class->forward(engine, u, c, NULL, NULL));
        for (int b = 0; b < g->n_boxes - 1; b += 7) { // the coarse one and every seventh direction
            const WpBox *box = &g->boxes[b];
            const gint64 points = box->floats / 2;
            g_autofree Complex *v = g_new0(Complex, points);
            double error = 0, norm = 0;
            for (gint64 i = 0; i < points; i++) {
                const int j[3] = {(int)(i / box->n[2] / box->n[1]),
                                  (int)(i / box->n[2] % box->n[1]), (int)(i % box->n[2])};
                const double weight = weight_at(box, j);
                double xi[3];
                if (weight == 0)
                    continue;
                lattice_point(box, j, xi);
                phases(spec.n, xi, -1, e);
                v[i] = weight * spectrum(u, spec.n, e);
            }
            for (int axis = 0; axis < 3; axis++)
                inverse_along(v, box->n, axis);
            for (gint64 i = 0; i < points; i++) {
                const float *z = c + box->at + 2 * i;
                error += pow(cabs(z[0] + I * z[1] - v[i]), 2);
                norm += pow(cabs(v[i]), 2);
            }
            worst = MAX(worst, sqrt(error / norm));
        }
        g_test_message("%d x %d x %d, %d taps, oversampling %g: worst box %.1e", (int)n[0],
                       (int)n[1], (int)n[2], cases[k].width, cases[k].oversampling, worst);
        g_assert_cmpfloat(worst, <=, cases[k].limit);
        for (int a = 0; a < 3; a++)
            g_free(e[a]);
        engine->class->release(engine, u);
        engine->class->release(engine, c);
        wp_engine_free(engine);
        wp_geometry_free(g);
    }
}

// Property: the adjoint, which keeps half of the spectrum only, is the real part of the full
// complex sum over all boxes and lattice points, at samples in the middle, on faces and in corners.
// 8 taps at oversampling 2: single precision (5e-6 of the largest value). Points that fold on the
// wrong side, or the planes at the ends of the half spectrum counted once or twice, show at 1e-2.
static void check_half_spectrum(gint64 n1, gint64 n2, gint64 n3)
{
    WpSpec spec = spec_of(n1, n2, n3, 8, 2);
    WpGeometry *g = wp_geometry_new(&spec, NULL, NULL);
    WpEngine *engine = wp_engine_cpu(g, 0, NULL, NULL);
    float *u = engine->class->alloc(engine, n1 * n2 * n3, NULL);
    float *c = engine->class->alloc(engine, WP_COEFFICIENTS, NULL);
    enum { SAMPLES = 24 };
    gint64 at[SAMPLES][3];
    double sum[SAMPLES] = {0}, largest = 0, worst = 0;
    GRand *rand = g_rand_new_with_seed(6);
    for (int s = 0; s < SAMPLES; s++)
        for (int a = 0; a < 3; a++)
            at[s][a] =
                s < 8 ? (s >> a & 1) * (spec.n[a] - 1) : g_rand_int_range(rand, 0, (int)spec.n[a]);
    for (int b = 0; b < g->n_boxes - 1; b++) { // all but the residual box, which is no USFFT
        const WpBox *box = &g->boxes[b];
        wp_test_noise(c + box->at, box->floats, 100 + b);
        const gint64 points = box->floats / 2;
        g_autofree Complex *v = g_new(Complex, points);
        for (gint64 i = 0; i < points; i++) // conjugated twice: an inverse becomes a forward FFT
            v[i] = c[box->at + 2 * i] - I * c[box->at + 2 * i + 1];
        for (int axis = 0; axis < 3; axis++)
            inverse_along(v, box->n, axis);
        for (gint64 i = 0; i < points; i++) {
            const int j[3] = {(int)(i / box->n[2] / box->n[1]), (int)(i / box->n[2] % box->n[1]),
                              (int)(i % box->n[2])};
            const double weight = weight_at(box, j);
            double xi[3];
            if (weight == 0)
                continue;
            lattice_point(box, j, xi);
            for (int s = 0; s < SAMPLES; s++) {
                double phase = 0;
                for (int a = 0; a < 3; a++)
                    phase += xi[a] * (double)(at[s][a] - spec.n[a] / 2);
                sum[s] += creal(weight * conj(v[i]) * cexp(2 * G_PI * I * phase));
            }
        }
    }
    g_assert_true(engine->class->adjoint(engine, c, u, NULL, NULL));
    for (int s = 0; s < SAMPLES; s++) {
        const double found = u[(at[s][0] * n2 + at[s][1]) * n3 + at[s][2]];
        largest = MAX(largest, fabs(sum[s]));
        worst = MAX(worst, fabs(found - sum[s]));
    }
    g_test_message("worst sample off by %.1e of %.2f", worst, largest);
    g_assert_cmpfloat(worst, <=, 5e-6 * largest);
    g_rand_free(rand);
    engine->class->release(engine, u);
    engine->class->release(engine, c);
    wp_engine_free(engine);
    wp_geometry_free(g);
}

static void test_half_spectrum(void)
{
    check_half_spectrum(16, 18, 17);
    check_half_spectrum(1, 40, 37);
    check_half_spectrum(33, 1, 36);
}

// --- through the operator ------------------------------------------------------------------------

static LithoCube *apply(const LithoCube *in, const LithoWavepacketParams *settings,
                        LithoReport *report)
{
    g_autoptr(GError) error = NULL;
    LithoFlow *flow = litho_flow_new();
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    LithoRun run = {.report = report};
    litho_flow_append(flow, &litho_operator_wavepacket);
    LithoWavepacketParams *p = litho_flow_step(flow, 0)->params;
    p->mode = settings->mode;
    p->block = settings->block;
    p->sigma = settings->sigma;
    LithoCube *out = litho_engine_run(engine, flow, in, NULL, &run, &error);
    g_assert_no_error(error);
    litho_flow_free(flow);
    litho_engine_free(engine);
    return out;
}

static LithoCube *events(gint64 n1, gint64 n2, gint64 n3)
{
    LithoGrid grid = litho_grid_new(n1, n2, n3);
    LithoCube *cube = litho_cube_new(&grid, NULL);
    wp_test_events(cube->samples, (const gint64[3]){n1, n2, n3});
    return cube;
}

// Property: volumes thinner than 16 samples along an axis, down to 4, go through as well as others,
// and so do lines, by themselves and up to three of them, whole and in segments. What is cut beyond the volume and not taken for zeros, or pasted there,
// would show at once (and under a memory checker).
static void test_thin(void)
{
    const gint64 sizes[][3] = {{10, 40, 75}, {33, 4, 40},  {24, 36, 9}, {1, 70, 75},
                               {90, 1, 64},  {3, 40, 120}, {50, 2, 40}, {1, 5, 200}};
    for (guint k = 0; k < G_N_ELEMENTS(sizes); k++)
        for (int block = 0; block <= 32; block += 32) {
            g_autoptr(LithoCube) in = events(sizes[k][0], sizes[k][1], sizes[k][2]);
            const LithoWavepacketParams p = {.mode = WP_RECONSTRUCT, .block = block};
            g_autoptr(LithoCube) out = apply(in, &p, NULL);
            const double error =
                wp_test_error(out->samples, in->samples, litho_grid_samples(&in->grid));
            g_test_message("%d x %d x %d, block %d: %.1e", (int)sizes[k][0], (int)sizes[k][1],
                           (int)sizes[k][2], block, error);
            g_assert_cmpfloat(error, <, 1.6e-3);
        }
}

// Projection onto convex sets with the plain Fourier transform of the whole cube: 30 iterations,
// thresholds from the largest value to 2e-3 of it.
static void fourier_pocs(const LithoCube *in, float *v)
{
    const LithoAxis *a = in->grid.axis;
    const gint64 n = litho_grid_samples(&in->grid), nt = a[2].n;
    const gint64 values = a[0].n * a[1].n * (nt / 2 + 1);
    float *x = fftwf_alloc_real(n);
    fftwf_complex *f = fftwf_alloc_complex(values);
    fftwf_plan there =
        fftwf_plan_dft_r2c_3d((int)a[0].n, (int)a[1].n, (int)nt, x, f, FFTW_ESTIMATE);
    fftwf_plan back = fftwf_plan_dft_c2r_3d((int)a[0].n, (int)a[1].n, (int)nt, f, x, FFTW_ESTIMATE);
    double peak = 0;
    for (gint64 i = 0; i < n; i++)
        v[i] = in->live[i / nt] ? in->samples[i] : 0;
    for (int it = 0; it < 30; it++) {
        memcpy(x, v, n * sizeof *x);
        fftwf_execute(there);
        for (gint64 i = 0; i < values && it == 0; i++)
            peak = MAX(peak, cabs(f[i]));
        const double level = 0.99 * peak * pow(2e-3, it / 29.0);
        for (gint64 i = 0; i < values; i++)
            if (cabs(f[i]) < level)
                f[i] = 0;
        fftwf_execute(back);
        for (gint64 i = 0; i < n; i++)
            v[i] = in->live[i / nt] ? in->samples[i] : x[i] / (float)n;
    }
    fftwf_destroy_plan(there);
    fftwf_destroy_plan(back);
    fftwf_free(x);
    fftwf_free(f);
}

// Property: half of the traces missing at random, the packets reach 22 dB and stay within 3 dB of a
// plain FFT of the whole cube with as many iterations. On so small a cube, without noise and with
// events that run right through it, the FFT is hard to beat: 27.0 dB against 25.6.
static void test_baseline(void)
{
    g_autoptr(LithoCube) truth = events(64, 64, 64);
    g_autoptr(LithoCube) in = events(64, 64, 64);
    const gint64 n = litho_grid_samples(&truth->grid);
    g_autofree float *plain = g_new(float, n);
    GRand *rand = g_rand_new_with_seed(12);
    for (gint64 t = 0; t < 64 * 64; t++)
        in->live[t] = g_rand_double(rand) >= 0.5;
    g_rand_free(rand);
    const LithoWavepacketParams p = {.mode = WP_INTERPOLATE};
    g_autoptr(LithoCube) out = apply(in, &p, NULL);
    fourier_pocs(in, plain);
    const double packets = wp_test_snr(out->samples, truth->samples, n);
    const double fourier = wp_test_snr(plain, truth->samples, n);
    g_test_message("packets %.1f dB, plain FFT %.1f dB", packets, fourier);
    g_assert_cmpfloat(packets, >=, 22);
    g_assert_cmpfloat(packets, >, fourier - 3);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/wavepacket-exact/coefficients", test_coefficients);
    g_test_add_func("/wavepacket-exact/half-spectrum", test_half_spectrum);
    g_test_add_func("/wavepacket-exact/thin", test_thin);
    g_test_add_func("/wavepacket-exact/baseline", test_baseline);
    return g_test_run();
}
