// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/design.h"

#include <math.h>
#include <string.h>

#include "kernels/common/clones.h"

// Keeps certified |G| below 1 against rounding in the samples between grid points.
#define SAFETY (1 - 1e-6)

enum {
    MAX_N = 63,
    MAX_UNKNOWNS = 2 * (MAX_N + 1) + 1,
    MAX_WIDTH = 2 * MAX_N + 2,
    MAX_PASS = 2 * MAX_N + 10,
    MAX_SAMPLES = MAX_PASS + 6 * MAX_N + 30,
    MAX_NEWTON = 200,
    ROWS = 4, // samples, or rows of the Hessian, that share what is loaded
    ROOM = MAX_SAMPLES + ROWS,
    LINE = 8, // doubles of a cache line, at which rows begin
};
#define UP_TO_LINE(n) (((n) + LINE - 1) / LINE * LINE)

// The barrier problem: samples of the pass band first, then of the stop band.
typedef struct Problem {
    int n1, pass, samples, unknowns; // n1 = N + 1
    gboolean real;                   // a stop design: imaginary parts are 0
    int stride, pitch;               // of a row of cosines, of the Hessian
    double *cosines;                 // [samples, rounded up to ROWS][2 N + 1]: cos(k phi_j)
    double t_re[MAX_PASS], t_im[MAX_PASS], w2[MAX_PASS]; // target, weight squared
    double u2[MAX_SAMPLES];                              // bound on |G|^2
    double lam;
} Problem;

// A point (a, tau) and what depends on it.
typedef struct Point {
    double x[MAX_UNKNOWNS]; // Re a, Im a (unless real), tau
    double g_re[ROOM], g_im[ROOM];
    double value; // barrier; +inf outside
} Point;

// Bound on |G| at phi, beyond the pass band's end at phi_p.
static double stop_bound(const LithoPolySpec *spec, double phi_p, double phi)
{
    double n = spec->degree;
    if (spec->stop > 0)
        // A little before and below, for the samples lie apart.
        return (phi < phi_p + 0.9 * LITHO_POLY_TRANSITION / n ? 1 : 0.97 * spec->stop) * SAFETY;
    double phi_c = 2 * asin(fmin(1, spec->kap / sqrt(spec->rho)));
    double x = CLAMP((phi - phi_c - G_PI / n) / (8 * G_PI / n), 0, 1);
    return (0.5 + 0.25 * (1 + cos(G_PI * x))) * SAFETY;
}

static void fill_cosines(double *row, int count, double phi)
{
    // cos(k phi) by recurrence in double loses < 1e-13 for k <= 126.
    double c = cos(phi);
    row[0] = 1;
    row[1] = c;
    for (int k = 2; k < count; k++)
        row[k] = 2 * c * row[k - 1] - row[k - 2];
}

static void problem_init(Problem *p, const LithoPolySpec *spec)
{
    const int n = spec->degree;
    p->n1 = n + 1;
    p->real = spec->stop > 0;
    p->unknowns = (p->real ? 1 : 2) * p->n1 + 1;
    p->pass = MAX(24, 2 * n + 10);
    int stop = 6 * n + 30;
    p->samples = p->pass + stop;
    const int width = 2 * n + 1;
    p->stride = UP_TO_LINE(width);
    p->pitch = UP_TO_LINE(p->unknowns);
    p->cosines = g_aligned_alloc0((gsize)(p->samples + ROWS) * p->stride, sizeof(double), 64);

    double k2 = spec->kap * spec->kap;
    double s_p = fmin(k2 * sin(spec->theta) * sin(spec->theta), spec->rho);
    double phi_p = 2 * asin(sqrt(s_p / spec->rho));
    for (int j = 0; j < p->pass; j++) {
        double phi = phi_p * sin(0.5 * G_PI * j / (p->pass - 1));
        double half = sin(phi / 2), s = spec->rho * half * half;
        double weight = spec->w0 + (1 - spec->w0) * (s / s_p) * (s / s_p);
        double phase = spec->stop > 0 ? 0 : sqrt(fmax(k2 - s, 0));
        fill_cosines(p->cosines + (gsize)j * p->stride, width, phi);
        p->t_re[j] = cos(phase) * SAFETY;
        p->t_im[j] = sin(phase) * SAFETY;
        p->w2[j] = weight * weight;
        p->u2[j] = SAFETY * SAFETY;
    }
    for (int j = 0; j < stop; j++) {
        double phi = phi_p + (G_PI - phi_p) * pow((j + 1.0) / stop, 1.3);
        double u = stop_bound(spec, phi_p, phi);
        fill_cosines(p->cosines + (gsize)(p->pass + j) * p->stride, width, phi);
        p->u2[p->pass + j] = u * u;
    }
}

// G at samples j .. j + ROWS - 1.
LITHO_INLINE void values_at(const Problem *p, int j, Point *at)
{
    const int width = p->stride;
    static const double none[MAX_N + 1];
    const double *re = at->x, *im = p->real ? none : at->x + p->n1, *c = p->cosines + (gsize)j * width;
    double r0 = 0, r1 = 0, r2 = 0, r3 = 0, i0 = 0, i1 = 0, i2 = 0, i3 = 0;
#pragma omp simd reduction(+ : r0, r1, r2, r3, i0, i1, i2, i3)
    for (int k = 0; k < p->n1; k++) {
        const double a = re[k], b = im[k];
        r0 += c[k] * a;
        i0 += c[k] * b;
        r1 += c[width + k] * a;
        i1 += c[width + k] * b;
        r2 += c[2 * width + k] * a;
        i2 += c[2 * width + k] * b;
        r3 += c[3 * width + k] * a;
        i3 += c[3 * width + k] * b;
    }
    const double real[ROWS] = {r0, r1, r2, r3}, imaginary[ROWS] = {i0, i1, i2, i3};
    memcpy(at->g_re + j, real, sizeof real);
    memcpy(at->g_im + j, imaginary, sizeof imaginary);
}

// Argument of the barrier's logarithm at sample j; 0 or less outside.
LITHO_INLINE double room_at(const Problem *p, const Point *at, int j)
{
    const double gr = at->g_re[j], gi = at->g_im[j], slack = p->u2[j] - gr * gr - gi * gi;
    if (!(slack > 0) || j >= p->pass)
        return slack;
    const double er = gr - p->t_re[j], ei = gi - p->t_im[j], tau = at->x[p->unknowns - 1];
    const double room = tau * tau * p->w2[j] - er * er - ei * ei;
    return room > 0 ? slack * room : room; // one logarithm for both
}

// G at all samples and the barrier's value there.
LITHO_CLONES static void evaluate(const Problem *p, Point *at)
{
    const double tau = at->x[p->unknowns - 1];
    double value = p->lam * tau;
    at->value = INFINITY;
    if (!(tau > 0))
        return;
    for (int first = 0; first < p->samples; first += ROWS) {
        values_at(p, first, at);
        for (int j = first; j < MIN(first + ROWS, p->samples); j++) {
            const double room = room_at(p, at, j);
            if (!(room > 0))
                return;
            value -= log(room);
        }
    }
    at->value = value;
}

// Moments of one sample's second derivatives and gradient.
typedef struct Weights {
    double rr, ri, ii; // second derivatives with respect to Re G, Im G
    double tr, ti;     // mixed with tau
    double gr, gi;     // gradient
} Weights;

LITHO_INLINE Weights sample_weights(const Problem *p, const Point *at, int j, double *grad_tau,
                                    double *hess_tau)
{
    const double tau = at->x[p->unknowns - 1];
    double gr = at->g_re[j], gi = at->g_im[j];
    double i2 = 1 / (p->u2[j] - gr * gr - gi * gi);
    Weights w = {
        .rr = 2 * i2 + 4 * gr * gr * i2 * i2,
        .ri = 4 * gr * gi * i2 * i2,
        .ii = 2 * i2 + 4 * gi * gi * i2 * i2,
        .gr = 2 * gr * i2,
        .gi = 2 * gi * i2,
    };
    if (j < p->pass) {
        double er = gr - p->t_re[j], ei = gi - p->t_im[j], w2 = p->w2[j];
        double i1 = 1 / (tau * tau * w2 - er * er - ei * ei);
        w.rr += 2 * i1 + 4 * er * er * i1 * i1;
        w.ri += 4 * er * ei * i1 * i1;
        w.ii += 2 * i1 + 4 * ei * ei * i1 * i1;
        w.tr = -4 * er * tau * w2 * i1 * i1;
        w.ti = -4 * ei * tau * w2 * i1 * i1;
        w.gr += 2 * er * i1;
        w.gi += 2 * ei * i1;
        *grad_tau -= 2 * tau * w2 * i1;
        *hess_tau += -2 * w2 * i1 + 4 * tau * tau * w2 * w2 * i1 * i1;
    }
    return w;
}

// The weighted sum of ROWS cosines at k.
LITHO_INLINE double of_rows(const double *w, const double *c, int stride, int k)
{
    return w[0] * c[k] + w[1] * c[stride + k] + w[2] * c[2 * stride + k] + w[3] * c[3 * stride + k];
}

// sum[m][k] = sum over samples of weight[m][j] cos(k phi_j), k < width rounded up to a line:
// several samples to each load and store of a sum. Weights are 0 behind the last sample.
LITHO_INLINE void two_moments(const Problem *p, int samples, int width, double weight[2][ROOM],
                              double sum[2][MAX_WIDTH])
{
    const int n = UP_TO_LINE(width), stride = p->stride;
    memset(sum, 0, sizeof(double[2][MAX_WIDTH]));
    for (int j = 0; j < samples; j += ROWS) {
        const double *c = p->cosines + (gsize)j * stride;
#pragma omp simd
        for (int k = 0; k < n; k++) {
            sum[0][k] += of_rows(weight[0] + j, c, stride, k);
            sum[1][k] += of_rows(weight[1] + j, c, stride, k);
        }
    }
}

LITHO_INLINE void three_moments(const Problem *p, double weight[3][ROOM], double sum[3][MAX_WIDTH])
{
    const int stride = p->stride;
    memset(sum, 0, sizeof(double[3][MAX_WIDTH]));
    for (int j = 0; j < p->samples; j += ROWS) {
        const double *c = p->cosines + (gsize)j * stride;
#pragma omp simd
        for (int k = 0; k < stride; k++) {
            sum[0][k] += of_rows(weight[0] + j, c, stride, k);
            sum[1][k] += of_rows(weight[1] + j, c, stride, k);
            sum[2][k] += of_rows(weight[2] + j, c, stride, k);
        }
    }
}

// Gradient and Hessian. cos(m phi) cos(n phi) = (cos((m-n) phi) + cos((m+n) phi)) / 2 turns each
// block B^T diag(w) B into 2 N + 1 moments of w: O(samples N) instead of O(samples N^2).
LITHO_CLONES static void derivatives(const Problem *p, const Point *at, double *grad, double *hess)
{
    const int n1 = p->n1, u = p->unknowns, pitch = p->pitch;
    double second[3][ROOM], first[2][ROOM], mixed[2][ROOM], hess_tau = 0;
    double m2[3][MAX_WIDTH], m1[2][MAX_WIDTH];
    grad[u - 1] = p->lam;
    for (int j = 0; j < p->samples + ROWS; j++) {
        Weights w = {0};
        if (j < p->samples)
            w = sample_weights(p, at, j, &grad[u - 1], &hess_tau);
        second[0][j] = w.rr;
        second[1][j] = w.ri;
        second[2][j] = w.ii;
        first[0][j] = w.gr;
        first[1][j] = w.gi;
        mixed[0][j] = w.tr;
        mixed[1][j] = w.ti;
    }
    three_moments(p, second, m2);
    for (int m = 0; m < n1; m++)
        for (int n = 0; n < n1; n++) {
            int d = abs(m - n), s = m + n;
            hess[m * pitch + n] = 0.5 * (m2[0][d] + m2[0][s]);
            if (p->real)
                continue;
            hess[(n1 + m) * pitch + n] = 0.5 * (m2[1][d] + m2[1][s]);
            hess[(n1 + m) * pitch + n1 + n] = 0.5 * (m2[2][d] + m2[2][s]);
        }
    two_moments(p, p->samples, n1, first, m1);
    memcpy(grad, m1[0], sizeof(double) * n1);
    if (!p->real)
        memcpy(grad + n1, m1[1], sizeof(double) * n1);
    two_moments(p, p->pass, n1, mixed, m1);
    memcpy(hess + (u - 1) * pitch, m1[0], sizeof(double) * n1);
    if (!p->real)
        memcpy(hess + (u - 1) * pitch + n1, m1[1], sizeof(double) * n1);
    hess[(u - 1) * pitch + u - 1] = hess_tau;
}

enum { PANEL = 4 }; // columns of the Cholesky factor made at a time

// Columns first .. first + n - 1 of the factor, whose earlier columns are already taken off; copies
// of them in rows of their own, from their diagonal on.
LITHO_INLINE void factor_panel(double *h, int u, int pitch, int first, int n,
                               double column[][UP_TO_LINE(MAX_UNKNOWNS)])
{
    for (int c = 0; c < n; c++) {
        const int j = first + c;
        for (int i = j; i < u; i++)
            for (int k = first; k < j; k++)
                h[i * pitch + j] -= h[i * pitch + k] * h[j * pitch + k];
        const double root = sqrt(fmax(h[j * pitch + j], 1e-14));
        h[j * pitch + j] = root;
        for (int i = j + 1; i < u; i++)
            h[i * pitch + j] /= root;
        for (int i = j; i < u; i++)
            column[c][i] = h[i * pitch + j];
    }
}

// Cholesky factor of the lower triangle in place: u^3 / 3 multiplications, sixteen to eight loads
// and four stores. What lies above the diagonal is nobody's.
LITHO_INLINE void factor(double *h, int u, int pitch)
{
    double column[PANEL][UP_TO_LINE(MAX_UNKNOWNS)];
    for (int first = 0; first < u; first += PANEL) {
        const int n = MIN(PANEL, u - first), next = first + n;
        factor_panel(h, u, pitch, first, n, column);
        const double *a = column[0], *b = column[1], *c = column[2], *d = column[3];
        int i = next; // n is PANEL here, but for the last panel with nothing behind
        for (; i + ROWS <= u; i += ROWS) {
            double *r0 = h + i * pitch, *r1 = r0 + pitch, *r2 = r1 + pitch, *r3 = r2 + pitch;
            const double a0 = a[i], b0 = b[i], c0 = c[i], d0 = d[i], a1 = a[i + 1], b1 = b[i + 1],
                         c1 = c[i + 1], d1 = d[i + 1], a2 = a[i + 2], b2 = b[i + 2], c2 = c[i + 2],
                         d2 = d[i + 2], a3 = a[i + 3], b3 = b[i + 3], c3 = c[i + 3], d3 = d[i + 3];
#pragma omp simd
            for (int j = next; j < i + ROWS; j++) {
                r0[j] -= a0 * a[j] + b0 * b[j] + c0 * c[j] + d0 * d[j];
                r1[j] -= a1 * a[j] + b1 * b[j] + c1 * c[j] + d1 * d[j];
                r2[j] -= a2 * a[j] + b2 * b[j] + c2 * c[j] + d2 * d[j];
                r3[j] -= a3 * a[j] + b3 * b[j] + c3 * c[j] + d3 * d[j];
            }
        }
        for (; i < u; i++) {
            double *row = h + i * pitch;
#pragma omp simd
            for (int j = next; j <= i; j++)
                row[j] -= a[i] * a[j] + b[i] * b[j] + c[i] * c[j] + d[i] * d[j];
        }
    }
}

// Solves H d = -g for symmetric positive H (lower triangle, overwritten); returns d . (-g), the
// squared Newton decrement.
LITHO_CLONES static double newton_direction(double *h, const double *g, double *d, int u, int pitch)
{
    double scale[MAX_UNKNOWNS], decrement = 0;
    for (int i = 0; i < u; i++)
        scale[i] = 1 / sqrt(fmax(h[i * pitch + i], 1e-300));
    for (int i = 0; i < u; i++) {
        for (int j = 0; j <= i; j++)
            h[i * pitch + j] *= scale[i] * scale[j];
        h[i * pitch + i] += 1e-12;
    }
    factor(h, u, pitch);
    for (int i = 0; i < u; i++) {
        double sum = -g[i] * scale[i];
#pragma omp simd reduction(- : sum)
        for (int k = 0; k < i; k++)
            sum -= h[i * pitch + k] * d[k];
        d[i] = sum / h[i * pitch + i];
        decrement += d[i] * d[i];
    }
    for (int i = u - 1; i >= 0; i--) {
        d[i] /= h[i * pitch + i];
#pragma omp simd
        for (int k = 0; k < i; k++)
            d[k] -= h[i * pitch + k] * d[i];
        d[i] *= scale[i];
    }
    return decrement;
}

// One damped Newton step; FALSE when no step lowers the barrier any more.
static gboolean newton_step(const Problem *p, Point **at, Point **trial, double *hess,
                            double *decrement)
{
    double grad[MAX_UNKNOWNS], step[MAX_UNKNOWNS];
    derivatives(p, *at, grad, hess);
    *decrement = newton_direction(hess, grad, step, p->unknowns, p->pitch);
    for (double alpha = 1; alpha > 1e-10; alpha *= 0.6) {
        for (int i = 0; i < p->unknowns; i++)
            (*trial)->x[i] = (*at)->x[i] + alpha * step[i];
        evaluate(p, *trial);
        if ((*trial)->value <= (*at)->value - 0.1 * alpha * *decrement) {
            Point *swap = *at;
            *at = *trial;
            *trial = swap;
            return TRUE;
        }
    }
    return FALSE;
}

LITHO_CLONES double litho_poly_max_modulus(const LithoPolySpec *spec, const double *re,
                                           const double *im)
{
    enum { LANES = 16 };
    const int count = 256 * (spec->degree + 1) + 1;
    double largest = 0;
    for (int first = 0; first < count; first += LANES) {
        double x[LANES], b1r[LANES] = {0}, b1i[LANES] = {0}, b2r[LANES] = {0}, b2i[LANES] = {0};
        for (int l = 0; l < LANES; l++)
            x[l] = cos(G_PI * MIN(first + l, count - 1) / (count - 1));
        for (int n = spec->degree; n >= 1; n--) // Clenshaw
            for (int l = 0; l < LANES; l++) {
                double r = re[n] + 2 * x[l] * b1r[l] - b2r[l];
                double i = im[n] + 2 * x[l] * b1i[l] - b2i[l];
                b2r[l] = b1r[l];
                b2i[l] = b1i[l];
                b1r[l] = r;
                b1i[l] = i;
            }
        for (int l = 0; l < LANES; l++) {
            const double r = re[0] + x[l] * b1r[l] - b2r[l], i = im[0] + x[l] * b1i[l] - b2i[l];
            largest = fmax(largest, r * r + i * i);
        }
    }
    return sqrt(largest);
}

void litho_poly_value(const LithoPolySpec *spec, const double *re, const double *im, double s,
                      double *g_re, double *g_im)
{
    double phi = 2 * asin(sqrt(CLAMP(s / spec->rho, 0, 1)));
    *g_re = *g_im = 0;
    for (int n = 0; n <= spec->degree; n++) {
        *g_re += re[n] * cos(n * phi);
        *g_im += im[n] * cos(n * phi);
    }
}

double litho_poly_design(const LithoPolySpec *spec, double *re, double *im)
{
    g_autofree Problem *p = g_new(Problem, 1);
    g_autofree Point *points = g_new0(Point, 2);
    Point *at = &points[0], *trial = &points[1];
    problem_init(p, spec);
    double *hess = g_aligned_alloc((gsize)p->unknowns * p->pitch, sizeof(double), 64);

    double *tau = &at->x[p->unknowns - 1];
    *tau = 1.3 / spec->w0; // a = 0 misses by 1 everywhere: strictly feasible
    const double m = p->samples + p->pass;
    p->lam = 0.5 * m / *tau;
    evaluate(p, at);
    for (int k = 0; k < MAX_NEWTON; k++) {
        double decrement;
        gboolean moved = newton_step(p, &at, &trial, hess, &decrement);
        tau = &at->x[p->unknowns - 1];
        if (moved && decrement >= 1)
            continue;
        if (p->lam * *tau * spec->tol >= m || *tau < 2e-5)
            break;
        p->lam *= 8;
        evaluate(p, at);
    }
    double bound = *tau;
    memcpy(re, at->x, sizeof(double) * p->n1);
    memset(im, 0, sizeof(double) * p->n1);
    if (!p->real)
        memcpy(im, at->x + p->n1, sizeof(double) * p->n1);
    g_aligned_free(p->cosines);
    g_aligned_free(hess);

    double largest = litho_poly_max_modulus(spec, re, im);
    double shrink = largest > SAFETY ? SAFETY / largest : 1;
    for (int n = 0; n <= spec->degree; n++) {
        re[n] *= shrink;
        im[n] *= shrink;
    }
    return bound;
}

// --- cache ------------------------------------------------------------------------------------

static GMutex cache_lock;
static GHashTable *cache[2]; // LithoPoly, keyed by its spec: the host's, a maker's
static guint64 made;

static guint spec_hash(gconstpointer key)
{
    const LithoPolySpec *s = key;
    guint64 h = 1469598103934665603u;
    const double values[] = {s->kap, s->rho, s->theta, s->w0, s->tol, s->degree, s->stop};
    for (guint k = 0; k < G_N_ELEMENTS(values); k++) {
        guint64 bits;
        memcpy(&bits, &values[k], sizeof bits);
        h = (h ^ bits ^ (bits >> 29)) * 1099511628211u;
    }
    return (guint)(h ^ (h >> 32));
}

static gboolean spec_equal(gconstpointer a, gconstpointer b)
{
    const LithoPolySpec *p = a, *q = b;
    return p->kap == q->kap && p->rho == q->rho && p->theta == q->theta && p->w0 == q->w0 &&
           p->tol == q->tol && p->degree == q->degree && p->stop == q->stop;
}

static void design(LithoPoly *poly)
{
    double re[MAX_N + 1], im[MAX_N + 1];
    poly->tau = litho_poly_design(&poly->spec, re, im);
    for (int n = 0; n <= poly->spec.degree; n++) {
        poly->re[n] = (float)re[n];
        poly->im[n] = (float)im[n];
    }
}

// Specs that are neither in the cache nor listed before, as polynomials without coefficients.
static GPtrArray *missing_polys(const LithoPolySpec *specs, guint n, guint which)
{
    GPtrArray *missing = g_ptr_array_new();
    g_autoptr(GHashTable) listed = g_hash_table_new(spec_hash, spec_equal);
    g_mutex_lock(&cache_lock);
    if (!cache[which])
        cache[which] = g_hash_table_new_full(spec_hash, spec_equal, NULL, g_free);
    for (guint k = 0; k < n; k++) {
        if (g_hash_table_contains(cache[which], &specs[k]) ||
            !g_hash_table_add(listed, (gpointer)&specs[k]))
            continue;
        LithoPoly *poly = g_new0(LithoPoly, 1);
        poly->spec = specs[k];
        g_ptr_array_add(missing, poly);
    }
    g_mutex_unlock(&cache_lock);
    return missing;
}

// Takes over those that are designed, frees the others.
static void cache_add(GPtrArray *polys, guint which)
{
    g_mutex_lock(&cache_lock);
    for (guint k = 0; k < polys->len; k++) {
        LithoPoly *poly = g_ptr_array_index(polys, k);
        const gboolean designed = poly->tau > 0;
        made += designed;
        // Another thread may have been faster.
        if (!designed || g_hash_table_contains(cache[which], &poly->spec))
            g_free(poly);
        else
            g_hash_table_insert(cache[which], &poly->spec, poly);
    }
    g_mutex_unlock(&cache_lock);
    g_ptr_array_unref(polys);
}

static gboolean design_all(GPtrArray *polys, const LithoPolyMaker *maker, LithoRun *run,
                           GError **error)
{
    gint64 total = polys->len, done = 0;
    litho_run_begin(run, "designing filters", "filters");
    if (maker && total > 0 &&
        !maker->make(maker->self, (LithoPoly *const *)polys->pdata, polys->len, run, error))
        return FALSE;
#pragma omp parallel for schedule(dynamic, 1) num_threads(litho_run_threads(run)) if (total > 1)
    for (gint64 k = 0; k < total; k++) {
        LithoPoly *poly = g_ptr_array_index(polys, k);
        if (poly->tau == 0 && litho_run_checkpoint(run))
            design(poly);
        __atomic_add_fetch(&done, poly->tau > 0, __ATOMIC_RELAXED);
    }
    return litho_run_step(run, done, total, error);
}

gboolean litho_poly_get(const LithoPolySpec *specs, guint n, const LithoPoly **polys,
                        const LithoPolyMaker *maker, LithoRun *run, GError **error)
{
    const guint which = maker != NULL;
    GPtrArray *missing = missing_polys(specs, n, which);
    const gboolean ok = design_all(missing, maker, run, error);
    cache_add(missing, which); // of a run that was cancelled, too
    if (!ok)
        return FALSE;
    g_mutex_lock(&cache_lock);
    for (guint k = 0; k < n; k++)
        polys[k] = g_hash_table_lookup(cache[which], &specs[k]);
    g_mutex_unlock(&cache_lock);
    return TRUE;
}

guint64 litho_poly_designs_made(void)
{
    g_mutex_lock(&cache_lock);
    guint64 n = made;
    g_mutex_unlock(&cache_lock);
    return n;
}

void litho_poly_cache_clear(void)
{
    g_mutex_lock(&cache_lock);
    for (guint which = 0; which < G_N_ELEMENTS(cache); which++)
        g_clear_pointer(&cache[which], g_hash_table_unref);
    g_mutex_unlock(&cache_lock);
}
