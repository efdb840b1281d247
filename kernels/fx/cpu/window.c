// SPDX-License-Identifier: GPL-3.0-or-later
//
// Design and application of the filter for one window and a batch of frequencies: the rules 3 and 4
// of geometry.h.

#include <stdlib.h>
#include <string.h>

#include "kernels/fx/cpu/lanes.h"

// Scratch memory, divided.
typedef struct Scratch {
    FxC *tile, *guess, *cov, *rows, *taps;
    FxV *matrix, *factor, *beta, *more, *magnitude, *rows_of;
    uint8_t *state, *done;
    FxChange *changes;
    char *update;
} Scratch;

typedef struct Job {
    const FxWindow *w;
    const Scratch *s;
    FxCounts *counts;
    FxShape shape;
    int il0, xl0;       // survey indices of the tile's first trace
    int height, width;  // of the tile
    FxRect window, box; // tile indices: traces to predict; widened by half, inside the survey
    FxV scale;          // power of two per lane that brings the largest spectrum to [1, 2)
    FxV lambda;
    FxMask alive;    // lanes with energy
    FxMask good;     // lanes with a centred filter
    FxMask factored; // lanes with a Cholesky factor
    int lanes;       // alive ones
    int weighed;     // `magnitude` belongs to `taps`
    int designed;    // `matrix` holds the equations of the tile as it is
    int stopped;     // go_on() said no: whatever is still to come may be left out
} Job;

static int stopped(Job *j)
{
    if (!j->stopped && !j->w->go_on(j->w->go_on_data))
        j->stopped = 1;
    return j->stopped;
}

static FxRect inside(FxRect r, int n_il, int n_xl, int half_il, int half_xl)
{
    r.il0 = r.il0 > half_il ? r.il0 : half_il;
    r.xl0 = r.xl0 > half_xl ? r.xl0 : half_xl;
    r.il1 = r.il1 < n_il - half_il ? r.il1 : n_il - half_il;
    r.xl1 = r.xl1 < n_xl - half_xl ? r.xl1 : n_xl - half_xl;
    return r;
}

FX_INLINE FxRect move(FxRect r, int il, int xl)
{
    return (FxRect){r.il0 + il, r.il1 + il, r.xl0 + xl, r.xl1 + xl};
}

static int count_present(const FxWindow *w, FxRect r)
{
    int n = 0;
    for (int il = r.il0; il < r.il1; il++) {
        const uint8_t *row =
            w->present + (ptrdiff_t)(il - w->held.il0) * (w->held.xl1 - w->held.xl0) - w->held.xl0;
        for (int xl = r.xl0; xl < r.xl1; xl++)
            n += row[xl];
    }
    return n;
}

static int area(FxRect r)
{
    return r.il1 > r.il0 && r.xl1 > r.xl0 ? (r.il1 - r.il0) * (r.xl1 - r.xl0) : 0;
}

// Largest block that leaves at least as many design points as it has taps. FALSE: none.
static int choose_shape(const FxWindow *w, FxShape *shape)
{
    int il = w->params->half_width, xl = il;
    il = il < (w->n_il - 1) / 2 ? il : (w->n_il - 1) / 2;
    xl = xl < (w->n_xl - 1) / 2 ? xl : (w->n_xl - 1) / 2;
    while (il > 0 || xl > 0) {
        *shape = fx_shape(il, xl);
        if (count_present(w, inside(w->window, w->n_il, w->n_xl, il, xl)) >= shape->taps)
            return 1;
        if (il >= xl)
            il--;
        else
            xl--;
    }
    return 0;
}

// --- the tile ------------------------------------------------------------------------------------

// Copies the traces within reach; returns the largest absolute value per lane.
static FxV load_tile(Job *j)
{
    const FxWindow *w = j->w;
    const ptrdiff_t held = w->held.xl1 - w->held.xl0;
    FxV largest = {0};
    for (int y = 0; y < j->height; y++)
        for (int x = 0; x < j->width; x++) {
            int il = j->il0 + y, xl = j->xl0 + x, at = y * j->width + x;
            if (il < 0 || il >= w->n_il || xl < 0 || xl >= w->n_xl) {
                j->s->tile[at] = (FxC){{0}, {0}};
                j->s->state[at] = OUTSIDE;
                continue;
            }
            ptrdiff_t from = (il - w->held.il0) * held + xl - w->held.xl0;
            FxC value = ((const FxC *)w->spectra)[from];
            j->s->tile[at] = value;
            j->s->state[at] = w->present[from] ? LIVE : ABSENT;
            largest = fx_max(largest, fx_max(fx_abs(value.re), fx_abs(value.im)));
        }
    return largest;
}

// Scaling by powers of two is exact; with it squares neither overflow nor vanish.
static void scale_tile(Job *j, FxV largest)
{
    j->alive = largest > 1e-30f;
    largest = fx_select(j->alive, largest, fx_splat(1));
    j->scale = (FxV)((254 << 23) - ((FxMask)largest & 0x7f800000));
    for (int k = 0; k < j->height * j->width; k++) {
        j->s->tile[k].re *= j->scale;
        j->s->tile[k].im *= j->scale;
    }
}

static void open_tile(Job *j, int fills)
{
    int reach_il = (fills ? 2 : 1) * j->shape.il, reach_xl = (fills ? 2 : 1) * j->shape.xl;
    FxRect w = j->w->window;
    j->il0 = w.il0 - reach_il;
    j->xl0 = w.xl0 - reach_xl;
    j->height = w.il1 - w.il0 + 2 * reach_il;
    j->width = w.xl1 - w.xl0 + 2 * reach_xl;
    FxRect wide = {w.il0 - j->shape.il, w.il1 + j->shape.il, w.xl0 - j->shape.xl,
                   w.xl1 + j->shape.xl};
    j->window = move(w, -j->il0, -j->xl0);
    j->box = move(inside(wide, j->w->n_il, j->w->n_xl, 0, 0), -j->il0, -j->xl0);
    scale_tile(j, load_tile(j));
}

// Traces of the window, or of its box, that have a centred block: tile indices.
static FxRect centres(const Job *j, FxRect r)
{
    FxRect survey =
        inside(move(r, j->il0, j->xl0), j->w->n_il, j->w->n_xl, j->shape.il, j->shape.xl);
    return move(survey, -j->il0, -j->xl0);
}

// --- design --------------------------------------------------------------------------------------

static double covariance_flops(FxRect r, FxShape s)
{
    double products = 0;
    for (int il = 0; il <= 2 * s.il; il++)
        for (int xl = il == 0 ? 0 : -2 * s.xl; xl <= 2 * s.xl; xl++)
            products +=
                (double)(r.il1 - r.il0 + 2 * s.il - il) * (r.xl1 - r.xl0 + 2 * s.xl - abs(xl));
    return 8 * products + 2.5 * s.size * s.size;
}

// Adds (sign 1) or takes away (sign -1) the equations of the traces that are live or not.
static void add_equations(Job *j, FxRect r, int live, float sign)
{
    FxPatch patch = {j->s->tile, j->width};
    ptrdiff_t centres[FX_TOGETHER];
    int n = 0;
    for (int il = r.il0; il < r.il1 && !stopped(j); il++)
        for (int xl = r.xl0; xl < r.xl1; xl++) {
            const ptrdiff_t at = (ptrdiff_t)il * j->width + xl;
            const int last = il + 1 == r.il1 && xl + 1 == r.xl1;
            if ((j->s->state[at] == LIVE) == live)
                centres[n++] = at;
            if (n == FX_TOGETHER || (last && n > 0)) {
                fx_matrix_add(patch, centres, n, j->shape, sign, j->s->matrix, j->s->rows_of);
                j->counts->flops += 2.0 * n * j->shape.size * j->shape.size * j->lanes;
                n = 0;
            }
        }
}

static void set_damping(Job *j)
{
    FxV trace = {0};
    for (int k = 0; k < j->shape.size; k++)
        trace += j->s->matrix[fx_packed(k, k)];
    float share = (float)(fmax(j->w->params->prewhitening / 100, 1e-7) / j->shape.size);
    j->alive &= trace > 0;
    j->lanes = fx_count(j->alive);
    j->lambda = fx_select(j->alive, share * trace, fx_splat(1));
}

static void design(Job *j)
{
    if (j->designed) {
        set_damping(j);
        return;
    }
    FxPatch patch = {j->s->tile, j->width};
    FxShape s = j->shape;
    FxRect r = centres(j, j->window);
    if (j->w->params->form == LITHO_FX_ACF) {
        fx_autocorrelation(patch, j->window, s, j->s->cov);
        fx_matrix(j->s->cov, s, 0, j->s->matrix);
        j->counts->flops += j->lanes * 8.0 * area(j->window) * 2 * s.size;
    } else {
        int missing = area(r) - count_present(j->w, move(r, j->il0, j->xl0));
        if (2 * missing > area(r)) {
            memset(j->s->matrix, 0, fx_packed(s.size, 0) * sizeof(FxV));
            add_equations(j, r, 1, 1);
        } else {
            fx_covariance(patch, r, s, j->s->cov, j->s->rows);
            fx_matrix(j->s->cov, s, 0, j->s->matrix);
            j->counts->flops += j->lanes * covariance_flops(r, s);
            if (missing > 0)
                add_equations(j, r, 0, -1);
        }
    }
    j->designed = 1;
    set_damping(j);
}

static void factorise(Job *j)
{
    double n = j->shape.size;
    fx_cholesky(j->s->matrix, &j->lambda, j->shape.size, j->s->factor, &j->factored);
    j->counts->flops += j->lanes * n * n * n / 3;
}

// Stretches a damped filter to least squares: alpha = h.b / (h.b - lambda h.h), 1 .. 3.
FX_INLINE FxV stretch(FxV hb, FxV hh, FxV lambda)
{
    FxV left = hb - lambda * hh;
    FxV alpha = hb / fx_select(left > 0, left, fx_splat(1));
    alpha = fx_select(left > 0, alpha, fx_splat(3));
    alpha = fx_select(alpha > 3, fx_splat(3), alpha);
    return fx_max(alpha, fx_splat(1));
}

// The centred filter in s->beta; what solved it is counted when `last`.
static void solve(Job *j, int last)
{
    const int solver = j->w->params->solver, size = j->shape.size;
    FxV *beta = j->s->beta, *direct = j->s->more;
    FxMask done = {0};
    if (solver == LITHO_FX_JACOBI)
        fx_jacobi(j->s->matrix, &j->lambda, size, beta, j->s->more, &done);
    factorise(j);
    fx_solve_centre(j->s->factor, size, direct);
    for (int k = 0; k < size - 1; k++)
        beta[k] = solver == LITHO_FX_CHOLESKY ? direct[k] : fx_select(done, beta[k], direct[k]);
    j->good = j->alive & j->factored;
    j->counts->flops += 2.0 * j->lanes * size * size;
    if (last) {
        j->counts->systems += j->lanes;
        j->counts->fallbacks += solver == LITHO_FX_CHOLESKY ? 0 : fx_count(j->alive & ~done);
        j->counts->failed += fx_count(j->alive & ~j->good);
    }
    if (!j->w->params->post)
        return;
    const FxV *g = j->s->matrix + fx_packed(size - 1, 0);
    FxV hb = {0}, hh = {0};
    for (int k = 0; k < size - 1; k++) {
        hb += beta[k] * g[k];
        hh += beta[k] * beta[k];
    }
    FxV alpha = stretch(hb, hh, j->lambda);
    for (int k = 0; k < size - 1; k++)
        beta[k] *= alpha;
}

// The centred filter as complex taps by block number.
static void centre_taps(Job *j)
{
    const float r = (float)M_SQRT1_2;
    const int c = j->shape.pairs;
    j->s->taps[c] = (FxC){{0}, {0}};
    for (int q = 1; q <= c; q++) {
        FxV re = r * j->s->beta[2 * q - 2], im = r * j->s->beta[2 * q - 1];
        j->s->taps[c + q] = (FxC){re, im};
        j->s->taps[c - q] = (FxC){re, -im};
    }
    j->weighed = 0;
}

// The filter that predicts block number t from all others: column t of K = Q (M + lambda I)^{-1}
// Q^H over -K[t, t]. With x, y the columns of the real inverse for u_q and v_q, t = c + q (c - q),
// the column in the real unknowns is r (x - i y) (r (x + i y)).
static void edge_taps(Job *j, int t)
{
    const FxShape s = j->shape;
    const int q = abs(t - s.pairs), u = 2 * q - 2, v = 2 * q - 1;
    const float sign = t > s.pairs ? -1 : 1;
    FxV *x = j->s->more, *y = j->s->more + s.size;
    FxC *h = j->s->taps;
    fx_solve_unit(j->s->factor, s.size, u, x);
    fx_solve_unit(j->s->factor, s.size, v, y);
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
    j->weighed = 0;
    j->counts->flops += 4.0 * j->lanes * s.size * s.size;
    if (!j->w->params->post)
        return;
    // 1 / K[t, t] = R[t, t] + lambda - h.b with R the covariance, R[t, t] = (M_uu + M_vv) / 2.
    const FxV *m = j->s->matrix;
    FxV hb = 0.5f * (m[fx_packed(u, u)] + m[fx_packed(v, v)]) + j->lambda + over, hh = {0};
    for (int n = 0; n < s.size; n++)
        hh += h[n].re * h[n].re + h[n].im * h[n].im;
    FxV alpha = stretch(hb, hh, j->lambda);
    for (int n = 0; n < s.size; n++) {
        h[n].re *= alpha;
        h[n].im *= alpha;
    }
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

static void weigh_taps(Job *j)
{
    for (int n = 0; !j->weighed && n < j->shape.size; n++) {
        const FxC *h = &j->s->taps[n];
        j->s->magnitude[n] = fx_sqrt(h->re * h->re + h->im * h->im);
    }
    j->weighed = 1;
}

// Whether neighbour `state` takes part; outside the survey counts as zeros when edges are zeros.
FX_INLINE int there(const Job *j, int state)
{
    return state == LIVE || state == FILLED ||
           (state == OUTSIDE && j->w->params->edge == LITHO_FX_ZERO);
}

// Block number t of the block centred at (il, xl), by j->s->taps from the neighbours that are
// there. FALSE: fewer than an eighth of them are.
static int predict(Job *j, int il, int xl, int t, FxC *out)
{
    const FxShape s = j->shape;
    const ptrdiff_t corner = (ptrdiff_t)(il - s.il) * j->width + xl - s.xl;
    int found = 0, number = 0;
    FxC sum = {{0}, {0}};
    for (int y = 0; y <= 2 * s.il; y++)
        for (int x = 0; x <= 2 * s.xl; x++, number++) {
            ptrdiff_t at = corner + (ptrdiff_t)y * j->width + x;
            if (number == t || !there(j, j->s->state[at]))
                continue;
            const FxC *h = &j->s->taps[number], *d = &j->s->tile[at];
            sum.re += h->re * d->re;
            sum.re -= h->im * d->im;
            sum.im += h->re * d->im;
            sum.im += h->im * d->re;
            found++;
        }
    j->counts->flops += 8.0 * s.taps * j->lanes;
    if (found < s.taps && 8 * found >= s.taps) {
        FxV all = {0}, present = {0};
        weigh_taps(j);
        for (number = 0; number < s.size; number++) {
            ptrdiff_t at =
                corner + (ptrdiff_t)(number / (2 * s.xl + 1)) * j->width + number % (2 * s.xl + 1);
            if (number == t)
                continue;
            all += j->s->magnitude[number];
            if (there(j, j->s->state[at]))
                present += j->s->magnitude[number];
        }
        FxMask small = 8 * present <= all;
        FxV ratio = fx_select(small, fx_splat(8), all / fx_select(small, fx_splat(1), present));
        sum.re *= ratio;
        sum.im *= ratio;
    }
    *out = sum;
    return 8 * found >= s.taps;
}

// Where predictions of the traces of `range` go, row by row.
typedef struct Targets {
    FxRect range;
    int fill; // absent traces only
    FxC *out;
    uint8_t *done; // 1 = predicted
} Targets;

FX_INLINE int target_index(const Targets *t, int il, int xl)
{
    return (il - t->range.il0) * (t->range.xl1 - t->range.xl0) + xl - t->range.xl0;
}

FX_INLINE int wanted(const Job *j, const Targets *t, int il, int xl)
{
    int state = j->s->state[il * j->width + xl];
    return !t->fill || state == ABSENT || state == FILLED;
}

// Traces of rectangle `r`, whose blocks are centred `shift` away, with the present taps.
static void predict_each(Job *j, const Targets *t, FxRect r, int number, int shift_il, int shift_xl)
{
    for (int il = r.il0; il < r.il1 && !stopped(j); il++)
        for (int xl = r.xl0; xl < r.xl1; xl++)
            if (wanted(j, t, il, xl)) {
                int at = target_index(t, il, xl);
                t->done[at] =
                    (uint8_t)predict(j, il - shift_il, xl - shift_xl, number, &t->out[at]);
            }
}

static int has_holes(const Job *j)
{
    for (int il = j->box.il0; il < j->box.il1; il++)
        for (int xl = j->box.xl0; xl < j->box.xl1; xl++)
            if (j->s->state[il * j->width + xl] == ABSENT)
                return 1;
    return 0;
}

static void predict_centred(Job *j, const Targets *t, int holes)
{
    FxRect r = centres(j, t->range);
    centre_taps(j);
    if (t->fill || holes) {
        predict_each(j, t, r, j->shape.pairs, 0, 0);
        return;
    }
    for (int il = r.il0; il < r.il1 && r.xl1 > r.xl0; il++) {
        int at = target_index(t, il, r.xl0);
        apply_run(j->s->tile + (ptrdiff_t)il * j->width + r.xl0, r.xl1 - r.xl0, j->width, j->shape,
                  j->s->beta, t->out + at);
        memset(t->done + at, 1, r.xl1 - r.xl0);
    }
    j->counts->flops += 12.0 * j->shape.pairs * area(r) * j->lanes;
}

// Part of [lo, hi) (survey indices) whose block, moved inside a survey of n, sees it at offset t.
static void edge_range(int lo, int hi, int n, int half, int t, int *from, int *to)
{
    *from = t == 0 ? half : t < 0 ? half + t : n - 1 - half + t;
    *to = t == 0 ? n - half : *from + 1;
    *from = *from > lo ? *from : lo;
    *to = *to < hi ? *to : hi;
}

static int any_wanted(const Job *j, const Targets *t, FxRect r)
{
    for (int il = r.il0; il < r.il1; il++)
        for (int xl = r.xl0; xl < r.xl1; xl++)
            if (wanted(j, t, il, xl))
                return 1;
    return 0;
}

// edge=fit: one filter for every place in the block that traces near the edge take.
static void predict_edges_fitted(Job *j, const Targets *t)
{
    FxRect range = move(t->range, j->il0, j->xl0);
    for (int d_il = -j->shape.il; d_il <= j->shape.il; d_il++)
        for (int d_xl = -j->shape.xl; d_xl <= j->shape.xl; d_xl++) {
            FxRect r;
            edge_range(range.il0, range.il1, j->w->n_il, j->shape.il, d_il, &r.il0, &r.il1);
            edge_range(range.xl0, range.xl1, j->w->n_xl, j->shape.xl, d_xl, &r.xl0, &r.xl1);
            r = move(r, -j->il0, -j->xl0);
            if ((d_il == 0 && d_xl == 0) || !any_wanted(j, t, r))
                continue;
            int number = j->shape.pairs + d_il * (2 * j->shape.xl + 1) + d_xl;
            edge_taps(j, number);
            predict_each(j, t, r, number, d_il, d_xl);
        }
}

static void predict_edges_centred(Job *j, const Targets *t)
{
    FxRect r = centres(j, t->range);
    for (int il = t->range.il0; il < t->range.il1; il++)
        for (int xl = t->range.xl0; xl < t->range.xl1; xl++)
            if (il < r.il0 || il >= r.il1 || xl < r.xl0 || xl >= r.xl1)
                predict_each(j, t, (FxRect){il, il + 1, xl, xl + 1}, j->shape.pairs, 0, 0);
}

static void predict_all(Job *j, const Targets *t, int holes)
{
    predict_centred(j, t, holes);
    if (j->w->params->edge == LITHO_FX_FIT && j->w->params->form == LITHO_FX_COV)
        predict_edges_fitted(j, t);
    else
        predict_edges_centred(j, t);
}

// --- one window ----------------------------------------------------------------------------------

// Changes up to which the equations are brought up to date instead of formed again.
static int few_changes(int tile)
{
    return tile / 8;
}

// The equations after the traces in s->changes took the values in s->guess.
static void update(Job *j, int n)
{
    const FxShape s = j->shape;
    const FxRect r = centres(j, j->window);
    if (!j->designed || n == 0)
        return;
    fx_covariance_update((FxPatch){j->s->tile, j->width}, j->height, r, s, j->s->state,
                         j->s->changes, n, j->s->update, j->s->cov);
    fx_matrix(j->s->cov, s, 1, j->s->matrix);
    j->counts->flops += j->lanes * n * 40.0 * s.size;
}

// Absent traces of the box take their prediction.
static void fill(Job *j)
{
    Targets t = {j->box, 1, j->s->guess, j->s->done};
    const int most = few_changes(j->height * j->width);
    int n = 0;
    memset(t.done, 0, area(j->box));
    design(j);
    solve(j, 0);
    predict_all(j, &t, 1);
    j->designed = j->w->params->form == LITHO_FX_COV && !j->w->anew;
    for (int xl = j->box.xl0; xl < j->box.xl1; xl++)
        for (int il = j->box.il0; il < j->box.il1; il++) {
            const int at = il * j->width + xl, from = target_index(&t, il, xl);
            if (!t.done[from])
                continue;
            FxC *guess = &t.out[from], *old = &j->s->tile[at];
            guess->re = fx_select(j->good, guess->re, (FxV){0});
            guess->im = fx_select(j->good, guess->im, (FxV){0});
            j->s->state[at] = FILLED;
            if (n == most)
                j->designed = 0;
            if (!j->designed)
                continue;
            j->s->changes[n++] = (FxChange){{guess->re - old->re, guess->im - old->im}, il, xl};
            old->re = 0.5f * (old->re + guess->re);
            old->im = 0.5f * (old->im + guess->im);
        }
    update(j, n);
    for (int il = j->box.il0; il < j->box.il1; il++)
        for (int xl = j->box.xl0; xl < j->box.xl1; xl++)
            if (t.done[target_index(&t, il, xl)])
                j->s->tile[il * j->width + xl] = t.out[target_index(&t, il, xl)];
}

// From predictions in the tile's scale to what FxWindow.out is documented to hold.
static void finish(Job *j, const Targets *t)
{
    const int mute = j->w->params->outband == LITHO_FX_MUTE;
    const FxV back = 1.0f / j->scale;
    for (int il = j->window.il0; il < j->window.il1; il++)
        for (int xl = j->window.xl0; xl < j->window.xl1; xl++) {
            int at = target_index(t, il, xl), from = il * j->width + xl;
            FxC *out = &t->out[at], s = j->s->tile[from];
            if (j->s->state[from] != LIVE)
                s = (FxC){{0}, {0}};
            FxMask use = t->done[at] ? j->good : (FxMask){0};
            out->re = fx_select(use, out->re, s.re) - (mute ? (FxV){0} : s.re);
            out->im = fx_select(use, out->im, s.im) - (mute ? (FxV){0} : s.im);
            out->re *= back;
            out->im *= back;
        }
}

static void pass_unchanged(const FxWindow *w)
{
    FxRect r = w->window;
    const ptrdiff_t held = w->held.xl1 - w->held.xl0;
    FxC *out = (FxC *)w->out;
    for (int il = r.il0; il < r.il1; il++)
        for (int xl = r.xl0; xl < r.xl1; xl++)
            *out++ = w->params->outband == LITHO_FX_MUTE
                         ? ((const FxC *)w->spectra)[(il - w->held.il0) * held + xl - w->held.xl0]
                         : (FxC){{0}, {0}};
}

// Divides `memory`; returns the bytes it takes.
static size_t divide(Scratch *s, char *memory, int length_il, int length_xl, int half)
{
    const size_t width = 2 * half + 1, size = width * width;
    const size_t tile = (size_t)(length_il + 4 * half) * (length_xl + 4 * half);
    char *at = memory;
#define TAKE(what, count) (s->what = (void *)at, at += (count) * sizeof *s->what)
    TAKE(tile, tile);
    TAKE(guess, tile);
    TAKE(cov, size * size);
    TAKE(rows, 2 * width * size);
    TAKE(taps, size);
    TAKE(matrix, fx_packed((int)size, 0));
    TAKE(factor, fx_packed((int)size, 0));
    TAKE(beta, size);
    TAKE(more, 2 * size);
    TAKE(magnitude, size);
    TAKE(rows_of, 2 * FX_TOGETHER * size);
    TAKE(changes, few_changes((int)tile));
    TAKE(update, fx_update_scratch(few_changes((int)tile)));
    TAKE(state, tile);
    TAKE(done, tile);
#undef TAKE
    return at - memory;
}

static size_t scratch_bytes(int length_il, int length_xl, int half)
{
    static char nowhere[64] __attribute__((aligned(64)));
    Scratch s;
    return divide(&s, nowhere, length_il, length_xl, half);
}

static int filter(const FxWindow *w, void *scratch, FxCounts *counts)
{
    Scratch s;
    Job j = {.w = w, .s = &s, .counts = counts};
    divide(&s, scratch, w->window.il1 - w->window.il0, w->window.xl1 - w->window.xl0,
           w->params->half_width);
    *counts = (FxCounts){0};
    if (!choose_shape(w, &j.shape)) {
        pass_unchanged(w);
        counts->empty = 1;
        return 1;
    }
    FxRect wide = {w->window.il0 - j.shape.il, w->window.il1 + j.shape.il,
                   w->window.xl0 - j.shape.xl, w->window.xl1 + j.shape.xl};
    wide = inside(wide, w->n_il, w->n_xl, 0, 0);
    int fills = count_present(w, wide) < area(wide) ? w->params->fill_passes : 0;
    open_tile(&j, fills > 0);
    j.lanes = fx_count(j.alive);
    if (j.lanes == 0) {
        pass_unchanged(w);
        return 1;
    }
    for (int k = 0; k < fills && !stopped(&j); k++)
        fill(&j);
    if (stopped(&j))
        return 0;
    Targets t = {j.window, 0, (FxC *)w->out, s.done};
    memset(t.done, 0, area(j.window));
    design(&j);
    solve(&j, 1);
    predict_all(&j, &t, has_holes(&j));
    finish(&j, &t);
    return !j.stopped;
}

#ifdef FX_ISA
const FxIsa FX_NAME(fx_isa) = {FX_LANES, scratch_bytes, filter};
#else
const FxIsa fx_isa = {FX_LANES, scratch_bytes, filter};
#endif
