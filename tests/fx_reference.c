// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fx_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef double complex cplx;

FxRef fx_ref_defaults(double dt)
{
    return (FxRef){.time_window = 150,
                   .time_overlap = 50,
                   .nfft = 256,
                   .window_il = 20,
                   .window_xl = 20,
                   .stride = 17,
                   .half = 3,
                   .fill_passes = 3,
                   .prewhitening = 10,
                   .fmin = 0,
                   .fmax = 0.5 / dt};
}

// --- windows along one axis -------------------------------------------------------------------

typedef struct Windows {
    int n, length, count, start[256];
} Windows;

static Windows windows(int n, int length, int hop)
{
    Windows w = {.n = n, .length = n < length ? n : length};
    for (int at = 0; at + w.length < n; at += hop)
        w.start[w.count++] = at;
    w.start[w.count++] = n - w.length;
    return w;
}

static double trapezoid(const Windows *w, int k, int i)
{
    int j = i - w->start[k];
    double v = 1;
    if (j < 0 || j >= w->length)
        return 0;
    if (k > 0)
        v = fmin(v, (j + 1.0) / (w->start[k - 1] + w->length - w->start[k] + 1.0));
    if (k + 1 < w->count)
        v = fmin(v, (w->length - j) / (w->start[k] + w->length - w->start[k + 1] + 1.0));
    return v;
}

static double weight(const Windows *w, int k, int i)
{
    double sum = 0;
    for (int m = 0; m < w->count; m++)
        sum += trapezoid(w, m, i);
    return trapezoid(w, k, i) / sum;
}

// --- one window -------------------------------------------------------------------------------

typedef struct Slice {
    const FxRef *p;
    int n1, n2;
    cplx *s;     // with fillings
    char *live;  // recorded
    char *there; // recorded or filled
    int h1, h2, size;
    int a0, a1, b0, b1; // the window
    cplx *r;            // covariance of the block, forward and backward averaged, undamped
    double lambda;
    bool first;      // the design that automatic prewhitening looks at: not rescaled
    cplx *taps[128]; // by place in the block, NULL until solved
} Slice;

static bool centred(const Slice *w, int i, int j)
{
    return i >= w->h1 && i < w->n1 - w->h1 && j >= w->h2 && j < w->n2 - w->h2;
}

static void offset(const Slice *w, int n, int *di, int *dj)
{
    *di = n / (2 * w->h2 + 1) - w->h1;
    *dj = n % (2 * w->h2 + 1) - w->h2;
}

static int points(const Slice *w)
{
    int n = 0;
    for (int i = w->a0; i < w->a1; i++)
        for (int j = w->b0; j < w->b1; j++)
            n += centred(w, i, j) && w->live[i * w->n2 + j];
    return n;
}

// In place, column pivots; `b` becomes the solution.
static void gauss(int n, cplx *a, cplx *b)
{
    for (int c = 0; c < n; c++) {
        int best = c;
        for (int r = c + 1; r < n; r++)
            if (cabs(a[r * n + c]) > cabs(a[best * n + c]))
                best = r;
        for (int k = 0; k < n; k++) {
            cplx t = a[c * n + k];
            a[c * n + k] = a[best * n + k];
            a[best * n + k] = t;
        }
        cplx t = b[c];
        b[c] = b[best];
        b[best] = t;
        for (int r = c + 1; r < n; r++) {
            cplx f = a[r * n + c] / a[c * n + c];
            for (int k = c; k < n; k++)
                a[r * n + k] -= f * a[c * n + k];
            b[r] -= f * b[c];
        }
    }
    for (int c = n - 1; c >= 0; c--) {
        for (int k = c + 1; k < n; k++)
            b[c] -= a[c * n + k] * b[k];
        b[c] /= a[c * n + c];
    }
}

static void covariance(Slice *w)
{
    const int n = w->size;
    memset(w->r, 0, sizeof(cplx) * n * n);
    for (int i = w->a0; i < w->a1; i++)
        for (int j = w->b0; j < w->b1; j++) {
            if (!centred(w, i, j) || !w->live[i * w->n2 + j])
                continue;
            for (int a = 0; a < n; a++)
                for (int b = 0; b < n; b++) {
                    int ai, aj, bi, bj;
                    offset(w, a, &ai, &aj);
                    offset(w, b, &bi, &bj);
                    w->r[a * n + b] +=
                        conj(w->s[(i + ai) * w->n2 + j + aj]) * w->s[(i + bi) * w->n2 + j + bj];
                }
        }
    for (int a = 0; a < n; a++) // forward and backward: R(a, b) and conj R(-a, -b)
        for (int b = 0; b < n; b++) {
            int mirror = (n - 1 - a) * n + n - 1 - b;
            if (a * n + b > mirror)
                continue;
            cplx mean = 0.5 * (w->r[a * n + b] + conj(w->r[mirror]));
            w->r[a * n + b] = mean;
            w->r[mirror] = conj(mean);
        }
}

static void autocorrelation(Slice *w)
{
    for (int a = 0; a < w->size; a++)
        for (int b = 0; b < w->size; b++) {
            int ai, aj, bi, bj;
            cplx sum = 0;
            offset(w, a, &ai, &aj);
            offset(w, b, &bi, &bj);
            for (int i = w->a0; i < w->a1; i++)
                for (int j = w->b0; j < w->b1; j++) {
                    int k = i + bi - ai, l = j + bj - aj;
                    if (k >= w->a0 && k < w->a1 && l >= w->b0 && l < w->b1)
                        sum += conj(w->s[i * w->n2 + j]) * w->s[k * w->n2 + l];
                }
            w->r[a * w->size + b] = sum;
        }
}

// Predictor of place t of the block from the others: (R + lambda) h = R(., t) without row, column
// t.
static const cplx *predictor(Slice *w, int t)
{
    const int n = w->size;
    if (w->taps[t])
        return w->taps[t];
    cplx *a = malloc(sizeof(cplx) * (n - 1) * (n - 1)), *b = malloc(sizeof(cplx) * n);
    for (int i = 0, k = 0; i < n; i++) {
        if (i == t)
            continue;
        for (int j = 0, l = 0; j < n; j++)
            if (j != t)
                a[k * (n - 1) + l++] = w->r[i * n + j] + (i == j ? w->lambda : 0);
        b[k++] = w->r[i * n + t];
    }
    gauss(n - 1, a, b);
    cplx *h = calloc(n, sizeof(cplx));
    double hb = 0, hh = 0;
    for (int i = 0, k = 0; i < n; i++)
        if (i != t) {
            h[i] = b[k++];
            hb += creal(conj(h[i]) * w->r[i * n + t]);
            hh += creal(conj(h[i]) * h[i]);
        }
    double alpha = fmin(3, fmax(1, hb / (hb - w->lambda * hh)));
    for (int i = 0; i < n && w->p->post && !w->first; i++)
        h[i] *= alpha;
    free(a);
    free(b);
    return w->taps[t] = h;
}

// FALSE: fewer than an eighth of the neighbours are there.
static bool predict(Slice *w, int i, int j, cplx *out)
{
    int ci = i, cj = j, found = 0;
    double all = 0, present = 0;
    if (w->p->edge == FX_REF_FIT && !w->p->acf) {
        ci = i < w->h1 ? w->h1 : i > w->n1 - 1 - w->h1 ? w->n1 - 1 - w->h1 : i;
        cj = j < w->h2 ? w->h2 : j > w->n2 - 1 - w->h2 ? w->n2 - 1 - w->h2 : j;
    }
    int t = (i - ci + w->h1) * (2 * w->h2 + 1) + j - cj + w->h2;
    const cplx *h = predictor(w, t);
    cplx sum = 0;
    for (int n = 0; n < w->size; n++) {
        int di, dj;
        if (n == t)
            continue;
        offset(w, n, &di, &dj);
        int k = ci + di, l = cj + dj;
        bool outside = k < 0 || k >= w->n1 || l < 0 || l >= w->n2;
        bool zero = outside && w->p->edge == FX_REF_ZERO;
        all += cabs(h[n]);
        if (!zero && (outside || !w->there[k * w->n2 + l]))
            continue;
        found++;
        present += cabs(h[n]);
        if (!zero)
            sum += h[n] * w->s[k * w->n2 + l];
    }
    if (found < w->size - 1)
        sum *= 8 * present > all ? all / present : 8;
    *out = sum;
    return 8 * found >= w->size - 1;
}

// Automatic prewhitening: what the centred filter at 1 % leaves of the noise decides about a second
// one, and what that one leaves, with the sum of its squares, about the last.
static void adapt(Slice *w, double mean)
{
    const int n = w->size, c = n / 2;
    const double equations = 2.0 * points(w), taps = n - 1;
    for (int pass = 0; pass < 2; pass++) {
        w->first = true;
        const cplx *h = predictor(w, c);
        w->first = false;
        double left = creal(w->r[c * n + c]), energy = 0;
        for (int k = 0; k < n; k++) {
            const double hh = creal(conj(h[k]) * h[k]);
            left -= creal(conj(h[k]) * w->r[k * n + c]) + w->lambda * hh;
            energy += hh;
        }
        double rho = fmax(left / (mean * fmax(1 - taps / equations, 0.25)), 0);
        rho = pass == 0 ? fmin(rho, 0.999) : rho;
        energy = pass == 0 ? 6.7 * (1 - rho) / taps : fmax(energy / 1.15, 1e-6);
        w->lambda = mean * fmin(fmax(taps / equations * rho / energy, 0.001), 10);
        free(w->taps[c]);
        w->taps[c] = NULL;
    }
}

// FALSE: the window holds nothing.
static bool design(Slice *w)
{
    double trace = 0;
    for (int t = 0; t < 128; t++) {
        free(w->taps[t]);
        w->taps[t] = NULL;
    }
    if (w->p->acf)
        autocorrelation(w);
    else
        covariance(w);
    for (int a = 0; a < w->size; a++)
        trace += creal(w->r[a * w->size + a]);
    w->lambda = (w->p->prewhitening > 0 ? w->p->prewhitening / 100 : 0.01) * trace / w->size;
    if (trace > 0 && w->p->prewhitening == 0)
        adapt(w, trace / w->size);
    return trace > 0;
}

static void fill(Slice *w)
{
    cplx *new = malloc(sizeof(cplx) * w->n1 * w->n2);
    char *done = calloc(w->n1 * w->n2, 1);
    for (int pass = 0; pass < 2; pass++) // predict all, then take over
        for (int i = w->a0 - w->h1; i < w->a1 + w->h1; i++)
            for (int j = w->b0 - w->h2; j < w->b1 + w->h2; j++) {
                int at = i * w->n2 + j;
                if (i < 0 || i >= w->n1 || j < 0 || j >= w->n2 || w->live[at])
                    continue;
                if (pass == 0) {
                    done[at] = predict(w, i, j, &new[at]);
                } else if (done[at]) {
                    w->s[at] = new[at];
                    w->there[at] = 1;
                }
            }
    free(new);
    free(done);
}

static bool choose(Slice *w)
{
    w->h1 = w->p->half < (w->n1 - 1) / 2 ? w->p->half : (w->n1 - 1) / 2;
    w->h2 = w->p->half < (w->n2 - 1) / 2 ? w->p->half : (w->n2 - 1) / 2;
    for (; w->h1 > 0 || w->h2 > 0; w->h1 >= w->h2 ? w->h1-- : w->h2--) {
        w->size = (2 * w->h1 + 1) * (2 * w->h2 + 1);
        if (points(w) >= w->size - 1)
            return true;
    }
    return false;
}

// Adds the window's weighted prediction to `out`.
static void one_window(Slice *w, const Windows *ax, const Windows *bx, int k, int l, cplx *out)
{
    bool use = choose(w), holes = false;
    w->r = malloc(sizeof(cplx) * (use ? w->size * w->size : 1));
    for (int i = w->a0 - w->h1; use && i < w->a1 + w->h1; i++)
        for (int j = w->b0 - w->h2; j < w->b1 + w->h2; j++)
            holes |= i >= 0 && i < w->n1 && j >= 0 && j < w->n2 && !w->live[i * w->n2 + j];
    for (int pass = 0; use && holes && pass < w->p->fill_passes; pass++)
        if (design(w))
            fill(w);
    use = use && design(w);
    for (int i = w->a0; i < w->a1; i++)
        for (int j = w->b0; j < w->b1; j++) {
            int at = i * w->n2 + j;
            cplx y;
            if (!use || !predict(w, i, j, &y))
                y = w->live[at] ? w->s[at] : 0;
            out[at] += weight(ax, k, i) * weight(bx, l, j) * y;
        }
    free(w->r);
    for (int t = 0; t < 128; t++)
        free(w->taps[t]);
}

void fx_ref_slice(const FxRef *p, int n1, int n2, const cplx *s, const char *present, cplx *out)
{
    Windows ax = windows(n1, p->window_il, p->stride), bx = windows(n2, p->window_xl, p->stride);
    int n = n1 * n2;
    Slice w = {.p = p,
               .n1 = n1,
               .n2 = n2,
               .s = malloc(sizeof(cplx) * n),
               .live = malloc(n),
               .there = malloc(n)};
    memset(out, 0, sizeof(cplx) * n);
    memcpy(w.live, present, n);
    for (int k = 0; k < ax.count; k++)
        for (int l = 0; l < bx.count; l++) {
            for (int i = 0; i < n; i++)
                w.s[i] = present[i] ? s[i] : 0;
            memcpy(w.there, present, n);
            memset(w.taps, 0, sizeof w.taps);
            w.a0 = ax.start[k];
            w.a1 = w.a0 + ax.length;
            w.b0 = bx.start[l];
            w.b1 = w.b0 + bx.length;
            one_window(&w, &ax, &bx, k, l, out);
        }
    free(w.s);
    free(w.live);
    free(w.there);
}

// --- time -------------------------------------------------------------------------------------

static bool usable(const float *trace, int n)
{
    bool any = false;
    for (int t = 0; t < n; t++) {
        if (!isfinite(trace[t]))
            return false;
        any |= trace[t] != 0;
    }
    return any;
}

// Adds time window k of all traces to `out`, which holds the input.
static void time_window(const FxRef *p, const Windows *tx, int k, int n1, int n2, double dt,
                        const float *in, const char *present, double *out)
{
    const int n = n1 * n2, nt = tx->n, from = tx->start[k];
    char *live = malloc(n);
    double *back = calloc((size_t)n * tx->length, sizeof *back);
    cplx *s = malloc(sizeof(cplx) * n), *y = malloc(sizeof(cplx) * n);
    for (int i = 0; i < n; i++)
        live[i] = present[i] && usable(in + (size_t)i * nt + from, tx->length);
    for (int bin = 0; bin <= p->nfft / 2; bin++) {
        double f = bin / (p->nfft * dt);
        bool band = f >= p->fmin - 1e-6 / (p->nfft * dt) && f <= p->fmax + 1e-6 / (p->nfft * dt);
        double once = bin == 0 || 2 * bin == p->nfft ? 1.0 : 2.0;
        cplx step = cexp(-2 * M_PI * I * bin / p->nfft);
        for (int i = 0; i < n; i++) {
            cplx phase = 1;
            s[i] = 0;
            for (int t = 0; live[i] && t < tx->length; t++, phase *= step)
                s[i] += in[(size_t)i * nt + from + t] * phase;
        }
        if (band)
            fx_ref_slice(p, n1, n2, s, live, y);
        for (int i = 0; i < n; i++) {
            cplx v = (band ? y[i] : p->mute ? 0 : s[i]), phase = 1;
            for (int t = 0; t < tx->length; t++, phase *= conj(step))
                back[(size_t)i * tx->length + t] += once / p->nfft * creal(v * phase);
        }
    }
    for (int i = 0; i < n; i++)
        for (int t = 0; live[i] && t < tx->length; t++) {
            size_t at = (size_t)i * nt + from + t;
            out[at] += weight(tx, k, from + t) * (back[(size_t)i * tx->length + t] - in[at]);
        }
    free(live);
    free(back);
    free(s);
    free(y);
}

void fx_ref_cube(const FxRef *p, int n1, int n2, int nt, double dt, const float *in,
                 const char *present, double *out)
{
    Windows tx = windows(nt, p->time_window, p->time_window - p->time_overlap);
    for (size_t i = 0; i < (size_t)n1 * n2 * nt; i++)
        out[i] = in[i];
    for (int k = 0; k < tx.count; k++)
        time_window(p, &tx, k, n1, n2, dt, in, present, out);
}

bool fx_ref_jacobi(int n1, int n2, int pitch, const cplx *s, int half, double prewhitening)
{
    const int w = 2 * half + 1, n = w * w, c = n / 2;
    cplx h[128], next[128], *r = malloc(sizeof(cplx) * (2 * w - 1) * (2 * w - 1));
    bool converged = false;
    for (int y = 1 - w; y < w; y++)
        for (int x = 1 - w; x < w; x++) {
            cplx sum = 0;
            for (int i = 0; i < n1; i++)
                for (int j = 0; j < n2; j++)
                    if (i + y >= 0 && i + y < n1 && j + x >= 0 && j + x < n2)
                        sum += conj(s[i * pitch + j]) * s[(i + y) * pitch + j + x];
            r[(y + w - 1) * (2 * w - 1) + x + w - 1] = sum;
        }
    double r0 = creal(r[(w - 1) * (2 * w - 1) + w - 1]), diagonal = r0 * (1 + prewhitening / 100);
    for (int k = 0; k < n; k++)
        h[k] = 0.01;
    for (int step = 0; step < 100 && !converged; step++) {
        double change = 0;
        for (int m = 0; m < n; m++) {
            if (m == c)
                continue;
            int my = m / w, mx = m % w;
            cplx b = r[(c / w - my + w - 1) * (2 * w - 1) + c % w - mx + w - 1];
            for (int k = 0; k < n; k++)
                if (k != m && k != c)
                    b -= r[(k / w - my + w - 1) * (2 * w - 1) + k % w - mx + w - 1] * h[k];
            next[m] = b / diagonal;
            change = fmax(change, cabs(next[m] - h[m]));
        }
        for (int m = 0; m < n; m++)
            h[m] = m == c ? 0 : next[m];
        if (!isfinite(change) || change > 1e12)
            break;
        converged = change < 1e-4;
    }
    free(r);
    return converged;
}
