// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/patch_reference.h"

#include <fftw3.h>
#include <complex.h>
#include <math.h>
#include <string.h>

#include "kernels/patch/patch.h"

typedef struct Window {
    const LithoCube *in;
    LithoPatchGeometry g;
    int start[3];
    fftw_complex *x;
    const float *shape;
    int (*at)[3];          // places along the axes
    double *taper, *power; // of every sample, and of every coefficient in units of its noise
    double *guide;         // factors of powers, or NULL
} Window;

static gsize window_size(const LithoPatchGeometry *g)
{
    return (gsize)g->axis[0].length * g->axis[1].length * g->axis[2].length;
}

static void make_tables(Window *w, gboolean guided)
{
    const LithoPatchAxis *axis = w->g.axis;
    const gsize size = window_size(&w->g);
    w->x = fftw_alloc_complex(size);
    w->guide = guided ? g_new(double, size) : NULL;
    w->at = g_malloc(size * sizeof *w->at);
    w->taper = g_new(double, size);
    w->power = g_new(double, size);
    for (gsize k = 0; k < size; k++) {
        int *at = w->at[k];
        at[2] = (int)(k % axis[2].length);
        at[1] = (int)(k / axis[2].length % axis[1].length);
        at[0] = (int)(k / axis[2].length / axis[1].length);
        w->taper[k] = 1;
        for (int a = 0; a < 3; a++)
            w->taper[k] *= sin(G_PI * (at[a] + 0.5) / axis[a].length);
    }
}

static void free_tables(Window *w)
{
    fftw_free(w->x);
    g_free(w->guide);
    g_free(w->at);
    g_free(w->taper);
    g_free(w->power);
}

// Fills the window; the share of the taper's energy on live traces.
static double load(Window *w)
{
    double there = 0, all = 0;
    for (gsize k = 0; k < window_size(&w->g); k++) {
        const int *at = w->at[k];
        int from[3];
        for (int a = 0; a < 3; a++) { // mirrored at the faces
            const int n = w->g.axis[a].n;
            from[a] = w->start[a] + at[a];
            while (from[a] < 0 || from[a] >= n)
                from[a] = from[a] < 0 ? -1 - from[a] : 2 * n - 1 - from[a];
        }
        const float x = litho_cube_trace(w->in, from[0], from[1])[from[2]];
        const gboolean live = litho_cube_is_live(w->in, from[0], from[1]);
        const double t = w->taper[k];
        w->x[k][0] = live && isfinite(x) ? t * x : 0;
        w->x[k][1] = 0;
        all += t * t;
        there += live ? t * t : 0;
    }
    return there / all;
}

// The shape of the level at a coefficient; beyond the middle frequency stand the opposite ones.
static double shape_at(const Window *w, const int at[3])
{
    const LithoPatchAxis *a = w->g.axis;
    const gboolean turned = at[2] > a[2].length / 2;
    const int f = turned ? a[2].length - at[2] : at[2];
    const int i = turned ? (a[0].length - at[0]) % a[0].length : at[0];
    const int j = turned ? (a[1].length - at[1]) % a[1].length : at[1];
    return w->shape ? w->shape[(f * a[0].length + i) * a[1].length + j] : 1;
}

// Number of a coefficient that may lie beyond the ends of its axes.
static gsize number(const LithoPatchGeometry *g, int i, int j, int f)
{
    const int at[3] = {i, j, f};
    gsize k = 0;
    for (int a = 0; a < 3; a++) {
        const int n = g->axis[a].length;
        k = k * n + (at[a] % n + n) % n;
    }
    return k;
}

// The two wavenumbers around half of place k of n; those of the last one are k / 2 and its
// opposite.
static void around_half(int n, int k, int half[2])
{
    const double at = (2 * k > n ? k - n : k) / 2.0;
    half[0] = (int)floor(at);
    half[1] = (int)ceil(at);
    if (2 * k == n) {
        half[0] = k / 2;
        half[1] = -(k / 2);
    }
}

// Sum of |F|^2 around half of the wavenumbers and half of frequency f.
static double guide_at(const Window *w, int i, int j, int f)
{
    int il[2], xl[2];
    double sum = 0;
    around_half(w->g.axis[0].length, i, il);
    around_half(w->g.axis[1].length, j, xl);
    for (int corner = 0; corner < 8; corner++) {
        const double *c =
            w->x[number(&w->g, il[corner & 1], xl[corner >> 1 & 1], (f + (corner >> 2)) / 2)];
        sum += c[0] * c[0] + c[1] * c[1];
    }
    return sum;
}

// Factors of all coefficients; opposite ones have one.
static void find_guides(Window *w)
{
    const LithoPatchAxis *a = w->g.axis;
    for (int f = 0; w->guide && f < w->g.bins; f++) {
        const gboolean last = 2 * f == a[2].length;
        double most = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int i = 0; i < a[0].length; i++)
                for (int j = 0; j < a[1].length; j++) {
                    const double own = guide_at(w, i, j, f);
                    const double g = last ? (own + guide_at(w, -i + a[0].length * (i > 0),
                                                            -j + a[1].length * (j > 0), f)) /
                                                2
                                          : own;
                    most = fmax(most, g);
                    if (pass == 1)
                        w->guide[number(&w->g, i, j, f)] = w->guide[number(&w->g, -i, -j, -f)] =
                            most > 0 ? pow(g / (g + LITHO_PATCH_GUIDE * most), 2) : 0;
                }
    }
}

// Powers in units of the shape, times the guides.
static void find_powers(Window *w)
{
    for (gsize k = 0; k < window_size(&w->g); k++) {
        const double *c = w->x[k];
        w->power[k] =
            (c[0] * c[0] + c[1] * c[1]) / shape_at(w, w->at[k]) * (w->guide ? w->guide[k] : 1);
    }
}

static gboolean keep(const Window *w, gsize k, int rule, double limit)
{
    gsize step = window_size(&w->g);
    double near = 0;
    for (int a = 0; a < 3 && rule == LITHO_PATCH_ENERGY; a++) {
        const gsize n = w->g.axis[a].length;
        step /= n;
        const gsize at = k / step % n;
        near += w->power[at < n - 1 ? k + step : k - (n - 1) * step];
        near += w->power[at > 0 ? k - step : k + (n - 1) * step];
    }
    const double own = w->power[k];
    return rule == LITHO_PATCH_ENERGY ? (own + near / 2) / 4 >= limit : own >= limit;
}

static void add(const Window *w, double scale, double *sum, double *weight)
{
    const LithoGrid *grid = &w->in->grid;
    for (gsize k = 0; k < window_size(&w->g); k++) {
        int at[3];
        gboolean inside = TRUE;
        const double t = w->taper[k];
        for (int a = 0; a < 3; a++) {
            at[a] = w->at[k][a] + w->start[a];
            inside &= at[a] >= 0 && at[a] < grid->axis[a].n;
        }
        if (!inside)
            continue;
        const gsize to = ((gsize)at[0] * grid->axis[1].n + at[1]) * grid->axis[2].n + at[2];
        sum[to] += scale * t * w->x[k][0];
        weight[to] += t * t;
    }
}

static LithoCube *reference(const LithoCube *in, const LithoPatchParams *params, double sigma,
                            const float *shape, gboolean guided)
{
    const int n[3] = {(int)in->grid.axis[0].n, (int)in->grid.axis[1].n, (int)in->grid.axis[2].n};
    Window w = {.in = in, .g = litho_patch_grid_geometry(&in->grid, params), .shape = shape};
    const gsize size = window_size(&w.g), samples = litho_grid_samples(&in->grid);
    make_tables(&w, guided);
    const LithoPatchAxis *a = w.g.axis;
    fftw_plan to = fftw_plan_dft_3d(a[0].length, a[1].length, a[2].length, w.x, w.x, FFTW_FORWARD,
                                    FFTW_ESTIMATE);
    fftw_plan back = fftw_plan_dft_3d(a[0].length, a[1].length, a[2].length, w.x, w.x,
                                      FFTW_BACKWARD, FFTW_ESTIMATE);
    g_autofree double *sum = g_new0(double, samples), *weight = g_new0(double, samples);
    for (int i = 0; i < a[0].count; i++)
        for (int j = 0; j < a[1].count; j++)
            for (int k = 0; k < a[2].count; k++) {
                w.start[0] = litho_patch_start(a[0], i);
                w.start[1] = litho_patch_start(a[1], j);
                w.start[2] = litho_patch_start(a[2], k);
                const double share = load(&w);
                const double limit =
                    pow(litho_patch_threshold(&w.g, params) * sigma, 2) * share * w.g.energy;
                fftw_execute(to);
                find_guides(&w);
                find_powers(&w);
                for (gsize m = 0; m < size; m++)
                    if (!keep(&w, m, params->rule, limit))
                        w.x[m][0] = w.x[m][1] = 0;
                fftw_execute(back);
                add(&w, share > 0 ? 1 / (share * size) : 0, sum, weight);
            }
    LithoCube *out = litho_cube_copy_box(in, in->held, NULL);
    for (gsize k = 0; k < samples; k++)
        out->samples[k] = in->live[k / n[2]] ? (float)(sum[k] / weight[k]) : 0;
    fftw_destroy_plan(to);
    fftw_destroy_plan(back);
    free_tables(&w);
    return out;
}

// --- what leaves at faults -----------------------------------------------------------------------

enum { FW = LITHO_PATCH_FAULT_TRACES, FK = FW * FW };

// The pass over the removed part `r` (kernels/patch/faults.h), plainly.
typedef struct Faults {
    LithoPatchGeometry g; // of the small windows
    int n[3];
    const double *r;
    const float *shape; // [frequency][wavenumber] of a small window, or NULL
    double sigma, limit;
    double taper[LITHO_PATCH_MAX_WINDOW];         // along time
    double complex turns[LITHO_PATCH_MAX_WINDOW]; // exp(2 pi i k / length)
    double complex *sums; // [inline][crossline][window][frequency]
} Faults;

static void find_turns(Faults *w)
{
    const int n = w->g.axis[2].length;
    for (int k = 0; k < n; k++) {
        w->taper[k] = sin(G_PI * (k + 0.5) / n);
        w->turns[k] = cexp(2 * I * G_PI * k / n);
    }
}

// The taper across four traces.
static double across(int i)
{
    const double tapers[] = {sin(G_PI / 8), sin(3 * G_PI / 8), sin(3 * G_PI / 8), sin(G_PI / 8)};
    return tapers[i];
}

// Sums of the 4 x 4 numbers times exp(sign 2 pi i (k l + m n) / 4), an axis after the other.
static void fault_turn(double complex z[FK], int sign)
{
    const double complex turns[] = {1, sign * I, -1, -sign * I};
    for (int axis = 0; axis < 2; axis++) {
        double complex from[FK];
        memcpy(from, z, sizeof from);
        for (int e = 0; e < FK; e++) {
            const int i = e / FW, j = e % FW;
            z[e] = 0;
            for (int k = 0; k < FW; k++)
                z[e] += axis == 0 ? turns[i * k % FW] * from[k * FW + j]
                                  : turns[j * k % FW] * from[i * FW + k];
        }
    }
}

// Spectrum along time of window k of trace (il, xl), mirrored beyond the faces.
static void fault_trace(const Faults *w, int il, int xl, int k, double complex *to)
{
    const LithoPatchAxis time = w->g.axis[2];
    const gsize trace =
        (gsize)litho_patch_mirror(w->n[0], il) * w->n[1] + litho_patch_mirror(w->n[1], xl);
    for (int f = 0; f < w->g.bins; f++) {
        to[f] = 0;
        for (int t = 0; t < time.length; t++)
            to[f] +=
                w->taper[t] * conj(w->turns[f * t % time.length]) *
                w->r[trace * w->n[2] + litho_patch_mirror(time.n, litho_patch_start(time, k) + t)];
    }
}

static double fault_power(const double complex *z, int bins, int f, int i, int j)
{
    const gboolean turned = f < 0 || f >= bins;
    f = f < 0 ? -f : f >= bins ? 2 * (bins - 1) - f : f;
    i = ((turned ? -i : i) + 2 * FW) % FW;
    j = ((turned ? -j : j) + 2 * FW) % FW;
    const double complex a = z[f * FK + i * FW + j];
    return creal(a) * creal(a) + cimag(a) * cimag(a);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// Noise of coefficient (i, j, f) in units of which powers are judged.
static double fault_noise(const Faults *w, int f, int i, int j)
{
    const gboolean turned = f < 0 || f >= w->g.bins;
    f = f < 0 ? -f : f >= w->g.bins ? 2 * (w->g.bins - 1) - f : f;
    i = ((turned ? -i : i) + 2 * FW) % FW;
    j = ((turned ? -j : j) + 2 * FW) % FW;
    return w->sigma * w->sigma * w->g.energy * (w->shape ? w->shape[f * FK + i * FW + j] : 1);
}

static double fault_relative(const Faults *w, const double complex *z, int f, int i, int j)
{
    return fault_power(z, w->g.bins, f, i, j) / fault_noise(w, f, i, j);
}

// Spectrum of a window, of whose traces these are the spectra along time, `lanes` a row. The mean
// power at the quartile of its frequencies.
static double fault_spectrum(const Faults *w, const double complex *traces, int lanes,
                             double complex *z)
{
    const int bins = w->g.bins;
    g_autofree double *quiet = g_new0(double, bins);
    for (int f = 0; f < bins; f++) {
        for (int e = 0; e < FK; e++)
            z[f * FK + e] = across(e / FW) * across(e % FW) *
                            traces[((gsize)(e / FW) * lanes + e % FW) * bins + f];
        fault_turn(z + f * FK, -1);
        for (int m = 0; m < FK; m++)
            quiet[f] +=
                fault_power(z, bins, f, m / FW, m % FW) / (FK * w->sigma * w->sigma * w->g.energy);
    }
    qsort(quiet, bins, sizeof *quiet, compare);
    return quiet[(bins - 1) / 4];
}

// The factor of the limits of window (i, j) of so many: 5 x 5 around tell how loud the noise is.
static double fault_louder(const double *quiet, const int windows[2], int i, int j)
{
    double sum = 0;
    int n = 0;
    for (int a = MAX(i - 2, 0); a <= MIN(i + 2, windows[0] - 1); a++)
        for (int b = MAX(j - 2, 0); b <= MIN(j + 2, windows[1] - 1); b++, n++)
            sum += quiet[a * windows[1] + b];
    return fmax(fmax(sum / n / 0.75, quiet[i * windows[1] + j]), 1);
}

// Adds what passes of a window that begins at trace (il, xl).
static void fault_window(const Faults *w, const double complex *z, double louder, int il, int xl,
                         int k)
{
    const int bins = w->g.bins;
    const double limit = w->limit * w->limit * louder;
    g_autofree double complex *kept = g_new0(double complex, bins *FK);
    for (int f = 0; f < bins; f++)
        for (int m = 0; m < FK; m++) {
            const int i = m / FW, j = m % FW;
            const double near =
                fault_relative(w, z, f, i + 1, j) + fault_relative(w, z, f, i - 1, j) +
                fault_relative(w, z, f, i, j + 1) + fault_relative(w, z, f, i, j - 1) +
                fault_relative(w, z, f + 1, i, j) + fault_relative(w, z, f - 1, i, j);
            if ((fault_relative(w, z, f, i, j) + near / 2) / 4 >= limit)
                kept[f * FK + m] = z[f * FK + m];
        }
    for (int f = 0; f < bins; f++) {
        fault_turn(kept + f * FK, 1);
        for (int e = 0; e < FK; e++) {
            const int to[2] = {il + e / FW, xl + e % FW};
            if (to[0] >= 0 && to[0] < w->n[0] && to[1] >= 0 && to[1] < w->n[1])
                w->sums[(((gsize)to[0] * w->n[1] + to[1]) * w->g.axis[2].count + k) * bins + f] +=
                    across(e / FW) * across(e % FW) / (FK * 4) * kept[f * FK + e];
        }
    }
}

// All windows of one time. They begin at trace 1 - FW at first.
static void fault_windows(const Faults *w, int k)
{
    const int bins = w->g.bins, rows = w->n[0] + 2 * (FW - 1), lanes = w->n[1] + 2 * (FW - 1);
    const int windows[2] = {w->n[0] + FW - 1, w->n[1] + FW - 1}, all = windows[0] * windows[1];
    g_autofree double complex *traces = g_new(double complex, (gsize)rows *lanes *bins);
    g_autofree double complex *z = g_new(double complex, (gsize)all *FK *bins);
    g_autofree double *quiet = g_new(double, all);
    for (int e = 0; e < rows * lanes; e++)
        fault_trace(w, e / lanes - (FW - 1), e % lanes - (FW - 1), k, traces + (gsize)e * bins);
    for (int e = 0; e < all; e++) {
        const int i = e / windows[1], j = e % windows[1];
        quiet[e] = fault_spectrum(w, traces + ((gsize)i * lanes + j) * bins, lanes,
                                  z + (gsize)e * FK * bins);
    }
    for (int e = 0; e < all; e++) {
        const int i = e / windows[1], j = e % windows[1];
        fault_window(w, z + (gsize)e * FK * bins, fault_louder(quiet, windows, i, j), i - (FW - 1),
                     j - (FW - 1), k);
    }
}

// Energy of one trace and window in units of the noise.
static double fault_energy(const Faults *w, int il, int xl, int k)
{
    const LithoPatchAxis time = w->g.axis[2];
    const double complex *z = w->sums + (((gsize)il * w->n[1] + xl) * time.count + k) * w->g.bins;
    double sum = 0;
    for (int f = 0; f < w->g.bins; f++)
        sum += (f == 0 || 2 * f == time.length ? 1 : 2) *
               (creal(z[f]) * creal(z[f]) + cimag(z[f]) * cimag(z[f]));
    return sum / (w->sigma * w->sigma * time.length * time.length / 2);
}

static double fault_gate(const Faults *w, int il, int xl, int k)
{
    double sum = 0, largest = 0;
    int traces = 0, windows = 0;
    for (int a = MAX(il - 1, 0); a <= MIN(il + 1, w->n[0] - 1); a++)
        for (int b = MAX(xl - 1, 0); b <= MIN(xl + 1, w->n[1] - 1); b++, traces++) {
            double own = 0;
            windows = 0;
            for (int c = MAX(k - 1, 0); c <= MIN(k + 1, w->g.axis[2].count - 1); c++, windows++)
                own += fault_energy(w, a, b, c);
            sum += own;
            largest = MAX(largest, own);
        }
    const double others = sum - largest, mean = others / ((traces - 1) * windows);
    return mean <= 0.04
               ? 0
               : MIN((mean - 0.04) / 0.06, 1) * CLAMP((others / largest - 0.1) / 0.05, 0, 1);
}

// Adds what comes back on `recorded` traces.
static void put_back(const Faults *w, const guint8 *recorded, LithoCube *out)
{
    const LithoPatchAxis time = w->g.axis[2];
    g_autofree double *sum = g_new(double, time.n), *weight = g_new(double, time.n);
    for (int e = 0; e < w->n[0] * w->n[1]; e++) {
        const int il = e / w->n[1], xl = e % w->n[1];
        memset(sum, 0, time.n * sizeof *sum);
        memset(weight, 0, time.n * sizeof *weight);
        for (int k = 0; recorded[e] && k < time.count; k++) {
            const double complex *z = w->sums + ((gsize)e * time.count + k) * w->g.bins;
            const double gate = fault_gate(w, il, xl, k);
            for (int t = 0; t < time.length; t++) {
                const int at = litho_patch_start(time, k) + t;
                double x = 0;
                for (int f = 0; f < w->g.bins; f++)
                    x += (f == 0 || 2 * f == time.length ? 1 : 2) *
                         creal(z[f] * w->turns[f * t % time.length]);
                if (at < 0 || at >= time.n)
                    continue;
                sum[at] += gate * w->taper[t] * x / time.length;
                weight[at] += pow(w->taper[t], 2);
            }
        }
        for (int t = 0; recorded[e] && t < time.n; t++)
            out->samples[(gsize)e * time.n + t] += (float)(sum[t] / weight[t]);
    }
}

static void add_faults(const LithoCube *in, const LithoPatchParams *params, double sigma,
                       const float *shape, const guint8 *recorded, LithoCube *out)
{
    const int n[3] = {(int)in->grid.axis[0].n, (int)in->grid.axis[1].n, (int)in->grid.axis[2].n};
    const LithoPatchGeometry g = litho_patch_grid_geometry(&in->grid, params);
    const gsize samples = litho_grid_samples(&in->grid);
    Faults w = {.g = litho_patch_fault_geometry(&g), .n = {n[0], n[1], n[2]}, .sigma = sigma};
    g_autofree double *r = g_new0(double, samples);
    g_autofree float *small = g_new(float, FK *g.bins);
    const int of[2] = {g.axis[0].length, g.axis[1].length};
    for (gsize k = 0; k < samples; k++)
        if (recorded[k / n[2]] && isfinite(in->samples[k]))
            r[k] = (double)in->samples[k] - out->samples[k];
    if (shape)
        litho_patch_fault_shape(shape, of, g.bins, small);
    w.r = r;
    w.shape = shape ? small : NULL;
    w.limit = litho_patch_fault_limit(&g, params);
    find_turns(&w);
    w.sums = g_new0(double complex, (gsize)n[0] * n[1] * w.g.axis[2].count * g.bins);
    for (int k = 0; k < w.g.axis[2].count; k++)
        fault_windows(&w, k);
    put_back(&w, recorded, out);
    g_free(w.sums);
}

LithoCube *patch_reference(const LithoCube *in, const LithoPatchParams *params, double sigma,
                           const float *shape, const guint8 *recorded)
{
    const LithoPatchGeometry g = litho_patch_grid_geometry(&in->grid, params);
    LithoCube *out = reference(in, params, sigma, shape, FALSE);
    if (litho_patch_keeps_faults(&g, params))
        add_faults(in, params, sigma, shape, recorded ? recorded : in->live, out);
    return out;
}

LithoCube *patch_reference_guided(const LithoCube *in, const LithoPatchParams *params, double sigma)
{
    return reference(in, params, sigma, NULL, TRUE);
}

double patch_distance(const LithoCube *a, const LithoCube *b)
{
    double off = 0, all = 0;
    for (gint64 k = 0; k < litho_cube_held_samples(a); k++) {
        const double d = (double)a->samples[k] - b->samples[k];
        off += d * d;
        all += (double)a->samples[k] * a->samples[k];
    }
    return sqrt(off / all);
}
