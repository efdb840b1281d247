// SPDX-License-Identifier: GPL-3.0-or-later
//
// From filters to predictions for one window and a batch of frequencies, survey edges and absent
// neighbours included: rule 4 of geometry.h.

#include <stdlib.h>
#include <string.h>

#include "kernels/fx/cpu/batch.h"

// --- filters -------------------------------------------------------------------------------------

// The centred filter as complex taps by block number.
static void centre_taps(FxBatch *b)
{
    const float r = (float)M_SQRT1_2;
    const int c = b->shape.pairs;
    b->s->taps[c] = (FxC){{0}, {0}};
    for (int q = 1; q <= c; q++) {
        FxV re = r * b->s->beta[2 * q - 2], im = r * b->s->beta[2 * q - 1];
        b->s->taps[c + q] = (FxC){re, im};
        b->s->taps[c - q] = (FxC){re, -im};
    }
    b->weighed = 0;
}

// The filter that predicts block number t from all others: column t of K = Q (M + lambda I)^{-1}
// Q^H over -K[t, t]. With x, y the columns of the real inverse for u_q and v_q, t = c + q (c - q),
// the column in the real unknowns is r (x - i y) (r (x + i y)). Where there is nothing at that
// place, the filter takes the trace itself.
static void edge_taps(FxBatch *b, int t)
{
    const FxShape s = b->shape;
    const int q = abs(t - s.pairs), u = 2 * q - 2, v = 2 * q - 1;
    const float sign = t > s.pairs ? -1 : 1;
    FxV *x = b->s->more, *y = b->s->more + s.size;
    FxC *h = b->s->taps;
    fx_solve_unit(b->s->factor, s.size, u, x);
    fx_solve_unit(b->s->factor, s.size, v, y);
    FxV k_tt = 0.5f * (x[u] + y[v]);
    FxV over = -1.0f / fx_select(k_tt > 0, k_tt, fx_splat(1));
    for (int p = 1; p <= s.pairs; p++) { // w = x + sign i y; K[c +- p] = r^2 (w_u +- i w_v)
        FxV u_re = 0.5f * x[2 * p - 2], u_im = 0.5f * sign * y[2 * p - 2];
        FxV v_re = 0.5f * x[2 * p - 1], v_im = 0.5f * sign * y[2 * p - 1];
        h[s.pairs + p] = (FxC){(u_re - v_im) * over, (u_im + v_re) * over};
        h[s.pairs - p] = (FxC){(u_re + v_im) * over, (u_im - v_re) * over};
    }
    h[s.pairs].re = (float)M_SQRT1_2 * x[s.taps] * over;
    h[s.pairs].im = (float)M_SQRT1_2 * sign * y[s.taps] * over;
    h[t] = (FxC){{0}, {0}};
    b->weighed = 0;
    b->counts->flops += 4.0 * b->lanes * s.size * s.size;
    // 1 / K[t, t] = R[t, t] + lambda - h.b with R the covariance, R[t, t] = (M_uu + M_vv) / 2.
    const FxV *m = b->s->matrix;
    const FxV r_tt = 0.5f * (m[fx_packed(u, u)] + m[fx_packed(v, v)]);
    if (b->w->params->post) {
        FxV hb = r_tt + b->lambda + over, hh = {0};
        for (int n = 0; n < s.size; n++)
            hh += h[n].re * h[n].re + h[n].im * h[n].im;
        FxV alpha = fx_stretch(hb, hh, b->lambda);
        for (int n = 0; n < s.size; n++) {
            h[n].re *= alpha;
            h[n].im *= alpha;
        }
    }
    const FxV nothing = LITHO_FX_NOTHING * m[fx_packed(s.taps, s.taps)];
    h[t].re = fx_select(r_tt < nothing, fx_splat(1), fx_splat(0));
}

static void shared_edge_taps(FxBatch *b, int t)
{
    fx_shared_edge_taps(b, t);
    b->weighed = 0;
}

// --- prediction ----------------------------------------------------------------------------------

// Centred prediction of `n` neighbouring traces (1 or 4) that miss no neighbour.
FX_INLINE void apply(const FxC *at, int n, int width, FxShape s, const FxV *beta, FxC *out)
{
    FxC sum[4] = {{{0}, {0}}};
    int number = s.pairs + 1;
    for (int d_il = 0; d_il <= s.il; d_il++)
        for (int d_xl = d_il == 0 ? 1 : -s.xl; d_xl <= s.xl; d_xl++, number++) {
            const ptrdiff_t d = (ptrdiff_t)d_il * width + d_xl;
            const int q = number - s.pairs;
            const FxV u = beta[2 * q - 2], v = beta[2 * q - 1];
            for (int k = 0; k < n; k++) {
                const FxC *plus = at + k + d, *minus = at + k - d;
                sum[k].re += u * (plus->re + minus->re);
                sum[k].im += u * (plus->im + minus->im);
                sum[k].re -= v * (plus->im - minus->im);
                sum[k].im += v * (plus->re - minus->re);
            }
        }
    for (int k = 0; k < n; k++) {
        out[k].re = (float)M_SQRT1_2 * sum[k].re;
        out[k].im = (float)M_SQRT1_2 * sum[k].im;
    }
}

static void apply_run(const FxC *at, int n, int width, FxShape s, const FxV *beta, FxC *out)
{
    int k = 0;
    for (; k + 4 <= n; k += 4)
        apply(at + k, 4, width, s, beta, out + k);
    for (; k < n; k++)
        apply(at + k, 1, width, s, beta, out + k);
}

static void weigh_taps(FxBatch *b)
{
    for (int n = 0; !b->weighed && n < b->shape.size; n++) {
        const FxC *h = &b->s->taps[n];
        b->s->magnitude[n] = fx_sqrt(h->re * h->re + h->im * h->im);
    }
    b->weighed = 1;
}

// TRUE when neighbour `state` takes part; outside the survey counts as zeros when edges are zeros.
FX_INLINE int there(const FxBatch *b, int state)
{
    return state == LIVE || state == FILLED ||
           (state == OUTSIDE && b->w->params->edge == LITHO_FX_ZERO);
}

// Block number t of the block centred at (il, xl), by b->s->taps from the neighbours that are
// there, and from itself where its filter says so. FALSE: fewer than an eighth of them are.
static int predict(FxBatch *b, int il, int xl, int t, FxC *out)
{
    const FxShape s = b->shape;
    const ptrdiff_t corner = (ptrdiff_t)(il - s.il) * b->width + xl - s.xl;
    int found = 0, number = 0;
    FxC sum = {{0}, {0}};
    for (int y = 0; y <= 2 * s.il; y++)
        for (int x = 0; x <= 2 * s.xl; x++, number++) {
            ptrdiff_t at = corner + (ptrdiff_t)y * b->width + x;
            if (!there(b, b->s->state[at]))
                continue;
            const FxC *h = &b->s->taps[number], *d = &b->s->tile[at];
            sum.re += h->re * d->re;
            sum.re -= h->im * d->im;
            sum.im += h->re * d->im;
            sum.im += h->im * d->re;
            found += number != t;
        }
    b->counts->flops += 8.0 * s.taps * b->lanes;
    if (found < s.taps && 8 * found >= s.taps) {
        FxV all = {0}, present = {0};
        weigh_taps(b);
        for (number = 0; number < s.size; number++) {
            ptrdiff_t at =
                corner + (ptrdiff_t)(number / (2 * s.xl + 1)) * b->width + number % (2 * s.xl + 1);
            all += b->s->magnitude[number];
            if (there(b, b->s->state[at]))
                present += b->s->magnitude[number];
        }
        FxMask small = 8 * present <= all;
        FxV ratio = fx_select(small, fx_splat(8), all / fx_select(small, fx_splat(1), present));
        sum.re *= ratio;
        sum.im *= ratio;
    }
    *out = sum;
    return 8 * found >= s.taps;
}

FX_INLINE int wanted(const FxBatch *b, const FxTargets *t, int il, int xl)
{
    int state = b->s->state[il * b->width + xl];
    return !t->fill || state == ABSENT || state == FILLED;
}

// Traces of rectangle `r`, whose blocks are centred `shift` away, with the present taps.
static void predict_each(FxBatch *b, const FxTargets *t, FxRect r, int number, int shift_il,
                         int shift_xl)
{
    for (int il = r.il0; il < r.il1 && !fx_batch_stopped(b); il++)
        for (int xl = r.xl0; xl < r.xl1; xl++)
            if (wanted(b, t, il, xl)) {
                int at = fx_target_index(t, il, xl);
                t->done[at] =
                    (uint8_t)predict(b, il - shift_il, xl - shift_xl, number, &t->out[at]);
            }
}

static void predict_centred(FxBatch *b, const FxTargets *t, int holes)
{
    FxRect r = fx_batch_centres(b, t->range);
    centre_taps(b);
    if (t->fill || holes) {
        predict_each(b, t, r, b->shape.pairs, 0, 0);
        return;
    }
    for (int il = r.il0; il < r.il1 && r.xl1 > r.xl0; il++) {
        int at = fx_target_index(t, il, r.xl0);
        apply_run(b->s->tile + (ptrdiff_t)il * b->width + r.xl0, r.xl1 - r.xl0, b->width, b->shape,
                  b->s->beta, t->out + at);
        memset(t->done + at, 1, r.xl1 - r.xl0);
    }
    b->counts->flops += 12.0 * b->shape.pairs * fx_rect_area(r) * b->lanes;
}

// Part of [lo, hi) (survey indices) whose block, moved inside a survey of n, sees it at offset t.
static void edge_range(int lo, int hi, int n, int half, int t, int *from, int *to)
{
    *from = t == 0 ? half : t < 0 ? half + t : n - 1 - half + t;
    *to = t == 0 ? n - half : *from + 1;
    *from = *from > lo ? *from : lo;
    *to = *to < hi ? *to : hi;
}

static int any_wanted(const FxBatch *b, const FxTargets *t, FxRect r)
{
    for (int il = r.il0; il < r.il1; il++)
        for (int xl = r.xl0; xl < r.xl1; xl++)
            if (wanted(b, t, il, xl))
                return 1;
    return 0;
}

// edge=fit: one filter for every place in the block that traces near the edge take.
static void predict_edges_fitted(FxBatch *b, const FxTargets *t)
{
    FxRect range = fx_rect_move(t->range, b->il0, b->xl0);
    for (int d_il = -b->shape.il; d_il <= b->shape.il; d_il++)
        for (int d_xl = -b->shape.xl; d_xl <= b->shape.xl; d_xl++) {
            FxRect r;
            edge_range(range.il0, range.il1, b->w->n_il, b->shape.il, d_il, &r.il0, &r.il1);
            edge_range(range.xl0, range.xl1, b->w->n_xl, b->shape.xl, d_xl, &r.xl0, &r.xl1);
            r = fx_rect_move(r, -b->il0, -b->xl0);
            if ((d_il == 0 && d_xl == 0) || !any_wanted(b, t, r))
                continue;
            int number = b->shape.pairs + d_il * (2 * b->shape.xl + 1) + d_xl;
            // A trace to be filled is no part of its own prediction.
            if (b->w->shared && !t->fill)
                shared_edge_taps(b, number);
            else
                edge_taps(b, number);
            predict_each(b, t, r, number, d_il, d_xl);
        }
}

static void predict_edges_centred(FxBatch *b, const FxTargets *t)
{
    FxRect r = fx_batch_centres(b, t->range);
    for (int il = t->range.il0; il < t->range.il1; il++)
        for (int xl = t->range.xl0; xl < t->range.xl1; xl++)
            if (il < r.il0 || il >= r.il1 || xl < r.xl0 || xl >= r.xl1)
                predict_each(b, t, (FxRect){il, il + 1, xl, xl + 1}, b->shape.pairs, 0, 0);
}

void fx_predict(FxBatch *b, const FxTargets *t, int holes)
{
    predict_centred(b, t, holes);
    if (b->w->params->edge == LITHO_FX_FIT && b->w->params->form == LITHO_FX_COV)
        predict_edges_fitted(b, t);
    else
        predict_edges_centred(b, t);
}
