// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/xy_fit.h"

#include <math.h>

void litho_xy_fit_add(LithoXyFit *f, double i, double j, double x, double y)
{
    double p[4] = {i, j, x, y};
    for (int k = 0; k < 4; k++) {
        if (f->n == 0)
            f->base[k] = p[k];
        p[k] -= f->base[k];
    }
    f->n++;
    for (int k = 0; k < 2; k++) {
        f->s[k] += p[k];
        f->sx[k] += p[2 + k];
        f->cross[k][0] += p[2 + k] * p[0];
        f->cross[k][1] += p[2 + k] * p[1];
    }
    f->ss[0] += p[0] * p[0];
    f->ss[1] += p[0] * p[1];
    f->ss[2] += p[1] * p[1];
    f->xx += p[2] * p[2] + p[3] * p[3];
}

void litho_xy_fit_solve(LithoXyFit *f)
{
    double n = MAX(f->n, 1);
    // Second moments about the mean.
    double ii = f->ss[0] - f->s[0] * f->s[0] / n, jj = f->ss[2] - f->s[1] * f->s[1] / n;
    double ij = f->ss[1] - f->s[0] * f->s[1] / n, det = ii * jj - ij * ij;
    double rest = f->xx - (f->sx[0] * f->sx[0] + f->sx[1] * f->sx[1]) / n;
    gboolean full = ii > 1e-9 && jj > 1e-9 && det > 1e-9 * ii * jj;
    f->rank = full ? 2 : ii > 1e-9 || jj > 1e-9 ? 1 : 0;
    for (int c = 0; c < 2; c++) {
        double xi = f->cross[c][0] - f->sx[c] * f->s[0] / n;
        double xj = f->cross[c][1] - f->sx[c] * f->s[1] / n;
        if (full) {
            f->di[c] = (xi * jj - xj * ij) / det;
            f->dj[c] = (xj * ii - xi * ij) / det;
            rest -= f->di[c] * xi + f->dj[c] * xj;
        } else if (f->rank == 1 && jj >= ii) {
            f->dj[c] = xj / jj;
            rest -= f->dj[c] * xj;
        } else if (f->rank == 1) {
            f->di[c] = xi / ii;
            rest -= f->di[c] * xi;
        }
        double mean_i = f->s[0] / n + f->base[0], mean_j = f->s[1] / n + f->base[1];
        f->origin[c] = f->sx[c] / n + f->base[2 + c] - mean_i * f->di[c] - mean_j * f->dj[c];
    }
    f->rms = sqrt(MAX(rest, 0) / n);
}
