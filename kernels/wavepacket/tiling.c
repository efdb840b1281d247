// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/wavepacket/tiling.h"

#include <math.h>
#include <string.h>

#include "kernels/wavepacket/cpu/vector.h"

// Kaiser-Bessel parameter of the radial edge.
static const double EDGE_BETA = 5;
static const double TOP_START = 0.36, TOP_END = 0.50;

double wp_bessel_i0(double x)
{
    double term = 1, sum = 1, q = x * x / 4;
    for (int k = 1; term > 1e-18 * sum; k++) {
        term *= q / ((double)k * k);
        sum += term;
    }
    return sum;
}

WpDesign wp_design(WpDesignKind kind, int directions)
{
    WpDesign design = {.alpha = 0.80, .gamma = 0.75, .beta = 7, .cm = 1.2, .cmt = 3.0};
    if (directions > 3) { // narrower boxes have longer packets: wider margins
        design.cm = 1.5;
        design.cmt = 3.6;
    }
    if (kind == WP_COMPACT)
        design = (WpDesign){.alpha = 0.75, .gamma = 0.70, .beta = 5, .cm = 0.5, .cmt = 1.0};
    design.full = kind == WP_FULL;
    return design;
}

int wp_auto_scales(gint64 n)
{
    return CLAMP((int)lround(log2((double)n)) - 4, 1, WP_MAX_SCALES);
}

// S is the running integral of the bump I0(beta sqrt(1-z^2)), by Simpson's rule per interval.
static gpointer make_step(gpointer unused)
{
    const int n = WP_STEP_NODES - 1;
    g_autofree double *sum = g_new0(double, WP_STEP_NODES);
    float *step = g_new(float, WP_STEP_NODES);
    (void)unused;
    for (int i = 0; i < n; i++) {
        double f[3];
        for (int j = 0; j < 3; j++) {
            double z = 2 * (i + 0.5 * j) / n - 1;
            f[j] = wp_bessel_i0(EDGE_BETA * sqrt(MAX(0, 1 - z * z)));
        }
        sum[i + 1] = sum[i] + (f[0] + 4 * f[1] + f[2]) / 6;
    }
    for (int i = 0; i <= n; i++)
        step[i] = (float)(sum[i] / sum[n]);
    return step;
}

// One table for all tilings, made once.
static void fill_step(WpTiling *t)
{
    static GOnce once = G_ONCE_INIT;
    g_once(&once, make_step, NULL);
    memcpy(t->step, once.retval, sizeof t->step);
}

// B(t) = (I0(beta sqrt(1-t^2)) - 1)/(I0(beta) - 1) = sum_k c_k q^k with q = 1 - t^2 and
// c_k = (beta^2/4)^k/(k!)^2/(I0(beta) - 1), k >= 1: 18 terms leave less than 1e-9 at beta = 7.
static void fill_bump(WpTiling *t)
{
    double scale = 1 / (wp_bessel_i0(t->design.beta) - 1), term = scale;
    for (int k = 0; k < WP_BUMP_TERMS; k++) {
        term *= t->design.beta * t->design.beta / 4 / ((k + 1.0) * (k + 1.0));
        t->bump[k] = (float)term;
    }
}

static void fill_directions(WpDirections *d, int edge)
{
    const double cell = M_PI / (2 * edge);
    d->edge = edge;
    d->n = 3 * edge * edge;
    d->nu = g_malloc(sizeof(double[3]) * d->n);
    d->omega = g_new(double, d->n);
    int m = 0;
    for (int face = 0; face < 3; face++)
        for (int i = 0; i < edge; i++)
            for (int j = 0; j < edge; j++, m++) {
                double a = tan((i + 0.5 - 0.5 * edge) * cell);
                double b = tan((j + 0.5 - 0.5 * edge) * cell);
                double q = 1 + a * a + b * b, v[3] = {1 / sqrt(q), a / sqrt(q), b / sqrt(q)};
                for (int c = 0; c < 3; c++)
                    d->nu[m][(c + face) % 3] = v[c];
                d->omega[m] = (1 + a * a) * (1 + b * b) / (q * sqrt(q)) * cell * cell;
            }
}

// Directions of a line: half a circle in the plane of the two other axes, cells as wide as on a
// face. A cell's solid angle is that of a square: windows in the plane overlap as those in space
// do.
static void fill_flat_directions(WpDirections *d, int edge, int flat)
{
    const double cell = M_PI / (2 * edge);
    const int axes[2] = {flat == 0 ? 1 : 0, 2};
    d->edge = edge;
    d->n = 2 * edge;
    d->nu = g_malloc0(sizeof(double[3]) * d->n);
    d->omega = g_new(double, d->n);
    for (int m = 0; m < d->n; m++) {
        const int face = m / edge;
        const double angle = (m % edge + 0.5 - 0.5 * edge) * cell;
        d->nu[m][axes[face]] = cos(angle);
        d->nu[m][axes[1 - face]] = (face ? -1 : 1) * sin(angle);
        d->omega[m] = cell * cell;
    }
}

WpTiling *wp_tiling_new(const WpDesign *design, int scales, int edge, int flat)
{
    WpTiling *t = g_new0(WpTiling, 1);
    t->design = *design;
    t->scales = scales;
    t->taper = design->full ? 0.08 : 0;
    for (int k = 1; k <= scales; k++) {
        t->a[k] = ldexp(1.0 / 6, k - scales);
        t->b[k] = ldexp(1.0 / 3, k - scales);
        // Angular width and length follow the parabolic law: sqrt 2 more directions a scale.
        const int cells = 2 * (int)floor(edge * pow(2, (k - 1) / 2.0) / 2) + 1;
        WpDirections *d = &t->dir[k];
        if (flat < 0)
            fill_directions(d, cells);
        else
            fill_flat_directions(d, cells, flat);
        d->side = g_new(double, d->n);
        for (int m = 0; m < d->n; m++)
            d->side[m] = sqrt(d->omega[m]);
    }
    t->a[scales + 1] = TOP_START;
    t->b[scales + 1] = TOP_END;
    fill_step(t);
    fill_bump(t);
    return t;
}

void wp_tiling_free(WpTiling *t)
{
    if (!t)
        return;
    for (int k = 1; k <= t->scales; k++) {
        g_free(t->dir[k].nu);
        g_free(t->dir[k].omega);
        g_free(t->dir[k].side);
    }
    g_free(t);
}

WP_INLINE float step_at(const float *table, float t)
{
    float u = t * (WP_STEP_NODES - 1);
    u = u < 0 ? 0 : u > WP_STEP_NODES - 1 ? WP_STEP_NODES - 1 : u;
    int i = (int)u;
    i = i > WP_STEP_NODES - 2 ? WP_STEP_NODES - 2 : i;
    float f = u - (float)i;
    return table[i] + f * (table[i + 1] - table[i]);
}

double wp_step(const WpTiling *t, double x)
{
    return step_at(t->step, (float)x);
}

// r/outer for the angular radius. The full design's top scale goes on beyond its outer edge; there
// the ratio saturates (smoothly: a kink would lengthen the packets), as still narrower bumps would
// leave holes between the directions.
WP_INLINE double opening(const WpTiling *t, int k, double r)
{
    double q = r / t->b[k + 1];
    if (!t->design.full || k < t->scales)
        return MIN(q, 1);
    double q2 = q * q, q4 = q2 * q2;
    return q / sqrt(sqrt(1 + q4));
}

double wp_radius(const WpTiling *t, int k, int m, double r)
{
    return t->design.alpha * sqrt(t->dir[k].omega[m]) * pow(opening(t, k, r), -t->design.gamma);
}

static double angle_between(const double a[3], const double b[3])
{
    return acos(CLAMP(a[0] * b[0] + a[1] * b[1] + a[2] * b[2], -1, 1));
}

WpNeighbour *wp_neighbours(const WpTiling *t, int k, int m, int *count)
{
    const WpDirections *d = &t->dir[k];
    const double *own = d->nu[m];
    WpNeighbour *list = g_new(WpNeighbour, 2 * d->n);
    const double open = wp_radius(t, k, m, t->a[k]) / d->side[m];
    int n = 0;
    for (int sign = 1; sign >= -1; sign -= 2)
        for (int i = 0; i < d->n; i++) {
            const double *at = d->nu[i], reach = open * (d->side[i] + d->side[m]);
            // A chord is shorter than its arc: most directions are far away by that alone.
            const double cosine = sign * (at[0] * own[0] + at[1] * own[1] + at[2] * own[2]);
            if (2 - 2 * cosine >= reach * reach + 1e-12)
                continue;
            const double nu[3] = {sign * at[0], sign * at[1], sign * at[2]};
            if (angle_between(nu, own) >= reach)
                continue;
            list[n++] = (WpNeighbour){
                .nu = {(float)nu[0], (float)nu[1], (float)nu[2]},
                .inv_radius2 = (float)(1 / (t->design.alpha * t->design.alpha * d->omega[i]))};
            if (sign == 1 && i == m) {
                WpNeighbour self = list[n - 1];
                list[n - 1] = list[0];
                list[0] = self;
            }
        }
    *count = n;
    return list;
}

// angle^2 from the chord y = |u - nu|^2: 4 arcsin^2(sqrt(y)/2) = 2 sum y^n/(n^2 C(2n,n)); the
// chord keeps the precision that 1 - cos loses in single precision.
WP_INLINE void angle2(WpVec *angle)
{
    static const float c[] = {1.f,           1.f / 12,      1.f / 90,       1.f / 560,
                              1.f / 3150,    1.f / 16632,   1.f / 84084,    1.f / 411840,
                              1.f / 1969110, 1.f / 9237800, 1.f / 42678636, 1.f / 194699232};
    const WpVec y = *angle;
    WpVec s = y * c[11] + c[10];
    for (int i = 9; i >= 0; i--)
        s = s * y + c[i];
    *angle = s * y;
}

// The angular bump: sum_k c_k q^k, q = 1 - t^2, and 0 outside (q <= 0).
WP_INLINE void bump(const float *c, WpVec *value)
{
    wp_vec_positive(value);
    const WpVec q = *value;
    WpVec s = q * c[WP_BUMP_TERMS - 1] + c[WP_BUMP_TERMS - 2];
    for (int i = WP_BUMP_TERMS - 3; i >= 0; i--)
        s = s * q + c[i];
    *value = s * q;
}

// V_k^2, times the corner taper of the full design.
WP_INLINE float radial2(const WpTiling *t, int k, const float xi[3], float r)
{
    float rise = step_at(t->step, (float)((r - t->a[k]) / (t->b[k] - t->a[k])));
    if (!t->design.full || k < t->scales)
        return rise *
               (1 - step_at(t->step, (float)((r - t->a[k + 1]) / (t->b[k + 1] - t->a[k + 1]))));
    for (int c = 0; c < 3; c++)
        rise *= 1 - step_at(t->step, (float)((fabsf(xi[c]) - 0.5 + t->taper) / (2 * t->taper)));
    return rise;
}

// Chords^2 from one direction to sixteen unit vectors u.
WP_INLINE void chords2(const WpNeighbour *nb, const WpVec u[3], WpVec *value)
{
    const WpVec dx = u[0] - nb->nu[0], dy = u[1] - nb->nu[1], dz = u[2] - nb->nu[2];
    *value = dx * dx + dy * dy + dz * dz;
}

// The angle is no less than the chord: where that is beyond the bump, the bump is zero.
WP_INLINE int may_reach(const WpNeighbour *nb, const WpVec u[3], const WpVec *open)
{
    WpVec v;
    chords2(nb, u, &v);
    const WpVec near = 1 - v * (*open * nb->inv_radius2);
    return wp_vec_any_positive(&near);
}

// The bump of one direction at sixteen unit vectors u.
WP_INLINE void bump_of(const WpTiling *t, const WpNeighbour *nb, const WpVec u[3],
                       const WpVec *open, WpVec *value)
{
    WpVec v;
    chords2(nb, u, &v);
    const WpVec scale = *open * nb->inv_radius2;
    angle2(&v);
    v = 1 - v * scale;
    bump(t->bump, &v);
    *value = v;
}

// Adds the bumps of the directions that may reach. These are found first: what follows is free of
// branches, and the processor works on several of the long polynomials at a time.
WP_INLINE void add_bumps(const WpTiling *t, const WpNeighbour *nb, int count, const WpVec u[3],
                         const WpVec *open, WpVec *sum)
{
    enum { NEAR = 32 };
    int near[NEAR + 1];
    for (int m = 0; m < count;) {
        int n = 0;
        for (; m < count && n < NEAR; m++) {
            near[n] = m;
            n += may_reach(&nb[m], u, open);
        }
        for (int i = 0; i < n; i++) {
            WpVec v;
            bump_of(t, &nb[near[i]], u, open, &v);
            *sum += v;
        }
    }
}

// Two in five points of a lattice lie under no window; they leave as soon as that is seen.
WP_CLONES void wp_window_points(const WpTiling *t, int k, const WpNeighbour *nb, int count, int n,
                                const float *x, const float *y, const float *z, float *phi)
{
    const float power = (float)(2 * t->design.gamma), beyond = 1e30f;
    for (int at = 0; at < n; at += WP_VEC) {
        const int len = MIN(WP_VEC, n - at);
        WpVec u[3] = {{0}}, open = {0}, v2 = {0}, own = {0}, sum;
        open += beyond; // no direction reaches a lane that is left out
        for (int i = 0; i < len; i++) {
            const float xi[3] = {x[at + i], y[at + i], z[at + i]};
            float r = sqrtf(xi[0] * xi[0] + xi[1] * xi[1] + xi[2] * xi[2]);
            v2[i] = radial2(t, k, xi, r);
            if (v2[i] <= 0)
                continue;
            for (int c = 0; c < 3; c++)
                u[c][i] = xi[c] / r;
            // (radius at the outer edge / radius here)^2
            const float q = (float)opening(t, k, r);
            open[i] = power == 1.5f ? q * sqrtf(q) : powf(q, power);
        }
        if (wp_vec_any_positive(&v2) && may_reach(&nb[0], u, &open))
            bump_of(t, &nb[0], u, &open, &own);
        sum = own;
        own *= v2; // both are needed
        if (wp_vec_any_positive(&own))
            add_bumps(t, nb + 1, count - 1, u, &open, &sum);
        for (int i = 0; i < len; i++) {
            float p = own[i] > 0 ? sqrtf(own[i] / sum[i]) : 0;
            phi[at + i] = p < (float)WP_CUT ? 0 : p;
        }
    }
}

double wp_window_coarse(const WpTiling *t, const double xi[3])
{
    double r = sqrt(xi[0] * xi[0] + xi[1] * xi[1] + xi[2] * xi[2]);
    double phi = sqrt(1 - wp_step(t, (r - t->a[1]) / (t->b[1] - t->a[1])));
    return phi < WP_CUT ? 0 : phi;
}

double wp_window_residual(const WpTiling *t, const double xi[3])
{
    double r2 = 0;
    for (int c = 0; c < 3; c++) {
        double x = xi[c] - rint(xi[c]);
        r2 += x * x;
    }
    double phi = sqrt(wp_step(t, (sqrt(r2) - TOP_START) / (TOP_END - TOP_START)));
    return phi < WP_CUT ? 0 : phi;
}

double wp_window_exact(const WpTiling *t, int k, int m, const double xi[3])
{
    const WpDirections *d = &t->dir[k];
    double r = sqrt(xi[0] * xi[0] + xi[1] * xi[1] + xi[2] * xi[2]);
    if (r == 0)
        return 0;
    double u[3] = {xi[0] / r, xi[1] / r, xi[2] / r}, own = 0, sum = 0;
    double scale = 1 / (wp_bessel_i0(t->design.beta) - 1);
    for (int i = 0; i < d->n; i++)
        for (int sign = 1; sign >= -1; sign -= 2) {
            double nu[3] = {sign * d->nu[i][0], sign * d->nu[i][1], sign * d->nu[i][2]};
            double s = angle_between(u, nu) / wp_radius(t, k, i, r);
            if (s >= 1)
                continue;
            double v = (wp_bessel_i0(t->design.beta * sqrt(1 - s * s)) - 1) * scale;
            sum += v;
            if (i == m && sign == 1)
                own = v;
        }
    float x[3] = {(float)xi[0], (float)xi[1], (float)xi[2]};
    double phi = own > 0 ? sqrt(radial2(t, k, x, (float)r) * own / sum) : 0;
    return phi < WP_CUT ? 0 : phi;
}
