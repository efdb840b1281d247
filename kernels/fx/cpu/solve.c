// SPDX-License-Identifier: GPL-3.0-or-later
//
// Symmetric systems at once, one a lane: Cholesky, Jacobi.
#include "kernels/fx/cpu/lanes.h"

enum { TILE = 4, MAX_STEPS = 100 };

// 4 rows x 4 columns of the factor before division: a -= L[rows][0..depth) L[columns][0..depth)^T.
FX_INLINE void tile_update(const FxV *const rows[TILE], const FxV *const columns[TILE], int depth,
                           FxV a[TILE][TILE])
{
    for (int k = 0; k < depth; k++)
        for (int i = 0; i < TILE; i++)
            for (int j = 0; j < TILE; j++)
                a[i][j] -= rows[i][k] * columns[j][k];
}

// The reciprocal of a pivot's root; lanes with a bad pivot leave `good` and go on with 1.
FX_INLINE FxV pivot_reciprocal(FxV pivot, FxMask *good)
{
    FxMask positive = pivot > 0;
    *good &= positive;
    return 1.0f / fx_sqrt(fx_select(positive, pivot, fx_splat(1)));
}

// Columns [column, column + 4) of four rows below the diagonal tile.
static void tile_below(const FxV *matrix, int row, int column, FxV *factor)
{
    FxV a[TILE][TILE];
    const FxV *rows[TILE], *columns[TILE];
    for (int i = 0; i < TILE; i++) {
        rows[i] = factor + fx_packed(row + i, 0);
        columns[i] = factor + fx_packed(column + i, 0);
        for (int j = 0; j < TILE; j++)
            a[i][j] = matrix[fx_packed(row + i, column + j)];
    }
    tile_update(rows, columns, column, a);
    for (int i = 0; i < TILE; i++) {
        FxV *out = factor + fx_packed(row + i, column);
        for (int j = 0; j < TILE; j++) {
            for (int k = 0; k < j; k++)
                a[i][j] -= a[i][k] * columns[j][column + k];
            a[i][j] *= columns[j][column + j];
            out[j] = a[i][j];
        }
    }
}

// The lower half of the tile on the diagonal.
static void tile_diagonal(const FxV *matrix, const FxV *lambda, int row, FxV *factor, FxMask *good)
{
    FxV a[TILE][TILE] = {{{0}}};
    const FxV *rows[TILE];
    for (int i = 0; i < TILE; i++) {
        rows[i] = factor + fx_packed(row + i, 0);
        for (int j = 0; j <= i; j++)
            a[i][j] = matrix[fx_packed(row + i, row + j)];
        a[i][i] += *lambda;
    }
    tile_update(rows, rows, row, a);
    for (int i = 0; i < TILE; i++) {
        FxV *out = factor + fx_packed(row + i, row);
        for (int j = 0; j <= i; j++) {
            for (int k = 0; k < j; k++)
                a[i][j] -= a[i][k] * a[j][k];
            if (j < i)
                a[i][j] *= factor[fx_packed(row + j, row + j)];
            else
                out[j] = pivot_reciprocal(a[i][i], good);
            if (j < i)
                out[j] = a[i][j];
        }
    }
}

// One of the last rows, when the order is no multiple of four.
static void single_row(const FxV *matrix, const FxV *lambda, int row, FxV *factor, FxMask *good)
{
    FxV *out = factor + fx_packed(row, 0);
    for (int j = 0; j <= row; j++) {
        const FxV *other = factor + fx_packed(j, 0);
        FxV even = matrix[fx_packed(row, j)], odd = {0};
        int k = 0;
        for (; k + 1 < j; k += 2) {
            even -= out[k] * other[k];
            odd -= out[k + 1] * other[k + 1];
        }
        if (k < j)
            even -= out[k] * other[k];
        even += odd;
        out[j] = j < row ? even * other[j] : pivot_reciprocal(even + *lambda, good);
    }
}

void fx_cholesky(const FxV *matrix, const FxV *lambda, int size, FxV *factor, FxMask *good)
{
    *good = ~(FxMask){0};
    int row = 0;
    for (; row + TILE <= size; row += TILE) {
        for (int column = 0; column < row; column += TILE)
            tile_below(matrix, row, column, factor);
        tile_diagonal(matrix, lambda, row, factor, good);
    }
    for (; row < size; row++)
        single_row(matrix, lambda, row, factor, good);
}

// L^T x = x in place, the first `size` unknowns.
static void back_substitute(const FxV *factor, int size, FxV *x)
{
    for (int k = size - 1; k >= 0; k--) {
        const FxV *row = factor + fx_packed(k, 0);
        FxV value = x[k] * row[k];
        x[k] = value;
        for (int j = 0; j < k; j++)
            x[j] -= row[j] * value;
    }
}

void fx_solve_unit(const FxV *factor, int size, int unit, FxV *x)
{
    for (int i = 0; i < unit; i++)
        x[i] = (FxV){0};
    for (int i = unit; i < size; i++) {
        const FxV *row = factor + fx_packed(i, 0);
        FxV even = fx_splat(i == unit), odd = {0};
        int k = unit;
        for (; k + 1 < i; k += 2) {
            even -= row[k] * x[k];
            odd -= row[k + 1] * x[k + 1];
        }
        if (k < i)
            even -= row[k] * x[k];
        x[i] = (even + odd) * row[i];
    }
    back_substitute(factor, size, x);
}

void fx_solve(const FxV *factor, int size, FxV *x)
{
    for (int i = 0; i < size; i++) {
        const FxV *row = factor + fx_packed(i, 0);
        FxV even = x[i], odd = {0};
        int k = 0;
        for (; k + 1 < i; k += 2) {
            even -= row[k] * x[k];
            odd -= row[k + 1] * x[k + 1];
        }
        if (k < i)
            even -= row[k] * x[k];
        x[i] = (even + odd) * row[i];
    }
    back_substitute(factor, size, x);
}

// The factor's last row is the forward solution already.
void fx_solve_centre(const FxV *factor, int size, FxV *beta)
{
    const FxV *row = factor + fx_packed(size - 1, 0);
    for (int k = 0; k < size - 1; k++)
        beta[k] = row[k];
    back_substitute(factor, size - 1, beta);
}

// y = (G + lambda I) x for the leading n x n part G of the matrix.
static void multiply(const FxV *matrix, const FxV *lambda, int n, const FxV *x, FxV *y)
{
    for (int i = 0; i < n; i++) {
        const FxV *row = matrix + fx_packed(i, 0);
        FxV sum = (row[i] + *lambda) * x[i];
        for (int j = 0; j < i; j++) {
            sum += row[j] * x[j];
            y[j] += row[j] * x[i];
        }
        y[i] = sum;
    }
}

void fx_jacobi(const FxV *matrix, const FxV *lambda, int size, FxV *beta, FxV *scratch,
               FxMask *good)
{
    const int n = size - 1;
    const FxV *g = matrix + fx_packed(n, 0);
    FxV *image = scratch;
    for (int k = 0; k < n; k++) // every tap 0.01: u = r (h + h), v = 0
        beta[k] = fx_splat(k % 2 == 0 ? (float)(0.02 * M_SQRT1_2) : 0);
    FxMask busy = ~(FxMask){0};
    *good = (FxMask){0};
    for (int step = 0; step < MAX_STEPS && fx_count(busy) > 0; step++) {
        multiply(matrix, lambda, n, beta, image);
        FxV change = {0};
        for (int k = 0; k < n; k += 2) {
            FxV diagonal = 0.5f * (matrix[fx_packed(k, k)] + matrix[fx_packed(k + 1, k + 1)]);
            FxV scale = 1.0f / fx_max(diagonal + *lambda, fx_splat(1e-30f));
            FxV u = (g[k] - image[k]) * scale, v = (g[k + 1] - image[k + 1]) * scale;
            beta[k] += fx_select(busy, u, (FxV){0});
            beta[k + 1] += fx_select(busy, v, (FxV){0});
            change = fx_max(change, u * u + v * v); // twice the square of the taps' change
        }
        FxMask done = change < 2e-8f, lost = ~(change < 1e12f);
        *good |= busy & done;
        busy &= ~done & ~lost;
    }
}
