// SPDX-License-Identifier: GPL-3.0-or-later
//
// The equations of the prediction filter for one window and a batch of frequencies.
#include <stdlib.h>

#include "kernels/fx/cpu/lanes.h"

// Rows of the common core that are summed in one go: as many as keep both rows' traces in the
// nearest cache.
enum { ROWS = 4 };

// conj(a) b as four independent sums, so that no addition waits for another.
typedef struct Products {
    FxV rr, ii, ri, ir;
} Products;

FX_INLINE void correlate(Products *sum, const FxC *a, const FxC *b)
{
    sum->rr += a->re * b->re;
    sum->ii += a->im * b->im;
    sum->ri += a->re * b->im;
    sum->ir += a->im * b->re;
}

FX_INLINE FxC total(const Products *p)
{
    return (FxC){p->rr + p->ii, p->ri - p->ir};
}

FX_INLINE void add(FxC *sum, const FxC *x)
{
    sum->re += x->re;
    sum->im += x->im;
}

// Sum of conj(a[k]) b[k] over n traces of `rows` rows, `pitch` traces apart.
FX_INLINE FxC correlate_run(const FxC *a, const FxC *b, int n, int rows, ptrdiff_t pitch)
{
    Products even = {{0}, {0}, {0}, {0}}, odd = {{0}, {0}, {0}, {0}};
    for (int r = 0; r < rows; r++, a += pitch, b += pitch) {
        int k = 0;
        for (; k + 1 < n; k += 2) {
            correlate(&even, a + k, b + k);
            correlate(&odd, a + k + 1, b + k + 1);
        }
        if (k < n)
            correlate(&even, a + k, b + k);
    }
    FxC sum = total(&even), rest = total(&odd);
    add(&sum, &rest);
    return sum;
}

// out[j] = (or +=) sum of conj(a[k]) b[k] over k = j .. j + n - 1 of `rows` rows, for m shifts j.
FX_INLINE void sliding_run(const FxC *a, const FxC *b, int n, int m, int rows, ptrdiff_t pitch,
                           int more, FxC *out)
{
    FxC sums[2 * LITHO_FX_MAX_HALF + 1];
    if (n < m) { // narrower than the block: the shifts have no common core
        for (int j = 0; j < m; j++)
            sums[j] = correlate_run(a + j, b + j, n, rows, pitch);
    } else {
        FxC core = correlate_run(a + m - 1, b + m - 1, n - m + 1, rows, pitch);
        Products left = {{0}, {0}, {0}, {0}}, right = {{0}, {0}, {0}, {0}};
        sums[m - 1] = core;
        for (int k = m - 2; k >= 0; k--) {
            for (int r = 0; r < rows; r++)
                correlate(&left, a + r * pitch + k, b + r * pitch + k);
            sums[k] = total(&left);
            add(&sums[k], &core);
        }
        for (int k = n; k < n + m - 1; k++) {
            for (int r = 0; r < rows; r++)
                correlate(&right, a + r * pitch + k, b + r * pitch + k);
            FxC border = total(&right);
            add(&sums[k - n + 1], &border);
        }
    }
    for (int j = 0; j < m; j++) {
        if (more)
            add(&out[j], &sums[j]);
        else
            out[j] = sums[j];
    }
}

// One inline lag: rows of products for all crossline lags. Row r of the sums holds, per crossline
// lag, the shifts along the crossline; rows of the common core are added up as they come.
static void lag_rows(FxPatch patch, FxRect centres, FxShape s, int lag_il, FxC *rows)
{
    const int m_il = 2 * s.il + 1 - lag_il, n_il = centres.il1 - centres.il0;
    const int n_xl = centres.xl1 - centres.xl0, width = 2 * s.xl + 1;
    for (int r = 0, block; r < n_il + m_il - 1; r += block) {
        int core = n_il >= m_il && r >= m_il - 1 && r < n_il;
        int slot = r < m_il - 1 || n_il < m_il ? r : core ? m_il - 1 : r - (n_il - m_il);
        const FxC *row = patch.at + (ptrdiff_t)(centres.il0 - s.il + r) * patch.width;
        FxC *out = rows + (size_t)slot * width * width;
        block = !core ? 1 : n_il - r < ROWS ? n_il - r : ROWS;
        for (int lag_xl = lag_il == 0 ? 0 : -2 * s.xl; lag_xl <= 2 * s.xl; lag_xl++) {
            int m_xl = width - abs(lag_xl), more = core && r > m_il - 1;
            const FxC *a = row + centres.xl0 - s.xl + (lag_xl < 0 ? -lag_xl : 0);
            const FxC *b = a + (ptrdiff_t)lag_il * patch.width + lag_xl;
            if (block == ROWS)
                sliding_run(a, b, n_xl, m_xl, ROWS, patch.width, more, out);
            else
                sliding_run(a, b, n_xl, m_xl, block, patch.width, more, out);
            out += m_xl;
        }
    }
}

// Sums of the rows for every shift along the inline: out[j * stride] of m, from the rows' slots.
FX_INLINE void sliding_sum(const FxC *rows, int pitch, int n, int m, FxC *out, ptrdiff_t stride)
{
    if (n < m) {
        for (int j = 0; j < m; j++) {
            FxC sum = rows[j * pitch];
            for (int k = 1; k < n; k++)
                add(&sum, &rows[(j + k) * pitch]);
            out[j * stride] = sum;
        }
        return;
    }
    FxC core = rows[(m - 1) * pitch], border = {{0}, {0}};
    out[(m - 1) * stride] = core;
    for (int k = m - 2; k >= 0; k--) {
        add(&border, &rows[k * pitch]);
        FxC sum = core;
        add(&sum, &border);
        out[k * stride] = sum;
    }
    border = (FxC){{0}, {0}};
    for (int k = 1; k < m; k++) {
        add(&border, &rows[(m - 1 + k) * pitch]);
        add(&out[k * stride], &border);
    }
}

void fx_covariance(FxPatch patch, FxRect centres, FxShape s, FxC *cov, FxC *rows)
{
    const int width = 2 * s.xl + 1;
    for (int lag_il = 0; lag_il <= 2 * s.il; lag_il++) {
        lag_rows(patch, centres, s, lag_il, rows);
        const FxC *column = rows;
        for (int lag_xl = lag_il == 0 ? 0 : -2 * s.xl; lag_xl <= 2 * s.xl; lag_xl++) {
            int first = lag_xl < 0 ? -lag_xl : 0, lag = lag_il * width + lag_xl;
            for (int j = 0; j < width - abs(lag_xl); j++) {
                int a = first + j; // of the first shift along the inline
                sliding_sum(column++, width * width, centres.il1 - centres.il0,
                            2 * s.il + 1 - lag_il, cov + (size_t)a * s.size + a + lag,
                            (ptrdiff_t)width * (s.size + 1));
            }
        }
    }
}

void fx_autocorrelation(FxPatch patch, FxRect w, FxShape s, FxC *cov)
{
    const int width = 2 * s.xl + 1, height = 2 * s.il + 1;
    for (int lag_il = 0; lag_il < height; lag_il++)
        for (int lag_xl = lag_il == 0 ? 0 : 1 - width; lag_xl < width; lag_xl++) {
            int first = lag_xl < 0 ? -lag_xl : 0, n = w.xl1 - w.xl0 - abs(lag_xl);
            const FxC *a = patch.at + (ptrdiff_t)w.il0 * patch.width + w.xl0 + first;
            FxC sum = correlate_run(a, a + lag_il * patch.width + lag_xl, n, w.il1 - w.il0 - lag_il,
                                    patch.width);
            for (int il = 0; il < height - lag_il; il++)
                for (int xl = first; xl < width && xl + lag_xl < width; xl++) {
                    int number = il * width + xl;
                    cov[(size_t)number * s.size + number + lag_il * width + lag_xl] = sum;
                }
        }
}

// D(a, b) = C(a, b) + conj C(-a, -b), forward plus backward, for a <= b.
FX_INLINE FxC both_ways(const FxC *cov, int size, int a, int b)
{
    FxC sum = cov[(size_t)a * size + b];
    add(&sum, &cov[(size_t)(size - 1 - b) * size + size - 1 - a]);
    return sum;
}

FX_INLINE void put(FxV *to, int more, FxV value)
{
    *to = more ? *to + value : value;
}

// With D for the pairs p <= q (numbers c + q of the block):
//     <u_q, u_p> = (Re D(p, q) + Re D(-q, p)) / 2      <u_q, v_p> = (Im D(p, q) - Im D(-q, p)) / 2
//     <v_q, v_p> = (Re D(p, q) - Re D(-q, p)) / 2      <v_q, u_p> = -(Im D(p, q) + Im D(-q, p)) / 2
void fx_matrix(const FxC *cov, FxShape s, int more, FxV *matrix)
{
    const int c = s.pairs, n = s.size;
    for (int q = 1; q <= s.pairs; q++) {
        FxV *u = matrix + fx_packed(2 * q - 2, 0), *v = matrix + fx_packed(2 * q - 1, 0);
        for (int p = 1; p <= q; p++) {
            FxC near = both_ways(cov, n, c + p, c + q), far = both_ways(cov, n, c - q, c + p);
            put(&u[2 * p - 2], more, 0.5f * (near.re + far.re));
            put(&v[2 * p - 1], more, 0.5f * (near.re - far.re));
            put(&v[2 * p - 2], more, -0.5f * (near.im + far.im));
            if (p < q)
                put(&u[2 * p - 1], more, 0.5f * (near.im - far.im));
        }
    }
    FxV *e = matrix + fx_packed(s.taps, 0);
    for (int q = 1; q <= s.pairs; q++) {
        FxC d = both_ways(cov, n, c, c + q);
        put(&e[2 * q - 2], more, (float)M_SQRT1_2 * d.re);
        put(&e[2 * q - 1], more, (float)-M_SQRT1_2 * d.im);
    }
    put(&e[s.taps], more, cov[(size_t)c * n + c].re);
}

void fx_matrix_add(FxPatch patch, const ptrdiff_t *centres, int count, FxShape s, float sign,
                   FxV *matrix, FxV *rows)
{
    enum { N = 2 * FX_TOGETHER };
    const float r = (float)M_SQRT1_2;
    for (int k = 0; k < FX_TOGETHER; k++) {
        FxV *re = rows + 2 * k, *im = re + 1; // rows[unknown][centre][re, im]
        if (k >= count) {
            for (int i = 0; i < s.size; i++)
                re[i * N] = im[i * N] = (FxV){0};
            continue;
        }
        const FxC *centre = patch.at + centres[k];
        for (int q = 1; q <= s.pairs; q++, re += 2 * N, im += 2 * N) {
            int d_il, d_xl;
            litho_fx_offset(s.il, s.xl, s.pairs + q, &d_il, &d_xl);
            ptrdiff_t at = (ptrdiff_t)d_il * patch.width + d_xl;
            const FxC *plus = centre + at, *minus = centre - at;
            re[0] = r * (plus->re + minus->re);
            im[0] = r * (plus->im + minus->im);
            re[N] = -r * (plus->im - minus->im);
            im[N] = r * (plus->re - minus->re);
        }
        *re = centre->re;
        *im = centre->im;
    }
    for (int i = 0; i < s.size; i++) {
        FxV *m = matrix + fx_packed(i, 0), x[N];
        for (int k = 0; k < N; k++)
            x[k] = sign * rows[i * N + k];
        for (int j = 0; j <= i; j++) {
            FxV sum = m[j];
            for (int k = 0; k < N; k++)
                sum += x[k] * rows[j * N + k];
            m[j] = sum;
        }
    }
}
