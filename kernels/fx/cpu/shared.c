// SPDX-License-Identifier: GPL-3.0-or-later
//
// Filters beside noise that neighbouring traces share: rule 8 of geometry.h.
#include <stdlib.h>

#include "kernels/fx/cpu/batch.h"

enum { DESIGNS = 3 };

// The covariance between two places of the block, `il` and `xl` traces apart.
FX_INLINE FxC covariance(const FxBatch *b, int il, int xl)
{
    const FxWindow *w = b->w;
    const FxC *lags = (const FxC *)w->shared + 1;
    const int across = 4 * w->reach_xl + 1, middle = 2 * w->reach_xl;
    if (il >= 0)
        return lags[il * across + middle + xl];
    const FxC c = lags[-il * across + middle - xl];
    return (FxC){c.re, -c.im};
}

// Biased autocorrelations hold fewer products the farther the traces are apart.
FX_INLINE float part_of(const FxBatch *b, int il, int xl)
{
    const FxRect w = b->window;
    if (b->w->params->form != LITHO_FX_ACF)
        return 1;
    const float a = 1 - (float)abs(il) / (float)(w.il1 - w.il0);
    const float c = 1 - (float)abs(xl) / (float)(w.xl1 - w.xl0);
    return a > 0 && c > 0 ? a * c : 0;
}

void fx_shared_open(FxBatch *b)
{
    const FxShape s = b->shape;
    const int width = 2 * s.xl + 1;
    FxC *cov = b->s->cov;
    for (int p = 0; p < s.size; p++)
        for (int q = p; q < s.size; q++) {
            const int il = q / width - p / width, xl = q % width - p % width;
            const float part = part_of(b, il, xl);
            FxC c = covariance(b, il, xl);
            c.re *= part;
            c.im *= part;
            cov[(size_t)p * s.size + q] = c;
        }
    fx_matrix(cov, s, 0, b->s->noise);
    const float n =
        b->w->params->form == LITHO_FX_ACF ? (float)fx_rect_area(b->window) : (float)b->points;
    b->level = n * b->scale * b->scale * ((const FxC *)b->w->shared)->re;
}

// (row of the packed matrix `a`) . x of all unknowns but the last.
FX_INLINE FxV product(const FxV *a, int row, int n, const FxV *x)
{
    FxV sum = {0};
    for (int k = 0; k <= row; k++)
        sum += a[fx_packed(row, k)] * x[k];
    for (int k = row + 1; k < n; k++)
        sum += a[fx_packed(k, row)] * x[k];
    return sum;
}

// Rest of noise of power 1, the filter being h: g' N g with g = (1, -h).
static FxV noise_left(const FxBatch *b, const FxV *h)
{
    const int n = b->shape.taps;
    const FxV *noise = b->s->noise, *own = noise + fx_packed(n, 0);
    FxV left = own[n];
    for (int k = 0; k < n; k++)
        left += h[k] * (product(noise, k, n, h) - 2 * own[k]);
    return left;
}

FX_INLINE FxV dot(const FxV *a, const FxV *b, int n)
{
    FxV sum = {0};
    for (int k = 0; k < n; k++)
        sum += a[k] * b[k];
    return sum;
}

// Noise's power and the next damping, a share of the mean diagonal, after a design whose filter is
// h; NULL = before the first one.
static void adapt(FxBatch *b, const FxV *h, FxV mean, float share[FX_LANES])
{
    const int n = b->shape.taps;
    const int automatic = !(b->w->params->prewhitening > 0);
    const FxV *g = b->s->matrix + fx_packed(n, 0), *own = b->s->noise + fx_packed(n, 0);
    FxV left = {0}, noise = {0}, energy = {0};
    if (h) {
        energy = dot(h, h, n);
        left = g[n] - dot(h, g, n) - b->power * dot(h, own, n) - b->lambda * energy;
        noise = noise_left(b, h);
    }
    for (int l = 0; l < FX_LANES; l++) {
        b->power[l] =
            h ? litho_fx_shared_power(left[l], noise[l], b->power[l], mean[l], n, b->points)
              : litho_fx_shared_most(b->level[l], mean[l]);
        if (!automatic)
            continue;
        share[l] = litho_fx_shared_share(b->power[l], mean[l], energy[l], n, b->points, !h);
        b->lambda[l] = share[l] * mean[l];
    }
    b->counts->flops += 2.0 * b->lanes * n * n;
}

// The filter of the factor and of the right-hand side less that of the noise.
static void solve(FxBatch *b, FxV *h)
{
    const int n = b->shape.taps;
    const FxV *g = b->s->matrix + fx_packed(n, 0), *own = b->s->noise + fx_packed(n, 0);
    fx_cholesky(b->s->matrix, &b->lambda, n + 1, b->s->factor, &b->factored);
    for (int k = 0; k < n; k++)
        h[k] = g[k] - b->power * own[k];
    fx_solve(b->s->factor, n, h);
    b->counts->flops += b->lanes * ((double)n * n * n / 3 + 2.0 * n * n);
}

void fx_shared_solve(FxBatch *b, int last)
{
    const LithoFxParams *p = b->w->params;
    const int n = b->shape.taps;
    const FxV mean = b->lambda * (1 / litho_fx_share(p));
    FxV *h = b->s->beta;
    float share[FX_LANES] = {0};
    adapt(b, NULL, mean, share);
    for (int design = 0;; design++) {
        solve(b, h);
        if (design == DESIGNS - 1)
            break;
        adapt(b, h, mean, share);
    }
    b->good = b->alive & b->factored;
    if (last) {
        b->counts->systems += b->lanes;
        b->counts->fallbacks += p->solver == LITHO_FX_CHOLESKY ? 0 : b->lanes;
        b->counts->failed += fx_count(b->alive & ~b->good);
        for (int l = 0; l < FX_LANES && !(p->prewhitening > 0); l++)
            if (b->alive[l])
                b->counts->octaves += litho_fx_octaves(share[l]);
    }
    if (!p->post)
        return;
    const FxV *g = b->s->matrix + fx_packed(n, 0), *own = b->s->noise + fx_packed(n, 0);
    const FxV hb = dot(h, g, n) - b->power * dot(h, own, n);
    const FxV alpha = fx_stretch(hb, dot(h, h, n), b->lambda);
    for (int k = 0; k < n; k++)
        h[k] *= alpha;
}

// --- the survey's edge ---------------------------------------------------------------------------

// Right-hand sides for the place t of the block, real and imaginary part in the real unknowns:
// power times the noise's covariance with t, and lambda at t.
static void right_hand_sides(const FxBatch *b, int t, FxV *x, FxV *y)
{
    const FxShape s = b->shape;
    const int width = 2 * s.xl + 1;
    const float r = (float)M_SQRT1_2;
    for (int q = 0; q <= s.pairs; q++) {
        FxC side[2];
        for (int k = 0; k < 2; k++) {
            const int a = k == 0 ? s.pairs + q : s.pairs - q;
            side[k] = covariance(b, t / width - a / width, t % width - a % width);
            side[k].re *= b->power;
            side[k].im *= b->power;
            if (a == t)
                side[k].re += b->lambda;
        }
        if (q == 0) {
            x[s.taps] = side[0].re;
            y[s.taps] = side[0].im;
            continue;
        }
        x[2 * q - 2] = r * (side[0].re + side[1].re);
        y[2 * q - 2] = r * (side[0].im + side[1].im);
        x[2 * q - 1] = r * (side[0].im - side[1].im);
        y[2 * q - 1] = -r * (side[0].re - side[1].re);
    }
}

// The noise that the taps h pass, correlated with that of place t.
static FxV noise_with(const FxBatch *b, const FxC *h, int t)
{
    const FxShape s = b->shape;
    const int width = 2 * s.xl + 1;
    FxV sum = {0};
    for (int a = 0; a < s.size; a++) {
        const FxC c = covariance(b, t / width - a / width, t % width - a % width);
        sum += h[a].re * c.re + h[a].im * c.im;
    }
    return sum;
}

void fx_shared_edge_taps(FxBatch *b, int t)
{
    const FxShape s = b->shape;
    const int q = abs(t - s.pairs), u = 2 * q - 2, v = 2 * q - 1;
    const float r = (float)M_SQRT1_2;
    FxV *x = b->s->more, *y = b->s->more + s.size;
    FxC *h = b->s->taps;
    right_hand_sides(b, t, x, y);
    fx_solve(b->s->factor, s.size, x);
    fx_solve(b->s->factor, s.size, y);
    for (int p = 1; p <= s.pairs; p++) {
        const FxV u_re = r * x[2 * p - 2], u_im = r * y[2 * p - 2];
        const FxV v_re = r * x[2 * p - 1], v_im = r * y[2 * p - 1];
        h[s.pairs + p] = (FxC){v_im - u_re, -(u_im + v_re)};
        h[s.pairs - p] = (FxC){-(u_re + v_im), v_re - u_im};
    }
    h[s.pairs] = (FxC){-x[s.taps], -y[s.taps]};
    h[t].re += 1;
    const FxV *m = b->s->matrix;
    const FxV r_tt = 0.5f * (m[fx_packed(u, u)] + m[fx_packed(v, v)]);
    FxV alpha = fx_splat(1);
    if (b->w->params->post) {
        const FxV hb = r_tt - b->power - b->lambda * h[t].re - b->power * noise_with(b, h, t);
        FxV hh = {0};
        for (int n = 0; n < s.size; n++)
            hh += h[n].re * h[n].re + h[n].im * h[n].im;
        alpha = fx_stretch(hb, hh, b->lambda);
    }
    const FxMask nothing = r_tt < LITHO_FX_NOTHING * m[fx_packed(s.taps, s.taps)];
    for (int n = 0; n < s.size; n++) {
        h[n].re = fx_select(nothing, fx_splat(n == t), alpha * h[n].re);
        h[n].im = fx_select(nothing, (FxV){0}, alpha * h[n].im);
    }
    b->counts->flops += 4.0 * b->lanes * s.size * s.size;
}
