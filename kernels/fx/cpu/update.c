// SPDX-License-Identifier: GPL-3.0-or-later
//
// The covariances of a window after some of its traces took new values, without summing the others
// again. A product of two traces with change E = new - old and mean s' = (new + old) / 2 changes by
//     conj(E(t)) s'(u) + conj(s'(t)) E(u),
// both parts exact. A changed trace t meets each of its neighbours once per lag; the product counts
// for every shift a of the block whose centre t - a is a design point. Sorted along the crossline,
// the traces of one row of shifts that have their centre inside the window are a range for each
// shift: one running sum per row of shifts gives all of them.
#include <stdlib.h>

#include "kernels/fx/cpu/lanes.h"

enum { SHIFTS = 2 * LITHO_FX_MAX_HALF + 1 };

// The changed traces whose centre lies in the window's rows for one inline shift, by number, and
// for every crossline shift the range of them whose centre lies in its columns.
typedef struct Row {
    const int *list;
    int n, from[SHIFTS], to[SHIFTS];
} Row;

typedef struct Update {
    FxPatch mean;
    int height;
    FxRect centres;
    FxShape shape;
    const FxChange *changes;
    int n;
    Row rows[SHIFTS];
} Update;

static void list_row(Update *u, int number, int *list)
{
    const FxRect r = u->centres;
    const int shift = number - u->shape.il;
    Row *row = &u->rows[number];
    row->list = list;
    row->n = 0;
    for (int k = 0; k < u->n; k++)
        if (u->changes[k].il >= r.il0 + shift && u->changes[k].il < r.il1 + shift)
            list[row->n++] = k;
    for (int s = 0, from = 0, to = 0; s <= 2 * u->shape.xl; s++) {
        while (from < row->n && u->changes[list[from]].xl < r.xl0 + s - u->shape.xl)
            from++;
        while (to < row->n && u->changes[list[to]].xl < r.xl1 + s - u->shape.xl)
            to++;
        row->from[s] = from;
        row->to[s] = to;
    }
}

// before[k] = conj(E(t)) s'(t + lag), after[k] = conj(s'(t - lag)) E(t) for changed trace k.
// Partners outside the tile belong to no block.
static void products(const Update *u, int lag_il, int lag_xl, FxC *before, FxC *after)
{
    const int width = u->mean.width;
    for (int k = 0; k < u->n; k++) {
        const FxChange *c = &u->changes[k];
        const FxC e = c->by;
        int il = c->il + lag_il, xl = c->xl + lag_xl;
        before[k] = after[k] = (FxC){{0}, {0}};
        if (il < u->height && xl >= 0 && xl < width) {
            const FxC s = u->mean.at[(ptrdiff_t)il * width + xl];
            before[k].re = e.re * s.re + e.im * s.im;
            before[k].im = e.re * s.im - e.im * s.re;
        }
        il = c->il - lag_il;
        xl = c->xl - lag_xl;
        if (il >= 0 && xl >= 0 && xl < width) {
            const FxC s = u->mean.at[(ptrdiff_t)il * width + xl];
            after[k].re = s.re * e.re + s.im * e.im;
            after[k].im = s.re * e.im - s.im * e.re;
        }
    }
}

// sums[k] = the first k products of a row.
FX_INLINE void running(const Row *row, const FxC *products, FxC *sums)
{
    FxC sum = {{0}, {0}};
    sums[0] = sum;
    for (int k = 0; k < row->n; k++) {
        sum.re += products[row->list[k]].re;
        sum.im += products[row->list[k]].im;
        sums[k + 1] = sum;
    }
}

FX_INLINE FxC range(const FxC *sums, int from, int to)
{
    return (FxC){sums[to].re - sums[from].re, sums[to].im - sums[from].im};
}

static void one_lag(const Update *u, int lag_il, int lag_xl, FxC *scratch, FxC *cov)
{
    const FxShape s = u->shape;
    const int width = 2 * s.xl + 1, lag = lag_il * width + lag_xl;
    FxC *before = scratch, *after = before + u->n;
    FxC *first = after + u->n, *second = first + u->n + 1;
    products(u, lag_il, lag_xl, before, after);
    for (int a_il = 0; a_il + lag_il <= 2 * s.il; a_il++) {
        const Row *a_row = &u->rows[a_il], *b_row = &u->rows[a_il + lag_il];
        running(a_row, before, first);
        running(b_row, after, second);
        const int from = lag_xl < 0 ? -lag_xl : 0;
        for (int a_xl = from; a_xl < from + width - abs(lag_xl); a_xl++) {
            const FxC x = range(first, a_row->from[a_xl], a_row->to[a_xl]);
            const FxC y = range(second, b_row->from[a_xl + lag_xl], b_row->to[a_xl + lag_xl]);
            const int a = a_il * width + a_xl;
            cov[(size_t)a * s.size + a + lag] = (FxC){x.re + y.re, x.im + y.im};
        }
    }
}

// Takes the products of changed trace `c`, place `place` of the block around a centre that is no
// design point, out again.
static void without_centre(const Update *u, const FxChange *c, int il, int xl, int place, FxC *cov)
{
    const FxShape s = u->shape;
    const FxC e = c->by;
    const FxC *corner = u->mean.at + (ptrdiff_t)(il - s.il) * u->mean.width + xl - s.xl;
    int number = 0;
    for (int y = 0; y <= 2 * s.il; y++)
        for (int x = 0; x <= 2 * s.xl; x++, number++) {
            const FxC d = corner[(ptrdiff_t)y * u->mean.width + x];
            if (number >= place) {
                FxC *to = &cov[(size_t)place * s.size + number];
                to->re -= e.re * d.re + e.im * d.im;
                to->im -= e.re * d.im - e.im * d.re;
            }
            if (number <= place) {
                FxC *to = &cov[(size_t)number * s.size + place];
                to->re -= d.re * e.re + d.im * e.im;
                to->im -= d.re * e.im - d.im * e.re;
            }
        }
}

size_t fx_update_scratch(int most)
{
    return (4 * (size_t)most + 2) * sizeof(FxC) + SHIFTS * (size_t)most * sizeof(int);
}

void fx_covariance_update(FxPatch mean, int height, FxRect centres, FxShape s, const uint8_t *state,
                          const FxChange *changes, int n, void *scratch, FxC *cov)
{
    const int width = 2 * s.xl + 1;
    Update u = {mean, height, centres, s, changes, n, {{0}}};
    FxC *sums = scratch;
    int *lists = (int *)(sums + 4 * (size_t)n + 2);
    for (int k = 0; k <= 2 * s.il; k++)
        list_row(&u, k, lists + (size_t)k * n);
    for (int lag_il = 0; lag_il <= 2 * s.il; lag_il++)
        for (int lag_xl = lag_il == 0 ? 0 : -2 * s.xl; lag_xl <= 2 * s.xl; lag_xl++)
            one_lag(&u, lag_il, lag_xl, sums, cov);
    for (int k = 0; k < n; k++)
        for (int place = 0; place < s.size; place++) {
            const int il = changes[k].il + s.il - place / width;
            const int xl = changes[k].xl + s.xl - place % width;
            if (il >= centres.il0 && il < centres.il1 && xl >= centres.xl0 && xl < centres.xl1 &&
                state[(ptrdiff_t)il * mean.width + xl] != LIVE)
                without_centre(&u, &changes[k], il, xl, place, cov);
        }
}
